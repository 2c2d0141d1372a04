/* SPDX-License-Identifier: Apache-2.0 */

/* Which price counts, and how well it is known. */

#include "pricing/advice/qm-price.h"

#include <glib/gstdio.h>
#include <math.h>

#define HEAD "item,kind,unit,price,low,high,currency,observed_on,source\n"

static const char gpus[] = "id,name,memory_gib,fp16_tflops,source\n"
                           "new,New,48,100,a test\n"
                           "old,Old,24,50,a test\n"
                           "rare,Rare,80,50,a test\n";

/* A catalog of three GPUs, and twenty more, with these prices, and with these
 * of the user (may be NULL). */
static QmCatalog *
catalog_with (const char *prices, const char *own)
{
  g_autofree char *folder = g_dir_make_tmp ("prices-XXXXXX", NULL);
  g_autofree char *user = g_build_filename (folder, "user", NULL);
  g_autofree char *gpu_file = g_build_filename (folder, "gpus.csv", NULL);
  g_autofree char *price_file = g_build_filename (folder, "prices.csv", NULL);
  g_autofree char *own_file = g_build_filename (user, "prices.csv", NULL);
  g_autofree char *models = g_build_filename (folder, "models", NULL);
  g_autofree char *times = g_build_filename (folder, "measurements", NULL);
  g_autofree char *machines = g_build_filename (folder, "machines.csv", NULL);
  g_autoptr (GString) all = g_string_new (gpus);
  QmCatalog *catalog = NULL;
  const QmError *problems;
  QmError error;
  size_t n;

  g_mkdir (user, 0700);
  g_mkdir (models, 0700);
  g_mkdir (times, 0700);
  for (int i = 1; i <= 20; i++)
    g_string_append_printf (all, "g%d,G%d,1,1,a test\n", i, i);
  g_assert_true (g_file_set_contents (gpu_file, all->str, -1, NULL));
  g_assert_true (g_file_set_contents (price_file, prices, -1, NULL));
  g_assert_true (g_file_set_contents (
      machines, "machine,name,kind,gpus,part,price,source\n", -1, NULL));
  if (own != NULL)
    g_assert_true (g_file_set_contents (own_file, own, -1, NULL));
  if (qm_catalog_load (folder, user, &catalog, &error) != QM_OK)
    g_error ("%s: %s", error.file, error.message);
  problems = qm_catalog_problems (catalog, &n);
  for (size_t i = 0; i < n; i++)
    g_error ("%s:%d: %s", problems[i].file, problems[i].line,
             problems[i].message);
  g_unlink (gpu_file);
  g_unlink (price_file);
  g_unlink (machines);
  g_unlink (own_file);
  g_rmdir (user);
  g_rmdir (models);
  g_rmdir (times);
  g_rmdir (folder);
  return catalog;
}

static gint64
choose (const QmCatalog *catalog, const char *item, QmPriceBasis basis)
{
  const QmPrice *price =
      qm_price_choose (catalog, NULL, item, QM_PRICE_EACH, basis);

  return price != NULL
             ? qm_price_counted_micros (price, NULL) / QM_MICROS_PER_UNIT
             : -1;
}

/* What somebody sells at goes before anything newer that nobody does. */
static void
test_sound_first (void)
{
  QmCatalog *catalog =
      catalog_with (HEAD "new,published,each,1,,,USD,2024-09-21,paper\n"
                         "new,street,each,2,,,USD,2025-01-01,shop\n"
                         "new,list,each,3,,,USD,2024-01-01,maker\n"
                         "new,resale,each,4,,,USD,2026-01-01,market\n"
                         "new,claim,each,5,,,USD,2026-02-01,somebody\n"
                         "new,list,each,6,,,USD,,maker\n"
                         "new,quote,each,7,,,EUR,2026-11-01,dealer\n"
                         "new,cloud,hour,8,,,USD,2026-11-01,cloud\n",
                    NULL);

  g_assert_cmpint (choose (catalog, "new", QM_PRICES_CURRENT), ==, 2);
  g_assert_cmpint (choose (catalog, "new", QM_PRICES_ANY), ==, 4);
  g_assert_cmpint (choose (catalog, "new", QM_PRICES_PUBLISHED), ==, 1);
  g_assert_cmpint (choose (catalog, "old", QM_PRICES_CURRENT), ==, -1);
  qm_catalog_free (catalog);
}

/* Where nobody is known to sell, the rest counts, the newest first, a claim
 * last of all; and it says that it is weak. */
