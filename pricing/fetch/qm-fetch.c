/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-fetch-address.h"
#include "pricing/fetch/qm-fetch-pace.h"
#include "pricing/fetch/qm-fetch-transfer.h"
#include "pricing/fetch/qm-fetch.h"

#include <curl/curl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

struct _QmFetcher
{
  QmFetchLimits limits;
  char *ca_file;
  QmFetchPace *pace;
  QmProxies *proxies;
};

G_DEFINE_QUARK (qm - fetch - error - quark, qm_fetch_error)

QmFetchLimits
qm_fetch_limits_default (void)
{
  return (QmFetchLimits){ .connect_ms = 15000,
                          .total_ms = 60000,
                          .crawl_s = 20,
                          .crawl_bytes = 50,
                          .max_bytes = 8 << 20,
                          .interval_ms = 1000 };
}

QmFetcher *
qm_fetcher_new (const QmFetchLimits *limits)
{
  static gsize initialized = 0;
  QmFetcher *fetcher = g_new0 (QmFetcher, 1);

  if (g_once_init_enter (&initialized))
    {
      curl_global_init (CURL_GLOBAL_DEFAULT);
      g_once_init_leave (&initialized, 1);
    }
  fetcher->limits = limits != NULL ? *limits : qm_fetch_limits_default ();
  fetcher->ca_file = g_strdup (fetcher->limits.ca_file);
  fetcher->limits.ca_file = fetcher->ca_file;
  fetcher->pace = qm_fetch_pace_new (fetcher->limits.interval_ms);
  fetcher->proxies = qm_proxies_new ();
  return fetcher;
}

void
qm_fetcher_free (QmFetcher *fetcher)
{
  if (fetcher == NULL)
    return;
  g_free (fetcher->ca_file);
  qm_fetch_pace_free (fetcher->pace);
  qm_proxies_free (fetcher->proxies);
  g_free (fetcher);
}

void
qm_fetch_result_free (QmFetchResult *result)
{
  if (result == NULL)
    return;
  g_free (result->address);
  g_free (result->media_type);
  g_free (result->charset);
  g_free (result->etag);
  g_free (result->last_modified);
  g_clear_pointer (&result->body, g_bytes_unref);
  g_free (result);
}

char *
qm_fetch_check_address (const char *address, GError **error)
{
  g_autoptr (QmAddress) parsed = NULL;

  g_return_val_if_fail (address != NULL, NULL);

  parsed = qm_address_parse (address, error);
  return parsed != NULL ? g_steal_pointer (&parsed->text) : NULL;
}

static gboolean
is_redirect (int status)
{
  return status == 301 || status == 302 || status == 303 || status == 307
         || status == 308;
}

/* The sentence and the code for a status that is no success. */
static void
set_status_error (const QmAddress *address,
                  const QmAnswer *answer,
                  GError **error)
{
  int status = answer->status;

  if (status == 404 || status == 410)
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_NOT_FOUND,
                 _ ("%s: there is no such page (status %d)"), address->host,
                 status);
  else if (status == 401 || status == 403 || status == 407 || status == 451)
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_DENIED,
                 _ ("%s: the page is not for us (status %d)"), address->host,
                 status);
  else if ((status == 429 || status == 503) && answer->retry_after != NULL)
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_BUSY,
                 _ ("%s: asks to be left alone for now (status %d, try again "
                    "after: %.64s)"),
                 address->host, status, answer->retry_after);
  else if (status == 429 || status == 503)
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_BUSY,
                 _ ("%s: asks to be left alone for now (status %d)"),
                 address->host, status);
  else if (status >= 500)
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_SERVER,
                 _ ("%s: the server has a problem (status %d)"), address->host,
                 status);
  else
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_STATUS,
                 _ ("%s: answers without a page (status %d)"), address->host,
                 status);
}

