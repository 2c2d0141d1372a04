/* SPDX-License-Identifier: Apache-2.0 */

/* Backward nodes stay as they are and in their order.  Before one that reads
 * what a block made, the nodes that make it are repeated, back to what is kept,
 * and from then on every reader of the forward value reads the new one, its
 * twin.  So nothing is repeated that no gradient needs, and the parts of a
 * block that do not depend on each other are repeated one after the other.
 *
 * Fusion makes nodes that belong to two blocks: the norm that begins one also
 * sums what goes into it, and the norm or sum that ends one also rounds its
 * result for the next.  The part of the later block is made from the kept sum
 * or result alone, and the gradient of a gate that needs what both made is
 * taken apart, for otherwise all of the earlier block would be made beside what
 * is left of the later one.  That of a layer scale is where there is nothing
 * afterwards that needs as much, see ends_in_gate().
 */

#include "engine/passes.h"

#include <stdlib.h>

/* What is known of a forward node. */
enum
{
  REPEATED = 1 << 0, /* it has been, or will be */
  WAITING = 1 << 1,  /* it will be, before the next backward node */
  COPIED = 1 << 2    /* its kept result will be rounded again */
};

typedef struct Recomputation
{
  QmGraph *graph;
  QmNode *nodes; /* as they were */
  size_t n_nodes, n_forward, n_values;
  int32_t *first, *last; /* by owner: the forward nodes that write it, or -1 */
  QmValueId *twin;       /* by value: what stands for it from now on */
  bool *rounded; /* by owner: its twin is a rounded copy of what is kept */
  unsigned char *flags; /* by forward node */
  int32_t *stack;       /* forward nodes whose inputs have to be looked at */
  size_t n_stack;
  size_t low, high; /* all that wait are from low, below high */
} Recomputation;

/* Whether a value does not live until the backward pass. */
static bool
is_forgotten (const Recomputation *r, QmValueId value)
{
  QmValueId owner = qm_graph_owner (r->graph, value);

  return owner != QM_NO_VALUE && (size_t) owner < r->n_values
         && r->graph->values[owner].role == QM_ROLE_TEMPORARY
         && r->graph->values[owner].block > 0 && r->first[owner] >= 0;
}

/* Where a norm or a sum that writes its first output in a second type as well
 * writes that; 0: nowhere. */
static int
second_of (const QmNode *node)
{
  if (node->op == QM_OP_LAYER_NORM && node->outputs[4] != QM_NO_VALUE
      && node->inputs[5] == QM_NO_VALUE)
    return 4;
  return node->op == QM_OP_ADD && node->outputs[1] != QM_NO_VALUE ? 1 : 0;
}

/* Whether an output of a node is another of its outputs, which is kept and
 * exact, in another type. */
static bool
can_round (const Recomputation *r, const QmNode *node, QmValueId owner)
{
  int second = second_of (node);
  QmValueId other;

  if (second == 0)
    return false;
  if (qm_graph_owner (r->graph, node->outputs[0]) == owner)
    other = node->outputs[second];
  else if (qm_graph_owner (r->graph, node->outputs[second]) == owner)
    other = node->outputs[0];
  else
    return false;
  return !is_forgotten (r, other)
         && r->graph->values[other].tensor.type == QM_TYPE_F32;
}

/* A forward node as it is repeated: a norm whose sum is kept starts from that,
 * and a second result that is kept is not made again. */
static QmNode
repetition (const Recomputation *r, size_t index)
{
  QmNode node = r->nodes[index];
  int second = second_of (&node);

  node.phase = QM_PHASE_RECOMPUTE;
  if ((node.op == QM_OP_LAYER_NORM || node.op == QM_OP_ADAPTIVE_NORM)
      && node.outputs[3] != QM_NO_VALUE && !is_forgotten (r, node.outputs[3]))
    {
      node.inputs[0] = node.outputs[3];
      node.outputs[3] = QM_NO_VALUE;
      node.inputs[3] = node.inputs[4] = QM_NO_VALUE;
      node.inputs[7] = node.inputs[8] = QM_NO_VALUE;
      node.attributes.dropout = 0;
      node.attributes.site = node.attributes.site2 = 0;
    }
  if (second > 0 && !is_forgotten (r, node.outputs[second]))
    node.outputs[second] = QM_NO_VALUE;
  return node;
}