static void
test_weak_last (void)
{
  QmCatalog *catalog =
      catalog_with (HEAD "old,list,each,1,,,USD,,maker\n"
                         "old,resale,each,2,,,USD,2025-01-01,market\n"
                         "old,published,each,3,,,USD,2024-01-01,paper\n"
                         "old,claim,each,4,,,USD,2026-01-01,somebody\n"
                         "rare,claim,each,,20,40,USD,2026-01-01,somebody\n"
                         "new,estimate,each,,10,20,USD,2026-01-01,parts\n",
                    NULL);
  const QmPrice *price;

  g_assert_cmpint (choose (catalog, "old", QM_PRICES_CURRENT), ==, 2);
  price =
      qm_price_choose (catalog, NULL, "old", QM_PRICE_EACH, QM_PRICES_CURRENT);
  g_assert_true (qm_price_is_weak (price));
  /* Of a range the middle counts. */
  g_assert_cmpint (choose (catalog, "rare", QM_PRICES_CURRENT), ==, 30);
  g_assert_cmpint (choose (catalog, "rare", QM_PRICES_PUBLISHED), ==, -1);
  price =
      qm_price_choose (catalog, NULL, "new", QM_PRICE_EACH, QM_PRICES_CURRENT);
  g_assert_false (qm_price_is_weak (price));
  g_assert_cmpint (qm_price_counted_micros (price, NULL), ==, 15000000);
  qm_catalog_free (catalog);
}

/* Other currencies count at the newest exchange rate, and no price with its
 * tax. */
static void
test_currencies (void)
{
  static const QmRate known[] = {
    { "USD", { 2026, 1, 2 }, 2 * QM_RATE_NANOS },
    { "USD", { 2026, 4, 2 }, 5 * QM_RATE_NANOS / 4 },
    { "JPY", { 2026, 4, 2 }, 125 * QM_RATE_NANOS },
    { "HRK", { 2026, 1, 2 }, 7 * QM_RATE_NANOS },
  };
  g_autoptr (QmRates) rates = qm_rates_new (known, G_N_ELEMENTS (known), NULL);
  QmCatalog *catalog = catalog_with (
      "item,kind,unit,price,low,high,currency,tax_percent,observed_on,source\n"
      "new,street,each,2,,,USD,,2025-01-01,shop\n"
      "new,street,each,120,,,EUR,20,2026-03-01,shop\n"
      "old,street,each,,110000,220000,JPY,10,2026-01-01,shop\n"
      "rare,street,each,500,,,HRK,,2026-01-01,shop\n",
      "item,kind,unit,price,currency,source\n"
      "rare,street,each,9,ARS,me\n"
      "new,cloud,hour,9,ARS,me\n");
  g_autoptr (GPtrArray) without = NULL;
  const QmPrice *price;
  gint64 low, high;

  g_assert_cmpint (choose (catalog, "new", QM_PRICES_CURRENT), ==, 2);
  price =
      qm_price_choose (catalog, rates, "new", QM_PRICE_EACH, QM_PRICES_CURRENT);
  /* 100 EUR without tax, at the newest rate, not at that of its day. */
  g_assert_cmpint (qm_price_counted_micros (price, rates), ==, 125000000);
  g_assert_cmpint (qm_price_counted_micros (price, NULL), ==, -1);
  price =
      qm_price_choose (catalog, rates, "old", QM_PRICE_EACH, QM_PRICES_CURRENT);
  g_assert_cmpint (qm_price_counted_micros (price, rates), ==, 1500000000);
  qm_price_interval (price, rates, 0, (QmDate){ 0 }, &low, &high);
  g_assert_cmpint (low, ==, 1000000000);
  g_assert_cmpint (high, ==, 2000000000);
  /* A currency that has ended, and one that nobody publishes. */
  g_assert_null (qm_price_choose (catalog, rates, "rare", QM_PRICE_EACH,
                                  QM_PRICES_CURRENT));
  without = qm_prices_without_rate (catalog, rates);
  g_assert_cmpuint (without->len, ==, 1);
  price = g_ptr_array_index (without, 0);
  g_assert_cmpstr (price->item, ==, "rare");
  g_assert_true (price->from_user);
  qm_catalog_free (catalog);
}

/* The user's own go before all, but for the published ones. */
static void
test_own_first (void)
{
  QmCatalog *catalog =
      catalog_with (HEAD "new,street,each,2,,,USD,2026-10-01,shop\n"
                         "new,published,each,1,,,USD,2024-09-21,paper\n",
                    "item,kind,price,currency,observed_on,source\n"
                    "new,resale,9,USD,2025-01-01,a colleague\n"
                    "old,quote,7,EUR,2026-11-01,a reseller\n");
  const QmPrice *price =
      qm_price_choose (catalog, NULL, "new", QM_PRICE_EACH, QM_PRICES_CURRENT);

  g_assert_cmpint (price->micros, ==, 9000000);
  g_assert_false (qm_price_is_weak (price));
  g_assert_cmpint (choose (catalog, "new", QM_PRICES_PUBLISHED), ==, 1);
  /* Advice is in dollars. */
  g_assert_cmpint (choose (catalog, "old", QM_PRICES_CURRENT), ==, -1);
  qm_catalog_free (catalog);
}

