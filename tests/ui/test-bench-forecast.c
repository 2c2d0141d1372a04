/* SPDX-License-Identifier: Apache-2.0 */

/* What is predicted of that which a benchmark has in view, by a stand-in for
 * qm-bench. */

#include "config.h"

#include "data/catalog.h"
#include "tests/ui/folder.h"
#include "ui/machine/qm-bench-session.h"
#include "ui/machine/qm-forecaster.h"

#include <glib/gstdio.h>
#include <math.h>

#define LIMIT 60000 /* milliseconds */
#define DAYS  353.0
#define EACH  4 /* rows of a model, of which the first is predicted */

static const char *const models[] = { "pythia-1b", "pythia-160m",
                                      "nobody-has-it", NULL };
static const char *const failing[] = { "mamba-2.8b", NULL };

typedef struct
{
  QmCatalogKeeper *keeper;
  QmBenchSession *session;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  QmCatalog *catalog;
  QmError error;

  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  f->keeper = qm_catalog_keeper_new ();
  qm_catalog_keeper_take (f->keeper, catalog);
  f->session = qm_bench_session_new (f->keeper);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_assert_finalize_object (f->session);
  g_assert_finalize_object (f->keeper);
  /* What was under way ends without them. */
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static gboolean
too_late_cb (gpointer data)
{
  g_error ("it took too long");
  return G_SOURCE_REMOVE;
}

static QmBenchFigure
days_of (Fixture *f, guint at)
{
  g_autoptr (QmBenchRow) row =
      g_list_model_get_item (qm_bench_session_get_rows (f->session), at);

  g_assert_nonnull (row);
  return qm_bench_row_get_days (row);
}

static gboolean
is_planned (Fixture *f)
{
  return qm_bench_session_get_state (f->session) == QM_BENCH_SESSION_READY;
}

static gboolean
is_predicted (Fixture *f)
{
  return isfinite (days_of (f, 0).value) && isfinite (days_of (f, EACH).value);
}

static void
wait_for (Fixture *f, gboolean (*done) (Fixture *f))
{
  guint limit = g_timeout_add (LIMIT, too_late_cb, NULL);

  while (!done (f))
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (limit);
}

static void
plan (Fixture *f, const char *const *of)
{
  qm_bench_session_estimate (f->session, "cuda:0", NULL, of,
                             QM_BENCH_METHODS_ALL);
  wait_for (f, is_planned);
  g_assert_cmpstr (qm_bench_session_get_gpu (f->session), ==, "h200-141gb-sxm");
  g_assert_cmpuint (g_list_model_get_n_items (
                        qm_bench_session_get_rows (f->session)),
                    ==, EACH * g_strv_length ((char **) of));
}

static void
assert_predicted (Fixture *f)
{
  for (guint i = 0; i < EACH * (G_N_ELEMENTS (models) - 1); i++)
    {
      QmBenchFigure days = days_of (f, i);

      if (i == 0 || i == EACH)
        {
          g_assert_cmpfloat_with_epsilon (days.value, DAYS, 1e-9);
          g_assert_cmpfloat_with_epsilon (days.low, 0.8 * DAYS, 1e-9);
          g_assert_cmpfloat_with_epsilon (days.high, 1.2 * DAYS, 1e-9);
        }
      else
        g_assert_true (isnan (days.value));
    }
}

static void
count_cb (QmBenchSession *session, guint *count)
{
  ++*count;
}

/* It comes later than the rows, and whoever shows them is told. */
static void
test_rows (Fixture *f, gconstpointer data)
{
  guint n_changed = 0;

  plan (f, models);
  g_signal_connect (f->session, "changed", G_CALLBACK (count_cb), &n_changed);
  if (is_predicted (f))
    g_test_message ("it was there with the rows");
  else
    {
      wait_for (f, is_predicted);
      g_assert_cmpuint (n_changed, >, 0);
    }
  assert_predicted (f);
}

/* Another catalog may predict otherwise. */
static void
test_again (Fixture *f, gconstpointer data)
{
  QmCatalog *catalog;
  QmError error;

  plan (f, models);
  wait_for (f, is_predicted);
  g_assert_cmpint (qm_catalog_load (g_getenv ("QM_TEST_DATA_DIR"), NULL,
                                    &catalog, &error),
                   ==, QM_OK);
  qm_catalog_keeper_take (f->keeper, catalog);
  g_assert_false (is_predicted (f));
  wait_for (f, is_predicted);
  assert_predicted (f);
}

/* Nothing is predicted, and what is planned stays. */
static void
test_unpredicted (Fixture *f, gconstpointer data)
{
  guint n_changed = 0;

  plan (f, failing);
  g_signal_connect (f->session, "changed", G_CALLBACK (count_cb), &n_changed);
  for (gint64 end = g_get_monotonic_time () + G_USEC_PER_SEC;
       g_get_monotonic_time () < end;)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
  for (guint i = 0; i < EACH; i++)
    g_assert_true (isnan (days_of (f, i).value));
  g_assert_true (is_planned (f));
  g_assert_null (qm_bench_session_get_failure (f->session));
  /* It is told of once, and nothing is asked anew. */
  g_assert_cmpuint (n_changed, <=, 1);
}

/* Nobody is left to be told. */
static void
test_gone (Fixture *f, gconstpointer data)
{
  plan (f, models);
}

static gboolean
keep_busy_cb (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

static void
turn_for (gint64 microseconds)
{
  for (gint64 end = g_get_monotonic_time () + microseconds;
       g_get_monotonic_time () < end;)
    g_main_context_iteration (NULL, FALSE);
}

/* Nothing is asked while there is something to show; that it will be is known
 * at once, and what is forgotten before is never asked. */
static void
test_quiet_moment (void)
{
  g_autoptr (QmForecaster) forecaster = qm_forecaster_new ();
  guint n_changed = 0, limit;
  guint busy = g_idle_add (keep_busy_cb, NULL);

  g_signal_connect (forecaster, "changed", G_CALLBACK (count_cb), &n_changed);
  g_assert_false (qm_forecasts_is_pending (qm_forecaster_get (forecaster)));
  qm_forecaster_ask (forecaster, "pythia-1b", "free-lunch", "all", "1");
  g_assert_true (qm_forecasts_is_pending (qm_forecaster_get (forecaster)));
  turn_for (G_USEC_PER_SEC);
  g_assert_cmpuint (n_changed, ==, 0);
  g_source_remove (busy);
  limit = g_timeout_add (LIMIT, too_late_cb, NULL);
  while (n_changed == 0)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (limit);
  g_assert_false (qm_forecasts_is_pending (qm_forecaster_get (forecaster)));

  qm_forecaster_ask (forecaster, "pythia-160m", "free-lunch", "all", "1");
  qm_forecaster_forget (forecaster);
  turn_for (G_USEC_PER_SEC);
  g_assert_cmpuint (n_changed, ==, 1);
  g_assert_false (qm_forecasts_is_pending (qm_forecaster_get (forecaster)));
}

int
main (int argc, char **argv)
{
  g_autofree char *home = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  home = g_dir_make_tmp ("qm-forecast-XXXXXX", NULL);
  g_setenv ("XDG_DATA_HOME", home, TRUE);
#define ADD(name, test) \
  g_test_add ("/bench-forecast/" name, Fixture, NULL, set_up, test, tear_down)
  ADD ("rows", test_rows);
  ADD ("again", test_again);
  ADD ("unpredicted", test_unpredicted);
  ADD ("gone", test_gone);
#undef ADD
  g_test_add_func ("/bench-forecast/quiet-moment", test_quiet_moment);
  status = g_test_run ();
  remove_folder (home);
  return status;
}
