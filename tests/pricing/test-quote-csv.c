/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/formats/qm-csv-row.h"
#include "pricing/formats/qm-quote-csv.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/quotes/qm-quote-totals.h"
#include "tests/pricing/samples.h"

static GPtrArray *
read_bytes (const char *data, gsize size, GError **error)
{
  g_autoptr (QmCsvMapping) mapping = qm_csv_mapping_guess (data, size, error);

  if (mapping == NULL)
    return NULL;
  return qm_quote_csv_read (data, size, mapping, 0, NULL, error);
}

/* The quotes of a table, which must be readable. */
static GPtrArray *
read_table (const char *text)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *quotes = read_bytes (text, strlen (text), &error);

  g_assert_no_error (error);
  g_assert_nonnull (quotes);
  return quotes;
}

static void
assert_line (const QmQuote *quote,
             guint i,
             const char *words,
             double quantity,
             double price,
             double total)
{
  const QmQuoteLine *line = sample_line (quote, i);

  g_assert_cmpstr (line->description, ==, words);
  g_assert_cmpint (line->quantity_micros, ==, (gint64) (quantity * 1e6 + 0.5));
  g_assert_cmpint (line->price_micros, ==, (gint64) (price * 1e6 + 0.5));
  g_assert_cmpint (line->total_minor, ==, (gint64) (total * 100 + 0.5));
}

static void
test_plain (void)
{
  g_autoptr (GPtrArray) quotes =
      read_table ("Description,Part number,Qty,Unit price (USD),Total\n"
                  "NVIDIA A100 80GB PCIe,900-21001-0020-000,4,\"14,500.00\","
                  "\"58,000.00\"\n"
                  "Cable,CB-1,8,12.50,100.00\n");
  const QmQuote *quote = g_ptr_array_index (quotes, 0);

  g_assert_cmpuint (quotes->len, ==, 1);
  g_assert_cmpuint (quote->lines->len, ==, 2);
  g_assert_cmpstr (quote->currency, ==, "USD");
  assert_line (quote, 0, "NVIDIA A100 80GB PCIe", 4, 14500, 58000);
  assert_line (quote, 1, "Cable", 8, 12.5, 100);
  g_assert_cmpstr (sample_line (quote, 0)->part_number, ==,
                   "900-21001-0020-000");
  g_assert_cmpuint (quote->findings->len, ==, 0);
}

/* Titles, pairs above the table, decimal commas, totals below. */
static void
test_german (void)
{
  g_autoptr (GPtrArray) quotes = read_table (
      "Angebot\r\n"
      "Lieferant:;Rechenwerk GmbH;;;;\r\n"
      "Angebotsnummer;AN-4711;;;;\r\n"
      "Datum: 01.10.2026;;;;;\r\n"
      "Gültig bis;30 Tage;;;;\r\n"
      "\r\n"
      "Pos.;Artikelnummer;Bezeichnung;Menge;Einzelpreis netto (€);"
      "Gesamtpreis\r\n"
      "1;A-1;\"GPU-Server, \"\"8-fach\"\"\";2 Stk.;25.000,50;50.001,00 €\r\n"
      ";;8x NVIDIA A100 80GB SXM4;;;\r\n"
      "2;A-2;Kabel;10;1,25;12,50\r\n"
      ";;Zwischensumme;;;50.013,50\r\n"
      ";;Rabatt;;;-13,50\r\n"
      ";;Versandkosten;;;100,00\r\n"
      ";;zzgl. MwSt. 19 %;;;9.519,00\r\n"
      ";;Gesamtbetrag;;;59.619,00\r\n"
      "Zahlbar in 30 Tagen;;;;;\r\n");
  QmQuote *quote = g_ptr_array_index (quotes, 0);

  g_assert_cmpstr (quote->vendor, ==, "Rechenwerk GmbH");
  g_assert_cmpstr (quote->number, ==, "AN-4711");
  sample_assert_date (quote->issued_on, 2026, 10, 1);
  sample_assert_date (quote->valid_until, 2026, 10, 31);
  g_assert_cmpstr (quote->currency, ==, "EUR");
  g_assert_cmpint (quote->tax_included, ==, QM_NO);
  g_assert_cmpuint (quote->lines->len, ==, 3);
  assert_line (quote, 0, "GPU-Server, \"8-fach\"", 2, 25000.5, 50001);
  g_assert_cmpstr (sample_line (quote, 0)->unit, ==, "Stk.");
  g_assert_cmpint (sample_line (quote, 1)->role, ==, QM_LINE_PART);
  assert_line (quote, 2, "Kabel", 10, 1.25, 12.5);
  g_assert_cmpint (quote->net_minor, ==, 5001350);
  g_assert_cmpint (quote->discount_minor, ==, 1350);
  g_assert_cmpint (quote->charge_minor, ==, 10000);
  g_assert_cmpint (quote->tax_minor, ==, 951900);
  g_assert_cmpint (quote->payable_minor, ==, 5961900);
  g_assert_cmpstr (quote->note, ==, "Angebot\nZahlbar in 30 Tagen");
  g_assert_cmpuint (qm_quote_totals_check (quote), ==, 0);
}

