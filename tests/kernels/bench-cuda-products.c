/* SPDX-License-Identifier: Apache-2.0 */

/* How fast a GPU computes the linear operators of real models: with our own
 * products, with those of cuBLASLt, and as the engine chooses.
 *
 *   bench-cuda-products [--repeat N] [--only TEXT]
 *
 * Prints medians of milliseconds, and the floor: the operations at 790 TFLOP/s
 * or the bytes at 4.2 TB/s, whichever takes longer.  Leaves with 77 where there
 * is no GPU. */

#include "kernels/backend.h"
#include "tests/kernels/cuda-bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an H200 reaches: of products, and of memory. */
#define OPERATIONS 790e12
#define BANDWIDTH  4.2e12

/* A linear layer of a model, x [rows, in] to y [rows, out]. */
typedef struct Layer
{
  const char *name;
  QmType type;
  int64_t rows, in, out;
  bool activated;
} Layer;

static const Layer layers[] = {
  { "pythia-160m qkv", QM_TYPE_F16, 131136, 768, 2304, false },
  { "pythia-160m out", QM_TYPE_F16, 131136, 768, 768, false },
  { "pythia-160m up", QM_TYPE_F16, 131136, 768, 3072, true },
  { "pythia-160m down", QM_TYPE_F16, 131136, 3072, 768, false },
  { "pythia-160m head", QM_TYPE_F16, 131136, 768, 50304, false },
  { "pythia-410m qkv", QM_TYPE_F16, 65568, 1024, 3072, false },
  { "pythia-410m up", QM_TYPE_F16, 65568, 1024, 4096, true },
  { "pythia-410m down", QM_TYPE_F16, 65568, 4096, 1024, false },
  { "pythia-1b qkv", QM_TYPE_BF16, 65568, 2048, 6144, false },
  { "pythia-1b up", QM_TYPE_BF16, 65568, 2048, 8192, true },
  { "pythia-1b down", QM_TYPE_BF16, 65568, 8192, 2048, false },
  { "pythia-2.8b qkv", QM_TYPE_F16, 16392, 2560, 7680, false },
  { "pythia-2.8b up", QM_TYPE_F16, 16392, 2560, 10240, true },
  { "pythia-2.8b down", QM_TYPE_F16, 16392, 10240, 2560, false },
  { "pythia-6.9b qkv", QM_TYPE_F16, 4098, 4096, 12288, false },
  { "pythia-6.9b up", QM_TYPE_F16, 4098, 4096, 16384, true },
  { "pythia-6.9b down", QM_TYPE_F16, 4098, 16384, 4096, false },
  { "roberta-large qkv", QM_TYPE_F16, 32768, 1024, 3072, false },
  { "roberta-large up", QM_TYPE_F16, 32768, 1024, 4096, true },
  { "roberta-large down", QM_TYPE_F16, 32768, 4096, 1024, false },
  { "gpt2-124m qkv", QM_TYPE_BF16, 65536, 768, 2304, false },
  { "gpt2-124m out", QM_TYPE_BF16, 65536, 768, 768, false },
  { "gpt2-124m up", QM_TYPE_BF16, 65536, 768, 3072, true },
  { "gpt2-124m down", QM_TYPE_BF16, 65536, 3072, 768, false },
  { "modernbert-large out", QM_TYPE_BF16, 32768, 1024, 1024, false },
  { "modernbert-large down", QM_TYPE_BF16, 32768, 2624, 1024, false },
  { "dinov3-large out", QM_TYPE_BF16, 25728, 1024, 1024, false },
  { "dinov3-large qv", QM_TYPE_BF16, 25728, 1024, 2048, false },
  { "dinov3-large up", QM_TYPE_BF16, 25728, 1024, 4096, true },
  { "dinov3-large down", QM_TYPE_BF16, 25728, 4096, 1024, false },
  { "dit-xl-2 qkv", QM_TYPE_BF16, 32768, 1152, 3456, false },
  { "dit-xl-2 out", QM_TYPE_BF16, 32768, 1152, 1152, false },
  { "dit-xl-2 up", QM_TYPE_BF16, 32768, 1152, 4608, true },
  { "dit-xl-2 down", QM_TYPE_BF16, 32768, 4608, 1152, false },
  { "starcoder2-3b up", QM_TYPE_BF16, 8192, 3072, 12288, true },
  { "starcoder2-3b down", QM_TYPE_BF16, 8192, 12288, 3072, false },
};

