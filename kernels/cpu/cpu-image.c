/* SPDX-License-Identifier: Apache-2.0 */

/* Patches, depth and means of images. */

#include "kernels/cpu/cpu.h"
#include "kernels/random.h"

#define PI 3.14159265358979323846

/* Calls `move` for every element of every patch: of row `t` the element `e`,
 * and of the image the pixel at `offset`. */
typedef void (*MovePixel) (const QmOpCall *call,
                           int64_t t,
                           int64_t e,
                           int64_t offset);

static void
for_each_pixel (const QmOpCall *call,
                const QmTensor *image,
                const QmTensor *kept, /* absent: all */
                MovePixel move)
{
  int64_t patch = call->attributes.patch, channels = image->shape[1];
  int64_t down = image->shape[2] / patch, across = image->shape[3] / patch;
  int64_t elements = channels * patch * patch;
  int64_t each = qm_tensor_present (kept) ? kept->shape[1] : down * across;

  for (int64_t t = 0; t < image->shape[0] * each; t++)
    for (int64_t e = 0; e < elements; e++)
      {
        int64_t b = t / each, c = e / (patch * patch);
        int64_t at = qm_tensor_present (kept)
                         ? ((const int32_t *) kept->data)[t]
                         : t % each;
        int64_t y = at / across * patch + e / patch % patch;
        int64_t x = at % across * patch + e % patch;

        move (call, t, e,
              b * image->stride[0] + c * image->stride[1] + y * image->stride[2]
                  + x * image->stride[3]);
      }
}

static void
pixel_to_patch (const QmOpCall *call, int64_t t, int64_t e, int64_t offset)
{
  float value;

  qm_cpu_load (&call->inputs[0], offset, 1, &value);
  qm_cpu_store (&call->outputs[0], t * call->outputs[0].stride[0] + e, 1,
                &value);
}

static void
patch_to_pixel (const QmOpCall *call, int64_t t, int64_t e, int64_t offset)
{
  float value;

  qm_cpu_load (&call->inputs[0], t * call->inputs[0].stride[0] + e, 1, &value);
  qm_cpu_store (&call->outputs[0], offset, 1, &value);
}

bool
qm_cpu_patchify (QmThreads *threads, const QmOpCall *call)
{
  for_each_pixel (call, &call->inputs[0], &call->inputs[1], pixel_to_patch);
  return true;
}

bool
qm_cpu_unpatchify (QmThreads *threads, const QmOpCall *call)
{
  QmOpCall clear = { .op = QM_OP_FILL };
  int64_t patch = call->attributes.patch;

  clear.outputs[0] = call->outputs[0];
  if (call->outputs[0].shape[2] % patch != 0
      || call->outputs[0].shape[3] % patch != 0)
    qm_cpu_fill (threads, &clear);
  for_each_pixel (call, &call->outputs[0], &call->inputs[1], patch_to_pixel);
  return true;
}

float
qm_cpu_depth (const QmAttributes *attributes, const int32_t *rng, int64_t row)
{
  if (!qm_dropout_is_on (attributes->dropout))
    return 1;
  return qm_cpu_dropout (attributes, attributes->site, rng,
                         row / (attributes->height * attributes->width));
}

/* gamma as floats; ones where there is none. */
static void
load_scale (const QmTensor *gamma, int64_t n, float *to)
{
  if (qm_tensor_present (gamma))
    qm_cpu_load (gamma, 0, n, to);
  else
    for (int64_t j = 0; j < n; j++)
      to[j] = 1;
}

/* What row `r` of `all` rows of samples is in the branch that chosen ones have,
 * or -1; and what row `r` of such a branch is of all rows. */
static int64_t
row_of_branch (const QmOpCall *call, int64_t all, int64_t r)
{
  const int32_t *places = call->inputs[4].data;
  int64_t each = all / call->inputs[4].shape[1], place = places[r / each];

  return place < 0 ? -1 : place * each + r % each;
}

static int64_t
row_of_all (const QmOpCall *call, int64_t all, int64_t r)
{
  const int32_t *kept = call->inputs[5].data;
  int64_t each = all / call->inputs[4].shape[1];

  return kept[r / each] * each + r % each;
}

/* What row r of x is multiplied by. */
static float
scale_factor (const QmOpCall *call, int64_t r)
{
  return qm_tensor_present (&call->inputs[4])
             ? (float) call->attributes.scale
             : qm_cpu_depth (&call->attributes, call->inputs[3].data, r);
}

bool
qm_cpu_layer_scale (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *residual = &call->inputs[2];
  const QmTensor *y = &call->outputs[0];
  int64_t n = x->shape[1];
  float *gamma = qm_cpu_floats (3 * n), *row = gamma + n, *sum = row + n;
  bool chosen = qm_tensor_present (&call->inputs[4]);
  /* What nothing is added to stays. */
  bool in_place =
      chosen && qm_tensor_present (residual) && residual->data == y->data;

  if (gamma == NULL)
    return false;
  load_scale (&call->inputs[1], n, gamma);
  for (int64_t r = 0; r < (in_place ? x : y)->shape[0]; r++)
    {
      int64_t to = in_place ? row_of_all (call, y->shape[0], r) : r;
      int64_t from =
          chosen && !in_place ? row_of_branch (call, y->shape[0], r) : r;
      float factor = scale_factor (call, r);

      for (int64_t j = 0; j < n; j++)
        row[j] = sum[j] = 0;
      if (from >= 0)
        qm_cpu_load (x, from * x->stride[0], n, row);
      if (qm_tensor_present (residual))
        qm_cpu_load (residual, to * residual->stride[0], n, sum);
      for (int64_t j = 0; j < n; j++)
        sum[j] += factor * gamma[j] * row[j];
      qm_cpu_store (y, to * y->stride[0], n, sum);
    }
  free (gamma);
  return true;
}

