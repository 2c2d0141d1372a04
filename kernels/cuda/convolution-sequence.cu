/* SPDX-License-Identifier: Apache-2.0 */

/* Causal convolutions of up to four rows of a sequence, as Mamba has them.
 *
 * A thread has four channels and goes through a piece of a sequence from its
 * first row to its last; the rows before are in registers, and so are the next
 * four, on their way from memory.  The gradient makes the argument of the
 * activation once more on the way, and for the rows after the piece too,
 * because those of the piece have part in them. */

#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/convolution.cuh"

#include <type_traits>

namespace
{

constexpr int window = 4, width = 4; /* rows, channels of a thread */
constexpr int threads = 128;
constexpr int least = 32; /* rows of a piece */

struct Sequences
{
  QmRows x, dy, add, y;
  QmArray w, bias;
  QmFunction activation;
  float *parts, *bias_parts;
  int channels, taps;
  int length, piece, pieces; /* of a sequence: rows of it and of a piece */
  int64_t units;
};

/* Rows of a thread's four channels, of type `type`, or of any if that is
 * QM_TYPE_NONE. */
template <QmType type> struct Stream
{
  char *at;      /* in the row that is worked on */
  uint32_t step; /* bytes from row to row */
  QmType real;

  __device__ __forceinline__
  Stream (const QmRows &rows, int64_t row, int column)
      : at (rows ? rows.row (row)
                       + column
                             * (type == QM_TYPE_F16 || type == QM_TYPE_BF16
                                    ? 2
                                    : rows.size ())
                 : nullptr),
        step ((uint32_t) rows.stride),
        real (type == QM_TYPE_NONE ? rows.type : type)
  {
  }

  __device__ __forceinline__ char *
  row (int u) const
  {
    return at + (uint64_t) step * (uint32_t) u;
  }

  __device__ __forceinline__ void
  write (int u, const float (&x)[width]) const
  {
    qm_store<width> ({ row (u), real }, 0, x);
  }
};

/* Four elements as they are in memory. */
template <QmType type> struct Raw
{
  typename std::conditional<type == QM_TYPE_F16 || type == QM_TYPE_BF16,
                            uint2,
                            uint4>::type words;

  __device__ __forceinline__ void
  fetch (const Stream<type> &rows, int u)
  {
    const char *at = rows.row (u);

    if constexpr (sizeof words == sizeof (uint2))
      words = *(const uint2 *) at;
    else if (rows.real == QM_TYPE_F32)
      words = *(const uint4 *) at;
    else
      {
        uint2 half = *(const uint2 *) at;

        words.x = half.x;
        words.y = half.y;
      }
  }

  __device__ __forceinline__ void
  unpack (const Stream<type> &rows, float (&x)[width]) const
  {
    if constexpr (sizeof words == sizeof (uint4))
      if (rows.real == QM_TYPE_F32)
        {
          x[0] = __uint_as_float (words.x);
          x[1] = __uint_as_float (words.y);
          x[2] = __uint_as_float (words.z);
          x[3] = __uint_as_float (words.w);
          return;
        }
    if (rows.real == QM_TYPE_F16)
      {
        qm_unpack_f16 (words.x, x[0], x[1]);
        qm_unpack_f16 (words.y, x[2], x[3]);
      }
    else
      {
        qm_unpack_bf16 (words.x, x[0], x[1]);
        qm_unpack_bf16 (words.y, x[2], x[3]);
      }
  }
};

/* An element as it is in memory, and what it is. */
__device__ __forceinline__ uint32_t
load_raw (const QmArray &array, int64_t index)
{
  return array.type == QM_TYPE_F32 ? ((const uint32_t *) array.data)[index]
                                   : ((const uint16_t *) array.data)[index];
}

__device__ __forceinline__ float
raw_value (QmType type, uint32_t raw)
{
  return type == QM_TYPE_F32 ? __uint_as_float (raw)
         : type == QM_TYPE_F16
             ? __half2float (__ushort_as_half ((unsigned short) raw))
             : __uint_as_float (raw << 16);
}

/* The weights of a thread's channels as of a window of four rows: those that
 * are missing are 0.  All are fetched before the first is waited for. */
__device__ __forceinline__ void
read_weights (const Sequences &sequences,
              int column,
              float (&w)[window][width],
              float (&bias)[width])
{
  int missing = window - sequences.taps;
  uint32_t raw[window + 1][width];

#pragma unroll
  for (int c = 0; c < width; c++)
    {
      raw[window][c] =
          sequences.bias ? load_raw (sequences.bias, column + c) : 0;
#pragma unroll
      for (int k = 0; k < window; k++)
        raw[k][c] =
            k >= missing
                ? load_raw (sequences.w, (int64_t) (column + c) * sequences.taps
                                             + k - missing)
                : 0;
    }
#pragma unroll
  for (int c = 0; c < width; c++)
    {
      bias[c] = raw_value (sequences.bias.type, raw[window][c]);
#pragma unroll
      for (int k = 0; k < window; k++)
        w[k][c] = raw_value (sequences.w.type, raw[k][c]);
    }
}

/* A piece of a sequence. */
struct Piece
{
  int64_t row; /* its first, of the tensor */
  int before;  /* rows of the sequence before it */
  int count;   /* its rows */
  int room;    /* rows of the sequence from its first on */
};

__device__ __forceinline__ Piece
piece_of (const Sequences &sequences, int64_t unit)
{
  int before = (int) (unit % sequences.pieces) * sequences.piece;
  int room = sequences.length - before;

  return { unit / sequences.pieces * sequences.length + before, before,
           room < sequences.piece ? room : sequences.piece, room };
}

/* The three rows before a piece. */
template <QmType type>
__device__ __forceinline__ void
read_before (const QmRows &rows,
             const Piece &at,
             int column,
             float (&x)[2 * window - 1][width])
{
  Stream<type> from (rows, at.row - (window - 1), column);

#pragma unroll
  for (int k = 0; k < window - 1; k++)
    {
      Raw<type> raw = {};

      if (at.before + k >= window - 1)
        raw.fetch (from, k);
      raw.unpack (from, x[k]);
    }
}

/* Of four rows, from the `first` after that which is worked on, those that
 * there are. */
template <QmType type>
__device__ __forceinline__ void
read_rows (const Stream<type> &rows,
           int first,
           int there,
           Raw<type> (&raw)[window])
{
#pragma unroll
  for (int u = 0; u < window; u++)
    {
      raw[u] = {};
      if (first + u < there)
        raw[u].fetch (rows, first + u);
    }
}

/* The last rows of one step are those before the next. */
__device__ __forceinline__ void
move_on (float (&x)[2 * window - 1][width])
{
#pragma unroll
  for (int k = 0; k < window - 1; k++)
#pragma unroll
    for (int c = 0; c < width; c++)
      x[k][c] = x[k + window][c];
}

template <QmType type, bool silu>
__global__ void
__launch_bounds__ (threads, type == QM_TYPE_NONE ? 5 : 6)
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
      Stream<type> from (sequences.x, at.row, column);
      Stream<type> to (sequences.y, at.row, column);
      float x[2 * window - 1][width];
      Raw<type> next[window];

