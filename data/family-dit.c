/* SPDX-License-Identifier: Apache-2.0 */

/* Diffusion transformers (Peebles and Xie 2023, arXiv 2212.09748).
 *
 * Their authors' code (facebookresearch/DiT, models.py and train.py) has no
 * file with a configuration; fields are those of DiTTransformer2DModel of
 * diffusers, as files on the hub have them, which name that class, or, older
 * ones, Transformer2DModel.  What is trained is the authors' model: time and
 * class are embedded once, where diffusers repeats that in every block, and the
 * wave lengths of times are theirs (diffusers divides by one less).  So are
 * weights' names.  Of what only code says there: MLPs are four times as wide,
 * there are 1000 times, and betas grow by the same from 0.0001 to 0.02; images
 * are latents that were made before, since the model that makes them is not
 * trained.
 *
 * Besides: class_dropout_prob, the authors' name for how often a class is left
 * out; and initializer_range, of the embeddings.
 *
 * norm_eps is that of the norm before MLPs, as in diffusers; all others have
 * 1e-6, as all of the authors' have.
 *
 * Read, and ignored, since nothing of training depends on it:
 *   _diffusers_version   a label
 *   norm_num_groups      of norms that images without patches have
 * Refused by name, but for the only value: dropout (0), norm_type
 * (ada_norm_zero), norm_elementwise_affine (false), upcast_attention (false),
 * attention_type (default), and what other models of the older class have,
 * which has to be null or false.
 */

#include "data/family-counts.h"
#include "data/family-read.h"

#include <string.h>

#define QM_MEMBER dit

/* As the configuration's index has them. */
static const char *const activations[] = { "gelu-approximate", "gelu", NULL };

static const QmField fields[] = {
  QM_COUNT (layers, "num_layers", QM_MAX_LAYERS, 28),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, 16),
  QM_COUNT (head_size, "attention_head_dim", QM_MAX_HIDDEN, 72),
  QM_COUNT (image_size, "sample_size", QM_MAX_IMAGE, 32),
  QM_COUNT (patch_size, "patch_size", QM_MAX_IMAGE, 2),
  QM_COUNT (channels, "in_channels", QM_MAX_CHANNELS, 4),
  QM_COUNT (out_channels, "out_channels", 2 * QM_MAX_CHANNELS, -1),
  QM_COUNT (classes, "num_embeds_ada_norm", QM_MAX_VOCAB, 1000),
  QM_SHARE (class_dropout, "class_dropout_prob", 0.1),
  QM_NUMBER (layer_norm_eps, "norm_eps", 0, 1, 1e-5),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_OTHER (activation,
            "activation_fn",
            QM_FIELD_WORD,
            0,
            0,
            0,
            .words = activations),
  QM_SWITCH (attention_bias, "attention_bias", true),
};

static const char *const nullable[] = { "out_channels", "norm_num_groups",
                                        "_diffusers_version", NULL };

int64_t
qm_dit_hidden (const QmDitConfig *config)
{
  return config->heads * config->head_size;
}

int64_t
qm_dit_patches (const QmDitConfig *config)
{
  int64_t side = config->image_size / config->patch_size;

  return side * side;
}

/* The older class has other defaults: what it says has to be said. */
static void
check_class (QmJsonObject *object)
{
  static const char *const said[] = {
    "activation_fn",       "attention_bias", "attention_head_dim",
    "in_channels",         "norm_type",      "norm_elementwise_affine",
    "num_embeds_ada_norm", "num_layers",     "patch_size",
    "sample_size",
  };
  const char *class = qm_json_string (object, "_class_name", false);

  if (class != NULL && strcmp (class, "Transformer2DModel") == 0)
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
      if (!qm_json_has (object, said[i]))
        qm_json_fail (object, said[i], QM_STATUS_INVALID,
                      "is missing, and Transformer2DModel's default is not "
                      "DiT's");
}

