/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-save.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "pricing/formats/qm-quote-csv.h"
#include "pricing/formats/qm-quote-json.h"
#include "pricing/formats/qm-quote-ubl.h"

#include <glib/gi18n-lib.h>

typedef enum
{
  FORMAT_CSV,
  FORMAT_UBL,
  FORMAT_JSON
} Format;

static const char *const format_names[] = { "csv", "ubl", "json" };

/* By the option, else by the file's ending. */
static gboolean
read_format (GStrv typed, const char *output, Format *format, GError **error)
{
  static const char *const endings[] = { ".csv", ".xml", ".json" };
  g_autofree char *lower = NULL;
  int index = -1;

  if (!qm_cli_option_choice ("format", typed, format_names,
                             G_N_ELEMENTS (format_names), &index, error))
    return FALSE;
  if (index < 0 && output != NULL)
    {
      lower = g_ascii_strdown (output, -1);
      for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
        if (g_str_has_suffix (lower, endings[i]))
          index = (int) i;
    }
  if (index < 0)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("--format csv, ubl or json is needed, or a file "
                              "that ends in .csv, .xml or .json"));
      return FALSE;
    }
  *format = (Format) index;
  return TRUE;
}

static GBytes *
write_quotes (GPtrArray *quotes, Format format, GError **error)
{
  if (format == FORMAT_CSV)
    return qm_quote_csv_write (quotes);
  if (format == FORMAT_JSON)
    return qm_quote_json_write (quotes);
  if (quotes->len == 1)
    return qm_quote_ubl_write (g_ptr_array_index (quotes, 0), error);
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       _ ("a UBL document holds one quote; export them one at "
                          "a time"));
  return NULL;
}

int
qm_cli_quotes_export (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "quotes export",
    .parameters = _ ("NUMBER…"),
    .summary = _ ("Writes quotes as a table for spreadsheets, as a UBL "
                  "document, or in the project’s own\nformat, which keeps "
                  "everything."),
  };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) path = NULL;
  g_auto (GStrv) formats = NULL;
  g_auto (GStrv) outputs = NULL;
  g_autoptr (GArray) ids = NULL;
  g_autoptr (QmQuoteStore) store = NULL;
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const char *output;
  gboolean force = FALSE;
  Format format;
  int status;

  qm_cli_options_add_value (options, "format", 0, "csv|ubl|json",
                            _ ("Whatever the file’s ending"), &formats);
  qm_cli_options_add_value (options, "output", 'o', _ ("FILE"),
                            _ ("Where to; standard output if not given"),
                            &outputs);
  qm_cli_options_add_flag (options, "force", _ ("Replace a file that exists"),
                           &force);
  qm_cli_store_add_option (options, &path);
  if (!qm_cli_options_parse (&verb, options, arguments, &rest, &status, error))
    return status;
  if (!qm_cli_option_single ("output", outputs, &output, error)
      || !read_format (formats, output, &format, error)
      || (ids = qm_cli_quote_ids (rest, 1, G_MAXUINT, error)) == NULL
      || (store = qm_cli_store_open (path, QM_CLI_STORE_READ, error)) == NULL
      || (quotes = qm_cli_quotes_get (store, ids, error)) == NULL
      || (bytes = write_quotes (quotes, format, error)) == NULL
      || !qm_cli_save (bytes, output, force, error))
    return QM_CLI_EXIT_BAD_INPUT;
  return QM_CLI_EXIT_FOUND;
}
