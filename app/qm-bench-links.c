/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench links: how fast the devices of this machine exchange, each two of
 * them and all together, and with the host. */

#include "app/qm-bench-between.h"
#include "app/qm-bench-nodes.h"
#include "app/qm-bench-ranks.h"
#include "app/qm-bench-scaling.h"

#include "engine/links.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes: of the smallest and the largest exchange of all, which grow by as
 * much, and of one between two. */
#define SMALLEST ((size_t) 64 << 10)
#define LARGEST  ((size_t) 1 << 30)
#define GROWTH   16
#define PAIR     ((size_t) 256 << 20)

#define N_SIZES 5

/* As much of them on a CPU, whose memory is that of all its ranks. */
#define CPU_SHARE 64

/* Between two devices of this machine. */
typedef struct Pair
{
  bool peers; /* the first reads the memory of the second by itself */
  QmBenchBetween found;
} Pair;

/* What a rank has open. */
typedef struct Rank
{
  QmDevice *device;
  void *memory;
  QmCommunicator *communicator;
  QmHostRates host;
} Rank;

typedef struct Links
{
  const QmBenchOptions *options;
  int ranks; /* of this machine */
  int total, first;
  char ids[QM_BENCH_MOST_RANKS][32];
  QmDeviceInfo infos[QM_BENCH_MOST_RANKS];
  Rank all[QM_BENCH_MOST_RANKS];
  QmWorld *world;
  QmTransport transport;
  QmTransportTrial trial;
  size_t most; /* bytes of an exchange at most */
  size_t sizes[N_SIZES];
  double seconds[QM_LINKS_OPS][N_SIZES];
  Pair pairs[QM_BENCH_MOST_RANKS][QM_BENCH_MOST_RANKS];
  int pair[2];             /* that is being measured */
  QmBenchBetween *between; /* of the first machine and each other one */
  json_t *scaling;         /* of models; NULL of one device */
} Links;

static QmTransport
wanted (const QmBenchOptions *options)
{
  return options->no_peer ? QM_TRANSPORT_HOST : QM_TRANSPORT_AUTO;
}

/* Whole for any number of ranks up to that. */
static size_t
fitting (size_t bytes, int ranks)
{
  size_t unit = sizeof (float) * (size_t) ranks;

  return bytes / unit * unit;
}

static QmStatus
open_rank (void *data, int number, QmError *error)
{
  Links *links = data;
  Rank *rank = &links->all[number];
  QmBenchOptions options = *links->options;
  QmStatus status;

  options.device = links->ids[number];
  status = qm_bench_open_device (&options, &rank->device, error);
  if (status != QM_OK)
    return status;
  links->infos[number] = *qm_device_info (rank->device);
  return qm_device_allocate (rank->device, links->most, &rank->memory, error);
}

/* One after the other, since they may share what leads to the host. */
static QmStatus
time_hosts (Links *links, QmError *error)
{
  QmStatus status = QM_OK;

  for (int i = 0; i < links->ranks && status == QM_OK; i++)
    if (qm_target_is_gpu (&links->infos[i].target))
      status = qm_links_host (links->all[i].device, links->all[i].memory,
                              links->most / 4, &links->all[i].host, error);
  return status;
}

static QmStatus
time_all (void *data, int number, QmError *error)
{
  Links *links = data;
  Rank *rank = &links->all[number];
  QmStatus status =
      qm_communicator_new (links->world, links->first + number, rank->device,
                           wanted (links->options), &rank->communicator, error);

  if (status == QM_OK && number == 0)
    {
      links->transport = qm_communicator_transport (rank->communicator);
      links->trial = qm_communicator_trial (rank->communicator);
    }
  for (int c = 0; c < QM_LINKS_OPS && status == QM_OK; c++)
    for (int i = 0; i < N_SIZES && status == QM_OK; i++)
      {
        double seconds;

        status = qm_links_time (rank->communicator, rank->device, (QmLinksOp) c,
                                rank->memory,
                                fitting (links->sizes[i], links->total),
                                &seconds, error);
        if (number == 0)
          links->seconds[c][i] = seconds;
      }
  return status;
}

