/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-fields.h"

#include "pricing/formats/qm-quote-csv.h"
#include "pricing/qm-amount.h"
#include "pricing/quotes/qm-quote-read.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define QUOTE(member) G_STRUCT_OFFSET (QmQuote, member)
#define LINE(member)  G_STRUCT_OFFSET (QmQuoteLine, member)

const QmField qm_quote_fields[] = {
  { N_ ("Vendor"), QM_FIELD_TEXT, QUOTE (vendor) },
  { N_ ("Number"), QM_FIELD_TEXT, QUOTE (number) },
  { N_ ("Currency, like EUR"), QM_FIELD_CURRENCY, QUOTE (currency) },
  { N_ ("Issued on, like 2026-11-30"), QM_FIELD_DATE, QUOTE (issued_on) },
  { N_ ("Valid from"), QM_FIELD_DATE, QUOTE (valid_from) },
  { N_ ("Valid until"), QM_FIELD_DATE, QUOTE (valid_until) },
  { N_ ("Note"), QM_FIELD_TEXT, QUOTE (note) },
  { N_ ("Alternative, like Option A"), QM_FIELD_TEXT, QUOTE (alternative) },
  { N_ ("Number of the quote that it replaces"), QM_FIELD_TEXT,
    QUOTE (supersedes) },
  { N_ ("Discount on everything"), QM_FIELD_AMOUNT, QUOTE (discount_minor) },
  { N_ ("Shipping and charges"), QM_FIELD_AMOUNT, QUOTE (charge_minor) },
  { N_ ("Net"), QM_FIELD_AMOUNT, QUOTE (net_minor) },
  { N_ ("Tax"), QM_FIELD_AMOUNT, QUOTE (tax_minor) },
  { N_ ("To be paid"), QM_FIELD_AMOUNT, QUOTE (payable_minor) },
};
const guint qm_n_quote_fields = G_N_ELEMENTS (qm_quote_fields);

const QmField qm_line_fields[] = {
  { N_ ("Description"), QM_FIELD_TEXT, LINE (description) },
  { N_ ("Part number"), QM_FIELD_TEXT, LINE (part_number) },
  { N_ ("Quantity"), QM_FIELD_MICROS, LINE (quantity_micros) },
  { N_ ("Unit"), QM_FIELD_TEXT, LINE (unit) },
  { N_ ("Price of one"), QM_FIELD_MICROS, LINE (price_micros) },
  { N_ ("Discount"), QM_FIELD_ADJUSTMENT, LINE (discount_minor) },
  { N_ ("Charge"), QM_FIELD_ADJUSTMENT, LINE (charge_minor) },
  { N_ ("Total, as the vendor wrote it"), QM_FIELD_AMOUNT, LINE (total_minor) },
  { N_ ("GPUs in one"), QM_FIELD_COUNT, LINE (gpus) },
};
const guint qm_n_line_fields = G_N_ELEMENTS (qm_line_fields);

char *
qm_field_text (const QmField *field, gconstpointer object, const char *currency)
{
  gconstpointer member = G_STRUCT_MEMBER_P (object, field->offset);
  gint64 amount;

  switch (field->kind)
    {
    case QM_FIELD_CURRENCY:
      return g_strdup (member);
    case QM_FIELD_DATE:
      return qm_quote_date_entry_text (*(const QmDate *) member);
    case QM_FIELD_AMOUNT:
    case QM_FIELD_ADJUSTMENT:
      amount = *(const gint64 *) member;
      if (amount == QM_AMOUNT_UNSTATED
          || (amount == 0 && field->kind == QM_FIELD_ADJUSTMENT))
        return g_strdup ("");
      return qm_minor_to_text (amount, currency);
    case QM_FIELD_MICROS:
      amount = *(const gint64 *) member;
      return amount != QM_AMOUNT_UNSTATED ? qm_micros_to_text (amount, 0)
                                          : g_strdup ("");
    case QM_FIELD_COUNT:
      return *(const int *) member != 0
                 ? g_strdup_printf ("%d", *(const int *) member)
                 : g_strdup ("");
    case QM_FIELD_TEXT:
    default:
      return g_strdup (*(char *const *) member != NULL ? *(char *const *) member
                                                       : "");
    }
}

/* An amount in the quote's currency or without one. */
static gboolean
parse_micros (const char *text, const char *currency, gint64 *micros)
{
  char named[4] = "";

  return qm_amount_parse (text, QM_DECIMAL_GUESS, micros, named)
         && (named[0] == '\0' || strcmp (named, currency) == 0);
}

static gboolean
set_number (const QmField *field,
            gpointer member,
            const char *text,
            const char *currency)
{
  gboolean minor = field->kind != QM_FIELD_MICROS;
  gint64 micros;

  if (*text == '\0')
    {
      *(gint64 *) member =
          field->kind == QM_FIELD_ADJUSTMENT ? 0 : QM_AMOUNT_UNSTATED;
      return TRUE;
    }
  if (!parse_micros (text, currency, &micros)
      || (field->kind == QM_FIELD_ADJUSTMENT && micros < 0))
    return FALSE;
  *(gint64 *) member =
      minor ? qm_money_from_micros (micros, currency).minor : micros;
  return TRUE;
}

static gboolean
set_currency (char *member, const char *text)
{
  g_autofree char *code = g_ascii_strup (text, -1);

  if (*code != '\0' && !qm_currency_valid (code))
    return FALSE;
  memset (member, 0, 4);
  g_strlcpy (member, code, 4);
  return TRUE;
}

static gboolean
set_date (QmDate *member, const char *text)
{
  QmDate date = { 0 };

  if (*text != '\0' && !qm_date_parse (text, &date)
      && !qm_csv_date_parse (text, QM_DATES_GUESS, &date))
    return FALSE;
  *member = date;
  return TRUE;
}

static gboolean
set_count (int *member, const char *text)
{
  guint64 count = 0;

  if (*text != '\0'
      && !g_ascii_string_to_unsigned (text, 10, 0, 100000, &count, NULL))
    return FALSE;
  *member = (int) count;
  return TRUE;
}

gboolean
qm_field_set (const QmField *field,
              gpointer object,
              const char *text,
              const char *currency)
{
  gpointer member = G_STRUCT_MEMBER_P (object, field->offset);
  g_autofree char *before = qm_field_text (field, object, currency);
  g_autofree char *read = qm_read_text (text);
  const char *typed = read != NULL ? read : "";

  if (strcmp (before, typed) == 0)
    return TRUE;
  switch (field->kind)
    {
    case QM_FIELD_CURRENCY:
      return set_currency (member, typed);
    case QM_FIELD_DATE:
      return set_date (member, typed);
    case QM_FIELD_COUNT:
      return set_count (member, typed);
    case QM_FIELD_AMOUNT:
    case QM_FIELD_ADJUSTMENT:
    case QM_FIELD_MICROS:
      return set_number (field, member, typed, currency);
    case QM_FIELD_TEXT:
    default:
      g_free (*(char **) member);
      *(char **) member = g_steal_pointer (&read);
      return TRUE;
    }
}
