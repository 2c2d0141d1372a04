/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-own.h"
#include "app/qm-cli-progress.h"
#include "app/qm-cli-quotes-input.h"
#include "app/qm-cli-quotes-mapping.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-plausible.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

/* More are summed up. */
#define QUOTES_SHOWN 20

/* The values of the options as they were typed. */
typedef struct
{
  GStrv arguments;
  QmCliMapping mapping;
  GStrv items;
  GStrv vendor;
  GStrv store;
  gboolean dry_run;
  gboolean json;
} Typed;

/* One document. */
typedef struct
{
  QmCliInput input;
  QmImport *import;
  GArray *relations; /* of QmQuoteRelation */
  GArray *ids;       /* of gint64; NULL: not stored */
  guint added;       /* how many were not there */
} Document;

/* What reading takes. */
typedef struct
{
  const Typed *typed;
  QmCatalog *catalog;
  QmMatcher *matcher;
  QmRates *rates;
  QmPageRules *rules;
  QmPageContext pages;
  QmFetcher *fetcher;
  char *mappings; /* as remembered, NULL: nothing */
  char *vendor;   /* of quotes that name none */
  GCancellable *cancellable;
} Reader;

static void
clear_typed_import (Typed *typed)
{
  g_clear_pointer (&typed->arguments, g_strfreev);
  qm_cli_mapping_clear (&typed->mapping);
  g_clear_pointer (&typed->items, g_strfreev);
  g_clear_pointer (&typed->vendor, g_strfreev);
  g_clear_pointer (&typed->store, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_import)

static void
document_free (gpointer data)
{
  Document *document = data;

  qm_cli_input_clear (&document->input);
  g_clear_pointer (&document->import, qm_import_free);
  g_clear_pointer (&document->relations, g_array_unref);
  g_clear_pointer (&document->ids, g_array_unref);
  g_free (document);
}

static void
reader_clear (Reader *reader)
{
  g_clear_pointer (&reader->matcher, qm_matcher_free);
  g_clear_pointer (&reader->rates, qm_rates_unref);
  g_clear_pointer (&reader->catalog, qm_catalog_free);
  g_clear_pointer (&reader->rules, qm_page_rules_free);
  g_clear_pointer (&reader->fetcher, qm_fetcher_free);
  g_clear_pointer (&reader->mappings, g_free);
  g_clear_pointer (&reader->vendor, g_free);
  g_clear_object (&reader->cancellable);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

/* --- reading --- */

static gboolean
prepare_reader (Reader *reader, const Typed *typed, GError **error)
{
  reader->typed = typed;
  reader->cancellable = qm_cli_cancellable_new ();
  if (!qm_cli_option_text ("vendor", typed->vendor, &reader->vendor, error)
      || (reader->catalog = qm_cli_catalog_load (error)) == NULL)
    return FALSE;
  reader->matcher = qm_cli_own_matcher (reader->catalog);
  reader->rules = qm_cli_own_rules (NULL);
  reader->fetcher = qm_fetcher_new (NULL);
  reader->mappings = qm_cli_mappings_load ();
  return TRUE;
}

static gboolean
choose_item (const Reader *reader,
             QmQuote *quote,
             const char *pair,
             GError **error)
{
  const char *sign = strchr (pair, '=');
  g_autofree char *number =
      sign != NULL ? g_strndup (pair, (gsize) (sign - pair)) : NULL;
  g_autofree char *quoted = qm_cli_quote (pair);
  QmQuoteLine *line;
  guint64 position;

  if (number == NULL
      || !g_ascii_string_to_unsigned (number, 10, 1, quote->lines->len,
                                      &position, NULL)
      || (qm_catalog_gpu (reader->catalog, sign + 1) == NULL
          && qm_catalog_machine (reader->catalog, sign + 1) == NULL))
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("--item: %s is not a line of the quote and a GPU or "
                      "machine of the catalog; write it like "
                      "2=a100-80gb-sxm"),
                   quoted);
      return FALSE;
    }
  line = g_ptr_array_index (quote->lines, (guint) position - 1);
  g_free (line->item);
  line->item = g_strdup (sign + 1);
  line->match = QM_MATCH_CHOSEN;
  line->gpus = MAX (line->gpus, 1);
  g_clear_pointer (&line->candidates, g_free);
  return TRUE;
}

