/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/predict.h"

#include "data/flops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fused attention computes its scores once more on the way back, which makes
 * five products of what counts as four (Dao et al. 2022). */
#define RECOMPUTED 1.25

/* Clocks below are those of a board that is not at work. */
#define LOWEST_CLOCK 0.2

/* Each multiprocessor computes one tile of a product's result after the other
 * (NVIDIA, Matrix Multiplication Background User's Guide: tile and wave
 * quantization).  Libraries choose tiles of many sizes; with these the rates
 * are predicted best, of 128 or 256 a side.  A result of fewer tiles than
 * multiprocessors is computed in parts, of no less than so much of what is
 * added up each (256 to 4096 make no difference). */
#define TILE 128.0
#define PART 1024.0

/* Threads of a multiprocessor that start a load or a store while one
 * exponential is computed by each of 16 units: 32, as of a warp (CUDA C++
 * Programming Guide, "Arithmetic Instructions", and the load and store units of
 * NVIDIA's papers on GA100 and GH100). */
#define LOADS 2.0

/* PyTorch's softmax keeps rows in registers up to so many elements
 * (PersistentSoftmax.cuh).  Longer ones it reads for their maximum, for their
 * sum and for its result (SoftMax.cu), and on the way back both of what it
 * reads twice.  */
#define LONGEST_KEPT 2048

/* Ours keeps all, in blocks of threads that have room for so many elements at
 * least, twice as many, and so on (kernels/cuda/softmax.cu); what has room and
 * no element keeps others from being at work. */
#define ROOM 256.0

/* Channels of a sequence that a block of our scans goes through, as one wave
 * after the other (kernels/cuda/scan-states.cuh). */
#define CHANNELS 32.0

/* What the gradient of Mamba-2's scan moves besides x and its like, of 3
 * tensors: the states before chunks and parts of the gradients of B and C,
 * written and read, which of 64 columns, 128 states and chunks of 64 rows are
 * 12 tensors of the size of x. */
#define DUAL_TRAFFIC ((3.0 + 12.0) / 3.0)

/* How near to the limit of power a clock is looked for, and how often. */
#define NEAR   1e-10
#define LOOKED 60

/* What one call takes. */
typedef struct Cost
{
  double count;
  double arithmetic; /* s at the rated clock */
  double memory;     /* s */
  double joules;     /* of the arithmetic, at the rated clock */
  double bytes;
  double after; /* s of what follows it alone */
} Cost;

typedef struct Machine
{
  const QmSpeeds *speeds;
  const double *constants;
  bool own; /* kernels */
} Machine;

static bool
is_product (QmOp op)
{
  return op == QM_OP_LINEAR || op == QM_OP_LINEAR_INPUT_GRAD
         || op == QM_OP_LINEAR_WEIGHT_GRAD || op == QM_OP_GROUPED_LINEAR
         || op == QM_OP_GROUPED_INPUT_GRAD || op == QM_OP_GROUPED_WEIGHT_GRAD;
}

/* What experts' rows go through, from where they are gathered. */
static bool
is_of_experts (QmOp op)
{
  return op == QM_OP_GATHER_ROWS || op == QM_OP_COMBINE_ROWS
         || op == QM_OP_WEIGHTED_GATE || op == QM_OP_WEIGHTED_GATE_BACKWARD
         || op == QM_OP_GROUPED_LINEAR || op == QM_OP_GROUPED_INPUT_GRAD
         || op == QM_OP_GROUPED_WEIGHT_GRAD;
}

/* How much longer those take here than in 16 bits. */
static double
experts_of (const Machine *machine, QmOp op)
{
  double experts = machine->constants[QM_CONSTANT_EXPERTS];

  return experts > 0 && is_of_experts (op) ? experts : 1;
}

static bool
is_scan (QmOp op)
{
  return op == QM_OP_SELECTIVE_SCAN || op == QM_OP_SELECTIVE_SCAN_BACKWARD;
}

static bool
is_dual_scan (QmOp op)
{
  return op == QM_OP_DUAL_SCAN || op == QM_OP_DUAL_SCAN_BACKWARD;
}