/* The same table in several languages, each with its own delimiter. */
static void
test_languages (void)
{
  static const char *const tables[] = {
    "Item;Quantity;Unit price;Line total\nGPU;2;1,000.50;2,001.00\n",
    "Beschreibung;Anzahl;Stückpreis;Summe\nGPU;2;1.000,50;2.001,00\n",
    "Désignation;Qté;Prix unitaire HT;Montant HT\nGPU;2;1 000,50;2 001,00\n",
    "Descripción;Cantidad;Precio unitario;Importe\nGPU;2;1.000,50;2.001,00\n",
    "Descrizione\tQuantità\tPrezzo unitario\tImporto\n"
    "GPU\t2\t1.000,50\t2.001,00\n",
    "Omschrijving|Aantal|Stukprijs|Bedrag\nGPU|2|1.000,50|2.001,00\n",
    "Descrição;Qtd.;Preço unitário;Valor total\nGPU;2;1.000,50;2.001,00\n",
    "Nazwa;Ilość;Cena jednostkowa netto;Wartość netto\n"
    "GPU;2;1 000,50;2 001,00\n",
    "Product name,QTY,Price each,Extended price\nGPU,2,1000.50,2001.00\n",
    "sep=;\r\nTovar;Qty;Price;Total;Description\r\nx;2;1000,50;2001,00;GPU\r\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (GPtrArray) quotes = read_table (tables[i]);
      QmQuote *quote = g_ptr_array_index (quotes, 0);

      g_assert_cmpuint (quote->lines->len, ==, 1);
      assert_line (quote, 0, "GPU", 2, 1000.5, 2001);
      g_assert_cmpuint (qm_quote_totals_check (quote), ==, 0);
    }
}

static void
test_encodings (void)
{
  static const char text[] =
      "Désignation;Qté;Prix unitaire;Montant (€)\nCarte é;2;5,00;10,00\n";
  static const char polish[] =
      "Nazwa towaru;Ilość;Cena jednostkowa;Wartość\nPłyta;2;5,00;10,00\n";
  static const struct
  {
    const char *encoding;
    const char *text;
    const char *mark;
    const char *words;
  } cases[] = {
    { "UTF-8", text, "", "Carte é" },
    { "UTF-8", text, "\xef\xbb\xbf", "Carte é" },
    { "WINDOWS-1252", text, "", "Carte é" },
    { "UTF-16LE", text, "", "Carte é" },
    { "UTF-16LE", text, "\xff\xfe", "Carte é" },
    { "UTF-16BE", text, "\xfe\xff", "Carte é" },
    { "WINDOWS-1250", polish, "", "Płyta" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) quotes = NULL;
      g_autofree char *converted = NULL;
      g_autoptr (GByteArray) data = g_byte_array_new ();
      gsize size;

      converted = g_convert (cases[i].text, -1, cases[i].encoding, "UTF-8",
                             NULL, &size, &error);
      g_assert_no_error (error);
      g_byte_array_append (data, (const guint8 *) cases[i].mark,
                           (guint) strlen (cases[i].mark));
      g_byte_array_append (data, (const guint8 *) converted, (guint) size);
      quotes = read_bytes ((const char *) data->data, data->len, &error);
      g_assert_no_error (error);
      assert_line (g_ptr_array_index (quotes, 0), 0, cases[i].words, 2, 5, 10);
    }
}

