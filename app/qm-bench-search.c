/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench search: measuring all ways to train.  Each result is on the disk
 * before the next is begun; measurements are made in a process of their own,
 * so that one that fails costs no other. */

#include "config.h"

#include "app/qm-bench-cause.h"
#include "app/qm-bench-nodes.h"
#include "app/qm-bench-ranks.h"
#include "app/qm-bench-search.h"
#include "data/clock.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After so many failures one after the other it is not the configurations. */
#define MOST_FAILURES 5

/* Seconds without progress after which a measurement is given up, and how often
 * the time that it should take all in all. */
#define PATIENCE       120.0
#define PATIENCE_TIMES 5.0

/* Seconds between two lines of progress. */
#define PROGRESS_TERMINAL 0.2
#define PROGRESS_FILE     10.0

/* What is shown while one entry is measured. */
typedef struct Meter
{
  size_t number, of;
  char what[256];
  double predicted, after; /* seconds: of this entry, of all after it */
  double begin, shown;
  double done;
  bool terminal;
  const struct QmBenchSearch *search;
  size_t entry;
} Meter;

static void
format_time (double seconds, char text[32])
{
  if (seconds < 99.5)
    snprintf (text, 32, "%.0f s", seconds);
  else if (seconds < 99.5 * 60)
    snprintf (text, 32, "%.0f min", seconds / 60);
  else
    snprintf (text, 32, "%.1f h", seconds / 3600);
}

static void
on_progress (void *data, double done)
{
  Meter *meter = data;
  double time = qm_clock (), left = meter->predicted;
  char text[32];

  meter->done = done;
  left = fmax (left - (time - meter->begin), left * (1 - done) / 2);
  if (meter->search->events != NULL)
    {
      qm_bench_events_progress (meter->search->events, (int64_t) meter->entry,
                                done, left + meter->after, NULL);
      return;
    }
  if (time - meter->shown
      < (meter->terminal ? PROGRESS_TERMINAL : PROGRESS_FILE))
    return;
  meter->shown = time;
  format_time (left + meter->after, text);
  fprintf (stderr, "%s%zu of %zu: %s: %.0f %%, %s left%s",
           meter->terminal ? "\r" : "", meter->number, meter->of, meter->what,
           done * 100, text, meter->terminal ? "\033[K" : "\n");
}

/* Nothing was heard for a moment. */
static void
on_glance_at_meter (void *data)
{
  Meter *meter = data;

  if (meter->search->events != NULL)
    on_progress (data, meter->done);
}

/* Shows what became of the entry. */
static void conclude_line (const Meter *meter, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

static void
conclude_line (const Meter *meter, const char *format, ...)
{
  char what[320];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (what, sizeof what, format, arguments);
  va_end (arguments);
  fprintf (stderr, "%s%zu of %zu: %s: %s%s\n", meter->terminal ? "\r" : "",
           meter->number, meter->of, meter->what, what,
           meter->terminal ? "\033[K" : "");
}

/* Adds what results have besides what `run` prints. */
static void
complete (const QmBenchSearch *search,
          const QmBenchEntry *entry,
          const char *status,
          json_t *object)
{
  char time[QM_RESULTS_TIME_BYTES];

  qm_results_now (time);
  json_object_set_new (object, "schema", json_integer (QM_RESULTS_SCHEMA));
  json_object_set_new (object, "status", json_string (status));
  json_object_set_new (object, "time", json_string (time));
  json_object_set_new (object, "model_key",
                       json_string (search->models[entry->model].key));
  json_object_set_new (object, "gpus", json_integer (search->gpus));
  qm_bench_json_nodes (object, search->options);
  /* A worker that was told what another one tried has tried nothing. */
  qm_bench_json_trial (object, &search->trial);
  json_object_set_new (object, "engine", json_string ("quartermaster"));
}

/* A result without times. */
static json_t *
describe_failure (const QmBenchSearch *search,
                  const QmBenchEntry *entry,
                  const char *reason)
{
  const QmBenchSearched *model = &search->models[entry->model];
  json_t *object = qm_bench_json_setting (&entry->options, &model->recipe);

  qm_bench_json_sums (object, &entry->options, &model->recipe);
  json_object_set_new (object, "memory_bytes",
                       qm_bench_json_memory (&entry->memory));
  json_object_set_new (object, "model", json_string (model->name));
  json_object_set_new (object, "gpu",
                       search->gpu != NULL ? json_string (search->gpu->id)
                                           : json_null ());
  json_object_set_new (object, "version", json_string (QM_VERSION));
  json_object_set_new (object, "device", qm_bench_json_device (&search->info));
  json_object_set_new (object, "machine",
                       qm_bench_json_machine (&search->info));
  json_object_set_new (object, "deterministic",
                       json_boolean (search->options->deterministic));
  if (search->gpus > 1)
    json_object_set_new (object, "transport",
                         json_string (qm_bench_search_transport (search)));
  json_object_set_new (object, "reason", json_string (reason));
  return object;
}

/* Adds which memory is short, and by how much. */
static json_t *
describe_shortage (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  char reason[320];
  json_t *object;

  qm_bench_format_shortage (entry, reason, sizeof reason);
  object = describe_failure (search, entry, reason);
  qm_bench_cause_shortage (object, &entry->shortage);
  qm_bench_json_whole (object, "memory_limit_bytes", search->memory_limit);
  qm_bench_json_whole (object, "host_limit_bytes", search->host_limit);
  return object;
}

/* Puts a result on the disk, and takes the object. */
static QmStatus
keep_result (QmBenchSearch *search,
             QmBenchEntry *entry,
             const char *state,
             json_t *object,
             QmError *error)
{
  QmStatus status;

  if (object == NULL)
    return qm_error_no_memory (error);
  complete (search, entry, state, object);
  status = qm_results_append (search->file, object, error);
  json_decref (object);
  if (status == QM_OK)
    qm_bench_say_change (search);
  if (status == QM_OK && qm_bench_entry_result (search, entry) == NULL)
    status = qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                           "what was measured is not what was asked for");
  if (status == QM_OK)
    entry->state = QM_BENCH_NEW;
  return status;
}

