/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-counts.h"
#include "data/family-read.h"

#define QM_MEMBER gpt2

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, 50257),
  QM_COUNT (hidden_size, "n_embd", QM_MAX_HIDDEN, 768, QM_READ_APART),
  QM_COUNT (layers, "n_layer", QM_MAX_LAYERS, 12, QM_READ_APART),
  QM_COUNT (heads, "n_head", QM_MAX_HEADS, 12, QM_READ_APART),
  QM_COUNT (intermediate_size, "n_inner", QM_MAX_INNER, 0, QM_READ_APART),
  QM_COUNT (
      max_positions, "n_positions", QM_MAX_POSITIONS, 1024, QM_READ_APART),
  QM_NUMBER (layer_norm_eps, "layer_norm_epsilon", 0, 1, 1e-5),
  QM_SHARE (embedding_dropout, "embd_pdrop", 0.1),
  QM_SHARE (hidden_dropout, "resid_pdrop", 0.1),
  QM_SHARE (attention_dropout, "attn_pdrop", 0.1),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_FUNCTION (activation, "activation_function", QM_ACTIVATION_GELU_NEW),
  QM_SWITCH (scale_attention, "scale_attn_weights", true),
  QM_SWITCH (scale_by_layer, "scale_attn_by_inverse_layer_idx", false),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", true),
};

static const char *const nullable[] = { "n_ctx",
                                        "n_inner",
                                        "summary_activation",
                                        "summary_first_dropout",
                                        "summary_proj_to_labels",
                                        "summary_type",
                                        "summary_use_proj",
                                        NULL };

/* A size that has two names, of which files have the older one. */
static int64_t
read_size (QmJsonObject *object,
           const char *name,
           const char *other,
           int64_t max,
           int64_t absent)
{
  int64_t size = qm_json_integer_or (object, other, 1, max, absent);

  return qm_json_integer_or (object, name, 1, max, size);
}

static void
read_gpt2 (QmJsonObject *object, QmModelConfig *model)
{
  QmGpt2Config *config = &model->gpt2;

  config->hidden_size =
      read_size (object, "n_embd", "hidden_size", QM_MAX_HIDDEN, 768);
  config->layers =
      read_size (object, "n_layer", "num_hidden_layers", QM_MAX_LAYERS, 12);
  config->heads =
      read_size (object, "n_head", "num_attention_heads", QM_MAX_HEADS, 12);
  config->max_positions =
      read_size (object, "n_positions", "max_position_embeddings",
                 QM_MAX_POSITIONS, 1024);
  config->intermediate_size =
      qm_json_integer_or (object, "n_inner", 1, QM_MAX_INNER,
                          4 * config->hidden_size);
  qm_config_check_heads (object, config->hidden_size, config->heads);
  /* The same in another order and precision of products in fp16. */
  qm_config_require_switch (object, "reorder_and_upcast_attn", false);
  /* Of heads for other tasks, and the length once more. */
  qm_json_take (object, "n_ctx");
  qm_json_take (object, "summary_activation");
  qm_json_take (object, "summary_first_dropout");
  qm_json_take (object, "summary_proj_to_labels");
  qm_json_take (object, "summary_type");
  qm_json_take (object, "summary_use_proj");
}

static int64_t
gpt2_positions (const QmModelConfig *model)
{
  return model->gpt2.max_positions;
}

static double
gpt2_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmGpt2Config *config = &model->gpt2;
  double tokens = (double) recipe->sequence_length;
  double hidden = (double) config->hidden_size;
  double layer =
      qm_count_transformer (tokens, hidden, (double) config->intermediate_size)
      + qm_count_attention (tokens, hidden) / 2;

  return (double) config->layers * layer
         + qm_count_product (tokens, hidden, (double) config->vocab_size);
}

static int64_t
gpt2_parameters (const QmModelConfig *model)
{
  const QmGpt2Config *config = &model->gpt2;
  int64_t hidden = config->hidden_size;

  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->max_positions * hidden
         + config->layers
               * qm_count_transformer_layer (hidden, config->intermediate_size,
                                             true, true)
         + qm_count_layer_norm (hidden);
}

const QmFamilyInfo qm_gpt2_family = {
  .name = "gpt2",
  .architecture = "GPT2LMHeadModel",
  .block = "GPT2Block",
  .objective = QM_OBJECTIVE_NEXT_TOKEN,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_gpt2,
  .positions = gpt2_positions,
  .flops = gpt2_flops,
  .parameters = gpt2_parameters,
};
