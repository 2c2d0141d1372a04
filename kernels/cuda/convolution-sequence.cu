/* SPDX-License-Identifier: Apache-2.0 */

/* Causal convolutions of up to four rows of a sequence, as Mamba has them.
 *
 * A thread has four channels and goes through a piece of a sequence from its
 * first row to its last; the rows before are in registers.  The gradient makes
 * the argument of the activation once more on the way, and for the rows after
 * the piece too, because those of the piece have part in them. */

#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/convolution.cuh"

namespace
{

constexpr int window = 4, width = 4; /* rows, channels of a thread */
constexpr int threads = 128;
constexpr int piece = 128; /* rows */

struct Sequences
{
  QmRows x, dy, add, y;
  QmArray w, bias;
  QmFunction activation;
  float *parts, *bias_parts;
  int channels, taps;
  int64_t length, pieces; /* of a sequence */
  int64_t units;
};

/* Four elements as they are in memory. */
__device__ __forceinline__ uint4
fetch (const QmRows &rows, int64_t row, int column)
{
  const char *at = rows.row (row);
  uint4 raw = {};

  if (rows.type == QM_TYPE_F32)
    raw = *(const uint4 *) (at + column * 4);
  else
    {
      uint2 half = *(const uint2 *) (at + column * 2);

      raw.x = half.x;
      raw.y = half.y;
    }
  return raw;
}

__device__ __forceinline__ void
unpack (const uint4 &raw, QmType type, float (&x)[width])
{
  if (type == QM_TYPE_F32)
    {
      x[0] = __uint_as_float (raw.x);
      x[1] = __uint_as_float (raw.y);
      x[2] = __uint_as_float (raw.z);
      x[3] = __uint_as_float (raw.w);
    }
  else if (type == QM_TYPE_F16)
    {
      qm_unpack_f16 (raw.x, x[0], x[1]);
      qm_unpack_f16 (raw.y, x[2], x[3]);
    }
  else
    {
      qm_unpack_bf16 (raw.x, x[0], x[1]);
      qm_unpack_bf16 (raw.y, x[2], x[3]);
    }
}

__device__ __forceinline__ void
write (const QmRows &rows, int64_t row, int column, const float (&x)[width])
{
  qm_store<width> ({ rows.row (row), rows.type }, column, x);
}

/* The weights of a thread's channels as of a window of four rows: those that
 * are missing are 0. */
__device__ __forceinline__ void
read_weights (const Sequences &sequences,
              int column,
              float (&w)[window][width],
              float (&bias)[width])
{
  int missing = window - sequences.taps;

#pragma unroll
  for (int c = 0; c < width; c++)
    {
      bias[c] = sequences.bias ? qm_load (sequences.bias, column + c) : 0;
#pragma unroll
      for (int k = 0; k < window; k++)
        w[k][c] =
            k >= missing
                ? qm_load (sequences.w, (int64_t) (column + c) * sequences.taps
                                            + k - missing)
                : 0;
    }
}

/* A piece of a sequence. */
struct Piece
{
  int64_t row;    /* of the tensor, that the sequence begins with */
  int begin, end; /* rows of the sequence */
};

__device__ __forceinline__ Piece
piece_of (const Sequences &sequences, int64_t unit)
{
  int64_t begin = unit % sequences.pieces * piece;
  int64_t end = begin + piece;

  return { unit / sequences.pieces * sequences.length, (int) begin,
           (int) (end < sequences.length ? end : sequences.length) };
}

/* x of the three rows before `begin`. */
__device__ __forceinline__ void
read_before (const Sequences &sequences,
             const Piece &at,
             int column,
             float (&x)[2 * window - 1][width])
{
#pragma unroll
  for (int k = 0; k < window - 1; k++)
    {
      int row = at.begin + k - (window - 1);
      uint4 raw = {};

      if (row >= 0)
        raw = fetch (sequences.x, at.row + row, column);
      unpack (raw, sequences.x.type, x[k]);
    }
}

template <bool silu>
__global__ void
__launch_bounds__ (threads)
    sequences_kernel (const __grid_constant__ Sequences sequences)
{
  QmFunction function = silu ? QM_FUNCTION_SILU : sequences.activation;
  int column = (int) (blockIdx.x * threads + threadIdx.x) * width;
  float w[window][width], bias[width];

  if (column >= sequences.channels)
    return;
  read_weights (sequences, column, w, bias);
  for (int64_t unit = blockIdx.y; unit < sequences.units; unit += gridDim.y)
    {
      Piece at = piece_of (sequences, unit);
      float x[2 * window - 1][width];

      read_before (sequences, at, column, x);
      for (int row = at.begin; row < at.end; row += window)
        {
          uint4 raw[window] = {};

#pragma unroll
          for (int u = 0; u < window; u++)
            if (row + u < at.end)
              raw[u] = fetch (sequences.x, at.row + row + u, column);
#pragma unroll
          for (int u = 0; u < window; u++)
            {
              float y[width];

              unpack (raw[u], sequences.x.type, x[window - 1 + u]);
#pragma unroll
              for (int c = 0; c < width; c++)
                {
                  y[c] = bias[c];
#pragma unroll
                  for (int k = 0; k < window; k++)
                    y[c] = fmaf (w[k][c], x[u + k][c], y[c]);
                  y[c] = qm_activation<false> (function, y[c]);
                }
              if (row + u < at.end)
                write (sequences.y, at.row + row + u, column, y);
            }
#pragma unroll
          for (int k = 0; k < window - 1; k++)
#pragma unroll
            for (int c = 0; c < width; c++)
              x[k][c] = x[k + window][c];
        }
    }
}

/* What a thread has of the gradients of the weights. */
struct Sums
{
  float w[window][width], bias[width];

