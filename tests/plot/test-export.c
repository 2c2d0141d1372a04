/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "tests/plot/fixture.h"
#include "tests/plot/pdf.h"
#include "ui/plot/qm-plot-export.h"

#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIGHT (qm_plot_theme_light ())

static const QmPlotFormat formats[] = { QM_PLOT_FORMAT_PNG, QM_PLOT_FORMAT_SVG,
                                        QM_PLOT_FORMAT_PDF };

static GBytes *
render_one (const Fixture *fixture, QmPlotFormat format, int width, int height)
{
  const QmPlotData *plots[] = { &fixture->data };
  g_autoptr (GError) error = NULL;
  GBytes *bytes =
      qm_plot_render (plots, 1, format, width, height, LIGHT, &error);

  g_assert_no_error (error);
  g_assert_nonnull (bytes);
  return bytes;
}

static gboolean
contains (GBytes *bytes, const char *text)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  for (gsize i = 0; i + strlen (text) <= size; i++)
    if (memcmp (data + i, text, strlen (text)) == 0)
      return TRUE;
  return FALSE;
}

static void
test_names (void)
{
  QmPlotFormat format;

  g_assert_true (qm_plot_format_from_name ("a.png", &format));
  g_assert_cmpint (format, ==, QM_PLOT_FORMAT_PNG);
  g_assert_true (qm_plot_format_from_name ("/tmp/b.c/plot.SvG", &format));
  g_assert_cmpint (format, ==, QM_PLOT_FORMAT_SVG);
  g_assert_true (qm_plot_format_from_name (".pdf", &format));
  g_assert_cmpint (format, ==, QM_PLOT_FORMAT_PDF);
  g_assert_false (qm_plot_format_from_name ("", &format));
  g_assert_false (qm_plot_format_from_name ("png", &format));
  g_assert_false (qm_plot_format_from_name ("a.png.jpg", &format));
  g_assert_false (qm_plot_format_from_name ("a.png ", &format));
}

/* --- Content ------------------------------------------------------------- */

typedef struct
{
  const unsigned char *data;
  gsize left;
} Reader;

