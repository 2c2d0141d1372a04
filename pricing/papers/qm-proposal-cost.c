/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-proposal-private.h"

#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-prose-rent.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* By how much the price is varied. */
#define PRICE_STEP 0.2

/* Sources of rent that are told: the cheapest, the one in the middle, and the
 * dearest. */
#define RENTS_TOLD 3

static double
price_of (const QmProposalMaker *maker)
{
  return (double) maker->candidate->price_minor;
}

static double
life_days (const QmProposalMaker *maker)
{
  return maker->proposal->question->lifetime_years * QM_DAYS_PER_YEAR;
}

/* --- cost --- */

/* What owning costs besides, as the question counts it, or electricity alone.
 * FALSE where that cannot be computed. */
static gboolean
compute_ownership (const QmProposalMaker *maker,
                   QmOwnershipSettings *settings,
                   QmOwned *owned,
                   QmOwnership *ownership)
{
  const QmQuestion *question = maker->proposal->question;

  if (question->ownership != NULL)
    *settings = *question->ownership;
  else
    {
      *settings = qm_ownership_settings_default ();
      settings->parts = QM_OWNERSHIP_ELECTRICITY;
    }
  settings->lifetime_years = question->lifetime_years;
  return qm_owned_of_candidate (maker->candidate, owned)
         && qm_ownership_compute (settings, owned, ownership, NULL);
}

static void
add_amount (const QmProposalMaker *maker,
            QmPaperTable *table,
            QmPaperRowKind kind,
            const char *name,
            double usd_minor,
            gboolean with_tax)
{
  qm_proposal_set_money (maker, &qm_paper_table_add_row (table, kind, name)[1],
                         usd_minor, with_tax);
}

static void
add_prices (const QmProposalMaker *maker, QmPaperTable *table)
{
  const QmQuestion *question = maker->proposal->question;
  double price = price_of (maker);
  double tax = question->purse.tax_percent;

  add_amount (maker, table, QM_ROW_STRONG, _ ("Price without tax"), price,
              FALSE);
  if (tax > 0)
    {
      g_autofree char *percent = qm_format_percentage (tax, 2);
      /* Translators: a percentage. */
      g_autofree char *name = g_strdup_printf (_ ("Tax of %s"), percent);

      add_amount (maker, table, QM_ROW_PLAIN, name, price * tax / 100, FALSE);
      add_amount (maker, table, QM_ROW_STRONG, _ ("Price with tax"), price,
                  TRUE);
    }
  if (maker->candidate->price_low_minor > 0
      && maker->candidate->price_high_minor > maker->candidate->price_low_minor)
    {
      g_autofree char *low =
          qm_proposal_money (maker, (double) maker->candidate->price_low_minor,
                             FALSE);
      g_autofree char *high =
          qm_proposal_money (maker, (double) maker->candidate->price_high_minor,
                             FALSE);

      qm_paper_cell_set (
          &qm_paper_table_add_row (
              table, QM_ROW_PLAIN,
              _ ("By what is known of the prices, without tax"))[1],
          /* Translators: the ends of an interval. */
          g_strdup_printf (_ ("%s to %s"), low, high), NULL);
    }
}

static void
add_ownership (const QmProposalMaker *maker, QmPaperTable *table)
{
  QmOwnershipSettings settings;
  QmOwned owned;
  QmOwnership sum;
  g_autofree char *years =
      qm_format_number (maker->proposal->question->lifetime_years, 1);
  g_autofree char *section =
      /* Translators: a number of years. */
      g_strdup_printf (_ ("Over %s years"), years);

  if (!compute_ownership (maker, &settings, &owned, &sum))
    return;
  qm_paper_table_add_row (table, QM_ROW_SECTION, section);
  {
    const struct
    {
      const char *name;
      gint64 minor;
    } parts[] = {
      { _ ("Discount"), sum.discount },
      { _ ("Shipping"), sum.shipping },
      { _ ("Tax"), sum.tax },
      { _ ("Overhead"), sum.overhead },
      { _ ("Electricity"), sum.electricity },
      { _ ("Hosting"), sum.hosting },
      { _ ("Support"), sum.support },
      { _ ("Value at the end"), sum.residual },
    };

    for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
      if (parts[i].minor != 0)
        add_amount (maker, table, QM_ROW_PLAIN, parts[i].name,
                    (double) parts[i].minor, FALSE);
  }
  add_amount (maker, table, QM_ROW_STRONG, _ ("Price and all of these"),
              (double) sum.total, FALSE);
}

