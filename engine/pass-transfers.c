/* SPDX-License-Identifier: Apache-2.0 */

/* A node that reads a weight of a unit reads it from a temporary that a fetch
 * fills, and a node that adds to a gradient adds to a temporary that is filled
 * with zeros before its first writer.  A product that alone makes a gradient
 * writes it to where it is sent from, rounded once as the copy of a temporary
 * would be, and with a third of its traffic.  Nodes stay in their order; a
 * transfer is two nodes, one that begins it and one that waits, so that the
 * arena knows how long the memory is not free. */

#include "engine/units.h"

#include <stdlib.h>
#include <string.h>

/* A unit that was fetched is kept if no more others are read before it is read
 * again, as from the forward to the backward pass of the last block. */
#define KEPT_OVER 2

/* Nodes between which a unit of weights is on the device. */
typedef struct Span
{
  int32_t unit;
  size_t begin; /* the node before which it begins to be fetched */
  size_t first; /* the first reader */
} Span;

/* What is known of a unit of weights while spans are found. */
typedef struct Reading
{
  int32_t span; /* the newest, or -1 */
  size_t when;  /* the last change of units at which it was read */
  size_t node;  /* that read it last */
} Reading;

typedef struct Moving
{
  QmGraph *graph;
  const QmUnits *units;
  QmType type;
  QmNode *nodes; /* as they were */
  size_t n_nodes;
  int32_t *first, *last; /* by value, of gradients: nodes that write them */
  QmValueId *twin;       /* by value, of gradients: what is written instead */
  QmValueId *buffer;     /* by unit: the gradients that are sent */
  int32_t *missing;      /* by unit: gradients that are not complete */
  QmValueId *idle;       /* gradients that are sent and that nothing adds to */
  size_t n_idle;
  QmValueId *fetched; /* by unit: where its weights are */
  int32_t sent;       /* the unit that is on its way, or QM_NO_UNIT */
  Span *spans;
  size_t n_spans, capacity, begun, reached;
} Moving;

static QmNode *
append_move (Moving *o, QmOp op, QmPhase phase)
{
  QmNode *node = qm_graph_append (o->graph, op);

  node->phase = phase;
  return node;
}

static QmNode *
append_transfer (
    Moving *o, QmOp op, QmPhase phase, QmValueId value, int32_t unit)
{
  QmNode *node = append_move (o, op, phase);

  node->attributes.unit = unit;
  if (op == QM_OP_FETCH)
    node->outputs[0] = value;
  else
    node->inputs[0] = value;
  return node;
}

static QmValueId
new_buffer (Moving *o, QmType type, int64_t n, const char *name)
{
  return qm_graph_value (o->graph, QM_ROLE_TEMPORARY, type, 1, &n, "%s", name);
}

/* The owner that an input or output belongs to, if it is one of those that
 * there were. */
static QmValueId
owner_before (const Moving *o, QmValueId value)
{
  QmValueId owner = qm_graph_owner (o->graph, value);

  return (size_t) owner < o->units->n_values ? owner : QM_NO_VALUE;
}

static int32_t
weight_unit (const Moving *o, QmValueId value)
{
  QmValueId owner = owner_before (o, value);

  return owner == QM_NO_VALUE ? QM_NO_UNIT
                              : qm_units_fetched (o->units, o->graph, owner);
}

static int32_t
gradient_unit (const Moving *o, QmValueId value)
{
  QmValueId owner = owner_before (o, value);

  return owner == QM_NO_VALUE ? QM_NO_UNIT
                              : qm_units_sent (o->units, o->graph, owner);
}

/* The view of `target` that `value` is of its owner, which is `shift` elements
 * behind its beginning. */
static QmValueId
view_in (Moving *o, QmValueId target, int64_t shift, QmValueId value)
{
  QmValue view = o->graph->values[value];

  return qm_graph_view (o->graph, target, view.tensor.rank, view.tensor.shape,
                        view.tensor.stride, shift + view.offset);
}

