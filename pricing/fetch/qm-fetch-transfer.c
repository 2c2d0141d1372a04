/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-fetch-transfer.h"

#include <curl/curl.h>
#include <errno.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_BYTES        (1 << 30)
#define MAX_HEADER_BYTES (64 << 10)
#define MAX_VALUE_BYTES  4096
#define USER_AGENT       "Quartermaster/" QM_VERSION

/* Why the transfer was ended from here. */
typedef enum
{
  END_NONE,
  END_TOO_LARGE,
  END_HEADERS,
  END_ENOUGH /* the body of an error says nothing more */
} End;

typedef struct
{
  const QmTransfer *transfer;
  GCancellable *cancellable;
  QmAnswer *answer;
  CURL *easy;
  gsize max_bytes;
  gsize header_bytes;
  End end;
  gboolean headers_done;
  gboolean refused; /* an address that is too near */
  char detail[CURL_ERROR_SIZE];
} Run;

void
qm_answer_free (QmAnswer *answer)
{
  if (answer == NULL)
    return;
  g_free (answer->location);
  g_free (answer->content_type);
  g_free (answer->etag);
  g_free (answer->last_modified);
  g_free (answer->retry_after);
  g_byte_array_unref (answer->body);
  g_free (answer);
}

static gboolean
is_success (long status)
{
  return status == 200 || status == 203;
}

static size_t
body_cb (char *bytes, size_t one, size_t n, void *data)
{
  Run *run = data;
  long status = 0;

  curl_easy_getinfo (run->easy, CURLINFO_RESPONSE_CODE, &status);
  if (!is_success (status))
    {
      run->end = END_ENOUGH;
      return 0;
    }
  if (n > run->max_bytes - run->answer->body->len)
    {
      run->end = END_TOO_LARGE;
      return 0;
    }
  g_byte_array_append (run->answer->body, (const guint8 *) bytes, (guint) n);
  return n;
}

/* A value that may be kept and sent back: visible ASCII and blanks. */
static char *
header_value (const char *line, gsize length)
{
  g_autofree char *value = g_strstrip (g_strndup (line, length));

  if (strlen (value) > MAX_VALUE_BYTES)
    return NULL;
  for (const char *c = value; *c != '\0'; c++)
    if (*c != '\t' && !g_ascii_isprint (*c))
      return NULL;
  return g_steal_pointer (&value);
}

/* Interim answers (1xx) come before the real one. */
static void
forget_headers (Run *run)
{
  g_clear_pointer (&run->answer->location, g_free);
  g_clear_pointer (&run->answer->content_type, g_free);
  g_clear_pointer (&run->answer->etag, g_free);
  g_clear_pointer (&run->answer->last_modified, g_free);
  g_clear_pointer (&run->answer->retry_after, g_free);
  run->headers_done = FALSE;
}

static size_t
header_cb (char *line, size_t one, size_t n, void *data)
{
  Run *run = data;
  struct
  {
    const char *name;
    char **value;
  } known[] = {
    { "Location:", &run->answer->location },
    { "Content-Type:", &run->answer->content_type },
    { "ETag:", &run->answer->etag },
    { "Last-Modified:", &run->answer->last_modified },
    { "Retry-After:", &run->answer->retry_after },
  };

  run->header_bytes += n;
  if (run->header_bytes > MAX_HEADER_BYTES)
    {
      run->end = END_HEADERS;
      return 0;
    }
  if (n >= 5 && memcmp (line, "HTTP/", 5) == 0)
    forget_headers (run);
  else if (n <= 2)
    run->headers_done = TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    {
      gsize length = strlen (known[i].name);

      if (n > length && g_ascii_strncasecmp (line, known[i].name, length) == 0
          && *known[i].value == NULL)
        *known[i].value = header_value (line + length, n - length);
    }
  return n;
}

static int
progress_cb (void *data,
             curl_off_t total,
             curl_off_t received,
             curl_off_t upload_total,
             curl_off_t uploaded)
{
  Run *run = data;

  if (received > 0 && (guint64) received > run->max_bytes)
    {
      run->end = END_TOO_LARGE;
      return 1;
    }
  if (run->transfer->progress != NULL)
    run->transfer->progress (received, total > 0 ? total : -1,
                             run->transfer->progress_data);
  return g_cancellable_is_cancelled (run->cancellable);
}

/* Only where there is no proxy: each address is looked at right before it is
 * connected to. */
