/* SPDX-License-Identifier: Apache-2.0 */

/* One question to qm-bench, and all that it answers. */

#include "config.h"

#include "ui/machine/qm-bench-process.h"

#include <glib/gi18n-lib.h>

typedef struct
{
  QmBenchProcess *process;
  GPtrArray *answers;
  char *log;
  gulong cancelled;
  gboolean too_many;
} Query;

static void
query_free (Query *query)
{
  g_clear_object (&query->process);
  g_ptr_array_unref (query->answers);
  g_free (query->log);
  g_free (query);
}

static void
line_cb (QmBenchProcess *process, json_t *object, gpointer data)
{
  Query *query = g_task_get_task_data (data);

  if (query->answers->len < QM_BENCH_MAX_ANSWERS)
    g_ptr_array_add (query->answers, json_incref (object));
  else
    {
      query->too_many = TRUE;
      qm_bench_process_stop (process);
    }
}

static void
ended_cb (QmBenchProcess *process, GError *error, gpointer data)
{
  g_autoptr (GTask) task = data;
  Query *query = g_task_get_task_data (task);
  GCancellable *cancellable = g_task_get_cancellable (task);

  g_signal_handlers_disconnect_by_data (process, task);
  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, query->cancelled);
  query->log = qm_bench_process_get_log (process);
  if (g_task_return_error_if_cancelled (task))
    return;
  if (query->too_many)
    g_task_return_new_error (
        task, QM_BENCH_ERROR, QM_BENCH_ERROR_GARBAGE,
        _ ("The benchmark said more than was asked, and was ended."));
  else if (error != NULL)
    g_task_return_error (task, g_error_copy (error));
  else
    g_task_return_pointer (task, g_ptr_array_ref (query->answers),
                           (GDestroyNotify) g_ptr_array_unref);
}

static void
cancelled_cb (GCancellable *cancellable, gpointer data)
{
  qm_bench_process_stop (data);
}

void
qm_bench_query_async (const char *const *arguments,
                      guint patience,
                      GCancellable *cancellable,
                      GAsyncReadyCallback callback,
                      gpointer data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, data);
  Query *query = g_new0 (Query, 1);

  g_return_if_fail (arguments != NULL);

  g_task_set_source_tag (task, qm_bench_query_async);
  g_task_set_task_data (task, query, (GDestroyNotify) query_free);
  query->answers =
      g_ptr_array_new_with_free_func ((GDestroyNotify) json_decref);
  query->process = qm_bench_process_new (arguments);
  if (patience > 0)
    g_object_set (query->process, "patience", patience, NULL);
  g_signal_connect (query->process, "line", G_CALLBACK (line_cb), task);
  g_signal_connect (query->process, "ended", G_CALLBACK (ended_cb), task);
  qm_bench_process_start (query->process);
  if (cancellable != NULL)
    query->cancelled =
        g_cancellable_connect (cancellable, G_CALLBACK (cancelled_cb),
                               query->process, NULL);
}

GPtrArray *
qm_bench_query_finish (GAsyncResult *result, char **log, GError **error)
{
  Query *query;

  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);

  query = g_task_get_task_data (G_TASK (result));
  if (log != NULL)
    *log = g_strdup (query->log != NULL ? query->log : "");
  return g_task_propagate_pointer (G_TASK (result), error);
}
