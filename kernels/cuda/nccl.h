/* SPDX-License-Identifier: Apache-2.0 */

/* The part of NCCL that we call, as its public reference (NVIDIA Collective
 * Communication Library, API) and the header nccl.h of versions 2.14 to 2.28
 * describe it: NVIDIA's header need not be installed.  Only for kernels/cuda/.
 */

#ifndef QM_KERNELS_CUDA_NCCL_H
#define QM_KERNELS_CUDA_NCCL_H

#include "kernels/cuda/cuda-library.h"

#include <cuda_runtime_api.h>

typedef struct ncclComm *ncclComm_t;

/* NCCL_UNIQUE_ID_BYTES; passed by value. */
typedef struct ncclUniqueId
{
  char internal[128];
} ncclUniqueId;

/* ncclResult_t; the values that are told apart. */
enum
{
  NCCL_SUCCESS = 0,
  NCCL_IN_PROGRESS = 7 /* since 2.14 */
};

/* ncclDataType_t, ncclRedOp_t. */
enum
{
  NCCL_UINT8 = 1,
  NCCL_FLOAT16 = 6,
  NCCL_FLOAT32 = 7,
  NCCL_BFLOAT16 = 9, /* since 2.10 */
  NCCL_SUM = 0
};

/* ncclConfig_t as it was in 2.14, whose version it carries: newer ones take it
 * and have what they added since as it is by default.  The number is
 * NCCL_API_MAGIC. */
typedef struct QmNcclConfig
{
  size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking;
} QmNcclConfig;

#define NCCL_CONFIG_MAGIC   0xcafebeefU
#define NCCL_CONFIG_VERSION 21400U

/* The functions, once the library is found. */
typedef struct QmNccl
{
  QmCudaLibrary library; /* without a handle the functions are NULL */
  int (*get_unique_id) (ncclUniqueId *id);
  int (*init) (ncclComm_t *comm,
               int ranks,
               ncclUniqueId id,
               int rank,
               QmNcclConfig *config);
  int (*finalize) (ncclComm_t comm);
  int (*destroy) (ncclComm_t comm);
  int (*abort) (ncclComm_t comm);
  int (*async_error) (ncclComm_t comm, int *code);
  const char *(*error_string) (int code);
  const char *(*last_error) (ncclComm_t comm);
  int (*all_reduce) (const void *from,
                     void *to,
                     size_t count,
                     int type,
                     int sum,
                     ncclComm_t comm,
                     cudaStream_t stream);
  int (*reduce_scatter) (const void *from,
                         void *to,
                         size_t count,
                         int type,
                         int sum,
                         ncclComm_t comm,
                         cudaStream_t stream);
  int (*all_gather) (const void *from,
                     void *to,
                     size_t count,
                     int type,
                     ncclComm_t comm,
                     cudaStream_t stream);
} QmNccl;

/* Looks for the library in the places of this process, as
 * qm_cuda_library_find() does. */
QmStatus qm_nccl_load (QmNccl *nccl, QmError *error);

#endif
