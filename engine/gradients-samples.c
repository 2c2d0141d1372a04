/* SPDX-License-Identifier: Apache-2.0 */

/* The gradients of operators that tell samples apart. */

#include "engine/differentiate.h"

/* Of positions that are learned, the sum over samples; as one row each, they
 * are columns. */
static void
add_positions_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]);
  QmValueId position = node->inputs[1], sum;
  const QmTensor *shape;
  int64_t each, samples;
  QmNode *backward;

  qm_gradient_give (g, node->inputs[0], dy);
  if (graph->status != QM_OK
      || graph->values[graph->values[position].owner].role != QM_ROLE_PARAMETER)
    return;
  shape = qm_graph_tensor (graph, position);
  each = qm_tensor_elements (shape);
  samples = qm_tensor_elements (qm_graph_tensor (graph, dy)) / each;
  sum = qm_gradient_of_parameter (g, position);
  sum = qm_graph_reshape (graph, sum, 1, &each);
  dy = qm_graph_reshape (graph, dy, 2, (int64_t[]){ samples, each });
  backward = qm_graph_append (graph, QM_OP_COLUMN_SUM);
  backward->attributes.scale = 1;
  backward->inputs[0] = dy;
  backward->outputs[0] = sum;
}

static void
adaptive_norm_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]), places[5];
  QmValueId dsum = qm_gradient_of (g, node->outputs[3]);
  bool gated = node->inputs[3] != QM_NO_VALUE;
  int n = gated ? 5 : 3;
  QmNode *backward;

  for (int i = 0; i < n; i++)
    places[i] = qm_gradient_place_or_scratch (g, node->inputs[i]);
  backward = qm_graph_append (graph, QM_OP_ADAPTIVE_NORM_BACKWARD);
  backward->inputs[0] = dy;
  backward->inputs[1] = gated ? node->outputs[3] : node->inputs[0];
  backward->inputs[2] = node->inputs[2];
  backward->inputs[3] = node->outputs[1];
  backward->inputs[4] = node->outputs[2];
  backward->inputs[5] = dsum;
  backward->inputs[6] = node->inputs[3];
  backward->inputs[7] = node->inputs[4];
  for (int i = 0; i < n; i++)
    backward->outputs[i] = places[i];
}

static void
gated_add_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  QmValueId dy = qm_gradient_of (g, node->outputs[0]), dx, dgate;
  QmNode *backward;

  qm_gradient_give (g, node->inputs[2], dy);
  dx = qm_gradient_place_or_scratch (g, node->inputs[0]);
  dgate = qm_gradient_place_or_scratch (g, node->inputs[1]);
  backward = qm_graph_append (graph, QM_OP_GATED_ADD_BACKWARD);
  backward->inputs[0] = dy;
  backward->inputs[1] = node->inputs[0];
  backward->inputs[2] = node->inputs[1];
  backward->outputs[0] = dx;
  backward->outputs[1] = dgate;
}

/* The operator has made the gradient of its cosines, and that of temperature
 * and bias row by row. */
static void
contrast_rule (QmGradients *g, QmGraph *graph, const QmNode *node)
{
  qm_gradient_give (g, node->inputs[0], node->outputs[0]);
  for (int i = 0; i < 2; i++)
    {
      QmValueId sums = qm_gradient_of_parameter (g, node->inputs[1 + i]);
      QmValueId rows = node->outputs[2 + i];
      QmNode *sum;

      if (sums == QM_NO_VALUE || graph->status != QM_OK)
        continue;
      rows = qm_graph_reshape (
          graph, rows, 2,
          (int64_t[]){ qm_graph_tensor (graph, rows)->shape[0], 1 });
      sum = qm_graph_append (graph, QM_OP_COLUMN_SUM);
      sum->attributes.scale = 1;
      sum->inputs[0] = rows;
      sum->outputs[0] = sums;
    }
}

QmGradientRule
qm_gradient_rule_of_samples (QmOp op)
{
  switch (op)
    {
    case QM_OP_ADD_POSITIONS:
      return add_positions_rule;
    case QM_OP_ADAPTIVE_NORM:
      return adaptive_norm_rule;
    case QM_OP_GATED_ADD:
      return gated_add_rule;
    case QM_OP_CONTRAST_LOSS:
      return contrast_rule;
    default:
      return NULL;
    }
}
