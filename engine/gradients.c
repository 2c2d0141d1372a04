/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of every operator, in terms of operators. */

#include "engine/differentiate.h"

static QmNode *
append_backward (QmGraph *graph, QmOp op, const QmNode *forward)
{
  QmNode *node = qm_graph_append (graph, op);

  node->attributes = forward->attributes;
  return node;
}

static void
copy_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  qm_gradient_give (g, node->inputs[0], qm_gradient_of (g, node->outputs[0]));
}

static void
add_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);

  qm_gradient_give (g, node->inputs[0], dy);
  qm_gradient_give (g, node->inputs[1], dy);
}

/* dx = op (dy, second input of the gradient, third), of which there may be
 * none. */
static void
one_rule (QmGradients *g,
          QmGraph *graph,
          const QmNode *node,
          QmOp op,
          QmValueId second,
          QmValueId third)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dx = qm_gradient_place (g, node->inputs[0]);
  QmNode *backward;

  if (dx == QM_NO_VALUE)
    return;
  backward = append_backward (graph, op, node);
  backward->inputs[0] = dy;
  backward->inputs[1] = second;
  backward->inputs[2] = third;
  backward->outputs[0] = dx;
}

static void
pointwise (QmGradients *g,
           QmGraph *graph,
           const QmNode *node,
           QmOp op,
           QmValueId second)
{
  one_rule (g, graph, node, op, second, QM_NO_VALUE);
}

static void
activation_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  pointwise (g, graph, node, QM_OP_ACTIVATION_BACKWARD, node->inputs[0]);
}

static void
dropout_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  pointwise (g, graph, node, QM_OP_DROPOUT, node->inputs[1]);
}

static void
softmax_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  pointwise (g, graph, node, QM_OP_SOFTMAX_BACKWARD, node->outputs[0]);
}

static void
rotary_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmNode turned = *node;

  turned.attributes.inverse = !node->attributes.inverse;
  pointwise (g, graph, &turned, QM_OP_ROTARY, node->inputs[1]);
}

/* The gradient of the argument of a linear layer's activation. */
static QmValueId
before_activation (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dpre;
  QmNode *backward;

  if (node->attributes.activation == QM_FUNCTION_NONE || dy == QM_NO_VALUE)
    return dy;
  dpre = qm_graph_like (graph, node->outputs[1], QM_ROLE_TEMPORARY,
                        qm_graph_tensor (graph, node->outputs[1])->type,
                        "gradient before the activation");
  backward = qm_graph_append (graph, QM_OP_ACTIVATION_BACKWARD);
  backward->attributes.activation = node->attributes.activation;
  backward->inputs[0] = dy;
  backward->inputs[1] = node->outputs[1];
  backward->outputs[0] = dpre;
  return dpre;
}

/* Weights that are made of something, as those that are normed are, have their
 * gradient summed in fp32 for itself. */
static QmValueId
begin_weights (QmGradients *g, QmGraph *graph, QmValueId weights)
{
  QmValueId sum;

  if (graph->status != QM_OK
      || graph->values[graph->values[weights].owner].role == QM_ROLE_PARAMETER)
    return qm_gradient_of_parameter (g, weights);
  sum = qm_graph_like (graph, weights, QM_ROLE_TEMPORARY, QM_TYPE_F32,
                       "gradient of weights");
  qm_graph_append (graph, QM_OP_FILL)->outputs[0] = sum;
  return sum;
}

static void
end_weights (QmGradients *g, QmGraph *graph, QmValueId weights, QmValueId sum)
{
  if (graph->status == QM_OK
      && graph->values[graph->values[weights].owner].role != QM_ROLE_PARAMETER)
    qm_gradient_give (g, weights, sum);
}

/* Adds the sum of rows to the gradient of a vector. */
static void
add_columns (QmGraph *graph, QmValueId rows, QmValueId sum)
{
  QmNode *node = qm_graph_append (graph, QM_OP_COLUMN_SUM);

  node->attributes.scale = 1;
  node->inputs[0] = rows;
  node->outputs[0] = sum;
}

