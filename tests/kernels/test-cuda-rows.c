/* SPDX-License-Identifier: Apache-2.0 */

/* The operators of the GPU that work along rows or on single elements, against
 * those of the CPU.
 *
 *   test-cuda-rows [--cases N] [--small] [--only TEXT]
 *
 * --small is for tools under which everything is slow.  Leaves with 77 where
 * there is no GPU. */

#include "kernels/convert.h"
#include "kernels/cuda/loss-shares.h"
#include "tests/data/check.h"
#include "tests/kernels/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of two images, or of sequences, of two kinds: such as models have, and
 * any other. */
static QmAttributes
some_window (Test *test, int64_t *down, int64_t *across)
{
  bool usual = between (test, 0, 2) > 0;
  QmAttributes attributes = { 0 };

  if (between (test, 0, 1))
    {
      attributes.height = 1;
      attributes.width = between (test, 1, test->small ? 140 : 500);
      attributes.causal = QM_CAUSAL_RESULT;
      *down = 1;
      *across = between (test, 1, usual ? 4 : 6);
      attributes.activation = QM_FUNCTION_SILU;
    }
  else
    {
      attributes.height = between (test, 1, test->small ? 9 : 20);
      attributes.width = PICK (test, 1, 6, 7, 8, 14, 15, 28, 31, 57);
      attributes.causal =
          !usual && between (test, 0, 1) ? QM_CAUSAL_RESULT : QM_CAUSAL_NONE;
      *down = usual ? 7 : between (test, 1, 7);
      *across = usual ? 7 : between (test, 1, 7);
    }
  if (between (test, 0, 3) == 0)
    attributes.activation =
        (QmFunction) between (test, QM_FUNCTION_NONE, QM_FUNCTION_QUICK_GELU);
  return attributes;
}

static void
convolution (Test *test)
{
  int64_t down, across, n = PICK (test, 8, 32, 64, 104, 128, 200, 33, 20, 5);
  bool backward = between (test, 0, 1) == 1;
  QmOpCall call = { .attributes = some_window (test, &down, &across) };
  int64_t *window = SHAPE (n, down, across);
  int64_t rows =
      between (test, 1, 3) * call.attributes.height * call.attributes.width;
  QmTensor x = matrix (test, any_type (test), rows, n);
  QmTensor bias = { 0 };

  if (between (test, 0, 3))
    bias = line (test, any_type (test), n);
  if (!backward)
    {
      call.op = QM_OP_DEPTHWISE_CONV;
      call.inputs[0] = x;
      call.inputs[1] = dense (test, any_type (test), 3, window);
      call.inputs[2] = bias;
      call.outputs[0] = matrix (test, any_type (test), rows, n);
      compare_run (&test->compare, &call, 1e-5);
      return;
    }
  call.op = QM_OP_DEPTHWISE_CONV_BACKWARD;
  call.inputs[0] = matrix (test, any_type (test), rows, n);
  call.inputs[1] = x;
  call.inputs[2] = dense (test, any_type (test), 3, window);
  call.inputs[3] = bias;
  if (between (test, 0, 2))
    call.inputs[4] = matrix (test, any_type (test), rows, n);
  call.outputs[0] = qm_tensor_present (&call.inputs[4]) && between (test, 0, 1)
                        ? call.inputs[4]
                        : matrix (test, any_type (test), rows, n);
  call.outputs[1] = dense (test, QM_TYPE_F32, 3, window);
  if (between (test, 0, 3))
    call.outputs[2] = line (test, QM_TYPE_F32, n);
  compare_run (&test->compare, &call, 1e-5);
}