/* The measurement of an entry, for the worker. */
static json_t *
make_job (const QmBenchSearch *search, const QmBenchEntry *entry)
{
  const QmBenchSearched *model = &search->models[entry->model];
  char settings[64], micro_batch[24];
  json_t *job;

  qm_methods_format (entry->config.methods, settings, sizeof settings);
  snprintf (micro_batch, sizeof micro_batch, "%lld",
            (long long) entry->options.micro_batch);
  job = json_pack ("{s:s, s:s, s:s, s:b, s:s, s:s}", "model_key", model->key,
                   "settings", settings, "micro_batch", micro_batch,
                   "checkpoint", (int) entry->config.checkpoint, "sharding",
                   qm_sharding_name (entry->config.sharding), "offload",
                   qm_sharding_name (entry->config.offload
                                         ? entry->config.sharding
                                         : QM_SHARDING_NONE));
  if (search->options->config == NULL)
    json_object_set_new (job, "model", json_string (model->name));
  if (qm_bench_cut_above (search, entry) > 0)
    json_object_set_new (job, "cut_above",
                         json_real (qm_bench_cut_above (search, entry)));
  return job;
}

/* Starts the worker where there is none; it has to find the same device. */
static QmStatus
start_worker (QmBenchSearch *search, Meter *meter, QmError *error)
{
  const char *devices =
      search->gpus > 1 ? search->options->device : search->info.id;
  QmBenchOptions options = *search->options;
  QmDeviceInfo info;
  QmStatus status;

  if (qm_bench_worker_alive (search->worker))
    return QM_OK;
  qm_bench_worker_free (search->worker);
  search->worker = NULL;
  search->n_measured = 0;
  /* What was measured before is with the same. */
  options.transport = search->transport;
  status = qm_bench_worker_start (&options, devices, on_glance_at_meter, meter,
                                  &info, &search->worker, error);
  if (status == QM_OK
      && (strcmp (info.name, search->info.name) != 0
          || strcmp (info.driver, search->info.driver) != 0))
    {
      qm_bench_worker_free (search->worker);
      search->worker = NULL;
      search->cause = "other-device";
      status = qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                             "%s is another device now", search->info.id);
    }
  return status;
}

static double
time_left (const QmBenchSearch *search)
{
  return search->seconds > 0 ? search->begin + search->seconds - qm_clock ()
                             : INFINITY;
}

/* Measures an entry in the worker, which is started where there is none. */
static QmStatus
measure_once (QmBenchSearch *search,
              const QmBenchEntry *entry,
              Meter *meter,
              json_t **result,
              QmError *error)
{
  double most = PATIENCE + PATIENCE_TIMES * meter->predicted;
  QmBenchWait wait = { .patience = search->options->patience > 0
                                       ? (double) search->options->patience
                                       : most,
                       .stop_at = search->seconds > 0
                                      ? search->begin + search->seconds
                                      : 0,
                       .progress = on_progress,
                       .glance = on_glance_at_meter,
                       .data = meter };
  QmStatus status = start_worker (search, meter, error);
  json_t *job;

  if (status != QM_OK)
    return status;
  job = make_job (search, entry);
  if (job == NULL)
    return qm_error_no_memory (error);
  return qm_bench_worker_measure (search->worker, job, &wait, result, error);
}

