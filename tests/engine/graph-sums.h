/* SPDX-License-Identifier: Apache-2.0 */

/* What the nodes of a graph come to. */

#ifndef QM_TESTS_ENGINE_GRAPH_SUMS_H
#define QM_TESTS_ENGINE_GRAPH_SUMS_H

#include "engine/graph.h"

/* How many nodes there are before those of the update. */
static inline size_t
graph_pass_nodes (const QmGraph *graph)
{
  size_t n = graph->n_nodes;

  while (n > 0 && graph->nodes[n - 1].phase == QM_PHASE_UPDATE)
    n--;
  return n;
}

/* The sum of qm_op_flops() over the nodes of a phase. */
static inline double
graph_flops (const QmGraph *graph, QmPhase phase)
{
  double flops = 0;

  for (size_t i = 0; i < graph->n_nodes; i++)
    if (graph->nodes[i].phase == phase)
      {
        QmOpCall call;

        qm_graph_call (graph, &graph->nodes[i], &call);
        flops += qm_op_flops (&call);
      }
  return flops;
}

#endif
