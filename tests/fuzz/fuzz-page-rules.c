/* SPDX-License-Identifier: Apache-2.0 */

/* Rules for sites, and a page that they are tried on. */

#include "pricing/pages/qm-page.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char page[] =
    "<html><body><h1 class=\"t\">Card</h1><div id=\"buy\"><p class=\"price\">"
    "<b>1.299,00</b> <i>EUR</i></p><ul><li>1</li><li>2</li></ul></div></body>"
    "</html>";

static void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  QmPageContext context = { .url = "https://www.shop.example/x" };
  g_autoptr (QmPageRules) rules = NULL;
  g_autoptr (QmPageOffer) offer = NULL;
  g_autoptr (GError) error = NULL;
  char *text = malloc (size > 0 ? size : 1);

  require (text != NULL);
  if (size > 0)
    memcpy (text, data, size);
  rules = qm_page_rules_parse (text, size, "rules.xml", &error);
  free (text);
  require ((rules == NULL) == (error != NULL));
  if (rules == NULL)
    {
      require (g_str_has_prefix (error->message, "rules.xml"));
      return 0;
    }
  context.rules = rules;
  offer = qm_page_read ((const guint8 *) page, sizeof page - 1, &context, NULL,
                        NULL);
  require (offer != NULL);
  return 0;
}
