/* SPDX-License-Identifier: Apache-2.0 */

/* Ways to train on several GPUs, as `predict` was told of them. */

#ifndef QM_APP_QM_BENCH_WAYS_H
#define QM_APP_QM_BENCH_WAYS_H

#include "app/qm-bench.h"
#include "engine/places.h"
#include "engine/search.h"
#include "engine/ways.h"

typedef struct QmBenchWays
{
  const QmBenchModel *model;
  const QmBenchOptions *options;
  const QmCalibration *calibration;
  const QmLevel *level;
  const QmResidual *residual; /* of the model there */
  const QmGpu *gpu;
  uint64_t bytes;                /* of each that can be used */
  int gpus;                      /* of all machines */
  const QmPlacesOptions *places; /* how many machines, and their network */
  const char *between;           /* the same, as --between has it */
  QmInterconnect link;
  const QmLinkTimes *measured; /* of --links, or NULL */
  QmSearchConfig configs[QM_SEARCH_MOST];
  size_t n;
  int64_t micro_batch; /* 0: the fastest */
  uint64_t host_bytes; /* 0: enough */
  bool json;
} QmBenchWays;

/* Whether the command line says which ways. */
bool qm_bench_names_ways (const QmBenchOptions *options);

/* Predicts them in one place, and says so, the fastest first. */
QmStatus qm_bench_predict_ways (const QmBenchWays *ways, QmError *error);

/* Which ways --methods, --sharding, --offload and --checkpoint mean, of so many
 * GPUs. */
QmStatus qm_bench_read_ways (const QmBenchOptions *options,
                             QmBenchWays *ways,
                             QmError *error);

#endif