/* Amounts that could be either are told by the others. */
static void
test_decimals (void)
{
  g_autoptr (GPtrArray) commas =
      read_table ("Product;Qty;Price;Total\nA;1;1.234;1.234\nB;1;2,50;2,50\n");
  g_autoptr (GPtrArray) points =
      read_table ("Product;Qty;Price;Total\nA;2;1.234;2.468\nB;1;2.50;2.50\n");
  g_autoptr (GPtrArray) unknown =
      read_table ("Product;Qty;Price;Total\nA;1;1.234;1.234\n");
  g_autoptr (GPtrArray) both =
      read_table ("Product;Qty;Price;Total\nA;1;1.50;1.50\nB;1;2,50;2,50\n");

  assert_line (g_ptr_array_index (commas, 0), 0, "A", 1, 1234, 1234);
  assert_line (g_ptr_array_index (commas, 0), 1, "B", 1, 2.5, 2.5);
  g_assert_cmpint (sample_line (g_ptr_array_index (points, 0), 0)->price_micros,
                   ==, 1234000);
  assert_line (g_ptr_array_index (unknown, 0), 0, "A", 1, 1234, 1234);
  assert_line (g_ptr_array_index (both, 0), 0, "A", 1, 1.5, 1.5);
  assert_line (g_ptr_array_index (both, 0), 1, "B", 1, 2.5, 2.5);
}

/* What is not clearly a date is asked about, and the field stays empty: in
 * columns and in rows above the table. */
