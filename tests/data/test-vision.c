/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of the backbones of DINOv2 and DINOv3. */

#include "data/family.h"
#include "data/model.h"
#include "tests/data/configurations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZES                                      \
  "\"hidden_size\": 64, \"num_hidden_layers\": 4," \
  "\"num_attention_heads\": 8"
#define DINOV2    "\"model_type\": \"dinov2\", " SIZES
#define REGISTERS "\"model_type\": \"dinov2_with_registers\", " SIZES
#define DINOV3 \
  "\"model_type\": \"dinov3_vit\", \"intermediate_size\": 96, " SIZES

#define PAIR ", \"head_n_prototypes\": 1000"

/* As facebook/dinov2-large has it, but smaller. */
static void
test_dinov2 (void)
{
  QmModelConfig config = parse_well (
      "{" DINOV2 ", \"apply_layernorm\": true,"
      "\"architectures\": [\"Dinov2Model\"],"
      "\"attention_probs_dropout_prob\": 0.0, \"drop_path_rate\": 0.2,"
      "\"hidden_act\": \"gelu\", \"hidden_dropout_prob\": 0.0,"
      "\"image_size\": 518, \"initializer_range\": 0.02,"
      "\"layer_norm_eps\": 1e-06, \"layerscale_value\": 0.5,"
      "\"mlp_ratio\": 4, \"num_channels\": 3, \"out_features\": [\"stage24\"],"
      "\"out_indices\": [24], \"patch_size\": 14, \"qkv_bias\": true,"
      "\"reshape_hidden_states\": true, \"stage_names\": [\"stem\"],"
      "\"torch_dtype\": \"float32\", \"use_mask_token\": true,"
      "\"use_swiglu_ffn\": false}");

  CHECK_INT (config.dino.image_size, 518);
  CHECK_INT (qm_model_image_size (&config), 518);
  CHECK_INT (config.dino.intermediate_size, 256);
  CHECK_INT (config.dino.registers, 0);
  CHECK_NEAR (config.dino.drop_path_rate, 0.2, 0);
  CHECK_NEAR (config.dino.layer_scale_init, 0.5, 0);
  CHECK (config.dino.query_bias && config.dino.key_bias
         && config.dino.value_bias && config.dino.output_bias
         && config.dino.mlp_bias && !config.dino.gated);
  CHECK_STRING (config.other_head, "Dinov2Model");
  config = parse_well ("{" DINOV2 "}");
  CHECK_INT (config.dino.image_size, 224);
  CHECK_INT (config.dino.patch_size, 14);
  CHECK_NEAR (config.dino.layer_norm_eps, 1e-6, 0);
  CHECK_NEAR (config.dino.layer_scale_init, 1, 0);
  config = parse_well ("{" DINOV2 ", \"qkv_bias\": false,"
                       "\"use_swiglu_ffn\": true, \"mlp_ratio\": 4}");
  /* 256 and 170 2/3, rounded up to a multiple of 8. */
  CHECK_INT (config.dino.intermediate_size, 176);
  CHECK (!config.dino.query_bias && !config.dino.key_bias
         && !config.dino.value_bias && config.dino.output_bias);
  config = parse_well ("{" REGISTERS "}");
  CHECK_INT (config.dino.registers, 4);
  CHECK_INT (config.dino.patch_size, 16);
}

