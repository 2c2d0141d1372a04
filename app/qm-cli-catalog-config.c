/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"

#include <stddef.h>

typedef enum
{
  FIELD_INTEGER,
  FIELD_REAL,
  FIELD_BOOLEAN,
  FIELD_ACTIVATION
} FieldType;

typedef struct
{
  const char *key;
  FieldType type;
  gsize offset;
} Field;

/* The contents of a Field. */
#define INTEGER(Type, field)    #field, FIELD_INTEGER, offsetof(Type, field)
#define REAL(Type, field)       #field, FIELD_REAL, offsetof(Type, field)
#define BOOLEAN(Type, field)    #field, FIELD_BOOLEAN, offsetof(Type, field)
#define ACTIVATION(Type, field) #field, FIELD_ACTIVATION, offsetof(Type, field)

static const Field gpt_neox_fields[] = {
  { INTEGER (QmGptNeoxConfig, vocab_size) },
  { INTEGER (QmGptNeoxConfig, hidden_size) },
  { INTEGER (QmGptNeoxConfig, layers) },
  { INTEGER (QmGptNeoxConfig, heads) },
  { INTEGER (QmGptNeoxConfig, intermediate_size) },
  { INTEGER (QmGptNeoxConfig, max_positions) },
  { REAL (QmGptNeoxConfig, rotary_pct) },
  { REAL (QmGptNeoxConfig, rotary_base) },
  { REAL (QmGptNeoxConfig, layer_norm_eps) },
  { REAL (QmGptNeoxConfig, hidden_dropout) },
  { REAL (QmGptNeoxConfig, attention_dropout) },
  { REAL (QmGptNeoxConfig, initializer_range) },
  { ACTIVATION (QmGptNeoxConfig, activation) },
  { BOOLEAN (QmGptNeoxConfig, parallel_residual) },
  { BOOLEAN (QmGptNeoxConfig, attention_bias) },
  { BOOLEAN (QmGptNeoxConfig, tie_word_embeddings) },
};

static const Field bert_fields[] = {
  { INTEGER (QmBertConfig, vocab_size) },
  { INTEGER (QmBertConfig, hidden_size) },
  { INTEGER (QmBertConfig, layers) },
  { INTEGER (QmBertConfig, heads) },
  { INTEGER (QmBertConfig, intermediate_size) },
  { INTEGER (QmBertConfig, max_positions) },
  { INTEGER (QmBertConfig, type_vocab_size) },
  { INTEGER (QmBertConfig, pad_token_id) },
  { REAL (QmBertConfig, layer_norm_eps) },
  { REAL (QmBertConfig, hidden_dropout) },
  { REAL (QmBertConfig, attention_dropout) },
  { REAL (QmBertConfig, initializer_range) },
  { ACTIVATION (QmBertConfig, activation) },
  { BOOLEAN (QmBertConfig, tie_word_embeddings) },
};

static const Field vit_fields[] = {
  { INTEGER (QmVitConfig, hidden_size) },
  { INTEGER (QmVitConfig, layers) },
  { INTEGER (QmVitConfig, heads) },
  { INTEGER (QmVitConfig, intermediate_size) },
  { INTEGER (QmVitConfig, image_size) },
  { INTEGER (QmVitConfig, patch_size) },
  { INTEGER (QmVitConfig, channels) },
  { INTEGER (QmVitConfig, classes) },
  { REAL (QmVitConfig, layer_norm_eps) },
  { REAL (QmVitConfig, hidden_dropout) },
  { REAL (QmVitConfig, attention_dropout) },
  { REAL (QmVitConfig, initializer_range) },
  { ACTIVATION (QmVitConfig, activation) },
  { BOOLEAN (QmVitConfig, qkv_bias) },
};

static const Field convnext_fields[] = {
  { INTEGER (QmConvnextConfig, patch_size) },
  { INTEGER (QmConvnextConfig, channels) },
  { INTEGER (QmConvnextConfig, image_size) },
  { INTEGER (QmConvnextConfig, classes) },
  { REAL (QmConvnextConfig, layer_norm_eps) },
  { REAL (QmConvnextConfig, layer_scale_init) },
  { REAL (QmConvnextConfig, drop_path_rate) },
  { REAL (QmConvnextConfig, initializer_range) },
  { ACTIVATION (QmConvnextConfig, activation) },
};