static void
test_unclear_dates (void)
{
  static const struct
  {
    const char *issued, *until;
    guint asked;
  } cases[] = {
    { "12.03.2026", "30.04.2026", 0 },
    { "05/02/2026", "30.04.2026", QM_ASK_DATE },
    { "12.03.2026 - 15.03.2026", "30.04.2026", QM_ASK_DATE },
    { "12.03.2026", "30.04.2026 or on request", QM_ASK_VALIDITY },
    { "12.03.2026", "30 June 2026 or on request", QM_ASK_VALIDITY },
    { "05/02/2026", "30 days", QM_ASK_DATE | QM_ASK_VALIDITY },
    { "soon", "later", QM_ASK_DATE | QM_ASK_VALIDITY },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    {
      guint n = i / 2;
      g_autofree char *text = g_strdup_printf (
          i % 2 == 0 ? "Date;%s\nValid until;%s\n\nProduct;Qty;Price (EUR)\n"
                       "GPU;1;5.00\n"
                     : "Date;Valid until;Product;Qty;Price (EUR)\n"
                       "%s;%s;GPU;1;5.00\n",
          cases[n].issued, cases[n].until);
      g_autoptr (GPtrArray) quotes = read_table (text);
      const QmQuote *quote = g_ptr_array_index (quotes, 0);
      guint asked = qm_quote_open (quote);

      g_assert_cmpuint (asked, ==, cases[n].asked);
      g_assert_cmpint (quote->issued_on.year != 0, ==,
                       (asked & QM_ASK_DATE) == 0);
      g_assert_cmpint (quote->valid_until.year != 0, ==,
                       (asked & QM_ASK_VALIDITY) == 0);
      g_assert_cmpint (qm_quote_is_undated (quote), ==, asked != 0);
      g_assert_cmpuint (
          sample_findings (quote, QM_FINDING_WARNING, "not clearly a date"), ==,
          ((asked & QM_ASK_DATE) != 0) + ((asked & QM_ASK_VALIDITY) != 0));
    }
}

/* Which column is best where several could be meant, and which are not. */
static void
test_columns (void)
{
  static const struct
  {
    const char *name;
    QmCsvField field;
  } cases[] = {
    { "Unit Price", QM_CSV_PRICE },
    { "Unit price (excl. VAT) EUR", QM_CSV_PRICE },
    { "List price", QM_CSV_IGNORED },
    { "Price per unit in USD", QM_CSV_PRICE },
    { "Total price", QM_CSV_TOTAL },
    { "Ext. Price", QM_CSV_TOTAL },
    { "Discount %", QM_CSV_DISCOUNT_PERCENT },
    { "Discount", QM_CSV_DISCOUNT },
    { "MwSt. %", QM_CSV_IGNORED },
    { "VAT rate", QM_CSV_IGNORED },
    { "Mfr. Part #", QM_CSV_PART_NUMBER },
    { "P/N", QM_CSV_PART_NUMBER },
    { "Art.-Nr.", QM_CSV_PART_NUMBER },
    { "Gültig bis", QM_CSV_VALID_UNTIL },
    { "Prix unitaire (€ HT)", QM_CSV_PRICE },
    { "Lieferzeit", QM_CSV_IGNORED },
    { "Wartość netto PLN", QM_CSV_TOTAL },
    { "Cena jedn.", QM_CSV_PRICE },
    { "Precio unitario sin IVA", QM_CSV_PRICE },
    { "Prezzo unitario", QM_CSV_PRICE },
    { "Codice articolo", QM_CSV_PART_NUMBER },
    { "", QM_CSV_IGNORED },
    { "%", QM_CSV_IGNORED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      int tax;
      QmCsvField field = qm_csv_field_of (cases[i].name, &tax);

      if (field != cases[i].field)
        g_error ("“%s” is %s, not %s", cases[i].name, qm_csv_field_name (field),
                 qm_csv_field_name (cases[i].field));
    }
}

static void
test_rows (void)
{
  static const struct
  {
    const char *words;
    QmCsvRowKind kind;
  } cases[] = {
    { "Subtotal:", QM_CSV_ROW_NET },
    { "Zwischensumme", QM_CSV_ROW_NET },
    { "Sous-total HT", QM_CSV_ROW_NET },
    { "Total excl. VAT", QM_CSV_ROW_NET },
    { "Total HT", QM_CSV_ROW_NET },
    { "Base imponible", QM_CSV_ROW_NET },
    { "Razem netto", QM_CSV_ROW_NET },
    { "Totale + IVA", QM_CSV_ROW_NET },
    { "Summe + 19 % MwSt.", QM_CSV_ROW_NET },
    { "Zwischentotal", QM_CSV_ROW_NET },
    { "VAT 20%", QM_CSV_ROW_TAX },
    { "zzgl. 19 % MwSt.", QM_CSV_ROW_TAX },
    { "19% MwSt", QM_CSV_ROW_TAX },
    { "zzgl. MwSt. 19 %", QM_CSV_ROW_TAX },
    { "TVA (20 %)", QM_CSV_ROW_TAX },
    { "IVA 21%", QM_CSV_ROW_TAX },
    { "BTW 21%", QM_CSV_ROW_TAX },
    { "Shipping & handling", QM_CSV_ROW_CHARGE },
    { "Versandkosten", QM_CSV_ROW_CHARGE },
    { "Frais de port", QM_CSV_ROW_CHARGE },
    { "Discount", QM_CSV_ROW_DISCOUNT },
    { "Remise", QM_CSV_ROW_DISCOUNT },
    { "Education Discount", QM_CSV_ROW_DISCOUNT },
    { "Less volume discount", QM_CSV_ROW_DISCOUNT },
    { "abzgl. 3 % Hochschulrabatt", QM_CSV_ROW_DISCOUNT },
    { "./. Projektnachlass", QM_CSV_ROW_DISCOUNT },
    { "Abzüglich Sonderkondition", QM_CSV_ROW_DISCOUNT },
    { "Remise enseignement supérieur", QM_CSV_ROW_DISCOUNT },
    { "Dto. universidades (6%)", QM_CSV_ROW_DISCOUNT },
    { "Descuento por pronto pago 2 %", QM_CSV_ROW_DISCOUNT },
    { "Sconto extra università", QM_CSV_ROW_DISCOUNT },
    { "Onderwijskorting", QM_CSV_ROW_DISCOUNT },
    { "Desconto à vista 5%", QM_CSV_ROW_DISCOUNT },
    { "Rabat dla uczelni 4%", QM_CSV_ROW_DISCOUNT },
    { "Total discount", QM_CSV_ROW_DISCOUNT },
    { "Total after discount", QM_CSV_ROW_TOTAL },
    { "Totale dopo sconto", QM_CSV_ROW_TOTAL },
    { "Price after academic discount", QM_CSV_ROW_TOTAL },
    { "Preis nach Abzug aller Rabatte", QM_CSV_ROW_TOTAL },
    { "Total price after the special academic project discount",
      QM_CSV_ROW_TOTAL },
    { "10% off, academic", QM_CSV_ROW_DISCOUNT },
    { "Credit for trade-in of four old servers of your cluster",
      QM_CSV_ROW_DISCOUNT },
    { "Imponibile scontato", QM_CSV_ROW_NET },
    { "di cui IVA 22%", QM_CSV_ROW_TAX_WITHIN },
    { "darin enthaltene MwSt.", QM_CSV_ROW_TAX_WITHIN },
    { "Less than container load", QM_CSV_ROW_LINE },
    { "Total", QM_CSV_ROW_TOTAL },
    { "Summe", QM_CSV_ROW_TOTAL },
    { "Grand total (USD)", QM_CSV_ROW_PAYABLE },
    { "Total incl. VAT", QM_CSV_ROW_PAYABLE },
    { "Total TTC", QM_CSV_ROW_PAYABLE },
    { "Gesamtbetrag brutto", QM_CSV_ROW_PAYABLE },
    { "Totaal incl. BTW", QM_CSV_ROW_PAYABLE },
    { "Do zapłaty", QM_CSV_ROW_PAYABLE },
    { "Total cost of ownership calculator licence", QM_CSV_ROW_LINE },
    { "NVIDIA A100", QM_CSV_ROW_LINE },
    { "", QM_CSV_ROW_LINE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (qm_csv_row_kind_of (cases[i].words) != cases[i].kind)
      g_error ("“%s” is %d, not %d", cases[i].words,
               qm_csv_row_kind_of (cases[i].words), cases[i].kind);
}

static void
test_several_quotes (void)
{
  g_autoptr (GPtrArray) quotes =
      read_table ("Vendor,Quote,Currency,Product,Qty,Price\n"
                  "A,1,USD,GPU,1,100\nB,2,EUR,GPU,1,90\nA,1,USD,Disk,2,5\n");
  const QmQuote *a = g_ptr_array_index (quotes, 0);
  const QmQuote *b = g_ptr_array_index (quotes, 1);

  g_assert_cmpuint (quotes->len, ==, 2);
  g_assert_cmpuint (a->lines->len, ==, 2);
  g_assert_cmpstr (a->vendor, ==, "A");
  g_assert_cmpstr (a->currency, ==, "USD");
  g_assert_cmpstr (b->currency, ==, "EUR");
  g_assert_cmpstr (b->number, ==, "2");
}

static void
assert_refused (const char *text, gsize size, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) quotes = read_bytes (text, size, &error);

  g_assert_null (quotes);
  g_assert_error (error, QM_READ_ERROR, code);
  if (strstr (error->message, words) == NULL)
    g_error ("“%s” does not say “%s”", error->message, words);
}

static void
test_refused (void)
{
  static const char mixed[] =
      "Product,Qty,Price\nA,1,€ 5.00\nB,1,\"6.00 USD\"\n";
  static const char open_quote[] = "Product,Qty,Price\nA,1,\"5.00\nB,1,6.00\n";
  GString *wide = g_string_new ("Product,Price\nA,1\n");

  assert_refused (mixed, strlen (mixed), QM_READ_ERROR_CURRENCY,
                  "Row 3: amounts are in EUR and in USD");
  assert_refused (open_quote, strlen (open_quote), QM_READ_ERROR_MALFORMED,
                  "never closed");
  assert_refused ("a,b\n1,2\n", 8, QM_READ_ERROR_MAPPING, "which column");
  assert_refused ("Product,Price\n", 14, QM_READ_ERROR_NO_QUOTE, "no lines");
  assert_refused ("Product,Price\nA\0,5\n", 19, QM_READ_ERROR_MALFORMED,
                  "not text");
  assert_refused ("", 0, QM_READ_ERROR_MAPPING, "which column");
  for (int i = 0; i < 300; i++)
    g_string_append (wide, "x,");
  assert_refused (wide->str, wide->len, QM_READ_ERROR_TOO_LARGE, "columns");
  g_string_free (wide, TRUE);
}

/* Cells that are no amounts are findings with their place. */
static void
test_findings (void)
{
  g_autoptr (GPtrArray) quotes = read_table ("Product,Qty,Price,Total,Colour\n"
                                             "A,1,=SUM(A1:A9),5,red\n"
                                             "B,two,soon,7,red\n"
                                             "C,1,on request,,red\n");
  const QmQuote *quote = g_ptr_array_index (quotes, 0);
  const QmFinding *finding = g_ptr_array_index (quote->findings, 0);

  g_assert_cmpstr (finding->place, ==, "row 2, column Price");
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING, "formula"), ==,
                    1);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_WARNING,
                                     "not clearly an amount"),
                    ==, 2);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_NOTE, "“Colour”"), ==,
                    1);
  g_assert_cmpuint (sample_findings (quote, QM_FINDING_NOTE, "asked for"), ==,
                    1);
  g_assert_cmpint (sample_line (quote, 2)->role, ==, QM_LINE_OPTION);
  g_assert_cmpint (sample_line (quote, 0)->price_micros, ==,
                   QM_AMOUNT_UNSTATED);
}

