/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-counts.h"
#include "data/family-read.h"

#include <string.h>

#define QM_MEMBER clip

#define VISION "vision_config"
#define TEXT   "text_config"

/* A row of a tower, whose members are called by its name. */
#define TOWER(tower, its_section, member, json, its_kind, least, most, other) \
  .name = #tower "_" #member, .key = json, .kind = its_kind,                  \
  .offset = offsetof (QmModelConfig, clip.tower.member), .min = least,        \
  .max = most, .absent = other, .section = its_section

#define TOWER_ROWS(tower, section, size, n_heads, inner, epsilon, function)    \
  { TOWER (tower, section, hidden_size, "hidden_size", QM_FIELD_WHOLE, 1,      \
           QM_MAX_HIDDEN, size) },                                             \
      { TOWER (tower, section, layers, "num_hidden_layers", QM_FIELD_WHOLE, 1, \
               QM_MAX_LAYERS, 12) },                                           \
      { TOWER (tower, section, heads, "num_attention_heads", QM_FIELD_WHOLE,   \
               1, QM_MAX_HEADS, n_heads) },                                    \
      { TOWER (tower, section, intermediate_size, "intermediate_size",         \
               QM_FIELD_WHOLE, 1, QM_MAX_INNER, inner) },                      \
      { TOWER (tower, section, layer_norm_eps, "layer_norm_eps",               \
               QM_FIELD_NUMBER, 0, 1, epsilon) },                              \
      { TOWER (tower, section, attention_dropout, "attention_dropout",         \
               QM_FIELD_PROBABILITY, 0, 1, 0) },                               \
  {                                                                            \
    TOWER (tower, section, activation, "hidden_act", QM_FIELD_ACTIVATION, 0,   \
           0, function)                                                        \
  }

#define IMAGE_ROWS(patch)                                                    \
  QM_COUNT (image_size, "image_size", QM_MAX_IMAGE, 224, .section = VISION), \
      QM_COUNT (patch_size, "patch_size", QM_MAX_IMAGE, patch,               \
                .section = VISION),                                          \
      QM_COUNT (channels, "num_channels", QM_MAX_CHANNELS, 3,                \
                .section = VISION)

#define WORD_ROWS(words, most)                                               \
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, words, .section = TEXT), \
      QM_COUNT (max_positions, "max_position_embeddings", QM_MAX_POSITIONS,  \
                most, .section = TEXT)

static const QmField clip_fields[] = {
  TOWER_ROWS (vision, VISION, 768, 12, 3072, 1e-5, QM_ACTIVATION_QUICK_GELU),
  IMAGE_ROWS (32),
  TOWER_ROWS (text, TEXT, 512, 8, 2048, 1e-5, QM_ACTIVATION_QUICK_GELU),
  WORD_ROWS (49408, 77),
  QM_WHOLE (
      eos_token_id, "eos_token_id", 0, QM_MAX_VOCAB, 49407, .section = TEXT),
  QM_COUNT (projection, "projection_dim", QM_MAX_HIDDEN, 512),
  QM_NUMBER (temperature, "logit_scale_init_value", -100, 100, 2.6592),
  QM_NUMBER (
      initializer_range, "initializer_range", 0, 10, 0.02, .section = VISION),
  QM_NUMBER (initializer_factor, "initializer_factor", 0, 100, 1),
};

static const QmField siglip_fields[] = {
  TOWER_ROWS (vision, VISION, 768, 12, 3072, 1e-6, QM_ACTIVATION_GELU_TANH),
  IMAGE_ROWS (16),
  TOWER_ROWS (text, TEXT, 768, 12, 3072, 1e-6, QM_ACTIVATION_GELU_TANH),
  WORD_ROWS (32000, 64),
  QM_COUNT (projection,
            "projection_size",
            QM_MAX_HIDDEN,
            768,
            .section = TEXT,
            QM_READ_APART),
};

/* Older files of CLIP have what was given beside what it makes. */
static const QmSection clip_sections[] = {
  { VISION, "vision_config_dict" },
  { TEXT, "text_config_dict" },
  { NULL, NULL },
};

static const QmSection siglip_sections[] = {
  { VISION, NULL },
  { TEXT, NULL },
  { NULL, NULL },
};

static const char *const nullable[] = {
  "projection_dim",      "projection_size",
  "text_config",         "text_config_dict",
  "tie_word_embeddings", "vision_config",
  "vision_config_dict",  NULL
};

