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
};

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

/* Read the next column: `*n` is the number of the last one, -1 at first. */
gint64 qm_column_int (QmStatement *statement, int *n);
const char *qm_column_text (QmStatement *statement, int *n);
char *qm_column_dup (QmStatement *statement, int *n);
gint64 qm_column_amount (QmStatement *statement, int *n);
QmDate qm_column_date (QmStatement *statement, int *n);
QmTristate qm_column_tristate (QmStatement *statement, int *n);
void qm_column_currency (QmStatement *statement, int *n, char currency[4]);
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

/* Brings an empty store or one of an older version up to date; to be called in
 * a transaction. */
gboolean qm_store_migrate (QmQuoteStore *store, int version, GError **error);

/* --- qm-quote-store-file.c --- */

/* Copies a database into a dated file beside it; see qm_quote_store_backup().
 */
char *qm_store_copy (sqlite3 *db, const char *path, GError **error);

/* Moves a database and its journal to another name beside it, unless it is not
 * the file `identity` any more.  (transfer full): the new name. */
char *qm_store_move_aside (const char *path,
                           const GStatBuf *identity,
                           GError **error);

/* Creates the folder of a file, and the file, for this user alone. */
gboolean qm_store_create_file (const char *path, GError **error);

/* The newest backup of a store.  (transfer full) (nullable) */
char *qm_store_newest_backup (const char *path);

/* --- qm-quote-store-check.c --- */

/* Whether a quote can be stored: QM_QUOTE_STORE_ERROR_INVALID where not. */
gboolean qm_store_check_quote (const QmQuote *quote, GError **error);
gboolean qm_store_check_text (const char *text, GError **error);
gboolean qm_store_check_digest (const char *sha256, GError **error);
gboolean qm_store_check_date (QmDate date, GError **error);
gboolean qm_store_check_currency (const char *currency, GError **error);

G_END_DECLS
