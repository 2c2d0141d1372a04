/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster proposal": what to write to a funder. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Runs the command on the arguments behind its name.  Returns how the program
 * ends; `error` is set where that is QM_CLI_EXIT_BAD_INPUT. */
int qm_cli_proposal (const char *const *arguments, GError **error);

G_END_DECLS
