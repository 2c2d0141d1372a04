/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-elsewhere.h"

#include "data/csv-table.h"
#include "data/datadir.h"
#include "ui/machine/qm-bench-process.h"
#include "ui/models/qm-model-folder.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

QmElsewhere *
qm_elsewhere_new (void)
{
  return g_new0 (QmElsewhere, 1);
}

void
qm_elsewhere_free (QmElsewhere *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->models);
  g_free (self->methods);
  g_free (self->device);
  g_free (self->library);
  g_free (self->partition);
  g_free (self->account);
  g_free (self->gpus);
  g_free (self);
}

gboolean
qm_elsewhere_is_word (const char *text)
{
  g_return_val_if_fail (text != NULL, FALSE);

  if (*text == '\0' || *text == '-' || strlen (text) > 128)
    return FALSE;
  for (; *text != '\0'; text++)
    if (!g_ascii_isalnum (*text) && strchr ("_.,:@+-", *text) == NULL)
      return FALSE;
  return TRUE;
}

/* Nothing that could be read as something else gets into a script. */
static gboolean
check (const QmElsewhere *self, GError **error)
{
  const char *const words[] = { self->methods, self->device, self->partition,
                                self->account, self->gpus };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i] != NULL && !qm_elsewhere_is_word (words[i]))
      {
        g_autofree char *shown = g_strescape (words[i], NULL);

        /* Translators: what somebody typed. */
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                     _ ("“%s” cannot stand in a script"), shown);
        return FALSE;
      }
  for (guint i = 0; self->models[i] != NULL; i++)
    if (qm_id_problem (self->models[i]) != NULL)
      {
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                     _ ("A model has no identifier that can be used"));
        return FALSE;
      }
  return TRUE;
}

static gboolean
write_file (const char *folder,
            const char *name,
            const char *text,
            int mode,
            GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return g_file_set_contents_full (path, text, -1,
                                   G_FILE_SET_CONTENTS_CONSISTENT, mode, error)
         && g_chmod (path, (mode_t) mode) == 0;
}

/* How far the writing is. */
typedef struct
{
  QmElsewhereProgress tell;
  gpointer data;
  guint64 before, of;
  GCancellable *cancellable;
} Copying;

static void
copied_cb (goffset done, goffset of, gpointer data)
{
  Copying *copying = data;

  if (copying->tell != NULL)
    copying->tell (copying->before + (guint64) done, copying->of,
                   copying->data);
}

static gboolean
copy_file (const char *from,
           const char *folder,
           const char *name,
           Copying *copying,
           GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GFile) source = g_file_new_for_path (from);
  g_autoptr (GFile) target = g_file_new_for_path (path);
  GStatBuf facts;

  if (!g_file_copy (source, target, G_FILE_COPY_NONE, copying->cancellable,
                    copied_cb, copying, error))
    return FALSE;
  if (g_stat (path, &facts) == 0)
    copying->before += (guint64) facts.st_size;
  return TRUE;
}

static gboolean
make_folder (const char *path, GError **error)
{
  if (g_mkdir (path, 0777) == 0)
    return TRUE;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", path,
               g_strerror (errno));
  return FALSE;
}

/* The program, what it is linked with that a bare node may not have, and the
 * library of products where it is to be taken along. */
static gboolean
copy_program (const QmElsewhere *self,
              const char *folder,
              Copying *copying,
              GError **error)
{
  g_autofree char *program = qm_bench_find ();
  g_autofree char *place = g_build_filename (folder, "lib", NULL);
  g_autoptr (GPtrArray) libraries =
      qm_elsewhere_libraries (self, program, error);

  if (libraries == NULL
      || !copy_file (program, folder, "qm-bench", copying, error)
      || !make_folder (place, error))
    return FALSE;
  for (guint i = 0; i < libraries->len; i++)
    {
      const char *path = g_ptr_array_index (libraries, i);
      g_autofree char *name = g_path_get_basename (path);

      if (!copy_file (path, place, name, copying, error))
        return FALSE;
    }
  return TRUE;
}

/* The file of a model: the user's, whatever it is called, goes before the
 * shipped one.  (transfer full) */
