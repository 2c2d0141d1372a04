/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family.h"

#include <string.h>

static const QmFamilyInfo *const families[QM_FAMILY_COUNT] = {
  [QM_FAMILY_GPT_NEOX] = &qm_gpt_neox_family,
  [QM_FAMILY_BERT] = &qm_bert_family,
  [QM_FAMILY_ROBERTA] = &qm_roberta_family,
  [QM_FAMILY_VIT] = &qm_vit_family,
  [QM_FAMILY_CONVNEXT] = &qm_convnext_family,
  [QM_FAMILY_MAMBA] = &qm_mamba_family,
  [QM_FAMILY_LLAMA] = &qm_llama_family,
  [QM_FAMILY_MISTRAL] = &qm_mistral_family,
  [QM_FAMILY_QWEN2] = &qm_qwen2_family,
  [QM_FAMILY_QWEN3] = &qm_qwen3_family,
  [QM_FAMILY_OLMO2] = &qm_olmo2_family,
  [QM_FAMILY_OLMO3] = &qm_olmo3_family,
  [QM_FAMILY_SMOLLM3] = &qm_smollm3_family,
  [QM_FAMILY_GEMMA3_TEXT] = &qm_gemma3_text_family,
  [QM_FAMILY_GPT2] = &qm_gpt2_family,
  [QM_FAMILY_MODERNBERT] = &qm_modernbert_family,
  [QM_FAMILY_ESM] = &qm_esm_family,
  [QM_FAMILY_OLMOE] = &qm_olmoe_family,
  [QM_FAMILY_QWEN3_MOE] = &qm_qwen3_moe_family,
  [QM_FAMILY_MIXTRAL] = &qm_mixtral_family,
  [QM_FAMILY_DINOV2] = &qm_dinov2_family,
  [QM_FAMILY_DINOV2_WITH_REGISTERS] = &qm_dinov2_with_registers_family,
  [QM_FAMILY_DINOV3_VIT] = &qm_dinov3_vit_family,
  [QM_FAMILY_VIT_MAE] = &qm_vit_mae_family,
  [QM_FAMILY_DIT] = &qm_dit_family,
  [QM_FAMILY_CLIP] = &qm_clip_family,
  [QM_FAMILY_SIGLIP] = &qm_siglip_family,
  [QM_FAMILY_STARCODER2] = &qm_starcoder2_family,
  [QM_FAMILY_MAMBA2] = &qm_mamba2_family,
};

const QmFamilyInfo *
qm_family_info (QmFamily family)
{
  return families[family];
}

const QmField *
qm_family_field (QmFamily family, const char *name)
{
  const QmFamilyInfo *info = families[family];

  for (size_t i = 0; i < info->n_fields; i++)
    if (strcmp (info->fields[i].name, name) == 0)
      return &info->fields[i];
  return NULL;
}

int64_t
qm_field_count (const QmModelConfig *config, const QmField *field)
{
  return *(const int64_t *) (const void *) ((const char *) config
                                            + field->count);
}

const char *
qm_family_architecture (QmFamily family)
{
  return families[family]->architecture;
}

const char *
qm_family_name (QmFamily family)
{
  return families[family]->name;
}

bool
qm_family_has_images (QmFamily family)
{
  QmObjective objective = families[family]->objective;

  return objective == QM_OBJECTIVE_CLASS_OF_IMAGE
         || objective == QM_OBJECTIVE_HIDDEN_PIXELS
         || objective == QM_OBJECTIVE_NOISE || objective == QM_OBJECTIVE_PAIRS;
}

bool
qm_family_has_dropout (QmFamily family)
{
  return qm_family_field (family, "hidden_dropout") != NULL;
}

int64_t
qm_model_positions (const QmModelConfig *config)
{
  const QmFamilyInfo *info = families[config->family];

  return info->positions != NULL ? info->positions (config) : 0;
}

bool
qm_model_has_teacher (const QmModelConfig *config)
{
  const QmFamilyInfo *info = families[config->family];

  return info->has_teacher != NULL && info->has_teacher (config);
}

bool
qm_model_has_z_loss (const QmModelConfig *config)
{
  QmObjective objective = families[config->family]->objective;

  return (objective == QM_OBJECTIVE_NEXT_TOKEN
          || objective == QM_OBJECTIVE_MASKED_TOKENS
          || objective == QM_OBJECTIVE_CLASS_OF_IMAGE)
         && !qm_model_has_teacher (config);
}

