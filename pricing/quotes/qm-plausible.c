/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-plausible.h"

#include "pricing/formats/qm-csv-discount.h"
#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "pricing/words-thresholds.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define COUNTED_IN "USD"

__extension__ typedef __int128 Wide;

static void
widen (gint64 *low, gint64 *high, gint64 micros)
{
  if (micros <= 0)
    return;
  *low = *low == 0 ? micros : MIN (*low, micros);
  *high = MAX (*high, micros);
}

/* Whether a price of the catalog is one of that GPU or machine, in USD. */
static gboolean
is_price_of (const QmPrice *price, const char *item)
{
  return price->unit == QM_PRICE_EACH && price->gpus == 1
         && strcmp (price->item, item) == 0
         && strcmp (price->currency, COUNTED_IN) == 0;
}

/* The day of the newest price; year 0 where none is dated. */
static QmDate
newest_day (const QmCatalog *catalog, const char *item)
{
  QmDate newest = { 0 };
  size_t n;
  const QmPrice *prices = qm_catalog_prices (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (is_price_of (&prices[i], item)
        && qm_date_compare (prices[i].observed_on, newest) > 0)
      newest = prices[i].observed_on;
  return newest;
}

/* The lowest and the highest known price of one GPU in millionths of a US
 * dollar, of the last QM_PLAUSIBLE_DAYS and undated ones.
 *
 * Returns: FALSE where none is known. */
static gboolean
known_prices (const QmCatalog *catalog,
              const char *gpu,
              gint64 *low_micros,
              gint64 *high_micros)
{
  const QmPrice *prices;
  QmDate newest;
  size_t n;

  g_return_val_if_fail (catalog != NULL && gpu != NULL, FALSE);

  newest = newest_day (catalog, gpu);
  *low_micros = 0;
  *high_micros = 0;
  prices = qm_catalog_prices (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      const QmPrice *price = &prices[i];

      if (!is_price_of (price, gpu)
          || (price->observed_on.year > 0
              && qm_date_days_between (price->observed_on, newest)
                     > QM_PLAUSIBLE_DAYS))
        continue;
      widen (low_micros, high_micros, price->micros);
      widen (low_micros, high_micros, price->low_micros);
      widen (low_micros, high_micros, price->high_micros);
    }
  return *high_micros > 0;
}

/* The dearest machine without GPUs of which a price is known. */
static gint64
dearest_machine (const QmCatalog *catalog)
{
  const QmMachine *machines;
  gint64 dearest = 0;
  size_t n;

  machines = qm_catalog_machines (catalog, &n);
  for (size_t i = 0; i < n; i++)
    {
      gint64 low, high;

      if (known_prices (catalog, machines[i].id, &low, &high))
        dearest = MAX (dearest, high);
    }
  return dearest;
}

/* Whether a price of `gpus` of them, with whatever is around them where
 * `machine`, is near enough to what is known.  Around GPUs may be anything, so
 * a machine can only be too cheap, or dearer than its GPUs and the dearest
 * known machine could explain.  TRUE where nothing is known. */
static gboolean
is_plausible (const QmCatalog *catalog,
              const char *gpu,
              int gpus,
              gboolean machine,
              gint64 usd_micros)
{
  gint64 low, high;
  Wide most;

  g_return_val_if_fail (gpus > 0, TRUE);

  if (!known_prices (catalog, gpu, &low, &high))
    return TRUE;
  most = (Wide) high * gpus;
  if (machine)
    most += dearest_machine (catalog);
  return (Wide) usd_micros * QM_PLAUSIBLE_TIMES >= (Wide) low * gpus
         && usd_micros <= most * QM_PLAUSIBLE_TIMES;
}

static QmDate
day_of (const QmQuote *quote)
{
  g_autoptr (GDateTime) time = NULL;
  QmDate date = { 0 };

  if (quote->issued_on.year != 0)
    return quote->issued_on;
  if (quote->valid_from.year != 0)
    return quote->valid_from;
  time = quote->read_at > 0 ? g_date_time_new_from_unix_utc (quote->read_at)
                            : g_date_time_new_now_utc ();
  if (time != NULL)
    g_date_time_get_ymd (time, &date.year, &date.month, &date.day);
  return date;
}

/* Millionths of a US dollar; how old a rate is does not matter here, as long as
 * there is one. */
static gboolean
in_dollars (const QmQuote *quote, QmRates *rates, gint64 *micros)
{
  QmCrossRate rate;
  QmDate day = day_of (quote);

  if (strcmp (quote->currency, COUNTED_IN) == 0)
    return TRUE;
  if (rates == NULL || quote->currency[0] == '\0')
    return FALSE;
  return qm_rates_find (rates, quote->currency, COUNTED_IN, day,
                        QM_RATES_STALE_DAYS, &rate, NULL)
         && qm_cross_rate_convert_micros (&rate, *micros, micros, NULL);
}

/* What one unit of a line costs, in millionths of a US dollar. */
static gboolean
price_of_unit (const QmQuote *quote,
               const QmQuoteLine *line,
               QmRates *rates,
               gint64 *micros)
{
  gint64 cost = qm_quote_line_cost (quote, line);
  gint64 scale = QM_MICROS_PER_UNIT;
  Wide each;

  for (int i = qm_currency_decimals (quote->currency); i > 0; i--)
    scale /= 10;
  if (cost != QM_AMOUNT_UNSTATED && line->quantity_micros > 0)
    each = (Wide) cost * scale * QM_MICROS_PER_UNIT / line->quantity_micros;
  else if (line->price_micros != QM_AMOUNT_UNSTATED
           && line->base_quantity_micros > 0)
    each = (Wide) line->price_micros * QM_MICROS_PER_UNIT
           / line->base_quantity_micros;
  else
    return FALSE;
  if (each <= 0 || each > G_MAXINT64 / QM_PLAUSIBLE_TIMES)
    return FALSE;
  *micros = (gint64) each;
  return in_dollars (quote, rates, micros);
}

/* "500.00 USD to 1,500.00 USD" */
static char *
known_text (const QmCatalog *catalog, const char *gpu)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;
  gint64 low, high;

  known_prices (catalog, gpu, &low, &high);
  from = qm_minor_for_people (qm_money_from_micros (low, COUNTED_IN).minor,
                              COUNTED_IN);
  to = qm_minor_for_people (qm_money_from_micros (high, COUNTED_IN).minor,
                            COUNTED_IN);
  if (low == high)
    return g_steal_pointer (&from);
  /* Translators: two amounts, the lowest and the highest known price. */
  return g_strdup_printf (_ ("%s to %s"), from, to);
}

