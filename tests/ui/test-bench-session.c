/* SPDX-License-Identifier: Apache-2.0 */

/* A benchmark from its estimate to its end, with the real qm-bench on the CPU,
 * interrupted in the ways in which benchmarks are. */

#include "data/catalog.h"
#include "data/results-file.h"
#include "tests/ui/folder.h"
#include "ui/machine/qm-bench-process.h"
#include "ui/machine/qm-bench-session.h"
#include "ui/machine/qm-local-machine.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LIMIT  300000 /* milliseconds; the machine may be busy */
#define LOOPED 1000   /* the longest iteration, milliseconds */

static const char tiny[] =
    "{\"id\": \"tiny\", \"name\": \"Tiny (made up)\","
    " \"source\": \"made up\", \"config\": {\"model_type\": \"gpt_neox\","
    " \"vocab_size\": 256, \"hidden_size\": 256, \"num_hidden_layers\": 2,"
    " \"num_attention_heads\": 4, \"intermediate_size\": 1024,"
    " \"hidden_act\": \"gelu\", \"hidden_dropout\": 0.1,"
    " \"max_position_embeddings\": 512},"
    " \"recipe\": {\"batch_size\": 8, \"steps\": 100,"
    " \"sequence_length\": 64, \"precision\": \"fp32\","
    " \"optimizer\": \"adamw\", \"learning_rate\": 3e-3, \"beta1\": 0.9,"
    " \"beta2\": 0.95, \"epsilon\": 1e-8, \"weight_decay\": 0.01,"
    " \"max_grad_norm\": 1.0}}\n";

static const char *const models[] = { "tiny", NULL };

typedef struct
{
  QmCatalog *catalog; /* the keeper has it */
  QmCatalogKeeper *keeper;
  QmBenchSession *session;
  guint n_changed, n_measured, n_finished;
  gint64 beat, longest;
  guint beater;
} Fixture;

static char *home;

/* Microseconds, less those in which this thread could have run and others did:
 * the machine may be busy (proc(5), schedstat). */
static gint64
own_time (void)
{
  g_autofree char *text = NULL;
  char *end;
  guint64 waited = 0;

  if (g_file_get_contents ("/proc/thread-self/schedstat", &text, NULL, NULL))
    {
      g_ascii_strtoull (text, &end, 10);
      waited = g_ascii_strtoull (end, NULL, 10);
    }
  return g_get_monotonic_time () - (gint64) (waited / 1000);
}

static gboolean
beat_cb (gpointer data)
{
  Fixture *f = data;
  gint64 now = own_time ();

  if (f->beat > 0)
    f->longest = MAX (f->longest, now - f->beat);
  f->beat = now;
  return G_SOURCE_CONTINUE;
}

static void
count_cb (QmBenchSession *session, guint *count)
{
  ++*count;
}

static void
measured_cb (QmBenchSession *session, QmBenchRow *row, guint *count)
{
  g_assert_true (QM_IS_BENCH_ROW (row));
  ++*count;
}

static void
open_session (Fixture *f)
{
  f->session = qm_bench_session_new (f->keeper);
  g_signal_connect (f->session, "changed", G_CALLBACK (count_cb),
                    &f->n_changed);
  g_signal_connect (f->session, "finished", G_CALLBACK (count_cb),
                    &f->n_finished);
  g_signal_connect (f->session, "measured", G_CALLBACK (measured_cb),
                    &f->n_measured);
}

