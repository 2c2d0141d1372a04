/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/ways.h"

#include "engine/search.h"

#include <string.h>

unsigned
qm_level_methods (const QmLevel *level)
{
  if (strcmp (level->name, "naive") == 0)
    return 0;
  return strcmp (level->name, "eager") == 0 ? QM_METHOD_KERNELS | QM_METHOD_TF32
                                            : QM_METHOD_ALL;
}

/* Predicts what was planned, and keeps it if it is the fastest so far; *slower
 * says that it is not. */
static QmStatus
take_plan (const QmPlan *plan,
           const QmExchange *exchange,
           const QmLevel *level,
           QmWayFound *found,
           bool *slower,
           QmError *error)
{
  QmPrediction prediction;
  QmWork *work;
  double total;
  QmStatus status = qm_work_new (plan, &work, error);

  if (status == QM_OK)
    status =
        qm_predict_ranks (work, exchange, level, &prediction, &total, error);
  qm_work_free (work);
  if (status != QM_OK)
    return status;
  *slower = found->fits && prediction.step >= found->prediction.step;
  if (*slower)
    return QM_OK;
  found->fits = true;
  found->micro_batch = plan->options.micro_batch;
  found->accumulation = plan->accumulation;
  found->memory = plan->memory;
  found->prediction = prediction;
  found->total = total;
  return QM_OK;
}

/* Halves of a micro-batch as long as they are faster. */
static QmStatus
try_halves (const QmModelConfig *config,
            const QmRecipe *recipe,
            QmPlanOptions options,
            const QmExchange *exchange,
            const QmLevel *level,
            QmWayFound *found,
            QmError *error)
{
  bool slower = false;
  QmStatus status = QM_OK;

  for (options.micro_batch /= 2;
       options.micro_batch > 0 && !slower && status == QM_OK;
       options.micro_batch /= 2)
    {
      QmPlan *plan = NULL;

      status = qm_plan_new (config, recipe, &options, &plan, error);
      if (status == QM_OK)
        status = take_plan (plan, exchange, level, found, &slower, error);
      qm_plan_free (plan);
    }
  return status;
}

QmStatus
qm_way_find (const QmModelConfig *config,
             const QmRecipe *recipe,
             const QmPlanOptions *options,
             uint64_t bytes,
             const QmExchange *exchange,
             const QmLevel *level,
             QmWayFound *found,
             QmError *error)
{
  QmPlanOptions one = *options;
  QmPlan *plan = NULL;
  bool fixed = options->micro_batch > 0, fits = true, slower;
  QmStatus status = QM_OK;

  memset (found, 0, sizeof *found);
  if (!fixed)
    status = qm_search_fit (config, recipe, &one, bytes, &found->memory, &fits,
                            &found->shortage, error);
  if (status != QM_OK || !fits)
    return status;
  status = qm_plan_new (config, recipe, &one, &plan, error);
  if (status == QM_OK)
    found->memory = plan->memory;
  if (status == QM_OK && !qm_plan_is_short (plan, bytes, &found->shortage))
    status = take_plan (plan, exchange, level, found, &slower, error);
  qm_plan_free (plan);
  return status == QM_OK && found->fits && !fixed
             ? try_halves (config, recipe, one, exchange, level, found, error)
             : status;
}
