/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-models.h"

#include "data/flops.h"

static int
compare_models (const void *a, const void *b)
{
  const QmModel *first = *(const QmModel *const *) a;
  const QmModel *second = *(const QmModel *const *) b;
  gint64 n_first, n_second;

  if (first->config.family != second->config.family)
    return (int) first->config.family - (int) second->config.family;

  n_first = qm_parameter_count (&first->config);
  n_second = qm_parameter_count (&second->config);
  return (n_first > n_second) - (n_first < n_second);
}

GPtrArray *
qm_models_sorted (const QmCatalog *catalog)
{
  GPtrArray *sorted = g_ptr_array_new ();
  const QmModel *models;
  size_t n;

  models = qm_catalog_models (catalog, &n);
  for (size_t i = 0; i < n; i++)
    g_ptr_array_add (sorted, (gpointer) &models[i]);
  g_ptr_array_sort (sorted, compare_models);

  return sorted;
}
