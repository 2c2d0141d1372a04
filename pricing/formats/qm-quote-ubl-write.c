/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-ubl-private.h"
#include "pricing/formats/qm-quote-ubl.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"

#include <glib/gi18n-lib.h>

typedef struct
{
  const QmQuote *quote;
  GString *xml;
  guint depth;
} Writer;

static void
indent (Writer *writer)
{
  for (guint i = 0; i < writer->depth; i++)
    g_string_append (writer->xml, "  ");
}

static void
open_element (Writer *writer, const char *name)
{
  indent (writer);
  g_string_append_printf (writer->xml, "<cac:%s>\n", name);
  writer->depth++;
}

static void
close_element (Writer *writer, const char *name)
{
  writer->depth--;
  indent (writer);
  g_string_append_printf (writer->xml, "</cac:%s>\n", name);
}

/* An element with text, and an attribute if its value is not NULL; nothing
 * where there is no text. */
static void
write_text (Writer *writer,
            const char *name,
            const char *attribute,
            const char *value,
            const char *text)
{
  g_autofree char *clean = qm_read_text (text);
  g_autofree char *clean_value = qm_read_text (value);

  if (clean == NULL)
    return;
  indent (writer);
  if (attribute != NULL && clean_value != NULL)
    {
      g_autofree char *element =
          g_markup_printf_escaped ("<cbc:%s %s=\"%s\">%s</cbc:%s>\n", name,
                                   attribute, clean_value, clean, name);

      g_string_append (writer->xml, element);
    }
  else
    {
      g_autofree char *element =
          g_markup_printf_escaped ("<cbc:%s>%s</cbc:%s>\n", name, clean, name);

      g_string_append (writer->xml, element);
    }
}

static void
write_amount (Writer *writer, const char *name, gint64 minor)
{
  g_autofree char *text = NULL;

  if (minor == QM_AMOUNT_UNSTATED)
    return;
  text = qm_minor_to_text (minor, writer->quote->currency);
  write_text (writer, name, "currencyID", writer->quote->currency, text);
}

static void
write_date (Writer *writer, const char *name, QmDate date)
{
  g_autofree char *text = qm_read_date_text (date);

  write_text (writer, name, NULL, NULL, text);
}

static void
write_allowance (Writer *writer, gboolean is_charge, gint64 minor)
{
  if (minor == QM_AMOUNT_UNSTATED || minor <= 0)
    return;
  open_element (writer, "AllowanceCharge");
  write_text (writer, "ChargeIndicator", NULL, NULL,
              is_charge ? "true" : "false");
  write_amount (writer, "Amount", minor);
  close_element (writer, "AllowanceCharge");
}

static void
write_quantity (Writer *writer,
                const char *name,
                const char *unit,
                gint64 micros)
{
  g_autofree char *text = NULL;

  if (micros == QM_AMOUNT_UNSTATED)
    return;
  text = qm_micros_to_text (micros, 0);
  if (unit == NULL && writer->quote->unit == QM_PRICE_HOUR)
    unit = "HUR";
  write_text (writer, name, "unitCode", unit, text);
}

static void
write_price (Writer *writer, const QmQuoteLine *line)
{
  g_autofree char *text = NULL;

  if (line->price_micros == QM_AMOUNT_UNSTATED)
    return;
  text = qm_micros_to_text (line->price_micros, 2);
  open_element (writer, "Price");
  write_text (writer, "PriceAmount", "currencyID", writer->quote->currency,
              text);
  write_quantity (writer, "BaseQuantity", line->unit,
                  line->base_quantity_micros);
  close_element (writer, "Price");
}

static void
write_property (Writer *writer, const char *name, const char *value)
{
  if (value[0] == '\0')
    return;
  open_element (writer, "AdditionalItemProperty");
  write_text (writer, "Name", NULL, NULL, name);
  write_text (writer, "Value", NULL, NULL, value);
  close_element (writer, "AdditionalItemProperty");
}

