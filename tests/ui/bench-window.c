/* SPDX-License-Identifier: Apache-2.0 */

/* How long the window takes.
 *
 *   bench-window                  everything
 *   bench-window --search DEVICE MODEL
 *                                 turns of the main loop alone, as while the
 *                                 processor searches, but with a model of the
 *                                 catalog on another device
 *   bench-window --first-frame    one start: prints the moment, on the
 *                                 monotonic clock, when its first frame is
 *                                 drawn
 *
 * A move is one step of a budget slider, from the changed value to the end of
 * the drawn frame, in a window with both plots, the card and the table.  Moves
 * are made one by one, each after the last frame has been shown, so that no
 * figure holds the wait for the next refresh of the screen.
 *
 * A turn is one iteration of the main loop without its waiting, while a search
 * of qm-bench runs and the page of this machine shows it; each
 * should take less than 50 ms. */

#include "data/catalog.h"
#include "data/datadir.h"
#include "tests/ui/synthetic.h"
#include "ui/advisor/qm-results-view.h"
#include "ui/machine/qm-machine-page.h"
#include "ui/qm-application.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define N_MOVES  60
#define N_STARTS 20
#define PAUSE_MS 40

static gint64 frame_end;
static gboolean waiting;

static void
after_paint_cb (GdkFrameClock *clock)
{
  if (!waiting)
    return;
  frame_end = g_get_monotonic_time ();
  waiting = FALSE;
}

static void
wait_for_frame (void)
{
  waiting = TRUE;
  while (waiting)
    g_main_context_iteration (NULL, TRUE);
}

static void
set_flag_cb (gpointer data)
{
  *(gboolean *) data = TRUE;
}

static void
pause_a_little (void)
{
  gboolean over = FALSE;

  g_timeout_add_once (PAUSE_MS, set_flag_cb, &over);
  while (!over)
    g_main_context_iteration (NULL, TRUE);
}

/* What the process has computed for so far, whoever else had the processor. */
static double
processor_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const double *p = a;
  const double *q = b;

  return (*p > *q) - (*p < *q);
}

static void
report (const char *what, double *times, guint n)
{
  qsort (times, n, sizeof *times, compare_times);
  g_print ("%-44s median %7.2f ms   90%% %7.2f ms   worst %7.2f ms\n", what,
           times[n / 2], times[n * 9 / 10], times[n - 1]);
}

/* One step up or down: the slider goes from end to end in as many steps as it
 * has pixels, about. */
static double
budget_of (guint step)
{
  double share = 0.5 + 0.45 * sin (step * 0.21);

  return QM_BUDGET_MIN * pow (QM_BUDGET_MAX / QM_BUDGET_MIN, share);
}

static void
bench_moves (const char *data_dir, guint n_gpus)
{
  QmCatalog *catalog = synthetic_catalog_new (data_dir, n_gpus);
  QmAdvisor *advisor = qm_advisor_new (catalog);
  GtkWidget *window = gtk_window_new ();
  double times[N_MOVES];
  double recompute[N_MOVES];
  double computed[N_MOVES];
  g_autofree char *what = NULL;
  guint n;

  qm_advice_candidates (qm_advisor_get_advice (advisor, 0), &n);
  gtk_window_set_default_size (GTK_WINDOW (window), 940, 808);
  gtk_window_set_child (GTK_WINDOW (window),
                        g_object_new (QM_TYPE_RESULTS_VIEW, "advisor", advisor,
                                      NULL));
  gtk_window_present (GTK_WINDOW (window));
  g_signal_connect (gtk_widget_get_frame_clock (window), "after-paint",
                    G_CALLBACK (after_paint_cb), NULL);
  wait_for_frame ();
  for (guint i = 0; i < N_MOVES; i++)
    {
      double computed_before;
      gint64 begin;

      pause_a_little ();
      computed_before = processor_ms ();
      begin = g_get_monotonic_time ();
      g_object_set (advisor, "budget", budget_of (i), NULL);
      recompute[i] = (double) (g_get_monotonic_time () - begin) / 1000;
      wait_for_frame ();
      computed[i] = processor_ms () - computed_before;
      times[i] = (double) (frame_end - begin) / 1000;
    }
  what = g_strdup_printf ("one move, %u candidates", n);
  report (what, times, N_MOVES);
  report ("  of it before the frame begins", recompute, N_MOVES);
  report ("  of it on the processor", computed, N_MOVES);
  gtk_window_destroy (GTK_WINDOW (window));
  g_object_unref (advisor);
  qm_catalog_free (catalog);
}

