/* SPDX-License-Identifier: Apache-2.0 */

/* A row that chooses models, one or several, from a searchable list. */

#pragma once

#include "data/catalog.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Property "selected": GStrv of the chosen ids, in the order of the list;
 * never empty once there is a catalog with models.  Setting it leaves unknown
 * ids out, and changes nothing where no known one is left. */
#define QM_TYPE_MODEL_PICKER (qm_model_picker_get_type ())
G_DECLARE_FINAL_TYPE (
    QmModelPicker, qm_model_picker, QM, MODEL_PICKER, AdwActionRow)

/* Lists the models of `catalog`, which must outlive the picker, by family and
 * size.  `defaults` are the ids that reset gives. */
void qm_model_picker_set_catalog (QmModelPicker *self,
                                  const QmCatalog *catalog,
                                  const char *const *defaults);

/* The property "selected". */
void qm_model_picker_set_selected (QmModelPicker *self, const char *const *ids);

/* Opens the list with the focus in its search. */
void qm_model_picker_open (QmModelPicker *self);

G_END_DECLS
