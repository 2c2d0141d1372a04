/* SPDX-License-Identifier: Apache-2.0 */

/* What is trained and how: a Hugging Face configuration and a recipe.
 *
 * A model file is JSON:
 *
 *   { "id": "pythia-1b", "name": "Pythia (1B)", "group": "publication",
 *     "source": "...",
 *     "config": { ... the fields of the Hugging Face config.json ... },
 *     "recipe": { "batch_size": 1024, "steps": 143000, "sequence_length": 2049,
 *                 "precision": "bf16", "optimizer": "adam",
 *                 "learning_rate": 3e-4, "beta1": 0.9, "beta2": 0.95,
 *                 "epsilon": 1e-8, "weight_decay": 0.01,
 *                 "max_grad_norm": 1.0, "dropout": 0.0 } }
 *
 * Fields of the configuration that change what is computed are read or refused
 * by name; fields that only label the model (torch_dtype, token ids, ...) are
 * accepted and ignored, as are unknown ones that are null or false.  Absent
 * fields have the default of Transformers.  "dropout" is optional; where it
 * stands, it replaces the configuration's dropout of hidden states.  "z_loss"
 * and "ema_decay" are optional, too, and so is "group", "today" or
 * "publication": where lists show the model; without, it is somebody's own.
 *
 * "optimizer" is "adam", "adamw", "lamb" or "muon"; the last
 * has, and needs, these as well, while all others are of the AdamW that it
 * leaves the other parameters to:
 *
 *                 "muon_learning_rate": 0.02, "muon_momentum": 0.95,
 *                 "muon_weight_decay": 0.0, "muon_scale": "jordan"
 *
 * "precision" is "fp32", "fp16", "bf16" or "fp8"; the last may have these,
 * which are "tensor" or "row", "current" or "delayed", "e5m2" or "e4m3".
 * Without, there is one scale for a tensor, of its own largest magnitude, and
 * gradients are in E5M2, with scales of rows in E4M3, as torchao's recipes
 * "tensorwise" and "rowwise" choose (engine/README.md says what they do
 * otherwise):
 *
 *                 "fp8_scales": "tensor", "fp8_amax": "current",
 *                 "fp8_gradients": "e5m2"
 */

#ifndef QM_DATA_MODEL_H
#define QM_DATA_MODEL_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum QmFamily
{
  QM_FAMILY_GPT_NEOX,
  QM_FAMILY_BERT,
  QM_FAMILY_ROBERTA,
  QM_FAMILY_VIT,
  QM_FAMILY_CONVNEXT,
  QM_FAMILY_MAMBA,
  QM_FAMILY_LLAMA,
  QM_FAMILY_MISTRAL,
  QM_FAMILY_QWEN2,
  QM_FAMILY_QWEN3,
  QM_FAMILY_OLMO2,
  QM_FAMILY_OLMO3,
  QM_FAMILY_SMOLLM3,
  QM_FAMILY_GEMMA3_TEXT,
  QM_FAMILY_GPT2,
  QM_FAMILY_MODERNBERT,
  QM_FAMILY_ESM,
  QM_FAMILY_OLMOE,
  QM_FAMILY_QWEN3_MOE,
  QM_FAMILY_MIXTRAL,
  QM_FAMILY_DINOV2,
  QM_FAMILY_DINOV2_WITH_REGISTERS,
  QM_FAMILY_DINOV3_VIT,
  QM_FAMILY_VIT_MAE,
  QM_FAMILY_DIT,
  QM_FAMILY_CLIP,
  QM_FAMILY_SIGLIP,
  QM_FAMILY_STARCODER2,
  QM_FAMILY_MAMBA2,
  QM_FAMILY_COUNT
} QmFamily;

typedef enum QmPrecision
{
  QM_PRECISION_FP32,
  QM_PRECISION_FP16, /* mixed: fp32 master weights, fp16 products */
  QM_PRECISION_BF16, /* mixed: fp32 master weights, bf16 products */
  /* As bf16, but for the linear layers of blocks, whose products, forward and
   * of both gradients, are in FP8 with fp32 sums.  What is outside of blocks
   * (embeddings, heads), what routes tokens to experts, and experts' own
   * products stay in bf16. */
  QM_PRECISION_FP8
} QmPrecision;

#define QM_N_PRECISIONS 4

