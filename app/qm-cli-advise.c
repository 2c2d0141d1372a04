/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-advise.h"
#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-matrix.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-ownership.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-rent.h"
#include "app/qm-cli-table.h"
#include "app/qm-cli.h"
#include "pricing/advice/qm-odds.h"
#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose-rent.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* A question and its answer. */
typedef struct
{
  const QmCatalog *catalog;
  const QmQuestion *question;
  const QmAdvice *advice;
  const QmCandidate *candidates;
  guint n_candidates;
  QmRecommendation recommendation;
  QmDate today;
  const QmOwnershipSettings *ownership; /* NULL: was not asked for */
  const GPtrArray *troubles;            /* with quotes; NULL: none */
} Answer;

/* The one to be bought, or where nothing fits, the one that would do; NULL. */
static const QmCandidate *
chosen (const Answer *answer)
{
  int index = answer->recommendation.best >= 0
                  ? answer->recommendation.best
                  : answer->recommendation.would_do;

  return index >= 0 ? &answer->candidates[index] : NULL;
}

/* --- for programs --- */

static json_t *
candidate_json (const Answer *answer, int index)
{
  json_t *object;

  if (index < 0)
    return json_null ();
  object = qm_cli_json_candidate (&answer->candidates[index], answer->question,
                                  answer->today);
  qm_cli_matrix_add (object, answer->advice, answer->question,
                     &answer->candidates[index]);
  return object;
}

static const char *
outcome_name (QmOutcome outcome)
{
  switch (outcome)
    {
    case QM_OUTCOME_FOUND:
      return "found";
    case QM_OUTCOME_OVER_BUDGET:
      return "over_budget";
    case QM_OUTCOME_TOO_LATE:
      return "too_late";
    case QM_OUTCOME_NOTHING:
    default:
      return "nothing";
    }
}

/* That the recommended one is the best; NaN where there is none. */
static double
probability_of (const Answer *answer)
{
  const QmRecommendation *found = &answer->recommendation;

  return found->best >= 0
             ? qm_odds_draw (answer->advice, answer->question->budget_minor,
                             answer->question->deadline_days, found)
                   .best
             : NAN;
}

/* What a year's runs come to on what is chosen.  (transfer full) */
static GStrv
plan_of (const Answer *answer)
{
  const QmCandidate *candidate = chosen (answer);

  return candidate != NULL
             ? qm_prose_plan (answer->advice, answer->question, candidate)
             : g_new0 (char *, 1);
}

/* What renting would cost instead.  (transfer full) */
static GStrv
rent_of (const Answer *answer)
{
  const QmCandidate *candidate = chosen (answer);

  return candidate != NULL ? qm_prose_rent (answer->catalog, answer->advice,
                                            answer->question, candidate)
                           : g_new0 (char *, 1);
}

/* Adds what was found out to the recommended candidate, or where nothing fits
 * to an empty object. */
static void
add_outcome (const Answer *answer, json_t *object)
{
  static const char *const others[] = { "sooner",  "runner_up", "faster",
                                        "cheaper", "would_do",  "outlived",
                                        "denied" };
  const QmRecommendation *found = &answer->recommendation;
  const int indices[] = { found->sooner,  found->runner_up, found->faster,
                          found->cheaper, found->would_do,  found->outlived,
                          found->denied };
  g_autofree char *headline =
      qm_prose_headline (answer->advice, answer->question, found);
  g_autofree char *reason =
      qm_prose_reason (answer->advice, answer->question, found);
  g_auto (GStrv) alternatives =
      qm_prose_alternatives (answer->advice, found, NULL);
  g_auto (GStrv) warnings = qm_prose_warnings (answer->advice, answer->question,
                                               found, answer->today);
  g_auto (GStrv) notes = qm_prose_notes (answer->advice, answer->question);
  g_auto (GStrv) plan = plan_of (answer);

  json_object_set_new (object, "outcome",
                       json_string (outcome_name (found->outcome)));
  json_object_set_new (object, "headline", qm_cli_json_text (headline));
  json_object_set_new (object, "reason", qm_cli_json_text (reason));
  json_object_set_new (object, "plan",
                       qm_cli_json_strings ((const char *const *) plan));
  json_object_set_new (object, "alternatives",
                       qm_cli_json_strings (
                           (const char *const *) alternatives));
  json_object_set_new (object, "warnings",
                       qm_cli_json_strings ((const char *const *) warnings));
  json_object_set_new (object, "notes",
                       qm_cli_json_strings ((const char *const *) notes));
  json_object_set_new (object, "probability",
                       qm_cli_json_number (probability_of (answer), 3));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    json_object_set_new (object, others[i],
                         candidate_json (answer, indices[i]));
}

