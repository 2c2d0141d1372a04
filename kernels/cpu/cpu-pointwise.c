/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"
#include "kernels/random.h"

#include <math.h>
#include <string.h>

/* Elements that are converted at once. */
#define BLOCK 1024

#define SQRT_HALF      0.70710678118654752f
#define SQRT_2_PI      0.79788456080286536f
#define INV_SQRT_2PI   0.39894228040143268f
#define GELU_TANH_CUBE 0.044715f

float
qm_cpu_function (QmFunction function, float x)
{
  switch (function)
    {
    case QM_FUNCTION_GELU:
      return 0.5f * x * (1 + erff (x * SQRT_HALF));
    case QM_FUNCTION_GELU_TANH:
      return 0.5f * x
             * (1 + tanhf (SQRT_2_PI * (x + GELU_TANH_CUBE * x * x * x)));
    case QM_FUNCTION_RELU:
      return x > 0 ? x : 0;
    case QM_FUNCTION_SILU:
      return x / (1 + expf (-x));
    case QM_FUNCTION_TANH:
      return tanhf (x);
    case QM_FUNCTION_RELU2:
      return x > 0 ? x * x : 0;
    case QM_FUNCTION_QUICK_GELU:
      return x / (1 + expf (-QM_QUICK_GELU_SLOPE * x));
    case QM_FUNCTION_NONE:
      break;
    }
  return x;
}

static float
gelu_tanh_slope (float x)
{
  float t = tanhf (SQRT_2_PI * (x + GELU_TANH_CUBE * x * x * x));
  float inner = SQRT_2_PI * (1 + 3 * GELU_TANH_CUBE * x * x);

  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * inner;
}

float
qm_cpu_function_slope (QmFunction function, float x)
{
  float t;

  switch (function)
    {
    case QM_FUNCTION_GELU:
      return 0.5f * (1 + erff (x * SQRT_HALF))
             + x * INV_SQRT_2PI * expf (-0.5f * x * x);
    case QM_FUNCTION_GELU_TANH:
      return gelu_tanh_slope (x);
    case QM_FUNCTION_RELU:
      return x > 0 ? 1 : 0;
    case QM_FUNCTION_SILU:
      t = 1 / (1 + expf (-x));
      return t * (1 + x * (1 - t));
    case QM_FUNCTION_TANH:
      t = tanhf (x);
      return 1 - t * t;
    case QM_FUNCTION_RELU2:
      return x > 0 ? 2 * x : 0;
    case QM_FUNCTION_QUICK_GELU:
      t = 1 / (1 + expf (-QM_QUICK_GELU_SLOPE * x));
      return t * (1 + QM_QUICK_GELU_SLOPE * x * (1 - t));
    case QM_FUNCTION_NONE:
      break;
    }
  return 1;
}

bool
qm_cpu_activation (QmThreads *threads, const QmOpCall *call)
{
  int64_t n = qm_tensor_elements (&call->inputs[0]);
  float x[BLOCK];

  for (int64_t i = 0; i < n; i += BLOCK)
    {
      int64_t count = n - i < BLOCK ? n - i : BLOCK;

      qm_cpu_load (&call->inputs[0], i, count, x);
      for (int64_t j = 0; j < count; j++)
        x[j] = qm_cpu_function (call->attributes.activation, x[j]);
      qm_cpu_store (&call->outputs[0], i, count, x);
    }
  return true;
}

bool
qm_cpu_activation_backward (QmThreads *threads, const QmOpCall *call)
{
  int64_t n = qm_tensor_elements (&call->inputs[0]);
  float dy[BLOCK], x[BLOCK];

  for (int64_t i = 0; i < n; i += BLOCK)
    {
      int64_t count = n - i < BLOCK ? n - i : BLOCK;

      qm_cpu_load (&call->inputs[0], i, count, dy);
      qm_cpu_load (&call->inputs[1], i, count, x);
      for (int64_t j = 0; j < count; j++)
        dy[j] *= qm_cpu_function_slope (call->attributes.activation, x[j]);
      qm_cpu_store (&call->outputs[0], i, count, dy);
    }
  return true;
}

