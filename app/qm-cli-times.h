/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster times": the published times beside those of the yardstick. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Runs the command on the arguments behind its name.  Returns how the program
 * ends; `error` is set where that is QM_CLI_EXIT_BAD_INPUT. */
int qm_cli_times (const char *const *arguments, GError **error);

G_END_DECLS
