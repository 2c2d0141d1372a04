/* SPDX-License-Identifier: Apache-2.0 */

/* One line of GPUs to use: which, how many, what an hour of each costs, and how
 * long a job may run. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Signals: "changed" when any of them is another one, "removed" when the user
 * asks to take the line away.  Action "use.remove". */
#define QM_TYPE_USE_ROW (qm_use_row_get_type ())
G_DECLARE_FINAL_TYPE (QmUseRow, qm_use_row, QM, USE_ROW, AdwPreferencesRow)

/* `catalog` must outlive the row and have at least one GPU. */
GtkWidget *qm_use_row_new (const QmCatalog *catalog);

/* What the row has, within the limits of qm_advisor_is_use(); the GPU's id is
 * the catalog's. */
void qm_use_row_get (QmUseRow *self, QmUse *use);

/* Sets all of it, which is no "changed".  An unknown GPU leaves the GPU as it
 * was. */
void qm_use_row_set (QmUseRow *self, const QmUse *use);

/* Whether a time on them is known: the row says so where none is. */
void qm_use_row_set_has_time (QmUseRow *self, gboolean has_time);

G_END_DECLS
