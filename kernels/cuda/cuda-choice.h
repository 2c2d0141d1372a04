/* SPDX-License-Identifier: Apache-2.0 */

/* Which of two ways to compute a product is taken; only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_CUDA_CHOICE_H
#define QM_KERNELS_CUDA_CUDA_CHOICE_H

#include "kernels/cuda/cuda-ops.h"

#ifdef __cplusplus
extern "C"
{
#endif

  QmStatus qm_cuda_choices_new (QmCudaChoices **choices, QmError *error);
  void qm_cuda_choices_free (QmCudaChoices *choices);

  /* How many were made. */
  size_t qm_cuda_choices_count (const QmCudaChoices *choices);

  /* Whether what is fastest for a call with a dimension of `a` is so for one
   * that differs by having `b` there: both are long, and neither much longer
   * than the other. */
  bool qm_cuda_stretched (int64_t a, int64_t b);

  /* One way to run a call. */
  typedef struct QmCudaWay
  {
    QmStatus (*run) (QmCudaContext *context,
                     cudaStream_t stream,
                     const void *what,
                     QmError *error);
    const void *what;
  } QmCudaWay;

  /* What tells shapes of calls apart; all that is not set is zero. */
  typedef struct QmCudaFacts
  {
    int64_t fact[14];
  } QmCudaFacts;

  /* Whether shapes of these facts are known to be run in our own way, without
   * running anything: 1 (also where there is no library), by the library: 0,
   * or not known yet: -1. */
  int qm_cuda_choice (const QmCudaContext *context, const QmCudaFacts *facts);

  /* The same, but where it is not known, both ways are run and timed, which
   * writes what they write; unless the stream is being captured, or one of them
   * cannot do it, which is then not chosen. */
  bool qm_cuda_choose_own (QmCudaContext *context,
                           cudaStream_t stream,
                           const QmCudaFacts *facts,
                           const QmCudaWay *own,
                           const QmCudaWay *library);

#ifdef __cplusplus
}
#endif

#endif
