/* SPDX-License-Identifier: Apache-2.0 */

/* Sentences about an advice, translated: the same words in the window, on the
 * command line and in reports. */

#pragma once

#include "data/carry.h"
#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

/* "4 × H100 SXM5 80GB".  (transfer full) */
char *qm_prose_candidate (const QmCandidate *candidate);

/* GPUs to use and on which terms: "4 × A100 at 1.50 USD an hour of each, 24 h a
 * job".  (transfer full) */
char *qm_prose_use (const QmUse *use, const QmGpu *gpu);

/* "GPU server for 4 GPUs" with the number of machines where there are several;
 * where nothing carries the GPUs, why.  (transfer full) */
char *qm_prose_machine (const QmCandidate *candidate);

/* A sentence that names the quotes that the price rests on, and what of the
 * catalog was added to them; NULL where it rests on none.
 * (transfer full) (nullable) */
char *qm_prose_price_basis (const QmCandidate *candidate);

/* What quotes offer that no candidate is, since no time of it is known, one
 * sentence each.  NULL-terminated, possibly empty.  (transfer full) */
GStrv qm_prose_untimed_quotes (const QmAdvice *advice,
                               const QmQuestion *question);

/* How a platform carries GPUs, or why it does not: "fits", "each card draws
 * 700 W, and is given 600 W".  (transfer full) */
char *qm_prose_carry (const QmCarry *fit,
                      const QmPlatform *platform,
                      const QmGpu *gpu);

/* Why no machine carries the GPUs of a candidate: the machine that is nearest
 * to it and what it lacks.  (transfer full) */
char *qm_prose_not_carried (const QmCandidate *candidate);

/* Sentences about the platform of a candidate: its form, the power that it
 * draws, memory that is bought with it.  NULL for other machines.
 * (transfer full) (nullable) */
char *qm_prose_carrier (const QmCandidate *candidate);

/* What the prices of a candidate are where nobody sells at them, and how old
 * where that is more than a year: "used, 2 years old".  NULL where there is
 * nothing to tell.  (transfer full) (nullable) */
char *qm_prose_price_quality (const QmCandidate *candidate, QmDate today);

/* A sentence that tells the interval of the cost, in the money of a purse
 * (NULL: in USD); NULL where there is none.  (transfer full) (nullable) */
char *qm_prose_cost_interval (const QmCandidate *candidate,
                              const QmPurse *purse);

/* The headline: what to buy, or that nothing fits.  (transfer full) */
char *qm_prose_headline (const QmAdvice *advice,
                         const QmQuestion *question,
                         const QmRecommendation *recommendation);

/* What a level of software (pricing/advice/qm-forecast.h) is called; static. */
const char *qm_prose_level_name (const char *level);

/* How the GPUs of a candidate whose time is predicted exchange what they have
 * computed, and what bridges between its cards would change; NULL where that is
 * not known, or there is one GPU.  (transfer full) (nullable) */
char *qm_prose_link (const QmCandidate *candidate);

/* Sentences about the machine of a candidate: qm_prose_carrier, qm_prose_link,
 * qm_prose_cost_interval and the quotes that its price rests on; NULL where
 * there is nothing to tell.  (transfer full) (nullable) */
char *qm_prose_about_machine (const QmCandidate *candidate,
                              const QmPurse *purse);

/* A plain sentence why.  (transfer full) */
char *qm_prose_why (const QmAdvice *advice,
                    const QmQuestion *question,
                    const QmRecommendation *recommendation);

/* The same, and what qm_prose_about_machine says of what is recommended.
 * (transfer full) */
char *qm_prose_reason (const QmAdvice *advice,
                       const QmQuestion *question,
                       const QmRecommendation *recommendation);

/* No more alternatives than this are told of. */
#define QM_PROSE_ALTERNATIVES 5

/* What the alternatives are worth, one sentence an element: the runner-up, the
 * next faster and the next cheaper machine, GPUs to use, and to wait for this
 * machine, in this order, those that exist.  `indices` (may be NULL) receives
 * the candidate that each is about.  (transfer full) */
GStrv qm_prose_alternatives (const QmAdvice *advice,
                             const QmRecommendation *recommendation,
                             int indices[QM_PROSE_ALTERNATIVES]);

/* What must be known before trusting the answer: that it rests on a prediction,
 * an impossible or doubtful time, a candidate left out for one, the age of the
 * prices.  NULL-terminated,
 * possibly empty.  (transfer full) */
GStrv qm_prose_warnings (const QmAdvice *advice,
                         const QmQuestion *question,
                         const QmRecommendation *recommendation,
                         QmDate today);

/* What to know about the times and prices of the candidates whatever is
 * recommended: of which software they are, which were predicted, what cannot be
 * recommended for want of a time or a price, which lines of quotes do not
 * count. Does not depend on budget and deadline.  NULL-terminated, possibly
 * empty.  (transfer full) */
GStrv qm_prose_notes (const QmAdvice *advice, const QmQuestion *question);

/* That times are so many times what the steps alone take, and for what; NULL
 * where they are no longer.  (transfer full) (nullable) */
char *qm_prose_time_factor (double factor);

/* "published (arXiv 2410.23261, table 1)", "measured with PyTorch 2.11.0, 21
 * November 2026 (file, line 3)".  (transfer full) */
char *qm_prose_source (const QmMeasurement *measurement);

/* Where the times of the candidates come from, each source once, as
 * qm_prose_source() has it.  (transfer full) */
GStrv qm_prose_sources (const QmAdvice *advice);

/* Whose time it is, in a word or two: "published", "PyTorch", "Quartermaster",
 * "PyTorch, predicted", or "partly predicted" where that is so of the runs of a
 * year.  NULL where there is no time.  (transfer full) (nullable) */
char *qm_prose_times_of (const QmCandidate *candidate);

/* "PyTorch", "Quartermaster" or "Publication"; static. */
const char *qm_prose_times_of_name (QmTimesOf times_of);

/* "Quartermaster 0.1.0"; NULL where it is unstated.
 * (transfer full) (nullable) */
char *qm_prose_engine (const QmMeasurement *measurement);

/* "20 days to 30 days", the interval where the days rest on a predicted time,
 * else NULL.  (transfer full) (nullable) */
char *qm_prose_interval (const QmCandidate *candidate);

/* "would need 119 % of the cards' peak" or NULL where the verdict is ok.
 * (transfer full) (nullable) */
char *qm_prose_verdict (const QmCandidate *candidate);

/* A verdict in the user's language; static. */
const char *qm_prose_verdict_name (QmVerdict verdict);

/* What was asked, and by which assumptions it is answered, in a line: "Budget
 * $40,000; deadline 60 days; lifetime 5 years; time factor 1.1; …".
 * (transfer full) */
char *qm_prose_question (const QmQuestion *question);

/* Adds a sentence to others.
 *
 * sentence: (transfer full) (nullable): NULL is none. */
void qm_prose_add (GStrvBuilder *builder, char *sentence);

G_END_DECLS
