/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-import.h"

#include "pricing/formats/qm-mail-import.h"
#include "pricing/formats/qm-quote-csv.h"
#include "pricing/formats/qm-quote-json.h"
#include "pricing/formats/qm-quote-ubl.h"
#include "pricing/quotes/qm-plausible.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define SAMPLE_ROWS  30
#define SAMPLE_BYTES ((gsize) 1 << 16)

typedef struct
{
  const char *data;
  gsize size;
  const char *name;
  const char *media_type;
  const QmImportOptions *options;
  GCancellable *cancellable;
  guint n_above; /* rows of a table that come from another sheet */
  /* Of the mail that it is a part of, what its quotes come from: */
  const char *mail_name;
  const char *mail_sha256; /* NULL: it is part of none */
} Document;

void
qm_import_free (QmImport *import)
{
  if (import == NULL)
    return;
  g_ptr_array_unref (import->quotes);
  qm_csv_mapping_free (import->mapping);
  qm_sheet_free (import->sample);
  g_free (import->mapping_reason);
  g_free (import->fingerprint);
  g_clear_pointer (&import->part, g_bytes_unref);
  g_free (import->part_name);
  g_free (import->part_type);
  g_free (import);
}

/* Says what a file is that is not read, and what to do instead. */
static gboolean
refuse_other (const Document *document, GError **error)
{
  const char *data = document->data;
  const char *message;

  if (document->size == 0)
    message = _ ("The document is empty.");
  else if (document->name != NULL && g_str_has_suffix (document->name, ".msg"))
    message = _ ("This is an e-mail of Outlook (.msg), which is not read. Save "
                 "it as EML there, or save what is attached, and import "
                 "that.");
  else if (document->size >= 4 && memcmp (data, "\x78\x9f\x3e\x22", 4) == 0)
    message = _ ("This is a wrapper of Outlook around what is attached to an "
                 "e-mail (TNEF, winmail.dat), which is not read: ask the "
                 "seller for a PDF.");
  else if (memcmp (data, "\xd0\xcf", MIN (document->size, 2)) == 0)
    message = _ ("This is a file of an old spreadsheet or word processor, or "
                 "one with a password. Open it there, save it without a "
                 "password as XLSX, ODS or CSV, and import that.");
  else
    message = _ ("This is neither a table nor a quotation, but perhaps a "
                 "picture or something compressed. Save it as CSV, or type "
                 "the quote in.");
  g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_KIND, message);
  return FALSE;
}

static void
take_quote (QmImport *import, QmQuote *quote)
{
  if (quote != NULL)
    g_ptr_array_add (import->quotes, quote);
}

/* Replaces the quotes of an import, if there are any. */
static gboolean
take_quotes (QmImport *import, GPtrArray *quotes)
{
  if (quotes == NULL)
    return FALSE;
  g_ptr_array_unref (import->quotes);
  import->quotes = quotes;
  return TRUE;
}

/* The first rows, and what the header is remembered by. */
static void
take_sample (QmImport *import, const Document *document)
{
  g_autofree char *text = NULL;
  const char *used;
  gsize length;

  text = qm_sheet_decode (document->data, document->size,
                          import->mapping->encoding, &length, &used, NULL);
  if (text == NULL)
    return;
  import->sample =
      qm_sheet_new (text, MIN (length, SAMPLE_BYTES),
                    import->mapping->delimiter, SAMPLE_ROWS, NULL, NULL);
}

/* Looks for a row whose fingerprint is remembered, that of the header first. */
static QmCsvMapping *
find_remembered (QmImport *import, const char *mappings)
{
  QmCsvMapping *mapping = import->mapping;
  QmCsvMapping *found = qm_csv_mappings_find (mappings, import->fingerprint);
  int header_row = mapping->header_row;

  for (guint i = 0; found == NULL && mappings != NULL
                    && i < qm_sheet_n_rows (import->sample);
       i++)
    {
      g_autofree char *fingerprint = NULL;

      mapping->header_row = (int) i;
      fingerprint = qm_csv_mapping_fingerprint (mapping, import->sample);
      found = qm_csv_mappings_find (mappings, fingerprint);
      if (found != NULL)
        {
          g_free (import->fingerprint);
          import->fingerprint = g_steal_pointer (&fingerprint);
          header_row = (int) i;
        }
    }
  mapping->header_row = header_row;
  return found;
}