static bool
begin_span (Moving *o, int32_t unit, size_t node, size_t earliest)
{
  size_t before = o->n_spans > 0 ? o->spans[o->n_spans - 1].first : 0;

  if (o->n_spans == o->capacity)
    {
      size_t capacity = o->capacity * 2 + 64;
      Span *spans = realloc (o->spans, capacity * sizeof *spans);

      if (spans == NULL)
        return false;
      o->spans = spans;
      o->capacity = capacity;
    }
  o->spans[o->n_spans] = (Span){
    .unit = unit,
    .begin = before > earliest ? before : earliest,
    .first = node,
  };
  o->n_spans++;
  return true;
}

static bool
find_spans (Moving *o)
{
  Reading *readings = calloc (o->units->n_fetched + 1, sizeof *readings);
  int32_t before = QM_NO_UNIT;
  size_t changes = 0;
  bool ok = readings != NULL;

  for (size_t i = 0; ok && i < o->units->n_fetched; i++)
    readings[i].span = -1;
  for (size_t i = 0; ok && i < o->n_nodes; i++)
    for (int j = 0; ok && j < QM_OP_MAX_INPUTS; j++)
      {
        int32_t unit = weight_unit (o, o->nodes[i].inputs[j]);
        Reading *reading;

        if (unit == QM_NO_UNIT)
          continue;
        reading = &readings[unit];
        changes += unit != before;
        before = unit;
        if (reading->span < 0 || changes - reading->when > KEPT_OVER + 1)
          {
            ok = begin_span (o, unit, i,
                             reading->span < 0 ? 0 : reading->node + 1);
            reading->span = (int32_t) o->n_spans - 1;
          }
        reading->when = changes;
        reading->node = i;
      }
  free (readings);
  return ok;
}

static void
fetch_units (Moving *o, size_t node, QmPhase phase)
{
  for (; o->begun < o->n_spans && o->spans[o->begun].begin <= node; o->begun++)
    {
      int32_t unit = o->spans[o->begun].unit;
      const QmUnit *range = &o->units->list[unit];
      QmValueId value =
          new_buffer (o, o->type, range->end - range->begin, "fetched weights");

      append_transfer (o, QM_OP_FETCH, phase, value, unit);
      o->fetched[unit] = value;
    }
  for (; o->reached < o->n_spans && o->spans[o->reached].first <= node;
       o->reached++)
    {
      int32_t unit = o->spans[o->reached].unit;

      append_transfer (o, QM_OP_FETCHED, phase, o->fetched[unit], unit);
    }
}

static void
append_zero (Moving *o, QmValueId value, QmPhase phase)
{
  append_move (o, QM_OP_FILL, phase)->outputs[0] = value;
}

static QmValueId
buffer_of (Moving *o, int32_t unit)
{
  const QmUnit *range = &o->units->list[unit];

  if (o->buffer[unit] != QM_NO_VALUE)
    return o->buffer[unit];
  o->buffer[unit] =
      new_buffer (o, o->type, range->end - range->begin, "gradients to send");
  if (range->gaps)
    append_zero (o, o->buffer[unit], QM_PHASE_BACKWARD);
  return o->buffer[unit];
}

/* The part of a unit's buffer where a gradient goes, with the gap after it, so
 * that no gap is undefined. */
static QmValueId
place_in_buffer (Moving *o, QmValueId gradient, int64_t n)
{
  int32_t unit = o->units->of[gradient];
  int64_t one = 1;

  return qm_graph_view (o->graph, buffer_of (o, unit), 1, &n, &one,
                        o->units->place[gradient] - o->units->list[unit].begin);
}

/* Elements of a gradient with the gap after it. */
static int64_t
size_of (const Moving *o, QmValueId gradient)
{
  return (o->graph->values[gradient].room + QM_SLAB_ALIGNMENT - 1)
         / QM_SLAB_ALIGNMENT * QM_SLAB_ALIGNMENT;
}

