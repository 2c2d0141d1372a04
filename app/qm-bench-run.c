/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench run: measuring.  What it found is printed in qm-bench-result.c. */

#include "app/qm-bench-run.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-progress.h"
#include "app/qm-bench-ranks.h"
#include "data/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Begins to watch the device, before anything of its memory is used. */
static void
open_monitor (const char *device, QmBenchRun *run)
{
  QmReading reading;
  QmError error = { 0 };

  run->used_before = -1;
  if (qm_device_describe (device != NULL ? device : "", &run->info, NULL)
          != QM_OK
      || run->info.bus[0] == '\0')
    return;
  if (qm_monitor_open (run->info.bus, NULL, &run->monitor, &error) != QM_OK)
    {
      snprintf (run->silence, sizeof run->silence, "%s", error.message);
      return;
    }
  qm_monitor_facts (run->monitor, &run->facts);
  qm_monitor_read (run->monitor, &reading);
  run->used_before = reading.used_bytes;
}

/* Where the device is in the catalog, and model FLOPs utilisation there, NaN
 * where the peak is not known. */
static void
find_utilisation (QmBenchRun *run)
{
  bool tf32 = (run->plan->options.methods & QM_METHOD_TF32) != 0;
  QmCatalog *catalog;
  const QmGpu *gpu;

  run->mfu = NAN;
  if (qm_bench_load_catalog (&catalog, NULL) != QM_OK)
    return;
  gpu = qm_bench_find_gpu (catalog, &run->info);
  if (gpu != NULL)
    {
      snprintf (run->gpu, sizeof run->gpu, "%s", gpu->id);
      run->mfu = run->result.tflops / run->ranks
                 / qm_gpu_peak_tflops (gpu, run->plan->recipe.precision, tf32);
    }
  qm_catalog_free (catalog);
}

/* Holds what was used of the memory against what was planned. */
static void
find_memory_use (QmBenchRun *run)
{
  const QmMeasureResult *result = &run->result;

  run->used_bytes = -1;
  if (!qm_target_is_gpu (&run->info.target))
    return;
  if (result->used_bytes >= 0 && run->used_before >= 0)
    {
      run->used_bytes = result->used_bytes - run->used_before;
      run->used_source = "nvml";
    }
  else if (result->free_bytes > 0)
    {
      run->used_bytes =
          (int64_t) run->info.memory_bytes - (int64_t) result->free_bytes;
      run->used_source = "cuda, with that of other programs";
    }
}

static QmBenchRun *
rank_of (QmBenchRun *run, int rank)
{
  return rank == 0 ? run : &run->others[rank - 1];
}

static QmStatus
open_rank (void *data, int rank, QmError *error)
{
  QmBenchRun *run = rank_of (data, rank);
  QmBenchOptions options = *run->options;
  QmStatus status;

  if (run->id[0] != '\0')
    options.device = run->id;
  open_monitor (options.device, run);
  status = qm_bench_open_device (&options, &run->device, error);
  if (status == QM_OK)
    run->info = *qm_device_info (run->device);
  return status;
}

/* Makes the ranks of --gpus, as far as they are this machine's. */
static QmStatus
make_ranks (QmBenchRun *run, QmError *error)
{
  char ids[QM_BENCH_MOST_RANKS][32];
  QmStatus status =
      qm_bench_read_total (run->options, &run->local, &run->ranks, error);

  if (status == QM_OK)
    status = qm_bench_check_peers (run->options, run->ranks, error);
  if (status != QM_OK || run->ranks == 1)
    return status;
  run->rank = run->options->nodes.self * run->local;
  status = qm_bench_rank_devices (run->options, run->local, ids, error);
  if (status != QM_OK)
    return status;
  run->others = calloc ((size_t) run->local, sizeof *run->others);
  if (run->others == NULL)
    return qm_error_no_memory (error);
  for (int i = 0; i < run->local; i++)
    {
      QmBenchRun *rank = rank_of (run, i);

      rank->options = run->options;
      rank->brief = run->brief;
      rank->rank = run->options->nodes.self * run->local + i;
      rank->ranks = run->ranks;
      memcpy (rank->id, ids[i], sizeof rank->id);
    }
  return QM_OK;
}

QmStatus
qm_bench_run_open (QmBenchRun *run, QmError *error)
{
  double begin = qm_clock ();
  QmStatus status = make_ranks (run, error);

  run->begin = begin;
  if (status == QM_OK)
    status = qm_bench_ranks_do (run->rank, run->local, NULL, open_rank, NULL,
                                run, error);
  run->open_seconds = qm_clock () - begin;
  return status;
}

