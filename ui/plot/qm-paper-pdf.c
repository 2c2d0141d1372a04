/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-paper-pdf.h"

#include "ui/plot/qm-page-text.h"
#include "ui/plot/qm-plot.h"

#include <cairo-pdf.h>
#include <glib/gi18n-lib.h>
#include <string.h>

/* In points. */
#define MARGIN       48.0
#define FOOT         18.0 /* of the lower margin, for the number of the page */
#define TITLE_SIZE   17.0
#define HEADING_SIZE 12.0
#define TEXT_SIZE    9.5
#define CELL_SIZE    8.0
#define FOOT_SIZE    7.5
#define GAP          7.0
#define COLUMN_GAP   8.0
#define ROW_PAD      2.5
#define BULLET       12.0

/* A heading is followed by at least so much on its page. */
#define KEPT_WITH 42.0

#define FIGURE_HEIGHT 230.0

/* More columns than that are squeezed. */
#define COLUMNS_MAX 64

/* Where drawing is. */
typedef struct
{
  const QmPaper *paper;
  QmPaperDrawFunc draw; /* NULL: no figure */
  gpointer data;
  cairo_t *cr;
  double page_height;
  double width;  /* between the margins */
  double bottom; /* where nothing may be any more */
  double y;
  guint page;    /* from 1 */
  guint n_pages; /* 0: not counted yet */
} Sheet;

static void
set_width (PangoLayout *layout, double width)
{
  pango_layout_set_width (layout, (int) (width * PANGO_SCALE));
}

static void
set_grey (cairo_t *cr, double grey)
{
  cairo_set_source_rgb (cr, grey, grey, grey);
}

static void
show_layout (
    Sheet *sheet, PangoLayout *layout, double x, double y, const char *tag)
{
  if (tag != NULL)
    cairo_tag_begin (sheet->cr, tag, NULL);
  cairo_move_to (sheet->cr, MARGIN + x, y);
  pango_cairo_show_layout (sheet->cr, layout);
  if (tag != NULL)
    cairo_tag_end (sheet->cr, tag);
}

/* --- pages --- */

static void
end_page (Sheet *sheet)
{
  g_autofree char *text =
      sheet->n_pages > 0
          /* Translators: a page and how many there are. */
          ? g_strdup_printf (_ ("Page %u of %u"), sheet->page, sheet->n_pages)
          : g_strdup ("");
  g_autoptr (PangoLayout) number =
      qm_page_text_new (sheet->cr, text, FOOT_SIZE, FALSE);
  g_autoptr (PangoLayout) title =
      qm_page_text_new (sheet->cr, sheet->paper->title, FOOT_SIZE, FALSE);
  const double y = sheet->page_height - MARGIN + FOOT / 2;

  set_grey (sheet->cr, 0.4);
  show_layout (sheet, title, 0, y, NULL);
  show_layout (sheet, number, sheet->width - qm_page_text_width (number), y,
               NULL);
  set_grey (sheet->cr, 0);
  cairo_show_page (sheet->cr);
}

static void
next_page (Sheet *sheet)
{
  end_page (sheet);
  sheet->page++;
  sheet->y = MARGIN;
}

/* Goes on on the next page where there is no room for so much. */
static void
need (Sheet *sheet, double height)
{
  if (sheet->y + height > sheet->bottom && sheet->y > MARGIN)
    next_page (sheet);
}

/* --- texts --- */

/* Draws a layout line by line, so that a long paragraph goes on on the next
 * page. */
