/* SPDX-License-Identifier: Apache-2.0 */

/* Whether a training fits on each GPU of the catalog, or on as many of them as
 * are chosen, in the easiest way that does, and how long it would take there
 * where that can be predicted. */

#pragma once

#include "ui/models/qm-model-plans.h"
#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_MODEL_GPUS (qm_model_gpus_get_type ())
G_DECLARE_FINAL_TYPE (
    QmModelGpus, qm_model_gpus, QM, MODEL_GPUS, AdwPreferencesGroup)

/* Shows the GPUs of the catalog as it is. */
GtkWidget *qm_model_gpus_new (QmCatalogKeeper *keeper, QmModelPlans *plans);

G_END_DECLS
