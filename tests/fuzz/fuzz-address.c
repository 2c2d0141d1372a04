/* SPDX-License-Identifier: Apache-2.0 */

/* Addresses of pages.  The first byte chooses: a for an address, r for where a
 * page redirects to. */

#include "pricing/fetch/qm-fetch-address.h"
#include "pricing/fetch/qm-fetch.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
require (gboolean holds)
{
  if (!holds)
    abort ();
}

/* What is let through is whole, has nobody's name in it, and means the same
 * when it is read again. */
static void
check (const QmAddress *address)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmAddress) again = qm_address_parse (address->text, &error);
  gsize authority = 0;

  require (again != NULL && error == NULL);
  require (strcmp (again->text, address->text) == 0);
  require (strcmp (again->host, address->host) == 0);
  require (strcmp (again->scheme, address->scheme) == 0);
  require (g_str_has_prefix (address->text, "http://")
           || g_str_has_prefix (address->text, "https://"));
  authority = strlen (address->scheme) + strlen ("://");
  require (memchr (address->text + authority, '@',
                   strcspn (address->text + authority, "/?#"))
           == NULL);
  require (strpbrk (address->text, " \t\r\n#\\") == NULL);
  require (qm_address_nearness (address) <= QM_NEAR_NEVER);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmAddress) base = NULL;
  g_autoptr (QmAddress) address = NULL;

  if (size == 0 || (data[0] != 'a' && data[0] != 'r'))
    return 0;
  text = g_strndup ((const char *) data + 1, size - 1);
  base = qm_address_parse ("https://shop.example:8443/a/b?c", NULL);
  address = data[0] == 'a' ? qm_address_parse (text, &error)
                           : qm_address_resolve (base, text, &error);
  require ((address != NULL) == (error == NULL));
  if (address != NULL)
    check (address);
  else
    require (error->domain == QM_FETCH_ERROR
             && error->code == QM_FETCH_ERROR_ADDRESS);
  return 0;
}
