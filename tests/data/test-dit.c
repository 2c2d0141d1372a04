/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of diffusion transformers. */

#include "data/family.h"
#include "data/flops.h"
#include "tests/data/configurations.h"

#include <math.h>
#include <stdlib.h>

#define DIT "\"_class_name\": \"DiTTransformer2DModel\""

/* What the older class has to say, but for `more`. */
#define OLDER                                                                 \
  "{\"_class_name\": \"Transformer2DModel\","                                 \
  "\"_diffusers_version\": \"0.12.0.dev0\","                                  \
  "\"activation_fn\": \"gelu-approximate\", \"attention_bias\": true,"        \
  "\"attention_head_dim\": 72, \"cross_attention_dim\": null,"                \
  "\"dropout\": 0.0, \"in_channels\": 4, \"norm_elementwise_affine\": false," \
  "\"norm_num_groups\": 32, \"num_attention_heads\": 16,"                     \
  "\"num_embeds_ada_norm\": 1000, \"num_layers\": 28,"                        \
  "\"num_vector_embeds\": null, \"only_cross_attention\": false,"             \
  "\"out_channels\": 8, \"patch_size\": 2, \"upcast_attention\": false,"      \
  "\"use_linear_projection\": false, \"sample_size\": 32"

/* DiT-XL/2 as the hub has it: 237.24 GFLOPs of torch.utils.flop_counter, and
 * the parameters of the authors' code but for its table of positions. */
static void
test_older (void)
{
  QmModelConfig config =
      parse_well (OLDER ", \"norm_type\": \"ada_norm_zero\"}");
  const QmDitConfig *dit = &config.dit;
  QmRecipe recipe = { .batch_size = 1, .steps = 1, .image_size = 32 };

  CHECK_INT (config.family, QM_FAMILY_DIT);
  CHECK_INT (dit->layers, 28);
  CHECK_INT (dit->heads, 16);
  CHECK_INT (dit->head_size, 72);
  CHECK_INT (qm_dit_hidden (dit), 1152);
  CHECK_INT (qm_dit_patches (dit), 256);
  CHECK_INT (dit->channels, 4);
  CHECK_INT (dit->out_channels, 8);
  CHECK_INT (qm_dit_class_rows (dit), 1001);
  CHECK (dit->learned && dit->attention_bias);
  CHECK_NEAR (dit->class_dropout, 0.1, 0);
  CHECK_NEAR (dit->layer_norm_eps, 1e-5, 0);
  CHECK_NEAR (qm_flops_forward_sample (&config, &recipe), 237242843136.0, 0.5);
  CHECK_NEAR (qm_flops_train_sample (&config, &recipe), 3 * 237242843136.0, 2);
  CHECK_INT (qm_parameter_count (&config), 674834720);
  CHECK_INT (qm_model_image_size (&config), 32);
  CHECK (qm_family_has_images (config.family));
  CHECK (!qm_family_has_dropout (config.family));
  CHECK (!qm_model_has_teacher (&config));
}

static void
test_defaults (void)
{
  QmModelConfig config = parse_well ("{" DIT "}");

  check_case ("defaults");
  CHECK_INT (config.dit.out_channels, 4);
  CHECK (!config.dit.learned);
  CHECK_INT (config.dit.activation, 0);
  CHECK_INT (config.dit.image_size, 32);
  config = parse_well ("{\"model_type\": \"dit\", \"out_channels\": null,"
                       "\"activation_fn\": \"gelu\","
                       "\"class_dropout_prob\": 0, \"norm_eps\": 1e-6,"
                       "\"initializer_range\": 0.01}");
  CHECK_INT (config.dit.out_channels, 4);
  CHECK_INT (config.dit.activation, 1);
  CHECK_INT (qm_dit_class_rows (&config.dit), 1000);
  CHECK_NEAR (qm_model_initializer_range (&config), 0.01, 0);
}

/* What torch.utils.flop_counter and PyTorch count of tests/golden/make.py's
 * Dit, forward and of what is trained. */
