/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPUs there are; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_CUDA_LIST_H
#define QM_KERNELS_CUDA_CUDA_LIST_H

#include "kernels/cuda/cuda-ops.h"

/* How many GPUs there are; 0 with the reason, a sentence, in `why`. */
int qm_cuda_count (char *why, size_t size);

/* What can be known of a GPU without using it; `trouble` says whether this
 * program can use it. */
cudaError_t qm_cuda_describe (int ordinal, QmDeviceInfo *info);

#endif
