/* SPDX-License-Identifier: Apache-2.0 */

/* Without arguments, or with a question, the window, with any other the command
 * line. */

#include "config.h"

#include "app/qm-cli.h"
#include "app/qm-environment.h"
#include "app/qm-streams.h"
#include "pricing/advice/qm-asked.h"
#include "ui/qm-application.h"

#include <glib/gi18n-lib.h>

#define EXIT_NO_DISPLAY 2

/* Options of GApplication, as a desktop that starts services gives them, and
 * one file at most. */
static gboolean
for_window (int argc, char **argv)
{
  int files = 0;

  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-' && g_str_has_suffix (argv[i], QM_ASKED_SUFFIX))
      files++;
    else if (!g_str_has_prefix (argv[i], "--gapplication-"))
      return FALSE;

  return files <= 1;
}

static int
run_window (int argc, char **argv)
{
  g_autoptr (GSettings) settings = NULL;
  g_autoptr (QmApplication) application = NULL;

  if (!gtk_init_check ())
    {
      g_printerr (_ ("quartermaster: there is no display to open a window on.  "
                     "Ask on the command line instead, for instance:\n"
                     "  quartermaster advise --model pythia-1b --budget 40000\n"
                     "More with: quartermaster --help\n"));
      return EXIT_NO_DISPLAY;
    }

  g_set_prgname (QM_APP_ID);
  g_set_application_name (_ ("Quartermaster"));
  settings = qm_environment_settings ();
  application = qm_application_new (settings);

  return g_application_run (G_APPLICATION (application), argc, argv);
}

int
main (int argc, char **argv)
{
  qm_streams_keep ();
  qm_environment_init_locale ();

  return for_window (argc, argv) ? run_window (argc, argv)
                                 : qm_cli_main (argc, argv);
}
