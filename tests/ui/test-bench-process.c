/* SPDX-License-Identifier: Apache-2.0 */

/* A child that misbehaves in every way costs its own run, is told in one
 * sentence, leaves nothing behind and never holds up the main loop. */

#include "ui/machine/qm-bench-process.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds. */
#define SHORT  3000 /* a busy machine takes its time to start Python */
#define MERCY  200
#define LONG   20000
#define LOOPED 1000 /* the longest iteration; the machine may be busy */

typedef struct
{
  QmBenchProcess *process;
  GMainLoop *loop;
  GError *error;
  gboolean ended;
  guint n;
  guint stop_after; /* lines; 0: never */
  gint64 beat, longest;
  guint beater;
} Run;

static gboolean
beat_cb (gpointer data)
{
  Run *run = data;
  gint64 now = g_get_monotonic_time ();

  run->longest = MAX (run->longest, now - run->beat);
  run->beat = now;
  return G_SOURCE_CONTINUE;
}

static void
line_cb (QmBenchProcess *process, json_t *object, gpointer data)
{
  Run *run = data;

  g_assert_true (json_is_object (object));
  g_assert_false (run->ended);
  if (++run->n == run->stop_after)
    qm_bench_process_stop (process);
}

static void
ended_cb (QmBenchProcess *process, GError *error, gpointer data)
{
  Run *run = data;

  g_assert_false (run->ended);
  run->ended = TRUE;
  run->error = error != NULL ? g_error_copy (error) : NULL;
  g_main_loop_quit (run->loop);
}

static gboolean
too_late_cb (gpointer data)
{
  g_error ("it did not end");
  return G_SOURCE_REMOVE;
}

static void
run_clear (Run *run)
{
  g_clear_error (&run->error);
  g_main_loop_unref (run->loop);
  g_assert_finalize_object (run->process);
}

/* Runs the stand-in to its end. */
static Run
run_until (const char *what, const char *value, guint patience, guint stop)
{
  const char *arguments[] = { what, value, NULL };
  Run run = { .stop_after = stop };
  gboolean running;
  guint limit;

  run.loop = g_main_loop_new (NULL, FALSE);
  run.process = qm_bench_process_new (arguments);
  g_object_set (run.process, "patience", patience, "mercy", MERCY, NULL);
  g_signal_connect (run.process, "line", G_CALLBACK (line_cb), &run);
  g_signal_connect (run.process, "ended", G_CALLBACK (ended_cb), &run);
  qm_bench_process_start (run.process);
  run.beat = g_get_monotonic_time ();
  run.beater = g_timeout_add (5, beat_cb, &run);
  limit = g_timeout_add (LONG, too_late_cb, NULL);
  g_main_loop_run (run.loop);
  g_source_remove (limit);
  g_source_remove (run.beater);
  g_object_get (run.process, "running", &running, NULL);
  g_assert_false (running);
  g_test_message ("%s %s: longest iteration %.1f ms, %s", what,
                  value != NULL ? value : "", (double) run.longest / 1e3,
                  run.error != NULL ? run.error->message : "no error");
  g_assert_cmpint (run.longest, <, LOOPED * 1000);
  return run;
}

/* One sentence for people. */
static void
check_sentence (const GError *error)
{
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_null (strchr (error->message, '\033'));
}

static void
expect (const char *what,
        const char *value,
        guint patience,
        guint n,
        QmBenchError code)
{
  Run run = run_until (what, value, patience, 0);

  g_assert_error (run.error, QM_BENCH_ERROR, (int) code);
  check_sentence (run.error);
  g_assert_cmpuint (run.n, ==, n);
  run_clear (&run);
}

static void
test_answers (void)
{
  Run run = run_until ("answer", NULL, LONG, 0);

  g_assert_no_error (run.error);
  g_assert_cmpuint (run.n, ==, 2);
  run_clear (&run);

  run = run_until ("nothing", NULL, LONG, 0);
  g_assert_no_error (run.error);
  g_assert_cmpuint (run.n, ==, 0);
  run_clear (&run);

  run = run_until ("pieces", NULL, LONG, 0);
  g_assert_no_error (run.error);
  g_assert_cmpuint (run.n, ==, 3);
  run_clear (&run);

  run = run_until ("large", NULL, LONG, 0);
  g_assert_no_error (run.error);
  g_assert_cmpuint (run.n, ==, 1);
  run_clear (&run);
}

static void
test_silence (void)
{
  expect ("silence", NULL, SHORT, 0, QM_BENCH_ERROR_SILENT);
  expect ("deaf", NULL, SHORT, 1, QM_BENCH_ERROR_SILENT);
  expect ("closed", NULL, LONG, 1, QM_BENCH_ERROR_SILENT);
}

