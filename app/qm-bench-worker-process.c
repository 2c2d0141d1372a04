/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-worker-process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* No line that a worker says is longer. */
#define MAX_LINE ((size_t) 4 * 1024 * 1024)

/* Milliseconds after which is looked whether the user asked to stop: a signal
 * can come right before waiting begins. */
#define GLANCE 100

/* Seconds to open a device in, and to close it. */
#define OPENING 180.0
#define CLOSING 10.0

struct QmBenchWorker
{
  pid_t pid; /* 0: gone */
  int to, from;
  char *text; /* said, and not yet read */
  size_t used, size;
  QmBenchEnd end;
};

double
qm_bench_now (void)
{
  struct timespec time = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

/* Waits for the end of the process, which is near. */
static int
reap (QmBenchWorker *worker)
{
  int end = 0;

  while (waitpid (worker->pid, &end, 0) < 0 && errno == EINTR)
    ;
  worker->pid = 0;
  return end;
}

static void
kill_worker (QmBenchWorker *worker)
{
  if (worker->pid == 0)
    return;
  kill (worker->pid, SIGKILL);
  reap (worker);
}

/* The process ended by itself. */
static QmStatus
say_how_it_ended (QmBenchWorker *worker, QmError *error)
{
  int end = reap (worker);

  if (WIFSIGNALED (end))
    worker->end = (QmBenchEnd){ QM_BENCH_END_SIGNAL, WTERMSIG (end) };
  else
    worker->end = (QmBenchEnd){ QM_BENCH_END_EXIT, WEXITSTATUS (end) };
  if (WIFSIGNALED (end))
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                         "the process that measured was ended by signal %d "
                         "(%s)",
                         WTERMSIG (end), strsignal (WTERMSIG (end)));
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "the process that measured ended with status %d",
                       WEXITSTATUS (end));
}

static QmStatus
out_of_memory (QmError *error)
{
  return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                       "the host is out of memory");
}

/* Takes the first whole line that was said; NULL: there is none yet. */
static char *
take_line (QmBenchWorker *worker)
{
  char *end = memchr (worker->text, '\n', worker->used);
  size_t length;
  char *line;

  if (end == NULL)
    return NULL;
  length = (size_t) (end - worker->text) + 1;
  line = malloc (length);
  if (line == NULL)
    return NULL;
  memcpy (line, worker->text, length);
  line[length - 1] = '\0';
  worker->used -= length;
  memmove (worker->text, worker->text + length, worker->used);
  return line;
}

/* Reads what was said; 0 at the end. */
static ssize_t
read_more (QmBenchWorker *worker)
{
  ssize_t n;

  if (worker->size - worker->used < 4096)
    {
      size_t size = worker->size * 2 + 65536;
      char *grown = size <= MAX_LINE ? realloc (worker->text, size) : NULL;

      if (grown == NULL)
        return 0;
      worker->text = grown;
      worker->size = size;
    }
  n = read (worker->from, worker->text + worker->used,
            worker->size - worker->used);
  if (n > 0)
    worker->used += (size_t) n;
  return n;
}

/* Waits for the next line that is JSON. */
static QmStatus
hear (QmBenchWorker *worker,
      const QmBenchWait *wait,
      json_t **said,
      QmError *error)
{
  double begin = qm_bench_now ();

  *said = NULL;
  for (;;)
    {
      struct pollfd from = { .fd = worker->from, .events = POLLIN };
      char *line = worker->used > 0 ? take_line (worker) : NULL;
      double time = qm_bench_now ();

      if (line != NULL)
        {
          *said = json_loads (line, 0, NULL);
          free (line);
          if (json_is_object (*said))
            return QM_OK;
          json_decref (*said);
          continue;
        }
      if (qm_bench_interrupted ()
          || (wait->stop_at > 0 && time >= wait->stop_at))
        {
          kill_worker (worker);
          return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
        }
      if (time - begin > wait->patience)
        {
          kill_worker (worker);
          worker->end =
              (QmBenchEnd){ QM_BENCH_END_SILENCE, (int) (time - begin + 0.5) };
          return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                               "no progress for %.0f s: it was given up",
                               time - begin);
        }
      wait->glance (wait->data);
      if (poll (&from, 1, GLANCE) > 0)
        {
          ssize_t n = read_more (worker);

          if (n == 0 || (n < 0 && errno != EINTR))
            {
              kill (worker->pid, SIGKILL);
              return say_how_it_ended (worker, error);
            }
        }
    }
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
take_text (const json_t *object, const char *name, char *text, size_t size)
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
  take_text (device, "id", info->id, sizeof info->id);
  take_text (device, "name", info->name, sizeof info->name);
  take_text (device, "driver", info->driver, sizeof info->driver);
  take_text (device, "bus", info->bus, sizeof info->bus);
  take_text (device, "products", info->products.name,
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

#define MAX_ARGUMENTS 20

/* The command line of a worker. */
static void
write_arguments (const QmBenchOptions *options,
                 const char *device,
                 char numbers[3][24],
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
    { "--gpus", options->n_gpu_counts > 0 ? numbers[2] : NULL },
  };
  int n = 0;

  snprintf (numbers[0], sizeof numbers[0], "%lld", (long long) options->repeat);
  snprintf (numbers[1], sizeof numbers[1], "%lld", (long long) options->seed);
  snprintf (numbers[2], sizeof numbers[2], "%lld", (long long) options->gpus);
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
  arguments[n] = NULL;
}

