/* SPDX-License-Identifier: Apache-2.0 */

/* What to know about the times and prices of the candidates, whichever of them
 * is recommended. */

#include "config.h"

#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose-private.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* More configurations than that are only counted. */
#define MAX_NAMES 6

typedef gboolean (*CandidateTest) (const QmCandidate *candidate);

static gboolean
is_superseded (const QmCandidate *candidate)
{
  return candidate->superseded && candidate->measurement != NULL
         && candidate->measurement->provenance != QM_PROVENANCE_MEASURED;
}

static gboolean
is_unpriced (const QmCandidate *candidate)
{
  return !candidate->here && candidate->price_minor < 0
         && !qm_candidate_is_not_carried (candidate)
         && qm_known (candidate->days);
}

/* This machine in a portfolio of which it has not all times. */
static gboolean
is_untimed_here (const QmCandidate *candidate)
{
  return candidate->here && candidate->use == NULL
         && !qm_known (candidate->days);
}

/* The GPU types of the candidates for which `test` holds, each once.
 * (transfer container) */
static GPtrArray *
gpus_of (const QmAdvice *advice, CandidateTest test)
{
  GPtrArray *gpus = g_ptr_array_new ();
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (test (&candidates[i])
        && !g_ptr_array_find (gpus, candidates[i].gpu, NULL))
      g_ptr_array_add (gpus, (gpointer) candidates[i].gpu);
  return gpus;
}

/* "RTX A6000, H200 SXM 141GB", or NULL where there is none. */
static char *
names_of (const QmAdvice *advice, CandidateTest test)
{
  g_autoptr (GPtrArray) gpus = gpus_of (advice, test);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < gpus->len; i++)
    {
      const QmGpu *gpu = g_ptr_array_index (gpus, i);

      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", gpu->name);
    }
  return gpus->len > 0 ? g_strdup (names->str) : NULL;
}

/* Counts what is not named of a list. */
static void
append_more (GString *names, guint found)
{
  if (found > MAX_NAMES)
    /* Translators: after a list of configurations. */
    g_string_append_printf (
        names, ngettext (" and %u more", " and %u more", found - MAX_NAMES),
        found - MAX_NAMES);
}

/* "4 × RTX A6000, 8 × RTX A6000 and 12 more", or NULL where there is none. */
static char *
list_of (const QmAdvice *advice, CandidateTest test)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint n, found = 0;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (test (&candidates[i]) && found++ < MAX_NAMES)
      g_string_append_printf (names, "%s%d × %s", names->len > 0 ? ", " : "",
                              candidates[i].gpus, candidates[i].gpu->name);
  append_more (names, found);
  return found > 0 ? g_strdup (names->str) : NULL;
}

/* "4 × H200 SXM 141GB (Quartermaster)", of a portfolio with the model. */
static char *
name_left_out (const QmQuestion *question, const QmMeasurement *time)
{
  const QmRunTime run = { .measurement = time };
  g_autofree char *software = qm_prose_run_times_of (&run);

  if (qm_question_is_portfolio (question))
    return g_strdup_printf ("%d × %s (%s, %s)", time->gpus, time->gpu->name,
                            time->model->name, software);
  return g_strdup_printf ("%d × %s (%s)", time->gpus, time->gpu->name,
                          software);
}

/* The places that are left out, or NULL where there is none. */
static char *
list_left_out (const QmAdvice *advice, const QmQuestion *question)
{
  const GPtrArray *times = qm_advice_left_out (advice);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  guint found = 0;

  for (guint i = 0; i < times->len; i++)
    {
      char *name = name_left_out (question, g_ptr_array_index (times, i));

      if (!g_hash_table_contains (seen, name) && found++ < MAX_NAMES)
        g_string_append_printf (names, "%s%s", found > 1 ? ", " : "", name);
      g_hash_table_add (seen, name);
    }
  append_more (names, found);
  return found > 0 ? g_string_free (g_steal_pointer (&names), FALSE) : NULL;
}

static void
note_left_out (GStrvBuilder *builder,
               const QmAdvice *advice,
               const QmQuestion *question)
{
  g_autofree char *names = list_left_out (advice, question);
  g_autofree char *what = NULL;

  if (names == NULL)
    return;
  /* Translators: name of software, "4 × H200 SXM 141GB (Quartermaster)". */
  what = g_strdup_printf (_ ("Left out, since no time of %s is known there and "
                             "those of other software are not comparable: %s."),
                          qm_prose_times_of_name (question->times_of), names);
  qm_prose_add (
      builder,
      question->predictions == QM_PREDICTIONS_NONE
          /* Translators: the sentence before. */
          ? g_strdup_printf (_ ("%s With predictions they take part."), what)
          : g_steal_pointer (&what));
}

