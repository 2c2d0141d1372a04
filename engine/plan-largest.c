/* SPDX-License-Identifier: Apache-2.0 */

/* The largest micro-batch that fits, found by halving. */

#include "engine/plan.h"
#include "kernels/scaled.h"

/* What is tried as a power of two: what is below or at `low` is known, what is
 * above `high` too large. */
typedef struct Trial
{
  int low, high;
  QmPlan *best;
  int shortest; /* the least that was too large for memory, or -1 */
  QmShortage shortage;
} Trial;

/* Whether there may be kernels for a larger one only: tokens of a pass are
 * perhaps no multiple of what products in FP8 take. */
static bool
may_be_too_small (const QmRecipe *recipe, int middle)
{
  return recipe->precision == QM_PRECISION_FP8
         && INT64_C (1) << middle < QM_SCALED_MULTIPLE;
}

/* Looks at one; QM_OK where it is known then. */
static QmStatus
try_one (const QmModelConfig *config,
         const QmRecipe *recipe,
         const QmPlanOptions *options,
         uint64_t bytes,
         Trial *trial,
         QmError *error)
{
  const int middle = trial->low + (trial->high - trial->low + 1) / 2;
  QmPlanOptions tried = *options;
  QmPlan *candidate;
  QmStatus status;

  tried.micro_batch = INT64_C (1) << middle;
  status = qm_plan_new (config, recipe, &tried, &candidate, error);
  if (status == QM_STATUS_UNSUPPORTED && may_be_too_small (recipe, middle))
    {
      trial->low = middle;
      return QM_OK;
    }
  if (status == QM_STATUS_UNSUPPORTED && middle > 0)
    {
      /* One of its tensors is larger than any memory. */
      trial->high = middle - 1;
      return QM_OK;
    }
  if (status != QM_OK)
    return status;
  if (!qm_plan_is_short (candidate, bytes, &trial->shortage))
    {
      qm_plan_free (trial->best);
      trial->best = candidate;
      trial->low = middle;
      return QM_OK;
    }
  qm_plan_free (candidate);
  trial->high = middle - 1;
  trial->shortest = middle;
  return QM_OK;
}

QmStatus
qm_plan_largest (const QmModelConfig *config,
                 const QmRecipe *recipe,
                 const QmPlanOptions *options,
                 uint64_t bytes,
                 QmPlan **plan,
                 QmError *error)
{
  Trial trial = { .low = -1, .shortest = -1 };
  QmStatus status = QM_OK;

  *plan = NULL;
  while (INT64_C (2) << trial.high
         <= recipe->batch_size / (options->ranks > 0 ? options->ranks : 1))
    trial.high++;
  while (trial.low < trial.high && status == QM_OK)
    status = try_one (config, recipe, options, bytes, &trial, error);
  if (status != QM_OK)
    {
      qm_plan_free (trial.best);
      return status;
    }
  *plan = trial.best;
  if (trial.best != NULL)
    return QM_OK;
  /* Of what is smaller nothing can be planned. */
  return trial.shortest == trial.low + 1
             ? qm_shortage_report (&trial.shortage,
                                   INT64_C (1) << trial.shortest, error)
             : QM_STATUS_UNSUPPORTED;
}
