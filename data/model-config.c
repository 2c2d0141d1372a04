/* SPDX-License-Identifier: Apache-2.0 */

#include "data/model-config.h"

#include "data/text.h"

#include <math.h>
#include <string.h>

/* Larger than anything that was built, and so small that a count of parameters
 * fits in an int64_t: 2^12 layers of products of 2^17 x 2^20. */
#define MAX_LAYERS    (INT64_C (1) << 12)
#define MAX_HIDDEN    (INT64_C (1) << 17)
#define MAX_INNER     (INT64_C (1) << 20)
#define MAX_VOCAB     (INT64_C (1) << 24)
#define MAX_POSITIONS (INT64_C (1) << 24)
#define MAX_HEADS     (INT64_C (1) << 12)
#define MAX_STATE     (INT64_C (1) << 12)
#define MAX_KERNEL    (INT64_C (1) << 8)
#define MAX_CHANNELS  (INT64_C (1) << 12)
#define MAX_IMAGE     (INT64_C (1) << 14)

/* Fields that a config.json may have and that change nothing about training on
 * whole batches from the beginning: names, token ids, labels, defaults of text
 * generation, heads for other tasks.  That they change no loss and no gradient
 * was tried with Transformers 4.57 and 5. */
static const char *const harmless[] = {
  "_attn_implementation",
  "_attn_implementation_autoset",
  "_commit_hash",
  "_name_or_path",
  "_num_labels",
  "attn_implementation",
  "bad_words_ids",
  "begin_suppress_tokens",
  "bos_token_id",
  "chunk_size_feed_forward",
  "classifier_dropout",
  "cls_token_id",
  "decoder_start_token_id",
  "directionality",
  "diversity_penalty",
  "do_sample",
  "dtype",
  "early_stopping",
  "encoder_no_repeat_ngram_size",
  "eos_token_id",
  "exponential_decay_length_penalty",
  "finetuning_task",
  "forced_bos_token_id",
  "forced_eos_token_id",
  "gradient_checkpointing",
  "id2label",
  "keys_to_ignore_at_inference",
  "label2id",
  "length_penalty",
  "mask_token_id",
  "max_length",
  "min_length",
  "name_or_path",
  "no_repeat_ngram_size",
  "num_beam_groups",
  "num_beams",
  "num_labels",
  "num_return_sequences",
  "output_attentions",
  "output_hidden_states",
  "output_past",
  "output_scores",
  "pad_token_id",
  "pooler_fc_size",
  "pooler_num_attention_heads",
  "pooler_num_fc_layers",
  "pooler_size_per_head",
  "pooler_type",
  "prefix",
  "remove_invalid_values",
  "repetition_penalty",
  "return_dict",
  "return_dict_in_generate",
  "sep_token_id",
  "suppress_tokens",
  "task_specific_params",
  "temperature",
  "tf_legacy_loss",
  "tokenizer_class",
  "top_k",
  "top_p",
  "torch_dtype",
  "transformers_version",
  "typical_p",
  "use_bfloat16",
  "use_cache",
  NULL,
};

static void
refuse_value (QmJsonObject *object, const char *name)
{
  qm_json_fail (object, name, QM_STATUS_UNSUPPORTED,
                "has a value that is not supported");
}

/* Refuses a switch that we cannot honour in any other position. */
static void
require_boolean (QmJsonObject *object, const char *name, bool only)
{
  if (qm_json_boolean_or (object, name, only) != only)
    qm_json_fail (object, name, QM_STATUS_UNSUPPORTED, "only %s is supported",
                  only ? "true" : "false");
}

/* Refuses a field unless it is null or an empty collection. */
static void
require_empty (QmJsonObject *object, const char *name)
{
  json_t *value = qm_json_take (object, name);

  if (value != NULL
      && !(json_is_object (value) && json_object_size (value) == 0)
      && !(json_is_array (value) && json_array_size (value) == 0))
    refuse_value (object, name);
}

static void
require_word (QmJsonObject *object, const char *name, const char *only)
{
  const char *word = qm_json_string (object, name, false);
  char quoted[QM_QUOTE_BYTES];

  if (word != NULL && strcmp (word, only) != 0)
    qm_json_fail (object, name, QM_STATUS_UNSUPPORTED,
                  "%s is not supported, only '%s'",
                  qm_text_quote (word, quoted), only);
}

