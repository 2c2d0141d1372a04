/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPUs there are kernels for; plain C, compiled also where no GPU can be
 * used. */

#ifndef QM_KERNELS_CUDA_CUDA_SUPPORT_H
#define QM_KERNELS_CUDA_CUDA_SUPPORT_H

#include "kernels/device.h"

/* Says in `trouble` why a GPU of that name and capability cannot be used, or
 * nothing, and its `cause`.  `compiled` lists what kernels were compiled for,
 * as "80 86 90a". */
void qm_cuda_find_trouble (QmDeviceInfo *info, const char *compiled);

/* As what a GPU of that capability runs: itself, but 75 where its code is made
 * from that for 7.5, which has no bf16. */
int qm_cuda_architecture (int capability, const char *compiled);

/* Whether such a GPU multiplies numbers of a type, fp32 as TF32 or not. */
bool qm_cuda_multiplies (int architecture, QmType type, bool tf32);

/* Whether it runs kernels with the instructions of Hopper, 9.0a.  Nothing else
 * chooses between these and the portable ones, so a device that was opened as
 * an older one runs what that one would. */
bool qm_cuda_is_hopper (int architecture);

#endif
