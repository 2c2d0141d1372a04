/* SPDX-License-Identifier: Apache-2.0 */

/* LAMB (You et al. 2020), of which sums of squares are the other half. */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

typedef struct Direction
{
  float beta1, beta2, decay, epsilon;
  float factor, correction1, correction2;
  const float *master;
  float *gradient, *m, *v;
} Direction;

static bool
direction_range (void *data, int64_t begin, int64_t end)
{
  const Direction *d = data;

  for (int64_t i = begin; i < end; i++)
    {
      float g = d->gradient[i] * d->factor;

      d->m[i] = d->beta1 * d->m[i] + (1 - d->beta1) * g;
      d->v[i] = d->beta2 * d->v[i] + (1 - d->beta2) * g * g;
      d->gradient[i] = (d->m[i] / d->correction1)
                           / (sqrtf (d->v[i] / d->correction2) + d->epsilon)
                       + d->decay * d->master[i];
    }
  return true;
}

bool
qm_cpu_lamb_direction (QmThreads *threads, const QmOpCall *call)
{
  const QmAttributes *attributes = &call->attributes;
  const float *state = call->inputs[0].data;
  int64_t n = call->outputs[0].shape[0];
  float updates = state[QM_STATE_UPDATES];
  Direction direction = {
    .beta1 = (float) attributes->beta1,
    .beta2 = (float) attributes->beta2,
    .decay = (float) attributes->weight_decay,
    .epsilon = (float) attributes->epsilon,
    .factor = state[QM_STATE_FACTOR],
    .correction1 = 1 - powf ((float) attributes->beta1, updates),
    .correction2 = 1 - powf ((float) attributes->beta2, updates),
    .master = call->inputs[1].data,
    .gradient = call->outputs[0].data,
    .m = call->outputs[1].data,
    .v = call->outputs[2].data,
  };

  if (state[QM_STATE_NOT_FINITE] != 0)
    {
      memset (direction.gradient, 0, (size_t) n * sizeof (float));
      return true;
    }
  return qm_cpu_parallel (threads, n, 20.0 * (double) n, direction_range,
                          &direction);
}

typedef struct Update
{
  float step; /* rate x trust */
  bool finite;
  float *u, *master;
  const QmTensor *w;
} Update;

static bool
update_range (void *data, int64_t begin, int64_t end)
{
  const Update *update = data;

  for (int64_t i = begin; i < end; i++)
    {
      if (update->finite)
        update->master[i] -= update->step * update->u[i];
      update->u[i] = 0;
    }
  if (update->finite && qm_tensor_present (update->w))
    qm_cpu_store (update->w, begin, end - begin, update->master + begin);
  return true;
}

bool
qm_cpu_lamb_update (QmThreads *threads, const QmOpCall *call)
{
  const float *state = call->inputs[0].data, *norms = call->inputs[1].data;
  int64_t n = call->outputs[0].shape[0];
  float trust =
      norms[0] > 0 && norms[1] > 0 ? sqrtf (norms[0]) / sqrtf (norms[1]) : 1;
  Update update = {
    .step = state[QM_STATE_LEARNING_RATE] * trust,
    .finite = state[QM_STATE_NOT_FINITE] == 0,
    .u = call->outputs[0].data,
    .master = call->outputs[1].data,
    .w = &call->outputs[2],
  };

  return qm_cpu_parallel (threads, n, 4.0 * (double) n, update_range, &update);
}
