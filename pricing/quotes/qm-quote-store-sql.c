/* SPDX-License-Identifier: Apache-2.0 */

/* SQLite's statements, values and errors in the words of the store. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>

G_DEFINE_QUARK (qm - quote - store - error - quark, qm_quote_store_error)

static int
code_of (int result)
{
  if (result == SQLITE_CONSTRAINT_UNIQUE)
    return QM_QUOTE_STORE_ERROR_EXISTS;
  switch (result & 0xff)
    {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return QM_QUOTE_STORE_ERROR_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return QM_QUOTE_STORE_ERROR_DAMAGED;
    case SQLITE_FULL:
      return QM_QUOTE_STORE_ERROR_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return QM_QUOTE_STORE_ERROR_READ_ONLY;
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return QM_QUOTE_STORE_ERROR_INVALID;
    default:
      return QM_QUOTE_STORE_ERROR_IO;
    }
}

gboolean
qm_store_fail (QmQuoteStore *store, GError **error)
{
  const char *path = store->path;
  int code = code_of (sqlite3_extended_errcode (store->db));
  const char *why = sqlite3_errmsg (store->db);

  switch (code)
    {
    case QM_QUOTE_STORE_ERROR_BUSY:
      g_set_error (error, QM_QUOTE_STORE_ERROR, code,
                   _ ("Another program is writing to “%s”; try again."), path);
      break;
    case QM_QUOTE_STORE_ERROR_DAMAGED:
      g_set_error (error, QM_QUOTE_STORE_ERROR, code, _ ("“%s” is damaged: %s"),
                   path, why);
      break;
    case QM_QUOTE_STORE_ERROR_FULL:
      g_set_error (error, QM_QUOTE_STORE_ERROR, code,
                   _ ("There is no space left to write to “%s”; nothing of "
                      "this was stored."),
                   path);
      break;
    case QM_QUOTE_STORE_ERROR_READ_ONLY:
      g_set_error (error, QM_QUOTE_STORE_ERROR, code,
                   _ ("“%s” may not be written."), path);
      break;
    case QM_QUOTE_STORE_ERROR_EXISTS:
      g_set_error (error, QM_QUOTE_STORE_ERROR, code,
                   _ ("The same document is in “%s” already."), path);
      break;
    case QM_QUOTE_STORE_ERROR_INVALID:
      g_set_error (error, QM_QUOTE_STORE_ERROR, code,
                   _ ("“%s” cannot hold this: %s"), path, why);
      break;
    default:
      g_set_error (error, QM_QUOTE_STORE_ERROR, code,
                   _ ("“%s” cannot be opened, read or written: %s"), path, why);
      break;
    }
  return FALSE;
}

gboolean
qm_store_execute (QmQuoteStore *store, const char *sql, GError **error)
{
  if (sqlite3_exec (store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
    return qm_store_fail (store, error);
  return TRUE;
}

gboolean
qm_store_number (QmQuoteStore *store,
                 const char *sql,
                 gint64 *number,
                 GError **error)
{
  sqlite3_stmt *statement = NULL;
  gboolean ok =
      sqlite3_prepare_v2 (store->db, sql, -1, &statement, NULL) == SQLITE_OK
      && sqlite3_step (statement) == SQLITE_ROW;

  if (ok)
    *number = sqlite3_column_int64 (statement, 0);
  else
    qm_store_fail (store, error);
  sqlite3_finalize (statement);
  return ok;
}

void
qm_statement_reset (QmStatement *statement)
{
  sqlite3_reset (statement);
  /* What was bound belongs to the caller, who is about to free it. */
  sqlite3_clear_bindings (statement);
}

QmStatement *
qm_store_prepare (QmQuoteStore *store, const char *sql, GError **error)
{
  QmStatement *statement =
      g_hash_table_lookup (store->statements, (gpointer) sql);

  if (statement != NULL)
    return statement;
  if (sqlite3_prepare_v3 (store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                          &statement, NULL)
      != SQLITE_OK)
    {
      qm_store_fail (store, error);
      return NULL;
    }
  g_hash_table_insert (store->statements, (gpointer) sql, statement);
  return statement;
}

