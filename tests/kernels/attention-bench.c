/* SPDX-License-Identifier: Apache-2.0 */

/* Times attention on the GPU, forward and backward apart: warm-up, then the
 * median of N launches between events.
 *
 *   attention-bench [--path portable|hopper|auto|both] [--repeat N]
 *                   [--dropout P] [--deterministic] [--check] [--shape I]
 *                   [--type fp16|bf16|tf32] [--forward] [--label TEXT]
 *                   [--layout heads-3|3-heads|separate] [--spread X]
 *                   [--table] [--turn whole|quarter|apart]
 *
 * Elements are normal with standard deviation --spread (1).  Many repeats show
 * what the clock is worth once the GPU is warm.
 *
 * TFLOP/s count two operations a multiply-add, half of them where causal, and
 * backward as 2.5 times forward, as everybody does.  With --check the results
 * of both paths are compared, at the timed size.
 *
 * With --turn the gradients of queries and keys are turned back by rotary
 * positions, of the whole of a head or of a quarter; `apart` as much as all of
 * it, by the kernel that is there for it, after the others.
 *
 * --table goes over the head sizes that have code of their own, with and
 * without a mask, by the portable kernels and, where the GPU has them, by those
 * for Hopper: how fast each is, and what part that is of a large product by our
 * own portable kernel, timed before and after. */

#include <stdbool.h>

#include "kernels/cuda/cuda-ops.h"
#include "kernels/cuda/portable-product.h"
#include "kernels/random.h"

#include "attention-host.h"

typedef struct Shape
{
  int batch, heads, seq, head_dim;
  bool causal, fp32;
  int groups, window; /* 0: as many as heads; none */
} Shape;

static const Shape shapes[] = {
  { 64, 12, 2049, 64, true, false },
  { 32, 16, 2049, 64, true, false },
  { 32, 8, 2049, 256, true, false },
  { 8, 32, 2049, 80, true, false },
  { 2, 32, 2049, 128, true, false },
  { 64, 16, 512, 64, false, false },
  { 256, 16, 197, 64, false, true },
  { 32, 16, 2048, 64, true, false },
  { 16, 16, 2048, 128, true, false },
  { 16, 16, 2048, 128, false, false },
  { 4, 16, 8192, 128, true, false },
  /* Llama 3.2 1B, Qwen3 0.6B, Llama 3.1 8B, ModernBERT large, Gemma 3 1B */
  { 8, 32, 4096, 64, true, false, 8 },
  { 8, 16, 4096, 128, true, false, 8 },
  { 2, 32, 4096, 128, true, false, 8 },
  { 32, 16, 1024, 64, false, false, 0, 65 },
  { 8, 4, 4096, 256, true, false, 1, 512 },
  /* GPT-2 124M, ModernBERT's global layers, ESM-2 650M, DINOv2 large */
  { 64, 12, 1024, 64, true, false },
  { 32, 16, 1024, 64, false, false },
  { 32, 20, 1024, 64, false, false },
  { 128, 16, 257, 64, false, false },
  /* MAE large, its decoder, DINOv2's local crops */
  { 256, 16, 50, 64, false, false },
  { 256, 16, 197, 32, false, false },
  { 512, 16, 50, 64, false, false },
  /* ViT large and base in 16 bits, and what is shorter or fits evenly */
  { 256, 16, 197, 64, false, false },
  { 256, 12, 145, 64, false, false },
  { 256, 16, 128, 64, false, false },
  { 128, 16, 256, 64, false, false },
  /* DiT-XL/2 */
  { 128, 16, 256, 72, false, false },
  /* ModernBERT base's local layers, a long and a lone sequence of large's, a
   * narrower window, and one that is causal */
  { 32, 12, 1024, 64, false, false, 0, 65 },
  { 4, 16, 8192, 64, false, false, 0, 65 },
  { 1, 16, 1024, 64, false, false, 0, 65 },
  { 32, 16, 1024, 64, false, false, 0, 33 },
  { 32, 16, 1024, 64, true, false, 0, 65 },
  /* few heads of keys: StarCoder2 3B, SmolLM3 3B, a sequence of Llama 3.2 1B */
  { 2, 24, 4096, 128, true, false, 2 },
  { 2, 16, 4096, 128, true, false, 4 },
  { 1, 32, 4096, 64, true, false, 8 },
};
#define SHAPES (sizeof shapes / sizeof *shapes)

typedef struct Options
{
  int repeat;
  float dropout, spread;
  bool deterministic, check, forward_only, apart;
  int turned; /* of a head: 0, or one in so many */
  HostLayout layout;
  QmAttentionType type;
  const char *label;
} Options;

