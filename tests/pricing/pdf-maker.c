/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/pricing/pdf-maker.h"

#include <cairo-pdf.h>
#include <pango/pangocairo.h>
#include <string.h>

#define A4     595.28, 841.89
#define LETTER 612, 792
#define MOST   24
#define RULE   0.5
#define FOOT   60.0
#define COLUMN 115.0
/* A row that names more columns is a head. */
#define MOST_NAMES 2

/* What programs that print offers differ in. */
const PdfLayout pdf_layouts[] = {
  { "ruled", A4, 50, "DejaVu Sans 9", 4, 3, PDF_RIGHT, 0, TRUE, TRUE, FALSE, 0,
    TRUE, 1 },
  { "plain", LETTER, 54, "Cantarell 10", 5, 2, PDF_RIGHT, 0, FALSE, FALSE,
    FALSE, 0, TRUE, 1 },
  { "glued", LETTER, 54, "DejaVu Serif 9", 4, 2, PDF_RIGHT, 0, FALSE, TRUE,
    TRUE, 0, TRUE, 1 },
  { "wrapped", A4, 50, "DejaVu Sans 9", 4, 3, PDF_RIGHT, 0, FALSE, TRUE, FALSE,
    0, TRUE, 0.45 },
  { "middle", A4, 50, "DejaVu Sans 9", 4, 3, PDF_RIGHT, 0.5, TRUE, TRUE, FALSE,
    0, FALSE, 0.45 },
  { "below", A4, 50, "Cantarell 9", 4, 3, PDF_RIGHT, 1, FALSE, FALSE, TRUE, 0,
    TRUE, 0.5 },
  { "left", LETTER, 54, "DejaVu Sans 9", 5, 3, PDF_LEFT, 0, FALSE, TRUE, FALSE,
    0, TRUE, 1 },
  { "centred", A4, 50, "Cantarell 10", 4, 3, PDF_CENTRE, 0.5, TRUE, TRUE, FALSE,
    0, TRUE, 0.6 },
  { "tight", A4, 40, "DejaVu Sans 8", 2.5, 0, PDF_RIGHT, 0, FALSE, FALSE, FALSE,
    0, TRUE, 0.6 },
  { "pages", A4, 50, "DejaVu Sans 9", 4, 3, PDF_RIGHT, 0, TRUE, TRUE, FALSE, 3,
    TRUE, 0.6 },
};
const guint pdf_n_layouts = G_N_ELEMENTS (pdf_layouts);

void
pdf_layout_by_chance (guint32 seed, PdfLayout *layout)
{
  static const char *const fonts[] = {
    "DejaVu Sans 8",  "DejaVu Sans 9",      "DejaVu Sans Condensed 10",
    "Cantarell 9",    "Cantarell 11",       "DejaVu Serif 8",
    "DejaVu Serif 9", "DejaVu Sans Mono 7",
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gboolean letter = g_rand_boolean (rand);

  layout->name = "chance";
  layout->width = letter ? 612 : 595.28;
  layout->height = letter ? 792 : 841.89;
  layout->margin = g_rand_double_range (rand, 36, 60);
  layout->font = fonts[g_rand_int_range (rand, 0, G_N_ELEMENTS (fonts))];
  layout->across = g_rand_double_range (rand, 2.5, 7);
  layout->above = g_rand_double_range (rand, 0, 6);
  layout->align = (PdfAlign) g_rand_int_range (rand, 0, 3);
  layout->upright = 0.5 * g_rand_int_range (rand, 0, 3);
  layout->ruled = g_rand_boolean (rand);
  layout->bold = g_rand_boolean (rand);
  layout->glued = g_rand_boolean (rand);
  layout->rows_a_page = (guint) g_rand_int_range (rand, 0, 6);
  layout->foot = g_rand_boolean (rand);
  layout->narrow = g_rand_double_range (rand, 0.3, 1);
  /* Rows that are as close as lines of a cell cannot be told from them where
   * those with the amounts are not the first. */
  if (layout->above < 1)
    layout->upright = 0;
}

typedef struct
{
  const PdfLayout *layout;
  const QmSheet *sheet;
  const QmCsvMapping *mapping;
  cairo_t *cr;
  guint n;             /* columns */
  double widths[MOST]; /* with the space around */
  double y;
  guint head; /* the row that is repeated on each page */
  guint rows; /* on this page */
  guint page;
} Painter;

static cairo_status_t
write_cb (void *closure, const unsigned char *data, unsigned length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static PangoLayout *
lay_out (const Painter *painter, const char *text, double width, gboolean bold)
{
  PangoLayout *layout = pango_cairo_create_layout (painter->cr);
  PangoFontDescription *font =
      pango_font_description_from_string (painter->layout->font);

  pango_cairo_context_set_resolution (pango_layout_get_context (layout), 72);

  if (bold)
    pango_font_description_set_weight (font, PANGO_WEIGHT_BOLD);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);
  if (width > 0)
    pango_layout_set_width (layout, (int) (width * PANGO_SCALE));
  pango_layout_set_text (layout, text, -1);
  return layout;
}

static void
measure (PangoLayout *layout, double *width, double *height)
{
  PangoRectangle box;

  pango_layout_get_extents (layout, NULL, &box);
  *width = (double) box.width / PANGO_SCALE;
  *height = (double) box.height / PANGO_SCALE;
}

static double
width_of (const Painter *painter, const char *text, gboolean bold)
{
  PangoLayout *layout = lay_out (painter, text, 0, bold);
  double width, height;

  measure (layout, &width, &height);
  g_object_unref (layout);
  return width;
}

/* The width of the longest word. */
static double
width_of_words (const Painter *painter, const char *text, gboolean bold)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \n", -1);
  double most = 0;

  for (guint i = 0; words[i] != NULL; i++)
    most = MAX (most, width_of (painter, words[i], bold));
  return most;
}