/* The first line of the description is the name. */
static void
write_item (Writer *writer, const QmQuoteLine *line)
{
  g_auto (GStrv) words =
      g_strsplit (line->description != NULL ? line->description : "", "\n", 2);

  open_element (writer, "Item");
  write_text (writer, "Description", NULL, NULL,
              words[0] != NULL ? words[1] : NULL);
  write_text (writer, "Name", NULL, NULL, words[0]);
  if (line->part_number != NULL)
    {
      open_element (writer, "SellersItemIdentification");
      write_text (writer, "ID", NULL, NULL, line->part_number);
      close_element (writer, "SellersItemIdentification");
    }
  if (line->role == QM_LINE_OPTION)
    write_property (writer, QM_UBL_ROLE, qm_line_role_name (line->role));
  write_property (writer, QM_UBL_SELLS, qm_line_thing_name (line->thing));
  close_element (writer, "Item");
}

/* Writes what a line item begins with, and returns its number. */
static void
write_line (Writer *writer, const QmQuoteLine *line, guint row)
{
  g_autofree char *counted = g_strdup_printf ("%u", row);

  write_text (writer, "ID", NULL, NULL,
              line->number != NULL ? line->number : counted);
  write_quantity (writer, "Quantity", line->unit, line->quantity_micros);
  write_amount (writer, "LineExtensionAmount", line->total_minor);
  write_allowance (writer, FALSE, line->discount_minor);
  write_allowance (writer, TRUE, line->charge_minor);
  write_price (writer, line);
  write_item (writer, line);
}

/* The parts of the line at `of`, which stand behind it. */
static void
write_parts (Writer *writer, guint of, guint end)
{
  for (guint i = of + 1;
       i < end && qm_quote_line_at (writer->quote, i)->role == QM_LINE_PART;
       i++)
    {
      open_element (writer, "SubLineItem");
      write_line (writer, qm_quote_line_at (writer->quote, i), i + 1);
      close_element (writer, "SubLineItem");
    }
}

/* The lines of some role among those that belong to the quoted line at
 * `first`. */
static void
write_companions (
    Writer *writer, guint first, guint end, QmLineRole role, const char *name)
{
  for (guint i = first + 1; i < end; i++)
    if (qm_quote_line_at (writer->quote, i)->role == role)
      {
        open_element (writer, name);
        write_line (writer, qm_quote_line_at (writer->quote, i), i + 1);
        write_parts (writer, i, end);
        close_element (writer, name);
      }
}

static void
write_quotation_line (Writer *writer, guint first, guint end)
{
  const QmQuoteLine *line = qm_quote_line_at (writer->quote, first);
  g_autofree char *counted = g_strdup_printf ("%u", first + 1);

  open_element (writer, "QuotationLine");
  write_text (writer, "ID", NULL, NULL,
              line->number != NULL ? line->number : counted);
  open_element (writer, "LineItem");
  write_line (writer, line, first + 1);
  write_parts (writer, first, end);
  close_element (writer, "LineItem");
  write_companions (writer, first, end, QM_LINE_SUBSTITUTE,
                    "SellerProposedSubstituteLineItem");
  write_companions (writer, first, end, QM_LINE_ALTERNATIVE,
                    "AlternativeLineItem");
  /* No element is for what comes in addition; its role says so. */
  write_companions (writer, first, end, QM_LINE_OPTION, "AlternativeLineItem");
  close_element (writer, "QuotationLine");
}

static void
write_lines (Writer *writer)
{
  const GPtrArray *lines = writer->quote->lines;

  for (guint i = 0, end; i < lines->len; i = end)
    {
      for (end = i + 1;
           end < lines->len
           && qm_quote_line_at (writer->quote, end)->role != QM_LINE_QUOTED;
           end++)
        ;
      write_quotation_line (writer, i, end);
    }
}

static void
write_validity (Writer *writer)
{
  const QmQuote *quote = writer->quote;

  if (quote->valid_from.day == 0 && quote->valid_until.day == 0)
    return;
  open_element (writer, "ValidityPeriod");
  write_date (writer, "StartDate", quote->valid_from);
  write_date (writer, "EndDate", quote->valid_until);
  close_element (writer, "ValidityPeriod");
}

static void
write_reference (Writer *writer, const char *type, const char *id)
{
  if (id == NULL)
    return;
  open_element (writer, "AdditionalDocumentReference");
  write_text (writer, "ID", NULL, NULL, id);
  write_text (writer, "DocumentType", NULL, NULL, type);
  close_element (writer, "AdditionalDocumentReference");
}

static void
write_seller (Writer *writer)
{
  open_element (writer, "SellerSupplierParty");
  if (writer->quote->vendor != NULL)
    {
      open_element (writer, "Party");
      open_element (writer, "PartyName");
      write_text (writer, "Name", NULL, NULL, writer->quote->vendor);
      close_element (writer, "PartyName");
      close_element (writer, "Party");
    }
  close_element (writer, "SellerSupplierParty");
}