static curl_socket_t
open_socket_cb (void *data,
                curlsocktype purpose,
                struct curl_sockaddr *socket_address)
{
  Run *run = data;
  g_autoptr (GSocketAddress) address =
      g_socket_address_new_from_native (&socket_address->addr,
                                        socket_address->addrlen);
  g_autofree char *text = NULL;

  if (!G_IS_INET_SOCKET_ADDRESS (address))
    return CURL_SOCKET_BAD;
  text = g_inet_address_to_string (
      g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address)));
  if (qm_nearness_of_ip (text) > run->transfer->nearest)
    {
      run->refused = TRUE;
      return CURL_SOCKET_BAD;
    }
  return socket (socket_address->family,
                 socket_address->socktype | SOCK_CLOEXEC,
                 socket_address->protocol);
}

static gboolean
is_header_safe (const char *value)
{
  if (value == NULL || *value == '\0' || strlen (value) > MAX_VALUE_BYTES)
    return FALSE;
  for (const char *c = value; *c != '\0'; c++)
    if (!g_ascii_isprint (*c))
      return FALSE;
  return TRUE;
}

static struct curl_slist *
append_header (struct curl_slist *list, const char *name, const char *value)
{
  g_autofree char *line = NULL;

  if (!is_header_safe (value))
    return list;
  line = g_strdup_printf ("%s: %s", name, value);
  return curl_slist_append (list, line);
}

static struct curl_slist *
request_headers (const QmFetchRequest *request)
{
  struct curl_slist *list = NULL;

  list = append_header (list, "Accept",
                        request->accept != NULL ? request->accept : "*/*");
  list = append_header (list, "If-None-Match", request->etag);
  list = append_header (list, "If-Modified-Since", request->last_modified);
  if (request->body != NULL)
    {
      list = append_header (list, "Content-Type",
                            request->body_type != NULL ? request->body_type
                                                       : "application/json");
      list = curl_slist_append (list, "Expect:");
    }
  return list;
}

