/* SPDX-License-Identifier: Apache-2.0 */

/* Gradients are kept for owners of memory: the gradient of an owner has the
 * owner's layout, and the gradient of a view is the same view of it.
 *
 * An owner that is used once, or through views that do not overlap and together
 * are all of it, gets one gradient that every use writes its part of.  Any
 * other owner gets a gradient from each use, and these are summed: not before
 * the node after the one that writes it, so a sum waits in `pending` until the
 * next gradient for the same owner comes, or until it is asked for. */

#include "engine/differentiate.h"

#include <stdlib.h>
#include <string.h>

typedef struct Owner
{
  bool wanted;       /* a parameter is behind it */
  bool apart;        /* uses that do not overlap, and are all of it */
  QmValueId total;   /* sum of gradients so far */
  QmValueId pending; /* one more, written by a node of its own */
  QmValueId parameter_gradient;
} Owner;

struct QmGradients
{
  QmGraph *graph;
  Owner *owners; /* by value id; only those of owners are used */
  size_t n_owners;
};

static Owner *
owner_record (QmGradients *gradients, QmValueId value)
{
  return &gradients->owners[gradients->graph->values[value].owner];
}

static bool
is_float (const QmGraph *graph, QmValueId value)
{
  return value != QM_NO_VALUE
         && graph->values[value].tensor.type != QM_TYPE_I32;
}

/* A view of an owner that a node uses. */
typedef struct View
{
  QmValueId owner;
  int64_t offset, elements;
} View;

