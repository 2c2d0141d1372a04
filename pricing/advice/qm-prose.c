/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose-private.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>

/* Prices older than this are worth a warning: street prices of GPUs have moved
 * by half within a quarter. */
#define STALE_DAYS 90

char *
qm_prose_candidate (const QmCandidate *candidate)
{
  g_return_val_if_fail (candidate != NULL, NULL);

  if (candidate->use != NULL)
    /* Translators: GPUs, name of the GPU; as a name. */
    return g_strdup_printf (_ ("%d × %s to use"), candidate->gpus,
                            candidate->gpu->name);
  if (candidate->here)
    /* Translators: GPUs, name of the GPU; as a name. */
    return g_strdup_printf (_ ("This machine (%d × %s)"), candidate->gpus,
                            candidate->gpu->name);
  if (qm_candidate_is_whole (candidate) && candidate->machines == 1)
    /* Translators: GPUs, name of the GPU, "Delta Computers, quote Q-17". */
    return g_strdup_printf (_ ("%d × %s (%s)"), candidate->gpus,
                            candidate->gpu->name,
                            candidate->machine_offer->price.source);
  if (candidate->machines > 1)
    /* Translators: machines, GPUs in each, name of the GPU. */
    return g_strdup_printf (ngettext ("%d machine with %d × %s",
                                      "%d machines with %d × %s each",
                                      (gulong) candidate->machines),
                            candidate->machines, candidate->gpus,
                            candidate->gpu->name);
  return g_strdup_printf ("%d × %s", candidate->gpus, candidate->gpu->name);
}

char *
qm_prose_use (const QmUse *use, const QmGpu *gpu)
{
  g_autofree char *what = NULL;
  g_autofree char *paid = NULL;
  g_autofree char *amount = NULL;
  g_autofree char *hours = NULL;

  g_return_val_if_fail (use != NULL && gpu != NULL, NULL);

  what = g_strdup_printf ("%d × %s", use->gpus, gpu->name);
  amount = qm_format_number ((double) use->hour_micros / QM_MICROS_PER_UNIT, 6);
  paid =
      use->hour_micros > 0
          /* Translators: "4 × A100", a number of USD. */
          ? g_strdup_printf (_ ("%s at %s USD an hour of each"), what, amount)
          : g_strdup (what);
  if (!qm_known (use->walltime_hours))
    return g_steal_pointer (&paid);
  hours = qm_format_number (use->walltime_hours, 2);
  /* Translators: "4 × A100", perhaps with what they cost, a number of hours. */
  return g_strdup_printf (_ ("%s, %s h a job"), paid, hours);
}

/* Of a whole machine what it is and whose. */
static char *
describe_whole (const QmCandidate *candidate)
{
  const QmOffer *offer = candidate->machine_offer;
  const char *what = offer->description;
  g_autofree char *one = NULL;

  /* Translators: what is offered, "Delta Computers, quote Q-17". */
  one = *what != '\0'
            ? g_strdup_printf (_ ("%s (%s)"), what, offer->price.source)
            : g_strdup (offer->price.source);
  if (candidate->machines > 1)
    return g_strdup_printf ("%d × %s", candidate->machines, one);
  return g_steal_pointer (&one);
}

char *
qm_prose_machine (const QmCandidate *candidate)
{
  const char *name;

  g_return_val_if_fail (candidate != NULL, NULL);

  if (candidate->use != NULL)
    return g_strdup (_ ("is not to be bought"));
  if (candidate->here)
    return g_strdup (_ ("is here already"));
  if (qm_candidate_is_whole (candidate)
      && candidate->carry.problem == QM_CARRY_NONE)
    return describe_whole (candidate);
  if (candidate->carry.problem != QM_CARRY_NONE)
    return qm_prose_not_carried (candidate);
  name = qm_candidate_machine_name (candidate);
  if (candidate->machines > 1)
    return g_strdup_printf ("%d × %s", candidate->machines, name);
  return g_strdup (name);
}

/* What is trained, as the object of a sentence. */
static char *
training_of (const QmQuestion *question, const QmAdvice *advice)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  if (qm_advice_is_portfolio (advice))
    return g_strdup (_ ("a year’s runs"));
  for (guint i = 0; i < n; i++)
    if (candidates[i].measurement != NULL)
      return g_strdup (candidates[i].measurement->model->name);
  return g_strdup (question->model);
}

