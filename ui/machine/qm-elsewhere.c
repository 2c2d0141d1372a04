/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE /* dladdr() */

#include "config.h"

#include "ui/machine/qm-elsewhere.h"

#include "data/csv-table.h"
#include "data/datadir.h"
#include "ui/machine/qm-bench-process.h"
#include "ui/models/qm-model-folder.h"

#include <dlfcn.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

/* Seconds that a job needs to begin and to end in order. */
#define SLACK 120

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

static void
append_option (GString *text, const char *name, const char *value)
{
  g_autofree char *quoted = g_shell_quote (value);

  g_string_append_printf (text, " \\\n  %s %s", name, quoted);
}

char *
qm_elsewhere_script (const QmElsewhere *self)
{
  g_autofree char *models = NULL;
  GString *text;

  g_return_val_if_fail (self != NULL && self->models != NULL, NULL);

  models = g_strjoinv (",", self->models);
  text = g_string_new (
      "#!/bin/sh\n"
      "# Measures how long models train on this machine.  Started again, it\n"
      "# goes on where it was; what it finds is in the folder \"results\".\n"
      "set -eu\n"
      "\n"
      "# Where this script is, whatever that is called.\n"
      "here=$(CDPATH='' cd -- \"$(dirname -- \"$0\")\" && pwd -P && printf x)\n"
      "here=${here%?x}\n"
      "host=$(uname -n | sed 's/[.].*//; s/[^A-Za-z0-9_-]/-/g')\n"
      "\n"
      "export QUARTERMASTER_DATA_DIR=\"$here/data\"\n"
      "export XDG_DATA_HOME=\"$here/state\"\n"
      "export LD_LIBRARY_PATH=\"$here/lib"
      "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n"
      "mkdir -p -- \"$here/results\" \"$here/state\"\n"
      "\n"
      "exec \"$here/qm-bench\" search \\\n"
      "  --results \"$here/results/$host.jsonl\"");
  append_option (text, "--model", models);
  append_option (text, "--methods", self->methods ? self->methods : "all");
  if (self->device != NULL)
    append_option (text, "--device", self->device);
  if (self->time_limit_s > 0)
    {
      g_autofree char *limit =
          g_strdup_printf ("%" G_GINT64_FORMAT "s",
                           self->slurm && self->time_limit_s > 2 * SLACK
                               ? self->time_limit_s - SLACK
                               : self->time_limit_s);

      append_option (text, "--time-limit", limit);
    }
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}

static void
append_directive (GString *text, const char *name, const char *value)
{
  if (value != NULL)
    g_string_append_printf (text, "#SBATCH --%s=%s\n", name, value);
}

char *
qm_elsewhere_job (const QmElsewhere *self)
{
  g_autofree char *limit = NULL;
  GString *text;

  g_return_val_if_fail (self != NULL, NULL);

  text = g_string_new ("#!/bin/sh\n"
                       "#SBATCH --job-name=quartermaster\n"
                       "#SBATCH --nodes=1\n"
                       "#SBATCH --ntasks=1\n"
                       "#SBATCH --output=job-%j.log\n");
  append_directive (text, "partition", self->partition);
  append_directive (text, "account", self->account);
  append_directive (text, "gpus-per-node", self->gpus);
  if (self->time_limit_s > 0)
    {
      gint64 minutes = (self->time_limit_s + 59) / 60;

      limit = g_strdup_printf ("%02d:%02d:00", (int) (minutes / 60),
                               (int) (minutes % 60));
      append_directive (text, "time", limit);
    }
  g_string_append (
      text, "set -eu\n"
            "\n"
            "# Slurm runs a copy of this file from elsewhere: the others "
            "are where it was\n"
            "# submitted.\n"
            "exec \"${SLURM_SUBMIT_DIR:?submit it with sbatch}/run.sh\"\n");
  return g_string_free (text, FALSE);
}

