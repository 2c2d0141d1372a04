/* SPDX-License-Identifier: Apache-2.0 */

/* The token that stands before the patches of an image. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct Tokens
{
  QmRows x, token, position, y;
  QmDivisor length, groups;
  uint32_t first, items; /* first: a sequence */
  int columns;
};

template <bool whole>
__global__ void __launch_bounds__ (256)
    token_kernel (const __grid_constant__ Tokens work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, group, s;
  uint32_t t = work.groups.quotient (i, group);
  int64_t b = work.length.quotient (t, s) + work.first;
  int column = (int) group * QM_GROUP;
  int64_t row = b * work.length.divisor + s;
  const char *from = s == 0 ? work.token.data : work.x.row (row - b - 1);
  QmType type = s == 0 ? work.token.type : work.x.type;
  QmRaw raw, raw_position;
  float x[QM_GROUP], position[QM_GROUP];

  if (i >= work.items)
    return;
  raw = qm_fetch_group<whole> (from, column, work.columns, type);
  raw_position = qm_fetch_group<whole> (work.position.row (s), column,
                                        work.columns, work.position.type);
  qm_unpack (raw, type, x);
  qm_unpack (raw_position, work.position.type, position);
#pragma unroll
  for (int j = 0; j < QM_GROUP; j++)
    x[j] += position[j];
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type, x);
}

struct TokensBackward
{
  QmRows dy, dx, dposition;
  float *dtoken;
  int64_t batch;
  int length, columns, groups;
};

/* A thread adds one group of a position over the sequences, in their order. */
template <bool whole>
__global__ void __launch_bounds__ (128)
    token_backward_kernel (const __grid_constant__ TokensBackward work)
{
  constexpr int ahead = 8;
  int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  int s = (int) (i / work.groups);
  int column = (int) (i % work.groups) * QM_GROUP;
  float sum[QM_GROUP] = {}, *position;

  if (s >= work.length)
    return;
  for (int64_t b = 0; b < work.batch; b += ahead)
    {
      QmRaw raw[ahead];

#pragma unroll
      for (int u = 0; u < ahead; u++)
        if (b + u < work.batch)
          raw[u] =
              qm_fetch_group<whole> (work.dy.row ((b + u) * work.length + s),
                                     column, work.columns, work.dy.type);
#pragma unroll
      for (int u = 0; u < ahead; u++)
        if (b + u < work.batch)
          {
            float x[QM_GROUP];

            qm_unpack (raw[u], work.dy.type, x);
#pragma unroll
            for (int j = 0; j < QM_GROUP; j++)
              sum[j] += x[j];
            if (s > 0)
              qm_put_group<whole> (work.dx.row ((b + u) * (work.length - 1) + s
                                                - 1),
                                   column, work.columns, work.dx.type, x);
          }
    }
  position = (float *) work.dposition.row (s);
#pragma unroll
  for (int j = 0; j < QM_GROUP; j++)
    if (column + j < work.columns)
      {
        position[column + j] += sum[j];
        if (s == 0)
          work.dtoken[column + j] += sum[j];
      }
}

} /* namespace */

QmStatus
qm_cuda_class_token (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmTensor *in = call->inputs, &y = call->outputs[0];
  int64_t groups = (y.shape[1] + QM_GROUP - 1) / QM_GROUP;
  int64_t length = in[2].shape[0], batch = y.shape[0] / length;
  int64_t each = length * groups;
  Tokens work = { .x = qm_rows (in[0]),
                  .token = qm_rows (in[1]),
                  .position = qm_rows (in[2]),
                  .y = qm_rows (y),
                  .length = qm_divisor (length),
                  .groups = qm_divisor (groups),
                  .columns = (int) y.shape[1] };
  bool whole = qm_cuda_vectors (&y, QM_GROUP);

  for (int i = 0; i < 3; i++)
    whole = whole && qm_cuda_vectors (&in[i], QM_GROUP);
  for (int64_t b = 0, n; b < batch; b += n)
    {
      n = batch - b < qm_slice (each) ? batch - b : qm_slice (each);
      work.first = (uint32_t) b;
      work.items = (uint32_t) (n * each);
      if (whole)
        token_kernel<true>
            <<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
      else
        token_kernel<false>
            <<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
    }
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_class_token_backward (QmCudaContext *context,
                              cudaStream_t stream,
                              const QmOpCall *call,
                              QmError *error)
{
  const QmTensor &dy = call->inputs[0], *out = call->outputs;
  int64_t length = out[2].shape[0];
  TokensBackward work = { .dy = qm_rows (dy),
                          .dx = qm_rows (out[0]),
                          .dposition = qm_rows (out[2]),
                          .dtoken = (float *) out[1].data,
                          .batch = dy.shape[0] / length,
                          .length = (int) length,
                          .columns = (int) dy.shape[1],
                          .groups =
                              (int) ((dy.shape[1] + QM_GROUP - 1) / QM_GROUP) };
  unsigned grid = (unsigned) ((length * work.groups + 127) / 128);

  if (qm_cuda_vectors (&dy, QM_GROUP) && qm_cuda_vectors (&out[0], QM_GROUP))
    token_backward_kernel<true><<<grid, 128, 0, stream>>> (work);
  else
    token_backward_kernel<false><<<grid, 128, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
