/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-offers.h"
#include "pricing/quotes/qm-quote-family.h"
#include "pricing/quotes/qm-quote-offer.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define COUNTED_IN "USD"

struct _QmOffers
{
  gatomicrefcount references;
  GArray *list;        /* QmOffer, see compare_offers() */
  GPtrArray *left_out; /* char *, NULL at the end */
  GStringChunk *strings;
  QmOffers *base; /* what these were made of, which has the strings, or NULL */
};

/* What is read at the moment. */
typedef struct
{
  QmOffers *offers;
  const QmCatalog *catalog;
  QmRates *rates;
  QmDate today;
  const QmQuote *quote;
  QmDate day; /* of the quote */
} Reader;

/* What a line is called, on one line of text.  (transfer full) */
static char *
name_of_line (const QmQuoteLine *line)
{
  const char *name =
      line->description != NULL ? line->description : line->part_number;

  return g_strdelimit (g_strdup (name != NULL ? name : ""), "\n", ' ');
}

static void
leave_out (Reader *reader, guint index, const char *reason)
{
  const QmQuoteLine *line = g_ptr_array_index (reader->quote->lines, index);
  g_autofree char *what = name_of_line (line);

  /* Translators: what is offered, by whom, why that does not count. */
  g_ptr_array_add (reader->offers->left_out,
                   g_strdup_printf (_ ("“%s” of %s: %s"), what,
                                    reader->quote->vendor != NULL
                                        ? reader->quote->vendor
                                        : _ ("an unnamed vendor"),
                                    reason));
}

static gboolean
convert_offer (Reader *reader, QmOffer *offer, gint64 *micros, GError **error)
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
  g_autofree char *name = NULL;

  if (vendor == NULL)
    vendor = _ ("an unnamed vendor");
  name = quote->number == NULL
             ? g_strdup (vendor)
             /* Translators: a vendor, the number of a quote. */
             : g_strdup_printf (_ ("%s, quote %s"), vendor, quote->number);
  if (quote->alternative == NULL)
    return g_steal_pointer (&name);
  /* Translators: a quote, which alternative of it: "Option A". */
  return g_strdup_printf (_ ("%s, %s"), name, quote->alternative);
}

/* A copy that lives as long as the offers; NULL for NULL. */
static const char *
keep_text (const Reader *reader, const char *text)
{
  return text != NULL
             ? g_string_chunk_insert_const (reader->offers->strings, text)
             : NULL;
}

/* What the tax of one comes to in USD; -1 where it is not told. */
static gint64
tax_of_one (Reader *reader, const QmQuoteOffer *offered)
{
  QmQuoteOffer tax = *offered;
  QmOffer offer;
  gint64 micros;

  if (offered->tax_minor == QM_AMOUNT_UNSTATED)
    return -1;
  if (offered->tax_minor == 0)
    return 0;
  tax.net_minor = offered->tax_minor;
  return qm_quote_offer_price (reader->quote, &tax, &micros)
                 && convert_offer (reader, &offer, &micros, NULL)
             ? micros
             : -1;
}

static void
add_offer (Reader *reader, const QmQuoteOffer *offered)
{
  const QmQuote *quote = reader->quote;
  const QmQuoteLine *line = g_ptr_array_index (quote->lines, offered->line);
  g_autoptr (GError) error = NULL;
  g_autofree char *source = source_of (quote);
  g_autofree char *what = name_of_line (line);
  QmOffer offer = { 0 };
  gint64 micros = 0;

  if (!qm_quote_offer_price (quote, offered, &micros))
    {
      leave_out (reader, offered->line, _ ("the quote tells no price of one"));
      return;
    }
  if (!convert_offer (reader, &offer, &micros, &error))
    {
      leave_out (reader, offered->line, error->message);
      return;
    }
  offer.price = (QmPrice){
    .item = keep_text (reader, offered->item),
    .kind = quote->kind,
    .unit = QM_PRICE_EACH,
    .gpus = MAX (offered->gpus, 1),
    .currency = COUNTED_IN,
    .micros = micros,
    .low_micros = -1,
    .high_micros = -1,
    .observed_on = reader->day,
    .source = keep_text (reader, source),
    .from_user = true,
  };
  offer.is_gpu = qm_catalog_gpu (reader->catalog, offered->item) != NULL;
  offer.whole = offered->gpus > 0;
  offer.kind = offered->desktop ? QM_MACHINE_DESKTOP : QM_MACHINE_SERVER;
  offer.board = offered->board;
  offer.variant = offered->variant;
  offer.holds = qm_quote_dates_hold (quote->issued_on, quote->valid_from,
                                     quote->valid_until, reader->today);
  offer.undated = qm_quote_is_undated (quote);
  offer.taxed = offered->taxed;
  offer.tax_micros = tax_of_one (reader, offered);
  offer.quote_id = quote->id;
  offer.line = offered->line;
  offer.vendor = keep_text (reader, quote->vendor);
  offer.number = keep_text (reader, quote->number);
  offer.alternative = keep_text (reader, quote->alternative);
  offer.description = keep_text (reader, what);
  offer.valid_until = quote->valid_until;
  g_array_append_val (reader->offers->list, offer);
}

/* A quote in the place of which a newer revision counts. */
static void
leave_out_revision (Reader *reader,
                    const QmQuoteOffer *offered,
                    const QmQuote *newest)
{
  g_autofree char *source = source_of (newest);
  g_autofree char *reason =
      /* Translators: a quote. */
      g_strdup_printf (_ ("a newer revision counts: %s"), source);

  leave_out (reader, offered->line, reason);
}

