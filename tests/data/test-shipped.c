/* SPDX-License-Identifier: Apache-2.0 */

/* The shipped facts: that they load without a problem, and that they are what
 * was published. */

#include "data/catalog.h"
#include "data/flops.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const QmCatalog *catalog;

static void
test_no_problems (void)
{
  size_t n;
  const QmError *problems = qm_catalog_problems (catalog, &n);

  for (size_t i = 0; i < n; i++)
    printf ("%s:%d:%d: %s\n", problems[i].file, problems[i].line,
            problems[i].column, problems[i].message);
  CHECK_INT ((int64_t) n, 0);
}

static void
test_counts (void)
{
  int counts[2][3] = { { 0 } };
  size_t n;
  const QmMeasurement *measurements;

  qm_catalog_gpus (catalog, &n);
  CHECK_INT ((int64_t) n, 35);
  qm_catalog_machines (catalog, &n);
  CHECK_INT ((int64_t) n, 4);
  qm_catalog_models (catalog, &n);
  CHECK_INT ((int64_t) n, 9);
  qm_catalog_prices (catalog, &n);
  CHECK_INT ((int64_t) n, 57 + 8 + 4 + 5);

  measurements = qm_catalog_measurements (catalog, &n);
  CHECK_INT ((int64_t) n, 288);
  for (size_t i = 0; i < n; i++)
    counts[measurements[i].settings][measurements[i].feasibility]++;
  CHECK_INT (counts[QM_SETTINGS_OPTIMAL][QM_FEASIBLE], 140);
  CHECK_INT (counts[QM_SETTINGS_OPTIMAL][QM_INFEASIBLE], 4);
  CHECK_INT (counts[QM_SETTINGS_OPTIMAL][QM_ILLEGIBLE], 0);
  CHECK_INT (counts[QM_SETTINGS_NAIVE][QM_FEASIBLE], 91);
  CHECK_INT (counts[QM_SETTINGS_NAIVE][QM_INFEASIBLE], 52);
  CHECK_INT (counts[QM_SETTINGS_NAIVE][QM_ILLEGIBLE], 1);
}

static void
test_measurements (void)
{
  size_t n, n_settings = 0;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const QmMeasurement *m = &all[i];
      bool feasible = m->feasibility == QM_FEASIBLE;

      check_case (m->model->id);
      CHECK (m->model == qm_catalog_model (catalog, m->model->id));
      CHECK (m->gpu == qm_catalog_gpu (catalog, m->gpu->id));
      CHECK_INT (m->provenance, QM_PROVENANCE_PUBLISHED);
      CHECK_STRING (m->source, m->settings == QM_SETTINGS_OPTIMAL
                                   ? "arXiv 2410.23261, table 1"
                                   : "arXiv 2410.23261, table 4");
      CHECK (qm_known (m->days) == feasible);
      CHECK (m->rounding_days == (feasible ? 0.5 : 0));
      CHECK (!qm_known (m->days_low) && !qm_known (m->days_high));
      if (m->micro_batch_size > 0)
        {
          n_settings++;
          CHECK_INT (m->micro_batch_size * m->accumulation * m->gpus,
                     m->model->recipe.batch_size);
        }
    }
  check_case ("");
  CHECK_INT ((int64_t) n_settings, 140);
}

static void
test_one_measurement (void)
{
  size_t n, found = 0;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (strcmp (all[i].model->id, "pythia-2.8b") == 0
        && strcmp (all[i].gpu->id, "rtx3090") == 0 && all[i].gpus == 4
        && all[i].settings == QM_SETTINGS_OPTIMAL)
      {
        found++;
        CHECK_NEAR (all[i].days, 485, 0);
        CHECK_INT (all[i].checkpointing, QM_YES);
        CHECK_INT (all[i].offloading, QM_YES);
        CHECK_STRING (all[i].sharding, "zero_3");
        CHECK_INT (all[i].micro_batch_size, 16);
        CHECK_INT (all[i].accumulation, 16);
      }
  CHECK_INT ((int64_t) found, 1);
}

