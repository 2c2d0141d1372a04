/* SPDX-License-Identifier: Apache-2.0 */

/* The tokens that stand before the patches of an image. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct Tokens
{
  QmRows x, token, position, registers, y;
  const int32_t *kept; /* may be NULL */
  QmDivisor length, groups;
  uint32_t first, items; /* first: a sequence */
  int columns, before;   /* before: tokens that are no patches */
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
  /* Of patches, the row is less by the other tokens so far. */
  bool patch = s >= (uint32_t) work.before;
  const char *from = s == 0  ? work.token.data
                     : patch ? work.x.row (row - (b + 1) * work.before)
                             : work.registers.row (s - 1);
  QmType type = s == 0  ? work.token.type
                : patch ? work.x.type
                        : work.registers.type;
  QmRaw raw, raw_position = {};
  float x[QM_GROUP], position[QM_GROUP];

  if (i >= work.items)
    return;
  raw = qm_fetch_group<whole> (from, column, work.columns, type);
  if (work.position && (s == 0 || patch))
    {
      int64_t at = s == 0 ? 0 : s - work.before + 1;

      if (work.kept != nullptr && s > 0)
        at = 1 + work.kept[row - (b + 1) * work.before];
      raw_position = qm_fetch_group<whole> (work.position.row (at), column,
                                            work.columns, work.position.type);
    }
  qm_unpack (raw, type, x);
  qm_unpack (raw_position, work.position.type, position);
#pragma unroll
  for (int j = 0; j < QM_GROUP; j++)
    x[j] += position[j];
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type, x);
}

struct TokensBackward
{
  QmRows dy, dx, dposition, dregisters;
  float *dtoken;
  int64_t batch;
  int length, columns, groups, before; /* before: as above */
};

__device__ __forceinline__ void
add_group (float *sums, const float (&sum)[QM_GROUP], int column, int columns)
{
#pragma unroll
  for (int j = 0; j < QM_GROUP; j++)
    if (column + j < columns)
      sums[column + j] += sum[j];
}

/* A thread adds one group of a token over the sequences, in their order. */
template <bool whole>
__global__ void __launch_bounds__ (128)
    token_backward_kernel (const __grid_constant__ TokensBackward work)
{
  constexpr int ahead = 8;
  int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  int s = (int) (i / work.groups);
  int column = (int) (i % work.groups) * QM_GROUP;
  bool patch = s >= work.before;
  float sum[QM_GROUP] = {};

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
            if (patch)
              qm_put_group<whole> (work.dx.row (
                                       (b + u) * (work.length - work.before) + s
                                       - work.before),
                                   column, work.columns, work.dx.type, x);
          }
    }
  if (s == 0)
    add_group (work.dtoken, sum, column, work.columns);
  if (work.dposition && (s == 0 || patch))
    add_group ((float *) work.dposition.row (s == 0 ? 0 : s - work.before + 1),
               sum, column, work.columns);
  if (s > 0 && !patch)
    add_group ((float *) work.dregisters.row (s - 1), sum, column,
               work.columns);
}

/* Tokens that are no patches. */
int64_t
tokens_before (const QmTensor &registers)
{
  return 1 + (qm_tensor_present (&registers) ? registers.shape[0] : 0);
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
  int64_t before = tokens_before (in[3]);
  int64_t batch = (y.shape[0] - in[0].shape[0]) / before;
  int64_t length = y.shape[0] / batch, each = length * groups;
  Tokens work = { .x = qm_rows (in[0]),
                  .token = qm_rows (in[1]),
                  .position = qm_rows (in[2]),
                  .registers = qm_rows (in[3]),
                  .y = qm_rows (y),
                  .kept = (const int32_t *) in[4].data,
                  .length = qm_divisor (length),
                  .groups = qm_divisor (groups),
                  .columns = (int) y.shape[1],
                  .before = (int) before };
  bool whole = qm_cuda_vectors (&y, QM_GROUP);

  for (int i = 0; i < 4; i++)
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
  int64_t before = tokens_before (out[3]);
  int64_t batch = (dy.shape[0] - out[0].shape[0]) / before;
  int64_t length = dy.shape[0] / batch;
  TokensBackward work = { .dy = qm_rows (dy),
                          .dx = qm_rows (out[0]),
                          .dposition = qm_rows (out[2]),
                          .dregisters = qm_rows (out[3]),
                          .dtoken = (float *) out[1].data,
                          .batch = batch,
                          .length = (int) length,
                          .columns = (int) dy.shape[1],
                          .groups =
                              (int) ((dy.shape[1] + QM_GROUP - 1) / QM_GROUP),
                          .before = (int) before };
  unsigned grid = (unsigned) ((length * work.groups + 127) / 128);

  if (qm_cuda_vectors (&dy, QM_GROUP) && qm_cuda_vectors (&out[0], QM_GROUP))
    token_backward_kernel<true><<<grid, 128, 0, stream>>> (work);
  else
    token_backward_kernel<false><<<grid, 128, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
