/* SPDX-License-Identifier: Apache-2.0 */

/* Slurm's variables are those that srun(1) lists under "OUTPUT ENVIRONMENT
 * VARIABLES"; those of a step, since a batch script has some of a job's as well
 * and is one process.  PMIx 4's are in its standard: a server gives PMIX_RANK
 * and PMIX_NAMESPACE; how many there are can only be asked for through its
 * library, but Open MPI's mpirun says it, too. */

#include "config.h"

#include "app/qm-bench-nodes.h"

#include "data/text.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ports that systems do not give by themselves, below Linux's 32768. */
#define FIRST_PORT 16384
#define N_PORTS    16384

/* What results keep of NCCL's variables. */
#define MOST_VARIABLES 64
#define LONGEST_VALUE  256

extern char **environ;

/* The first machine of a list as Slurm writes it, "gpu[01-03,7],login":
 * "gpu01"; false: it is no such list, or longer than `size`. */
static bool
first_host (const char *list, char *host, size_t size)
{
  size_t n = 0;

  while (*list != '\0' && *list != ',')
    {
      size_t length = 1;

      if (*list == '[')
        {
          size_t inside = strspn (list + 1, "0123456789,-");

          length = strspn (list + 1, "0123456789");
          if (length == 0 || list[1 + inside] != ']' || n + length >= size)
            return false;
          memcpy (host + n, list + 1, length);
          list += inside + 2;
        }
      else if ((isalnum ((unsigned char) *list) || strchr ("._-", *list))
               && n + 1 < size)
        host[n] = *list++;
      else
        return false;
      n += length;
    }
  if (n == 0)
    return false;
  host[n] = '\0';
  return true;
}

/* A whole number of the environment; -1: there is none. */
static QmStatus
read_variable (const char *name, int64_t *value, QmError *error)
{
  const char *text = getenv (name);
  char *end;

  *value = -1;
  if (text == NULL || text[0] == '\0')
    return QM_OK;
  errno = 0;
  *value = strtoll (text, &end, 10);
  if (isdigit ((unsigned char) text[0]) && *end == '\0' && errno == 0
      && *value <= UINT32_MAX)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "the variable %s is '%.32s', which is no number", name,
                       text);
}

/* What started this process says of it. */
typedef struct Launched
{
  const char *by; /* NULL: nobody */
  int64_t count, self;
  int64_t job, step; /* of Slurm */
} Launched;

static QmStatus
ask_launcher (Launched *launched, QmError *error)
{
  QmStatus status =
      read_variable ("SLURM_STEP_NUM_TASKS", &launched->count, error);

  launched->self = -1;
  if (status == QM_OK && launched->count >= 0)
    {
      launched->by = "Slurm";
      status = read_variable ("SLURM_PROCID", &launched->self, error);
      if (status == QM_OK)
        status = read_variable ("SLURM_JOB_ID", &launched->job, error);
      /* Some steps have names there. */
      if (status == QM_OK
          && read_variable ("SLURM_STEP_ID", &launched->step, NULL) != QM_OK)
        launched->step = 0;
      return status;
    }
  if (status == QM_OK)
    status = read_variable ("PMIX_RANK", &launched->self, error);
  if (status == QM_OK && launched->self >= 0)
    {
      launched->by = "PMIx";
      status = read_variable ("OMPI_COMM_WORLD_SIZE", &launched->count, error);
    }
  return status;
}

/* Where the process of rank 0 of a step of Slurm listens: on its first machine,
 * or, where the network does not know that by its name in Slurm, on the one
 * that the step was started from, which in a batch script is the same. */
