/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/executor.h"

#include "engine/host-side.h"
#include "engine/initial.h"
#include "kernels/convert.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sites of random numbers that no graph hands out. */
#define SITE_WEIGHTS UINT32_C (0x80000000)
#define SITE_BATCH   UINT32_C (0x40000000)

struct QmExecutor
{
  const QmPlan *plan;
  QmDevice *device;
  QmStream *stream;
  QmRegions regions;
  void *memory[7]; /* what has to be freed */
  size_t n_memory;
  uint64_t allocated;
  QmOpCall *calls; /* of a pass, and of an update behind them */
  size_t n_calls, n_pass;
  QmCapture *captured_pass, *captured_update;
  QmHostSide *side; /* NULL: nothing is offloaded */
};

static QmStatus
allocate (QmExecutor *executor, uint64_t bytes, char **region, QmError *error)
{
  void *memory;
  QmStatus status;

  if (bytes == 0)
    return QM_OK;
  status =
      qm_device_allocate (executor->device, (size_t) bytes, &memory, error);
  if (status != QM_OK)
    return status;
  executor->memory[executor->n_memory++] = memory;
  executor->allocated += bytes;
  *region = memory;
  return QM_OK;
}

static QmStatus
allocate_all (QmExecutor *executor, QmError *error)
{
  const QmMemory *memory = &executor->plan->memory;
  QmRegions *regions = &executor->regions;
  const struct
  {
    uint64_t bytes;
    char **region;
  } wanted[] = {
    { memory->weights, &regions->weights },
    { memory->master, &regions->master },
    { memory->gradients, &regions->gradients },
    { memory->optimizer, &regions->moments },
    { memory->activations, &regions->arena },
    { memory->other, &regions->other },
    { memory->workspace, &regions->workspace },
  };
  QmStatus status = QM_OK;

  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && status == QM_OK;
       i++)
    status = allocate (executor, wanted[i].bytes, wanted[i].region, error);
  if (status != QM_OK)
    return status;
  if (executor->plan->options.offload)
    {
      regions->resident = regions->weights;
      regions->weights =
          qm_sharding_weights (executor->plan->options.sharding)
              ? NULL
              : regions->resident + executor->plan->resident_bytes;
    }
  else if (regions->master == NULL)
    regions->master = regions->weights;
  return QM_OK;
}

static QmStatus
clear_region (QmExecutor *executor,
              char *region,
              uint64_t bytes,
              QmError *error)
{
  if (region == NULL || bytes == 0)
    return QM_OK;
  return qm_device_set (executor->device, executor->stream, region, 0,
                        (size_t) bytes, error);
}

static QmStatus
clear_all (QmExecutor *executor, QmError *error)
{
  const QmMemory *memory = &executor->plan->memory;
  const QmRegions *regions = &executor->regions;
  QmStatus status = clear_region (executor,
                                  regions->resident != NULL ? regions->resident
                                                            : regions->weights,
                                  memory->weights, error);

  if (status == QM_OK)
    status = clear_region (executor, regions->master, memory->master, error);
  if (status == QM_OK)
    status =
        clear_region (executor, regions->gradients, memory->gradients, error);
  if (status == QM_OK)
    status =
        clear_region (executor, regions->moments, memory->optimizer, error);
  if (status == QM_OK)
    status = clear_region (executor, regions->other, memory->other, error);
  return status;
}