/* Gets a gradient ready to be added to: in the buffer, where that is f32 as
 * well, else in a temporary of its own. */
static void
begin_gradient (Moving *o, QmValueId gradient, QmPhase phase)
{
  int64_t n = size_of (o, gradient);

  o->twin[gradient] = o->type == QM_TYPE_F32
                          ? place_in_buffer (o, gradient, n)
                          : new_buffer (o, QM_TYPE_F32, n, "gradient");
  append_zero (o, o->twin[gradient], phase);
}

/* Gradients that nothing adds to are zero, and so is what is behind the last.
 */
static void
complete_buffer (Moving *o, int32_t unit, QmPhase phase)
{
  const QmUnit *range = &o->units->list[unit];
  int64_t behind = range->end - range->used, one = 1;

  if (behind > 0)
    append_zero (o,
                 qm_graph_view (o->graph, buffer_of (o, unit), 1, &behind, &one,
                                range->used - range->begin),
                 phase);
  for (size_t i = 0; i < o->n_idle; i++)
    if (qm_units_sent (o->units, o->graph, o->idle[i]) == unit)
      append_zero (o, place_in_buffer (o, o->idle[i], size_of (o, o->idle[i])),
                   phase);
}

static void
wait_for_sent (Moving *o, QmPhase phase)
{
  if (o->sent != QM_NO_UNIT)
    append_transfer (o, QM_OP_SENT, phase, o->buffer[o->sent], o->sent);
  o->sent = QM_NO_UNIT;
}

static void
end_gradient (Moving *o, QmValueId gradient, QmPhase phase)
{
  int32_t unit = o->units->of[gradient];

  if (o->type != QM_TYPE_F32 && o->twin[gradient] != QM_NO_VALUE)
    {
      QmValueId part = place_in_buffer (o, gradient, size_of (o, gradient));
      QmNode *copy = append_move (o, QM_OP_COPY, phase);

      copy->inputs[0] = o->twin[gradient];
      copy->outputs[0] = part;
    }
  if (--o->missing[unit] > 0)
    return;
  complete_buffer (o, unit, phase);
  wait_for_sent (o, phase);
  append_transfer (o, QM_OP_SEND, phase, o->buffer[unit], unit);
  o->sent = unit;
}

static QmValueId
input_of (Moving *o, QmValueId value)
{
  int32_t unit = weight_unit (o, value);
  QmValueId owner;

  if (unit == QM_NO_UNIT || o->graph->status != QM_OK)
    return value;
  owner = o->graph->values[value].owner;
  return view_in (o, o->fetched[unit],
                  o->units->place[owner] - o->units->list[unit].begin, value);
}

static QmValueId
output_of (Moving *o, QmValueId value)
{
  QmValueId owner;

  if (gradient_unit (o, value) == QM_NO_UNIT || o->graph->status != QM_OK)
    return value;
  owner = o->graph->values[value].owner;
  return view_in (o, o->twin[owner], 0, value);
}

/* Whether a node is all that makes the gradient of a weight, which is sent in
 * the type of the node's factors. */
static bool
is_direct (const Moving *o, const QmNode *node, size_t index)
{
  const QmValue *values = o->graph->values, *dy, *dw;
  QmValueId gradient;

  if ((node->op != QM_OP_LINEAR_WEIGHT_GRAD
       && node->op != QM_OP_SCALED_WEIGHT_GRAD)
      || o->type == QM_TYPE_F32
      || gradient_unit (o, node->outputs[0]) == QM_NO_UNIT)
    return false;
  gradient = owner_before (o, node->outputs[0]);
  dy = &values[node->inputs[0]];
  dw = &values[node->outputs[0]];
  return o->first[gradient] == (int32_t) index
         && o->last[gradient] == (int32_t) index && dw->offset == 0
         && (node->op == QM_OP_SCALED_WEIGHT_GRAD
             || (dy->tensor.type == o->type
                 && values[node->inputs[1]].tensor.type == o->type
                 && node->attributes.padded <= dy->tensor.shape[1]))
         && dw->tensor.stride[0] == dw->tensor.shape[1]
         && qm_tensor_elements (&dw->tensor)
                == qm_tensor_elements (&values[gradient].tensor);
}