static bool
is_out_of_memory (QmStatus status)
{
  return status == QM_STATUS_DEVICE_FULL || status == QM_STATUS_NO_MEMORY;
}

/* Measures an entry.  Memory may be short because a worker that measured before
 * has some of it left, which a new one has not. */
static QmStatus
measure_entry (QmBenchSearch *search,
               const QmBenchEntry *entry,
               Meter *meter,
               json_t **result,
               QmError *error)
{
  QmStatus status = measure_once (search, entry, meter, result, error);

  if (is_out_of_memory (status) && search->n_measured > 0
      && qm_bench_nodes (search->options) == 1)
    {
      qm_bench_worker_free (search->worker);
      search->worker = NULL;
      status = measure_once (search, entry, meter, result, error);
    }
  if (status == QM_OK)
    search->n_measured++;
  return status;
}

/* Takes a failure down, and has the half tried. */
static QmStatus
keep_failure (QmBenchSearch *search,
              size_t index,
              const Meter *meter,
              QmError *error)
{
  QmBenchEntry *entry = &search->entries[index];
  char reason[sizeof error->message];
  QmStatus status;
  json_t *object;

  memcpy (reason, error->message, sizeof reason);
  conclude_line (meter, "failed: %s", reason);
  object = describe_failure (search, entry, reason);
  qm_bench_cause_failure (object, error->status, search->worker);
  status = keep_result (search, entry, "failed", object, error);
  if (status == QM_OK)
    status = qm_bench_add_half (search, index, error);
  if (status == QM_OK && qm_bench_nodes (search->options) > 1
      && !qm_bench_worker_alive (search->worker))
    /* The other machines have ended with it. */
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0, "%s", reason);
  if (status != QM_OK || ++search->failures < MOST_FAILURES)
    return status;
  search->cause = "failures";
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "%d measurements failed one after the other, the last "
                       "because: %.120s",
                       search->failures, reason);
}

/* Takes down that an entry is slower than what is known. */
static QmStatus
keep_cut (QmBenchSearch *search,
          QmBenchEntry *entry,
          const Meter *meter,
          json_t *object,
          QmError *error)
{
  double step = json_number_value (json_object_get (object, "cut_step_s"));
  double fastest = qm_bench_cut_above (search, entry) / search->interval;
  char reason[128];

  snprintf (reason, sizeof reason,
            "by one pass a step takes about %.3g s, and the fastest way %.3g s",
            step, fastest);
  json_object_set_new (object, "reason", json_string (reason));
  qm_bench_cause_slower (object, fastest);
  conclude_line (meter, "cut: %s", reason);
  return keep_result (search, entry, "cut", object, error);
}

/* Does what has to be done for one entry. */
static QmStatus
work_on (QmBenchSearch *search, size_t index, Meter *meter, QmError *error)
{
  QmBenchEntry *entry = &search->entries[index];
  json_t *result = NULL;
  char days[32];
  QmStatus status;

  if (!entry->fits)
    {
      status = keep_result (search, entry, "infeasible",
                            describe_shortage (search, entry), error);
      if (status == QM_OK)
        conclude_line (meter, "infeasible: %s",
                       qm_bench_entry_result (search, entry)->reason);
      return status;
    }
  on_progress (meter, 0);
  status = measure_entry (search, entry, meter, &result, error);
  if (status == QM_STATUS_UNSUPPORTED)
    {
      entry->state = QM_BENCH_NOT_RUN;
      snprintf (entry->reason, sizeof entry->reason, "%s", error->message);
      return QM_OK;
    }
  /* Without a worker it is the device, and nothing that was measured. */
  if (search->worker != NULL
      && (status == QM_STATUS_DEVICE || is_out_of_memory (status)))
    return keep_failure (search, index, meter, error);
  if (status != QM_OK)
    return status;
  search->failures = 0;
  search->models[entry->model].n_measured++;
  if (json_object_get (result, "cut_step_s") != NULL)
    return keep_cut (search, entry, meter, result, error);
  status = keep_result (search, entry, "measured", result, error);
  if (status != QM_OK)
    return status;
  qm_bench_learn (search, entry);
  conclude_line (meter, "%s days",
                 qm_bench_format_days (
                     qm_bench_entry_result (search, entry)->days, 4, days));
  return QM_OK;
}

