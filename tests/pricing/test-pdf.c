/* SPDX-License-Identifier: Apache-2.0 */

/* PDFs that are no quotes, and programs called pdftotext that are none: each is
 * refused in time, with what to do, or is harmless. */

#include "pricing/formats/qm-pdf-child.h"
#include "pricing/formats/qm-pdf-words.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-read.h"
#include "tests/pricing/pdf-maker.h"

#include <glib/gstdio.h>
#include <string.h>
#include <zlib.h>

#define HEAD "#!/bin/sh\n"
/* An answer as it ought to be. */
#define ANSWER(words)                                            \
  "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>\n<doc>\n" \
  "<page width=\"595\" height=\"842\">" words "</page>\n</doc></body></html>"
#define WORD(x, y, text)                                              \
  "<word xMin=\"" #x "\" yMin=\"" #y "\" xMax=\"" #x "9\" yMax=\"" #y \
  "9\">" text "</word>"

/* For those that will not end, in milliseconds. */
#define SHORT 300

static const char pdf[] = "%PDF-1.7\n%%EOF\n";
static char *path_before;

typedef struct
{
  char *folder, *program;
} Fake;

/* Has a script be the only pdftotext there is. */
static void
fake_begin (Fake *fake, gconstpointer script)
{
  g_autofree char *path = NULL;

  fake->folder = g_dir_make_tmp ("qm-pdf-XXXXXX", NULL);
  fake->program = g_build_filename (fake->folder, "pdftotext", NULL);
  g_assert_true (g_file_set_contents (fake->program, script, -1, NULL));
  g_assert_cmpint (g_chmod (fake->program, 0755), ==, 0);
  path = g_strdup_printf ("%s:%s", fake->folder, path_before);
  g_setenv ("PATH", path, TRUE);
}

static void
fake_end (Fake *fake, gconstpointer script)
{
  g_setenv ("PATH", path_before, TRUE);
  g_unlink (fake->program);
  g_assert_cmpint (g_rmdir (fake->folder), ==, 0);
  g_free (fake->program);
  g_free (fake->folder);
}

static GBytes *
run (const char *script, guint most_time, GError **error)
{
  Fake fake;
  gboolean damaged;
  gint64 start = g_get_monotonic_time ();
  GBytes *written;

  fake_begin (&fake, script);
  written =
      qm_pdf_child_run (pdf, strlen (pdf), most_time, &damaged, NULL, error);
  fake_end (&fake, script);
  g_assert_cmpint (g_get_monotonic_time () - start, <,
                   most_time * G_TIME_SPAN_MILLISECOND
                       + 3 * G_TIME_SPAN_SECOND);
  return written;
}

static void
refuse_within (const char *script, guint most_time, int code, const char *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (run (script, most_time, &error));
  g_assert_error (error, QM_READ_ERROR, code);
  if (strstr (error->message, words) == NULL)
    g_error ("“%s” does not say “%s”", error->message, words);
}

static void
refuse (const char *script, int code, const char *words)
{
  refuse_within (script, SHORT, code, words);
}

static void
test_hangs (void)
{
  refuse (HEAD "sleep 60\n", QM_READ_ERROR_TOO_LARGE, "too long");
}

/* It has closed its ends and goes on. */
static void
test_lingers (void)
{
  refuse (HEAD "exec >&- 2>&-\nsleep 60\n", QM_READ_ERROR_TOO_LARGE,
          "too long");
}

/* It has ended, and another that it started holds its ends open. */
static void
test_leaves_one (void)
{
  refuse (HEAD "sleep 60 &\n", QM_READ_ERROR_TOO_LARGE, "too long");
}

static void
test_floods (void)
{
  refuse_within (HEAD "yes '<word>'\n", 10000, QM_READ_ERROR_TOO_LARGE,
                 "too much text");
  refuse (HEAD "yes 'Syntax Error' >&2\n", QM_READ_ERROR_TOO_LARGE, "too long");
}

