/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/measure.h"

#include "data/clock.h"
#include "engine/executor.h"

#include <math.h>
#include <string.h>

/* Two of each before the clock: the first is queued call by call, the second is
 * the first launch of what was captured. */
#define WARM_UPS 2

/* A first pass that takes so long, without anything to choose, is all that has
 * to be before the clock, if a measurement is to be brief: beside it, launching
 * what was captured for the first time takes nothing, and it heats as well as
 * any other. */
#define SECONDS_OF_LONG_PASS 1.0

/* A first pass that takes so long, without anything to choose, is as good as
 * another to see that a way is no near miss: the host queues faster. */
#define SECONDS_TO_JUDGE 0.5

/* A GPU that was idle is faster than it can stay: for the first second or so
 * its power is below the limit that later holds its clocks back.  It is kept
 * busy for so many seconds before anything is timed.  After a measurement it
 * does not begin from idle, but the limit holds the mean power of about a
 * second, in which it forgets what was before: it is kept busy for as long as
 * it was idle since, and no shorter than that second, as other work may need
 * other clocks.  So passes are timed at steady clocks in any case. */
#define SECONDS_OF_HEAT       2.0
#define SECONDS_OF_HEAT_LEAST 1.0

/* Passes that are queued at a time.  One more than the device is busy with, so
 * that it never waits, and no more, so that a user who stops is obeyed soon. */
#define IN_FLIGHT 2

/* Of the samples, or of a step and of passes in flight. */
#define N_EVENTS (QM_MEASURE_SAMPLES + 1)
_Static_assert(2 + IN_FLIGHT <= N_EVENTS, "a step has enough events");

/* Of the counter of energy: it counts no more often than about every 100 ms, so
 * over less time power says more. */
#define SECONDS_OF_ENERGY 1.0

/* What samples have to take together, if there are to be fewer of them. */
#define SECONDS_OF_SAMPLES 1.2

typedef struct Measurement
{
  const QmPlan *plan;
  QmDevice *device;
  const QmMeasureOptions *options;
  QmExecutor *executor;
  QmEvent *events[N_EVENTS];
  double done, all; /* passes */
  double rest; /* seconds that the host went on after the last timed pass */
  double pass, last, update; /* seconds of those before the clock; `pass` may be
                                that of the last of a step */
  int64_t heated;            /* passes that were queued last */
  int64_t n_passes, n_last, n_updates; /* that were timed */
} Measurement;

typedef QmStatus (*Work) (QmExecutor *executor, QmError *error);

static QmStatus
run_pass (QmExecutor *executor, QmError *error)
{
  return qm_executor_pass (executor, false, error);
}

static QmStatus
run_last (QmExecutor *executor, QmError *error)
{
  return qm_executor_pass (executor, true, error);
}

/* What ranks have to do alike they decide by the slowest of them, whose time is
 * that of all. */
static QmStatus
agree_on_most (Measurement *m, double *values, size_t n, QmError *error)
{
  return m->options->communicator != NULL
             ? qm_communicator_agree (m->options->communicator,
                                      QM_AGREE_MAXIMUM, values, n, error)
             : QM_OK;
}

/* Whether one of them says so. */
static QmStatus
any_of_them (Measurement *m, bool *value, QmError *error)
{
  double number = *value;
  QmStatus status = agree_on_most (m, &number, 1, error);

  *value = number > 0;
  return status;
}

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

static bool
offloads (const Measurement *m)
{
  return m->plan->options.offload;
}

int
qm_measure_brief_samples (double seconds)
{
  double wanted = ceil (SECONDS_OF_SAMPLES / fmax (seconds, 1e-9));

  return wanted < QM_MEASURE_SAMPLES ? (int) wanted : QM_MEASURE_SAMPLES;
}

static int
sample_count (const Measurement *m, double seconds)
{
  return m->options->brief ? qm_measure_brief_samples (seconds)
                           : QM_MEASURE_SAMPLES;
}

/* Runs `work` `n` times, nothing in between, and adds the time of each and
 * `more`; returns their mean in *mean. */
