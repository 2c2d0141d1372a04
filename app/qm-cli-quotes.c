/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "app/qm-cli-quotes.h"
#include "app/qm-cli.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>

typedef struct
{
  const char *name;
  const char *summary;
  int (*run) (const char *const *arguments, GError **error);
} Verb;

static const Verb verbs[] = {
  { "import", N_ ("reads quotes from files, addresses or standard input"),
    qm_cli_quotes_import },
  { "list", N_ ("the quotes that are stored"), qm_cli_quotes_list },
  { "show", N_ ("one quote with its lines"), qm_cli_quotes_show },
  { "answer", N_ ("answers what is asked about a quote"),
    qm_cli_quotes_answer },
  { "compare", N_ ("two to four quotes on one basis"), qm_cli_quotes_compare },
  { "request", N_ ("a request for quotation, and which offers meet it"),
    qm_cli_quotes_request },
  { "export", N_ ("quotes as CSV, UBL or JSON"), qm_cli_quotes_export },
  { "delete", N_ ("takes quotes away"), qm_cli_quotes_delete },
  { "restore", N_ ("brings deleted quotes back"), qm_cli_quotes_restore },
  { "backups", N_ ("copies of all quotes, to be brought back"),
    qm_cli_quotes_backups },
  { "fetch", N_ ("looks at the prices of watched pages again"),
    qm_cli_quotes_fetch },
  { "rates", N_ ("exchange rates: what is known, and newer ones"),
    qm_cli_quotes_rates },
  { "history", N_ ("the prices of a GPU or machine over time"),
    qm_cli_quotes_history },
};

/* (transfer full) */
static char *
overview (void)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "%s\n", _ ("Usage:"));
  g_string_append (out, "  quartermaster quotes COMMAND [OPTION…]\n\n");
  g_string_append_printf (out, "%s\n\n",
                          _ ("Keeps what vendors offer: read from their papers "
                             "and pages, comparable, dated.\nQuotes that hold "
                             "today are used in advice."));
  g_string_append_printf (out, "%s\n", _ ("Commands:"));
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    g_string_append_printf (out, "  %-10s %s\n", verbs[i].name,
                            _ (verbs[i].summary));
  g_string_append_printf (out, "\n%s\n", _ ("Examples:"));
  g_string_append (out, "  quartermaster quotes import offer.xml --dry-run\n"
                        "  quartermaster quotes list --valid --gpu "
                        "h100-80gb-sxm\n"
                        "  quartermaster quotes compare 3 5\n"
                        "  quartermaster quotes export 3 -o offer.csv\n\n");
  g_string_append_printf (
      out, "%s\n",
      _ ("“quartermaster help quotes import” and so on list the options."));
  return g_string_free (out, FALSE);
}

static void
set_unknown_verb (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (verbs)];

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    names[i] = verbs[i].name;
  qm_cli_set_unknown (error, _ ("unknown command %s of quotes"), name, names,
                      G_N_ELEMENTS (names),
                      _ ("“quartermaster help quotes” lists the commands"));
}

static int
run_verb (const Verb *verb, const char *const *arguments, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  int status = verb->run (arguments, &trouble);

  if (g_error_matches (trouble, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                         _ ("interrupted; nothing was stored"));
  else if (trouble != NULL)
    g_propagate_error (error, g_steal_pointer (&trouble));
  return status;
}

int
qm_cli_quotes (const char *const *arguments, GError **error)
{
  const char *name = arguments[0];
  g_autofree char *text = NULL;

  if (name == NULL || g_str_equal (name, "--help") || g_str_equal (name, "-h"))
    {
      text = overview ();
      return qm_cli_write_text (text, error) ? QM_CLI_EXIT_FOUND
                                             : QM_CLI_EXIT_BAD_INPUT;
    }
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (g_str_equal (name, verbs[i].name))
      return run_verb (&verbs[i], arguments + 1, error);
  set_unknown_verb (name, error);
  return QM_CLI_EXIT_BAD_INPUT;
}
