/* SPDX-License-Identifier: Apache-2.0 */

/* Tables that look like something they are not: beside those of
 * tests/pricing/procurement, which are what they look like. */

#include "pricing/formats/qm-csv-tier.h"
#include "pricing/formats/qm-quote-csv.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "tests/pricing/samples.h"

#define HEAD "Pos;Description;Qty;Price (EUR);Total (EUR)\n"

static GPtrArray *
read_text (const char *text)
{
  gsize size = strlen (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmCsvMapping) mapping = qm_csv_mapping_guess (text, size, &error);
  GPtrArray *quotes;

  g_assert_no_error (error);
  quotes = qm_quote_csv_read (text, size, mapping, 0, NULL, &error);
  g_assert_no_error (error);
  return quotes;
}

static guint
count_quoted (const QmQuote *quote)
{
  guint n = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    n += sample_line (quote, i)->role == QM_LINE_QUOTED;
  return n;
}

/* What the lines of one quote come to, in euro, and how many count. */
static void
test_amounts (void)
{
  static const struct
  {
    const char *text;
    guint lines;
    gint64 net;
  } cases[] = {
    /* A course is no exchange rate, and stays below a sum of others. */
    { HEAD "1;Server;1;900,00;900,00\n;Zwischensumme;;;900,00\n"
           "2;Kurs: CUDA;;;100,00\nGesamtsumme;;;;1000,00\n",
      2, 1000 },
    /* A second table with net and gross columns is none of totals. */
    { HEAD "1;Server;1;900,00;900,00\n\nLeistung;Netto;MwSt;Brutto\n"
           "Admin;100,00;19,00;119,00\n",
      2, 1000 },
    /* Numbers 2 and 2.1, but 2.1 is no more than a part of the price. */
    { HEAD "1;Server;1;900,00;900,00\n2;Rack;1;50,00;50,00\n"
           "2.1;Rails;1;20,00;20,00\n",
      3, 970 },
    /* 2.1 and 2.2 are what 2 is made of, twice. */
    { HEAD "1;Server;1;900,00;900,00\n2;Rack;2;50,00;100,00\n"
           "2.1;Rails;4;15,00;60,00\n2.2;Frame;2;20,00;40,00\n",
      2, 1000 },
    /* A tenth more for each line, of which the net amount is made. */
    { HEAD "1;Server;1;900,00;990,00\n2;Rack;1;100,00;110,00\n"
           "Netto;;;;1100,00\nMwSt;;;;209,00\n",
      2, 1100 },
    /* The same without it is a tax. */
    { HEAD "1;Server;1;900,00;1071,00\n2;Rack;1;100,00;119,00\n", 2, 1000 },
    /* Equal sums in the same words are two lots. */
    { HEAD "1;Server;1;900,00;900,00\nSumme Los 1;;;;900,00\n" HEAD
           "1;Server;1;900,00;900,00\nSumme Los 2;;;;900,00\n",
      2, 1800 },
    /* In other words they are one. */
    { HEAD
      "1;Server;1;900,00;900,00\nSumme;;;;900,00\n" HEAD
      "1;Chassis;1;500,00;500,00\n2;CPU;1;400,00;400,00\nSumme;;;;900,00\n",
      1, 900 },
    /* But not where a total is that of both. */
    { HEAD "1;Server;1;900,00;900,00\nSumme;;;;900,00\n" HEAD
           "1;Chassis;1;500,00;500,00\n2;CPU;1;400,00;400,00\nSumme;;;;900,00\n"
           "Gesamtsumme netto;;;;1800,00\n",
      3, 1800 },
    /* A table may speak of thousands that its amounts are not in. */
    { "Budget bis 300 TEUR\n" HEAD "1;Server;1;900,00;900,00\n", 1, 900 },
    { "Preise in TEUR\n" HEAD "1;Server;1;900,00;900,00\n", 1, 900 },
    { "Preise in TEUR\nPos;Description;Qty;Price;Total\n"
      "1;Server;1;0,90;0,90\n",
      1, 900 },
    /* A deposit below zero is no discount. */
    { HEAD "1;Server;1;900,00;900,00\nNetto;;;;900,00\n"
           "abzgl. Anzahlung;;;;-300,00\nRestbetrag;;;;600,00\n",
      1, 900 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) quotes = read_text (cases[i].text);
      QmQuoteTotals totals;

      g_assert_cmpuint (quotes->len, ==, 1);
      qm_quote_totals_compute (g_ptr_array_index (quotes, 0), &totals);
      if (count_quoted (g_ptr_array_index (quotes, 0)) != cases[i].lines
          || totals.net_minor != 100 * cases[i].net)
        g_error ("case %u: %u lines come to %.2f", i,
                 count_quoted (g_ptr_array_index (quotes, 0)),
                 (double) totals.net_minor / 100);
    }
}

