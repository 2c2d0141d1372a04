/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPU types, and how many of them, take part. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"
#include "ui/advisor/qm-topic.h"

#include <string.h>

static gboolean
has_times (const QmCatalog *catalog, const char *gpu)
{
  size_t n;
  const QmMeasurement *times = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (strcmp (times[i].gpu->id, gpu) == 0)
      return TRUE;
  return FALSE;
}

gboolean
qm_advisor_has_gpu (QmAdvisor *self, const char *gpu)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self) && gpu != NULL, FALSE);

  /* What was switched off must be there to be switched on again. */
  if (has_times (self->catalog, gpu) || !qm_advisor_get_gpu_enabled (self, gpu))
    return TRUE;
  for (guint i = 0; i < self->topics->len; i++)
    {
      const QmTopic *topic = g_ptr_array_index (self->topics, i);
      guint n;
      const QmCandidate *candidates = qm_advice_candidates (topic->advice, &n);

      for (guint j = 0; j < n; j++)
        if (candidates[j].use == NULL
            && strcmp (candidates[j].gpu->id, gpu) == 0)
          return TRUE;
    }
  return FALSE;
}

const char *const *
qm_advisor_get_gpus (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);

  return (const char *const *) self->gpus->pdata;
}

gboolean
qm_advisor_get_gpu_enabled (QmAdvisor *self, const char *gpu)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self) && gpu != NULL, FALSE);

  return !g_hash_table_contains (self->gpus_off, gpu);
}

void
qm_advisor_set_gpu_enabled (QmAdvisor *self, const char *gpu, gboolean on)
{
  g_return_if_fail (QM_IS_ADVISOR (self) && gpu != NULL);

  if (qm_advisor_get_gpu_enabled (self, gpu) == !!on)
    return;
  if (on)
    g_hash_table_remove (self->gpus_off, gpu);
  else
    g_hash_table_add (self->gpus_off, g_strdup (gpu));
  qm_advisor_queue_rebuild (self);
}

const int *
qm_advisor_get_counts (QmAdvisor *self, guint *n)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self) && n != NULL, NULL);

  *n = self->counts->len;
  return (const int *) (void *) self->counts->data;
}

gboolean
qm_advisor_get_count_enabled (QmAdvisor *self, int count)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), FALSE);

  return !g_hash_table_contains (self->counts_off, GINT_TO_POINTER (count));
}

void
qm_advisor_set_count_enabled (QmAdvisor *self, int count, gboolean on)
{
  g_return_if_fail (QM_IS_ADVISOR (self));

  if (qm_advisor_get_count_enabled (self, count) == !!on)
    return;
  if (on)
    g_hash_table_remove (self->counts_off, GINT_TO_POINTER (count));
  else
    g_hash_table_add (self->counts_off, GINT_TO_POINTER (count));
  qm_advisor_queue_rebuild (self);
}
