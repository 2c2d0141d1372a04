/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster catalog": the facts that advice rests on. */

#pragma once

#include "data/catalog.h"

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCatalog, qm_catalog_free)

/* Runs the command on the arguments behind its name.  Returns how the program
 * ends; `error` is set where that is QM_CLI_EXIT_BAD_INPUT. */
int qm_cli_catalog (const char *const *arguments, GError **error);

/* Loads the catalog, with a line on standard error for each file that was
 * refused.  Returns: (transfer full): NULL with an error. */
QmCatalog *qm_cli_catalog_load (GError **error);

/* "$1,499.99", "$500 to $1,000", "$21.96 an hour for 8".  (transfer full) */
char *qm_cli_catalog_price_amount (const QmPrice *price);

/* "street", "published", ... in the user's language; static. */
const char *qm_cli_catalog_price_kind (const QmPrice *price);

/* The entries of one topic ("gpus", "machines", "models", "prices" or
 * "measurements") as an array, every field of them. */
json_t *qm_cli_catalog_json (const QmCatalog *catalog, const char *topic);

/* Every field of a model's configuration, by the names of data/model.h. */
json_t *qm_cli_catalog_config_json (const QmModelConfig *config);

G_END_DECLS
