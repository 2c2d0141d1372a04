/* SPDX-License-Identifier: Apache-2.0 */

/* How fast a GPU quantises and multiplies in FP8 what linear layers of real
 * models do, beside the same in bf16.
 *
 *   bench-cuda-scaled [--repeat N] [--only TEXT]
 *
 * Prints medians of milliseconds; of what is quantised the bytes that have to
 * be moved a second, x read once, and of products operations a second.  Leaves
 * with 77 where there is no GPU. */

#include "tests/kernels/cuda-bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A linear layer of a model, x [rows, in] to y [rows, out]. */
typedef struct ScaledLayer
{
  const char *name;
  int64_t rows, in, out;
} ScaledLayer;

static const ScaledLayer layers[] = {
  { "llama-3.2-1b qkv", 32768, 2048, 3072 },
  { "llama-3.2-1b keys", 32768, 2048, 512 },
  { "llama-3.2-1b out", 32768, 2048, 2048 },
  { "llama-3.2-1b up", 32768, 2048, 8192 },
  { "llama-3.2-1b down", 32768, 8192, 2048 },
  { "pythia-6.9b qkv", 4096, 4096, 12288 },
  { "pythia-6.9b up", 4096, 4096, 16384 },
  { "pythia-6.9b down", 4096, 16384, 4096 },
};

/* A matrix in FP8, and turned, with the scales of both. */
typedef struct Quantized
{
  QmTensor q, scale, qt, scale_t;
} Quantized;

static QmTensor
room_for (CudaBench *bench, QmType type, int32_t rank, const int64_t *shape)
{
  QmTensor tensor = qm_tensor_dense (type, rank, shape, NULL);

  tensor.data = bench_allocate (bench, (size_t) qm_tensor_elements (&tensor)
                                           * qm_type_size (type));
  return tensor;
}

static void
print_times (const char *name,
             const char *what,
             double seconds,
             double amount,
             const char *unit)
{
  if (seconds < 0)
    printf ("%-18s %-34s not supported\n", name, what);
  else
    printf ("%-18s %-34s %8.3f ms  %7.1f %s\n", name, what, seconds * 1e3,
            amount / seconds, unit);
  fflush (stdout);
}

/* Quantises normal numbers of bf16, and tells how long it took. */
static Quantized
quantize (CudaBench *bench,
          const ScaledLayer *layer,
          const char *what,
          QmType type,
          int64_t rows,
          int64_t columns,
          bool by_row,
          bool delayed)
{
  QmOpCall call = { .op = QM_OP_QUANTIZE };
  Quantized made;
  double seconds;

  call.attributes.by_row = by_row;
  call.inputs[0] =
      bench_normal (bench, QM_TYPE_BF16, 2, SHAPE (rows, columns), 0, 1);
  made.q = room_for (bench, type, 2, SHAPE (rows, columns));
  made.scale = room_for (bench, QM_TYPE_F32, 1, SHAPE (by_row ? rows : 1));
  made.qt = room_for (bench, type, 2, SHAPE (columns, rows));
  made.scale_t =
      by_row ? room_for (bench, QM_TYPE_F32, 1, SHAPE (columns)) : made.scale;
  if (delayed)
    {
      call.inputs[1] = bench_normal (bench, QM_TYPE_F32, 1, SHAPE (16), 4, 0.1);
      call.outputs[4] = room_for (bench, QM_TYPE_F32, 1, SHAPE (1));
    }
  call.outputs[0] = made.q;
  call.outputs[1] = made.scale;
  call.outputs[2] = made.qt;
  if (by_row)
    call.outputs[3] = made.scale_t;
  bench_workspace (bench, &call);
  seconds = bench_time (bench, &call);
  print_times (layer->name, what, seconds, bench_bytes (&call) / 1e9, "GB/s");
  return made;
}

/* The product of two, of which the sum is over the columns of both. */
static void
multiply (CudaBench *bench,
          const ScaledLayer *layer,
          const char *what,
          QmOp op,
          const QmTensor *const factors[4],
          QmType type)
{
  QmOpCall call = { .op = op };
  double operations =
      2.0 * (double) layer->rows * (double) layer->in * (double) layer->out;

  for (int i = 0; i < 4; i++)
    call.inputs[i] = *factors[i];
  call.outputs[0] =
      room_for (bench, type, 2,
                SHAPE (factors[0]->shape[0], factors[1]->shape[0]));
  bench_workspace (bench, &call);
  print_times (layer->name, what, bench_time (bench, &call), operations / 1e12,
               "TFLOP/s");
}

