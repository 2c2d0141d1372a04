/* SPDX-License-Identifier: Apache-2.0 */

/* Fetching one page or price feed over the network, through libcurl.
 *
 * What is allowed is narrow, since an address may come from a list that
 * somebody sent:
 *
 * - http and https, also after redirects, of which there are at most five; a
 *   redirect may not go round in circles, and not from https to http.
 * - No user name or password in an address, no control characters or blanks.
 * - No cookies, no passwords from files, nothing sent on to another host.
 * - Certificates are checked; TLS 1.2 or newer.
 * - Limits on the time to connect, on the whole fetch, on crawling transfers
 *   and on bytes, as received and as unpacked.
 * - One request a second and host, over all fetches of a fetcher, redirects
 *   included.
 *
 * Addresses in private networks: one that the user asks for may lie there,
 * since a university's or a company's shop often does, and the user could open
 * it in a browser too.  But nothing that comes from further away leads there:
 * a redirect goes only to an address that is at most as near as the one it came
 * from (the internet, then private networks, then this machine and its link).
 * That is checked against the address that is really connected to, so a name
 * that suddenly means 127.0.0.1 does not help; through a proxy, which looks
 * names up itself, only literal addresses and "localhost" can be checked.
 *
 * Proxies are those of the environment as it was when the fetcher was made:
 * http_proxy, https_proxy or HTTPS_PROXY, all_proxy or ALL_PROXY, and no_proxy
 * or NO_PROXY.  */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_FETCH_MAX_REDIRECTS 5

typedef struct
{
  guint connect_ms; /* to connect, and to agree on encryption */
  guint total_ms;   /* the whole fetch with its redirects, without the waits
                       between requests */
  guint crawl_s;    /* this many seconds below `crawl_bytes` a second are too
                       slow */
  guint crawl_bytes;
  gsize max_bytes;      /* as received, and again as unpacked */
  guint interval_ms;    /* between the beginnings of two requests to a host */
  const char *ca_file;  /* certificates to trust in place of the system's, a
                           PEM file; NULL: the system's */
  gboolean public_only; /* refuse private networks also where the user asks */
} QmFetchLimits;

/* 15 s, 60 s, 20 s below 50 bytes a second, 8 MiB, 1 s, the system's
 * certificates, and private networks as above. */
QmFetchLimits qm_fetch_limits_default (void);

/* Fetches under common limits; keeps the pace of all of them.  May be used from
 * several threads. */
typedef struct _QmFetcher QmFetcher;

/* limits: (nullable): copied; NULL: the default ones.
 *
 * Returns: (transfer full). */
QmFetcher *qm_fetcher_new (const QmFetchLimits *limits);

/* Frees it; NULL is allowed. */
void qm_fetcher_free (QmFetcher *fetcher);

/* What to fetch; everything but the address may be NULL. */
typedef struct
{
  const char *address;
  const char *etag;          /* of what is known already: "not modified" is */
  const char *last_modified; /* an answer then; both as the server gave them */
  const char *accept;        /* the Accept header; NULL: anything */
  const char *body;          /* makes it a POST; redirects are errors then */
  const char *body_type;     /* NULL: "application/json" */
  gsize max_bytes;           /* 0: those of the fetcher */
} QmFetchRequest;

typedef struct
{
  gboolean not_modified; /* 304: what is known is still so, `body` is NULL */
  int status;            /* 200 or 203, or 304 */
  char *address;         /* after all redirects, without its fragment */
  char *media_type;      /* in lower case, without parameters; NULL: unstated */
  char *charset;         /* in lower case; NULL: unstated */
  char *etag;            /* NULL: none */
  char *last_modified;   /* NULL: none */
  gint64 fetched_at;     /* seconds since 1970, UTC */
  guint redirects;
  gint64 received; /* bytes of the body on the wire */
  GBytes *body;    /* unpacked, may be empty */
} QmFetchResult;

void qm_fetch_result_free (QmFetchResult *result);

#define QM_FETCH_ERROR (qm_fetch_error_quark ())
GQuark qm_fetch_error_quark (void);

/* Every message names the host and says what happened, in a sentence. */
typedef enum
{
  QM_FETCH_ERROR_ADDRESS,     /* an address that is not fetched */
  QM_FETCH_ERROR_FORBIDDEN,   /* leads into a nearer network */
  QM_FETCH_ERROR_REDIRECT,    /* too many, in circles, or to such an address */
  QM_FETCH_ERROR_RESOLVE,     /* there is no host of that name */
  QM_FETCH_ERROR_CONNECT,     /* nobody answers there, or the proxy fails */
  QM_FETCH_ERROR_CERTIFICATE, /* whoever answers cannot prove to be the host */
  QM_FETCH_ERROR_TLS,         /* no agreement on encryption */
  QM_FETCH_ERROR_TIMEOUT,     /* took too long, or crawled */
  QM_FETCH_ERROR_TOO_LARGE,
  QM_FETCH_ERROR_CUT,       /* ended before it was whole */
  QM_FETCH_ERROR_PROTOCOL,  /* an answer that is not HTTP, or is nonsense */
  QM_FETCH_ERROR_NOT_FOUND, /* 404, 410 */
  QM_FETCH_ERROR_DENIED,    /* 401, 403, 407, 451 */
  QM_FETCH_ERROR_BUSY,      /* 429, 503: asks to be left alone */
  QM_FETCH_ERROR_SERVER,    /* another 5xx */
  QM_FETCH_ERROR_STATUS     /* any other status but success */
} QmFetchError;

/* received: bytes on the wire so far.  total: as the server announced, -1 where
 * it did not. */
typedef void (*QmFetchProgress) (gint64 received,
                                 gint64 total,
                                 gpointer user_data);

/* Fetches, and returns when that is done: not for a thread that draws.
 *
 * progress: (nullable): called in this thread, now and then.
 *
 * Returns: (transfer full): the answer, or NULL with QM_FETCH_ERROR or
 *   G_IO_ERROR_CANCELLED. */
QmFetchResult *qm_fetcher_fetch (QmFetcher *fetcher,
                                 const QmFetchRequest *request,
                                 QmFetchProgress progress,
                                 gpointer user_data,
                                 GCancellable *cancellable,
                                 GError **error);

/* Whether an address may be fetched at all: its form, not what lies there.
 *
 * Returns: (transfer full): the address as it will be fetched, or NULL with
 *   QM_FETCH_ERROR_ADDRESS. */
char *qm_fetch_check_address (const char *address, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmFetcher, qm_fetcher_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmFetchResult, qm_fetch_result_free)

G_END_DECLS