/* "Item" may be the number of the line, and a list of prices has no
 * quantities. */
static void
test_item_and_list (void)
{
  g_autoptr (GPtrArray) quotes =
      read_table ("\"Quotation No: Q-7\",,,\"Date: 14/10/2026\",,\n"
                  "Item,Part No.,Description,Qty,Unit Price (£),Amount (£)\n"
                  "1,SYS-8,\"8U server, 8x H100 SXM5\",1,\"215,000.00\","
                  "\"215,000.00\"\n"
                  ",,2TB DDR5,,,\n"
                  ",,,,Subtotal,\"215,000.00\"\n"
                  ",,,,VAT @ 20%,\"43,000.00\"\n"
                  ",,,,Total,\"258,000.00\"\n"
                  "Terms: 30 days net,,,,,\n");
  g_autoptr (GPtrArray) list =
      read_table ("Product\tPrice\nRTX 4090\t€1,599.00\n");
  QmQuote *quote = g_ptr_array_index (quotes, 0);

  assert_line (quote, 0, "8U server, 8x H100 SXM5", 1, 215000, 215000);
  g_assert_cmpstr (sample_line (quote, 0)->number, ==, "1");
  g_assert_cmpstr (sample_line (quote, 0)->part_number, ==, "SYS-8");
  g_assert_cmpint (sample_line (quote, 1)->role, ==, QM_LINE_PART);
  g_assert_cmpstr (quote->number, ==, "Q-7");
  g_assert_cmpstr (quote->currency, ==, "GBP");
  sample_assert_date (quote->issued_on, 2026, 10, 14);
  g_assert_cmpint (quote->net_minor, ==, 21500000);
  g_assert_cmpint (quote->tax_minor, ==, 4300000);
  g_assert_cmpint (quote->payable_minor, ==, 25800000);
  g_assert_cmpstr (quote->note, ==, "Terms: 30 days net");
  g_assert_cmpuint (qm_quote_totals_check (quote), ==, 0);

  g_assert_cmpint (
      sample_line (g_ptr_array_index (list, 0), 0)->quantity_micros, ==,
      1000000);
  g_assert_cmpuint (sample_findings (g_ptr_array_index (list, 0),
                                     QM_FINDING_NOTE,
                                     "no column of quantities"),
                    ==, 1);
}

