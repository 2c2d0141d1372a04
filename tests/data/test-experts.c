/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations of mixtures of experts. */

#include "data/model.h"
#include "tests/data/configurations.h"

#include <string.h>

#define SIZES                                      \
  "\"hidden_size\": 64, \"num_hidden_layers\": 4," \
  "\"num_attention_heads\": 8, \"intermediate_size\": 24"
#define MANY(type, layers)                                         \
  "\"model_type\": \"" type "\", \"hidden_size\": 64,"             \
  "\"num_hidden_layers\": " layers ", \"num_attention_heads\": 8," \
  "\"intermediate_size\": 24"
#define OLMOE   "\"model_type\": \"olmoe\", " SIZES
#define QWEN3   "\"model_type\": \"qwen3_moe\", " SIZES
#define MIXTRAL "\"model_type\": \"mixtral\", " SIZES

static QmLlamaConfig
good (const char *text)
{
  QmModelConfig config = { 0 };
  QmError error;

  check_case (text);
  CHECK_INT (parse (text, &config, &error), QM_OK);
  CHECK_STRING (error.message, "");
  return config.llama;
}

/* The loss of balance counts where the logits of routers are wanted. */
static void
test_olmoe (void)
{
  QmLlamaConfig config = good ("{" OLMOE ", \"clip_qkv\": null}");

  CHECK_INT (config.experts, 64);
  CHECK_INT (config.experts_per_token, 8);
  CHECK_INT (config.expert_size, 24);
  CHECK_INT (config.key_heads, 8);
  CHECK_INT (config.vocab_size, 50304);
  CHECK_INT (config.pad_token_id, 1);
  CHECK_INT (config.query_norms, QM_QUERY_NORMS_PROJECTION);
  CHECK_INT (config.norms, QM_NORMS_BEFORE);
  CHECK_NEAR (config.norm_eps, 1e-5, 0);
  CHECK_NEAR (config.rope.theta, 10000, 0);
  CHECK_NEAR (config.balance, 0, 0);
  CHECK (!config.normalized_experts);
  config = good ("{" OLMOE ", \"num_local_experts\": 5, \"num_experts\": 5,"
                 "\"num_experts_per_tok\": 5, \"norm_topk_prob\": true,"
                 "\"output_router_logits\": true}");
  CHECK_INT (config.experts, 5);
  CHECK_NEAR (config.balance, 0.01, 0);
  CHECK (config.normalized_experts);
}

static void
test_qwen3 (void)
{
  QmLlamaConfig config = good ("{" QWEN3 ", \"max_window_layers\": 28,"
                               "\"sliding_window\": 4096,"
                               "\"mlp_only_layers\": null}");

  CHECK_INT (config.experts, 128);
  CHECK_INT (config.experts_per_token, 8);
  CHECK_INT (config.expert_size, 768);
  CHECK_INT (config.intermediate_size, 24);
  CHECK_INT (config.key_heads, 4);
  CHECK_INT (config.head_size, 8);
  CHECK_INT (config.window, 0);
  CHECK_INT (config.query_norms, QM_QUERY_NORMS_HEAD);
  CHECK_INT ((int64_t) config.dense[0], 0);
  config = good ("{" QWEN3 ", \"decoder_sparse_step\": 2,"
                 "\"use_sliding_window\": true, \"sliding_window\": 5,"
                 "\"mlp_only_layers\": [3], \"moe_intermediate_size\": 7,"
                 "\"output_router_logits\": true,"
                 "\"router_aux_loss_coef\": 0.5}");
  CHECK_INT ((int64_t) config.dense[0], 13);
  CHECK_INT (config.expert_size, 7);
  CHECK_INT (config.window, 5);
  CHECK_INT ((int64_t) config.windowed[0], 15);
  CHECK_NEAR (config.balance, 0.5, 0);
}

