/* SPDX-License-Identifier: Apache-2.0 */

/* Total cost of ownership and own or rent, against sums done by hand and
 * against the advice over the shipped catalog. */

#include "answers.h"
#include "pricing/advice/qm-ownership.h"

#include <string.h>

static QmCatalog *catalog;

#define DOLLARS(amount) (G_GINT64_CONSTANT (100) * (amount))

static QmOwned
server (gint64 minor)
{
  return (QmOwned){ .price = { .minor = minor, .currency = "USD" },
                    .machines = 1,
                    .gpus = 8,
                    .gpu_watts = 500,
                    .rack = TRUE };
}

static QmOwnershipSettings
everything (void)
{
  QmOwnershipSettings settings = qm_ownership_settings_default ();

  settings.parts = QM_OWNERSHIP_ALL;
  settings.discount_ppm = 100000;
  settings.shipping_minor = DOLLARS (500);
  settings.tax_ppm = 200000;
  settings.overhead_ppm = 500000;
  settings.residual_ppm = 100000;
  settings.utilization_ppm = 750000;
  settings.idle_ppm = 200000;
  settings.rest_ppm = 250000;
  settings.pue_ppm = 1500000;
  settings.kwh_micros = 200000;
  settings.hosting_machine_minor = DOLLARS (100);
  settings.hosting_unit_minor = DOLLARS (50);
  settings.hosting_kw_minor = DOLLARS (20);
  settings.rack_units = 4;
  settings.support_ppm = 120000;
  return settings;
}

static QmOwnership
compute (const QmOwnershipSettings *settings, const QmOwned *owned)
{
  g_autoptr (GError) error = NULL;
  QmOwnership ownership = { 0 };

  qm_ownership_compute (settings, owned, &ownership, &error);
  g_assert_no_error (error);
  return ownership;
}

/* 8 x 500 W x (0.75 + 0.25 x 0.2) x 1.25 = 4 kW; x 1.5 x 730 h = 4380 kWh a
 * month, 876 USD.  Hosting: 100 + 4 x 50 + 5 kW x 20 = 400 a month.  Support:
 * 12 % of 90 000 = 900 a month.  Overhead: half of 1300 a month. */
static void
test_sum (void)
{
  QmOwnershipSettings settings = everything ();
  QmOwned owned = server (DOLLARS (100000));
  QmOwnership sum = compute (&settings, &owned);

  g_assert_cmpint (sum.price, ==, DOLLARS (100000));
  g_assert_cmpint (sum.discount, ==, DOLLARS (-10000));
  g_assert_cmpint (sum.shipping, ==, DOLLARS (500));
  g_assert_cmpint (sum.tax, ==, DOLLARS (18100));
  g_assert_true (sum.exempt);
  g_assert_cmpint (sum.begin, ==, DOLLARS (108600));
  g_assert_cmpint (sum.residual, ==, DOLLARS (-9000));
  g_assert_cmpint (sum.electricity, ==, DOLLARS (52560));
  g_assert_cmpint (sum.hosting, ==, DOLLARS (24000));
  g_assert_cmpint (sum.support, ==, DOLLARS (54000));
  g_assert_cmpint (sum.overhead, ==, DOLLARS (39000));
  g_assert_cmpint (sum.total, ==, DOLLARS (269160));
  g_assert_cmpint (sum.month_micros, ==, G_GINT64_CONSTANT (2826000000));
  g_assert_cmpfloat_with_epsilon (sum.kwh, 262800, 1e-6);
  g_assert_cmpfloat_with_epsilon (qm_ownership_experiment_cost (&sum, 10),
                                  269160.0 * 10 / 1825, 1e-9);
}