static void
note_superseded (GStrvBuilder *builder, const QmAdvice *advice)
{
  g_autofree char *names = names_of (advice, is_superseded);

  if (names != NULL)
    /* Translators: names of GPUs. */
    qm_prose_add (builder,
                  g_strdup_printf (_ ("%s: measured times go before reported "
                                      "ones, which stay in view."),
                                   names));
}

static void
note_unpriced (GStrvBuilder *builder, const QmAdvice *advice)
{
  g_autofree char *names = list_of (advice, is_unpriced);

  if (names != NULL)
    /* Translators: "4 × RTX A6000, 8 × RTX A6000". */
    qm_prose_add (builder, g_strdup_printf (
                               _ ("%s: no price is known, so that it is "
                                  "neither drawn nor recommended. A quote that "
                                  "you import counts."),
                               names));
}

static gboolean
is_weak (const QmCandidate *candidate)
{
  return candidate->weak && candidate->price_minor >= 0
         && qm_known (candidate->days);
}

static void
note_weak (GStrvBuilder *builder,
           const QmAdvice *advice,
           const QmQuestion *question)
{
  g_autofree char *names = names_of (advice, is_weak);

  if (names != NULL && !question->as_in_paper && !question->any_price)
    /* Translators: names of GPUs. */
    qm_prose_add (builder, g_strdup_printf (
                               _ ("%s: no dealer’s price is known of them or "
                                  "their machine, so that used, claimed, "
                                  "undated or published ones count. A quote "
                                  "that you import goes before them."),
                               names));
}

static gboolean
is_foreign_currency (const QmPrice *price)
{
  return price != NULL && strcmp (price->currency, "USD") != 0;
}

static gboolean
is_converted (const QmCandidate *candidate)
{
  return candidate->price_minor >= 0 && qm_known (candidate->days)
         && (is_foreign_currency (candidate->gpu_price)
             || is_foreign_currency (candidate->machine_price)
             || is_foreign_currency (candidate->memory_price));
}

/* What is asked for in other currencies. */
static void
note_converted (GStrvBuilder *builder,
                const QmAdvice *advice,
                const QmQuestion *question)
{
  g_autofree char *names = list_of (advice, is_converted);
  g_autofree char *day = NULL;

  if (names == NULL || question->rates == NULL)
    return;
  day = qm_format_date (qm_rates_last_day (question->rates));
  /* Translators: numbers and names of GPUs, a date. */
  qm_prose_add (builder, g_strdup_printf (
                             _ ("%s: a price in another currency, converted at "
                                "the exchange rate of %s, without tax."),
                             names, day));
}

/* The user's own prices that count nowhere. */
static void
note_without_rate (GStrvBuilder *builder, const QmAdvice *advice)
{
  g_autoptr (GString) items = g_string_new (NULL);
  GPtrArray *prices = qm_advice_prices_without_rate (advice);

  for (guint i = 0; prices != NULL && i < prices->len; i++)
    {
      const QmPrice *price = g_ptr_array_index (prices, i);

      g_string_append_printf (items, "%s%s (%s)", i > 0 ? ", " : "",
                              price->item, price->currency);
    }
  if (items->len > 0)
    /* Translators: a file, ids with a currency each: "a6000 (ARS)". */
    qm_prose_add (
        builder, g_strdup_printf (_ ("Prices of %s that do not count, since no "
                                     "exchange rate is known: %s."),
                                  "prices.csv", items->str));
}

/* GPUs that no machine of the catalog carries in any number that was asked for,
 * though a time is known. */
static void
note_not_carried (GStrvBuilder *builder, const QmAdvice *advice)
{
  guint n, found = 0;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (qm_candidate_is_not_carried (&candidates[i]))
      found++;
  if (found > 0)
    qm_prose_add (builder,
                  g_strdup_printf (
                      ngettext ("%u configuration fits into no machine that is "
                                "sold; the table says why.",
                                "%u configurations fit into no machine that is "
                                "sold; the table says why.",
                                found),
                      found));
}

static void
note_untimed_here (GStrvBuilder *builder, const QmAdvice *advice)
{
  g_autofree char *names = names_of (advice, is_untimed_here);

  if (names != NULL)
    /* Translators: names of GPUs. */
    qm_prose_add (builder, g_strdup_printf (
                               _ ("This machine (%s): not all of these models "
                                  "were measured here, so that what a year’s "
                                  "runs take it is not known."),
                               names));
}

