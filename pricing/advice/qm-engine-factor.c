/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-engine-factor.h"

/* What both have measured. */
typedef struct
{
  const QmModel *model;
  const QmGpu *gpu;
  int gpus;
  QmSettings settings;
} Work;

typedef struct
{
  Work work;
  double ratio;
} Pair;

struct _QmEnginePairs
{
  GArray *pairs; /* Pair */
};

static guint
work_hash (gconstpointer key)
{
  const Work *work = key;

  return g_direct_hash (work->model) ^ (31 * g_direct_hash (work->gpu))
         ^ ((guint) work->gpus * 2654435761u) ^ (guint) work->settings;
}

static gboolean
work_equal (gconstpointer a, gconstpointer b)
{
  const Work *p = a;
  const Work *q = b;

  return p->model == q->model && p->gpu == q->gpu && p->gpus == q->gpus
         && p->settings == q->settings;
}

static Work
work_of (const QmMeasurement *measurement)
{
  return (Work){ measurement->model, measurement->gpu, measurement->gpus,
                 measurement->settings };
}

static gboolean
is_time_of (const QmMeasurement *measurement, QmEngine engine)
{
  return measurement->provenance == QM_PROVENANCE_MEASURED
         && measurement->feasibility == QM_FEASIBLE
         && measurement->engine == engine && measurement->days > 0;
}

/* Work -> the shortest days of the engine. */
static GHashTable *
engine_times (const QmMeasurement *measurements, size_t n)
{
  GHashTable *times =
      g_hash_table_new_full (work_hash, work_equal, g_free, NULL);

  for (size_t i = 0; i < n; i++)
    {
      const QmMeasurement *m = &measurements[i];
      const QmMeasurement *other;
      Work work = work_of (m);

      if (!is_time_of (m, QM_ENGINE_QUARTERMASTER))
        continue;
      other = g_hash_table_lookup (times, &work);
      if (other == NULL || m->days < other->days)
        g_hash_table_replace (times, g_memdup2 (&work, sizeof work),
                              (gpointer) m);
    }
  return times;
}

QmEnginePairs *
qm_engine_pairs_new (const QmCatalog *catalog)
{
  QmEnginePairs *self;
  g_autoptr (GHashTable) times = NULL;
  const QmMeasurement *measurements;
  size_t n;

  g_return_val_if_fail (catalog != NULL, NULL);

  self = g_new0 (QmEnginePairs, 1);
  self->pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  measurements = qm_catalog_measurements (catalog, &n);
  times = engine_times (measurements, n);
  for (size_t i = 0; i < n; i++)
    {
      const QmMeasurement *m = &measurements[i];
      const QmMeasurement *ours;
      Pair pair = { work_of (m), NAN };

      if (!is_time_of (m, QM_ENGINE_PYTORCH))
        continue;
      ours = g_hash_table_lookup (times, &pair.work);
      if (ours == NULL)
        continue;
      pair.ratio = m->days / ours->days;
      g_array_append_val (self->pairs, pair);
    }
  return self;
}

void
qm_engine_pairs_free (QmEnginePairs *pairs)
{
  if (pairs == NULL)
    return;
  g_array_unref (pairs->pairs);
  g_free (pairs);
}

guint
qm_engine_pairs_count (const QmEnginePairs *pairs)
{
  g_return_val_if_fail (pairs != NULL, 0);

  return pairs->pairs->len;
}

gboolean
qm_engine_pairs_factor (const QmEnginePairs *pairs,
                        const QmModel *model,
                        QmSettings settings,
                        int gpus,
                        QmEngineFactor *factor)
{
  double logs = 0, logs_of_model = 0;
  guint n_of_model = 0;

  g_return_val_if_fail (pairs != NULL && factor != NULL, FALSE);

  *factor = (QmEngineFactor){ NAN, INFINITY, 0, 0 };
  for (guint i = 0; i < pairs->pairs->len; i++)
    {
      const Pair *pair = &g_array_index (pairs->pairs, Pair, i);

      if (pair->work.settings != settings || pair->work.gpus != gpus)
        continue;
      factor->n_pairs++;
      factor->low = MIN (factor->low, pair->ratio);
      factor->high = MAX (factor->high, pair->ratio);
      logs += log (pair->ratio);
      if (pair->work.model != model)
        continue;
      n_of_model++;
      logs_of_model += log (pair->ratio);
    }
  if (factor->n_pairs < QM_ENGINE_PAIRS_MIN)
    return FALSE;
  factor->factor = n_of_model > 0 ? exp (logs_of_model / n_of_model)
                                  : exp (logs / factor->n_pairs);
  /* Rounding must not put a single ratio out of its own interval. */
  factor->factor = CLAMP (factor->factor, factor->low, factor->high);
  return TRUE;
}

QmMeasurement *
qm_engine_pairs_predict (const QmEnginePairs *pairs,
                         const QmMeasurement *basis,
                         QmEngine engine)
{
  QmEngine other =
      engine == QM_ENGINE_PYTORCH ? QM_ENGINE_QUARTERMASTER : QM_ENGINE_PYTORCH;
  QmEngineFactor factor;
  QmMeasurement *predicted;

  g_return_val_if_fail (pairs != NULL && basis != NULL, NULL);

  if (engine == QM_ENGINE_UNSTATED || !is_time_of (basis, other)
      || !qm_engine_pairs_factor (pairs, basis->model, basis->settings,
                                  basis->gpus, &factor))
    return NULL;
  predicted = g_memdup2 (basis, sizeof *basis);
  predicted->provenance = QM_PROVENANCE_PREDICTED;
  predicted->engine = engine;
  predicted->engine_version = "";
  predicted->measured_on = (QmDate){ 0 };
  predicted->basis = basis;
  /* How the other one ran says nothing of how this one would. */
  predicted->checkpointing = QM_UNSTATED;
  predicted->offloading = QM_UNSTATED;
  predicted->sharding = "";
  predicted->micro_batch_size = 0;
  predicted->accumulation = 0;
  if (engine == QM_ENGINE_PYTORCH)
    {
      predicted->days = basis->days * factor.factor;
      predicted->days_low = basis->days * factor.low;
      predicted->days_high = basis->days * factor.high;
    }
  else
    {
      predicted->days = basis->days / factor.factor;
      predicted->days_low = basis->days / factor.high;
      predicted->days_high = basis->days / factor.low;
    }
  return predicted;
}
