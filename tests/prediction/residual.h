/* SPDX-License-Identifier: Apache-2.0 */

/* Whether what fits leave can be told from what they have seen: by level and
 * family, by level and type of GPU.
 *
 * A group's residual is the mean of its sources' means, m of n sources, shrunk
 * by how much is known (empirical Bayes; Efron and Morris 1973):
 *
 *   residual = m t^2 / (t^2 + s^2 / n)
 *
 * with s^2 the variance of sources' means within a group, over all groups with
 * several, and t^2 that of groups: the mean of m^2 - s^2 / n, or 0. */

#ifndef QM_TESTS_RESIDUAL_H
#define QM_TESTS_RESIDUAL_H

#include "tests/prediction/left-out.h"

/* Fits without each source, type of GPU and model in turn, takes the residuals
 * of the groups from what each fit has seen, and prints a table of what that
 * makes of the mean size of the errors of what it has not, each source of each
 * level weighing the same, in percent. */
void residual_print (const Rates *rates, const QmCalibration *prior);

#endif
