/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes side by side: which of their lines are about the same thing, and
 * where they differ. */

#pragma once

#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

typedef enum
{
  QM_DIFFERS_MISSING = 1 << 0, /* not all quotes have such a line */
  QM_DIFFERS_QUANTITY = 1 << 1,
  QM_DIFFERS_PRICE = 1 << 2 /* only where the currencies are the same */
} QmLineDifferences;

/* One row.  Lines are the quotes' own. */
typedef struct
{
  QmLineRole role;
  const QmQuoteLine **lines; /* one for each quote, NULL where it has none */
  QmLineDifferences differences;
} QmComparedLine;

/* Aligns the lines of quotes: those of the same role and part number, or else
 * of the same GPU or machine and as many of it, or else of the same words.
 * Rows are in the order in which the quotes have them, the first quote's first.
 *
 * quotes: of QmQuote, which must outlive the rows.
 *
 * Returns: (transfer full): of QmComparedLine. */
GPtrArray *qm_quote_compare (GPtrArray *quotes);

G_END_DECLS