static int
compare_views (const void *a, const void *b)
{
  const View *x = a, *y = b;

  if (x->owner != y->owner)
    return x->owner < y->owner ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static size_t
collect_views (const QmGraph *graph, size_t n_nodes, View *views)
{
  size_t n = 0;

  for (size_t i = 0; i < n_nodes; i++)
    for (int j = 0; j < QM_OP_MAX_INPUTS; j++)
      if (is_float (graph, graph->nodes[i].inputs[j]))
        {
          const QmValue *value = &graph->values[graph->nodes[i].inputs[j]];

          views[n++] = (View){ value->owner, value->offset,
                               qm_tensor_elements (&value->tensor) };
        }
  return n;
}

/* Whether uses of an owner through several views do not overlap is told by
 * their beginnings and sizes: builders cut a value into parts or not at all. */
static void
count_uses (QmGradients *gradients, size_t n_nodes)
{
  const QmGraph *graph = gradients->graph;
  View *views = malloc ((n_nodes * QM_OP_MAX_INPUTS + 1) * sizeof *views);
  size_t n;

  if (views == NULL)
    {
      qm_graph_fail (gradients->graph, QM_STATUS_NO_MEMORY,
                     "the host is out of memory");
      return;
    }
  n = collect_views (graph, n_nodes, views);
  qsort (views, n, sizeof *views, compare_views);
  for (size_t i = 0, end; i < n; i = end)
    {
      Owner *owner = &gradients->owners[views[i].owner];
      int64_t elements = 0;

      owner->apart = true;
      for (end = i; end < n && views[end].owner == views[i].owner; end++)
        {
          owner->apart &= end == i || views[end].offset > views[end - 1].offset;
          elements += views[end].elements;
        }
      owner->apart &=
          elements
          == qm_tensor_elements (&graph->values[views[i].owner].tensor);
    }
  free (views);
}

static void
find_wanted (QmGradients *gradients, size_t n_nodes)
{
  const QmGraph *graph = gradients->graph;

  for (size_t i = 0; i < gradients->n_owners; i++)
    gradients->owners[i].wanted = graph->values[i].role == QM_ROLE_PARAMETER;
  for (size_t i = 0; i < n_nodes; i++)
    {
      const QmNode *node = &graph->nodes[i];
      bool wanted = false;

      for (int j = 0; j < QM_OP_MAX_INPUTS; j++)
        if (is_float (graph, node->inputs[j]))
          wanted |= owner_record (gradients, node->inputs[j])->wanted;
      for (int j = 0; wanted && j < QM_OP_MAX_OUTPUTS; j++)
        if (is_float (graph, node->outputs[j]))
          owner_record (gradients, node->outputs[j])->wanted = true;
    }
}

static void
append_copy (QmGraph *graph, QmValueId from, QmValueId to)
{
  QmNode *node = qm_graph_append (graph, QM_OP_COPY);

  node->inputs[0] = from;
  node->outputs[0] = to;
}

static void
append_zero (QmGraph *graph, QmValueId value)
{
  QmNode *node = qm_graph_append (graph, QM_OP_FILL);

  node->outputs[0] = value;
}

static bool
is_whole (const QmGraph *graph, QmValueId view)
{
  const QmValue *value = &graph->values[view];

  return qm_tensor_elements (&value->tensor)
         == qm_tensor_elements (&graph->values[value->owner].tensor);
}

/* Adds what is pending to the total. */
static void
settle_gradient (QmGradients *gradients, Owner *owner)
{
  QmGraph *graph = gradients->graph;
  QmValueId sum;
  QmNode *node;

  if (owner->pending == QM_NO_VALUE || graph->status != QM_OK)
    return;
  if (owner->total == QM_NO_VALUE)
    owner->total = owner->pending;
  else
    {
      sum = qm_graph_like_owner (graph, owner->total, QM_ROLE_TEMPORARY,
                                 graph->values[owner->total].tensor.type,
                                 "gradient of");
      node = qm_graph_append (graph, QM_OP_ADD);
      node->inputs[0] = owner->total;
      node->inputs[1] = owner->pending;
      node->outputs[0] = sum;
      owner->total = sum;
    }
  owner->pending = QM_NO_VALUE;
}

QmValueId
qm_gradient_of (QmGradients *gradients, QmValueId output)
{
  Owner *owner;

  if (output == QM_NO_VALUE || gradients->graph->status != QM_OK)
    return QM_NO_VALUE;
  owner = owner_record (gradients, output);
  settle_gradient (gradients, owner);
  return qm_graph_same_part (gradients->graph, owner->total, output);
}

QmValueId
qm_gradient_place (QmGradients *gradients, QmValueId input)
{
  QmGraph *graph = gradients->graph;
  QmValueId id, place;
  Owner *owner;
  bool whole;

  if (input == QM_NO_VALUE || graph->status != QM_OK)
    return QM_NO_VALUE;
  id = graph->values[input].owner;
  owner = &gradients->owners[id];
  if (!owner->wanted)
    return QM_NO_VALUE;
  if (owner->apart && owner->total != QM_NO_VALUE)
    return qm_graph_same_part (graph, owner->total, input);
  settle_gradient (gradients, owner);
  whole = owner->apart || is_whole (graph, input);
  place = qm_graph_like_owner (graph, id, QM_ROLE_TEMPORARY,
                               graph->values[id].tensor.type, "gradient of");
  if (!whole && graph->status == QM_OK)
    append_zero (graph, place);
  if (owner->total == QM_NO_VALUE)
    owner->total = place;
  else
    owner->pending = place;
  return qm_graph_same_part (graph, place, input);
}

QmValueId
qm_gradient_place_or_scratch (QmGradients *gradients, QmValueId input)
{
  QmValueId place = qm_gradient_place (gradients, input);

  if (place == QM_NO_VALUE && gradients->graph->status == QM_OK)
    place = qm_graph_same_part (
        gradients->graph,
        qm_graph_like_owner (gradients->graph,
                             gradients->graph->values[input].owner,
                             QM_ROLE_TEMPORARY,
                             gradients->graph->values[input].tensor.type,
                             "gradient of"),
        input);
  return place;
}

void
qm_gradient_give (QmGradients *gradients, QmValueId input, QmValueId gradient)
{
  QmGraph *graph = gradients->graph;
  const QmValue *x, *g;
  Owner *owner;

  if (graph->status != QM_OK || gradient == QM_NO_VALUE || input == QM_NO_VALUE)
    return;
  owner = owner_record (gradients, input);
  if (!owner->wanted)
    return;
  x = &graph->values[input];
  g = &graph->values[gradient];
  if (x->owner == input && g->owner == gradient
      && x->tensor.type == g->tensor.type && x->room == g->room
      && qm_tensor_same_shape (&x->tensor, &g->tensor))
    {
      settle_gradient (gradients, owner);
      owner->pending = gradient;
      settle_gradient (gradients, owner);
    }
  else
    append_copy (graph, gradient, qm_gradient_place (gradients, input));
}

QmValueId
qm_gradient_of_parameter (QmGradients *gradients, QmValueId value)
{
  QmGraph *graph = gradients->graph;
  Owner *owner;

  if (value == QM_NO_VALUE || graph->status != QM_OK)
    return QM_NO_VALUE;
  owner = owner_record (gradients, value);
  if (owner->parameter_gradient == QM_NO_VALUE)
    qm_graph_fail (graph, QM_STATUS_UNSUPPORTED,
                   "%s is used as a weight, but is none",
                   graph->values[value].name);
  return qm_graph_same_part (graph, owner->parameter_gradient, value);
}

static void
declare_parameter_gradients (QmGradients *gradients)
{
  QmGraph *graph = gradients->graph;

  for (size_t i = 0; i < gradients->n_owners; i++)
    if (graph->values[i].role == QM_ROLE_PARAMETER
        && graph->values[i].owner == (QmValueId) i)
      gradients->owners[i].parameter_gradient =
          qm_graph_like_owner (graph, (QmValueId) i, QM_ROLE_GRADIENT,
                               QM_TYPE_F32, "gradient of");
  for (size_t i = 0; i < graph->n_parameters; i++)
    graph->parameters[i].gradient =
        qm_gradient_of_parameter (gradients, graph->parameters[i].value);
}

static void
walk_back (QmGradients *gradients, size_t n_nodes)
{
  QmGraph *graph = gradients->graph;

  for (size_t i = n_nodes; i-- > 0 && graph->status == QM_OK;)
    {
      QmNode node = graph->nodes[i];
      QmGradientRule rule = qm_gradient_rule (node.op);
      bool wanted =
          node.op == QM_OP_CROSS_ENTROPY || node.op == QM_OP_BALANCE
          || node.op == QM_OP_PIXEL_LOSS || node.op == QM_OP_NOISE_LOSS
          || node.op == QM_OP_TEACHER_LOSS || node.op == QM_OP_SPREAD_LOSS
          || node.op == QM_OP_CONTRAST_LOSS;

      for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
        wanted |= is_float (graph, node.outputs[j])
                  && graph->values[node.outputs[j]].role == QM_ROLE_TEMPORARY
                  && qm_gradient_of (gradients, node.outputs[j]) != QM_NO_VALUE;
      if (!wanted)
        continue;
      if (rule == NULL)
        qm_graph_fail (graph, QM_STATUS_UNSUPPORTED,
                       "the operator %s has no gradient", qm_op_name (node.op));
      else
        rule (gradients, graph, &node);
    }
}

/* A parameter that was used like any value has a gradient like any value, which
 * has yet to be added to what passes before have left. */
static void
add_to_parameters (QmGradients *gradients)
{
  QmGraph *graph = gradients->graph;

  for (size_t i = 0; i < gradients->n_owners && graph->status == QM_OK; i++)
    {
      Owner *owner = &gradients->owners[i];
      int64_t n = qm_tensor_elements (&graph->values[i].tensor);
      QmValueId total;
      QmNode *node;

      settle_gradient (gradients, owner);
      if (owner->parameter_gradient == QM_NO_VALUE
          || owner->total == QM_NO_VALUE)
        continue;
      total = qm_graph_reshape (graph, owner->total, 2, (int64_t[]){ 1, n });
      node = qm_graph_append (graph, QM_OP_COLUMN_SUM);
      node->attributes.scale = 1;
      node->inputs[0] = total;
      node->outputs[0] =
          qm_graph_reshape (graph, owner->parameter_gradient, 1, &n);
    }
}

QmStatus
qm_graph_differentiate (QmGraph *graph,
                        QmValueId seed,
                        QmValueId seed_gradient,
                        QmError *error)
{
  QmGradients gradients = { .graph = graph, .n_owners = graph->n_values };
  size_t n_nodes = graph->n_nodes;

  gradients.owners = calloc (graph->n_values + 1, sizeof *gradients.owners);
  if (gradients.owners == NULL)
    qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
  if (graph->status == QM_OK)
    {
      for (size_t i = 0; i < gradients.n_owners; i++)
        gradients.owners[i].total = gradients.owners[i].pending =
            gradients.owners[i].parameter_gradient = QM_NO_VALUE;
      graph->phase = QM_PHASE_BACKWARD;
      count_uses (&gradients, n_nodes);
      find_wanted (&gradients, n_nodes);
      declare_parameter_gradients (&gradients);
      qm_gradient_give (&gradients, seed, seed_gradient);
      walk_back (&gradients, n_nodes);
      add_to_parameters (&gradients);
    }
  free (gradients.owners);
  return qm_graph_status (graph, error);
}
