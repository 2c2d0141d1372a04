/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-worker-process.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-child.h"
#include "data/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* No line that a worker says is longer. */
#define MAX_LINE ((size_t) 4 * 1024 * 1024)

/* Seconds to open a device in, and to close it. */
#define OPENING 180.0
#define CLOSING 10.0

struct QmBenchWorker
{
  QmChild *child;
  QmBenchEnd end;
  const char *transport; /* static; NULL: not tried */
  QmTransportTrial trial;
};

static void
kill_worker (QmBenchWorker *worker)
{
  qm_children_end (&worker->child, 1, &(QmChildMercy){ 0, 0, NULL, NULL });
}

/* The process ended by itself. */
static QmStatus
say_how_it_ended (QmBenchWorker *worker, QmError *error)
{
  QmChildEnd end = qm_child_end (worker->child);
  char how[128];

  qm_child_describe_end (end, how, sizeof how);
  /* That is for a cause of its own. */
  if (end.out_of_memory)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the process that measured %s", how);
  worker->end = (QmBenchEnd){ end.kind == QM_CHILD_SIGNAL ? QM_BENCH_END_SIGNAL
                                                          : QM_BENCH_END_EXIT,
                              end.number };
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "the process that measured %s", how);
}

static QmStatus
give_up (QmBenchWorker *worker, QmError *error)
{
  double silence = qm_child_silence (worker->child);

  kill_worker (worker);
  worker->end = (QmBenchEnd){ QM_BENCH_END_SILENCE, (int) (silence + 0.5) };
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "no progress for %.0f s: it was given up", silence);
}

static bool
is_time_to_stop (void *data)
{
  const QmBenchWait *wait = data;

  return qm_bench_interrupted ()
         || (wait->stop_at > 0 && qm_clock () >= wait->stop_at);
}

static void
on_glance_at_worker (void *data)
{
  const QmBenchWait *wait = data;

  wait->glance (wait->data);
}

/* Waits for the next line that is JSON. */
static QmStatus
hear (QmBenchWorker *worker,
      const QmBenchWait *wait,
      json_t **said,
      QmError *error)
{
  const QmChildWait patience = { .patience = wait->patience,
                                 .stop = is_time_to_stop,
                                 .glance = on_glance_at_worker,
                                 .data = (void *) wait };

  for (*said = NULL; *said == NULL;)
    {
      QmChildNews news = qm_children_hear (&worker->child, 1, &patience);

      switch (news.kind)
        {
        case QM_CHILD_SAID:
          *said = json_loads (news.text, 0, NULL);
          if (!json_is_object (*said))
            {
              json_decref (*said);
              *said = NULL;
            }
          break;
        case QM_CHILD_NO_TEXT:
          break;
        case QM_CHILD_TOO_LONG:
          kill_worker (worker);
          return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                               "the process that measured said a line of more "
                               "than %d KiB",
                               (int) (MAX_LINE / 1024));
        case QM_CHILD_STOPPED:
          kill_worker (worker);
          return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
        case QM_CHILD_SILENT:
          return give_up (worker, error);
        case QM_CHILD_ENDED:
        case QM_CHILD_NOBODY:
          return say_how_it_ended (worker, error);
        }
    }
  qm_child_got_on (worker->child);
  return QM_OK;
}

/* The error that a worker names. */
static QmStatus
take_error (const json_t *said, QmError *error)
{
  const char *message = json_string_value (json_object_get (said, "message"));
  json_int_t status = json_integer_value (json_object_get (said, "status"));

  if (status <= QM_OK || status > QM_STATUS_USAGE)
    status = QM_STATUS_DEVICE;
  return qm_error_set (error, (QmStatus) status, "", 0, 0, "%s",
                       message != NULL ? message : "it failed");
}

static void
copy_member (const json_t *object, const char *name, char *text, size_t size)
{
  const char *value = json_string_value (json_object_get (object, name));

  snprintf (text, size, "%s", value != NULL ? value : "");
}

static int64_t
take_whole (const json_t *object, const char *name)
{
  return json_integer_value (json_object_get (object, name));
}

