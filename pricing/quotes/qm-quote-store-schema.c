/* SPDX-License-Identifier: Apache-2.0 */

/* The tables of the store, version by version.
 *
 * A step is never changed once it has been released: what it made is in
 * people's files.  tests/pricing/quotes-1.sql is of version 1.
 *
 * Amounts that are not stated, and dates that are not known, are NULL.  Dates
 * are ISO 8601 and may end after the year or the month; times are seconds since
 * 1970. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"

static const char version_1[] =
    "CREATE TABLE vendors ("
    "  id INTEGER PRIMARY KEY,"
    "  name TEXT NOT NULL UNIQUE);"

    /* An id is never given twice: it may still be on somebody's screen. */
    "CREATE TABLE quotes ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  vendor INTEGER REFERENCES vendors,"
    "  number TEXT,"
    "  note TEXT,"
    "  currency TEXT NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  unit TEXT NOT NULL,"
    "  issued_on TEXT,"
    "  valid_from TEXT,"
    "  valid_until TEXT,"
    "  tax_included INTEGER,"
    "  net_minor INTEGER,"
    "  discount_minor INTEGER,"
    "  charge_minor INTEGER,"
    "  tax_minor INTEGER,"
    "  payable_minor INTEGER,"
    "  origin TEXT NOT NULL,"
    "  source TEXT,"
    "  sha256 TEXT,"
    "  read_at INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX quotes_by_document"
    "  ON quotes (sha256, ifnull (source, '')) WHERE sha256 IS NOT NULL;"
    "CREATE INDEX quotes_by_vendor ON quotes (vendor);"

    "CREATE TABLE lines ("
    "  quote INTEGER NOT NULL REFERENCES quotes ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  role TEXT NOT NULL,"
    "  number TEXT,"
    "  part_number TEXT,"
    "  description TEXT,"
    "  unit TEXT,"
    "  quantity_micros INTEGER,"
    "  price_micros INTEGER,"
    "  base_quantity_micros INTEGER,"
    "  discount_minor INTEGER,"
    "  charge_minor INTEGER,"
    "  total_minor INTEGER,"
    "  match TEXT NOT NULL,"
    "  item TEXT,"
    "  gpus INTEGER NOT NULL,"
    "  candidates TEXT,"
    "  PRIMARY KEY (quote, position)) WITHOUT ROWID;"
    "CREATE INDEX lines_by_item ON lines (item) WHERE item IS NOT NULL;"

    "CREATE TABLE findings ("
    "  quote INTEGER NOT NULL REFERENCES quotes ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  level TEXT NOT NULL,"
    "  place TEXT,"
    "  message TEXT NOT NULL,"
    "  PRIMARY KEY (quote, position)) WITHOUT ROWID;"

    "CREATE TABLE attachments ("
    "  id INTEGER PRIMARY KEY,"
    "  quote INTEGER NOT NULL REFERENCES quotes ON DELETE CASCADE,"
    "  sha256 TEXT NOT NULL,"
    "  name TEXT,"
    "  media_type TEXT,"
    "  size INTEGER NOT NULL,"
    "  bytes BLOB);"
    "CREATE INDEX attachments_by_quote ON attachments (quote);"

    "CREATE TABLE rate_sources ("
    "  id INTEGER PRIMARY KEY,"
    "  name TEXT NOT NULL UNIQUE);"
    /* Billionths of a unit of the currency for one euro. */
    "CREATE TABLE rates ("
    "  currency TEXT NOT NULL,"
    "  date TEXT NOT NULL,"
    "  nanos INTEGER NOT NULL,"
    "  source INTEGER NOT NULL REFERENCES rate_sources,"
    "  PRIMARY KEY (currency, date)) WITHOUT ROWID;";

/* Quotes can be deleted and restored.  A document may hold several quotes,
 * told apart by their vendor and number as they were read (`part`, see
 * part_of() in qm-quote-store-write.c), and its bytes are kept once.  Prices
 * that were seen, watched pages and a count of changes come. */
