/* SPDX-License-Identifier: Apache-2.0 */

/* Fetching from a web server on the loopback that behaves well and badly. */

#include "pricing/fetch/qm-fetch-address.h"
#include "pricing/fetch/qm-fetch-pace.h"
#include "pricing/fetch/qm-fetch.h"
#include "tests/pricing/server.h"

#include <string.h>

static TestServer *server;
static QmFetcher *fetcher; /* without pauses */

static QmFetchLimits
limits_without_pauses (void)
{
  QmFetchLimits limits = qm_fetch_limits_default ();

  limits.interval_ms = 0;
  return limits;
}

static QmFetchResult *
fetch (const char *path, GError **error)
{
  g_autofree char *address = test_server_address (server, path);
  QmFetchRequest request = { .address = address };

  return qm_fetcher_fetch (fetcher, &request, NULL, NULL, NULL, error);
}

static void
assert_body (const QmFetchResult *result, const char *expected)
{
  gsize size;
  const char *text = g_bytes_get_data (result->body, &size);

  g_assert_cmpmem (text, size, expected, strlen (expected));
}

static char *
body_text (const QmFetchResult *result)
{
  gsize size;
  const char *text = g_bytes_get_data (result->body, &size);

  return g_strndup (text, size);
}

static void
assert_fails (const char *path, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) result = fetch (path, &error);

  g_assert_null (result);
  g_assert_error (error, QM_FETCH_ERROR, code);
  if (words != NULL && strstr (error->message, words) == NULL)
    g_error ("“%s” is not in “%s”", words, error->message);
}

static void
test_page (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) result = fetch ("/ok#price", &error);
  g_autofree char *address = test_server_address (server, "/ok");

  g_assert_no_error (error);
  g_assert_cmpint (result->status, ==, 200);
  g_assert_false (result->not_modified);
  g_assert_cmpstr (result->address, ==, address);
  g_assert_cmpstr (result->media_type, ==, "text/html");
  g_assert_cmpstr (result->charset, ==, "iso-8859-1");
  g_assert_cmpstr (result->etag, ==, "\"v1\"");
  g_assert_cmpstr (result->last_modified, ==, "Fri, 20 Nov 2026 08:00:00 GMT");
  g_assert_cmpuint (result->redirects, ==, 0);
  g_assert_cmpint (result->received, ==, 5);
  g_assert_cmpint (
      ABS (result->fetched_at - g_get_real_time () / G_USEC_PER_SEC), <, 60);
  assert_body (result, "hello");
}

static void
test_conditional (void)
{
  g_autofree char *address = test_server_address (server, "/ok");
  const QmFetchRequest requests[] = {
    { .address = address, .etag = "\"v1\"" },
    { .address = address, .last_modified = "Fri, 20 Nov 2026 08:00:00 GMT" },
  };
  QmFetchRequest outdated = { .address = address, .etag = "\"v0\"" };
  g_autoptr (QmFetchResult) changed = NULL;
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (requests); i++)
    {
      g_autoptr (QmFetchResult) result =
          qm_fetcher_fetch (fetcher, &requests[i], NULL, NULL, NULL, &error);

      g_assert_no_error (error);
      g_assert_true (result->not_modified);
      g_assert_cmpint (result->status, ==, 304);
      g_assert_null (result->body);
    }
  changed = qm_fetcher_fetch (fetcher, &outdated, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (changed->not_modified);
  assert_body (changed, "hello");
  assert_fails ("/not-modified", QM_FETCH_ERROR_PROTOCOL, NULL);
}

static void
test_what_is_sent (void)
{
  g_autofree char *address = test_server_address (server, "/cookie");
  QmFetchRequest request = { .address = address,
                             .etag = "\"a\"\r\nX-Evil: 1",
                             .accept = "text/html" };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) result =
      qm_fetcher_fetch (fetcher, &request, NULL, NULL, NULL, &error);
  g_autofree char *sent = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (result->redirects, ==, 1);
  sent = body_text (result);
  g_assert_nonnull (strstr (sent, "User-Agent: Quartermaster/"));
  g_assert_nonnull (strstr (sent, "Accept: text/html"));
  g_assert_null (strstr (sent, "Cookie"));
  g_assert_null (strstr (sent, "Evil"));
  g_assert_null (strstr (sent, "Authorization"));
}

