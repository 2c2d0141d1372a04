/* SPDX-License-Identifier: Apache-2.0 */

/* Compiled for AVX-512 F, BW, DQ and VL. */

#include "kernels/host/host-kernels.h"

#include <immintrin.h>

#define WIDTH   16
#define ADAM    qm_host_adam_avx512
#define ADD     qm_host_add_avx512
#define SQUARES qm_host_squares_avx512

typedef __m512 Vector;

#define vector_all      _mm512_set1_ps
#define vector_load     _mm512_loadu_ps
#define vector_store    _mm512_storeu_ps
#define vector_add      _mm512_add_ps
#define vector_subtract _mm512_sub_ps
#define vector_multiply _mm512_mul_ps
#define vector_divide   _mm512_div_ps
#define vector_sqrt     _mm512_sqrt_ps

static inline Vector
vector_load_f16 (const void *from)
{
  return _mm512_cvtph_ps (_mm256_loadu_si256 (from));
}

static inline Vector
vector_load_bf16 (const void *from)
{
  __m256i halves = _mm256_loadu_si256 (from);

  return _mm512_castsi512_ps (
      _mm512_slli_epi32 (_mm512_cvtepu16_epi32 (halves), 16));
}

static inline void
weights_f32 (void *to, const Vector *w)
{
  _mm512_stream_ps ((float *) to, w[0]);
  _mm512_stream_ps ((float *) to + WIDTH, w[1]);
}

static inline void
stream (void *to, __m256i low, __m256i high)
{
  _mm512_stream_si512 (to, _mm512_inserti64x4 (_mm512_castsi256_si512 (low),
                                               high, 1));
}

static inline void
weights_f16 (void *to, const Vector *w)
{
  stream (to, _mm512_cvtps_ph (w[0], _MM_FROUND_TO_NEAREST_INT),
          _mm512_cvtps_ph (w[1], _MM_FROUND_TO_NEAREST_INT));
}

/* The instruction for it takes subnormal numbers for zero. */
static inline __m256i
to_bf16 (Vector w)
{
  __m512i bits = _mm512_castps_si512 (w);
  __m512i upper = _mm512_srli_epi32 (bits, 16);
  __m512i odd = _mm512_and_si512 (upper, _mm512_set1_epi32 (1));
  __m512i rounded =
      _mm512_srli_epi32 (_mm512_add_epi32 (_mm512_add_epi32 (bits, odd),
                                           _mm512_set1_epi32 (0x7fff)),
                         16);
  __mmask16 nan = _mm512_cmp_ps_mask (w, w, _CMP_UNORD_Q);

  return _mm512_cvtepi32_epi16 (
      _mm512_mask_or_epi32 (rounded, nan, upper, _mm512_set1_epi32 (0x40)));
}

static inline void
weights_bf16 (void *to, const Vector *w)
{
  stream (to, to_bf16 (w[0]), to_bf16 (w[1]));
}

typedef struct Sums
{
  __m512d part[4];
} Sums;

static inline void
sums_load (Sums *sums, const double *from)
{
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    sums->part[i] = _mm512_loadu_pd (from + 8 * i);
}

static inline void
sums_store (const Sums *sums, double *to)
{
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    _mm512_storeu_pd (to + 8 * i, sums->part[i]);
}

/* The square of an fp32 number is exact in fp64, so it does not matter that it
 * is not rounded before it is added. */
static inline void
squares_add (Sums *sums, const Vector *x)
{
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++)
    {
      __m512d low = _mm512_cvtps_pd (_mm512_castps512_ps256 (x[i]));
      __m512d high = _mm512_cvtps_pd (_mm512_extractf32x8_ps (x[i], 1));

      sums->part[2 * i] = _mm512_fmadd_pd (low, low, sums->part[2 * i]);
      sums->part[2 * i + 1] =
          _mm512_fmadd_pd (high, high, sums->part[2 * i + 1]);
    }
}

#include "kernels/host/host-vector.h"