static QmStatus
prepare_calls (QmExecutor *executor, QmError *error)
{
  const QmGraph *graph = executor->plan->graph;

  executor->calls = calloc (graph->n_nodes + 1, sizeof *executor->calls);
  if (executor->calls == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  executor->n_calls = graph->n_nodes;
  executor->n_pass = qm_graph_pass_nodes (graph);
  for (size_t i = 0; i < graph->n_nodes; i++)
    qm_plan_call (executor->plan, &executor->regions, &graph->nodes[i],
                  &executor->calls[i]);
  return QM_OK;
}

/* Angles of the rotary embedding: cosines, then sines, of s base^(-2j/r). */
static QmStatus
write_rotary (QmExecutor *executor, QmError *error)
{
  const QmGraph *graph = executor->plan->graph;
  const QmTensor *shape;
  int64_t rows, half;
  float *table;
  QmStatus status;

  if (graph->rotary == QM_NO_VALUE)
    return QM_OK;
  shape = qm_graph_tensor (graph, graph->rotary);
  rows = shape->shape[0];
  half = shape->shape[1] / 2;
  table = malloc ((size_t) (rows * half * 2) * sizeof *table);
  if (table == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  for (int64_t s = 0; s < rows; s++)
    for (int64_t j = 0; j < half; j++)
      {
        double angle =
            (double) s
            * pow (graph->rotary_base, -(double) (2 * j) / (double) (2 * half));

        table[s * half * 2 + j] = (float) cos (angle);
        table[s * half * 2 + half + j] = (float) sin (angle);
      }
  status = qm_executor_write_floats (executor, graph->rotary, table, error);
  free (table);
  return status;
}

static QmStatus
write_state (QmExecutor *executor, uint64_t seed, QmError *error)
{
  const QmPlan *plan = executor->plan;
  int32_t rng[QM_RNG_SIZE] = { (int32_t) (uint32_t) seed,
                               (int32_t) (uint32_t) (seed >> 32), 0 };
  float state[QM_STATE_SIZE] = { 0 };
  QmStatus status =
      qm_executor_write_ints (executor, plan->graph->rng, rng, error);

  state[QM_STATE_LEARNING_RATE] = (float) plan->recipe.learning_rate;
  state[QM_STATE_LOSS_SCALE] =
      plan->type == QM_TYPE_F16 ? QM_SCALE_FIRST : 1.0f;
  if (status == QM_OK)
    status =
        qm_executor_write_floats (executor, plan->graph->state, state, error);
  return status;
}

static QmStatus
begin (QmExecutor *executor, uint64_t seed, QmError *error)
{
  QmStatus status = clear_all (executor, error);

  if (status == QM_OK)
    status = write_state (executor, seed, error);
  if (status == QM_OK)
    status = write_rotary (executor, error);
  return status;
}

QmStatus
qm_executor_restart (QmExecutor *executor, uint64_t seed, QmError *error)
{
  if (executor->side != NULL)
    {
      QmStatus status = qm_executor_synchronize (executor, error);

      if (status != QM_OK)
        return status;
      qm_host_side_clear (executor->side);
    }
  return begin (executor, seed, error);
}

QmStatus
qm_executor_new (const QmPlan *plan,
                 QmDevice *device,
                 uint64_t seed,
                 QmExecutor **executor,
                 QmError *error)
{
  QmExecutor *new = calloc (1, sizeof *new);
  QmStatus status;

  *executor = NULL;
  if (new == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  new->plan = plan;
  new->device = device;
  status = qm_stream_create (device, &new->stream, error);
  if (status == QM_OK)
    status = allocate_all (new, error);
  if (status == QM_OK && plan->options.offload)
    status = qm_host_side_new (plan, &new->regions, device, new->stream,
                               &new->side, error);
  if (status == QM_OK)
    status = prepare_calls (new, error);
  if (status == QM_OK)
    status = begin (new, seed, error);
  if (status == QM_OK)
    *executor = new;
  else
    qm_executor_free (new);
  return status;
}

void
qm_executor_free (QmExecutor *executor)
{
  if (executor == NULL)
    return;
  if (executor->stream != NULL)
    qm_stream_synchronize (executor->device, executor->stream, NULL);
  qm_host_side_free (executor->side);
  qm_capture_free (executor->device, executor->captured_pass);
  qm_capture_free (executor->device, executor->captured_update);
  for (size_t i = 0; i < executor->n_memory; i++)
    qm_device_free (executor->device, executor->memory[i]);
  qm_stream_free (executor->device, executor->stream);
  free (executor->calls);
  free (executor);
}

QmDevice *
qm_executor_device (QmExecutor *executor)
{
  return executor->device;
}

QmStream *
qm_executor_stream (QmExecutor *executor)
{
  return executor->stream;
}

uint64_t
qm_executor_allocated (const QmExecutor *executor)
{
  return executor->allocated;
}

/* A tensor at the address of a value, of the master weights for parameters;
 * without one where those are on the host. */
static QmTensor
bind (const QmExecutor *executor, QmValueId id)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  QmTensor tensor = value->tensor;

  tensor.data = qm_plan_address (plan, &executor->regions, id);
  if (value->role == QM_ROLE_PARAMETER)
    {
      tensor.type = QM_TYPE_F32;
      tensor.data = executor->side == NULL
                        ? executor->regions.master
                              + (plan->place[value->owner] + value->offset) * 4
                        : NULL;
    }
  return tensor;
}

static QmStatus
run (QmExecutor *executor, const QmOpCall *call, QmError *error)
{
  switch (call->op)
    {
    case QM_OP_FETCH:
    case QM_OP_FETCHED:
    case QM_OP_SEND:
    case QM_OP_SENT:
    case QM_OP_HOST_SUM_SQUARES:
    case QM_OP_HOST_ADAM:
    case QM_OP_HOST_UPDATED:
      return qm_host_side_run (executor->side, call, error);
    default:
      return qm_op_run (executor->device, executor->stream, call, error);
    }
}

/* Sets the weights in the type of products from the master weights. */
static QmStatus
round_weights (QmExecutor *executor, QmError *error)
{
  const QmPlan *plan = executor->plan;
  QmOpCall call = { .op = QM_OP_COPY };

  if (plan->type == QM_TYPE_F32)
    return QM_OK;
  call.inputs[0] =
      qm_tensor_dense (QM_TYPE_F32, 1, &plan->slab, executor->regions.master);
  call.outputs[0] =
      qm_tensor_dense (plan->type, 1, &plan->slab, executor->regions.weights);
  return run (executor, &call, error);
}

static double
initializer_range (const QmModelConfig *config)
{
  switch (config->family)
    {
    case QM_FAMILY_GPT_NEOX:
      return config->gpt_neox.initializer_range;
    case QM_FAMILY_BERT:
    case QM_FAMILY_ROBERTA:
      return config->bert.initializer_range;
    case QM_FAMILY_VIT:
      return config->vit.initializer_range;
    case QM_FAMILY_CONVNEXT:
      return config->convnext.initializer_range;
    case QM_FAMILY_MAMBA:
      return config->mamba.initializer_range;
    }
  return 0;
}

/* What the device cannot draw the host makes of what it drew. */
static QmStatus
finish_on_host (QmExecutor *executor,
                const QmParameter *parameter,
                QmError *error)
{
  const QmTensor *tensor =
      qm_graph_tensor (executor->plan->graph, parameter->value);
  int64_t n = qm_tensor_elements (tensor);
  float *values = malloc ((size_t) n * sizeof *values);
  QmStatus status;

  if (values == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  status = qm_executor_read_floats (executor, parameter->value, values, error);
  if (status == QM_OK)
    {
      qm_initial_finish (parameter, n, tensor->shape[tensor->rank - 1], values);
      status =
          qm_executor_write_floats (executor, parameter->value, values, error);
    }
  free (values);
  return status;
}

/* Where the device can draw weights that it does not keep: where gradients are
 * fp32, so that the largest parameter has room. */
static QmStatus
draw_elsewhere (QmExecutor *executor, QmTensor *tensor, QmError *error)
{
  const QmMemory *memory = &executor->plan->memory;
  bool gradients = memory->gradients > 0;
  uint64_t room = gradients ? memory->gradients : memory->activations;

  tensor->data =
      gradients ? executor->regions.gradients : executor->regions.arena;
  if ((uint64_t) qm_tensor_elements (tensor) * 4 <= room)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "a parameter is larger than all that offloading leaves "
                       "on the device");
}

/* Weights that were drawn go to the host, and to where they are read on the
 * device. */
static QmStatus
put_down (QmExecutor *executor,
          QmValueId id,
          const QmTensor *drawn,
          QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  QmOpCall copy = { .op = QM_OP_COPY, .inputs[0] = *drawn };
  QmStatus status = QM_OK;

  copy.outputs[0] = value->tensor;
  copy.outputs[0].data = qm_plan_address (plan, &executor->regions, id);
  if (copy.outputs[0].data != NULL)
    status = run (executor, &copy, error);
  if (status == QM_OK)
    status = qm_host_side_take (executor->side,
                                plan->place[value->owner] + value->offset,
                                drawn->data, qm_tensor_elements (drawn), error);
  return status;
}

static QmStatus
draw (QmExecutor *executor, size_t index, QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmGraph *graph = plan->graph;
  const QmParameter *parameter = &graph->parameters[index];
  QmOpCall call = { 0 };
  QmStatus status = QM_OK;

  qm_initial_call (parameter, initializer_range (&plan->config), &call);
  call.outputs[0] = bind (executor, parameter->value);
  call.attributes.site = SITE_WEIGHTS + (uint32_t) index;
  if (call.op == QM_OP_RANDOM)
    call.inputs[0] = bind (executor, graph->rng);
  if (executor->side != NULL)
    status = draw_elsewhere (executor, &call.outputs[0], error);
  if (status == QM_OK)
    status = run (executor, &call, error);
  if (status == QM_OK && executor->side != NULL)
    status = put_down (executor, parameter->value, &call.outputs[0], error);
  if (status == QM_OK && qm_initial_needs_host (parameter))
    status = finish_on_host (executor, parameter, error);
  return status;
}

QmStatus
qm_executor_initialise (QmExecutor *executor, QmError *error)
{
  QmStatus status = QM_OK;

  if (executor->side != NULL)
    status = qm_executor_synchronize (executor, error);
  for (size_t i = 0; i < executor->plan->graph->n_parameters && status == QM_OK;
       i++)
    status = draw (executor, i, error);
  if (status != QM_OK)
    return status;
  if (executor->side == NULL)
    return round_weights (executor, error);
  status = clear_region (executor, executor->regions.gradients,
                         executor->plan->memory.gradients, error);
  return status == QM_OK ? qm_host_side_publish (executor->side, error)
                         : status;
}

static QmStatus
draw_indices (QmExecutor *executor,
              QmValueId value,
              uint32_t site,
              int64_t count,
              QmError *error)
{
  QmOpCall call = { .op = QM_OP_RANDOM };

  if (value == QM_NO_VALUE)
    return QM_OK;
  call.attributes.distribution = QM_DISTRIBUTION_INDEX;
  call.attributes.site = site;
  call.attributes.count = count;
  call.inputs[0] = bind (executor, executor->plan->graph->rng);
  call.outputs[0] = bind (executor, value);
  return run (executor, &call, error);
}

QmStatus
qm_executor_random_batch (QmExecutor *executor, QmError *error)
{
  const QmGraph *graph = executor->plan->graph;
  int64_t classes = qm_graph_tensor (graph, graph->logits)->shape[1];
  QmOpCall call = { .op = QM_OP_RANDOM };
  QmStatus status;

  status = draw_indices (executor, graph->ids, SITE_BATCH, classes, error);
  if (status == QM_OK)
    status =
        draw_indices (executor, graph->labels, SITE_BATCH + 1, classes, error);
  if (status != QM_OK || graph->pixels == QM_NO_VALUE)
    return status;
  call.attributes.distribution = QM_DISTRIBUTION_UNIFORM;
  call.attributes.site = SITE_BATCH + 2;
  call.attributes.scale = 1;
  call.inputs[0] = bind (executor, graph->rng);
  call.outputs[0] = bind (executor, graph->pixels);
  return run (executor, &call, error);
}

static size_t
elements (const QmExecutor *executor, QmValueId id)
{
  return (size_t) qm_tensor_elements (
      qm_graph_tensor (executor->plan->graph, id));
}

static QmStatus
write_as (QmExecutor *executor,
          QmType type,
          void *to,
          const float *from,
          size_t n,
          QmError *error)
{
  void *converted;
  QmStatus status;

  if (type == QM_TYPE_F32)
    return qm_device_write (executor->device, executor->stream, to, from,
                            n * sizeof *from, error);
  converted = malloc (n * qm_type_size (type));
  if (converted == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  qm_floats_store (type, converted, 1, (int64_t) n, from);
  status = qm_device_write (executor->device, executor->stream, to, converted,
                            n * qm_type_size (type), error);
  free (converted);
  return status;
}

/* Where the host has a parameter in fp32, or the gradient of one; NULL for all
 * else. */
static float *
host_copy (const QmExecutor *executor, QmValueId id)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  float *slab = NULL;

  if (executor->side == NULL)
    return NULL;
  if (value->role == QM_ROLE_PARAMETER)
    slab = qm_host_side_master (executor->side);
  else if (value->role == QM_ROLE_GRADIENT)
    slab = qm_host_side_gradients (executor->side);
  return slab != NULL ? slab + plan->place[value->owner] + value->offset : NULL;
}

/* Writes a parameter, and what the device and its products read of it. */
static QmStatus
write_on_host (QmExecutor *executor,
               QmValueId id,
               const float *from,
               size_t n,
               QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  int64_t place = plan->place[value->owner] + value->offset;
  char *weights = qm_host_side_weights (executor->side);
  void *address = qm_plan_address (plan, &executor->regions, id);
  QmStatus status = qm_executor_synchronize (executor, error);

  if (status != QM_OK)
    return status;
  memcpy (host_copy (executor, id), from, n * sizeof *from);
  if (value->role != QM_ROLE_PARAMETER)
    return QM_OK;
  if (weights != NULL)
    qm_floats_store (plan->type,
                     weights + (size_t) place * qm_type_size (plan->type), 1,
                     (int64_t) n, from);
  return address != NULL
             ? write_as (executor, value->tensor.type, address, from, n, error)
             : QM_OK;
}

QmStatus
qm_executor_write_floats (QmExecutor *executor,
                          QmValueId id,
                          const float *from,
                          QmError *error)
{
  const QmPlan *plan = executor->plan;
  QmTensor tensor = bind (executor, id);
  QmType type = qm_graph_tensor (plan->graph, id)->type;
  size_t n = elements (executor, id);
  QmStatus status;

  if (host_copy (executor, id) != NULL)
    return write_on_host (executor, id, from, n, error);
  status = write_as (executor, tensor.type, tensor.data, from, n, error);

  if (status == QM_OK && type != tensor.type)
    status = write_as (executor, type,
                       qm_plan_address (plan, &executor->regions, id), from, n,
                       error);
  return status;
}

QmStatus
qm_executor_read_floats (QmExecutor *executor,
                         QmValueId id,
                         float *to,
                         QmError *error)
{
  QmTensor tensor = bind (executor, id);
  size_t n = elements (executor, id), bytes = n * qm_type_size (tensor.type);
  const float *host = host_copy (executor, id);
  void *raw;
  QmStatus status;

  if (host != NULL)
    {
      status = qm_executor_synchronize (executor, error);
      if (status == QM_OK)
        memcpy (to, host, bytes);
      return status;
    }
  if (tensor.type == QM_TYPE_F32)
    return qm_device_read (executor->device, executor->stream, to, tensor.data,
                           bytes, error);
  raw = malloc (bytes);
  if (raw == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  status = qm_device_read (executor->device, executor->stream, raw, tensor.data,
                           bytes, error);
  if (status == QM_OK)
    qm_floats_load (tensor.type, raw, 1, (int64_t) n, to);
  free (raw);
  return status;
}

QmStatus
qm_executor_write_ints (QmExecutor *executor,
                        QmValueId id,
                        const int32_t *from,
                        QmError *error)
{
  QmTensor tensor = bind (executor, id);

  return qm_device_write (executor->device, executor->stream, tensor.data, from,
                          elements (executor, id) * sizeof *from, error);
}

static float *
state_address (const QmExecutor *executor, int index)
{
  return (float *) bind (executor, executor->plan->graph->state).data + index;
}

QmStatus
qm_executor_write_state (QmExecutor *executor,
                         int index,
                         float value,
                         QmError *error)
{
  return qm_device_write (executor->device, executor->stream,
                          state_address (executor, index), &value, sizeof value,
                          error);
}

QmStatus
qm_executor_read_state (QmExecutor *executor,
                        int index,
                        float *value,
                        QmError *error)
{
  return qm_device_read (executor->device, executor->stream, value,
                         state_address (executor, index), sizeof *value, error);
}

static QmStatus
queue (QmExecutor *executor, const QmOpCall *calls, size_t n, QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < n && status == QM_OK; i++)
    status = run (executor, &calls[i], error);
  return status;
}

/* Queues calls, through a capture where the plan says so.  The first time they
 * are queued one by one, so that whatever a device sets up lazily is set up. */
static QmStatus
queue_captured (QmExecutor *executor,
                const QmOpCall *calls,
                size_t n,
                QmCapture **capture,
                QmError *error)
{
  QmStatus status, ended;

  if ((executor->plan->options.methods & QM_METHOD_COMPILE) == 0)
    return queue (executor, calls, n, error);
  if (*capture != NULL)
    return qm_capture_launch (executor->device, executor->stream, *capture,
                              error);
  status = queue (executor, calls, n, error);
  if (status == QM_OK)
    status = qm_capture_begin (executor->device, executor->stream, error);
  if (status != QM_OK)
    return status;
  status = queue (executor, calls, n, error);
  ended = qm_capture_end (executor->device, executor->stream, capture,
                          status == QM_OK ? error : NULL);
  return status != QM_OK ? status : ended;
}

QmStatus
qm_executor_pass (QmExecutor *executor, QmError *error)
{
  return queue_captured (executor, executor->calls, executor->n_pass,
                         &executor->captured_pass, error);
}

QmStatus
qm_executor_update (QmExecutor *executor, QmError *error)
{
  size_t n;
  const QmOpCall *calls = qm_executor_calls (executor, QM_PHASE_UPDATE, &n);

  return queue_captured (executor, calls, n, &executor->captured_update, error);
}

QmStatus
qm_executor_clear (QmExecutor *executor, QmError *error)
{
  QmTensor loss = bind (executor, executor->plan->graph->loss);
  QmStatus status = clear_region (executor, executor->regions.gradients,
                                  executor->plan->memory.gradients, error);

  if (status == QM_OK && executor->side != NULL)
    status = qm_executor_synchronize (executor, error);
  if (status == QM_OK && executor->side != NULL)
    qm_host_side_clear_gradients (executor->side);
  if (status == QM_OK)
    status = qm_device_set (executor->device, executor->stream, loss.data, 0,
                            sizeof (float), error);
  return status;
}

const QmOpCall *
qm_executor_calls (const QmExecutor *executor, QmPhase phase, size_t *n)
{
  bool update = phase == QM_PHASE_UPDATE;

  *n = update ? executor->n_calls - executor->n_pass : executor->n_pass;
  return update ? executor->calls + executor->n_pass : executor->calls;
}

QmStatus
qm_executor_queue (QmExecutor *executor, const QmOpCall *call, QmError *error)
{
  return run (executor, call, error);
}

QmStatus
qm_executor_synchronize (QmExecutor *executor, QmError *error)
{
  QmStatus status =
      qm_stream_synchronize (executor->device, executor->stream, error);

  if (executor->side != NULL)
    qm_host_side_wait (executor->side);
  return status;
}