/* "$40,000", with what is to be known of the prices that it is made of; those
 * of the paper are known to be its. */
static char *
cost_in_words (const QmCandidate *candidate, const QmQuestion *question)
{
  g_autofree char *cost =
      qm_purse_format (&question->purse, candidate->cost_minor);
  g_autofree char *known =
      question->as_in_paper
          ? NULL
          : qm_prose_price_quality (candidate, question->today);

  if (known == NULL)
    return g_steal_pointer (&cost);
  /* Translators: an amount, "used", "2 years old". */
  return g_strdup_printf (_ ("%s (%s)"), cost, known);
}

/* Whether there may yet be a machine where none is, since times are still being
 * predicted: not where all are filtered out. */
static gboolean
is_early (const QmQuestion *question, const QmRecommendation *recommendation)
{
  return recommendation->outcome == QM_OUTCOME_NOTHING && question->kinds != 0
         && qm_forecasts_is_pending (question->forecasts);
}

char *
qm_prose_headline (const QmAdvice *advice,
                   const QmQuestion *question,
                   const QmRecommendation *recommendation)
{
  const QmCandidate *best;
  g_autofree char *what = NULL;
  g_autofree char *cost = NULL;
  g_autofree char *days = NULL;

  g_return_val_if_fail (advice != NULL && question != NULL, NULL);
  g_return_val_if_fail (recommendation != NULL, NULL);

  if (is_early (question, recommendation))
    return g_strdup (_ ("The answer is being computed"));
  switch (recommendation->outcome)
    {
    case QM_OUTCOME_FOUND:
      best = qm_advice_candidate (advice, recommendation->best);
      g_return_val_if_fail (best != NULL, NULL);
      what = qm_prose_candidate (best);
      cost = cost_in_words (best, question);
      days = qm_format_days (best->days);
      if (best->predicted)
        {
          g_autofree char *known = g_steal_pointer (&days);

          /* Translators: training time. */
          days = g_strdup_printf (_ ("%s (predicted)"), known);
        }
      if (qm_advice_counts_ownership (advice))
        /* Translators: machine, what owning it costs, training time. */
        return g_strdup_printf (_ ("Buy %s: %s in all, %s"), what, cost, days);
      /* Translators: machine, overall cost, training time. */
      return g_strdup_printf (_ ("Buy %s: %s, %s"), what, cost, days);
    case QM_OUTCOME_OVER_BUDGET:
      if (qm_advice_candidate (advice, recommendation->outlived) != NULL)
        return g_strdup (
            _ ("No machine within the budget finishes in its lifetime"));
      return g_strdup (_ ("Nothing within the budget will do"));
    case QM_OUTCOME_TOO_LATE:
      if (qm_advice_candidate (advice, recommendation->outlived) != NULL)
        return g_strdup (_ ("No machine finishes in its lifetime"));
      return g_strdup (_ ("Nothing is fast enough"));
    case QM_OUTCOME_NOTHING:
    default:
      return g_strdup (_ ("No machine is left to choose from"));
    }
}

/* Whether the filters may keep something out that would be better. */
static gboolean
is_filtered (const QmQuestion *question)
{
  return question->gpus != NULL || question->counts != NULL
         || question->kinds != QM_KINDS_ALL
         || question->purse.machine_least >= 0
         || question->purse.machine_most >= 0;
}

/* "60 days", "42 days a run", or NULL without a deadline. */
static char *
deadline_of (const QmQuestion *question)
{
  gboolean year = qm_known (question->deadline_days);
  gboolean run = qm_known (question->run_deadline_days);
  g_autofree char *days = NULL;
  g_autofree char *each = NULL;

  if (year)
    days = qm_format_days (question->deadline_days);
  if (run)
    each = qm_format_days (question->run_deadline_days);
  if (!qm_question_is_portfolio (question) && run)
    return year && question->deadline_days < question->run_deadline_days
               ? g_steal_pointer (&days)
               : g_steal_pointer (&each);
  if (year && run)
    /* Translators: two times. */
    return g_strdup_printf (_ ("%s a run, %s for all of them"), each, days);
  if (run)
    /* Translators: a time. */
    return g_strdup_printf (_ ("%s a run"), each);
  return g_steal_pointer (&days);
}

