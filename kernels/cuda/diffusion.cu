/* SPDX-License-Identifier: Apache-2.0 */

/* Noise that is added to images, and what was told of it. */

#include "kernels/cuda/cuda-rows.cuh"
#include "kernels/diffusion.h"

namespace
{

constexpr int threads = 256;

struct Draw
{
  const int32_t *labels, *rng;
  int32_t *times, *classes;
  float *noise;
  int64_t batch, each, count; /* each: elements of a sample */
  int32_t dropped;
  uint32_t site, threshold;
};

/* A thread makes four elements of the sample of its row of blocks. */
__global__ void
__launch_bounds__ (threads) draw_kernel (const __grid_constant__ Draw work)
{
  int64_t b = blockIdx.y;
  uint64_t sample = qm_mask_sample (work.rng, work.batch, b);
  uint32_t block = blockIdx.x * threads + threadIdx.x;
  QmRandomBits bits;

  if (block == 0)
    {
      bits = qm_diffusion_bits (work.rng, work.site, sample, 0);
      work.times[b] = qm_diffusion_time (bits, work.count);
      work.classes[b] = qm_diffusion_drops (bits, work.threshold)
                            ? work.dropped
                            : work.labels[b];
    }
  if ((int64_t) block * 4 >= work.each)
    return;
  bits = qm_diffusion_bits (work.rng, work.site, sample, 1 + block);
#pragma unroll
  for (int i = 0; i < 4; i++)
    if ((int64_t) block * 4 + i < work.each)
      work.noise[b * work.each + (int64_t) block * 4 + i] =
          qm_random_normal (bits, i);
}

struct AddNoise
{
  QmArray x, y;
  int64_t stride[4];
  const float *noise, *schedule;
  const int32_t *times;
  int64_t rows, height, channels; /* rows: of all images */
  int width;
};

/* Threads beside each other have the pixels of a row, in a loop over rows. */
__global__ void
__launch_bounds__ (threads)
    add_noise_kernel (const __grid_constant__ AddNoise work)
{
  for (int64_t row = blockIdx.x; row < work.rows; row += gridDim.x)
    {
      int64_t i = row % work.height, image = row / work.height;
      int64_t c = image % work.channels, b = image / work.channels;
      const float *at =
          work.schedule + (int64_t) work.times[b] * QM_SCHEDULE_SIZE;
      int64_t from =
          b * work.stride[0] + c * work.stride[1] + i * work.stride[2];

      for (int j = (int) threadIdx.x; j < work.width; j += threads)
        qm_store (
            work.y, row * work.width + j,
            at[QM_SCHEDULE_SIGNAL] * qm_load (work.x, from + j * work.stride[3])
                + at[QM_SCHEDULE_NOISE] * work.noise[row * work.width + j]);
    }
}

struct Loss
{
  QmRows x, dx;
  QmArray image;
  int64_t stride[4];
  const float *noise, *schedule, *state;
  const int32_t *times;
  float *losses;
  int64_t rows, height, width; /* height, width: of an image */
  int patches, across, side, channels, elements; /* elements: of noise */
  bool learned;
  float weight;
};

/* A warp has a row; 4 of them are in a block. */
__global__ void __launch_bounds__ (128)
    loss_kernel (const __grid_constant__ Loss work)
{
  int64_t row = (int64_t) blockIdx.x * 4 + threadIdx.x / 32;
  float slope = work.weight * work.state[QM_STATE_LOSS_SCALE], sum = 0;
  int told = work.channels * (work.learned ? 2 : 1);
  int64_t b = row / work.patches;
  int patch = (int) (row % work.patches);
  const float *schedule;
  QmArray x, dx;
  int32_t t;

  /* All lanes of a warp have the same row. */
  if (row >= work.rows)
    return;
  x = { work.x.row (row), work.x.type };
  dx = { work.dx.row (row), work.dx.type };
  t = work.times[b];
  schedule = work.schedule + (int64_t) t * QM_SCHEDULE_SIZE;
  for (int e = (int) threadIdx.x % 32; e < work.elements; e += 32)
    {
      int pixel = e / work.channels, channel = e % work.channels;
      int i = patch / work.across * work.side + pixel / work.side;
      int j = patch % work.across * work.side + pixel % work.side;
      int at = pixel * told + channel;
      float noise = work.noise[((b * work.channels + channel) * work.height + i)
                                   * work.width
                               + j];
      float guess = qm_load (x, at), wrong = guess - noise, along;

      sum += wrong * wrong;
      if (work.learned)
        {
          int64_t from = b * work.stride[0] + channel * work.stride[1]
                         + i * work.stride[2] + j * work.stride[3];

          sum += qm_diffusion_bound (schedule, t, qm_load (work.image, from),
                                     noise, guess,
                                     qm_load (x, at + work.channels), &along);
          qm_store (dx, at + work.channels, slope * along);
        }
      qm_store (dx, at, 2 * slope * wrong);
    }
  sum = qm_warp_sum (sum);
  if (threadIdx.x % 32 == 0)
    work.losses[row] = work.weight * sum;
}

} /* namespace */