bool
qm_cpu_gate (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *gate = &call->inputs[0], *up = &call->inputs[1];
  int64_t n = gate->shape[1];
  float *g = qm_cpu_floats (2 * n), *u = g != NULL ? g + n : NULL;

  if (g == NULL)
    return false;
  for (int64_t row = 0; row < gate->shape[0]; row++)
    {
      qm_cpu_load (gate, row * gate->stride[0], n, g);
      qm_cpu_load (up, row * up->stride[0], n, u);
      for (int64_t j = 0; j < n; j++)
        u[j] *= qm_cpu_function (call->attributes.activation, g[j]);
      qm_cpu_store (&call->outputs[0], row * call->outputs[0].stride[0], n, u);
    }
  free (g);
  return true;
}

bool
qm_cpu_gate_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *gate = &call->inputs[1];
  const QmTensor *up = &call->inputs[2], *out = call->outputs;
  QmFunction function = call->attributes.activation;
  int64_t n = dy->shape[1];
  float *d = qm_cpu_floats (3 * n);
  float *g = d != NULL ? d + n : NULL, *u = d != NULL ? g + n : NULL;

  if (d == NULL)
    return false;
  for (int64_t row = 0; row < dy->shape[0]; row++)
    {
      qm_cpu_load (dy, row * dy->stride[0], n, d);
      qm_cpu_load (gate, row * gate->stride[0], n, g);
      qm_cpu_load (up, row * up->stride[0], n, u);
      for (int64_t j = 0; j < n; j++)
        {
          u[j] *= d[j] * qm_cpu_function_slope (function, g[j]);
          d[j] *= qm_cpu_function (function, g[j]);
        }
      qm_cpu_store (&out[0], row * out[0].stride[0], n, u);
      qm_cpu_store (&out[1], row * out[1].stride[0], n, d);
    }
  free (d);
  return true;
}

float
qm_cpu_dropout (const QmAttributes *attributes,
                uint32_t site,
                const int32_t *rng,
                int64_t index)
{
  QmRandomBits bits = qm_random_block (rng, site, (uint64_t) index / 8);

  return qm_random_half (bits, (int) (index % 8))
                 >= qm_dropout_threshold (attributes->dropout)
             ? qm_dropout_scale (attributes->dropout)
             : 0;
}

float
qm_cpu_dropout_tiled (const QmAttributes *attributes,
                      const int32_t *rng,
                      int64_t head,
                      int64_t rows,
                      int64_t row,
                      int64_t column)
{
  int half;
  uint32_t block = qm_tile_block (row, column, &half);
  QmRandomBits bits =
      qm_tile_bits (rng, attributes->site, head, rows, row, block);

  return qm_random_half (bits, half)
                 >= qm_dropout_threshold (attributes->dropout)
             ? qm_dropout_scale (attributes->dropout)
             : 0;
}

bool
qm_cpu_dropout_run (QmThreads *threads, const QmOpCall *call)
{
  const QmAttributes *attributes = &call->attributes;
  const QmTensor *x = &call->inputs[0];
  const int32_t *rng = call->inputs[1].data;
  int64_t n = qm_tensor_elements (x);
  int64_t size = attributes->tiled ? x->shape[3] : 1;

  for (int64_t i = 0; i < n; i++)
    {
      int64_t row = i / size;
      float value,
          factor = attributes->tiled
                       ? qm_cpu_dropout_tiled (attributes, rng, row / size,
                                               size, row % size, i % size)
                       : qm_cpu_dropout (attributes, attributes->site, rng, i);

      qm_cpu_load (x, i, 1, &value);
      value *= factor;
      qm_cpu_store (&call->outputs[0], i, 1, &value);
    }
  return true;
}

