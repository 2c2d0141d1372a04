/* SPDX-License-Identifier: Apache-2.0 */

/* Errors of rates that a fit has not seen: each predicted by one without its
 * source, its type of GPU, or its model. */

#ifndef QM_TESTS_LEFT_OUT_H
#define QM_TESTS_LEFT_OUT_H

#include "tests/prediction/summary.h"

enum
{
  WITHOUT_SOURCE,
  WITHOUT_GPU,
  WITHOUT_MODEL,
  N_WITHOUT
};

/* "source", "gpu", "model"; static. */
const char *without_name (int without);

/* By rate, after what the rates that a fit has seen say of its model (tests/
 * prediction/model-errors.h); NaN for those with a defect, and those that are
 * held back.  `left` is the share of the width of an interval that this
 * leaves. */
typedef struct LeftOut
{
  double errors[N_WITHOUT][MAX_RATES], left[N_WITHOUT][MAX_RATES];
} LeftOut;

/* As a calibration predicts them that may have seen them; of those that are
 * held back, too. */
void errors_of (const Rates *rates,
                const QmCalibration *calibration,
                double errors[MAX_RATES]);

/* Told after each fit: errors of what it has seen, and of what it has not,
 * before what is known of models; NaN of all else. */
typedef void (*LeftOutFitted) (const Rates *rates,
                               const double seen[MAX_RATES],
                               const double unseen[MAX_RATES],
                               void *data);

/* Fits without each in turn that has at least so many rates, from `prior`, so
 * that constants end there of which what is left tells nothing.  NaN for the
 * others.  `fitted` may be NULL. */
void leave_out (const Rates *rates,
                const QmCalibration *prior,
                int without,
                size_t at_least,
                double errors[MAX_RATES],
                double left[MAX_RATES],
                LeftOutFitted fitted,
                void *data);

/* Writes them, as CSV, to standard output, and reads such a file again; false,
 * with a word on stderr, where it is not about just these rates. */
void left_out_write (const Rates *rates, const LeftOut *left_out);
bool left_out_read (const char *path, const Rates *rates, LeftOut *left_out);

#endif