static const QmPrice *
find_price (const char *item, QmPriceKind kind)
{
  size_t n;
  const QmPrice *prices = qm_catalog_prices (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (strcmp (prices[i].item, item) == 0 && prices[i].kind == kind)
      return &prices[i];
  return NULL;
}

static void
check_price (const char *item, QmPriceKind kind, int64_t micros)
{
  const QmPrice *price = find_price (item, kind);

  check_case (item);
  CHECK (price != NULL);
  if (price != NULL)
    {
      CHECK_INT (price->micros, micros);
      CHECK_INT (price->low_micros, -1);
      CHECK_INT (price->high_micros, -1);
      CHECK_STRING (price->currency, "USD");
      CHECK (!price->from_user);
    }
  check_case ("");
}

static void
test_prices (void)
{
  const QmPrice *range = find_price ("rtx3090", QM_PRICE_RESALE);
  const QmPrice *rent;

  check_price ("rtx3090", QM_PRICE_PUBLISHED, 1300000000);
  check_price ("a6000", QM_PRICE_PUBLISHED, 4800000000);
  check_price ("a100-80gb-sxm", QM_PRICE_PUBLISHED, 19000000000);
  check_price ("h100-80gb-sxm", QM_PRICE_PUBLISHED, 30000000000);
  check_price ("desktop-1gpu", QM_PRICE_PUBLISHED, 1000000000);
  check_price ("desktop-2gpu", QM_PRICE_PUBLISHED, 1500000000);
  check_price ("server-4gpu", QM_PRICE_PUBLISHED, 7500000000);
  check_price ("server-8gpu", QM_PRICE_PUBLISHED, 10500000000);
  check_price ("desktop-1gpu", QM_PRICE_QUOTE, 1020410000);
  check_price ("desktop-2gpu", QM_PRICE_QUOTE, 1456290000);
  check_price ("server-4gpu", QM_PRICE_QUOTE, 7482000000);
  check_price ("server-8gpu", QM_PRICE_QUOTE, 10673000000);
  check_price ("rtx3090", QM_PRICE_STREET, 1300000000);
  check_price ("a100-40gb-sxm", QM_PRICE_CLOUD, 21957642);

  CHECK_INT (range->micros, -1);
  CHECK_INT (range->low_micros, 500000000);
  CHECK_INT (range->high_micros, 1000000000);
  CHECK_INT (range->observed_on.year * 100 + range->observed_on.month, 202605);
  CHECK_INT (range->observed_on.day, 0);
  rent = find_price ("a100-40gb-sxm", QM_PRICE_CLOUD);
  CHECK_INT (rent->unit, QM_PRICE_HOUR);
  CHECK_INT (rent->gpus, 8);
  CHECK_INT (find_price ("rtx3090", QM_PRICE_LIST)->observed_on.year, 0);
}

static void
test_machines (void)
{
  static const size_t parts[] = { 7, 7, 5, 5 };
  static const int gpus[] = { 1, 2, 4, 8 };
  size_t n;
  const QmMachine *machines = qm_catalog_machines (catalog, &n);

  for (size_t i = 0; i < n && i < 4; i++)
    {
      int64_t sum = 0;

      check_case (machines[i].id);
      CHECK_INT (machines[i].gpus, gpus[i]);
      CHECK_INT (machines[i].kind,
                 i < 2 ? QM_MACHINE_DESKTOP : QM_MACHINE_SERVER);
      CHECK_INT ((int64_t) machines[i].n_parts, (int64_t) parts[i]);
      for (size_t j = 0; j < machines[i].n_parts; j++)
        {
          CHECK ((machines[i].parts[j].price_micros >= 0) == (i < 2));
          sum += machines[i].parts[j].price_micros;
        }
      if (i < 2)
        CHECK_INT (sum, find_price (machines[i].id, QM_PRICE_QUOTE)->micros);
    }
  check_case ("");
  CHECK_STRING (machines[0].parts[1].part, "CPU cooler");
  CHECK_STRING (machines[0].parts[1].detail, "Noctua NH-D15");
  CHECK_STRING (machines[0].parts[1].currency, "USD");
}

static void
test_gpus (void)
{
  const QmGpu *v100 = qm_catalog_gpu (catalog, "v100-32gb-sxm2");
  const QmGpu *gb10 = qm_catalog_gpu (catalog, "gb10");
  const QmGpu *a5000 = qm_catalog_gpu (catalog, "a5000");
  const QmGpu *rtx4090 = qm_catalog_gpu (catalog, "rtx4090");
  const QmGpu *h100 = qm_catalog_gpu (catalog, "h100-80gb-sxm");

  CHECK (qm_catalog_gpu (catalog, "h100") == NULL);
  CHECK_STRING (h100->name, "H100 SXM5 80GB");
  CHECK_NEAR (h100->memory_gib, 80, 0);
  CHECK_NEAR (qm_gpu_peak_tflops (h100, QM_PRECISION_BF16, true), 989.4, 0);
  CHECK_NEAR (qm_gpu_peak_tflops (h100, QM_PRECISION_FP32, true), 494.5, 0);
  CHECK_NEAR (qm_gpu_peak_tflops (h100, QM_PRECISION_FP32, false), 66.9, 0);
  CHECK_NEAR (h100->measured_fp16_tflops, 794.5, 0);

  CHECK_NEAR (qm_gpu_peak_tflops (v100, QM_PRECISION_FP16, true), 125, 0);
  CHECK (!qm_known (qm_gpu_peak_tflops (v100, QM_PRECISION_BF16, true)));
  CHECK_NEAR (qm_gpu_peak_tflops (v100, QM_PRECISION_FP32, true), 15.7, 0);

  CHECK (!qm_known (gb10->tf32_tflops));
  CHECK (!qm_known (qm_gpu_peak_tflops (gb10, QM_PRECISION_FP32, true)));
  CHECK_NEAR (qm_gpu_peak_tflops (gb10, QM_PRECISION_FP32, false), 29.7, 0);
  CHECK (!qm_known (gb10->pcie_generation));
  CHECK (gb10->nvlink_gbs == 0);
  CHECK (!qm_known (a5000->nvlink_gbs));
  CHECK (rtx4090->nvlink_gbs == 0);
  CHECK (!qm_known (h100->launch_price_usd));
  CHECK_NEAR (rtx4090->launch_price_usd, 1599, 0);
  CHECK_STRING (a5000->unverified, "fp16_tflops;tf32_tflops");
  CHECK_INT (qm_catalog_gpu (catalog, "l40s")->released_on.year, 0);
  CHECK_INT (qm_catalog_gpu (catalog, "mi325x")->released_on.month, 10);
}

static void
test_every_gpu (void)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const QmGpu *gpu = &gpus[i];

      check_case (gpu->id);
      CHECK (qm_known (gpu->memory_gib) && qm_known (gpu->fp16_tflops));
      CHECK (gpu->name[0] != '\0' && gpu->source[0] != '\0');
      CHECK (strncmp (gpu->source, "stored", 6) != 0);
      CHECK (!qm_known (gpu->measured_fp16_tflops)
             || gpu->measured_fp16_tflops < gpu->fp16_tflops * 1.15);
      CHECK (!qm_known (gpu->tf32_tflops) || gpu->tf32_tflops == 0
             || gpu->tf32_tflops <= gpu->fp16_tflops);
      CHECK (gpu->bf16 != QM_UNSTATED);
    }
  check_case ("");
}

