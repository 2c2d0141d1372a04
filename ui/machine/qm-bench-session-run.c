/* SPDX-License-Identifier: Apache-2.0 */

/* What qm-bench says about a search, line by line. */

#include "config.h"

#include "ui/machine/qm-bench-session-private.h"
#include "ui/machine/qm-machine-text.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* No search has more configurations: what says so is wrong. */
#define MAX_ROWS 4096

static void
take_text (char **place, const json_t *line, const char *name)
{
  const char *text = json_string_value (json_object_get (line, name));

  g_free (*place);
  *place = g_strdup (text);
}

static const char *
title_of (QmBenchSession *self, const json_t *line)
{
  const char *id = json_string_value (json_object_get (line, "model"));
  const QmModel *model =
      id != NULL ? qm_catalog_model (qm_catalog_keeper_get (self->keeper), id)
                 : NULL;

  return model != NULL ? model->name : id != NULL ? id : "";
}

/* The row of a line: the one that was there, or a new one. */
static QmBenchRow *
find_row (QmBenchSession *self, const json_t *line)
{
  g_autofree char *key = qm_bench_row_key (line);
  QmBenchRow *row = g_hash_table_lookup (self->by_key, key);

  if (row != NULL)
    qm_bench_row_update (row, line);
  else
    {
      row = qm_bench_row_new (line, title_of (self, line));
      g_hash_table_insert (self->by_key, g_steal_pointer (&key), row);
    }
  qm_bench_session_predict (self, row);
  return row;
}

static gboolean
has_same_rows (QmBenchSession *self, const GPtrArray *wanted)
{
  GListModel *rows = G_LIST_MODEL (self->rows);

  if (g_list_model_get_n_items (rows) != wanted->len)
    return FALSE;
  for (guint i = 0; i < wanted->len; i++)
    {
      g_autoptr (QmBenchRow) row = g_list_model_get_item (rows, i);

      if (row != g_ptr_array_index (wanted, i))
        return FALSE;
    }
  return TRUE;
}

/* Appends the rows of fewer GPUs than so many, or of more. */
static void
add_others (QmBenchSession *self, GPtrArray *rows, int gpus, gboolean more)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->rows));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row =
          g_list_model_get_item (G_LIST_MODEL (self->rows), i);
      int its = qm_bench_row_get_gpus (row);

      if (more ? its > gpus : its < gpus)
        g_ptr_array_add (rows, row);
    }
}

/* Shows these rows and no others; those that are the same stay. */
static void
show_all (QmBenchSession *self, GPtrArray *wanted)
{
  GHashTableIter iter;
  gpointer row;

  if (!has_same_rows (self, wanted))
    g_list_store_splice (self->rows, 0,
                         g_list_model_get_n_items (G_LIST_MODEL (self->rows)),
                         wanted->pdata, wanted->len);
  g_hash_table_iter_init (&iter, self->by_key);
  while (g_hash_table_iter_next (&iter, NULL, &row))
    if (!g_ptr_array_find (wanted, row, NULL))
      g_hash_table_iter_remove (&iter);
}

static gpointer
take_row (gconstpointer row, gpointer data)
{
  return g_object_ref ((gpointer) row);
}

/* Shows the rows that were listed: of a plan all, once it has ended, else those
 * of the number of GPUs that is worked on, beside those of the others. */
static void
show_rows (QmBenchSession *self)
{
  g_autoptr (GPtrArray) wanted = g_ptr_array_new ();
  int gpus;

  self->listing = FALSE;
  if (self->listed->len > 0 && self->measures)
    {
      gpus = qm_bench_row_get_gpus (g_ptr_array_index (self->listed, 0));
      add_others (self, wanted, gpus, FALSE);
      g_ptr_array_extend (wanted, self->listed, NULL, NULL);
      add_others (self, wanted, gpus, TRUE);
      g_ptr_array_set_size (self->numbered, 0);
      g_ptr_array_extend (self->numbered, self->listed, take_row, NULL);
    }
  else
    g_ptr_array_extend (wanted, self->listed, NULL, NULL);
  show_all (self, wanted);
  g_ptr_array_set_size (self->listed, 0);
}

static QmBenchRow *
row_at (QmBenchSession *self, const json_t *line)
{
  json_t *number = json_object_get (line, "number");
  json_int_t at = json_integer_value (number);

  if (!json_is_integer (number) || at < 0
      || at >= (json_int_t) self->numbered->len)
    return NULL;
  return g_object_ref (g_ptr_array_index (self->numbered, (guint) at));
}

