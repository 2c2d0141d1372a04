/* SPDX-License-Identifier: Apache-2.0 */

/* What NVIDIA's libraries have to know of a device and its streams; only for
 * kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_CUDA_STREAM_H
#define QM_KERNELS_CUDA_CUDA_STREAM_H

#include "kernels/device.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

/* Makes the device the current one of the calling thread. */
QmStatus qm_cuda_enter (QmDevice *device, QmError *error);

/* The stream as CUDA knows it; belongs to it. */
cudaStream_t qm_cuda_stream (const QmStream *stream);

/* Queues writing a word of pinned memory, or waiting until it is that. */
cudaError_t qm_cuda_stream_word (cudaStream_t stream,
                                 uint32_t *word,
                                 uint32_t value,
                                 bool until);

#endif