static void
check_sizes (QmJsonObject *object, const QmDitConfig *config)
{
  if (object->status != QM_OK)
    return;
  if (qm_dit_hidden (config) > QM_MAX_HIDDEN)
    qm_json_fail (object, "attention_head_dim", QM_STATUS_INVALID,
                  "all heads together are wider than %lld",
                  (long long) QM_MAX_HIDDEN);
  else if (qm_dit_hidden (config) % 4 != 0)
    qm_json_fail (object, "attention_head_dim", QM_STATUS_INVALID,
                  "all heads together are %lld, no multiple of 4, as positions "
                  "of patches need",
                  (long long) qm_dit_hidden (config));
  else if (config->image_size % config->patch_size != 0)
    qm_json_fail (object, "patch_size", QM_STATUS_INVALID,
                  "does not divide the image");
  else if (config->out_channels != config->channels
           && config->out_channels != 2 * config->channels)
    qm_json_fail (object, "out_channels", QM_STATUS_UNSUPPORTED,
                  "%lld is neither in_channels, %lld, nor, with variances, "
                  "twice that",
                  (long long) config->out_channels,
                  (long long) config->channels);
}

static void
read_dit (QmJsonObject *object, QmModelConfig *model)
{
  QmDitConfig *config = &model->dit;

  check_class (object);
  qm_json_take (object, "_diffusers_version");
  qm_json_take (object, "norm_num_groups");
  qm_config_require_number (object, "dropout", 0);
  qm_config_require_word (object, "norm_type", "ada_norm_zero");
  qm_config_require_word (object, "attention_type", "default");
  qm_config_require_switch (object, "norm_elementwise_affine", false);
  qm_config_require_switch (object, "upcast_attention", false);
  qm_config_require_switch (object, "only_cross_attention", false);
  qm_config_require_switch (object, "double_self_attention", false);
  qm_config_require_switch (object, "use_linear_projection", false);
  if (config->out_channels < 0)
    config->out_channels = config->channels;
  config->learned = config->out_channels != config->channels;
  check_sizes (object, config);
}

static int64_t
dit_image_size (const QmModelConfig *model)
{
  return model->dit.image_size;
}

static double
dit_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmDitConfig *config = &model->dit;
  double hidden = (double) qm_dit_hidden (config);
  double tokens = (double) qm_dit_patches (config);
  double layer =
      qm_count_transformer (tokens, hidden, QM_DIT_MLP_RATIO * hidden)
      + qm_count_attention (tokens, hidden)
      + qm_count_product (1, hidden, 6 * hidden);

  (void) recipe;
  return qm_count_product (tokens,
                           (double) qm_count_patch (config->channels,
                                                    config->patch_size),
                           hidden)
         + qm_count_product (1, QM_DIT_FREQUENCIES, hidden)
         + qm_count_product (1, hidden, hidden)
         + (double) config->layers * layer
         + qm_count_product (1, hidden, 2 * hidden)
         + qm_count_product (tokens, hidden,
                             (double) qm_count_patch (config->out_channels,
                                                      config->patch_size));
}

/* Positions and wave lengths are no parameters that are trained; norms have
 * none. */
static int64_t
dit_parameters (const QmModelConfig *model)
{
  const QmDitConfig *config = &model->dit;
  int64_t hidden = qm_dit_hidden (config), inner = QM_DIT_MLP_RATIO * hidden;
  int64_t layer = qm_count_linear (hidden, 3 * hidden, config->attention_bias)
                  + qm_count_linear (hidden, hidden, true)
                  + qm_count_linear (hidden, inner, true)
                  + qm_count_linear (inner, hidden, true)
                  + qm_count_linear (hidden, 6 * hidden, true);

  return qm_count_linear (qm_count_patch (config->channels, config->patch_size),
                          hidden, true)
         + qm_count_linear (QM_DIT_FREQUENCIES, hidden, true)
         + qm_count_linear (hidden, hidden, true)
         + qm_dit_class_rows (config) * hidden + config->layers * layer
         + qm_count_linear (hidden, 2 * hidden, true)
         + qm_count_linear (
             hidden, qm_count_patch (config->out_channels, config->patch_size),
             true);
}

int64_t
qm_dit_class_rows (const QmDitConfig *config)
{
  return config->classes + (config->class_dropout > 0);
}

static bool
dit_has_mask (const QmModelConfig *model, int64_t tokens)
{
  return false;
}

const QmFamilyInfo qm_dit_family = {
  .name = "dit",
  .architecture = "DiTTransformer2DModel",
  .block = "DiTBlock",
  .objective = QM_OBJECTIVE_NOISE,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_dit,
  .image_size = dit_image_size,
  .has_mask = dit_has_mask,
  .flops = dit_flops,
  .parameters = dit_parameters,
};
