/* SPDX-License-Identifier: Apache-2.0 */

/* How fast the operators of the GPU that are bound by memory move the bytes
 * that they have to move, for the shapes of real models.
 *
 *   bench-cuda-rows [--repeat N] [--model TEXT] [--only TEXT]
 *
 * Prints the median time of a call, GB/s over inputs read once and outputs
 * written once (twice where they are added to), and which share of the time
 * nobody can do without: for those bytes by the fastest of a few plain copies,
 * or for the arithmetic of a convolution in fp32 if that is longer. */

#include "tests/kernels/cuda-bench.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bench
{
  CudaBench gpu;
  const char *model, *only; /* parts of names, or NULL */
  double copy;              /* bytes a second */
  double arithmetic;        /* FLOP a second */
} Bench;

typedef struct Model
{
  const char *name;
  QmType type;
  int64_t batch, length, width, heads, vocab, classes, parameters, rotary;
  double dropout;
} Model;

static const Model models[] = {
  { "pythia-160m 64", QM_TYPE_BF16, 64, 2049, 768, 12, 50304, 50304, 162322944,
    16, 0 },
  { "pythia-1b 32", QM_TYPE_BF16, 32, 2049, 2048, 8, 50304, 50304, 1011781632,
    64, 0 },
  /* With the parameters of one layer. */
  { "pythia-6.9b 2", QM_TYPE_F16, 2, 2049, 4096, 32, 50432, 50432, 201379840,
    32, 0 },
  { "vit-large 256", QM_TYPE_F32, 256, 197, 1024, 16, 0, 1000, 304326632, 0,
    0 },
  { "roberta-large 64", QM_TYPE_F16, 64, 512, 1024, 16, 50265, 50265, 355359744,
    0, 0.1 },
};

/* Heads of models with many words, for so many rows at once as a pass has: for
 * the loss alone. */
static const Model long_heads[] = {
  { "llama-3.2 head", QM_TYPE_BF16, 1, 4096, 0, 0, 128256, 128256, 0, 0, 0 },
  { "qwen3 head", QM_TYPE_BF16, 1, 4096, 0, 0, 151936, 151936, 0, 0, 0 },
  { "gemma-3 head", QM_TYPE_BF16, 1, 4096, 0, 0, 262144, 262144, 0, 0, 0 },
};

/* Random numbers; whole ones in [0, count) for i32. */
static QmTensor
tensor (Bench *bench,
        QmType type,
        int32_t rank,
        const int64_t *shape,
        int64_t count)
{
  if (type == QM_TYPE_I32)
    return bench_indices (&bench->gpu, rank, shape, count);
  return bench_normal (&bench->gpu, type, rank, shape, 0, 1);
}

static QmTensor
matrix (Bench *bench, QmType type, int64_t rows, int64_t columns)
{
  return tensor (bench, type, 2, SHAPE (rows, columns), 0);
}

static QmTensor
line (Bench *bench, QmType type, int64_t n)
{
  return tensor (bench, type, 1, &n, 0);
}

static void
report (Bench *bench,
        const char *model,
        const char *name,
        QmOpCall *call,
        double bytes)
{
  double seconds, least;

  if (bench->only == NULL || strstr (name, bench->only) != NULL)
    {
      bench_workspace (&bench->gpu, call);
      bytes = bytes > 0 ? bytes : bench_bytes (call);
      seconds = bench_time (&bench->gpu, call);
      least =
          fmax (bytes / bench->copy, qm_op_flops (call) / bench->arithmetic);
      printf ("%-17s %-28s %9.1f us %8.2f GB %6.0f GB/s %5.1f %%\n", model,
              name, seconds * 1e6, bytes * 1e-9, bytes / seconds * 1e-9,
              100 * least / seconds);
      fflush (stdout);
    }
  bench_release (&bench->gpu);
}

