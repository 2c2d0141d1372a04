/* SPDX-License-Identifier: Apache-2.0 */

/* Mixtures of experts: which rows are whose, and how loads are balanced. */

#include "kernels/cpu/cpu.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Softmax of n logits. */
static void
softmax (const float *logits, int64_t n, float *p)
{
  float most = -INFINITY, sum = 0;

  for (int64_t e = 0; e < n; e++)
    most = fmaxf (most, logits[e]);
  for (int64_t e = 0; e < n; e++)
    sum += p[e] = expf (logits[e] - most);
  for (int64_t e = 0; e < n; e++)
    p[e] /= sum;
}

/* That of row t. */
static void
load_probabilities (const QmTensor *logits, int64_t t, float *p)
{
  qm_cpu_load (logits, t * logits->stride[0], logits->shape[1], p);
  softmax (p, logits->shape[1], p);
}

/* The k experts of a token by its logits, which are in the order of their
 * probabilities, and tell those apart that are rounded to the same; where one
 * is not a number, they are still k different experts. */
static void
choose_experts (float *logits, int64_t n, int64_t k, int32_t *experts)
{
  for (int64_t e = 0; e < n; e++)
    logits[e] =
        isnan (logits[e]) || logits[e] < -FLT_MAX ? -FLT_MAX : logits[e];
  for (int64_t j = 0; j < k; j++)
    {
      int64_t best = 0;

      for (int64_t e = 1; e < n; e++)
        if (logits[e] > logits[best])
          best = e;
      experts[j] = (int32_t) best;
      logits[best] = -INFINITY;
    }
}

static void
normalize_weights (float *weights, int64_t k)
{
  float sum = 0;

  for (int64_t j = 0; j < k; j++)
    sum += weights[j];
  for (int64_t j = 0; j < k; j++)
    weights[j] /= sum;
}

/* Rows in the order of experts, and of each in the order of tokens. */
static void
place (const QmOpCall *call)
{
  const int32_t *experts = call->outputs[1].data;
  int32_t *rows = call->outputs[2].data, *places = call->outputs[3].data;
  int32_t *offsets = call->outputs[4].data;
  int64_t pairs = call->outputs[2].shape[0];
  int64_t n = call->inputs[0].shape[1];

  memset (offsets, 0, (size_t) (n + 1) * sizeof *offsets);
  for (int64_t i = 0; i < pairs; i++)
    offsets[experts[i] + 1]++;
  for (int64_t e = 0; e < n; e++)
    offsets[e + 1] += offsets[e];
  for (int64_t i = 0; i < pairs; i++)
    {
      places[i] = offsets[experts[i]]++;
      rows[places[i]] = (int32_t) i;
    }
  /* Each has moved to where the next begins. */
  memmove (offsets + 1, offsets, (size_t) n * sizeof *offsets);
  offsets[0] = 0;
}

bool
qm_cpu_route (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *logits = &call->inputs[0];
  float *weights = call->outputs[0].data;
  int32_t *experts = call->outputs[1].data;
  int64_t k = call->outputs[0].shape[1], n = logits->shape[1];
  float *p = qm_cpu_floats (n), *row = qm_cpu_floats (n);
  bool ok = p != NULL && row != NULL;

  for (int64_t t = 0; ok && t < logits->shape[0]; t++)
    {
      qm_cpu_load (logits, t * logits->stride[0], n, row);
      softmax (row, n, p);
      choose_experts (row, n, k, experts + t * k);
      for (int64_t j = 0; j < k; j++)
        weights[t * k + j] = p[experts[t * k + j]];
      if (call->attributes.normalized)
        normalize_weights (weights + t * k, k);
    }
  free (p);
  free (row);
  if (ok)
    place (call);
  return ok;
}

/* Of probabilities p with the gradient g, which becomes that of the logits. */
static void
through_softmax (const float *p, int64_t n, float *g)
{
  double sum = 0;

  for (int64_t e = 0; e < n; e++)
    sum += (double) p[e] * g[e];
  for (int64_t e = 0; e < n; e++)
    g[e] = p[e] * (g[e] - (float) sum);
}

/* The gradient of weights that were divided by their sum s: with w = p / s, dp
 * = (dw - sum of w dw) / s. */
static void
denormalize (const float *p, const int32_t *experts, int64_t k, float *dw)
{
  double s = 0, sum = 0;

  for (int64_t j = 0; j < k; j++)
    s += p[experts[j]];
  for (int64_t j = 0; j < k; j++)
    sum += p[experts[j]] / s * dw[j];
  for (int64_t j = 0; j < k; j++)
    dw[j] = (float) ((dw[j] - sum) / s);
}

