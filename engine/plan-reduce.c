/* SPDX-License-Identifier: Apache-2.0 */

/* Sums of gradients over ranks that add them up for themselves from pass to
 * pass: in the last pass of a step, and each unit of them as soon as nothing is
 * added to it any more, while the backward pass goes on. */

#include "engine/plan.h"

#include <stdlib.h>

/* By unit: the last node of the pass that adds to it, or -1. */
static void
find_last (const QmPlan *plan, int64_t *last)
{
  const QmGraph *graph = plan->graph;

  for (size_t u = 0; u < plan->units.n; u++)
    last[u] = -1;
  for (size_t i = 0; i < graph->n_nodes; i++)
    for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
      {
        QmValueId output = graph->nodes[i].outputs[j];
        const QmValue *owner =
            output == QM_NO_VALUE ? NULL
                                  : &graph->values[graph->values[output].owner];

        if (owner != NULL && owner->role == QM_ROLE_GRADIENT)
          last[plan->units.of[owner->owner]] = (int64_t) i;
      }
}

/* All of a unit, of the value that is all gradients. */
static void
append_reduce (QmPlan *plan, QmValueId gradients, size_t index)
{
  const QmUnit *unit = &plan->units.list[index];
  const int64_t n = unit->end - unit->begin, one = 1;
  QmValueId sums =
      qm_graph_view (plan->graph, gradients, 1, &n, &one, unit->begin);
  QmNode *node =
      qm_graph_append (plan->graph, plan->parts > 1 ? QM_OP_REDUCE_SCATTER
                                                    : QM_OP_ALL_REDUCE);

  node->outputs[0] = sums;
  node->attributes.unit = (int64_t) index;
}

static void
rebuild (QmPlan *plan, const int64_t *last)
{
  QmGraph *graph = plan->graph;
  QmNode *nodes = graph->nodes;
  size_t n = graph->n_nodes;
  QmValueId gradients = qm_graph_value (graph, QM_ROLE_GRADIENT, QM_TYPE_F32, 1,
                                        &plan->slab, "%s", "all gradients");

  graph->nodes = NULL;
  graph->n_nodes = graph->nodes_capacity = 0;
  for (size_t i = 0; i < n; i++)
    {
      *qm_graph_append (graph, nodes[i].op) = nodes[i];
      graph->phase = QM_PHASE_LAST;
      for (size_t u = 0; u < plan->units.n; u++)
        if (last[u] == (int64_t) i)
          append_reduce (plan, gradients, u);
      graph->phase = QM_PHASE_BACKWARD;
    }
  graph->phase = QM_PHASE_LAST;
  qm_graph_append (graph, QM_OP_EXCHANGED);
  graph->phase = QM_PHASE_BACKWARD;
  free (nodes);
}

/* Units that nothing adds to are zero everywhere, and stay so. */
QmStatus
qm_plan_reduce (QmPlan *plan, QmError *error)
{
  int64_t *last = malloc ((plan->units.n + 1) * sizeof *last);

  if (last == NULL)
    return qm_error_no_memory (error);
  find_last (plan, last);
  rebuild (plan, last);
  free (last);
  return qm_graph_status (plan->graph, error);
}
