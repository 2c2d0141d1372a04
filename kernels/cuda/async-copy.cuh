/* SPDX-License-Identifier: Apache-2.0 */

/* Copies from global to shared memory that a thread does not wait for; since
 * compute capability 8.0.  Before, they are done when they are begun. */

#ifndef QM_KERNELS_CUDA_ASYNC_COPY_CUH
#define QM_KERNELS_CUDA_ASYNC_COPY_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* Begins to copy the first `real` of BYTES bytes (4, 8 or 16, both addresses
 * being multiples of it), zeros for the others.  `real` is a multiple of 2. */
template <int BYTES>
static __device__ __forceinline__ void
qm_async_copy (void *shared, const void *global, int real)
{
#if __CUDA_ARCH__ >= 800
  const uint32_t to = (uint32_t) __cvta_generic_to_shared (shared);

  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to),
                 "l"(global), "r"(real)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;\n" ::"r"(to),
                 "l"(global), "r"(real), "n"(BYTES)
                 : "memory");
#else
  uint32_t words[BYTES / 4] = {};

  if (real == BYTES)
    {
      if constexpr (BYTES == 16)
        *(uint4 *) words = *(const uint4 *) global;
      else if constexpr (BYTES == 8)
        *(uint2 *) words = *(const uint2 *) global;
      else
        words[0] = *(const uint32_t *) global;
    }
  else
#pragma unroll
    for (int i = 0; i < BYTES / 2; i++)
      if (2 * i < real)
        words[i / 2] |= (uint32_t) ((const uint16_t *) global)[i]
                        << 16 * (i % 2);
  if constexpr (BYTES == 16)
    *(uint4 *) shared = make_uint4 (words[0], words[1], words[2], words[3]);
  else if constexpr (BYTES == 8)
    *(uint2 *) shared = make_uint2 (words[0], words[1]);
  else
    *(uint32_t *) shared = words[0];
#endif
}

/* What was begun since the last time is a group. */
static __device__ __forceinline__ void
qm_async_commit ()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}

/* Waits for all groups of this thread but the last N. */
template <int N>
static __device__ __forceinline__ void
qm_async_wait ()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
#endif
}

#endif
