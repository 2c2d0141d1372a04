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

/* Of a time that the peak allows. */
static QmVerdict
judge_by_predictions (const QmMeasurement *measurement,
                      const QmForecasts *forecasts,
                      double judged_days,
                      QmAudit *audit)
{
  const QmForecast *fastest;

  if (measurement->provenance == QM_PROVENANCE_PREDICTED)
    return QM_VERDICT_OK;
  fastest = qm_forecasts_fastest (forecasts, measurement->model->id,
                                  measurement->gpu, measurement->gpus);
  if (fastest == NULL)
    return QM_VERDICT_POSSIBLE;
  audit->reachable_days = fastest->low;
  return judged_days < fastest->low ? QM_VERDICT_DOUBTFUL : QM_VERDICT_OK;
}

QmVerdict
qm_audit_measurement (const QmMeasurement *measurement,
                      const QmForecasts *forecasts,
                      QmAudit *audit)
{
  QmAudit found;
  double rounding, judged;

  g_return_val_if_fail (measurement != NULL, QM_VERDICT_UNKNOWN);

  if (audit == NULL)
    audit = &found;
  *audit = (QmAudit){ NAN, NAN };
  if (measurement->feasibility == QM_INFEASIBLE)
    return QM_VERDICT_INFEASIBLE;
  if (measurement->feasibility != QM_FEASIBLE || !qm_known (measurement->days))
    return QM_VERDICT_UNKNOWN;

  audit->utilization =
      qm_audit_utilization (measurement->model, measurement->gpu,
                            measurement->gpus, measurement->settings,
                            measurement->days);
  rounding =
      qm_known (measurement->rounding_days) ? measurement->rounding_days : 0;
  if (!qm_known (audit->utilization))
    return QM_VERDICT_UNKNOWN;
  judged = measurement->days + rounding;
  if (audit->utilization * measurement->days / judged
      > QM_IMPOSSIBLE_UTILIZATION)
    return QM_VERDICT_IMPOSSIBLE;
  return judge_by_predictions (measurement, forecasts, judged, audit);
}

const char *
qm_verdict_name (QmVerdict verdict)
{
  switch (verdict)
    {
    case QM_VERDICT_OK:
      return "ok";
    case QM_VERDICT_POSSIBLE:
      return "possible";
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
