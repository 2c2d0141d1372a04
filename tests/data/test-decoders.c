/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of decoders that are not built like Llama. */

#include "data/family.h"
#include "tests/data/configurations.h"

#include <stdlib.h>
#include <string.h>

#define STARCODER2                                        \
  "\"model_type\": \"starcoder2\", \"hidden_size\": 64,"  \
  "\"num_hidden_layers\": 4, \"num_attention_heads\": 8," \
  "\"intermediate_size\": 96"

static QmStarcoder2Config
good (const char *text)
{
  return parse_well (text).starcoder2;
}

/* As Transformers has it where nothing is said, as bigcode/starcoder2-3b has
 * it, with what Transformers does not read, and in the words of version 5. */
static void
test_starcoder2 (void)
{
  QmStarcoder2Config config = good ("{" STARCODER2 "}");

  CHECK_INT (config.vocab_size, 49152);
  CHECK_INT (config.key_heads, 2);
  CHECK_INT (config.max_positions, 4096);
  CHECK_INT (config.pad_token_id, -1);
  CHECK_INT (config.window, -1);
  CHECK_INT (config.activation, QM_ACTIVATION_GELU_TANH);
  CHECK_INT (config.rope.kind, QM_ROPE_DEFAULT);
  CHECK_NEAR (config.rope.theta, 10000, 0);
  CHECK_NEAR (config.norm_eps, 1e-5, 0);
  CHECK_NEAR (config.initializer_range, 0.018042, 0);
  CHECK_NEAR (config.embedding_dropout, 0, 0);
  CHECK_NEAR (config.hidden_dropout, 0, 0);
  CHECK_NEAR (config.attention_dropout, 0, 0);
  CHECK (config.use_bias && config.tie_word_embeddings);
  config = good ("{" STARCODER2 ", \"attention_dropout\": 0.1,"
                 "\"attention_softmax_in_fp32\": true,"
                 "\"embedding_dropout\": 0.2, \"layer_norm_epsilon\": 0.1,"
                 "\"max_position_embeddings\": 16384,"
                 "\"mlp_type\": \"default\", \"norm_type\": \"layer_norm\","
                 "\"pad_token_id\": null, \"residual_dropout\": 0.3,"
                 "\"rope_theta\": 999999.4420358813,"
                 "\"scale_attention_softmax_in_fp32\": true,"
                 "\"scale_attn_weights\": true, \"sliding_window\": 4096}");
  CHECK_INT (config.window, 4096);
  CHECK_NEAR (config.rope.theta, 999999.4420358813, 0);
  CHECK_NEAR (config.norm_eps, 1e-5, 0);
  CHECK_NEAR (config.attention_dropout, 0.1, 0);
  CHECK_NEAR (config.embedding_dropout, 0.2, 0);
  CHECK_NEAR (config.hidden_dropout, 0.3, 0);
  config = good ("{" STARCODER2 ", \"sliding_window\": null,"
                 "\"use_bias\": false, \"tie_word_embeddings\": false,"
                 "\"pad_token_id\": 49151, \"num_key_value_heads\": 8,"
                 "\"rope_scaling\": null, \"rope_parameters\":"
                 "{\"rope_type\": \"linear\", \"rope_theta\": 700,"
                 "\"factor\": 4}}");
  CHECK_INT (config.window, -1);
  CHECK_INT (config.pad_token_id, 49151);
  CHECK_INT (config.key_heads, 8);
  CHECK_INT (config.rope.kind, QM_ROPE_LINEAR);
  CHECK_NEAR (config.rope.theta, 700, 0);
  CHECK_NEAR (config.rope.factor, 4, 0);
  CHECK (!config.use_bias && !config.tie_word_embeddings);
  check_case ("");
}

#define MAMBA2                                       \
  "\"model_type\": \"mamba2\", \"hidden_size\": 64," \
  "\"num_hidden_layers\": 2, \"num_heads\": 8,"      \
  "\"head_dim\": 16, \"n_groups\": 2"

static QmMamba2Config
mamba2_of (const char *text)
{
  return parse_well (text).mamba2;
}

