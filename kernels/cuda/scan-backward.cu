/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of the selective scan: of bf16 with 16 states by
 * scan-states-backward.cuh, of all else by the kernel here.
 *
 * Tiles are gone through from the last to the first; the states that were kept
 * say what was before each.  The gradients of b and c are sums over channels:
 * those of a warp's four are made by the tensor cores, as a product with ones,
 * those of a block's warps in shared memory, and those of all blocks, through
 * the workspace, by a second kernel, which does the same for sums over
 * sequences.  All sums are in a fixed order. */

#include "kernels/cuda/scan-lanes.cuh"
#include "kernels/cuda/scan-states-backward.cuh"

namespace qm_scan
{
namespace
{

constexpr int warps = threads / 32;
constexpr int parts = 4 * 32 + 4;       /* of a warp: sums of a state */
constexpr int rate_step = channels + 4; /* sums of a lane for the rates */

struct Backward
{
  Inputs in;
  Matrix dy, du, ddt, dz, db, dc;
  float *da, *dskip, *dbias;
  const float *states;
  float *columns, *sums; /* of the workspace */
  int64_t tile, tiles;   /* rows of a tile, and tiles of a sequence */
  int64_t chunk, chunks, sequences;
  int groups, stages; /* blocks beside each other; tiles in shared memory */
};

struct Shared
{
  float *b_and_c, *rates, *before, *carry, *da; /* the last four [n, channels],
                                                   `before` of each stage */
  float *lane_da; /* [slab, lanes of a channel, channels] */
  float *sums;    /* [warps, slab, parts] */
};

/* Floats of shared memory behind the tiles, where `slab` states are summed over
 * warps at once. */
template <int slab>
__host__ __device__ constexpr int
floats (int n, int stages)
{
  return Slab<slab>::size + (3 + stages) * n * channels + slab * 8 * rate_step
         + warps * slab * parts;
}

template <int slab>
__device__ __forceinline__ Shared
divide (float *memory, int n, int stages)
{
  Shared shared = { memory };

  shared.rates = shared.b_and_c + Slab<slab>::size;
  shared.before = shared.rates + n * channels;
  shared.carry = shared.before + stages * n * channels;
  shared.da = shared.carry + n * channels;
  shared.lane_da = shared.da + n * channels;
  shared.sums = shared.lane_da + slab * 8 * rate_step;
  return shared;
}

/* A tile of one sequence. */
struct Place
{
  int64_t tile, row; /* its first row, among those of all sequences */
  int count;

