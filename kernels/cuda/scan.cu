/* SPDX-License-Identifier: Apache-2.0 */

/* The selective scan: of 16-bit types with 16 states by scan-states.cuh, of all
 * else by the kernel here. */

#include "kernels/cuda/scan-states.cuh"

namespace qm_scan
{
namespace
{

constexpr int slab = 16; /* states that b and c are staged for at once */

struct Forward
{
  Inputs in;
  Matrix y;
  float *states;
  int64_t chunk, chunks, sequences;
};

/* Floats of shared memory behind the tiles. */
__host__ __device__ constexpr int
floats (int n)
{
  return Slab<slab>::size + 3 * n * channels;
}

/* Bytes of it in all. */
template <class S>
constexpr size_t
shared_bytes (int n)
{
  return 6 * sizeof (S) * Tile<S>::size + sizeof (float) * (size_t) floats (n);
}

/* Where a lane keeps states, if that is not where its tile begins. */
struct Keep
{
  unsigned mask; /* before which of its rows */
  float *to;     /* state 0 of the first of them */
};

__device__ __forceinline__ Keep
find_rows (const Forward &scan, int64_t first, int channel)
{
  int64_t next = (first + scan.chunk - 1) / scan.chunk;
  Keep keep = { 0, scan.states
                       + (blockIdx.y * scan.chunks + next) * scan.in.n
                             * scan.in.columns
                       + channel };

  for (int i = 0; i < steps && channel < scan.in.columns; i++)
    if (first + i < scan.in.width && first + i == next * scan.chunk)
      {
        keep.mask |= 1u << i;
        next++;
      }
  return keep;
}

/* Takes one state through the rows of the lane, from `before` at the tile's
 * first; gives the state after the rows of this lane. */
template <bool every>
__device__ __forceinline__ float
advance (const Forward &scan,
         float rate,
         float before,
         float total,
         const float *b_and_c,
         const float (&s)[steps],
         const float (&su)[steps],
         const Keep &keep,
         int state,
         float (&y)[steps])
{
  int lane = (int) threadIdx.x % 32;
  float decay[steps], add[steps], c[steps];
  float whole = qm_power_of_2 (rate * total), sum = 0, h;

  load_steps (b_and_c, add);
#pragma unroll
  for (int i = 0; i < steps; i++)
    {
      decay[i] = qm_power_of_2 (rate * s[i]);
      add[i] *= su[i];
      sum = decay[i] * sum + add[i];
    }
  if (lane < 4)
    sum += whole * before;
#pragma unroll
  for (int by = 4; by < 32; by *= 2)
    {
      float other = __shfl_up_sync (0xffffffffu, sum, by);
      float others = __shfl_up_sync (0xffffffffu, whole, by);

      if (lane >= by)
        {
          sum += whole * other;
          whole *= others;
        }
    }
  h = __shfl_up_sync (0xffffffffu, sum, 4);
  h = lane < 4 ? before : h;
  load_steps (b_and_c + slab * pitch, c);
#pragma unroll
  for (int i = 0, kept = 0; i < steps; i++)
    {
      if (every && (keep.mask >> i & 1))
        keep.to[((int64_t) kept++ * scan.in.n + state) * scan.in.columns] = h;
      h = decay[i] * h + add[i];
      y[i] += c[i] * h;
    }
  return sum;
}

template <class S>
__device__ __forceinline__ void
stage_all (const Forward &scan, S *tiles, int64_t tile, int first)
{
  const Inputs &in = scan.in;
  int64_t row = blockIdx.y * in.width + tile * rows;
  int count = (int) min ((int64_t) rows, in.width - tile * rows);

  stage (tiles, in.u, row, count, first, in.columns, in.vectors);
  stage (tiles + Tile<S>::size, in.dt, row, count, first, in.columns,
         in.vectors);
  stage (tiles + 2 * Tile<S>::size, in.z, row, count, first, in.columns,
         in.vectors);
  __pipeline_commit ();
}

/* Keeps the states before a tile. */
__device__ __forceinline__ void
keep_states (const Forward &scan, int64_t tile, int first, const float *carry)
{
  float *to = scan.states
              + (blockIdx.y * scan.chunks + tile) * scan.in.n * scan.in.columns
              + first;

  for (int i = (int) threadIdx.x; i < scan.in.n * channels; i += threads)
    if (first + i % channels < scan.in.columns)
      to[(int64_t) (i / channels) * scan.in.columns + i % channels] = carry[i];
}

/* With `every`, states are kept at any rows, else at the first of every tile.
 */
template <class S, bool every>
__global__ void
__launch_bounds__ (threads, 3)
    scan_kernel (const __grid_constant__ Forward scan)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  constexpr int size = Tile<S>::size;
  const Inputs &in = scan.in;
  S *tiles = (S *) shared;
  float *b_and_c = (float *) (tiles + 6 * size);
  float *rates = b_and_c + Slab<slab>::size;
  float *carry = rates + in.n * channels;
  int lane = (int) threadIdx.x % 32, first = (int) blockIdx.x * channels;
  int mine = (int) threadIdx.x / 32 * 4 + lane % 4, channel = first + mine;
  bool inside = channel < in.columns;
  float bias = inside && in.bias != nullptr ? in.bias[channel] : 0;
  float skip = inside ? in.skip[channel] : 0;
  int64_t count_of_tiles = (in.width + rows - 1) / rows;
  Slab<slab> next;