int
qm_store_step (QmQuoteStore *store, QmStatement *statement, GError **error)
{
  switch (sqlite3_step (statement))
    {
    case SQLITE_ROW:
      return 1;
    case SQLITE_DONE:
      return 0;
    default:
      qm_store_fail (store, error);
      return -1;
    }
}

gboolean
qm_store_run (QmQuoteStore *store, QmStatement *statement, GError **error)
{
  gboolean ok = qm_store_step (store, statement, error) >= 0;

  qm_statement_reset (statement);
  return ok;
}

gboolean
qm_store_run_sql (QmQuoteStore *store, const char *sql, GError **error)
{
  QmStatement *statement = qm_store_prepare (store, sql, error);

  return statement != NULL && qm_store_run (store, statement, error);
}

void
qm_bind_int (QmStatement *statement, int *n, gint64 value)
{
  sqlite3_bind_int64 (statement, ++*n, value);
}

void
qm_bind_text (QmStatement *statement, int *n, const char *text)
{
  sqlite3_bind_text (statement, ++*n, text, -1, SQLITE_STATIC);
}

void
qm_bind_amount (QmStatement *statement, int *n, gint64 amount)
{
  if (amount == QM_AMOUNT_UNSTATED)
    sqlite3_bind_null (statement, ++*n);
  else
    sqlite3_bind_int64 (statement, ++*n, amount);
}

void
qm_bind_date (QmStatement *statement, int *n, QmDate date)
{
  char text[sizeof "9999-12-31"];

  if (date.year == 0)
    {
      sqlite3_bind_null (statement, ++*n);
      return;
    }
  /* The ranges are those that qm_store_check_date() leaves. */
  g_snprintf (text, sizeof text, "%04d-%02d-%02d", date.year % 10000,
              date.month % 100, date.day % 100);
  if (date.month == 0)
    text[strlen ("9999")] = '\0';
  else if (date.day == 0)
    text[strlen ("9999-12")] = '\0';
  sqlite3_bind_text (statement, ++*n, text, -1, SQLITE_TRANSIENT);
}

void
qm_bind_tristate (QmStatement *statement, int *n, QmTristate value)
{
  if (value == QM_UNSTATED)
    sqlite3_bind_null (statement, ++*n);
  else
    sqlite3_bind_int (statement, ++*n, value == QM_YES);
}

void
qm_bind_asks (QmStatement *statement, int *n, guint asks)
{
  g_autofree char *text = qm_asks_to_text (asks);

  sqlite3_bind_text (statement, ++*n, text, -1, SQLITE_TRANSIENT);
}

const char *
qm_column_text (QmStatement *statement, int *n)
{
  return (const char *) sqlite3_column_text (statement, ++*n);
}

char *
qm_column_dup (QmStatement *statement, int *n)
{
  const char *text = qm_column_text (statement, n);

  /* Only in a file that something else has changed is it not valid. */
  if (text == NULL || g_utf8_validate (text, -1, NULL))
    return g_strdup (text);
  return g_utf8_make_valid (text, -1);
}

/* No value of its kind: a file that is damaged in no way that its checks
 * notice. */
static void
fail_column (gboolean *known)
{
  if (known != NULL)
    *known = FALSE;
}

gint64
qm_column_int (QmStatement *statement, int *n, gboolean *known)
{
  if (sqlite3_column_type (statement, ++*n) == SQLITE_INTEGER)
    return sqlite3_column_int64 (statement, *n);
  fail_column (known);
  return 0;
}

/* Whether the next column holds nothing, which is passed then. */
static gboolean
pass_nothing (QmStatement *statement, int *n)
{
  if (sqlite3_column_type (statement, *n + 1) != SQLITE_NULL)
    return FALSE;
  ++*n;
  return TRUE;
}

