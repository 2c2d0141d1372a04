/* SPDX-License-Identifier: Apache-2.0 */

/* What goes between ranks while a plan is executed: what is queued on a stream
 * of its own, all of it in one order, which is that of the plan; only for
 * engine/executor.c.
 *
 * What is fetched and sent goes through here, too, where there are several
 * ranks: weights are gathered of the parts that ranks have, or that their hosts
 * sent up; of gradients each rank keeps the sum of its part, or sends it down
 * to its host. */

#ifndef QM_ENGINE_RANK_SIDE_H
#define QM_ENGINE_RANK_SIDE_H

#include "engine/host-side.h"
#include "kernels/communicator.h"

typedef struct QmRankSide QmRankSide;

/* All that it takes outlives it; `side` is NULL where nothing is offloaded. */
QmStatus qm_rank_side_new (const QmPlan *plan,
                           const QmRegions *regions,
                           QmDevice *device,
                           QmStream *stream,
                           QmHostSide *side,
                           QmCommunicator *communicator,
                           QmRankSide **ranks,
                           QmError *error);

/* Waits for all of its work; NULL is allowed. */
void qm_rank_side_free (QmRankSide *ranks);

/* Queues one of the operators between ranks, or QM_OP_FETCH to QM_OP_SENT. */
QmStatus
qm_rank_side_run (QmRankSide *ranks, const QmOpCall *call, QmError *error);

/* Reads `n` elements of the slab, from `begin` on, which are in one unit, and
 * of which each rank has a part: its own part of the unit, fp32, is at `part`,
 * on the device or with `of_host` there.  All ranks call it alike; nothing may
 * be under way, and the arena is free for it. */
QmStatus qm_rank_side_read (QmRankSide *ranks,
                            int32_t unit,
                            const float *part,
                            bool of_host,
                            int64_t begin,
                            int64_t n,
                            float *to,
                            QmError *error);

#endif
