/* SPDX-License-Identifier: Apache-2.0 */

/* The order in which lists show the models, and in which groups. */

#pragma once

#include "data/catalog.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* The models of a catalog (of const QmModel, not owned) as qm_model_compare()
 * has them.  (transfer full) */
GPtrArray *qm_models_sorted (const QmCatalog *catalog);

/* Says which model's row `row` is, for the headers of its list. */
void qm_models_mark_row (GtkListBoxRow *row, const QmModel *model);

/* Adds a row of a model to a group of preferences, marked, with headers in its
 * list. */
void qm_models_add_row (AdwPreferencesGroup *group,
                        AdwActionRow *row,
                        const QmModel *model);

/* The ids that check buttons have as their "model", of those that are ticked.
 * (transfer full) */
GStrv qm_models_ticked (GPtrArray *checks);

/* Puts a header above the first row that is shown of each group; all rows of
 * the list are marked, in the order of qm_models_sorted(). */
void qm_models_show_headers (GtkListBox *list);

G_END_DECLS