static QmStatus
time_samples (Measurement *m,
              Work work,
              int n,
              QmTimes *times,
              int64_t *before,
              double more,
              double *mean,
              QmError *error)
{
  double ended, unused;
  QmStream *stream = qm_executor_stream (m->executor);
  QmStatus status = qm_event_record (m->device, stream, m->events[0], error);

  *mean = 0;
  for (int i = 0; i < n && status == QM_OK; i++)
    {
      status = work (m->executor, error);
      if (status == QM_OK)
        status = qm_event_record (m->device, stream, m->events[i + 1], error);
    }
  if (status == QM_OK)
    status = qm_event_elapsed (m->device, m->events[0], m->events[n], &unused,
                               error);
  ended = qm_clock ();
  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  m->rest = qm_clock () - ended;
  for (int i = 0; i < n && status == QM_OK; i++)
    {
      double seconds = 0;

      status = qm_event_elapsed (m->device, m->events[i], m->events[i + 1],
                                 &seconds, error);
      seconds += more;
      if (status == QM_OK)
        status = agree_on_most (m, &seconds, 1, error);
      add_time (times, seconds, (*before)++);
      *mean += seconds / n;
    }
  return status;
}

/* Queues pass `index` of a row of them that began with the first event, once
 * few enough are in flight. */
static QmStatus
queue_pass (Measurement *m, int64_t index, bool last, QmError *error)
{
  QmEvent *mine = m->events[2 + index % IN_FLIGHT];
  double seconds;
  QmStatus status = QM_OK;

  if (index >= IN_FLIGHT)
    status = qm_event_elapsed (m->device, m->events[0], mine, &seconds, error);
  if (status == QM_OK)
    status = qm_executor_pass (m->executor, last, error);
  if (status == QM_OK)
    status = qm_event_record (m->device, qm_executor_stream (m->executor), mine,
                              error);
  return status;
}

/* An update and a pass after it, so that what comes next begins while the host
 * may still be at work on what the pass sent, as most passes do. */
static QmStatus
warm_up_once (Measurement *m, QmError *error)
{
  double begin = qm_clock (), between;
  QmStatus status = qm_executor_update (m->executor, error);

  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  between = qm_clock ();
  m->update = between - begin;
  if (status == QM_OK)
    status = run_last (m->executor, error);
  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  m->pass = qm_clock () - between;
  if (status == QM_OK)
    status = agree_on_most (m, &m->pass, 1, error);
  m->last = m->pass;
  if (status == QM_OK)
    status = agree_on_most (m, &m->update, 1, error);
  return status == QM_OK ? report (m, 1, error) : status;
}

/* How long a GPU has to be kept busy that was idle until `begin`. */
static double
seconds_of_heat (const Measurement *m, double begin)
{
  double idle = SECONDS_OF_HEAT;

  if (m->options->busy != NULL && *m->options->busy > 0)
    idle = begin - *m->options->busy;
  return fmax (SECONDS_OF_HEAT_LEAST, fmin (idle, SECONDS_OF_HEAT));
}

/* Whether what is queued keeps a GPU busy until `end`. */
static bool
busy_until (const Measurement *m, double end)
{
  int64_t whole = m->heated < IN_FLIGHT ? m->heated : IN_FLIGHT - 1;

  return qm_clock () + (double) whole * m->pass >= end;
}

/* Keeps a GPU busy with passes until `seconds` after `begin`: none that is the
 * last of a step, which would add up sums again and again. */
static QmStatus
heat (Measurement *m, double begin, double seconds, QmError *error)
{
  QmStream *stream = qm_executor_stream (m->executor);
  bool more = !busy_until (m, begin + seconds);
  QmStatus status = QM_OK;

  if (!qm_target_is_gpu (&qm_device_info (m->device)->target))
    return QM_OK;
  status = qm_event_record (m->device, stream, m->events[0], error);
  if (status == QM_OK)
    status = any_of_them (m, &more, error);
  while (status == QM_OK && more)
    {
      status = queue_pass (m, m->heated++, false, error);
      if (status == QM_OK)
        status = report (m, 0, error);
      more = !busy_until (m, begin + seconds);
      if (status == QM_OK)
        status = any_of_them (m, &more, error);
    }
  return status;
}

/* Whether the last pass of a step does what the others do not, and whether
 * there are others. */
static bool
has_last (const Measurement *m)
{
  return qm_plan_has_last (m->plan);
}

static bool
has_others (const Measurement *m)
{
  return m->plan->accumulation > 1 || !has_last (m);
}

