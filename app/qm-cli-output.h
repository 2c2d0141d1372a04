/* SPDX-License-Identifier: Apache-2.0 */

/* Where the command line's text goes: standard output and standard error, the
 * terminal's width and colours, and what may safely be shown there. */

#pragma once

#include "data/error.h"

#include <glib.h>

G_BEGIN_DECLS

#define QM_CLI_ERROR (qm_cli_error_quark ())
GQuark qm_cli_error_quark (void);

typedef enum
{
  QM_CLI_ERROR_USAGE,   /* an argument is wrong */
  QM_CLI_ERROR_CATALOG, /* the shipped facts cannot be loaded */
  QM_CLI_ERROR_OUTPUT   /* the result cannot be written */
} QmCliError;

/* How a piece of text stands out on a terminal that has colours. */
typedef enum
{
  QM_CLI_PLAIN,
  QM_CLI_STRONG,
  QM_CLI_FAINT,
  QM_CLI_GOOD,
  QM_CLI_BAD
} QmCliStyle;

/* Where text is laid out for. */
typedef struct
{
  guint width;     /* columns; 0: without end, not a terminal */
  gboolean colour; /* escape sequences are welcome */
} QmCliScreen;

/* Makes descriptors 0 to 2 exist, so that no file that is opened later takes
 * their place.  Writing to one that was closed still fails. */
void qm_cli_secure_descriptors (void);

/* Standard output: as wide as COLUMNS says or the terminal is, coloured where
 * it is a terminal that can and NO_COLOR (no-color.org) is not set. */
QmCliScreen qm_cli_screen (void);

/* Appends text with the escape sequences of a style around it. */
void qm_cli_append_styled (GString *out,
                           const QmCliScreen *screen,
                           QmCliStyle style,
                           const char *text);

/* Writes text to standard output in the locale's encoding, characters that it
 * lacks by the nearest that it has. */
gboolean qm_cli_write_text (const char *text, GError **error);

/* Writes bytes to standard output as they are. */
gboolean qm_cli_write_bytes (gconstpointer bytes, gsize length, GError **error);

/* Whether a file may be written as output: a pipe or device would be waited for
 * or replaced, and who has made a file read-only wants it to stay. */
gboolean qm_cli_check_output (const char *path, GError **error);

/* Writes text to standard error as it is, but for the locale's encoding. */
void qm_cli_complain (const char *text);

/* Writes one line to standard error: "quartermaster: " and the message. */
void qm_cli_report (const char *message);

/* Writes one line to standard error: "warning: FILE:LINE:COLUMN: REASON". */
void qm_cli_warn (const QmError *problem);

/* Writes what the catalog left out, which is no mistake. */
void qm_cli_note (const QmError *notice);

/* The text with control characters, invisible direction marks and bytes that
 * are not UTF-8 as escapes (\x1b, \u202e), so that it cannot steer a terminal.
 * (transfer full) */
char *qm_cli_escape (const char *bytes);

/* Like qm_cli_escape(), in single quotes and shortened to a line's part, to
 * repeat an argument in a message.  (transfer full) */
char *qm_cli_quote (const char *bytes);

G_END_DECLS
