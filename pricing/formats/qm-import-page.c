/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-import.h"
#include "pricing/pages/qm-page.h"

#include <glib/gi18n-lib.h>
#include <string.h>

char *
qm_import_charset (const char *media_type)
{
  const char *start =
      media_type != NULL ? strstr (media_type, "charset=") : NULL;

  if (start == NULL)
    return NULL;
  start += strlen ("charset=");
  start += *start == '"';
  return g_strndup (start, strcspn (start, "\"; "));
}

GPtrArray *
qm_import_read_page (const char *data,
                     gsize size,
                     const char *address,
                     const char *media_type,
                     gpointer user_data,
                     GCancellable *cancellable,
                     GError **error)
{
  const QmPageContext *given = user_data;
  g_autofree char *charset = qm_import_charset (media_type);
  g_autoptr (QmPageOffer) offer = NULL;
  QmPageContext context = { .charset = charset };
  GPtrArray *quotes;
  QmQuote *quote;

  if (given != NULL)
    context.rules = given->rules;
  if (given != NULL && given->charset != NULL)
    context.charset = given->charset;
  if (address != NULL && strstr (address, "://") != NULL)
    context.url = address;
  offer =
      qm_page_read ((const guint8 *) data, size, &context, cancellable, error);
  if (offer == NULL)
    return NULL;
  quote = qm_page_offer_to_quote (offer, address, NULL, qm_date_today ());
  if (quote == NULL)
    {
      g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                   /* Translators: why. */
                   _ ("the page says no price: %s. Type in what it offers, "
                      "or write it into a table (CSV)"),
                   offer->reason);
      return NULL;
    }
  quotes = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_ptr_array_add (quotes, quote);
  return quotes;
}