/* Where a row of so many GPUs is put, behind those that are there. */
static guint
place_of (QmBenchSession *self, int gpus)
{
  guint at = g_list_model_get_n_items (G_LIST_MODEL (self->rows));

  for (; at > 0; at--)
    {
      g_autoptr (QmBenchRow) row =
          g_list_model_get_item (G_LIST_MODEL (self->rows), at - 1);

      if (qm_bench_row_get_gpus (row) <= gpus)
        break;
    }
  return at;
}

/* Takes a configuration that has come. */
static void
take_new (QmBenchSession *self, const json_t *line)
{
  QmBenchRow *row;

  if (g_list_model_get_n_items (G_LIST_MODEL (self->rows)) >= MAX_ROWS)
    return;
  row = find_row (self, line);
  if (!g_ptr_array_find (self->numbered, row, NULL))
    {
      g_ptr_array_add (self->numbered, g_object_ref (row));
      g_list_store_insert (self->rows,
                           place_of (self, qm_bench_row_get_gpus (row)), row);
    }
}

/* Takes a configuration that becomes another, or that has come. */
static void
take_change (QmBenchSession *self, const json_t *line)
{
  g_autoptr (QmBenchRow) row = row_at (self, line);
  QmBenchRowState before, state;

  if (row == NULL)
    {
      take_new (self, line);
      return;
    }
  before = qm_bench_row_get_state (row);
  qm_bench_row_update (row, line);
  state = qm_bench_row_get_state (row);
  if (state == QM_BENCH_ROW_RUNNING)
    g_set_object (&self->current, row);
  else if (row == self->current)
    g_clear_object (&self->current);
  if (state != before && state != QM_BENCH_ROW_RUNNING)
    qm_bench_session_tell_measured (self, row);
}

static void
take_configuration (QmBenchSession *self, const json_t *line)
{
  if (!self->listing)
    {
      take_change (self, line);
      qm_bench_session_tell (self);
    }
  else if (self->listed->len < MAX_ROWS)
    g_ptr_array_add (self->listed, find_row (self, line));
}

static void
take_reading (QmBenchSession *self, const json_t *line)
{
  const json_t *words = json_object_get (line, "throttle");
  g_autoptr (GString) text = g_string_new (NULL);

  self->celsius = qm_line_number (line, "celsius");
  self->watts = qm_line_number (line, "watts");
  self->watts_limit = qm_line_number (line, "watts_limit");
  for (size_t i = 0; i < json_array_size (words); i++)
    {
      const char *word = json_string_value (json_array_get (words, i));

      if (word != NULL)
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", word);
    }
  g_free (self->throttle);
  self->throttle = g_strdup (text->str);
}

/* Seconds that what is left on other numbers of GPUs than the one that is
 * worked on will take, as they were planned. */
static double
seconds_of_others (QmBenchSession *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->rows));
  double seconds = 0;

  if (self->numbered->len == 0 || qm_bench_session_n_counts (self) == 1)
    return 0;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmBenchRow) row =
          g_list_model_get_item (G_LIST_MODEL (self->rows), i);

      if (qm_bench_row_get_gpus (row)
              != qm_bench_row_get_gpus (g_ptr_array_index (self->numbered, 0))
          && qm_bench_row_get_state (row) == QM_BENCH_ROW_WAITING
          && isfinite (qm_bench_row_get_cost (row)))
        seconds += qm_bench_row_get_cost (row);
    }
  return seconds;
}

static void
take_progress (QmBenchSession *self, const json_t *line)
{
  g_autoptr (QmBenchRow) row = row_at (self, line);
  double done = qm_line_number (line, "done");

  self->seconds_left =
      qm_line_number (line, "left_s") + seconds_of_others (self);
  take_reading (self, line);
  if (row != NULL && isfinite (done))
    qm_bench_row_set_progress (row, done);
  qm_bench_session_tell (self);
}

/* What is left of one number of GPUs; of a plan, of all so far. */
static void
take_left (QmBenchSession *self, const json_t *line)
{
  double seconds = qm_line_number (line, "left_s");

  if (self->measures)
    self->seconds_left = seconds + seconds_of_others (self);
  else if (isfinite (self->seconds_left))
    self->seconds_left += seconds;
  else
    self->seconds_left = seconds;
}

static void
line_cb (QmBenchSession *self, json_t *line)
{
  const char *event = json_string_value (json_object_get (line, "event"));

  if (g_strcmp0 (event, "begin") == 0)
    {
      take_text (&self->gpu, line, "gpu");
      if (self->n_over == 0)
        qm_forecaster_forget (self->forecaster);
      self->listing = TRUE;
    }
  else if (g_strcmp0 (event, "configuration") == 0)
    take_configuration (self, line);
  else if (g_strcmp0 (event, "listed") == 0)
    {
      if (self->measures)
        show_rows (self);
      self->listing = !self->measures;
      take_left (self, line);
      qm_bench_session_tell (self);
    }
  else if (g_strcmp0 (event, "progress") == 0)
    take_progress (self, line);
  else if (g_strcmp0 (event, "error") == 0)
    {
      g_free (self->trouble);
      self->trouble = qm_machine_text_error (line);
    }
  else if (g_strcmp0 (event, "end") == 0)
    {
      if (self->measures)
        take_left (self, line);
      self->left += json_integer_value (json_object_get (line, "left"));
      self->n_over++;
    }
}

