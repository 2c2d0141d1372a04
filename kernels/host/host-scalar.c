/* SPDX-License-Identifier: Apache-2.0 */

/* The kernels in portable C, which the compiler makes vectors of where it can:
 * for processors without the others, and for what is left at the ends of their
 * ranges. */

#include "kernels/convert.h"
#include "kernels/host/host-kernels.h"

#include <math.h>
#include <string.h>

/* Elements that are converted at a time; stays in the first cache. */
#define PIECE 512

static void
adam_piece (const QmHostAdam *adam,
            const QmHostStep *step,
            const float *restrict gradient,
            int64_t begin,
            int64_t n)
{
  float *restrict master = adam->master + begin;
  float *restrict m = adam->m + begin;
  float *restrict v = adam->v + begin;

  for (int64_t i = 0; i < n; i++)
    {
      float w = master[i], g = gradient[i] * step->factor;

      if (step->decoupled)
        w -= step->decay * w;
      else
        g += step->decay * w;
      m[i] = step->beta1 * m[i] + step->rest1 * g;
      v[i] = step->beta2 * v[i] + step->rest2 * g * g;
      master[i] = w
                  - step->rate * (m[i] / step->correction1)
                        / (sqrtf (v[i] / step->correction2) + step->epsilon);
    }
}

void
qm_host_adam_scalar (const QmHostAdam *adam,
                     const QmHostStep *step,
                     int64_t begin,
                     int64_t end)
{
  float gradient[PIECE];

  for (int64_t i = begin; i < end; i += PIECE)
    {
      int64_t n = end - i < PIECE ? end - i : PIECE;
      void *g = qm_host_at (adam->gradient_type, adam->gradient, i);

      qm_floats_load (adam->gradient_type, g, 1, n, gradient);
      adam_piece (adam, step, gradient, i, n);
      if (adam->clear)
        memset (g, 0, (size_t) n * qm_type_size (adam->gradient_type));
      if (adam->weights_type != QM_TYPE_NONE)
        qm_floats_store (adam->weights_type,
                         qm_host_at (adam->weights_type, adam->weights, i), 1,
                         n, adam->master + i);
    }
}

void
qm_host_add_scalar (const QmHostAdd *add, int64_t begin, int64_t end)
{
  float piece[PIECE];

  for (int64_t i = begin; i < end; i += PIECE)
    {
      int64_t n = end - i < PIECE ? end - i : PIECE;
      float *sum = add->sum + i;

      qm_floats_load (add->type, qm_host_at (add->type, add->x, i), 1, n,
                      piece);
      for (int64_t j = 0; j < n; j++)
        sum[j] += piece[j];
    }
}

void
qm_host_squares_scalar (QmType type,
                        const void *x,
                        int64_t n,
                        double lanes[QM_HOST_LANES])
{
  float piece[PIECE];

  for (int64_t i = 0; i < n; i += PIECE)
    {
      int64_t length = n - i < PIECE ? n - i : PIECE;

      qm_floats_load (type, qm_host_at (type, x, i), 1, length, piece);
      for (int64_t j = 0; j < length; j++)
        lanes[j % QM_HOST_LANES] += (double) piece[j] * piece[j];
    }
}