/* Tax is not on what contains it, hosting only for what stands in a rack. */
static void
test_once (void)
{
  QmOwnershipSettings settings = everything ();
  QmOwned owned = server (DOLLARS (100000));
  QmOwnership sum;

  owned.taxed_minor = DOLLARS (40000);
  owned.rack = FALSE;
  sum = compute (&settings, &owned);
  /* (90 000 + 500 - 40 000 x 0.9) x 20 % */
  g_assert_cmpint (sum.tax, ==, DOLLARS (10900));
  g_assert_cmpint (sum.hosting, ==, 0);
  owned.taxed_minor = owned.price.minor;
  g_assert_cmpint (compute (&settings, &owned).tax, ==, DOLLARS (100));
}

/* What is stated of a machine goes before what is assumed of all, and what the
 * user set before both. */
static void
test_stated (void)
{
  QmOwnershipSettings settings = everything ();
  QmOwnershipSettings usual = qm_ownership_settings_default ();
  QmOwned owned = server (DOLLARS (100000));
  QmOwnershipBasis basis;
  QmOwnership sum;
  g_autofree char *power = NULL;
  g_autofree char *units = NULL;
  g_autoptr (GPtrArray) list = NULL;

  owned.wall_watts = 10000;
  owned.rack_units = 8;
  settings.rest_ppm = usual.rest_ppm;
  sum = compute (&settings, &owned);
  /* 10 kW x (0.75 + 0.25 x 0.2) x 1.5 x 730 h x 0.2 = 1752 a month; hosting 100
   * + 8 x 50 + 10 kW x 20 = 700. */
  g_assert_cmpint (sum.electricity, ==, DOLLARS (105120));
  g_assert_cmpint (sum.hosting, ==, DOLLARS (42000));
  g_assert_cmpfloat_with_epsilon (sum.kwh, 525600, 1e-6);
  g_assert_cmpint (qm_ownership_rack_units (&settings, &owned, &basis), ==, 8);
  g_assert_cmpint (basis, ==, QM_BASIS_STATED);
  power = qm_ownership_power_text (&settings, &owned);
  units = qm_ownership_units_text (&settings, &owned);
  g_assert_nonnull (strstr (power, "10\u00a0kW"));
  g_assert_nonnull (strstr (power, "catalog"));
  g_assert_nonnull (strstr (units, "8 rack units, as the catalog"));
  list = qm_ownership_assumptions_of (&settings, &owned);
  for (guint i = 0; i < list->len; i++)
    {
      const QmAssumption *one = g_ptr_array_index (list, i);

      g_assert_cmpint (one->counts, ==,
                       strcmp (one->key, "rest") != 0
                           && strcmp (one->key, "rack_units") != 0);
    }

  settings.rest_ppm = 250000;
  settings.rack_units = 6;
  sum = compute (&settings, &owned);
  g_assert_cmpint (sum.electricity, ==, DOLLARS (52560));
  g_assert_cmpint (sum.hosting, ==, DOLLARS (30000));
  g_assert_cmpfloat (qm_ownership_machine_watts (&settings, &owned, &basis), ==,
                     5000);
  g_assert_cmpint (basis, ==, QM_BASIS_OWN);

  owned = server (DOLLARS (100000));
  g_assert_cmpfloat (qm_ownership_machine_watts (&usual, &owned, &basis), ==,
                     6000);
  g_assert_cmpint (basis, ==, QM_BASIS_ASSUMED);
  g_assert_cmpint (qm_ownership_rack_units (&usual, &owned, &basis), ==, 4);
  g_assert_cmpint (basis, ==, QM_BASIS_ASSUMED);
}

