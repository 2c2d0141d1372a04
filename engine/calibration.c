/* SPDX-License-Identifier: Apache-2.0 */

/* What predictions rest on, read from calibration.csv. */

#include "engine/predict.h"

#include "data/csv-table.h"
#include "data/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_LEVELS (sizeof ((QmCalibration *) NULL)->levels / sizeof (QmLevel))
#define N_GENERATIONS                           \
  (sizeof ((QmCalibration *) NULL)->generations \
   / sizeof ((QmCalibration *) NULL)->generations[0])

enum
{
  COLUMN_SCOPE,
  COLUMN_NAME,
  COLUMN_CONSTANT,
  COLUMN_VALUE,
  COLUMN_BASIS,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  [COLUMN_SCOPE] = { "scope", true },       [COLUMN_NAME] = { "name", true },
  [COLUMN_CONSTANT] = { "constant", true }, [COLUMN_VALUE] = { "value", true },
  [COLUMN_BASIS] = { "basis", true },
};

enum
{
  SCOPE_LEVEL,
  SCOPE_GENERATION,
  SCOPE_POWER,
  SCOPE_PRODUCTS,
  SCOPE_LINK,
  SCOPE_GPUS,
  SCOPE_HOST
};

static const char *const scopes[] = { "level",    "generation", "power",
                                      "products", "link",       "gpus",
                                      "host" };

static const char *const constants[QM_N_CONSTANTS] = {
  [QM_CONSTANT_PRODUCT_16] = "product-16",
  [QM_CONSTANT_PRODUCT_TF32] = "product-tf32",
  [QM_CONSTANT_PRODUCT_FP32] = "product-fp32",
  [QM_CONSTANT_MATMUL] = "matmul",
  [QM_CONSTANT_ATTENTION] = "attention",
  [QM_CONSTANT_ATTENTION_BACKWARD] = "attention-backward",
  [QM_CONSTANT_ATTENTION_HOPPER] = "attention-hopper",
  [QM_CONSTANT_ATTENTION_MASKED] = "attention-masked",
  [QM_CONSTANT_ATTENTION_TF32] = "attention-tf32",
  [QM_CONSTANT_ATTENTION_DROPOUT] = "attention-dropout",
  [QM_CONSTANT_EXPERTS] = "experts",
  [QM_CONSTANT_LOADS] = "loads",
  [QM_CONSTANT_UNALIGNED] = "unaligned",
  [QM_CONSTANT_INNER] = "inner",
  [QM_CONSTANT_HEAD] = "head",
  [QM_CONSTANT_SEQUENCE] = "sequence",
  [QM_CONSTANT_SEQUENCE_UNMASKED] = "sequence-unmasked",
  [QM_CONSTANT_BANDWIDTH] = "bandwidth",
  [QM_CONSTANT_SATURATION] = "saturation-s",
  [QM_CONSTANT_SHARPNESS] = "sharpness",
  [QM_CONSTANT_LAUNCH] = "launch-s",
  [QM_CONSTANT_DISPATCH] = "dispatch-s",
  [QM_CONSTANT_CAST] = "cast-bytes",
  [QM_CONSTANT_NORM] = "norm",
  [QM_CONSTANT_NORM_BACKWARD] = "norm-backward",
  [QM_CONSTANT_RMS_NORM] = "rms-norm",
  [QM_CONSTANT_GATE] = "gate",
  [QM_CONSTANT_GELU_NEW] = "gelu-new",
  [QM_CONSTANT_SOFTMAX] = "softmax",
  [QM_CONSTANT_CROSS_ENTROPY] = "cross-entropy",
  [QM_CONSTANT_ROTARY] = "rotary",
  [QM_CONSTANT_ROTARY_WHOLE] = "rotary-whole",
  [QM_CONSTANT_CONVOLUTION] = "convolution",
  [QM_CONSTANT_CONVOLUTION_BACKWARD] = "convolution-backward",
  [QM_CONSTANT_CONVOLUTION_FP32] = "convolution-fp32",
  [QM_CONSTANT_CONVOLUTION_BACKWARD_FP32] = "convolution-backward-fp32",
  [QM_CONSTANT_SCAN] = "scan",
  [QM_CONSTANT_SCAN_BACKWARD] = "scan-backward",
  [QM_CONSTANT_EXPONENTIALS] = "exponentials",
  [QM_CONSTANT_EXPONENTIALS_BACKWARD] = "exponentials-backward",
  [QM_CONSTANT_DUAL_SCAN] = "dual-scan",
  [QM_CONSTANT_DUAL_SCAN_BACKWARD] = "dual-scan-backward",
  [QM_CONSTANT_UPDATE] = "update",
  [QM_CONSTANT_OTHER] = "other",
  [QM_CONSTANT_HOST_UPDATE] = "host-update",
  [QM_CONSTANT_COPIES_HIDDEN] = "copies-hidden",
  [QM_CONSTANT_SPREAD] = "spread",
  [QM_CONSTANT_SPREAD_CARDS] = "spread-cards",
  [QM_CONSTANT_RESIDUAL_MODEL] = "residual-model",
  [QM_CONSTANT_RESIDUAL_GENERATION] = "residual-generation",
  [QM_CONSTANT_RESIDUAL_TYPE] = "residual-type",
  [QM_CONSTANT_RESIDUAL_SEVERAL] = "residual-several",
  [QM_CONSTANT_RESIDUAL_RATE] = "residual-rate",
  [QM_CONSTANT_RESIDUAL_SETTINGS] = "residual-settings",
};