/* How much more a softmax moves, or waits for, for what its rows' length is. */
static double
softmax_of (const Machine *machine, const QmWorkRow *row)
{
  if (machine->own && row->columns > 0)
    return exp2 (fmax (ceil (log2 (row->columns / ROOM)), 0)) * ROOM
           / row->columns;
  if (row->columns <= LONGEST_KEPT)
    return 1;
  return row->op == QM_OP_SOFTMAX ? 4.0 / 2 : 5.0 / 3;
}

/* The same of norms forward. */
static double
norm_of (const Machine *machine)
{
  double own = machine->constants[QM_CONSTANT_NORM];

  return own > 0 ? own : machine->constants[QM_CONSTANT_OTHER];
}

/* Bytes that an operator moves, as a multiple of those that it has to. */
static double
traffic (const Machine *machine, const QmWorkRow *row)
{
  const double *constants = machine->constants;
  bool wide = row->arithmetic != QM_ARITHMETIC_16;

  if (row->in_norm)
    return row->op == QM_OP_LAYER_SCALE || row->op == QM_OP_GATED_ADD
               ? norm_of (machine)
               : constants[QM_CONSTANT_NORM_BACKWARD];
  switch (row->op)
    {
    case QM_OP_LINEAR:
    case QM_OP_LINEAR_INPUT_GRAD:
    case QM_OP_LINEAR_WEIGHT_GRAD:
    case QM_OP_GROUPED_LINEAR:
    case QM_OP_GROUPED_INPUT_GRAD:
    case QM_OP_GROUPED_WEIGHT_GRAD:
    case QM_OP_MATMUL:
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
      return 1;
    case QM_OP_LAYER_NORM:
      return norm_of (machine)
             * (row->rms ? constants[QM_CONSTANT_RMS_NORM] : 1);
    case QM_OP_ADAPTIVE_NORM:
    case QM_OP_GATED_NORM:
      return norm_of (machine);
    case QM_OP_LAYER_NORM_BACKWARD:
      return fmax (constants[QM_CONSTANT_NORM_BACKWARD],
                   row->rms ? constants[QM_CONSTANT_RMS_NORM] : 0);
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
    case QM_OP_GATED_NORM_BACKWARD:
      return constants[QM_CONSTANT_NORM_BACKWARD];
    case QM_OP_GATE:
    case QM_OP_GATE_BACKWARD:
    case QM_OP_WEIGHTED_GATE:
    case QM_OP_WEIGHTED_GATE_BACKWARD:
      return constants[QM_CONSTANT_OTHER] * constants[QM_CONSTANT_GATE];
    case QM_OP_ACTIVATION:
    case QM_OP_ACTIVATION_BACKWARD:
      return fmax (constants[QM_CONSTANT_OTHER],
                   row->composed
                       ? constants[QM_CONSTANT_GELU_NEW]
                             * (row->arithmetic == QM_ARITHMETIC_16 ? 1 : 0.5)
                       : 0);
    case QM_OP_SOFTMAX:
    case QM_OP_SOFTMAX_BACKWARD:
      return constants[QM_CONSTANT_SOFTMAX] * softmax_of (machine, row);
    case QM_OP_CROSS_ENTROPY:
      return constants[QM_CONSTANT_CROSS_ENTROPY];
    case QM_OP_ROTARY:
      return constants[QM_CONSTANT_ROTARY]
             + constants[QM_CONSTANT_ROTARY_WHOLE] * row->whole / row->bytes;
    case QM_OP_DEPTHWISE_CONV:
      return constants[QM_CONSTANT_CONVOLUTION]
             * (wide ? constants[QM_CONSTANT_CONVOLUTION_FP32] : 1);
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
      return constants[QM_CONSTANT_CONVOLUTION_BACKWARD]
             * (wide ? constants[QM_CONSTANT_CONVOLUTION_BACKWARD_FP32] : 1);
    case QM_OP_SELECTIVE_SCAN:
      return constants[QM_CONSTANT_SCAN];
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
      return constants[QM_CONSTANT_SCAN_BACKWARD];
    case QM_OP_DUAL_SCAN_BACKWARD:
      return constants[QM_CONSTANT_OTHER] * DUAL_TRAFFIC;
    case QM_OP_ADAM:
    case QM_OP_LAMB_DIRECTION:
    case QM_OP_LAMB_UPDATE:
    case QM_OP_MUON_MOMENTUM:
    case QM_OP_MUON_NORMALIZE:
    case QM_OP_MUON_UPDATE:
    case QM_OP_AVERAGE:
    case QM_OP_SUM_SQUARES:
      return constants[QM_CONSTANT_UPDATE];
    default:
      return constants[QM_CONSTANT_OTHER];
    }
}

