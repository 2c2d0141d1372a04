/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes in the project's own format, which pricing/README.md describes: what
 * is written is read back equal, down to the findings, and the same quotes are
 * always written as the same bytes. */

#pragma once

#include "pricing/quotes/qm-quote.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Writes quotes.
 *
 * quotes: of QmQuote.
 *
 * Returns: (transfer full): JSON, UTF-8, that ends with a line break. */
GBytes *qm_quote_json_write (GPtrArray *quotes);

/* Reads quotes.  A field that is not known becomes a finding of its quote.
 *
 * Returns: (transfer full): of QmQuote, at least one; or NULL with an error of
 *   QM_READ_ERROR that says which quote and field is wrong: not JSON, a key
 *   twice, another schema, an amount that its currency does not have. */
GPtrArray *qm_quote_json_read (const char *data, gsize size, GError **error);

G_END_DECLS