typedef struct Buffers
{
  HostLayout layout;
  void *qkv, *dout, *o, *dqkv, *workspace;
  float *lse, *table;
  int32_t *rng;
  bool apart;
  size_t qkv_bytes, o_bytes;
} Buffers;

static int
by_value (const void *x, const void *y)
{
  float a = *(const float *) x, b = *(const float *) y;

  return (a > b) - (a < b);
}

/* Random elements: one block of them again and again, which no cache keeps. */
static void *
random_device (QmAttentionType type, size_t bytes, float spread, uint64_t seed)
{
  const size_t block = (size_t) 8191 * 1024;
  char *host = malloc (block);
  char *device;

  if (!host)
    exit (1);
  for (size_t i = 0; i < block / type_size (type); i++)
    store_element (type, host, i, spread * random_normal (&seed));
  CUDA_OK (cudaMalloc ((void **) &device, bytes));
  for (size_t at = 0; at < bytes; at += block)
    CUDA_OK (cudaMemcpy (device + at, host,
                         bytes - at < block ? bytes - at : block,
                         cudaMemcpyHostToDevice));
  free (host);
  return device;
}

static void
allocate (const QmAttention *a, const Options *options, Buffers *b)
{
  const size_t size = type_size (a->type);
  QmAttentionTensor t;
  const int32_t rng[QM_RNG_SIZE] = { 42 };
  size_t forward = qm_attention_forward_workspace (a);
  size_t backward = qm_attention_backward_workspace (a);

  b->layout = options->layout;
  b->qkv_bytes = host_tensor (a, options->layout, 0, 3, NULL, &t) * size;
  b->o_bytes = host_tensor (a, options->layout, 0, 1, NULL, &t) * size;
  b->qkv = random_device (a->type, b->qkv_bytes, options->spread, 1);
  b->dout = random_device (a->type, b->o_bytes, options->spread, 2);
  CUDA_OK (cudaMalloc (&b->o, b->o_bytes));
  CUDA_OK (cudaMalloc (&b->dqkv, b->qkv_bytes));
  CUDA_OK (cudaMalloc (&b->workspace, forward > backward ? forward : backward));
  CUDA_OK (cudaMalloc ((void **) &b->lse, (size_t) a->batch * (size_t) a->heads
                                              * (size_t) a->seq * 4));
  CUDA_OK (cudaMalloc ((void **) &b->rng, sizeof rng));
  CUDA_OK (cudaMemcpy (b->rng, rng, sizeof rng, cudaMemcpyHostToDevice));
  b->apart = options->apart;
  b->table = NULL;
  if (a->rotary > 0)
    b->table =
        random_device (QM_ATTENTION_TF32,
                       (size_t) a->seq * (size_t) a->rotary * 4, 0.7f, 3);
}

static void
release (Buffers *b)
{
  void *all[] = { b->qkv,       b->dout, b->o,   b->dqkv,
                  b->workspace, b->lse,  b->rng, b->table };

  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    CUDA_OK (cudaFree (all[i]));
}

static QmTensor
heads_of (const QmAttention *a, const QmAttentionTensor *t, int heads)
{
  return (QmTensor){ .type = a->type == QM_ATTENTION_FP16   ? QM_TYPE_F16
                             : a->type == QM_ATTENTION_BF16 ? QM_TYPE_BF16
                                                            : QM_TYPE_F32,
                     .rank = 4,
                     .shape = { a->batch, heads, a->seq, a->head_dim },
                     .stride = { t->batch_stride, t->head_stride, t->seq_stride,
                                 1 },
                     .data = t->data };
}

static QmStatus
launch (const QmAttention *given,
        const Buffers *b,
        bool backward,
        QmError *error)
{
  QmAttention a = *given;
  QmAttentionTensor q, k, v, o, dout, dq, dk, dv;
  QmStatus status;

  a.rng = b->rng;
  a.table = b->apart ? NULL : b->table;
  host_tensor (&a, b->layout, 0, 3, b->qkv, &q);
  host_tensor (&a, b->layout, 1, 3, b->qkv, &k);
  host_tensor (&a, b->layout, 2, 3, b->qkv, &v);
  host_tensor (&a, b->layout, 0, 3, b->dqkv, &dq);
  host_tensor (&a, b->layout, 1, 3, b->dqkv, &dk);
  host_tensor (&a, b->layout, 2, 3, b->dqkv, &dv);
  host_tensor (&a, b->layout, 0, 1, b->o, &o);
  host_tensor (&a, b->layout, 0, 1, b->dout, &dout);
  if (!backward)
    return qm_attention_forward (&a, &q, &k, &v, &o, b->lse, b->workspace, NULL,
                                 error);
  status = qm_attention_backward (&a, &q, &k, &v, &o, b->lse, &dout, &dq, &dk,
                                  &dv, b->workspace, NULL, error);
  if (status != QM_OK || !b->apart)
    return status;
  const QmTensor heads[2] = { heads_of (&a, &dq, a.heads),
                              heads_of (&a, &dk, a.groups) };

  return qm_cuda_turn_back (NULL, &heads[0], &heads[1], b->table, a.rotary,
                            error);
}