/* How much longer so many equal pieces take than if all multiprocessors were at
 * work until the end: 1 or more. */
static double
unevenness (double pieces, double multiprocessors)
{
  double waves = pieces / multiprocessors;

  return waves > 0 ? ceil (waves) / waves : 1;
}

/* How much longer a product takes for that. */
static double
waves_of (const QmSpeeds *speeds, const QmWorkRow *row)
{
  double groups = fmax (row->groups, 1);
  double tiles =
      groups * ceil (row->rows / groups / TILE) * ceil (row->columns / TILE);

  if (!(speeds->multiprocessors > 0) || !(tiles > 0))
    return 1;
  if (tiles < speeds->multiprocessors)
    tiles *=
        fmax (floor (fmin (row->inner / PART, speeds->multiprocessors / tiles)),
              1);
  return unevenness (tiles, speeds->multiprocessors);
}

/* What is left of the share that fused attention reaches of long sequences: for
 * each row a kernel has things to do besides products, which take as long as
 * those with so many keys.  Where products are slower, in TF32, these are as
 * many fewer. */
static double
share_of_length (const Machine *machine, const QmWorkRow *row, double sequence)
{
  const double *rates = machine->speeds->rates;
  double share = machine->constants[QM_CONSTANT_ATTENTION_TF32];

  if (row->arithmetic != QM_ARITHMETIC_TF32 || share == 0)
    return row->length / (row->length + sequence);
  sequence *= share * rates[QM_ARITHMETIC_TF32] / rates[QM_ARITHMETIC_16];
  return share * row->length / (row->length + sequence);
}

/* What fused attention reaches on Hopper, as a share of what it reaches of long
 * sequences elsewhere: less where a kernel is given a mask. */
static double
share_on_hopper (const Machine *machine, const QmWorkRow *row)
{
  const double *constants = machine->constants;
  double masked = constants[QM_CONSTANT_ATTENTION_MASKED];
  double own = constants[QM_CONSTANT_SEQUENCE_UNMASKED];
  double sequence =
      row->masked || own == 0 ? constants[QM_CONSTANT_SEQUENCE] : own;

  return constants[QM_CONSTANT_ATTENTION_HOPPER]
         * (row->masked && masked > 0 ? masked : 1)
         * share_of_length (machine, row, sequence);
}

/* The share of the rated rate that fused attention reaches. */
static double
efficiency_of_attention (const Machine *machine, const QmWorkRow *row)
{
  const double *constants = machine->constants;
  int architecture = machine->speeds->architecture;
  bool forward = row->op == QM_OP_ATTENTION;
  double share = row->inner / (row->inner + constants[QM_CONSTANT_HEAD]);

  share *=
      architecture >= 90 && architecture < 120
          ? share_on_hopper (machine, row)
          : share_of_length (machine, row, constants[QM_CONSTANT_SEQUENCE]);
  if (row->drops && constants[QM_CONSTANT_ATTENTION_DROPOUT] > 0)
    share /= constants[QM_CONSTANT_ATTENTION_DROPOUT];
  if (machine->own)
    share *= forward ? machine->speeds->attention
                     : machine->speeds->attention_backward;
  return forward
             ? constants[QM_CONSTANT_ATTENTION] * share
             : constants[QM_CONSTANT_ATTENTION_BACKWARD] * share / RECOMPUTED;
}

