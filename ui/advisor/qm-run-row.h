/* SPDX-License-Identifier: Apache-2.0 */

/* One line of a portfolio: a model and how often a year it is trained. */

#pragma once

#include "data/catalog.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Signals: "changed" when the model or the number is another one, "removed"
 * when the user asks to take the line away. */
#define QM_TYPE_RUN_ROW (qm_run_row_get_type ())
G_DECLARE_FINAL_TYPE (QmRunRow, qm_run_row, QM, RUN_ROW, AdwPreferencesRow)

/* `catalog` must outlive the row and have at least one model. */
GtkWidget *qm_run_row_new (const QmCatalog *catalog);

/* The chosen model's id, the catalog's. */
const char *qm_run_row_get_model (QmRunRow *self);
double qm_run_row_get_runs_per_year (QmRunRow *self);

/* Sets both, which is no "changed".  An unknown model leaves the model as it
 * was. */
void qm_run_row_set (QmRunRow *self, const char *model, double runs_per_year);

G_END_DECLS
