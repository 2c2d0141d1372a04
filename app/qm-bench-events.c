/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "app/qm-bench-events.h"

#include "app/qm-bench-cause.h"
#include "app/qm-bench-search.h"
#include "data/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds between two signs of life, and between two lines of progress. */
#define ALIVE    1.0
#define PROGRESS 0.5

struct QmBenchEvents
{
  QmMonitor *monitor; /* NULL: nothing is known of clocks and power */
  double watts_limit;
  double said, progress; /* when something was said */
};

QmBenchEvents *
qm_bench_events_new (void)
{
  return calloc (1, sizeof (QmBenchEvents));
}

void
qm_bench_events_free (QmBenchEvents *events)
{
  if (events != NULL)
    qm_monitor_close (events->monitor);
  free (events);
}

void
qm_bench_events_said (QmBenchEvents *events)
{
  if (events != NULL)
    events->said = qm_clock ();
}

/* Makes an object the event of that name, which comes first in it; takes it. */
void
qm_bench_events_say (QmBenchEvents *events, const char *name, json_t *object)
{
  json_t *event;

  if (events != NULL)
    {
      qm_bench_events_said (events);
      event = json_pack ("{s:s}", "event", name);
      if (object != NULL)
        json_object_update (event, object);
      qm_bench_print_json (event);
    }
  json_decref (object);
}

void
qm_bench_events_alive (QmBenchEvents *events)
{
  if (events != NULL && qm_clock () - events->said >= ALIVE)
    qm_bench_events_say (events, "alive", NULL);
}

void
qm_bench_events_begin (QmBenchEvents *events,
                       const QmDeviceInfo *info,
                       const char *gpu,
                       const char *results)
{
  json_t *event;
  QmFacts facts;

  if (events == NULL)
    return;
  if (info != NULL && info->bus[0] != '\0'
      && qm_monitor_open (info->bus, NULL, &events->monitor, NULL) == QM_OK)
    {
      qm_monitor_facts (events->monitor, &facts);
      events->watts_limit = facts.watts_max;
    }
  event = json_object ();
  json_object_set_new (event, "device",
                       info != NULL ? qm_bench_json_device (info)
                                    : json_null ());
  json_object_set_new (event, "gpu",
                       gpu != NULL ? json_string (gpu) : json_null ());
  json_object_set_new (event, "results",
                       results != NULL ? json_string (results) : json_null ());
  json_object_set_new (event, "version", json_string (QM_VERSION));
  qm_bench_events_say (events, "begin", event);
}

void
qm_bench_events_open (QmBenchEvents *events, const QmDeviceInfo *info)
{
  QmCatalog *catalog = NULL;
  const QmGpu *gpu = NULL;

  if (events == NULL)
    return;
  if (qm_bench_load_catalog (&catalog, NULL) == QM_OK)
    gpu = qm_bench_find_gpu (catalog, info);
  qm_bench_events_begin (events, info, gpu != NULL ? gpu->id : NULL, NULL);
  qm_catalog_free (catalog);
}

/* What counts of an entry now. */
static const char *
status_of (const QmBenchSearch *search, const QmBenchEntry *entry, bool running)
{
  switch (entry->state)
    {
    case QM_BENCH_NOT_RUN:
      return "not run";
    case QM_BENCH_NO_TIME:
      return "left";
    case QM_BENCH_KNOWN:
    case QM_BENCH_NEW:
      return qm_result_status_name (
          qm_bench_entry_result (search, entry)->status);
    case QM_BENCH_LEFT:
      break;
    }
  return running ? "running" : "waiting";
}

static void
add_result (json_t *event, const QmBenchEntry *entry, const QmResult *result)
{
  if (result->status == QM_RESULT_MEASURED)
    {
      qm_bench_json_number (event, "days", result->days);
      qm_bench_json_number (event, "step_s", result->step);
      qm_bench_json_number (event, "mfu", result->mfu);
      qm_bench_json_whole (event, "used_bytes", result->used_bytes);
      qm_bench_json_number (event, "watts", result->watts);
    }
  else
    {
      json_object_set_new (event, "reason", json_string (result->reason));
      qm_bench_cause_of_result (event, result->text);
    }
}

