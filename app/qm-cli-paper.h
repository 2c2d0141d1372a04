/* SPDX-License-Identifier: Apache-2.0 */

/* A document (pricing/papers/qm-paper.h) as the user wants it: as text on the
 * terminal, or as a file. */

#pragma once

#include "pricing/papers/qm-paper.h"

G_BEGIN_DECLS

/* The values of the options as they were typed. */
typedef struct
{
  GStrv output;
  GStrv format;
  GStrv page;
  gboolean force;
  const char *others; /* formats that the command writes itself, besides those
                         of a document: "json|ubl"; NULL: none */
  int sheets;         /* whether spreadsheets are among them */
} QmCliPaper;

/* Where to and in which form. */
typedef struct
{
  const char *output; /* NULL: standard output */
  const char
      *format; /* "text", "markdown", "latex", "odt", "pdf", "csv", "ods",
                  "xlsx" or one of the others; static, or of what was typed */
  gboolean letter;
  gboolean force;
} QmCliForm;

/* Adds "--output", "--format", "--page" and "--force". */
void qm_cli_paper_add_options (QmCliPaper *typed, GArray *options);

void qm_cli_paper_clear (QmCliPaper *typed);

/* By the option, else by the ending of the file, else text.  *form points into
 * what was typed.  Returns FALSE with a QM_CLI_ERROR_USAGE. */
gboolean
qm_cli_paper_read (const QmCliPaper *typed, QmCliForm *form, GError **error);

/* Writes a document in a form that is none of the others. */
gboolean qm_cli_paper_write (const QmPaper *paper,
                             const QmCliForm *form,
                             GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmCliPaper, qm_cli_paper_clear)

G_END_DECLS