/* Each part alone changes the total by its own line, and nothing else. */
static void
test_switches (void)
{
  QmOwnershipSettings settings = everything ();
  QmOwned owned = server (DOLLARS (100000));

  for (guint part = QM_OWNERSHIP_DISCOUNT; part < QM_OWNERSHIP_ALL; part <<= 1)
    {
      QmOwnership sum;
      gint64 line;

      settings.parts = part;
      sum = compute (&settings, &owned);
      line = sum.discount + sum.shipping + sum.tax + sum.overhead + sum.residual
             + sum.electricity + sum.hosting + sum.support;
      g_assert_cmpint (sum.total, ==, DOLLARS (100000) + line);
      if (part != QM_OWNERSHIP_OVERHEAD) /* exempt, and there are no services */
        g_assert_cmpint (line, !=, 0);
      g_assert_cmpint (sum.discount != 0, ==, part == QM_OWNERSHIP_DISCOUNT);
      g_assert_cmpint (sum.shipping != 0, ==, part == QM_OWNERSHIP_SHIPPING);
      g_assert_cmpint (sum.tax != 0, ==, part == QM_OWNERSHIP_TAX);
      g_assert_cmpint (sum.residual != 0, ==, part == QM_OWNERSHIP_RESIDUAL);
      g_assert_cmpint (sum.electricity != 0, ==,
                       part == QM_OWNERSHIP_ELECTRICITY);
      g_assert_cmpint (sum.hosting != 0, ==, part == QM_OWNERSHIP_HOSTING);
      g_assert_cmpint (sum.support != 0, ==, part == QM_OWNERSHIP_SUPPORT);
    }
}

static void
test_overhead (void)
{
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  QmOwned owned = server (DOLLARS (9999));
  QmOwnership sum;

  settings.parts = QM_OWNERSHIP_OVERHEAD | QM_OWNERSHIP_SHIPPING;
  settings.overhead_ppm = 500000;
  sum = compute (&settings, &owned);
  g_assert_false (sum.exempt);
  g_assert_cmpint (sum.overhead, ==, 499950);
  g_assert_cmpint (sum.total, ==, 1499850);

  owned.price.minor = DOLLARS (10000);
  g_assert_cmpint (compute (&settings, &owned).overhead, ==, 0);
  /* Shipping belongs to what a unit costs; two machines are two units. */
  owned.price.minor = DOLLARS (9999);
  settings.shipping_minor = DOLLARS (1);
  g_assert_true (compute (&settings, &owned).exempt);
  owned.price.minor = DOLLARS (19996);
  owned.machines = 2;
  g_assert_false (compute (&settings, &owned).exempt);
}

static void
test_tax_included (void)
{
  QmOwnershipSettings settings = everything ();
  QmOwned owned = server (DOLLARS (100000));

  settings.tax_included = TRUE;
  g_assert_cmpint (compute (&settings, &owned).tax, ==, 0);
}

static void
test_other_currency (void)
{
  QmOwnershipSettings settings = everything ();
  QmOwned owned = { .price = { .minor = 1000000, .currency = "JPY" },
                    .machines = 2,
                    .gpus = 1,
                    .gpu_watts = 100 };
  g_autoptr (GError) error = NULL;
  QmOwnership sum = { .total = -7 };

  g_assert_false (qm_ownership_compute (&settings, &owned, &sum, &error));
  g_assert_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_CURRENCY);
  g_assert_cmpint (sum.total, ==, -7);

  memcpy (settings.currency, "JPY", 4);
  settings.parts = QM_OWNERSHIP_ELECTRICITY;
  settings.kwh_micros = 30 * G_GINT64_CONSTANT (1000000);
  sum = compute (&settings, &owned);
  /* 2 x 100 W x 0.8 x 1.25 x 1.5 x 730 h = 219 kWh; 6570 JPY a month */
  g_assert_cmpint (sum.electricity, ==, 6570 * 60);
  g_assert_cmpint (sum.total, ==, 1000000 + 6570 * 60);
}

static void
assert_refused (const QmOwnershipSettings *settings,
                const QmOwned *owned,
                int code)
{
  g_autoptr (GError) error = NULL;
  QmOwnership sum;

  g_assert_false (qm_ownership_compute (settings, owned, &sum, &error));
  g_assert_error (error, QM_OWNERSHIP_ERROR, code);
}

