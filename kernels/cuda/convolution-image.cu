/* SPDX-License-Identifier: Apache-2.0 */

/* Depth-wise convolutions of 7 x 7 pixels.
 *
 * A lane has one channel, and of an image a strip of 7 columns, from its first
 * row to its last.  A row of the strip and of the columns beside it is read
 * once from shared memory and serves all 49 taps: seven rows of results, and
 * the weights (or, for the gradient of the weights, those and seven rows of the
 * other factor) are in registers.  Copies into shared memory run some rows
 * ahead, also from one image to the next. */

#include "kernels/cuda/async-copy.cuh"
#include "kernels/cuda/convolution.cuh"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

constexpr int window = 7, half = 3, taps = 49;
constexpr int strip = 7; /* columns; the sides of ConvNeXt are multiples */
constexpr int threads = 128;
constexpr int stages = 4;

/* Rows with neighbours come out of `wide`; `narrow` are initial values of the
 * results or the other factor of a gradient. */
struct Planes
{
  QmRows wide, narrow, to;
  QmArray w, bias;
  float *parts, *bias_parts;
  bool turned;
  int height, width, channels;
  int across; /* groups of strips beside each other in an image */
  int64_t units;
  /* Bytes from a row to the next, and between the pixels that a thread copies
   * of one. */
  int64_t wide_row, narrow_row, to_row, wide_jump, narrow_jump;
  int narrow_shift; /* log2 of the chunks of 16 bytes of a pixel */
};

__device__ __forceinline__ void
copy_async (uint32_t to, const char *from, bool there)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to),
               "l"(from), "r"(there ? 16 : 0)
               : "memory");
#else
  qm_async_copy<16> (__cvta_shared_to_generic (to), from, there ? 16 : 0);
#endif
}

/* What a block has: 4 warps, `strips` of them beside each other and the others
 * with other channels.  `size` is that of an element of `wide`. */
template <int size, int strips> struct Shape
{
  static constexpr int channels = 128 / strips;
  static constexpr int columns = strips * strip;
  static constexpr int pixel = channels * size; /* bytes */
  static constexpr int wide = (columns + window - 1) * pixel;
  static constexpr int narrow = columns * channels * 4;
};

/* Copies rows into a ring, one after another through all units of a block. */
template <int size, int strips, bool both> struct Loader
{
  using S = Shape<size, strips>;
  static constexpr int stage = S::wide + (both ? S::narrow : 0);
  static constexpr int begin = both ? -half : 0;
  static constexpr int chunks = S::pixel / 16; /* of a pixel */
  static constexpr int beside = threads / chunks;

  int64_t unit;
  const char *wide, *narrow; /* this thread's first chunks */
  int row, column;           /* of the unit's first pixel: the column */
  int limit;                 /* columns of this thread's channels */
  uint32_t ring, slot;       /* where this thread's chunks go */

  __device__ __forceinline__ void
  start (const Planes &planes)
  {
    int64_t image = unit / planes.across;
    int64_t first = image * planes.height * planes.width;
    int pixel = (int) threadIdx.x / chunks;
    int channel = (int) blockIdx.x * S::channels
                  + (int) threadIdx.x % chunks * (16 / size);

    column = (int) (unit % planes.across) * S::columns;
    row = begin;
    limit = channel < planes.channels ? planes.width : 0;
    wide = planes.wide.row (first + column - half + pixel)
           + (int64_t) channel * size;
    if (both)
      {
        int shift = planes.narrow_shift;

        pixel = (int) threadIdx.x >> shift;
        narrow = planes.narrow.row (first + column + pixel)
                 + (int64_t) blockIdx.x * S::channels * planes.narrow.size ()
                 + ((int) threadIdx.x & ((1 << shift) - 1)) * 16;
      }
  }

  __device__ __forceinline__ void
  next (const Planes &planes)
  {
    if (unit < planes.units)
      {
        if (row >= 0)
          copy_wide (planes);
        if (both && row + half < planes.height)
          copy_narrow (planes);
        if (++row == planes.height)
          {
            unit += gridDim.y;
            start (planes);
          }
      }
    slot = slot == (stages - 1) * stage ? 0 : slot + stage;
    qm_async_commit ();
  }

  __device__ __forceinline__ void
  copy_wide (const Planes &planes)
  {
    const char *from = wide;
    int at = column - half + (int) threadIdx.x / chunks;

#pragma unroll
    for (int i = 0; i * threads < S::wide / 16; i++)
      {
        if ((i + 1) * threads <= S::wide / 16
            || (int) threadIdx.x + i * threads < S::wide / 16)
          copy_async (ring + slot + i * threads * 16, from,
                      (unsigned) (at + i * beside) < (unsigned) limit);
        from += planes.wide_jump;
      }
    wide += planes.wide_row;
  }

  __device__ __forceinline__ void
  copy_narrow (const Planes &planes)
  {
    int shift = planes.narrow_shift, beside = threads >> shift;
    int chunk = (int) threadIdx.x & ((1 << shift) - 1);
    int pixel = (int) threadIdx.x >> shift;
    bool there =
        (int) blockIdx.x * S::channels + chunk * (16 / planes.narrow.size ())
        < planes.channels;
    const char *from = narrow;

#pragma unroll
    for (int i = 0; i * threads < S::narrow / 16; i++)
      {
        if (pixel + i * beside < S::columns)
          copy_async (ring + slot + S::wide + i * threads * 16, from,
                      there && column + pixel + i * beside < planes.width);
        from += planes.narrow_jump;
      }
    narrow += planes.narrow_row;
  }
};

