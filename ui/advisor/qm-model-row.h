/* SPDX-License-Identifier: Apache-2.0 */

/* A model to choose, with a check mark, in the list of the model picker. */

#pragma once

#include "data/catalog.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_MODEL_ROW (qm_model_row_get_type ())
G_DECLARE_FINAL_TYPE (QmModelRow, qm_model_row, QM, MODEL_ROW, GtkListBoxRow)

/* `model` must outlive the row. */
GtkWidget *qm_model_row_new (const QmModel *model);

const QmModel *qm_model_row_get_model (QmModelRow *self);

/* Property "checked"; the space bar toggles it. */
gboolean qm_model_row_get_checked (QmModelRow *self);
void qm_model_row_set_checked (QmModelRow *self, gboolean checked);

/* Whether every word of `query` occurs in the name, id or family of the model,
 * letter case ignored.  An empty query matches. */
gboolean qm_model_row_matches (QmModelRow *self, const char *query);

G_END_DECLS
