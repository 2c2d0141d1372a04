/* SPDX-License-Identifier: Apache-2.0 */

/* The fastest settings of many places: they fit; they are the same whatever was
 * asked before; what has more is not slower; nothing is divided or offloaded
 * that need not be. */

#include "data/architecture.h"
#include "engine/places.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static QmCatalog *catalog;
static QmCalibration calibration;
static const int architectures[] = {
  70, 75, 80, 86, 89, 90, 100, 103, 120, 121
};
#define N_ARCHITECTURES (sizeof architectures / sizeof architectures[0])

static QmPlacesOptions
options_of (const char *model_id, const char *level)
{
  const QmModel *model = qm_catalog_model (catalog, model_id);

  CHECK (model != NULL);
  return (QmPlacesOptions){ .config = &model->config,
                            .recipe = &model->recipe,
                            .calibration = &calibration,
                            .level =
                                qm_calibration_level (&calibration, level) };
}

static QmPlaces *
places_of (const QmPlacesOptions *options)
{
  QmPlaces *places = NULL;

  CHECK_INT (qm_places_new (options, architectures, N_ARCHITECTURES, &places,
                            NULL),
             QM_OK);
  return places;
}

static QmStatus
look (QmPlaces *places,
      const char *gpu_id,
      int gpus,
      double gib,
      QmPlaceFound *found)
{
  const QmGpu *gpu = qm_catalog_gpu (catalog, gpu_id);
  QmError error = { 0 };
  QmStatus status;

  CHECK (gpu != NULL);
  status = qm_places_find (places, gpu, gpus, QM_INTERCONNECT_OF_GPU,
                           (uint64_t) (gib * 0x1p30), found, &error);
  CHECK (status == QM_OK || error.message[0] != '\0');
  return status;
}

/* Of one memory after the other: what is found fits, and more is no slower. */
static void
test_memory (void)
{
  static const int numbers[] = { 1, 2, 4, 8 };
  const QmPlacesOptions options = options_of ("pythia-2.8b", "tuned");
  QmPlaces *places = places_of (&options);

  for (size_t i = 0; i < 4; i++)
    {
      double before = INFINITY;
      bool fitted = false;

      for (double gib = 2; gib < 200; gib *= 1.5)
        {
          QmPlaceFound found;
          const QmMemory *m = &found.memory;

          CHECK_INT (look (places, "a100-80gb-sxm", numbers[i], gib, &found),
                     QM_OK);
          CHECK (found.fits || !fitted);
          if (!found.fits)
            {
              CHECK ((double) found.smallest > gib * 0x1p30);
              continue;
            }
          fitted = true;
          CHECK ((double) m->total <= gib * 0x1p30);
          CHECK (m->total
                 == m->weights + m->master + m->gradients + m->optimizer
                        + m->activations + m->other + m->workspace
                        + m->reserved);
          CHECK ((found.host_bytes > 0) == found.options.offload);
          CHECK (found.accumulation * found.options.micro_batch * numbers[i]
                 >= options.recipe->batch_size);
          CHECK (found.prediction.days <= before);
          before = found.prediction.days;
        }
      CHECK (fitted);
      if (numbers[i] == 8)
        CHECK (before < 45);
    }
  qm_places_free (places);
}

/* What our own software has no kernel for on a GPU is refused there alone, and
 * of other software nothing is. */
static void
test_kernels (void)
{
  static const char *const levels[] = { "engine", "tuned" };
  const QmModel *model = qm_catalog_model (catalog, "mamba2-1.3b");
  QmModelConfig config;
  QmRecipe recipe;

  check_case ("kernels");
  CHECK (model != NULL);
  if (model == NULL)
    return;
  config = model->config;
  recipe = model->recipe;
  config.mamba2.state_size = 256;
  recipe.precision = QM_PRECISION_FP16;
  for (int own = 1; own >= 0; own--)
    for (int gpus = 1; gpus <= 2; gpus++)
      {
        QmPlacesOptions options = options_of (model->id, levels[1 - own]);
        QmPlaces *places;
        QmPlaceFound found;

        options.config = &config;
        options.recipe = &recipe;
        places = places_of (&options);
        CHECK_INT (look (places, "h100-80gb-sxm", gpus, 80, &found), QM_OK);
        CHECK_INT (look (places, "t4", gpus, 16, &found),
                   own ? QM_STATUS_UNSUPPORTED : QM_OK);
        CHECK_INT (look (places, "h100-80gb-sxm", gpus, 80, &found), QM_OK);
        qm_places_free (places);
      }
}

/* Micro-batches that our own kernels have no grids for are not found, of one
 * GPU or of several; those of other software have other limits. */
