/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-forecast.h"

#include <math.h>

#define GPUS_MAX 1024

struct _QmForecasts
{
  gatomicrefcount references;
  gboolean pending;
  GHashTable *known;    /* "model level gpu gpus" -> QmForecast */
  GHashTable *problems; /* "model level" -> char* */
};

static void
forecast_free (QmForecast *forecast)
{
  g_free (forecast->unsupported);
  g_free (forecast);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmForecast, forecast_free)

QmForecasts *
qm_forecasts_new (void)
{
  QmForecasts *self = g_new0 (QmForecasts, 1);

  g_atomic_ref_count_init (&self->references);
  self->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                       (GDestroyNotify) forecast_free);
  self->problems =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

QmForecasts *
qm_forecasts_ref (QmForecasts *forecasts)
{
  g_return_val_if_fail (forecasts != NULL, NULL);

  g_atomic_ref_count_inc (&forecasts->references);
  return forecasts;
}

void
qm_forecasts_unref (QmForecasts *forecasts)
{
  if (forecasts == NULL || !g_atomic_ref_count_dec (&forecasts->references))
    return;
  g_hash_table_unref (forecasts->known);
  g_hash_table_unref (forecasts->problems);
  g_free (forecasts);
}

/* Ids hold no line breaks. */
static char *
key_of_model (const char *model, const char *level)
{
  return g_strconcat (model, "\n", level, NULL);
}

static char *
key_of_forecast (const char *model,
                 const char *level,
                 const char *gpu,
                 int gpus)
{
  return g_strdup_printf ("%s\n%s\n%s\n%d", model, level, gpu, gpus);
}

/* A number above zero; FALSE where there is none. */
static gboolean
take_number (const json_t *object, const char *name, double *number)
{
  const json_t *value = json_object_get (object, name);

  *number = json_number_value (value);
  return json_is_number (value) && *number > 0 && isfinite (*number);
}

/* A whole number that is not negative; FALSE where there is none. */
static gboolean
take_count (const json_t *object, const char *name, gint64 *count)
{
  const json_t *value = json_object_get (object, name);

  *count = json_integer_value (value);
  return json_is_integer (value) && *count >= 0;
}

/* The days that other links make of it, where there may be some. */
static gboolean
take_other_links (const json_t *line, const char *links, double *days)
{
  const json_t *other = json_object_get (line, links);

  return other == NULL || json_is_null (other)
         || take_number (other, "days", days);
}

/* The days of a training that fits. */
static gboolean
take_time (const json_t *line, QmForecast *forecast)
{
  const char *sharding = json_string_value (json_object_get (line, "sharding"));
  const char *bound = json_string_value (json_object_get (line, "bound"));
  const char *way = json_string_value (json_object_get (line, "link"));

  if (!take_number (line, "days", &forecast->days)
      || !take_number (line, "days_low", &forecast->low)
      || !take_number (line, "days_high", &forecast->high)
      || forecast->low > forecast->days || forecast->days > forecast->high
      || !take_count (line, "host_bytes", &forecast->host_bytes)
      || !take_count (line, "micro_batch", &forecast->micro_batch)
      || sharding == NULL
      || !take_other_links (line, "bridged", &forecast->bridged)
      || !take_other_links (line, "half_lanes", &forecast->half_lanes))
    return FALSE;
  forecast->checkpointing =
      json_is_true (json_object_get (line, "checkpointing"));
  forecast->fit = json_is_true (json_object_get (line, "offloading"))
                      ? QM_FIT_OFFLOADING
                      : QM_FIT_WELL;
  forecast->sharding = g_intern_string (sharding);
  forecast->bound = g_intern_string (bound);
  forecast->link = g_intern_string (way);
  return TRUE;
}

static gboolean
take_forecast_line (const json_t *line, QmForecast *forecast)
{
  const json_t *fits = json_object_get (line, "fits");
  const char *unsupported =
      json_string_value (json_object_get (line, "unsupported"));

  forecast->days = forecast->low = forecast->high = NAN;
  forecast->bridged = forecast->half_lanes = NAN;
  forecast->sharding = "none";
  if (unsupported != NULL)
    {
      forecast->fit = QM_FIT_UNKNOWN;
      forecast->unsupported = g_strdup (unsupported);
      return g_utf8_validate (unsupported, -1, NULL);
    }
  if (json_is_true (fits))
    return take_time (line, forecast);
  forecast->fit = QM_FIT_NOT;
  return json_is_false (fits);
}

