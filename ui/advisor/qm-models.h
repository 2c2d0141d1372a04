/* SPDX-License-Identifier: Apache-2.0 */

/* The order in which lists show the models. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

/* The models of a catalog (of const QmModel, not owned) by family and number
 * of parameters.  (transfer full) */
GPtrArray *qm_models_sorted (const QmCatalog *catalog);

G_END_DECLS