static void
remove_files (void)
{
  char path[PATH_MAX];
  g_autofree char *sessions =
      g_build_filename (home, "quartermaster", "sessions", NULL);
  g_autoptr (GDir) folder = g_dir_open (sessions, 0, NULL);
  const char *name;

  g_assert_true (qm_results_default_path (path, sizeof path));
  g_unlink (path);
  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *file = g_build_filename (sessions, name, NULL);

      g_unlink (file);
    }
}

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autofree char *user = g_build_filename (home, "quartermaster", NULL);
  g_autofree char *folder = g_build_filename (user, "models", NULL);
  g_autofree char *file = g_build_filename (folder, "tiny.json", NULL);
  QmError error;

  g_mkdir_with_parents (folder, 0700);
  g_assert_true (g_file_set_contents (file, tiny, -1, NULL));
  remove_files ();
  g_assert_cmpint (qm_catalog_load (g_getenv ("QUARTERMASTER_DATA_DIR"), user,
                                    &f->catalog, &error),
                   ==, QM_OK);
  g_assert_nonnull (qm_catalog_model (f->catalog, "tiny"));
  f->keeper = qm_catalog_keeper_new ();
  qm_catalog_keeper_take (f->keeper, f->catalog);
  f->beater = g_timeout_add (5, beat_cb, f);
  open_session (f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_source_remove (f->beater);
  g_assert_finalize_object (f->session);
  g_assert_finalize_object (f->keeper);
  remove_files ();
  g_test_message ("longest iteration %.1f ms", (double) f->longest / 1e3);
  g_assert_cmpint (f->longest, <, LOOPED * 1000);
}

static gboolean
too_late_cb (gpointer data)
{
  g_error ("it took too long");
  return G_SOURCE_REMOVE;
}

static void
wait_for (Fixture *f, QmBenchSessionState state)
{
  guint limit = g_timeout_add (LIMIT, too_late_cb, NULL);

  f->beat = 0;
  while (qm_bench_session_get_state (f->session) != state)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (limit);
}

static QmBenchRow *
row_at (Fixture *f, guint at)
{
  g_autoptr (QmBenchRow) row =
      g_list_model_get_item (qm_bench_session_get_rows (f->session), at);

  g_assert_nonnull (row);
  return row; /* the model keeps it */
}

static guint
n_rows (Fixture *f)
{
  return g_list_model_get_n_items (qm_bench_session_get_rows (f->session));
}

static guint
n_in_state (Fixture *f, QmBenchRowState state)
{
  guint n = 0;

  for (guint i = 0; i < n_rows (f); i++)
    n += qm_bench_row_get_state (row_at (f, i)) == state;
  return n;
}

/* The rows that were decided: a way that a busy machine is slow in is cut. */
static guint
n_decided (Fixture *f)
{
  return n_in_state (f, QM_BENCH_ROW_MEASURED)
         + n_in_state (f, QM_BENCH_ROW_NOT_RUN);
}

static guint
n_results (void)
{
  char path[PATH_MAX];
  g_autofree char *text = NULL;
  guint n = 0;

  g_assert_true (qm_results_default_path (path, sizeof path));
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  for (const char *c = text; *c != '\0'; c++)
    n += *c == '\n';
  return n;
}

static gboolean
has_file (void)
{
  g_autofree char *path =
      g_build_filename (home, "quartermaster", "sessions", NULL);
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);

  return folder != NULL && g_dir_read_name (folder) != NULL;
}

/* Whether a session is kept for the next time, where the program ends now. */
static gboolean
is_kept (void)
{
  g_assert_true (qm_bench_session_settle ());
  return has_file ();
}

static void
plan (Fixture *f, QmBenchMethods methods)
{
  qm_bench_session_estimate (f->session, "cpu", NULL, models, methods);
  g_assert_cmpint (qm_bench_session_get_state (f->session), ==,
                   QM_BENCH_SESSION_ESTIMATING);
  wait_for (f, QM_BENCH_SESSION_READY);
}

