/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-exact.h"
#include "pricing/qm-rates.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define EURO "EUR"

struct _QmRates
{
  gatomicrefcount references;
  GArray *rates;         /* QmRate, by currency and date */
  GArray *days;          /* QmDate, each once */
  GPtrArray *currencies; /* char*, ends with NULL */
};

G_DEFINE_QUARK (qm - rates - error - quark, qm_rates_error)

static const QmRate *
nth_rate (const QmRates *rates, guint i)
{
  return &g_array_index (rates->rates, QmRate, i);
}

static gboolean
rate_valid (const QmRate *rate)
{
  return memchr (rate->currency, '\0', sizeof rate->currency) != NULL
         && qm_currency_valid (rate->currency)
         && strcmp (rate->currency, EURO) != 0 && rate->nanos > 0
         && rate->date.year > 0 && rate->date.month > 0 && rate->date.day > 0;
}

/* The order of days as a number; what is unknown of one counts as the first. */
static guint32
day_key (QmDate date)
{
  return (guint32) date.year << 9 | (guint32) MAX (date.month, 1) << 5
         | (guint32) MAX (date.day, 1);
}

static guint64
rate_key (const QmRate *rate)
{
  guint32 letters;

  memcpy (&letters, rate->currency, sizeof letters);
  return (guint64) GUINT32_FROM_BE (letters) << 32 | day_key (rate->date);
}

int
qm_rate_compare (gconstpointer a, gconstpointer b)
{
  guint64 p = rate_key (a);
  guint64 q = rate_key (b);

  return (p > q) - (p < q);
}

static int
compare_days (gconstpointer a, gconstpointer b)
{
  return qm_date_compare (*(const QmDate *) a, *(const QmDate *) b);
}

/* Of equal neighbours, keeps the last: the sort is stable. */
static void
drop_replaced (GArray *rates)
{
  guint kept = 0;

  for (guint i = 0; i < rates->len; i++)
    {
      QmRate *rate = &g_array_index (rates, QmRate, i);

      if (i + 1 < rates->len && qm_rate_compare (rate, rate + 1) == 0)
        continue;
      g_array_index (rates, QmRate, kept++) = *rate;
    }
  g_array_set_size (rates, kept);
}

/* Most currencies have a rate of every day. */
static GArray *
days_of (const GArray *rates)
{
  GArray *days = g_array_new (FALSE, FALSE, sizeof (QmDate));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < rates->len; i++)
    {
      QmDate day = g_array_index (rates, QmRate, i).date;

      if (g_hash_table_add (seen, GUINT_TO_POINTER (day_key (day))))
        g_array_append_val (days, day);
    }
  g_array_sort (days, compare_days);
  return days;
}

static gboolean
in_order (const GArray *rates)
{
  for (guint i = 1; i < rates->len; i++)
    if (qm_rate_compare (&g_array_index (rates, QmRate, i - 1),
                         &g_array_index (rates, QmRate, i))
        > 0)
      return FALSE;
  return TRUE;
}

/* Takes the array, whose rates are valid. */
static QmRates *
rates_new_take (GArray *array)
{
  QmRates *rates = g_new0 (QmRates, 1);

  g_atomic_ref_count_init (&rates->references);
  if (!in_order (array))
    g_array_sort (array, qm_rate_compare);
  drop_replaced (array);
  rates->rates = array;
  rates->days = days_of (array);
  rates->currencies = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < array->len; i++)
    if (i == 0
        || strcmp (nth_rate (rates, i)->currency,
                   nth_rate (rates, i - 1)->currency)
               != 0)
      g_ptr_array_add (rates->currencies,
                       g_strdup (nth_rate (rates, i)->currency));
  g_ptr_array_add (rates->currencies, NULL);
  return rates;
}

QmRates *
qm_rates_new (const QmRate *rates, gsize n, GError **error)
{
  g_autoptr (GArray) array = NULL;

  g_return_val_if_fail (rates != NULL || n == 0, NULL);

  array = g_array_new (FALSE, FALSE, sizeof (QmRate));
  for (gsize i = 0; i < n; i++)
    if (!rate_valid (&rates[i]))
      {
        g_set_error (
            error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT,
            _ ("exchange rate %u is not a rate of a currency on a day"),
            (guint) i + 1);
        return NULL;
      }
  if (n > 0)
    g_array_append_vals (array, rates, (guint) n);
  return rates_new_take (g_steal_pointer (&array));
}

