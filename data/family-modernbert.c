/* SPDX-License-Identifier: Apache-2.0 */

/* ModernBERT, as Transformers 4.48 to 5 have it.
 *
 * Read, and ignored, since nothing of training depends on it:
 *   classifier_pooling         of heads for other tasks
 *   initializer_cutoff_factor  where new weights are cut off
 *   layer_norm_eps             not read by the class, whose norms have norm_eps
 *   position_embedding_type    nor this: positions are rotary
 *   reference_compile          how Transformers runs it
 *   repad_logits_with_grad     of batches with padding, and no part of the loss
 *   sparse_pred_ignore_index   of sparse_prediction, which is refused
 */

#include "data/family-counts.h"
#include "data/family-read.h"
#include "data/rope.h"

#define QM_MEMBER modernbert

#define GLOBAL_THETA 160000
#define LOCAL_THETA  10000
#define PAD_TOKEN    50283

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, 50368),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (max_positions, "max_position_embeddings", QM_MAX_POSITIONS, 8192),
  QM_WHOLE (
      pad_token_id, "pad_token_id", 0, QM_MAX_VOCAB, PAD_TOKEN, QM_READ_APART),
  QM_COUNT (window,
            "local_attention",
            QM_MAX_POSITIONS,
            128,
            .apart = QM_FIELD_WRITTEN_APART),
  QM_OTHER (windowed,
            "layer_types",
            QM_FIELD_LAYERS,
            0,
            0,
            0,
            QM_APART,
            .count = offsetof (QmModelConfig, modernbert.layers)),
  QM_NUMBER (norm_eps, "norm_eps", 0, 1, 1e-5),
  QM_SHARE (embedding_dropout, "embedding_dropout", 0),
  QM_SHARE (mlp_dropout, "mlp_dropout", 0),
  QM_SHARE (attention_dropout, "attention_dropout", 0),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_ROPE_ROWS ("rope_", modernbert.rope),
  QM_ROPE_ROWS ("local_rope_", modernbert.local_rope),
  QM_FUNCTION (activation, "hidden_activation", QM_ACTIVATION_GELU),
  QM_FUNCTION (head_activation, "classifier_activation", QM_ACTIVATION_GELU),
  QM_SWITCH (norm_bias, "norm_bias", false),
  QM_SWITCH (attention_bias, "attention_bias", false),
  QM_SWITCH (mlp_bias, "mlp_bias", false),
  QM_SWITCH (head_bias, "classifier_bias", false),
  QM_SWITCH (decoder_bias, "decoder_bias", true),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", true),
};

static const char *const nullable[] = {
  "layer_types",       "local_rope_theta",   "pad_token_id",
  "reference_compile", "classifier_pooling", NULL
};

/* Every n-th layer sees everything, the first among them; a list says the same
 * of each of them, and 5 goes by that, where 4 knows of no list. */
static void
read_layers (QmJsonObject *object, QmModernBertConfig *config)
{
  int64_t every = qm_json_integer_or (object, "global_attn_every_n_layers", 1,
                                      QM_MAX_LAYERS, 3);
  bool both = qm_json_has (object, "global_attn_every_n_layers");
  bool any = false;

  if (!qm_config_layer_types (object, config->layers, config->windowed))
    for (int64_t i = 0; i < config->layers; i++)
      qm_layers_set (config->windowed, i, i % every != 0);
  for (int64_t i = 0; i < config->layers; i++)
    {
      any = any || qm_layers_have (config->windowed, i);
      if (both && qm_layers_have (config->windowed, i) != (i % every != 0))
        qm_json_fail (object, "global_attn_every_n_layers", QM_STATUS_INVALID,
                      "%lld does not agree with layer_types",
                      (long long) every);
    }
  if (!any)
    config->window = 0;
}

/* Transformers 5 has an object for each type of layer, 4 two numbers, of which
 * that of local layers may be null: then it is the other. */
static void
read_ropes (QmJsonObject *object, QmModernBertConfig *config)
{
  static const char *const may_be_null[] = { "full_attention",
                                             "sliding_attention", NULL };
  static const char *const none[] = { NULL };
  QmJsonObject ropes;

  config->rope = config->local_rope = (QmRope){ .amplitude = 1 };
  config->rope.theta = qm_json_number_or (object, "global_rope_theta", 1.0001,
                                          1e12, GLOBAL_THETA);
  config->local_rope.theta =
      qm_json_number_or (object, "local_rope_theta", 1.0001, 1e12,
                         qm_config_is_null (object, "local_rope_theta")
                             ? config->rope.theta
                             : LOCAL_THETA);
  qm_config_require_empty (object, "rope_scaling");
  if (!qm_json_has (object, "rope_parameters"))
    qm_json_take (object, "rope_parameters");
  else
    {
      qm_json_enter (object, "rope_parameters", &ropes);
      /* `truncate` is read of rope_parameters itself, and so of none. */
      qm_rope_read (&ropes, "full_attention", config->max_positions, false,
                    &config->rope);
      qm_rope_read (&ropes, "sliding_attention", config->max_positions, false,
                    &config->local_rope);
      qm_config_refuse_nulls (&ropes, may_be_null);
      object->status = qm_json_finish (&ropes, none);
    }
  if (config->window == 0)
    config->local_rope = config->rope;
}

