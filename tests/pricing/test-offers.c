/* SPDX-License-Identifier: Apache-2.0 */

/* From quotes to prices that an advice counts with. */

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/quotes/qm-match.h"

#include <string.h>

static QmCatalog *catalog;
static const QmDate today = { 2026, 11, 20 };

#define ANY_KIND (1u << QM_MACHINE_DESKTOP | 1u << QM_MACHINE_SERVER)
#define UNITS(n) ((gint64) (n) *QM_MICROS_PER_UNIT)

static GPtrArray *
no_quotes (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
}

static QmQuote *
add_quote (GPtrArray *quotes, const char *vendor, QmDate issued, QmDate until)
{
  QmQuote *quote = qm_quote_new ();

  quote->id = quotes->len + 1;
  quote->vendor = g_strdup (vendor);
  quote->number = g_strdup_printf ("Q-%u", quotes->len + 1);
  g_strlcpy (quote->currency, "USD", sizeof quote->currency);
  quote->issued_on = issued;
  quote->valid_until = until;
  g_ptr_array_add (quotes, quote);
  return quote;
}

static QmQuoteLine *
add_line (QmQuote *quote, const char *item, int quantity, int price)
{
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  line->description = g_strdup_printf ("a %s", item);
  line->item = g_strdup (item);
  line->match = QM_MATCH_FOUND;
  line->quantity_micros = UNITS (quantity);
  line->price_micros = UNITS (price);
  return line;
}

static QmRates *
some_rates (void)
{
  const QmRate list[] = { { "USD", { 2026, 11, 2 }, 1250000000 },
                          { "DKK", { 2026, 11, 2 }, 7500000000 },
                          { "USD", { 2026, 11, 19 }, 2000000000 } };
  g_autoptr (GError) error = NULL;
  QmRates *rates = qm_rates_new (list, G_N_ELEMENTS (list), &error);

  g_assert_no_error (error);
  return rates;
}

static QmAdvice *
advise (QmOffers *offers, gboolean expired)
{
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (GError) error = NULL;
  QmAdvice *advice;

  question->model = g_strdup ("pythia-1b");
  question->offers = qm_offers_ref (offers);
  question->expired_offers = expired;
  advice = qm_advice_new (catalog, question, &error);
  g_assert_no_error (error);
  return advice;
}

static const QmCandidate *
find (const QmAdvice *advice, const char *gpu, int gpus, gboolean whole)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, gpu) == 0 && candidates[i].gpus == gpus
        && qm_candidate_is_whole (&candidates[i]) == whole)
      return &candidates[i];
  return NULL;
}

/* Of several quotes that hold, the cheapest; a test of revisions is below. */
static void
test_cheapest_valid (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  const QmOffer *offer;

  add_line (add_quote (quotes, "Old", (QmDate){ 2026, 10, 1 },
                       (QmDate){ 2026, 12, 31 }),
            "a6000", 2, 4200);
  add_line (add_quote (quotes, "New", (QmDate){ 2026, 11, 1 },
                       (QmDate){ 2026, 11, 20 }),
            "a6000", 4, 4100);
  add_line (add_quote (quotes, "Expired", (QmDate){ 2026, 11, 10 },
                       (QmDate){ 2026, 11, 19 }),
            "a6000", 1, 3900);
  add_line (add_quote (quotes, "Dear", (QmDate){ 2026, 11, 15 },
                       (QmDate){ 2026, 11, 30 }),
            "a6000", 1, 4300);
  add_line (add_quote (quotes, "Undated", (QmDate){ 0 }, (QmDate){ 0 }),
            "a6000", 1, 1000);
  add_line (add_quote (quotes, "Open", (QmDate){ 2026, 1, 1 }, (QmDate){ 0 }),
            "rtx3090", 1, 800);
  offers = qm_offers_new (catalog, quotes, NULL, today);

  offer = qm_offers_find (offers, "a6000", FALSE);
  g_assert_cmpstr (offer->price.source, ==, "New, quote Q-2");
  g_assert_cmpint (offer->price.micros, ==, UNITS (4100));
  g_assert_cmpint (offer->quote_id, ==, 2);
  /* One that holds goes before one that does not, however new. */
  g_assert_true (qm_offers_find (offers, "a6000", TRUE) == offer);
  g_assert_true (qm_offers_find (offers, "rtx3090", FALSE)->holds);
  g_assert_null (qm_offers_find (offers, "rtx4090", TRUE));
  g_assert_null (qm_offers_find_whole (offers, "a6000", 1, ANY_KIND, TRUE));
}

