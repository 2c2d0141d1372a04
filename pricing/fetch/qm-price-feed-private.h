/* SPDX-License-Identifier: Apache-2.0 */

/* What the readers of the feeds share. */

#pragma once

#include "pricing/fetch/qm-price-feed.h"

#include <jansson.h>

G_BEGIN_DECLS

/* A string of an object that may be shown: one line of UTF-8, not empty; NULL
 * where there is none.  Borrowed. */
const char *qm_feed_string (json_t *object, const char *key);

/* Money of an object in millionths.
 *
 * Returns: FALSE where it is no number, not positive or absurd. */
gboolean qm_feed_micros (json_t *object, const char *key, gint64 *micros);

/* A whole number of an object in [low, high], else `otherwise`. */
gint64 qm_feed_integer (
    json_t *object, const char *key, gint64 low, gint64 high, gint64 otherwise);

/* A list of an object, whose length becomes the rows of the page; NULL with
 * QM_FEED_ERROR_FORMAT.  Borrowed. */
json_t *qm_feed_list (json_t *object,
                      const char *key,
                      const char *name,
                      QmFeedPage *page,
                      GError **error);

/* Whether a field is there and false. */
gboolean qm_feed_denies (json_t *object, const char *key);

/* Whether one text contains the other; letter case of ASCII ignored. */
gboolean qm_feed_contains (const char *text, const char *part);

/* Appends a price of one offer to a page.
 *
 * Returns: (transfer none) */
QmFeedPrice *qm_feed_page_add (QmFeedPage *page,
                               const char *offer,
                               const char *currency,
                               gint64 hour_micros);

/* Of two prices in effect since the same day, the first stays. */
void qm_feed_page_drop_repeated (QmFeedPage *page);

/* The readers; what they are given is an object.  FALSE with
 * QM_FEED_ERROR_FORMAT. */
gboolean qm_feed_read_azure (json_t *root,
                             const char *name,
                             QmFeedPage *page,
                             GError **error);
gboolean qm_feed_read_vast (json_t *root,
                            const char *name,
                            QmFeedPage *page,
                            GError **error);
gboolean qm_feed_read_runpod (json_t *root,
                              const char *name,
                              QmFeedPage *page,
                              GError **error);

G_END_DECLS