/* A remembered mapping has the columns; where the header is in this file, and
 * how it is encoded, was found out. */
static void
recall_mapping (QmImport *import, const Document *document)
{
  g_autoptr (QmCsvMapping) found = NULL;

  if (import->sample == NULL)
    return;
  import->fingerprint =
      qm_csv_mapping_fingerprint (import->mapping, import->sample);
  found = find_remembered (import, document->options->mappings);
  if (found == NULL)
    return;
  found->header_row = import->mapping->header_row;
  found->delimiter = import->mapping->delimiter;
  g_free (found->encoding);
  found->encoding = g_strdup (import->mapping->encoding);
  qm_csv_mapping_free (import->mapping);
  import->mapping = g_steal_pointer (&found);
  import->mapping_guessed = FALSE;
}

/* Whether a sample is running text, as that of an e-mail: most rows are one
 * cell, and no column has a name that is known. */
static gboolean
is_running_text (const QmImport *import)
{
  const QmSheet *sheet = import->sample;
  guint filled = 0, wide = 0;

  for (guint i = 0; i < import->mapping->columns->len; i++)
    if (qm_csv_mapping_field (import->mapping, i) != QM_CSV_IGNORED)
      return FALSE;
  for (guint i = 0; i < qm_sheet_n_rows (sheet); i++)
    {
      guint cells = 0;

      for (guint j = 0; j < qm_sheet_n_cells (sheet, i); j++)
        cells += qm_sheet_cell (sheet, i, j)[0] != '\0';
      filled += cells > 0;
      wide += cells > 1;
    }
  return filled > 0 && wide < filled - wide;
}

static gboolean
read_table (QmImport *import, const Document *document, GError **error)
{
  const QmImportOptions *options = document->options;
  g_autoptr (GError) reason = NULL;

  if (options->mapping != NULL)
    import->mapping = qm_csv_mapping_copy (options->mapping);
  else
    import->mapping =
        qm_csv_mapping_guess (document->data, document->size, error);
  if (import->mapping == NULL)
    return FALSE;
  import->mapping_guessed = options->mapping == NULL;
  take_sample (import, document);
  if (options->mapping == NULL)
    recall_mapping (import, document);
  else if (import->sample != NULL)
    import->fingerprint =
        qm_csv_mapping_fingerprint (import->mapping, import->sample);
  if (!qm_csv_mapping_check (import->mapping, &reason))
    {
      if (import->kind == QM_DOCUMENT_CSV && import->mapping_guessed
          && import->sample != NULL && is_running_text (import))
        {
          g_set_error_literal (
              error, QM_READ_ERROR, QM_READ_ERROR_KIND,
              _ ("This is running text, as of an e-mail, and not read. Import "
                 "what was attached to it; or write its lines into a table "
                 "(CSV) with the columns description, quantity, price and "
                 "currency; or type the quote in."));
          return FALSE;
        }
      import->mapping_wanted = TRUE;
      import->mapping_reason = g_strdup (reason->message);
      return TRUE;
    }
  if (import->mapping_guessed && import->sample != NULL
      && qm_csv_mapping_is_merged (import->mapping, import->sample))
    {
      import->mapping_wanted = TRUE;
      import->mapping_reason = g_strdup (
          _ ("It is not clear which column holds the quantity: one seems to "
             "hold it together with the price."));
      return TRUE;
    }
  if (import->mapping_guessed && import->sample != NULL
      && qm_csv_mapping_has_twins (import->mapping, import->sample))
    {
      import->mapping_wanted = TRUE;
      import->mapping_reason = g_strdup (
          _ ("Columns have the amounts of several offers side by side; say "
             "which of them is meant."));
      return TRUE;
    }
  return take_quotes (import,
                      qm_quote_csv_read (document->data, document->size,
                                         import->mapping, document->n_above,
                                         document->cancellable, error));
}

/* Says which sheet was read, where another could have been. */
static void
tell_others (QmImport *import, const char *sheet, const char *others)
{
  for (guint i = 0; i < import->quotes->len && others != NULL; i++)
    qm_read_find (g_ptr_array_index (import->quotes, i), QM_FINDING_WARNING,
                  NULL,
                  /* Translators: names of sheets. */
                  _ ("Only the sheet “%s” was read. There may be quotes in "
                     "others: %s."),
                  sheet, others);
}