/* Waits for the oldest row of the ring; everybody has left the one before. */
__device__ __forceinline__ void
wait_for_row ()
{
  qm_async_wait<stages - 2> ();
  __syncthreads ();
}

/* N pixels of one channel, `step` elements from each other. */
template <int N>
__device__ __forceinline__ void
read_pixels (
    const char *shared, int first, int step, QmType type, float (&x)[N])
{
  if (type == QM_TYPE_F32)
    {
#pragma unroll
      for (int j = 0; j < N; j++)
        x[j] = ((const float *) shared)[first + j * step];
    }
  else if (type == QM_TYPE_F16)
    {
#pragma unroll
      for (int j = 0; j < N; j++)
        x[j] = __half2float (((const __half *) shared)[first + j * step]);
    }
  else
#pragma unroll
    for (int j = 0; j < N; j++)
      x[j] =
          __bfloat162float (((const __nv_bfloat16 *) shared)[first + j * step]);
}

/* The type of `wide`, as far as its size does not tell. */
template <int size>
__device__ __forceinline__ QmType
type_of (const QmRows &rows)
{
  return size == 4                  ? QM_TYPE_F32
         : rows.type == QM_TYPE_F16 ? QM_TYPE_F16
                                    : QM_TYPE_BF16;
}

/* The weights of the lane's channel, turned by 180 degrees if asked for. */
template <int channels>
__device__ __forceinline__ void
read_weights (const Planes &planes,
              float *shared,
              int channel, /* in the block */
              float (&w)[window][window])
{
  int64_t first = (int64_t) blockIdx.x * channels * taps;

  for (int i = (int) threadIdx.x; i < channels * taps; i += threads)
    shared[i] = first + i < (int64_t) planes.channels * taps
                    ? qm_load (planes.w, first + i)
                    : 0;
  __syncthreads ();
#pragma unroll
  for (int tap = 0; tap < taps; tap++)
    w[tap / window][tap % window] =
        shared[channel * taps + (planes.turned ? taps - 1 - tap : tap)];
  __syncthreads ();
}

/* One row of one strip. */
__device__ __forceinline__ void
write_strip (const Planes &planes,
             char *to,
             int columns, /* that are in the image */
             const float (&sums)[strip])
{
  if (planes.to.type == QM_TYPE_F32)
    {
#pragma unroll
      for (int j = 0; j < strip; j++)
        if (j < columns)
          *(float *) (to + j * planes.to.stride) = sums[j];
    }
  else if (planes.to.type == QM_TYPE_F16)
    {
#pragma unroll
      for (int j = 0; j < strip; j++)
        if (j < columns)
          *(__half *) (to + j * planes.to.stride) = __float2half_rn (sums[j]);
    }
  else
#pragma unroll
    for (int j = 0; j < strip; j++)
      if (j < columns)
        *(__nv_bfloat16 *) (to + j * planes.to.stride) =
            __float2bfloat16_rn (sums[j]);
}

/* Row `row` of `wide` goes into rows row - 3 .. row + 3 of the result, of which
 * the first is then done.  `sums` move up by one on the way. */
