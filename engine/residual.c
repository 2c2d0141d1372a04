/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/residual.h"

#include "data/architecture.h"
#include "data/csv-table.h"
#include "data/file.h"
#include "data/pool.h"
#include "data/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nine of ten of a normal distribution are within so many of its standard
 * deviations. */
#define NINE_OF_TEN 1.645

enum
{
  COLUMN_MODEL,
  COLUMN_KEY,
  COLUMN_LEVEL,
  COLUMN_GPU,
  COLUMN_GENERATION,
  COLUMN_GPUS,
  COLUMN_PROVENANCE,
  COLUMN_PREDICTED,
  COLUMN_ROUNDING,
  COLUMN_RATE,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  { "model", true },      { "key", true },        { "level", true },
  { "gpu", true },        { "generation", true }, { "gpus", true },
  { "provenance", true }, { "predicted", true },  { "rounding", true },
  { "rate", true },
};

static const char *const provenances[] = { "measured", "reported" };

typedef struct Row
{
  const char *key, *level;
  QmResidualRate rate;
} Row;

struct QmResiduals
{
  QmPool strings;
  Row *rows;
  size_t n, room;
};

static double
square (double x)
{
  return x * x;
}

static bool
is_same_type (const QmResidualPlace *a, const QmResidualPlace *b)
{
  return strcmp (a->gpu, b->gpu) == 0;
}

static bool
is_same_generation (const QmResidualPlace *a, const QmResidualPlace *b)
{
  return is_same_type (a, b)
         || (a->generation > 0 && a->generation == b->generation);
}

double
qm_residual_covariance (const QmLevel *level,
                        const QmResidualPlace *a,
                        const QmResidualPlace *b)
{
  const double *c = level->constants;
  double sum = square (c[QM_CONSTANT_RESIDUAL_MODEL]);

  if (is_same_generation (a, b))
    sum += square (c[QM_CONSTANT_RESIDUAL_GENERATION]);
  if (!is_same_type (a, b))
    return sum;
  sum += square (c[QM_CONSTANT_RESIDUAL_TYPE]);
  if (a->gpus > 1 && b->gpus > 1)
    sum += square (c[QM_CONSTANT_RESIDUAL_SEVERAL]);
  return sum;
}

static double
variance_of (const QmLevel *level, const QmResidualPlace *place)
{
  const double *c = level->constants;

  return qm_residual_covariance (level, place, place)
         + square (c[QM_CONSTANT_RESIDUAL_RATE])
         + (place->other ? square (c[QM_CONSTANT_RESIDUAL_SETTINGS]) : 0);
}

/* Makes the lower half of K its Cholesky factor L, and what is in `a` and `b`
 * L^-1 of it; false where K is no covariance. */
static bool
reduce (double matrix[][QM_RESIDUAL_MOST], size_t n, double *a, double *b)
{
  for (size_t i = 0; i < n; i++)
    {
      for (size_t j = 0; j <= i; j++)
        {
          double sum = matrix[i][j];

          for (size_t k = 0; k < j; k++)
            sum -= matrix[i][k] * matrix[j][k];
          if (i == j && !(sum > 0))
            return false;
          matrix[i][j] = i == j ? sqrt (sum) : sum / matrix[j][j];
        }
      for (size_t k = 0; k < i; k++)
        {
          a[i] -= matrix[i][k] * a[k];
          b[i] -= matrix[i][k] * b[k];
        }
      a[i] /= matrix[i][i];
      b[i] /= matrix[i][i];
    }
  return true;
}

static void
note_gpu (QmResidual *residual, const char *gpu)
{
  for (size_t i = 0; i < residual->n_gpus; i++)
    if (strcmp (residual->gpus[i], gpu) == 0)
      return;
  if (residual->n_gpus < sizeof residual->gpus / sizeof residual->gpus[0])
    residual->gpus[residual->n_gpus++] = gpu;
}