/* What the user's quotes were good for. */
static json_t *
quotes_json (const QmAdvice *advice, const QmQuestion *question)
{
  g_auto (GStrv) untimed = qm_prose_untimed_quotes (advice, question);
  json_t *object = json_object ();
  guint n;

  qm_offers_list (question->offers, &n);
  json_object_set_new (object, "offers", json_integer (n));
  json_object_set_new (object, "expired_count",
                       json_boolean (question->expired_offers));
  json_object_set_new (object, "without_times",
                       qm_cli_json_strings ((const char *const *) untimed));
  json_object_set_new (object, "left_out",
                       qm_cli_json_strings (
                           qm_offers_left_out (question->offers)));
  return object;
}

/* What was measured, but with other software than was asked for. */
static json_t *
left_out_json (const QmAdvice *advice)
{
  const GPtrArray *times = qm_advice_left_out (advice);
  json_t *array = json_array ();

  for (guint i = 0; i < times->len; i++)
    {
      const QmMeasurement *time = g_ptr_array_index (times, i);
      json_t *object = json_object ();

      json_object_set_new (object, "model", qm_cli_json_text (time->model->id));
      json_object_set_new (object, "gpu", qm_cli_json_text (time->gpu->id));
      json_object_set_new (object, "gpus", json_integer (time->gpus));
      json_object_set_new (object, "engine",
                           json_string (qm_engine_name (time->engine)));
      json_object_set_new (object, "why", json_string ("other-software"));
      json_array_append_new (array, object);
    }
  return array;
}

/* What the catalog left out, and what is not taken for this machine. */
static void
add_problems (json_t *root, const Answer *answer)
{
  json_t *more;
  QmError notice;

  qm_cli_json_add_problems (root, answer->catalog);
  if (!qm_cli_question_unsaid (answer->question, &notice))
    return;
  more = qm_cli_json_errors (&notice, 1);
  json_array_extend (json_object_get (root, "notices"), more);
  json_decref (more);
}

static json_t *
answer_json (const Answer *answer)
{
  json_t *root = json_object ();
  json_t *frontier = json_array ();
  json_t *candidates = json_array ();
  gboolean fits = answer->recommendation.best >= 0;
  json_t *outcome = fits ? candidate_json (answer, answer->recommendation.best)
                         : json_object ();
  guint n;
  const int *indices = qm_advice_frontier (answer->advice, &n);

  add_outcome (answer, outcome);
  for (guint i = 0; i < n; i++)
    json_array_append_new (frontier, candidate_json (answer, indices[i]));
  for (guint i = 0; i < answer->n_candidates; i++)
    json_array_append_new (candidates, candidate_json (answer, (int) i));

  json_object_set_new (root, "question",
                       qm_cli_json_question (answer->question));
  json_object_set_new (root, "recommendation", fits ? outcome : json_null ());
  json_object_set_new (root, "nothing_fits", fits ? json_null () : outcome);
  json_object_set_new (root, "frontier", frontier);
  json_object_set_new (root, "candidates", candidates);
  json_object_set_new (root, "left_out", left_out_json (answer->advice));
  json_object_set_new (root, "renting",
                       chosen (answer) != NULL
                           ? qm_cli_rent_json (answer->catalog, answer->advice,
                                               answer->question,
                                               chosen (answer))
                           : json_null ());
  if (answer->question->offers != NULL)
    json_object_set_new (root, "quotes",
                         quotes_json (answer->advice, answer->question));
  if (answer->ownership != NULL)
    json_object_set_new (root, "ownership",
                         chosen (answer) != NULL
                             ? qm_cli_ownership_json (answer->ownership,
                                                      answer->catalog,
                                                      chosen (answer))
                             : json_null ());
  add_problems (root, answer);
  qm_cli_json_add_troubles (root, answer->troubles);
  return root;
}