/* A device as one of two. */
static QmBenchEnd
end_of (const Links *links, const Rank *rank)
{
  return (QmBenchEnd){ rank->device, rank->memory,
                       PAIR < links->most ? PAIR : links->most };
}

/* The same way as all take. */
static QmStatus
time_pair (void *data, int number, QmError *error)
{
  Links *links = data;
  Rank *rank = &links->all[links->pair[number]];
  const QmBenchEnd end = end_of (links, rank);
  QmBenchBetween found;
  QmStatus status =
      qm_communicator_new (links->world, number, rank->device, links->transport,
                           &rank->communicator, error);

  if (status == QM_OK)
    status = qm_bench_time_two (rank->communicator, &end, &found, error);
  if (status == QM_OK && number == 0)
    links->pairs[links->pair[0]][links->pair[1]].found = found;
  return status;
}

static void
leave_all (void *data, int number)
{
  Links *links = data;

  qm_communicator_free (links->all[number].communicator);
  links->all[number].communicator = NULL;
}

static void
leave_pair (void *data, int number)
{
  Links *links = data;

  leave_all (links, links->pair[number]);
}

/* All of all machines. */
static QmStatus
meet_all (Links *links, QmError *error)
{
  QmStatus status = qm_bench_join (links->options, NULL, links->ranks, 0,
                                   &links->world, error);

  if (status == QM_OK)
    status = qm_bench_ranks_do (links->first, links->ranks, links->world,
                                time_all, leave_all, links, error);
  qm_world_free (links->world);
  links->world = NULL;
  return status;
}

/* Two of this machine, in a world of their own. */
static QmStatus
meet_pair (Links *links, QmError *error)
{
  const QmWorldOptions options = { .ranks = 2, .local = 2 };
  QmStatus status = qm_world_new (&options, &links->world, error);

  if (status == QM_OK)
    status = qm_bench_ranks_do (0, 2, links->world, time_pair, leave_pair,
                                links, error);
  qm_world_free (links->world);
  links->world = NULL;
  return status;
}

static QmStatus
time_pairs (Links *links, QmError *error)
{
  QmStatus status = QM_OK;

  for (int i = 0; i < links->ranks; i++)
    for (int j = i + 1; j < links->ranks && status == QM_OK; j++)
      {
        if (qm_bench_interrupted ())
          return qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
        links->pair[0] = i;
        links->pair[1] = j;
        links->pairs[i][j].peers =
            qm_device_peers (links->ids[i], links->ids[j]);
        status = meet_pair (links, error);
        links->pairs[j][i] = links->pairs[i][j];
      }
  return status;
}

/* The first device of this machine with those of others. */
static QmStatus
time_machines (Links *links, QmError *error)
{
  const QmBenchEnd end = end_of (links, &links->all[0]);

  links->between =
      calloc ((size_t) qm_bench_nodes (links->options), sizeof *links->between);
  return links->between != NULL
             ? qm_bench_time_between (links->options, &end, links->transport,
                                      links->between, error)
             : qm_error_no_memory (error);
}

/* All GPUs that can be used, or those that are meant; else the CPU, twice, so
 * that there is something to see. */
