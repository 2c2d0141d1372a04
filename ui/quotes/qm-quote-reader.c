/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-reader.h"

#include "pricing/fetch/qm-fetch.h"
#include "pricing/pages/qm-page.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define CHUNK (256 * 1024)

struct _QmQuoteReader
{
  GObject parent_instance;

  QmQuoteBook *book;
  GFile *file;   /* or: */
  char *address; /* or nothing: the bytes are there */
  char *name;

  /* Written by the thread that reads, of which there is one at a time. */
  GBytes *bytes;
  char *media_type;
  char *charset;

  GMutex lock; /* of these: */
  gint64 done;
  gint64 total;
};

/* What a thread needs besides the reader. */
typedef struct
{
  QmCsvMapping *mapping;
  char *mappings;
  QmMatcher *matcher; /* NULL: none yet */
  QmRates *rates;     /* NULL: none */
} Job;

G_DEFINE_FINAL_TYPE (QmQuoteReader, qm_quote_reader, G_TYPE_OBJECT)

static void
job_free (Job *job)
{
  g_clear_pointer (&job->mapping, qm_csv_mapping_free);
  qm_matcher_free (job->matcher);
  g_free (job->mappings);
  g_clear_pointer (&job->rates, qm_rates_unref);
  g_free (job);
}

static QmQuoteReader *
new_reader (QmQuoteBook *book)
{
  QmQuoteReader *self = g_object_new (QM_TYPE_QUOTE_READER, NULL);

  self->book = g_object_ref (book);
  return self;
}

QmQuoteReader *
qm_quote_reader_new_for_file (QmQuoteBook *book, GFile *file)
{
  QmQuoteReader *self;
  g_autofree char *base = NULL;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);
  g_return_val_if_fail (G_IS_FILE (file), NULL);

  self = new_reader (book);
  self->file = g_object_ref (file);
  base = g_file_get_basename (file);
  self->name = g_filename_display_name (base != NULL ? base : "");
  return self;
}

QmQuoteReader *
qm_quote_reader_new_for_text (QmQuoteBook *book, const char *text)
{
  QmQuoteReader *self;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);
  g_return_val_if_fail (text != NULL, NULL);

  self = new_reader (book);
  self->bytes = g_bytes_new (text, strlen (text));
  self->name = g_strdup (_ ("Pasted text"));
  return self;
}

QmQuoteReader *
qm_quote_reader_new_for_address (QmQuoteBook *book, const char *address)
{
  QmQuoteReader *self;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);
  g_return_val_if_fail (address != NULL, NULL);

  self = new_reader (book);
  self->address = g_strstrip (g_strdup (address));
  self->name = g_strdup (self->address);
  return self;
}

gboolean
qm_quote_reader_is_address (const char *text)
{
  g_autofree char *stripped = g_strstrip (g_strdup (text != NULL ? text : ""));
  g_autofree char *address = NULL;

  if (strpbrk (stripped, " \t\r\n") != NULL)
    return FALSE;
  address = qm_fetch_check_address (stripped, NULL);
  return address != NULL;
}

const char *
qm_quote_reader_get_name (QmQuoteReader *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_READER (self), NULL);

  return self->name;
}

static void
set_progress (QmQuoteReader *self, gint64 done, gint64 total)
{
  g_mutex_lock (&self->lock);
  self->done = done;
  self->total = total;
  g_mutex_unlock (&self->lock);
}

void
qm_quote_reader_get_progress (QmQuoteReader *self, gint64 *done, gint64 *total)
{
  g_return_if_fail (QM_IS_QUOTE_READER (self));

  g_mutex_lock (&self->lock);
  *done = self->done;
  *total = self->total;
  g_mutex_unlock (&self->lock);
}

static void
fetched_cb (gint64 received, gint64 total, gpointer user_data)
{
  set_progress (user_data, received, total);
}

static gboolean
fetch (QmQuoteReader *self, GCancellable *cancellable, GError **error)
{
  const QmFetchRequest request = { .address = self->address };
  g_autoptr (QmFetcher) fetcher = qm_fetcher_new (NULL);
  g_autoptr (QmFetchResult) result =
      qm_fetcher_fetch (fetcher, &request, fetched_cb, self, cancellable,
                        error);

  if (result == NULL)
    return FALSE;
  self->bytes = g_bytes_ref (result->body);
  self->media_type = g_strdup (result->media_type);
  self->charset = g_strdup (result->charset);
  return TRUE;
}