static void
bench_norm (Bench *bench, const Model *model, bool branches)
{
  int64_t rows = model->batch * model->length, n = model->width;
  bool both = branches && model->rotary > 0;
  QmType residual = QM_TYPE_F32;
  QmOpCall call = { .op = QM_OP_LAYER_NORM };

  call.attributes.epsilon = 1e-5;
  call.attributes.dropout = model->dropout;
  call.inputs[0] = matrix (bench, residual, rows, n);
  call.inputs[1] = line (bench, model->type, n);
  call.inputs[2] = line (bench, model->type, n);
  call.outputs[0] = matrix (bench, model->type, rows, n);
  call.outputs[1] = line (bench, QM_TYPE_F32, rows);
  call.outputs[2] = line (bench, QM_TYPE_F32, rows);
  if (branches)
    {
      call.inputs[3] = matrix (bench, model->type, rows, n);
      call.outputs[3] = call.inputs[0];
      call.inputs[7] = bench->gpu.rng;
    }
  if (both)
    {
      call.inputs[4] = matrix (bench, model->type, rows, n);
      call.inputs[5] = line (bench, model->type, n);
      call.inputs[6] = line (bench, model->type, n);
      call.outputs[4] = matrix (bench, model->type, rows, n);
    }
  report (bench, model->name,
          both       ? "norm + 2 branches, 2 outputs"
          : branches ? "norm + branch"
                     : "norm",
          &call, 0);
}

static void
bench_norm_backward (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = model->width;
  QmOpCall call = { .op = QM_OP_LAYER_NORM_BACKWARD };

  call.attributes.dropout = model->dropout;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.inputs[1] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[2] = line (bench, model->type, n);
  call.inputs[3] = line (bench, QM_TYPE_F32, rows);
  call.inputs[4] = line (bench, QM_TYPE_F32, rows);
  call.inputs[5] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[8] = bench->gpu.rng;
  call.outputs[0] = call.inputs[5];
  call.outputs[1] = line (bench, QM_TYPE_F32, n);
  call.outputs[2] = line (bench, QM_TYPE_F32, n);
  if (model->rotary > 0)
    {
      call.inputs[6] = matrix (bench, model->type, rows, n);
      call.inputs[7] = line (bench, model->type, n);
      call.outputs[3] = line (bench, QM_TYPE_F32, n);
      call.outputs[4] = line (bench, QM_TYPE_F32, n);
    }
  else if (model->dropout > 0)
    /* A norm behind its addition: written twice, and nothing beside it. */
    {
      call.inputs[1] = matrix (bench, model->type, rows, n);
      call.inputs[6] = call.inputs[5];
      call.inputs[5] = (QmTensor){ 0 };
    }
  call.outputs[5] = matrix (bench, model->type, rows, n);
  report (bench, model->name, "norm backward", &call, 0);
}

static void
bench_activation (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = 4 * model->width;
  QmOpCall call = { .op = QM_OP_ACTIVATION };

  call.attributes.activation = QM_FUNCTION_GELU;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.outputs[0] = matrix (bench, model->type, rows, n);
  report (bench, model->name, "gelu", &call, 0);
  call.op = QM_OP_ACTIVATION_BACKWARD;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.inputs[1] = matrix (bench, model->type, rows, n);
  call.outputs[0] = call.inputs[0];
  report (bench, model->name, "gelu backward", &call, 0);
}

static void
bench_sums (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = 4 * model->width;
  QmOpCall call = { .op = QM_OP_COLUMN_SUM };

  call.attributes.scale = 1;
  call.inputs[0] = matrix (bench, model->type, rows, n);
  call.outputs[0] = line (bench, QM_TYPE_F32, n);
  report (bench, model->name, "column sums", &call, 0);
}

static void
bench_dropout (Bench *bench, const Model *model)
{
  int64_t heads = model->batch * model->heads;
  int64_t s = model->length;
  QmTensor x = tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  QmOpCall call = { .op = QM_OP_DROPOUT };

  call.attributes.dropout = 0.1;
  call.inputs[0] = call.outputs[0] = x;
  call.inputs[1] = bench->gpu.rng;
  report (bench, model->name, "dropout", &call, 0);
  x = tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  call.attributes.tiled = true;
  call.inputs[0] = call.outputs[0] = x;
  report (bench, model->name, "dropout, tiled", &call, 0);
}