static void
test_post (void)
{
  g_autofree char *address = test_server_address (server, "/post");
  g_autofree char *elsewhere = test_server_address (server, "/post-redirect");
  QmFetchRequest request = { .address = address, .body = "{\"a\": 1}" };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) result =
      qm_fetcher_fetch (fetcher, &request, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  assert_body (result, "application/json\n{\"a\": 1}");
  request.address = elsewhere;
  g_assert_null (
      qm_fetcher_fetch (fetcher, &request, NULL, NULL, NULL, &error));
  g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_REDIRECT);
}

static void
test_redirects (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) result = fetch ("/redirect/5", &error);
  g_autofree char *to_https =
      g_strdup_printf ("/to?url=https://127.0.0.1:%d/ok", server->https_port);

  g_assert_no_error (error);
  g_assert_cmpuint (result->redirects, ==, 5);
  g_assert_true (g_str_has_suffix (result->address, "/ok"));
  assert_body (result, "hello");

  assert_fails ("/redirect/6", QM_FETCH_ERROR_REDIRECT, "five");
  assert_fails ("/loop", QM_FETCH_ERROR_REDIRECT, "circles");
  assert_fails ("/nowhere", QM_FETCH_ERROR_REDIRECT, "where");
  assert_fails ("/to?url=file:///etc/passwd", QM_FETCH_ERROR_REDIRECT,
                "http://");
  assert_fails ("/to?url=ftp://127.0.0.1/x", QM_FETCH_ERROR_REDIRECT,
                "http://");
  assert_fails ("/to?url=data:text/html,1", QM_FETCH_ERROR_REDIRECT, NULL);
  assert_fails ("/to?url=gopher://127.0.0.1:25/x", QM_FETCH_ERROR_REDIRECT,
                "http://");
  assert_fails ("/to?url=http://a:b@127.0.0.1/", QM_FETCH_ERROR_REDIRECT,
                "password");
  assert_fails (to_https, QM_FETCH_ERROR_CERTIFICATE, NULL);
}

static void
test_statuses (void)
{
  assert_fails ("/status/404", QM_FETCH_ERROR_NOT_FOUND, "404");
  assert_fails ("/status/410", QM_FETCH_ERROR_NOT_FOUND, NULL);
  assert_fails ("/status/403", QM_FETCH_ERROR_DENIED, NULL);
  assert_fails ("/busy", QM_FETCH_ERROR_BUSY, "120");
  assert_fails ("/status/503", QM_FETCH_ERROR_BUSY, NULL);
  assert_fails ("/status/500", QM_FETCH_ERROR_SERVER, "500");
  assert_fails ("/status/418", QM_FETCH_ERROR_STATUS, NULL);
  assert_fails ("/status/206", QM_FETCH_ERROR_STATUS, NULL);
}

static void
test_sizes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) packed = fetch ("/packed", &error);
  g_autofree char *address = test_server_address (server, "/huge");
  QmFetchRequest request = { .address = address, .max_bytes = 9 << 20 };
  g_autoptr (QmFetchResult) huge = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (packed->body), ==, 5000);
  g_assert_cmpint (packed->received, <, 1000);
  assert_fails ("/huge", QM_FETCH_ERROR_TOO_LARGE, "than 8.0");
  assert_fails ("/huge-unannounced", QM_FETCH_ERROR_TOO_LARGE, NULL);
  assert_fails ("/bomb", QM_FETCH_ERROR_TOO_LARGE, NULL);
  assert_fails ("/double-bomb", QM_FETCH_ERROR_TOO_LARGE, NULL);
  assert_fails ("/packed-badly", QM_FETCH_ERROR_PROTOCOL, "unpacked");
  huge = qm_fetcher_fetch (fetcher, &request, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (huge->body), ==, 9 << 20);
}