  load_rates (in, first, rates);
  for (int i = (int) threadIdx.x; i < in.n * channels; i += threads)
    carry[i] = 0;
  stage_all (scan, tiles, 0, first);
  next.fetch (in, blockIdx.y * in.width, (int) min ((int64_t) rows, in.width),
              0);
  for (int64_t tile = 0; tile < count_of_tiles; tile++)
    {
      int64_t row = blockIdx.y * in.width + tile * rows;
      int count = (int) min ((int64_t) rows, in.width - tile * rows);
      const float *before = carry + tile % 2 * in.n * channels;
      float *after = carry + (tile + 1) % 2 * in.n * channels;
      S *u = tiles + tile % 2 * 3 * size, *dt = u + size, *z = dt + size;
      float s[steps], su[steps], y[steps], total = 0;
      Keep keep = {};

      next.put (in, b_and_c);
      __pipeline_wait_prior (0);
      __syncthreads ();
      if (tile + 1 < count_of_tiles)
        stage_all (scan, tiles + (tile + 1) % 2 * 3 * size, tile + 1, first);
      if (every)
        keep = find_rows (scan, tile * rows + lane / 4 * steps, channel);
      else
        keep_states (scan, tile, first, before);
#pragma unroll
      for (int i = 0; i < steps; i++)
        {
          int r = lane / 4 * steps + i, at = Tile<S>::at (r, mine);
          float value = qm_to_float (u[at]);

          s[i] = r < count ? softplus (qm_to_float (dt[at]) + bias) : 0;
          su[i] = s[i] * value;
          y[i] = skip * value;
          total += s[i];
        }
      for (int state = 0; state < in.n; state += slab)
        {
          bool more = state + slab < in.n;

          if (more || tile + 1 < count_of_tiles)
            next.fetch (in, more ? row : row + rows,
                        more ? count
                             : (int) min ((int64_t) rows,
                                          in.width - (tile + 1) * rows),
                        more ? state + slab : 0);
#pragma unroll 1
          for (int n = state; n < in.n && n < state + slab; n++)
            {
              float end = advance<every> (scan, rates[n * channels + mine],
                                          before[n * channels + mine], total,
                                          b_and_c + (n - state) * pitch
                                              + lane / 4 * steps,
                                          s, su, keep, n, y);

              if (lane >= 28)
                after[n * channels + mine] = end;
            }
          if (more)
            {
              __syncthreads ();
              next.put (in, b_and_c);
              __syncthreads ();
            }
        }
#pragma unroll
      for (int i = 0; i < steps; i++)
        {
          int at = Tile<S>::at (lane / 4 * steps + i, mine);

          if (in.z.array)
            y[i] *=
                qm_activation<false> (QM_FUNCTION_SILU, qm_to_float (z[at]));
          u[at] = qm_from_float<S> (y[i]);
        }
      __syncthreads ();
      unstage (u, scan.y, row, count, first, in.columns, in.vectors);
    }
}

template <class S>
QmStatus
launch (QmCudaContext *context,
        cudaStream_t stream,
        const QmOpCall *call,
        const Forward &scan,
        QmError *error)
{
  bool every = scan.chunk != rows && (scan.chunks > 1 || scan.in.width > rows);
  auto kernel = every ? scan_kernel<S, true> : scan_kernel<S, false>;
  size_t bytes = shared_bytes<S> (scan.in.n);

  static_assert (shared_bytes<S> (qm_cuda_scan_states (75))
                         <= (size_t) qm_cuda_shared_limit (75)
                     && shared_bytes<S> (qm_cuda_scan_states (86))
                            <= (size_t) qm_cuda_shared_limit (86)
                     && shared_bytes<S> (qm_cuda_scan_states (80))
                            <= (size_t) qm_cuda_shared_limit (80),
                 "a block has so much");

  dim3 grid ((unsigned) ((scan.in.columns + channels - 1) / channels),
             (unsigned) scan.sequences);
  cudaError_t code;

  code =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            (int) bytes);
  if (code != cudaSuccess)
    return qm_cuda_failed (code, qm_op_name (call->op), error);
  kernel<<<grid, threads, bytes, stream>>> (scan);
  return qm_cuda_launched (call, error);
}

