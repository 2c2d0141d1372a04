/* SPDX-License-Identifier: Apache-2.0 */

/* The settings that are found for a place are the best there are: nothing that
 * fits is faster, of all ways of the search and all micro-batches, which are
 * tried here one by one.  Other software does not offload as FSDP.
 */

#include "data/architecture.h"
#include "engine/places-least.h"
#include "engine/places.h"
#include "engine/search.h"
#include "engine/ways.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SIZES 10

static QmCatalog *catalog;
static QmCalibration calibration;
static const int architectures[] = {
  121, 120, 103, 100, 90, 89, 86, 80, 75, 70
};
#define N_ARCHITECTURES (sizeof architectures / sizeof architectures[0])

/* Of which the first have bf16, and Muon's iterations in it. */
#define N_WITH_BF16 8

static const int numbers[] = { 1, 2, 4, 8 };

/* All of a model, for some of the architectures. */
typedef struct All
{
  QmRecipe recipe;
  QmPlacesOptions options;
  QmSearchConfig ways[QM_SEARCH_MOST];
  size_t n_ways;
  QmTarget targets[N_ARCHITECTURES];
  size_t n_targets;
  QmWayPlans *ranked; /* plans of several GPUs */
  /* Of one, by target. */
  QmPlan *plans[QM_SEARCH_MOST][N_SIZES];
  QmMemory memory[QM_SEARCH_MOST][N_SIZES][N_ARCHITECTURES];
  QmWork *work[QM_SEARCH_MOST][N_SIZES];
  /* Of those that keep everything, on the GPU in hand. */
  QmPrediction alone[2][N_SIZES];
} All;

static QmPlanOptions
options_of (const All *all, size_t way, int at, int gpus)
{
  const QmLevel *level = all->options.level;

  return (QmPlanOptions){
    .target = all->targets[0],
    .micro_batch = INT64_C (1) << at,
    .methods = qm_level_methods (level),
    .checkpoint = all->ways[way].checkpoint,
    .loss_rows = qm_level_loss_rows (level->name),
    .ranks = gpus,
    .sharding = all->ways[way].sharding,
    .offload = all->ways[way].offload,
    .foreign = !level->own,
  };
}

/* Of one GPU nothing is divided. */
static bool
takes (const All *all, size_t way, int gpus)
{
  const QmSearchConfig *config = &all->ways[way];

  if (!all->options.level->own && config->offload
      && (config->sharding == QM_SHARDING_FSDP_2
          || config->sharding == QM_SHARDING_FSDP_3))
    return false;
  return gpus > 1 || config->offload || config->sharding == QM_SHARDING_NONE;
}

static All *
all_of (const char *model_id,
        const char *level,
        QmOptimizer optimizer,
        const int *of,
        size_t n_of)
{
  const QmModel *model = qm_catalog_model (catalog, model_id);
  All *all = calloc (1, sizeof *all);
  QmSearchConfig list[QM_SEARCH_MOST];
  size_t n = qm_search_configurations (QM_SEARCH_ALL, 2, list);

  all->recipe = model->recipe;
  all->recipe.optimizer = optimizer;
  all->options = (QmPlacesOptions){
    .config = &model->config,
    .recipe = &all->recipe,
    .calibration = &calibration,
    .level = qm_calibration_level (&calibration, level),
  };
  all->n_targets = n_of;
  for (size_t i = 0; i < n_of; i++)
    all->targets[i] = (QmTarget){ QM_DEVICE_CUDA, of[i] };
  for (size_t i = 0; i < n; i++)
    if (list[i].methods != 0)
      all->ways[all->n_ways++] = list[i];
  CHECK_INT (all->n_ways, 22);
  for (size_t i = 0; i < all->n_ways; i++)
    for (int j = 0; takes (all, i, 1) && j < N_SIZES; j++)
      {
        const QmPlanOptions options = options_of (all, i, j, 1);

        /* Others are too large for any memory. */
        if (qm_plan_new (&model->config, &all->recipe, &options,
                         &all->plans[i][j], NULL)
            != QM_OK)
          continue;
        qm_plan_memories (all->plans[i][j], all->targets, n_of,
                          all->memory[i][j]);
        CHECK_INT (qm_work_new (all->plans[i][j], &all->work[i][j], NULL),
                   QM_OK);
      }
  CHECK_INT (qm_way_plans_new (&model->config, &all->recipe, all->targets, n_of,
                               &all->ranked, NULL),
             QM_OK);
  return all;
}

static void
all_free (All *all)
{
  for (size_t i = 0; i < all->n_ways; i++)
    for (int j = 0; j < N_SIZES; j++)
      {
        qm_plan_free (all->plans[i][j]);
        qm_work_free (all->work[i][j]);
      }
  qm_way_plans_free (all->ranked);
  free (all);
}

/* What a way takes at least is no more than what it takes. */
static void
check_least (const All *all,
             const QmExchange *exchange,
             size_t target,
             size_t way,
             int at,
             uint64_t bytes,
             double step)
{
  const QmSearchConfig *config = &all->ways[way];
  size_t whole = config->checkpoint ? 1 : 0;
  int gpus = exchange->speeds->gpus;
  int64_t passes = (all->options.recipe->batch_size + gpus - 1) / gpus;
  QmWork work = *all->work[whole][at];

  passes = (passes + (INT64_C (1) << at) - 1) / (INT64_C (1) << at);
  work.passes = (double) passes;
  CHECK (qm_least_bytes (&all->memory[whole][at][target], config, gpus)
         <= bytes);
  CHECK (qm_least_step (&work, &all->alone[whole][at], config, exchange,
                        all->options.level)
         <= step * 1.0001);
}