bool
qm_cpu_layer_scale_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *x = &call->inputs[1];
  const QmTensor *dx = &call->outputs[0];
  int64_t n = x->shape[1];
  float *gamma = qm_cpu_floats (3 * n), *row = gamma + n, *slope = row + n;
  double *sums = calloc ((size_t) n, sizeof *sums);
  bool ok = gamma != NULL && sums != NULL;

  if (ok)
    load_scale (&call->inputs[2], n, gamma);
  for (int64_t r = 0; ok && r < x->shape[0]; r++)
    {
      int64_t from = qm_tensor_present (&call->inputs[4])
                         ? row_of_all (call, dy->shape[0], r)
                         : r;
      float factor = scale_factor (call, r);

      qm_cpu_load (x, r * x->stride[0], n, row);
      qm_cpu_load (dy, from * dy->stride[0], n, slope);
      for (int64_t j = 0; j < n; j++)
        {
          sums[j] += factor * row[j] * slope[j];
          slope[j] *= factor * gamma[j];
        }
      qm_cpu_store (dx, r * dx->stride[0], n, slope);
    }
  if (ok && qm_tensor_present (&call->outputs[1]))
    for (int64_t j = 0; j < n; j++)
      ((float *) call->outputs[1].data)[j] += (float) sums[j];
  free (gamma);
  free (sums);
  return ok;
}

/* Rows of `columns` from column `first` on. */
static int64_t
at_column (const QmTensor *tensor, int64_t row, int64_t first)
{
  return row * tensor->stride[0] + first;
}

bool
qm_cpu_pool (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t first = call->attributes.first;
  int64_t n = x->shape[1], rows = x->shape[0] / y->shape[0];
  float *row = qm_cpu_floats (n);
  double *sums = calloc ((size_t) n, sizeof *sums);
  bool ok = row != NULL && sums != NULL;

  for (int64_t r = 0; ok && r < x->shape[0]; r++)
    {
      qm_cpu_load (x, r * x->stride[0], n, row);
      if (first > 0 && r % rows == 0)
        qm_cpu_store (y, at_column (y, r / rows, 0), n, row);
      for (int64_t j = 0; r % rows >= first && j < n; j++)
        sums[j] += row[j];
      if (r % rows != rows - 1)
        continue;
      for (int64_t j = 0; j < n; j++)
        {
          row[j] = (float) (sums[j] / (double) (rows - first));
          sums[j] = 0;
        }
      qm_cpu_store (y, at_column (y, r / rows, first > 0 ? n : 0), n, row);
    }
  free (row);
  free (sums);
  return ok;
}

bool
qm_cpu_pool_backward (QmThreads *threads, const QmOpCall *call)
{
  const QmTensor *dy = &call->inputs[0], *dx = &call->outputs[0];
  int64_t first = call->attributes.first;
  int64_t n = dx->shape[1], rows = dx->shape[0] / dy->shape[0];
  float *row = qm_cpu_floats (n);

  if (row == NULL)
    return false;
  for (int64_t r = 0; r < dx->shape[0]; r++)
    {
      bool pooled = r % rows >= first, alone = r % rows == 0 && !pooled;

      qm_cpu_load (dy, at_column (dy, r / rows, first > 0 && pooled ? n : 0), n,
                   row);
      for (int64_t j = 0; j < n; j++)
        row[j] = pooled ? row[j] / (float) (rows - first) : alone ? row[j] : 0;
      qm_cpu_store (dx, r * dx->stride[0], n, row);
    }
  free (row);
  return true;
}

/* Where patches are, and what is drawn of that. */
typedef struct Places
{
  float moved[2], factor[2]; /* of y and x */
} Places;

static Places
draw_places (const QmOpCall *call)
{
  const QmAttributes *attributes = &call->attributes;
  Places places = { .factor = { 1, 1 } };
  QmRandomBits bits[2];

  if (!qm_tensor_present (&call->inputs[0]))
    return places;
  for (int i = 0; i < 2; i++)
    bits[i] =
        qm_random_block (call->inputs[0].data, attributes->site, (uint64_t) i);
  for (int i = 0; i < 2; i++)
    {
      places.moved[i] = qm_patch_move (bits[0].word[i], attributes->move);
      places.factor[i] =
          qm_patch_factor (bits[0].word[2 + i], attributes->jitter)
          * qm_patch_factor (bits[1].word[0], attributes->rescale);
    }
  return places;
}

bool
qm_cpu_patch_angles (QmThreads *threads, const QmOpCall *call)
{
  const QmAttributes *attributes = &call->attributes;
  const QmTensor *table = &call->outputs[0];
  int64_t sides[2] = { attributes->height, attributes->width };
  int64_t half = table->shape[1] / 2, quarter = half / 2;
  Places places = draw_places (call);
  float *row = qm_cpu_floats (2 * half);

  if (row == NULL)
    return false;
  for (int64_t s = 0; s < table->shape[0]; s++)
    {
      int64_t patch = s - attributes->count;
      int64_t at[2] = { patch / sides[1], patch % sides[1] };

      for (int64_t j = 0; j < half; j++)
        {
          int side = j >= quarter;
          double middle =
              2 * ((double) at[side] + 0.5) / (double) sides[side] - 1;
          double place =
              patch < 0 ? 0
                        : (middle + places.moved[side]) * places.factor[side];
          double angle = 2 * PI * place
                         * pow (attributes->value,
                                -(double) (j % quarter) / (double) quarter);

          row[j] = (float) cos (angle);
          row[half + j] = (float) sin (angle);
        }
      qm_cpu_store (table, s * table->stride[0], 2 * half, row);
    }
  free (row);
  return true;
}
