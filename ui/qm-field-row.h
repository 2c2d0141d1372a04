/* SPDX-License-Identifier: Apache-2.0 */

/* A row of a form: a title, an entry, and below the title a hint or, in its
 * place, what is wrong with what was typed. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_FIELD_ROW (qm_field_row_get_type ())
G_DECLARE_FINAL_TYPE (QmFieldRow, qm_field_row, QM, FIELD_ROW, AdwActionRow)

/* Signal "changed": another text is in the entry. */

/* title: without a mnemonic; also names the entry.
 * hint: (nullable): what to type. */
GtkWidget *qm_field_row_new (const char *title, const char *hint);

/* Other words; `hint` may be NULL. */
void qm_field_row_set_title (QmFieldRow *self, const char *title);
void qm_field_row_set_hint (QmFieldRow *self, const char *hint);

/* What was typed.  Setting another text tells "changed". */
const char *qm_field_row_get_text (QmFieldRow *self);
void qm_field_row_set_text (QmFieldRow *self, const char *text);

/* A number as it is typed back: with the locale's decimal sign, and as few
 * digits as give the same number. */
void qm_field_row_set_number (QmFieldRow *self, double value);

/* Says what is wrong, NULL: nothing. */
void qm_field_row_set_problem (QmFieldRow *self, const char *problem);

/* Reads a number from `min` to `max`, or says in the row what is wrong and
 * returns FALSE.  "3e-4" is one, with a point or the locale's decimal sign; a
 * whole number may have spaces between its digits and end with k, M, G or T.
 * Where `optional`, nothing is NaN. */
gboolean qm_field_row_read_whole (QmFieldRow *self,
                                  gint64 min,
                                  gint64 max,
                                  gint64 *value);
gboolean qm_field_row_read_number (
    QmFieldRow *self, double min, double max, gboolean optional, double *value);

/* Puts the keyboard into the entry. */
void qm_field_row_focus (QmFieldRow *self);

G_END_DECLS
