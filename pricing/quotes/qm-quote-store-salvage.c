/* SPDX-License-Identifier: Apache-2.0 */

/* What can still be read of a damaged store.
 *
 * A page that is broken hides the rows that are on it, and stops whoever reads
 * on from the rows before.  So each table is read from both ends, from places
 * in between, and then row by row.  The tables are those that a sound store of
 * that version has; what they refer to and is lost is taken out, so that what
 * is left is a sound store, too. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Rows are asked for by their numbers up to this one: a broken number may
 * promise more than there are. */
#define NUMBERS (1 << 17)

/* No page has more rows.  A tree that is broken may lead in circles, which
 * comes to an end after so many and those that are asked for. */
#define ROWS_A_PAGE 4096

#define MAX_COLUMNS 64

/* A column of a table. */
typedef struct
{
  char *name;
  gboolean required;
} Column;

typedef struct
{
  sqlite3 *from;
  QmQuoteStore *to;
  char *name;
  char *key;     /* what its rows are ordered by: a number */
  char *columns; /* "a, b", those that both have */
  GArray *all;   /* of Column: the same */
  sqlite3_stmt *insert;
  sqlite3_stmt *ranges[2]; /* forwards and backwards */
  gint64 highest;          /* key of the rows that were read */
  gint64 n_left;           /* rows that may still come */
  gboolean fatal;          /* what is salvaged cannot be kept */
  GHashTable *broken; /* keys of which something could not be read; or NULL */
} Table;

static void
column_clear (gpointer data)
{
  g_free (((Column *) data)->name);
}

