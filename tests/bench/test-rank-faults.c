/* SPDX-License-Identifier: Apache-2.0 */

/* Ranks of which one fails: whatever call of its device fails first, or its
 * memory runs out, one sentence names the rank and the device, the others end
 * soon, and everything is given back. */

#include "app/qm-bench-ranks.h"
#include "engine/measure.h"
#include "engine/train.h"
#include "tests/bench/tiny.h"
#include "tests/data/check.h"
#include "tests/engine/failing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RANKS 3

/* Seconds in which all have ended; most take some milliseconds. */
#define SOON 10

typedef struct Ranks
{
  QmSharding sharding;
  bool offload, trains;
  QmWorld *world;
  QmDevice *devices[RANKS];
  QmCommunicator *communicators[RANKS];
  QmStatus statuses[RANKS];
  bool measured[RANKS], own_faults[RANKS];
} Ranks;

static QmModelConfig config;
static QmRecipe recipe;

/* The program's, where somebody never hears that others have failed. */
int
qm_bench_fail (const QmError *error)
{
  fprintf (stderr, "%s\n", error->message);
  abort ();
}

static bool
on_step (void *data, const QmTrainStep *step)
{
  return true;
}

static QmStatus
measure_or_train (Ranks *ranks, int rank, const QmPlan *plan, QmError *error)
{
  int32_t ids[256];
  QmSamples samples = { .ids = ids, .n = 256 };
  QmMeasureOptions measuring = { .repeat = 1,
                                 .communicator = ranks->communicators[rank] };
  QmTrainOptions training = { .steps = 2,
                              .step = on_step,
                              .communicator = ranks->communicators[rank] };
  QmMeasureResult result;
  QmStatus status;

  for (int i = 0; i < 256; i++)
    ids[i] = i % 96;
  if (ranks->trains)
    return qm_train (plan, ranks->devices[rank], &samples, &training, error);
  status = qm_measure (plan, ranks->devices[rank], &measuring, &result, error);
  if (status == QM_OK)
    qm_measure_result_clear (&result);
  return status;
}

static QmStatus
do_rank (void *data, int rank, QmError *error)
{
  Ranks *ranks = data;
  QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                            .micro_batch = 2,
                            .methods = QM_METHOD_ALL,
                            .sharding = ranks->sharding,
                            .offload = ranks->offload,
                            .ranks = RANKS,
                            .rank = rank,
                            .bucket = 512 };
  QmPlan *plan = NULL;
  QmStatus status = qm_plan_new (&config, &recipe, &options, &plan, error);

  if (status == QM_OK)
    status = qm_communicator_new (ranks->world, rank, ranks->devices[rank],
                                  QM_TRANSPORT_HOST,
                                  &ranks->communicators[rank], error);
  ranks->measured[rank] = status == QM_OK;
  if (status == QM_OK)
    status = measure_or_train (ranks, rank, plan, error);
  ranks->own_faults[rank] =
      status != QM_OK && qm_bench_ranks_own_fault (ranks->world, rank, error);
  qm_plan_free (plan);
  ranks->statuses[rank] = status;
  return status;
}

static void
end_rank (void *data, int rank)
{
  Ranks *ranks = data;

  qm_communicator_free (ranks->communicators[rank]);
  ranks->communicators[rank] = NULL;
}

/* All of it once; the seconds that it took. */
static double
run (Ranks *ranks, QmStatus *status, QmError *error)
{
  QmWorldOptions options = { .ranks = RANKS, .local = RANKS, .patience = 60 };
  struct timespec begin, end;

  *error = (QmError){ 0 };
  CHECK_INT (qm_world_new (&options, &ranks->world, NULL), QM_OK);
  clock_gettime (CLOCK_MONOTONIC, &begin);
  *status = qm_bench_ranks_do (0, RANKS, ranks->world, do_rank, end_rank, ranks,
                               error);
  clock_gettime (CLOCK_MONOTONIC, &end);
  qm_world_free (ranks->world);
  return (double) (end.tv_sec - begin.tv_sec)
         + (double) (end.tv_nsec - begin.tv_nsec) * 1e-9;
}

/* Lets calls of one rank's device fail, each in its turn.  Its last ones wait
 * while everything is being freed and have nobody to tell. */
static void
fail_everywhere (Ranks *ranks, int victim)
{
  int64_t all, tried = 0;
  char sentence[64];
  QmStatus status;
  QmError error;

  snprintf (sentence, sizeof sentence, "rank %d: %s", victim, FAILING_MESSAGE);
  failing_at (-1);
  run (ranks, &status, &error);
  CHECK_INT (status, QM_OK);
  all = failing_calls ();
  CHECK (all > 40);
  for (int64_t n = 0; n < all - 8; n += n < 20 ? 1 : 1 + all / 41, tried++)
    {
      failing_at (n);
      CHECK (run (ranks, &status, &error) < SOON);
      CHECK (status == QM_STATUS_DEVICE || status == QM_STATUS_DEVICE_FULL);
      CHECK_STRING (error.message, sentence);
      failing_check_empty ();
      for (int i = 0; i < RANKS; i++)
        {
          CHECK (ranks->statuses[i] != QM_OK);
          if (ranks->measured[i])
            CHECK_INT (ranks->own_faults[i], i == victim);
        }
    }
  CHECK (tried > 20);
}

static void
try (QmSharding sharding, bool offload, int victim)
{
  Ranks ranks = { .sharding = sharding, .offload = offload };
  char name[64];

  for (int i = 0; i < RANKS; i++)
    if (i == victim)
      ranks.devices[i] = failing_open ();
    else
      CHECK_INT (qm_device_open ("cpu", 0, &ranks.devices[i], NULL), QM_OK);
  for (int i = 0; i < 2; i++)
    {
      ranks.trains = i == 1;
      snprintf (name, sizeof name, "%s, %s%s, rank %d",
                ranks.trains ? "train" : "measure", qm_sharding_name (sharding),
                offload ? ", offloading" : "", victim);
      check_case (name);
      fail_everywhere (&ranks, victim);
    }
  for (int i = 0; i < RANKS; i++)
    if (i == victim)
      failing_close (ranks.devices[i]);
    else
      qm_device_close (ranks.devices[i]);
}

int
main (void)
{
  int victim = 0;

  CHECK_INT (qm_model_config_parse (TINY_CONFIG, strlen (TINY_CONFIG), "",
                                    &config, NULL),
             QM_OK);
  CHECK_INT (qm_recipe_parse (TINY_RECIPE, strlen (TINY_RECIPE), "", &recipe,
                              NULL),
             QM_OK);
  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "", NULL), QM_OK);
  for (int i = QM_SHARDING_NONE; i < QM_N_SHARDINGS; i++)
    for (int offload = 0; offload < 2; offload++)
      if (i != QM_SHARDING_NONE || offload == 0)
        try ((QmSharding) i, offload == 1, victim++ % RANKS);
  return check_report ();
}
