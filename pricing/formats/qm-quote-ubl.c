/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-ubl.h"

#include "pricing/formats/qm-csv-date.h"
#include "pricing/formats/qm-quote-ubl-private.h"
#include "pricing/formats/qm-xml.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (xmlDoc, xmlFreeDoc)

xmlNode *
qm_ubl_cac (const xmlNode *node, const char *name)
{
  return qm_xml_child (node, QM_UBL_CAC, name);
}

xmlNode *
qm_ubl_cbc (const xmlNode *node, const char *name)
{
  return qm_xml_child (node, QM_UBL_CBC, name);
}

char *
qm_ubl_text (const xmlNode *node, const char *name)
{
  g_autofree char *text = qm_xml_text (qm_ubl_cbc (node, name));

  return qm_read_text (text);
}

void
qm_ubl_fail (QmUblReader *reader, GError *error)
{
  if (reader->error == NULL)
    reader->error = error;
  else
    g_error_free (error);
}

static void
check_currency (QmUblReader *reader, const xmlNode *node, const char *currency)
{
  g_autofree char *shown = qm_read_excerpt (currency);

  if (!qm_currency_valid (currency))
    qm_ubl_fail (reader,
                 g_error_new (QM_READ_ERROR, QM_READ_ERROR_CURRENCY,
                              _ ("Line %ld: “%s” is not a currency code."),
                              xmlGetLineNo (node), shown));
  else if (reader->quote->currency[0] == '\0')
    memcpy (reader->quote->currency, currency, 4);
  else if (strcmp (reader->quote->currency, currency) != 0)
    qm_ubl_fail (
        reader,
        g_error_new (QM_READ_ERROR, QM_READ_ERROR_CURRENCY,
                     _ ("Line %ld: amounts are in %s and in %s; a quote with "
                        "several currencies is not read."),
                     xmlGetLineNo (node), reader->quote->currency, shown));
}

gint64
qm_ubl_decimal (QmUblReader *reader,
                const xmlNode *node,
                const char *place,
                int decimals)
{
  g_autofree char *text = qm_xml_text (node);
  g_autofree char *shown = qm_read_text (text);
  gint64 value = QM_AMOUNT_UNSTATED;

  if (node == NULL)
    return QM_AMOUNT_UNSTATED;
  switch (qm_read_decimal (text != NULL ? text : "", decimals, &value))
    {
    case QM_DECIMAL_ROUNDED:
      qm_read_find (reader->quote, QM_FINDING_WARNING, place,
                    _ ("%s “%s” has more decimals than are kept; it was "
                       "rounded."),
                    (const char *) node->name, shown);
      break;
    case QM_DECIMAL_BAD:
      qm_read_find (reader->quote, QM_FINDING_WARNING, place,
                    _ ("%s “%s” is not a number, or too large; it was left "
                       "out."),
                    (const char *) node->name, shown != NULL ? shown : "");
      break;
    case QM_DECIMAL_EXACT:
    default:
      break;
    }
  return value;
}

static void
read_amount_currency (QmUblReader *reader, const xmlNode *node)
{
  g_autofree char *currency = qm_xml_attribute (node, "currencyID");

  if (currency != NULL)
    check_currency (reader, node, currency);
}

gint64
qm_ubl_amount (QmUblReader *reader,
               const xmlNode *parent,
               const char *name,
               const char *place)
{
  const xmlNode *node = qm_ubl_cbc (parent, name);

  if (node == NULL)
    return QM_AMOUNT_UNSTATED;
  read_amount_currency (reader, node);
  return qm_ubl_decimal (reader, node, place,
                         qm_currency_decimals (reader->quote->currency));
}

gint64
qm_ubl_price (QmUblReader *reader,
              const xmlNode *parent,
              const char *name,
              const char *place)
{
  const xmlNode *node = qm_ubl_cbc (parent, name);

  if (node == NULL)
    return QM_AMOUNT_UNSTATED;
  read_amount_currency (reader, node);
  return qm_ubl_decimal (reader, node, place, 6);
}

