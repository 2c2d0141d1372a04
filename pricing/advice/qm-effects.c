/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-effects.h"

#include <string.h>

/* Sweeps end when no effect moves by more, or after so many. */
#define STILL       1e-9
#define MOST_SWEEPS 500

typedef enum
{
  OF_MODEL,
  OF_GPU,
  OF_COUNT,
  N_EFFECTS
} Which;

/* What one model, GPU type or count contributes. */
typedef struct
{
  gconstpointer what; /* the model or GPU; NULL for counts */
  int count;          /* GPUs, negative on a board; 0 for models and GPUs */
  gboolean ours;
  double value;
  double sum; /* while sweeping */
  guint n;
} Effect;

/* A share with the places of its effects. */
typedef struct
{
  const QmShare *share;
  guint at[N_EFFECTS];
} Row;

struct _QmEffects
{
  GArray *effects[N_EFFECTS]; /* Effect */
  GArray *rows;               /* Row */
};

/* One GPU is where counting begins: its effect stays 0. */
static Effect
key_of (Which which,
        const QmModel *model,
        const QmGpu *gpu,
        int gpus,
        gboolean ours)
{
  switch (which)
    {
    case OF_MODEL:
      return (Effect){ .what = model, .ours = ours };
    case OF_GPU:
      return (Effect){ .what = gpu, .ours = ours };
    case OF_COUNT:
    case N_EFFECTS:
    default:
      return (Effect){ .count = gpus > 1 && qm_gpu_is_mezzanine (gpu) ? -gpus
                                                                      : gpus };
    }
}

/* NULL where nothing is known of it. */
static Effect *
find (const GArray *effects, const Effect *key)
{
  for (guint i = 0; i < effects->len; i++)
    {
      Effect *effect = &g_array_index (effects, Effect, i);

      if (effect->what == key->what && effect->count == key->count
          && effect->ours == key->ours)
        return effect;
    }
  return NULL;
}

static guint
find_or_add (GArray *effects, const Effect *key)
{
  Effect *known = find (effects, key);

  if (known == NULL)
    {
      g_array_append_vals (effects, key, 1);
      return effects->len - 1;
    }
  return (guint) (known - (Effect *) (void *) effects->data);
}

static void
add_row (QmEffects *self, const QmShare *share)
{
  const QmMeasurement *time = share->time;
  Row row = { .share = share };

  for (int i = 0; i < N_EFFECTS; i++)
    {
      Effect key =
          key_of ((Which) i, time->model, time->gpu, time->gpus, share->ours);

      row.at[i] = find_or_add (self->effects[i], &key);
    }
  g_array_append_val (self->rows, row);
}

static Effect *
effect_of (const QmEffects *self, const Row *row, int which)
{
  return &g_array_index (self->effects[which], Effect, row->at[which]);
}

/* What all effects together leave over. */
static double
rest_of (const QmEffects *self, const Row *row)
{
  double rest = row->share->log;

  for (int i = 0; i < N_EFFECTS; i++)
    rest -= effect_of (self, row, i)->value;
  return rest;
}

/* Moves the effects of one sort to where they are best with the others as they
 * are.  Returns the largest move. */
static double
sweep (QmEffects *self, int which)
{
  double moved = 0;

  for (guint i = 0; i < self->effects[which]->len; i++)
    {
      Effect *effect = &g_array_index (self->effects[which], Effect, i);

      effect->sum = 0;
      effect->n = 0;
    }
  for (guint i = 0; i < self->rows->len; i++)
    {
      const Row *row = &g_array_index (self->rows, Row, i);
      Effect *effect = effect_of (self, row, which);

      effect->sum += rest_of (self, row);
      effect->n++;
    }
  for (guint i = 0; i < self->effects[which]->len; i++)
    {
      Effect *effect = &g_array_index (self->effects[which], Effect, i);

      if (effect->n == 0 || effect->count == 1)
        continue;
      effect->value += effect->sum / effect->n;
      moved = fmax (moved, fabs (effect->sum / effect->n));
    }
  return moved;
}

QmEffects *
qm_effects_fit (const GArray *shares, QmSharesHide hide, gpointer data)
{
  QmEffects *self = g_new0 (QmEffects, 1);
  double moved = 1;

  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  for (int i = 0; i < N_EFFECTS; i++)
    self->effects[i] = g_array_new (FALSE, FALSE, sizeof (Effect));
  for (guint i = 0; i < shares->len; i++)
    {
      const QmShare *share = &g_array_index (shares, QmShare, i);

      if (hide == NULL || !hide (share, data))
        add_row (self, share);
    }
  for (int n = 0; n < MOST_SWEEPS && moved > STILL; n++)
    {
      moved = 0;
      for (int i = 0; i < N_EFFECTS; i++)
        moved = fmax (moved, sweep (self, i));
    }
  return self;
}

