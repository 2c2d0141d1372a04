/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-shortlist.h"

#include <math.h>

typedef struct
{
  const QmGpu *gpu;
  guint first;    /* candidate, for ties */
  double nearest; /* least price x time; infinite: none may be recommended */
} Type;

static Type *
find_type (GArray *types, const QmGpu *gpu, guint first)
{
  Type type = { .gpu = gpu, .first = first, .nearest = INFINITY };

  for (guint i = 0; i < types->len; i++)
    if (g_array_index (types, Type, i).gpu == gpu)
      return &g_array_index (types, Type, i);
  g_array_append_val (types, type);
  return &g_array_index (types, Type, types->len - 1);
}

static int
compare_types (gconstpointer a, gconstpointer b)
{
  const Type *p = a;
  const Type *q = b;

  if (p->nearest < q->nearest)
    return -1;
  if (p->nearest > q->nearest)
    return 1;
  return (p->first > q->first) - (p->first < q->first);
}

/* All types that occur, the nearest to the frontier first.  (transfer full) */
static GArray *
list_types (const QmAdvice *advice)
{
  GArray *types = g_array_new (FALSE, FALSE, sizeof (Type));
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    {
      Type *type = find_type (types, candidates[i].gpu, i);

      if (candidates[i].eligible)
        type->nearest = fmin (type->nearest, (double) candidates[i].cost_minor
                                                 * candidates[i].days);
    }
  g_array_sort (types, compare_types);
  return types;
}

/* Those of the frontier, from cheap to fast.  (transfer full) */
static GPtrArray *
list_frontier (const QmAdvice *advice)
{
  GPtrArray *gpus = g_ptr_array_new ();
  guint n_candidates, n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n_candidates);
  const int *frontier = qm_advice_frontier (advice, &n);

  for (guint i = 0; i < n; i++)
    {
      gpointer gpu = (gpointer) candidates[frontier[i]].gpu;

      if (!g_ptr_array_find (gpus, gpu, NULL))
        g_ptr_array_add (gpus, gpu);
    }
  return gpus;
}

GHashTable *
qm_shortlist_new (const QmAdvice *advice)
{
  g_autoptr (GArray) types = NULL;
  g_autoptr (GPtrArray) frontier = NULL;
  GHashTable *shortlist;

  g_return_val_if_fail (advice != NULL, NULL);

  types = list_types (advice);
  if (types->len <= QM_SHORTLIST_MOST)
    return NULL;
  frontier = list_frontier (advice);
  shortlist = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < MIN (frontier->len, QM_SHORTLIST_MOST); i++)
    {
      guint at = frontier->len <= QM_SHORTLIST_MOST
                     ? i
                     : i * (frontier->len - 1) / (QM_SHORTLIST_MOST - 1);

      g_hash_table_add (shortlist, frontier->pdata[at]);
    }
  for (guint i = 0;
       i < types->len && g_hash_table_size (shortlist) < QM_SHORTLIST_MOST; i++)
    g_hash_table_add (shortlist, (gpointer) g_array_index (types, Type, i).gpu);
  return shortlist;
}