static void
add_lines (Sheet *sheet, PangoLayout *layout, double x, const char *tag)
{
  PangoLayoutIter *iter = pango_layout_get_iter (layout);

  cairo_tag_begin (sheet->cr, tag, NULL);
  do
    {
      PangoLayoutLine *line = pango_layout_iter_get_line_readonly (iter);
      PangoRectangle logical;
      double height;

      pango_layout_iter_get_line_extents (iter, NULL, &logical);
      height = (double) logical.height / PANGO_SCALE;
      if (sheet->y + height > sheet->bottom && sheet->y > MARGIN)
        {
          cairo_tag_end (sheet->cr, tag);
          next_page (sheet);
          cairo_tag_begin (sheet->cr, tag, NULL);
        }
      cairo_move_to (sheet->cr, MARGIN + x,
                     sheet->y
                         + (double) (pango_layout_iter_get_baseline (iter)
                                     - logical.y)
                               / PANGO_SCALE);
      pango_cairo_show_layout_line (sheet->cr, line);
      sheet->y += height;
    }
  while (pango_layout_iter_next_line (iter));
  cairo_tag_end (sheet->cr, tag);
  pango_layout_iter_free (iter);
}

static void
add_title (Sheet *sheet)
{
  g_autoptr (PangoLayout) title =
      qm_page_text_new (sheet->cr, sheet->paper->title, TITLE_SIZE, TRUE);

  set_width (title, sheet->width);
  add_lines (sheet, title, 0, "H1");
  if (sheet->paper->subtitle != NULL)
    {
      g_autoptr (PangoLayout) subtitle =
          qm_page_text_new (sheet->cr, sheet->paper->subtitle, TEXT_SIZE,
                            FALSE);

      set_width (subtitle, sheet->width);
      set_grey (sheet->cr, 0.35);
      add_lines (sheet, subtitle, 0, "P");
      set_grey (sheet->cr, 0);
    }
  sheet->y += GAP;
}

static void
add_heading (Sheet *sheet, const char *text, double kept_with)
{
  g_autoptr (PangoLayout) layout =
      qm_page_text_new (sheet->cr, text, HEADING_SIZE, TRUE);

  set_width (layout, sheet->width);
  sheet->y += GAP;
  need (sheet, qm_page_text_height (layout) + GAP + kept_with);
  add_lines (sheet, layout, 0, "H2");
  sheet->y += GAP / 2;
}

static void
add_text (Sheet *sheet, const char *text)
{
  g_autoptr (PangoLayout) layout =
      qm_page_text_new (sheet->cr, text, TEXT_SIZE, FALSE);

  set_width (layout, sheet->width);
  add_lines (sheet, layout, 0, "P");
  sheet->y += GAP;
}

static void
add_item (Sheet *sheet, const char *text)
{
  g_autoptr (PangoLayout) bullet =
      qm_page_text_new (sheet->cr, "•", TEXT_SIZE, FALSE);
  g_autoptr (PangoLayout) layout =
      qm_page_text_new (sheet->cr, text, TEXT_SIZE, FALSE);

  set_width (layout, sheet->width - BULLET);
  need (sheet, qm_page_text_height (bullet));
  show_layout (sheet, bullet, 0, sheet->y, NULL);
  add_lines (sheet, layout, BULLET, "LI");
  sheet->y += GAP / 3;
}

/* --- tables --- */

/* Where the columns of a table are. */
typedef struct
{
  const QmPaperTable *table;
  double x[COLUMNS_MAX];
  double widths[COLUMNS_MAX];
  guint n;
} Columns;

static gboolean
is_bold (const QmPaperRow *row, guint column)
{
  return row->kind == QM_ROW_SECTION || row->cells[column].best
         || (row->kind == QM_ROW_STRONG && column == 0);
}

/* How wide a text is in one line, and its widest word. */
static void
measure (Sheet *sheet, const char *text, double *natural, double *least)
{
  g_autoptr (PangoLayout) layout =
      qm_page_text_new (sheet->cr, text, CELL_SIZE, TRUE);
  g_auto (GStrv) words = g_strsplit_set (text, " \n", -1);

  *natural = MAX (*natural, qm_page_text_width (layout));
  for (guint i = 0; words[i] != NULL; i++)
    {
      g_autoptr (PangoLayout) word =
          qm_page_text_new (sheet->cr, words[i], CELL_SIZE, TRUE);

      *least = MAX (*least, qm_page_text_width (word));
    }
}

/* Gives those columns what they like that like no more than an equal share of
 * what is left.  Returns what is left for the others, which have no width. */