static void
layer_scale (Test *test)
{
  int64_t n = some_columns (test), samples = between (test, 1, 40);
  QmOpCall call = { .op = QM_OP_LAYER_SCALE };
  bool backward = between (test, 0, 1) == 1, scaled = between (test, 0, 3) > 0;
  int64_t rows;

  call.attributes.height = between (test, 1, 5);
  call.attributes.width = between (test, 1, 4);
  call.attributes.dropout = some_dropout (test);
  call.attributes.site = 9;
  rows = samples * call.attributes.height * call.attributes.width;
  call.inputs[0] = matrix (test, any_type (test), rows, n);
  call.inputs[3] = compare_rng (&test->compare);
  call.outputs[0] = between (test, 0, 1)
                        ? call.inputs[0]
                        : matrix (test, any_type (test), rows, n);
  if (backward)
    {
      call.op = QM_OP_LAYER_SCALE_BACKWARD;
      call.inputs[1] = matrix (test, any_type (test), rows, n);
      if (scaled)
        call.outputs[1] = line (test, QM_TYPE_F32, n);
    }
  else if (between (test, 0, 1))
    call.inputs[2] = matrix (test, any_type (test), rows, n);
  if (scaled)
    call.inputs[backward ? 2 : 1] = line (test, any_type (test), n);
  compare_run (&test->compare, &call, 1e-5);
}

static void
pool (Test *test)
{
  int64_t n = some_columns (test), samples = between (test, 1, 9);
  int64_t rows = between (test, 1, test->small ? 5 : 60);
  int64_t first = between (test, 0, 1) ? between (test, 0, rows - 1) : 0;
  QmTensor x = matrix (test, any_type (test), samples * rows, n);
  QmTensor y = matrix (test, any_type (test), samples, first > 0 ? 2 * n : n);
  QmOpCall call = { .op = QM_OP_POOL, .inputs = { x }, .outputs = { y } };

  if (between (test, 0, 1))
    call = (QmOpCall){ .op = QM_OP_POOL_BACKWARD,
                       .inputs = { y },
                       .outputs = { x } };
  call.attributes.first = first;
  compare_run (&test->compare, &call, 1e-5);
}

static void
softmax (Test *test)
{
  int64_t s = between (test, 0, 1)
                  ? PICK (test, 1, 8, 64, 256, 512, 1024, 2048)
                  : PICK (test, 5, 31, 197, 257, 1001, 2049, 4500);
  int64_t heads = s > 600 ? 1 : between (test, 1, 3);
  int64_t *shape = SHAPE (1, heads, s, s);
  QmOpCall call = { .op = QM_OP_SOFTMAX };

  if (test->small && s > 300)
    s = shape[2] = shape[3] = 300;
  call.inputs[0] = dense (test, any_type (test), 4, shape);
  call.outputs[0] = between (test, 0, 1)
                        ? call.inputs[0]
                        : dense (test, any_type (test), 4, shape);
  if (between (test, 0, 1))
    {
      call.attributes.causal = QM_CAUSAL_RESULT;
      compare_run (&test->compare, &call, 1e-5);
      return;
    }
  if (between (test, 0, 1))
    {
      call.op = QM_OP_SOFTMAX_BACKWARD;
      call.inputs[1] = dense (test, any_type (test), 4, shape);
    }
  compare_run (&test->compare, &call, 1e-5);
}

static void
pointwise (Test *test)
{
  int64_t n = between (test, 1, test->small ? 3000 : 300000);
  QmOpCall call = { .op = QM_OP_ACTIVATION };

  call.attributes.activation =
      (QmFunction) between (test, QM_FUNCTION_NONE, QM_FUNCTION_QUICK_GELU);
  call.inputs[0] = line (test, any_type (test), n);
  if (between (test, 0, 1))
    {
      call.op = QM_OP_ACTIVATION_BACKWARD;
      call.inputs[1] = line (test, any_type (test), n);
    }
  call.outputs[0] =
      between (test, 0, 1) ? call.inputs[0] : line (test, any_type (test), n);
  compare_run (&test->compare, &call, 1e-5);
}

static void
dropout (Test *test)
{
  int64_t size = between (test, 1, test->small ? 40 : 150);
  int64_t *shape = SHAPE (2, 3, size, size);
  QmOpCall call = { .op = QM_OP_DROPOUT };

  call.attributes.tiled = between (test, 0, 1) == 1;
  call.attributes.dropout = some_dropout (test);
  call.attributes.site = 3;
  call.inputs[0] = dense (test, any_type (test), 4, shape);
  call.inputs[1] = compare_rng (&test->compare);
  call.outputs[0] = between (test, 0, 1)
                        ? call.inputs[0]
                        : dense (test, any_type (test), 4, shape);
  compare_run (&test->compare, &call, 1e-6);
}

