/* SPDX-License-Identifier: Apache-2.0 */

/* Decoders that are built like Llama, also with experts.
 *
 * Read, and ignored, since nothing of training depends on it:
 *   pretraining_tp           products in parts, which have the same sum
 *   max_window_layers        where layer_types says it, or nothing slides; the
 *                            class of qwen3_moe does not read it
 *   no_rope_layer_interval   where no_rope_layers says it
 *   sliding_window           where nothing slides
 *   cache_implementation     of text generation
 */

#include "data/family-llama.h"
#include "data/family-counts.h"
#include "data/rope.h"

#define QM_MEMBER llama

static const QmField fields[] = {
  QM_COUNT (vocab_size, "vocab_size", QM_MAX_VOCAB, 32000),
  QM_COUNT (hidden_size, "hidden_size", QM_MAX_HIDDEN, QM_REQUIRED),
  QM_COUNT (layers, "num_hidden_layers", QM_MAX_LAYERS, QM_REQUIRED),
  QM_COUNT (heads, "num_attention_heads", QM_MAX_HEADS, QM_REQUIRED),
  QM_COUNT (key_heads, "num_key_value_heads", QM_MAX_HEADS, 0, QM_READ_APART),
  QM_COUNT (head_size, "head_dim", QM_MAX_HIDDEN, 0, QM_READ_APART),
  QM_COUNT (intermediate_size, "intermediate_size", QM_MAX_INNER, QM_REQUIRED),
  QM_COUNT (max_positions, "max_position_embeddings", QM_MAX_POSITIONS, 2048),
  QM_WHOLE (pad_token_id, "pad_token_id", 0, QM_MAX_VOCAB, -1, QM_READ_APART),
  QM_WHOLE (window, "sliding_window", 0, QM_MAX_POSITIONS, 0, QM_APART),
  QM_OTHER (windowed,
            "layer_types",
            QM_FIELD_LAYERS,
            0,
            0,
            0,
            QM_APART,
            .count = offsetof (QmModelConfig, llama.layers)),
  QM_OTHER (unrotated,
            "no_rope_layers",
            QM_FIELD_LAYERS,
            0,
            0,
            0,
            QM_APART,
            .count = offsetof (QmModelConfig, llama.layers)),
  QM_NUMBER (norm_eps, "rms_norm_eps", 0, 1, 1e-6),
  QM_SHARE (attention_dropout, "attention_dropout", 0),
  QM_NUMBER (initializer_range, "initializer_range", 0, 10, 0.02),
  QM_NUMBER (query_scalar, "query_pre_attn_scalar", 0, 1e9, 0, QM_APART),
  QM_NUMBER (
      logit_cap, "final_logit_softcapping", 1e-3, 1e6, 0, QM_OPTIONAL_APART),
  QM_ROPE_ROWS ("rope_", llama.rope),
  QM_ROPE_ROWS ("local_rope_", llama.local_rope),
  QM_FUNCTION (activation, "hidden_act", QM_ACTIVATION_SILU, QM_APART),
  QM_SWITCH (attention_bias, "attention_bias", false, QM_APART),
  QM_SWITCH (output_bias, "attention_bias", false, QM_APART),
  QM_SWITCH (mlp_bias, "mlp_bias", false, QM_APART),
  QM_SWITCH (tie_word_embeddings, "tie_word_embeddings", false),
  /* From here on of mixtures of experts alone. */
  QM_COUNT (experts, "num_experts", QM_MAX_EXPERTS, 0, QM_APART),
  QM_COUNT (
      experts_per_token, "num_experts_per_tok", QM_MAX_EXPERTS, 0, QM_APART),
  QM_COUNT (expert_size, "moe_intermediate_size", QM_MAX_INNER, 0, QM_APART),
  QM_SWITCH (normalized_experts, "norm_topk_prob", false, QM_APART),
  QM_NUMBER (balance, "router_aux_loss_coef", 0, 1e3, 0, QM_APART),
  QM_OTHER (dense,
            "mlp_only_layers",
            QM_FIELD_LAYERS,
            0,
            0,
            0,
            QM_APART,
            .count = offsetof (QmModelConfig, llama.layers)),
};

