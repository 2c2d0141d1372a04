/* SPDX-License-Identifier: Apache-2.0 */

/* Which shapes the CUDA operators take: what launchers, and plans for a GPU
 * that is not here, have to agree on. */

#ifndef QM_KERNELS_CUDA_CUDA_LIMITS_H
#define QM_KERNELS_CUDA_CUDA_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#include "kernels/operators.h"

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
#define QM_CUDA_CONSTANT __host__ __device__ constexpr
#else
#define QM_CUDA_CONSTANT static inline
#endif

/* Bytes of shared memory that a block may have at most, by capability (CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability"). */
QM_CUDA_CONSTANT int
qm_cuda_shared_limit (int architecture)
{
  switch (architecture)
    {
    case 75:
      return 64 << 10;
    case 80:
    case 87:
      return 163 << 10;
    case 86:
    case 89:
    case 120:
    case 121:
      return 99 << 10;
    default:
      return 227 << 10;
    }
}

/* States of a channel of a selective scan, and of a head of a dual scan. */
QM_CUDA_CONSTANT int
qm_cuda_scan_states (int architecture)
{
  int shared = qm_cuda_shared_limit (architecture);

  return shared < 99 << 10 ? 16 : shared < 163 << 10 ? 64 : 128;
}

QM_CUDA_CONSTANT int
qm_cuda_dual_states (int architecture)
{
  return qm_cuda_shared_limit (architecture) < 99 << 10 ? 128 : 256;
}

/* Elements of a row whose norm or softmax a block makes. */
#define QM_CUDA_NORM_COLUMNS    32768
#define QM_CUDA_SOFTMAX_COLUMNS 32760

/* Blocks of a grid beside its first dimension: images, samples, sequences, or
 * heads of all samples. */
#define QM_CUDA_GRID 65535

/* Rows of a head for attention. */
#define QM_CUDA_ROWS (1 << 24)

/* Rows of a head of at most 64 that are so few have a kernel of their own for
 * the gradient, on every GPU, in 16 bits without mask, window and dropout. */
#define QM_CUDA_WHOLE_ROWS 64

/* Whether kernels of attention's gradient for Hopper, in 16 bits and without
 * dropout, turn so many elements of such a head in their end, and leave none to
 * a kernel that follows. */
QM_CUDA_CONSTANT bool
qm_cuda_turns_in_end (int64_t head, int64_t rotary)
{
  return (head == 64 || head == 80 || head == 96 || head == 128 || head == 256)
         && (rotary == head || 4 * rotary == head) && rotary % 16 == 0;
}

#ifdef __cplusplus
extern "C"
{
#endif

  /* Whether attention, or its gradient, is made on tensor cores: all tensors
   * of one type, rows that begin where 16 bytes may, and no fp32 that has to
   * stay so, on a GPU of that architecture. */
  bool qm_cuda_attends_on_tensor_cores (int architecture, const QmOpCall *call);

#ifdef __cplusplus
}
#endif

#endif