static void
test_broken_answers (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) longer = NULL;
  g_autoptr (QmFetchResult) odd = NULL;
  g_autoptr (QmFetchResult) early = NULL;

  assert_fails ("/cut", QM_FETCH_ERROR_CUT, NULL);
  assert_fails ("/cut-chunks", QM_FETCH_ERROR_CUT, NULL);
  assert_fails ("/nothing", QM_FETCH_ERROR_CUT, NULL);
  assert_fails ("/garbage", QM_FETCH_ERROR_PROTOCOL, NULL);
  assert_fails ("/negative", QM_FETCH_ERROR_PROTOCOL, NULL);
  assert_fails ("/no-colon", QM_FETCH_ERROR_PROTOCOL, NULL);
  assert_fails ("/headers", QM_FETCH_ERROR_PROTOCOL, NULL);

  longer = fetch ("/long", &error);
  g_assert_no_error (error);
  assert_body (longer, "hello");
  odd = fetch ("/bad-headers", &error);
  g_assert_no_error (error);
  g_assert_null (odd->media_type);
  g_assert_null (odd->charset);
  g_assert_null (odd->etag);
  assert_body (odd, "hello");
  early = fetch ("/early", &error);
  g_assert_no_error (error);
  g_assert_null (early->etag);
  assert_body (early, "hello");
}

/* Both would take twenty seconds. */
static void
test_slow (void)
{
  static const char *const paths[] = { "/drip", "/silent" };

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      QmFetchLimits limits = limits_without_pauses ();
      g_autofree char *address = test_server_address (server, paths[i]);
      QmFetchRequest request = { .address = address };
      g_autoptr (QmFetcher) impatient = NULL;
      g_autoptr (GError) error = NULL;
      gint64 begin = g_get_monotonic_time ();

      if (i == 0)
        limits.crawl_s = 1;
      else
        limits.total_ms = 300;
      impatient = qm_fetcher_new (&limits);
      g_assert_null (
          qm_fetcher_fetch (impatient, &request, NULL, NULL, NULL, &error));
      g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_TIMEOUT);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 15 * G_USEC_PER_SEC);
    }
}

static void
test_nobody (void)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  g_autoptr (GError) error = NULL;
  guint16 port = g_socket_listener_add_any_inet_port (listener, NULL, &error);
  g_autofree char *address = NULL;
  QmFetchRequest request = { 0 };

  g_assert_no_error (error);
  g_socket_listener_close (listener);
  address = g_strdup_printf ("http://127.0.0.1:%u/", port);
  request.address = address;
  g_assert_null (
      qm_fetcher_fetch (fetcher, &request, NULL, NULL, NULL, &error));
  g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_CONNECT);
}

static void
test_certificates (void)
{
  QmFetchLimits limits = limits_without_pauses ();
  g_autofree char *trusted =
      g_test_build_filename (G_TEST_DIST, "localhost.pem", NULL);
  g_autofree char *right =
      g_strdup_printf ("https://localhost:%d/ok", server->https_port);
  g_autofree char *wrong =
      g_strdup_printf ("https://127.0.0.1:%d/ok", server->https_port);
  g_autofree char *plain =
      g_strdup_printf ("https://127.0.0.1:%d/ok", server->http_port);
  g_autofree char *down =
      g_strdup_printf ("https://localhost:%d/to?url=http://127.0.0.1:%d/ok",
                       server->https_port, server->http_port);
  const struct
  {
    const char *address;
    gboolean trusting;
    int code; /* -1: works */
  } cases[] = {
    { right, FALSE, QM_FETCH_ERROR_CERTIFICATE }, /* self-signed */
    { right, TRUE, -1 },
    { wrong, TRUE, QM_FETCH_ERROR_CERTIFICATE }, /* another host's */
    { plain, TRUE, QM_FETCH_ERROR_TLS },
    { down, TRUE, QM_FETCH_ERROR_REDIRECT },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmFetchRequest request = { .address = cases[i].address };
      g_autoptr (QmFetcher) secure = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (QmFetchResult) result = NULL;

      limits.ca_file = cases[i].trusting ? trusted : NULL;
      secure = qm_fetcher_new (&limits);
      result = qm_fetcher_fetch (secure, &request, NULL, NULL, NULL, &error);
      if (cases[i].code >= 0)
        g_assert_error (error, QM_FETCH_ERROR, cases[i].code);
      else
        {
          g_assert_no_error (error);
          assert_body (result, "hello");
        }
    }
}

