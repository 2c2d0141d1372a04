/* SPDX-License-Identifier: Apache-2.0 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "extract": what a page says its product costs.  `arguments` are those behind
 * the command's name, NULL-terminated.
 *
 * Returns: a QmCliExit; QM_CLI_EXIT_NOTHING_FITS where it says no price. */
int qm_cli_extract (const char *const *arguments, GError **error);

G_END_DECLS