static void
rotary (Test *test)
{
  int64_t width = PICK (test, 64, 80, 96, 128, 256, 10, 7, 12);
  int64_t length = between (test, 1, 30), heads = between (test, 1, 5);
  int64_t turned = PICK (test, 16, 20, 64, 6, 2, 32) % width / 2 * 2;
  int64_t parts = PICK (test, 1, 3, 3, 4, 6);
  bool interleaved = between (test, 0, 1) == 1;
  QmOpCall call = { .op = QM_OP_ROTARY };
  QmTensor whole;

  turned = turned > 0 ? turned : 2;
  call.attributes.rotary = turned;
  call.attributes.count = between (test, 1, parts);
  call.attributes.inverse = between (test, 0, 1) == 1;
  for (int i = 0; i < 2; i++)
    {
      whole = dense (test, i == 0 ? any_type (test) : call.inputs[0].type, 5,
                     interleaved ? SHAPE (2, length, heads, parts, width)
                                 : SHAPE (2, length, parts, heads, width));
      if (interleaved)
        {
          int64_t stride = whole.stride[2];

          whole.shape[2] = parts;
          whole.shape[3] = heads;
          whole.stride[2] = whole.stride[3];
          whole.stride[3] = stride;
        }
      if (i == 0)
        call.inputs[0] = whole;
      else
        call.outputs[0] = whole;
    }
  if (between (test, 0, 1))
    call.outputs[0] = call.inputs[0];
  call.inputs[1] = dense (test, QM_TYPE_F32, 2, SHAPE (length, turned));
  compare_run (&test->compare, &call, 1e-6);
}

static void
embedding (Test *test)
{
  int64_t batch = between (test, 1, 7), length = between (test, 1, 400);
  int64_t count = PICK (test, 1, 2, 50, 256, 257, 1000, 70000);
  int64_t n = PICK (test, 8, 64, 256, 264, 37, 1, 300);
  QmOpCall call = { .op = QM_OP_EMBEDDING };

  if (!test->small && between (test, 0, 5) == 0)
    length *= 8;
  call.inputs[0] = dense (test, QM_TYPE_I32, 2, SHAPE (batch, length));
  set_ids (test, &call.inputs[0], 0, count - 1);
  call.inputs[1] = matrix (test, any_type (test), count, n);
  call.outputs[0] = matrix (test, any_type (test), batch * length, n);
  if (between (test, 0, 1))
    {
      compare_run (&test->compare, &call, 1e-6);
      return;
    }
  call.op = QM_OP_EMBEDDING_BACKWARD;
  call.attributes.padding = between (test, -1, 1);
  call.inputs[1] = call.inputs[0];
  call.inputs[0] = call.outputs[0];
  call.outputs[0] = matrix (test, QM_TYPE_F32, count, n);
  compare_run (&test->compare, &call, 1e-5);
}

static void
positions (Test *test)
{
  QmOpCall call = { .op = QM_OP_POSITIONS };
  int64_t *shape = SHAPE (between (test, 1, 5), between (test, 1, 1200));

  call.attributes.padding = between (test, -1, 1);
  call.inputs[0] = dense (test, QM_TYPE_I32, 2, shape);
  set_ids (test, &call.inputs[0], 0, 4);
  call.outputs[0] = dense (test, QM_TYPE_I32, 2, shape);
  compare_run (&test->compare, &call, 0);
}

static void
token_dropout (Test *test)
{
  int64_t batch = between (test, 1, 7), length = between (test, 1, 400);
  int64_t n = some_columns (test);
  QmOpCall call = { .op = QM_OP_TOKEN_DROPOUT };

  call.attributes.padding = 2;
  call.attributes.value = 0.88;
  call.inputs[0] = matrix (test, any_type (test), batch * length, n);
  call.inputs[1] = dense (test, QM_TYPE_I32, 2, SHAPE (batch, length));
  set_ids (test, &call.inputs[1], 0, between (test, 1, 12));
  call.outputs[0] = between (test, 0, 1)
                        ? call.inputs[0]
                        : matrix (test, any_type (test), batch * length, n);
  compare_run (&test->compare, &call, 1e-6);
}

