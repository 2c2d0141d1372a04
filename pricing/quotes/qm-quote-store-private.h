/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the store share. */

#pragma once

#include "pricing/quotes/qm-quote-store.h"

#include <glib/gstdio.h>
#include <sqlite3.h>

G_BEGIN_DECLS

/* The format of the file, its user_version. */
#define QM_STORE_VERSION 3

/* "QmQt", its application_id. */
#define QM_STORE_APPLICATION_ID 0x516d5174

struct _QmQuoteStore
{
  char *path;
  sqlite3 *db;
  GHashTable *statements; /* SQL, by its address -> sqlite3_stmt */
  guint64 changes;        /* as last read */
  gboolean read_only;     /* a copy in memory of what the file held */
  char *trouble;          /* of such a copy: what is missing in it, or NULL */
  GStatBuf identity;      /* of the file, where it is none in memory */
};

/* How long one program waits for another's writing: longer than the import of
 * ten thousand quotes. */
#define QM_STORE_BUSY_MS 10000

/* --- qm-quote-store.c --- */

/* A store without a file, with the tables of a version. */
QmQuoteStore *qm_store_new_in_memory (int version, GError **error);

/* A path from the root; a link as what it leads to.  (transfer full) */
char *qm_store_canonical (const char *path);

/* --- qm-quote-store-image.c --- */

typedef struct
{
  guchar *bytes; /* of sqlite3_malloc() */
  gint64 size;
  guint32 application; /* its id, as the file has it */
  gboolean torn;       /* the file or its journal ends too early, or says
                          something impossible */
} QmStoreImage;

/* Whether there may be a store: no folder, no pipe.
 *
 * absent: (out) (nullable): whether there is nothing, which is an error where
 *   this is NULL. */
gboolean
qm_store_check_file (const char *path, gboolean *absent, GError **error);

#define QM_STORE_HEADER 100

/* Reads the first bytes of a database; QM_QUOTE_STORE_ERROR_FOREIGN where the
 * file is none. */
gboolean qm_store_read_header (const char *path,
                               guchar header[QM_STORE_HEADER],
                               GError **error);

/* The application_id in it. */
guint32 qm_store_application (const guchar header[QM_STORE_HEADER]);

/* Whether a database, of which nothing is locked or changed, says in its file
 * that it is a store; FALSE also where that is only in its journal. */
gboolean qm_store_has_tables (const char *path);

/* SQL that counts the tables that every version of a store has, and how many
 * these are. */
#define QM_STORE_OWN_TABLES                                             \
  "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN" \
  " ('quotes', 'vendors', 'lines', 'findings', 'attachments', 'rates')"
#define QM_STORE_N_OWN_TABLES 6

/* Reads a database and its journal, of which nothing is changed.  Somebody else
 * may be writing it. */
gboolean
qm_store_image_read (QmStoreImage *image, const char *path, GError **error);

/* A connection to it, in memory, which takes its bytes.  NULL: there is no
 * memory. */
sqlite3 *qm_store_image_open (QmStoreImage *image);

/* The bytes of a database as a file has them; freed with sqlite3_free().  NULL:
 * there is no memory. */
guchar *qm_store_serialize (sqlite3 *db, gsize *size);

/* --- qm-quote-store-salvage.c --- */

/* What could be read of a damaged store. */
typedef struct
{
  int quotes;       /* that are not deleted */
  int incomplete;   /* of them: a part of each is missing */
  int lost;         /* quotes that are known to be missing */
  gboolean counted; /* how many there were is known */
} QmStoreSalvage;

/* Copies what can be read of a database, in memory, that is damaged.
 *
 * version: of its tables; any number where it is not known.
 *
 * Returns: (transfer full): a store in memory, brought up to date. */
QmQuoteStore *qm_store_salvage (sqlite3 *from,
                                int version,
                                QmStoreSalvage *found,
                                GError **error);

/* Whether the tables of a sound database fit together, and say what this
 * version knows: QM_QUOTE_STORE_ERROR_DAMAGED where not.  A new word in a
 * column is a new version of the format. */
gboolean qm_store_check_content (QmQuoteStore *store, GError **error);

/* "28 of 30 quotes", and so on.  (transfer full) */
char *qm_store_salvage_text (const QmStoreSalvage *found);

/* --- qm-quote-store-repair.c --- */

