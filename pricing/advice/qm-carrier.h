/* SPDX-License-Identifier: Apache-2.0 */

/* Which machine carries GPUs, and what it costs without them.
 *
 * Of the platforms of the catalog that carry so many of a GPU (data/carry.h),
 * the cheapest one with a price counts, with the memory that it has to be given
 * beyond what its price contains, in modules of 16 GiB.  One that nobody is
 * known to sell at its price (qm_price_is_weak()) counts only where no other
 * carries them, but where such prices are asked for.  A machine without GPUs
 * that the user has a quote of competes with them: whether it takes the cards
 * is for its vendor to say.  A platform that is sold with its GPUs is the whole
 * of what they cost.
 *
 * A question asked as in the paper has the paper's machines instead, which
 * carry any GPU.
 *
 * Where nothing carries them, the platform that is nearest to it is found, with
 * what it lacks. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

typedef struct _QmCarriers QmCarriers;

/* Finds machines for a question.  Both must outlive it.  (transfer full) */
QmCarriers *qm_carriers_new (const QmCatalog *catalog,
                             const QmQuestion *question);

void qm_carriers_free (QmCarriers *carriers);

/* Sets machine, platform, carry, extra_gib and the prices, with their quotes,
 * of a candidate of which gpu, gpus, machines and host_gib are set.
 *
 * Returns: what one machine with its GPUs costs, in USD cents, with its
 * interval in *low and *high; -1 where nothing carries them or a price is
 * missing.  The intervals of GPUs, machine and memory are added as independent
 * ones are, by their squares. */
gint64 qm_carriers_find (QmCarriers *carriers,
                         QmCandidate *candidate,
                         gint64 *low,
                         gint64 *high);

/* Whether the room's power suffices for the GPUs of a candidate in machines of
 * which no more is known than that somebody offers them. */
QmCarry qm_carriers_quoted (const QmQuestion *question,
                            const QmCandidate *candidate);

/* Whether machines of that kind, or platforms of that form, pass the question's
 * filters. */
gboolean qm_carriers_allow_kind (const QmQuestion *question,
                                 QmMachineKind kind);

/* The interval of a price, in millionths, at the question's day: none of that
 * of a quote (else NULL) which holds. */
void qm_carriers_interval (const QmCarriers *carriers,
                           const QmPrice *price,
                           const QmOffer *offer,
                           gint64 *low,
                           gint64 *high);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCarriers, qm_carriers_free)

G_END_DECLS
