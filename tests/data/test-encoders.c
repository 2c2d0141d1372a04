/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of the encoders that labs train today. */

#include "data/model.h"
#include "tests/data/configurations.h"

#include <string.h>

#define ESM                                               \
  "\"model_type\": \"esm\", \"hidden_size\": 64,"         \
  "\"num_hidden_layers\": 4, \"num_attention_heads\": 8," \
  "\"intermediate_size\": 128, \"vocab_size\": 33, \"pad_token_id\": 1"

#define MODERNBERT                                        \
  "\"model_type\": \"modernbert\", \"hidden_size\": 64,"  \
  "\"num_hidden_layers\": 4, \"num_attention_heads\": 8," \
  "\"intermediate_size\": 128"

static QmModernBertConfig
parse_modernbert (const char *text)
{
  QmModelConfig config = { 0 };
  QmError error;

  check_case (text);
  CHECK_INT (parse (text, &config, &error), QM_OK);
  CHECK_STRING (error.message, "");
  return config.modernbert;
}

/* As its card on the hub has it, with what Transformers does not read, and in
 * the words of version 5. */
static void
test_modernbert (void)
{
  QmModernBertConfig config =
      parse_modernbert ("{" MODERNBERT ", \"classifier_pooling\": \"mean\","
                        "\"layer_norm_eps\": 0.1,"
                        "\"position_embedding_type\": \"absolute\","
                        "\"reference_compile\": true,"
                        "\"sparse_prediction\": false,"
                        "\"sparse_pred_ignore_index\": -100,"
                        "\"initializer_cutoff_factor\": 2.0}");

  CHECK_INT (config.vocab_size, 50368);
  CHECK_INT (config.pad_token_id, 50283);
  CHECK_INT (config.window, 128);
  CHECK_INT ((int64_t) config.windowed[0], 6);
  CHECK_NEAR (config.norm_eps, 1e-5, 0);
  CHECK_NEAR (config.rope.theta, 160000, 0);
  CHECK_NEAR (config.local_rope.theta, 10000, 0);
  CHECK_INT (config.head_activation, QM_ACTIVATION_GELU);
  CHECK (config.decoder_bias && config.tie_word_embeddings);
  CHECK (!config.norm_bias && !config.attention_bias && !config.mlp_bias
         && !config.head_bias);
  config = parse_modernbert ("{" MODERNBERT ", \"global_rope_theta\": 500,"
                             "\"local_rope_theta\": null,"
                             "\"global_attn_every_n_layers\": 2,"
                             "\"local_attention\": 9}");
  CHECK_INT (config.window, 9);
  CHECK_INT ((int64_t) config.windowed[0], 10);
  CHECK_NEAR (config.local_rope.theta, 500, 0);
  config = parse_modernbert ("{" MODERNBERT ", \"pad_token_id\": null,"
                             "\"layer_types\": [\"sliding_attention\","
                             "\"sliding_attention\", \"full_attention\","
                             "\"sliding_attention\"], \"rope_parameters\":"
                             "{\"full_attention\": {\"rope_theta\": 700,"
                             "\"rope_type\": \"linear\", \"factor\": 2.0},"
                             "\"sliding_attention\": {}}}");
  CHECK_INT (config.pad_token_id, -1);
  CHECK_INT ((int64_t) config.windowed[0], 11);
  CHECK_INT (config.rope.kind, QM_ROPE_LINEAR);
  CHECK_NEAR (config.rope.theta, 700, 0);
  CHECK_INT (config.local_rope.kind, QM_ROPE_DEFAULT);
  CHECK_NEAR (config.local_rope.theta, 10000, 0);
  config =
      parse_modernbert ("{" MODERNBERT ", \"global_attn_every_n_layers\": 1}");
  CHECK_INT (config.window, 0);
  CHECK_NEAR (config.local_rope.theta, 160000, 0);
  check_case ("");
}

