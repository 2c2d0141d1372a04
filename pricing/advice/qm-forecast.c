/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-forecast.h"

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-effects.h"

/* Of the errors, what lies below and above the interval. */
#define TAIL 0.05

struct _QmForecasts
{
  QmSettings settings;
  gboolean ours;  /* whether the project's engine is asked for */
  GArray *shares; /* QmShare */
  QmEffects *effects;
  GArray *errors[QM_N_FORECASTS]; /* of double, sorted; NULL: not looked at */
};

/* Whether the project's engine took a time. */
static gboolean
is_ours (const QmMeasurement *time)
{
  return time->provenance == QM_PROVENANCE_MEASURED
         && time->engine == QM_ENGINE_QUARTERMASTER;
}

static gboolean
tells (const QmMeasurement *time, QmSettings settings, QmTimesOf times_of)
{
  if (time->settings != settings || time->feasibility != QM_FEASIBLE
      || time->provenance == QM_PROVENANCE_PREDICTED
      || qm_audit_measurement (time, NULL) != QM_VERDICT_OK)
    return FALSE;
  return times_of != QM_TIMES_OF_PUBLICATION
         || time->engine != QM_ENGINE_PYTORCH;
}

/* Of two times of the same, a measured one counts, and of two measured ones
 * the first. */
static void
add_share (GArray *shares, const QmShare *share)
{
  for (guint i = 0; i < shares->len; i++)
    {
      QmShare *known = &g_array_index (shares, QmShare, i);

      if (known->time->model != share->time->model
          || known->time->gpu != share->time->gpu
          || known->time->gpus != share->time->gpus
          || known->ours != share->ours)
        continue;
      if (known->time->provenance == QM_PROVENANCE_PUBLISHED
          && share->time->provenance == QM_PROVENANCE_MEASURED)
        *known = *share;
      return;
    }
  g_array_append_vals (shares, share, 1);
}

QmForecasts *
qm_forecasts_new (const QmCatalog *catalog,
                  QmSettings settings,
                  QmTimesOf times_of,
                  QmForecastHide hide,
                  gpointer data)
{
  QmForecasts *self;
  const QmMeasurement *times;
  size_t n;

  g_return_val_if_fail (catalog != NULL, NULL);

  self = g_new0 (QmForecasts, 1);
  self->settings = settings;
  self->ours = times_of == QM_TIMES_OF_QUARTERMASTER;
  self->shares = g_array_new (FALSE, FALSE, sizeof (QmShare));
  times = qm_catalog_measurements (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      QmShare share = { .time = &times[i], .ours = is_ours (&times[i]) };

      if (!tells (&times[i], settings, times_of)
          || (hide != NULL && hide (&times[i], data)))
        continue;
      qm_audit_measurement (&times[i], &share.log);
      share.log = log (share.log);
      add_share (self->shares, &share);
    }
  self->effects = qm_effects_fit (self->shares, NULL, NULL);
  return self;
}

void
qm_forecasts_free (QmForecasts *forecasts)
{
  if (forecasts == NULL)
    return;
  for (int i = 0; i < QM_N_FORECASTS; i++)
    g_clear_pointer (&forecasts->errors[i], g_array_unref);
  qm_effects_free (forecasts->effects);
  g_array_unref (forecasts->shares);
  g_free (forecasts);
}

/* What a forecast of `kind` at the place of `one` must not know. */
static gboolean
is_hidden (const QmShare *share, const QmShare *one, int kind)
{
  gboolean same_model = share->time->model == one->time->model;
  gboolean same_gpu = share->time->gpu == one->time->gpu;

  if (share->ours != one->ours)
    return FALSE;
  switch (kind)
    {
    case QM_FORECAST_OF_MODEL:
      return same_model;
    case QM_FORECAST_OF_GPU:
      return same_gpu;
    case QM_FORECAST_OF_BOTH:
      return same_model || same_gpu;
    case QM_FORECAST_OF_COUNT:
      return same_model && same_gpu && share->time->gpus != 1;
    case QM_FORECAST_OF_PAIR:
    default:
      return same_model && same_gpu;
    }
}

typedef struct
{
  const QmShare *one;
  QmForecastKind kind;
} Hidden;

static gboolean
hide_cb (const QmShare *share, gpointer data)
{
  const Hidden *hidden = data;

  return is_hidden (share, hidden->one, (int) hidden->kind);
}

/* Whether the same is hidden for both. */
static gboolean
is_same_hiding (const QmShare *a, const QmShare *b, QmForecastKind kind)
{
  return a->ours == b->ours
         && (kind == QM_FORECAST_OF_GPU || a->time->model == b->time->model)
         && (kind == QM_FORECAST_OF_MODEL || a->time->gpu == b->time->gpu);
}

/* Whether from one GPU of a type to several can be looked at. */
static gboolean
has_single (const GArray *shares, const QmShare *one)
{
  for (guint i = 0; i < shares->len; i++)
    {
      const QmShare *share = &g_array_index (shares, QmShare, i);

      if (share->time->gpus == 1
          && is_same_hiding (share, one, QM_FORECAST_OF_COUNT))
        return TRUE;
    }
  return FALSE;
}