/* A matrix as a product of pairs takes it. */
static QmValueId
as_factor (Moving *o, QmValueId value, bool transposed)
{
  QmValue v = o->graph->values[value];
  const int64_t *shape = v.tensor.shape, *stride = v.tensor.stride;
  const int64_t shapes[] = { 1, 1, shape[transposed], shape[!transposed] };
  const int64_t strides[] = { shape[0] * stride[0], shape[0] * stride[0],
                              stride[transposed], stride[!transposed] };

  return qm_graph_view (o->graph, value, 4, shapes, strides, 0);
}

/* The place in a buffer of a matrix that a node makes as a gradient, dense;
 * what is behind it is zero. */
static QmValueId
place_of_matrix (Moving *o, const QmNode *node)
{
  QmValueId gradient = owner_before (o, node->outputs[0]);
  const QmTensor *dw = qm_graph_tensor (o->graph, node->outputs[0]);
  const int64_t shape[] = { dw->shape[0], dw->shape[1] };
  const int64_t strides[] = { dw->shape[1], 1 }, one = 1;
  const int64_t n = shape[0] * shape[1], gap = size_of (o, gradient) - n;
  QmValueId part = place_in_buffer (o, gradient, n + gap);

  if (gap > 0)
    append_zero (o, qm_graph_view (o->graph, part, 1, &gap, &one, n),
                 node->phase);
  return qm_graph_view (o->graph, part, 2, shape, strides, 0);
}

/* The same of factors in FP8. */
static void
write_scaled (Moving *o, const QmNode *node)
{
  QmValueId place = place_of_matrix (o, node);
  QmNode *product = append_move (o, QM_OP_SCALED_LINEAR, node->phase);

  for (int i = 0; i < 4; i++)
    product->inputs[i] = node->inputs[i];
  product->outputs[0] = place;
}

/* dw = dy' x where it is sent from; the bias is added up as ever. */
static void
write_gradient (Moving *o, const QmNode *node)
{
  QmValueId part;
  QmValueId dy = as_factor (o, node->inputs[0], true);
  QmValueId x = as_factor (o, node->inputs[1], false);
  const int64_t *shape = o->graph->values[node->outputs[0]].tensor.shape;
  const int64_t shapes[] = { 1, 1, shape[0], shape[1] };
  const int64_t n = shapes[2] * shapes[3];
  const int64_t strides[] = { n, n, shapes[3], 1 };
  QmNode *product;

  part = qm_graph_view (o->graph, place_of_matrix (o, node), 4, shapes, strides,
                        0);
  product = append_move (o, QM_OP_MATMUL, node->phase);
  product->inputs[0] = dy;
  product->inputs[1] = x;
  product->outputs[0] = part;
  product->attributes.scale = 1;
  product->attributes.tf32 = node->attributes.tf32;
  product->attributes.deterministic = node->attributes.deterministic;
  if (node->outputs[1] != QM_NO_VALUE)
    {
      QmNode *sum = append_move (o, QM_OP_COLUMN_SUM, node->phase);

      sum->inputs[0] = node->inputs[0];
      sum->outputs[0] = output_of (o, node->outputs[1]);
      sum->attributes.scale = 1;
      sum->attributes.deterministic = node->attributes.deterministic;
    }
}

