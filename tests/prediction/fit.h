/* SPDX-License-Identifier: Apache-2.0 */

/* Fits the constants of a calibration to rates. */

#ifndef QM_TESTS_FIT_H
#define QM_TESTS_FIT_H

#include "tests/prediction/rates.h"

/* Whether a rate takes part. */
typedef bool (*FitFilter) (const Rate *rate, const void *data);

/* Moves the constants of *calibration to where the rates that take part are
 * predicted best, near those of the prior where the rates tell nothing else: by
 * Levenberg and Marquardt's method on logarithms, with large errors counting
 * less than by their squares, and without what the errors of a source have in
 * common.  From another start it ends at the same place, some thousandths away.
 */
void fit (const Rates *rates,
          FitFilter filter,
          const void *data,
          const QmCalibration *prior,
          QmCalibration *calibration);

#endif