static void
clear_rank (QmBenchRun *run)
{
  qm_measure_result_clear (&run->result);
  json_decref (run->seen);
  run->seen = NULL;
  qm_plan_free (run->plan);
  run->plan = NULL;
}

void
qm_bench_run_clear (QmBenchRun *run)
{
  clear_rank (run);
  for (int i = 1; i < run->local && run->others != NULL; i++)
    clear_rank (rank_of (run, i));
}

static QmStatus
free_communicator (void *data, int rank, QmError *error)
{
  QmBenchRun *run = rank_of (data, rank);

  qm_communicator_free (run->communicator);
  run->communicator = NULL;
  return QM_OK;
}

void
qm_bench_run_part (QmBenchRun *run, const char *why)
{
  QmError error;

  if (run->world == NULL)
    return;
  if (why != NULL)
    qm_world_abort (run->world, run->rank, why);
  run->lost = qm_world_lost (run->world);
  qm_bench_ranks_do (run->rank, run->local, NULL, free_communicator, NULL, run,
                     &error);
  qm_world_free (run->world);
  run->world = NULL;
}

static void
close_rank (QmBenchRun *run)
{
  qm_monitor_close (run->monitor);
  qm_device_close (run->device);
  run->monitor = NULL;
  run->device = NULL;
}

void
qm_bench_run_close (QmBenchRun *run)
{
  qm_bench_run_part (run, NULL);
  close_rank (run);
  for (int i = 1; i < run->local && run->others != NULL; i++)
    close_rank (rank_of (run, i));
  free (run->others);
  run->others = NULL;
}

/* What a caller wants to know of a measurement goes through all ranks. */
typedef struct Measuring
{
  QmBenchRun *run;
  QmProgress progress;
  void *data;
} Measuring;

static QmStatus
meet_rank (void *data, int number, QmError *error)
{
  QmBenchRun *first = data, *run = rank_of (first, number);

  if (run->communicator != NULL)
    return QM_OK;
  return qm_communicator_new (first->world, run->rank, run->device, first->wish,
                              &run->communicator, error);
}

bool
qm_bench_run_has_to_try (const QmBenchRun *run)
{
  char note[192];

  if (run->local < 2 || run->options->no_peer || run->options->transport != NULL
      || !qm_target_is_gpu (&run->info.target))
    return false;
  for (int i = 0; i < run->local; i++)
    for (int j = 0; j < run->local; j++)
      if (i != j
          && qm_device_peers (qm_bench_run_rank (run, i)->info.id,
                              qm_bench_run_rank (run, j)->info.id))
        return false;
  return qm_nccl_find (note, sizeof note);
}

/* What the command line says, or what was found when they met before. */
static void
make_wish (QmBenchRun *run)
{
  const char *said = run->options->transport;

  if (run->options->no_peer)
    run->wish = QM_TRANSPORT_HOST;
  else if (said != NULL)
    run->wish = strcmp (said, qm_transport_name (QM_TRANSPORT_NCCL)) == 0
                    ? QM_TRANSPORT_NCCL
                    : QM_TRANSPORT_HOST;
  else if (run->trial.bytes == 0)
    run->wish = QM_TRANSPORT_AUTO;
}

/* Another trial might end otherwise, and times of one search with it. */
static void
keep_trial (QmBenchRun *run)
{
  QmTransportTrial trial = qm_communicator_trial (run->communicator);

  if (trial.bytes == 0)
    return;
  run->trial = trial;
  run->wish = qm_communicator_transport (run->communicator);
}

QmStatus
qm_bench_run_meet (QmBenchRun *run, double wait, QmError *error)
{
  QmStatus status = QM_OK;

  if (run->ranks == 1)
    return QM_OK;
  if (run->world == NULL)
    status = qm_bench_join (run->options, run->brief ? NULL : run->model,
                            run->local, wait, &run->world, error);
  make_wish (run);
  if (status == QM_OK)
    status = qm_bench_ranks_do (run->rank, run->local, run->world, meet_rank,
                                NULL, run, error);
  if (status == QM_OK)
    keep_trial (run);
  else
    qm_bench_run_part (run, NULL);
  return status;
}

/* What is told; each rank has a copy until all have it. */
typedef struct Telling
{
  QmBenchRun *run;
  char *text;
  size_t size;
} Telling;

static QmStatus
tell_rank (void *data, int number, QmError *error)
{
  const Telling *telling = data;
  char *copy = malloc (telling->size);
  QmStatus status;

  if (copy == NULL)
    return qm_error_no_memory (error);
  memcpy (copy, telling->text, telling->size);
  status = qm_communicator_tell (rank_of (telling->run, number)->communicator,
                                 copy, telling->size, error);
  if (status == QM_OK && number == 0)
    memcpy (telling->text, copy, telling->size);
  free (copy);
  return status;
}