/* As facebook/dinov3-vitl16-pretrain-lvd1689m has it, but smaller. */
static void
test_dinov3 (void)
{
  QmModelConfig config = parse_well (
      "{" DINOV3 ", \"apply_layernorm\": true,"
      "\"architectures\": [\"DINOv3ViTModel\"], \"attention_dropout\": 0.0,"
      "\"drop_path_rate\": 0.0, \"hidden_act\": \"gelu\","
      "\"image_size\": 224, \"initializer_range\": 0.02, \"key_bias\": false,"
      "\"layer_norm_eps\": 1e-05, \"layerscale_value\": 1.0,"
      "\"mlp_bias\": true, \"num_channels\": 3, \"num_register_tokens\": 4,"
      "\"patch_size\": 16, \"pos_embed_jitter\": null,"
      "\"pos_embed_rescale\": 2.0, \"pos_embed_shift\": null,"
      "\"proj_bias\": true, \"query_bias\": true, \"rope_theta\": 100.0,"
      "\"torch_dtype\": \"float32\", \"use_gated_mlp\": false,"
      "\"value_bias\": true}");

  CHECK_INT (qm_model_image_size (&config), 0);
  CHECK_INT (config.dino.registers, 4);
  CHECK_INT (config.dino.intermediate_size, 96);
  CHECK_NEAR (config.dino.rescale, 2, 0);
  CHECK_NEAR (config.dino.jitter, 0, 0);
  CHECK_NEAR (config.dino.move, 0, 0);
  CHECK_STRING (config.other_head, "");
  config = parse_well ("{" DINOV3 "}");
  CHECK_INT (config.dino.registers, 0);
  CHECK_NEAR (config.dino.rescale, 2, 0);
  CHECK_NEAR (config.dino.rope_theta, 100, 0);
  CHECK_NEAR (config.dino.layer_norm_eps, 1e-5, 0);
  CHECK (config.dino.query_bias && !config.dino.key_bias
         && config.dino.value_bias && config.dino.output_bias
         && config.dino.mlp_bias && !config.dino.gated);
  config = parse_well ("{" DINOV3 ", \"pos_embed_rescale\": null,"
                       "\"pos_embed_shift\": 0.25, \"pos_embed_jitter\": 1.1}");
  CHECK_NEAR (config.dino.rescale, 0, 0);
  CHECK_NEAR (config.dino.move, 0.25, 0);
  CHECK_NEAR (config.dino.jitter, 1.1, 0);
}

/* A configuration that is written is read as the same. */
static void
test_written (const char *text)
{
  QmModelConfig config = parse_well (text), again;
  json_t *object = qm_model_config_json (&config, true);
  char *written = json_dumps (object, 0);
  QmError error;

  CHECK_INT (parse (written, &again, &error), QM_OK);
  CHECK_STRING (error.message, "");
  memset (config.other_head, 0, sizeof config.other_head);
  memset (again.other_head, 0, sizeof again.other_head);
  CHECK (memcmp (&config.dino, &again.dino, sizeof config.dino) == 0);
  free (written);
  json_decref (object);
}

/* Positions are of one size of image, but for DINOv3's, which are angles. */
static void
test_sizes (void)
{
  QmRecipe recipe = {
    .batch_size = 1, .steps = 1, .image_size = 224, .dropout = NAN
  };
  QmModelConfig config = parse_well ("{" DINOV2 ", \"image_size\": 518}");
  QmError error = { 0 };

  CHECK (qm_model_apply_recipe (&config, &recipe, "recipe.json", &error)
         != QM_OK);
  CHECK_CONTAINS (error.message, "518");
  config = parse_well ("{" DINOV3 ", \"image_size\": 518}");
  memset (&error, 0, sizeof error);
  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "recipe.json", &error),
             QM_OK);
  recipe.image_size = 15;
  CHECK (qm_model_apply_recipe (&config, &recipe, "recipe.json", &error)
         != QM_OK);
}

/* With prototypes, fields of the head and the crops are those of
 * facebookresearch/dinov2 where nothing is said; without, there are none. */
static void
test_pair (void)
{
  QmRecipe recipe = {
    .batch_size = 1, .steps = 1, .image_size = 224, .dropout = NAN
  };
  QmModelConfig plain = parse_well ("{" DINOV2 "}");
  QmModelConfig config = parse_well ("{" DINOV2 PAIR "}"), other;
  char key[QM_MODEL_KEY_BYTES], another[QM_MODEL_KEY_BYTES];
  QmError error = { 0 };

  CHECK (qm_model_has_teacher (&config) && !qm_model_has_teacher (&plain));
  CHECK_INT (plain.dino.local_crops, 0);
  CHECK_INT (config.dino.prototypes, 1000);
  CHECK_INT (config.dino.head_hidden, 2048);
  CHECK_INT (config.dino.head_bottleneck, 256);
  CHECK_INT (config.dino.head_layers, 3);
  CHECK_INT (config.dino.local_crops, 8);
  CHECK_INT (config.dino.local_size, 96);
  CHECK_NEAR (config.dino.teacher_temperature, 0.07, 0);
  CHECK (qm_model_apply_recipe (&config, &recipe, "recipe.json", &error)
         == QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "ema_decay");
  recipe.ema_decay = 0.99;
  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "recipe.json", NULL),
             QM_OK);
  qm_model_key (&config, &recipe, key);
  other = config;
  other.dino.local_crops = 6;
  qm_model_key (&other, &recipe, another);
  CHECK (strcmp (key, another) != 0);
  other = config;
  other.dino.teacher_temperature = 0.04;
  qm_model_key (&other, &recipe, another);
  CHECK (strcmp (key, another) != 0);
  /* As it was before there were any. */
  qm_model_key (&plain, &recipe, key);
  CHECK_STRING (key, "69589c6c92c4c71f");
}