static void
linear_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = before_activation (g, graph, node);
  QmValueId dx = qm_gradient_place (g, node->inputs[0]);
  QmNode *backward;

  if (dx != QM_NO_VALUE)
    {
      backward = qm_graph_append (graph, QM_OP_LINEAR_INPUT_GRAD);
      backward->attributes.padded = node->attributes.padded;
      backward->inputs[0] = dy;
      backward->inputs[1] = node->inputs[1];
      backward->outputs[0] = dx;
    }
  /* What other passes have left there has its gradient in those. */
  if (graph->status == QM_OK
      && graph->values[graph->values[node->inputs[1]].owner].role
             == QM_ROLE_STATE)
    return;
  dx = begin_weights (g, graph, node->inputs[1]);
  backward = qm_graph_append (graph, QM_OP_LINEAR_WEIGHT_GRAD);
  backward->attributes.padded = node->attributes.padded;
  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[0];
  backward->outputs[0] = dx;
  end_weights (g, graph, node->inputs[1], dx);
  if (node->inputs[2] == QM_NO_VALUE)
    return;
  add_columns (graph, dy, qm_gradient_of_parameter (g, node->inputs[2]));
}

static void
gate_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dgate = qm_gradient_place_or_scratch (g, node->inputs[0]);
  QmValueId dup = qm_gradient_place_or_scratch (g, node->inputs[1]);
  QmNode *backward = append_backward (graph, QM_OP_GATE_BACKWARD, node);

  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[0];
  backward->inputs[2] = node->inputs[1];
  backward->outputs[0] = dgate;
  backward->outputs[1] = dup;
}

static void
repeat_heads_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  pointwise (g, graph, node, QM_OP_REPEAT_HEADS_BACKWARD, QM_NO_VALUE);
}

static void
append_matmul (QmGraph *graph,
               const QmNode *forward,
               QmCausal causal,
               QmValueId a,
               QmValueId b,
               QmValueId c)
{
  QmNode *node = append_backward (graph, QM_OP_MATMUL, forward);

  node->attributes.causal = causal;
  node->inputs[0] = a;
  node->inputs[1] = b;
  node->outputs[0] = c;
}

/* da = dc b', db = a' dc.  Of causal scores, dc is a lower triangle, and the
 * second is made transposed, db' = dc' a, so that the triangle stays on the
 * left; of their product with the values, only the lower triangle of da
 * matters. */
static void
matmul_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmCausal causal = node->attributes.causal;
  QmValueId a = node->inputs[0], b = node->inputs[1];
  QmValueId dc = qm_gradient_of (g, node->outputs[0]);
  QmValueId da = qm_gradient_place (g, a), db;
  QmValueId other = qm_graph_turned (graph, b);

  if (causal != QM_CAUSAL_NONE && causal != QM_CAUSAL_RESULT
      && causal != QM_CAUSAL_LOWER)
    qm_graph_fail (graph, QM_STATUS_UNSUPPORTED,
                   "matmul of an upper triangle has no gradient");
  if (da != QM_NO_VALUE)
    append_matmul (graph, node,
                   causal == QM_CAUSAL_RESULT  ? QM_CAUSAL_LOWER
                   : causal == QM_CAUSAL_LOWER ? QM_CAUSAL_RESULT
                                               : QM_CAUSAL_NONE,
                   dc, other, da);
  db = qm_gradient_place (g, b);
  if (db == QM_NO_VALUE)
    return;
  if (causal == QM_CAUSAL_RESULT)
    {
      db = qm_graph_turned (graph, db);
      other = qm_graph_turned (graph, dc);
      append_matmul (graph, node, QM_CAUSAL_UPPER, other, a, db);
    }
  else
    {
      other = qm_graph_turned (graph, a);
      append_matmul (graph, node,
                     causal == QM_CAUSAL_LOWER ? QM_CAUSAL_UPPER
                                               : QM_CAUSAL_NONE,
                     other, dc, db);
    }
}

static void
attention_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dout = qm_gradient_of (g, node->outputs[0]);
  QmValueId places[3];
  QmNode *backward;

  for (int i = 0; i < 3; i++)
    places[i] = qm_gradient_place_or_scratch (g, node->inputs[i]);
  backward = append_backward (graph, QM_OP_ATTENTION_BACKWARD, node);
  backward->inputs[0] = dout;
  for (int i = 0; i < 3; i++)
    {
      backward->inputs[1 + i] = node->inputs[i];
      backward->outputs[i] = places[i];
    }
  backward->inputs[4] = node->outputs[0];
  backward->inputs[5] = node->outputs[1];
  backward->inputs[6] = node->inputs[3];
}