/* Puts a store in memory in the place of a file that is kept under another
 * name.
 *
 * identity: of the file; QM_QUOTE_STORE_ERROR_BUSY where it is another by now.
 * found: (nullable): what the store was salvaged from is told from now on; see
 *   qm_quote_store_damages(). */
gboolean qm_store_replace (const char *path,
                           const GStatBuf *identity,
                           QmQuoteStore *store,
                           const QmStoreSalvage *found,
                           GError **error);

/* Ends a replacing that was cut short by a kill or a power cut. */
gboolean qm_store_finish_replacing (const char *path, GError **error);

/* Where the store is now: where a replacing was cut short, not yet at `path`.
 * (transfer full) */
char *qm_store_current_path (const char *path);

/* --- qm-quote-store-sql.c --- */

/* Sets an error for what went wrong last.  Returns FALSE. */
gboolean qm_store_fail (QmQuoteStore *store, GError **error);

/* Runs SQL that returns nothing; for statements that run once. */
gboolean
qm_store_execute (QmQuoteStore *store, const char *sql, GError **error);

/* Reads the number that `sql` returns; for statements that run once. */
gboolean qm_store_number (QmQuoteStore *store,
                          const char *sql,
                          gint64 *number,
                          GError **error);

/* A prepared statement, kept with the store by the address of `sql`, which must
 * be static.  g_autoptr() resets it, which ends its reading. */
typedef sqlite3_stmt QmStatement;
void qm_statement_reset (QmStatement *statement);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmStatement, qm_statement_reset)

QmStatement *
qm_store_prepare (QmQuoteStore *store, const char *sql, GError **error);

/* Takes a step.  Returns 1 where there is a row, 0 at the end, -1 with an
 * error. */
int qm_store_step (QmQuoteStore *store, QmStatement *statement, GError **error);

/* Runs a statement that returns nothing, and resets it. */
gboolean
qm_store_run (QmQuoteStore *store, QmStatement *statement, GError **error);

/* Prepares and runs a statement without parameters. */
gboolean
qm_store_run_sql (QmQuoteStore *store, const char *sql, GError **error);

/* Bind the next parameter: `*n` is the number of the last one. */
void qm_bind_int (QmStatement *statement, int *n, gint64 value);
void qm_bind_text (QmStatement *statement, int *n, const char *text);
/* NULL for QM_AMOUNT_UNSTATED. */
void qm_bind_amount (QmStatement *statement, int *n, gint64 amount);
/* "2026-11-21", "2026-11", "2026" or NULL. */
void qm_bind_date (QmStatement *statement, int *n, QmDate date);
/* NULL for QM_UNSTATED. */
void qm_bind_tristate (QmStatement *statement, int *n, QmTristate value);
/* NULL for an empty set. */
void qm_bind_asks (QmStatement *statement, int *n, guint asks);

/* Read the next column: `*n` is the number of the last one, -1 at first.  Where
 * it holds no value of its kind, *known, unless `known` is NULL, becomes FALSE,
 * and the value is 0 or nothing. */
const char *qm_column_text (QmStatement *statement, int *n);
char *qm_column_dup (QmStatement *statement, int *n);
gint64 qm_column_int (QmStatement *statement, int *n, gboolean *known);
gint64 qm_column_amount (QmStatement *statement, int *n, gboolean *known);
QmDate qm_column_date (QmStatement *statement, int *n, gboolean *known);
QmTristate qm_column_tristate (QmStatement *statement, int *n, gboolean *known);
void qm_column_currency (QmStatement *statement,
                         int *n,
                         char currency[4],
                         gboolean *known);
/* 0 for a set with a word that is not known, and *known becomes FALSE. */
guint qm_column_asks (QmStatement *statement, int *n, gboolean *known);
/* The place in an enumeration of what `name` calls so; 0 for a word that it
 * does not have, and *known becomes FALSE. */
int qm_column_word (QmStatement *statement,
                    int *n,
                    const char *(*name) (int),
                    int n_words,
                    gboolean *known);

/* The words that files have, for qm_column_word(). */
const char *qm_word_of_origin (int origin);
const char *qm_word_of_role (int role);
const char *qm_word_of_match (int match);
const char *qm_word_of_thing (int thing);
const char *qm_word_of_kind (int kind);
const char *qm_word_of_unit (int unit);
const char *qm_word_of_level (int level);

