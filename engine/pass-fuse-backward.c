/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/passes.h"

/* The product that makes a weight's gradient also sums its bias': the column
 * sum that follows it. */
static void
fuse_bias (QmGraph *graph)
{
  for (size_t i = 0; i + 1 < graph->n_nodes; i++)
    {
      QmNode *product = &graph->nodes[i], *sum = &graph->nodes[i + 1];

      if (product->op != QM_OP_LINEAR_WEIGHT_GRAD
          || product->outputs[1] != QM_NO_VALUE || sum->op != QM_OP_COLUMN_SUM
          || sum->attributes.scale != 1
          || !qm_graph_same_view (graph, sum->inputs[0], product->inputs[0]))
        continue;
      product->outputs[1] = sum->outputs[0];
      qm_node_remove (sum);
    }
  qm_graph_sweep (graph);
}

/* dpre = (dy w) activation'(pre), in the product. */
static void
fuse_activation (const QmUses *uses, QmGraph *graph, QmNode *node)
{
  QmNode *product;

  if (node->op != QM_OP_ACTIVATION_BACKWARD)
    return;
  product = qm_uses_maker (uses, graph, node->inputs[0],
                           QM_OP_LINEAR_INPUT_GRAD, true);
  if (product == NULL || product->inputs[2] != QM_NO_VALUE
      || product->inputs[3] != QM_NO_VALUE
      || !qm_graph_same_view (graph, product->outputs[0], node->inputs[0]))
    return;
  product->attributes.activation = node->attributes.activation;
  product->inputs[2] = node->inputs[1];
  product->outputs[0] = node->outputs[0];
  qm_node_remove (node);
}

/* Operators that can take one addend of their first output in. */
static const QmOp adders[] = { QM_OP_LINEAR_INPUT_GRAD,
                               QM_OP_LAYER_NORM_BACKWARD,
                               QM_OP_ADAPTIVE_NORM_BACKWARD,
                               QM_OP_DEPTHWISE_CONV_BACKWARD };

#define N_ADDERS (sizeof adders / sizeof adders[0])

/* Where they take it. */
static int
addend_slot (QmOp op)
{
  switch (op)
    {
    case QM_OP_LINEAR_INPUT_GRAD:
      return 3;
    case QM_OP_LAYER_NORM_BACKWARD:
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
      return 5;
    default:
      return 4;
    }
}

/* A node that could take one addend in. */
static QmNode *
adder (const QmUses *uses, QmGraph *graph, const QmNode *add, int side)
{
  QmValueId id = add->inputs[side];
  QmType type = graph->values[add->outputs[0]].tensor.type;
  QmNode *node = NULL;

  for (size_t i = 0; i < N_ADDERS && node == NULL; i++)
    node = qm_uses_maker (uses, graph, id, adders[i], true);
  if (node == NULL || node->inputs[addend_slot (node->op)] != QM_NO_VALUE
      || (node->op == QM_OP_ADAPTIVE_NORM_BACKWARD
          && node->outputs[3] != QM_NO_VALUE)
      || (node->op == QM_OP_LAYER_NORM_BACKWARD
          && (node->outputs[5] != QM_NO_VALUE
              || node->outputs[6] != QM_NO_VALUE))
      || graph->values[id].tensor.type != type
      || graph->values[add->inputs[1 - side]].tensor.type != type
      || !qm_graph_same_view (graph, node->outputs[0], id))
    return NULL;
  return node;
}

static bool
is_half (QmType type)
{
  return type == QM_TYPE_F16 || type == QM_TYPE_BF16;
}

/* Whether a value is a temporary one that one output writes. */
static bool
is_written_once (const QmUses *uses, const QmGraph *graph, QmValueId id)
{
  QmValueId owner = graph->values[id].owner;

  return (size_t) owner < uses->n_values
         && graph->values[owner].role == QM_ROLE_TEMPORARY
         && uses->writers[owner] == 1;
}

/* What is made by the node besides dx is read before the sum: it stays where it
 * is, and the sum is made there, if what is added is there already. */
static void
fuse_early (const QmUses *uses,
            const QmGraph *graph,
            QmNode *node,
            QmNode *add,
            int side)
{
  QmValueId other = graph->values[add->inputs[1 - side]].owner;

  if ((size_t) other >= uses->n_values || uses->writers[other] != 1
      || uses->producer[other] >= node - graph->nodes)
    return;
  node->inputs[addend_slot (node->op)] = add->inputs[1 - side];
  node->outputs[0] = add->outputs[0];
  qm_node_remove (add);
}

/* The later one of the two that are summed takes the other in, where the sum
 * was.
 */
static void
fuse_sum (const QmUses *uses, QmGraph *graph, QmNode *add)
{
  QmNode *best = NULL, fused;
  int side = 0;

  if (add->op != QM_OP_ADD || add->phase != QM_PHASE_BACKWARD)
    return;
  for (int i = 0; i < 2; i++)
    {
      QmNode *node = adder (uses, graph, add, i);

      if (node != NULL && (best == NULL || node > best))
        {
          best = node;
          side = i;
        }
    }
  if (best == NULL)
    return;
  if (best->op == QM_OP_ADAPTIVE_NORM_BACKWARD)
    {
      fuse_early (uses, graph, best, add, side);
      return;
    }
  fused = *best;
  fused.inputs[addend_slot (fused.op)] = add->inputs[1 - side];
  fused.outputs[0] = add->outputs[0];
  qm_node_remove (best);
  *add = fused;
}

