/* SPDX-License-Identifier: Apache-2.0 */

/* What rates of a model tell of its predictions elsewhere: more the more there
 * are, the nearer they are and the better they agree. */

#include "data/architecture.h"
#include "engine/residual.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviations of 10, 3, 2, 4 and 2 %, and an interval that stands for
 * more than all of them. */
static const QmLevel level = {
  .name = "tuned",
  .constants = { [QM_CONSTANT_SPREAD] = 0.25,
                 [QM_CONSTANT_RESIDUAL_MODEL] = 0.1,
                 [QM_CONSTANT_RESIDUAL_GENERATION] = 0.03,
                 [QM_CONSTANT_RESIDUAL_TYPE] = 0.02,
                 [QM_CONSTANT_RESIDUAL_SEVERAL] = 0.04,
                 [QM_CONSTANT_RESIDUAL_RATE] = 0.02,
                 [QM_CONSTANT_RESIDUAL_SETTINGS] = 0.05 },
};

#define MODEL      (0.1 * 0.1)
#define GENERATION (MODEL + 0.03 * 0.03)
#define TYPE       (GENERATION + 0.02 * 0.02)
#define SEVERAL    (TYPE + 0.04 * 0.04)
#define RATE       (0.02 * 0.02)
#define SETTINGS   (0.05 * 0.05)
#define WHOLE      (0.25 / 1.645 * 0.25 / 1.645) /* of the interval */

static const QmResidualPlace h200 = { "h200", 90, 1 };
static const QmResidualPlace h200s = { "h200", 90, 8 };
static const QmResidualPlace h100 = { "h100", 90, 1 };
static const QmResidualPlace a100 = { "a100", 80, 1 };
static const QmResidualPlace strange = { "strange", 0, 1 };

static QmResidualRate
rate_of (QmResidualPlace place, double error)
{
  return (QmResidualRate){ .place = place, .error = error };
}

static QmResidual
from_one (QmResidualPlace at, QmResidualPlace place)
{
  QmResidualRate rate = rate_of (at, -0.08);

  return qm_residual_from (&level, &rate, 1, &place);
}

/* One rate is shrunk by what its place has in common with the other. */
static void
test_one (void)
{
  const double own = TYPE + RATE;
  QmResidual residual = qm_residual_from (&level, NULL, 0, &h200);

  CHECK_NEAR (residual.error, 0, 0);
  CHECK_NEAR (residual.left, 1, 0);
  CHECK_INT ((int64_t) residual.rates, 0);
  CHECK_NEAR (from_one (h200, h200).error, -0.08 * TYPE / own, 1e-12);
  CHECK_NEAR (from_one (h200, h200s).error, -0.08 * TYPE / own, 1e-12);
  CHECK_NEAR (from_one (h200, h100).error, -0.08 * GENERATION / own, 1e-12);
  CHECK_NEAR (from_one (h200, a100).error, -0.08 * MODEL / own, 1e-12);
  CHECK_NEAR (from_one (h200, strange).error, -0.08 * MODEL / own, 1e-12);
  CHECK_NEAR (from_one (strange, h200).error, -0.08 * MODEL / own, 1e-12);
  CHECK_NEAR (from_one (h200s, h200s).error, -0.08 * SEVERAL / (SEVERAL + RATE),
              1e-12);
}

/* The nearer, the less of the interval is left; of a type that no rate is of,
 * what types are off for themselves. */
static void
test_left (void)
{
  const double whole = WHOLE, own = TYPE + RATE;

  CHECK_NEAR (from_one (h200, h200).left, (own - TYPE * TYPE / own) / whole,
              1e-9);
  CHECK_NEAR (from_one (h200, h100).left,
              1 - GENERATION * GENERATION / own / whole, 1e-9);
  CHECK (from_one (h200, h200).left < from_one (h200, h200s).left);
  CHECK (from_one (h200, h200s).left < from_one (h200, h100).left);
  CHECK (from_one (h200, h100).left < from_one (h200, a100).left);
  CHECK (from_one (h200, a100).left < 1);
}

/* More rates tell more, rates that differ less, and those that are rounded
 * hardly anything. */
static void
test_several (void)
{
  QmResidualRate rates[] = { rate_of (h200, -0.08), rate_of (h100, -0.08),
                             rate_of (a100, -0.08), rate_of (a100, 0.08) };
  QmResidual one = qm_residual_from (&level, rates, 1, &a100);
  QmResidual two = qm_residual_from (&level, rates, 2, &a100);
  QmResidual three = qm_residual_from (&level, rates, 3, &a100);
  QmResidual four = qm_residual_from (&level, rates, 4, &a100);

  CHECK (two.error < one.error && three.error < two.error);
  CHECK (three.error > -0.08);
  CHECK (four.error > three.error && four.error < 0);
  CHECK (two.left < one.left && three.left < two.left);
  CHECK_INT ((int64_t) three.rates, 3);
  CHECK_INT ((int64_t) three.other, 2);
  CHECK_INT ((int64_t) three.n_gpus, 3);
  CHECK_STRING (three.gpus[2], "a100");
  /* Two are of one type, which is named once. */
  CHECK_INT ((int64_t) four.n_gpus, 3);
  /* Anything within half a step either way is as likely. */
  rates[0].rounding = 0.5;
  CHECK_NEAR (qm_residual_from (&level, rates, 1, &a100).error,
              -0.08 * MODEL / (TYPE + RATE + 0.5 * 0.5 / 3), 1e-12);
}

