/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"
#include "kernels/host/host-adam.h"

#include <math.h>
#include <string.h>

/* The label that row `t` of all logits has to predict. */
static int32_t
label_of (const QmOpCall *call, const QmTensor *labels, int64_t t)
{
  const int32_t *values = labels->data;
  int64_t n = labels->shape[1];

  if (!call->attributes.shift)
    return values[t];
  return t % n == n - 1 ? QM_IGNORE_LABEL : values[t + 1];
}

bool
qm_cpu_label_weight (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *labels = &call->inputs[0];
  const float *state = call->inputs[1].data;
  float *weight = call->outputs[0].data;
  int64_t n = qm_tensor_elements (labels), count = 0;

  for (int64_t t = 0; t < n; t++)
    count += label_of (call, labels, t) != QM_IGNORE_LABEL;
  weight[0] = count > 0 ? (float) (call->attributes.scale / (double) count) : 0;
  weight[1] = weight[0] * state[QM_STATE_LOSS_SCALE];
  return true;
}

/* Caps a row of logits, and leaves in `slope` what their gradient then has to
 * be multiplied by. */
static void
cap_row (float *row, float *slope, int64_t n, double cap)
{
  for (int64_t j = 0; j < n; j++)
    {
      double t = tanh (row[j] / cap);

      row[j] = (float) (cap * t);
      slope[j] = (float) (1 - t * t);
    }
}

/* Turns a row of logits into its gradient; returns their loss. */
static float
row_loss (float *row, int64_t n, int32_t label, float weight, double z_loss)
{
  float largest = -INFINITY, wanted;
  double sum = 0, all, share;

  if (label < 0 || label >= n)
    {
      for (int64_t j = 0; j < n; j++)
        row[j] = NAN;
      return NAN;
    }
  wanted = row[label];
  for (int64_t j = 0; j < n; j++)
    largest = fmaxf (largest, row[j]);
  for (int64_t j = 0; j < n; j++)
    sum += row[j] = expf (row[j] - largest);
  all = log (sum) + largest;
  share = (1 + 2 * z_loss * all) / sum;
  for (int64_t j = 0; j < n; j++)
    row[j] = weight * ((float) (row[j] * share) - (j == label ? 1 : 0));
  return (float) (all - wanted + z_loss * all * all);
}

bool
qm_cpu_cross_entropy (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *logits = &call->inputs[0], *dlogits = &call->outputs[0];
  const float *weight = call->inputs[2].data;
  float *losses = call->outputs[1].data;
  const QmAttributes *attributes = &call->attributes;
  int64_t n = logits->shape[1];
  size_t room = (size_t) (attributes->padded > n ? attributes->padded : n);
  float *row = calloc (2 * room, sizeof *row);
  float *slope = row + room;

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < logits->shape[0]; t++)
    {
      int32_t label = label_of (call, &call->inputs[1], attributes->first + t);

      losses[t] = 0;
      if (label == QM_IGNORE_LABEL)
        memset (row, 0, (size_t) n * sizeof *row);
      else
        {
          qm_cpu_load (logits, t * logits->stride[0], n, row);
          if (attributes->cap > 0)
            cap_row (row, slope, n, attributes->cap);
          losses[t] = weight[0]
                      * row_loss (row, n, label, weight[1], attributes->z_loss);
          for (int64_t j = 0; attributes->cap > 0 && j < n; j++)
            row[j] *= slope[j];
        }
      qm_cpu_store (dlogits, t * dlogits->stride[0], (int64_t) room, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_sum_squares (QmThreads *threads, const QmOpCall *call)
{
  const float *x = call->inputs[0].data;
  int64_t n = call->inputs[0].shape[0];
  double sum = 0;

  for (int64_t i = 0; i < n; i++)
    sum += (double) x[i] * x[i];
  *(float *) call->outputs[0].data = (float) sum;
  return true;
}

bool
qm_cpu_update_state (QmThreads *threads, const QmOpCall *call)
{
  qm_host_update_state (call->outputs[0].data,
                        *(const float *) call->inputs[0].data,
                        call->attributes.max_norm, call->attributes.dynamic);
  return true;
}

typedef struct Adam
{
  const QmAttributes *attributes;
  float rate, factor, correction1, correction2;
  float *gradient, *master, *m, *v;
  const QmTensor *w;
} Adam;

static bool
adam_range (void *data, int64_t begin, int64_t end)
{
  const Adam *adam = data;
  float beta1 = (float) adam->attributes->beta1;
  float beta2 = (float) adam->attributes->beta2;
  float decay = (float) adam->attributes->weight_decay;
  float epsilon = (float) adam->attributes->epsilon;
  bool decoupled = adam->attributes->decoupled;

  for (int64_t i = begin; i < end; i++)
    {
      float w = adam->master[i];
      float g = adam->gradient[i] * adam->factor;

      if (decoupled)
        w -= adam->rate * decay * w;
      else
        g += decay * w;
      adam->m[i] = beta1 * adam->m[i] + (1 - beta1) * g;
      adam->v[i] = beta2 * adam->v[i] + (1 - beta2) * g * g;
      w -= adam->rate * (adam->m[i] / adam->correction1)
           / (sqrtf (adam->v[i] / adam->correction2) + epsilon);
      adam->master[i] = w;
      adam->gradient[i] = 0;
    }
  if (qm_tensor_present (adam->w))
    qm_cpu_store (adam->w, begin, end - begin, adam->master + begin);
  return true;
}

bool
qm_cpu_adam (QmThreads *threads, const QmOpCall *call)
{
  const float *state = call->inputs[0].data;
  int64_t n = call->outputs[0].shape[0];
  float updates = state[QM_STATE_UPDATES];
  Adam adam = {
    .attributes = &call->attributes,
    .rate = state[QM_STATE_LEARNING_RATE],
    .factor = state[QM_STATE_FACTOR],
    .correction1 = 1 - powf ((float) call->attributes.beta1, updates),
    .correction2 = 1 - powf ((float) call->attributes.beta2, updates),
    .gradient = call->outputs[0].data,
    .master = call->outputs[1].data,
    .m = call->outputs[2].data,
    .v = call->outputs[3].data,
    .w = &call->outputs[4],
  };

  if (state[QM_STATE_NOT_FINITE] != 0)
    {
      memset (adam.gradient, 0, (size_t) n * sizeof (float));
      return true;
    }
  return qm_cpu_parallel (threads, n, 20.0 * (double) n, adam_range, &adam);
}