static gboolean
write_as_json (const Answer *answer, GError **error)
{
  g_autoptr (QmCliCLocale) locale = qm_cli_c_locale_enter ();
  json_auto_t *root = answer_json (answer);

  return qm_cli_json_write (root, error);
}

/* --- for people --- */

static void
append_prose (const Answer *answer, GString *out, const QmCliScreen *screen)
{
  const QmRecommendation *found = &answer->recommendation;
  g_autofree char *headline =
      qm_prose_headline (answer->advice, answer->question, found);
  g_autofree char *reason =
      qm_prose_reason (answer->advice, answer->question, found);
  g_auto (GStrv) alternatives =
      qm_prose_alternatives (answer->advice, found, NULL);
  g_auto (GStrv) warnings = qm_prose_warnings (answer->advice, answer->question,
                                               found, answer->today);
  g_auto (GStrv) notes = qm_prose_notes (answer->advice, answer->question);
  g_auto (GStrv) plan = plan_of (answer);
  g_auto (GStrv) renting = rent_of (answer);

  qm_cli_append_paragraph (out, screen, QM_CLI_STRONG, "", 0, headline);
  qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "", 0, reason);
  if (plan[0] != NULL)
    g_string_append_c (out, '\n');
  for (guint i = 0; plan[i] != NULL; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "", 0, plan[i]);
  if (alternatives[0] != NULL)
    g_string_append_c (out, '\n');
  for (guint i = 0; alternatives[i] != NULL; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "• ", 2,
                             alternatives[i]);
  if (renting[0] != NULL)
    g_string_append_c (out, '\n');
  for (guint i = 0; renting[i] != NULL; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "", 0, renting[i]);
  if (warnings[0] != NULL)
    g_string_append_c (out, '\n');
  for (guint i = 0; warnings[i] != NULL; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_BAD, "! ", 2, warnings[i]);
  if (notes[0] != NULL)
    g_string_append_c (out, '\n');
  for (guint i = 0; notes[i] != NULL; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "- ", 2, notes[i]);
}

/* What the limits say against a candidate; " " where nothing, which is not
 * unknown. */
static const char *
limits_text (const Answer *answer, const QmCandidate *candidate)
{
  const QmQuestion *question = answer->question;
  gboolean dear = question->budget_minor >= 0
                  && candidate->cost_minor > question->budget_minor;
  gboolean late = candidate->late
                  || (qm_known (question->deadline_days)
                      && candidate->days > question->deadline_days);

  if (candidate->superseded)
    return _ ("measured anew");
  if (qm_candidate_is_not_carried (candidate))
    return _ ("does not fit");
  if (candidate->insufficient)
    return _ ("not enough");
  if (candidate->unfunded)
    return _ ("not funded");
  if (dear && late)
    return _ ("over budget, too slow");
  if (dear)
    return _ ("over budget");
  return late ? _ ("too slow") : " ";
}

static QmCliStyle
candidate_style (const Answer *answer, int index)
{
  const QmCandidate *candidate = &answer->candidates[index];

  if (index == answer->recommendation.best)
    return QM_CLI_GOOD;
  if (candidate->verdict == QM_VERDICT_IMPOSSIBLE)
    return QM_CLI_BAD;
  return candidate->eligible
                 && qm_candidate_within (candidate,
                                         answer->question->budget_minor,
                                         answer->question->deadline_days)
             ? QM_CLI_PLAIN
             : QM_CLI_FAINT;
}

