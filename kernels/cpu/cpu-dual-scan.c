/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <string.h>

/* Beyond this, softplus is its argument to the last bit of a float. */
#define LARGE 20

/* Sums of every sequence and head, in this order. */
enum
{
  RATE,
  THROUGH, /* of skip */
  SHIFT,   /* of bias */
  N_SUMS
};

/* A dual scan, or its gradient; slots as the gradient has them, from x on. */
typedef struct Dual
{
  const QmOpCall *call;
  const QmTensor *in; /* x, dt, a, b, c, skip, [bias] */
  int64_t width, sequences, heads, groups, n, p;
  double *sums;
} Dual;

enum
{
  X,
  DT,
  A,
  B,
  C,
  SKIP,
  BIAS
};

/* One head at one row. */
typedef struct Step
{
  float raw, s, decay;
  bool limited; /* s is not what softplus gave */
} Step;

static Dual
begin_dual (const QmOpCall *call, const QmTensor *in)
{
  int64_t heads = in[A].shape[0], groups = call->attributes.count;
  int64_t width = call->attributes.width;

  return (Dual){ .call = call,
                 .in = in,
                 .width = width,
                 .sequences = in[X].shape[0] / width,
                 .heads = heads,
                 .groups = groups,
                 .n = in[B].shape[1] / groups,
                 .p = in[X].shape[1] / heads };
}

static float
number_at (const QmTensor *tensor, int64_t index)
{
  float value = 0;

  if (qm_tensor_present (tensor))
    qm_cpu_load (tensor, index, 1, &value);
  return value;
}

static Step
make_step (const Dual *dual, int64_t row, int64_t head, float rate)
{
  const QmAttributes *attributes = &dual->call->attributes;
  float least = (float) attributes->value, most = (float) attributes->cap;
  Step step = { .raw = number_at (&dual->in[DT],
                                  row * dual->in[DT].stride[0] + head)
                       + number_at (&dual->in[BIAS], head) };
  float s = step.raw > LARGE ? step.raw : log1pf (expf (step.raw));

  /* What is no number stays none. */
  step.s = s < least ? least : s;
  if (attributes->cap > 0 && step.s > most)
    step.s = most;
  step.limited = s < least || (attributes->cap > 0 && s > most);
  step.decay = expf (step.s * rate);
  return step;
}

/* Columns of a row that belong to a head, or to its group. */
static void
load_part (const QmTensor *tensor,
           int64_t row,
           int64_t part,
           int64_t columns,
           float *values)
{
  qm_cpu_load (tensor, row * tensor->stride[0] + part * columns, columns,
               values);
}

/* The state [n, p] goes one row further; `after` may be `before`. */
static void
go_further (const Dual *dual,
            const Step *step,
            const float *b,
            const float *x,
            const float *before,
            float *after)
{
  for (int64_t n = 0; n < dual->n; n++)
    for (int64_t p = 0; p < dual->p; p++)
      after[n * dual->p + p] =
          step->decay * before[n * dual->p + p] + step->s * b[n] * x[p];
}

static void
scan_head (const Dual *dual, int64_t sequence, int64_t head, float *work)
{
  const QmTensor *y = &dual->call->outputs[0];
  int64_t group = head / (dual->heads / dual->groups);
  float rate = -expf (number_at (&dual->in[A], head));
  float skip = number_at (&dual->in[SKIP], head);
  float *state = work, *b = state + dual->n * dual->p, *c = b + dual->n;
  float *x = c + dual->n, *sum = x + dual->p;

  memset (state, 0, (size_t) (dual->n * dual->p) * sizeof *state);
  for (int64_t t = 0; t < dual->width; t++)
    {
      int64_t row = sequence * dual->width + t;
      Step step = make_step (dual, row, head, rate);

      load_part (&dual->in[X], row, head, dual->p, x);
      load_part (&dual->in[B], row, group, dual->n, b);
      load_part (&dual->in[C], row, group, dual->n, c);
      go_further (dual, &step, b, x, state, state);
      for (int64_t p = 0; p < dual->p; p++)
        sum[p] = skip * x[p];
      for (int64_t n = 0; n < dual->n; n++)
        for (int64_t p = 0; p < dual->p; p++)
          sum[p] += c[n] * state[n * dual->p + p];
      qm_cpu_store (y, row * y->stride[0] + head * dual->p, dual->p, sum);
    }
}

static bool
scan_heads (void *data, int64_t first, int64_t last)
{
  const Dual *dual = data;
  float *work = qm_cpu_floats (dual->n * dual->p + 2 * dual->n + 2 * dual->p);

  for (int64_t i = first; work != NULL && i < last; i++)
    scan_head (dual, i / dual->heads, i % dual->heads, work);
  free (work);
  return work != NULL;
}

