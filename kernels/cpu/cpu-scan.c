/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* Beyond this, softplus is its argument to the last bit of a float. */
#define LARGE 20

/* A scan, or its gradient; slots as the gradient has them, from u on. */
typedef struct Scan
{
  const QmOpCall *call;
  const QmTensor *in; /* u, dt, a, b, c, skip, [bias], [z] */
  const QmTensor *states;
  int64_t width, chunk, chunks, channels, n;
  double *partial; /* sums of every sequence: da, dskip, dbias by channel */
} Scan;

enum
{
  U,
  DT,
  A,
  B,
  C,
  SKIP,
  BIAS,
  Z
};

/* One channel at one row. */
typedef struct Step
{
  float u, raw, s, skip, z, gate;
  bool gated;
} Step;

static Scan
begin_scan (const QmOpCall *call, const QmTensor *in, const QmTensor *states)
{
  return (Scan){ .call = call,
                 .in = in,
                 .states = states,
                 .width = call->attributes.width,
                 .chunk = call->attributes.chunk,
                 .chunks = states->shape[1],
                 .channels = in[A].shape[0],
                 .n = in[A].shape[1] };
}

static float
element (const QmTensor *tensor, int64_t row, int64_t column)
{
  float value = 0;

  if (qm_tensor_present (tensor))
    qm_cpu_load (tensor,
                 tensor->rank == 1 ? column : row * tensor->stride[0] + column,
                 1, &value);
  return value;
}

static Step
load_step (const Scan *scan, int64_t row, int64_t channel)
{
  Step step = { .u = element (&scan->in[U], row, channel),
                .raw = element (&scan->in[DT], row, channel)
                       + element (&scan->in[BIAS], 0, channel),
                .skip = element (&scan->in[SKIP], 0, channel),
                .z = element (&scan->in[Z], row, channel),
                .gate = 1,
                .gated = qm_tensor_present (&scan->in[Z]) };

  step.s = step.raw > LARGE ? step.raw : log1pf (expf (step.raw));
  if (step.gated)
    step.gate = qm_cpu_function (QM_FUNCTION_SILU, step.z);
  return step;
}

/* The state of a channel where a chunk begins. */
static float *
state_at (const Scan *scan, int64_t sequence, int64_t chunk, int64_t channel)
{
  return (float *) scan->states->data
         + (sequence * scan->chunks + chunk) * scan->n * scan->channels
         + channel;
}

/* a[n] = -exp(a_log[n]) of a channel. */
static void
load_rates (const Scan *scan, int64_t channel, float *a)
{
  qm_cpu_load (&scan->in[A], channel * scan->n, scan->n, a);
  for (int64_t n = 0; n < scan->n; n++)
    a[n] = -expf (a[n]);
}

/* h goes one row further. */
static void
advance (const Scan *scan,
         const Step *step,
         const float *a,
         const float *b,
         const float *before,
         float *h)
{
  for (int64_t n = 0; n < scan->n; n++)
    h[n] = expf (step->s * a[n]) * before[n] + step->s * b[n] * step->u;
}

/* y without the gate. */
static float
read_out (const Scan *scan, const Step *step, const float *c, const float *h)
{
  float sum = step->skip * step->u;

  for (int64_t n = 0; n < scan->n; n++)
    sum += c[n] * h[n];
  return sum;
}

static void
scan_channel (const Scan *scan, int64_t sequence, int64_t channel, float *work)
{
  const QmTensor *y = &scan->call->outputs[0];
  int64_t size = scan->n;
  float *a = work, *h = a + size, *b = h + size, *c = b + size;

  load_rates (scan, channel, a);
  memset (h, 0, (size_t) size * sizeof *h);
  for (int64_t t = 0; t < scan->width; t++)
    {
      int64_t row = sequence * scan->width + t;
      Step step = load_step (scan, row, channel);
      float value;

      if (t % scan->chunk == 0)
        for (int64_t n = 0; n < size; n++)
          state_at (scan, sequence, t / scan->chunk,
                    channel)[n * scan->channels] = h[n];
      qm_cpu_load (&scan->in[B], row * scan->in[B].stride[0], size, b);
      qm_cpu_load (&scan->in[C], row * scan->in[C].stride[0], size, c);
      advance (scan, &step, a, b, h, h);
      value = read_out (scan, &step, c, h) * step.gate;
      qm_cpu_store (y, row * y->stride[0] + channel, 1, &value);
    }
}

