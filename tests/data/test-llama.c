/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of decoders that are built like Llama. */

#include "data/family.h"
#include "tests/data/configurations.h"

#include <stdlib.h>
#include <string.h>

#define LLAMA                                             \
  "\"model_type\": \"llama\", \"hidden_size\": 64,"       \
  "\"num_hidden_layers\": 4, \"num_attention_heads\": 8," \
  "\"intermediate_size\": 128"
#define OTHER(type)                                       \
  "\"model_type\": \"" type "\", \"hidden_size\": 64,"    \
  "\"num_hidden_layers\": 4, \"num_attention_heads\": 8," \
  "\"intermediate_size\": 128"

static QmLlamaConfig
parse_llama (const char *text)
{
  return parse_well (text).llama;
}

/* Layers with a window, or without positions, as bits. */
static void
test_llama_layers (void)
{
  static const struct
  {
    const char *text;
    int64_t window;
    uint64_t windowed, unrotated;
  } cases[] = {
    { "{" LLAMA "}", 0, 0, 0 },
    { "{" OTHER ("mistral") "}", 4096, 15, 0 },
    { "{" OTHER ("mistral") ", \"sliding_window\": null}", 0, 0, 0 },
    { "{" OTHER ("qwen2") ", \"num_key_value_heads\": 8,"
                          "\"sliding_window\": 9, \"max_window_layers\": 2}",
      0, 0, 0 },
    { "{" OTHER ("qwen2") ", \"num_key_value_heads\": 8,"
                          "\"sliding_window\": 9, \"max_window_layers\": 2,"
                          "\"use_sliding_window\": true}",
      9, 12, 0 },
    { "{" OTHER ("olmo3") "}", 4096, 7, 0 },
    { "{" OTHER ("olmo3") ", \"layer_types\": [\"full_attention\","
                          "\"sliding_attention\", \"full_attention\", "
                          "\"full_attention\"]}",
      4096, 2, 0 },
    { "{" OTHER ("smollm3") "}", 0, 0, 8 },
    { "{" OTHER (
          "smollm3") ", \"no_rope_layers\": [1, 0, 0, 1, 1],"
                     "\"use_sliding_window\": true, \"sliding_window\": 5}",
      5, 6, 6 },
    { "{" OTHER ("gemma3_text") ", \"sliding_window_pattern\": 2}", 4096, 5,
      0 },
    { "{" OTHER ("gemma3_text") ", \"_sliding_window_pattern\": 6}", 4096, 15,
      0 },
    { "{" OTHER ("gemma3_text") ", \"_sliding_window_pattern\": 2,"
                                "\"sliding_window_pattern\": 2}",
      4096, 5, 0 },
    { "{" OTHER ("gemma3_text") ", \"_sliding_window_pattern\": 6,"
                                "\"layer_types\": [\"sliding_attention\","
                                "\"full_attention\", \"full_attention\","
                                "\"full_attention\"]}",
      4096, 1, 0 },
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmLlamaConfig config = parse_llama (cases[i].text);

      CHECK_INT (config.window, cases[i].window);
      CHECK_INT ((int64_t) config.windowed[0], (int64_t) cases[i].windowed);
      CHECK_INT ((int64_t) config.unrotated[0], (int64_t) cases[i].unrotated);
    }
  check_case ("");
}

