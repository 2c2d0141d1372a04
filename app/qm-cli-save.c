/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-output.h"
#include "app/qm-cli-save.h"

#include <gio/gio.h>
#include <glib/gi18n-lib.h>

static gboolean
write_stream (GOutputStream *stream, GBytes *bytes, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  return g_output_stream_write_all (stream, data, size, NULL, NULL, error)
         && g_output_stream_close (stream, NULL, error);
}

/* A new file is taken away again where it cannot be written; an old one that is
 * to be replaced stays as it was until the new one is whole. */
static gboolean
write_file (const char *path, GBytes *bytes, gboolean replace, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileOutputStream) stream = NULL;
  g_autoptr (GCancellable) abandon = g_cancellable_new ();
  g_autoptr (GError) trouble = NULL;
  g_autofree char *quoted = qm_cli_quote (path);

  stream = replace ? g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE,
                                     NULL, &trouble)
                   : g_file_create (file, G_FILE_CREATE_NONE, NULL, &trouble);
  if (stream != NULL
      && write_stream (G_OUTPUT_STREAM (stream), bytes, &trouble))
    return TRUE;
  if (stream != NULL)
    {
      g_cancellable_cancel (abandon);
      g_output_stream_close (G_OUTPUT_STREAM (stream), abandon, NULL);
      if (!replace)
        g_file_delete (file, NULL, NULL);
    }
  if (g_error_matches (trouble, G_IO_ERROR, G_IO_ERROR_EXISTS))
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
                 _ ("%s exists already; --force replaces it"), quoted);
  else
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
                 /* Translators: a file, what went wrong. */
                 _ ("cannot write %s: %s"), quoted, trouble->message);
  return FALSE;
}

gboolean
qm_cli_save (GBytes *bytes,
             const char *output,
             gboolean replace,
             GError **error)
{
  gsize size;
  gconstpointer data;

  g_return_val_if_fail (bytes != NULL, FALSE);

  data = g_bytes_get_data (bytes, &size);
  if (output == NULL || g_str_equal (output, "-"))
    return qm_cli_write_bytes (data, size, error);
  return (!replace || qm_cli_check_output (output, error))
         && write_file (output, bytes, replace, error);
}