#define EXPERT_FIELDS 6
#define N_FIELDS      (sizeof fields / sizeof fields[0])

static const char *const nullable[] = { "cache_implementation",
                                        "clip_qkv",
                                        "final_logit_softcapping",
                                        "head_dim",
                                        "layer_types",
                                        "max_window_layers",
                                        "mlp_only_layers",
                                        "no_rope_layers",
                                        "num_key_value_heads",
                                        "pad_token_id",
                                        "pretraining_tp",
                                        "sliding_window",
                                        NULL };

/* What the families differ in beside their tables. */
typedef struct Traits
{
  QmNorms norms;
  QmQueryNorms query_norms;
  int64_t key_heads; /* where nothing is said; 0: as many as of queries */
  int64_t head_size; /* the same; 0: the hidden size / the heads */
  int64_t pad;       /* the same; -1: none */
  double theta, local_theta;
  bool attention_bias, mlp_bias; /* there is such a field */
} Traits;

static Traits
traits_of (QmFamily family)
{
  Traits traits = { .pad = -1, .theta = 10000, .local_theta = 10000 };

  switch (family)
    {
    case QM_FAMILY_MISTRAL:
      traits.key_heads = 8;
      break;
    case QM_FAMILY_QWEN3:
      traits.query_norms = QM_QUERY_NORMS_HEAD;
      traits.head_size = 128;
      traits.attention_bias = true;
      traits.key_heads = 32;
      break;
    case QM_FAMILY_QWEN2:
      traits.key_heads = 32;
      break;
    case QM_FAMILY_OLMO2:
    case QM_FAMILY_OLMO3:
      if (family == QM_FAMILY_OLMO3)
        traits.theta = traits.local_theta = 500000;
      traits.norms = QM_NORMS_AFTER;
      traits.query_norms = QM_QUERY_NORMS_PROJECTION;
      traits.attention_bias = true;
      traits.pad = 1;
      break;
    case QM_FAMILY_SMOLLM3:
      traits.theta = traits.local_theta = 2000000;
      traits.key_heads = 4;
      traits.pad = 128004;
      traits.attention_bias = traits.mlp_bias = true;
      break;
    case QM_FAMILY_GEMMA3_TEXT:
      traits.norms = QM_NORMS_AROUND;
      traits.query_norms = QM_QUERY_NORMS_HEAD;
      traits.theta = 1000000;
      traits.key_heads = 4;
      traits.head_size = 256;
      traits.pad = 0;
      traits.attention_bias = true;
      break;
    case QM_FAMILY_OLMOE:
      traits.query_norms = QM_QUERY_NORMS_PROJECTION;
      traits.attention_bias = true;
      traits.pad = 1;
      break;
    case QM_FAMILY_QWEN3_MOE:
      traits.query_norms = QM_QUERY_NORMS_HEAD;
      traits.attention_bias = true;
      traits.key_heads = 4;
      break;
    case QM_FAMILY_MIXTRAL:
      traits.theta = traits.local_theta = 1000000;
      traits.key_heads = 8;
      break;
    case QM_FAMILY_LLAMA:
    default:
      traits.attention_bias = traits.mlp_bias = true;
      break;
    }
  return traits;
}