static cairo_status_t
read_cb (void *closure, unsigned char *data, unsigned int length)
{
  Reader *reader = closure;

  if (length > reader->left)
    return CAIRO_STATUS_READ_ERROR;
  memcpy (data, reader->data, length);
  reader->data += length;
  reader->left -= length;
  return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *
read_png (GBytes *bytes)
{
  Reader reader;
  cairo_surface_t *image;

  reader.data = g_bytes_get_data (bytes, &reader.left);
  image = cairo_image_surface_create_from_png_stream (read_cb, &reader);
  g_assert_cmpint (cairo_surface_status (image), ==, CAIRO_STATUS_SUCCESS);
  return image;
}

/* A PNG is what is drawn on the screen, opaque, but for what is pointed at. */
static void
test_png (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  g_autoptr (GBytes) bytes = NULL;
  cairo_surface_t *image, *drawn;
  guint greatest;

  fixture_decorate (fixture);
  bytes = render_one (fixture, QM_PLOT_FORMAT_PNG, 480, 360);
  fixture->data.selected = fixture->data.hovered = -1;
  image = read_png (bytes);
  g_assert_cmpint (cairo_image_surface_get_width (image), ==, 480);
  g_assert_cmpint (cairo_image_surface_get_height (image), ==, 360);
  g_assert_cmpint (cairo_image_surface_get_format (image), ==,
                   CAIRO_FORMAT_RGB24);
  drawn = render (&fixture->data, LIGHT, 480, 360, 1, QM_PLOT_LAYER_ALL);
  for (int y = 0; y < 360; y++)
    for (int x = 0; x < 480; x++)
      g_assert_cmphex (pixel_at (image, x, y) | 0xff000000, ==,
                       pixel_at (drawn, x, y));
  g_assert_cmpuint (compare_images (image, image, 0, &greatest), ==, 0);
  cairo_surface_destroy (image);
  cairo_surface_destroy (drawn);
}

static void
test_transparent_png (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  const QmPlotData *plots[] = { &fixture->data };
  QmPlotTheme theme = *LIGHT;
  g_autoptr (GBytes) bytes = NULL;
  cairo_surface_t *image;

  theme.background.alpha = 0;
  bytes = qm_plot_render (plots, 1, QM_PLOT_FORMAT_PNG, 300, 200, &theme, NULL);
  image = read_png (bytes);
  g_assert_cmphex (pixel_at (image, 2, 2), ==, 0);
  cairo_surface_destroy (image);
}

static void
test_svg (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GMarkupParseContext) context = NULL;
  g_autoptr (GError) error = NULL;
  GMarkupParser parser = { NULL };
  const char *data;
  gsize size;

  fixture_decorate (fixture);
  fixture->data.title = "surface99 <b>\"#surface7\"";
  bytes = render_one (fixture, QM_PLOT_FORMAT_SVG, 480, 360);
  /* Titles, ticks and names can be searched for. */
  g_assert_true (
      contains (bytes, ">surface99 &lt;b&gt;&quot;#surface7&quot;</text>"));
  g_assert_true (contains (bytes, ">Overall cost (USD)</text>"));
  data = g_bytes_get_data (bytes, &size);
  context = g_markup_parse_context_new (&parser, 0, NULL, NULL);
  g_assert_true (
      g_markup_parse_context_parse (context, data, (gssize) size, &error));
  g_assert_no_error (error);
  g_assert_true (g_markup_parse_context_end_parse (context, &error));
  g_assert_true (contains (bytes, "viewBox=\"0 0 480 360\""));
  /* Cairos before 1.17.6 name what a file is made of by a number; from 0. */
  g_assert_true (contains (bytes, "id=\"surface0\"")
                 || !contains (bytes, "id=\"surface"));
  /* Vectors, not an image of pixels. */
  g_assert_false (contains (bytes, "<image"));
}

static void
test_pdf (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  g_autoptr (GBytes) bytes = NULL;
  GString *objects;
  const char *data;
  gsize size;

  bytes = render_one (fixture, QM_PLOT_FORMAT_PDF, 480, 360);
  objects = pdf_objects (bytes);
  data = g_bytes_get_data (bytes, &size);
  g_assert_true (g_str_has_prefix (data, "%PDF-1."));
  g_assert_cmpint (memcmp (data + size - 6, "%%EOF\n", 6), ==, 0);
  g_assert_cmpuint (pdf_count (objects, "[ 0 0 480 360 ]"), >, 0);
  g_assert_cmpuint (pdf_count (objects, "/Creator (Quartermaster)"), ==, 1);
  g_assert_cmpuint (pdf_count (objects, "CreationDate"), ==, 0);
  g_assert_cmpuint (pdf_count (objects, "ModDate"), ==, 0);
  g_string_free (objects, TRUE);
}

/* What is selected and hovered in the window is nothing of the figure. */
static void
test_no_ring (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);

  fixture_decorate (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autoptr (GBytes) plain = NULL;
      g_autoptr (GBytes) pointed = NULL;

      fixture->data.selected = fixture->data.hovered = -1;
      plain = render_one (fixture, formats[i], 480, 360);
      fixture->data.selected = 1;
      fixture->data.hovered = 2;
      fixture->data.hovered_label = "under the pointer";
      pointed = render_one (fixture, formats[i], 480, 360);
      g_assert_true (g_bytes_equal (plain, pointed));
    }
}

/* --- The same bytes ------------------------------------------------------ */

static char *
checksums (void)
{
  g_autoptr (Fixture) one = fixture_new_published (TRUE);
  g_autoptr (Fixture) two = fixture_new_random (500, 9, 2);
  const QmPlotData *plots[] = { &one->data, &two->data };
  GString *sums = g_string_new (NULL);

  fixture_decorate (one);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint n = 1; n <= 2; n++)
      {
        g_autoptr (GBytes) bytes =
            qm_plot_render (plots, n, formats[i], 500, 300, LIGHT, NULL);
        g_autofree char *sum =
            g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);

        g_string_append_printf (sums, "sum %s\n", sum);
      }
  return g_string_free (sums, FALSE);
}

