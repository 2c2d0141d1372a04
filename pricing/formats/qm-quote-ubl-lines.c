/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-ubl-private.h"
#include "pricing/formats/qm-quote-ubl.h"
#include "pricing/formats/qm-xml.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_LINES 20000

/* The seller's number, else the maker's, else that of a standard. */
static char *
read_part_number (const xmlNode *item)
{
  static const char *const identifications[] = {
    "SellersItemIdentification",
    "ManufacturersItemIdentification",
    "StandardItemIdentification",
    "CatalogueItemIdentification",
  };

  for (guint i = 0; i < G_N_ELEMENTS (identifications); i++)
    {
      char *id = qm_ubl_text (qm_ubl_cac (item, identifications[i]), "ID");

      if (id != NULL)
        return id;
    }
  return NULL;
}

/* Adds a text as a line of its own, unless it stands there already. */
static void
append_words (GString *words, char *text)
{
  if (text != NULL && strstr (words->str, text) == NULL)
    g_string_append_printf (words, "%s%s", words->len > 0 ? "\n" : "", text);
  g_free (text);
}

static void
append_all (GString *words, const xmlNode *item, const char *name)
{
  for (xmlNode *node = qm_ubl_cbc (item, name); node != NULL;
       node = qm_xml_next (node, QM_UBL_CBC, name))
    {
      g_autofree char *text = qm_xml_text (node);

      if (words->len < QM_READ_MAX_TEXT)
        append_words (words, qm_read_text (text));
    }
}

static char *
read_description (const xmlNode *item, const char *part_number)
{
  g_autoptr (GString) words = g_string_new (NULL);
  g_autofree char *makers =
      qm_ubl_text (qm_ubl_cac (item, "ManufacturersItemIdentification"), "ID");

  append_all (words, item, "Name");
  append_all (words, item, "Description");
  append_all (words, item, "BrandName");
  append_all (words, item, "ModelName");
  if (g_strcmp0 (makers, part_number) != 0)
    append_words (words, g_steal_pointer (&makers));
  return qm_read_text (words->str);
}

/* The quantity stands in the line item, in the quotation line or in both. */
static gint64
read_quantity (QmUblReader *reader,
               const xmlNode *outer,
               const xmlNode *item,
               const char *place,
               QmQuoteLine *line)
{
  const xmlNode *node = qm_ubl_cbc (item, "Quantity");
  gint64 quantity = qm_ubl_decimal (reader, node, place, 6);
  gint64 outer_quantity =
      qm_ubl_decimal (reader, qm_ubl_cbc (outer, "Quantity"), place, 6);
  g_autofree char *unit = NULL;

  if (quantity == QM_AMOUNT_UNSTATED)
    {
      quantity = outer_quantity;
      node = qm_ubl_cbc (outer, "Quantity");
    }
  else if (outer_quantity != QM_AMOUNT_UNSTATED && outer_quantity != quantity)
    qm_quote_add_finding (reader->quote, QM_FINDING_WARNING, place,
                          _ ("The line has two different quantities; the one "
                             "of its item was taken."));
  unit = qm_xml_attribute (node, "unitCode");
  line->unit = qm_read_text (unit);
  return quantity;
}

static gint64
read_total (QmUblReader *reader,
            const xmlNode *outer,
            const xmlNode *item,
            const char *place)
{
  gint64 total = qm_ubl_amount (reader, item, "LineExtensionAmount", place);
  gint64 outer_total =
      qm_ubl_amount (reader, outer, "LineExtensionAmount", place);

  if (total == QM_AMOUNT_UNSTATED)
    return outer_total;
  if (outer_total != QM_AMOUNT_UNSTATED && outer_total != total)
    qm_quote_add_finding (reader->quote, QM_FINDING_WARNING, place,
                          _ ("The line has two different totals; the one of "
                             "its item was taken."));
  return total;
}

static void
add_tax (QmUblReader *reader,
         const xmlNode *outer,
         const xmlNode *item,
         const char *place)
{
  gint64 tax = qm_ubl_amount (reader, item, "TotalTaxAmount", place);

  if (tax == QM_AMOUNT_UNSTATED)
    tax = qm_ubl_amount (reader, outer, "TotalTaxAmount", place);
  if (tax == QM_AMOUNT_UNSTATED)
    return;
  if (reader->line_tax == QM_AMOUNT_UNSTATED)
    reader->line_tax = tax;
  else if (__builtin_add_overflow (reader->line_tax, tax, &reader->line_tax))
    reader->line_tax = QM_AMOUNT_UNSTATED;
}

static void
read_price (QmUblReader *reader,
            const xmlNode *item,
            const char *place,
            QmQuoteLine *line)
{
  const xmlNode *price = qm_ubl_cac (item, "Price");
  gint64 base =
      qm_ubl_decimal (reader, qm_ubl_cbc (price, "BaseQuantity"), place, 6);
  g_autofree char *base_unit =
      qm_xml_attribute (qm_ubl_cbc (price, "BaseQuantity"), "unitCode");

  line->price_micros = qm_ubl_price (reader, price, "PriceAmount", place);
  if (base > 0)
    line->base_quantity_micros = base;
  else if (base != QM_AMOUNT_UNSTATED)
    qm_quote_add_finding (reader->quote, QM_FINDING_WARNING, place,
                          _ ("The price is for a quantity that is not above "
                             "zero; it was taken as one unit."));
  if (base_unit != NULL && line->unit != NULL
      && strcmp (base_unit, line->unit) != 0)
    {
      g_autofree char *shown = qm_read_excerpt (base_unit);

      qm_read_find (reader->quote, QM_FINDING_WARNING, place,
                    _ ("The quantity is in %s, but the price for %s."),
                    line->unit, shown);
    }
}