/* Seconds of a step by one pass, the last and one update, of which ranks have
 * agreed on the longest.  A single pass while offloading waits for the host,
 * whose work those of a step hide, or the other way round: in a row they may
 * take half of that. */
static double
rough_step (const Measurement *m)
{
  double passes = (double) (m->plan->accumulation - 1) * m->pass + m->last;

  return (offloads (m) ? passes / 2 : passes) + m->update;
}

/* Whether a step takes longer than anybody wants to know. */
static QmStatus
is_cut (Measurement *m, bool *cut, QmError *error)
{
  *cut = m->options->cut_above > 0 && rough_step (m) > m->options->cut_above;
  return any_of_them (m, cut, error);
}

/* One pass that is not the last of a step; *chose: for some of its products an
 * algorithm had to be found. */
static QmStatus
warm_up_other (Measurement *m, bool *chose, QmError *error)
{
  uint64_t choices = qm_device_choices (m->device);
  double begin = qm_clock ();
  QmStatus status = run_pass (m->executor, error);

  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  m->pass = qm_clock () - begin;
  *chose = qm_device_choices (m->device) > choices;
  if (status == QM_OK)
    status = any_of_them (m, chose, error);
  if (status == QM_OK)
    status = agree_on_most (m, &m->pass, 1, error);
  return status == QM_OK ? report (m, 1, error) : status;
}

/* So far all passes were the last of a step, whose exchange may take as long as
 * they; one of the others tells what most of a step takes. */
static QmStatus
try_other (Measurement *m, QmError *error)
{
  bool chose;
  QmStatus status = warm_up_other (m, &chose, error);

  return status == QM_OK && (chose || m->pass < SECONDS_TO_JUDGE)
             ? warm_up_other (m, &chose, error)
             : status;
}

static QmStatus
try_last (Measurement *m, bool *cut, QmError *error)
{
  QmStatus status = is_cut (m, cut, error);

  if (status != QM_OK || !*cut || !has_last (m) || !has_others (m))
    return status;
  status = try_other (m, error);
  return status == QM_OK ? is_cut (m, cut, error) : status;
}

/* Passes before the clock, one or two; what is cut is known after the first, if
 * that tells it.  *busy: since when nothing but passes ran. */
static QmStatus
warm_up_passes (
    Measurement *m, double *tuned, double *busy, bool *cut, QmError *error)
{
  uint64_t choices = qm_device_choices (m->device);
  QmStatus status = warm_up_once (m, error);
  bool chose = qm_device_choices (m->device) > choices, again, tells;
  bool enough = m->options->brief && m->pass > SECONDS_OF_LONG_PASS;

  *tuned = qm_clock ();
  *busy = *tuned - (enough ? m->pass : 0);
  if (status == QM_OK)
    status = any_of_them (m, &chose, error);
  again = chose || !enough;
  tells = !chose && m->pass > SECONDS_TO_JUDGE;
  if (status == QM_OK && tells)
    status = try_last (m, cut, error);
  if (status == QM_OK && again && !*cut)
    status = warm_up_once (m, error);
  return status == QM_OK && !tells ? try_last (m, cut, error) : status;
}

static QmStatus
warm_up (Measurement *m, QmPhases *phases, bool *cut, QmError *error)
{
  double begin = qm_clock (), seconds = seconds_of_heat (m, begin), tuned, busy;
  QmStatus status = warm_up_passes (m, &tuned, &busy, cut, error);

  phases->tune = tuned - begin;
  /* While the host updated, the GPU was idle. */
  if (offloads (m))
    busy = qm_clock () - m->pass;
  if (status == QM_OK && !*cut)
    status = heat (m, busy, seconds, error);
  phases->warm_up = qm_clock () - begin - phases->tune;
  return status;
}

/* Seconds of the passes of a step, and of the update behind them. */
typedef struct StepTimes
{
  double pass, last, update;
} StepTimes;

/* Those that are the last of a step, from sums of nothing on. */
static QmStatus
time_last (Measurement *m, QmTimes *times, double *mean, QmError *error)
{
  QmStatus status = qm_executor_clear (m->executor, error);

  return status == QM_OK ? time_samples (m, run_last, sample_count (m, m->pass),
                                         times, &m->n_last, 0, mean, error)
                         : status;
}

