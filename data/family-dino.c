/* SPDX-License-Identifier: Apache-2.0 */

/* The backbones of DINOv2, without and with registers, and of DINOv3, under a
 * head that classifies: supervised training.  With head_n_prototypes it is the
 * training that they are named for: class tokens of crops learn, through a head
 * of their own, what a teacher says of others of the same image (Caron et al.
 * 2021; Oquab et al. 2023, 4); with ibot_head_n_prototypes, patches of one of
 * the two crops of each image that are hidden from the student learn what it
 * says of them (Zhou et al. 2022), and with koleo_loss_weight features are
 * spread.  Transformers has no fields for that: they are called as in
 * facebookresearch/dinov2, dinov2/configs, but for mask_ratio: there of half of
 * the crops 10 to 50 % are hidden, here of one of the two so many.  Not there,
 * by name: gains of prototypes, which are 1 as in DINO; schedules of
 * temperature, decay and weight decay; the Gram anchoring of DINOv3.  Shares
 * and nearest neighbours are those of each micro-batch of a rank.  What
 * drop_path_rate leaves out of a branch of the student is not computed there,
 * as it is of models that learn from labels.
 *
 * DINOv2 is as Transformers 4 and 5 have it, but for dropout of hidden states,
 * which is behind attention, too, in 4 and not in 5: any is refused.  Of DINOv3
 * Transformers has no class with a head: the one here is a linear layer on the
 * normed class token, `classifier` in files.
 *
 * Read, and ignored, since nothing of training depends on it:
 *   apply_layernorm, reshape_hidden_states, return_class_token,
 *   out_features, out_indices, stage_names    of backbones of detectors
 *   use_mask_token                            the token stands for hidden
 *                                             patches, of which there are none:
 *                                             it has no gradient, PyTorch's
 *                                             optimizers pass it over, and it
 *                                             is no parameter here
 *   hidden_act of DINOv2 with use_swiglu_ffn  the gate is silu whatever it says
 *   image_size of DINOv3                      positions are those of the images
 *                                             that come
 */

#include "data/family-counts.h"
#include "data/family-read.h"

#include <string.h>

#define QM_MEMBER dino

#define MAX_REGISTERS 1024
#define MAX_RATIO     64
/* In the place of patches, as DINOv3's rescale is if nothing is said. */
#define RESCALE     2
#define MAX_RESCALE 1e3

#define SIZES                                                             \
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),      \
      QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED), \
      QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED), \
      QM_COUNT (channels, "num_channels", QM_MAX_CHANNELS, 3),            \
      QM_COUNT (classes, "num_labels", QM_MAX_VOCAB, 2, QM_READ_APART),   \
      QM_NUMBER (layer_scale_init, "layerscale_value", 0, 10, 1),         \
      QM_SHARE (drop_path_rate, "drop_path_rate", 0),                     \
      QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),    \
      QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_GELU)

/* Temperatures that exponentials of cosines stay in fp32 with. */
#define MIN_TEMPERATURE 0.03
#define MAX_HEAD_LAYERS 16
#define MAX_CROPS       64

#define TAUGHT .apart = QM_FIELD_READ_APART | QM_FIELD_OPTIONAL

#define MAX_SPREAD 100

#define DISTILLATION                                                         \
  QM_WHOLE (prototypes, "head_n_prototypes", 0, QM_MAX_VOCAB, 0, TAUGHT),    \
      QM_COUNT (head_hidden, "head_hidden_dim", QM_MAX_INNER, 2048, TAUGHT), \
      QM_COUNT (head_bottleneck, "head_bottleneck_dim", QM_MAX_INNER, 256,   \
                TAUGHT),                                                     \
      QM_WHOLE (head_layers, "head_nlayers", 2, MAX_HEAD_LAYERS, 3, TAUGHT), \
      QM_COUNT (local_crops, "local_crops_number", MAX_CROPS, 8, TAUGHT),    \
      QM_COUNT (local_size, "local_crops_size", QM_MAX_IMAGE, 96, TAUGHT),   \
      QM_NUMBER (teacher_temperature, "teacher_temp", MIN_TEMPERATURE, 1,    \
                 0.07, TAUGHT),                                              \
      QM_NUMBER (spread, "koleo_loss_weight", 0, MAX_SPREAD, 0, TAUGHT),     \
      QM_WHOLE (patch_prototypes, "ibot_head_n_prototypes", 0, QM_MAX_VOCAB, \
                0, TAUGHT),                                                  \
      QM_COUNT (patch_bottleneck, "ibot_head_bottleneck_dim", QM_MAX_INNER,  \
                256, TAUGHT),                                                \
      QM_NUMBER (mask_ratio, "mask_ratio", 0.001, 0.999, 0.3, TAUGHT)

