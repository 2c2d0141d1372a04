/* SPDX-License-Identifier: Apache-2.0 */

/* A window in which a model of the user's is made or changed: a configuration
 * from a file, a recipe from a form, and beside them at once what the training
 * takes. */

#pragma once

#include "ui/models/qm-model-folder.h"
#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MODEL_EDITOR (qm_model_editor_get_type ())
G_DECLARE_FINAL_TYPE (
    QmModelEditor, qm_model_editor, QM, MODEL_EDITOR, AdwWindow)

/* Signal "saved" (const char *id): the model is in the user's folder. */

/* An editor without a model yet, which has the catalog read anew when it has
 * saved one. */
GtkWidget *qm_model_editor_new (GtkWindow *parent, QmCatalogKeeper *keeper);

/* Opens a config.json, or says why it cannot be used. */
void qm_model_editor_open (QmModelEditor *self, GFile *file);

/* Changes a model that was saved. */
void qm_model_editor_edit (QmModelEditor *self, const QmOwnModel *model);

/* Lets the user choose a config.json, and opens an editor with it.
 *
 * saved: called with `data`, while it lives, when a model was saved. */
void qm_model_editor_choose (GtkWindow *parent,
                             QmCatalogKeeper *keeper,
                             GCallback saved,
                             gpointer data);

G_END_DECLS
