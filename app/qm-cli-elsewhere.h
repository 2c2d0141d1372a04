/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster elsewhere": a benchmark for another machine, as one that is
 * rented for an hour before anything is bought. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Runs the command on the arguments behind its name.  Returns how the program
 * ends; `error` is set where that is QM_CLI_EXIT_BAD_INPUT. */
int qm_cli_elsewhere (const char *const *arguments, GError **error);

G_END_DECLS