/* The same, where it has to work. */
static void
must_launch (const QmAttention *a, const Buffers *b, bool backward)
{
  QmError error = { 0 };

  if (launch (a, b, backward, &error) != QM_OK)
    {
      fprintf (stderr, "%s\n", error.message);
      exit (1);
    }
}

/* Median milliseconds. */
static float
time_launch (const QmAttention *a, const Buffers *b, bool backward, int repeat)
{
  float *times = malloc ((size_t) repeat * sizeof *times);
  cudaEvent_t start, stop;
  float median;

  if (!times)
    exit (1);
  CUDA_OK (cudaEventCreate (&start));
  CUDA_OK (cudaEventCreate (&stop));
  for (int i = 0; i < 3; i++)
    must_launch (a, b, backward);
  for (int i = 0; i < repeat; i++)
    {
      CUDA_OK (cudaEventRecord (start, NULL));
      must_launch (a, b, backward);
      CUDA_OK (cudaEventRecord (stop, NULL));
      CUDA_OK (cudaEventSynchronize (stop));
      CUDA_OK (cudaEventElapsedTime (&times[i], start, stop));
    }
  qsort (times, (size_t) repeat, sizeof *times, by_value);
  median = times[repeat / 2];
  CUDA_OK (cudaEventDestroy (start));
  CUDA_OK (cudaEventDestroy (stop));
  free (times);
  return median;
}

static double
difference (QmAttentionType type, const void *x, const void *y, size_t bytes)
{
  const size_t count = bytes / type_size (type);
  double d = 0, norm = 0;

  /* 4 in 64 elements are enough */
  for (size_t i = 0; i < count; i += i % 64 == 3 ? 61 : 1)
    {
      double a = load_element (type, x, i), b = load_element (type, y, i);

      /* as it was before: room for heads of keys that are not there */
      if (isnan (a) && isnan (b))
        continue;
      d += (a - b) * (a - b);
      norm += b * b;
    }
  return sqrt (d / norm);
}

/* Relative difference of o and dqkv between the paths. */
static void
check (QmAttention a, const Buffers *b)
{
  char *mine[2], *other[2];

  for (int i = 0; i < 2; i++)
    {
      char **to = i ? other : mine;

      to[0] = malloc (b->o_bytes);
      to[1] = malloc (b->qkv_bytes);
      if (!to[0] || !to[1])
        exit (1);
      a.path = i ? QM_ATTENTION_PATH_PORTABLE : QM_ATTENTION_PATH_AUTO;
      CUDA_OK (cudaMemset (b->o, 0xff, b->o_bytes));
      CUDA_OK (cudaMemset (b->dqkv, 0xff, b->qkv_bytes));
      must_launch (&a, b, false);
      must_launch (&a, b, true);
      CUDA_OK (cudaMemcpy (to[0], b->o, b->o_bytes, cudaMemcpyDeviceToHost));
      CUDA_OK (
          cudaMemcpy (to[1], b->dqkv, b->qkv_bytes, cudaMemcpyDeviceToHost));
    }
  printf ("    paths differ by: o %.1e dqkv %.1e\n",
          difference (a.type, mine[0], other[0], b->o_bytes),
          difference (a.type, mine[1], other[1], b->qkv_bytes));
  for (int i = 0; i < 2; i++)
    {
      free (mine[i]);
      free (other[i]);
    }
}

