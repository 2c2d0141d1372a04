/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-unmeasured.h"

#include "data/flops.h"
#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-selection.h"

#include <math.h>

#define SECONDS_PER_DAY 86400.0

/* Whether a time tells what the GPU can be made to do. */
static gboolean
tells (const QmMeasurement *one, const QmGpu *gpu, const QmQuestion *question)
{
  return one->gpu == gpu && one->gpus == 1
         && one->settings == QM_SETTINGS_OPTIMAL
         && one->provenance != QM_PROVENANCE_PREDICTED
         && qm_selection_is_asked_for (question, one)
         && qm_audit_measurement (one, NULL) == QM_VERDICT_OK;
}

/* Of two times of a model the better known one. */
static gboolean
is_better (const QmMeasurement *one, const QmMeasurement *other)
{
  return other == NULL
         || (one->provenance == QM_PROVENANCE_MEASURED
             && other->provenance != QM_PROVENANCE_MEASURED);
}

/* The times to go by, one of each model.  (transfer full) */
static GHashTable *
find_times (const QmCatalog *catalog, const QmGpu *gpu, QmTimesOf times_of)
{
  GHashTable *times = g_hash_table_new (NULL, NULL);
  g_autoptr (QmQuestion) question = qm_question_new ();
  const QmMeasurement *all;
  size_t n;

  question->times_of = times_of;
  all = qm_catalog_measurements (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (tells (&all[i], gpu, question)
        && is_better (&all[i], g_hash_table_lookup (times, all[i].model)))
      g_hash_table_insert (times, (gpointer) all[i].model, (gpointer) &all[i]);
  return times;
}

gboolean
qm_unmeasured_predict (const QmCatalog *catalog,
                       const QmModelConfig *config,
                       const QmRecipe *recipe,
                       const QmGpu *gpu,
                       QmTimesOf times_of,
                       QmUnmeasured *predicted)
{
  g_autoptr (GHashTable) times = NULL;
  double peak, at_peak, sum = 0, least = INFINITY, most = 0;
  GHashTableIter iter;
  gpointer value;
  guint n;

  g_return_val_if_fail (catalog != NULL && gpu != NULL, FALSE);
  g_return_val_if_fail (config != NULL && recipe != NULL, FALSE);
  g_return_val_if_fail (predicted != NULL, FALSE);

  times = find_times (catalog, gpu, times_of);
  n = g_hash_table_size (times);
  peak = qm_gpu_peak_tflops (gpu, recipe->precision, TRUE);
  if (n < QM_UNMEASURED_MIN || !(peak > 0))
    return FALSE;
  g_hash_table_iter_init (&iter, times);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      double share;

      qm_audit_measurement (value, &share);
      sum += log (share);
      least = MIN (least, share);
      most = MAX (most, share);
    }
  at_peak = qm_flops_train (config, recipe) / (peak * 1e12 * SECONDS_PER_DAY);
  predicted->share = exp (sum / n);
  predicted->days = at_peak / predicted->share;
  predicted->low = at_peak / most;
  predicted->high = at_peak / least;
  predicted->n_models = n;
  return TRUE;
}