/* Adds up the allowances and charges below a node.  FALSE: there are none. */
void
qm_ubl_allowances (QmUblReader *reader,
                   const xmlNode *parent,
                   const char *place,
                   gint64 *discount,
                   gint64 *charge)
{
  for (xmlNode *node = qm_ubl_cac (parent, "AllowanceCharge"); node != NULL;
       node = qm_xml_next (node, QM_UBL_CAC, "AllowanceCharge"))
    {
      g_autofree char *indicator = qm_ubl_text (node, "ChargeIndicator");
      gint64 amount = qm_ubl_amount (reader, node, "Amount", place);
      gboolean is_charge =
          g_strcmp0 (indicator, "true") == 0 || g_strcmp0 (indicator, "1") == 0;
      gint64 *sum = is_charge ? charge : discount;

      if (amount == QM_AMOUNT_UNSTATED)
        continue;
      if (amount < 0)
        qm_read_find (reader->quote, QM_FINDING_WARNING, place,
                      _ ("A discount or charge is negative; it was left "
                         "out."));
      else if (*sum == QM_AMOUNT_UNSTATED)
        *sum = amount;
      else if (__builtin_add_overflow (*sum, amount, sum))
        *sum = QM_AMOUNT_UNSTATED;
    }
}

static QmDate
read_date (QmUblReader *reader, const xmlNode *parent, const char *name)
{
  g_autofree char *text = qm_ubl_text (parent, name);
  g_autofree char *day = NULL;
  QmDate date = { 0 };

  if (text == NULL)
    return date;
  /* An XML Schema date may end with a time zone. */
  day = g_strndup (text, 10);
  if (!qm_date_parse (day, &date) || date.day == 0)
    {
      qm_read_find (reader->quote, QM_FINDING_WARNING, NULL,
                    _ ("%s “%s” is not a date."), name, text);
      return (QmDate){ 0 };
    }
  return date;
}

/* Days that a DurationMeasure stands for; 0: not understood. */
static int
duration_days (const xmlNode *measure)
{
  static const struct
  {
    const char *code;
    int days;
  } units[] = { { "DAY", 1 }, { "WEE", 7 }, { "MON", 30 }, { "ANN", 365 } };
  g_autofree char *text = qm_xml_text (measure);
  g_autofree char *unit = qm_xml_attribute (measure, "unitCode");
  gint64 n = 0;

  if (text == NULL || qm_read_decimal (text, 0, &n) != QM_DECIMAL_EXACT || n < 1
      || n > 3650)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_strcmp0 (unit, units[i].code) == 0)
      return (int) n * units[i].days;
  return 0;
}

/* "30 Tage ab Angebotsdatum", "jusqu'au 30 juin 2026".  FALSE: that does not
 * say on which day it ends. */
static gboolean
read_validity_in_words (QmQuote *quote, const char *words)
{
  QmCsvTerm term;
  QmDate end;

  if (!qm_csv_term_parse (words, QM_DATES_GUESS, &term))
    return FALSE;
  if (term.until.year == 0)
    {
      end = qm_csv_term_end (&term, quote->issued_on);
      if (end.year == 0)
        return FALSE;
      qm_read_find (quote, QM_FINDING_NOTE, NULL,
                    _ ("The quote says for how long it holds, “%s”. Its last "
                       "day was counted from that."),
                    words);
      term.until = end;
    }
  if (quote->valid_from.year == 0)
    quote->valid_from = term.from;
  quote->valid_until = term.until;
  return TRUE;
}