static gboolean
read_workbook (QmImport *import, const Document *document, GError **error)
{
  g_autoptr (GBytes) bytes =
      g_bytes_new_static (document->data, document->size);
  g_autofree char *sheet = NULL;
  g_autofree char *others = NULL;
  guint n_above = 0;
  g_autoptr (GBytes) table = qm_import_sheet (bytes, &sheet, &others, &n_above,
                                              document->cancellable, error);
  Document inner = *document;

  if (table == NULL)
    return FALSE;
  inner.data = g_bytes_get_data (table, &inner.size);
  /* And the line that says what is between cells. */
  inner.n_above = n_above + 1;
  if (!read_table (import, &inner, error))
    return FALSE;
  tell_others (import, sheet, others);
  return TRUE;
}

/* Where words stand tells less than cells do. */
static void
tell_pdf (QmImport *import, gboolean damaged)
{
  for (guint i = 0; i < import->quotes->len; i++)
    {
      QmQuote *quote = g_ptr_array_index (import->quotes, i);

      qm_quote_add_finding (
          quote, QM_FINDING_NOTE, NULL,
          _ ("The table was read off a PDF by where its words "
             "stand. Compare it with the PDF before you rely "
             "on it."));
      if (damaged)
        qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                              _ ("Something in the PDF is damaged, and may be "
                                 "missing here."));
    }
}

static gboolean
read_pdf (QmImport *import, const Document *document, GError **error)
{
  g_autoptr (GBytes) bytes =
      g_bytes_new_static (document->data, document->size);
  gboolean damaged = FALSE;
  g_autoptr (GBytes) table =
      qm_import_pdf (bytes, &damaged, document->cancellable, error);
  Document inner = *document;

  if (table == NULL)
    return FALSE;
  inner.data = g_bytes_get_data (table, &inner.size);
  if (!read_table (import, &inner, error))
    return FALSE;
  tell_pdf (import, damaged);
  return TRUE;
}

static gboolean
read_product (QmImport *import, const Document *document, GError **error)
{
  const QmImportOptions *options = document->options;
  QmPageReader read =
      options->page_reader != NULL ? options->page_reader : qm_import_read_page;

  return take_quotes (import,
                      read (document->data, document->size, document->name,
                            document->media_type, options->page_data,
                            document->cancellable, error));
}

/* What was read of a page, and what was not. */
static void
tell_html (QmImport *import, const QmHtmlRead *read)
{
  for (guint i = 0; i < import->quotes->len; i++)
    {
      QmQuote *quote = g_ptr_array_index (import->quotes, i);

      qm_read_find (quote, QM_FINDING_NOTE, NULL,
                    g_dngettext (GETTEXT_PACKAGE,
                                 "%u row of a table was read off the page. "
                                 "Compare it with what you see there.",
                                 "%u rows of tables were read off the page. "
                                 "Compare them with what you see there.",
                                 read->rows),
                    read->rows);
      if (read->hidden > 0)
        qm_read_find (quote, QM_FINDING_NOTE, NULL,
                      g_dngettext (GETTEXT_PACKAGE,
                                   "%u text was left out that is hidden or "
                                   "struck through.",
                                   "%u texts were left out that are hidden or "
                                   "struck through.",
                                   read->hidden),
                      read->hidden);
      if (read->earlier > 0)
        qm_read_find (quote, QM_FINDING_NOTE, NULL,
                      _ ("An earlier message that is repeated below was left "
                         "out."));
      if (read->shortened > 0)
        qm_read_find (quote, QM_FINDING_WARNING, NULL,
                      g_dngettext (GETTEXT_PACKAGE,
                                   "%u text of the page is too long, and was "
                                   "read at its beginning alone.",
                                   "%u texts of the page are too long, and "
                                   "were read at their beginnings alone.",
                                   read->shortened),
                      read->shortened);
      if (read->cut)
        qm_read_find (quote, QM_FINDING_WARNING, NULL,
                      _ ("The page is too long or too deeply nested, or a tag "
                         "of it is too long. It was read in part; lines may be "
                         "missing."));
    }
}

/* Whether quotes of a table are what a page is about, and not the price of the
 * product that it says besides: they have a number or a total, or lines. */
