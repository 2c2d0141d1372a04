/* SPDX-License-Identifier: Apache-2.0 */

/* How long one way to train takes on several GPUs that exchange, as predicted
 * from its plan: at the micro-batch that is the fastest of those that fit, the
 * largest first and its halves as long as they are faster. */

#ifndef QM_ENGINE_WAYS_H
#define QM_ENGINE_WAYS_H

#include "engine/plan-bases.h"
#include "engine/predict-exchange.h"

typedef struct QmWayFound
{
  bool fits;           /* else only `shortage` and `memory` are said */
  QmShortage shortage; /* of a micro-batch of 1 */
  int64_t micro_batch, accumulation;
  QmMemory memory; /* of each GPU */
  QmPrediction prediction;
  QmExchanged exchanged;
} QmWayFound;

/* Finds it for a way, `options`, of which ranks are those of the exchange, on
 * GPUs with so many bytes that can be used each.  With options->micro_batch
 * above 0 that one alone is looked at.  QM_STATUS_UNSUPPORTED where it cannot
 * be planned or predicted. */
QmStatus qm_way_find (const QmModelConfig *config,
                      const QmRecipe *recipe,
                      const QmPlanOptions *options,
                      uint64_t bytes,
                      const QmExchange *exchange,
                      const QmLevel *level,
                      QmWayFound *found,
                      QmError *error);

/* Halves the micro-batch of a way as long as a pass is predicted to take more
 * than `enough` seconds and a step at the half to be as fast, within what two
 * measurements of the same differ by: it is measured as well, and sooner.
 * *memory follows.  Left as it is where nothing can be predicted of it: then
 * QM_STATUS_UNSUPPORTED, or what fails. */
QmStatus qm_way_shorten (const QmModelConfig *config,
                         const QmRecipe *recipe,
                         QmPlanOptions *options,
                         uint64_t bytes,
                         const QmExchange *exchange,
                         const QmLevel *level,
                         double enough,
                         QmMemory *memory,
                         QmError *error);

/* The same of many places, at micro-batches that are said: what is planned once
 * is planned for all types of GPU, and all numbers of them above 1, but where
 * what each has or compares is no even part of what two do. */
typedef struct QmWayPlans QmWayPlans;

/* Of a training, for GPUs of these architectures.  What it points to outlives
 * it. */
QmStatus qm_way_plans_new (const QmModelConfig *config,
                           const QmRecipe *recipe,
                           const QmTarget *targets,
                           size_t n,
                           QmWayPlans **plans,
                           QmError *error);
void qm_way_plans_free (QmWayPlans *plans);

/* What its plans have in common with others of the training; they are freed
 * before it. */
QmPlanBases *qm_way_plans_bases (QmWayPlans *plans);

/* Finds it for the target of that index, whatever the target of `options`. */
QmStatus qm_way_plans_find (QmWayPlans *plans,
                            size_t target,
                            const QmPlanOptions *options,
                            uint64_t bytes,
                            const QmExchange *exchange,
                            const QmLevel *level,
                            QmWayFound *found,
                            QmError *error);

/* Which of the methods a level of software has, as places.h looks at it. */
unsigned qm_level_methods (const QmLevel *level);

#endif