QmStatus
qm_cuda_draw_noise (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  const QmTensor *out = call->outputs;
  const QmAttributes &attributes = call->attributes;
  int64_t batch = out[2].shape[0];
  Draw work = { .labels = (const int32_t *) call->inputs[0].data,
                .rng = (const int32_t *) call->inputs[1].data,
                .times = (int32_t *) out[0].data,
                .classes = (int32_t *) out[1].data,
                .noise = (float *) out[2].data,
                .batch = batch,
                .each = qm_tensor_elements (&out[2]) / batch,
                .count = attributes.count,
                .dropped = (int32_t) attributes.padding,
                .site = attributes.site,
                .threshold = qm_dropout_threshold (attributes.dropout) };

  draw_kernel<<<dim3 (qm_blocks ((work.each + 3) / 4, threads),
                      (unsigned) batch),
                threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_add_noise (QmCudaContext *context,
                   cudaStream_t stream,
                   const QmOpCall *call,
                   QmError *error)
{
  const QmTensor *in = call->inputs;
  const int64_t *shape = in[0].shape;
  AddNoise work = { .x = qm_array (in[0]),
                    .y = qm_array (call->outputs[0]),
                    .noise = (const float *) in[1].data,
                    .schedule = (const float *) in[3].data,
                    .times = (const int32_t *) in[2].data,
                    .rows = shape[0] * shape[1] * shape[2],
                    .height = shape[2],
                    .channels = shape[1],
                    .width = (int) shape[3] };
  unsigned blocks = qm_grid (context, work.rows * threads, threads);

  for (int i = 0; i < 4; i++)
    work.stride[i] = in[0].stride[i];
  add_noise_kernel<<<blocks, threads, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_noise_loss (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmOpCall *call,
                    QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  const QmTensor *in = call->inputs;
  const int64_t *shape = in[1].shape;
  int64_t side = attributes.patch;
  Loss work = { .x = qm_rows (in[0]),
                .dx = qm_rows (call->outputs[0]),
                .image = qm_array (in[1]),
                .noise = (const float *) in[2].data,
                .schedule = (const float *) in[4].data,
                .state = (const float *) in[5].data,
                .times = (const int32_t *) in[3].data,
                .losses = (float *) call->outputs[1].data,
                .rows = in[0].shape[0],
                .height = shape[2],
                .width = shape[3],
                .patches = (int) (shape[2] / side * (shape[3] / side)),
                .across = (int) (shape[3] / side),
                .side = (int) side,
                .channels = (int) shape[1],
                .elements = (int) (shape[1] * side * side),
                .learned = attributes.learned,
                .weight = (float) (attributes.scale
                                   / (double) qm_tensor_elements (&in[1])) };

  for (int i = 0; i < 4; i++)
    work.stride[i] = in[1].stride[i];
  loss_kernel<<<qm_blocks (work.rows, 4), 128, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