static gboolean
is_uncounted (const QmCandidate *candidate)
{
  return candidate->price_minor >= 0 && candidate->cost_minor < 0;
}

char *
qm_prose_time_factor (double factor)
{
  g_autofree char *times = NULL;
  g_autofree char *more = NULL;

  if (factor == 1)
    return NULL;
  times = qm_format_number (factor, 4);
  more = qm_format_percentage (factor * 100 - 100, 2);
  /* Translators: a percentage, a number. */
  return g_strdup_printf (_ ("Times hold %s for the loading of data, "
                             "evaluation, checkpoints and restarts: they are "
                             "%s times what the steps alone take."),
                          more, times);
}

/* What times hold besides the steps. */
static void
note_factor (GStrvBuilder *builder,
             const QmAdvice *advice,
             const QmQuestion *question)
{
  guint n;

  qm_advice_candidates (advice, &n);
  if (n > 0)
    qm_prose_add (builder, qm_prose_time_factor (question->time_factor));
}

/* What costs are made of, and of what that is not known. */
static void
note_ownership (GStrvBuilder *builder,
                const QmAdvice *advice,
                const QmQuestion *question)
{
  g_autofree char *unknown = names_of (advice, is_uncounted);
  g_autofree char *years = NULL;
  g_autofree char *parts = NULL;

  if (question->ownership == NULL)
    return;
  years = qm_format_number (question->lifetime_years, 1);
  parts = qm_ownership_describe_parts (question->ownership);
  if (parts != NULL)
    /* Translators: a number of years, "tax, electricity". */
    qm_prose_add (builder, g_strdup_printf (
                               _ ("Costs, and the budget with them, are what "
                                  "owning costs over %s years: the price, %s."),
                               years, parts));
  if (unknown != NULL)
    /* Translators: names of GPUs. */
    qm_prose_add (
        builder,
        g_strdup_printf (_ ("%s: how much power it draws is not known, so "
                            "that its total cost is not either."),
                         unknown));
}

static gboolean
is_unfunded (const QmCandidate *candidate)
{
  return candidate->unfunded;
}

static gboolean
is_answered (const QmAdvice *advice, const QmUse *use)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].use != NULL && candidates[i].use->gpus == use->gpus
        && strcmp (candidates[i].use->gpu, use->gpu) == 0)
      return TRUE;
  return FALSE;
}

/* GPUs to use that no candidate is of, by their ids: nothing else is known of
 * them here. */
static void
note_unanswered_uses (GStrvBuilder *builder,
                      const QmAdvice *advice,
                      const QmQuestion *question)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; question->uses != NULL && i < question->uses->len; i++)
    {
      const QmUse *use = &g_array_index (question->uses, QmUse, i);

      if (!is_answered (advice, use))
        g_string_append_printf (names, "%s%d × %s", names->len > 0 ? ", " : "",
                                use->gpus, use->gpu);
    }
  if (names->len > 0)
    /* Translators: "4 × gh200-96gb, 16 × h100-80gb-sxm". */
    qm_prose_add (
        builder,
        g_strdup_printf (_ ("%s to use: no time is known or predicted of so "
                            "many together, and they are not in the answer."),
                         names->str));
}

/* In which money amounts are, and what the funder does not pay. */
static void
note_purse (GStrvBuilder *builder,
            const QmAdvice *advice,
            const QmQuestion *question)
{
  char *money = qm_prose_purse (&question->purse);
  g_autofree char *names = list_of (advice, is_unfunded);

  if (money != NULL)
    qm_prose_add (builder, money);
  if (names != NULL)
    /* Translators: "4 × RTX A6000, 8 × RTX A6000". */
    qm_prose_add (builder, g_strdup_printf (
                               _ ("%s: one machine costs less or more than is "
                                  "funded, and is not recommended."),
                               names));
}

GStrv
qm_prose_notes (const QmAdvice *advice, const QmQuestion *question)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  g_return_val_if_fail (advice != NULL && question != NULL, NULL);

  note_purse (builder, advice, question);
  note_ownership (builder, advice, question);
  note_factor (builder, advice, question);
  qm_prose_note_predictions (builder, advice, question);
  note_superseded (builder, advice);
  note_left_out (builder, advice, question);
  note_untimed_here (builder, advice);
  note_unanswered_uses (builder, advice, question);
  note_unpriced (builder, advice);
  note_weak (builder, advice, question);
  note_converted (builder, advice, question);
  note_without_rate (builder, advice);
  note_not_carried (builder, advice);
  qm_prose_note_quotes (builder, advice, question);
  return g_strv_builder_end (builder);
}
