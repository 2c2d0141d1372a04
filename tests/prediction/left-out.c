/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/left-out.h"

#include "data/csv-table.h"
#include "data/text.h"
#include "tests/prediction/fit.h"
#include "tests/prediction/model-errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const KeyOf keys[N_WITHOUT] = { source_of, gpu_of, model_of };

const char *
without_name (int without)
{
  static const char *const names[N_WITHOUT] = { "source", "gpu", "model" };

  return names[without];
}

typedef struct Key
{
  KeyOf key;
  const char *value;
} Key;

static bool
is_another (const Rate *rate, const void *data)
{
  const Key *out = data;

  return strcmp (out->key (rate), out->value) != 0;
}

static double
error_of (const Rate *rate, const QmCalibration *calibration)
{
  return rate->defect[0] == '\0' ? log (rates_predict (rate, calibration, NULL)
                                        * rate->samples_per_s)
                                 : NAN;
}

void
errors_of (const Rates *rates,
           const QmCalibration *calibration,
           double errors[MAX_RATES])
{
  for (size_t i = 0; i < rates->n; i++)
    errors[i] = error_of (&rates->rates[i], calibration);
}

static size_t
count_of (const Rates *rates, const Key *key)
{
  size_t n = 0;

  for (size_t i = 0; i < rates->n; i++)
    n += !rates->rates[i].held && !is_another (&rates->rates[i], key);
  return n;
}

void
leave_out (const Rates *rates,
           const QmCalibration *prior,
           int without,
           size_t at_least,
           double errors[MAX_RATES],
           double left[MAX_RATES],
           LeftOutFitted fitted,
           void *data)
{
  for (size_t i = 0; i < rates->n; i++)
    errors[i] = left[i] = NAN;
  for (size_t i = 0; i < rates->n; i++)
    {
      const Key out = { keys[without], keys[without](&rates->rates[i]) };
      QmCalibration calibration = *prior;
      double seen[MAX_RATES], unseen[MAX_RATES];

      if (rates->rates[i].held || !is_first (rates, keys[without], i)
          || count_of (rates, &out) < at_least)
        continue;
      fit (rates, is_another, &out, prior, &calibration);
      for (size_t j = 0; j < rates->n; j++)
        {
          bool known = is_another (&rates->rates[j], &out);
          double error = rates->rates[j].held
                             ? NAN
                             : error_of (&rates->rates[j], &calibration);

          seen[j] = known ? error : NAN;
          unseen[j] = known ? NAN : error;
        }
      if (fitted != NULL)
        fitted (rates, seen, unseen, data);
      find_deviations (rates, seen, prior, &calibration);
      correct_errors (rates, &calibration, seen, of_any_place, unseen, left);
      for (size_t j = 0; j < rates->n; j++)
        if (!isnan (unseen[j]))
          errors[j] = unseen[j];
    }
}

void
left_out_write (const Rates *rates, const LeftOut *left_out)
{
  puts ("id,without_source,without_gpu,without_model,source_left,gpu_left,"
        "model_left");
  for (size_t i = 0; i < rates->n; i++)
    if (!rates->rates[i].held && !isnan (left_out->errors[0][i]))
      {
        printf ("%s", rates->rates[i].id);
        for (int k = 0; k < N_WITHOUT; k++)
          printf (",%.3f", exp (left_out->errors[k][i]));
        for (int k = 0; k < N_WITHOUT; k++)
          printf (",%.3f", left_out->left[k][i]);
        puts ("");
      }
}

static const QmCsvColumn columns[1 + 2 * N_WITHOUT] = {
  { "id", true },          { "without_source", true },
  { "without_gpu", true }, { "without_model", true },
  { "source_left", true }, { "gpu_left", true },
  { "model_left", true },
};

typedef struct Reading
{
  const Rates *rates;
  LeftOut *left_out;
} Reading;

static void
read_row (QmCsvRow *row, void *data)
{
  Reading *reading = data;
  const char *id = qm_csv_id (row, 0);

  for (size_t i = 0; i < reading->rates->n; i++)
    if (!reading->rates->rates[i].held
        && strcmp (reading->rates->rates[i].id, id) == 0)
      {
        for (int k = 0; k < N_WITHOUT; k++)
          {
            reading->left_out->errors[k][i] =
                log (qm_csv_number (row, 1 + (size_t) k, 1e-3, 1e3));
            reading->left_out->left[k][i] =
                qm_csv_number (row, 1 + N_WITHOUT + (size_t) k, 1e-3, 1);
          }
        return;
      }
  qm_csv_fail (row, 0, QM_STATUS_INVALID, "is no rate");
}

bool
left_out_read (const char *path, const Rates *rates, LeftOut *left_out)
{
  Reading reading = { rates, left_out };
  QmPool strings = { 0 };
  QmError error = { 0 };
  char *text = NULL;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, &error);

  for (int k = 0; k < N_WITHOUT; k++)
    for (size_t i = 0; i < rates->n; i++)
      left_out->errors[k][i] = left_out->left[k][i] = NAN;
  if (status == QM_OK)
    status = qm_csv_read (text, length, path, columns, 1 + 2 * N_WITHOUT,
                          &strings, read_row, &reading, &error);
  free (text);
  qm_pool_clear (&strings);
  if (status != QM_OK)
    fprintf (stderr, "%s:%d: %s\n", error.file, error.line, error.message);
  for (size_t i = 0; status == QM_OK && i < rates->n; i++)
    if (!rates->rates[i].held && rates->rates[i].defect[0] == '\0'
        && isnan (left_out->errors[0][i]))
      {
        fprintf (stderr, "%s: %s is missing\n", path, rates->rates[i].id);
        status = QM_STATUS_INVALID;
      }
  return status == QM_OK;
}