static bool
find_slurm_place (const Launched *launched, char *place, size_t size)
{
  const char *list = getenv ("SLURM_STEP_NODELIST");
  const char *from = getenv ("SLURM_LAUNCH_NODE_IPADDR");
  int64_t port =
      FIRST_PORT + (launched->job * 7919 + launched->step * 31) % N_PORTS;
  struct addrinfo *found = NULL;
  char host[256];

  if (list == NULL)
    list = getenv ("SLURM_JOB_NODELIST");
  if (launched->job < 0 || list == NULL
      || !first_host (list, host, sizeof host))
    return false;
  if (getaddrinfo (host, NULL, NULL, &found) == 0)
    freeaddrinfo (found);
  else if (from != NULL && strlen (from) < sizeof host)
    snprintf (host, sizeof host, "%s", from);
  return snprintf (place, size, strchr (host, ':') ? "[%s]:%d" : "%s:%d", host,
                   (int) port)
         < (int) size;
}

static QmStatus
find_place (const QmBenchOptions *options,
            const Launched *launched,
            QmBenchNodes *nodes,
            QmError *error)
{
  const char *given = options->rendezvous != NULL
                          ? options->rendezvous
                          : getenv ("QUARTERMASTER_RENDEZVOUS");
  size_t size = sizeof nodes->rendezvous;

  if (given != NULL && given[0] != '\0'
          ? snprintf (nodes->rendezvous, size, "%s", given) < (int) size
          : launched->by != NULL && strcmp (launched->by, "Slurm") == 0
                && find_slurm_place (launched, nodes->rendezvous, size))
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--rendezvous HOST:PORT has to say where the process of "
                       "node 0 is met");
}

/* What the processes know that were started together. */
static void
find_secret (QmBenchNodes *nodes)
{
  static const char *const names[] = { "QUARTERMASTER_SECRET", "SLURM_JOB_ID",
                                       "SLURM_STEP_ID", "PMIX_NAMESPACE" };
  size_t used = 0;

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    {
      const char *value = getenv (names[i]);

      snprintf (nodes->secret + used, sizeof nodes->secret - used, "%.200s\n",
                value != NULL ? value : "");
      used = strlen (nodes->secret);
    }
}

QmStatus
qm_bench_find_nodes (QmBenchOptions *options, QmError *error)
{
  Launched launched = { .by = NULL };
  QmBenchNodes *nodes = &options->nodes;
  QmStatus status;
  int64_t count = options->n_nodes, self = options->node;

  nodes->count = 1;
  if (count == 1 && self > 0)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--nodes says that there is one machine, and --node "
                         "can only be 0 then, not %lld",
                         (long long) self);
  if (count == 1)
    return QM_OK;
  status = ask_launcher (&launched, error);
  if (status != QM_OK)
    return status;
  if (count == 0 && launched.by != NULL && launched.count < 0)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "PMIx says that this is process %lld, and not of how "
                         "many: --nodes says that",
                         (long long) launched.self);
  if (count > 0 && launched.count > 1 && launched.count != count)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--nodes says %lld, and %s started %lld processes",
                         (long long) count, launched.by,
                         (long long) launched.count);
  count = count > 0 ? count : launched.count;
  self = self >= 0 ? self : launched.self;
  if (count <= 1 && (options->node >= 0 || options->rendezvous != NULL))
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--node and --rendezvous need --nodes");
  if (count <= 1)
    return QM_OK;
  if (self < 0 || self >= count || count > QM_WORLD_MAX)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--node has to say which of the %lld this is, from 0 "
                         "to %lld",
                         (long long) count, (long long) count - 1);
  nodes->count = (int) count;
  nodes->self = (int) self;
  find_secret (nodes);
  return find_place (options, &launched, nodes, error);
}

int
qm_bench_nodes (const QmBenchOptions *options)
{
  return options->nodes.count > 1 ? options->nodes.count : 1;
}

bool
qm_bench_follows (const QmBenchOptions *options)
{
  return options->nodes.self > 0;
}

QmStatus
qm_bench_read_total (const QmBenchOptions *options,
                     int *local,
                     int *total,
                     QmError *error)
{
  QmStatus status = qm_bench_read_ranks (options, local, error);

  *total = *local * qm_bench_nodes (options);
  if (status != QM_OK || *total <= QM_WORLD_MAX)
    return status;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--gpus and --nodes are %d devices in all, and %d can "
                       "work together",
                       *total, QM_WORLD_MAX);
}