static void
test_twice (void)
{
  g_autofree char *first = checksums ();
  g_autofree char *second = checksums ();

  g_assert_cmpstr (first, ==, second);
}

/* Nor do they depend on what a process has drawn before. */
static void
test_processes (void)
{
  g_autofree char *own = NULL;
  g_autofree char *pattern = NULL;

  if (g_test_subprocess ())
    {
      own = checksums ();
      g_print ("%s", own);
      return;
    }
  g_free (checksums ());
  own = checksums ();
  pattern = g_strdup_printf ("*%s*", own);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout (pattern);
}

/* --- Errors -------------------------------------------------------------- */

static void
assert_refused (guint n, int width, int height)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  const QmPlotData *plots[] = { &fixture->data };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (
          qm_plot_render (plots, n, formats[i], width, height, LIGHT, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
    }
}

static void
test_sizes (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);

  assert_refused (0, 100, 100);
  assert_refused (1, 15, 100);
  assert_refused (1, 100, 15);
  assert_refused (1, 16385, 100);
  assert_refused (1, 100, 16385);
  assert_refused (1, -1, G_MAXINT);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_bytes_unref (render_one (fixture, formats[i], 16, 16));
      g_bytes_unref (render_one (fixture, formats[i], 16384, 16));
      g_bytes_unref (render_one (fixture, formats[i], 16, 16384));
    }
}

