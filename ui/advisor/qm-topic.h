/* SPDX-License-Identifier: Apache-2.0 */

/* One thing that the advisor advises on: a question and its answer. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

typedef struct
{
  char *title;
  QmQuestion *question;
  QmAdvice *advice;
  QmRecommendation recommendation;
} QmTopic;

/* Answers a question.  `catalog` must outlive the topic; takes the question.
 * (transfer full) (nullable): NULL, with a warning, where the catalog does not
 * know what the question names. */
QmTopic *qm_topic_new (const QmCatalog *catalog,
                       const char *title,
                       QmQuestion *question);

/* Recommends anew within other limits (cents, -1: none; days, NaN: none). */
void qm_topic_set_limits (QmTopic *topic,
                          gint64 budget_minor,
                          double deadline_days,
                          double run_deadline_days);

void qm_topic_free (QmTopic *topic);

G_END_DECLS
