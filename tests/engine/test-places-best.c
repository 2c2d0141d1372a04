/* SPDX-License-Identifier: Apache-2.0 */

/* The settings that are found for a place are the best there are: nothing that
 * fits is more than 2 % faster, of all ways and micro-batches, which are tried
 * here one by one; but dividing and offloading have to be worth it by a
 * twentieth, and offloading is only asked for where GPUs divide and compute
 * activations twice. */

#include "data/architecture.h"
#include "engine/places.h"
#include "engine/ways.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH  1.02
#define WORTH   1.053 /* a twentieth, the other way round */
#define N_SIZES 10

static QmCatalog *catalog;
static QmCalibration calibration;
static const int architectures[] = {
  121, 120, 103, 100, 90, 89, 86, 80, 75, 70
};
#define N_ARCHITECTURES (sizeof architectures / sizeof architectures[0])
static const int numbers[] = { 1, 2, 4, 8 };

static const struct
{
  bool checkpoint;
  QmSharding offload;
} ways[] = {
  { false, QM_SHARDING_NONE },   { true, QM_SHARDING_NONE },
  { false, QM_SHARDING_ZERO_2 }, { true, QM_SHARDING_ZERO_2 },
  { false, QM_SHARDING_FSDP_3 }, { true, QM_SHARDING_FSDP_3 },
};
#define N_WAYS (sizeof ways / sizeof ways[0])

/* A way at a micro-batch. */
typedef struct Tried
{
  QmMemory memory[N_ARCHITECTURES];
  uint64_t staging;
  QmWork *work;
  QmPrediction alone;
} Tried;

/* All of a model. */
typedef struct All
{
  QmPlacesOptions options;
  Tried tried[N_WAYS][N_SIZES];
  QmTarget targets[N_ARCHITECTURES];
  QmWayPlans *ranked; /* plans of several GPUs */
} All;

static Tried
plan (const QmPlacesOptions *options, size_t way, int64_t micro_batch)
{
  bool eager = strcmp (options->level->name, "eager") == 0;
  QmTarget targets[N_ARCHITECTURES];
  QmPlanOptions plan_options = {
    .micro_batch = micro_batch,
    .methods = eager ? QM_METHOD_KERNELS | QM_METHOD_TF32 : QM_METHOD_ALL,
    .checkpoint = ways[way].checkpoint,
    .loss_rows = qm_level_loss_rows (options->level->name),
    .sharding = ways[way].offload,
    .offload = ways[way].offload != QM_SHARDING_NONE,
  };
  Tried tried = { 0 };
  QmError error = { 0 };
  QmPlan *plan = NULL;

  for (size_t i = 0; i < N_ARCHITECTURES; i++)
    targets[i] = (QmTarget){ QM_DEVICE_CUDA, architectures[i] };
  plan_options.target = targets[0];
  if (qm_plan_new (options->config, options->recipe, &plan_options, &plan,
                   &error)
      != QM_OK)
    return tried; /* too large for any memory */
  qm_plan_memories (plan, targets, N_ARCHITECTURES, tried.memory);
  tried.staging = plan->host.staging;
  CHECK_INT (qm_work_new (plan, &tried.work, &error), QM_OK);
  qm_plan_free (plan);
  return tried;
}

static All *
all_of (const char *model_id, const char *level)
{
  const QmModel *model = qm_catalog_model (catalog, model_id);
  All *all = calloc (1, sizeof *all);

  all->options = (QmPlacesOptions){
    .config = &model->config,
    .recipe = &model->recipe,
    .calibration = &calibration,
    .level = qm_calibration_level (&calibration, level),
  };
  for (size_t i = 0; i < N_WAYS; i++)
    for (int j = 0; j < N_SIZES; j++)
      all->tried[i][j] = plan (&all->options, i, INT64_C (1) << j);
  for (size_t i = 0; i < N_ARCHITECTURES; i++)
    all->targets[i] = (QmTarget){ QM_DEVICE_CUDA, architectures[i] };
  CHECK_INT (qm_way_plans_new (&model->config, &model->recipe, all->targets,
                               N_ARCHITECTURES, &all->ranked, NULL),
             QM_OK);
  return all;
}

static void
all_free (All *all)
{
  for (size_t i = 0; i < N_WAYS; i++)
    for (int j = 0; j < N_SIZES; j++)
      qm_work_free (all->tried[i][j].work);
  qm_way_plans_free (all->ranked);
  free (all);
}

/* What each GPU needs, of n that divide what is kept of the model. */
static double
bytes_of (const Tried *tried, size_t architecture, int n)
{
  const QmMemory *m = &tried->memory[architecture];
  double states =
      (double) (m->weights + m->master + m->gradients + m->optimizer);

  return (double) m->total - states + states / n;
}

/* The same of several GPUs, of which plans have the exchange. */
static double
best_of_ranks (All *all,
               const QmSpeeds *speeds,
               double bytes,
               size_t architecture,
               bool sharded,
               bool offload)
{
  const QmLevel *level = all->options.level;
  const QmExchange exchange = qm_exchange_of (speeds, level, NULL);
  int64_t batch = all->options.recipe->batch_size;
  int64_t share = (batch + speeds->gpus - 1) / speeds->gpus;
  double best = INFINITY;

  for (size_t i = 0; i < N_WAYS; i++)
    for (int j = 0; j < N_SIZES && INT64_C (1) << j <= share; j++)
      {
        const QmPlanOptions options = {
          .micro_batch = INT64_C (1) << j,
          .methods = qm_level_methods (level),
          .checkpoint = ways[i].checkpoint,
          .loss_rows = qm_level_loss_rows (level->name),
          .ranks = speeds->gpus,
          .sharding = offload   ? ways[i].offload
                      : sharded ? QM_SHARDING_ZERO_3
                                : QM_SHARDING_NONE,
          .offload = offload,
        };
        QmWayFound found;

        if ((ways[i].offload != QM_SHARDING_NONE) == offload
            && qm_way_plans_find (all->ranked, architecture, &options,
                                  (uint64_t) bytes, &exchange, level, &found,
                                  NULL)
                   == QM_OK
            && found.fits)
          best = fmin (best, found.prediction.step);
      }
  return best;
}