static void
add_candidate_row (const Answer *answer, int index, QmCliTable *table)
{
  const QmCandidate *candidate = &answer->candidates[index];
  g_autofree char *what = qm_prose_candidate (candidate);
  g_autofree char *machine = qm_prose_machine (candidate);
  g_autofree char *cost = NULL;
  g_autofree char *days = NULL;
  g_autofree char *experiment = NULL;
  g_autofree char *utilization = NULL;
  g_autofree char *whose = NULL;
  /* One cell wide in every encoding. */
  const char *arrow = g_get_charset (NULL) ? "→" : ">";

  if (candidate->cost_minor >= 0)
    cost = qm_purse_format (&answer->question->purse, candidate->cost_minor);
  if (qm_known (candidate->days))
    days = qm_format_days (candidate->days);
  if (qm_known (candidate->experiment_cost))
    experiment = qm_purse_format (&answer->question->purse,
                                  llround (candidate->experiment_cost * 100));
  if (qm_known (candidate->implied_utilization))
    utilization = qm_format_percent (candidate->implied_utilization);
  whose = qm_prose_times_of (candidate);

  qm_cli_table_add_row (
      table, candidate_style (answer, index),
      (const char *[]){ index == answer->recommendation.best ? arrow : " ",
                        what, machine, cost, days, whose, experiment,
                        utilization, qm_prose_verdict_name (candidate->verdict),
                        limits_text (answer, candidate) });
}

static gboolean
is_portfolio (const Answer *answer)
{
  return qm_question_is_portfolio (answer->question);
}

/* By cost, then time; what has none last. */
static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const Answer *answer = data;
  const QmCandidate *p = &answer->candidates[*(const int *) a];
  const QmCandidate *q = &answer->candidates[*(const int *) b];
  guint64 p_cost = (guint64) p->cost_minor; /* unpriced: the largest */
  guint64 q_cost = (guint64) q->cost_minor;
  gboolean p_timed = qm_known (p->days);
  gboolean q_timed = qm_known (q->days);

  if (p_timed != q_timed)
    return q_timed - p_timed;
  if (p_cost != q_cost)
    return p_cost < q_cost ? -1 : 1;
  if (p_timed && p->days != q->days)
    return p->days < q->days ? -1 : 1;
  return *(const int *) a - *(const int *) b;
}

/* Whether there are times that do not count for what they are of. */
static gboolean
has_unasked (const Answer *answer)
{
  for (guint i = 0; i < answer->n_candidates; i++)
    if (answer->candidates[i].superseded)
      return TRUE;
  return FALSE;
}

static void
append_candidates (const Answer *answer,
                   GString *out,
                   const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { "" },
    { _ ("GPUs") },
    { _ ("Machine"), .drop = 4, .shrink = 11 },
    { _ ("Cost"), QM_CLI_RIGHT },
    { is_portfolio (answer) ? _ ("All runs") : _ ("Training"), QM_CLI_RIGHT },
    { _ ("Times of"), .drop = 5 },
    { is_portfolio (answer) ? _ ("A year") : _ ("Experiment"), QM_CLI_RIGHT,
      .drop = 2 },
    /* Translators: model FLOPs utilisation. */
    { _ ("MFU"), QM_CLI_RIGHT, .drop = 1 },
    { _ ("Verdict") },
    { _ ("Limits"), .drop = 3 },
  };
  gboolean limited = answer->question->budget_minor >= 0
                     || qm_known (answer->question->deadline_days)
                     || qm_known (answer->question->run_deadline_days)
                     || has_unasked (answer);
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns) - (limited ? 0 : 1));
  g_autoptr (GArray) others = g_array_new (FALSE, FALSE, sizeof (int));
  guint n;
  const int *frontier = qm_advice_frontier (answer->advice, &n);

  if (n > 0)
    qm_cli_table_add_heading (
        table, _ ("Pareto frontier (nothing is both cheaper and faster)"));
  for (guint i = 0; i < n; i++)
    add_candidate_row (answer, frontier[i], table);

  for (int i = 0; i < (int) answer->n_candidates; i++)
    if (!answer->candidates[i].on_frontier)
      g_array_append_val (others, i);
  g_array_sort_with_data (others, compare_rows, (gpointer) answer);
  if (others->len > 0)
    qm_cli_table_add_heading (table, n > 0 ? _ ("Other candidates")
                                           : _ ("Candidates"));
  for (guint i = 0; i < others->len; i++)
    add_candidate_row (answer, g_array_index (others, int, i), table);
  if (answer->n_candidates > 0)
    {
      g_string_append_c (out, '\n');
      qm_cli_table_append (table, out, screen);
    }
}