static void
read_heads (QmJsonObject *object,
            QmFamily family,
            const Traits *traits,
            QmLlamaConfig *config)
{
  bool null = qm_config_is_null (object, "num_key_value_heads");
  int64_t absent =
      traits->key_heads == 0 || null ? config->heads : traits->key_heads;
  int64_t divided = config->heads > 0 ? config->hidden_size / config->heads : 0;

  config->key_heads = qm_json_integer_or (object, "num_key_value_heads", 1,
                                          QM_MAX_HEADS, absent);
  if (qm_config_is_null (object, "head_dim") && family != QM_FAMILY_LLAMA
      && family != QM_FAMILY_MISTRAL && family != QM_FAMILY_MIXTRAL)
    qm_json_fail (object, "head_dim", QM_STATUS_UNSUPPORTED,
                  "null is not supported");
  config->head_size =
      qm_json_integer_or (object, "head_dim", 1, QM_MAX_HIDDEN,
                          traits->head_size > 0 ? traits->head_size : divided);
  if (object->status != QM_OK)
    return;
  qm_config_check_key_heads (object, config->heads, config->key_heads);
  if (!qm_json_has (object, "head_dim") && traits->head_size == 0)
    qm_config_check_heads (object, config->hidden_size, config->heads);
  /* Of the norms of OLMoE's queries and keys, Transformers says so. */
  if (family == QM_FAMILY_OLMOE
      && config->head_size * config->heads != config->hidden_size)
    qm_json_fail (object, "head_dim", QM_STATUS_UNSUPPORTED,
                  "only hidden_size / num_attention_heads is supported");
  if (config->head_size % 2 != 0)
    qm_json_fail (object, "head_dim", QM_STATUS_INVALID,
                  "%lld is odd, and cannot be rotated",
                  (long long) config->head_size);
}

/* The older name of the kind, which Transformers 4 refuses for these models,
 * and 5 leaves out. */
static void
refuse_old_kind (QmJsonObject *object)
{
  const json_t *scaling = json_object_get (object->json, "rope_scaling");

  if (json_object_get (scaling, "type") != NULL
      && json_object_get (scaling, "rope_type") == NULL)
    qm_json_fail (object, "rope_scaling", QM_STATUS_UNSUPPORTED,
                  "has a type, which Transformers does not read where ropes "
                  "are by type of layer; write rope_type");
}

/* Of Transformers 5, OLMo 3 and Gemma 3 have one object for each type of layer;
 * what 4 calls rope_scaling is of those that see everything alone. */
static void
read_ropes_by_type (QmJsonObject *object, QmLlamaConfig *config)
{
  static const char *const none[] = { NULL };
  static const char *const may_be_null[] = { "full_attention",
                                             "sliding_attention", NULL };
  QmJsonObject ropes;

  refuse_old_kind (object);
  qm_rope_read (object, "rope_scaling", config->max_positions, false,
                &config->rope);
  if (!qm_json_has (object, "rope_parameters"))
    {
      qm_json_take (object, "rope_parameters");
      return;
    }
  qm_json_enter (object, "rope_parameters", &ropes);
  qm_rope_read (&ropes, "full_attention", config->max_positions, false,
                &config->rope);
  qm_rope_read (&ropes, "sliding_attention", config->max_positions, false,
                &config->local_rope);
  qm_config_refuse_nulls (&ropes, may_be_null);
  object->status = qm_json_finish (&ropes, none);
}

static void
read_ropes (QmJsonObject *object,
            QmFamily family,
            const Traits *traits,
            QmLlamaConfig *config)
{
  qm_rope_begin (object, traits->theta, &config->rope);
  config->local_rope = config->rope;
  if (family == QM_FAMILY_GEMMA3_TEXT || family == QM_FAMILY_OLMO3)
    {
      config->local_rope.theta = traits->local_theta;
      if (family == QM_FAMILY_GEMMA3_TEXT)
        config->local_rope.theta =
            qm_json_number_or (object, "rope_local_base_freq", 1.0001, 1e12,
                               traits->local_theta);
      /* To 4 it is of all layers, to 5 of those that see everything.  Where
       * nothing is said there, it is what 5 has: 4 has 10000. */
      else if (config->rope.theta < traits->theta
               || config->rope.theta > traits->theta)
        qm_json_fail (object, "rope_theta", QM_STATUS_UNSUPPORTED,
                      "is of all layers to Transformers 4, and to 5 of those "
                      "without a window, the others having %.10g; write "
                      "rope_parameters instead",
                      traits->theta);
      read_ropes_by_type (object, config);
      return;
    }
  qm_rope_read_whole (object, config->max_positions, &config->rope);
  config->local_rope = config->rope;
}