static void
test_apply (void)
{
  QmPrediction prediction = {
    .step = 10, .pass = 1, .days = 100, .days_low = 80, .days_high = 125
  };
  const QmResidual none = { .left = 1 };
  const QmResidual residual = { .error = -log (1.1), .left = 0.25, .rates = 1 };

  qm_residual_apply (&none, &prediction);
  CHECK_NEAR (prediction.days_low, 80, 0);
  qm_residual_apply (&residual, &prediction);
  CHECK_NEAR (prediction.days, 110, 1e-9);
  CHECK_NEAR (prediction.step, 11, 1e-9);
  CHECK_NEAR (prediction.pass, 1.1, 1e-9);
  CHECK_NEAR (prediction.days_low, 110 / sqrt (1.25), 1e-9);
  CHECK_NEAR (prediction.days_high, 110 * sqrt (1.25), 1e-9);
}

#define HEAD \
  "model,key,level,gpu,generation,gpus,provenance,predicted,rounding,rate\n"

static QmStatus
load (const char *text, QmResiduals **residuals)
{
  QmError error = { 0 };

  scratch_write_text ("residuals.csv", text);
  return qm_residuals_load (scratch_path ("residuals.csv"), residuals, &error);
}

static void
test_file (const QmCatalog *catalog)
{
  static const char *const bad[] = {
    "model,key\n",
    HEAD "m,k,tuned,h200-141gb-sxm,90,1,guessed,1.1,,x\n",
    HEAD "m,k,tuned,h200-141gb-sxm,90,0,measured,1.1,,x\n",
    HEAD "m,k,tuned,h200-141gb-sxm,90,1,measured,,,x\n",
    HEAD "m,k,tuned,h200-141gb-sxm,90,1,measured,0,,x\n",
    HEAD "m,,tuned,h200-141gb-sxm,90,1,measured,1.1,,x\n",
  };
  const QmGpu *gpu = qm_catalog_gpu (catalog, "h200-141gb-sxm");
  QmResiduals *residuals;
  QmResidual found;
  QmError error = { 0 };

  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    {
      CHECK (load (bad[i], &residuals) != QM_OK);
      CHECK (residuals == NULL);
    }
  CHECK_INT (load (HEAD "m,k,tuned,h200-141gb-sxm,90,1,measured,1.1,,x\n"
                        "m,k,eager,h200-141gb-sxm,90,1,measured,1.2,,x\n"
                        "m,l,tuned,h200-141gb-sxm,90,1,reported,1.3,0.1,x\n",
                   &residuals),
             QM_OK);
  found = qm_residuals_find (residuals, &level, "k", gpu, 1, false);
  CHECK_INT ((int64_t) found.rates, 1);
  CHECK_NEAR (found.error, log (1.1) * TYPE / (TYPE + RATE), 1e-9);
  CHECK_NEAR (found.left, (TYPE + RATE - TYPE * TYPE / (TYPE + RATE)) / WHOLE,
              1e-9);
  found = qm_residuals_find (residuals, &level, "k", gpu, 1, true);
  CHECK_NEAR (found.error, log (1.1) * TYPE / (TYPE + RATE), 1e-9);
  CHECK_NEAR (found.left,
              (TYPE + RATE + SETTINGS - TYPE * TYPE / (TYPE + RATE)) / WHOLE,
              1e-9);
  found = qm_residuals_find (residuals, &level, "l", gpu, 1, false);
  CHECK_INT ((int64_t) found.reported, 1);
  CHECK (found.error < log (1.3) * TYPE / (TYPE + RATE));
  CHECK_INT (
      (int64_t) qm_residuals_find (residuals, &level, "m", gpu, 1, false).rates,
      0);
  qm_residuals_free (residuals);
  CHECK_INT (qm_residuals_load (scratch_path ("none.csv"), &residuals, &error),
             QM_OK);
  CHECK_INT (
      (int64_t) qm_residuals_find (residuals, &level, "k", gpu, 1, false).rates,
      0);
  qm_residuals_free (residuals);
}

/* How long a training is and by which steps it learns is nothing to a sample's
 * time; how long a sample is is. */
static void
test_key (const QmCatalog *catalog)
{
  const QmModel *model = qm_catalog_model (catalog, "pythia-1b");
  QmRecipe recipe = model->recipe;
  char is[QM_MODEL_KEY_BYTES], other[QM_MODEL_KEY_BYTES];

  qm_residual_key (&model->config, &recipe, is);
  recipe.steps *= 2;
  recipe.batch_size /= 2;
  recipe.learning_rate *= 3;
  qm_residual_key (&model->config, &recipe, other);
  CHECK_STRING (other, is);
  recipe.sequence_length = 512;
  qm_residual_key (&model->config, &recipe, other);
  CHECK (strcmp (is, other) != 0);
}

int
main (void)
{
  const char *folder = getenv ("QM_TEST_DATA_DIR");
  QmCatalog *catalog = NULL;
  QmError error = { 0 };

  scratch_begin ();
  CHECK_INT (qm_catalog_load (folder, NULL, &catalog, &error), QM_OK);
  test_one ();
  test_left ();
  test_several ();
  test_apply ();
  test_file (catalog);
  test_key (catalog);
  qm_catalog_free (catalog);
  scratch_end ();
  return check_report ();
}