static void
test_dies (void)
{
  refuse_within (HEAD "exit 1\n", 10000, QM_READ_ERROR_MALFORMED,
                 "not a sound PDF");
  refuse_within (HEAD "kill -SEGV $$\n", 10000, QM_READ_ERROR_MALFORMED,
                 "not a sound PDF");
  refuse_within (HEAD
                 "echo 'Command Line Error: Incorrect password' >&2\nexit 1\n",
                 10000, QM_READ_ERROR_KIND, "password");
  refuse_within (HEAD "exit 3\n", 10000, QM_READ_ERROR_KIND, "copied");
  refuse_within (HEAD "echo 'terminate: std::bad_alloc' >&2\nkill -ABRT $$\n",
                 10000, QM_READ_ERROR_TOO_LARGE, "memory");
}

/* What it may not do: write a file, reach a network, take all memory. */
static void
test_confined (void)
{
  g_autoptr (GBytes) written = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  written = run (HEAD "(echo x >\"$0.x\") 2>/dev/null || echo no file\n"
                      "test -s \"$0.x\" || echo empty\nrm -f \"$0.x\"\n"
                      "ulimit -v; ulimit -n; ulimit -c; cat\n",
                 5000, &error);
  g_assert_no_error (error);
  text =
      g_strndup (g_bytes_get_data (written, NULL), g_bytes_get_size (written));
  g_assert_cmpstr (text, ==,
                   "no file\nempty\n1048576\n64\n0\n%PDF-1.7\n%%EOF\n");
}

/* Whether this system lets a process leave the network. */
static gboolean
may_leave_network (void)
{
  g_autofree char *out = NULL;
  g_autofree char *complaint = NULL;
  int status = 1;

  return g_spawn_command_line_sync ("unshare --user --net true", &out,
                                    &complaint, &status, NULL)
         && status == 0;
}

static void
test_no_network (void)
{
  g_autoptr (GBytes) written = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!may_leave_network ())
    {
      g_test_skip ("this system lets no process leave the network");
      return;
    }
  written = run (HEAD "grep : /proc/self/net/dev\n", 5000, &error);
  g_assert_no_error (error);
  text =
      g_strndup (g_bytes_get_data (written, NULL), g_bytes_get_size (written));
  lines = g_strsplit (g_strstrip (text), "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 1);
  g_assert_nonnull (strstr (lines[0], "lo:"));
}

