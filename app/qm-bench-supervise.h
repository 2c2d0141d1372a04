/* SPDX-License-Identifier: Apache-2.0 */

/* A command in a process of its own, so that it is noticed and ended where it
 * hangs: a GPU that fails often only stops to answer, and then nothing in the
 * program that waits for it goes on either.  (A search has workers for that,
 * which outlive a measurement, and `framework` its Python.) */

#ifndef QM_APP_QM_BENCH_SUPERVISE_H
#define QM_APP_QM_BENCH_SUPERVISE_H

#include "app/qm-bench.h"

/* Runs a command that tells events, hands on what it prints, and says that it
 * is alive where it says nothing.  Where no event comes for the --patience of
 * the options it is given up.  Returns the exit status. */
int qm_bench_supervise (const QmBenchOptions *options,
                        int (*command) (const QmBenchOptions *options));

#endif
