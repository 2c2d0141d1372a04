/* SPDX-License-Identifier: Apache-2.0 */

#include "data/training-rates.h"

#include "data/csv-table.h"
#include "data/file.h"
#include "data/pool.h"
#include "data/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

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
  COLUMN_ROUNDING,
  COLUMN_SM_MHZ,
  COLUMN_MEASURED_ON,
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
  { "rounding", false },
  { "sm_mhz", true },
  { "measured_on", false },
  { "source", true },
  { "defect", true },
  { "notes", true },
};

static const char *const provenances[] = { "measured", "reported" };
static const char *const precisions[] = { "fp16", "bf16", "fp32" };
static const QmPrecision precision_of[] = { QM_PRECISION_FP16,
                                            QM_PRECISION_BF16,
                                            QM_PRECISION_FP32 };
static const char *const links[] = { "", "nvlink", "pcie" };
static const char *const yes[] = { "", "yes" };

struct QmTrainingRates
{
  QmPool strings;
  QmList list; /* QmTrainingRate */
};

/* What was trained. */
static void
read_training (QmCsvRow *row, QmTrainingRate *rate)
{
  rate->model = qm_csv_text (row, COLUMN_MODEL, true);
  rate->config = qm_csv_text (row, COLUMN_CONFIG, false);
  rate->sequence = qm_csv_integer (row, COLUMN_SEQUENCE, 1, 1 << 20, 0);
  rate->image = qm_csv_integer (row, COLUMN_IMAGE, 1, 1 << 12, 0);
  rate->batch = qm_csv_integer (row, COLUMN_BATCH, 1, 1 << 20, -1);
  rate->precision =
      precision_of[qm_csv_word (row, COLUMN_PRECISION, precisions, 3, -1)];
}

/* On what, and how. */
static void
read_place (QmCsvRow *row, QmTrainingRate *rate)
{
  rate->gpu = qm_csv_id (row, COLUMN_GPU);
  rate->gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, 1024, -1);
  rate->link = links[qm_csv_word (row, COLUMN_LINK, links, 3, 0)];
  rate->software = qm_csv_text (row, COLUMN_SOFTWARE, false);
  rate->level = qm_csv_id (row, COLUMN_LEVEL);
  rate->settings = qm_csv_text (row, COLUMN_SETTINGS, false);
  rate->micro_batch = qm_csv_integer (row, COLUMN_MICRO_BATCH, 1, 1 << 20, 0);
  rate->checkpointing = qm_csv_word (row, COLUMN_CHECKPOINTING, yes, 2, 0) == 1;
}

static void
read_rate (QmCsvRow *row, void *data)
{
  QmTrainingRates *rates = data;
  const char *id = qm_csv_id (row, COLUMN_ID);
  QmTrainingRate *rate;

  if (row->status != QM_OK)
    return;
  if (qm_list_find (&rates->list, id) != QM_LIST_NONE)
    {
      qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID, "is there twice");
      return;
    }
  rate = qm_list_add (&rates->list, id);
  if (rate == NULL)
    {
      qm_csv_fail (row, COLUMN_ID, QM_STATUS_NO_MEMORY, "out of memory");
      return;
    }
  rate->id = id;
  rate->reported =
      qm_csv_word (row, COLUMN_PROVENANCE, provenances, 2, -1) == 1;
  read_training (row, rate);
  read_place (row, rate);
  if (qm_csv_is_empty (row, COLUMN_SAMPLES_PER_S))
    qm_csv_fail (row, COLUMN_SAMPLES_PER_S, QM_STATUS_INVALID,
                 "must not be empty");
  rate->samples_per_s = qm_csv_number (row, COLUMN_SAMPLES_PER_S, 1e-9, 1e9);
  rate->rounding = qm_csv_number (row, COLUMN_ROUNDING, 0, 0.5);
  if (!(rate->rounding > 0))
    rate->rounding = 0;
  rate->sm_mhz = qm_csv_number (row, COLUMN_SM_MHZ, 100, 10000);
  rate->measured_on = qm_csv_date (row, COLUMN_MEASURED_ON);
  rate->source = qm_csv_text (row, COLUMN_SOURCE, true);
  rate->defect = qm_csv_text (row, COLUMN_DEFECT, false);
  rate->notes = qm_csv_text (row, COLUMN_NOTES, false);
}

QmStatus
qm_training_rates_parse (const char *text,
                         size_t length,
                         const char *file,
                         QmTrainingRates **rates,
                         QmError *error)
{
  QmTrainingRates *made = calloc (1, sizeof *made);
  QmStatus status;

  *rates = NULL;
  if (made == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, file, 0, 0,
                         "out of memory");
  qm_list_init (&made->list, sizeof (QmTrainingRate));
  status = text == NULL ? QM_OK
                        : qm_csv_read (text, length, file, columns, N_COLUMNS,
                                       &made->strings, read_rate, made, error);
  if (status != QM_OK)
    qm_training_rates_free (made);
  else
    *rates = made;
  return status;
}

QmStatus
qm_training_rates_load (const char *data_dir,
                        QmTrainingRates **rates,
                        QmError *error)
{
  char path[PATH_MAX], *text;
  size_t length;
  QmStatus status;

  *rates = NULL;
  if (snprintf (path, sizeof path, "%s/rates.csv", data_dir)
      >= (int) sizeof path)
    return qm_error_set (error, QM_STATUS_INVALID, data_dir, 0, 0,
                         "the path is too long");
  if (!qm_file_exists (path))
    return qm_training_rates_parse (NULL, 0, path, rates, error);
  status = qm_text_read_file (path, &text, &length, error);
  if (status != QM_OK)
    return status;
  status = qm_training_rates_parse (text, length, path, rates, error);
  free (text);
  return status;
}

void
qm_training_rates_free (QmTrainingRates *rates)
{
  if (rates == NULL)
    return;
  qm_list_clear (&rates->list);
  qm_pool_clear (&rates->strings);
  free (rates);
}

const QmTrainingRate *
qm_training_rates_list (const QmTrainingRates *rates, size_t *n)
{
  *n = rates->list.n;
  return (const QmTrainingRate *) (const void *) rates->list.items;
}