static QmStatus
find_devices (Links *links, QmError *error)
{
  QmBenchOptions options = *links->options;
  QmDeviceInfo infos[QM_BENCH_MOST_RANKS];
  char note[192];
  size_t n = qm_device_list (infos, QM_BENCH_MOST_RANKS, note, sizeof note);
  QmStatus status = qm_bench_read_ranks (&options, &links->ranks, error);

  if (status != QM_OK)
    return status;
  if (options.gpus == 0 && options.device == NULL)
    {
      links->ranks = 0;
      for (size_t i = 0; i < n; i++)
        links->ranks +=
            qm_target_is_gpu (&infos[i].target) && infos[i].trouble[0] == '\0';
      if (links->ranks == 0)
        links->ranks = 2;
    }
  else if (options.gpus == 0 && strcmp (options.device, "cpu") == 0)
    links->ranks = 2;
  else if (options.gpus == 0)
    for (const char *c = options.device; *c != '\0'; c++)
      links->ranks += *c == ',';
  if (links->ranks > QM_BENCH_MOST_RANKS)
    links->ranks = QM_BENCH_MOST_RANKS;
  links->total = links->ranks * qm_bench_nodes (&options);
  links->first = links->ranks * options.nodes.self;
  if (links->total > QM_WORLD_MAX)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "%d devices are more than can work together",
                         links->total);
  status = qm_bench_check_peers (&options, links->total, error);
  if (status != QM_OK)
    return status;
  return qm_bench_rank_devices (&options, links->ranks, links->ids, error);
}

static QmStatus
open_all (Links *links, QmError *error)
{
  bool cpu = strcmp (links->ids[0], "cpu") == 0;

  links->most = cpu ? LARGEST / CPU_SHARE : LARGEST;
  for (size_t i = 0, bytes = SMALLEST; i < N_SIZES; i++, bytes *= GROWTH)
    links->sizes[i] = bytes < links->most ? bytes : links->most;
  return qm_bench_ranks_do (links->first, links->ranks, NULL, open_rank, NULL,
                            links, error);
}

static void
close_all (Links *links)
{
  for (int i = 0; i < links->ranks && i < QM_BENCH_MOST_RANKS; i++)
    {
      if (links->all[i].device != NULL)
        qm_device_free (links->all[i].device, links->all[i].memory);
      qm_device_close (links->all[i].device);
    }
}

static QmStatus
measure_links (Links *links, QmError *error)
{
  QmStatus status = open_all (links, error);

  if (status == QM_OK && !qm_bench_follows (links->options))
    status = time_hosts (links, error);
  if (status == QM_OK && links->total > 1)
    status = meet_all (links, error);
  if (status == QM_OK && qm_bench_nodes (links->options) > 1)
    status = time_machines (links, error);
  if (status == QM_OK && !qm_bench_follows (links->options))
    status = time_pairs (links, error);
  return status;
}

static double
bus (const Links *links, int collective, int size)
{
  return qm_links_bandwidth ((QmLinksOp) collective, links->total,
                             fitting (links->sizes[size], links->total),
                             links->seconds[collective][size]);
}

/* What was measured, for what is predicted from it; sizes that are there twice
 * are taken once. */
static void
take_times (const Links *links, QmLinkTimes *times)
{
  *times = (QmLinkTimes){ .ranks = links->total,
                          .nodes = qm_bench_nodes (links->options) };
  snprintf (times->transport, sizeof times->transport, "%s",
            qm_transport_name (links->transport));
  for (int c = 0; c < QM_LINKS_OPS; c++)
    for (int i = 0; i < N_SIZES; i++)
      qm_link_times_add (times, (QmLinksOp) c,
                         (double) fitting (links->sizes[i], links->total),
                         links->seconds[c][i]);
}

QmStatus
qm_bench_time_links (const QmBenchOptions *options,
                     QmLinkTimes *times,
                     QmError *error)
{
  Links *links = calloc (1, sizeof *links);
  QmStatus status;

  if (links == NULL)
    return qm_error_no_memory (error);
  links->options = options;
  status = find_devices (links, error);
  if (status == QM_OK)
    status = open_all (links, error);
  for (int i = 1; i < links->ranks && status == QM_OK; i++)
    if (strcmp (links->infos[i].name, links->infos[0].name) != 0)
      status = qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                             "%s is %s and %s is %s, but exchanges are kept of "
                             "GPUs of one type",
                             links->infos[0].id, links->infos[0].name,
                             links->infos[i].id, links->infos[i].name);
  if (status == QM_OK)
    status = meet_all (links, error);
  if (status == QM_OK)
    take_times (links, times);
  close_all (links);
  free (links);
  return status;
}

