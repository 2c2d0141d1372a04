/* SPDX-License-Identifier: Apache-2.0 */

/* What an executor works on, read and written from outside. */

#include "engine/executor-private.h"
#include "kernels/convert.h"

#include <stdlib.h>
#include <string.h>

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
    return qm_error_no_memory (error);
  qm_floats_store (type, converted, 1, (int64_t) n, from);
  status = qm_device_write (executor->device, executor->stream, to, converted,
                            n * qm_type_size (type), error);
  free (converted);
  return status;
}

/* Writes what the rank has of a parameter to its fp32 weights, and to those
 * that are fetched. */
static QmStatus
write_piece (QmExecutor *executor,
             QmValueId id,
             const float *from,
             size_t n,
             QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  QmPiece piece = qm_executor_piece (plan, id, n);
  size_t size = qm_type_size (plan->type), count = (size_t) piece.n;
  float *master = qm_executor_master (executor);
  char *fetched = NULL;
  QmStatus status;

  from += piece.whole - plan->place[value->owner] - value->offset;
  if (piece.n == 0 || master == NULL)
    return QM_OK;
  if (executor->side != NULL)
    {
      status = qm_executor_synchronize (executor, error);
      if (status != QM_OK)
        return status;
      memcpy (master + piece.own, from, count * sizeof *from);
      fetched = qm_host_side_weights (executor->side);
      if (fetched != NULL)
        qm_floats_store (plan->type, fetched + (size_t) piece.own * size, 1,
                         piece.n, from);
      return QM_OK;
    }
  status =
      write_as (executor, QM_TYPE_F32, master + piece.own, from, count, error);
  if (status == QM_OK && plan->type != QM_TYPE_F32
      && qm_plan_is_fetched (plan, value->owner))
    status = write_as (executor, plan->type,
                       executor->regions.weights + (size_t) piece.own * size,
                       from, count, error);
  return status;
}

QmStatus
qm_executor_write_floats (QmExecutor *executor,
                          QmValueId id,
                          const float *from,
                          QmError *error)
{
  QmTensor tensor = qm_executor_bind (executor, id);
  size_t n = elements (executor, id);
  QmStatus status = QM_OK;

  if (executor->plan->graph->values[id].role == QM_ROLE_PARAMETER)
    status = write_piece (executor, id, from, n, error);
  if (status == QM_OK && tensor.data != NULL)
    status = write_as (executor, tensor.type, tensor.data, from, n, error);
  return status;
}

/* Of a parameter or its gradient: where what the rank has of all of them in
 * fp32 is, from the first element on, and whether on the host; NULL where the
 * device has the whole of it, or where it is neither. */
static const float *
own_floats (const QmExecutor *executor, QmRole role, bool *of_host)
{
  const QmPlan *plan = executor->plan;

  *of_host = executor->side != NULL;
  if (role == QM_ROLE_PARAMETER)
    return qm_executor_master (executor);
  if (role != QM_ROLE_GRADIENT)
    return NULL;
  if (executor->side != NULL && qm_host_side_gradients (executor->side) != NULL)
    return qm_host_side_gradients (executor->side);
  *of_host = false;
  return qm_sharding_gradients (qm_plan_sharding (&plan->options))
             ? (const float *) (const void *) executor->regions.gradients
             : NULL;
}

/* The part of a unit that the rank has, where it is no longer in one piece with
 * the others: gradients of ZeRO 1 are summed where they are. */
static const float *
summed_part (const QmExecutor *executor, const QmUnit *unit)
{
  const QmPlan *plan = executor->plan;

  return (const float *) (const void *) executor->regions.gradients
         + unit->begin + plan->part * qm_unit_part (unit, plan->parts);
}

static QmStatus
read_shared (QmExecutor *executor,
             QmValueId id,
             const float *own,
             bool of_host,
             float *to,
             QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  int32_t index = plan->units.of[value->owner];
  const QmUnit *unit = &plan->units.list[index];
  QmStatus status = qm_executor_synchronize (executor, error);

  if (status != QM_OK)
    return status;
  return qm_rank_side_read (executor->ranks, index,
                            own != NULL ? own + unit->begin / plan->parts
                                        : summed_part (executor, unit),
                            of_host, plan->place[value->owner] + value->offset,
                            (int64_t) elements (executor, id), to, error);
}