/* Gradients of the branches that a norm added: dx itself, or, where it went
 * through dropout or a gain or has another type, what the node writes as
 * well. */
static void
place_branches (QmGradients *g,
                QmGraph *graph,
                const QmNode *node,
                QmValueId places[2])
{
  bool drop = qm_dropout_is_on (node->attributes.dropout);
  QmType type;

  places[0] = places[1] = QM_NO_VALUE;
  if (node->inputs[3] == QM_NO_VALUE || graph->status != QM_OK)
    return;
  if (node->inputs[8] != QM_NO_VALUE)
    {
      places[0] = qm_gradient_place_or_scratch (g, node->inputs[3]);
      return;
    }
  type = qm_graph_tensor (graph, node->inputs[0])->type;
  for (int i = 0; i < 2; i++)
    if (node->inputs[3 + i] != QM_NO_VALUE
        && (drop || qm_graph_tensor (graph, node->inputs[3 + i])->type != type)
        && (drop || i == 0 || places[0] == QM_NO_VALUE))
      places[i] = qm_gradient_place (g, node->inputs[3 + i]);
}

static void
give_branches (QmGradients *g,
               QmGraph *graph,
               const QmNode *node,
               QmValueId dx,
               const QmValueId places[2])
{
  for (int i = 0; i < 2; i++)
    {
      QmValueId branch = node->inputs[3 + i];

      if (branch == QM_NO_VALUE || places[i] != QM_NO_VALUE
          || graph->status != QM_OK)
        continue;
      if (i == 1 && places[0] != QM_NO_VALUE
          && qm_graph_tensor (graph, places[0])->type
                 == qm_graph_tensor (graph, branch)->type)
        qm_gradient_give (g, branch, places[0]);
      else
        qm_gradient_give (g, branch, dx);
    }
}

/* Where the gradient of weights is added: that of a parameter, or, of weights
 * that are made of something, one that begins with zero. */
static QmValueId
gradient_of_weights (QmGradients *g, QmGraph *graph, QmValueId weights)
{
  QmValueId place;
  QmNode *node;

  if (weights == QM_NO_VALUE || graph->status != QM_OK
      || graph->values[graph->values[weights].owner].role == QM_ROLE_PARAMETER)
    return qm_gradient_of_parameter (g, weights);
  place = qm_gradient_place_or_scratch (g, weights);
  node = qm_graph_append (graph, QM_OP_FILL);
  node->outputs[0] = place;
  return place;
}

static void
layer_norm_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dsum = qm_gradient_of (g, node->outputs[3]);
  QmValueId dy2 = qm_gradient_of (g, node->outputs[4]);
  QmValueId x =
      node->outputs[3] != QM_NO_VALUE ? node->outputs[3] : node->inputs[0];
  QmValueId dx = qm_gradient_place_or_scratch (g, node->inputs[0]);
  QmValueId weights[5], branches[2];
  static const int slots[5] = { 1, 2, 5, 6, 8 };
  QmNode *backward;

  place_branches (g, graph, node, branches);
  for (int i = 0; i < 5; i++)
    weights[i] = gradient_of_weights (g, graph, node->inputs[slots[i]]);
  backward = append_backward (graph, QM_OP_LAYER_NORM_BACKWARD, node);
  backward->inputs[0] = dy;
  backward->inputs[1] = x;
  backward->inputs[2] = node->inputs[1];
  backward->inputs[3] = node->outputs[1];
  backward->inputs[4] = node->outputs[2];
  backward->inputs[5] = dsum;
  backward->inputs[6] = dy2;
  backward->inputs[7] = node->inputs[5];
  backward->inputs[8] = node->inputs[7];
  if (node->inputs[8] != QM_NO_VALUE)
    {
      backward->inputs[9] = node->inputs[3];
      backward->inputs[10] = node->inputs[8];
    }
  backward->outputs[0] = dx;
  for (int i = 0; i < 4; i++)
    backward->outputs[1 + i] = weights[i];
  backward->outputs[5] = branches[0];
  backward->outputs[6] = branches[1];
  backward->outputs[7] = weights[4];
  give_branches (g, graph, node, dx, branches);
}