      read_rows (from, 0, at.count, next);
      read_before<type> (sequences.x, at, column, x);
      for (int left = at.count; left > 0; left -= window)
        {
#pragma unroll
          for (int u = 0; u < window; u++)
            next[u].unpack (from, x[window - 1 + u]);
          read_rows (from, window, left, next);
#pragma unroll
          for (int u = 0; u < window; u++)
            {
              float y[width];

#pragma unroll
              for (int c = 0; c < width; c++)
                {
                  y[c] = bias[c];
#pragma unroll
                  for (int k = 0; k < window; k++)
                    y[c] = fmaf (w[k][c], x[u + k][c], y[c]);
                  y[c] = qm_activation<false> (function, y[c]);
                }
              if (u < left)
                to.write (u, y);
            }
          move_on (x);
          from.at = from.row (window);
          to.at = to.row (window);
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

/* What a thread has on the way through a piece. */
template <QmType type> struct Way
{
  static constexpr int before = window - 1;
  Stream<type> x, dy, add, dx; /* the last two begin three rows before */
  float xs[2 * window - 1][width], g[2 * window - 1][width];
  Raw<type> next_x[window], next_dy[window];

  __device__ __forceinline__
  Way (const Sequences &sequences, const Piece &at, int column)
      : x (sequences.x, at.row, column), dy (sequences.dy, at.row, column),
        add (sequences.add, at.row - before, column),
        dx (sequences.y, at.row - before, column)
  {
    read (0, min (at.count + before, at.room));
    read_before<type> (sequences.x, at, column, xs);
#pragma unroll
    for (int k = 0; k < before; k++)
#pragma unroll
      for (int c = 0; c < width; c++)
        g[k][c] = 0;
  }

  __device__ __forceinline__ void
  read (int first, int there)
  {
    read_rows (x, first, there, next_x);
    read_rows (dy, first, there, next_dy);
  }

  /* Four rows, where `left` are left of the piece and `there` of those to be
   * read; the gradient of x for those three rows before.  With `inside`, all
   * of them are in the piece, with `first`, only the last of those before. */
  template <bool first, bool inside>
  __device__ __forceinline__ void
  go_on (QmFunction function,
         const float (&w)[window][width],
         const float (&bias)[width],
         int left,
         int there,
         Sums &sums)
  {
    Raw<type> added[window];

#pragma unroll
    for (int u = 0; u < window; u++)
      {
        next_x[u].unpack (x, xs[before + u]);
        next_dy[u].unpack (dy, g[before + u]);
      }
    read (window, there);
#pragma unroll
    for (int u = 0; u < window; u++)
      {
        added[u] = {};
        if (add.at != nullptr && (!first || u >= before)
            && (inside || u - before < left))
          added[u].fetch (add, u);
      }
#pragma unroll
    for (int u = 0; u < window; u++)
      {
        float sum[width];

        go_back (function, w, bias, xs, u, inside || u < left, g[before + u],
                 sums);
        if (first && u < before)
          continue;
        added[u].unpack (add, sum);
#pragma unroll
        for (int c = 0; c < width; c++)
#pragma unroll
          for (int k = 0; k < window; k++)
            sum[c] = fmaf (w[before - k][c], g[u + k][c], sum[c]);
        if (inside || u - before < left)
          dx.write (u, sum);
      }
    move_on (xs);
    move_on (g);
    x.at = x.row (window);
    dy.at = dy.row (window);
    add.at = add.at != nullptr ? add.row (window) : nullptr;
    dx.at = dx.row (window);
  }
};

template <QmType type, bool silu>
__global__ void
__launch_bounds__ (threads, type == QM_TYPE_NONE ? 3 : 4)
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
      int left = at.count, there = min (left + before, at.room);
      Way<type> way (sequences, at, column);

      way.template go_on<true, false> (function, w, bias, left, there, sums);
      for (left -= window, there -= window; left >= window;
           left -= window, there -= window)
        way.template go_on<false, true> (function, w, bias, left, there, sums);
      for (; left + before > 0; left -= window, there -= window)
        way.template go_on<false, false> (function, w, bias, left, there, sums);
    }
  sums.write (sequences, column);
}