static void
bench_softmax (Bench *bench, const Model *model)
{
  int64_t heads = model->length > 1000 ? 32 : 512, s = model->length;
  QmOpCall call = { .op = QM_OP_SOFTMAX };

  call.inputs[0] = call.outputs[0] =
      tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  report (bench, model->name, "softmax", &call, 0);
  call.op = QM_OP_SOFTMAX_BACKWARD;
  call.inputs[0] = call.outputs[0] =
      tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  call.inputs[1] = tensor (bench, model->type, 4, SHAPE (1, heads, s, s), 0);
  report (bench, model->name, "softmax backward", &call, 0);
}

static void
bench_rotary (Bench *bench, const Model *model)
{
  int64_t width = model->width / model->heads, row = 3 * model->width;
  int64_t rows = model->batch * model->length;
  double size = (double) qm_type_size (model->type);
  QmOpCall call = { .op = QM_OP_ROTARY };

  for (int i = 0; i < 2; i++)
    {
      QmTensor x =
          tensor (bench, model->type, 5,
                  SHAPE (model->batch, model->length, 3, model->heads, width),
                  0);

      x.stride[1] = row;
      x.stride[2] = width;
      x.stride[3] = 3 * width;
      if (i == 0)
        call.inputs[0] = x;
      else
        call.outputs[0] = x;
    }
  call.attributes.rotary = model->rotary;
  call.attributes.count = 2;
  call.inputs[1] = matrix (bench, QM_TYPE_F32, model->length, model->rotary);
  report (bench, model->name, "rotary", &call, 0);
  call.inputs[0] =
      tensor (bench, model->type, 5,
              SHAPE (model->batch, model->length, 3, model->heads, width), 0);
  call.inputs[0].stride[1] = row;
  call.inputs[0].stride[2] = width;
  call.inputs[0].stride[3] = 3 * width;
  call.outputs[0] = call.inputs[0];
  call.inputs[1] = matrix (bench, QM_TYPE_F32, model->length, model->rotary);
  report (bench, model->name, "rotary, in place", &call,
          4 * (double) (rows * model->heads * model->rotary) * size);
}

static void
bench_embedding (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = model->width;
  double row = (double) (rows * n), size = (double) qm_type_size (model->type);
  /* Rows of the table that some token has. */
  double touched = (double) model->vocab
                   * (1 - exp (-(double) rows / (double) model->vocab))
                   * (double) n;
  int64_t counts[2] = { model->vocab, 1 };
  QmOpCall call = { .op = QM_OP_EMBEDDING };

  call.inputs[0] = tensor (bench, QM_TYPE_I32, 2,
                           SHAPE (model->batch, model->length), model->vocab);
  call.inputs[1] = matrix (bench, model->type, model->vocab, n);
  call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  report (bench, model->name, "embedding", &call, touched * size + row * 4);
  call.op = QM_OP_EMBEDDING_BACKWARD;
  call.attributes.padding = -1;
  for (int i = 0; i < 2; i++)
    {
      call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
      call.inputs[1] = tensor (bench, QM_TYPE_I32, 2,
                               SHAPE (model->batch, model->length), counts[i]);
      call.outputs[0] = matrix (bench, QM_TYPE_F32, counts[i], n);
      report (bench, model->name,
              i == 0 ? "embedding backward" : "embedding backward, 1 row",
              &call, row * 4 + (i == 0 ? touched * 8 : 0));
    }
}