gboolean
qm_forecasts_add (QmForecasts *forecasts, const char *model, const json_t *line)
{
  const char *gpu = json_string_value (json_object_get (line, "gpu_id"));
  const char *level = json_string_value (json_object_get (line, "level"));
  g_autoptr (QmForecast) forecast = g_new0 (QmForecast, 1);
  gint64 gpus;

  g_return_val_if_fail (forecasts != NULL && model != NULL, FALSE);

  if (gpu == NULL || level == NULL || !take_count (line, "gpus", &gpus)
      || gpus < 1 || gpus > GPUS_MAX || !take_forecast_line (line, forecast))
    return FALSE;
  forecast->level = g_intern_string (level);
  g_hash_table_insert (forecasts->known,
                       key_of_forecast (model, level, gpu, (int) gpus),
                       g_steal_pointer (&forecast));
  return TRUE;
}

void
qm_forecasts_set_pending (QmForecasts *forecasts, gboolean pending)
{
  g_return_if_fail (forecasts != NULL);

  forecasts->pending = pending;
}

gboolean
qm_forecasts_is_pending (const QmForecasts *forecasts)
{
  return forecasts != NULL && forecasts->pending;
}

void
qm_forecasts_set_problem (QmForecasts *forecasts,
                          const char *model,
                          const char *level,
                          const char *problem)
{
  g_autofree char *key = NULL;

  g_return_if_fail (forecasts != NULL);
  g_return_if_fail (model != NULL && level != NULL);

  key = key_of_model (model, level);
  if (problem == NULL)
    g_hash_table_remove (forecasts->problems, key);
  else
    g_hash_table_replace (forecasts->problems, g_steal_pointer (&key),
                          g_strdup (problem));
}

const char *
qm_forecasts_get_problem (const QmForecasts *forecasts,
                          const char *model,
                          const char *level)
{
  g_autofree char *key = NULL;

  g_return_val_if_fail (model != NULL && level != NULL, NULL);

  if (forecasts == NULL)
    return NULL;
  key = key_of_model (model, level);
  return g_hash_table_lookup (forecasts->problems, key);
}

const QmForecast *
qm_forecasts_look (const QmForecasts *forecasts,
                   const char *model,
                   const char *level,
                   const QmGpu *gpu,
                   int gpus)
{
  g_autofree char *key = NULL;

  g_return_val_if_fail (model != NULL && level != NULL, NULL);
  g_return_val_if_fail (gpu != NULL && gpus > 0, NULL);

  if (forecasts == NULL)
    return NULL;
  key = key_of_forecast (model, level, gpu->id, gpus);
  return g_hash_table_lookup (forecasts->known, key);
}

const QmForecast *
qm_forecasts_fastest (const QmForecasts *forecasts,
                      const char *model,
                      const QmGpu *gpu,
                      int gpus)
{
  g_auto (GStrv) levels = NULL;
  const QmForecast *fastest = NULL;

  g_return_val_if_fail (model != NULL, NULL);
  g_return_val_if_fail (gpu != NULL && gpus > 0, NULL);

  if (forecasts == NULL)
    return NULL;
  levels = g_strsplit (QM_FORECAST_LEVELS, ",", -1);
  for (guint i = 0; levels[i] != NULL; i++)
    {
      const QmForecast *one =
          qm_forecasts_look (forecasts, model, levels[i], gpu, gpus);

      if (one == NULL)
        return NULL;
      if (!isnan (one->days) && (fastest == NULL || one->days < fastest->days))
        fastest = one;
    }
  return fastest;
}

const char *
qm_fit_name (QmFit fit)
{
  static const char *const names[] = { "unknown", "no", "offloading", "yes" };

  g_return_val_if_fail ((guint) fit < G_N_ELEMENTS (names), NULL);

  return names[fit];
}