bool
qm_cpu_dual_scan (QmThreads *threads, const QmOpCall *call)
{
  Dual dual = begin_dual (call, call->inputs);

  return qm_cpu_parallel (threads, dual.sequences * dual.heads,
                          qm_op_flops (call), scan_heads, &dual);
}

/* What the gradient of a group of heads of one sequence works with. */
typedef struct DualWork
{
  float *b, *c, *db, *dc; /* [width, n] */
  float *kept;            /* states before every QM_SCAN_CHUNK rows */
  float *states;          /* those of a chunk, the one before it first */
  float *carry;           /* gradient of the state behind a row */
  float *x, *dx, *dy;
} DualWork;

static int64_t
chunk_rows (const Dual *dual, int64_t chunk)
{
  int64_t left = dual->width - chunk * QM_SCAN_CHUNK;

  return left < QM_SCAN_CHUNK ? left : QM_SCAN_CHUNK;
}

/* Makes the states of a chunk from the one before it. */
static void
make_states (const Dual *dual,
             int64_t sequence,
             int64_t chunk,
             int64_t head,
             float rate,
             const DualWork *work)
{
  int64_t size = dual->n * dual->p, first = chunk * QM_SCAN_CHUNK;

  memcpy (work->states, work->kept + chunk * size,
          (size_t) size * sizeof *work->states);
  for (int64_t i = 0; i < chunk_rows (dual, chunk); i++)
    {
      int64_t row = sequence * dual->width + first + i;
      Step step = make_step (dual, row, head, rate);

      load_part (&dual->in[X], row, head, dual->p, work->x);
      go_further (dual, &step, work->b + (first + i) * dual->n, work->x,
                  work->states + i * size, work->states + (i + 1) * size);
    }
}

/* Sums that row t adds to the gradients of its step and of the decay. */
typedef struct StepSums
{
  double step, decay;
} StepSums;

/* The gradients of the states of row t and of what made them. */
static StepSums
leave_states (const Dual *dual,
              const Step *step,
              int64_t t,
              const float *before,
              const DualWork *work)
{
  const float *after = before + dual->n * dual->p;
  StepSums sums = { 0 };

  for (int64_t n = 0; n < dual->n; n++)
    {
      float b = work->b[t * dual->n + n], c = work->c[t * dual->n + n];
      double db = 0, dc = 0;

      for (int64_t p = 0; p < dual->p; p++)
        {
          int64_t i = n * dual->p + p;
          float dstate = work->carry[i] + c * work->dy[p];

          dc += work->dy[p] * after[i];
          db += dstate * work->x[p];
          work->dx[p] += step->s * dstate * b;
          sums.decay += dstate * before[i];
          work->carry[i] = dstate * step->decay;
        }
      sums.step += db * b;
      work->db[t * dual->n + n] += (float) db * step->s;
      work->dc[t * dual->n + n] += (float) dc;
    }
  return sums;
}

/* Row t of a head; `before` is the state before it, and the one behind follows
 * it. */
static void
step_back_dual (const Dual *dual,
                int64_t sequence,
                int64_t t,
                int64_t head,
                float rate,
                const float *before,
                const DualWork *work)
{
  const QmTensor *out = dual->call->outputs;
  int64_t row = sequence * dual->width + t;
  Step step = make_step (dual, row, head, rate);
  float skip = number_at (&dual->in[SKIP], head), ds;
  double *sums = dual->sums + (sequence * dual->heads + head) * N_SUMS;
  StepSums parts;

  load_part (&dual->in[X], row, head, dual->p, work->x);
  load_part (&dual->call->inputs[0], row, head, dual->p, work->dy);
  for (int64_t p = 0; p < dual->p; p++)
    {
      work->dx[p] = skip * work->dy[p];
      sums[THROUGH] += work->dy[p] * work->x[p];
    }
  parts = leave_states (dual, &step, t, before, work);
  sums[RATE] += parts.decay * step.decay * step.s * rate;
  ds = (float) (parts.step + parts.decay * step.decay * rate);
  if (step.limited)
    ds = 0;
  else if (step.raw <= LARGE)
    ds *= 1 / (1 + expf (-step.raw));
  sums[SHIFT] += ds;
  qm_cpu_store (&out[X], row * out[X].stride[0] + head * dual->p, dual->p,
                work->dx);
  qm_cpu_store (&out[DT], row * out[DT].stride[0] + head, 1, &ds);
}