static void
test_mixtral (void)
{
  QmLlamaConfig config = good ("{" MIXTRAL ", \"router_jitter_noise\": 0.0,"
                               "\"sliding_window\": null, \"head_dim\": null}");

  CHECK_INT (config.experts, 8);
  CHECK_INT (config.experts_per_token, 2);
  CHECK_INT (config.expert_size, 24);
  CHECK_INT (config.key_heads, 8);
  CHECK_INT (config.head_size, 8);
  CHECK_INT (config.window, 0);
  CHECK_NEAR (config.rope.theta, 1e6, 0);
  CHECK (config.normalized_experts);
  good ("{" MANY ("mixtral", "64") ", \"num_local_experts\": 4096}");
  good ("{" MANY ("qwen3_moe", "1000") ", \"num_experts\": 524,"
                                       "\"decoder_sparse_step\": 2}");
  config = good ("{" MIXTRAL ", \"sliding_window\": 9}");
  CHECK_INT (config.window, 9);
}

typedef struct Wrong
{
  const char *text;
  QmStatus status;
  const char *message;
} Wrong;

static const Wrong wrong[] = {
  { "{" OLMOE ", \"clip_qkv\": 8.0}", QM_STATUS_UNSUPPORTED,
    "clip_qkv: has a value" },
  { "{" OLMOE ", \"head_dim\": 16}", QM_STATUS_UNSUPPORTED,
    "head_dim: only hidden_size / num_attention_heads" },
  { "{" OLMOE ", \"moe_intermediate_size\": 16}", QM_STATUS_UNSUPPORTED,
    "moe_intermediate_size: unsupported field" },
  { "{" OLMOE ", \"num_experts\": 4, \"num_local_experts\": 5}",
    QM_STATUS_INVALID, "num_experts: 4 does not agree with the 5" },
  { "{" OLMOE ", \"num_experts_per_tok\": 65}", QM_STATUS_INVALID,
    "num_experts_per_tok: there are only 64 experts" },
  { "{" OLMOE ", \"sliding_window\": 5}", QM_STATUS_UNSUPPORTED,
    "sliding_window: unsupported field" },
  { "{" OLMOE ", \"output_router_logits\": null}", QM_STATUS_UNSUPPORTED,
    "output_router_logits: null is not supported" },
  { "{" QWEN3 ", \"mlp_only_layers\": [0, 1, 2, 3]}", QM_STATUS_UNSUPPORTED,
    "mlp_only_layers: no layer has experts" },
  { "{" QWEN3 ", \"mlp_only_layers\": [4]}", QM_STATUS_INVALID,
    "mlp_only_layers: an element is none of the 4 layers" },
  { "{" QWEN3 ", \"mlp_only_layers\": 3}", QM_STATUS_INVALID,
    "mlp_only_layers: is not a list" },
  { "{" QWEN3 ", \"shared_expert_intermediate_size\": 16}",
    QM_STATUS_UNSUPPORTED, "shared_expert_intermediate_size: unsupported" },
  { "{" MANY ("qwen3_moe", "65") ", \"num_experts\": 4096}",
    QM_STATUS_UNSUPPORTED,
    "num_experts: 4096 in each of 65 layers are more than the 262144 that" },
  { "{" MANY ("mixtral", "1000") ", \"num_local_experts\": 263}",
    QM_STATUS_UNSUPPORTED,
    "num_local_experts: 263 in each of 1000 layers are more than the 262144" },
  { "{" MIXTRAL ", \"router_jitter_noise\": 0.1}", QM_STATUS_UNSUPPORTED,
    "router_jitter_noise: only 0 is supported" },
  { "{" MIXTRAL ", \"norm_topk_prob\": true}", QM_STATUS_UNSUPPORTED,
    "norm_topk_prob: unsupported field" },
  { "{" MIXTRAL ", \"num_local_experts\": 0}", QM_STATUS_INVALID,
    "num_local_experts: 0 is not between" },
};

static void
test_refused (void)
{
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    {
      QmModelConfig config;
      QmError error;

      check_case (wrong[i].message);
      CHECK_INT (parse (wrong[i].text, &config, &error), wrong[i].status);
      CHECK_CONTAINS (error.message, wrong[i].message);
    }
  check_case ("");
}

int
main (void)
{
  test_olmoe ();
  test_qwen3 ();
  test_mixtral ();
  test_refused ();
  return check_report ();
}
