/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/dual-forward.cuh"

#include <math.h>

namespace qm_dual
{

Inputs
inputs (const QmOpCall *call, const QmTensor *in, int columns)
{
  const QmAttributes &attributes = call->attributes;
  Inputs scan = {
    .x = qm_scan::matrix (in[0]),
    .dt = qm_scan::matrix (in[1]),
    .b = qm_scan::matrix (in[3]),
    .c = qm_scan::matrix (in[4]),
    .a = (const float *) in[2].data,
    .skip = (const float *) in[5].data,
    .bias = qm_tensor_present (&in[6]) ? (const float *) in[6].data : nullptr,
    .width = attributes.width,
    .sequences = in[0].shape[0] / attributes.width,
    .heads = (int) in[2].shape[0],
    .groups = (int) attributes.count,
    .least = (float) attributes.value,
    .most = attributes.cap > 0 ? (float) attributes.cap : INFINITY,
  };

  scan.n = (int) (in[3].shape[1] / attributes.count);
  scan.p = (int) (in[0].shape[1] / scan.heads);
  scan.slices = (scan.p + columns - 1) / columns;
  return scan;
}

namespace
{

template <class S>
__global__
__launch_bounds__ (threads,
                   S::Q == 64 ? 2 : 1) void forward_kernel (Forward scan)
{
  extern __shared__ __align__ (16) unsigned char memory[];

  if constexpr (is_started<typename S::T> ((int) sizeof (ForwardShared<S>)))
    forward<S> (scan, *(ForwardShared<S> *) memory);
}

template <class S>
__global__
__launch_bounds__ (threads, S::Q == 64 ? 2 : 1) void keep_kernel (Keep scan)
{
  extern __shared__ __align__ (16) unsigned char memory[];

  if constexpr (is_started<typename S::T> ((int) sizeof (KeepShared<S>)))
    keep<S> (scan, *(KeepShared<S> *) memory);
}

/* Starts the kernel of a shape for what is asked for. */
struct StartForward
{
  const Forward &scan;

  template <class S>
  QmStatus
  operator() (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error) const
  {
    static_assert (sizeof (ForwardShared<S>) <= room<S> (),
                   "a block has so much");
    return start (context, stream, call, forward_kernel<S>,
                  sizeof (ForwardShared<S>), scan.in, scan, error);
  }
};

struct StartKeep
{
  const Keep &scan;

  template <class S>
  QmStatus
  operator() (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error) const
  {
    static_assert (sizeof (KeepShared<S>) <= room<S> (), "a block has so much");
    return start (context, stream, call, keep_kernel<S>, sizeof (KeepShared<S>),
                  scan.in, scan, error);
  }
};

} /* namespace */

QmStatus
keep_states (QmCudaContext *context,
             cudaStream_t stream,
             const QmOpCall *call,
             const Inputs &in,
             const QmCudaDualShape &shape,
             void *states,
             QmError *error)
{
  Keep scan = { .in = in,
                .states = states,
                .chunks = (in.width + shape.rows - 1) / shape.rows };

  return dispatch (StartKeep{ scan }, shape, context, stream, call, error);
}

} /* namespace qm_dual */

QmStatus
qm_cuda_dual_scan (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor *in = call->inputs, *y = &call->outputs[0];
  const QmTensor *factors[] = { &in[0], &in[3], &in[4] };
  QmCudaDualShape shape =
      qm_cuda_dual_shape (context->architecture, factors, 3,
                          in[3].shape[1] / call->attributes.count);
  qm_dual::Forward scan = {
    .in = qm_dual::inputs (call, in, shape.columns > 0 ? shape.columns : 1),
    .y = qm_scan::matrix (*y)
  };

  scan.in.vectors = qm_dual::reads_vectors (scan.in, factors, 3, shape.type);
  scan.y_vectors = scan.in.p % 2 == 0 && qm_cuda_vectors (y, 2);
  return qm_dual::dispatch (qm_dual::StartForward{ scan }, shape, context,
                            stream, call, error);
}