/* What has a scale of its own in FP8: a tensor (Micikevicius et al. 2022, arXiv
 * 2209.05433), or each row of what is summed, as in torchao's "rowwise". */
typedef enum QmFp8Scales
{
  QM_FP8_SCALES_TENSOR,
  QM_FP8_SCALES_ROW
} QmFp8Scales;

/* Whose largest magnitude a scale is made from: of the tensor itself
 * (torchao's "dynamic", Transformer Engine's Float8CurrentScaling), or of it in
 * the passes before (its DelayedScaling). */
typedef enum QmFp8Amax
{
  QM_FP8_AMAX_CURRENT,
  QM_FP8_AMAX_DELAYED
} QmFp8Amax;

/* The type of gradients of what layers make; all else is in E4M3. */
typedef enum QmFp8Gradients
{
  QM_FP8_GRADIENTS_E5M2,
  QM_FP8_GRADIENTS_E4M3
} QmFp8Gradients;

/* Passes whose largest magnitudes are kept: DelayedScaling's amax_history_len
 * by default, of which its amax_compute_algo takes the largest. */
#define QM_FP8_HISTORY 1024

typedef struct QmFp8
{
  QmFp8Scales scales;
  QmFp8Amax amax;
  QmFp8Gradients gradients;
} QmFp8;

typedef enum QmOptimizer
{
  QM_OPTIMIZER_ADAM,  /* weight decay added to the gradient */
  QM_OPTIMIZER_ADAMW, /* weight decay decoupled */
  /* AdamW's direction, times the norm of a tensor's weights over that of its
   * direction (You et al. 2020, arXiv 1904.00962, algorithm 2); of all tensors,
   * with decay of all. */
  QM_OPTIMIZER_LAMB,
  /* Momentum (Nesterov's), of hidden matrices, whose singular values are made
   * alike by five steps of a Newton-Schulz iteration (Jordan et al. 2024,
   * https://kellerjordan.github.io/posts/muon/); AdamW of all others. */
  QM_OPTIMIZER_MUON
} QmOptimizer;

#define QM_N_OPTIMIZERS 4

/* What Muon's learning rate is multiplied by, for a matrix of so many rows
 * (outputs) and columns (inputs). */
typedef enum QmMuonScale
{
  QM_MUON_SCALE_JORDAN,  /* sqrt (max (1, rows / columns)): Jordan et al. */
  QM_MUON_SCALE_MOONSHOT /* 0.2 sqrt (max (rows, columns)), so that an update is
                            about as large as one of AdamW: Liu et al. 2025,
                            arXiv 2502.16982 */
} QmMuonScale;

#define QM_N_MUON_SCALES 2

typedef enum QmActivation
{
  QM_ACTIVATION_GELU,      /* exact, with erf */
  QM_ACTIVATION_GELU_TANH, /* gelu_pytorch_tanh */
  QM_ACTIVATION_RELU,
  QM_ACTIVATION_SILU,
  QM_ACTIVATION_RELU2, /* relu2: the square of relu (So et al. 2021) */
  /* gelu_new, gelu_fast: QM_ACTIVATION_GELU_TANH, which Transformers makes of
   * simple operators. */
  QM_ACTIVATION_GELU_NEW,
  QM_ACTIVATION_QUICK_GELU /* quick_gelu: x times the sigmoid of 1.702 x */
} QmActivation;

/* How the angles of rotary positions are stretched for texts that are longer
 * than those of the first training; see data/rope.h. */
typedef enum QmRopeKind
{
  QM_ROPE_DEFAULT,
  QM_ROPE_LINEAR,
  QM_ROPE_LLAMA3,
  QM_ROPE_YARN
} QmRopeKind;

/* What a kind does not have is zero. */
typedef struct QmRope
{
  int kind; /* QmRopeKind */
  bool truncate;
  double theta; /* base of the wave lengths */
  double factor, original_positions;
  double low_frequency, high_frequency; /* of llama3 */
  double beta_fast, beta_slow;          /* of yarn */
  double amplitude; /* of cosines and sines, 1 but for yarn */
} QmRope;

/* The largest number of layers. */
#define QM_CONFIG_MAX_LAYERS (INT64_C (1) << 12)

