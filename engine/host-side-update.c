/* SPDX-License-Identifier: Apache-2.0 */

/* Three rows of work that run at the same time, on parts of what the rank has
 * in their order: gradients go down to the host (ZeRO 1), its threads update
 * weights, weights go up.  The stream `down` starts the threads, `up` waits for
 * them.
 *
 * The norm of all gradients is known before: the device has it where it has the
 * gradients, else the host sums their squares; the state of training is always
 * updated by the device, so that its numbers do not depend on offloading. */

#include "engine/host-side-private.h"
#include "kernels/average.h"
#include "kernels/convert.h"

#include <stdlib.h>
#include <string.h>

/* Elements that a thread rounds at a time. */
#define CHUNK 16384

QmStatus
qm_host_side_plan_update (QmHostSide *side, QmError *error)
{
  const QmPlan *plan = side->plan;
  const QmRecipe *recipe = &plan->recipe;
  bool fetched = qm_sharding_weights (plan->options.sharding);

  side->n_updating = plan->n_host_parts;
  side->updating = calloc (side->n_updating, sizeof *side->updating);
  if (side->updating == NULL)
    return qm_error_no_memory (error);
  for (size_t i = 0; i < side->n_updating; i++)
    {
      QmUpdating *part = &side->updating[i];
      int64_t begin = plan->host_parts[i].own;
      QmSlot *slot = &side->slots[i % QM_HOST_SLOTS];

      part->side = side;
      part->begin = begin;
      part->n = plan->host_parts[i].n;
      part->slot = (int) (i % QM_HOST_SLOTS);
      part->adam = (QmHostAdam){
        .kernel = qm_host_kernel_best (),
        .beta1 = (float) recipe->beta1,
        .beta2 = (float) recipe->beta2,
        .epsilon = (float) recipe->epsilon,
        .weight_decay = (float) recipe->weight_decay,
        .decoupled = recipe->optimizer == QM_OPTIMIZER_ADAMW,
        .clear = side->gradients != NULL,
        .state = side->state,
        .gradient_type = QM_TYPE_F32,
        .gradient = side->gradients != NULL ? (void *) (side->gradients + begin)
                                            : slot->gradients,
        .master = side->master + begin,
        .m = side->m + begin,
        .v = side->v + begin,
        .weights_type =
            fetched && side->weights == NULL ? QM_TYPE_NONE : plan->type,
        .weights = fetched ? side->weights : slot->weights,
      };
    }
  return QM_OK;
}

static void
round_body (void *data, int64_t begin, int64_t end)
{
  const QmUpdating *part = data;
  const QmHostAdam *adam = &part->adam;

  /* Clears the gradients; the weights stay as they are. */
  qm_host_adam (adam, begin, end);
  qm_floats_store (adam->weights_type,
                   (char *) adam->weights
                       + qm_host_side_bytes (part->side, begin),
                   1, end - begin, adam->master + begin);
}

/* The average with the weights that it is of, while they are near. */
static void
average_body (void *data, int64_t begin, int64_t end)
{
  const QmUpdating *part = data;
  const QmHostAdam *adam = &part->adam;
  const float *master = adam->master;
  float *average = part->side->average + part->begin;
  float decay = (float) part->side->plan->recipe.ema_decay;

  if (qm_average_is_due (adam->state, true))
    memcpy (average + begin, master + begin,
            (size_t) (end - begin) * sizeof *average);
  qm_host_adam (adam, begin, end);
  for (int64_t i = begin; i < end; i++)
    average[i] = qm_average_next (average[i], master[i], decay);
}

/* Weights in a slot are sent whether they changed or not. */
static void
start_updating (void *data)
{
  QmUpdating *part = data;
  QmTask *task = part->side->slots[part->slot].task;

  if (part->side->state[QM_STATE_NOT_FINITE] != 0
      && part->side->slots[part->slot].weights != NULL)
    qm_task_start (task, &(QmTaskRange){ 0, part->n, CHUNK, false }, round_body,
                   part);
  else if (part->side->average != NULL
           && qm_average_is_due (part->side->state, false))
    qm_task_start (task, &(QmTaskRange){ 0, part->n, CHUNK, false },
                   average_body, part);
  else
    qm_host_adam_start (task, &part->adam, 0, part->n);
}

static void
finish_updating (void *data)
{
  QmUpdating *part = data;
  QmHostSide *side = part->side;

  qm_task_wait (side->slots[part->slot].task);
  if (part == &side->updating[side->n_updating - 1])
    qm_host_side_gather (side);
}

