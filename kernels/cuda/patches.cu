/* SPDX-License-Identifier: Apache-2.0 */

/* Images as sequences of patches, and the token that stands before them. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct Patches
{
  const float *pixels;
  QmRows y;
  int64_t rows;
  int channels, height, width, patch;
  int down, across; /* patches */
};

/* N elements of a row of a patch a thread. */
template <int N>
__global__ void __launch_bounds__ (256)
    patches_kernel (const __grid_constant__ Patches work)
{
  const QmArray pixels = { (void *) work.pixels, QM_TYPE_F32 };
  int units = work.patch / N; /* of a row of a patch */
  int64_t each = (int64_t) work.channels * work.patch * units;
  int64_t n = work.rows * each;

  for (int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t t = i / each, b = t / (work.down * work.across);
      int unit = (int) (i - t * each), line = unit / units;
      int place = (int) (t - b * (work.down * work.across));
      int channel = line / work.patch, r = line - channel * work.patch;
      int64_t row = (b * work.channels + channel) * work.height
                    + (int64_t) (place / work.across) * work.patch + r;
      int column = place % work.across * work.patch + unit % units * N;
      float x[N];

      qm_load<N> (pixels, row * work.width + column, x);
      qm_store<N> ({ work.y.row (t), work.y.type }, (int64_t) unit * N, x);
    }
}

struct Tokens
{
  QmRows x, token, position, y;
  int64_t rows;
  int length, columns, groups;
};

template <bool whole>
__global__ void __launch_bounds__ (256)
    token_kernel (const __grid_constant__ Tokens work)
{
  int64_t n = work.rows * work.groups;

  for (int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t t = i / work.groups, b = t / work.length;
      int s = (int) (t - b * work.length);
      int column = (int) (i - t * work.groups) * QM_GROUP;
      const char *from = s == 0 ? work.token.data : work.x.row (t - b - 1);
      QmType type = s == 0 ? work.token.type : work.x.type;
      QmRaw raw = qm_fetch_group<whole> (from, column, work.columns, type);
      QmRaw raw_position =
          qm_fetch_group<whole> (work.position.row (s), column, work.columns,
                                 work.position.type);
      float x[QM_GROUP], position[QM_GROUP];

      qm_unpack (raw, type, x);
      qm_unpack (raw_position, work.position.type, position);
#pragma unroll
      for (int j = 0; j < QM_GROUP; j++)
        x[j] += position[j];
      qm_put_group<whole> (work.y.row (t), column, work.columns, work.y.type,
                           x);
    }
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
qm_cuda_patchify (QmCudaContext *context,
                  cudaStream_t stream,
                  const QmOpCall *call,
                  QmError *error)
{
  const QmTensor &x = call->inputs[0], &y = call->outputs[0];
  int64_t patch = call->attributes.patch;
  Patches work = { .pixels = (const float *) x.data,
                   .y = qm_rows (y),
                   .rows = y.shape[0],
                   .channels = (int) x.shape[1],
                   .height = (int) x.shape[2],
                   .width = (int) x.shape[3],
                   .patch = (int) patch,
                   .down = (int) (x.shape[2] / patch),
                   .across = (int) (x.shape[3] / patch) };
  bool vectors = patch % 8 == 0 && x.shape[3] % 4 == 0
                 && (uintptr_t) x.data % 16 == 0 && qm_cuda_vectors (&y, 8);
  int64_t n = y.shape[0] * y.shape[1];

  if (vectors)
    patches_kernel<8><<<qm_grid (context, n / 8, 256), 256, 0, stream>>> (work);
  else
    patches_kernel<1><<<qm_grid (context, n, 256), 256, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_class_token (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmTensor *in = call->inputs, &y = call->outputs[0];
  Tokens work = { .x = qm_rows (in[0]),
                  .token = qm_rows (in[1]),
                  .position = qm_rows (in[2]),
                  .y = qm_rows (y),
                  .rows = y.shape[0],
                  .length = (int) in[2].shape[0],
                  .columns = (int) y.shape[1],
                  .groups = (int) ((y.shape[1] + QM_GROUP - 1) / QM_GROUP) };
  unsigned grid = qm_grid (context, work.rows * work.groups, 256);

  if (qm_cuda_vectors (&in[0], QM_GROUP) && qm_cuda_vectors (&in[1], QM_GROUP)
      && qm_cuda_vectors (&in[2], QM_GROUP) && qm_cuda_vectors (&y, QM_GROUP))
    token_kernel<true><<<grid, 256, 0, stream>>> (work);
  else
    token_kernel<false><<<grid, 256, 0, stream>>> (work);
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