static void
test_expired (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  g_autoptr (QmAdvice) advice = NULL;
  g_autoptr (QmAdvice) asked = NULL;
  g_autoptr (QmQuestion) question = qm_question_new ();
  const QmCandidate *candidate;
  QmQuote *later = add_quote (quotes, "Later", (QmDate){ 2026, 11, 10 },
                              (QmDate){ 2027, 1, 1 });

  later->valid_from = (QmDate){ 2026, 12, 1 };
  add_line (later, "h100-80gb-sxm", 1, 20000);
  add_line (add_quote (quotes, "Gone", (QmDate){ 2026, 11, 1 },
                       (QmDate){ 2026, 11, 19 }),
            "a6000", 1, 3900);
  offers = qm_offers_new (catalog, quotes, NULL, today);
  g_assert_null (qm_offers_find (offers, "a6000", FALSE));
  g_assert_null (qm_offers_find (offers, "h100-80gb-sxm", FALSE));

  advice = advise (offers, FALSE);
  candidate = find (advice, "a6000", 1, FALSE);
  g_assert_null (candidate->gpu_offer);
  g_assert_cmpint (candidate->cost_minor, ==, 580000);

  asked = advise (offers, TRUE);
  candidate = find (asked, "a6000", 1, FALSE);
  g_assert_false (candidate->gpu_offer->holds);
  g_assert_cmpint (candidate->cost_minor, ==, 490000);
  {
    QmRecommendation recommendation = qm_advice_recommend (asked, 500000, NAN);
    g_auto (GStrv) warnings = NULL;
    g_autofree char *all = NULL;

    question->model = g_strdup ("pythia-1b");
    warnings = qm_prose_warnings (asked, question, &recommendation, today);
    all = g_strjoinv ("|", warnings);
    g_assert_nonnull (strstr (all, "Gone, quote Q-2 does not hold"));
  }
}

/* The candidate says which quote it rests on, and costs what that says. */
static void
test_advice (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidate;
  QmQuote *quote = add_quote (quotes, "Delta", (QmDate){ 2026, 11, 1 },
                              (QmDate){ 2026, 12, 1 });

  add_line (quote, "h100-80gb-sxm", 8, 25000);
  add_line (quote, "server-8gpu", 1, 9000);
  offers = qm_offers_new (catalog, quotes, NULL, today);
  advice = advise (offers, FALSE);

  /* One offer, which the price of the catalog's parts does not stand beside. */
  candidate = find (advice, "h100-80gb-sxm", 8, TRUE);
  g_assert_cmpint (candidate->cost_minor, ==, 20900000);
  g_assert_cmpint (candidate->machine_offer->quote_id, ==, 1);
  g_assert_cmpint (candidate->machine_offer->line, ==, 1);
  g_assert_true (candidate->machine_price == &candidate->machine_offer->price);
  g_assert_cmpint (candidate->machine_price->kind, ==, QM_PRICE_QUOTE);
  g_assert_null (find (advice, "h100-80gb-sxm", 8, FALSE));
  /* What nobody offers keeps its price: one is not to be had out of eight. */
  candidate = find (advice, "h100-80gb-sxm", 1, FALSE);
  g_assert_cmpint (candidate->cost_minor, ==, 3100000);
  g_assert_null (candidate->machine_offer);
  g_assert_null (find (advice, "a6000", 1, FALSE)->gpu_offer);
}

static void
add_part (QmQuote *quote, const char *item, int quantity)
{
  QmQuoteLine *part = qm_quote_add_line (quote, QM_LINE_PART);

  part->item = g_strdup (item);
  part->match = QM_MATCH_FOUND;
  part->quantity_micros = UNITS (quantity);
}