/* As both Transformers 4.57 and 5 read them. */
static void
test_llama_fields (void)
{
  QmLlamaConfig config =
      parse_llama ("{" LLAMA ", \"tie_word_embeddings\": true}");

  CHECK_INT (config.key_heads, 8);
  CHECK_INT (config.head_size, 8);
  CHECK_INT (config.pad_token_id, -1);
  CHECK_INT (config.rope.kind, QM_ROPE_DEFAULT);
  CHECK_NEAR (config.rope.theta, 10000, 0);
  CHECK_NEAR (config.norm_eps, 1e-6, 0);
  CHECK (!config.attention_bias && config.tie_word_embeddings);
  /* What SmolLM2's files have, and those that other trainers wrote. */
  parse_llama ("{" LLAMA ", \"is_llama_config\": true,"
               "\"rope_interleaved\": false, \"unsloth_fixed\": true,"
               "\"unsloth_version\": \"2024.12\","
               "\"_flash_attn_2_enabled\": true}");
  config = parse_llama ("{" LLAMA ", \"head_dim\": null,"
                        "\"num_key_value_heads\": 2, \"mlp_bias\": true,"
                        "\"rope_theta\": 500, \"rope_scaling\": {\"type\":"
                        "\"linear\", \"factor\": 4.0}}");
  CHECK_INT (config.key_heads, 2);
  CHECK (config.mlp_bias && !config.output_bias);
  CHECK_INT (config.rope.kind, QM_ROPE_LINEAR);
  CHECK_NEAR (config.rope.theta, 500, 0);
  CHECK_NEAR (config.rope.factor, 4, 0);
  config = parse_llama (
      "{" OTHER ("qwen3") ", \"num_key_value_heads\": 2,"
                          "\"rope_parameters\": {\"rope_theta\": 1000,"
                          "\"rope_type\": \"yarn\", \"factor\": 4.0,"
                          "\"original_max_position_embeddings\": 100}}");
  CHECK_INT (config.head_size, 128);
  CHECK_INT (config.rope.kind, QM_ROPE_YARN);
  CHECK_NEAR (config.rope.amplitude, 1.1386294361119891, 1e-12);
  CHECK_NEAR (config.rope.original_positions, 100, 0);
  CHECK_INT (config.query_norms, QM_QUERY_NORMS_HEAD);
  config = parse_llama ("{" OTHER ("qwen2") ", \"num_key_value_heads\": 8}");
  CHECK (config.attention_bias && !config.output_bias);
  config = parse_llama ("{" OTHER ("olmo2") "}");
  CHECK_INT (config.norms, QM_NORMS_AFTER);
  CHECK_INT (config.pad_token_id, 1);
  CHECK_NEAR (config.norm_eps, 1e-5, 0);
  /* Where nothing is said, as 5 has it; what is written says it. */
  CHECK_NEAR (parse_llama ("{" OTHER ("olmo3") "}").rope.theta, 500000, 0);
  CHECK_NEAR (parse_llama ("{" OTHER ("olmo3") "}").local_rope.theta, 500000,
              0);
  config = parse_llama ("{" OTHER (
      "gemma3_text") ", \"rope_scaling\":"
                     "{\"rope_type\": \"linear\", \"factor\": 8.0}}");
  CHECK_NEAR (config.rope.theta, 1e6, 0);
  CHECK_NEAR (config.local_rope.theta, 1e4, 0);
  CHECK_INT (config.rope.kind, QM_ROPE_LINEAR);
  CHECK_INT (config.local_rope.kind, QM_ROPE_DEFAULT);
  CHECK_NEAR (config.query_scalar, 256, 0);
  config = parse_llama ("{" OTHER (
      "gemma3_text") ", \"rope_scaling\": {\"rope_type\": \"linear\","
                     "\"type\": \"linear\", \"factor\": 8.0}}");
  CHECK_INT (config.rope.kind, QM_ROPE_LINEAR);
  CHECK_INT (config.activation, QM_ACTIVATION_GELU_TANH);
  CHECK_NEAR (config.logit_cap, 0, 0);
  config = parse_llama (
      "{" OTHER ("gemma3_text") ", \"final_logit_softcapping\": 30.0,"
                                "\"attn_logit_softcapping\": null}");
  CHECK_NEAR (config.logit_cap, 30, 0);
  check_case ("");
}

/* Of what only some models have, those without it keep the key that they had
 * before there was such a field. */