static void
read_switches (QmJsonObject *object,
               QmFamily family,
               const Traits *traits,
               QmLlamaConfig *config)
{
  bool gemma = family == QM_FAMILY_GEMMA3_TEXT;

  config->activation =
      qm_config_activation (object, gemma ? "hidden_activation" : "hidden_act",
                            gemma ? QM_ACTIVATION_GELU_TANH
                                  : QM_ACTIVATION_SILU);
  if (traits->attention_bias)
    config->attention_bias = config->output_bias =
        qm_json_boolean_or (object, "attention_bias", false);
  if (family == QM_FAMILY_QWEN2)
    config->attention_bias = true;
  if (traits->mlp_bias)
    config->mlp_bias = qm_json_boolean_or (object, "mlp_bias", false);
  config->query_scalar = (double) config->head_size;
  if (!gemma)
    return;
  config->query_scalar =
      qm_json_number_or (object, "query_pre_attn_scalar", 1e-6, 1e9, 256);
  config->logit_cap =
      qm_json_number_or (object, "final_logit_softcapping", 1e-3, 1e6, 0);
}

static void
read_llama (QmJsonObject *object, QmModelConfig *model)
{
  QmLlamaConfig *config = &model->llama;
  const Traits traits = traits_of (model->family);

  if (object->status != QM_OK)
    return;
  config->norms = traits.norms;
  config->query_norms = traits.query_norms;
  config->unit_norms = config->scaled_embeddings =
      model->family == QM_FAMILY_GEMMA3_TEXT;
  read_heads (object, model->family, &traits, config);
  config->pad_token_id =
      qm_json_integer_or (object, "pad_token_id", 0, config->vocab_size - 1,
                          qm_config_is_null (object, "pad_token_id")
                                  || traits.pad >= config->vocab_size
                              ? -1
                              : traits.pad);
  read_switches (object, model->family, &traits, config);
  read_ropes (object, model->family, &traits, config);
  qm_llama_read_layers (object, model);
  if (qm_llama_has_experts (model->family))
    qm_llama_read_experts (object, model);
  /* Where no layer has it, it is that of the others. */
  if (config->window == 0)
    config->local_rope = config->rope;
  qm_json_take (object, "pretraining_tp");
  qm_json_take (object, "max_window_layers");
  qm_json_take (object, "cache_implementation");
}

/* In the words of Transformers 4, which 5 understands, where there are such. */
static void
write_ropes (json_t *object, QmFamily family, const QmLlamaConfig *config)
{
  bool by_type = family == QM_FAMILY_OLMO3 || family == QM_FAMILY_GEMMA3_TEXT;
  const QmRope told = { .theta = traits_of (family).theta, .amplitude = 1 };
  bool plain = config->local_rope.kind == QM_ROPE_DEFAULT
               && (family != QM_FAMILY_OLMO3
                   || (qm_rope_is_same (&config->rope, &told)
                       && qm_rope_is_same (&config->local_rope, &told)));
  json_t *both;

  if (by_type && !plain)
    {
      both = json_object ();
      json_object_set_new (both, "full_attention",
                           qm_rope_json (&config->rope, true));
      json_object_set_new (both, "sliding_attention",
                           qm_rope_json (&config->local_rope, true));
      json_object_set_new (object, "rope_parameters", both);
      return;
    }
  json_object_set_new (object, "rope_theta", json_real (config->rope.theta));
  json_object_set_new (object, "rope_scaling",
                       qm_rope_json (&config->rope, false));
  if (family == QM_FAMILY_GEMMA3_TEXT)
    json_object_set_new (object, "rope_local_base_freq",
                         json_real (config->local_rope.theta));
}

