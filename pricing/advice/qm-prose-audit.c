/* SPDX-License-Identifier: Apache-2.0 */

/* What the audit says of times, in words. */

#include "config.h"

#include "pricing/advice/qm-prose-private.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>

char *
qm_prose_verdict (const QmCandidate *candidate)
{
  g_autofree char *share = NULL;
  g_autofree char *least = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  switch (candidate->verdict)
    {
    case QM_VERDICT_IMPOSSIBLE:
      share = qm_format_percent (candidate->implied_utilization);
      /* Translators: a percentage above 100. */
      return g_strdup_printf (_ ("would need %s of the cards’ peak"), share);
    case QM_VERDICT_DOUBTFUL:
      least = qm_format_days (candidate->reachable_days);
      /* Translators: a time. */
      return g_strdup_printf (_ ("its steps would take less than %s, the least "
                                 "that is predicted to be reachable"),
                              least);
    case QM_VERDICT_INFEASIBLE:
      return g_strdup (_ ("does not fit into the memory with these settings"));
    case QM_VERDICT_UNKNOWN:
      return g_strdup (
          _ ("cannot be checked: the time or the peak is unknown"));
    case QM_VERDICT_OK:
    case QM_VERDICT_POSSIBLE:
    default:
      return NULL;
    }
}

const char *
qm_prose_verdict_name (QmVerdict verdict)
{
  switch (verdict)
    {
    case QM_VERDICT_OK:
      return C_ ("verdict", "plausible");
    case QM_VERDICT_POSSIBLE:
      return C_ ("verdict", "possible");
    case QM_VERDICT_DOUBTFUL:
      return C_ ("verdict", "doubtful");
    case QM_VERDICT_IMPOSSIBLE:
      return C_ ("verdict", "impossible");
    case QM_VERDICT_INFEASIBLE:
      return C_ ("verdict", "does not fit");
    case QM_VERDICT_UNKNOWN:
    default:
      return C_ ("verdict", "unknown");
    }
}

/* What is said of it, with the time before it. */
static char *
judgement_of (const QmCandidate *candidate)
{
  g_autofree char *least = NULL;

  if (candidate->verdict != QM_VERDICT_DOUBTFUL)
    return qm_prose_verdict (candidate);
  least = qm_format_days (candidate->reachable_days);
  /* Translators: a time. */
  return g_strdup_printf (_ ("is less than %s, the least that is predicted to "
                             "be reachable there"),
                          least);
}

/* What an audit is of: the time of the steps, which is not the one that the
 * advice tells where that holds more. */
static char *
steps_of (const QmCandidate *candidate, const QmQuestion *question)
{
  const QmMeasurement *audited = candidate->audited;
  g_autofree char *days =
      qm_format_days (audited != NULL ? audited->days : candidate->days);

  if (audited == NULL || question->time_factor == 1)
    return g_steal_pointer (&days);
  /* Translators: a time. */
  return g_strdup_printf (_ ("%s of steps alone"), days);
}

/* "30 days on 8 × RTX 3090 would need 119 % of the cards' peak".  Of a
 * portfolio, the one training that would need the most, on one machine. */
static char *
claim_of (const QmCandidate *candidate, const QmQuestion *question)
{
  const QmMeasurement *audited = candidate->audited;
  gboolean portfolio = question->runs != NULL && question->runs->len > 0;
  QmCandidate one = *candidate;
  g_autofree char *what = NULL;
  g_autofree char *days = NULL;
  g_autofree char *verdict = judgement_of (candidate);

  one.machines = 1;
  what = qm_prose_candidate (&one);
  days = steps_of (candidate, question);
  if (audited != NULL && portfolio)
    /* Translators: training time, model, machine, "would need … % of the
     * cards’ peak". */
    return g_strdup_printf (_ ("%s for %s on %s %s"), days,
                            audited->model->name, what, verdict);
  /* Translators: training time, machine, "would need … % of the cards’
   * peak". */
  return g_strdup_printf (_ ("%s on %s %s"), days, what, verdict);
}

char *
qm_prose_warn_about_time (const QmCandidate *best, const QmQuestion *question)
{
  g_autofree char *claim = NULL;

  if (best->verdict == QM_VERDICT_IMPOSSIBLE)
    {
      claim = claim_of (best, question);
      /* Translators: "30 days on 8 × … would need 119 % of the cards’ peak". */
      return g_strdup_printf (
          _ ("%s: the published time cannot be true, plan with more."), claim);
    }
  if (best->verdict == QM_VERDICT_DOUBTFUL)
    {
      claim = claim_of (best, question);
      /* Translators: "9 days on 8 × … is less than 10 days, the least …". */
      return g_strdup_printf (
          best->audited != NULL
                  && best->audited->provenance == QM_PROVENANCE_MEASURED
              ? _ ("%s: measure it again before you rely on it.")
              : _ ("%s: expect it to take longer."),
          claim);
    }
  return NULL;
}

char *
qm_prose_warn_about_denied (const QmCandidate *denied,
                            const QmQuestion *question)
{
  g_autofree char *claim = claim_of (denied, question);

  return g_strdup_printf (_ ("Left out as impossible: %s."), claim);
}

/* With times that only the peak could be held against. */
static gboolean
is_possible (const QmCandidate *candidate)
{
  return candidate->verdict == QM_VERDICT_POSSIBLE;
}

/* What the audit could not hold against anything predicted, and why. */
void
qm_prose_note_audit (GStrvBuilder *builder,
                     const QmAdvice *advice,
                     const QmQuestion *question)
{
  const char *level = qm_question_level (question);
  const char *problem = qm_prose_problem (question, QM_FORECAST_LEVELS);
  g_autofree char *names = qm_prose_gpu_names (advice, is_possible);
  g_autofree char *note = NULL;

  if (names == NULL || qm_forecasts_is_pending (question->forecasts))
    return;
  if (problem == NULL)
    /* Translators: names of GPUs. */
    note = g_strdup_printf (_ ("%s: nothing is predicted there, so that "
                               "times are audited by the cards’ peak "
                               "alone."),
                            names);
  else if (level != NULL && qm_prose_problem (question, level) != NULL)
    note = g_strdup (_ ("Times are audited by the cards’ peak alone."));
  else
    /* Translators: what went wrong. */
    note =
        g_strdup_printf (_ ("Times are audited by the cards’ peak alone: %s"),
                         problem);
  g_strv_builder_add (builder, note);
}