static void
test_addresses (void)
{
  static const char *const refused[] = {
    "",
    "shop.example/x",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "ftp://shop.example/",
    "data:text/html,hello",
    "javascript:alert(1)",
    "http://",
    "http:///path",
    "http://user@shop.example/",
    "http://user:word@shop.example/",
    "http://:word@shop.example/",
    "http://shop.example/a b",
    "http://shop.example/a\r\nHost: other",
    "http://shop.example/\t",
    "http://shop.example/\x7f",
    "http://shop.example/\xe2\x80\xae",
    "http://shop.example:99999/",
    "http://shop.example\\@other/",
    "http://shop%2eexample%40other/",
    "http://%32130706433/", /* 127.0.0.1 */
    "http://shop%0a.example/",
    "http://\xff\xfe/",
  };
  static const char *const allowed[][2] = {
    { "https://Shop.Example/a?b=c#d", "https://Shop.Example/a?b=c" },
    { "HTTP://shop.example", "http://shop.example/" },
    { "http://[::1]:8080/x", "http://[::1]:8080/x" },
    { "http://shop.example/grün", "http://shop.example/gr%c3%bcn" },
  };
  g_autofree char *endless = g_strnfill (9000, 'a');
  g_autofree char *too_long = g_strconcat ("http://a/", endless, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (refused) + 1; i++)
    {
      g_autoptr (GError) error = NULL;
      const char *address = i < G_N_ELEMENTS (refused) ? refused[i] : too_long;
      g_autofree char *checked = qm_fetch_check_address (address, &error);

      if (checked != NULL)
        g_error ("“%s” is allowed as “%s”", address, checked);
      g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_ADDRESS);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (allowed); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *checked = qm_fetch_check_address (allowed[i][0], &error);

      g_assert_no_error (error);
      g_assert_cmpstr (checked, ==, allowed[i][1]);
    }
}

static void
test_nearness (void)
{
  static const struct
  {
    const char *ip;
    QmNearness nearness;
  } cases[] = {
    { "93.184.216.34", QM_NEAR_PUBLIC },
    { "172.32.0.1", QM_NEAR_PUBLIC },
    { "2001:db8::1", QM_NEAR_PUBLIC },
    { "shop.example", QM_NEAR_PUBLIC },
    { "10.1.2.3", QM_NEAR_PRIVATE },
    { "172.31.255.255", QM_NEAR_PRIVATE },
    { "192.168.0.1", QM_NEAR_PRIVATE },
    { "100.64.0.1", QM_NEAR_PRIVATE },
    { "fd00::1", QM_NEAR_PRIVATE },
    { "::ffff:10.0.0.1", QM_NEAR_PRIVATE },
    { "64:ff9b::192.168.1.1", QM_NEAR_PRIVATE },
    { "2002:a00:1::1", QM_NEAR_PRIVATE },
    { "127.0.0.1", QM_NEAR_LINK },
    { "127.255.0.1", QM_NEAR_LINK },
    { "0.0.0.0", QM_NEAR_LINK },
    { "169.254.169.254", QM_NEAR_LINK },
    { "::1", QM_NEAR_LINK },
    { "::", QM_NEAR_LINK },
    { "::ffff:127.0.0.1", QM_NEAR_LINK },
    { "::127.0.0.1", QM_NEAR_LINK },
    { "::10.0.0.1", QM_NEAR_PRIVATE },
    { "::93.184.216.34", QM_NEAR_PUBLIC },
    { "fe80::1%eth0", QM_NEAR_LINK },
    { "224.0.0.1", QM_NEAR_NEVER },
    { "255.255.255.255", QM_NEAR_NEVER },
    { "ff02::1", QM_NEAR_NEVER },
  };
  QmFetchLimits limits = limits_without_pauses ();
  g_autofree char *address = test_server_address (server, "/ok");
  g_autofree char *by_name =
      g_strdup_printf ("http://localhost:%d/ok", server->http_port);
  g_autofree char *by_number =
      g_strdup_printf ("http://2130706433:%d/ok", server->http_port);
  const char *const near[] = { address, by_name, by_number };
  g_autoptr (QmFetcher) public = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    if (qm_nearness_of_ip (cases[i].ip) != cases[i].nearness)
      g_error ("%s", cases[i].ip);

  limits.public_only = TRUE;
  public = qm_fetcher_new (&limits);
  for (gsize i = 0; i < G_N_ELEMENTS (near); i++)
    {
      QmFetchRequest request = { .address = near[i] };
      g_autoptr (GError) error = NULL;

      g_assert_null (
          qm_fetcher_fetch (public, &request, NULL, NULL, NULL, &error));
      g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_FORBIDDEN);
    }
}

