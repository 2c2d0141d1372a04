/* SPDX-License-Identifier: Apache-2.0 */

/* A result into a file that the user names. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes bytes to standard output where `output` is NULL or "-", else to a file
 * of that name: complete or not at all, and not over one that exists unless
 * `replace` says so.  Returns FALSE with a QM_CLI_ERROR_OUTPUT. */
gboolean qm_cli_save (GBytes *bytes,
                      const char *output,
                      gboolean replace,
                      GError **error);

G_END_DECLS
