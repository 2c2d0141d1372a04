/* SPDX-License-Identifier: Apache-2.0 */

#ifndef QM_KERNELS_HOST_HOST_SUM_H
#define QM_KERNELS_HOST_HOST_SUM_H

#include "kernels/tensor.h"

/* Sums `n` arrays of `count` elements of a float type, in fp32 and in their
 * order, rounds once and writes to `to`, which may be one of them. */
void qm_host_sum (
    QmType type, const void *const *from, int n, void *to, size_t count);

#endif
