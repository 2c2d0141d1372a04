/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/passes.h"

/* Whether the `n` layers at `nodes` make neighbouring parts of one value from
 * one input, with neighbouring parts of one weight, which are all of it. */
static bool
are_parts (const QmGraph *graph, const QmNode *nodes, int n)
{
  static const struct
  {
    bool output;
    int slot;
  } sides[3] = { { false, 1 }, { false, 2 }, { true, 0 } };

  for (int i = 0; i < n; i++)
    if (nodes[i].op != QM_OP_LINEAR || nodes[i].inputs[0] != nodes[0].inputs[0]
        || nodes[i].outputs[1] != QM_NO_VALUE || nodes[i].attributes.padded != 0
        || nodes[i].attributes.activation != QM_FUNCTION_NONE
        || (nodes[i].inputs[2] == QM_NO_VALUE)
               != (nodes[0].inputs[2] == QM_NO_VALUE))
      return false;
  for (int s = 0; s < 3; s++)
    {
      int64_t covered = 0, last = -1;
      QmValueId owner = QM_NO_VALUE;

      for (int i = 0; i < n; i++)
        {
          QmValueId id = sides[s].output ? nodes[i].outputs[sides[s].slot]
                                         : nodes[i].inputs[sides[s].slot];
          const QmValue *value;

          if (id == QM_NO_VALUE)
            break;
          value = &graph->values[id];
          if (value->offset <= last
              || (owner != QM_NO_VALUE && value->owner != owner))
            return false;
          owner = value->owner;
          last = value->offset;
          covered += qm_tensor_elements (&value->tensor);
        }
      if (owner != QM_NO_VALUE
          && covered != qm_tensor_elements (&graph->values[owner].tensor))
        return false;
    }
  return true;
}

/* The most layers that become one: queries, keys and values. */
#define MOST_PARTS 3

static void
merge_parts (QmGraph *graph)
{
  for (size_t i = 0; i < graph->n_nodes; i++)
    for (int n = MOST_PARTS; n > 1; n--)
      {
        QmNode *nodes = &graph->nodes[i];

        if (i + (size_t) n > graph->n_nodes || !are_parts (graph, nodes, n))
          continue;
        nodes[0].inputs[1] = qm_graph_owner (graph, nodes[0].inputs[1]);
        nodes[0].inputs[2] = qm_graph_owner (graph, nodes[0].inputs[2]);
        nodes[0].outputs[0] = qm_graph_owner (graph, nodes[0].outputs[0]);
        for (int j = 1; j < n; j++)
          qm_node_remove (&nodes[j]);
        break;
      }
  qm_graph_sweep (graph);
}

/* A convolution's gradient makes the argument of its activation once more. */
static void
fuse_into_convolution (const QmUses *uses, QmGraph *graph, QmNode *node)
{
  QmNode *convolution =
      qm_uses_maker (uses, graph, node->inputs[0], QM_OP_DEPTHWISE_CONV, true);

  if (convolution == NULL
      || convolution->attributes.activation != QM_FUNCTION_NONE
      || !qm_graph_same_view (graph, convolution->outputs[0], node->inputs[0]))
    return;
  convolution->attributes.activation = node->attributes.activation;
  convolution->outputs[0] = node->outputs[0];
  qm_node_remove (node);
}

static void
fuse_activation (const QmUses *uses, QmGraph *graph, QmNode *node)
{
  QmNode *linear;

  if (node->op != QM_OP_ACTIVATION)
    return;
  fuse_into_convolution (uses, graph, node);
  if (qm_node_removed (node))
    return;
  linear = qm_uses_maker (uses, graph, node->inputs[0], QM_OP_LINEAR, true);
  if (linear == NULL || linear->attributes.activation != QM_FUNCTION_NONE
      || linear->outputs[1] != QM_NO_VALUE
      || !qm_graph_same_view (graph, linear->outputs[0], node->inputs[0]))
    return;
  linear->attributes.activation = node->attributes.activation;
  linear->outputs[1] = linear->outputs[0];
  linear->outputs[0] = node->outputs[0];
  qm_node_remove (node);
}

/* Norms of the same value become one with two outputs.  All of the second's
 * inputs but the value are parameters, so it can be made earlier. */
static void
fuse_second_norm (const QmGraph *graph, QmNode *nodes, size_t at)
{
  QmNode *second = &nodes[at];

  if (second->op != QM_OP_LAYER_NORM || second->inputs[3] != QM_NO_VALUE)
    return;
  for (size_t i = at; i-- > 0;)
    {
      QmNode *first = &nodes[i];

      if (first->op == QM_OP_LAYER_NORM
          && first->inputs[0] == second->inputs[0])
        {
          if (first->outputs[4] != QM_NO_VALUE
              || first->inputs[3] != QM_NO_VALUE
              || first->attributes.epsilon != second->attributes.epsilon
              || first->attributes.rms != second->attributes.rms
              || (first->inputs[2] == QM_NO_VALUE)
                     != (second->inputs[2] == QM_NO_VALUE)
              || graph->values[first->outputs[0]].tensor.type
                     != graph->values[second->outputs[0]].tensor.type)
            return;
          first->inputs[5] = second->inputs[1];
          first->inputs[6] = second->inputs[2];
          first->outputs[4] = second->outputs[0];
          qm_node_remove (second);
          return;
        }
      for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
        if (first->outputs[j] == second->inputs[0])
          return;
    }
}