static void
write_totals (Writer *writer, gint64 payable)
{
  const QmQuote *quote = writer->quote;

  write_allowance (writer, FALSE, quote->discount_minor);
  write_allowance (writer, TRUE, quote->charge_minor);
  if (quote->tax_minor != QM_AMOUNT_UNSTATED)
    {
      open_element (writer, "TaxTotal");
      write_amount (writer, "TaxAmount", quote->tax_minor);
      close_element (writer, "TaxTotal");
    }
  open_element (writer, "QuotedMonetaryTotal");
  write_amount (writer, "LineExtensionAmount", quote->net_minor);
  write_amount (writer, "AllowanceTotalAmount", quote->discount_minor);
  write_amount (writer, "ChargeTotalAmount", quote->charge_minor);
  write_amount (writer, "PayableAmount", payable);
  close_element (writer, "QuotedMonetaryTotal");
}

static void
write_document (Writer *writer, QmDate issued_on, gint64 payable)
{
  const QmQuote *quote = writer->quote;

  g_string_append (writer->xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                "<Quotation xmlns=\"" QM_UBL_QUOTATION "\"\n"
                                "           xmlns:cac=\"" QM_UBL_CAC "\"\n"
                                "           xmlns:cbc=\"" QM_UBL_CBC "\">\n");
  writer->depth = 1;
  write_text (writer, "UBLVersionID", NULL, NULL, "2.1");
  write_text (writer, "ID", NULL, NULL, quote->number);
  write_date (writer, "IssueDate", issued_on);
  write_text (writer, "Note", NULL, NULL, quote->note);
  write_text (writer, "PricingCurrencyCode", NULL, NULL, quote->currency);
  write_validity (writer);
  write_reference (writer, QM_UBL_ALTERNATIVE, quote->alternative);
  write_reference (writer, QM_UBL_SUPERSEDES, quote->supersedes);
  write_seller (writer);
  write_totals (writer, payable);
  write_lines (writer);
  g_string_append (writer->xml, "</Quotation>\n");
}

static QmDate
date_of_issue (const QmQuote *quote)
{
  g_autoptr (GDateTime) read = NULL;

  if (quote->issued_on.day != 0 || quote->read_at <= 0)
    return quote->issued_on;
  read = g_date_time_new_from_unix_utc (quote->read_at);
  if (read == NULL)
    return quote->issued_on;
  return (QmDate){ g_date_time_get_year (read), g_date_time_get_month (read),
                   g_date_time_get_day_of_month (read) };
}

/* Why the format cannot hold a quote; NULL: it can. */
static const char *
find_obstacle (const QmQuote *quote, QmDate issued_on, gint64 payable)
{
  if (quote->lines->len == 0
      || qm_quote_line_at (quote, 0)->role != QM_LINE_QUOTED)
    return _ ("A UBL quotation needs a line.");
  if (!qm_currency_valid (quote->currency))
    return _ ("A UBL quotation needs a currency.");
  if (quote->tax_included == QM_YES)
    return _ ("The prices contain tax, but those of a UBL quotation are "
              "without.");
  if (issued_on.day == 0)
    return _ ("A UBL quotation needs the day on which it was issued.");
  if (payable == QM_AMOUNT_UNSTATED)
    return _ ("A UBL quotation needs the amount to be paid, and this one "
              "cannot be computed.");
  return NULL;
}

GBytes *
qm_quote_ubl_write (const QmQuote *quote, GError **error)
{
  Writer writer = { .quote = quote };
  QmQuoteTotals totals;
  const char *obstacle;
  QmDate issued_on;
  gint64 payable;

  g_return_val_if_fail (quote != NULL, NULL);

  issued_on = date_of_issue (quote);
  qm_quote_totals_compute (quote, &totals);
  payable = quote->payable_minor != QM_AMOUNT_UNSTATED ? quote->payable_minor
                                                       : totals.payable_minor;
  obstacle = find_obstacle (quote, issued_on, payable);
  if (obstacle != NULL)
    {
      g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_UNSUITED,
                           obstacle);
      return NULL;
    }
  writer.xml = g_string_new (NULL);
  write_document (&writer, issued_on, payable);
  return g_string_free_to_bytes (writer.xml);
}