static void
bench_images (Bench *bench, const Model *model)
{
  int64_t rows = model->batch * model->length, n = model->width;
  int64_t patches = model->batch * (model->length - 1);
  QmOpCall call = { .op = QM_OP_PATCHIFY };

  call.attributes.patch = 16;
  call.inputs[0] =
      tensor (bench, QM_TYPE_F32, 4, SHAPE (model->batch, 3, 224, 224), 0);
  call.outputs[0] = matrix (bench, model->type, patches, 768);
  report (bench, model->name, "patchify", &call, 0);
  call = (QmOpCall){ .op = QM_OP_CLASS_TOKEN };
  call.inputs[0] = matrix (bench, model->type, patches, n);
  call.inputs[1] = line (bench, model->type, n);
  call.inputs[2] = matrix (bench, model->type, model->length, n);
  call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  report (bench, model->name, "class token", &call, 0);
  call = (QmOpCall){ .op = QM_OP_CLASS_TOKEN_BACKWARD };
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.outputs[0] = matrix (bench, model->type, patches, n);
  call.outputs[1] = line (bench, QM_TYPE_F32, n);
  call.outputs[2] = matrix (bench, QM_TYPE_F32, model->length, n);
  report (bench, model->name, "class token backward", &call, 0);
}

static void
bench_loss (Bench *bench, const Model *model)
{
  bool image = model->vocab == 0;
  int64_t length = image ? 1 : model->length, rows = model->batch * length;
  int64_t padded = (model->classes + 63) / 64 * 64;
  QmOpCall call = { .op = QM_OP_CROSS_ENTROPY };

  call.attributes.shift = !image;
  call.attributes.padded = padded;
  call.inputs[0] = matrix (bench, model->type, rows, padded);
  call.inputs[0].shape[1] = model->classes;
  call.outputs[0] = call.inputs[0];
  call.inputs[1] = tensor (bench, QM_TYPE_I32, 2, SHAPE (model->batch, length),
                           model->classes);
  call.inputs[2] = line (bench, QM_TYPE_F32, 2);
  call.outputs[1] = line (bench, QM_TYPE_F32, rows);
  report (bench, model->name, "cross entropy", &call, 0);
  call = (QmOpCall){ .op = QM_OP_LABEL_WEIGHT };
  call.attributes.scale = 1;
  call.inputs[0] = tensor (bench, QM_TYPE_I32, 2, SHAPE (model->batch, length),
                           model->classes);
  call.inputs[1] = line (bench, QM_TYPE_F32, QM_STATE_SIZE);
  call.outputs[0] = line (bench, QM_TYPE_F32, 2);
  report (bench, model->name, "label weight", &call, 0);
}

static void
bench_update (Bench *bench, const Model *model)
{
  float state[QM_STATE_SIZE] = { 1e-4f, 5, 1, 0, 0, 1, 1, 0 };
  QmOpCall call = { .op = QM_OP_SUM_SQUARES };

  call.inputs[0] = line (bench, QM_TYPE_F32, model->parameters);
  call.outputs[0] = line (bench, QM_TYPE_F32, 1);
  report (bench, model->name, "sum of squares", &call, 0);
  call = (QmOpCall){ .op = QM_OP_ADAM };
  call.attributes.beta1 = 0.9;
  call.attributes.beta2 = 0.95;
  call.attributes.epsilon = 1e-8;
  call.attributes.decoupled = true;
  call.inputs[0] = line (bench, QM_TYPE_F32, QM_STATE_SIZE);
  bench_write (&bench->gpu, call.inputs[0].data, state, sizeof state);
  for (int i = 0; i < 4; i++)
    call.outputs[i] = line (bench, QM_TYPE_F32, model->parameters);
  if (model->type != QM_TYPE_F32)
    call.outputs[4] = line (bench, model->type, model->parameters);
  report (bench, model->name, "adam", &call, 0);
}

static void
bench_model (Bench *bench, const Model *model)
{
  bench_norm (bench, model, false);
  bench_norm (bench, model, true);
  bench_norm_backward (bench, model);
  bench_activation (bench, model);
  bench_sums (bench, model);
  bench_softmax (bench, model);
  bench_loss (bench, model);
  bench_update (bench, model);
  if (model->rotary > 0)
    bench_rotary (bench, model);
  if (model->dropout > 0)
    bench_dropout (bench, model);
  if (model->vocab > 0)
    bench_embedding (bench, model);
  else
    bench_images (bench, model);
}

