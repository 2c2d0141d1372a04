/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel of dual-scan-backward.cu.
 *
 * A block goes through the chunks of its head from the last one to the first,
 * with the gradient dS of the state behind a chunk in registers; the state S
 * before it was kept.  With M = (c b') o L, R = dy x' and what dual-scan.cuh
 * says,
 *
 *   dG = L o R s          dc = dG b + e dy S'       db = dG' c + f s x dS'
 *   du = M' dy + f b dS   dx = s du + skip dy       dS = exp(d[last]) dS
 *                                                        + (e c)' dy
 *
 * and the gradient of d[i] is what row i of M o R s adds up to, less its
 * column, and with e (c S)[i] dy[i], less f s (b dS)[i] x[i]; the last of a
 * chunk has what the state behind it has of decay.  Row and column are sums of
 * the same numbers, so that what is in both leaves nothing; only within a chunk
 * are such differences added up. */

#ifndef QM_KERNELS_CUDA_DUAL_BACKWARD_CUH
#define QM_KERNELS_CUDA_DUAL_BACKWARD_CUH

#include "kernels/cuda/dual-forward.cuh"

namespace qm_dual
{

struct Backward
{
  Inputs in;
  Matrix dy, dx, ddt;
  const void *states;
  void *columns; /* parts of db, then of dc, each [parts][rows][groups n] */
  float *steps;  /* parts of ddt, or NULL: there is one */
  float *sums;   /* of a, skip and bias, each [sequences slices][heads] */
  int64_t chunks, rows;
  int parts;
  bool vectors;                  /* of dy, and of what was kept: always */
  bool dx_vectors, part_vectors; /* pairs */
};

/* Parts of sums over rows of a chunk, at most so many of either kind. */
template <class S> struct Sums
{
  static constexpr int rows = warps * 16;
  static constexpr int columns = Result<S::Q, S::Q>::down * S::Q;
  float square_rows[rows], square_columns[columns];
  float through[rows]; /* e (c S) dy */
  float behind[rows];  /* f (b dS) x */
  float direct[rows];  /* du x */
  float state[warps];  /* S dS */
};

template <class S> struct BackwardShared
{
  typename S::T b[S::row_tile], c[S::row_tile];
  typename S::T x[S::column_tile], dy[S::column_tile];
  typename S::T state[S::state_tile], dstate[S::state_tile];
  typename S::T m[S::square_tile], dg[S::square_tile];
  Steps<S::Q> steps;
  Sums<S> sums;
};

/* What a thread adds up of a head. */
struct HeadSums
{
  float rate, skip, bias;
};

template <class S>
__device__ __forceinline__ void
load_state (typename S::T *tile, const typename S::T *from)
{
  using T = typename S::T;
  constexpr int width = 16 / (int) sizeof (T), across = S::P / width;

  for (int i = (int) threadIdx.x; i < S::N * across; i += threads)
    qm_async_copy<16> (tile + i / across * pitch<T> (S::P) + i % across * width,
                       from + i * width, 16);
}

/* M and dG, and what they add to the gradient of d: of M o R s = (c b') o dG
 * what is below the diagonal, on which nothing decays. */
template <class S>
__device__ __forceinline__ void
make_squares (BackwardShared<S> &shared)
{
  using T = typename S::T;
  using Mma = qm_attention::Mma<T>;
  constexpr int ld = pitch<T> (S::Q);
  const Steps<S::Q> &steps = shared.steps;
  int lane = (int) threadIdx.x % 32;
  Result<S::Q, S::Q> m, dg;

  m.clear ();
  dg.clear ();
  multiply<INNER_LAST, INNER_LAST, S::N> (m, shared.c, shared.b);
  multiply<INNER_LAST, INNER_LAST, S::P> (dg, shared.dy, shared.x);
  if (m.takes_part ())
#pragma unroll
    for (int i = 0; i < m.high; i++)
#pragma unroll
      for (int j = 0; j < m.wide; j++)
#pragma unroll
        for (int k = 0; k < 4; k++)
          {
            int row = m.warp_row () + lane / 4 + i * 16 + k % 2 * 8;
            int column = m.warp_column () + lane % 4 * 2 + j * 16 + k / 2 * 8;
            float *g = &m.x[i][j][k / 2][k % 2 * 2];
            float *r = &dg.x[i][j][k / 2][k % 2 * 2];
            float left[2];

#pragma unroll
            for (int e = 0; e < 2; e++)
              {
                left[e] = column + e <= row ? steps.left (row, column + e) : 0;
                r[e] *= left[e] * steps.s[column + e];
              }
            Mma::store_pair (shared.m + row * ld + column, g[0] * left[0],
                             g[1] * left[1]);
            Mma::store_pair (shared.dg + row * ld + column, r[0], r[1]);
#pragma unroll
            for (int e = 0; e < 2; e++)
              g[e] = column + e < row ? g[e] * r[e] : 0;
          }
  m.row_sums (shared.sums.square_rows,
              [] (int, int, float low, float high) { return low + high; });
  m.column_sums (shared.sums.square_columns);
}

/* A part of db or dc. */
template <class S>
__device__ __forceinline__ void
store_part (const Backward &scan,
            const Place &place,
            int which,
            int64_t row,
            int count,
            Result<S::Q, S::N> &result)
{
  using T = typename S::T;
  const Inputs &in = scan.in;
  int64_t step = (int64_t) in.groups * in.n;
  int part = (place.head % (in.heads / in.groups)) * in.slices + place.slice;
  T *to = (T *) scan.columns
          + (((int64_t) which * scan.parts + part) * scan.rows + row) * step
          + (int64_t) place.group * in.n;

  result.pairs ([&] (int r, int n, float &low, float &high) {
    T *at = to + r * step + n;

    if (r < count && scan.part_vectors && n < in.n)
      qm_attention::Mma<T>::store_pair (at, low, high);
    else if (r < count)
      {
        if (n < in.n)
          at[0] = qm_from_float<T> (low);
        if (n + 1 < in.n)
          at[1] = qm_from_float<T> (high);
      }
  });
}

template <class S>
__device__ __forceinline__ void
make_dc (const Backward &scan,
         const Place &place,
         BackwardShared<S> &shared,
         int64_t row,
         int count)
{
  using T = typename S::T;
  Result<S::Q, S::N> dc;

  dc.clear ();
  multiply<INNER_LAST, INNER_LAST, S::P> (dc, shared.dy, shared.state);
  dc.each (
      [&] (int r, int, float &x) { x *= qm_power_of_2 (shared.steps.d[r]); });
  dc.row_sums (shared.sums.through, [&] (int r, int n, float low, float high) {
    float2 c = two (shared.c + r * pitch<T> (S::N) + n);

    return low * c.x + high * c.y;
  });
  multiply<INNER_LAST, INNER_FIRST, S::Q> (dc, shared.dg, shared.b);
  store_part<S> (scan, place, 1, row, count, dc);
}

template <class S>
__device__ __forceinline__ void
make_db (const Backward &scan,
         const Place &place,
         BackwardShared<S> &shared,
         int64_t row,
         int count)
{
  Result<S::Q, S::N> db;

  db.clear ();
  multiply<INNER_LAST, INNER_LAST, S::P> (db, shared.x, shared.dstate);
  db.each ([&] (int r, int, float &x) {
    x *= shared.steps.s[r] * shared.steps.left (S::Q - 1, r);
  });
  multiply<INNER_FIRST, INNER_FIRST, S::Q> (db, shared.dg, shared.c);
  store_part<S> (scan, place, 0, row, count, db);
}

/* dx, and the sums of dy x for skip. */
template <class S>
__device__ __forceinline__ void
make_dx (const Backward &scan,
         const Place &place,
         BackwardShared<S> &shared,
         int64_t row,
         int count,
         HeadSums &sums)
{
  using T = typename S::T;
  const Steps<S::Q> &steps = shared.steps;
  float skip = scan.in.skip[place.head];
  Result<S::Q, S::P> du;
  auto by_x = [&] (int r, int p, float low, float high) {
    float2 x = two (shared.x + r * pitch<T> (S::P) + p);

    return low * x.x + high * x.y;
  };

  du.clear ();
  multiply<INNER_LAST, INNER_FIRST, S::N> (du, shared.b, shared.dstate);
  du.each ([&] (int r, int, float &x) { x *= steps.left (S::Q - 1, r); });
  du.row_sums (shared.sums.behind, by_x);
  multiply<INNER_FIRST, INNER_FIRST, S::Q> (du, shared.m, shared.dy);
  du.row_sums (shared.sums.direct, by_x);
  du.pairs ([&] (int r, int p, float &low, float &high) {
    float2 dy = two (shared.dy + r * pitch<T> (S::P) + p);
    float2 x = two (shared.x + r * pitch<T> (S::P) + p);

    sums.skip += dy.x * x.x + dy.y * x.y;
    if (r < count)
      store_two (scan.dx.array, (row + r) * scan.dx.step + place.first + p, p,
                 place.columns, scan.dx_vectors, steps.s[r] * low + skip * dy.x,
                 steps.s[r] * high + skip * dy.y);
  });
}

/* The sum of parts that stand `step` apart. */
template <int COUNT>
__device__ __forceinline__ float
add_up (const float *parts, int step)
{
  float sum = 0;

#pragma unroll
  for (int i = 0; i < COUNT; i++)
    sum += parts[i * step];
  return sum;
}

/* By the first warp: gradients of the steps of a chunk from all sums.  What
 * decays at row t is of rows from t on what comes from before, of rows before t
 * what is left behind the chunk, and the state. */
template <class S>
__device__ __forceinline__ void
finish_steps (const Backward &scan,
              const Place &place,
              const BackwardShared<S> &shared,
              float rate,
              int64_t row,
              int count,
              HeadSums &sums)
{
  constexpr int each = S::Q / 32 > 1 ? S::Q / 32 : 1;
  constexpr int across = Result<S::Q, S::Q>::across;
  int lane = (int) threadIdx.x;
  float behind[each] = {}, change[each] = {}, total = 0, later = 0, earlier;
  float state = qm_power_of_2 (shared.steps.d[S::Q - 1])
                * add_up<warps> (shared.sums.state, 1);

#pragma unroll
  for (int k = 0; k < each; k++)
    if (lane * each + k < S::Q)
      {
        int r = lane * each + k;

        behind[k] =
            shared.steps.s[r] * add_up<across> (shared.sums.behind + r, S::Q);
        change[k] =
            add_up<across> (shared.sums.square_rows + r, S::Q)
            - add_up<Result<S::Q, S::Q>::down> (shared.sums.square_columns + r,
                                                S::Q)
            + add_up<across> (shared.sums.through + r, S::Q);
        total += behind[k];
        later += change[k];
      }
  /* Of this lane and all behind it, and of those before it. */
  earlier = total;
#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2)
    {
      float after = __shfl_down_sync (0xffffffffu, later, lanes);
      float before = __shfl_up_sync (0xffffffffu, earlier, lanes);

      if (lane + lanes < 32)
        later += after;
      if (lane >= lanes)
        earlier += before;
    }
  earlier -= total;
#pragma unroll
  for (int k = 0; k < each; k++)
    if (lane * each + k < count)
      {
        int r = lane * each + k;
        float decay = later + earlier + state, ds;

        ds = (add_up<across> (shared.sums.direct + r, S::Q) + rate * decay)
             * shared.steps.slope[r];
        sums.rate += shared.steps.s[r] * decay;
        sums.bias += ds;
        if (scan.steps != nullptr)
          scan.steps[((int64_t) place.slice * scan.rows + row + r)
                         * scan.in.heads
                     + place.head] = ds;
        else
          qm_store (scan.ddt.array, (row + r) * scan.ddt.step + place.head, ds);
        later -= change[k];
        earlier += behind[k];
      }
}

/* Begins to read b, x and the state before a chunk, which is -1 where there is
 * none. */
template <class S>
__device__ __forceinline__ void
read_ahead (const Backward &scan,
            const Place &place,
            BackwardShared<S> &shared,
            const typename S::T *kept,
            int64_t chunk)
{
  if (chunk < 0)
    return;
  read_b<S> (scan.in, place, shared.b, chunk * S::Q);
  read_x<S> (scan.in.x, scan.in, place, shared.x, chunk * S::Q,
             scan.in.vectors);
  load_state<S> (shared.state, kept + chunk * (S::N * S::P));
}

template <class S>
__device__ __forceinline__ void
backward (const Backward &scan, BackwardShared<S> &shared)
{
  using T = typename S::T;
  const Inputs &in = scan.in;
  const Place place (in, S::P);
  const T *kept = kept_states<S> ((void *) scan.states, in, scan.chunks);
  float rate = -expf (in.a[place.head]);
  HeadSums sums = {};
  Result<S::N, S::P> dstate;
  RawSteps<S::Q> raw;

  dstate.clear ();
  raw.read (in, place.head, place.row, (scan.chunks - 1) * S::Q);
  read_ahead<S> (scan, place, shared, kept, scan.chunks - 1);
  for (int64_t chunk = scan.chunks; chunk-- > 0;)
    {
      int count = rows_left<S::Q> (in, chunk * S::Q);
      int64_t row = place.row + chunk * S::Q;
      float product = 0;

      __syncthreads ();
      read_c<S> (in, place, shared.c, chunk * S::Q);
      read_x<S> (scan.dy, in, place, shared.dy, chunk * S::Q, scan.vectors);
      qm_async_commit ();
      if (threadIdx.x < 32)
        shared.steps.make (in, raw, rate, count);
      dstate.store (shared.dstate);
      qm_async_wait<0> ();
      __syncthreads ();
      make_squares<S> (shared);
      dstate.pairs ([&] (int n, int p, float &low, float &high) {
        float2 state = two (shared.state + n * pitch<T> (S::P) + p);

        product += low * state.x + high * state.y;
      });
      product = qm_warp_sum (product);
      if (threadIdx.x % 32 == 0)
        shared.sums.state[threadIdx.x / 32] = product;
      __syncthreads ();
      make_dc<S> (scan, place, shared, row, count);
      make_db<S> (scan, place, shared, row, count);
      make_dx<S> (scan, place, shared, row, count, sums);
      __syncthreads ();
      raw.read (in, place.head, place.row, (chunk - 1) * S::Q);
      read_ahead<S> (scan, place, shared, kept, chunk - 1);
      if (threadIdx.x < 32)
        finish_steps<S> (scan, place, shared, rate, row, count, sums);
      scale_rows<S> (shared.dy, shared.dy,
                     [&] (int r) { return qm_power_of_2 (shared.steps.d[r]); });
      __syncthreads ();
      advance<S> (dstate, shared.c, shared.dy, shared.steps);
    }
  __syncthreads ();
  sums.skip = qm_block_sum (sums.skip, shared.sums.state);
  if (threadIdx.x < 32)
    {
      int64_t all = in.sequences * in.slices * in.heads;
      float *to = scan.sums
                  + (place.sequence * in.slices + place.slice) * in.heads
                  + place.head;

      sums.rate = qm_warp_sum (sums.rate);
      sums.bias = qm_warp_sum (sums.bias);
      if (threadIdx.x == 0)
        {
          to[0] = sums.rate * rate;
          to[all] = sums.skip;
          to[2 * all] = sums.bias;
        }
    }
}

} /* namespace qm_dual */

#endif