static void
test_cap (void)
{
  const QmRecipe recipe = { .batch_size = 1, .steps = 1, .sequence_length = 9 };
  QmModelConfig plain = parse_well ("{" OTHER ("gemma3_text") "}");
  QmModelConfig capped = parse_well (
      "{" OTHER ("gemma3_text") ", \"final_logit_softcapping\": 30.0}");
  char key[QM_MODEL_KEY_BYTES], other[QM_MODEL_KEY_BYTES];
  json_t *fields = qm_model_config_json (&plain, false);

  CHECK (json_object_get (fields, "logit_cap") == NULL);
  json_decref (fields);
  fields = qm_model_config_json (&capped, false);
  CHECK_NEAR (json_number_value (json_object_get (fields, "logit_cap")), 30, 0);
  json_decref (fields);
  qm_model_key (&plain, &recipe, key);
  CHECK_STRING (key, "39c174567b3178a0");
  qm_model_key (&capped, &recipe, other);
  CHECK (strcmp (key, other) != 0);
  check_case ("");
}

static const Refused refused[] = {
  { "{" LLAMA ",\n \"num_key_value_heads\": 3}", QM_STATUS_INVALID, 2, 2,
    "num_key_value_heads: 8 heads are not divisible by 3" },
  { "{" LLAMA ",\n \"head_dim\": 7}", QM_STATUS_INVALID, 2, 2,
    "head_dim: 7 is odd" },
  { "{" LLAMA ",\n \"sliding_window\": 7}", QM_STATUS_UNSUPPORTED, 2, 2,
    "sliding_window: unsupported field" },
  { "{" LLAMA ",\n \"layer_types\": [\"full_attention\", \"full_attention\","
    "\"full_attention\", \"sliding_attention\"]}",
    QM_STATUS_UNSUPPORTED, 2, 2, "layer_types: all layers of a llama model" },
  { "{" LLAMA ",\n \"rope_scaling\": {\n\"rope_type\": \"dynamic\"}}",
    QM_STATUS_UNSUPPORTED, 3, 1,
    "rope_scaling.rope_type: 'dynamic' is not supported; default, linear" },
  { "{" LLAMA ",\n \"rope_scaling\": {\n\"rope_type\": \"llama3\"}}",
    QM_STATUS_INVALID, 2, 2, "rope_scaling.factor: is missing" },
  { "{" LLAMA ",\n \"rope_scaling\": {\"factor\": 4}}", QM_STATUS_INVALID, 2, 2,
    "rope_scaling.rope_type: is missing" },
  { "{" LLAMA ",\n \"rope_parameters\": {\n\"partial_rotary_factor\": 0.5}}",
    QM_STATUS_UNSUPPORTED, 3, 1,
    "rope_parameters.partial_rotary_factor: only 1 is supported" },
  { "{" LLAMA ",\n \"vocab_size\": 9, \"pad_token_id\": 9}", QM_STATUS_INVALID,
    2, 19, "pad_token_id: 9 is not between 0 and 8" },
  { "{" OTHER ("mistral") ",\n \"attention_bias\": true}",
    QM_STATUS_UNSUPPORTED, 2, 2, "attention_bias: unsupported field" },
  { "{" OTHER ("olmo3") ",\n \"rope_theta\": 10000}", QM_STATUS_UNSUPPORTED, 2,
    2,
    "rope_theta: is of all layers to Transformers 4, and to 5 of those without "
    "a window, the others having 500000; write rope_parameters instead" },
  { "{" OTHER ("olmo3") ",\n \"sliding_window\": null}", QM_STATUS_UNSUPPORTED,
    2, 2, "sliding_window: layers slide, but" },
  { "{" OTHER ("olmo3") ",\n \"rope_parameters\": {\n\"factor\": 2}}",
    QM_STATUS_UNSUPPORTED, 3, 1, "rope_parameters.factor: unsupported field" },
  { "{" OTHER ("gemma3_text") ",\n \"_sliding_window_pattern\": 2}",
    QM_STATUS_UNSUPPORTED, 2, 2,
    "_sliding_window_pattern: is not read by Transformers, to which it is 6" },
  { "{" OTHER ("gemma3_text") ",\n \"rope_scaling\": {\"type\": \"linear\","
                              "\"factor\": 2}}",
    QM_STATUS_UNSUPPORTED, 2, 2, "rope_scaling: has a type, which" },
  { "{" OTHER ("olmo3") ",\n \"rope_scaling\": {\"type\": \"linear\","
                        "\"factor\": 2}}",
    QM_STATUS_UNSUPPORTED, 2, 2, "rope_scaling: has a type, which" },
  { "{" OTHER ("gemma3_text") ",\n \"attn_logit_softcapping\": 50.0}",
    QM_STATUS_UNSUPPORTED, 2, 2, "attn_logit_softcapping: unsupported" },
  { "{" OTHER ("gemma3_text") ",\n \"final_logit_softcapping\": 0.0}",
    QM_STATUS_INVALID, 2, 2, "final_logit_softcapping: 0 is not between" },
  { "{" LLAMA ",\n \"final_logit_softcapping\": 30.0}", QM_STATUS_UNSUPPORTED,
    2, 2, "final_logit_softcapping: unsupported field" },
  { "{" OTHER ("gemma3_text") ",\n \"use_bidirectional_attention\": true}",
    QM_STATUS_UNSUPPORTED, 2, 2, "use_bidirectional_attention: unsupported" },
  /* What scores are scaled by. */
  { "{" OTHER ("gemma3_text") ",\n \"query_pre_attn_scalar\": 0}",
    QM_STATUS_INVALID, 2, 2, "query_pre_attn_scalar: 0 is not between 1e-06" },
  { "{" OTHER ("gemma3_text") ",\n \"query_pre_attn_scalar\": -256.0}",
    QM_STATUS_INVALID, 2, 2, "query_pre_attn_scalar: -256 is not between" },
  { "{" OTHER ("gemma3_text") ",\n \"query_pre_attn_scalar\": Infinity}",
    QM_STATUS_INVALID, 2, 2, "query_pre_attn_scalar: 1.7e+308 is not between" },
  { "{" LLAMA ",\n \"query_pre_attn_scalar\": 16}", QM_STATUS_UNSUPPORTED, 2, 2,
    "query_pre_attn_scalar: unsupported field" },
  { "{" LLAMA ",\n \"attention_multiplier\": -1.0}", QM_STATUS_UNSUPPORTED, 2,
    2, "attention_multiplier: unsupported field" },
  { "{" LLAMA ",\n \"rope_scaling\": {\"rope_type\": \"yarn\",\n"
    "\"factor\": 2,\n\"attention_factor\": 0}}",
    QM_STATUS_INVALID, 4, 1,
    "rope_scaling.attention_factor: 0 is not between" },
  { "{" LLAMA ",\n \"rope_scaling\": {\"rope_type\": \"yarn\",\n"
    "\"factor\": 2,\n\"attention_factor\": -1}}",
    QM_STATUS_INVALID, 4, 1, "rope_scaling.attention_factor: -1 is not" },
  { "{" LLAMA ",\n \"rope_scaling\": {\"rope_type\": \"yarn\",\n"
    "\"mscale\": -1,\n\"mscale_all_dim\": 1, \"factor\": 2}}",
    QM_STATUS_INVALID, 3, 1, "rope_scaling.mscale: -1 is not between 0" },
  { "{" LLAMA ",\n \"rope_scaling\": {\"rope_type\": \"yarn\",\n"
    "\"factor\": 0}}",
    QM_STATUS_INVALID, 3, 1, "rope_scaling.factor: 0 is not between" },
};

int
main (void)
{
  test_llama_layers ();
  test_llama_fields ();
  test_cap ();
  check_written ("{" OTHER ("gemma3_text") "}");
  check_written (
      "{" OTHER ("gemma3_text") ", \"final_logit_softcapping\": 30.0}");
  check_written ("{" OTHER ("olmo3") "}");
  check_written ("{" OTHER (
      "olmo3") ", \"rope_parameters\": {\"full_attention\":"
               "{\"rope_type\": \"default\", \"rope_theta\": 10000},"
               "\"sliding_attention\":"
               "{\"rope_type\": \"default\", \"rope_theta\": 10000}}}");
  check_refused (refused, sizeof refused / sizeof refused[0]);
  return check_report ();
}
