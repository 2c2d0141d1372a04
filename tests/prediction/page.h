/* SPDX-License-Identifier: Apache-2.0 */

/* The tables and the plot of pricing/PREDICTION.md. */

#ifndef QM_TESTS_PAGE_H
#define QM_TESTS_PAGE_H

#include "tests/prediction/basis.h"
#include "tests/prediction/clusters.h"
#include "tests/prediction/left-out.h"

#include <stdio.h>

/* Puts every table of `page` between its lines <!-- made: NAME --> and
 * <!-- end -->, and writes `plot`; or, to check, says on stderr which of both
 * is not as it would be.  False then, and where a file cannot be read or
 * written.
 */
bool page_make (const Rates *rates,
                const QmCalibration *calibration,
                const QmCalibration *prior,
                const double *fitted,
                const double *calibrated,
                const LeftOut *left_out,
                const Clusters *clusters,
                const Basis *basis,
                const char *page,
                const char *plot,
                bool check);

/* Writes the plot of predicted over measured time of a sample, both
 * logarithmic: without the source, and with a ring what is held back. */
void page_plot (FILE *out,
                const Rates *rates,
                const double *fitted,
                const LeftOut *left_out);

#endif
