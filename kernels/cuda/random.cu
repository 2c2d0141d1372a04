/* SPDX-License-Identifier: Apache-2.0 */

/* Random numbers, four of them a thread: as many as a block of bits makes. */

#include "kernels/cuda/cuda-common.cuh"

namespace
{

struct Draw
{
  const int32_t *rng;
  QmArray y;
  int64_t n;
  uint64_t count;
  uint32_t site;
  QmDistribution distribution;
  float value, scale;
};

__global__ void
draw_kernel (const __grid_constant__ Draw draw)
{
  int64_t blocks = (draw.n + 3) / 4;

  for (int64_t b = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; b < blocks;
       b += (int64_t) gridDim.x * blockDim.x)
    {
      QmRandomBits bits = qm_random_block (draw.rng, draw.site, (uint64_t) b);

#pragma unroll
      for (int i = 0; i < 4; i++)
        {
          int64_t at = 4 * b + i;
          float x = draw.distribution == QM_DISTRIBUTION_NORMAL
                        ? qm_random_normal (bits, i)
                        : qm_random_uniform (bits.word[i]);

          if (at >= draw.n)
            break;
          if (draw.distribution == QM_DISTRIBUTION_INDEX)
            ((int32_t *) draw.y.data)[at] =
                (int32_t) ((uint64_t) bits.word[i] * draw.count >> 32);
          else
            qm_store (draw.y, at, draw.value + draw.scale * x);
        }
    }
}

__global__ void
advance_kernel (int32_t *rng, uint32_t count)
{
  rng[QM_RNG_PASS] = (int32_t) ((uint32_t) rng[QM_RNG_PASS] + count);
}

} /* namespace */

QmStatus
qm_cuda_random (QmCudaContext *context,
                cudaStream_t stream,
                const QmOpCall *call,
                QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  const QmTensor *y = &call->outputs[0];
  Draw draw = { .rng = (const int32_t *) call->inputs[0].data,
                .y = qm_array (*y),
                .n = qm_tensor_elements (y),
                .count = (uint64_t) attributes.count,
                .site = attributes.site,
                .distribution = attributes.distribution,
                .value = (float) attributes.value,
                .scale = (float) attributes.scale };

  draw_kernel<<<qm_grid (context, (draw.n + 3) / 4, 256), 256, 0, stream>>> (
      draw);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_advance (QmCudaContext *context,
                 cudaStream_t stream,
                 const QmOpCall *call,
                 QmError *error)
{
  advance_kernel<<<1, 1, 0, stream>>> ((int32_t *) call->outputs[0].data,
                                       (uint32_t) call->attributes.count);
  return qm_cuda_launched (call, error);
}