static void
read_modernbert (QmJsonObject *object, QmModelConfig *model)
{
  QmModernBertConfig *config = &model->modernbert;

  if (object->status != QM_OK)
    return;
  config->pad_token_id = qm_json_integer_or (
      object, "pad_token_id", 0, config->vocab_size - 1,
      qm_config_is_null (object, "pad_token_id") ? -1 : PAD_TOKEN);
  if (config->pad_token_id >= config->vocab_size)
    qm_json_fail (object, "pad_token_id", QM_STATUS_INVALID,
                  "%d, which it is where nothing else is said, is not in the "
                  "vocabulary",
                  PAD_TOKEN);
  qm_config_check_turned_heads (object, config->hidden_size, config->heads);
  if (object->status != QM_OK)
    return;
  read_layers (object, config);
  read_ropes (object, config);
  /* The head of the masked tokens alone, which costs less. */
  qm_config_require_switch (object, "sparse_prediction", false);
  qm_config_require_switch (object, "deterministic_flash_attn", false);
  qm_json_take (object, "classifier_pooling");
  qm_json_take (object, "initializer_cutoff_factor");
  qm_json_take (object, "layer_norm_eps");
  qm_json_take (object, "position_embedding_type");
  qm_json_take (object, "reference_compile");
  qm_json_take (object, "repad_logits_with_grad");
  qm_json_take (object, "sparse_pred_ignore_index");
}

/* Every how many layers one sees everything; 0: a list has to say it. */
static int64_t
period (const QmModernBertConfig *config)
{
  int64_t n = 1;

  while (n < config->layers && qm_layers_have (config->windowed, n))
    n++;
  for (int64_t i = 0; i < config->layers; i++)
    if (qm_layers_have (config->windowed, i) != (i % n != 0))
      return 0;
  return n;
}

/* In the words of Transformers 4, which 5 understands, where there are such. */
static void
write_modernbert (json_t *object, const QmModelConfig *model)
{
  const QmModernBertConfig *config = &model->modernbert;
  int64_t every = period (config);
  json_t *ropes;

  if (config->window > 0)
    json_object_set_new (object, "local_attention",
                         json_integer ((json_int_t) config->window));
  if (every > 0)
    json_object_set_new (object, "global_attn_every_n_layers",
                         json_integer ((json_int_t) every));
  else
    json_object_set_new (object, "layer_types",
                         qm_config_layer_types_json (config->layers,
                                                     config->windowed));
  if (config->rope.kind == QM_ROPE_DEFAULT
      && config->local_rope.kind == QM_ROPE_DEFAULT)
    {
      json_object_set_new (object, "global_rope_theta",
                           json_real (config->rope.theta));
      json_object_set_new (object, "local_rope_theta",
                           json_real (config->local_rope.theta));
      return;
    }
  ropes = json_object ();
  json_object_set_new (ropes, "full_attention",
                       qm_rope_json (&config->rope, true));
  json_object_set_new (ropes, "sliding_attention",
                       qm_rope_json (&config->local_rope, true));
  json_object_set_new (object, "rope_parameters", ropes);
}

/* The share of the pairs of tokens that a layer looks at. */
static double
modernbert_pairs_seen (const QmModernBertConfig *config,
                       int64_t layer,
                       double tokens)
{
  double reach = (double) (config->window / 2 + 1);

  if (!qm_layers_have (config->windowed, layer) || reach >= tokens)
    return 1;
  return reach / tokens * (2 - reach / tokens);
}

static double
modernbert_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmModernBertConfig *config = &model->modernbert;
  double tokens = (double) recipe->sequence_length;
  double hidden = (double) config->hidden_size;
  double layer = 4 * qm_count_product (tokens, hidden, hidden)
                 + 3
                       * qm_count_product (tokens, hidden,
                                           (double) config->intermediate_size);
  double sum = qm_count_product (tokens, hidden, hidden)
               + qm_count_product (tokens, hidden, (double) config->vocab_size);

  for (int64_t i = 0; i < config->layers; i++)
    sum += layer
           + modernbert_pairs_seen (config, i, tokens)
                 * qm_count_attention (tokens, hidden);
  return sum;
}

static int64_t
modernbert_parameters (const QmModelConfig *model)
{
  const QmModernBertConfig *config = &model->modernbert;
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  int64_t norm = config->norm_bias ? qm_count_layer_norm (hidden) : hidden;
  int64_t layer = qm_count_linear (hidden, 3 * hidden, config->attention_bias)
                  + qm_count_linear (hidden, hidden, config->attention_bias)
                  + qm_count_linear (hidden, 2 * inner, config->mlp_bias)
                  + qm_count_linear (inner, hidden, config->mlp_bias)
                  + 2 * norm;

  /* Of the embeddings, behind the layers, and of the head; the first layer has
   * one less. */
  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->layers * layer + 2 * norm
         + qm_count_linear (hidden, hidden, config->head_bias)
         + (config->decoder_bias ? config->vocab_size : 0);
}

const QmFamilyInfo qm_modernbert_family = {
  .name = "modernbert",
  .architecture = "ModernBertForMaskedLM",
  .block = "ModernBertEncoderLayer",
  .objective = QM_OBJECTIVE_MASKED_TOKENS,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_modernbert,
  .write = write_modernbert,
  .flops = modernbert_flops,
  .parameters = modernbert_parameters,
};
