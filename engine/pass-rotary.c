/* SPDX-License-Identifier: Apache-2.0 */

/* Rotary positions.  What turns queries and keys reads and writes them once
 * more, right after the product that made them, and its end can turn them while
 * they are in registers. */

#include "engine/passes.h"

/* Of a view [B, S, P, H, D] of a whole dense matrix of B S rows: after how many
 * heads side by side parts are the same again, and how many of a part follow
 * each other; false where columns are in no such order. */
static bool
heads_of (const QmGraph *graph,
          QmValueId view,
          int64_t *chunk,
          int64_t *repeats)
{
  const QmTensor *heads = &graph->values[view].tensor;
  const QmTensor *whole = &graph->values[qm_graph_owner (graph, view)].tensor;
  const int64_t *n = heads->shape, *stride = heads->stride;
  int64_t row = n[2] * n[3] * n[4];
  bool alternate = stride[2] == n[4] && (n[3] == 1 || stride[3] == n[2] * n[4]);
  bool apart = (n[2] == 1 || stride[2] == n[3] * n[4])
               && (n[3] == 1 || stride[3] == n[4]);

  *repeats = alternate ? 1 : n[3];
  *chunk = alternate ? n[2] : n[2] * n[3];
  return heads->rank == 5 && whole->rank == 2 && qm_tensor_is_dense (whole)
         && graph->values[view].offset == 0 && heads->type == whole->type
         && whole->shape[0] == n[0] * n[1] && whole->shape[1] == row
         && (n[1] == 1 || stride[1] == row)
         && (n[0] == 1 || stride[0] == n[1] * row) && (alternate || apart);
}

/* Whether a matrix is the whole of its owner. */
static bool
is_all_of_it (const QmGraph *graph, QmValueId view)
{
  const QmTensor *whole = &graph->values[qm_graph_owner (graph, view)].tensor;

  return graph->values[view].offset == 0
         && qm_tensor_same_strides (&graph->values[view].tensor, whole);
}

/* Whether a node between two others writes what the first reads. */
static bool
is_written_between (const QmGraph *graph, const QmNode *from, const QmNode *to)
{
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (from->inputs[i] != QM_NO_VALUE
        && qm_used_between (graph, from, to, from->inputs[i], false))
      return true;
  return false;
}

/* y = x turned, where x is made, and read by nothing else. */
static void
fuse_rotary (const QmUses *uses, QmGraph *graph, QmNode *rotary)
{
  QmValueId x = rotary->inputs[0], y = rotary->outputs[0];
  int64_t chunk, repeats;
  QmNode *linear, fused;

  if (rotary->op != QM_OP_ROTARY || rotary->attributes.inverse)
    return;
  linear = qm_uses_maker (uses, graph, x, QM_OP_LINEAR, true);
  if (linear == NULL || linear->phase != rotary->phase
      || !is_all_of_it (graph, linear->outputs[0])
      || linear->outputs[1] != QM_NO_VALUE
      || linear->attributes.activation != QM_FUNCTION_NONE
      || linear->attributes.padded != 0
      || graph->values[y].role != QM_ROLE_TEMPORARY
      || uses->writers[qm_graph_owner (graph, y)] != 1
      || graph->values[y].tensor.type != graph->values[x].tensor.type
      || !qm_tensor_same_strides (&graph->values[x].tensor,
                                  &graph->values[y].tensor)
      || !heads_of (graph, x, &chunk, &repeats)
      || !heads_of (graph, y, &chunk, &repeats)
      || is_written_between (graph, linear, rotary))
    return;
  fused = *linear;
  fused.op = QM_OP_ROTARY_LINEAR;
  fused.attributes.rotary = rotary->attributes.rotary;
  fused.attributes.width = graph->values[x].tensor.shape[4];
  fused.attributes.chunk = chunk;
  fused.attributes.count = rotary->attributes.count * repeats;
  fused.inputs[3] = rotary->inputs[1];
  fused.outputs[0] = qm_graph_owner (graph, y);
  qm_node_remove (linear);
  *rotary = fused;
}

QmStatus
qm_pass_rotary (QmGraph *graph, QmError *error)
{
  return qm_uses_each (graph, fuse_rotary, error);
}
