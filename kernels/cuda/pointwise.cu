/* SPDX-License-Identifier: Apache-2.0 */

/* Activations and dropout: each element on its own. */

#include "kernels/cuda/activation.cuh"

namespace
{

struct Pointwise
{
  QmRows a, b, y; /* b: the argument of the activation, else NULL */
  QmDropout dropout;
  QmFunction function;
  int64_t n;
};

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
  int64_t first =
      ((int64_t) blockIdx.x * (256 * ahead) + threadIdx.x) * QM_GROUP;
  QmRaw a[ahead], b[ahead];

#pragma unroll
  for (int u = 0; u < ahead; u++)
    {
      int64_t i = first + u * 256 * QM_GROUP;
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
      int64_t i = first + u * 256 * QM_GROUP;
      float x[QM_GROUP], y[QM_GROUP];

      if (i >= work.n)
        continue;
      qm_unpack (a[u], work.a.type, y);
      if (kind == ACTIVATION_BACKWARD)
        {
          qm_unpack (b[u], work.b.type, x);
          qm_activate<true> (work.function, work.y.type, x, y);
        }
      else if (kind == ACTIVATION)
        qm_activate<false> (work.function, work.y.type, y, y);
      else if (work.dropout.rng != nullptr)
        qm_drop_group<true> (work.dropout, i, y);
      if (whole && i + QM_GROUP <= work.n)
        qm_put (work.y.data, i, work.y.type, y);
      else
        qm_put_part (work.y.data, i, work.n, work.y.type, y);
    }
}

/* Dropout of attention weights.  A warp has a tile of 16 x 16, and a lane makes
 * the bits of eight elements of it, see qm_tile_block(). */
struct Tiles
{
  QmArray x, y; /* of the heads of this launch */
  QmDropout dropout;
  QmDivisor across; /* tiles of a row, and of a column */
  int64_t size, first_head;
  uint32_t lanes;
};

/* Drops four neighbours by the words of the two blocks that have them. */
__device__ __forceinline__ void
drop_four (const QmDropout &dropout,
           uint32_t first,
           uint32_t second,
           float (&x)[4])
{
  uint32_t half[4] = { first & 0xffff, first >> 16, second & 0xffff,
                       second >> 16 };

#pragma unroll
  for (int i = 0; i < 4; i++)
    x[i] = half[i] >= dropout.threshold ? x[i] * dropout.scale : 0;
}

/* Lanes make the bits as tensor cores lay them out, and then exchange them:
 * lane l drops columns 4 (l % 4) to + 3 of rows l / 4 and l / 4 + 8. */
template <bool whole>
__global__ void __launch_bounds__ (256)
    tiles_kernel (const __grid_constant__ Tiles work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, lane = i % 32, across, down;
  uint32_t line = work.across.quotient (i / 32, across);
  uint32_t head = work.across.quotient (line, down);
  int64_t row = down * 16 + lane / 4, column = across * 16 + lane % 4 * 4;
  int from = (int) (lane / 4 * 4 + lane % 2 * 2), half;
  uint32_t block = qm_tile_block (row, across * 16 + lane % 4 * 2, &half);
  QmRandomBits bits =
      qm_tile_bits (work.dropout.rng, work.dropout.site, work.first_head + head,
                    work.size, row, block);

#pragma unroll
  for (int r = 0; r < 2; r++, row += 8)
    {
      uint32_t word[2];
      float x[4] = {};
      int64_t at = (head * work.size + row) * work.size + column;

#pragma unroll
      for (int s = 0; s < 2; s++)
        {
          uint32_t low = __shfl_sync (0xffffffffu, bits.word[2 * r], from + s);
          uint32_t high =
              __shfl_sync (0xffffffffu, bits.word[2 * r + 1], from + s);

          word[s] = lane % 4 < 2 ? low : high;
        }
      if (i >= work.lanes || row >= work.size || column >= work.size)
        continue;
      if (whole)
        qm_load<4> (work.x, at, x);
      else
        for (int c = 0; c < 4 && column + c < work.size; c++)
          x[c] = qm_load (work.x, at + c);
      drop_four (work.dropout, word[0], word[1], x);
      if (whole)
        qm_store<4> (work.y, at, x);
      else
        for (int c = 0; c < 4 && column + c < work.size; c++)
          qm_store (work.y, at + c, x[c]);
    }
}

template <Kind kind>
QmStatus
launch (cudaStream_t stream,
        const QmOpCall *call,
        Pointwise work,
        QmError *error)
{
  unsigned grid = qm_blocks (work.n, 2 * 256 * QM_GROUP);
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
drop_tiles (cudaStream_t stream,
            const QmOpCall *call,
            const QmDropout &dropout,
            QmError *error)
{
  const QmTensor &x = call->inputs[0], &y = call->outputs[0];
  int64_t heads = x.shape[0] * x.shape[1], size = x.shape[3];
  int64_t across = (size + 15) / 16, each = across * across * 32;
  bool whole = qm_cuda_vectors (&x, 4) && qm_cuda_vectors (&y, 4);
  Tiles work = { .x = qm_array (x),
                 .y = qm_array (y),
                 .dropout = dropout,
                 .across = qm_divisor (across),
                 .size = size };

  for (int64_t head = 0, n; head < heads; head += n)
    {
      n = heads - head < qm_slice (each) ? heads - head : qm_slice (each);
      work.first_head = head;
      work.lanes = (uint32_t) (n * each);
      if (whole)
        tiles_kernel<true>
            <<<qm_blocks (work.lanes, 256), 256, 0, stream>>> (work);
      else
        tiles_kernel<false>
            <<<qm_blocks (work.lanes, 256), 256, 0, stream>>> (work);
      work.x.data = (char *) work.x.data
                    + n * size * size * (int64_t) qm_type_size (x.type);
      work.y.data = (char *) work.y.data
                    + n * size * size * (int64_t) qm_type_size (y.type);
    }
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
  return launch<ACTIVATION> (stream, call, pointwise (call), error);
}

QmStatus
qm_cuda_activation_backward (QmCudaContext *context,
                             cudaStream_t stream,
                             const QmOpCall *call,
                             QmError *error)
{
  Pointwise work = pointwise (call);

  work.b = qm_dense_rows (call->inputs[1], 0);
  return launch<ACTIVATION_BACKWARD> (stream, call, work, error);
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
    return launch<DROPOUT> (stream, call, work, error);
  return drop_tiles (stream, call, work.dropout, error);
}
