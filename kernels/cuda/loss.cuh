/* SPDX-License-Identifier: Apache-2.0 */

/* What both kernels of the loss share. */

#ifndef QM_KERNELS_CUDA_LOSS_CUH
#define QM_KERNELS_CUDA_LOSS_CUH

#include "kernels/cuda/activation.cuh"

#include <float.h>

namespace qm_loss
{

const float log2_e = 1.44269504088896341f;

struct Labels
{
  const int32_t *labels;
  int64_t length, first; /* the row of all that row 0 of the logits is */
  bool shift;

  /* What row t of the logits has to predict. */
  __device__ __forceinline__ int32_t
  at (int64_t t) const
  {
    int64_t s;

    t += first;
    if (!shift)
      return labels[t];
    s = (t | length) >> 32 == 0 ? (uint32_t) t % (uint32_t) length : t % length;
    return s == length - 1 ? QM_IGNORE_LABEL : labels[t + 1];
  }
};

struct Loss
{
  QmRows logits, dlogits;
  Labels labels;
  const float *weight;
  float *losses;
  int classes, columns; /* columns: with padding */
  bool aligned, kept;
  float cap, z_loss;
};

/* tanh (x / cap) of a logit.  Errors of the fast one are far below the rounding
 * of logits to 16 bits. */
__device__ __forceinline__ float
cap_share (const Loss &loss, float x)
{
  return loss.logits.type == QM_TYPE_F32 ? tanhf (x / loss.cap)
                                         : qm_tanh (__fdividef (x, loss.cap));
}

__device__ __forceinline__ void
put_gradients (const Loss &loss,
               char *row,
               int column,
               const float (&x)[QM_GROUP])
{
  if (loss.aligned && column >= 0 && column + QM_GROUP <= loss.columns)
    qm_put (row, column, loss.dlogits.type, x);
  else
    qm_put_part (row, column, loss.columns, loss.dlogits.type, x);
}

/* The whole gradient of a row that is ignored or has no valid label. */
template <int threads>
__device__ __forceinline__ void
write_constant (const Loss &loss, char *row, int first, float value)
{
  for (int column = first; column < loss.columns; column += threads * QM_GROUP)
    {
      float x[QM_GROUP];

#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        x[i] = column + i < loss.classes ? value : 0;
      put_gradients (loss, row, column, x);
    }
}

/* One thread of all that have some of the row `tells` its loss. */
template <int threads>
__device__ __forceinline__ void
write_ignored (
    const Loss &loss, int64_t t, int32_t label, int first, bool tells)
{
  float value = label == QM_IGNORE_LABEL ? 0 : nanf ("");

  if (tells)
    loss.losses[t] = value;
  write_constant<threads> (loss, loss.dlogits.row (t), first, value);
}

} /* namespace */

#endif
