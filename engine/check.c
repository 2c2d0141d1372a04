/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/check.h"

#include "data/family.h"
#include "engine/executor.h"
#include "engine/safetensors.h"
#include "engine/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Halvings of the loss scale until gradients in fp16 are finite. */
#define MAX_TRIES 32

typedef struct Check
{
  const QmCheckOptions *options;
  QmDevice *device;
  QmSafetensors *weights, *batch;
  QmRecipe recipe;
  QmModelConfig config;
  QmPlan *plan;
  QmExecutor *executor;
  QmWeightSource *stored; /* by parameter */
  float scale;
  QmCheckResult *result;
} Check;

/* Images of a sample. */
static int64_t
images_of (const QmModelConfig *config)
{
  return qm_model_has_teacher (config) ? QM_DINO_GLOBAL_CROPS : 1;
}

/* A recipe of one step on the batch as it is. */
static QmStatus
describe_batch (Check *check, QmError *error)
{
  const char *file = check->options->batch;
  bool images = qm_family_has_images (check->config.family);
  const char *name = images ? "pixel_values" : "input_ids";
  const QmStoredTensor *data = qm_safetensors_find (check->batch, name);

  if (data == NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, file, 0, 0,
                         "there is no tensor '%s'", name);
  if (data->rank != (images ? 4 : 2) || data->elements == 0
      || data->shape[0] % images_of (&check->config) != 0)
    return qm_error_set (error, QM_STATUS_INVALID, file, 0, 0,
                         "tensor '%s' does not have the shape %s", name,
                         images ? "[batch, channels, height, width]"
                                : "[batch, tokens]");
  check->recipe = (QmRecipe){
    .batch_size = data->shape[0] / images_of (&check->config),
    .steps = 1,
    .sequence_length = images ? 0 : data->shape[1],
    .image_size = images ? data->shape[2] : 0,
    .precision = check->options->precision,
    .fp8 = check->options->fp8,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .dropout = NAN,
    /* Of a teacher, which begins as the student that it is checked with. */
    .ema_decay = qm_model_has_teacher (&check->config) ? 0.5 : 0,
  };
  return qm_model_apply_recipe (&check->config, &check->recipe, file, error);
}

static QmStatus
make_plan (Check *check, QmError *error)
{
  QmPlanOptions options = {
    .target = qm_device_info (check->device)->target,
    .micro_batch = check->recipe.batch_size,
    .methods = check->options->methods & ~(unsigned) QM_METHOD_TF32,
    .checkpoint = check->options->checkpoint,
    .no_dropout = true,
    .deterministic = check->options->deterministic,
    .loss_rows = check->options->loss_rows,
  };
  QmStatus status;

  if (check->options->tf32)
    options.methods |= QM_METHOD_TF32;
  status = qm_plan_new (&check->config, &check->recipe, &options, &check->plan,
                        error);
  if (status == QM_OK)
    status = qm_executor_new (check->plan, check->device, NULL, 0,
                              &check->executor, error);
  return status;
}

static void
find_unused (Check *check)
{
  const QmParameter *parameters = check->plan->graph->parameters;
  size_t n;
  const QmStoredTensor *all = qm_safetensors_all (check->weights, &n);

  for (size_t i = 0; i < n; i++)
    {
      bool used = qm_weights_table (check->plan->graph, all[i].name) != NULL;

      for (size_t j = 0; j < check->plan->graph->n_parameters && !used; j++)
        used = check->stored[j].whole == &all[i]
               || (parameters[j].alias != NULL
                   && strcmp (parameters[j].alias, all[i].name) == 0);
      if (!used && check->result->unused++ == 0)
        snprintf (check->result->first_unused,
                  sizeof check->result->first_unused, "%s", all[i].name);
    }
}

static QmStatus
load_weights (Check *check, QmError *error)
{
  QmStatus status;

  check->stored =
      calloc (check->plan->graph->n_parameters + 1, sizeof *check->stored);
  if (check->stored == NULL)
    return qm_error_no_memory (error);
  status = qm_weights_load (check->plan, check->executor, check->weights,
                            check->options->weights, check->stored, error);
  if (status == QM_OK)
    find_unused (check);
  return status;
}