/* As Transformers has it where nothing is said, and as the hub's files have it,
 * with what Transformers does not read. */
static void
test_mamba2 (void)
{
  QmMamba2Config config = mamba2_of ("{\"model_type\": \"mamba2\","
                                     "\"hidden_size\": 4096,"
                                     "\"num_hidden_layers\": 64}");

  CHECK_INT (config.vocab_size, 32768);
  CHECK_INT (config.heads, 128);
  CHECK_INT (config.head_dim, 64);
  CHECK_INT (config.groups, 8);
  CHECK_INT (config.state_size, 128);
  CHECK_INT (config.expand, 2);
  CHECK_INT (config.conv_kernel, 4);
  CHECK_INT (config.chunk_size, 256);
  CHECK_NEAR (config.norm_eps, 1e-5, 0);
  CHECK_NEAR (config.initializer_range, 0.1, 0);
  CHECK_NEAR (config.time_step_min, 0.001, 0);
  CHECK_NEAR (config.time_step_max, 0.1, 0);
  CHECK_NEAR (config.time_step_floor, 1e-4, 0);
  CHECK_NEAR (config.time_step_least, 0, 0);
  CHECK_NEAR (config.time_step_most, 0, 0);
  CHECK (!config.use_bias && config.use_conv_bias && config.residual_in_fp32);
  CHECK (!config.tie_word_embeddings && !config.rescale_prenorm_residual);
  config = mamba2_of ("{" MAMBA2 ", \"norm_before_gate\": true,"
                      "\"rms_norm\": true, \"hidden_act\": \"silu\","
                      "\"time_step_limit\": [0.0, Infinity],"
                      "\"time_step_rank\": 4, \"use_bias\": true}");
  CHECK_NEAR (config.time_step_most, 0, 0);
  CHECK (config.use_bias);
  config = mamba2_of ("{" MAMBA2 ", \"time_step_limit\": [-1, 0.25]}");
  CHECK_NEAR (config.time_step_least, 0, 0);
  CHECK_NEAR (config.time_step_most, 0.25, 0);
  config = mamba2_of ("{" MAMBA2 ", \"time_step_limit\":"
                      "[0.125, {\"__float__\": \"Infinity\"}]}");
  CHECK_NEAR (config.time_step_least, 0.125, 0);
  CHECK_NEAR (config.time_step_most, 0, 0);
  check_case ("");
}

/* The recipe's dropout is that of the embeddings, too. */
static void
test_dropout (void)
{
  QmRecipe recipe = {
    .batch_size = 1, .steps = 1, .sequence_length = 9, .dropout = 0.25
  };
  QmModelConfig config =
      parse_well ("{" STARCODER2 ", \"attention_dropout\": 0.5}");
  QmError error = { 0 };

  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "recipe.json", &error),
             QM_OK);
  CHECK_NEAR (config.starcoder2.hidden_dropout, 0.25, 0);
  CHECK_NEAR (config.starcoder2.embedding_dropout, 0.25, 0);
  CHECK_NEAR (config.starcoder2.attention_dropout, 0.5, 0);
}