static void
run_shape (const Shape *s, const Options *o, QmAttentionPath path)
{
  QmAttention a = { .type = s->fp32 ? QM_ATTENTION_TF32 : o->type,
                    .path = path,
                    .batch = s->batch,
                    .heads = s->heads,
                    .groups = s->groups > 0 ? s->groups : s->heads,
                    .window = s->window,
                    .seq = s->seq,
                    .head_dim = s->head_dim,
                    .scale = 1.0f / sqrtf ((float) s->head_dim),
                    .causal = s->causal,
                    .deterministic = o->deterministic,
                    .dropout = o->dropout,
                    .rotary =
                        o->turned > 0 ? s->head_dim / o->turned / 2 * 2 : 0 };
  Buffers b;
  double share = s->window > 0 ? (double) s->window / s->seq : 1;
  double flops = 4.0 * s->batch * s->heads * s->seq * s->seq * s->head_dim
                 * share * (1 - share / 2) * (s->causal ? 1 : 2);
  float forward, backward = INFINITY;

  allocate (&a, o, &b);
  forward = time_launch (&a, &b, false, o->repeat);
  if (!o->forward_only)
    backward = time_launch (&a, &b, true, o->repeat);
  printf ("%s%3dx%2d/%-2dx%4dx%3d/%-4d %-4s %-7s %-8s  fwd %7.3f ms %4.0f TF  "
          "bwd %7.3f "
          "ms %4.0f TF\n",
          o->label, s->batch, s->heads, a.groups, s->seq, s->head_dim,
          s->window, type_name (a.type), s->causal ? "causal" : "full",
          path_name (a.path), forward, flops / forward * 1e-9, backward,
          2.5 * flops / backward * 1e-9);
  fflush (stdout);
  if (o->check)
    check (a, &b);
  release (&b);
}

/* TFLOP/s of a product of square matrices by our own portable kernel, the
 * median of `repeat`. */
static double
product_rate (QmAttentionType type, int repeat)
{
  const int64_t n = 8192;
  const size_t bytes = (size_t) (n * n) * type_size (type);
  const QmType types[] = { QM_TYPE_F16, QM_TYPE_BF16, QM_TYPE_F32 };
  void *a = random_device (type, bytes, 1, 3);
  void *b = random_device (type, bytes, 1, 4), *d = NULL;
  float *times = malloc ((size_t) repeat * sizeof *times);
  struct cudaDeviceProp properties;
  cudaEvent_t start, stop;
  QmCudaProduct product = { .a = { a, types[type], false, n, n, n, 0 },
                            .b = { b, types[type], true, n, n, n, 0 },
                            .batch = 1,
                            .alpha = 1,
                            .tf32 = true };
  QmError error = { 0 };
  double rate;

  if (!times)
    exit (1);
  CUDA_OK (cudaMalloc (&d, bytes));
  product.d = (QmCudaMatrix){ d, types[type], false, n, n, n, 0 };
  CUDA_OK (cudaGetDeviceProperties (&properties, 0));
  CUDA_OK (cudaEventCreate (&start));
  CUDA_OK (cudaEventCreate (&stop));
  for (int i = -2; i < repeat; i++)
    {
      CUDA_OK (cudaEventRecord (start, NULL));
      if (qm_cuda_portable_product (properties.multiProcessorCount, NULL,
                                    &product, &error)
          != QM_OK)
        {
          fprintf (stderr, "%s\n", error.message);
          exit (1);
        }
      CUDA_OK (cudaEventRecord (stop, NULL));
      CUDA_OK (cudaEventSynchronize (stop));
      if (i >= 0)
        CUDA_OK (cudaEventElapsedTime (&times[i], start, stop));
    }
  qsort (times, (size_t) repeat, sizeof *times, by_value);
  rate = 2e-9 * (double) (n * n * n) / times[repeat / 2];
  CUDA_OK (cudaEventDestroy (start));
  CUDA_OK (cudaEventDestroy (stop));
  CUDA_OK (cudaFree (a));
  CUDA_OK (cudaFree (b));
  CUDA_OK (cudaFree (d));
  free (times);
  return rate;
}

/* What a line of the table says of one path: TFLOP/s and the part of a
 * product's rate, forward and backward. */
static void
print_rates (const QmAttention *a,
             const Buffers *b,
             double flops,
             double product,
             int repeat)
{
  for (int backward = 0; backward < 2; backward++)
    {
      QmError error = { 0 };
      double rate;

      if (launch (a, b, backward, &error) != QM_OK)
        {
          cudaGetLastError ();
          printf ("      -     ");
          continue;
        }
      rate = (backward ? 2.5e-9 : 1e-9) * flops
             / time_launch (a, b, backward, repeat);
      printf ("  %4.0f (%3.0f%%)", rate, 100 * rate / product);
    }
}

