/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t
padded_size (const QmBuilder *builder, int64_t size)
{
  int64_t multiple = builder->options->vocab_multiple;

  return (size + multiple - 1) / multiple * multiple;
}

static const QmTensor *
tensor_of (const QmBuilder *builder, QmValueId id)
{
  return qm_graph_tensor (builder->graph, id);
}

/* A parameter that was declared before, or QM_NO_VALUE where each is new. */
static QmValueId
declared (QmBuilder *builder, const char *name)
{
  QmGraph *graph = builder->graph;

  if (!builder->again || graph->status != QM_OK)
    return QM_NO_VALUE;
  for (size_t i = 0; i < graph->n_parameters; i++)
    {
      size_t at = (builder->next + i) % graph->n_parameters;

      if (strcmp (graph->parameters[at].name, name) == 0)
        {
          builder->next = at + 1;
          return graph->parameters[at].value;
        }
    }
  qm_graph_fail (graph, QM_STATUS_UNSUPPORTED, "%s was not there before", name);
  return QM_NO_VALUE;
}

/* What reads a parameter, or its part. */
static QmValueId
as_read (QmBuilder *builder, QmValueId value)
{
  return builder->taught ? qm_graph_teacher (builder->graph, value) : value;
}

QmValueId
qm_build_weight (QmBuilder *builder,
                 QmInitial initial,
                 int64_t rows,
                 int64_t columns,
                 const char *prefix,
                 const char *suffix)
{
  char name[192];

  snprintf (name, sizeof name, "%s%s", prefix, suffix);
  return qm_build_parameter (builder, initial, builder->options->type,
                             columns > 0 ? 2 : 1, (int64_t[]){ rows, columns },
                             name);
}

QmValueId
qm_build_parameter (QmBuilder *builder,
                    QmInitial initial,
                    QmType type,
                    int32_t rank,
                    const int64_t *shape,
                    const char *name)
{
  QmValueId value = declared (builder, name);

  if (value == QM_NO_VALUE)
    {
      value = qm_graph_value (builder->graph, QM_ROLE_PARAMETER, type, rank,
                              shape, "%s", name);
      qm_graph_parameter (builder->graph, value, initial, name, NULL);
    }
  return as_read (builder, value);
}

void
qm_build_begin (QmBuilder *builder, QmInitial initial, double amount)
{
  if (!builder->again)
    qm_graph_initial (builder->graph, initial,
                      (double[QM_INITIAL_AMOUNTS]){ amount });
}

QmBeginning
qm_build_glorot (int64_t in, int64_t out)
{
  return (QmBeginning){ QM_INITIAL_UNIFORM, sqrt (6.0 / (double) (in + out)) };
}

QmAffine
qm_build_linear_weights (QmBuilder *builder,
                         int64_t out,
                         int64_t in,
                         bool bias,
                         const char *prefix,
                         const char *name)
{
  return qm_build_linear_begun (builder, NULL, out, in, bias, prefix, name);
}

QmAffine
qm_build_linear_begun (QmBuilder *builder,
                       const QmBeginning *begin,
                       int64_t out,
                       int64_t in,
                       bool bias,
                       const char *prefix,
                       const char *name)
{
  QmAffine affine = { .bias = QM_NO_VALUE };
  char text[160];

  snprintf (text, sizeof text, "%s%s", prefix, name);
  affine.weight =
      qm_build_weight (builder, QM_INITIAL_NORMAL, out, in, text, ".weight");
  if (begin != NULL)
    qm_build_begin (builder, begin->initial, begin->amount);
  if (bias)
    affine.bias =
        qm_build_weight (builder, QM_INITIAL_ZERO, out, 0, text, ".bias");
  return affine;
}

QmAffine
qm_build_patch_weights (QmBuilder *builder,
                        const QmBeginning *begin,
                        int64_t out,
                        int64_t channels,
                        int64_t side,
                        bool bias,
                        const char *prefix)
{
  QmAffine affine = { .bias = QM_NO_VALUE };
  char name[160];

  snprintf (name, sizeof name, "%sweight", prefix);
  affine.weight =
      qm_build_parameter (builder, QM_INITIAL_NORMAL, builder->options->type, 4,
                          (int64_t[]){ out, channels, side, side }, name);
  if (begin != NULL)
    qm_build_begin (builder, begin->initial, begin->amount);
  affine.weight = qm_graph_reshape (builder->graph, affine.weight, 2,
                                    (int64_t[]){ out, channels * side * side });
  if (bias)
    affine.bias =
        qm_build_weight (builder, QM_INITIAL_ZERO, out, 0, prefix, "bias");
  return affine;
}