QmRates *
qm_rates_merge (QmRates *older, QmRates *newer)
{
  GArray *array;

  g_return_val_if_fail (older != NULL && newer != NULL, NULL);

  if (newer->rates->len == 0)
    return qm_rates_ref (older);
  array = g_array_sized_new (FALSE, FALSE, sizeof (QmRate),
                             older->rates->len + newer->rates->len);
  g_array_append_vals (array, older->rates->data, older->rates->len);
  g_array_append_vals (array, newer->rates->data, newer->rates->len);
  return rates_new_take (array);
}

QmRates *
qm_rates_ref (QmRates *rates)
{
  g_return_val_if_fail (rates != NULL, NULL);

  g_atomic_ref_count_inc (&rates->references);
  return rates;
}

void
qm_rates_unref (QmRates *rates)
{
  if (rates == NULL || !g_atomic_ref_count_dec (&rates->references))
    return;
  g_array_unref (rates->rates);
  g_array_unref (rates->days);
  g_ptr_array_unref (rates->currencies);
  g_free (rates);
}

const QmRate *
qm_rates_list (QmRates *rates, gsize *n)
{
  g_return_val_if_fail (rates != NULL && n != NULL, NULL);

  *n = rates->rates->len;
  return (const QmRate *) (void *) rates->rates->data;
}

const char *const *
qm_rates_currencies (QmRates *rates)
{
  g_return_val_if_fail (rates != NULL, NULL);

  return (const char *const *) rates->currencies->pdata;
}

QmDate
qm_rates_first_day (QmRates *rates)
{
  g_return_val_if_fail (rates != NULL, (QmDate){ 0 });

  return rates->days->len > 0 ? g_array_index (rates->days, QmDate, 0)
                              : (QmDate){ 0 };
}

QmDate
qm_rates_last_day (QmRates *rates)
{
  g_return_val_if_fail (rates != NULL, (QmDate){ 0 });

  return rates->days->len > 0
             ? g_array_index (rates->days, QmDate, rates->days->len - 1)
             : (QmDate){ 0 };
}

/* The number of elements that come before or at `key`. */
static guint
count_until (const GArray *array, GCompareFunc compare, gconstpointer key)
{
  guint size = g_array_get_element_size ((GArray *) array);
  guint low = 0;
  guint high = array->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (compare (array->data + (gsize) middle * size, key) <= 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The last rate of a currency until a day, or NULL. */
static const QmRate *
last_until (const QmRates *rates, const char *currency, QmDate date)
{
  QmRate key = { .date = date };
  guint n;

  memcpy (key.currency, currency, sizeof key.currency);
  n = count_until (rates->rates, qm_rate_compare, &key);
  if (n == 0 || strcmp (nth_rate (rates, n - 1)->currency, currency) != 0)
    return NULL;
  return nth_rate (rates, n - 1);
}

static void
set_early_error (const char *currency, const QmRate *first, GError **error)
{
  g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_EARLY,
               _ ("the first exchange rate of %s known here is of %04d-%02d-"
                  "%02d"),
               currency, first->date.year, first->date.month, first->date.day);
}

/* Whether it may be converted on that day; see the head of the header. */
static gboolean
check_currency (const QmRates *rates,
                const char *currency,
                QmDate date,
                GError **error)
{
  static const QmDate end = { 9999, 12, 31 };
  static const QmDate beginning = { 1, 1, 1 };
  const QmRate *last, *until;
  QmRate first_key = { .date = beginning };
  guint days;

  if (strcmp (currency, EURO) == 0)
    return TRUE;
  last = last_until (rates, currency, end);
  if (last == NULL)
    {
      g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_UNKNOWN,
                   _ ("there is no exchange rate of “%s”"), currency);
      return FALSE;
    }
  until = last_until (rates, currency, date);
  if (until == NULL)
    {
      memcpy (first_key.currency, currency, sizeof first_key.currency);
      set_early_error (currency,
                       nth_rate (rates,
                                 count_until (rates->rates, qm_rate_compare,
                                              &first_key)),
                       error);
      return FALSE;
    }
  if (until != last)
    return TRUE;
  days = count_until (rates->days, compare_days, &date);
  if (compare_days (&g_array_index (rates->days, QmDate, days - 1), &last->date)
      > 0)
    {
      g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_ENDED,
                   _ ("the European Central Bank has published no rate of %s "
                      "since %04d-%02d-%02d"),
                   currency, last->date.year, last->date.month, last->date.day);
      return FALSE;
    }
  return TRUE;
}