static void
test_garbage (void)
{
  expect ("garbage", NULL, LONG, 1, QM_BENCH_ERROR_GARBAGE);
  expect ("bad-utf8", NULL, LONG, 0, QM_BENCH_ERROR_GARBAGE);
  expect ("no-object", NULL, LONG, 0, QM_BENCH_ERROR_GARBAGE);
  expect ("deep", NULL, LONG, 0, QM_BENCH_ERROR_GARBAGE);
  expect ("broken-off", NULL, LONG, 1, QM_BENCH_ERROR_GARBAGE);
  expect ("huge", NULL, LONG, 0, QM_BENCH_ERROR_GARBAGE);
  expect ("endless-line", NULL, LONG, 0, QM_BENCH_ERROR_GARBAGE);
}

static void
test_signals (void)
{
  const int crashes[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL };

  for (guint i = 0; i < G_N_ELEMENTS (crashes); i++)
    {
      g_autofree char *number = g_strdup_printf ("%d", crashes[i]);

      expect ("signal", number, LONG, 1, QM_BENCH_ERROR_CRASHED);
    }
  expect ("signal", "9", LONG, 1, QM_BENCH_ERROR_KILLED);
  expect ("signal", "15", LONG, 1, QM_BENCH_ERROR_INTERRUPTED);
}

static void
test_statuses (void)
{
  static const struct
  {
    const char *status;
    QmBenchError code;
  } cases[] = {
    { "1", QM_BENCH_ERROR_FAILED },      { "2", QM_BENCH_ERROR_FAILED },
    { "3", QM_BENCH_ERROR_MEMORY },      { "4", QM_BENCH_ERROR_DEVICE },
    { "5", QM_BENCH_ERROR_UNSUPPORTED }, { "130", QM_BENCH_ERROR_INTERRUPTED },
    { "77", QM_BENCH_ERROR_FAILED },     { "255", QM_BENCH_ERROR_FAILED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Run run = run_until ("exit", cases[i].status, LONG, 0);
      g_autofree char *log = qm_bench_process_get_log (run.process);

      g_assert_error (run.error, QM_BENCH_ERROR, (int) cases[i].code);
      check_sentence (run.error);
      g_assert_nonnull (strstr (run.error->message, "the  [1mreason"));
      g_assert_true (g_utf8_validate (log, -1, NULL));
      g_assert_true (g_str_has_prefix (log, "some remark\n"));
      g_assert_null (strchr (log, '\033'));
      run_clear (&run);
    }
  expect ("quiet-exit", "9", LONG, 0, QM_BENCH_ERROR_FAILED);
}

/* Lines come in no faster than they are handled, and memory stays. */
static void
test_endless (void)
{
  Run run = run_until ("endless", NULL, LONG, 50000);

  g_assert_no_error (run.error);
  g_assert_cmpuint (run.n, >=, 50000);
  run_clear (&run);

  run = run_until ("endless-log", NULL, SHORT, 0);
  g_assert_error (run.error, QM_BENCH_ERROR, QM_BENCH_ERROR_SILENT);
  {
    g_autofree char *log = qm_bench_process_get_log (run.process);

    g_assert_cmpuint (strlen (log), <=, 3 * QM_BENCH_MAX_LOG);
  }
  run_clear (&run);
}

static void
test_stop (void)
{
  const char *ways[] = { "deaf", "slow-to-stop", "endless" };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      gint64 begin = g_get_monotonic_time ();
      Run run = run_until (ways[i], NULL, LONG, 1);

      g_assert_no_error (run.error);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 10 * G_USEC_PER_SEC);
      run_clear (&run);
    }
}

static void
test_missing (void)
{
  g_autofree char *old = g_strdup (g_getenv ("QUARTERMASTER_BENCH"));

  g_setenv ("QUARTERMASTER_BENCH", "/nonexistent/qm-bench", TRUE);
  expect ("answer", NULL, LONG, 0, QM_BENCH_ERROR_MISSING);
  g_setenv ("QUARTERMASTER_BENCH", old, TRUE);
}

static char *
pid_file (void)
{
  g_autofree char *name =
      g_strdup_printf ("qm-stand-in-%d-%u", (int) getpid (), g_random_int ());

  return g_build_filename (g_get_tmp_dir (), name, NULL);
}

/* Whether a process is there that has not ended. */
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

static gboolean
is_gone (int pid)
{
  for (int i = 0; i < 500; i++)
    {
      if (!lives (pid))
        return TRUE;
      g_usleep (10000);
    }
  return FALSE;
}

