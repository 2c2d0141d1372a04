/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a of 64 bits (Fowler, Noll, Vo). */
#define FNV_OFFSET UINT64_C (0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C (0x100000001b3)

static void
add_byte (uint64_t *hash, unsigned char byte)
{
  *hash = (*hash ^ byte) * FNV_PRIME;
}

static void
add_whole (uint64_t *hash, int64_t value)
{
  for (int i = 0; i < 8; i++)
    add_byte (hash, (unsigned char) ((uint64_t) value >> (8 * i)));
}

/* All that are not a number are one, and so are both zeros. */
static void
hash_number (uint64_t *hash, double value)
{
  uint64_t bits = 0;

  if (isnan (value))
    bits = UINT64_MAX;
  else if (value < 0 || value > 0)
    memcpy (&bits, &value, sizeof bits);
  add_whole (hash, (int64_t) bits);
}

/* Of one function, whatever it is made of. */
static QmActivation
function_of (QmActivation activation)
{
  return activation == QM_ACTIVATION_GELU_NEW ? QM_ACTIVATION_GELU_TANH
                                              : activation;
}

static void
add_field (uint64_t *hash, const QmModelConfig *config, const QmField *field)
{
  const void *value = qm_field_at (config, field);

  switch (field->kind)
    {
    case QM_FIELD_WHOLE:
      add_whole (hash, *(const int64_t *) value);
      break;
    case QM_FIELD_SWITCH:
      add_whole (hash, *(const bool *) value);
      break;
    case QM_FIELD_ACTIVATION:
      add_whole (hash, (int64_t) function_of (*(const QmActivation *) value));
      break;
    case QM_FIELD_WORD:
      add_whole (hash, *(const int *) value);
      break;
    case QM_FIELD_LAYERS:
      for (int64_t i = 0; i < qm_field_count (config, field); i += 64)
        add_whole (hash, (int64_t) ((const uint64_t *) value)[i / 64]);
      break;
    case QM_FIELD_NUMBER:
    case QM_FIELD_PROBABILITY:
    case QM_FIELD_STAGES:
      break; /* after these */
    }
}

/* Fields of all stages, stage by stage. */
static void
add_stages (uint64_t *hash,
            const QmModelConfig *config,
            const QmFamilyInfo *info)
{
  bool more = true;

  for (int64_t i = 0; more; i++)
    {
      more = false;
      for (size_t j = 0; j < info->n_fields; j++)
        if (info->fields[j].kind == QM_FIELD_STAGES
            && i < qm_field_count (config, &info->fields[j]))
          {
            const int64_t *values = qm_field_at (config, &info->fields[j]);

            more = true;
            add_whole (hash, values[i]);
          }
    }
}

/* Under their names, of those that are there: keys of models without them are
 * older. */
static void
add_optional (uint64_t *hash,
              const QmModelConfig *config,
              const QmFamilyInfo *info)
{
  for (size_t i = 0; i < info->n_fields; i++)
    {
      const QmField *field = &info->fields[i];

      if ((field->apart & QM_FIELD_OPTIONAL) == 0
          || !qm_field_is_there (config, field))
        continue;
      for (const char *name = field->key; *name != '\0'; name++)
        add_byte (hash, (unsigned char) *name);
      if (field->kind == QM_FIELD_WHOLE)
        add_field (hash, config, field);
      else
        hash_number (hash, *(const double *) qm_field_at (config, field));
    }
}

static void
add_config (uint64_t *hash, const QmModelConfig *config)
{
  const QmFamilyInfo *info = qm_family_info (config->family);

  for (const char *name = info->name; *name != '\0'; name++)
    add_byte (hash, (unsigned char) *name);
  for (size_t i = 0; i < info->n_fields; i++)
    if ((info->fields[i].apart & QM_FIELD_OPTIONAL) == 0)
      add_field (hash, config, &info->fields[i]);
  add_stages (hash, config, info);
  for (size_t i = 0; i < info->n_fields; i++)
    if ((info->fields[i].apart & QM_FIELD_OPTIONAL) == 0
        && (info->fields[i].kind == QM_FIELD_NUMBER
            || info->fields[i].kind == QM_FIELD_PROBABILITY))
      hash_number (hash,
                   *(const double *) qm_field_at (config, &info->fields[i]));
  add_optional (hash, config, info);
}

static void
add_recipe (uint64_t *hash, const QmRecipe *recipe)
{
  const int64_t whole[] = {
    recipe->batch_size,          recipe->steps,
    recipe->sequence_length,     recipe->image_size,
    (int64_t) recipe->precision, (int64_t) recipe->optimizer
  };
  const double numbers[] = { recipe->learning_rate, recipe->beta1,
                             recipe->beta2,         recipe->epsilon,
                             recipe->weight_decay,  recipe->max_grad_norm,
                             recipe->dropout };

  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    add_whole (hash, whole[i]);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    hash_number (hash, numbers[i]);
  /* Keys of recipes without it are older. */
  if (recipe->z_loss > 0)
    hash_number (hash, recipe->z_loss);
  if (recipe->ema_decay > 0)
    {
      add_byte (hash, 'a');
      hash_number (hash, recipe->ema_decay);
    }
  if (recipe->precision == QM_PRECISION_FP8)
    {
      add_byte (hash, '8');
      add_whole (hash, (int64_t) recipe->fp8.scales);
      add_whole (hash, (int64_t) recipe->fp8.amax);
      add_whole (hash, (int64_t) recipe->fp8.gradients);
    }
  if (recipe->optimizer != QM_OPTIMIZER_MUON)
    return;
  hash_number (hash, recipe->muon_learning_rate);
  hash_number (hash, recipe->muon_momentum);
  hash_number (hash, recipe->muon_weight_decay);
  add_whole (hash, (int64_t) recipe->muon_scale);
}

static bool
drops_samples (const QmModelConfig *config)
{
  const QmField *field = qm_family_field (config->family, "drop_path_rate");

  return field != NULL && *(const double *) qm_field_at (config, field) > 0;
}

void
qm_model_key (const QmModelConfig *config,
              const QmRecipe *recipe,
              char key[QM_MODEL_KEY_BYTES])
{
  uint64_t hash = FNV_OFFSET;

  add_config (&hash, config);
  add_recipe (&hash, recipe);
  /* In results with older keys students computed the branches of all samples.
   */
  if (qm_model_has_teacher (config) && drops_samples (config))
    add_byte (&hash, 's');
  snprintf (key, QM_MODEL_KEY_BYTES, "%016llx", (unsigned long long) hash);
}