static QmStatus
check_shape (const Check *check,
             const QmStoredTensor *stored,
             QmValueId id,
             QmError *error)
{
  const QmTensor *wanted = qm_graph_tensor (check->plan->graph, id);
  int32_t rank = wanted->rank;

  /* Labels of images have one dimension. */
  if (rank == 2 && stored->rank == 1 && wanted->shape[1] == 1)
    rank = 1;
  if (qm_stored_has_shape (stored, rank, wanted->shape))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_INVALID, check->options->batch, 0, 0,
                       "tensor '%.100s' does not have the shape that the rest "
                       "of the batch has",
                       stored->name);
}

/* Refuses labels none of which count: the mean of no loss is no number, as it
 * is in Transformers.  Where every token tells the next, the first label of a
 * sample is nobody's. */
static QmStatus
check_labels (const Check *check,
              const QmStoredTensor *stored,
              const int32_t *labels,
              QmError *error)
{
  bool shifted = qm_family_info (check->config.family)->objective
                 == QM_OBJECTIVE_NEXT_TOKEN;
  int64_t length = stored->rank > 1 ? stored->shape[1] : 1;

  for (int64_t i = 0; i < stored->elements; i++)
    if (labels[i] != QM_IGNORE_LABEL && (!shifted || i % length != 0))
      return QM_OK;
  return qm_error_set (error, QM_STATUS_INVALID, check->options->batch, 0, 0,
                       "labels: all that count are %d, so that the loss is not "
                       "a number",
                       QM_IGNORE_LABEL);
}

/* Loads whole numbers in [0, count), and with `ignore` QM_IGNORE_LABEL. */
static QmStatus
load_ints (Check *check,
           const QmStoredTensor *stored,
           QmValueId id,
           int64_t count,
           bool ignore,
           QmError *error)
{
  int32_t *values;
  QmStatus status = check_shape (check, stored, id, error);

  if (status != QM_OK)
    return status;
  values = malloc ((size_t) (stored->elements + 1) * sizeof *values);
  if (values == NULL)
    return qm_error_no_memory (error);
  status = qm_safetensors_read_ints (check->batch, stored,
                                     ignore ? QM_IGNORE_LABEL : 0,
                                     (int32_t) count - 1, values, error);
  for (int64_t i = 0; i < stored->elements && status == QM_OK; i++)
    if (values[i] < 0 && values[i] != QM_IGNORE_LABEL)
      status =
          qm_error_set (error, QM_STATUS_INVALID, check->options->batch, 0, 0,
                        "a label is negative and not %d", QM_IGNORE_LABEL);
  if (status == QM_OK && ignore)
    status = check_labels (check, stored, values, error);
  if (status == QM_OK)
    status = qm_executor_write_ints (check->executor, id, values, error);
  free (values);
  return status;
}

/* Pixels, and noise. */
static QmStatus
load_floats (Check *check,
             const QmStoredTensor *stored,
             QmValueId id,
             QmError *error)
{
  QmStatus status = check_shape (check, stored, id, error);
  float *values;

  if (status != QM_OK)
    return status;
  values = malloc ((size_t) (stored->elements + 1) * sizeof *values);
  if (values == NULL)
    return qm_error_no_memory (error);
  status = qm_safetensors_read_floats (check->batch, stored, values, error);
  for (int64_t i = 0; i < stored->elements && status == QM_OK; i++)
    if (!isfinite (values[i]))
      status = qm_error_set (error, QM_STATUS_INVALID, check->options->batch, 0,
                             0, "tensor '%.100s': element %lld is not finite",
                             stored->name, (long long) i);
  if (status == QM_OK)
    status = qm_executor_write_floats (check->executor, id, values, error);
  free (values);
  return status;
}

/* A mask is nothing to be honoured only where it masks nothing. */
static QmStatus
refuse_mask (Check *check, const QmStoredTensor *stored, QmError *error)
{
  QmStatus status = check_shape (check, stored, check->plan->graph->ids, error);
  int32_t *values;

  if (status != QM_OK)
    return status;
  values = malloc ((size_t) (stored->elements + 1) * sizeof *values);
  if (values == NULL)
    return qm_error_no_memory (error);
  status = qm_safetensors_read_ints (check->batch, stored, 1, 1, values, error);
  free (values);
  if (status == QM_STATUS_INVALID)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, check->options->batch, 0,
                         0, "attention_mask: masking tokens is not supported");
  return status;
}

