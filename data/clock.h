/* SPDX-License-Identifier: Apache-2.0 */

/* How long things take. */

#ifndef QM_DATA_CLOCK_H
#define QM_DATA_CLOCK_H

/* Seconds of a clock that nobody sets, from a point that says nothing: for
 * differences. */
double qm_clock (void);

#endif
