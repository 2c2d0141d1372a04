/* SPDX-License-Identifier: Apache-2.0 */

/* Of the program, what its parts want and no test of them comes to. */

#include "app/qm-bench.h"

#include <stdio.h>
#include <stdlib.h>

int
qm_bench_fail (const QmError *error)
{
  fprintf (stderr, "%s\n", error->message);
  abort ();
}

QmStatus
qm_bench_read_ranks (const QmBenchOptions *options, int *ranks, QmError *error)
{
  abort ();
}
