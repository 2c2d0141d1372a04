/* SPDX-License-Identifier: Apache-2.0 */

/* What a year's runs take on a candidate: how the time of steps becomes that of
 * a run, runs become a year's work, and that a number of machines. */

#pragma once

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-selection.h"

G_BEGIN_DECLS

/* What the runs of a year take. */
typedef struct
{
  double machine_days;
  double longest; /* single training */
} QmYearSum;

/* The sums: as stated, and at the ends of intervals.  All zero: no run yet. */
typedef struct
{
  QmYearSum stated, low, high;
  QmVerdict audited; /* of what is audited */
} QmYear;

/* Sets what one training takes: the one place where the time of the steps
 * becomes that of a run. */
void qm_year_set_days (const QmQuestion *question,
                       QmCandidate *candidate,
                       const QmMeasurement *measurement);

/* The host memory that training takes, in GiB: of a prediction what was
 * planned, of a time that was taken with offloading what lies in there for each
 * parameter (ZeRO-Offload, arXiv 2101.06840: of 16 bytes all but the 2 of the
 * weights that stay on the GPU).  What the loading of data takes is not
 * counted. */
double qm_year_host_gib (const QmSelected *selected);

/* Adds one run to a candidate and its sums; `selected` is NULL where no time of
 * it is known.  (Returns): what is to be told of the run. */
QmRunTime qm_year_add_run (const QmQuestion *question,
                           QmCandidate *candidate,
                           const QmRun *run,
                           const QmSelected *selected,
                           QmYear *year);

/* Sets machines, days, and how busy they are; see qm_advice_new().  Of what is
 * here there is one, whether or not that is enough. */
void qm_year_finish (const QmQuestion *question,
                     QmCandidate *candidate,
                     const QmYear *year);

G_END_DECLS
