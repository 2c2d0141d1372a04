/* SPDX-License-Identifier: Apache-2.0 */

/* The advice in words: on one card what to buy and why, and what to know before
 * money is spent; on another what it rests on, what is selected, and what the
 * alternatives are worth.  With several topics a line for each, of which the
 * current one is told in full.
 *
 * Property "middle" (GtkWidget): what stands between the cards, such as the
 * plots. */

#pragma once

#include "ui/advisor/qm-advisor.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_RECOMMENDATION_CARD (qm_recommendation_card_get_type ())
G_DECLARE_FINAL_TYPE (QmRecommendationCard,
                      qm_recommendation_card,
                      QM,
                      RECOMMENDATION_CARD,
                      GtkWidget)

/* Speaks for another advisor; NULL: for none. */
void qm_recommendation_card_set_advisor (QmRecommendationCard *self,
                                         QmAdvisor *advisor);

G_END_DECLS
