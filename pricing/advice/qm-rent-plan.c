/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-rent-plan.h"

#include "pricing/advice/qm-ownership.h"

#include <math.h>

#define HOURS_PER_DAY 24

static const int USES[QM_RENT_USES] = { 50, 70, 100 };

/* What owning costs at a use, where the question counts that. */
static double
buy_at (const QmQuestion *question, const QmCandidate *bought, int percent)
{
  QmOwnershipSettings settings;
  QmOwned owned;
  QmOwnership sum;

  if (question->ownership == NULL)
    return (double) bought->price_minor;
  settings = *question->ownership;
  settings.lifetime_years = question->lifetime_years;
  settings.utilization_ppm = (gint64) percent * QM_PPM / 100;
  if (!qm_owned_of_candidate (bought, &owned)
      || !qm_ownership_compute (&settings, &owned, &sum, NULL))
    return (double) NAN;
  return (double) sum.total;
}

/* All machines but one are bought, and the work of that one is rented. */
static void
mix_rented (QmRentPlan *plan,
            const QmCandidate *bought,
            const QmCandidate *rented)
{
  const int machines = bought->machines;

  if (machines < 2 || !qm_known (rented->machine_days))
    return;
  plan->kept = machines - 1;
  plan->kept_cost = (double) bought->price_minor * plan->kept / machines;
  plan->rest_year =
      plan->hour * rented->machine_days * HOURS_PER_DAY / machines;
  plan->mixed = plan->kept_cost + plan->rest_year * plan->years;
}

/* What renting a GPU costs at the price in the middle; FALSE where nobody rents
 * it out. */
static gboolean
find_middle (const QmCatalog *catalog, const QmGpu *gpu, QmRent *rent)
{
  g_autoptr (GPtrArray) prices = qm_rent_prices (catalog, gpu->id, "USD");

  return prices->len > 0
         && qm_rent_of_price (g_ptr_array_index (prices, prices->len / 2),
                              rent);
}

/* Of what is rented out, by its identifier, what that costs; of no GPUs: it was
 * not looked up yet.  There may be many candidates and many prices. */
static GHashTable *
find_rented (const QmCatalog *catalog)
{
  GHashTable *rents =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  size_t n;
  const QmPrice *prices = qm_catalog_prices (catalog, &n);
  QmRent rent;

  for (size_t i = 0; i < n; i++)
    if (qm_rent_of_price (&prices[i], &rent)
        && !g_hash_table_contains (rents, prices[i].item))
      g_hash_table_insert (rents, (gpointer) prices[i].item,
                           g_new0 (QmRent, 1));
  return rents;
}

/* What an hour of so many GPUs costs, in whole instances; NaN where nobody
 * rents them out. */
static double
known_hour (const QmCatalog *catalog,
            GHashTable *rents,
            const QmGpu *gpu,
            int gpus)
{
  QmRent *rent = g_hash_table_lookup (rents, gpu->id);

  if (rent == NULL || (rent->gpus == 0 && !find_middle (catalog, gpu, rent)))
    return (double) NAN;
  return (double) rent->hour_micros * ceil ((double) gpus / rent->gpus);
}

const QmCandidate *
qm_rent_plan_find (const QmCatalog *catalog,
                   const QmAdvice *advice,
                   const QmCandidate *bought)
{
  g_autoptr (GHashTable) rents = NULL;
  const QmCandidate *found = NULL;
  const QmCandidate *candidates;
  double least = INFINITY;
  QmRent rent;
  guint n;

  g_return_val_if_fail (catalog != NULL && advice != NULL, NULL);
  g_return_val_if_fail (bought != NULL, NULL);

  if (find_middle (catalog, bought->gpu, &rent))
    return bought;
  rents = find_rented (catalog);
  candidates = qm_advice_candidates (advice, &n);
  for (guint i = 0; i < n; i++)
    {
      const QmCandidate *one = &candidates[i];
      double cost;

      if (!one->eligible || one->late || one->superseded
          || !qm_known (one->machine_days))
        continue;
      cost =
          known_hour (catalog, rents, one->gpu, one->gpus) * one->machine_days;
      if (cost < least)
        {
          least = cost;
          found = one;
        }
    }
  return found;
}

gboolean
qm_rent_plan_compute (const QmCatalog *catalog,
                      const QmQuestion *question,
                      const QmCandidate *bought,
                      const QmCandidate *rented,
                      QmRentPlan *plan)
{
  g_autoptr (GPtrArray) prices = NULL;
  QmRent rent;
  double hours;
  double work;

  g_return_val_if_fail (catalog != NULL && question != NULL, FALSE);
  g_return_val_if_fail (bought != NULL && rented != NULL, FALSE);
  g_return_val_if_fail (plan != NULL, FALSE);

  /* The paper's prices are of another day than those of renting. */
  if (question->as_in_paper || bought->price_minor < 0 || bought->here)
    return FALSE;
  prices = qm_rent_prices (catalog, rented->gpu->id, "USD");
  if (prices->len == 0)
    return FALSE;
  *plan = (QmRentPlan){ .price = g_ptr_array_index (prices, 0),
                        .years = question->lifetime_years };
  if (!qm_rent_of_price (plan->price, &rent))
    return FALSE;
  plan->gpu_hour = (double) rent.hour_micros / rent.gpus / 1e4;
  plan->hour = (double) rent.hour_micros / 1e4
               * ceil ((double) rented->gpus / rent.gpus);
  work = bought->machines;
  if (rented != bought)
    work *= rented->machine_days / bought->machine_days;
  if (!isfinite (work))
    return FALSE;
  hours = plan->years * QM_DAYS_PER_YEAR * HOURS_PER_DAY;
  for (guint i = 0; i < QM_RENT_USES; i++)
    plan->uses[i] = (QmRentUse){
      .percent = USES[i],
      .rent = plan->hour * work * hours * USES[i] / 100,
      .buy = buy_at (question, bought, USES[i]),
    };
  mix_rented (plan, bought, rented);
  return TRUE;
}
