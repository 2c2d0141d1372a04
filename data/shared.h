/* SPDX-License-Identifier: Apache-2.0 */

/* Results that somebody gives away: model, device, software, method and times,
 * and nothing of who measured them.
 *
 * Such a file is text, one JSON object a line.  The first says what it is and
 * is signed off:
 *
 *   {"format":"quartermaster-shared","version":1,"results":2,
 *    "signed_off":"I measured these results, ..."}
 *
 * Each line behind it is a measured result (data/results.h) with the fields
 * that are listed in shared.c and no others: no identity of a machine, no
 * address of a bus, no path, no words of a user, and of its time the day.  A
 * reader refuses everything else, so that what was read can be kept as it is.
 */

#ifndef QM_DATA_SHARED_H
#define QM_DATA_SHARED_H

#include "data/catalog.h"
#include "data/results.h"

#define QM_SHARED_FORMAT  "quartermaster-shared"
#define QM_SHARED_VERSION 1

/* No file is larger, and none has more results. */
#define QM_SHARED_MAX_BYTES   ((size_t) 1024 * 1024)
#define QM_SHARED_MAX_RESULTS 1000

/* What who signs a file off says. */
#define QM_SHARED_STATEMENT                                                    \
  "I measured these results, as their fields say, and give them to everybody " \
  "under CC0 1.0."

/* Where such a file is sent: what the form for it among the project's issues is
 * called. */
#define QM_SHARED_FORM "A result to share"

/* Those of `results` that can be of use to others: measured, of a model and a
 * GPU that the catalog knows as well; of `model` alone where that is not NULL.
 * The array is the caller's to free, what it points to belongs to `results`.
 * QM_STATUS_NOT_FOUND where there is none. */
QmStatus qm_shared_choose (const QmResults *results,
                           const QmCatalog *catalog,
                           const char *model,
                           const QmResult ***chosen,
                           size_t *n,
                           QmError *error);

/* The text of such a file of measured results, signed off; the caller frees it.
 * Fails as qm_shared_write() does, but for writing. */
QmStatus qm_shared_make (const QmResult *const *results,
                         size_t n,
                         char **text,
                         size_t *length,
                         QmError *error);

/* Writes measured results, signed off, in place of a file that may be there.
 * QM_STATUS_INVALID for none, too many, or one that was not measured or has
 * words that no program writes. */
QmStatus qm_shared_write (const char *path,
                          const QmResult *const *results,
                          size_t n,
                          QmError *error);

/* Reads `length` bytes of such a file; `file` names it in messages.  Adds to
 * `results`, or nothing: QM_STATUS_PARSE or _INVALID with the line where
 * something is wrong, _UNSUPPORTED for another version. */
QmStatus qm_shared_parse (QmResults *results,
                          const char *text,
                          size_t length,
                          const char *file,
                          QmError *error);

/* Reads the file at `path`; QM_STATUS_IO where that cannot be done. */
QmStatus qm_shared_read (QmResults *results, const char *path, QmError *error);

#endif
