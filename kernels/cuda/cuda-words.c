/* SPDX-License-Identifier: Apache-2.0 */

/* Words of the host's memory that streams write and wait for, which the driver
 * can and the runtime cannot. */

#include "kernels/cuda/cuda-stream.h"

#include <cuda.h>
#include <string.h>

typedef CUresult (*WordFunction) (CUstream stream,
                                  CUdeviceptr word,
                                  cuuint32_t value,
                                  unsigned flags);

static cudaError_t
find_word_function (const char *name, WordFunction *function)
{
  enum cudaDriverEntryPointQueryResult found;
  void *entry = NULL;
  cudaError_t code =
      cudaGetDriverEntryPointByVersion (name, &entry, 12000, cudaEnableDefault,
                                        &found);

  if (code != cudaSuccess)
    return code;
  if (found != cudaDriverEntryPointSuccess || entry == NULL)
    return cudaErrorInsufficientDriver;
  memcpy (function, &entry, sizeof entry);
  return cudaSuccess;
}

cudaError_t
qm_cuda_stream_word (cudaStream_t stream,
                     uint32_t *word,
                     uint32_t value,
                     bool until)
{
  void *address;
  WordFunction function;
  cudaError_t code = cudaHostGetDevicePointer (&address, word, 0);

  if (code == cudaSuccess)
    code = find_word_function (until ? "cuStreamWaitValue32"
                                     : "cuStreamWriteValue32",
                               &function);
  if (code != cudaSuccess)
    return code;
  if (function ((CUstream) stream, (CUdeviceptr) address, value,
                until ? CU_STREAM_WAIT_VALUE_EQ : CU_STREAM_WRITE_VALUE_DEFAULT)
      != CUDA_SUCCESS)
    return cudaErrorStreamCaptureUnsupported;
  return cudaSuccess;
}