static double
satisfy (Columns *columns, const double *natural, double room, guint *n_left)
{
  gboolean found = TRUE;

  *n_left = columns->n;
  while (found && *n_left > 0)
    {
      double share = room / *n_left;

      found = FALSE;
      for (guint i = 0; i < columns->n; i++)
        if (!(columns->widths[i] > 0) && natural[i] <= share)
          {
            columns->widths[i] = natural[i];
            room -= natural[i];
            (*n_left)--;
            found = TRUE;
          }
    }
  return room;
}

/* Shares the room among columns that do not fit: the others get their widest
 * word, and alike of what is left. */
static void
squeeze (Columns *columns,
         const double *natural,
         const double *least,
         double room)
{
  double words = 0, left;
  guint n_left;

  memset (columns->widths, 0, sizeof columns->widths);
  left = satisfy (columns, natural, room, &n_left);
  for (guint i = 0; i < columns->n; i++)
    if (!(columns->widths[i] > 0))
      words += least[i];
  for (guint i = 0; i < columns->n; i++)
    if (!(columns->widths[i] > 0))
      columns->widths[i] =
          words > left ? left / n_left : least[i] + (left - words) / n_left;
}

/* Where all of it does not fit, each column gets its widest word, and of what
 * is left a share by how much more it would like, up to a third of the page. */
static void
lay_columns (Sheet *sheet, const QmPaperTable *table, Columns *columns)
{
  double natural[COLUMNS_MAX] = { 0 };
  double least[COLUMNS_MAX] = { 0 };
  double sum = 0, room, x = 0;

  columns->table = table;
  columns->n = MIN (table->n_columns, COLUMNS_MAX);
  for (guint i = 0; i < columns->n; i++)
    {
      measure (sheet, table->heads[i], &natural[i], &least[i]);
      for (guint j = 0; j < table->rows->len; j++)
        {
          const QmPaperRow *row = &g_array_index (table->rows, QmPaperRow, j);

          if (row->cells[i].text != NULL && row->kind != QM_ROW_SECTION)
            measure (sheet, row->cells[i].text, &natural[i], &least[i]);
        }
      sum += natural[i];
    }
  room = sheet->width - COLUMN_GAP * (columns->n - 1);
  for (guint i = 0; i < columns->n; i++)
    columns->widths[i] = natural[i];
  if (sum > room)
    squeeze (columns, natural, least, room);
  else
    columns->widths[qm_paper_table_is_words (table, columns->n - 1)
                        ? columns->n - 1
                        : 0] += room - sum;
  for (guint i = 0; i < columns->n; i++)
    {
      columns->x[i] = x;
      x += columns->widths[i] + COLUMN_GAP;
    }
}

static PangoLayout *
new_cell (Sheet *sheet, const Columns *columns, const QmPaperRow *row, guint i)
{
  const char *text = row->cells[i].text;
  PangoLayout *layout = qm_page_text_new (sheet->cr, text != NULL ? text : "–",
                                          CELL_SIZE, is_bold (row, i));

  set_width (layout,
             row->kind == QM_ROW_SECTION ? sheet->width : columns->widths[i]);
  return layout;
}

static double
row_height (Sheet *sheet, const Columns *columns, const QmPaperRow *row)
{
  double height = 0;

  for (guint i = 0; i < columns->n; i++)
    {
      g_autoptr (PangoLayout) layout = new_cell (sheet, columns, row, i);

      height = MAX (height, qm_page_text_height (layout));
      if (row->kind == QM_ROW_SECTION)
        break;
    }
  return height + 2 * ROW_PAD;
}

/* A stripe as wide as the table, from `y` on. */
static void
fill_stripe (Sheet *sheet, double y, double height, double grey)
{
  cairo_save (sheet->cr);
  set_grey (sheet->cr, grey);
  cairo_rectangle (sheet->cr, MARGIN - 3, y, sheet->width + 6, height);
  cairo_fill (sheet->cr);
  cairo_restore (sheet->cr);
}

static void
rule (Sheet *sheet, double grey)
{
  fill_stripe (sheet, sheet->y - 0.25, 0.5, grey);
}