static bool
scan_channels (void *data, int64_t first, int64_t last)
{
  const Scan *scan = data;
  float *work = qm_cpu_floats (4 * scan->n);

  for (int64_t i = first; work != NULL && i < last; i++)
    scan_channel (scan, i / scan->channels, i % scan->channels, work);
  free (work);
  return work != NULL;
}

bool
qm_cpu_selective_scan (QmThreads *threads, const QmOpCall *call)
{
  Scan scan = begin_scan (call, call->inputs, &call->outputs[1]);

  return qm_cpu_parallel (threads, scan.states->shape[0] * scan.channels,
                          8 * qm_op_flops (call), scan_channels, &scan);
}

/* What the gradient of one sequence works with. */
typedef struct Work
{
  float *a, *carry, *h; /* h: of a chunk, the state before it first */
  float *b, *c;         /* of the whole sequence, [width, n] */
  float *db, *dc;
  double *sums; /* of the sequence, see Scan */
} Work;

static void
recompute_chunk (const Scan *scan,
                 int64_t sequence,
                 int64_t chunk,
                 int64_t rows,
                 int64_t channel,
                 const Work *work)
{
  const float *state = state_at (scan, sequence, chunk, channel);
  int64_t first = chunk * scan->chunk;

  for (int64_t n = 0; n < scan->n; n++)
    work->h[n] = state[n * scan->channels];
  for (int64_t i = 0; i < rows; i++)
    {
      Step step = load_step (scan, sequence * scan->width + first + i, channel);

      advance (scan, &step, work->a, work->b + (first + i) * scan->n,
               work->h + i * scan->n, work->h + (i + 1) * scan->n);
    }
}

/* The gradient of row `t`, of which h is the state after and `before` the
 * state before; carry is the gradient of h that later rows left, and becomes
 * that of `before`. */
static void
step_back (const Scan *scan,
           int64_t sequence,
           int64_t t,
           int64_t channel,
           const float *before,
           const float *h,
           const Work *work)
{
  const QmTensor *out = scan->call->outputs;
  int64_t row = sequence * scan->width + t, size = scan->n;
  Step step = load_step (scan, row, channel);
  float dy = element (&scan->call->inputs[0], row, channel);
  float dsum = dy * step.gate, ds = 0, du = dsum * step.skip;
  double *sums = work->sums + channel * (size + 2);

  if (step.gated)
    {
      float dz = dy * read_out (scan, &step, work->c + t * size, h)
                 * qm_cpu_function_slope (QM_FUNCTION_SILU, step.z);

      qm_cpu_store (&out[7], row * out[7].stride[0] + channel, 1, &dz);
    }
  for (int64_t n = 0; n < size; n++)
    {
      float b = work->b[t * size + n], decay = expf (step.s * work->a[n]);
      float dh = dsum * work->c[t * size + n] + work->carry[n];

      work->dc[t * size + n] += dsum * h[n];
      work->db[t * size + n] += dh * step.s * step.u;
      du += dh * step.s * b;
      ds += dh * (work->a[n] * decay * before[n] + b * step.u);
      sums[n] += dh * step.s * decay * before[n] * work->a[n];
      work->carry[n] = dh * decay;
    }
  if (step.raw <= LARGE)
    ds *= 1 / (1 + expf (-step.raw));
  sums[size] += dsum * step.u;
  sums[size + 1] += ds;
  qm_cpu_store (&out[0], row * out[0].stride[0] + channel, 1, &du);
  qm_cpu_store (&out[1], row * out[1].stride[0] + channel, 1, &ds);
}

