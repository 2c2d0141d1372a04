/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-blas.h"

#include <limits.h>
#include <string.h>

QmStatus
qm_cuda_blas_load (QmCudaBlas *blas, QmError *error)
{
  const QmCudaSymbol symbols[] = {
    { "cublasLtGetStatusString", &blas->status_string },
    { "cublasLtCreate", &blas->create },
    { "cublasLtDestroy", &blas->destroy },
    { "cublasLtMatrixLayoutCreate", &blas->layout_create },
    { "cublasLtMatrixLayoutDestroy", &blas->layout_destroy },
    { "cublasLtMatrixLayoutSetAttribute", &blas->layout_set },
    { "cublasLtMatmulDescCreate", &blas->description_create },
    { "cublasLtMatmulDescDestroy", &blas->description_destroy },
    { "cublasLtMatmulDescSetAttribute", &blas->description_set },
    { "cublasLtMatmulPreferenceCreate", &blas->preference_create },
    { "cublasLtMatmulPreferenceDestroy", &blas->preference_destroy },
    { "cublasLtMatmulPreferenceSetAttribute", &blas->preference_set },
    { "cublasLtMatmulAlgoGetHeuristic", &blas->propose },
    { "cublasLtMatmulAlgoCheck", &blas->check },
    { "cublasLtMatmul", &blas->multiply },
  };
  QmCudaPlaces places;
  char program[PATH_MAX];

  memset (blas, 0, sizeof *blas);
  qm_cuda_places_here (&qm_cuda_cublaslt, &places, program, sizeof program);
  return qm_cuda_library_find (&qm_cuda_cublaslt, &places, symbols,
                               sizeof symbols / sizeof symbols[0],
                               &blas->library, error);
}
