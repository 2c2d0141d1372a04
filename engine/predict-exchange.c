/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/predict-exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an exchange takes from a GPU that computes meanwhile: see
 * qm_exchange_of(). */
#define TAKEN_NVLINK_OTHERS  1.0
#define TAKEN_NVLINK_OWN     0.5
#define TAKEN_NVLINK_WEIGHTS 0.0
#define TAKEN_PCIE           0.2

/* Passes of which the last is taken for one like all others: what it begins
 * with is what one leaves behind. */
#define PASSES_TO_SETTLE 2

QmExchange
qm_exchange_of (const QmSpeeds *speeds,
                const QmLevel *level,
                const QmLinkTimes *measured)
{
  double taken = TAKEN_PCIE, by_weights = TAKEN_PCIE;

  if (speeds->way == QM_WAY_NVLINK)
    {
      taken = level->own ? TAKEN_NVLINK_OWN : TAKEN_NVLINK_OTHERS;
      by_weights = level->own ? TAKEN_NVLINK_OWN : TAKEN_NVLINK_WEIGHTS;
    }
  return (QmExchange){ speeds, measured != NULL ? measured : speeds->links,
                       taken * speeds->thinned, by_weights * speeds->thinned };
}

/* Of what a collective is over, what each of n sends. */
static double
sent_of (QmLinksOp collective, int n)
{
  return (collective == QM_LINKS_ALL_REDUCE ? 2.0 : 1.0) * (n - 1) / n;
}

/* Between two sizes that were measured as between two points; what is smaller
 * takes as long as the smallest, what is larger as many times longer as it is
 * larger. */
static double
interpolate (const QmLinkTimes *measured, QmLinksOp collective, double bytes)
{
  size_t n = measured->n[collective], i = 0;
  double from, to, begin, end;

  while (i < n && measured->times[collective][i].bytes < bytes)
    i++;
  if (i == 0)
    return measured->times[collective][0].seconds;
  begin = measured->times[collective][i - 1].bytes;
  from = measured->times[collective][i - 1].seconds;
  if (i == n)
    return from * bytes / begin;
  end = measured->times[collective][i].bytes;
  to = measured->times[collective][i].seconds;
  return from + (to - from) * (bytes - begin) / (end - begin);
}

double
qm_exchange_seconds (const QmExchange *exchange,
                     QmLinksOp collective,
                     double bytes)
{
  const QmLinkTimes *measured = exchange->measured;
  const QmSpeeds *speeds = exchange->speeds;
  int n = speeds->gpus;

  if (n < 2)
    return 0;
  /* Of another number of GPUs each sends another share of the whole. */
  if (measured != NULL && measured->n[collective] > 0 && measured->ranks > 1)
    return interpolate (measured, collective,
                        bytes * sent_of (collective, n)
                            / sent_of (collective, measured->ranks));
  return speeds->latency + sent_of (collective, n) * bytes / speeds->exchange;
}

/* Two rows of work, as far as they have come. */
typedef struct Rows
{
  const QmWork *work;
  const QmExchange *exchange;
  const double *seconds;      /* by row of the work */
  double computed, exchanged; /* when each is done with all that was begun */
  double taken;               /* by the exchange that was begun last */
  double total;               /* of all exchanges so far */
  double host;                /* s of an update by the host */
  double *fetched, *sent;     /* by unit: when */
} Rows;

static void
compute (Rows *rows, double seconds)
{
  double beside = fmax (rows->exchanged - rows->computed, 0);
  double share = 1 - rows->taken;

  if (share > 0 && seconds <= beside * share)
    rows->computed += seconds / share;
  else
    rows->computed += beside + (seconds - beside * share);
}

/* Returns when it ends. */
static double
begin_exchange (Rows *rows, QmLinksOp collective, double bytes, double taken)
{
  double seconds = qm_exchange_seconds (rows->exchange, collective, bytes);

  rows->taken = taken;
  rows->total += seconds;
  rows->exchanged = fmax (rows->exchanged, rows->computed) + seconds;
  return rows->exchanged;
}

static void
await (Rows *rows, double until)
{
  rows->computed = fmax (rows->computed, until);
}

static void
do_call (Rows *rows, const QmWorkCall *call, double slower)
{
  const double taken = rows->exchange->taken;
  const double by_weights = rows->exchange->taken_by_weights;

  switch (call->op)
    {
    case QM_OP_FETCH:
      rows->fetched[call->unit] =
          begin_exchange (rows, QM_LINKS_ALL_GATHER, call->bytes, by_weights);
      break;
    case QM_OP_SEND:
      rows->sent[call->unit] = begin_exchange (rows, QM_LINKS_REDUCE_SCATTER,
                                               call->bytes, by_weights);
      break;
    case QM_OP_ALL_REDUCE:
      begin_exchange (rows, QM_LINKS_ALL_REDUCE, call->bytes, taken);
      break;
    case QM_OP_REDUCE_SCATTER:
      begin_exchange (rows, QM_LINKS_REDUCE_SCATTER, call->bytes, taken);
      break;
    case QM_OP_ALL_GATHER:
      begin_exchange (rows, QM_LINKS_ALL_GATHER, call->bytes, taken);
      break;
    case QM_OP_FETCHED:
      await (rows, rows->fetched[call->unit]);
      break;
    case QM_OP_SENT:
      await (rows, rows->sent[call->unit]);
      break;
    case QM_OP_EXCHANGED:
      await (rows, rows->exchanged);
      break;
    case QM_OP_HOST_UPDATED:
      compute (rows, rows->host);
      break;
    default:
      if (call->row >= 0)
        compute (rows, rows->seconds[call->row] * slower);
      break;
    }
}

