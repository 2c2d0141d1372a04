/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/executor-private.h"

#include "engine/initial.h"
#include "kernels/random.h"

#include <stdlib.h>
#include <string.h>

/* Sites of random numbers that no graph hands out. */
#define SITE_WEIGHTS UINT32_C (0x80000000)
#define SITE_BATCH   UINT32_C (0x40000000)

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
  if (executor->plan->resident != NULL)
    {
      regions->resident = regions->weights;
      regions->weights =
          memory->weights > executor->plan->resident_bytes
              ? regions->resident + executor->plan->resident_bytes
              : NULL;
    }
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

static bool
is_in (int row, QmPhase phase)
{
  if (row == ROW_UPDATE)
    return phase == QM_PHASE_UPDATE;
  return phase != QM_PHASE_UPDATE
         && (row == ROW_LAST || phase != QM_PHASE_LAST);
}

static QmStatus
prepare_calls (QmExecutor *executor, QmError *error)
{
  const QmGraph *graph = executor->plan->graph;

  for (int r = 0; r < N_ROWS; r++)
    {
      QmRow *row = &executor->rows[r];

      if (r == ROW_LAST && !qm_plan_has_last (executor->plan))
        continue;
      row->calls = calloc (graph->n_nodes + 1, sizeof *row->calls);
      if (row->calls == NULL)
        return qm_error_no_memory (error);
      for (size_t i = 0; i < graph->n_nodes; i++)
        if (is_in (r, graph->nodes[i].phase))
          qm_plan_call (executor->plan, &executor->regions, &graph->nodes[i],
                        &row->calls[row->n++]);
    }
  return QM_OK;
}

static QmStatus
write_rng (QmExecutor *executor, int pass, QmError *error)
{
  int32_t rng[QM_RNG_SIZE] = { (int32_t) (uint32_t) executor->seed,
                               (int32_t) (uint32_t) (executor->seed >> 32),
                               pass };

  return qm_executor_write_ints (executor, executor->plan->graph->rng, rng,
                                 error);
}

static QmStatus
write_state (QmExecutor *executor, QmError *error)
{
  const QmPlan *plan = executor->plan;
  float state[QM_STATE_SIZE] = { 0 };
  QmStatus status = write_rng (executor, plan->options.rank, error);

  state[QM_STATE_LEARNING_RATE] = (float) plan->recipe.learning_rate;
  state[QM_STATE_LOSS_SCALE] =
      plan->type == QM_TYPE_F16 ? QM_SCALE_FIRST : 1.0f;
  if (status == QM_OK)
    status =
        qm_executor_write_floats (executor, plan->graph->state, state, error);
  return status;
}

static QmStatus
begin_training (QmExecutor *executor, uint64_t seed, QmError *error)
{
  QmStatus status = clear_all (executor, error);

  executor->seed = seed;
  if (status == QM_OK)
    status = write_state (executor, error);
  if (status == QM_OK)
    status = qm_executor_write_constants (executor, error);
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
  return begin_training (executor, seed, error);
}

static QmStatus
check_ranks (const QmPlan *plan, QmCommunicator *communicator, QmError *error)
{
  int ranks = communicator != NULL ? qm_communicator_ranks (communicator) : 1;
  int rank = communicator != NULL ? qm_communicator_rank (communicator) : 0;

  if (ranks == plan->options.ranks && rank == plan->options.rank)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                       "the plan is for rank %d of %d, and this is rank %d of "
                       "%d",
                       plan->options.rank, plan->options.ranks, rank, ranks);
}

