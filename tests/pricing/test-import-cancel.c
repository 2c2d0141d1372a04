/* SPDX-License-Identifier: Apache-2.0 */

/* An import that is cancelled, at every moment at which its readers look
 * whether it was, and when all is read: the error says so, and there is no
 * table.  GIO's function is replaced here, and so it is known which look it is.
 */

#include "pricing/formats/qm-quote-import.h"
#include "pricing/formats/qm-quote-json.h"
#include "pricing/quotes/qm-quote-read.h"

#include <string.h>

#define HEAD                                                       \
  "From: a@b.example\nSubject: Offer\nMIME-Version: 1.0\n"         \
  "Content-Type: multipart/mixed; boundary=b\n\n"                  \
  "--b\nContent-Type: text/csv\nContent-Disposition: attachment; " \
  "filename=offer.csv\n\n"
#define TABLE                                      \
  "Pos;Description;Qty;Unit price EUR;Total EUR\n" \
  "1;NVIDIA L40S 48GB;2;8,000.00;16,000.00\n"
/* Of which nobody knows what its columns are. */
#define UNNAMED "X1;X2;X3\nNVIDIA L40S 48GB;2;8000.00\nNVIDIA L4;1;2500.00\n"
#define PAGE                                                     \
  "<table><tr><th>Pos</th><th>Description</th><th>Qty</th>"      \
  "<th>Unit price EUR</th><th>Total EUR</th></tr><tr><td>1</td>" \
  "<td>NVIDIA L4 24GB</td><td>3</td><td>2,500.00</td>"           \
  "<td>7,500.00</td></tr></table>\n"

static guint looks;
static guint cancelled_after; /* 0: never */

gboolean
g_cancellable_set_error_if_cancelled (GCancellable *cancellable, GError **error)
{
  gboolean cancelled = g_cancellable_is_cancelled (cancellable);

  if (cancelled)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
  if (cancellable != NULL && ++looks == cancelled_after)
    g_cancellable_cancel (cancellable);
  return cancelled;
}

static QmImport *
read_once (GBytes *bytes, const char *name, guint after, GError **error)
{
  QmImportOptions options = { .now = 1795000000 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();

  looks = 0;
  cancelled_after = after;
  return qm_import_bytes (bytes, name, NULL, &options, cancellable, error);
}

static void
check_each (GBytes *bytes, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = read_once (bytes, name, 0, &error);
  guint n = looks;

  g_assert_no_error (error);
  g_assert_nonnull (import);
  /* Before anything is read, and when all is. */
  g_assert_cmpuint (n, >=, 2);
  for (guint i = 1; i < n; i++)
    {
      g_autoptr (GError) why = NULL;
      g_autoptr (QmImport) none = read_once (bytes, name, i, &why);

      g_test_message ("%s, after look %u of %u", name, i, n);
      g_assert_null (none);
      g_assert_error (why, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

static void
test_text (void)
{
  static const struct
  {
    const char *name;
    const char *text;
  } texts[] = {
    { "offer.csv", TABLE },
    { "unnamed.csv", UNNAMED },
    { "offer.html", PAGE },
    { "offer.eml", HEAD TABLE "--b--\n" },
    { "unnamed.eml", HEAD UNNAMED "--b--\n" },
    { "page.eml", "From: a@b.example\nSubject: Offer\nMIME-Version: 1.0\n"
                  "Content-Type: text/html\n\n" PAGE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GBytes) bytes =
          g_bytes_new_static (texts[i].text, strlen (texts[i].text));

      check_each (bytes, texts[i].name);
    }
}

static void
test_own (void)
{
  g_autoptr (GPtrArray) quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  g_autoptr (GBytes) bytes = NULL;

  g_ptr_array_add (quotes, qm_quote_new ());
  bytes = qm_quote_json_write (quotes);
  check_each (bytes, "mine.json");
}

static void
test_file (gconstpointer data)
{
  g_autofree char *path =
      g_build_filename (g_getenv (g_str_has_suffix (data, ".xml")
                                      ? "QM_SAMPLES_DIR"
                                      : "QM_PROCUREMENT_DIR"),
                        data, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  bytes = g_bytes_new_take (g_steal_pointer (&text), size);
  check_each (bytes, data);
}

/* What is wrong with a document says nothing where nobody wants it any more. */
static void
test_broken (void)
{
  static const char text[] = "{\"quotes\": ";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr (GError) broken = NULL;
  g_autoptr (GError) cancelled = NULL;

  g_assert_null (read_once (bytes, "x.json", 0, &broken));
  g_assert_true (broken->domain == QM_READ_ERROR);
  g_assert_null (read_once (bytes, "x.json", 1, &cancelled));
  g_assert_error (cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* A page's reader that was cancelled while it read, and has a quote. */
static GPtrArray *
read_cancelled_cb (const char *data,
                   gsize size,
                   const char *address,
                   const char *media_type,
                   gpointer user_data,
                   GCancellable *cancellable,
                   GError **error)
{
  GPtrArray *quotes =
      g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);

  g_ptr_array_add (quotes, qm_quote_new ());
  g_cancellable_cancel (cancellable);
  return quotes;
}

static void
test_product (void)
{
  static const char text[] = "<html><p>A card for 2,500.00 EUR</p></html>";
  QmImportOptions options = { .now = 1, .page_reader = read_cancelled_cb };
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  cancelled_after = 0;
  g_assert_null (
      qm_import_bytes (bytes, "x.html", NULL, &options, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  static const char *const files[] = { "four-lines.xml", "br-dolar.xlsx",
                                       "br-frete.ods", "de-mail-anhang.eml" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/import-cancel/text", test_text);
  g_test_add_func ("/import-cancel/own", test_own);
  g_test_add_func ("/import-cancel/broken", test_broken);
  g_test_add_func ("/import-cancel/product", test_product);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_strconcat ("/import-cancel/", files[i], NULL);

      g_test_add_data_func (path, files[i], test_file);
    }
  return g_test_run ();
}
