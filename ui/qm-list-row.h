/* SPDX-License-Identifier: Apache-2.0 */

/* A row that chooses one of a few things from a list to drop down, with a line
 * that explains the one that is chosen. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* One of the things: what it is in "value", how it is called and what it means,
 * both as people read them. */
typedef struct
{
  int value;
  const char *label;
  const char *note;
} QmListChoice;

/* Properties: "value" (int), of the choice that is chosen; the first is the
 * default.  "terms" (string): those of the choices that a button beside the
 * title explains, as of QmTermsButton. */
#define QM_TYPE_LIST_ROW (qm_list_row_get_type ())
G_DECLARE_FINAL_TYPE (QmListRow, qm_list_row, QM, LIST_ROW, AdwPreferencesRow)

/* Offers these, which are copied, and chooses the first. */
void qm_list_row_set_choices (QmListRow *self,
                              const QmListChoice *choices,
                              guint n_choices);

G_END_DECLS