static const Refused refused[] = {
  { "{" DINOV2 PAIR ",\n \"local_crops_size\": 13}", QM_STATUS_INVALID, 2, 2,
    "local_crops_size: is smaller than a patch" },
  { "{" DINOV2 PAIR ",\n \"local_crops_number\": 0}", QM_STATUS_INVALID, 2, 2,
    "local_crops_number: " },
  { "{" DINOV3 PAIR ",\n \"teacher_temp\": 0.01}", QM_STATUS_INVALID, 2, 2,
    "teacher_temp: " },
  { "{" DINOV2 PAIR ",\n \"head_nlayers\": 1}", QM_STATUS_INVALID, 2, 2,
    "head_nlayers: " },
  { "{" DINOV2 ",\n \"local_crops_number\": 8}", QM_STATUS_UNSUPPORTED, 2, 2,
    "local_crops_number: unsupported field" },
  { "{" DINOV2 ",\n \"hidden_dropout_prob\": 0.1}", QM_STATUS_UNSUPPORTED, 2, 2,
    "hidden_dropout_prob: only 0 is supported" },
  { "{" DINOV2 ",\n \"num_register_tokens\": 4}", QM_STATUS_UNSUPPORTED, 2, 2,
    "num_register_tokens: unsupported field" },
  { "{" DINOV2 ",\n \"intermediate_size\": 4}", QM_STATUS_UNSUPPORTED, 2, 2,
    "intermediate_size: unsupported field" },
  { "{" DINOV2 ",\n \"mlp_ratio\": 4.5}", QM_STATUS_INVALID, 2, 2,
    "mlp_ratio: " },
  { "{\"model_type\": \"dinov2\", \"hidden_size\": 131072,"
    "\"num_hidden_layers\": 1,\n \"mlp_ratio\": 32,"
    "\"num_attention_heads\": 2}",
    QM_STATUS_INVALID, 2, 2, "mlp_ratio: makes a layer of 4194304, more than" },
  { "{" DINOV2 ",\n \"image_size\": 13}", QM_STATUS_INVALID, 1, 1,
    "patch_size: is larger than the image" },
  { "{" DINOV2 ",\n \"image_size\": [224, 224]}", QM_STATUS_INVALID, 2, 2,
    "image_size: " },
  { "{" DINOV3 ",\n \"pos_embed_jitter\": 0.5}", QM_STATUS_INVALID, 2, 2,
    "pos_embed_jitter: 0.5 is not between 1 and" },
  { "{" DINOV3 ",\n \"hidden_dropout_prob\": 0.1}", QM_STATUS_UNSUPPORTED, 2, 2,
    "hidden_dropout_prob: unsupported field" },
  { "{" DINOV3 ",\n \"rope_scaling\": {\"factor\": 2}}", QM_STATUS_UNSUPPORTED,
    2, 2, "rope_scaling: unsupported field" },
  { "{\"model_type\": \"dinov3_vit\", \"hidden_size\": 12,"
    "\"num_hidden_layers\": 1,\n\"num_attention_heads\": 2,"
    "\"intermediate_size\": 8}",
    QM_STATUS_INVALID, 2, 1, "num_attention_heads: heads of 6 elements" },
};

int
main (void)
{
  test_dinov2 ();
  test_dinov3 ();
  test_written ("{" DINOV2 ", \"mlp_ratio\": 3, \"use_swiglu_ffn\": true}");
  test_written ("{" REGISTERS ", \"qkv_bias\": false}");
  test_written ("{" DINOV3 ", \"pos_embed_shift\": 0.25, \"key_bias\": true}");
  test_written ("{" DINOV3 ", \"pos_embed_rescale\": null}");
  test_written ("{" DINOV2 PAIR ", \"local_crops_number\": 1}");
  test_written ("{" DINOV3 PAIR ", \"teacher_temp\": 0.04}");
  test_pair ();
  test_sizes ();
  check_refused (refused, sizeof refused / sizeof refused[0]);
  return check_report ();
}