/* What the user says about quotes that do not say it. */
static gboolean
complete (const Reader *reader, const QmImport *import, GError **error)
{
  GStrv items = reader->typed->items;

  for (guint i = 0; reader->vendor != NULL && i < import->quotes->len; i++)
    {
      QmQuote *quote = g_ptr_array_index (import->quotes, i);

      if (quote->vendor == NULL)
        quote->vendor = qm_read_text (reader->vendor);
    }
  if (items == NULL)
    return TRUE;
  if (import->quotes->len != 1 || reader->typed->arguments[1] != NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("--item is for one quote at a time"));
      return FALSE;
    }
  for (guint i = 0; items[i] != NULL; i++)
    if (!choose_item (reader, g_ptr_array_index (import->quotes, 0), items[i],
                      error))
      return FALSE;
  for (guint i = 0; i < import->quotes->len; i++)
    qm_quote_ask_prices (g_ptr_array_index (import->quotes, i), reader->catalog,
                         reader->rates);
  return TRUE;
}

static QmImport *
import_input (Reader *reader, const QmCliInput *input, GError **error)
{
  const QmCliMapping *typed = &reader->typed->mapping;
  QmImportOptions options = {
    .matcher = reader->matcher,
    .mappings = reader->mappings,
    .page_data = &reader->pages,
    .rates = reader->rates,
  };
  g_autoptr (QmCsvMapping) mapping = NULL;
  g_autoptr (QmImport) import = NULL;

  if (qm_cli_mapping_is_given (typed))
    {
      mapping =
          qm_cli_mapping_read (typed, input->bytes, input->name,
                               input->media_type, reader->mappings, error);
      if (mapping == NULL)
        return NULL;
      options.mapping = mapping;
    }
  reader->pages.rules = reader->rules;
  reader->pages.charset = input->charset;
  import = qm_import_bytes (input->bytes, input->name, input->media_type,
                            &options, reader->cancellable, error);
  if (import == NULL)
    return NULL;
  if (import->mapping_wanted)
    {
      qm_cli_mapping_want (import, input->name, error);
      return NULL;
    }
  return complete (reader, import, error) ? g_steal_pointer (&import) : NULL;
}

/* Errors of readers do not name the document. */
static void
name_document (const char *argument, GError *trouble, GError **error)
{
  g_autofree char *quoted = qm_cli_quote (argument);

  if (trouble->domain == QM_READ_ERROR || trouble->domain == G_IO_ERROR)
    {
      if (g_error_matches (trouble, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_propagate_error (error, g_error_copy (trouble));
      else
        g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "%s: %s", quoted,
                     trouble->message);
    }
  else
    g_propagate_error (error, g_error_copy (trouble));
}

static Document *
read_document (Reader *reader, const char *argument, GError **error)
{
  Document *document = g_new0 (Document, 1);
  g_autoptr (GError) trouble = NULL;

  if (qm_cli_input_read (&document->input, argument, reader->fetcher,
                         reader->cancellable, &trouble))
    document->import = import_input (reader, &document->input, &trouble);
  if (document->import != NULL)
    return document;
  name_document (argument, trouble, error);
  document_free (document);
  return NULL;
}

/* (transfer full): NULL where one of them cannot be read. */
static GPtrArray *
read_documents (Reader *reader, GError **error)
{
  GStrv arguments = reader->typed->arguments;
  g_autoptr (GPtrArray) documents =
      g_ptr_array_new_with_free_func (document_free);
  guint n = g_strv_length (arguments);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *line =
          /* Translators: a number, how many there are, a file. */
          g_strdup_printf (_ ("Reading %u of %u: %s"), i + 1, n, arguments[i]);
      Document *document;

      qm_cli_progress (line);
      document = read_document (reader, arguments[i], error);
      qm_cli_progress (NULL);
      if (document == NULL)
        return NULL;
      g_ptr_array_add (documents, document);
    }
  return g_steal_pointer (&documents);
}

/* --- storing --- */

/* The document itself, to be kept with its quotes unless that would be the same
 * bytes many times. */