/* Whether the words of a line name something that a GPU can be sold with, and
 * that can be sold, or taken off, alone. */
static gboolean
names_besides (const QmQuoteLine *line)
{
  g_autofree char *normal =
      qm_csv_normalize (line->description != NULL ? line->description : "");
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (qm_csv_word_is_discount (words[i]))
      return TRUE;
  return qm_line_names_service (line);
}

/* Whether what names a service or a discount costs less than its GPUs are known
 * to, or do in another line. */
static gboolean
may_be_besides (const QmQuote *quote,
                const QmCatalog *catalog,
                const QmQuoteLine *line,
                QmRates *rates,
                gint64 usd_micros)
{
  gint64 low, high, other_micros;

  if (!names_besides (line))
    return FALSE;
  if (!known_prices (catalog, line->item, &low, &high))
    low = 0;
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *other = g_ptr_array_index (quote->lines, i);

      if (other != line && other->role == QM_LINE_QUOTED && other->gpus > 0
          && g_strcmp0 (other->item, line->item) == 0
          && price_of_unit (quote, other, rates, &other_micros))
        low = MAX (low, other_micros / other->gpus);
    }
  return (Wide) usd_micros * 3
         < (Wide) low * line->gpus * QM_PLAUSIBLE_BESIDES_OF_3;
}