/* A pass, or the last of a step, or an update; what it computes takes `slower`
 * times as long as its calls.  Returns how long it takes. */
static double
do_part (Rows *rows, bool update, bool last, double slower)
{
  const QmWork *work = rows->work;
  double begin = rows->computed;

  for (size_t i = 0; i < work->n_order; i++)
    {
      const QmWorkCall *call = &work->order[i];

      if ((call->phase == QM_PHASE_UPDATE) == update
          && (call->phase != QM_PHASE_LAST || last))
        do_call (rows, call, slower);
    }
  return rows->computed - begin;
}

/* What the GPU computes for itself in a pass or an update. */
static double
calls_of (const QmWork *work, const double *seconds, bool update)
{
  double sum = 0;

  for (size_t i = 0; i < work->n; i++)
    if (work->rows[i].update == update)
      sum += work->rows[i].count * seconds[i];
  return sum;
}

/* The largest unit that is named, and 1 for none. */
static size_t
n_units (const QmWork *work)
{
  size_t n = 1;

  for (size_t i = 0; i < work->n_order; i++)
    if (work->order[i].unit >= 0 && (size_t) work->order[i].unit >= n)
      n = (size_t) work->order[i].unit + 1;
  return n;
}

/* The step as it would be if exchanging took no time: that of one GPU, whose
 * host and lanes those of the others share. */
static QmStatus
predict_without (const QmWork *work,
                 const QmSpeeds *speeds,
                 const QmLevel *level,
                 QmPrediction *prediction,
                 QmError *error)
{
  QmSpeeds unconnected = *speeds;
  QmWork all = *work;
  QmStatus status = qm_predict_alone (work, speeds, level, prediction, error);

  /* A plan has what its own rank moves to and from the host. */
  all.down *= work->parts;
  all.up *= work->parts;
  all.update_down *= work->parts;
  all.update_up *= work->parts;
  unconnected.exchange = INFINITY;
  unconnected.latency = 0;
  unconnected.sharded = false;
  return status == QM_OK
             ? qm_predict_step (&all, &unconnected, level, prediction, error)
             : status;
}

static void
conclude (const QmWork *work,
          double spread,
          const Rows *rows,
          double step,
          QmPrediction *prediction)
{
  prediction->exchange = fmax (step - prediction->step, 0);
  prediction->step = step;
  prediction->days = step * work->steps / 86400;
  prediction->days_low = prediction->days / spread;
  prediction->days_high = prediction->days * spread;
  if (prediction->exchange > step / 2 && rows->total > 0)
    prediction->bound = QM_BOUND_EXCHANGE;
}

/* Goes through a step: passes until they are alike, those that are like them,
 * the last one, and the update. */
static double
do_step (Rows *rows, QmPrediction *prediction)
{
  const QmWork *work = rows->work;
  double passes = work->passes - 1, before = 0, pass = 0, begin, alike;
  double slower = prediction->pass / calls_of (work, rows->seconds, false);

  /* While offloading, what the device does of an update is in the host's. */
  rows->host = work->offload ? prediction->update : 0;

  for (int i = 0; i < PASSES_TO_SETTLE && i < passes; i++)
    {
      before = rows->total;
      pass = do_part (rows, false, false, slower);
    }
  alike = fmax (passes - PASSES_TO_SETTLE, 0);
  rows->total += alike * (rows->total - before);
  /* What was fetched or sent before is done by then. */
  rows->computed += alike * pass;
  rows->exchanged += alike * pass;
  begin = rows->computed;
  do_part (rows, false, true, slower);
  prediction->pass = passes > 0 ? pass : rows->computed - begin;
  prediction->update = do_part (rows, true, false, work->offload ? 0 : 1);
  return rows->computed;
}

QmStatus
qm_predict_ranks (const QmWork *work,
                  const QmExchange *exchange,
                  const QmLevel *level,
                  QmPrediction *prediction,
                  QmExchanged *exchanged,
                  QmError *error)
{
  size_t units = n_units (work);
  double *seconds = calloc (work->n + 2 * units + 1, sizeof *seconds);
  Rows rows = { .work = work, .exchange = exchange, .seconds = seconds };
  QmStatus status = QM_OK;

  if (seconds == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  rows.fetched = seconds + work->n;
  rows.sent = rows.fetched + units;
  if (work->ranks != exchange->speeds->gpus)
    status = qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                           "what was planned for %d GPUs is not predicted of "
                           "%d",
                           work->ranks, exchange->speeds->gpus);
  if (status == QM_OK)
    status = predict_without (work, exchange->speeds, level, prediction, error);
  if (status == QM_OK)
    status = qm_predict_rows (work, exchange->speeds, level, seconds, error);
  if (status == QM_OK && exchanged != NULL)
    *exchanged = (QmExchanged){ 0, prediction->pass, prediction->update };
  if (status == QM_OK && work->n_order > 0)
    conclude (work, exp (level->constants[exchange->speeds->spread]), &rows,
              do_step (&rows, prediction), prediction);
  if (exchanged != NULL)
    exchanged->total = rows.total;
  free (seconds);
  return status;
}