static bool
is_vision (const char *section)
{
  return strcmp (section, VISION) == 0;
}

static void
check_tower (QmJsonObject *section, const QmTower *tower)
{
  qm_config_check_heads (section, tower->hidden_size, tower->heads);
  /* Nothing is tied. */
  qm_json_take (section, "tie_word_embeddings");
}

static void
check_images (QmJsonObject *section, const QmClipConfig *config)
{
  if (section->status == QM_OK && config->image_size < config->patch_size)
    qm_json_fail (section, "patch_size", QM_STATUS_INVALID,
                  "is larger than the image");
}

/* No text would end, and each would stand for itself by its first token. */
static void
check_end (QmJsonObject *section, const QmClipConfig *config)
{
  if (section->status == QM_OK && config->eos_token_id >= config->vocab_size)
    qm_json_fail (section, "eos_token_id", QM_STATUS_INVALID,
                  "%lld%s is not in the vocabulary of %lld",
                  (long long) config->eos_token_id,
                  qm_json_has (section, "eos_token_id")
                      ? ""
                      : ", which it is where nothing else is said,",
                  (long long) config->vocab_size);
}

static void
read_clip_section (QmJsonObject *section,
                   const char *name,
                   QmModelConfig *model)
{
  const QmClipConfig *config = &model->clip;
  bool vision = is_vision (name);

  check_tower (section, vision ? &config->vision : &config->text);
  qm_config_require_word (section, "model_type",
                          vision ? "clip_vision_model" : "clip_text_model");
  /* Of a tower that is a model by itself. */
  qm_json_take (section, "projection_dim");
  /* Weights of the whole begin by the factor of the file, and those of texts by
   * a range of 0.02, whatever this says. */
  qm_config_require_number (section, "initializer_factor", 1);
  if (!vision)
    qm_json_take (section, "initializer_range");
  /* Version 4 writes it, and has no such layer. */
  qm_config_require_number (section, "dropout", 0);
  if (vision)
    check_images (section, config);
  else
    check_end (section, config);
}

static void
read_siglip_section (QmJsonObject *section,
                     const char *name,
                     QmModelConfig *model)
{
  QmClipConfig *config = &model->clip;
  bool vision = is_vision (name);

  check_tower (section, vision ? &config->vision : &config->text);
  qm_config_require_word (section, "model_type",
                          vision ? "siglip_vision_model" : "siglip_text_model");
  if (vision)
    {
      qm_config_require_switch (section, "vision_use_head", true);
      check_images (section, config);
      return;
    }
  config->projection =
      qm_json_integer_or (section, "projection_size", 1, QM_MAX_HIDDEN,
                          config->text.hidden_size);
  if (section->status == QM_OK
      && config->projection != config->vision.hidden_size)
    qm_json_fail (section, "projection_size", QM_STATUS_INVALID,
                  "texts have %lld features, and images %lld",
                  (long long) config->projection,
                  (long long) config->vision.hidden_size);
}

static void
read_siglip (QmJsonObject *object, QmModelConfig *model)
{
  (void) model;
  /* Of a classifier of images. */
  qm_json_take (object, "initializer_factor");
  qm_json_take (object, "tie_word_embeddings");
}

static void
read_clip (QmJsonObject *object, QmModelConfig *model)
{
  (void) model;
  qm_json_take (object, "tie_word_embeddings");
}

static int64_t
clip_image_size (const QmModelConfig *model)
{
  return model->clip.image_size;
}

static int64_t
patches (const QmClipConfig *config)
{
  int64_t side = config->image_size / config->patch_size;

  return side * side;
}

int64_t
qm_clip_vision_tokens (const QmModelConfig *model)
{
  return patches (&model->clip) + (model->family == QM_FAMILY_CLIP);
}

/* Of all layers of a tower, of whose scores `seen` are looked at. */
static double
tower_flops (const QmTower *tower, double tokens, double seen)
{
  double hidden = (double) tower->hidden_size;

  return (double) tower->layers
         * (qm_count_transformer (tokens, hidden,
                                  (double) tower->intermediate_size)
            + seen * qm_count_attention (tokens, hidden));
}

/* What the towers of either family have in common; and, of a sample, its
 * cosines with all of a step. */