/* "within $40,000 and 60 days", or NULL without limits. */
static char *
limits_of (const QmQuestion *question)
{
  g_autofree char *budget = NULL;
  g_autofree char *deadline = deadline_of (question);
  gboolean filtered = is_filtered (question);

  if (question->budget_minor >= 0)
    budget = qm_purse_format (&question->purse, question->budget_minor);
  if (budget != NULL && deadline != NULL)
    /* Translators: budget, deadline. */
    return g_strdup_printf (filtered ? _ ("within %s, %s and the filters")
                                     : _ ("within %s and %s"),
                            budget, deadline);
  if (budget != NULL || deadline != NULL)
    /* Translators: a budget or a deadline. */
    return g_strdup_printf (filtered ? _ ("within %s and the filters")
                                     : _ ("within %s"),
                            budget != NULL ? budget : deadline);
  return filtered ? g_strdup (_ ("within the filters")) : NULL;
}

/* What the fastest one would gain, and why it is not advised. */
static char *
describe_sooner (const QmQuestion *question,
                 const QmCandidate *best,
                 const QmCandidate *sooner,
                 const char *slack)
{
  g_autofree char *what = qm_prose_candidate (sooner);
  g_autofree char *days = qm_format_days (best->days - sooner->days);
  g_autofree char *share = qm_format_percent (1 - sooner->days / best->days);
  g_autofree char *cost =
      qm_purse_format (&question->purse, sooner->cost_minor - best->cost_minor);

  /* Translators: another machine, a time, a percentage, an amount, a
   * percentage. */
  return g_strdup_printf (_ ("%s would save %s (%s) for %s more; times within "
                             "%s of the shortest count as equal, and of these "
                             "machines a training costs the least on this "
                             "one."),
                          what, days, share, cost, slack);
}

/* That nothing is sooner by more than the slack. */
static char *
reason_close (const QmAdvice *advice,
              const QmQuestion *question,
              const QmCandidate *best,
              const QmCandidate *sooner)
{
  g_autofree char *training = training_of (question, advice);
  g_autofree char *limits = limits_of (question);
  g_autofree char *slack = qm_format_percent (qm_advice_get_slack (advice));
  g_autofree char *gain = describe_sooner (question, best, sooner, slack);
  g_autofree char *nothing = NULL;

  nothing =
      limits != NULL
          /* Translators: the limits ("within …"), what is trained, a
           * percentage. */
          ? g_strdup_printf (_ ("Nothing else %s trains %s sooner by more "
                                "than %s."),
                             limits, training, slack)
          /* Translators: what is trained, a percentage. */
          : g_strdup_printf (_ ("Nothing else trains %s sooner by more than "
                                "%s, at any price."),
                             training, slack);
  return g_strdup_printf ("%s %s", nothing, gain);
}

static char *
reason_found (const QmAdvice *advice,
              const QmQuestion *question,
              const QmRecommendation *recommendation)
{
  const QmCandidate *best = qm_advice_candidate (advice, recommendation->best);
  const QmCandidate *second =
      qm_advice_candidate (advice, recommendation->runner_up);
  const QmCandidate *sooner =
      qm_advice_candidate (advice, recommendation->sooner);
  g_autofree char *training = training_of (question, advice);
  g_autofree char *limits = limits_of (question);
  g_autofree char *other = NULL;

  if (second == NULL && qm_advice_left_out (advice)->len > 0)
    /* Translators: name of software. */
    return g_strdup_printf (
        _ ("It is the only machine with a known time of %s."),
        qm_prose_times_of_name (question->times_of));
  if (second == NULL)
    {
      if (limits != NULL)
        /* Translators: the limits ("within …"), what is trained. */
        return g_strdup_printf (_ ("It is the only machine %s that trains %s."),
                                limits, training);
      return g_strdup_printf (_ ("It is the only machine that trains %s."),
                              training);
    }
  if (sooner != NULL)
    return reason_close (advice, question, best, sooner);
  if (second->days == best->days)
    {
      other = qm_prose_candidate (second);
      if (second->cost_minor > best->cost_minor)
        /* Translators: what is trained, another machine. */
        return g_strdup_printf (_ ("Nothing affordable trains %s sooner; %s "
                                   "takes as long and costs more."),
                                training, other);
      return g_strdup_printf (_ ("Nothing affordable trains %s sooner; %s "
                                 "takes as long and costs as much."),
                              training, other);
    }
  if (limits != NULL)
    /* Translators: the limits ("within …"), what is trained. */
    return g_strdup_printf (_ ("Nothing else %s trains %s sooner."), limits,
                            training);
  return g_strdup_printf (_ ("Nothing else trains %s sooner, at any price."),
                          training);
}