static gpointer
cancel_soon (gpointer cancellable)
{
  g_usleep (100000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  gboolean damaged;
  GThread *thread;
  Fake fake;

  fake_begin (&fake, HEAD "sleep 60\n");
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_assert_null (qm_pdf_child_run (pdf, strlen (pdf), 5000, &damaged,
                                   cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 3 * G_TIME_SPAN_SECOND);
  g_thread_join (thread);
  fake_end (&fake, NULL);
}

static QmImport *
import_bytes (GBytes *bytes, GError **error)
{
  QmImportOptions options = { .now = 1795000000 };

  return qm_import_bytes (bytes, "offer.pdf", NULL, &options, NULL, error);
}

static void
refuse_bytes (GBytes *bytes, int code, const char *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (import_bytes (bytes, &error));
  g_assert_error (error, QM_READ_ERROR, code);
  if (strstr (error->message, words) == NULL)
    g_error ("“%s” does not say “%s”", error->message, words);
}

static void
test_missing (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (pdf, strlen (pdf));

  g_setenv ("PATH", "/nonexistent", TRUE);
  refuse_bytes (bytes, QM_READ_ERROR_KIND, "poppler-utils");
  g_setenv ("PATH", path_before, TRUE);
}

static void
test_answers (void)
{
  static const struct
  {
    const char *answer;
    int code;
    const char *words;
  } cases[] = {
    { "", QM_READ_ERROR_MALFORMED, "what it should" },
    { "Hello", QM_READ_ERROR_MALFORMED, "what it should" },
    { "<doc>", QM_READ_ERROR_MALFORMED, "what it should" },
    { "</doc><doc>", QM_READ_ERROR_MALFORMED, "what it should" },
    { "<doc><page></doc>", QM_READ_ERROR_MALFORMED, "what it should" },
    { "<doc>&x;</doc>", QM_READ_ERROR_MALFORMED, "what it should" },
    { "<doc></doc>", QM_READ_ERROR_MALFORMED, "no pages" },
    { "<doc><page/></doc>", QM_READ_ERROR_MALFORMED, "no size" },
    { "<doc><page width=\"nan\" height=\"1\"/></doc>", QM_READ_ERROR_MALFORMED,
      "no size" },
    { "<doc><page width=\"1e9\" height=\"1\"/></doc>", QM_READ_ERROR_MALFORMED,
      "no size" },
  };
  g_autoptr (GPtrArray) pages = NULL;
  g_autoptr (GError) error = NULL;
  const QmPdfPage *page;
  static const char good[] = ANSWER (
      WORD (1, 1, "Gra\xef\xac\x81k&amp;\x01") "<flow><block><line>" WORD (
          2, 1, "b\xff") "</line></block></flow><word>c</word>" WORD (3, nan,
                                                                      "d")
          WORD (999, 1, "e") WORD (3, 1, " "));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) problem = NULL;

      g_assert_null (qm_pdf_words_parse (
          cases[i].answer, strlen (cases[i].answer), NULL, &problem));
      g_assert_error (problem, QM_READ_ERROR, cases[i].code);
      if (strstr (problem->message, cases[i].words) == NULL)
        g_error ("“%s” does not say “%s”", problem->message, cases[i].words);
    }
  pages = qm_pdf_words_parse (good, strlen (good), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (pages->len, ==, 1);
  page = g_ptr_array_index (pages, 0);
  g_assert_cmpuint (page->words->len, ==, 2);
  g_assert_cmpstr (g_array_index (page->words, QmPdfWord, 0).text, ==,
                   "Grafik&");
  g_assert_cmpfloat (g_array_index (page->words, QmPdfWord, 1).box.right, ==,
                     29);
}

static gboolean
have_program (void)
{
  g_autofree char *program = g_find_program_in_path ("pdftotext");

  if (program == NULL)
    g_test_skip ("there is no pdftotext");
  return program != NULL;
}

static GBytes *
text_bytes (const char *text)
{
  return g_bytes_new_static (text, strlen (text));
}

/* A PDF of one page with these commands. */
static GBytes *
build_page (GBytes *content,
            const char *catalog,
            const char *trailer,
            const char *more)
{
  GBytes *objects[] = {
    text_bytes (catalog),
    text_bytes ("<< /Type /Pages /Kids [3 0 R] /Count 1 >>"),
    text_bytes ("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
                "/Contents 4 0 R /Resources << /Font << /F << /Type /Font "
                "/Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"),
    g_bytes_ref (content),
    text_bytes (more),
  };
  GBytes *made =
      pdf_build ((GBytes *const *) objects, G_N_ELEMENTS (objects), trailer);

  for (guint i = 0; i < G_N_ELEMENTS (objects); i++)
    g_bytes_unref (objects[i]);
  return made;
}

#define CATALOG "<< /Type /Catalog /Pages 2 0 R >>"

static const char table[] =
    "BT /F 10 Tf 1 0 0 1 50 700 Tm (Description) Tj 1 0 0 1 300 700 Tm (Qty) "
    "Tj "
    "1 0 0 1 400 700 Tm (Price EUR) Tj 1 0 0 1 50 680 Tm (NVIDIA L40S) Tj "
    "1 0 0 1 300 680 Tm (2) Tj 1 0 0 1 400 680 Tm (7000.00) Tj ET";

static GBytes *
build_stream (const char *commands)
{
  g_autofree char *text =
      g_strdup_printf ("<< /Length %u >>\nstream\n%s\nendstream",
                       (guint) strlen (commands), commands);

  return g_bytes_new (text, strlen (text));
}

static void
check_table (GBytes *bytes, guint warnings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = import_bytes (bytes, &error);
  const QmQuote *quote;
  const QmQuoteLine *line;
  guint n = 0;

  g_assert_no_error (error);
  g_assert_cmpint (import->kind, ==, QM_DOCUMENT_PDF);
  g_assert_cmpuint (import->quotes->len, ==, 1);
  quote = g_ptr_array_index (import->quotes, 0);
  g_assert_cmpuint (quote->lines->len, ==, 1);
  line = g_ptr_array_index (quote->lines, 0);
  g_assert_cmpstr (line->description, ==, "NVIDIA L40S");
  g_assert_cmpint (line->quantity_micros, ==, 2 * QM_MICROS_PER_UNIT);
  g_assert_cmpint (line->price_micros, ==, G_GINT64_CONSTANT (7000000000));
  for (guint i = 0; i < quote->findings->len; i++)
    n += ((QmFinding *) g_ptr_array_index (quote->findings, i))->level
         == QM_FINDING_WARNING;
  g_assert_cmpuint (n, ==, warnings);
}

/* Names of what holds for the quote, and their values below them. */
static void
test_names_above (void)
{
  g_autofree char *commands = g_strconcat (
      "BT /F 10 Tf 1 0 0 1 50 760 Tm (Quote Number) Tj 1 0 0 1 200 760 Tm "
      "(Date) "
      "Tj 1 0 0 1 350 760 Tm (Valid until) Tj 1 0 0 1 50 747 Tm (Q-88) Tj "
      "1 0 0 1 200 747 Tm (2026-05-04) Tj 1 0 0 1 350 747 Tm (2026-06-05) Tj "
      "ET\n",
      table, NULL);
  g_autoptr (GBytes) content = build_stream (commands);
  g_autoptr (GBytes) bytes = build_page (content, CATALOG, "", "null");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;
  const QmQuote *quote;

  if (!have_program ())
    return;
  import = import_bytes (bytes, &error);
  g_assert_no_error (error);
  quote = g_ptr_array_index (import->quotes, 0);
  g_assert_cmpstr (quote->number, ==, "Q-88");
  g_assert_cmpint (quote->issued_on.month, ==, 5);
  g_assert_cmpint (quote->valid_until.month, ==, 6);
}

/* What a PDF wants to have done is not done. */
static void
test_scripts (void)
{
  g_autoptr (GBytes) content = build_stream (table);
  g_autoptr (GBytes) plain = NULL;
  g_autoptr (GBytes) scripted = NULL;

  if (!have_program ())
    return;
  plain = build_page (content, CATALOG, "", "null");
  check_table (plain, 0);
  scripted = build_page (
      content,
      "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /Launch /F (touch) "
      "/Next 5 0 R >> /AA << /O 5 0 R >> >>",
      "",
      "<< /S /JavaScript /JS (app.launchURL\\(\"http://127.0.0.1:9/\"\\); "
      "while \\(true\\) {}) >>");
  check_table (scripted, 0);
}

static void
test_locked (void)
{
  g_autoptr (GBytes) content = build_stream (table);
  g_autoptr (GBytes) locked = NULL;

  if (!have_program ())
    return;
  locked = build_page (
      content, CATALOG,
      "/Encrypt 5 0 R /ID [<00112233445566778899aabbccddeeff> "
      "<00112233445566778899aabbccddeeff>]",
      "<< /Filter /Standard /V 1 /R 2 /P -64 /Length 40 "
      "/O <00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff> "
      "/U <ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100> "
      ">>");
  refuse_bytes (locked, QM_READ_ERROR_KIND, "password");
}

static void
test_scanned (void)
{
  g_autoptr (GBytes) scanned = pdf_draw_text (NULL, 2);
  g_autoptr (GBytes) hundred = pdf_draw_text ("x", QM_PDF_MOST_PAGES);
  g_autoptr (GBytes) more = pdf_draw_text ("x", QM_PDF_MOST_PAGES + 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;

  if (!have_program ())
    return;
  refuse_bytes (scanned, QM_READ_ERROR_NO_QUOTE, "only pictures");
  refuse_bytes (more, QM_READ_ERROR_TOO_LARGE, "100 pages");
  import = import_bytes (hundred, &error);
  g_assert_true (error == NULL || error->domain == QM_READ_ERROR);
  g_assert_true (error == NULL || error->code != QM_READ_ERROR_TOO_LARGE);
}

/* A text without a table: the user may say what is what. */
static void
test_letter (void)
{
  g_autoptr (GBytes) letter =
      pdf_draw_text ("Dear customer,\nthe price of 2 cards is 9000 EUR.", 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = NULL;

  if (!have_program ())
    return;
  import = import_bytes (letter, &error);
  g_assert_no_error (error);
  g_assert_true (import->mapping_wanted);
  g_assert_nonnull (import->sample);
  g_assert_cmpstr (qm_sheet_cell (import->sample, 1, 0), ==, "Dear customer,");
}

static void
test_damaged (void)
{
  g_autoptr (GBytes) content = build_stream (table);
  g_autoptr (GBytes) whole = build_page (content, CATALOG, "", "null");
  gsize size;
  const char *data = g_bytes_get_data (whole, &size);

  if (!have_program ())
    return;
  for (gsize cut = 5; cut < size - 6; cut += size / 7)
    {
      g_autoptr (GBytes) part = g_bytes_new (data, cut);
      g_autofree char *text =
          g_strdup_printf ("%.*s\n%%%%EOF", (int) cut, data);
      g_autoptr (GBytes) ended = g_bytes_new (text, strlen (text));
      g_autoptr (GError) error = NULL;
      g_autoptr (QmImport) import = NULL;

      refuse_bytes (part, QM_READ_ERROR_MALFORMED, "its end is missing");
      /* With an end it is what can be saved of it, and that is said. */
      import = import_bytes (ended, &error);
      if (import != NULL)
        check_table (ended, 1);
      else
        g_assert_cmpint (error->domain, ==, QM_READ_ERROR);
    }
}

/* Little that becomes much. */
static void
test_bomb (void)
{
  gsize much = (gsize) 64 << 20;
  g_autofree guint8 *blanks = g_malloc (much);
  uLongf n = compressBound (much);
  g_autofree guint8 *packed = g_malloc (n);
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  g_autofree char *head = NULL;
  g_autoptr (GBytes) content = NULL;
  g_autoptr (GBytes) bomb = NULL;
  g_autoptr (GBytes) written = NULL;
  g_autoptr (GError) error = NULL;
  gint64 start;
  gsize size;
  const char *data;
  gboolean damaged;

  if (!have_program ())
    return;
  for (gsize i = 0; i < much; i++)
    blanks[i] = (guint8) "BT (x) Tj ET\n"[i % 13];
  g_assert_cmpint (compress (packed, &n, blanks, much), ==, Z_OK);
  head =
      g_strdup_printf ("<< /Length %lu /Filter /FlateDecode >>\nstream\n", n);
  g_byte_array_append (stream, (const guint8 *) head, (guint) strlen (head));
  g_byte_array_append (stream, packed, (guint) n);
  g_byte_array_append (stream, (const guint8 *) "\nendstream", 10);
  content = g_bytes_new (stream->data, stream->len);
  bomb = build_page (content, CATALOG, "", "null");
  data = g_bytes_get_data (bomb, &size);
  start = g_get_monotonic_time ();
  written = qm_pdf_child_run (data, size, SHORT, &damaged, NULL, &error);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 3 * G_TIME_SPAN_SECOND);
  g_assert_true (written != NULL || error->domain == QM_READ_ERROR);
}

static void
test_large (void)
{
  gsize size = QM_READ_MAX_BYTES + 1;
  char *data = g_malloc0 (size);
  g_autoptr (GBytes) bytes = NULL;

  memcpy (data, pdf, strlen (pdf));
  bytes = g_bytes_new_take (data, size);
  refuse_bytes (bytes, QM_READ_ERROR_TOO_LARGE, "8 MiB");
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  path_before = g_strdup (g_getenv ("PATH"));
  g_test_add_func ("/pdf/missing", test_missing);
  g_test_add_func ("/pdf/hangs", test_hangs);
  g_test_add_func ("/pdf/lingers", test_lingers);
  g_test_add_func ("/pdf/leaves-one", test_leaves_one);
  g_test_add_func ("/pdf/floods", test_floods);
  g_test_add_func ("/pdf/dies", test_dies);
  g_test_add_func ("/pdf/confined", test_confined);
  g_test_add_func ("/pdf/no-network", test_no_network);
  g_test_add_func ("/pdf/cancelled", test_cancelled);
  g_test_add_func ("/pdf/answers", test_answers);
  g_test_add_func ("/pdf/names-above", test_names_above);
  g_test_add_func ("/pdf/scripts", test_scripts);
  g_test_add_func ("/pdf/locked", test_locked);
  g_test_add_func ("/pdf/scanned", test_scanned);
  g_test_add_func ("/pdf/letter", test_letter);
  g_test_add_func ("/pdf/damaged", test_damaged);
  g_test_add_func ("/pdf/bomb", test_bomb);
  g_test_add_func ("/pdf/large", test_large);
  result = g_test_run ();
  g_free (path_before);
  return result;
}