static QmValueId
new_twin (Recomputation *r, QmValueId owner)
{
  return qm_graph_like_owner (r->graph, owner, QM_ROLE_TEMPORARY,
                              r->graph->values[owner].tensor.type,
                              "recomputed");
}

static void
wait_for (Recomputation *r, size_t node, unsigned flag)
{
  r->flags[node] |= (unsigned char) flag;
  r->low = node < r->low ? node : r->low;
  r->high = node >= r->high ? node + 1 : r->high;
}

static bool
writes (const Recomputation *r, const QmNode *node, QmValueId owner)
{
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (qm_graph_owner (r->graph, node->outputs[i]) == owner)
      return true;
  return false;
}

/* Has every writer of a value repeated. */
static void
repeat_writers (Recomputation *r, QmValueId owner)
{
  r->twin[owner] = new_twin (r, owner);
  for (int32_t i = r->first[owner]; i <= r->last[owner]; i++)
    if ((r->flags[i] & REPEATED) == 0 && writes (r, &r->nodes[i], owner))
      {
        wait_for (r, (size_t) i, REPEATED | WAITING);
        r->stack[r->n_stack++] = i;
      }
}

static void
demand (Recomputation *r, QmValueId value)
{
  QmValueId owner = qm_graph_owner (r->graph, value);
  int32_t maker;

  if (!is_forgotten (r, value) || r->twin[owner] != QM_NO_VALUE
      || r->graph->status != QM_OK)
    return;
  maker = r->first[owner];
  if (!can_round (r, &r->nodes[maker], owner))
    {
      repeat_writers (r, owner);
      return;
    }
  r->twin[owner] = new_twin (r, owner);
  r->rounded[owner] = true;
  wait_for (r, (size_t) maker, COPIED);
}

/* Follows demands back to what is kept. */
static void
follow (Recomputation *r)
{
  while (r->n_stack > 0)
    {
      QmNode node = repetition (r, (size_t) r->stack[--r->n_stack]);

      for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
        if (is_forgotten (r, node.outputs[i])
            && r->twin[qm_graph_owner (r->graph, node.outputs[i])]
                   == QM_NO_VALUE)
          repeat_writers (r, qm_graph_owner (r->graph, node.outputs[i]));
      for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
        demand (r, node.inputs[i]);
    }
}

/* What stands for a value that is read. */
static QmValueId
twin_of (Recomputation *r, QmValueId value)
{
  if (!is_forgotten (r, value) || r->graph->status != QM_OK)
    return value;
  if (r->twin[value] == QM_NO_VALUE)
    r->twin[value] =
        qm_graph_same_part (r->graph, r->twin[qm_graph_owner (r->graph, value)],
                            value);
  return r->twin[value];
}

/* Where a repeated node writes: what is kept, or was made otherwise, is
 * written to where nobody reads it. */
static QmValueId
place_to_write (Recomputation *r, QmValueId value)
{
  QmValueId owner = qm_graph_owner (r->graph, value);

  if (value == QM_NO_VALUE || r->graph->status != QM_OK)
    return value;
  if (is_forgotten (r, value) && !r->rounded[owner])
    return twin_of (r, value);
  return qm_graph_same_part (r->graph, new_twin (r, owner), value);
}

static void
append_again (Recomputation *r, const QmNode *node)
{
  QmNode *appended = qm_graph_append (r->graph, node->op);

  *appended = *node;
}