/* One stage of ConvNeXt-XL. */
static void
bench_stage (Bench *bench, int64_t side, int64_t n)
{
  int64_t rows = 128 * side * side, *window = SHAPE (n, 7, 7);
  QmAttributes image = { .height = side, .width = side };
  QmOpCall call = { .op = QM_OP_DEPTHWISE_CONV, .attributes = image };
  char model[32];

  snprintf (model, sizeof model, "convnext %lldx%lld", (long long) side,
            (long long) n);
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[1] = tensor (bench, QM_TYPE_F32, 3, window, 0);
  call.inputs[2] = line (bench, QM_TYPE_F32, n);
  call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  report (bench, model, "convolution", &call, 0);
  for (int i = 0; i < 2; i++)
    {
      call = (QmOpCall){ .op = QM_OP_DEPTHWISE_CONV_BACKWARD,
                         .attributes = image };
      call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
      call.inputs[1] = matrix (bench, QM_TYPE_F32, rows, n);
      call.inputs[2] = tensor (bench, QM_TYPE_F32, 3, window, 0);
      if (i == 0)
        call.inputs[4] = matrix (bench, QM_TYPE_F32, rows, n);
      call.outputs[0] =
          i == 0 ? call.inputs[4] : matrix (bench, QM_TYPE_F32, rows, n);
      call.outputs[1] = tensor (bench, QM_TYPE_F32, 3, window, 0);
      call.outputs[2] = line (bench, QM_TYPE_F32, n);
      report (bench, model,
              i == 0 ? "convolution backward, added" : "convolution backward",
              &call, 0);
    }
  call = (QmOpCall){ .op = QM_OP_LAYER_SCALE, .attributes = image };
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[1] = line (bench, QM_TYPE_F32, n);
  call.inputs[2] = call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  report (bench, model, "layer scale", &call, 0);
  call = (QmOpCall){ .op = QM_OP_LAYER_SCALE_BACKWARD, .attributes = image };
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[1] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[2] = line (bench, QM_TYPE_F32, n);
  call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.outputs[1] = line (bench, QM_TYPE_F32, n);
  report (bench, model, "layer scale backward", &call, 0);
}

/* What comes between two stages. */
static void
bench_downsample (Bench *bench, int64_t side, int64_t n)
{
  QmTensor image, rows;
  QmOpCall call = { .op = QM_OP_PATCHIFY };
  char model[32];

  snprintf (model, sizeof model, "convnext %lldx%lld", (long long) side,
            (long long) n);
  for (int i = 0; i < 2; i++)
    {
      image = tensor (bench, QM_TYPE_F32, 4, SHAPE (128, side, side, n), 0);
      image.shape[1] = n;
      image.shape[3] = side;
      image.stride[1] = 1;
      image.stride[3] = n;
      image.stride[2] = side * n;
      rows = matrix (bench, QM_TYPE_F32, 128 * (side / 2) * (side / 2), 4 * n);
      call.op = i == 0 ? QM_OP_PATCHIFY : QM_OP_UNPATCHIFY;
      call.attributes.patch = 2;
      call.inputs[0] = i == 0 ? image : rows;
      call.outputs[0] = i == 0 ? rows : image;
      report (bench, model, i == 0 ? "patchify" : "unpatchify", &call, 0);
    }
}

static void
bench_convnext (Bench *bench)
{
  for (int64_t stage = 0; stage < 4; stage++)
    {
      bench_stage (bench, 56 >> stage, 256 << stage);
      if (stage < 3)
        bench_downsample (bench, 56 >> stage, 256 << stage);
    }
}

static const char dino[] = "dinov3-large";

