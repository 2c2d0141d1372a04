/* SPDX-License-Identifier: Apache-2.0 */

/* GPUs to use. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"
#include "ui/advisor/qm-topic.h"

#include <string.h>

void
qm_advisor_ask_of_uses (QmAdvisor *self, QmQuestion *question)
{
  for (guint i = 0; i < self->uses->len; i++)
    {
      const QmUse *use = &g_array_index (self->uses, QmUse, i);

      qm_question_add_use (question, use->gpu, use->gpus, use->hour_micros,
                           use->walltime_hours);
    }
}

guint
qm_advisor_get_n_uses (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), 0);

  return self->uses->len;
}

const QmUse *
qm_advisor_get_use (QmAdvisor *self, guint index)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);
  g_return_val_if_fail (index < self->uses->len, NULL);

  return &g_array_index (self->uses, QmUse, index);
}

gboolean
qm_advisor_is_use (QmAdvisor *self, const QmUse *use)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self) && use != NULL, FALSE);

  return use->gpu != NULL && qm_catalog_gpu (self->catalog, use->gpu) != NULL
         && use->gpus >= 1 && use->gpus <= QM_USE_GPUS_MAX
         && use->hour_micros >= 0
         && use->hour_micros <= (gint64) QM_USE_HOUR_MAX * QM_MICROS_PER_UNIT
         && (!qm_known (use->walltime_hours)
             || (use->walltime_hours >= QM_USE_WALLTIME_MIN
                 && use->walltime_hours <= QM_USE_WALLTIME_MAX));
}

void
qm_advisor_add_use (QmAdvisor *self, const QmUse *use)
{
  QmUse copy;

  g_return_if_fail (QM_IS_ADVISOR (self) && use != NULL);
  g_return_if_fail (qm_advisor_is_use (self, use));
  g_return_if_fail (self->uses->len < QM_USES_MAX);

  copy = *use;
  copy.gpu = g_strdup (use->gpu);
  g_array_append_val (self->uses, copy);
  qm_advisor_queue_rebuild (self);
}

gboolean
qm_use_equal (const QmUse *a, const QmUse *b)
{
  gboolean any;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  any = !qm_known (a->walltime_hours);
  return strcmp (a->gpu, b->gpu) == 0 && a->gpus == b->gpus
         && a->hour_micros == b->hour_micros
         && any == !qm_known (b->walltime_hours)
         && (any || a->walltime_hours == b->walltime_hours);
}

void
qm_advisor_set_use (QmAdvisor *self, guint index, const QmUse *use)
{
  QmUse *set;
  char *gpu;

  g_return_if_fail (QM_IS_ADVISOR (self) && index < self->uses->len);
  g_return_if_fail (use != NULL && qm_advisor_is_use (self, use));

  set = &g_array_index (self->uses, QmUse, index);
  if (qm_use_equal (set, use))
    return;
  gpu = g_strdup (use->gpu);
  g_free (set->gpu);
  *set = *use;
  set->gpu = gpu;
  qm_advisor_queue_rebuild (self);
}

void
qm_advisor_remove_use (QmAdvisor *self, guint index)
{
  g_return_if_fail (QM_IS_ADVISOR (self) && index < self->uses->len);

  g_array_remove_index (self->uses, index);
  qm_advisor_queue_rebuild (self);
}

gboolean
qm_advisor_use_has_time (QmAdvisor *self, guint index)
{
  const QmUse *use;

  g_return_val_if_fail (QM_IS_ADVISOR (self), FALSE);
  g_return_val_if_fail (index < self->uses->len, FALSE);

  qm_advisor_ensure_topics (self);
  use = &g_array_index (self->uses, QmUse, index);
  for (guint i = 0; i < self->topics->len; i++)
    {
      const QmTopic *topic = g_ptr_array_index (self->topics, i);
      guint n;
      const QmCandidate *candidates = qm_advice_candidates (topic->advice, &n);

      for (guint j = 0; j < n; j++)
        if (candidates[j].use != NULL && qm_known (candidates[j].days)
            && qm_use_equal (candidates[j].use, use))
          return TRUE;
    }
  return FALSE;
}