/* Fields that are read and may be null, which means to Transformers that they
 * are absent, or what they say is off.  Null in others is an error there, or
 * the opposite of what is usual. */
static const char *const nullable[] = {
  "add_cross_attention",
  "architectures",
  "auto_map",
  "cross_attention_hidden_size",
  "d_inner",
  "d_model",
  "encoder_stride",
  "fused_add_norm",
  "id2label",
  "is_decoder",
  "is_encoder_decoder",
  "n_layer",
  "num_labels",
  "out_features",
  "out_indices",
  "pad_vocab_size_multiple",
  "partial_rotary_factor",
  "pooler_act",
  "pooler_output_size",
  "problem_type",
  "pruned_heads",
  "quantization_config",
  "rope_parameters",
  "rope_scaling",
  "rope_theta",
  "rms_norm",
  "ssm_cfg",
  "stage_names",
  "tie_encoder_decoder",
  "torchscript",
  "use_associative_scan",
  "use_mambapy",
};

static bool
is_nullable (const char *name)
{
  for (size_t i = 0; i < sizeof nullable / sizeof nullable[0]; i++)
    if (strcmp (nullable[i], name) == 0)
      return true;
  return false;
}

static bool
is_null (const QmJsonObject *object, const char *name)
{
  return json_is_null (json_object_get (object->json, name));
}

/* Refuses null in fields that were read, with the exception of one. */
static void
refuse_nulls (QmJsonObject *object, const char *except)
{
  for (size_t i = 0; i < object->n_read; i++)
    if (is_null (object, object->read[i]) && !is_nullable (object->read[i])
        && strcmp (object->read[i], except) != 0)
      qm_json_fail (object, object->read[i], QM_STATUS_UNSUPPORTED,
                    "null is not supported");
}

/* Remembers the architecture where it has another head than ours. */
static void
read_architectures (QmJsonObject *object, QmModelConfig *config)
{
  const char *ours = qm_family_architecture (config->family);
  json_t *list = qm_json_take (object, "architectures"), *item;
  bool found = json_array_size (list) == 0;
  size_t i;

  if (list != NULL && !json_is_array (list))
    qm_json_fail (object, "architectures", QM_STATUS_INVALID,
                  "is not a list of names");
  json_array_foreach (list, i, item)
  {
    if (!json_is_string (item))
      qm_json_fail (object, "architectures", QM_STATUS_INVALID,
                    "is not a list of names");
    else
      found = found || strcmp (json_string_value (item), ours) == 0;
  }
  if (!found && object->status == QM_OK)
    qm_text_escape (json_string_value (json_array_get (list, 0)),
                    config->other_head, sizeof config->other_head);
}

/* What the labels are of a head that classifies: where there is nothing said
 * and more than one, Transformers takes whole numbers for classes, too. */
static void
read_problem (QmJsonObject *object)
{
  require_word (object, "problem_type", "single_label_classification");
}

static void
read_common (QmJsonObject *object)
{
  /* Ties no weights, but copies them. */
  require_boolean (object, "torchscript", false);
  /* Counts where a head classifies alone, and is read there. */
  qm_json_take (object, "problem_type");
  require_boolean (object, "is_encoder_decoder", false);
  require_boolean (object, "is_decoder", false);
  require_boolean (object, "add_cross_attention", false);
  require_boolean (object, "tie_encoder_decoder", false);
  require_empty (object, "cross_attention_hidden_size");
  require_empty (object, "pruned_heads");
  require_empty (object, "quantization_config");
  require_empty (object, "auto_map");
}

static QmActivation
read_activation (QmJsonObject *object, const char *name, const char *absent)
{
  static const struct
  {
    const char *name;
    QmActivation activation;
  } known[] = {
    { "gelu", QM_ACTIVATION_GELU },
    { "gelu_python", QM_ACTIVATION_GELU },
    { "gelu_new", QM_ACTIVATION_GELU_TANH },
    { "gelu_fast", QM_ACTIVATION_GELU_TANH },
    { "gelu_pytorch_tanh", QM_ACTIVATION_GELU_TANH },
    { "relu", QM_ACTIVATION_RELU },
    { "silu", QM_ACTIVATION_SILU },
    { "swish", QM_ACTIVATION_SILU },
  };
  const char *word = qm_json_string (object, name, false);
  char quoted[QM_QUOTE_BYTES];

  if (word == NULL)
    word = absent;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp (known[i].name, word) == 0)
      return known[i].activation;
  qm_json_fail (object, name, QM_STATUS_UNSUPPORTED,
                "%s is not supported; gelu, gelu_new, relu and silu are",
                qm_text_quote (word, quoted));
  return QM_ACTIVATION_GELU;
}