/* Seconds that all entries behind one will take. */
static double
predict_rest (const QmBenchSearch *search, size_t index)
{
  double seconds = 0;

  for (size_t i = index + 1; i < search->n_entries; i++)
    if (search->entries[i].state == QM_BENCH_LEFT)
      seconds += qm_bench_forecast (search, &search->entries[i]);
  return fmin (seconds, fmax (time_left (search), 0));
}

static size_t
count_state (const QmBenchSearch *search, QmBenchState state)
{
  size_t n = 0;

  for (size_t i = 0; i < search->n_entries; i++)
    n += search->entries[i].state == state;
  return n;
}

/* The same, telling what is done, and which entries have come. */
static QmStatus
work_and_tell (QmBenchSearch *search,
               size_t index,
               Meter *meter,
               QmError *error)
{
  size_t before = search->n_entries;
  QmStatus status;

  if (search->entries[index].fits)
    qm_bench_events_entry (search->events, search, &search->entries[index],
                           true);
  status = work_on (search, index, meter, error);
  if (status == QM_OK)
    qm_bench_events_entry (search->events, search, &search->entries[index],
                           false);
  for (size_t i = before; i < search->n_entries; i++)
    qm_bench_events_entry (search->events, search, &search->entries[i], false);
  return status;
}

/* Whether a model has had its time: several GPUs are dear, and what is forecast
 * to be the fastest was measured first.  The first way is always measured. */
static bool
is_over_budget (const QmBenchSearch *search,
                const QmBenchEntry *entry,
                double seconds)
{
  const QmBenchSearched *model = &search->models[entry->model];

  return search->gpus > 1 && search->options->time_limit == NULL
         && model->n_measured > 0
         && model->spent + seconds > QM_BENCH_SEARCH_SECONDS;
}

/* Works through the entries; there may come more. */
static QmStatus
work (QmBenchSearch *search, QmError *error)
{
  Meter meter = { .terminal = isatty (STDERR_FILENO), .search = search };
  QmStatus status = QM_OK;

  for (size_t i = 0; i < search->n_entries && status == QM_OK; i++)
    {
      QmBenchEntry *entry = &search->entries[i];

      size_t model = entry->model;

      if (entry->state != QM_BENCH_LEFT)
        continue;
      if (qm_bench_interrupted () || qm_bench_is_last ())
        return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                             "interrupted");
      meter.number++;
      meter.of = meter.number - 1 + count_state (search, QM_BENCH_LEFT);
      meter.predicted = qm_bench_forecast (search, entry);
      meter.after = predict_rest (search, i);
      meter.begin = qm_clock ();
      meter.shown = 0;
      meter.done = 0;
      meter.entry = i;
      qm_bench_describe (search, entry, meter.what, sizeof meter.what);
      if (entry->fits
          && (meter.predicted > time_left (search)
              || is_over_budget (search, entry, meter.predicted)))
        {
          entry->state = QM_BENCH_NO_TIME;
          meter.number--;
          continue;
        }
      status = work_and_tell (search, i, &meter, error);
      search->models[model].spent += qm_clock () - meter.begin;
    }
  return status;
}

/* Checks what was asked for before anything is opened. */
static QmStatus
read_options (QmBenchSearch *search, QmError *error)
{
  const QmBenchOptions *options = search->options;
  const char *methods = options->methods != NULL ? options->methods : "all";
  QmStatus status = QM_OK;
  int local;

  if (!qm_search_methods_parse (methods, &search->methods))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--methods is naive, free-lunch or all, not '%.32s'",
                         methods);
  if (options->results != NULL && strcmp (options->results, "-") == 0)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--results has to be a file: what is known is read "
                         "from it, too");
  status = qm_bench_read_total (options, &local, &search->gpus, error);
  if (status == QM_OK)
    status = qm_bench_check_peers (options, search->gpus, error);
  if (status == QM_OK && options->time_limit != NULL)
    status = qm_bench_read_time (options->time_limit, &search->seconds, error);
  if (status == QM_OK && options->time_limit != NULL && !(search->seconds > 0))
    status = qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                           "--time-limit has to be more than nothing");
  return status;
}

static void
on_opening (void *data)
{
  qm_bench_events_alive (data);
}