static QmTensor
tensor (CudaBench *bench, QmType type, int32_t rank, const int64_t *shape)
{
  return bench_normal (bench, type, rank, shape, 0, 1);
}

/* Median milliseconds; negative where there is no such way. */
static double
measure (CudaBench *bench, const QmOpCall *call, QmCudaPreference preference)
{
  double seconds;

  qm_cuda_prefer (bench->device, preference);
  seconds = bench_time (bench, call);
  return seconds < 0 ? seconds : seconds * 1e3;
}

static void
report (CudaBench *bench, const Layer *layer, QmOpCall *call)
{
  double operations = qm_op_flops (call);
  double by_bytes = bench_bytes (call) / BANDWIDTH * 1e3;
  double least = operations / OPERATIONS * 1e3;
  double times[3];

  bench_workspace (bench, call);
  for (int i = 0; i < 3; i++)
    times[i] = measure (bench, call, (QmCudaPreference) i);
  printf ("%-18s %-18s %s%s %7lld x %5lld -> %5lld  floor %7.3f  chosen %7.3f  "
          "own %7.3f  library %7.3f\n",
          layer->name, qm_op_name (call->op), qm_type_name (layer->type),
          call->attributes.activation == QM_FUNCTION_GELU ? " gelu" : "     ",
          (long long) layer->rows, (long long) layer->in,
          (long long) layer->out, by_bytes > least ? by_bytes : least, times[0],
          times[1], times[2]);
  fflush (stdout);
  bench_release (bench);
}

static void
bench_layer (CudaBench *bench, const Layer *layer)
{
  int64_t rows = layer->rows, in = layer->in, out = layer->out;
  QmOpCall call = { .op = QM_OP_LINEAR };

  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (out, in));
  call.inputs[2] = tensor (bench, layer->type, 1, SHAPE (out));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, out));
  if (layer->activated)
    {
      call.attributes.activation = QM_FUNCTION_GELU;
      call.outputs[1] = tensor (bench, layer->type, 2, SHAPE (rows, out));
    }
  report (bench, layer, &call);

  /* The gradient of what an activated layer feeds goes through the slope. */
  call = (QmOpCall){ .op = QM_OP_LINEAR_INPUT_GRAD };
  if (layer->activated)
    {
      int64_t swap = in;

      in = out;
      out = swap;
      call.attributes.activation = QM_FUNCTION_GELU;
      call.inputs[2] = tensor (bench, layer->type, 2, SHAPE (rows, in));
    }
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, out));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (out, in));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  report (bench, layer, &call);

  call = (QmOpCall){ .op = QM_OP_LINEAR_WEIGHT_GRAD };
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, layer->out));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (rows, layer->in));
  call.outputs[0] =
      tensor (bench, QM_TYPE_F32, 2, SHAPE (layer->out, layer->in));
  call.outputs[1] = tensor (bench, QM_TYPE_F32, 1, SHAPE (layer->out));
  report (bench, layer, &call);
}

/* Gated layers of models: x [rows, in] to y [rows, out] through twice as many
 * columns, and back from what y becomes. */
static const Layer gated[] = {
  { "smollm3-3b gates", QM_TYPE_BF16, 8192, 2048, 11008, true },
  { "llama-3.2-1b gates", QM_TYPE_BF16, 16384, 2048, 8192, true },
  { "modernbert-large gates", QM_TYPE_BF16, 32768, 1024, 2624, true },
};

