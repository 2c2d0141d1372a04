/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of masked autoencoders. */

#include "data/family.h"
#include "tests/data/configurations.h"

#include <math.h>
#include <stdlib.h>

#define MAE "\"model_type\": \"vit_mae\""

/* As facebook/vit-mae-large has it, but smaller, and with other switches. */
static void
test_read (void)
{
  QmModelConfig config = parse_well (
      "{" MAE ", \"architectures\": [\"ViTMAEForPreTraining\"],"
      "\"attention_probs_dropout_prob\": 0.1, \"decoder_hidden_size\": 64,"
      "\"decoder_intermediate_size\": 256,"
      "\"decoder_num_attention_heads\": 4, \"decoder_num_hidden_layers\": 3,"
      "\"hidden_act\": \"relu\", \"hidden_dropout_prob\": 0.2,"
      "\"hidden_size\": 128, \"image_size\": 96, \"initializer_range\": 0.03,"
      "\"intermediate_size\": 512, \"layer_norm_eps\": 1e-06,"
      "\"mask_ratio\": 0.6, \"norm_pix_loss\": true,"
      "\"num_attention_heads\": 8, \"num_channels\": 2,"
      "\"num_hidden_layers\": 5, \"patch_size\": 12, \"qkv_bias\": false,"
      "\"tie_word_embeddings\": null, \"torch_dtype\": \"float32\","
      "\"transformers_version\": \"4.16.0.dev0\"}");
  const QmMaeConfig *mae = &config.mae;

  CHECK_INT (mae->hidden_size, 128);
  CHECK_INT (mae->layers, 5);
  CHECK_INT (mae->heads, 8);
  CHECK_INT (mae->intermediate_size, 512);
  CHECK_INT (mae->decoder_hidden_size, 64);
  CHECK_INT (mae->decoder_layers, 3);
  CHECK_INT (mae->decoder_heads, 4);
  CHECK_INT (mae->decoder_intermediate_size, 256);
  CHECK_INT (mae->image_size, 96);
  CHECK_INT (mae->patch_size, 12);
  CHECK_INT (mae->channels, 2);
  CHECK_NEAR (mae->mask_ratio, 0.6, 0);
  CHECK_NEAR (mae->layer_norm_eps, 1e-6, 0);
  CHECK_NEAR (mae->hidden_dropout, 0.2, 0);
  CHECK_NEAR (mae->attention_dropout, 0.1, 0);
  CHECK_NEAR (mae->initializer_range, 0.03, 0);
  CHECK_INT (mae->activation, QM_ACTIVATION_RELU);
  CHECK (!mae->qkv_bias && mae->normalized_pixels);
  CHECK_STRING (config.other_head, "");
  CHECK_INT (qm_mae_patches (mae), 64);
  CHECK_INT (qm_mae_kept (mae), 25);
  CHECK_INT (qm_model_image_size (&config), 96);
  CHECK (qm_family_has_images (config.family));
  CHECK (qm_family_has_dropout (config.family));
}

static void
test_defaults (void)
{
  QmModelConfig config = parse_well ("{" MAE "}");
  const QmMaeConfig *mae = &config.mae;

  CHECK_INT (mae->hidden_size, 768);
  CHECK_INT (mae->decoder_hidden_size, 512);
  CHECK_INT (mae->decoder_heads, 16);
  CHECK_INT (qm_mae_patches (mae), 196);
  CHECK_INT (qm_mae_kept (mae), 49);
  CHECK_NEAR (mae->layer_norm_eps, 1e-12, 0);
  CHECK (mae->qkv_bias && !mae->normalized_pixels);
  config = parse_well ("{" MAE ", \"architectures\": [\"ViTMAEModel\"]}");
  CHECK_STRING (config.other_head, "ViTMAEModel");
}

