/* SPDX-License-Identifier: Apache-2.0 */

/* What owning costs and when it is less than renting. */

#pragma once

#include "app/qm-cli-output.h"
#include "pricing/advice/qm-ownership.h"

#include <jansson.h>

G_BEGIN_DECLS

/* The values of the options as they were typed. */
typedef struct
{
  GStrv assumptions;
  GStrv files;
} QmCliOwnership;

void qm_cli_ownership_add_options (QmCliOwnership *typed, GArray *options);

void qm_cli_ownership_clear (QmCliOwnership *typed);

/* Whether it was asked for. */
gboolean qm_cli_ownership_is_asked (const QmCliOwnership *typed);

/* Reads the assumptions; where none are asked for, every part counts with the
 * usual ones.  Its tax is that of `purse` (nullable), the money of the amounts
 * that the sum stands beside, where they say none, and counts where those
 * contain it and nothing switches it off.
 *
 * lifetime_years: that of the question, unless an assumption says another. */
gboolean qm_cli_ownership_read (const QmCliOwnership *typed,
                                const QmPurse *purse,
                                double lifetime_years,
                                QmOwnershipSettings *settings,
                                GError **error);

/* What owning a candidate costs, with all that is assumed, and when that is
 * less than what the catalog knows to be rented. */
void qm_cli_ownership_append (const QmOwnershipSettings *settings,
                              const QmCatalog *catalog,
                              const QmCandidate *candidate,
                              GString *out,
                              const QmCliScreen *screen);

/* The same for programs. */
json_t *qm_cli_ownership_json (const QmOwnershipSettings *settings,
                               const QmCatalog *catalog,
                               const QmCandidate *candidate);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmCliOwnership, qm_cli_ownership_clear)

G_END_DECLS