static void
test_whole (Fixture *f, gconstpointer data)
{
  double estimate;
  QmBenchRow *row;

  plan (f, QM_BENCH_METHODS_FREE_LUNCH);
  g_assert_null (qm_bench_session_get_failure (f->session));
  g_assert_cmpuint (n_rows (f), ==, 2);
  estimate = qm_bench_session_get_seconds_left (f->session);
  g_assert_true (estimate > 0);
  g_assert_cmpuint (qm_bench_session_get_n_done (f->session), ==, 0);
  row = row_at (f, 0);
  g_assert_cmpint (qm_bench_row_get_state (row), ==, QM_BENCH_ROW_WAITING);
  g_assert_cmpstr (qm_bench_row_get_model (row), ==, "tiny");
  g_assert_cmpstr (qm_bench_row_get_title (row), ==, "Tiny (made up)");
  g_assert_cmpstr (qm_bench_row_get_settings (row), ==, "free-lunch");
  g_assert_cmpstr (qm_bench_row_get_offloading (row), ==, "none");
  g_assert_cmpint (qm_bench_row_get_micro_batch (row), ==, 8);
  g_assert_true (qm_bench_row_get_cost (row) > 0);
  g_assert_cmpint (qm_bench_row_get_memory (row), >, 1000000);
  g_assert_true (isnan (qm_bench_row_get_step (row).value));
  g_assert_cmpuint (n_results (), ==, 0);
  g_assert_false (is_kept ());

  qm_bench_session_start (f->session);
  g_assert_true (qm_bench_session_is_busy (f->session));
  g_assert_true (is_kept ());
  wait_for (f, QM_BENCH_SESSION_FINISHED);
  g_assert_cmpuint (f->n_finished, ==, 1);
  g_assert_cmpuint (f->n_measured, ==, 2);
  g_assert_true (row == row_at (f, 0));
  g_assert_cmpint (qm_bench_row_get_state (row), ==, QM_BENCH_ROW_MEASURED);
  g_assert_cmpuint (n_decided (f), ==, 2);
  g_assert_true (qm_bench_row_get_step (row).value > 0);
  g_assert_true (qm_bench_row_get_days (row).value > 0);
  g_assert_true (isnan (qm_bench_row_get_days (row).low));
  g_assert_cmpfloat (qm_bench_session_get_progress (f->session), ==, 1);
  g_assert_cmpfloat (qm_bench_session_get_seconds_left (f->session), ==, 0);
  g_assert_null (qm_bench_session_get_current (f->session));
  g_assert_cmpuint (n_results (), ==, 2);
  g_assert_false (is_kept ());

  /* What is known is not measured again. */
  plan (f, QM_BENCH_METHODS_FREE_LUNCH);
  g_assert_cmpuint (n_decided (f), ==, 2);
  g_assert_cmpfloat (qm_bench_session_get_seconds_left (f->session), ==, 0);
}

/* Waits until it measures, some way into a measurement. */
static void
wait_until_it_measures (Fixture *f, guint n_done)
{
  guint limit = g_timeout_add (LIMIT, too_late_cb, NULL);

  while (qm_bench_session_get_current (f->session) == NULL
         || qm_bench_session_get_n_done (f->session) < n_done)
    {
      g_assert_true (qm_bench_session_is_busy (f->session));
      g_main_context_iteration (NULL, TRUE);
    }
  g_source_remove (limit);
}

/* Starts it, and pauses when there is a result more. */
static void
let_one_be_finished (Fixture *f)
{
  guint limit = g_timeout_add (LIMIT, too_late_cb, NULL);
  guint before = n_results ();

  qm_bench_session_start (f->session);
  while (n_results () == before)
    {
      g_assert_true (qm_bench_session_is_busy (f->session));
      g_main_context_iteration (NULL, TRUE);
    }
  g_source_remove (limit);
  qm_bench_session_pause (f->session);
  wait_for (f, QM_BENCH_SESSION_PAUSED);
}