/* A name that cannot be looked up here, but need not be: the proxy does. */
static void
test_proxy (void)
{
  g_autofree char *proxy = test_server_address (server, "");
  g_autofree char *excepted = test_server_address (server, "/ok");
  const struct
  {
    const char *address;
    const char *body; /* NULL: forbidden */
  } cases[] = {
    { "http://shop.example/gpu", "through the proxy: http://shop.example/gpu" },
    { excepted, "hello" },
    { "http://shop.example/inwards", NULL },
    { "http://shop.example/by-name", NULL },
    { "http://shop.example/private", NULL },
  };
  QmFetchLimits limits = limits_without_pauses ();
  g_autoptr (QmFetcher) proxied = NULL;

  g_setenv ("http_proxy", proxy, TRUE);
  g_setenv ("no_proxy", "other.example, 127.0.0.0/8", TRUE);
  proxied = qm_fetcher_new (&limits);
  g_unsetenv ("http_proxy");
  g_unsetenv ("no_proxy");
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmFetchRequest request = { .address = cases[i].address };
      g_autoptr (GError) error = NULL;
      g_autoptr (QmFetchResult) result =
          qm_fetcher_fetch (proxied, &request, NULL, NULL, NULL, &error);

      if (cases[i].body == NULL)
        g_assert_error (error, QM_FETCH_ERROR, QM_FETCH_ERROR_FORBIDDEN);
      else
        {
          g_assert_no_error (error);
          assert_body (result, cases[i].body);
        }
    }
}

static gpointer
fetch_thread (gpointer data)
{
  g_autofree char *address = test_server_address (server, "/ok");
  QmFetchRequest request = { .address = address };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) result =
      qm_fetcher_fetch (data, &request, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  assert_body (result, "hello");
  return NULL;
}

/* Three at once, and then one with two redirects: six requests. */
static void
test_pace (void)
{
  QmFetchLimits limits = limits_without_pauses ();
  g_autofree char *address = test_server_address (server, "/redirect/2");
  QmFetchRequest request = { .address = address };
  g_autoptr (QmFetcher) paced = NULL;
  g_autoptr (QmFetchResult) result = NULL;
  g_autoptr (GError) error = NULL;
  GThread *threads[3];
  gint64 begin;

  limits.interval_ms = 200;
  paced = qm_fetcher_new (&limits);
  begin = g_get_monotonic_time ();
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("fetch", fetch_thread, paced);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpint (g_get_monotonic_time () - begin, >=, 400000);
  result = qm_fetcher_fetch (paced, &request, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - begin, >=, 1000000);
  g_assert_cmpint (qm_fetch_limits_default ().interval_ms, ==, 1000);
}