static double
common_flops (const QmModelConfig *model, const QmRecipe *recipe, double seen)
{
  const QmClipConfig *config = &model->clip;

  return qm_count_product ((double) patches (config),
                           (double) qm_count_patch (config->channels,
                                                    config->patch_size),
                           (double) config->vision.hidden_size)
         + tower_flops (&config->vision, (double) qm_clip_vision_tokens (model),
                        1)
         + tower_flops (&config->text, (double) config->max_positions, seen)
         + qm_count_product (1, (double) config->text.hidden_size,
                             (double) config->projection)
         + qm_count_product (1, (double) config->projection,
                             (double) recipe->batch_size);
}

static double
clip_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmClipConfig *config = &model->clip;

  return common_flops (model, recipe, 0.5)
         + qm_count_product (1, (double) config->vision.hidden_size,
                             (double) config->projection);
}

/* The head of images: one query of all tokens, and an MLP. */
static double
siglip_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmTower *vision = &model->clip.vision;
  double tokens = (double) qm_clip_vision_tokens (model);
  double hidden = (double) vision->hidden_size;

  return common_flops (model, recipe, 1)
         + qm_count_product (tokens, hidden, 2 * hidden)
         + 2 * qm_count_product (1, hidden, hidden)
         + 2 * qm_count_product (1, hidden, tokens)
         + 2 * qm_count_product (1, hidden, (double) vision->intermediate_size);
}

static int64_t
tower_parameters (const QmTower *tower)
{
  return tower->layers
             * qm_count_transformer_layer (tower->hidden_size,
                                           tower->intermediate_size, true, true)
         + qm_count_layer_norm (tower->hidden_size);
}

static int64_t
common_parameters (const QmModelConfig *model)
{
  const QmClipConfig *config = &model->clip;

  return qm_count_linear (qm_count_patch (config->channels, config->patch_size),
                          config->vision.hidden_size, false)
         + qm_clip_vision_tokens (model) * config->vision.hidden_size
         + (config->vocab_size + config->max_positions)
               * config->text.hidden_size
         + tower_parameters (&config->vision) + tower_parameters (&config->text)
         + qm_count_linear (config->text.hidden_size, config->projection, false)
         + 1;
}

static int64_t
clip_parameters (const QmModelConfig *model)
{
  const QmClipConfig *config = &model->clip;
  int64_t hidden = config->vision.hidden_size;

  return common_parameters (model) + hidden + qm_count_layer_norm (hidden)
         + qm_count_linear (hidden, config->projection, false);
}

static int64_t
siglip_parameters (const QmModelConfig *model)
{
  const QmClipConfig *config = &model->clip;
  int64_t hidden = config->vision.hidden_size;

  /* The last is the bias of all cosines. */
  return common_parameters (model) + hidden + config->projection + hidden
         + qm_count_transformer_layer (hidden, config->vision.intermediate_size,
                                       true, true)
         - qm_count_layer_norm (hidden) + 1;
}

/* The tower of texts is given one. */
static bool
clip_has_mask (const QmModelConfig *model, int64_t tokens)
{
  return tokens == model->clip.max_positions
         && tokens != qm_clip_vision_tokens (model);
}

const QmFamilyInfo qm_clip_family = {
  .name = "clip",
  .architecture = "CLIPModel",
  .block = "CLIPEncoderLayer",
  .objective = QM_OBJECTIVE_PAIRS,
  .has_attention = true,
  .fields = clip_fields,
  .n_fields = sizeof clip_fields / sizeof clip_fields[0],
  .nullable = nullable,
  .sections = clip_sections,
  .read_section = read_clip_section,
  .read = read_clip,
  .image_size = clip_image_size,
  .has_mask = clip_has_mask,
  .flops = clip_flops,
  .parameters = clip_parameters,
};

const QmFamilyInfo qm_siglip_family = {
  .name = "siglip",
  .architecture = "SiglipModel",
  .block = "SiglipEncoderLayer",
  .objective = QM_OBJECTIVE_PAIRS,
  .has_attention = true,
  .fields = siglip_fields,
  .n_fields = sizeof siglip_fields / sizeof siglip_fields[0],
  .nullable = nullable,
  .sections = siglip_sections,
  .read_section = read_siglip_section,
  .read = read_siglip,
  .image_size = clip_image_size,
  .has_mask = clip_has_mask,
  .flops = siglip_flops,
  .parameters = siglip_parameters,
};
