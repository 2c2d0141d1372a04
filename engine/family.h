/* SPDX-License-Identifier: Apache-2.0 */

/* Models, as graphs of the forward pass made of simple operators; passes make
 * something better of them. */

#ifndef QM_ENGINE_FAMILY_H
#define QM_ENGINE_FAMILY_H

#include "data/model.h"
#include "engine/graph.h"

typedef struct QmBuildOptions
{
  int64_t micro_batch;
  int64_t accumulation; /* micro-batches that are averaged over */
  int ranks, rank;      /* that train together; of 0 ranks, one alone */
  QmType type;          /* of products: f32, f16, bf16 */
  /* Of the sum that runs through a model with norms before its blocks;
   * PyTorch's autocast keeps it in f32. */
  QmType residual;
  /* Vocabularies get room up to a multiple of this, which cuBLAS is much faster
   * with: 50265 columns of fp16 cannot be read in aligned vectors. */
  int64_t vocab_multiple;
  bool dropout;
  double z_loss; /* as recipes have it */
} QmBuildOptions;

/* Builds the forward pass with loss.  QM_STATUS_UNSUPPORTED for a family or a
 * field of the configuration that the engine cannot honour. */
QmStatus qm_build_model (const QmModelConfig *config,
                         const QmRecipe *recipe,
                         const QmBuildOptions *options,
                         QmGraph **graph,
                         QmError *error);

/* For the builders of families. */

typedef struct QmBuilder
{
  QmGraph *graph;
  const QmBuildOptions *options;
  double logit_cap;      /* what logits are capped to; 0: they are not */
  int64_t batch, length; /* length in tokens, class token and all */
  int64_t image_size;    /* pixels a side */
  /* Whether it is a teacher that is built, which reads averages of the weights
   * that are declared; and whether weights are there already and are used once
   * more, in the order in which they were declared. */
  bool taught, again;
  /* Of patches that are hidden from a student: which, their places, and what is
   * there instead; QM_NO_VALUE: none are. */
  QmValueId hidden, places, mask_token;
  size_t next;    /* the parameter that is probably asked for */
  QmValueId load; /* of experts, a row a layer; QM_NO_VALUE: nobody asks */
  int64_t loads;  /* rows so far */
} QmBuilder;

void qm_build_gpt_neox (QmBuilder *builder, const QmModelConfig *model);
void qm_build_bert (QmBuilder *builder, const QmModelConfig *model);
void qm_build_vit (QmBuilder *builder, const QmModelConfig *model);
void qm_build_convnext (QmBuilder *builder, const QmModelConfig *model);
void qm_build_mamba (QmBuilder *builder, const QmModelConfig *model);
void qm_build_mamba2 (QmBuilder *builder, const QmModelConfig *model);
void qm_build_llama (QmBuilder *builder, const QmModelConfig *model);
void qm_build_gpt2 (QmBuilder *builder, const QmModelConfig *model);
void qm_build_modernbert (QmBuilder *builder, const QmModelConfig *model);
void qm_build_esm (QmBuilder *builder, const QmModelConfig *model);
void qm_build_dino (QmBuilder *builder, const QmModelConfig *model);
void qm_build_dit (QmBuilder *builder, const QmModelConfig *model);
void qm_build_clip (QmBuilder *builder, const QmModelConfig *model);
void qm_build_mae (QmBuilder *builder, const QmModelConfig *model);
void qm_build_starcoder2 (QmBuilder *builder, const QmModelConfig *model);

/* DINO's training with teacher and crops, and its backbone: the normed tokens
 * of images, of which it sets the builder's batch and length. */
void qm_build_dino_pair (QmBuilder *builder, const QmModelConfig *model);
QmValueId qm_build_dino_tokens (QmBuilder *builder,
                                const QmModelConfig *model,
                                QmValueId pixels);

/* Declares a parameter of any shape and type. */
QmValueId qm_build_parameter (QmBuilder *builder,
                              QmInitial initial,
                              QmType type,
                              int32_t rank,
                              const int64_t *shape,
                              const char *name);

/* Declares `prefix` followed by `suffix` as a parameter and returns its value.
 * `columns` 0: it has one dimension.  Norms are f32 in every precision. */
QmValueId qm_build_weight (QmBuilder *builder,
                           QmInitial initial,
                           int64_t rows,
                           int64_t columns,
                           const char *prefix,
                           const char *suffix);

/* Weight and bias of a linear layer or a norm, "weight" and "bias" under a
 * name. */
typedef struct QmAffine
{
  QmValueId weight;
  QmValueId bias; /* QM_NO_VALUE: none */
  bool rms;       /* of a norm: of the root of the mean square, without bias */
} QmAffine;

