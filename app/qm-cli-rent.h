/* SPDX-License-Identifier: Apache-2.0 */

/* What renting costs in place of buying, for programs. */

#pragma once

#include "pricing/advice/qm-rent-plan.h"

#include <jansson.h>

G_BEGIN_DECLS

/* Returns: an object with the GPUs that are rented in place of a machine, the
 *   price that is counted with ("source", "observed_on", "rented_together",
 *   "gpu_hour_usd"), an hour of one machine's GPUs, what renting and buying
 * cost at each use over the life, the mixed plan (null: none), and the
 * sentences; amounts in USD without tax.  Nulls where nobody is known to rent
 * out GPUs that do the work. */
json_t *qm_cli_rent_json (const QmCatalog *catalog,
                          const QmAdvice *advice,
                          const QmQuestion *question,
                          const QmCandidate *candidate);

G_END_DECLS
