/* SPDX-License-Identifier: Apache-2.0 */

/* The user's own models: to be changed, deleted, and joined by new ones. */

#pragma once

#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MODELS_WINDOW (qm_models_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmModelsWindow, qm_models_window, QM, MODELS_WINDOW, AdwWindow)

/* Reads the catalog anew where it changes a model. */
GtkWidget *qm_models_window_new (GtkWindow *parent, QmCatalogKeeper *keeper);

G_END_DECLS