gint64
qm_column_amount (QmStatement *statement, int *n, gboolean *known)
{
  return pass_nothing (statement, n) ? QM_AMOUNT_UNSTATED
                                     : qm_column_int (statement, n, known);
}

QmDate
qm_column_date (QmStatement *statement, int *n, gboolean *known)
{
  const char *text = qm_column_text (statement, n);
  QmDate date = { 0, 0, 0 };

  if (text != NULL && !qm_date_parse (text, &date))
    {
      date = (QmDate){ 0, 0, 0 };
      fail_column (known);
    }
  return date;
}

QmTristate
qm_column_tristate (QmStatement *statement, int *n, gboolean *known)
{
  if (pass_nothing (statement, n))
    return QM_UNSTATED;
  return qm_column_int (statement, n, known) != 0 ? QM_YES : QM_NO;
}

void
qm_column_currency (QmStatement *statement,
                    int *n,
                    char currency[4],
                    gboolean *known)
{
  const char *text = qm_column_text (statement, n);
  gboolean valid = text != NULL && qm_currency_valid (text);

  if (!valid && (text == NULL || *text != '\0'))
    fail_column (known);
  g_strlcpy (currency, valid ? text : "", 4);
}

guint
qm_column_asks (QmStatement *statement, int *n, gboolean *known)
{
  guint asks = 0;

  if (!qm_asks_from_text (qm_column_text (statement, n), &asks))
    *known = FALSE;
  return asks;
}

int
qm_column_word (QmStatement *statement,
                int *n,
                const char *(*name) (int),
                int n_words,
                gboolean *known)
{
  const char *text = qm_column_text (statement, n);

  for (int i = 0; i < n_words && text != NULL; i++)
    if (strcmp (text, name (i)) == 0)
      return i;
  *known = FALSE;
  return 0;
}

const char *
qm_word_of_origin (int origin)
{
  return qm_quote_origin_name (origin);
}

const char *
qm_word_of_role (int role)
{
  return qm_line_role_name (role);
}

const char *
qm_word_of_match (int match)
{
  return qm_match_state_name (match);
}

const char *
qm_word_of_thing (int thing)
{
  return qm_line_thing_name (thing);
}

const char *
qm_word_of_kind (int kind)
{
  return qm_price_kind_name (kind);
}

const char *
qm_word_of_unit (int unit)
{
  return qm_price_unit_name (unit);
}

const char *
qm_word_of_level (int level)
{
  return level == QM_FINDING_NOTE ? "note" : "warning";
}

/* Ends a transaction that SQLite has not ended on its own. */
static void
roll_back (QmQuoteStore *store)
{
  if (!sqlite3_get_autocommit (store->db))
    sqlite3_exec (store->db, "ROLLBACK", NULL, NULL, NULL);
}

/* What is written to a file that another one has replaced would be lost. */
static gboolean
check_place (QmQuoteStore *store, GError **error)
{
  if (qm_quote_store_is_in_place (store))
    return TRUE;
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY,
               _ ("Another program has just replaced “%s”; try again."),
               store->path);
  return FALSE;
}

gboolean
qm_store_write (QmQuoteStore *store,
                QmStoreWork work,
                gpointer data,
                GError **error)
{
  static const char begin[] = "BEGIN IMMEDIATE";
  static const char count[] = "UPDATE state SET changes = changes + 1";
  static const char commit[] = "COMMIT";

  if (qm_store_run_sql (store, begin, error) && check_place (store, error)
      && work (store, data, error) && qm_store_run_sql (store, count, error)
      && qm_store_run_sql (store, commit, error))
    return TRUE;
  roll_back (store);
  return FALSE;
}

gboolean
qm_store_read (QmQuoteStore *store,
               QmStoreWork work,
               gpointer data,
               GError **error)
{
  static const char begin[] = "BEGIN";
  static const char commit[] = "COMMIT";

  if (qm_store_run_sql (store, begin, error) && work (store, data, error)
      && qm_store_run_sql (store, commit, error))
    return TRUE;
  roll_back (store);
  return FALSE;
}