static void
test_refusals (void)
{
  QmOwned owned = server (DOLLARS (100000));
  QmOwned unknown = owned;
  QmOwned huge = server (G_MAXINT64 - 1);
  QmOwnershipSettings settings;
  const double lifetimes[] = { 0, -1, NAN, INFINITY, 51 };

  for (gsize i = 0; i < G_N_ELEMENTS (lifetimes); i++)
    {
      settings = everything ();
      settings.lifetime_years = lifetimes[i];
      assert_refused (&settings, &owned, QM_OWNERSHIP_ERROR_SETTING);
    }
  settings = everything ();
  settings.utilization_ppm = QM_PPM + 1;
  assert_refused (&settings, &owned, QM_OWNERSHIP_ERROR_SETTING);
  settings = everything ();
  settings.pue_ppm = QM_PPM - 1;
  assert_refused (&settings, &owned, QM_OWNERSHIP_ERROR_SETTING);
  settings = everything ();
  settings.tax_ppm = -1;
  assert_refused (&settings, &owned, QM_OWNERSHIP_ERROR_SETTING);

  settings = everything ();
  assert_refused (&settings, &huge, QM_OWNERSHIP_ERROR_RANGE);
  settings.kwh_micros = G_MAXINT64;
  assert_refused (&settings, &owned, QM_OWNERSHIP_ERROR_RANGE);
  unknown.gpu_watts = NAN;
  assert_refused (&settings, &unknown, QM_OWNERSHIP_ERROR_UNKNOWN);
  settings.parts = QM_OWNERSHIP_SUPPORT;
  compute (&settings, &unknown);
  unknown.price.minor = -1;
  assert_refused (&settings, &unknown, QM_OWNERSHIP_ERROR_SETTING);
}

/* At 75 % of 730 hours, with half of overhead: an hour of p USD is 821.25 p a
 * month. Owning begins with 108 600 - 9 000 and costs 2 826 a month. */
static void
test_rent (void)
{
  static const struct
  {
    gint64 hour_micros;
    QmBreakEven outcome;
    gint64 whole_months;
    double months;
  } cases[] = {
    { 20000000, QM_BREAK_EVEN_REACHED, 6, 99600 / 16884.0 },
    { 5000000, QM_BREAK_EVEN_REACHED, 48, 99600 / 2101.5 },
    { 4500000, QM_BREAK_EVEN_AFTER_LIFE, 62, 99600 / 1608.75 },
    { 2000000, QM_BREAK_EVEN_NEVER, -1, NAN },
    { 0, QM_BREAK_EVEN_NEVER, -1, NAN },
  };
  QmOwnershipSettings settings = everything ();
  QmOwned owned = server (DOLLARS (100000));

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmRent rent = { .hour_micros = cases[i].hour_micros,
                      .currency = "USD",
                      .gpus = 8 };
      g_autoptr (GError) error = NULL;
      QmOwnOrRent found;

      qm_ownership_compare_rent (&settings, &owned, &rent, &found, &error);
      g_assert_no_error (error);
      g_assert_cmpint (found.outcome, ==, cases[i].outcome);
      g_assert_cmpint (found.whole_months, ==, cases[i].whole_months);
      g_assert_cmpint (found.own_begin_minor, ==, DOLLARS (99600));
      g_assert_cmpint (found.instances, ==, 1);
      g_assert_cmpint (found.rent_month_micros, ==,
                       cases[i].hour_micros / 100 * 98550);
      if (isnan (cases[i].months))
        g_assert_true (isnan (found.months));
      else
        g_assert_cmpfloat_with_epsilon (found.months, cases[i].months, 1e-9);
    }
}

/* As many GPUs are compared, so that one that is owned is not held against
 * eight that are rented; without any use there is nothing to save. */