static void
gated_norm_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dgate = qm_gradient_place_or_scratch (g, node->inputs[0]);
  QmValueId dx = qm_gradient_place_or_scratch (g, node->inputs[1]);
  QmValueId dgamma = gradient_of_weights (g, graph, node->inputs[2]);
  QmNode *backward = append_backward (graph, QM_OP_GATED_NORM_BACKWARD, node);

  backward->inputs[0] = dy;
  for (int i = 0; i < 3; i++)
    backward->inputs[1 + i] = node->inputs[i];
  backward->inputs[4] = node->outputs[1];
  backward->outputs[0] = dgate;
  backward->outputs[1] = dx;
  backward->outputs[2] = dgamma;
}

static void
embedding_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dw = qm_gradient_of_parameter (g, node->inputs[1]);
  QmNode *backward = append_backward (graph, QM_OP_EMBEDDING_BACKWARD, node);

  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[0];
  backward->outputs[0] = dw;
}

/* The same on the gradient. */
static void
token_dropout_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  pointwise (g, graph, node, QM_OP_TOKEN_DROPOUT, node->inputs[1]);
}

static void
class_token_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dx = qm_gradient_place_or_scratch (g, node->inputs[0]);
  QmValueId sums[4] = { QM_NO_VALUE, QM_NO_VALUE, QM_NO_VALUE, QM_NO_VALUE };
  QmNode *backward;

  /* Of the token, positions and registers; positions may be constants, or made
   * of others. */
  for (int i = 1; i < 4 && graph->status == QM_OK; i++)
    if (node->inputs[i] != QM_NO_VALUE
        && graph->values[graph->values[node->inputs[i]].owner].role
               == QM_ROLE_PARAMETER)
      sums[i] = qm_gradient_of_parameter (g, node->inputs[i]);
    else
      {
        sums[i] = qm_gradient_place (g, node->inputs[i]);
        if (sums[i] != QM_NO_VALUE)
          qm_graph_append (graph, QM_OP_FILL)->outputs[0] = sums[i];
      }
  backward = append_backward (graph, QM_OP_CLASS_TOKEN_BACKWARD, node);
  backward->inputs[0] = dy;
  backward->outputs[0] = dx;
  for (int i = 1; i < 4; i++)
    backward->outputs[i] = sums[i];
}

static void
restore_tokens_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dx = qm_gradient_place_or_scratch (g, node->inputs[0]);
  QmValueId dtoken = qm_gradient_of_parameter (g, node->inputs[1]);
  QmNode *backward =
      append_backward (graph, QM_OP_RESTORE_TOKENS_BACKWARD, node);

  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[2];
  backward->outputs[0] = dx;
  backward->outputs[1] = dtoken;
}

/* What came in the place of rows has the sum of their gradients. */
static void
hide_rows_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]), picked, dtoken;
  QmValueId dx = qm_gradient_place (g, node->inputs[0]);
  const int64_t *shape;
  QmNode *backward;

  if (dx != QM_NO_VALUE)
    {
      backward = append_backward (graph, QM_OP_HIDE_ROWS, node);
      backward->inputs[0] = dy;
      backward->inputs[1] = node->inputs[1];
      backward->outputs[0] = dx;
    }
  if (node->inputs[2] == QM_NO_VALUE || graph->status != QM_OK)
    return;
  dtoken = qm_gradient_of_parameter (g, node->inputs[2]);
  shape = qm_graph_tensor (graph, node->inputs[3])->shape;
  picked = qm_graph_value (
      graph, QM_ROLE_TEMPORARY, qm_graph_tensor (graph, dy)->type, 2,
      (int64_t[]){ shape[0] * shape[1], qm_graph_tensor (graph, dy)->shape[1] },
      "gradient of hidden rows");
  backward = append_backward (graph, QM_OP_PICK_ROWS, node);
  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[3];
  backward->outputs[0] = picked;
  add_columns (graph, picked, dtoken);
}