static const Field mamba_fields[] = {
  { INTEGER (QmMambaConfig, vocab_size) },
  { INTEGER (QmMambaConfig, hidden_size) },
  { INTEGER (QmMambaConfig, layers) },
  { INTEGER (QmMambaConfig, state_size) },
  { INTEGER (QmMambaConfig, inner_size) },
  { INTEGER (QmMambaConfig, conv_kernel) },
  { INTEGER (QmMambaConfig, time_step_rank) },
  { REAL (QmMambaConfig, norm_eps) },
  { REAL (QmMambaConfig, initializer_range) },
  { REAL (QmMambaConfig, time_step_min) },
  { REAL (QmMambaConfig, time_step_max) },
  { REAL (QmMambaConfig, time_step_floor) },
  { REAL (QmMambaConfig, time_step_scale) },
  { BOOLEAN (QmMambaConfig, time_step_random) },
  { BOOLEAN (QmMambaConfig, rescale_prenorm_residual) },
  { BOOLEAN (QmMambaConfig, use_bias) },
  { BOOLEAN (QmMambaConfig, use_conv_bias) },
  { BOOLEAN (QmMambaConfig, residual_in_fp32) },
  { BOOLEAN (QmMambaConfig, tie_word_embeddings) },
};

/* As Hugging Face configurations name them. */
static const char *
activation_name (QmActivation activation)
{
  switch (activation)
    {
    case QM_ACTIVATION_GELU:
      return "gelu";
    case QM_ACTIVATION_GELU_TANH:
      return "gelu_pytorch_tanh";
    case QM_ACTIVATION_RELU:
      return "relu";
    case QM_ACTIVATION_SILU:
    default:
      return "silu";
    }
}

static json_t *
field_json (const void *config, const Field *field)
{
  const void *value = (const char *) config + field->offset;

  switch (field->type)
    {
    case FIELD_INTEGER:
      /* A padding token that there is not. */
      return *(const int64_t *) value < 0
                 ? json_null ()
                 : json_integer (*(const int64_t *) value);
    case FIELD_REAL:
      return json_real (*(const double *) value);
    case FIELD_BOOLEAN:
      return json_boolean (*(const bool *) value);
    case FIELD_ACTIVATION:
    default:
      return json_string (activation_name (*(const QmActivation *) value));
    }
}

static void
add_fields (json_t *object, const void *config, const Field *fields, guint n)
{
  for (guint i = 0; i < n; i++)
    json_object_set_new (object, fields[i].key,
                         field_json (config, &fields[i]));
}

static json_t *
integers_json (const int64_t *values, int64_t n)
{
  json_t *array = json_array ();

  for (int64_t i = 0; i < n; i++)
    json_array_append_new (array, json_integer (values[i]));
  return array;
}

json_t *
qm_cli_catalog_config_json (const QmModelConfig *config)
{
  json_t *object = json_object ();

  switch (config->family)
    {
    case QM_FAMILY_GPT_NEOX:
      add_fields (object, &config->gpt_neox, gpt_neox_fields,
                  G_N_ELEMENTS (gpt_neox_fields));
      break;
    case QM_FAMILY_BERT:
    case QM_FAMILY_ROBERTA:
      add_fields (object, &config->bert, bert_fields,
                  G_N_ELEMENTS (bert_fields));
      break;
    case QM_FAMILY_VIT:
      add_fields (object, &config->vit, vit_fields, G_N_ELEMENTS (vit_fields));
      break;
    case QM_FAMILY_CONVNEXT:
      json_object_set_new (object, "depths",
                           integers_json (config->convnext.depths,
                                          config->convnext.stages));
      json_object_set_new (object, "hidden_sizes",
                           integers_json (config->convnext.hidden_sizes,
                                          config->convnext.stages));
      add_fields (object, &config->convnext, convnext_fields,
                  G_N_ELEMENTS (convnext_fields));
      break;
    case QM_FAMILY_MAMBA:
      add_fields (object, &config->mamba, mamba_fields,
                  G_N_ELEMENTS (mamba_fields));
      break;
    default:
      break;
    }
  return object;
}
