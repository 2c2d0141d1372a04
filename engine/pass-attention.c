/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/passes.h"

/* The nodes of one attention, in the order of execution. */
typedef struct Pattern
{
  QmNode *scores, *softmax, *dropout, *product;
  QmNode *keys, *values; /* that are repeated, both or none */
} Pattern;

/* Keys or values as they were before each was repeated for the heads of queries
 * that share it; NULL: they were not. */
static QmNode *
repetition (const QmUses *uses, QmGraph *graph, QmValueId heads)
{
  return qm_uses_maker (uses, graph, heads, QM_OP_REPEAT_HEADS, true);
}

static bool
match (const QmUses *uses, QmGraph *graph, QmNode *last, Pattern *pattern)
{
  QmValueId weights;

  if (last->op != QM_OP_MATMUL || last->attributes.scale != 1)
    return false;
  pattern->product = last;
  weights = last->inputs[0];
  pattern->dropout = qm_uses_maker (uses, graph, weights, QM_OP_DROPOUT, true);
  if (pattern->dropout != NULL)
    {
      if (!pattern->dropout->attributes.tiled)
        return false;
      weights = pattern->dropout->inputs[0];
    }
  pattern->softmax = qm_uses_maker (uses, graph, weights, QM_OP_SOFTMAX, true);
  if (pattern->softmax == NULL)
    return false;
  pattern->scores = qm_uses_maker (uses, graph, pattern->softmax->inputs[0],
                                   QM_OP_MATMUL, true);
  /* Of larger heads, products and a softmax. */
  if (qm_graph_tensor (graph, last->outputs[0])->shape[3] > QM_ATTENTION_HEAD)
    return false;
  /* Queries that are fewer than keys have no operator of their own. */
  if (pattern->scores == NULL
      || qm_graph_tensor (graph, weights)->shape[2]
             != qm_graph_tensor (graph, weights)->shape[3])
    return false;
  pattern->keys = repetition (uses, graph, pattern->scores->inputs[1]);
  pattern->values = repetition (uses, graph, last->inputs[1]);
  return (pattern->keys == NULL) == (pattern->values == NULL);
}

/* The last node becomes the operator, the others are removed. */
static void
rewrite (QmGraph *graph, const Pattern *pattern)
{
  QmNode node = *pattern->product;
  QmValueId q = pattern->scores->inputs[0];
  /* A copy: new values may move all others. */
  const QmTensor query = *qm_graph_tensor (graph, q);

  node.op = QM_OP_ATTENTION;
  node.attributes = (QmAttributes){
    .scale = pattern->scores->attributes.scale,
    .causal = pattern->softmax->attributes.causal,
    .window = pattern->softmax->attributes.window,
  };
  node.inputs[0] = q;
  if (pattern->keys != NULL)
    {
      node.inputs[1] = pattern->keys->inputs[0];
      node.inputs[2] = pattern->values->inputs[0];
      qm_node_remove (pattern->keys);
      qm_node_remove (pattern->values);
    }
  else
    {
      node.inputs[1] = qm_graph_turned (graph, pattern->scores->inputs[1]);
      node.inputs[2] = pattern->product->inputs[1];
    }
  if (pattern->dropout != NULL)
    {
      node.attributes.dropout = pattern->dropout->attributes.dropout;
      node.attributes.site = pattern->dropout->attributes.site;
      node.inputs[3] = pattern->dropout->inputs[1];
      qm_node_remove (pattern->dropout);
    }
  node.outputs[1] =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 3, query.shape,
                      "log of the sum of attention weights");
  qm_node_remove (pattern->scores);
  qm_node_remove (pattern->softmax);
  *pattern->product = node;
}

QmStatus
qm_pass_attention (QmGraph *graph, QmError *error)
{
  QmUses uses;
  QmStatus status = qm_uses_find (graph, &uses, error);

  for (size_t i = 0; status == QM_OK && i < graph->n_nodes; i++)
    {
      Pattern pattern;

      if (match (&uses, graph, &graph->nodes[i], &pattern))
        rewrite (graph, &pattern);
    }
  qm_uses_clear (&uses);
  qm_graph_sweep (graph);
  return qm_graph_status (graph, error);
}
