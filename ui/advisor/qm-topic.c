/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-topic.h"

QmTopic *
qm_topic_new (const QmCatalog *catalog, const char *title, QmQuestion *question)
{
  g_autoptr (GError) error = NULL;
  QmAdvice *advice;
  QmTopic *topic;

  g_return_val_if_fail (catalog != NULL && question != NULL, NULL);

  advice = qm_advice_new (catalog, question, &error);
  if (advice == NULL)
    {
      g_warning ("%s", error->message);
      qm_question_free (question);
      return NULL;
    }
  topic = g_new0 (QmTopic, 1);
  topic->title = g_strdup (title);
  topic->question = question;
  topic->advice = advice;
  qm_topic_set_limits (topic, question->budget_minor, question->deadline_days,
                       question->run_deadline_days);
  return topic;
}

void
qm_topic_set_limits (QmTopic *topic,
                     gint64 budget_minor,
                     double deadline_days,
                     double run_deadline_days)
{
  g_return_if_fail (topic != NULL);

  topic->question->budget_minor = budget_minor;
  topic->question->deadline_days = deadline_days;
  topic->question->run_deadline_days = run_deadline_days;
  qm_advice_set_run_deadline (topic->advice, run_deadline_days);
  topic->recommendation =
      qm_advice_recommend (topic->advice, budget_minor, deadline_days);
}

void
qm_topic_free (QmTopic *topic)
{
  if (topic == NULL)
    return;
  g_free (topic->title);
  qm_question_free (topic->question);
  qm_advice_free (topic->advice);
  g_free (topic);
}