/* Opens a file; nobody waits for a pipe, which nothing could interrupt. */
static GFileInputStream *
open_file (QmQuoteReader *self, GCancellable *cancellable, GError **error)
{
  GFileType type =
      g_file_query_file_type (self->file, G_FILE_QUERY_INFO_NONE, cancellable);

  if (type == G_FILE_TYPE_SPECIAL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s",
                   _ ("it is not a regular file"));
      return NULL;
    }
  return g_file_read (self->file, cancellable, error);
}

/* At most one byte more than is read of any document: whoever reads it says
 * that it is too large. */
static gboolean
read_file (QmQuoteReader *self, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFileInputStream) stream = open_file (self, cancellable, error);
  g_autoptr (GFileInfo) info = NULL;
  GByteArray *array;
  gint64 size = -1;
  gssize n = 1;

  if (stream == NULL)
    return FALSE;
  info = g_file_input_stream_query_info (stream, G_FILE_ATTRIBUTE_STANDARD_SIZE,
                                         cancellable, NULL);
  if (info != NULL)
    size = g_file_info_get_size (info);
  array = g_byte_array_new ();
  while (n > 0 && array->len <= QM_READ_MAX_CSV_BYTES)
    {
      guint before = array->len;

      g_byte_array_set_size (array, before + CHUNK);
      n = g_input_stream_read (G_INPUT_STREAM (stream), array->data + before,
                               CHUNK, cancellable, error);
      g_byte_array_set_size (array, before + (guint) MAX (n, 0));
      set_progress (self, array->len, size);
    }
  self->bytes = g_byte_array_free_to_bytes (array);
  if (n >= 0)
    return TRUE;
  g_clear_pointer (&self->bytes, g_bytes_unref);
  return FALSE;
}

static void
reader_thread_cb (GTask *task,
                  gpointer source,
                  gpointer task_data,
                  GCancellable *cancellable)
{
  QmQuoteReader *self = source;
  const Job *job = task_data;
  g_autoptr (QmPageRules) rules = qm_page_rules_load_default (NULL);
  QmPageContext page = { .rules = rules };
  QmImportOptions options = {
    .matcher = job->matcher,
    .mapping = job->mapping,
    .mappings = job->mappings,
    .page_data = &page,
    .rates = job->rates,
  };
  QmImport *import = NULL;
  GError *error = NULL;

  if (self->bytes != NULL
      || (self->address != NULL ? fetch (self, cancellable, &error)
                                : read_file (self, cancellable, &error)))
    {
      page.charset = self->charset;
      import = qm_import_bytes (self->bytes, self->name, self->media_type,
                                &options, cancellable, &error);
    }
  if (import != NULL)
    g_task_return_pointer (task, import, (GDestroyNotify) qm_import_free);
  else
    g_task_return_error (task, error);
}

void
qm_quote_reader_read_async (QmQuoteReader *self,
                            const QmCsvMapping *mapping,
                            GCancellable *cancellable,
                            GAsyncReadyCallback callback,
                            gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Job *job;

  g_return_if_fail (QM_IS_QUOTE_READER (self));

  job = g_new0 (Job, 1);
  job->mapping = mapping != NULL ? qm_csv_mapping_copy (mapping) : NULL;
  job->mappings = g_strdup (qm_quote_book_get_mappings (self->book));
  if (qm_quote_book_get_matcher (self->book) != NULL)
    job->matcher = qm_matcher_ref (qm_quote_book_get_matcher (self->book));
  if (qm_quote_book_get_rates (self->book) != NULL)
    job->rates = qm_rates_ref (qm_quote_book_get_rates (self->book));
  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, qm_quote_reader_read_async);
  g_task_set_task_data (task, job, (GDestroyNotify) job_free);
  g_task_run_in_thread (task, reader_thread_cb);
}

QmImport *
qm_quote_reader_read_finish (QmQuoteReader *self,
                             GAsyncResult *result,
                             GError **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

QmQuoteAttachment *
qm_quote_reader_attachment (QmQuoteReader *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_READER (self), NULL);

  return self->bytes != NULL ? qm_quote_attachment_new (self->bytes, self->name,
                                                        self->media_type)
                             : NULL;
}

static void
qm_quote_reader_finalize (GObject *object)
{
  QmQuoteReader *self = QM_QUOTE_READER (object);

  g_clear_object (&self->book);
  g_clear_object (&self->file);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_free (self->address);
  g_free (self->name);
  g_free (self->media_type);
  g_free (self->charset);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (qm_quote_reader_parent_class)->finalize (object);
}

static void
qm_quote_reader_class_init (QmQuoteReaderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_quote_reader_finalize;
}

static void
qm_quote_reader_init (QmQuoteReader *self)
{
  g_mutex_init (&self->lock);
  self->total = -1;
}