static void
table_clear (Table *table)
{
  sqlite3_finalize (table->insert);
  sqlite3_finalize (table->ranges[0]);
  sqlite3_finalize (table->ranges[1]);
  g_free (table->name);
  g_free (table->key);
  g_free (table->columns);
  g_clear_pointer (&table->all, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Table, table_clear)

static sqlite3_stmt *
prepare (sqlite3 *db, const char *sql)
{
  sqlite3_stmt *statement = NULL;

  sqlite3_prepare_v2 (db, sql, -1, &statement, NULL);
  return statement;
}

/* Whether a table can be asked for a column. */
static gboolean
has_column (sqlite3 *db, const char *table, const char *column)
{
  g_autofree char *sql =
      g_strdup_printf ("SELECT %s FROM %s LIMIT 0", column, table);
  sqlite3_stmt *statement = prepare (db, sql);
  gboolean has = statement != NULL;

  sqlite3_finalize (statement);
  return has;
}

/* --- the rows --- */

static int
insert_row (Table *table, sqlite3_stmt *row, const char *without)
{
  int result;

  for (guint i = 0; i < table->all->len; i++)
    {
      const Column *column = &g_array_index (table->all, Column, i);

      if (sqlite3_column_type (row, (int) i) == SQLITE_NULL && column->required)
        sqlite3_bind_text (table->insert, (int) i + 1, "", 0, SQLITE_STATIC);
      else if (without != NULL && strcmp (column->name, without) == 0)
        sqlite3_bind_null (table->insert, (int) i + 1);
      else
        sqlite3_bind_value (table->insert, (int) i + 1,
                            sqlite3_column_value (row, (int) i));
    }
  sqlite3_step (table->insert);
  result = sqlite3_reset (table->insert);
  sqlite3_clear_bindings (table->insert);
  return result;
}

/* A row that was read from the other end before is there already.  A quote that
 * seems to be another one's document is kept without it. */
static void
keep_row (Table *table, sqlite3_stmt *row)
{
  int result = insert_row (table, row, NULL);

  if (result == SQLITE_CONSTRAINT_UNIQUE && strcmp (table->name, "quotes") == 0)
    result = insert_row (table, row, "sha256");
  if (result != SQLITE_OK && (result & 0xff) != SQLITE_CONSTRAINT)
    table->fatal = TRUE;
}

static sqlite3_stmt *
prepare_range (Table *table, gboolean backwards)
{
  g_autofree char *sql = g_strdup_printf (
      "SELECT %s, %s FROM %s NOT INDEXED WHERE %s BETWEEN ?1 AND ?2"
      " ORDER BY %s %s",
      table->columns, table->key, table->name, table->key, table->key,
      backwards ? "DESC" : "ASC");

  return prepare (table->from, sql);
}

/* Reads the rows of a range from one end, to the first that cannot be read.
 *
 * last: (inout): the key of the last one that could.
 *
 * Returns: whether it came to the end. */
static gboolean
read_range (
    Table *table, gint64 low, gint64 high, gboolean backwards, gint64 *last)
{
  sqlite3_stmt *row = table->ranges[backwards];
  int result = SQLITE_ERROR;

  if (row == NULL)
    row = table->ranges[backwards] = prepare_range (table, backwards);
  if (row == NULL)
    return FALSE;
  sqlite3_bind_int64 (row, 1, low);
  sqlite3_bind_int64 (row, 2, high);
  while (!table->fatal && table->n_left-- > 0
         && (result = sqlite3_step (row)) == SQLITE_ROW)
    {
      gint64 key = sqlite3_column_int64 (row, (int) table->all->len);

      /* A tree that is out of order. */
      if (key < low || key > high)
        continue;
      keep_row (table, row);
      table->highest = MAX (table->highest, key);
      *last = key;
    }
  sqlite3_reset (row);
  return result == SQLITE_DONE;
}

static void
note_broken (Table *table, gint64 key)
{
  if (table->broken != NULL)
    g_hash_table_add (table->broken, g_memdup2 (&key, sizeof key));
}

/* From places behind one at which reading has stopped, each twice as far away
 * as the one before. */
static void
read_on (Table *table, gint64 from)
{
  gint64 step = 1;

  while (step < G_MAXINT64 / 2 && from < G_MAXINT64 - step)
    {
      gint64 last = from;

      if (read_range (table, from + step, G_MAXINT64, FALSE, &last))
        return;
      step = last > from ? 1 : step * 2;
      from = last;
    }
}

/* The last id that a quote was given, by both; a broken one may say anything.
 */
static gint64
last_id (const Table *table)
{
  static const char given[] =
      "SELECT max (seq) FROM sqlite_sequence WHERE name = 'quotes'";
  gint64 last = 0;
  sqlite3 *const both[] = { table->from, table->to->db };

  for (guint i = 0; i < G_N_ELEMENTS (both); i++)
    {
      sqlite3_stmt *row = prepare (both[i], given);

      if (row != NULL && sqlite3_step (row) == SQLITE_ROW)
        last = MAX (last, sqlite3_column_int64 (row, 0));
      sqlite3_finalize (row);
    }
  return last;
}

/* At last each number for itself: a tree that is broken may end before its end
 * without a word. */
static void
salvage_rows (Table *table)
{
  gint64 first = 0, last, ignored;

  if (!read_range (table, G_MININT64, G_MAXINT64, FALSE, &first)
      && !read_range (table, G_MININT64, G_MAXINT64, TRUE, &ignored))
    read_on (table, MAX (first, 0));
  last = MIN (MAX (table->highest, last_id (table)), NUMBERS);
  for (gint64 key = 0; key <= last; key++)
    if (!read_range (table, key, key, FALSE, &ignored)
        && !read_range (table, key, key, TRUE, &ignored))
      note_broken (table, key);
}

/* Of a table whose rows have no number: from both ends. */
static void
salvage_ends (Table *table)
{
  static const char *const orders[] = { "", "ORDER BY 1 DESC, 2 DESC" };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      g_autofree char *sql =
          g_strdup_printf ("SELECT %s FROM %s NOT INDEXED %s", table->columns,
                           table->name, orders[i]);
      sqlite3_stmt *row = prepare (table->from, sql);

      while (row != NULL && !table->fatal && table->n_left-- > 0
             && sqlite3_step (row) == SQLITE_ROW)
        keep_row (table, row);
      sqlite3_finalize (row);
    }
}

