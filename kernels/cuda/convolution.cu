/* SPDX-License-Identifier: Apache-2.0 */

/* Depth-wise convolutions: which kernels are for a call, and those that take
 * any window and any tensors. */

#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/convolution.cuh"
#include "kernels/cuda/cuda-workspace.h"

namespace
{

/* The row of a pixel `m` down and `n` to the right of row `r`'s, or -1. */
__device__ __forceinline__ int64_t
neighbour (const QmConvolution &c, int64_t r, int m, int n)
{
  int column = (int) (r % c.width) + n;
  int row = (int) (r / c.width % c.height) + m;

  return row < 0 || row >= c.height || column < 0 || column >= c.width
             ? -1
             : r + (int64_t) m * c.width + n;
}

__device__ __forceinline__ float
element (const QmRows &rows, int64_t row, int channel)
{
  return qm_load ({ rows.row (row), rows.type }, channel);
}

__device__ float
argument (const QmConvolution &c, int64_t r, int channel)
{
  int64_t first = (int64_t) channel * c.down * c.across;
  float sum = c.bias ? qm_load (c.bias, channel) : 0;

  for (int m = 0; m < c.down; m++)
    for (int n = 0; n < c.across; n++)
      {
        int64_t row = neighbour (c, r, m - c.above, n - c.left);

        if (row >= 0)
          sum = fmaf (qm_load (c.w, first + m * c.across + n),
                      element (c.x, row, channel), sum);
      }
  return sum;
}

/* The gradient of the argument. */
__device__ __forceinline__ float
gradient (const QmConvolution &c, int64_t r, int channel)
{
  float g = element (c.dy, r, channel);

  return c.activation == QM_FUNCTION_NONE
             ? g
             : g
                   * qm_activation_slope<false> (c.activation,
                                                 argument (c, r, channel));
}

__global__ void
convolve_kernel (const __grid_constant__ QmConvolution c)
{
  int64_t items = c.rows * c.channels;

  for (int64_t i = blockIdx.x * (int64_t) blockDim.x + threadIdx.x; i < items;
       i += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t r = i / c.channels;
      int channel = (int) (i % c.channels);

      qm_store ({ c.y.row (r), c.y.type }, channel,
                qm_activation<false> (c.activation, argument (c, r, channel)));
    }
}

__global__ void
gradient_kernel (const __grid_constant__ QmConvolution c, float *g)
{
  int64_t items = c.rows * c.channels;

  for (int64_t i = blockIdx.x * (int64_t) blockDim.x + threadIdx.x; i < items;
       i += (int64_t) gridDim.x * blockDim.x)
    g[i] = gradient (c, i / c.channels, (int) (i % c.channels));
}

__global__ void
input_grad_kernel (const __grid_constant__ QmConvolution c)
{
  int64_t items = c.rows * c.channels;

  for (int64_t i = blockIdx.x * (int64_t) blockDim.x + threadIdx.x; i < items;
       i += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t r = i / c.channels;
      int channel = (int) (i % c.channels);
      int64_t first = (int64_t) channel * c.down * c.across;
      float sum = c.add ? element (c.add, r, channel) : 0;

      for (int m = 0; m < c.down; m++)
        for (int n = 0; n < c.across; n++)
          {
            int64_t row = neighbour (c, r, c.above - m, c.left - n);

            if (row >= 0)
              sum = fmaf (qm_load (c.w, first + m * c.across + n),
                          gradient (c, row, channel), sum);
          }
      qm_store ({ c.y.row (r), c.y.type }, channel, sum);
    }
}

/* 32 channels a block, for one tap, or for the bias, and a part of the rows. */
__global__ void __launch_bounds__ (256)
    weight_grad_kernel (const __grid_constant__ QmConvolution c)
{
  __shared__ float shared[8][32];
  int channel = (int) (blockIdx.x * 32 + threadIdx.x);
  int taps = c.down * c.across, tap = (int) blockIdx.y;
  int64_t part = (c.rows + gridDim.z - 1) / gridDim.z;
  int64_t begin = blockIdx.z * part;
  int64_t end = begin + part < c.rows ? begin + part : c.rows;
  float sum = 0;

  if (channel < c.channels)
    for (int64_t r = begin + threadIdx.y; r < end; r += 8)
      {
        int64_t row = tap == taps ? r
                                  : neighbour (c, r, tap / c.across - c.above,
                                               tap % c.across - c.left);

        if (row >= 0)
          sum = fmaf (gradient (c, r, channel),
                      tap == taps ? 1 : element (c.x, row, channel), sum);
      }
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads ();
  if (threadIdx.y != 0 || channel >= c.channels)
    return;
  for (int i = 1; i < 8; i++)
    sum += shared[i][threadIdx.x];
  if (tap == taps)
    c.bias_parts[(int64_t) blockIdx.z * c.channels + channel] = sum;
  else
    c.parts[((int64_t) blockIdx.z * c.channels + channel) * taps + tap] = sum;
}

int64_t
weight_grad (cudaStream_t stream, const QmConvolution &c)
{
  int64_t parts = qm_even_parts ((c.rows + 63) / 64, c.most_parts);

  weight_grad_kernel<<<dim3 (qm_blocks (c.channels, 32),
                             (unsigned) (c.down * c.across + 1),
                             (unsigned) parts),
                       dim3 (32, 8), 0, stream>>> (c);
  return parts;
}

QmConvolution
convolution_of (const QmOpCall *call, const QmTensor &x, const QmTensor &w)
{
  const QmAttributes &attributes = call->attributes;
  bool causal = attributes.causal != QM_CAUSAL_NONE;
  QmConvolution c = { .x = qm_rows (x),
                      .y = qm_rows (call->outputs[0]),
                      .w = qm_array (w),
                      .activation = attributes.activation,
                      .rows = x.shape[0],
                      .channels = (int) x.shape[1],
                      .height = (int) attributes.height,
                      .width = (int) attributes.width,
                      .down = (int) w.shape[1],
                      .across = (int) w.shape[2] };

  c.above = causal ? c.down - 1 : c.down / 2;
  c.left = causal ? c.across - 1 : c.across / 2;
  return c;
}

/* dy through the activation, in the workspace, unless a kernel does that on
 * the way. */
void
through_activation (const QmCudaContext *context,
                    cudaStream_t stream,
                    float *g,
                    QmConvolution &c)
{
  gradient_kernel<<<qm_grid (context, c.rows * c.channels, 256), 256, 0,
                    stream>>> (c, g);
  c.dy = { (char *) g, (int64_t) c.channels * 4, QM_TYPE_F32 };
  c.activation = QM_FUNCTION_NONE;
}

} /* namespace */

