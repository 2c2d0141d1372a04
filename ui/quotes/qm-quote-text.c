/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-text.h"

#include "pricing/qm-format.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>

QmValidity
qm_validity_on (QmDate from, QmDate until, QmDate today)
{
  if (until.year != 0 && qm_date_compare (until, today) < 0)
    return QM_VALIDITY_EXPIRED;
  if (from.year != 0 && qm_date_compare (from, today) > 0)
    return QM_VALIDITY_LATER;
  return until.year != 0 ? QM_VALIDITY_HOLDS : QM_VALIDITY_UNSTATED;
}

char *
qm_validity_text (QmDate from, QmDate until, QmDate today, gboolean brief)
{
  QmValidity validity = qm_validity_on (from, until, today);
  QmDate date = validity == QM_VALIDITY_LATER ? from : until;
  g_autofree char *day =
      brief ? qm_format_date_brief (date) : qm_format_date (date);

  switch (validity)
    {
    case QM_VALIDITY_HOLDS:
      return g_strdup_printf (_ ("until %s"), day);
    case QM_VALIDITY_LATER:
      return g_strdup_printf (_ ("begins on %s"), day);
    case QM_VALIDITY_EXPIRED:
      return g_strdup_printf (_ ("expired on %s"), day);
    case QM_VALIDITY_UNSTATED:
    default:
      return g_strdup (_ ("no end stated"));
    }
}

char *
qm_quote_amount_text (gint64 minor, const char *currency)
{
  if (minor == QM_AMOUNT_UNSTATED)
    return g_strdup ("—");
  return qm_minor_for_people (minor, currency);
}

char *
qm_quote_price_text (gint64 micros, const char *currency)
{
  return micros != QM_AMOUNT_UNSTATED ? qm_micros_for_people (micros, currency)
                                      : g_strdup ("—");
}

char *
qm_quote_date_entry_text (QmDate date)
{
  if (date.year == 0)
    return g_strdup ("");
  if (date.month == 0)
    return g_strdup_printf ("%04d", date.year);
  if (date.day == 0)
    return g_strdup_printf ("%04d-%02d", date.year, date.month);
  return g_strdup_printf ("%04d-%02d-%02d", date.year, date.month, date.day);
}

char *
qm_quote_item_text (const QmCatalog *catalog, const char *id)
{
  const QmGpu *gpu = qm_catalog_gpu (catalog, id);
  const QmMachine *machine =
      gpu == NULL ? qm_catalog_machine (catalog, id) : NULL;

  if (gpu != NULL)
    return g_strdup (gpu->name);
  return g_strdup (machine != NULL ? machine->name : id);
}

char *
qm_quote_items_text (const QmCatalog *catalog, const char *ids)
{
  g_auto (GStrv) parts = g_strsplit (ids != NULL ? ids : "", ";", -1);
  GString *text = g_string_new (NULL);

  for (guint i = 0; parts[i] != NULL && *parts[i] != '\0'; i++)
    {
      g_autofree char *name = qm_quote_item_text (catalog, parts[i]);

      if (text->len > 0)
        g_string_append (text, ", ");
      g_string_append (text, name);
    }
  return g_string_free (text, FALSE);
}

static void
append_adjustment (GString *text,
                   gint64 minor,
                   const char *sign,
                   const char *currency)
{
  g_autofree char *amount = NULL;

  if (minor == 0 || minor == QM_AMOUNT_UNSTATED)
    return;
  amount = qm_quote_amount_text (minor, currency);
  g_string_append_printf (text, " %s %s", sign, amount);
}

char *
qm_quote_line_sum_text (const QmQuote *quote, const QmQuoteLine *line)
{
  GString *text = g_string_new (NULL);

  if (line->quantity_micros != QM_AMOUNT_UNSTATED)
    {
      g_autofree char *quantity = qm_micros_to_text (line->quantity_micros, 0);

      g_string_append (text, quantity);
      if (line->unit != NULL)
        g_string_append_printf (text, " %s", line->unit);
    }
  if (line->price_micros != QM_AMOUNT_UNSTATED)
    {
      g_autofree char *price =
          qm_quote_price_text (line->price_micros, quote->currency);

      g_string_append_printf (text, text->len > 0 ? " × %s" : "%s", price);
      if (line->base_quantity_micros != QM_MICROS_PER_UNIT
          && line->base_quantity_micros != QM_AMOUNT_UNSTATED)
        {
          g_autofree char *base =
              qm_micros_to_text (line->base_quantity_micros, 0);

          g_string_append_printf (text, " / %s", base);
        }
    }
  append_adjustment (text, line->discount_minor, "−", quote->currency);
  append_adjustment (text, line->charge_minor, "+", quote->currency);
  if (line->part_number != NULL)
    {
      if (text->len > 0)
        g_string_append (text, " · ");
      /* Translators: a part number. */
      g_string_append_printf (text, _ ("part no. %s"), line->part_number);
    }
  return g_string_free (text, FALSE);
}

const char *
qm_quote_origin_text (QmQuoteOrigin origin)
{
  switch (origin)
    {
    case QM_QUOTE_FROM_UBL:
      return _ ("UBL document");
    case QM_QUOTE_FROM_CSV:
      return _ ("spreadsheet");
    case QM_QUOTE_FROM_PAGE:
      return _ ("web page");
    case QM_QUOTE_FROM_JSON:
      return _ ("JSON document");
    case QM_QUOTE_FROM_HAND:
    case QM_N_QUOTE_ORIGINS:
    default:
      return _ ("typed in");
    }
}

const char *
qm_quote_role_text (QmLineRole role)
{
  switch (role)
    {
    case QM_LINE_PART:
      return _ ("Part of the line above");
    case QM_LINE_SUBSTITUTE:
      return _ ("Substitute: does not count");
    case QM_LINE_ALTERNATIVE:
      return _ ("Alternative: does not count");
    case QM_LINE_OPTION:
      return _ ("Option: does not count");
    case QM_LINE_QUOTED:
    case QM_N_LINE_ROLES:
    default:
      return NULL;
    }
}
