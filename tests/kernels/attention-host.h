/* SPDX-License-Identifier: Apache-2.0 */

/* What the attention test and the attention timings share on the host: random
 * numbers, element types, and one allocation for q, k and v. */

#ifndef QM_TESTS_ATTENTION_HOST_H
#define QM_TESTS_ATTENTION_HOST_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/attention.h"

#define CUDA_OK(call)                                                    \
  do                                                                     \
    {                                                                    \
      cudaError_t status_ = (call);                                      \
      if (status_ != cudaSuccess)                                        \
        {                                                                \
          fprintf (stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString (status_));                        \
          exit (1);                                                      \
        }                                                                \
    }                                                                    \
  while (0)

static inline uint64_t
random_bits (uint64_t *state)
{
  uint64_t z = *state += 0x9E3779B97F4A7C15u;

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static inline int
random_int (uint64_t *state, int n)
{
  return (int) (random_bits (state) % (uint64_t) n);
}

/* Near enough to a normal distribution: the sum of four uniform numbers. */
static inline float
random_normal (uint64_t *state)
{
  uint64_t r = random_bits (state);
  int sum = (int) (r & 0xffff) + (int) (r >> 16 & 0xffff)
            + (int) (r >> 32 & 0xffff) + (int) (r >> 48);

  return (float) (sum - 131070) * (1.7320508f / 65536.0f);
}

static inline uint32_t
float_bits (float x)
{
  uint32_t u;

  memcpy (&u, &x, 4);
  return u;
}

static inline float
bits_float (uint32_t u)
{
  float x;

  memcpy (&x, &u, 4);
  return x;
}

static inline uint16_t
to_bf16 (float x)
{
  uint32_t u = float_bits (x);

  return (uint16_t) ((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* Rounds through the fp32 adder: 2^-24 steps below the smallest normal
 * number, 2^(e - 10) above. */
static inline uint16_t
to_fp16 (float x)
{
  uint32_t sign = float_bits (x) >> 16 & 0x8000;
  float a = fabsf (x);
  int e;
  uint32_t m;

  if (!(a < 65520.0f))
    return (uint16_t) (sign | (a != a ? 0x7e00 : 0x7c00));
  if (a < 6.103515625e-05f)
    return (uint16_t) (sign | (uint32_t) lrintf (a * 16777216.0f));
  frexpf (a, &e);
  m = (uint32_t) lrintf (ldexpf (a, 11 - e)); /* 1024 .. 2048 */
  return (uint16_t) (sign | ((((uint32_t) (e + 14)) << 10) + (m - 1024)));
}

static inline float
from_fp16 (uint16_t h)
{
  int e = h >> 10 & 31, m = h & 1023;
  float x = e == 0    ? ldexpf ((float) m, -24)
            : e == 31 ? (m ? NAN : INFINITY)
                      : ldexpf ((float) (m + 1024), e - 25);

  return h & 0x8000 ? -x : x;
}

static inline size_t
type_size (QmAttentionType type)
{
  return type == QM_ATTENTION_TF32 ? 4 : 2;
}

static inline void
store_element (QmAttentionType type, void *data, size_t i, float x)
{
  if (type == QM_ATTENTION_TF32)
    ((float *) data)[i] = x;
  else
    ((uint16_t *) data)[i] =
        type == QM_ATTENTION_FP16 ? to_fp16 (x) : to_bf16 (x);
}

static inline float
load_element (QmAttentionType type, const void *data, size_t i)
{
  if (type == QM_ATTENTION_TF32)
    return ((const float *) data)[i];
  if (type == QM_ATTENTION_FP16)
    return from_fp16 (((const uint16_t *) data)[i]);
  return bits_float ((uint32_t) ((const uint16_t *) data)[i] << 16);
}

static inline const char *
type_name (QmAttentionType type)
{
  return type == QM_ATTENTION_FP16   ? "fp16"
         : type == QM_ATTENTION_BF16 ? "bf16"
                                     : "tf32";
}

static inline const char *
path_name (QmAttentionPath path)
{
  return path == QM_ATTENTION_PATH_AUTO       ? "auto"
         : path == QM_ATTENTION_PATH_PORTABLE ? "portable"
                                              : "hopper";
}

/* Ways to lay q, k and v out. */
typedef enum HostLayout
{
  LAYOUT_HEADS_3,  /* (batch, seq, heads, 3, head_dim), as GPT-NeoX */
  LAYOUT_3_HEADS,  /* (batch, seq, 3, heads, head_dim) */
  LAYOUT_SEPARATE, /* three of (batch, heads, seq, head_dim) */
  LAYOUT_GAPS,     /* (batch, seq, heads, head_dim + 8), the last 8 unused */
  LAYOUT_COUNT
} HostLayout;

/* The tensor `which` (0, 1, 2) of the `total` in one allocation at `data`.
 * Returns the elements that the allocation needs. */
static inline size_t
host_tensor (const QmAttention *a,
             HostLayout layout,
             int which,
             int total,
             void *data,
             QmAttentionTensor *t)
{
  int64_t d = a->head_dim, h = a->heads, s = a->seq;
  int64_t offset = 0;
  int64_t gap = layout == LAYOUT_GAPS ? 8 : 0;

  switch (layout)
    {
    case LAYOUT_HEADS_3:
      *t = (QmAttentionTensor){ .batch_stride = s * h * total * d,
                                .seq_stride = h * total * d,
                                .head_stride = total * d };
      offset = which * d;
      break;
    case LAYOUT_3_HEADS:
      *t = (QmAttentionTensor){ .batch_stride = s * h * total * d,
                                .seq_stride = h * total * d,
                                .head_stride = d };
      offset = which * h * d;
      break;
    case LAYOUT_SEPARATE:
      *t = (QmAttentionTensor){ .batch_stride = s * h * d,
                                .seq_stride = d,
                                .head_stride = s * d };
      offset = which * a->batch * s * h * d;
      break;
    default:
      *t = (QmAttentionTensor){ .batch_stride = s * h * (d + gap),
                                .seq_stride = h * (d + gap),
                                .head_stride = d + gap };
      offset = which * a->batch * s * h * (d + gap);
      break;
    }
  t->data = (char *) data + (size_t) offset * type_size (a->type);
  return (size_t) total * a->batch * s * h * (d + gap);
}

#endif