/* A layer scale and the norm behind it: one operator, or two. */
static void
bench_scaled_norm (Bench *bench,
                   const char *model,
                   QmAttributes attributes,
                   bool fused)
{
  const int64_t n = 1024, rows = 128 * attributes.width;
  const QmType type = QM_TYPE_BF16;
  QmOpCall call = { .op = QM_OP_LAYER_SCALE, .attributes = attributes };

  if (!fused)
    {
      call.inputs[0] = matrix (bench, type, rows, n);
      call.inputs[1] = line (bench, QM_TYPE_F32, n);
      call.inputs[2] = matrix (bench, QM_TYPE_F32, rows, n);
      call.inputs[3] = bench->gpu.rng;
      call.outputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
      report (bench, model, "layer scale", &call, 0);
    }
  call = (QmOpCall){ .op = QM_OP_LAYER_NORM, .attributes = attributes };
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[1] = line (bench, type, n);
  call.inputs[2] = line (bench, type, n);
  call.outputs[0] = matrix (bench, type, rows, n);
  call.outputs[1] = line (bench, QM_TYPE_F32, rows);
  call.outputs[2] = line (bench, QM_TYPE_F32, rows);
  if (fused)
    {
      call.inputs[3] = matrix (bench, type, rows, n);
      call.inputs[7] = bench->gpu.rng;
      call.inputs[8] = line (bench, QM_TYPE_F32, n);
      call.outputs[3] = matrix (bench, QM_TYPE_F32, rows, n);
    }
  report (bench, model, fused ? "norm + scaled branch" : "norm", &call, 0);
}

static void
bench_scaled_norm_backward (Bench *bench,
                            const char *model,
                            QmAttributes attributes,
                            bool fused)
{
  const int64_t n = 1024, rows = 128 * attributes.width;
  const QmType type = QM_TYPE_BF16;
  QmOpCall call = { .op = QM_OP_LAYER_NORM_BACKWARD, .attributes = attributes };

  call.inputs[0] = matrix (bench, type, rows, n);
  call.inputs[1] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[2] = line (bench, type, n);
  call.inputs[3] = line (bench, QM_TYPE_F32, rows);
  call.inputs[4] = line (bench, QM_TYPE_F32, rows);
  call.inputs[5] = matrix (bench, QM_TYPE_F32, rows, n);
  call.outputs[0] = call.inputs[5];
  call.outputs[1] = line (bench, QM_TYPE_F32, n);
  call.outputs[2] = line (bench, QM_TYPE_F32, n);
  if (fused)
    {
      call.inputs[8] = bench->gpu.rng;
      call.inputs[9] = matrix (bench, type, rows, n);
      call.inputs[10] = line (bench, QM_TYPE_F32, n);
      call.outputs[5] = call.inputs[9];
      call.outputs[7] = line (bench, QM_TYPE_F32, n);
    }
  report (bench, model, fused ? "norm + scaled, backward" : "norm backward",
          &call, 0);
  if (fused)
    return;
  call =
      (QmOpCall){ .op = QM_OP_LAYER_SCALE_BACKWARD, .attributes = attributes };
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n);
  call.inputs[1] = call.outputs[0] = matrix (bench, type, rows, n);
  call.inputs[2] = line (bench, QM_TYPE_F32, n);
  call.inputs[3] = bench->gpu.rng;
  call.outputs[1] = line (bench, QM_TYPE_F32, n);
  report (bench, model, "layer scale backward", &call, 0);
}

/* What a layer of DINOv3 adds: of 128 images of 201 and of 257 tokens. */
static void
bench_dino (Bench *bench)
{
  for (int i = 0; i < 4; i++)
    {
      const QmAttributes attributes = {
        .epsilon = 1e-5, .dropout = 0.1, .height = 1, .width = i < 2 ? 201 : 257
      };
      char model[32];

      snprintf (model, sizeof model, "%s %lld", dino,
                (long long) (128 * attributes.width));
      bench_scaled_norm (bench, model, attributes, i % 2 == 1);
      bench_scaled_norm_backward (bench, model, attributes, i % 2 == 1);
    }
}

static const char mamba[] = "mamba-2.8b 8";