static void
test_counts (void)
{
  static const struct
  {
    const char *text;
    double flops;
    int64_t parameters;
  } cases[] = {
    { "{" DIT ", \"num_attention_heads\": 2, \"attention_head_dim\": 4,"
      "\"in_channels\": 3, \"out_channels\": 6, \"num_layers\": 3,"
      "\"sample_size\": 6, \"patch_size\": 2, \"num_embeds_ada_norm\": 5}",
      61216, 6456 },
    { "{" DIT ", \"num_attention_heads\": 2, \"attention_head_dim\": 4,"
      "\"in_channels\": 3, \"num_layers\": 3, \"sample_size\": 6,"
      "\"patch_size\": 3, \"num_embeds_ada_norm\": 5,"
      "\"attention_bias\": false, \"class_dropout_prob\": 0.0}",
      30208, 6523 },
  };
  QmRecipe recipe = { .batch_size = 1, .steps = 1, .image_size = 6 };

  check_case ("counts");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmModelConfig config = parse_well (cases[i].text);

      CHECK_NEAR (qm_flops_forward_sample (&config, &recipe), cases[i].flops,
                  0);
      CHECK_INT (qm_parameter_count (&config), cases[i].parameters);
    }
}

/* A configuration that is written is read as the same, and has another key than
 * one of which any field differs. */
static void
test_written (void)
{
  QmModelConfig config =
      parse_well ("{" DIT ", \"out_channels\": 8, \"activation_fn\": \"gelu\","
                  "\"class_dropout_prob\": 0.2, \"attention_bias\": false}");
  QmModelConfig again;
  QmRecipe recipe = { .batch_size = 1, .steps = 1, .image_size = 32 };
  json_t *object = qm_model_config_json (&config, true);
  char *written = json_dumps (object, 0);
  char key[QM_MODEL_KEY_BYTES], other[QM_MODEL_KEY_BYTES];
  QmError error;

  check_case ("written");
  CHECK_INT (parse (written, &again, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK (memcmp (&config.dit, &again.dit, sizeof config.dit) == 0);
  qm_model_key (&config, &recipe, key);
  again.dit.class_dropout = 0.1;
  qm_model_key (&again, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  again = config;
  again.dit.activation = 0;
  qm_model_key (&again, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  again = config;
  again.dit.out_channels = 4;
  qm_model_key (&again, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  free (written);
  json_decref (object);
}

static const Refused refused[] = {
  { "{" DIT ",\n \"dropout\": 0.1}", QM_STATUS_UNSUPPORTED, 2, 2,
    "dropout: only 0 is supported" },
  { "{" DIT ",\n \"norm_type\": \"layer_norm\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "norm_type: 'layer_norm' is not supported" },
  { "{" DIT ",\n \"norm_elementwise_affine\": true}", QM_STATUS_UNSUPPORTED, 2,
    2, "norm_elementwise_affine: only false" },
  { "{" DIT ",\n \"upcast_attention\": true}", QM_STATUS_UNSUPPORTED, 2, 2,
    "upcast_attention: only false" },
  { "{" DIT ",\n \"attention_type\": \"gated\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "attention_type: 'gated'" },
  { "{" DIT ",\n \"activation_fn\": \"geglu\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "activation_fn: 'geglu' is not supported" },
  { "{" DIT ",\n \"out_channels\": 6}", QM_STATUS_UNSUPPORTED, 2, 2,
    "out_channels: 6 is neither in_channels, 4, nor, with variances, twice" },
  { "{" DIT ",\n \"patch_size\": 3}", QM_STATUS_INVALID, 2, 2,
    "patch_size: does not divide the image" },
  { "{" DIT ",\n \"attention_head_dim\": 5, \"num_attention_heads\": 3}",
    QM_STATUS_INVALID, 2, 2, "attention_head_dim: all heads together are 15" },
  { "{" DIT ",\n \"attention_head_dim\": 131072}", QM_STATUS_INVALID, 2, 2,
    "attention_head_dim: all heads together are wider" },
  { "{" DIT ",\n \"class_dropout_prob\": 1}", QM_STATUS_INVALID, 2, 2,
    "class_dropout_prob: a probability of 1" },
  { "{" DIT ",\n \"num_embeds_ada_norm\": null}", QM_STATUS_UNSUPPORTED, 2, 2,
    "num_embeds_ada_norm: null is not supported" },
  { "{" DIT ",\n \"cross_attention_dim\": 64}", QM_STATUS_UNSUPPORTED, 2, 2,
    "cross_attention_dim: unsupported field" },
  { OLDER ",\n \"norm_type\": \"ada_norm\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "norm_type: 'ada_norm' is not supported" },
  { OLDER "}", QM_STATUS_INVALID, 1, 1,
    "norm_type: is missing, and Transformer2DModel's default" },
  { "{\n \"_class_name\": \"UNet2DModel\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "_class_name: 'UNet2DModel' is not supported; DiTTransformer2DModel and" },
};

int
main (void)
{
  test_older ();
  test_defaults ();
  test_counts ();
  test_written ();
  check_refused (refused, sizeof refused / sizeof refused[0]);
  return check_report ();
}
