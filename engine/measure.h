/* SPDX-License-Identifier: Apache-2.0 */

/* How long a training takes: a few passes and updates, timed by the device's
 * own clock, and what follows from them.
 *
 *   step = passes in a step x pass + update;  total = steps x step
 *
 * Of several ranks, the last pass of a step can take longer than the others,
 * and the time of the slowest counts.
 */

#ifndef QM_ENGINE_MEASURE_H
#define QM_ENGINE_MEASURE_H

#include "engine/plan.h"
#include "engine/profile.h"
#include "engine/waits.h"
#include "kernels/communicator.h"
#include "kernels/monitor.h"

/* Passes and updates that are timed. */
#define QM_MEASURE_SAMPLES 3

/* How many of them with QmMeasureOptions.brief, where one takes so many
 * seconds: as many as take 1.2 seconds, but at least one.  They differ by less
 * than a percent, and a mean over a second is as good as that of three short
 * ones. */
int qm_measure_brief_samples (double seconds);

/* Told how much of the work is done, 0 to 1; returns false to stop. */
typedef bool (*QmProgress) (void *data, double done);

typedef struct QmMeasureOptions
{
  int repeat;       /* measurements; at least 1 */
  int64_t validate; /* whole steps to run for comparison */
  uint64_t seed;
  QmCommunicator *communicator; /* of the plan's rank; NULL: there is one */
  QmMonitor *monitor;           /* watches the timed passes; may be NULL */
  bool profile;                 /* the operators too, afterwards */
  /* When the device was last kept busy by a measurement, which is brought up
   * to date: of several in a row, the later need to warm the device up less.
   * NULL, or 0 in it: it was idle. */
  double *busy;
  bool brief;       /* time what takes long less often */
  double cut_above; /* seconds of a step: where one pass and update say that it
                       takes longer, nothing more is measured; 0: no limit */
  QmProgress progress; /* may be NULL */
  void *data;
} QmMeasureOptions;

/* Seconds. */
typedef struct QmTimes
{
  double mean, least, most;
} QmTimes;

/* Where the time of the measurement itself went: seconds of the host's clock.
 */
typedef struct QmPhases
{
  double allocate;   /* memory of the device, and clearing it */
  double initialise; /* weights and the first batch */
  double tune;       /* first pass and update: kernels loaded and chosen */
  double warm_up;
  double measure, validate, profile;
} QmPhases;

typedef struct QmMeasureResult
{
  QmTimes pass, update; /* over all samples of all repetitions */
  QmTimes last;         /* the same of the last pass of a step */
  QmTimes step;         /* over the repetitions */
  QmTimes validated;    /* whole steps; zero unless asked for */
  double total;         /* of the training */
  double tflops;        /* 10^12 model FLOPs a second, during a step, of all
                           ranks */
  uint64_t allocated;   /* bytes */
  uint64_t free_bytes;  /* of the device, with everything allocated */
  int64_t used_bytes;   /* of it, by everybody; -1 without a monitor */
  double loss;          /* of the last validated step, else NaN */
  QmWaits waits;        /* of this rank, of several that do not offload */
  double exchange;      /* seconds of a step that is exchange which nothing
                           hides, of the rank that waits least; NaN: not known */
  QmWatch watch;        /* of the timed passes */
  double watts;         /* mean over the timed passes; NaN: not known */
  bool cut; /* by cut_above; `pass`, `update` and `step` are then rough, and
               all else is not known */
  QmPhases phases;
  QmProfile profile; /* empty unless asked for */
} QmMeasureResult;

/* Frees what a result owns. */
void qm_measure_result_clear (QmMeasureResult *result);

/* Measures a plan on a device.  All ranks of a plan do so at once; where one
 * fails, or its `progress` says no, it aborts their world, so that the others
 * fail too.  QM_STATUS_UNSUPPORTED for a profile of one that
 * offloads.  QM_STATUS_INTERRUPTED where `progress` said so,
 * QM_STATUS_DEVICE where the device failed or was lost.  The result has to be
 * cleared where it succeeds. */
QmStatus qm_measure (const QmPlan *plan,
                     QmDevice *device,
                     const QmMeasureOptions *options,
                     QmMeasureResult *result,
                     QmError *error);

#endif