/* The convolution and the norm of a layer of Mamba-2.8B. */
static void
bench_mamba (Bench *bench)
{
  const int64_t length = 2048, rows = 8 * length, n = 5120;
  const QmType type = QM_TYPE_F16;
  QmAttributes sequence = { .height = 1,
                            .width = length,
                            .causal = QM_CAUSAL_RESULT,
                            .activation = QM_FUNCTION_SILU };
  QmOpCall call = { .op = QM_OP_DEPTHWISE_CONV, .attributes = sequence };

  call.inputs[0] = matrix (bench, type, rows, 2 * n);
  call.inputs[0].shape[1] = n;
  call.inputs[1] = tensor (bench, type, 3, SHAPE (n, 1, 4), 0);
  call.inputs[2] = line (bench, type, n);
  call.outputs[0] = matrix (bench, type, rows, n);
  report (bench, mamba, "convolution", &call, 0);
  call =
      (QmOpCall){ .op = QM_OP_DEPTHWISE_CONV_BACKWARD, .attributes = sequence };
  call.inputs[0] = matrix (bench, type, rows, n);
  call.inputs[1] = matrix (bench, type, rows, 2 * n);
  call.inputs[1].shape[1] = n;
  call.inputs[2] = tensor (bench, type, 3, SHAPE (n, 1, 4), 0);
  call.inputs[3] = line (bench, type, n);
  call.outputs[0] = matrix (bench, type, rows, 2 * n);
  call.outputs[0].shape[1] = n;
  call.outputs[1] = tensor (bench, QM_TYPE_F32, 3, SHAPE (n, 1, 4), 0);
  call.outputs[2] = line (bench, QM_TYPE_F32, n);
  report (bench, mamba, "convolution backward", &call, 0);
  call = (QmOpCall){ .op = QM_OP_LAYER_NORM };
  call.attributes.rms = true;
  call.attributes.epsilon = 1e-5;
  call.inputs[0] = matrix (bench, QM_TYPE_F32, rows, n / 2);
  call.inputs[1] = line (bench, type, n / 2);
  call.inputs[3] = matrix (bench, type, rows, n / 2);
  call.outputs[0] = matrix (bench, type, rows, n / 2);
  call.outputs[2] = line (bench, QM_TYPE_F32, rows);
  call.outputs[3] = call.inputs[0];
  report (bench, mamba, "rms norm + branch", &call, 0);
}

/* The residual stream of DiT-XL/2. */
static const char dit[] = "dit-xl-2 128";

#define DIT_SAMPLES 128
#define DIT_ROWS    (256 * DIT_SAMPLES)
#define DIT_WIDTH   1152

static QmTensor
dit_rows (Bench *bench, QmType type)
{
  return matrix (bench, type, DIT_ROWS, DIT_WIDTH);
}

static QmTensor
dit_samples (Bench *bench)
{
  return matrix (bench, QM_TYPE_BF16, DIT_SAMPLES, DIT_WIDTH);
}

/* The norm, with the branch that it takes in or without. */
static void
bench_dit_norm (Bench *bench, bool gated)
{
  QmOpCall call = { .op = QM_OP_ADAPTIVE_NORM, .attributes.epsilon = 1e-6 };

  call.inputs[0] = dit_rows (bench, QM_TYPE_F32);
  call.inputs[1] = dit_samples (bench);
  call.inputs[2] = dit_samples (bench);
  call.outputs[0] = dit_rows (bench, QM_TYPE_BF16);
  call.outputs[1] = line (bench, QM_TYPE_F32, DIT_ROWS);
  call.outputs[2] = line (bench, QM_TYPE_F32, DIT_ROWS);
  if (gated)
    {
      call.inputs[3] = dit_rows (bench, QM_TYPE_BF16);
      call.inputs[4] = dit_samples (bench);
      call.outputs[3] = dit_rows (bench, QM_TYPE_F32);
    }
  report (bench, dit, gated ? "adaptive norm + branch" : "adaptive norm", &call,
          0);
}

