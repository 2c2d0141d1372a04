/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-fields.h"
#include "ui/quotes/qm-quote-text.h"

static const QmField *
field_at (gboolean of_line, gsize offset)
{
  const QmField *fields = of_line ? qm_line_fields : qm_quote_fields;
  guint n = of_line ? qm_n_line_fields : qm_n_quote_fields;

  for (guint i = 0; i < n; i++)
    if (fields[i].offset == offset)
      return &fields[i];
  g_assert_not_reached ();
}

#define QUOTE_FIELD(member) field_at (FALSE, G_STRUCT_OFFSET (QmQuote, member))
#define LINE_FIELD(member) \
  field_at (TRUE, G_STRUCT_OFFSET (QmQuoteLine, member))

static void
test_head (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();

  g_assert_true (qm_field_set (QUOTE_FIELD (vendor), quote, "  Delta \n", ""));
  g_assert_cmpstr (quote->vendor, ==, "Delta");
  g_assert_true (qm_field_set (QUOTE_FIELD (vendor), quote, " ", ""));
  g_assert_null (quote->vendor);

  g_assert_true (qm_field_set (QUOTE_FIELD (currency), quote, "eur", ""));
  g_assert_cmpstr (quote->currency, ==, "EUR");
  g_assert_false (qm_field_set (QUOTE_FIELD (currency), quote, "euro", "EUR"));
  g_assert_cmpstr (quote->currency, ==, "EUR");

  g_assert_true (
      qm_field_set (QUOTE_FIELD (valid_until), quote, "31.12.2026", "EUR"));
  g_assert_cmpint (quote->valid_until.month, ==, 12);
  g_assert_false (
      qm_field_set (QUOTE_FIELD (valid_until), quote, "soon", "EUR"));
  g_assert_cmpint (quote->valid_until.day, ==, 31);
  g_assert_true (qm_field_set (QUOTE_FIELD (valid_until), quote, "", "EUR"));
  g_assert_cmpint (quote->valid_until.year, ==, 0);
}

static void
test_amounts (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  g_assert_true (
      qm_field_set (QUOTE_FIELD (net_minor), quote, "1.234,50 €", "EUR"));
  g_assert_cmpint (quote->net_minor, ==, 123450);
  g_assert_false (
      qm_field_set (QUOTE_FIELD (net_minor), quote, "12 USD", "EUR"));
  g_assert_cmpint (quote->net_minor, ==, 123450);
  g_assert_true (qm_field_set (QUOTE_FIELD (net_minor), quote, "", "EUR"));
  g_assert_cmpint (quote->net_minor, ==, QM_AMOUNT_UNSTATED);

  g_assert_true (qm_field_set (LINE_FIELD (discount_minor), line, "10", "EUR"));
  g_assert_cmpint (line->discount_minor, ==, 1000);
  g_assert_false (
      qm_field_set (LINE_FIELD (discount_minor), line, "-10", "EUR"));
  g_assert_true (qm_field_set (LINE_FIELD (discount_minor), line, "", "EUR"));
  g_assert_cmpint (line->discount_minor, ==, 0);
  g_assert_false (qm_field_set (LINE_FIELD (gpus), line, "-1", "EUR"));
  g_assert_true (qm_field_set (LINE_FIELD (gpus), line, "8", "EUR"));
  g_assert_cmpint (line->gpus, ==, 8);
}

/* A price that nobody touched stays what it was, though its text could be
 * read as another one. */
static void
test_untouched (void)
{
  g_autoptr (QmQuote) quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  g_autofree char *text = NULL;

  line->price_micros = 1234000;
  text = qm_field_text (LINE_FIELD (price_micros), line, "EUR");
  g_assert_cmpstr (text, ==, "1.234");
  g_assert_true (qm_field_set (LINE_FIELD (price_micros), line, text, "EUR"));
  g_assert_cmpint (line->price_micros, ==, 1234000);
}

static void
test_validity (void)
{
  const QmDate today = { 2026, 11, 21 };
  const QmDate before = { 2026, 11, 20 };
  const QmDate after = { 2026, 11, 22 };
  const QmDate none = { 0 };
  g_autofree char *text = qm_validity_text (none, before, today, TRUE);

  g_assert_cmpint (qm_validity_on (none, before, today), ==,
                   QM_VALIDITY_EXPIRED);
  g_assert_cmpint (qm_validity_on (none, today, today), ==, QM_VALIDITY_HOLDS);
  g_assert_cmpint (qm_validity_on (after, none, today), ==, QM_VALIDITY_LATER);
  g_assert_cmpint (qm_validity_on (before, none, today), ==,
                   QM_VALIDITY_UNSTATED);
  g_assert_cmpstr (text, ==, "expired on 20 Nov 2026");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quote-fields/head", test_head);
  g_test_add_func ("/quote-fields/amounts", test_amounts);
  g_test_add_func ("/quote-fields/untouched", test_untouched);
  g_test_add_func ("/quote-fields/validity", test_validity);
  return g_test_run ();
}
