/* SPDX-License-Identifier: Apache-2.0 */

/* Writing results files, so that nothing that was found is lost: a result is on
 * the disk before the next is begun, and only one program writes at a time. */

#ifndef QM_DATA_RESULTS_FILE_H
#define QM_DATA_RESULTS_FILE_H

#include "data/results.h"

#include <jansson.h>

/* A results file that is open for more results, and locked. */
typedef struct QmResultsFile QmResultsFile;

/* Writes the path of the file that results go to where none is named,
 * measurements/HOST.jsonl in the user's directory, which several hosts may
 * share; HOST is the name of this one up to the first dot.  False where there
 * is no such directory or `size` is too small. */
bool qm_results_default_path (char *path, size_t size);

/* Opens a results file, making it where it is missing and, with `folders`, the
 * folders that it is in; locks it and reads what is in it.  A last line that
 * was broken off (qm_results_file_repaired()) is cut off before another is
 * appended; until then the file is as it was.
 *
 * Where another program has it locked, *busy becomes true; with `wait` it is
 * waited for, until a signal is caught (QM_STATUS_INTERRUPTED), else that is
 * QM_STATUS_IO.  Fails as qm_results_read() does. */
QmStatus qm_results_open (const char *path,
                          bool folders,
                          bool wait,
                          bool *busy,
                          QmResultsFile **file,
                          QmError *error);

/* Closes it and gives up the lock; NULL is allowed. */
void qm_results_close (QmResultsFile *file);

/* What is in it, what was appended too; belongs to the file. */
const QmResults *qm_results_file_content (const QmResultsFile *file);

/* Bytes of a line that was broken off when it was opened. */
size_t qm_results_file_repaired (const QmResultsFile *file);

/* What others did to a file that is open here. */
typedef enum QmResultsChange
{
  QM_RESULTS_UNCHANGED,
  QM_RESULTS_GONE,     /* it was deleted */
  QM_RESULTS_REPLACED, /* another has its name */
  QM_RESULTS_CUT,      /* it became shorter */
  QM_RESULTS_GROWN     /* it became longer */
} QmResultsChange;

/* Makes sure that the file of that name holds every result that is known: what
 * the file that is there now lacks is appended to it, and where there is none
 * it is made.  What others put into it is kept, and counts from then on.  Where
 * that cannot be done, all that is known goes into a new file beside it, which
 * the error names, and the status is that of the error. */
QmStatus qm_results_secure (QmResultsFile *file, QmError *error);

/* What others did to it since this was asked last, that was found out by
 * qm_results_secure() or qm_results_append(). */
QmResultsChange qm_results_file_change (QmResultsFile *file);

/* Appends one result and waits until it is on the disk, after what
 * qm_results_secure() does.  Where it cannot be written, the file is as it was
 * before: QM_STATUS_IO.  An object that qm_results_parse() would refuse is
 * refused as there. */
QmStatus
qm_results_append (QmResultsFile *file, const json_t *object, QmError *error);

/* Writes `n` results into a file that has its name only when it is complete, in
 * place of one that may have been there, on which nobody may have a lock. */
QmStatus qm_results_write (const char *path,
                           const QmResult *const *results,
                           size_t n,
                           QmError *error);

/* The time now as results have it, "2026-11-21T06:40:00Z". */
#define QM_RESULTS_TIME_BYTES 21
void qm_results_now (char text[QM_RESULTS_TIME_BYTES]);

#endif