/* A word of a header that is only letters, digits and what names use. */
static char *
header_word (const char *text)
{
  gsize length =
      strspn (text, "abcdefghijklmnopqrstuvwxyz"
                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&-^_.+/:");

  return length > 0 ? g_ascii_strdown (text, (gssize) length) : NULL;
}

/* "text/html; charset=utf-8" */
static void
read_content_type (const char *header, QmFetchResult *result)
{
  g_auto (GStrv) parts = NULL;

  if (header == NULL)
    return;
  parts = g_strsplit (header, ";", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      const char *part = g_strstrip (parts[i]);

      if (i == 0)
        result->media_type = header_word (part);
      else if (g_ascii_strncasecmp (part, "charset=", 8) == 0
               && result->charset == NULL)
        result->charset =
            header_word (part + 8 + (part[8] == '"' || part[8] == '\''));
    }
}

static QmFetchResult *
result_new (const QmAddress *address, QmAnswer *answer, guint redirects)
{
  QmFetchResult *result = g_new0 (QmFetchResult, 1);

  result->not_modified = answer->status == 304;
  result->status = answer->status;
  result->address = g_strdup (address->text);
  result->etag = g_steal_pointer (&answer->etag);
  result->last_modified = g_steal_pointer (&answer->last_modified);
  result->fetched_at = g_get_real_time () / G_USEC_PER_SEC;
  result->redirects = redirects;
  result->received = answer->received;
  read_content_type (answer->content_type, result);
  if (!result->not_modified)
    {
      result->body = g_byte_array_free_to_bytes (answer->body);
      answer->body = g_byte_array_new ();
    }
  return result;
}

/* Where a redirect leads, if it may lead there. */
static QmAddress *
next_address (const QmAddress *address,
              const char *location,
              guint redirects,
              GHashTable *visited,
              GError **error)
{
  g_autoptr (QmAddress) next = NULL;
  g_autoptr (GError) local = NULL;
  const char *problem = NULL;

  if (redirects == QM_FETCH_MAX_REDIRECTS)
    problem = _ ("redirects more than five times");
  else if (location == NULL)
    problem = _ ("redirects without saying where to");
  else if ((next = qm_address_resolve (address, location, &local)) == NULL)
    problem = local->message;
  else if (strcmp (address->scheme, "https") == 0
           && strcmp (next->scheme, "http") == 0)
    problem = _ ("redirects from a protected to an unprotected address");
  else if (g_hash_table_contains (visited, next->text))
    problem = _ ("redirects in circles");
  if (problem == NULL)
    return g_steal_pointer (&next);

  if (local != NULL)
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_REDIRECT,
                 _ ("%s: redirects to an address that is not fetched: %s"),
                 address->host, problem);
  else
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_REDIRECT, "%s: %s",
                 address->host, problem);
  return NULL;
}

/* What stays between the requests of a fetch. */
typedef struct
{
  QmFetcher *fetcher;
  const QmFetchRequest *request;
  QmTransfer transfer;
  gint64 spent_us; /* in requests */
  GHashTable *visited;
} Fetch;

static QmAnswer *
ask_address (Fetch *fetch,
             const QmAddress *address,
             GCancellable *cancellable,
             GError **error)
{
  QmTransfer *transfer = &fetch->transfer;
  QmAnswer *answer;
  gint64 begin;

  if (!qm_fetch_pace_wait (fetch->fetcher->pace, address->host, cancellable,
                           error))
    return NULL;
  begin = g_get_monotonic_time ();
  transfer->address = address;
  transfer->proxy = qm_proxies_choose (fetch->fetcher->proxies, address);
  transfer->left_ms =
      (gint64) fetch->fetcher->limits.total_ms - fetch->spent_us / 1000;
  g_hash_table_add (fetch->visited, g_strdup (address->text));
  answer = qm_transfer_run (transfer, cancellable, error);
  fetch->spent_us += g_get_monotonic_time () - begin;
  return answer;
}

static QmFetchResult *
conclude_fetch (const Fetch *fetch,
                const QmAddress *address,
                QmAnswer *answer,
                guint redirects,
                GError **error)
{
  gboolean conditional =
      fetch->request->etag != NULL || fetch->request->last_modified != NULL;

  if (answer->status == 200 || answer->status == 203
      || (answer->status == 304 && conditional))
    return result_new (address, answer, redirects);
  if (answer->status == 304)
    g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_PROTOCOL,
                 _ ("%s: says that the page is as before, but nobody knows how "
                    "it was"),
                 address->host);
  else
    set_status_error (address, answer, error);
  return NULL;
}

static QmFetchResult *
follow (Fetch *fetch, GCancellable *cancellable, GError **error)
{
  g_autoptr (QmAddress) address =
      qm_address_parse (fetch->request->address, error);

  for (guint redirects = 0; address != NULL; redirects++)
    {
      g_autoptr (QmAnswer) answer =
          ask_address (fetch, address, cancellable, error);
      QmAddress *next;

      if (answer == NULL)
        return NULL;
      if (!is_redirect (answer->status))
        return conclude_fetch (fetch, address, answer, redirects, error);
      if (fetch->request->body != NULL)
        {
          g_set_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_REDIRECT,
                       _ ("%s: redirects a question that was sent to it"),
                       address->host);
          return NULL;
        }
      next = next_address (address, answer->location, redirects, fetch->visited,
                           error);
      fetch->transfer.nearest = MIN (fetch->transfer.nearest, answer->nearness);
      qm_address_free (address);
      address = next;
    }
  return NULL;
}

QmFetchResult *
qm_fetcher_fetch (QmFetcher *fetcher,
                  const QmFetchRequest *request,
                  QmFetchProgress progress,
                  gpointer user_data,
                  GCancellable *cancellable,
                  GError **error)
{
  g_autoptr (GHashTable) visited =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Fetch fetch = { .fetcher = fetcher, .request = request, .visited = visited };

  g_return_val_if_fail (fetcher != NULL && request != NULL, NULL);
  g_return_val_if_fail (request->address != NULL, NULL);

  fetch.transfer = (QmTransfer){
    .limits = &fetcher->limits,
    .request = request,
    .nearest = fetcher->limits.public_only ? QM_NEAR_PUBLIC : QM_NEAR_LINK,
    .progress = progress,
    .progress_data = user_data,
  };
  return follow (&fetch, cancellable, error);
}
