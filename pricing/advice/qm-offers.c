/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-offers.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define COUNTED_IN "USD"

struct _QmOffers
{
  gatomicrefcount references;
  GArray *list;        /* QmOffer, newest first */
  GPtrArray *left_out; /* char *, NULL at the end */
  GStringChunk *strings;
};

/* What is read at the moment. */
typedef struct
{
  QmOffers *offers;
  const QmCatalog *catalog;
  QmRates *rates;
  QmDate today;
  const QmQuote *quote;
  QmQuoteTotals totals;
  QmDate day; /* of the quote */
} Reader;

static QmDate
day_of_time (gint64 seconds)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (seconds);
  QmDate date = { 0 };

  if (time != NULL)
    g_date_time_get_ymd (time, &date.year, &date.month, &date.day);
  return date;
}

static QmDate
day_of_quote (const QmQuote *quote)
{
  if (quote->issued_on.year != 0)
    return quote->issued_on;
  if (quote->valid_from.year != 0)
    return quote->valid_from;
  return quote->read_at > 0 ? day_of_time (quote->read_at) : (QmDate){ 0 };
}

/* amount x numerator / denominator, halves away from zero; FALSE where that is
 * too large. */
static gboolean
scale (gint64 *amount, gint64 numerator, gint64 denominator)
{
  __int128 product = (__int128) *amount * numerator;
  __int128 half = denominator / 2;
  __int128 result = (product + (product < 0 ? -half : half)) / denominator;

  if (denominator <= 0 || result > G_MAXINT64 || result < 0)
    return FALSE;
  *amount = (gint64) result;
  return TRUE;
}

/* What one costs, in millionths of the quote's currency, with neither its share
 * of a discount nor tax regarded. */
static gboolean
price_of_one (const QmQuote *quote, const QmQuoteLine *line, gint64 *micros)
{
  gint64 cost = qm_quote_line_cost (quote, line);
  gint64 quantity = line->quantity_micros;

  if (cost != QM_AMOUNT_UNSTATED && quantity > 0)
    {
      gint64 per_minor = QM_MICROS_PER_UNIT;

      for (int i = qm_currency_decimals (quote->currency); i > 0; i--)
        per_minor /= 10;
      *micros = cost;
      return scale (micros, per_minor * QM_MICROS_PER_UNIT, quantity);
    }
  if (cost != QM_AMOUNT_UNSTATED || line->price_micros == QM_AMOUNT_UNSTATED)
    return FALSE;
  *micros = line->price_micros;
  return scale (micros, QM_MICROS_PER_UNIT, line->base_quantity_micros);
}

/* Takes off the share of the quote's discount, and the tax. */
static gboolean
net_of (const Reader *reader, gint64 *micros)
{
  const QmQuote *quote = reader->quote;
  gint64 lines = reader->totals.lines_minor;
  gint64 payable = quote->payable_minor;

  if (quote->discount_minor != QM_AMOUNT_UNSTATED && quote->discount_minor > 0
      && lines > 0
      && (quote->discount_minor >= lines
          || !scale (micros, lines - quote->discount_minor, lines)))
    return FALSE;
  if (quote->tax_included == QM_YES && quote->tax_minor > 0
      && payable > quote->tax_minor)
    return scale (micros, payable - quote->tax_minor, payable);
  return TRUE;
}

static void
leave_out (Reader *reader, const QmQuoteLine *line, const char *reason)
{
  g_autofree char *what = NULL;

  if (line->description != NULL)
    what = g_strdup (line->description);
  else
    what = g_strdup (line->part_number != NULL ? line->part_number : "");
  /* Translators: what is offered, by whom, why that does not count. */
  g_ptr_array_add (reader->offers->left_out,
                   g_strdup_printf (_ ("“%s” of %s: %s"), what,
                                    reader->quote->vendor != NULL
                                        ? reader->quote->vendor
                                        : _ ("an unnamed vendor"),
                                    reason));
}

static gboolean
convert (Reader *reader, QmOffer *offer, gint64 *micros, GError **error)
{
  const char *currency = reader->quote->currency;

  g_strlcpy (offer->currency, currency, sizeof offer->currency);
  if (strcmp (currency, COUNTED_IN) == 0)
    return TRUE;
  if (reader->rates == NULL)
    {
      g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_UNKNOWN,
                   _ ("no exchange rates are known"));
      return FALSE;
    }
  return qm_rates_find (reader->rates, currency, COUNTED_IN, reader->day,
                        QM_RATES_STALE_DAYS, &offer->rate, error)
         && qm_cross_rate_convert_micros (&offer->rate, *micros, micros, error);
}

