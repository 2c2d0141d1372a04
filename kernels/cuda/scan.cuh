/* SPDX-License-Identifier: Apache-2.0 */

/* What the selective scan and its gradient share.
 *
 * A block has some channels of a sequence, four for each of its warps, and goes
 * through the rows in tiles of 64.  In a warp, lane 4 j + c has channel c, and
 * of the tile the eight rows from 8 j on.  What belongs to a row and a channel
 * is thus worked out once and stays in registers, while the states of the
 * channel are gone through one by one; each is a recurrence over the rows,
 * which the eight lanes of a channel solve together: every lane over its own
 * rows from nothing, then over the lanes by doubling, then over its own rows
 * from what was before them.  Rows that a tile lacks have a time step of zero,
 * which leaves states as they are. */

#ifndef QM_KERNELS_CUDA_SCAN_CUH
#define QM_KERNELS_CUDA_SCAN_CUH

#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/cuda-workspace.h"

#include <cuda_pipeline.h>

namespace qm_scan
{

constexpr int steps = 8; /* rows of a lane */
constexpr int rows = QM_CUDA_SCAN_ROWS;
constexpr int channels = QM_CUDA_SCAN_CHANNELS;
constexpr int threads = channels / 4 * 32;
constexpr int pitch = rows + 4; /* of b and c in shared memory */
constexpr float log2_e = 1.44269504088896341f;
constexpr float ln_2 = 0.69314718055994531f;

static_assert (rows == 8 * steps, "eight lanes share a tile");

struct Matrix
{
  QmArray array;
  int64_t step;
};

static inline Matrix
matrix (const QmTensor &tensor)
{
  return { qm_array (tensor), qm_row_stride (tensor) };
}

/* What a scan and its gradient are given. */
struct Inputs
{
  Matrix u, dt, b, c, z;
  const float *a, *skip, *bias;
  int64_t width;
  int columns, n;
  bool vectors; /* tiles move 16 bytes at a time */
};

/* `in` as the scan has it. */
static inline Inputs
inputs (const QmOpCall *call, const QmTensor *in)
{
  return {
    .u = matrix (in[0]),
    .dt = matrix (in[1]),
    .b = matrix (in[3]),
    .c = matrix (in[4]),
    .z = matrix (in[7]),
    .a = (const float *) in[2].data,
    .skip = (const float *) in[5].data,
    .bias = qm_tensor_present (&in[6]) ? (const float *) in[6].data : nullptr,
    .width = call->attributes.width,
    .columns = (int) in[2].shape[0],
    .n = (int) in[2].shape[1],
  };
}

/* A tile of a matrix in shared memory, in elements of S.  Rows of different
 * lanes are in different banks. */
template <class S> struct Tile
{
  static constexpr int pad = 16 / (int) sizeof (S);
  static constexpr int size = rows * channels + rows / steps * pad;

  static __device__ __forceinline__ int
  at (int row, int channel)
  {
    return row * channels + row / steps * pad + channel;
  }
};

/* Begins to copy `count` rows of a matrix, from `row` on, to a tile; the rest
 * of the tile becomes zero. */
template <class S>
__device__ __forceinline__ void
stage (S *tile,
       const Matrix &from,
       int64_t row,
       int count,
       int first,
       int columns,
       bool vectors)
{
  constexpr int width = 16 / (int) sizeof (S);
  constexpr int across = channels / width;

  if (!from.array)
    return;
  if (vectors)
    for (int i = (int) threadIdx.x; i < rows * across; i += threads)
      {
        int r = i / across, c = i % across * width;
        bool inside = r < count && first + c < columns;
        const S *data = (const S *) from.array.data;

        if (inside)
          data += (row + r) * from.step + first + c;
        __pipeline_memcpy_async (&tile[Tile<S>::at (r, c)], data, 16,
                                 inside ? 0 : 16);
      }
  else
#pragma unroll 1
    for (int i = (int) threadIdx.x; i < rows * channels; i += threads)
      {
        int r = i / channels, c = i % channels;
        bool inside = r < count && first + c < columns;

        tile[Tile<S>::at (r, c)] = qm_from_float<S> (
            inside ? qm_load (from.array, (row + r) * from.step + first + c)
                   : 0);
      }
}

/* Writes the rows of a tile that there are. */
template <class S>
__device__ __forceinline__ void
unstage (const S *tile,
         const Matrix &to,
         int64_t row,
         int count,
         int first,
         int columns,
         bool vectors)
{
  constexpr int width = 16 / (int) sizeof (S);
  constexpr int across = channels / width;

  if (!to.array)
    return;
  if (vectors)
    for (int i = (int) threadIdx.x; i < rows * across; i += threads)
      {
        int r = i / across, c = i % across * width;

        if (r < count && first + c < columns)
          *(uint4 *) ((S *) to.array.data + (row + r) * to.step + first + c) =
              *(const uint4 *) &tile[Tile<S>::at (r, c)];
      }
  else
#pragma unroll 1
    for (int i = (int) threadIdx.x; i < rows * channels; i += threads)
      {
        int r = i / channels, c = i % channels;

        if (r < count && first + c < columns)
          qm_store (to.array, (row + r) * to.step + first + c,
                    qm_to_float (tile[Tile<S>::at (r, c)]));
      }
}

/* An element as it is in memory, and what it is. */
__device__ __forceinline__ unsigned
load_raw (QmType type, const void *data, int64_t index)
{
  return type == QM_TYPE_F32 ? ((const unsigned *) data)[index]
                             : ((const unsigned short *) data)[index];
}

__device__ __forceinline__ float
raw_value (QmType type, unsigned raw)
{
  return type == QM_TYPE_F32 ? __uint_as_float (raw)
         : type == QM_TYPE_F16
             ? __half2float (__ushort_as_half ((unsigned short) raw))
             : __uint_as_float (raw << 16);
}

/* b and c of a tile for `slab` states, on their way through registers: as they
 * are in memory, because to convert them is to wait for them. */
template <int slab> struct Slab
{
  static constexpr int each = slab * rows / threads; /* of b, and of c */
  static constexpr int size = 2 * slab * pitch; /* floats of shared memory */
  unsigned x[2][each];

  __device__ __forceinline__ void
  fetch (const Inputs &in, int64_t row, int count, int state)
  {
    int n = state + (int) threadIdx.x % slab, first = (int) threadIdx.x / slab;

#pragma unroll
    for (int k = 0; k < 2; k++)
      {
        const Matrix &from = k == 0 ? in.b : in.c;
        int64_t at = (row + first) * from.step + n;
        bool wide = from.array.type == QM_TYPE_F32;

#pragma unroll
        for (int i = 0; i < each; i++)
          x[k][i] = 0;
#pragma unroll
        for (int i = 0; i < each; i++)
          if (!wide && first + i * (threads / slab) < count && n < in.n)
            x[k][i] = load_raw (QM_TYPE_BF16, from.array.data,
                                at + i * (threads / slab) * from.step);
        if (wide)
#pragma unroll
          for (int i = 0; i < each; i++)
            if (first + i * (threads / slab) < count && n < in.n)
              x[k][i] = load_raw (QM_TYPE_F32, from.array.data,
                                  at + i * (threads / slab) * from.step);
      }
  }

  __device__ __forceinline__ void
  put (const Inputs &in, float *shared) const
  {
    float *to =
        shared + (int) threadIdx.x % slab * pitch + (int) threadIdx.x / slab;

#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
      for (int i = 0; i < each; i++)
        to[k * slab * pitch + i * (threads / slab)] =
            raw_value (k == 0 ? in.b.array.type : in.c.array.type, x[k][i]);
  }
};

/* What a lane has of b (or of c, `slab` states further) for a state. */
__device__ __forceinline__ void
load_steps (const float *from, float (&x)[steps])
{
  static_assert (steps == 8, "two vectors");
  float4 low = *(const float4 *) from, high = *(const float4 *) (from + 4);

  x[0] = low.x;
  x[1] = low.y;
  x[2] = low.z;
  x[3] = low.w;
  x[4] = high.x;
  x[5] = high.y;
  x[6] = high.z;
  x[7] = high.w;
}

/* log (1 + exp (x)) = max (x, 0) + log (1 + t) with t = exp (-|x|), and the
 * last as t times a polynomial: a fit of log (1 + t) / t on [0, 1] that is best
 * in the largest relative error, 1.2e-7 in fp32. */
__device__ __forceinline__ float
softplus (float x)
{
  float t = qm_power_of_2 (-log2_e * fabsf (x));
  float sum = fmaf (t, -0.003244021f, 0.019851444f);

  sum = fmaf (t, sum, -0.0569595f);
  sum = fmaf (t, sum, 0.10603651f);
  sum = fmaf (t, sum, -0.15305591f);
  sum = fmaf (t, sum, 0.19675939f);
  sum = fmaf (t, sum, -0.24954134f);
  sum = fmaf (t, sum, 0.33329964f);
  sum = fmaf (t, sum, -0.499999f);
  sum = fmaf (t, sum, 1);
  return fmaf (t, sum, fmaxf (x, 0));
}

/* Its slope. */
__device__ __forceinline__ float
softplus_slope (float x)
{
  return x > 20 ? 1 : __fdividef (1, 1 + __expf (-x));
}

/* The rates of the block's channels times log2 e, [n, channels]. */
__device__ __forceinline__ void
load_rates (const Inputs &in, int first, float *rates)
{
  for (int i = (int) threadIdx.x; i < in.n * channels; i += threads)
    {
      int channel = first + i % channels, n = i / channels;

      rates[i] = channel < in.columns
                     ? -expf (in.a[(int64_t) channel * in.n + n]) * log2_e
                     : 0;
    }
}

/* Whether tiles of these matrices can be moved as vectors of S. */
static inline bool
moves_vectors (const QmTensor *const *tensors, int count, QmType type)
{
  for (int i = 0; i < count; i++)
    if (qm_tensor_present (tensors[i])
        && (tensors[i]->type != type
            || !qm_cuda_vectors (tensors[i], 16 / (int) qm_type_size (type))))
      return false;
  return true;
}

/* The scan of `call`, which has `in` as its inputs, with states kept every
 * `chunk` rows and, where it is there, y; in scan.cu. */
QmStatus run (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              const QmTensor *in,
              const QmTensor *y,
              float *states,
              int64_t chunk,
              QmError *error);

} /* namespace qm_scan */

#endif
