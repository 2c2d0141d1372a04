/* SPDX-License-Identifier: Apache-2.0 */

/* Gated feed-forward layers.  A product makes gate and up side by side; its end
 * can make what is gated as well, and that of the product on the way back their
 * gradients: so what is gated moves once less each way, and its gradient is
 * never in memory.  After activation checkpointing, which makes gate and up
 * once more, nothing reads those of the forward pass but the gate, and they are
 * not written at all. */

#include "engine/passes.h"

/* The value whose left half is `left`, and whose right half `right`; or
 * QM_NO_VALUE. */
static QmValueId
whole_of (const QmGraph *graph, QmValueId left, QmValueId right)
{
  const QmValue *a = &graph->values[left], *b = &graph->values[right];
  const QmTensor *whole = &graph->values[a->owner].tensor;
  int64_t columns = a->tensor.rank == 2 ? a->tensor.shape[1] : 0;

  if (b->owner != a->owner || whole->rank != 2 || columns < 1
      || !qm_tensor_same_shape (&a->tensor, &b->tensor)
      || whole->shape[0] != a->tensor.shape[0] || whole->shape[1] != 2 * columns
      || !qm_tensor_is_dense (whole) || a->offset != 0 || b->offset != columns
      || a->tensor.type != whole->type || b->tensor.type != whole->type
      || a->tensor.stride[0] != 2 * columns
      || b->tensor.stride[0] != 2 * columns)
    return QM_NO_VALUE;
  return a->owner;
}

/* y = activation(gate) x up, where both are made. */
static void
fuse_gate_of_product (const QmUses *uses, QmGraph *graph, QmNode *gate)
{
  QmValueId pre, y = gate->outputs[0];
  QmNode *linear;

  if (gate->op != QM_OP_GATE)
    return;
  pre = whole_of (graph, gate->inputs[0], gate->inputs[1]);
  linear = qm_uses_maker (uses, graph, pre, QM_OP_LINEAR, false);
  if (linear == NULL || linear->phase != gate->phase
      || linear->outputs[0] != pre || linear->outputs[1] != QM_NO_VALUE
      || linear->attributes.activation != QM_FUNCTION_NONE
      || linear->attributes.padded != 0
      || graph->values[y].role != QM_ROLE_TEMPORARY
      || uses->writers[qm_graph_owner (graph, y)] != 1
      || graph->values[y].tensor.type != graph->values[pre].tensor.type)
    return;
  linear->op = QM_OP_GATED_LINEAR;
  linear->attributes.activation = gate->attributes.activation;
  linear->outputs[0] = y;
  linear->outputs[1] = uses->readers[pre] > 2 ? pre : QM_NO_VALUE;
  qm_node_remove (gate);
}

/* dgate and dup, where the gradient of what was gated is read: what they are
 * made of may be made once more before. */
static void
fuse_gradient_of_gate (const QmUses *uses, QmGraph *graph, QmNode *node)
{
  QmValueId pre, dpre;
  QmNode *product, fused;

  if (node->op != QM_OP_GATE_BACKWARD)
    return;
  pre = whole_of (graph, node->inputs[1], node->inputs[2]);
  dpre = whole_of (graph, node->outputs[0], node->outputs[1]);
  product = qm_uses_maker (uses, graph, node->inputs[0],
                           QM_OP_LINEAR_INPUT_GRAD, true);
  if (pre == QM_NO_VALUE || dpre == QM_NO_VALUE || product == NULL
      || product->phase != node->phase || product->attributes.padded != 0
      || product->inputs[2] != QM_NO_VALUE || product->inputs[3] != QM_NO_VALUE
      || !qm_graph_same_view (graph, product->outputs[0], node->inputs[0])
      || graph->values[dpre].tensor.type
             != graph->values[node->inputs[0]].tensor.type
      || qm_used_between (graph, product, node, product->inputs[0], false)
      || qm_used_between (graph, product, node, product->inputs[1], false))
    return;
  fused = *product;
  fused.op = QM_OP_GATED_INPUT_GRAD;
  fused.attributes.activation = node->attributes.activation;
  fused.inputs[2] = pre;
  fused.outputs[0] = dpre;
  qm_node_remove (product);
  *node = fused;
}

QmStatus
qm_pass_gates (QmGraph *graph, QmError *error)
{
  QmStatus status = qm_uses_each (graph, fuse_gate_of_product, error);

  return status == QM_OK ? qm_uses_each (graph, fuse_gradient_of_gate, error)
                         : status;
}