/* gpt_neox: decoder with rotary positions. */
typedef struct QmGptNeoxConfig
{
  int64_t vocab_size, hidden_size, layers, heads, intermediate_size;
  int64_t max_positions;
  double rotary_pct;  /* share of the head that is rotated */
  double rotary_base; /* usually 10000 */
  double layer_norm_eps, hidden_dropout, attention_dropout;
  double initializer_range;
  QmActivation activation;
  bool parallel_residual, attention_bias, tie_word_embeddings;
} QmGptNeoxConfig;

/* bert and roberta: encoders with a masked language model head. */
typedef struct QmBertConfig
{
  int64_t vocab_size, hidden_size, layers, heads, intermediate_size;
  int64_t max_positions, type_vocab_size;
  int64_t pad_token_id; /* of BERT -1: none */
  double layer_norm_eps, hidden_dropout, attention_dropout;
  double initializer_range;
  QmActivation activation;
  bool tie_word_embeddings;
} QmBertConfig;

/* vit: image classifier on square patches and one class token. */
typedef struct QmVitConfig
{
  int64_t hidden_size, layers, heads, intermediate_size;
  int64_t image_size, patch_size, channels, classes;
  double layer_norm_eps, hidden_dropout, attention_dropout;
  double initializer_range;
  QmActivation activation;
  bool qkv_bias;
} QmVitConfig;

#define QM_CONVNEXT_MAX_STAGES 8

/* convnext: stages of depth-wise 7x7 blocks. */
typedef struct QmConvnextConfig
{
  int64_t stages, depths[QM_CONVNEXT_MAX_STAGES];
  int64_t hidden_sizes[QM_CONVNEXT_MAX_STAGES];
  int64_t patch_size, channels, image_size, classes;
  double layer_norm_eps, layer_scale_init, drop_path_rate;
  double initializer_range;
  QmActivation activation;
} QmConvnextConfig;

/* mamba: Mamba-1 blocks.  The time steps of a new model are spread between
 * `time_step_min` and `time_step_max`, none below the floor; the weights that
 * make them are rank^-1/2 x `time_step_scale`, or with `time_step_random`
 * uniform up to that. */
typedef struct QmMambaConfig
{
  int64_t vocab_size, hidden_size, layers, state_size, inner_size;
  int64_t conv_kernel, time_step_rank;
  double norm_eps, initializer_range;
  double time_step_min, time_step_max, time_step_floor, time_step_scale;
  bool time_step_random, rescale_prenorm_residual;
  bool use_bias, use_conv_bias, residual_in_fp32, tie_word_embeddings;
} QmMambaConfig;

/* Where a layer of a Llama-like decoder has its norms. */
typedef enum QmNorms
{
  QM_NORMS_BEFORE, /* of what goes into attention and MLP */
  QM_NORMS_AFTER,  /* of what comes out of them */
  QM_NORMS_AROUND  /* both */
} QmNorms;

/* What of queries and keys is normed. */
typedef enum QmQueryNorms
{
  QM_QUERY_NORMS_NONE,
  QM_QUERY_NORMS_HEAD,      /* every head, with weights of one head */
  QM_QUERY_NORMS_PROJECTION /* all heads together */
} QmQueryNorms;

/* llama, mistral, qwen2, qwen3, olmo2, olmo3, smollm3 and gemma3_text: decoders
 * with rotary positions, RMS norms and gates; and olmoe, qwen3_moe and mixtral,
 * in layers of which every token goes through some of many experts. */
typedef struct QmLlamaConfig
{
  int64_t vocab_size, hidden_size, layers, heads, intermediate_size;
  int64_t key_heads; /* of keys and values, each for as many of queries */
  int64_t head_size;
  int64_t max_positions;
  int64_t pad_token_id; /* -1: none */
  int64_t window;       /* tokens that a layer with a window sees; 0: none */
  double norm_eps, attention_dropout, initializer_range;
  double query_scalar; /* scores are divided by its square root */
  double logit_cap;    /* logits are this times tanh of their share of it; 0:
                          they are what they are */
  QmRope rope;         /* of layers without a window */
  QmRope local_rope;   /* of those with */
  QmActivation activation;
  bool attention_bias; /* of queries, keys and values */
  bool output_bias, mlp_bias, tie_word_embeddings;
  uint64_t windowed[QM_CONFIG_MAX_LAYERS / 64];
  uint64_t unrotated[QM_CONFIG_MAX_LAYERS / 64]; /* without positions */
  /* Of mixtures of experts, else all zero: */
  int64_t experts, experts_per_token;
  int64_t expert_size;     /* inner, of one of them */
  double balance;          /* the load-balancing loss counts times this */
  bool normalized_experts; /* weights of a token's experts add up to 1 */
  uint64_t dense[QM_CONFIG_MAX_LAYERS / 64]; /* without experts */
  /* Of the family. */
  QmNorms norms;
  QmQueryNorms query_norms;
  bool unit_norms;        /* weights of norms are what is added to 1 */
  bool scaled_embeddings; /* by the square root of the hidden size */
} QmLlamaConfig;

