/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes on one basis. */

#include "pricing/papers/qm-compare-paper.h"
#include "pricing/quotes/qm-quote-compare.h"

#include <math.h>
#include <string.h>

static QmCatalog *catalog;

#define UNITS(n) ((gint64) (n) *QM_MICROS_PER_UNIT)

static QmQuoteLine *
add_line (QmQuote *quote,
          QmLineRole role,
          const char *words,
          const char *item,
          int quantity,
          int price)
{
  QmQuoteLine *line = qm_quote_add_line (quote, role);

  line->description = g_strdup (words);
  line->item = g_strdup (item);
  line->match = item != NULL ? QM_MATCH_FOUND : QM_MATCH_NONE;
  line->gpus = item != NULL ? 1 : 0;
  line->quantity_micros = UNITS (quantity);
  if (price >= 0)
    line->price_micros = UNITS (price);
  return line;
}

static QmQuote *
add_quote (GPtrArray *quotes, const char *vendor, const char *currency)
{
  QmQuote *quote = qm_quote_new ();

  quote->vendor = g_strdup (vendor);
  g_strlcpy (quote->currency, currency, sizeof quote->currency);
  quote->issued_on = (QmDate){ 2026, 11, 20 };
  g_ptr_array_add (quotes, quote);
  return quote;
}

static GPtrArray *
no_quotes (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
}

/* One euro is 2 dollars or 8 crowns. */
static QmRates *
some_rates (void)
{
  const QmRate list[] = { { "USD", { 2026, 11, 19 }, 2000000000 },
                          { "DKK", { 2026, 11, 19 }, 8000000000 } };
  g_autoptr (GError) error = NULL;
  QmRates *rates = qm_rates_new (list, G_N_ELEMENTS (list), &error);

  g_assert_no_error (error);
  return rates;
}

static QmQuoteComparison *
compare (GPtrArray *quotes, const char *currency, double tax)
{
  g_autoptr (QmRates) rates = some_rates ();
  QmComparedTerms terms = { .tax_percent = tax,
                            .lifetime_years = 4,
                            .today = { 2026, 11, 26 } };

  g_strlcpy (terms.currency, currency, sizeof terms.currency);
  return qm_quote_comparison_new (catalog, quotes, rates, &terms);
}

/* Three vendors: without tax in EUR, with it in USD, and with it in DKK but
 * without a word of how much it is. */
static GPtrArray *
three_quotes (void)
{
  GPtrArray *quotes = no_quotes ();
  QmQuote *quote = add_quote (quotes, "Netto", "EUR");

  add_line (quote, QM_LINE_QUOTED, "GPU server 2U, 2 x EPYC, 256 GB DDR5", NULL,
            1, 10000);
  add_line (quote, QM_LINE_QUOTED, "L40S", "l40s", 2, 6000);
  add_line (quote, QM_LINE_QUOTED, "100GbE network card", NULL, 1, 500);
  add_line (quote, QM_LINE_OPTION, "Second power supply", NULL, 1, 700);

  quote = add_quote (quotes, "Brutto", "USD");
  quote->tax_included = QM_YES;
  quote->tax_minor = 950000;
  quote->payable_minor = 5950000;
  add_line (quote, QM_LINE_QUOTED, "GPU server, 2 x Xeon", NULL, 1, 23800);
  add_line (quote, QM_LINE_QUOTED, "L40S", "l40s", 2, 17850);

  quote = add_quote (quotes, "Moms", "DKK");
  quote->tax_included = QM_YES;
  add_line (quote, QM_LINE_QUOTED, "L40S", "l40s", 4, 50000);
  add_line (quote, QM_LINE_QUOTED, "Installation on site", NULL, 1, -1);
  return quotes;
}

static void
test_totals (void)
{
  g_autoptr (GPtrArray) quotes = three_quotes ();
  g_autoptr (QmQuoteComparison) told = compare (quotes, "", 0);
  g_autoptr (QmQuoteComparison) found = compare (quotes, "EUR", 25);

  g_assert_cmpstr (told->terms.currency, ==, "USD");
  g_assert_cmpint (told->quotes[0].net_minor, ==, 4500000);
  g_assert_cmpint (told->quotes[0].gross_minor, ==, QM_AMOUNT_UNSTATED);
  g_assert_cmpint (told->quotes[2].net_minor, ==, QM_AMOUNT_UNSTATED);
  g_assert_cmpint (told->quotes[2].gross_minor, ==, 5000000);
  g_assert_nonnull (told->quotes[2].reason);

  g_assert_cmpint (found->quotes[0].net_minor, ==, 2250000);
  g_assert_cmpint (found->quotes[0].gross_minor, ==, 2812500);
  g_assert_true (found->quotes[0].gross_derived);
  g_assert_false (found->quotes[0].net_derived);
  g_assert_cmpint (found->quotes[1].net_minor, ==, 2500000);
  g_assert_cmpint (found->quotes[1].tax_minor, ==, 475000);
  g_assert_cmpint (found->quotes[1].gross_minor, ==, 2975000);
  g_assert_false (found->quotes[1].gross_derived);
  g_assert_cmpint (found->quotes[2].net_minor, ==, 2000000);
  g_assert_true (found->quotes[2].net_derived);
  g_assert_cmpint (found->quotes[2].gross_minor, ==, 2500000);
}

