/* SPDX-License-Identifier: Apache-2.0 */

/* The average of weights over updates (QM_OP_AVERAGE), the same on the CPU, on
 * a GPU and for what is offloaded to the host. */

#ifndef QM_KERNELS_AVERAGE_H
#define QM_KERNELS_AVERAGE_H

#include "kernels/operators.h"
#include "kernels/random.h"

/* Whether an update changes the average; one that begins it is the first. */
static inline QM_HOST_DEVICE bool
qm_average_is_due (const float *state, bool first)
{
  return state[QM_STATE_NOT_FINITE] == 0
         && (!first || state[QM_STATE_UPDATES] < 1.5f);
}

/* What is added is a difference: of a weight that rests, nothing is lost to
 * rounding. */
static inline QM_HOST_DEVICE float
qm_average_next (float average, float weight, float decay)
{
  return average + (1 - decay) * (weight - average);
}

#endif