static char *
find_model (const char *shipped, GPtrArray *own, const char *id)
{
  g_autofree char *name = g_strconcat (id, ".json", NULL);

  for (guint i = 0; i < own->len; i++)
    {
      const QmOwnModel *model = g_ptr_array_index (own, i);

      if (strcmp (model->file.id, id) == 0)
        return g_strdup (model->path);
    }
  return g_build_filename (shipped, "models", name, NULL);
}

/* The user's own GPUs, where the program looks for them there. */
static gboolean
copy_own_gpus (const char *folder, Copying *copying, GError **error)
{
  g_autofree char *state = g_build_filename (folder, "state", NULL);
  g_autofree char *place = g_build_filename (state, "quartermaster", NULL);
  g_autofree char *path = NULL;
  char user[PATH_MAX];

  if (!qm_user_data_dir (user, sizeof user))
    return TRUE;
  path = g_build_filename (user, "gpus.csv", NULL);
  return !g_file_test (path, G_FILE_TEST_IS_REGULAR)
         || (make_folder (state, error) && make_folder (place, error)
             && copy_file (path, place, "gpus.csv", copying, error));
}

static gboolean
copy_data (const QmElsewhere *self,
           const char *folder,
           Copying *copying,
           GError **error)
{
  static const char *const tables[] = { "gpus.csv", "machines.csv",
                                        "prices.csv" };
  g_autofree char *data = g_build_filename (folder, "data", NULL);
  g_autofree char *models = g_build_filename (data, "models", NULL);
  g_autoptr (GPtrArray) own = qm_model_folder_list ();
  char shipped[PATH_MAX];

  if (!qm_data_dir (shipped, sizeof shipped) || !make_folder (data, error)
      || !make_folder (models, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autofree char *path = g_build_filename (shipped, tables[i], NULL);

      if (!copy_file (path, data, tables[i], copying, error))
        return FALSE;
    }
  for (guint i = 0; self->models[i] != NULL; i++)
    {
      g_autofree char *name = g_strconcat (self->models[i], ".json", NULL);
      g_autofree char *path = find_model (shipped, own, self->models[i]);

      if (!copy_file (path, models, name, copying, error))
        return FALSE;
    }
  return copy_own_gpus (folder, copying, error);
}

static gboolean
fill_folder (const QmElsewhere *self,
             const char *folder,
             Copying *copying,
             GError **error)
{
  g_autofree char *script = NULL;
  g_autofree char *readme = NULL;
  g_autofree char *job = NULL;
  QmElsewhereNeeds needs;

  if (!qm_elsewhere_find_needs (self, &needs, copying->cancellable, error))
    return FALSE;
  script = qm_elsewhere_script (self, &needs);
  readme = qm_elsewhere_readme (self, &needs);
  job = self->slurm ? qm_elsewhere_job (self, &needs) : NULL;
  return copy_program (self, folder, copying, error)
         && copy_data (self, folder, copying, error)
         && write_file (folder, "run.sh", script, 0755, error)
         && write_file (folder, "README", readme, 0644, error)
         && (job == NULL
             || write_file (folder, "job.sbatch", job, 0755, error));
}

/* Removes what fill_folder() made of it. */
static void
remove_folder (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *entry = g_build_filename (path, name, NULL);

      if (g_file_test (entry, G_FILE_TEST_IS_DIR)
          && !g_file_test (entry, G_FILE_TEST_IS_SYMLINK))
        remove_folder (entry);
      else
        g_unlink (entry);
    }
  g_rmdir (path);
}

gboolean
qm_elsewhere_write (const QmElsewhere *self,
                    const char *path,
                    QmElsewhereProgress progress,
                    gpointer data,
                    GCancellable *cancellable,
                    GError **error)
{
  Copying copying = { .tell = progress,
                      .data = data,
                      .of = qm_elsewhere_measure (self),
                      .cancellable = cancellable };
  g_autofree char *part = NULL;

  g_return_val_if_fail (self != NULL && self->models != NULL, FALSE);
  g_return_val_if_fail (path != NULL, FALSE);

  if (!check (self, error))
    return FALSE;
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                   _ ("There is a file “%s” already"), path);
      return FALSE;
    }
  part = g_strconcat (path, ".part", NULL);
  if (!make_folder (part, error))
    return FALSE;
  if (fill_folder (self, part, &copying, error) && g_rename (part, path) == 0)
    return TRUE;
  if (error != NULL && *error == NULL)
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s",
                 path, g_strerror (errno));
  remove_folder (part);
  return FALSE;
}
