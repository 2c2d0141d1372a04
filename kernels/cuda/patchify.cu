/* SPDX-License-Identifier: Apache-2.0 */

/* Images as rows of patches, and back.  Three ways: by pieces of rows of pixels
 * where those are next to each other; by channels where those are, in patches
 * of 2 x 2; one element at a time for all else. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

/* An image by its strides, in elements. */
struct Image
{
  QmArray array;
  int64_t stride[4];

  __device__ __forceinline__ int64_t
  at (int64_t image, int64_t channel, int64_t row, int64_t column) const
  {
    return image * stride[0] + channel * stride[1] + row * stride[2]
           + column * stride[3];
  }
};

struct Patches
{
  Image pixels;
  QmRows rows;
  const int32_t *kept; /* numbers of patches; may be NULL: all of them */
  QmDivisor units, patch, channels, across,
      each;              /* each: patches of an image */
  uint32_t first, items; /* first: an image */
};

/* N elements of a row of a patch a thread. */
template <int N, bool inverse>
__global__ void __launch_bounds__ (256)
    patches_kernel (const __grid_constant__ Patches work)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, unit, r, channel, at, across;
  uint32_t line = work.units.quotient (i, unit), down;
  uint32_t t = work.channels.quotient (work.patch.quotient (line, r), channel);
  int64_t image = work.each.quotient (t, at) + work.first;
  int64_t row = (int64_t) work.first * work.each.divisor + t;
  int64_t element =
      (int64_t) (channel * work.patch.divisor + r) * work.patch.divisor
      + unit * N;
  QmArray array = { work.rows.row (row), work.rows.type };
  float x[N];

  if (i >= work.items)
    return;
  if (work.kept != nullptr)
    at = (uint32_t) work.kept[row];
  down = work.across.quotient (at, across);
  row = work.pixels.at (image, channel, down * work.patch.divisor + r,
                        across * work.patch.divisor + unit * N);
  if (inverse)
    {
      qm_load<N> (array, element, x);
      qm_store<N> (work.pixels.array, row, x);
    }
  else
    {
      qm_load<N> (work.pixels.array, row, x);
      qm_store<N> (array, element, x);
    }
}

struct Quads
{
  Image pixels;
  QmRows rows;
  int across, down, channels;
};

/* Patches of 2 x 2 pixels whose channels follow each other, one a block; a
 * thread has N channels at a time. */
template <int N, bool inverse>
__global__ void __launch_bounds__ (256)
    quads_kernel (const __grid_constant__ Quads work)
{
  int64_t t = blockIdx.x, line = t / work.across, image = line / work.down;
  int64_t first =
      work.pixels.at (image, 0, line % work.down * 2, t % work.across * 2);
  QmArray array = { work.rows.row (t), work.rows.type };

  for (int channel = (int) threadIdx.x * N; channel < work.channels;
       channel += (int) blockDim.x * N)
    {
      float x[4][N], y[4 * N];

      if (inverse)
        qm_load<4 * N> (array, channel * 4, y);
      else
        {
#pragma unroll
          for (int i = 0; i < 4; i++)
            qm_load<N> (work.pixels.array,
                        first + work.pixels.at (0, 0, i / 2, i % 2) + channel,
                        x[i]);
        }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int n = 0; n < N; n++)
          if (inverse)
            x[i][n] = y[n * 4 + i];
          else
            y[n * 4 + i] = x[i][n];
      if (!inverse)
        qm_store<4 * N> (array, channel * 4, y);
      else
        {
#pragma unroll
          for (int i = 0; i < 4; i++)
            qm_store<N> (work.pixels.array,
                         first + work.pixels.at (0, 0, i / 2, i % 2) + channel,
                         x[i]);
        }
    }
}

/* Sets the pixels that are in no patch to 0. */
__global__ void
clear_kernel (Image pixels,
              int64_t items,
              int64_t channels,
              int64_t height,
              int64_t width,
              int64_t down,
              int64_t across) /* pixels of whole patches */
{
  for (int64_t i = blockIdx.x * (int64_t) blockDim.x + threadIdx.x; i < items;
       i += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t column = i % width, row = i / width % height;
      int64_t channel = i / width / height % channels;

      if (column >= across || row >= down)
        qm_store (
            pixels.array,
            pixels.at (i / width / height / channels, channel, row, column), 0);
    }
}

Image
image_of (const QmTensor &tensor)
{
  Image image = { .array = qm_array (tensor) };

  for (int i = 0; i < 4; i++)
    image.stride[i] = tensor.stride[i];
  return image;
}

