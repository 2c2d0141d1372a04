/* SPDX-License-Identifier: Apache-2.0 */

/* How to read a spreadsheet, from options and as it is remembered. */

#pragma once

#include "pricing/formats/qm-quote-import.h"

G_BEGIN_DECLS

/* The values of the options as they were typed. */
typedef struct
{
  GStrv columns;
  GStrv decimal;
  GStrv dates;
  GStrv currency;
} QmCliMapping;

void qm_cli_mapping_add_options (QmCliMapping *typed, GArray *options);

void qm_cli_mapping_clear (QmCliMapping *typed);

/* Whether any of the options was given. */
gboolean qm_cli_mapping_is_given (const QmCliMapping *typed);

/* The mapping of a document: as remembered or guessed, and changed as the
 * options say.
 *
 * mappings: (nullable): what is remembered.
 *
 * Returns: (transfer full): NULL with an error where the document is no table
 *   or an option names no column or field. */
QmCsvMapping *qm_cli_mapping_read (const QmCliMapping *typed,
                                   GBytes *bytes,
                                   const char *name,
                                   const char *media_type,
                                   const char *mappings,
                                   GError **error);

/* Sets an error that says what has to be said about the columns. */
void
qm_cli_mapping_want (const QmImport *import, const char *name, GError **error);

/* "“Menge”: quantity; …; not used: “Lager”".  (transfer full) */
char *qm_cli_mapping_text (const QmImport *import);

/* What is remembered of spreadsheets, and remembering more.  (nullable) */
char *qm_cli_mappings_load (void);
gboolean qm_cli_mappings_save (const char *mappings, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmCliMapping, qm_cli_mapping_clear)

G_END_DECLS