static void
write_llama (json_t *object, const QmModelConfig *model)
{
  const QmLlamaConfig *config = &model->llama;
  const Traits traits = traits_of (model->family);
  bool gemma = model->family == QM_FAMILY_GEMMA3_TEXT;
  static const char *const names[] = {
    [QM_ACTIVATION_GELU] = "gelu",
    [QM_ACTIVATION_GELU_TANH] = "gelu_pytorch_tanh",
    [QM_ACTIVATION_GELU_NEW] = "gelu_new",
    [QM_ACTIVATION_RELU] = "relu",
    [QM_ACTIVATION_SILU] = "silu",
    [QM_ACTIVATION_RELU2] = "relu2",
  };

  json_object_set_new (object, gemma ? "hidden_activation" : "hidden_act",
                       json_string (names[config->activation]));
  if (gemma)
    json_object_set_new (object, "query_pre_attn_scalar",
                         json_real (config->query_scalar));
  if (gemma)
    json_object_set_new (object, "final_logit_softcapping",
                         config->logit_cap > 0 ? json_real (config->logit_cap)
                                               : json_null ());
  if (traits.attention_bias)
    json_object_set_new (object, "attention_bias",
                         json_boolean (config->attention_bias));
  if (traits.mlp_bias)
    json_object_set_new (object, "mlp_bias", json_boolean (config->mlp_bias));
  write_ropes (object, model->family, config);
  qm_llama_write_layers (object, model);
  if (qm_llama_has_experts (model->family))
    qm_llama_write_experts (object, model);
}

/* The share of the pairs of tokens that a layer looks at. */
static double
llama_pairs_seen (const QmLlamaConfig *config, int64_t layer, double tokens)
{
  return qm_count_causal (
      qm_layers_have (config->windowed, layer) ? config->window : -1, tokens);
}

/* Products of a layer's feed-forward part: of experts, those that a token goes
 * through, and the router. */
static double
inner_flops (const QmLlamaConfig *config, int64_t layer, double tokens)
{
  double hidden = (double) config->hidden_size;

  if (config->experts == 0 || qm_layers_have (config->dense, layer))
    return 3
           * qm_count_product (tokens, hidden,
                               (double) config->intermediate_size);
  return qm_count_product (tokens, hidden, (double) config->experts)
         + 3 * (double) config->experts_per_token
               * qm_count_product (tokens, hidden,
                                   (double) config->expert_size);
}

static int64_t
inner_parameters (const QmLlamaConfig *config, int64_t layer)
{
  int64_t hidden = config->hidden_size, inner = config->intermediate_size;

  if (config->experts == 0 || qm_layers_have (config->dense, layer))
    return 2 * qm_count_linear (hidden, inner, config->mlp_bias)
           + qm_count_linear (inner, hidden, config->mlp_bias);
  return config->experts * hidden * (1 + 3 * config->expert_size);
}

static double
llama_flops (const QmModelConfig *model, const QmRecipe *recipe)
{
  const QmLlamaConfig *config = &model->llama;
  double tokens = (double) recipe->sequence_length;
  double hidden = (double) config->hidden_size;
  double queries = (double) (config->heads * config->head_size);
  double keys = (double) (config->key_heads * config->head_size);
  double layer = qm_count_product (tokens, hidden, queries + 2 * keys)
                 + qm_count_product (tokens, queries, hidden);
  double sum = qm_count_product (tokens, hidden, (double) config->vocab_size);

  for (int64_t i = 0; i < config->layers; i++)
    sum += layer + inner_flops (config, i, tokens)
           + llama_pairs_seen (config, i, tokens)
                 * qm_count_attention (tokens, queries);
  return sum;
}

static int64_t
llama_parameters (const QmModelConfig *model)
{
  const QmLlamaConfig *config = &model->llama;
  int64_t hidden = config->hidden_size, inner = 0;
  int64_t queries = config->heads * config->head_size;
  int64_t keys = config->key_heads * config->head_size;
  int64_t norms = config->norms == QM_NORMS_AROUND ? 4 : 2;
  int64_t layer =
      qm_count_linear (hidden, queries + 2 * keys, config->attention_bias)
      + qm_count_linear (queries, hidden, config->output_bias) + norms * hidden;

  for (int64_t i = 0; i < config->layers; i++)
    inner += inner_parameters (config, i);

  if (config->query_norms == QM_QUERY_NORMS_HEAD)
    layer += 2 * config->head_size;
  if (config->query_norms == QM_QUERY_NORMS_PROJECTION)
    layer += queries + keys;
  return config->vocab_size * hidden * (config->tie_word_embeddings ? 1 : 2)
         + config->layers * layer + inner + hidden;
}

