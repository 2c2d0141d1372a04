/* SPDX-License-Identifier: Apache-2.0 */

#include "stored.h"

#include "pricing/quotes/qm-quote-store-private.h"

gint64
add_quote (QmQuoteStore *store,
           const QmQuote *quote,
           GPtrArray *attachments,
           gboolean *already,
           GError **error)
{
  g_autoptr (GPtrArray) quotes = g_ptr_array_new ();
  g_autoptr (GArray) ids = NULL;
  guint added;

  g_ptr_array_add (quotes, (gpointer) quote);
  ids = qm_quote_store_add_all (store, quotes, attachments, &added, error);
  if (ids == NULL)
    return 0;
  if (already != NULL)
    *already = added == 0;
  return g_array_index (ids, gint64, 0);
}

char *
back_up (QmQuoteStore *store, GError **error)
{
  return qm_store_copy (store->db, store->path, TRUE, error);
}