#define N_SENTENCES 4

/* Sentences of which any may be NULL; NULL of none. */
static char *
join_sentences (const char *const sentences[N_SENTENCES])
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < N_SENTENCES; i++)
    if (sentences[i] != NULL)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "",
                              sentences[i]);
  return g_string_free (text, text->len == 0);
}

char *
qm_prose_about_machine (const QmCandidate *candidate, const QmPurse *purse)
{
  g_autofree char *carrier = NULL;
  g_autofree char *link = NULL;
  g_autofree char *interval = NULL;
  g_autofree char *basis = NULL;

  g_return_val_if_fail (candidate != NULL, NULL);

  carrier = qm_prose_carrier (candidate);
  link = qm_prose_link (candidate);
  interval = qm_prose_cost_interval (candidate, purse);
  basis = qm_prose_price_basis (candidate);
  return join_sentences (
      (const char *[N_SENTENCES]){ carrier, link, interval, basis });
}

char *
qm_prose_why (const QmAdvice *advice,
              const QmQuestion *question,
              const QmRecommendation *recommendation)
{
  const QmCandidate *other;
  g_autofree char *outlived = NULL;
  g_autofree char *what = NULL;
  g_autofree char *cost = NULL;
  g_autofree char *days = NULL;

  g_return_val_if_fail (advice != NULL && question != NULL, NULL);
  g_return_val_if_fail (recommendation != NULL, NULL);

  if (recommendation->outcome == QM_OUTCOME_FOUND)
    return reason_found (advice, question, recommendation);
  if (is_early (question, recommendation))
    return g_strdup (_ ("Times that nobody measured are being predicted, and "
                        "without them nothing can be recommended yet."));
  other = qm_advice_candidate (advice, recommendation->would_do);
  if ((recommendation->outcome == QM_OUTCOME_NOTHING || other == NULL)
      && qm_advice_lacks_fp8 (advice))
    return g_strdup (
        _ ("No candidate has a known price and a training time that may be "
           "believed, since trainings in FP8 are not predicted: measure this "
           "one with qm-bench, or ask about a recipe in bf16."));
  if (recommendation->outcome == QM_OUTCOME_NOTHING || other == NULL)
    return g_strdup (
        _ ("No candidate has a known price and a training time that may be "
           "believed: widen the filters, or ask for the times of "
           "other software or for predictions."));
  outlived = qm_prose_why_outlived (advice, question, recommendation);
  if (outlived != NULL)
    return g_steal_pointer (&outlived);
  what = qm_prose_candidate (other);
  cost = qm_purse_format (&question->purse, other->cost_minor);
  days = qm_format_days (other->days);
  if (recommendation->outcome == QM_OUTCOME_TOO_LATE)
    /* Translators: machine, training time, overall cost. */
    return g_strdup_printf (_ ("The fastest is %s: it takes %s and costs %s."),
                            what, days, cost);
  /* Translators: machine, overall cost, training time. */
  return g_strdup_printf (
      _ ("The cheapest that would do is %s: it costs %s and takes %s."), what,
      cost, days);
}

char *
qm_prose_reason (const QmAdvice *advice,
                 const QmQuestion *question,
                 const QmRecommendation *recommendation)
{
  g_autofree char *why = qm_prose_why (advice, question, recommendation);
  g_autofree char *machine = NULL;

  g_return_val_if_fail (why != NULL, NULL);

  if (recommendation->outcome == QM_OUTCOME_FOUND)
    machine = qm_prose_about_machine (
        qm_advice_candidate (advice, recommendation->best), &question->purse);
  return join_sentences ((const char *[N_SENTENCES]){ why, machine });
}

