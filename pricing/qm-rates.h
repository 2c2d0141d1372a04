/* SPDX-License-Identifier: Apache-2.0 */

/* Exchange rates of the European Central Bank, and what follows from them.
 *
 * The ECB publishes, on its working days, how many units of a currency one euro
 * is worth.  A rate between two other currencies goes through the euro, with
 * both rates of the same day: the last day until the one asked for on which
 * both were published.  So a rate always comes with its own day, which is to be
 * shown beside whatever was converted.
 *
 * Rates are kept as they are written, in billionths: at most 9 decimals.  A
 * rate between two currencies stays a fraction, so that a conversion rounds
 * once, at its end: to the minor unit (or to millionths of the major one),
 * halves away from zero.
 *
 * A currency whose last rate is older than another day of the table has ended
 * (HRK on 2022-12-30) or is suspended (RUB): from that other day on, it is not
 * converted any more.
 *
 * A table never changes, and may be used from several threads. */

#pragma once

#include "data/money.h"

#include <glib.h>

G_BEGIN_DECLS

/* Where the ECB has them: the last day, the last 90 days, and all since 1999.
 * The last one is more than 8 MiB of XML: fetch it with QM_RATES_MAX_BYTES. */
#define QM_RATES_ECB_DAILY \
  "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
#define QM_RATES_ECB_90_DAYS \
  "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml"
#define QM_RATES_ECB_HISTORY \
  "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.xml"

/* A document is not larger. */
#define QM_RATES_MAX_BYTES (32 << 20)

/* What one euro was worth on a day. */
typedef struct
{
  char currency[4];
  QmDate date;  /* a whole date */
  gint64 nanos; /* billionths of a unit of the currency; > 0 */
} QmRate;

#define QM_RATE_NANOS G_GINT64_CONSTANT (1000000000)

/* Days from the rate to the day asked for, beyond which it is stale: the ECB's
 * longest pause, over Easter or Christmas, is five days. */
#define QM_RATES_STALE_DAYS 7

/* A rate between two currencies: 1 `from` is `numerator` / `denominator` `to`.
 */
typedef struct
{
  char from[4];
  char to[4];
  gint64 numerator;
  gint64 denominator;
  QmDate date; /* of the rate; where `from` is `to`, the day asked for */
  QmDate asked;
  int age_days; /* from `date` to `asked` */
  gboolean stale;
} QmCrossRate;

typedef struct _QmRates QmRates;

#define QM_RATES_ERROR (qm_rates_error_quark ())
GQuark qm_rates_error_quark (void);

typedef enum
{
  QM_RATES_ERROR_FORMAT,  /* a document cannot be read */
  QM_RATES_ERROR_UNKNOWN, /* no rate of that currency at all */
  QM_RATES_ERROR_EARLY,   /* none that early */
  QM_RATES_ERROR_ENDED,   /* none that late: the currency has ended */
  QM_RATES_ERROR_RANGE    /* the amount is too large */
} QmRatesError;

/* Compares for sorting, by currency and day, with an unknown month or day as
 * the first; both are QmRate, of a currency of three letters. */
int qm_rate_compare (gconstpointer a, gconstpointer b);

/* A table of `n` rates in any order; of two of the same currency and day the
 * later in the array counts.
 *
 * Returns: (transfer full): the table, or NULL with QM_RATES_ERROR_FORMAT where
 *   a rate is none. */
QmRates *qm_rates_new (const QmRate *rates, gsize n, GError **error);

/* Reads the ECB's XML: one day or many, in any order.  Never touches the
 * network or a file; refuses a document type declaration.  `name` is how errors
 * call the document.
 *
 * Returns: (transfer full): the table, or NULL with QM_RATES_ERROR_FORMAT. */
QmRates *
qm_rates_new_from_ecb (GBytes *bytes, const char *name, GError **error);

/* Reads the ECB's CSV form: "Date,USD,JPY,...", a line a day, with "N/A" or
 * nothing where there is no rate; lines that begin with "#" are comments.
 *
 * Returns: (transfer full): the table, or NULL with QM_RATES_ERROR_FORMAT. */
QmRates *
qm_rates_new_from_csv (GBytes *bytes, const char *name, GError **error);

/* Reads exchange-rates.csv of a data directory (data/datadir.h).
 *
 * Returns: (transfer full): the table, or NULL with an error of
 *   QM_RATES_ERROR or G_FILE_ERROR. */
QmRates *qm_rates_new_shipped (const char *data_dir, GError **error);

/* The rates of both; where both have one, that of `newer`.
 *
 * Returns: (transfer full). */
QmRates *qm_rates_merge (QmRates *older, QmRates *newer);

/* One more, or one less, who needs it; the last one frees it. */
QmRates *qm_rates_ref (QmRates *rates);
void qm_rates_unref (QmRates *rates);

/* All rates, by currency and then by date: for the store. */
const QmRate *qm_rates_list (QmRates *rates, gsize *n);

/* The codes of all currencies, sorted, without EUR; NULL at the end. */
const char *const *qm_rates_currencies (QmRates *rates);

/* The first and the last day of the table; year 0 where it is empty. */
QmDate qm_rates_first_day (QmRates *rates);
QmDate qm_rates_last_day (QmRates *rates);

/* The rate from one currency to another on a day; an unknown month or day of
 * `date` counts as the first, its year must be known.
 *
 * stale_days: QM_RATES_STALE_DAYS, or what the user set.
 *
 * Returns: FALSE with QM_RATES_ERROR_UNKNOWN, _EARLY or _ENDED. */
gboolean qm_rates_find (QmRates *rates,
                        const char *from,
                        const char *to,
                        QmDate date,
                        int stale_days,
                        QmCrossRate *rate,
                        GError **error);

/* Converts an amount, which must be in rate->from.
 *
 * Returns: FALSE with QM_RATES_ERROR_RANGE. */
gboolean qm_cross_rate_convert (const QmCrossRate *rate,
                                QmMoney amount,
                                QmMoney *converted,
                                GError **error);

/* Converts a price in millionths of rate->from to millionths of rate->to.
 *
 * Returns: FALSE with QM_RATES_ERROR_RANGE. */
gboolean qm_cross_rate_convert_micros (const QmCrossRate *rate,
                                       gint64 micros,
                                       gint64 *converted,
                                       GError **error);

/* The rate as a decimal in the C locale with six significant digits ("1.16840",
 * "0.0000535480"), rounded; for showing.
 *
 * Returns: (transfer full). */
char *qm_cross_rate_text (const QmCrossRate *rate);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmRates, qm_rates_unref)

G_END_DECLS
