/* SPDX-License-Identifier: Apache-2.0 */

/* Lines of quotes side by side. */

#include "pricing/quotes/qm-quote-compare.h"

#include <string.h>

static QmQuoteLine *
add_line (QmQuote *quote,
          QmLineRole role,
          const char *part_number,
          const char *description,
          const char *item,
          gint64 quantity,
          gint64 price)
{
  QmQuoteLine *line = qm_quote_add_line (quote, role);

  line->part_number = g_strdup (part_number);
  line->description = g_strdup (description);
  line->item = g_strdup (item);
  line->match = item != NULL ? QM_MATCH_FOUND : QM_MATCH_NONE;
  line->gpus = item != NULL ? 1 : 0;
  line->quantity_micros = quantity * QM_MICROS_PER_UNIT;
  line->price_micros = price * QM_MICROS_PER_UNIT;
  return line;
}

static GPtrArray *
two_quotes (QmQuote **a, QmQuote **b)
{
  GPtrArray *quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);

  *a = qm_quote_new ();
  *b = qm_quote_new ();
  memcpy ((*a)->currency, "USD", 4);
  memcpy ((*b)->currency, "USD", 4);
  g_ptr_array_add (quotes, *a);
  g_ptr_array_add (quotes, *b);
  return quotes;
}

static const QmComparedLine *
row (GPtrArray *rows, guint index)
{
  g_assert_cmpuint (index, <, rows->len);
  return g_ptr_array_index (rows, index);
}

/* The part number goes before the item, and that before the words. */
static void
test_ways (void)
{
  QmQuote *a, *b;
  g_autoptr (GPtrArray) quotes = two_quotes (&a, &b);
  g_autoptr (GPtrArray) rows = NULL;

  add_line (a, QM_LINE_QUOTED, "P-1", "first", "l40s", 1, 10);
  add_line (a, QM_LINE_QUOTED, NULL, "Rail kit, 2U", NULL, 1, 20);
  add_line (a, QM_LINE_QUOTED, NULL, "the card", "rtx4090", 1, 30);
  add_line (b, QM_LINE_QUOTED, NULL, "another name of it", "rtx4090", 1, 30);
  add_line (b, QM_LINE_QUOTED, NULL, "rail KIT 2u", NULL, 1, 20);
  add_line (b, QM_LINE_QUOTED, "p-1", "other words", "rtx4090", 1, 10);
  rows = qm_quote_compare (quotes);
  g_assert_cmpuint (rows->len, ==, 3);
  g_assert_true (row (rows, 0)->lines[1] == g_ptr_array_index (b->lines, 2));
  g_assert_true (row (rows, 1)->lines[1] == g_ptr_array_index (b->lines, 1));
  g_assert_true (row (rows, 2)->lines[1] == g_ptr_array_index (b->lines, 0));
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (row (rows, i)->differences, ==, 0);
}

static void
test_differences (void)
{
  QmQuote *a, *b;
  g_autoptr (GPtrArray) quotes = two_quotes (&a, &b);
  g_autoptr (GPtrArray) rows = NULL;
  g_autoptr (GPtrArray) foreign = NULL;

  add_line (a, QM_LINE_QUOTED, "1", NULL, NULL, 8, 10);
  add_line (b, QM_LINE_QUOTED, "1", NULL, NULL, 8, 11);
  add_line (a, QM_LINE_QUOTED, "2", NULL, NULL, 8, 10);
  add_line (b, QM_LINE_QUOTED, "2", NULL, NULL, 4, 10);
  add_line (a, QM_LINE_QUOTED, "3", NULL, NULL, 1, 10);
  add_line (a, QM_LINE_QUOTED, "4", NULL, NULL, 1, 100)->discount_minor = 500;
  add_line (b, QM_LINE_QUOTED, "4", NULL, NULL, 1, 100);
  add_line (b, QM_LINE_SUBSTITUTE, "3", NULL, NULL, 1, 10);
  rows = qm_quote_compare (quotes);
  g_assert_cmpuint (rows->len, ==, 5);
  g_assert_cmpint (row (rows, 0)->differences, ==, QM_DIFFERS_PRICE);
  g_assert_cmpint (row (rows, 1)->differences, ==, QM_DIFFERS_QUANTITY);
  g_assert_cmpint (row (rows, 2)->differences, ==, QM_DIFFERS_MISSING);
  g_assert_cmpint (row (rows, 3)->differences, ==, QM_DIFFERS_PRICE);
  g_assert_cmpint (row (rows, 4)->differences, ==, QM_DIFFERS_MISSING);
  g_assert_cmpint (row (rows, 4)->role, ==, QM_LINE_SUBSTITUTE);
  g_assert_null (row (rows, 4)->lines[0]);

  /* Amounts of two currencies are not held against each other. */
  memcpy (b->currency, "EUR", 4);
  foreign = qm_quote_compare (quotes);
  g_assert_cmpint (row (foreign, 0)->differences, ==, 0);
}

/* Lines that are alike find partners one by one. */
static void
test_alike (void)
{
  QmQuote *a, *b;
  g_autoptr (GPtrArray) quotes = two_quotes (&a, &b);
  g_autoptr (GPtrArray) rows = NULL;
  const guint n = 20000;

  for (guint i = 0; i < n; i++)
    {
      add_line (a, QM_LINE_QUOTED, "same", "same", NULL, 1, i);
      add_line (b, QM_LINE_QUOTED, "same", "same", NULL, 1, i);
    }
  add_line (b, QM_LINE_QUOTED, "same", "same", NULL, 1, 1);
  rows = qm_quote_compare (quotes);
  g_assert_cmpuint (rows->len, ==, n + 1);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (row (rows, i)->differences, ==, 0);
  g_assert_cmpint (row (rows, n)->differences, ==, QM_DIFFERS_MISSING);
}

static void
test_nothing (void)
{
  QmQuote *a, *b;
  g_autoptr (GPtrArray) quotes = two_quotes (&a, &b);
  g_autoptr (GPtrArray) rows = qm_quote_compare (quotes);

  g_assert_cmpuint (rows->len, ==, 0);
  /* Of a line that says nothing nobody can tell what it is. */
  qm_quote_add_line (a, QM_LINE_QUOTED);
  qm_quote_add_line (b, QM_LINE_QUOTED);
  g_ptr_array_unref (rows);
  rows = qm_quote_compare (quotes);
  g_assert_cmpuint (rows->len, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quote-compare/ways", test_ways);
  g_test_add_func ("/quote-compare/differences", test_differences);
  g_test_add_func ("/quote-compare/alike", test_alike);
  g_test_add_func ("/quote-compare/nothing", test_nothing);
  return g_test_run ();
}