#define DINOV2                                                          \
  SIZES, DISTILLATION, QM_COUNT (mlp_ratio, "mlp_ratio", MAX_RATIO, 4), \
      QM_COUNT (patch_size, "patch_size", QM_MAX_IMAGE, 14),            \
      QM_COUNT (image_size, "image_size", QM_MAX_IMAGE, 224),           \
      QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-6),         \
      QM_SHARE (attention_dropout, "attention_probs_dropout_prob", 0),  \
      QM_SWITCH (query_bias, "qkv_bias", true),                         \
      QM_SWITCH (gated, "use_swiglu_ffn", false)

static const QmField dinov2_fields[] = { DINOV2 };

static const QmField registers_fields[] = {
  DINOV2,
  QM_WHOLE (registers, "num_register_tokens", 0, MAX_REGISTERS, 4),
};

static const QmField dinov3_fields[] = {
  SIZES,
  DISTILLATION,
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (patch_size, "patch_size", QM_MAX_IMAGE, 16),
  QM_WHOLE (registers, "num_register_tokens", 0, MAX_REGISTERS, 0),
  QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-5),
  QM_SHARE (attention_dropout, "attention_dropout", 0),
  QM_NUMBER (rope_theta, "rope_theta", 1.0001, 1e12, 100),
  QM_NUMBER (move, "pos_embed_shift", 0, 0, 0, QM_APART),
  QM_NUMBER (jitter, "pos_embed_jitter", 0, 0, 0, QM_APART),
  QM_NUMBER (rescale, "pos_embed_rescale", 0, 0, 0, QM_APART),
  QM_SWITCH (query_bias, "query_bias", true),
  QM_SWITCH (key_bias, "key_bias", false),
  QM_SWITCH (value_bias, "value_bias", true),
  QM_SWITCH (output_bias, "proj_bias", true),
  QM_SWITCH (mlp_bias, "mlp_bias", true),
  QM_SWITCH (gated, "use_gated_mlp", false),
};

static const QmFieldDefault registers_defaults[] = { { "patch_size", 16 },
                                                     { NULL, 0 } };

static const char *const nullable[] = {
  "tie_word_embeddings", "out_features",     "out_indices",       "stage_names",
  "pos_embed_shift",     "pos_embed_jitter", "pos_embed_rescale", NULL
};

/* Fields of what is not there are nothing that we know. */
static void
read_distillation (QmJsonObject *object, QmModelConfig *model)
{
  const QmFamilyInfo *info = qm_family_info (model->family);
  QmDinoConfig *config = &model->dino;

  for (size_t i = 0; i < info->n_fields; i++)
    {
      const QmField *field = &info->fields[i];
      char *at = (char *) model + field->offset;
      bool of_patches = strcmp (field->name, "patch_bottleneck") == 0
                        || strcmp (field->name, "mask_ratio") == 0;

      if ((field->apart & QM_FIELD_OPTIONAL) == 0
          || (of_patches && config->patch_prototypes == 0))
        continue;
      if (config->prototypes == 0 && strcmp (field->name, "prototypes") != 0)
        return;
      if (field->kind == QM_FIELD_WHOLE)
        *(int64_t *) (void *) at =
            qm_json_integer_or (object, field->key, (int64_t) field->min,
                                (int64_t) field->max, (int64_t) field->absent);
      else
        *(double *) (void *) at =
            qm_json_number_or (object, field->key, field->min, field->max,
                               field->absent);
    }
  if (object->status == QM_OK && config->local_size < config->patch_size)
    qm_json_fail (object, "local_crops_size", QM_STATUS_INVALID,
                  "is smaller than a patch");
}