static void
draw_row (Sheet *sheet,
          const Columns *columns,
          const QmPaperRow *row,
          const char *tag)
{
  double height = row_height (sheet, columns, row);

  if (row->kind == QM_ROW_SECTION)
    fill_stripe (sheet, sheet->y, height, 0.92);
  cairo_tag_begin (sheet->cr, "TR", NULL);
  for (guint i = 0; i < columns->n; i++)
    {
      g_autoptr (PangoLayout) layout = new_cell (sheet, columns, row, i);

      if (!qm_paper_table_is_words (columns->table, i))
        pango_layout_set_alignment (layout, PANGO_ALIGN_RIGHT);
      show_layout (sheet, layout, columns->x[i], sheet->y + ROW_PAD,
                   i == 0 ? "TH" : tag);
      if (row->kind == QM_ROW_SECTION)
        break;
    }
  cairo_tag_end (sheet->cr, "TR");
  sheet->y += height;
}

static void
draw_heads (Sheet *sheet, const Columns *columns)
{
  g_autofree QmPaperCell *cells = g_new0 (QmPaperCell, columns->n);
  QmPaperRow row = { .kind = QM_ROW_PLAIN, .cells = cells };

  for (guint i = 0; i < columns->n; i++)
    {
      cells[i].text = columns->table->heads[i];
      cells[i].best = TRUE;
    }
  draw_row (sheet, columns, &row, "TH");
  rule (sheet, 0);
}

/* A section stays with its first row, and the last row with the one before. */
static double
height_with_next (Sheet *sheet, const Columns *columns, guint index)
{
  const GArray *rows = columns->table->rows;
  const QmPaperRow *row = &g_array_index (rows, QmPaperRow, index);
  double height = row_height (sheet, columns, row);

  if ((row->kind == QM_ROW_SECTION && index + 1 < rows->len)
      || index + 2 == rows->len)
    height += row_height (sheet, columns,
                          &g_array_index (rows, QmPaperRow, index + 1));
  return height;
}

/* How high a table begins: what a heading before it is kept with. */
static double
begin_height (Sheet *sheet, const QmPaperTable *table)
{
  Columns columns = { 0 };

  if (table->rows->len == 0)
    return 0;
  lay_columns (sheet, table, &columns);
  return KEPT_WITH + height_with_next (sheet, &columns, 0);
}

static void
add_table (Sheet *sheet, const QmPaperTable *table)
{
  Columns columns = { 0 };
  double top;

  if (table->rows->len == 0)
    return;
  lay_columns (sheet, table, &columns);
  need (sheet, begin_height (sheet, table));
  cairo_tag_begin (sheet->cr, "Table", NULL);
  draw_heads (sheet, &columns);
  top = sheet->y;
  for (guint i = 0; i < table->rows->len; i++)
    {
      /* What is higher than a page is cut at its end. */
      if (sheet->y + height_with_next (sheet, &columns, i) > sheet->bottom
          && sheet->y > top)
        {
          cairo_tag_end (sheet->cr, "Table");
          next_page (sheet);
          cairo_tag_begin (sheet->cr, "Table", NULL);
          draw_heads (sheet, &columns);
          top = sheet->y;
        }
      draw_row (sheet, &columns, &g_array_index (table->rows, QmPaperRow, i),
                "TD");
      rule (sheet, 0.85);
    }
  cairo_tag_end (sheet->cr, "Table");
  sheet->y += GAP;
}

/* --- the figure --- */

static void
add_figure (Sheet *sheet)
{
  g_autofree char *text =
      /* Translators: what a figure shows. */
      g_strdup_printf (_ ("Figure: %s"), sheet->paper->caption);
  g_autoptr (PangoLayout) caption =
      qm_page_text_new (sheet->cr, text, CELL_SIZE, FALSE);

  set_width (caption, sheet->width);
  sheet->y += GAP / 2;
  need (sheet, FIGURE_HEIGHT + GAP + qm_page_text_height (caption));
  cairo_tag_begin (sheet->cr, "Figure", NULL);
  cairo_save (sheet->cr);
  cairo_translate (sheet->cr, MARGIN, sheet->y);
  sheet->draw (sheet->cr, sheet->width, FIGURE_HEIGHT, sheet->data);
  cairo_restore (sheet->cr);
  cairo_tag_end (sheet->cr, "Figure");
  set_grey (sheet->cr, 0);
  sheet->y += FIGURE_HEIGHT + GAP / 2;
  add_lines (sheet, caption, 0, "P");
  sheet->y += GAP;
}