typedef gboolean (*QmStoreWork) (QmQuoteStore *store,
                                 gpointer data,
                                 GError **error);

/* Does work in one transaction, of which all is written or, where it returns
 * FALSE, nothing. */
gboolean qm_store_write (QmQuoteStore *store,
                         QmStoreWork work,
                         gpointer data,
                         GError **error);

/* Does work that reads one state of the store. */
gboolean qm_store_read (QmQuoteStore *store,
                        QmStoreWork work,
                        gpointer data,
                        GError **error);

/* --- qm-quote-store-read.c --- */

/* qm_quote_store_get() within a transaction. */
QmQuote *qm_store_load_quote (QmQuoteStore *store, gint64 id, GError **error);

/* --- qm-quote-store-write.c --- */

/* The quote that is not deleted, of the same document: the `occurrence`-th of
 * its vendor, number and alternative in it.  0 where there is none, -1 with an
 * error. */
gint64 qm_store_find_same (QmQuoteStore *store,
                           const QmQuote *quote,
                           int occurrence,
                           GError **error);

/* How many quotes of the same document, vendor, number and alternative `counts`
 * (of owned strings) has seen; counts this one. */
int qm_store_count_occurrence (GHashTable *counts, const QmQuote *quote);

/* --- qm-quote-store-schema.c --- */

/* Brings an empty store, of version 0, or one of an older version to a newer
 * one; to be called in a transaction. */
gboolean qm_store_migrate (QmQuoteStore *store,
                           int version,
                           int to_version,
                           GError **error);

/* --- qm-quote-store-file.c --- */

/* An error for what went wrong with a file, by its errno.  Returns FALSE. */
gboolean qm_store_fail_file (const char *path, int code, GError **error);

/* Copies a database as it is now into a dated file beside it.
 *
 * prune: take away all but the last QM_QUOTE_STORE_BACKUPS of these.
 *
 * Returns: (transfer full): the path of the copy, or NULL with an error. */
char *
qm_store_copy (sqlite3 *db, const char *path, gboolean prune, GError **error);

/* Creates the folder of a file, for this user alone. */
gboolean qm_store_create_folder (const char *path, GError **error);

/* Writes a file, for this user alone, which is there whole or not at all.
 *
 * replace: else one that is there stays, which is no error. */
gboolean qm_store_publish (const char *path,
                           const void *bytes,
                           gsize size,
                           gboolean replace,
                           GError **error);

/* The same with the bytes of a store in memory. */
gboolean qm_store_publish_store (const char *path,
                                 QmQuoteStore *store,
                                 gboolean replace,
                                 GError **error);

/* A name beside a file that is not taken:
 * "quotes.sqlite.backup-20261121T104559Z" and, within the same second,
 * "...Z-2".  (transfer full) */
char *qm_store_dated_name (const char *path, const char *what);

/* The files beside `path` whose names go on with `what` and what
 * qm_store_dated_name() appends, oldest first.  (transfer full) */
GPtrArray *qm_store_list_dated (const char *path, const char *what);

/* Takes away what writers that were killed have left half written. */
void qm_store_sweep (const char *path);

#define QM_STORE_BACKUP  ".backup-"
#define QM_STORE_DAMAGED ".damaged-"

/* --- qm-quote-store-write.c --- */

/* A quote that is to be erased. */
typedef struct
{
  gint64 id;
  gint64 read_at; /* with it tells it from another quote of that number */
} QmStoreErased;

/* --- qm-quote-store-backup.c --- */

/* The same from all backups of a file. */
gboolean qm_store_erase_from_backups (const char *path,
                                      const GArray *quotes,
                                      GError **error);

/* --- qm-quote-store-check.c --- */

/* Sets QM_QUOTE_STORE_ERROR_INVALID with a sentence in the user's language;
 * returns FALSE. */
gboolean qm_quote_store_refuse (GError **error, const char *message);

/* Whether a quote can be stored: QM_QUOTE_STORE_ERROR_INVALID where not. */
gboolean qm_store_check_quote (const QmQuote *quote, GError **error);
gboolean qm_store_check_text (const char *text, GError **error);
gboolean qm_store_check_digest (const char *sha256, GError **error);
gboolean qm_store_check_date (QmDate date, GError **error);
gboolean qm_store_check_currency (const char *currency, GError **error);

G_END_DECLS