static void
read_validity (QmUblReader *reader, const xmlNode *root)
{
  QmQuote *quote = reader->quote;
  const xmlNode *period = qm_ubl_cac (root, "ValidityPeriod");
  g_autofree char *words = qm_ubl_text (period, "Description");
  int days;

  if (period == NULL)
    return;
  quote->valid_from = read_date (reader, period, "StartDate");
  quote->valid_until = read_date (reader, period, "EndDate");
  days = duration_days (qm_ubl_cbc (period, "DurationMeasure"));
  if (quote->valid_until.year == 0 && days > 0)
    {
      QmDate from =
          quote->valid_from.year != 0 ? quote->valid_from : quote->issued_on;

      if (from.day != 0)
        {
          quote->valid_until = qm_read_date_add (from, days);
          qm_read_find (quote, QM_FINDING_NOTE, NULL,
                        _ ("The quote says for how long it holds: %d days. "
                           "Its last day was counted from that."),
                        days);
        }
    }
  if (quote->valid_until.year == 0 && words != NULL
      && !read_validity_in_words (quote, words))
    {
      qm_quote_ask (quote, QM_ASK_VALIDITY);
      qm_read_find (quote, QM_FINDING_WARNING, NULL,
                    _ ("How long the quote holds is said in words only: “%s”."),
                    words);
    }
}

static char *
read_seller (const xmlNode *root)
{
  const xmlNode *party =
      qm_ubl_cac (qm_ubl_cac (root, "SellerSupplierParty"), "Party");
  char *name = qm_ubl_text (qm_ubl_cac (party, "PartyName"), "Name");

  if (name == NULL)
    name = qm_ubl_text (qm_ubl_cac (party, "PartyLegalEntity"),
                        "RegistrationName");
  return name;
}

static void
append_note (GString *note, char *text)
{
  if (text != NULL)
    g_string_append_printf (note, "%s%s", note->len > 0 ? "\n" : "", text);
  g_free (text);
}

static char *
read_note (const xmlNode *root)
{
  g_autoptr (GString) note = g_string_new (NULL);

  for (xmlNode *node = qm_ubl_cbc (root, "Note"); node != NULL;
       node = qm_xml_next (node, QM_UBL_CBC, "Note"))
    append_note (note, qm_xml_text (node));
  append_note (note, qm_ubl_text (qm_ubl_cac (root, "DeliveryTerms"),
                                  "SpecialTerms"));
  append_note (note, qm_ubl_text (qm_ubl_cac (root, "TransactionConditions"),
                                  "Description"));
  return qm_read_text (note->str);
}

/* Taxes of the document, or else those of the lines.  A tax may be stated a
 * second time in the currency of the tax office. */
static void
read_tax (QmUblReader *reader, const xmlNode *root)
{
  QmQuote *quote = reader->quote;

  for (xmlNode *node = qm_ubl_cac (root, "TaxTotal"); node != NULL;
       node = qm_xml_next (node, QM_UBL_CAC, "TaxTotal"))
    {
      g_autofree char *currency =
          qm_xml_attribute (qm_ubl_cbc (node, "TaxAmount"), "currencyID");
      gint64 amount;

      if (currency != NULL && strcmp (currency, quote->currency) != 0)
        {
          g_autofree char *shown = qm_read_excerpt (currency);

          qm_read_find (quote, QM_FINDING_NOTE, NULL,
                        _ ("A tax that is stated in %s was left out."), shown);
          continue;
        }
      amount = qm_ubl_amount (reader, node, "TaxAmount", NULL);
      if (amount == QM_AMOUNT_UNSTATED)
        continue;
      if (quote->tax_minor == QM_AMOUNT_UNSTATED)
        quote->tax_minor = amount;
      else if (__builtin_add_overflow (quote->tax_minor, amount,
                                       &quote->tax_minor))
        quote->tax_minor = QM_AMOUNT_UNSTATED;
    }
  if (quote->tax_minor == QM_AMOUNT_UNSTATED)
    quote->tax_minor = reader->line_tax;
}

