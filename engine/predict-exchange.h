/* SPDX-License-Identifier: Apache-2.0 */

/* How long a step of several GPUs takes, from a plan that has their exchange:
 * two rows of work, what a GPU computes and what it exchanges, in the order of
 * the plan, each waiting for the other where engine/rank-side.c has it wait.
 *
 *   An exchange begins when the one before it has ended, and what was computed
 *   before it in the plan.  What is computed goes on beside it, more slowly
 *   (QmExchange.taken), until the plan waits for what was exchanged.
 *
 * A collective of n GPUs over B bytes takes
 *
 *   latency + f B / bandwidth,  f = 2 (n - 1) / n for a sum,
 *                               f = (n - 1) / n for each of its halves
 *
 * (a ring: Patarasuk and Yuan 2009), or what was measured of the links. */

#ifndef QM_ENGINE_PREDICT_EXCHANGE_H
#define QM_ENGINE_PREDICT_EXCHANGE_H

#include "data/link-times.h"
#include "engine/predict.h"

/* How GPUs exchange. */
typedef struct QmExchange
{
  const QmSpeeds *speeds; /* how many, and what the catalog says of the link */
  const QmLinkTimes *measured; /* instead; may be NULL */
  double taken; /* share of what a GPU computes that an exchange takes from it
                   while it goes on */
  double taken_by_weights; /* the same of one that fetches weights for a part of
                              a pass, or sends its gradients (stages 3) */
} QmExchange;

/* Exchange as speeds and level have it.  `taken` is assumed: all through
 * NVLink with other software, half with ours, a fifth through PCIe.
 *
 * PyTorch's DistributedDataParallel on 8 x H200 took 1.38 to 1.40 times as much
 * longer for a pass with reduction as the reduction takes by itself, over three
 * models: nothing was hidden.  Through PCIe an exchange of the same bytes takes
 * ten times as long, and as much of the GPU in all; so does one through a
 * network, as many times longer as that is slower.  FullyShardedDataParallel
 * through NVLink takes nothing: by least squares of three rates (MPT-13B on 8 x
 * A100, pythia-6.9b on 2 and 8 x H200) -0.02 of what goes on beside it. */
QmExchange qm_exchange_of (const QmSpeeds *speeds,
                           const QmLevel *level,
                           const QmLinkTimes *measured);

/* Seconds of one collective over `bytes`, which is 0 of one GPU. */
double qm_exchange_seconds (const QmExchange *exchange,
                            QmLinksOp collective,
                            double bytes);

/* Of a step of several GPUs: the seconds that its exchanges take, hidden or
 * not, and how long a pass and an update take if exchanging takes no time. */
typedef struct QmExchanged
{
  double total, pass, update;
} QmExchanged;

/* Predicts a step of work that was planned for the ranks of `exchange`, of
 * which each has its own part of what is divided; else as qm_predict().
 * prediction->pass is of one that is not the last of a step, where there are
 * others; prediction->exchange is what of a step is exchange that nothing
 * hides.  *exchanged may be NULL.  QM_STATUS_INVALID where the work has other
 * ranks than the machine. */
QmStatus qm_predict_ranks (const QmWork *work,
                           const QmExchange *exchange,
                           const QmLevel *level,
                           QmPrediction *prediction,
                           QmExchanged *exchanged,
                           QmError *error);

#endif
