/* SPDX-License-Identifier: Apache-2.0 */

/* Gates of feed-forward layers: a group of eight elements a thread. */

#include "kernels/cuda/activation.cuh"

namespace
{

struct Gate
{
  QmRows dy, gate, up, first, second; /* dy, second: of the gradient */
  QmFunction function;
  QmDivisor groups; /* of a row */
  int64_t rows, columns;
  uint32_t items; /* of this launch */
};

template <bool whole>
__global__ void __launch_bounds__ (256)
    gate_kernel (const __grid_constant__ Gate work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, group;
  int64_t row = work.groups.quotient (i, group);
  int64_t column = (int64_t) group * QM_GROUP;
  float x[QM_GROUP], y[QM_GROUP];
  QmRaw gate, up;

  if (i >= work.items)
    return;
  gate = qm_fetch_group<whole> (work.gate.row (row), column, work.columns,
                                work.gate.type);
  up = qm_fetch_group<whole> (work.up.row (row), column, work.columns,
                              work.up.type);
  qm_unpack (gate, work.gate.type, x);
  qm_unpack (up, work.up.type, y);
  /* As for an f32 result, since it is multiplied before it is rounded. */
  qm_activate<false> (work.function, QM_TYPE_F32, x, x);
#pragma unroll
  for (int e = 0; e < QM_GROUP; e++)
    y[e] *= x[e];
  qm_put_group<whole> (work.first.row (row), column, work.columns,
                       work.first.type, y);
}

template <bool whole>
__global__ void __launch_bounds__ (256)
    gate_backward_kernel (const __grid_constant__ Gate work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, group;
  int64_t row = work.groups.quotient (i, group);
  int64_t column = (int64_t) group * QM_GROUP;
  float dy[QM_GROUP], x[QM_GROUP], dgate[QM_GROUP], dup[QM_GROUP];
  QmRaw raw, gate, up;

  if (i >= work.items)
    return;
  raw = qm_fetch_group<whole> (work.dy.row (row), column, work.columns,
                               work.dy.type);
  gate = qm_fetch_group<whole> (work.gate.row (row), column, work.columns,
                                work.gate.type);
  up = qm_fetch_group<whole> (work.up.row (row), column, work.columns,
                              work.up.type);
  qm_unpack (raw, work.dy.type, dy);
  qm_unpack (gate, work.gate.type, x);
  qm_unpack (up, work.up.type, dgate);
#pragma unroll
  for (int e = 0; e < QM_GROUP; e++)
    dgate[e] *= dy[e];
  qm_activate<true> (work.function, QM_TYPE_F32, x, dgate);
  qm_activate<false> (work.function, QM_TYPE_F32, x, dup);
#pragma unroll
  for (int e = 0; e < QM_GROUP; e++)
    dup[e] *= dy[e];
  qm_put_group<whole> (work.first.row (row), column, work.columns,
                       work.first.type, dgate);
  qm_put_group<whole> (work.second.row (row), column, work.columns,
                       work.second.type, dup);
}

/* Moves the beginning of all rows. */
void
skip (Gate *work, int64_t rows)
{
  for (QmRows *each :
       { &work->dy, &work->gate, &work->up, &work->first, &work->second })
    if (each->data != nullptr)
      each->data += rows * each->stride;
}

QmStatus
launch (cudaStream_t stream, const QmOpCall *call, Gate work, QmError *error)
{
  int64_t groups = (work.columns + QM_GROUP - 1) / QM_GROUP;
  bool whole = true;

  for (int i = 0; i < 3; i++)
    whole = whole && qm_cuda_vectors (&call->inputs[i], QM_GROUP);
  for (int i = 0; i < 2; i++)
    whole = whole && qm_cuda_vectors (&call->outputs[i], QM_GROUP);
  work.function = call->attributes.activation;
  work.groups = qm_divisor (groups);
  for (int64_t left = work.rows, n; left > 0; left -= n)
    {
      auto kernel = work.dy.data == nullptr
                        ? (whole ? gate_kernel<true> : gate_kernel<false>)
                    : whole ? gate_backward_kernel<true>
                            : gate_backward_kernel<false>;

      n = left < qm_slice (groups) ? left : qm_slice (groups);
      work.items = (uint32_t) (n * groups);
      kernel<<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
      skip (&work, n);
    }
  return qm_cuda_launched (call, error);
}

} /* namespace */

QmStatus
qm_cuda_gate (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error)
{
  Gate work = {};

  work.gate = qm_rows (call->inputs[0]);
  work.up = qm_rows (call->inputs[1]);
  work.first = qm_rows (call->outputs[0]);
  work.rows = call->inputs[0].shape[0];
  work.columns = call->inputs[0].shape[1];
  return launch (stream, call, work, error);
}

QmStatus
qm_cuda_gate_backward (QmCudaContext *context,
                       cudaStream_t stream,
                       const QmOpCall *call,
                       QmError *error)
{
  Gate work = {};

  work.dy = qm_rows (call->inputs[0]);
  work.gate = qm_rows (call->inputs[1]);
  work.up = qm_rows (call->inputs[2]);
  work.first = qm_rows (call->outputs[0]);
  work.second = qm_rows (call->outputs[1]);
  work.rows = call->inputs[0].shape[0];
  work.columns = call->inputs[0].shape[1];
  return launch (stream, call, work, error);
}
