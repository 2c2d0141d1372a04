/* SPDX-License-Identifier: Apache-2.0 */

/* Rows of experts: to them, from them, and between their products.  A thread
 * has a group of eight elements; of the gate's gradient, a warp has a row. */

#include "kernels/cuda/activation.cuh"

namespace
{

struct Moved
{
  QmRows x, y;
  const int32_t *index; /* rows, or places */
  QmDivisor groups;     /* of a row */
  int k;
  int64_t first, columns; /* first: row of y */
  uint32_t items;         /* of this launch */
};

template <bool whole>
__global__ void __launch_bounds__ (256)
    gather_kernel (const __grid_constant__ Moved work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, group;
  int64_t row = work.first + work.groups.quotient (i, group);
  int64_t column = (int64_t) group * QM_GROUP;
  float x[QM_GROUP];
  QmRaw raw;

  if (i >= work.items)
    return;
  raw = qm_fetch_group<whole> (work.x.row (work.index[row] / work.k), column,
                               work.columns, work.x.type);
  qm_unpack (raw, work.x.type, x);
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type, x);
}

template <bool whole>
__global__ void __launch_bounds__ (256)
    combine_kernel (const __grid_constant__ Moved work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, group;
  int64_t row = work.first + work.groups.quotient (i, group);
  int64_t column = (int64_t) group * QM_GROUP;
  float x[QM_GROUP], sum[QM_GROUP] = {};

  if (i >= work.items)
    return;
#pragma unroll 4
  for (int j = 0; j < work.k; j++)
    {
      QmRaw raw =
          qm_fetch_group<whole> (work.x.row (work.index[row * work.k + j]),
                                 column, work.columns, work.x.type);

      qm_unpack (raw, work.x.type, x);
#pragma unroll
      for (int e = 0; e < QM_GROUP; e++)
        sum[e] += x[e];
    }
  qm_put_group<whole> (work.y.row (row), column, work.columns, work.y.type,
                       sum);
}

typedef void (*MoveKernel) (Moved);

QmStatus
move (cudaStream_t stream,
      const QmOpCall *call,
      const QmTensor *index,
      MoveKernel whole,
      MoveKernel part,
      QmError *error)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t groups = (x->shape[1] + QM_GROUP - 1) / QM_GROUP;
  bool vectors = qm_cuda_vectors (x, QM_GROUP) && qm_cuda_vectors (y, QM_GROUP);
  Moved work = {};

  work.x = qm_rows (*x);
  work.y = qm_rows (*y);
  work.index = (const int32_t *) index->data;
  work.groups = qm_divisor (groups);
  work.k = (int) call->inputs[2].shape[1];
  work.columns = x->shape[1];
  for (int64_t left = y->shape[0], n; left > 0; left -= n)
    {
      n = left < qm_slice (groups) ? left : qm_slice (groups);
      work.items = (uint32_t) (n * groups);
      (vectors ? whole
               : part)<<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
      work.first += n;
    }
  return qm_cuda_launched (call, error);
}

struct Gate
{
  QmRows dy, gate, up, first, second; /* dy, second: of the gradient */
  const float *weights;
  const int32_t *index;
  float *dweights;
  QmFunction function;
  QmDivisor groups;
  int64_t row, rows, columns; /* row: the first of this launch */
  uint32_t items;
};

template <bool whole>
__global__ void __launch_bounds__ (256)
    gate_kernel (const __grid_constant__ Gate work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, group;
  int64_t row = work.row + work.groups.quotient (i, group);
  int64_t column = (int64_t) group * QM_GROUP;
  float x[QM_GROUP], y[QM_GROUP], weight;
  QmRaw gate, up;

  if (i >= work.items)
    return;
  gate = qm_fetch_group<whole> (work.gate.row (row), column, work.columns,
                                work.gate.type);
  up = qm_fetch_group<whole> (work.up.row (row), column, work.columns,
                              work.up.type);
  weight = work.weights[work.index[row]];
  qm_unpack (gate, work.gate.type, x);
  qm_unpack (up, work.up.type, y);
  qm_activate<false> (work.function, QM_TYPE_F32, x, x);
#pragma unroll
  for (int e = 0; e < QM_GROUP; e++)
    y[e] = weight * (x[e] * y[e]);
  qm_put_group<whole> (work.first.row (row), column, work.columns,
                       work.first.type, y);
}

