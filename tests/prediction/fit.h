/* SPDX-License-Identifier: Apache-2.0 */

/* Fits the constants of a calibration to rates. */

#ifndef QM_TESTS_FIT_H
#define QM_TESTS_FIT_H

#include "tests/prediction/rates.h"

/* Whether a rate takes part. */
typedef bool (*FitFilter) (const Rate *rate, const void *data);

/* Moves the constants of *calibration, from which it starts and from which it
 * stays near where the rates tell nothing else, to where the rates that take
 * part are predicted best: by Levenberg and Marquardt's method on logarithms,
 * with large errors counting less than by their squares, and rates of a source
 * weighing the less the more of them there are. */
void fit (const Rates *rates,
          FitFilter filter,
          const void *data,
          int iterations,
          QmCalibration *calibration);

#endif
