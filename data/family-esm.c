/* SPDX-License-Identifier: Apache-2.0 */

/* ESM-2, language models of proteins.
 *
 * Read, and ignored, since nothing of training depends on it:
 *   hidden_act     not read by the class, which has GELU
 *   mask_token_id  without token_dropout
 *   vocab_list     of models that fold, which are refused
 *
 * Transformers 4 does not read rope_theta, and has 10000.  The head that tells
 * contacts, which Transformers makes with the model, is no part of its loss and
 * is not counted.
 */

#include "data/family-counts.h"
#include "data/family-read.h"

#include <string.h>

#define QM_MEMBER esm

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, QM_REQUIRED),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (max_positions, "max_position_embeddings", QM_MAX_POSITIONS, 1026),
  QM_WHOLE (pad_token_id, "pad_token_id", 0, QM_MAX_VOCAB, 0, QM_READ_APART),
  QM_WHOLE (mask_token_id, "mask_token_id", 0, QM_MAX_VOCAB, 0, QM_READ_APART),
  QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-12),
  QM_SHARE (hidden_dropout, "hidden_dropout_prob", 0.1),
  QM_SHARE (attention_dropout, "attention_probs_dropout_prob", 0.1),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_NUMBER (rope_theta, "rope_theta", 1.0001, 1e12, 10000),
  QM_SWITCH (token_dropout, "token_dropout", false),
  QM_SWITCH (norm_embeddings, "emb_layer_norm_before", false),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", true),
};

static const char *const nullable[] = { "emb_layer_norm_before",
                                        "esmfold_config",
                                        "is_folding_model",
                                        "mask_token_id",
                                        "token_dropout",
                                        "vocab_list",
                                        NULL };

static void
read_esm (QmJsonObject *object, QmModelConfig *model)
{
  QmEsmConfig *config = &model->esm;
  const char *positions;

  if (object->status != QM_OK)
    return;
  config->pad_token_id =
      qm_json_integer (object, "pad_token_id", 0, config->vocab_size - 1);
  config->mask_token_id = -1;
  if (config->token_dropout)
    config->mask_token_id =
        qm_json_integer (object, "mask_token_id", 0, config->vocab_size - 1);
  else
    qm_json_take (object, "mask_token_id");
  /* Where nothing is said they are absolute. */
  positions = qm_json_string (object, "position_embedding_type", true);
  if (positions != NULL && strcmp (positions, "rotary") != 0)
    qm_config_require_word (object, "position_embedding_type", "rotary");
  qm_config_require_switch (object, "is_folding_model", false);
  qm_config_require_empty (object, "esmfold_config");
  qm_config_require_empty (object, "rope_scaling");
  qm_config_require_empty (object, "rope_parameters");
  qm_json_take (object, "hidden_act");
  qm_json_take (object, "vocab_list");
  qm_config_check_turned_heads (object, config->hidden_size, config->heads);
}

static void
write_esm (json_t *object, const QmModelConfig *model)
{
  (void) model;
  json_object_set_new (object, "position_embedding_type",
                       json_string ("rotary"));
}

static double
esm_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmEsmConfig *config = &model->esm;

  return qm_count_encoder ((double) recipe->sequence_length, config->layers,
                           (double) config->hidden_size,
                           (double) config->intermediate_size,
                           (double) config->vocab_size);
}

static int64_t
esm_parameters (const QmModelConfig *model)
{
  const QmEsmConfig *config = &model->esm;
  int64_t hidden = config->hidden_size;

  /* Norms: behind the layers, in the head, and perhaps of the embeddings. */
  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->layers
               * qm_count_transformer_layer (hidden, config->intermediate_size,
                                             true, true)
         + (config->norm_embeddings ? 3 : 2) * qm_count_layer_norm (hidden)
         + qm_count_linear (hidden, hidden, true) + config->vocab_size;
}

const QmFamilyInfo qm_esm_family = {
  .name = "esm",
  .architecture = "EsmForMaskedLM",
  .block = "EsmLayer",
  .objective = QM_OBJECTIVE_MASKED_TOKENS,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_esm,
  .write = write_esm,
  .flops = esm_flops,
  .parameters = esm_parameters,
};
