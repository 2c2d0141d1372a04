/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-acceptance.h"

#include "data/carry.h"

#include <math.h>

#define SECONDS_PER_DAY 86400.0

static double
rate_of (const QmAcceptanceTraining *training,
         const QmModel *model,
         double days)
{
  double samples =
      (double) model->recipe.batch_size * (double) model->recipe.steps;

  if (training->tokens)
    samples *= (double) model->recipe.sequence_length;
  return samples / (days * SECONDS_PER_DAY);
}

/* To three significant digits, so that nobody takes it for better known. */
static double
round_down (double value)
{
  const double unit = pow (10, floor (log10 (value)) - 2);

  return floor (value / unit + 1e-9) * unit;
}

/* How much longer it takes with the lanes that are ordered. */
static double
longer_by_lanes (const QmRequest *request, const QmForecast *forecast)
{
  const QmPlatform ordered = { .pcie_generation = request->pcie_generation,
                               .pcie_lanes = request->pcie_lanes };

  return qm_carry_share_of_lanes (&ordered, request->gpu) <= 0.5
                 && forecast->half_lanes > forecast->days
             ? forecast->half_lanes / forecast->days
             : 1;
}

static void
take_forecast (QmAcceptanceTraining *training,
               const QmRequest *request,
               const QmRequestedTraining *asked,
               const QmForecast *forecast,
               gboolean named)
{
  const QmModel *model = asked->model;
  double longer = longer_by_lanes (request, forecast);

  training->predicted = rate_of (training, model, forecast->days * longer);
  training->low = rate_of (training, model, forecast->high * longer);
  training->high = rate_of (training, model, forecast->low * longer);
  training->guaranteed = training->low;
  if (!named)
    training->guaranteed =
        MIN (training->predicted * asked->planned_days / asked->days,
             training->low);
  training->guaranteed = round_down (training->guaranteed);
}

/* The way that was predicted, of the GPUs that are ordered. */
static void
take_way (QmAcceptanceTraining *training, const QmForecast *forecast)
{
  training->has_way = TRUE;
  g_strlcpy (training->settings, "free-lunch", sizeof training->settings);
  g_strlcpy (training->sharding, forecast->sharding, sizeof training->sharding);
  training->checkpointing = forecast->checkpointing;
  training->offloading = forecast->fit == QM_FIT_OFFLOADING;
}

static QmAcceptanceTraining
training_of (const QmRequest *request,
             const QmRequestedTraining *asked,
             const QmForecasts *forecasts,
             gboolean named)
{
  const QmForecast *forecast =
      qm_forecasts_look (forecasts, asked->model->id, "engine", request->gpu,
                         request->gpus);
  QmAcceptanceTraining training = { .tokens = asked->tokens,
                                    .predicted = (double) NAN,
                                    .low = (double) NAN,
                                    .high = (double) NAN,
                                    .guaranteed = asked->per_second };
  gboolean known = forecast != NULL && isfinite (forecast->days);

  g_strlcpy (training.model, asked->model->id, sizeof training.model);
  qm_model_key (&asked->model->config, &asked->model->recipe, training.key);
  if (named)
    {
      g_strlcpy (training.gpu, request->gpu->id, sizeof training.gpu);
      training.gpus = MIN (request->gpus, QM_ACCEPTANCE_MOST_GPUS);
    }
  if (known)
    take_forecast (&training, request, asked, forecast, named);
  if (known && named)
    take_way (&training, forecast);
  return training;
}

static QmAcceptanceTraining *
find_training (QmAcceptance *acceptance, const char *model)
{
  for (size_t i = 0; i < acceptance->n; i++)
    if (g_str_equal (acceptance->trainings[i].model, model))
      return &acceptance->trainings[i];
  return NULL;
}

void
qm_acceptance_of_request (const QmRequest *request,
                          const QmForecasts *forecasts,
                          gboolean named,
                          double tolerance,
                          QmAcceptance *acceptance)
{
  g_return_if_fail (request != NULL && acceptance != NULL);

  *acceptance = (QmAcceptance){ .tolerance = tolerance };
  if (request->terms.today.year != 0)
    g_snprintf (acceptance->made_on, sizeof acceptance->made_on,
                "%04d-%02d-%02d", request->terms.today.year,
                request->terms.today.month, request->terms.today.day);
  for (guint i = 0;
       i < request->trainings->len && acceptance->n < QM_ACCEPTANCE_MAX; i++)
    {
      QmAcceptanceTraining training = training_of (
          request, &g_array_index (request->trainings, QmRequestedTraining, i),
          forecasts, named);
      QmAcceptanceTraining *other = find_training (acceptance, training.model);

      if (other == NULL)
        acceptance->trainings[acceptance->n++] = training;
      else if (other->guaranteed < training.guaranteed)
        *other = training;
    }
}
