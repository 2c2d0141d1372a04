/* SPDX-License-Identifier: Apache-2.0 */

/* Configurations as the hub has them, and what is refused in them. */

#include "data/catalog.h"
#include "data/model.h"
#include "tests/data/configurations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEOX                                             \
  "\"model_type\": \"gpt_neox\", \"vocab_size\": 50304," \
  "\"hidden_size\": 768, \"num_hidden_layers\": 12,"     \
  "\"num_attention_heads\": 12, \"intermediate_size\": 3072"
#define BERT                                              \
  "\"model_type\": \"bert\", \"hidden_size\": 64,"        \
  "\"num_hidden_layers\": 2, \"num_attention_heads\": 4," \
  "\"intermediate_size\": 128"
#define ROBERTA                                           \
  "\"model_type\": \"roberta\", \"hidden_size\": 64,"     \
  "\"num_hidden_layers\": 2, \"num_attention_heads\": 4," \
  "\"intermediate_size\": 128"
#define VIT                                               \
  "\"model_type\": \"vit\", \"hidden_size\": 64,"         \
  "\"num_hidden_layers\": 2, \"num_attention_heads\": 4," \
  "\"intermediate_size\": 128"
#define CONVNEXT                                             \
  "\"model_type\": \"convnext\", \"hidden_sizes\": [8, 16]," \
  "\"depths\": [1, 2]"
#define MAMBA                                       \
  "\"model_type\": \"mamba\", \"hidden_size\": 64," \
  "\"num_hidden_layers\": 2"

/* What every configuration of Transformers 4 had in it. */
#define COMMON_4                                                         \
  "\"_name_or_path\": \"x/y\", \"architectures\": [\"Some\"],"           \
  "\"add_cross_attention\": false, \"bad_words_ids\": null,"             \
  "\"bos_token_id\": 0, \"chunk_size_feed_forward\": 0,"                 \
  "\"cross_attention_hidden_size\": null, \"do_sample\": false,"         \
  "\"eos_token_id\": 0, \"finetuning_task\": null,"                      \
  "\"id2label\": {\"0\": \"LABEL_0\", \"1\": \"LABEL_1\"},"              \
  "\"is_decoder\": false, \"is_encoder_decoder\": false,"                \
  "\"label2id\": {\"LABEL_0\": 0, \"LABEL_1\": 1},"                      \
  "\"length_penalty\": 1.0, \"max_length\": 20, \"num_beams\": 1,"       \
  "\"output_attentions\": false, \"pad_token_id\": null,"                \
  "\"pruned_heads\": {}, \"return_dict\": true, \"temperature\": 1.0,"   \
  "\"tie_encoder_decoder\": false, \"tie_word_embeddings\": true,"       \
  "\"torch_dtype\": \"float32\", \"torchscript\": false, \"top_k\": 50," \
  "\"transformers_version\": \"4.30.2\", \"use_bfloat16\": false,"       \
  "\"use_cache\": true, "