static guint
header (const Painter *painter)
{
  return (guint) painter->mapping->header_row;
}

static gboolean
is_words (const Painter *painter, guint column)
{
  QmCsvField field = qm_csv_mapping_field (painter->mapping, column);

  return field == QM_CSV_DESCRIPTION || field == QM_CSV_PART_NUMBER
         || field == QM_CSV_NUMBER || field == QM_CSV_ALTERNATIVE
         || field == QM_CSV_UNIT;
}

/* How many cells of a row have something in them; which is the last. */
static guint
count_cells (const Painter *painter, guint row, guint *last)
{
  guint n = 0;

  for (guint i = 0; i < qm_sheet_n_cells (painter->sheet, row); i++)
    if (qm_sheet_cell (painter->sheet, row, i)[0] != '\0')
      {
        n++;
        *last = i;
      }
  return n;
}

/* A row of labels: a total's, or a heading.  It makes no column wider. */
static gboolean
is_label (const Painter *painter, guint row, guint column)
{
  const char *text = qm_sheet_cell (painter->sheet, row, column);
  guint last, n = count_cells (painter, row, &last);

  return n == 1
         || (n <= 3 && column + 1 < painter->n && !is_words (painter, column)
             && strcspn (text, "0123456789") > 2);
}

/* Columns are as wide as their numbers and the words of their names; that of
 * descriptions has the rest. */
static void
measure_columns (Painter *painter)
{
  double room = painter->layout->width - 2 * painter->layout->margin;
  int description =
      qm_csv_mapping_column (painter->mapping, QM_CSV_DESCRIPTION);
  double wanted = 0;

  for (guint i = 0; i < painter->n; i++)
    {
      double most =
          width_of_words (painter,
                          qm_sheet_cell (painter->sheet, header (painter), i),
                          painter->layout->bold);

      for (guint row = header (painter) + 1;
           row < qm_sheet_n_rows (painter->sheet); row++)
        if (!is_label (painter, row, i))
          {
            double width =
                width_of (painter, qm_sheet_cell (painter->sheet, row, i),
                          FALSE);

            if ((int) i == description)
              wanted = MAX (wanted, width);
            else
              most = MAX (most, width);
          }
        else if (painter->layout->align == PDF_LEFT && (int) i != description)
          most =
              MAX (most, width_of_words (painter,
                                         qm_sheet_cell (painter->sheet, row, i),
                                         FALSE));
      painter->widths[i] = most + 2 * painter->layout->across + 1;
      room -= (int) i == description ? 0 : painter->widths[i];
    }
  g_assert_cmpint (description, >=, 0);
  painter->widths[description] =
      MAX (painter->widths[description],
           MIN (wanted + 2 * painter->layout->across + 4,
                room * painter->layout->narrow));
}

static void
show (Painter *painter, PangoLayout *layout, double x, double y)
{
  cairo_move_to (painter->cr, x, y);
  pango_cairo_show_layout (painter->cr, layout);
}