QmStatus
qm_bench_run_tell (QmBenchRun *run, char *text, size_t size, QmError *error)
{
  Telling telling = { run, text, size };
  QmStatus status = qm_bench_ranks_do (run->rank, run->local, run->world,
                                       tell_rank, NULL, &telling, error);

  if (status != QM_OK)
    qm_bench_run_part (run, NULL);
  return status;
}

static QmStatus
measure_rank (void *data, int rank, QmError *error)
{
  const Measuring *measuring = data;
  QmBenchRun *first = measuring->run, *run = rank_of (first, rank);
  const QmBenchOptions *options = run->options;
  QmMeasureOptions measure = { .repeat = (int) options->repeat,
                               .validate = options->validate,
                               .seed = (uint64_t) options->seed,
                               .monitor = run->monitor,
                               .profile = options->profile,
                               .busy = &run->busy,
                               .brief = run->brief,
                               .cut_above = first->cut_above,
                               .progress =
                                   run->rank == 0 ? measuring->progress : NULL,
                               .data = measuring->data };
  double begin = qm_clock ();
  QmStatus status = QM_OK;

  if (run != first)
    run->model = first->model;
  measure.communicator = run->communicator;
  if (status == QM_OK)
    status = qm_bench_plan_rank (options, run->model, run->device,
                                 run->communicator, &run->plan, error);
  run->plan_seconds = qm_clock () - begin;
  if (status == QM_OK)
    status = qm_measure (run->plan, run->device, &measure, &run->result, error);
  if (status == QM_OK)
    find_memory_use (run);
  if (status == QM_STATUS_DEVICE
      && qm_bench_ranks_own_fault (first->world, run->rank, error))
    run->broken = true;
  return status;
}

QmStatus
qm_bench_run_measure (QmBenchRun *run,
                      QmProgress progress,
                      void *data,
                      QmError *error)
{
  Measuring measuring = { run, progress, data };
  QmStatus status = qm_bench_run_meet (run, 0, error);

  if (status == QM_OK)
    status = qm_bench_ranks_do (run->rank, run->local, run->world, measure_rank,
                                NULL, &measuring, error);
  if (status == QM_OK)
    status = qm_bench_run_gather (run, error);
  if (status != QM_OK)
    {
      qm_bench_run_part (run, NULL);
      return status;
    }
  find_utilisation (run);
  run->total_seconds = qm_clock () - run->begin;
  return QM_OK;
}

/* Says what was found; whether the steps that were validated made sense. */
static QmStatus
say_result (const QmBenchRun *run, QmBenchEvents *events, QmError *error)
{
  QmStatus status = QM_OK;

  if (qm_bench_follows (run->options))
    return QM_OK;
  if (run->options->validate > 0 && !isfinite (run->result.loss))
    status =
        qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                      "after %lld whole steps the loss is %s",
                      (long long) run->options->validate,
                      isnan (run->result.loss) ? "not a number" : "infinite");
  if (events != NULL)
    {
      qm_bench_events_say (events, "result", qm_bench_json_result (run));
      if (status == QM_OK)
        qm_bench_events_end (events, NULL);
    }
  else if (run->options->json)
    qm_bench_print_json (qm_bench_json_result (run));
  else
    qm_bench_print_result (run);
  return status;
}

int
qm_bench_run (const QmBenchOptions *options)
{
  QmBenchMeter meter = qm_bench_meter (options);
  QmBenchModel model;
  QmBenchRun run = { .options = options, .model = &model };
  QmError error = { 0 };
  QmStatus status = qm_bench_load_model (options, true, &model, &error);

  if (status == QM_OK)
    {
      status = qm_bench_run_open (&run, &error);
      if (status == QM_OK)
        {
          if (!qm_bench_follows (options))
            qm_bench_say_products (&run.info);
          qm_bench_events_open (meter.events, &run.info);
          status =
              qm_bench_run_measure (&run, qm_bench_meter_move, &meter, &error);
        }
      if (status != QM_OK)
        qm_bench_meter_break (&meter);
      if (status == QM_OK)
        status = say_result (&run, meter.events, &error);
      qm_bench_run_clear (&run);
      qm_bench_run_close (&run);
      qm_bench_clear_model (&model);
    }
  if (status != QM_OK)
    qm_bench_events_error (meter.events, &error, NULL);
  qm_bench_events_free (meter.events);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