static void
add_depreciation (const QmProposalMaker *maker)
{
  const QmProposal *proposal = maker->proposal;
  double life_months = proposal->question->lifetime_years * 12;
  double share = proposal->project_months / life_months;
  g_autofree char *years =
      qm_format_number (proposal->question->lifetime_years, 1);
  g_autofree char *month =
      qm_proposal_money (maker, price_of (maker) / life_months, FALSE);
  g_autofree char *text =
      /* Translators: a number of years, an amount. */
      g_strdup_printf (_ ("Written off over %s years, the price without tax is "
                          "%s a month."),
                       years, month);

  qm_paper_add (maker->paper, QM_PAPER_TEXT, text);
  if (proposal->project_months > 0 && share <= 1)
    {
      g_autofree char *months = qm_format_number (proposal->project_months, 1);
      g_autofree char *percent = qm_format_percent (share);
      g_autofree char *amount =
          qm_proposal_money (maker, price_of (maker) * share, FALSE);
      g_autofree char *line =
          /* Translators: a number of months, a percentage, an amount. */
          g_strdup_printf (
              _ ("To a project of %s months that alone uses it, %s "
                 "of that are charged: %s."),
              months, percent, amount);

      qm_paper_add (maker->paper, QM_PAPER_TEXT, line);
    }
}

/* What was assumed of owning. */
static void
add_assumptions (const QmProposalMaker *maker)
{
  QmOwnershipSettings settings;
  QmOwned owned;
  QmOwnership sum;
  g_autofree char *power = NULL;
  g_autofree char *units = NULL;
  g_autoptr (GPtrArray) list = NULL;
  g_autoptr (GString) text = NULL;

  if (!compute_ownership (maker, &settings, &owned, &sum))
    return;
  list = qm_ownership_assumptions_of (&settings, &owned);
  text = g_string_new (NULL);
  for (guint i = 0; i < list->len; i++)
    {
      const QmAssumption *one = g_ptr_array_index (list, i);

      /* Electricity follows from the use, which is no part of what owning
       * costs. */
      if (one->counts
          && (one->part != 0 || strcmp (one->key, "utilization") == 0))
        g_string_append_printf (text, "%s%s: %s%s%s", text->len > 0 ? "; " : "",
                                one->name, one->value,
                                *one->unit != '\0' ? "\u00a0" : "", one->unit);
    }
  if (text->len == 0)
    return;
  g_string_prepend (text, _ ("Assumed: "));
  g_string_append_c (text, '.');
  qm_paper_add (maker->paper, QM_PAPER_TEXT, text->str);
  power = qm_ownership_power_text (&settings, &owned);
  units = qm_ownership_units_text (&settings, &owned);
  if (power != NULL)
    qm_paper_add (maker->paper, QM_PAPER_TEXT, power);
  if (units != NULL)
    qm_paper_add (maker->paper, QM_PAPER_TEXT, units);
}

void
qm_proposal_add_cost (const QmProposalMaker *maker)
{
  const char *const heads[] = { _ ("Cost"),
                                maker->proposal->question->purse.currency,
                                NULL };
  QmPaperTable *table;

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("What it costs"));
  table = qm_paper_add_table (maker->paper, _ ("Cost"), heads);
  add_prices (maker, table);
  add_ownership (maker, table);
  add_depreciation (maker);
  add_assumptions (maker);
}

/* --- sensitivity --- */

/* Sets a cell to so many USD cents without tax, with decimals. */
static void
set_small (const QmProposalMaker *maker, QmPaperCell *cell, double usd_minor)
{
  const QmPurse *purse = &maker->proposal->question->purse;
  /* In millionths of a dollar, so that nothing is rounded twice. */
  double major =
      qm_purse_from_usd (purse, (gint64) llround (usd_minor * 1e4), FALSE)
      / 1e4;
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%.2f", major);
  qm_paper_cell_set (cell, qm_format_money (major, purse->currency, TRUE),
                     g_strdup (number));
}

static void
add_case (const QmProposalMaker *maker,
          QmPaperTable *table,
          const char *name,
          double price,
          double days,
          double use)
{
  QmPaperCell *cells = qm_paper_table_add_row (table, QM_ROW_PLAIN, name);
  double day = price / (life_days (maker) * use);

  qm_proposal_set_money (maker, &cells[1], price, FALSE);
  qm_proposal_set_number (&cells[2], days, 0);
  set_small (maker, &cells[3], day);
  qm_proposal_set_money (maker, &cells[4], day * days, FALSE);
}

