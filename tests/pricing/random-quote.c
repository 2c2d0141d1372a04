/* SPDX-License-Identifier: Apache-2.0 */

#include "random-quote.h"

#include <string.h>

static const char *const texts[] = {
  "",
  " ",
  "NVIDIA H100 80GB SXM5",
  "8x NVIDIA A100 80GB SXM4, \"baseboard\"",
  "50 % discount; it's a_special *offer*",
  "Königsweg GmbH & Co. KG",
  "株式会社テスト",
  "line one\nline two\n\nline four",
  "tab\tand 'quotes' -- ; DROP TABLE quotes; /*",
  "\xf0\x9f\x96\xa5 \xe2\x80\xae\xd8\xb9\xd8\xb1\xd8\xa8\xd9\x8a",
};

static char *
random_text (GRand *random)
{
  int which = g_rand_int_range (random, -2, G_N_ELEMENTS (texts) + 1);

  if (which < 0)
    return NULL;
  if (which < (int) G_N_ELEMENTS (texts))
    return g_strdup (texts[which]);
  if (g_rand_int_range (random, 0, 20) == 0)
    return g_strnfill ((gsize) g_rand_int_range (random, 5000, 40000), 'x');
  return g_strdup_printf ("text %u", g_rand_int (random));
}

static gint64
random_amount (GRand *random)
{
  switch (g_rand_int_range (random, 0, 8))
    {
    case 0:
      return QM_AMOUNT_UNSTATED;
    case 1:
      return 0;
    case 2:
      return G_MAXINT64;
    case 3:
      return G_MININT64 + 1;
    case 4:
      return -g_rand_int_range (random, 1, 100000);
    default:
      return (gint64) g_rand_int (random) * g_rand_int_range (random, 1, 10000);
    }
}

static QmDate
random_date (GRand *random)
{
  QmDate date = { g_rand_int_range (random, 1970, 10000),
                  g_rand_int_range (random, 1, 13),
                  g_rand_int_range (random, 1, 29) };

  switch (g_rand_int_range (random, 0, 6))
    {
    case 0:
      return (QmDate){ 0, 0, 0 };
    case 1:
      return (QmDate){ date.year, 0, 0 };
    case 2:
      return (QmDate){ date.year, date.month, 0 };
    case 3:
      return (QmDate){ 2028, 2, 29 };
    default:
      return date;
    }
}

static void
fill_line (QmQuoteLine *line, GRand *random)
{
  line->number = random_text (random);
  line->part_number = random_text (random);
  line->description = random_text (random);
  line->unit = random_text (random);
  line->quantity_micros = random_amount (random);
  line->price_micros = random_amount (random);
  line->base_quantity_micros = random_amount (random);
  line->discount_minor = random_amount (random);
  line->charge_minor = random_amount (random);
  line->total_minor = random_amount (random);
  line->match = (QmMatchState) g_rand_int_range (random, 0, QM_N_MATCHES);
  line->item = random_text (random);
  line->gpus = g_rand_boolean (random) ? g_rand_int_range (random, 0, 9)
                                       : (int) g_rand_int (random);
  line->candidates = random_text (random);
  line->thing = (QmLineThing) g_rand_int_range (random, 0, QM_N_THINGS);
  line->asked = g_rand_int (random) & (guint) QM_ASKS_OF_LINE;
  line->answered = g_rand_int (random) & line->asked;
}

static void
fill_head (QmQuote *quote, GRand *random)
{
  static const char *const currencies[] = { "", "USD", "EUR", "JPY", "KWD" };

  quote->vendor = random_text (random);
  quote->number = random_text (random);
  quote->alternative = random_text (random);
  quote->supersedes = random_text (random);
  quote->asked = g_rand_int (random) & (guint) QM_ASKS_OF_QUOTE;
  quote->answered = g_rand_int (random) & quote->asked;
  quote->note = random_text (random);
  quote->source = random_text (random);
  strcpy (quote->currency,
          currencies[g_rand_int_range (random, 0, G_N_ELEMENTS (currencies))]);
  quote->kind = (QmPriceKind) g_rand_int_range (random, 0, QM_PRICE_CLOUD + 1);
  quote->unit = (QmPriceUnit) g_rand_int_range (random, 0, QM_PRICE_HOUR + 1);
  quote->issued_on = random_date (random);
  quote->valid_from = random_date (random);
  quote->valid_until = random_date (random);
  quote->tax_included = (QmTristate) g_rand_int_range (random, -1, 2);
  quote->net_minor = random_amount (random);
  quote->discount_minor = random_amount (random);
  quote->charge_minor = random_amount (random);
  quote->tax_minor = random_amount (random);
  quote->payable_minor = random_amount (random);
  quote->origin =
      (QmQuoteOrigin) g_rand_int_range (random, 0, QM_N_QUOTE_ORIGINS);
  quote->read_at = g_rand_int (random);
}

