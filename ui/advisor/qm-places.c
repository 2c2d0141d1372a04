/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-order.h"
#include "ui/advisor/qm-places.h"
#include "ui/plot/qm-advice-plot.h"

GPtrArray *
qm_places_gpus (const QmCatalog *catalog)
{
  GPtrArray *ids = qm_advice_plot_gpus (catalog);

  for (guint i = 0; i < ids->len; i++)
    ids->pdata[i] = (gpointer) ((const QmGpu *) ids->pdata[i])->id;
  g_ptr_array_add (ids, NULL);
  return ids;
}

GArray *
qm_places_counts (const QmCatalog *catalog)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (int));
  size_t n;
  const QmMeasurement *measurements = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (g_hash_table_add (seen, GINT_TO_POINTER (measurements[i].gpus)))
      g_array_append_val (counts, measurements[i].gpus);
  g_array_sort (counts, qm_order_ints);
  return counts;
}
