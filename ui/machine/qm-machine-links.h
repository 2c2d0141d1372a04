/* SPDX-License-Identifier: Apache-2.0 */

/* How fast the GPUs of this machine exchange, as `qm-bench links` measures it
 * when somebody asks: each two, all together, and what that makes of a few
 * models.  It is not seen where there are no two GPUs that can be used. */

#pragma once

#include "ui/machine/qm-local-machine.h"
#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MACHINE_LINKS (qm_machine_links_get_type ())
G_DECLARE_FINAL_TYPE (
    QmMachineLinks, qm_machine_links, QM, MACHINE_LINKS, AdwPreferencesGroup)

/* Signals: "changed": measuring has begun, or is over. */

/* Follows the devices of `machine`; models are called as the catalog does.  To
 * be called once. */
void qm_machine_links_open (QmMachineLinks *self,
                            QmLocalMachine *machine,
                            QmCatalogKeeper *keeper);

/* Whether they are being measured: that takes all GPUs, for some seconds. */
gboolean qm_machine_links_is_measuring (QmMachineLinks *self);

/* Whether they may be: not while something else is measured. */
void qm_machine_links_set_allowed (QmMachineLinks *self, gboolean allowed);

G_END_DECLS
