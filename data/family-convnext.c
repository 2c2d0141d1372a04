/* SPDX-License-Identifier: Apache-2.0 */

#include "data/family-counts.h"
#include "data/family-read.h"

#define KERNEL    7
#define EXPANSION 4

#define QM_MEMBER convnext
#define STAGES    .count = offsetof (QmModelConfig, convnext.stages)

static const QmField fields[] = {
  QM_COUNT (stages,
            "num_stages",
            QM_CONVNEXT_MAX_STAGES,
            0,
            .apart = QM_FIELD_READ_APART | QM_FIELD_UNLISTED),
  QM_OTHER (depths,
            "depths",
            QM_FIELD_STAGES,
            1,
            QM_MAX_LAYERS,
            0,
            STAGES,
            QM_READ_APART),
  QM_OTHER (hidden_sizes,
            "hidden_sizes",
            QM_FIELD_STAGES,
            1,
            QM_MAX_HIDDEN,
            0,
            STAGES,
            QM_READ_APART),
  QM_COUNT (patch_size, "patch_size", QM_MAX_IMAGE, 4),
  QM_COUNT (channels, "num_channels", QM_MAX_CHANNELS, 3),
  QM_COUNT (image_size, "image_size", QM_MAX_IMAGE, 224),
  QM_COUNT (classes, "num_labels", QM_MAX_VOCAB, 2, QM_READ_APART),
  QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-12),
  QM_NUMBER (layer_scale_init, "layer_scale_init_value", 0, 10, 1e-6),
  QM_SHARE (drop_path_rate, "drop_path_rate", 0),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_GELU),
};

static const char *const nullable[] = { "tie_word_embeddings", NULL };

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
read_convnext (QmJsonObject *object, QmModelConfig *model)
{
  QmConvnextConfig *config = &model->convnext;
  int64_t n =
      qm_json_integer_or (object, "num_stages", 1, QM_CONVNEXT_MAX_STAGES, 0);

  config->stages = read_stages (object, "hidden_sizes", n, QM_MAX_HIDDEN,
                                config->hidden_sizes);
  read_stages (object, "depths", config->stages, QM_MAX_LAYERS, config->depths);
  config->classes = qm_config_classes (object);
  qm_config_problem (object);
  /* Which stages a detector would use, and of models of text. */
  qm_json_take (object, "stage_names");
  qm_json_take (object, "out_features");
  qm_json_take (object, "out_indices");
  qm_json_take (object, "tie_word_embeddings");
}

/* Whether anything is left of an image after the last stage. */
static bool
image_fits (const QmModelConfig *model, int64_t size)
{
  int64_t side = size / model->convnext.patch_size;

  for (int64_t i = 1; i < model->convnext.stages; i++)
    side /= 2;
  return side > 0;
}

static double
convnext_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmConvnextConfig *config = &model->convnext;
  const double kernel = KERNEL * KERNEL;
  int64_t side = recipe->image_size / config->patch_size;
  double sum = 0;
  double in =
      (double) (config->channels * config->patch_size * config->patch_size);
  double width = 0;

  for (int64_t i = 0; i < config->stages; i++)
    {
      double pixels, block;

      if (i > 0)
        {
          side /= 2;
          in = 4 * width;
        }
      width = (double) config->hidden_sizes[i];
      pixels = (double) (side * side);
      block = qm_count_product (pixels, kernel, width)
              + 2 * qm_count_product (pixels, width, EXPANSION * width);
      sum += qm_count_product (pixels, in, width)
             + (double) config->depths[i] * block;
    }
  return sum + qm_count_product (1, width, (double) config->classes);
}

static int64_t
convnext_parameters (const QmModelConfig *model)
{
  const QmConvnextConfig *config = &model->convnext;
  int64_t width = config->hidden_sizes[0];
  int64_t count = qm_count_linear (config->channels * config->patch_size
                                       * config->patch_size,
                                   width, true)
                  + qm_count_layer_norm (width);

  for (int64_t i = 0; i < config->stages; i++)
    {
      int64_t block;

      if (i > 0)
        count += qm_count_layer_norm (width)
                 + qm_count_linear (4 * width, config->hidden_sizes[i], true);
      width = config->hidden_sizes[i];
      block = qm_count_linear (KERNEL * KERNEL, width, true)
              + qm_count_layer_norm (width)
              + qm_count_linear (width, EXPANSION * width, true)
              + qm_count_linear (EXPANSION * width, width, true)
              + (config->layer_scale_init > 0 ? width : 0);
      count += config->depths[i] * block;
    }
  return count + qm_count_layer_norm (width)
         + qm_count_linear (width, config->classes, true);
}

const QmFamilyInfo qm_convnext_family = {
  .name = "convnext",
  .architecture = "ConvNextForImageClassification",
  .block = "ConvNextLayer",
  .objective = QM_OBJECTIVE_CLASS_OF_IMAGE,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_convnext,
  .image_fits = image_fits,
  .flops = convnext_flops,
  .parameters = convnext_parameters,
};