static char *
alternative_runner_up (const QmCandidate *other, const QmPurse *purse)
{
  g_autofree char *what = qm_prose_candidate (other);
  g_autofree char *cost = qm_purse_format (purse, other->cost_minor);
  g_autofree char *days = qm_format_days (other->days);

  /* Translators: machine, overall cost, training time. */
  return g_strdup_printf (_ ("Runner-up: %s costs %s and takes %s."), what,
                          cost, days);
}

static char *
alternative_faster (const QmCandidate *best,
                    const QmCandidate *other,
                    const QmPurse *purse)
{
  g_autofree char *what = qm_prose_candidate (other);
  g_autofree char *days = qm_format_days (best->days - other->days);
  g_autofree char *cost = NULL;

  if (other->cost_minor <= best->cost_minor)
    return NULL;
  cost = qm_purse_format (purse, other->cost_minor - best->cost_minor);
  /* Translators: machine, difference in cost, difference in time. */
  return g_strdup_printf (_ ("Next faster: %s costs %s more and saves %s."),
                          what, cost, days);
}

static char *
alternative_cheaper (const QmCandidate *best,
                     const QmCandidate *other,
                     const QmPurse *purse)
{
  g_autofree char *what = qm_prose_candidate (other);
  g_autofree char *cost =
      qm_purse_format (purse, best->cost_minor - other->cost_minor);
  g_autofree char *days = qm_format_days (other->days - best->days);

  if (other->late)
    {
      g_autofree char *longest = qm_format_days (other->longest_days);

      if (other->outlived)
        /* Translators: machine, difference in cost, time of a run. */
        return g_strdup_printf (_ ("Next cheaper: %s saves %s, but a run takes "
                                   "%s, longer than the machine is to serve."),
                                what, cost, longest);
      /* Translators: machine, difference in cost, difference in time, time of
       * a run. */
      return g_strdup_printf (_ ("Next cheaper: %s saves %s and takes %s "
                                 "longer, but a run takes %s."),
                              what, cost, days, longest);
    }
  /* Translators: machine, difference in cost, difference in time. */
  return g_strdup_printf (_ ("Next cheaper: %s saves %s and takes %s longer."),
                          what, cost, days);
}

/* Whether this machine `a` is more of an alternative than `b`. */
static gboolean
is_better_here (const QmCandidate *a, const QmCandidate *b)
{
  if (a->insufficient != b->insufficient)
    return !a->insufficient;
  return a->days < b->days;
}

/* This machine, or of GPUs to use, the fastest that is sufficient; or -1. */
static int
find_here (const QmAdvice *advice, gboolean use)
{
  int found = -1;
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].here && (candidates[i].use != NULL) == use
        && qm_known (candidates[i].days)
        && (found < 0 || is_better_here (&candidates[i], &candidates[found])))
      found = (int) i;
  return found;
}

/* Wait, or buy. */
static char *
alternative_here (const QmCandidate *best, const QmCandidate *here)
{
  g_autofree char *what = qm_prose_candidate (here);
  g_autofree char *days = qm_format_days (here->days);
  g_autofree char *saved = NULL;

  if (here->insufficient && here->days > QM_DAYS_PER_YEAR)
    /* Translators: "This machine (1 × …)", a time of more than a year. */
    return g_strdup_printf (_ ("%s is paid for, but not enough: a year’s runs "
                               "take it %s."),
                            what, days);
  if (here->insufficient)
    /* Translators: "This machine (1 × …)". */
    return g_strdup_printf (_ ("%s is paid for, but not enough: there is one, "
                               "and more trainings are to run at once."),
                            what);
  if (best == NULL)
    /* Translators: "This machine (1 × …)", training time. */
    return g_strdup_printf (_ ("Buy nothing: %s is paid for and takes %s."),
                            what, days);
  if (here->days <= best->days)
    /* Translators: "This machine (1 × …)", training time. */
    return g_strdup_printf (_ ("Buy nothing: %s takes %s, no longer than what "
                               "could be bought."),
                            what, days);
  saved = qm_format_days (here->days - best->days);
  /* Translators: "This machine (1 × …)", training time, difference in time. */
  return g_strdup_printf (_ ("Wait: %s is paid for and takes %s, %s longer."),
                          what, days, saved);
}

