/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"
#include "kernels/random.h"

#include <math.h>
#include <string.h>

/* Columns begin .. end - 1 are those that a row sees. */
typedef struct Seen
{
  int64_t begin, end;
} Seen;

static Seen
columns_seen (const QmOpCall *call, int64_t row, int64_t columns)
{
  int64_t window = call->attributes.window;
  Seen range = { 0, columns };

  if (window > 0 && row - window + 1 > 0)
    range.begin = row - window + 1;
  if (window > 0 && row + window < columns)
    range.end = row + window;
  if (call->attributes.causal != QM_CAUSAL_NONE)
    range.end = row + 1;
  return range;
}

bool
qm_cpu_softmax (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0];
  int64_t n = x->shape[3], rows = qm_tensor_elements (x) / n;
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    {
      Seen range = columns_seen (call, r % n, n);
      float largest = -INFINITY;
      double sum = 0;

      qm_cpu_load (x, r * n, n, row);
      for (int64_t j = range.begin; j < range.end; j++)
        largest = fmaxf (largest, row[j]);
      for (int64_t j = range.begin; j < range.end; j++)
        sum += row[j] = expf (row[j] - largest);
      for (int64_t j = 0; j < n; j++)
        row[j] = j >= range.begin && j < range.end ? (float) (row[j] / sum) : 0;
      qm_cpu_store (&call->outputs[0], r * n, n, row);
    }
  free (row);
  return true;
}

bool
qm_cpu_softmax_backward (QmThreads *threads, const QmOpCall *call)
{
  int64_t n = call->inputs[0].shape[3];
  int64_t rows = qm_tensor_elements (&call->inputs[0]) / n;
  float *dp = qm_cpu_floats (2 * n), *p = dp != NULL ? dp + n : NULL;

  if (dp == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    {
      double dot = 0;

      qm_cpu_load (&call->inputs[0], r * n, n, dp);
      qm_cpu_load (&call->inputs[1], r * n, n, p);
      for (int64_t j = 0; j < n; j++)
        dot += (double) p[j] * dp[j];
      for (int64_t j = 0; j < n; j++)
        dp[j] = p[j] * (dp[j] - (float) dot);
      qm_cpu_store (&call->outputs[0], r * n, n, dp);
    }
  free (dp);
  return true;
}

/* One head of a tensor [B, H, S, D] as floats, dense. */
static void
load_head (const QmTensor *tensor, int64_t head, float *to)
{
  int64_t heads = tensor->shape[1], width = tensor->shape[3];
  int64_t offset =
      head / heads * tensor->stride[0] + head % heads * tensor->stride[1];

  for (int64_t s = 0; s < tensor->shape[2]; s++)
    qm_cpu_load (tensor, offset + s * tensor->stride[2], width, to + s * width);
}

static void
store_head (const QmTensor *tensor, int64_t head, const float *from)
{
  int64_t heads = tensor->shape[1], width = tensor->shape[3];
  int64_t offset =
      head / heads * tensor->stride[0] + head % heads * tensor->stride[1];

  for (int64_t s = 0; s < tensor->shape[2]; s++)
    qm_cpu_store (tensor, offset + s * tensor->stride[2], width,
                  from + s * width);
}

static float
dot (const float *a, const float *b, int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++)
    sum += (double) a[i] * b[i];
  return (float) sum;
}

static void
add_scaled (float *to, float factor, const float *from, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    to[i] += factor * from[i];
}

/* What dropout multiplies weight (row, column) with. */
static float
dropout_factor (const QmOpCall *call,
                const QmTensor *rng,
                int64_t head,
                int64_t rows,
                int64_t row,
                int64_t column)
{
  if (!qm_dropout_is_on (call->attributes.dropout))
    return 1;
  return qm_cpu_dropout_tiled (&call->attributes, rng->data, head, rows, row,
                               column);
}

/* Weights of one row, before dropout; returns the log of their sum. */
static float
attend_row (const QmOpCall *call,
            const float *q,
            const float *k,
            Seen range,
            int64_t width,
            float *weights)
{
  float largest = -INFINITY;
  double sum = 0;

  for (int64_t j = range.begin; j < range.end; j++)
    {
      weights[j] =
          (float) call->attributes.scale * dot (q, k + j * width, width);
      largest = fmaxf (largest, weights[j]);
    }
  for (int64_t j = range.begin; j < range.end; j++)
    sum += weights[j] = expf (weights[j] - largest);
  for (int64_t j = range.begin; j < range.end; j++)
    weights[j] = (float) (weights[j] / sum);
  return largest + (float) log (sum);
}