  __device__ __forceinline__ void
  write (const Sequences &sequences, int column) const
  {
    int missing = window - sequences.taps;
    int64_t first = (int64_t) blockIdx.y * sequences.channels + column;

#pragma unroll
    for (int c = 0; c < width; c++)
      {
        sequences.bias_parts[first + c] = bias[c];
#pragma unroll
        for (int k = 0; k < window; k++)
          if (k >= missing)
            sequences.parts[(first + c) * sequences.taps + k - missing] =
                w[k][c];
      }
  }
};

/* The gradient of row `row`'s argument, from x of it and the rows before, and
 * what that adds to the gradients of the weights. */
__device__ __forceinline__ void
go_back (QmFunction function,
         const float (&w)[window][width],
         const float (&bias)[width],
         const float (&x)[2 * window - 1][width],
         int u,
         bool counts,
         float (&g)[width],
         Sums &sums)
{
#pragma unroll
  for (int c = 0; c < width; c++)
    {
      if (function != QM_FUNCTION_NONE)
        {
          float argument = bias[c];

#pragma unroll
          for (int k = 0; k < window; k++)
            argument = fmaf (w[k][c], x[u + k][c], argument);
          g[c] *= qm_activation_slope<false> (function, argument);
        }
      if (!counts)
        continue;
      sums.bias[c] += g[c];
#pragma unroll
      for (int k = 0; k < window; k++)
        sums.w[k][c] = fmaf (g[c], x[u + k][c], sums.w[k][c]);
    }
}

template <bool silu>
__global__ void
__launch_bounds__ (threads)
    gradients_kernel (const __grid_constant__ Sequences sequences)
{
  constexpr int before = window - 1;
  QmFunction function = silu ? QM_FUNCTION_SILU : sequences.activation;
  int column = (int) (blockIdx.x * threads + threadIdx.x) * width;
  float w[window][width], bias[width];
  Sums sums = {};

  if (column >= sequences.channels)
    return;
  read_weights (sequences, column, w, bias);
  for (int64_t unit = blockIdx.y; unit < sequences.units; unit += gridDim.y)
    {
      Piece at = piece_of (sequences, unit);
      float x[2 * window - 1][width], g[2 * window - 1][width] = {};

      read_before (sequences, at, column, x);
      for (int row = at.begin; row < at.end + before; row += window)
        {
          uint4 raw[window] = {}, raw_dy[window] = {}, raw_add[window] = {};

#pragma unroll
          for (int u = 0; u < window; u++)
            {
              int r = row + u, done = r - before;

              if (r < sequences.length && r < at.end + before)
                {
                  raw[u] = fetch (sequences.x, at.row + r, column);
                  raw_dy[u] = fetch (sequences.dy, at.row + r, column);
                }
              if (sequences.add && done >= at.begin && done < at.end)
                raw_add[u] = fetch (sequences.add, at.row + done, column);
            }
#pragma unroll
          for (int u = 0; u < window; u++)
            {
              int r = row + u, done = r - before;
              float dx[width];

              unpack (raw[u], sequences.x.type, x[before + u]);
              unpack (raw_dy[u], sequences.dy.type, g[before + u]);
              go_back (function, w, bias, x, u, r < at.end, g[before + u],
                       sums);
              unpack (raw_add[u], sequences.add.type, dx);
#pragma unroll
              for (int c = 0; c < width; c++)
#pragma unroll
                for (int k = 0; k < window; k++)
                  dx[c] = fmaf (w[before - k][c], g[u + k][c], dx[c]);
              if (done >= at.begin && done < at.end)
                write (sequences.y, at.row + done, column, dx);
            }
#pragma unroll
          for (int k = 0; k < before; k++)
#pragma unroll
            for (int c = 0; c < width; c++)
              {
                x[k][c] = x[k + window][c];
                g[k][c] = g[k + window][c];
              }
        }
    }
  sums.write (sequences, column);
}

template <class Kernel>
int64_t
launch (const QmCudaContext *context,
        cudaStream_t stream,
        Kernel kernel,
        const QmConvolution &convolution,
        int64_t most_parts)
{
  Sequences sequences = { .x = convolution.x,
                          .dy = convolution.dy,
                          .add = convolution.add,
                          .y = convolution.y,
                          .w = convolution.w,
                          .bias = convolution.bias,
                          .activation = convolution.activation,
                          .parts = convolution.parts,
                          .bias_parts = convolution.bias_parts,
                          .channels = convolution.channels,
                          .taps = convolution.across,
                          .length = convolution.width,
                          .pieces = qm_blocks (convolution.width, piece) };
  int64_t groups = qm_blocks (convolution.channels, threads * width);
  int64_t parts =
      qm_resident (context, kernel, threads, INT64_C (1) << 30) / groups;

  sequences.units = convolution.rows / convolution.width * sequences.pieces;
  parts =
      qm_even_parts (sequences.units, parts < most_parts ? parts : most_parts);
  kernel<<<dim3 ((unsigned) groups, (unsigned) parts), threads, 0, stream>>> (
      sequences);
  return parts;
}

} /* namespace */

