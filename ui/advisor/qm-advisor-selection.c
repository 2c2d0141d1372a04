/* SPDX-License-Identifier: Apache-2.0 */

/* Which candidate is selected, and that it stays so when indices change. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"
#include "ui/advisor/qm-topic.h"

void
qm_selected_candidate_init (QmSelectedCandidate *selected,
                            const QmAdvisor *advisor)
{
  const QmTopic *topic;
  guint n;

  *selected = (QmSelectedCandidate){ 0 };
  if (!advisor->has_selection)
    return;
  topic = g_ptr_array_index (advisor->topics, advisor->selected_topic);
  selected->topic = g_strdup (topic->title);
  selected->candidate =
      qm_advice_candidates (topic->advice, &n)[advisor->selected_candidate];
  selected->whole = qm_candidate_is_whole (&selected->candidate);
  if (selected->candidate.use != NULL)
    {
      selected->use = *selected->candidate.use;
      selected->use.gpu = (char *) selected->candidate.gpu->id;
    }
}

void
qm_selected_candidate_clear (QmSelectedCandidate *selected)
{
  g_clear_pointer (&selected->topic, g_free);
}

/* The same, or with `alike` GPUs to use on other terms. */
static gboolean
is_same (const QmSelectedCandidate *selected,
         const QmCandidate *candidate,
         gboolean alike)
{
  const QmCandidate *was = &selected->candidate;

  if ((selected->use.gpu != NULL) != (candidate->use != NULL)
      || (candidate->use != NULL && !alike
          && !qm_use_equal (candidate->use, &selected->use)))
    return FALSE;

  return g_str_equal (candidate->gpu->id, was->gpu->id)
         && candidate->gpus == was->gpus && candidate->here == was->here
         && candidate->superseded == was->superseded
         && qm_candidate_is_whole (candidate) == selected->whole;
}

static void
select_same (const QmSelectedCandidate *selected,
             QmAdvisor *advisor,
             gboolean alike)
{
  for (guint t = 0; selected->topic != NULL && t < advisor->topics->len; t++)
    {
      const QmTopic *topic = g_ptr_array_index (advisor->topics, t);
      guint n;
      const QmCandidate *candidates = qm_advice_candidates (topic->advice, &n);

      if (!g_str_equal (topic->title, selected->topic))
        continue;
      for (guint i = 0; i < n && !advisor->has_selection; i++)
        if (is_same (selected, &candidates[i], alike))
          {
            advisor->has_selection = TRUE;
            advisor->selected_topic = t;
            advisor->selected_candidate = i;
          }
    }
}

void
qm_selected_candidate_select (const QmSelectedCandidate *selected,
                              QmAdvisor *advisor)
{
  advisor->has_selection = FALSE;
  select_same (selected, advisor, FALSE);
  /* Whose terms change stays selected. */
  if (!advisor->has_selection && selected->use.gpu != NULL)
    select_same (selected, advisor, TRUE);
}

void
qm_advisor_select_like (QmAdvisor *self, QmAdvisor *other)
{
  QmSelectedCandidate selected;

  g_return_if_fail (QM_IS_ADVISOR (self) && QM_IS_ADVISOR (other));

  qm_advisor_ensure_topics (self);
  qm_selected_candidate_init (&selected, other);
  qm_selected_candidate_select (&selected, self);
  qm_selected_candidate_clear (&selected);
  qm_advisor_tell_selection (self);
}

gboolean
qm_advisor_get_selected (QmAdvisor *self, guint *topic, guint *candidate)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), FALSE);

  qm_advisor_ensure_topics (self);
  if (self->has_selection && topic != NULL)
    *topic = self->selected_topic;
  if (self->has_selection && candidate != NULL)
    *candidate = self->selected_candidate;
  return self->has_selection;
}

void
qm_advisor_select (QmAdvisor *self, guint topic, guint candidate)
{
  guint n;

  g_return_if_fail (QM_IS_ADVISOR (self));
  g_return_if_fail (topic < qm_advisor_get_n_topics (self));
  qm_advice_candidates (qm_advisor_get_advice (self, topic), &n);
  g_return_if_fail (candidate < n);

  if (self->has_selection && self->selected_topic == topic
      && self->selected_candidate == candidate)
    return;
  self->has_selection = TRUE;
  self->selected_topic = topic;
  self->selected_candidate = candidate;
  qm_advisor_tell_selection (self);
}

void
qm_advisor_unselect (QmAdvisor *self)
{
  g_return_if_fail (QM_IS_ADVISOR (self));

  if (!self->has_selection)
    return;
  self->has_selection = FALSE;
  qm_advisor_tell_selection (self);
}