static void
read_common (QmJsonObject *object, QmModelConfig *model)
{
  QmDinoConfig *config = &model->dino;

  read_distillation (object, model);
  config->classes = qm_config_classes (object);
  qm_config_problem (object);
  qm_config_check_heads (object, config->hidden_size, config->heads);
  qm_json_take (object, "apply_layernorm");
  qm_json_take (object, "out_features");
  qm_json_take (object, "out_indices");
  qm_json_take (object, "reshape_hidden_states");
  qm_json_take (object, "return_class_token");
  qm_json_take (object, "stage_names");
  qm_json_take (object, "tie_word_embeddings");
}

/* What of the ratio, or of its two thirds, rounded up to whole vectors. */
static void
read_inner (QmJsonObject *object, QmDinoConfig *config)
{
  int64_t inner = config->hidden_size * config->mlp_ratio;

  if (config->gated)
    inner = (inner * 2 / 3 + 7) / 8 * 8;
  if (inner > QM_MAX_INNER)
    qm_json_fail (object, "mlp_ratio", QM_STATUS_INVALID,
                  "makes a layer of %lld, more than %lld", (long long) inner,
                  (long long) QM_MAX_INNER);
  config->intermediate_size = inner;
}

static void
read_dinov2 (QmJsonObject *object, QmModelConfig *model)
{
  QmDinoConfig *config = &model->dino;

  if (object->status != QM_OK)
    return;
  read_common (object, model);
  read_inner (object, config);
  config->key_bias = config->value_bias = config->query_bias;
  config->output_bias = config->mlp_bias = true;
  qm_config_require_number (object, "hidden_dropout_prob", 0);
  qm_json_take (object, "use_mask_token");
  if (object->status == QM_OK && config->image_size < config->patch_size)
    qm_json_fail (object, "patch_size", QM_STATUS_INVALID,
                  "is larger than the image");
  else if (object->status == QM_OK && config->patch_prototypes > 0
           && config->image_size < 2 * config->patch_size)
    qm_json_fail (object, "patch_size", QM_STATUS_INVALID,
                  "leaves one patch, which cannot be hidden");
}

/* A number that may be null, for which 0 stands. */
static double
number_or_none (QmJsonObject *object,
                const char *name,
                double min,
                double max,
                double absent)
{
  return qm_json_number_or (object, name, min, max,
                            qm_config_is_null (object, name) ? 0 : absent);
}

static void
read_dinov3 (QmJsonObject *object, QmModelConfig *model)
{
  QmDinoConfig *config = &model->dino;

  if (object->status != QM_OK)
    return;
  read_common (object, model);
  config->move = number_or_none (object, "pos_embed_shift", 0, MAX_RESCALE, 0);
  config->jitter =
      number_or_none (object, "pos_embed_jitter", 1, MAX_RESCALE, 0);
  config->rescale =
      number_or_none (object, "pos_embed_rescale", 1, MAX_RESCALE, RESCALE);
  qm_json_take (object, "image_size");
  if (object->status == QM_OK && config->hidden_size / config->heads % 4 != 0)
    qm_json_fail (object, "num_attention_heads", QM_STATUS_INVALID,
                  "heads of %lld elements cannot be rotated in two dimensions",
                  (long long) (config->hidden_size / config->heads));
}

static void
set_number_or_null (json_t *object, const char *name, double number)
{
  json_object_set_new (object, name,
                       number > 0 ? json_real (number) : json_null ());
}

static void
write_dinov3 (json_t *object, const QmModelConfig *model)
{
  const QmDinoConfig *config = &model->dino;

  set_number_or_null (object, "pos_embed_shift", config->move);
  set_number_or_null (object, "pos_embed_jitter", config->jitter);
  set_number_or_null (object, "pos_embed_rescale", config->rescale);
}

static int64_t
dino_image_size (const QmModelConfig *model)
{
  return model->dino.image_size;
}