void
qm_build_alias (QmBuilder *builder,
                size_t n,
                const char *prefix,
                const char *name)
{
  QmGraph *graph = builder->graph;

  for (size_t i = 0; i < n && graph->status == QM_OK && !builder->again; i++)
    {
      QmParameter *parameter = &graph->parameters[graph->n_parameters - n + i];
      const char *alias = qm_pool_format (&graph->strings, "%s%s%s", prefix,
                                          name, strrchr (parameter->name, '.'));

      if (alias == NULL)
        qm_graph_fail (graph, QM_STATUS_NO_MEMORY, "the host is out of memory");
      else if (strcmp (alias, parameter->name) != 0)
        parameter->alias = alias;
    }
}

QmAffine
qm_build_norm_weights (QmBuilder *builder,
                       int64_t size,
                       bool bias,
                       const char *prefix,
                       const char *name)
{
  QmAffine weights = { .bias = QM_NO_VALUE };
  char text[192];

  snprintf (text, sizeof text, "%s%s.weight", prefix, name);
  weights.weight =
      qm_build_parameter (builder, QM_INITIAL_ONE, QM_TYPE_F32, 1, &size, text);
  snprintf (text, sizeof text, "%s%s.bias", prefix, name);
  if (bias)
    weights.bias = qm_build_parameter (builder, QM_INITIAL_ZERO, QM_TYPE_F32, 1,
                                       &size, text);
  return weights;
}

static void
append_linear (QmBuilder *builder,
               QmValueId x,
               QmValueId weight,
               QmValueId bias,
               QmValueId y,
               int64_t padded)
{
  QmNode *node = qm_graph_append (builder->graph, QM_OP_LINEAR);

  node->inputs[0] = x;
  node->inputs[1] = weight;
  node->inputs[2] = bias;
  node->outputs[0] = y;
  node->attributes.padded = padded;
}

QmValueId
qm_build_columns (QmBuilder *builder, QmValueId x, int64_t first, int64_t n)
{
  QmTensor t;

  if (builder->graph->status != QM_OK)
    return QM_NO_VALUE;
  t = *qm_graph_tensor (builder->graph, x);
  return qm_graph_view (builder->graph, x, 2, (int64_t[]){ t.shape[0], n },
                        (int64_t[]){ t.stride[0], 1 }, first);
}

QmValueId
qm_build_linear (QmBuilder *builder, QmValueId x, const QmAffine *weights)
{
  QmValueId y;

  if (builder->graph->status != QM_OK)
    return QM_NO_VALUE;
  y = qm_graph_value (
      builder->graph, QM_ROLE_TEMPORARY, builder->options->type, 2,
      (int64_t[]){ tensor_of (builder, x)->shape[0],
                   tensor_of (builder, weights->weight)->shape[0] },
      "product with %s", qm_graph_get (builder->graph, weights->weight)->name);
  append_linear (builder, x, weights->weight, weights->bias, y, 0);
  return y;
}

static const QmFunction functions[] = {
  [QM_ACTIVATION_GELU] = QM_FUNCTION_GELU,
  [QM_ACTIVATION_GELU_TANH] = QM_FUNCTION_GELU_TANH,
  [QM_ACTIVATION_GELU_NEW] = QM_FUNCTION_GELU_TANH,
  [QM_ACTIVATION_RELU] = QM_FUNCTION_RELU,
  [QM_ACTIVATION_SILU] = QM_FUNCTION_SILU,
  [QM_ACTIVATION_RELU2] = QM_FUNCTION_RELU2,
  [QM_ACTIVATION_QUICK_GELU] = QM_FUNCTION_QUICK_GELU,
};

QmFunction
qm_build_function (QmActivation activation)
{
  return functions[activation];
}

QmValueId
qm_build_activation (QmBuilder *builder, QmValueId x, QmActivation activation)
{
  QmValueId y = qm_graph_like (builder->graph, x, QM_ROLE_TEMPORARY,
                               builder->options->type, "activation");
  QmNode *node = qm_graph_append (builder->graph, QM_OP_ACTIVATION);

  node->attributes.activation = functions[activation];
  node->inputs[0] = x;
  node->outputs[0] = y;
  return y;
}

