/* SPDX-License-Identifier: Apache-2.0 */

#include "data/flops.h"

/* A product of (m x k) and (k x n): a multiply and an add for every element of
 * the three ranges. */
static double
product (double m, double k, double n)
{
  return 2 * m * k * n;
}

/* One layer of a transformer without its attention proper: query, key, value
 * and output, and the two of the MLP. */
static double
transformer_products (double tokens, double hidden, double intermediate)
{
  return product (tokens, hidden, 3 * hidden) + product (tokens, hidden, hidden)
         + 2 * product (tokens, hidden, intermediate);
}

/* Scores and their product with the values, over all heads together. */
static double
attention (double tokens, double hidden)
{
  return product (tokens, hidden, tokens) + product (tokens, tokens, hidden);
}

static double
gpt_neox_forward (const QmGptNeoxConfig *config, double tokens)
{
  double hidden = (double) config->hidden_size;
  double layer =
      transformer_products (tokens, hidden, (double) config->intermediate_size)
      + attention (tokens, hidden) / 2;

  return (double) config->layers * layer
         + product (tokens, hidden, (double) config->vocab_size);
}

static double
bert_forward (const QmBertConfig *config, double tokens)
{
  double hidden = (double) config->hidden_size;
  double layer =
      transformer_products (tokens, hidden, (double) config->intermediate_size)
      + attention (tokens, hidden);

  return (double) config->layers * layer + product (tokens, hidden, hidden)
         + product (tokens, hidden, (double) config->vocab_size);
}

static int64_t
vit_patches (const QmVitConfig *config)
{
  int64_t side = config->image_size / config->patch_size;

  return side * side;
}

static double
vit_forward (const QmVitConfig *config)
{
  double hidden = (double) config->hidden_size;
  double patches = (double) vit_patches (config);
  double tokens = patches + 1;
  double patch_elements =
      (double) (config->channels * config->patch_size * config->patch_size);
  double layer =
      transformer_products (tokens, hidden, (double) config->intermediate_size)
      + attention (tokens, hidden);

  return product (patches, patch_elements, hidden)
         + (double) config->layers * layer
         + product (1, hidden, (double) config->classes);
}

#define CONVNEXT_KERNEL    7
#define CONVNEXT_EXPANSION 4

static double
convnext_forward (const QmConvnextConfig *config, int64_t image_size)
{
  const double kernel = CONVNEXT_KERNEL * CONVNEXT_KERNEL;
  int64_t side = image_size / config->patch_size;
  double flops = 0;
  double in =
      (double) (config->channels * config->patch_size * config->patch_size);
  double width = 0;

  for (int64_t i = 0; i < config->stages; i++)
    {
      double pixels, block;

      if (i > 0)
        {
          side /= 2;
          in = 4 * width;
        }
      width = (double) config->hidden_sizes[i];
      pixels = (double) (side * side);
      block = product (pixels, kernel, width)
              + 2 * product (pixels, width, CONVNEXT_EXPANSION * width);
      flops += product (pixels, in, width) + (double) config->depths[i] * block;
    }
  return flops + product (1, width, (double) config->classes);
}

static double
mamba_forward (const QmMambaConfig *config, double tokens)
{
  double hidden = (double) config->hidden_size;
  double inner = (double) config->inner_size;
  double state = (double) config->state_size;
  double rank = (double) config->time_step_rank;
  double layer = product (tokens, hidden, 2 * inner)
                 + product (tokens, (double) config->conv_kernel, inner)
                 + product (tokens, inner, rank + 2 * state)
                 + product (tokens, rank, inner)
                 + QM_MAMBA_SCAN_FLOPS * tokens * inner * state
                 + product (tokens, inner, hidden);

  return (double) config->layers * layer
         + product (tokens, hidden, (double) config->vocab_size);
}

double
qm_flops_forward_sample (const QmModelConfig *config, const QmRecipe *recipe)
{
  switch (config->family)
    {
    case QM_FAMILY_GPT_NEOX:
      return gpt_neox_forward (&config->gpt_neox,
                               (double) recipe->sequence_length);
    case QM_FAMILY_BERT:
    case QM_FAMILY_ROBERTA:
      return bert_forward (&config->bert, (double) recipe->sequence_length);
    case QM_FAMILY_VIT:
      return vit_forward (&config->vit);
    case QM_FAMILY_CONVNEXT:
      return convnext_forward (&config->convnext, recipe->image_size);
    case QM_FAMILY_MAMBA:
      return mamba_forward (&config->mamba, (double) recipe->sequence_length);
    }
  return 0;
}