static const char *
price_item_name (const Answer *answer, const QmPrice *price)
{
  const QmGpu *gpu = qm_catalog_gpu (answer->catalog, price->item);
  const QmMachine *machine = qm_catalog_machine (answer->catalog, price->item);

  if (gpu != NULL)
    return gpu->name;
  return machine != NULL ? machine->name : price->item;
}

static void
add_price_row (const Answer *answer,
               const QmPrice *price,
               GHashTable *seen,
               QmCliTable *table)
{
  g_autofree char *amount = NULL;
  g_autofree char *date = NULL;
  g_autofree char *age = NULL;

  if (price == NULL || !g_hash_table_add (seen, (gpointer) price))
    return;
  amount = qm_format_price (price, TRUE);
  date = qm_cli_date_text (price->observed_on);
  age = price->observed_on.year > 0
            ? qm_format_age (price->observed_on, answer->today)
            : NULL;
  qm_cli_table_add_row (table, QM_CLI_PLAIN,
                        (const char *[]){ price_item_name (answer, price),
                                          amount,
                                          qm_cli_catalog_price_kind (price),
                                          date, age, price->source });
}

static void
append_prices (const Answer *answer, GString *out, const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { _ ("Item") },
    { _ ("Price"), QM_CLI_RIGHT },
    { _ ("Kind"), .drop = 2 },
    { _ ("Date") },
    { _ ("Age"), .drop = 1 },
    { _ ("Source"), .drop = 3, .shrink = 12 },
  };
  g_autoptr (QmCliTable) table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  qm_cli_table_add_heading (table, _ ("Prices"));
  for (guint i = 0; i < answer->n_candidates; i++)
    add_price_row (answer, answer->candidates[i].gpu_price, seen, table);
  for (guint i = 0; i < answer->n_candidates; i++)
    add_price_row (answer, answer->candidates[i].machine_price, seen, table);
  if (g_hash_table_size (seen) == 0)
    return;
  g_string_append_c (out, '\n');
  qm_cli_table_append (table, out, screen);
}

static void
add_offer_row (const QmOffer *offer, GHashTable *seen, QmCliTable *table)
{
  g_autofree char *id = NULL;
  g_autofree char *date = NULL;
  g_autofree char *until = NULL;
  g_autofree char *price = NULL;
  g_autofree char *rate = NULL;

  if (offer == NULL || !g_hash_table_add (seen, (gpointer) offer))
    return;
  id = g_strdup_printf ("%" G_GINT64_FORMAT, offer->quote_id);
  date = qm_cli_date_text (offer->price.observed_on);
  until = qm_cli_date_text (offer->valid_until);
  price = qm_format_price (&offer->price, TRUE);
  if (offer->rate.denominator != 0)
    {
      g_autofree char *number = qm_cross_rate_text (&offer->rate);
      g_autofree char *day = qm_cli_date_text (offer->rate.date);

      /* Translators: a currency, an exchange rate, its date. */
      rate =
          g_strdup_printf (_ ("%s at %s of %s"), offer->currency, number, day);
    }
  qm_cli_table_add_row (
      table, offer->holds ? QM_CLI_PLAIN : QM_CLI_BAD,
      (const char *[]){ id, offer->vendor, offer->number, date, until,
                        offer->holds ? _ ("yes") : _ ("no"), offer->description,
                        price, rate != NULL ? rate : " " });
}

