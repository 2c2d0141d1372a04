/* SPDX-License-Identifier: Apache-2.0 */

/* Activations and their slopes, eight elements at a time. */

#ifndef QM_KERNELS_CUDA_ACTIVATION_CUH
#define QM_KERNELS_CUDA_ACTIVATION_CUH

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/gelu.cuh"

/* Where the exponential is too small for a normal number, it is nothing beside
 * 1. */
static __device__ __forceinline__ float
qm_sigmoid (float x)
{
  return qm_reciprocal (1 + qm_power_of_2 (-1.44269504088896341f * x));
}

static __device__ __forceinline__ float
qm_tanh (float x)
{
  return 1 - __fdividef (2, 1 + __expf (2 * fminf (x, 40)));
}

template <bool narrow>
__device__ __forceinline__ float
qm_activation (QmFunction function, float x)
{
  switch (function)
    {
    case QM_FUNCTION_GELU:
      return qm_gelu (x, narrow);
    case QM_FUNCTION_GELU_TANH:
      return qm_gelu_tanh (x);
    case QM_FUNCTION_RELU:
      return x > 0 ? x : 0;
    case QM_FUNCTION_SILU:
      return x * qm_sigmoid (x);
    case QM_FUNCTION_TANH:
      return qm_tanh (x);
    case QM_FUNCTION_RELU2:
      return x > 0 ? x * x : 0;
    case QM_FUNCTION_QUICK_GELU:
      return x * qm_sigmoid (QM_QUICK_GELU_SLOPE * x);
    default:
      return x;
    }
}

template <bool narrow>
__device__ __forceinline__ float
qm_activation_slope (QmFunction function, float x)
{
  float t;

  switch (function)
    {
    case QM_FUNCTION_GELU:
      return qm_gelu_slope (x, narrow);
    case QM_FUNCTION_GELU_TANH:
      return qm_gelu_tanh_slope (x);
    case QM_FUNCTION_RELU:
      return x > 0 ? 1 : 0;
    case QM_FUNCTION_SILU:
      t = qm_sigmoid (x);
      return t * (1 + x * (1 - t));
    case QM_FUNCTION_TANH:
      t = qm_tanh (x);
      return 1 - t * t;
    case QM_FUNCTION_RELU2:
      return x > 0 ? 2 * x : 0;
    case QM_FUNCTION_QUICK_GELU:
      t = qm_sigmoid (QM_QUICK_GELU_SLOPE * x);
      return t * (1 + QM_QUICK_GELU_SLOPE * x * (1 - t));
    default:
      return 1;
    }
}

template <bool backward, bool narrow, QmFunction function>
__device__ __forceinline__ void
qm_activate_group (const float (&x)[QM_GROUP], float (&y)[QM_GROUP])
{
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    y[i] = backward ? y[i] * qm_activation_slope<narrow> (function, x[i])
                    : qm_activation<narrow> (function, x[i]);
}

/* y = activation (x), or, with `backward`, y = y activation' (x); `type` is
 * that of the result.  The switch is outside of the loop over elements. */
template <bool backward>
__device__ __forceinline__ void
qm_activate (QmFunction function,
             QmType type,
             const float (&x)[QM_GROUP],
             float (&y)[QM_GROUP])
{
  switch (function)
    {
    case QM_FUNCTION_GELU:
      if (type == QM_TYPE_F32)
        qm_activate_group<backward, false, QM_FUNCTION_GELU> (x, y);
      else
        qm_activate_group<backward, true, QM_FUNCTION_GELU> (x, y);
      break;
    case QM_FUNCTION_GELU_TANH:
      qm_activate_group<backward, false, QM_FUNCTION_GELU_TANH> (x, y);
      break;
    case QM_FUNCTION_RELU:
      qm_activate_group<backward, false, QM_FUNCTION_RELU> (x, y);
      break;
    case QM_FUNCTION_SILU:
      qm_activate_group<backward, false, QM_FUNCTION_SILU> (x, y);
      break;
    case QM_FUNCTION_TANH:
      qm_activate_group<backward, false, QM_FUNCTION_TANH> (x, y);
      break;
    case QM_FUNCTION_RELU2:
      qm_activate_group<backward, false, QM_FUNCTION_RELU2> (x, y);
      break;
    case QM_FUNCTION_QUICK_GELU:
      qm_activate_group<backward, false, QM_FUNCTION_QUICK_GELU> (x, y);
      break;
    case QM_FUNCTION_NONE:
      qm_activate_group<backward, false, QM_FUNCTION_NONE> (x, y);
      break;
    }
}

#endif