static void
patchify (Test *test)
{
  int64_t patch = PICK (test, 1, 2, 2, 4, 5, 8, 14, 16);
  int64_t batch = between (test, 1, 3), channels = between (test, 1, 4);
  int64_t height = patch * between (test, 1, 5) + between (test, 0, 1);
  int64_t width = patch * between (test, 1, 5) + between (test, 0, 1);
  bool last = between (test, 0, 1) == 1;
  QmOpCall call = { .op = QM_OP_PATCHIFY };
  QmTensor image, rows;

  channels = last ? PICK (test, 8, 16, 33, 300) : channels;
  image = dense (test, any_type (test), 4,
                 last ? SHAPE (batch, height, width, channels)
                      : SHAPE (batch, channels, height, width));
  if (last)
    {
      image.shape[1] = channels;
      image.shape[2] = height;
      image.shape[3] = width;
      image.stride[1] = 1;
      image.stride[2] = width * channels;
      image.stride[3] = channels;
    }
  rows =
      matrix (test, any_type (test), batch * (height / patch) * (width / patch),
              channels * patch * patch);
  call.attributes.patch = patch;
  call.inputs[0] = image;
  call.outputs[0] = rows;
  if (between (test, 0, 1))
    {
      call.op = QM_OP_UNPATCHIFY;
      call.inputs[0] = rows;
      call.outputs[0] = image;
    }
  compare_run (&test->compare, &call, 1e-6);
}

static void
class_token (Test *test)
{
  int64_t batch = between (test, 1, 20), length = between (test, 2, 50);
  int64_t n = PICK (test, 8, 64, 264, 37, 1), registers = between (test, 0, 5);
  QmOpCall call = { .op = QM_OP_CLASS_TOKEN };
  bool backward = between (test, 0, 1) == 1;
  QmTensor x = matrix (test, any_type (test), batch * (length - 1), n);
  QmTensor y = matrix (test, any_type (test), batch * (length + registers), n);
  QmTensor token = line (test, backward ? QM_TYPE_F32 : any_type (test), n);
  QmTensor position =
      matrix (test, backward ? QM_TYPE_F32 : any_type (test), length, n);
  QmTensor others = matrix (test, backward ? QM_TYPE_F32 : any_type (test),
                            registers > 0 ? registers : 1, n);

  if (registers == 0)
    others = (QmTensor){ 0 };
  if (between (test, 0, 2) == 0)
    position = (QmTensor){ 0 };
  if (backward)
    {
      call.op = QM_OP_CLASS_TOKEN_BACKWARD;
      call.outputs[3] = others;
      call.inputs[0] = y;
      call.outputs[0] = x;
      call.outputs[1] = token;
      call.outputs[2] = position;
    }
  else
    {
      call.inputs[0] = x;
      call.inputs[1] = token;
      call.inputs[2] = position;
      call.inputs[3] = others;
      call.outputs[0] = y;
    }
  compare_run (&test->compare, &call, 1e-5);
}

static QmTensor
labels (Test *test, int64_t batch, int64_t length, int64_t classes)
{
  QmTensor tensor = dense (test, QM_TYPE_I32, 2, SHAPE (batch, length));

  set_ids (test, &tensor, 0, classes - 1);
  for (int64_t i = 0; i < batch * length; i++)
    if (between (test, 0, 4) == 0)
      ((int32_t *) tensor.data)[i] = QM_IGNORE_LABEL;
  return tensor;
}

static void
label_weight (Test *test)
{
  QmOpCall call = { .op = QM_OP_LABEL_WEIGHT };

  call.attributes.scale = 0.25;
  call.attributes.shift = between (test, 0, 1) == 1;
  call.inputs[0] =
      labels (test, between (test, 1, 9), between (test, 1, 900), 5);
  call.inputs[1] = line (test, QM_TYPE_F32, QM_STATE_SIZE);
  call.outputs[0] = line (test, QM_TYPE_F32, 2);
  compare_run (&test->compare, &call, 1e-6);
}

