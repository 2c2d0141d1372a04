/* SPDX-License-Identifier: Apache-2.0 */

/* BERT and RoBERTa. */

#include "data/family-counts.h"
#include "data/family-read.h"

#define QM_MEMBER bert

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, 30522),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (max_positions, "max_position_embeddings", QM_MAX_POSITIONS, 512),
  QM_COUNT (type_vocab_size, "type_vocab_size", QM_MAX_VOCAB, 2),
  QM_WHOLE (pad_token_id, "pad_token_id", 0, QM_MAX_VOCAB, 0, QM_READ_APART),
  QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-12),
  QM_SHARE (hidden_dropout, "hidden_dropout_prob", 0.1),
  QM_SHARE (attention_dropout, "attention_probs_dropout_prob", 0.1),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_GELU),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", true),
};

static const QmFieldDefault roberta_defaults[] = {
  { "vocab_size", 50265 },
  { NULL, 0 },
};

static const char *const bert_nullable[] = { "pad_token_id", NULL };

static void
read_bert (QmJsonObject *object, QmModelConfig *model)
{
  QmBertConfig *config = &model->bert;
  bool roberta = model->family == QM_FAMILY_ROBERTA;

  if (object->status != QM_OK)
    return;
  config->pad_token_id =
      qm_json_integer_or (object, "pad_token_id", 0, config->vocab_size - 1,
                          roberta ? 1 : 0);
  /* Which is no padding token; RoBERTa counts positions from it. */
  if (!roberta && qm_config_is_null (object, "pad_token_id"))
    config->pad_token_id = -1;
  qm_config_require_word (object, "position_embedding_type", "absolute");
  qm_config_check_heads (object, config->hidden_size, config->heads);
}

/* RoBERTa counts positions from the one after the padding token's. */
static int64_t
bert_positions (const QmModelConfig *model)
{
  const QmBertConfig *config = &model->bert;

  return model->family == QM_FAMILY_ROBERTA
             ? config->max_positions - config->pad_token_id - 1
             : config->max_positions;
}

static double
bert_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmBertConfig *config = &model->bert;

  return qm_count_encoder ((double) recipe->sequence_length, config->layers,
                           (double) config->hidden_size,
                           (double) config->intermediate_size,
                           (double) config->vocab_size);
}

static int64_t
bert_parameters (const QmModelConfig *model)
{
  const QmBertConfig *config = &model->bert;
  int64_t hidden = config->hidden_size;
  int64_t embeddings = config->vocab_size * hidden;

  return embeddings * (config->tie_word_embeddings ? 1 : 2)
         + (config->max_positions + config->type_vocab_size) * hidden
         + qm_count_layer_norm (hidden)
         + config->layers
               * qm_count_transformer_layer (hidden, config->intermediate_size,
                                             true, true)
         + qm_count_linear (hidden, hidden, true) + qm_count_layer_norm (hidden)
         + config->vocab_size;
}

const QmFamilyInfo qm_bert_family = {
  .name = "bert",
  .architecture = "BertForMaskedLM",
  .block = "BertLayer",
  .objective = QM_OBJECTIVE_MASKED_TOKENS,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = bert_nullable,
  .read = read_bert,
  .positions = bert_positions,
  .flops = bert_flops,
  .parameters = bert_parameters,
};

const QmFamilyInfo qm_roberta_family = {
  .name = "roberta",
  .architecture = "RobertaForMaskedLM",
  .block = "RobertaLayer",
  .objective = QM_OBJECTIVE_MASKED_TOKENS,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .defaults = roberta_defaults,
  .read = read_bert,
  .positions = bert_positions,
  .flops = bert_flops,
  .parameters = bert_parameters,
};