static double
read_probability (QmJsonObject *object, const char *name, double absent)
{
  double value = qm_json_number_or (object, name, 0, 1, absent);

  if (value >= 1)
    qm_json_fail (object, name, QM_STATUS_INVALID,
                  "a probability of 1 leaves nothing");
  return value;
}

static double
read_epsilon (QmJsonObject *object, const char *name, double absent)
{
  return qm_json_number_or (object, name, 0, 1, absent);
}

static void
check_heads (QmJsonObject *object, int64_t hidden_size, int64_t heads)
{
  if (object->status == QM_OK && hidden_size % heads != 0)
    qm_json_fail (object, "num_attention_heads", QM_STATUS_INVALID,
                  "hidden_size %lld is not divisible by %lld heads",
                  (long long) hidden_size, (long long) heads);
}

static int64_t
read_classes (QmJsonObject *object)
{
  json_t *labels = qm_json_take (object, "id2label");
  int64_t count = qm_json_integer_or (object, "num_labels", 1, MAX_VOCAB, 0);
  int64_t named = 0;

  if (labels != NULL && !json_is_object (labels))
    qm_json_fail (object, "id2label", QM_STATUS_INVALID, "is not an object");
  else if (labels != NULL)
    named = (int64_t) json_object_size (labels);
  if (count != 0 && named != 0 && count != named)
    qm_json_fail (object, "num_labels", QM_STATUS_INVALID,
                  "%lld does not agree with the %lld labels of id2label",
                  (long long) count, (long long) named);
  if (named > 0)
    return named;
  return count > 0 ? count : 2;
}

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
  require_word (&rope, "rope_type", "default");
  require_word (&rope, "type", "default");
  if (share != NULL)
    *share = qm_json_number_or (&rope, "partial_rotary_factor", 0, 1, *share);
  if (base != NULL)
    *base = qm_json_number_or (&rope, "rope_theta", 1, 1e12, *base);
  refuse_nulls (&rope, "");
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
  const char *pct = "rotary_pct";
  int64_t rotated;

  config->rotary_pct = qm_json_number_or (object, pct, 0, 1, 0.25);
  config->rotary_base =
      qm_json_number_or (object, "rotary_emb_base", 1, 1e12, 10000);
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

  rotated = (int64_t) ((double) (config->hidden_size / config->heads)
                       * config->rotary_pct);
  if (rotated % 2 != 0)
    qm_json_fail (object, pct, QM_STATUS_INVALID,
                  "rotates %lld elements of a head, which is odd",
                  (long long) rotated);
}

static void
read_gpt_neox (QmJsonObject *object, QmGptNeoxConfig *config)
{
  config->vocab_size = qm_json_integer (object, "vocab_size", 1, MAX_VOCAB);
  config->hidden_size = qm_json_integer (object, "hidden_size", 1, MAX_HIDDEN);
  config->layers = qm_json_integer (object, "num_hidden_layers", 1, MAX_LAYERS);
  config->heads = qm_json_integer (object, "num_attention_heads", 1, MAX_HEADS);
  config->intermediate_size =
      qm_json_integer (object, "intermediate_size", 1, MAX_INNER);
  config->max_positions = qm_json_integer_or (object, "max_position_embeddings",
                                              1, MAX_POSITIONS, 2048);
  config->layer_norm_eps = read_epsilon (object, "layer_norm_eps", 1e-5);
  config->hidden_dropout = read_probability (object, "hidden_dropout", 0);
  config->attention_dropout = read_probability (object, "attention_dropout", 0);
  config->initializer_range =
      qm_json_number_or (object, "initializer_range", 0, 10, 0.02);
  config->activation = read_activation (object, "hidden_act", "gelu");
  config->parallel_residual =
      qm_json_boolean_or (object, "use_parallel_residual", true);
  config->attention_bias = qm_json_boolean_or (object, "attention_bias", true);
  config->tie_word_embeddings =
      qm_json_boolean_or (object, "tie_word_embeddings", false);
  check_heads (object, config->hidden_size, config->heads);
  read_rotary (object, config);
  /* Written by early versions, read by none. */
  qm_json_take (object, "hidden_dropout_prob");
  qm_json_take (object, "attention_probs_dropout_prob");
}