static void
cross_entropy (Test *test)
{
  int64_t classes = PICK (test, 2, 10, 256, 1000, 1001, 4100, 50257, 131072);
  int64_t batch = between (test, 1, 4), length = between (test, 1, 12), rows;
  int64_t padded = (classes + 63) / 64 * 64, first;
  QmOpCall call = { .op = QM_OP_CROSS_ENTROPY };
  bool pad = between (test, 0, 1) == 1;

  /* Some rows for each processor. */
  if (!test->small && classes == 4100)
    length *= 16;
  /* All rows, or some of them. */
  rows = batch * length;
  first = between (test, 0, 1) == 1 ? between (test, 0, rows - 1) : 0;
  rows = first > 0 ? between (test, 1, rows - first) : rows;
  call.attributes.first = first;
  call.attributes.shift = between (test, 0, 1) == 1;
  call.attributes.padded = pad ? padded : 0;
  if (between (test, 0, 2) == 0)
    call.attributes.cap = 2.5;
  if (between (test, 0, 2) == 0)
    call.attributes.z_loss = 0.01;
  for (int i = 0; i < 2; i++)
    {
      QmTensor *tensor = i == 0 ? &call.inputs[0] : &call.outputs[0];

      *tensor = compare_tensor (&test->compare, any_type (test), 2,
                                SHAPE (rows, classes),
                                pad ? padded - classes : PICK (test, 0, 0, 3),
                                PICK (test, 0, 0, 1));
    }
  if (between (test, 0, 1))
    call.outputs[0] = call.inputs[0];
  call.inputs[1] = labels (test, batch, length, classes);
  if (between (test, 0, 9) == 0)
    ((int32_t *) call.inputs[1].data)[0] = (int32_t) classes;
  call.inputs[2] = line (test, QM_TYPE_F32, 2);
  call.outputs[1] = line (test, QM_TYPE_F32, rows);
  compare_run (&test->compare, &call, 1e-5);
}

/* Each row gets 32 logits that have nearly all of its probability, wherever
 * they are: of as many that are alike nobody would see that one is wrong. */
static void
raise_logits (Test *test, const QmTensor *logits)
{
  const float large = 12;
  int64_t n = logits->shape[1];
  size_t size = qm_type_size (logits->type);

  for (int64_t t = 0; t < logits->shape[0]; t++)
    for (int i = 0; i < 32; i++)
      qm_floats_store (logits->type,
                       (char *) logits->data
                           + (size_t) (t * logits->stride[0]
                                       + between (test, 0, n - 1))
                                 * size,
                       1, 1, &large);
}

/* Labels where one block's share of a row ends and the next begins, at the end
 * of the row and in between, some that are ignored and some that are none. */
static void
set_edges (Test *test, const QmTensor *labels, int classes, int share)
{
  for (int64_t i = 0; i < qm_tensor_elements (labels); i++)
    {
      int edge = (int) between (test, 0, (classes - 1) / share) * share;
      int64_t label = PICK (test, 0, edge, edge + share - 1, edge + share,
                            classes / 8 * 8, classes - 1);

      if (between (test, 0, 3) == 0)
        label = between (test, 0, classes - 1);
      if (label >= classes)
        label = classes - 1;
      if (between (test, 0, 5) == 0)
        label = between (test, 0, 5) == 0 ? classes : QM_IGNORE_LABEL;
      ((int32_t *) labels->data)[i] = (int32_t) label;
    }
}

/* Rows of 16 bits that Hopper divides between the blocks of clusters, and those
 * that are just short enough, or too long for it: few, or some for each. */
