/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"

bool
qm_cpu_embedding (QmThreads *threads, const QmOpCall *call)
{
  const int32_t *ids = call->inputs[0].data;
  const QmTensor *w = &call->inputs[1], *y = &call->outputs[0];
  int64_t n = w->shape[1];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < y->shape[0]; t++)
    {
      qm_cpu_load (w, ids[t] * w->stride[0], n, row);
      qm_cpu_store (y, t * y->stride[0], n, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_embedding_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *dw = &call->outputs[0];
  const int32_t *ids = call->inputs[1].data;
  int64_t n = dy->shape[1];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < dy->shape[0]; t++)
    {
      float *to = qm_cpu_at (dw, ids[t] * dw->stride[0]);

      if (ids[t] == call->attributes.padding)
        continue;
      qm_cpu_load (dy, t * dy->stride[0], n, row);
      for (int64_t j = 0; j < n; j++)
        to[j] += row[j];
    }
  free (row);
  return true;
}

bool
qm_cpu_positions (QmThreads *threads, const QmOpCall *call)
{
  const int32_t *ids = call->inputs[0].data;
  int32_t *y = call->outputs[0].data;
  int64_t rows = call->inputs[0].shape[0], n = call->inputs[0].shape[1];
  int32_t padding = (int32_t) call->attributes.padding;

  for (int64_t b = 0; b < rows; b++)
    {
      int32_t count = 0;

      for (int64_t s = 0; s < n; s++)
        if (padding < 0)
          y[b * n + s] = (int32_t) s;
        else if (ids[b * n + s] == padding)
          y[b * n + s] = padding;
        else
          y[b * n + s] = padding + ++count;
    }
  return true;
}

bool
qm_cpu_token_dropout (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t *ids = call->inputs[1].data;
  int64_t length = call->inputs[1].shape[1], n = x->shape[1];
  int32_t hidden = (int32_t) call->attributes.padding;
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < x->shape[0]; t++)
    {
      const int32_t *own = ids + t / length * length;
      int64_t seen = 0;
      double factor;

      for (int64_t s = 0; s < length; s++)
        seen += own[s] != hidden;
      factor = ids[t] == hidden
                   ? 0
                   : call->attributes.value * (double) length / (double) seen;
      qm_cpu_load (x, t * x->stride[0], n, row);
      for (int64_t j = 0; j < n; j++)
        row[j] = (float) (factor * row[j]);
      qm_cpu_store (y, t * y->stride[0], n, row);
    }
  free (row);
  return true;
}

/* A class token, registers and patches of samples. */
typedef struct Tokens
{
  int64_t registers, patches;
} Tokens;

static Tokens
tokens_of (const QmTensor *x, const QmTensor *y, const QmTensor *registers)
{
  int64_t n = qm_tensor_present (registers) ? registers->shape[0] : 0;

  return (Tokens){ n, x->shape[0] / ((y->shape[0] - x->shape[0]) / (1 + n)) };
}

bool
qm_cpu_class_token (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *token = &call->inputs[1];
  const QmTensor *position = &call->inputs[2], *registers = &call->inputs[3];
  const int32_t *kept = call->inputs[4].data;
  const QmTensor *y = &call->outputs[0];
  Tokens tokens = tokens_of (x, y, registers);
  int64_t n = y->shape[1], length = 1 + tokens.registers + tokens.patches;
  float *row = qm_cpu_floats (2 * n);

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < y->shape[0]; t++)
    {
      int64_t b = t / length, s = t % length, patch = s - tokens.registers - 1;

      if (s == 0)
        qm_cpu_load (token, 0, n, row);
      else if (patch < 0)
        qm_cpu_load (registers, (s - 1) * registers->stride[0], n, row);
      else
        qm_cpu_load (x, (b * tokens.patches + patch) * x->stride[0], n, row);
      if (qm_tensor_present (position) && (s == 0 || patch >= 0))
        {
          int64_t at = s == 0         ? 0
                       : kept != NULL ? 1 + kept[b * tokens.patches + patch]
                                      : 1 + patch;

          qm_cpu_load (position, at * position->stride[0], n, row + n);
          for (int64_t j = 0; j < n; j++)
            row[j] += row[n + j];
        }
      qm_cpu_store (y, t * y->stride[0], n, row);
    }
  free (row);
  return true;
}

/* sums[row] += x, where there are such. */
static void
add_to_row (const QmTensor *sums, int64_t row, int64_t n, const float *x)
{
  float *sum;

  if (!qm_tensor_present (sums))
    return;
  sum = qm_cpu_at (sums, row * sums->stride[0]);
  for (int64_t j = 0; j < n; j++)
    sum[j] += x[j];
}

bool
qm_cpu_class_token_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *out = call->outputs;
  Tokens tokens = tokens_of (&out[0], dy, &out[3]);
  int64_t n = dy->shape[1], length = 1 + tokens.registers + tokens.patches;
  float *row = qm_cpu_floats (n), *token = out[1].data;

  if (row == NULL)
    return false;
  for (int64_t t = 0; t < dy->shape[0]; t++)
    {
      int64_t b = t / length, s = t % length, patch = s - tokens.registers - 1;

      qm_cpu_load (dy, t * dy->stride[0], n, row);
      if (s == 0)
        {
          for (int64_t j = 0; j < n; j++)
            token[j] += row[j];
          add_to_row (&out[2], 0, n, row);
        }
      else if (patch < 0)
        add_to_row (&out[3], s - 1, n, row);
      else
        {
          add_to_row (&out[2], patch + 1, n, row);
          qm_cpu_store (&out[0],
                        (b * tokens.patches + patch) * out[0].stride[0], n,
                        row);
        }
    }
  free (row);
  return true;
}