static bool
attention_heads (void *data, int64_t begin, int64_t end)
{
  const QmOpCall *call = data;
  const QmTensor *shape = &call->inputs[0];
  int64_t rows = shape->shape[2], width = shape->shape[3], size = rows * width;
  int64_t shared = shape->shape[1] / call->inputs[1].shape[1];
  float *memory = qm_cpu_floats (4 * size + rows);
  float *q = memory, *k = q + size, *v = k + size, *o = v + size;
  float *weights = o + size;
  float *lse = call->outputs[1].data;

  if (memory == NULL)
    return false;
  for (int64_t head = begin; head < end; head++)
    {
      load_head (&call->inputs[0], head, q);
      load_head (&call->inputs[1], head / shared, k);
      load_head (&call->inputs[2], head / shared, v);
      memset (o, 0, (size_t) size * sizeof *o);
      for (int64_t i = 0; i < rows; i++)
        {
          Seen range = columns_seen (call, i, rows);

          lse[head * rows + i] =
              attend_row (call, q + i * width, k, range, width, weights);
          for (int64_t j = range.begin; j < range.end; j++)
            add_scaled (o + i * width,
                        weights[j]
                            * dropout_factor (call, &call->inputs[3], head,
                                              rows, i, j),
                        v + j * width, width);
        }
      store_head (&call->outputs[0], head, o);
    }
  free (memory);
  return true;
}

bool
qm_cpu_attention (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *q = &call->inputs[0];

  return qm_cpu_parallel (threads, q->shape[0] * q->shape[1],
                          qm_op_flops (call), attention_heads, (void *) call);
}

/* Dense copies of one head, and its gradients. */
typedef struct Head
{
  float *dout, *q, *k, *v, *o, *dq, *dk, *dv;
} Head;

static void
attention_row_backward (
    const QmOpCall *call, const Head *h, int64_t head, int64_t rows, int64_t i)
{
  int64_t width = call->inputs[1].shape[3];
  Seen range = columns_seen (call, i, rows);
  float scale = (float) call->attributes.scale;
  float lse = ((const float *) call->inputs[5].data)[head * rows + i];
  const float *q = h->q + i * width, *dout = h->dout + i * width;
  float sum = dot (dout, h->o + i * width, width);

  for (int64_t j = range.begin; j < range.end; j++)
    {
      const float *k = h->k + j * width;
      float weight = expf (scale * dot (q, k, width) - lse);
      float kept = dropout_factor (call, &call->inputs[6], head, rows, i, j);
      float dweight = kept * dot (dout, h->v + j * width, width);
      float dscore = scale * weight * (dweight - sum);

      add_scaled (h->dq + i * width, dscore, k, width);
      add_scaled (h->dk + j * width, dscore, q, width);
      add_scaled (h->dv + j * width, weight * kept, dout, width);
    }
}

/* Turns the pairs (j, j + r/2) of one head. */
static void
rotate (float *head, const float *table, int64_t rotary, bool inverse)
{
  int64_t half = rotary / 2;

  for (int64_t j = 0; j < half; j++)
    {
      float cosine = table[j];
      float sine = inverse ? -table[half + j] : table[half + j];
      float a = head[j], b = head[half + j];

      head[j] = a * cosine - b * sine;
      head[half + j] = b * cosine + a * sine;
    }
}

/* Stores one head, turned backwards where there is a table: in its own type, as
 * if that was done after all else. */
static void
store_turned (const QmOpCall *call,
              const QmTensor *to,
              int64_t head,
              float *from)
{
  const QmTensor *table = &call->inputs[7];

  store_head (to, head, from);
  if (!qm_tensor_present (table))
    return;
  load_head (to, head, from);
  for (int64_t s = 0; s < to->shape[2]; s++)
    rotate (from + s * to->shape[3],
            (const float *) table->data + s * table->stride[0],
            call->attributes.rotary, true);
  store_head (to, head, from);
}

