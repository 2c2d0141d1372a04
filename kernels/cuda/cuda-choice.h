/* SPDX-License-Identifier: Apache-2.0 */

/* Which of two ways to compute a product is taken; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_CUDA_CHOICE_H
#define QM_KERNELS_CUDA_CUDA_CHOICE_H

#include "kernels/cuda/hopper-product.h"

#ifdef __cplusplus
extern "C"
{
#endif

  QmStatus qm_cuda_choices_new (QmCudaChoices **choices, QmError *error);
  void qm_cuda_choices_free (QmCudaChoices *choices);

  /* How the call, whose product is `own`, is to be run: with that product, or
   * as `library` does it.  When a shape is seen for the first time, both are
   * run and timed, which only writes what the call writes; unless the stream is
   * being captured or one of them cannot do it, which is then not chosen.  A
   * call that has to be deterministic takes our own, which times cannot change.
   */
  bool qm_cuda_choose_own (QmCudaContext *context,
                           cudaStream_t stream,
                           const QmHopperProduct *own,
                           QmCudaOperator library,
                           const QmOpCall *call);

#ifdef __cplusplus
}
#endif

#endif
