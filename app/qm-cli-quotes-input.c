/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-progress.h"
#include "app/qm-cli-quotes-input.h"
#include "app/qm-cli-quotes-private.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-read.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define PIECE 65536

void
qm_cli_input_clear (QmCliInput *input)
{
  g_clear_pointer (&input->bytes, g_bytes_unref);
  g_clear_pointer (&input->name, g_free);
  g_clear_pointer (&input->media_type, g_free);
  g_clear_pointer (&input->charset, g_free);
}

/* Waits until there is something to read. */
static gboolean
wait_for (int fd, GCancellable *cancellable, GError **error)
{
  GPollFD polled[2] = { { .fd = fd, .events = G_IO_IN } };
  guint n = g_cancellable_make_pollfd (cancellable, &polled[1]) ? 2 : 1;

  g_poll (polled, n, -1);
  if (n == 2)
    g_cancellable_release_fd (cancellable);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* Whether there is more than any document of that kind may have. */
static gboolean
is_too_much (const GByteArray *bytes, const char *name)
{
  if (bytes->len <= QM_READ_MAX_BYTES)
    return FALSE;
  if (bytes->len > QM_READ_MAX_CSV_BYTES)
    return TRUE;
  return qm_document_kind ((const char *) bytes->data, bytes->len, name, NULL)
         != QM_DOCUMENT_CSV;
}

/* Returns 0, an errno, or -1 where it was cancelled. */
static int
read_descriptor (int fd,
                 const char *name,
                 GByteArray *bytes,
                 GCancellable *cancellable,
                 GError **error)
{
  guint8 piece[PIECE];

  while (!is_too_much (bytes, name))
    {
      ssize_t n;

      if (!wait_for (fd, cancellable, error))
        return -1;
      n = read (fd, piece, sizeof piece);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n < 0)
        return errno;
      if (n == 0)
        return 0;
      g_byte_array_append (bytes, piece, (guint) n);
    }
  return 0;
}

gboolean
qm_cli_input_read_file (QmCliInput *input,
                        const char *path,
                        GCancellable *cancellable,
                        GError **error)
{
  gboolean is_standard = g_str_equal (path, "-");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree char *quoted = qm_cli_quote (path);
  /* A pipe that nobody writes to must not keep Ctrl-C waiting. */
  int fd = is_standard ? STDIN_FILENO
                       : g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  int problem;

  input->name = is_standard ? g_strdup (_ ("standard input"))
                            : g_filename_display_basename (path);
  problem = fd < 0
                ? errno
                : read_descriptor (fd, input->name, bytes, cancellable, error);
  if (fd >= 0 && !is_standard)
    close (fd);
  if (problem < 0)
    return FALSE;
  if (problem > 0)
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   /* Translators: a file, why not. */
                   _ ("cannot read %s: %s"), quoted, g_strerror (problem));
      return FALSE;
    }
  input->bytes = g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
  return TRUE;
}

void
qm_cli_input_progress (gint64 received, gint64 total, gpointer user_data)
{
  const char *address = user_data;
  g_autofree char *so_far = g_format_size ((guint64) MAX (received, 0));
  g_autofree char *whole = total >= 0 ? g_format_size ((guint64) total) : NULL;
  g_autofree char *line = NULL;

  if (whole != NULL)
    /* Translators: two sizes, an address. */
    line = g_strdup_printf (_ ("%s of %s from %s"), so_far, whole, address);
  else
    /* Translators: a size, an address. */
    line = g_strdup_printf (_ ("%s from %s"), so_far, address);
  qm_cli_progress (line);
}

static gboolean
read_address (QmCliInput *input,
              const char *argument,
              QmFetcher *fetcher,
              GCancellable *cancellable,
              GError **error)
{
  QmFetchRequest request = { .address = argument };
  g_autoptr (QmFetchResult) result = NULL;

  input->name = qm_cli_check_address (argument, error);
  if (input->name == NULL)
    return FALSE;
  result = qm_fetcher_fetch (fetcher, &request, qm_cli_input_progress,
                             input->name, cancellable, error);
  qm_cli_progress (NULL);
  if (result == NULL)
    return FALSE;
  input->bytes = g_bytes_ref (result->body);
  input->media_type = g_strdup (result->media_type);
  input->charset = g_strdup (result->charset);
  return TRUE;
}

gboolean
qm_cli_input_read (QmCliInput *input,
                   const char *argument,
                   QmFetcher *fetcher,
                   GCancellable *cancellable,
                   GError **error)
{
  return qm_cli_is_address (argument)
             ? read_address (input, argument, fetcher, cancellable, error)
             : qm_cli_input_read_file (input, argument, cancellable, error);
}