QmStatus
qm_bench_check_peers (const QmBenchOptions *options, int total, QmError *error)
{
  if (total > 1 || !options->no_peer)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "--no-peer is of several devices that exchange, and "
                       "there is one");
}

static const char *
word (const char *text)
{
  return text != NULL ? text : "-";
}

/* All that has to be the same everywhere. */
static void
describe_purpose (const QmBenchOptions *o,
                  const QmBenchModel *model,
                  char *text,
                  size_t size)
{
  bool jobs =
      strcmp (o->command, "worker") == 0 || strcmp (o->command, "search") == 0;
  char key[QM_MODEL_KEY_BYTES] = "";

  if (model != NULL)
    qm_model_key (&model->config, &model->recipe, key);
  snprintf (text, size,
            "%s %s %.64s %.64s %.64s %.64s %.16s %.16s %.16s %.16s %.300s "
            "%d %d %d %lld %lld %lld %lld %lld %lld %d %d",
            jobs ? "search" : o->command, key, word (jobs ? NULL : o->settings),
            word (jobs ? NULL : o->sharding), word (jobs ? NULL : o->offload),
            word (jobs ? NULL : o->micro_batch), word (o->learning_rate),
            word (o->batch_size), word (o->schedule), word (o->mask_token),
            word (o->weights), o->checkpoint && !jobs, o->deterministic,
            o->profile, (long long) o->seed, (long long) o->steps,
            (long long) o->warm_up, (long long) o->repeat,
            (long long) o->validate, (long long) o->loss_rows, o->no_peer,
            o->averaged);
}

/* Who waits for the others where they meet. */
static QmStatus
join_as (const QmBenchOptions *options,
         const QmBenchModel *model,
         QmWorldOptions us,
         double wait,
         QmWorld **world,
         QmError *error)
{
  const QmBenchNodes *nodes = &options->nodes;
  char purpose[1200];

  describe_purpose (options, model, purpose, sizeof purpose);
  us.rendezvous = nodes->rendezvous;
  us.secret = nodes->secret;
  us.version = QM_VERSION;
  us.purpose = purpose;
  us.coming = wait > 0            ? wait
              : options->wait > 0 ? (double) options->wait
                                  : QM_BENCH_WAIT;
  return qm_world_new (&us, world, error);
}

QmStatus
qm_bench_join (const QmBenchOptions *options,
               const QmBenchModel *model,
               int local,
               double wait,
               QmWorld **world,
               QmError *error)
{
  int count = qm_bench_nodes (options);
  const QmWorldOptions us = { .ranks = local * count,
                              .first = local * options->nodes.self,
                              .local = local };

  return count == 1 ? qm_world_new (&us, world, error)
                    : join_as (options, model, us, wait, world, error);
}

QmStatus
qm_bench_join_first (const QmBenchOptions *options,
                     QmWorld **world,
                     QmError *error)
{
  const QmWorldOptions us = { .ranks = 2,
                              .first = qm_bench_follows (options) ? 1 : 0,
                              .local = 1 };

  return join_as (options, NULL, us, 0, world, error);
}

const char *
qm_bench_transport (const QmBenchOptions *options, QmTransport transport)
{
  return transport == QM_TRANSPORT_HOST && qm_bench_nodes (options) > 1
             ? "sockets"
             : qm_transport_name (transport);
}

const char *
qm_bench_transport_words (const QmBenchOptions *options, QmTransport transport)
{
  return transport == QM_TRANSPORT_NCCL ? "through NCCL"
         : qm_bench_nodes (options) > 1 ? "through sockets"
                                        : "through the memory of the host";
}

QmStatus
qm_bench_check_links (const QmBenchOptions *options,
                      const QmLinkTimes *links,
                      int nodes,
                      QmError *error)
{
  int measured = links->nodes > 1 ? links->nodes : 1;

  if (measured == (nodes > 1 ? nodes : 1))
    return QM_OK;
  if (measured == 1)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "%.160s has links of one machine, and --nodes says %d",
                         options->links, nodes);
  return qm_error_set (
      error, QM_STATUS_USAGE, "", 0, 0,
      "%.120s has links of %d machines of %d, which --nodes %d "
      "and --gpus %d mean",
      options->links, measured, links->ranks / measured, measured,
      links->ranks / measured);
}