QmStatus
qm_executor_new (const QmPlan *plan,
                 QmDevice *device,
                 QmCommunicator *communicator,
                 uint64_t seed,
                 QmExecutor **executor,
                 QmError *error)
{
  QmExecutor *new;
  QmStatus status = check_ranks (plan, communicator, error);

  *executor = NULL;
  if (status != QM_OK)
    return status;
  new = calloc (1, sizeof *new);
  if (new == NULL)
    return qm_error_no_memory (error);
  new->plan = plan;
  new->device = device;
  new->communicator = communicator;
  status = qm_stream_create (device, &new->stream, error);
  if (status == QM_OK)
    status = allocate_all (new, error);
  if (status == QM_OK && plan->options.offload)
    status = qm_host_side_new (plan, &new->regions, device, new->stream,
                               &new->side, error);
  if (status == QM_OK && plan->options.ranks > 1)
    status = qm_rank_side_new (plan, &new->regions, device, new->stream,
                               new->side, communicator, &new->ranks, error);
  if (status == QM_OK)
    status = prepare_calls (new, error);
  if (status == QM_OK)
    status = begin_training (new, seed, error);
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
  qm_rank_side_free (executor->ranks);
  qm_host_side_free (executor->side);
  for (int i = 0; i < N_ROWS; i++)
    {
      qm_capture_free (executor->device, executor->rows[i].captured);
      free (executor->rows[i].calls);
    }
  for (size_t i = 0; i < executor->n_memory; i++)
    qm_device_free (executor->device, executor->memory[i]);
  qm_stream_free (executor->device, executor->stream);
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

/* Whether fp32 weights are apart from those that products read, or are these,
 * of which the device has no more than a rank's part. */
static bool
has_master (const QmPlan *plan)
{
  return plan->type != QM_TYPE_F32
         || qm_sharding_weights (qm_plan_sharding (&plan->options));
}

/* Where the fp32 weights that this rank has begin, on the device or the host;
 * NULL where they are those that products read. */
float *
qm_executor_master (const QmExecutor *executor)
{
  const QmPlan *plan = executor->plan;
  char *region = plan->type != QM_TYPE_F32 ? executor->regions.master
                                           : executor->regions.weights;

  if (executor->side != NULL)
    return qm_host_side_master (executor->side);
  return has_master (plan) ? (float *) (void *) region : NULL;
}

/* What the rank has of a parameter, or of the gradient of one. */
QmPiece
qm_executor_piece (const QmPlan *plan, QmValueId id, size_t n)
{
  const QmValue *value = &plan->graph->values[id];
  int64_t begin = plan->place[value->owner] + value->offset;

  return qm_units_piece (&plan->units, plan->units.of[value->owner],
                         plan->parts, plan->part, begin, begin + (int64_t) n);
}

/* A tensor at the address of a value. */
QmTensor
qm_executor_bind (const QmExecutor *executor, QmValueId id)
{
  const QmPlan *plan = executor->plan;
  QmTensor tensor = plan->graph->values[id].tensor;

  tensor.data = qm_plan_address (plan, &executor->regions, id);
  return tensor;
}

static QmStatus
run_one (QmExecutor *executor, const QmOpCall *call, QmError *error)
{
  switch (call->op)
    {
    case QM_OP_FETCH:
    case QM_OP_FETCHED:
    case QM_OP_SEND:
    case QM_OP_SENT:
      return executor->ranks != NULL
                 ? qm_rank_side_run (executor->ranks, call, error)
                 : qm_host_side_run (executor->side, call, error);
    case QM_OP_HOST_SUM_SQUARES:
    case QM_OP_HOST_ADAM:
    case QM_OP_HOST_UPDATED:
      return qm_host_side_run (executor->side, call, error);
    case QM_OP_ALL_REDUCE:
    case QM_OP_REDUCE_SCATTER:
    case QM_OP_ALL_GATHER:
    case QM_OP_EXCHANGED:
      return qm_rank_side_run (executor->ranks, call, error);
    default:
      return qm_op_run (executor->device, executor->stream, call, error);
    }
}

/* What the device cannot draw the host makes of what it drew, in place. */
static QmStatus
finish_on_host (QmExecutor *executor,
                const QmParameter *parameter,
                const QmTensor *drawn,
                QmError *error)
{
  int64_t n = qm_tensor_elements (drawn);
  size_t bytes = (size_t) n * sizeof (float);
  float *values;
  QmStatus status;

  if (!qm_initial_needs_host (parameter))
    return QM_OK;
  values = malloc (bytes);
  if (values == NULL)
    return qm_error_no_memory (error);
  status = qm_device_read (executor->device, executor->stream, values,
                           drawn->data, bytes, error);
  if (status == QM_OK)
    {
      qm_initial_finish (parameter, n, drawn->shape[drawn->rank - 1], values);
      status = qm_device_write (executor->device, executor->stream, drawn->data,
                                values, bytes, error);
    }
  free (values);
  return status;
}

/* Where the device can draw a whole parameter in fp32: in the largest of what
 * holds nothing yet, and is cleared afterwards. */
static QmStatus
draw_elsewhere (QmExecutor *executor, QmTensor *tensor, QmError *error)
{
  const QmMemory *memory = &executor->plan->memory;
  const QmRegions *regions = &executor->regions;
  const struct
  {
    uint64_t bytes;
    char *region;
  } rooms[] = {
    { memory->gradients, regions->gradients },
    { memory->optimizer, regions->moments },
    { memory->activations, regions->arena },
  };
  uint64_t room = 0;

  for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
    if (rooms[i].bytes > room)
      {
        room = rooms[i].bytes;
        tensor->data = rooms[i].region;
      }
  tensor->type = QM_TYPE_F32;
  if ((uint64_t) qm_tensor_elements (tensor) * 4 <= room)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "a parameter is larger than all that there is on the "
                       "device beside it");
}

