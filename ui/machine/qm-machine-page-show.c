/* SPDX-License-Identifier: Apache-2.0 */

/* What the page says of a session. */

#include "config.h"

#include "ui/machine/qm-machine-page-private.h"

#include "pricing/qm-format.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define SECONDS_PER_DAY 86400.0

guint
qm_machine_page_count (QmBenchSession *session, QmBenchRowState state)
{
  GListModel *rows = qm_bench_session_get_rows (session);
  guint n = g_list_model_get_n_items (rows), count = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row = g_list_model_get_item (rows, i);

      count += qm_bench_row_get_state (row) == state;
    }
  return count;
}

static char *
describe_sensors (QmBenchSession *session)
{
  double celsius = qm_bench_session_get_celsius (session);
  double watts = qm_bench_session_get_watts (session);
  double limit = qm_bench_session_get_watts_limit (session);
  GString *text = g_string_new (NULL);

  if (isfinite (celsius))
    g_string_append_printf (text, _ ("%.0f °C"), celsius);
  if (isfinite (watts) && text->len > 0)
    g_string_append (text, " · ");
  if (isfinite (watts) && isfinite (limit))
    /* Translators: power that is used, and its limit, in watts. */
    g_string_append_printf (text, _ ("%.0f of %.0f W"), watts, limit);
  else if (isfinite (watts))
    g_string_append_printf (text, _ ("%.0f W"), watts);
  if (*qm_bench_session_get_throttle (session) != '\0')
    g_string_append_printf (text, " · %s",
                            qm_bench_session_get_throttle (session));
  return g_string_free (text, FALSE);
}

static char *
describe_left (QmBenchSession *session)
{
  double seconds = qm_bench_session_get_seconds_left (session);
  g_autofree char *time = NULL;
  guint n = g_list_model_get_n_items (qm_bench_session_get_rows (session));
  guint done = qm_bench_session_get_n_done (session);

  if (!isfinite (seconds))
    return g_strdup_printf (_ ("%u of %u configurations"), done, n);
  time = qm_format_days (seconds / SECONDS_PER_DAY);
  /* Translators: done, all, a time: "3 of 12 configurations, about 12 minutes
   * left". */
  return g_strdup_printf (_ ("%u of %u configurations, about %s left"), done, n,
                          time);
}

static const char *
headline_of (QmBenchSession *session)
{
  switch (qm_bench_session_get_state (session))
    {
    case QM_BENCH_SESSION_RUNNING:
      return _ ("Measuring");
    case QM_BENCH_SESSION_STOPPING:
      return _ ("Stopping");
    case QM_BENCH_SESSION_PAUSED:
      return _ ("Paused");
    case QM_BENCH_SESSION_FINISHED:
      return _ ("The benchmark is done");
    case QM_BENCH_SESSION_FAILED:
      return _ ("The benchmark stopped");
    case QM_BENCH_SESSION_IDLE:
    case QM_BENCH_SESSION_ESTIMATING:
    case QM_BENCH_SESSION_READY:
    default:
      return NULL;
    }
}

static char *
describe_current (QmBenchSession *session)
{
  QmBenchRow *row = qm_bench_session_get_current (session);
  g_autofree char *method = NULL;
  g_autofree char *batch = NULL;

  if (row == NULL)
    return NULL;
  method = qm_bench_column_place (row);
  batch = qm_bench_column_text (QM_BENCH_COLUMN_MICRO_BATCH, row);
  if (*batch == '\0')
    return g_strdup_printf ("%s, %s", qm_bench_row_get_title (row), method);
  /* Translators: model, method, a number of samples. */
  return g_strdup_printf (_ ("%s, %s, micro-batch %s"),
                          qm_bench_row_get_title (row), method, batch);
}

