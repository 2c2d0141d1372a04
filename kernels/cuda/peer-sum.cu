/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-common.cuh"
#include "kernels/cuda/peer-copies.h"

namespace
{

constexpr int THREADS = 256;
/* Enough to fill all multiprocessors of any GPU twice over. */
constexpr int64_t MOST_BLOCKS = 2048;

template <class T, int N>
__device__ __forceinline__ void
add (const QmPeerSum &sum, int64_t i)
{
  float total[N], x[N];

  qm_load_as<T, N> (sum.parts[0], i, total);
  for (int rank = 1; rank < sum.ranks; rank++)
    {
      qm_load_as<T, N> (sum.parts[rank], i, x);
#pragma unroll
      for (int j = 0; j < N; j++)
        total[j] += x[j];
    }
  qm_store_as<T, N> (sum.to, i, total);
}

template <class T, int N>
__global__ void
__launch_bounds__ (THREADS) peer_sum (const __grid_constant__ QmPeerSum sum)
{
  const int64_t n = (int64_t) sum.count, vectors = n / N;
  const int64_t first = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  const int64_t step = (int64_t) gridDim.x * THREADS;

  for (int64_t i = first; i < vectors; i += step)
    add<T, N> (sum, i * N);
  for (int64_t i = vectors * N + first; i < n; i += step)
    add<T, 1> (sum, i);
}

template <class T, int N>
cudaError_t
launch (const QmPeerSum &sum, cudaStream_t stream)
{
  const int64_t blocks = ((int64_t) sum.count / N + THREADS - 1) / THREADS + 1;

  peer_sum<T, N>
      <<<(unsigned) (blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), THREADS, 0,
         stream>>> (sum);
  return cudaGetLastError ();
}

template <class T>
cudaError_t
run (const QmPeerSum &sum, cudaStream_t stream)
{
  uintptr_t all = (uintptr_t) sum.to;

  for (int rank = 0; rank < sum.ranks; rank++)
    all |= (uintptr_t) sum.parts[rank];
  return all % 16 == 0 ? launch<T, 16 / sizeof (T)> (sum, stream)
                       : launch<T, 1> (sum, stream);
}

template <class T>
cudaError_t
load ()
{
  cudaFuncAttributes attributes;
  cudaError_t code
      = cudaFuncGetAttributes (&attributes, peer_sum<T, 16 / sizeof (T)>);

  return code == cudaSuccess
             ? cudaFuncGetAttributes (&attributes, peer_sum<T, 1>)
             : code;
}

} /* namespace */

extern "C" cudaError_t
qm_peer_sum (const QmPeerSum *sum, cudaStream_t stream)
{
  if (sum->count == 0)
    return cudaSuccess;
  switch (sum->type)
    {
    case QM_TYPE_F16:
      return run<__half> (*sum, stream);
    case QM_TYPE_BF16:
      return run<__nv_bfloat16> (*sum, stream);
    default:
      return run<float> (*sum, stream);
    }
}

extern "C" cudaError_t
qm_peer_sum_load (void)
{
  cudaError_t code = load<float> ();

  if (code == cudaSuccess)
    code = load<__half> ();
  return code == cudaSuccess ? load<__nv_bfloat16> () : code;
}