static QmStatus
read_as (QmExecutor *executor,
         QmType type,
         const void *from,
         size_t n,
         float *to,
         QmError *error)
{
  size_t bytes = n * qm_type_size (type);
  void *raw;
  QmStatus status;

  if (type == QM_TYPE_F32)
    return qm_device_read (executor->device, executor->stream, to, from, bytes,
                           error);
  raw = malloc (bytes);
  if (raw == NULL)
    return qm_error_no_memory (error);
  status = qm_device_read (executor->device, executor->stream, raw, from, bytes,
                           error);
  if (status == QM_OK)
    qm_floats_load (type, raw, 1, (int64_t) n, to);
  free (raw);
  return status;
}

/* Of floats of the rank's own, on the device or the host. */
static QmStatus
read_own (QmExecutor *executor,
          QmValueId id,
          const float *own,
          bool of_host,
          float *to,
          QmError *error)
{
  size_t n = elements (executor, id);
  QmStatus status;

  own += qm_executor_piece (executor->plan, id, n).own;
  if (!of_host)
    return read_as (executor, QM_TYPE_F32, own, n, to, error);
  status = qm_executor_synchronize (executor, error);
  if (status == QM_OK)
    memcpy (to, own, n * sizeof *to);
  return status;
}

QmStatus
qm_executor_read_floats (QmExecutor *executor,
                         QmValueId id,
                         float *to,
                         QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmValue *value = &plan->graph->values[id];
  QmTensor tensor = qm_executor_bind (executor, id);
  size_t n = elements (executor, id);
  bool of_host;
  const float *own = own_floats (executor, value->role, &of_host);

  if (plan->parts > 1 && (own != NULL || value->role == QM_ROLE_GRADIENT))
    return read_shared (executor, id, own, of_host, to, error);
  if (own == NULL)
    return read_as (executor, tensor.type, tensor.data, n, to, error);
  return read_own (executor, id, own, of_host, to, error);
}

static QmStatus
copy_all (
    QmExecutor *executor, QmType type, char *from, QmValueId to, QmError *error)
{
  const QmPlan *plan = executor->plan;
  QmOpCall copy = { .op = QM_OP_COPY };

  copy.inputs[0] = qm_tensor_dense (type, 1, &plan->slab, from);
  copy.outputs[0] = qm_executor_bind (executor, to);
  return qm_executor_queue (executor, &copy, error);
}

QmStatus
qm_executor_teach (QmExecutor *executor, QmError *error)
{
  const QmPlan *plan = executor->plan;
  const QmRegions *regions = &executor->regions;
  QmStatus status;

  if (!qm_model_has_teacher (&plan->config))
    return QM_OK;
  if (plan->teacher == QM_NO_VALUE)
    return copy_all (executor, QM_TYPE_F32, regions->weights, plan->average,
                     error);
  status =
      copy_all (executor, QM_TYPE_F32, regions->master, plan->average, error);
  return status == QM_OK ? copy_all (executor, plan->type, regions->weights,
                                     plan->teacher, error)
                         : status;
}

QmStatus
qm_executor_read_average (QmExecutor *executor,
                          size_t parameter,
                          float *to,
                          QmError *error)
{
  const QmPlan *plan = executor->plan;
  QmValueId id = plan->graph->parameters[parameter].value;
  bool of_host = executor->side != NULL;
  const float *own = NULL;

  if (of_host)
    own = qm_host_side_average (executor->side);
  else if (plan->average != QM_NO_VALUE)
    own = qm_executor_bind (executor, plan->average).data;
  if (own == NULL)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "the recipe has no average of weights");
  if (plan->parts > 1)
    return read_shared (executor, id, own, of_host, to, error);
  return read_own (executor, id, own, of_host, to, error);
}

QmStatus
qm_executor_write_ints (QmExecutor *executor,
                        QmValueId id,
                        const int32_t *from,
                        QmError *error)
{
  QmTensor tensor = qm_executor_bind (executor, id);

  return qm_device_write (executor->device, executor->stream, tensor.data, from,
                          elements (executor, id) * sizeof *from, error);
}

static float *
state_address (const QmExecutor *executor, int index)
{
  return (float *) qm_executor_bind (executor, executor->plan->graph->state)
             .data
         + index;
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
  QmStatus status =
      qm_device_read (executor->device, executor->stream, value,
                      state_address (executor, index), sizeof *value, error);

  return status == QM_OK ? qm_executor_check_others (executor, error) : status;
}