/* gpt2: decoder with learned positions. */
typedef struct QmGpt2Config
{
  int64_t vocab_size, hidden_size, layers, heads, intermediate_size;
  int64_t max_positions;
  double layer_norm_eps, embedding_dropout, hidden_dropout, attention_dropout;
  double initializer_range;
  QmActivation activation;
  bool scale_attention; /* by the square root of the head's size */
  bool scale_by_layer;  /* and by the number of the layer, from 1 */
  bool tie_word_embeddings;
} QmGpt2Config;

/* modernbert: encoder with rotary positions and gates, of whose layers some see
 * all tokens and some those around them. */
typedef struct QmModernBertConfig
{
  int64_t vocab_size, hidden_size, layers, heads, intermediate_size;
  int64_t max_positions;
  int64_t pad_token_id; /* -1: none */
  int64_t window; /* of local layers: half of it, rounded down, is to each side
                     of a token; 0: there are none */
  double norm_eps, embedding_dropout, mlp_dropout;
  double attention_dropout; /* of weights, and of what comes out */
  double initializer_range;
  QmRope rope;       /* of layers that see all tokens */
  QmRope local_rope; /* of the others */
  QmActivation activation, head_activation;
  bool norm_bias, attention_bias, mlp_bias, head_bias, decoder_bias;
  bool tie_word_embeddings;
  uint64_t windowed[QM_CONFIG_MAX_LAYERS / 64];
} QmModernBertConfig;

/* esm: encoder of proteins with rotary positions. */
typedef struct QmEsmConfig
{
  int64_t vocab_size, hidden_size, layers, heads, intermediate_size;
  int64_t max_positions, pad_token_id;
  int64_t mask_token_id; /* of `token_dropout`; -1 without */
  double layer_norm_eps, hidden_dropout, attention_dropout;
  double initializer_range, rope_theta;
  bool token_dropout; /* embeddings of hidden tokens are 0, the others scaled */
  bool norm_embeddings, tie_word_embeddings;
} QmEsmConfig;

/* dinov2, dinov2_with_registers and dinov3_vit: backbones on square patches, a
 * class token and registers, with layer scale; image classifiers, or with
 * prototypes students of a teacher that is the average of themselves. */
typedef struct QmDinoConfig
{
  int64_t hidden_size, layers, heads, intermediate_size;
  int64_t image_size; /* of DINOv2; of DINOv3 as the recipe says */
  int64_t patch_size, channels, classes, registers;
  int64_t mlp_ratio; /* of DINOv2, of which the intermediate size follows */
  double layer_norm_eps, attention_dropout, initializer_range;
  double layer_scale_init;
  double drop_path_rate; /* of every branch alike */
  /* Of DINOv3: base of the wave lengths, and by how much the places of patches
   * are moved and scaled at random in training, 0: not at all. */
  double rope_theta, move, jitter, rescale;
  QmActivation activation;
  bool query_bias, key_bias, value_bias; /* of DINOv2 all alike */
  bool output_bias, mlp_bias;            /* of DINOv2 always */
  bool gated;
  /* Of self-distillation, else all zero.  Teacher and student see two crops of
   * every image, and the student some smaller ones besides. */
  int64_t prototypes; /* that class tokens are told apart by */
  int64_t head_hidden, head_bottleneck, head_layers;
  int64_t local_crops, local_size;
  double teacher_temperature;
  double spread; /* how much KoLeo counts */
  /* Of patches of one of the two crops that are hidden from the student, or all
   * zero: what they are of other prototypes, under a head of their own. */
  int64_t patch_prototypes, patch_bottleneck;
  double mask_ratio; /* of the patches, hidden ones */
} QmDinoConfig;

