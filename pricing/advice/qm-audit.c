/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "data/flops.h"
#include "pricing/advice/qm-advice.h"

#define SECONDS_PER_DAY 86400.0

double
qm_audit_utilization (const QmModel *model,
                      const QmGpu *gpu,
                      int gpus,
                      QmSettings settings,
                      double days)
{
  double peak;

  g_return_val_if_fail (model != NULL && gpu != NULL && gpus > 0, NAN);

  peak = qm_gpu_peak_tflops (gpu, model->recipe.precision,
                             settings != QM_SETTINGS_NAIVE);
  if (!(days > 0) || !(peak > 0))
    return NAN;
  return qm_flops_train (&model->config, &model->recipe)
         / (days * SECONDS_PER_DAY * gpus * peak * 1e12);
}

QmVerdict
qm_audit_measurement (const QmMeasurement *measurement, double *utilization)
{
  double stated, rounding, judged;

  g_return_val_if_fail (measurement != NULL, QM_VERDICT_UNKNOWN);

  if (utilization != NULL)
    *utilization = NAN;
  if (measurement->feasibility == QM_INFEASIBLE)
    return QM_VERDICT_INFEASIBLE;
  if (measurement->feasibility != QM_FEASIBLE || !qm_known (measurement->days))
    return QM_VERDICT_UNKNOWN;

  stated = qm_audit_utilization (measurement->model, measurement->gpu,
                                 measurement->gpus, measurement->settings,
                                 measurement->days);
  if (utilization != NULL)
    *utilization = stated;
  rounding =
      qm_known (measurement->rounding_days) ? measurement->rounding_days : 0;
  judged = stated * measurement->days / (measurement->days + rounding);
  if (!qm_known (judged))
    return QM_VERDICT_UNKNOWN;
  if (judged > QM_IMPOSSIBLE_UTILIZATION)
    return QM_VERDICT_IMPOSSIBLE;
  if (judged > QM_DOUBTFUL_UTILIZATION)
    return QM_VERDICT_DOUBTFUL;
  return QM_VERDICT_OK;
}

const char *
qm_verdict_name (QmVerdict verdict)
{
  switch (verdict)
    {
    case QM_VERDICT_OK:
      return "ok";
    case QM_VERDICT_DOUBTFUL:
      return "doubtful";
    case QM_VERDICT_IMPOSSIBLE:
      return "impossible";
    case QM_VERDICT_INFEASIBLE:
      return "infeasible";
    case QM_VERDICT_UNKNOWN:
    default:
      return "unknown";
    }
}