static void
take_device (const json_t *said, QmDeviceInfo *info)
{
  const json_t *device = json_object_get (said, "device");

  memset (info, 0, sizeof *info);
  copy_member (device, "id", info->id, sizeof info->id);
  copy_member (device, "name", info->name, sizeof info->name);
  copy_member (device, "driver", info->driver, sizeof info->driver);
  copy_member (device, "bus", info->bus, sizeof info->bus);
  copy_member (device, "products", info->products.name,
               sizeof info->products.name);
  info->target.kind = (QmDeviceKind) take_whole (said, "kind");
  info->target.architecture = (int) take_whole (device, "architecture");
  info->capability = (int) take_whole (device, "capability");
  info->processors = (int) take_whole (device, "processors");
  info->memory_bytes = (uint64_t) take_whole (device, "memory_bytes");
  info->free_bytes = (uint64_t) take_whole (device, "free_bytes");
  info->driver_cuda = (int) take_whole (device, "driver_cuda");
  info->runtime_cuda = (int) take_whole (device, "runtime_cuda");
}

static const char *
take_transport (const json_t *said)
{
  const char *text = json_string_value (json_object_get (said, "transport"));

  for (int i = QM_TRANSPORT_NCCL; text != NULL && i <= QM_TRANSPORT_HOST; i++)
    if (strcmp (text, qm_transport_name ((QmTransport) i)) == 0)
      return qm_transport_name ((QmTransport) i);
  return NULL;
}

/* What both ways took. */
static void
take_trial (const json_t *said, QmTransportTrial *trial)
{
  const json_t *inner = json_object_get (said, "transport_trial");
  int64_t bytes = take_whole (inner, "bytes");

  *trial = (QmTransportTrial){
    .bytes = bytes > 0 ? (size_t) bytes : 0,
    .nccl = json_number_value (json_object_get (inner, "nccl_s")),
    .host = json_number_value (json_object_get (inner, "host_s")),
  };
}

#define MAX_ARGUMENTS 44
#define N_NUMBERS     6

/* The command line of a worker. */
static void
write_arguments (const QmBenchOptions *options,
                 const char *device,
                 char numbers[N_NUMBERS][24],
                 const char *arguments[MAX_ARGUMENTS])
{
  const struct
  {
    const char *name, *value;
  } pairs[] = {
    { "--device", device },
    { "--architecture", options->architecture },
    { "--config", options->config },
    { "--recipe", options->config != NULL ? options->recipe : NULL },
    { "--host-memory", options->host_memory },
    { "--repeat", numbers[0] },
    { "--seed", numbers[1] },
    { "--gpus", options->gpus > 0 ? numbers[2] : NULL },
    { "--nodes", numbers[3] },
    { "--node", options->nodes.count > 1 ? numbers[4] : NULL },
    { "--rendezvous",
      options->nodes.count > 1 ? options->nodes.rendezvous : NULL },
    { "--wait", options->wait > 0 ? numbers[5] : NULL },
    { "--transport", options->transport },
  };
  int n = 0;

  snprintf (numbers[0], sizeof numbers[0], "%lld", (long long) options->repeat);
  snprintf (numbers[1], sizeof numbers[1], "%lld", (long long) options->seed);
  snprintf (numbers[2], sizeof numbers[2], "%lld", (long long) options->gpus);
  snprintf (numbers[3], sizeof numbers[3], "%d", qm_bench_nodes (options));
  snprintf (numbers[4], sizeof numbers[4], "%d", options->nodes.self);
  snprintf (numbers[5], sizeof numbers[5], "%lld", (long long) options->wait);
  arguments[n++] = "qm-bench";
  arguments[n++] = "worker";
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (pairs[i].value != NULL)
      {
        arguments[n++] = pairs[i].name;
        arguments[n++] = pairs[i].value;
      }
  if (options->deterministic)
    arguments[n++] = "--deterministic";
  if (options->no_peer)
    arguments[n++] = "--no-peer";
  arguments[n] = NULL;
}

