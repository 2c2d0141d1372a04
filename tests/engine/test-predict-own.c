/* SPDX-License-Identifier: Apache-2.0 */

/* What is predicted of kernels that are ours alone: sums that norms make
 * themselves, attention in TF32 and with dropout. */

#include "data/catalog.h"
#include "engine/plan.h"
#include "engine/predict.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static QmCatalog *catalog;
static QmCalibration calibration;

static double
pass_of (const QmWork *work, const char *level, const char *gpu)
{
  QmPrediction prediction = { 0 };
  QmSpeeds speeds;

  CHECK_INT (qm_speeds_of_gpu (&calibration, qm_catalog_gpu (catalog, gpu), 1,
                               QM_INTERCONNECT_OF_GPU, &speeds, NULL),
             QM_OK);
  CHECK_INT (qm_predict (work, &speeds,
                         qm_calibration_level (&calibration, level),
                         &prediction, NULL),
             QM_OK);
  return prediction.pass;
}

static QmWork *
work_of (const char *name, bool foreign)
{
  const QmModel *model = qm_catalog_model (catalog, name);
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 },
                            .methods = QM_METHOD_ALL,
                            .foreign = foreign,
                            .micro_batch = 64 };
  QmWork *work = NULL;
  QmPlan *plan;

  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          NULL),
             QM_OK);
  CHECK_INT (qm_work_new (plan, &work, NULL), QM_OK);
  qm_plan_free (plan);
  return work;
}

/* All scaled or gated sums but that of the last branch are parts of norms: what
 * one has to move is less by a matrix of so many elements in fp32 forward and
 * backward each, on every GPU.  Before, and in other software, nothing is
 * spared. */
static void
test_sums (const char *name, int sums, double elements)
{
  QmWork *work = work_of (name, false), *other = work_of (name, true);
  double count = 0, spared = 0, h100, a100;

  check_case (name);
  for (size_t i = 0; i < work->n; i++)
    if (work->rows[i].in_norm)
      {
        count += work->rows[i].count;
        spared += work->rows[i].spared * work->rows[i].count;
      }
  CHECK_NEAR (count, 2 * sums, 0);
  CHECK_NEAR (spared, 2 * sums * 4 * elements, 1e-12);
  for (size_t i = 0; i < other->n; i++)
    CHECK (!other->rows[i].in_norm && other->rows[i].spared == 0);
  h100 = pass_of (work, "engine", "h100-80gb-sxm");
  a100 = pass_of (work, "engine", "a100-80gb-sxm");
  qm_work_part_gates (work);
  CHECK (h100 < 0.99 * pass_of (work, "engine", "h100-80gb-sxm"));
  CHECK (a100 < 0.99 * pass_of (work, "engine", "a100-80gb-sxm"));
  for (size_t i = 0; i < work->n; i++)
    CHECK (!work->rows[i].in_norm && work->rows[i].spared == 0);
  qm_work_free (work);
  qm_work_free (other);
}

static double
pass_of_row (const QmWorkRow *row, const char *level)
{
  QmWorkRow copy = *row;
  const QmWork work = { .rows = &copy, .n = 1, .passes = 1, .steps = 1 };

  return pass_of (&work, level, "h200-141gb-sxm");
}

/* What a row takes besides its products takes no longer in TF32, so that short
 * sequences lose less by it than long ones. */
static void
test_tf32 (void)
{
  QmWorkRow row = {
    .op = QM_OP_ATTENTION, .count = 1, .flops = 1e14, .bytes = 1e6, .inner = 64
  };
  double slower[2];

  check_case ("TF32");
  for (int i = 0; i < 2; i++)
    {
      row.length = i == 0 ? 197 : 2048;
      row.arithmetic = QM_ARITHMETIC_TF32;
      slower[i] = pass_of_row (&row, "engine");
      row.arithmetic = QM_ARITHMETIC_16;
      slower[i] /= pass_of_row (&row, "engine");
    }
  CHECK (slower[0] > 1 && slower[0] < 0.8 * slower[1]);
  CHECK (slower[1] > 2 && slower[1] < 6);
}

static void
test_dropout (void)
{
  const QmLevel *level = qm_calibration_level (&calibration, "engine");
  static const char *const others[] = { "tuned", "eager", "naive", "cuda" };
  QmWorkRow row = { .op = QM_OP_ATTENTION_BACKWARD,
                    .count = 1,
                    .flops = 1e14,
                    .inner = 64,
                    .length = 512 };
  QmWorkRow drops = row;

  check_case ("dropout");
  drops.drops = true;
  CHECK (fabs (pass_of_row (&drops, "engine") / pass_of_row (&row, "engine")
                   / level->constants[QM_CONSTANT_ATTENTION_DROPOUT]
               - 1)
         < 0.2);
  CHECK (pass_of_row (&drops, "engine") > 1.1 * pass_of_row (&row, "engine"));
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    CHECK_NEAR (pass_of_row (&drops, others[i]), pass_of_row (&row, others[i]),
                0);
}

/* Of a model with dropout its attention has it, and of one without has not. */
static void
test_who_drops (void)
{
  static const char *const models[] = { "roberta-large",
                                        "dinov2-large-supervised" };

  check_case ("who drops");
  for (int i = 0; i < 2; i++)
    {
      QmWork *work = work_of (models[i], false);

      for (size_t j = 0; j < work->n; j++)
        CHECK (work->rows[j].drops == (i == 0 && work->rows[j].length > 0));
      qm_work_free (work);
    }
}

int
main (void)
{
  char path[4096];

  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  snprintf (path, sizeof path, "%s/calibration.csv",
            getenv ("QM_TEST_DATA_DIR"));
  CHECK_INT (qm_calibration_load (path, &calibration, NULL), QM_OK);
  test_sums ("dinov2-large-supervised", 48, 64.0 * 257 * 1024);
  test_sums ("dit-xl-2", 56, 64.0 * 256 * 1152);
  test_tf32 ();
  test_dropout ();
  test_who_drops ();
  qm_catalog_free (catalog);
  return check_report ();
}
