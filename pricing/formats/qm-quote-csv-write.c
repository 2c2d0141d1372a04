/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-quote-csv.h"
#include "pricing/qm-csv.h"
#include "pricing/quotes/qm-quote-read.h"

/* Columns, in their order. */
enum
{
  VENDOR,
  QUOTE,
  ALTERNATIVE,
  SUPERSEDES,
  CURRENCY,
  ISSUED,
  VALID_FROM,
  VALID_UNTIL,
  LINE,
  ROLE,
  THING,
  PART_NUMBER,
  DESCRIPTION,
  QUANTITY,
  UNIT,
  PRICE,
  PER,
  DISCOUNT,
  CHARGE,
  TOTAL,
  ITEM,
  GPUS,
  N_COLUMNS
};

/* A cell of a row that is not written yet. */
typedef struct
{
  char *text;
  gboolean number; /* ours, and no formula though it may be negative */
} Cell;

typedef struct
{
  GString *csv;
  Cell cells[N_COLUMNS];
} Writer;

static void
put_cell_text (Writer *writer, int column, const char *text)
{
  g_free (writer->cells[column].text);
  writer->cells[column] = (Cell){ .text = g_strdup (text) };
}

static void
put_number (Writer *writer, int column, char *number)
{
  g_free (writer->cells[column].text);
  writer->cells[column] = (Cell){ .text = number, .number = TRUE };
}

static void
put_minor (Writer *writer, const QmQuote *quote, int column, gint64 minor)
{
  put_number (writer, column,
              minor != QM_AMOUNT_UNSTATED
                  ? qm_minor_to_text (minor, quote->currency)
                  : NULL);
}

static void
put_micros (Writer *writer, int column, gint64 micros, int least)
{
  put_number (writer, column,
              micros != QM_AMOUNT_UNSTATED ? qm_micros_to_text (micros, least)
                                           : NULL);
}

/* Writes the cells as a row and empties them. */
static void
end_row (Writer *writer)
{
  for (int i = 0; i < N_COLUMNS; i++)
    {
      Cell *cell = &writer->cells[i];

      if (cell->number)
        qm_csv_add_written (writer->csv, cell->text);
      else
        qm_csv_add_text (writer->csv, cell->text);
      g_clear_pointer (&cell->text, g_free);
    }
  qm_csv_end_row (writer->csv);
}

static void
put_head (Writer *writer, const QmQuote *quote)
{
  put_cell_text (writer, VENDOR, quote->vendor);
  put_cell_text (writer, QUOTE, quote->number);
  put_cell_text (writer, ALTERNATIVE, quote->alternative);
  put_cell_text (writer, SUPERSEDES, quote->supersedes);
  put_cell_text (writer, CURRENCY, quote->currency);
  put_number (writer, ISSUED, qm_read_date_text (quote->issued_on));
  put_number (writer, VALID_FROM, qm_read_date_text (quote->valid_from));
  put_number (writer, VALID_UNTIL, qm_read_date_text (quote->valid_until));
}

static void
write_line (Writer *writer, const QmQuote *quote, const QmQuoteLine *line)
{
  put_head (writer, quote);
  put_cell_text (writer, LINE, line->number);
  put_cell_text (writer, ROLE, qm_line_role_name (line->role));
  put_cell_text (writer, THING, qm_line_thing_name (line->thing));
  put_cell_text (writer, PART_NUMBER, line->part_number);
  put_cell_text (writer, DESCRIPTION, line->description);
  put_micros (writer, QUANTITY, line->quantity_micros, 0);
  put_cell_text (writer, UNIT, line->unit);
  put_micros (writer, PRICE, line->price_micros, 2);
  if (line->base_quantity_micros != QM_MICROS_PER_UNIT)
    put_micros (writer, PER, line->base_quantity_micros, 0);
  if (line->discount_minor != 0)
    put_minor (writer, quote, DISCOUNT, line->discount_minor);
  if (line->charge_minor != 0)
    put_minor (writer, quote, CHARGE, line->charge_minor);
  put_minor (writer, quote, TOTAL, line->total_minor);
  put_cell_text (writer, ITEM, line->item);
  if (line->gpus > 0)
    put_number (writer, GPUS, g_strdup_printf ("%d", line->gpus));
  end_row (writer);
}

static void
write_total (Writer *writer,
             const QmQuote *quote,
             const char *name,
             gint64 minor)
{
  if (minor == QM_AMOUNT_UNSTATED)
    return;
  put_head (writer, quote);
  put_cell_text (writer, DESCRIPTION, name);
  put_minor (writer, quote, TOTAL, minor);
  end_row (writer);
}

static void
write_quote (Writer *writer, const QmQuote *quote)
{
  for (guint i = 0; i < quote->lines->len; i++)
    write_line (writer, quote, g_ptr_array_index (quote->lines, i));
  write_total (writer, quote, "Subtotal", quote->net_minor);
  write_total (writer, quote, "Discount", quote->discount_minor);
  write_total (writer, quote, "Shipping", quote->charge_minor);
  write_total (writer, quote, "Tax", quote->tax_minor);
  write_total (writer, quote, "Grand total", quote->payable_minor);
}

/* What the column of prices is called for a quote; static. */
static const char *
name_price (const QmQuote *quote)
{
  if (quote->unit == QM_PRICE_HOUR)
    return quote->tax_included == QM_YES  ? "Price per hour incl. tax"
           : quote->tax_included == QM_NO ? "Price per hour excl. tax"
                                          : "Price per hour";
  return quote->tax_included == QM_YES  ? "Unit price incl. tax"
         : quote->tax_included == QM_NO ? "Unit price excl. tax"
                                        : "Unit price";
}

static void
write_names (Writer *writer, const char *price)
{
  static const char *const names[N_COLUMNS] = { "Vendor",
                                                "Quote",
                                                "Alternative of the quote",
                                                "Supersedes quote",
                                                "Currency",
                                                "Issued",
                                                "Valid from",
                                                "Valid until",
                                                "Line",
                                                "Role",
                                                "Sells",
                                                "Part number",
                                                "Description",
                                                "Quantity",
                                                "Unit",
                                                NULL,
                                                "Per",
                                                "Discount",
                                                "Surcharge",
                                                "Total",
                                                "Catalog item",
                                                "GPUs" };

  for (int i = 0; i < N_COLUMNS; i++)
    put_cell_text (writer, i, names[i] != NULL ? names[i] : price);
  end_row (writer);
}

GBytes *
qm_quote_csv_write (GPtrArray *quotes)
{
  Writer writer = { .csv = g_string_new ("\xef\xbb\xbf") };
  const char *price = NULL;

  g_return_val_if_fail (quotes != NULL, NULL);

  if (quotes->len == 0)
    write_names (&writer, "Unit price");
  for (guint i = 0; i < quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (quotes, i);

      /* Whether tax is in a price only the name of its column says, so that
       * other prices begin below names of their own. */
      if (g_strcmp0 (price, name_price (quote)) != 0)
        write_names (&writer, price = name_price (quote));
      write_quote (&writer, quote);
    }
  return g_string_free_to_bytes (writer.csv);
}
