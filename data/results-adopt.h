/* SPDX-License-Identifier: Apache-2.0 */

/* Results that do not say of which machine they are, since an older version
 * measured them: somebody has to say it. */

#ifndef QM_DATA_RESULTS_ADOPT_H
#define QM_DATA_RESULTS_ADOPT_H

#include "data/identity.h"
#include "data/results.h"

/* Where a result was measured. */
QmWhere qm_result_where (const QmResult *result, const QmIdentity *here);

/* How many results do not say it. */
size_t qm_results_count_unsaid (const QmResults *results);

/* Has every result of a file that does not say it be one of `machine`, this one
 * or one of which nothing but QM_IDENTITY_ANOTHER is known: the file is written
 * anew, every line of it, and complete before it takes the place of the one
 * before.  *n is how many there were.
 *
 * QM_STATUS_UNSUPPORTED where the machine has no identity, QM_STATUS_NOT_FOUND
 * where there is no file; fails as qm_results_open() does, without waiting. */
QmStatus qm_results_adopt (const char *path,
                           const QmIdentity *machine,
                           size_t *n,
                           QmError *error);

#endif
