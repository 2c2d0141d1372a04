/* SPDX-License-Identifier: Apache-2.0 */

/* The advice in words: what to buy and why, what the alternatives are worth,
 * what to know before trusting it, and what is selected.  With several topics
 * a line for each, of which the current one is told in full. */

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