/* The share of the rated rate that a call's arithmetic reaches. */
static double
efficiency (const Machine *machine, const QmWorkRow *row)
{
  const double *constants = machine->constants;
  double inner = row->inner / (row->inner + constants[QM_CONSTANT_INNER]);

  if (is_product (row->op))
    return constants[QM_CONSTANT_PRODUCT_16 + row->arithmetic] * inner
           * (row->arithmetic == QM_ARITHMETIC_FP32
                  ? 1
                  : machine->speeds->half_rate)
           / waves_of (machine->speeds, row);
  if (row->op == QM_OP_MATMUL)
    return constants[QM_CONSTANT_MATMUL] * inner;
  return efficiency_of_attention (machine, row);
}

/* Seconds that a call's arithmetic takes at the rated clock; a product no less
 * than multiprocessors need to start its loads and stores. */
static double
arithmetic_of (const Machine *machine, const QmWorkRow *row)
{
  const double *constants = machine->constants;
  double padded = constants[QM_CONSTANT_UNALIGNED];
  double seconds =
      fmax (row->flops, row->computed) * experts_of (machine, row->op)
      / (machine->speeds->rates[row->arithmetic] * efficiency (machine, row));

  if (machine->own && row->padded)
    return seconds;
  if (row->unaligned && padded > 0)
    return seconds * (row->arithmetic == QM_ARITHMETIC_FP32 ? 1 : padded);
  return fmax (seconds, row->accesses
                            / (machine->speeds->exponentials * LOADS
                               * constants[QM_CONSTANT_LOADS]));
}

static double
joules_per_flop (const QmPower *power, QmArithmetic arithmetic)
{
  switch (arithmetic)
    {
    case QM_ARITHMETIC_TF32:
      return power->joules_per_flop * power->tf32;
    case QM_ARITHMETIC_FP32:
      return power->joules_per_flop * power->fp32;
    case QM_ARITHMETIC_16:
    case QM_N_ARITHMETICS:
    default:
      return power->joules_per_flop;
    }
}

/* States that a scan updates, forward, as its operations are counted. */
static double
updates_of (const QmWorkRow *row)
{
  return row->flops / QM_MAMBA_SCAN_FLOPS
         / (row->op == QM_OP_SELECTIVE_SCAN ? 1 : 2);
}

/* What takes as long for each of them.  Other software's scans have a block for
 * each channel, which leaves nothing idle. */
static double
exponentials_of (const Machine *machine, const QmWorkRow *row)
{
  const QmSpeeds *speeds = machine->speeds;
  double each = machine->constants[row->op == QM_OP_SELECTIVE_SCAN
                                       ? QM_CONSTANT_EXPONENTIALS
                                       : QM_CONSTANT_EXPONENTIALS_BACKWARD];

  if (!machine->own || !(speeds->multiprocessors > 0))
    return each;
  return each
         * unevenness (row->rows * ceil (row->columns / CHANNELS),
                       speeds->multiprocessors);
}

static double
seconds_of_byte (const Machine *machine)
{
  return 1
             / (machine->speeds->bandwidth
                * machine->constants[QM_CONSTANT_BANDWIDTH])
         + machine->constants[QM_CONSTANT_SATURATION];
}

/* Whether an operator's bytes are those of streams through memory, which none
 * is faster than.  A part of what others move stays in a cache. */
static bool
is_stream (QmOp op)
{
  switch (op)
    {
    case QM_OP_ROTARY:
    case QM_OP_DEPTHWISE_CONV:
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
    case QM_OP_MATMUL:
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
      return false;
    default:
      return !is_product (op) && !is_scan (op);
    }
}

/* What a row is here: all that depends on the architecture and is not a rate.
 * Without TF32 products of fp32 are what they are; where no kernels end
 * products in gates, a call of that is two; where some turn gradients back,
 * what does it elsewhere is not there. */
static QmWorkRow
row_here (const QmSpeeds *speeds, const QmWorkRow *row)
{
  const QmTarget target = { QM_DEVICE_CUDA, speeds->architecture };
  QmWorkRow here = *row;

  if (row->arithmetic == QM_ARITHMETIC_TF32
      && !qm_target_multiplies (&target, QM_TYPE_F32, true))
    here.arithmetic = QM_ARITHMETIC_FP32;
  if (row->in_norm || qm_target_has_gates (&target))
    here.bytes -= row->spared;
  if (row->turned && qm_target_has_turns (&target))
    here.count = 0;
  return here;
}