/* `n` columns of rows that are dense, from `first` on: a view. */
QmValueId
qm_build_columns (QmBuilder *builder, QmValueId x, int64_t first, int64_t n);

QmAffine qm_build_linear_weights (QmBuilder *builder,
                                  int64_t out,
                                  int64_t in,
                                  bool bias,
                                  const char *prefix,
                                  const char *name);

/* How a weight begins that is not normal as the recipe has it. */
typedef struct QmBeginning
{
  QmInitial initial;
  double amount; /* deviation, bound or value */
} QmBeginning;

/* Uniform, as Glorot and Bengio (2010) have it. */
QmBeginning qm_build_glorot (int64_t in, int64_t out);

/* Has the parameter that was declared last begin so. */
void qm_build_begin (QmBuilder *builder, QmInitial initial, double amount);

/* The same of a weight that begins as `begin` says; NULL: as the recipe does.
 */
QmAffine qm_build_linear_begun (QmBuilder *builder,
                                const QmBeginning *begin,
                                int64_t out,
                                int64_t in,
                                bool bias,
                                const char *prefix,
                                const char *name);

/* A convolution that does not overlap, [out, channels, side, side] in files, as
 * the linear layer of qm_build_patches() that it is; "weight" and "bias" follow
 * the prefix.  `begin` may be NULL. */
QmAffine qm_build_patch_weights (QmBuilder *builder,
                                 const QmBeginning *begin,
                                 int64_t out,
                                 int64_t channels,
                                 int64_t side,
                                 bool bias,
                                 const char *prefix);

/* Gives the `n` parameters that were declared last another name as well, where
 * it differs: `prefix`, `name`, and ".weight" or what theirs end with. */
void qm_build_alias (QmBuilder *builder,
                     size_t n,
                     const char *prefix,
                     const char *name);

QmAffine qm_build_norm_weights (QmBuilder *builder,
                                int64_t size,
                                bool bias,
                                const char *prefix,
                                const char *name);

QmValueId
qm_build_linear (QmBuilder *builder, QmValueId x, const QmAffine *weights);
QmValueId
qm_build_activation (QmBuilder *builder, QmValueId x, QmActivation activation);
QmFunction qm_build_function (QmActivation activation);
/* activation (first half of the columns) x second half. */
QmValueId
qm_build_gate (QmBuilder *builder, QmValueId x, QmActivation activation);
/* A layer norm, or an RMS norm. */
QmValueId qm_build_norm (QmBuilder *builder,
                         QmValueId x,
                         const QmAffine *weights,
                         double epsilon);

/* The same with an output of another type than products have. */
QmValueId qm_build_norm_as (QmBuilder *builder,
                            QmValueId x,
                            const QmAffine *weights,
                            double epsilon,
                            QmType type);

/* `x` in another type; `x` itself if it has that. */
QmValueId qm_build_cast (QmBuilder *builder, QmValueId x, QmType type);

QmValueId qm_build_dropout (QmBuilder *builder, QmValueId x, double dropout);
/* The same of attention weights, [B, H, S, S]. */
QmValueId
qm_build_dropout_of_weights (QmBuilder *builder, QmValueId x, double dropout);
QmValueId
qm_build_add (QmBuilder *builder, QmValueId a, QmValueId b, QmType type);
QmValueId qm_build_embedding (QmBuilder *builder,
                              QmValueId ids,
                              QmValueId weights,
                              int64_t padding,
                              QmType type);

/* Patches of images [B, C, H, W], in order, or those that are `kept` (i32 [B,
 * K], may be QM_NO_VALUE), as rows of the product that is a convolution with
 * that stride. */
QmValueId qm_build_patches (QmBuilder *builder,
                            QmValueId images,
                            QmValueId kept,
                            int64_t patch);

/* Layers of a transformer as ViT has them. */
typedef struct QmVitLayers
{
  int64_t n, hidden, inner, heads;
  const char *prefix, *alias; /* older and newer, before the number of one */
  double epsilon, hidden_dropout, attention_dropout;
  QmActivation activation;
  bool qkv_bias;
} QmVitLayers;

/* Each is a block of its own, of sequences of the builder's length. */
QmValueId qm_build_vit_layers (QmBuilder *builder,
                               QmValueId x,
                               const QmVitLayers *layers);

/* A depth-wise convolution of images, or with `causal` of sequences. */
typedef struct QmConvolutionShape
{
  int64_t height, width; /* rows of an image, and of pixels in them */
  int64_t down, across;  /* of the window */
  bool causal;
} QmConvolutionShape;

/* `weight` has one dimension for each channel, and any others for the window;
 * `bias` may be QM_NO_VALUE. */