static void
pick_rows_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  pointwise (g, graph, node, QM_OP_PICK_ROWS_BACKWARD, node->inputs[2]);
}

static void
patchify_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  pointwise (g, graph, node, QM_OP_UNPATCHIFY, QM_NO_VALUE);
}

static void
depthwise_conv_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dx = qm_gradient_place_or_scratch (g, node->inputs[0]);
  QmValueId dw = qm_gradient_of_parameter (g, node->inputs[1]);
  QmValueId dbias = qm_gradient_of_parameter (g, node->inputs[2]);
  QmNode *backward =
      append_backward (graph, QM_OP_DEPTHWISE_CONV_BACKWARD, node);

  backward->inputs[0] = dy;
  for (int i = 0; i < 3; i++)
    backward->inputs[1 + i] = node->inputs[i];
  backward->outputs[0] = dx;
  backward->outputs[1] = dw;
  backward->outputs[2] = dbias;
}

static void
layer_scale_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]), dx, dgamma;
  QmNode *backward;

  qm_gradient_give (g, node->inputs[2], dy);
  dx = qm_gradient_place_or_scratch (g, node->inputs[0]);
  dgamma = gradient_of_weights (g, graph, node->inputs[1]);
  backward = append_backward (graph, QM_OP_LAYER_SCALE_BACKWARD, node);
  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[0];
  backward->inputs[2] = node->inputs[1];
  for (int i = 3; i < 6; i++)
    backward->inputs[i] = node->inputs[i];
  backward->outputs[0] = dx;
  backward->outputs[1] = dgamma;
}

static void
pool_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dx = qm_gradient_place_or_scratch (g, node->inputs[0]);
  QmNode *backward = append_backward (graph, QM_OP_POOL_BACKWARD, node);

  backward->inputs[0] = dy;
  backward->outputs[0] = dx;
}

/* Slots of the inputs, and of their gradients: u, dt, a, b, c, skip, bias, z.
 */
static void
selective_scan_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  static const bool is_weight[8] = { [2] = true, [5] = true, [6] = true };
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId places[8];
  QmNode *backward;

  for (int i = 0; i < 8; i++)
    places[i] = is_weight[i] ? qm_gradient_of_parameter (g, node->inputs[i])
                : node->inputs[i] == QM_NO_VALUE
                    ? QM_NO_VALUE
                    : qm_gradient_place_or_scratch (g, node->inputs[i]);
  backward = append_backward (graph, QM_OP_SELECTIVE_SCAN_BACKWARD, node);
  backward->inputs[0] = dy;
  for (int i = 0; i < 8; i++)
    {
      backward->inputs[1 + i] = node->inputs[i];
      backward->outputs[i] = places[i];
    }
  backward->inputs[9] = node->outputs[1];
}

/* The same without z, and nothing that was kept. */
static void
dual_scan_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  static const bool is_weight[7] = { [2] = true, [5] = true, [6] = true };
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId places[7];
  QmNode *backward;

  for (int i = 0; i < 7; i++)
    places[i] = is_weight[i]
                    ? qm_gradient_of_parameter (g, node->inputs[i])
                    : qm_gradient_place_or_scratch (g, node->inputs[i]);
  backward = append_backward (graph, QM_OP_DUAL_SCAN_BACKWARD, node);
  backward->inputs[0] = dy;
  for (int i = 0; i < 7; i++)
    {
      backward->inputs[1 + i] = node->inputs[i];
      backward->outputs[i] = places[i];
    }
}

static void
route_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  one_rule (g, graph, node, QM_OP_ROUTE_BACKWARD, node->inputs[0],
            node->outputs[1]);
}

/* Each is the other's gradient. */
static void
rows_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  one_rule (g, graph, node,
            node->op == QM_OP_GATHER_ROWS ? QM_OP_COMBINE_ROWS
                                          : QM_OP_GATHER_ROWS,
            node->inputs[1], node->inputs[2]);
}

static void
weighted_gate_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId places[3];
  QmNode *backward;

  for (int i = 0; i < 3; i++)
    places[i] = qm_gradient_place_or_scratch (g, node->inputs[i]);
  backward = append_backward (graph, QM_OP_WEIGHTED_GATE_BACKWARD, node);
  backward->inputs[0] = dy;
  for (int i = 0; i < 4; i++)
    backward->inputs[1 + i] = node->inputs[i];
  for (int i = 0; i < 3; i++)
    backward->outputs[i] = places[i];
}

