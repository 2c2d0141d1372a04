/* SPDX-License-Identifier: Apache-2.0 */

/* FLOPs and parameters of small models, counted by hand and by Transformers
 * 5.23 (parameters).  torch.utils.flop_counter counts the same products, and
 * the whole of attention, in the models of tests/golden; of those of the
 * catalog tests/data/count-torch.py counts it again. */

#include "data/catalog.h"
#include "data/flops.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check_counts (const char *name,
              const char *text,
              const char *recipe_text,
              double forward,
              int64_t parameters)
{
  QmModelConfig config;
  QmRecipe recipe = { 0 };
  QmError error = { 0 };

  check_case (name);
  CHECK (qm_model_config_parse (text, strlen (text), "config.json", &config,
                                &error)
         == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK (qm_recipe_parse (recipe_text, strlen (recipe_text), "recipe.json",
                          &recipe, &error)
         == QM_OK);
  CHECK (qm_model_apply_recipe (&config, &recipe, "recipe.json", &error)
         == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_NEAR (qm_flops_forward_sample (&config, &recipe), forward, 1e-14);
  CHECK_NEAR (qm_flops_train_sample (&config, &recipe), 3 * forward, 1e-14);
  CHECK_NEAR (qm_flops_train (&config, &recipe), 3 * forward * 7 * 11, 1e-14);
  CHECK_INT (qm_parameter_count (&config), parameters);
}

#define RECIPE(size)                                                      \
  "{\"batch_size\": 7, \"steps\": 11, " size ", \"precision\": \"fp32\"," \
  "\"optimizer\": \"adam\", \"learning_rate\": 1e-4, \"beta1\": 0.9,"     \
  "\"beta2\": 0.999, \"epsilon\": 1e-8, \"weight_decay\": 0}"
#define SIZES                                              \
  "\"hidden_size\": 8, \"num_hidden_layers\": 3,"          \
  "\"num_attention_heads\": 2, \"intermediate_size\": 20," \
  "\"rotary_pct\": 0.5,"
#define BERT_SIZES                                \
  "\"hidden_size\": 8, \"num_hidden_layers\": 3," \
  "\"num_attention_heads\": 2, \"intermediate_size\": 20, "

/* Of 5 tokens, h = 8, i = 20, L = 3: products of a layer
 * 2 x 5 x (4 x 64 + 2 x 160) = 5760, attention 4 x 25 x 8 = 800. */
static void
test_text (void)
{
  const double head = 2 * 5 * 8 * 50;

  check_counts ("gpt_neox",
                "{\"model_type\": \"gpt_neox\", " SIZES "\"vocab_size\": 50}",
                RECIPE ("\"sequence_length\": 5"), 3 * (5760 + 400) + head,
                2820);
  check_counts ("gpt_neox, tied, without bias",
                "{\"model_type\": \"gpt_neox\", " SIZES
                "\"vocab_size\": 50, \"tie_word_embeddings\": true,"
                "\"attention_bias\": false}",
                RECIPE ("\"sequence_length\": 5"), 3 * (5760 + 400) + head,
                2324);
  check_counts ("roberta",
                "{\"model_type\": \"roberta\", " BERT_SIZES
                "\"vocab_size\": 50, \"max_position_embeddings\": 32,"
                "\"type_vocab_size\": 1}",
                RECIPE ("\"sequence_length\": 5"),
                3 * (5760 + 800) + 2 * 5 * 64 + head, 2822);
  /* Transformers says 50 more: where weights are not tied it has the head's
   * bias twice and uses one of them. */
  check_counts ("bert, not tied",
                "{\"model_type\": \"bert\", " BERT_SIZES
                "\"vocab_size\": 50, \"max_position_embeddings\": 32,"
                "\"tie_word_embeddings\": false}",
                RECIPE ("\"sequence_length\": 5"),
                3 * (5760 + 800) + 2 * 5 * 64 + head, 3280 - 50);
}

/* h = 20, L = 3, d = 60, N = 5, k = 3, R = ceil (20 / 16) = 2: for a token
 * 2 (2hd + kd + d (R + 2N) + Rd + 3dN + dh)
 * = 2 (2400 + 180 + 720 + 120 + 900 + 1200) = 11040. */
static void
test_mamba (void)
{
  check_counts ("mamba",
                "{\"model_type\": \"mamba\", \"vocab_size\": 50,"
                "\"hidden_size\": 20, \"num_hidden_layers\": 3,"
                "\"state_size\": 5, \"expand\": 3, \"conv_kernel\": 3,"
                "\"time_step_rank\": \"auto\", \"use_bias\": true,"
                "\"use_conv_bias\": false, \"tie_word_embeddings\": false}",
                RECIPE ("\"sequence_length\": 5"),
                5 * (3 * 11040 + 2 * 20 * 50), 17620);
}

/* h = 20, L = 3, d = 60 of 6 heads, N = 5 of 2 groups, k = 3: for a token
 * 2 (h (2d + 2GN + H) + k (d + 2GN) + 5dN/2 + dh)
 * = 2 (2920 + 240 + 750 + 1200) = 10220. */
static void
test_mamba2 (void)
{
  check_counts ("mamba2",
                "{\"model_type\": \"mamba2\", \"vocab_size\": 50,"
                "\"hidden_size\": 20, \"num_hidden_layers\": 3,"
                "\"num_heads\": 6, \"head_dim\": 10, \"n_groups\": 2,"
                "\"state_size\": 5, \"expand\": 3, \"conv_kernel\": 3,"
                "\"use_bias\": true, \"use_conv_bias\": false}",
                RECIPE ("\"sequence_length\": 5"),
                5 * (3 * 10220 + 2 * 20 * 50), 15892);
}

/* 30 / 8 = 3 patches a side, 9 of 2 x 64 elements; 10 tokens: products
 * 2 x 10 x 576 = 11520, attention 4 x 100 x 8 = 3200. */
static void
test_vit (void)
{
  check_counts ("vit",
                "{\"model_type\": \"vit\", " BERT_SIZES
                "\"image_size\": 30, \"patch_size\": 8, \"num_channels\": 2,"
                "\"qkv_bias\": false, \"num_labels\": 7}",
                RECIPE ("\"image_size\": 30"),
                2 * 9 * 128 * 8 + 3 * (11520 + 3200) + 2 * 8 * 7, 3131);
}

#define CONVNEXT                                            \
  "{\"model_type\": \"convnext\", \"num_stages\": 3,"       \
  "\"depths\": [1, 2, 1], \"hidden_sizes\": [4, 6, 8],"     \
  "\"patch_size\": 3, \"num_channels\": 2, \"id2label\": {" \
  "\"0\": \"a\", \"1\": \"b\", \"2\": \"c\", \"3\": \"d\"," \
  "\"4\": \"e\", \"5\": \"f\", \"6\": \"g\"},"

/* 32 / 3 = 10 pixels a side, then 5, then 2. */
static void
test_convnext (void)
{
  const double forward = 2 * 100 * 18 * 4 + 1 * 2 * 100 * (49 * 4 + 8 * 16)
                         + 2 * 25 * 16 * 6 + 2 * 2 * 25 * (49 * 6 + 8 * 36)
                         + 2 * 4 * 24 * 8 + 1 * 2 * 4 * (49 * 8 + 8 * 64)
                         + 2 * 8 * 7;

  check_counts ("convnext", CONVNEXT "\"image_size\": 224}",
                RECIPE ("\"image_size\": 32"), forward, 3093);
  check_counts ("convnext without layer scale",
                CONVNEXT "\"layer_scale_init_value\": 0}",
                RECIPE ("\"image_size\": 32"), forward, 3069);
}

#define LLAMA_SIZES                                        \
  "\"hidden_size\": 8, \"num_hidden_layers\": 3,"          \
  "\"num_attention_heads\": 4, \"intermediate_size\": 20," \
  "\"num_key_value_heads\": 2, \"head_dim\": 6, \"vocab_size\": 50"

/* Of 5 tokens: queries are 24 wide, keys and values 12.  Products of a layer
 * 2 x 5 x (8 x 48 + 24 x 8 + 3 x 8 x 20) = 10560, attention half of
 * 4 x 25 x 24 = 1200; with a window of 2, 2/5 (1 - 1/5) x 2400 = 768. */
static void
test_llama (void)
{
  const double head = 2 * 5 * 8 * 50;

  check_counts ("llama", "{\"model_type\": \"llama\", " LLAMA_SIZES "}",
                RECIPE ("\"sequence_length\": 5"), 3 * (10560 + 1200) + head,
                4024);
  check_counts ("llama, tied, with biases",
                "{\"model_type\": \"llama\", " LLAMA_SIZES
                ", \"tie_word_embeddings\": true, \"attention_bias\": true,"
                "\"mlp_bias\": true}",
                RECIPE ("\"sequence_length\": 5"), 3 * (10560 + 1200) + head,
                3936);
  check_counts ("qwen3", "{\"model_type\": \"qwen3\", " LLAMA_SIZES "}",
                RECIPE ("\"sequence_length\": 5"), 3 * (10560 + 1200) + head,
                4060);
  check_counts ("olmo2", "{\"model_type\": \"olmo2\", " LLAMA_SIZES "}",
                RECIPE ("\"sequence_length\": 5"), 3 * (10560 + 1200) + head,
                4132);
  check_counts ("gemma3, two layers with a window",
                "{\"model_type\": \"gemma3_text\", " LLAMA_SIZES
                ", \"sliding_window\": 2, \"sliding_window_pattern\": 3}",
                RECIPE ("\"sequence_length\": 5"),
                3 * 10560 + 2 * 768 + 1200 + head, 3708);
}

/* As llama has them, but for the router and the experts: of 4 of them, of size
 * 20 or 6, 2 for a token: 2 x 5 x (8 x 4 + 2 x 3 x 8 x 20) instead of 4800 in
 * each layer, and 4 x 3 x 8 x 20 + 8 x 4 parameters instead of 480. */
static void
test_experts (void)
{
  const double head = 2 * 5 * 8 * 50;
  const char *experts =
      ", \"num_local_experts\": 4, \"num_experts_per_tok\": 2";
  char text[512];

  snprintf (text, sizeof text, "{\"model_type\": \"mixtral\", %s%s}",
            LLAMA_SIZES, experts);
  check_counts ("mixtral", text, RECIPE ("\"sequence_length\": 5"),
                3 * (10560 + 1200 + 320 + 4800) + head, 4024 + 3 * (1440 + 32));
  snprintf (text, sizeof text,
            "{\"model_type\": \"qwen3_moe\", %s%s,"
            "\"moe_intermediate_size\": 6, \"mlp_only_layers\": [0]}",
            LLAMA_SIZES, experts);
  check_counts ("qwen3_moe, one layer without", text,
                RECIPE ("\"sequence_length\": 5"),
                3 * (10560 + 1200) + 2 * (320 - 4800 + 2880) + head,
                4060 + 2 * (4 * 3 * 8 * 6 + 32 - 480));
}

/* Keys and values are 4 wide: products of a layer 2 x 5 x (2 x 64 + 2 x 32 +
 * 2 x 160) = 5120, attention half of 800; with a window of 2, 2/5 (1 - 1/5) x
 * 800 = 256. */
static void
test_starcoder2 (void)
{
  const double head = 2 * 5 * 8 * 50;

  check_counts ("starcoder2",
                "{\"model_type\": \"starcoder2\", " BERT_SIZES
                "\"num_key_value_heads\": 1, \"vocab_size\": 50}",
                RECIPE ("\"sequence_length\": 5"), 3 * (5120 + 400) + head,
                2204);
  check_counts ("starcoder2, untied, without biases, with a window",
                "{\"model_type\": \"starcoder2\", " BERT_SIZES
                "\"num_key_value_heads\": 1, \"vocab_size\": 50,"
                "\"use_bias\": false, \"tie_word_embeddings\": false,"
                "\"sliding_window\": 2}",
                RECIPE ("\"sequence_length\": 5"), 3 * (5120 + 256) + head,
                2448);
}

/* As bert has them, without its head, with half the attention. */
static void
test_gpt2 (void)
{
  const double head = 2 * 5 * 8 * 50;

  check_counts ("gpt2",
                "{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_layer\": 3,"
                "\"n_head\": 2, \"n_inner\": 20, \"vocab_size\": 50,"
                "\"n_positions\": 16}",
                RECIPE ("\"sequence_length\": 5"), 3 * (5760 + 400) + head,
                2548);
}

/* Of 5 tokens: products of a layer 2 x 5 x (4 x 64 + 3 x 8 x 20) = 7360,
 * attention 800; the second and third layer see 2 tokens to each side, itself
 * among them: 2/5 (2 - 2/5) x 800 = 512.  The head has 2 x 5 x 64 more. */
static void
test_modernbert (void)
{
  const double head = 2 * 5 * 8 * 8 + 2 * 5 * 8 * 50;

  check_counts ("modernbert",
                "{\"model_type\": \"modernbert\", " BERT_SIZES
                "\"vocab_size\": 50, \"pad_token_id\": 0,"
                "\"local_attention\": 3}",
                RECIPE ("\"sequence_length\": 5"),
                3 * 7360 + 800 + 2 * 512 + head, 2786);
  check_counts ("modernbert, untied, with biases, windows that see all",
                "{\"model_type\": \"modernbert\", " BERT_SIZES
                "\"vocab_size\": 50, \"pad_token_id\": null,"
                "\"local_attention\": 9, \"norm_bias\": true,"
                "\"attention_bias\": true, \"mlp_bias\": true,"
                "\"classifier_bias\": true, \"decoder_bias\": false,"
                "\"tie_word_embeddings\": false}",
                RECIPE ("\"sequence_length\": 5"), 3 * (7360 + 800) + head,
                3448);
}

/* The products of bert; parameters without the head for contacts. */
static void
test_esm (void)
{
  const double forward = 3 * (5760 + 800) + 2 * 5 * 8 * 8 + 2 * 5 * 8 * 50;

  check_counts ("esm",
                "{\"model_type\": \"esm\", " BERT_SIZES
                "\"vocab_size\": 50, \"pad_token_id\": 1,"
                "\"position_embedding_type\": \"rotary\"}",
                RECIPE ("\"sequence_length\": 5"), forward, 2558);
  check_counts ("esm, untied, with a norm of its embeddings",
                "{\"model_type\": \"esm\", " BERT_SIZES
                "\"vocab_size\": 50, \"pad_token_id\": 1,"
                "\"emb_layer_norm_before\": true,"
                "\"tie_word_embeddings\": false,"
                "\"position_embedding_type\": \"rotary\"}",
                RECIPE ("\"sequence_length\": 5"), forward, 2974);
}

/* Of an image of 3 x 3 patches of 4 x 4 x 3, 10 tokens and registers: patches
 * 2 x 9 x 48 x 8 = 6912.  Of 10 tokens the products of a layer
 * 2 x 10 x (4 x 64 + 2 x 8 x 32) = 15360, attention 4 x 100 x 8 = 3200, of 12
 * with gates of 24 2 x 12 x (4 x 64 + 3 x 8 x 24) = 19968 and 4608.
 * torch.utils.flop_counter counts the same; parameters without the token of
 * hidden patches. */
static void
test_dino (void)
{
#define DINO                                      \
  "\"hidden_size\": 8, \"num_hidden_layers\": 3," \
  "\"num_attention_heads\": 2, \"patch_size\": 4, \"num_labels\": 5"
  check_counts ("dinov2",
                "{\"model_type\": \"dinov2\", " DINO ", \"image_size\": 15}",
                RECIPE ("\"image_size\": 15"),
                6912 + 3 * (15360 + 3200) + 2 * 16 * 5, 3245);
  check_counts ("dinov2 with registers and gates, without biases",
                "{\"model_type\": \"dinov2_with_registers\", " DINO
                ", \"image_size\": 15, \"num_register_tokens\": 2,"
                "\"use_swiglu_ffn\": true, \"qkv_bias\": false}",
                RECIPE ("\"image_size\": 15"),
                6912 + 3 * (19968 + 4608) + 2 * 16 * 5, 3429);
  check_counts ("dinov3",
                "{\"model_type\": \"dinov3_vit\", " DINO
                ", \"intermediate_size\": 32}",
                RECIPE ("\"image_size\": 15"),
                6912 + 3 * (15360 + 3200) + 2 * 8 * 5, 3101);
  check_counts ("dinov3 with registers and gates",
                "{\"model_type\": \"dinov3_vit\", " DINO
                ", \"intermediate_size\": 24, \"num_register_tokens\": 2,"
                "\"use_gated_mlp\": true, \"key_bias\": true,"
                "\"mlp_bias\": false}",
                RECIPE ("\"image_size\": 13"),
                6912 + 3 * (19968 + 4608) + 2 * 8 * 5, 3213);
#undef DINO
}

/* Of an image of 3 x 3 patches of 4 x 4 x 3, of which 4 are kept: patches
 * 2 x 4 x 48 x 8 = 3072; 5 tokens through layers of the encoder, products
 * 2 x 5 x (4 x 64 + 2 x 8 x 32) = 7680 and attention 4 x 25 x 8 = 800; between
 * both 2 x 5 x 8 x 4 = 320; 10 tokens through layers of the decoder, products
 * 2 x 10 x (4 x 16 + 2 x 4 x 12) = 3200 and attention 4 x 100 x 4 = 1600;
 * pixels 2 x 10 x 4 x 48 = 3840.  torch.utils.flop_counter counts 2 x 5 x 48 x
 * 8 more for the patches that are hidden, 0.6 % of the large model's. */
static void
test_mae (void)
{
#define MAE                                                               \
  "{\"model_type\": \"vit_mae\", \"hidden_size\": 8,"                     \
  "\"num_hidden_layers\": 3, \"num_attention_heads\": 2,"                 \
  "\"intermediate_size\": 32, \"decoder_hidden_size\": 4,"                \
  "\"decoder_num_hidden_layers\": 2, \"decoder_num_attention_heads\": 1," \
  "\"decoder_intermediate_size\": 12, \"image_size\": 12,"                \
  "\"patch_size\": 4"
  check_counts ("vit_mae, half", MAE ", \"mask_ratio\": 0.5}",
                RECIPE ("\"image_size\": 12"), 46112 - 2 * 5 * 48 * 8, 3736);
  check_counts ("vit_mae, without biases", MAE ", \"qkv_bias\": false}",
                RECIPE ("\"image_size\": 12"), 35232 - 2 * 7 * 48 * 8, 3640);
#undef MAE
}

/* What torch.utils.flop_counter counts of 6 samples, with 7, and with half of
 * the 3 x 2 x 144 x 20 x 2 of attention that CLIP's texts need. */
static void
test_towers (void)
{
#define TOWERS                                                         \
  "\"vision_config\": {\"hidden_size\": 24, \"num_hidden_layers\": 2," \
  "\"num_attention_heads\": 3, \"intermediate_size\": 40,"             \
  "\"image_size\": 14, \"patch_size\": 4},"                            \
  "\"text_config\": {\"hidden_size\": 20, \"num_hidden_layers\": 3,"   \
  "\"num_attention_heads\": 2, \"intermediate_size\": 30,"             \
  "\"vocab_size\": 67, \"max_position_embeddings\": 12"
  check_counts ("clip",
                "{\"model_type\": \"clip\", \"projection_dim\": 14, " TOWERS
                ", \"eos_token_id\": 66}}",
                RECIPE ("\"image_size\": 14"),
                446456 + 2 * 14 - 3 * 2 * 144 * 20, 21739);
  check_counts ("siglip",
                "{\"model_type\": \"siglip\", " TOWERS
                ", \"projection_size\": 24}}",
                RECIPE ("\"image_size\": 14"), 453504 + 2 * 24, 26012);
#undef TOWERS
}

/* What torch.utils.flop_counter counts of tests/golden/make.py's DinoPair, of
 * all and of the teacher alone, which has no backward pass. */
static void
check_pair (const char *more, double forward, double ahead, int64_t parameters)
{
  static const char text[] =
      "{\"model_type\": \"dinov3_vit\", \"hidden_size\": 24,"
      "\"num_hidden_layers\": 2, \"num_attention_heads\": 3,"
      "\"intermediate_size\": 40, \"patch_size\": 4,"
      "\"num_register_tokens\": 2, \"head_n_prototypes\": 37,"
      "\"head_hidden_dim\": 20, \"head_bottleneck_dim\": 12,"
      "\"head_nlayers\": 4, \"local_crops_number\": 2,"
      "\"local_crops_size\": 8";
  const QmRecipe recipe = { .batch_size = 7, .steps = 11, .image_size = 32 };
  QmModelConfig config = { 0 };
  char whole[1024];

  snprintf (whole, sizeof whole, "%s%s}", text, more);
  CHECK_INT (qm_model_config_parse (whole, strlen (whole), "text", &config,
                                    NULL),
             QM_OK);
  CHECK_NEAR (qm_flops_forward_sample (&config, &recipe), forward, 1e-14);
  CHECK_NEAR (qm_flops_train_sample (&config, &recipe), 3 * forward - 2 * ahead,
              1e-14);
  CHECK_INT (qm_parameter_count (&config), parameters);
}

static void
test_pair (void)
{
  check_case ("teacher and student");
  check_pair ("", 8862864, 4290608, 12340);
  check_pair (", \"koleo_loss_weight\": 0.1", 8862864, 4290608, 12340);
  /* Of both layers of the student, 996960 for a crop of 67 tokens and 63840 for
   * one of 7, three quarters. */
  check_pair (", \"drop_path_rate\": 0.25",
              8862864 - 0.25 * 2 * (2 * 996960 + 2 * 63840), 4290608, 12340);
  check_pair (", \"ibot_head_n_prototypes\": 41,"
              "\"ibot_head_bottleneck_dim\": 16, \"mask_ratio\": 0.3",
              9034320, 4376336, 14696);
  check_case ("");
}

/* The models of the catalog that were not in the publication: parameters as
 * Transformers 5.23 counts them, of DiT as its authors' code does, FLOPs of the
 * whole training, to four digits, by the formula of data/flops.h in a program
 * of its own. */
static void
test_catalog (void)
{
  static const struct
  {
    const char *id;
    int64_t parameters;
    double flops;
  } expected[] = {
    { "llama-3.2-1b", 1235814400, 7.398e22 },
    { "qwen3-0.6b", 596049920, 1.795e23 },
    { "olmo-2-1b", 1484916736, 3.392e22 },
    { "olmoe-1b-7b", 6919161856, 4.044e22 },
    { "smollm3-3b", 3075098624, 2.269e23 },
    { "gpt2-124m", 124439808, 2.353e20 },
    { "modernbert-large", 395881664, 4.346e21 },
    { "esm-2-650m", 651042593, 4.419e21 },
    { "dinov2-large-supervised", 305276904, 1.868e20 },
    { "dinov3-large-supervised", 304153576, 1.449e20 },
    { "dinov2-large", 401443712, 2.646e21 },
    { "mae-large", 329239296, 1.266e20 },
    { "dit-xl-2", 674834720, 7.288e19 },
    { "clip-vit-l-14", 427616513, 6.734e21 },
    { "siglip-vit-b-16-256", 203202050, 6.947e21 },
    { "starcoder2-3b", 3030371328, 6.430e22 },
    { "mamba2-1.3b", 1343757312, 2.531e21 },
    { "bert-large-phase1", 335174458, 1.206e20 },
    { "bert-large-phase2", 335174458, 5.656e19 },
  };
  QmCatalog *catalog = NULL;
  size_t n;

  CHECK_INT (qm_catalog_load (getenv ("QM_SHIPPED_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  if (catalog == NULL)
    return;
  qm_catalog_models (catalog, &n);
  CHECK_INT ((int64_t) n, 19 + 9);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    {
      const QmModel *model = qm_catalog_model (catalog, expected[i].id);

      check_case (expected[i].id);
      CHECK (model != NULL);
      if (model == NULL)
        continue;
      CHECK_INT (qm_parameter_count (&model->config), expected[i].parameters);
      CHECK_NEAR (qm_flops_train (&model->config, &model->recipe),
                  expected[i].flops, 1e-3);
    }
  check_case ("");
  qm_catalog_free (catalog);
}

/* Models of today are before those of the publication, one's own before all;
 * then by family and size. */
static void
test_order (void)
{
  static const char *const first[] = { "bert-large-phase1",
                                       "bert-large-phase2",
                                       "llama-3.2-1b",
                                       "qwen3-0.6b",
                                       "olmo-2-1b",
                                       "smollm3-3b",
                                       "gpt2-124m",
                                       "modernbert-large",
                                       "esm-2-650m",
                                       "olmoe-1b-7b",
                                       "dinov2-large-supervised",
                                       "dinov2-large",
                                       "dinov3-large-supervised",
                                       "mae-large",
                                       "dit-xl-2",
                                       "clip-vit-l-14",
                                       "siglip-vit-b-16-256",
                                       "starcoder2-3b",
                                       "mamba2-1.3b",
                                       "pythia-160m",
                                       "pythia-410m" };
  QmCatalog *catalog = NULL;
  const QmModel **models;
  QmModel own;
  size_t n;

  check_case ("order");
  CHECK_INT (qm_catalog_load (getenv ("QM_SHIPPED_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  if (catalog == NULL)
    return;
  models = qm_catalog_models_sorted (catalog, &n);
  for (size_t i = 0; i < n; i++)
    CHECK_INT (models[i]->group,
               i < 19 ? QM_MODEL_GROUP_TODAY : QM_MODEL_GROUP_PUBLICATION);
  for (size_t i = 0; i < sizeof first / sizeof first[0] && i < n; i++)
    CHECK_STRING (models[i]->id, first[i]);
  CHECK_STRING (models[n - 1]->id, "mamba-2.8b");
  own = *models[n - 1];
  own.group = QM_MODEL_GROUP_OWN;
  CHECK (qm_model_compare (&own, models[0]) < 0);
  own = *models[0];
  own.id = "llama-3.2-1c";
  CHECK (qm_model_compare (models[0], &own) < 0);
  CHECK (qm_model_compare (&own, models[0]) > 0);
  free (models);
  qm_catalog_free (catalog);
  check_case ("");
}

/* The largest configuration that is read. */
static void
test_no_overflow (void)
{
  check_counts (
      "largest",
      "{\"model_type\": \"gpt_neox\", \"hidden_size\": 131072,"
      "\"num_hidden_layers\": 4096, \"num_attention_heads\": 4096,"
      "\"intermediate_size\": 1048576, \"vocab_size\": 16777216}",
      RECIPE ("\"sequence_length\": 2"),
      4096.0
              * (4 * (4 * 131072.0 * 131072.0 + 2 * 131072.0 * 1048576.0)
                 + 8 * 131072.0)
          + 4 * 131072.0 * 16777216.0,
      INT64_C (4096)
              * (4 * (INT64_C (131072) * 131072 + 131072)
                 + 2 * INT64_C (131072) * 1048576 + 1048576 + 131072
                 + 4 * 131072)
          + 2 * INT64_C (131072) * 16777216 + 2 * 131072);
}

int
main (void)
{
  test_text ();
  test_mamba ();
  test_mamba2 ();
  test_vit ();
  test_convnext ();
  test_llama ();
  test_experts ();
  test_gpt2 ();
  test_starcoder2 ();
  test_modernbert ();
  test_esm ();
  test_dino ();
  test_towers ();
  test_mae ();
  test_pair ();
  test_catalog ();
  test_order ();
  test_no_overflow ();
  return check_report ();
}