static void
test_percent (void)
{
  g_autoptr (GPtrArray) quotes =
      read_table ("Product,Qty,Price,Discount %,Total\n"
                  "A,3,100.00,10%,270.00\nB,1,99.99,33.3,66.69\n");
  g_autoptr (GPtrArray) net =
      read_table ("Product,Qty,List price,Discount %,Net price,Extended\n"
                  "A,2,100.00,10%,90.00,180.00\n");
  QmQuote *quote = g_ptr_array_index (quotes, 0);

  g_assert_cmpint (sample_line (quote, 0)->discount_minor, ==, 3000);
  g_assert_cmpint (sample_line (quote, 1)->discount_minor, ==, 3330);
  g_assert_cmpint (sample_line (g_ptr_array_index (net, 0), 0)->discount_minor,
                   ==, 0);
  g_assert_cmpuint (sample_findings (g_ptr_array_index (net, 0),
                                     QM_FINDING_NOTE, "contain the discounts"),
                    ==, 1);
  g_assert_cmpuint (qm_quote_totals_check (quote), ==, 0);
}

static QmQuote *
make_quote (void)
{
  QmQuote *quote = qm_quote_new ();
  QmQuoteLine *line = qm_quote_add_line (quote, QM_LINE_QUOTED);
  QmQuoteLine *part = qm_quote_add_line (quote, QM_LINE_PART);
  QmQuoteLine *other = qm_quote_add_line (quote, QM_LINE_ALTERNATIVE);

  quote->origin = QM_QUOTE_FROM_CSV;
  quote->vendor = g_strdup ("=HYPERLINK(\"http://127.0.0.1\")");
  quote->number = g_strdup ("@4711");
  memcpy (quote->currency, "EUR", 4);
  quote->issued_on = (QmDate){ 2026, 11, 21 };
  quote->valid_until = (QmDate){ 2026, 12, 31 };
  quote->tax_included = QM_YES;
  quote->net_minor = 100000;
  quote->discount_minor = 500;
  quote->charge_minor = 1000;
  quote->tax_minor = 19000;
  quote->payable_minor = 119500;
  line->number = g_strdup ("1");
  line->part_number = g_strdup ("-1+1");
  line->description = g_strdup ("+cmd|' /C calc'!A0\n'quoted', \"twice\"");
  line->unit = g_strdup ("EA");
  line->quantity_micros = 2500000;
  line->price_micros = 400123456;
  line->base_quantity_micros = 10000000;
  line->discount_minor = 31;
  line->charge_minor = 7;
  line->total_minor = 100007;
  part->description = g_strdup ("'=1");
  part->quantity_micros = 8000000;
  other->description = g_strdup ("Total cost of nothing");
  other->quantity_micros = 1000000;
  other->price_micros = 10000000;
  other->total_minor = 1000;
  other->discount_minor = 5;
  return quote;
}

