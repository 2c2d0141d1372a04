/* SPDX-License-Identifier: Apache-2.0 */

/* How fast two devices exchange, of one machine or of two. */

#ifndef QM_APP_QM_BENCH_BETWEEN_H
#define QM_APP_QM_BENCH_BETWEEN_H

#include "app/qm-bench.h"

#include "kernels/communicator.h"

/* Between two devices, in both directions at once. */
typedef struct QmBenchBetween
{
  double bandwidth; /* bytes a second, each way */
  double latency;   /* seconds of the least exchange */
} QmBenchBetween;

/* One of the two, which both measure at once. */
typedef struct QmBenchEnd
{
  QmDevice *device;
  void *memory; /* of the device */
  size_t bytes; /* of it, that are exchanged */
} QmBenchEnd;

/* Measures them where they have met, in a communicator of two. */
QmStatus qm_bench_time_two (QmCommunicator *communicator,
                            const QmBenchEnd *end,
                            QmBenchBetween *found,
                            QmError *error);

/* Measures, with one device of each machine, the first one with each other,
 * one pair after the other while the rest is idle; all machines call it, with
 * the transport that all have.
 * `found` has one for each machine but the first, and is filled in on the first
 * one. */
QmStatus qm_bench_time_between (const QmBenchOptions *options,
                                const QmBenchEnd *end,
                                QmTransport transport,
                                QmBenchBetween *found,
                                QmError *error);

#endif