/* --- the tables --- */

/* The columns that both have, and what the rows are ordered by. */
static gboolean
look_at_columns (Table *table)
{
  g_autofree char *sql =
      g_strdup_printf ("SELECT name, \"notnull\", pk, type = 'INTEGER'"
                       " FROM pragma_table_info ('%s') ORDER BY cid",
                       table->name);
  sqlite3_stmt *row = prepare (table->to->db, sql);
  g_autoptr (GString) columns = g_string_new (NULL);

  while (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    {
      const char *name = (const char *) sqlite3_column_text (row, 0);
      Column column = { NULL, sqlite3_column_int (row, 1) != 0 };
      gboolean key =
          sqlite3_column_int (row, 2) == 1 && sqlite3_column_int (row, 3) != 0;

      if (!has_column (table->from, table->name, name)
          || table->all->len == MAX_COLUMNS)
        continue;
      column.name = g_strdup (name);
      g_array_append_val (table->all, column);
      g_string_append_printf (columns, "%s%s", columns->len > 0 ? ", " : "",
                              name);
      if (key)
        table->key = g_strdup (name);
    }
  sqlite3_finalize (row);
  table->columns = g_string_free (g_steal_pointer (&columns), FALSE);
  return table->all->len > 0;
}

static gboolean
prepare_insert (Table *table)
{
  g_autoptr (GString) sql = g_string_new (NULL);

  g_string_printf (sql, "INSERT INTO %s (%s) VALUES (?", table->name,
                   table->columns);
  for (guint i = 1; i < table->all->len; i++)
    g_string_append (sql, ", ?");
  g_string_append_c (sql, ')');
  table->insert = prepare (table->to->db, sql->str);
  return table->insert != NULL;
}

static gint64
n_pages (sqlite3 *db)
{
  sqlite3_stmt *row = prepare (db, "PRAGMA page_count");
  gint64 n = 0;

  if (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    n = sqlite3_column_int64 (row, 0);
  sqlite3_finalize (row);
  return n;
}

static gboolean
salvage_table (sqlite3 *from,
               QmQuoteStore *to,
               const char *name,
               GHashTable *broken)
{
  g_auto (Table) table = {
    .from = from,
    .to = to,
    .name = g_strdup (name),
    .all = g_array_new (FALSE, FALSE, sizeof (Column)),
    .broken = broken,
  };

  table.n_left = n_pages (from) * ROWS_A_PAGE + 4 * NUMBERS;
  g_array_set_clear_func (table.all, column_clear);
  if (!look_at_columns (&table) || !prepare_insert (&table))
    return TRUE;
  if (table.key != NULL)
    salvage_rows (&table);
  else
    salvage_ends (&table);
  return !table.fatal;
}

/* The first column of each row.  (transfer full) */
static GPtrArray *
list_texts (QmQuoteStore *store, const char *sql)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);
  sqlite3_stmt *row = prepare (store->db, sql);

  while (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    g_ptr_array_add (texts,
                     g_strdup ((const char *) sqlite3_column_text (row, 0)));
  sqlite3_finalize (row);
  return texts;
}

/* Notes the quotes whose ids `sql` returns. */
static void
note_quotes (QmQuoteStore *store, const char *sql, GHashTable *broken)
{
  sqlite3_stmt *row = prepare (store->db, sql);

  while (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    {
      gint64 id = sqlite3_column_int64 (row, 0);

      g_hash_table_add (broken, g_memdup2 (&id, sizeof id));
    }
  sqlite3_finalize (row);
}

/* --- what tables say --- */

/* A column that has one of a list of words. */
typedef struct
{
  const char *table;
  const char *column;
  const char *key; /* whose quote it is */
  const char *(*name) (int);
  int n;
  int instead; /* of a word that is none: one that makes nothing count */
} Words;

static const Words all_words[] = {
  { "quotes", "kind", "id", qm_word_of_kind, QM_PRICE_CLOUD + 1,
    QM_PRICE_QUOTE },
  { "quotes", "unit", "id", qm_word_of_unit, QM_PRICE_HOUR + 1, QM_PRICE_EACH },
  { "quotes", "origin", "id", qm_word_of_origin, QM_N_QUOTE_ORIGINS,
    QM_QUOTE_FROM_HAND },
  { "lines", "role", "quote", qm_word_of_role, QM_N_LINE_ROLES,
    QM_LINE_ALTERNATIVE },
  { "lines", "match", "quote", qm_word_of_match, QM_N_MATCHES, QM_MATCH_NONE },
  { "findings", "level", "quote", qm_word_of_level, QM_N_FINDING_LEVELS,
    QM_FINDING_WARNING },
};

/* "kind NOT IN ('published', 'quote', ...)".  (transfer full) */
static char *
is_no_word (const Words *words)
{
  GString *sql = g_string_new (words->column);

  g_string_append (sql, " NOT IN (");
  for (int i = 0; i < words->n; i++)
    g_string_append_printf (sql, "%s'%s'", i > 0 ? ", " : "", words->name (i));
  g_string_append_c (sql, ')');
  return g_string_free (sql, FALSE);
}

gboolean
qm_store_check_content (QmQuoteStore *store, GError **error)
{
  static const char orphans[] = "SELECT EXISTS (SELECT 1 FROM lines"
                                " WHERE quote NOT IN (SELECT id FROM quotes))";
  gint64 found = 0;

  if (!qm_store_number (store, orphans, &found, error))
    return FALSE;
  for (guint i = 0; found == 0 && i < G_N_ELEMENTS (all_words); i++)
    {
      const Words *words = &all_words[i];
      g_autofree char *condition = is_no_word (words);
      g_autofree char *sql =
          g_strdup_printf ("SELECT EXISTS (SELECT 1 FROM %s WHERE %s)",
                           words->table, condition);

      if (!qm_store_number (store, sql, &found, error))
        return FALSE;
    }
  if (found != 0)
    g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_DAMAGED,
                 _ ("“%s” is damaged: %s"), store->path,
                 _ ("its tables contradict each other"));
  return found == 0;
}

/* Words that are none make way for others, and the quotes are noted. */
static gboolean
mend_words (QmQuoteStore *store, GHashTable *broken, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (all_words); i++)
    {
      const Words *words = &all_words[i];
      g_autofree char *condition = is_no_word (words);
      g_autofree char *which =
          g_strdup_printf ("SELECT %s FROM %s WHERE %s", words->key,
                           words->table, condition);
      g_autofree char *mending =
          g_strdup_printf ("UPDATE %s SET %s = '%s' WHERE %s", words->table,
                           words->column, words->name (words->instead),
                           condition);

      note_quotes (store, which, broken);
      if (!qm_store_execute (store, mending, error))
        return FALSE;
    }
  return TRUE;
}

