/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench worker: what a search measures in, so that a GPU that fails, or a
 * program that does, costs one measurement and not the search.
 *
 * JSON lines.  It says {"event": "ready", "device": {...}} once its device is
 * open.  Then each line that it is told is a measurement,
 *
 *   {"model": "pythia-1b", "model_key": "...", "settings": "free-lunch",
 *    "checkpoint": true, "sharding": "none", "offload": "none",
 *    "micro_batch": "32"}
 *
 * (without "model" where the command line has --config; with "cut_above" it is
 * given up after a pass where a step takes longer than that, in seconds), and
 * it says
 * {"event": "progress", "done": 0.5} as it goes on, and at the end
 * {"event": "result", "result": {...}} or
 * {"event": "error", "status": N, "message": "..."}.  The device stays open in
 * between, with all that was found out about it. */

#include "app/qm-bench-run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two lines of progress. */
#define PROGRESS 0.05

static double
now (void)
{
  struct timespec time = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static bool
on_progress (void *data, double done)
{
  double *said = data, time = now ();

  if (time - *said < PROGRESS)
    return true;
  *said = time;
  qm_bench_print_json (
      json_pack ("{s:s, s:f}", "event", "progress", "done", done));
  return true;
}

static void
say_error (const QmError *error)
{
  qm_bench_print_json (json_pack ("{s:s, s:i, s:s}", "event", "error", "status",
                                  (int) error->status, "message",
                                  error->message));
}

/* Whether the model is the one that is meant: a file may have been changed. */
static QmStatus
check_key (const QmBenchModel *model, const char *wanted, QmError *error)
{
  char key[QM_MODEL_KEY_BYTES];

  qm_model_key (&model->config, &model->recipe, key);
  if (strcmp (key, wanted) == 0)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_INVALID, model->name, 0, 0,
                       "was changed while the search ran");
}

/* Measures what a line says; the object keeps the strings. */
static QmStatus
measure (const json_t *job, QmBenchRun *run, QmBenchOptions *options)
{
  QmBenchModel model;
  const char *key = "";
  int checkpoint = 0;
  QmError error = { 0 };
  double said = 0;
  QmStatus status;

  options->model = json_string_value (json_object_get (job, "model"));
  if (json_unpack ((json_t *) job, "{s:s, s:s, s:s, s:b, s:s, s:s}",
                   "model_key", &key, "settings", &options->settings,
                   "micro_batch", &options->micro_batch, "checkpoint",
                   &checkpoint, "sharding", &options->sharding, "offload",
                   &options->offload)
      != 0)
    status = qm_error_set (&error, QM_STATUS_PARSE, "", 0, 0,
                           "a line is no measurement");
  else
    status = qm_bench_load_model (options, true, &model, &error);
  if (status != QM_OK)
    return say_error (&error), status;
  options->checkpoint = checkpoint != 0;
  run->cut_above = json_number_value (json_object_get (job, "cut_above"));
  if (run->ranks == 1)
    options->sharding = NULL; /* which alone changes nothing there */
  status = check_key (&model, key, &error);
  run->begin = now ();
  run->model = &model;
  if (status == QM_OK)
    status = qm_bench_run_measure (run, on_progress, &said, &error);
  if (status == QM_OK)
    qm_bench_print_json (json_pack ("{s:s, s:o}", "event", "result", "result",
                                    qm_bench_json_result (run)));
  else
    say_error (&error);
  qm_bench_run_clear (run);
  qm_bench_clear_model (&model);
  return status;
}

/* A device that failed is not to be used again. */
static QmStatus
measure_all (QmBenchRun *run, QmBenchOptions *options)
{
  char *line = NULL;
  size_t size = 0;
  QmStatus status = QM_OK;

  while (status != QM_STATUS_DEVICE && getline (&line, &size, stdin) > 0)
    {
      json_t *job = json_loads (line, 0, NULL);

      status = job != NULL ? measure (job, run, options) : QM_STATUS_DEVICE;
      json_decref (job);
    }
  free (line);
  return status;
}

int
qm_bench_worker (const QmBenchOptions *given)
{
  QmBenchOptions options = *given;
  QmBenchRun run = { .options = &options, .brief = true };
  QmError error = { 0 };
  QmStatus status;

  /* The search stops it. */
  signal (SIGINT, SIG_IGN);
  signal (SIGTERM, SIG_DFL);
  signal (SIGPIPE, SIG_DFL);
  status = qm_bench_run_open (&run, &error);
  if (status == QM_OK)
    {
      qm_bench_print_json (json_pack ("{s:s, s:o, s:i}", "event", "ready",
                                      "device",
                                      qm_bench_json_device (&run.info), "kind",
                                      (int) run.info.target.kind));
      status = measure_all (&run, &options);
    }
  else
    say_error (&error);
  qm_bench_run_close (&run);
  return status == QM_OK ? QM_BENCH_OK : QM_BENCH_FAILED;
}