/* Of twenty things two prices a year apart, the k-th e^(k / 40) times as dear:
 * nine of ten are the first eighteen. */
static QmCatalog *
history (void)
{
  /* Of used goods, claimed, of another thing, too near. */
  static const char left_out[] = "g1,resale,each,1,,,USD,2020-01-02,market\n"
                                 "g1,claim,each,1,,,USD,2020-01-02,market\n"
                                 "old,street,each,1,,,USD,2016-06-01,shop\n"
                                 "g2,street,each,9,,,USD,2019-12-31,shop\n";
  g_autoptr (GString) prices = g_string_new (HEAD);

  for (int i = 1; i <= 20; i++)
    g_string_append_printf (prices,
                            "g%d,street,each,1000,,,USD,2019-01-01,shop\n"
                            "g%d,street,each,%.6f,,,USD,2020-01-01,shop\n",
                            i, i, 1000 * exp (i / 40.0));
  g_string_append_printf (prices, "%s", left_out);
  return catalog_with (prices->str, NULL);
}

static void
test_spread (void)
{
  QmCatalog *catalog = history ();
  QmCatalog *few =
      catalog_with (HEAD "new,street,each,1,,,USD,2020-01-01,shop\n", NULL);
  guint n;
  double spread = qm_price_spread (catalog, &n);

  g_assert_cmpuint (n, ==, 20);
  g_assert_cmpfloat_with_epsilon (spread, 18 / 40.0, 2e-3);
  g_assert_cmpfloat (qm_price_spread (few, &n), ==, 0);
  g_assert_cmpuint (n, ==, 0);
  qm_catalog_free (few);
  qm_catalog_free (catalog);
}

static void
test_interval (void)
{
  const QmPrice price = { .currency = "USD",
                          .micros = 100000000,
                          .low_micros = -1,
                          .high_micros = -1,
                          .observed_on = { 2024, 1, 1 } };
  const QmPrice range = { .currency = "USD",
                          .micros = -1,
                          .low_micros = 80000000,
                          .high_micros = 120000000,
                          .observed_on = { 2024, 1, 1 } };
  const QmPrice undated = { .currency = "USD", .micros = 100000000 };
  const QmDate later = { 2028, 1, 1 };
  gint64 low, high;

  /* After four years twice what it is after one. */
  qm_price_interval (&price, NULL, 0.1, later, &low, &high);
  g_assert_cmpfloat_with_epsilon (high / 1e8, exp (0.2), 1e-3);
  g_assert_cmpfloat_with_epsilon (low / 1e8, exp (-0.2), 1e-3);
  qm_price_interval (&range, NULL, 0.1, later, &low, &high);
  g_assert_cmpfloat_with_epsilon (high / 1.2e8, exp (0.2), 1e-3);
  g_assert_cmpfloat_with_epsilon (low / 0.8e8, exp (-0.2), 1e-3);
  /* Neither from the future nor without a date it grows. */
  qm_price_interval (&price, NULL, 0.1, (QmDate){ 2023, 1, 1 }, &low, &high);
  g_assert_cmpint (low, ==, high);
  qm_price_interval (&undated, NULL, 0.1, later, &low, &high);
  g_assert_cmpint (low, ==, high);
  qm_price_interval (&price, NULL, 0.1, (QmDate){ 0 }, &low, &high);
  g_assert_cmpint (low, ==, high);
}

/* What is shipped tells a spread. */
static void
test_shipped (void)
{
  QmCatalog *catalog = NULL;
  QmError error;
  guint n;
  double spread;

  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_SHIPPED_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  spread = qm_price_spread (catalog, &n);
  g_test_message ("%u pairs, %.3f", n, spread);
  g_assert_cmpuint (n, >=, QM_PRICE_SPREAD_MIN);
  g_assert_cmpfloat (spread, >, 0.05);
  g_assert_cmpfloat (spread, <, 1);
  qm_catalog_free (catalog);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/price/sound-first", test_sound_first);
  g_test_add_func ("/price/weak-last", test_weak_last);
  g_test_add_func ("/price/currencies", test_currencies);
  g_test_add_func ("/price/own-first", test_own_first);
  g_test_add_func ("/price/spread", test_spread);
  g_test_add_func ("/price/interval", test_interval);
  g_test_add_func ("/price/shipped", test_shipped);
  return g_test_run ();
}