  __device__ __forceinline__
  Place (const Backward &scan, int64_t index)
  {
    int64_t begin = index * scan.tile;

    tile = index;
    row = blockIdx.y * scan.in.width + begin;
    count = (int) min (scan.tile, scan.in.width - begin);
  }
};

template <class S>
__device__ __forceinline__ void
stage_all (const Backward &scan,
           S *tiles,
           float *before,
           const Place &place,
           int first)
{
  const Inputs &in = scan.in;
  constexpr int size = Tile<S>::size;
  const float *states =
      scan.states
      + (blockIdx.y * scan.chunks + place.tile * scan.tile / scan.chunk) * in.n
            * in.columns
      + first;

  stage (tiles, in.u, place.row, place.count, first, in.columns, in.vectors);
  stage (tiles + size, in.dt, place.row, place.count, first, in.columns,
         in.vectors);
  stage (tiles + 2 * size, in.z, place.row, place.count, first, in.columns,
         in.vectors);
  stage (tiles + 3 * size, scan.dy, place.row, place.count, first, in.columns,
         in.vectors);
  for (int i = (int) threadIdx.x; i < in.n * channels; i += threads)
    if (first + i % channels < in.columns)
      __pipeline_memcpy_async (&before[i],
                               states + (int64_t) (i / channels) * in.columns
                                   + i % channels,
                               4);
  __pipeline_commit ();
}

/* Adds the sums of the warps for a slab of states, and those of the lanes: a
 * thread one sum of each kind, or, of less than eight states, none. */
template <int slab>
__device__ __forceinline__ void
add_slab (const Backward &scan,
          const Shared &shared,
          const Place &place,
          int state)
{
  static_assert (slab <= 8 && 8 * channels == threads && 8 * 32 == threads,
                 "every sum has a thread");
  int n = (int) threadIdx.x % slab, from = (int) threadIdx.x / slab;
  int64_t row = from % 4 * 16 + from / 4;
  float *to = scan.columns
              + ((blockIdx.x * scan.sequences * scan.in.width + place.row + row)
                 * 2 * scan.in.n)
              + state + n;
  float4 sum = {};
  bool mine = slab == 8 || from < 32;

#pragma unroll
  for (int warp = 0; mine && warp < warps; warp++)
    {
      float4 x =
          *(const float4 *) &shared.sums[(warp * slab + n) * parts + from * 4];

      sum.x += x.x;
      sum.y += x.y;
      sum.z += x.z;
      sum.w += x.w;
    }
  if (mine && state + n < scan.in.n && row < place.count)
    {
      to[0] = sum.x;
      to[scan.in.n] = sum.z;
    }
  if (mine && state + n < scan.in.n && row + steps < place.count)
    {
      to[2 * steps * scan.in.n] = sum.y;
      to[(2 * steps + 1) * scan.in.n] = sum.w;
    }
  n = (int) threadIdx.x / channels;
  if ((slab == 8 || n < slab) && state + n < scan.in.n)
    {
      const float *lanes =
          shared.lane_da + n * 8 * rate_step + (int) threadIdx.x % channels;
      float da = 0;

      for (int i = 0; i < 8; i++)
        da += lanes[i * rate_step];
      shared.da[state * channels + (int) threadIdx.x] += da;
    }
}

/* The sum over the eight lanes of a channel. */
__device__ __forceinline__ float
channel_sum (float x)
{
#pragma unroll
  for (int by = 4; by < 32; by *= 2)
    x += __shfl_xor_sync (0xffffffffu, x, by);
  return x;
}

/* Replaces a lane's part of the tiles by gradients; adds to those of skip and
 * bias. */
template <class S>
__device__ __forceinline__ void
finish_rows (const Backward &scan,
             S *u,
             const Lane &lane,
             int channel,
             int count,
             float skip,
             float bias,
             float &dskip,
             float &dbias)
{
  constexpr int size = Tile<S>::size;
  S *dt = u + size, *z = dt + size, *dy = z + size;

#pragma unroll
  for (int i = 0; i < steps; i++)
    {
      int r = (int) threadIdx.x % 32 / 4 * steps + i;
      int at = Tile<S>::at (r, channel);
      float value = qm_to_float (u[at]);
      float ds = (lane.ds[i] * ln_2 + value * lane.dhb[i])
                 * softplus_slope (qm_to_float (dt[at]) + bias);

      if (r < count)
        dbias += ds;
      dskip += lane.dsum[i] * value;
      if (scan.in.z.array)
        z[at] = qm_from_float<S> (
            qm_to_float (dy[at]) * (lane.y[i] + skip * value)
            * qm_activation_slope<false> (QM_FUNCTION_SILU,
                                          qm_to_float (z[at])));
      u[at] = qm_from_float<S> (lane.dsum[i] * skip + lane.s[i] * lane.dhb[i]);
      dt[at] = qm_from_float<S> (ds);
    }
}

template <class S>
__device__ __forceinline__ void
begin_rows (const Backward &scan,
            const S *u,
            Lane &lane,
            int channel,
            int count,
            float bias)
{
  constexpr int size = Tile<S>::size;
  const S *dt = u + size, *z = dt + size, *dy = z + size;

  lane.total = 0;
#pragma unroll
  for (int i = 0; i < steps; i++)
    {
      int r = (int) threadIdx.x % 32 / 4 * steps + i;
      int at = Tile<S>::at (r, channel);

      lane.s[i] = r < count ? softplus (qm_to_float (dt[at]) + bias) : 0;
      lane.su[i] = lane.s[i] * qm_to_float (u[at]);
      lane.dsum[i] = qm_to_float (dy[at]);
      if (scan.in.z.array)
        lane.dsum[i] *=
            qm_activation<false> (QM_FUNCTION_SILU, qm_to_float (z[at]));
      lane.total += lane.s[i];
      lane.y[i] = lane.ds[i] = lane.dhb[i] = 0;
    }
}

/* All states of a tile; `next` brings b and c, and at the end those of the tile
 * before. */
template <bool exact, int slab>
__device__ __forceinline__ void
back_states (const Backward &scan,
             const Shared &shared,
             const float *before,
             const Place &place,
             Slab<slab> &next,
             int mine,
             Lane &lane)
{
  const Inputs &in = scan.in;
  int warp = (int) threadIdx.x / 32, index = (int) threadIdx.x % 32;

  for (int state = 0; state < in.n; state += slab)
    {
      bool more = state + slab < in.n;

      if (more)
        next.fetch (in, place.row, place.count, state + slab);
      else if (place.tile > 0)
        next.fetch (in, place.row - scan.tile, (int) scan.tile, 0);
#pragma unroll 1
      for (int k = 0; k < slab && state + k < in.n; k++)
        {
          int at = (state + k) * channels + mine;
          float carry = shared.carry[at], sum[4];
          float da = step_back<exact, slab> (
              shared.rates[at], before[at], carry,
              shared.b_and_c + k * pitch + index / 4 * steps, lane, sum);

          __syncwarp ();
          if (index < 4)
            shared.carry[at] = carry;
          shared.lane_da[(k * 8 + index / 4) * rate_step + mine] = da;
          *(float4 *) &shared.sums[(warp * slab + k) * parts + index * 4] =
              make_float4 (sum[0], sum[1], sum[2], sum[3]);
        }
      __syncthreads ();
      add_slab<slab> (scan, shared, place, state);
      next.put (in, shared.b_and_c);
      __syncthreads ();
    }
}

/* The sums of a sequence for the weights of this block's channels. */
__device__ __forceinline__ void
write_sums (const Backward &scan,
            const Shared &shared,
            int first,
            int mine,
            float dskip,
            float dbias)
{
  const Inputs &in = scan.in;
  float *to = scan.sums + (int64_t) blockIdx.y * (in.n + 2) * in.columns;

  dskip = channel_sum (dskip);
  dbias = channel_sum (dbias);
  for (int i = (int) threadIdx.x; i < in.n * channels; i += threads)
    {
      int channel = i / in.n, n = i % in.n, at = n * channels + channel;

      if (first + channel < in.columns)
        to[(int64_t) (first + channel) * in.n + n] =
            shared.rates[at] * ln_2 * shared.da[at];
    }
  to += (int64_t) in.n * in.columns + first + mine;
  if (threadIdx.x % 32 < 4 && first + mine < in.columns)
    {
      to[0] = dskip;
      to[in.columns] = dbias;
    }
}

template <class S, bool exact, int slab>
__global__ void
__launch_bounds__ (threads, 2)
    backward_kernel (const __grid_constant__ Backward scan)
{
  extern __shared__ __align__ (16) unsigned char memory[];
  constexpr int size = Tile<S>::size;
  const Inputs &in = scan.in;
  S *tiles = (S *) memory;
  Shared shared = divide<slab> ((float *) (tiles + scan.stages * 4 * size),
                                in.n, scan.stages);
  int first = (int) blockIdx.x * channels;
  int mine = (int) threadIdx.x / 32 * 4 + (int) threadIdx.x % 4;
  bool inside = first + mine < in.columns;
  float bias = inside && in.bias != nullptr ? in.bias[first + mine] : 0;
  float skip = inside ? in.skip[first + mine] : 0;
  float dskip = 0, dbias = 0;
  Slab<slab> next;

  load_rates (in, first, shared.rates);
  for (int i = (int) threadIdx.x; i < in.n * channels; i += threads)
    {
      shared.carry[i] = shared.da[i] = 0;
      for (int stage = 0; stage < scan.stages; stage++)
        shared.before[stage * in.n * channels + i] = 0;
    }
  __syncthreads ();
  for (int64_t index = scan.tiles; index-- > 0;)
    {
      Place place (scan, index);
      int stage = scan.stages == 2 ? (int) (index % 2) : 0;
      S *u = tiles + stage * 4 * size;
      float *before = shared.before + stage * in.n * channels;
      Lane lane;

      if (index + 1 == scan.tiles)
        {
          next.fetch (in, place.row, place.count, 0);
          next.put (in, shared.b_and_c);
        }
      if (scan.stages == 1 || index + 1 == scan.tiles)
        stage_all (scan, u, before, place, first);
      __pipeline_wait_prior (0);
      __syncthreads ();
      if (scan.stages == 2 && index > 0)
        stage_all (scan, tiles + (1 - stage) * 4 * size,
                   shared.before + (1 - stage) * in.n * channels,
                   Place (scan, index - 1), first);
      begin_rows (scan, u, lane, mine, place.count, bias);
      back_states<exact, slab> (scan, shared, before, place, next, mine, lane);
      finish_rows (scan, u, lane, mine, place.count, skip, bias, dskip, dbias);
      __syncthreads ();
      unstage (u, scan.du, place.row, place.count, first, in.columns,
               in.vectors);
      unstage (u + size, scan.ddt, place.row, place.count, first, in.columns,
               in.vectors);
      unstage (u + 2 * size, scan.dz, place.row, place.count, first, in.columns,
               in.vectors);
      if (scan.stages == 1)
        __syncthreads ();
    }
  write_sums (scan, shared, first, mine, dskip, dbias);
}

/* The last step of all sums: those for b and c over groups of channels, in the
 * first blocks, those for the weights over sequences in the others. */
__global__ void __launch_bounds__ (256)
    sum_kernel (const __grid_constant__ Backward scan, unsigned blocks)
{
  const Inputs &in = scan.in;
  int64_t all = scan.sequences * in.width * 2 * in.n;
  int64_t weights = (int64_t) in.columns * (in.n + 2);
  int64_t i = (int64_t) blockIdx.x * 256 + threadIdx.x;
  float sum = 0;

  if (blockIdx.x < blocks)
    {
      int n = (int) (i % (2 * in.n));
      const Matrix &to = n < in.n ? scan.db : scan.dc;

      if (i >= all)
        return;
#pragma unroll 8
      for (int group = 0; group < scan.groups; group++)
        sum += scan.columns[group * all + i];
      qm_store (to.array, i / (2 * in.n) * to.step + n % in.n, sum);
      return;
    }
  i -= (int64_t) blocks * 256;
  if (i >= weights)
    return;
#pragma unroll 4
  for (int64_t sequence = 0; sequence < scan.sequences; sequence++)
    sum += scan.sums[sequence * weights + i];
  if (i < (int64_t) in.columns * in.n)
    scan.da[i] += sum;
  else if (i < (int64_t) in.columns * (in.n + 1))
    scan.dskip[i - (int64_t) in.columns * in.n] += sum;
  else if (scan.dbias != nullptr)
    scan.dbias[i - (int64_t) in.columns * (in.n + 1)] += sum;
}

/* The last step, after a kernel that left sums in the workspace. */
QmStatus
add_sums (cudaStream_t stream,
          const QmOpCall *call,
          const Backward &scan,
          QmError *error)
{
  int64_t columns = scan.sequences * scan.in.width * 2 * scan.in.n;
  int64_t weights = (int64_t) scan.in.columns * (scan.in.n + 2);
  unsigned blocks = (unsigned) ((columns + 255) / 256);

  sum_kernel<<<blocks + (unsigned) ((weights + 255) / 256), 256, 0, stream>>> (
      scan, blocks);
  return qm_cuda_launched (call, error);
}

/* Bytes of shared memory, with `stages` tiles of each tensor. */
template <class S, int slab>
constexpr size_t
shared_bytes (int n, int stages)
{
  return sizeof (float) * (size_t) floats<slab> (n, stages)
         + (size_t) stages * 4 * sizeof (S) * Tile<S>::size;
}

template <class S, bool exact, int slab>
QmStatus
launch_slabs (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              Backward &scan,
              QmError *error)
{
  auto kernel = backward_kernel<S, exact, slab>;
  size_t bytes = shared_bytes<S, slab> (scan.in.n, 2);
  cudaError_t code;

  scan.stages = bytes <= context->shared_bytes ? 2 : 1;
  bytes = shared_bytes<S, slab> (scan.in.n, scan.stages);
  code =
      cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            (int) bytes);
  if (code != cudaSuccess)
    return qm_cuda_failed (code, qm_op_name (call->op), error);
  kernel<<<dim3 ((unsigned) scan.groups, (unsigned) scan.sequences), threads,
           bytes, stream>>> (scan);
  return add_sums (stream, call, scan, error);
}

/* Eight states at a time, or four where a block has too little memory. */
template <class S, bool exact>
QmStatus
launch (QmCudaContext *context,
        cudaStream_t stream,
        const QmOpCall *call,
        Backward &scan,
        QmError *error)
{
  static_assert (shared_bytes<S, 4> (qm_cuda_scan_states (75), 1)
                         <= (size_t) qm_cuda_shared_limit (75)
                     && shared_bytes<S, 4> (qm_cuda_scan_states (86), 1)
                            <= (size_t) qm_cuda_shared_limit (86)
                     && shared_bytes<S, 4> (qm_cuda_scan_states (80), 1)
                            <= (size_t) qm_cuda_shared_limit (80),
                 "a block has so much");
  return shared_bytes<S, 8> (scan.in.n, 1) <= context->shared_bytes
             ? launch_slabs<S, exact, 8> (context, stream, call, scan, error)
             : launch_slabs<S, exact, 4> (context, stream, call, scan, error);
}

states_backward::Rows
narrow_rows (const Matrix &matrix)
{
  return { (char *) matrix.array.data, (int) matrix.step * 2 };
}

/* Whether states_backward::kernel takes the scan, whose rows are moved as
 * vectors of bf16: it needs the states before every 64th row. */
bool
takes_states (const Backward &scan, const QmOpCall *call)
{
  const QmTensor *narrow[] = { &call->inputs[4], &call->inputs[5] };

  for (int slot = 0; slot <= 8; slot++)
    if (qm_row_stride (call->inputs[slot]) > INT32_MAX / 2
        || (slot < 8 && qm_row_stride (call->outputs[slot]) > INT32_MAX / 2))
      return false;
  if (call->outputs[3].type != QM_TYPE_BF16
      || call->outputs[4].type != QM_TYPE_BF16)
    return false;
  for (const QmTensor *tensor : narrow)
    if (tensor->type != QM_TYPE_BF16
        || !qm_cuda_vectors (tensor, states_backward::each))
      return false;
  return scan.in.n == states_backward::n && scan.in.columns % 8 == 0
         && (scan.in.width <= rows || rows % scan.chunk == 0)
         && scan.sequences * scan.in.width <= INT32_MAX;
}

QmStatus
launch_states (cudaStream_t stream,
               const QmOpCall *call,
               const Backward &scan,
               QmError *error)
{
  states_backward::Backward given = {
    .u = narrow_rows (scan.in.u),
    .dt = narrow_rows (scan.in.dt),
    .b = narrow_rows (scan.in.b),
    .c = narrow_rows (scan.in.c),
    .z = narrow_rows (scan.in.z),
    .dy = narrow_rows (scan.dy),
    .du = narrow_rows (scan.du),
    .ddt = narrow_rows (scan.ddt),
    .dz = narrow_rows (scan.dz),
    .a = scan.in.a,
    .skip = scan.in.skip,
    .bias = scan.in.bias,
    .kept = scan.states,
    .columns = scan.columns,
    .sums = scan.sums,
    .width = (int) scan.in.width,
    .rows = (int) (scan.sequences * scan.in.width),
    .channels = scan.in.columns,
    .step = (int) (rows / scan.chunk),
    .chunks = scan.chunks,
  };

  auto kernel = given.z.data != nullptr ? states_backward::kernel<true>
                                        : states_backward::kernel<false>;

  kernel<<<dim3 ((unsigned) scan.groups, (unsigned) scan.sequences),
           states_backward::threads, 0, stream>>> (given);
  return add_sums (stream, call, scan, error);
}

/* Tiles begin where states were kept. */
Backward
describe (const QmOpCall *call, const QmCudaScanLayout &layout)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  int64_t chunk = call->attributes.chunk, width = call->attributes.width;
  float *workspace = (float *) call->workspace;
  Backward scan = {
    .in = inputs (call, in + 1),
    .dy = matrix (in[0]),
    .du = matrix (out[0]),
    .ddt = matrix (out[1]),
    .dz = matrix (out[7]),
    .db = matrix (out[3]),
    .dc = matrix (out[4]),
    .da = (float *) out[2].data,
    .dskip = (float *) out[5].data,
    .dbias = qm_tensor_present (&out[6]) ? (float *) out[6].data : nullptr,
    .states = (const float *) in[9].data,
    .columns = workspace + layout.columns,
    .sums = workspace + layout.sequences,
  };

