/* SPDX-License-Identifier: Apache-2.0 */

/* What this machine can train on: a row for each GPU with memory, driver and
 * links, or a plain sentence why there is none and what works without one. */

#pragma once

#include "ui/machine/qm-local-machine.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MACHINE_DEVICES (qm_machine_devices_get_type ())
G_DECLARE_FINAL_TYPE (QmMachineDevices,
                      qm_machine_devices,
                      QM,
                      MACHINE_DEVICES,
                      AdwPreferencesGroup)

/* What it shows, now and whenever it changes.  To be called once. */
void qm_machine_devices_set_machine (QmMachineDevices *self,
                                     QmLocalMachine *machine);

G_END_DECLS