static GPtrArray *
attachments_of (const Document *document)
{
  GPtrArray *attachments = g_ptr_array_new_with_free_func (
      (GDestroyNotify) qm_quote_attachment_free);
  gsize size = g_bytes_get_size (document->input.bytes);

  if (size * document->import->quotes->len <= QM_QUOTE_STORE_MAX_ATTACHMENT)
    g_ptr_array_add (attachments,
                     qm_quote_attachment_new (document->input.bytes,
                                              document->input.name,
                                              document->input.media_type));
  return attachments;
}

/* What the user said about a table's columns is remembered for the next one
 * like it. */
static gboolean
remember (Reader *reader, const Document *document, GError **error)
{
  const QmImport *import = document->import;
  char *mappings;

  if (import->mapping == NULL || import->fingerprint == NULL
      || !qm_cli_mapping_is_given (&reader->typed->mapping))
    return TRUE;
  mappings = qm_csv_mappings_add (reader->mappings, import->fingerprint,
                                  import->mapping);
  g_free (reader->mappings);
  reader->mappings = mappings;
  return qm_cli_mappings_save (mappings, error);
}

static gboolean
store_all (Reader *reader, GPtrArray *documents, GError **error)
{
  g_autoptr (QmQuoteStore) store =
      qm_cli_store_open (reader->typed->store,
                         reader->typed->json ? QM_CLI_STORE_CREATE_QUIETLY
                                             : QM_CLI_STORE_CREATE,
                         error);

  /* What has begun to be stored is stored whole. */
  if (store == NULL
      || g_cancellable_set_error_if_cancelled (reader->cancellable, error))
    return FALSE;
  for (guint i = 0; i < documents->len; i++)
    {
      Document *document = g_ptr_array_index (documents, i);
      g_autoptr (GPtrArray) attachments = attachments_of (document);

      /* One after the other: a document may revise the one before it. */
      document->relations =
          qm_quote_store_relate (store, document->import->quotes, error);
      if (document->relations == NULL)
        return FALSE;
      document->ids =
          qm_quote_store_add_all (store, document->import->quotes, attachments,
                                  &document->added, error);
      if (document->ids == NULL || !remember (reader, document, error))
        return FALSE;
      for (guint j = 0; j < document->ids->len; j++)
        {
          QmQuote *quote = g_ptr_array_index (document->import->quotes, j);

          quote->id = g_array_index (document->ids, gint64, j);
        }
    }
  qm_cli_store_done (store);
  return TRUE;
}

/* --- for programs --- */

static const char *
kind_name (QmDocumentKind kind)
{
  switch (kind)
    {
    case QM_DOCUMENT_XML:
      return "ubl";
    case QM_DOCUMENT_JSON:
      return "json";
    case QM_DOCUMENT_PAGE:
      return "page";
    case QM_DOCUMENT_WORKBOOK:
      return "workbook";
    case QM_DOCUMENT_PDF:
      return "pdf";
    case QM_DOCUMENT_MAIL:
      return "mail";
    case QM_DOCUMENT_CSV:
    case QM_DOCUMENT_OTHER:
    default:
      return "csv";
    }
}

static json_t *
mapping_json (const QmImport *import)
{
  json_t *array;

  if (import->mapping == NULL)
    return json_null ();
  array = json_array ();
  for (guint i = 0; i < import->mapping->columns->len; i++)
    json_array_append_new (array,
                           json_string (qm_csv_field_name (
                               qm_csv_mapping_field (import->mapping, i))));
  return array;
}

static json_t *
id_json (gint64 id)
{
  return id != 0 ? json_integer (id) : json_null ();
}

/* How each quote stands to those that were stored. */
static json_t *
relations_json (const Document *document)
{
  json_t *array = json_array ();

  for (guint i = 0; document->relations != NULL && i < document->relations->len;
       i++)
    {
      const QmQuoteRelation *relation =
          &g_array_index (document->relations, QmQuoteRelation, i);
      json_t *object = json_object ();

      json_object_set_new (object, "stored_before_as",
                           id_json (relation->same));
      json_object_set_new (object, "revision_of", id_json (relation->older));
      json_array_append_new (array, object);
    }
  return array;
}