typedef struct Expected
{
  const char *id;
  const char *name;
  int64_t parameters; /* as Transformers 5.23 counts them */
  double flops;       /* of the whole training, to three digits */
  double dropout;
} Expected;

static const Expected expected[] = {
  { "pythia-160m", "Pythia (160M)", 162322944, 2.56e20, 0 },
  { "pythia-410m", "Pythia (410M)", 405334016, 7.27e20, 0 },
  { "pythia-1b", "Pythia (1B)", 1011781632, 1.76e21, 0 },
  { "pythia-2.8b", "Pythia (2.8B)", 2775208960, 5.06e21, 0 },
  { "pythia-6.9b", "Pythia (6.9B)", 6857302016, 1.25e22, 0 },
  { "roberta-large", "RoBERTa (large)", 355412057, 4.78e21, 0.1 },
  { "mamba-2.8b", "Mamba (2.8B)", 2768345600, 5.00e21, 0 },
  { "convnext-xlarge", "ConvNeXt (XL)", 392900177, 4.67e20, 0 },
  { "vit-large", "ViT (large)", 325688657, 4.71e20, 0.1 },
};

static void
test_models (void)
{
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    {
      const QmModel *model = qm_catalog_model (catalog, expected[i].id);

      check_case (expected[i].id);
      CHECK (model != NULL);
      if (model == NULL)
        continue;
      CHECK_STRING (model->name, expected[i].name);
      CHECK_INT (qm_parameter_count (&model->config), expected[i].parameters);
      CHECK_NEAR (qm_flops_train (&model->config, &model->recipe),
                  expected[i].flops, 0.01);
      CHECK_NEAR (model->recipe.dropout, expected[i].dropout, 0);
    }
  check_case ("");
  CHECK_NEAR (
      qm_catalog_model (catalog, "vit-large")->config.vit.hidden_dropout, 0.1,
      0);
}

