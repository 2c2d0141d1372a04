/* SPDX-License-Identifier: Apache-2.0 */

/* The text of a vector kernel.  The file that includes it has defined, for its
 * instructions:
 *
 *   Vector, WIDTH       fp32 numbers, and how many
 *   vector_all()        all the same number
 *   vector_load(), vector_store()      any address
 *   vector_load_f16(), vector_load_bf16()
 *   vector_add(), vector_subtract(), vector_multiply(), vector_divide(),
 *   vector_sqrt()
 *   weights_f32(), weights_f16(), weights_bf16()   BLOCK numbers past the
 * caches to an address aligned to 64 bytes squares_add()       adds the squares
 * of BLOCK numbers to BLOCK sums Sums, sums_load(), sums_store()    those sums
 *
 * and ADAM, ADD and SQUARES, the names of the functions. */

#include <xmmintrin.h>

/* Weights at a time: a cache line of a 16-bit copy. */
#define BLOCK QM_HOST_LANES

/* Bytes that each array is asked for ahead, into the second cache; the
 * processor's own prefetching ends with each page of 4 KiB and follows too few
 * arrays. */
#define AHEAD 8192

typedef struct Constants
{
  Vector factor, rate, decay, beta1, beta2, rest1, rest2;
  Vector correction1, correction2, epsilon;
} Constants;

static inline Vector
load_as (QmType type, const void *data, int64_t i)
{
  switch (type)
    {
    case QM_TYPE_F16:
      return vector_load_f16 (qm_host_at (type, data, i));
    case QM_TYPE_BF16:
      return vector_load_bf16 (qm_host_at (type, data, i));
    case QM_TYPE_F32:
    case QM_TYPE_I32:
    case QM_TYPE_E4M3:
    case QM_TYPE_E5M2:
    case QM_TYPE_NONE:
      break;
    }
  return vector_load (qm_host_at (type, data, i));
}

static inline void
ask_for (const void *data, size_t bytes)
{
  for (size_t i = 0; i < bytes; i += 64)
    _mm_prefetch ((const char *) data + AHEAD + i, _MM_HINT_T1);
}

static inline Vector
adam_vector (const QmHostAdam *adam,
             const Constants *c,
             bool decoupled,
             Vector g,
             int64_t i)
{
  Vector w = vector_load (adam->master + i);
  Vector m = vector_load (adam->m + i);
  Vector v = vector_load (adam->v + i);
  Vector step;

  g = vector_multiply (g, c->factor);
  if (decoupled)
    w = vector_subtract (w, vector_multiply (c->decay, w));
  else
    g = vector_add (g, vector_multiply (c->decay, w));
  m = vector_add (vector_multiply (c->beta1, m), vector_multiply (c->rest1, g));
  v = vector_add (vector_multiply (c->beta2, v),
                  vector_multiply (vector_multiply (c->rest2, g), g));
  step = vector_multiply (c->rate, vector_divide (m, c->correction1));
  w = vector_subtract (
      w, vector_divide (
             step, vector_add (vector_sqrt (vector_divide (v, c->correction2)),
                               c->epsilon)));
  vector_store (adam->m + i, m);
  vector_store (adam->v + i, v);
  vector_store (adam->master + i, w);
  return w;
}

static inline void
store_weights (const QmHostAdam *adam, int64_t i, const Vector *w)
{
  void *to = qm_host_at (adam->weights_type, adam->weights, i);

  switch (adam->weights_type)
    {
    case QM_TYPE_F32:
      weights_f32 (to, w);
      break;
    case QM_TYPE_F16:
      weights_f16 (to, w);
      break;
    case QM_TYPE_BF16:
      weights_bf16 (to, w);
      break;
    case QM_TYPE_I32:
    case QM_TYPE_E4M3:
    case QM_TYPE_E5M2:
    case QM_TYPE_NONE:
      break;
    }
}