static void
read_pids (const char *path, int pids[2])
{
  g_autofree char *text = NULL;
  char *end = NULL;

  for (int i = 0; i < 500 && (text == NULL || strchr (text, '\n') == NULL); i++)
    {
      g_clear_pointer (&text, g_free);
      g_file_get_contents (path, &text, NULL, NULL);
      g_usleep (10000);
    }
  g_assert_nonnull (text);
  pids[0] = (int) g_ascii_strtoll (text, &end, 10);
  pids[1] = (int) g_ascii_strtoll (end, NULL, 10);
  g_assert_cmpint (pids[0], >, 1);
  g_assert_cmpint (pids[1], >, 1);
}

static void
test_children (void)
{
  const char *ways[] = { "child", "leaves-child" };
  int pids[2];

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *path = pid_file ();
      Run run = run_until (ways[i], path, LONG, i == 0 ? 1 : 0);

      g_assert_no_error (run.error);
      read_pids (path, pids);
      g_assert_true (is_gone (pids[0]));
      g_assert_true (is_gone (pids[1]));
      g_unlink (path);
      run_clear (&run);
    }
  {
    /* It has the pipe and is in nobody's group: it is not waited for. */
    g_autofree char *path = pid_file ();
    Run run = run_until ("leaves-daemon", path, LONG, 0);

    g_assert_no_error (run.error);
    read_pids (path, pids);
    kill (pids[1], SIGKILL);
    g_unlink (path);
    run_clear (&run);
  }
}

/* The child of a window that is killed is killed, too. */
static void
test_orphan (void)
{
  g_autofree char *path = pid_file ();
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  char mode[] = "--window";
  char *window[] = { self, mode, path, NULL };
  g_autoptr (GError) error = NULL;
  int pids[2];
  GPid pid;

  g_spawn_async (NULL, window, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                 &pid, &error);
  g_assert_no_error (error);
  read_pids (path, pids);
  g_assert_true (lives (pids[0]));
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  g_assert_true (is_gone (pids[0]));
  kill (pids[1], SIGKILL);
  g_unlink (path);
}

/* Starts a child and waits. */
G_NORETURN static void
be_window (const char *path)
{
  const char *arguments[] = { "child", path, NULL };
  g_autoptr (QmBenchProcess) process = qm_bench_process_new (arguments);

  qm_bench_process_start (process);
  for (;;)
    g_main_context_iteration (NULL, TRUE);
}

static void
answered_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  GAsyncResult **place = data;

  *place = g_object_ref (result);
}

static GAsyncResult *
ask (const char *what, const char *value, GCancellable *cancellable)
{
  const char *arguments[] = { what, value, NULL };
  GAsyncResult *result = NULL;

  qm_bench_query_async (arguments, 2000, cancellable, answered_cb, &result);
  if (cancellable != NULL)
    g_cancellable_cancel (cancellable);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return result;
}

static void
test_query (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autofree char *log = NULL;
  GAsyncResult *result = ask ("answer", NULL, NULL);
  GPtrArray *answers = qm_bench_query_finish (result, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (answers->len, ==, 2);
  g_assert_cmpint (
      json_integer_value (json_object_get (answers->pdata[1], "n")), ==, 2);
  g_ptr_array_unref (answers);
  g_object_unref (result);

  result = ask ("exit", "4", NULL);
  g_assert_null (qm_bench_query_finish (result, &log, &error));
  g_assert_error (error, QM_BENCH_ERROR, QM_BENCH_ERROR_DEVICE);
  g_assert_true (g_str_has_prefix (log, "some remark"));
  g_clear_error (&error);
  g_object_unref (result);

  result = ask ("endless", NULL, NULL);
  g_assert_null (qm_bench_query_finish (result, NULL, &error));
  g_assert_error (error, QM_BENCH_ERROR, QM_BENCH_ERROR_GARBAGE);
  g_clear_error (&error);
  g_object_unref (result);

  result = ask ("silence", NULL, cancellable);
  g_assert_null (qm_bench_query_finish (result, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_object_unref (result);
}

int
main (int argc, char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "--window"))
    be_window (argv[2]);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bench-process/answers", test_answers);
  g_test_add_func ("/bench-process/silence", test_silence);
  g_test_add_func ("/bench-process/garbage", test_garbage);
  g_test_add_func ("/bench-process/signals", test_signals);
  g_test_add_func ("/bench-process/statuses", test_statuses);
  g_test_add_func ("/bench-process/endless", test_endless);
  g_test_add_func ("/bench-process/stop", test_stop);
  g_test_add_func ("/bench-process/missing", test_missing);
  g_test_add_func ("/bench-process/children", test_children);
  g_test_add_func ("/bench-process/orphan", test_orphan);
  g_test_add_func ("/bench-process/query", test_query);
  return g_test_run ();
}
