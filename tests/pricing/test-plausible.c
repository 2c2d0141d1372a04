/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/quotes/qm-line-ask.h"
#include "pricing/quotes/qm-match.h"
#include "pricing/quotes/qm-plausible.h"
#include "tests/pricing/samples.h"

static QmCatalog *catalog;
static QmMatcher *matcher;
static QmRates *rates;

static void
test_rents (void)
{
  static const struct
  {
    const char *words;
    gboolean rent;
  } cases[] = {
    { "Rental: NVIDIA H100 80GB SXM5, per month", TRUE },
    { "H100 lease, 36 months", TRUE },
    { "Miete GPU-Server mit 8x H100, Laufzeit 12 Monate", TRUE },
    { "8x H100, Preis pro Monat", TRUE },
    { "Location serveur 8 x H100", TRUE },
    { "Serveur 8 x H100, loyer mensuel", TRUE },
    { "Alquiler de servidor con 4 A100", TRUE },
    { "Noleggio server 4 x A100, canone mensile", TRUE },
    { "Huur GPU-server, per maand", TRUE },
    { "Aluguer de servidor, mensalidade", TRUE },
    { "Wynajem serwera, miesięcznie", TRUE },
    { "Leasingrate NVIDIA H100 80GB SXM5 Server, 36 Raten", TRUE },
    { "Mietserver 8x H100", TRUE },
    { "Servermiete 4x L40S", TRUE },
    { "Leasebedrag 8x H100", TRUE },
    { "Leasingu serwera 8x H100, rata", TRUE },
    { "Serveur 8 x H100 en crédit-bail", TRUE },
    { "Servidor 8 x H100 em arrendamento", TRUE },
    { "8x H100 server, GBP/mo", TRUE },
    { "4x H100 NVL 94GB node pcm", TRUE },
    { "8x NVIDIA H100 SXM server, subscription", TRUE },
    { "8x NVIDIA H100 SXM server, 36 month commitment", TRUE },
    { "8x NVIDIA H100 SXM, per annum", TRUE },
    { "8x NVIDIA H100 SXM server, reserved 1 year", TRUE },
    { "Server 8x H100, 24 Monate Mindestlaufzeit", TRUE },
    { "Server 8x H100, Nutzungsentgelt", TRUE },
    { "Server 8x H100, Abonnement", TRUE },
    { "Servidor 8x H100, permanencia 24 meses", TRUE },
    { "Serwer 8x H100, umowa na 36 miesięcy", TRUE },
    { "NVIDIA H100 NVL 94GB, 5 year AI Enterprise subscription", FALSE },
    { "GPU server, reserved slot for NVLink", FALSE },
    { "GPU server, 36 months warranty", FALSE },
    { "Garantie 36 Monate vor Ort", FALSE },
    { "Gwarancja 36 miesięcy NBD na serwer", FALSE },
    { "Installation at customer location", FALSE },
    { "NVIDIA RTX 4090 24GB", FALSE },
    { "", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (qm_words_say_rent (cases[i].words) != cases[i].rent)
      g_error ("“%s”", cases[i].words);
}

static void
test_packs (void)
{
  static const struct
  {
    const char *words;
    int pieces;
  } cases[] = {
    { "PNY NVIDIA RTX A5000 24GB (set of 4)", 4 },
    { "GeForce RTX 3090 24GB refurbished, 2-pack", 2 },
    { "4er-Set NVIDIA RTX 4090", 4 },
    { "RTX 4090 Doppelpack", 2 },
    { "Lot de 4 cartes graphiques NVIDIA GeForce RTX 5090 32 Go", 4 },
    { "Pack de 2 NVIDIA GeForce RTX 4090", 2 },
    { "Confezione da 4 NVIDIA L4", 4 },
    { "Set van 8 NVIDIA L40S", 8 },
    { "Kit com 2 placas RTX 4090", 2 },
    { "Zestaw 4 szt. RTX A5000", 4 },
    { "NVIDIA RTX A6000 48GB (VPE 2 Stk.)", 2 },
    { "Confezione 2 pezzi NVIDIA L4", 2 },
    { "Server set 2 rails", 0 },
    { "Pair of NVIDIA RTX A6000", 2 },
    { "NVIDIA L40S 48GB, VE = 2 St.", 2 },
    { "NVIDIA L40S 48GB, VE 2", 2 },
    { "NVIDIA L40S 48GB (pack size: 4)", 4 },
    { "NVIDIA L40S, stuks per verpakking 2", 2 },
    { "Set 2", 0 },
    { "64 GB (2x32 GB) kit", 0 },
    { "NVIDIA RTX A6000 48GB", 0 },
    { "RTX 4090 bundle", 0 },
    { "set of 100000000000000000000", 0 },
    { "", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      int pieces = qm_words_pack (cases[i].words);

      if (pieces != cases[i].pieces)
        g_error ("“%s” is %d, not %d", cases[i].words, pieces, cases[i].pieces);
    }
}

/* A quote of one line, matched and asked about. */
static QmQuote *
make_quote (const char *words, double price, const char *currency)
{
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  g_strlcpy (quote->currency, currency, sizeof quote->currency);
  quote->issued_on = (QmDate){ 2026, 3, 31 };
  line->description = g_strdup (words);
  line->quantity_micros = QM_MICROS_PER_UNIT;
  line->price_micros = (gint64) (price * QM_MICROS_PER_UNIT);
  qm_matcher_apply (matcher, quote);
  qm_quote_ask_prices (quote, catalog, rates);
  return quote;
}

static void
test_prices (void)
{
  static const struct
  {
    const char *words;
    double price;
    const char *currency;
    gboolean asked;
  } cases[] = {
    /* Known for 500 to 1,580 dollars in the last two years, for 3,200 in 2021.
     */
    { "NVIDIA GeForce RTX 3090 24GB", 1000, "USD", FALSE },
    { "NVIDIA GeForce RTX 3090 24GB", 170, "USD", FALSE },
    { "NVIDIA GeForce RTX 3090 24GB", 160, "USD", TRUE },
    { "NVIDIA GeForce RTX 3090 24GB", 4400, "USD", FALSE },
    { "NVIDIA GeForce RTX 3090 24GB", 4800, "USD", TRUE },
    { "NVIDIA GeForce RTX 3090 24GB", 200000, "BRL", TRUE },
    { "NVIDIA GeForce RTX 3090 24GB", 9000, "BRL", FALSE },
    /* Without a rate, and without a price, nothing can be said. */
    { "NVIDIA GeForce RTX 3090 24GB", 200000, "XPF", FALSE },
    { "NVIDIA RTX PRO 4500 Blackwell Server Edition", 1, "USD", FALSE },
    /* A rent that does not say so. */
    { "NVIDIA H100 80GB SXM5", 1800, "USD", TRUE },
    { "GPU server, 2 x EPYC 9354, 8 x NVIDIA H100 80GB SXM5", 14400, "USD",
      TRUE },
    { "GPU server, 2 x EPYC 9354, 8 x NVIDIA H100 80GB SXM5", 280000, "USD",
      FALSE },
    /* What names a service may be no more than that. */
    { "NVIDIA DGX H100", 60000, "USD", FALSE },
    { "NVIDIA DGX H100, 3 years support", 48000, "USD", TRUE },
    { "NVIDIA DGX H100, 3 years support", 290000, "USD", FALSE },
    { "NVIDIA DGX H100: Wartung, 36 Monate", 55000, "USD", TRUE },
    { "NVIDIA H100 80GB SXM5, garantie 3 ans", 6000, "USD", TRUE },
    { "NVIDIA H100 80GB SXM5, garantie 3 ans", 28000, "USD", FALSE },
    /* Around one card may be a machine. */
    { "Workstation, Ryzen 9, 1 x NVIDIA GeForce RTX 3090", 5000, "USD", FALSE },
    { "8 x NVIDIA GeForce RTX 3090", 9000, "USD", FALSE },
    { "8 x NVIDIA GeForce RTX 3090", 1000, "USD", TRUE },
    { "Cable", 1, "USD", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuote) quote =
          make_quote (cases[i].words, cases[i].price, cases[i].currency);
      gboolean asked =
          (qm_quote_line_open (sample_line (quote, 0)) & QM_ASK_PRICE) != 0;

      if (asked != cases[i].asked)
        g_error ("“%s” for %g %s", cases[i].words, cases[i].price,
                 cases[i].currency);
      g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING, "GPU"), ==,
                        asked);
    }
}

/* What one GPU costs in a line tells of another that may be a discount on it.
 */
static void
test_beside (void)
{
  static const struct
  {
    const char *words;
    double price;
    gboolean asked;
  } cases[] = {
    { "NVIDIA H100 80GB SXM5 volume discount", 12000, TRUE },
    { "NVIDIA H100 80GB SXM5 Garantieverlängerung, 3 Jahre", 12000, TRUE },
    { "NVIDIA H100 80GB SXM5, education discount", 26000, FALSE },
    { "NVIDIA H100 80GB SXM5 used", 12000, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuote) quote =
          make_quote (cases[i].words, cases[i].price, "USD");
      QmQuoteLine *other = qm_quote_add_line (quote, QM_LINE_QUOTED);

      other->description = g_strdup ("NVIDIA H100 80GB SXM5");
      other->quantity_micros = 4 * QM_MICROS_PER_UNIT;
      other->price_micros = 29000 * (gint64) QM_MICROS_PER_UNIT;
      qm_matcher_apply (matcher, quote);
      qm_quote_ask_prices (quote, catalog, rates);
      if (((qm_quote_line_open (sample_line (quote, 0)) & QM_ASK_PRICE) != 0)
          != cases[i].asked)
        g_error ("“%s”", cases[i].words);
      g_assert_cmpuint (qm_quote_line_open (other), ==, 0);
    }
}

/* What has been answered stays so, and is not found again. */
static void
test_again (void)
{
  g_autoptr (QmQuote) quote =
      make_quote ("NVIDIA GeForce RTX 3090 (set of 2), rental", 9, "USD");
  QmQuoteLine *line = g_ptr_array_index (quote->lines, 0);
  guint n = quote->findings->len;

  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpint (line->gpus, ==, 2);
  g_assert_true (qm_quote_line_answer (line, QM_ASK_PACK, 1));
  g_assert_true (qm_quote_line_answer (line, QM_ASK_RENT, 0));
  qm_quote_ask_prices (quote, catalog, rates);
  g_assert_cmpuint (qm_quote_line_open (line), ==, QM_ASK_PRICE);
  n++;
  g_assert_true (qm_quote_line_answer (line, QM_ASK_PRICE, 0));
  qm_matcher_apply (matcher, quote);
  qm_quote_ask_prices (quote, catalog, rates);
  g_assert_cmpuint (qm_quote_line_open (line), ==, 0);
  g_assert_cmpint (line->gpus, ==, 1);
  g_assert_cmpuint (quote->findings->len, ==, n);
}

/* A service may be paid by the year, and rails may come as a set. */
static void
test_things (void)
{
  static const struct
  {
    const char *words;
    guint asked;
    int gpus;
  } cases[] = {
    { "Support 24x7, per year", 0, 0 },
    { "Hosting in our racks, per month", QM_ASK_RENT, 0 },
    { "GPU server, 2 x EPYC, 8x H100 80GB SXM5, set of 2 rails", 0, 8 },
    { "RTX 4090 24GB (set of 4)", QM_ASK_PACK, 4 },
    { "Power cable for RTX 4090, set of 4", 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuote) quote = make_quote (cases[i].words, 0, "USD");
      const QmQuoteLine *line = sample_line (quote, 0);

      if (qm_quote_line_open (line) != cases[i].asked
          || line->gpus != cases[i].gpus)
        g_error ("“%s”: %u, %d GPUs", cases[i].words, qm_quote_line_open (line),
                 line->gpus);
    }
}

/* What is paid by the hour is meant to be cheap. */
static void
test_hours (void)
{
  g_autoptr (QmQuote) quote =
      make_quote ("NVIDIA GeForce RTX 3090, rental", 1000, "USD");
  g_autoptr (QmQuote) hourly = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (hourly, QM_LINE_QUOTED);

  line->description = g_strdup ("NVIDIA GeForce RTX 3090, rental per hour");
  line->quantity_micros = QM_MICROS_PER_UNIT;
  line->price_micros = QM_MICROS_PER_UNIT / 2;
  g_strlcpy (hourly->currency, "USD", sizeof hourly->currency);
  hourly->unit = QM_PRICE_HOUR;
  qm_matcher_apply (matcher, hourly);
  qm_quote_ask_prices (hourly, catalog, rates);
  g_assert_cmpuint (qm_quote_n_open (hourly), ==, 0);
  g_assert_cmpuint (qm_quote_n_open (quote), ==, 1);
}

/* What a page sells must be what it is watched for. */
static void
test_watched (void)
{
  static const struct
  {
    const char *title;
    double price;
    const char *item;
    const char *reason; /* NULL: it is that */
  } cases[] = {
    { "ASUS TUF GeForce RTX 3090 24GB", 900, "rtx3090", NULL },
    { "A card without a name", 900, "rtx3090", NULL },
    { "GeForce GTX 1650 4GB GDDR6", 159, "rtx3090", "sells" },
    { "GeForce GTX 1650 4GB GDDR6", 900, "rtx3090", "sells" },
    { "NVIDIA GeForce RTX 3090 Ti", 1500, "rtx3090", "sells" },
    { "Radeon RX 7900 XTX", 900, "rtx3090", "sells" },
    { "Water block for RTX 3090", 120, "rtx3090", "sells" },
    { "A card without a name", 120, "rtx3090", "far from" },
    { "GeForce RTX 3090", 200000, "rtx3090", "far from" },
    { "NVIDIA RTX 6000", 7000, "rtx6000-ada", NULL },
    { "Server", 7000, "server-4gpu", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmQuote) quote =
          make_quote (cases[i].title, cases[i].price, "USD");
      g_autoptr (GError) error = NULL;
      gboolean is =
          qm_quote_check_item (quote, cases[i].item, matcher, rates, &error);

      if (is != (cases[i].reason == NULL)
          || (!is && strstr (error->message, cases[i].reason) == NULL))
        g_error ("“%s” as %s: %s", cases[i].title, cases[i].item,
                 error != NULL ? error->message : "let pass");
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
  rates = qm_rates_new_shipped (data, NULL);
  g_assert_true (matcher != NULL && rates != NULL);
  g_test_add_func ("/plausible/rents", test_rents);
  g_test_add_func ("/plausible/packs", test_packs);
  g_test_add_func ("/plausible/prices", test_prices);
  g_test_add_func ("/plausible/beside", test_beside);
  g_test_add_func ("/plausible/again", test_again);
  g_test_add_func ("/plausible/things", test_things);
  g_test_add_func ("/plausible/hours", test_hours);
  g_test_add_func ("/plausible/watched", test_watched);
  result = g_test_run ();
  qm_rates_unref (rates);
  qm_matcher_free (matcher);
  qm_catalog_free (catalog);
  return result;
}
