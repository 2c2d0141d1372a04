/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/weights.h"

#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter as it is in a file. */
typedef struct Source
{
  QmWeightSource from;
  const QmStoredTensor *other; /* the same under another name, or NULL */
} Source;

/* What TensorFlow called weight and bias of norms, as the first files of BERT
 * have it.  NULL: this is none. */
static const QmStoredTensor *
find_old_norm (const QmSafetensors *file, const char *name)
{
  static const char *const endings[][2] = {
    { "LayerNorm.weight", "LayerNorm.gamma" },
    { "LayerNorm.bias", "LayerNorm.beta" },
  };
  size_t length = strlen (name);
  char old[256];

  for (size_t i = 0; i < 2; i++)
    {
      size_t end = strlen (endings[i][0]);

      if (length >= end && length < sizeof old
          && strcmp (name + length - end, endings[i][0]) == 0)
        {
          snprintf (old, sizeof old, "%.*s%s", (int) (length - end), name,
                    endings[i][1]);
          return qm_safetensors_find (file, old);
        }
    }
  return NULL;
}

/* GPT-2's files of old do not have the name of what is around the model. */
static const QmStoredTensor *
find_bare (const QmSafetensors *file, const char *name)
{
  static const char prefix[] = "transformer.";
  size_t length = sizeof prefix - 1;

  return strncmp (name, prefix, length) == 0
             ? qm_safetensors_find (file, name + length)
             : NULL;
}

/* Layers of the decoder of MAE, as Transformers 5 writes them: what it does to
 * the names of an encoder's layers happens to these, too. */
static const QmStoredTensor *
find_decoder (const QmSafetensors *file, const char *name)
{
  static const char ours[] = "decoder.decoder_layers.";
  char other[256];

  if (strncmp (name, ours, sizeof ours - 1) != 0)
    return NULL;
  snprintf (other, sizeof other, "decoder.decoder_encoder.layer.%s",
            name + sizeof ours - 1);
  return qm_safetensors_find (file, other);
}

/* The shape of a parameter in files. */
static QmTensor
shape_in_files (const QmGraph *graph, const QmParameter *parameter)
{
  QmTensor shape = *qm_graph_tensor (graph, parameter->value);
  int64_t rows = shape.shape[0];

  if (parameter->transposed)
    {
      shape.shape[0] = shape.shape[1];
      shape.shape[1] = rows;
    }
  if (parameter->scalar)
    shape.rank = 0;
  return shape;
}

QmStatus
qm_weights_transpose (int64_t rows,
                      int64_t columns,
                      float *values,
                      QmError *error)
{
  size_t bytes = (size_t) (rows * columns) * sizeof *values;
  float *copy = malloc (bytes);

  if (copy == NULL)
    return qm_error_no_memory (error);
  memcpy (copy, values, bytes);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      values[j * rows + i] = copy[i * columns + j];
  free (copy);
  return QM_OK;
}

/* A parameter that is a part of a larger tensor; false where there is none. */
static bool
find_packed (const QmGraph *graph,
             const QmParameter *parameter,
             const QmSafetensors *file,
             QmWeightSource *from)
{
  const QmValue *value = &graph->values[parameter->value];
  const QmTensor *owner = qm_graph_tensor (graph, value->owner);
  const QmStoredTensor *whole =
      parameter->packed != NULL ? qm_safetensors_find (file, parameter->packed)
                                : NULL;
  uint64_t each;

  if (whole == NULL || !qm_stored_has_shape (whole, owner->rank, owner->shape))
    return false;
  each = whole->bytes / (uint64_t) whole->elements;
  *from = (QmWeightSource){ whole, *whole };
  from->part.name = parameter->name;
  from->part.rank = value->tensor.rank;
  memset (from->part.shape, 0, sizeof from->part.shape);
  memcpy (from->part.shape, value->tensor.shape,
          (size_t) value->tensor.rank * sizeof from->part.shape[0]);
  from->part.elements = qm_tensor_elements (&value->tensor);
  from->part.begin += (uint64_t) value->offset * each;
  from->part.bytes = (uint64_t) from->part.elements * each;
  return true;
}

