/* SPDX-License-Identifier: Apache-2.0 */

/* A session that is not finished, in a file of this host in the user's data
 * folder: what it is about, and how long it has taken.  What it found is in the
 * results file. */

#include "config.h"

#include "data/datadir.h"
#include "data/results-file.h"
#include "ui/machine/qm-bench-session-private.h"
#include "ui/qm-patience.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define SCHEMA    1
#define MAX_BYTES 65536

static const char *const methods[] = { "naive", "free-lunch", "all" };

/* The file is called as the results file of this host is; NULL: there is no
 * home folder. */
static char *
path_of_session (void)
{
  char results[PATH_MAX], folder[PATH_MAX];
  g_autofree char *base = NULL;
  g_autofree char *name = NULL;

  if (!qm_results_default_path (results, sizeof results)
      || !qm_user_data_dir (folder, sizeof folder))
    return NULL;
  base = g_path_get_basename (results);
  base[strlen (base) - strlen (".jsonl")] = '\0';
  name = g_strconcat (base, ".json", NULL);
  return g_build_filename (folder, "sessions", name, NULL);
}

static json_t *
json_question (QmBenchSession *self)
{
  const QmBenchQuestion *question = &self->question;
  json_t *object = json_object ();
  json_t *models = json_array ();

  for (guint i = 0; question->models != NULL && question->models[i] != NULL;
       i++)
    json_array_append_new (models, json_string (question->models[i]));
  json_object_set_new (object, "schema", json_integer (SCHEMA));
  json_object_set_new (object, "device", json_string (question->device));
  if (question->gpus != NULL)
    json_object_set_new (object, "gpus", json_string (question->gpus));
  json_object_set_new (object, "models", models);
  json_object_set_new (object, "methods",
                       json_string (methods[question->methods]));
  json_object_set_new (object, "elapsed_s",
                       json_real (qm_bench_session_elapsed (self)));
  return object;
}

/* What is to be in the file; NULL: there is to be none. */
typedef struct
{
  char *path;
  char *text;
} Job;

/* A home folder may be far away, and its disk busy.  Whoever cannot write there
 * only has to choose anew. */
static void
work (gpointer data, gpointer user_data)
{
  Job *job = data;
  g_autofree char *folder = g_path_get_dirname (job->path);

  if (job->text == NULL)
    g_unlink (job->path);
  else
    {
      g_mkdir_with_parents (folder, 0700);
      g_file_set_contents_full (job->path, job->text, -1,
                                G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
    }
  g_free (job->path);
  free (job->text);
  g_free (job);
}

/* NULL: there is nothing to do. */
static GThreadPool *pool;

/* Does one after the other, and does not wait for it.  `text` is jansson's. */
static void
put (char *text)
{
  char *path = path_of_session ();
  Job *job;

  if (path == NULL)
    {
      free (text);
      return;
    }
  if (pool == NULL)
    pool = g_thread_pool_new (work, NULL, 1, FALSE, NULL);
  job = g_new0 (Job, 1);
  job->path = path;
  job->text = text;
  g_thread_pool_push (pool, job, NULL);
}

void
qm_bench_session_keep (QmBenchSession *self)
{
  json_t *object = json_question (self);
  char *text = json_dumps (object, JSON_INDENT (2));

  json_decref (object);
  if (text != NULL)
    put (text);
}

void
qm_bench_session_forget (void)
{
  put (NULL);
}

static void
finish_pool (gpointer data)
{
  g_thread_pool_free (data, FALSE, TRUE);
}

gboolean
qm_bench_session_settle (void)
{
  return pool == NULL
         || qm_patience_run (finish_pool, g_steal_pointer (&pool),
                             QM_PATIENCE_USEC);
}

/* The models of a list that are in the catalog. */
static GStrv
read_models (QmBenchSession *self, const json_t *list)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (size_t i = 0; i < json_array_size (list); i++)
    {
      const char *id = json_string_value (json_array_get (list, i));

      if (id != NULL
          && qm_catalog_model (qm_catalog_keeper_get (self->keeper), id)
                 != NULL)
        g_strv_builder_add (builder, id);
    }
  return g_strv_builder_end (builder);
}

static gboolean
read_question (QmBenchSession *self, const json_t *object)
{
  QmBenchQuestion *question = &self->question;
  const char *device = json_string_value (json_object_get (object, "device"));
  const char *gpus = json_string_value (json_object_get (object, "gpus"));
  const char *way = json_string_value (json_object_get (object, "methods"));
  double elapsed = json_number_value (json_object_get (object, "elapsed_s"));
  int found = -1;

  for (int i = 0; i < (int) G_N_ELEMENTS (methods); i++)
    if (g_strcmp0 (methods[i], way) == 0)
      found = i;
  if (json_integer_value (json_object_get (object, "schema")) != SCHEMA
      || device == NULL || found < 0)
    return FALSE;
  question->device = g_strdup (device);
  question->gpus = g_strdup (gpus);
  question->methods = (QmBenchMethods) found;
  question->models = read_models (self, json_object_get (object, "models"));
  self->elapsed = isfinite (elapsed) && elapsed > 0 ? elapsed : 0;
  return question->models[0] != NULL;
}

gboolean
qm_bench_session_recall (QmBenchSession *self)
{
  g_autofree char *path = path_of_session ();
  GStatBuf info;
  json_t *object;
  gboolean read;

  if (path == NULL || g_stat (path, &info) != 0 || !S_ISREG (info.st_mode)
      || info.st_size > MAX_BYTES)
    return FALSE;
  object = json_load_file (path, 0, NULL);
  read = read_question (self, object);
  json_decref (object);
  return read;
}