bool
qm_model_has_mask (const QmModelConfig *config, int64_t tokens)
{
  const QmFamilyInfo *info = families[config->family];

  return info->has_mask == NULL || info->has_mask (config, tokens);
}

int64_t
qm_model_image_size (const QmModelConfig *config)
{
  const QmFamilyInfo *info = families[config->family];

  return info->image_size != NULL ? info->image_size (config) : 0;
}

bool
qm_model_composes_gelu (const QmModelConfig *config)
{
  const QmFamilyInfo *info = families[config->family];

  for (size_t i = 0; i < info->n_fields; i++)
    if (info->fields[i].kind == QM_FIELD_ACTIVATION
        && *(const QmActivation *) qm_field_at (config, &info->fields[i])
               == QM_ACTIVATION_GELU_NEW)
      return true;
  return false;
}

double
qm_model_initializer_range (const QmModelConfig *config)
{
  const QmField *field = qm_family_field (config->family, "initializer_range");

  return field != NULL ? *(const double *) qm_field_at (config, field) : 0;
}

/* As configurations have it. */
static const char *
activation_name (QmActivation activation)
{
  switch (activation)
    {
    case QM_ACTIVATION_GELU:
      return "gelu";
    case QM_ACTIVATION_GELU_TANH:
      return "gelu_pytorch_tanh";
    case QM_ACTIVATION_GELU_NEW:
      return "gelu_new";
    case QM_ACTIVATION_RELU:
      return "relu";
    case QM_ACTIVATION_RELU2:
      return "relu2";
    case QM_ACTIVATION_QUICK_GELU:
      return "quick_gelu";
    case QM_ACTIVATION_SILU:
      break;
    }
  return "silu";
}

static json_t *
list_json (const QmModelConfig *config, const QmField *field)
{
  const int64_t *stages = qm_field_at (config, field);
  const uint64_t *bits = qm_field_at (config, field);
  json_t *array = json_array ();

  for (int64_t i = 0; i < qm_field_count (config, field); i++)
    if (field->kind == QM_FIELD_STAGES)
      json_array_append_new (array, json_integer ((json_int_t) stages[i]));
    else
      json_array_append_new (array, json_boolean (qm_layers_have (bits, i)));
  return array;
}

static json_t *
field_json (const QmModelConfig *config, const QmField *field)
{
  const void *value = qm_field_at (config, field);

  switch (field->kind)
    {
    case QM_FIELD_WHOLE:
      return *(const int64_t *) value < 0
                 ? json_null ()
                 : json_integer ((json_int_t) * (const int64_t *) value);
    case QM_FIELD_NUMBER:
    case QM_FIELD_PROBABILITY:
      return json_real (*(const double *) value);
    case QM_FIELD_SWITCH:
      return json_boolean (*(const bool *) value);
    case QM_FIELD_ACTIVATION:
      return json_string (activation_name (*(const QmActivation *) value));
    case QM_FIELD_WORD:
      return json_string (field->words[*(const int *) value]);
    case QM_FIELD_STAGES:
    case QM_FIELD_LAYERS:
      break;
    }
  return list_json (config, field);
}

bool
qm_field_is_there (const QmModelConfig *config, const QmField *field)
{
  const void *value = qm_field_at (config, field);

  if ((field->apart & QM_FIELD_OPTIONAL) == 0)
    return true;
  return field->kind == QM_FIELD_WHOLE ? *(const int64_t *) value != 0
                                       : *(const double *) value > 0;
}

/* The object that a field stands in. */
static json_t *
section_of (json_t *object, const QmField *field)
{
  if (field->section == NULL)
    return object;
  if (json_object_get (object, field->section) == NULL)
    json_object_set_new (object, field->section, json_object ());
  return json_object_get (object, field->section);
}

json_t *
qm_model_config_json (const QmModelConfig *config, bool keys)
{
  const QmFamilyInfo *info = families[config->family];
  const unsigned left_out = keys ? QM_FIELD_WRITTEN_APART : QM_FIELD_UNLISTED;
  json_t *object = json_object ();

  if (keys)
    json_object_set_new (object, "model_type", json_string (info->name));
  for (size_t i = 0; i < info->n_fields; i++)
    if ((info->fields[i].apart & left_out) == 0
        && qm_field_is_there (config, &info->fields[i]))
      json_object_set_new (keys ? section_of (object, &info->fields[i])
                                : object,
                           keys ? info->fields[i].key : info->fields[i].name,
                           field_json (config, &info->fields[i]));
  if (keys && info->write != NULL)
    info->write (object, config);
  return object;
}