/* Divides sequences into pieces so that the most rows that one of `parts` has,
 * with those that it reads beside its own, are few. */
void
divide (Sequences &sequences, int64_t count, int64_t parts)
{
  int64_t best = INT64_MAX, most = sequences.length / least;
  int64_t length = sequences.length;

  most = most < 1 ? 1 : most > parts ? parts : most;
  for (int64_t pieces = 1; pieces <= most; pieces++)
    {
      int64_t piece = (length + pieces - 1) / pieces;
      int64_t each = (count * pieces + parts - 1) / parts;
      int64_t cost = each * (piece + 2 * window);

      if (cost >= best)
        continue;
      best = cost;
      sequences.piece = (int) piece;
    }
  sequences.pieces = (int) ((length + sequences.piece - 1) / sequences.piece);
  sequences.units = count * sequences.pieces;
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
                          .length = (int) convolution.width };
  int64_t groups = qm_blocks (convolution.channels, threads * width);
  int64_t parts =
      qm_resident (context, kernel, threads, INT64_C (1) << 30) / groups;

  parts = parts < 1 ? 1 : parts < most_parts ? parts : most_parts;
  divide (sequences, convolution.rows / convolution.width, parts);
  parts = qm_even_parts (sequences.units, parts);
  kernel<<<dim3 ((unsigned) groups, (unsigned) parts), threads, 0, stream>>> (
      sequences);
  return parts;
}

/* The one type of all tensors, or none. */
QmType
type_of (const QmConvolution &convolution)
{
  const QmRows *all[] = { &convolution.dy, &convolution.add, &convolution.y };

  for (const QmRows *rows : all)
    if (rows->data != nullptr && rows->type != convolution.x.type)
      return QM_TYPE_NONE;
  return convolution.x.type;
}

template <QmType type>
int64_t
convolve (const QmCudaContext *context,
          cudaStream_t stream,
          const QmConvolution &convolution)
{
  return convolution.activation == QM_FUNCTION_SILU
             ? launch (context, stream, sequences_kernel<type, true>,
                       convolution, 65535)
             : launch (context, stream, sequences_kernel<type, false>,
                       convolution, 65535);
}

template <QmType type>
int64_t
gradients (const QmCudaContext *context,
           cudaStream_t stream,
           const QmConvolution &convolution)
{
  return convolution.activation == QM_FUNCTION_SILU
             ? launch (context, stream, gradients_kernel<type, true>,
                       convolution, convolution.most_parts)
             : launch (context, stream, gradients_kernel<type, false>,
                       convolution, convolution.most_parts);
}

} /* namespace */

/* Whether steps from row to row fit where the kernels keep them. */
static bool
has_short_steps (const QmTensor &tensor)
{
  return !qm_tensor_present (&tensor)
         || qm_row_stride (tensor) <= UINT32_MAX / 4;
}

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
      whole = whole && qm_cuda_vectors (&call->inputs[slot], width)
              && has_short_steps (call->inputs[slot]);
  return whole && has_short_steps (call->outputs[0]);
}

void
qm_convolve_sequences (const QmCudaContext *context,
                       cudaStream_t stream,
                       const QmConvolution &convolution)
{
  switch (type_of (convolution))
    {
    case QM_TYPE_BF16:
      convolve<QM_TYPE_BF16> (context, stream, convolution);
      break;
    case QM_TYPE_F16:
      convolve<QM_TYPE_F16> (context, stream, convolution);
      break;
    default:
      convolve<QM_TYPE_NONE> (context, stream, convolution);
    }
}

int64_t
qm_sequence_gradients (const QmCudaContext *context,
                       cudaStream_t stream,
                       const QmConvolution &convolution)
{
  switch (type_of (convolution))
    {
    case QM_TYPE_BF16:
      return gradients<QM_TYPE_BF16> (context, stream, convolution);
    case QM_TYPE_F16:
      return gradients<QM_TYPE_F16> (context, stream, convolution);
    default:
      return gradients<QM_TYPE_NONE> (context, stream, convolution);
    }
}
