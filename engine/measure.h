/* SPDX-License-Identifier: Apache-2.0 */

/* How long a training takes: a few passes and updates, timed by the device's
 * own clock, and what follows from them.
 *
 *   step = passes in a step x pass + update;  total = steps x step
 */

#ifndef QM_ENGINE_MEASURE_H
#define QM_ENGINE_MEASURE_H

#include "engine/plan.h"

/* Passes and updates that are timed. */
#define QM_MEASURE_SAMPLES 3

/* Told how much of the work is done, 0 to 1; returns false to stop. */
typedef bool (*QmProgress) (void *data, double done);

typedef struct QmMeasureOptions
{
  int repeat;       /* measurements; at least 1 */
  int64_t validate; /* whole steps to run for comparison */
  uint64_t seed;
  QmProgress progress; /* may be NULL */
  void *data;
} QmMeasureOptions;

/* Seconds. */
typedef struct QmTimes
{
  double mean, least, most;
} QmTimes;

typedef struct QmMeasureResult
{
  QmTimes pass, update; /* over all samples of all repetitions */
  QmTimes step;         /* over the repetitions */
  QmTimes validated;    /* whole steps; zero unless asked for */
  double total;         /* of the training */
  double tflops;        /* 10^12 model FLOPs a second, during a step */
  uint64_t allocated;   /* bytes */
  double loss;          /* of the last validated step, else NaN */
} QmMeasureResult;

/* Measures a plan on a device.  QM_STATUS_INTERRUPTED where `progress` said so.
 */
QmStatus qm_measure (const QmPlan *plan,
                     QmDevice *device,
                     const QmMeasureOptions *options,
                     QmMeasureResult *result,
                     QmError *error);

#endif