static void
set_security (Run *run)
{
  const QmTransfer *transfer = run->transfer;
  CURL *easy = run->easy;

  curl_easy_setopt (easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt (easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt (easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt (easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt (easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
  curl_easy_setopt (easy, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED);
  curl_easy_setopt (easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt (easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (transfer->limits->ca_file != NULL)
    {
      curl_easy_setopt (easy, CURLOPT_CAINFO, transfer->limits->ca_file);
      curl_easy_setopt (easy, CURLOPT_CAPATH, NULL);
    }
  /* Empty: none, and no exceptions, whatever the environment says now. */
  curl_easy_setopt (easy, CURLOPT_PROXY,
                    transfer->proxy != NULL ? transfer->proxy : "");
  curl_easy_setopt (easy, CURLOPT_NOPROXY, "");
  if (transfer->proxy == NULL)
    {
      curl_easy_setopt (easy, CURLOPT_OPENSOCKETFUNCTION, open_socket_cb);
      curl_easy_setopt (easy, CURLOPT_OPENSOCKETDATA, run);
    }
}

static void
set_limits (Run *run)
{
  const QmFetchLimits *limits = run->transfer->limits;
  CURL *easy = run->easy;

  curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt (easy, CURLOPT_CONNECTTIMEOUT_MS, (long) limits->connect_ms);
  curl_easy_setopt (easy, CURLOPT_TIMEOUT_MS,
                    (long) MAX (run->transfer->left_ms, 1));
  curl_easy_setopt (easy, CURLOPT_LOW_SPEED_TIME, (long) limits->crawl_s);
  curl_easy_setopt (easy, CURLOPT_LOW_SPEED_LIMIT, (long) limits->crawl_bytes);
  curl_easy_setopt (easy, CURLOPT_MAXFILESIZE_LARGE,
                    (curl_off_t) run->max_bytes);
}

static void
set_callbacks (Run *run)
{
  CURL *easy = run->easy;

  curl_easy_setopt (easy, CURLOPT_ERRORBUFFER, run->detail);
  curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, body_cb);
  curl_easy_setopt (easy, CURLOPT_WRITEDATA, run);
  curl_easy_setopt (easy, CURLOPT_HEADERFUNCTION, header_cb);
  curl_easy_setopt (easy, CURLOPT_HEADERDATA, run);
  curl_easy_setopt (easy, CURLOPT_XFERINFOFUNCTION, progress_cb);
  curl_easy_setopt (easy, CURLOPT_XFERINFODATA, run);
  curl_easy_setopt (easy, CURLOPT_NOPROGRESS, 0L);
}

static void
set_request (Run *run, struct curl_slist *headers)
{
  const QmFetchRequest *request = run->transfer->request;
  CURL *easy = run->easy;

  curl_easy_setopt (easy, CURLOPT_URL, run->transfer->address->text);
  curl_easy_setopt (easy, CURLOPT_USERAGENT, USER_AGENT);
  curl_easy_setopt (easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  curl_easy_setopt (easy, CURLOPT_HTTPHEADER, headers);
  if (request->body != NULL)
    {
      curl_easy_setopt (easy, CURLOPT_POST, 1L);
      curl_easy_setopt (easy, CURLOPT_POSTFIELDSIZE_LARGE,
                        (curl_off_t) strlen (request->body));
      curl_easy_setopt (easy, CURLOPT_POSTFIELDS, request->body);
    }
}

static void
wake_cb (GCancellable *cancellable, gpointer multi)
{
  curl_multi_wakeup (multi);
}

/* curl_easy_perform() would notice a cancellation only after up to a second. */
static CURLcode
perform (Run *run)
{
  CURLM *multi = curl_multi_init ();
  CURLcode code = CURLE_FAILED_INIT;
  CURLMsg *message;
  gulong connection = 0;
  int running = 1;
  int left;

  curl_multi_add_handle (multi, run->easy);
  if (run->cancellable != NULL)
    connection = g_cancellable_connect (run->cancellable, G_CALLBACK (wake_cb),
                                        multi, NULL);
  while (running > 0 && !g_cancellable_is_cancelled (run->cancellable)
         && curl_multi_perform (multi, &running) == CURLM_OK)
    if (running > 0)
      curl_multi_poll (multi, NULL, 0, 1000, NULL);
  g_cancellable_disconnect (run->cancellable, connection);

  while ((message = curl_multi_info_read (multi, &left)) != NULL)
    if (message->msg == CURLMSG_DONE)
      code = message->data.result;
  curl_multi_remove_handle (multi, run->easy);
  curl_multi_cleanup (multi);
  return code;
}

static void
set_failure (GError **error,
             QmFetchError code,
             const Run *run,
             const char *sentence,
             gboolean with_detail)
{
  const char *host = run->transfer->address->host;
  g_autofree char *detail = g_utf8_make_valid (run->detail, -1);

  if (with_detail && *detail != '\0')
    g_set_error (error, QM_FETCH_ERROR, code, "%s: %s (%s)", host, sentence,
                 detail);
  else
    g_set_error (error, QM_FETCH_ERROR, code, "%s: %s", host, sentence);
}

/* What libcurl's codes mean here, at the end all others. */
static const struct
{
  CURLcode code;
  QmFetchError error;
  const char *sentence;
  gboolean with_detail;
} failures[] = {
  { CURLE_COULDNT_RESOLVE_HOST, QM_FETCH_ERROR_RESOLVE,
    N_ ("there is no host of that name, or the network is down"), FALSE },
  { CURLE_COULDNT_RESOLVE_PROXY, QM_FETCH_ERROR_CONNECT,
    N_ ("the proxy that the environment names is not there"), FALSE },
  { CURLE_PROXY, QM_FETCH_ERROR_CONNECT, N_ ("the proxy refuses to connect"),
    FALSE },
  { CURLE_COULDNT_CONNECT, QM_FETCH_ERROR_CONNECT, N_ ("nobody answers there"),
    FALSE },
  { CURLE_PEER_FAILED_VERIFICATION, QM_FETCH_ERROR_CERTIFICATE,
    N_ ("whoever answers cannot prove to be that host"), TRUE },
  { CURLE_SSL_ISSUER_ERROR, QM_FETCH_ERROR_CERTIFICATE,
    N_ ("whoever answers cannot prove to be that host"), TRUE },
  { CURLE_SSL_CACERT_BADFILE, QM_FETCH_ERROR_TLS,
    N_ ("the file of trusted certificates cannot be read"), FALSE },
  { CURLE_SSL_CONNECT_ERROR, QM_FETCH_ERROR_TLS,
    N_ ("there was no agreement on encryption"), TRUE },
  { CURLE_OPERATION_TIMEDOUT, QM_FETCH_ERROR_TIMEOUT,
    N_ ("the answer takes too long"), FALSE },
  { CURLE_PARTIAL_FILE, QM_FETCH_ERROR_CUT,
    N_ ("the answer ended before it was whole"), FALSE },
  { CURLE_RECV_ERROR, QM_FETCH_ERROR_CUT, N_ ("the connection broke off"),
    FALSE },
  { CURLE_SEND_ERROR, QM_FETCH_ERROR_CUT, N_ ("the connection broke off"),
    FALSE },
  { CURLE_GOT_NOTHING, QM_FETCH_ERROR_CUT,
    N_ ("the connection broke off without an answer"), FALSE },
  { CURLE_BAD_CONTENT_ENCODING, QM_FETCH_ERROR_PROTOCOL,
    N_ ("the answer cannot be unpacked"), FALSE },
  { CURL_LAST, QM_FETCH_ERROR_PROTOCOL,
    N_ ("the answer is not what a web server sends"), TRUE },
};

static void
set_code_error (const Run *run, CURLcode code, GError **error)
{
  gsize i = 0;

  if (run->end == END_TOO_LARGE || code == CURLE_FILESIZE_EXCEEDED)
    {
      g_autofree char *limit =
          g_format_size_full (run->max_bytes, G_FORMAT_SIZE_IEC_UNITS);
      g_autofree char *sentence =
          g_strdup_printf (_ ("the answer is larger than %s"), limit);

      set_failure (error, QM_FETCH_ERROR_TOO_LARGE, run, sentence, FALSE);
    }
  else if (run->end == END_HEADERS)
    set_failure (error, QM_FETCH_ERROR_PROTOCOL, run,
                 _ ("the headers of the answer do not end"), FALSE);
  else if (code == CURLE_COULDNT_CONNECT && run->refused)
    set_failure (error, QM_FETCH_ERROR_FORBIDDEN, run,
                 _ ("leads into a private network or to this machine"), FALSE);
  else
    {
      while (failures[i].code != code && i + 1 < G_N_ELEMENTS (failures))
        i++;
      set_failure (error, failures[i].error, run, _ (failures[i].sentence),
                   failures[i].with_detail);
    }
}

/* An error's or a redirect's headers say it all. */
static gboolean
is_answered (const Run *run, CURLcode code, long status)
{
  if (code == CURLE_OK)
    return TRUE;
  return run->headers_done && !is_success (status)
         && (run->end == END_ENOUGH || code == CURLE_PARTIAL_FILE
             || code == CURLE_RECV_ERROR || code == CURLE_BAD_CONTENT_ENCODING
             || code == CURLE_FILESIZE_EXCEEDED);
}

static void
read_answer (Run *run)
{
  QmAnswer *answer = run->answer;
  const char *text = NULL;
  curl_off_t received = 0;

  curl_easy_getinfo (run->easy, CURLINFO_PRIMARY_IP, &text);
  answer->nearness = run->transfer->proxy == NULL && text != NULL
                         ? qm_nearness_of_ip (text)
                         : qm_address_nearness (run->transfer->address);
  curl_easy_getinfo (run->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
  answer->received = received;
}

QmAnswer *
qm_transfer_run (const QmTransfer *transfer,
                 GCancellable *cancellable,
                 GError **error)
{
  g_autoptr (QmAnswer) answer = g_new0 (QmAnswer, 1);
  Run run = { .transfer = transfer, .cancellable = cancellable };
  struct curl_slist *headers;
  CURLcode code;
  long status = 0;
  gboolean answered;

  run.answer = answer;
  run.max_bytes = transfer->request->max_bytes > 0
                      ? transfer->request->max_bytes
                      : transfer->limits->max_bytes;
  run.max_bytes = MIN (run.max_bytes, MAX_BYTES); /* a GByteArray's */
  answer->body = g_byte_array_new ();
  if (qm_address_nearness (transfer->address) > transfer->nearest)
    {
      run.refused = TRUE;
      set_code_error (&run, CURLE_COULDNT_CONNECT, error);
      return NULL;
    }

  run.easy = curl_easy_init ();
  headers = request_headers (transfer->request);
  set_request (&run, headers);
  set_security (&run);
  set_limits (&run);
  set_callbacks (&run);
  code = perform (&run);
  curl_easy_getinfo (run.easy, CURLINFO_RESPONSE_CODE, &status);
  answer->status = (int) status;
  answered = is_answered (&run, code, status);
  if (answered)
    read_answer (&run);
  curl_easy_cleanup (run.easy);
  curl_slist_free_all (headers);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (!answered)
    {
      set_code_error (&run, code, error);
      return NULL;
    }
  return g_steal_pointer (&answer);
}
