/* SPDX-License-Identifier: Apache-2.0 */

/* What this machine is: the devices that qm-bench finds here, or the plain
 * sentence why it finds none.  Nothing is known before
 * qm_local_machine_reload(). */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A device.  Strings are never NULL and empty where nothing is known; numbers
 * are -1, or NaN. */
typedef struct
{
  const char *id;       /* "cuda:0", "cpu" */
  const char *name;     /* its maker's */
  const char *driver;   /* the version; empty for a processor */
  const char *trouble;  /* why it cannot be trained on: a sentence */
  const char *products; /* what multiplies on a GPU: "cuBLASLt 13.1.0", "own" */
  const char *monitor;  /* why clocks, power and links are not known */
  gint64 memory_bytes;
  gint64 free_bytes;
  gboolean is_cpu;
  gboolean usable;
  gboolean drives_display; /* known to: a screen is connected, or it draws for
                              one that is remote */
  int processors;          /* multiprocessors, or threads */
  int pcie_generation;     /* at most: less while it is idle */
  int pcie_width;
  int nvlinks;       /* that are up */
  double nvlink_gbs; /* 10^9 bytes a second, of one in one direction */
  double watts_limit;
  gboolean is_part; /* an instance of a GPU that was split */
} QmMachineDevice;

typedef enum
{
  QM_MACHINE_ASKING, /* also before the first qm_local_machine_reload() */
  QM_MACHINE_KNOWN,
  QM_MACHINE_FAILED /* qm-bench did not answer */
} QmMachineState;

#define QM_TYPE_LOCAL_MACHINE (qm_local_machine_get_type ())
G_DECLARE_FINAL_TYPE (
    QmLocalMachine, qm_local_machine, QM, LOCAL_MACHINE, GObject)

/* Signals:
 *
 *   "changed"   state, reason or devices are others now
 */

/* (transfer full) */
QmLocalMachine *qm_local_machine_new (void);

/* Asks qm-bench, which takes seconds where drivers have to wake up; what was
 * known stays until it has answered. */
void qm_local_machine_reload (QmLocalMachine *self);

QmMachineState qm_local_machine_get_state (QmLocalMachine *self);

/* Why there is no GPU that can be used, or why qm-bench did not answer: a
 * sentence or a few; "" where there is nothing to say.  (transfer none) */
const char *qm_local_machine_get_reason (QmLocalMachine *self);

/* The devices, GPUs first, valid until "changed".  (transfer none) */
const QmMachineDevice *qm_local_machine_get_devices (QmLocalMachine *self,
                                                     guint *n);

/* The device of that id, or NULL. */
const QmMachineDevice *qm_local_machine_get_device (QmLocalMachine *self,
                                                    const char *id);

G_END_DECLS
