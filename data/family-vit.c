/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-counts.h"
#include "data/family-read.h"

#define QM_MEMBER vit

static const QmField fields[] = {
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (image_size, "image_size", QM_MAX_IMAGE, 224),
  QM_COUNT (patch_size, "patch_size", QM_MAX_IMAGE, 16),
  QM_COUNT (channels, "num_channels", QM_MAX_CHANNELS, 3),
  QM_COUNT (classes, "num_labels", QM_MAX_VOCAB, 2, QM_READ_APART),
  QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-12),
  QM_SHARE (hidden_dropout, "hidden_dropout_prob", 0),
  QM_SHARE (attention_dropout, "attention_probs_dropout_prob", 0),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_GELU),
  QM_SWITCH (qkv_bias, "qkv_bias", true),
};

static const char *const nullable[] = { "tie_word_embeddings", NULL };

static void
read_vit (QmJsonObject *object, QmModelConfig *model)
{
  QmVitConfig *config = &model->vit;

  config->classes = qm_config_classes (object);
  qm_config_problem (object);
  /* Of the heads for other tasks and of models of text. */
  qm_json_take (object, "encoder_stride");
  qm_json_take (object, "pooler_output_size");
  qm_json_take (object, "pooler_act");
  qm_json_take (object, "tie_word_embeddings");
  qm_config_check_heads (object, config->hidden_size, config->heads);
  if (object->status == QM_OK && config->image_size < config->patch_size)
    qm_json_fail (object, "patch_size", QM_STATUS_INVALID,
                  "is larger than the image");
}

static int64_t
vit_image_size (const QmModelConfig *model)
{
  return model->vit.image_size;
}

static int64_t
patches (const QmVitConfig *config)
{
  int64_t side = config->image_size / config->patch_size;

  return side * side;
}

static double
vit_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmVitConfig *config = &model->vit;
  double hidden = (double) config->hidden_size;
  double n = (double) patches (config);
  double tokens = n + 1;
  double elements =
      (double) qm_count_patch (config->channels, config->patch_size);
  double layer =
      qm_count_transformer (tokens, hidden, (double) config->intermediate_size)
      + qm_count_attention (tokens, hidden);

  (void) recipe;
  return qm_count_product (n, elements, hidden)
         + (double) config->layers * layer
         + qm_count_product (1, hidden, (double) config->classes);
}

static int64_t
vit_parameters (const QmModelConfig *model)
{
  const QmVitConfig *config = &model->vit;
  int64_t hidden = config->hidden_size;
  int64_t elements = qm_count_patch (config->channels, config->patch_size);

  return hidden + (patches (config) + 1) * hidden
         + qm_count_linear (elements, hidden, true)
         + config->layers
               * qm_count_transformer_layer (hidden, config->intermediate_size,
                                             config->qkv_bias, true)
         + qm_count_layer_norm (hidden)
         + qm_count_linear (hidden, config->classes, true);
}

const QmFamilyInfo qm_vit_family = {
  .name = "vit",
  .architecture = "ViTForImageClassification",
  .block = "ViTLayer",
  .objective = QM_OBJECTIVE_CLASS_OF_IMAGE,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_vit,
  .image_size = vit_image_size,
  .flops = vit_flops,
  .parameters = vit_parameters,
};