/* TaxExclusiveAmount should be the net amount after discounts and charges. */
static void
check_tax_exclusive (QmUblReader *reader, gint64 exclusive)
{
  QmQuote *quote = reader->quote;
  g_autofree char *written = qm_minor_for_people (exclusive, quote->currency);
  gint64 net = quote->net_minor;

  if (exclusive == QM_AMOUNT_UNSTATED || net == QM_AMOUNT_UNSTATED)
    return;
  if (quote->discount_minor != QM_AMOUNT_UNSTATED)
    net = (gint64) ((guint64) net - (guint64) quote->discount_minor);
  if (quote->charge_minor != QM_AMOUNT_UNSTATED)
    net = (gint64) ((guint64) net + (guint64) quote->charge_minor);
  if (exclusive == net)
    return;
  if (exclusive == quote->tax_minor)
    qm_read_find (quote, QM_FINDING_WARNING, NULL,
                  _ ("The amount without tax is given as %s, which is the "
                     "tax."),
                  written);
  else
    {
      g_autofree char *computed = qm_minor_for_people (net, quote->currency);

      qm_read_find (quote, QM_FINDING_WARNING, NULL,
                    _ ("The amount without tax is given as %s, but comes to "
                       "%s."),
                    written, computed);
    }
}

/* An amount that the total has besides those of a quote. */
static void
report_extra (QmUblReader *reader,
              const xmlNode *total,
              const char *name,
              const char *format)
{
  gint64 amount = qm_ubl_amount (reader, total, name, NULL);
  g_autofree char *text = NULL;

  if (amount == QM_AMOUNT_UNSTATED || amount == 0)
    return;
  text = qm_minor_for_people (amount, reader->quote->currency);
  qm_read_find (reader->quote, QM_FINDING_WARNING, NULL, format, text);
}

/* What the total says of discounts or charges against their sum. */
static void
check_allowance (QmUblReader *reader,
                 const xmlNode *total,
                 const char *name,
                 gint64 *sum)
{
  gint64 written = qm_ubl_amount (reader, total, name, NULL);

  if (written == QM_AMOUNT_UNSTATED)
    return;
  if (*sum != QM_AMOUNT_UNSTATED && *sum != written)
    {
      g_autofree char *is =
          qm_minor_for_people (written, reader->quote->currency);
      g_autofree char *should =
          qm_minor_for_people (*sum, reader->quote->currency);

      qm_read_find (reader->quote, QM_FINDING_WARNING, NULL,
                    _ ("%s is given as %s, but the document lists %s."), name,
                    is, should);
    }
  *sum = written;
}

static void
read_totals (QmUblReader *reader, const xmlNode *root)
{
  QmQuote *quote = reader->quote;
  const xmlNode *total = qm_ubl_cac (root, "QuotedMonetaryTotal");

  qm_ubl_allowances (reader, root, NULL, &quote->discount_minor,
                     &quote->charge_minor);
  read_tax (reader, root);
  if (total == NULL)
    {
      qm_read_find (quote, QM_FINDING_WARNING, NULL,
                    _ ("The document has no total."));
      return;
    }
  quote->net_minor = qm_ubl_amount (reader, total, "LineExtensionAmount", NULL);
  quote->payable_minor = qm_ubl_amount (reader, total, "PayableAmount", NULL);
  check_allowance (reader, total, "AllowanceTotalAmount",
                   &quote->discount_minor);
  check_allowance (reader, total, "ChargeTotalAmount", &quote->charge_minor);
  check_tax_exclusive (reader, qm_ubl_amount (reader, total,
                                              "TaxExclusiveAmount", NULL));
  report_extra (reader, total, "PrepaidAmount",
                _ ("%s that has been paid is taken off the amount to be "
                   "paid."));
  report_extra (reader, total, "PayableRoundingAmount",
                _ ("The amount to be paid was rounded by %s."));
}

/* The currency that the document names, or that of the first price or total:
 * it must be known before amounts are read. */
