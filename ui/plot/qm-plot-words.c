/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-words.h"

#include "ui/plot/qm-plot-text.h"

#include <math.h>
#include <string.h>

#define SCALE     0.85
#define LINES     8
#define SHARE     0.25 /* of the height, at most */
#define PNG_START 33   /* what a PNG file begins with: its name and header */

/* --- below the plots --- */

/* Breaks a note between words.  (transfer full) */
static GPtrArray *
break_note (QmPlotText *text, const char *note, double width)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) words = g_strsplit (note, " ", -1);
  GString *line = g_string_new (NULL);

  for (guint i = 0; words[i] != NULL; i++)
    {
      gsize before = line->len;

      g_string_append_printf (line, before > 0 ? " %s" : "%s", words[i]);
      if (before == 0
          || qm_plot_text_measure (text, line->str, QM_PLOT_FONT_NORMAL)
                 <= width)
        continue;
      g_string_truncate (line, before);
      g_ptr_array_add (lines, g_string_free (line, FALSE));
      line = g_string_new (words[i]);
    }
  g_ptr_array_add (lines, g_string_free (line, FALSE));
  return lines;
}

static void
paint (cairo_t *cr, const QmPlotColor *color)
{
  cairo_set_source_rgba (cr, color->red, color->green, color->blue,
                         color->alpha);
}

double
qm_plot_words_draw (cairo_t *cr,
                    const char *note,
                    double width,
                    double height,
                    const QmPlotTheme *theme)
{
  QmPlotTheme small = *theme;
  QmPlotText text;
  g_autoptr (GPtrArray) lines = NULL;
  double line, margin, taken;

  if (note == NULL)
    return 0;
  small.font_size *= SCALE;
  margin = small.font_size;
  qm_plot_text_init (&text, &small, cr);
  lines = break_note (&text, note, width - 2 * margin);
  line = qm_plot_text_line_height (&text, QM_PLOT_FONT_NORMAL);
  taken = ceil (line * lines->len + margin);
  if (lines->len > LINES || taken > height * SHARE)
    taken = 0;
  else
    {
      paint (cr, &theme->background);
      cairo_rectangle (cr, 0, height - taken, width, taken);
      cairo_fill (cr);
      paint (cr, &theme->faint_text);
      for (guint i = 0; i < lines->len; i++)
        {
          qm_plot_text_set (&text, g_ptr_array_index (lines, i),
                            QM_PLOT_FONT_NORMAL, width - margin);
          qm_plot_text_show (&text, cr, margin, height - taken + line * i);
        }
    }
  qm_plot_text_clear (&text);
  return taken;
}

/* --- for who does not see the figure --- */

static void
add_svg (GByteArray *file, const char *title, const char *summary)
{
  const char *start =
      g_strstr_len ((const char *) file->data, file->len, "<svg ");
  const char *end =
      start != NULL ? memchr (start, '>',
                              file->len - (gsize) (start - (char *) file->data))
                    : NULL;
  g_autoptr (GString) whole = NULL;
  g_autofree char *words = NULL;
  gsize head;

  if (end == NULL)
    return;
  head = (gsize) (end + 1 - (const char *) file->data);
  words = g_markup_printf_escaped ("\n<title>%s</title>\n<desc>%s</desc>",
                                   title, summary);
  whole = g_string_new_len ((const char *) file->data + head,
                            (gssize) (file->len - head));
  g_string_prepend (whole, words);
  g_byte_array_set_size (file, (guint) head);
  g_byte_array_append (file, (const guint8 *) whole->str, (guint) whole->len);
}

/* The check of a chunk of PNG (its specification, annex D). */
static guint32
crc_of (const guint8 *bytes, gsize length)
{
  guint32 crc = 0xffffffff;

  for (gsize i = 0; i < length; i++)
    {
      crc ^= bytes[i];
      for (int bit = 0; bit < 8; bit++)
        crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
  return ~crc;
}

static void
put_number (GByteArray *bytes, guint32 number)
{
  guint32 big = GUINT32_TO_BE (number);

  g_byte_array_append (bytes, (const guint8 *) &big, sizeof big);
}

/* A chunk of international text, not compressed, in no language in particular.
 */
static void
put_text (GByteArray *bytes, const char *key, const char *text)
{
  g_autoptr (GByteArray) chunk = g_byte_array_new ();
  static const guint8 plain[5] = { 0 };

  g_byte_array_append (chunk, (const guint8 *) "iTXt", 4);
  g_byte_array_append (chunk, (const guint8 *) key, (guint) strlen (key));
  g_byte_array_append (chunk, plain, sizeof plain);
  g_byte_array_append (chunk, (const guint8 *) text, (guint) strlen (text));
  put_number (bytes, chunk->len - 4);
  g_byte_array_append (bytes, chunk->data, chunk->len);
  put_number (bytes, crc_of (chunk->data, chunk->len));
}

static void
add_png (GByteArray *file, const char *title, const char *summary)
{
  g_autoptr (GByteArray) rest = g_byte_array_new ();

  if (file->len < PNG_START)
    return;
  g_byte_array_append (rest, file->data + PNG_START, file->len - PNG_START);
  g_byte_array_set_size (file, PNG_START);
  put_text (file, "Title", title);
  put_text (file, "Description", summary);
  g_byte_array_append (file, rest->data, rest->len);
}

void
qm_plot_words_add (GByteArray *file,
                   QmPlotFormat format,
                   const char *title,
                   const char *summary)
{
  if (title == NULL || summary == NULL)
    return;
  if (format == QM_PLOT_FORMAT_SVG)
    add_svg (file, title, summary);
  else if (format == QM_PLOT_FORMAT_PNG)
    add_png (file, title, summary);
}