/* Patches of a crop of so many pixels a side that are hidden. */
int64_t qm_dino_hidden (const QmDinoConfig *config, int64_t size);

/* Crops that the teacher sees, and what logits of the student are divided by
 * (Oquab et al. 2023, DINOv2: dinov2/train/ssl_meta_arch.py and
 * dinov2/loss/dino_clstoken_loss.py). */
#define QM_DINO_GLOBAL_CROPS        2
#define QM_DINO_STUDENT_TEMPERATURE 0.1
/* Rounds of Sinkhorn and Knopp. */
#define QM_DINO_ROUNDS 3

/* vit_mae: an encoder of the patches of an image that are not hidden, and a
 * decoder that tells the pixels of those that are. */
typedef struct QmMaeConfig
{
  int64_t hidden_size, layers, heads, intermediate_size;
  int64_t decoder_hidden_size, decoder_layers, decoder_heads;
  int64_t decoder_intermediate_size;
  int64_t image_size, patch_size, channels;
  double mask_ratio; /* of the patches, hidden ones */
  double layer_norm_eps, hidden_dropout, attention_dropout;
  double initializer_range;
  QmActivation activation;
  bool qkv_bias;
  bool normalized_pixels; /* mean and variance of a patch are not told */
} QmMaeConfig;

/* All patches of an image, and those that the encoder sees. */
int64_t qm_mae_patches (const QmMaeConfig *config);
int64_t qm_mae_kept (const QmMaeConfig *config);

/* dit: tells the noise of images that have passed through an encoder, with a
 * time and a class. */
typedef struct QmDitConfig
{
  int64_t layers, heads, head_size;
  int64_t image_size, patch_size; /* pixels of what is encoded */
  int64_t channels, out_channels;
  int64_t classes;
  double class_dropout; /* how often a class is left out */
  double layer_norm_eps, initializer_range;
  int activation; /* 0: gelu with tanh; 1: exact */
  bool attention_bias;
  bool learned; /* variances, too: twice the channels come out */
} QmDitConfig;

/* Of the authors' code (facebookresearch/DiT, models.py, diffusion/__init__.py
 * and diffusion/gaussian_diffusion.py): the inner size of MLPs over the hidden
 * size, sines and cosines of a time, and times. */
#define QM_DIT_MLP_RATIO   4
#define QM_DIT_FREQUENCIES 256
#define QM_DIT_TIMES       1000

/* The size of all heads together; patches of an image; rows of the table of
 * classes, one of which is no class where classes are left out. */
int64_t qm_dit_hidden (const QmDitConfig *config);
int64_t qm_dit_patches (const QmDitConfig *config);
int64_t qm_dit_class_rows (const QmDitConfig *config);

/* Layers of a transformer with norms before attention and MLP. */
typedef struct QmTower
{
  int64_t hidden_size, layers, heads, intermediate_size;
  double layer_norm_eps, attention_dropout;
  QmActivation activation;
} QmTower;

/* clip and siglip: a tower of images and one of texts, of which each image and
 * its text are to be told from all others of a step.  Texts have all the tokens
 * that there are positions for, as both are trained. */
typedef struct QmClipConfig
{
  QmTower vision, text;
  int64_t image_size, patch_size, channels;
  int64_t vocab_size, max_positions;
  int64_t projection; /* features that are compared */
  /* Of CLIP, else 0: */
  int64_t eos_token_id; /* the first in a text stands for it; 2: the largest */
  double temperature;   /* the logarithm of what cosines are multiplied by */
  double initializer_range, initializer_factor;
} QmClipConfig;

/* starcoder2: decoder with rotary positions, keys for several queries each,
 * layer norms, and MLPs without gates. */
typedef struct QmStarcoder2Config
{
  int64_t vocab_size, hidden_size, layers, heads, intermediate_size;
  int64_t key_heads; /* of keys and values, each for as many of queries */
  int64_t max_positions;
  int64_t pad_token_id; /* -1: none */
  int64_t window;       /* tokens that every layer sees; -1: all */
  double norm_eps, embedding_dropout;
  double hidden_dropout; /* of what comes out of attention and MLP */
  double attention_dropout, initializer_range;
  QmRope rope;
  QmActivation activation;
  bool use_bias; /* of every product but the last */
  bool tie_word_embeddings;
} QmStarcoder2Config;

