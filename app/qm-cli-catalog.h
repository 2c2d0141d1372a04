/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster catalog": the facts that advice rests on. */

#pragma once

#include "app/qm-cli-table.h"
#include "data/catalog.h"
#include "pricing/qm-rates.h"

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

/* Whether the catalog has that model; QM_CLI_ERROR_USAGE, with the one that is
 * nearest, where not. */
gboolean qm_cli_catalog_check_model (const QmCatalog *catalog,
                                     const char *id,
                                     GError **error);

/* "$1,499.99", "$500 to $1,000", "$21.96 an hour for 8".  (transfer full) */
char *qm_cli_catalog_price_amount (const QmPrice *price);

/* "street", "published", ... in the user's language; static. */
const char *qm_cli_catalog_price_kind (const QmPrice *price);

/* What platforms are to carry.  Without a GPU nothing is asked. */
typedef struct
{
  const QmGpu *gpu;
  int gpus;
  double memory_gib;    /* of the host; 0: any */
  double circuit_watts; /* INFINITY: enough */
} QmCliLoad;

/* The table of the platforms, with a column of sources or without; with a load
 * those that carry it, and why the others do not. */
QmCliTable *qm_cli_catalog_platforms_table (const QmCatalog *catalog,
                                            QmRates *rates,
                                            const QmCliLoad *load,
                                            QmDate today,
                                            gboolean sources);

/* The entries of one topic ("gpus", "machines", "platforms", "models", "prices"
 * or "measurements") as an array, every field of them. */
json_t *qm_cli_catalog_json (const QmCatalog *catalog,
                             const char *topic,
                             const QmCliLoad *load);

/* The rates that predictions are fitted to, each with what qm-bench says of it,
 * which is waited for; why it says nothing goes to standard error. */
typedef struct _QmCliTrained QmCliTrained;
QmCliTrained *qm_cli_trained_new (GError **error); /* (transfer full) */
void qm_cli_trained_free (QmCliTrained *trained);
QmCliTable *qm_cli_trained_table (const QmCliTrained *trained,
                                  gboolean sources);
json_t *qm_cli_trained_json (const QmCliTrained *trained);

/* Every field of a platform but its prices; with a load whether it fits. */
json_t *qm_cli_catalog_platform_json (const QmPlatform *platform,
                                      const QmCliLoad *load);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCliTrained, qm_cli_trained_free)

G_END_DECLS