/* Turns of the main loop: from the end of one poll to the begin of the next. */

static GPollFunc real_poll;
static GArray *turns; /* double, milliseconds */
static gint64 turn_begin;

static gint
timed_poll (GPollFD *fds, guint n, gint timeout)
{
  double turn = (double) (g_get_monotonic_time () - turn_begin) / 1000;
  gint result;

  if (turn_begin > 0)
    g_array_append_val (turns, turn);
  result = real_poll (fds, n, timeout);
  turn_begin = g_get_monotonic_time ();
  return result;
}

/* A model that takes a moment on the processor. */
static void
write_model (const char *user)
{
  static const char *const model =
      "{\"id\": \"tiny\", \"name\": \"Tiny\", \"source\": \"a test\","
      " \"config\": {\"model_type\": \"gpt_neox\", \"vocab_size\": 256,"
      " \"hidden_size\": 128, \"num_hidden_layers\": 2,"
      " \"num_attention_heads\": 4, \"intermediate_size\": 512,"
      " \"hidden_act\": \"gelu\", \"max_position_embeddings\": 512},"
      " \"recipe\": {\"batch_size\": 8, \"steps\": 100,"
      " \"sequence_length\": 64, \"precision\": \"fp32\","
      " \"optimizer\": \"adamw\", \"learning_rate\": 0.003, \"beta1\": 0.9,"
      " \"beta2\": 0.95, \"epsilon\": 1e-8, \"weight_decay\": 0.01,"
      " \"max_grad_norm\": 1.0}}";
  g_autofree char *folder = g_build_filename (user, "models", NULL);
  g_autofree char *path = g_build_filename (folder, "tiny.json", NULL);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (folder, 0700);
  g_file_set_contents (path, model, -1, &error);
  g_assert_no_error (error);
}

static void
wait_for_state (QmBenchSession *session, QmBenchSessionState state)
{
  while (qm_bench_session_get_state (session) != state)
    {
      if (qm_bench_session_get_failure (session) != NULL)
        g_error ("%s", qm_bench_session_get_failure (session));
      g_main_context_iteration (NULL, TRUE);
    }
}

static void
bench_search (const char *data_dir, const char *device, const char *model)
{
  const char *const models[] = { model, NULL };
  g_autoptr (QmLocalMachine) machine = qm_local_machine_new ();
  g_autoptr (QmBenchSession) session = NULL;
  GtkWidget *window = gtk_window_new ();
  char user[PATH_MAX];
  g_autoptr (QmCatalogKeeper) keeper = qm_catalog_keeper_new ();
  QmCatalog *catalog;
  QmError error;

  if (!qm_user_data_dir (user, sizeof user))
    g_error ("there is no folder for the model");
  write_model (user);
  if (qm_catalog_load (data_dir, user, &catalog, &error) != QM_OK)
    g_error ("%s", error.message);
  qm_catalog_keeper_take (keeper, catalog);
  session = qm_bench_session_new (keeper);
  gtk_window_set_default_size (GTK_WINDOW (window), 1280, 860);
  gtk_window_set_child (GTK_WINDOW (window),
                        qm_machine_page_new (keeper, machine, session, NULL));
  gtk_window_present (GTK_WINDOW (window));
  while (qm_local_machine_get_state (machine) == QM_MACHINE_ASKING)
    g_main_context_iteration (NULL, TRUE);
  qm_bench_session_estimate (session, device, NULL, models,
                             QM_BENCH_METHODS_ALL);
  wait_for_state (session, QM_BENCH_SESSION_READY);
  turns = g_array_new (FALSE, FALSE, sizeof (double));
  real_poll = g_main_context_get_poll_func (NULL);
  g_main_context_set_poll_func (NULL, timed_poll);
  qm_bench_session_start (session);
  wait_for_state (session, QM_BENCH_SESSION_FINISHED);
  g_main_context_set_poll_func (NULL, real_poll);
  report ("one turn of the main loop during a search",
          (double *) (void *) turns->data, turns->len);
  g_array_unref (turns);
  gtk_window_destroy (GTK_WINDOW (window));
  qm_catalog_free (catalog);
}

