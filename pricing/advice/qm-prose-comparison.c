/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose-comparison.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>

const char *
qm_prose_comparison_why (void)
{
  return _ ("The published times were read from a clock that did not wait for "
            "the GPU; those of the yardstick come from one that did, or are "
            "predicted from such. Compared is PyTorch with PyTorch: the "
            "publication’s optimal "
            "settings with compiled and fused ones, its naive ones with naive "
            "ones.");
}

const char *
qm_prose_settings_name (QmSettings settings)
{
  switch (settings)
    {
    case QM_SETTINGS_NAIVE:
      return _ ("Naive");
    case QM_SETTINGS_EAGER:
      return _ ("Eager");
    case QM_SETTINGS_OPTIMAL:
    default:
      return _ ("Optimal");
    }
}

char *
qm_prose_comparison_sum (const QmComparison *comparison, QmSettings settings)
{
  QmComparisonSummary sum = qm_comparison_sum_up (comparison, settings);
  const char *name = qm_prose_settings_name (settings);
  g_autofree char *median = NULL;
  g_autofree char *least = NULL;
  g_autofree char *greatest = NULL;

  if (sum.n_compared == 0)
    /* Translators: "Optimal", "Naive". */
    return g_strdup_printf (_ ("%s settings: no place has both times."), name);
  median = qm_format_number (sum.median, 2);
  least = qm_format_number (sum.least, 2);
  greatest = qm_format_number (sum.greatest, 2);
  /* Translators: "Optimal", "Naive"; a number of places; three ratios such as
   * "0.62"; how many places are shorter. */
  return g_strdup_printf (
      ngettext ("%s settings, %u place: the published time is %s of the "
                "yardstick’s in the median, from %s to %s; %u is shorter.",
                "%s settings, %u places: the published time is %s of the "
                "yardstick’s in the median, from %s to %s; %u are shorter.",
                sum.n_compared),
      name, sum.n_compared, median, least, greatest, sum.n_shorter);
}

char *
qm_prose_compared_time (const QmMeasurement *time, gboolean interval)
{
  g_autofree char *days = NULL;
  g_autofree char *range = NULL;

  if (time == NULL)
    return g_strdup (_ ("unknown"));
  if (time->feasibility == QM_INFEASIBLE)
    return g_strdup (_ ("does not fit"));
  if (!qm_known (time->days))
    return g_strdup (_ ("unknown"));
  days = qm_format_days (time->days);
  if (!interval || !qm_known (time->days_low))
    return g_steal_pointer (&days);
  range = qm_prose_compared_interval (time);
  /* Translators: a time, and the interval that it is in. */
  return g_strdup_printf (_ ("%s (%s)"), days, range);
}

char *
qm_prose_compared_interval (const QmMeasurement *time)
{
  if (time == NULL || !qm_known (time->days_low))
    return g_strdup ("");
  return qm_format_days_range (time->days, time->days_low, time->days_high);
}

const char *
qm_prose_compared_provenance (const QmMeasurement *time)
{
  if (time == NULL)
    return "";
  switch (time->provenance)
    {
    case QM_PROVENANCE_MEASURED:
      return C_ ("provenance", "measured");
    case QM_PROVENANCE_REPORTED:
      return C_ ("provenance", "reported");
    case QM_PROVENANCE_PREDICTED:
      return C_ ("provenance", "predicted");
    case QM_PROVENANCE_PUBLISHED:
    default:
      return C_ ("provenance", "published");
    }
}

char *
qm_prose_compared_verdict (const QmCompared *row)
{
  g_autofree char *share = NULL;
  const char *name;

  g_return_val_if_fail (row != NULL, NULL);

  if (row->verdict != QM_VERDICT_IMPOSSIBLE
      && row->verdict != QM_VERDICT_DOUBTFUL)
    return g_strdup ("");
  name = qm_prose_verdict_name (row->verdict);
  if (row->verdict != QM_VERDICT_IMPOSSIBLE || !qm_known (row->utilization))
    return g_strdup (name);
  share = qm_format_percent (row->utilization);
  /* Translators: "impossible", and "119 %" of what a GPU can. */
  return g_strdup_printf (_ ("%s (%s)"), name, share);
}

char *
qm_prose_compared_ratio (const QmCompared *row)
{
  g_return_val_if_fail (row != NULL, NULL);

  return qm_known (row->ratio) ? qm_format_number (row->ratio, 2)
                               : g_strdup ("");
}

/* What the yardstick says of the machine that the paper recommends; NULL. */
static char *
about_paper (const QmComparison *comparison,
             const QmComparedAnswer *as_in_paper)
{
  const QmCandidate *best = qm_compared_answer_best (as_in_paper);
  const QmCompared *row =
      best != NULL ? qm_comparison_look (comparison, best) : NULL;
  g_autofree char *what = NULL;
  g_autofree char *time = NULL;
  g_autofree char *published = NULL;

  if (row == NULL || row->yardstick == NULL)
    return NULL;
  what = qm_prose_candidate (best);
  published = qm_prose_compared_time (row->published, FALSE);
  time = qm_prose_compared_time (row->yardstick, TRUE);
  /* Translators: GPUs, a time, "measured" or "predicted", the published time.
   */
  return g_strdup_printf (
      _ ("On %s the training takes %s by the yardstick, %s, instead of %s."),
      what, time, qm_prose_compared_provenance (row->yardstick), published);
}

static void
add_answer (GStrvBuilder *builder,
            const char *form,
            const QmComparedAnswer *answer)
{
  g_autofree char *headline =
      qm_prose_headline (answer->advice, answer->question,
                         &answer->recommendation);
  g_autofree char *sentence = g_strdup_printf (form, headline);

  g_strv_builder_add (builder, sentence);
}

/* That the time of the yardstick's answer is no such as those beside it; NULL
 * where it is. */
static char *
about_factor (const QmComparedAnswer *answer)
{
  const double factor = answer->question->time_factor;
  g_autofree char *more = NULL;

  if (factor == 1 || qm_compared_answer_best (answer) == NULL)
    return NULL;
  more = qm_format_percentage (factor * 100 - 100, 2);
  /* Translators: a percentage. */
  return g_strdup_printf (
      _ ("This last time holds %s for the loading of data, evaluation, "
         "checkpoints and restarts, as in every advice; all others are of the "
         "steps alone."),
      more);
}

GStrv
qm_prose_comparison_answers (const QmComparison *comparison,
                             const QmComparedAnswer *as_in_paper,
                             const QmComparedAnswer *yardstick)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *about = NULL;

  g_return_val_if_fail (comparison != NULL, NULL);
  g_return_val_if_fail (as_in_paper != NULL && yardstick != NULL, NULL);

  /* Translators: a recommendation, "Buy 8 × …". */
  add_answer (builder, _ ("As in the paper: %s"), as_in_paper);
  about = about_paper (comparison, as_in_paper);
  if (about != NULL)
    g_strv_builder_add (builder, about);
  /* Translators: a recommendation, "Buy 8 × …". */
  add_answer (builder, _ ("By the yardstick: %s"), yardstick);
  qm_prose_add (builder, about_factor (yardstick));
  return g_strv_builder_end (builder);
}