/* Whether quads_kernel can move N channels at a time. */
bool
is_quads (const QmTensor &pixels, const QmTensor &rows, int64_t patch, int N)
{
  int64_t size = (int64_t) qm_type_size (pixels.type);

  if (patch != 2 || pixels.stride[1] != 1 || pixels.shape[1] % N != 0
      || (int64_t) ((uintptr_t) pixels.data % (uintptr_t) (N * size)) != 0)
    return false;
  for (int i = 0; i < 4; i++)
    if (i != 1 && pixels.stride[i] % N != 0)
      return false;
  return qm_cuda_vectors (&rows, 4 * N);
}

template <bool inverse>
void
move_quads (cudaStream_t stream,
            const QmTensor &pixels,
            const QmTensor &rows,
            int N)
{
  Quads work = { .pixels = image_of (pixels),
                 .rows = qm_rows (rows),
                 .across = (int) (pixels.shape[3] / 2),
                 .down = (int) (pixels.shape[2] / 2),
                 .channels = (int) pixels.shape[1] };
  unsigned threads = qm_blocks (work.channels, 32 * N) * 32;
  unsigned blocks = (unsigned) rows.shape[0];

  if (threads > 256)
    threads = 256;
  if (N == 2)
    quads_kernel<2, inverse><<<blocks, threads, 0, stream>>> (work);
  else
    quads_kernel<1, inverse><<<blocks, threads, 0, stream>>> (work);
}

template <bool inverse>
void
move_patches (cudaStream_t stream,
              const QmTensor &pixels,
              const QmTensor &rows,
              const QmTensor &kept,
              int64_t patch)
{
  bool near = pixels.stride[3] == 1;
  int N = near && patch % 8 == 0 && qm_cuda_vectors (&pixels, 8)
                  && qm_cuda_vectors (&rows, 8)
              ? 8
          : near && patch % 4 == 0 && qm_cuda_vectors (&pixels, 4)
                  && qm_cuda_vectors (&rows, 4)
              ? 4
              : 1;
  int64_t each = rows.shape[0] / pixels.shape[0] * rows.shape[1] / N;
  Patches work = { .pixels = image_of (pixels),
                   .rows = qm_rows (rows),
                   .kept = (const int32_t *) kept.data,
                   .units = qm_divisor (patch / N),
                   .patch = qm_divisor (patch),
                   .channels = qm_divisor (pixels.shape[1]),
                   .across = qm_divisor (pixels.shape[3] / patch),
                   .each = qm_divisor (rows.shape[0] / pixels.shape[0]) };
  auto kernel = N == 8   ? patches_kernel<8, inverse>
                : N == 4 ? patches_kernel<4, inverse>
                         : patches_kernel<1, inverse>;

  for (int64_t image = 0, n; image < pixels.shape[0]; image += n)
    {
      n = pixels.shape[0] - image < qm_slice (each) ? pixels.shape[0] - image
                                                    : qm_slice (each);
      work.first = (uint32_t) image;
      work.items = (uint32_t) (n * each);
      kernel<<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
    }
}

template <bool inverse>
void
move (cudaStream_t stream,
      const QmTensor &pixels,
      const QmTensor &rows,
      const QmTensor &kept,
      int64_t patch)
{
  bool narrow = pixels.type != QM_TYPE_F32, all = kept.data == nullptr;

  if (all && narrow && is_quads (pixels, rows, patch, 2))
    move_quads<inverse> (stream, pixels, rows, 2);
  else if (all && is_quads (pixels, rows, patch, 1))
    move_quads<inverse> (stream, pixels, rows, 1);
  else
    move_patches<inverse> (stream, pixels, rows, kept, patch);
}

} /* namespace */

QmStatus
qm_cuda_patchify (QmCudaContext *context,
                  cudaStream_t stream,
                  const QmOpCall *call,
                  QmError *error)
{
  move<false> (stream, call->inputs[0], call->outputs[0], call->inputs[1],
               call->attributes.patch);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_unpatchify (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  const QmTensor &pixels = call->outputs[0];
  int64_t patch = call->attributes.patch, items = qm_tensor_elements (&pixels);
  int64_t height = pixels.shape[2], width = pixels.shape[3];

  if (height % patch != 0 || width % patch != 0)
    clear_kernel<<<qm_grid (context, items, 256), 256, 0, stream>>> (
        image_of (pixels), items, pixels.shape[1], height, width,
        height / patch * patch, width / patch * patch);
  move<true> (stream, pixels, call->inputs[0], call->inputs[1], patch);
  return qm_cuda_launched (call, error);
}
