/* SPDX-License-Identifier: Apache-2.0 */

/* The kernels of dual-scan.cu. */

#ifndef QM_KERNELS_CUDA_DUAL_FORWARD_CUH
#define QM_KERNELS_CUDA_DUAL_FORWARD_CUH

#include "kernels/cuda/dual-scan.cuh"

namespace qm_dual
{

struct Forward
{
  Inputs in;
  Matrix y;
  bool y_vectors; /* pairs */
};

template <class S> struct ForwardShared
{
  typename S::T b[S::row_tile], c[S::row_tile];
  typename S::T x[S::column_tile], scaled[S::column_tile];
  typename S::T state[S::state_tile], square[S::square_tile];
  Steps<S::Q> steps;
};

/* y of a chunk, from the tiles and the state before it. */
template <class S>
__device__ __forceinline__ void
read_out (const Forward &scan,
          const Place &place,
          const ForwardShared<S> &shared,
          int64_t first,
          int count)
{
  const Steps<S::Q> &steps = shared.steps;
  float skip = scan.in.skip[place.head];
  Result<S::Q, S::P> y;

  y.clear ();
  multiply<INNER_LAST, INNER_FIRST, S::N> (y, shared.c, shared.state);
  y.each ([&] (int row, int, float &x) { x *= qm_power_of_2 (steps.d[row]); });
  multiply<INNER_LAST, INNER_FIRST, S::Q> (y, shared.square, shared.x);
  y.pairs ([&] (int row, int column, float &low, float &high) {
    const typename S::T *x =
        shared.x + row * pitch<typename S::T> (S::P) + column;

    if (row < count)
      store_two (scan.y.array,
                 (place.row + first + row) * scan.y.step + place.first + column,
                 column, place.columns, scan.y_vectors,
                 low + skip * qm_to_float (x[0]),
                 high + skip * qm_to_float (x[1]));
  });
}

template <class S>
__device__ __forceinline__ void
forward (const Forward &scan, ForwardShared<S> &shared)
{
  using T = typename S::T;
  const Inputs &in = scan.in;
  const Place place (in, S::P);
  float rate = -expf (in.a[place.head]);
  Result<S::N, S::P> state;

  state.clear ();
  for (int64_t first = 0; first < in.width; first += S::Q)
    {
      int count = rows_left<S::Q> (in, first);
      int64_t row = place.row + first, at = (int64_t) place.group * in.n;

      __syncthreads ();
      load_tile<T, S::Q, S::N> (shared.b, in.b, row, count, at, in.n,
                                in.vectors);
      load_tile<T, S::Q, S::N> (shared.c, in.c, row, count, at, in.n,
                                in.vectors);
      load_tile<T, S::Q, S::P> (shared.x, in.x, row, count, place.first,
                                place.columns, in.vectors);
      qm_async_commit ();
      if (threadIdx.x < 32)
        shared.steps.load (in, place.head, rate, row, count);
      state.store (shared.state);
      qm_async_wait<0> ();
      __syncthreads ();
      {
        Result<S::Q, S::Q> square;

        square.clear ();
        multiply<INNER_LAST, INNER_LAST, S::N> (square, shared.c, shared.b);
        square.each ([&] (int i, int j, float &x) {
          x = j <= i ? x * shared.steps.left (i, j) * shared.steps.s[j] : 0;
        });
        square.store (shared.square);
      }
      scale_rows<S> (shared.scaled, shared.x, shared.steps);
      __syncthreads ();
      read_out<S> (scan, place, shared, first, count);
      advance<S> (state, shared.b, shared.scaled, shared.steps);
    }
}

struct Keep
{
  Inputs in;
  void *states;
  int64_t chunks;
};

template <class S> struct KeepShared
{
  typename S::T b[S::row_tile], x[S::column_tile], scaled[S::column_tile];
  Steps<S::Q> steps;
};

/* Where the states before the first chunk of a block are kept; those of others
 * follow. */
template <class S>
__device__ __forceinline__ typename S::T *
kept_states (void *states, const Inputs &in, int64_t chunks)
{
  return (typename S::T *) states
         + ((int64_t) blockIdx.y * in.heads * in.slices + blockIdx.x) * chunks
               * (S::N * S::P);
}

template <class S>
__device__ __forceinline__ void
keep (const Keep &scan, KeepShared<S> &shared)
{
  using T = typename S::T;
  const Inputs &in = scan.in;
  const Place place (in, S::P);
  float rate = -expf (in.a[place.head]);
  T *to = kept_states<S> (scan.states, in, scan.chunks);
  Result<S::N, S::P> state;

  state.clear ();
  for (int64_t first = 0; first < in.width; first += S::Q, to += S::N * S::P)
    {
      int count = rows_left<S::Q> (in, first);
      int64_t row = place.row + first;

      state.pairs ([&] (int n, int p, float &low, float &high) {
        qm_attention::Mma<T>::store_pair (to + n * S::P + p, low, high);
      });
      __syncthreads ();
      load_tile<T, S::Q, S::N> (shared.b, in.b, row, count,
                                (int64_t) place.group * in.n, in.n, in.vectors);
      load_tile<T, S::Q, S::P> (shared.x, in.x, row, count, place.first,
                                place.columns, in.vectors);
      qm_async_commit ();
      if (threadIdx.x < 32)
        shared.steps.load (in, place.head, rate, row, count);
      qm_async_wait<0> ();
      __syncthreads ();
      scale_rows<S> (shared.scaled, shared.x, shared.steps);
      __syncthreads ();
      advance<S> (state, shared.b, shared.scaled, shared.steps);
    }
}

} /* namespace qm_dual */

#endif