static QmStatus
load_tensor (Check *check, const QmStoredTensor *stored, QmError *error)
{
  const QmGraph *graph = check->plan->graph;
  int64_t classes = qm_graph_classes (graph);
  bool told =
      qm_family_info (check->config.family)->objective == QM_OBJECTIVE_NOISE;

  if (strcmp (stored->name, "input_ids") == 0 && graph->ids != QM_NO_VALUE)
    return load_ints (check, stored, graph->ids, classes, false, error);
  if (strcmp (stored->name, "labels") == 0 && graph->labels != QM_NO_VALUE)
    return load_ints (check, stored, graph->labels, classes, !told, error);
  if (strcmp (stored->name, "token_type_ids") == 0
      && graph->types != QM_NO_VALUE)
    return load_ints (check, stored, graph->types,
                      check->config.bert.type_vocab_size, false, error);
  if (strcmp (stored->name, "pixel_values") == 0
      && graph->pixels != QM_NO_VALUE)
    return load_floats (check, stored, graph->pixels, error);
  if (strcmp (stored->name, "local_pixel_values") == 0
      && graph->local_pixels != QM_NO_VALUE)
    return load_floats (check, stored, graph->local_pixels, error);
  if (strcmp (stored->name, "noise") == 0 && graph->noise != QM_NO_VALUE)
    return load_floats (check, stored, graph->noise, error);
  if (strcmp (stored->name, "timesteps") == 0 && graph->times != QM_NO_VALUE)
    return load_ints (
        check, stored, graph->times,
        qm_graph_tensor (graph, graph->diffusion.schedule)->shape[0], false,
        error);
  if (strcmp (stored->name, "attention_mask") == 0 && graph->ids != QM_NO_VALUE)
    return refuse_mask (check, stored, error);
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, check->options->batch, 0,
                       0, "tensor '%.100s' is not supported for a %s model",
                       stored->name, qm_family_name (check->config.family));
}

static QmStatus
load_batch (Check *check, QmError *error)
{
  size_t n;
  const QmStoredTensor *all = qm_safetensors_all (check->batch, &n);
  const QmGraph *graph = check->plan->graph;
  const struct
  {
    QmValueId value;
    const char *name;
  } needed[] = { { graph->noise, "noise" },
                 { graph->times, "timesteps" },
                 { graph->local_pixels, "local_pixel_values" },
                 { graph->ids, "input_ids" },
                 { graph->labels, "labels" } };
  QmStatus status = QM_OK;

  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
    if (needed[i].value != QM_NO_VALUE
        && qm_safetensors_find (check->batch, needed[i].name) == NULL)
      return qm_error_set (error, QM_STATUS_NOT_FOUND, check->options->batch, 0,
                           0, "there is no tensor '%s'", needed[i].name);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    status = load_tensor (check, &all[i], error);
  return status;
}

static QmStatus
gradients_are_finite (Check *check, bool *finite, QmError *error)
{
  const QmGraph *graph = check->plan->graph;
  QmStatus status = QM_OK;

  *finite = true;
  for (size_t i = 0; i < graph->n_parameters && status == QM_OK; i++)
    {
      int64_t n = check->stored[i].part.elements;
      float *values = malloc ((size_t) (n + 1) * sizeof *values);

      if (values == NULL)
        return qm_error_no_memory (error);
      status = qm_executor_read_floats (check->executor,
                                        graph->parameters[i].gradient, values,
                                        error);
      for (int64_t j = 0; j < n && status == QM_OK; j++)
        *finite = *finite && isfinite (values[j]);
      free (values);
    }
  return status;
}

/* One pass; in fp16, with the largest loss scale that keeps gradients finite,
 * as training would find it. */