static void
test_sequences (void)
{
  static const char text[] = "{\"model_type\":\"mamba\",\"hidden_size\":16,"
                             "\"num_hidden_layers\":1,\"vocab_size\":60}";
  QmRecipe recipe = qm_catalog_model (catalog, "mamba-2.8b")->recipe;
  QmModelConfig config;

  check_case ("sequences");
  CHECK_INT (qm_model_config_parse (text, sizeof text - 1, "", &config, NULL),
             QM_OK);
  recipe.batch_size = 1 << 18;
  recipe.sequence_length = 4;
  for (int own = 0; own < 2; own++)
    for (int gpus = 1; gpus <= 2; gpus++)
      {
        QmPlacesOptions options =
            options_of ("mamba-2.8b", own ? "engine" : "tuned");
        QmPlaces *places;
        QmPlaceFound found;

        options.config = &config;
        options.recipe = &recipe;
        places = places_of (&options);
        CHECK_INT (look (places, "h100-80gb-sxm", gpus, 80, &found), QM_OK);
        CHECK (found.fits);
        if (own)
          CHECK (found.options.micro_batch < 65536);
        else
          CHECK (found.options.micro_batch > 65536);
        qm_places_free (places);
      }
}

/* An answer does not depend on what was asked before. */
static void
test_order (void)
{
  static const char *const gpus[] = { "rtx3090", "h200-141gb-sxm", "l4",
                                      "v100-16gb-sxm2" };
  const QmPlacesOptions options = options_of ("pythia-2.8b", "engine");
  QmPlaces *all = places_of (&options);

  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < 4; i++)
      for (int n = 1; n <= 8; n *= 2)
        {
          const QmGpu *gpu = qm_catalog_gpu (catalog, gpus[i]);
          QmPlaces *alone = places_of (&options);
          QmPlaceFound a, b;

          CHECK_INT (look (all, gpus[i], n, gpu->memory_gib * 0.98, &a), QM_OK);
          CHECK_INT (look (alone, gpus[i], n, gpu->memory_gib * 0.98, &b),
                     QM_OK);
          CHECK (a.fits && b.fits);
          CHECK (fabs (a.prediction.days - b.prediction.days) <= 0);
          CHECK_INT (a.memory.total, b.memory.total);
          CHECK_INT (a.options.micro_batch, b.options.micro_batch);
          qm_places_free (alone);
        }
  qm_places_free (all);
}

/* Nothing is offloaded where GPUs can hold all together, all is by one that
 * cannot, and off the shelf nothing is divided. */
static void
test_which_way (void)
{
  const QmPlacesOptions tuned = options_of ("pythia-2.8b", "tuned");
  const QmPlacesOptions naive = options_of ("pythia-2.8b", "naive");
  QmPlaces *places = places_of (&tuned), *shelf = places_of (&naive);
  QmPlaceFound found;

  look (places, "h200-141gb-sxm", 4, 138, &found);
  CHECK (found.fits && found.way == QM_WAY_NVLINK);
  CHECK (!found.options.offload && found.host_bytes == 0);
  look (places, "h200-141gb-sxm", 4, 36, &found);
  CHECK (found.fits && found.options.sharding != QM_SHARDING_NONE);
  CHECK (!found.options.offload && found.host_bytes == 0);
  look (places, "h200-141gb-sxm", 1, 36, &found);
  CHECK (found.fits);
  CHECK (found.options.offload && found.host_bytes > 0);
  look (shelf, "h200-141gb-sxm", 4, 36, &found);
  CHECK (!found.fits && found.smallest > UINT64_C (36) << 30);
  look (shelf, "h200-141gb-sxm", 4, 138, &found);
  CHECK (found.fits && !found.options.checkpoint);
  CHECK_INT (found.options.sharding, QM_SHARDING_NONE);
  CHECK_INT (found.options.methods, 0);
  qm_places_free (places);
  qm_places_free (shelf);
}

/* Dividing optimizer states alone leaves room for larger micro-batches, and
 * exchanges no more: pythia-6.9b on four H200 was measured to take 59.2 days
 * so, and 62.5 with all states on each.  What is offloaded is held to what a
 * plan needs that has the exchange, too: 25.3 GiB in ZeRO 2 of an A10's 24. */
static void
test_divided_states (void)
{
  const QmPlacesOptions large = options_of ("pythia-6.9b", "engine");
  const QmPlacesOptions scans = options_of ("mamba-2.8b", "engine");
  QmPlaces *places = places_of (&large);
  QmPlaceFound found;

  look (places, "h200-141gb-sxm", 4, 138, &found);
  CHECK (found.fits && !found.options.offload && !found.options.checkpoint);
  CHECK_INT (found.options.sharding, QM_SHARDING_ZERO_1);
  CHECK_INT (found.options.micro_batch, 8);
  CHECK_INT (found.options.ranks, 4);
  CHECK (found.memory.optimizer < UINT64_C (14) << 30);
  qm_places_free (places);
  places = places_of (&scans);
  look (places, "a10", 2, 23, &found);
  CHECK (found.fits && found.options.offload);
  CHECK (found.options.sharding == QM_SHARDING_ZERO_3
         || found.options.sharding == QM_SHARDING_FSDP_3);
  CHECK ((double) found.memory.total <= 23 * 0x1p30);
  qm_places_free (places);
}

