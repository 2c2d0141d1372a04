/* SPDX-License-Identifier: Apache-2.0 */

/* The page of a report, drawn without a display. */

#include "tests/plot/pdf.h"
#include "ui/advisor/qm-report.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#define A4_WIDTH  523.0 /* points within common margins */
#define A4_HEIGHT 770.0

static const QmDate today = { 2026, 10, 1 };
static QmCatalog *catalog;

static QmReport *
report_on (QmAdvisor *advisor, const char *models)
{
  g_auto (GStrv) list = g_strsplit (models, " ", -1);

  g_object_set (advisor, "models", list, NULL);
  return qm_report_new (advisor, today);
}

/* Draws on paper of an unlimited size, to see what leaves the page. */
static guint
draw (const QmReport *report,
      double width,
      double height,
      cairo_rectangle_t *ink)
{
  cairo_surface_t *surface =
      cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
  cairo_t *cr = cairo_create (surface);
  guint shown = qm_report_draw (report, cr, width, height);

  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_recording_surface_ink_extents (surface, &ink->x, &ink->y, &ink->width,
                                       &ink->height);
  cairo_surface_destroy (surface);
  return shown;
}

static void
test_fits_a_page (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (catalog);
  g_autoptr (QmReport) report = report_on (advisor, "pythia-1b");
  cairo_rectangle_t ink;

  g_assert_cmpuint (draw (report, A4_WIDTH, A4_HEIGHT, &ink), ==, 16);
  g_assert_cmpfloat (ink.x, >=, -1);
  g_assert_cmpfloat (ink.y, >=, -1);
  g_assert_cmpfloat (ink.x + ink.width, <=, A4_WIDTH + 1);
  g_assert_cmpfloat (ink.y + ink.height, <=, A4_HEIGHT + 1);
  /* It is a page, not a stamp. */
  g_assert_cmpfloat (ink.width, >, A4_WIDTH * 0.9);
  g_assert_cmpfloat (ink.height, >, A4_HEIGHT * 0.5);
}

static void
test_many_topics (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (catalog);
  g_autoptr (QmReport) report =
      report_on (advisor, "pythia-160m pythia-410m pythia-1b pythia-2.8b "
                          "pythia-6.9b roberta-large mamba-2.8b "
                          "convnext-xlarge vit-large");
  cairo_rectangle_t ink;
  guint shown = draw (report, A4_WIDTH, A4_HEIGHT, &ink);

  g_assert_cmpuint (qm_advisor_get_n_topics (advisor), ==, 9);
  g_assert_cmpuint (shown, >, 10);
  g_assert_cmpuint (shown, <, 9 * 16);
  g_assert_cmpfloat (ink.y + ink.height, <=, A4_HEIGHT + 1);
}

/* A page about one candidate has its settings, and is one. */
static void
test_taken (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (catalog);
  g_autoptr (QmReport) report = report_on (advisor, "pythia-1b");
  g_autoptr (GString) settings = g_string_new (NULL);
  g_autoptr (GBytes) pdf = NULL;
  cairo_rectangle_t before, after;
  GString *objects;

  draw (report, A4_WIDTH, A4_HEIGHT, &before);
  for (int i = 0; i < 40; i++)
    g_string_append_printf (settings, "  \"field_%d\": %d,\n", i, i);
  qm_report_take (report, 0, 3, "Settings for Transformers", settings->str);
  g_assert_cmpuint (draw (report, A4_WIDTH, A4_HEIGHT, &after), >, 0);
  g_assert_cmpfloat (after.y + after.height, <=, A4_HEIGHT + 1);
  g_assert_cmpfloat (after.x + after.width, <=, A4_WIDTH + 1);

  /* However long they are. */
  for (int i = 0; i < 400; i++)
    g_string_append (settings, "more\n");
  qm_report_take (report, 0, 3, "Settings", settings->str);
  draw (report, A4_WIDTH, A4_HEIGHT, &after);
  g_assert_cmpfloat (after.y + after.height, <=, A4_HEIGHT + 1);

  pdf = qm_report_pdf (report);
  objects = pdf_objects (pdf);
  g_assert_true (g_str_has_prefix (objects->str, "%PDF-"));
  g_assert_cmpuint (pdf_count (objects, "/Type /Page"), ==,
                    1 + pdf_count (objects, "/Type /Pages"));
  g_string_free (objects, TRUE);
}

/* What finds no room is left out; nothing breaks on any paper. */
static void
test_sizes (void)
{
  static const double sizes[] = { 1, 20, 60, 150, 400, 2000 };
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (catalog);
  g_autoptr (QmReport) report = report_on (advisor, "pythia-1b");
  guint shown[G_N_ELEMENTS (sizes)];

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (sizes); j++)
      {
        cairo_rectangle_t ink;

        shown[j] = draw (report, sizes[i], sizes[j], &ink);
        g_assert_cmpfloat (ink.x + ink.width, <=, sizes[i] + 1);
        g_assert_cmpfloat (ink.y + ink.height, <=, sizes[j] + 1);
        g_assert_cmpuint (shown[j], <=, 16);
      }
  g_assert_cmpuint (shown[0], ==, 0);
  g_assert_cmpuint (shown[G_N_ELEMENTS (sizes) - 1], ==, 16);
}

