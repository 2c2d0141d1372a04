/* SPDX-License-Identifier: Apache-2.0 */

/* Whole pages.  The first byte chooses the encoding that the server names and
 * whether there is a rule for the site. */

#include "pricing/pages/qm-page.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char rules_text[] =
    "<rules version=\"1\"><site host=\"shop.example\" decimal=\"comma\">"
    "<price>//*[@id=\"p\"]</price><price>string(//b[last()])</price>"
    "<name>//h1</name></site></rules>";

static void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

static void
check_line (const char *text)
{
  if (text == NULL)
    return;
  require (*text != '\0' && g_utf8_validate (text, -1, NULL));
  for (const char *c = text; *c != '\0'; c++)
    require ((unsigned char) *c >= 0x20 && *c != 0x7f);
}

static void
check_offer (const QmPageOffer *offer)
{
  check_line (offer->name);
  check_line (offer->seller);
  check_line (offer->sku);
  check_line (offer->mpn);
  require (offer->currency[0] == '\0' || qm_currency_valid (offer->currency));
  if (offer->price_micros == QM_AMOUNT_UNSTATED)
    require (offer->reason != NULL && offer->method == QM_PAGE_NOTHING);
  else
    {
      const QmDate today = { 2026, 11, 21 };
      g_autoptr (QmQuote) quote =
          qm_page_offer_to_quote (offer, "page", NULL, today);

      require (offer->price_micros > 0 && offer->reason == NULL);
      require (offer->method != QM_PAGE_NOTHING);
      require (quote != NULL && quote->lines->len == 1);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const charsets[] = { NULL,          "utf-8",  "latin1",
                                          "shift_jis",   "utf-16", "gbk",
                                          "iso-2022-jp", "koi8-r" };
  QmPageContext context = { .url = "https://www.shop.example/x" };
  g_autoptr (QmPageRules) rules = NULL;
  g_autoptr (QmPageOffer) offer = NULL;
  g_autoptr (GError) error = NULL;
  guint8 *bytes;

  if (size == 0)
    return 0;
  context.charset = charsets[data[0] % G_N_ELEMENTS (charsets)];
  if ((data[0] & 0x80) != 0)
    context.rules = rules =
        qm_page_rules_parse (rules_text, sizeof rules_text - 1, "rules", NULL);
  bytes = malloc (size);
  require (bytes != NULL);
  memcpy (bytes, data + 1, size - 1);
  offer = qm_page_read (bytes, size - 1, &context, NULL, &error);
  require ((offer == NULL) == (error != NULL));
  if (offer != NULL)
    check_offer (offer);
  free (bytes);
  return 0;
}
