/* SPDX-License-Identifier: Apache-2.0 */

#include "data/result-terms.h"

#include <string.h>

QmEngine
qm_result_engine (const QmResult *result)
{
  for (int i = QM_ENGINE_UNSTATED + 1; i < QM_N_ENGINES; i++)
    if (strcmp (result->engine, qm_engine_name ((QmEngine) i)) == 0)
      return (QmEngine) i;
  return QM_ENGINE_UNSTATED;
}

QmSettings
qm_result_settings (const QmResult *result)
{
  if (result->checkpointing || result->offloading
      || strcmp (result->sharding, "none") != 0)
    return QM_SETTINGS_OPTIMAL;
  if (strcmp (result->settings, "naive") == 0)
    return QM_SETTINGS_NAIVE;
  return qm_result_engine (result) == QM_ENGINE_PYTORCH
                 && strcmp (result->settings, "kernels+tf32") == 0
             ? QM_SETTINGS_EAGER
             : QM_SETTINGS_OPTIMAL;
}

bool
qm_result_is_of_model (const QmResult *result, const QmModel *model)
{
  char key[QM_MODEL_KEY_BYTES];

  if (result->model_key[0] == '\0')
    return (strcmp (result->precision, "fp8") == 0)
           == (model->recipe.precision == QM_PRECISION_FP8);
  qm_model_key (&model->config, &model->recipe, key);
  return strcmp (key, result->model_key) == 0;
}

QmAside
qm_result_aside (const QmResult *result, const QmGpu *gpu)
{
  if (result->nodes > 1)
    return QM_ASIDE_MACHINES;
  /* What does not fit does not for how it exchanges. */
  if (result->status == QM_RESULT_INFEASIBLE)
    return QM_ASIDE_NOT;
  return result->path == QM_PATH_FORCED
                 || (result->path == QM_PATH_HOST && gpu->nvlink_gbs > 0
                     && !result->tried)
             ? QM_ASIDE_PATH
             : QM_ASIDE_NOT;
}
