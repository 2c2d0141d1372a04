/* SPDX-License-Identifier: Apache-2.0 */

/* What is in memory of the host while a plan that offloads is executed, of what
 * the rank has: its
 * memory, the threads that work on it, and the streams that copies and calls of
 * the host are queued on; only for engine/executor.c.
 *
 * Gradients that leave the device go through slots of pinned memory: a copy
 * fills one, and threads add it to the sums while the next is filled.  A copy
 * waits until the threads are done with its slot, so a device that is faster
 * than the host waits for it; what is left at the end of a pass goes on while
 * the next one begins.  Each part of a unit has the same slot in every pass, so
 * no two additions to one part are under way at once.
 *
 * In the update, gradients come down (ZeRO 1), weights and moments are updated,
 * and weights go up through slots of their own, all at the same time. */

#ifndef QM_ENGINE_HOST_SIDE_H
#define QM_ENGINE_HOST_SIDE_H

#include "engine/plan.h"

typedef struct QmHostSide QmHostSide;

/* Takes the memory that the plan says, zero, and starts threads.  `regions` and
 * `stream`, which everything else is queued on, outlive it.
 * QM_STATUS_DEVICE_FULL, with a sentence that names the host, where it does not
 * have the memory. */
QmStatus qm_host_side_new (const QmPlan *plan,
                           const QmRegions *regions,
                           QmDevice *device,
                           QmStream *stream,
                           QmHostSide **side,
                           QmError *error);

/* Waits for all of its work; NULL is allowed. */
void qm_host_side_free (QmHostSide *side);

/* Waits for the threads; what was queued on the stream has to be done. */
void qm_host_side_wait (QmHostSide *side);

/* Makes all of its memory zero, or the sums of gradients alone.  Nothing may be
 * under way. */
void qm_host_side_clear (QmHostSide *side);
void qm_host_side_clear_gradients (QmHostSide *side);

/* Queues one of the operators between device and host, QM_OP_FETCH to
 * QM_OP_HOST_UPDATED; the parts of an update in their order. */
QmStatus
qm_host_side_run (QmHostSide *side, const QmOpCall *call, QmError *error);

/* The first two of them in parts, where more is to be done between.  Queues
 * copying what the rank has of a unit's weights to the device ... */
QmStatus
qm_host_side_fetch (QmHostSide *side, size_t unit, void *to, QmError *error);

/* ... which `stream` waits for, and copying gradients to the host once what is
 * queued on `after` is done ... */
QmStatus qm_host_side_await_fetched (QmHostSide *side,
                                     size_t unit,
                                     QmStream *stream,
                                     QmError *error);
QmStatus qm_host_side_send (QmHostSide *side,
                            size_t unit,
                            const void *from,
                            QmStream *after,
                            QmError *error);

/* ... which `stream` waits for. */
QmStatus qm_host_side_await_sent (QmHostSide *side,
                                  size_t unit,
                                  QmStream *stream,
                                  QmError *error);

/* Copies n fp32 weights from the device to those at an element of what the rank
 * has; returns when the device's can be written again. */
QmStatus qm_host_side_take (
    QmHostSide *side, int64_t own, const void *from, int64_t n, QmError *error);

/* Makes what is fetched, and the rank's part of what stays on the device by
 * itself, from the fp32 weights. */
QmStatus qm_host_side_publish (QmHostSide *side, QmError *error);

/* The fp32 weights, and sums of gradients (NULL where the device has them),
 * from the first element on that the rank has.  Nothing may be under way. */
float *qm_host_side_master (QmHostSide *side);
float *qm_host_side_gradients (QmHostSide *side);

/* The average of the fp32 weights, likewise; NULL: there is none. */
float *qm_host_side_average (QmHostSide *side);

/* What weights are fetched from where products are of 16 bits, else NULL. */
void *qm_host_side_weights (QmHostSide *side);

#endif
