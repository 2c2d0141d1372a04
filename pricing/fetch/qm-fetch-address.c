/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-fetch-address.h"
#include "pricing/fetch/qm-fetch.h"

#include <curl/curl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_BYTES 8192

struct _QmProxies
{
  char *http;
  char *https;
  char *all;
  char **none; /* hosts without one */
};

void
qm_address_free (QmAddress *address)
{
  if (address == NULL)
    return;
  g_free (address->text);
  g_free (address->scheme);
  g_free (address->host);
  g_free (address);
}

/* Why nothing is made of it even before it is taken apart; NULL: nothing. */
static const char *
text_problem (const char *text)
{
  if (*text == '\0')
    return _ ("the address is empty");
  if (strlen (text) > MAX_BYTES)
    return _ ("the address is too long");
  if (!g_utf8_validate (text, -1, NULL))
    return _ ("the address is not UTF-8");
  if (strchr (text, '\\') != NULL)
    return _ ("the address has a backslash in it");
  for (const char *c = text; *c != '\0'; c = g_utf8_next_char (c))
    if (g_unichar_iscntrl (g_utf8_get_char (c))
        || g_unichar_isspace (g_utf8_get_char (c))
        || g_unichar_type (g_utf8_get_char (c)) == G_UNICODE_FORMAT)
      return _ ("the address has blanks or control characters in it");
  return NULL;
}

/* A part of the address in GLib's memory, or NULL. */
static char *
part_of_address (CURLU *url, CURLUPart part, unsigned int flags)
{
  char *text = NULL;
  char *copy = NULL;

  if (curl_url_get (url, part, &text, flags) == CURLUE_OK)
    copy = g_strdup (text);
  curl_free (text);
  return copy;
}

static char *
plain_host (char *host)
{
  gsize length;
  char *plain;

  if (host == NULL)
    return NULL;
  length = strlen (host);
  if (length > 2 && host[0] == '[' && host[length - 1] == ']')
    plain = g_strndup (host + 1, length - 2);
  else
    plain = g_ascii_strdown (host, -1);
  g_free (host);
  return plain;
}

/* A name or an IP address; libcurl also lets through what was written with
 * percent signs, which would hide anything. */
static gboolean
is_host (const char *host)
{
  if (host == NULL || *host == '\0' || !g_utf8_validate (host, -1, NULL))
    return FALSE;
  for (const char *c = host; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar character = g_utf8_get_char (c);

      if (!g_unichar_isalnum (character) && !g_unichar_ismark (character)
          && (character >= 128 || strchr ("-._:", (int) character) == NULL))
        return FALSE;
    }
  return TRUE;
}

static gboolean
has_part (CURLU *url, CURLUPart part)
{
  g_autofree char *text = part_of_address (url, part, 0);

  return text != NULL;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CURLU, curl_url_cleanup)

static QmAddress *
take_apart (const char *base, const char *text, const char **problem)
{
  g_autoptr (QmAddress) address = g_new0 (QmAddress, 1);
  g_autoptr (CURLU) url = curl_url ();

  *problem = _ ("the address is not one of a page");
  if (base != NULL)
    curl_url_set (url, CURLUPART_URL, base, 0);
  if (curl_url_set (url, CURLUPART_URL, text,
                    CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE)
      != CURLUE_OK)
    return NULL;
  address->scheme = part_of_address (url, CURLUPART_SCHEME, 0);
  if (g_strcmp0 (address->scheme, "http") != 0
      && g_strcmp0 (address->scheme, "https") != 0)
    {
      *problem = _ ("only addresses with http:// or https:// are fetched");
      return NULL;
    }
  if (has_part (url, CURLUPART_USER) || has_part (url, CURLUPART_PASSWORD))
    {
      *problem = _ ("addresses with a user name or password are not fetched");
      return NULL;
    }
  curl_url_set (url, CURLUPART_FRAGMENT, NULL, 0);
  address->text = part_of_address (url, CURLUPART_URL, 0);
  address->host = plain_host (part_of_address (url, CURLUPART_HOST, 0));
  if (address->text == NULL || !is_host (address->host))
    return NULL;
  return g_steal_pointer (&address);
}