static void
bench_scaled (CudaBench *bench, const ScaledLayer *layer, bool by_row)
{
  int64_t rows = layer->rows, in = layer->in, out = layer->out;
  Quantized x, w, dy;

  x = quantize (bench, layer, by_row ? "x by rows" : "x", QM_TYPE_E4M3, rows,
                in, by_row, false);
  w = quantize (bench, layer, by_row ? "w by rows" : "w", QM_TYPE_E4M3, out, in,
                by_row, false);
  dy = quantize (bench, layer, by_row ? "dy by rows" : "dy", QM_TYPE_E5M2, rows,
                 out, by_row, false);
  multiply (bench, layer, by_row ? "y by rows" : "y", QM_OP_SCALED_LINEAR,
            (const QmTensor *const[]){ &x.q, &w.q, &x.scale, &w.scale },
            QM_TYPE_BF16);
  multiply (bench, layer, by_row ? "dx by rows" : "dx", QM_OP_SCALED_LINEAR,
            (const QmTensor *const[]){ &dy.q, &w.qt, &dy.scale, &w.scale_t },
            QM_TYPE_BF16);
  multiply (bench, layer, by_row ? "dw by rows" : "dw",
            QM_OP_SCALED_WEIGHT_GRAD,
            (const QmTensor *const[]){ &dy.qt, &x.qt, &dy.scale_t, &x.scale_t },
            QM_TYPE_F32);
  bench_release (bench);
}

/* Times the three products of a layer in bf16, as the engine chooses. */
static void
bench_bf16 (CudaBench *bench, const ScaledLayer *layer)
{
  static const struct
  {
    QmOp op;
    const char *name;
  } kinds[] = {
    { QM_OP_LINEAR, "y in bf16" },
    { QM_OP_LINEAR_INPUT_GRAD, "dx in bf16" },
    { QM_OP_LINEAR_WEIGHT_GRAD, "dw in bf16" },
  };
  int64_t rows = layer->rows, in = layer->in, out = layer->out;
  double operations = 2.0 * (double) rows * (double) in * (double) out;
  QmTensor x = bench_normal (bench, QM_TYPE_BF16, 2, SHAPE (rows, in), 0, 1);
  QmTensor w = bench_normal (bench, QM_TYPE_BF16, 2, SHAPE (out, in), 0, 1);
  QmTensor y = bench_normal (bench, QM_TYPE_BF16, 2, SHAPE (rows, out), 0, 1);
  QmTensor dw = bench_normal (bench, QM_TYPE_F32, 2, SHAPE (out, in), 0, 1);

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    {
      QmOpCall call = { .op = kinds[i].op };

      call.inputs[0] = i == 0 ? x : y;
      call.inputs[1] = i == 2 ? x : w;
      call.outputs[0] = i == 0 ? y : i == 1 ? x : dw;
      bench_workspace (bench, &call);
      print_times (layer->name, kinds[i].name, bench_time (bench, &call),
                   operations / 1e12, "TFLOP/s");
    }
  bench_release (bench);
}

int
main (int argc, char **argv)
{
  CudaBench bench;
  const char *only = NULL;
  int repeat = 15;

  if (!bench_options (argc, argv, &repeat, &only))
    return 2;
  bench_open (&bench, repeat);
  printf ("copies: %.0f GB/s\n", bench_copy_rate (&bench) / 1e9);
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
    if (only == NULL || strstr (layers[i].name, only) != NULL)
      {
        bench_bf16 (&bench, &layers[i]);
        bench_scaled (&bench, &layers[i], false);
        bench_scaled (&bench, &layers[i], true);
        quantize (&bench, &layers[i], "x by its history", QM_TYPE_E4M3,
                  layers[i].rows, layers[i].in, false, true);
        bench_release (&bench);
      }
  bench_close (&bench);
  return 0;
}
