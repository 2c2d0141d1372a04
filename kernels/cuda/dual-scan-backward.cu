/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/cuda/dual-backward.cuh"

namespace qm_dual
{
namespace
{

template <class S>
__global__
__launch_bounds__ (threads,
                   S::Q == 64 ? 2 : 1) void backward_kernel (Backward scan)
{
  extern __shared__ __align__ (16) unsigned char memory[];

  if constexpr (is_started<typename S::T> ((int) sizeof (BackwardShared<S>)))
    backward<S> (scan, *(BackwardShared<S> *) memory);
}

struct StartBackward
{
  const Backward &scan;

  template <class S>
  QmStatus
  operator() (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error) const
  {
    static_assert (sizeof (BackwardShared<S>) <= room<S> (),
                   "a block has so much");
    return start (context, stream, call, backward_kernel<S>,
                  sizeof (BackwardShared<S>), scan.in, scan, error);
  }
};

/* db and dc, or ddt, from their parts, [parts][rows][columns] each: block row
 * y has matrix y. */
template <class T, int WIDTH>
__global__ void
add_parts (const T *parts,
           int n_parts,
           int64_t rows,
           int64_t columns,
           Matrix first,
           Matrix second)
{
  const Matrix to = { { blockIdx.y == 0 ? first.array.data : second.array.data,
                        blockIdx.y == 0 ? first.array.type
                                        : second.array.type },
                      blockIdx.y == 0 ? first.step : second.step };
  const T *from = parts + blockIdx.y * n_parts * rows * columns;
  int64_t step = (int64_t) gridDim.x * blockDim.x * WIDTH;

  for (int64_t i = ((int64_t) blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
       i < rows * columns; i += step)
    {
      float sum[WIDTH] = {};

#pragma unroll 4
      for (int part = 0; part < n_parts; part++)
        {
          float x[WIDTH];

          qm_load_as<T, WIDTH> (from + part * rows * columns, i, x);
#pragma unroll
          for (int k = 0; k < WIDTH; k++)
            sum[k] += x[k];
        }
      qm_store<WIDTH> (to.array, i / columns * to.step + i % columns, sum);
    }
}

template <class T>
QmStatus
start_parts (QmCudaContext *context,
             cudaStream_t stream,
             const QmOpCall *call,
             const T *parts,
             int n_parts,
             const QmTensor *first,
             const QmTensor *second,
             QmError *error)
{
  int64_t rows = first->shape[0], columns = first->shape[1];
  bool wide = columns % 8 == 0 && qm_cuda_vectors (first, 8)
              && (second == nullptr || qm_cuda_vectors (second, 8));
  auto kernel = wide ? add_parts<T, 8> : add_parts<T, 1>;
  dim3 grid (qm_grid (context, rows * columns / (wide ? 8 : 1), 256),
             second != nullptr ? 2 : 1);

  kernel<<<grid, 256, 0, stream>>> (
      parts, n_parts, rows, columns, qm_scan::matrix (*first),
      qm_scan::matrix (second != nullptr ? *second : *first));
  return qm_cuda_launched (call, error);
}

QmStatus
add_columns (QmCudaContext *context,
             cudaStream_t stream,
             const QmOpCall *call,
             const Backward &scan,
             QmType type,
             QmError *error)
{
  const QmTensor *db = &call->outputs[3], *dc = &call->outputs[4];

  if (type == QM_TYPE_F32)
    return start_parts (context, stream, call, (const float *) scan.columns,
                        scan.parts, db, dc, error);
  if (type == QM_TYPE_F16)
    return start_parts (context, stream, call, (const __half *) scan.columns,
                        scan.parts, db, dc, error);
  return start_parts (context, stream, call,
                      (const __nv_bfloat16 *) scan.columns, scan.parts, db, dc,
                      error);
}

/* Adds up what blocks made, in an order that does not depend on the run. */
QmStatus
finish (QmCudaContext *context,
        cudaStream_t stream,
        const QmOpCall *call,
        const Backward &scan,
        QmType type,
        QmError *error)
{
  const QmTensor *out = call->outputs;
  int64_t parts = scan.in.sequences * scan.in.slices;
  int64_t size = parts * scan.in.heads;
  const float *partial[] = { scan.sums, scan.sums + size,
                             scan.sums + 2 * size };
  float *sums[] = { (float *) out[2].data, (float *) out[5].data,
                    (float *) out[6].data };
  QmStatus status = add_columns (context, stream, call, scan, type, error);

  if (status == QM_OK && scan.steps != nullptr)
    status = start_parts (context, stream, call, (const float *) scan.steps,
                          scan.in.slices, &out[1], nullptr, error);
  if (status != QM_OK)
    return status;
  return qm_cuda_add_all_parts (stream, qm_tensor_present (&out[6]) ? 3 : 2,
                                partial, parts, scan.in.heads, 1, sums, error);
}

} /* namespace */
} /* namespace qm_dual */

QmStatus
qm_cuda_dual_scan_backward (QmCudaContext *context,
                            cudaStream_t stream,
                            const QmOpCall *call,
                            QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  const QmTensor *factors[] = { &in[0], &in[1], &in[4], &in[5] };
  QmCudaDualShape shape =
      qm_cuda_dual_shape (context->architecture, factors, 4,
                          in[4].shape[1] / call->attributes.count);
  QmCudaDualLayout layout = qm_cuda_dual_layout (&shape, call);
  float *memory = (float *) call->workspace;
  qm_dual::Backward scan = {
    .in = qm_dual::inputs (call, in + 1, shape.columns > 0 ? shape.columns : 1),
    .dy = qm_scan::matrix (in[0]),
    .dx = qm_scan::matrix (out[0]),
    .ddt = qm_scan::matrix (out[1]),
    .states = memory + layout.states,
    .columns = memory + layout.columns,
    .steps = layout.slices > 1 ? memory + layout.steps : nullptr,
    .sums = memory + layout.sums,
    .chunks = layout.chunks,
    .rows = in[0].shape[0],
    .parts = (int) layout.parts
  };
  QmStatus status;

  scan.in.vectors =
      qm_dual::reads_vectors (scan.in, factors + 1, 3, shape.type);
  scan.vectors = qm_dual::reads_vectors (scan.in, factors, 1, shape.type);
  scan.dx_vectors = scan.in.p % 2 == 0 && qm_cuda_vectors (&out[0], 2);
  scan.part_vectors = scan.in.n % 2 == 0;
  status = qm_dual::keep_states (context, stream, call, scan.in, shape,
                                 memory + layout.states, error);
  if (status == QM_OK)
    status = qm_dual::dispatch (qm_dual::StartBackward{ scan }, shape, context,
                                stream, call, error);
  if (status != QM_OK)
    return status;
  return qm_dual::finish (context, stream, call, scan, shape.type, error);
}
