/* SPDX-License-Identifier: Apache-2.0 */

/* A model and a recipe as Transformers would be told them. */

#include "app/qm-bench.h"

static void
add_whole (json_t *object, const char *name, int64_t value)
{
  json_object_set_new (object, name, json_integer ((json_int_t) value));
}

static void
add_number (json_t *object, const char *name, double value)
{
  json_object_set_new (object, name, json_real (value));
}

static void
add_switch (json_t *object, const char *name, bool value)
{
  json_object_set_new (object, name, json_boolean (value));
}

static void
add_activation (json_t *object, QmActivation activation)
{
  static const char *const names[] = { "gelu", "gelu_new", "relu", "silu" };

  json_object_set_new (object, "hidden_act", json_string (names[activation]));
}

static void
add_gpt_neox (json_t *object, const QmGptNeoxConfig *c)
{
  add_whole (object, "vocab_size", c->vocab_size);
  add_whole (object, "hidden_size", c->hidden_size);
  add_whole (object, "num_hidden_layers", c->layers);
  add_whole (object, "num_attention_heads", c->heads);
  add_whole (object, "intermediate_size", c->intermediate_size);
  add_whole (object, "max_position_embeddings", c->max_positions);
  add_number (object, "rotary_pct", c->rotary_pct);
  add_number (object, "rotary_emb_base", c->rotary_base);
  add_number (object, "layer_norm_eps", c->layer_norm_eps);
  add_number (object, "hidden_dropout", c->hidden_dropout);
  add_number (object, "attention_dropout", c->attention_dropout);
  add_number (object, "initializer_range", c->initializer_range);
  add_activation (object, c->activation);
  add_switch (object, "use_parallel_residual", c->parallel_residual);
  add_switch (object, "attention_bias", c->attention_bias);
  add_switch (object, "tie_word_embeddings", c->tie_word_embeddings);
}

static void
add_bert (json_t *object, const QmBertConfig *c)
{
  add_whole (object, "vocab_size", c->vocab_size);
  add_whole (object, "hidden_size", c->hidden_size);
  add_whole (object, "num_hidden_layers", c->layers);
  add_whole (object, "num_attention_heads", c->heads);
  add_whole (object, "intermediate_size", c->intermediate_size);
  add_whole (object, "max_position_embeddings", c->max_positions);
  add_whole (object, "type_vocab_size", c->type_vocab_size);
  json_object_set_new (object, "pad_token_id",
                       c->pad_token_id >= 0
                           ? json_integer ((json_int_t) c->pad_token_id)
                           : json_null ());
  add_number (object, "layer_norm_eps", c->layer_norm_eps);
  add_number (object, "hidden_dropout_prob", c->hidden_dropout);
  add_number (object, "attention_probs_dropout_prob", c->attention_dropout);
  add_number (object, "initializer_range", c->initializer_range);
  add_activation (object, c->activation);
  add_switch (object, "tie_word_embeddings", c->tie_word_embeddings);
}

static void
add_vit (json_t *object, const QmVitConfig *c)
{
  add_whole (object, "hidden_size", c->hidden_size);
  add_whole (object, "num_hidden_layers", c->layers);
  add_whole (object, "num_attention_heads", c->heads);
  add_whole (object, "intermediate_size", c->intermediate_size);
  add_whole (object, "image_size", c->image_size);
  add_whole (object, "patch_size", c->patch_size);
  add_whole (object, "num_channels", c->channels);
  add_whole (object, "num_labels", c->classes);
  add_number (object, "layer_norm_eps", c->layer_norm_eps);
  add_number (object, "hidden_dropout_prob", c->hidden_dropout);
  add_number (object, "attention_probs_dropout_prob", c->attention_dropout);
  add_number (object, "initializer_range", c->initializer_range);
  add_activation (object, c->activation);
  add_switch (object, "qkv_bias", c->qkv_bias);
}

static json_t *
json_stages (const int64_t *values, int64_t n)
{
  json_t *array = json_array ();

  for (int64_t i = 0; i < n; i++)
    json_array_append_new (array, json_integer ((json_int_t) values[i]));
  return array;
}

