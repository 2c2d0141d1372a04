/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/places-least.h"

#include <math.h>

/* Of weights that are nowhere while they are not read, what each pass gathers
 * once more for its second half: less than all by what is read once, as
 * embeddings are, and by buckets that are still there (pass-transfers.c). */
#define GATHERED_AGAIN 0.5
#define STILL_THERE    (3.0 * (double) QM_BUCKET_WEIGHTS)

/* As a multiple of all weights. */
static double
gathered (const QmWork *work)
{
  return 1
         + fmax (fmin (GATHERED_AGAIN, 1 - STILL_THERE / work->parameters), 0);
}

/* What leaves a GPU of so many bytes: all of them to its host, or but its part
 * to the others. */
static uint64_t
leaves (uint64_t bytes, const QmSearchConfig *way, int gpus)
{
  uint64_t n = (uint64_t) gpus;

  return way->offload ? bytes : bytes - (bytes / n + (bytes % n != 0));
}

uint64_t
qm_least_bytes (const QmMemory *all, const QmSearchConfig *way, int gpus)
{
  uint64_t bytes = all->total;

  if (way->sharding == QM_SHARDING_NONE)
    return bytes;
  bytes -= leaves (all->master, way, gpus);
  bytes -= leaves (all->optimizer, way, gpus);
  if (qm_sharding_gradients (way->sharding))
    bytes -= leaves (all->gradients, way, gpus);
  if (qm_sharding_weights (way->sharding))
    bytes -= leaves (all->weights, way, gpus);
  return bytes;
}

/* Seconds by which a pass is shorter at most where gradients are made to be
 * sent: they are written as they are sent, while sums of fp32 are read and
 * written. */
static double
saved_by_sending (const QmWork *work,
                  const QmSpeeds *speeds,
                  const QmLevel *level)
{
  const double *constants = level->constants;
  double bytes = work->parameters
                 * (2.0 * sizeof (float) - (double) qm_type_size (work->type));

  return bytes
         * (1 / (speeds->bandwidth * constants[QM_CONSTANT_BANDWIDTH])
            + constants[QM_CONSTANT_SATURATION]);
}

/* A pass and an update of GPUs whose exchange takes no time. */
static QmPrediction
without_exchange (const QmWork *work,
                  const QmPrediction *alone,
                  const QmSearchConfig *way,
                  const QmSpeeds *speeds,
                  const QmLevel *level)
{
  double bytes = work->parameters * (double) qm_type_size (work->type);
  bool gradients = qm_sharding_gradients (way->sharding);
  bool weights = qm_sharding_weights (way->sharding);
  QmSpeeds unconnected = *speeds;
  QmPrediction least = *alone;
  QmWork all = *work;

  if (gradients)
    least.alone =
        fmax (least.alone - saved_by_sending (work, speeds, level), 0);
  all.offload = way->offload && speeds->host.copies > 0;
  if (all.offload)
    {
      all.down = gradients ? bytes : 0;
      all.up = weights ? gathered (work) * bytes : 0;
      all.update_up = weights ? 0 : bytes;
    }
  unconnected.exchange = INFINITY;
  unconnected.latency = 0;
  unconnected.sharded = way->sharding != QM_SHARDING_NONE;
  qm_predict_step (&all, &unconnected, level, &least, NULL);
  if (way->offload && !all.offload)
    least.update = 0;
  return least;
}

/* What is computed beside an exchange: as much longer as that takes from it, or
 * as long as that is. */
static double
beside (double computed, double exchanged, double taken)
{
  return fmax (exchanged, computed + taken * exchanged);
}

double
qm_least_step (const QmWork *work,
               const QmPrediction *alone,
               const QmSearchConfig *way,
               const QmExchange *exchange,
               const QmLevel *level)
{
  const QmPrediction least =
      without_exchange (work, alone, way, exchange->speeds, level);
  double small = work->parameters * (double) qm_type_size (work->type);
  double sums = work->parameters * (double) sizeof (float);
  double taken = exchange->taken, of_passes = exchange->taken_by_weights;
  double gather = qm_exchange_seconds (exchange, QM_LINKS_ALL_GATHER, small);
  double step, pass;

  if (way->sharding == QM_SHARDING_NONE)
    return (work->passes - 1) * least.pass
           + beside (least.pass,
                     qm_exchange_seconds (exchange, QM_LINKS_ALL_REDUCE, sums),
                     taken)
           + least.update;
  if (way->sharding == QM_SHARDING_ZERO_1)
    return (work->passes - 1) * least.pass
           + beside (least.pass,
                     qm_exchange_seconds (exchange, QM_LINKS_REDUCE_SCATTER,
                                          sums),
                     taken)
           + beside (least.update, gather, taken);
  pass = qm_exchange_seconds (exchange, QM_LINKS_REDUCE_SCATTER, small);
  step = least.update;
  if (qm_sharding_weights (way->sharding))
    pass += gathered (work) * gather;
  else
    step = beside (least.update, gather, taken);
  return step + work->passes * beside (least.pass, pass, of_passes);
}
