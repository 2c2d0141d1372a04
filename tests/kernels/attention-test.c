/* SPDX-License-Identifier: Apache-2.0 */

/* Attention on the GPU against a reference in double precision on the host,
 * over random shapes, layouts, types, dropout and rotary positions to turn
 * gradients back by.
 *
 *   attention-test [--path portable|hopper|auto] [--cases N] [--seed S]
 *                  [--small] [--dim D] [--no-dropout] [--architecture N]
 *                  [--type fp16|bf16|tf32] [--turn whole|quarter]
 *
 * Leaves with 77 ("skipped") where there is no GPU. */

#include <stdbool.h>

#include "kernels/random.h"

#include "attention-host.h"

typedef struct Case
{
  QmAttention a;
  HostLayout layout;
  uint64_t seed;
  int32_t rng[QM_RNG_SIZE];
} Case;

/* Everything of one case; arrays of doubles are [batch][heads][seq][dim]. */
typedef struct Run
{
  double *q, *k, *v, *dout, *o, *dq, *dk, *dv, *lse;
  void *host_qkv, *host_dout, *host_o, *host_dqkv;
  float *host_lse;
  void *qkv, *dout_dev, *o_dev, *dqkv, *workspace;
  float *lse_dev, *table, *table_dev;
  int32_t *rng_dev;
  size_t qkv_count, o_count;
} Run;

static void *
allocate (size_t size)
{
  void *p = malloc (size ? size : 1);

  if (!p)
    {
      fprintf (stderr, "out of memory\n");
      exit (1);
    }
  return p;
}

static void *
allocate_device (size_t size)
{
  void *p = NULL;

  CUDA_OK (cudaMalloc (&p, size));
  CUDA_OK (cudaMemset (p, 0xff, size));
  return p;
}

static size_t
element (const QmAttentionTensor *t, int b, int h, int s)
{
  return (size_t) (b * t->batch_stride + h * t->head_stride
                   + s * t->seq_stride);
}

/* Heads of q, k, v and what has their shape.  Where k and v have fewer, their
 * layout has room for as many as q has. */
static int
heads_of (const QmAttention *a, int which)
{
  return which == 0 ? a->heads : a->groups;
}

/* Fills one tensor with random elements and keeps what they became after
 * rounding to the type. */
static void
fill (const QmAttention *a,
      int heads,
      QmAttentionTensor t,
      double *kept,
      uint64_t *state)
{
  for (int b = 0; b < a->batch; b++)
    for (int h = 0; h < heads; h++)
      for (int s = 0; s < a->seq; s++)
        for (int d = 0; d < a->head_dim; d++)
          {
            size_t at = element (&t, b, h, s) + (size_t) d;

            store_element (a->type, t.data, at, random_normal (state));
            *kept++ = load_element (a->type, t.data, at);
          }
}