static void
test_pause (Fixture *f, gconstpointer data)
{
  guint before;

  plan (f, QM_BENCH_METHODS_ALL);
  g_assert_cmpuint (n_rows (f), >=, 13);
  qm_bench_session_start (f->session);
  wait_until_it_measures (f, 1);
  g_assert_cmpint (qm_bench_row_get_state (
                       qm_bench_session_get_current (f->session)),
                   ==, QM_BENCH_ROW_RUNNING);
  qm_bench_session_pause (f->session);
  g_assert_cmpint (qm_bench_session_get_state (f->session), ==,
                   QM_BENCH_SESSION_STOPPING);
  wait_for (f, QM_BENCH_SESSION_PAUSED);
  before = n_results ();
  g_assert_null (qm_bench_session_get_failure (f->session));
  g_assert_cmpuint (n_in_state (f, QM_BENCH_ROW_RUNNING), ==, 0);
  g_assert_cmpuint (qm_bench_session_get_n_done (f->session), ==, before);
  g_assert_true (qm_bench_session_get_progress (f->session) > 0);
  g_assert_true (qm_bench_session_get_progress (f->session) < 1);
  g_assert_true (is_kept ());

  /* Goes on, and lets one be finished. */
  let_one_be_finished (f);

  /* Another window finds it again. */
  g_assert_finalize_object (f->session);
  open_session (f);
  g_assert_true (qm_bench_session_restore (f->session));
  wait_for (f, QM_BENCH_SESSION_PAUSED);
  g_assert_cmpstr (qm_bench_session_get_device (f->session), ==, "cpu");
  g_assert_cmpstr (qm_bench_session_get_models (f->session)[0], ==, "tiny");
  g_assert_cmpint (qm_bench_session_get_methods (f->session), ==,
                   QM_BENCH_METHODS_ALL);
  g_assert_cmpuint (qm_bench_session_get_n_done (f->session), ==, before + 1);
  g_assert_true (qm_bench_session_get_progress (f->session) > 0);

  qm_bench_session_cancel (f->session);
  g_assert_cmpint (qm_bench_session_get_state (f->session), ==,
                   QM_BENCH_SESSION_READY);
  g_assert_false (is_kept ());
  g_assert_false (qm_bench_session_restore (f->session));
}

static void
stopped_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  gboolean *stopped = data;

  qm_bench_session_stop_finish (QM_BENCH_SESSION (object), result);
  *stopped = TRUE;
}

static void
test_stop (Fixture *f, gconstpointer data)
{
  gboolean stopped = FALSE;

  plan (f, QM_BENCH_METHODS_ALL);
  qm_bench_session_stop_async (f->session, stopped_cb, &stopped);
  while (!stopped)
    g_main_context_iteration (NULL, TRUE);
  stopped = FALSE;
  qm_bench_session_start (f->session);
  wait_until_it_measures (f, 0);
  qm_bench_session_stop_async (f->session, stopped_cb, &stopped);
  g_assert_false (stopped);
  while (!stopped)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (qm_bench_session_get_state (f->session), ==,
                   QM_BENCH_SESSION_PAUSED);
  qm_bench_session_start (f->session);
  wait_until_it_measures (f, 0);
  qm_bench_session_cancel (f->session);
  wait_for (f, QM_BENCH_SESSION_READY);
  g_assert_false (is_kept ());
}

/* The processes that this one started, and what these did. */
static GArray *
descendants (void)
{
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (int));
  int self = (int) getpid ();

  g_array_append_val (pids, self);
  for (guint i = 0; i < pids->len; i++)
    {
      int pid = g_array_index (pids, int, i);
      g_autofree char *path =
          g_strdup_printf ("/proc/%d/task/%d/children", pid, pid);
      g_autofree char *text = NULL;
      char *at;

      if (!g_file_get_contents (path, &text, NULL, NULL))
        continue;
      at = text;
      for (int child = (int) strtol (at, &at, 10); child > 0;
           child = (int) strtol (at, &at, 10))
        g_array_append_val (pids, child);
    }
  g_array_remove_index (pids, 0);
  return pids;
}

static gboolean
lives (int pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", pid);
  g_autofree char *text = NULL;
  const char *end;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;
  end = strrchr (text, ')');
  return end != NULL && end[2] != 'Z' && end[2] != 'X';
}