/* Whether `states::kernel` takes the scan, whose tiles are moved as vectors. */
bool
takes_states (const Forward &scan, const QmTensor *in)
{
  return scan.in.vectors && in[0].type != QM_TYPE_F32 && scan.in.n == states::n
         && scan.in.columns % states::at_once == 0
         && scan.chunk % states::lanes == 0 && in[3].type == in[0].type
         && in[4].type == in[0].type && qm_cuda_vectors (&in[3], states::each)
         && qm_cuda_vectors (&in[4], states::each);
}

template <class S>
QmStatus
launch_states (cudaStream_t stream,
               const QmOpCall *call,
               const Forward &scan,
               QmError *error)
{
  states::States given = { .in = scan.in,
                           .y = scan.y,
                           .kept = scan.states,
                           .chunk = scan.chunk,
                           .chunks = scan.chunks };
  dim3 grid ((unsigned) ((scan.in.columns + states::channels - 1)
                         / states::channels),
             (unsigned) scan.sequences);

  bool every = scan.chunk % states::rows != 0;
  auto kernel = scan.in.z.array.data == nullptr ? states::kernel<S, false, true>
                : every                         ? states::kernel<S, true, true>
                        : states::kernel<S, true, false>;

  kernel<<<grid, states::threads, 0, stream>>> (given);
  return qm_cuda_launched (call, error);
}

} /* namespace */

QmStatus
run (QmCudaContext *context,
     cudaStream_t stream,
     const QmOpCall *call,
     const QmTensor *in,
     const QmTensor *y,
     float *states,
     int64_t chunk,
     QmError *error)
{
  const QmTensor *tensors[] = { &in[0], &in[1], &in[7], y };
  QmTensor none = {};
  Forward scan = { .in = inputs (call, in) };

  if (y == nullptr)
    tensors[3] = &none;
  scan.y = matrix (*tensors[3]);
  scan.states = states;
  scan.chunk = chunk;
  scan.sequences = in[0].shape[0] / scan.in.width;
  scan.chunks = (scan.in.width + chunk - 1) / chunk;
  scan.in.vectors = moves_vectors (tensors, 4, in[0].type);
  if (takes_states (scan, in))
    return in[0].type == QM_TYPE_BF16
               ? launch_states<__nv_bfloat16> (stream, call, scan, error)
               : launch_states<__half> (stream, call, scan, error);
  if (scan.in.vectors && in[0].type == QM_TYPE_BF16)
    return launch<__nv_bfloat16> (context, stream, call, scan, error);
  if (scan.in.vectors && in[0].type == QM_TYPE_F16)
    return launch<__half> (context, stream, call, scan, error);
  return launch<float> (context, stream, call, scan, error);
}

} /* namespace qm_scan */

QmStatus
qm_cuda_selective_scan (QmCudaContext *context,
                        cudaStream_t stream,
                        const QmOpCall *call,
                        QmError *error)
{
  return qm_scan::run (context, stream, call, call->inputs, &call->outputs[0],
                       (float *) call->outputs[1].data, call->attributes.chunk,
                       error);
}