QmStatus
qm_cuda_depthwise_conv (QmCudaContext *context,
                        cudaStream_t stream,
                        const QmOpCall *call,
                        QmError *error)
{
  QmConvolution c = convolution_of (call, call->inputs[0], call->inputs[1]);

  c.bias = qm_array (call->inputs[2]);
  if (qm_convolves_images (call))
    qm_convolve_images (context, stream, c);
  else if (qm_convolves_sequences (call))
    qm_convolve_sequences (context, stream, c);
  else
    convolve_kernel<<<qm_grid (context, c.rows * c.channels, 256), 256, 0,
                      stream>>> (c);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_depthwise_conv_backward (QmCudaContext *context,
                                 cudaStream_t stream,
                                 const QmOpCall *call,
                                 QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  QmConvolution c = convolution_of (call, in[1], in[2]);
  QmCudaConvLayout layout = qm_cuda_conv_layout (call);
  int64_t taps = (int64_t) c.down * c.across, parts;
  float *workspace = (float *) call->workspace;
  QmStatus status;

  c.dy = qm_rows (in[0]);
  c.bias = qm_array (in[3]);
  c.add = qm_rows (in[4]);
  c.parts = workspace + layout.parts;
  c.bias_parts = workspace + layout.bias_parts;
  c.most_parts = layout.most_parts;
  if (layout.gradient)
    through_activation (context, stream, workspace, c);
  if (qm_convolves_sequences (call))
    parts = qm_sequence_gradients (context, stream, c);
  else if (qm_convolves_images (call))
    {
      parts = qm_image_weight_grad (context, stream, c);
      qm_image_input_grad (context, stream, c);
    }
  else
    {
      parts = weight_grad (stream, c);
      input_grad_kernel<<<qm_grid (context, c.rows * c.channels, 256), 256, 0,
                          stream>>> (c);
    }
  status = qm_cuda_launched (call, error);
  if (status == QM_OK)
    status = qm_cuda_add_parts (stream, c.parts, parts, c.channels * taps, 1,
                                (float *) out[1].data, error);
  if (status == QM_OK && qm_tensor_present (&out[2]))
    status = qm_cuda_add_parts (stream, c.bias_parts, parts, c.channels, 1,
                                (float *) out[2].data, error);
  return status;
}
