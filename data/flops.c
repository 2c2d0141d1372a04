/* SPDX-License-Identifier: Apache-2.0 */

#include "data/flops.h"

#include "data/family.h"

double
qm_flops_forward_sample (const QmModelConfig *config, const QmRecipe *recipe)
{
  return qm_family_info (config->family)->flops (config, recipe);
}

double
qm_flops_train_sample (const QmModelConfig *config, const QmRecipe *recipe)
{
  const QmFamilyInfo *info = qm_family_info (config->family);
  double ahead =
      info->flops_ahead != NULL ? info->flops_ahead (config, recipe) : 0;

  return 3 * qm_flops_forward_sample (config, recipe) - 2 * ahead;
}

double
qm_flops_train (const QmModelConfig *config, const QmRecipe *recipe)
{
  return qm_flops_train_sample (config, recipe) * (double) recipe->batch_size
         * (double) recipe->steps;
}

int64_t
qm_parameter_count (const QmModelConfig *config)
{
  return qm_family_info (config->family)->parameters (config);
}