/* A norm whose result is read in another type as well writes both; one that is
 * only read in that type writes that. */
static void
fuse_cast (const QmUses *uses, QmGraph *graph, QmNode *copy)
{
  QmNode *norm;
  QmValueId y;

  if (copy->op != QM_OP_COPY)
    return;
  y = copy->inputs[0];
  if (graph->values[y].owner != y || (size_t) y >= uses->n_values
      || uses->producer[y] < 0)
    return;
  norm = &graph->nodes[uses->producer[y]];
  if (norm->op != QM_OP_LAYER_NORM || norm->outputs[0] != y
      || norm->outputs[4] != QM_NO_VALUE)
    return;
  norm->outputs[4] = uses->readers[y] > 1 ? y : QM_NO_VALUE;
  norm->outputs[0] = copy->outputs[0];
  qm_node_remove (copy);
}

/* x + scaled branch, where the sum was. */
static void
fuse_layer_scale (const QmUses *uses, QmGraph *graph, QmNode *add)
{
  QmNode *scale, fused;

  if (add->op != QM_OP_ADD)
    return;
  scale = qm_uses_maker (uses, graph, add->inputs[1], QM_OP_LAYER_SCALE, true);
  if (scale == NULL || scale->inputs[2] != QM_NO_VALUE)
    return;
  fused = *scale;
  fused.inputs[2] = add->inputs[0];
  fused.outputs[0] = add->outputs[0];
  qm_node_remove (scale);
  *add = fused;
}

/* A root mean square of what was gated, which nothing else reads. */
static void
fuse_gate (const QmUses *uses, QmGraph *graph, QmNode *norm)
{
  QmNode *gate;

  if (norm->op != QM_OP_LAYER_NORM || !norm->attributes.rms
      || norm->inputs[3] != QM_NO_VALUE || norm->inputs[5] != QM_NO_VALUE
      || norm->outputs[3] != QM_NO_VALUE || norm->outputs[4] != QM_NO_VALUE)
    return;
  gate = qm_uses_maker (uses, graph, norm->inputs[0], QM_OP_GATE, true);
  if (gate == NULL
      || !qm_graph_same_view (graph, gate->outputs[0], norm->inputs[0]))
    return;
  norm->op = QM_OP_GATED_NORM;
  norm->attributes.activation = gate->attributes.activation;
  norm->inputs[2] = norm->inputs[1];
  norm->inputs[0] = gate->inputs[0];
  norm->inputs[1] = gate->inputs[1];
  norm->outputs[1] = norm->outputs[2];
  norm->outputs[2] = QM_NO_VALUE;
  qm_node_remove (gate);
}

/* What a norm may take in: x + a + b, with the dropouts of a and b, or x + gain
 * a. */
typedef struct Sum
{
  QmNode *add, *inner;    /* the last sum, and the one before it */
  bool scaled;            /* the last one is a layer scale */
  QmNode *dropout[2];     /* of a and b */
  QmValueId x, branch[2]; /* b may be QM_NO_VALUE */
} Sum;

/* Dropouts go along if every branch has one, of the same rate. */
static void
take_dropouts (const QmUses *uses, QmGraph *graph, Sum *sum)
{
  int n = sum->branch[1] != QM_NO_VALUE ? 2 : 1;
  QmNode *found[2] = { NULL, NULL };

  for (int i = 0; i < n; i++)
    {
      found[i] =
          qm_uses_maker (uses, graph, sum->branch[i], QM_OP_DROPOUT, true);
      if (found[i] == NULL || found[i]->attributes.tiled
          || found[i]->attributes.dropout != found[0]->attributes.dropout)
        return;
    }
  for (int i = 0; i < n; i++)
    {
      sum->dropout[i] = found[i];
      sum->branch[i] = found[i]->inputs[0];
    }
}

/* x + gain a, where both are there.  A sum of which a norm begins the next
 * stage of a model, and which is not added to there, stays: else the weights of
 * both stages, which differ in size, would be there at once where they come
 * from other ranks. */
static bool
match_scaled_sum (const QmUses *uses,
                  QmGraph *graph,
                  const QmNode *norm,
                  Sum *sum)
{
  QmNode *scale =
      qm_uses_maker (uses, graph, norm->inputs[0], QM_OP_LAYER_SCALE, false);

  if (scale == NULL || scale->inputs[1] == QM_NO_VALUE
      || scale->inputs[2] == QM_NO_VALUE || scale->inputs[4] != QM_NO_VALUE
      || (uses->readers[qm_graph_owner (graph, norm->inputs[0])] == 1
          && graph->values[norm->outputs[0]].block > 0)
      || !qm_graph_same_view (graph, scale->outputs[0], norm->inputs[0]))
    return false;
  sum->add = scale;
  sum->scaled = true;
  sum->x = scale->inputs[2];
  sum->branch[0] = scale->inputs[0];
  return true;
}