static void
long_cross_entropy (Test *test)
{
  static const int sizes[] = { 128256, 55553,  262144, 151936, 111101, 222208,
                               55552,  111112, 151669, 222209, 444416, 444424 };
  int number = test->compare.calls % (int) (sizeof sizes / sizeof *sizes);
  int classes = sizes[number], padded = (classes + 63) / 64 * 64;
  int blocks = qm_loss_blocks (227 << 10, classes, padded);
  int share = qm_loss_share (padded, blocks > 0 ? blocks : 1);
  bool many = !test->small && between (test, 0, 1) == 1;
  int64_t rows = many ? 22000000 / classes : between (test, 1, 9);
  int64_t gap = padded - classes + 8 * between (test, 0, 2);
  QmType type = any_type (test);
  QmOpCall call = { .op = QM_OP_CROSS_ENTROPY };

  while (type == QM_TYPE_F32)
    type = any_type (test);
  call.attributes.shift = between (test, 0, 1) == 1;
  call.attributes.padded = between (test, 0, 3) > 0 ? padded : 0;
  call.inputs[0] =
      compare_tensor (&test->compare, type, 2, SHAPE (rows, classes), gap, 0);
  call.outputs[0] = between (test, 0, 1) == 1
                        ? call.inputs[0]
                        : compare_tensor (&test->compare, type, 2,
                                          SHAPE (rows, classes), gap, 0);
  raise_logits (test, &call.inputs[0]);
  call.inputs[1] =
      compare_tensor (&test->compare, QM_TYPE_I32, 2, SHAPE (1, rows), 0, 0);
  set_edges (test, &call.inputs[1], classes, share);
  call.inputs[2] = line (test, QM_TYPE_F32, 2);
  call.outputs[1] = line (test, QM_TYPE_F32, rows);
  compare_run (&test->compare, &call, 1e-5);
}

static void
random_numbers (Test *test)
{
  int64_t n = between (test, 1, 20000);
  QmOpCall call = { .op = QM_OP_RANDOM };

  call.attributes.distribution =
      (QmDistribution) between (test, QM_DISTRIBUTION_NORMAL,
                                QM_DISTRIBUTION_INDEX);
  call.attributes.value = 0.5;
  call.attributes.scale = 3;
  call.attributes.count = 50257;
  call.attributes.site = 11;
  call.inputs[0] = compare_rng (&test->compare);
  call.outputs[0] = line (test,
                          call.attributes.distribution == QM_DISTRIBUTION_INDEX
                              ? QM_TYPE_I32
                              : any_type (test),
                          n);
  compare_run (&test->compare, &call, 1e-5);
  call = (QmOpCall){ .op = QM_OP_ADVANCE, .attributes.count = 3 };
  call.inputs[0] = call.outputs[0] = compare_rng (&test->compare);
  compare_run (&test->compare, &call, 0);
}

static const struct
{
  const char *name;
  void (*run) (Test *test);
} families[] = {
  { "layer norm", test_layer_norm },
  { "layer norm backward", test_layer_norm_backward },
  { "norm without bias", test_norm_without_bias },
  { "adaptive norm", test_adaptive_norm },
  { "token dropout", token_dropout },
  { "convolution", convolution },
  { "layer scale", layer_scale },
  { "mean of rows", pool },
  { "softmax", softmax },
  { "activation", pointwise },
  { "dropout", dropout },
  { "rotary", rotary },
  { "embedding", embedding },
  { "positions", positions },
  { "patchify", patchify },
  { "class token", class_token },
  { "label weight", label_weight },
  { "cross entropy", cross_entropy },
  { "long cross entropy", long_cross_entropy },
  { "random", random_numbers },
};

int
main (int argc, char **argv)
{
  Test test = { 0 };
  const char *only = NULL;
  int cases = 12;

  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--small") == 0)
      test.small = true;
    else if (strcmp (argv[i], "--cases") == 0 && i + 1 < argc)
      cases = atoi (argv[++i]);
    else if (strcmp (argv[i], "--only") == 0 && i + 1 < argc)
      only = argv[++i];
    else
      return 2;
  if (!compare_open (&test.compare, 0))
    return CHECK_SKIPPED;
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    {
      if (only != NULL && strstr (families[f].name, only) == NULL)
        continue;
      test.compare.worst = 0;
      test.compare.calls = 0;
      for (int i = 0; i < cases; i++)
        families[f].run (&test);
      printf ("%-22s %4d calls, error up to %5.1f %% of what is allowed\n",
              families[f].name, test.compare.calls, 100 * test.compare.worst);
      fflush (stdout);
    }
  compare_close (&test.compare);
  return check_report ();
}