QmValueId qm_build_convolution (QmBuilder *builder,
                                QmValueId x,
                                QmValueId weight,
                                QmValueId bias,
                                const QmConvolutionShape *shape);

/* Attention between queries, keys and values in one value [tokens, 3 hidden],
 * element by element of the paper: scores, softmax, dropout, sum.
 * `interleaved`: a row holds (q, k, v) of the first head, then of the second;
 * else all of q, all of k, all of v. */
typedef struct QmAttentionShape
{
  int64_t heads, hidden;
  bool causal, interleaved;
  double dropout;
} QmAttentionShape;

QmValueId qm_build_attention (QmBuilder *builder,
                              QmValueId packed,
                              const QmAttentionShape *shape);

/* The same between heads that are views [B, H, S, D] of any value, those of
 * keys and values [B, G, S, D] with as many or fewer heads, a divisor of H. */
typedef struct QmHeads
{
  QmValueId q, k, v;
  double scale;
  bool causal;
  int64_t window; /* tokens that are seen, to each side, this one among them;
                     0: all */
  double dropout;
} QmHeads;

/* Returns [B S, H D]. */
QmValueId qm_build_heads (QmBuilder *builder, const QmHeads *heads);

/* The table of angles of positions; `rotated` elements of a head turn. */
QmValueId
qm_build_rotary (QmBuilder *builder, const QmRope *rope, int64_t rotated);

/* Turns the first `count` of `heads` heads of every token, which are side by
 * side in rows of their own.  Without a `table` that is `x`. */
QmValueId qm_build_rotated (QmBuilder *builder,
                            QmValueId x,
                            QmValueId table,
                            int64_t heads,
                            int64_t count,
                            int64_t width);

/* Of rows of `row` elements, `heads` heads from element `first` on, as
 * [B, H, S, D]. */
QmValueId qm_build_heads_of (QmBuilder *builder,
                             QmValueId x,
                             int64_t row,
                             int64_t first,
                             int64_t heads,
                             int64_t width);

/* One of several linear layers of the same input whose weights are neighbours.
 */
typedef struct QmStackPart
{
  const char *name, *alias; /* alias may be NULL */
  int64_t rows;
} QmStackPart;

#define QM_STACK_MAX 3

/* Their results side by side, as one value [tokens, all rows]; a pass can make
 * one product of them.  `what` is for people. */
QmValueId qm_build_stack (QmBuilder *builder,
                          QmValueId x,
                          bool bias,
                          const QmStackPart *parts,
                          int n,
                          const char *what);

/* Names of three parameters: each a prefix and what follows. */
typedef struct QmNamesOf
{
  const char *prefix;
  const char *parts[3];
} QmNamesOf;

/* Query, key and value of separate layers, as one value that
 * qm_build_attention() takes; `aliases` may be NULL. */
QmValueId qm_build_qkv (QmBuilder *builder,
                        QmValueId x,
                        int64_t hidden,
                        bool bias,
                        const QmNamesOf *names,
                        const QmNamesOf *aliases);

/* Of rows with `queries` heads of queries, then `keys` of keys and as many of
 * values: sets q, k and v of `heads`, queries and keys turned by a `table`, if
 * there is one. */
void qm_build_packed_heads (QmBuilder *builder,
                            QmValueId packed,
                            QmValueId table,
                            int64_t queries,
                            int64_t keys,
                            int64_t width,
                            QmHeads *heads);

/* Query, key and value of separate layers, PREFIXself_attn.q_proj and so on,
 * with `keys` heads of keys and of values for `queries` heads of queries, side
 * by side; queries and keys are turned by a `table`, if there is one.  Sets q,
 * k and v of `heads`. */
void qm_build_packed (QmBuilder *builder,
                      QmValueId x,
                      bool bias,
                      const char *prefix,
                      QmValueId table,
                      int64_t queries,
                      int64_t keys,
                      int64_t width,
                      QmHeads *heads);

/* Vocabulary weights [vocab, hidden] and bias [vocab], with room; `alias` may
 * be NULL. */
QmValueId qm_build_vocab_weight (QmBuilder *builder,
                                 int64_t vocab,
                                 int64_t hidden,
                                 const char *name,
                                 const char *alias);
QmValueId qm_build_vocab_bias (QmBuilder *builder,
                               int64_t vocab,
                               const char *name,
                               const char *alias);

/* Declares the inputs of a model of text: ids, and labels. */
void qm_build_text_inputs (QmBuilder *builder);

/* Of a model of images: pixels [B, channels, size, size]; and a class each. */
void qm_build_image_inputs (QmBuilder *builder, int64_t channels, int64_t size);
void qm_build_class_inputs (QmBuilder *builder);

/* Positions of the tokens, i32 [B, S], in those that are not `padding`, which
 * may be -1. */
