/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes and copies of a store, one by one: the program adds all quotes of a
 * document together, and copies when it is time. */

#pragma once

#include "pricing/quotes/qm-quote-store.h"

/* Adds a quote, as qm_quote_store_add_all() does.
 *
 * already: (out) (optional): whether it was there.
 *
 * Returns: its id; 0 with an error. */
gint64 add_quote (QmQuoteStore *store,
                  const QmQuote *quote,
                  GPtrArray *attachments,
                  gboolean *already,
                  GError **error);

/* Copies the store as it is now into a dated file beside it, and removes all
 * but the last QM_QUOTE_STORE_BACKUPS of these.
 *
 * Returns: (transfer full): the path of the copy, or NULL with an error. */
char *back_up (QmQuoteStore *store, GError **error);
