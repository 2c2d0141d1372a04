/* SPDX-License-Identifier: Apache-2.0 */

/* How catalog.c and the readers of the several kinds of files work together.
 *
 * A file is read into a batch.  Only when all of it was right are the batch's
 * entries merged into the catalog, so that a refused file leaves no trace. */

#ifndef QM_DATA_CATALOG_PRIVATE_H
#define QM_DATA_CATALOG_PRIVATE_H

#include "data/catalog.h"
#include "data/csv-table.h"
#include "data/pool.h"
#include "data/results.h"

/* A measurement before the addresses of models and GPUs are final. */
typedef struct QmMeasurementEntry
{
  QmMeasurement measurement;
  size_t model;
  size_t gpu;
  bool replaced; /* by a later file: its model, or that it does not fit */
} QmMeasurementEntry;

typedef struct QmEntries
{
  QmPool pool;
  QmList gpus;         /* QmGpu */
  QmList machines;     /* QmMachine */
  QmList platforms;    /* QmPlatform */
  QmList models;       /* QmModel */
  QmList prices;       /* QmPrice */
  QmList measurements; /* QmMeasurementEntry */
  QmList aside;        /* QmMeasurementEntry, that nothing is advised by */
} QmEntries;

/* The entries of one file while it is read. */
typedef struct QmBatch
{
  const QmEntries *known; /* of the files before */
  const char *file;
  bool from_user;
  QmEntries entries;
} QmBatch;

/* A reader of one kind of file. */
typedef QmStatus (*QmBatchReader) (QmBatch *batch,
                                   const char *text,
                                   size_t length,
                                   QmError *error);

QmStatus qm_batch_read_gpus (QmBatch *batch,
                             const char *text,
                             size_t length,
                             QmError *error);
QmStatus qm_batch_read_machines (QmBatch *batch,
                                 const char *text,
                                 size_t length,
                                 QmError *error);
QmStatus qm_batch_read_platforms (QmBatch *batch,
                                  const char *text,
                                  size_t length,
                                  QmError *error);
QmStatus qm_batch_read_model (QmBatch *batch,
                              const char *text,
                              size_t length,
                              QmError *error);
QmStatus qm_batch_read_prices (QmBatch *batch,
                               const char *text,
                               size_t length,
                               QmError *error);
QmStatus qm_batch_read_measurements (QmBatch *batch,
                                     const char *text,
                                     size_t length,
                                     QmError *error);

/* Puts what the results of a directory say of the known models and GPUs into a
 * batch, those that are no times of a machine beside the others.  `notice` is
 * called for each file and reason for which results are left out, and ends the
 * reading where it returns false.  Fails only where memory is out or `notice`
 * says so. */
typedef bool (*QmNoticeFunc) (void *data, const QmError *notice);
QmStatus qm_batch_take_results (QmBatch *batch,
                                const QmResults *results,
                                QmNoticeFunc notice,
                                void *data);

/* Takes away what is said before not to fit where a later batch has it
 * measured, though on GPUs that were held back, so that it is no time of
 * theirs: it needs the memory that it needs in any way. */
void qm_entries_disprove (QmEntries *into, const QmEntries *from);

/* The key of a measurement: two of one `origin` are the same.  NULL where
 * memory is out. */
const char *qm_measurement_key (QmPool *pool,
                                const QmMeasurementEntry *entry,
                                const char *origin);

void qm_batch_init (QmBatch *batch,
                    const QmEntries *known,
                    const char *file,
                    bool from_user);
void qm_batch_clear (QmBatch *batch);

/* Adds an entry to one of the batch's lists; on a key that is already in it, or
 * without memory, the row fails at `column` and NULL is returned.  A NULL key
 * counts as out of memory. */
void *
qm_batch_add (QmList *list, const char *key, QmCsvRow *row, size_t column);

/* Adds a price to the batch, under the key that all prices have. */
void qm_batch_add_price (QmBatch *batch,
                         const QmPrice *price,
                         QmCsvRow *row,
                         size_t column);

/* A set of 1 << QmGpuCooling, of cards: words separated by a space. */
unsigned qm_csv_gpu_coolings (QmCsvRow *row, size_t column);

/* Makes "unknown GPU 'h100'; did you mean ...?" the error of the row, with the
 * nearest of the keys of so many lists. */
#define QM_MAX_LISTS 3
void qm_batch_fail_unknown (QmCsvRow *row,
                            size_t column,
                            const char *what,
                            const QmList *const *lists,
                            size_t n_lists);

#endif