/* --- making it sound --- */

/* SQL that takes out what refers to something that is lost: the reference where
 * a row can do without, else the row.  (transfer full) */
static GPtrArray *
list_mendings (QmQuoteStore *store)
{
  static const char sql[] =
      "SELECT CASE WHEN c.\"notnull\""
      "  THEN 'DELETE FROM ' || t.name"
      "  ELSE 'UPDATE ' || t.name || ' SET ' || f.\"from\" || ' = NULL' END"
      "  || ' WHERE ' || f.\"from\" || ' IS NOT NULL AND ' || f.\"from\""
      "  || ' NOT IN (SELECT id FROM ' || f.\"table\" || ')'"
      " FROM sqlite_master AS t, pragma_foreign_key_list (t.name) AS f,"
      "  pragma_table_info (t.name) AS c"
      " WHERE t.type = 'table' AND c.name = f.\"from\"";

  return list_texts (store, sql);
}

/* Quotes that lose something when they are made sound. */
static void
note_losses (QmQuoteStore *store, GHashTable *broken)
{
  static const char *const losses[] = {
    "SELECT id FROM quotes WHERE vendor NOT IN (SELECT id FROM vendors)",
    "SELECT quote FROM attachments"
    " WHERE document NOT IN (SELECT id FROM documents)",
  };

  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    note_quotes (store, losses[i], broken);
}