static GBytes *
pixels (const QmReport *report)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) A4_WIDTH,
                                  (int) A4_HEIGHT);
  cairo_t *cr = cairo_create (surface);
  GBytes *bytes;

  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_paint (cr);
  qm_report_draw (report, cr, A4_WIDTH, A4_HEIGHT);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  bytes = g_bytes_new (cairo_image_surface_get_data (surface),
                       (gsize) cairo_image_surface_get_stride (surface)
                           * (gsize) A4_HEIGHT);
  cairo_surface_destroy (surface);
  return bytes;
}

/* The page shows what was asked, and the same again for the same. */
static void
test_shows_the_question (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (catalog);
  g_autoptr (QmReport) first = report_on (advisor, "pythia-1b");
  g_autoptr (QmReport) again = report_on (advisor, "pythia-1b");
  g_autoptr (GBytes) a = pixels (first);
  g_autoptr (GBytes) b = pixels (again);
  g_autoptr (QmReport) richer = NULL;
  g_autoptr (GBytes) c = NULL;

  g_assert_true (g_bytes_equal (a, b));
  g_object_set (advisor, "budget", 130000.0, NULL);
  richer = report_on (advisor, "pythia-1b");
  c = pixels (richer);
  g_assert_false (g_bytes_equal (a, c));
}

/* It lists what was asked of GPUs to use, though nothing is known of them. */
static void
test_lists_uses (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (catalog);
  g_autoptr (QmReport) without = report_on (advisor, "pythia-1b");
  g_autoptr (GBytes) a = pixels (without);
  QmUse use = { (char *) "mi300x", 16, 62500, 24 };
  g_autoptr (QmReport) with = NULL;
  g_autoptr (QmReport) full = NULL;
  g_autoptr (GBytes) b = NULL;
  cairo_rectangle_t ink;

  qm_advisor_add_use (advisor, &use);
  with = report_on (advisor, "pythia-1b");
  g_assert_false (qm_advisor_use_has_time (advisor, 0));
  b = pixels (with);
  g_assert_false (g_bytes_equal (a, b));

  /* However many they are, they leave no page. */
  for (use.gpus = 1; use.gpus < QM_USES_MAX; use.gpus++)
    qm_advisor_add_use (advisor, &use);
  full = report_on (advisor, "pythia-1b");
  draw (full, A4_WIDTH, A4_HEIGHT, &ink);
  g_assert_cmpfloat (ink.x + ink.width, <=, A4_WIDTH + 1);
  g_assert_cmpfloat (ink.y + ink.height, <=, A4_HEIGHT + 1);
}

/* The words of its PDF document, one space apart.  (transfer full) */
static char *
words_of (const QmReport *report)
{
  g_autoptr (GBytes) pdf = qm_report_pdf (report);
  g_autoptr (GBytes) text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child =
      g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE
                            | G_SUBPROCESS_FLAGS_STDOUT_PIPE,
                        &error, "pdftotext", "-enc", "UTF-8", "-", "-", NULL);
  g_auto (GStrv) words = NULL;
  g_autofree char *read = NULL;
  gsize length;

  g_assert_no_error (error);
  g_subprocess_communicate (child, pdf, NULL, &text, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (child));
  read = g_bytes_unref_to_data (g_steal_pointer (&text), &length);
  words = g_regex_split_simple ("[\\s\\x{a0}\\x{202f}]+", read, 0, 0);
  return g_strjoinv (" ", words);
}

/* What renting costs in place of what is recommended; not as in the paper,
 * which rents nothing. */
static void
test_tells_of_renting (void)
{
  g_autoptr (QmAdvisor) advisor = qm_advisor_new (catalog);
  g_autoptr (QmReport) report = NULL;
  g_autoptr (QmReport) paper = NULL;
  g_autofree char *pdftotext = g_find_program_in_path ("pdftotext");
  g_autofree char *words = NULL;
  g_autofree char *of_paper = NULL;

  if (pdftotext == NULL)
    {
      g_test_skip ("there is no pdftotext");
      return;
    }
  report = report_on (advisor, "pythia-1b");
  words = words_of (report);
  g_test_message ("%s", words);
  g_assert_nonnull (strstr (words, "in use for 50 % of all hours, costs $"));
  g_assert_nonnull (strstr (words, "reserved for months"));
  g_object_set (advisor, "as-in-paper", TRUE, NULL);
  paper = report_on (advisor, "pythia-1b");
  of_paper = words_of (paper);
  g_assert_nonnull (strstr (of_paper, "Pythia (1B)"));
  g_assert_null (strstr (of_paper, "Renting"));
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  if (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL, &catalog, NULL)
      != QM_OK)
    g_error ("there is no catalog in QM_TEST_DATA_DIR");
  g_test_add_func ("/report/fits-a-page", test_fits_a_page);
  g_test_add_func ("/report/many-topics", test_many_topics);
  g_test_add_func ("/report/taken", test_taken);
  g_test_add_func ("/report/sizes", test_sizes);
  g_test_add_func ("/report/shows-the-question", test_shows_the_question);
  g_test_add_func ("/report/lists-uses", test_lists_uses);
  g_test_add_func ("/report/tells-of-renting", test_tells_of_renting);
  result = g_test_run ();
  qm_catalog_free (catalog);
  return result;
}