static QmStatus
find_source (const QmGraph *graph,
             const QmParameter *parameter,
             QmSafetensors *file,
             const char *path,
             Source *source,
             QmError *error)
{
  QmTensor shape = shape_in_files (graph, parameter);
  const QmStoredTensor *found[] = {
    qm_safetensors_find (file, parameter->name),
    parameter->alias != NULL ? qm_safetensors_find (file, parameter->alias)
                             : NULL,
    find_old_norm (file, parameter->name),
    find_bare (file, parameter->name),
    find_decoder (file, parameter->name),
  };

  *source = (Source){ .other = NULL };
  for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
    if (found[i] != NULL && source->from.whole == NULL)
      source->from.whole = found[i];
    else if (found[i] != NULL)
      source->other = found[i];
  if (source->from.whole != NULL)
    source->from.part = *source->from.whole;
  else if (!find_packed (graph, parameter, file, &source->from))
    return qm_error_set (error, QM_STATUS_NOT_FOUND, path, 0, 0,
                         "there is no tensor '%s'", parameter->name);
  if (!qm_stored_has_shape (&source->from.part, shape.rank, shape.shape)
      || (source->other != NULL
          && !qm_stored_has_shape (source->other, shape.rank, shape.shape)))
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "tensor '%.100s' does not have the shape that the "
                         "configuration says",
                         source->from.part.name);
  return QM_OK;
}

/* Reads a tensor into new memory; numbers that are none would only become known
 * as a loss that is none. */
static QmStatus
read_values (QmSafetensors *file,
             const QmStoredTensor *stored,
             const char *path,
             float **values,
             QmError *error)
{
  QmStatus status;

  *values = malloc ((size_t) (stored->elements + 1) * sizeof **values);
  if (*values == NULL)
    return qm_error_no_memory (error);
  status = qm_safetensors_read_floats (file, stored, *values, error);
  for (int64_t i = 0; i < stored->elements && status == QM_OK; i++)
    if (!isfinite ((*values)[i]))
      status =
          qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                        "tensor '%.100s': element %lld is %s", stored->name,
                        (long long) i,
                        isnan ((*values)[i]) ? "not a number" : "infinite");
  return status;
}

/* Refuses two tensors that are the same parameter, and do not agree. */
static QmStatus
check_other (QmSafetensors *file,
             const Source *source,
             const float *values,
             const char *path,
             QmError *error)
{
  size_t bytes = (size_t) source->from.part.elements * sizeof *values;
  float *others;
  QmStatus status = read_values (file, source->other, path, &others, error);

  if (status == QM_OK && memcmp (values, others, bytes) != 0)
    status = qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                           "tensors '%.80s' and '%.80s' are the same "
                           "parameter, and differ",
                           source->from.part.name, source->other->name);
  free (others);
  return status;
}

static QmStatus
load_parameter (const QmParameter *parameter,
                QmExecutor *executor,
                QmSafetensors *file,
                const Source *source,
                const char *path,
                QmError *error)
{
  float *values;
  QmStatus status =
      read_values (file, &source->from.part, path, &values, error);

  /* What is there twice may be two where the head is not tied, of which the
   * one that is read counts. */
  if (status == QM_OK && source->other != NULL && !parameter->both)
    status = check_other (file, source, values, path, error);
  if (status == QM_OK && parameter->transposed)
    status = qm_weights_transpose (source->from.part.shape[0],
                                   source->from.part.shape[1], values, error);
  if (status == QM_OK)
    status =
        qm_executor_write_floats (executor, parameter->value, values, error);
  free (values);
  return status;
}

const QmTable *
qm_weights_table (const QmGraph *graph, const char *name)
{
  for (int i = 0; i < QM_GRAPH_TABLES; i++)
    if (graph->tables[i].value != QM_NO_VALUE
        && strcmp (graph->tables[i].name, name) == 0)
      return &graph->tables[i];
  return NULL;
}

/* The shape of a table in files. */
static void
table_shape (const QmGraph *graph, const QmTable *table, int64_t shape[3])
{
  const QmTensor *tensor = qm_graph_tensor (graph, table->value);

  shape[0] = 1;
  shape[1] = tensor->shape[0];
  shape[2] = tensor->shape[1];
}

static QmStatus
load_table (const QmGraph *graph,
            const QmTable *table,
            QmExecutor *executor,
            QmSafetensors *file,
            const char *path,
            QmError *error)
{
  const QmStoredTensor *stored = table->value != QM_NO_VALUE
                                     ? qm_safetensors_find (file, table->name)
                                     : NULL;
  int64_t shape[3];
  float *values;
  QmStatus status;

  if (stored == NULL)
    return QM_OK;
  table_shape (graph, table, shape);
  if (!qm_stored_has_shape (stored, 3, shape))
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "tensor '%.100s' does not have the shape that the "
                         "configuration says",
                         stored->name);
  status = read_values (file, stored, path, &values, error);
  if (status == QM_OK)
    status = qm_executor_write_floats (executor, table->value, values, error);
  free (values);
  return status;
}