QmValueId
qm_build_gate (QmBuilder *builder, QmValueId x, QmActivation activation)
{
  QmGraph *graph = builder->graph;
  int64_t shape[2], stride[2];
  QmValueId y, parts[2];
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  stride[0] = tensor_of (builder, x)->stride[0];
  stride[1] = 1;
  shape[0] = tensor_of (builder, x)->shape[0];
  shape[1] = tensor_of (builder, x)->shape[1] / 2;
  y = qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->type, 2,
                      shape, "gated");
  for (int i = 0; i < 2; i++)
    parts[i] = qm_graph_view (graph, x, 2, shape, stride, i * shape[1]);
  node = qm_graph_append (graph, QM_OP_GATE);
  node->attributes.activation = functions[activation];
  node->inputs[0] = parts[0];
  node->inputs[1] = parts[1];
  node->outputs[0] = y;
  return y;
}

QmValueId
qm_build_norm (QmBuilder *builder,
               QmValueId x,
               const QmAffine *weights,
               double epsilon)
{
  return qm_build_norm_as (builder, x, weights, epsilon,
                           builder->options->type);
}

QmValueId
qm_build_norm_as (QmBuilder *builder,
                  QmValueId x,
                  const QmAffine *weights,
                  double epsilon,
                  QmType type)
{
  QmGraph *graph = builder->graph;
  QmValueId y = qm_graph_like (graph, x, QM_ROLE_TEMPORARY, type, "norm");
  QmValueId mean = QM_NO_VALUE, rstd;
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  if (!weights->rms)
    mean = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                           tensor_of (builder, x)->shape, "mean");
  rstd = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                         tensor_of (builder, x)->shape, "rstd");
  node = qm_graph_append (graph, QM_OP_LAYER_NORM);
  node->attributes.epsilon = epsilon;
  node->attributes.rms = weights->rms;
  node->inputs[0] = x;
  node->inputs[1] = weights->weight;
  node->inputs[2] = weights->bias;
  node->outputs[0] = y;
  node->outputs[1] = mean;
  node->outputs[2] = rstd;
  return y;
}

QmValueId
qm_build_cast (QmBuilder *builder, QmValueId x, QmType type)
{
  QmValueId y;
  QmNode *node;

  if (builder->graph->status != QM_OK || tensor_of (builder, x)->type == type)
    return x;
  y = qm_graph_like (builder->graph, x, QM_ROLE_TEMPORARY, type, "cast");
  node = qm_graph_append (builder->graph, QM_OP_COPY);
  node->inputs[0] = x;
  node->outputs[0] = y;
  return y;
}

static QmValueId
build_dropout (QmBuilder *builder, QmValueId x, double dropout, bool tiled)
{
  QmGraph *graph = builder->graph;
  QmValueId y;
  QmNode *node;

  if (!builder->options->dropout || !qm_dropout_is_on (dropout)
      || graph->status != QM_OK)
    return x;
  y = qm_graph_like (graph, x, QM_ROLE_TEMPORARY, tensor_of (builder, x)->type,
                     "dropout");
  node = qm_graph_append (graph, QM_OP_DROPOUT);
  node->attributes.dropout = dropout;
  node->attributes.tiled = tiled;
  node->attributes.site = qm_graph_site (graph);
  node->inputs[0] = x;
  node->inputs[1] = graph->rng;
  node->outputs[0] = y;
  return y;
}

QmValueId
qm_build_dropout (QmBuilder *builder, QmValueId x, double dropout)
{
  return build_dropout (builder, x, dropout, false);
}

QmValueId
qm_build_dropout_of_weights (QmBuilder *builder, QmValueId x, double dropout)
{
  return build_dropout (builder, x, dropout, true);
}

QmValueId
qm_build_add (QmBuilder *builder, QmValueId a, QmValueId b, QmType type)
{
  QmValueId y =
      qm_graph_like (builder->graph, a, QM_ROLE_TEMPORARY, type, "sum");
  QmNode *node = qm_graph_append (builder->graph, QM_OP_ADD);

  node->inputs[0] = a;
  node->inputs[1] = b;
  node->outputs[0] = y;
  return y;
}

