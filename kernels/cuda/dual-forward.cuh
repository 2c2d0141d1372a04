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

/* Tiles of b take turns. */
template <class S> struct ForwardShared
{
  typename S::T b[2][S::row_tile], c[S::row_tile];
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

/* Begins to read what belongs to the chunk at row `first`, if there is one: b,
 * or c and x. */
template <class S>
__device__ __forceinline__ void
read_b (const Inputs &in, const Place &place, typename S::T *b, int64_t first)
{
  if (first < in.width)
    load_tile<typename S::T, S::Q, S::N> (b, in.b, place.row + first,
                                          rows_left<S::Q> (in, first),
                                          (int64_t) place.group * in.n, in.n,
                                          in.vectors);
}

template <class S>
__device__ __forceinline__ void
read_c (const Inputs &in, const Place &place, typename S::T *c, int64_t first)
{
  if (first < in.width)
    load_tile<typename S::T, S::Q, S::N> (c, in.c, place.row + first,
                                          rows_left<S::Q> (in, first),
                                          (int64_t) place.group * in.n, in.n,
                                          in.vectors);
}

template <class S>
__device__ __forceinline__ void
read_x (const Matrix &from,
        const Inputs &in,
        const Place &place,
        typename S::T *x,
        int64_t first,
        bool vectors)
{
  if (first < in.width)
    load_tile<typename S::T, S::Q, S::P> (x, from, place.row + first,
                                          rows_left<S::Q> (in, first),
                                          place.first, place.columns, vectors);
}

template <class S>
__device__ __forceinline__ void
forward (const Forward &scan, ForwardShared<S> &shared)
{
  const Inputs &in = scan.in;
  const Steps<S::Q> &steps = shared.steps;
  const Place place (in, S::P);
  float rate = -expf (in.a[place.head]);
  Result<S::N, S::P> state;
  RawSteps<S::Q> raw;

  state.clear ();
  raw.read (in, place.head, place.row, 0);
  read_b<S> (in, place, shared.b[0], 0);
  read_c<S> (in, place, shared.c, 0);
  read_x<S> (in.x, in, place, shared.x, 0, in.vectors);
  for (int64_t first = 0, turn = 0; first < in.width; first += S::Q, turn ^= 1)
    {
      int count = rows_left<S::Q> (in, first);

      __syncthreads ();
      if (threadIdx.x < 32)
        shared.steps.make (in, raw, rate, count);
      state.store (shared.state);
      qm_async_commit ();
      qm_async_wait<0> ();
      __syncthreads ();
      raw.read (in, place.head, place.row, first + S::Q);
      read_b<S> (in, place, shared.b[turn ^ 1], first + S::Q);
      {
        Result<S::Q, S::Q> square;

        square.clear ();
        multiply<INNER_LAST, INNER_LAST, S::N> (square, shared.c,
                                                shared.b[turn]);
        square.each ([&] (int i, int j, float &x) {
          x = j <= i ? x * steps.left (i, j) * steps.s[j] : 0;
        });
        square.store (shared.square);
      }
      scale_rows<S> (shared.scaled, shared.x, [&] (int r) {
        return steps.s[r] * steps.left (S::Q - 1, r);
      });
      __syncthreads ();
      read_out<S> (scan, place, shared, first, count);
      __syncthreads ();
      read_c<S> (in, place, shared.c, first + S::Q);
      read_x<S> (in.x, in, place, shared.x, first + S::Q, in.vectors);
      advance<S> (state, shared.b[turn], shared.scaled, steps);
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
  typename S::T b[2][S::row_tile], x[2][S::column_tile];
  typename S::T scaled[S::column_tile];
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
  const Steps<S::Q> &steps = shared.steps;
  const Place place (in, S::P);
  float rate = -expf (in.a[place.head]);
  T *to = kept_states<S> (scan.states, in, scan.chunks);
  Result<S::N, S::P> state;
  RawSteps<S::Q> raw;

  state.clear ();
  raw.read (in, place.head, place.row, 0);
  read_b<S> (in, place, shared.b[0], 0);
  read_x<S> (in.x, in, place, shared.x[0], 0, in.vectors);
  for (int64_t first = 0, turn = 0; first < in.width; first += S::Q, turn ^= 1)
    {
      int count = rows_left<S::Q> (in, first);

      state.pairs ([&] (int n, int p, float &low, float &high) {
        qm_attention::Mma<T>::store_pair (to + n * S::P + p, low, high);
      });
      to += S::N * S::P;
      __syncthreads ();
      if (threadIdx.x < 32)
        shared.steps.make (in, raw, rate, count);
      qm_async_commit ();
      qm_async_wait<0> ();
      __syncthreads ();
      raw.read (in, place.head, place.row, first + S::Q);
      read_b<S> (in, place, shared.b[turn ^ 1], first + S::Q);
      read_x<S> (in.x, in, place, shared.x[turn ^ 1], first + S::Q, in.vectors);
      scale_rows<S> (shared.scaled, shared.x[turn], [&] (int r) {
        return steps.s[r] * steps.left (S::Q - 1, r);
      });
      __syncthreads ();
      advance<S> (state, shared.b[turn], shared.scaled, steps);
    }
}

} /* namespace qm_dual */

#endif
