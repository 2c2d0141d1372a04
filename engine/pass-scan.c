/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/passes.h"

QmStatus
qm_pass_scan (QmGraph *graph, QmError *error)
{
  for (size_t i = 0; i < graph->n_nodes && graph->status == QM_OK; i++)
    {
      QmNode *node = &graph->nodes[i];
      int64_t width = node->attributes.width, chunk;
      QmTensor states;

      if (node->op != QM_OP_SELECTIVE_SCAN || node->attributes.chunk != 1)
        continue;
      chunk = width < QM_SCAN_CHUNK ? width : QM_SCAN_CHUNK;
      states = *qm_graph_tensor (graph, node->outputs[1]);
      states.shape[1] = (width + chunk - 1) / chunk;
      node->attributes.chunk = chunk;
      node->outputs[1] = qm_graph_value (graph, QM_ROLE_TEMPORARY, states.type,
                                         states.rank, states.shape, "states");
    }
  return qm_graph_status (graph, error);
}
