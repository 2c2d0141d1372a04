/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-quotes-private.h"
#include "pricing/fetch/qm-fetch.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static gboolean
has_id (const GArray *ids, gint64 id)
{
  for (guint i = 0; i < ids->len; i++)
    if (g_array_index (ids, gint64, i) == id)
      return TRUE;
  return FALSE;
}

GArray *
qm_cli_quote_ids (GStrv words, guint min, guint max, GError **error)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autofree char *quoted = qm_cli_quote (words[i]);
      guint64 value;
      gint64 id;

      if (!g_ascii_string_to_unsigned (words[i], 10, 1, G_MAXINT64, &value,
                                       NULL))
        {
          g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       _ ("%s is not the number of a quote; “quartermaster "
                          "quotes list” shows them"),
                       quoted);
          return NULL;
        }
      id = (gint64) value;
      if (!has_id (ids, id))
        g_array_append_val (ids, id);
    }
  if (ids->len >= min && ids->len <= max)
    return g_steal_pointer (&ids);
  if (max == 1)
    g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                         _ ("the number of one quote is needed; "
                            "“quartermaster quotes list” shows them"));
  else if (max == G_MAXUINT)
    g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                         _ ("the numbers of quotes are needed; "
                            "“quartermaster quotes list” shows them"));
  else
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                 _ ("the numbers of %u to %u quotes are needed; "
                    "“quartermaster quotes list” shows them"),
                 min, max);
  return NULL;
}

gboolean
qm_cli_option_text (const char *name, GStrv values, char **text, GError **error)
{
  const char *value;
  g_autofree char *quoted = NULL;

  *text = NULL;
  if (!qm_cli_option_single (name, values, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  *text = g_locale_to_utf8 (value, -1, NULL, NULL, NULL);
  if (*text != NULL && g_utf8_validate (*text, -1, NULL))
    return TRUE;
  g_clear_pointer (text, g_free);
  quoted = qm_cli_quote (value);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               /* Translators: name of an option, its value in quotes. */
               _ ("--%s: %s is no text"), name, quoted);
  return FALSE;
}

gboolean
qm_cli_option_date (const char *name,
                    GStrv values,
                    QmDate *date,
                    GError **error)
{
  const char *value;
  g_autofree char *quoted = NULL;
  QmDate read;

  if (!qm_cli_option_single (name, values, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  if (qm_date_parse (value, &read) && read.day != 0)
    {
      *date = read;
      return TRUE;
    }
  quoted = qm_cli_quote (value);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("--%s: %s is not a day; write it like 2026-12-31"), name,
               quoted);
  return FALSE;
}

gboolean
qm_cli_option_currency (const char *name,
                        GStrv values,
                        char currency[4],
                        GError **error)
{
  const char *value;
  g_autofree char *code = NULL;
  g_autofree char *quoted = NULL;

  if (!qm_cli_option_single (name, values, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  code = g_ascii_strup (value, -1);
  if (strlen (code) == 3 && qm_currency_valid (code))
    {
      memcpy (currency, code, 4);
      return TRUE;
    }
  quoted = qm_cli_quote (value);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("--%s: %s is not the code of a currency; write it like EUR"),
               name, quoted);
  return FALSE;
}

gboolean
qm_cli_is_address (const char *argument)
{
  const char *colon = strstr (argument, "://");

  if (colon == NULL || colon == argument)
    return FALSE;
  for (const char *p = argument; p < colon; p++)
    if (!g_ascii_isalnum (*p) && strchr ("+-.", *p) == NULL)
      return FALSE;
  return TRUE;
}

char *
qm_cli_check_address (const char *address, GError **error)
{
  g_autoptr (GError) trouble = NULL;
  g_autofree char *quoted = NULL;
  char *checked = qm_fetch_check_address (address, &trouble);

  if (checked != NULL)
    return checked;
  quoted = qm_cli_quote (address);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "%s: %s", quoted,
               trouble->message);
  return NULL;
}

void
qm_cli_quote_missing (GError *trouble, char *missing, GError **error)
{
  g_autofree char *message = missing;

  if (g_error_matches (trouble, QM_QUOTE_STORE_ERROR,
                       QM_QUOTE_STORE_ERROR_NOT_FOUND))
    g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, message);
  else
    g_propagate_error (error, g_error_copy (trouble));
}

GPtrArray *
qm_cli_quotes_get (QmQuoteStore *store, const GArray *ids, GError **error)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);

  for (guint i = 0; i < ids->len; i++)
    {
      gint64 id = g_array_index (ids, gint64, i);
      g_autoptr (GError) trouble = NULL;
      QmQuote *quote = qm_quote_store_get (store, id, &trouble);

      if (quote == NULL)
        {
          qm_cli_quote_missing (
              trouble,
              g_strdup_printf (_ ("there is no quote %lld; “quartermaster "
                                  "quotes list” shows all"),
                               (long long) id),
              error);
          return NULL;
        }
      g_ptr_array_add (quotes, quote);
    }
  return g_steal_pointer (&quotes);
}