void
qm_bench_say_other_links (const QmBenchOptions *options,
                          const QmLinkTimes *links,
                          int gpus)
{
  int nodes = links->nodes > 1 ? links->nodes : 1;

  if (gpus < 2 || gpus == links->ranks)
    return;
  if (nodes > 1)
    qm_bench_say ("%.120s has links of %d machines of %d; what %d of %d "
                  "exchange is extrapolated from them",
                  options->links, nodes, links->ranks / nodes, nodes,
                  gpus / nodes);
  else
    qm_bench_say ("%.120s has links of %d GPUs; what %d exchange is "
                  "extrapolated from them",
                  options->links, links->ranks, gpus);
}

const char *
qm_bench_format_devices (
    int gpus, int nodes, const char *device, char *text, size_t size)
{
  if (nodes > 1)
    snprintf (text, size, "%d machines of %d x %s", nodes, gpus / nodes,
              device);
  else
    snprintf (text, size, "%d x %s", gpus, device);
  return text;
}

QmResultPath
qm_bench_path (const QmBenchOptions *options)
{
  QmResultPath path = options->no_peer ? QM_PATH_FORCED : QM_PATH_OWN;

  for (char **one = environ; one != NULL && *one != NULL; one++)
    {
      size_t length = strcspn (*one, "=");
      char name[64];
      QmResultPath told;

      if (strncmp (*one, "NCCL_", 5) != 0 || (*one)[length] != '='
          || length >= sizeof name)
        continue;
      snprintf (name, sizeof name, "%.*s", (int) length, *one);
      told = qm_result_variable_path (name, *one + length + 1);
      path = told > path ? told : path;
    }
  return path;
}

void
qm_bench_json_trial (json_t *object, const QmTransportTrial *trial)
{
  json_t *inner;

  if (trial->bytes == 0)
    return;
  inner = json_object ();
  json_object_set_new (inner, "bytes",
                       json_integer ((json_int_t) trial->bytes));
  qm_bench_json_number (inner, "nccl_s", trial->nccl);
  qm_bench_json_number (inner, "host_s", trial->host);
  json_object_set_new (object, "transport_trial", inner);
}

void
qm_bench_print_trial (const QmTransportTrial *trial)
{
  if (trial->bytes > 0)
    printf ("  none can read another's memory: a sum of %.4g MiB took %.4g ms "
            "through NCCL and %.4g through the host, and the faster was "
            "taken\n",
            (double) trial->bytes / 0x1p20, trial->nccl * 1e3,
            trial->host * 1e3);
}

void
qm_bench_json_nodes (json_t *object, const QmBenchOptions *options)
{
  json_t *nccl = json_object ();

  if (qm_bench_nodes (options) > 1)
    json_object_set_new (object, "nodes",
                         json_integer (qm_bench_nodes (options)));
  if (options->no_peer)
    json_object_set_new (object, "no_peer", json_true ());
  for (char **one = environ;
       one != NULL && *one != NULL && json_object_size (nccl) < MOST_VARIABLES;
       one++)
    {
      size_t length = strcspn (*one, "=");
      char name[64], value[LONGEST_VALUE], safe[2 * LONGEST_VALUE];

      /* Images say by NCCL_VERSION what is in them; NCCL does not read it. */
      if (strncmp (*one, "NCCL_", 5) != 0 || (*one)[length] != '='
          || length >= sizeof name
          || strncmp (*one, "NCCL_VERSION=", strlen ("NCCL_VERSION=")) == 0)
        continue;
      snprintf (name, sizeof name, "%.*s", (int) length, *one);
      snprintf (value, sizeof value, "%s", *one + length + 1);
      qm_text_escape (value, safe, sizeof safe);
      json_object_set_new (nccl, name, json_string (safe));
    }
  if (json_object_size (nccl) > 0)
    json_object_set (object, "nccl", nccl);
  json_decref (nccl);
}