/* How many offers would count if expired ones did. */
static guint
count_expired (const QmQuestion *question)
{
  guint n, expired = 0;
  const QmOffer *offers = qm_offers_list (question->offers, &n);

  for (guint i = 0; i < n && !question->expired_offers; i++)
    expired += !offers[i].holds;
  return expired;
}

static void
append_expired (const Answer *answer, GString *out, const QmCliScreen *screen)
{
  guint n = count_expired (answer->question);
  g_autofree char *line = NULL;

  if (n == 0)
    return;
  /* Translators: a number of lines of quotes. */
  line =
      g_strdup_printf (ngettext ("%u offer of your quotes does not hold today; "
                                 "--expired-quotes counts it too.",
                                 "%u offers of your quotes do not hold today; "
                                 "--expired-quotes counts them too.",
                                 n),
                       n);
  qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, "- ", 2, line);
}

/* The quotes that prices are of. */
static void
append_quotes (const Answer *answer, GString *out, const QmCliScreen *screen)
{
  const QmCliColumn columns[] = {
    { _ ("Quote"), QM_CLI_RIGHT },
    { _ ("Vendor"), .shrink = 12 },
    { _ ("Number"), .shrink = 8 },
    { _ ("Date") },
    { _ ("Valid until") },
    { _ ("Holds"), .drop = 2 },
    { _ ("Offered"), .shrink = 16 },
    { _ ("Each"), QM_CLI_RIGHT },
    { _ ("Converted from"), .drop = 1 },
  };
  g_autoptr (QmCliTable) table = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  if (answer->question->offers == NULL)
    return;
  table = qm_cli_table_new (columns, G_N_ELEMENTS (columns));
  qm_cli_table_add_heading (table, _ ("Your quotes"));
  for (guint i = 0; i < answer->n_candidates; i++)
    {
      add_offer_row (answer->candidates[i].gpu_offer, seen, table);
      add_offer_row (answer->candidates[i].machine_offer, seen, table);
    }
  if (g_hash_table_size (seen) > 0 || count_expired (answer->question) > 0)
    g_string_append_c (out, '\n');
  if (g_hash_table_size (seen) > 0)
    qm_cli_table_append (table, out, screen);
  append_expired (answer, out, screen);
}

/* What the columns mean.  (transfer full) */
static char *
meaning_text (const Answer *answer)
{
  g_autofree char *years =
      qm_format_number (answer->question->lifetime_years, 2);
  g_autofree char *cost = NULL;

  if (is_portfolio (answer))
    /* Translators: a number of years. */
    cost = g_strdup_printf (_ ("All runs: how long a year’s runs take on those "
                               "machines. A year: what these runs cost, with "
                               "machines in use for %s years."),
                            years);
  else
    /* Translators: a number of years. */
    cost = g_strdup_printf (_ ("Experiment: what one training costs, with the "
                               "machine in use for %s years."),
                            years);
  return g_strjoin (" ", cost,
                    _ ("MFU: the share of the cards’ peak in the recipe’s "
                       "precision that its steps imply. Doubtful is what is "
                       "faster than what is predicted to be reachable, "
                       "possible what nothing is predicted for."),
                    NULL);
}

/* Where the times come from and what the columns mean. */
static void
append_notes (const Answer *answer, GString *out, const QmCliScreen *screen)
{
  g_auto (GStrv) sources = qm_prose_sources (answer->advice);
  g_autofree char *meaning = NULL;

  if (answer->n_candidates == 0)
    return;
  g_string_append_c (out, '\n');
  for (guint i = 0; sources[i] != NULL; i++)
    {
      g_autofree char *line =
          g_strdup_printf (_ ("Training times: %s."), sources[i]);

      qm_cli_append_paragraph (out, screen, QM_CLI_FAINT, "", 0, line);
    }
  meaning = meaning_text (answer);
  qm_cli_append_paragraph (out, screen, QM_CLI_FAINT, "", 0, meaning);
}