static const Refused refused[] = {
  { "{" STARCODER2 ",\n \"mlp_type\": \"gated\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "mlp_type: 'gated' is not supported, only 'default'" },
  { "{" STARCODER2 ",\n \"norm_type\": \"rms_norm\"}", QM_STATUS_UNSUPPORTED, 2,
    2, "norm_type: 'rms_norm' is not supported, only 'layer_norm'" },
  { "{" STARCODER2 ",\n \"head_dim\": 16}", QM_STATUS_UNSUPPORTED, 2, 2,
    "head_dim: unsupported field" },
  { "{" STARCODER2 ",\n \"sliding_window\": 0}", QM_STATUS_INVALID, 2, 2,
    "sliding_window: 0 is not between 1" },
  { "{" STARCODER2 ",\n \"use_bias\": null}", QM_STATUS_UNSUPPORTED, 2, 2,
    "use_bias: null is not supported" },
  { "{" STARCODER2 ",\n \"num_key_value_heads\": 3}", QM_STATUS_INVALID, 2, 2,
    "num_key_value_heads: 8 heads are not divisible by 3" },
  { "{" STARCODER2 ",\n \"pad_token_id\": 49152}", QM_STATUS_INVALID, 2, 2,
    "pad_token_id: 49152 is not between 0 and 49151" },
  { "{" STARCODER2 ",\n \"rope_scaling\": {\"rope_type\": \"dynamic\","
    "\"factor\": 2}}",
    QM_STATUS_UNSUPPORTED, 2, 19, "rope_type: 'dynamic' is not supported" },
  { "{" STARCODER2 ", \"rope_parameters\": {\"rope_theta\": 9},"
    "\n \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}}",
    QM_STATUS_UNSUPPORTED, 2, 2,
    "rope_scaling: is not supported beside rope_parameters" },
  { "{" MAMBA2 ",\n \"hidden_act\": \"gelu\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "hidden_act: 'gelu' is not supported, only 'silu'" },
  { "{" MAMBA2 ",\n \"rms_norm\": false}", QM_STATUS_UNSUPPORTED, 2, 2,
    "rms_norm: only true is supported" },
  { "{" MAMBA2 ",\n \"expand\": 3}", QM_STATUS_INVALID, 1, 68,
    "num_heads: 8 heads of 16 are not the 192 channels that there are" },
  { "{\"model_type\": \"mamba2\", \"hidden_size\": 6,"
    "\"num_hidden_layers\": 1, \"num_heads\": 3, \"head_dim\": 4,"
    "\n \"n_groups\": 2}",
    QM_STATUS_INVALID, 2, 2, "n_groups: 3 heads are not divisible by 2" },
  { "{" MAMBA2 ",\n \"time_step_limit\": 3}", QM_STATUS_INVALID, 2, 2,
    "time_step_limit: is not a list of two numbers" },
  { "{" MAMBA2 ",\n \"time_step_limit\": [0, {\"__float__\": \"NaN\"}]}",
    QM_STATUS_INVALID, 2, 2, "time_step_limit: is not a list of two numbers" },
  { "{" MAMBA2 ",\n \"time_step_limit\": [0.5, 0.25]}", QM_STATUS_UNSUPPORTED,
    2, 2, "time_step_limit: nothing is between 0.5 and 0.25" },
  { "{" MAMBA2 ",\n \"time_step_max\": Infinity}", QM_STATUS_INVALID, 2, 2,
    "time_step_max: 1.7e+308 is not between" },
  { "{" MAMBA2 ",\n \"mixer_rms_eps\": 0.1}", QM_STATUS_UNSUPPORTED, 2, 2,
    "mixer_rms_eps: unsupported field" },
  { "{\"model_type\": \"starcoder2\", \"hidden_size\": 6,"
    "\"num_hidden_layers\": 1,\n\"num_attention_heads\": 2,"
    "\"intermediate_size\": 8}",
    QM_STATUS_INVALID, 2, 1, "num_attention_heads: heads of 3 elements" },
};

int
main (void)
{
  test_starcoder2 ();
  test_dropout ();
  check_written ("{" STARCODER2 "}");
  check_written ("{" STARCODER2 ", \"sliding_window\": 5, \"pad_token_id\": 0,"
                 "\"use_bias\": false, \"tie_word_embeddings\": false,"
                 "\"hidden_act\": \"silu\", \"residual_dropout\": 0.125,"
                 "\"rope_parameters\": {\"rope_type\": \"yarn\","
                 "\"rope_theta\": 100, \"factor\": 2, \"truncate\": false,"
                 "\"original_max_position_embeddings\": 64}}");
  test_mamba2 ();
  check_written ("{" MAMBA2 "}");
  check_written ("{" MAMBA2 ", \"time_step_limit\": [0.25, 0.5],"
                 "\"chunk_size\": 7, \"use_conv_bias\": false,"
                 "\"tie_word_embeddings\": true, \"conv_kernel\": 2}");
  check_written ("{" MAMBA2 ", \"time_step_limit\": [0.25, Infinity]}");
  check_refused (refused, sizeof refused / sizeof refused[0]);
  return check_report ();
}