static double
dot (const double *x, const double *y, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

static void
add_scaled (double *x, double factor, const double *y, int n)
{
  for (int i = 0; i < n; i++)
    x[i] += factor * y[i];
}

/* Whether dropout keeps element (row, column) of a head. */
static bool
keeps (const Case *c, size_t head, int row, int column)
{
  int half;
  uint32_t block = qm_tile_block (row, column, &half);
  QmRandomBits bits =
      qm_tile_bits (c->rng, c->a.site, (int64_t) head, c->a.seq, row, block);

  return qm_random_half (bits, half) >= qm_dropout_threshold (c->a.dropout);
}

/* One row of one head, forward and backward. */
static void
reference_row (const Case *c, Run *r, size_t head, int row, double *p)
{
  const QmAttention *a = &c->a;
  const int n = a->head_dim, reach = a->window > 0 ? a->window : a->seq;
  const int first = row - reach + 1 > 0 ? row - reach + 1 : 0;
  const int columns = a->causal              ? row + 1
                      : row + reach < a->seq ? row + reach
                                             : a->seq;
  const size_t base = head * (size_t) a->seq;
  const size_t key_base =
      head / (size_t) (a->heads / a->groups) * (size_t) a->seq;
  const double *q = r->q + (base + (size_t) row) * (size_t) n;
  const double *dout = r->dout + (base + (size_t) row) * (size_t) n;
  const double *k = r->k + key_base * (size_t) n;
  const double *v = r->v + key_base * (size_t) n;
  double *o = r->o + (base + (size_t) row) * (size_t) n;
  double *dq = r->dq + (base + (size_t) row) * (size_t) n;
  double *dk = r->dk + key_base * (size_t) n;
  double *dv = r->dv + key_base * (size_t) n;
  double max = -INFINITY, sum = 0, delta;
  double keep = 1 - lrintf (a->dropout * 65536) / 65536.0;

  for (int j = first; j < columns; j++)
    {
      p[j] = a->scale * dot (q, k + (size_t) j * (size_t) n, n);
      max = p[j] > max ? p[j] : max;
    }
  for (int j = first; j < columns; j++)
    sum += p[j] = exp (p[j] - max);
  r->lse[base + (size_t) row] = max + log (sum);
  memset (o, 0, (size_t) n * sizeof *o);
  memset (dq, 0, (size_t) n * sizeof *dq);
  for (int j = first; j < columns; j++)
    {
      bool kept = a->dropout == 0 || keeps (c, head, row, j);

      p[j] /= sum;
      /* the sign bit tells the second pass what was dropped */
      if (kept)
        {
          add_scaled (o, p[j] / keep, v + (size_t) j * (size_t) n, n);
          add_scaled (dv + (size_t) j * (size_t) n, p[j] / keep, dout, n);
        }
      else
        p[j] = -p[j];
    }
  delta = dot (o, dout, n);
  for (int j = first; j < columns; j++)
    {
      double dp = signbit (p[j])
                      ? 0
                      : dot (dout, v + (size_t) j * (size_t) n, n) / keep;
      double ds = fabs (p[j]) * (dp - delta) * a->scale;

      add_scaled (dq, ds, k + (size_t) j * (size_t) n, n);
      add_scaled (dk + (size_t) j * (size_t) n, ds, q, n);
    }
}

/* Turns heads back by the table, which is of angles of any size. */
static void
turn_back (const QmAttention *a, int heads, const float *table, double *x)
{
  const int half = a->rotary / 2;

  for (int row = 0; row < a->batch * heads * a->seq; row++, x += a->head_dim)
    for (int j = 0; j < half; j++)
      {
        const float *at = table + (size_t) (row % a->seq) * 2 * (size_t) half;
        double first = x[j], second = x[j + half];

        x[j] = first * at[j] + second * at[half + j];
        x[j + half] = second * at[j] - first * at[half + j];
      }
}

static void
reference (const Case *c, Run *r)
{
  const size_t heads = (size_t) c->a.batch * (size_t) c->a.heads;
  double *p = allocate ((size_t) c->a.seq * sizeof *p);

  for (size_t head = 0; head < heads; head++)
    for (int row = 0; row < c->a.seq; row++)
      reference_row (c, r, head, row, p);
  free (p);
  turn_back (&c->a, c->a.heads, r->table, r->dq);
  turn_back (&c->a, c->a.groups, r->table, r->dk);
}

/* Against the inputs' own size, 1, where rows are so short that dq and dk are
 * differences which cancel: with one column both are zero. */
static double
relative_error (const QmAttention *a,
                int heads,
                QmAttentionTensor t,
                const double *want)
{
  const bool few = a->seq < 16 || (a->window > 0 && a->window < 16);
  double difference = 0, norm = 0;
  double least = few ? (double) a->batch * heads * a->seq * a->head_dim : 0;

  for (int b = 0; b < a->batch; b++)
    for (int h = 0; h < heads; h++)
      for (int s = 0; s < a->seq; s++)
        for (int d = 0; d < a->head_dim; d++)
          {
            double x = load_element (a->type, t.data,
                                     element (&t, b, h, s) + (size_t) d);

            difference += (x - *want) * (x - *want);
            norm += *want * *want;
            want++;
          }
  return sqrt (difference / (norm > least ? norm : least));
}

/* Whether the elements past the head size kept the bytes they had. */
static bool
gaps_untouched (const QmAttention *a, int heads, QmAttentionTensor t)
{
  const size_t size = type_size (a->type);

  for (int b = 0; b < a->batch; b++)
    for (int h = 0; h < heads; h++)
      for (int s = 0; s < a->seq; s++)
        {
          const unsigned char *p =
              (const unsigned char *) t.data
              + (element (&t, b, h, s) + (size_t) a->head_dim) * size;

          for (size_t i = 0; i < 8 * size; i++)
            if (p[i] != 0xff)
              return false;
        }
  return true;
}

/* Cosines, then sines, a row. */
static void
make_table (const QmAttention *a, Run *r, uint64_t *state)
{
  const size_t half = (size_t) a->rotary / 2, size = (size_t) a->seq * 2 * half;

  r->table = allocate (size * sizeof *r->table);
  for (size_t i = 0; i < (size_t) a->seq * half; i++)
    {
      float angle = 3 * random_normal (state);
      size_t at = i / (half > 0 ? half : 1) * 2 * half + i % half;

      r->table[at] = cosf (angle);
      r->table[at + half] = sinf (angle);
    }
  if (half == 0)
    return;
  r->table_dev = allocate_device (size * sizeof *r->table);
  CUDA_OK (cudaMemcpy (r->table_dev, r->table, size * sizeof *r->table,
                       cudaMemcpyHostToDevice));
}

static void
prepare (const Case *c, Run *r)
{
  const QmAttention *a = &c->a;
  const size_t size = type_size (a->type);
  const size_t rows = (size_t) a->batch * (size_t) a->heads * (size_t) a->seq;
  const size_t count = rows * (size_t) a->head_dim;
  double **arrays[] = { &r->q, &r->k,  &r->v,  &r->dout,
                        &r->o, &r->dq, &r->dk, &r->dv };
  QmAttentionTensor t;
  uint64_t state = c->seed;

  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    *arrays[i] =
        memset (allocate (count * sizeof (double)), 0, count * sizeof (double));
  r->lse = allocate (rows * sizeof (double));
  r->qkv_count = host_tensor (a, c->layout, 0, 3, NULL, &t);
  r->o_count = host_tensor (a, c->layout, 0, 1, NULL, &t);
  r->host_qkv =
      memset (allocate (r->qkv_count * size), 0xff, r->qkv_count * size);
  r->host_dout = memset (allocate (r->o_count * size), 0xff, r->o_count * size);
  r->host_o = allocate (r->o_count * size);
  r->host_dqkv = allocate (r->qkv_count * size);
  r->host_lse = allocate (rows * sizeof (float));
  for (int i = 0; i < 3; i++)
    {
      host_tensor (a, c->layout, i, 3, r->host_qkv, &t);
      fill (a, heads_of (a, i), t, *arrays[i], &state);
    }
  host_tensor (a, c->layout, 0, 1, r->host_dout, &t);
  fill (a, a->heads, t, r->dout, &state);

  r->qkv = allocate_device (r->qkv_count * size);
  r->dout_dev = allocate_device (r->o_count * size);
  r->o_dev = allocate_device (r->o_count * size);
  r->dqkv = allocate_device (r->qkv_count * size);
  r->lse_dev = allocate_device (rows * sizeof (float));
  r->rng_dev = allocate_device (sizeof c->rng);
  size_t forward = qm_attention_forward_workspace (a);
  size_t backward = qm_attention_backward_workspace (a);

  r->workspace = allocate_device (forward > backward ? forward : backward);
  CUDA_OK (cudaMemcpy (r->qkv, r->host_qkv, r->qkv_count * size,
                       cudaMemcpyHostToDevice));
  CUDA_OK (cudaMemcpy (r->dout_dev, r->host_dout, r->o_count * size,
                       cudaMemcpyHostToDevice));
  CUDA_OK (
      cudaMemcpy (r->rng_dev, c->rng, sizeof c->rng, cudaMemcpyHostToDevice));
  make_table (a, r, &state);
}

static void
release (Run *r)
{
  void *host[] = { r->q,         r->k,        r->v,         r->dout,
                   r->o,         r->dq,       r->dk,        r->dv,
                   r->lse,       r->host_qkv, r->host_dout, r->host_o,
                   r->host_dqkv, r->host_lse, r->table };
  void *device[] = { r->qkv,     r->dout_dev, r->o_dev,     r->dqkv,
                     r->lse_dev, r->rng_dev,  r->workspace, r->table_dev };

  for (size_t i = 0; i < sizeof host / sizeof *host; i++)
    free (host[i]);
  for (size_t i = 0; i < sizeof device / sizeof *device; i++)
    CUDA_OK (cudaFree (device[i]));
}

static bool
launch (const Case *c, Run *r)
{
  QmAttention a = c->a;
  QmAttentionTensor q, k, v, o, dout, dq, dk, dv;
  QmError error = { 0 };

  a.rng = r->rng_dev;
  a.table = r->table_dev;
  host_tensor (&a, c->layout, 0, 3, r->qkv, &q);
  host_tensor (&a, c->layout, 1, 3, r->qkv, &k);
  host_tensor (&a, c->layout, 2, 3, r->qkv, &v);
  host_tensor (&a, c->layout, 0, 3, r->dqkv, &dq);
  host_tensor (&a, c->layout, 1, 3, r->dqkv, &dk);
  host_tensor (&a, c->layout, 2, 3, r->dqkv, &dv);
  host_tensor (&a, c->layout, 0, 1, r->o_dev, &o);
  host_tensor (&a, c->layout, 0, 1, r->dout_dev, &dout);
  if (qm_attention_forward (&a, &q, &k, &v, &o, r->lse_dev, r->workspace, NULL,
                            &error)
          != QM_OK
      || qm_attention_backward (&a, &q, &k, &v, &o, r->lse_dev, &dout, &dq, &dk,
                                &dv, r->workspace, NULL, &error)
             != QM_OK)
    {
      printf ("  %s\n", error.message);
      return false;
    }
  CUDA_OK (cudaDeviceSynchronize ());
  return true;
}

static void
fetch (const QmAttention *a, Run *r)
{
  const size_t size = type_size (a->type);
  const size_t rows = (size_t) a->batch * (size_t) a->heads * (size_t) a->seq;

  CUDA_OK (cudaMemcpy (r->host_o, r->o_dev, r->o_count * size,
                       cudaMemcpyDeviceToHost));
  CUDA_OK (cudaMemcpy (r->host_dqkv, r->dqkv, r->qkv_count * size,
                       cudaMemcpyDeviceToHost));
  CUDA_OK (cudaMemcpy (r->host_lse, r->lse_dev, rows * sizeof (float),
                       cudaMemcpyDeviceToHost));
}

/* Errors of o, dq, dk, dv and lse against the reference. */
static bool
compare (const Case *c, const Run *r)
{
  static const char *const names[] = { "o", "dq", "dk", "dv", "lse" };
  const QmAttention *a = &c->a;
  const double limit = a->type == QM_ATTENTION_FP16   ? 2e-3
                       : a->type == QM_ATTENTION_BF16 ? 1.2e-2
                                                      : 1.5e-3;
  const double *want[] = { r->o, r->dq, r->dk, r->dv };
  const size_t rows = (size_t) a->batch * (size_t) a->heads * (size_t) a->seq;
  double errors[5], difference = 0;
  QmAttentionTensor t;
  bool good = true;

  for (int i = 0; i < 4; i++)
    {
      if (i == 0)
        host_tensor (a, c->layout, 0, 1, r->host_o, &t);
      else
        host_tensor (a, c->layout, i - 1, 3, r->host_dqkv, &t);
      errors[i] = relative_error (a, heads_of (a, i > 1), t, want[i]);
      if (c->layout == LAYOUT_GAPS
          && !gaps_untouched (a, heads_of (a, i > 1), t))
        {
          printf ("  %s: wrote past the head size\n", names[i]);
          good = false;
        }
    }
  for (size_t i = 0; i < rows; i++)
    {
      double d = fabs (r->host_lse[i] - r->lse[i]);

      difference = d <= difference ? difference : d;
    }
  errors[4] = difference;
  for (int i = 0; i < 5; i++)
    {
      double allowed = i == 4 ? 5e-3 : limit;

      if (!(errors[i] <= allowed))
        good = false;
    }
  printf ("  o %.1e dq %.1e dk %.1e dv %.1e lse %.1e %s\n", errors[0],
          errors[1], errors[2], errors[3], errors[4], good ? "" : "WRONG");
  return good;
}

/* The same call again and again gives the same bytes. */
static bool
repeats (const Case *c, Run *r)
{
  const size_t bytes = r->qkv_count * type_size (c->a.type);
  void *again = allocate (bytes);
  bool same = true;

  for (int i = 1; i < 20 && same; i++)
    {
      CUDA_OK (cudaMemset (r->dqkv, 0xff, bytes));
      same = launch (c, r);
      CUDA_OK (cudaMemcpy (again, r->dqkv, bytes, cudaMemcpyDeviceToHost));
      same = same && memcmp (again, r->host_dqkv, bytes) == 0;
    }
  free (again);
  if (!same)
    printf ("  not deterministic\n");
  return same;
}

static bool
run_case (const Case *c)
{
  const QmAttention *a = &c->a;
  Run r = { 0 };
  bool good;

  printf (
      "%s %s b%d h%d/%d s%d d%d layout %d%s window %d%s dropout %.2f turned "
      "%d\n",
      path_name (a->path), type_name (a->type), a->batch, a->heads, a->groups,
      a->seq, a->head_dim, c->layout, a->causal ? " causal" : "", a->window,
      a->deterministic ? " deterministic" : "", a->dropout, a->rotary);
  fflush (stdout);
  prepare (c, &r);
  good = launch (c, &r);
  if (good)
    {
      fetch (a, &r);
      reference (c, &r);
      good = compare (c, &r);
      if (a->deterministic)
        good = repeats (c, &r) && good;
    }
  release (&r);
  return good;
}

/* How much of a head turns: half of the time none, else mostly what some
 * kernels do themselves. */
static int
random_rotary (uint64_t *state, int head_dim)
{
  switch (random_int (state, 8))
    {
    case 0:
    case 1:
      return head_dim;
    case 2:
      return head_dim / 8 * 2;
    case 3:
      return 2 + 2 * random_int (state, head_dim / 2);
    default:
      return 0;
    }
}

static Case
random_case (
    uint64_t *state, QmAttentionPath path, int dim, int only, bool small)
{
  static const int dims[] = { 64,  80, 96, 128, 256, 64, 128,
                              192, 40, 72, 104, 136, 32, 16 };
  static const int seqs[] = {
    1,   2,   15,  16,  17,  63,  64,  65,  127, 128,
    129, 197, 200, 255, 257, 300, 383, 385, 512, 513
  };
  static const int ratios[] = { 1, 1, 1, 1, 2, 3, 4, 8 };
  Case c = { 0 };
  int type = random_int (state, 3);
  bool few = path == QM_ATTENTION_PATH_HOPPER && dim > 0 && dim <= 32;

  if (only >= 0)
    type = only;
  c.a.type = (QmAttentionType) type;
  c.a.path = path;
  c.a.head_dim =
      dim ? dim
          : dims[random_int (state,
                             path == QM_ATTENTION_PATH_HOPPER ? 12 : 14)];
  c.a.seq = random_int (state, 2) ? seqs[random_int (state, small ? 12 : 20)]
                                  : 1 + random_int (state, small ? 150 : 600);
  c.a.batch = 1 + random_int (state, 2);
  c.a.groups = 1 + random_int (state, 3);
  c.a.heads = c.a.groups * ratios[random_int (state, 8)];
  c.a.window = random_int (state, 3) ? 0 : 1 + random_int (state, c.a.seq + 20);
  c.a.scale = 1.0f / sqrtf ((float) c.a.head_dim);
  c.a.causal = random_int (state, 2);
  c.a.deterministic = random_int (state, 2);
  c.a.dropout =
      random_int (state, 2) ? 0.1f * (float) (1 + random_int (state, 5)) : 0.0f;
  c.a.site = (uint32_t) random_bits (state);
  if (type == QM_ATTENTION_TF32
      && (path == QM_ATTENTION_PATH_HOPPER || random_int (state, 2)))
    {
      c.a.head_dim = 64;
      c.a.heads = c.a.groups;
      c.a.window = 0;
      c.a.seq = (c.a.seq - 1) % 256 + 1;
      c.a.scale = 0.125f;
      c.a.causal = false;
      c.a.dropout = 0;
    }
  /* What a kernel has for whole heads: more of them than there are blocks, too;
   * small ones it has alone. */
  if (type != QM_ATTENTION_TF32 && (few || !random_int (state, 4)))
    {
      static const int whole_dims[] = { 32, 64, 72 };

      c.a.head_dim = dim ? dim : whole_dims[random_int (state, 3)];
      few = path == QM_ATTENTION_PATH_HOPPER && c.a.head_dim <= 32;
      c.a.scale = 0.125f;
      c.a.heads = c.a.groups;
      c.a.seq = few ? 81 + random_int (state, small ? 84 : 192)
                    : 1 + random_int (state, small ? 164 : 284);
      c.a.window = 0;
      c.a.causal = false;
      c.a.dropout = 0;
      c.a.batch = small || random_int (state, 4) ? 2 : 90;
    }
  /* or for narrow windows: several stretches of a head for a block, too */
  else if (type != QM_ATTENTION_TF32 && !random_int (state, 5))
    {
      static const int windows[] = { 1, 17, 63, 64, 65, 66, 100, 129 };

      c.a.head_dim = dim ? dim : random_int (state, 4) ? 64 : 56;
      c.a.scale = 0.125f;
      c.a.heads = c.a.groups * (random_int (state, 4) ? 1 : 2);
      c.a.seq = 2 + random_int (state, small ? 200 : 1100);
      c.a.window = windows[random_int (state, 8)];
      c.a.causal = !random_int (state, 4);
      c.a.dropout = random_int (state, 6) ? 0.0f : 0.1f;
      c.a.batch = small || random_int (state, 4) ? 2 : 16;
    }
  c.layout = (HostLayout) random_int (state, LAYOUT_COUNT);
  c.a.rotary = random_rotary (state, c.a.head_dim);
  c.seed = random_bits (state);
  for (int i = 0; i < QM_RNG_SIZE; i++)
    c.rng[i] = (int32_t) random_bits (state);
  return c;
}

int
main (int argc, char **argv)
{
  QmAttentionPath path = QM_ATTENTION_PATH_AUTO;
  int cases = 100, failed = 0, devices = 0, dim = 0;
  uint64_t state = 1;
  bool small = false, no_dropout = false;
  int only = -1, architecture = 0, turned = 0; /* a share of heads */

  for (int i = 1; i < argc; i++)
    if (!strcmp (argv[i], "--small"))
      small = true;
    else if (!strcmp (argv[i], "--no-dropout"))
      no_dropout = true;
    else if (i + 1 == argc)
      return 2;
    else if (!strcmp (argv[i], "--path"))
      {
        i++;
        path = !strcmp (argv[i], "portable") ? QM_ATTENTION_PATH_PORTABLE
               : !strcmp (argv[i], "hopper") ? QM_ATTENTION_PATH_HOPPER
                                             : QM_ATTENTION_PATH_AUTO;
      }
    else if (!strcmp (argv[i], "--cases"))
      cases = atoi (argv[++i]);
    else if (!strcmp (argv[i], "--architecture"))
      architecture = atoi (argv[++i]);
    else if (!strcmp (argv[i], "--dim"))
      dim = atoi (argv[++i]);
    else if (!strcmp (argv[i], "--type"))
      {
        i++;
        only = !strcmp (argv[i], "fp16")   ? QM_ATTENTION_FP16
               : !strcmp (argv[i], "bf16") ? QM_ATTENTION_BF16
                                           : QM_ATTENTION_TF32;
      }
    else if (!strcmp (argv[i], "--turn"))
      turned = strcmp (argv[++i], "quarter") ? 1 : 4;
    else if (!strcmp (argv[i], "--seed"))
      state = strtoull (argv[++i], NULL, 0);
    else
      return 2;

  if (cudaGetDeviceCount (&devices) != cudaSuccess || devices == 0)
    {
      printf ("no GPU\n");
      return 77;
    }
  for (int i = 0; i < cases; i++)
    {
      Case c = random_case (&state, path, dim, only, small);

      c.a.architecture = architecture;
      if (no_dropout)
        c.a.dropout = 0;
      if (turned > 0)
        c.a.rotary = c.a.head_dim / turned / 2 * 2;
      if (!run_case (&c))
        failed++;
    }
  printf ("%d passed, %d failed\n", cases - failed, failed);
  return failed > 0 || cases <= 0;
}