bool
qm_cpu_route_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *logits = &call->inputs[1], *dlogits = &call->outputs[0];
  const float *dweights = call->inputs[0].data;
  const int32_t *experts = call->inputs[2].data;
  int64_t k = call->inputs[0].shape[1], n = logits->shape[1];
  float *p = qm_cpu_floats (n), *g = qm_cpu_floats (n);
  float *dw = qm_cpu_floats (k);
  bool ok = p != NULL && g != NULL && dw != NULL;

  for (int64_t t = 0; ok && t < logits->shape[0]; t++)
    {
      const int32_t *own = experts + t * k;

      load_probabilities (logits, t, p);
      memcpy (dw, dweights + t * k, (size_t) k * sizeof *dw);
      if (call->attributes.normalized)
        denormalize (p, own, k, dw);
      memset (g, 0, (size_t) n * sizeof *g);
      for (int64_t j = 0; j < k; j++)
        g[own[j]] = dw[j];
      through_softmax (p, n, g);
      qm_cpu_store (dlogits, t * dlogits->stride[0], n, g);
    }
  free (p);
  free (g);
  free (dw);
  return ok;
}

bool
qm_cpu_gather_rows (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t *rows = call->inputs[1].data;
  int64_t k = call->inputs[2].shape[1], n = x->shape[1];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < y->shape[0]; r++)
    {
      qm_cpu_load (x, rows[r] / k * x->stride[0], n, row);
      qm_cpu_store (y, r * y->stride[0], n, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_combine_rows (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t *places = call->inputs[2].data;
  int64_t k = call->inputs[2].shape[1], n = x->shape[1];
  float *row = qm_cpu_floats (n), *sum = qm_cpu_floats (n);
  bool ok = row != NULL && sum != NULL;

  for (int64_t t = 0; ok && t < y->shape[0]; t++)
    {
      qm_cpu_load (x, places[t * k] * x->stride[0], n, sum);
      for (int64_t j = 1; j < k; j++)
        {
          qm_cpu_load (x, places[t * k + j] * x->stride[0], n, row);
          for (int64_t i = 0; i < n; i++)
            sum[i] += row[i];
        }
      qm_cpu_store (y, t * y->stride[0], n, sum);
    }
  free (row);
  free (sum);
  return ok;
}

bool
qm_cpu_expert_load (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *logits = &call->inputs[0];
  const int32_t *offsets = call->inputs[1].data;
  float *load = call->outputs[0].data;
  int64_t n = logits->shape[1];
  float *p = qm_cpu_floats (n);
  double *sums = calloc ((size_t) n, sizeof *sums);
  bool ok = p != NULL && sums != NULL;

  for (int64_t t = 0; ok && t < logits->shape[0]; t++)
    {
      load_probabilities (logits, t, p);
      for (int64_t e = 0; e < n; e++)
        sums[e] += p[e];
    }
  for (int64_t e = 0; ok && e < n; e++)
    {
      load[e] = (float) (offsets[e + 1] - offsets[e]);
      load[n + e] = (float) sums[e];
    }
  free (p);
  free (sums);
  return ok;
}

bool
qm_cpu_expert_load_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *logits = &call->inputs[1], *dlogits = &call->outputs[0];
  int64_t n = logits->shape[1];
  const float *dload = (const float *) call->inputs[0].data + n;
  float *p = qm_cpu_floats (n), *g = qm_cpu_floats (n);
  bool ok = p != NULL && g != NULL;

  for (int64_t t = 0; ok && t < logits->shape[0]; t++)
    {
      load_probabilities (logits, t, p);
      memcpy (g, dload, (size_t) n * sizeof *g);
      through_softmax (p, n, g);
      qm_cpu_store (dlogits, t * dlogits->stride[0], n, g);
    }
  free (p);
  free (g);
  return ok;
}

bool
qm_cpu_balance (QmThreads *threads, const QmOpCall *call)
{
  const float *load = call->inputs[0].data, *state = call->inputs[1].data;
  float *dload = call->outputs[0].data, *loss = call->outputs[1].data;
  int64_t layers = call->inputs[0].shape[0], n = call->inputs[0].shape[2];
  double all = (double) layers * (double) call->attributes.count, sum = 0;

  for (int64_t e = 0; e < n; e++)
    {
      double rows = 0, p = 0, slope;

      for (int64_t l = 0; l < layers; l++)
        {
          rows += load[2 * n * l + e];
          p += load[2 * n * l + n + e];
        }
      slope = call->attributes.scale * (double) n * rows / all / all;
      sum += slope * p;
      for (int64_t l = 0; l < layers; l++)
        {
          dload[2 * n * l + e] = 0;
          dload[2 * n * l + n + e] =
              (float) (state[QM_STATE_LOSS_SCALE] * slope);
        }
    }
  *loss += (float) sum;
  return true;
}
