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

/* A price beyond so many times the highest known one, or below that part of the
 * lowest, is asked about. */
#define QM_PLAUSIBLE_TIMES 3

/* Where the words of a line name a service or a discount, too, it may be that
 * alone: then it is asked about below two thirds of the lowest price, or of
 * what the same GPU costs in another line. */
#define QM_PLAUSIBLE_BESIDES_OF_3 2

/* Prices older than the newest by more than that say nothing of today's. */
#define QM_PLAUSIBLE_DAYS 730

/* Asks about the quoted lines of a quote, which have been matched, of which the
 * price is far from every known one, or too low for what names a service, with
 * a finding for each that was not asked about before.  What is paid by the hour
 * is not looked at, nor a currency of which no rate is known.
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