/* Copies dense elements on the device. */
static QmStatus
copy_elements (QmExecutor *executor,
               QmType from_type,
               void *from,
               QmType to_type,
               void *to,
               int64_t n,
               QmError *error)
{
  QmOpCall copy = { .op = QM_OP_COPY };

  if (to == NULL || n == 0)
    return QM_OK;
  copy.inputs[0] = qm_tensor_dense (from_type, 1, &n, from);
  copy.outputs[0] = qm_tensor_dense (to_type, 1, &n, to);
  return run_one (executor, &copy, error);
}

/* A parameter that was drawn goes to where it is read on the device, and what
 * the rank has of it to its fp32 weights. */
static QmStatus
put_down (QmExecutor *executor,
          QmValueId id,
          const QmTensor *drawn,
          QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  int64_t n = qm_tensor_elements (drawn);
  QmPiece piece = qm_executor_piece (plan, id, (size_t) n);
  float *from = drawn->data, *master = qm_executor_master (executor);
  QmStatus status =
      copy_elements (executor, QM_TYPE_F32, from, value->tensor.type,
                     qm_plan_address (plan, &executor->regions, id), n, error);

  from += piece.whole - plan->place[value->owner] - value->offset;
  if (status != QM_OK || piece.n == 0 || master == NULL)
    return status;
  if (executor->side != NULL)
    return qm_host_side_take (executor->side, piece.own, from, piece.n, error);
  return copy_elements (executor, QM_TYPE_F32, from, QM_TYPE_F32,
                        master + piece.own, piece.n, error);
}

static QmStatus
draw_parameter (QmExecutor *executor, size_t index, bool used, QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmGraph *graph = plan->graph;
  const QmParameter *parameter = &graph->parameters[index];
  QmOpCall call = { 0 };
  QmStatus status;

  qm_initial_call (parameter, graph->values[parameter->value].tensor.rank,
                   qm_model_initializer_range (&plan->config), used, &call);
  call.outputs[0] = graph->values[parameter->value].tensor;
  call.attributes.site = SITE_WEIGHTS + (uint32_t) index;
  if (call.op == QM_OP_RANDOM)
    call.inputs[0] = qm_executor_bind (executor, graph->rng);
  status = draw_elsewhere (executor, &call.outputs[0], error);
  if (status == QM_OK)
    status = run_one (executor, &call, error);
  if (status == QM_OK)
    status = finish_on_host (executor, parameter, &call.outputs[0], error);
  return status == QM_OK
             ? put_down (executor, parameter->value, &call.outputs[0], error)
             : status;
}

/* Where weights were drawn. */
static QmStatus
clear_up (QmExecutor *executor, QmError *error)
{
  const QmMemory *memory = &executor->plan->memory;
  QmStatus status = clear_region (executor, executor->regions.gradients,
                                  memory->gradients, error);

  return status == QM_OK ? clear_region (executor, executor->regions.moments,
                                         memory->optimizer, error)
                         : status;
}

/* What stages 3 fetch in 16 bits is made of the fp32 weights. */
static QmStatus
round_own (QmExecutor *executor, QmError *error)
{
  const QmPlan *plan = executor->plan;

  if (plan->type == QM_TYPE_F32
      || !qm_sharding_weights (qm_plan_sharding (&plan->options)))
    return QM_OK;
  return copy_elements (executor, QM_TYPE_F32, executor->regions.master,
                        plan->type, executor->regions.weights, plan->own,
                        error);
}

static QmStatus
initialise (QmExecutor *executor, bool used, QmError *error)
{
  const QmPlan *plan = executor->plan;
  QmStatus status = QM_OK;

  if (executor->side != NULL)
    status = qm_executor_synchronize (executor, error);
  if (status == QM_OK)
    status = write_rng (executor, 0, error);
  for (size_t i = 0; i < plan->graph->n_parameters && status == QM_OK; i++)
    status = draw_parameter (executor, i, used, error);
  if (status == QM_OK)
    status = write_rng (executor, plan->options.rank, error);
  if (status == QM_OK)
    status = clear_up (executor, error);
  if (status == QM_OK)
    status = qm_executor_teach (executor, error);
  if (status != QM_OK)
    return status;
  return executor->side != NULL ? qm_host_side_publish (executor->side, error)
                                : round_own (executor, error);
}

QmStatus
qm_executor_initialise (QmExecutor *executor, QmError *error)
{
  return initialise (executor, false, error);
}

QmStatus
qm_executor_initialise_used (QmExecutor *executor, QmError *error)
{
  return initialise (executor, true, error);
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
  call.inputs[0] = qm_executor_bind (executor, executor->plan->graph->rng);
  call.outputs[0] = qm_executor_bind (executor, value);
  return run_one (executor, &call, error);
}