static Cost
cost_of (const Machine *machine, const QmWorkRow *row)
{
  const QmSpeeds *speeds = machine->speeds;
  Cost cost = { .count = row->count,
                .bytes = row->bytes * traffic (machine, row)
                         * experts_of (machine, row->op) };

  cost.memory = cost.bytes * seconds_of_byte (machine);
  if (!machine->own && row->packed > 0)
    cost.after = row->packed * seconds_of_byte (machine)
                 + machine->constants[QM_CONSTANT_LAUNCH];
  /* Factors were fitted where memory is fast. */
  if (is_stream (row->op))
    cost.memory = fmax (cost.memory, row->bytes / speeds->bandwidth);
  if (is_scan (row->op))
    cost.arithmetic = updates_of (row) * exponentials_of (machine, row)
                      / speeds->exponentials;
  if (is_dual_scan (row->op))
    {
      QmConstant share = row->op == QM_OP_DUAL_SCAN
                             ? QM_CONSTANT_DUAL_SCAN
                             : QM_CONSTANT_DUAL_SCAN_BACKWARD;

      cost.arithmetic =
          row->computed
          / (speeds->rates[row->arithmetic] * machine->constants[share]);
      cost.joules =
          row->computed * joules_per_flop (&speeds->power, row->arithmetic);
    }
  /* Convolutions count operations, too, and are bound by what they move. */
  if (!is_product (row->op) && row->op != QM_OP_MATMUL && row->length == 0)
    return cost;
  cost.arithmetic = arithmetic_of (machine, row);
  cost.joules = fmax (row->flops, row->computed)
                * joules_per_flop (&speeds->power, row->arithmetic)
                * (row->length > 0 ? 1 : 1 + speeds->power.inner / row->inner);
  return cost;
}

/* Of one call at a clock. */
static double
seconds_of (const Machine *machine, const Cost *cost, double clock)
{
  double p = machine->constants[QM_CONSTANT_SHARPNESS];
  double arithmetic = cost->arithmetic / clock;
  double longer = fmax (arithmetic, cost->memory);
  double shorter = fmin (arithmetic, cost->memory);

  if (shorter > 0)
    longer *= pow (1 + pow (shorter / longer, p), 1 / p);
  return longer + machine->constants[QM_CONSTANT_LAUNCH] + cost->after;
}

/* A part of a step: the calls of a pass, or of an update. */
typedef struct Part
{
  Cost *costs;
  size_t n;
} Part;

static void
add_costs (const Machine *machine, const QmWork *work, bool update, Part *part)
{
  part->n = 0;
  for (size_t i = 0; i < work->n; i++)
    if (work->rows[i].update == update)
      {
        const QmWorkRow row = row_here (machine->speeds, &work->rows[i]);

        part->costs[part->n++] = cost_of (machine, &row);
      }
}

/* The seconds of a part at a clock, and what it draws. */
static double
time_at (const Machine *machine, const Part *part, double clock, double *watts)
{
  const QmSpeeds *speeds = machine->speeds;
  double faster = pow (clock, speeds->power.exponent);
  double seconds = 0, joules = 0;

  for (size_t i = 0; i < part->n; i++)
    {
      const Cost *cost = &part->costs[i];

      seconds += cost->count * seconds_of (machine, cost, clock);
      joules += cost->count
                * (cost->joules * faster
                   + cost->bytes * speeds->power.joules_per_byte);
    }
  *watts = isnan (speeds->watts) ? NAN : speeds->watts * speeds->power.base;
  *watts += joules / seconds;
  return seconds;
}

/* The highest clock at which the board draws no more than it may: by the rule
 * of false position as those of Illinois have it (Dowell and Jarratt 1971),
 * which needs a fifth of the steps of halving. */