static gboolean
write_documents_json (const Reader *reader,
                      GPtrArray *documents,
                      QmRates *rates,
                      GError **error)
{
  g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
  json_auto_t *root = json_object ();
  json_t *array = json_array ();

  for (guint i = 0; i < documents->len; i++)
    {
      const Document *document = g_ptr_array_index (documents, i);
      json_t *object = json_object ();
      json_t *quotes = json_array ();

      for (guint j = 0; j < document->import->quotes->len; j++)
        json_array_append_new (
            quotes,
            qm_cli_quote_json (g_ptr_array_index (document->import->quotes, j),
                               rates, qm_date_today ()));
      json_object_set_new (object, "name",
                           qm_cli_json_text (document->input.name));
      json_object_set_new (object, "kind",
                           json_string (kind_name (document->import->kind)));
      json_object_set_new (object, "columns", mapping_json (document->import));
      json_object_set_new (object, "added", json_integer (document->added));
      json_object_set_new (object, "quotes", quotes);
      json_object_set_new (object, "relations", relations_json (document));
      json_array_append_new (array, object);
    }
  json_object_set_new (root, "dry_run", json_boolean (reader->typed->dry_run));
  json_object_set_new (root, "documents", array);
  return qm_cli_json_write (root, error);
}

/* --- for people --- */

static const char *
kind_text (QmDocumentKind kind)
{
  switch (kind)
    {
    case QM_DOCUMENT_XML:
      return _ ("a UBL quotation");
    case QM_DOCUMENT_JSON:
      return _ ("quotes in the project’s own format");
    case QM_DOCUMENT_PAGE:
      return _ ("a web page");
    case QM_DOCUMENT_WORKBOOK:
      return _ ("a workbook");
    case QM_DOCUMENT_PDF:
      return _ ("a PDF");
    case QM_DOCUMENT_MAIL:
      return _ ("an e-mail");
    case QM_DOCUMENT_CSV:
    case QM_DOCUMENT_OTHER:
    default:
      return _ ("a table");
    }
}

static void
append_outcome (const Reader *reader,
                const Document *document,
                GString *out,
                const QmCliScreen *screen)
{
  guint n = document->import->quotes->len;
  g_autofree char *number =
      n == 1 && document->ids != NULL
          ? g_strdup_printf ("%" G_GINT64_FORMAT,
                             g_array_index (document->ids, gint64, 0))
          : NULL;
  g_autofree char *text = NULL;

  if (reader->typed->dry_run)
    text = g_strdup (_ ("Nothing was stored."));
  else if (number != NULL && document->added == 1)
    /* Translators: the number of a quote. */
    text = g_strdup_printf (_ ("Stored as quote %s."), number);
  else if (number != NULL)
    /* Translators: the number of a quote. */
    text = g_strdup_printf (_ ("Quote %s is this one already; nothing was "
                               "stored."),
                            number);
  else
    /* Translators: two numbers. */
    text = g_strdup_printf (_ ("Stored %u of %u quotes; the others were there "
                               "already."),
                            document->added, n);
  g_string_append_c (out, '\n');
  qm_cli_append_paragraph (out, screen, QM_CLI_GOOD, "", 0, text);
}

static void
append_document (const Reader *reader,
                 const Document *document,
                 QmRates *rates,
                 GString *out,
                 const QmCliScreen *screen)
{
  GPtrArray *quotes = document->import->quotes;
  g_autofree char *label = g_strdup_printf ("%s: ", document->input.name);
  g_autofree char *safe = qm_cli_escape (label);

  qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, safe, 2,
                           kind_text (document->import->kind));
  if (document->import->mapping != NULL)
    {
      g_autofree char *columns = qm_cli_mapping_text (document->import);

      qm_cli_append_paragraph (out, screen, QM_CLI_FAINT, "  ", 2, columns);
    }
  for (guint i = 0; i < quotes->len && i < QUOTES_SHOWN; i++)
    {
      g_string_append_c (out, '\n');
      qm_cli_quote_append (g_ptr_array_index (quotes, i), rates, out, screen);
    }
  if (quotes->len > QUOTES_SHOWN)
    {
      g_string_append_printf (out, _ ("… and %u quotes more"),
                              quotes->len - QUOTES_SHOWN);
      g_string_append_c (out, '\n');
    }
  append_outcome (reader, document, out, screen);
}

