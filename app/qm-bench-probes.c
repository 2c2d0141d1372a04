/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPUs `predict` knows by measurement: those that came with the program,
 * those that were calibrated here, and those of a file. */

#include "app/qm-bench-probes.h"

#include "data/datadir.h"
#include "data/file.h"
#include "data/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps what was read; it stays where it is. */
static QmStatus
keep_probes (QmBenchProbes *all,
             const QmProbes *probes,
             QmCalibration *calibration,
             QmError *error)
{
  QmProbes *kept;

  if (all->n == QM_BENCH_PROBES)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "more than %d GPUs were measured", QM_BENCH_PROBES);
  kept = malloc (sizeof *kept);
  if (kept == NULL)
    return qm_error_no_memory (error);
  *kept = *probes;
  all->probes[all->n++] = kept;
  qm_calibration_add_probes (calibration, kept);
  return QM_OK;
}

/* Reads the file of a GPU, where there is one.  One that is broken is told, and
 * stops nothing. */
static QmStatus
read_known (QmBenchProbes *all,
            const char *folder,
            const QmGpu *gpu,
            QmCalibration *calibration,
            QmError *error)
{
  char path[PATH_MAX];
  QmProbes probes;
  QmError trouble = { 0 };

  if (!qm_probes_path (folder, gpu->id, path, sizeof path)
      || !qm_file_exists (path))
    return QM_OK;
  if (qm_probes_read (path, &probes, &trouble) != QM_OK)
    {
      qm_bench_say ("%s:%d:%d: %s; left out", trouble.file, trouble.line,
                    trouble.column, trouble.message);
      return QM_OK;
    }
  snprintf (probes.gpu, sizeof probes.gpu, "%s", gpu->id);
  return keep_probes (all, &probes, calibration, error);
}

static QmStatus
read_named (QmBenchProbes *all,
            const char *path,
            QmCalibration *calibration,
            QmError *error)
{
  QmProbes probes;
  QmStatus status = qm_probes_read (path, &probes, error);

  if (status != QM_OK)
    return status;
  if (probes.gpu[0] == '\0')
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "does not say which GPU of the catalog it is of");
  return keep_probes (all, &probes, calibration, error);
}

/* What everything is a multiple of; without it nothing is known by
 * measurement. */
static QmStatus
read_reference (QmBenchProbes *all,
                const QmCatalog *catalog,
                const char *folder,
                QmCalibration *calibration)
{
  const QmGpu *gpu = qm_catalog_gpu (catalog, QM_REFERENCE_GPU);
  char path[PATH_MAX];

  if (gpu == NULL
      || !qm_probes_path (folder, QM_REFERENCE_GPU, path, sizeof path)
      || !qm_file_exists (path))
    return QM_STATUS_NOT_FOUND;
  all->reference = malloc (sizeof *all->reference);
  if (all->reference == NULL
      || qm_probes_read (path, all->reference, NULL) != QM_OK)
    return QM_STATUS_NOT_FOUND;
  qm_calibration_set_reference (calibration, all->reference, gpu);
  return QM_OK;
}

QmStatus
qm_bench_read_probes (const QmCatalog *catalog,
                      const char *file,
                      QmBenchProbes *all,
                      QmCalibration *calibration,
                      QmError *error)
{
  char shipped[PATH_MAX], own[PATH_MAX];
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);
  QmStatus status = QM_OK;

  qm_data_dir (shipped, sizeof shipped);
  if (read_reference (all, catalog, shipped, calibration) != QM_OK)
    return file == NULL ? QM_OK
                        : qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                                        "what was measured of %s, which is "
                                        "compared with, is missing",
                                        QM_REFERENCE_GPU);
  for (size_t i = 0; i < n && status == QM_OK; i++)
    {
      status = read_known (all, shipped, &gpus[i], calibration, error);
      if (status == QM_OK && qm_user_data_dir (own, sizeof own))
        status = read_known (all, own, &gpus[i], calibration, error);
    }
  if (status == QM_OK && file != NULL)
    status = read_named (all, file, calibration, error);
  return status;
}

void
qm_bench_clear_probes (QmBenchProbes *all)
{
  free (all->reference);
  for (size_t i = 0; i < all->n; i++)
    free (all->probes[i]);
  *all = (QmBenchProbes){ 0 };
}
