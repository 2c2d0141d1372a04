/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-advise.h"
#include "app/qm-cli-catalog.h"
#include "app/qm-cli-elsewhere.h"
#include "app/qm-cli-extract.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-plot.h"
#include "app/qm-cli-proposal.h"
#include "app/qm-cli-quotes.h"
#include "app/qm-cli-share.h"
#include "app/qm-cli-times.h"
#include "app/qm-cli.h"

#include <glib/gi18n-lib.h>

typedef struct
{
  const char *name;
  const char *summary;
  int (*run) (const char *const *arguments, GError **error);
} Verb;

static const Verb verbs[] = {
  { "advise", N_ ("which machine to buy for a training, and why"),
    qm_cli_advise },
  { "proposal", N_ ("what to write to a funder"), qm_cli_proposal },
  { "plot", N_ ("cost against training time, as PNG, SVG or PDF"),
    qm_cli_plot },
  { "times", N_ ("the published training times against the yardstick"),
    qm_cli_times },
  { "catalog",
    N_ ("the GPUs, machines, models, prices, measurements and rates"),
    qm_cli_catalog },
  { "quotes", N_ ("what vendors offer: import, compare, export, keep current"),
    qm_cli_quotes },
  { "elsewhere", N_ ("a benchmark for another machine, as a rented one"),
    qm_cli_elsewhere },
  { "share", N_ ("what you measured, for everybody"), qm_cli_share },
  { "extract", N_ ("what a web page says its product costs"), qm_cli_extract },
};

static const Verb *
find_verb (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (g_str_equal (name, verbs[i].name))
      return &verbs[i];
  return NULL;
}

static void
set_unknown_verb (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (verbs) + 3];
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    names[n++] = verbs[i].name;
  names[n++] = "help";
  names[n++] = "--help";
  names[n++] = "--version";
  qm_cli_set_unknown (error, _ ("unknown command %s"), name, names, n,
                      _ ("“quartermaster help” lists the commands"));
}

/* (transfer full) */
static char *
overview (void)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "%s\n\n",
                          _ ("Quartermaster: which GPUs to buy to train a "
                             "model, and how long that will take"));
  g_string_append_printf (out, "%s\n", _ ("Usage:"));
  g_string_append (out, "  quartermaster COMMAND [OPTION…]\n\n");
  g_string_append_printf (out, "%s\n", _ ("Commands:"));
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    g_string_append_printf (out, "  %-10s %s\n", verbs[i].name,
                            _ (verbs[i].summary));
  g_string_append_printf (out, "  %-10s %s\n\n", "help",
                          _ ("the options of a command: “help advise”"));
  g_string_append_printf (out, "%s\n", _ ("Examples:"));
  g_string_append (
      out, "  quartermaster advise --model pythia-1b --budget 40k\n"
           "  quartermaster advise --runs pythia-1b=3,vit-large=10 --budget "
           "150k --json\n"
           "  quartermaster plot --model pythia-1b --kind overall --log -o "
           "pythia-1b.pdf\n"
           "  quartermaster catalog prices\n"
           "  quartermaster quotes list --valid\n\n");
  g_string_append_printf (
      out, "%s\n",
      _ ("Exit status: 0 found or done, 1 nothing fits the limits, 2 bad "
         "input."));
  return g_string_free (out, FALSE);
}

static int
write_and_end (const char *text, GError **error)
{
  return qm_cli_write_text (text, error) ? QM_CLI_EXIT_FOUND
                                         : QM_CLI_EXIT_BAD_INPUT;
}

/* Help with a command, or with a command of that one. */
static int
help_with (const Verb *verb, const char *const *arguments, GError **error)
{
  const char *help[] = { arguments[0] != NULL ? arguments[0] : "--help",
                         arguments[0] != NULL ? "--help" : NULL, NULL };

  return verb->run (help, error);
}

static int
run_help (const char *const *arguments, GError **error)
{
  g_autofree char *text = NULL;

  if (arguments[0] != NULL && !g_str_equal (arguments[0], "help"))
    {
      const Verb *verb = find_verb (arguments[0]);

      if (verb != NULL)
        return help_with (verb, arguments + 1, error);
      set_unknown_verb (arguments[0], error);
      return QM_CLI_EXIT_BAD_INPUT;
    }
  text = overview ();
  return write_and_end (text, error);
}

static int
run_arguments (const char *const *arguments, GError **error)
{
  const char *name = arguments[0];
  const Verb *verb;

  if (name == NULL)
    return run_help (arguments, error);
  if (g_str_equal (name, "--version"))
    return write_and_end ("quartermaster " QM_VERSION "\n", error);
  if (g_str_equal (name, "help") || g_str_equal (name, "--help")
      || g_str_equal (name, "-h"))
    return run_help (arguments + 1, error);
  verb = find_verb (name);
  if (verb != NULL)
    return verb->run (arguments + 1, error);
  set_unknown_verb (name, error);
  return QM_CLI_EXIT_BAD_INPUT;
}

int
qm_cli_main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree const char **arguments = g_new0 (const char *, (gsize) argc + 1);
  int status;

  for (int i = 1; i < argc; i++)
    arguments[i - 1] = argv[i];
  qm_cli_secure_descriptors ();
  status = run_arguments (arguments, &error);
  if (error != NULL)
    qm_cli_report (error->message);
  return status;
}