QmValueId
qm_build_embedding (QmBuilder *builder,
                    QmValueId ids,
                    QmValueId weights,
                    int64_t padding,
                    QmType type)
{
  QmValueId y;
  QmNode *node;

  if (builder->graph->status != QM_OK)
    return QM_NO_VALUE;
  y = qm_graph_value (builder->graph, QM_ROLE_TEMPORARY, type, 2,
                      (int64_t[]){
                          qm_tensor_elements (tensor_of (builder, ids)),
                          tensor_of (builder, weights)->shape[1] },
                      "embedding");
  node = qm_graph_append (builder->graph, QM_OP_EMBEDDING);
  node->attributes.padding = padding;
  node->inputs[0] = ids;
  node->inputs[1] = weights;
  node->outputs[0] = y;
  return y;
}

QmValueId
qm_build_patches (QmBuilder *builder,
                  QmValueId images,
                  QmValueId kept,
                  int64_t patch)
{
  QmGraph *graph = builder->graph;
  const int64_t *shape;
  QmValueId patches;
  QmNode *node;
  int64_t each;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  shape = tensor_of (builder, images)->shape;
  each = kept != QM_NO_VALUE ? tensor_of (builder, kept)->shape[1]
                             : (shape[2] / patch) * (shape[3] / patch);
  patches =
      qm_graph_value (graph, QM_ROLE_TEMPORARY, builder->options->type, 2,
                      (int64_t[]){ shape[0] * each, shape[1] * patch * patch },
                      "patches");
  node = qm_graph_append (graph, QM_OP_PATCHIFY);
  node->attributes.patch = patch;
  node->inputs[0] = images;
  node->inputs[1] = kept;
  node->outputs[0] = patches;
  return patches;
}

QmValueId
qm_build_convolution (QmBuilder *builder,
                      QmValueId x,
                      QmValueId weight,
                      QmValueId bias,
                      const QmConvolutionShape *shape)
{
  QmGraph *graph = builder->graph;
  QmValueId y = qm_graph_like (graph, x, QM_ROLE_TEMPORARY,
                               builder->options->type, "convolution");
  QmNode *node;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  weight = qm_graph_reshape (graph, weight, 3,
                             (int64_t[]){ tensor_of (builder, x)->shape[1],
                                          shape->down, shape->across });
  node = qm_graph_append (graph, QM_OP_DEPTHWISE_CONV);
  node->attributes.height = shape->height;
  node->attributes.width = shape->width;
  node->attributes.causal = shape->causal ? QM_CAUSAL_RESULT : QM_CAUSAL_NONE;
  node->inputs[0] = x;
  node->inputs[1] = weight;
  node->inputs[2] = bias;
  node->outputs[0] = y;
  return y;
}

/* Rows of a parameter of several layers, from `first` on. */
static QmValueId
stack_rows (QmBuilder *builder,
            QmValueId stack,
            int64_t first,
            int64_t columns,
            const QmStackPart *part,
            const char *suffix)
{
  char text[192], other[192];
  int64_t width = columns > 0 ? columns : 1;
  QmValueId value;

  snprintf (text, sizeof text, "%s.%s", part->name, suffix);
  if (builder->again)
    return as_read (builder, declared (builder, text));
  value = qm_graph_view (builder->graph, stack, columns > 0 ? 2 : 1,
                         (int64_t[]){ part->rows, columns },
                         (int64_t[]){ width, 1 }, first * width);
  snprintf (other, sizeof other, "%s.%s",
            part->alias != NULL ? part->alias : "", suffix);
  qm_graph_parameter (builder->graph, value,
                      columns > 0 ? QM_INITIAL_NORMAL : QM_INITIAL_ZERO, text,
                      part->alias != NULL ? other : NULL);
  return as_read (builder, value);
}

QmValueId
qm_build_stack (QmBuilder *builder,
                QmValueId x,
                bool bias,
                const QmStackPart *parts,
                int n,
                const char *what)
{
  QmGraph *graph = builder->graph;
  QmType type = builder->options->type;
  QmValueId weight = QM_NO_VALUE, offsets = QM_NO_VALUE, packed;
  int64_t in, tokens, rows = 0, first = 0;

  if (graph->status != QM_OK)
    return QM_NO_VALUE;
  tokens = tensor_of (builder, x)->shape[0];
  in = tensor_of (builder, x)->shape[1];
  for (int i = 0; i < n; i++)
    rows += parts[i].rows;
  if (!builder->again)
    weight = qm_graph_value (graph, QM_ROLE_PARAMETER, type, 2,
                             (int64_t[]){ rows, in }, "%s", what);
  packed = qm_graph_value (graph, QM_ROLE_TEMPORARY, type, 2,
                           (int64_t[]){ tokens, rows }, "%s", what);
  if (bias && !builder->again)
    offsets = qm_graph_value (graph, QM_ROLE_PARAMETER, type, 1, &rows,
                              "%s bias", what);
  for (int i = 0; i < n; i++)
    {
      QmValueId w =
          stack_rows (builder, weight, first, in, &parts[i], "weight");
      QmValueId b =
          bias ? stack_rows (builder, offsets, first, 0, &parts[i], "bias")
               : QM_NO_VALUE;

      append_linear (builder, x, w, b,
                     qm_graph_view (graph, packed, 2,
                                    (int64_t[]){ tokens, parts[i].rows },
                                    (int64_t[]){ rows, 1 }, first),
                     0);
      first += parts[i].rows;
    }
  return packed;
}