static void
bench_gates (CudaBench *bench, const Layer *layer)
{
  int64_t rows = layer->rows, in = layer->in, out = layer->out;
  QmOpCall call = { .op = QM_OP_GATED_LINEAR };

  call.attributes.activation = QM_FUNCTION_SILU;
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (2 * out, in));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, out));
  call.outputs[1] = tensor (bench, layer->type, 2, SHAPE (rows, 2 * out));
  report (bench, layer, &call);

  call = (QmOpCall){ .op = QM_OP_GATED_INPUT_GRAD };
  call.attributes.activation = QM_FUNCTION_SILU;
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (in, out));
  call.inputs[2] = tensor (bench, layer->type, 2, SHAPE (rows, 2 * out));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, 2 * out));
  report (bench, layer, &call);
}

/* Queries, keys and values of models: x [rows, in] to heads of `width`, of
 * which so many turn. */
static const struct
{
  Layer layer;
  int64_t length, width, rotary, chunk, count;
} turning[] = {
  { { "modernbert-large qkv", QM_TYPE_BF16, 32768, 1024, 3072, false },
    1024,
    64,
    64,
    48,
    32 },
  { { "dinov3-large qv", QM_TYPE_BF16, 25728, 1024, 2048, false },
    201,
    64,
    64,
    32,
    16 },
  { { "llama-3.2-1b qkv", QM_TYPE_BF16, 16384, 2048, 3072, false },
    2048,
    64,
    64,
    48,
    40 },
  { { "smollm3-3b qkv", QM_TYPE_BF16, 8192, 2048, 3072, false },
    4096,
    128,
    128,
    24,
    20 },
  { { "pythia-1b qkv", QM_TYPE_BF16, 65568, 2048, 6144, false },
    2049,
    256,
    64,
    3,
    2 },
  { { "pythia-160m qkv", QM_TYPE_BF16, 131136, 768, 2304, false },
    2049,
    64,
    16,
    3,
    2 },
};

/* Beside the product alone. */
static void
bench_rotary (CudaBench *bench, size_t i)
{
  const Layer *layer = &turning[i].layer;
  int64_t rows = layer->rows, in = layer->in, out = layer->out;
  QmOpCall call = { .op = QM_OP_ROTARY_LINEAR };

  call.attributes.width = turning[i].width;
  call.attributes.rotary = turning[i].rotary;
  call.attributes.chunk = turning[i].chunk;
  call.attributes.count = turning[i].count;
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (out, in));
  call.inputs[3] = tensor (bench, QM_TYPE_F32, 2,
                           SHAPE (turning[i].length, turning[i].rotary));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, out));
  report (bench, layer, &call);

  call = (QmOpCall){ .op = QM_OP_LINEAR };
  call.inputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, in));
  call.inputs[1] = tensor (bench, layer->type, 2, SHAPE (out, in));
  call.outputs[0] = tensor (bench, layer->type, 2, SHAPE (rows, out));
  report (bench, layer, &call);
}

int
main (int argc, char **argv)
{
  CudaBench bench;
  const char *only = NULL;
  int repeat = 7;

  if (!bench_options (argc, argv, &repeat, &only))
    return 2;
  bench_open (&bench, repeat);
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
    if (only == NULL || strstr (layers[i].name, only) != NULL)
      bench_layer (&bench, &layers[i]);
  for (size_t i = 0; i < sizeof gated / sizeof *gated; i++)
    if (only == NULL || strstr (gated[i].name, only) != NULL)
      bench_gates (&bench, &gated[i]);
  for (size_t i = 0; i < sizeof turning / sizeof *turning; i++)
    if (only == NULL || strstr (turning[i].layer.name, only) != NULL)
      bench_rotary (&bench, i);
  bench_close (&bench);
  return 0;
}
