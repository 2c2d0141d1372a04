/* SPDX-License-Identifier: Apache-2.0 */

/* Amounts within running text. */

#pragma once

#include "pricing/pages/qm-page-private.h"

G_BEGIN_DECLS

/* Between the texts of two elements in a run. */
#define QM_SCAN_BOUNDARY '\x1f'

/* Before a text that is raised or marked as the decimals. */
#define QM_SCAN_DECIMALS '\x1d'

typedef struct
{
  gint64 micros;
  char currency[4]; /* empty: none, or a sign that means several */
  char sign[12];    /* as written; empty: none */
  gsize start;      /* in the cleaned run, with its sign */
  gsize end;
  gboolean negative;
} QmScannedAmount;

/* Finds the amounts in a run of texts with marks between them.  A number alone
 * is one too; its `sign` is empty.
 *
 * cleaned: (out) (transfer full): the run as one line, to which the places
 *   refer.
 *
 * Returns: (transfer full): a GArray of QmScannedAmount. */
GArray *qm_page_scan (const char *run, char **cleaned);

/* Appends the text of a node to a run, with a mark before it. */
void qm_page_scan_append (GString *run, const xmlNode *text);

/* The texts of an element as a run, at most `max` bytes, without those that are
 * struck through.  (transfer full) */
char *qm_page_scan_run (const xmlNode *node, gsize max);

/* The one amount in the text of an element; those with a currency go before
 * numbers alone.
 *
 * Returns: FALSE where there is none, or different ones. */
gboolean
qm_page_scan_one (const xmlNode *node, gint64 *micros, char currency[4]);

G_END_DECLS