/* As many columns as there may be are read whole, and one more is refused, also
 * where the file ends with it. */
static void
test_width (void)
{
  for (int more = 0; more < 2; more++)
    for (int rows = 0; rows < 2; rows++)
      for (int ended = 0; ended < 2; ended++)
        {
          g_autoptr (GString) text = g_string_new (rows > 0 ? "a,b\n" : "");
          g_autoptr (GError) error = NULL;
          g_autoptr (QmSheet) sheet = NULL;

          for (int i = 1; i < QM_SHEET_MAX_COLUMNS + more; i++)
            g_string_append (text, "1,");
          g_string_append (text, ended > 0 ? "last\n" : "last");
          sheet = qm_sheet_new (text->str, text->len, ',', 0, NULL, &error);
          if (more > 0)
            {
              g_assert_null (sheet);
              g_assert_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE);
              continue;
            }
          g_assert_no_error (error);
          g_assert_cmpuint (qm_sheet_n_cells (sheet, (guint) rows), ==,
                            QM_SHEET_MAX_COLUMNS);
          g_assert_cmpstr (qm_sheet_cell (sheet, (guint) rows,
                                          QM_SHEET_MAX_COLUMNS - 1),
                           ==, "last");
        }
}

/* What is written is read back, and no text in it is live. */
static void
test_round_trip (void)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GPtrArray) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (QmSheet) sheet = NULL;
  const char *data;
  gsize size;

  g_ptr_array_add (quotes, make_quote ());
  bytes = qm_quote_csv_write (quotes);
  data = g_bytes_get_data (bytes, &size);
  again = read_bytes (data, size, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (again->len, ==, 1);
  g_ptr_array_set_size (((QmQuote *) g_ptr_array_index (again, 0))->findings,
                        0);
  if (!qm_quote_equal (g_ptr_array_index (quotes, 0),
                       g_ptr_array_index (again, 0)))
    g_error ("%.*s", (int) size, data);

  sheet = qm_sheet_new (data + 3, size - 3, ',', 0, NULL, &error);
  for (guint row = 0; row < qm_sheet_n_rows (sheet); row++)
    for (guint i = 0; i < qm_sheet_n_cells (sheet, row); i++)
      {
        const char *cell = qm_sheet_cell (sheet, row, i);

        g_assert_true (*cell == '\0' || strchr ("=+@\t\r", *cell) == NULL);
        g_assert_true (*cell != '-' || g_ascii_isdigit (cell[1]));
      }
}

/* Whatever a spreadsheet could take for a formula begins with an apostrophe. */
static void
test_live (void)
{
  static const char *const lives[] = { "=1",   "+1",   "-1", "@A1",
                                       "\t=1", "\r=1", "'=1" };

  for (gsize i = 0; i < G_N_ELEMENTS (lives); i++)
    {
      g_autoptr (GPtrArray) quotes =
          g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
      g_autofree char *safe = g_strdup_printf ("\"'%s\"", lives[i]);
      g_autoptr (GBytes) bytes = NULL;
      QmQuote *quote = make_quote ();

      g_free (quote->vendor);
      quote->vendor = g_strdup (lives[i]);
      g_ptr_array_add (quotes, quote);
      bytes = qm_quote_csv_write (quotes);
      g_assert_nonnull (g_strstr_len (g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), safe));
    }
}