/* Several machines of one quote: each costs what its line does. */
static void
test_whole (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  g_autoptr (QmAdvice) advice = NULL;
  g_autofree char *machine = NULL;
  g_autofree char *name = NULL;
  const QmCandidate *candidate;
  QmQuote *quote = add_quote (quotes, "Delta", (QmDate){ 2026, 11, 1 },
                              (QmDate){ 2026, 12, 1 });
  QmQuoteLine *line = add_line (quote, "server-8gpu", 2, 180000);

  g_clear_pointer (&line->item, g_free);
  line->match = QM_MATCH_NONE;
  add_part (quote, "h100-80gb-sxm", 8);
  add_part (quote, NULL, 2);
  line = add_line (quote, "a100-80gb-sxm", 1, 100000);
  line->gpus = 8;
  g_free (line->description);
  line->description = g_strdup ("GPU Server, 4U: 8x A100 SXM4, 2x EPYC");
  /* Four cards in a box are no machine. */
  add_line (quote, "a6000", 1, 20000)->gpus = 4;
  offers = qm_offers_new (catalog, quotes, NULL, today);
  advice = advise (offers, FALSE);

  candidate = find (advice, "h100-80gb-sxm", 8, TRUE);
  g_assert_cmpint (candidate->cost_minor, ==, 18000000);
  g_assert_null (candidate->machine);
  g_assert_null (candidate->gpu_price);
  g_assert_true (candidate->eligible);
  g_assert_cmpfloat_with_epsilon (candidate->experiment_cost,
                                  180000.0 * candidate->days / 1825, 1e-6);
  machine = qm_prose_machine (candidate);
  g_assert_cmpstr (machine, ==, "a server-8gpu (Delta, quote Q-1)");
  name = qm_prose_candidate (candidate);
  g_assert_cmpstr (name, ==, "8 × H100 SXM5 80GB (Delta, quote Q-1)");
  g_assert_null (find (advice, "h100-80gb-sxm", 8, FALSE));
  g_assert_cmpint (find (advice, "a100-80gb-sxm", 8, TRUE)->cost_minor, ==,
                   10000000);
  g_assert_null (find (advice, "h100-80gb-sxm", 4, TRUE));
  g_assert_null (find (advice, "a6000", 4, TRUE));
  g_assert_cmpint (find (advice, "a6000", 1, FALSE)->gpu_price->micros, ==,
                   UNITS (5000));
}

/* A line by its words, matched as the importer does. */
static QmQuoteLine *
add_words (QmQuote *quote, const char *words, int quantity, int price)
{
  g_autoptr (QmMatcher) matcher = qm_matcher_new (catalog, NULL, NULL, NULL);
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

  line->description = g_strdup (words);
  line->quantity_micros = UNITS (quantity);
  line->price_micros = UNITS (price);
  qm_matcher_apply (matcher, quote);
  return line;
}

static const QmOffer *
whole (QmOffers *offers, const char *gpu, int gpus)
{
  return qm_offers_find_whole (offers, gpu, gpus, ANY_KIND, FALSE);
}

/* A baseboard is no machine, and a quote counts with everything on it. */
static void
test_parts_of_a_machine (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (GPtrArray) alone = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  g_autoptr (QmOffers) of_board = NULL;
  const QmOffer *offer;
  QmQuote *quote =
      add_quote (quotes, "Parts", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });

  add_words (quote, "NVIDIA HGX H100 8-GPU 80GB SXM5 baseboard", 1, 215000);
  add_words (quote, "8U GPU server chassis, 6 x 3000 W", 1, 21500);
  add_words (quote, "Intel Xeon Platinum 8480+ processor", 2, 9800);
  add_words (quote, "64 GB DDR5-4800 ECC RDIMM", 32, 420);
  add_words (quote, "ConnectX-7 NDR adapter", 8, 1900);
  add_words (quote, "Server warranty, 5 years, next business day", 1, 28000);
  quote->discount_minor = 450033;
  quote->charge_minor = 184800;
  quote->tax_minor = 5929012;
  quote->payable_minor = 37015779;
  offers = qm_offers_new (catalog, quotes, NULL, today);
  offer = whole (offers, "h100-80gb-sxm", 8);
  g_assert_nonnull (offer);
  g_assert_cmpint (offer->price.micros, ==, 310867670000);
  g_assert_cmpint (offer->tax_micros, ==, 59290120000);
  g_assert_cmpint (offer->kind, ==, QM_MACHINE_SERVER);
  g_assert_null (qm_offers_find (offers, "h100-80gb-sxm", FALSE));

  /* Alone it is eight GPUs, which the catalog has a chassis for. */
  quote = add_quote (alone, "Board", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_words (quote, "NVIDIA HGX H100 8-GPU 80GB SXM5 baseboard", 1, 215000);
  add_words (quote, "8U GPU server chassis, 6 x 3000 W", 1, 21500);
  of_board = qm_offers_new (catalog, alone, NULL, today);
  g_assert_null (whole (of_board, "h100-80gb-sxm", 8));
  offer = qm_offers_find (of_board, "h100-80gb-sxm", FALSE);
  g_assert_cmpint (offer->price.micros, ==, UNITS (26875));
  g_assert_true (offer->board);
}

