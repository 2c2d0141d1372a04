/* SPDX-License-Identifier: Apache-2.0 */

/* Heads of keys and values for all heads of queries that share them, and the
 * sum of their gradients.  A group of eight elements a thread. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

/* [B, heads, S, D], any strides but a dense last, in bytes. */
struct Heads
{
  char *data;
  int64_t batch, head, row;
  QmType type;

  __device__ __forceinline__ char *
  at (int64_t b, int64_t h, int64_t s) const
  {
    return data + b * batch + h * head + s * row;
  }
};

struct Repeat
{
  Heads few, many;
  QmDivisor vectors, length, groups; /* of a row, of a head, of a sample */
  int64_t columns;
  uint32_t first, items; /* rows before this launch, groups of eight in it */
  int shared;
};

template <bool whole, bool sum>
__global__ void __launch_bounds__ (256)
    repeat_kernel (const __grid_constant__ Repeat work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, vector, s, group;
  uint32_t line = work.vectors.quotient (i, vector) + work.first;
  uint32_t b = work.groups.quotient (work.length.quotient (line, s), group);
  int64_t column = (int64_t) vector * QM_GROUP;
  float x[QM_GROUP] = {}, y[QM_GROUP];

  if (i >= work.items)
    return;
  if (!sum)
    qm_unpack (qm_fetch_group<whole> (work.few.at (b, group, s), column,
                                      work.columns, work.few.type),
               work.few.type, x);
  for (int h = 0; h < work.shared; h++)
    {
      char *many = work.many.at (b, (int64_t) group * work.shared + h, s);

      if (!sum)
        {
          qm_put_group<whole> (many, column, work.columns, work.many.type, x);
          continue;
        }
      qm_unpack (qm_fetch_group<whole> (many, column, work.columns,
                                        work.many.type),
                 work.many.type, y);
#pragma unroll
      for (int e = 0; e < QM_GROUP; e++)
        x[e] += y[e];
    }
  if (sum)
    qm_put_group<whole> (work.few.at (b, group, s), column, work.columns,
                         work.few.type, x);
}

Heads
heads (const QmTensor &tensor)
{
  int64_t size = (int64_t) qm_type_size (tensor.type);

  return { (char *) tensor.data, tensor.stride[0] * size,
           tensor.stride[1] * size, tensor.stride[2] * size, tensor.type };
}

template <bool sum>
QmStatus
launch (cudaStream_t stream,
        const QmOpCall *call,
        const QmTensor &few,
        const QmTensor &many,
        QmError *error)
{
  int64_t rows = few.shape[0] * few.shape[1] * few.shape[2];
  int64_t vectors = (few.shape[3] + QM_GROUP - 1) / QM_GROUP;
  bool whole =
      qm_cuda_vectors (&few, QM_GROUP) && qm_cuda_vectors (&many, QM_GROUP);
  auto kernel = whole ? repeat_kernel<true, sum> : repeat_kernel<false, sum>;
  Repeat work = { .few = heads (few),
                  .many = heads (many),
                  .vectors = qm_divisor (vectors),
                  .length = qm_divisor (few.shape[2]),
                  .groups = qm_divisor (few.shape[1]),
                  .columns = few.shape[3],
                  .shared = (int) (many.shape[1] / few.shape[1]) };

  for (int64_t row = 0, n; row < rows; row += n)
    {
      n = rows - row < qm_slice (vectors) ? rows - row : qm_slice (vectors);
      work.first = (uint32_t) row;
      work.items = (uint32_t) (n * vectors);
      kernel<<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
    }
  return qm_cuda_launched (call, error);
}

} /* namespace */

QmStatus
qm_cuda_repeat_heads (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  return launch<false> (stream, call, call->inputs[0], call->outputs[0], error);
}

QmStatus
qm_cuda_repeat_heads_backward (QmCudaContext *context,
                               cudaStream_t stream,
                               const QmOpCall *call,
                               QmError *error)
{
  return launch<true> (stream, call, call->outputs[0], call->inputs[0], error);
}
