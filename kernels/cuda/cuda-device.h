/* SPDX-License-Identifier: Apache-2.0 */

/* NVIDIA GPUs as devices; only for kernels/, where CUDA was built in. */

#ifndef QM_KERNELS_CUDA_CUDA_DEVICE_H
#define QM_KERNELS_CUDA_CUDA_DEVICE_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

  /* The GPUs that can be opened, as qm_device_list() has them: fills up to
   * `max`, returns how many there are.  `note` says why there is none, or is
   * left as it was. */
  size_t
  qm_cuda_list (QmDeviceInfo *infos, size_t max, char *note, size_t note_size);

  /* Opens "cuda:N"; `id` begins with "cuda:". */
  QmStatus qm_cuda_open (const char *id, QmDevice **device, QmError *error);

  /* Whether this program has code that the current device can run. */
  cudaError_t qm_cuda_probe (void);

#ifdef __cplusplus
}
#endif

#endif
