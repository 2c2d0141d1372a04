/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No graph that is built is larger: 2^12 layers of 2^9 nodes. */
#define MAX_NODES  (INT64_C (1) << 22)
#define MAX_VALUES (INT64_C (1) << 24)

/* Elements of an owner: so few that the bytes of all of them together cannot
 * overflow. */
#define MAX_ELEMENTS (INT64_C (1) << 38)

/* Bytes of a name. */
#define MAX_NAME 192

QmGraph *
qm_graph_new (void)
{
  QmGraph *graph = calloc (1, sizeof *graph);

  if (graph == NULL)
    return NULL;
  graph->ids = graph->types = graph->labels = graph->pixels = QM_NO_VALUE;
  graph->noise = graph->local_pixels = QM_NO_VALUE;
  graph->times = QM_NO_VALUE;
  graph->resizing.value = QM_NO_VALUE;
  graph->diffusion.schedule = graph->diffusion.waves = QM_NO_VALUE;
  for (int i = 0; i < QM_GRAPH_TABLES; i++)
    graph->tables[i].value = QM_NO_VALUE;
  for (int i = 0; i < QM_GRAPH_ROTARIES; i++)
    graph->rotary[i].value = QM_NO_VALUE;
  graph->rng = graph->state = QM_NO_VALUE;
  graph->loss = graph->logits = QM_NO_VALUE;
  return graph;
}

void
qm_graph_free (QmGraph *graph)
{
  if (graph == NULL)
    return;
  free (graph->values);
  free (graph->nodes);
  free (graph->parameters);
  qm_pool_clear (&graph->strings);
  free (graph);
}

/* So many entries with room for half as many more. */
static void *
copy_entries (const void *entries, size_t n, size_t size, size_t *capacity)
{
  void *copy;

  *capacity = n + n / 2 + 256;
  copy = malloc (*capacity * size);
  if (copy != NULL && n > 0)
    memcpy (copy, entries, n * size);
  return copy;
}

QmGraph *
qm_graph_copy (const QmGraph *graph)
{
  QmGraph *copy = malloc (sizeof *copy);

  if (copy == NULL)
    return NULL;
  *copy = *graph;
  copy->strings = (QmPool){ NULL };
  copy->values = copy_entries (graph->values, graph->n_values,
                               sizeof *copy->values, &copy->values_capacity);
  copy->nodes = copy_entries (graph->nodes, graph->n_nodes, sizeof *copy->nodes,
                              &copy->nodes_capacity);
  copy->parameters =
      copy_entries (graph->parameters, graph->n_parameters,
                    sizeof *copy->parameters, &copy->parameters_capacity);
  if (copy->values != NULL && copy->nodes != NULL && copy->parameters != NULL)
    return copy;
  qm_graph_free (copy);
  return NULL;
}

int64_t
qm_graph_classes (const QmGraph *graph)
{
  return graph->classes > 0 ? graph->classes
                            : graph->values[graph->logits].tensor.shape[1];
}

QmStatus
qm_graph_status (const QmGraph *graph, QmError *error)
{
  if (graph->status != QM_OK && error != NULL)
    *error = graph->error;
  return graph->status;
}

void
qm_graph_fail (QmGraph *graph, QmStatus status, const char *format, ...)
{
  char message[sizeof graph->error.message];
  va_list arguments;

  if (graph->status != QM_OK)
    return;
  va_start (arguments, format);
  vsnprintf (message, sizeof message, format, arguments);
  va_end (arguments);
  graph->status = qm_error_set (&graph->error, status, "", 0, 0, "%s", message);
}

static void
fail_for_memory (QmGraph *graph)
{
  qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
}

/* Makes room for one more entry; returns the array, or NULL after remembering
 * the mistake. */
static void *
grow (QmGraph *graph, void *array, size_t n, size_t *capacity, size_t size)
{
  size_t wanted = *capacity * 2 + 256;
  void *larger;

  if (n < *capacity)
    return array;
  larger = realloc (array, wanted * size);
  if (larger == NULL)
    {
      fail_for_memory (graph);
      return NULL;
    }
  *capacity = wanted;
  return larger;
}

static QmValueId
append_value (QmGraph *graph, const QmValue *value)
{
  QmValue *values;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  if (graph->n_values >= MAX_VALUES)
    qm_graph_fail (graph, QM_STATUS_UNSUPPORTED, "the model is too large");
  values = grow (graph, graph->values, graph->n_values, &graph->values_capacity,
                 sizeof *values);
  if (values == NULL)
    return QM_NO_VALUE;
  graph->values = values;
  values[graph->n_values] = *value;
  if (value->owner == QM_NO_VALUE)
    values[graph->n_values].owner = (QmValueId) graph->n_values;
  return (QmValueId) graph->n_values++;
}

