/* SPDX-License-Identifier: Apache-2.0 */

/* The recipe of a training as a form: every field of QmRecipe, checked as one
 * types, with what is wrong beside it. */

#pragma once

#include "data/model.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_RECIPE_FORM (qm_recipe_form_get_type ())
G_DECLARE_FINAL_TYPE (
    QmRecipeForm, qm_recipe_form, QM, RECIPE_FORM, AdwPreferencesGroup)

/* Signal "changed": something was typed or chosen. */

/* What is trained: decides which fields there are, and what they may say. */
void qm_recipe_form_set_config (QmRecipeForm *self,
                                const QmModelConfig *config);

/* Fills the form in. */
void qm_recipe_form_set_recipe (QmRecipeForm *self, const QmRecipe *recipe);

/* Reads the form.  `config` is the configuration of before, into which the
 * recipe's dropout is put.
 *
 * Returns: FALSE where a field is wrong, which then says why. */
gboolean qm_recipe_form_read (QmRecipeForm *self,
                              QmModelConfig *config,
                              QmRecipe *recipe);

G_END_DECLS