/* Ranks do not share matrices in equal parts, and more of them are not planned
 * from fewer: what is found is what such a plan says, and the update of each of
 * its GPUs takes less, as long as there are matrices enough. */
static void
test_owners (void)
{
  QmPlacesOptions options = options_of ("pythia-1b", "tuned");
  QmRecipe recipe = *options.recipe;
  QmPlaces *places;
  double before = INFINITY;

  recipe.optimizer = QM_OPTIMIZER_MUON;
  options.recipe = &recipe;
  places = places_of (&options);
  for (int n = 2; n <= 8; n++)
    {
      QmPlaceFound found;
      QmPlan *plan = NULL;

      CHECK_INT (look (places, "h100-80gb-sxm", n, 17, &found), QM_OK);
      CHECK (found.fits && !found.options.offload);
      CHECK (found.options.sharding == QM_SHARDING_ZERO_1
             || found.options.sharding == QM_SHARDING_ZERO_2);
      CHECK_INT (qm_plan_new (options.config, &recipe, &found.options, &plan,
                              NULL),
                 QM_OK);
      if (plan != NULL)
        CHECK_INT (found.memory.total, plan->memory.total);
      CHECK (found.prediction.update < before);
      before = found.prediction.update;
      qm_plan_free (plan);
    }
  qm_places_free (places);
}

/* --micro-batch, --checkpoint and --host-memory. */
static void
test_limits (void)
{
  QmPlacesOptions options = options_of ("pythia-2.8b", "tuned");
  QmPlaces *places;
  QmPlaceFound found;
  uint64_t host;

  options.micro_batch = 3;
  options.checkpoint = true;
  places = places_of (&options);
  look (places, "h200-141gb-sxm", 1, 138, &found);
  CHECK (found.fits && found.options.checkpoint);
  CHECK_INT (found.options.micro_batch, 3);
  CHECK_INT (found.accumulation, (options.recipe->batch_size + 2) / 3);
  qm_places_free (places);
  options.micro_batch = 0;
  options.checkpoint = false;
  places = places_of (&options);
  look (places, "rtx4090", 1, 23, &found);
  host = found.host_bytes;
  CHECK (found.fits && host > 0);
  qm_places_free (places);
  options.host_bytes = host / 2;
  places = places_of (&options);
  look (places, "rtx4090", 1, 23, &found);
  CHECK (!found.fits && found.smallest <= UINT64_C (23) << 30);
  CHECK (found.smallest_host > options.host_bytes
         && found.smallest_host <= host);
  CHECK (found.options.checkpoint && found.options.offload);
  qm_places_free (places);
}

static void
test_refusals (void)
{
  QmPlacesOptions options = options_of ("pythia-1b", "tuned");
  QmPlaces *places = places_of (&options);
  QmPlaceFound found;

  CHECK_INT (look (places, "mi300x", 1, 180, &found), QM_STATUS_UNSUPPORTED);
  CHECK_INT (look (places, "gb10", 2, 120, &found), QM_STATUS_UNSUPPORTED);
  CHECK_INT (look (places, "gb10", 1, 120, &found), QM_OK);
  CHECK (found.fits);
  /* Its lanes to the host are not known. */
  CHECK_INT (look (places, "gb10", 1, 10, &found), QM_STATUS_UNSUPPORTED);
  CHECK_INT (look (places, "rtx4090", 1025, 23, &found), QM_STATUS_UNSUPPORTED);
  CHECK_INT (look (places, "v100-16gb-pcie", 1, 15, &found),
             QM_STATUS_UNSUPPORTED);
  qm_places_free (places);
  options.micro_batch = 512;
  places = places_of (&options);
  CHECK_INT (look (places, "rtx4090", 4, 23, &found), QM_STATUS_UNSUPPORTED);
  qm_places_free (places);
  CHECK_INT (qm_places_new (&options, architectures, 1, &places, NULL), QM_OK);
  CHECK_INT (look (places, "rtx4090", 1, 23, &found), QM_STATUS_INVALID);
  qm_places_free (places);
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
  test_memory ();
  test_kernels ();
  test_sequences ();
  test_order ();
  test_which_way ();
  test_divided_states ();
  test_owners ();
  test_limits ();
  test_refusals ();
  qm_catalog_free (catalog);
  return check_report ();
}