static const struct
{
  const char *name;
  size_t offset; /* in a QmCalibration */
} singles[] = {
  { "tf32", offsetof (QmCalibration, power.tf32) },
  { "fp32", offsetof (QmCalibration, power.fp32) },
  { "joules-per-byte", offsetof (QmCalibration, power.joules_per_byte) },
  { "inner", offsetof (QmCalibration, power.inner) },
  { "exponent", offsetof (QmCalibration, power.exponent) },
  { "base", offsetof (QmCalibration, power.base) },
  { "half-rate", offsetof (QmCalibration, half_rate) },
  { "nvlink", offsetof (QmCalibration, nvlink) },
  { "pcie", offsetof (QmCalibration, pcie) },
  { "pcie-host", offsetof (QmCalibration, pcie_host) },
  { "latency-s", offsetof (QmCalibration, latency) },
  { "hidden", offsetof (QmCalibration, hidden) },
  { "differ", offsetof (QmCalibration, differ) },
  { "copies", offsetof (QmCalibration, host.copies) },
  { "add-s", offsetof (QmCalibration, host.add) },
  { "adam-s", offsetof (QmCalibration, host.adam) },
};

#define N_SINGLES (sizeof singles / sizeof singles[0])

const char *
qm_constant_name (QmConstant constant)
{
  return constants[constant];
}

QmConstant
qm_constant_spread (const QmGpu *gpu)
{
  return gpu->cooling == QM_GPU_COOLING_BOARD ? QM_CONSTANT_SPREAD
                                              : QM_CONSTANT_SPREAD_CARDS;
}

static QmLevel *
level_of (QmCalibration *calibration, const char *name)
{
  QmLevel *level;

  for (size_t i = 0; i < calibration->n_levels; i++)
    if (strcmp (calibration->levels[i].name, name) == 0)
      return &calibration->levels[i];
  if (calibration->n_levels == N_LEVELS)
    return NULL;
  level = &calibration->levels[calibration->n_levels++];
  snprintf (level->name, sizeof level->name, "%s", name);
  level->own = strcmp (name, "engine") == 0;
  for (int i = 0; i < QM_N_CONSTANTS; i++)
    level->constants[i] = -1;
  return level;
}

static void
read_level (QmCsvRow *row, QmCalibration *calibration, double value)
{
  QmLevel *level = level_of (calibration, qm_csv_id (row, COLUMN_NAME));
  int constant =
      qm_csv_word (row, COLUMN_CONSTANT, constants, QM_N_CONSTANTS, -1);

  if (level == NULL)
    qm_csv_fail (row, COLUMN_NAME, QM_STATUS_INVALID, "is one too many");
  else if (row->status == QM_OK)
    level->constants[constant] = value;
}

/* The place of a generation; those after it, which are newer, make room. */
static size_t
generation_of (QmCalibration *calibration, int architecture)
{
  size_t i = 0;

  while (i < calibration->n_generations
         && calibration->generations[i].architecture < architecture)
    i++;
  if (i < calibration->n_generations
      && calibration->generations[i].architecture == architecture)
    return i;
  if (calibration->n_generations == N_GENERATIONS)
    return N_GENERATIONS;
  memmove (&calibration->generations[i + 1], &calibration->generations[i],
           (calibration->n_generations++ - i)
               * sizeof calibration->generations[0]);
  calibration->generations[i].architecture = architecture;
  calibration->generations[i].joules_per_flop = -1;
  calibration->generations[i].clock = -1;
  return i;
}