static char *
source_of (const QmQuote *quote)
{
  const char *vendor = quote->vendor != NULL ? quote->vendor : quote->source;

  if (vendor == NULL)
    vendor = _ ("an unnamed vendor");
  if (quote->number == NULL)
    return g_strdup (vendor);
  /* Translators: a vendor, the number of a quote. */
  return g_strdup_printf (_ ("%s, quote %s"), vendor, quote->number);
}

/* A copy that lives as long as the offers; NULL for NULL. */
static const char *
keep (const Reader *reader, const char *text)
{
  return text != NULL
             ? g_string_chunk_insert_const (reader->offers->strings, text)
             : NULL;
}

/* Adds an offer of `item`, with `gpus` of it in a whole machine, 0 for one
 * that is not whole; there are `pieces` of it in a unit. */
static void
add_offer (Reader *reader, guint index, const char *item, int gpus, int pieces)
{
  const QmQuote *quote = reader->quote;
  const QmQuoteLine *line = g_ptr_array_index (quote->lines, index);
  g_autoptr (GError) error = NULL;
  g_autofree char *source = NULL;
  QmOffer offer = { 0 };
  gint64 micros = 0;

  if (!price_of_one (quote, line, &micros) || !net_of (reader, &micros)
      || !scale (&micros, 1, pieces) || micros == 0)
    {
      leave_out (reader, line, _ ("the quote tells no price of one"));
      return;
    }
  if (!convert (reader, &offer, &micros, &error))
    {
      leave_out (reader, line, error->message);
      return;
    }
  source = source_of (quote);
  offer.price = (QmPrice){
    .item = keep (reader, item),
    .kind = quote->kind,
    .unit = QM_PRICE_EACH,
    .gpus = MAX (gpus, 1),
    .currency = COUNTED_IN,
    .micros = micros,
    .low_micros = -1,
    .high_micros = -1,
    .observed_on = reader->day,
    .source = keep (reader, source),
    .from_user = true,
  };
  offer.whole = gpus > 0;
  offer.holds = qm_quote_dates_hold (quote->issued_on, quote->valid_from,
                                     quote->valid_until, reader->today);
  offer.taxed = quote->tax_included == QM_YES
                && (quote->tax_minor <= 0 || quote->payable_minor <= 0);
  offer.quote_id = quote->id;
  offer.line = index;
  offer.vendor = keep (reader, quote->vendor);
  offer.number = keep (reader, quote->number);
  offer.description =
      keep (reader, line->description != NULL ? line->description : "");
  offer.valid_until = quote->valid_until;
  g_array_append_val (reader->offers->list, offer);
}

/* The GPU type of the parts of a quoted line and how many of it there are; NULL
 * where they name none, or several. */
static const char *
gpu_of_parts (const Reader *reader, guint index, int *gpus)
{
  const GPtrArray *lines = reader->quote->lines;
  const char *gpu = NULL;
  gint64 n = 0;

  for (guint i = index + 1; i < lines->len; i++)
    {
      const QmQuoteLine *part = g_ptr_array_index (lines, i);
      gint64 quantity = part->quantity_micros / QM_MICROS_PER_UNIT;

      if (part->role == QM_LINE_QUOTED)
        break;
      if (part->role != QM_LINE_PART || part->item == NULL
          || qm_catalog_gpu (reader->catalog, part->item) == NULL)
        continue;
      if (gpu != NULL && strcmp (gpu, part->item) != 0)
        return NULL;
      gpu = part->item;
      n += MAX (part->gpus, 1) * CLAMP (quantity, 1, 1024);
    }
  *gpus = (int) MIN (n, 1024);
  return gpu;
}

/* Whether several GPUs come in a machine: cards alone are named without
 * processors, memory and the like. */
static gboolean
names_machine (const char *description)
{
  static const char *const words[] = {
    "server",       "workstation", "node",    "system", "systems",
    "chassis",      "barebone",    "rack",    "dgx",    "hgx",
    "threadripper", "epyc",        "xeon",    "ryzen",  "cpu",
    "ram",          "ddr4",        "ddr5",    "nvme",   "ssd",
    "1u",           "2u",          "4u",      "5u",     "8u",
    "tower",        "poweredge",   "proliant"
  };
  g_auto (GStrv) tokens = g_str_tokenize_and_fold (description, NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_strv_contains ((const char *const *) tokens, words[i]))
      return TRUE;
  return FALSE;
}

