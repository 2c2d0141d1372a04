/* SPDX-License-Identifier: Apache-2.0 */

/* A row that chooses between two things, with a line that explains the one
 * that is chosen. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* Properties: "first-label", "second-label", "first-note", "second-note"
 * (strings, construct only) "second" (boolean: the second is chosen; the first
 * is the default), and "terms" (string): those that a button beside the title
 * explains, as of QmTermsButton. */
#define QM_TYPE_CHOICE_ROW (qm_choice_row_get_type ())
G_DECLARE_FINAL_TYPE (
    QmChoiceRow, qm_choice_row, QM, CHOICE_ROW, AdwPreferencesRow)

/* Whether the second is chosen. */
gboolean qm_choice_row_get_second (QmChoiceRow *self);

G_END_DECLS
