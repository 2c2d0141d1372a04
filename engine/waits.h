/* SPDX-License-Identifier: Apache-2.0 */

/* How long what a device computes waits for what ranks exchange. */

#ifndef QM_ENGINE_WAITS_H
#define QM_ENGINE_WAITS_H

#include "engine/executor.h"

/* Seconds of a pass, of the last pass of a step, 0 where that is like all
 * others, and of an update. */
typedef struct QmWaits
{
  double pass, last, update;
} QmWaits;

/* Whether an operator is an exchange of ranks, or begins one. */
bool qm_is_exchange (QmOp op);

/* Measures them by the device's clock, in a pass of each kind and an update
 * that are queued call by call, so that what is captured can be timed, too: on
 * a GPU what its stream waits until an exchange is done, on a CPU, which
 * exchanges while it is told to, that.  All ranks do so at once; gradients are
 * cleared before, and the weights change.  Of ranks that offload what the host
 * moves is in it. */
QmStatus
qm_waits (QmExecutor *executor, bool has_last, QmWaits *waits, QmError *error);

#endif
