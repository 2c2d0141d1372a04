/* SPDX-License-Identifier: Apache-2.0 */

/* What each way to train takes of the memory of one GPU, which is chosen
 * here. */

#pragma once

#include "ui/models/qm-model-plans.h"
#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MODEL_MEMORY (qm_model_memory_get_type ())
G_DECLARE_FINAL_TYPE (
    QmModelMemory, qm_model_memory, QM, MODEL_MEMORY, AdwPreferencesGroup)

/* Shows the GPUs of the catalog as it is. */
GtkWidget *qm_model_memory_new (QmCatalogKeeper *keeper, QmModelPlans *plans);

G_END_DECLS