/* Seconds of a step; infinite where it does not fit. */
static double
step_of (All *all,
         const QmSpeeds *speeds,
         uint64_t bytes,
         size_t target,
         size_t way,
         int at)
{
  const QmLevel *level = all->options.level;
  const QmExchange exchange = qm_exchange_of (speeds, level, NULL);
  const QmPlanOptions options = options_of (all, way, at, speeds->gpus);
  QmPrediction prediction;
  QmWayFound found;
  QmWork work;
  int64_t passes = (all->options.recipe->batch_size + options.micro_batch - 1)
                   / options.micro_batch;

  if (speeds->gpus > 1)
    {
      if (qm_way_plans_find (all->ranked, target, &options, bytes, &exchange,
                             level, &found, NULL)
              != QM_OK
          || !found.fits)
        return INFINITY;
      check_least (all, &exchange, target, way, at, found.memory.total,
                   found.prediction.step);
      return found.prediction.step;
    }
  if (all->work[way][at] == NULL || all->memory[way][at][target].total > bytes)
    return INFINITY;
  work = *all->work[way][at];
  work.passes = (double) passes;
  if (qm_predict (&work, speeds, level, &prediction, NULL) != QM_OK)
    return INFINITY;
  check_least (all, &exchange, target, way, at,
               all->memory[way][at][target].total, prediction.step);
  return prediction.step;
}

static double
best_of (All *all, const QmSpeeds *speeds, uint64_t bytes, size_t target)
{
  int64_t batch = all->options.recipe->batch_size;
  int64_t share = (batch + speeds->gpus - 1) / speeds->gpus;
  double best = INFINITY;

  for (size_t i = 0; i < all->n_ways; i++)
    for (int j = 0; takes (all, i, speeds->gpus) && j < N_SIZES
                    && INT64_C (1) << j <= share;
         j++)
      best = fmin (best, step_of (all, speeds, bytes, target, i, j));
  return best;
}

/* Whether something is found. */
static bool
check_place (All *all, QmPlaces *places, const QmGpu *gpu, int n)
{
  uint64_t bytes = (uint64_t) floor (gpu->memory_gib * 0.98 * 0x1p30);
  const QmLevel *level = all->options.level;
  size_t target = 0;
  double best, step;
  QmPlaceFound found;
  QmSpeeds speeds;
  QmStatus status = qm_places_find (places, gpu, n, QM_INTERCONNECT_OF_GPU,
                                    bytes, &found, NULL);

  if (qm_speeds_of_gpu (&calibration, gpu, n, QM_INTERCONNECT_OF_GPU, &speeds,
                        NULL)
      != QM_OK)
    return false;
  while (target < all->n_targets
         && all->targets[target].architecture != speeds.architecture)
    target++;
  if (target == all->n_targets)
    return false;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < N_SIZES; j++)
      if (all->work[i][j] != NULL)
        CHECK_INT (qm_predict_alone (all->work[i][j], &speeds, level,
                                     &all->alone[i][j], NULL),
                   QM_OK);
  best = best_of (all, &speeds, bytes, target);
  /* Some have no bf16, or are part of a machine of their own. */
  if (status != QM_OK)
    {
      CHECK (n > 1 || gpu->bf16 == QM_NO || isinf (best));
      return false;
    }
  CHECK (found.fits == (best < INFINITY));
  if (!found.fits)
    return false;
  step = found.prediction.step;
  if (step > best * 1.000001)
    fprintf (stderr, "%d x %s takes %.4f of the best, micro-batch %lld, %s\n",
             n, gpu->id, step / best, (long long) found.options.micro_batch,
             qm_sharding_name (found.options.sharding));
  CHECK (step <= best * 1.000001);
  /* Nothing is told that is not so. */
  CHECK (found.memory.total <= bytes);
  CHECK (step >= best * 0.999999);
  return true;
}

/* Of GPUs of some architectures, of which more than `least` are found
 * something for. */
static void
check_some (const char *model,
            const char *level,
            QmOptimizer optimizer,
            const int *of,
            size_t n_of,
            size_t least)
{
  size_t n, found = 0;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);
  All *all = all_of (model, level, optimizer, of, n_of);
  QmPlaces *places = NULL;

  CHECK_INT (qm_places_new (&all->options, architectures, N_ARCHITECTURES,
                            &places, NULL),
             QM_OK);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < 4; j++)
      found += check_place (all, places, &gpus[i], numbers[j]);
  CHECK (found > least);
  qm_places_free (places);
  all_free (all);
}

static void
check_model (const char *model, const char *level)
{
  check_some (model, level, QM_OPTIMIZER_ADAMW, architectures, N_ARCHITECTURES,
              100);
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
  check_some ("pythia-1b", "tuned", QM_OPTIMIZER_MUON, architectures,
              N_WITH_BF16, 100);
  check_some ("pythia-410m", "tuned", QM_OPTIMIZER_MUON,
              architectures + N_WITH_BF16, N_ARCHITECTURES - N_WITH_BF16, 15);
  qm_catalog_free (catalog);
  return check_report ();
}