static void
scan_head_back (const Dual *dual,
                int64_t sequence,
                int64_t head,
                const DualWork *work)
{
  int64_t size = dual->n * dual->p;
  int64_t chunks = (dual->width + QM_SCAN_CHUNK - 1) / QM_SCAN_CHUNK;
  float rate = -expf (number_at (&dual->in[A], head));

  memset (work->kept, 0, (size_t) size * sizeof *work->kept);
  memset (work->carry, 0, (size_t) size * sizeof *work->carry);
  for (int64_t chunk = 0; chunk + 1 < chunks; chunk++)
    {
      make_states (dual, sequence, chunk, head, rate, work);
      memcpy (work->kept + (chunk + 1) * size,
              work->states + QM_SCAN_CHUNK * size,
              (size_t) size * sizeof *work->kept);
    }
  for (int64_t chunk = chunks; chunk-- > 0;)
    {
      make_states (dual, sequence, chunk, head, rate, work);
      for (int64_t i = chunk_rows (dual, chunk); i-- > 0;)
        step_back_dual (dual, sequence, chunk * QM_SCAN_CHUNK + i, head, rate,
                        work->states + i * size, work);
    }
}

static void
scan_group_back (const Dual *dual,
                 int64_t sequence,
                 int64_t group,
                 const DualWork *work)
{
  int64_t each = dual->heads / dual->groups, size = dual->n;

  for (int64_t t = 0; t < dual->width; t++)
    {
      int64_t row = sequence * dual->width + t;

      load_part (&dual->in[B], row, group, size, work->b + t * size);
      load_part (&dual->in[C], row, group, size, work->c + t * size);
    }
  memset (work->db, 0, (size_t) (2 * dual->width * size) * sizeof *work->db);
  for (int64_t head = group * each; head < (group + 1) * each; head++)
    scan_head_back (dual, sequence, head, work);
  for (int64_t t = 0; t < dual->width; t++)
    for (int i = 0; i < 2; i++)
      {
        const QmTensor *out = &dual->call->outputs[B + i];

        qm_cpu_store (out,
                      (sequence * dual->width + t) * out->stride[0]
                          + group * size,
                      size, (i == 0 ? work->db : work->dc) + t * size);
      }
}

static bool
scan_groups_back (void *data, int64_t first, int64_t last)
{
  const Dual *dual = data;
  int64_t rows = dual->width * dual->n, size = dual->n * dual->p;
  int64_t chunks = (dual->width + QM_SCAN_CHUNK - 1) / QM_SCAN_CHUNK;
  float *memory = qm_cpu_floats (4 * rows + (chunks + QM_SCAN_CHUNK + 2) * size
                                 + 3 * dual->p);
  DualWork work = { .b = memory };

  if (memory == NULL)
    return false;
  work.c = work.b + rows;
  work.db = work.c + rows;
  work.dc = work.db + rows;
  work.kept = work.dc + rows;
  work.states = work.kept + chunks * size;
  work.carry = work.states + (QM_SCAN_CHUNK + 1) * size;
  work.x = work.carry + size;
  work.dx = work.x + dual->p;
  work.dy = work.dx + dual->p;
  for (int64_t i = first; i < last; i++)
    scan_group_back (dual, i / dual->groups, i % dual->groups, &work);
  free (memory);
  return true;
}

/* Adds what the sequences have summed to the gradients of a, skip and bias. */
static void
add_head_sums (const Dual *dual)
{
  const QmTensor *out = dual->call->outputs;

  for (int64_t i = 0; i < dual->sequences; i++)
    for (int64_t head = 0; head < dual->heads; head++)
      {
        const double *sums = dual->sums + (i * dual->heads + head) * N_SUMS;

        ((float *) out[A].data)[head] += (float) sums[RATE];
        ((float *) out[SKIP].data)[head] += (float) sums[THROUGH];
        if (qm_tensor_present (&out[BIAS]))
          ((float *) out[BIAS].data)[head] += (float) sums[SHIFT];
      }
}

bool
qm_cpu_dual_scan_backward (QmThreads *threads, const QmOpCall *call)
{
  Dual dual = begin_dual (call, call->inputs + 1);
  bool ok;

  dual.sums = calloc ((size_t) (dual.sequences * dual.heads),
                      N_SUMS * sizeof *dual.sums);
  ok = dual.sums != NULL
       && qm_cpu_parallel (threads, dual.sequences * dual.groups,
                           qm_op_flops (call), scan_groups_back, &dual);
  if (ok)
    add_head_sums (&dual);
  free (dual.sums);
  return ok;
}