bool
qm_convolves_sequences (const QmOpCall *call)
{
  bool backward = call->op == QM_OP_DEPTHWISE_CONV_BACKWARD;
  const QmTensor &w = call->inputs[backward ? 2 : 1];
  bool whole = call->attributes.height == 1 && w.shape[1] == 1
               && w.shape[2] <= window
               && call->attributes.causal != QM_CAUSAL_NONE
               && qm_cuda_vectors (&call->outputs[0], width);

  for (int slot = 0; slot <= 4; slot++)
    if (slot == 0 || (backward && (slot == 1 || slot == 4)))
      whole = whole && qm_cuda_vectors (&call->inputs[slot], width);
  return whole;
}

void
qm_convolve_sequences (const QmCudaContext *context,
                       cudaStream_t stream,
                       const QmConvolution &convolution)
{
  if (convolution.activation == QM_FUNCTION_SILU)
    launch (context, stream, sequences_kernel<true>, convolution, 65535);
  else
    launch (context, stream, sequences_kernel<false>, convolution, 65535);
}

int64_t
qm_sequence_gradients (const QmCudaContext *context,
                       cudaStream_t stream,
                       const QmConvolution &convolution)
{
  int64_t most = convolution.most_parts;

  return convolution.activation == QM_FUNCTION_SILU
             ? launch (context, stream, gradients_kernel<true>, convolution,
                       most)
             : launch (context, stream, gradients_kernel<false>, convolution,
                       most);
}
