/* SPDX-License-Identifier: Apache-2.0 */

/* The arena of temporaries.  A buffer lives from the first node that writes it
 * to the last that uses it.  Where an operator may work in place, its output
 * takes over the buffer of an input that dies there.  arena.c then lays buffers
 * out. */

#include "engine/arena.h"
#include "engine/plan.h"

#include <stdlib.h>

#define NEVER (-1)

typedef struct Lives
{
  const QmGraph *graph;
  int64_t *first, *last; /* by owner */
  QmValueId *root;       /* whose buffer an owner is in */
} Lives;

static bool
is_temporary (const QmGraph *graph, QmValueId owner)
{
  return graph->values[owner].role == QM_ROLE_TEMPORARY;
}

static void
touch (Lives *lives, QmValueId value, int64_t node)
{
  QmValueId owner;

  if (value == QM_NO_VALUE)
    return;
  owner = lives->graph->values[value].owner;
  if (lives->first[owner] == NEVER)
    lives->first[owner] = node;
  lives->last[owner] = node;
}

static QmValueId
root_of (const Lives *lives, QmValueId owner)
{
  while (lives->root[owner] != owner)
    owner = lives->root[owner];
  return owner;
}

/* Whether two views are at the same elements of owners of the same size. */
static bool
same_layout (const QmGraph *graph, QmValueId a, QmValueId b)
{
  const QmValue *x = &graph->values[a], *y = &graph->values[b];

  if (x->offset != y->offset
      || qm_type_size (x->tensor.type) != qm_type_size (y->tensor.type)
      || graph->values[x->owner].room != graph->values[y->owner].room)
    return false;
  return qm_tensor_same_strides (&x->tensor, &y->tensor);
}

static bool
can_take_over (const Lives *lives,
               const QmNode *node,
               int64_t index,
               int output,
               int input)
{
  const QmGraph *graph = lives->graph;
  QmValueId from = graph->values[node->inputs[input]].owner;
  QmValueId root = root_of (lives, from);

  if (!qm_op_may_alias (node->op, output, input) || !is_temporary (graph, from)
      || lives->last[root] != index
      || !same_layout (graph, node->outputs[output], node->inputs[input]))
    return false;
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (i != input && node->inputs[i] != QM_NO_VALUE
        && root_of (lives, graph->values[node->inputs[i]].owner) == root)
      return false;
  return true;
}

static void
work_in_place (Lives *lives)
{
  const QmGraph *graph = lives->graph;

  for (size_t n = 0; n < graph->n_nodes; n++)
    {
      const QmNode *node = &graph->nodes[n];

      for (int o = 0; o < QM_OP_MAX_OUTPUTS; o++)
        {
          QmValueId owner = node->outputs[o] == QM_NO_VALUE
                                ? QM_NO_VALUE
                                : graph->values[node->outputs[o]].owner;

          if (owner == QM_NO_VALUE || !is_temporary (graph, owner)
              || lives->first[owner] != (int64_t) n
              || lives->root[owner] != owner)
            continue;
          for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
            if (node->inputs[i] != QM_NO_VALUE
                && can_take_over (lives, node, (int64_t) n, o, i))
              {
                QmValueId root =
                    root_of (lives, graph->values[node->inputs[i]].owner);

                lives->root[owner] = root;
                lives->last[root] = lives->last[owner];
                break;
              }
        }
    }
}

static size_t
collect (const Lives *lives, QmBuffer *buffers)
{
  const QmGraph *graph = lives->graph;
  size_t n = 0;

  for (size_t i = 0; i < graph->n_values; i++)
    {
      const QmValue *value = &graph->values[i];

      if (value->owner != (QmValueId) i || lives->root[i] != (QmValueId) i
          || !is_temporary (graph, (QmValueId) i) || lives->first[i] == NEVER)
        continue;
      buffers[n++] = (QmBuffer){
        .id = (QmValueId) i,
        .bytes = (value->room * (int64_t) qm_type_size (value->tensor.type)
                  + QM_MEMORY_ALIGNMENT - 1)
                 / QM_MEMORY_ALIGNMENT * QM_MEMORY_ALIGNMENT,
        .first = lives->first[i],
        .last = lives->last[i],
      };
    }
  return n;
}

static void
find_lives (Lives *lives)
{
  const QmGraph *graph = lives->graph;

  for (size_t i = 0; i < graph->n_values; i++)
    {
      lives->first[i] = lives->last[i] = NEVER;
      lives->root[i] = (QmValueId) i;
    }
  for (size_t n = 0; n < graph->n_nodes; n++)
    {
      for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
        touch (lives, graph->nodes[n].inputs[i], (int64_t) n);
      for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
        touch (lives, graph->nodes[n].outputs[i], (int64_t) n);
    }
  work_in_place (lives);
}

QmStatus
qm_memory_arena (const QmGraph *graph,
                 int64_t *place,
                 uint64_t *arena,
                 uint64_t *live,
                 QmError *error)
{
  size_t n_values = graph->n_values + 1, n = 0;
  Lives lives = {
    .graph = graph,
    .first = malloc (n_values * sizeof *lives.first),
    .last = malloc (n_values * sizeof *lives.last),
    .root = malloc (n_values * sizeof *lives.root),
  };
  QmBuffer *buffers = malloc (n_values * sizeof *buffers);
  QmStatus status = QM_OK;

  if (lives.first == NULL || lives.last == NULL || lives.root == NULL
      || buffers == NULL)
    status = qm_error_no_memory (error);
  if (status == QM_OK)
    {
      find_lives (&lives);
      n = collect (&lives, buffers);
      status =
          qm_arena_lay_out (buffers, n, graph->n_nodes, arena, live, error);
    }
  for (size_t i = 0; status == QM_OK && i < n; i++)
    place[buffers[i].id] = buffers[i].offset;
  for (size_t i = 0; status == QM_OK && i < graph->n_values; i++)
    if (is_temporary (graph, (QmValueId) i)
        && graph->values[i].owner == (QmValueId) i)
      place[i] = place[root_of (&lives, (QmValueId) i)];
  free (lives.first);
  free (lives.last);
  free (lives.root);
  free (buffers);
  return status;
}
