/* SPDX-License-Identifier: Apache-2.0 */

#include "data/model-config.h"

#include "data/family-read.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Fields that a config.json may have and that change nothing about training on
 * whole batches from the beginning: names, token ids, labels, defaults of text
 * generation, heads for other tasks.  That they change no loss and no gradient
 * was tried with Transformers 4.57 and 5. */
static const char *const harmless[] = {
  "_attn_implementation",
  "_attn_implementation_autoset",
  "_commit_hash",
  "_flash_attn_2_enabled",
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
  "is_llama_config",
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
  "unsloth_fixed",
  "unsloth_version",
  "use_bfloat16",
  "use_cache",
  NULL,
};

/* Refuses a value that is there. */
static void
refuse_value (QmJsonObject *object, const char *name)
{
  qm_json_fail (object, name, QM_STATUS_UNSUPPORTED,
                "has a value that is not supported");
}

/* Refuses a switch that we cannot honour in any other position. */
void
qm_config_require_switch (QmJsonObject *object, const char *name, bool only)
{
  if (qm_json_boolean_or (object, name, only) != only)
    qm_json_fail (object, name, QM_STATUS_UNSUPPORTED, "only %s is supported",
                  only ? "true" : "false");
}

/* Refuses a field unless it is null or an empty collection. */
void
qm_config_require_empty (QmJsonObject *object, const char *name)
{
  json_t *value = qm_json_take (object, name);

  if (value != NULL
      && !(json_is_object (value) && json_object_size (value) == 0)
      && !(json_is_array (value) && json_array_size (value) == 0))
    refuse_value (object, name);
}

void
qm_config_require_word (QmJsonObject *object,
                        const char *name,
                        const char *only)
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
  NULL,
};

bool
qm_config_is_null (const QmJsonObject *object, const char *name)
{
  return json_is_null (json_object_get (object->json, name));
}

static bool
is_among (const char *name, const char *const *list)
{
  for (; list != NULL && *list != NULL; list++)
    if (strcmp (*list, name) == 0)
      return true;
  return false;
}

void
qm_config_refuse_nulls (QmJsonObject *object, const char *const *except)
{
  for (size_t i = 0; i < object->n_read; i++)
    if (qm_config_is_null (object, object->read[i])
        && !is_among (object->read[i], nullable)
        && !is_among (object->read[i], except))
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

void
qm_config_problem (QmJsonObject *object)
{
  qm_config_require_word (object, "problem_type",
                          "single_label_classification");
}

void
qm_config_require_number (QmJsonObject *object, const char *name, double only)
{
  double number = qm_json_number_or (object, name, -1e300, 1e300, only);

  if (number < only || number > only)
    qm_json_fail (object, name, QM_STATUS_UNSUPPORTED,
                  "only %.10g is supported", only);
}

static void
read_common (QmJsonObject *object)
{
  /* Ties no weights, but copies them. */
  qm_config_require_switch (object, "torchscript", false);
  /* Counts where a head classifies alone, and is read there. */
  qm_json_take (object, "problem_type");
  qm_config_require_switch (object, "is_encoder_decoder", false);
  qm_config_require_switch (object, "is_decoder", false);
  qm_config_require_switch (object, "add_cross_attention", false);
  qm_config_require_switch (object, "tie_encoder_decoder", false);
  qm_config_require_empty (object, "cross_attention_hidden_size");
  qm_config_require_empty (object, "pruned_heads");
  qm_config_require_empty (object, "quantization_config");
  qm_config_require_empty (object, "auto_map");
}

QmActivation
qm_config_activation (QmJsonObject *object,
                      const char *name,
                      QmActivation absent)
{
  static const struct
  {
    const char *name;
    QmActivation activation;
  } known[] = {
    { "gelu", QM_ACTIVATION_GELU },
    { "gelu_python", QM_ACTIVATION_GELU },
    { "gelu_new", QM_ACTIVATION_GELU_NEW },
    { "gelu_fast", QM_ACTIVATION_GELU_NEW },
    { "gelu_pytorch_tanh", QM_ACTIVATION_GELU_TANH },
    { "relu", QM_ACTIVATION_RELU },
    { "relu2", QM_ACTIVATION_RELU2 },
    { "quick_gelu", QM_ACTIVATION_QUICK_GELU },
    { "silu", QM_ACTIVATION_SILU },
    { "swish", QM_ACTIVATION_SILU },
  };
  const char *word = qm_json_string (object, name, false);
  char quoted[QM_QUOTE_BYTES];

  if (word == NULL)
    return absent;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp (known[i].name, word) == 0)
      return known[i].activation;
  qm_json_fail (
      object, name, QM_STATUS_UNSUPPORTED,
      "%s is not supported; gelu, gelu_new, quick_gelu, relu, relu2 and "
      "silu are",
      qm_text_quote (word, quoted));
  return QM_ACTIVATION_GELU;
}

