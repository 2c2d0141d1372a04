/* SPDX-License-Identifier: Apache-2.0 */

/* What keeps a store from harm: backups of it, and what is told of damage.
 *
 * Beside "quotes.sqlite" lie, each with a date in its name, at most
 * QM_QUOTE_STORE_BACKUPS copies ("quotes.sqlite.backup-20261121T104559Z"), and
 * damaged files as they were found ("quotes.sqlite.damaged-..."), which nobody
 * takes away but the user. */

#pragma once

#include "pricing/quotes/qm-quote-store.h"

G_BEGIN_DECLS

/* How long a deleted quote can be restored; after that it is erased. */
#define QM_QUOTE_STORE_UNDO_DAYS 30

/* A file that was damaged. */
typedef struct
{
  char *path;      /* where it was kept */
  gint64 found_at; /* seconds since 1970 */
  char *text;      /* what became of it: a sentence for people */
} QmStoreDamage;

/* What was damaged, and nobody has accepted yet; to be told wherever quotes
 * count.  Changes nothing.
 *
 * Returns: (transfer full): of QmStoreDamage; none where all is well. */
GPtrArray *qm_quote_store_damages (const char *path);

/* The user knows, and goes on with what could be read: nothing is told of it
 * from now on.  The damaged files stay. */
gboolean qm_quote_store_accept_damages (const char *path, GError **error);

/* That damaged files were kept, accepted or not, in which what is erased from
 * the store may still be: a sentence for people.  (transfer full) (nullable):
 * NULL where there are none. */
char *qm_quote_store_kept_text (const char *path);

/* A backup. */
typedef struct
{
  char *path;
  gint64 made_at;  /* seconds since 1970; 0: not known */
  gint64 n_quotes; /* that are not deleted */
  char *trouble;   /* why it cannot be restored; NULL: it can */
} QmStoreBackup;

/* The backups of a store, which need not be readable itself, the newest first.
 * Changes nothing.
 *
 * Returns: (transfer full): of QmStoreBackup. */
GPtrArray *qm_quote_store_backups (const char *path);

/* That a store is not there any more, although backups of it are: a sentence
 * for people.  (transfer full) (nullable): NULL where it is there, or never
 * was. */
char *qm_quote_store_missing_text (const char *path);

/* Puts what a backup holds in the place of all quotes, rates and prices.  What
 * was there becomes a backup, too, or is kept as a damaged file; what was told
 * of damage is told no more.  Other stores on the file see it as a change.
 *
 * backup: one of qm_quote_store_backups(). */
gboolean qm_quote_store_restore_backup (const char *path,
                                        const char *backup,
                                        GError **error);

/* Looks after a store, to be called when something was written or a day has
 * passed: erases what was deleted QM_QUOTE_STORE_UNDO_DAYS ago, and makes
 * today's first backup where something has changed since the last one. */
gboolean qm_quote_store_maintain (QmQuoteStore *store, GError **error);

G_END_DECLS