static void
test_instances (void)
{
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  QmOwned owned = { .price = { .minor = DOLLARS (73000), .currency = "USD" },
                    .machines = 3,
                    .gpus = 4,
                    .gpu_watts = NAN };
  QmRent rent = { .hour_micros = 10000000, .currency = "USD", .gpus = 6 };
  g_autoptr (GError) error = NULL;
  QmOwnOrRent found;

  rent.gpus = 8;
  g_assert_false (
      qm_ownership_compare_rent (&settings, &owned, &rent, &found, &error));
  g_assert_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_COUNT);
  g_clear_error (&error);
  rent.gpus = 6;
  /* 12 GPUs in instances of 6: 2 x 10 USD x 730 h */
  g_assert_true (
      qm_ownership_compare_rent (&settings, &owned, &rent, &found, NULL));
  g_assert_cmpint (found.instances, ==, 2);
  g_assert_cmpint (found.whole_months, ==, 5);
  g_assert_cmpfloat (found.months, ==, 5);
  g_assert_cmpfloat (qm_rent_experiment_cost (&rent, 12, 2), ==, 960);

  settings.utilization_ppm = 250000;
  g_assert_true (
      qm_ownership_compare_rent (&settings, &owned, &rent, &found, NULL));
  g_assert_cmpint (found.whole_months, ==, 20);
  settings.utilization_ppm = 0;
  g_assert_true (
      qm_ownership_compare_rent (&settings, &owned, &rent, &found, NULL));
  g_assert_cmpint (found.outcome, ==, QM_BREAK_EVEN_NEVER);

  memcpy (rent.currency, "EUR", 4);
  g_assert_false (
      qm_ownership_compare_rent (&settings, &owned, &rent, &found, &error));
  g_assert_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_CURRENCY);
}

/* With the price alone, every candidate costs what the advice says, to the last
 * bit. */
static void
check_model (const char *model, gboolean any_price, double lifetime)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (GError) error = NULL;
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  const QmCandidate *candidates;
  guint n;
  guint priced = 0;

  question->model = g_strdup (model);
  question->any_price = any_price;
  question->lifetime_years = lifetime;
  settings.lifetime_years = lifetime;
  advice = qm_advice_new (catalog, question, &error);
  g_assert_no_error (error);
  candidates = qm_advice_candidates (advice, &n);
  for (guint i = 0; i < n; i++)
    {
      QmOwned owned;
      QmOwnership sum;

      if (!qm_owned_of_candidate (&candidates[i], &owned))
        continue;
      sum = compute (&settings, &owned);
      g_assert_cmpint (sum.total, ==, candidates[i].cost_minor);
      if (qm_known (candidates[i].days))
        g_assert_true (qm_ownership_experiment_cost (&sum, candidates[i].days)
                       == candidates[i].experiment_cost);
      priced++;
    }
  g_assert_cmpuint (priced, >, 0);
}

static void
test_published_figures (void)
{
  size_t n;
  const QmModel *models = qm_catalog_models (catalog, &n);

  g_assert_cmpuint (n, >, 0);
  for (size_t i = 0; i < n; i++)
    {
      check_model (models[i].id, FALSE, 5);
      check_model (models[i].id, TRUE, 3.5);
    }
}

/* The catalog's prices to rent an H100: each source once, the cheapest first.
 */
static void
test_rent_prices (void)
{
  g_autoptr (GPtrArray) prices =
      qm_rent_prices (catalog, "h100-80gb-sxm", "USD");
  g_autoptr (GPtrArray) none = qm_rent_prices (catalog, "h100-80gb-sxm", "EUR");
  gint64 before = 0;

  g_assert_cmpuint (none->len, ==, 0);
  g_assert_cmpuint (prices->len, >=, 5);
  for (guint i = 0; i < prices->len; i++)
    {
      const QmPrice *price = g_ptr_array_index (prices, i);
      QmRent rent = { 0 };

      g_assert_true (qm_rent_of_price (price, &rent));
      g_assert_cmpint (rent.gpus, ==, price->gpus);
      g_assert_cmpint (rent.hour_micros, ==, price->micros);
      g_assert_cmpint (rent.hour_micros / rent.gpus, >=, before);
      before = rent.hour_micros / rent.gpus;
      for (guint j = 0; j < i; j++)
        g_assert_cmpstr (((QmPrice *) g_ptr_array_index (prices, j))->source,
                         !=, price->source);
    }
}

