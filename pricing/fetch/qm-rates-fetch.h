/* SPDX-License-Identifier: Apache-2.0 */

/* Bringing a table of exchange rates up to date. */

#pragma once

#include "pricing/fetch/qm-fetch.h"
#include "pricing/qm-rates.h"

G_BEGIN_DECLS

/* The smallest of the ECB's documents that closes the gap between what is known
 * and today; static.
 *
 * known: (nullable) */
const char *qm_rates_address_for (QmRates *known, QmDate today);

/* Fetches one of the ECB's documents and reads it; not for a thread that draws.
 *
 * address: of QM_RATES_ECB_DAILY and its like, or where the user has a copy.
 *
 * Returns: (transfer full): the rates of that document alone, or NULL with an
 *   error of QM_FETCH_ERROR, QM_RATES_ERROR or G_IO_ERROR_CANCELLED. */
QmRates *qm_rates_fetch (QmFetcher *fetcher,
                         const char *address,
                         QmFetchProgress progress,
                         gpointer user_data,
                         GCancellable *cancellable,
                         GError **error);

G_END_DECLS
