/* SPDX-License-Identifier: Apache-2.0 */

/* What the errors of a model's rates have in common, and what follows from
 * those that are known for others (engine/residual.h). */

#ifndef QM_TESTS_MODEL_ERRORS_H
#define QM_TESTS_MODEL_ERRORS_H

#include "tests/prediction/summary.h"

#include <stdio.h>

/* Finds the standard deviations of every level: those that make the errors of
 * rates most likely that are not NaN, were not held back and were trained as
 * their level trains, near those of `prior` where they tell nothing.  The other
 * constants of *calibration stay. */
void find_deviations (const Rates *rates,
                      const double *errors,
                      const QmCalibration *prior,
                      QmCalibration *calibration);

/* Whether a rate may tell something of another, of the same model and level. */
typedef bool (*MayTell) (const Rate *rate, const Rate *other);

bool of_any_place (const Rate *rate, const Rate *other);
bool not_held (const Rate *rate, const Rate *other);

/* What the errors `seen` tell of the rate at an index, of each place the
 * fastest rate's; NaN are not known. */
QmResidual residual_of (const Rates *rates,
                        const QmCalibration *calibration,
                        const double *seen,
                        MayTell may_tell,
                        size_t index);

/* Takes from errors that are not NaN what `seen` tells of them; the share of
 * the width of an interval that this leaves goes to `left`, which may be
 * NULL. */
void correct_errors (const Rates *rates,
                     const QmCalibration *calibration,
                     const double *seen,
                     MayTell may_tell,
                     double *errors,
                     double *left);

/* The errors of rates that others of their model and level may tell of, which
 * were not held back and are of another place, before and after that, and what
 * is left of the widths of their intervals; NaN of all other rates. */
void known_errors (const Rates *rates,
                   const QmCalibration *calibration,
                   const double *errors,
                   double *before,
                   double *after,
                   double *left);

/* Writes what is shipped of them, data/residuals.csv, to `out`. */
void write_residuals (FILE *out, const Rates *rates, const double *errors);

#endif
