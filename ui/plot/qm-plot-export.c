/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-export.h"
#include "ui/plot/qm-plot-svg-text.h"
#include "ui/plot/qm-plot-words.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <glib/gi18n-lib.h>
#include <string.h>

#define MIN_SIZE 16
#define MAX_SIZE 16384

gboolean
qm_plot_format_from_name (const char *name, QmPlotFormat *format)
{
  static const struct
  {
    const char *ending;
    QmPlotFormat format;
  } endings[] = {
    { ".png", QM_PLOT_FORMAT_PNG },
    { ".svg", QM_PLOT_FORMAT_SVG },
    { ".pdf", QM_PLOT_FORMAT_PDF },
  };
  const char *ending;

  g_return_val_if_fail (name != NULL && format != NULL, FALSE);

  ending = strrchr (name, '.');
  for (gsize i = 0; ending != NULL && i < G_N_ELEMENTS (endings); i++)
    if (g_ascii_strcasecmp (ending, endings[i].ending) == 0)
      {
        *format = endings[i].format;
        return TRUE;
      }
  return FALSE;
}

static cairo_status_t
append_cb (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *
create_surface (GByteArray *bytes,
                QmPlotFormat format,
                int width,
                int height,
                const QmPlotTheme *theme,
                const QmPlotData *first)
{
  cairo_surface_t *surface;

  switch (format)
    {
    case QM_PLOT_FORMAT_SVG:
      return cairo_svg_surface_create_for_stream (append_cb, bytes, width,
                                                  height);
    case QM_PLOT_FORMAT_PDF:
      surface =
          cairo_pdf_surface_create_for_stream (append_cb, bytes, width, height);
      /* The empty date is left out; otherwise it is the time of day. */
      cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                      "");
      cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR,
                                      "Quartermaster");
      if (first->summary != NULL)
        {
          cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE,
                                          first->title);
          cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_SUBJECT,
                                          first->summary);
        }
      return surface;
    case QM_PLOT_FORMAT_PNG:
    default:
      return cairo_image_surface_create (theme->background.alpha >= 1
                                             ? CAIRO_FORMAT_RGB24
                                             : CAIRO_FORMAT_ARGB32,
                                         width, height);
    }
}

/* The number that stands for `old`: how many others were met before it. */
static guint
renumber (GHashTable *numbers, guint64 old)
{
  gpointer key = GUINT_TO_POINTER ((guint) old);
  gpointer number;

  if (!g_hash_table_lookup_extended (numbers, key, NULL, &number))
    {
      number = GUINT_TO_POINTER (g_hash_table_size (numbers));
      g_hash_table_insert (numbers, key, number);
    }
  return GPOINTER_TO_UINT (number);
}

/* Behind the next word that a number follows; NULL where there is none. */
static const char *
find_number (const char *text)
{
  for (; *text != '\0'; text++)
    {
      if (g_str_has_prefix (text, "surface"))
        return text + strlen ("surface");
      if (g_str_has_prefix (text, "source-"))
        return text + strlen ("source-");
    }
  return NULL;
}

/* Cairo numbers the surfaces of an SVG file ("surface12", "source-12" since
 * 1.17.6) by a counter of the whole process.  Numbers them anew from 0, in the
 * order of the file; texts are not in it yet. */
static GByteArray *
renumber_surfaces (GByteArray *svg)
{
  GByteArray *result = g_byte_array_sized_new (svg->len);
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  const char *rest;
  const char *found;

  g_byte_array_append (svg, (const guint8 *) "", 1);
  rest = (const char *) svg->data;
  while ((found = find_number (rest)) != NULL)
    {
      char digits[16];
      char *end;
      guint64 old;

      g_byte_array_append (result, (const guint8 *) rest,
                           (guint) (found - rest));
      old = g_ascii_strtoull (found, &end, 10);
      rest = end;
      if (end == found)
        continue;
      g_snprintf (digits, sizeof digits, "%u", renumber (numbers, old));
      g_byte_array_append (result, (const guint8 *) digits,
                           (guint) strlen (digits));
    }
  g_byte_array_append (result, (const guint8 *) rest, (guint) strlen (rest));
  g_byte_array_unref (svg);
  return result;
}

/* Puts elements before the end of the document. */
static void
add_elements (GByteArray *svg, const GString *elements)
{
  static const char end[] = "</svg>";
  const char *found = g_strrstr_len ((const char *) svg->data, svg->len, end);

  if (found == NULL)
    return;
  g_byte_array_set_size (svg, (guint) (found - (const char *) svg->data));
  g_byte_array_append (svg, (const guint8 *) elements->str,
                       (guint) elements->len);
  g_byte_array_append (svg, (const guint8 *) "</svg>\n", sizeof end);
}