void
qm_machine_page_show_watch (QmMachinePage *self)
{
  QmBenchSession *session = self->session;
  QmBenchSessionState state = qm_bench_session_get_state (session);
  QmBenchRow *row = qm_bench_session_get_current (session);
  g_autofree char *left = describe_left (session);
  g_autofree char *current = describe_current (session);
  g_autofree char *sensors = describe_sensors (session);
  QmBenchWatched watched = {
    .headline = headline_of (session),
    .running = state == QM_BENCH_SESSION_RUNNING
               || state == QM_BENCH_SESSION_STOPPING
               || state == QM_BENCH_SESSION_PAUSED,
    .can_pause = state == QM_BENCH_SESSION_RUNNING,
    .can_continue =
        state == QM_BENCH_SESSION_PAUSED || state == QM_BENCH_SESSION_FAILED,
    .can_try_again =
        state == QM_BENCH_SESSION_FINISHED
        && qm_machine_page_count (session, QM_BENCH_ROW_FAILED) > 0,
    .can_cancel = state == QM_BENCH_SESSION_RUNNING
                  || state == QM_BENCH_SESSION_PAUSED
                  || state == QM_BENCH_SESSION_FAILED,
    .overall = qm_bench_session_get_progress (session),
    .overall_text = left,
    .current = row != NULL ? qm_bench_row_get_progress (row) : 0,
    .current_text = current,
    .sensors = sensors,
    .failure = qm_bench_session_get_failure (session),
    .log = qm_bench_session_get_log (session),
  };

  qm_bench_watch_show (self->watch,
                       watched.headline != NULL || watched.failure != NULL
                           ? &watched
                           : NULL);
}

/* What is predicted of a model: the best of its configurations. */
typedef struct
{
  QmBenchRow *best;   /* owned; NULL: none fits */
  QmBenchRow *reason; /* owned; one that does not fit or is not run; NULL */
} Outlook;

static void
outlook_free (gpointer data)
{
  Outlook *outlook = data;

  g_clear_object (&outlook->best);
  g_clear_object (&outlook->reason);
  g_free (outlook);
}

static gboolean
is_out (QmBenchRow *row)
{
  QmBenchRowState state = qm_bench_row_get_state (row);

  return state == QM_BENCH_ROW_INFEASIBLE || state == QM_BENCH_ROW_NOT_RUN;
}

/* Measured before predicted, then the faster; what is not known last. */
static gboolean
is_better (QmBenchRow *row, QmBenchRow *than)
{
  gboolean measured = qm_bench_row_get_state (row) == QM_BENCH_ROW_MEASURED;
  double days = qm_bench_row_get_days (row).value;

  if (than == NULL)
    return TRUE;
  if (measured != (qm_bench_row_get_state (than) == QM_BENCH_ROW_MEASURED))
    return measured;
  return isfinite (days) && !(qm_bench_row_get_days (than).value <= days);
}

static GHashTable *
find_outlooks (GListModel *rows)
{
  GHashTable *outlooks =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, outlook_free);
  guint n = g_list_model_get_n_items (rows);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row = g_list_model_get_item (rows, i);
      const char *model = qm_bench_row_get_model (row);
      Outlook *outlook = g_hash_table_lookup (outlooks, model);

      if (outlook == NULL)
        {
          outlook = g_new0 (Outlook, 1);
          g_hash_table_insert (outlooks, g_strdup (model), outlook);
        }
      if (is_out (row))
        {
          /* The last way is the one that saves the most memory. */
          g_set_object (&outlook->reason, row);
        }
      else if (is_better (row, outlook->best))
        g_set_object (&outlook->best, row);
    }
  return outlooks;
}

/* A text about several GPUs says so.  Takes it.  (transfer full) */
static char *
of_gpus (int gpus, char *text)
{
  char *several;

  if (gpus == 1)
    return text;
  /* Translators: a number of more than one, what is said of so many. */
  several = g_strdup_printf (_ ("%d GPUs: %s"), gpus, text);
  g_free (text);
  return several;
}

static char *
describe_days (QmBenchRow *row)
{
  QmBenchFigure days = qm_bench_row_get_days (row);
  g_autofree char *figure = NULL;

  if (!isfinite (days.value))
    return g_strdup (_ ("Fits"));
  if (qm_bench_row_get_state (row) == QM_BENCH_ROW_MEASURED)
    {
      figure = qm_format_days (days.value);
      /* Translators: a time, like "34 days". */
      return g_strdup_printf (_ ("Measured: %s"), figure);
    }
  figure = qm_format_days_range (days.value, days.low, days.high);
  /* Translators: a time or an interval, like "28 to 45 days". */
  return g_strdup_printf (_ ("Fits, predicted: %s"), figure);
}