void
qm_effects_free (QmEffects *effects)
{
  if (effects == NULL)
    return;
  for (int i = 0; i < N_EFFECTS; i++)
    g_array_unref (effects->effects[i]);
  g_array_unref (effects->rows);
  g_free (effects);
}

/* Whether a model stands for one that is not known: `like` NULL: any does. */
static gboolean
stands_for (const Effect *effect, const QmModel *like)
{
  const QmModel *model = effect->what;

  return like == NULL
         || (model->recipe.precision == QM_PRECISION_FP32)
                == (like->recipe.precision == QM_PRECISION_FP32);
}

static double
mean_of_models (const QmEffects *self, const QmModel *like, gboolean ours)
{
  double sum = 0;
  guint n = 0;

  for (guint i = 0; i < self->effects[OF_MODEL]->len; i++)
    {
      const Effect *effect =
          &g_array_index (self->effects[OF_MODEL], Effect, i);

      if (effect->ours != ours || !stands_for (effect, like))
        continue;
      sum += effect->value;
      n++;
    }
  return n > 0 ? sum / n : NAN;
}

/* Over the types, NaN where none is of the maker. */
static double
mean_of_gpus (const QmEffects *self, const QmGpu *like, gboolean ours)
{
  gboolean same_maker = FALSE;
  double sum = 0;
  guint n = 0;

  for (guint i = 0; i < self->effects[OF_GPU]->len; i++)
    {
      const Effect *effect = &g_array_index (self->effects[OF_GPU], Effect, i);
      const QmGpu *gpu = effect->what;

      if (effect->ours != ours)
        continue;
      same_maker |= strcmp (gpu->vendor, like->vendor) == 0;
      sum += effect->value;
      n++;
    }
  return same_maker ? sum / n : NAN;
}

/* The mean of what is left over of a model on a type. */
static double
mean_rest (const QmEffects *self, const Effect *model, const Effect *gpu)
{
  double sum = 0;
  guint n = 0;

  for (guint i = 0; i < self->rows->len; i++)
    {
      const Row *row = &g_array_index (self->rows, Row, i);

      if (effect_of (self, row, OF_MODEL) != model
          || effect_of (self, row, OF_GPU) != gpu)
        continue;
      sum += rest_of (self, row);
      n++;
    }
  return n > 0 ? sum / n : 0;
}

/* What so many GPUs contribute: between two numbers that are known, by the
 * logarithm of the number; NaN beyond the largest. */
static double
count_effect (const QmEffects *self, const QmGpu *gpu, int gpus)
{
  int sign = qm_gpu_is_mezzanine (gpu) ? -1 : 1;
  int below = 1, above = G_MAXINT;
  double at_below = 0, at_above = NAN;

  for (guint i = 0; i < self->effects[OF_COUNT]->len; i++)
    {
      const Effect *effect =
          &g_array_index (self->effects[OF_COUNT], Effect, i);
      int count = effect->count * sign;

      if (count > below && count <= gpus)
        {
          below = count;
          at_below = effect->value;
        }
      if (count >= gpus && count < above)
        {
          above = count;
          at_above = effect->value;
        }
    }
  if (below == gpus)
    return at_below;
  return at_below
         + (at_above - at_below) * log ((double) gpus / below)
               / log ((double) above / below);
}

double
qm_effects_sum (const QmEffects *self,
                const QmModel *model,
                const QmGpu *gpu,
                int gpus,
                gboolean ours)
{
  const Effect *found[N_EFFECTS];
  double of_model, of_gpu, of_count;

  for (int i = 0; i < N_EFFECTS; i++)
    {
      Effect key = key_of ((Which) i, model, gpu, gpus, ours);

      found[i] = find (self->effects[i], &key);
    }
  of_model = found[OF_MODEL] != NULL ? found[OF_MODEL]->value
                                     : mean_of_models (self, model, ours);
  if (!qm_known (of_model))
    of_model = mean_of_models (self, NULL, ours);
  of_gpu = found[OF_GPU] != NULL ? found[OF_GPU]->value
                                 : mean_of_gpus (self, gpu, ours);
  of_count = count_effect (self, gpu, gpus);
  if (found[OF_MODEL] != NULL && found[OF_GPU] != NULL)
    of_count += mean_rest (self, found[OF_MODEL], found[OF_GPU]);
  return of_model + of_gpu + of_count;
}
