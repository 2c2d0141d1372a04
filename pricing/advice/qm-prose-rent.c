/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose-rent.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* Amounts below that are told with cents. */
#define LEAST_ROUND 100

static char *
money (const QmPurse *purse, double usd_minor, gboolean with_tax)
{
  return qm_format_money (
      qm_purse_from_usd (purse, (gint64) llround (usd_minor), with_tax),
      purse->currency, FALSE);
}

/* "$39,500", or where it depends on the use "$41,000, $42,000 and $43,500";
 * NULL where it is not known. */
static char *
buy_text (const QmRentPlan *plan, const QmPurse *purse, gboolean with_tax)
{
  const QmRentUse *uses = plan->uses;
  g_autofree char *low = NULL;
  g_autofree char *middle = NULL;
  g_autofree char *high = NULL;

  for (guint i = 0; i < QM_RENT_USES; i++)
    if (!isfinite (uses[i].buy))
      return NULL;
  low = money (purse, uses[0].buy, with_tax);
  if (uses[0].buy == uses[2].buy)
    return g_steal_pointer (&low);
  middle = money (purse, uses[1].buy, with_tax);
  high = money (purse, uses[2].buy, with_tax);
  /* Translators: three amounts. */
  return g_strdup_printf (_ ("%s, %s and %s"), low, middle, high);
}

char *
qm_prose_rent_other (const QmCandidate *rented)
{
  g_autofree char *name = NULL;

  if (rented == NULL)
    return g_strdup (_ ("No price is known at which GPUs that do this work can "
                        "be rented."));
  name = qm_prose_candidate (rented);
  /* Translators: GPUs. */
  return g_strdup_printf (_ ("No price is known at which the proposed GPUs can "
                             "be rented. Of those that can, %s do this work "
                             "for the least."),
                          name);
}

/* "Renting 4 × A100 for 5 years at …". */
static char *
what_text (const QmRentPlan *plan,
           const QmCandidate *bought,
           const QmCandidate *rented)
{
  g_autofree char *what = qm_prose_candidate (rented);
  g_autofree char *years = qm_format_number (plan->years, 1);
  g_autofree char *date = qm_format_date (plan->price->observed_on);

  if (rented == bought)
    /* Translators: GPUs, a number of years, who rents them out, a date. */
    return g_strdup_printf (_ ("Renting %s for %s years at %s (%s)"), what,
                            years, plan->price->source, date);
  /* Translators: GPUs, a number of years, who rents them out, a date. */
  return g_strdup_printf (_ ("Renting %s for what the proposed GPUs do in %s "
                             "years at %s (%s)"),
                          what, years, plan->price->source, date);
}

char *
qm_prose_rent_uses (const QmRentPlan *plan,
                    const QmCandidate *bought,
                    const QmCandidate *rented,
                    const QmPurse *purse,
                    gboolean with_tax)
{
  const QmRentUse *uses = plan->uses;
  g_autofree char *what = what_text (plan, bought, rented);
  g_autofree char *low = money (purse, uses[0].rent, with_tax);
  g_autofree char *middle = money (purse, uses[1].rent, with_tax);
  g_autofree char *high = money (purse, uses[2].rent, with_tax);
  g_autofree char *use_low = qm_format_percent (uses[0].percent / 100.0);
  g_autofree char *use_middle = qm_format_percent (uses[1].percent / 100.0);
  g_autofree char *use_high = qm_format_percent (uses[2].percent / 100.0);
  g_autofree char *buy = buy_text (plan, purse, with_tax);
  g_autofree char *text =
      /* Translators: "Renting 4 × A100 for 5 years at …", then three times a
       * share and an amount. */
      g_strdup_printf (_ ("%s, in use for %s of all hours, costs %s, for %s "
                          "%s, and for %s %s."),
                       what, use_low, low, use_middle, middle, use_high, high);

  if (buy == NULL)
    return g_steal_pointer (&text);
  /* Translators: a sentence about renting, one or three amounts. */
  return g_strdup_printf (_ ("%s Buying costs %s."), text, buy);
}