/* Runs this program once more, its standard input and output at the pipes. */
static pid_t
spawn (const char *const *arguments, int input, int output)
{
  pid_t pid = fork ();

  if (pid != 0)
    return pid;
  if (dup2 (input, STDIN_FILENO) >= 0 && dup2 (output, STDOUT_FILENO) >= 0)
    execv ("/proc/self/exe", (char *const *) (const void *) arguments);
  _exit (127);
}

/* Ends that are not given away on exec. */
static bool
make_pipe (int ends[2])
{
  if (pipe (ends) != 0)
    return false;
  fcntl (ends[0], F_SETFD, FD_CLOEXEC);
  fcntl (ends[1], F_SETFD, FD_CLOEXEC);
  return true;
}

static QmStatus
launch (QmBenchWorker *worker, const char *const *arguments, QmError *error)
{
  int to[2] = { -1, -1 }, from[2] = { -1, -1 };
  pid_t pid = -1;

  if (make_pipe (to) && make_pipe (from))
    pid = spawn (arguments, to[0], from[1]);
  if (pid < 0)
    qm_error_set (error, QM_STATUS_IO, "", 0, 0,
                  "no process to measure in can be started: %s",
                  strerror (errno));
  close (to[0]);
  close (from[1]);
  worker->to = to[1];
  worker->from = from[0];
  worker->pid = pid > 0 ? pid : 0;
  return pid > 0 ? QM_OK : QM_STATUS_IO;
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
  const QmBenchWait wait = { .patience = OPENING,
                             .glance = glance,
                             .data = data };
  const char *arguments[MAX_ARGUMENTS];
  char numbers[3][24];
  json_t *said = NULL;
  QmStatus status;

  *worker = NULL;
  if (new == NULL)
    return out_of_memory (error);
  new->to = new->from = -1;
  write_arguments (options, device, numbers, arguments);
  status = launch (new, arguments, error);
  if (status == QM_OK)
    status = hear (new, &wait, &said, error);
  if (status == QM_OK && json_object_get (said, "device") == NULL)
    status = take_error (said, error);
  if (status == QM_OK)
    {
      take_device (said, info);
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
  size_t length = text != NULL ? strlen (text) : 0, done = 0;

  json_decref (object);
  if (text == NULL)
    return QM_STATUS_NO_MEMORY;
  text[length++] = '\n';
  while (done < length)
    {
      ssize_t n = write (worker->to, text + done, length - done);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      done += (size_t) n;
    }
  free (text);
  /* Where it has ended, that is heard next. */
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
    return out_of_memory (error);
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
      json_decref (said);
      if (status == QM_STATUS_DEVICE)
        kill_worker (worker);
      if (status != QM_OK || *result != NULL)
        return status;
    }
}

QmBenchEnd
qm_bench_worker_end (const QmBenchWorker *worker)
{
  return worker->end;
}

bool
qm_bench_worker_alive (const QmBenchWorker *worker)
{
  return worker != NULL && worker->pid != 0;
}

void
qm_bench_worker_free (QmBenchWorker *worker)
{
  double begin = qm_bench_now ();
  const struct timespec moment = { .tv_nsec = 2000000 };

  if (worker == NULL)
    return;
  if (worker->to >= 0)
    close (worker->to);
  while (worker->pid != 0 && !qm_bench_interrupted ()
         && qm_bench_now () - begin < CLOSING)
    {
      if (waitpid (worker->pid, NULL, WNOHANG) == worker->pid)
        worker->pid = 0;
      else
        nanosleep (&moment, NULL);
    }
  kill_worker (worker);
  if (worker->from >= 0)
    close (worker->from);
  free (worker->text);
  free (worker);
}
