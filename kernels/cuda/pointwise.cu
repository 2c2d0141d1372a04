/* SPDX-License-Identifier: Apache-2.0 */

/* Activations and dropout: each element on its own. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct Pointwise
{
  QmRows a, b, y; /* b: the argument of the activation, else NULL */
  QmDropout dropout;
  QmFunction function;
  int64_t n;
};

/* exp (-x x / 2) and erf (x / sqrt (2)) by formula 7.1.26 of Abramowitz and
 * Stegun (1964), good to 2e-7; the exponential is needed for both the function
 * and its slope. */
__device__ __forceinline__ float
normal_erf (float x, float &bell)
{
  float z = fabsf (x) * 0.70710678118654752f;
  float t = __fdividef (1, fmaf (0.3275911f, z, 1));
  float sum = fmaf (t, 1.061405429f, -1.453152027f);

  bell = __expf (-z * z);
  sum = fmaf (t, sum, 1.421413741f);
  sum = fmaf (t, sum, -0.284496736f);
  sum = fmaf (t, sum, 0.254829592f);
  return copysignf (fmaf (-t * sum, bell, 1), x);
}

__device__ __forceinline__ float
hyperbolic_tangent (float x)
{
  return 1 - __fdividef (2, 1 + __expf (2 * fminf (x, 40)));
}

__device__ __forceinline__ float
inner_of_tanh (float x)
{
  return 0.79788456080286536f * x * fmaf (0.044715f * x, x, 1);
}

__device__ __forceinline__ float
activate (QmFunction function, float x)
{
  float bell;

  switch (function)
    {
    case QM_FUNCTION_GELU:
      return 0.5f * x * (1 + normal_erf (x, bell));
    case QM_FUNCTION_GELU_TANH:
      return 0.5f * x * (1 + hyperbolic_tangent (inner_of_tanh (x)));
    case QM_FUNCTION_TANH:
      return hyperbolic_tangent (x);
    default:
      return qm_function (function, x);
    }
}

__device__ __forceinline__ float
slope (QmFunction function, float x)
{
  float t, bell;

  switch (function)
    {
    case QM_FUNCTION_GELU:
      t = normal_erf (x, bell);
      return fmaf (x * 0.39894228040143268f, bell, 0.5f * (1 + t));
    case QM_FUNCTION_GELU_TANH:
      t = hyperbolic_tangent (inner_of_tanh (x));
      return 0.5f * (1 + t)
             + 0.5f * x * (1 - t * t) * 0.79788456080286536f
                   * fmaf (3 * 0.044715f * x, x, 1);
    case QM_FUNCTION_TANH:
      t = hyperbolic_tangent (x);
      return 1 - t * t;
    default:
      return qm_function_slope (function, x);
    }
}

/* The switch is outside of the loop over elements. */
template <bool backward>
__device__ __forceinline__ void
apply (QmFunction function, const float (&x)[QM_GROUP], float (&y)[QM_GROUP])
{
#define FOR_EACH(name)                                                \
  case name:                                                          \
    _Pragma ("unroll") for (int i = 0; i < QM_GROUP; i++) y[i] =      \
        backward ? y[i] * slope (name, x[i]) : activate (name, x[i]); \
    break

  switch (function)
    {
      FOR_EACH (QM_FUNCTION_GELU);
      FOR_EACH (QM_FUNCTION_GELU_TANH);
      FOR_EACH (QM_FUNCTION_RELU);
      FOR_EACH (QM_FUNCTION_SILU);
      FOR_EACH (QM_FUNCTION_TANH);
      FOR_EACH (QM_FUNCTION_NONE);
    }
#undef FOR_EACH
}

enum Kind
{
  ACTIVATION,
  ACTIVATION_BACKWARD,
  DROPOUT
};

