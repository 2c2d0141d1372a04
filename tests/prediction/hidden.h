/* SPDX-License-Identifier: Apache-2.0 */

/* What our own engine's times are predicted to be where nothing was measured of
 * their model: each of the catalog's times on one GPU, predicted by a fit
 * without any rate of the model, and by one without any of its family. */

#ifndef QM_TESTS_HIDDEN_H
#define QM_TESTS_HIDDEN_H

#include "tests/prediction/rates.h"

/* Adds to a calibration what was measured of GPUs themselves (data/speeds). */
typedef void (*HiddenProbes) (QmCalibration *calibration, const void *data);

/* Fits from `prior` and prints a line for each time, by `calibration` as it is
 * shipped too, and tables of their errors in percent, of each GPU, of models of
 * images and of text: half, nine of ten and all within; the mean; and how many
 * are in the interval of the level. */
void hidden_print (const Rates *rates,
                   const QmCalibration *prior,
                   const QmCalibration *calibration,
                   HiddenProbes probes,
                   const void *data);

#endif
