/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-paint.h"
#include "ui/plot/qm-plot-svg-text.h"
#include "ui/plot/qm-plot-text.h"

#include <math.h>
#include <string.h>

/* More than this cannot be read in a plot, but would take long to shape. */
#define MAX_BYTES 1024
#define MAX_LINES 16

/* So many strings are kept, then all are forgotten: names of a frontier come
 * again, amounts of a budget hardly do. */
#define MAX_KEPT 64

#define DEFAULT_SIZE 12.0
#define MIN_SIZE     4.0
#define MAX_SIZE     200.0
#define TITLE_SCALE  1.15

/* The layout must not depend on where the plot is drawn, so widths are those of
 * unhinted fonts everywhere; only pixels get hinted outlines. */
static void
set_font_options (PangoContext *context, gboolean pixels)
{
  cairo_font_options_t *options = cairo_font_options_create ();

  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style (options, pixels ? CAIRO_HINT_STYLE_SLIGHT
                                                     : CAIRO_HINT_STYLE_NONE);
  pango_cairo_context_set_font_options (context, options);
  cairo_font_options_destroy (options);
}

/* Cairo places glyphs on whole pixels, so where pixels are large Pango had
 * better round the advances itself. */
static gboolean
wants_rounding (cairo_t *cr)
{
  cairo_matrix_t matrix;

  if (cr == NULL)
    return TRUE;
  if (!qm_plot_has_pixels (cairo_get_group_target (cr)))
    return FALSE;
  matrix = qm_plot_pixel_matrix (cr);
  return matrix.xx < 1.5;
}

static gboolean
wants_pixels (cairo_t *cr)
{
  return cr == NULL || qm_plot_has_pixels (cairo_get_group_target (cr));
}

void
qm_plot_text_init (QmPlotText *text, const QmPlotTheme *theme, cairo_t *cr)
{
  text->pixels = wants_pixels (cr);
  text->rounded = wants_rounding (cr);
  text->kept = NULL;
  text->size = theme->font_size >= MIN_SIZE && theme->font_size <= MAX_SIZE
                   ? theme->font_size
                   : DEFAULT_SIZE;
  text->context =
      pango_font_map_create_context (pango_cairo_font_map_get_default ());
  pango_context_set_round_glyph_positions (text->context, text->rounded);
  set_font_options (text->context, text->pixels);
  {
    g_autoptr (PangoFontDescription) font = pango_font_description_new ();

    pango_font_description_set_family (font, theme->font != NULL
                                                 ? theme->font
                                                 : "sans-serif");
    pango_font_description_set_absolute_size (font, text->size * PANGO_SCALE);
    pango_context_set_font_description (text->context, font);
  }
  text->layout = pango_layout_new (text->context);
  text->font = QM_PLOT_FONT_NORMAL;
}

void
qm_plot_text_clear (QmPlotText *text)
{
  g_clear_pointer (&text->kept, g_hash_table_unref);
  g_clear_object (&text->layout);
  g_clear_object (&text->context);
}

void
qm_plot_text_keep (QmPlotText *text)
{
  text->kept =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
}

gboolean
qm_plot_text_suits (const QmPlotText *text, cairo_t *cr)
{
  return text->layout != NULL && text->pixels == wants_pixels (cr)
         && text->rounded == wants_rounding (cr);
}

/* What is kept must not change any more. */
static void
renew_layout (QmPlotText *text)
{
  g_object_unref (text->layout);
  text->layout = pango_layout_new (text->context);
  text->font = QM_PLOT_FONT_NORMAL;
}

/* Takes up the layout of a string that is kept, or a new one to be kept for it.
 * Returns whether it is set already. */
static gboolean
take_kept (QmPlotText *text, const char *string, QmPlotFont font, int width)
{
  g_autofree char *key = g_strdup_printf ("%d %d %s", (int) font, width,
                                          string != NULL ? string : "");
  PangoLayout *layout = g_hash_table_lookup (text->kept, key);

  if (layout != NULL)
    {
      g_set_object (&text->layout, layout);
      return TRUE;
    }
  if (g_hash_table_size (text->kept) >= MAX_KEPT)
    g_hash_table_remove_all (text->kept);
  renew_layout (text);
  g_hash_table_insert (text->kept, g_steal_pointer (&key),
                       g_object_ref (text->layout));
  return FALSE;
}

