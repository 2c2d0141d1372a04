/* SPDX-License-Identifier: Apache-2.0 */

/* The command line alone, until the window's own main() takes this place. */

#include "config.h"

#include "app/qm-cli.h"

#include <glib/gi18n-lib.h>
#include <locale.h>

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  bindtextdomain (GETTEXT_PACKAGE, QM_LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  return qm_cli_main (argc, argv);
}