static void
read_bert (QmJsonObject *object, QmFamily family, QmBertConfig *config)
{
  bool roberta = family == QM_FAMILY_ROBERTA;

  config->vocab_size = qm_json_integer_or (object, "vocab_size", 1, MAX_VOCAB,
                                           roberta ? 50265 : 30522);
  config->hidden_size = qm_json_integer (object, "hidden_size", 1, MAX_HIDDEN);
  config->layers = qm_json_integer (object, "num_hidden_layers", 1, MAX_LAYERS);
  config->heads = qm_json_integer (object, "num_attention_heads", 1, MAX_HEADS);
  config->intermediate_size =
      qm_json_integer (object, "intermediate_size", 1, MAX_INNER);
  config->max_positions = qm_json_integer_or (object, "max_position_embeddings",
                                              1, MAX_POSITIONS, 512);
  config->type_vocab_size =
      qm_json_integer_or (object, "type_vocab_size", 1, MAX_VOCAB, 2);
  config->pad_token_id =
      qm_json_integer_or (object, "pad_token_id", 0, config->vocab_size - 1,
                          roberta ? 1 : 0);
  /* Which is no padding token; RoBERTa counts positions from it. */
  if (!roberta && is_null (object, "pad_token_id"))
    config->pad_token_id = -1;
  config->layer_norm_eps = read_epsilon (object, "layer_norm_eps", 1e-12);
  config->hidden_dropout =
      read_probability (object, "hidden_dropout_prob", 0.1);
  config->attention_dropout =
      read_probability (object, "attention_probs_dropout_prob", 0.1);
  config->initializer_range =
      qm_json_number_or (object, "initializer_range", 0, 10, 0.02);
  config->activation = read_activation (object, "hidden_act", "gelu");
  config->tie_word_embeddings =
      qm_json_boolean_or (object, "tie_word_embeddings", true);
  require_word (object, "position_embedding_type", "absolute");
  check_heads (object, config->hidden_size, config->heads);
}

static void
read_vit (QmJsonObject *object, QmVitConfig *config)
{
  config->hidden_size = qm_json_integer (object, "hidden_size", 1, MAX_HIDDEN);
  config->layers = qm_json_integer (object, "num_hidden_layers", 1, MAX_LAYERS);
  config->heads = qm_json_integer (object, "num_attention_heads", 1, MAX_HEADS);
  config->intermediate_size =
      qm_json_integer (object, "intermediate_size", 1, MAX_INNER);
  config->image_size =
      qm_json_integer_or (object, "image_size", 1, MAX_IMAGE, 224);
  config->patch_size =
      qm_json_integer_or (object, "patch_size", 1, MAX_IMAGE, 16);
  config->channels =
      qm_json_integer_or (object, "num_channels", 1, MAX_CHANNELS, 3);
  config->classes = read_classes (object);
  read_problem (object);
  config->layer_norm_eps = read_epsilon (object, "layer_norm_eps", 1e-12);
  config->hidden_dropout = read_probability (object, "hidden_dropout_prob", 0);
  config->attention_dropout =
      read_probability (object, "attention_probs_dropout_prob", 0);
  config->initializer_range =
      qm_json_number_or (object, "initializer_range", 0, 10, 0.02);
  config->activation = read_activation (object, "hidden_act", "gelu");
  config->qkv_bias = qm_json_boolean_or (object, "qkv_bias", true);
  /* Of the heads for other tasks and of models of text. */
  qm_json_take (object, "encoder_stride");
  qm_json_take (object, "pooler_output_size");
  qm_json_take (object, "pooler_act");
  qm_json_take (object, "tie_word_embeddings");
  check_heads (object, config->hidden_size, config->heads);
  if (object->status == QM_OK && config->image_size < config->patch_size)
    qm_json_fail (object, "patch_size", QM_STATUS_INVALID,
                  "is larger than the image");
}

/* Reads an array of `n` whole numbers, or of any length where `n` is 0; returns
 * the length. */