/* (transfer full) */
static char *
make_readme (const QmElsewhere *self)
{
  g_autofree char *models = g_strjoinv (", ", self->models);
  GString *text = g_string_new (
      "A benchmark by Quartermaster, to be run on another machine\n"
      "==========================================================\n\n");

  g_string_append_printf (text, "It measures %s (methods: %s).\n\n", models,
                          self->methods ? self->methods : "all");
  g_string_append (text, "1. Copy this whole folder to the machine, with its "
                         "files as they are.\n");
  if (self->slurm)
    g_string_append (text,
                     "2. Go into the folder there and submit the job:\n\n"
                     "       sbatch job.sbatch\n\n"
                     "   Its log is job-NUMBER.log.  Look at the lines that "
                     "begin with #SBATCH first:\n"
                     "   what they do not say, your cluster decides.\n");
  else
    g_string_append (text, "2. Go into the folder there and start it:\n\n"
                           "       ./run.sh\n\n");
  g_string_append (
      text,
      "   Stopped, it goes on where it was when it is started again.\n"
      "3. Copy results/HOST.jsonl back, HOST being the name of the machine, "
      "and "
      "drop it\n"
      "   on Quartermaster's window, or choose Import Results in its menu.\n\n"
      "The machine needs Linux on x86-64 with a C library no older than this "
      "one's, and\n"
      "for its GPUs the driver of NVIDIA.  Nothing is installed, and nothing "
      "is "
      "written\n"
      "outside of this folder.\n");
  return g_string_free (text, FALSE);
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

static gboolean
copy_file (const char *from,
           const char *folder,
           const char *name,
           GCancellable *cancellable,
           GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GFile) source = g_file_new_for_path (from);
  g_autoptr (GFile) target = g_file_new_for_path (path);

  return g_file_copy (source, target, G_FILE_COPY_NONE, cancellable, NULL, NULL,
                      error);
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

/* The program, and what it is linked with that a bare node may not have: the
 * libraries that this program has loaded for the same functions. */
static gboolean
copy_program (const char *folder, GCancellable *cancellable, GError **error)
{
  static const char *const functions[] = { "json_loadb", "csv_init" };
  g_autofree char *program = qm_bench_find ();
  g_autofree char *libraries = g_build_filename (folder, "lib", NULL);

  if (program == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s",
                   _ ("there is no program qm-bench"));
      return FALSE;
    }
  if (!copy_file (program, folder, "qm-bench", cancellable, error)
      || !make_folder (libraries, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      void *function = dlsym (RTLD_DEFAULT, functions[i]);
      g_autofree char *name = NULL;
      Dl_info info;

      if (function == NULL || dladdr (function, &info) == 0)
        continue; /* it is part of the program */
      name = g_path_get_basename (info.dli_fname);
      if (strstr (name, ".so") != NULL
          && !copy_file (info.dli_fname, libraries, name, cancellable, error))
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
copy_own_gpus (const char *folder, GCancellable *cancellable, GError **error)
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
             && copy_file (path, place, "gpus.csv", cancellable, error));
}

static gboolean
copy_data (const QmElsewhere *self,
           const char *folder,
           GCancellable *cancellable,
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

      if (!copy_file (path, data, tables[i], cancellable, error))
        return FALSE;
    }
  for (guint i = 0; self->models[i] != NULL; i++)
    {
      g_autofree char *name = g_strconcat (self->models[i], ".json", NULL);
      g_autofree char *path = find_model (shipped, own, self->models[i]);

      if (!copy_file (path, models, name, cancellable, error))
        return FALSE;
    }
  return copy_own_gpus (folder, cancellable, error);
}

static gboolean
fill (const QmElsewhere *self,
      const char *folder,
      GCancellable *cancellable,
      GError **error)
{
  g_autofree char *script = qm_elsewhere_script (self);
  g_autofree char *readme = make_readme (self);
  g_autofree char *job = self->slurm ? qm_elsewhere_job (self) : NULL;

  return copy_program (folder, cancellable, error)
         && copy_data (self, folder, cancellable, error)
         && write_file (folder, "run.sh", script, 0755, error)
         && write_file (folder, "README", readme, 0644, error)
         && (job == NULL
             || write_file (folder, "job.sbatch", job, 0755, error));
}

/* Removes what fill() made of it. */
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
                    GCancellable *cancellable,
                    GError **error)
{
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
  if (fill (self, part, cancellable, error) && g_rename (part, path) == 0)
    return TRUE;
  if (error != NULL && *error == NULL)
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s",
                 path, g_strerror (errno));
  remove_folder (part);
  return FALSE;
}