static gboolean
is_about_table (const QmImport *import, const QmHtmlRead *read)
{
  for (guint i = 0; i < import->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (import->quotes, i);

      if (quote->number != NULL || quote->net_minor != QM_AMOUNT_UNSTATED
          || quote->payable_minor != QM_AMOUNT_UNSTATED
          || (read->counts && quote->lines->len > 1))
        return TRUE;
    }
  return FALSE;
}

/* An import of the table of a page alone; NULL where it cannot be read. */
static QmImport *
import_page_table (const Document *document,
                   GBytes *table,
                   const QmHtmlRead *read,
                   GError **error)
{
  g_autoptr (QmImport) import = g_new0 (QmImport, 1);
  Document inner = *document;

  import->kind = QM_DOCUMENT_PAGE;
  import->quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  inner.data = g_bytes_get_data (table, &inner.size);
  /* The line that says what is between cells. */
  inner.n_above = 1;
  if (!read_table (import, &inner, error))
    return NULL;
  tell_html (import, read);
  return g_steal_pointer (&import);
}

/* A page with the table of a quote, or one of a product with its price. */
static gboolean
read_page (QmImport *import, const Document *document, GError **error)
{
  g_autoptr (GBytes) bytes =
      g_bytes_new_static (document->data, document->size);
  QmHtmlRead read = { 0 };
  g_autoptr (GError) problem = NULL;
  g_autoptr (GError) no_product = NULL;
  g_autoptr (GBytes) table = qm_import_html (bytes, document->media_type, &read,
                                             document->cancellable, NULL);
  g_autoptr (QmImport) of_table = NULL;
  gboolean mapped = document->options->mapping != NULL;

  if (table != NULL && (mapped || read.named || read.priced))
    of_table = import_page_table (document, table, &read, &problem);
  if (of_table == NULL || (!mapped && !is_about_table (of_table, &read)))
    {
      if (read_product (import, document, &no_product))
        return TRUE;
      if (of_table == NULL)
        {
          gboolean of_names = problem != NULL && read.named;

          g_propagate_error (error, of_names ? g_steal_pointer (&problem)
                                             : g_steal_pointer (&no_product));
          return FALSE;
        }
    }
  /* They change places, so that what was begun is freed. */
  {
    QmImport begun = *import;

    *import = *of_table;
    *of_table = begun;
  }
  return TRUE;
}

static gboolean
read_kind (QmImport *import, const Document *document, GError **error)
{
  switch (import->kind)
    {
    case QM_DOCUMENT_XML:
      take_quote (import, qm_quote_ubl_read (document->data, document->size,
                                             document->cancellable, error));
      return import->quotes->len > 0;
    case QM_DOCUMENT_JSON:
      return take_quotes (import, qm_quote_json_read (document->data,
                                                      document->size, error));
    case QM_DOCUMENT_PAGE:
      return read_page (import, document, error);
    case QM_DOCUMENT_CSV:
      return read_table (import, document, error);
    case QM_DOCUMENT_WORKBOOK:
      return read_workbook (import, document, error);
    case QM_DOCUMENT_PDF:
      return read_pdf (import, document, error);
    case QM_DOCUMENT_MAIL: /* read_mail() */
    case QM_DOCUMENT_OTHER:
    default:
      return refuse_other (document, error);
    }
}

static gboolean
check_size (QmDocumentKind kind, guint64 size, GError **error)
{
  gsize most =
      kind == QM_DOCUMENT_CSV ? QM_READ_MAX_CSV_BYTES : QM_READ_MAX_BYTES;

  if (size <= most)
    return TRUE;
  g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
               _ ("The document is larger than %u MiB."), (guint) (most >> 20));
  return FALSE;
}

static guint
check_dates (QmQuote *quote)
{
  guint n = 0;

  if (quote->valid_until.year == 0)
    return 0;
  if (quote->valid_from.year != 0
      && qm_date_compare (quote->valid_until, quote->valid_from) < 0)
    {
      qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                            _ ("The quote ends before it begins to hold."));
      n++;
    }
  else if (quote->issued_on.year != 0
           && qm_date_compare (quote->valid_until, quote->issued_on) < 0)
    {
      qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                            _ ("The quote ends before the day on which it was "
                               "issued."));
      n++;
    }
  return n;
}

guint
qm_quote_check (QmQuote *quote)
{
  g_return_val_if_fail (quote != NULL, 0);

  return check_dates (quote) + qm_quote_totals_check (quote);
}