static gboolean
write_documents_text (const Reader *reader,
                      GPtrArray *documents,
                      QmRates *rates,
                      GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < documents->len; i++)
    {
      if (i > 0)
        g_string_append_c (out, '\n');
      append_document (reader, g_ptr_array_index (documents, i), rates, out,
                       &screen);
    }
  return qm_cli_write_text (out->str, error);
}

/* --- the command --- */

/* The rates that are known, without creating a store for it; what is wrong with
 * one is told when something is stored. */
static QmRates *
known_rates (const Typed *typed, GError **error)
{
  g_autoptr (GPtrArray) troubles = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GError) trouble = NULL;

  store = qm_cli_store_open_for_advice (typed->store, troubles, &trouble);
  if (store != NULL)
    return qm_cli_store_rates (store, error);
  /* The store of a dry run need not be there, nor any that is new. */
  if (trouble == NULL || trouble->domain == QM_CLI_ERROR)
    return qm_cli_shipped_rates (error);
  g_propagate_error (error, g_steal_pointer (&trouble));
  return NULL;
}

/* How quotes that are only shown stand to those that are stored, if there is
 * such a store. */
static gboolean
relate_all (const Typed *typed, GPtrArray *documents, GError **error)
{
  g_autoptr (GPtrArray) troubles = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GError) trouble = NULL;

  if (!typed->dry_run)
    return TRUE;
  store = qm_cli_store_open_for_advice (typed->store, troubles, &trouble);
  if (store == NULL && (trouble == NULL || trouble->domain == QM_CLI_ERROR))
    return TRUE;
  if (store == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    }
  for (guint i = 0; i < documents->len; i++)
    {
      Document *document = g_ptr_array_index (documents, i);

      document->relations =
          qm_quote_store_relate (store, document->import->quotes, error);
      if (document->relations == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
import_all (const Typed *typed, GError **error)
{
  g_auto (Reader) reader = { 0 };
  g_autoptr (GPtrArray) documents = NULL;

  if (!prepare_reader (&reader, typed, error)
      || (reader.rates = known_rates (typed, error)) == NULL
      || (documents = read_documents (&reader, error)) == NULL
      || !relate_all (typed, documents, error)
      || (!typed->dry_run && !store_all (&reader, documents, error)))
    return FALSE;
  return typed->json
             ? write_documents_json (&reader, documents, reader.rates, error)
             : write_documents_text (&reader, documents, reader.rates, error);
}

static void
add_import_options (Typed *typed, GArray *options)
{
  qm_cli_options_add_flag (options, "dry-run",
                           _ ("Only show what was read; store nothing"),
                           &typed->dry_run);
  qm_cli_mapping_add_options (&typed->mapping, options);
  qm_cli_options_add_value (
      options, "item", 0, _ ("LINE=ID"),
      _ ("Which GPU or machine of the catalog a line is about"), &typed->items);
  qm_cli_options_add_value (options, "vendor", 0, _ ("NAME"),
                            _ ("The vendor, where the document names none"),
                            &typed->vendor);
  qm_cli_store_add_option (options, &typed->store);
  qm_cli_options_add_json (options, &typed->json);
}

int
qm_cli_quotes_import (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes import",
    .parameters = _ ("FILE|ADDRESS|-…"),
    .summary = _ ("Reads quotes and stores them: workbooks (XLSX and ODS), "
                  "PDFs with text, tables as\nCSV, UBL quotations, web pages, "
                  "saved e-mails, and the project’s own format, told\napart by "
                  "their content. Where one document cannot be read, nothing "
                  "is stored of any."),
    .description = _ ("What a table’s columns hold is found out by their "
                      "names, asked for where that is\nnot enough, and "
                      "remembered for the next table like it."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  int status;

  add_import_options (&typed, options);
  if (!qm_cli_options_parse (&verb, options, arguments, &typed.arguments,
                             &status, error))
    return status;
  if (typed.arguments[0] == NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("a file, an address or “-” for standard input is "
                              "needed, as in “quotes import offer.xml”"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  return import_all (&typed, error) ? QM_CLI_EXIT_FOUND : QM_CLI_EXIT_BAD_INPUT;
}