/* After the additions of the last pass. */
static void
sum_squares (void *data)
{
  QmHostSide *side = data;

  qm_host_side_wait (side);
  qm_host_squares_start (side->slots[0].task, &side->squares);
  qm_task_wait (side->slots[0].task);
  *side->sum = (float) qm_host_squares_result (&side->squares);
}

static QmStatus
give_sum (QmHostSide *side, const QmTensor *sum, QmError *error)
{
  QmStatus status = qm_host_side_follow (side, side->down, side->stream, error);

  if (status == QM_OK)
    status =
        qm_stream_call (side->device, side->down, sum_squares, side, error);
  if (status == QM_OK)
    status = qm_stream_write (side->device, side->down, sum->data, side->sum,
                              sizeof *side->sum, error);
  return status == QM_OK
             ? qm_host_side_join (side, side->down, side->down_done, error)
             : status;
}

/* Brings gradients into the slot, and leaves zeros. */
static QmStatus
take_gradients (QmHostSide *side,
                const QmUpdating *part,
                const QmTensor *gradients,
                QmError *error)
{
  size_t bytes = (size_t) part->n * 4;
  QmStatus status;

  if (!qm_tensor_present (gradients))
    return QM_OK;
  status = qm_stream_read (side->device, side->down,
                           side->slots[part->slot].gradients, gradients->data,
                           bytes, error);
  return status == QM_OK ? qm_device_set (side->device, side->down,
                                          gradients->data, 0, bytes, error)
                         : status;
}

static QmStatus
give_weights (QmHostSide *side,
              const QmUpdating *part,
              const QmTensor *weights,
              QmError *error)
{
  QmSlot *slot = &side->slots[part->slot];
  QmStatus status = QM_OK;

  if (qm_tensor_present (weights))
    status =
        qm_stream_write (side->device, side->up, weights->data, slot->weights,
                         qm_host_side_bytes (side, part->n), error);
  if (status == QM_OK)
    status = qm_event_record (side->device, side->up, slot->emptied, error);
  return status;
}

/* Before the first part: what has to be known of the state. */
static QmStatus
begin_update (QmHostSide *side, const QmTensor *state, QmError *error)
{
  QmStatus status = qm_host_side_follow (side, side->down, side->stream, error);

  return status == QM_OK
             ? qm_stream_read (side->device, side->down, side->state,
                               state->data, QM_STATE_SIZE * sizeof *side->state,
                               error)
             : status;
}

static QmStatus
update_part (QmHostSide *side, const QmOpCall *call, QmError *error)
{
  size_t index = (size_t) call->attributes.unit;
  QmUpdating *part = &side->updating[index];
  QmSlot *slot = &side->slots[part->slot];
  QmStatus status = QM_OK;

  if (index == 0)
    status = begin_update (side, &call->inputs[0], error);
  if (status == QM_OK && index >= QM_HOST_SLOTS)
    status = qm_stream_wait (side->device, side->down, slot->emptied, error);
  if (status == QM_OK)
    status = take_gradients (side, part, &call->outputs[0], error);
  if (status == QM_OK)
    status =
        qm_stream_call (side->device, side->down, start_updating, part, error);
  if (status == QM_OK)
    status = qm_event_record (side->device, side->down, slot->started, error);
  if (status == QM_OK)
    status = qm_stream_wait (side->device, side->up, slot->started, error);
  if (status == QM_OK)
    status =
        qm_stream_call (side->device, side->up, finish_updating, part, error);
  return status == QM_OK ? give_weights (side, part, &call->outputs[1], error)
                         : status;
}

/* What stays on the device by itself is made of the parts. */
static QmStatus
end_update (QmHostSide *side, QmError *error)
{
  QmStatus status = qm_host_side_raise (side, side->up, error);

  if (status == QM_OK)
    status = qm_host_side_join (side, side->down, side->down_done, error);
  return status == QM_OK
             ? qm_host_side_join (side, side->up, side->up_done, error)
             : status;
}

QmStatus
qm_host_side_update (QmHostSide *side, const QmOpCall *call, QmError *error)
{
  switch (call->op)
    {
    case QM_OP_HOST_SUM_SQUARES:
      return give_sum (side, &call->outputs[0], error);
    case QM_OP_HOST_ADAM:
      return update_part (side, call, error);
    default:
      return end_update (side, error);
    }
}
