/* SPDX-License-Identifier: Apache-2.0 */

/* Muon (Jordan et al. 2024) but for its products. */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

typedef struct Momentum
{
  float beta, factor;
  float *gradient, *m;
} Momentum;

static bool
momentum_range (void *data, int64_t begin, int64_t end)
{
  const Momentum *momentum = data;
  float beta = momentum->beta;

  for (int64_t i = begin; i < end; i++)
    {
      float g = momentum->gradient[i] * momentum->factor;

      momentum->m[i] = beta * momentum->m[i] + (1 - beta) * g;
      momentum->gradient[i] = beta * momentum->m[i] + (1 - beta) * g;
    }
  return true;
}

bool
qm_cpu_muon_momentum (QmThreads *threads, const QmOpCall *call)
{
  const float *state = call->inputs[0].data;
  int64_t n = call->outputs[0].shape[0];
  Momentum momentum = {
    .beta = (float) call->attributes.beta1,
    .factor = state[QM_STATE_FACTOR],
    .gradient = call->outputs[0].data,
    .m = call->outputs[1].data,
  };

  if (state[QM_STATE_NOT_FINITE] != 0)
    {
      memset (momentum.gradient, 0, (size_t) n * sizeof (float));
      return true;
    }
  return qm_cpu_parallel (threads, n, 8.0 * (double) n, momentum_range,
                          &momentum);
}

typedef struct Normalize
{
  float factor;
  float *x;
  const QmTensor *y;
} Normalize;

static bool
normalize_range (void *data, int64_t begin, int64_t end)
{
  const Normalize *normalize = data;

  for (int64_t i = begin; i < end; i++)
    normalize->x[i] *= normalize->factor;
  qm_cpu_store (normalize->y, begin, end - begin, normalize->x + begin);
  memset (normalize->x + begin, 0, (size_t) (end - begin) * sizeof (float));
  return true;
}

bool
qm_cpu_muon_normalize (QmThreads *threads, const QmOpCall *call)
{
  const float *sum = call->inputs[0].data;
  int64_t n = call->outputs[0].shape[0];
  Normalize normalize = {
    .factor = 1 / fmaxf (sqrtf (sum[0]), (float) call->attributes.epsilon),
    .x = call->outputs[0].data,
    .y = &call->outputs[1],
  };

  return qm_cpu_parallel (threads, n, 2.0 * (double) n, normalize_range,
                          &normalize);
}

bool
qm_cpu_muon_polynomial (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *a = &call->inputs[0], *a2 = &call->inputs[1];
  int64_t n = a->shape[0];
  float *row = qm_cpu_floats (2 * n), *other = row + n;

  (void) threads;
  if (row == NULL)
    return false;
  for (int64_t i = 0; i < n; i++)
    {
      qm_cpu_load (a, i * n, n, row);
      qm_cpu_load (a2, i * n, n, other);
      for (int64_t j = 0; j < n; j++)
        row[j] = (i == j ? (float) QM_MUON_CONSTANT : 0)
                 + (float) QM_MUON_LINEAR * row[j]
                 + (float) QM_MUON_QUADRATIC * other[j];
      qm_cpu_store (&call->outputs[0], i * n, n, row);
    }
  free (row);
  return true;
}

typedef struct Update
{
  float decay, step;
  const QmTensor *x, *w;
  float *master;
} Update;

/* Elements that are converted at a time. */
#define CHUNK 256

static bool
update_range (void *data, int64_t begin, int64_t end)
{
  const Update *update = data;
  float x[CHUNK];

  for (int64_t first = begin; first < end; first += CHUNK)
    {
      int64_t n = end - first < CHUNK ? end - first : CHUNK;
      float *master = update->master + first;

      qm_cpu_load (update->x, first, n, x);
      for (int64_t i = 0; i < n; i++)
        {
          master[i] -= update->decay * master[i];
          master[i] -= update->step * x[i];
        }
    }
  if (qm_tensor_present (update->w))
    qm_cpu_store (update->w, begin, end - begin, update->master + begin);
  return true;
}

bool
qm_cpu_muon_update (QmThreads *threads, const QmOpCall *call)
{
  const QmAttributes *attributes = &call->attributes;
  const float *state = call->inputs[0].data;
  int64_t n = call->outputs[0].shape[0];
  float follows = attributes->cap > 0
                      ? state[QM_STATE_LEARNING_RATE] / (float) attributes->cap
                      : 1;
  Update update = {
    .decay = follows * (float) (attributes->value * attributes->weight_decay),
    .step = follows * (float) (attributes->value * attributes->scale),
    .x = &call->inputs[1],
    .master = call->outputs[0].data,
    .w = &call->outputs[1],
  };

  if (state[QM_STATE_NOT_FINITE] != 0)
    return true;
  return qm_cpu_parallel (threads, n, 4.0 * (double) n, update_range, &update);
}
