/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-money.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "pricing/advice/qm-ownership.h"

#include <glib/gi18n-lib.h>
#include <string.h>

void
qm_cli_money_add_options (QmCliMoney *typed, GArray *options)
{
  qm_cli_options_add_value (options, "budget", 0, _ ("AMOUNT"),
                            _ ("Most that may be spent: 40000, 40k, 1.5M"),
                            &typed->budget);
  qm_cli_options_add_value (
      options, "currency", 0, _ ("CODE"),
      _ ("Of the budget and of all costs, as in EUR; USD if not given"),
      &typed->currency);
  qm_cli_options_add_value (options, "tax", 0, _ ("PERCENT"),
                            _ ("Tell costs with such a tax, too, as in 19"),
                            &typed->tax);
  qm_cli_options_add_flag (options, "gross",
                           _ ("Budget and costs contain the tax"),
                           &typed->gross);
  qm_cli_options_add_value (
      options, "machine-least", 0, _ ("AMOUNT"),
      _ ("What one machine must cost, so that a funder pays it"),
      &typed->machine_least);
  qm_cli_options_add_value (options, "machine-most", 0, _ ("AMOUNT"),
                            _ ("What one machine may cost"),
                            &typed->machine_most);
}

void
qm_cli_money_clear (QmCliMoney *typed)
{
  g_clear_pointer (&typed->budget, g_strfreev);
  g_clear_pointer (&typed->currency, g_strfreev);
  g_clear_pointer (&typed->tax, g_strfreev);
  g_clear_pointer (&typed->machine_least, g_strfreev);
  g_clear_pointer (&typed->machine_most, g_strfreev);
}

gboolean
qm_cli_money_is_particular (const QmCliMoney *typed)
{
  return typed->currency != NULL || typed->tax != NULL || typed->gross
         || typed->machine_least != NULL || typed->machine_most != NULL;
}

/* Reads an amount as it is written everywhere, whatever the locale: "40000",
 * "1499.99", "40k", "1.5M"; above zero, rounded down to minor units of the
 * currency.  Returns FALSE, leaving *minor as it was, on anything else. */
static gboolean
parse_amount (const char *text, const char *currency, gint64 *minor)
{
  gsize length = strlen (text);
  gint64 scale = 1;
  gint64 micros;
  gint64 micros_per_minor = QM_MICROS_PER_UNIT;
  g_autofree char *number = NULL;

  if (length == 0 || length > 32)
    return FALSE;
  if (strchr ("kKM", text[length - 1]) != NULL)
    scale = text[--length] == 'M' ? 1000000 : 1000;
  number = g_strndup (text, length);
  if (!g_ascii_isdigit (number[0]) || !qm_micros_parse (number, &micros)
      || __builtin_mul_overflow (micros, scale, &micros))
    return FALSE;
  for (int i = 0; i < qm_currency_decimals (currency); i++)
    micros_per_minor /= 10;
  /* Rounded down, so that nothing above the budget is within it. */
  if (micros / micros_per_minor < 1)
    return FALSE;
  *minor = micros / micros_per_minor;
  return TRUE;
}

/* An amount; where it is not given the question's stays, which is in the
 * currency that the purse had. */
static gboolean
read_amount (const char *name,
             GStrv typed,
             const char *before,
             const QmPurse *purse,
             gint64 *minor,
             GError **error)
{
  const char *value;

  if (!qm_cli_option_single (name, typed, &value, error))
    return FALSE;
  if (value == NULL && *minor >= 0 && strcmp (before, purse->currency) != 0)
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("--currency: the question has an amount in %s; give "
                      "--%s, too"),
                   before, name);
      return FALSE;
    }
  if (value == NULL || parse_amount (value, purse->currency, minor))
    return TRUE;
  return qm_cli_set_value_error (
      error, name, value,
      _ ("is not a usable amount of money; write a number "
         "above zero like 40000, 40k or 1.5M"));
}

static gboolean
read_currency (const QmCliMoney *typed,
               const QmQuestion *question,
               QmPurse *purse,
               GError **error)
{
  const char *value;
  g_autoptr (GError) problem = NULL;

  if (!qm_cli_option_single ("currency", typed->currency, &value, error))
    return FALSE;
  if (value == NULL)
    value = question->purse.currency;
  if (!qm_currency_valid (value))
    return qm_cli_set_value_error (
        error, "currency", value,
        _ ("is no code of a currency; write it like EUR"));
  if (strcmp (value, "USD") != 0 && question->rates == NULL)
    return qm_cli_set_value_error (error, "currency", value,
                                   _ ("has no exchange rate here"));
  if (qm_purse_set_currency (purse, value, question->rates, qm_date_today (),
                             &problem))
    return TRUE;
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "--currency: %s",
               problem->message);
  return FALSE;
}

gboolean
qm_cli_read_tax (const char *text, double *percent, gboolean *free)
{
  gint64 micros;

  if (g_ascii_isdigit (*text) && qm_micros_parse (text, &micros) && micros == 0)
    {
      *percent = 0;
      *free = TRUE;
      return TRUE;
    }
  if (!qm_cli_read_number (text, QM_PURSE_TAX_MAX, percent))
    return FALSE;
  *free = FALSE;
  return TRUE;
}

static gboolean
read_tax (const QmCliMoney *typed,
          const QmQuestion *question,
          QmPurse *purse,
          GError **error)
{
  const char *value;

  if (!qm_cli_option_single ("tax", typed->tax, &value, error))
    return FALSE;
  if (value != NULL
      && !qm_cli_read_tax (value, &purse->tax_percent, &purse->tax_free))
    return qm_cli_set_value_error (
        error, "tax", value,
        _ ("is not a number of percent from 0 to 100; write it like 19"));
  if (typed->gross)
    purse->gross = TRUE;
  if (purse->gross && purse->tax_percent == 0 && !purse->tax_free)
    {
      g_set_error_literal (
          error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
          _ ("--gross needs to know the tax, as in “--tax 19”"));
      return FALSE;
    }
  if (purse->tax_percent == 0 || question->ownership == NULL
      || (question->ownership->parts & QM_OWNERSHIP_TAX) == 0)
    return TRUE;
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       _ ("--tax: the total cost contains tax already; leave "
                          "it out of one of them, as in “--ownership "
                          "all,no-tax”"));
  return FALSE;
}

gboolean
qm_cli_money_read (const QmCliMoney *typed,
                   QmQuestion *question,
                   GError **error)
{
  QmPurse purse = question->purse;
  const char *before = question->purse.currency;

  if (!read_currency (typed, question, &purse, error)
      || !read_tax (typed, question, &purse, error)
      || !read_amount ("budget", typed->budget, before, &purse,
                       &purse.budget_minor, error)
      || !read_amount ("machine-least", typed->machine_least, before, &purse,
                       &purse.machine_least, error)
      || !read_amount ("machine-most", typed->machine_most, before, &purse,
                       &purse.machine_most, error))
    return FALSE;
  if (purse.machine_least >= 0 && purse.machine_most >= 0
      && purse.machine_least > purse.machine_most)
    {
      g_set_error_literal (
          error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
          _ ("--machine-least is more than --machine-most: nothing would be "
             "left"));
      return FALSE;
    }
  qm_question_take_purse (question, &purse);
  return TRUE;
}