static int64_t
read_stages (QmJsonObject *object,
             const char *name,
             int64_t n,
             int64_t max,
             int64_t values[QM_CONVNEXT_MAX_STAGES])
{
  json_t *array = qm_json_take (object, name);
  size_t length = array != NULL ? json_array_size (array) : 0;

  if (length == 0)
    qm_json_fail (object, name, QM_STATUS_INVALID,
                  "must be an array with a number for every stage");
  else if (length > QM_CONVNEXT_MAX_STAGES)
    qm_json_fail (object, name, QM_STATUS_UNSUPPORTED,
                  "more than %d stages are not supported",
                  QM_CONVNEXT_MAX_STAGES);
  else if (n != 0 && (int64_t) length != n)
    qm_json_fail (object, name, QM_STATUS_INVALID,
                  "has %zu stages where there are %lld", length, (long long) n);
  for (size_t i = 0; i < length && object->status == QM_OK; i++)
    {
      json_t *value = json_array_get (array, i);

      if (!json_is_integer (value) || json_integer_value (value) < 1
          || json_integer_value (value) > max)
        qm_json_fail (object, name, QM_STATUS_INVALID,
                      "element %zu is not a whole number between 1 and %lld",
                      i + 1, (long long) max);
      else
        values[i] = json_integer_value (value);
    }
  return (int64_t) length;
}

static void
read_convnext (QmJsonObject *object, QmConvnextConfig *config)
{
  int64_t n =
      qm_json_integer_or (object, "num_stages", 1, QM_CONVNEXT_MAX_STAGES, 0);

  config->stages =
      read_stages (object, "hidden_sizes", n, MAX_HIDDEN, config->hidden_sizes);
  read_stages (object, "depths", config->stages, MAX_LAYERS, config->depths);
  config->patch_size =
      qm_json_integer_or (object, "patch_size", 1, MAX_IMAGE, 4);
  config->channels =
      qm_json_integer_or (object, "num_channels", 1, MAX_CHANNELS, 3);
  config->image_size =
      qm_json_integer_or (object, "image_size", 1, MAX_IMAGE, 224);
  config->classes = read_classes (object);
  read_problem (object);
  config->layer_norm_eps = read_epsilon (object, "layer_norm_eps", 1e-12);
  config->layer_scale_init =
      qm_json_number_or (object, "layer_scale_init_value", 0, 10, 1e-6);
  config->drop_path_rate = read_probability (object, "drop_path_rate", 0);
  config->initializer_range =
      qm_json_number_or (object, "initializer_range", 0, 10, 0.02);
  config->activation = read_activation (object, "hidden_act", "gelu");
  /* Which stages a detector would use, and of models of text. */
  qm_json_take (object, "stage_names");
  qm_json_take (object, "out_features");
  qm_json_take (object, "out_indices");
  qm_json_take (object, "tie_word_embeddings");
}

static int64_t
read_time_step_rank (QmJsonObject *object, int64_t hidden_size)
{
  json_t *value = json_object_get (object->json, "time_step_rank");
  int64_t automatic = (hidden_size + 15) / 16;

  if (json_is_string (value))
    {
      require_word (object, "time_step_rank", "auto");
      return automatic;
    }
  return qm_json_integer_or (object, "time_step_rank", 1, MAX_HIDDEN,
                             automatic);
}

/* Refuses a second name of a size that says something else. */
static void
require_same (QmJsonObject *object, const char *name, int64_t size)
{
  if (qm_json_integer_or (object, name, 1, MAX_INNER, size) != size)
    qm_json_fail (object, name, QM_STATUS_INVALID, "is not %lld",
                  (long long) size);
}

/* How the time steps of a new model are spread. */
static void
read_time_steps (QmJsonObject *object, QmMambaConfig *config)
{
  const char *scheme = qm_json_string (object, "time_step_init_scheme", false);
  char quoted[QM_QUOTE_BYTES];

  config->time_step_min =
      qm_json_number_or (object, "time_step_min", 1e-12, 1e3, 0.001);
  config->time_step_max =
      qm_json_number_or (object, "time_step_max", 1e-12, 1e3, 0.1);
  config->time_step_floor =
      qm_json_number_or (object, "time_step_floor", 1e-12, 1e3, 1e-4);
  config->time_step_scale =
      qm_json_number_or (object, "time_step_scale", 0, 1e3, 1);
  config->time_step_random = scheme == NULL || strcmp (scheme, "random") == 0;
  if (!config->time_step_random && strcmp (scheme, "constant") != 0)
    qm_json_fail (object, "time_step_init_scheme", QM_STATUS_UNSUPPORTED,
                  "%s is not supported; random and constant are",
                  qm_text_quote (scheme, quoted));
  config->rescale_prenorm_residual =
      qm_json_boolean_or (object, "rescale_prenorm_residual", false);
}