/* Number of elements, or -1 where the shape is none. */
static int64_t
count_elements (int32_t rank, const int64_t *shape)
{
  int64_t count = 1;

  if (rank < 1 || rank > QM_MAX_RANK)
    return -1;
  for (int32_t i = 0; i < rank; i++)
    {
      if (shape[i] < 1 || shape[i] > MAX_ELEMENTS / count)
        return -1;
      count *= shape[i];
    }
  return count;
}

/* A new owner, dense, of that name. */
static QmValueId
new_owner (QmGraph *graph,
           QmRole role,
           QmType type,
           int32_t rank,
           const int64_t *shape,
           const char *name)
{
  QmValue value = { .owner = QM_NO_VALUE,
                    .role = role,
                    .teacher = QM_NO_VALUE,
                    .block = graph->block };

  value.name = qm_pool_string (&graph->strings, name);
  value.room = count_elements (rank, shape);
  if (value.name == NULL)
    fail_for_memory (graph);
  if (value.room < 0)
    qm_graph_fail (graph, QM_STATUS_UNSUPPORTED, "%s is too large", name);
  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  value.tensor = qm_tensor_dense (type, rank, shape, NULL);
  return append_value (graph, &value);
}

QmValueId
qm_graph_value (QmGraph *graph,
                QmRole role,
                QmType type,
                int32_t rank,
                const int64_t *shape,
                const char *name,
                ...)
{
  char text[MAX_NAME];
  va_list arguments;

  va_start (arguments, name);
  vsnprintf (text, sizeof text, name, arguments);
  va_end (arguments);
  return new_owner (graph, role, type, rank, shape, text);
}

QmValueId
qm_graph_padded_columns (QmGraph *graph,
                         QmRole role,
                         QmType type,
                         int64_t rows,
                         int64_t columns,
                         int64_t padded,
                         const char *name)
{
  QmValueId id = qm_graph_value (graph, role, type, 2,
                                 (int64_t[]){ rows, padded }, "%s", name);

  if (id != QM_NO_VALUE)
    graph->values[id].tensor.shape[1] = columns;
  return id;
}

/* Appends to a name what fits into it; half of all values are called after
 * others, for which printf() would take longer than all else.  Returns its end.
 */
static char *
append_to_name (char *end, const char *name, const char *text)
{
  size_t room = MAX_NAME - 1 - (size_t) (end - name), length = strlen (text);

  length = length < room ? length : room;
  memcpy (end, text, length);
  end[length] = '\0';
  return end + length;
}

QmValueId
qm_graph_like_owner (
    QmGraph *graph, QmValueId owner, QmRole role, QmType type, const char *what)
{
  char name[MAX_NAME] = "";
  QmTensor tensor;
  int64_t room;
  QmValueId id;

  if (graph->status != QM_OK || owner == QM_NO_VALUE)
    return QM_NO_VALUE;
  tensor = graph->values[owner].tensor;
  room = graph->values[owner].room;
  append_to_name (append_to_name (append_to_name (name, name, what), name, " "),
                  name, graph->values[owner].name);
  id = new_owner (graph, role, type, tensor.rank, tensor.shape, name);
  if (id != QM_NO_VALUE)
    {
      tensor.type = type;
      graph->values[id].tensor = tensor;
      graph->values[id].room = room;
    }
  return id;
}

QmValueId
qm_graph_owner (const QmGraph *graph, QmValueId value)
{
  return value == QM_NO_VALUE ? QM_NO_VALUE : graph->values[value].owner;
}

QmValueId
qm_graph_same_part (QmGraph *graph, QmValueId target, QmValueId view)
{
  QmValue value;

  if (graph->status != QM_OK || target == QM_NO_VALUE)
    return QM_NO_VALUE;
  if (graph->values[view].owner == view)
    return target;
  value = graph->values[view];
  return qm_graph_view (graph, target, value.tensor.rank, value.tensor.shape,
                        value.tensor.stride, value.offset);
}

