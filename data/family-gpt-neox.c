/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-counts.h"
#include "data/family-read.h"

#define QM_MEMBER gpt_neox

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, QM_REQUIRED),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (max_positions, "max_position_embeddings", QM_MAX_POSITIONS, 2048),
  QM_NUMBER (rotary_pct, "rotary_pct", 0, 1, 0.25),
  QM_NUMBER (rotary_base, "rotary_emb_base", 1, 1e12, 10000),
  QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-5),
  QM_SHARE (hidden_dropout, "hidden_dropout", 0),
  QM_SHARE (attention_dropout, "attention_dropout", 0),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_GELU),
  QM_SWITCH (parallel_residual, "use_parallel_residual", true),
  QM_SWITCH (attention_bias, "attention_bias", true),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", false),
};

/* One of the objects that Transformers 5 reads rotary fields from; values are
 * changed where it has them.  Its kind has had two names. */
static void
read_rope (QmJsonObject *object, const char *name, double *share, double *base)
{
  static const char *const none[] = { NULL };
  QmJsonObject rope;

  if (!qm_json_has (object, name))
    {
      qm_json_take (object, name);
      return;
    }
  qm_json_enter (object, name, &rope);
  qm_config_require_word (&rope, "rope_type", "default");
  qm_config_require_word (&rope, "type", "default");
  if (share != NULL)
    *share = qm_json_number_or (&rope, "partial_rotary_factor", 0, 1, *share);
  if (base != NULL)
    *base = qm_json_number_or (&rope, "rope_theta", 1, 1e12, *base);
  qm_config_refuse_nulls (&rope, NULL);
  object->status = qm_json_finish (&rope, none);
}

/* How much of a head is rotated, and with which base.  Transformers 4 reads
 * rotary_pct and rotary_emb_base, and 5 these where rope_parameters do not say.
 * From 4.45 to 4.57 partial_rotary_factor and rope_theta are written beside
 * them, and never read.  What rope_scaling says of either is read by 5 alone,
 * and is refused. */
static void
read_rotary (QmJsonObject *object, QmGptNeoxConfig *config)
{
  int64_t rotated;

  qm_json_take (object, "partial_rotary_factor");
  qm_json_take (object, "rope_theta");
  read_rope (object, "rope_scaling", NULL, NULL);
  read_rope (object, "rope_parameters", &config->rotary_pct,
             &config->rotary_base);
  if (json_object_size (json_object_get (object->json, "rope_scaling")) > 0
      && json_object_size (json_object_get (object->json, "rope_parameters"))
             > 0)
    qm_json_fail (object, "rope_scaling", QM_STATUS_UNSUPPORTED,
                  "is not supported beside rope_parameters");
  if (object->status != QM_OK)
    return;
  rotated = (int64_t) ((double) (config->hidden_size / config->heads)
                       * config->rotary_pct);
  if (rotated % 2 != 0)
    qm_json_fail (object, "rotary_pct", QM_STATUS_INVALID,
                  "rotates %lld elements of a head, which is odd",
                  (long long) rotated);
}

static void
read_gpt_neox (QmJsonObject *object, QmModelConfig *config)
{
  qm_config_check_heads (object, config->gpt_neox.hidden_size,
                         config->gpt_neox.heads);
  read_rotary (object, &config->gpt_neox);
  /* Written by early versions, read by none. */
  qm_json_take (object, "hidden_dropout_prob");
  qm_json_take (object, "attention_probs_dropout_prob");
}

static double
gpt_neox_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmGptNeoxConfig *config = &model->gpt_neox;
  double tokens = (double) recipe->sequence_length;
  double hidden = (double) config->hidden_size;
  double layer =
      qm_count_transformer (tokens, hidden, (double) config->intermediate_size)
      + qm_count_attention (tokens, hidden) / 2;

  return (double) config->layers * layer
         + qm_count_product (tokens, hidden, (double) config->vocab_size);
}

static int64_t
gpt_neox_parameters (const QmModelConfig *model)
{
  const QmGptNeoxConfig *config = &model->gpt_neox;
  int64_t embeddings = config->vocab_size * config->hidden_size;

  return embeddings * (config->tie_word_embeddings ? 1 : 2)
         + config->layers
               * qm_count_transformer_layer (config->hidden_size,
                                             config->intermediate_size,
                                             config->attention_bias,
                                             config->attention_bias)
         + qm_count_layer_norm (config->hidden_size);
}

const QmFamilyInfo qm_gpt_neox_family = {
  .name = "gpt_neox",
  .architecture = "GPTNeoXForCausalLM",
  .block = "GPTNeoXLayer",
  .objective = QM_OBJECTIVE_NEXT_TOKEN,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .read = read_gpt_neox,
  .flops = gpt_neox_flops,
  .parameters = gpt_neox_parameters,
};