/* What the file itself says stays; quotes of the project's own format have been
 * checked before they were written. */
static void
finish_quote (QmQuote *quote,
              const QmImport *import,
              const Document *document,
              const char *sha256,
              gint64 now)
{
  gboolean checked = import->kind == QM_DOCUMENT_JSON;
  const QmMatcher *matcher = document->options->matcher;

  if (quote->read_at == 0)
    quote->read_at = now;
  if (matcher != NULL && (!checked || quote->origin == QM_QUOTE_FROM_JSON))
    {
      qm_matcher_apply (matcher, quote);
      qm_quote_ask_prices (quote, qm_matcher_get_catalog (matcher),
                           document->options->rates);
    }
  if (!checked)
    qm_quote_check (quote);
  if (quote->source == NULL)
    quote->source = qm_read_text (
        document->mail_sha256 != NULL ? document->mail_name : document->name);
  if (quote->sha256 == NULL)
    quote->sha256 = g_strdup (sha256);
}

static QmImport *import_document (const Document *document, GError **error);

static QmImport *
read_part_cb (const QmMailPart *part,
              const QmCsvMapping *mapping,
              gpointer user_data,
              GError **error)
{
  const Document *mail = user_data;
  QmImportOptions options = *mail->options;
  Document inner = *mail;

  options.mapping = mapping;
  inner.options = &options;
  inner.data = g_bytes_get_data (part->bytes, &inner.size);
  inner.name = part->name;
  inner.media_type = part->media_type;
  return import_document (&inner, error);
}

static QmImport *
read_mail (const Document *document, GError **error)
{
  g_autoptr (GBytes) bytes =
      g_bytes_new_static (document->data, document->size);
  g_autofree char *sha256 =
      g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);
  Document mail = *document;

  mail.mail_name = document->name;
  mail.mail_sha256 = sha256;
  return qm_import_mail (bytes, document->options->mapping, read_part_cb, &mail,
                         document->cancellable, error);
}

static QmImport *
read_as_kind (const Document *document, GError **error)
{
  g_autoptr (QmImport) import = g_new0 (QmImport, 1);
  g_autofree char *sha256 = NULL;
  gint64 now = document->options->now;

  import->kind = qm_document_kind (document->data, document->size,
                                   document->name, document->media_type);
  /* Those in a mail were followed when it was taken apart. */
  if (import->kind == QM_DOCUMENT_MAIL && document->mail_sha256 != NULL)
    import->kind = QM_DOCUMENT_CSV;
  import->quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  if (!check_size (import->kind, document->size, error))
    return NULL;
  if (import->kind == QM_DOCUMENT_MAIL)
    return read_mail (document, error);
  if (!read_kind (import, document, error))
    return NULL;
  if (now == 0)
    now = g_get_real_time () / G_USEC_PER_SEC;
  sha256 = document->mail_sha256 != NULL
               ? g_strdup (document->mail_sha256)
               : g_compute_checksum_for_data (G_CHECKSUM_SHA256,
                                              (const guchar *) document->data,
                                              document->size);
  for (guint i = 0; i < import->quotes->len; i++)
    finish_quote (g_ptr_array_index (import->quotes, i), import, document,
                  sha256, now);
  return g_steal_pointer (&import);
}

/* Who cancels wants neither what was read nor what was wrong with it. */
static QmImport *
import_document (const Document *document, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (QmImport) import = read_as_kind (document, &problem);

  if (g_cancellable_set_error_if_cancelled (document->cancellable, error))
    return NULL;
  if (import == NULL)
    g_propagate_error (error, g_steal_pointer (&problem));
  return g_steal_pointer (&import);
}

QmImport *
qm_import_bytes (GBytes *bytes,
                 const char *name,
                 const char *media_type,
                 const QmImportOptions *options,
                 GCancellable *cancellable,
                 GError **error)
{
  static const QmImportOptions none = { .matcher = NULL };
  Document document = { .name = name,
                        .media_type = media_type,
                        .options = options != NULL ? options : &none,
                        .cancellable = cancellable };

  g_return_val_if_fail (bytes != NULL, NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  document.data = g_bytes_get_data (bytes, &document.size);
  if (document.data == NULL)
    document.data = "";
  return import_document (&document, error);
}
