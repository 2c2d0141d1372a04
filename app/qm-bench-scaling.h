/* SPDX-License-Identifier: Apache-2.0 */

/* What links cost models of the catalog: how near several GPUs come to being as
 * many times as fast as one. */

#ifndef QM_APP_QM_BENCH_SCALING_H
#define QM_APP_QM_BENCH_SCALING_H

#include "app/qm-bench.h"
#include "engine/predict-exchange.h"

/* Predicts it of so many GPUs like `info`, or that --gpu names, with our
 * engine: of the model that --model names, or of a few of the catalog. *scaling
 * is a list that the caller frees, empty where the catalog does not know the
 * GPU. */
QmStatus qm_bench_scaling (const QmBenchOptions *options,
                           const QmDeviceInfo *info,
                           const QmLinkTimes *times,
                           json_t **scaling,
                           QmError *error);

/* Prints it for people. */
void qm_bench_print_scaling (const json_t *scaling, int gpus);

#endif
