/* SPDX-License-Identifier: Apache-2.0 */

#ifndef QM_TESTS_CALIBRATE_H
#define QM_TESTS_CALIBRATE_H

#include "tests/prediction/basis.h"
#include "tests/prediction/left-out.h"

/* Finds the spread of every level, from errors without the source, the type of
 * GPU and the model: of what is not offloaded, since the constants of the host
 * begin at what was read off those rates, all of one host, and no fit can do
 * without.  A level with few rates on cards has the spread of boards there, and
 * as much more as levels with many; one of whose rates on cards are many, but
 * of one source, has one spread for both. */
void set_spreads (const Rates *rates,
                  const LeftOut *left_out,
                  QmCalibration *calibration);

/* Writes it as data/calibration.csv is, to standard output, with what `basis`
 * says of where those began that did not move. */
void write_calibration (const QmCalibration *calibration,
                        const QmCalibration *prior,
                        const Basis *basis);

#endif
