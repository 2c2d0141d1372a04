/* SPDX-License-Identifier: Apache-2.0 */

/* A command in several processes at once, one on each machine ("node"): which
 * of them this is, and where they meet. */

#ifndef QM_APP_QM_BENCH_NODES_H
#define QM_APP_QM_BENCH_NODES_H

#include "app/qm-bench.h"

#include "data/link-times.h"
#include "data/results.h"
#include "kernels/communicator.h"

/* Seconds that the others are waited for, without --wait. */
#define QM_BENCH_WAIT 120

/* Fills in options->nodes: what --nodes, --node and --rendezvous say, else
 * Slurm's variables of a step, else PMIx's; else one machine.
 * QM_STATUS_USAGE where they contradict each other or do not suffice. */
QmStatus qm_bench_find_nodes (QmBenchOptions *options, QmError *error);

/* How many machines work together, 1 without others. */
int qm_bench_nodes (const QmBenchOptions *options);

/* Whether another process prints and writes what comes of it. */
bool qm_bench_follows (const QmBenchOptions *options);

/* Reads --gpus, which are those of each machine, and how many devices there are
 * in all. */
QmStatus qm_bench_read_total (const QmBenchOptions *options,
                              int *local,
                              int *total,
                              QmError *error);

/* Refuses --no-peer of so many devices in all, where it says nothing:
 * QM_STATUS_USAGE. */
QmStatus
qm_bench_check_peers (const QmBenchOptions *options, int total, QmError *error);

/* Makes the world of the ranks of all machines, of which this process has
 * `local`.  `model`, which may be NULL, and the options have to be the same in
 * all; others are waited for `wait` seconds, or as --wait says where it is 0.
 */
QmStatus qm_bench_join (const QmBenchOptions *options,
                        const QmBenchModel *model,
                        int local,
                        double wait,
                        QmWorld **world,
                        QmError *error);

/* How devices exchange, in a word for results: "nccl", "host", "sockets". */
const char *qm_bench_transport (const QmBenchOptions *options,
                                QmTransport transport);
/* And in words for people. */
const char *qm_bench_transport_words (const QmBenchOptions *options,
                                      QmTransport transport);

/* Adds "transport_trial", what both ways took, where they were tried. */
void qm_bench_json_trial (json_t *object, const QmTransportTrial *trial);

/* The same as a line to people; nothing where they were not. */
void qm_bench_print_trial (const QmTransportTrial *trial);

/* Makes the world of two ranks, one of the first machine and one of this or, on
 * the first, of another that calls it at once. */
QmStatus qm_bench_join_first (const QmBenchOptions *options,
                              QmWorld **world,
                              QmError *error);

/* Whether the links that --links names were measured between as many machines
 * as are meant: QM_STATUS_USAGE where they were not. */
QmStatus qm_bench_check_links (const QmBenchOptions *options,
                               const QmLinkTimes *links,
                               int nodes,
                               QmError *error);

/* Says on standard error where `gpus` of all machines are not as many as the
 * links were measured of: what these exchange follows from what those did. */
void qm_bench_say_other_links (const QmBenchOptions *options,
                               const QmLinkTimes *links,
                               int gpus);

/* "2 x NVIDIA H200", and of several machines "2 machines of 1 x NVIDIA H200";
 * returns `text`. */
const char *qm_bench_format_devices (
    int gpus, int nodes, const char *device, char *text, size_t size);

/* What --no-peer and the variables of NCCL in the environment make of it. */
QmResultPath qm_bench_path (const QmBenchOptions *options);

/* Adds "nodes", where there are several, "no_peer", where that is asked for,
 * and "nccl", the variables of NCCL that the environment has, where there are
 * any. */
void qm_bench_json_nodes (json_t *object, const QmBenchOptions *options);

#endif