/* As Python has it: 100 x (1 - 0.9) is a little less than 10. */
static void
test_rounding (void)
{
  static const struct
  {
    double ratio;
    int64_t side, kept;
  } cases[] = {
    { 0.5, 8, 32 }, { 0.8, 8, 12 }, { 0.9, 10, 9 }, { 0.7, 10, 30 }
  };

  check_case ("rounding");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmMaeConfig config = { .image_size = cases[i].side,
                             .patch_size = 1,
                             .mask_ratio = cases[i].ratio };

      CHECK_INT (qm_mae_kept (&config), cases[i].kept);
    }
}

/* A configuration that is written is read as the same, and has another key than
 * one of which any field differs. */
static void
test_written (void)
{
  static const char text[] =
      "{" MAE ", \"mask_ratio\": 0.5, \"norm_pix_loss\": true,"
      "\"decoder_num_hidden_layers\": 2, \"qkv_bias\": false}";
  QmModelConfig config = parse_well (text), again;
  QmRecipe recipe = { .batch_size = 1, .steps = 1, .image_size = 224 };
  json_t *object = qm_model_config_json (&config, true);
  char *written = json_dumps (object, 0);
  char key[QM_MODEL_KEY_BYTES], other[QM_MODEL_KEY_BYTES];
  QmError error;

  CHECK_INT (parse (written, &again, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK (memcmp (&config.mae, &again.mae, sizeof config.mae) == 0);
  qm_model_key (&config, &recipe, key);
  again.mae.mask_ratio = 0.75;
  qm_model_key (&again, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  again = config;
  again.mae.normalized_pixels = false;
  qm_model_key (&again, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  free (written);
  json_decref (object);
}

static const Refused refused[] = {
  { "{" MAE ",\n \"hidden_size\": 774, \"num_attention_heads\": 6}",
    QM_STATUS_INVALID, 2, 2, "hidden_size: 774 is not a multiple of 4" },
  { "{" MAE ",\n \"decoder_hidden_size\": 30,"
    "\"decoder_num_attention_heads\": 2}",
    QM_STATUS_INVALID, 2, 2, "decoder_hidden_size: 30 is not a multiple of 4" },
  { "{" MAE ",\n \"decoder_num_attention_heads\": 3}", QM_STATUS_INVALID, 2, 2,
    "decoder_num_attention_heads: 3 does not divide decoder_hidden_size, 512" },
  { "{" MAE ",\n \"patch_size\": 15}", QM_STATUS_INVALID, 2, 2,
    "patch_size: does not divide the image" },
  { "{" MAE ",\n \"mask_ratio\": 0}", QM_STATUS_INVALID, 2, 2,
    "mask_ratio: 0 keeps 196 of 196 patches" },
  { "{" MAE ",\n \"mask_ratio\": 0.999}", QM_STATUS_INVALID, 2, 2,
    "mask_ratio: 0.999 keeps 0 of 196 patches" },
  { "{" MAE ",\n \"mask_ratio\": 1}", QM_STATUS_INVALID, 2, 2, "mask_ratio: " },
  { "{" MAE ",\n \"image_size\": [224, 224]}", QM_STATUS_INVALID, 2, 2,
    "image_size: " },
  { "{" MAE ",\n \"norm_pix_loss\": null}", QM_STATUS_UNSUPPORTED, 2, 2,
    "norm_pix_loss: null is not supported" },
  { "{" MAE ",\n \"norm_pix_loss\": true, \"image_size\": 8,"
    "\"patch_size\": 1, \"num_channels\": 1}",
    QM_STATUS_INVALID, 2, 2, "norm_pix_loss: a patch of one number" },
  { "{" MAE ",\n \"drop_path_rate\": 0.1}", QM_STATUS_UNSUPPORTED, 2, 2,
    "drop_path_rate: unsupported field" },
};

int
main (void)
{
  test_read ();
  test_defaults ();
  test_rounding ();
  test_written ();
  check_refused (refused, sizeof refused / sizeof refused[0]);
  return check_report ();
}
