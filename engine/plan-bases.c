/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/plan-bases.h"

#include <stdlib.h>
#include <string.h>

/* Graphs of a model with 80 layers take some MiB each. */
#define MOST 16

typedef struct Base
{
  QmPlanOptions options;
  int64_t passes;
  bool compares; /* what ranks have with that of others: the model knows them */
  QmGraph *graph;
} Base;

/* Ways with each number of ranks, above 1 or not. */
#define MOST_WAYS 64

struct QmPlanBases
{
  Base list[MOST];
  size_t n; /* that were kept ever */
  QmPlanOptions checked[MOST_WAYS];
  size_t n_checked;
};

QmPlanBases *
qm_plan_bases_new (void)
{
  return calloc (1, sizeof (QmPlanBases));
}

void
qm_plan_bases_free (QmPlanBases *bases)
{
  if (bases == NULL)
    return;
  for (size_t i = 0; i < MOST; i++)
    qm_graph_free (bases->list[i].graph);
  free (bases);
}

/* But for the micro-batch. */
static bool
is_same_way (const QmPlanOptions *a, const QmPlanOptions *b)
{
  return a->target.kind == b->target.kind
         && a->target.architecture == b->target.architecture
         && a->methods == b->methods && a->checkpoint == b->checkpoint
         && a->no_dropout == b->no_dropout && a->narrow == b->narrow
         && a->foreign == b->foreign && a->loss_rows == b->loss_rows;
}

static bool
is_same_base (const QmPlanOptions *a, const QmPlanOptions *b)
{
  return is_same_way (a, b) && a->micro_batch == b->micro_batch;
}

static bool
compares_ranks (const QmGraph *graph)
{
  for (size_t i = 0; i < graph->n_nodes; i++)
    if (graph->nodes[i].op == QM_OP_CONTRAST_LOSS)
      return true;
  return false;
}

QmGraph *
qm_plan_bases_find (const QmPlanBases *bases,
                    const QmPlanOptions *options,
                    int64_t passes)
{
  for (size_t i = 0; i < MOST; i++)
    if (bases->list[i].graph != NULL && bases->list[i].passes == passes
        && is_same_base (&bases->list[i].options, options)
        && (!bases->list[i].compares
            || (bases->list[i].options.ranks == options->ranks
                && bases->list[i].options.rank == options->rank)))
      return qm_graph_copy (bases->list[i].graph);
  return NULL;
}

void
qm_plan_bases_keep (QmPlanBases *bases,
                    const QmPlanOptions *options,
                    int64_t passes,
                    QmGraph *graph)
{
  Base *base = &bases->list[bases->n % MOST];
  QmGraph *copy = qm_graph_copy (graph);

  if (copy == NULL)
    return;
  /* The oldest may be what a plan in hand is a copy of, but for its names. */
  if (base->graph != NULL)
    {
      qm_pool_take (&copy->strings, &base->graph->strings);
      qm_graph_free (base->graph);
    }
  qm_pool_take (&copy->strings, &graph->strings);
  *base = (Base){ *options, passes, compares_ranks (copy), copy };
  bases->n++;
}

/* Whether a way was asked for before, of any micro-batch. */
static bool
is_checked (QmPlanBases *bases, const QmPlanOptions *options)
{
  for (size_t i = 0; i < bases->n_checked; i++)
    {
      const QmPlanOptions *checked = &bases->checked[i];

      if (is_same_way (checked, options)
          && checked->deterministic == options->deterministic
          && checked->sharding == options->sharding
          && checked->offload == options->offload
          && checked->ranks == options->ranks && checked->rank == options->rank)
        return true;
    }
  if (bases->n_checked < MOST_WAYS)
    bases->checked[bases->n_checked++] = *options;
  return false;
}

QmStatus
qm_plan_bases_check (QmPlanBases *bases, const QmPlan *plan, QmError *error)
{
  return bases != NULL && is_checked (bases, &plan->options)
             ? qm_graph_status (plan->graph, error)
             : qm_graph_check (plan->graph, error);
}