static QmStatus
predict_scaling (Links *links, QmError *error)
{
  QmLinkTimes times;

  if (links->total == 1)
    return QM_OK;
  take_times (links, &times);
  return qm_bench_scaling (links->options, &links->infos[0], &times,
                           &links->scaling, error);
}

static json_t *
json_collective (const Links *links, int collective)
{
  json_t *array = json_array ();

  for (int i = 0; i < N_SIZES; i++)
    {
      json_t *object = json_object ();

      qm_bench_json_whole (object, "bytes",
                           (int64_t) fitting (links->sizes[i], links->total));
      qm_bench_json_number (object, "seconds", links->seconds[collective][i]);
      qm_bench_json_number (object, "bus_gbs",
                            bus (links, collective, i) / 1e9);
      json_array_append_new (array, object);
    }
  return array;
}

static void
add_between (json_t *object, const QmBenchBetween *found)
{
  qm_bench_json_number (object, "gbs", found->bandwidth / 1e9);
  qm_bench_json_number (object, "latency_s", found->latency);
}

static json_t *
json_pairs (const Links *links)
{
  json_t *array = json_array ();

  for (int i = 0; i < links->ranks; i++)
    for (int j = i + 1; j < links->ranks; j++)
      {
        const Pair *pair = &links->pairs[i][j];
        json_t *object = json_pack ("{s:[s, s], s:b}", "devices", links->ids[i],
                                    links->ids[j], "peers", (int) pair->peers);

        add_between (object, &pair->found);
        json_array_append_new (array, object);
      }
  return array;
}

/* Of machines, whose first devices they are. */
static json_t *
json_machines (const Links *links)
{
  json_t *array = json_array ();

  for (int i = 1; i < qm_bench_nodes (links->options); i++)
    {
      json_t *object = json_pack ("{s:[i, i]}", "nodes", 0, i);

      add_between (object, &links->between[i - 1]);
      json_array_append_new (array, object);
    }
  return array;
}

static void
print_links_json (const Links *links)
{
  json_t *object = json_object (), *devices = json_array ();
  json_t *collectives = json_object ();

  for (int i = 0; i < links->ranks; i++)
    {
      json_t *device = qm_bench_json_device (&links->infos[i]);
      bool gpu = qm_target_is_gpu (&links->infos[i].target);

      qm_bench_json_number (device, "host_up_gbs",
                            gpu ? links->all[i].host.up / 1e9 : NAN);
      qm_bench_json_number (device, "host_down_gbs",
                            gpu ? links->all[i].host.down / 1e9 : NAN);
      json_array_append_new (devices, device);
    }
  json_object_set_new (object, "devices", devices);
  json_object_set_new (object, "provenance", json_string ("measured"));
  if (links->total > 1)
    {
      json_object_set_new (object, "transport",
                           json_string (qm_bench_transport (links->options,
                                                            links->transport)));
      qm_bench_json_trial (object, &links->trial);
      qm_bench_json_nodes (object, links->options);
      if (qm_bench_nodes (links->options) > 1)
        {
          json_object_set_new (object, "gpus", json_integer (links->total));
          json_object_set_new (object, "between", json_machines (links));
        }
      json_object_set_new (object, "pairs", json_pairs (links));
      for (int c = 0; c < QM_LINKS_OPS; c++)
        json_object_set_new (collectives, qm_links_op_name ((QmLinksOp) c),
                             json_collective (links, c));
      json_object_set_new (object, "collectives", collectives);
      json_object_set (object, "scaling", links->scaling);
    }
  else
    json_decref (collectives);
  qm_bench_print_json (object);
}

/* What leads from each device to each other one, in GB/s; those that read each
 * other's memory are marked. */
