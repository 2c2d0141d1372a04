/* SPDX-License-Identifier: Apache-2.0 */

/* What two machines saw of their GPUs is in the first one's result: every rank
 * with its clocks, its power and its machine, and the energy of all.  Their
 * monitors are made up, as there is no GPU. */

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-run.h"
#include "tests/bench/tiny.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINES 2
#define LOCAL    2
#define RANKS    (MACHINES * LOCAL)

static QmModelConfig config;
static QmRecipe recipe;
static QmBenchModel model = { .name = "tiny" };

/* One machine's process. */
typedef struct Machine
{
  QmBenchOptions options;
  QmBenchRun runs[LOCAL];
  int silent; /* a rank whose power nobody knows; -1: none */
  QmStatus status;
  QmError error;
  json_t *result;
  pthread_t thread;
} Machine;

static QmRange
range (double mean)
{
  return (QmRange){ mean, mean - 1, mean + 1 };
}

/* What was measured of a rank, which is told by its number. */
static void
make_up (const Machine *machine, int number, QmBenchRun *run)
{
  static char monitor;
  double rank = machine->options.nodes.self * LOCAL + number;
  QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                            .micro_batch = 2,
                            .ranks = RANKS,
                            .rank = (int) rank };

  *run = (QmBenchRun){ .options = &machine->options,
                       .model = &model,
                       .rank = (int) rank,
                       .ranks = RANKS,
                       .local = number == 0 ? LOCAL : 0,
                       .monitor = (QmMonitor *) (void *) &monitor,
                       .used_bytes = (int64_t) (1000 + rank),
                       .used_source = "nvml" };
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &run->plan, NULL), QM_OK);
  CHECK_INT (qm_device_open ("cpu", 0, &run->device, NULL), QM_OK);
  run->info = *qm_device_info (run->device);
  snprintf (run->info.name, sizeof run->info.name, "GPU %d", (int) rank);
  run->result.step = (QmTimes){ 2, 2, 2 };
  run->result.exchange = 0.25;
  run->result.waits.pass = rank;
  run->result.watts = rank == machine->silent ? (double) NAN : 100 * (rank + 1);
  run->result.watch = qm_watch_nothing ();
  run->result.watch.sm_mhz = range (1500 + rank);
  run->result.watch.celsius = range (40 + rank);
  run->result.watch.throttle = rank == RANKS - 1 ? 4 : 0;
}

static QmStatus
meet (Machine *machine)
{
  QmWorld *world;
  QmStatus status = qm_bench_join (&machine->options, NULL, LOCAL, 20, &world,
                                   &machine->error);

  if (status == QM_OK)
    machine->runs[0].world = world;
  return status;
}

typedef struct Opening
{
  Machine *machine;
  int number;
  pthread_t thread;
} Opening;

static void *
open_communicator (void *data)
{
  const Opening *opening = data;
  QmBenchRun *run = &opening->machine->runs[opening->number];

  CHECK_INT (qm_communicator_new (opening->machine->runs[0].world, run->rank,
                                  run->device, QM_TRANSPORT_HOST,
                                  &run->communicator, NULL),
             QM_OK);
  return NULL;
}

/* The ranks of a machine meet each from a thread of its own. */
static void
open_all (Machine *machine)
{
  Opening openings[LOCAL];

  for (int i = 0; i < LOCAL; i++)
    {
      openings[i] = (Opening){ .machine = machine, .number = i };
      pthread_create (&openings[i].thread, NULL, open_communicator,
                      &openings[i]);
    }
  for (int i = 0; i < LOCAL; i++)
    pthread_join (openings[i].thread, NULL);
}

static void *
work (void *data)
{
  Machine *machine = data;
  QmBenchRun *first = &machine->runs[0];

  for (int i = 0; i < LOCAL; i++)
    make_up (machine, i, &machine->runs[i]);
  first->others = machine->runs + 1;
  machine->status = meet (machine);
  if (machine->status != QM_OK)
    return NULL;
  open_all (machine);
  machine->status = qm_bench_run_gather (first, &machine->error);
  if (machine->status == QM_OK && !qm_bench_follows (&machine->options))
    machine->result = qm_bench_json_result (first);
  CHECK (qm_bench_follows (&machine->options) == (first->seen == NULL));
  json_decref (first->seen);
  for (int i = 0; i < LOCAL; i++)
    {
      qm_communicator_free (machine->runs[i].communicator);
      qm_device_close (machine->runs[i].device);
      qm_plan_free (machine->runs[i].plan);
    }
  qm_world_free (first->world);
  return NULL;
}

