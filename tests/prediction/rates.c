/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/rates.h"

#include "data/architecture.h"
#include "data/csv-table.h"
#include "data/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATES 1024

enum
{
  COLUMN_ID,
  COLUMN_PROVENANCE,
  COLUMN_MODEL,
  COLUMN_CONFIG,
  COLUMN_SEQUENCE,
  COLUMN_IMAGE,
  COLUMN_BATCH,
  COLUMN_PRECISION,
  COLUMN_GPU,
  COLUMN_GPUS,
  COLUMN_LINK,
  COLUMN_SOFTWARE,
  COLUMN_LEVEL,
  COLUMN_SETTINGS,
  COLUMN_MICRO_BATCH,
  COLUMN_CHECKPOINTING,
  COLUMN_SAMPLES_PER_S,
  COLUMN_SM_MHZ,
  COLUMN_SOURCE,
  COLUMN_DEFECT,
  COLUMN_NOTES,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  { "id", true },
  { "provenance", true },
  { "model", true },
  { "config", true },
  { "sequence", true },
  { "image", true },
  { "batch", true },
  { "precision", true },
  { "gpu", true },
  { "gpus", true },
  { "link", true },
  { "software", true },
  { "level", true },
  { "settings", true },
  { "micro_batch", true },
  { "checkpointing", true },
  { "samples_per_s", true },
  { "sm_mhz", true },
  { "source", true },
  { "defect", true },
  { "notes", true },
};

static const char *const precisions[] = { "fp16", "bf16", "fp32" };
static const QmPrecision precision_of[] = { QM_PRECISION_FP16,
                                            QM_PRECISION_BF16,
                                            QM_PRECISION_FP32 };
static const char *const provenances[] = { "measured", "reported" };
static const char *const links[] = { "nvlink", "pcie" };
static const char *const yes[] = { "yes" };
static const char *const settings[] = { "",       "naive",  "unfused-attention",
                                        "zero_1", "zero_2", "zero_3",
                                        "fsdp_2", "fsdp_3" };
#define N_SETTINGS 8

static unsigned
methods_of (const char *level, int setting)
{
  if (setting == 1 || strcmp (level, "naive") == 0)
    return 0;
  if (setting == 2)
    return QM_METHOD_TF32;
  return strcmp (level, "eager") == 0 ? QM_METHOD_KERNELS | QM_METHOD_TF32
                                      : QM_METHOD_ALL;
}

/* The model and how it is trained. */
static QmStatus
read_model (QmCsvRow *row,
            const Rates *rates,
            int gpus,
            QmModelConfig *config,
            QmRecipe *recipe)
{
  const char *text = row->cells[COLUMN_CONFIG].text;
  QmStatus status = QM_OK;

  if (text[0] == '\0')
    {
      const QmModel *model =
          qm_catalog_model (rates->catalog, row->cells[COLUMN_MODEL].text);

      if (model == NULL)
        return qm_error_set (row->error, QM_STATUS_INVALID, row->file, 0, 0,
                             "there is no such model");
      *config = model->config;
      *recipe = model->recipe;
    }
  else
    {
      *recipe = (QmRecipe){ .steps = 1,
                            .optimizer = QM_OPTIMIZER_ADAMW,
                            .learning_rate = 1e-4,
                            .beta1 = 0.9,
                            .beta2 = 0.95,
                            .epsilon = 1e-8,
                            .max_grad_norm = 1,
                            .dropout = NAN };
      status = qm_model_config_parse (text, strlen (text), "config", config,
                                      row->error);
    }
  recipe->sequence_length =
      qm_csv_integer (row, COLUMN_SEQUENCE, 1, 1 << 20, 0);
  recipe->image_size = qm_csv_integer (row, COLUMN_IMAGE, 1, 1 << 12, 0);
  recipe->batch_size =
      (qm_csv_integer (row, COLUMN_BATCH, 1, 1 << 20, -1) + gpus - 1) / gpus;
  recipe->precision =
      precision_of[qm_csv_word (row, COLUMN_PRECISION, precisions, 3, -1)];
  return status == QM_OK
             ? qm_model_apply_recipe (config, recipe, "rates", row->error)
             : status;
}

static QmOffload
offload_of (int setting)
{
  QmOffload offload = QM_OFFLOAD_NONE;

  qm_offload_parse (settings[setting], &offload);
  return offload;
}

