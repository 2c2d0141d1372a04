/* SPDX-License-Identifier: Apache-2.0 */

/* Aligned columns and wrapped paragraphs, measured in terminal cells: East
 * Asian wide characters take two, combining ones none. */

#pragma once

#include "app/qm-cli-output.h"
#include "data/money.h"

G_BEGIN_DECLS

typedef enum
{
  QM_CLI_LEFT,
  QM_CLI_RIGHT
} QmCliAlignment;

/* A column of a table.  Where the screen is too narrow, the columns with the
 * highest `drop` go first (0: never), and then those with a `shrink` width are
 * cut down to it, with an ellipsis (0: never). */
typedef struct
{
  const char *title;
  QmCliAlignment alignment;
  guint drop;
  guint shrink;
} QmCliColumn;

typedef struct _QmCliTable QmCliTable;

/* `columns` are copied, their titles too.  (transfer full) */
QmCliTable *qm_cli_table_new (const QmCliColumn *columns, guint n_columns);

void qm_cli_table_free (QmCliTable *table);

/* Adds a row of as many cells as there are columns.  A NULL or empty cell is
 * unknown and shown as a dash.  Cells are copied, unsafe characters
 * escaped. */
void qm_cli_table_add_row (QmCliTable *table,
                           QmCliStyle style,
                           const char *const *cells);

/* Adds a line across all columns, with an empty line before it unless it comes
 * first.  The column titles come below the first such line. */
void qm_cli_table_add_heading (QmCliTable *table, const char *heading);

/* Lays the table out. */
void qm_cli_table_append (const QmCliTable *table,
                          GString *out,
                          const QmCliScreen *screen);

/* A date as in files, "2024-09-21": sorted, narrow and the same for everybody;
 * "2026-06" and "2026" where that is all that is known, NULL where nothing is.
 * (transfer full) (nullable) */
char *qm_cli_date_text (QmDate date);

/* Appends a paragraph, unsafe characters escaped, broken between words at the
 * screen's width (at 80 where it has none, never wider than 100), each line
 * but the first after `indent` spaces; the first stands after `label`, which is
 * repeated as it is. */
void qm_cli_append_paragraph (GString *out,
                              const QmCliScreen *screen,
                              QmCliStyle style,
                              const char *label,
                              guint indent,
                              const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCliTable, qm_cli_table_free)

G_END_DECLS
