/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-year.h"

#include "data/flops.h"

#include <math.h>

#define BYTES_PER_GIB   (1024.0 * 1024 * 1024)
#define OFFLOADED_BYTES 14.0

void
qm_year_set_days (const QmQuestion *question,
                  QmCandidate *candidate,
                  const QmMeasurement *measurement)
{
  double factor = question->time_factor;
  gboolean predicted = measurement->provenance == QM_PROVENANCE_PREDICTED;

  candidate->predicted = !!predicted;
  candidate->days = measurement->days * factor;
  candidate->days_low = predicted ? measurement->days_low * factor : NAN;
  candidate->days_high = predicted ? measurement->days_high * factor : NAN;
}

double
qm_year_host_gib (const QmSelected *selected)
{
  const QmMeasurement *measurement = selected->measurement;

  if (selected->prediction != NULL)
    return (double) selected->prediction->forecast.host_bytes / BYTES_PER_GIB;
  if (measurement->offloading != QM_YES)
    return 0;
  return (double) qm_parameter_count (&measurement->model->config)
         * OFFLOADED_BYTES / BYTES_PER_GIB;
}

/* Severity, to find the worst verdict of a portfolio. */
static int
verdict_rank (QmVerdict verdict)
{
  switch (verdict)
    {
    case QM_VERDICT_INFEASIBLE:
      return 5;
    case QM_VERDICT_IMPOSSIBLE:
      return 4;
    case QM_VERDICT_DOUBTFUL:
      return 3;
    case QM_VERDICT_UNKNOWN:
      return 2;
    case QM_VERDICT_POSSIBLE:
      return 1;
    case QM_VERDICT_OK:
    default:
      return 0;
    }
}

static void
add_days (QmYearSum *sum, double runs, double days)
{
  sum->machine_days += runs * days; /* NaN stays NaN */
  sum->longest = fmax (sum->longest, days);
}

/* Audits one more run. */
static QmVerdict
audit_run (const QmQuestion *question,
           QmCandidate *candidate,
           const QmMeasurement *measurement,
           QmYear *year)
{
  QmAudit audit = { NAN, NAN };
  QmVerdict verdict =
      measurement != NULL
          ? qm_audit_measurement (measurement, question->forecasts, &audit)
          : QM_VERDICT_UNKNOWN;
  int worse = verdict_rank (verdict) - verdict_rank (year->audited);

  if (verdict_rank (verdict) > verdict_rank (candidate->verdict))
    candidate->verdict = verdict;
  if (!qm_known (audit.utilization)
      || (candidate->audited != NULL && worse <= 0
          && (worse < 0
              || audit.utilization <= candidate->implied_utilization)))
    return verdict;
  year->audited = verdict;
  candidate->audited = measurement;
  candidate->implied_utilization = audit.utilization;
  candidate->reachable_days = audit.reachable_days;
  return verdict;
}

QmRunTime
qm_year_add_run (const QmQuestion *question,
                 QmCandidate *candidate,
                 const QmRun *run,
                 const QmSelected *selected,
                 QmYear *year)
{
  const QmMeasurement *measurement =
      selected != NULL ? selected->measurement : NULL;
  QmCandidate one = { .days = NAN, .days_low = NAN, .days_high = NAN };
  QmRunTime told = { .measurement = measurement };

  if (measurement != NULL)
    {
      told.prediction = selected->prediction;
      qm_year_set_days (question, &one, measurement);
      candidate->predicted |= one.predicted;
      candidate->host_gib =
          MAX (candidate->host_gib, qm_year_host_gib (selected));
    }
  if (candidate->measurement == NULL || one.days > year->stated.longest)
    {
      candidate->measurement = measurement;
      candidate->prediction = selected != NULL ? selected->prediction : NULL;
    }
  add_days (&year->stated, run->runs_per_year, one.days);
  add_days (&year->low, run->runs_per_year,
            one.predicted ? one.days_low : one.days);
  add_days (&year->high, run->runs_per_year,
            one.predicted ? one.days_high : one.days);
  told.days = one.days;
  told.days_low = one.days_low;
  told.days_high = one.days_high;
  told.predicted = one.predicted;
  told.verdict = audit_run (question, candidate, measurement, year);
  return told;
}

/* How long so many machines take. */
static double
days_of (const QmYearSum *sum, int machines)
{
  return MAX (sum->longest, sum->machine_days / machines);
}

/* How many machines a year's work takes, by the end of the year or the
 * deadline, which more of them do not meet where a single run is longer. */
static double
machines_for (const QmQuestion *question, const QmYearSum *sum)
{
  double deadline = question->deadline_days;
  double days = QM_DAYS_PER_YEAR;

  if (qm_known (deadline) && deadline < days && sum->longest <= deadline)
    days = deadline;
  return MAX (question->at_once, ceil (sum->machine_days / days));
}

void
qm_year_finish (const QmQuestion *question,
                QmCandidate *candidate,
                const QmYear *year)
{
  double machine_days = year->stated.machine_days;
  double machines = machines_for (question, &year->stated);

  candidate->days = candidate->days_low = candidate->days_high = NAN;
  candidate->longest_days = candidate->busy = NAN;
  candidate->machine_days = machine_days;
  candidate->machines = candidate->here ? 1 : question->at_once;
  candidate->insufficient = candidate->here && machines > 1;
  /* Beyond that there is no machine room, nor an int. */
  if (!qm_known (machine_days) || machines > 1e6)
    return;
  if (!candidate->here)
    candidate->machines = (int) machines;
  candidate->days = days_of (&year->stated, candidate->machines);
  candidate->longest_days = year->stated.longest;
  candidate->busy = machine_days / (candidate->machines * QM_DAYS_PER_YEAR);
  if (!candidate->predicted)
    return;
  candidate->days_low = days_of (&year->low, candidate->machines);
  candidate->days_high = days_of (&year->high, candidate->machines);
}