static QmStatus
prepare_search (QmBenchSearch *search, QmError *error)
{
  QmStatus status = read_options (search, error);

  qm_identity_here (&search->here);
  if (status == QM_OK)
    status = qm_bench_load_models (search, error);
  if (status == QM_OK)
    status = qm_bench_open_results (search, error);
  if (status == QM_OK)
    status = qm_bench_worker_start (search->options, search->options->device,
                                    on_opening, search->events, &search->info,
                                    &search->worker, error);
  if (status == QM_OK)
    search->transport =
        qm_bench_worker_transport (search->worker, &search->trial);
  if (status == QM_OK)
    status = qm_bench_search_memory (search, error);
  if (status == QM_OK && search->catalog != NULL)
    search->gpu = qm_bench_find_gpu (search->catalog, &search->info);
  if (status == QM_OK)
    {
      qm_bench_say_products (&search->info);
      qm_bench_events_begin (search->events, &search->info,
                             search->gpu != NULL ? search->gpu->id : NULL,
                             search->path);
      status = qm_bench_list_work (search, error);
    }
  if (status == QM_OK)
    qm_bench_events_list (search->events, search);
  return status;
}

static void
say_what_is_left (const QmBenchSearch *search)
{
  size_t n = count_state (search, QM_BENCH_NO_TIME)
             + count_state (search, QM_BENCH_LEFT);
  double seconds = 0;
  char time[32];

  if (n == 0)
    return;
  for (size_t i = 0; i < search->n_entries; i++)
    if (search->entries[i].state == QM_BENCH_NO_TIME
        || search->entries[i].state == QM_BENCH_LEFT)
      seconds += qm_bench_forecast (search, &search->entries[i]);
  format_time (seconds, time);
  qm_bench_say ("%zu measurement%s of about %s %s left; the same command "
                "goes on there",
                n, n > 1 ? "s" : "", time, n > 1 ? "are" : "is");
}

/* Searches with one number of devices. */
static int
search_one (const QmBenchOptions *options, double begin)
{
  QmBenchSearch search = { .options = options, .begin = begin };
  QmError error = { 0 };
  bool prepared;
  QmStatus status;

  if (options->events && (search.events = qm_bench_events_new ()) == NULL)
    return qm_error_no_memory (&error), qm_bench_fail (&error);
  status = prepare_search (&search, &error);
  prepared = status == QM_OK;
  if (prepared && !options->dry_run)
    status = work (&search, &error);
  if (status == QM_STATUS_INTERRUPTED && !qm_bench_interrupted ())
    status = QM_OK; /* the time was over */
  alarm (0);
  qm_bench_worker_free (search.worker);
  status = qm_bench_secure_results (&search, status, &error);
  if (status != QM_OK)
    qm_bench_events_error (search.events, &error, search.cause);
  if (prepared)
    {
      qm_bench_events_end (search.events, &search);
      if (!options->events)
        qm_bench_print_report (&search);
      say_what_is_left (&search);
    }
  qm_bench_free_work (&search);
  qm_bench_events_free (search.events);
  qm_results_close (search.file);
  qm_catalog_free (search.catalog);
  free (search.models);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}

/* The numbers that were asked for, each once, in their order; returns how many
 * there are. */
static int
find_counts (const QmBenchOptions *options, int64_t counts[QM_OPTION_NUMBERS])
{
  int n = 0;

  for (int i = 0; i < options->gpu_counts.n; i++)
    {
      int64_t count = options->gpu_counts.numbers[i];
      int known = 0;

      while (known < n && counts[known] != count)
        known++;
      if (known == n)
        counts[n++] = count;
    }
  return n;
}

/* One number of devices after the other; what was measured stays whatever
 * becomes of the next. */
int
qm_bench_search (const QmBenchOptions *options)
{
  char devices[512];
  int64_t counts[QM_OPTION_NUMBERS];
  int n = find_counts (options, counts);
  QmBenchOptions one = *options;
  double begin = qm_clock ();
  int status = QM_BENCH_OK;

  /* A disk that is full, and that nobody listens, are errors. */
  signal (SIGXFSZ, SIG_IGN);
  signal (SIGPIPE, SIG_IGN);
  if (n == 0)
    return qm_bench_follows (options) ? qm_bench_follow (options)
                                      : search_one (options, begin);
  for (int i = 0; i < n && status == QM_BENCH_OK; i++)
    {
      one.gpus = counts[i];
      /* Of some of the numbers, that is nothing to say. */
      if (n > 1)
        one.no_peer =
            options->no_peer && one.gpus * qm_bench_nodes (options) > 1;
      if (options->device != NULL && n > 1)
        {
          qm_bench_first_devices (options->device, one.gpus, devices,
                                  sizeof devices);
          one.device = devices;
        }
      status = qm_bench_follows (options) ? qm_bench_follow (&one)
                                          : search_one (&one, begin);
    }
  return status;
}
