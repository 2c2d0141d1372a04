/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/train.h"

#include "data/clock.h"
#include "engine/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Training
{
  const QmPlan *plan;
  const QmSamples *samples;
  const QmTrainOptions *options;
  QmExecutor *executor;
} Training;

static const char *const schedules[] = {
  [QM_SCHEDULE_CONSTANT] = "constant",
  [QM_SCHEDULE_LINEAR] = "linear",
  [QM_SCHEDULE_COSINE] = "cosine",
};

bool
qm_schedule_parse (const char *text, QmSchedule *schedule)
{
  for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++)
    if (strcmp (text, schedules[i]) == 0)
      {
        *schedule = (QmSchedule) i;
        return true;
      }
  return false;
}

double
qm_schedule_rate (QmSchedule schedule,
                  double peak,
                  int64_t warm_up,
                  int64_t steps,
                  int64_t step)
{
  double done;

  if (step < warm_up)
    return peak * (double) step / (double) warm_up;
  done = steps > warm_up
             ? fmin (1, (double) (step - warm_up) / (double) (steps - warm_up))
             : 1;
  switch (schedule)
    {
    case QM_SCHEDULE_CONSTANT:
      break;
    case QM_SCHEDULE_LINEAR:
      return peak * (1 - done);
    case QM_SCHEDULE_COSINE:
      return peak * 0.5 * (1 + cos (3.14159265358979323846 * done));
    }
  return peak;
}

/* One update after the passes that it averages. */
static QmStatus
run_step (const Training *training, int64_t index, double rate, QmError *error)
{
  const QmPlan *plan = training->plan;
  int64_t first = index * plan->recipe.batch_size;
  int64_t all = plan->options.micro_batch * plan->options.ranks;
  QmStatus status =
      qm_executor_write_state (training->executor, QM_STATE_LEARNING_RATE,
                               (float) rate, error);

  for (int64_t i = 0; i < plan->accumulation && status == QM_OK; i++)
    {
      status =
          qm_samples_load (training->samples, plan, training->executor,
                           first + i * all
                               + plan->options.rank * plan->options.micro_batch,
                           error);
      if (status == QM_OK)
        status = qm_executor_pass (training->executor,
                                   i + 1 == plan->accumulation, error);
    }
  if (status == QM_OK)
    status = qm_executor_update (training->executor, error);
  return status;
}

static QmStatus
run_steps (const Training *training, QmError *error)
{
  const QmTrainOptions *options = training->options;
  QmStatus status = QM_OK;

  for (int64_t i = 0; i < options->steps && status == QM_OK; i++)
    {
      double begin = qm_clock (), peak = training->plan->recipe.learning_rate;
      double rate = qm_schedule_rate (options->schedule, peak, options->warm_up,
                                      options->steps, i);
      float state[QM_STATE_SIZE];
      QmTrainStep step = { .number = i + 1, .learning_rate = rate };

      status = run_step (training, i, rate, error);
      if (status == QM_OK)
        status = qm_executor_read_floats (training->executor,
                                          training->plan->graph->state, state,
                                          error);
      if (status == QM_OK)
        status = qm_executor_synchronize (training->executor, error);
      if (status != QM_OK)
        return status;
      step.seconds = qm_clock () - begin;
      step.loss = state[QM_STATE_LOSS];
      step.norm = state[QM_STATE_NORM];
      step.loss_scale = state[QM_STATE_LOSS_SCALE];
      step.skipped = state[QM_STATE_NOT_FINITE] != 0;
      if (!isfinite (step.loss))
        status = qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                               "the loss of step %lld is %s: the learning rate "
                               "may be too large",
                               (long long) step.number,
                               isnan (step.loss) ? "not a number" : "infinite");
      else if (!options->step (options->data, &step))
        status = qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
    }
  return status;
}

static QmStatus
set_weights (Training *training, QmError *error)
{
  const char *path = training->options->weights;
  QmSafetensors *file = NULL;
  QmStatus status;

  if (path == NULL)
    return qm_executor_initialise (training->executor, error);
  status = qm_safetensors_open (path, &file, error);
  if (status == QM_OK)
    status = qm_weights_load (training->plan, training->executor, file, path,
                              NULL, error);
  qm_safetensors_close (file);
  return status;
}

QmStatus
qm_train (const QmPlan *plan,
          QmDevice *device,
          const QmSamples *samples,
          const QmTrainOptions *options,
          QmError *error)
{
  Training training = { plan, samples, options, NULL };
  int64_t together = plan->options.micro_batch * plan->options.ranks;
  QmStatus status;

  if (plan->recipe.batch_size % together != 0)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "the batch size is not a multiple of the %lld samples "
                         "of a pass",
                         (long long) together);
  status = qm_executor_new (plan, device, options->communicator, options->seed,
                            &training.executor, error);
  if (status == QM_OK)
    status = set_weights (&training, error);
  if (status == QM_OK)
    status = run_steps (&training, error);
  if (status == QM_OK && options->out != NULL)
    status = qm_weights_save (plan, training.executor, options->averaged,
                              options->out, error);
  /* Before it waits for what others have a part in. */
  if (status != QM_OK && options->communicator != NULL)
    qm_communicator_abort (options->communicator, error->message);
  qm_executor_free (training.executor);
  return status;
}