static void
first_frame_cb (GdkFrameClock *clock, GApplication *application)
{
  g_print ("%" G_GINT64_FORMAT "\n", g_get_monotonic_time ());
  g_signal_handlers_disconnect_by_func (clock, first_frame_cb, application);
  g_application_quit (application);
}

static void
window_realized_cb (GtkWidget *window, GApplication *application)
{
  g_signal_connect (gtk_widget_get_frame_clock (window), "after-paint",
                    G_CALLBACK (first_frame_cb), application);
}

static void
window_added_cb (GtkApplication *application, GtkWindow *window)
{
  if (gtk_widget_get_realized (GTK_WIDGET (window)))
    window_realized_cb (GTK_WIDGET (window), G_APPLICATION (application));
  else
    g_signal_connect (window, "realize", G_CALLBACK (window_realized_cb),
                      application);
}

static int
run_once (void)
{
  g_autoptr (QmApplication) application = qm_application_new (NULL);

  g_application_set_flags (G_APPLICATION (application),
                           G_APPLICATION_NON_UNIQUE);
  g_signal_connect (application, "window-added", G_CALLBACK (window_added_cb),
                    NULL);
  return g_application_run (G_APPLICATION (application), 0, NULL);
}

/* With a catalog: the shipped one grows, that of the tests does not. */
static void
bench_starts (const char *program, const char *data_dir, const char *what)
{
  double times[N_STARTS];
  g_auto (GStrv) environment =
      g_environ_setenv (g_get_environ (), "QUARTERMASTER_DATA_DIR", data_dir,
                        TRUE);

  for (guint i = 0; i < N_STARTS; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = NULL;
      const char *argv[] = { program, "--first-frame", NULL };
      gint64 begin = g_get_monotonic_time ();

      g_spawn_sync (NULL, (char **) argv, environment, G_SPAWN_SEARCH_PATH,
                    NULL, NULL, &text, NULL, NULL, &error);
      g_assert_no_error (error);
      times[i] = (double) (g_ascii_strtoll (text, NULL, 10) - begin) / 1000;
    }
  report (what, times, N_STARTS);
}

int
main (int argc, char **argv)
{
  const char *data_dir = g_getenv ("QM_TEST_DATA_DIR");
  const char *shipped = g_getenv ("QM_SHIPPED_DATA_DIR");

  if (argc > 1 && strcmp (argv[1], "--first-frame") == 0)
    return run_once ();
  if (data_dir == NULL)
    g_error ("QM_TEST_DATA_DIR names no directory");
  if (argc == 4 && strcmp (argv[1], "--search") == 0)
    {
      adw_init ();
      bench_search (data_dir, argv[2], argv[3]);
      return 0;
    }
  if (argc == 3 && strcmp (argv[1], "--moves") == 0)
    {
      adw_init ();
      bench_moves (data_dir, (guint) atoi (argv[2]));
      return 0;
    }
  bench_starts (argv[0], data_dir, "start to first drawn frame");
  if (shipped != NULL)
    bench_starts (argv[0], shipped, "  with the shipped catalog");
  adw_init ();
  bench_moves (data_dir, 2);
  bench_moves (data_dir, 125);
  bench_moves (data_dir, 2500);
  bench_search (data_dir, "cpu", "tiny");
  return 0;
}