/* Whether they are written alike. */
static gboolean
equal_mappings (const QmCsvMapping *a, const QmCsvMapping *b)
{
  g_autofree char *one = qm_csv_mappings_add (NULL, "digest", a);
  g_autofree char *other = qm_csv_mappings_add (NULL, "digest", b);

  return strcmp (one, other) == 0;
}

static void
test_mapping (void)
{
  static const char text[] = "Was;Wieviel;Kosten\nGPU;2;10,50\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmCsvMapping) mapping =
      qm_csv_mapping_guess (text, strlen (text), &error);
  g_autoptr (QmCsvMapping) found = NULL;
  g_autoptr (QmCsvMapping) copy = NULL;
  g_autoptr (GPtrArray) quotes = NULL;
  g_autofree char *json = NULL;
  g_autofree char *more = NULL;

  g_assert_no_error (error);
  g_assert_false (qm_csv_mapping_check (mapping, NULL));
  mapping->header_row = 0;
  qm_csv_mapping_set_field (mapping, 0, QM_CSV_DESCRIPTION);
  qm_csv_mapping_set_field (mapping, 1, QM_CSV_QUANTITY);
  qm_csv_mapping_set_field (mapping, 1, QM_CSV_PRICE);
  qm_csv_mapping_set_field (mapping, 2, QM_CSV_PRICE);
  qm_csv_mapping_set_field (mapping, 1, QM_CSV_QUANTITY);
  mapping->delimiter = ';';
  mapping->decimal = QM_DECIMAL_COMMA;
  memcpy (mapping->currency, "CHF", 4);
  g_assert_true (qm_csv_mapping_check (mapping, NULL));
  quotes = qm_quote_csv_read (text, strlen (text), mapping, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (((QmQuote *) g_ptr_array_index (quotes, 0))->currency, ==,
                   "CHF");

  json = qm_csv_mappings_add ("nonsense", "0123456789abcdef", mapping);
  more = qm_csv_mappings_add (json, "fedcba9876543210", mapping);
  found = qm_csv_mappings_find (more, "0123456789abcdef");
  copy = qm_csv_mapping_copy (mapping);
  g_assert_nonnull (found);
  g_assert_true (equal_mappings (mapping, found));
  g_assert_true (equal_mappings (mapping, copy));
  copy->decimal = QM_DECIMAL_POINT;
  g_assert_false (equal_mappings (mapping, copy));
  g_assert_null (qm_csv_mappings_find (more, "none"));
  g_assert_null (qm_csv_mappings_find (NULL, "none"));
  g_assert_null (qm_csv_mappings_find (
      "{\"schema\":1,\"mappings\":{\"a\":{\"delimiter\":\"xx\"}}}", "a"));
}

/* Cut anywhere, there is a quote or an error, and nothing else. */
static void
test_truncated (void)
{
  static const char text[] =
      "Lieferant:;Müller\r\nArtikel;Menge;Preis;Summe\r\n"
      "\"GPU \"\"A\"\"\";2;1.000,50;2.001,00\r\nSumme;;;2.001,00\r\n";

  for (gsize n = 0; n < sizeof text; n++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *cut = g_memdup2 (text, n);
      g_autoptr (GPtrArray) quotes = read_bytes (cut, n, &error);

      g_assert_true ((quotes != NULL) == (error == NULL));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/csv/plain", test_plain);
  g_test_add_func ("/csv/german", test_german);
  g_test_add_func ("/csv/languages", test_languages);
  g_test_add_func ("/csv/encodings", test_encodings);
  g_test_add_func ("/csv/decimals", test_decimals);
  g_test_add_func ("/csv/unclear-dates", test_unclear_dates);
  g_test_add_func ("/csv/columns", test_columns);
  g_test_add_func ("/csv/rows", test_rows);
  g_test_add_func ("/csv/several-quotes", test_several_quotes);
  g_test_add_func ("/csv/refused", test_refused);
  g_test_add_func ("/csv/findings", test_findings);
  g_test_add_func ("/csv/item-and-list", test_item_and_list);
  g_test_add_func ("/csv/percent", test_percent);
  g_test_add_func ("/csv/width", test_width);
  g_test_add_func ("/csv/round-trip", test_round_trip);
  g_test_add_func ("/csv/live", test_live);
  g_test_add_func ("/csv/mapping", test_mapping);
  g_test_add_func ("/csv/truncated", test_truncated);
  return g_test_run ();
}
