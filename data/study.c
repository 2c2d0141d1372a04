/* SPDX-License-Identifier: Apache-2.0 */

#include "data/study.h"

#include "data/csv-table.h"
#include "data/file.h"
#include "data/pool.h"
#include "data/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct QmStudy
{
  QmList survey; /* of QmSurveyed */
  QmList runs;   /* of QmOriginalRun */
  QmPool strings;
};

enum
{
  SURVEY_ID,
  SURVEY_VALUE,
  SURVEY_SOURCE,
  N_SURVEY
};

static const QmCsvColumn survey_columns[N_SURVEY] = { { "id", true },
                                                      { "value", true },
                                                      { "source", true } };

enum
{
  RUN_MODEL,
  RUN_GPUS,
  RUN_GPU,
  RUN_DAYS,
  RUN_SOURCE,
  N_RUN
};

static const QmCsvColumn run_columns[N_RUN] = { { "model", true },
                                                { "gpus", true },
                                                { "gpu", true },
                                                { "days", true },
                                                { "source", true } };

/* Adds an entry of a new id to a list; NULL where the row is wrong. */
static void *
add_entry (QmCsvRow *row, QmList *list, const char *id)
{
  void *entry;

  if (row->status != QM_OK)
    return NULL;
  if (qm_list_find (list, id) != QM_LIST_NONE)
    {
      qm_csv_fail (row, 0, QM_STATUS_INVALID, "is there twice");
      return NULL;
    }
  entry = qm_list_add (list, id);
  if (entry == NULL)
    qm_csv_fail (row, 0, QM_STATUS_NO_MEMORY, "out of memory");
  return entry;
}

static void
read_surveyed (QmCsvRow *row, void *data)
{
  QmStudy *study = data;
  const char *id = qm_csv_text (row, SURVEY_ID, true);
  QmSurveyed *surveyed = add_entry (row, &study->survey, id);

  if (surveyed == NULL)
    return;
  surveyed->id = id;
  surveyed->value = qm_csv_number (row, SURVEY_VALUE, 0, 1e6);
  surveyed->source = qm_csv_text (row, SURVEY_SOURCE, true);
}

static void
read_run (QmCsvRow *row, void *data)
{
  QmStudy *study = data;
  const char *model = qm_csv_id (row, RUN_MODEL);
  QmOriginalRun *run = add_entry (row, &study->runs, model);

  if (run == NULL)
    return;
  run->model = model;
  run->gpus = qm_csv_number (row, RUN_GPUS, 1, 1e6);
  run->gpu = qm_csv_text (row, RUN_GPU, true);
  run->days = qm_csv_number (row, RUN_DAYS, 0.001, 1e5);
  run->source = qm_csv_text (row, RUN_SOURCE, true);
}

static QmStatus
read_study_table (const char *data_dir,
                  const char *name,
                  const QmCsvColumn *columns,
                  size_t n_columns,
                  void (*read) (QmCsvRow *row, void *data),
                  QmStudy *study,
                  QmError *error)
{
  char path[PATH_MAX], *text = NULL;
  size_t length;
  QmStatus status;

  if (snprintf (path, sizeof path, "%s/%s", data_dir, name)
      >= (int) sizeof path)
    return qm_error_set (error, QM_STATUS_INVALID, data_dir, 0, 0,
                         "the path is too long");
  if (!qm_file_exists (path))
    return QM_OK;
  status = qm_text_read_file (path, &text, &length, error);
  if (status == QM_OK)
    status = qm_csv_read (text, length, path, columns, n_columns,
                          &study->strings, read, study, error);
  free (text);
  return status;
}

QmStatus
qm_study_load (const char *data_dir, QmStudy **study, QmError *error)
{
  QmStudy *made = calloc (1, sizeof *made);
  QmStatus status;

  *study = NULL;
  if (made == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, data_dir, 0, 0,
                         "out of memory");
  qm_list_init (&made->survey, sizeof (QmSurveyed));
  qm_list_init (&made->runs, sizeof (QmOriginalRun));
  status = read_study_table (data_dir, "survey.csv", survey_columns, N_SURVEY,
                             read_surveyed, made, error);
  if (status == QM_OK)
    status = read_study_table (data_dir, "original-runs.csv", run_columns,
                               N_RUN, read_run, made, error);
  if (status != QM_OK)
    qm_study_free (made);
  else
    *study = made;
  return status;
}

void
qm_study_free (QmStudy *study)
{
  if (study == NULL)
    return;
  qm_list_clear (&study->survey);
  qm_list_clear (&study->runs);
  qm_pool_clear (&study->strings);
  free (study);
}

const QmSurveyed *
qm_study_surveyed (const QmStudy *study, const char *id)
{
  size_t at = qm_list_find (&study->survey, id);

  return at == QM_LIST_NONE
             ? NULL
             : &((const QmSurveyed *) (const void *) study->survey.items)[at];
}

const QmOriginalRun *
qm_study_runs (const QmStudy *study, size_t *n)
{
  *n = study->runs.n;
  return (const QmOriginalRun *) (const void *) study->runs.items;
}
