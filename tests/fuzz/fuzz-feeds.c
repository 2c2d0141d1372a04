/* SPDX-License-Identifier: Apache-2.0 */

/* Answers of price feeds.  The first byte chooses the feed: a, v or r for
 * Azure, Vast.ai and RunPod. */

#include "pricing/fetch/qm-price-feed.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

static void
check_price (const QmFeedPrice *price)
{
  require (price->offer != NULL && price->gpu != NULL);
  require (g_utf8_validate (price->offer, -1, NULL));
  require (g_utf8_validate (price->gpu, -1, NULL));
  require (price->hour_micros > 0 && price->gpus > 0 && price->offers > 0);
  require (price->low_micros <= price->hour_micros
           && price->hour_micros <= price->high_micros);
  require (qm_currency_valid (price->currency));
}

static void
check (QmFeedPage *page, QmFeed feed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmQuote) quote = NULL;

  for (guint i = 0; i < page->prices->len; i++)
    check_price (g_ptr_array_index (page->prices, i));
  require (page->left_out + page->broken <= page->rows);
  quote = qm_feed_page_to_quote (page, feed, "fuzz", (QmDate){ 2026, 11, 21 },
                                 &error);
  require ((quote != NULL) == (error == NULL));
  if (quote != NULL)
    require (quote->lines->len == page->prices->len);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char kinds[] = { 'a', 'v', 'r' };
  const char *kind = size > 0 ? memchr (kinds, data[0], sizeof kinds) : NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFeedPage) page = NULL;

  if (kind == NULL)
    return 0;
  bytes = g_bytes_new (data + 1, size - 1);
  page = qm_feed_read ((QmFeed) (kind - kinds), bytes, "fuzz", &error);
  require ((page != NULL) == (error == NULL));
  if (page != NULL)
    check (page, (QmFeed) (kind - kinds));
  else
    require (g_utf8_validate (error->message, -1, NULL));
  return 0;
}