static const char version_2[] =
    "ALTER TABLE quotes ADD COLUMN deleted_at INTEGER;"
    "ALTER TABLE quotes ADD COLUMN part TEXT NOT NULL DEFAULT '';"
    "UPDATE quotes SET part = ("
    "  SELECT '0:' || length (CAST (v AS BLOB)) || ':' || v || ':' || n FROM ("
    "    SELECT ifnull ((SELECT name FROM vendors WHERE id = vendor), '') AS v,"
    "      ifnull (number, '') AS n));"
    "DROP INDEX quotes_by_document;"
    "CREATE UNIQUE INDEX quotes_by_document"
    "  ON quotes (sha256, ifnull (source, ''), part)"
    "  WHERE sha256 IS NOT NULL AND deleted_at IS NULL;"
    "CREATE INDEX quotes_by_deletion ON quotes (deleted_at)"
    "  WHERE deleted_at IS NOT NULL;"

    "CREATE TABLE documents ("
    "  id INTEGER PRIMARY KEY,"
    "  sha256 TEXT NOT NULL UNIQUE,"
    "  size INTEGER NOT NULL,"
    "  bytes BLOB);"
    "INSERT INTO documents (sha256, size, bytes)"
    "  SELECT sha256, size, max (bytes) FROM attachments GROUP BY sha256"
    "  ORDER BY min (id);"
    "DROP INDEX attachments_by_quote;"
    "ALTER TABLE attachments RENAME TO attachments_1;"
    "CREATE TABLE attachments ("
    "  id INTEGER PRIMARY KEY,"
    "  quote INTEGER NOT NULL REFERENCES quotes ON DELETE CASCADE,"
    "  document INTEGER NOT NULL REFERENCES documents,"
    "  name TEXT,"
    "  media_type TEXT);"
    "CREATE INDEX attachments_by_quote ON attachments (quote);"
    "CREATE INDEX attachments_by_document ON attachments (document);"
    "INSERT INTO attachments (id, quote, document, name, media_type)"
    "  SELECT attachments_1.id, quote, documents.id, name, media_type"
    "  FROM attachments_1 JOIN documents USING (sha256);"
    "DROP TABLE attachments_1;"

    "CREATE TABLE prices ("
    "  id INTEGER PRIMARY KEY,"
    "  source TEXT NOT NULL,"
    "  item TEXT,"
    "  kind TEXT NOT NULL,"
    "  unit TEXT NOT NULL,"
    "  gpus INTEGER NOT NULL,"
    "  date TEXT NOT NULL,"
    "  micros INTEGER NOT NULL,"
    "  currency TEXT NOT NULL,"
    "  tax_included INTEGER);"
    "CREATE UNIQUE INDEX prices_by_source"
    "  ON prices (source, ifnull (item, ''), kind, unit, date);"
    "CREATE INDEX prices_by_item ON prices (item, date)"
    "  WHERE item IS NOT NULL;"

    "CREATE TABLE watched ("
    "  id INTEGER PRIMARY KEY,"
    "  address TEXT NOT NULL UNIQUE,"
    "  title TEXT,"
    "  item TEXT,"
    "  last_micros INTEGER,"
    "  last_currency TEXT NOT NULL,"
    "  last_date TEXT,"
    "  etag TEXT,"
    "  last_modified TEXT,"
    "  tried_at INTEGER NOT NULL,"
    "  error TEXT,"
    "  error_at INTEGER NOT NULL);"

    "CREATE TABLE state (changes INTEGER NOT NULL);"
    "INSERT INTO state VALUES (0);";

/* Quotes are alternatives of their document and revisions of others, lines say
 * what they sell, and both ask.  Questions are their names by ";", NULL: none;
 * `thing` is "" where nobody said it. */
static const char version_3[] =
    "ALTER TABLE quotes ADD COLUMN alternative TEXT;"
    "ALTER TABLE quotes ADD COLUMN supersedes TEXT;"
    "ALTER TABLE quotes ADD COLUMN asked TEXT;"
    "ALTER TABLE quotes ADD COLUMN answered TEXT;"
    "ALTER TABLE lines ADD COLUMN thing TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE lines ADD COLUMN asked TEXT;"
    "ALTER TABLE lines ADD COLUMN answered TEXT;"
    /* The same document is looked for whatever its file was called. */
    "CREATE INDEX quotes_by_part ON quotes (sha256, part)"
    "  WHERE sha256 IS NOT NULL AND deleted_at IS NULL;";

/* The step to the version after it. */
static const char *const steps[QM_STORE_VERSION] = { version_1, version_2,
                                                     version_3 };

gboolean
qm_store_migrate (QmQuoteStore *store, int version, GError **error)
{
  g_autofree char *stamp =
      g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d",
                       QM_STORE_APPLICATION_ID, QM_STORE_VERSION);

  for (int i = version; i < QM_STORE_VERSION; i++)
    if (!qm_store_execute (store, steps[i], error))
      return FALSE;
  return qm_store_execute (store, stamp, error);
}