static char *
describe_outlook (const Outlook *outlook)
{
  if (outlook->best == NULL && outlook->reason != NULL)
    return qm_bench_column_text (QM_BENCH_COLUMN_STATE, outlook->reason);
  if (outlook->best == NULL)
    return g_strdup ("");
  return of_gpus (qm_bench_row_get_gpus (outlook->best),
                  describe_days (outlook->best));
}

void
qm_machine_page_show_promises (QmMachinePage *self, gboolean in_catalog)
{
  qm_bench_setup_set_predicts (self->setup, in_catalog);
  gtk_widget_set_visible (self->plots_button, in_catalog);
  adw_status_page_set_description (
      self->empty,
      in_catalog
          ? _ ("Choose models and press Benchmark: each is really trained for "
               "a few steps, and what this machine needs for the whole "
               "training joins the plots.")
          : _ ("Choose models and press Benchmark: each is really trained for "
               "a few steps. What this machine needs for the whole training "
               "is told here; the plots compare GPUs of the catalog, of which "
               "this device is none."));
}

void
qm_machine_page_show_predictions (QmMachinePage *self)
{
  g_autoptr (GHashTable) outlooks = NULL;
  GHashTableIter iter;
  gpointer model, outlook;

  if (qm_bench_session_get_state (self->overview) != QM_BENCH_SESSION_READY)
    return;
  qm_machine_page_show_promises (self, qm_bench_session_get_gpu (self->overview)
                                           != NULL);
  outlooks = find_outlooks (qm_bench_session_get_rows (self->overview));
  g_hash_table_iter_init (&iter, outlooks);
  while (g_hash_table_iter_next (&iter, &model, &outlook))
    {
      g_autofree char *text = describe_outlook (outlook);

      qm_bench_setup_set_prediction (self->setup, model, text,
                                     ((Outlook *) outlook)->best != NULL);
    }
}

static char *
describe_estimate (QmBenchSession *session)
{
  guint n = qm_machine_page_count (session, QM_BENCH_ROW_WAITING);
  double seconds = qm_bench_session_get_seconds_left (session);
  g_autofree char *time = NULL;

  if (qm_bench_session_get_failure (session) != NULL)
    return g_strdup (_ ("This cannot be measured"));
  if (n == 0)
    return g_strdup (_ ("Nothing is left to measure"));
  if (!isfinite (seconds))
    return g_strdup_printf (
        ngettext ("%u configuration", "%u configurations", n), n);
  time = qm_format_days (seconds / SECONDS_PER_DAY);
  /* Translators: a number, a time: "12 configurations, predicted to take about
   * 20 minutes". */
  return g_strdup_printf (
      ngettext ("%u configuration, predicted to take about %s",
                "%u configurations, predicted to take about %s", n),
      n, time);
}

void
qm_machine_page_show_estimate (QmMachinePage *self)
{
  g_autofree char *text = NULL;

  switch (qm_bench_session_get_state (self->session))
    {
    case QM_BENCH_SESSION_IDLE:
      text = g_strdup (qm_bench_setup_get_device (self->setup) != NULL
                           ? _ ("Choose a model")
                           : "");
      break;
    case QM_BENCH_SESSION_ESTIMATING:
      text = g_strdup (_ ("Planning…"));
      break;
    case QM_BENCH_SESSION_READY:
      text = describe_estimate (self->session);
      break;
    case QM_BENCH_SESSION_RUNNING:
    case QM_BENCH_SESSION_STOPPING:
    case QM_BENCH_SESSION_PAUSED:
    case QM_BENCH_SESSION_FINISHED:
    case QM_BENCH_SESSION_FAILED:
    default:
      text = g_strdup (headline_of (self->session));
    }
  qm_bench_setup_set_estimate (self->setup, text);
}

gboolean
qm_machine_page_can_start (QmMachinePage *self)
{
  return qm_bench_session_get_state (self->session) == QM_BENCH_SESSION_READY
         && !qm_bench_setup_is_measuring (self->setup)
         && qm_machine_page_count (self->session, QM_BENCH_ROW_WAITING) > 0;
}