QmValueId
qm_graph_teacher (QmGraph *graph, QmValueId value)
{
  QmValueId owner, teacher;

  if (graph->status != QM_OK || value == QM_NO_VALUE)
    return QM_NO_VALUE;
  owner = graph->values[value].owner;
  teacher = graph->values[owner].teacher;
  if (teacher == QM_NO_VALUE)
    {
      teacher =
          qm_graph_like_owner (graph, owner, QM_ROLE_TEACHER,
                               graph->values[owner].tensor.type, "teacher's");
      if (teacher == QM_NO_VALUE)
        return QM_NO_VALUE;
      graph->values[owner].teacher = teacher;
    }
  return qm_graph_same_part (graph, teacher, value);
}

QmValueId
qm_graph_view (QmGraph *graph,
               QmValueId id,
               int32_t rank,
               const int64_t *shape,
               const int64_t *stride,
               int64_t offset)
{
  QmValue view;
  int64_t last;

  if (graph->status != QM_OK || id == QM_NO_VALUE)
    return QM_NO_VALUE;
  view = graph->values[id];
  view.offset += offset;
  last = view.offset;
  view.tensor.rank = rank;
  for (int32_t i = 0; i < rank; i++)
    {
      view.tensor.shape[i] = shape[i];
      view.tensor.stride[i] = stride[i];
      last += (shape[i] - 1) * stride[i];
    }
  if (count_elements (rank, shape) < 0
      || last >= graph->values[view.owner].room)
    {
      qm_graph_fail (graph, QM_STATUS_INVALID, "a view of %s is outside of it",
                     view.name);
      return QM_NO_VALUE;
    }
  view.room = 0;
  return append_value (graph, &view);
}

QmValueId
qm_graph_reshape (QmGraph *graph,
                  QmValueId id,
                  int32_t rank,
                  const int64_t *shape)
{
  QmTensor dense;

  if (graph->status != QM_OK || id == QM_NO_VALUE)
    return QM_NO_VALUE;
  dense = qm_tensor_dense (QM_TYPE_F32, rank, shape, NULL);
  if (!qm_tensor_is_dense (qm_graph_tensor (graph, id))
      || qm_tensor_elements (&dense)
             != qm_tensor_elements (qm_graph_tensor (graph, id)))
    {
      qm_graph_fail (graph, QM_STATUS_INVALID, "%s does not have that shape",
                     graph->values[id].name);
      return QM_NO_VALUE;
    }
  return qm_graph_view (graph, id, rank, shape, dense.stride, 0);
}

void
qm_graph_parameter (QmGraph *graph,
                    QmValueId value,
                    QmInitial initial,
                    const char *name,
                    const char *alias)
{
  QmParameter *parameters;
  QmParameter parameter = { .value = value,
                            .gradient = QM_NO_VALUE,
                            .initial = initial };

  if (graph->status != QM_OK || value == QM_NO_VALUE)
    return;
  parameters = grow (graph, graph->parameters, graph->n_parameters,
                     &graph->parameters_capacity, sizeof *parameters);
  parameter.name = qm_pool_string (&graph->strings, name);
  parameter.alias =
      alias != NULL ? qm_pool_string (&graph->strings, alias) : NULL;
  if (parameters != NULL)
    graph->parameters = parameters;
  if (parameters == NULL || parameter.name == NULL
      || (alias != NULL && parameter.alias == NULL))
    {
      fail_for_memory (graph);
      return;
    }
  parameters[graph->n_parameters++] = parameter;
}

void
qm_graph_both_names (QmGraph *graph)
{
  if (graph->status == QM_OK)
    graph->parameters[graph->n_parameters - 1].both = true;
}

void
qm_graph_transposed (QmGraph *graph)
{
  if (graph->status == QM_OK)
    graph->parameters[graph->n_parameters - 1].transposed = true;
}

void
qm_graph_scalar (QmGraph *graph)
{
  if (graph->status == QM_OK)
    graph->parameters[graph->n_parameters - 1].scalar = true;
}

void
qm_graph_packed (QmGraph *graph, const char *name)
{
  QmParameter *newest;

  if (graph->status != QM_OK || graph->n_parameters == 0)
    return;
  newest = &graph->parameters[graph->n_parameters - 1];
  newest->packed = qm_pool_string (&graph->strings, name);
  if (newest->packed == NULL)
    fail_for_memory (graph);
}

void
qm_graph_initial (QmGraph *graph,
                  QmInitial initial,
                  const double amounts[QM_INITIAL_AMOUNTS])
{
  QmParameter *newest;

  if (graph->status != QM_OK || graph->n_parameters == 0)
    return;
  newest = &graph->parameters[graph->n_parameters - 1];
  newest->initial = initial;
  memcpy (newest->amounts, amounts, sizeof newest->amounts);
}