static void
set_font (QmPlotText *text, QmPlotFont font)
{
  g_autoptr (PangoFontDescription) description = NULL;

  if (text->font == font)
    return;
  text->font = font;
  if (font == QM_PLOT_FONT_NORMAL)
    {
      pango_layout_set_font_description (text->layout, NULL);
      return;
    }
  description = pango_font_description_copy (
      pango_context_get_font_description (text->context));
  pango_font_description_set_weight (description, PANGO_WEIGHT_BOLD);
  if (font == QM_PLOT_FONT_TITLE)
    pango_font_description_set_absolute_size (
        description, text->size * TITLE_SCALE * PANGO_SCALE);
  pango_layout_set_font_description (text->layout, description);
}

/* Length of the part of a string that is drawn at all. */
static gsize
drawn_length (const char *string, gboolean lines)
{
  gsize length = strnlen (string, MAX_BYTES);
  guint n_lines = 0;

  for (gsize i = 0; lines && i < length; i++)
    if (string[i] == '\n' && ++n_lines == MAX_LINES)
      return i;
  return length;
}

static void
set_string (QmPlotText *text, const char *string, gboolean lines)
{
  gsize length;

  if (string == NULL)
    string = "";
  length = drawn_length (string, lines);
  if (g_utf8_validate_len (string, length, NULL))
    {
      pango_layout_set_text (text->layout, string, (int) length);
    }
  else
    {
      g_autofree char *valid = g_utf8_make_valid (string, (gssize) length);

      pango_layout_set_text (text->layout, valid, -1);
    }
}

static int
pango_width (double max_width)
{
  return max_width < 0 ? -1 : (int) (CLAMP (max_width, 1, 1e5) * PANGO_SCALE);
}

void
qm_plot_text_set (QmPlotText *text,
                  const char *string,
                  QmPlotFont font,
                  double max_width)
{
  int width = pango_width (max_width);

  if (text->kept != NULL && take_kept (text, string, font, width))
    return;
  set_font (text, font);
  pango_layout_set_attributes (text->layout, NULL);
  pango_layout_set_single_paragraph_mode (text->layout, TRUE);
  pango_layout_set_ellipsize (text->layout, max_width < 0
                                                ? PANGO_ELLIPSIZE_NONE
                                                : PANGO_ELLIPSIZE_END);
  pango_layout_set_width (text->layout, width);
  set_string (text, string, FALSE);
}

void
qm_plot_text_set_lines (QmPlotText *text, const char *string, double max_width)
{
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  PangoAttribute *bold = pango_attr_weight_new (PANGO_WEIGHT_BOLD);

  if (text->kept != NULL)
    renew_layout (text);
  set_font (text, QM_PLOT_FONT_NORMAL);
  pango_layout_set_single_paragraph_mode (text->layout, FALSE);
  pango_layout_set_ellipsize (text->layout, PANGO_ELLIPSIZE_NONE);
  pango_layout_set_wrap (text->layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_width (text->layout, pango_width (max_width));
  set_string (text, string, TRUE);
  bold->end_index =
      (guint) strcspn (pango_layout_get_text (text->layout), "\n");
  pango_attr_list_insert (attributes, bold);
  pango_layout_set_attributes (text->layout, attributes);
}

void
qm_plot_text_get_size (QmPlotText *text, double *width, double *height)
{
  PangoRectangle extents;

  pango_layout_get_extents (text->layout, NULL, &extents);
  *width = pango_units_to_double (extents.width);
  *height = pango_units_to_double (extents.height);
}

void
qm_plot_text_show (QmPlotText *text, cairo_t *cr, double x, double y)
{
  PangoRectangle extents;

  if (qm_plot_svg_text_add (cr, text->layout, x, y))
    return;
  pango_layout_get_extents (text->layout, NULL, &extents);
  cairo_move_to (cr, x - pango_units_to_double (extents.x),
                 y - pango_units_to_double (extents.y));
  pango_cairo_show_layout (cr, text->layout);
  cairo_new_path (cr);
}

double
qm_plot_text_measure (QmPlotText *text, const char *string, QmPlotFont font)
{
  double width;
  double height;

  qm_plot_text_set (text, string, font, -1);
  qm_plot_text_get_size (text, &width, &height);
  return width;
}

double
qm_plot_text_line_height (QmPlotText *text, QmPlotFont font)
{
  double width;
  double height;

  qm_plot_text_set (text, "0", font, -1);
  qm_plot_text_get_size (text, &width, &height);
  return ceil (height);
}