bool
qm_cpu_add (QmThreads *threads, const QmOpCall *call)
{
  int64_t n = qm_tensor_elements (&call->inputs[0]);
  float a[BLOCK], b[BLOCK];

  for (int64_t i = 0; i < n; i += BLOCK)
    {
      int64_t count = n - i < BLOCK ? n - i : BLOCK;

      qm_cpu_load (&call->inputs[0], i, count, a);
      qm_cpu_load (&call->inputs[1], i, count, b);
      for (int64_t j = 0; j < count; j++)
        a[j] += b[j];
      qm_cpu_store (&call->outputs[0], i, count, a);
      if (qm_tensor_present (&call->outputs[1]))
        qm_cpu_store (&call->outputs[1], i, count, a);
    }
  return true;
}

/* The offset of element `index`, counted by rows. */
static int64_t
offset_of (const QmTensor *tensor, int64_t index)
{
  int64_t offset = 0;

  for (int32_t i = tensor->rank - 1; i >= 0; i--)
    {
      offset += index % tensor->shape[i] * tensor->stride[i];
      index /= tensor->shape[i];
    }
  return offset;
}

bool
qm_cpu_copy (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t n = qm_tensor_elements (x);

  for (int64_t i = 0; i < n; i++)
    {
      int64_t from = offset_of (x, i), to = offset_of (y, i);
      float value;

      if (x->type == QM_TYPE_I32 && y->type == QM_TYPE_I32)
        {
          memcpy (qm_cpu_at (y, to), qm_cpu_at (x, from), sizeof (int32_t));
          continue;
        }
      if (x->type == QM_TYPE_I32)
        value = (float) *(const int32_t *) qm_cpu_at (x, from);
      else
        qm_cpu_load (x, from, 1, &value);
      if (y->type == QM_TYPE_I32)
        *(int32_t *) qm_cpu_at (y, to) = (int32_t) value;
      else
        qm_cpu_store (y, to, 1, &value);
    }
  return true;
}

bool
qm_cpu_fill (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *y = &call->outputs[0];
  float value = (float) call->attributes.value;
  int64_t n = qm_tensor_elements (y);

  for (int64_t i = 0; i < n; i++)
    if (y->type == QM_TYPE_I32)
      *(int32_t *) qm_cpu_at (y, offset_of (y, i)) = (int32_t) value;
    else
      qm_cpu_store (y, offset_of (y, i), 1, &value);
  return true;
}

static float
draw_number (const QmAttributes *attributes, QmRandomBits bits, int index)
{
  float unit = attributes->distribution == QM_DISTRIBUTION_NORMAL
                   ? qm_random_normal (bits, index)
                   : qm_random_uniform (bits.word[index]);

  return (float) attributes->value + (float) attributes->scale * unit;
}

bool
qm_cpu_random (QmThreads *threads, const QmOpCall *call)
{
  const QmAttributes *attributes = &call->attributes;
  const QmTensor *y = &call->outputs[0];
  int64_t n = qm_tensor_elements (y);

  for (int64_t i = 0; i < n; i++)
    {
      QmRandomBits bits = qm_random_block (call->inputs[0].data,
                                           attributes->site, (uint64_t) i / 4);
      int index = (int) (i % 4);
      float value;

      if (attributes->distribution == QM_DISTRIBUTION_INDEX)
        {
          uint64_t product =
              (uint64_t) bits.word[index] * (uint64_t) attributes->count;

          *(int32_t *) qm_cpu_at (y, i) = (int32_t) (product >> 32);
          continue;
        }
      value = draw_number (attributes, bits, index);
      qm_cpu_store (y, i, 1, &value);
    }
  return true;
}

bool
qm_cpu_advance (QmThreads *threads, const QmOpCall *call)
{
  int32_t *rng = call->outputs[0].data;

  rng[QM_RNG_PASS] = (int32_t) ((uint32_t) rng[QM_RNG_PASS]
                                + (uint32_t) call->attributes.count);
  return true;
}
