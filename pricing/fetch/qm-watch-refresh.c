/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/fetch/qm-watch-refresh.h"

#include "pricing/formats/qm-quote-import.h"
#include "pricing/pages/qm-page.h"
#include "pricing/quotes/qm-plausible.h"

#include <string.h>

typedef struct
{
  QmQuoteStore *store;
  const QmPageRules *rules;
  const QmMatcher *matcher; /* NULL: pages are not checked */
  QmRates *rates;           /* NULL: none */
  QmWatchKept kept;
  gpointer user_data;
  GError *trouble; /* of the store: the first one */
} Refresh;

/* Whether a page still sells what it is watched for: an address may be given to
 * another product. */
static gboolean
is_of_item (const Refresh *refresh,
            const QmWatch *watch,
            const QmQuote *quote,
            GError **error)
{
  g_autoptr (QmWatched) watched =
      qm_quote_store_get_watched (refresh->store, watch->address, NULL);

  return refresh->matcher == NULL || watched == NULL || watched->item == NULL
         || qm_quote_check_item (quote, watched->item, refresh->matcher,
                                 refresh->rates, error);
}

static QmQuote *
extract_cb (const QmWatch *watch,
            const QmFetchResult *page,
            gpointer user_data,
            GCancellable *cancellable,
            GError **error)
{
  const Refresh *refresh = user_data;
  QmPageContext context = { .charset = page->charset, .rules = refresh->rules };
  gsize size;
  const char *data = g_bytes_get_data (page->body, &size);
  g_autoptr (GPtrArray) quotes =
      qm_import_read_page (data, size, watch->address, page->media_type,
                           &context, cancellable, error);

  if (quotes == NULL
      || !is_of_item (refresh, watch, g_ptr_array_index (quotes, 0), error))
    return NULL;
  return g_ptr_array_steal_index (quotes, 0);
}

/* The name of what a page sells; NULL where nothing new is known of it. */
static const char *
new_title (const QmWatch *watch, const QmWatched *watched)
{
  const QmQuoteLine *line;

  if (watch->kind != QM_WATCH_PAGE || watch->quote == NULL
      || watch->quote->lines->len == 0)
    return NULL;
  line = g_ptr_array_index (watch->quote->lines, 0);
  return g_strcmp0 (line->description, watched->title) != 0 ? line->description
                                                            : NULL;
}

/* Keeps what was learned; what the store knows then, NULL where it fails. */
static QmWatched *
keep_outcome (Refresh *refresh, const QmWatch *watch, QmWatchOutcome outcome)
{
  GError **trouble = refresh->trouble == NULL ? &refresh->trouble : NULL;
  g_autoptr (QmWatched) watched = NULL;
  const char *title;

  if (!qm_watch_store_save (refresh->store, watch, outcome, trouble))
    return NULL;
  watched =
      qm_quote_store_get_watched (refresh->store, watch->address, trouble);
  title = watched != NULL ? new_title (watch, watched) : NULL;
  if (title == NULL)
    return g_steal_pointer (&watched);
  g_free (watched->title);
  watched->title = g_strdup (title);
  if (qm_quote_store_put_watched (refresh->store, watched, NULL, trouble) == 0)
    return NULL;
  return g_steal_pointer (&watched);
}

static void
report_cb (const QmWatch *watch,
           QmWatchOutcome outcome,
           guint done,
           guint total,
           gpointer user_data)
{
  Refresh *refresh = user_data;
  g_autoptr (GError) gone = NULL;
  g_autoptr (QmWatched) before =
      qm_quote_store_get_watched (refresh->store, watch->address, &gone);
  g_autoptr (QmWatched) now = NULL;

  /* Somebody has taken it off the list meanwhile: it does not come back. */
  if (!g_error_matches (gone, QM_QUOTE_STORE_ERROR,
                        QM_QUOTE_STORE_ERROR_NOT_FOUND))
    now = keep_outcome (refresh, watch, outcome);
  if (now != NULL && refresh->kept != NULL)
    refresh->kept (watch, before, now, outcome, done, total,
                   refresh->user_data);
}

gboolean
qm_watch_refresh (QmQuoteStore *store,
                  GPtrArray *watches,
                  QmFetcher *fetcher,
                  const QmPageRules *rules,
                  const QmMatcher *matcher,
                  QmRates *rates,
                  QmWatchKept kept,
                  gpointer user_data,
                  GCancellable *cancellable,
                  GError **error)
{
  Refresh refresh = { store, rules, matcher, rates, kept, user_data, NULL };

  g_return_val_if_fail (store != NULL && watches != NULL, FALSE);
  g_return_val_if_fail (fetcher != NULL, FALSE);

  qm_watch_list_refresh (watches, fetcher, matcher, extract_cb, report_cb,
                         &refresh, cancellable);
  if (refresh.trouble == NULL)
    return TRUE;
  g_propagate_error (error, refresh.trouble);
  return FALSE;
}
