/* SPDX-License-Identifier: Apache-2.0 */

/* The user's own files that help to read quotes and pages, with the shipped
 * ones: one that is broken is left out, with a line on standard error, and
 * stops nothing. */

#pragma once

#include "pricing/pages/qm-page-rules.h"
#include "pricing/quotes/qm-match.h"

G_BEGIN_DECLS

/* Rules for sites.
 *
 * problems: (nullable) (element-type QmError): gets what is wrong, too.
 *
 * Returns: (transfer full). */
QmPageRules *qm_cli_own_rules (GArray *problems);

/* What knows the GPUs of a catalog, with their part numbers.  (transfer full)
 */
QmMatcher *qm_cli_own_matcher (const QmCatalog *catalog);

G_END_DECLS
