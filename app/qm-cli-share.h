/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster share": what was measured here, given away. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Runs the command on the arguments behind its name.  Returns how the program
 * ends; `error` is set unless that is QM_CLI_EXIT_FOUND. */
int qm_cli_share (const char *const *arguments, GError **error);

G_END_DECLS