/* --- the document --- */

/* Draws everything.  Returns the number of pages. */
static guint
draw (Sheet *sheet)
{
  sheet->page = 1;
  sheet->y = MARGIN;
  add_title (sheet);
  for (guint i = 0; i < sheet->paper->blocks->len; i++)
    {
      const QmPaperBlock *block =
          &g_array_index (sheet->paper->blocks, QmPaperBlock, i);

      if (sheet->draw != NULL && sheet->paper->caption != NULL
          && i == sheet->paper->figure)
        add_figure (sheet);
      switch (block->kind)
        {
        case QM_PAPER_HEADING:
          add_heading (sheet, block->text,
                       i + 1 < sheet->paper->blocks->len
                               && block[1].kind == QM_PAPER_TABLE
                           ? begin_height (sheet, block[1].table)
                           : KEPT_WITH);
          break;
        case QM_PAPER_ITEM:
          add_item (sheet, block->text);
          break;
        case QM_PAPER_TABLE:
          add_table (sheet, block->table);
          break;
        case QM_PAPER_TEXT:
        default:
          if (i > 0 && block[-1].kind == QM_PAPER_ITEM)
            sheet->y += GAP * 2 / 3;
          add_text (sheet, block->text);
          break;
        }
    }
  end_page (sheet);
  return sheet->page;
}

static cairo_status_t
append_cb (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static cairo_status_t
forget_cb (void *closure, const unsigned char *data, unsigned int length)
{
  return CAIRO_STATUS_SUCCESS;
}

/* Lays out on a surface; what it says of the document makes the bytes depend on
 * nothing else.  FALSE where Cairo failed. */
static gboolean
write_pages (Sheet *sheet, cairo_surface_t *surface, guint *n_pages)
{
  gboolean done;

  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE,
                                  sheet->paper->title);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR,
                                  "Quartermaster");
  /* The empty date is left out; otherwise it is the time of day. */
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
  sheet->cr = cairo_create (surface);
  *n_pages = draw (sheet);
  cairo_destroy (sheet->cr);
  cairo_surface_finish (surface);
  done = cairo_surface_status (surface) == CAIRO_STATUS_SUCCESS;
  cairo_surface_destroy (surface);
  return done;
}

GBytes *
qm_paper_to_pdf (const QmPaper *paper,
                 QmPageSize size,
                 QmPaperDrawFunc draw_figure,
                 gpointer data,
                 guint *n_pages)
{
  const double width = size == QM_PAGE_LETTER ? 612 : 595.276;
  const double height = size == QM_PAGE_LETTER ? 792 : 841.89;
  Sheet sheet = {
    .paper = paper, .draw = draw_figure, .data = data, .page_height = height
  };
  GByteArray *bytes;
  guint n;

  g_return_val_if_fail (paper != NULL, NULL);

  sheet.width = width - 2 * MARGIN;
  sheet.bottom = height - MARGIN;
  /* Once to count the pages, and once to write them. */
  if (!write_pages (&sheet,
                    cairo_pdf_surface_create_for_stream (forget_cb, NULL, width,
                                                         height),
                    &sheet.n_pages))
    return NULL;
  bytes = g_byte_array_new ();
  if (!write_pages (&sheet,
                    cairo_pdf_surface_create_for_stream (append_cb, bytes,
                                                         width, height),
                    &n))
    {
      g_byte_array_unref (bytes);
      return NULL;
    }
  if (n_pages != NULL)
    *n_pages = n;
  return g_byte_array_free_to_bytes (bytes);
}
