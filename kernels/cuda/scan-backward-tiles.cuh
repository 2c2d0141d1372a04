/* SPDX-License-Identifier: Apache-2.0 */

/* What blocks of scan-states-backward.cuh have in shared memory, and how it
 * comes there: as it is in memory, while they work on what came before, and
 * then in fp32. */

#ifndef QM_KERNELS_CUDA_SCAN_BACKWARD_TILES_CUH
#define QM_KERNELS_CUDA_SCAN_BACKWARD_TILES_CUH

#include "kernels/cuda/async-copy.cuh"
#include "kernels/cuda/scan-states.cuh"

namespace qm_scan
{
namespace states_backward
{

constexpr int n = states::n, channels = 32, threads = 64;
constexpr int slab = 8;        /* states that are gone through at once */
constexpr int each = slab / 2; /* of them, states of a lane */
constexpr int slabs = n / slab;
constexpr int part = 8;             /* rows that are in registers */
constexpr int parts = rows / part;  /* of a tile */
constexpr int warps = threads / 32; /* of 16 channels */

static_assert (channels == QM_CUDA_SCAN_CHANNELS && warps * 16 == channels,
               "partial sums are of the same channels");

/* Rows of bf16, with 32-bit numbers for their place. */
struct Rows
{
  char *data; /* or NULL */
  int step;   /* in bytes */

  __device__ __forceinline__ char *
  at (int row, int column) const
  {
    return data + (int64_t) row * step + column * 2;
  }
};

struct Backward
{
  Rows u, dt, b, c, z, dy, du, ddt, dz;
  const float *a, *skip, *bias, *kept;
  float *columns, *sums; /* of the workspace */
  int width, rows;       /* of a sequence, and of all */
  int channels, step;    /* chunks of a tile */
  int64_t chunks;        /* of a sequence */
};

/* Rows of a part as they are in memory, in pairs. */
struct Raw
{
  unsigned dy[part][channels / 2], z[part][channels / 2];
  unsigned u[part][channels / 2], c[part][n / 2];
};

/* Rows of a tile as they are in memory. */
struct RawTimes
{
  __nv_bfloat16 dt[rows][channels], u[rows][channels];
};

struct Shared
{
  /* Time step and the same times u; instead of that, the sum of b times the
   * gradients of states. */
  float2 time[rows][channels];
  float4 b[rows][n / 4], c[part][n / 4];
  /* The states before the parts of a tile, but for the first: those before
   * part p are number p - 1.  Where they are no longer needed, number 1 gets
   * those before the tile, and what the next tile begins with is brought:
   * number 0 those before it, number 2 its b, and the last four its rows. */
  float4 before[parts - 1][slabs][threads];
  float dsum[part][channels]; /* later y */
  float ds[part][channels];
  float sums[part][warps][4][2 * slab]; /* for b and c, of four channels each */
  float bias[channels], skip[channels];
  Raw raw[2];

  __device__ __forceinline__ RawTimes &
  raw_times ()
  {
    return *(RawTimes *) before[3];
  }

  __device__ __forceinline__ uint2 *
  raw_b ()
  {
    return (uint2 *) before[2];
  }
};

static_assert (parts == 8 && sizeof (RawTimes) == 4 * sizeof (Shared::before[0])
                   && rows * n * 2 == sizeof (Shared::before[0]),
               "what is brought fits");

/* Of the block.  Asked for anew where it is needed, because registers are few,
 * and what follows from it is cheaper to work out than to bring back. */
__device__ __forceinline__ unsigned
thread_number ()
{
  unsigned number;

  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
  return number;
}

/* Begins to copy `bytes` bytes, or else to write zeros. */
template <int bytes>
__device__ __forceinline__ void
copy_async (void *to, const void *from, bool real)
{
  qm_async_copy<bytes> (to, from, real ? bytes : 0);
}

/* A tile of the block's sequence. */
struct Tile
{
  int row, count;    /* its first, of all sequences */
  const float *kept; /* state 0 of the block's first channel before it */

