/* SPDX-License-Identifier: Apache-2.0 */

/* What is found for a GPU is the same, to the last bit, whichever others are
 * asked for with it: every model of the catalog, on each of its GPUs with those
 * of its architecture alone, and with all.
 * usage: test-places-alone [each]: with each GPU alone, and more of them and of
 * software. */

#include "data/architecture.h"
#include "engine/places.h"
#include "tests/data/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GPUS 128

static QmCatalog *catalog;
static QmCalibration calibration;

/* GPUs of the catalog that have an architecture, by that. */
static const QmGpu *gpus[MOST_GPUS];
static size_t n_gpus;
static int architectures[QM_PLACES_ARCHITECTURES];
static size_t n_architectures;

static const int numbers[] = { 1, 2, 8 };
#define N_NUMBERS (sizeof numbers / sizeof numbers[0])

static int
compare_architectures (const void *first, const void *second)
{
  int a = qm_gpu_architecture (*(const QmGpu *const *) first);
  int b = qm_gpu_architecture (*(const QmGpu *const *) second);

  return (a > b) - (a < b);
}

static void
list_gpus (void)
{
  size_t n;
  const QmGpu *all = qm_catalog_gpus (catalog, &n);

  CHECK (n <= MOST_GPUS);
  for (size_t i = 0; i < n && i < MOST_GPUS; i++)
    if (qm_gpu_architecture (&all[i]) > 0)
      gpus[n_gpus++] = &all[i];
  qsort (gpus, n_gpus, sizeof gpus[0], compare_architectures);
  for (size_t i = 0; i < n_gpus; i++)
    if (n_architectures == 0
        || architectures[n_architectures - 1] != qm_gpu_architecture (gpus[i]))
      architectures[n_architectures++] = qm_gpu_architecture (gpus[i]);
  /* Some that have all that plans can depend on, and some that have not. */
  CHECK (n_architectures > 8 && architectures[0] < 80);
}

typedef struct Answer
{
  QmStatus status;
  QmError error;
  QmPlaceFound found;
} Answer;

static void
ask (QmPlaces *places, const QmGpu *gpu, int n, Answer *answer)
{
  memset (answer, 0, sizeof *answer);
  answer->status = qm_places_find (places, gpu, n, QM_INTERCONNECT_OF_GPU,
                                   (uint64_t) (gpu->memory_gib * 0.98 * 0x1p30),
                                   &answer->found, &answer->error);
}

static bool
is_same_number (double a, double b)
{
  return memcmp (&a, &b, sizeof a) == 0;
}

static bool
is_same_prediction (const QmPrediction *a, const QmPrediction *b)
{
  return is_same_number (a->days, b->days)
         && is_same_number (a->days_low, b->days_low)
         && is_same_number (a->days_high, b->days_high)
         && is_same_number (a->step, b->step)
         && is_same_number (a->pass, b->pass)
         && is_same_number (a->update, b->update)
         && is_same_number (a->exchange, b->exchange)
         && is_same_number (a->clock, b->clock)
         && is_same_number (a->watts, b->watts)
         && memcmp (a->by_op, b->by_op, sizeof a->by_op) == 0
         && a->bound == b->bound;
}

static bool
is_same_plan (const QmPlaceFound *a, const QmPlaceFound *b)
{
  return a->options.target.architecture == b->options.target.architecture
         && a->options.micro_batch == b->options.micro_batch
         && a->options.methods == b->options.methods
         && a->options.checkpoint == b->options.checkpoint
         && a->options.sharding == b->options.sharding
         && a->options.offload == b->options.offload
         && a->accumulation == b->accumulation
         && memcmp (&a->memory, &b->memory, sizeof a->memory) == 0
         && a->host_bytes == b->host_bytes;
}

