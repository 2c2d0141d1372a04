/* SPDX-License-Identifier: Apache-2.0 */

/* Doing the same on several devices at once, a thread each. */

#ifndef QM_APP_QM_BENCH_RANKS_H
#define QM_APP_QM_BENCH_RANKS_H

#include "app/qm-bench.h"

#include "kernels/communicator.h"

/* Writes the first `n` of names that are joined by commas, or all of fewer. */
void qm_bench_first_devices (const char *names, int n, char *text, size_t size);

/* Fills in the devices that --device and --gpus mean: those that are named,
 * else the first GPUs that can be used, else the CPU, as often as it takes. */
QmStatus qm_bench_rank_devices (const QmBenchOptions *options,
                                int ranks,
                                char ids[][32],
                                QmError *error);

/* What one rank does; an error that it returns names no rank. */
typedef QmStatus (*QmBenchRankWork) (void *data, int rank, QmError *error);

/* Frees what it left, once the others know where it failed. */
typedef void (*QmBenchRankEnd) (void *data, int rank);

/* Calls `work` for all `ranks` of this process, which are those from `first` on
 * of all and are numbered from 0 here, at once, the first by the thread that
 * calls, and then `end`, which may be NULL, by the same threads, and waits
 * for them.  The first that fails ends the waits of all others in their world,
 * where they have one; where a device is to blame, its error says which.  Where
 * the world has other processes and has failed, and a rank does not come back
 * within 7 s, the program says why and exits. */
QmStatus qm_bench_ranks_do (int first,
                            int ranks,
                            QmWorld *world,
                            QmBenchRankWork work,
                            QmBenchRankEnd end,
                            void *data,
                            QmError *error);

/* Whether the error of a rank is that of its own device, and not what it was
 * told of another: the world, which may be NULL, has not failed, or by this. */
bool qm_bench_ranks_own_fault (QmWorld *world, int rank, const QmError *error);

#endif