/* That quotes are missing in the answer, wherever it is read. */
static void
append_troubles (const Answer *answer, GString *out, const QmCliScreen *screen)
{
  if (answer->troubles == NULL || answer->troubles->len == 0)
    return;
  g_string_append_c (out, '\n');
  for (guint i = 0; i < answer->troubles->len; i++)
    qm_cli_append_paragraph (out, screen, QM_CLI_BAD, "! ", 2,
                             g_ptr_array_index (answer->troubles, i));
}

static gboolean
write_as_text (const Answer *answer, GError **error)
{
  QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);

  append_prose (answer, out, &screen);
  append_troubles (answer, out, &screen);
  qm_cli_matrix_append (answer->advice, answer->question,
                        answer->recommendation.best, out, &screen);
  append_candidates (answer, out, &screen);
  append_prices (answer, out, &screen);
  append_quotes (answer, out, &screen);
  if (answer->ownership != NULL && chosen (answer) != NULL)
    qm_cli_ownership_append (answer->ownership, answer->catalog,
                             chosen (answer), out, &screen);
  append_notes (answer, out, &screen);
  return qm_cli_write_text (out->str, error);
}

/* --- the command --- */

static int
answer_question (const QmCatalog *catalog,
                 const QmQuestion *question,
                 const QmOwnershipSettings *ownership,
                 const GPtrArray *troubles,
                 gboolean json,
                 GError **error)
{
  g_autoptr (QmAdvice) advice = qm_advice_new (catalog, question, error);
  Answer answer = {
    .catalog = catalog,
    .question = question,
    .advice = advice,
    .today = qm_date_today (),
    .ownership = ownership,
    .troubles = troubles,
  };

  if (advice == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  answer.candidates = qm_advice_candidates (advice, &answer.n_candidates);
  answer.recommendation = qm_advice_recommend (advice, question->budget_minor,
                                               question->deadline_days);
  if (!(json ? write_as_json (&answer, error) : write_as_text (&answer, error)))
    return QM_CLI_EXIT_BAD_INPUT;
  return answer.recommendation.outcome == QM_OUTCOME_FOUND
             ? QM_CLI_EXIT_FOUND
             : QM_CLI_EXIT_NOTHING_FITS;
}

int
qm_cli_advise (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "advise",
    .parameters = _ ("[FILE]"),
    .summary = _ ("Says which machine to buy: the one that trains the model in "
                  "the shortest time within\nthe budget and the deadline, or "
                  "nearly as fast for less (--slack)."),
    .description = _ ("FILE is a question that was saved, as in "
                      "gpus.quartermaster; options go before what it asks.\n"
                      "Exit status: 0 found, 1 nothing fits the limits, 2 bad "
                      "input."),
  };
  g_auto (QmCliQuestion) typed = { 0 };
  QmOwnershipSettings ownership;
  gboolean owning;
  gboolean json = FALSE;
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmQuestion) question = NULL;
  g_auto (GStrv) models = NULL;
  g_auto (GStrv) files = NULL;
  int status;

  qm_cli_question_add_options (&typed, options);
  qm_cli_options_add_flag (options, "json", _ ("Answer in JSON, for programs"),
                           &json);
  if (!qm_cli_options_parse (&verb, options, arguments, &files, &status, error))
    return status;
  if ((catalog = qm_cli_catalog_load (error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  if (!qm_cli_question_open (&typed, files, catalog, error)
      || (models = qm_cli_question_models (&typed, catalog, FALSE, error))
             == NULL
      || (question = qm_cli_question_read (&typed, catalog, error)) == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  if (!qm_cli_question_ownership (&typed, question, &ownership, &owning, error))
    return QM_CLI_EXIT_BAD_INPUT;
  question->model = g_strdup (models[0]);
  qm_cli_forecast (question, catalog);
  return answer_question (catalog, question, owning ? &ownership : NULL,
                          typed.troubles, json, error);
}