static gboolean
mend (QmQuoteStore *store, GError **error)
{
  g_autoptr (GPtrArray) mendings = list_mendings (store);

  /* What is taken out may be what something else refers to. */
  for (int round = 0; round < 3; round++)
    for (guint i = 0; i < mendings->len; i++)
      if (!qm_store_execute (store, g_ptr_array_index (mendings, i), error))
        return FALSE;
  return TRUE;
}

/* Says with each quote that is not whole that it is not. */
static gboolean
mark_broken (QmQuoteStore *store,
             GHashTable *broken,
             QmStoreSalvage *found,
             GError **error)
{
  static const char sql[] =
      "INSERT INTO findings (quote, position, level, message)"
      " SELECT id, (SELECT ifnull (max (position), -1) + 1 FROM findings"
      "   WHERE quote = quotes.id), ?2, ?3"
      " FROM quotes WHERE id = ?1";
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, broken);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      QmStatement *statement = qm_store_prepare (store, sql, error);
      int n = 0;

      if (statement == NULL)
        return FALSE;
      qm_bind_int (statement, &n, *(const gint64 *) key);
      qm_bind_text (statement, &n, qm_word_of_level (QM_FINDING_WARNING));
      qm_bind_text (statement, &n,
                    _ ("A part of this quote could not be read any more: the "
                       "store was damaged. Compare it with the document."));
      if (!qm_store_run (store, statement, error))
        return FALSE;
      found->incomplete += sqlite3_changes (store->db);
    }
  return TRUE;
}

/* How many quotes the damaged store says that it has, by its tables and by
 * their indexes; -1: it does not say. */
static gint64
count_expected (sqlite3 *from)
{
  static const char *const ways[] = {
    "SELECT count (*) FROM quotes NOT INDEXED",
    "SELECT count (*) FROM quotes INDEXED BY quotes_by_vendor",
  };
  gint64 most = -1;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      sqlite3_stmt *row = prepare (from, ways[i]);

      if (row != NULL && sqlite3_step (row) == SQLITE_ROW)
        most = MAX (most, sqlite3_column_int64 (row, 0));
      sqlite3_finalize (row);
    }
  return most;
}

static gboolean
count (QmQuoteStore *to, sqlite3 *from, QmStoreSalvage *found, GError **error)
{
  gint64 all = 0, live = 0, expected = count_expected (from);

  if (!qm_store_number (to, "SELECT count (*) FROM quotes", &all, error)
      || !qm_store_number (
          to, "SELECT count (*) FROM quotes WHERE deleted_at IS NULL", &live,
          error))
    return FALSE;
  found->quotes = (int) MIN (live, G_MAXINT);
  found->counted = expected >= 0;
  found->lost = (int) CLAMP (expected - all, 0, G_MAXINT);
  return TRUE;
}

/* --- the whole --- */

static gboolean
copy_tables (sqlite3 *from,
             QmQuoteStore *to,
             GHashTable *broken,
             GError **error)
{
  /* Those that are made by the way are not to be in the way. */
  g_autoptr (GPtrArray) tables =
      list_texts (to, "SELECT name FROM sqlite_master WHERE type = 'table'"
                      " AND name NOT LIKE 'sqlite%' ORDER BY rowid");

  for (guint i = 0; i < tables->len; i++)
    {
      const char *name = g_ptr_array_index (tables, i);
      gboolean of_quotes =
          g_str_equal (name, "lines") || g_str_equal (name, "findings");

      if (g_str_equal (name, "state")
          && !qm_store_execute (to, "DELETE FROM state", error))
        return FALSE;
      if (!salvage_table (from, to, name, of_quotes ? broken : NULL))
        return qm_store_fail (to, error);
    }
  return TRUE;
}

