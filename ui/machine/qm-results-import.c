/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-results-import.h"

#include "data/datadir.h"
#include "data/results-adopt.h"
#include "data/results-file.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

char *
qm_results_import_host (const char *file_name)
{
  GString *host = g_string_new (NULL);

  g_return_val_if_fail (file_name != NULL, NULL);

  for (; *file_name != '\0' && *file_name != '.'; file_name++)
    g_string_append_c (host, g_ascii_isalnum (*file_name)
                                     || strchr ("_-", *file_name) != NULL
                                 ? *file_name
                                 : '-');
  return g_string_free (host, FALSE);
}

static gboolean
fail (const QmError *problem, GError **error)
{
  g_autofree char *text =
      problem->line > 0
          /* Translators: number of a line, what is wrong there. */
          ? g_strdup_printf (_ ("line %d: %s"), problem->line, problem->message)
          : g_strdup (problem->message);

  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, text);
  return FALSE;
}

/* Whether a file has the result already, or one that it does not replace. */
static gboolean
has (const QmResultsFile *file, const QmResult *result)
{
  const QmResult *known =
      qm_results_find (qm_results_file_content (file), result->key);

  return known != NULL
         && (strcmp (known->time, result->time) == 0
             || !qm_result_replaces (result, known));
}

/* The results that were measured here, or the others. */
typedef struct
{
  const QmIdentity *here; /* NULL: all */
  gboolean others;
  const QmResults *known; /* are left out; NULL: none */
} Part;

static gboolean
is_of (const Part *part, const QmResult *result)
{
  return part->here == NULL
         || (qm_result_where (result, part->here) != QM_WHERE_HERE)
                == part->others;
}

/* Whether it is there already, as it is. */
static gboolean
is_known (const Part *part, const QmResult *result)
{
  const QmResult *known =
      part->known != NULL ? qm_results_find (part->known, result->key) : NULL;

  return known != NULL && strcmp (known->text, result->text) == 0;
}

static gboolean
add_all (QmResultsFile *file,
         const QmResults *results,
         const Part *part,
         QmResultsImport *import,
         GError **error)
{
  const QmResult *list;
  QmError problem;
  size_t n;

  list = qm_results_list (results, &n);
  for (size_t i = 0; i < n; i++)
    {
      json_t *object;
      QmStatus status;

      if (!is_of (part, &list[i]))
        continue;
      if (is_known (part, &list[i]) || has (file, &list[i]))
        {
          import->present++;
          continue;
        }
      object = json_loads (list[i].text, 0, NULL);
      status = qm_results_append (file, object, &problem);
      json_decref (object);
      if (status != QM_OK)
        return fail (&problem, error);
      import->added++;
    }
  return TRUE;
}

/* Adds a part to the file of a host; a file is not made for nothing. */
static gboolean
add_to_file (const QmResults *results,
             const Part *part,
             const char *host,
             QmResultsImport *import,
             GError **error)
{
  g_autofree char *name = g_strconcat (host, ".jsonl", NULL);
  g_autofree char *path = NULL;
  QmResultsFile *file = NULL;
  char user[PATH_MAX];
  QmError problem;
  gboolean added;
  bool busy;
  size_t n, n_of = 0;
  const QmResult *list = qm_results_list (results, &n);

  for (size_t i = 0; i < n; i++)
    n_of += is_of (part, &list[i]);
  if (n_of == 0)
    return TRUE;

  if (!qm_user_data_dir (user, sizeof user))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s",
                   _ ("There is no home directory to save in"));
      return FALSE;
    }
  path = g_build_filename (user, "measurements", name, NULL);
  if (qm_results_open (path, true, false, &busy, &file, &problem) != QM_OK)
    return fail (&problem, error);
  added = add_all (file, results, part, import, error);
  qm_results_close (file);
  return added;
}

/* What is in a file of a machine that is called like this one is of this one
 * only where it says so. */
static gboolean
add_to_own (const QmResults *results,
            const char *own,
            QmResultsImport *import,
            GError **error)
{
  QmIdentity here;
  QmResults *known = qm_results_new ();
  Part part = { .here = &here };
  guint before;
  gboolean done;

  qm_identity_here (&here);
  done = add_to_file (results, &part, import->host, import, error);
  /* What cannot be read is told where it counts. */
  if (known != NULL)
    qm_results_read (known, own, NULL, NULL, NULL);
  part.others = TRUE;
  part.known = known;
  before = import->added;
  if (done)
    {
      g_autofree char *host = g_strconcat (import->host, "-other", NULL);

      done = add_to_file (results, &part, host, import, error);
      import->other = import->added > before;
    }
  qm_results_free (known);
  return done;
}

static gboolean
add_to_host (const QmResults *results, QmResultsImport *import, GError **error)
{
  g_autofree char *name = g_strconcat (import->host, ".jsonl", NULL);
  g_autofree char *base = NULL;
  const Part all = { .here = NULL };
  char own[PATH_MAX];

  if (!qm_results_default_path (own, sizeof own))
    own[0] = '\0';
  base = g_path_get_basename (own);
  return g_str_equal (name, base)
             ? add_to_own (results, own, import, error)
             : add_to_file (results, &all, import->host, import, error);
}

static gboolean
import_file (const char *path, QmResultsImport *import, GError **error)
{
  QmResults *results = qm_results_new ();
  QmError problem = { 0 };
  gboolean done;
  size_t n;

  if (results == NULL
      || qm_results_read (results, path, NULL, NULL, &problem) != QM_OK)
    done = fail (&problem, error);
  else if (qm_results_list (results, &n), n == 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s",
                   _ ("there is no result in it"));
      done = FALSE;
    }
  else
    done = add_to_host (results, import, error);
  qm_results_free (results);
  return done;
}

static void
import_free (gpointer data)
{
  QmResultsImport *import = data;

  g_free (import->host);
  g_free (import);
}

static void
thread_func (GTask *task,
             gpointer source,
             gpointer data,
             GCancellable *cancellable)
{
  const char *path = g_file_peek_path (source);
  g_autofree char *name = g_file_get_basename (source);
  QmResultsImport *import = g_new0 (QmResultsImport, 1);
  GError *error = NULL;

  import->host = qm_results_import_host (name);
  if (path == NULL)
    g_set_error (&error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "%s",
                 _ ("only files of this computer can be opened"));
  else if (*import->host == '\0')
    g_set_error (&error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME, "%s",
                 _ ("its name does not say of which machine it is"));
  else
    import_file (path, import, &error);
  if (error == NULL)
    {
      g_task_return_pointer (task, import, import_free);
      return;
    }
  import_free (import);
  g_task_return_error (task, error);
}

void
qm_results_import_async (GFile *file,
                         GCancellable *cancellable,
                         GAsyncReadyCallback callback,
                         gpointer data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (G_IS_FILE (file));

  task = g_task_new (file, cancellable, callback, data);
  g_task_set_source_tag (task, qm_results_import_async);
  g_task_run_in_thread (task, thread_func);
}

gboolean
qm_results_import_finish (GAsyncResult *result,
                          QmResultsImport *import,
                          GError **error)
{
  QmResultsImport *done;

  g_return_val_if_fail (G_IS_TASK (result) && import != NULL, FALSE);

  done = g_task_propagate_pointer (G_TASK (result), error);
  if (done == NULL)
    return FALSE;
  *import = *done;
  g_free (done);
  return TRUE;
}
