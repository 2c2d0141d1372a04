/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench worker: what a search measures in, so that a GPU that fails, or a
 * program that does, costs one measurement and not the search.
 *
 * JSON lines.  It says {"event": "ready", "device": {...}} once its device is
 * open, with "transport" and "transport_trial" where a trial showed how several
 * exchange: the next worker is told the former as --transport, and tries none.
 * Then each line that it is told is a measurement,
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
 * between, with all that was found out about it.  Where several machines work
 * together, it is the first's, and tells the others each line; "alive" in an
 * error says that it can measure more. */

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-run.h"
#include "data/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds between two lines of progress. */
#define PROGRESS 0.05

/* Seconds to wait for the other machines after a measurement failed. */
#define MEETING 30

/* Bytes of a line at most, where other machines are told it. */
#define LINE 4096

static bool
on_progress (void *data, double done)
{
  double *said = data, time = qm_clock ();

  if (time - *said < PROGRESS)
    return true;
  *said = time;
  qm_bench_print_json (
      json_pack ("{s:s, s:f}", "event", "progress", "done", done));
  return true;
}

/* Whether it is still `alive` where a device failed, since that is another
 * machine's. */
static void
say_error (const QmError *error, bool alive)
{
  qm_bench_print_json (json_pack ("{s:s, s:i, s:s, s:b}", "event", "error",
                                  "status", (int) error->status, "message",
                                  error->message, "alive", (int) alive));
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
                       "is another one here than where the search is, or was "
                       "changed while it ran");
}

/* Reads what a line says; the object keeps the strings. */
static QmStatus
read_job (const json_t *job,
          QmBenchOptions *options,
          const char **key,
          QmError *error)
{
  int checkpoint = 0;

  options->model = json_string_value (json_object_get (job, "model"));
  if (json_unpack ((json_t *) job, "{s:s, s:s, s:s, s:b, s:s, s:s}",
                   "model_key", key, "settings", &options->settings,
                   "micro_batch", &options->micro_batch, "checkpoint",
                   &checkpoint, "sharding", &options->sharding, "offload",
                   &options->offload)
      != 0)
    return qm_error_set (error, QM_STATUS_PARSE, "", 0, 0,
                         "a line is no measurement");
  options->checkpoint = checkpoint != 0;
  return QM_OK;
}

/* Measures what a line says; *result may be NULL. */
static QmStatus
measure_job (const json_t *job,
             QmBenchRun *run,
             QmBenchOptions *options,
             json_t **result,
             QmError *error)
{
  QmBenchModel model;
  const char *key = "";
  double said = 0;
  QmStatus status = read_job (job, options, &key, error);

  if (status == QM_OK)
    status = qm_bench_load_model (options, true, &model, error);
  if (status != QM_OK)
    return status;
  run->cut_above = json_number_value (json_object_get (job, "cut_above"));
  if (run->ranks == 1)
    options->sharding = NULL; /* which alone changes nothing there */
  status = check_key (&model, key, error);
  run->begin = qm_clock ();
  run->model = &model;
  if (status == QM_OK)
    status = qm_bench_run_measure (run, on_progress, &said, error);
  if (status == QM_OK && result != NULL)
    *result = qm_bench_json_result (run);
  qm_bench_run_clear (run);
  qm_bench_clear_model (&model);
  return status;
}

static bool
is_broken (const QmBenchRun *run)
{
  bool broken = run->broken;

  for (int i = 1; i < run->local && run->others != NULL; i++)
    broken = broken || run->others[i - 1].broken;
  return broken;
}

/* After a failure all meet anew, where they are there and have their devices;
 * else the measurement failed since a machine did, which says nothing of what
 * was to be measured.  Returns whether they have met. */
static bool
meet_again (QmBenchRun *run, const QmError *why)
{
  QmError error = { 0 };

  qm_bench_run_part (run, why->message);
  return !run->lost && !is_broken (run)
         && qm_bench_run_meet (run, MEETING, &error) == QM_OK;
}