/* No id is given twice, and the count of changes goes on, so that whoever has
 * read the store before reads it again. */
static gboolean
go_on_counting (sqlite3 *from, QmQuoteStore *to, GError **error)
{
  static const char last[] = "SELECT max (seq) FROM sqlite_sequence"
                             " WHERE name = 'quotes' AND seq < 1 << 40";
  sqlite3_stmt *row = prepare (from, last);
  g_autofree char *sql = NULL;
  gint64 id = 0;

  if (row != NULL && sqlite3_step (row) == SQLITE_ROW)
    id = sqlite3_column_int64 (row, 0);
  sqlite3_finalize (row);
  sql = g_strdup_printf (
      "INSERT INTO sqlite_sequence (name, seq) SELECT 'quotes', 0"
      "  WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence);"
      "UPDATE sqlite_sequence SET seq = max (seq, %" G_GINT64_FORMAT ")"
      "  WHERE name = 'quotes';"
      "INSERT INTO state SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM state);"
      "UPDATE state SET changes = changes + 1 + abs (random () %% 1000000)",
      id);
  return qm_store_execute (to, sql, error);
}

static gboolean
salvage (sqlite3 *from,
         QmQuoteStore *to,
         int version,
         QmStoreSalvage *found,
         GError **error)
{
  g_autoptr (GHashTable) broken =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  return qm_store_execute (to, "PRAGMA foreign_keys = OFF; BEGIN", error)
         && copy_tables (from, to, broken, error)
         && (note_losses (to, broken), mend (to, error))
         && mend_words (to, broken, error)
         && qm_store_migrate (to, version, QM_STORE_VERSION, error)
         && go_on_counting (from, to, error)
         && mark_broken (to, broken, found, error)
         && qm_store_execute (to, "COMMIT; PRAGMA foreign_keys = ON", error)
         && count (to, from, found, error);
}

QmQuoteStore *
qm_store_salvage (sqlite3 *from,
                  int version,
                  QmStoreSalvage *found,
                  GError **error)
{
  g_autoptr (QmQuoteStore) to = NULL;

  if (version < 1 || version > QM_STORE_VERSION)
    version = QM_STORE_VERSION;
  *found = (QmStoreSalvage){ 0 };
  /* What is still right in a list of tables or on a page is to be read. */
  sqlite3_db_config (from, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
  sqlite3_exec (from,
                "PRAGMA writable_schema = ON; PRAGMA cell_size_check = OFF",
                NULL, NULL, NULL);
  to = qm_store_new_in_memory (version, error);
  if (to == NULL || !salvage (from, to, version, found, error))
    return NULL;
  return g_steal_pointer (&to);
}

char *
qm_store_salvage_text (const QmStoreSalvage *found)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (!found->counted)
    /* Translators: a number of quotes. */
    g_string_printf (text,
                     ngettext ("%d quote could still be read, how many there "
                               "were is not known",
                               "%d quotes could still be read, how many there "
                               "were is not known",
                               found->quotes),
                     found->quotes);
  else
    /* Translators: two numbers of quotes. */
    g_string_printf (text,
                     ngettext ("%d of %d quote could still be read",
                               "%d of %d quotes could still be read",
                               found->quotes + found->lost),
                     found->quotes, found->quotes + found->lost);
  if (found->incomplete > 0)
    g_string_append_printf (text,
                            /* Translators: goes on with the sentence before. */
                            ngettext (", %d of them not whole",
                                      ", %d of them not whole",
                                      found->incomplete),
                            found->incomplete);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