static void
find_price (QmQuote *quote,
            guint index,
            const QmCatalog *catalog,
            gint64 usd_micros,
            const char *format)
{
  const QmQuoteLine *line = g_ptr_array_index (quote->lines, index);
  g_autofree char *place = line->number != NULL
                               ? g_strdup_printf (_ ("line %s"), line->number)
                               : g_strdup_printf (_ ("line %u"), index + 1);
  g_autofree char *known = known_text (catalog, line->item);
  g_autofree char *is = qm_minor_for_people (
      qm_money_from_micros (usd_micros / line->gpus, COUNTED_IN).minor,
      COUNTED_IN);

  qm_read_find (quote, QM_FINDING_WARNING, place, format, is, line->item,
                known);
}

static void
ask_line (QmQuote *quote, guint index, const QmCatalog *catalog, QmRates *rates)
{
  QmQuoteLine *line = g_ptr_array_index (quote->lines, index);
  QmLineThing thing;
  gboolean far;
  gint64 micros;

  /* What may be a rent or a pack is asked about already, and is no price of one
   * if it is; and of an unknown number of GPUs nothing can be said. */
  if (line->role != QM_LINE_QUOTED || line->item == NULL || line->gpus <= 0
      || (qm_quote_line_open (line) & (QM_ASK_RENT | QM_ASK_PACK)) != 0
      || qm_catalog_gpu (catalog, line->item) == NULL)
    return;
  thing = qm_line_thing (catalog, line);
  if ((thing != QM_THING_GPU && thing != QM_THING_MACHINE)
      || !price_of_unit (quote, line, rates, &micros))
    return;
  far = !is_plausible (catalog, line->item, line->gpus,
                       thing == QM_THING_MACHINE, micros);
  if (!far && !may_be_besides (quote, catalog, line, rates, micros))
    return;
  if ((line->asked & QM_ASK_PRICE) == 0)
    find_price (
        quote, index, catalog, micros,
        far ? _ ("That is %s for each GPU, far from every known price of "
                 "%s (%s). It does not count until you have said that "
                 "the price is right.")
            : _ ("That is %s for each GPU, less than %s costs elsewhere "
                 "(%s), and the line names a service or a discount: it "
                 "may be that alone. It does not count until you have said "
                 "that the "
                 "price is right."));
  qm_quote_line_ask (line, QM_ASK_PRICE);
}

void
qm_quote_ask_prices (QmQuote *quote, const QmCatalog *catalog, QmRates *rates)
{
  g_return_if_fail (quote != NULL && catalog != NULL);

  if (quote->unit != QM_PRICE_EACH || quote->kind == QM_PRICE_CLOUD)
    return;
  for (guint i = 0; i < quote->lines->len; i++)
    ask_line (quote, i, catalog, rates);
}

gboolean
qm_quote_check_item (const QmQuote *quote,
                     const char *item,
                     const QmMatcher *matcher,
                     QmRates *rates,
                     GError **error)
{
  const QmCatalog *catalog;
  const QmQuoteLine *line;
  g_autofree char *excerpt = NULL;
  g_autofree char *known = NULL;
  gint64 micros;

  g_return_val_if_fail (quote != NULL && item != NULL, FALSE);
  g_return_val_if_fail (matcher != NULL, FALSE);

  catalog = qm_matcher_get_catalog (matcher);
  if (quote->lines->len == 0 || qm_catalog_gpu (catalog, item) == NULL)
    return TRUE;
  line = g_ptr_array_index (quote->lines, 0);
  if (!qm_matcher_may_be (matcher, line->part_number, line->description, item))
    {
      excerpt = qm_read_excerpt (line->description != NULL ? line->description
                                                           : line->part_number);
      g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                   _ ("the page sells “%s”, which is not %s"), excerpt, item);
      return FALSE;
    }
  if (quote->unit != QM_PRICE_EACH
      || !price_of_unit (quote, line, rates, &micros)
      || is_plausible (catalog, item, MAX (line->gpus, 1),
                       qm_line_thing (catalog, line) == QM_THING_MACHINE,
                       micros))
    return TRUE;
  known = known_text (catalog, item);
  g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
               _ ("its price is far from every known one of %s (%s)"), item,
               known);
  return FALSE;
}