#define FAMILY(type, class, its_block, its_defaults) \
  DECODER (type, class, its_block, its_defaults, N_FIELDS - EXPERT_FIELDS)
#define DECODER(type, class, its_block, its_defaults, count) \
  const QmFamilyInfo qm_##type##_family = {                  \
    .name = #type,                                           \
    .architecture = class,                                   \
    .block = its_block,                                      \
    .objective = QM_OBJECTIVE_NEXT_TOKEN,                    \
    .has_attention = true,                                   \
    .fields = fields,                                        \
    .n_fields = count,                                       \
    .defaults = its_defaults,                                \
    .nullable = nullable,                                    \
    .read = read_llama,                                      \
    .write = write_llama,                                    \
    .flops = llama_flops,                                    \
    .parameters = llama_parameters,                          \
  }

static const QmFieldDefault mistral_defaults[] = {
  { "max_positions", 4096 * 32 },
  { NULL, 0 },
};
static const QmFieldDefault qwen_defaults[] = {
  { "vocab_size", 151936 },
  { "max_positions", 32768 },
  { NULL, 0 },
};
static const QmFieldDefault olmo_defaults[] = {
  { "vocab_size", 50304 },
  { "norm_eps", 1e-5 },
  { NULL, 0 },
};
static const QmFieldDefault smollm3_defaults[] = {
  { "vocab_size", 128256 },
  { "max_positions", 32768 },
  { "tie_word_embeddings", true },
  { NULL, 0 },
};
static const QmFieldDefault gemma3_defaults[] = {
  { "vocab_size", 262208 },
  { "max_positions", 131072 },
  { "tie_word_embeddings", true },
  { NULL, 0 },
};

static const QmFieldDefault olmoe_defaults[] = {
  { "vocab_size", 50304 },
  { "max_positions", 4096 },
  { "norm_eps", 1e-5 },
  { NULL, 0 },
};
static const QmFieldDefault mixtral_defaults[] = {
  { "max_positions", 4096 * 32 },
  { "norm_eps", 1e-5 },
  { NULL, 0 },
};

FAMILY (llama, "LlamaForCausalLM", "LlamaDecoderLayer", NULL);
FAMILY (mistral, "MistralForCausalLM", "MistralDecoderLayer", mistral_defaults);
FAMILY (qwen2, "Qwen2ForCausalLM", "Qwen2DecoderLayer", qwen_defaults);
FAMILY (qwen3, "Qwen3ForCausalLM", "Qwen3DecoderLayer", qwen_defaults);
FAMILY (olmo2, "Olmo2ForCausalLM", "Olmo2DecoderLayer", olmo_defaults);
FAMILY (olmo3, "Olmo3ForCausalLM", "Olmo3DecoderLayer", olmo_defaults);
FAMILY (smollm3, "SmolLM3ForCausalLM", "SmolLM3DecoderLayer", smollm3_defaults);
FAMILY (gemma3_text,
        "Gemma3ForCausalLM",
        "Gemma3DecoderLayer",
        gemma3_defaults);
DECODER (
    olmoe, "OlmoeForCausalLM", "OlmoeDecoderLayer", olmoe_defaults, N_FIELDS);
DECODER (qwen3_moe,
         "Qwen3MoeForCausalLM",
         "Qwen3MoeDecoderLayer",
         qwen_defaults,
         N_FIELDS);
DECODER (mixtral,
         "MixtralForCausalLM",
         "MixtralDecoderLayer",
         mixtral_defaults,
         N_FIELDS);