/* The last day until `date` on which both have rates. */
static gboolean
find_common (const QmRates *rates,
             const char *from,
             const char *to,
             QmDate date,
             QmCrossRate *cross)
{
  for (;;)
    {
      const QmRate *a =
          strcmp (from, EURO) != 0 ? last_until (rates, from, date) : NULL;
      const QmRate *b =
          strcmp (to, EURO) != 0 ? last_until (rates, to, date) : NULL;

      if ((a == NULL && strcmp (from, EURO) != 0)
          || (b == NULL && strcmp (to, EURO) != 0))
        return FALSE;
      if (a != NULL && b != NULL && compare_days (&a->date, &b->date) != 0)
        {
          date = compare_days (&a->date, &b->date) < 0 ? a->date : b->date;
          continue;
        }
      if (a != NULL)
        {
          cross->denominator = a->nanos;
          cross->date = a->date;
        }
      else
        cross->denominator = QM_RATE_NANOS;
      if (b != NULL)
        {
          cross->numerator = b->nanos;
          cross->date = b->date;
        }
      else
        cross->numerator = QM_RATE_NANOS;
      return TRUE;
    }
}

static gboolean
check_code (const char *currency, GError **error)
{
  if (qm_currency_valid (currency))
    return TRUE;
  g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_UNKNOWN,
               _ ("“%s” is not the code of a currency"), currency);
  return FALSE;
}

gboolean
qm_rates_find (QmRates *rates,
               const char *from,
               const char *to,
               QmDate date,
               int stale_days,
               QmCrossRate *rate,
               GError **error)
{
  QmCrossRate cross = { .numerator = 1, .denominator = 1 };

  g_return_val_if_fail (rates != NULL && from != NULL && to != NULL, FALSE);
  g_return_val_if_fail (rate != NULL && date.year > 0, FALSE);

  if (!check_code (from, error) || !check_code (to, error))
    return FALSE;
  date.month = MAX (date.month, 1);
  date.day = MAX (date.day, 1);
  memcpy (cross.from, from, sizeof cross.from);
  memcpy (cross.to, to, sizeof cross.to);
  cross.asked = date;
  cross.date = date;
  if (strcmp (from, to) != 0)
    {
      if (!check_currency (rates, from, date, error)
          || !check_currency (rates, to, date, error))
        return FALSE;
      if (!find_common (rates, from, to, date, &cross))
        {
          g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_EARLY,
                       _ ("until %04d-%02d-%02d there is no day with exchange "
                          "rates of both %s and %s"),
                       date.year, date.month, date.day, from, to);
          return FALSE;
        }
    }
  cross.age_days = qm_date_days_between (cross.date, date);
  cross.stale = cross.age_days > stale_days;
  *rate = cross;
  return TRUE;
}

static QmInt128
minor_units (const char *currency)
{
  QmInt128 units = 1;

  for (int i = qm_currency_decimals (currency); i > 0; i--)
    units *= 10;
  return units;
}

static gboolean
set_range_error (const QmCrossRate *rate, GError **error)
{
  g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_RANGE,
               _ ("an amount is too large to convert from %s to %s"),
               rate->from, rate->to);
  return FALSE;
}

gboolean
qm_cross_rate_convert (const QmCrossRate *rate,
                       QmMoney amount,
                       QmMoney *converted,
                       GError **error)
{
  QmMoney money = { 0 };

  g_return_val_if_fail (rate != NULL && converted != NULL, FALSE);
  g_return_val_if_fail (strcmp (amount.currency, rate->from) == 0, FALSE);

  memcpy (money.currency, rate->to, sizeof money.currency);
  if (!qm_exact_scale (amount.minor,
                       (QmInt128) rate->numerator * minor_units (rate->to),
                       (QmInt128) rate->denominator * minor_units (rate->from),
                       &money.minor))
    return set_range_error (rate, error);
  *converted = money;
  return TRUE;
}

gboolean
qm_cross_rate_convert_micros (const QmCrossRate *rate,
                              gint64 micros,
                              gint64 *converted,
                              GError **error)
{
  g_return_val_if_fail (rate != NULL && converted != NULL, FALSE);

  return qm_exact_scale (micros, rate->numerator, rate->denominator, converted)
         || set_range_error (rate, error);
}

char *
qm_cross_rate_text (const QmCrossRate *rate)
{
  char format[16];
  char text[G_ASCII_DTOSTR_BUF_SIZE + 32];
  double value;
  int decimals;

  g_return_val_if_fail (rate != NULL, NULL);

  value = (double) rate->numerator / (double) rate->denominator;
  decimals = CLAMP (5 - (int) floor (log10 (value)), 0, 25);
  g_snprintf (format, sizeof format, "%%.%df", decimals);
  return g_strdup (g_ascii_formatd (text, sizeof text, format, value));
}