template <bool whole>
__global__ void __launch_bounds__ (256)
    gate_backward_kernel (const __grid_constant__ Gate work)
{
  const int64_t row = (int64_t) blockIdx.x * 8 + threadIdx.x / 32;
  const int lane = (int) threadIdx.x % 32;
  float dot = 0, weight;
  int pair;

  if (row >= work.rows)
    return;
  pair = work.index[row];
  weight = work.weights[pair];
  for (int64_t column = lane * QM_GROUP; column < work.columns;
       column += 32 * QM_GROUP)
    {
      float dy[QM_GROUP], x[QM_GROUP], up[QM_GROUP], dgate[QM_GROUP];
      float y[QM_GROUP];
      QmRaw raw, raw_gate, raw_up;

      raw = qm_fetch_group<whole> (work.dy.row (row), column, work.columns,
                                   work.dy.type);
      raw_gate = qm_fetch_group<whole> (work.gate.row (row), column,
                                        work.columns, work.gate.type);
      raw_up = qm_fetch_group<whole> (work.up.row (row), column, work.columns,
                                      work.up.type);
      qm_unpack (raw, work.dy.type, dy);
      qm_unpack (raw_gate, work.gate.type, x);
      qm_unpack (raw_up, work.up.type, up);
      qm_activate<false> (work.function, QM_TYPE_F32, x, y);
#pragma unroll
      for (int e = 0; e < QM_GROUP; e++)
        {
          dot += dy[e] * (y[e] * up[e]);
          dy[e] *= weight;
          dgate[e] = dy[e] * up[e];
          dy[e] *= y[e];
        }
      qm_activate<true> (work.function, QM_TYPE_F32, x, dgate);
      qm_put_group<whole> (work.first.row (row), column, work.columns,
                           work.first.type, dgate);
      qm_put_group<whole> (work.second.row (row), column, work.columns,
                           work.second.type, dy);
    }
  dot = qm_warp_sum (dot);
  if (lane == 0)
    work.dweights[pair] = dot;
}

} /* namespace */

QmStatus
qm_cuda_gather_rows (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  return move (stream, call, &call->inputs[1], gather_kernel<true>,
               gather_kernel<false>, error);
}

QmStatus
qm_cuda_combine_rows (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  return move (stream, call, &call->inputs[2], combine_kernel<true>,
               combine_kernel<false>, error);
}

QmStatus
qm_cuda_weighted_gate (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  const QmTensor *in = call->inputs, *y = &call->outputs[0];
  int64_t groups = (y->shape[1] + QM_GROUP - 1) / QM_GROUP;
  bool whole = qm_cuda_vectors (&in[0], QM_GROUP)
               && qm_cuda_vectors (&in[1], QM_GROUP)
               && qm_cuda_vectors (y, QM_GROUP);
  Gate work = {};

  work.gate = qm_rows (in[0]);
  work.up = qm_rows (in[1]);
  work.first = qm_rows (*y);
  work.weights = (const float *) in[2].data;
  work.index = (const int32_t *) in[3].data;
  work.function = call->attributes.activation;
  work.groups = qm_divisor (groups);
  work.columns = y->shape[1];
  for (int64_t left = y->shape[0], n; left > 0; left -= n)
    {
      auto kernel = whole ? gate_kernel<true> : gate_kernel<false>;

      n = left < qm_slice (groups) ? left : qm_slice (groups);
      work.items = (uint32_t) (n * groups);
      kernel<<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
      work.row += n;
    }
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_weighted_gate_backward (QmCudaContext *context,
                                cudaStream_t stream,
                                const QmOpCall *call,
                                QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  bool whole = qm_cuda_vectors (&out[0], QM_GROUP)
               && qm_cuda_vectors (&out[1], QM_GROUP);
  Gate work = {};

  for (int i = 0; i < 3; i++)
    whole = whole && qm_cuda_vectors (&in[i], QM_GROUP);
  work.dy = qm_rows (in[0]);
  work.gate = qm_rows (in[1]);
  work.up = qm_rows (in[2]);
  work.weights = (const float *) in[3].data;
  work.index = (const int32_t *) in[4].data;
  work.first = qm_rows (out[0]);
  work.second = qm_rows (out[1]);
  work.dweights = (float *) out[2].data;
  work.function = call->attributes.activation;
  work.rows = out[0].shape[0];
  work.columns = out[0].shape[1];
  if (whole)
    gate_backward_kernel<true>
        <<<(unsigned) ((work.rows + 7) / 8), 256, 0, stream>>> (work);
  else
    gate_backward_kernel<false>
        <<<(unsigned) ((work.rows + 7) / 8), 256, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
