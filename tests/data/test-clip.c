/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of two towers, whose fields stand in objects of their own. */

#include "data/family.h"
#include "tests/data/configurations.h"

#include <math.h>
#include <stdlib.h>

#define CLIP   "\"model_type\": \"clip\""
#define SIGLIP "\"model_type\": \"siglip\""

/* As openai/clip-vit-large-patch14 has it, but smaller: what counts of texts is
 * what was given, with the token that ends them, and not what version 4 wrote
 * beside it. */
static void
test_older (void)
{
  QmModelConfig config = parse_well (
      "{" CLIP ", \"architectures\": [\"CLIPModel\"], \"_commit_hash\": null,"
      "\"initializer_factor\": 0.5, \"logit_scale_init_value\": 2.5,"
      "\"projection_dim\": 48, \"torch_dtype\": \"float32\","
      "\"text_config\": {\"hidden_size\": 512, \"eos_token_id\": 2,"
      "\"dropout\": 0.0, \"tie_encoder_decoder\": false},"
      "\"text_config_dict\": {\"hidden_size\": 64, \"intermediate_size\": 96,"
      "\"num_attention_heads\": 4, \"num_hidden_layers\": 3,"
      "\"attention_dropout\": 0.125, \"hidden_act\": \"gelu\","
      "\"max_position_embeddings\": 32, \"vocab_size\": 1000,"
      "\"eos_token_id\": 999,"
      "\"projection_dim\": 768},"
      "\"vision_config\": {\"hidden_size\": 80, \"intermediate_size\": 160,"
      "\"num_attention_heads\": 5, \"num_hidden_layers\": 2,"
      "\"image_size\": 30, \"patch_size\": 7, \"num_channels\": 1,"
      "\"layer_norm_eps\": 1e-6, \"initializer_range\": 0.01,"
      "\"dropout\": 0.0, \"architectures\": null, \"id2label\": {\"0\": \"a\"},"
      "\"model_type\": \"clip_vision_model\", \"top_k\": 50},"
      "\"vision_config_dict\": null}");
  const QmClipConfig *clip = &config.clip;

  CHECK_INT (config.family, QM_FAMILY_CLIP);
  CHECK_STRING (config.other_head, "");
  CHECK_INT (clip->text.hidden_size, 64);
  CHECK_INT (clip->text.intermediate_size, 96);
  CHECK_INT (clip->text.heads, 4);
  CHECK_INT (clip->text.layers, 3);
  CHECK_INT (clip->text.activation, QM_ACTIVATION_GELU);
  CHECK_NEAR (clip->text.attention_dropout, 0.125, 0);
  CHECK_NEAR (clip->text.layer_norm_eps, 1e-5, 0);
  CHECK_INT (clip->max_positions, 32);
  CHECK_INT (clip->vocab_size, 1000);
  CHECK_INT (clip->eos_token_id, 999);
  CHECK_INT (clip->vision.hidden_size, 80);
  CHECK_INT (clip->vision.layers, 2);
  CHECK_INT (clip->vision.activation, QM_ACTIVATION_QUICK_GELU);
  CHECK_NEAR (clip->vision.layer_norm_eps, 1e-6, 0);
  CHECK_INT (clip->channels, 1);
  CHECK_INT (clip->projection, 48);
  CHECK_NEAR (clip->temperature, 2.5, 0);
  CHECK_NEAR (clip->initializer_range, 0.01, 0);
  CHECK_NEAR (clip->initializer_factor, 0.5, 0);
  CHECK_INT (qm_clip_vision_tokens (&config), 17);
  CHECK_INT (qm_model_image_size (&config), 30);
  CHECK (qm_family_has_images (config.family));
  CHECK (!qm_family_has_dropout (config.family));
}

static void
test_defaults (void)
{
  QmModelConfig clip = parse_well ("{" CLIP "}");
  QmModelConfig siglip = parse_well (
      "{" SIGLIP ", \"architectures\": [\"SiglipModel\"],"
      "\"initializer_factor\": 1.0,"
      "\"text_config\": {\"model_type\": \"siglip_text_model\"},"
      "\"vision_config\": {\"model_type\": \"siglip_vision_model\"}}");

  CHECK_INT (clip.clip.vision.hidden_size, 768);
  CHECK_INT (clip.clip.patch_size, 32);
  CHECK_INT (clip.clip.text.hidden_size, 512);
  CHECK_INT (clip.clip.text.heads, 8);
  CHECK_INT (clip.clip.max_positions, 77);
  CHECK_INT (clip.clip.projection, 512);
  CHECK_INT (clip.clip.eos_token_id, 49407);
  CHECK_NEAR (clip.clip.temperature, 2.6592, 0);
  CHECK_INT (qm_clip_vision_tokens (&clip), 50);
  CHECK_INT (siglip.clip.vision.hidden_size, 768);
  CHECK_INT (siglip.clip.patch_size, 16);
  CHECK_INT (siglip.clip.text.heads, 12);
  CHECK_INT (siglip.clip.vocab_size, 32000);
  CHECK_INT (siglip.clip.max_positions, 64);
  CHECK_INT (siglip.clip.projection, 768);
  CHECK_INT (siglip.clip.vision.activation, QM_ACTIVATION_GELU_TANH);
  CHECK_NEAR (siglip.clip.text.layer_norm_eps, 1e-6, 0);
  CHECK_INT (qm_clip_vision_tokens (&siglip), 196);
}

