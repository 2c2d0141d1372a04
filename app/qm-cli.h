/* SPDX-License-Identifier: Apache-2.0 */

/* The command line: text for people, JSON for programs, no display. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How the program ends. */
typedef enum
{
  QM_CLI_EXIT_FOUND = 0,        /* done; for advice: something fits */
  QM_CLI_EXIT_NOTHING_FITS = 1, /* nothing within the limits */
  QM_CLI_EXIT_BAD_INPUT = 2     /* arguments or files; or cannot write */
} QmCliExit;

/* Runs the command in argv[1] ("advise", "plot", "catalog", "help",
 * "--version", ...; help where there is none) and returns how the program
 * ends.  The caller has set the
 * locale and bound the text domain.  Calls nothing that needs a display. */
int qm_cli_main (int argc, char **argv);

G_END_DECLS
