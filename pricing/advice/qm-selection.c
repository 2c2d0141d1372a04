/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-selection.h"

typedef struct
{
  const QmGpu *gpu;
  int gpus;
  int asked;                    /* best rank of what was asked for; 0: none */
  const QmMeasurement *fastest; /* of what was measured; NULL: nothing */
} Place;

static guint
place_hash (gconstpointer key)
{
  const Place *place = key;

  return g_direct_hash (place->gpu) ^ ((guint) place->gpus * 2654435761u);
}

static gboolean
place_equal (gconstpointer a, gconstpointer b)
{
  const Place *p = a;
  const Place *q = b;

  return p->gpu == q->gpu && p->gpus == q->gpus;
}

/* How well a time is known. */
static int
rank (const QmMeasurement *measurement)
{
  switch (measurement->provenance)
    {
    case QM_PROVENANCE_MEASURED:
      return 3;
    case QM_PROVENANCE_PUBLISHED:
    case QM_PROVENANCE_REPORTED:
      return 2;
    case QM_PROVENANCE_PREDICTED:
    default:
      return 1;
    }
}

static gboolean
is_measured (const QmMeasurement *measurement)
{
  return measurement->provenance == QM_PROVENANCE_MEASURED
         && measurement->feasibility == QM_FEASIBLE;
}

gboolean
qm_selection_is_asked_for (const QmQuestion *question,
                           const QmMeasurement *measurement)
{
  gboolean published = measurement->provenance == QM_PROVENANCE_PUBLISHED;

  g_return_val_if_fail (question != NULL, FALSE);

  switch (question->times_of)
    {
    case QM_TIMES_OF_QUARTERMASTER:
      return !published && measurement->engine == QM_ENGINE_QUARTERMASTER;
    case QM_TIMES_OF_PUBLICATION:
      return published;
    case QM_TIMES_OF_PYTORCH:
    case QM_N_TIMES_OF:
    default:
      return !published && measurement->engine != QM_ENGINE_QUARTERMASTER;
    }
}

gboolean
qm_selection_allows (const QmQuestion *question, const QmGpu *gpu, int gpus)
{
  g_return_val_if_fail (question != NULL && gpu != NULL, FALSE);

  if (question->gpus != NULL
      && !g_strv_contains ((const char *const *) question->gpus, gpu->id))
    return FALSE;
  if (question->counts != NULL)
    {
      for (guint i = 0; i < question->counts->len; i++)
        if (g_array_index (question->counts, int, i) == gpus)
          return TRUE;
      return FALSE;
    }
  return TRUE;
}

/* Published times and others are never compared. */
static gboolean
passes_filters (const QmQuestion *question, const QmMeasurement *measurement)
{
  gboolean published = measurement->provenance == QM_PROVENANCE_PUBLISHED;

  return measurement->settings == question->settings
         && published == (question->times_of == QM_TIMES_OF_PUBLICATION)
         && qm_selection_allows (question, measurement->gpu, measurement->gpus);
}

static Place *
place_of (GHashTable *places, const QmMeasurement *measurement)
{
  Place key = { .gpu = measurement->gpu, .gpus = measurement->gpus };
  Place *place = g_hash_table_lookup (places, &key);

  if (place == NULL)
    {
      place = g_memdup2 (&key, sizeof key);
      g_hash_table_add (places, place);
    }
  return place;
}

static void
look_at_time (GHashTable *places, const QmMeasurement *measurement)
{
  Place *place = place_of (places, measurement);

  place->asked = MAX (place->asked, rank (measurement));
  if (is_measured (measurement)
      && (place->fastest == NULL || measurement->days < place->fastest->days))
    place->fastest = measurement;
}

/* Whether its place has a time that is better known, or as well and shorter. */
static gboolean
is_superseded (GHashTable *places, const QmMeasurement *measurement)
{
  const Place *place = place_of (places, measurement);

  return rank (measurement) < place->asked
         || (is_measured (measurement) && measurement != place->fastest);
}

/* Whether a measurement answers a question about a model. */
static gboolean
answers (const QmQuestion *question,
         const QmModel *model,
         const QmMeasurement *measurement)
{
  return measurement->model == model && passes_filters (question, measurement)
         && qm_selection_is_asked_for (question, measurement);
}

GArray *
qm_selection_new (const QmCatalog *catalog,
                  const QmQuestion *question,
                  const QmModel *model)
{
  g_autoptr (GHashTable) places =
      g_hash_table_new_full (place_hash, place_equal, g_free, NULL);
  g_autoptr (GPtrArray) passing = g_ptr_array_new ();
  GArray *selection;
  const QmMeasurement *all;
  size_t n;

  g_return_val_if_fail (catalog != NULL && question != NULL, NULL);

  selection = g_array_new (FALSE, FALSE, sizeof (QmSelected));
  all = qm_catalog_measurements (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (answers (question, model, &all[i]))
      {
        g_ptr_array_add (passing, (gpointer) &all[i]);
        look_at_time (places, &all[i]);
      }
  for (guint i = 0; i < passing->len; i++)
    {
      QmSelected selected = { .measurement = g_ptr_array_index (passing, i) };

      selected.superseded = is_superseded (places, selected.measurement);
      g_array_append_val (selection, selected);
    }
  return selection;
}

static gboolean
has_place (const GArray *selection, const QmMeasurement *measurement)
{
  for (guint i = 0; i < selection->len; i++)
    {
      const QmMeasurement *selected =
          g_array_index (selection, QmSelected, i).measurement;

      if (selected->gpu == measurement->gpu
          && selected->gpus == measurement->gpus)
        return TRUE;
    }
  return FALSE;
}

void
qm_selection_leave_out (const QmCatalog *catalog,
                        const QmQuestion *question,
                        const QmModel *model,
                        const GArray *selection,
                        GPtrArray *left_out)
{
  const QmMeasurement *all;
  size_t n;

  g_return_if_fail (catalog != NULL && question != NULL);
  g_return_if_fail (selection != NULL && left_out != NULL);

  all = qm_catalog_measurements (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (all[i].model == model && passes_filters (question, &all[i])
        && !qm_selection_is_asked_for (question, &all[i])
        && all[i].feasibility == QM_FEASIBLE && !has_place (selection, &all[i])
        && !g_ptr_array_find (left_out, &all[i], NULL))
      g_ptr_array_add (left_out, (gpointer) &all[i]);
}