static void
add_times (const QmProposalMaker *maker, QmPaperTable *table)
{
  const QmCandidate *candidate = maker->candidate;
  double days = qm_proposal_work_days (maker);

  if (!qm_known (candidate->days_low) || !qm_known (candidate->days_high)
      || !(candidate->days > 0))
    return;
  add_case (maker, table, _ ("Times at the low end of the interval"),
            price_of (maker), days * candidate->days_low / candidate->days, 1);
  add_case (maker, table, _ ("Times at the high end"), price_of (maker),
            days * candidate->days_high / candidate->days, 1);
}

void
qm_proposal_add_sensitivity (const QmProposalMaker *maker)
{
  const gboolean year = qm_question_is_portfolio (maker->proposal->question);
  const char *const heads[] = {
    _ ("If …"),
    _ ("Price without tax"),
    _ ("Machine days"),
    _ ("A day of training costs"),
    year ? _ ("A year’s trainings cost") : _ ("The training costs"),
    NULL,
  };
  static const int uses[] = { 70, 50 };
  g_autofree char *lower = qm_format_percent (PRICE_STEP);
  g_autofree char *cheaper =
      /* Translators: a percentage. */
      g_strdup_printf (_ ("Price %s lower"), lower);
  g_autofree char *dearer =
      /* Translators: a percentage. */
      g_strdup_printf (_ ("Price %s higher"), lower);
  double price = price_of (maker);
  double days = qm_proposal_work_days (maker);
  QmPaperTable *table;

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("What it depends on"));
  table = qm_paper_add_table (maker->paper, _ ("Sensitivity"), heads);
  add_case (maker, table, _ ("As proposed, used on every day"), price, days, 1);
  add_case (maker, table, cheaper, price * (1 - PRICE_STEP), days, 1);
  add_case (maker, table, dearer, price * (1 + PRICE_STEP), days, 1);
  add_times (maker, table);
  for (guint i = 0; i < G_N_ELEMENTS (uses); i++)
    {
      g_autofree char *percent = qm_format_percent (uses[i] / 100.0);
      g_autofree char *name =
          /* Translators: a percentage. */
          g_strdup_printf (_ ("Used on %s of all days"), percent);

      add_case (maker, table, name, price, days, uses[i] / 100.0);
    }
}

/* --- renting --- */

static void
add_rent (const QmProposalMaker *maker,
          QmPaperTable *table,
          const QmCandidate *rented,
          const QmPrice *price)
{
  const gboolean year = qm_question_is_portfolio (maker->proposal->question);
  double hour = (double) price->micros / price->gpus / 1e4; /* USD cents */
  double hours = rented->machine_days * 24 * rented->gpus;
  double work = hour * hours;
  g_autofree char *date = qm_format_date (price->observed_on);
  g_autofree char *name = g_strdup_printf ("%s\n%s", price->source, date);
  QmPaperCell *cells = qm_paper_table_add_row (table, QM_ROW_PLAIN, name);

  set_small (maker, &cells[1], hour);
  qm_proposal_set_money (maker, &cells[2], work, FALSE);
  if (year)
    qm_proposal_set_money (maker, &cells[3],
                           work * maker->proposal->question->lifetime_years,
                           FALSE);
  qm_proposal_set_number (&cells[year ? 4 : 3],
                          price_of (maker) / work * (year ? 12 : 1), 0);
}

/* What else there is to know of renting: an hour before anything is bought,
 * several uses, a mixed plan. */
static void
add_plans (const QmProposalMaker *maker, const QmCandidate *rented)
{
  const QmQuestion *question = maker->proposal->question;
  const QmPurse *purse = &question->purse;
  g_autofree char *uses = NULL;
  g_autofree char *hour = NULL;
  g_autofree char *mixed = NULL;
  QmRentPlan plan;

  if (!qm_rent_plan_compute (maker->proposal->catalog, question,
                             maker->candidate, rented, &plan))
    return;
  uses = qm_prose_rent_uses (&plan, maker->candidate, rented, purse, FALSE);
  qm_paper_add (maker->paper, QM_PAPER_TEXT, uses);
  if (rented == maker->candidate)
    {
      hour = qm_prose_rent_hour (&plan, rented, purse, FALSE);
      qm_paper_add (maker->paper, QM_PAPER_TEXT, hour);
    }
  mixed = qm_prose_rent_mixed (&plan, maker->candidate, purse, FALSE);
  if (mixed != NULL)
    qm_paper_add (maker->paper, QM_PAPER_TEXT, mixed);
}

