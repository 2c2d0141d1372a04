/* SPDX-License-Identifier: Apache-2.0 */

/* What rests on a prediction, in words. */

#include "config.h"

#include "pricing/advice/qm-odds.h"
#include "pricing/advice/qm-prose-private.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* Beyond that nothing else is worth a word. */
#define ALMOST_SURE 0.985

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

/* Less than that is no reason to buy a bridge. */
#define WORTH_A_BRIDGE 0.01

/* The share of its time that bridges between cards would save; 0: none. */
static double
saved_by_bridges (const QmPredicted *prediction)
{
  const QmForecast *forecast = &prediction->forecast;
  double days = prediction->slowed ? forecast->half_lanes : forecast->days;
  double saved = 1 - forecast->bridged / days;

  return saved >= WORTH_A_BRIDGE ? saved : 0;
}

/* Where the machine's places are slower than its cards, and whether the time
 * counts it; nothing where that makes no difference.
 * (transfer full) (nullable) */
static char *
describe_places (const QmCandidate *candidate)
{
  const QmPlatform *platform = candidate->platform;
  const QmGpu *gpu = candidate->gpu;

  double share;

  if (platform == NULL)
    return NULL;
  share = qm_carry_share_of_lanes (platform, gpu);
  if (!(share < 1)
      || (share >= 0.5 && !candidate->prediction->slowed
          && qm_known (candidate->prediction->forecast.half_lanes)))
    return NULL;
  if (candidate->prediction->slowed && share >= 0.5)
    /* Translators: generations and lanes. */
    return g_strdup_printf (
        _ ("The machine’s places for cards are slower (PCIe "
           "%.0f.0 x%.0f) than its cards (PCIe %.0f.0 "
           "x%.0f); the time is that of such places."),
        platform->pcie_generation, platform->pcie_lanes, gpu->pcie_generation,
        gpu->pcie_lanes);
  /* Translators: generations and lanes. */
  return g_strdup_printf (_ ("The machine’s places for cards are slower (PCIe "
                             "%.0f.0 x%.0f) than its cards (PCIe %.0f.0 "
                             "x%.0f), which the time does not count."),
                          platform->pcie_generation, platform->pcie_lanes,
                          gpu->pcie_generation, gpu->pcie_lanes);
}

/* (transfer full) (nullable) */
static char *
describe_link (const QmCandidate *candidate)
{
  const QmForecast *forecast = &candidate->prediction->forecast;
  g_autofree char *saved = NULL;

  if (g_strcmp0 (forecast->link, "nvlink") == 0)
    return g_strdup (qm_gpu_is_card (candidate->gpu)
                         ? _ ("Its cards exchange through NVLink bridges, "
                              "which are not in the price.")
                         : _ ("Its GPUs exchange through NVLink."));
  if (g_strcmp0 (forecast->link, "host") != 0
      && g_strcmp0 (forecast->link, "pcie") != 0)
    return NULL;
  if (saved_by_bridges (candidate->prediction) > 0)
    {
      saved = qm_format_percent (saved_by_bridges (candidate->prediction));
      /* Translators: a percentage. */
      return g_strdup_printf (_ ("Its cards exchange through PCIe; NVLink "
                                 "bridges between them, which are not counted, "
                                 "would save %s of the time."),
                              saved);
    }
  return g_strdup (forecast->link[0] == 'p'
                       ? _ ("Its cards exchange through PCIe, from card to "
                            "card.")
                       : _ ("Its cards exchange through PCIe and the memory "
                            "of the host, since none reads that of another."));
}

char *
qm_prose_link (const QmCandidate *candidate)
{
  g_autofree char *link = NULL;
  g_autofree char *places = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  if (candidate->prediction == NULL || candidate->gpus < 2)
    return NULL;
  link = describe_link (candidate);
  places = describe_places (candidate);
  if (link == NULL || places == NULL)
    return link != NULL ? g_steal_pointer (&link) : g_steal_pointer (&places);
  return g_strdup_printf ("%s %s", link, places);
}

/* How sure it is, and what else it may be. */
static char *
describe_odds (const QmAdvice *advice,
               const QmOdds *odds,
               const QmCandidate *chosen,
               const QmPurse *purse)
{
  g_autofree char *best = qm_format_percent (odds->best);
  g_autofree char *share = qm_format_percent (odds->share);
  g_autofree char *what = NULL;
  const QmCandidate *other = qm_advice_candidate (advice, odds->other);

  if (odds->best > ALMOST_SURE)
    return g_strdup (_ ("It is the best choice all the same."));
  if (other == NULL)
    /* Translators: two percentages. */
    return g_strdup_printf (_ ("It is the best choice with a probability of "
                               "%s; with %s nothing is in time."),
                            best, share);
  what = qm_prose_candidate (other);
  if (other->cost_minor < chosen->cost_minor)
    {
      g_autofree char *saved =
          qm_purse_format (purse, chosen->cost_minor - other->cost_minor);

      /* Translators: percentage, another machine, percentage, money. */
      return g_strdup_printf (_ ("It is the best choice with a probability of "
                                 "%s, %s with %s, which saves %s. An hour on "
                                 "one rented GPU of each type, with qm-bench, "
                                 "tells them apart."),
                              best, what, share, saved);
    }
  /* Translators: percentage, another machine, percentage. */
  return g_strdup_printf (_ ("It is the best choice with a probability of %s, "
                             "%s with %s. An hour on one rented GPU of each "
                             "type, with qm-bench, tells them apart."),
                          best, what, share);
}