static void
find_currency (QmUblReader *reader, const xmlNode *root)
{
  const xmlNode *named = qm_ubl_cbc (root, "PricingCurrencyCode");
  const xmlNode *total = qm_ubl_cac (root, "QuotedMonetaryTotal");
  const xmlNode *item =
      qm_ubl_cac (qm_ubl_cac (root, "QuotationLine"), "LineItem");
  g_autofree char *currency = qm_ubl_text (root, "PricingCurrencyCode");

  if (currency != NULL)
    check_currency (reader, named, currency);
  else
    {
      read_amount_currency (reader, qm_ubl_cbc (total, "PayableAmount"));
      read_amount_currency (reader, qm_ubl_cbc (qm_ubl_cac (item, "Price"),
                                                "PriceAmount"));
      read_amount_currency (reader, qm_ubl_cbc (item, "LineExtensionAmount"));
    }
}

/* References to what the format has no element for. */
static void
read_references (QmQuote *quote, const xmlNode *root)
{
  for (xmlNode *node = qm_ubl_cac (root, "AdditionalDocumentReference");
       node != NULL;
       node = qm_xml_next (node, QM_UBL_CAC, "AdditionalDocumentReference"))
    {
      g_autofree char *type = qm_ubl_text (node, "DocumentType");
      char **to = NULL;

      if (g_strcmp0 (type, QM_UBL_ALTERNATIVE) == 0)
        to = &quote->alternative;
      else if (g_strcmp0 (type, QM_UBL_SUPERSEDES) == 0)
        to = &quote->supersedes;
      if (to != NULL && *to == NULL)
        *to = qm_ubl_text (node, "ID");
    }
}

static void
read_document (QmUblReader *reader, const xmlNode *root)
{
  QmQuote *quote = reader->quote;

  find_currency (reader, root);
  quote->origin = QM_QUOTE_FROM_UBL;
  quote->tax_included = QM_NO;
  quote->number = qm_ubl_text (root, "ID");
  quote->issued_on = read_date (reader, root, "IssueDate");
  read_validity (reader, root);
  quote->vendor = read_seller (root);
  quote->note = read_note (root);
  read_references (quote, root);
  qm_ubl_read_lines (reader, root);
  read_totals (reader, root);
  if (quote->lines->len == 0)
    qm_ubl_fail (reader,
                 g_error_new_literal (QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                                      _ ("The quotation has no lines.")));
  if (quote->vendor == NULL)
    qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                          _ ("The seller is not named."));
  if (quote->currency[0] == '\0')
    qm_quote_add_finding (quote, QM_FINDING_WARNING, NULL,
                          _ ("The amounts are without a currency."));
}

static gboolean
check_root (const xmlNode *root, GError **error)
{
  const char *namespace = root->ns != NULL ? (const char *) root->ns->href : "";
  g_autofree char *name = qm_read_excerpt ((const char *) root->name);
  g_autofree char *shown = qm_read_excerpt (namespace);

  if (qm_xml_is (root, QM_UBL_QUOTATION, "Quotation"))
    return TRUE;
  if (g_str_has_prefix (namespace, "urn:oasis:names:specification:ubl:"))
    g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                 _ ("This is a UBL document, but not a Quotation: its root "
                    "element is “%s”."),
                 name);
  else
    g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_NO_QUOTE,
                 _ ("This is not a UBL Quotation: its root element is “%s” "
                    "of the namespace “%s”."),
                 name, shown);
  return FALSE;
}

QmQuote *
qm_quote_ubl_read (const char *data,
                   gsize size,
                   GCancellable *cancellable,
                   GError **error)
{
  g_autoptr (xmlDoc) document = qm_xml_parse (data, size, cancellable, error);
  g_autoptr (QmQuote) quote = NULL;
  QmUblReader reader = { .line_tax = QM_AMOUNT_UNSTATED };

  if (document == NULL || !check_root (xmlDocGetRootElement (document), error))
    return NULL;
  quote = qm_quote_new ();
  reader.quote = quote;
  read_document (&reader, xmlDocGetRootElement (document));
  if (reader.error != NULL)
    {
      g_propagate_error (error, reader.error);
      return NULL;
    }
  return g_steal_pointer (&quote);
}