/* Numbers from 0 to 1. */
static QmStatus
draw_floats (QmExecutor *executor,
             QmValueId value,
             uint32_t site,
             QmError *error)
{
  QmOpCall call = { .op = QM_OP_RANDOM };

  if (value == QM_NO_VALUE)
    return QM_OK;
  call.attributes.distribution = QM_DISTRIBUTION_UNIFORM;
  call.attributes.site = site;
  call.attributes.scale = 1;
  call.inputs[0] = qm_executor_bind (executor, executor->plan->graph->rng);
  call.outputs[0] = qm_executor_bind (executor, value);
  return run_one (executor, &call, error);
}

QmStatus
qm_executor_random_batch (QmExecutor *executor, QmError *error)
{
  const QmGraph *graph = executor->plan->graph;
  int64_t classes = qm_graph_classes (graph);
  QmStatus status =
      draw_indices (executor, graph->ids, SITE_BATCH, classes, error);

  if (status == QM_OK)
    status =
        draw_indices (executor, graph->labels, SITE_BATCH + 1, classes, error);
  if (status == QM_OK)
    status = draw_floats (executor, graph->pixels, SITE_BATCH + 2, error);
  if (status == QM_OK)
    status = draw_floats (executor, graph->local_pixels, SITE_BATCH + 4, error);
  if (status == QM_OK && graph->times != QM_NO_VALUE)
    status = draw_indices (
        executor, graph->times, SITE_BATCH + 5,
        qm_graph_tensor (graph, graph->diffusion.schedule)->shape[0], error);
  return status == QM_OK
             ? draw_floats (executor, graph->noise, SITE_BATCH + 3, error)
             : status;
}

/* Whether all ranks are there: what fails between them no stream tells. */
QmStatus
qm_executor_check_others (const QmExecutor *executor, QmError *error)
{
  return executor->communicator != NULL
             ? qm_communicator_check (executor->communicator, error)
             : QM_OK;
}

static QmStatus
queue_calls (QmExecutor *executor,
             const QmOpCall *calls,
             size_t n,
             QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < n && status == QM_OK; i++)
    status = run_one (executor, &calls[i], error);
  return status;
}

/* Queues calls, through a capture where the plan says so.  The first time they
 * are queued one by one, so that whatever a device sets up lazily is set up. */
static QmStatus
queue_captured (QmExecutor *executor, QmRow *row, QmError *error)
{
  QmStatus status = qm_executor_check_others (executor, error), ended;

  if (status != QM_OK)
    return status;
  if ((executor->plan->options.methods & QM_METHOD_COMPILE) == 0)
    return queue_calls (executor, row->calls, row->n, error);
  if (row->captured != NULL)
    return qm_capture_launch (executor->device, executor->stream, row->captured,
                              error);
  status = queue_calls (executor, row->calls, row->n, error);
  if (status == QM_OK)
    status = qm_capture_begin (executor->device, executor->stream, error);
  if (status != QM_OK)
    return status;
  status = queue_calls (executor, row->calls, row->n, error);
  ended = qm_capture_end (executor->device, executor->stream, &row->captured,
                          status == QM_OK ? error : NULL);
  return status != QM_OK ? status : ended;
}

/* The row of a pass. */
static QmRow *
pass_row (QmExecutor *executor, bool last)
{
  last = last && executor->rows[ROW_LAST].calls != NULL;
  return &executor->rows[last ? ROW_LAST : ROW_PASS];
}

QmStatus
qm_executor_pass (QmExecutor *executor, bool last, QmError *error)
{
  return queue_captured (executor, pass_row (executor, last), error);
}

QmStatus
qm_executor_update (QmExecutor *executor, QmError *error)
{
  return queue_captured (executor, &executor->rows[ROW_UPDATE], error);
}

QmStatus
qm_executor_clear (QmExecutor *executor, QmError *error)
{
  QmTensor loss = qm_executor_bind (executor, executor->plan->graph->loss);
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
qm_executor_calls (QmExecutor *executor, QmPhase phase, size_t *n)
{
  const QmRow *row = phase == QM_PHASE_UPDATE
                         ? &executor->rows[ROW_UPDATE]
                         : pass_row (executor, phase == QM_PHASE_LAST);

  *n = row->n;
  return row->calls;
}

QmStatus
qm_executor_queue (QmExecutor *executor, const QmOpCall *call, QmError *error)
{
  return run_one (executor, call, error);
}

QmStatus
qm_executor_synchronize (QmExecutor *executor, QmError *error)
{
  QmStatus status =
      qm_stream_synchronize (executor->device, executor->stream, error);

  if (executor->side != NULL)
    qm_host_side_wait (executor->side);
  return status == QM_OK ? qm_executor_check_others (executor, error) : status;
}