static void
paint_foot (Painter *painter)
{
  static const char *const lines[] = {
    "Registered office: 12 Harbour Street   HRB 4711   VAT ID DE123456789",
    "Bank: IBAN DE02 1203 0000 0000 2020 51   BIC BYLADEM1001   20260401",
  };
  PdfLayout small = *painter->layout;
  Painter other = *painter;
  double y = painter->layout->height - FOOT + 15;
  g_autofree char *number = g_strdup_printf ("Page %u", ++painter->page);

  if (!painter->layout->foot)
    return;
  small.font = "DejaVu Sans 7";
  other.layout = &small;
  for (guint i = 0; i <= G_N_ELEMENTS (lines); i++, y += 9)
    {
      const char *text = i < G_N_ELEMENTS (lines) ? lines[i] : number;
      PangoLayout *layout = lay_out (&other, text, 0, FALSE);

      show (painter, layout, painter->layout->margin, y);
      g_object_unref (layout);
    }
}

static void
end_page (Painter *painter)
{
  paint_foot (painter);
  cairo_show_page (painter->cr);
  painter->y = painter->layout->margin;
  painter->rows = 0;
}

/* A text that may reach over other cells: to the right, or to the left where
 * its column is one of numbers. */
static double
paint_cell (Painter *painter, guint row, guint column, double x, double height)
{
  const PdfLayout *options = painter->layout;
  gboolean bold = row == header (painter) && options->bold;
  gboolean free = row != header (painter) && is_label (painter, row, column)
                  && (options->align != PDF_LEFT || is_words (painter, column));
  double room = painter->widths[column] - 2 * options->across;
  PangoLayout *layout =
      lay_out (painter, qm_sheet_cell (painter->sheet, row, column),
               free ? 0 : room, bold);
  double width, high, left = x + options->across;

  measure (layout, &width, &high);
  if (!is_words (painter, column) && options->align != PDF_LEFT
      && count_cells (painter, row, &(guint){ 0 }) > 1)
    {
      if (options->align == PDF_CENTRE && !free)
        pango_layout_set_alignment (layout, PANGO_ALIGN_CENTER);
      else
        {
          pango_layout_set_alignment (layout, PANGO_ALIGN_RIGHT);
          left += free ? room - width : 0;
        }
    }
  if (height > 0)
    show (painter, layout, left,
          painter->y + options->above
              + (height - high - 2 * options->above) * options->upright);
  g_object_unref (layout);
  return high + 2 * options->above;
}

static void
paint_row (Painter *painter, guint row)
{
  double heights[2] = { 0, 0 };

  for (int pass = 0; pass < 2; pass++)
    {
      double x = painter->layout->margin;

      for (guint i = 0; i < painter->n; i++)
        {
          if (qm_sheet_cell (painter->sheet, row, i)[0] != '\0')
            heights[pass] =
                MAX (heights[pass],
                     paint_cell (painter, row, i, x, pass ? heights[0] : 0));
          if (pass && painter->layout->ruled)
            cairo_rectangle (painter->cr, x, painter->y, painter->widths[i],
                             heights[0]);
          x += painter->widths[i];
        }
    }
  cairo_set_line_width (painter->cr, RULE);
  cairo_stroke (painter->cr);
  painter->y += heights[0];
}

/* Above and below the table, texts stand beside each other as they come. */
static void
paint_free (Painter *painter, guint row)
{
  double x = painter->layout->margin, most = 0;
  guint n = qm_sheet_n_cells (painter->sheet, row);

  for (guint i = 0; i < n; i++)
    {
      const char *text = qm_sheet_cell (painter->sheet, row, i);
      g_autofree char *both = NULL;
      PangoLayout *layout;
      double width, height, next = 0;
      int tax;

      if (*text == '\0')
        continue;
      if (painter->layout->glued && i + 1 < n
          && qm_csv_field_of (text, &tax) != QM_CSV_IGNORED
          && qm_sheet_cell (painter->sheet, row, i + 1)[0] != '\0')
        {
          both = g_strdup_printf ("%s%s %s", text,
                                  g_str_has_suffix (text, ":") ? "" : ":",
                                  qm_sheet_cell (painter->sheet, row, i + 1));
          i++;
        }
      layout = lay_out (painter, both != NULL ? both : text, 0, FALSE);
      measure (layout, &width, &height);
      /* A name stays beside its value. */
      if (both == NULL && i + 1 < n)
        next = width_of (painter, qm_sheet_cell (painter->sheet, row, i + 1),
                         FALSE);
      if (x + (next > 0 ? MAX (COLUMN, width + 12) + next : width)
          > painter->layout->width - painter->layout->margin)
        {
          x = painter->layout->margin;
          painter->y += most + 4;
        }
      show (painter, layout, x, painter->y);
      x += MAX (COLUMN, width + 12);
      most = MAX (most, height);
      g_object_unref (layout);
    }
  painter->y += most + 4;
}