static double
clock_of (const Machine *machine, const Part *part)
{
  double low = LOWEST_CLOCK, high = machine->speeds->power.clock, clock;
  double limit = machine->speeds->watts, watts, below, above, last = 0;

  time_at (machine, part, high, &watts);
  if (isnan (limit) || watts <= limit)
    return high;
  above = watts - limit;
  time_at (machine, part, low, &watts);
  below = watts - limit;
  if (below >= 0)
    return low;
  for (int i = 0; i < LOOKED && high - low > NEAR; i++)
    {
      clock = (low * above - high * below) / (above - below);
      time_at (machine, part, clock, &watts);
      if (fabs (watts - limit) <= NEAR * limit)
        return clock;
      if (watts > limit)
        {
          high = clock;
          above = watts - limit;
          below *= last > 0 ? 0.5 : 1;
        }
      else
        {
          low = clock;
          below = watts - limit;
          above *= last < 0 ? 0.5 : 1;
        }
      last = watts - limit;
    }
  return low;
}

/* What all GPUs exchange in a step beyond what passes hide.  Gradients are
 * added up once, at its end: each GPU sends and receives them twice but for its
 * own share (a ring: Patarasuk and Yuan 2009), behind the last pass.  Where
 * weights are divided they are gathered for each half of each pass, and
 * gradients scattered in each (Zhao et al. 2023). */
static double
exchange_of (const QmWork *work, const QmSpeeds *speeds, double pass)
{
  double bytes = work->parameters * (double) qm_type_size (work->type);
  double share = (double) (speeds->gpus - 1) / speeds->gpus;
  double seconds, behind;

  if (speeds->gpus < 2)
    return 0;
  seconds = 2 * share * bytes / speeds->exchange + speeds->latency;
  behind = pass * speeds->hidden;
  if (speeds->sharded)
    {
      seconds *= 1.5 * work->passes;
      behind *= work->passes;
    }
  return fmax (seconds - behind, 0);
}

/* What moves and is added up beside a pass, if anything does. */
static double
beside_of (const QmWork *work, const QmSpeeds *speeds)
{
  const QmHostSpeeds *host = &speeds->host;
  double size = (double) qm_type_size (work->type);

  return fmax (fmax (work->down, work->up) / speeds->gpus / host->copies,
               work->down / size * host->add);
}

/* An update by the host: what it computes, and what comes down and goes up
 * meanwhile. */
static double
host_update_of (const QmWork *work,
                const QmSpeeds *speeds,
                const QmLevel *level)
{
  const QmHostSpeeds *host = &speeds->host;

  double each = host->adam * level->constants[QM_CONSTANT_HOST_UPDATE];

  /* What the average is of is in the caches yet; it is read and written itself,
   * beside the 28 bytes of kernels/host/host-adam.h. */
  if (work->averaged)
    each *= (28.0 + 8) / 28;
  return fmax (work->parameters * each,
               fmax (work->update_down, work->update_up) / speeds->gpus
                   / host->copies);
}

static QmBound
bound_of (const Machine *machine, const Part *part, double clock)
{
  double arithmetic = 0, memory = 0;

  for (size_t i = 0; i < part->n; i++)
    {
      const Cost *cost = &part->costs[i];
      double a = cost->arithmetic / clock;

      *(a > cost->memory ? &arithmetic : &memory) +=
          cost->count * fmax (a, cost->memory);
    }
  if (memory > arithmetic)
    return QM_BOUND_BANDWIDTH;
  return clock < machine->speeds->power.clock ? QM_BOUND_POWER
                                              : QM_BOUND_ARITHMETIC;
}

/* Seconds that the host takes to start the calls of a pass. */
static double
starts_of (const Machine *machine, const QmWork *work, const Part *part)
{
  double calls = work->calls;
  size_t n = 0;

  for (size_t i = 0; i < work->n; i++)
    if (!work->rows[i].update)
      calls -= work->rows[i].count - part->costs[n++].count;
  return calls * machine->constants[QM_CONSTANT_DISPATCH];
}