template <bool first>
__device__ __forceinline__ void
add_row (const float (&w)[window][window],
         const float (&x)[strip + window - 1],
         const float (&initial)[strip],
         float (&sums)[window][strip])
{
#pragma unroll
  for (int k = 0; k < window; k++)
#pragma unroll
    for (int j = 0; j < strip; j++)
      {
        float sum =
            k + 1 < window ? sums[k + 1 < window ? k + 1 : 0][j] : initial[j];

        if (!first)
#pragma unroll
          for (int n = 0; n < window; n++)
            sum = fmaf (w[window - 1 - k][n], x[j + n], sum);
        sums[k][j] = sum;
      }
}

template <int size, int strips, bool adds>
__global__ void
__launch_bounds__ (threads, 4)
    images_kernel (const __grid_constant__ Planes planes)
{
  using S = Shape<size, strips>;
  using L = Loader<size, strips, adds>;
  constexpr int bytes = stages * L::stage > S::channels * taps * 4
                            ? stages * L::stage
                            : S::channels * taps * 4;
  __shared__ __align__ (16) char shared[bytes];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  int channel = warp / strips * 32 + lane; /* in the block */
  int place = warp % strips * strip * S::channels + channel;
  bool there = (int) blockIdx.x * S::channels + channel < planes.channels;
  float w[window][window], sums[window][strip], bias = 0;
  int slot = 0;
  L loader;

  read_weights<S::channels> (planes, (float *) shared, channel, w);
  if (!adds && planes.bias && there)
    bias = qm_load (planes.bias, (int) blockIdx.x * S::channels + channel);
  loader.unit = blockIdx.y;
  loader.ring = (uint32_t) __cvta_generic_to_shared (shared) + threadIdx.x * 16;
  loader.slot = 0;
  loader.start (planes);
  for (int i = 0; i < stages - 1; i++)
    loader.next (planes);
  for (int64_t unit = blockIdx.y; unit < planes.units; unit += gridDim.y)
    {
      int column =
          (int) (unit % planes.across) * S::columns + warp % strips * strip;
      int columns = there ? planes.width - column : 0;
      char *to =
          planes.to.row (unit / planes.across * planes.height * planes.width
                         + column)
          + ((int) blockIdx.x * S::channels + channel) * planes.to.size ();

#pragma unroll
      for (int k = 0; k < window; k++)
#pragma unroll
        for (int j = 0; j < strip; j++)
          sums[k][j] = bias;
#pragma unroll 1
      for (int row = L::begin; row < planes.height; row++)
        {
          const char *at = shared + slot;
          float x[strip + window - 1], initial[strip];

          wait_for_row ();
          loader.next (planes);
          if (adds)
            read_pixels<strip> (at + S::wide, place, S::channels,
                                planes.narrow.type, initial);
          else
#pragma unroll
            for (int j = 0; j < strip; j++)
              initial[j] = bias;
          if (adds && row < 0)
            add_row<true> (w, x, initial, sums);
          else
            {
              read_pixels<strip + window - 1> (at, place, S::channels,
                                               type_of<size> (planes.wide), x);
              add_row<false> (w, x, initial, sums);
            }
          if (row >= half)
            {
              write_strip (planes, to, columns, sums[0]);
              to += planes.to_row;
            }
          slot = slot == (stages - 1) * L::stage ? 0 : slot + L::stage;
        }
#pragma unroll
      for (int k = 1; k <= half; k++)
        if (planes.height - 1 - half + k >= 0)
          {
            write_strip (planes, to, columns, sums[k]);
            to += planes.to_row;
          }
    }
}

/* Adds what the warps of a block have of the same channels, and writes a part
 * of the sums. */
template <int strips>
__device__ __forceinline__ void
write_parts (const Planes &planes,
             float *shared,
             const float (&sums)[window][window],
             float bias)
{
  constexpr int channels = 128 / strips, pitch = 33;
  constexpr int plane = (taps + 1) * pitch;
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  int first = (int) blockIdx.x * channels;
  int count =
      planes.channels - first < channels ? planes.channels - first : channels;
  float *mine = shared + warp * plane + lane;

  __syncthreads ();
#pragma unroll
  for (int tap = 0; tap < taps; tap++)
    mine[tap * pitch] = sums[tap / window][tap % window];
  mine[taps * pitch] = bias;
  __syncthreads ();
  for (int i = (int) threadIdx.x; i < count * (taps + 1); i += threads)
    {
      /* Those of the bias come last. */
      int tap = i < count * taps ? i % taps : taps;
      int channel = i < count * taps ? i / taps : i - count * taps;
      const float *from =
          shared + channel / 32 * strips * plane + tap * pitch + channel % 32;
      int64_t row = (int64_t) blockIdx.y * planes.channels + first;
      float sum = 0;

#pragma unroll
      for (int s = 0; s < strips; s++)
        sum += from[s * plane];
      if (tap < taps)
        planes.parts[row * taps + i] = sum;
      else
        planes.bias_parts[row + channel] = sum;
    }
}