static gboolean
is_over (QmBenchSession *self)
{
  return self->n_over >= qm_bench_session_n_counts (self);
}

/* What a run that measured comes to. */
static QmBenchSessionState
conclude (QmBenchSession *self, const GError *error)
{
  if (self->state == QM_BENCH_SESSION_STOPPING && error == NULL)
    return self->left == 0 && is_over (self) ? QM_BENCH_SESSION_FINISHED
                                             : self->next;
  if (error != NULL)
    {
      if (self->current != NULL)
        qm_bench_row_fail (self->current, error->message, self->log);
      return QM_BENCH_SESSION_FAILED;
    }
  if (!is_over (self))
    {
      self->failure =
          g_strdup (_ ("The benchmark ended before it was finished."));
      return QM_BENCH_SESSION_FAILED;
    }
  return self->left == 0 ? QM_BENCH_SESSION_FINISHED : QM_BENCH_SESSION_PAUSED;
}

static void
ended_cb (QmBenchSession *self, GError *error)
{
  QmBenchSessionState state;

  self->elapsed = qm_bench_session_elapsed (self);
  self->began = 0;
  g_clear_pointer (&self->log, g_free);
  self->log = qm_bench_process_get_log (self->process);
  g_clear_object (&self->process);
  if (error != NULL)
    self->failure =
        g_strdup (self->trouble != NULL ? self->trouble : error->message);
  if (self->state == QM_BENCH_SESSION_ESTIMATING)
    {
      if (self->listing)
        show_rows (self);
      qm_bench_session_set_state (self, error == NULL ? self->next
                                                      : QM_BENCH_SESSION_IDLE);
      return;
    }
  state = conclude (self, error);
  if (self->current != NULL)
    qm_bench_row_put_back (self->current);
  g_clear_object (&self->current);
  self->celsius = self->watts = NAN;
  if (state == QM_BENCH_SESSION_FINISHED || state == QM_BENCH_SESSION_READY)
    qm_bench_session_forget ();
  else
    qm_bench_session_keep (self);
  qm_bench_session_set_state (self, state);
}

void
qm_bench_session_drop (QmBenchSession *self)
{
  g_clear_handle_id (&self->delay, g_source_remove);
  if (self->process == NULL)
    return;
  g_signal_handlers_disconnect_by_data (self->process, self);
  qm_bench_process_kill (self->process);
  g_clear_object (&self->process);
}

static void
add_option (GPtrArray *words, const char *name, const char *value)
{
  g_ptr_array_add (words, g_strdup (name));
  g_ptr_array_add (words, g_strdup (value));
}

static GPtrArray *
make_arguments (QmBenchSession *self, gboolean measure)
{
  static const char *const methods[] = { "naive", "free-lunch", "all" };
  const QmBenchQuestion *question = &self->question;
  g_autofree char *models = g_strjoinv (",", question->models);
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (words, g_strdup ("search"));
  g_ptr_array_add (words, g_strdup ("--events"));
  if (!measure)
    g_ptr_array_add (words, g_strdup ("--dry-run"));
  add_option (words, "--device", question->device);
  if (question->gpus != NULL)
    add_option (words, "--gpus", question->gpus);
  add_option (words, "--methods", methods[question->methods]);
  add_option (words, "--model", models);
  if (self->again)
    add_option (words, "--again", "failed");
  g_ptr_array_add (words, NULL);
  return words;
}

void
qm_bench_session_run (QmBenchSession *self, gboolean measure)
{
  g_autoptr (GPtrArray) words = make_arguments (self, measure);

  g_clear_pointer (&self->failure, g_free);
  g_clear_pointer (&self->trouble, g_free);
  g_clear_pointer (&self->log, g_free);
  g_ptr_array_set_size (self->listed, 0);
  self->listing = FALSE;
  g_ptr_array_set_size (self->numbered, 0);
  self->measures = measure;
  self->n_over = 0;
  self->left = 0;
  if (!measure)
    self->seconds_left = NAN;
  self->began = measure ? g_get_monotonic_time () : 0;
  self->process = qm_bench_process_new ((const char *const *) words->pdata);
  g_signal_connect_object (self->process, "line", G_CALLBACK (line_cb), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->process, "ended", G_CALLBACK (ended_cb), self,
                           G_CONNECT_SWAPPED);
  qm_bench_process_start (self->process);
}
