/* SPDX-License-Identifier: Apache-2.0 */

/* Quotes of which lines, net amount, tax and what is to be paid contradict each
 * other: they count when the user has said so, and not before. */

#include "data/datadir.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-offer.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <string.h>

#define HEAD "Description;Qty;Unit price EUR;Total EUR\n"
#define LINES                                \
  HEAD "GPU server 2U;1;12000,00;12000,00\n" \
       "NVIDIA L40S 48GB;4;8000,00;32000,00\n"

static QmCatalog *catalog;
static QmMatcher *matcher;

/* The only quote of a table. (transfer full) */
static QmQuote *
read_table (const char *text)
{
  QmImportOptions options = { .matcher = matcher };
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import =
      qm_import_bytes (bytes, "quote.csv", NULL, &options, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (import->quotes->len, ==, 1);
  return qm_quote_copy (g_ptr_array_index (import->quotes, 0));
}

/* What a quote offers in all, in cents, of which GPUs; 0: nothing. */
static gint64
offered (const QmQuote *quote, gint64 *gpus)
{
  g_autoptr (GArray) left_out = NULL;
  g_autoptr (GArray) offers = qm_quote_offers (catalog, quote, &left_out);
  gint64 net = 0;

  *gpus = 0;
  for (guint i = 0; i < offers->len; i++)
    {
      const QmQuoteOffer *offer = &g_array_index (offers, QmQuoteOffer, i);

      g_assert_false (offer->variant);
      net += offer->net_minor;
      *gpus += offer->pieces * MAX (offer->gpus, 1);
    }
  g_assert_true (offers->len > 0 || left_out->len > 0);
  return net;
}

static void
test_contradictions (void)
{
  static const char *const tables[] = {
    /* What is written is less than the lines, and more. */
    LINES "Subtotal;;;39000,00\n",
    LINES "Net;;;46000,00\nVAT 20 %;;;9200,00\nTotal;;;55200,00\n",
    /* Net and tax come to something else. */
    LINES "Net;;;44000,00\nVAT 20 %;;;8800,00\nTotal;;;53000,00\n",
    LINES "Net;;;44000,00\nVAT 20 %;;;8800,00\nTotal;;;44000,00\nTo pay;;;1,"
          "00\n",
    /* Between them stands something of which nobody knows what it is. */
    LINES "Net;;;44000,00\nSurcharge class B;;;777,00\nTotal;;;44777,00\n",
    /* Four cards or eight. */
    HEAD "GPU server 2U;1;12000,00;12000,00\n"
         "NVIDIA L40S 48GB;8;8000,00;32000,00\nNet;;;44000,00\n",
    /* Cards that may be in the server, or besides. */
    HEAD "GPU server with 4 x NVIDIA L40S;1;44000,00;44000,00\n"
         "NVIDIA L40S 48GB;4;8000,00;32000,00\nNet;;;44000,00\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (QmQuote) quote = read_table (tables[i]);
      gint64 gpus;

      if ((qm_quote_open (quote) & QM_ASK_TOTALS) == 0
          || offered (quote, &gpus) != 0)
        g_error ("counts unasked: %s", tables[i]);
      g_assert_false (qm_quote_totals_agree (quote));
      qm_quote_answer (quote, QM_ASK_TOTALS);
      g_assert_cmpint (offered (quote, &gpus), >, 0);
      /* What has been answered is not asked again. */
      qm_quote_check (quote);
      g_assert_cmpint (offered (quote, &gpus), >, 0);
    }
}

/* Rounding, and what stands below a sum of some lines, is no contradiction. */
static void
test_agreement (void)
{
  static const struct
  {
    const char *text;
    gint64 net;
  } cases[] = {
    { LINES "Subtotal;;;44000,01\n", 4400000 },
    { LINES "Subtotal;;;44000,00\nExpress shipping;;;500,00\n"
            "Assembly in the rack;;;1000,00\nTotal;;;45500,00\n",
      4550000 },
    { LINES "Net;;;44000,00\nTotal incl. VAT;;;52360,00\n", 4400000 },
    { LINES, 4400000 },
    /* A fee beside the price. */
    { HEAD "GPU server 2U;1;12000,00;12000,00\n"
           "NVIDIA L40S 48GB;4;8000,00;32040,00\nNet;;;44040,00\n",
      4404000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuote) quote = read_table (cases[i].text);
      gint64 gpus;

      g_assert_cmpuint (qm_quote_open (quote), ==, 0);
      g_assert_cmpint (offered (quote, &gpus), ==, cases[i].net);
      g_assert_cmpint (gpus, ==, 4);
    }
}

/* A change that mends the contradiction takes the question back. */
static void
test_mended (void)
{
  g_autoptr (QmQuote) quote = read_table (
      LINES "More NVIDIA L40S 48GB;2;8000,00;16000,00\nSubtotal;;;44000,00\n");
  QmQuoteLine *line = g_ptr_array_index (quote->lines, 2);
  gint64 gpus;

  g_assert_cmpuint (qm_quote_open (quote), ==, QM_ASK_TOTALS);
  qm_quote_totals_ask_again (quote);
  g_assert_cmpuint (qm_quote_open (quote), ==, QM_ASK_TOTALS);
  line->role = QM_LINE_OPTION;
  qm_quote_totals_ask_again (quote);
  g_assert_cmpuint (qm_quote_open (quote), ==, 0);
  g_assert_cmpint (offered (quote, &gpus), ==, 4400000);
}

/* What a line says is in the one above it counts once. */
static void
test_within (void)
{
  static const char *const words[] = {
    "davon",         "darin enthalten:", "bestehend aus:", "dont",
    "comprenant",    "of which",         "including",      "- ",
    "de los cuales", "incluye",          "waarvan",        "w tym",
    "dos quais",     "di cui",
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (words); i++)
    {
      g_autofree char *text = g_strdup_printf (
          HEAD "GPU server, 4x NVIDIA L40S;1;44000,00;44000,00\n"
               "%s NVIDIA L40S 48GB;4;8000,00;32000,00\n%s",
          words[i / 2], i % 2 == 0 ? "Subtotal;;;44000,00\n" : "");
      g_autoptr (QmQuote) quote = read_table (text);
      gint64 gpus;

      if (offered (quote, &gpus) != 4400000 || gpus != 4)
        g_error ("%s", text);
      g_assert_cmpuint (qm_quote_open (quote), ==, 0);
    }
  /* Where the total is that of both, it is not. */
  {
    g_autoptr (QmQuote) quote =
        read_table (HEAD "GPU server;1;44000,00;44000,00\n"
                         "- NVIDIA L40S 48GB;4;8000,00;32000,00\n"
                         "Subtotal;;;76000,00\n");
    gint64 gpus;

    g_assert_cmpint (offered (quote, &gpus), ==, 7600000);
  }
}

/* What columns beside a line say of it is asked: for how long it is paid, and
 * how many come in one. */
static void
test_beside (void)
{
  static const struct
  {
    const char *name;
    const char *cell;
    guint asked;
  } cases[] = {
    { "Months", "36", QM_ASK_RENT },
    { "Term", "36 months", QM_ASK_RENT },
    { "Term", "36 payments", QM_ASK_RENT },
    { "Laufzeit", "36 Monate", QM_ASK_RENT },
    { "Monate", "12", QM_ASK_RENT },
    { "Durée", "3 ans", QM_ASK_RENT },
    { "Meses", "24", QM_ASK_RENT },
    { "Looptijd", "24 mnd", QM_ASK_RENT },
    { "Okres", "24 miesiące", QM_ASK_RENT },
    { "Billing", "monthly", QM_ASK_RENT },
    { "VE", "2", QM_ASK_PACK },
    { "Pack size", "4", QM_ASK_PACK },
    { "Conditionnement", "2", QM_ASK_PACK },
    { "VE", "1", 0 },
    { "Term", "net 30 days", 0 },
    { "Term", "one time", 0 },
    { "Lieferzeit", "6 Wochen", 0 },
    { "Warranty", "36 months", 0 },
    { "Months", "", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf (
          "Description;Qty;%s;Unit price EUR;Total EUR\n"
          "NVIDIA L40S 48GB;4;%s;8000,00;32000,00\n"
          "Installation;1;%s;900,00;900,00\nSubtotal;;;;32900,00\n",
          cases[i].name, cases[i].cell, cases[i].cell);
      g_autoptr (QmQuote) quote = read_table (text);
      gint64 gpus;

      if (qm_quote_line_open (g_ptr_array_index (quote->lines, 0))
          != cases[i].asked)
        g_error ("%s", text);
      g_assert_cmpuint (
          qm_quote_line_open (g_ptr_array_index (quote->lines, 1)), ==, 0);
      g_assert_true ((offered (quote, &gpus) > 0) == (cases[i].asked == 0));
    }
}

int
main (int argc, char **argv)
{
  const char *data = g_getenv ("QM_SHIPPED_DATA_DIR");
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (qm_catalog_load (data, NULL, &catalog, NULL), ==, QM_OK);
  matcher = qm_matcher_new (catalog, data, NULL, NULL);
  g_assert_nonnull (matcher);
  g_test_add_func ("/quote-agree/contradictions", test_contradictions);
  g_test_add_func ("/quote-agree/agreement", test_agreement);
  g_test_add_func ("/quote-agree/mended", test_mended);
  g_test_add_func ("/quote-agree/within", test_within);
  g_test_add_func ("/quote-agree/beside", test_beside);
  result = g_test_run ();
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  return result;
}