/* " in 12 jobs", or nothing. */
static char *
jobs_of (const QmCandidate *candidate)
{
  int jobs = qm_candidate_jobs (candidate);

  if (jobs <= 1)
    return g_strdup ("");
  /* Translators: after a time: "12 days in 12 jobs". */
  return g_strdup_printf (ngettext (" in %d job", " in %d jobs", (gulong) jobs),
                          jobs);
}

/* GPUs that one has or is allocated. */
static char *
alternative_use (const QmCandidate *use, const QmPurse *purse)
{
  g_autofree char *what = qm_prose_candidate (use);
  g_autofree char *days = qm_format_days (use->days);
  g_autofree char *jobs = jobs_of (use);
  g_autofree char *cost = NULL;

  if (use->insufficient)
    /* Translators: "4 × A100 to use", a time, perhaps " in 12 jobs". */
    return g_strdup_printf (_ ("%s are not enough: the runs take them %s%s."),
                            what, days, jobs);
  if (use->cost_minor <= 0)
    /* Translators: "4 × A100 to use", a time, perhaps " in 12 jobs". */
    return g_strdup_printf (_ ("Buy nothing: %s take %s%s."), what, days, jobs);
  cost = qm_purse_format (purse, use->cost_minor);
  /* Translators: "4 × A100 to use", an amount, a time, perhaps " in 12
   * jobs". */
  return g_strdup_printf (_ ("Buy nothing: %s cost %s and take %s%s."), what,
                          cost, days, jobs);
}

/* Sentences and which candidates they are about. */
typedef struct
{
  GPtrArray *sentences;
  int *indices; /* NULL: nobody asks */
} Alternatives;

/* Takes the sentence; NULL is none. */
static void
add_alternative (Alternatives *alternatives, char *sentence, int index)
{
  if (sentence == NULL)
    return;
  if (alternatives->indices != NULL)
    alternatives->indices[alternatives->sentences->len] = index;
  g_ptr_array_add (alternatives->sentences, sentence);
}

GStrv
qm_prose_alternatives (const QmAdvice *advice,
                       const QmRecommendation *recommendation,
                       int indices[QM_PROSE_ALTERNATIVES])
{
  Alternatives found = { NULL, indices };
  const QmPurse *purse = qm_advice_purse (advice);
  const QmCandidate *best, *other;
  int here;

  g_return_val_if_fail (advice != NULL && recommendation != NULL, NULL);

  found.sentences = g_ptr_array_new ();
  best = qm_advice_candidate (advice, recommendation->best);
  if (best != NULL)
    {
      if ((other = qm_advice_candidate (advice, recommendation->runner_up))
          != NULL)
        add_alternative (&found, alternative_runner_up (other, purse),
                         recommendation->runner_up);
      if ((other = qm_advice_candidate (advice, recommendation->faster))
          != NULL)
        add_alternative (&found, alternative_faster (best, other, purse),
                         recommendation->faster);
      if ((other = qm_advice_candidate (advice, recommendation->cheaper))
          != NULL)
        add_alternative (&found, alternative_cheaper (best, other, purse),
                         recommendation->cheaper);
    }
  here = find_here (advice, TRUE);
  other = qm_advice_candidate (advice, here);
  if (other != NULL)
    add_alternative (&found, alternative_use (other, purse), here);
  here = find_here (advice, FALSE);
  other = qm_advice_candidate (advice, here);
  if (other != NULL)
    add_alternative (&found, alternative_here (best, other), here);
  g_ptr_array_add (found.sentences, NULL);
  return (GStrv) g_ptr_array_free (found.sentences, FALSE);
}

static char *
warn_about_form (const QmCandidate *best)
{
  if (!qm_gpu_is_mezzanine (best->gpu) || best->machine == NULL)
    return NULL;
  /* Translators: name of a GPU, its form factor. */
  return g_strdup_printf (
      _ ("The %s (%s) is not a plug-in card: ask for a quote of the whole "
         "server, the price of this machine does not include its baseboard."),
      best->gpu->name, best->gpu->form_factor);
}

