/* SPDX-License-Identifier: Apache-2.0 */

/* What lines sell, which quotes are one, and what a quote comes to. */

#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-match.h"
#include "pricing/quotes/qm-quote-family.h"
#include "pricing/quotes/qm-quote-offer.h"

#include <string.h>

static QmCatalog *catalog;

static void
test_things (void)
{
  static const struct
  {
    const char *words;
    QmLineThing thing;
  } lines[] = {
    { "NVIDIA HGX H100 8-GPU 80GB SXM5 baseboard", QM_THING_GPU },
    { "8x NVIDIA A100 80GB SXM4", QM_THING_GPU },
    { "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", QM_THING_GPU },
    { "4 x NVIDIA RTX PRO 6000 Blackwell Server Edition 96GB", QM_THING_GPU },
    { "NVIDIA RTX A6000 48GB for workstations", QM_THING_GPU },
    { "GPU server, 4U: 8x A100 SXM4 80GB, 2x EPYC", QM_THING_MACHINE },
    { "Workstation, Threadripper PRO, 1 x NVIDIA RTX A6000 48GB",
      QM_THING_MACHINE },
    { "NVIDIA DGX H100 with 8 x H100 80GB SXM5", QM_THING_MACHINE },
    { "Dell PowerEdge XE9680 2x Xeon 8480+ 2 TB DDR5", QM_THING_MACHINE },
    { "GPU-Server 4HE mit 2 x EPYC", QM_THING_MACHINE },
    { "8U GPU server chassis with power supplies", QM_THING_PART },
    { "Supermicro 4U barebone", QM_THING_PART },
    { "AMD EPYC 9354 processor", QM_THING_PART },
    { "NVIDIA A100 80GB PCIe for PowerEdge R750xa", QM_THING_GPU },
    { "Server memory 64 GB DDR5 RDIMM", QM_THING_PART },
    { "NVLink bridge for RTX A6000", QM_THING_PART },
    { "Server warranty 5 years next business day", QM_THING_SERVICE },
    { "Garantieverlängerung 5 Jahre für Server", QM_THING_SERVICE },
    { "Installation of the GPU server", QM_THING_SERVICE },
    { "DGX H100 3 years support", QM_THING_SERVICE },
    { "Server 3 years on-site support", QM_THING_SERVICE },
    { "GPU-Server 36 Monate Wartung", QM_THING_SERVICE },
    { "Serveur 3 ans garantie", QM_THING_SERVICE },
    { "Servidor 5 años soporte", QM_THING_SERVICE },
    { "Server 5 anni assistenza", QM_THING_SERVICE },
    { "Server 3 jaar ondersteuning", QM_THING_SERVICE },
    { "Serwer 36 miesięcy wsparcie NBD", QM_THING_SERVICE },
    { "Servidor 3 anos manutenção", QM_THING_SERVICE },
    { "Server Care Pack 5yr", QM_THING_SERVICE },
    { "GPU server 2 x EPYC 9354 3 years support", QM_THING_MACHINE },
    { "Shipping and insurance", QM_THING_SHIPPING },
    { "Versandkosten", QM_THING_SHIPPING },
    { "Coffee", QM_THING_OTHER },
  };
  g_autoptr (QmMatcher) matcher = qm_matcher_new (catalog, NULL, NULL, NULL);
  g_autoptr (QmQuote) quote = qm_quote_new ();

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    qm_quote_add_line (quote, QM_LINE_QUOTED)->description =
        g_strdup (lines[i].words);
  qm_matcher_apply (matcher, quote);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (qm_line_thing (catalog, line) != lines[i].thing)
        g_error ("“%s” is taken for a %s", lines[i].words,
                 qm_line_thing_name (qm_line_thing (catalog, line)));
      /* The user knows better. */
      line->thing = QM_THING_RENT;
      g_assert_cmpint (qm_line_thing (catalog, line), ==, QM_THING_RENT);
    }
}

