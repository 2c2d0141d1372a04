/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-private.h"
#include "pricing/words-currencies.h"

#include <string.h>

/* ISO 3166 regions whose currency has a sign that others use too. */
#define REGION(word, tells) word " " #tells,
static const char regions[][8] = { QM_EACH_REGION (REGION) };

static gboolean
currency_of_region (const char *region, const char *sign, char currency[4])
{
  for (guint i = 0; i < G_N_ELEMENTS (regions); i++)
    if (g_ascii_strncasecmp (regions[i], region, 2) == 0
        && qm_amount_sign_may_mean (sign, regions[i] + 3))
      {
        memcpy (currency, regions[i] + 3, 4);
        return TRUE;
      }
  return FALSE;
}

/* The region of "en-US" or "en_US"; NULL: none. */
static const char *
region_of (const char *locale)
{
  const char *mark = locale != NULL ? strpbrk (locale, "-_") : NULL;

  if (mark == NULL || !g_ascii_isalpha (mark[1]) || !g_ascii_isalpha (mark[2])
      || g_ascii_isalpha (mark[3]))
    return NULL;
  return mark + 1;
}

/* The top-level domain of the page's address; NULL: not of a region. */
static const char *
domain_of (const char *url)
{
  static char none[1];
  const char *host = url != NULL ? strstr (url, "://") : NULL;
  const char *end;

  if (host == NULL)
    return none;
  host += 3;
  end = host + strcspn (host, "/:?#");
  if (end - host < 4 || end[-3] != '.' || !g_ascii_isalpha (end[-1])
      || !g_ascii_isalpha (end[-2]))
    return none;
  return end - 2;
}

void
qm_page_guess_currency (const QmPage *page, const char *sign, char currency[4])
{
  const xmlNode *top = xmlDocGetRootElement (page->doc);
  const char *domain = domain_of (page->context->url);
  const char *region;

  if (*domain == '\0')
    domain = domain_of (page->canonical);
  if (*domain != '\0' && currency_of_region (domain, sign, currency))
    return;
  region = region_of (qm_page_attribute (top, "lang"));
  if (region != NULL && *domain == '\0')
    currency_of_region (region, sign, currency);
}
