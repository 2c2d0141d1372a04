/* SPDX-License-Identifier: Apache-2.0 */

/* The functions of cuBLASLt that we call, once it is found; only for
 * kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_CUDA_BLAS_H
#define QM_KERNELS_CUDA_CUDA_BLAS_H

#include "kernels/cuda/cuda-library.h"

#include <cublasLt.h>

typedef struct QmCudaBlas
{
  QmCudaLibrary library; /* without a handle the functions are NULL */
  __typeof__ (cublasLtGetStatusString) *status_string;
  __typeof__ (cublasLtCreate) *create;
  __typeof__ (cublasLtDestroy) *destroy;
  __typeof__ (cublasLtMatrixLayoutCreate) *layout_create;
  __typeof__ (cublasLtMatrixLayoutDestroy) *layout_destroy;
  __typeof__ (cublasLtMatrixLayoutSetAttribute) *layout_set;
  __typeof__ (cublasLtMatmulDescCreate) *description_create;
  __typeof__ (cublasLtMatmulDescDestroy) *description_destroy;
  __typeof__ (cublasLtMatmulDescSetAttribute) *description_set;
  __typeof__ (cublasLtMatmulPreferenceCreate) *preference_create;
  __typeof__ (cublasLtMatmulPreferenceDestroy) *preference_destroy;
  __typeof__ (cublasLtMatmulPreferenceSetAttribute) *preference_set;
  __typeof__ (cublasLtMatmulAlgoGetHeuristic) *propose;
  __typeof__ (cublasLtMatmulAlgoCheck) *check;
  __typeof__ (cublasLtMatmul) *multiply;
} QmCudaBlas;

/* Looks for the library in the places of this process, as
 * qm_cuda_library_find() does. */
QmStatus qm_cuda_blas_load (QmCudaBlas *blas, QmError *error);

#endif