/* Whether anything was predicted. */
static bool
check_same (const Answer *together,
            const Answer *alone,
            const QmGpu *gpu,
            int n)
{
  const QmPlaceFound *a = &together->found, *b = &alone->found;

  CHECK_INT (together->status, alone->status);
  if (together->status != QM_OK)
    CHECK_STRING (together->error.message, alone->error.message);
  CHECK (a->fits == b->fits && a->smallest == b->smallest);
  if (together->status != QM_OK || !a->fits || !b->fits)
    return false;
  if (!is_same_number (a->prediction.days, b->prediction.days))
    fprintf (stderr, "%d x %s: %.15g days, and alone %.15g\n", n, gpu->id,
             a->prediction.days, b->prediction.days);
  CHECK (is_same_prediction (&a->prediction, &b->prediction));
  CHECK (is_same_plan (a, b));
  return true;
}

static QmPlaces *
new_places (const QmPlacesOptions *options, const int *of, size_t n)
{
  QmPlaces *places = NULL;

  CHECK_INT (qm_places_new (options, of, n, &places, NULL), QM_OK);
  return places;
}

/* Of those of one architecture one answer after the other comes from what was
 * planned for the first, unless each of them is asked for alone. */
static void
check_places (const QmPlacesOptions *options, bool each)
{
  QmPlaces *together = new_places (options, architectures, n_architectures);
  QmPlaces *alone = NULL;
  size_t predicted = 0;

  for (size_t i = 0; i < n_gpus; i++)
    {
      int architecture = qm_gpu_architecture (gpus[i]);

      if (alone == NULL || each
          || architecture != qm_gpu_architecture (gpus[i - 1]))
        {
          qm_places_free (alone);
          alone = new_places (options, &architecture, 1);
        }
      for (size_t j = 0; j < (each ? N_NUMBERS : 2); j++)
        {
          Answer a, b;

          ask (together, gpus[i], numbers[j], &a);
          ask (alone, gpus[i], numbers[j], &b);
          predicted += check_same (&a, &b, gpus[i], numbers[j]);
        }
    }
  /* Off the shelf large models fit few. */
  CHECK (predicted > (strcmp (options->level->name, "naive") == 0 ? 0 : 20));
  qm_places_free (alone);
  qm_places_free (together);
}

static void
check_model (const QmModel *model, const char *level, bool each)
{
  const QmPlacesOptions options = {
    .config = &model->config,
    .recipe = &model->recipe,
    .calibration = &calibration,
    .level = qm_calibration_level (&calibration, level),
  };

  check_case (model->id);
  check_places (&options, each);
}

/* Its iterations are in bf16, where GPUs have that. */
static void
check_muon (const char *id, const char *level, QmPrecision precision, bool each)
{
  const QmModel *model = qm_catalog_model (catalog, id);
  QmRecipe recipe = model->recipe;
  const QmPlacesOptions options = {
    .config = &model->config,
    .recipe = &recipe,
    .calibration = &calibration,
    .level = qm_calibration_level (&calibration, level),
  };

  check_case (id);
  recipe.optimizer = QM_OPTIMIZER_MUON;
  recipe.precision = precision;
  check_places (&options, each);
}

int
main (int argc, char **argv)
{
  static const char *const levels[] = { "engine", "tuned", "naive" };
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  bool each = argc > 1 && strcmp (argv[1], "each") == 0;
  char path[PATH_MAX];
  const QmModel *models;
  size_t n;

  snprintf (path, sizeof path, "%s/calibration.csv", folder);
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, NULL), QM_OK);
  CHECK_INT (qm_calibration_load (path, &calibration, NULL), QM_OK);
  list_gpus ();
  models = qm_catalog_models (catalog, &n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < (each ? 3 : 1); j++)
      check_model (&models[i], levels[j], each);
  for (size_t j = 0; j < (each ? 3 : 1); j++)
    {
      check_muon ("pythia-160m", levels[j], QM_PRECISION_FP16, each);
      check_muon ("vit-large", levels[j], QM_PRECISION_FP32, each);
    }
  qm_catalog_free (catalog);
  return check_report ();
}