/* As facebook/esm2_t33_650M_UR50D has it. */
static void
test_esm (void)
{
  QmModelConfig config;
  QmError error;

  CHECK_INT (parse ("{" ESM ", \"position_embedding_type\": \"rotary\","
                    "\"token_dropout\": true, \"mask_token_id\": 32,"
                    "\"emb_layer_norm_before\": null, \"hidden_act\": \"x\","
                    "\"esmfold_config\": null, \"vocab_list\": null,"
                    "\"is_folding_model\": false}",
                    &config, &error),
             QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (config.esm.mask_token_id, 32);
  CHECK_INT (config.esm.pad_token_id, 1);
  CHECK (config.esm.token_dropout && !config.esm.norm_embeddings);
  CHECK (config.esm.tie_word_embeddings);
  CHECK_NEAR (config.esm.rope_theta, 10000, 0);
  CHECK_NEAR (config.esm.layer_norm_eps, 1e-12, 0);
  CHECK_NEAR (config.esm.hidden_dropout, 0.1, 0);
  CHECK_INT (parse ("{" ESM ", \"position_embedding_type\": \"rotary\","
                    "\"mask_token_id\": 32}",
                    &config, &error),
             QM_OK);
  CHECK_INT (config.esm.mask_token_id, -1);
}

static const Refused refused[] = {
  { "{" MODERNBERT ",\n \"sparse_prediction\": true}", QM_STATUS_UNSUPPORTED, 2,
    2, "sparse_prediction: only false" },
  { "{" MODERNBERT ",\n \"deterministic_flash_attn\": true}",
    QM_STATUS_UNSUPPORTED, 2, 2, "deterministic_flash_attn: only false" },
  { "{" MODERNBERT ",\n \"rope_scaling\": {\"factor\": 2}}",
    QM_STATUS_UNSUPPORTED, 2, 2, "rope_scaling: has a value" },
  { "{" MODERNBERT ",\n \"rope_theta\": 500}", QM_STATUS_UNSUPPORTED, 2, 2,
    "rope_theta: unsupported field" },
  { "{" MODERNBERT ",\n \"rope_parameters\": {\"rope_theta\": 9}}",
    QM_STATUS_UNSUPPORTED, 2, 22, "rope_parameters.rope_theta: unsupported" },
  { "{" MODERNBERT ",\n \"rope_parameters\": {\"full_attention\":"
    "{\"rope_type\": \"yarn\", \"factor\": 2,\n \"truncate\": false}}}",
    QM_STATUS_UNSUPPORTED, 3, 2,
    "rope_parameters.full_attention.truncate: unsupported field" },
  { "{" MODERNBERT ",\n \"rope_parameters\": {\"sliding_attention\":"
    "{\"rope_type\": \"yarn\", \"factor\": 2,\n \"truncate\": false}}}",
    QM_STATUS_UNSUPPORTED, 3, 2,
    "rope_parameters.sliding_attention.truncate: unsupported field" },
  { "{" MODERNBERT ",\n \"sliding_window\": 64}", QM_STATUS_UNSUPPORTED, 2, 2,
    "sliding_window: unsupported field" },
  { "{" MODERNBERT ",\n \"global_attn_every_n_layers\": 3,"
    "\"layer_types\": [\"full_attention\","
    "\"full_attention\", \"full_attention\","
    "\"full_attention\"]}",
    QM_STATUS_INVALID, 2, 2,
    "global_attn_every_n_layers: 3 does not agree with layer_types" },
  { "{" MODERNBERT ",\n \"vocab_size\": 50283}", QM_STATUS_INVALID, 1, 1,
    "pad_token_id: 50283, which it is where nothing else is said" },
  { "{" MODERNBERT ", \"norm_bias\": null}", QM_STATUS_UNSUPPORTED, 1, 123,
    "norm_bias: null is not supported" },
  { "{\"model_type\": \"modernbert\", \"hidden_size\": 6,"
    "\"num_hidden_layers\": 1,\n\"num_attention_heads\": 2,"
    "\"intermediate_size\": 8}",
    QM_STATUS_INVALID, 2, 1, "num_attention_heads: heads of 3 elements" },
  { "{\n" ESM "}", QM_STATUS_INVALID, 1, 1,
    "position_embedding_type: is missing" },
  { "{" ESM ",\n \"position_embedding_type\": \"absolute\"}",
    QM_STATUS_UNSUPPORTED, 2, 2,
    "position_embedding_type: 'absolute' is not supported, only 'rotary'" },
  { "{" ESM ", \"position_embedding_type\": \"rotary\","
    "\n \"token_dropout\": true}",
    QM_STATUS_INVALID, 1, 1, "mask_token_id: is missing" },
  { "{" ESM ", \"position_embedding_type\": \"rotary\","
    "\"token_dropout\": true,\n \"mask_token_id\": 33}",
    QM_STATUS_INVALID, 2, 2, "mask_token_id: 33 is not between 0 and 32" },
  { "{" ESM ", \"position_embedding_type\": \"rotary\","
    "\n \"is_folding_model\": true}",
    QM_STATUS_UNSUPPORTED, 2, 2, "is_folding_model: only false" },
  { "{" ESM ", \"position_embedding_type\": \"rotary\","
    "\n \"rope_parameters\": {\"rope_theta\": 5}}",
    QM_STATUS_UNSUPPORTED, 2, 2, "rope_parameters: has a value" },
  { "{\"model_type\": \"esm\", \"hidden_size\": 64,"
    "\"num_hidden_layers\": 4, \"num_attention_heads\": 8,"
    "\"intermediate_size\": 128, \"vocab_size\": 33}",
    QM_STATUS_INVALID, 1, 1, "pad_token_id: is missing" },
};

int
main (void)
{
  test_modernbert ();
  test_esm ();
  check_refused (refused, sizeof refused / sizeof refused[0]);
  return check_report ();
}