/* Weights and gradients must fit on each GPU, or they are divided. */
static QmStatus
plan_rate (QmCsvRow *row, Rate *rate, QmModelConfig *config, QmRecipe *recipe)
{
  int setting = qm_csv_word (row, COLUMN_SETTINGS, settings, N_SETTINGS, 0);
  QmPlanOptions options = {
    .target = { QM_DEVICE_CUDA, qm_gpu_architecture (rate->gpu) },
    .micro_batch = qm_csv_integer (row, COLUMN_MICRO_BATCH, 1, 1 << 20, 0),
    .methods = methods_of (rate->level, setting),
    .offload = offload_of (setting),
    .checkpoint = qm_csv_word (row, COLUMN_CHECKPOINTING, yes, 1, 1) == 0,
  };
  double bytes = rate->gpu->memory_gib * 0x1p30 * 0.97;
  QmPlan *plan = NULL;
  QmStatus status;

  if (options.micro_batch > 0)
    status = qm_plan_new (config, recipe, &options, &plan, row->error);
  else
    status = qm_plan_largest (config, recipe, &options, (uint64_t) bytes, &plan,
                              row->error);
  if (status == QM_STATUS_DEVICE_FULL)
    {
      options.micro_batch = recipe->batch_size < 4 ? recipe->batch_size : 4;
      status = qm_plan_new (config, recipe, &options, &plan, row->error);
    }
  if (status != QM_OK)
    return status;
  rate->offloads = options.offload != QM_OFFLOAD_NONE;
  /* Optimizer states are divided without more exchange (ZeRO 1 and 2).  Other
   * engines that were reported keep gradients and states in 16 bits. */
  rate->sharded =
      rate->gpus > 1
      && (double) plan->memory.weights
                 + ((double) plan->memory.gradients
                    + (double) (plan->memory.master + plan->memory.optimizer)
                          / rate->gpus)
                       * (strcmp (rate->level, "cuda") == 0 ? 0.5 : 1)
             > bytes * 0.8;
  status = qm_work_new (plan, &rate->work, row->error);
  qm_plan_free (plan);
  return status;
}

static void
read_rate (QmCsvRow *row, void *data)
{
  Rates *rates = data;
  Rate *rate = &rates->rates[rates->n];
  QmModelConfig config;
  QmRecipe recipe;
  QmStatus status;

  if (rates->n == MAX_RATES)
    {
      qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID, "is one too many");
      return;
    }
  rate->id = qm_csv_id (row, COLUMN_ID);
  rate->model = qm_csv_text (row, COLUMN_MODEL, true);
  rate->level = qm_csv_id (row, COLUMN_LEVEL);
  rate->source = qm_csv_text (row, COLUMN_SOURCE, true);
  rate->defect = qm_csv_text (row, COLUMN_DEFECT, false);
  rate->gpu = qm_catalog_gpu (rates->catalog, row->cells[COLUMN_GPU].text);
  rate->gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, 1024, -1);
  rate->link =
      qm_csv_is_empty (row, COLUMN_LINK)
          ? QM_INTERCONNECT_OF_GPU
          : (QmInterconnect) (1 + qm_csv_word (row, COLUMN_LINK, links, 2, -1));
  rate->measured =
      qm_csv_word (row, COLUMN_PROVENANCE, provenances, 2, -1) == 0;
  rate->samples_per_s = qm_csv_number (row, COLUMN_SAMPLES_PER_S, 1e-9, 1e9);
  rate->clock = qm_csv_number (row, COLUMN_SM_MHZ, 100, 10000);
  if (rate->gpu == NULL)
    qm_csv_fail (row, COLUMN_GPU, QM_STATUS_INVALID, "is not in the catalog");
  if (row->status != QM_OK)
    return;
  rates->n++;
  status = read_model (row, rates, rate->gpus, &config, &recipe);
  if (status == QM_OK)
    status = plan_rate (row, rate, &config, &recipe);
  if (status != QM_OK)
    rate->problem = *row->error;
}

bool
rates_load (const char *data_dir, Rates *rates)
{
  char path[PATH_MAX], *text = NULL;
  size_t length;
  QmError error = { 0 };
  QmStatus status;

  memset (rates, 0, sizeof *rates);
  rates->rates = calloc (MAX_RATES, sizeof *rates->rates);
  snprintf (path, sizeof path, "%s/rates.csv", data_dir);
  status = qm_catalog_load (data_dir, NULL, &rates->catalog, &error);
  if (status == QM_OK)
    status = qm_text_read_file (path, &text, &length, &error);
  if (status == QM_OK)
    status = qm_csv_read (text, length, path, columns, N_COLUMNS,
                          &rates->strings, read_rate, rates, &error);
  free (text);
  if (status != QM_OK)
    fprintf (stderr, "%s:%d: %s\n", error.file, error.line, error.message);
  return status == QM_OK;
}

void
rates_clear (Rates *rates)
{
  for (size_t i = 0; i < rates->n; i++)
    qm_work_free (rates->rates[i].work);
  free (rates->rates);
  qm_catalog_free (rates->catalog);
  qm_pool_clear (&rates->strings);
}

double
rates_predict (const Rate *rate,
               const QmCalibration *calibration,
               double *clock)
{
  const QmLevel *level = qm_calibration_level (calibration, rate->level);
  QmSpeeds speeds;
  QmPrediction prediction;

  if (rate->work == NULL || level == NULL
      || qm_speeds_of_gpu (calibration, rate->gpu, rate->gpus, rate->link,
                           &speeds, NULL)
             != QM_OK)
    return NAN;
  speeds.sharded = rate->sharded;
  if (qm_predict (rate->work, &speeds, level, &prediction, NULL) != QM_OK)
    return NAN;
  if (clock != NULL)
    *clock = prediction.clock;
  return prediction.step / (rate->work->samples * rate->gpus);
}