/* What is to be paid without a word of a tax is no more than the net amount:
 * nobody says that there is none.  What takes something off stays below zero in
 * another currency. */
static void
test_untold (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  QmQuote *quote = add_quote (quotes, "Netto", "EUR");
  g_autoptr (QmQuoteComparison) found = NULL;

  add_line (quote, QM_LINE_QUOTED, "GPU server, 2 x Xeon", NULL, 1, 10000);
  quote->discount_minor = 50000;
  quote->payable_minor = 950000;
  found = compare (quotes, "USD", 0);
  g_assert_cmpint (found->quotes[0].net_minor, ==, 1900000);
  g_assert_cmpint (found->quotes[0].gross_minor, ==, QM_AMOUNT_UNSTATED);
  g_assert_cmpint (found->quotes[0].tax_minor, ==, QM_AMOUNT_UNSTATED);
  g_assert_cmpint (found->quotes[0].parts[QM_PART_DISCOUNT].minor, ==, -100000);
}

static void
test_parts (void)
{
  g_autoptr (GPtrArray) quotes = three_quotes ();
  g_autoptr (QmQuoteComparison) found = compare (quotes, "EUR", 25);
  const QmComparedQuote *first = &found->quotes[0];
  const QmComparedQuote *second = &found->quotes[1];
  const QmComparedQuote *third = &found->quotes[2];

  g_assert_cmpint (first->parts[QM_PART_SERVER].minor, ==, 1000000);
  g_assert_cmpint (first->parts[QM_PART_GPUS].minor, ==, 1200000);
  g_assert_cmpint (first->parts[QM_PART_NETWORK].minor, ==, 50000);
  g_assert_cmpint (first->parts[QM_PART_MEMORY].state, ==, QM_STATE_CONTAINED);
  g_assert_cmpint (first->parts[QM_PART_OPTIONS].state, ==, QM_STATE_CONTAINED);
  g_assert_cmpint (first->parts[QM_PART_OPTIONS].minor, ==, QM_AMOUNT_UNSTATED);
  /* 23,800 of 59,500 with tax is 20,000 of 50,000 without. */
  g_assert_cmpint (second->parts[QM_PART_SERVER].minor, ==, 1000000);
  g_assert_cmpint (second->parts[QM_PART_GPUS].minor, ==, 1500000);
  g_assert_cmpint (third->parts[QM_PART_SERVICE].state, ==, QM_STATE_UNPRICED);
  g_assert_cmpint (third->parts[QM_PART_SERVER].state, ==, QM_STATE_MISSING);
  g_assert_cmpuint (first->lacks, ==, 1u << QM_PART_SERVICE);
  g_assert_cmpuint (second->lacks, ==,
                    1u << QM_PART_MEMORY | 1u << QM_PART_NETWORK
                        | 1u << QM_PART_SERVICE);
  g_assert_cmpuint (third->lacks, ==,
                    1u << QM_PART_SERVER | 1u << QM_PART_MEMORY
                        | 1u << QM_PART_NETWORK);
}

/* The cheapest without a server does not win, and what costs nothing to know
 * does not either. */
static void
test_winners (void)
{
  g_autoptr (GPtrArray) quotes = three_quotes ();
  g_autoptr (QmQuoteComparison) found = compare (quotes, "EUR", 25);
  const QmComparedMeasure *net =
      qm_quote_comparison_measure (found, QM_MEASURE_NET, -1);
  const QmComparedMeasure *per_gpu =
      qm_quote_comparison_measure (found, QM_MEASURE_PER_GPU, -1);

  g_assert_cmpuint (net->winners, ==, 1);
  g_assert_cmpfloat (net->values[2], <, net->values[0]);
  g_assert_cmpint (found->quotes[2].gpus, ==, 4);
  g_assert_cmpint (found->quotes[2].per_gpu_minor, ==, 500000);
  g_assert_cmpint (found->quotes[0].per_gpu_minor, ==, 1125000);
  g_assert_cmpuint (per_gpu->winners, ==, 1);
  g_assert_cmpfloat_with_epsilon (found->quotes[0].day_minor,
                                  2250000 / (4 * 365.0), 1e-6);
}

static void
test_tie (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmQuoteComparison) found = NULL;
  const QmComparedMeasure *net;

  for (guint i = 0; i < 3; i++)
    add_line (add_quote (quotes, "Same", "EUR"), QM_LINE_QUOTED, "L40S", "l40s",
              1, i < 2 ? 100 : 200);
  found = compare (quotes, "", 0);
  net = qm_quote_comparison_measure (found, QM_MEASURE_NET, -1);
  g_assert_cmpuint (net->winners, ==, 3);
  g_ptr_array_remove_index (quotes, 2);
  qm_quote_comparison_free (found);
  found = compare (quotes, "", 0);
  net = qm_quote_comparison_measure (found, QM_MEASURE_NET, -1);
  g_assert_cmpuint (net->winners, ==, 0);
}