/* The least seconds of a step, all states on the GPU, or also with the host's
 * memory; infinite where nothing fits. */
static double
best_of (All *all,
         QmSpeeds *speeds,
         double bytes,
         size_t architecture,
         bool sharded,
         bool offload)
{
  int64_t batch = all->options.recipe->batch_size;
  int64_t share = (batch + speeds->gpus - 1) / speeds->gpus;
  double best = INFINITY;

  speeds->sharded = sharded;
  if (speeds->gpus > 1)
    return best_of_ranks (all, speeds, bytes, architecture, sharded, offload);
  for (size_t i = 0; i < N_WAYS; i++)
    for (int j = 0; j < N_SIZES && INT64_C (1) << j <= share; j++)
      {
        const Tried *tried = &all->tried[i][j];
        QmPrediction prediction = tried->alone;
        int64_t size = INT64_C (1) << j;
        QmWork work;

        if (tried->work == NULL
            || (ways[i].offload != QM_SHARDING_NONE) != offload
            || bytes_of (tried, architecture, sharded ? speeds->gpus : 1)
                   > bytes)
          continue;
        work = *tried->work;
        work.samples = (double) share;
        work.passes = (double) ((share + size - 1) / size);
        if (qm_predict_step (&work, speeds, all->options.level, &prediction,
                             NULL)
            == QM_OK)
          best = fmin (best, prediction.step);
      }
  return best;
}

static void
predict_alone (All *all, const QmSpeeds *speeds)
{
  for (size_t i = 0; i < N_WAYS; i++)
    for (int j = 0; j < N_SIZES; j++)
      if (all->tried[i][j].work != NULL)
        CHECK_INT (qm_predict_alone (all->tried[i][j].work, speeds,
                                     all->options.level,
                                     &all->tried[i][j].alone, NULL),
                   QM_OK);
}

/* Whether something is found. */
static bool
check_place (All *all, QmPlaces *places, const QmGpu *gpu, int n)
{
  double bytes = floor (gpu->memory_gib * 0.98 * 0x1p30), whole, divided, best;
  size_t architecture = 0;
  QmPlaceFound found;
  QmSpeeds speeds;
  QmStatus status = qm_places_find (places, gpu, n, QM_INTERCONNECT_OF_GPU,
                                    (uint64_t) bytes, &found, NULL);

  if (qm_speeds_of_gpu (&calibration, gpu, n, QM_INTERCONNECT_OF_GPU, &speeds,
                        NULL)
      != QM_OK)
    return false;
  if (n == 1)
    predict_alone (all, &speeds);
  while (architectures[architecture] != speeds.architecture)
    architecture++;
  whole = best_of (all, &speeds, bytes, architecture, false, false);
  divided = n > 1 ? best_of (all, &speeds, bytes, architecture, true, false)
                  : INFINITY;
  best = fmin (whole, divided);
  if (isinf (best) || (found.sharded && found.options.checkpoint)
      || found.options.offload)
    best = fmin (best, best_of (all, &speeds, bytes, architecture, n > 1, true)
                           * (found.options.offload ? 1 : WORTH));
  /* Some have no bf16, or are part of a machine of their own. */
  if (status != QM_OK)
    {
      CHECK (n > 1 || gpu->bf16 == QM_NO || isinf (best));
      return false;
    }
  CHECK (found.fits == (best < INFINITY));
  if (!found.fits)
    return false;
  if (!found.sharded && !found.options.offload)
    best = fmin (whole, divided * WORTH);
  if (found.prediction.step > best * ENOUGH)
    fprintf (stderr, "%d x %s takes %.3f of the best, micro-batch %lld\n", n,
             gpu->id, found.prediction.step / best,
             (long long) found.options.micro_batch);
  CHECK (found.prediction.step <= best * ENOUGH);
  return true;
}

static void
check_model (const char *model, const char *level)
{
  size_t n, found = 0;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);
  All *all = all_of (model, level);
  QmPlaces *places = NULL;

  CHECK_INT (qm_places_new (&all->options, architectures, N_ARCHITECTURES,
                            &places, NULL),
             QM_OK);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < 4; j++)
      found += check_place (all, places, &gpus[i], numbers[j]);
  CHECK (found > 100);
  qm_places_free (places);
  all_free (all);
}

int
main (void)
{
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  char path[PATH_MAX];
  QmError error = { 0 };

  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, &error), QM_OK);
  CHECK_INT (qm_calibration_load (path, &calibration, &error), QM_OK);
  check_model ("pythia-6.9b", "tuned");
  check_model ("pythia-6.9b", "eager");
  check_model ("pythia-1b", "tuned");
  check_model ("mamba-2.8b", "tuned");
  check_model ("gpt2-124m", "eager");
  qm_catalog_free (catalog);
  return check_report ();
}