QmValueId
qm_build_vocab_weight (QmBuilder *builder,
                       int64_t vocab,
                       int64_t hidden,
                       const char *name,
                       const char *alias)
{
  QmValueId value =
      qm_graph_value (builder->graph, QM_ROLE_PARAMETER, builder->options->type,
                      2, (int64_t[]){ padded_size (builder, vocab), hidden },
                      "%s", name);

  if (value != QM_NO_VALUE)
    builder->graph->values[value].tensor.shape[0] = vocab;
  qm_graph_parameter (builder->graph, value, QM_INITIAL_NORMAL, name, alias);
  return value;
}

QmValueId
qm_build_vocab_bias (QmBuilder *builder,
                     int64_t vocab,
                     const char *name,
                     const char *alias)
{
  QmValueId value =
      qm_graph_value (builder->graph, QM_ROLE_PARAMETER, builder->options->type,
                      1, (int64_t[]){ padded_size (builder, vocab) }, "%s",
                      name);

  if (value != QM_NO_VALUE)
    builder->graph->values[value].tensor.shape[0] = vocab;
  qm_graph_parameter (builder->graph, value, QM_INITIAL_ZERO, name, alias);
  return value;
}

/* Logits [rows, classes] with room for padded columns. */
static QmValueId
build_logits (QmBuilder *builder,
              QmValueId x,
              QmValueId weight,
              QmValueId bias,
              int64_t padded)
{
  QmGraph *graph = builder->graph;
  const QmTensor *w = tensor_of (builder, weight);
  int64_t classes = w->shape[0];
  QmValueId logits =
      qm_graph_padded_columns (graph, QM_ROLE_TEMPORARY, builder->options->type,
                               tensor_of (builder, x)->shape[0], classes,
                               padded, "logits");

  append_linear (builder, x, weight, bias, logits,
                 padded > classes ? padded : 0);
  return logits;
}

void
qm_build_loss_sum (QmBuilder *builder, QmValueId losses, int64_t rows)
{
  QmGraph *graph = builder->graph;
  QmNode *node;

  losses = qm_graph_reshape (graph, losses, 2, (int64_t[]){ rows, 1 });
  node = qm_graph_append (graph, QM_OP_COLUMN_SUM);
  node->attributes.scale = 1;
  node->inputs[0] = losses;
  node->outputs[0] = graph->loss;
}

static void
append_cross_entropy (QmBuilder *builder,
                      QmValueId logits,
                      int64_t padded,
                      bool shift)
{
  QmGraph *graph = builder->graph;
  const QmTensor *shape = tensor_of (builder, logits);
  int64_t rows = shape->shape[0], classes = shape->shape[1];
  QmValueId weight = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                                     (int64_t[]){ 2 }, "loss weight");
  QmValueId gradient =
      qm_graph_padded_columns (graph, QM_ROLE_TEMPORARY, builder->options->type,
                               rows, classes, padded, "gradient of the logits");
  QmValueId losses = qm_graph_value (graph, QM_ROLE_TEMPORARY, QM_TYPE_F32, 1,
                                     &rows, "losses");
  QmNode *node = qm_graph_append (graph, QM_OP_LABEL_WEIGHT);

  node->attributes.scale = 1 / (double) builder->options->accumulation;
  node->attributes.shift = shift;
  node->inputs[0] = graph->labels;
  node->inputs[1] = graph->state;
  node->outputs[0] = weight;
  node = qm_graph_append (graph, QM_OP_CROSS_ENTROPY);
  node->attributes.shift = shift;
  node->attributes.cap = builder->logit_cap;
  node->attributes.z_loss = builder->options->z_loss;
  node->attributes.padded = padded > classes ? padded : 0;
  node->inputs[0] = logits;
  node->inputs[1] = graph->labels;
  node->inputs[2] = weight;
  node->outputs[0] = gradient;
  node->outputs[1] = losses;
  qm_build_loss_sum (builder, losses, rows);
}