/* Nothing is known: no currency, no lines, no prices. */
static void
test_nothing (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmQuoteComparison) found = NULL;
  g_autoptr (QmPaper) paper = NULL;
  g_autofree char *text = NULL;

  add_quote (quotes, "Empty", "");
  add_line (add_quote (quotes, "Unpriced", "EUR"), QM_LINE_QUOTED, "L40S",
            "l40s", 1, -1);
  found = compare (quotes, "JPY", 0);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (found->quotes[i].net_minor, ==, QM_AMOUNT_UNSTATED);
      g_assert_nonnull (found->quotes[i].reason);
    }
  g_assert_cmpuint (found->measures->len, ==, 0);
  paper = qm_compare_paper_new (found);
  text = qm_paper_to_markdown (paper);
  g_assert_nonnull (strstr (text, found->quotes[0].reason));
}

/* What is taken for granted of a quote, or cannot be, stands beneath its
 * figures. */
static void
test_notes (void)
{
  g_autoptr (GPtrArray) quotes = three_quotes ();
  g_autoptr (QmQuoteComparison) found = NULL;
  g_autoptr (QmPaper) paper = NULL;
  g_autofree char *text = NULL;
  QmQuote *told = add_quote (quotes, "Told", "EUR");
  QmQuoteLine *line;

  told->tax_included = QM_NO;
  line = add_line (told, QM_LINE_QUOTED, "Server with RTX PRO 4500", NULL, 1,
                   9000);
  line->match = QM_MATCH_AMBIGUOUS;
  line->candidates = g_strdup ("rtxpro4500;rtxpro4500-server");
  found = compare (quotes, "EUR", 0);
  paper = qm_compare_paper_new (found);
  text = qm_paper_to_markdown (paper);
  g_assert_nonnull (strstr (text, "Netto: whether its prices contain tax"));
  g_assert_null (strstr (text, "Brutto: whether its prices contain tax"));
  g_assert_null (strstr (text, "Told: whether its prices contain tax"));
  g_assert_nonnull (strstr (text, "Told: line 1 may be one of rtxpro4500, "
                                  "rtxpro4500-server"));
}

static void
test_trainings (void)
{
  g_autoptr (GPtrArray) quotes = three_quotes ();
  g_autoptr (QmQuoteComparison) found = compare (quotes, "EUR", 25);
  g_autoptr (QmRates) rates = some_rates ();
  const double day = 2250000 / (4 * 365.0);
  const QmTrainingTime times[QM_COMPARED_MOST] = {
    { .days = 10, .low = NAN, .high = NAN },
    { .days = 8, .low = 7, .high = 9 },
    { .days = 5, .low = NAN, .high = NAN, .added_usd_minor = 1000000 },
  };
  const QmTrainingTime unknown[QM_COMPARED_MOST] = {
    { .days = 10, .low = NAN, .high = NAN },
    { .days = NAN, .low = NAN, .high = NAN },
    { .days = 5, .low = NAN, .high = NAN, .added_usd_minor = -1 },
  };
  const QmComparedMeasure *measure;

  qm_quote_comparison_add_training (found, "A", 3, times, rates);
  measure = qm_quote_comparison_measure (found, QM_MEASURE_RUN_DAYS, 0);
  g_assert_cmpuint (measure->winners, ==, 1u << 2);
  measure = qm_quote_comparison_measure (found, QM_MEASURE_RUN_COST, 0);
  g_assert_cmpfloat_with_epsilon (measure->values[0], 10 * day, 1e-3);
  /* The machine that is bought besides, 10,000 dollars, counts. */
  g_assert_cmpfloat_with_epsilon (measure->values[2],
                                  5 * (2000000 + 500000) / (4 * 365.0), 1e-3);
  measure = qm_quote_comparison_measure (found, QM_MEASURE_YEAR_DAYS, 0);
  g_assert_cmpfloat_with_epsilon (measure->values[0], 30, 1e-9);

  qm_quote_comparison_add_training (found, "B", 1, unknown, rates);
  measure = qm_quote_comparison_measure (found, QM_MEASURE_RUN_COST, 1);
  g_assert_true (isnan (measure->values[1]));
  g_assert_true (isnan (measure->values[2]));
  g_assert_cmpuint (measure->winners, ==, 0);
  measure = qm_quote_comparison_measure (found, QM_MEASURE_YEAR_DAYS, 0);
  g_assert_cmpfloat_with_epsilon (measure->values[0], 40, 1e-9);
  g_assert_true (isnan (measure->values[1]));
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_SHIPPED_DATA_DIR"), NULL,
                                    &catalog, NULL),
                   ==, QM_OK);
  g_test_add_func ("/quote-compare/totals", test_totals);
  g_test_add_func ("/quote-compare/untold", test_untold);
  g_test_add_func ("/quote-compare/parts", test_parts);
  g_test_add_func ("/quote-compare/winners", test_winners);
  g_test_add_func ("/quote-compare/tie", test_tie);
  g_test_add_func ("/quote-compare/nothing", test_nothing);
  g_test_add_func ("/quote-compare/notes", test_notes);
  g_test_add_func ("/quote-compare/trainings", test_trainings);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