static void
read_line (Reader *reader, guint index)
{
  const QmQuoteLine *line = g_ptr_array_index (reader->quote->lines, index);
  const char *gpu;
  int gpus = 0;

  if (line->role != QM_LINE_QUOTED)
    return;
  gpu = gpu_of_parts (reader, index, &gpus);
  if (gpu != NULL)
    add_offer (reader, index, gpu, gpus, 1);
  else if (line->item != NULL && line->match != QM_MATCH_AMBIGUOUS)
    {
      gboolean whole = line->gpus > 1 && line->description != NULL
                       && names_machine (line->description);

      add_offer (reader, index, line->item, whole ? line->gpus : 0,
                 whole ? 1 : MAX (line->gpus, 1));
    }
}

static void
read_quote (Reader *reader, const QmQuote *quote)
{
  if (quote->unit != QM_PRICE_EACH || quote->kind == QM_PRICE_CLOUD
      || !qm_currency_valid (quote->currency))
    return;
  reader->quote = quote;
  reader->day = day_of_quote (quote);
  qm_quote_totals_compute (quote, &reader->totals);
  for (guint i = 0; i < quote->lines->len; i++)
    read_line (reader, i);
}

/* Newest first; of one day the one that was stored last. */
static int
compare_offers (gconstpointer a, gconstpointer b)
{
  const QmOffer *p = a;
  const QmOffer *q = b;
  int order = qm_date_compare (q->price.observed_on, p->price.observed_on);

  if (order != 0)
    return order;
  if (p->quote_id != q->quote_id)
    return p->quote_id > q->quote_id ? -1 : 1;
  return (p->line > q->line) - (p->line < q->line);
}

QmOffers *
qm_offers_new (const QmCatalog *catalog,
               GPtrArray *quotes,
               QmRates *rates,
               QmDate today)
{
  QmOffers *offers = g_new0 (QmOffers, 1);
  Reader reader = {
    .offers = offers, .catalog = catalog, .rates = rates, .today = today
  };

  g_return_val_if_fail (catalog != NULL && quotes != NULL, NULL);

  g_atomic_ref_count_init (&offers->references);
  offers->list = g_array_new (FALSE, FALSE, sizeof (QmOffer));
  offers->left_out = g_ptr_array_new_with_free_func (g_free);
  offers->strings = g_string_chunk_new (256);
  for (guint i = 0; i < quotes->len; i++)
    read_quote (&reader, g_ptr_array_index (quotes, i));
  g_ptr_array_add (offers->left_out, NULL);
  g_array_sort (offers->list, compare_offers);
  return offers;
}

QmOffers *
qm_offers_ref (QmOffers *offers)
{
  g_return_val_if_fail (offers != NULL, NULL);

  g_atomic_ref_count_inc (&offers->references);
  return offers;
}

void
qm_offers_unref (QmOffers *offers)
{
  if (offers == NULL || !g_atomic_ref_count_dec (&offers->references))
    return;
  g_array_unref (offers->list);
  g_ptr_array_unref (offers->left_out);
  g_string_chunk_free (offers->strings);
  g_free (offers);
}

const QmOffer *
qm_offers_list (QmOffers *offers, guint *n)
{
  g_return_val_if_fail (offers != NULL && n != NULL, NULL);

  *n = offers->list->len;
  return (const QmOffer *) (void *) offers->list->data;
}

static const QmOffer *
find (QmOffers *offers, const char *item, int gpus, gboolean expired)
{
  const QmOffer *other = NULL;

  for (guint i = 0; i < offers->list->len; i++)
    {
      const QmOffer *offer = &g_array_index (offers->list, QmOffer, i);

      if (offer->whole != (gpus > 0) || strcmp (offer->price.item, item) != 0
          || (gpus > 0 && offer->price.gpus != gpus))
        continue;
      if (offer->holds)
        return offer;
      if (other == NULL && expired)
        other = offer;
    }
  return other;
}

const QmOffer *
qm_offers_find (QmOffers *offers, const char *item, gboolean expired)
{
  g_return_val_if_fail (offers != NULL && item != NULL, NULL);

  return find (offers, item, 0, expired);
}

const QmOffer *
qm_offers_find_whole (QmOffers *offers,
                      const char *gpu,
                      int gpus,
                      gboolean expired)
{
  g_return_val_if_fail (offers != NULL && gpu != NULL && gpus > 0, NULL);

  return find (offers, gpu, gpus, expired);
}

const char *const *
qm_offers_left_out (QmOffers *offers)
{
  g_return_val_if_fail (offers != NULL, NULL);

  return (const char *const *) offers->left_out->pdata;
}