QmStatus
qm_weights_load (const QmPlan *plan,
                 QmExecutor *executor,
                 QmSafetensors *file,
                 const char *path,
                 QmWeightSource *from,
                 QmError *error)
{
  const QmGraph *graph = plan->graph;
  Source *sources = calloc (graph->n_parameters + 1, sizeof *sources);
  QmStatus status = sources != NULL ? QM_OK : qm_error_no_memory (error);

  for (size_t i = 0; i < graph->n_parameters && status == QM_OK; i++)
    {
      status = find_source (graph, &graph->parameters[i], file, path,
                            &sources[i], error);
      if (from != NULL)
        from[i] = sources[i].from;
    }
  for (size_t i = 0; i < graph->n_parameters && status == QM_OK; i++)
    status = load_parameter (&graph->parameters[i], executor, file, &sources[i],
                             path, error);
  for (int i = 0; i < QM_GRAPH_TABLES && status == QM_OK; i++)
    status = load_table (graph, &graph->tables[i], executor, file, path, error);
  if (status == QM_OK)
    status = qm_executor_teach (executor, error);
  free (sources);
  return status;
}

/* What is written: tensors, and the parameter of each, NULL of tables. */
typedef struct Output
{
  const QmGraph *graph;
  QmExecutor *executor;
  bool averaged;
  QmTensorToStore *tensors;
  const QmParameter **parameters;
  size_t n;
} Output;

static void
add_tensor (Output *output, const QmParameter *parameter, const char *name)
{
  QmTensor shape = shape_in_files (output->graph, parameter);
  QmTensorToStore *tensor = &output->tensors[output->n];

  tensor->name = name;
  tensor->rank = shape.rank;
  memcpy (tensor->shape, shape.shape,
          (size_t) shape.rank * sizeof shape.shape[0]);
  output->parameters[output->n++] = parameter;
}

static void
add_tables (Output *output)
{
  for (int i = 0; i < QM_GRAPH_TABLES; i++)
    {
      const QmTable *table = &output->graph->tables[i];
      QmTensorToStore *tensor = &output->tensors[output->n];

      if (table->value == QM_NO_VALUE)
        continue;
      tensor->name = table->name;
      tensor->rank = 3;
      table_shape (output->graph, table, tensor->shape);
      output->parameters[output->n++] = NULL;
    }
}

static QmStatus
give_tensor (void *data, size_t index, float *to, QmError *error)
{
  const Output *output = data;
  const QmParameter *parameter = output->parameters[index];
  const QmTensor *shape;
  QmStatus status;

  if (parameter == NULL)
    return qm_executor_read_floats (
        output->executor,
        qm_weights_table (output->graph, output->tensors[index].name)->value,
        to, error);
  shape = qm_graph_tensor (output->graph, parameter->value);
  if (output->averaged)
    status = qm_executor_read_average (
        output->executor, (size_t) (parameter - output->graph->parameters), to,
        error);
  else
    status =
        qm_executor_read_floats (output->executor, parameter->value, to, error);
  return status == QM_OK && parameter->transposed
             ? qm_weights_transpose (shape->shape[0], shape->shape[1], to,
                                     error)
             : status;
}

/* Of a rank that writes nothing: what it has goes to the one that does. */
static QmStatus
give_tensors (Output *output, QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < output->n && status == QM_OK; i++)
    {
      const QmTensor *shape;
      float *values;

      if (output->parameters[i] == NULL)
        continue;
      shape = qm_graph_tensor (output->graph, output->parameters[i]->value);
      values = malloc ((size_t) qm_tensor_elements (shape) * sizeof *values);

      status = values != NULL ? give_tensor (output, i, values, error)
                              : qm_error_no_memory (error);
      free (values);
    }
  return status;
}

QmStatus
qm_weights_save (const QmPlan *plan,
                 QmExecutor *executor,
                 bool averaged,
                 const char *path,
                 QmError *error)
{
  const QmGraph *graph = plan->graph;
  size_t most = 2 * graph->n_parameters + QM_GRAPH_TABLES + 1;
  Output output = { .graph = graph,
                    .executor = executor,
                    .averaged = averaged };
  QmStatus status;

  output.tensors = calloc (most, sizeof *output.tensors);
  output.parameters = calloc (most, sizeof (const QmParameter *));
  if (output.tensors != NULL && output.parameters != NULL)
    {
      for (size_t i = 0; i < graph->n_parameters; i++)
        {
          const QmParameter *parameter = &graph->parameters[i];

          add_tensor (&output, parameter, parameter->name);
          if (parameter->both)
            add_tensor (&output, parameter, parameter->alias);
        }
      add_tables (&output);
      status = plan->options.rank == 0
                   ? qm_safetensors_write (path, output.tensors, output.n,
                                           give_tensor, &output, error)
                   : give_tensors (&output, error);
    }
  else
    status = qm_error_no_memory (error);
  free (output.tensors);
  free (output.parameters);
  return status;
}