QmValueId qm_build_positions (QmBuilder *builder, int64_t padding);

/* Picks patches of each image by chance, or, without dropout, by noise that is
 * an input: which (i32 [images, K]), and the places of all, as
 * QM_OP_MASK_PATCHES has them. */
void qm_build_mask (QmBuilder *builder,
                    int64_t images,
                    int64_t patches,
                    QmValueId picked,
                    QmValueId places);

/* x + y, in the type of the sum that runs through a model. */
QmValueId qm_build_residual (QmBuilder *builder, QmValueId x, QmValueId y);

/* The MLP of a layer: down (activation (up (x))), and dropout. */
QmValueId qm_build_mlp (QmBuilder *builder,
                        QmValueId x,
                        const QmAffine *up,
                        QmActivation activation,
                        const QmAffine *down,
                        double dropout);

/* What one layer makes of `x`; names begin with `prefix`. */
typedef QmValueId (*QmBuildLayer) (QmBuilder *builder,
                                   QmValueId x,
                                   const QmModelConfig *model,
                                   int64_t index,
                                   const char *prefix);

/* `n` layers, each a block of its own, under names that begin with `prefix` and
 * its number. */
QmValueId qm_build_layers (QmBuilder *builder,
                           QmValueId x,
                           const QmModelConfig *model,
                           int64_t n,
                           const char *prefix,
                           QmBuildLayer layer);

/* The end of a decoder: `x`, normed, tells the next token with the weights of
 * its `words`, or with its own, [vocab, hidden], of that name; `alias` may be
 * NULL. */
void qm_build_next_token (QmBuilder *builder,
                          QmValueId x,
                          QmValueId words,
                          bool tied,
                          const char *name,
                          const char *alias);

/* The end of a classifier of `x`, [B, width]. */
void qm_build_classifier (QmBuilder *builder,
                          QmValueId x,
                          int64_t classes,
                          int64_t width);

/* Experts of a layer, `count`, of which `per_token` are for each token. */
typedef struct QmExperts
{
  int64_t count, per_token, hidden, inner;
  bool normalized; /* the weights of a token's add up to 1 */
  QmActivation activation;
  const char *router;   /* the name of its weights */
  const char *alias;    /* another one, or NULL */
  const char *experts;  /* what goes before ".N.NAME.weight" in files */
  const char *names[3]; /* of gate, up and down */
  const char *packed;   /* what goes before ".gate_up_proj" and ".down_proj",
                           where those of all experts are one tensor */
} QmExperts;

/* Of `x`, [tokens, hidden], in the type of products. */
QmValueId
qm_build_experts (QmBuilder *builder, QmValueId x, const QmExperts *shape);

/* Before the layers of which the load is to be balanced: so many of them. */
void qm_build_loads (QmBuilder *builder, int64_t layers, int64_t experts);

/* After them: `coefficient` x the load-balancing loss, as QM_OP_BALANCE has it,
 * is added to the loss, the mean over micro-batches.
 *
 * It is a product of two means, of how often an expert is chosen and how
 * probable it is, and thus of the tokens that the means are of: those of a
 * micro-batch on one GPU.  Larger micro-batches balance over more tokens and
 * leave each less bound, so this part of loss and gradient depends on how a
 * batch is divided, as in Transformers, which every rank and micro-batch calls
 * on its own. */
void qm_build_balance (QmBuilder *builder, double coefficient);

/* Rows of the length 1; squares of lengths below `epsilon` count as that. */
QmValueId qm_build_directions (QmBuilder *builder, QmValueId x, double epsilon);

/* The loss of pairs of features, row by row of images and of texts, each of
 * which is to be told from all others: with the logarithm of a temperature and,
 * unless it is NaN, a bias that begin so and are learned.
 *
 * All others are those of the micro-batches of all ranks in the same pass,
 * whose features are gathered (OpenCLIP's local loss, mlfoundations/open_clip,
 * src/open_clip/loss.py): of which each rank has its own rows of cosines, and
 * the whole gradient of its own features without another exchange, as the
 * logarithms of sums of all rows are gathered, too.  With several passes in a
 * step, pairs of one pass are not told from those of others. */
void qm_build_pairs (QmBuilder *builder,
                     QmValueId images,
                     QmValueId texts,
                     double temperature,
                     double bias);

/* Adds losses [rows] to that of the pass. */
void qm_build_loss_sum (QmBuilder *builder, QmValueId losses, int64_t rows);

/* Logits, capped as the builder says, and their loss; `bias` may be
 * QM_NO_VALUE.  With `shift`, every token predicts the next. */
void qm_build_loss (QmBuilder *builder,
                    QmValueId x,
                    QmValueId weight,
                    QmValueId bias,
                    bool shift);

#endif