static char *
digest_of (guint32 seed)
{
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) &seed,
                                      sizeof seed);
}

QmQuote *
random_quote (guint32 seed)
{
  QmQuote *quote = qm_quote_new ();
  GRand *random = g_rand_new_with_seed (seed);
  int n_lines = g_rand_int_range (random, 0, 12);
  int n_findings = g_rand_int_range (random, 0, 4);

  fill_head (quote, random);
  quote->sha256 = digest_of (seed);
  for (int i = 0; i < n_lines; i++)
    fill_line (qm_quote_add_line (quote, (QmLineRole) g_rand_int_range (
                                             random, 0, QM_N_LINE_ROLES)),
               random);
  for (int i = 0; i < n_findings; i++)
    {
      g_autofree char *place = random_text (random);
      g_autofree char *message = random_text (random);

      qm_quote_add_finding (
          quote,
          (QmFindingLevel) g_rand_int_range (random, 0, QM_N_FINDING_LEVELS),
          place, message != NULL ? message : "nothing");
    }
  g_rand_free (random);
  return quote;
}

static void
fill_plausible_line (QmQuoteLine *line, GRand *random, guint number)
{
  static const char *const things[][2] = {
    { "NVIDIA H100 80GB SXM5 Tensor Core GPU", "h100-80gb-sxm" },
    { "NVIDIA A100 80GB PCIe, passively cooled", "a100-80gb-pcie" },
    { "NVIDIA RTX 6000 Ada Generation, 48 GB GDDR6", "rtx6000-ada" },
    { "NVIDIA RTX A6000 48GB with NVLink bridge", "a6000" },
    { "Intel Xeon Platinum 8480+ 56C 2.0 GHz 350W", NULL },
    { "64GB DDR5-4800 ECC RDIMM dual rank", NULL },
    { "3.84TB NVMe U.2 Gen4 mixed use SSD", NULL },
    { "ConnectX-7 NDR 400Gb/s InfiniBand adapter", NULL },
    { "Rack server 4U chassis for 8 GPUs, 4x 3000W", NULL },
    { "5 years next business day on-site warranty", NULL },
  };
  int thing = g_rand_int_range (random, 0, G_N_ELEMENTS (things));
  gint64 quantity = g_rand_int_range (random, 1, 33);
  gint64 price = (gint64) g_rand_int_range (random, 10000, 3000000);

  line->number = g_strdup_printf ("%u", number);
  line->part_number =
      g_strdup_printf ("900-%05d-%04d-000", g_rand_int_range (random, 0, 99999),
                       g_rand_int_range (random, 0, 9999));
  line->description = g_strdup_printf ("%s (config %d)", things[thing][0],
                                       g_rand_int_range (random, 0, 1000));
  line->unit = g_strdup ("EA");
  line->quantity_micros = quantity * QM_MICROS_PER_UNIT;
  line->price_micros = price * (QM_MICROS_PER_UNIT / 100);
  line->total_minor = quantity * price;
  line->item = g_strdup (things[thing][1]);
  line->match = line->item != NULL ? QM_MATCH_FOUND : QM_MATCH_NONE;
  line->gpus = line->item != NULL ? 1 : 0;
}

QmQuote *
plausible_quote (guint32 seed, guint n_lines)
{
  QmQuote *quote = qm_quote_new ();
  GRand *random = g_rand_new_with_seed (seed);
  gint64 sum = 0;

  quote->vendor =
      g_strdup_printf ("Delta Computing %d", g_rand_int_range (random, 0, 200));
  quote->number = g_strdup_printf ("Q-2026-%06u", seed);
  strcpy (quote->currency, g_rand_boolean (random) ? "USD" : "EUR");
  quote->issued_on = (QmDate){ 2026, g_rand_int_range (random, 1, 13),
                               g_rand_int_range (random, 1, 29) };
  quote->valid_until = quote->issued_on;
  quote->valid_until.year += g_rand_boolean (random);
  quote->origin = QM_QUOTE_FROM_UBL;
  quote->source = g_strdup_printf ("quotation-%u.xml", seed);
  quote->sha256 = digest_of (seed);
  quote->read_at = 1780000000 + seed;
  for (guint i = 0; i < n_lines; i++)
    {
      QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);

      fill_plausible_line (line, random, i + 1);
      sum += line->total_minor;
    }
  quote->net_minor = sum;
  quote->payable_minor = sum;
  g_rand_free (random);
  return quote;
}
