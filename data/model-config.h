/* SPDX-License-Identifier: Apache-2.0 */

/* Reading the parts of a model file from objects that are already parsed. */

#ifndef QM_DATA_MODEL_CONFIG_H
#define QM_DATA_MODEL_CONFIG_H

#include "data/json-source.h"
#include "data/model.h"

QmStatus qm_model_config_read (QmJsonObject *object, QmModelConfig *config);
QmStatus qm_recipe_read (QmJsonObject *object, QmRecipe *recipe);

/* As qm_model_apply_recipe(), with `object` the recipe's. */
QmStatus qm_recipe_apply (QmJsonObject *object,
                          const QmRecipe *recipe,
                          QmModelConfig *config);

#endif