/* Runs this program once more. */
static QmStatus
launch_worker (QmBenchWorker *worker,
               const char *const *arguments,
               QmError *error)
{
  const QmChildStart start = {
    .program = "/proc/self/exe",
    .arguments = arguments,
    .pipes = QM_CHILD_IN | QM_CHILD_OUT,
    .longest = MAX_LINE,
  };
  QmError ours = { 0 };
  QmStatus status = qm_child_start (&start, &worker->child, &ours);

  if (status == QM_OK)
    return QM_OK;
  return qm_error_set (error, status, "", 0, 0, "a process to measure in %s",
                       ours.message);
}

QmStatus
qm_bench_worker_start (const QmBenchOptions *options,
                       const char *device,
                       QmBenchGlance glance,
                       void *data,
                       QmDeviceInfo *info,
                       QmBenchWorker **worker,
                       QmError *error)
{
  QmBenchWorker *new = calloc (1, sizeof *new);
  const QmBenchWait wait = {
    .patience = OPENING + fmax ((double) options->wait, QM_BENCH_WAIT),
    .glance = glance,
    .data = data
  };
  const char *arguments[MAX_ARGUMENTS];
  char numbers[N_NUMBERS][24];
  json_t *said = NULL;
  QmStatus status;

  *worker = NULL;
  if (new == NULL)
    return qm_error_no_memory (error);
  write_arguments (options, device, numbers, arguments);
  status = launch_worker (new, arguments, error);
  if (status == QM_OK)
    status = hear (new, &wait, &said, error);
  if (status == QM_OK && json_object_get (said, "device") == NULL)
    status = take_error (said, error);
  if (status == QM_OK)
    {
      take_device (said, info);
      new->transport = take_transport (said);
      take_trial (said, &new->trial);
      *worker = new;
    }
  else
    qm_bench_worker_free (new);
  json_decref (said);
  return status;
}

static QmStatus
say (QmBenchWorker *worker, json_t *object)
{
  char *text = json_dumps (object, JSON_COMPACT);
  size_t length = text != NULL ? strlen (text) : 0;

  json_decref (object);
  if (text == NULL)
    return QM_STATUS_NO_MEMORY;
  text[length] = '\n';
  /* Where it has ended, that is heard next. */
  qm_child_send (worker->child, text, length + 1);
  free (text);
  return QM_OK;
}

QmStatus
qm_bench_worker_measure (QmBenchWorker *worker,
                         json_t *job,
                         const QmBenchWait *wait,
                         json_t **result,
                         QmError *error)
{
  QmStatus status = say (worker, job);

  *result = NULL;
  if (status != QM_OK)
    return qm_error_no_memory (error);
  for (;;)
    {
      json_t *said, *got;
      const char *event;

      status = hear (worker, wait, &said, error);
      if (status != QM_OK)
        return status;
      event = json_string_value (json_object_get (said, "event"));
      got = json_object_get (said, "result");
      if (event != NULL && strcmp (event, "progress") == 0)
        wait->progress (wait->data,
                        json_number_value (json_object_get (said, "done")));
      else if (json_is_object (got))
        *result = json_incref (got);
      else
        status = take_error (said, error);
      if (status == QM_STATUS_DEVICE
          && !json_is_true (json_object_get (said, "alive")))
        kill_worker (worker);
      json_decref (said);
      if (status != QM_OK || *result != NULL)
        return status;
    }
}

const char *
qm_bench_worker_transport (const QmBenchWorker *worker, QmTransportTrial *trial)
{
  *trial = worker->trial;
  return worker->transport;
}

QmBenchEnd
qm_bench_worker_end (const QmBenchWorker *worker)
{
  return worker->end;
}

bool
qm_bench_worker_alive (const QmBenchWorker *worker)
{
  return worker != NULL && qm_child_end (worker->child).kind == QM_CHILD_NO_END;
}

static bool
is_interrupted (void *data)
{
  return qm_bench_interrupted ();
}

void
qm_bench_worker_free (QmBenchWorker *worker)
{
  if (worker == NULL)
    return;
  qm_children_end (&worker->child, 1,
                   &(QmChildMercy){ .seconds = CLOSING,
                                    .stop = is_interrupted });
  qm_child_free (worker->child);
  free (worker);
}