static bool
match_sum (const QmUses *uses, QmGraph *graph, const QmNode *norm, Sum *sum)
{
  *sum = (Sum){ .branch = { QM_NO_VALUE, QM_NO_VALUE } };
  if (norm->op != QM_OP_LAYER_NORM || norm->inputs[3] != QM_NO_VALUE)
    return false;
  if (match_scaled_sum (uses, graph, norm, sum))
    return true;
  sum->add = qm_uses_maker (uses, graph, norm->inputs[0], QM_OP_ADD, false);
  /* Of some rows alone it is another sum. */
  if (sum->add == NULL
      || !qm_graph_same_view (graph, sum->add->outputs[0], norm->inputs[0]))
    return false;
  sum->x = sum->add->inputs[0];
  sum->branch[0] = sum->add->inputs[1];
  sum->inner = qm_uses_maker (uses, graph, sum->x, QM_OP_ADD, true);
  if (sum->inner != NULL)
    {
      sum->x = sum->inner->inputs[0];
      sum->branch[1] = sum->branch[0];
      sum->branch[0] = sum->inner->inputs[1];
    }
  take_dropouts (uses, graph, sum);
  return true;
}

/* The gain, and the dropout of samples. */
static void
take_scale (QmNode *norm, const QmNode *scale)
{
  norm->attributes.dropout = scale->attributes.dropout;
  norm->attributes.site = scale->attributes.site;
  norm->attributes.height = scale->attributes.height;
  norm->attributes.width = scale->attributes.width;
  norm->inputs[7] = scale->inputs[3];
  norm->inputs[8] = scale->inputs[1];
}

/* The norm moves to where the sum was, or, where its weights are made between
 * them, the sum to where the norm is. */
static void
fuse_sum (const QmUses *uses, QmGraph *graph, QmNode *norm)
{
  Sum sum;
  QmNode fused = *norm;
  bool late;

  if (!match_sum (uses, graph, norm, &sum))
    return;
  late = qm_used_between (graph, sum.add, norm, norm->inputs[1], false);
  if (late && qm_used_between (graph, sum.add, norm, norm->inputs[0], true))
    return;
  fused.inputs[0] = sum.x;
  fused.inputs[3] = sum.branch[0];
  fused.inputs[4] = sum.branch[1];
  fused.outputs[3] = norm->inputs[0];
  if (sum.scaled)
    take_scale (&fused, sum.add);
  if (sum.dropout[0] != NULL)
    {
      fused.attributes.dropout = sum.dropout[0]->attributes.dropout;
      fused.attributes.site = sum.dropout[0]->attributes.site;
      fused.inputs[7] = sum.dropout[0]->inputs[1];
      qm_node_remove (sum.dropout[0]);
    }
  if (sum.dropout[1] != NULL)
    {
      fused.attributes.site2 = sum.dropout[1]->attributes.site;
      qm_node_remove (sum.dropout[1]);
    }
  if (sum.inner != NULL)
    qm_node_remove (sum.inner);
  qm_node_remove (late ? sum.add : norm);
  *(late ? norm : sum.add) = fused;
  /* Read by the norm's gradient alone, the sum need not be exact; that of the
   * last layer scale of a model stays what it is. */
  if (!sum.scaled && uses->readers[fused.outputs[3]] == 1)
    graph->values[fused.outputs[3]].tensor.type =
        graph->values[fused.inputs[3]].tensor.type;
}

/* A norm of samples takes in the gated sum before it, at the place of either:
 * that of the norm where its vectors are made between them. */
static void
fuse_gated_sum (const QmUses *uses, QmGraph *graph, QmNode *norm)
{
  QmNode *add, fused = *norm;
  bool late = false;

  if (norm->op != QM_OP_ADAPTIVE_NORM || norm->inputs[3] != QM_NO_VALUE)
    return;
  add = qm_uses_maker (uses, graph, norm->inputs[0], QM_OP_GATED_ADD, false);
  if (add == NULL
      || !qm_graph_same_view (graph, add->outputs[0], norm->inputs[0]))
    return;
  for (int i = 1; i <= 2; i++)
    late |= qm_used_between (graph, add, norm, norm->inputs[i], false);
  if (late && qm_used_between (graph, add, norm, norm->inputs[0], true))
    return;
  fused.inputs[0] = add->inputs[2];
  fused.inputs[3] = add->inputs[0];
  fused.inputs[4] = add->inputs[1];
  fused.outputs[3] = norm->inputs[0];
  qm_node_remove (late ? add : norm);
  *(late ? norm : add) = fused;
}

QmStatus
qm_pass_fuse_forward (QmGraph *graph, QmError *error)
{
  QmStatus status;

  merge_parts (graph);
  for (size_t i = 0; i < graph->n_nodes; i++)
    fuse_second_norm (graph, graph->nodes, i);
  qm_graph_sweep (graph);
  status = qm_uses_each (graph, fuse_activation, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_layer_scale, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_sum, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_gated_sum, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_cast, error);
  if (status == QM_OK)
    status = qm_uses_each (graph, fuse_gate, error);
  return status;
}