static void
bench_dit_norm_backward (Bench *bench, bool gated)
{
  QmOpCall call = { .op = QM_OP_ADAPTIVE_NORM_BACKWARD };

  call.inputs[0] = dit_rows (bench, QM_TYPE_BF16);
  call.inputs[1] = dit_rows (bench, QM_TYPE_F32);
  call.inputs[2] = dit_samples (bench);
  call.inputs[3] = line (bench, QM_TYPE_F32, DIT_ROWS);
  call.inputs[4] = line (bench, QM_TYPE_F32, DIT_ROWS);
  call.inputs[5] = dit_rows (bench, QM_TYPE_F32);
  call.outputs[0] = call.inputs[5];
  call.outputs[1] = dit_samples (bench);
  call.outputs[2] = dit_samples (bench);
  if (gated)
    {
      call.inputs[6] = dit_rows (bench, QM_TYPE_BF16);
      call.inputs[7] = dit_samples (bench);
      call.outputs[3] = call.inputs[6];
      call.outputs[4] = dit_samples (bench);
    }
  report (bench, dit,
          gated ? "adaptive backward + branch" : "adaptive backward", &call, 0);
}

/* What the branch took by itself. */
static void
bench_dit_gate (Bench *bench)
{
  QmOpCall call = { .op = QM_OP_GATED_ADD };

  call.inputs[0] = dit_rows (bench, QM_TYPE_BF16);
  call.inputs[1] = dit_samples (bench);
  call.inputs[2] = dit_rows (bench, QM_TYPE_F32);
  call.outputs[0] = dit_rows (bench, QM_TYPE_F32);
  report (bench, dit, "gated sum", &call, 0);
  call = (QmOpCall){ .op = QM_OP_GATED_ADD_BACKWARD };
  call.inputs[0] = dit_rows (bench, QM_TYPE_F32);
  call.inputs[1] = dit_rows (bench, QM_TYPE_BF16);
  call.inputs[2] = dit_samples (bench);
  call.outputs[0] = call.inputs[1];
  call.outputs[1] = dit_samples (bench);
  report (bench, dit, "gated sum backward", &call, 0);
}

static void
bench_dit (Bench *bench)
{
  for (int gated = 0; gated < 2; gated++)
    {
      bench_dit_norm (bench, gated);
      bench_dit_norm_backward (bench, gated);
    }
  bench_dit_gate (bench);
}

/* FLOP a second of a device that multiplies and adds in 128 lanes of a
 * multiprocessor, at its highest clock. */
static double
arithmetic_rate (void)
{
  int processors = 0, kilohertz = 0;

  if (cudaDeviceGetAttribute (&processors, cudaDevAttrMultiProcessorCount, 0)
          != cudaSuccess
      || cudaDeviceGetAttribute (&kilohertz, cudaDevAttrClockRate, 0)
             != cudaSuccess)
    exit (1);
  printf ("fp32 %.1f TFLOP/s\n", processors * 256e-9 * kilohertz);
  return processors * 256e3 * kilohertz;
}

static bool
is_wanted (const Bench *bench, const char *model)
{
  return bench->model == NULL || strstr (model, bench->model) != NULL;
}

int
main (int argc, char **argv)
{
  Bench bench = { .model = NULL };
  int repeat = 7;

  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp (argv[i], "--repeat") == 0 && atoi (argv[i + 1]) > 0
        && atoi (argv[i + 1]) <= BENCH_MAX_REPEATS)
      repeat = atoi (argv[i + 1]);
    else if (strcmp (argv[i], "--only") == 0)
      bench.only = argv[i + 1];
    else if (strcmp (argv[i], "--model") == 0)
      bench.model = argv[i + 1];
    else
      return 2;
  bench_open (&bench.gpu, repeat);
  bench.copy = bench_copy_rate (&bench.gpu);
  printf ("copy %.0f GB/s\n", bench.copy * 1e-9);
  bench.arithmetic = arithmetic_rate ();
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (is_wanted (&bench, models[i].name))
      bench_model (&bench, &models[i]);
  for (size_t i = 0; i < sizeof long_heads / sizeof *long_heads; i++)
    if (is_wanted (&bench, long_heads[i].name))
      bench_loss (&bench, &long_heads[i]);
  if (is_wanted (&bench, "convnext-xlarge 128"))
    bench_convnext (&bench);
  if (is_wanted (&bench, mamba))
    bench_mamba (&bench);
  if (is_wanted (&bench, dino))
    bench_dino (&bench);
  if (is_wanted (&bench, dit))
    bench_dit (&bench);
  bench_close (&bench.gpu);
  return 0;
}
