/* SPDX-License-Identifier: Apache-2.0 */

/* Documents of any kind; PDFs without a program that reads them. */

#include "tests/fuzz/fuzz-quotes.h"

static GPtrArray *
read_page (const char *data,
           gsize size,
           const char *address,
           const char *media_type,
           gpointer user_data,
           GCancellable *cancellable,
           GError **error)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  QmImportOptions options = { .matcher = shared_matcher (NULL),
                              .page_reader = read_page,
                              .now = 1 };
  GBytes *bytes = g_bytes_new (data, size);
  GError *error = NULL;
  QmImport *import;

  g_setenv ("PATH", "/nonexistent", TRUE);
  import = qm_import_bytes (bytes, "fuzz", NULL, &options, NULL, &error);

  require_outcome (import != NULL, error);
  if (import != NULL)
    {
      require (import->kind == QM_DOCUMENT_PAGE
               || import->mapping_wanted == (import->quotes->len == 0));
      for (guint i = 0; i < import->quotes->len; i++)
        {
          const QmQuote *quote = g_ptr_array_index (import->quotes, i);

          require_quote ((QmQuote *) quote);
          require (quote->source != NULL && quote->sha256 != NULL
                   && quote->read_at != 0);
        }
    }
  qm_import_free (import);
  g_bytes_unref (bytes);
  return 0;
}