static void
scan_channel_back (const Scan *scan,
                   int64_t sequence,
                   int64_t channel,
                   const Work *work)
{
  load_rates (scan, channel, work->a);
  memset (work->carry, 0, (size_t) scan->n * sizeof *work->carry);
  for (int64_t chunk = scan->chunks; chunk-- > 0;)
    {
      int64_t first = chunk * scan->chunk;
      int64_t rows =
          scan->width - first < scan->chunk ? scan->width - first : scan->chunk;

      recompute_chunk (scan, sequence, chunk, rows, channel, work);
      for (int64_t i = rows; i-- > 0;)
        step_back (scan, sequence, first + i, channel, work->h + i * scan->n,
                   work->h + (i + 1) * scan->n, work);
    }
}

static void
scan_sequence_back (const Scan *scan, int64_t sequence, const Work *work)
{
  int64_t size = scan->n;

  for (int64_t t = 0; t < scan->width; t++)
    {
      int64_t row = sequence * scan->width + t;

      qm_cpu_load (&scan->in[B], row * scan->in[B].stride[0], size,
                   work->b + t * size);
      qm_cpu_load (&scan->in[C], row * scan->in[C].stride[0], size,
                   work->c + t * size);
    }
  memset (work->db, 0, (size_t) (2 * scan->width * size) * sizeof *work->db);
  for (int64_t channel = 0; channel < scan->channels; channel++)
    scan_channel_back (scan, sequence, channel, work);
  for (int64_t t = 0; t < scan->width; t++)
    for (int i = 0; i < 2; i++)
      {
        const QmTensor *out = &scan->call->outputs[3 + i];

        qm_cpu_store (out, (sequence * scan->width + t) * out->stride[0], size,
                      (i == 0 ? work->db : work->dc) + t * size);
      }
}

static bool
scan_sequences_back (void *data, int64_t first, int64_t last)
{
  const Scan *scan = data;
  int64_t rows = scan->width * scan->n;
  float *memory = qm_cpu_floats (4 * rows + (scan->chunk + 3) * scan->n);
  Work work = { .b = memory };

  if (memory == NULL)
    return false;
  work.c = work.b + rows;
  work.db = work.c + rows;
  work.dc = work.db + rows;
  work.a = work.dc + rows;
  work.carry = work.a + scan->n;
  work.h = work.carry + scan->n;
  for (int64_t i = first; i < last; i++)
    {
      work.sums = scan->partial + i * scan->channels * (scan->n + 2);
      scan_sequence_back (scan, i, &work);
    }
  free (memory);
  return true;
}

/* Adds what the sequences have summed to the gradients of a, skip and bias. */
static void
add_sums (const Scan *scan)
{
  const QmTensor *out = scan->call->outputs;
  int64_t size = scan->n, each = size + 2;

  for (int64_t i = 0; i < scan->states->shape[0]; i++)
    for (int64_t j = 0; j < scan->channels; j++)
      {
        const double *sums = scan->partial + (i * scan->channels + j) * each;

        for (int64_t n = 0; n < size; n++)
          ((float *) out[2].data)[j * size + n] += (float) sums[n];
        ((float *) out[5].data)[j] += (float) sums[size];
        if (qm_tensor_present (&out[6]))
          ((float *) out[6].data)[j] += (float) sums[size + 1];
      }
}

bool
qm_cpu_selective_scan_backward (QmThreads *threads, const QmOpCall *call)
{
  Scan scan = begin_scan (call, call->inputs + 1, &call->inputs[9]);
  int64_t sequences = scan.states->shape[0];
  bool ok;

  scan.partial = calloc ((size_t) (sequences * scan.channels),
                         (size_t) (scan.n + 2) * sizeof *scan.partial);
  ok = scan.partial != NULL
       && qm_cpu_parallel (threads, sequences, 8 * qm_op_flops (call),
                           scan_sequences_back, &scan);
  if (ok)
    add_sums (&scan);
  free (scan.partial);
  return ok;
}