static void
read_mamba (QmJsonObject *object, QmMambaConfig *config)
{
  int64_t expand;

  config->vocab_size =
      qm_json_integer_or (object, "vocab_size", 1, MAX_VOCAB, 50280);
  config->hidden_size = qm_json_integer (object, "hidden_size", 1, MAX_HIDDEN);
  config->layers = qm_json_integer (object, "num_hidden_layers", 1, MAX_LAYERS);
  config->state_size =
      qm_json_integer_or (object, "state_size", 1, MAX_STATE, 16);
  expand = qm_json_integer_or (object, "expand", 1, 8, 2);
  config->inner_size = expand * config->hidden_size;
  config->conv_kernel =
      qm_json_integer_or (object, "conv_kernel", 1, MAX_KERNEL, 4);
  config->time_step_rank = read_time_step_rank (object, config->hidden_size);
  config->norm_eps = read_epsilon (object, "layer_norm_epsilon", 1e-5);
  config->initializer_range =
      qm_json_number_or (object, "initializer_range", 0, 10, 0.1);
  config->use_bias = qm_json_boolean_or (object, "use_bias", false);
  config->use_conv_bias = qm_json_boolean_or (object, "use_conv_bias", true);
  config->residual_in_fp32 =
      qm_json_boolean_or (object, "residual_in_fp32", true);
  config->tie_word_embeddings =
      qm_json_boolean_or (object, "tie_word_embeddings", true);
  require_word (object, "hidden_act", "silu");
  require_boolean (object, "rms_norm", true);
  require_empty (object, "ssm_cfg");
  require_same (object, "intermediate_size", config->inner_size);
  require_same (object, "d_inner", config->inner_size);
  require_same (object, "d_model", config->hidden_size);
  require_same (object, "n_layer", config->layers);
  read_time_steps (object, config);
  /* Which kernel computes the same. */
  qm_json_take (object, "pad_vocab_size_multiple");
  qm_json_take (object, "fused_add_norm");
  qm_json_take (object, "use_mambapy");
  qm_json_take (object, "use_associative_scan");
}

/* The field that may be null in this family alone. */
static const char *
may_be_null (QmFamily family)
{
  if (qm_family_has_images (family))
    return "tie_word_embeddings"; /* of models of text */
  return family == QM_FAMILY_BERT ? "pad_token_id" : "";
}

QmStatus
qm_model_config_read (QmJsonObject *object, QmModelConfig *config)
{
  const char *type = qm_json_string (object, "model_type", true);
  char quoted[QM_QUOTE_BYTES];

  if (object->status != QM_OK)
    return object->status;
  memset (config, 0, sizeof *config);
  for (int i = QM_FAMILY_GPT_NEOX; i <= QM_FAMILY_MAMBA; i++)
    if (strcmp (type, qm_family_name ((QmFamily) i)) == 0)
      {
        config->family = (QmFamily) i;
        read_common (object);
        read_architectures (object, config);
        object->lax = true;
        switch (config->family)
          {
          case QM_FAMILY_GPT_NEOX:
            read_gpt_neox (object, &config->gpt_neox);
            break;
          case QM_FAMILY_BERT:
          case QM_FAMILY_ROBERTA:
            read_bert (object, config->family, &config->bert);
            break;
          case QM_FAMILY_VIT:
            read_vit (object, &config->vit);
            break;
          case QM_FAMILY_CONVNEXT:
            read_convnext (object, &config->convnext);
            break;
          case QM_FAMILY_MAMBA:
            read_mamba (object, &config->mamba);
            break;
          }
        refuse_nulls (object, may_be_null (config->family));
        return qm_json_finish (object, harmless);
      }
  qm_json_fail (object, "model_type", QM_STATUS_UNSUPPORTED,
                "%s is not supported; gpt_neox, bert, roberta, vit, convnext "
                "and mamba are",
                qm_text_quote (type, quoted));
  return object->status;
}
