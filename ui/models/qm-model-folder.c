/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/models/qm-model-folder.h"

#include "data/csv-table.h"
#include "data/datadir.h"
#include "data/text.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

static void
free_model (QmOwnModel *model)
{
  qm_model_file_clear (&model->file);
  g_free (model->path);
  g_free (model);
}

/* NULL: there is none.  (transfer full) */
static char *
folder_path (void)
{
  char user[PATH_MAX];

  return qm_user_data_dir (user, sizeof user)
             ? g_build_filename (user, "models", NULL)
             : NULL;
}

/* NULL where it cannot be read; the catalog says why.  (transfer full) */
static QmOwnModel *
read_model (const char *path)
{
  QmOwnModel *model = NULL;
  QmModelFile file;
  QmError error;
  char *text;
  size_t length;

  if (qm_text_read_file (path, &text, &length, &error) != QM_OK)
    return NULL;
  if (qm_model_file_parse (text, length, path, &file, &error) == QM_OK)
    {
      model = g_new0 (QmOwnModel, 1);
      model->path = g_strdup (path);
      model->file = file;
    }
  free (text);
  return model;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  const QmOwnModel *first = *(const QmOwnModel *const *) a;
  const QmOwnModel *second = *(const QmOwnModel *const *) b;

  return g_utf8_collate (first->file.name, second->file.name);
}

GPtrArray *
qm_model_folder_list (void)
{
  GPtrArray *models =
      g_ptr_array_new_with_free_func ((GDestroyNotify) free_model);
  g_autofree char *folder = folder_path ();
  g_autoptr (GDir) dir = folder != NULL ? g_dir_open (folder, 0, NULL) : NULL;
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      QmOwnModel *model =
          g_str_has_suffix (name, ".json") ? read_model (path) : NULL;

      if (model != NULL)
        g_ptr_array_add (models, model);
    }
  g_ptr_array_sort (models, compare_names);
  return models;
}

char *
qm_model_folder_make_id (const char *name)
{
  g_autofree char *plain = NULL;
  GString *id = g_string_new (NULL);

  g_return_val_if_fail (name != NULL, NULL);

  plain = g_str_to_ascii (name, NULL);
  for (const char *at = plain; *at != '\0' && id->len < QM_ID_MAX_BYTES; at++)
    if (g_ascii_isalnum (*at) || *at == '.')
      g_string_append_c (id, g_ascii_tolower (*at));
    else if (id->len > 0 && id->str[id->len - 1] != '-' && *at != '?')
      g_string_append_c (id, '-');
  while (id->len > 0 && id->str[id->len - 1] == '-')
    g_string_truncate (id, id->len - 1);
  return g_string_free (id, FALSE);
}

char *
qm_model_folder_path (const char *id)
{
  g_autofree char *folder = folder_path ();
  g_autofree char *name = g_strconcat (id, ".json", NULL);

  return folder != NULL ? g_build_filename (folder, name, NULL) : NULL;
}

/* What the catalog would not read is not written. */
static gboolean
check_text (const char *text, const char *path, GError **error)
{
  QmModelFile file;
  QmError problem;

  if (qm_model_file_parse (text, strlen (text), path, &file, &problem) != QM_OK)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s",
                   problem.message);
      return FALSE;
    }
  qm_model_file_clear (&file);
  return TRUE;
}

/* Writes a file, and the folder that it is in.
 *
 * before: (nullable): the one file that may be there already. */
static gboolean
write_model_file (const char *path,
                  const char *before,
                  const char *text,
                  gssize length,
                  GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  if (g_strcmp0 (path, before) != 0 && g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                   _ ("There is a file “%s” already"), path);
      return FALSE;
    }
  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s",
                   folder, g_strerror (errno));
      return FALSE;
    }
  return g_file_set_contents_full (path, text, length,
                                   G_FILE_SET_CONTENTS_CONSISTENT
                                       | G_FILE_SET_CONTENTS_DURABLE,
                                   0666, error);
}

gboolean
qm_model_folder_write (const char *id,
                       const char *text,
                       const char *before,
                       GError **error)
{
  g_autofree char *path = NULL;

  g_return_val_if_fail (id != NULL && text != NULL, FALSE);

  path = qm_model_folder_path (id);
  if (path == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s",
                   _ ("There is no home directory to save in"));
      return FALSE;
    }
  if (!check_text (text, path, error)
      || !write_model_file (path, before, text, -1, error))
    return FALSE;
  if (before != NULL && g_strcmp0 (path, before) != 0)
    g_unlink (before);
  return TRUE;
}

GBytes *
qm_model_folder_remove (const char *path, GError **error)
{
  g_autoptr (GFile) file = NULL;
  g_autoptr (GBytes) content = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  file = g_file_new_for_path (path);
  content = g_file_load_bytes (file, NULL, NULL, error);
  return content != NULL && g_file_delete (file, NULL, error)
             ? g_steal_pointer (&content)
             : NULL;
}

gboolean
qm_model_folder_restore (const char *path, GBytes *content, GError **error)
{
  gsize length;
  const char *text;

  g_return_val_if_fail (path != NULL && content != NULL, FALSE);

  text = g_bytes_get_data (content, &length);
  return write_model_file (path, NULL, text, (gssize) length, error);
}

guint
qm_model_folder_count_times (const QmCatalog *catalog, const char *id)
{
  const QmMeasurement *all;
  guint count = 0;
  size_t n;

  g_return_val_if_fail (catalog != NULL && id != NULL, 0);

  all = qm_catalog_measurements (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (g_str_equal (all[i].model->id, id))
      count++;
  return count;
}