/* Measures on all machines what a line says, or ends them where it is NULL. */
static QmStatus
measure_together (const char *line,
                  QmBenchRun *run,
                  QmBenchOptions *options,
                  json_t **result,
                  QmError *error)
{
  char text[LINE] = "";
  json_t *job;
  QmStatus status;

  if (line != NULL
      && snprintf (text, sizeof text, "%s", line) >= (int) sizeof text)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "a measurement has too long names");
  status = qm_bench_run_tell (run, text, sizeof text, error);
  if (status != QM_OK || line == NULL)
    return status;
  job = json_loads (text, 0, NULL);
  status = measure_job (job, run, options, result, error);
  json_decref (job);
  return status;
}

/* Measures what a line says, and says what came of it; false: no more can be
 * measured. */
static bool
work_on (const char *line, QmBenchRun *run, QmBenchOptions *options)
{
  bool together = qm_bench_nodes (options) > 1, alive = false;
  json_t *result = NULL, *job = NULL;
  QmError error = { 0 };
  QmStatus status;

  if (together)
    status = measure_together (line, run, options, &result, &error);
  else if ((job = json_loads (line, 0, NULL)) != NULL)
    status = measure_job (job, run, options, &result, &error);
  else
    return false;
  json_decref (job);
  if (status == QM_OK)
    {
      qm_bench_print_json (
          json_pack ("{s:s, s:o}", "event", "result", "result", result));
      return true;
    }
  if (together)
    {
      alive = meet_again (run, &error);
      if (!alive && !is_broken (run))
        error.status = QM_STATUS_GONE;
    }
  say_error (&error, alive);
  return together ? alive : status != QM_STATUS_DEVICE;
}

static void
say_ready (const QmBenchRun *run)
{
  json_t *ready = json_pack ("{s:s, s:o, s:i}", "event", "ready", "device",
                             qm_bench_json_device (&run->info), "kind",
                             (int) run->info.target.kind);

  if (run->trial.bytes > 0)
    json_object_set_new (ready, "transport",
                         json_string (qm_transport_name (run->wish)));
  qm_bench_json_trial (ready, &run->trial);
  qm_bench_print_json (ready);
}

int
qm_bench_worker (const QmBenchOptions *given)
{
  QmBenchOptions options = *given;
  QmBenchRun run = { .options = &options, .brief = true };
  QmError error = { 0 };
  char *line = NULL;
  size_t size = 0;
  bool goes_on;

  /* The search stops it. */
  signal (SIGINT, SIG_IGN);
  signal (SIGTERM, SIG_DFL);
  signal (SIGPIPE, SIG_DFL);
  goes_on =
      qm_bench_run_open (&run, &error) == QM_OK
      && ((qm_bench_nodes (&options) == 1 && !qm_bench_run_has_to_try (&run))
          || qm_bench_run_meet (&run, 0, &error) == QM_OK);
  if (goes_on)
    say_ready (&run);
  else
    say_error (&error, false);
  while (goes_on && getline (&line, &size, stdin) > 0)
    goes_on = work_on (line, &run, &options);
  if (goes_on && qm_bench_nodes (&options) > 1)
    measure_together (NULL, &run, &options, NULL, &error);
  free (line);
  qm_bench_run_close (&run);
  return goes_on ? QM_BENCH_OK : QM_BENCH_FAILED;
}

int
qm_bench_follow (const QmBenchOptions *given)
{
  QmBenchOptions options = *given;
  QmBenchRun run = { .options = &options, .brief = true };
  QmError error = { 0 };
  char line[LINE];
  QmStatus status = qm_bench_run_open (&run, &error);

  if (status == QM_OK)
    status = qm_bench_run_meet (&run, 0, &error);
  while (status == QM_OK)
    {
      json_t *job;

      status = qm_bench_run_tell (&run, line, sizeof line, &error);
      line[sizeof line - 1] = '\0';
      if (status != QM_OK || line[0] == '\0')
        break;
      job = json_loads (line, 0, NULL);
      status = measure_job (job, &run, &options, NULL, &error);
      json_decref (job);
      if (status != QM_OK && meet_again (&run, &error))
        status = QM_OK;
    }
  qm_bench_run_close (&run);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
