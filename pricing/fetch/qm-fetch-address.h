/* SPDX-License-Identifier: Apache-2.0 */

/* Addresses of pages, how near they lie, and which proxy leads there. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* How near a network address lies; what is further away must not lead to what
 * is nearer. */
typedef enum
{
  QM_NEAR_PUBLIC,  /* the internet */
  QM_NEAR_PRIVATE, /* private networks: RFC 1918, RFC 4193, RFC 6598 */
  QM_NEAR_LINK,    /* this machine and its link */
  QM_NEAR_NEVER    /* nothing to connect to: multicast, reserved */
} QmNearness;

typedef struct
{
  char *text;   /* normalised, without fragment */
  char *scheme; /* "http" or "https" */
  char *host;   /* in lower case; IPv6 addresses without brackets */
} QmAddress;

/* Returns: (transfer full): NULL with QM_FETCH_ERROR_ADDRESS. */
QmAddress *qm_address_parse (const char *text, GError **error);

/* Where a redirect of `base` leads.
 *
 * location: absolute or relative.
 *
 * Returns: (transfer full): NULL with QM_FETCH_ERROR_ADDRESS. */
QmAddress *qm_address_resolve (const QmAddress *base,
                               const char *location,
                               GError **error);

void qm_address_free (QmAddress *address);

/* Of an IP address in text; QM_NEAR_PUBLIC for anything else. */
QmNearness qm_nearness_of_ip (const char *ip);

/* As far as the address tells without looking a name up. */
QmNearness qm_address_nearness (const QmAddress *address);

/* The proxies of the environment. */
typedef struct _QmProxies QmProxies;

QmProxies *qm_proxies_new (void);
void qm_proxies_free (QmProxies *proxies);

/* The proxy that leads to an address; NULL: none. */
const char *qm_proxies_choose (const QmProxies *proxies,
                               const QmAddress *address);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmAddress, qm_address_free)

G_END_DECLS