void
qm_build_loss (QmBuilder *builder,
               QmValueId x,
               QmValueId weight,
               QmValueId bias,
               bool shift)
{
  QmGraph *graph = builder->graph;
  int64_t padded;

  if (graph->status != QM_OK)
    return;
  padded = qm_graph_get (graph, weight)->room
           / tensor_of (builder, weight)->stride[0];
  graph->logits = build_logits (builder, x, weight, bias, padded);
  if (graph->status == QM_OK)
    append_cross_entropy (builder, graph->logits, padded, shift);
}

static void
build_state (QmBuilder *builder)
{
  QmGraph *graph = builder->graph;

  graph->rng = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_I32, 1,
                               (int64_t[]){ 3 }, "random numbers");
  graph->state = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1,
                                 (int64_t[]){ QM_STATE_SIZE }, "state");
  graph->loss = qm_graph_value (graph, QM_ROLE_STATE, QM_TYPE_F32, 1,
                                (int64_t[]){ 1 }, "loss");
}

typedef void (*Build) (QmBuilder *builder, const QmModelConfig *config);

static const Build builders[QM_FAMILY_COUNT] = {
  [QM_FAMILY_GPT_NEOX] = qm_build_gpt_neox,
  [QM_FAMILY_BERT] = qm_build_bert,
  [QM_FAMILY_ROBERTA] = qm_build_bert,
  [QM_FAMILY_VIT] = qm_build_vit,
  [QM_FAMILY_CONVNEXT] = qm_build_convnext,
  [QM_FAMILY_MAMBA] = qm_build_mamba,
  [QM_FAMILY_MAMBA2] = qm_build_mamba2,
  [QM_FAMILY_LLAMA] = qm_build_llama,
  [QM_FAMILY_MISTRAL] = qm_build_llama,
  [QM_FAMILY_QWEN2] = qm_build_llama,
  [QM_FAMILY_QWEN3] = qm_build_llama,
  [QM_FAMILY_OLMO2] = qm_build_llama,
  [QM_FAMILY_OLMO3] = qm_build_llama,
  [QM_FAMILY_SMOLLM3] = qm_build_llama,
  [QM_FAMILY_GEMMA3_TEXT] = qm_build_llama,
  [QM_FAMILY_GPT2] = qm_build_gpt2,
  [QM_FAMILY_MODERNBERT] = qm_build_modernbert,
  [QM_FAMILY_ESM] = qm_build_esm,
  [QM_FAMILY_OLMOE] = qm_build_llama,
  [QM_FAMILY_QWEN3_MOE] = qm_build_llama,
  [QM_FAMILY_MIXTRAL] = qm_build_llama,
  [QM_FAMILY_DINOV2] = qm_build_dino,
  [QM_FAMILY_DINOV2_WITH_REGISTERS] = qm_build_dino,
  [QM_FAMILY_DINOV3_VIT] = qm_build_dino,
  [QM_FAMILY_VIT_MAE] = qm_build_mae,
  [QM_FAMILY_DIT] = qm_build_dit,
  [QM_FAMILY_CLIP] = qm_build_clip,
  [QM_FAMILY_SIGLIP] = qm_build_clip,
  [QM_FAMILY_STARCODER2] = qm_build_starcoder2,
};

QmStatus
qm_build_model (const QmModelConfig *config,
                const QmRecipe *recipe,
                const QmBuildOptions *options,
                QmGraph **graph,
                QmError *error)
{
  QmBuilder builder = { .options = options,
                        .batch = options->micro_batch,
                        .length = recipe->sequence_length,
                        .image_size = recipe->image_size,
                        .hidden = QM_NO_VALUE,
                        .places = QM_NO_VALUE,
                        .mask_token = QM_NO_VALUE,
                        .load = QM_NO_VALUE };
  QmStatus status;

  builder.graph = *graph = qm_graph_new ();
  if (*graph == NULL)
    return qm_error_no_memory (error);
  build_state (&builder);
  builders[config->family](&builder, config);
  (*graph)->block = QM_BLOCK_OF_WRITER;
  status = qm_graph_status (*graph, error);
  if (status != QM_OK)
    {
      qm_graph_free (*graph);
      *graph = NULL;
    }
  return status;
}
