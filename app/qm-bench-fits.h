/* SPDX-License-Identifier: Apache-2.0 */

/* What predict finds of every model of the catalog: which fit, how, and what
 * would have others fit. */

#ifndef QM_APP_QM_BENCH_FITS_H
#define QM_APP_QM_BENCH_FITS_H

#include "app/qm-bench.h"

/* A model in a place, as it is kept until all are known. */
typedef struct QmBenchFit
{
  const QmBenchOptions *asked;
  const QmModel *entry; /* of the catalog, as is the GPU */
  const QmGpu *gpu;
  int gpus;            /* of each machine */
  int machines;        /* 0 or 1: one */
  const char *between; /* them */
  const char *level;
  uint64_t bytes;    /* of each GPU that can be used */
  uint64_t host;     /* of each host; 0: as much as it takes */
  uint64_t plain;    /* of QmBenchPlace */
  char problem[512]; /* why nothing is predicted; empty: it is */
  QmPlaceFound found;
  bool changed; /* else `change` says nothing */
  QmBenchChange change;
  const QmResult *own; /* NULL: nothing was measured there */
  const char *own_level;
} QmBenchFit;

/* Prints to people what was found of one place: of `n` models those that fit,
 * those that do not, and what can be done about it. */
void qm_bench_print_fits (const QmBenchFit *const *fits, size_t n);

#endif