/* Adds what is missed of all that is hidden together with `one`. */
static void
add_errors (const GArray *shares,
            const QmShare *one,
            QmForecastKind kind,
            GArray *errors)
{
  Hidden hidden = { one, kind };
  g_autoptr (QmEffects) effects = qm_effects_fit (shares, hide_cb, &hidden);

  for (guint i = 0; i < shares->len; i++)
    {
      const QmShare *share = &g_array_index (shares, QmShare, i);
      const QmMeasurement *time = share->time;
      double error;

      if (!is_same_hiding (share, one, kind)
          || !is_hidden (share, one, (int) kind))
        continue;
      error = share->log
              - qm_effects_sum (effects, time->model, time->gpu, time->gpus,
                                share->ours);
      if (qm_known (error))
        g_array_append_val (errors, error);
    }
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  const double *x = a;
  const double *y = b;

  return (*x > *y) - (*x < *y);
}

/* What forecasts of a kind miss: true less predicted logarithms, sorted. */
static const GArray *
errors_of (QmForecasts *self, QmForecastKind kind)
{
  GArray *errors = self->errors[kind];

  if (errors != NULL)
    return errors;
  errors = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < self->shares->len; i++)
    {
      const QmShare *one = &g_array_index (self->shares, QmShare, i);
      gboolean seen =
          kind == QM_FORECAST_OF_COUNT && !has_single (self->shares, one);

      for (guint j = 0; j < i && !seen; j++)
        seen = is_same_hiding (&g_array_index (self->shares, QmShare, j), one,
                               kind);
      if (!seen)
        add_errors (self->shares, one, kind, errors);
    }
  g_array_sort (errors, compare_doubles);
  self->errors[kind] = errors;
  return errors;
}

/* Of sorted values the one at `part` of them, between two in proportion. */
static double
quantile (const GArray *values, double part)
{
  double at = (values->len - 1) * part;
  guint below = (guint) at;
  double low = g_array_index (values, double, below);

  if (below + 1 >= values->len)
    return low;
  return low + (g_array_index (values, double, below + 1) - low) * (at - below);
}

static QmForecastKind
kind_of (const QmForecasts *self, const QmModel *model, const QmGpu *gpu)
{
  gboolean known_model = FALSE, known_gpu = FALSE;

  for (guint i = 0; i < self->shares->len; i++)
    {
      const QmShare *share = &g_array_index (self->shares, QmShare, i);

      if (share->ours != self->ours)
        continue;
      if (share->time->model == model && share->time->gpu == gpu)
        return QM_FORECAST_OF_COUNT;
      known_model |= share->time->model == model;
      known_gpu |= share->time->gpu == gpu;
    }
  if (known_model)
    return known_gpu ? QM_FORECAST_OF_PAIR : QM_FORECAST_OF_GPU;
  return known_gpu ? QM_FORECAST_OF_MODEL : QM_FORECAST_OF_BOTH;
}

gboolean
qm_forecasts_predict (QmForecasts *self,
                      const QmModel *model,
                      const QmGpu *gpu,
                      int gpus,
                      QmForecast *forecast)
{
  double at_peak, sum;
  const GArray *errors;

  g_return_val_if_fail (self != NULL && model != NULL, FALSE);
  g_return_val_if_fail (gpu != NULL && forecast != NULL, FALSE);

  if (gpus < 1
      || (gpus > 1 && !qm_gpu_is_card (gpu) && !qm_gpu_is_mezzanine (gpu)))
    return FALSE;
  /* In one day; so many days take it to the peak. */
  at_peak = qm_audit_utilization (model, gpu, gpus, self->settings, 1);
  sum = qm_effects_sum (self->effects, model, gpu, gpus, self->ours);
  if (!qm_known (at_peak) || !qm_known (sum))
    return FALSE;
  *forecast = (QmForecast){ .kind = kind_of (self, model, gpu),
                            .n_times = self->shares->len };
  errors = errors_of (self, forecast->kind);
  if (errors->len < QM_FORECAST_MIN)
    return FALSE;
  forecast->n_errors = errors->len;
  forecast->share = fmin (exp (sum), 1);
  forecast->days = at_peak / forecast->share;
  forecast->low = at_peak / exp (sum + fmax (quantile (errors, 1 - TAIL), 0));
  forecast->low = fmin (fmax (forecast->low, at_peak), forecast->days);
  forecast->high = at_peak / exp (sum + fmin (quantile (errors, TAIL), 0));
  forecast->high = fmax (forecast->high, forecast->days);
  return TRUE;
}

double
qm_forecast_coverage (QmForecastKind kind, QmSettings settings)
{
  static const double coverage[QM_N_FORECASTS][2] = {
    [QM_FORECAST_OF_COUNT] = { 0.88, 0.86 },
    [QM_FORECAST_OF_PAIR] = { 0.89, 0.95 },
    [QM_FORECAST_OF_MODEL] = { 0.84, 0.86 },
    [QM_FORECAST_OF_GPU] = { 0.85, 0.65 },
    [QM_FORECAST_OF_BOTH] = { 0.86, 0.89 },
  };

  g_return_val_if_fail (kind < QM_N_FORECASTS, NAN);

  return coverage[kind][settings == QM_SETTINGS_NAIVE];
}

const char *
qm_forecast_kind_name (QmForecastKind kind)
{
  static const char *const names[QM_N_FORECASTS] = { "count", "pair", "model",
                                                     "gpu", "both" };

  g_return_val_if_fail (kind < QM_N_FORECASTS, NULL);

  return names[kind];
}