static void
print_pairs (const Links *links)
{
  bool peers = false;

  printf ("\nEach two, GB/s each way, and microseconds of the least exchange\n"
          "%8s",
          "");
  for (int i = 0; i < links->ranks; i++)
    printf (" %16s", links->ids[i]);
  printf ("\n");
  for (int i = 0; i < links->ranks; i++)
    {
      printf ("%-8s", links->ids[i]);
      for (int j = 0; j < links->ranks; j++)
        {
          const Pair *pair = &links->pairs[i][j];

          if (i == j)
            printf (" %16s", "-");
          else
            printf (" %8.1f%s %5.1f", pair->found.bandwidth / 1e9,
                    pair->peers ? "*" : " ", pair->found.latency * 1e6);
          peers = peers || pair->peers;
        }
      printf ("\n");
    }
  if (peers)
    printf ("* can read each other's memory\n");
}

static void
print_machines (const Links *links)
{
  int machines = qm_bench_nodes (links->options);

  if (machines == 1)
    return;
  printf ("\nMachine 0 and each other, by their first devices: GB/s each way, "
          "and microseconds\nof the least exchange\n");
  for (int i = 1; i < machines; i++)
    printf ("  machine %-6d %8.2f %8.1f\n", i,
            links->between[i - 1].bandwidth / 1e9,
            links->between[i - 1].latency * 1e6);
}

static void
print_collectives (const Links *links)
{
  int machines = qm_bench_nodes (links->options);
  char cell[24], all[48];

  qm_bench_print_trial (&links->trial);
  if (machines > 1)
    snprintf (all, sizeof all, "All of %d machines of %d", machines,
              links->ranks);
  else
    snprintf (all, sizeof all, "All %d", links->total);
  printf ("\n%s, %s: GB/s that each sends\n%10s", all,
          qm_bench_transport_words (links->options, links->transport), "");
  for (int c = 0; c < QM_LINKS_OPS; c++)
    printf (" %16s", qm_links_op_name ((QmLinksOp) c));
  printf ("\n");
  for (int i = 0; i < N_SIZES; i++)
    {
      if (i > 0 && links->sizes[i] == links->sizes[i - 1])
        continue;
      snprintf (cell, sizeof cell, "%.4g MiB",
                (double) links->sizes[i] / 0x1p20);
      printf ("%10s", cell);
      for (int c = 0; c < QM_LINKS_OPS; c++)
        printf (" %16.2f", bus (links, c, i) / 1e9);
      printf ("\n");
    }
}

static void
print_links_text (const Links *links)
{
  for (int i = 0; i < links->ranks; i++)
    {
      const QmHostRates *host = &links->all[i].host;

      qm_bench_print ("%-8s %s", links->ids[i], links->infos[i].name);
      if (qm_target_is_gpu (&links->infos[i].target))
        printf ("         host: %.1f GB/s up, %.1f GB/s down\n", host->up / 1e9,
                host->down / 1e9);
    }
  if (links->total == 1)
    {
      printf ("There is no other device to exchange with.\n");
      return;
    }
  if (links->ranks > 1)
    print_pairs (links);
  print_machines (links);
  print_collectives (links);
  qm_bench_print_scaling (links->scaling, links->total);
}

int
qm_bench_links (const QmBenchOptions *options)
{
  Links *links = calloc (1, sizeof *links);
  QmError error = { 0 };
  QmStatus status;

  if (links == NULL)
    {
      qm_error_no_memory (&error);
      return qm_bench_fail (&error);
    }
  links->options = options;
  status = find_devices (links, &error);
  if (status == QM_OK)
    status = measure_links (links, &error);
  if (status == QM_OK && !qm_bench_follows (options))
    status = predict_scaling (links, &error);
  if (status == QM_OK && qm_bench_follows (options))
    ;
  else if (status == QM_OK && options->json)
    print_links_json (links);
  else if (status == QM_OK)
    print_links_text (links);
  close_all (links);
  json_decref (links->scaling);
  free (links->between);
  free (links);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