void
qm_config_check_heads (QmJsonObject *object, int64_t hidden_size, int64_t heads)
{
  if (object->status == QM_OK && hidden_size % heads != 0)
    qm_json_fail (object, "num_attention_heads", QM_STATUS_INVALID,
                  "hidden_size %lld is not divisible by %lld heads",
                  (long long) hidden_size, (long long) heads);
}

void
qm_config_check_turned_heads (QmJsonObject *object,
                              int64_t hidden_size,
                              int64_t heads)
{
  qm_config_check_heads (object, hidden_size, heads);
  if (object->status == QM_OK && hidden_size / heads % 2 != 0)
    qm_json_fail (object, "num_attention_heads", QM_STATUS_INVALID,
                  "heads of %lld elements cannot be rotated",
                  (long long) (hidden_size / heads));
}

void
qm_config_check_key_heads (QmJsonObject *object,
                           int64_t heads,
                           int64_t key_heads)
{
  if (object->status == QM_OK && heads % key_heads != 0)
    qm_json_fail (object, "num_key_value_heads", QM_STATUS_INVALID,
                  "%lld heads are not divisible by %lld", (long long) heads,
                  (long long) key_heads);
}

int64_t
qm_config_classes (QmJsonObject *object)
{
  json_t *labels = qm_json_take (object, "id2label");
  int64_t count = qm_json_integer_or (object, "num_labels", 1, QM_MAX_VOCAB, 0);
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

static double
absent_of (const QmFamilyInfo *info, const QmField *field)
{
  for (const QmFieldDefault *own = info->defaults;
       own != NULL && own->name != NULL; own++)
    if (strcmp (own->name, field->name) == 0)
      return own->absent;
  return field->absent;
}

static int
read_word_field (QmJsonObject *object, const QmField *field, int absent)
{
  const char *word = qm_json_string (object, field->key, false);
  char quoted[QM_QUOTE_BYTES];

  for (int i = 0; word != NULL && field->words[i] != NULL; i++)
    if (strcmp (field->words[i], word) == 0)
      return i;
  if (word != NULL)
    qm_json_fail (object, field->key, QM_STATUS_UNSUPPORTED,
                  "%s is not supported", qm_text_quote (word, quoted));
  return absent;
}

static double
read_number_field (QmJsonObject *object, const QmField *field, double absent)
{
  double value =
      isnan (absent)
          ? qm_json_number (object, field->key, field->min, field->max)
          : qm_json_number_or (object, field->key, field->min, field->max,
                               absent);

  if (field->kind == QM_FIELD_PROBABILITY && value >= 1)
    qm_json_fail (object, field->key, QM_STATUS_INVALID,
                  "a probability of 1 leaves nothing");
  return value;
}

static void
read_field (QmJsonObject *object,
            const QmField *field,
            double absent,
            void *value)
{
  const int64_t min = (int64_t) field->min, max = (int64_t) field->max;

  switch (field->kind)
    {
    case QM_FIELD_WHOLE:
      *(int64_t *) value = isnan (absent)
                               ? qm_json_integer (object, field->key, min, max)
                               : qm_json_integer_or (object, field->key, min,
                                                     max, (int64_t) absent);
      break;
    case QM_FIELD_NUMBER:
    case QM_FIELD_PROBABILITY:
      *(double *) value = read_number_field (object, field, absent);
      break;
    case QM_FIELD_SWITCH:
      *(bool *) value = qm_json_boolean_or (object, field->key, absent > 0);
      break;
    case QM_FIELD_ACTIVATION:
      *(QmActivation *) value =
          qm_config_activation (object, field->key,
                                (QmActivation) (int) absent);
      break;
    case QM_FIELD_WORD:
      *(int *) value = read_word_field (object, field, (int) absent);
      break;
    case QM_FIELD_STAGES:
    case QM_FIELD_LAYERS:
      break; /* the family's own function reads them */
    }
}

/* Those of a section, or without one. */
static void
read_fields (QmJsonObject *object, const char *section, QmModelConfig *config)
{
  const QmFamilyInfo *info = qm_family_info (config->family);

  for (size_t i = 0; i < info->n_fields; i++)
    {
      const QmField *field = &info->fields[i];
      bool here = section != NULL && field->section != NULL
                      ? strcmp (section, field->section) == 0
                      : section == field->section;

      if (here && (field->apart & QM_FIELD_READ_APART) == 0)
        read_field (object, field, absent_of (info, field),
                    (char *) config + field->offset);
    }
}

static void
read_section (QmJsonObject *object,
              const QmSection *section,
              QmModelConfig *config)
{
  const QmFamilyInfo *info = qm_family_info (config->family);
  json_t *nothing = json_object ();
  const char *from = section->name;
  QmJsonObject part;

  if (section->whole != NULL)
    {
      qm_json_take (object, from);
      from = section->whole;
      if (!qm_json_has (object, from))
        {
          qm_json_take (object, from);
          from = section->name;
        }
    }
  part = (QmJsonObject){ .source = object->source,
                         .json = nothing,
                         .parent = object,
                         .section = from,
                         .status = object->status,
                         .error = object->error };
  if (qm_json_has (object, from))
    qm_json_enter (object, from, &part);
  else
    qm_json_take (object, from);
  part.lax = true;
  read_common (&part);
  qm_json_take (&part, "architectures");
  read_fields (&part, section->name, config);
  info->read_section (&part, section->name, config);
  qm_config_refuse_nulls (&part, info->nullable);
  object->status = qm_json_finish (&part, harmless);
  json_decref (nothing);
}

static void
read_family (QmJsonObject *object, QmModelConfig *config)
{
  const QmFamilyInfo *info = qm_family_info (config->family);

  read_fields (object, NULL, config);
  for (const QmSection *section = info->sections;
       section != NULL && section->name != NULL; section++)
    read_section (object, section, config);
  if (info->read != NULL)
    info->read (object, config);
  qm_config_refuse_nulls (object, info->nullable);
}

/* "a, b and c", of all families. */
static void
list_families (char *text, size_t size)
{
  size_t n = 0;

  for (int i = 0; i < QM_FAMILY_COUNT && n < size; i++)
    n += (size_t) snprintf (text + n, size - n, "%s%s",
                            i == 0                     ? ""
                            : i == QM_FAMILY_COUNT - 1 ? " and "
                                                       : ", ",
                            qm_family_name ((QmFamily) i));
}

/* Models of diffusers name a class, where those of Transformers have a type;
 * those of mamba_ssm, of which the hub has the first files of Mamba, neither.
 */
static const char *
read_type (QmJsonObject *object)
{
  static const char *const dit[] = { "DiTTransformer2DModel",
                                     "Transformer2DModel", NULL };
  char quoted[QM_QUOTE_BYTES];
  const char *class;

  if (qm_json_has (object, "model_type"))
    return qm_json_string (object, "model_type", true);
  class = qm_json_string (object, "_class_name", false);
  if (class != NULL && is_among (class, dit))
    return qm_family_name (QM_FAMILY_DIT);
  if (class != NULL)
    qm_json_fail (object, "_class_name", QM_STATUS_UNSUPPORTED,
                  "%s is not supported; %s and %s are",
                  qm_text_quote (class, quoted), dit[0], dit[1]);
  else if (qm_json_has (object, "d_model") && qm_json_has (object, "ssm_cfg"))
    qm_json_fail (object, "ssm_cfg", QM_STATUS_UNSUPPORTED,
                  "the file is one of the package mamba_ssm; what is read is a "
                  "config.json of Transformers, whose model_type is mamba or "
                  "mamba2");
  return qm_json_string (object, "model_type", true);
}

QmStatus
qm_model_config_read (QmJsonObject *object, QmModelConfig *config)
{
  const char *type = read_type (object);
  char quoted[QM_QUOTE_BYTES], list[QM_MESSAGE_BYTES];

  if (object->status != QM_OK)
    return object->status;
  memset (config, 0, sizeof *config);
  for (int i = 0; i < QM_FAMILY_COUNT; i++)
    if (strcmp (type, qm_family_name ((QmFamily) i)) == 0)
      {
        config->family = (QmFamily) i;
        read_common (object);
        read_architectures (object, config);
        object->lax = true;
        read_family (object, config);
        return qm_json_finish (object, harmless);
      }
  list_families (list, sizeof list);
  qm_json_fail (object, "model_type", QM_STATUS_UNSUPPORTED,
                "%s is not supported; %s are", qm_text_quote (type, quoted),
                list);
  return object->status;
}