/* What means something else when it is read again ("%32130706433" is a name at
 * first, and then the number of an IP address) is not let through. */
static gboolean
is_settled (const QmAddress *address)
{
  const char *problem;
  g_autoptr (QmAddress) again = take_apart (NULL, address->text, &problem);

  return again != NULL && strcmp (again->text, address->text) == 0
         && strcmp (again->host, address->host) == 0;
}

static QmAddress *
parse_address (const char *base, const char *text, GError **error)
{
  const char *problem = text_problem (text);
  g_autoptr (QmAddress) address = NULL;

  if (problem == NULL)
    address = take_apart (base, text, &problem);
  if (address != NULL && is_settled (address))
    return g_steal_pointer (&address);
  g_set_error_literal (error, QM_FETCH_ERROR, QM_FETCH_ERROR_ADDRESS,
                       address == NULL
                           ? problem
                           : _ ("the address is not one of a page"));
  return NULL;
}

/* Whether a whole address begins as it has to, so that there is nothing to
 * guess about which part is the host. */
static gboolean
begins_well (const char *text)
{
  static const char *const schemes[] = { "http://", "https://" };

  for (gsize i = 0; i < G_N_ELEMENTS (schemes); i++)
    {
      gsize length = strlen (schemes[i]);

      if (g_ascii_strncasecmp (text, schemes[i], length) == 0)
        return text[length] != '/';
    }
  return FALSE;
}

QmAddress *
qm_address_parse (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);

  if (*text != '\0' && !begins_well (text))
    {
      g_set_error_literal (
          error, QM_FETCH_ERROR, QM_FETCH_ERROR_ADDRESS,
          _ ("only addresses with http:// or https:// are fetched"));
      return NULL;
    }
  return parse_address (NULL, text, error);
}

QmAddress *
qm_address_resolve (const QmAddress *base, const char *location, GError **error)
{
  g_return_val_if_fail (base != NULL && location != NULL, NULL);

  return parse_address (base->text, location, error);
}

static QmNearness
nearness_of_ipv4 (const guint8 *ip)
{
  if (ip[0] == 0 || ip[0] == 127 || (ip[0] == 169 && ip[1] == 254))
    return QM_NEAR_LINK;
  if (ip[0] == 10 || (ip[0] == 172 && (ip[1] & 0xf0) == 16)
      || (ip[0] == 192 && ip[1] == 168)
      || (ip[0] == 100 && (ip[1] & 0xc0) == 64)
      || (ip[0] == 192 && ip[1] == 0 && ip[2] == 0)
      || (ip[0] == 198 && (ip[1] & 0xfe) == 18))
    return QM_NEAR_PRIVATE;
  return ip[0] >= 224 ? QM_NEAR_NEVER : QM_NEAR_PUBLIC;
}

static QmNearness
nearness_of_ipv6 (const guint8 *ip)
{
  static const guint8 zeros[16] = { 0 };
  static const guint8 mapped[12] = { [10] = 0xff, [11] = 0xff };
  static const guint8 translated[12] = { 0x00, 0x64, 0xff, 0x9b };

  if (memcmp (ip, zeros, 15) == 0 && ip[15] <= 1)
    return QM_NEAR_LINK;
  if (memcmp (ip, mapped, 12) == 0 || memcmp (ip, zeros, 12) == 0
      || memcmp (ip, translated, 12) == 0)
    return nearness_of_ipv4 (ip + 12);
  if (ip[0] == 0x20 && ip[1] == 0x02) /* 6to4 */
    return nearness_of_ipv4 (ip + 2);
  if (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80)
    return QM_NEAR_LINK;
  if ((ip[0] & 0xfe) == 0xfc || (ip[0] == 0xfe && (ip[1] & 0xc0) == 0xc0))
    return QM_NEAR_PRIVATE;
  return ip[0] == 0xff ? QM_NEAR_NEVER : QM_NEAR_PUBLIC;
}

