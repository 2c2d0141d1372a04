/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-svg-text.h"

#include <math.h>

static const cairo_user_data_key_t key;

void
qm_plot_svg_text_keep (cairo_surface_t *surface, GString *elements)
{
  cairo_surface_set_user_data (surface, &key, elements, NULL);
}

/* Whether XML has a character for each. */
static gboolean
is_writable (const char *text)
{
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c < ' ' || c == 0x7f || c == 0xfffe || c == 0xffff)
        return FALSE;
    }
  return TRUE;
}

static void
add_number (GString *out, const char *name, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (digits, sizeof digits, "%.3f", value);
  g_string_append_printf (out, " %s=\"%s\"", name, digits);
}

static void
add_matrix (GString *out, cairo_t *cr)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  cairo_matrix_t m;
  double parts[6];

  cairo_get_matrix (cr, &m);
  parts[0] = m.xx;
  parts[1] = m.yx;
  parts[2] = m.xy;
  parts[3] = m.yy;
  parts[4] = m.x0;
  parts[5] = m.y0;
  g_string_append (out, " transform=\"matrix(");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_ascii_formatd (digits, sizeof digits, "%.4f", parts[i]);
      g_string_append_printf (out, "%s%s", i > 0 ? " " : "", digits);
    }
  g_string_append (out, ")\"");
}

/* Returns FALSE where the source is not one colour. */
static gboolean
add_colour (GString *out, cairo_t *cr)
{
  double red, green, blue, alpha;

  if (cairo_pattern_get_rgba (cairo_get_source (cr), &red, &green, &blue,
                              &alpha)
      != CAIRO_STATUS_SUCCESS)
    return FALSE;
  g_string_append_printf (out, " fill=\"#%02x%02x%02x\"",
                          (guint) lround (CLAMP (red, 0, 1) * 255),
                          (guint) lround (CLAMP (green, 0, 1) * 255),
                          (guint) lround (CLAMP (blue, 0, 1) * 255));
  if (alpha < 1)
    add_number (out, "fill-opacity", alpha);
  return TRUE;
}

static void
add_font (GString *out, PangoLayout *layout)
{
  const PangoFontDescription *font = pango_layout_get_font_description (layout);
  g_autofree char *family = NULL;

  if (font == NULL)
    font =
        pango_context_get_font_description (pango_layout_get_context (layout));
  family = g_markup_escape_text (pango_font_description_get_family (font), -1);
  g_string_append_printf (out, " font-family=\"%s\"", family);
  add_number (out, "font-size",
              pango_font_description_get_size (font) / (double) PANGO_SCALE);
  if (pango_font_description_get_weight (font) >= PANGO_WEIGHT_BOLD)
    g_string_append (out, " font-weight=\"bold\"");
}

gboolean
qm_plot_svg_text_add (cairo_t *cr, PangoLayout *layout, double x, double y)
{
  GString *out =
      cairo_surface_get_user_data (cairo_get_group_target (cr), &key);
  const char *text = pango_layout_get_text (layout);
  g_autoptr (GString) element = NULL;
  g_autofree char *escaped = NULL;
  PangoRectangle extents;

  if (out == NULL || pango_layout_get_line_count (layout) != 1
      || pango_layout_is_ellipsized (layout)
      || pango_layout_get_attributes (layout) != NULL || !is_writable (text))
    return FALSE;
  if (*text == '\0')
    return TRUE;
  pango_layout_get_extents (layout, NULL, &extents);
  element = g_string_new ("<text xml:space=\"preserve\"");
  add_matrix (element, cr);
  add_number (element, "x", x);
  add_number (element, "y",
              y
                  + (pango_layout_get_baseline (layout) - extents.y)
                        / (double) PANGO_SCALE);
  /* No wider than it was measured, whatever the reader's fonts. */
  add_number (element, "textLength", extents.width / (double) PANGO_SCALE);
  g_string_append (element, " lengthAdjust=\"spacingAndGlyphs\"");
  add_font (element, layout);
  if (!add_colour (element, cr))
    return FALSE;
  escaped = g_markup_escape_text (text, -1);
  g_string_append_printf (out, "%s>%s</text>\n", element->str, escaped);
  return TRUE;
}