/* qm-bench is killed, and so is what it measures in; then all goes on. */
static void
test_killed (Fixture *f, gconstpointer data)
{
  g_autoptr (GArray) pids = NULL;

  plan (f, QM_BENCH_METHODS_ALL);
  qm_bench_session_start (f->session);
  wait_until_it_measures (f, 1);
  pids = descendants ();
  if (pids->len < 2)
    {
      g_test_skip ("the system does not tell which processes are children");
      qm_bench_session_cancel (f->session);
      wait_for (f, QM_BENCH_SESSION_READY);
      return;
    }
  kill (g_array_index (pids, int, 0), SIGKILL);
  wait_for (f, QM_BENCH_SESSION_FAILED);
  g_assert_nonnull (qm_bench_session_get_failure (f->session));
  g_assert_cmpuint (n_in_state (f, QM_BENCH_ROW_FAILED), ==, 1);
  g_assert_true (is_kept ());
  for (guint i = 0; i < pids->len; i++)
    for (int tries = 0; lives (g_array_index (pids, int, i)); tries++)
      {
        g_assert_cmpint (tries, <, 500);
        g_usleep (10000);
      }
  qm_bench_session_start (f->session);
  wait_until_it_measures (f, 1);
  g_assert_null (qm_bench_session_get_failure (f->session));
  g_assert_cmpuint (n_in_state (f, QM_BENCH_ROW_FAILED), ==, 0);
  qm_bench_session_cancel (f->session);
  wait_for (f, QM_BENCH_SESSION_READY);
}

static void
test_wrong (Fixture *f, gconstpointer data)
{
  const char *const absent[] = { "no-such-model", NULL };

  qm_bench_session_estimate (f->session, "cpu", NULL, absent,
                             QM_BENCH_METHODS_ALL);
  wait_for (f, QM_BENCH_SESSION_IDLE);
  g_assert_nonnull (qm_bench_session_get_failure (f->session));
  qm_bench_session_start (f->session);
  g_assert_cmpint (qm_bench_session_get_state (f->session), ==,
                   QM_BENCH_SESSION_IDLE);
  qm_bench_session_estimate (f->session, NULL, NULL, NULL,
                             QM_BENCH_METHODS_ALL);
  g_assert_null (qm_bench_session_get_failure (f->session));
  qm_bench_session_estimate (f->session, "cuda:77", NULL, models,
                             QM_BENCH_METHODS_ALL);
  wait_for (f, QM_BENCH_SESSION_IDLE);
  g_assert_nonnull (qm_bench_session_get_failure (f->session));
}

/* The rows of so many GPUs. */
static guint
n_of (Fixture *f, int gpus)
{
  guint n = 0;

  for (guint i = 0; i < n_rows (f); i++)
    n += qm_bench_row_get_gpus (row_at (f, i)) == gpus;
  return n;
}

static void
assert_ordered (Fixture *f)
{
  for (guint i = 1; i < n_rows (f); i++)
    g_assert_cmpint (qm_bench_row_get_gpus (row_at (f, i - 1)), <=,
                     qm_bench_row_get_gpus (row_at (f, i)));
}