/* A configuration that is written is read as the same, and has another key than
 * one of which a field of either tower differs. */
static void
test_written (const char *text)
{
  QmModelConfig config = parse_well (text), again;
  QmRecipe recipe = { .batch_size = 1, .steps = 1, .image_size = 224 };
  json_t *object = qm_model_config_json (&config, true);
  char *written = json_dumps (object, 0);
  char key[QM_MODEL_KEY_BYTES], other[QM_MODEL_KEY_BYTES];
  QmError error;

  CHECK_INT (parse (written, &again, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK (memcmp (&config.clip, &again.clip, sizeof config.clip) == 0);
  qm_model_key (&config, &recipe, key);
  again.clip.vision.layers++;
  qm_model_key (&again, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  again = config;
  again.clip.text.attention_dropout = 0.25;
  qm_model_key (&again, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  free (written);
  json_decref (object);
}

static const Refused refused[] = {
  { "{" CLIP ",\n \"vision_config\": {\"hidden_size\": 770}}",
    QM_STATUS_INVALID, 2, 2,
    "vision_config.num_attention_heads: hidden_size 770 is not divisible" },
  { "{" CLIP ",\n \"text_config\": {\"hidden_act\": \"mish\"}}",
    QM_STATUS_UNSUPPORTED, 2, 18, "text_config.hidden_act: 'mish' is not" },
  { "{" CLIP ",\n \"text_config_dict\": {\"layers\": 3}}",
    QM_STATUS_UNSUPPORTED, 2, 23, "text_config_dict.layers: unsupported" },
  { "{" CLIP ",\n \"vision_config\": 3}", QM_STATUS_INVALID, 2, 2,
    "vision_config: is not an object" },
  { "{" CLIP ",\n \"vision_config\": {\"patch_size\": 300}}", QM_STATUS_INVALID,
    2, 20, "vision_config.patch_size: is larger" },
  { "{" CLIP ",\n \"text_config\": {\"dropout\": 0.1}}", QM_STATUS_UNSUPPORTED,
    2, 18, "text_config.dropout: only 0 is supported" },
  { "{" CLIP ",\n \"text_config\": {\"eos_token_id\": [2, 3]}}",
    QM_STATUS_INVALID, 2, 18, "text_config.eos_token_id: is not a whole" },
  { "{" CLIP ",\n \"text_config\": {\"eos_token_id\": 49408}}",
    QM_STATUS_INVALID, 2, 18,
    "text_config.eos_token_id: 49408 is not in the vocabulary of 49408" },
  { "{" CLIP ",\n \"text_config\": {\"vocab_size\": 67}}", QM_STATUS_INVALID, 2,
    2,
    "text_config.eos_token_id: 49407, which it is where nothing else is said, "
    "is not in the vocabulary of 67" },
  { "{" CLIP ",\n \"text_config\": {\"model_type\": \"bert\"}}",
    QM_STATUS_UNSUPPORTED, 2, 18, "text_config.model_type: 'bert' is not" },
  { "{" CLIP ",\n \"vision_config\": {\"is_decoder\": true}}",
    QM_STATUS_UNSUPPORTED, 2, 20, "vision_config.is_decoder: only false" },
  { "{" CLIP ",\n \"vision_config\": {\"hidden_act\": null}}",
    QM_STATUS_UNSUPPORTED, 2, 20, "vision_config.hidden_act: null is not" },
  { "{" SIGLIP ",\n \"vision_config\": {\"vision_use_head\": false}}",
    QM_STATUS_UNSUPPORTED, 2, 20, "vision_config.vision_use_head: only true" },
  { "{" SIGLIP ",\n \"text_config\": {\"projection_size\": 512}}",
    QM_STATUS_INVALID, 2, 18,
    "text_config.projection_size: texts have 512 features, and images 768" },
  { "{" SIGLIP ",\n \"projection_dim\": 512}", QM_STATUS_UNSUPPORTED, 2, 2,
    "projection_dim: unsupported field" },
};

int
main (void)
{
  test_older ();
  test_defaults ();
  test_written ("{" CLIP ", \"logit_scale_init_value\": 3,"
                "\"vision_config\": {\"patch_size\": 14, \"num_channels\": 4},"
                "\"text_config\": {\"eos_token_id\": 2}}");
  test_written ("{" SIGLIP ", \"text_config\": {\"hidden_size\": 144,"
                "\"hidden_act\": \"quick_gelu\", \"projection_size\": 768}}");
  check_refused (refused, sizeof refused / sizeof refused[0]);
  return check_report ();
}