static void
append_repetition (Recomputation *r, size_t index)
{
  QmNode node = repetition (r, index);

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    node.inputs[i] = twin_of (r, node.inputs[i]);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    node.outputs[i] = place_to_write (r, node.outputs[i]);
  append_again (r, &node);
}

static void
append_copy (Recomputation *r, size_t index)
{
  const QmNode *maker = &r->nodes[index];
  int second = second_of (maker);
  int to =
      r->rounded[qm_graph_owner (r->graph, maker->outputs[0])] ? 0 : second;
  QmValueId twin = twin_of (r, maker->outputs[to]);
  QmNode *copy = qm_graph_append (r->graph, QM_OP_COPY);

  copy->phase = QM_PHASE_RECOMPUTE;
  copy->inputs[0] = maker->outputs[second - to];
  copy->outputs[0] = twin;
}

static void
append_waiting (Recomputation *r)
{
  for (size_t i = r->low; i < r->high; i++)
    {
      if ((r->flags[i] & COPIED) != 0)
        append_copy (r, i);
      if ((r->flags[i] & WAITING) != 0)
        append_repetition (r, i);
      r->flags[i] &= REPEATED;
    }
  r->low = r->n_forward;
  r->high = 0;
}

static void
append_backward (Recomputation *r, QmNode node)
{
  for (int j = 0; j < QM_OP_MAX_INPUTS; j++)
    demand (r, node.inputs[j]);
  follow (r);
  append_waiting (r);
  for (int j = 0; j < QM_OP_MAX_INPUTS; j++)
    node.inputs[j] = twin_of (r, node.inputs[j]);
  append_again (r, &node);
}

/* Whether a branch that will be made again is of another block than what stands
 * for the norm that added it. */
static bool
is_of_another_block (const Recomputation *r, QmValueId branch, QmValueId norm)
{
  return is_forgotten (r, branch)
         && r->graph->values[qm_graph_owner (r->graph, branch)].block
                != r->graph->values[qm_graph_owner (r->graph, norm)].block;
}

/* Moves what a node reads or writes to one that has nothing there. */
static void
move_value (QmValueId *from, QmValueId *to)
{
  *to = *from;
  *from = QM_NO_VALUE;
}

/* The forward node that makes a value that will be made again, or NULL. */
static const QmNode *
maker_of (const Recomputation *r, QmValueId value)
{
  return is_forgotten (r, value)
             ? &r->nodes[r->first[qm_graph_owner (r->graph, value)]]
             : NULL;
}

/* Whether a branch is a product of what was gated, whose gradient takes the
 * place of gate and up: then a block needs the most when all of it was made
 * again, beside a value or two of the later one (of DINOv2 with SwiGLU in 16
 * bits 4 % of all).  The gradient of what was only activated is more than
 * these, so that nothing is saved, and one kernel is faster than two. */
static bool
ends_in_gate (const Recomputation *r, QmValueId branch)
{
  const QmNode *maker = maker_of (r, branch);

  maker = maker != NULL && maker->op == QM_OP_LINEAR
              ? maker_of (r, maker->inputs[0])
              : NULL;
  return maker != NULL && maker->op == QM_OP_GATE;
}

/* Takes the gradient of a branch with a gate or a layer scale, which another
 * block made, out of that of the norm that begins the next one. */
static bool
take_branch_out (const Recomputation *r, QmNode *norm, QmNode *branch)
{
  bool gated = norm->op == QM_OP_ADAPTIVE_NORM_BACKWARD;

  if (!(gated && is_of_another_block (r, norm->inputs[6], norm->inputs[3]))
      && !(norm->op == QM_OP_LAYER_NORM_BACKWARD
           && is_of_another_block (r, norm->inputs[9], norm->inputs[4])
           && ends_in_gate (r, norm->inputs[9])))
    return false;
  *branch = *norm;
  branch->op = gated ? QM_OP_GATED_ADD_BACKWARD : QM_OP_LAYER_SCALE_BACKWARD;
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    branch->inputs[i] = QM_NO_VALUE;
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    branch->outputs[i] = QM_NO_VALUE;
  branch->inputs[0] = norm->outputs[0];
  for (int i = 0; i < 2; i++)
    {
      move_value (&norm->inputs[(gated ? 6 : 9) + i], &branch->inputs[1 + i]);
      move_value (&norm->outputs[gated ? 3 + i : 5 + 2 * i],
                  &branch->outputs[i]);
    }
  if (gated)
    return true;
  move_value (&norm->inputs[8], &branch->inputs[3]);
  norm->attributes.dropout = 0;
  norm->attributes.site = 0;
  return true;
}

