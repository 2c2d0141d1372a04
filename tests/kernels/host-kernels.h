/* SPDX-License-Identifier: Apache-2.0 */

/* What the kernels of the host are called in listings. */

#ifndef QM_TESTS_KERNELS_HOST_KERNELS_H
#define QM_TESTS_KERNELS_HOST_KERNELS_H

#include "kernels/host/host-adam.h"

static inline const char *
host_kernel_name (int kernel)
{
  static const char *const names[QM_HOST_KERNEL_COUNT] = {
    [QM_HOST_SCALAR] = "scalar",
    [QM_HOST_AVX2] = "AVX2",
    [QM_HOST_AVX512] = "AVX-512",
  };

  return names[kernel];
}

#endif
