/* SPDX-License-Identifier: Apache-2.0 */

/* Where the states of an optimizer, and a teacher, can be. */

#include "engine/plan.h"

/* Matrices that are dealt to ranks are in units of many layers: to fetch one
 * would be to fetch all of these, and of FSDP's blocks there is one each. */
static bool
optimizer_takes (QmOptimizer optimizer,
                 QmSharding sharding,
                 bool offload,
                 int ranks)
{
  switch (optimizer)
    {
    case QM_OPTIMIZER_LAMB:
      return !offload;
    case QM_OPTIMIZER_MUON:
      return !offload && (sharding <= QM_SHARDING_ZERO_2 || ranks <= 1);
    case QM_OPTIMIZER_ADAM:
    case QM_OPTIMIZER_ADAMW:
    default:
      return true;
    }
}

static QmStatus
check_optimizer (const QmRecipe *recipe,
                 const QmPlanOptions *options,
                 QmError *error)
{
  const char *name = qm_optimizer_name (recipe->optimizer);
  const char *way = qm_sharding_name (options->sharding);

  if (optimizer_takes (recipe->optimizer, options->sharding, options->offload,
                       options->ranks))
    return QM_OK;
  if (options->offload)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "the update of a host is Adam's: states of %s cannot "
                         "be offloaded, as %s would",
                         name, way);
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "%s updates whole matrices, which %s would cut; with "
                       "zero_1 and zero_2 each is one GPU's, and without "
                       "sharding each GPU updates all of them",
                       name, way);
}

/* A teacher is whole on every GPU, and made of what is there. */
static bool
teacher_takes (QmSharding sharding, bool offload, int ranks)
{
  return !offload && (sharding == QM_SHARDING_NONE || ranks <= 1);
}

static QmStatus
check_teacher (const QmModelConfig *config,
               const QmRecipe *recipe,
               const QmPlanOptions *options,
               QmError *error)
{
  if (!qm_model_has_teacher (config))
    return QM_OK;
  if (recipe->ema_decay <= 0)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "ema_decay is missing: the teacher is the average of "
                         "the weights");
  if (!teacher_takes (options->sharding, options->offload, options->ranks))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "a teacher is read whole in every pass, and its "
                         "weights are neither divided between GPUs nor "
                         "offloaded, as %s would",
                         qm_sharding_name (options->sharding));
  return QM_OK;
}

bool
qm_plan_takes (const QmModelConfig *config,
               const QmRecipe *recipe,
               QmSharding sharding,
               bool offload,
               int ranks)
{
  return optimizer_takes (recipe->optimizer, sharding, offload, ranks)
         && (!qm_model_has_teacher (config)
             || teacher_takes (sharding, offload, ranks));
}

QmStatus
qm_plan_check (const QmModelConfig *config,
               const QmRecipe *recipe,
               const QmPlanOptions *options,
               QmError *error)
{
  QmStatus status = check_optimizer (recipe, options, error);

  return status == QM_OK ? check_teacher (config, recipe, options, error)
                         : status;
}