double
qm_flops_train_sample (const QmModelConfig *config, const QmRecipe *recipe)
{
  return 3 * qm_flops_forward_sample (config, recipe);
}

double
qm_flops_train (const QmModelConfig *config, const QmRecipe *recipe)
{
  return qm_flops_train_sample (config, recipe) * (double) recipe->batch_size
         * (double) recipe->steps;
}

/* Weights and, where there are, biases of a linear layer. */
static int64_t
linear (int64_t in, int64_t out, bool bias)
{
  return in * out + (bias ? out : 0);
}

static int64_t
layer_norm (int64_t size)
{
  return 2 * size;
}

/* One layer of a transformer with two norms. */
static int64_t
transformer_layer (int64_t hidden,
                   int64_t intermediate,
                   bool qkv_bias,
                   bool output_bias)
{
  return linear (hidden, 3 * hidden, qkv_bias)
         + linear (hidden, hidden, output_bias)
         + linear (hidden, intermediate, true)
         + linear (intermediate, hidden, true) + 2 * layer_norm (hidden);
}

static int64_t
gpt_neox_parameters (const QmGptNeoxConfig *config)
{
  int64_t embeddings = config->vocab_size * config->hidden_size;

  return embeddings * (config->tie_word_embeddings ? 1 : 2)
         + config->layers
               * transformer_layer (config->hidden_size,
                                    config->intermediate_size,
                                    config->attention_bias,
                                    config->attention_bias)
         + layer_norm (config->hidden_size);
}

static int64_t
bert_parameters (const QmBertConfig *config)
{
  int64_t hidden = config->hidden_size;
  int64_t embeddings = config->vocab_size * hidden;

  return embeddings * (config->tie_word_embeddings ? 1 : 2)
         + (config->max_positions + config->type_vocab_size) * hidden
         + layer_norm (hidden)
         + config->layers
               * transformer_layer (hidden, config->intermediate_size, true,
                                    true)
         + linear (hidden, hidden, true) + layer_norm (hidden)
         + config->vocab_size;
}

static int64_t
vit_parameters (const QmVitConfig *config)
{
  int64_t hidden = config->hidden_size;
  int64_t patch_elements =
      config->channels * config->patch_size * config->patch_size;

  return hidden + (vit_patches (config) + 1) * hidden
         + linear (patch_elements, hidden, true)
         + config->layers
               * transformer_layer (hidden, config->intermediate_size,
                                    config->qkv_bias, true)
         + layer_norm (hidden) + linear (hidden, config->classes, true);
}

static int64_t
convnext_parameters (const QmConvnextConfig *config)
{
  int64_t width = config->hidden_sizes[0];
  int64_t count =
      linear (config->channels * config->patch_size * config->patch_size, width,
              true)
      + layer_norm (width);

  for (int64_t i = 0; i < config->stages; i++)
    {
      int64_t block;

      if (i > 0)
        count += layer_norm (width)
                 + linear (4 * width, config->hidden_sizes[i], true);
      width = config->hidden_sizes[i];
      block = linear (CONVNEXT_KERNEL * CONVNEXT_KERNEL, width, true)
              + layer_norm (width)
              + linear (width, CONVNEXT_EXPANSION * width, true)
              + linear (CONVNEXT_EXPANSION * width, width, true)
              + (config->layer_scale_init > 0 ? width : 0);
      count += config->depths[i] * block;
    }
  return count + layer_norm (width) + linear (width, config->classes, true);
}

static int64_t
mamba_parameters (const QmMambaConfig *config)
{
  int64_t hidden = config->hidden_size;
  int64_t inner = config->inner_size;
  int64_t state = config->state_size;
  int64_t rank = config->time_step_rank;
  int64_t layer = hidden + linear (hidden, 2 * inner, config->use_bias)
                  + linear (config->conv_kernel, inner, config->use_conv_bias)
                  + linear (inner, rank + 2 * state, false)
                  + linear (rank, inner, true) + inner * state + inner
                  + linear (inner, hidden, config->use_bias);

  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->layers * layer + hidden;
}

int64_t
qm_parameter_count (const QmModelConfig *config)
{
  switch (config->family)
    {
    case QM_FAMILY_GPT_NEOX:
      return gpt_neox_parameters (&config->gpt_neox);
    case QM_FAMILY_BERT:
    case QM_FAMILY_ROBERTA:
      return bert_parameters (&config->bert);
    case QM_FAMILY_VIT:
      return vit_parameters (&config->vit);
    case QM_FAMILY_CONVNEXT:
      return convnext_parameters (&config->convnext);
    case QM_FAMILY_MAMBA:
      return mamba_parameters (&config->mamba);
    }
  return 0;
}