  __device__ __forceinline__
  Tile (const Backward &scan, int index)
  {
    int begin = index * rows;

    row = (int) blockIdx.y * scan.width + begin;
    count = min (rows, scan.width - begin);
    kept = scan.kept
           + (blockIdx.y * scan.chunks + index * scan.step) * n * scan.channels
           + blockIdx.x * channels;
  }
};

/* Begins to copy u and time steps of a tile. */
__device__ __forceinline__ void
fetch_times (const Backward &scan, RawTimes &raw, const Tile &tile)
{
  constexpr int across = channels / 8, down = threads / across;
  int first = (int) (thread_number () / across);
  int column = (int) (thread_number () % across) * 8;
  int at = (int) blockIdx.x * channels + column;
  bool inside = at < scan.channels;

  at = inside ? at : 0;
#pragma unroll
  for (int i = 0; i < rows / down; i++)
    {
      int r = first + i * down;
      int row = tile.row + min (r, tile.count - 1);

      copy_async<16> (&raw.dt[r][column], scan.dt.at (row, at), inside);
      copy_async<16> (&raw.u[r][column], scan.u.at (row, at), inside);
    }
}

/* Time steps and those times u of a tile; rows that it lacks have a time step
 * of zero, which leaves states as they are. */
__device__ __forceinline__ void
put_times (const Backward &scan, Shared &shared, const Tile &tile)
{
  constexpr int across = channels / 4, down = threads / across, some = 4;
  const RawTimes &raw = shared.raw_times ();
  unsigned thread = thread_number ();
  int column = (int) (thread % across) * 4;
  int at = (int) blockIdx.x * channels + column;
  float4 bias = *(const float4 *) &shared.bias[column];

#pragma unroll 1
  for (int r = (int) (thread / across); r < rows; r += some * down)
#pragma unroll
    for (int i = 0; i < some; i++)
      {
        bool inside = at < scan.channels && r + i * down < tile.count;
        uint2 dt = *(const uint2 *) &raw.dt[r + i * down][column];
        uint2 u = *(const uint2 *) &raw.u[r + i * down][column];
        float4 *to = (float4 *) &shared.time[r + i * down][column];
        float s[4], x[4];

        qm_unpack_bf16 (dt.x, s[0], s[1]);
        qm_unpack_bf16 (dt.y, s[2], s[3]);
        qm_unpack_bf16 (u.x, x[0], x[1]);
        qm_unpack_bf16 (u.y, x[2], x[3]);
        s[0] = softplus (s[0] + bias.x);
        s[1] = softplus (s[1] + bias.y);
        s[2] = softplus (s[2] + bias.z);
        s[3] = softplus (s[3] + bias.w);
#pragma unroll
        for (int k = 0; k < 4; k++)
          s[k] = inside ? s[k] : 0;
        to[0] = make_float4 (s[0], s[0] * x[0], s[1], s[1] * x[1]);
        to[1] = make_float4 (s[2], s[2] * x[2], s[3], s[3] * x[3]);
      }
}

/* Begins to copy b of a tile. */
__device__ __forceinline__ void
fetch_b (const Backward &scan, uint2 *raw, const Tile &tile)
{
  constexpr int down = threads / 4;
  int first = (int) (thread_number () / 4);
  int column = (int) (thread_number () % 4) * 4;

#pragma unroll
  for (int i = 0; i < rows / down; i++)
    {
      int r = first + i * down;

      copy_async<8> (&raw[r * 4 + column / 4],
                     scan.b.at (tile.row + min (r, tile.count - 1), column),
                     r < tile.count);
    }
}

__device__ __forceinline__ void
put_b (Shared &shared)
{
  constexpr int down = threads / 4;

#pragma unroll
  for (int i = 0; i < rows / down; i++)
    (&shared.b[0][0])[i * threads + threadIdx.x] =
        states::widen<__nv_bfloat16> (
            shared.raw_b ()[i * threads + threadIdx.x]);
}

/* Begins to copy the `count` rows of a part, from row `first` on: of dy, z, u
 * and c. */
template <bool gated>
__device__ __forceinline__ void
fetch_part (const Backward &scan, Raw &raw, int first, int count)
{
  unsigned thread = thread_number ();
  int r = (int) (thread % 32 / 4), quarter = (int) (thread % 4);
  int column = (int) blockIdx.x * channels + quarter * 8;
  bool there = r < count;
  bool inside = there && column < scan.channels;
  int row = first + (there ? r : 0);

  column = inside ? column : 0;
  if (thread < 32)
    {
      copy_async<16> (&raw.dy[r][quarter * 4], scan.dy.at (row, column),
                      inside);
      copy_async<8> (&raw.c[r][quarter * 2], scan.c.at (row, quarter * 4),
                     there);
    }
  else
    {
      copy_async<16> (&raw.u[r][quarter * 4], scan.u.at (row, column), inside);
      if (gated)
        copy_async<16> (&raw.z[r][quarter * 4], scan.z.at (row, column),
                        inside);
    }
}

/* Of a row's pairs of channels, which a thread has two of below each other. */
struct Pair
{
  int row, column;

  __device__ __forceinline__
  Pair (unsigned thread)
      : row ((int) (thread / 16) * 2), column ((int) (thread % 16) * 2)
  {
  }
};

/* The gradients of sums over states, and c. */
template <bool gated>
__device__ __forceinline__ void
put_part (Shared &shared, const Raw &raw)
{
  unsigned thread = thread_number ();
  int r = (int) (thread / (n / 2)), at = (int) (thread % (n / 2));
  Pair pair (thread);
  float c[2], dy[2][2], z[2][2];

#pragma unroll
  for (int k = 0; k < 2; k++)
    {
      qm_unpack_bf16 (raw.dy[pair.row + k][pair.column / 2], dy[k][0],
                      dy[k][1]);
      if (gated)
        qm_unpack_bf16 (raw.z[pair.row + k][pair.column / 2], z[k][0], z[k][1]);
    }
  qm_unpack_bf16 (raw.c[r][at], c[0], c[1]);
#pragma unroll
  for (int k = 0; k < 2; k++)
    {
      if (gated)
#pragma unroll
        for (int i = 0; i < 2; i++)
          dy[k][i] *= qm_activation<false> (QM_FUNCTION_SILU, z[k][i]);
      *(float2 *) &shared.dsum[pair.row + k][pair.column] =
          make_float2 (dy[k][0], dy[k][1]);
    }
  *((float2 *) shared.c[r] + at) = make_float2 (c[0], c[1]);
}

} /* namespace states_backward */
} /* namespace qm_scan */

#endif