static void
test_families (void)
{
  QmModelConfig config;
  QmError error;

  CHECK (parse ("{" COMMON_4 NEOX "}", &config, &error) == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (config.family, QM_FAMILY_GPT_NEOX);
  CHECK (config.gpt_neox.tie_word_embeddings);
  CHECK (config.gpt_neox.parallel_residual && config.gpt_neox.attention_bias);
  CHECK_NEAR (config.gpt_neox.rotary_pct, 0.25, 0);
  CHECK_NEAR (config.gpt_neox.rotary_base, 10000, 0);
  CHECK_INT (config.gpt_neox.max_positions, 2048);
  CHECK_INT (config.gpt_neox.activation, QM_ACTIVATION_GELU);

  CHECK (parse ("{" COMMON_4 BERT "}", &config, &error) == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (config.bert.vocab_size, 30522);
  CHECK_INT (config.bert.pad_token_id, -1);
  CHECK_INT (config.bert.type_vocab_size, 2);
  CHECK_NEAR (config.bert.hidden_dropout, 0.1, 0);
  CHECK_NEAR (config.bert.layer_norm_eps, 1e-12, 0);

  CHECK (parse ("{" COMMON_4 VIT "}", &config, &error) == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (config.vit.classes, 2);
  CHECK (config.vit.qkv_bias);

  CHECK (parse ("{" COMMON_4 CONVNEXT "}", &config, &error) == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (config.convnext.stages, 2);
  CHECK_INT (config.convnext.hidden_sizes[1], 16);
  CHECK_INT (config.convnext.depths[1], 2);
  CHECK_INT (config.convnext.depths[2], 0);
  CHECK_INT (config.convnext.patch_size, 4);

  CHECK (parse ("{" COMMON_4 MAMBA "}", &config, &error) == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_INT (config.mamba.inner_size, 128);
  CHECK_INT (config.mamba.time_step_rank, 4);
  CHECK (config.mamba.use_conv_bias && !config.mamba.use_bias);
  CHECK_NEAR (config.mamba.time_step_min, 0.001, 0);
  CHECK_NEAR (config.mamba.time_step_max, 0.1, 0);
  CHECK_NEAR (config.mamba.time_step_floor, 1e-4, 0);
  CHECK_NEAR (config.mamba.time_step_scale, 1, 0);
  CHECK (config.mamba.time_step_random);
  CHECK (!config.mamba.rescale_prenorm_residual);
}

static void
test_variants (void)
{
  QmModelConfig config;
  QmError error;

  /* Transformers 5. */
  CHECK (parse ("{" NEOX ", \"dtype\": \"float16\", \"attention_bias\": false,"
                "\"use_parallel_residual\": false, \"hidden_dropout\": 0.2,"
                "\"attention_dropout\": 0.3, \"hidden_act\": \"gelu_fast\","
                "\"rope_parameters\": {\"rope_theta\": 5000.0,"
                "\"partial_rotary_factor\": 0.5, \"rope_type\": \"default\"}}",
                &config, &error)
         == QM_OK);
  CHECK_STRING (error.message, "");
  CHECK_NEAR (config.gpt_neox.rotary_pct, 0.5, 0);
  CHECK_NEAR (config.gpt_neox.rotary_base, 5000, 0);
  CHECK_NEAR (config.gpt_neox.hidden_dropout, 0.2, 0);
  CHECK_NEAR (config.gpt_neox.attention_dropout, 0.3, 0);
  CHECK_INT (config.gpt_neox.activation, QM_ACTIVATION_GELU_NEW);
  CHECK (qm_model_composes_gelu (&config));
  CHECK (!config.gpt_neox.parallel_residual);
  CHECK (!config.gpt_neox.attention_bias);

  CHECK (parse ("{" NEOX ", \"rotary_pct\": 1, \"rotary_emb_base\": 20000,"
                "\"rope_scaling\": null, \"attention_probs_dropout_prob\": 0,"
                "\"hidden_dropout_prob\": 0}",
                &config, &error)
         == QM_OK);
  CHECK_NEAR (config.gpt_neox.rotary_pct, 1, 0);
  CHECK_NEAR (config.gpt_neox.rotary_base, 20000, 0);

  CHECK (parse ("{\"model_type\": \"roberta\", \"hidden_size\": 64,"
                "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
                "\"intermediate_size\": 128, \"classifier_dropout\": null,"
                "\"position_embedding_type\": \"absolute\","
                "\"hidden_act\": \"relu\"}",
                &config, &error)
         == QM_OK);
  CHECK_INT (config.family, QM_FAMILY_ROBERTA);
  CHECK_INT (config.bert.vocab_size, 50265);
  CHECK_INT (config.bert.pad_token_id, 1);
  CHECK_INT (config.bert.activation, QM_ACTIVATION_RELU);

  CHECK (parse ("{\"model_type\": \"gpt2\", \"n_embd\": 64,"
                "\"n_layer\": 2, \"n_head\": 4, "
                "\"activation_function\": \"relu2\"}",
                &config, &error)
         == QM_OK);
  CHECK_INT (config.gpt2.activation, QM_ACTIVATION_RELU2);

  CHECK (parse ("{" MAMBA ", \"time_step_min\": 0.01, \"time_step_max\": 0.2,"
                "\"time_step_floor\": 0.02, \"time_step_scale\": 2,"
                "\"time_step_init_scheme\": \"constant\","
                "\"rescale_prenorm_residual\": true}",
                &config, &error)
         == QM_OK);
  CHECK_NEAR (config.mamba.time_step_min, 0.01, 0);
  CHECK_NEAR (config.mamba.time_step_max, 0.2, 0);
  CHECK_NEAR (config.mamba.time_step_floor, 0.02, 0);
  CHECK_NEAR (config.mamba.time_step_scale, 2, 0);
  CHECK (!config.mamba.time_step_random);
  CHECK (config.mamba.rescale_prenorm_residual);

  CHECK (parse ("{" MAMBA ", \"d_model\": 64, \"d_inner\": 128, \"n_layer\": 2,"
                "\"ssm_cfg\": {}, \"rms_norm\": true, \"fused_add_norm\": true,"
                "\"time_step_rank\": 9, \"intermediate_size\": 128,"
                "\"time_step_limit\": 3, \"use_mambapy\": false}",
                &config, &error)
         == QM_STATUS_UNSUPPORTED);
  CHECK_STRING (error.message, "time_step_limit: unsupported field; did you "
                               "mean 'time_step_min'?");
}

/* The ways that rotary fields were written, read as both Transformers 4.57 and
 * 5 do, which was tried; of rope_parameters, as 5 does. */
static void
test_rotary (void)
{
  static const struct
  {
    const char *fields;
    double share, base;
  } cases[] = {
    { "", 0.25, 10000 },
    { ", \"partial_rotary_factor\": 0.5", 0.25, 10000 },
    { ", \"rope_theta\": 500", 0.25, 10000 },
    { ", \"rotary_pct\": 0.5, \"partial_rotary_factor\": 1.0", 0.5, 10000 },
    { ", \"rotary_emb_base\": 500, \"rope_theta\": 300", 0.25, 500 },
    { ", \"rotary_pct\": 0.5, \"partial_rotary_factor\": 0.5,"
      "\"rotary_emb_base\": 500, \"rope_theta\": 500",
      0.5, 500 },
    { ", \"rope_parameters\": {\"rope_theta\": 500}", 0.25, 500 },
    { ", \"rope_parameters\": {\"partial_rotary_factor\": 0.5}", 0.5, 10000 },
    { ", \"rotary_pct\": 1.0, \"rope_parameters\":"
      "{\"rope_type\": \"default\", \"rope_theta\": 500}",
      1, 500 },
    { ", \"rotary_pct\": 1.0, \"rotary_emb_base\": 300,"
      "\"rope_parameters\": {\"type\": \"default\", \"rope_theta\": 500,"
      "\"partial_rotary_factor\": 0.5}",
      0.5, 500 },
    { ", \"rotary_pct\": 1.0, \"rope_parameters\": null", 1, 10000 },
    { ", \"rotary_emb_base\": 300, \"rope_parameters\": {}", 0.25, 300 },
    { ", \"rope_scaling\": {\"rope_type\": \"default\"}", 0.25, 10000 },
    { ", \"rope_scaling\": {}", 0.25, 10000 },
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmModelConfig config;
      QmError error;
      char text[1024];

      check_case (cases[i].fields);
      snprintf (text, sizeof text, "{" NEOX "%s}", cases[i].fields);
      CHECK_INT (parse (text, &config, &error), QM_OK);
      CHECK_STRING (error.message, "");
      CHECK_NEAR (config.gpt_neox.rotary_pct, cases[i].share, 0);
      CHECK_NEAR (config.gpt_neox.rotary_base, cases[i].base, 0);
    }
  check_case ("");
}

/* What is trained, and what the file is named for. */
static void
test_heads (void)
{
  QmModelConfig config;
  QmError error;

  CHECK_INT (parse ("{" BERT ", \"architectures\": [\"BertForMaskedLM\"]}",
                    &config, &error),
             QM_OK);
  CHECK_STRING (config.other_head, "");
  CHECK_INT (parse ("{" BERT ", \"architectures\": null}", &config, &error),
             QM_OK);
  CHECK_STRING (config.other_head, "");
  CHECK_INT (parse ("{" BERT ", \"architectures\":"
                    "[\"BertForSequenceClassification\"],"
                    "\"problem_type\": \"regression\"}",
                    &config, &error),
             QM_OK);
  CHECK_STRING (config.other_head, "BertForSequenceClassification");
  CHECK_INT (parse ("{" VIT ", \"architectures\": [\"\\u009bViT\"],"
                    "\"problem_type\": \"single_label_classification\"}",
                    &config, &error),
             QM_OK);
  CHECK_STRING (config.other_head, "\\u009bViT");
  CHECK_INT (parse ("{" NEOX ", \"moe\": false, \"router\": null,"
                    "\"attention_bais\": null}",
                    &config, &error),
             QM_OK);
  CHECK_STRING (error.message, "");
}

static const Refused refused[] = {
  { "", QM_STATUS_PARSE, 1, 1, "expected" },
  { "[]", QM_STATUS_PARSE, 1, 1, "is not a JSON object" },
  { "{\n  \"model_type\": \"gpt_neox\",\n}", QM_STATUS_PARSE, 3, 2,
    "string or '}' expected near '}'" },
  { "{\"a\": 1, \"a\": 2}", QM_STATUS_PARSE, 1, 13, "duplicate object key" },
  { "{} x", QM_STATUS_PARSE, 1, 5, "end of file expected" },
  { "{\"a\": 1e999}", QM_STATUS_PARSE, 1, 12, "a: real number overflow" },
  { "{\"a\": 99999999999999999999}", QM_STATUS_PARSE, 1, 27,
    "a: too big integer" },
  { "{\"b\": 1, \"a\" :\n[\"c\", {\"d\": 1}, -99999999999999999999]}",
    QM_STATUS_PARSE, 2, 38, "a: too big negative integer" },
  { "{\"b\": [1], \"a\xc2\x9b\": {\"c\":\n99999999999999999999}}",
    QM_STATUS_PARSE, 2, 21, "c: too big integer" },
  { "{\"a\xc2\x9b\":\n99999999999999999999}", QM_STATUS_PARSE, 2, 21,
    "a\\u009b: too big integer" },
  { "[\n99999999999999999999]", QM_STATUS_PARSE, 2, 21, "too big integer" },
  { "{\"a\": NaN}", QM_STATUS_PARSE, 1, 10, "invalid token" },
  { "{\"a\": \"\\u0000\"}", QM_STATUS_PARSE, 1, 15, "\\u0000" },
  { "{\n}", QM_STATUS_INVALID, 1, 1, "model_type: is missing" },
  { "{\n \"_class_name\": \"PixArtTransformer2DModel\"}", QM_STATUS_UNSUPPORTED,
    2, 2,
    "_class_name: 'PixArtTransformer2DModel' is not supported; "
    "DiTTransformer2DModel and Transformer2DModel are" },
  { "{\"d_model\": 768, \"n_layer\": 24,\n \"ssm_cfg\": {\"layer\": "
    "\"Mamba2\"},"
    "\"vocab_size\": 50277}",
    QM_STATUS_UNSUPPORTED, 2, 2,
    "ssm_cfg: the file is one of the package mamba_ssm; what is read is a " },
  { "{\n \"model_type\": 3}", QM_STATUS_INVALID, 2, 2,
    "model_type: is not a string" },
  { "{\n \"model_type\": \"t5\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "model_type: 't5' is not supported; gpt_neox, bert" },
  { "{" NEOX ",\n \"hidden_act\": \"xielu\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "hidden_act: 'xielu' is not supported" },
  { "{" NEOX ",\n \"rope_scaling\": {\"type\": \"linear\"}}",
    QM_STATUS_UNSUPPORTED, 2, 19,
    "rope_scaling.type: 'linear' is not supported, only 'default'" },
  { "{" NEOX ",\n \"rope_scaling\": {\"rope_type\": \"default\","
    "\"rope_theta\": 7}}",
    QM_STATUS_UNSUPPORTED, 2, 42, "rope_scaling.rope_theta: unsupported" },
  { "{" NEOX ",\n \"rope_scaling\": {\"rope_type\": \"default\"},"
    "\"rope_parameters\": {\"rope_theta\": 7}}",
    QM_STATUS_UNSUPPORTED, 2, 2,
    "rope_scaling: is not supported beside rope_parameters" },
  { "{" NEOX ",\n \"torchscript\": true}", QM_STATUS_UNSUPPORTED, 2, 2,
    "torchscript: only false" },
  { "{" NEOX ",\n \"architectures\": \"GPTNeoXForCausalLM\"}",
    QM_STATUS_INVALID, 2, 2, "architectures: is not a list of names" },
  { "{" NEOX ",\n \"architectures\": [3]}", QM_STATUS_INVALID, 2, 2,
    "architectures: is not a list of names" },
  { "{" NEOX ",\n \"moe\": true}", QM_STATUS_UNSUPPORTED, 2, 2,
    "moe: unsupported field" },
  { "{" NEOX ",\n \"attention_bais\": false}", QM_STATUS_UNSUPPORTED, 2, 2,
    "attention_bais: unsupported field; did you mean 'attention_bias'?" },
  { "{" NEOX ",\n \"rotary_pct\": null}", QM_STATUS_UNSUPPORTED, 2, 2,
    "rotary_pct: null is not supported" },
  { "{" NEOX ",\n \"attention_bias\": null}", QM_STATUS_UNSUPPORTED, 2, 2,
    "attention_bias: null is not supported" },
  { "{" BERT ",\n \"tie_word_embeddings\": null}", QM_STATUS_UNSUPPORTED, 2, 2,
    "tie_word_embeddings: null is not supported" },
  { "{\"model_type\": \"roberta\", \"hidden_size\": 64,"
    "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
    "\"intermediate_size\": 128,\n\"pad_token_id\": null}",
    QM_STATUS_UNSUPPORTED, 2, 1, "pad_token_id: null is not supported" },
  { "{" VIT ",\n \"problem_type\": \"multi_label_classification\"}",
    QM_STATUS_UNSUPPORTED, 2, 2,
    "problem_type: 'multi_label_classification' is not supported, only" },
  { "{" CONVNEXT ",\n \"problem_type\": \"regression\"}", QM_STATUS_UNSUPPORTED,
    2, 2, "problem_type: 'regression'" },
  { "{" NEOX ",\n \"rope_parameters\": {\n\"rope_type\": \"yarn\"}}",
    QM_STATUS_UNSUPPORTED, 3, 1,
    "rope_parameters.rope_type: 'yarn' is not supported, only 'default'" },
  { "{" NEOX ",\n \"rope_parameters\": {\n\"factor\": 2}}",
    QM_STATUS_UNSUPPORTED, 3, 1, "rope_parameters.factor: unsupported field" },
  { "{" NEOX ",\n \"rope_parameters\": 3}", QM_STATUS_INVALID, 2, 2,
    "rope_parameters: is not an object" },
  { "{" NEOX ",\n \"rotary_pct\": 0.02}", QM_STATUS_INVALID, 2, 2,
    "rotary_pct: rotates 1 elements of a head, which is odd" },
  { "{" NEOX ",\n \"rotary_pct\": 1.5}", QM_STATUS_INVALID, 2, 2,
    "rotary_pct: 1.5 is not between 0 and 1" },
  { "{" NEOX ",\n \"is_decoder\": true}", QM_STATUS_UNSUPPORTED, 2, 2,
    "is_decoder: only false is supported" },
  { "{" NEOX ",\n \"quantization_config\": {\"bits\": 4}}",
    QM_STATUS_UNSUPPORTED, 2, 2, "quantization_config: has a value" },
  { "{" NEOX ",\n \"num_key_value_heads\": 4}", QM_STATUS_UNSUPPORTED, 2, 2,
    "num_key_value_heads: unsupported field" },
  { "{" NEOX ",\n \"hidden_dropot\": 0.1}", QM_STATUS_UNSUPPORTED, 2, 2,
    "hidden_dropot: unsupported field; did you mean 'hidden_dropout'?" },
  { "{" NEOX ",\n \"hidden_dropout\": 1}", QM_STATUS_INVALID, 2, 2,
    "hidden_dropout: a probability of 1" },
  { "{" NEOX ",\n \"use_parallel_residual\": \"yes\"}", QM_STATUS_INVALID, 2, 2,
    "use_parallel_residual: is neither true nor false" },
  { "{" NEOX ",\n \"layer_norm_eps\": \"1e-5\"}", QM_STATUS_INVALID, 2, 2,
    "layer_norm_eps: is not a number" },
  { "{\"model_type\": \"gpt_neox\",\n\"hidden_size\": 0}", QM_STATUS_INVALID, 1,
    1, "vocab_size: is missing" },
  { "{\"model_type\": \"bert\",\n\"hidden_size\": 64.0}", QM_STATUS_INVALID, 2,
    1, "hidden_size: is not a whole number" },
  { "{\"model_type\": \"bert\",\n\"hidden_size\": -1}", QM_STATUS_INVALID, 2, 1,
    "hidden_size: -1 is not between 1 and 131072" },
  { "{\"model_type\": \"bert\", \"hidden_size\": 64,"
    "\"num_hidden_layers\": 2, \n\t\"num_attention_heads\": 5,"
    "\"intermediate_size\": 128}",
    QM_STATUS_INVALID, 2, 2,
    "num_attention_heads: hidden_size 64 is not divisible by 5 heads" },
  { "{" BERT ",\n \"position_embedding_type\": \"relative_key\"}",
    QM_STATUS_UNSUPPORTED, 2, 2, "position_embedding_type: 'relative_key'" },
  { "{" BERT ",\n \"add_cross_attention\": true}", QM_STATUS_UNSUPPORTED, 2, 2,
    "add_cross_attention: only false" },
  { "{" BERT ",\n \"pruned_heads\": {\"1\": [2]}}", QM_STATUS_UNSUPPORTED, 2, 2,
    "pruned_heads: has a value" },
  { "{" BERT ",\n \"pad_token_id\": 30522}", QM_STATUS_INVALID, 2, 2,
    "pad_token_id: 30522 is not between 0 and 30521" },
  { "{" VIT ",\n \"num_labels\": 3,\n \"id2label\": {\"0\": \"a\"}}",
    QM_STATUS_INVALID, 2, 2,
    "num_labels: 3 does not agree with the 1 labels of id2label" },
  { "{" VIT ",\n \"id2label\": [\"a\"]}", QM_STATUS_INVALID, 2, 2,
    "id2label: is not an object" },
  { "{" VIT ",\n \"patch_size\": 225}", QM_STATUS_INVALID, 2, 2,
    "patch_size: is larger than the image" },
  { "{" CONVNEXT ",\n \"num_stages\": 3}", QM_STATUS_INVALID, 1, 28,
    "hidden_sizes: has 2 stages where there are 3" },
  { "{\"model_type\": \"convnext\", \"hidden_sizes\": [8],\n\"depths\": []}",
    QM_STATUS_INVALID, 2, 1, "depths: must be an array" },
  { "{\"model_type\": \"convnext\", \"hidden_sizes\": [8],\n\"depths\": [1,2]}",
    QM_STATUS_INVALID, 2, 1, "depths: has 2 stages where there are 1" },
  { "{\"model_type\": \"convnext\", \"hidden_sizes\": [8],\n\"depths\": [0]}",
    QM_STATUS_INVALID, 2, 1, "depths: element 1 is not a whole number" },
  { "{\"model_type\": \"convnext\",\n\"hidden_sizes\": [1,2,3,4,5,6,7,8,9]}",
    QM_STATUS_UNSUPPORTED, 2, 1, "hidden_sizes: more than 8 stages" },
  { "{" MAMBA ",\n \"hidden_act\": \"gelu\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "hidden_act: 'gelu' is not supported, only 'silu'" },
  { "{" MAMBA ",\n \"ssm_cfg\": {\"layer\": \"Mamba2\"}}",
    QM_STATUS_UNSUPPORTED, 2, 2, "ssm_cfg: has a value" },
  { "{" MAMBA ",\n \"intermediate_size\": 100}", QM_STATUS_INVALID, 2, 2,
    "intermediate_size: is not 128" },
  { "{" MAMBA ",\n \"time_step_rank\": \"max\"}", QM_STATUS_UNSUPPORTED, 2, 2,
    "time_step_rank: 'max' is not supported, only 'auto'" },
  { "{" MAMBA ",\n \"time_step_init_scheme\": \"even\"}", QM_STATUS_UNSUPPORTED,
    2, 2,
    "time_step_init_scheme: 'even' is not supported; random and constant are" },
  { "{" MAMBA ",\n \"rms_norm\": false}", QM_STATUS_UNSUPPORTED, 2, 2,
    "rms_norm: only true is supported" },
  { "{\"model_type\": \"gpt2\",\n \"reorder_and_upcast_attn\": true}",
    QM_STATUS_UNSUPPORTED, 2, 2,
    "reorder_and_upcast_attn: only false is supported" },
  { "{\"model_type\": \"gpt2\",\n \"scale_attn_weights\": 0}",
    QM_STATUS_INVALID, 2, 2, "scale_attn_weights: is neither true nor false" },
  { "{\"model_type\": \"gpt2\",\n \"scale_attn_by_inverse_layer_idx\": -1}",
    QM_STATUS_INVALID, 2, 2,
    "scale_attn_by_inverse_layer_idx: is neither true nor false" },
};

static QmStatus
apply (const char *text, QmRecipe recipe, QmModelConfig *config, QmError *error)
{
  memset (error, 0, sizeof *error);
  CHECK (parse (text, config, error) == QM_OK);
  return qm_model_apply_recipe (config, &recipe, "recipe.json", error);
}

static void
test_apply (void)
{
  QmRecipe text = { .sequence_length = 512, .dropout = NAN };
  QmRecipe image = { .image_size = 224, .dropout = NAN };
  QmModelConfig config;
  QmError error;

  CHECK (apply ("{" BERT "}", text, &config, &error) == QM_OK);
  CHECK_NEAR (config.bert.hidden_dropout, 0.1, 0);
  text.dropout = 0.25;
  CHECK (apply ("{" BERT "}", text, &config, &error) == QM_OK);
  CHECK_NEAR (config.bert.hidden_dropout, 0.25, 0);
  CHECK_NEAR (config.bert.attention_dropout, 0.1, 0);
  CHECK (apply ("{" MAMBA "}", text, &config, &error) == QM_STATUS_UNSUPPORTED);
  CHECK_STRING (error.message,
                "dropout: a mamba model has no dropout of hidden states");
  CHECK_INT (error.line, 0);
  text.dropout = 0;
  CHECK (apply ("{" MAMBA "}", text, &config, &error) == QM_OK);

  /* A token alone has no next one, and a loss of nothing. */
  text.sequence_length = 2;
  CHECK (apply ("{" NEOX "}", text, &config, &error) == QM_OK);
  text.sequence_length = 1;
  CHECK (apply ("{" NEOX "}", text, &config, &error) == QM_STATUS_INVALID);
  CHECK_STRING (error.message,
                "sequence_length: a gpt_neox model learns to tell the next "
                "token, of which a single one has none");
  CHECK (apply ("{" MAMBA "}", text, &config, &error) == QM_STATUS_INVALID);
  CHECK (apply ("{" BERT "}", text, &config, &error) == QM_OK);

  text.sequence_length = 513;
  CHECK (apply ("{" BERT "}", text, &config, &error) == QM_STATUS_INVALID);
  CHECK_STRING (error.message, "sequence_length: 513 is more than the model's "
                               "512 positions");
  /* The first positions are for padding. */
  text.sequence_length = 510;
  CHECK (apply ("{" ROBERTA ", \"max_position_embeddings\": 512}", text,
                &config, &error)
         == QM_OK);
  text.sequence_length = 511;
  CHECK (apply ("{" ROBERTA ", \"max_position_embeddings\": 512}", text,
                &config, &error)
         == QM_STATUS_INVALID);
  CHECK_STRING (error.message, "sequence_length: 511 is more than the model's "
                               "510 positions");
  text.sequence_length = 513;
  CHECK (apply ("{" NEOX "}", text, &config, &error) == QM_OK);
  CHECK (apply ("{" VIT "}", text, &config, &error) == QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "a vit model is trained on images");

  CHECK (apply ("{" VIT "}", image, &config, &error) == QM_OK);
  CHECK (apply ("{" CONVNEXT "}", image, &config, &error) == QM_OK);
  CHECK (apply ("{" NEOX "}", image, &config, &error) == QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "a gpt_neox model is trained on text");
  image.image_size = 256;
  CHECK (apply ("{" VIT "}", image, &config, &error) == QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "256 is not the configuration's image_size");
  image.image_size = 7;
  CHECK (apply ("{" CONVNEXT "}", image, &config, &error) == QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "7 is too small for the model's stages");
}

/* Who has a model of another family is told all of those that there are. */
static void
test_other_family (void)
{
  char list[2 * QM_MESSAGE_BYTES] = "; ";
  QmModelConfig config;
  QmError error;

  check_case ("families");
  for (int i = 0; i < QM_FAMILY_COUNT; i++)
    snprintf (list + strlen (list), sizeof list - strlen (list), "%s%s",
              i == 0                     ? ""
              : i == QM_FAMILY_COUNT - 1 ? " and "
                                         : ", ",
              qm_family_name ((QmFamily) i));
  snprintf (list + strlen (list), sizeof list - strlen (list), " are");
  CHECK (parse ("{\"model_type\": \"a_name_of_a_family_that_is_so_long_that_"
                "no_other_one_will_ever_be_as_long_as_it_is\"}",
                &config, &error)
         == QM_STATUS_UNSUPPORTED);
  CHECK_CONTAINS (error.message, list);
  check_case ("");
}

static void
test_deep (void)
{
  char *text = malloc (200001);
  QmModelConfig config;
  QmError error;

  CHECK (text != NULL);
  check_case ("deep nesting");
  for (size_t i = 0; i < 200000; i += 5)
    memcpy (text + i, "{\"a\":", 5);
  text[200000] = '\0';
  CHECK (parse (text, &config, &error) == QM_STATUS_PARSE);
  CHECK_CONTAINS (error.message, "depth");
  memset (text, '[', 200000);
  CHECK (parse (text, &config, &error) == QM_STATUS_PARSE);
  CHECK_CONTAINS (error.message, "depth");
  free (text);
  check_case ("");
}

#define RECIPE(more)                                           \
  "{\"batch_size\": 8, \"steps\": 10, " more                   \
  "\"precision\": \"bf16\", \"optimizer\": \"adamw\","         \
  "\"learning_rate\": 1e-4, \"beta1\": 0.9, \"beta2\": 0.999," \
  "\"epsilon\": 1e-8, \"weight_decay\": 0.1}"

/* A model file in the user's directory. */
static void
check_file (const char *text, int line, int column, const char *message)
{
  QmCatalog *catalog = NULL;
  QmError error;
  const QmError *problems;
  size_t n;

  check_case (message);
  scratch_clear ();
  scratch_write_text ("user/models/m.json", text);
  CHECK (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), scratch_path ("user"),
                          &catalog, &error)
         == QM_OK);
  problems = qm_catalog_problems (catalog, &n);
  CHECK_INT ((int64_t) n, 1);
  if (n == 1)
    {
      CHECK_CONTAINS (problems[0].file, "models/m.json");
      CHECK_INT (problems[0].line, line);
      CHECK_INT (problems[0].column, column);
      CHECK_CONTAINS (problems[0].message, message);
    }
  qm_catalog_models (catalog, &n);
  CHECK_INT ((int64_t) n, 9);
  qm_catalog_free (catalog);
  check_case ("");
}

#define LABELS "{\"id\": \"m\", \"name\": \"M\", \"source\": \"s\",\n"

static void
test_files (void)
{
  check_file ("{\"name\": \"M\"}", 1, 1, "id: is missing");
  check_file ("{\n\"id\": \"M/1\"}", 2, 1, "id: 'M/1' may only have");
  check_file ("{\"id\": \"m\",\n\"name\": \"\"}", 2, 1,
              "name: must not be empty");
  check_file ("{\"id\": \"m\",\n\"name\": \"a\\nb\"}", 2, 1,
              "name: must be a single line");
  check_file (LABELS "\"group\": \"mine\"}", 2, 1,
              "group: 'mine' is not 'today' or 'publication'");
  check_file (LABELS "\"config\": {" BERT "}}", 1, 1, "recipe: is missing");
  check_file (LABELS "\"config\": 3}", 2, 1, "config: is not an object");
  /* The recipe's own image_size is not where the configuration's is wrong. */
  check_file (LABELS "\"recipe\": {\"heads\": 1,\n\"image_size\": 0},\n"
                     "\"config\": {" VIT ",\n\"image_size\": 0}}",
              5, 1, "config.image_size: 0 is not between");
  check_file (LABELS "\"config\": {" NEOX ", \"rope_parameters\":\n"
                     "{\"rope_type\": \"yarn\"}}}",
              3, 2, "config.rope_parameters.rope_type: 'yarn'");
  check_file (LABELS "\"config\": {\n\"hidden_size\": 8},\n\"recipe\": {}}", 2,
              1, "config.model_type: is missing");
  check_file (LABELS "\"config\": {" BERT
                     ",\n\"max_position_embeddings\": 64},\n"
                     "\"recipe\":" RECIPE ("\n\"sequence_length\": 65,") "}",
              5, 1, "recipe.sequence_length: 65 is more than");
  check_file (LABELS "\"config\": {" BERT
                     "},\n\"notes\": \"x\", \"recipe\":" RECIPE (
                         "\"sequence_length\": 65,") "}",
              3, 1, "notes: unsupported field");
}

int
main (void)
{
  scratch_begin ();
  test_families ();
  test_variants ();
  test_rotary ();
  test_heads ();
  check_refused (refused, sizeof refused / sizeof refused[0]);
  test_apply ();
  test_other_family ();
  test_deep ();
  test_files ();
  scratch_end ();
  return check_report ();
}