static bool
image_fits (const QmModelConfig *model, int64_t size)
{
  return size
         >= model->dino.patch_size * (model->dino.patch_prototypes > 0 ? 2 : 1);
}

static int64_t
patches (const QmDinoConfig *config, int64_t size)
{
  int64_t side = size / config->patch_size;

  return side * side;
}

int64_t
qm_dino_hidden (const QmDinoConfig *config, int64_t size)
{
  int64_t all = patches (config, size);
  int64_t hidden = (int64_t) (config->mask_ratio * (double) all + 0.5);

  return hidden < 1 ? 1 : hidden < all ? hidden : all - 1;
}

/* Of a crop, up to its class token; `share`: of all samples, those that go
 * through a branch. */
static double
count_backbone (const QmDinoConfig *config, int64_t size, double share)
{
  double hidden = (double) config->hidden_size;
  double n = (double) patches (config, size);
  double tokens = n + 1 + (double) config->registers;
  double layer = 4 * qm_count_product (tokens, hidden, hidden)
                 + (config->gated ? 3 : 2)
                       * qm_count_product (tokens, hidden,
                                           (double) config->intermediate_size)
                 + qm_count_attention (tokens, hidden);

  return qm_count_product (
             n, (double) qm_count_patch (config->channels, config->patch_size),
             hidden)
         + share * (double) config->layers * layer;
}

/* Of a token. */
static double
count_head (const QmDinoConfig *config, int64_t bottleneck, int64_t prototypes)
{
  double hidden = (double) config->head_hidden;

  return qm_count_product (1, (double) config->hidden_size, hidden)
         + (double) (config->head_layers - 2)
               * qm_count_product (1, hidden, hidden)
         + qm_count_product (1, hidden, (double) bottleneck)
         + qm_count_product (1, (double) bottleneck, (double) prototypes);
}

/* Of a crop, and its class token. */
static double
count_crop (const QmDinoConfig *config, int64_t size, double share)
{
  return count_backbone (config, size, share)
         + count_head (config, config->head_bottleneck, config->prototypes);
}

static double
count_global (const QmDinoConfig *config, int64_t size, double share)
{
  double patches =
      config->patch_prototypes > 0 ? (double) qm_dino_hidden (config, size) : 0;

  return QM_DINO_GLOBAL_CROPS * count_crop (config, size, share)
         + (patches > 0 ? patches
                              * count_head (config, config->patch_bottleneck,
                                            config->patch_prototypes)
                        : 0);
}

static double
count_flops (const QmDinoConfig *config, int64_t size, double inputs)
{
  double share = 1 - config->drop_path_rate;

  if (config->prototypes > 0)
    return count_global (config, size, 1) + count_global (config, size, share)
           + (double) config->local_crops
                 * count_crop (config, config->local_size, share);
  return count_backbone (config, size, 1)
         + qm_count_product (1, inputs, (double) config->classes);
}

static double
flops_of_teacher (const QmModelConfig *model, const QmRecipe *recipe)
{
  return model->dino.prototypes > 0
             ? count_global (&model->dino, recipe->image_size, 1)
             : 0;
}

static bool
has_teacher (const QmModelConfig *model)
{
  return model->dino.prototypes > 0;
}

static double
flops_dinov2 (const QmModelConfig *model, const QmRecipe *recipe)
{
  return count_flops (&model->dino, model->dino.image_size,
                      2 * (double) model->dino.hidden_size);
}

static double
flops_dinov3 (const QmModelConfig *model, const QmRecipe *recipe)
{
  return count_flops (&model->dino, recipe->image_size,
                      (double) model->dino.hidden_size);
}

/* With layer scale, and without positions and head. */
static int64_t
count_parameters (const QmDinoConfig *config)
{
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;
  int64_t layer = qm_count_linear (hidden, hidden, config->query_bias)
                  + qm_count_linear (hidden, hidden, config->key_bias)
                  + qm_count_linear (hidden, hidden, config->value_bias)
                  + qm_count_linear (hidden, hidden, config->output_bias)
                  + (config->gated ? 2 : 1)
                        * qm_count_linear (hidden, inner, config->mlp_bias)
                  + qm_count_linear (inner, hidden, config->mlp_bias)
                  + 2 * qm_count_layer_norm (hidden) + 2 * hidden;

  return (1 + config->registers) * hidden
         + qm_count_linear (qm_count_patch (config->channels,
                                            config->patch_size),
                            hidden, true)
         + config->layers * layer + qm_count_layer_norm (hidden);
}