static void
read_generation (QmCsvRow *row, QmCalibration *calibration, double value)
{
  static const char *const words[] = { "joules-per-flop", "clock" };
  int architecture = (int) qm_csv_integer (row, COLUMN_NAME, 1, 999, -1);
  int word = qm_csv_word (row, COLUMN_CONSTANT, words, 2, -1);
  size_t i;

  if (row->status != QM_OK)
    return;
  i = generation_of (calibration, architecture);
  if (i == N_GENERATIONS)
    qm_csv_fail (row, COLUMN_NAME, QM_STATUS_INVALID, "is one too many");
  else if (word == 0)
    calibration->generations[i].joules_per_flop = value;
  else
    calibration->generations[i].clock = value;
}

static void
read_single (QmCsvRow *row, QmCalibration *calibration, double value)
{
  const char *name = qm_csv_text (row, COLUMN_CONSTANT, true);

  for (size_t i = 0; row->status == QM_OK && i < N_SINGLES; i++)
    if (strcmp (singles[i].name, name) == 0)
      {
        *(double *) (void *) ((char *) calibration + singles[i].offset) = value;
        return;
      }
  qm_csv_fail (row, COLUMN_CONSTANT, QM_STATUS_INVALID, "is not known");
}

static void
read_constant_row (QmCsvRow *row, void *data)
{
  double value = qm_csv_number (row, COLUMN_VALUE, 0, 1e6);

  qm_csv_text (row, COLUMN_BASIS, true);
  if (!(value >= 0))
    qm_csv_fail (row, COLUMN_VALUE, QM_STATUS_INVALID, "is missing");
  switch (qm_csv_word (row, COLUMN_SCOPE, scopes,
                       sizeof scopes / sizeof scopes[0], -1))
    {
    case SCOPE_LEVEL:
      read_level (row, data, value);
      break;
    case SCOPE_GENERATION:
      read_generation (row, data, value);
      break;
    default:
      read_single (row, data, value);
      break;
    }
}

/* Whether everything was said. */
static QmStatus
check_whole (const QmCalibration *calibration, const char *path, QmError *error)
{
  for (size_t i = 0; i < calibration->n_levels; i++)
    for (int j = 0; j < QM_N_CONSTANTS; j++)
      if (calibration->levels[i].constants[j] < 0)
        return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                             "%s of level %s is missing", constants[j],
                             calibration->levels[i].name);
  for (size_t i = 0; i < calibration->n_generations; i++)
    if (calibration->generations[i].joules_per_flop < 0
        || calibration->generations[i].clock < 0)
      return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                           "a constant of generation %d is missing",
                           calibration->generations[i].architecture);
  for (size_t i = 0; i < N_SINGLES; i++)
    if (*(const double *) (const void *) ((const char *) calibration
                                          + singles[i].offset)
        < 0)
      return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                           "%s is missing", singles[i].name);
  return QM_OK;
}

QmStatus
qm_calibration_load (const char *path,
                     QmCalibration *calibration,
                     QmError *error)
{
  char *text;
  size_t length;
  QmPool pool = { 0 };
  QmStatus status;

  memset (calibration, 0, sizeof *calibration);
  for (size_t i = 0; i < N_SINGLES; i++)
    *(double *) (void *) ((char *) calibration + singles[i].offset) = -1;
  status = qm_text_read_file (path, &text, &length, error);
  if (status != QM_OK)
    return status;
  status = qm_csv_read (text, length, path, columns, N_COLUMNS, &pool,
                        read_constant_row, calibration, error);
  qm_pool_clear (&pool);
  free (text);
  return status == QM_OK ? check_whole (calibration, path, error) : status;
}

int64_t
qm_level_loss_rows (const char *level)
{
  return strcmp (level, "engine") == 0 ? 0 : QM_LOSS_ROWS_ALL;
}

const QmLevel *
qm_calibration_level (const QmCalibration *calibration, const char *name)
{
  for (size_t i = 0; i < calibration->n_levels; i++)
    if (strcmp (calibration->levels[i].name, name) == 0)
      return &calibration->levels[i];
  return NULL;
}
