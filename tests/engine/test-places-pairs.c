/* SPDX-License-Identifier: Apache-2.0 */

/* Models whose pairs are told from those of all GPUs: what is found of a number
 * of them is planned for that number, in whatever order numbers are asked for,
 * and is what a count by hand says. */

#include "engine/places.h"
#include "engine/ways.h"
#include "tests/data/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MICRO_BATCH INT64_C (16)
#define MOST        8

static QmCatalog *catalog;
static QmCalibration calibration;
static const int architecture = 90;

/* A model, and the number of features that its pairs are told by. */
typedef struct Case
{
  const QmModel *model;
  int64_t features;
} Case;

static QmPlanOptions
plan_options (int ranks)
{
  return (QmPlanOptions){ .target = { QM_DEVICE_CUDA, architecture },
                          .micro_batch = MICRO_BATCH,
                          .methods = QM_METHOD_ALL,
                          .ranks = ranks };
}

/* Operations of the products of a pass. */
static double
flops_of (const QmPlan *plan)
{
  QmWork *work = NULL;
  double sum = 0;

  CHECK_INT (qm_work_new (plan, &work, NULL), QM_OK);
  if (work == NULL)
    return 0;
  for (size_t i = 0; i < work->n; i++)
    if (!work->rows[i].update && work->rows[i].inner > 0)
      sum += work->rows[i].count * work->rows[i].flops;
  qm_work_free (work);
  return sum;
}

/* Each GPU has all features of both sides in bf16, and each side's cosines with
 * them are a product forward and one backward, towards its own alone. */
static void
check_by_hand (const Case *c)
{
  int64_t own = MICRO_BATCH * c->features;
  double flops = 0;
  uint64_t other = 0;

  for (int ranks = 1; ranks <= MOST; ranks++)
    {
      const QmPlanOptions options = plan_options (ranks);
      QmPlan *plan = NULL;
      double more;

      CHECK_INT (qm_plan_new (&c->model->config, &c->model->recipe, &options,
                              &plan, NULL),
                 QM_OK);
      if (plan == NULL)
        return;
      if (ranks == 1)
        {
          flops = flops_of (plan);
          other = plan->memory.other;
        }
      more = 2.0 * 2 * (double) (2 * own * MICRO_BATCH * (ranks - 1));
      CHECK_NEAR (flops_of (plan), flops + more, 0.5);
      CHECK_INT ((int64_t) (plan->memory.other - other),
                 2 * 2 * own * (ranks - 1));
      qm_plan_free (plan);
    }
}

static bool
is_same_memory (const QmMemory *a, const QmMemory *b)
{
  return a->total == b->total && a->activations == b->activations
         && a->other == b->other && a->master == b->master
         && a->optimizer == b->optimizer && a->gradients == b->gradients
         && a->weights == b->weights && a->workspace == b->workspace;
}

/* What plans that are kept for many numbers say is what one that is made for
 * that number says. */
static void
check_kept (const Case *c, const QmLevel *level, QmSharding sharding)
{
  static const int numbers[] = { 8, 2, 5, 3, 8, 7, 4, 6 };
  const QmGpu *gpu = qm_catalog_gpu (catalog, "h100-80gb-sxm");
  const QmTarget target = { QM_DEVICE_CUDA, architecture };
  QmWayPlans *plans = NULL;

  CHECK_INT (qm_way_plans_new (&c->model->config, &c->model->recipe, &target, 1,
                               &plans, NULL),
             QM_OK);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    {
      QmPlanOptions options = plan_options (numbers[i]);
      QmSpeeds speeds;
      QmExchange exchange;
      QmWayFound kept, made;

      options.sharding = sharding;
      CHECK_INT (qm_speeds_of_gpu (&calibration, gpu, numbers[i],
                                   QM_INTERCONNECT_OF_GPU, &speeds, NULL),
                 QM_OK);
      exchange = qm_exchange_of (&speeds, level, NULL);
      CHECK_INT (qm_way_plans_find (plans, 0, &options, UINT64_MAX, &exchange,
                                    level, &kept, NULL),
                 QM_OK);
      CHECK_INT (qm_way_find (&c->model->config, &c->model->recipe, &options,
                              UINT64_MAX, &exchange, level, &made, NULL),
                 QM_OK);
      CHECK (kept.fits && made.fits);
      CHECK_INT (kept.accumulation, made.accumulation);
      CHECK (is_same_memory (&kept.memory, &made.memory));
      CHECK_NEAR (kept.prediction.days, made.prediction.days,
                  1e-12 * made.prediction.days);
    }
  qm_way_plans_free (plans);
}

/* And so do places. */
static void
check_places (const Case *c, const QmLevel *level)
{
  const QmGpu *gpu = qm_catalog_gpu (catalog, "h100-80gb-sxm");
  const QmPlacesOptions asked = { .config = &c->model->config,
                                  .recipe = &c->model->recipe,
                                  .calibration = &calibration,
                                  .level = level,
                                  .micro_batch = MICRO_BATCH };
  QmPlaces *places = NULL;

  CHECK_INT (qm_places_new (&asked, &architecture, 1, &places, NULL), QM_OK);
  for (int ranks = 1; ranks <= MOST; ranks++)
    {
      QmPlaceFound found;
      QmPlan *plan = NULL;

      CHECK_INT (qm_places_find (places, gpu, ranks, QM_INTERCONNECT_OF_GPU,
                                 UINT64_C (79) << 30, &found, NULL),
                 QM_OK);
      CHECK (found.fits && found.options.ranks == ranks);
      CHECK_INT (qm_plan_new (&c->model->config, &c->model->recipe,
                              &found.options, &plan, NULL),
                 QM_OK);
      CHECK (plan != NULL && is_same_memory (&plan->memory, &found.memory));
      qm_plan_free (plan);
    }
  qm_places_free (places);
}

int
main (void)
{
  static const struct
  {
    const char *id;
    int64_t features;
  } models[] = { { "clip-vit-l-14", 768 }, { "siglip-vit-b-16-256", 768 } };
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  char path[PATH_MAX];
  const QmLevel *level;

  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, NULL), QM_OK);
  CHECK_INT (qm_calibration_load (path, &calibration, NULL), QM_OK);
  level = qm_calibration_level (&calibration, "engine");
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    {
      const Case c = { .model = qm_catalog_model (catalog, models[i].id),
                       .features = models[i].features };

      check_case (models[i].id);
      CHECK (c.model != NULL && level != NULL);
      if (c.model == NULL || level == NULL)
        continue;
      check_by_hand (&c);
      check_kept (&c, level, QM_SHARDING_NONE);
      check_kept (&c, level, QM_SHARDING_ZERO_2);
      check_places (&c, level);
    }
  qm_catalog_free (catalog);
  return check_report ();
}