/* Of results in which students computed the branches of all samples, which are
 * no time of what they do now. */
static void
test_older_key (void)
{
  const QmModel *model = qm_catalog_model (catalog, "dinov2-large");
  char key[QM_MODEL_KEY_BYTES];

  check_case ("older key");
  CHECK (model != NULL);
  if (model == NULL)
    return;
  qm_model_key (&model->config, &model->recipe, key);
  CHECK (strcmp (key, "a050b8899a23348e") != 0);
  check_case ("");
}

/* 6 of the published cells need more than the cards can do, even at half a day
 * more. */
static void
test_audit (void)
{
  size_t n, impossible = 0;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    {
      const QmMeasurement *m = &all[i];
      const QmModel *model = m->model;
      double seconds = (m->days + m->rounding_days) * 86400;
      double peak =
          1e12 * qm_gpu_peak_tflops (m->gpu, model->recipe.precision, true);

      if (m->settings == QM_SETTINGS_OPTIMAL && m->feasibility == QM_FEASIBLE
          && qm_flops_train (&model->config, &model->recipe)
                 > seconds * m->gpus * peak)
        {
          impossible++;
          CHECK_STRING (m->gpu->id, "rtx3090");
        }
    }
  CHECK_INT ((int64_t) impossible, 6);
}

static QmCatalog *
load (const char *variable)
{
  QmCatalog *loaded = NULL;
  QmError error;

  if (qm_catalog_load (getenv (variable), NULL, &loaded, &error) == QM_OK)
    return loaded;
  printf ("%s: %s\n", error.file, error.message);
  exit (EXIT_FAILURE);
}

int
main (void)
{
  QmCatalog *shipped = load ("QM_SHIPPED_DATA_DIR");
  QmCatalog *loaded = load ("QM_TEST_DATA_DIR");

  catalog = shipped;
  test_no_problems ();
  test_every_gpu ();
  test_older_key ();
  test_audit ();
  catalog = loaded;
  test_no_problems ();
  test_counts ();
  test_measurements ();
  test_one_measurement ();
  test_prices ();
  test_machines ();
  test_gpus ();
  test_every_gpu ();
  test_models ();
  test_audit ();
  qm_catalog_free (loaded);
  qm_catalog_free (shipped);
  return check_report ();
}
