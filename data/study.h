/* SPDX-License-Identifier: Apache-2.0 */

/* What "$100K or 100 Days" (arXiv 2410.23261) tells besides times and prices:
 * survey.csv, which GPUs researchers have, and original-runs.csv, on what its
 * models were trained first. */

#ifndef QM_DATA_STUDY_H
#define QM_DATA_STUDY_H

#include "data/error.h"

#include <stddef.h>

/* An answer of the survey. */
typedef struct QmSurveyed
{
  const char *id;
  double value; /* percent where the id says so, else a number */
  const char *source;
} QmSurveyed;

/* The original training of a model. */
typedef struct QmOriginalRun
{
  const char *model; /* id in the catalog */
  double gpus;       /* NaN: nobody says */
  const char *gpu;   /* what it is called; gpus.csv need not have it */
  double days;       /* NaN: nobody says */
  const char *source;
} QmOriginalRun;

typedef struct QmStudy QmStudy;

/* Reads both files of a data directory; nothing of one that is not there. */
QmStatus qm_study_load (const char *data_dir, QmStudy **study, QmError *error);

void qm_study_free (QmStudy *study);

/* The answer of that id; NULL: it is not known. */
const QmSurveyed *qm_study_surveyed (const QmStudy *study, const char *id);

/* All original trainings, in the order of the file. */
const QmOriginalRun *qm_study_runs (const QmStudy *study, size_t *n);

#endif
