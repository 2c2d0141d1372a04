/* SPDX-License-Identifier: Apache-2.0 */

/* The times of this machine, which are read anew when it was measured. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"

void
qm_advisor_set_host (QmAdvisor *self, QmHostTimes *host)
{
  g_return_if_fail (QM_IS_ADVISOR (self));

  if (self->host == host)
    return;
  g_clear_pointer (&self->host, qm_host_times_unref);
  self->host = host != NULL ? qm_host_times_ref (host) : NULL;
  qm_advisor_queue_rebuild (self);
}

guint
qm_advisor_get_n_unsaid (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), 0);

  return self->host != NULL ? qm_host_times_n_unsaid (self->host) : 0;
}

static void
read_host_cb (GTask *task,
              gpointer source,
              gpointer task_data,
              GCancellable *cancellable)
{
  g_task_return_pointer (task, qm_host_times_read (NULL),
                         (GDestroyNotify) g_ptr_array_unref);
}

/* The advisor may be gone, and its catalog with it. */
static void
host_read_cb (GObject *object, GAsyncResult *result, gpointer data)
{
  GWeakRef *place = data;
  g_autoptr (QmAdvisor) self = g_weak_ref_get (place);
  g_autoptr (GPtrArray) results =
      g_task_propagate_pointer (G_TASK (result), NULL);
  g_autoptr (QmHostTimes) host = NULL;

  g_weak_ref_clear (place);
  g_free (place);
  if (self == NULL)
    return;
  host = qm_host_times_new (self->catalog, g_steal_pointer (&results));
  self->reading_host = FALSE;
  qm_advisor_set_host (self, host);
  if (self->read_host_again)
    qm_advisor_read_host (self);
}

void
qm_advisor_read_host (QmAdvisor *self)
{
  g_autoptr (GTask) task = NULL;
  GWeakRef *place;

  g_return_if_fail (QM_IS_ADVISOR (self));

  /* What came since it began may not be in what it read. */
  self->read_host_again = self->reading_host;
  if (self->reading_host)
    return;
  self->reading_host = TRUE;
  place = g_new0 (GWeakRef, 1);
  g_weak_ref_init (place, self);
  task = g_task_new (NULL, NULL, host_read_cb, place);
  g_task_set_source_tag (task, qm_advisor_read_host);
  g_task_run_in_thread (task, read_host_cb);
}
