/* SPDX-License-Identifier: Apache-2.0 */

#ifndef QM_APP_QM_BENCH_PROBES_H
#define QM_APP_QM_BENCH_PROBES_H

#include "app/qm-bench.h"

#include "engine/predict.h"

/* So many machines may be known by measurement. */
#define QM_BENCH_PROBES 32

/* What a calibration points to. */
typedef struct QmBenchProbes
{
  QmProbes *reference;
  QmProbes *probes[QM_BENCH_PROBES];
  size_t n;
} QmBenchProbes;

/* Tells a calibration of all that was measured: shipped files, the user's own,
 * and `file`, which may be NULL; later ones count.  Own ones that are broken
 * are said on standard error and left out. */
QmStatus qm_bench_read_probes (const QmCatalog *catalog,
                               const char *file,
                               QmBenchProbes *all,
                               QmCalibration *calibration,
                               QmError *error);
void qm_bench_clear_probes (QmBenchProbes *all);

#endif