static void
read_quote (Reader *reader, const QmQuote *quote, const QmQuote *newest)
{
  g_autoptr (GArray) left_out = NULL;
  g_autoptr (GArray) offered =
      qm_quote_offers (reader->catalog, quote, &left_out);

  reader->quote = quote;
  reader->day = qm_quote_day (quote);
  for (guint i = 0; i < offered->len; i++)
    {
      const QmQuoteOffer *one = &g_array_index (offered, QmQuoteOffer, i);

      if (newest != quote)
        leave_out_revision (reader, one, newest);
      else
        add_offer (reader, one);
    }
  for (guint i = 0; newest == quote && i < left_out->len; i++)
    {
      const QmQuoteOmission *omission =
          &g_array_index (left_out, QmQuoteOmission, i);

      leave_out (reader, omission->line, omission->reason);
    }
}

/* Those that hold first, then those with clear dates; of these, what holds
 * from the cheapest, and what does not from the newest; last of all from the
 * one that was stored last. */
static int
compare_offers (gconstpointer a, gconstpointer b)
{
  const QmOffer *p = a;
  const QmOffer *q = b;
  int order = qm_date_compare (q->price.observed_on, p->price.observed_on);

  if (p->holds != q->holds)
    return p->holds ? -1 : 1;
  if (p->undated != q->undated)
    return p->undated ? 1 : -1;
  if (p->holds && p->price.micros != q->price.micros)
    return p->price.micros < q->price.micros ? -1 : 1;
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

  g_autoptr (GPtrArray) newest = NULL;

  g_return_val_if_fail (catalog != NULL && quotes != NULL, NULL);

  g_atomic_ref_count_init (&offers->references);
  offers->list = g_array_new (FALSE, FALSE, sizeof (QmOffer));
  offers->left_out = g_ptr_array_new_with_free_func (g_free);
  offers->strings = g_string_chunk_new (256);
  newest = qm_quote_newest_revisions (quotes, today);
  for (guint i = 0; i < quotes->len; i++)
    read_quote (&reader, g_ptr_array_index (quotes, i),
                g_ptr_array_index (newest, i));
  g_ptr_array_add (offers->left_out, NULL);
  g_array_sort (offers->list, compare_offers);
  return offers;
}

static gboolean
any_taxed (const QmOffers *offers)
{
  for (guint i = 0; i < offers->list->len; i++)
    if (g_array_index (offers->list, QmOffer, i).taxed)
      return TRUE;
  return FALSE;
}

static void
take_tax_off (QmOffer *offer, double percent)
{
  gint64 gross = offer->price.micros;

  offer->price.micros = (gint64) round ((double) gross / (1 + percent / 100));
  offer->tax_micros = gross - offer->price.micros;
  offer->taxed = FALSE;
  offer->tax_assumed = percent;
}

QmOffers *
qm_offers_with_tax (QmOffers *offers, double percent)
{
  QmOffers *made;

  g_return_val_if_fail (offers != NULL, NULL);

  if (offers->base != NULL)
    offers = offers->base;
  if (!(percent > 0) || !any_taxed (offers))
    return qm_offers_ref (offers);
  made = g_new0 (QmOffers, 1);
  g_atomic_ref_count_init (&made->references);
  made->list = g_array_copy (offers->list);
  made->left_out = g_ptr_array_ref (offers->left_out);
  made->base = qm_offers_ref (offers);
  for (guint i = 0; i < made->list->len; i++)
    {
      QmOffer *offer = &g_array_index (made->list, QmOffer, i);

      if (offer->taxed)
        take_tax_off (offer, percent);
    }
  g_array_sort (made->list, compare_offers);
  return made;
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
  g_clear_pointer (&offers->strings, g_string_chunk_free);
  g_clear_pointer (&offers->base, qm_offers_unref);
  g_free (offers);
}

const QmOffer *
qm_offers_list (QmOffers *offers, guint *n)
{
  g_return_val_if_fail (offers != NULL && n != NULL, NULL);

  *n = offers->list->len;
  return (const QmOffer *) (void *) offers->list->data;
}

/* The first in the order of compare_offers(). */
static const QmOffer *
find_offer (
    QmOffers *offers, const char *item, int gpus, guint kinds, gboolean expired)
{
  for (guint i = 0; i < offers->list->len; i++)
    {
      const QmOffer *offer = &g_array_index (offers->list, QmOffer, i);

      if (offer->whole == (gpus > 0) && strcmp (offer->price.item, item) == 0
          && (gpus == 0
              || (offer->price.gpus == gpus
                  && (kinds & 1u << offer->kind) != 0)))
        return offer->holds || expired ? offer : NULL;
    }
  return NULL;
}

const QmOffer *
qm_offers_find (QmOffers *offers, const char *item, gboolean expired)
{
  g_return_val_if_fail (offers != NULL && item != NULL, NULL);

  return find_offer (offers, item, 0, 0, expired);
}

const QmOffer *
qm_offers_find_whole (
    QmOffers *offers, const char *gpu, int gpus, guint kinds, gboolean expired)
{
  g_return_val_if_fail (offers != NULL && gpu != NULL && gpus > 0, NULL);

  return find_offer (offers, gpu, gpus, kinds, expired);
}

const char *const *
qm_offers_left_out (QmOffers *offers)
{
  g_return_val_if_fail (offers != NULL, NULL);

  return (const char *const *) offers->left_out->pdata;
}