static void
predict_pass (const Machine *machine,
              const QmWork *work,
              const Part *part,
              QmPrediction *prediction)
{
  double clock = clock_of (machine, part);
  double starts = starts_of (machine, work, part);
  size_t n = 0;

  prediction->clock = clock;
  prediction->alone = time_at (machine, part, clock, &prediction->watts)
                      + machine->constants[QM_CONSTANT_CAST] * work->parameters
                            * seconds_of_byte (machine);
  for (size_t i = 0; i < work->n; i++)
    if (!work->rows[i].update)
      {
        const Cost *cost = &part->costs[n++];

        prediction->by_op[work->rows[i].op] +=
            cost->count * seconds_of (machine, cost, clock);
      }
  prediction->bound_alone = starts > prediction->alone
                                ? QM_BOUND_HOST
                                : bound_of (machine, part, clock);
  prediction->alone = fmax (prediction->alone, starts);
}

QmStatus
qm_predict_alone (const QmWork *work,
                  const QmSpeeds *speeds,
                  const QmLevel *level,
                  QmPrediction *prediction,
                  QmError *error)
{
  const Machine machine = { speeds, level->constants, level->own };
  Part part = { .costs = calloc (work->n + 1, sizeof *part.costs) };
  double watts;

  memset (prediction, 0, sizeof *prediction);
  if (part.costs == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  add_costs (&machine, work, false, &part);
  predict_pass (&machine, work, &part, prediction);
  add_costs (&machine, work, true, &part);
  prediction->update_alone =
      time_at (&machine, &part, clock_of (&machine, &part), &watts);
  free (part.costs);
  return QM_OK;
}

QmStatus
qm_predict_step (const QmWork *work,
                 const QmSpeeds *speeds,
                 const QmLevel *level,
                 QmPrediction *prediction,
                 QmError *error)
{
  double spread = exp (level->constants[speeds->spread]);
  double alone = prediction->alone * (1 + speeds->slower), beside = 0;

  prediction->update =
      prediction->update_alone / (speeds->sharded ? speeds->gpus : 1);
  if (work->offload)
    {
      if (!(speeds->host.copies > 0))
        return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                             "how the GPU is connected to its host is not "
                             "known");
      beside = beside_of (work, speeds);
      prediction->update = host_update_of (work, speeds, level);
    }
  prediction->pass = fmax (alone, beside)
                     + (1 - level->constants[QM_CONSTANT_COPIES_HIDDEN])
                           * fmin (alone, beside);
  prediction->exchange = exchange_of (work, speeds, prediction->pass);
  prediction->step = prediction->pass * work->passes + prediction->update
                     + prediction->exchange;
  prediction->days = prediction->step * work->steps / 86400;
  prediction->days_low = prediction->days / spread;
  prediction->days_high = prediction->days * spread;
  prediction->bound = beside > alone ? QM_BOUND_HOST : prediction->bound_alone;
  if (prediction->bound != QM_BOUND_HOST
      && prediction->exchange > prediction->step / 2)
    prediction->bound = QM_BOUND_EXCHANGE;
  return QM_OK;
}

QmStatus
qm_predict (const QmWork *work,
            const QmSpeeds *speeds,
            const QmLevel *level,
            QmPrediction *prediction,
            QmError *error)
{
  QmStatus status = qm_predict_alone (work, speeds, level, prediction, error);

  return status == QM_OK
             ? qm_predict_step (work, speeds, level, prediction, error)
             : status;
}

QmStatus
qm_predict_rows (const QmWork *work,
                 const QmSpeeds *speeds,
                 const QmLevel *level,
                 double *seconds,
                 QmError *error)
{
  const Machine machine = { speeds, level->constants, level->own };
  Part part = { .costs = calloc (work->n + 1, sizeof *part.costs) };

  if (part.costs == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  for (int update = 0; update < 2; update++)
    {
      double clock;
      size_t n = 0;

      add_costs (&machine, work, update, &part);
      clock = clock_of (&machine, &part);
      for (size_t i = 0; i < work->n; i++)
        if (work->rows[i].update == update)
          {
            const Cost *cost = &part.costs[n++];

            seconds[i] =
                cost->count > 0 ? seconds_of (&machine, cost, clock) : 0;
          }
    }
  free (part.costs);
  return QM_OK;
}

const char *
qm_bound_name (QmBound bound)
{
  static const char *const names[] = { "arithmetic", "power", "bandwidth",
                                       "exchange", "host" };

  return names[bound];
}