gboolean
qm_cli_quote_holds (const QmQuote *quote, QmDate day)
{
  return qm_quote_dates_hold (quote->issued_on, quote->valid_from,
                              quote->valid_until, day);
}

gint64
qm_cli_quote_total (const QmQuote *quote)
{
  QmQuoteTotals totals;

  if (quote->payable_minor != QM_AMOUNT_UNSTATED)
    return quote->payable_minor;
  qm_quote_totals_compute (quote, &totals);
  return totals.payable_minor;
}

gboolean
qm_cli_quote_convert (const QmQuote *quote,
                      gint64 minor,
                      QmRates *rates,
                      const char *currency,
                      gint64 *converted,
                      QmCrossRate *rate,
                      GError **error)
{
  QmMoney amount = { .minor = minor };
  QmMoney result;

  *converted = QM_AMOUNT_UNSTATED;
  if (!qm_currency_valid (quote->currency))
    {
      g_set_error_literal (error, QM_RATES_ERROR, QM_RATES_ERROR_UNKNOWN,
                           _ ("the quote does not tell its currency"));
      return FALSE;
    }
  if (!qm_rates_find (rates, quote->currency, currency, qm_quote_day (quote),
                      QM_RATES_STALE_DAYS, rate, error))
    return FALSE;
  if (minor == QM_AMOUNT_UNSTATED)
    return TRUE;
  memcpy (amount.currency, quote->currency, sizeof amount.currency);
  if (!qm_cross_rate_convert (rate, amount, &result, error))
    return FALSE;
  *converted = result.minor;
  return TRUE;
}

char *
qm_cli_quote_minor_text (gint64 minor, const char *currency)
{
  if (minor == QM_AMOUNT_UNSTATED)
    return NULL;
  return qm_minor_for_people (minor, currency);
}

char *
qm_cli_quote_micros_text (gint64 micros, const char *currency)
{
  return micros != QM_AMOUNT_UNSTATED ? qm_micros_for_people (micros, currency)
                                      : NULL;
}

char *
qm_cli_quote_quantity_text (gint64 micros)
{
  return micros != QM_AMOUNT_UNSTATED ? qm_micros_to_text (micros, 0) : NULL;
}

char *
qm_cli_line_price_text (const QmQuote *quote, const QmQuoteLine *line)
{
  g_autofree char *price =
      qm_cli_quote_micros_text (line->price_micros, quote->currency);
  g_autofree char *base = NULL;

  if (price == NULL || line->base_quantity_micros == QM_MICROS_PER_UNIT)
    return g_steal_pointer (&price);
  base = qm_cli_quote_quantity_text (line->base_quantity_micros);
  /* Translators: a price, a number of pieces. */
  return g_strdup_printf (_ ("%s for %s"), price, base);
}

char *
qm_cli_one_line (const char *text)
{
  return text != NULL ? g_strdelimit (g_strdup (text), "\n", ' ') : NULL;
}

const char *
qm_cli_line_role_text (QmLineRole role)
{
  switch (role)
    {
    case QM_LINE_PART:
      return C_ ("line", "part");
    case QM_LINE_SUBSTITUTE:
      return C_ ("line", "substitute");
    case QM_LINE_ALTERNATIVE:
      return C_ ("line", "alternative");
    case QM_LINE_OPTION:
      return C_ ("line", "option");
    case QM_LINE_QUOTED:
    case QM_N_LINE_ROLES:
    default:
      return C_ ("line", "quoted");
    }
}

char *
qm_cli_rate_text (const QmCrossRate *rate)
{
  g_autofree char *number = qm_cross_rate_text (rate);
  g_autofree char *date = qm_cli_date_text (rate->date);

  if (rate->stale)
    /* Translators: currency, number, currency, date, number of days. */
    return g_strdup_printf (_ ("1 %s = %s %s, the rate of %s, which is %d days "
                               "older: renew the rates"),
                            rate->from, number, rate->to, date, rate->age_days);
  /* Translators: currency, number, currency, date. */
  return g_strdup_printf (_ ("1 %s = %s %s, the rate of %s"), rate->from,
                          number, rate->to, date);
}