/* Marks that say which lines are options, and names of alternatives. */
static void
test_marks (void)
{
  static const struct
  {
    const char *first, *second;
    guint quotes, quoted; /* and of the first quote, lines that count */
  } cases[] = {
    { "N", "J", 1, 1 },     { "", "x", 1, 1 },  { "–", "✓", 1, 1 },
    { "Nein", "Ja", 1, 1 }, { "N", "N", 1, 2 }, { "A", "B", 2, 1 },
    { "1", "2", 2, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("Description;Qty;Price (EUR);Option\n"
                           "Server;1;900,00;%s\nRack;1;100,00;%s\n",
                           cases[i].first, cases[i].second);
      g_autoptr (GPtrArray) quotes = read_text (text);

      g_assert_cmpuint (quotes->len, ==, cases[i].quotes);
      g_assert_cmpuint (count_quoted (g_ptr_array_index (quotes, 0)), ==,
                        cases[i].quoted);
    }
}

/* A town and a day above the table; a delivery and its day are none. */
static void
test_towns (void)
{
  static const struct
  {
    const char *row;
    int day;
  } cases[] = {
    { "Berlin, den 16.6.26", 16 },          { "Milano, 17 giugno 2026", 17 },
    { "Lieferung, 18.06.2026", 0 },         { "KW 25, 20.06.2026", 0 },
    { "Warszawa, dnia 21.06.2026 r.", 21 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("%s;\n\n" HEAD "1;Server;1;900,00;900,00\n",
                           cases[i].row);
      g_autoptr (GPtrArray) quotes = read_text (text);
      const QmQuote *quote = g_ptr_array_index (quotes, 0);

      if (quote->issued_on.day != cases[i].day)
        g_error ("“%s”: %d", cases[i].row, quote->issued_on.day);
    }
}

static void
test_tiers (void)
{
  static const struct
  {
    const char *text;
    int least; /* 0: none */
  } cases[] = {
    { "1-4", 1 },
    { "5 – 9 Stk.", 5 },
    { "10+", 10 },
    { "ab 5", 5 },
    { ">= 25", 25 },
    { "10 o más", 10 },
    { "from 3 to 5", 3 },
    { "bis 4", 1 },
    { "100 and up", 100 },
    { "à partir de 10", 10 },
    { "5", 0 },
    { "2 pcs", 0 },
    { "4-1", 0 },
    { "", 0 },
    { "1-4 weeks", 0 },
    { "0-4", 0 },
    { "01.04.2026", 0 },
    { "1000000-2000000", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      int least = 0;
      gboolean is_tier = qm_csv_tier_parse (cases[i].text, &least);

      if (is_tier != (cases[i].least > 0)
          || (is_tier && least != cases[i].least))
        g_error ("“%s”: %d", cases[i].text, is_tier ? least : 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/csv-tables/amounts", test_amounts);
  g_test_add_func ("/csv-tables/marks", test_marks);
  g_test_add_func ("/csv-tables/towns", test_towns);
  g_test_add_func ("/csv-tables/tiers", test_tiers);
  return g_test_run ();
}