static void
clear_node (QmNode *node, QmOp op, QmPhase phase)
{
  memset (node, 0, sizeof *node);
  node->op = op;
  node->phase = phase;
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    node->inputs[i] = QM_NO_VALUE;
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    node->outputs[i] = QM_NO_VALUE;
}

QmNode *
qm_graph_append (QmGraph *graph, QmOp op)
{
  QmNode *nodes = NULL;

  if (graph->n_nodes >= MAX_NODES)
    qm_graph_fail (graph, QM_STATUS_UNSUPPORTED, "the model is too large");
  if (graph->status == QM_OK)
    nodes = grow (graph, graph->nodes, graph->n_nodes, &graph->nodes_capacity,
                  sizeof *nodes);
  if (nodes == NULL)
    {
      clear_node (&graph->nowhere, op, graph->phase);
      return &graph->nowhere;
    }
  graph->nodes = nodes;
  clear_node (&nodes[graph->n_nodes], op, graph->phase);
  return &nodes[graph->n_nodes++];
}

void
qm_graph_begin_block (QmGraph *graph)
{
  graph->block = ++graph->blocks;
}

void
qm_graph_end_block (QmGraph *graph, QmValueId output)
{
  graph->block = 0;
  if (graph->status == QM_OK && output != QM_NO_VALUE)
    graph->values[graph->values[output].owner].block = 0;
}

uint32_t
qm_graph_site (QmGraph *graph)
{
  return ++graph->sites;
}

bool
qm_graph_same_view (const QmGraph *graph, QmValueId a, QmValueId b)
{
  const QmValue *x, *y;

  if (a == b)
    return true;
  if (a == QM_NO_VALUE || b == QM_NO_VALUE)
    return false;
  x = &graph->values[a];
  y = &graph->values[b];
  return x->owner == y->owner && x->offset == y->offset
         && x->tensor.type == y->tensor.type
         && qm_tensor_same_strides (&x->tensor, &y->tensor);
}

QmValueId
qm_graph_turned (QmGraph *graph, QmValueId matrices)
{
  QmTensor t;

  if (graph->status != QM_OK || matrices == QM_NO_VALUE)
    return QM_NO_VALUE;
  t = *qm_graph_tensor (graph, matrices);
  return qm_graph_view (
      graph, matrices, 4,
      (int64_t[]){ t.shape[0], t.shape[1], t.shape[3], t.shape[2] },
      (int64_t[]){ t.stride[0], t.stride[1], t.stride[3], t.stride[2] }, 0);
}

QmValueId
qm_graph_like (
    QmGraph *graph, QmValueId id, QmRole role, QmType type, const char *name)
{
  if (graph->status != QM_OK || id == QM_NO_VALUE)
    return QM_NO_VALUE;
  return new_owner (graph, role, type, graph->values[id].tensor.rank,
                    graph->values[id].tensor.shape, name);
}

void
qm_graph_call (const QmGraph *graph, const QmNode *node, QmOpCall *call)
{
  memset (call, 0, sizeof *call);
  call->op = node->op;
  call->attributes = node->attributes;
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (node->inputs[i] != QM_NO_VALUE)
      call->inputs[i] = graph->values[node->inputs[i]].tensor;
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (node->outputs[i] != QM_NO_VALUE)
      call->outputs[i] = graph->values[node->outputs[i]].tensor;
}

static QmStatus
check_node (const QmGraph *graph,
            const QmNode *node,
            char *written,
            QmError *error)
{
  QmOpCall call;
  QmStatus status;

  qm_graph_call (graph, node, &call);
  status = qm_op_check (&call, error);
  if (status != QM_OK)
    return status;
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (node->inputs[i] != QM_NO_VALUE
        && !written[graph->values[node->inputs[i]].owner])
      return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                           "%s reads %s, which nothing wrote",
                           qm_op_name (node->op),
                           graph->values[node->inputs[i]].name);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (node->outputs[i] != QM_NO_VALUE)
      written[graph->values[node->outputs[i]].owner] = 1;
  return QM_OK;
}

QmStatus
qm_graph_check (const QmGraph *graph, QmError *error)
{
  QmStatus status = qm_graph_status (graph, error);
  char *written = calloc (graph->n_values + 1, 1);

  if (written == NULL)
    status = qm_error_no_memory (error);
  for (size_t i = 0; status == QM_OK && i < graph->n_values; i++)
    written[i] = graph->values[i].role != QM_ROLE_TEMPORARY;
  for (size_t i = 0; status == QM_OK && i < graph->n_nodes; i++)
    status = check_node (graph, &graph->nodes[i], written, error);
  free (written);
  return status;
}