/* The gradient of the weights: `wide` is x, `narrow` the gradient of the
 * result, of which seven rows are kept. */
template <int size, int strips>
__global__ void
__launch_bounds__ (threads, 4)
    image_weights_kernel (const __grid_constant__ Planes planes)
{
  using S = Shape<size, strips>;
  using L = Loader<size, strips, true>;
  constexpr int sums_bytes = 4 * (taps + 1) * 33 * 4;
  constexpr int bytes =
      stages * L::stage > sums_bytes ? stages * L::stage : sums_bytes;
  __shared__ __align__ (16) char shared[bytes];
  int lane = (int) threadIdx.x % 32, warp = (int) threadIdx.x / 32;
  int channel = warp / strips * 32 + lane;
  int place = warp % strips * strip * S::channels + channel;
  float sums[window][window] = {}, bias = 0;
  int slot = 0;
  L loader;

  loader.unit = blockIdx.y;
  loader.ring = (uint32_t) __cvta_generic_to_shared (shared) + threadIdx.x * 16;
  loader.slot = 0;
  loader.start (planes);
  for (int i = 0; i < stages - 1; i++)
    loader.next (planes);
  for (int64_t unit = blockIdx.y; unit < planes.units; unit += gridDim.y)
    {
      float g[window][strip] = {};

#pragma unroll 1
      for (int row = L::begin; row < planes.height; row++)
        {
          const char *at = shared + slot;
          float x[strip + window - 1];

          wait_for_row ();
          loader.next (planes);
#pragma unroll
          for (int k = 0; k + 1 < window; k++)
#pragma unroll
            for (int j = 0; j < strip; j++)
              g[k][j] = g[k + 1][j];
          if (row + half < planes.height)
            read_pixels<strip> (at + S::wide, place, S::channels,
                                planes.narrow.type, g[window - 1]);
          else
#pragma unroll
            for (int j = 0; j < strip; j++)
              g[window - 1][j] = 0;
#pragma unroll
          for (int j = 0; j < strip; j++)
            bias += g[window - 1][j];
          if (row >= 0)
            {
              read_pixels<strip + window - 1> (at, place, S::channels,
                                               type_of<size> (planes.wide), x);
#pragma unroll
              for (int m = 0; m < window; m++)
#pragma unroll
                for (int n = 0; n < window; n++)
#pragma unroll
                  for (int j = 0; j < strip; j++)
                    sums[m][n] =
                        fmaf (g[window - 1 - m][j], x[j + n], sums[m][n]);
            }
          slot = slot == (stages - 1) * L::stage ? 0 : slot + L::stage;
        }
    }
  qm_async_wait<0> ();
  write_parts<strips> (planes, (float *) shared, sums, bias);
}

/* What `launch` knows of the rows before it knows the kernel's blocks. */
void
set_steps (Planes &planes, int channels)
{
  int narrow = planes.narrow.type == QM_TYPE_F32 ? 4 : 2;
  int wide = planes.wide.type == QM_TYPE_F32 ? 4 : 2;

  planes.narrow_shift = 0;
  while (16 << planes.narrow_shift < channels * narrow)
    planes.narrow_shift++;
  planes.wide_jump = threads / (channels * wide / 16) * planes.wide.stride;
  planes.narrow_jump = (threads >> planes.narrow_shift) * planes.narrow.stride;
  planes.wide_row = planes.width * planes.wide.stride;
  planes.narrow_row = planes.width * planes.narrow.stride;
  planes.to_row = planes.width * planes.to.stride;
}