static void
test_numbers (void)
{
  static const struct
  {
    const char *number, *family;
    int revision;
  } numbers[] = {
    { "Q-100", "q-100", 0 },
    { "Q-100 Rev. 2", "q-100", 2 },
    { "Q-100-R3", "q-100", 3 },
    { "Q-100_v2", "q-100", 2 },
    { "Q-100 (Rev. B)", "q-100", 2 },
    { "Q-100 Version 12", "q-100", 12 },
    { "2026-R12", "2026", 12 },
    { "Q-R12", "q-r12", 0 },
    { "Q-100/2", "q-100/2", 0 },
    { "AB100-RX", "ab100-rx", 0 },
    { "Q-100-R1204", "q-100-r1204", 0 },
    { "R2", "r2", 0 },
    { NULL, "", 0 },
    { "", "", 0 },
    { "---", "---", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      int revision = -1;
      g_autofree char *family =
          qm_quote_number_family (numbers[i].number, &revision);

      g_assert_cmpstr (family, ==, numbers[i].family);
      g_assert_cmpint (revision, ==, numbers[i].revision);
    }
}

static QmQuote *
numbered (GPtrArray *quotes, const char *number, const char *supersedes)
{
  QmQuote *quote = qm_quote_new ();

  quote->id = quotes->len + 1;
  quote->vendor = g_strdup ("Delta");
  quote->number = g_strdup (number);
  quote->supersedes = g_strdup (supersedes);
  quote->issued_on = (QmDate){ 2026, 1, 1 };
  g_ptr_array_add (quotes, quote);
  return quote;
}

/* Links go over several numbers, in whatever order, and in circles. */
static void
test_links (void)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GPtrArray) newest = NULL;
  QmQuote *third = numbered (quotes, "C", "B");
  QmQuote *other;

  third->issued_on.month = 3;
  numbered (quotes, "A", NULL);
  numbered (quotes, "B", "A")->issued_on.month = 2;
  other = numbered (quotes, "A", NULL);
  g_free (other->vendor);
  other->vendor = g_strdup ("Beta");
  other = numbered (quotes, "A", NULL);
  other->alternative = g_strdup ("Option B");
  other = numbered (quotes, "C Rev. 9", NULL);
  qm_quote_answer (other, QM_ASK_REVISION);
  numbered (quotes, "D", "E");
  numbered (quotes, "E", "D");

  newest = qm_quote_newest_revisions (quotes, (QmDate){ 2026, 6, 1 });
  for (guint i = 0; i < 3; i++)
    g_assert_true (g_ptr_array_index (newest, i) == third);
  for (guint i = 3; i < 6; i++)
    g_assert_true (g_ptr_array_index (newest, i)
                   == g_ptr_array_index (quotes, i));
}

/* What the document says is to be paid, with its tax taken off once. */
static void
test_come_to (void)
{
  static const gint64 no = QM_AMOUNT_UNSTATED;
  const struct
  {
    QmTristate included;
    gint64 line, discount, charge, tax, payable;
    gint64 net;
    gboolean taxed;
  } cases[] = {
    { QM_NO, 1000, no, no, no, no, 1000, FALSE },
    { QM_NO, 1000, 100, 50, no, no, 950, FALSE },
    { QM_NO, 1000, no, no, 190, 1190, 1000, FALSE },
    { QM_NO, 1000, no, no, 190, 1000, 1000, FALSE },
    { QM_UNSTATED, 1190, no, no, 190, 1190, 1000, FALSE },
    { QM_UNSTATED, 1000, no, no, no, 1190, 1000, FALSE },
    { QM_UNSTATED, 1000, no, no, no, 900, 900, FALSE },
    { QM_YES, 1190, no, no, 190, no, 1000, FALSE },
    { QM_YES, 1190, no, no, no, 1190, 1190, TRUE },
    { QM_YES, 1190, 190, no, 0, 1000, 1000, FALSE },
    { QM_NO, G_MAXINT64, no, 1, no, no, no, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuote) quote = qm_quote_new ();
      gint64 net, tax;
      gboolean taxed;

      memcpy (quote->currency, "EUR", 4);
      qm_quote_add_line (quote, QM_LINE_QUOTED)->total_minor = cases[i].line;
      qm_quote_add_line (quote, QM_LINE_OPTION)->total_minor = 7;
      quote->tax_included = cases[i].included;
      quote->discount_minor = cases[i].discount;
      quote->charge_minor = cases[i].charge;
      quote->tax_minor = cases[i].tax;
      quote->payable_minor = cases[i].payable;
      qm_quote_come_to (quote, &net, &tax, &taxed);
      g_assert_cmpint (net, ==, cases[i].net);
      g_assert_cmpint (tax, ==, cases[i].tax);
      g_assert_cmpint (taxed, ==, cases[i].taxed);
    }
}

static void
test_asks (void)
{
  guint asks = 99;
  g_autofree char *text = qm_asks_to_text (QM_ASKS_OF_LINE | QM_ASKS_OF_QUOTE);

  g_assert_cmpstr (text, ==, "rent;pack;price;date;validity;revision;totals");
  g_assert_true (qm_asks_from_text (text, &asks));
  g_assert_cmpuint (asks, ==, QM_ASKS_OF_LINE | QM_ASKS_OF_QUOTE);
  g_assert_true (qm_asks_from_text (NULL, &asks));
  g_assert_cmpuint (asks, ==, 0);
  g_assert_false (qm_asks_from_text ("rent;", &asks));
  g_assert_false (qm_asks_from_text ("rents", &asks));
  g_assert_null (qm_asks_to_text (0));
}

int
main (int argc, char **argv)
{
  QmError error;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_SHIPPED_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    g_error ("%s", error.message);
  g_test_add_func ("/quote-whole/things", test_things);
  g_test_add_func ("/quote-whole/numbers", test_numbers);
  g_test_add_func ("/quote-whole/links", test_links);
  g_test_add_func ("/quote-whole/come-to", test_come_to);
  g_test_add_func ("/quote-whole/asks", test_asks);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