QmResidual
qm_residual_from (const QmLevel *level,
                  const QmResidualRate *rates,
                  size_t n,
                  const QmResidualPlace *place)
{
  QmResidual residual = { .left = 1 };
  double matrix[QM_RESIDUAL_MOST][QM_RESIDUAL_MOST];
  double errors[QM_RESIDUAL_MOST], shared[QM_RESIDUAL_MOST];
  double explained = 0, whole, rest;
  bool seen = false;

  n = n < QM_RESIDUAL_MOST ? n : QM_RESIDUAL_MOST;
  for (size_t i = 0; i < n; i++)
    {
      const QmResidualPlace *at = &rates[i].place;

      for (size_t j = 0; j < i; j++)
        matrix[i][j] = qm_residual_covariance (level, at, &rates[j].place);
      matrix[i][i] = variance_of (level, at) + square (rates[i].rounding) / 3;
      errors[i] = rates[i].error;
      shared[i] = qm_residual_covariance (level, at, place);
      residual.reported += rates[i].reported;
      residual.own += rates[i].own;
      residual.other += !is_same_generation (at, place);
      seen = seen || is_same_type (at, place);
      note_gpu (&residual, at->gpu);
    }
  if (n == 0 || !reduce (matrix, n, errors, shared))
    return (QmResidual){ .left = 1 };
  residual.rates = n;
  for (size_t i = 0; i < n; i++)
    {
      residual.error += shared[i] * errors[i];
      explained += square (shared[i]);
    }
  rest = fmax (variance_of (level, place) - explained, 0);
  whole = fmax (square (level->constants[QM_CONSTANT_SPREAD] / NINE_OF_TEN),
                variance_of (level, place));
  if (!seen)
    rest += whole - variance_of (level, place);
  residual.left = fmin (rest / whole, 1);
  return residual;
}

void
qm_residual_apply (const QmResidual *residual, QmPrediction *prediction)
{
  double factor = exp (-residual->error);
  double spread = prediction->days_low > 0
                      ? log (prediction->days / prediction->days_low)
                      : 0;
  double *const times[] = { &prediction->pass,     &prediction->update,
                            &prediction->alone,    &prediction->update_alone,
                            &prediction->exchange, &prediction->step,
                            &prediction->days };

  if (residual->rates == 0)
    return;
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
    *times[i] *= factor;
  for (int i = 0; i < QM_OP_COUNT; i++)
    prediction->by_op[i] *= factor;
  spread = exp (spread * sqrt (residual->left));
  prediction->days_low = prediction->days / spread;
  prediction->days_high = prediction->days * spread;
}

static bool
append_residual (QmResiduals *residuals, const Row *row)
{
  if (residuals->n == residuals->room)
    {
      size_t room = 2 * residuals->room + 64;
      Row *rows = realloc (residuals->rows, room * sizeof *rows);

      if (rows == NULL)
        return false;
      residuals->rows = rows;
      residuals->room = room;
    }
  residuals->rows[residuals->n++] = *row;
  return true;
}

static void
read_residual_row (QmCsvRow *row, void *data)
{
  QmResiduals *residuals = data;
  Row read = { .key = qm_csv_text (row, COLUMN_KEY, true),
               .level = qm_csv_id (row, COLUMN_LEVEL) };
  double predicted = qm_csv_number (row, COLUMN_PREDICTED, 1e-3, 1e3);

  qm_csv_text (row, COLUMN_MODEL, true);
  qm_csv_text (row, COLUMN_RATE, true);
  read.rate.place.gpu = qm_csv_id (row, COLUMN_GPU);
  read.rate.place.generation =
      (int) qm_csv_integer (row, COLUMN_GENERATION, 0, 999, 0);
  read.rate.place.gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, 1024, -1);
  read.rate.reported =
      qm_csv_word (row, COLUMN_PROVENANCE, provenances, 2, -1) == 1;
  read.rate.rounding = qm_csv_number (row, COLUMN_ROUNDING, 0, 0.5);
  if (!(read.rate.rounding > 0))
    read.rate.rounding = 0;
  if (!(predicted > 0))
    qm_csv_fail (row, COLUMN_PREDICTED, QM_STATUS_INVALID, "must not be empty");
  read.rate.error = log (predicted);
  if (row->status == QM_OK && !append_residual (residuals, &read))
    qm_csv_fail (row, COLUMN_MODEL, QM_STATUS_NO_MEMORY, "out of memory");
}