void
qm_bench_events_entry (QmBenchEvents *events,
                       const QmBenchSearch *search,
                       const QmBenchEntry *entry,
                       bool running)
{
  const QmBenchSearched *model = &search->models[entry->model];
  char reason[320];
  json_t *event;

  if (events == NULL)
    return;
  event = qm_bench_json_setting (&entry->options, &model->recipe);
  json_object_set_new (event, "number", json_integer (entry - search->entries));
  json_object_set_new (event, "model", json_string (model->name));
  json_object_set_new (event, "status",
                       json_string (status_of (search, entry, running)));
  json_object_set_new (event, "sharding",
                       json_string (qm_sharding_name (entry->config.sharding)));
  json_object_set_new (event, "half", json_boolean (entry->half));
  json_object_set_new (event, "known",
                       json_boolean (entry->state == QM_BENCH_KNOWN));
  json_object_set_new (event, "fits", json_boolean (entry->fits));
  qm_bench_json_number (event, "cost_s",
                        entry->state == QM_BENCH_LEFT
                                || entry->state == QM_BENCH_NO_TIME
                            ? qm_bench_forecast (search, entry)
                            : 0);
  if (entry->state != QM_BENCH_NOT_RUN)
    {
      qm_bench_json_whole (event, "total_bytes", (int64_t) entry->memory.total);
      qm_bench_json_whole (event, "host_bytes", (int64_t) entry->memory.host);
    }
  if (entry->state == QM_BENCH_KNOWN || entry->state == QM_BENCH_NEW)
    add_result (event, entry, qm_bench_entry_result (search, entry));
  else if (entry->state == QM_BENCH_NOT_RUN)
    {
      json_object_set_new (event, "reason", json_string (entry->reason));
      qm_bench_cause_unsupported (event);
    }
  else if (!entry->fits)
    {
      qm_bench_cause_shortage (event, &entry->shortage);
      qm_bench_format_shortage (entry, reason, sizeof reason);
      json_object_set_new (event, "reason", json_string (reason));
    }
  qm_bench_events_say (events, "configuration", event);
}

/* What is left to do. */
static void
add_left (json_t *event, const QmBenchSearch *search)
{
  double seconds = 0;
  size_t n = 0;

  for (size_t i = 0; i < search->n_entries; i++)
    if (search->entries[i].state == QM_BENCH_LEFT
        || search->entries[i].state == QM_BENCH_NO_TIME)
      {
        seconds += qm_bench_forecast (search, &search->entries[i]);
        n++;
      }
  json_object_set_new (event, "left", json_integer ((json_int_t) n));
  qm_bench_json_number (event, "left_s", seconds);
}

void
qm_bench_events_list (QmBenchEvents *events, const QmBenchSearch *search)
{
  json_t *event;

  if (events == NULL)
    return;
  for (size_t i = 0; i < search->n_entries; i++)
    qm_bench_events_entry (events, search, &search->entries[i], false);
  event = json_object ();
  json_object_set_new (event, "configurations",
                       json_integer ((json_int_t) search->n_entries));
  add_left (event, search);
  qm_bench_events_say (events, "listed", event);
}

void
qm_bench_events_progress (QmBenchEvents *events,
                          int64_t entry,
                          double done,
                          double left,
                          const char *note)
{
  double time = qm_clock ();
  QmReading reading;
  json_t *event;

  if (events == NULL || time - events->progress < PROGRESS)
    return;
  events->progress = time;
  event = json_object ();
  if (entry >= 0)
    json_object_set_new (event, "number", json_integer ((json_int_t) entry));
  qm_bench_json_number (event, "done", done);
  qm_bench_json_number (event, "left_s", left);
  if (note != NULL)
    json_object_set_new (event, "note", json_string (note));
  if (events->monitor != NULL)
    {
      qm_monitor_read (events->monitor, &reading);
      qm_bench_json_reading (event, &reading);
      qm_bench_json_number (event, "watts_limit", events->watts_limit);
    }
  qm_bench_events_say (events, "progress", event);
}

static const char *
name_status (QmStatus status)
{
  static const char *const names[] = {
    [QM_OK] = "ok",
    [QM_STATUS_IO] = "io",
    [QM_STATUS_PARSE] = "parse",
    [QM_STATUS_INVALID] = "invalid",
    [QM_STATUS_NOT_FOUND] = "not-found",
    [QM_STATUS_UNSUPPORTED] = "unsupported",
    [QM_STATUS_NO_MEMORY] = "no-memory",
    [QM_STATUS_DEVICE_FULL] = "device-full",
    [QM_STATUS_DEVICE] = "device",
    [QM_STATUS_GONE] = "gone",
    [QM_STATUS_INTERRUPTED] = "interrupted",
    [QM_STATUS_USAGE] = "invalid",
  };

  return names[status];
}

void
qm_bench_events_error (QmBenchEvents *events,
                       const QmError *error,
                       const char *cause)
{
  json_t *event;

  if (events == NULL || error->status == QM_OK)
    return;
  event = json_pack ("{s:s, s:s}", "status", name_status (error->status),
                     "reason", error->message);
  json_object_set_new (event, "file",
                       error->file[0] != '\0' ? json_string (error->file)
                                              : json_null ());
  json_object_set_new (event, "cause",
                       cause != NULL ? json_string (cause) : json_null ());
  qm_bench_events_say (events, "error", event);
}

void
qm_bench_events_end (QmBenchEvents *events, const QmBenchSearch *search)
{
  json_t *event;

  if (events == NULL)
    return;
  event = json_object ();
  if (search != NULL)
    add_left (event, search);
  qm_bench_events_say (events, "end", event);
}
