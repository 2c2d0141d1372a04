/* SPDX-License-Identifier: Apache-2.0 */

/* The lines of the portfolio. */

#include "config.h"

#include "ui/advisor/qm-advisor-private.h"

#include <string.h>

guint
qm_advisor_get_n_runs (QmAdvisor *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR (self), 0);

  return self->runs->len;
}

const char *
qm_advisor_get_run (QmAdvisor *self, guint index, double *runs_per_year)
{
  const QmRun *run;

  g_return_val_if_fail (QM_IS_ADVISOR (self), NULL);
  g_return_val_if_fail (index < self->runs->len, NULL);

  run = &g_array_index (self->runs, QmRun, index);
  if (runs_per_year != NULL)
    *runs_per_year = run->runs_per_year;
  return run->model;
}

static gboolean
is_run (QmAdvisor *self, const char *model, double runs_per_year)
{
  return model != NULL && qm_catalog_model (self->catalog, model) != NULL
         && runs_per_year > 0 && runs_per_year <= QM_RUNS_PER_YEAR_MAX;
}

void
qm_advisor_add_run (QmAdvisor *self, const char *model, double runs_per_year)
{
  QmRun run;

  g_return_if_fail (QM_IS_ADVISOR (self));
  g_return_if_fail (is_run (self, model, runs_per_year));

  run.model = g_strdup (model);
  run.runs_per_year = runs_per_year;
  g_array_append_val (self->runs, run);
  qm_advisor_queue_rebuild (self);
}

void
qm_advisor_set_run (QmAdvisor *self,
                    guint index,
                    const char *model,
                    double runs_per_year)
{
  QmRun *run;

  g_return_if_fail (QM_IS_ADVISOR (self) && index < self->runs->len);
  g_return_if_fail (is_run (self, model, runs_per_year));

  run = &g_array_index (self->runs, QmRun, index);
  if (strcmp (run->model, model) == 0 && run->runs_per_year == runs_per_year)
    return;
  if (run->model != model)
    {
      g_free (run->model);
      run->model = g_strdup (model);
    }
  run->runs_per_year = runs_per_year;
  qm_advisor_queue_rebuild (self);
}

void
qm_advisor_remove_run (QmAdvisor *self, guint index)
{
  g_return_if_fail (QM_IS_ADVISOR (self) && index < self->runs->len);

  g_array_remove_index (self->runs, index);
  qm_advisor_queue_rebuild (self);
}
