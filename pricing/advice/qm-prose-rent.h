/* SPDX-License-Identifier: Apache-2.0 */

/* Sentences about renting in place of buying, translated; the one place of them
 * for screens, files and proposals. */

#pragma once

#include "pricing/advice/qm-rent-plan.h"

G_BEGIN_DECLS

/* That nobody is known to rent out what is proposed, and what takes its place;
 * `rented` may be NULL: nothing does.  (transfer full) */
char *qm_prose_rent_other (const QmCandidate *rented);

/* What renting costs at several uses, and buying beside it; amounts with tax or
 * without.  (transfer full) */
char *qm_prose_rent_uses (const QmRentPlan *plan,
                          const QmCandidate *bought,
                          const QmCandidate *rented,
                          const QmPurse *purse,
                          gboolean with_tax);

/* What an hour on such GPUs costs before they are bought.  (transfer full) */
char *qm_prose_rent_hour (const QmRentPlan *plan,
                          const QmCandidate *rented,
                          const QmPurse *purse,
                          gboolean with_tax);

/* The plan that buys some machines and rents the rest; NULL where there is
 * none.  (transfer full) (nullable) */
char *qm_prose_rent_mixed (const QmRentPlan *plan,
                           const QmCandidate *bought,
                           const QmPurse *purse,
                           gboolean with_tax);

/* What is in no amount of rent: reserved prices, egress, storage, waiting.
 * Static. */
const char *qm_prose_rent_left_out (void);

/* All of these about what is advised, in the money of the question; none of
 * what is not to be bought, nor as in the paper.  NULL-terminated.  (transfer
 * full) */
GStrv qm_prose_rent (const QmCatalog *catalog,
                     const QmAdvice *advice,
                     const QmQuestion *question,
                     const QmCandidate *candidate);

G_END_DECLS