/* Times the passes while the monitor watches. */
static QmStatus
time_passes (Measurement *m,
             QmMeasureResult *result,
             StepTimes *step,
             QmError *error)
{
  int n = sample_count (m, m->pass);
  QmMonitor *monitor = m->options->monitor;
  QmWatch watch;
  QmStatus status = monitor != NULL ? qm_monitor_begin (monitor, error) : QM_OK;

  if (status != QM_OK)
    return status;
  if (has_others (m))
    status = time_samples (m, run_pass, n, &result->pass, &m->n_passes, 0,
                           &step->pass, error);
  if (status == QM_OK && has_last (m))
    status = time_last (m, &result->last, &step->last, error);
  if (monitor == NULL)
    return status;
  qm_monitor_end (monitor, &watch);
  qm_watch_join (&result->watch, &watch);
  if (status == QM_OK && watch.lost)
    status = qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                           "%s was lost: it does not answer any more",
                           qm_device_info (m->device)->id);
  return status;
}

/* While offloading, a pass begins while the host is still at work on what the
 * one before it sent, so the first that is timed needs one before it: the last
 * that warmed up, or another. */
static QmStatus
begin_measurement (Measurement *m, int index, QmError *error)
{
  if (!offloads (m) || index == 0)
    return QM_OK;
  return run_pass (m->executor, error);
}

/* What the host still has to do after the last pass is part of the update.
 * While offloading, gradients are zero, so that none is infinite and no update
 * left out: on the host it would take another time. */
static QmStatus
time_updates (Measurement *m, QmTimes *times, double *mean, QmError *error)
{
  int n = sample_count (m, m->update);
  double rest = offloads (m) ? m->rest : 0;
  QmStatus status =
      offloads (m) ? qm_executor_clear (m->executor, error) : QM_OK;

  return status == QM_OK ? time_samples (m, qm_executor_update, n, times,
                                         &m->n_updates, rest, mean, error)
                         : status;
}