static void
print_table (const Options *o, bool hopper)
{
  static const int sizes[] = { 32, 64, 80, 96, 128, 256 };
  const int tokens = 16384, seq = 2048, hidden = 2048;
  double product = product_rate (o->type, o->repeat);

  printf ("%s%s, %d tokens of sequences of %d, hidden about %d%s: TFLOP/s\n",
          o->label, type_name (o->type), tokens, seq, hidden,
          o->deterministic ? ", deterministic" : "");
  printf ("portable products: %.0f\n", product);
  printf ("head mask       portable forward, backward%s\n",
          hopper ? "  hopper forward, backward" : "");
  for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++)
    {
      QmAttention a = { .type = o->type,
                        .batch = tokens / seq,
                        .heads = hidden / sizes[i / 2],
                        .groups = hidden / sizes[i / 2],
                        .seq = seq,
                        .head_dim = sizes[i / 2],
                        .scale = 1.0f / sqrtf ((float) sizes[i / 2]),
                        .causal = i % 2,
                        .deterministic = o->deterministic,
                        .dropout = o->dropout };
      double flops = 4.0 * a.batch * a.heads * a.seq * a.seq * a.head_dim
                     / (a.causal ? 2 : 1);
      Buffers b;

      allocate (&a, o, &b);
      printf ("%4d %-6s  ", a.head_dim, a.causal ? "causal" : "none");
      a.path = QM_ATTENTION_PATH_PORTABLE;
      print_rates (&a, &b, flops, product, o->repeat);
      a.path = QM_ATTENTION_PATH_HOPPER;
      if (hopper)
        print_rates (&a, &b, flops, product, o->repeat);
      printf ("\n");
      fflush (stdout);
      release (&b);
    }
  printf ("portable products: %.0f\n", product_rate (o->type, o->repeat));
}

int
main (int argc, char **argv)
{
  Options o = {
    .repeat = 20, .type = QM_ATTENTION_BF16, .spread = 1, .label = ""
  };
  QmAttentionPath path = QM_ATTENTION_PATH_AUTO;
  bool both = false, table = false;
  int only = -1, devices = 0;

  for (int i = 1; i < argc; i++)
    if (!strcmp (argv[i], "--deterministic"))
      o.deterministic = true;
    else if (!strcmp (argv[i], "--check"))
      o.check = true;
    else if (!strcmp (argv[i], "--table"))
      table = true;
    else if (!strcmp (argv[i], "--forward"))
      o.forward_only = true;
    else if (i + 1 == argc)
      return 2;
    else if (!strcmp (argv[i], "--label"))
      o.label = argv[++i];
    else if (!strcmp (argv[i], "--path"))
      {
        i++;
        both = !strcmp (argv[i], "both");
        path = !strcmp (argv[i], "portable") ? QM_ATTENTION_PATH_PORTABLE
               : !strcmp (argv[i], "hopper") ? QM_ATTENTION_PATH_HOPPER
                                             : QM_ATTENTION_PATH_AUTO;
      }
    else if (!strcmp (argv[i], "--repeat"))
      o.repeat = atoi (argv[++i]);
    else if (!strcmp (argv[i], "--dropout"))
      o.dropout = (float) atof (argv[++i]);
    else if (!strcmp (argv[i], "--spread"))
      o.spread = (float) atof (argv[++i]);
    else if (!strcmp (argv[i], "--layout"))
      {
        i++;
        o.layout = !strcmp (argv[i], "3-heads")    ? LAYOUT_3_HEADS
                   : !strcmp (argv[i], "separate") ? LAYOUT_SEPARATE
                                                   : LAYOUT_HEADS_3;
      }
    else if (!strcmp (argv[i], "--turn"))
      {
        i++;
        o.turned = !strcmp (argv[i], "quarter") ? 4 : 1;
        o.apart = !strcmp (argv[i], "apart");
      }
    else if (!strcmp (argv[i], "--shape"))
      only = atoi (argv[++i]);
    else if (!strcmp (argv[i], "--type"))
      {
        i++;
        o.type = !strcmp (argv[i], "fp16")   ? QM_ATTENTION_FP16
                 : !strcmp (argv[i], "tf32") ? QM_ATTENTION_TF32
                                             : QM_ATTENTION_BF16;
      }
    else
      return 2;

  if (cudaGetDeviceCount (&devices) != cudaSuccess || devices == 0)
    {
      printf ("no GPU\n");
      return 77;
    }
  if (table)
    print_table (&o, path != QM_ATTENTION_PATH_PORTABLE);
  for (size_t i = 0; i < SHAPES && !table; i++)
    if (only < 0 || (size_t) only == i)
      {
        run_shape (&shapes[i], &o, path);
        if (both)
          run_shape (&shapes[i], &o, QM_ATTENTION_PATH_PORTABLE);
      }
  return 0;
}