static void
grouped_linear_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId dx = qm_gradient_place (g, node->inputs[0]);
  QmNode *backward;

  if (dx != QM_NO_VALUE)
    {
      backward = append_backward (graph, QM_OP_GROUPED_INPUT_GRAD, node);
      backward->inputs[0] = dy;
      backward->inputs[1] = node->inputs[1];
      backward->inputs[2] = node->inputs[2];
      backward->outputs[0] = dx;
    }
  dx = qm_gradient_of_parameter (g, node->inputs[1]);
  backward = append_backward (graph, QM_OP_GROUPED_WEIGHT_GRAD, node);
  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[0];
  backward->inputs[2] = node->inputs[2];
  backward->outputs[0] = dx;
}

static void
expert_load_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dload = qm_gradient_of (g, node->outputs[0]);
  QmValueId dlogits = qm_gradient_place (g, node->inputs[0]);
  QmNode *backward;

  if (dlogits == QM_NO_VALUE)
    return;
  backward = append_backward (graph, QM_OP_EXPERT_LOAD_BACKWARD, node);
  backward->inputs[0] = dload;
  backward->inputs[1] = node->inputs[0];
  backward->outputs[0] = dlogits;
}

/* The operator has made the gradient already. */
static void
loss_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  qm_gradient_give (g, node->inputs[0], node->outputs[0]);
}

QmGradientRule
qm_gradient_rule (QmOp op)
{
  switch (op)
    {
    case QM_OP_COPY:
      return copy_rule;
    case QM_OP_ADD:
      return add_rule;
    case QM_OP_ACTIVATION:
      return activation_rule;
    case QM_OP_GATE:
      return gate_rule;
    case QM_OP_REPEAT_HEADS:
      return repeat_heads_rule;
    case QM_OP_DROPOUT:
      return dropout_rule;
    case QM_OP_LINEAR:
      return linear_rule;
    case QM_OP_MATMUL:
      return matmul_rule;
    case QM_OP_SOFTMAX:
      return softmax_rule;
    case QM_OP_ATTENTION:
      return attention_rule;
    case QM_OP_GATED_NORM:
      return gated_norm_rule;
    case QM_OP_LAYER_NORM:
      return layer_norm_rule;
    case QM_OP_ROTARY:
      return rotary_rule;
    case QM_OP_EMBEDDING:
      return embedding_rule;
    case QM_OP_TOKEN_DROPOUT:
      return token_dropout_rule;
    case QM_OP_CLASS_TOKEN:
      return class_token_rule;
    case QM_OP_RESTORE_TOKENS:
      return restore_tokens_rule;
    case QM_OP_PATCHIFY:
      return patchify_rule;
    case QM_OP_DEPTHWISE_CONV:
      return depthwise_conv_rule;
    case QM_OP_LAYER_SCALE:
      return layer_scale_rule;
    case QM_OP_POOL:
      return pool_rule;
    case QM_OP_SELECTIVE_SCAN:
      return selective_scan_rule;
    case QM_OP_DUAL_SCAN:
      return dual_scan_rule;
    case QM_OP_CROSS_ENTROPY:
    case QM_OP_BALANCE:
    case QM_OP_PIXEL_LOSS:
    case QM_OP_NOISE_LOSS:
    case QM_OP_TEACHER_LOSS:
    case QM_OP_SPREAD_LOSS:
      return loss_rule;
    case QM_OP_HIDE_ROWS:
      return hide_rows_rule;
    case QM_OP_PICK_ROWS:
      return pick_rows_rule;
    case QM_OP_ROUTE:
      return route_rule;
    case QM_OP_GATHER_ROWS:
    case QM_OP_COMBINE_ROWS:
      return rows_rule;
    case QM_OP_WEIGHTED_GATE:
      return weighted_gate_rule;
    case QM_OP_GROUPED_LINEAR:
      return grouped_linear_rule;
    case QM_OP_EXPERT_LOAD:
      return expert_load_rule;
    default:
      return qm_gradient_rule_of_samples (op);
    }
}