/* What the program itself wrote of a line that the format has no element for.
 */
static void
read_properties (const xmlNode *item, QmQuoteLine *line)
{
  for (xmlNode *node = qm_ubl_cac (item, "AdditionalItemProperty");
       node != NULL;
       node = qm_xml_next (node, QM_UBL_CAC, "AdditionalItemProperty"))
    {
      g_autofree char *name = qm_ubl_text (node, "Name");
      g_autofree char *value = qm_ubl_text (node, "Value");

      if (g_strcmp0 (name, QM_UBL_ROLE) == 0
          && g_strcmp0 (value, qm_line_role_name (QM_LINE_OPTION)) == 0
          && line->role == QM_LINE_ALTERNATIVE)
        line->role = QM_LINE_OPTION;
      for (int i = 0; g_strcmp0 (name, QM_UBL_SELLS) == 0 && i < QM_N_THINGS;
           i++)
        if (g_strcmp0 (value, qm_line_thing_name ((QmLineThing) i)) == 0)
          line->thing = (QmLineThing) i;
    }
}

/* Reads a line item.  `outer` is the quotation line, if the item is that of
 * one. */
static void
read_item (QmUblReader *reader,
           const xmlNode *outer,
           const xmlNode *node,
           QmLineRole role)
{
  QmQuoteLine *line;
  const xmlNode *item = qm_ubl_cac (node, "Item");
  g_autofree char *id = qm_ubl_text (node, "ID");
  g_autofree char *place = NULL;
  gint64 discount = QM_AMOUNT_UNSTATED, charge = QM_AMOUNT_UNSTATED;

  if (reader->quote->lines->len >= MAX_LINES)
    {
      qm_ubl_fail (reader, g_error_new (QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                                        _ ("The quotation has more than %d "
                                           "lines."),
                                        MAX_LINES));
      return;
    }
  line = qm_quote_add_line (reader->quote, role);
  line->number = qm_ubl_text (outer, "ID");
  line->part_number = read_part_number (item);
  if (line->number == NULL)
    line->number = g_steal_pointer (&id);
  else if (line->part_number == NULL && g_strcmp0 (id, line->number) != 0)
    line->part_number = g_steal_pointer (&id);
  place = line->number != NULL
              ? g_strdup_printf (_ ("line %s"), line->number)
              : g_strdup_printf (_ ("line %u"), reader->quote->lines->len);
  line->description = read_description (item, line->part_number);
  read_properties (item, line);
  line->quantity_micros = read_quantity (reader, outer, node, place, line);
  line->total_minor = read_total (reader, outer, node, place);
  read_price (reader, node, place, line);
  qm_ubl_allowances (reader, node, place, &discount, &charge);
  line->discount_minor = discount != QM_AMOUNT_UNSTATED ? discount : 0;
  line->charge_minor = charge != QM_AMOUNT_UNSTATED ? charge : 0;
  if (role == QM_LINE_QUOTED)
    add_tax (reader, outer, node, place);
}

static void
read_parts (QmUblReader *reader, const xmlNode *node)
{
  for (xmlNode *part = qm_ubl_cac (node, "SubLineItem");
       part != NULL && reader->error == NULL;
       part = qm_xml_next (part, QM_UBL_CAC, "SubLineItem"))
    {
      read_item (reader, NULL, part, QM_LINE_PART);
      read_parts (reader, part);
    }
}

static void
read_others (QmUblReader *reader,
             const xmlNode *outer,
             const char *name,
             QmLineRole role)
{
  for (xmlNode *node = qm_ubl_cac (outer, name);
       node != NULL && reader->error == NULL;
       node = qm_xml_next (node, QM_UBL_CAC, name))
    {
      read_item (reader, NULL, node, role);
      read_parts (reader, node);
    }
}

/* A quote of hours is one to rent, or for work. */
static void
find_hours (QmQuote *quote)
{
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      if (line->role == QM_LINE_QUOTED && g_strcmp0 (line->unit, "HUR") != 0)
        return;
    }
  quote->unit = QM_PRICE_HOUR;
}

void
qm_ubl_read_lines (QmUblReader *reader, const xmlNode *root)
{
  for (xmlNode *outer = qm_ubl_cac (root, "QuotationLine");
       outer != NULL && reader->error == NULL;
       outer = qm_xml_next (outer, QM_UBL_CAC, "QuotationLine"))
    {
      const xmlNode *item = qm_ubl_cac (outer, "LineItem");

      if (item == NULL)
        {
          qm_quote_add_finding (reader->quote, QM_FINDING_WARNING, NULL,
                                _ ("A line without an item was left out."));
          continue;
        }
      read_item (reader, outer, item, QM_LINE_QUOTED);
      read_parts (reader, item);
      read_others (reader, outer, "SellerProposedSubstituteLineItem",
                   QM_LINE_SUBSTITUTE);
      read_others (reader, outer, "AlternativeLineItem", QM_LINE_ALTERNATIVE);
    }
  if (reader->quote->lines->len > 0)
    find_hours (reader->quote);
}