static QmStatus
measure_once (Measurement *m,
              int index,
              QmMeasureResult *result,
              QmError *error)
{
  StepTimes step = { 0 };
  double others = (double) m->plan->accumulation;
  QmStatus status = begin_measurement (m, index, error);

  if (status == QM_OK)
    status = time_passes (m, result, &step, error);
  if (status == QM_OK)
    status = report (m, QM_MEASURE_SAMPLES, error);
  if (status == QM_OK)
    status = time_updates (m, &result->update, &step.update, error);
  if (has_last (m))
    others--;
  else
    result->last = result->pass;
  if (!has_others (m))
    result->pass = result->last;
  if (status == QM_OK)
    add_time (&result->step, others * step.pass + step.last + step.update,
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
      status = queue_pass (m, i, i + 1 == m->plan->accumulation, error);
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
  return status == QM_OK ? agree_on_most (m, seconds, 1, error) : status;
}

/* Draws weights and data. */
static QmStatus
draw_training (Measurement *m, QmError *error)
{
  QmStatus status = qm_executor_initialise_used (m->executor, error);

  return status == QM_OK ? qm_executor_random_batch (m->executor, error)
                         : status;
}

/* Begins once more, so that the loss depends on nothing but the seed. */
static QmStatus
validate (Measurement *m, QmMeasureResult *result, QmError *error)
{
  QmStatus status = QM_OK;
  float loss = NAN;

  if (m->options->validate > 0)
    status = qm_executor_restart (m->executor, m->options->seed, error);
  if (status == QM_OK && m->options->validate > 0)
    status = draw_training (m, error);

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
prepare_executor (Measurement *m, QmPhases *phases, QmError *error)
{
  double begin = qm_clock ();
  QmStatus status =
      qm_executor_new (m->plan, m->device, m->options->communicator,
                       m->options->seed, &m->executor, error);

  for (int i = 0; i < N_EVENTS && status == QM_OK; i++)
    status = qm_event_create (m->device, &m->events[i], error);
  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  phases->allocate = qm_clock () - begin;
  if (status == QM_OK)
    status = draw_training (m, error);
  if (status == QM_OK)
    status = qm_executor_synchronize (m->executor, error);
  phases->initialise = qm_clock () - begin - phases->allocate;
  return status;
}

/* What of the device's memory is taken while everything is allocated. */
static void
look_at_memory (Measurement *m, QmMeasureResult *result)
{
  QmReading reading = { .used_bytes = -1 };

  if (m->options->monitor != NULL)
    qm_monitor_read (m->options->monitor, &reading);
  result->allocated = qm_executor_allocated (m->executor);
  result->free_bytes = qm_device_free_bytes (m->device);
  result->used_bytes = reading.used_bytes;
}

/* What follows from the times. */
static void
conclude_times (Measurement *m, QmMeasureResult *result)
{
  const QmPlan *plan = m->plan;
  const QmWatch *watch = &result->watch;

  result->total = result->step.mean * (double) plan->recipe.steps;
  result->tflops = qm_plan_pass_flops (plan) * (double) plan->accumulation
                   * plan->options.ranks / result->step.mean / 1e12;
  result->watts = watch->seconds >= SECONDS_OF_ENERGY && watch->joules > 0
                      ? watch->joules / watch->seconds
                      : watch->watts.mean;
}

/* What of a step is exchange that nothing hides: of the rank that waits least,
 * since others wait for it, too. */
static QmStatus
measure_waits (Measurement *m, QmMeasureResult *result, QmError *error)
{
  double others = (double) m->plan->accumulation - has_last (m);
  double all[3];
  QmStatus status;

  result->exchange = NAN;
  if (m->options->communicator == NULL || offloads (m))
    return QM_OK;
  status = qm_waits (m->executor, has_last (m), &result->waits, error);
  all[0] = result->waits.pass;
  all[1] = result->waits.last;
  all[2] = result->waits.update;
  if (status == QM_OK)
    status = qm_communicator_agree (m->options->communicator, QM_AGREE_MINIMUM,
                                    all, 3, error);
  if (status == QM_OK)
    result->exchange = others * all[0] + (has_last (m) ? all[1] : 0) + all[2];
  return status;
}

/* What is known of what was cut. */
static QmStatus
conclude_cut (Measurement *m, QmMeasureResult *result)
{
  double step = rough_step (m);

  add_time (&result->pass, m->pass, 0);
  add_time (&result->last, m->last, 0);
  add_time (&result->update, m->update, 0);
  add_time (&result->step, step, 0);
  result->watts = NAN;
  result->loss = NAN;
  result->exchange = NAN;
  result->used_bytes = -1;
  result->allocated = qm_executor_allocated (m->executor);
  result->total = step * (double) m->plan->recipe.steps;
  result->tflops = NAN;
  return QM_OK;
}

static QmStatus
run_all (Measurement *m, QmMeasureResult *result, QmError *error)
{
  QmPhases *phases = &result->phases;
  QmStatus status = prepare_executor (m, phases, error);
  double begin;

  if (status == QM_OK)
    status = warm_up (m, phases, &result->cut, error);
  if (status == QM_OK && result->cut)
    return conclude_cut (m, result);
  begin = qm_clock ();
  for (int i = 0; i < m->options->repeat && status == QM_OK; i++)
    status = measure_once (m, i, result, error);
  phases->measure = qm_clock () - begin;
  if (m->options->busy != NULL)
    *m->options->busy = qm_clock ();
  if (status == QM_OK)
    status = measure_waits (m, result, error);
  if (status == QM_OK)
    status = validate (m, result, error);
  phases->validate = qm_clock () - begin - phases->measure;
  if (status == QM_OK)
    {
      look_at_memory (m, result);
      conclude_times (m, result);
    }
  begin = qm_clock ();
  if (status == QM_OK && m->options->profile)
    status = qm_profile (m->executor, &result->profile, error);
  phases->profile = qm_clock () - begin;
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
  if (options->profile && offloads (&m))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "operators are not timed one by one while offloading "
                         "(%s): copies run beside them",
                         qm_sharding_name (plan->options.sharding));
  result->watch = qm_watch_nothing ();
  m.all = WARM_UPS + (double) options->repeat * QM_MEASURE_SAMPLES
          + (double) options->validate * (double) plan->accumulation;
  status = run_all (&m, result, error);
  /* Before it waits for what others have a part in. */
  if (status != QM_OK && options->communicator != NULL)
    qm_communicator_abort (options->communicator, error->message);
  for (int i = 0; i < N_EVENTS; i++)
    qm_event_free (device, m.events[i]);
  qm_executor_free (m.executor);
  if (status != QM_OK)
    qm_measure_result_clear (result);
  return status;
}

void
qm_measure_result_clear (QmMeasureResult *result)
{
  qm_profile_clear (&result->profile);
}