static void
paint_table_row (Painter *painter, guint row)
{
  double last = painter->layout->height - FOOT - 60;

  if ((painter->layout->rows_a_page > 0
       && painter->rows >= painter->layout->rows_a_page)
      || painter->y > last)
    {
      end_page (painter);
      if (painter->layout->foot)
        {
          PangoLayout *layout =
              lay_out (painter, "continued from the page before", 0, FALSE);

          show (painter, layout, painter->layout->margin, painter->y);
          g_object_unref (layout);
          painter->y += 24;
        }
      paint_row (painter, painter->head);
    }
  /* Of another table its own names are. */
  if (qm_csv_header_score (painter->sheet, row) > MOST_NAMES)
    painter->head = row;
  paint_row (painter, row);
  painter->rows++;
}

static void
paint (Painter *painter)
{
  guint n = qm_sheet_n_rows (painter->sheet), end = n;
  guint last = 0;

  while (end > 0 && count_cells (painter, end - 1, &last) < 2)
    end--;
  for (guint row = 0; row < n; row++)
    {
      if (count_cells (painter, row, &last) == 0)
        painter->y += 14;
      else if (row < header (painter) || row >= end)
        paint_free (painter, row);
      else if (row == header (painter))
        paint_row (painter, painter->head = row);
      else
        paint_table_row (painter, row);
    }
  end_page (painter);
}

GBytes *
pdf_draw_table (const PdfLayout *layout,
                const QmSheet *sheet,
                const QmCsvMapping *mapping)
{
  GByteArray *data = g_byte_array_new ();
  cairo_surface_t *surface =
      cairo_pdf_surface_create_for_stream (write_cb, data, layout->width,
                                           layout->height);
  Painter painter = { .layout = layout,
                      .sheet = sheet,
                      .mapping = mapping,
                      .cr = cairo_create (surface),
                      .n = mapping->columns->len,
                      .y = layout->margin };

  g_assert_cmpuint (painter.n, <=, MOST);
  measure_columns (&painter);
  paint (&painter);
  cairo_destroy (painter.cr);
  cairo_surface_finish (surface);
  g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
  cairo_surface_destroy (surface);
  return g_byte_array_free_to_bytes (data);
}

GBytes *
pdf_draw_text (const char *text, guint pages)
{
  GByteArray *data = g_byte_array_new ();
  cairo_surface_t *surface =
      cairo_pdf_surface_create_for_stream (write_cb, data, A4);
  cairo_t *cr = cairo_create (surface);

  for (guint i = 0; i < pages; i++)
    {
      PangoLayout *layout = pango_cairo_create_layout (cr);

      cairo_rectangle (cr, 100, 100, 200, 100);
      cairo_fill (cr);
      if (text != NULL)
        {
          pango_layout_set_text (layout, text, -1);
          cairo_move_to (cr, 50, 300);
          pango_cairo_show_layout (cr, layout);
        }
      cairo_show_page (cr);
      g_object_unref (layout);
    }
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  return g_byte_array_free_to_bytes (data);
}

GBytes *
pdf_build (GBytes *const *objects, guint n, const char *trailer)
{
  GByteArray *pdf = g_byte_array_new ();
  g_autoptr (GString) table = g_string_new (NULL);
  g_autofree char *end = NULL;

  g_byte_array_append (pdf, (const guint8 *) "%PDF-1.7\n", 9);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *head = g_strdup_printf ("%u 0 obj\n", i + 1);

      g_string_append_printf (table, "%010u 00000 n \n", pdf->len);
      g_byte_array_append (pdf, (const guint8 *) head, (guint) strlen (head));
      g_byte_array_append (pdf, g_bytes_get_data (objects[i], NULL),
                           (guint) g_bytes_get_size (objects[i]));
      g_byte_array_append (pdf, (const guint8 *) "\nendobj\n", 8);
    }
  end = g_strdup_printf ("xref\n0 %u\n0000000000 65535 f \n%strailer\n"
                         "<< /Size %u /Root 1 0 R %s >>\nstartxref\n%u\n"
                         "%%%%EOF\n",
                         n + 1, table->str, n + 1, trailer, pdf->len);
  g_byte_array_append (pdf, (const guint8 *) end, (guint) strlen (end));
  return g_byte_array_free_to_bytes (pdf);
}