/* mamba2: Mamba-2 blocks, of `expand` x hidden_size channels, which are
 * `heads` heads of `head_dim`; as many heads share each of `groups` of B and C.
 * Time steps of a new model are spread as those of mamba. */
typedef struct QmMamba2Config
{
  int64_t vocab_size, hidden_size, layers, heads, head_dim, groups;
  int64_t state_size, expand, conv_kernel;
  int64_t chunk_size; /* tokens that Transformers takes together: speed alone */
  double norm_eps, initializer_range;
  double time_step_min, time_step_max, time_step_floor;
  /* What time steps are kept between; 0: there is no such limit, but that of
   * softplus, which gives nothing below 0. */
  double time_step_least, time_step_most;
  bool rescale_prenorm_residual;
  bool use_bias, use_conv_bias, residual_in_fp32, tie_word_embeddings;
} QmMamba2Config;

#define QM_ARCHITECTURE_BYTES 64

typedef struct QmModelConfig
{
  QmFamily family;
  /* The architecture that the file names where its head is not the one that is
   * trained, for people; else empty. */
  char other_head[QM_ARCHITECTURE_BYTES];
  union
  {
    QmGptNeoxConfig gpt_neox;
    QmBertConfig bert; /* QM_FAMILY_BERT and QM_FAMILY_ROBERTA */
    QmVitConfig vit;
    QmConvnextConfig convnext;
    QmMambaConfig mamba;
    QmLlamaConfig llama; /* QM_FAMILY_LLAMA to QM_FAMILY_GEMMA3_TEXT, and
                            QM_FAMILY_OLMOE to QM_FAMILY_MIXTRAL */
    QmGpt2Config gpt2;
    QmModernBertConfig modernbert;
    QmEsmConfig esm;
    QmDinoConfig dino; /* QM_FAMILY_DINOV2 to QM_FAMILY_DINOV3_VIT */
    QmMaeConfig mae;
    QmDitConfig dit;
    QmClipConfig clip; /* QM_FAMILY_CLIP and QM_FAMILY_SIGLIP */
    QmStarcoder2Config starcoder2;
    QmMamba2Config mamba2;
  };
} QmModelConfig;

/* Tokens that the tower of images of QM_FAMILY_CLIP and QM_FAMILY_SIGLIP sees:
 * patches, and of CLIP the class. */
int64_t qm_clip_vision_tokens (const QmModelConfig *config);

/* The largest values that a recipe may have. */
#define QM_RECIPE_MAX_BATCH         (INT64_C (1) << 24)
#define QM_RECIPE_MAX_STEPS         INT64_C (1000000000)
#define QM_RECIPE_MAX_SEQUENCE      (INT64_C (1) << 24)
#define QM_RECIPE_MAX_IMAGE         (INT64_C (1) << 14)
#define QM_RECIPE_MAX_LEARNING_RATE 1e6
#define QM_RECIPE_MAX_WEIGHT_DECAY  1e6
#define QM_RECIPE_MAX_GRAD_NORM     1e12
#define QM_RECIPE_MAX_Z_LOSS        1

typedef struct QmRecipe
{
  int64_t batch_size;      /* samples in one step */
  int64_t steps;           /* optimizer updates in the whole training */
  int64_t sequence_length; /* tokens in a sample; 0 for images */
  int64_t image_size;      /* pixels a side; 0 for text */
  QmPrecision precision;
  QmFp8 fp8; /* with QM_PRECISION_FP8, else all zero */
  QmOptimizer optimizer;
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  double max_grad_norm; /* 0: gradients are not clipped */
  double dropout;       /* of hidden states; NaN: as the configuration says */
  double z_loss; /* times log(sum of exp(logits))^2, added to the loss of every
                    label that counts (PaLM, Chowdhery et al. 2022); 0: none,
                    as it has to be where a loss has no such logits */
  double ema_decay; /* of an average of all weights in fp32, which every update
                       makes ema_decay x itself + (1 - ema_decay) x the weights,
                       from those of the beginning on; 0: there is none */
  /* Of hidden matrices, with QM_OPTIMIZER_MUON, else all zero: */
  double muon_learning_rate, muon_momentum, muon_weight_decay;
  QmMuonScale muon_scale;
} QmRecipe;