/* What the first machine's process says of all; the caller's. */
static json_t *
measure (int silent)
{
  static Machine machines[MACHINES];
  int port = free_port ();

  for (int i = 0; i < MACHINES; i++)
    {
      QmBenchNodes *nodes = &machines[i].options.nodes;

      machines[i] =
          (Machine){ .silent = silent, .options = { .command = "run" } };
      nodes->count = MACHINES;
      nodes->self = i;
      snprintf (nodes->rendezvous, sizeof nodes->rendezvous, "127.0.0.1:%d",
                port);
      pthread_create (&machines[i].thread, NULL, work, &machines[i]);
    }
  for (int i = 0; i < MACHINES; i++)
    {
      pthread_join (machines[i].thread, NULL);
      CHECK_INT (machines[i].status, QM_OK);
      CHECK_STRING (machines[i].error.message, "");
    }
  return machines[0].result;
}

static double
number (const json_t *object, const char *section, const char *name)
{
  const json_t *within = json_object_get (object, section);
  const json_t *value = json_object_get (within, name);

  return json_is_object (value) ? number (within, name, "mean")
                                : json_number_value (value);
}

static void
check_rank (const json_t *rank, int i)
{
  char name[16];

  snprintf (name, sizeof name, "GPU %d", i);
  CHECK_STRING (json_string_value (
                    json_object_get (json_object_get (rank, "device"), "name")),
                name);
  CHECK_INT (json_integer_value (json_object_get (rank, "node")), i / LOCAL);
  CHECK (json_is_object (json_object_get (rank, "machine")));
  CHECK_NEAR (number (rank, "memory_use", "used_bytes"), 1000 + i, 0);
  CHECK_NEAR (number (rank, "waits", "pass_s"), i, 1e-9);
  CHECK_NEAR (number (rank, "watch", "sm_mhz"), 1500 + i, 1e-9);
  CHECK_NEAR (number (rank, "watch", "celsius"), 40 + i, 1e-9);
  CHECK_NEAR (json_number_value (json_object_get (rank, "watts")),
              100 * (i + 1), 1e-9);
  CHECK (
      json_is_true (json_object_get (json_object_get (rank, "watch"), "slowed"))
      == (i == RANKS - 1));
}

static void
test_all_ranks (void)
{
  json_t *result = measure (-1), *ranks = json_object_get (result, "ranks");

  check_case ("all ranks");
  CHECK_INT ((int64_t) json_array_size (ranks), RANKS);
  for (int i = 0; i < RANKS; i++)
    check_rank (json_array_get (ranks, (size_t) i), i);
  CHECK_INT (json_integer_value (json_object_get (result, "nodes")), MACHINES);
  CHECK_NEAR (number (result, "energy", "watts"), 100 + 200 + 300 + 400, 1e-9);
  CHECK_NEAR (number (result, "energy", "step_j"), 2000, 1e-9);
  json_decref (result);
}

/* What is not known of one is known of no more. */
static void
test_unknown_power (void)
{
  json_t *result = measure (RANKS - 1), *ranks, *energy;

  check_case ("power of one is not known");
  ranks = json_object_get (result, "ranks");
  energy = json_object_get (result, "energy");
  CHECK_INT ((int64_t) json_array_size (ranks), RANKS);
  CHECK (json_is_null (
      json_object_get (json_array_get (ranks, RANKS - 1), "watts")));
  CHECK (json_is_null (json_object_get (energy, "watts")));
  json_decref (result);
}

int
main (void)
{
  CHECK_INT (qm_model_config_parse (TINY_CONFIG, strlen (TINY_CONFIG), "",
                                    &config, NULL),
             QM_OK);
  CHECK_INT (qm_recipe_parse (TINY_RECIPE, strlen (TINY_RECIPE), "", &recipe,
                              NULL),
             QM_OK);
  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "", NULL), QM_OK);
  test_all_ranks ();
  test_unknown_power ();
  return check_report ();
}