void
qm_proposal_add_rent (const QmProposalMaker *maker)
{
  const gboolean year = qm_question_is_portfolio (maker->proposal->question);
  const QmCandidate *rented =
      qm_rent_plan_find (maker->proposal->catalog, maker->proposal->advice,
                         maker->candidate);
  g_autoptr (GPtrArray) prices = NULL;
  const char *const of_year[] = {
    _ ("Seen at"),
    _ ("An hour of a GPU"),
    _ ("A year’s trainings"),
    _ ("All years"),
    _ ("Months until buying costs less"),
    NULL,
  };
  const char *const of_one[] = {
    _ ("Seen at"),
    _ ("An hour of a GPU"),
    _ ("The training"),
    _ ("Trainings until buying costs less"),
    NULL,
  };
  guint last = 0;
  QmPaperTable *table;

  qm_paper_add (maker->paper, QM_PAPER_HEADING, _ ("Renting instead"));
  if (rented != maker->candidate)
    {
      g_autofree char *text = qm_prose_rent_other (rented);

      qm_paper_add (maker->paper, QM_PAPER_TEXT, text);
    }
  if (rented == NULL)
    return;
  prices = qm_rent_prices (maker->proposal->catalog, rented->gpu->id, "USD");
  table =
      qm_paper_add_table (maker->paper, _ ("Rent"), year ? of_year : of_one);
  for (guint i = 0; i < MIN (prices->len, RENTS_TOLD); i++)
    {
      guint index = i == 0 ? 0 : i == 1 ? prices->len / 2 : prices->len - 1;

      if (i > 0 && index <= last)
        continue;
      last = index;
      add_rent (maker, table, rented, g_ptr_array_index (prices, index));
    }
  add_plans (maker, rented);
  qm_paper_add (
      maker->paper, QM_PAPER_TEXT,
      _ ("Rents are those of the catalog, without tax, and in the table for "
         "the hours of training alone. Electricity is not in the price of the "
         "machine."));
  qm_paper_add (maker->paper, QM_PAPER_TEXT, qm_prose_rent_left_out ());
}

/* --- rules of funders --- */

/* The amount that a rule is about, in its currency; NaN: not known. */
static double
amount_for (const QmProposalMaker *maker, const QmFunderRule *rule)
{
  const QmPurse *purse = &maker->proposal->question->purse;
  double usd =
      price_of (maker) / (rule->each ? MAX (maker->candidate->machines, 1) : 1);

  if (strcmp (rule->currency, purse->currency) != 0)
    return (double) NAN;
  return qm_purse_from_usd (purse, (gint64) llround (usd), rule->with_tax);
}

/* In the first of the user's languages that it is known in. */
static const char *
in_language (const QmFunderRule *rule,
             const char *(*text_of) (const QmFunderRule *, const char *) )
{
  const char *const *languages = g_get_language_names ();

  for (guint i = 0; languages[i] != NULL; i++)
    {
      const char *text = text_of (rule, languages[i]);

      if (text != NULL)
        return text;
    }
  return text_of (rule, "en");
}

void
qm_proposal_add_rules (const QmProposalMaker *maker)
{
  size_t n = 0;
  const QmFunderRule *rules =
      maker->proposal->rules != NULL
          ? qm_funder_rules_list (maker->proposal->rules, &n)
          : NULL;
  gboolean told = FALSE;

  for (size_t i = 0; i < n; i++)
    {
      double amount = amount_for (maker, &rules[i]);
      g_autofree char *date = NULL;
      g_autofree char *line = NULL;

      if (!isfinite (amount) || !qm_funder_rule_holds (&rules[i], amount))
        continue;
      if (!told)
        qm_paper_add (maker->paper, QM_PAPER_HEADING,
                      _ ("Rules of funders that the amount meets (hints)"));
      told = TRUE;
      date = qm_format_date (rules[i].seen_on);
      line =
          /* Translators: a funder, its rule, where and when it was read. */
          g_strdup_printf (_ ("%s: %s (%s, read on %s)"),
                           in_language (&rules[i], qm_funder_rule_funder),
                           in_language (&rules[i], qm_funder_rule_text),
                           rules[i].source, date);
      qm_paper_add (maker->paper, QM_PAPER_ITEM, line);
    }
}
