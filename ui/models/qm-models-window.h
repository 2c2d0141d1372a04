/* SPDX-License-Identifier: Apache-2.0 */

/* The user's own models: to be changed, deleted, and joined by new ones. */

#pragma once

#include "data/catalog.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MODELS_WINDOW (qm_models_window_get_type ())
G_DECLARE_FINAL_TYPE (
    QmModelsWindow, qm_models_window, QM, MODELS_WINDOW, AdwWindow)

/* `catalog` has to outlive it. */
GtkWidget *qm_models_window_new (GtkWindow *parent, const QmCatalog *catalog);

/* The catalog as it is now. */
void qm_models_window_set_catalog (QmModelsWindow *self,
                                   const QmCatalog *catalog);

G_END_DECLS
