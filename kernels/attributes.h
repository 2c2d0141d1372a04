/* SPDX-License-Identifier: Apache-2.0 */

/* What calls of operators say besides their tensors. */

#ifndef QM_KERNELS_ATTRIBUTES_H
#define QM_KERNELS_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

/* Of QM_FUNCTION_QUICK_GELU (Hendrycks and Gimpel 2016, 2). */
#define QM_QUICK_GELU_SLOPE 1.702f

/* Labels of this value are not learned from. */
#define QM_IGNORE_LABEL (-100)

typedef enum QmFunction
{
  QM_FUNCTION_NONE,
  QM_FUNCTION_GELU,      /* x Phi(x) */
  QM_FUNCTION_GELU_TANH, /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
  QM_FUNCTION_RELU,
  QM_FUNCTION_SILU,
  QM_FUNCTION_TANH,
  QM_FUNCTION_RELU2,     /* the square of x where that is more than 0 */
  QM_FUNCTION_QUICK_GELU /* x / (1 + exp (-1.702 x)) */
} QmFunction;

typedef enum QmDistribution
{
  QM_DISTRIBUTION_NORMAL,
  QM_DISTRIBUTION_UNIFORM,
  QM_DISTRIBUTION_INDEX
} QmDistribution;

typedef enum QmCausal
{
  QM_CAUSAL_NONE,
  QM_CAUSAL_RESULT, /* of attention and softmax: j <= i */
  QM_CAUSAL_LOWER,
  QM_CAUSAL_UPPER
} QmCausal;

/* What an operator does not read is zero. */
typedef struct QmAttributes
{
  QmFunction activation;
  QmDistribution distribution;
  QmCausal causal;
  bool tiled, inverse, shift, dynamic, decoupled, rms, normalized, learned;
  bool by_row;        /* numbers in FP8 have a scale for each row */
  bool tf32;          /* products of f32 may round their factors to TF32 */
  bool deterministic; /* equal bits in every run, where that costs time */
  uint32_t site, site2;
  int64_t count, padded, padding, patch, rotary;
  int64_t height, width, chunk, unit, window, first;
  double value, scale, epsilon, dropout, cap, z_loss;
  double move, jitter, rescale; /* of the places of patches */
  double beta1, beta2, weight_decay, max_norm;
} QmAttributes;

#endif