static void
add_convnext (json_t *object, const QmConvnextConfig *c)
{
  add_whole (object, "num_stages", c->stages);
  json_object_set_new (object, "depths", json_stages (c->depths, c->stages));
  json_object_set_new (object, "hidden_sizes",
                       json_stages (c->hidden_sizes, c->stages));
  add_whole (object, "patch_size", c->patch_size);
  add_whole (object, "num_channels", c->channels);
  add_whole (object, "image_size", c->image_size);
  add_whole (object, "num_labels", c->classes);
  add_number (object, "layer_norm_eps", c->layer_norm_eps);
  add_number (object, "layer_scale_init_value", c->layer_scale_init);
  add_number (object, "drop_path_rate", c->drop_path_rate);
  add_number (object, "initializer_range", c->initializer_range);
  add_activation (object, c->activation);
}

static void
add_mamba (json_t *object, const QmMambaConfig *c)
{
  add_whole (object, "vocab_size", c->vocab_size);
  add_whole (object, "hidden_size", c->hidden_size);
  add_whole (object, "num_hidden_layers", c->layers);
  add_whole (object, "state_size", c->state_size);
  add_whole (object, "expand", c->inner_size / c->hidden_size);
  add_whole (object, "conv_kernel", c->conv_kernel);
  add_whole (object, "time_step_rank", c->time_step_rank);
  add_number (object, "layer_norm_epsilon", c->norm_eps);
  add_number (object, "initializer_range", c->initializer_range);
  add_number (object, "time_step_min", c->time_step_min);
  add_number (object, "time_step_max", c->time_step_max);
  add_number (object, "time_step_floor", c->time_step_floor);
  add_number (object, "time_step_scale", c->time_step_scale);
  json_object_set_new (object, "time_step_init_scheme",
                       json_string (c->time_step_random ? "random"
                                                        : "constant"));
  add_switch (object, "rescale_prenorm_residual", c->rescale_prenorm_residual);
  add_switch (object, "use_bias", c->use_bias);
  add_switch (object, "use_conv_bias", c->use_conv_bias);
  add_switch (object, "residual_in_fp32", c->residual_in_fp32);
  add_switch (object, "tie_word_embeddings", c->tie_word_embeddings);
}

json_t *
qm_bench_json_config (const QmModelConfig *config)
{
  json_t *object = json_object ();

  json_object_set_new (object, "model_type",
                       json_string (qm_family_name (config->family)));
  switch (config->family)
    {
    case QM_FAMILY_GPT_NEOX:
      add_gpt_neox (object, &config->gpt_neox);
      break;
    case QM_FAMILY_BERT:
    case QM_FAMILY_ROBERTA:
      add_bert (object, &config->bert);
      break;
    case QM_FAMILY_VIT:
      add_vit (object, &config->vit);
      break;
    case QM_FAMILY_CONVNEXT:
      add_convnext (object, &config->convnext);
      break;
    case QM_FAMILY_MAMBA:
      add_mamba (object, &config->mamba);
      break;
    }
  return object;
}

json_t *
qm_bench_json_recipe (const QmRecipe *recipe)
{
  json_t *object = json_object ();

  add_whole (object, "batch_size", recipe->batch_size);
  add_whole (object, "steps", recipe->steps);
  add_whole (object, "sequence_length", recipe->sequence_length);
  add_whole (object, "image_size", recipe->image_size);
  json_object_set_new (object, "precision",
                       json_string (qm_precision_name (recipe->precision)));
  json_object_set_new (object, "optimizer",
                       json_string (qm_optimizer_name (recipe->optimizer)));
  add_number (object, "learning_rate", recipe->learning_rate);
  add_number (object, "beta1", recipe->beta1);
  add_number (object, "beta2", recipe->beta2);
  add_number (object, "epsilon", recipe->epsilon);
  add_number (object, "weight_decay", recipe->weight_decay);
  add_number (object, "max_grad_norm", recipe->max_grad_norm);
  if (recipe->z_loss > 0)
    add_number (object, "z_loss", recipe->z_loss);
  return object;
}