/* Where a model stands in lists. */
typedef enum QmModelGroup
{
  QM_MODEL_GROUP_OWN,        /* its file says nothing: somebody's own */
  QM_MODEL_GROUP_TODAY,      /* that labs train today */
  QM_MODEL_GROUP_PUBLICATION /* of arXiv 2410.23261 */
} QmModelGroup;

/* One model of the catalog.  Strings belong to the catalog. */
typedef struct QmModel
{
  const char *id;
  const char *name;
  const char *source;
  QmModelGroup group;
  QmModelConfig config;
  QmRecipe recipe;
} QmModel;

/* The order in which lists show models: by group, family, number of parameters
 * and id.  Negative where `a` is before `b`. */
int qm_model_compare (const QmModel *a, const QmModel *b);

/* "today" and "publication", as written in files; "" of one's own; static. */
const char *qm_model_group_name (QmModelGroup group);

/* "gpt_neox", "fp16", "adamw" and so on, as written in files; static. */
const char *qm_family_name (QmFamily family);
const char *qm_precision_name (QmPrecision precision);
const char *qm_fp8_scales_name (QmFp8Scales scales);
const char *qm_fp8_amax_name (QmFp8Amax amax);
const char *qm_fp8_gradients_name (QmFp8Gradients gradients);
const char *qm_optimizer_name (QmOptimizer optimizer);
const char *qm_muon_scale_name (QmMuonScale scale);

/* Reads a Hugging Face config.json from `length` bytes of `text`; `file` names
 * it in messages.  QM_STATUS_UNSUPPORTED names the model type or the field that
 * we cannot honour. */
QmStatus qm_model_config_parse (const char *text,
                                size_t length,
                                const char *file,
                                QmModelConfig *config,
                                QmError *error);

/* Reads a recipe object, of the form shown above. */
QmStatus qm_recipe_parse (const char *text,
                          size_t length,
                          const char *file,
                          QmRecipe *recipe,
                          QmError *error);

/* The architecture of Transformers that is trained, as "BertForMaskedLM";
 * static. */
const char *qm_family_architecture (QmFamily family);

/* Whether models of a family are trained on images, else on text. */
bool qm_family_has_images (QmFamily family);

/* Whether a family has dropout of hidden states. */
bool qm_family_has_dropout (QmFamily family);

/* The most tokens that a sample may have; 0: there is no limit. */
int64_t qm_model_positions (const QmModelConfig *config);

/* Whether a model learns from a teacher, which is the average of its weights
 * that the recipe has. */
bool qm_model_has_teacher (const QmModelConfig *config);

/* Whether its loss is of words or classes, whose logits a z-loss is of. */
bool qm_model_has_z_loss (const QmModelConfig *config);

/* Whether attention over so many tokens is given a mask where PyTorch compiles
 * the model of Transformers: create_causal_mask() and
 * create_bidirectional_mask() (masking_utils.py, 5.17.0) make one then even
 * where a kernel could be told what is hidden, or nothing is.  All that attends
 * to text calls them, ViT does, and the encoder of MAE; no other tower of
 * images does, nor MAE's decoder, nor DiT, which is no model of Transformers.
 */
bool qm_model_has_mask (const QmModelConfig *config, int64_t tokens);

/* The only size that images may have, pixels a side; 0: the recipe says. */
int64_t qm_model_image_size (const QmModelConfig *config);

/* Whether an activation of it is QM_ACTIVATION_GELU_NEW. */
bool qm_model_composes_gelu (const QmModelConfig *config);

/* The standard deviation of new weights. */
double qm_model_initializer_range (const QmModelConfig *config);

/* Puts the recipe's dropout into the configuration and refuses a recipe that
 * the model cannot be trained with: a text's for a model of images, more tokens
 * than it has positions, an image that has another size than its patches
 * expect, dropout where the family has none, no average where that is the
 * teacher. */
QmStatus qm_model_apply_recipe (QmModelConfig *config,
                                const QmRecipe *recipe,
                                const char *file,
                                QmError *error);

/* 16 hexadecimal digits and the end. */
#define QM_MODEL_KEY_BYTES 17

/* A hash of a configuration and a recipe, the same on every machine, by which
 * results of a model are told from those of another of its name. */
void qm_model_key (const QmModelConfig *config,
                   const QmRecipe *recipe,
                   char key[QM_MODEL_KEY_BYTES]);

#endif
