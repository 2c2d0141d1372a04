/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/measure.h"

#include "engine/executor.h"

#include <math.h>
#include <string.h>

/* Two of each before the clock: the first is queued call by call, the second is
 * the first launch of what was captured. */
#define WARM_UPS 2

typedef struct Measurement
{
  const QmPlan *plan;
  QmDevice *device;
  const QmMeasureOptions *options;
  QmExecutor *executor;
  QmEvent *events[QM_MEASURE_SAMPLES + 1];
  double done, all; /* passes */
} Measurement;

typedef QmStatus (*Work) (QmExecutor *executor, QmError *error);

static QmStatus
report (Measurement *m, double passes, QmError *error)
{
  double share;

  m->done += passes;
  share = m->done / m->all;
  if (m->options->progress == NULL
      || m->options->progress (m->options->data, share < 1 ? share : 1))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0, "interrupted");
}

static void
add_time (QmTimes *times, double seconds, int64_t before)
{
  if (before == 0)
    *times = (QmTimes){ 0, seconds, seconds };
  times->mean += (seconds - times->mean) / (double) (before + 1);
  times->least = fmin (times->least, seconds);
  times->most = fmax (times->most, seconds);
}

/* Runs `work` as often as there are samples, nothing in between, and adds the
 * time of each; returns their mean in *mean. */
static QmStatus
time_samples (Measurement *m,
              Work work,
              QmTimes *times,
              int64_t before,
              double *mean,
              QmError *error)
{
  QmStream *stream = qm_executor_stream (m->executor);
  QmStatus status = qm_event_record (m->device, stream, m->events[0], error);

  *mean = 0;
  for (int i = 0; i < QM_MEASURE_SAMPLES && status == QM_OK; i++)
    {
      status = work (m->executor, error);
      if (status == QM_OK)
        status = qm_event_record (m->device, stream, m->events[i + 1], error);
    }
  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  for (int i = 0; i < QM_MEASURE_SAMPLES && status == QM_OK; i++)
    {
      double seconds;

      status = qm_event_elapsed (m->device, m->events[i], m->events[i + 1],
                                 &seconds, error);
      add_time (times, seconds, before + i);
      *mean += seconds / QM_MEASURE_SAMPLES;
    }
  return status;
}

static QmStatus
warm_up (Measurement *m, QmError *error)
{
  QmStatus status = QM_OK;

  for (int i = 0; i < WARM_UPS && status == QM_OK; i++)
    {
      status = qm_executor_pass (m->executor, error);
      if (status == QM_OK)
        status = qm_executor_update (m->executor, error);
      if (status == QM_OK)
        status = qm_executor_synchronize (m->executor, error);
      if (status == QM_OK)
        status = report (m, 1, error);
    }
  return status;
}

static QmStatus
measure_once (Measurement *m,
              int index,
              QmMeasureResult *result,
              QmError *error)
{
  int64_t before = (int64_t) index * QM_MEASURE_SAMPLES;
  double pass, update;
  QmStatus status =
      time_samples (m, qm_executor_pass, &result->pass, before, &pass, error);

  if (status == QM_OK)
    status = report (m, QM_MEASURE_SAMPLES, error);
  if (status == QM_OK)
    status = time_samples (m, qm_executor_update, &result->update, before,
                           &update, error);
  if (status == QM_OK)
    add_time (&result->step, (double) m->plan->accumulation * pass + update,
              index);
  return status;
}

/* One whole step, at the full batch. */
static QmStatus
run_step (Measurement *m, double *seconds, QmError *error)
{
  QmStream *stream = qm_executor_stream (m->executor);
  QmStatus status = qm_event_record (m->device, stream, m->events[0], error);

  for (int64_t i = 0; i < m->plan->accumulation && status == QM_OK; i++)
    {
      status = qm_executor_pass (m->executor, error);
      if (status == QM_OK)
        status = report (m, 1, error);
    }
  if (status == QM_OK)
    status = qm_executor_update (m->executor, error);
  if (status == QM_OK)
    status = qm_event_record (m->device, stream, m->events[1], error);
  if (status == QM_OK)
    status = qm_event_elapsed (m->device, m->events[0], m->events[1], seconds,
                               error);
  return status;
}

static QmStatus
validate (Measurement *m, QmMeasureResult *result, QmError *error)
{
  QmStatus status = qm_executor_clear (m->executor, error);
  float loss = NAN;

  for (int64_t i = 0; i < m->options->validate && status == QM_OK; i++)
    {
      double seconds = 0;

      status = run_step (m, &seconds, error);
      if (status == QM_OK)
        add_time (&result->validated, seconds, i);
    }
  if (status == QM_OK && m->options->validate > 0)
    status = qm_executor_read_state (m->executor, QM_STATE_LOSS, &loss, error);
  result->loss = loss;
  return status;
}

static QmStatus
prepare (Measurement *m, QmError *error)
{
  QmStatus status = qm_executor_new (m->plan, m->device, m->options->seed,
                                     &m->executor, error);

  for (int i = 0; i <= QM_MEASURE_SAMPLES && status == QM_OK; i++)
    status = qm_event_create (m->device, &m->events[i], error);
  if (status == QM_OK)
    status = qm_executor_initialise (m->executor, error);
  if (status == QM_OK)
    status = qm_executor_random_batch (m->executor, error);
  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  return status;
}

QmStatus
qm_measure (const QmPlan *plan,
            QmDevice *device,
            const QmMeasureOptions *options,
            QmMeasureResult *result,
            QmError *error)
{
  Measurement m = { .plan = plan, .device = device, .options = options };
  QmStatus status;

  memset (result, 0, sizeof *result);
  m.all = WARM_UPS + (double) options->repeat * QM_MEASURE_SAMPLES
          + (double) options->validate * (double) plan->accumulation;
  status = prepare (&m, error);
  if (status == QM_OK)
    status = warm_up (&m, error);
  for (int i = 0; i < options->repeat && status == QM_OK; i++)
    status = measure_once (&m, i, result, error);
  if (status == QM_OK)
    status = validate (&m, result, error);
  if (status == QM_OK)
    {
      result->allocated = qm_executor_allocated (m.executor);
      result->total = result->step.mean * (double) plan->recipe.steps;
      result->tflops = qm_plan_pass_flops (plan) * (double) plan->accumulation
                       / result->step.mean / 1e12;
    }
  for (int i = 0; i <= QM_MEASURE_SAMPLES; i++)
    qm_event_free (device, m.events[i]);
  qm_executor_free (m.executor);
  return status;
}