/* A price to rent with tax counts without it, as one to buy does. */
static void
test_rent_with_tax (void)
{
  QmPrice price = { .unit = QM_PRICE_HOUR,
                    .gpus = 8,
                    .currency = "USD",
                    .micros = 23800000,
                    .tax_percent = 19 };
  QmRent rent = { 0 };

  g_assert_true (qm_rent_of_price (&price, &rent));
  g_assert_cmpint (rent.hour_micros, ==, 20000000);
}

static void
test_assumptions (void)
{
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  guint changed = 0;

  settings.parts = QM_OWNERSHIP_ELECTRICITY;
  settings.pue_ppm = 1100000;
  {
    g_autoptr (GPtrArray) list = qm_ownership_assumptions (&settings);

    g_assert_cmpuint (list->len, >=, 15);
    for (guint i = 0; i < list->len; i++)
      {
        const QmAssumption *one = g_ptr_array_index (list, i);

        g_assert_cmpstr (one->name, !=, "");
        g_assert_cmpstr (one->value, !=, "");
        g_assert_cmpstr (one->source, !=, "");
        g_assert_cmpint (one->counts, ==,
                         one->part == 0
                             || one->part == QM_OWNERSHIP_ELECTRICITY);
        changed += one->changed != FALSE;
        if (strcmp (one->key, "pue") == 0)
          g_assert_cmpstr (one->value, ==, "1.1");
        if (strcmp (one->key, "kwh") == 0)
          {
            g_assert_cmpstr (one->value, ==, "0.12");
            g_assert_cmpstr (one->unit, ==, "USD a kWh");
          }
        if (strcmp (one->key, "overhead_threshold") == 0)
          g_assert_cmpstr (one->value, ==, "10,000");
      }
    g_assert_cmpuint (changed, ==, 1);
  }
}

/* Each assumption can be set by its key to what the list says of it. */
static void
test_keys (void)
{
  QmOwnershipSettings settings = everything ();
  QmOwnershipSettings again = qm_ownership_settings_default ();
  g_autoptr (GPtrArray) list = qm_ownership_assumptions (&settings);
  g_autoptr (GError) error = NULL;

  again.parts = settings.parts;
  for (guint i = 0; i < list->len; i++)
    {
      const QmAssumption *one = g_ptr_array_index (list, i);
      g_auto (GStrv) groups = g_strsplit (one->value, ",", -1);
      g_autofree char *plain = g_strjoinv ("", groups);

      qm_ownership_settings_set (&again, one->key, plain, &error);
      g_assert_no_error (error);
    }
  {
    g_autoptr (GPtrArray) set = qm_ownership_assumptions (&again);

    for (guint i = 0; i < list->len; i++)
      g_assert_cmpstr (((QmAssumption *) g_ptr_array_index (set, i))->value, ==,
                       ((QmAssumption *) g_ptr_array_index (list, i))->value);
  }

  g_assert_false (qm_ownership_settings_set (&again, "pue", "much", &error));
  g_assert_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_SETTING);
  g_clear_error (&error);
  g_assert_false (qm_ownership_settings_set (&again, "luck", "1", &error));
  g_assert_error (error, QM_OWNERSHIP_ERROR, QM_OWNERSHIP_ERROR_SETTING);

  for (guint part = QM_OWNERSHIP_DISCOUNT; part < QM_OWNERSHIP_ALL; part <<= 1)
    g_assert_cmpint (qm_ownership_part_of_name (qm_ownership_part_name (part)),
                     ==, part);
  g_assert_null (qm_ownership_part_name (QM_OWNERSHIP_ALL));
  g_assert_cmpint (qm_ownership_part_of_name ("luck"), ==, 0);
}