static QmStatus
compute (Check *check, QmError *error)
{
  bool finite = false;
  float loss = 0;
  QmStatus status;

  check->scale = check->plan->type == QM_TYPE_F16 ? QM_SCALE_FIRST : 1;
  for (int i = 0; i < MAX_TRIES && !finite; i++)
    {
      status = qm_executor_clear (check->executor, error);
      if (status == QM_OK)
        status = qm_executor_write_state (check->executor, QM_STATE_LOSS_SCALE,
                                          check->scale, error);
      if (status == QM_OK)
        status = qm_executor_pass (check->executor, true, error);
      if (status == QM_OK)
        status = qm_executor_synchronize (check->executor, error);
      if (status != QM_OK)
        return status;
      if (check->plan->type != QM_TYPE_F16)
        break;
      status = gradients_are_finite (check, &finite, error);
      if (status != QM_OK)
        return status;
      if (!finite)
        check->scale /= 2;
    }
  status = qm_executor_read_floats (check->executor, check->plan->graph->loss,
                                    &loss, error);
  check->result->loss = loss;
  if (status == QM_OK && !isfinite (loss))
    status = qm_error_set (error, QM_STATUS_INVALID, check->options->weights, 0,
                           0, "with these weights the loss is %s",
                           isnan (loss) ? "not a number" : "infinite");
  return status;
}

/* Tensor 0 is the loss, the others are gradients. */
static QmStatus
give_tensor (void *data, size_t index, float *to, QmError *error)
{
  Check *check = data;
  const QmGraph *graph = check->plan->graph;
  QmStatus status;

  if (index == 0)
    {
      to[0] = (float) check->result->loss;
      return QM_OK;
    }
  status = qm_executor_read_floats (check->executor,
                                    graph->parameters[index - 1].gradient, to,
                                    error);
  if (status == QM_OK && graph->parameters[index - 1].transposed)
    status = qm_weights_transpose (check->stored[index - 1].part.shape[1],
                                   check->stored[index - 1].part.shape[0], to,
                                   error);
  for (int64_t i = 0; i < check->stored[index - 1].part.elements; i++)
    {
      to[i] /= check->scale;
      if (status == QM_OK && !isfinite (to[i]))
        status =
            qm_error_set (error, QM_STATUS_INVALID, check->options->weights, 0,
                          0,
                          "with these weights element %lld of the "
                          "gradient of '%.80s' is not finite",
                          (long long) i, check->stored[index - 1].part.name);
    }
  return status;
}

static QmStatus
write_result (Check *check, QmError *error)
{
  const QmGraph *graph = check->plan->graph;
  size_t n = graph->n_parameters + 1;
  QmTensorToStore *tensors = calloc (n, sizeof *tensors);
  QmPool names = { NULL };
  QmStatus status = QM_OK;

  if (tensors == NULL)
    return qm_error_no_memory (error);
  check->result->parameters = graph->n_parameters;
  tensors[0].name = "loss";
  for (size_t i = 1; i < n; i++)
    {
      const QmStoredTensor *stored = &check->stored[i - 1].part;

      tensors[i].name = qm_pool_format (&names, "grad.%s", stored->name);
      tensors[i].rank = stored->rank;
      memcpy (tensors[i].shape, stored->shape, sizeof stored->shape);
      if (tensors[i].name == NULL)
        status = qm_error_no_memory (error);
    }
  if (status == QM_OK)
    status = qm_safetensors_write (check->options->out, tensors, n, give_tensor,
                                   check, error);
  qm_pool_clear (&names);
  free (tensors);
  return status;
}

QmStatus
qm_check (const QmCheckOptions *options,
          QmDevice *device,
          QmCheckResult *result,
          QmError *error)
{
  Check check = { .options = options,
                  .device = device,
                  .config = *options->config,
                  .result = result };
  QmStatus status =
      qm_safetensors_open (options->weights, &check.weights, error);

  memset (result, 0, sizeof *result);
  if (status == QM_OK)
    status = qm_safetensors_open (options->batch, &check.batch, error);
  if (status == QM_OK)
    status = describe_batch (&check, error);
  if (status == QM_OK)
    status = make_plan (&check, error);
  if (status == QM_OK)
    status = load_weights (&check, error);
  if (status == QM_OK)
    status = load_batch (&check, error);
  if (status == QM_OK)
    status = compute (&check, error);
  if (status == QM_OK)
    status = write_result (&check, error);
  qm_executor_free (check.executor);
  qm_plan_free (check.plan);
  qm_safetensors_close (check.weights);
  qm_safetensors_close (check.batch);
  free (check.stored);
  return status;
}