static char *
warn_about_prices (const QmCandidate *best, QmDate today)
{
  const QmPrice *prices[] = { best->gpu_price, best->machine_price,
                              best->memory_price };
  const QmPrice *oldest = NULL;
  g_autofree char *date = NULL;
  g_autofree char *age = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (prices); i++)
    if (prices[i] != NULL
        && (oldest == NULL
            || qm_date_compare (prices[i]->observed_on, oldest->observed_on)
                   < 0))
      oldest = prices[i];
  if (oldest == NULL)
    return NULL;
  if (oldest->observed_on.year == 0)
    return g_strdup (_ ("A price is undated: ask for a quote."));
  if (qm_date_days_between (oldest->observed_on, today) <= STALE_DAYS)
    return NULL;
  date = qm_format_date (oldest->observed_on);
  age = qm_format_age (oldest->observed_on, today);
  for (guint i = 0; i < G_N_ELEMENTS (prices); i++)
    if (prices[i] != NULL
        && qm_date_compare (prices[i]->observed_on, oldest->observed_on) != 0)
      /* Translators: what is priced, a date, "2 years old". */
      return g_strdup_printf (
          _ ("The price of the %s dates from %s (%s): ask for a quote."),
          oldest == best->gpu_price      ? best->gpu->name
          : oldest == best->memory_price ? _ ("memory")
                                         : qm_candidate_machine_name (best),
          date, age);
  /* Translators: a date, "2 years old". */
  return g_strdup_printf (_ ("Prices date from %s (%s): ask for a quote."),
                          date, age);
}

/* What is to be known of a quote that a price is of. */
static char *
warn_about_offer (const QmOffer *offer)
{
  g_autofree char *date = NULL;

  if (offer == NULL)
    return NULL;
  if (!offer->holds)
    /* Translators: "Delta Computers, quote Q-17". */
    return g_strdup_printf (_ ("%s does not hold today: ask for a new one."),
                            offer->price.source);
  if (offer->taxed)
    /* Translators: "Delta Computers, quote Q-17". */
    return g_strdup_printf (_ ("%s contains tax, but not how much."),
                            offer->price.source);
  if (offer->tax_assumed > 0)
    {
      g_autofree char *percent = qm_format_percentage (offer->tax_assumed, 2);

      /* Translators: "Delta Computers, quote Q-17", a percentage. */
      return g_strdup_printf (_ ("%s contains tax, but not how much: yours of "
                                 "%s was taken off."),
                              offer->price.source, percent);
    }
  if (!offer->rate.stale)
    return NULL;
  date = qm_format_date (offer->rate.date);
  /* Translators: "Delta Computers, quote Q-17", a currency, a date. */
  return g_strdup_printf (_ ("%s is in %s, converted at the rate of %s: renew "
                             "the exchange rates."),
                          offer->price.source, offer->currency, date);
}

void
qm_prose_add (GStrvBuilder *builder, char *sentence)
{
  if (sentence != NULL)
    g_strv_builder_add (builder, sentence);
  g_free (sentence);
}

GStrv
qm_prose_warnings (const QmAdvice *advice,
                   const QmQuestion *question,
                   const QmRecommendation *recommendation,
                   QmDate today)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const QmCandidate *subject, *denied;

  g_return_val_if_fail (advice != NULL && question != NULL, NULL);
  g_return_val_if_fail (recommendation != NULL, NULL);

  subject = qm_advice_candidate (advice, recommendation->best >= 0
                                             ? recommendation->best
                                             : recommendation->would_do);
  denied = qm_advice_candidate (advice, recommendation->denied);
  qm_prose_add (builder, qm_prose_warn_about_prediction (advice, question,
                                                         recommendation));
  if (subject != NULL)
    {
      qm_prose_add (builder, qm_prose_warn_about_lifetime (subject, question));
      qm_prose_add (builder, qm_prose_warn_about_time (subject, question));
    }
  if (denied != NULL)
    qm_prose_add (builder, qm_prose_warn_about_denied (denied, question));
  if (subject != NULL)
    {
      qm_prose_add (builder, warn_about_form (subject));
      qm_prose_add (builder, warn_about_prices (subject, today));
      qm_prose_add (builder, warn_about_offer (subject->gpu_offer));
      qm_prose_add (builder, warn_about_offer (subject->machine_offer));
    }
  return g_strv_builder_end (builder);
}
