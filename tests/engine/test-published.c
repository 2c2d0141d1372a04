/* SPDX-License-Identifier: Apache-2.0 */

/* What fits where: every cell of the published tables in which a model was
 * trained fits by the search, too, with the settings of its table; and of those
 * in which it was not so many do not as can be told.  The others fit here: by
 * offloading to a host that has room, and with a micro-batch of 1, where what
 * was tried is not published. */

#include "data/architecture.h"
#include "engine/places.h"
#include "engine/trained.h"
#include "tests/data/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a GPU's memory, as qm-bench takes it to be usable. */
#define USABLE 0.98

static QmCatalog *catalog;
static QmCalibration calibration;
static const int architectures[] = {
  70, 75, 80, 86, 89, 90, 100, 103, 120, 121
};
#define N_ARCHITECTURES (sizeof architectures / sizeof architectures[0])

/* Cells by what was published: that fit by the search, and all of them. */
typedef struct Count
{
  size_t fit, all;
} Count;

static void
count_cell (QmPlaces *places, const QmMeasurement *cell, Count *count)
{
  QmPlaceFound found;
  QmError error = { 0 };

  CHECK_INT (
      qm_places_find (places, cell->gpu, cell->gpus, QM_INTERCONNECT_OF_GPU,
                      (uint64_t) (cell->gpu->memory_gib * 0x1p30 * USABLE),
                      &found, &error),
      QM_OK);
  count->all++;
  count->fit += found.fits;
  if (found.fits != (cell->feasibility == QM_FEASIBLE))
    printf ("%s on %d x %s, %s: published as %s\n", cell->model->id, cell->gpus,
            cell->gpu->id,
            cell->settings == QM_SETTINGS_NAIVE ? "naive" : "optimal",
            found.fits ? "not feasible" : "feasible");
}

/* All cells of a model in a table. */
static void
count_model (const QmModel *model, QmSettings settings, Count counts[2])
{
  const char *level = settings == QM_SETTINGS_NAIVE ? "naive" : "tuned";
  const QmPlacesOptions options = {
    .config = &model->config,
    .recipe = &model->recipe,
    .calibration = &calibration,
    .level = qm_calibration_level (&calibration, level),
  };
  QmPlaces *places = NULL;
  size_t n;
  const QmMeasurement *cells = qm_catalog_measurements (catalog, &n);

  CHECK_INT (qm_places_new (&options, architectures, N_ARCHITECTURES, &places,
                            NULL),
             QM_OK);
  for (size_t i = 0; i < n; i++)
    if (cells[i].provenance == QM_PROVENANCE_PUBLISHED
        && cells[i].model == model && cells[i].settings == settings)
      {
        if (cells[i].feasibility == QM_FEASIBLE)
          count_cell (places, &cells[i], &counts[0]);
        if (cells[i].feasibility == QM_INFEASIBLE)
          count_cell (places, &cells[i], &counts[1]);
      }
  qm_places_free (places);
}

static void
test_table (QmSettings settings, size_t feasible, size_t infeasible)
{
  Count counts[2] = { { 0, 0 }, { 0, 0 } };
  size_t n;
  const QmModel *models = qm_catalog_models (catalog, &n);

  for (size_t i = 0; i < n; i++)
    count_model (&models[i], settings, counts);
  printf ("of %zu that were trained %zu fit, of %zu that were not %zu do not\n",
          counts[0].all, counts[0].fit, counts[1].all,
          counts[1].all - counts[1].fit);
  CHECK (counts[0].all == feasible && counts[0].fit == feasible);
  CHECK (counts[1].all - counts[1].fit >= infeasible);
}

/* A rate in bf16 of a model whose recipe is in FP8. */
static void
test_rate (void)
{
  const QmTrainingRate rate = { .model = "pythia-1b",
                                .config = "",
                                .sequence = 2048,
                                .batch = 64,
                                .precision = QM_PRECISION_BF16,
                                .gpu = "h100-80gb-sxm",
                                .gpus = 1,
                                .link = "",
                                .level = "engine",
                                .settings = "" };
  QmModel *model = (QmModel *) qm_catalog_model (catalog, rate.model);
  QmTrained trained;
  QmError error = { 0 };

  check_case ("rate");
  model->recipe.precision = QM_PRECISION_FP8;
  model->recipe.fp8.scales = QM_FP8_SCALES_ROW;
  model->recipe.fp8.gradients = QM_FP8_GRADIENTS_E4M3;
  CHECK_INT (qm_trained_read (&rate, catalog, &trained, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (trained.recipe.precision, QM_PRECISION_BF16);
  CHECK_INT (trained.recipe.fp8.scales, QM_FP8_SCALES_TENSOR);
  CHECK_INT (trained.recipe.fp8.gradients, QM_FP8_GRADIENTS_E5M2);
  /* Nobody knows when. */
  CHECK (trained.gates_apart);
}

int
main (void)
{
  const char *data = getenv ("QM_TEST_DATA_DIR");
  char path[PATH_MAX];
  QmError error = { 0 };

  CHECK_INT (qm_catalog_load (data, NULL, &catalog, &error), QM_OK);
  snprintf (path, sizeof path, "%s/calibration.csv", data);
  CHECK_INT (qm_calibration_load (path, &calibration, &error), QM_OK);
  test_table (QM_SETTINGS_OPTIMAL, 140, 0);
  test_table (QM_SETTINGS_NAIVE, 91, 40);
  test_rate ();
  qm_catalog_free (catalog);
  return check_report ();
}