/* A sum adds what was only made wider for it as it was before. */
static void
fuse_widening (const QmUses *uses, QmGraph *graph, QmNode *add)
{
  if (add->op != QM_OP_ADD)
    return;
  for (int i = 0; i < 2; i++)
    {
      QmNode *copy =
          qm_uses_maker (uses, graph, add->inputs[i], QM_OP_COPY, true);
      const QmTensor *from, *to;

      if (copy == NULL || copy->phase != add->phase
          || !qm_graph_same_view (graph, copy->outputs[0], add->inputs[i])
          || !is_written_once (uses, graph, copy->inputs[0]))
        continue;
      from = &graph->values[copy->inputs[0]].tensor;
      to = &graph->values[copy->outputs[0]].tensor;
      if (to->type != QM_TYPE_F32 || !is_half (from->type)
          || !qm_tensor_is_dense (from))
        continue;
      add->inputs[i] = copy->inputs[0];
      qm_node_remove (copy);
    }
}

/* A sum that is read in 16 bits as well writes both. */
static void
fuse_rounding (const QmUses *uses, QmGraph *graph, QmNode *copy)
{
  const QmTensor *to;
  QmNode *add;

  if (copy->op != QM_OP_COPY)
    return;
  add = qm_uses_maker (uses, graph, copy->inputs[0], QM_OP_ADD, false);
  if (add == NULL || add->phase != copy->phase || add->outputs[1] != QM_NO_VALUE
      || !qm_graph_same_view (graph, add->outputs[0], copy->inputs[0])
      || !is_written_once (uses, graph, copy->outputs[0]))
    return;
  to = &graph->values[copy->outputs[0]].tensor;
  if (graph->values[add->outputs[0]].tensor.type != QM_TYPE_F32
      || !is_half (to->type) || !qm_tensor_is_dense (to))
    return;
  add->outputs[1] = copy->outputs[0];
  qm_node_remove (copy);
}

/* Which samples a call of QM_OP_PICK_ROWS_BACKWARD puts somewhere, where it is
 * the gradient of one that picks whole samples; QM_NO_VALUE. */
static QmValueId
samples_of (const QmGraph *graph, const QmNode *back)
{
  if (back->attributes.count != 1 || back->attributes.first != 0
      || qm_graph_tensor (graph, back->inputs[1])->shape[0] != 1)
    return QM_NO_VALUE;
  for (size_t i = 0; i < graph->n_nodes; i++)
    if (graph->nodes[i].op == QM_OP_PICK_ROWS
        && graph->nodes[i].inputs[2] == back->inputs[1])
      return graph->nodes[i].inputs[1];
  return QM_NO_VALUE;
}

/* What the gradient of a branch is for the samples that went through it alone
 * is added to them alone. */
static void
fuse_samples (const QmUses *uses, QmGraph *graph, QmNode *add)
{
  if (add->op != QM_OP_ADD || add->outputs[1] != QM_NO_VALUE)
    return;
  for (int i = 0; i < 2; i++)
    {
      const QmTensor *y = qm_graph_tensor (graph, add->outputs[0]);
      QmNode *back = qm_uses_maker (uses, graph, add->inputs[i],
                                    QM_OP_PICK_ROWS_BACKWARD, true);
      QmValueId kept = back != NULL ? samples_of (graph, back) : QM_NO_VALUE;
      QmNode fused;
      int64_t all;

      if (kept == QM_NO_VALUE || y->rank != 2)
        continue;
      all = qm_graph_tensor (graph, back->inputs[1])->shape[1];
      if (y->shape[0] % all != 0
          || y->shape[0] / all * y->shape[1]
                 != qm_graph_tensor (graph, back->inputs[0])->shape[1])
        continue;
      fused = *back;
      fused.op = QM_OP_LAYER_SCALE;
      fused.attributes.count = 0;
      fused.attributes.scale = 1;
      fused.inputs[4] = back->inputs[1];
      fused.inputs[5] = kept;
      fused.inputs[1] = QM_NO_VALUE;
      fused.inputs[2] = add->inputs[1 - i];
      fused.outputs[0] = add->outputs[0];
      fused.inputs[0] = qm_graph_reshape (
          graph, back->inputs[0], 2,
          (int64_t[]){ y->shape[0] / all
                           * qm_graph_tensor (graph, kept)->shape[1],
                       y->shape[1] });
      qm_node_remove (back);
      *add = fused;
      return;
    }
}

QmStatus
qm_pass_fuse_backward (QmGraph *graph, QmError *error)
{
  QmStatus status;

  fuse_bias (graph);
  status = qm_uses_each (graph, fuse_activation, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_samples, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_sum, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_widening, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_rounding, error);
  return status;
}
