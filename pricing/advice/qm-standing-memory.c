/* SPDX-License-Identifier: Apache-2.0 */

/* What methods that save memory gain and cost, of all ways that were measured.
 */

#include "config.h"

#include "pricing/advice/qm-standing.h"

#include "data/result-terms.h"
#include "pricing/qm-order.h"

#include <math.h>
#include <string.h>

/* The ways of one model on one number of GPUs of a type, with one software. */
typedef struct
{
  const QmModel *model;
  const QmGpu *gpu;
  int gpus;
  char *software;
  double alone;     /* days with free-lunch settings alone; NaN: not known */
  GHashTable *ways; /* those that save memory: char* -> double*, days; infinite
                       where they were cut */
} Place;

static void
place_clear (gpointer data)
{
  Place *place = data;

  g_free (place->software);
  g_hash_table_unref (place->ways);
}

static Place *
find_place (GArray *places, const QmCatalog *catalog, const QmResult *result)
{
  Place place = { .model = qm_catalog_model (catalog, result->model),
                  .gpu = qm_catalog_gpu (catalog, result->gpu),
                  .gpus = result->gpus,
                  .alone = (double) NAN };
  g_autofree char *software =
      g_strdup_printf ("%s %s %s", result->engine, result->version,
                       result->model_key);

  if (place.model == NULL || place.gpu == NULL
      || qm_result_aside (result, place.gpu) != QM_ASIDE_NOT)
    return NULL;
  for (guint i = 0; i < places->len; i++)
    {
      Place *known = &g_array_index (places, Place, i);

      if (known->model == place.model && known->gpu == place.gpu
          && known->gpus == place.gpus
          && g_str_equal (known->software, software))
        return known;
    }
  place.software = g_steal_pointer (&software);
  place.ways = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_array_append_val (places, place);
  return &g_array_index (places, Place, places->len - 1);
}

static void
take_result (GArray *places, const QmCatalog *catalog, const QmResult *result)
{
  double days = result->status == QM_RESULT_MEASURED ? result->days : INFINITY;
  g_autofree char *way = NULL;
  const double *known;
  Place *place;

  if ((result->status != QM_RESULT_MEASURED && result->status != QM_RESULT_CUT)
      || !(days > 0) || strcmp (result->settings, "free-lunch") != 0)
    return;
  place = find_place (places, catalog, result);
  if (place == NULL)
    return;
  if (!result->checkpointing && !result->offloading
      && strcmp (result->sharding, "none") == 0)
    {
      place->alone = fmin (place->alone, days);
      return;
    }
  way = g_strdup_printf ("%d %d %s", result->checkpointing, result->offloading,
                         result->sharding);
  known = g_hash_table_lookup (place->ways, way);
  if (known == NULL || days < *known)
    g_hash_table_replace (place->ways, g_steal_pointer (&way),
                          g_memdup2 (&days, sizeof days));
}

static void
read_folder (GArray *places, const QmCatalog *catalog, const char *folder)
{
  g_autoptr (GDir) files = g_dir_open (folder, 0, NULL);
  const char *name;

  while (files != NULL && (name = g_dir_read_name (files)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      QmResults *results;
      const QmResult *list;
      size_t n = 0;

      if (!g_str_has_suffix (name, ".jsonl"))
        continue;
      results = qm_results_new ();
      if (results != NULL
          && qm_results_read (results, path, NULL, NULL, NULL) == QM_OK)
        {
          list = qm_results_list (results, &n);
          for (size_t i = 0; i < n; i++)
            take_result (places, catalog, &list[i]);
        }
      qm_results_free (results);
    }
}

static void
add_points (GArray *points, const Place *place)
{
  g_autoptr (GArray) days = g_array_new (FALSE, FALSE, sizeof (double));
  double ranked[QM_N_STANDING_RANKS];
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, place->ways);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_array_append_vals (days, value, 1);
  if (!isfinite (place->alone) || days->len == 0)
    return;
  g_array_sort (days, qm_order_doubles);
  ranked[QM_STANDING_BEST] = g_array_index (days, double, 0);
  ranked[QM_STANDING_MIDDLE] = g_array_index (days, double, days->len / 2);
  ranked[QM_STANDING_WORST] = g_array_index (days, double, days->len - 1);
  for (int i = 0; i < QM_N_STANDING_RANKS; i++)
    {
      QmStandingPoint point = { .model = place->model,
                                .gpu = place->gpu,
                                .gpus = place->gpus,
                                .measured = TRUE,
                                .rank = (QmStandingRank) i,
                                .x = place->alone,
                                .y = ranked[i] };

      if (isfinite (point.y))
        g_array_append_val (points, point);
    }
}

GArray *
qm_standing_memory_points (const QmCatalog *catalog, const char *folder)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));
  GArray *points = g_array_new (FALSE, FALSE, sizeof (QmStandingPoint));

  g_return_val_if_fail (catalog != NULL && folder != NULL, points);

  g_array_set_clear_func (places, place_clear);
  read_folder (places, catalog, folder);
  for (guint i = 0; i < places->len; i++)
    add_points (points, &g_array_index (places, Place, i));
  return points;
}
