/* SPDX-License-Identifier: Apache-2.0 */

#include "data/model.h"

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
add_number (uint64_t *hash, double value)
{
  uint64_t bits = 0;

  if (isnan (value))
    bits = UINT64_MAX;
  else if (value < 0 || value > 0)
    memcpy (&bits, &value, sizeof bits);
  add_whole (hash, (int64_t) bits);
}

static void
add_gpt_neox (uint64_t *hash, const QmGptNeoxConfig *c)
{
  const int64_t whole[] = { c->vocab_size,
                            c->hidden_size,
                            c->layers,
                            c->heads,
                            c->intermediate_size,
                            c->max_positions,
                            (int64_t) c->activation,
                            c->parallel_residual,
                            c->attention_bias,
                            c->tie_word_embeddings };
  const double numbers[] = { c->rotary_pct,        c->rotary_base,
                             c->layer_norm_eps,    c->hidden_dropout,
                             c->attention_dropout, c->initializer_range };

  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    add_whole (hash, whole[i]);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    add_number (hash, numbers[i]);
}

static void
add_bert (uint64_t *hash, const QmBertConfig *c)
{
  const int64_t whole[] = { c->vocab_size,
                            c->hidden_size,
                            c->layers,
                            c->heads,
                            c->intermediate_size,
                            c->max_positions,
                            c->type_vocab_size,
                            c->pad_token_id,
                            (int64_t) c->activation,
                            c->tie_word_embeddings };
  const double numbers[] = { c->layer_norm_eps, c->hidden_dropout,
                             c->attention_dropout, c->initializer_range };

  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    add_whole (hash, whole[i]);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    add_number (hash, numbers[i]);
}

static void
add_vit (uint64_t *hash, const QmVitConfig *c)
{
  const int64_t whole[] = {
    c->hidden_size,          c->layers,     c->heads,    c->intermediate_size,
    c->image_size,           c->patch_size, c->channels, c->classes,
    (int64_t) c->activation, c->qkv_bias
  };
  const double numbers[] = { c->layer_norm_eps, c->hidden_dropout,
                             c->attention_dropout, c->initializer_range };

  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    add_whole (hash, whole[i]);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    add_number (hash, numbers[i]);
}

static void
add_convnext (uint64_t *hash, const QmConvnextConfig *c)
{
  const int64_t whole[] = { c->stages,   c->patch_size,
                            c->channels, c->image_size,
                            c->classes,  (int64_t) c->activation };
  const double numbers[] = { c->layer_norm_eps, c->layer_scale_init,
                             c->drop_path_rate, c->initializer_range };

  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    add_whole (hash, whole[i]);
  for (int64_t i = 0; i < c->stages && i < QM_CONVNEXT_MAX_STAGES; i++)
    {
      add_whole (hash, c->depths[i]);
      add_whole (hash, c->hidden_sizes[i]);
    }
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    add_number (hash, numbers[i]);
}

static void
add_mamba (uint64_t *hash, const QmMambaConfig *c)
{
  const int64_t whole[] = {
    c->vocab_size,         c->hidden_size,      c->layers,
    c->state_size,         c->inner_size,       c->conv_kernel,
    c->time_step_rank,     c->time_step_random, c->rescale_prenorm_residual,
    c->use_bias,           c->use_conv_bias,    c->residual_in_fp32,
    c->tie_word_embeddings
  };
  const double numbers[] = { c->norm_eps,        c->initializer_range,
                             c->time_step_min,   c->time_step_max,
                             c->time_step_floor, c->time_step_scale };

  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    add_whole (hash, whole[i]);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    add_number (hash, numbers[i]);
}

static void
add_config (uint64_t *hash, const QmModelConfig *config)
{
  for (const char *name = qm_family_name (config->family); *name != '\0';
       name++)
    add_byte (hash, (unsigned char) *name);
  switch (config->family)
    {
    case QM_FAMILY_GPT_NEOX:
      add_gpt_neox (hash, &config->gpt_neox);
      break;
    case QM_FAMILY_BERT:
    case QM_FAMILY_ROBERTA:
      add_bert (hash, &config->bert);
      break;
    case QM_FAMILY_VIT:
      add_vit (hash, &config->vit);
      break;
    case QM_FAMILY_CONVNEXT:
      add_convnext (hash, &config->convnext);
      break;
    case QM_FAMILY_MAMBA:
      add_mamba (hash, &config->mamba);
      break;
    }
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
    add_number (hash, numbers[i]);
  /* Keys of recipes without it are older. */
  if (recipe->z_loss > 0)
    add_number (hash, recipe->z_loss);
}

void
qm_model_key (const QmModelConfig *config,
              const QmRecipe *recipe,
              char key[QM_MODEL_KEY_BYTES])
{
  uint64_t hash = FNV_OFFSET;

  add_config (&hash, config);
  add_recipe (&hash, recipe);
  snprintf (key, QM_MODEL_KEY_BYTES, "%016llx", (unsigned long long) hash);
}
