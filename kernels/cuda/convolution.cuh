/* SPDX-License-Identifier: Apache-2.0 */

/* Depth-wise convolutions: what the three ways to compute one have in common.
 *
 * convolution.cu chooses and has kernels for every window, convolution-image.cu
 * those for 7 x 7 pixels, convolution-sequence.cu those for up to four rows of
 * a sequence.  Gradients of weights are sums over all pixels: every block makes
 * them for a part of the pixels, and qm_cuda_add_parts() adds the parts in
 * their order. */

#ifndef QM_KERNELS_CUDA_CONVOLUTION_CUH
#define QM_KERNELS_CUDA_CONVOLUTION_CUH

#include "kernels/cuda/cuda-rows.cuh"

struct QmConvolution
{
  QmRows x, dy, add, y; /* y: or dx */
  QmArray w, bias;
  QmFunction activation;
  int64_t rows;
  int channels, height, width;
  int down, across;   /* of the window */
  int above, left;    /* pixels that it begins before its own */
  float *parts;       /* [parts, C, M, N]: of the gradient of w */
  float *bias_parts;  /* [parts, C] */
  int64_t most_parts; /* that there is room for */
};

/* Whether the kernels for images can read these tensors: 7 x 7 centred, and
 * channels in groups of 16 bytes. */
bool qm_convolves_images (const QmOpCall *call);

/* y = activation (x * w + bias). */
void qm_convolve_images (const QmCudaContext *context,
                         cudaStream_t stream,
                         const QmConvolution &convolution);

/* y = add + dy * w turned, where there is no activation. */
void qm_image_input_grad (const QmCudaContext *context,
                          cudaStream_t stream,
                          const QmConvolution &convolution);

/* The gradients of w and bias; returns the number of parts. */
int64_t qm_image_weight_grad (const QmCudaContext *context,
                              cudaStream_t stream,
                              const QmConvolution &convolution);

/* The same for sequences, where there are channels in groups of four; all
 * gradients at once. */
bool qm_convolves_sequences (const QmOpCall *call);

void qm_convolve_sequences (const QmCudaContext *context,
                            cudaStream_t stream,
                            const QmConvolution &convolution);

int64_t qm_sequence_gradients (const QmCudaContext *context,
                               cudaStream_t stream,
                               const QmConvolution &convolution);

#endif