static int64_t
count_head_weights (const QmDinoConfig *config,
                    int64_t bottleneck,
                    int64_t prototypes)
{
  int64_t hidden = config->head_hidden;

  return qm_count_linear (config->hidden_size, hidden, true)
         + (config->head_layers - 2) * qm_count_linear (hidden, hidden, true)
         + qm_count_linear (hidden, bottleneck, true)
         + qm_count_linear (bottleneck, prototypes, false);
}

/* Of what is on top of a backbone, which gives so many numbers, and of the
 * token in the place of hidden patches. */
static int64_t
count_top (const QmDinoConfig *config, int64_t inputs)
{
  if (config->prototypes == 0)
    return qm_count_linear (inputs, config->classes, true);
  return count_head_weights (config, config->head_bottleneck,
                             config->prototypes)
         + (config->patch_prototypes > 0
                ? config->hidden_size
                      + count_head_weights (config, config->patch_bottleneck,
                                            config->patch_prototypes)
                : 0);
}

static int64_t
parameters_dinov2 (const QmModelConfig *model)
{
  const QmDinoConfig *config = &model->dino;

  return count_parameters (config)
         + (patches (config, config->image_size) + 1) * config->hidden_size
         + count_top (config, 2 * config->hidden_size);
}

static int64_t
parameters_dinov3 (const QmModelConfig *model)
{
  return count_parameters (&model->dino)
         + count_top (&model->dino, model->dino.hidden_size);
}

static bool
dino_has_mask (const QmModelConfig *model, int64_t tokens)
{
  return false;
}

const QmFamilyInfo qm_dinov2_family = {
  .name = "dinov2",
  .architecture = "Dinov2ForImageClassification",
  .block = "Dinov2Layer",
  .objective = QM_OBJECTIVE_CLASS_OF_IMAGE,
  .has_attention = true,
  .fields = dinov2_fields,
  .n_fields = sizeof dinov2_fields / sizeof dinov2_fields[0],
  .nullable = nullable,
  .read = read_dinov2,
  .image_size = dino_image_size,
  .has_teacher = has_teacher,
  .flops_ahead = flops_of_teacher,
  .has_mask = dino_has_mask,
  .flops = flops_dinov2,
  .parameters = parameters_dinov2,
};

const QmFamilyInfo qm_dinov2_with_registers_family = {
  .name = "dinov2_with_registers",
  .architecture = "Dinov2WithRegistersForImageClassification",
  .block = "Dinov2WithRegistersLayer",
  .objective = QM_OBJECTIVE_CLASS_OF_IMAGE,
  .has_attention = true,
  .fields = registers_fields,
  .n_fields = sizeof registers_fields / sizeof registers_fields[0],
  .defaults = registers_defaults,
  .nullable = nullable,
  .read = read_dinov2,
  .image_size = dino_image_size,
  .has_teacher = has_teacher,
  .flops_ahead = flops_of_teacher,
  .has_mask = dino_has_mask,
  .flops = flops_dinov2,
  .parameters = parameters_dinov2,
};

const QmFamilyInfo qm_dinov3_vit_family = {
  .name = "dinov3_vit",
  .architecture = "DINOv3ViTModel",
  .block = "DINOv3ViTLayer",
  .objective = QM_OBJECTIVE_CLASS_OF_IMAGE,
  .has_attention = true,
  .fields = dinov3_fields,
  .n_fields = sizeof dinov3_fields / sizeof dinov3_fields[0],
  .nullable = nullable,
  .read = read_dinov3,
  .write = write_dinov3,
  .image_fits = image_fits,
  .has_teacher = has_teacher,
  .flops_ahead = flops_of_teacher,
  .has_mask = dino_has_mask,
  .flops = flops_dinov3,
  .parameters = parameters_dinov3,
};