/* GPUs with a server of their own are one offer, of so many machines. */
static void
test_own_server (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  const QmOffer *offer;
  QmQuote *quote =
      add_quote (quotes, "One", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });

  add_words (quote, "NVIDIA H100 80GB PCIe", 2, 22000);
  add_words (quote, "Workstation, Threadripper PRO 7965WX, 256 GB", 1, 9400);
  quote = add_quote (quotes, "Two", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_words (quote, "Dell PowerEdge R760xa 2x Xeon 512 GB DDR5", 2, 20000);
  add_words (quote, "NVIDIA A100 80GB PCIe", 8, 10000);
  add_words (quote, "Installation on site", 1, 1000);
  quote = add_quote (quotes, "Odd", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_words (quote, "Rack server 4U with 2 x EPYC", 2, 9000);
  add_words (quote, "NVIDIA RTX A6000 48GB", 5, 4000);
  offers = qm_offers_new (catalog, quotes, NULL, today);

  offer = whole (offers, "h100-80gb-pcie", 2);
  g_assert_cmpint (offer->price.micros, ==, UNITS (53400));
  g_assert_cmpint (offer->kind, ==, QM_MACHINE_DESKTOP);
  g_assert_null (qm_offers_find_whole (offers, "h100-80gb-pcie", 2,
                                       1u << QM_MACHINE_SERVER, FALSE));
  offer = whole (offers, "a100-80gb-pcie", 4);
  g_assert_cmpint (offer->price.micros, ==, UNITS (60500));
  g_assert_cmpint (offer->kind, ==, QM_MACHINE_SERVER);
  g_assert_null (qm_offers_find (offers, "a100-80gb-pcie", FALSE));
  g_assert_null (qm_offers_find (offers, "a6000", FALSE));
  g_assert_cmpstr (qm_offers_left_out (offers)[0], ==,
                   "“Rack server 4U with 2 x EPYC” of Odd: its GPUs cannot be "
                   "shared evenly among its machines");
}

/* A licence for the GPUs is no GPU, and is paid for with the machine; the
 * number of a line is not how many it has. */
static void
test_no_gpus (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  QmQuote *quote =
      add_quote (quotes, "One", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  const QmOffer *offer;

  add_words (quote, "Pos. 1: GPU-Server 2HE", 1, 12000);
  add_words (quote, "Pos. 2: NVIDIA L40S 48GB", 4, 8000);
  add_words (quote, "NVIDIA AI Enterprise, je GPU (L40S), 5 Jahre", 4, 3500);
  add_words (quote, "NVIDIA L40S, NVIDIA Omniverse Enterprise 1 Jahr", 4, 500);
  offers = qm_offers_new (catalog, quotes, NULL, today);

  offer = whole (offers, "l40s", 4);
  g_assert_nonnull (offer);
  g_assert_cmpint (offer->price.micros, ==, UNITS (60000));
  g_assert_null (qm_offers_find (offers, "l40s", FALSE));
}

/* Another GPU that costs nothing is told, and keeps nothing from counting. */
static void
test_for_nothing (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  QmQuote *quote =
      add_quote (quotes, "One", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });

  add_words (quote, "GPU-Server 2HE", 1, 12000);
  add_words (quote, "NVIDIA L40S 48GB", 4, 8000);
  add_words (quote, "Einbau vorhandener GPU A100 80GB PCIe", 2, 0);
  /* What is bought may come with more of its kind, ... */
  quote = add_quote (quotes, "Two", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_words (quote, "GPU server, 2 x EPYC", 1, 12000);
  add_words (quote, "NVIDIA RTX A6000 48GB", 3, 4000);
  add_words (quote, "NVIDIA RTX A6000 48GB, free of charge", 1, 0);
  /* ... and have its price in the machine's line. */
  quote = add_quote (quotes, "Three", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_words (quote, "GPU server, 2 x EPYC", 1, 90000);
  add_words (quote, "NVIDIA H100 80GB PCIe", 2, 0);
  offers = qm_offers_new (catalog, quotes, NULL, today);

  g_assert_nonnull (whole (offers, "l40s", 4));
  g_assert_cmpint (whole (offers, "l40s", 4)->price.micros, ==, UNITS (44000));
  g_assert_null (qm_offers_find (offers, "l40s", FALSE));
  g_assert_null (qm_offers_find (offers, "a100-80gb-pcie", FALSE));
  g_assert_cmpint (whole (offers, "a6000", 4)->price.micros, ==, UNITS (24000));
  g_assert_cmpint (whole (offers, "h100-80gb-pcie", 2)->price.micros, ==,
                   UNITS (90000));
  g_assert_cmpuint (g_strv_length ((char **) qm_offers_left_out (offers)), ==,
                    1);
  g_assert_cmpstr (qm_offers_left_out (offers)[0], ==,
                   "“Einbau vorhandener GPU A100 80GB PCIe” of One: it costs "
                   "nothing");
}

/* Alternatives are quotes of their own, or variants of a line. */
static void
test_alternatives (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  QmQuote *quote =
      add_quote (quotes, "Delta", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });

  quote->alternative = g_strdup ("Option A");
  add_words (quote, "GPU server, 2 x EPYC", 1, 15000);
  add_words (quote, "NVIDIA H100 80GB PCIe", 4, 22000);
  add_words (quote, "NVIDIA A100 80GB PCIe", 4, 9000)->role =
      QM_LINE_ALTERNATIVE;
  add_words (quote, "Rail kit", 1, 100)->role = QM_LINE_OPTION;
  quote->charge_minor = 10000;
  quote = add_quote (quotes, "Delta", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  g_free (quote->number);
  quote->number = g_strdup ("Q-1");
  quote->alternative = g_strdup ("Option B");
  add_words (quote, "GPU server, 2 x EPYC", 1, 15000);
  add_words (quote, "NVIDIA L40S", 4, 8000);
  offers = qm_offers_new (catalog, quotes, NULL, today);

  g_assert_cmpint (whole (offers, "h100-80gb-pcie", 4)->price.micros, ==,
                   UNITS (103100));
  g_assert_false (whole (offers, "h100-80gb-pcie", 4)->variant);
  g_assert_cmpint (whole (offers, "a100-80gb-pcie", 4)->price.micros, ==,
                   UNITS (51100));
  g_assert_true (whole (offers, "a100-80gb-pcie", 4)->variant);
  g_assert_cmpint (whole (offers, "l40s", 4)->price.micros, ==, UNITS (47000));
  g_assert_cmpstr (whole (offers, "l40s", 4)->price.source, ==,
                   "Delta, quote Q-1, Option B");
}

/* Of one quote its newest revision that holds counts. */
static void
test_revisions (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  static const struct
  {
    const char *number;
    QmDate issued, until;
    int price;
  } revisions[] = {
    { "ANG-1", { 2026, 11, 1 }, { 0 }, 4000 },
    { "ANG-1 Rev. 2", { 2026, 11, 5 }, { 0 }, 4500 },
    { "ANG-1 Rev. 3", { 2026, 11, 7 }, { 2026, 11, 8 }, 100 },
    { "ang-1", { 0 }, { 0 }, 3000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (revisions); i++)
    {
      QmQuote *quote =
          add_quote (quotes, "Delta", revisions[i].issued, revisions[i].until);

      g_free (quote->number);
      quote->number = g_strdup (revisions[i].number);
      add_line (quote, "a6000", 1, revisions[i].price);
    }
  offers = qm_offers_new (catalog, quotes, NULL, today);
  g_assert_cmpint (qm_offers_find (offers, "a6000", FALSE)->price.micros, ==,
                   UNITS (4500));
  g_assert_cmpstr (qm_offers_left_out (offers)[0], ==,
                   "“a a6000” of Delta: a newer revision counts: Delta, quote "
                   "ANG-1 Rev. 2");
}

/* What is asked does not count until it is answered. */
static void
test_questions (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) asked = NULL;
  g_autoptr (QmOffers) answered = NULL;
  QmQuote *quote =
      add_quote (quotes, "Delta", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  QmQuoteLine *pack = add_line (quote, "a6000", 1, 16000);
  QmQuoteLine *rent = add_line (quote, "rtx4090", 1, 100);

  qm_quote_line_ask (pack, QM_ASK_PACK);
  qm_quote_line_ask (rent, QM_ASK_RENT);
  asked = qm_offers_new (catalog, quotes, NULL, today);
  g_assert_null (qm_offers_find (asked, "a6000", TRUE));
  g_assert_null (qm_offers_find (asked, "rtx4090", TRUE));
  g_assert_cmpuint (g_strv_length ((char **) qm_offers_left_out (asked)), ==,
                    2);

  g_assert_false (qm_quote_line_answer (pack, QM_ASK_PACK, 0));
  g_assert_false (qm_quote_line_answer (rent, QM_ASK_RENT, 2));
  g_assert_true (qm_quote_line_answer (pack, QM_ASK_PACK, 4));
  g_assert_true (qm_quote_line_answer (rent, QM_ASK_RENT, 1));
  g_assert_cmpuint (qm_quote_n_open (quote), ==, 0);
  answered = qm_offers_new (catalog, quotes, NULL, today);
  g_assert_cmpint (qm_offers_find (answered, "a6000", FALSE)->price.micros, ==,
                   UNITS (4000));
  g_assert_null (qm_offers_find (answered, "rtx4090", TRUE));
}

static void
test_currency (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmRates) rates = some_rates ();
  g_autoptr (QmOffers) offers = NULL;
  g_autoptr (QmOffers) blind = NULL;
  const QmOffer *offer;
  QmQuote *quote = add_quote (quotes, "Delta", (QmDate){ 2026, 11, 5 },
                              (QmDate){ 2026, 12, 1 });

  g_strlcpy (quote->currency, "DKK", sizeof quote->currency);
  add_line (quote, "a6000", 3, 30000);
  offers = qm_offers_new (catalog, quotes, rates, today);
  offer = qm_offers_find (offers, "a6000", FALSE);
  /* At the rate of the quote's day or the last before it, not today's. */
  g_assert_cmpint (offer->price.micros, ==, UNITS (5000));
  g_assert_cmpint (offer->rate.date.day, ==, 2);
  g_assert_cmpstr (offer->currency, ==, "DKK");
  g_assert_cmpstr (offer->price.currency, ==, "USD");
  g_assert_null (qm_offers_left_out (offers)[0]);

  blind = qm_offers_new (catalog, quotes, NULL, today);
  g_assert_null (qm_offers_find (blind, "a6000", TRUE));
  g_assert_cmpstr (qm_offers_left_out (blind)[0], ==,
                   "“a a6000” of Delta: no exchange rates are known");
}

static void
test_discount_and_tax (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  QmQuote *quote =
      add_quote (quotes, "Less", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  const QmOffer *offer;

  add_line (quote, "a6000", 4, 4000);
  add_line (quote, "server-4gpu", 1, 4000);
  quote->discount_minor = 200000; /* a tenth */
  quote->charge_minor = 50000;
  quote = add_quote (quotes, "Shares", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_words (quote, "NVIDIA L4 24GB", 10, 2000);
  add_words (quote, "Shipping", 1, 2000);
  add_words (quote, "Education discount", 1, -1000);
  quote = add_quote (quotes, "Gross", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_line (quote, "rtx3090", 10, 1190);
  quote->tax_included = QM_YES;
  quote->tax_minor = 190000;
  quote->payable_minor = 1190000;
  quote = add_quote (quotes, "Dark", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_line (quote, "rtx4090", 1, 2000);
  quote->tax_included = QM_YES;
  offers = qm_offers_new (catalog, quotes, NULL, today);

  g_assert_cmpint (whole (offers, "a6000", 4)->price.micros, ==, UNITS (18500));
  g_assert_cmpint (whole (offers, "a6000", 4)->tax_micros, ==, -1);
  g_assert_cmpint (qm_offers_find (offers, "l4", FALSE)->price.micros, ==,
                   UNITS (2100));
  offer = qm_offers_find (offers, "rtx3090", FALSE);
  g_assert_cmpint (offer->price.micros, ==, UNITS (1000));
  g_assert_cmpint (offer->tax_micros, ==, UNITS (190));
  g_assert_false (offer->taxed);
  offer = qm_offers_find (offers, "rtx4090", FALSE);
  g_assert_cmpint (offer->price.micros, ==, UNITS (2000));
  g_assert_true (offer->taxed);
}

/* Tax that a quote does not tell is the asker's, who pays it once; what it
 * tells, or does not contain, stays. */
static void
test_asked_tax (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmQuestion) question = qm_question_new ();
  g_autoptr (QmOffers) offers = NULL;
  QmPurse purse = qm_purse_default ();
  QmQuote *quote =
      add_quote (quotes, "Dark", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  const QmOffer *offer;

  add_line (quote, "rtx4090", 1, 2380);
  quote->tax_included = QM_YES;
  quote = add_quote (quotes, "Bare", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_line (quote, "rtx4090", 1, 2100);
  offers = qm_offers_new (catalog, quotes, NULL, today);

  g_assert_cmpstr (qm_offers_find (offers, "rtx4090", FALSE)->vendor, ==,
                   "Bare");
  purse.tax_percent = 19;
  qm_question_take_purse (question, &purse);
  qm_question_set_offers (question, offers);
  offer = qm_offers_find (question->offers, "rtx4090", FALSE);
  g_assert_cmpstr (offer->vendor, ==, "Dark");
  g_assert_cmpint (offer->price.micros, ==, UNITS (2000));
  g_assert_cmpint (offer->tax_micros, ==, UNITS (380));
  g_assert_cmpfloat (offer->tax_assumed, ==, 19);
  g_assert_false (offer->taxed);
  /* Another tax starts from what the quote says. */
  purse.tax_percent = 0;
  qm_question_take_purse (question, &purse);
  g_assert_true (question->offers == offers);
  purse.tax_percent = 40;
  qm_question_take_purse (question, &purse);
  g_assert_cmpint (
      qm_offers_find (question->offers, "rtx4090", FALSE)->price.micros, ==,
      UNITS (1700));
}

/* Nothing is counted twice, guessed, or counted that is no purchase. */
static void
test_left_out (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  QmQuoteLine *line;
  QmQuote *quote =
      add_quote (quotes, "Delta", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  guint n;

  add_line (quote, "a6000", 1, 4000)->role = QM_LINE_SUBSTITUTE;
  add_line (quote, "a6000", 1, 4000)->role = QM_LINE_ALTERNATIVE;
  line = add_line (quote, "rtx4090", 1, 2000);
  g_clear_pointer (&line->item, g_free);
  line->match = QM_MATCH_AMBIGUOUS;
  line->candidates = g_strdup ("rtx4090;rtx3090");
  add_line (quote, "rtx3090", 1, 0);
  line = add_line (quote, "h100-80gb-sxm", 1, 1);
  line->price_micros = QM_AMOUNT_UNSTATED;
  line = add_line (quote, "a100-80gb-sxm", 1, 1);
  line->price_micros = G_MAXINT64;
  line->base_quantity_micros = 1;
  quote = add_quote (quotes, "Cloud", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  quote->unit = QM_PRICE_HOUR;
  add_line (quote, "a6000", 1, 1);
  offers = qm_offers_new (catalog, quotes, NULL, today);

  qm_offers_list (offers, &n);
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpuint (g_strv_length ((char **) qm_offers_left_out (offers)), ==,
                    4); /* also the one of which the GPU is not clear */
}

/* What does not count for the want of a currency, or because nobody knows which
 * GPU is in a machine, is told. */
static void
test_left_out_whole (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  QmQuoteLine *part;
  QmQuote *quote =
      add_quote (quotes, "Delta", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  const char *const *left_out;
  guint n;

  quote->currency[0] = '\0';
  add_words (quote, "GPU server, 2 x EPYC 9354", 1, 10000);
  add_line (quote, "a6000", 4, 4000);
  add_line (quote, "rtx4090", 4, 2000);
  quote = add_quote (quotes, "Omega", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_words (quote, "GPU server, 2 x EPYC 9354", 1, 10000);
  part = qm_quote_add_line (quote, QM_LINE_PART);
  part->description = g_strdup ("an RTX");
  part->match = QM_MATCH_AMBIGUOUS;
  part->candidates = g_strdup ("rtx4090;rtx3090");
  offers = qm_offers_new (catalog, quotes, NULL, today);

  qm_offers_list (offers, &n);
  g_assert_cmpuint (n, ==, 0);
  left_out = qm_offers_left_out (offers);
  g_assert_cmpuint (g_strv_length ((char **) left_out), ==, 2);
  g_assert_cmpstr (left_out[0], ==,
                   "“a a6000” of Delta: the quote tells no currency");
  g_assert_cmpstr (left_out[1], ==,
                   "“GPU server, 2 x EPYC 9354” of Omega: a question about it "
                   "is open");
}

/* A question about any of its lines keeps a machine from counting, and what is
 * rented with it is no part of its price. */
static void
test_questions_of_a_machine (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) asked = NULL;
  g_autoptr (QmOffers) answered = NULL;
  QmQuote *quote =
      add_quote (quotes, "Delta", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  QmQuoteLine *rent;

  add_words (quote, "GPU server, 2 x EPYC 9354", 1, 10000);
  add_words (quote, "NVIDIA RTX A6000 48GB", 4, 4000);
  rent = add_words (quote, "Hosting in our racks, per month", 1, 500);
  qm_quote_line_ask (rent, QM_ASK_RENT);
  asked = qm_offers_new (catalog, quotes, NULL, today);
  g_assert_null (whole (asked, "a6000", 4));
  g_assert_cmpuint (g_strv_length ((char **) qm_offers_left_out (asked)), ==,
                    1);

  g_assert_true (qm_quote_line_answer (rent, QM_ASK_RENT, 1));
  answered = qm_offers_new (catalog, quotes, NULL, today);
  g_assert_cmpint (whole (answered, "a6000", 4)->price.micros, ==,
                   UNITS (26000));
}

/* What a document comes to is not shared among lines that come to much more, as
 * where options are not told apart; a little less may be a discount. */
static void
test_not_shared (void)
{
  g_autoptr (GPtrArray) quotes = no_quotes ();
  g_autoptr (QmOffers) offers = NULL;
  QmQuote *quote =
      add_quote (quotes, "Either or", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  const char *const *left_out;

  add_line (quote, "a6000", 4, 4000);
  add_line (quote, "a100-80gb-sxm", 4, 20000);
  quote->payable_minor = 1600000;
  quote = add_quote (quotes, "Rebate", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_line (quote, "rtx3090", 10, 1000);
  quote->payable_minor = 950000;
  quote = add_quote (quotes, "Option", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_line (quote, "l40s", 10, 1000);
  quote->payable_minor = 880000;
  quote = add_quote (quotes, "Gross", (QmDate){ 2026, 11, 5 }, (QmDate){ 0 });
  add_line (quote, "rtx4090", 10, 1190);
  quote->tax_minor = 190000;
  quote->payable_minor = 1190000;
  offers = qm_offers_new (catalog, quotes, NULL, today);

  g_assert_null (qm_offers_find (offers, "a6000", FALSE));
  g_assert_null (qm_offers_find (offers, "a100-80gb-sxm", FALSE));
  left_out = (const char *const *) qm_offers_left_out (offers);
  g_assert_cmpuint (g_strv_length ((char **) left_out), ==, 3);
  g_assert_nonnull (strstr (left_out[0], "come to something else"));
  g_assert_cmpint (qm_offers_find (offers, "rtx3090", FALSE)->price.micros, ==,
                   UNITS (950));
  g_assert_cmpint (qm_offers_find (offers, "rtx4090", FALSE)->price.micros, ==,
                   UNITS (1000));
}

int
main (int argc, char **argv)
{
  QmError error;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, &error)
      != QM_OK)
    g_error ("%s", error.message);
  g_test_add_func ("/offers/cheapest-valid", test_cheapest_valid);
  g_test_add_func ("/offers/expired", test_expired);
  g_test_add_func ("/offers/advice", test_advice);
  g_test_add_func ("/offers/whole", test_whole);
  g_test_add_func ("/offers/parts-of-a-machine", test_parts_of_a_machine);
  g_test_add_func ("/offers/own-server", test_own_server);
  g_test_add_func ("/offers/no-gpus", test_no_gpus);
  g_test_add_func ("/offers/for-nothing", test_for_nothing);
  g_test_add_func ("/offers/alternatives", test_alternatives);
  g_test_add_func ("/offers/revisions", test_revisions);
  g_test_add_func ("/offers/questions", test_questions);
  g_test_add_func ("/offers/currency", test_currency);
  g_test_add_func ("/offers/discount-and-tax", test_discount_and_tax);
  g_test_add_func ("/offers/asked-tax", test_asked_tax);
  g_test_add_func ("/offers/left-out", test_left_out);
  g_test_add_func ("/offers/left-out-whole", test_left_out_whole);
  g_test_add_func ("/offers/questions-of-a-machine",
                   test_questions_of_a_machine);
  g_test_add_func ("/offers/not-shared", test_not_shared);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