char *
qm_prose_rent_hour (const QmRentPlan *plan,
                    const QmCandidate *rented,
                    const QmPurse *purse,
                    gboolean with_tax)
{
  g_autofree char *gpus =
      g_strdup_printf ("%d × %s", rented->gpus, rented->gpu->name);
  double hour =
      qm_purse_from_usd (purse, (gint64) llround (plan->hour), with_tax);
  /* An hour on one card may cost less than one of the currency. */
  g_autofree char *amount =
      qm_format_money (hour, purse->currency, hour < LEAST_ROUND);

  /* Translators: GPUs, an amount, who rents them out. */
  return g_strdup_printf (
      _ ("Before anything is bought, an hour on %s costs %s at "
         "%s: what qm-bench measures in it takes the place of "
         "the prediction. “Benchmark Another Machine” writes "
         "the files for that, and so does “quartermaster "
         "elsewhere”."),
      gpus, amount, plan->price->source);
}

char *
qm_prose_rent_mixed (const QmRentPlan *plan,
                     const QmCandidate *bought,
                     const QmPurse *purse,
                     gboolean with_tax)
{
  g_autofree char *kept = NULL;
  g_autofree char *rest = NULL;
  g_autofree char *both = NULL;
  g_autofree char *whole = NULL;
  g_autofree char *years = NULL;

  if (plan->kept == 0)
    return NULL;
  kept = money (purse, plan->kept_cost, with_tax);
  rest = money (purse, plan->rest_year, with_tax);
  both = money (purse, plan->mixed, with_tax);
  whole = money (purse, (double) bought->price_minor, with_tax);
  years = qm_format_number (plan->years, 1);
  /* Translators: a number of machines, an amount, another one, a number of
   * years, two amounts. */
  return g_strdup_printf (
      ngettext ("A mixed plan: %d machine is bought for %s, and the work of "
                "one more rented for %s a year, in %s years %s for both, "
                "where all that is proposed costs %s.",
                "A mixed plan: %d machines are bought for %s, and the work "
                "of one more rented for %s a year, in %s years %s for both, "
                "where all that is proposed costs %s.",
                (gulong) plan->kept),
      plan->kept, kept, rest, years, both, whole);
}

const char *
qm_prose_rent_left_out (void)
{
  return _ ("Lower prices for GPUs that are reserved for months, data that is "
            "moved out (egress), storage and waiting for free GPUs are not in "
            "what renting costs.");
}

GStrv
qm_prose_rent (const QmCatalog *catalog,
               const QmAdvice *advice,
               const QmQuestion *question,
               const QmCandidate *candidate)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const QmCandidate *rented;
  const QmPurse *purse;
  QmRentPlan plan;

  g_return_val_if_fail (catalog != NULL && advice != NULL, NULL);
  g_return_val_if_fail (question != NULL && candidate != NULL, NULL);

  if (candidate->here || candidate->price_minor < 0 || question->as_in_paper)
    return g_strv_builder_end (builder);
  purse = &question->purse;
  rented = qm_rent_plan_find (catalog, advice, candidate);
  if (rented != candidate)
    qm_prose_add (builder, qm_prose_rent_other (rented));
  if (rented == NULL
      || !qm_rent_plan_compute (catalog, question, candidate, rented, &plan))
    return g_strv_builder_end (builder);
  qm_prose_add (builder, qm_prose_rent_uses (&plan, candidate, rented, purse,
                                             purse->gross));
  qm_prose_add (builder, g_strdup (qm_prose_rent_left_out ()));
  qm_prose_add (builder,
                qm_prose_rent_mixed (&plan, candidate, purse, purse->gross));
  if (rented == candidate)
    qm_prose_add (builder,
                  qm_prose_rent_hour (&plan, rented, purse, purse->gross));
  return g_strv_builder_end (builder);
}
