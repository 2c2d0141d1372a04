/* SPDX-License-Identifier: Apache-2.0 */

/* Rotary positions on the way back.  What turned queries and keys turns their
 * gradients back, once attention's gradient has them in memory; its own kernel
 * turns them before they get there, and they move once less each way. */

#include "engine/passes.h"

/* The gradient of one attention. */
typedef struct Turn
{
  const QmUses *uses;
  QmGraph *graph;
  QmNode *attention;
  QmNode *back[2]; /* what turns dq, and dk: often one node for both */
} Turn;

/* Whether a value is in one that attention's gradient writes alone, all of it,
 * and that one node reads. */
static bool
is_made_to_turn (const Turn *turn, QmValueId value)
{
  const QmGraph *graph = turn->graph;
  QmValueId owner = qm_graph_owner (graph, value);
  int64_t elements = 0;
  int32_t parts = 0;

  if ((size_t) owner >= turn->uses->n_values
      || graph->values[owner].role != QM_ROLE_TEMPORARY)
    return false;
  for (int i = 0; i < 3; i++)
    if (qm_graph_owner (graph, turn->attention->outputs[i]) == owner)
      {
        elements += qm_tensor_elements (
            &graph->values[turn->attention->outputs[i]].tensor);
        parts++;
      }
  return turn->uses->writers[owner] == parts && turn->uses->readers[owner] == 1
         && elements == qm_tensor_elements (&graph->values[owner].tensor);
}

/* What turns a value back, or NULL. */
static QmNode *
find_back (const Turn *turn, QmValueId value)
{
  const QmGraph *graph = turn->graph;
  QmValueId owner = qm_graph_owner (graph, value);

  for (QmNode *node = turn->attention + 1; node < graph->nodes + graph->n_nodes;
       node++)
    if (node->inputs[0] != QM_NO_VALUE
        && qm_graph_owner (graph, node->inputs[0]) == owner)
      return node->op == QM_OP_ROTARY && node->attributes.inverse ? node : NULL;
  return NULL;
}

/* Whether what is turned is at the same place of a value that nothing else
 * writes. */
static bool
has_the_same_place (const Turn *turn, const QmNode *back)
{
  const QmGraph *graph = turn->graph;
  const QmValue *x = &graph->values[back->inputs[0]];
  const QmValue *y = &graph->values[back->outputs[0]];

  return (size_t) y->owner < turn->uses->n_values
         && graph->values[y->owner].role == QM_ROLE_TEMPORARY
         && turn->uses->writers[y->owner] == 1 && x->offset == y->offset
         && x->tensor.type == y->tensor.type
         && qm_tensor_same_shape (&x->tensor, &y->tensor)
         && qm_tensor_same_strides (&x->tensor, &y->tensor)
         && graph->values[x->owner].room == graph->values[y->owner].room;
}

/* Which part of [B, S, P, H, D] the head is that begins so many elements behind
 * the first, or -1. */
static int64_t
part_at (const QmTensor *x, int64_t offset)
{
  for (int64_t part = 0; part < x->shape[2]; part++)
    {
      int64_t rest = offset - part * x->stride[2];

      if (rest >= 0 && rest % x->stride[3] == 0
          && rest / x->stride[3] < x->shape[3])
        return part;
    }
  return -1;
}

/* Whether all heads [B, H, S, D] of a value are among those that turn, or none.
 */
static bool
heads_turn (const Turn *turn, const QmNode *back, QmValueId value, bool turning)
{
  const QmValue *all = &turn->graph->values[back->inputs[0]];
  const QmValue *heads = &turn->graph->values[value];
  const QmTensor *x = &all->tensor, *h = &heads->tensor;

  if (h->shape[0] != x->shape[0] || h->shape[2] != x->shape[1]
      || h->shape[3] != x->shape[4]
      || (h->shape[0] > 1 && h->stride[0] != x->stride[0])
      || (h->shape[2] > 1 && h->stride[2] != x->stride[1]))
    return false;
  for (int64_t i = 0; i < h->shape[1]; i++)
    {
      int64_t part =
          part_at (x, heads->offset - all->offset + i * h->stride[1]);

      if (part < 0 || (part < back->attributes.count) != turning)
        return false;
    }
  return true;
}

/* Whether one of the two nodes does nothing but turn gradients of queries and
 * keys, by a table that is there before. */
static bool
turns_heads_alone (const Turn *turn, const QmNode *back)
{
  const QmGraph *graph = turn->graph;
  QmValueId from = qm_graph_owner (graph, back->inputs[0]);
  QmValueId table = qm_graph_owner (graph, back->inputs[1]);

  if (!has_the_same_place (turn, back) || (size_t) table >= turn->uses->n_values
      || turn->uses->producer[table] >= turn->attention - graph->nodes)
    return false;
  for (int i = 0; i < 3; i++)
    if (qm_graph_owner (graph, turn->attention->outputs[i]) == from
        && !heads_turn (turn, back, turn->attention->outputs[i], i < 2))
      return false;
  return true;
}

static bool
match_turn (Turn *turn)
{
  const QmNode *attention = turn->attention;

  for (int i = 0; i < 2; i++)
    {
      if (!is_made_to_turn (turn, attention->outputs[i]))
        return false;
      turn->back[i] = find_back (turn, attention->outputs[i]);
      if (turn->back[i] == NULL || !turns_heads_alone (turn, turn->back[i]))
        return false;
    }
  return turn->back[0]->inputs[1] == turn->back[1]->inputs[1]
         && turn->back[0]->attributes.rotary
                == turn->back[1]->attributes.rotary;
}

/* Attention's gradient writes to where they wrote. */
static void
rewrite_turn (Turn *turn)
{
  QmGraph *graph = turn->graph;
  QmNode *attention = turn->attention;

  attention->inputs[7] = turn->back[0]->inputs[1];
  attention->attributes.rotary = turn->back[0]->attributes.rotary;
  for (int i = 0; i < 2; i++)
    {
      QmNode *back = turn->back[i];
      QmValueId from, to;

      if (qm_node_removed (back))
        continue;
      from = qm_graph_owner (graph, back->inputs[0]);
      to = qm_graph_owner (graph, back->outputs[0]);
      for (int j = 0; j < 3; j++)
        if (qm_graph_owner (graph, attention->outputs[j]) == from)
          attention->outputs[j] =
              qm_graph_same_part (graph, to, attention->outputs[j]);
      qm_node_remove (back);
    }
}

static void
fuse_turn (const QmUses *uses, QmGraph *graph, QmNode *node)
{
  Turn turn = { .uses = uses, .graph = graph, .attention = node };

  if (node->op == QM_OP_ATTENTION_BACKWARD && node->inputs[7] == QM_NO_VALUE
      && match_turn (&turn))
    rewrite_turn (&turn);
}

QmStatus
qm_pass_turn (QmGraph *graph, QmError *error)
{
  QmStatus status = qm_uses_each (graph, fuse_turn, error);

  return status == QM_OK ? qm_graph_status (graph, error) : status;
}
