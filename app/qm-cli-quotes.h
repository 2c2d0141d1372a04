/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster quotes": the quotes of the user, what pages and banks say, and
 * what they come to. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Runs the command on the arguments behind its name.  Returns how the program
 * ends; `error` is set where that is QM_CLI_EXIT_BAD_INPUT. */
int qm_cli_quotes (const char *const *arguments, GError **error);

G_END_DECLS
