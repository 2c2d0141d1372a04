/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-results-import.h"

#include "data/datadir.h"
#include "data/results.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

#define NAMES_TRIED 1000

char *
qm_results_import_folder (void)
{
  char user[PATH_MAX];

  return qm_user_data_dir (user, sizeof user)
             ? g_build_filename (user, "measurements", NULL)
             : NULL;
}

/* How many results a text holds; 0 with an error. */
static guint
count_results (const char *text, gsize length, const char *name, GError **error)
{
  QmResults *results = qm_results_new ();
  QmError problem = { 0 };
  size_t whole, n = 0;

  if (results == NULL)
    qm_error_set (&problem, QM_STATUS_NO_MEMORY, "", 0, 0, "%s",
                  _ ("out of memory"));
  else if (qm_results_parse (results, text, length, name, &whole, &problem)
           == QM_OK)
    qm_results_list (results, &n);
  qm_results_free (results);
  if (problem.status == QM_OK && n > 0)
    return (guint) n;
  if (problem.status == QM_OK)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                         _ ("there is no result in it"));
  else if (problem.line > 0)
    /* Translators: the number of a line, what is wrong in it. */
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, _ ("line %d: %s"),
                 problem.line, problem.message);
  else
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                         problem.message);
  return 0;
}

/* "h200.jsonl", else "h200-2.jsonl" ...; the catalog reads nothing that ends
 * otherwise. */
static GFile *
free_place (const char *folder, GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);

  if (g_str_has_suffix (name, ".jsonl"))
    name[strlen (name) - strlen (".jsonl")] = '\0';
  for (int i = 1; i < NAMES_TRIED; i++)
    {
      g_autofree char *end =
          i > 1 ? g_strdup_printf ("-%d.jsonl", i) : g_strdup (".jsonl");
      g_autofree char *full = g_strconcat (name, end, NULL);
      g_autoptr (GFile) place = g_file_new_build_filename (folder, full, NULL);

      if (!g_file_query_exists (place, NULL))
        return g_steal_pointer (&place);
    }
  return NULL;
}

static gboolean
is_too_large (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFileInfo) info =
      g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE,
                         G_FILE_QUERY_INFO_NONE, cancellable, error);

  if (info == NULL)
    return TRUE;
  if (g_file_info_get_size (info) <= (goffset) QM_RESULTS_MAX_BYTES)
    return FALSE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       _ ("it is larger than 64 MiB"));
  return TRUE;
}

static guint
import (GFile *file,
        const char *folder,
        GCancellable *cancellable,
        GError **error)
{
  g_autofree char *text = NULL;
  g_autofree char *name = g_file_get_basename (file);
  g_autoptr (GFile) place = NULL;
  gsize length;
  guint n;

  if (is_too_large (file, cancellable, error)
      || !g_file_load_contents (file, cancellable, &text, &length, NULL, error))
    return 0;
  n = count_results (text, length, name, error);
  if (n == 0)
    return 0;
  g_mkdir_with_parents (folder, 0777);
  place = free_place (folder, file);
  if (place == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                           _ ("files of that name are there already"));
      return 0;
    }
  return g_file_replace_contents (place, text, length, NULL, FALSE,
                                  G_FILE_CREATE_NONE, NULL, cancellable, error)
             ? n
             : 0;
}

static void
import_thread (GTask *task,
               gpointer source,
               gpointer data,
               GCancellable *cancellable)
{
  GFile *file = g_object_get_data (G_OBJECT (task), "file");
  GError *error = NULL;
  guint n = import (file, data, cancellable, &error);

  if (n > 0)
    g_task_return_int (task, n);
  else
    g_task_return_error (task, error);
}

void
qm_results_import_async (GFile *file,
                         const char *folder,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (G_IS_FILE (file) && folder != NULL);

  task = g_task_new (NULL, cancellable, callback, data);
  g_task_set_source_tag (task, qm_results_import_async);
  g_object_set_data_full (G_OBJECT (task), "file", g_object_ref (file),
                          g_object_unref);
  g_task_set_task_data (task, g_strdup (folder), g_free);
  g_task_run_in_thread (task, import_thread);
}

guint
qm_results_import_finish (GAsyncResult *result, GError **error)
{
  gssize n;

  g_return_val_if_fail (g_task_is_valid (result, NULL), 0);

  n = g_task_propagate_int (G_TASK (result), error);
  return n > 0 ? (guint) n : 0;
}