/* Who gives up while waiting takes no turn from those who come later. */
static void
test_given_up (void)
{
  QmFetchPace *pace = qm_fetch_pace_new (1000);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  gint64 begin = g_get_monotonic_time ();

  g_cancellable_cancel (cancelled);
  g_assert_true (qm_fetch_pace_wait (pace, "host", NULL, &error));
  g_assert_no_error (error);
  for (int i = 0; i < 20; i++)
    {
      g_assert_false (qm_fetch_pace_wait (pace, "host", cancelled, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
  g_assert_true (qm_fetch_pace_wait (pace, "host", NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - begin, >=, G_USEC_PER_SEC);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 10 * G_USEC_PER_SEC);
  qm_fetch_pace_free (pace);
}

/* Waiting for its turn, a fetch can be cancelled; so can one in flight. */
static gpointer
cancel_thread (gpointer cancellable)
{
  g_usleep (200000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

static void
test_cancel (void)
{
  static const char *const paths[] = { "/silent", "/drip", "/ok" };
  QmFetchLimits limits = limits_without_pauses ();
  g_autoptr (QmFetcher) paced = NULL;

  limits.interval_ms = 60000;
  paced = qm_fetcher_new (&limits);
  fetch_thread (paced);
  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autofree char *address = test_server_address (server, paths[i]);
      QmFetchRequest request = { .address = address };
      g_autoptr (GError) error = NULL;
      gint64 begin = g_get_monotonic_time ();
      GThread *thread = g_thread_new ("cancel", cancel_thread, cancellable);

      g_assert_null (qm_fetcher_fetch (i < 2 ? fetcher : paced, &request, NULL,
                                       NULL, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 10 * G_USEC_PER_SEC);
      g_thread_join (thread);
    }
}

typedef struct
{
  guint calls;
  gint64 received;
  gint64 total;
  GCancellable *cancel; /* at the first call, may be NULL */
} Told;

static void
progress_cb (gint64 received, gint64 total, gpointer data)
{
  Told *told = data;

  g_assert_cmpint (received, >=, told->received);
  told->received = received;
  told->total = total;
  told->calls++;
  if (told->cancel != NULL)
    g_cancellable_cancel (told->cancel);
}

/* How far it has come is told, and it can be ended meanwhile. */
static void
test_progress (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFetchResult) result = NULL;
  g_autofree char *address = test_server_address (server, "/slowly");
  g_autofree char *endless = test_server_address (server, "/drip");
  QmFetchRequest request = { .address = address };
  Told told = { 0 };

  result = qm_fetcher_fetch (fetcher, &request, progress_cb, &told, cancellable,
                             &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (result->body), ==, 100000);
  g_assert_cmpuint (told.calls, >, 1);
  g_assert_cmpint (told.received, ==, 100000);
  g_assert_cmpint (told.total, ==, 100000);

  told = (Told){ .cancel = cancellable };
  request.address = endless;
  g_assert_null (qm_fetcher_fetch (fetcher, &request, progress_cb, &told,
                                   cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (told.calls, >, 0);
  g_assert_cmpint (told.received, <, 100);
}

int
main (int argc, char **argv)
{
  QmFetchLimits limits = limits_without_pauses ();
  int status;

  g_test_init (&argc, &argv, NULL);
  server = test_server_start ();
  fetcher = qm_fetcher_new (&limits);
  g_test_add_func ("/fetch/page", test_page);
  g_test_add_func ("/fetch/conditional", test_conditional);
  g_test_add_func ("/fetch/what-is-sent", test_what_is_sent);
  g_test_add_func ("/fetch/post", test_post);
  g_test_add_func ("/fetch/redirects", test_redirects);
  g_test_add_func ("/fetch/statuses", test_statuses);
  g_test_add_func ("/fetch/sizes", test_sizes);
  g_test_add_func ("/fetch/broken-answers", test_broken_answers);
  g_test_add_func ("/fetch/slow", test_slow);
  g_test_add_func ("/fetch/nobody", test_nobody);
  g_test_add_func ("/fetch/certificates", test_certificates);
  g_test_add_func ("/fetch/addresses", test_addresses);
  g_test_add_func ("/fetch/nearness", test_nearness);
  g_test_add_func ("/fetch/proxy", test_proxy);
  g_test_add_func ("/fetch/pace", test_pace);
  g_test_add_func ("/fetch/given-up", test_given_up);
  g_test_add_func ("/fetch/cancel", test_cancel);
  g_test_add_func ("/fetch/progress", test_progress);
  status = g_test_run ();
  qm_fetcher_free (fetcher);
  test_server_stop (server);
  return status;
}