QmStatus
qm_residuals_load (const char *path, QmResiduals **residuals, QmError *error)
{
  QmResiduals *made = calloc (1, sizeof *made);
  char *text = NULL;
  size_t length;
  QmStatus status = QM_OK;

  *residuals = NULL;
  if (made == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, path, 0, 0,
                         "the host is out of memory");
  if (qm_file_exists (path))
    {
      status = qm_text_read_file (path, &text, &length, error);
      if (status == QM_OK)
        status = qm_csv_read (text, length, path, columns, N_COLUMNS,
                              &made->strings, read_residual_row, made, error);
      free (text);
    }
  if (status != QM_OK)
    qm_residuals_free (made);
  else
    *residuals = made;
  return status;
}

QmStatus
qm_residuals_add (QmResiduals *residuals,
                  const char *key,
                  const char *level,
                  const QmResidualRate *rate,
                  QmError *error)
{
  Row row = { .key = qm_pool_string (&residuals->strings, key),
              .level = qm_pool_string (&residuals->strings, level),
              .rate = *rate };

  for (size_t i = 0; i < residuals->n; i++)
    {
      Row *other = &residuals->rows[i];

      if (strcmp (other->key, key) == 0 && strcmp (other->level, level) == 0
          && strcmp (other->rate.place.gpu, rate->place.gpu) == 0
          && other->rate.place.gpus == rate->place.gpus)
        {
          other->rate = *rate;
          return QM_OK;
        }
    }
  return row.key != NULL && row.level != NULL
                 && append_residual (residuals, &row)
             ? QM_OK
             : qm_error_no_memory (error);
}

void
qm_residuals_free (QmResiduals *residuals)
{
  if (residuals == NULL)
    return;
  free (residuals->rows);
  qm_pool_clear (&residuals->strings);
  free (residuals);
}

void
qm_residual_key (const QmModelConfig *config,
                 const QmRecipe *recipe,
                 char key[QM_MODEL_KEY_BYTES])
{
  const QmRecipe same = { .batch_size = 1,
                          .steps = 1,
                          .sequence_length = recipe->sequence_length,
                          .image_size = recipe->image_size,
                          .precision = recipe->precision,
                          .fp8 = recipe->fp8,
                          .optimizer = recipe->optimizer };

  qm_model_key (config, &same, key);
}

static bool
is_at (const QmResidualPlace *a, const QmResidualPlace *b)
{
  return is_same_type (a, b) && a->gpus == b->gpus;
}

static QmResidual
residual_at (const QmResiduals *residuals,
             const QmLevel *level,
             const char *key,
             const QmResidualPlace *place,
             bool elsewhere)
{
  QmResidualRate rates[QM_RESIDUAL_MOST];
  size_t n = 0;

  for (size_t i = 0; residuals != NULL && i < residuals->n; i++)
    {
      const Row *row = &residuals->rows[i];

      if (n < QM_RESIDUAL_MOST && strcmp (row->key, key) == 0
          && strcmp (row->level, level->name) == 0
          && !(elsewhere && is_at (&row->rate.place, place)))
        rates[n++] = row->rate;
    }
  return qm_residual_from (level, rates, n, place);
}

static QmResidualPlace
residual_place (const QmGpu *gpu, int gpus)
{
  return (QmResidualPlace){ .gpu = gpu->id,
                            .generation = qm_gpu_architecture (gpu),
                            .gpus = gpus };
}

QmResidual
qm_residuals_find (const QmResiduals *residuals,
                   const QmLevel *level,
                   const char *key,
                   const QmGpu *gpu,
                   int gpus,
                   bool other)
{
  QmResidualPlace place = residual_place (gpu, gpus);

  place.other = other;
  return residual_at (residuals, level, key, &place, false);
}

QmResidual
qm_residuals_find_elsewhere (const QmResiduals *residuals,
                             const QmLevel *level,
                             const char *key,
                             const QmGpu *gpu,
                             int gpus)
{
  QmResidualPlace place = residual_place (gpu, gpus);

  place.other = true;
  return residual_at (residuals, level, key, &place, true);
}