/* One number of devices after the other, in one table. */
static void
test_several (Fixture *f, gconstpointer data)
{
  QmBenchRow *first, *last;
  guint ones, twos;

  qm_bench_session_estimate (f->session, "cpu", "1,2", models,
                             QM_BENCH_METHODS_FREE_LUNCH);
  wait_for (f, QM_BENCH_SESSION_READY);
  g_assert_cmpstr (qm_bench_session_get_gpus (f->session), ==, "1,2");
  ones = n_of (f, 1);
  twos = n_of (f, 2);
  g_assert_cmpuint (ones, ==, 2);
  g_assert_cmpuint (twos, ==, 2);
  assert_ordered (f);
  first = row_at (f, 0);
  last = row_at (f, ones);
  g_assert_cmpfloat_with_epsilon (
      qm_bench_session_get_seconds_left (f->session),
      qm_bench_row_get_cost (first) + qm_bench_row_get_cost (row_at (f, 1))
          + qm_bench_row_get_cost (last)
          + qm_bench_row_get_cost (row_at (f, ones + 1)),
      1e-6);

  /* Stopped while it measures the first number, it goes on with the others. */
  let_one_be_finished (f);
  g_assert_finalize_object (f->session);
  open_session (f);
  g_assert_true (qm_bench_session_restore (f->session));
  wait_for (f, QM_BENCH_SESSION_PAUSED);
  g_assert_cmpstr (qm_bench_session_get_gpus (f->session), ==, "1,2");
  g_assert_cmpuint (n_rows (f), ==, ones + twos);
  last = row_at (f, ones);
  qm_bench_session_start (f->session);
  wait_for (f, QM_BENCH_SESSION_FINISHED);
  assert_ordered (f);
  g_assert_cmpuint (n_rows (f), ==, ones + twos);
  g_assert_cmpuint (n_decided (f), ==, ones + twos);
  g_assert_cmpuint (n_results (), ==, ones + twos);
  g_assert_true (last == row_at (f, ones));
  g_assert_cmpint (qm_bench_row_get_gpus (last), ==, 2);

  /* Another question has rows of its own alone. */
  plan (f, QM_BENCH_METHODS_FREE_LUNCH);
  g_assert_cmpuint (n_of (f, 2), ==, 0);
  g_assert_cmpuint (n_rows (f), ==, 2);
}

static void
devices_cb (QmLocalMachine *machine, guint *count)
{
  ++*count;
}

static void
test_machine (Fixture *f, gconstpointer data)
{
  g_autoptr (QmLocalMachine) machine = qm_local_machine_new ();
  const QmMachineDevice *device;
  guint n, changes = 0;

  g_signal_connect (machine, "changed", G_CALLBACK (devices_cb), &changes);
  qm_local_machine_get_devices (machine, &n);
  g_assert_cmpuint (n, ==, 0);
  qm_local_machine_reload (machine);
  qm_local_machine_reload (machine);
  while (qm_local_machine_get_state (machine) == QM_MACHINE_ASKING)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (qm_local_machine_get_state (machine), ==, QM_MACHINE_KNOWN);
  g_assert_cmpuint (changes, ==, 2);
  qm_local_machine_get_devices (machine, &n);
  g_assert_cmpuint (n, >=, 1);
  device = qm_local_machine_get_device (machine, "cpu");
  g_assert_nonnull (device);
  g_assert_true (device->is_cpu && device->usable);
  g_assert_false (device->drives_display);
  g_assert_cmpint (device->memory_bytes, >, 0);
  g_assert_cmpint (device->processors, >, 0);
  g_assert_cmpstr (device->driver, ==, "");
  g_assert_null (qm_local_machine_get_device (machine, "cuda:77"));
  if (n == 1)
    g_assert_cmpstr (qm_local_machine_get_reason (machine), !=, "");
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  home = g_dir_make_tmp ("qm-session-XXXXXX", NULL);
  g_setenv ("XDG_DATA_HOME", home, TRUE);
  /* One that is not watched for memory errors takes a tenth of the time. */
  if (g_getenv ("QM_TEST_BENCH") != NULL)
    g_setenv ("QUARTERMASTER_BENCH", g_getenv ("QM_TEST_BENCH"), TRUE);
#define ADD(name, test) \
  g_test_add ("/bench-session/" name, Fixture, NULL, set_up, test, tear_down)
  ADD ("whole", test_whole);
  ADD ("pause", test_pause);
  ADD ("stop", test_stop);
  ADD ("killed", test_killed);
  ADD ("wrong", test_wrong);
  ADD ("several", test_several);
  ADD ("machine", test_machine);
#undef ADD
  status = g_test_run ();
  remove_folder (home);
  g_free (home);
  return status;
}
