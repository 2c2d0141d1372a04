/* SPDX-License-Identifier: Apache-2.0 */

/* A colleague's results do not become this machine's, whatever the machine is
 * called. */

#include "config.h"

#include "data/results-adopt.h"
#include "data/results-file.h"
#include "ui/machine/qm-results-import.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>

static char *home;
static QmIdentity here;

/* Of a machine; NULL: of none that it tells. */
static char *
line_of (const char *machine, int micro_batch)
{
  g_autofree char *where =
      machine != NULL
          ? g_strdup_printf (",\"machine\":{\"id\":\"%s\"}", machine)
          : g_strdup ("");

  return g_strdup_printf (
      "{\"schema\":1,\"model\":\"tiny\",\"model_key\":\"0123456789abcdef\","
      "\"device\":{\"name\":\"H200\"},\"gpus\":1,\"settings\":\"free-lunch\","
      "\"checkpointing\":false,\"sharding\":\"none\",\"offloading\":false,"
      "\"precision\":\"bf16\",\"engine\":\"quartermaster\",\"version\":\"1\","
      "\"status\":\"measured\",\"days\":2.5,\"step\":{\"mean_s\":1.5},"
      "\"time\":\"2026-11-21T06:40:00Z\",\"micro_batch\":%d%s}\n",
      micro_batch, where);
}

static void
imported_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (qm_results_import_finish (result, data, &error));
  g_assert_no_error (error);
}

static QmResultsImport
import_text (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (home, name, NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  QmResultsImport done = { NULL };

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  qm_results_import_async (file, NULL, imported_cb, &done);
  while (done.host == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_unlink (path);
  return done;
}

/* How many results are in a file beside the one of this host, and how many of
 * them are of this machine. */
static guint
count (const char *own, const char *more, guint *n_here)
{
  g_autofree char *stem = g_strndup (own, strlen (own) - strlen (".jsonl"));
  g_autofree char *path = g_strconcat (stem, more, ".jsonl", NULL);
  QmResults *results = qm_results_new ();
  const QmResult *list;
  size_t n;

  *n_here = 0;
  qm_results_read (results, path, NULL, NULL, NULL);
  list = qm_results_list (results, &n);
  for (size_t i = 0; i < n; i++)
    *n_here += qm_result_where (&list[i], &here) == QM_WHERE_HERE;
  qm_results_free (results);
  return (guint) n;
}

static void
test_same_name (void)
{
  g_autofree char *mine = line_of (here.machine, 1);
  g_autofree char *others = line_of ("abcdefabcdefabcdefabcdefabcdefab", 2);
  g_autofree char *unsaid = line_of (NULL, 4);
  g_autofree char *all = g_strconcat (mine, others, unsaid, NULL);
  g_autofree char *name = NULL;
  char own[PATH_MAX];
  QmResultsImport done;
  guint n_here;

  g_assert_true (qm_results_default_path (own, sizeof own));
  name = g_path_get_basename (own);
  done = import_text (name, all);
  g_assert_cmpuint (done.added, ==, 3);
  g_assert_true (done.other);
  g_free (done.host);
  g_assert_cmpuint (count (own, "", &n_here), ==, 1);
  g_assert_cmpuint (n_here, ==, 1);
  g_assert_cmpuint (count (own, "-other", &n_here), ==, 2);
  g_assert_cmpuint (n_here, ==, 0);

  /* Again, there is nothing new; and what this host's file has without saying
   * whose it is does not come a second time. */
  done = import_text (name, all);
  g_assert_cmpuint (done.added, ==, 0);
  g_assert_cmpuint (done.present, ==, 3);
  g_free (done.host);
  g_free (unsaid);
  unsaid = line_of (NULL, 8);
  g_assert_true (g_file_set_contents (own, unsaid, -1, NULL));
  done = import_text (name, unsaid);
  g_assert_cmpuint (done.added, ==, 0);
  g_assert_false (done.other);
  g_free (done.host);
}

static void
test_other_name (void)
{
  g_autofree char *line = line_of (NULL, 1);
  QmResultsImport done = import_text ("colleague.jsonl", line);

  g_assert_cmpuint (done.added, ==, 1);
  g_assert_false (done.other);
  g_assert_cmpstr (done.host, ==, "colleague");
  g_free (done.host);
}

int
main (int argc, char **argv)
{
  g_autofree char *id = NULL;

  g_test_init (&argc, &argv, NULL);
  home = g_dir_make_tmp ("qm-import-XXXXXX", NULL);
  id = g_build_filename (home, "machine-id", NULL);
  g_assert_true (
      g_file_set_contents (id, "0123456789abcdef0123456789abcdef\n", -1, NULL));
  g_setenv ("XDG_DATA_HOME", home, TRUE);
  g_setenv ("QUARTERMASTER_MACHINE_ID", id, TRUE);
  qm_identity_here (&here);
  g_test_add_func ("/results-import/same-name", test_same_name);
  g_test_add_func ("/results-import/other-name", test_other_name);
  return g_test_run ();
}