static void
rewrite_node (Moving *o, size_t index)
{
  QmNode node = o->nodes[index];
  const bool direct = is_direct (o, &node, index);
  QmNode *appended;

  fetch_units (o, index, node.phase);
  for (int i = direct; i < QM_OP_MAX_OUTPUTS; i++)
    if (gradient_unit (o, node.outputs[i]) != QM_NO_UNIT)
      {
        QmValueId owner = owner_before (o, node.outputs[i]);

        if (o->first[owner] == (int32_t) index && o->twin[owner] == QM_NO_VALUE)
          begin_gradient (o, owner, node.phase);
      }
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    node.inputs[i] = input_of (o, node.inputs[i]);
  if (direct && node.op == QM_OP_SCALED_WEIGHT_GRAD)
    write_scaled (o, &node);
  else if (direct)
    write_gradient (o, &node);
  else
    {
      for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
        node.outputs[i] = output_of (o, node.outputs[i]);
      appended = qm_graph_append (o->graph, node.op);
      *appended = node;
    }
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (gradient_unit (o, o->nodes[index].outputs[i]) != QM_NO_UNIT)
      {
        QmValueId owner = owner_before (o, o->nodes[index].outputs[i]);

        if (o->last[owner] != (int32_t) index)
          continue;
        o->last[owner] = -1;
        end_gradient (o, owner, node.phase);
      }
}

static void
find_writers (Moving *o)
{
  for (size_t i = 0; i < o->units->n_values; i++)
    o->first[i] = o->last[i] = -1;
  for (size_t i = 0; i < o->n_nodes; i++)
    for (int j = 0; j < QM_OP_MAX_OUTPUTS; j++)
      if (gradient_unit (o, o->nodes[i].outputs[j]) != QM_NO_UNIT)
        {
          QmValueId owner = owner_before (o, o->nodes[i].outputs[j]);

          if (o->first[owner] < 0)
            {
              o->first[owner] = (int32_t) i;
              o->missing[o->units->of[owner]]++;
            }
          o->last[owner] = (int32_t) i;
        }
  for (size_t i = 0; i < o->units->n_values; i++)
    if (o->first[i] < 0
        && qm_units_sent (o->units, o->graph, (QmValueId) i) != QM_NO_UNIT)
      o->idle[o->n_idle++] = (QmValueId) i;
}

static bool
begin_moving (Moving *o, QmGraph *graph, const QmUnits *units, QmType type)
{
  size_t n = units->n_values + 1, n_units = units->n + 1;

  *o = (Moving){
    .graph = graph,
    .units = units,
    .type = type,
    .nodes = graph->nodes,
    .n_nodes = graph->n_nodes,
    .first = malloc (n * sizeof *o->first),
    .last = malloc (n * sizeof *o->last),
    .twin = malloc (n * sizeof *o->twin),
    .idle = malloc (n * sizeof *o->idle),
    .buffer = malloc (n_units * sizeof *o->buffer),
    .missing = calloc (n_units, sizeof *o->missing),
    .fetched = malloc (n_units * sizeof *o->fetched),
    .sent = QM_NO_UNIT,
  };
  graph->nodes = NULL;
  graph->n_nodes = graph->nodes_capacity = 0;
  if (o->first == NULL || o->last == NULL || o->twin == NULL || o->idle == NULL
      || o->buffer == NULL || o->missing == NULL || o->fetched == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    o->twin[i] = QM_NO_VALUE;
  for (size_t i = 0; i < n_units; i++)
    o->buffer[i] = QM_NO_VALUE;
  find_writers (o);
  return find_spans (o);
}

static void
end_moving (Moving *o)
{
  free (o->nodes);
  free (o->first);
  free (o->last);
  free (o->twin);
  free (o->idle);
  free (o->buffer);
  free (o->missing);
  free (o->fetched);
  free (o->spans);
}

QmStatus
qm_pass_transfers (QmGraph *graph,
                   const QmUnits *units,
                   QmType type,
                   QmError *error)
{
  Moving o;

  if (graph->status != QM_OK)
    return qm_graph_status (graph, error);
  graph->block = 0;
  if (begin_moving (&o, graph, units, type))
    {
      for (size_t i = 0; i < o.n_nodes && graph->status == QM_OK; i++)
        rewrite_node (&o, i);
      wait_for_sent (&o, QM_PHASE_BACKWARD);
    }
  else
    qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
  end_moving (&o);
  return qm_graph_status (graph, error);
}