template <Kind kind, bool whole>
__global__ void __launch_bounds__ (256)
    pointwise_kernel (const __grid_constant__ Pointwise work)
{
  constexpr int ahead = 2;
  int64_t first = ((int64_t) blockIdx.x * blockDim.x + threadIdx.x) * QM_GROUP;
  int64_t step = (int64_t) gridDim.x * blockDim.x * QM_GROUP;

  for (int64_t at = first; at < work.n; at += ahead * step)
    {
      QmRaw a[ahead], b[ahead];

#pragma unroll
      for (int u = 0; u < ahead; u++)
        {
          int64_t i = at + u * step;
          bool all = whole && i + QM_GROUP <= work.n;

          if (i >= work.n)
            continue;
          a[u] = all ? qm_fetch (work.a.data, i, work.a.type)
                     : qm_fetch_part (work.a.data, i, work.n, work.a.type);
          if (kind == ACTIVATION_BACKWARD)
            b[u] = all ? qm_fetch (work.b.data, i, work.b.type)
                       : qm_fetch_part (work.b.data, i, work.n, work.b.type);
        }
#pragma unroll
      for (int u = 0; u < ahead; u++)
        {
          int64_t i = at + u * step;
          float x[QM_GROUP], y[QM_GROUP];

          if (i >= work.n)
            continue;
          qm_unpack (a[u], work.a.type, y);
          if (kind == ACTIVATION_BACKWARD)
            {
              qm_unpack (b[u], work.b.type, x);
              apply<true> (work.function, x, y);
            }
          else if (kind == ACTIVATION)
            apply<false> (work.function, y, y);
          else if (work.dropout.rng != nullptr)
            qm_drop_group<true> (work.dropout, i, y);
          if (whole && i + QM_GROUP <= work.n)
            qm_put (work.y.data, i, work.y.type, y);
          else
            qm_put_part (work.y.data, i, work.n, work.y.type, y);
        }
    }
}

/* Dropout of attention weights.  A warp has a tile of 16 x 16, and a lane of it
 * the eight elements of a block of bits: pairs of neighbours in two rows and in
 * two halves of columns, see qm_tile_block(). */
struct Tiles
{
  QmArray x, y;
  QmDropout dropout;
  int64_t lanes, size;
  int across; /* tiles of a row, and of a column */
  bool pairs; /* can be accessed at once */
};

__device__ __forceinline__ uint2
fetch_pair (const QmArray &x, int64_t at, bool pairs, bool second)
{
  uint2 raw = {};

  if (x.type == QM_TYPE_F32)
    {
      raw.x = ((const uint32_t *) x.data)[at];
      raw.y = second ? ((const uint32_t *) x.data)[at + 1] : 0;
    }
  else if (pairs)
    raw.x = *(const uint32_t *) ((const uint16_t *) x.data + at);
  else
    raw.x =
        ((const uint16_t *) x.data)[at]
        | (second ? (uint32_t) ((const uint16_t *) x.data)[at + 1] << 16 : 0);
  return raw;
}

__device__ __forceinline__ void
put_pair (
    const QmArray &y, int64_t at, bool pairs, bool second, float a, float b)
{
  if (y.type == QM_TYPE_F32)
    {
      ((float *) y.data)[at] = a;
      if (second)
        ((float *) y.data)[at + 1] = b;
      return;
    }
  uint32_t word = qm_pack_pair (a, b, y.type);

  if (pairs)
    *(uint32_t *) ((uint16_t *) y.data + at) = word;
  else
    {
      ((uint16_t *) y.data)[at] = (uint16_t) word;
      if (second)
        ((uint16_t *) y.data)[at + 1] = (uint16_t) (word >> 16);
    }
}