  if (chunk > rows)
    {
      scan.states = workspace + layout.states;
      chunk = rows;
    }
  scan.chunk = chunk;
  scan.chunks = (width + chunk - 1) / chunk;
  scan.tile = rows / chunk * chunk;
  scan.tiles = (width + scan.tile - 1) / scan.tile;
  scan.sequences = in[0].shape[0] / width;
  scan.groups = (scan.in.columns + channels - 1) / channels;
  return scan;
}

} /* namespace */
} /* namespace qm_scan */

QmStatus
qm_cuda_selective_scan_backward (QmCudaContext *context,
                                 cudaStream_t stream,
                                 const QmOpCall *call,
                                 QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  const QmTensor *tensors[] = { &in[0],  &in[1],  &in[2], &in[8],
                                &out[0], &out[1], &out[7] };
  QmCudaScanLayout layout =
      qm_cuda_scan_layout (in[0].shape[0], call->attributes.width,
                           call->attributes.chunk, in[3].shape[0],
                           in[3].shape[1]);
  qm_scan::Backward scan = qm_scan::describe (call, layout);
  QmStatus status = QM_OK;

  if (call->attributes.chunk > qm_scan::rows)
    status = qm_scan::run (context, stream, call, in + 1, nullptr,
                           (float *) call->workspace + layout.states,
                           qm_scan::rows, error);
  if (status != QM_OK)
    return status;
  scan.in.vectors = qm_scan::moves_vectors (tensors, 7, in[1].type);
  if (scan.in.vectors && in[1].type == QM_TYPE_BF16
      && qm_scan::takes_states (scan, call))
    return qm_scan::launch_states (stream, call, scan, error);
  if (scan.in.vectors && in[1].type == QM_TYPE_BF16
      && out[3].type == QM_TYPE_BF16 && out[4].type == QM_TYPE_BF16)
    return qm_scan::launch<__nv_bfloat16, false> (context, stream, call, scan,
                                                  error);
  if (scan.in.vectors && in[1].type == QM_TYPE_F16)
    return qm_scan::launch<__half, true> (context, stream, call, scan, error);
  scan.in.vectors = scan.in.vectors && in[1].type == QM_TYPE_F32;
  return qm_scan::launch<float, true> (context, stream, call, scan, error);
}