/* Of heads of keys, with all heads of queries that share them. */
static bool
attention_heads_backward (void *data, int64_t begin, int64_t end)
{
  const QmOpCall *call = data;
  const QmTensor *shape = &call->inputs[1];
  int64_t rows = shape->shape[2], size = rows * shape->shape[3];
  int64_t shared = shape->shape[1] / call->inputs[2].shape[1];
  float *memory = qm_cpu_floats (8 * size);
  Head h = { memory,
             memory + size,
             memory + 2 * size,
             memory + 3 * size,
             memory + 4 * size,
             memory + 5 * size,
             memory + 6 * size,
             memory + 7 * size };

  if (memory == NULL)
    return false;
  for (int64_t group = begin; group < end; group++)
    {
      load_head (&call->inputs[2], group, h.k);
      load_head (&call->inputs[3], group, h.v);
      memset (h.dk, 0, (size_t) (2 * size) * sizeof (float));
      for (int64_t head = group * shared; head < (group + 1) * shared; head++)
        {
          load_head (&call->inputs[0], head, h.dout);
          load_head (&call->inputs[1], head, h.q);
          load_head (&call->inputs[4], head, h.o);
          memset (h.dq, 0, (size_t) size * sizeof (float));
          for (int64_t i = 0; i < rows; i++)
            attention_row_backward (call, &h, head, rows, i);
          store_turned (call, &call->outputs[0], head, h.dq);
        }
      store_turned (call, &call->outputs[1], group, h.dk);
      store_head (&call->outputs[2], group, h.dv);
    }
  free (memory);
  return true;
}

bool
qm_cpu_attention_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *k = &call->inputs[2];

  return qm_cpu_parallel (threads, k->shape[0] * k->shape[1],
                          qm_op_flops (call), attention_heads_backward,
                          (void *) call);
}

bool
qm_cpu_repeat_heads (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t heads = y->shape[0] * y->shape[1];
  int64_t shared = y->shape[1] / x->shape[1];
  float *memory = qm_cpu_floats (x->shape[2] * x->shape[3]);

  if (memory == NULL)
    return false;
  for (int64_t head = 0; head < heads; head++)
    {
      load_head (x, head / shared, memory);
      store_head (y, head, memory);
    }
  free (memory);
  return true;
}

bool
qm_cpu_repeat_heads_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *dx = &call->outputs[0];
  int64_t groups = dx->shape[0] * dx->shape[1];
  int64_t shared = dy->shape[1] / dx->shape[1];
  int64_t size = dx->shape[2] * dx->shape[3];
  float *one = qm_cpu_floats (2 * size), *sum = one != NULL ? one + size : NULL;

  if (one == NULL)
    return false;
  for (int64_t group = 0; group < groups; group++)
    {
      memset (sum, 0, (size_t) size * sizeof *sum);
      for (int64_t i = 0; i < shared; i++)
        {
          load_head (dy, group * shared + i, one);
          add_scaled (sum, 1, one, size);
        }
      store_head (dx, group, sum);
    }
  free (one);
  return true;
}

bool
qm_cpu_rotary_linear (QmThreads *threads, const QmOpCall *call)
{
  QmOpCall linear, rotary;

  qm_op_split_rotary (call, &linear, &rotary);
  return qm_cpu_linear (threads, &linear) && qm_cpu_rotary (threads, &rotary);
}

bool
qm_cpu_rotary (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t rows = x->shape[0] * x->shape[1], heads = x->shape[3];
  int64_t width = x->shape[4], rotary = call->attributes.rotary;
  float *row = qm_cpu_floats (width);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t ph = 0; ph < x->shape[2] * heads; ph++)
      {
        int64_t b = r / x->shape[1], s = r % x->shape[1];
        int64_t part = ph / heads, h = ph % heads;
        const float *table = (const float *) call->inputs[1].data
                             + s * call->inputs[1].stride[0];

        qm_cpu_load (x,
                     b * x->stride[0] + s * x->stride[1] + part * x->stride[2]
                         + h * x->stride[3],
                     width, row);
        if (part < call->attributes.count)
          rotate (row, table, rotary, call->attributes.inverse);
        qm_cpu_store (y,
                      b * y->stride[0] + s * y->stride[1] + part * y->stride[2]
                          + h * y->stride[3],
                      width, row);
      }
  free (row);
  return true;
}