__global__ void __launch_bounds__ (256)
    tiles_kernel (const __grid_constant__ Tiles work)
{
  for (int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
       i < work.lanes; i += (int64_t) gridDim.x * blockDim.x)
    {
      int lane = (int) (i % 32), half;
      int64_t tile = i / 32, line = tile / work.across;
      int64_t head = line / work.across;
      int64_t row = (line - head * work.across) * 16 + lane / 4;
      int64_t column = (tile - line * work.across) * 16 + lane % 4 * 2;
      uint32_t block = qm_tile_block (row, column, &half);
      QmRandomBits bits = qm_tile_bits (work.dropout.rng, work.dropout.site,
                                        head, work.size, row, block);
      uint2 raw[4] = {};

#pragma unroll
      for (int p = 0; p < 4; p++)
        if (row + p / 2 * 8 < work.size && column + p % 2 * 8 < work.size)
          raw[p] = fetch_pair (work.x,
                               (head * work.size + row + p / 2 * 8) * work.size
                                   + column + p % 2 * 8,
                               work.pairs, column + p % 2 * 8 + 1 < work.size);
#pragma unroll
      for (int p = 0; p < 4; p++)
        if (row + p / 2 * 8 < work.size && column + p % 2 * 8 < work.size)
          {
            uint32_t word = bits.word[p];
            float a = __uint_as_float (raw[p].x);
            float b = __uint_as_float (raw[p].y);

            if (work.x.type != QM_TYPE_F32)
              qm_unpack_pair (raw[p].x, work.x.type, a, b);
            a = (word & 0xffff) >= work.dropout.threshold
                    ? a * work.dropout.scale
                    : 0;
            b = word >> 16 >= work.dropout.threshold ? b * work.dropout.scale
                                                     : 0;
            put_pair (work.y,
                      (head * work.size + row + p / 2 * 8) * work.size + column
                          + p % 2 * 8,
                      work.pairs, column + p % 2 * 8 + 1 < work.size, a, b);
          }
    }
}

template <Kind kind>
QmStatus
launch (QmCudaContext *context,
        cudaStream_t stream,
        const QmOpCall *call,
        Pointwise work,
        QmError *error)
{
  unsigned grid =
      qm_grid (context, (work.n + 2 * QM_GROUP - 1) / (2 * QM_GROUP), 256);
  bool whole = (uintptr_t) work.a.data % 16 == 0
               && (uintptr_t) work.b.data % 16 == 0
               && (uintptr_t) work.y.data % 16 == 0;

  if (whole)
    pointwise_kernel<kind, true><<<grid, 256, 0, stream>>> (work);
  else
    pointwise_kernel<kind, false><<<grid, 256, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
drop_tiles (QmCudaContext *context,
            cudaStream_t stream,
            const QmOpCall *call,
            const QmDropout &dropout,
            QmError *error)
{
  const QmTensor &x = call->inputs[0], &y = call->outputs[0];
  int64_t across = (x.shape[3] + 15) / 16;
  Tiles work = { .x = qm_array (x),
                 .y = qm_array (y),
                 .dropout = dropout,
                 .lanes = x.shape[0] * x.shape[1] * across * across * 32,
                 .size = x.shape[3],
                 .across = (int) across,
                 .pairs = qm_cuda_vectors (&x, 2) && qm_cuda_vectors (&y, 2) };

  tiles_kernel<<<qm_grid (context, work.lanes, 256), 256, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

Pointwise
pointwise (const QmOpCall *call)
{
  Pointwise work = {};

  work.a = qm_dense_rows (call->inputs[0], 0);
  work.y = qm_dense_rows (call->outputs[0], 0);
  work.function = call->attributes.activation;
  work.n = qm_tensor_elements (&call->inputs[0]);
  return work;
}

} /* namespace */

QmStatus
qm_cuda_activation (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  return launch<ACTIVATION> (context, stream, call, pointwise (call), error);
}

QmStatus
qm_cuda_activation_backward (QmCudaContext *context,
                             cudaStream_t stream,
                             const QmOpCall *call,
                             QmError *error)
{
  Pointwise work = pointwise (call);

  work.b = qm_dense_rows (call->inputs[1], 0);
  return launch<ACTIVATION_BACKWARD> (context, stream, call, work, error);
}

QmStatus
qm_cuda_dropout (QmCudaContext *context,
                 cudaStream_t stream,
                 const QmOpCall *call,
                 QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  Pointwise work = pointwise (call);

  work.dropout = qm_dropout (attributes, attributes.site, call->inputs[1]);
  if (!attributes.tiled || work.dropout.rng == nullptr)
    return launch<DROPOUT> (context, stream, call, work, error);
  return drop_tiles (context, stream, call, work.dropout, error);
}
