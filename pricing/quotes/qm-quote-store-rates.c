/* SPDX-License-Identifier: Apache-2.0 */

/* Exchange rates in the store. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-prices.h"
#include "pricing/quotes/qm-quote-store-private.h"

typedef struct
{
  QmRates *rates;
  const char *source;
} Put;

static gboolean
put_source (QmQuoteStore *store, const char *source, GError **error)
{
  static const char sql[] =
      "INSERT INTO rate_sources (name) VALUES (?1) ON CONFLICT DO NOTHING";
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_text (statement, &n, source);
  return qm_store_run (store, statement, error);
}

static gboolean
put_rate (QmQuoteStore *store,
          const QmRate *rate,
          const char *source,
          GError **error)
{
  static const char sql[] =
      "INSERT INTO rates (currency, date, nanos, source)"
      " VALUES (?1, ?2, ?3, (SELECT id FROM rate_sources WHERE name = ?4))"
      " ON CONFLICT (currency, date) DO UPDATE SET nanos = excluded.nanos,"
      "  source = excluded.source WHERE nanos <> excluded.nanos";
  QmStatement *statement = qm_store_prepare (store, sql, error);
  int n = 0;

  if (statement == NULL)
    return FALSE;
  qm_bind_text (statement, &n, rate->currency);
  qm_bind_date (statement, &n, rate->date);
  qm_bind_int (statement, &n, rate->nanos);
  qm_bind_text (statement, &n, source);
  return qm_store_run (store, statement, error);
}

static gboolean
forget_unused_sources (QmQuoteStore *store, GError **error)
{
  static const char sql[] = "DELETE FROM rate_sources WHERE id NOT IN"
                            " (SELECT source FROM rates)";

  return qm_store_run_sql (store, sql, error);
}

static gboolean
put_rates (QmQuoteStore *store, gpointer data, GError **error)
{
  const Put *what = data;
  gsize n;
  const QmRate *rates = qm_rates_list (what->rates, &n);

  if (!put_source (store, what->source, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (!put_rate (store, &rates[i], what->source, error))
      return FALSE;
  return forget_unused_sources (store, error);
}

gboolean
qm_quote_store_put_rates (QmQuoteStore *store,
                          QmRates *rates,
                          const char *source,
                          GError **error)
{
  Put what = { rates, source };

  g_return_val_if_fail (store != NULL && rates != NULL && source != NULL,
                        FALSE);

  return qm_store_check_text (source, error)
         && qm_store_write (store, put_rates, &what, error);
}

QmRates *
qm_quote_store_get_rates (QmQuoteStore *store, GError **error)
{
  static const char sql[] =
      "SELECT currency, date, nanos FROM rates ORDER BY currency, date";
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (QmRate));
  g_autoptr (QmStatement) row = NULL;
  int step = -1;

  g_return_val_if_fail (store != NULL, NULL);

  row = qm_store_prepare (store, sql, error);
  while (row != NULL && (step = qm_store_step (store, row, error)) == 1)
    {
      QmRate rate = { 0 };
      int n = -1;

      qm_column_currency (row, &n, rate.currency, NULL);
      rate.date = qm_column_date (row, &n, NULL);
      rate.nanos = qm_column_int (row, &n, NULL);
      g_array_append_val (rates, rate);
    }
  if (step != 0)
    return NULL;
  return qm_rates_new ((const QmRate *) (void *) rates->data, rates->len,
                       error);
}

char *
qm_quote_store_rate_source (QmQuoteStore *store,
                            const char *currency,
                            QmDate date,
                            GError **error)
{
  static const char sql[] =
      "SELECT name FROM rates JOIN rate_sources ON id = source"
      " WHERE currency = ?1 AND date = ?2";
  g_autoptr (QmStatement) row = NULL;
  int n = 0;
  int column = -1;

  g_return_val_if_fail (store != NULL && currency != NULL, NULL);

  if (!qm_store_check_date (date, error))
    return NULL;
  row = qm_store_prepare (store, sql, error);
  if (row == NULL)
    return NULL;
  qm_bind_text (row, &n, currency);
  qm_bind_date (row, &n, date);
  if (qm_store_step (store, row, error) != 1)
    return NULL;
  return qm_column_dup (row, &column);
}