static char *
temporary_directory (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("qm-plot-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

static gboolean
save (const char *path, GError **error)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  const QmPlotData *plots[] = { &fixture->data };
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return qm_plot_save (plots, 1, file, QM_PLOT_FORMAT_PNG, 400, 300, LIGHT,
                       error);
}

static guint
count_files (const char *directory)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
test_save (void)
{
  g_autofree char *directory = temporary_directory ();
  g_autofree char *path = g_build_filename (directory, "plot.png", NULL);
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  g_autoptr (GBytes) bytes = render_one (fixture, QM_PLOT_FORMAT_PNG, 400, 300);
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  /* A new file, and one that is there. */
  g_assert_true (save (path, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (path, "old", -1, NULL));
  g_assert_true (save (path, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, g_bytes_get_data (bytes, NULL),
                   g_bytes_get_size (bytes));
  g_assert_cmpuint (count_files (directory), ==, 1);
  g_unlink (path);
  g_rmdir (directory);
}

static void
test_save_nowhere (void)
{
  g_autofree char *directory = temporary_directory ();
  g_autofree char *in_nothing =
      g_build_filename (directory, "none", "plot.png", NULL);
  g_autofree char *in_file =
      g_build_filename (directory, "file", "plot.png", NULL);
  g_autofree char *file = g_build_filename (directory, "file", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (save (in_nothing, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_false (save (in_file, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  g_assert_false (save (directory, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  g_clear_error (&error);
  /* Where the user may not write; nothing is forbidden to root. */
  if (geteuid () != 0)
    {
      g_autofree char *path = g_build_filename (directory, "plot.png", NULL);

      g_chmod (directory, 0500);
      g_assert_false (save (path, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
      g_chmod (directory, 0700);
    }
  g_unlink (file);
  g_rmdir (directory);
}

/* The disk fills up while writing: the old file stays as it was. */
static void
test_save_interrupted (void)
{
  g_autofree char *directory = temporary_directory ();
  g_autofree char *path = g_build_filename (directory, "plot.png", NULL);
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;
  struct rlimit old, small;

  g_assert_true (g_file_set_contents (path, "old", -1, NULL));
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &old), ==, 0);
  small = old;
  small.rlim_cur = 2000;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  g_assert_false (save (path, &error));
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &old), ==, 0);
  signal (SIGXFSZ, SIG_DFL);
  g_assert_nonnull (error);
  g_assert_true (g_file_get_contents (path, &contents, NULL, NULL));
  g_assert_cmpstr (contents, ==, "old");
  g_assert_cmpuint (count_files (directory), ==, 1);
  g_unlink (path);
  g_rmdir (directory);
}

/* --- Small multiples ----------------------------------------------------- */

/* How much of a box is painted. */
static double
painted (cairo_surface_t *image, int left, int top, int width, int height)
{
  guint n = 0;

  for (int y = top; y < top + height; y++)
    for (int x = left; x < left + width; x++)
      n += (pixel_at (image, x, y) & 0xffffff) != 0xffffff;
  return (double) n / width / height;
}

static void
test_grid (void)
{
  g_autoptr (Fixture) fixture = fixture_new_published (TRUE);
  const QmPlotData *plots[12];

  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    plots[i] = &fixture->data;
  for (guint n = 1; n <= G_N_ELEMENTS (plots); n++)
    {
      cairo_surface_t *image =
          cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 900, 700);
      cairo_t *cr = cairo_create (image);

      qm_plot_draw_grid (cr, plots, n, 900, 700, LIGHT);
      g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
      cairo_destroy (cr);
      cairo_surface_flush (image);
      /* The background is everywhere, and something in each quarter. */
      g_assert_cmphex (pixel_at (image, 0, 0), ==, 0xffffffff);
      g_assert_cmphex (pixel_at (image, 899, 699), ==, 0xffffffff);
      g_assert_cmpfloat (painted (image, 0, 0, 450, 350), >, 0.01);
      g_assert_cmpfloat (painted (image, 0, 350, 450, 350), >, 0.01);
      if (n == 9)
        for (int i = 0; i < 9; i++)
          g_assert_cmpfloat (painted (image, i % 3 * 290 + 30, i / 3 * 215 + 50,
                                      280, 200),
                             >, 0.02);
      if (n == 1)
        {
          cairo_surface_t *alone =
              render (&fixture->data, LIGHT, 900, 700, 1, QM_PLOT_LAYER_ALL);
          guint greatest;

          g_assert_cmpuint (compare_images (image, alone, 0, &greatest), ==, 0);
          cairo_surface_destroy (alone);
        }
      cairo_surface_destroy (image);
    }
}

/* Any number on any size, and nothing at all. */
static void
test_grid_sizes (void)
{
  static const double sizes[] = { 1, 16, 40, 150, 800 };
  g_autoptr (Fixture) fixture = fixture_new_published (FALSE);
  const QmPlotData *plots[40];
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 800, 800);
  cairo_t *cr = cairo_create (image);

  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    plots[i] = &fixture->data;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (sizes); j++)
      for (guint n = 0; n <= G_N_ELEMENTS (plots); n += 8)
        qm_plot_draw_grid (cr, plots, n, sizes[i], sizes[j], LIGHT);
  qm_plot_draw_grid (cr, NULL, 0, 100, 100, LIGHT);
  qm_plot_draw_grid (cr, plots, 3, NAN, 100, LIGHT);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_destroy (image);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/export/names", test_names);
  g_test_add_func ("/plot/export/png", test_png);
  g_test_add_func ("/plot/export/transparent-png", test_transparent_png);
  g_test_add_func ("/plot/export/svg", test_svg);
  g_test_add_func ("/plot/export/pdf", test_pdf);
  g_test_add_func ("/plot/export/no-ring", test_no_ring);
  g_test_add_func ("/plot/export/twice", test_twice);
  g_test_add_func ("/plot/export/processes", test_processes);
  g_test_add_func ("/plot/export/sizes", test_sizes);
  g_test_add_func ("/plot/export/save", test_save);
  g_test_add_func ("/plot/export/save-nowhere", test_save_nowhere);
  g_test_add_func ("/plot/export/save-interrupted", test_save_interrupted);
  g_test_add_func ("/plot/grid/numbers", test_grid);
  g_test_add_func ("/plot/grid/sizes", test_grid_sizes);
  return g_test_run ();
}