/* Where the first block of [begin, end) begins: where this array is aligned. */
static int64_t
first_block (QmType type, const void *data, int64_t begin, int64_t end)
{
  uintptr_t address = (uintptr_t) qm_host_at (type, data, begin);
  int64_t first = begin + (int64_t) ((0 - address) % 64 / qm_type_size (type));

  return first < end ? first : end;
}

void
ADAM (const QmHostAdam *adam,
      const QmHostStep *step,
      int64_t begin,
      int64_t end)
{
  const Constants c = { .factor = vector_all (step->factor),
                        .rate = vector_all (step->rate),
                        .decay = vector_all (step->decay),
                        .beta1 = vector_all (step->beta1),
                        .beta2 = vector_all (step->beta2),
                        .rest1 = vector_all (step->rest1),
                        .rest2 = vector_all (step->rest2),
                        .correction1 = vector_all (step->correction1),
                        .correction2 = vector_all (step->correction2),
                        .epsilon = vector_all (step->epsilon) };
  const Vector zero = vector_all (0);
  const QmType type = adam->gradient_type;
  const size_t size = type == QM_TYPE_F32 ? 4 : 2;
  const bool decoupled = step->decoupled, clear = adam->clear;
  int64_t i = adam->weights_type != QM_TYPE_NONE
                  ? first_block (adam->weights_type, adam->weights, begin, end)
                  : first_block (QM_TYPE_F32, adam->master, begin, end);

  qm_host_adam_scalar (adam, step, begin, i);
  for (; i <= end - BLOCK; i += BLOCK)
    {
      void *gradient = qm_host_at (type, adam->gradient, i);
      Vector w[BLOCK / WIDTH];

      ask_for (gradient, BLOCK * size);
      ask_for (adam->master + i, BLOCK * sizeof (float));
      ask_for (adam->m + i, BLOCK * sizeof (float));
      ask_for (adam->v + i, BLOCK * sizeof (float));
#pragma GCC unroll 8
      for (int j = 0; j < BLOCK / WIDTH; j++)
        w[j] = adam_vector (adam, &c, decoupled,
                            load_as (type, gradient, j * WIDTH), i + j * WIDTH);
      if (clear)
        for (size_t j = 0; j < BLOCK * size; j += sizeof (Vector))
          vector_store ((void *) ((char *) gradient + j), zero);
      store_weights (adam, i, w);
    }
  /* Others are to see what went past the caches. */
  _mm_sfence ();
  qm_host_adam_scalar (adam, step, i, end);
}

void
ADD (const QmHostAdd *add, int64_t begin, int64_t end)
{
  const QmType type = add->type;
  const size_t size = type == QM_TYPE_F32 ? 4 : 2;
  int64_t i = first_block (QM_TYPE_F32, add->sum, begin, end);

  qm_host_add_scalar (add, begin, i);
  for (; i <= end - BLOCK; i += BLOCK)
    {
      float *sum = add->sum + i;

      ask_for (qm_host_at (type, add->x, i), BLOCK * size);
      ask_for (sum, BLOCK * sizeof (float));
#pragma GCC unroll 8
      for (int j = 0; j < BLOCK; j += WIDTH)
        vector_store (sum + j, vector_add (vector_load (sum + j),
                                           load_as (type, add->x, i + j)));
    }
  qm_host_add_scalar (add, i, end);
}

void
SQUARES (QmType type, const void *x, int64_t n, double lanes[QM_HOST_LANES])
{
  const size_t size = type == QM_TYPE_F32 ? 4 : 2;
  int64_t whole = n / BLOCK * BLOCK;
  Sums sums;

  sums_load (&sums, lanes);
  for (int64_t i = 0; i < whole; i += BLOCK)
    {
      Vector block[BLOCK / WIDTH];

      ask_for (qm_host_at (type, x, i), BLOCK * size);
#pragma GCC unroll 8
      for (int j = 0; j < BLOCK / WIDTH; j++)
        block[j] = load_as (type, x, i + j * WIDTH);
      squares_add (&sums, block);
    }
  sums_store (&sums, lanes);
  qm_host_squares_scalar (type, qm_host_at (type, x, whole), n - whole, lanes);
}
