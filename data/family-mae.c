/* SPDX-License-Identifier: Apache-2.0 */

/* Masked autoencoders (He et al. 2022, arXiv 2111.06377), as
 * ViTMAEForPreTraining of Transformers 4 and 5 has them.
 *
 * Positions of patches are sines and cosines that nobody trains, as the paper
 * and Transformers 4 have them.  A new model of Transformers 5.23 has zeros in
 * their stead, since its initialisation overwrites them; a file of such a model
 * says so, and is read as it is.
 *
 * Read, and ignored, since nothing of training depends on it:
 *   tie_word_embeddings                       there are no words
 *   num_labels, problem_type and their like   there is no head that classifies
 */

#include "data/family-counts.h"
#include "data/family-read.h"

#define QM_MEMBER mae

static const QmField fields[] = {
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, 768),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, 12),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, 12),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, 3072),
  QM_COUNT (decoder_hidden_size, "decoder_hidden_size", QM_MAX_HIDDEN, 512),
  QM_COUNT (decoder_layers, "decoder_num_hidden_layers", QM_MAX_LAYERS, 8),
  QM_COUNT (decoder_heads, "decoder_num_attention_heads", QM_MAX_HEADS, 16),
  QM_COUNT (decoder_intermediate_size,
            "decoder_intermediate_size",
            QM_MAX_INNER,
            2048),
  QM_COUNT (image_size, "image_size", QM_MAX_IMAGE, 224),
  QM_COUNT (patch_size, "patch_size", QM_MAX_IMAGE, 16),
  QM_COUNT (channels, "num_channels", QM_MAX_CHANNELS, 3),
  QM_SHARE (mask_ratio, "mask_ratio", 0.75),
  QM_NUMBER (layer_norm_eps, "layer_norm_eps", 0, 1, 1e-12),
  QM_SHARE (hidden_dropout, "hidden_dropout_prob", 0),
  QM_SHARE (attention_dropout, "attention_probs_dropout_prob", 0),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_GELU),
  QM_SWITCH (qkv_bias, "qkv_bias", true),
  QM_SWITCH (normalized_pixels, "norm_pix_loss", false),
};

static const char *const nullable[] = { "tie_word_embeddings", NULL };

int64_t
qm_mae_patches (const QmMaeConfig *config)
{
  int64_t side = config->image_size / config->patch_size;

  return side * side;
}

/* Rounded as Transformers does. */
int64_t
qm_mae_kept (const QmMaeConfig *config)
{
  return (int64_t) ((double) qm_mae_patches (config)
                    * (1 - config->mask_ratio));
}

/* Sines and cosines of two places. */
static void
check_positions (QmJsonObject *object, const char *key, int64_t features)
{
  if (object->status == QM_OK && features % 4 != 0)
    qm_json_fail (object, key, QM_STATUS_INVALID,
                  "%lld is not a multiple of 4, as positions of patches need",
                  (long long) features);
}

static void
check_patches (QmJsonObject *object, const QmMaeConfig *config)
{
  int64_t kept;

  if (object->status != QM_OK)
    return;
  if (config->image_size % config->patch_size != 0)
    {
      qm_json_fail (object, "patch_size", QM_STATUS_INVALID,
                    "does not divide the image");
      return;
    }
  kept = qm_mae_kept (config);
  if (kept < 1 || kept >= qm_mae_patches (config))
    qm_json_fail (object, "mask_ratio", QM_STATUS_INVALID,
                  "%g keeps %lld of %lld patches", config->mask_ratio,
                  (long long) kept, (long long) qm_mae_patches (config));
  else if (config->normalized_pixels && config->patch_size == 1
           && config->channels == 1)
    qm_json_fail (object, "norm_pix_loss", QM_STATUS_INVALID,
                  "a patch of one number has no variance");
}

static void
read_mae (QmJsonObject *object, QmModelConfig *model)
{
  const QmMaeConfig *config = &model->mae;

  if (object->status != QM_OK)
    return;
  qm_json_take (object, "tie_word_embeddings");
  qm_config_check_heads (object, config->hidden_size, config->heads);
  if (object->status == QM_OK
      && config->decoder_hidden_size % config->decoder_heads != 0)
    qm_json_fail (object, "decoder_num_attention_heads", QM_STATUS_INVALID,
                  "%lld does not divide decoder_hidden_size, %lld",
                  (long long) config->decoder_heads,
                  (long long) config->decoder_hidden_size);
  check_positions (object, "hidden_size", config->hidden_size);
  check_positions (object, "decoder_hidden_size", config->decoder_hidden_size);
  check_patches (object, config);
}

static int64_t
mae_image_size (const QmModelConfig *model)
{
  return model->mae.image_size;
}

static double
count_layers (int64_t layers, double tokens, int64_t hidden, int64_t inner)
{
  return (double) layers
         * (qm_count_transformer (tokens, (double) hidden, (double) inner)
            + qm_count_attention (tokens, (double) hidden));
}

static double
mae_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmMaeConfig *config = &model->mae;
  double hidden = (double) config->hidden_size;
  double decoder = (double) config->decoder_hidden_size;
  double kept = (double) qm_mae_kept (config);
  double all = (double) qm_mae_patches (config);
  double elements =
      (double) qm_count_patch (config->channels, config->patch_size);

  (void) recipe;
  return qm_count_product (kept, elements, hidden)
         + count_layers (config->layers, kept + 1, config->hidden_size,
                         config->intermediate_size)
         + qm_count_product (kept + 1, hidden, decoder)
         + count_layers (config->decoder_layers, all + 1,
                         config->decoder_hidden_size,
                         config->decoder_intermediate_size)
         + qm_count_product (all + 1, decoder, elements);
}

/* Positions are no parameters that are trained. */
static int64_t
mae_parameters (const QmModelConfig *model)
{
  const QmMaeConfig *config = &model->mae;
  int64_t hidden = config->hidden_size, decoder = config->decoder_hidden_size;
  int64_t elements = qm_count_patch (config->channels, config->patch_size);

  return hidden + qm_count_linear (elements, hidden, true)
         + config->layers
               * qm_count_transformer_layer (hidden, config->intermediate_size,
                                             config->qkv_bias, true)
         + qm_count_layer_norm (hidden) + decoder
         + qm_count_linear (hidden, decoder, true)
         + config->decoder_layers
               * qm_count_transformer_layer (decoder,
                                             config->decoder_intermediate_size,
                                             config->qkv_bias, true)
         + qm_count_layer_norm (decoder)
         + qm_count_linear (decoder, elements, true);
}

/* The encoder is given one, of what it sees and the class. */
static bool
mae_has_mask (const QmModelConfig *model, int64_t tokens)
{
  return tokens == qm_mae_kept (&model->mae) + 1;
}

const QmFamilyInfo qm_vit_mae_family = {
  .name = "vit_mae",
  .architecture = "ViTMAEForPreTraining",
  .block = "ViTMAELayer",
  .objective = QM_OBJECTIVE_HIDDEN_PIXELS,
  .has_attention = true,
  .fields = fields,
  .n_fields = sizeof fields / sizeof fields[0],
  .nullable = nullable,
  .read = read_mae,
  .image_size = mae_image_size,
  .has_mask = mae_has_mask,
  .flops = mae_flops,
  .parameters = mae_parameters,
};