/* An advice may count it: 21 % tax makes every price that much higher, and what
 * the budget buys another machine. */
static void
test_counted (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) prices = NULL;
  g_autoptr (QmAdvice) totals = NULL;
  QmOwnershipSettings settings = qm_ownership_settings_default ();
  const QmCandidate *before, *after;
  QmRecommendation found;

  question->model = g_strdup ("pythia-1b");
  prices = qm_advice_new (catalog, question, NULL);
  settings.parts = QM_OWNERSHIP_TAX;
  settings.tax_ppm = 210000;
  settings.lifetime_years = 1; /* the question's counts */
  qm_question_set_ownership (question, &settings);
  totals = qm_advice_new (catalog, question, NULL);
  g_assert_false (qm_advice_counts_ownership (prices));
  g_assert_true (qm_advice_counts_ownership (totals));

  before = find_candidate (prices, "h100-80gb-sxm", 1);
  after = find_candidate (totals, "h100-80gb-sxm", 1);
  g_assert_cmpint (before->cost_minor, ==, before->price_minor);
  g_assert_cmpint (after->price_minor, ==, before->price_minor);
  g_assert_cmpint (after->cost_minor, ==, DOLLARS (31000) * 121 / 100);
  g_assert_cmpfloat_with_epsilon (after->experiment_cost,
                                  before->experiment_cost * 1.21, 1e-6);
  found = qm_advice_recommend (prices, DOLLARS (31000), NAN);
  g_assert_true (&qm_advice_candidates (prices, &(guint){ 0 })[found.best]
                 == before);
  found = qm_advice_recommend (totals, DOLLARS (31000), NAN);
  g_assert_true (&qm_advice_candidates (totals, &(guint){ 0 })[found.best]
                 != after);
}

/* With the price alone, a total is the price. */
static void
test_counted_price_alone (void)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmAdvice) totals = NULL;
  const QmOwnershipSettings settings = qm_ownership_settings_default ();
  const QmCandidate *candidates;
  guint n;

  question->model = g_strdup ("pythia-1b");
  qm_question_set_ownership (question, &settings);
  totals = qm_advice_new (catalog, question, NULL);
  candidates = qm_advice_candidates (totals, &n);
  g_assert_cmpuint (n, >, 0);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (candidates[i].cost_minor, ==, candidates[i].price_minor);
}

int
main (int argc, char **argv)
{
  QmError error = { 0 };
  int status;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  g_test_add_func ("/ownership/sum", test_sum);
  g_test_add_func ("/ownership/switches", test_switches);
  g_test_add_func ("/ownership/overhead", test_overhead);
  g_test_add_func ("/ownership/tax-included", test_tax_included);
  g_test_add_func ("/ownership/other-currency", test_other_currency);
  g_test_add_func ("/ownership/refusals", test_refusals);
  g_test_add_func ("/ownership/rent", test_rent);
  g_test_add_func ("/ownership/once", test_once);
  g_test_add_func ("/ownership/stated", test_stated);
  g_test_add_func ("/ownership/instances", test_instances);
  g_test_add_func ("/ownership/published-figures", test_published_figures);
  g_test_add_func ("/ownership/keys", test_keys);
  g_test_add_func ("/ownership/rent-prices", test_rent_prices);
  g_test_add_func ("/ownership/rent-with-tax", test_rent_with_tax);
  g_test_add_func ("/ownership/assumptions", test_assumptions);
  g_test_add_func ("/ownership/counted", test_counted);
  g_test_add_func ("/ownership/counted-price-alone", test_counted_price_alone);
  status = g_test_run ();
  qm_catalog_free (catalog);
  return status;
}
