/* SPDX-License-Identifier: Apache-2.0 */

/* StarCoder2, as Transformers 4.39 to 5 have it.
 *
 * Read, and ignored, since the class does not read them and computes so:
 *   attention_softmax_in_fp32, scale_attention_softmax_in_fp32,
 *   scale_attn_weights   of the model that it is made from
 *   layer_norm_epsilon   norms have norm_epsilon
 *
 * Nor does it read mlp_type and norm_type; those of the models of the hub say
 * what it computes, and others are refused.
 */

#include "data/family-counts.h"
#include "data/family-read.h"
#include "data/rope.h"

#define QM_MEMBER starcoder2

#define THETA 10000

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, 49152),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED),
  QM_COUNT (key_heads, "num_key_value_heads", QM_MAX_HEADS, 2),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (max_positions, "max_position_embeddings", QM_MAX_POSITIONS, 4096),
  QM_WHOLE (pad_token_id, "pad_token_id", 0, QM_MAX_VOCAB, -1, QM_READ_APART),
  QM_COUNT (window, "sliding_window", QM_MAX_POSITIONS, -1),
  QM_NUMBER (norm_eps, "norm_epsilon", 0, 1, 1e-5),
  QM_SHARE (embedding_dropout, "embedding_dropout", 0),
  QM_SHARE (hidden_dropout, "residual_dropout", 0),
  QM_SHARE (attention_dropout, "attention_dropout", 0),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.018042),
  QM_ROPE_ROWS ("rope_", starcoder2.rope),
  QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_GELU_TANH),
  QM_SWITCH (use_bias, "use_bias", true),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", true),
};

static const char *const nullable[] = { "pad_token_id", "sliding_window",
                                        NULL };

static void
read_starcoder2 (QmJsonObject *object, QmModelConfig *model)
{
  QmStarcoder2Config *config = &model->starcoder2;

  if (object->status != QM_OK)
    return;
  config->pad_token_id = qm_json_integer_or (object, "pad_token_id", 0,
                                             config->vocab_size - 1, -1);
  qm_config_check_turned_heads (object, config->hidden_size, config->heads);
  qm_config_check_key_heads (object, config->heads, config->key_heads);
  qm_rope_begin (object, THETA, &config->rope);
  qm_rope_read_whole (object, config->max_positions, &config->rope);
  qm_config_require_word (object, "mlp_type", "default");
  qm_config_require_word (object, "norm_type", "layer_norm");
  qm_json_take (object, "attention_softmax_in_fp32");
  qm_json_take (object, "layer_norm_epsilon");
  qm_json_take (object, "scale_attention_softmax_in_fp32");
  qm_json_take (object, "scale_attn_weights");
}

/* In the words of Transformers 4, which 5 understands. */
static void
write_starcoder2 (json_t *object, const QmModelConfig *model)
{
  const QmRope *rope = &model->starcoder2.rope;

  json_object_set_new (object, "rope_theta", json_real (rope->theta));
  json_object_set_new (object, "rope_scaling", qm_rope_json (rope, false));
}

/* The width of the heads of keys, which is that of values. */
static int64_t
key_width (const QmStarcoder2Config *config)
{
  return config->hidden_size / config->heads * config->key_heads;
}

static double
starcoder2_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmStarcoder2Config *config = &model->starcoder2;
  double tokens = (double) recipe->sequence_length;
  double hidden = (double) config->hidden_size;
  double layer = qm_count_product (tokens, hidden,
                                   hidden + 2 * (double) key_width (config))
                 + qm_count_product (tokens, hidden, hidden)
                 + 2
                       * qm_count_product (tokens, hidden,
                                           (double) config->intermediate_size)
                 + qm_count_causal (config->window, tokens)
                       * qm_count_attention (tokens, hidden);

  return (double) config->layers * layer
         + qm_count_product (tokens, hidden, (double) config->vocab_size);
}

static int64_t
starcoder2_parameters (const QmModelConfig *model)
{
  const QmStarcoder2Config *config = &model->starcoder2;
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  bool bias = config->use_bias;
  int64_t layer =
      qm_count_linear (hidden, hidden + 2 * key_width (config), bias)
      + qm_count_linear (hidden, hidden, bias)
      + qm_count_linear (hidden, inner, bias)
      + qm_count_linear (inner, hidden, bias)
      + 2 * qm_count_layer_norm (hidden);

  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->layers * layer + qm_count_layer_norm (hidden);
}

const QmFamilyInfo qm_starcoder2_family = {
  .name = "starcoder2",
  .architecture = "Starcoder2ForCausalLM",
  .block = "Starcoder2DecoderLayer",
  .objective = QM_OBJECTIVE_NEXT_TOKEN,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_starcoder2,
  .write = write_starcoder2,
  .flops = starcoder2_flops,
  .parameters = starcoder2_parameters,
};