static void
rewrite (Recomputation *r)
{
  for (size_t i = 0; i < r->n_nodes && r->graph->status == QM_OK; i++)
    {
      QmNode node = r->nodes[i], branch;
      bool apart = i >= r->n_forward && take_branch_out (r, &node, &branch);

      if (i < r->n_forward)
        append_again (r, &node);
      else
        append_backward (r, node);
      if (apart)
        append_backward (r, branch);
    }
}

/* Values that passes made are in the block of what is written with them. */
static void
place_in_block (Recomputation *r, const QmNode *node, QmValueId owner)
{
  QmValueId leader = qm_graph_owner (r->graph, node->outputs[0]);
  int32_t *block = &r->graph->values[owner].block;

  if (*block == QM_BLOCK_OF_WRITER && leader != QM_NO_VALUE)
    *block = r->graph->values[leader].block;
}

static void
find_writers (Recomputation *r)
{
  for (size_t i = 0; i < r->n_values; i++)
    r->first[i] = r->last[i] = -1;
  while (r->n_forward < r->n_nodes
         && r->nodes[r->n_forward].phase == QM_PHASE_FORWARD)
    r->n_forward++;
  for (size_t i = 0; i < r->n_forward; i++)
    for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
      {
        QmValueId owner = qm_graph_owner (r->graph, r->nodes[i].outputs[j]);

        if (owner == QM_NO_VALUE)
          continue;
        place_in_block (r, &r->nodes[i], owner);
        if (r->first[owner] < 0)
          r->first[owner] = (int32_t) i;
        r->last[owner] = (int32_t) i;
      }
}

/* The graph's nodes become those to look at, and it has none. */
static bool
begin_repeating (Recomputation *r, QmGraph *graph)
{
  size_t n = graph->n_values + 1;

  *r = (Recomputation){ .graph = graph,
                        .nodes = graph->nodes,
                        .n_nodes = graph->n_nodes,
                        .n_values = graph->n_values };
  graph->nodes = NULL;
  graph->n_nodes = graph->nodes_capacity = 0;
  r->first = malloc (n * sizeof *r->first);
  r->last = malloc (n * sizeof *r->last);
  r->twin = malloc (n * sizeof *r->twin);
  r->rounded = calloc (n, sizeof *r->rounded);
  r->flags = calloc (r->n_nodes + 1, sizeof *r->flags);
  r->stack = malloc ((r->n_nodes + 1) * sizeof *r->stack);
  if (r->first == NULL || r->last == NULL || r->twin == NULL
      || r->rounded == NULL || r->flags == NULL || r->stack == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    r->twin[i] = QM_NO_VALUE;
  find_writers (r);
  r->low = r->n_forward;
  return true;
}

static void
end_repeating (Recomputation *r)
{
  free (r->nodes);
  free (r->first);
  free (r->last);
  free (r->twin);
  free (r->rounded);
  free (r->flags);
  free (r->stack);
}

QmStatus
qm_pass_checkpoint (QmGraph *graph, QmError *error)
{
  Recomputation r;

  if (graph->status != QM_OK)
    return qm_graph_status (graph, error);
  if (begin_repeating (&r, graph))
    rewrite (&r);
  else
    qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
  end_repeating (&r);
  return qm_graph_status (graph, error);
}
