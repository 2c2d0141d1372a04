/* SPDX-License-Identifier: Apache-2.0 */

/* What rests on a prediction, in words. */

#include "config.h"

#include "pricing/advice/qm-prose-private.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>

static const QmCandidate *
nth (const QmAdvice *advice, int index)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  return index >= 0 && (guint) index < n ? &candidates[index] : NULL;
}

/* (transfer full) */
static char *
format_interval (double low, double high)
{
  g_autofree char *shortest = qm_format_days (low);
  g_autofree char *longest = qm_format_days (high);

  /* Translators: the shortest and the longest time that is predicted. */
  return g_strdup_printf (_ ("%s to %s"), shortest, longest);
}

char *
qm_prose_interval (const QmCandidate *candidate)
{
  g_return_val_if_fail (candidate != NULL, NULL);

  if (!candidate->predicted || !qm_known (candidate->days_low)
      || !qm_known (candidate->days_high))
    return NULL;
  return format_interval (candidate->days_low, candidate->days_high);
}

/* What would be best if the recommended one took as long as it may. */
static char *
describe_change (const QmAdvice *advice,
                 const QmQuestion *question,
                 int index,
                 const QmCandidate *best)
{
  g_autofree char *longest = qm_format_days (best->days_high);
  g_autofree char *what = NULL;
  int would =
      qm_advice_best_if (advice, question->budget_minor,
                         question->deadline_days, index, best->days_high);
  const QmCandidate *other = nth (advice, would);

  if (would == index)
    return g_strdup (_ ("It would be the choice at either end."));
  if (other == NULL)
    /* Translators: training time. */
    return g_strdup_printf (_ ("At %s nothing would be in time."), longest);
  what = qm_prose_candidate (other);
  /* Translators: training time, another machine. */
  return g_strdup_printf (_ ("At %s the choice would be %s."), longest, what);
}

/* The recommended time is predicted. */
static char *
warn_about_best (const QmAdvice *advice,
                 const QmQuestion *question,
                 int index,
                 const QmCandidate *best)
{
  g_autofree char *interval = qm_prose_interval (best);
  g_autofree char *change = NULL;

  if (interval == NULL)
    return NULL;
  change = describe_change (advice, question, index, best);
  /* Translators: "20 days to 30 days", a sentence on what would change. */
  return g_strdup_printf (_ ("The advice rests on a prediction: the training "
                             "may take %s. %s"),
                          interval, change);
}

/* The recommended time is known, but a predicted one might be shorter. */
static char *
warn_about_others (const QmAdvice *advice,
                   const QmQuestion *question,
                   const QmCandidate *best)
{
  const QmCandidate *shortest = NULL;
  g_autofree char *what = NULL;
  g_autofree char *interval = NULL;
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    {
      QmCandidate other = candidates[i];

      if (!other.eligible || !other.predicted || !qm_known (other.days_low))
        continue;
      other.days = other.days_low;
      if (other.days < best->days
          && qm_candidate_within (&other, question->budget_minor,
                                  question->deadline_days)
          && (shortest == NULL || other.days < shortest->days_low))
        shortest = &candidates[i];
    }
  if (shortest == NULL)
    return NULL;
  what = qm_prose_candidate (shortest);
  interval = qm_prose_interval (shortest);
  /* Translators: machine, "20 days to 30 days". */
  return g_strdup_printf (_ ("%s may be faster: it is predicted to take %s."),
                          what, interval);
}

char *
qm_prose_warn_about_prediction (const QmAdvice *advice,
                                const QmQuestion *question,
                                const QmRecommendation *found)
{
  const QmCandidate *best = nth (advice, found->best);

  if (best == NULL)
    return NULL;
  return best->predicted ? warn_about_best (advice, question, found->best, best)
                         : warn_about_others (advice, question, best);
}

static void
add_note (GStrvBuilder *builder, char *note)
{
  g_strv_builder_add (builder, note);
  g_free (note);
}

static void
note_count (GStrvBuilder *builder,
            const QmAdvice *advice,
            const QmQuestion *question)
{
  const char *level = qm_prose_level_name (qm_question_level (question));
  guint count = 0;
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    count += candidates[i].prediction != NULL && qm_known (candidates[i].days);
  if (count == 0)
    return;
  add_note (
      builder,
      g_strdup_printf (
          /* Translators: a number of times, kind of software. */
          ngettext ("%u time is predicted for %s, operator by operator. "
                    "Nine of ten are within their interval.",
                    "%u times are predicted for %s, operator by operator. "
                    "Nine of ten are within their interval.",
                    count),
          count, level));
}

/* The GPU types whose predictions are of that fit, each once; NULL: none. */
static char *
names_of_fit (const QmAdvice *advice, QmFit fit)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].prediction != NULL
        && candidates[i].prediction->forecast.fit == fit
        && g_hash_table_add (seen, (gpointer) candidates[i].gpu))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              candidates[i].gpu->name);
  return names->len > 0 ? g_strdup (names->str) : NULL;
}

/* The most that offloading takes of a host. */
static gint64
most_host_bytes (const QmAdvice *advice)
{
  gint64 most = 0;
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].prediction != NULL)
      most = MAX (most, candidates[i].prediction->forecast.host_bytes);
  return most;
}

static void
note_offloading (GStrvBuilder *builder, const QmAdvice *advice)
{
  g_autofree char *names = names_of_fit (advice, QM_FIT_OFFLOADING);
  g_autofree char *bytes = NULL;

  if (names == NULL)
    return;
  bytes = qm_format_number ((double) most_host_bytes (advice) / (1 << 30), 0);
  /* Translators: names of GPUs, a number of GiB. */
  add_note (builder,
            g_strdup_printf (_ ("%s: some of them are enough only if a part "
                                "is kept in the memory of the host, up to %s "
                                "GiB; their times and prices count that."),
                             names, bytes));
}

/* That nothing is predicted, or not yet. */
static void
note_lack (GStrvBuilder *builder, const QmQuestion *question)
{
  const char *problem = qm_forecasts_get_problem (question->forecasts);

  if (qm_question_level (question) == NULL)
    return;
  if (qm_forecasts_is_pending (question->forecasts))
    add_note (builder, g_strdup (_ ("Times that nobody measured are being "
                                    "predicted.")));
  else if (problem != NULL)
    /* Translators: what went wrong. */
    add_note (builder, g_strdup_printf (_ ("Times that nobody measured are not "
                                           "predicted: %s"),
                                        problem));
}

void
qm_prose_note_predictions (GStrvBuilder *builder,
                           const QmAdvice *advice,
                           const QmQuestion *question)
{
  note_count (builder, advice, question);
  note_offloading (builder, advice);
  note_lack (builder, question);
}
