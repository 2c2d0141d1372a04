/* SPDX-License-Identifier: Apache-2.0 */

/* Whether a price can be that of a GPU, against all prices of it that are
 * known: what the catalog has of every kind, but rents.  A rent that is taken
 * for a price, a digit too many, or a pack that is taken for one card shows
 * here, whatever its words say. */

#pragma once

#include "data/catalog.h"
#include "pricing/qm-rates.h"
#include "pricing/quotes/qm-match.h"
#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

/* Asks about the quoted lines of a quote, which have been matched, of which the
 * price is far from every known one, or too low for what names a service, with
 * a finding for each that was not asked about before.  How far that is says
 * data/words/thresholds.csv.  What is paid by the hour is not looked at, nor a
 * currency of which no rate is known.
 *
 * rates: NULL: US dollars alone. */
void
qm_quote_ask_prices (QmQuote *quote, const QmCatalog *catalog, QmRates *rates);

/* Whether the first line of a quote can be a price of the GPU that its page is
 * watched for: its words name no other one, and its price is near enough to
 * what is known.
 *
 * item: of the catalog; anything but a GPU is let pass.
 *
 * Returns: FALSE with QM_READ_ERROR_NO_QUOTE and a sentence for people. */
gboolean qm_quote_check_item (const QmQuote *quote,
                              const char *item,
                              const QmMatcher *matcher,
                              QmRates *rates,
                              GError **error);

G_END_DECLS
