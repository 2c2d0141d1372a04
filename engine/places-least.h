/* SPDX-License-Identifier: Apache-2.0 */

/* What a way to train takes at least, of memory and of time, from a plan of one
 * GPU that keeps everything: by it ways are left out before they are planned.
 *
 * A plan of the way itself has buffers for what moves, too, and waits for what
 * it needs at once: it takes no less memory, and no less time but for what is
 * written in fewer bytes to be sent than to be kept, which is allowed for. */

#ifndef QM_ENGINE_PLACES_LEAST_H
#define QM_ENGINE_PLACES_LEAST_H

#include "engine/predict-exchange.h"
#include "engine/search.h"

/* Bytes of each of so many GPUs, of `all` that one needs which keeps
 * everything. */
uint64_t
qm_least_bytes (const QmMemory *all, const QmSearchConfig *way, int gpus);

/* Seconds of a step of `work`, which is that of one GPU that keeps everything,
 * with the passes of a step; `alone` is what qm_predict_alone() says of it.
 * What passes hide of an exchange, and what that takes from them, is as in
 * predict-exchange.h, where nothing waits for the beginning or the end of
 * another.  What moves to and from a host is left out where its lanes are not
 * known. */
double qm_least_step (const QmWork *work,
                      const QmPrediction *alone,
                      const QmSearchConfig *way,
                      const QmExchange *exchange,
                      const QmLevel *level);

#endif
