/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/pages/qm-page.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static void
add_findings (QmQuote *quote, const QmPageOffer *offer)
{
  if (offer->currency[0] == '\0')
    qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                          _ ("the page does not say the currency clearly"));
  if (!offer->confirmed)
    qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL,
                          _ ("the price is not among what people see on the "
                             "page"));
  if (offer->availability == QM_AVAILABILITY_OUT_OF_STOCK
      || offer->availability == QM_AVAILABILITY_DISCONTINUED)
    qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                          _ ("the page says that it is not in stock"));
  for (guint i = 0; i < offer->notes->len; i++)
    {
      g_autofree char *text =
          g_strdup_printf (_ ("of the page: %s"),
                           (char *) g_ptr_array_index (offer->notes, i));

      qm_quote_add_finding (quote, QM_FINDING_NOTE, NULL, text);
    }
}

/* The host of an address, for a page that names no seller.  (nullable) */
static char *
host_of (const char *source)
{
  g_autofree char *host = NULL;

  if (source != NULL && strstr (source, "://") != NULL)
    g_uri_split (source, G_URI_FLAGS_PARSE_RELAXED, NULL, NULL, &host, NULL,
                 NULL, NULL, NULL, NULL);
  return g_strdup (host != NULL && g_str_has_prefix (host, "www.") ? host + 4
                                                                   : host);
}

QmQuote *
qm_page_offer_to_quote (const QmPageOffer *offer,
                        const char *source,
                        const char *sha256,
                        QmDate read_on)
{
  QmQuoteLine *line;
  QmQuote *quote;

  g_return_val_if_fail (offer != NULL, NULL);

  if (offer->price_micros == QM_AMOUNT_UNSTATED)
    return NULL;
  quote = qm_quote_new ();
  quote->vendor =
      offer->seller != NULL ? g_strdup (offer->seller) : host_of (source);
  memcpy (quote->currency, offer->currency, sizeof quote->currency);
  quote->kind = QM_PRICE_STREET;
  quote->origin = QM_QUOTE_FROM_PAGE;
  quote->issued_on = read_on;
  quote->valid_until = offer->valid_until;
  quote->tax_included = offer->tax_included;
  quote->source = g_strdup (source);
  quote->sha256 = g_strdup (sha256);
  line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  line->description = g_strdup (offer->name);
  line->part_number = g_strdup (offer->mpn != NULL ? offer->mpn : offer->sku);
  line->quantity_micros = QM_MICROS_PER_UNIT;
  line->price_micros = offer->price_micros;
  add_findings (quote, offer);
  return quote;
}