char *
qm_prose_warn_about_prediction (const QmAdvice *advice,
                                const QmQuestion *question,
                                const QmRecommendation *found)
{
  const QmCandidate *best = qm_advice_candidate (advice, found->best);
  g_autofree char *interval = NULL;
  g_autofree char *sure = NULL;
  QmOdds odds;

  if (best == NULL)
    return NULL;
  odds = qm_odds_draw (advice, question->budget_minor, question->deadline_days,
                       found);
  interval = qm_prose_interval (best);
  if (interval == NULL && odds.best > ALMOST_SURE)
    return NULL;
  sure = describe_odds (advice, &odds, best, &question->purse);
  if (interval == NULL)
    /* Translators: a sentence on what may be better. */
    return g_strdup_printf (_ ("The times of others are predicted. %s"), sure);
  /* Translators: "20 days to 30 days", a sentence on how sure that is. */
  return g_strdup_printf (_ ("The advice rests on a prediction: the training "
                             "may take %s. %s"),
                          interval, sure);
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
  qm_prose_add (
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

char *
qm_prose_gpu_names (const QmAdvice *advice, QmProseIs is)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (is (&candidates[i])
        && g_hash_table_add (seen, (gpointer) candidates[i].gpu))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              candidates[i].gpu->name);
  return names->len > 0 ? g_strdup (names->str) : NULL;
}

static gboolean
is_offloaded (const QmCandidate *candidate)
{
  return candidate->prediction != NULL
         && candidate->prediction->forecast.fit == QM_FIT_OFFLOADING;
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
  g_autofree char *names = qm_prose_gpu_names (advice, is_offloaded);
  g_autofree char *bytes = NULL;

  if (names == NULL)
    return;
  bytes = qm_format_number ((double) most_host_bytes (advice) / (1 << 30), 0);
  /* Translators: names of GPUs, a number of GiB. */
  qm_prose_add (builder, g_strdup_printf (
                             _ ("%s: some of them train sooner, or at all, "
                                "with a part kept in the memory of the host, "
                                "up to %s GiB; their times and prices count "
                                "that."),
                             names, bytes));
}

static gboolean
is_held (const QmCandidate *candidate)
{
  return candidate->prediction != NULL
         && candidate->prediction->held_by != NULL;
}

static void
note_held (GStrvBuilder *builder, const QmAdvice *advice)
{
  g_autofree char *names = qm_prose_gpu_names (advice, is_held);

  if (names != NULL)
    /* Translators: names of GPUs. */
    qm_prose_add (builder,
                  g_strdup_printf (_ ("%s: some times would be shorter than "
                                      "what was measured of GPUs that are "
                                      "better in everything; they count as no "
                                      "shorter."),
                                   names));
}

const char *
qm_prose_problem (const QmQuestion *question, const char *level)
{
  const GArray *runs = question->runs;
  const char *problem = NULL;

  if (runs == NULL || runs->len == 0)
    return question->model != NULL
               ? qm_forecasts_get_problem (question->forecasts, question->model,
                                           level)
               : NULL;
  for (guint i = 0; i < runs->len && problem == NULL; i++)
    problem =
        qm_forecasts_get_problem (question->forecasts,
                                  g_array_index (runs, QmRun, i).model, level);
  return problem;
}

/* That nothing is predicted, or not yet. */
static void
note_lack (GStrvBuilder *builder, const QmQuestion *question)
{
  const char *level = qm_question_level (question);
  const char *problem;

  if (level == NULL)
    {
      if (question->predictions == QM_PREDICTIONS_ALL
          && question->times_of == QM_TIMES_OF_QUARTERMASTER)
        qm_prose_add (builder,
                      g_strdup (_ ("Of Quartermaster only times with "
                                   "optimal settings are predicted.")));
      return;
    }
  problem = qm_prose_problem (question, level);
  if (problem != NULL)
    /* Translators: what went wrong. */
    qm_prose_add (builder,
                  g_strdup_printf (_ ("Times that nobody measured are not "
                                      "predicted: %s"),
                                   problem));
  else if (qm_forecasts_is_pending (question->forecasts))
    qm_prose_add (builder, g_strdup (_ ("Times that nobody measured are being "
                                        "predicted.")));
}

/* What takes no part since nothing is predicted of it. */
static void
note_unpredicted (GStrvBuilder *builder, const QmAdvice *advice)
{
  const GPtrArray *gpus = qm_advice_unpredicted (advice);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < gpus->len; i++)
    {
      const QmGpu *gpu = g_ptr_array_index (gpus, i);

      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", gpu->name);
    }
  if (names->len > 0)
    /* Translators: names of GPUs. */
    qm_prose_add (builder,
                  g_strdup_printf (_ ("%s: nothing is known to predict such "
                                      "trainings there from, and they take no "
                                      "part."),
                                   names->str));
  if (qm_advice_lacks_fp8 (advice))
    qm_prose_add (builder,
                  g_strdup (
                      _ ("How fast products in FP8 are is not known, since "
                         "too few were measured: trainings in FP8 are "
                         "not predicted, and GPUs that none was measured "
                         "on take no part.")));
}

void
qm_prose_note_predictions (GStrvBuilder *builder,
                           const QmAdvice *advice,
                           const QmQuestion *question)
{
  note_count (builder, advice, question);
  note_offloading (builder, advice);
  note_held (builder, advice);
  note_lack (builder, question);
  note_unpredicted (builder, advice);
  qm_prose_note_audit (builder, advice, question);
}