template <class Kernel>
int64_t
launch (const QmCudaContext *context,
        cudaStream_t stream,
        Kernel kernel,
        int strips,
        int64_t most_parts,
        Planes planes)
{
  int64_t groups = qm_blocks (planes.channels, 128 / strips), parts;
  int64_t images = planes.units;

  planes.across = (int) qm_blocks (planes.width, strips * strip);
  planes.units = images * planes.across;
  set_steps (planes, 128 / strips);
  parts = qm_resident (context, kernel, threads, INT64_C (1) << 30) / groups;
  parts = qm_even_parts (planes.units, parts < most_parts ? parts : most_parts);
  kernel<<<dim3 ((unsigned) groups, (unsigned) parts), threads, 0, stream>>> (
      planes);
  return parts;
}

/* As many strips as an image has beside each other. */
int
best_strips (int width)
{
  return width <= strip ? 1 : width <= 2 * strip ? 2 : 4;
}

template <int size, bool adds>
void
launch_images (const QmCudaContext *context,
               cudaStream_t stream,
               const Planes &planes)
{
  const int64_t most = 65535;

  switch (best_strips (planes.width))
    {
    case 1:
      launch (context, stream, images_kernel<size, 1, adds>, 1, most, planes);
      break;
    case 2:
      launch (context, stream, images_kernel<size, 2, adds>, 2, most, planes);
      break;
    default:
      launch (context, stream, images_kernel<size, 4, adds>, 4, most, planes);
    }
}

template <int size>
int64_t
launch_weights (const QmCudaContext *context,
                cudaStream_t stream,
                const Planes &planes,
                int64_t most)
{
  switch (best_strips (planes.width))
    {
    case 1:
      return launch (context, stream, image_weights_kernel<size, 1>, 1, most,
                     planes);
    case 2:
      return launch (context, stream, image_weights_kernel<size, 2>, 2, most,
                     planes);
    default:
      return launch (context, stream, image_weights_kernel<size, 4>, 4, most,
                     planes);
    }
}

Planes
planes_of (const QmConvolution &convolution)
{
  Planes planes = { .w = convolution.w,
                    .bias = convolution.bias,
                    .parts = convolution.parts,
                    .bias_parts = convolution.bias_parts,
                    .height = convolution.height,
                    .width = convolution.width,
                    .channels = convolution.channels };

  planes.units =
      convolution.rows / ((int64_t) convolution.height * convolution.width);
  return planes;
}

} /* namespace */

bool
qm_convolves_images (const QmOpCall *call)
{
  bool backward = call->op == QM_OP_DEPTHWISE_CONV_BACKWARD;
  const QmTensor &w = call->inputs[backward ? 2 : 1];
  bool whole = w.shape[1] == window && w.shape[2] == window
               && call->attributes.causal == QM_CAUSAL_NONE
               && (backward || call->attributes.activation == QM_FUNCTION_NONE);

  for (int slot = 0; slot <= 4; slot++)
    if (slot == 0 || (backward && (slot == 1 || slot == 4)))
      whole = whole && qm_cuda_vectors (&call->inputs[slot], QM_GROUP);
  return whole;
}

void
qm_convolve_images (const QmCudaContext *context,
                    cudaStream_t stream,
                    const QmConvolution &convolution)
{
  Planes planes = planes_of (convolution);

  planes.wide = convolution.x;
  planes.to = convolution.y;
  if (planes.wide.type == QM_TYPE_F32)
    launch_images<4, false> (context, stream, planes);
  else
    launch_images<2, false> (context, stream, planes);
}

void
qm_image_input_grad (const QmCudaContext *context,
                     cudaStream_t stream,
                     const QmConvolution &convolution)
{
  Planes planes = planes_of (convolution);

  planes.wide = convolution.dy;
  planes.narrow = convolution.add;
  planes.to = convolution.y;
  planes.bias = {};
  planes.turned = true;
  if (planes.narrow.data != nullptr)
    {
      if (planes.wide.type == QM_TYPE_F32)
        launch_images<4, true> (context, stream, planes);
      else
        launch_images<2, true> (context, stream, planes);
    }
  else if (planes.wide.type == QM_TYPE_F32)
    launch_images<4, false> (context, stream, planes);
  else
    launch_images<2, false> (context, stream, planes);
}

int64_t
qm_image_weight_grad (const QmCudaContext *context,
                      cudaStream_t stream,
                      const QmConvolution &convolution)
{
  Planes planes = planes_of (convolution);

  planes.wide = convolution.x;
  planes.narrow = convolution.dy;
  return planes.wide.type == QM_TYPE_F32
             ? launch_weights<4> (context, stream, planes,
                                  convolution.most_parts)
             : launch_weights<2> (context, stream, planes,
                                  convolution.most_parts);
}