static gboolean
check_arguments (guint n, int width, int height, GError **error)
{
  if (n == 0)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                           _ ("there is nothing to draw"));
      return FALSE;
    }
  if (width < MIN_SIZE || width > MAX_SIZE || height < MIN_SIZE
      || height > MAX_SIZE)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   /* Translators: width, height, least and greatest size. */
                   _ ("a size of %d × %d is not possible: each must be from %d "
                      "to %d"),
                   width, height, MIN_SIZE, MAX_SIZE);
      return FALSE;
    }
  return TRUE;
}

/* The plots without what is selected and hovered, which is of the window and
 * not of the figure: an array for g_free(). */
static QmPlotData *
without_pointer (const QmPlotData *const *plots, guint n)
{
  QmPlotData *copies = g_new (QmPlotData, n);

  for (guint i = 0; i < n; i++)
    {
      copies[i] = *plots[i];
      copies[i].selected = copies[i].hovered = -1;
      copies[i].hovered_label = NULL;
    }
  return copies;
}

GBytes *
qm_plot_render (const QmPlotData *const *plots,
                guint n,
                QmPlotFormat format,
                int width,
                int height,
                const QmPlotTheme *theme,
                GError **error)
{
  GByteArray *bytes;
  cairo_surface_t *surface;
  cairo_status_t status;
  cairo_t *cr;
  double below;
  g_autoptr (GString) texts = g_string_new (NULL);
  g_autofree QmPlotData *copies = NULL;
  g_autofree const QmPlotData **drawn = NULL;

  g_return_val_if_fail (theme != NULL && (plots != NULL || n == 0), NULL);

  if (!check_arguments (n, width, height, error))
    return NULL;
  copies = without_pointer (plots, n);
  drawn = g_new (const QmPlotData *, n);
  for (guint i = 0; i < n; i++)
    drawn[i] = &copies[i];
  bytes = g_byte_array_new ();
  surface = create_surface (bytes, format, width, height, theme, plots[0]);
  if (format == QM_PLOT_FORMAT_SVG)
    qm_plot_svg_text_keep (surface, texts);
  cr = cairo_create (surface);
  below = qm_plot_words_draw (cr, plots[0]->note, width, height, theme);
  qm_plot_draw_grid (cr, drawn, n, width, height - below, theme);
  cairo_show_page (cr);
  status = cairo_status (cr);
  cairo_destroy (cr);
  if (format == QM_PLOT_FORMAT_PNG && status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream (surface, append_cb, bytes);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_byte_array_unref (bytes);
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                   _ ("the plot cannot be drawn: %s"),
                   cairo_status_to_string (status));
      return NULL;
    }
  if (format == QM_PLOT_FORMAT_SVG)
    {
      bytes = renumber_surfaces (bytes);
      add_elements (bytes, texts);
    }
  qm_plot_words_add (bytes, format, plots[0]->title, plots[0]->summary);
  return g_byte_array_free_to_bytes (bytes);
}

/* Leaves things as they were before the file was opened. */
static void
abandon (GFile *file, GOutputStream *stream, gboolean existed)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  /* Closing puts the new file in the place of an old one, unless it is
   * cancelled; where there was none, what was written stands there already. */
  g_cancellable_cancel (cancelled);
  g_output_stream_close (stream, cancelled, NULL);
  if (!existed)
    g_file_delete (file, NULL, NULL);
}

gboolean
qm_plot_save (const QmPlotData *const *plots,
              guint n,
              GFile *file,
              QmPlotFormat format,
              int width,
              int height,
              const QmPlotTheme *theme,
              GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GFileOutputStream) stream = NULL;
  gboolean existed;

  g_return_val_if_fail (G_IS_FILE (file), FALSE);

  bytes = qm_plot_render (plots, n, format, width, height, theme, error);
  if (bytes == NULL)
    return FALSE;
  existed =
      g_file_query_file_type (file, G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS, NULL)
      != G_FILE_TYPE_UNKNOWN;
  stream = g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, NULL, error);
  if (stream == NULL)
    return FALSE;
  if (g_output_stream_write_all (G_OUTPUT_STREAM (stream),
                                 g_bytes_get_data (bytes, NULL),
                                 g_bytes_get_size (bytes), NULL, NULL, error)
      && g_output_stream_close (G_OUTPUT_STREAM (stream), NULL, error))
    return TRUE;
  abandon (file, G_OUTPUT_STREAM (stream), existed);
  return FALSE;
}
