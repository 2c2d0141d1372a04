/* SPDX-License-Identifier: Apache-2.0 */

/* Compiled for AVX2, FMA and F16C. */

#include "kernels/host/host-kernels.h"

#include <immintrin.h>

#define WIDTH   8
#define ADAM    qm_host_adam_avx2
#define ADD     qm_host_add_avx2
#define SQUARES qm_host_squares_avx2

typedef __m256 Vector;

#define vector_all      _mm256_set1_ps
#define vector_load     _mm256_loadu_ps
#define vector_store    _mm256_storeu_ps
#define vector_add      _mm256_add_ps
#define vector_subtract _mm256_sub_ps
#define vector_multiply _mm256_mul_ps
#define vector_divide   _mm256_div_ps
#define vector_sqrt     _mm256_sqrt_ps

static inline Vector
vector_load_f16 (const void *from)
{
  return _mm256_cvtph_ps (_mm_loadu_si128 (from));
}

static inline Vector
vector_load_bf16 (const void *from)
{
  __m128i halves = _mm_loadu_si128 (from);

  return _mm256_castsi256_ps (
      _mm256_slli_epi32 (_mm256_cvtepu16_epi32 (halves), 16));
}

static inline void
weights_f32 (void *to, const Vector *w)
{
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    _mm256_stream_ps ((float *) to + i * WIDTH, w[i]);
}

static inline void
weights_f16 (void *to, const Vector *w)
{
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++)
    _mm256_stream_si256 (
        (__m256i *) to + i,
        _mm256_set_m128i (
            _mm256_cvtps_ph (w[2 * i + 1], _MM_FROUND_TO_NEAREST_INT),
            _mm256_cvtps_ph (w[2 * i], _MM_FROUND_TO_NEAREST_INT)));
}

/* In the lower half of each number. */
static inline __m256i
to_bf16 (Vector w)
{
  __m256i bits = _mm256_castps_si256 (w);
  __m256i upper = _mm256_srli_epi32 (bits, 16);
  __m256i odd = _mm256_and_si256 (upper, _mm256_set1_epi32 (1));
  __m256i rounded =
      _mm256_srli_epi32 (_mm256_add_epi32 (_mm256_add_epi32 (bits, odd),
                                           _mm256_set1_epi32 (0x7fff)),
                         16);
  __m256i quiet = _mm256_or_si256 (upper, _mm256_set1_epi32 (0x40));

  return _mm256_blendv_epi8 (
      rounded, quiet, _mm256_castps_si256 (_mm256_cmp_ps (w, w, _CMP_UNORD_Q)));
}

static inline void
weights_bf16 (void *to, const Vector *w)
{
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++)
    {
      /* Packs the lower halves of both before the upper halves. */
      __m256i packed =
          _mm256_packus_epi32 (to_bf16 (w[2 * i]), to_bf16 (w[2 * i + 1]));

      _mm256_stream_si256 ((__m256i *) to + i,
                           _mm256_permute4x64_epi64 (packed, 0xd8));
    }
}

typedef struct Sums
{
  __m256d part[8];
} Sums;

static inline void
sums_load (Sums *sums, const double *from)
{
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    sums->part[i] = _mm256_loadu_pd (from + 4 * i);
}

static inline void
sums_store (const Sums *sums, double *to)
{
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    _mm256_storeu_pd (to + 4 * i, sums->part[i]);
}

/* The square of an fp32 number is exact in fp64, so it does not matter that it
 * is not rounded before it is added. */
static inline void
squares_add (Sums *sums, const Vector *x)
{
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    {
      __m256d low = _mm256_cvtps_pd (_mm256_castps256_ps128 (x[i]));
      __m256d high = _mm256_cvtps_pd (_mm256_extractf128_ps (x[i], 1));

      sums->part[2 * i] = _mm256_fmadd_pd (low, low, sums->part[2 * i]);
      sums->part[2 * i + 1] =
          _mm256_fmadd_pd (high, high, sums->part[2 * i + 1]);
    }
}

#include "kernels/host/host-vector.h"
