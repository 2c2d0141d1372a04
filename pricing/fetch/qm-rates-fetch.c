/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-rates-fetch.h"

/* The last day that is known may be some days old and still be the one before
 * today's; the 90 days are the calendar's. */
#define DAILY_GAP   1
#define NINETY_DAYS 88

const char *
qm_rates_address_for (QmRates *known, QmDate today)
{
  QmDate last =
      known != NULL ? qm_rates_last_day (known) : (QmDate){ .year = 0 };
  int gap;

  if (last.year == 0)
    return QM_RATES_ECB_HISTORY;
  gap = qm_date_days_between (last, today);
  return gap <= DAILY_GAP     ? QM_RATES_ECB_DAILY
         : gap <= NINETY_DAYS ? QM_RATES_ECB_90_DAYS
                              : QM_RATES_ECB_HISTORY;
}

QmRates *
qm_rates_fetch (QmFetcher *fetcher,
                const char *address,
                QmFetchProgress progress,
                gpointer user_data,
                GCancellable *cancellable,
                GError **error)
{
  QmFetchRequest request = { .address = address,
                             .accept = "application/xml, text/xml;q=0.9, "
                                       "*/*;q=0.5",
                             .max_bytes = QM_RATES_MAX_BYTES };
  g_autoptr (QmFetchResult) result = NULL;

  g_return_val_if_fail (fetcher != NULL && address != NULL, NULL);

  result = qm_fetcher_fetch (fetcher, &request, progress, user_data,
                             cancellable, error);
  if (result == NULL)
    return NULL;
  return qm_rates_new_from_ecb (result->body, result->address, error);
}