QmNearness
qm_nearness_of_ip (const char *ip)
{
  g_autofree char *plain = NULL;
  g_autoptr (GInetAddress) address = NULL;

  g_return_val_if_fail (ip != NULL, QM_NEAR_NEVER);

  plain = g_strndup (ip, strcspn (ip, "%"));
  address = g_inet_address_new_from_string (plain);
  if (address == NULL)
    return QM_NEAR_PUBLIC;
  return g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV4
             ? nearness_of_ipv4 (g_inet_address_to_bytes (address))
             : nearness_of_ipv6 (g_inet_address_to_bytes (address));
}

/* A name without the dot that may end it. */
static gboolean
is_within_domain (const char *host, const char *domain)
{
  gsize host_length = strlen (host);
  gsize domain_length = strlen (domain);

  if (host_length > 0 && host[host_length - 1] == '.')
    host_length--;
  return domain_length > 0 && host_length >= domain_length
         && g_ascii_strncasecmp (host + host_length - domain_length, domain,
                                 domain_length)
                == 0
         && (host_length == domain_length
             || host[host_length - domain_length - 1] == '.');
}

QmNearness
qm_address_nearness (const QmAddress *address)
{
  g_return_val_if_fail (address != NULL, QM_NEAR_NEVER);

  return is_within_domain (address->host, "localhost")
             ? QM_NEAR_LINK
             : qm_nearness_of_ip (address->host);
}

/* A variable that is set and not empty. */
static char *
environment (const char *name, const char *other)
{
  const char *value = g_getenv (name);

  if ((value == NULL || *value == '\0') && other != NULL)
    value = g_getenv (other);
  return value != NULL && *value != '\0' ? g_strdup (value) : NULL;
}

/* HTTP_PROXY in capitals is left alone, as everybody does since a web server
 * sets it from a header of whoever asks. */
QmProxies *
qm_proxies_new (void)
{
  QmProxies *proxies = g_new0 (QmProxies, 1);
  g_autofree char *none = environment ("no_proxy", "NO_PROXY");

  proxies->http = environment ("http_proxy", NULL);
  proxies->https = environment ("https_proxy", "HTTPS_PROXY");
  proxies->all = environment ("all_proxy", "ALL_PROXY");
  proxies->none = g_strsplit_set (none != NULL ? none : "", ", \t", -1);
  return proxies;
}

void
qm_proxies_free (QmProxies *proxies)
{
  if (proxies == NULL)
    return;
  g_free (proxies->http);
  g_free (proxies->https);
  g_free (proxies->all);
  g_strfreev (proxies->none);
  g_free (proxies);
}

static gboolean
is_excepted (const char *host, const char *pattern)
{
  g_autoptr (GInetAddress) ip = g_inet_address_new_from_string (host);

  if (strcmp (pattern, "*") == 0)
    return TRUE;
  if (ip != NULL)
    {
      g_autoptr (GInetAddressMask) mask =
          g_inet_address_mask_new_from_string (pattern, NULL);

      return mask != NULL && g_inet_address_mask_matches (mask, ip);
    }
  return is_within_domain (host, pattern + (*pattern == '.'));
}

const char *
qm_proxies_choose (const QmProxies *proxies, const QmAddress *address)
{
  const char *proxy;

  g_return_val_if_fail (proxies != NULL && address != NULL, NULL);

  proxy =
      strcmp (address->scheme, "https") == 0 ? proxies->https : proxies->http;
  if (proxy == NULL)
    proxy = proxies->all;
  for (char **pattern = proxies->none; proxy != NULL && *pattern != NULL;
       pattern++)
    if (is_excepted (address->host, *pattern))
      return NULL;
  return proxy;
}
