/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-comparison.h"

#include "pricing/advice/qm-selection.h"
#include "pricing/qm-order.h"

const QmSettings qm_comparison_settings[2] = { QM_SETTINGS_OPTIMAL,
                                               QM_SETTINGS_NAIVE };

struct _QmComparison
{
  GArray *rows;           /* QmCompared */
  GPtrArray *predictions; /* QmPredicted */
};

QmQuestion *
qm_comparison_question (const QmQuestion *question,
                        const char *model,
                        QmSettings settings)
{
  QmQuestion *asked = qm_question_new ();

  g_return_val_if_fail (question != NULL && model != NULL, asked);

  asked->model = g_strdup (model);
  asked->settings = settings;
  asked->predictions = question->predictions;
  if (question->forecasts != NULL)
    asked->forecasts = qm_forecasts_ref (question->forecasts);
  return asked;
}

/* What the yardstick has at a place; NULL: nothing. */
static const QmMeasurement *
yardstick_at (QmComparison *self,
              const QmQuestion *asked,
              const GArray *selection,
              const QmMeasurement *published)
{
  QmPredicted *made;

  for (guint i = 0; i < selection->len; i++)
    {
      const QmSelected *selected = &g_array_index (selection, QmSelected, i);
      const QmMeasurement *time = selected->measurement;

      if (time->gpu == published->gpu && time->gpus == published->gpus
          && !selected->superseded && time->feasibility != QM_ILLEGIBLE)
        return time;
    }
  made = qm_predictions_make (asked, published->model, published->gpu,
                              published->gpus);
  if (made == NULL)
    return NULL;
  g_ptr_array_add (self->predictions, made);
  return &made->time;
}

static void
compare_place (QmComparison *self,
               const QmQuestion *asked,
               const GArray *selection,
               const QmMeasurement *published)
{
  QmCompared row = { .published = published, .ratio = NAN };
  QmAudit audit;

  row.yardstick = yardstick_at (self, asked, selection, published);
  row.verdict = qm_audit_measurement (published, asked->forecasts, &audit);
  row.utilization = audit.utilization;
  if (row.yardstick != NULL && row.yardstick->days > 0)
    row.ratio = published->days / row.yardstick->days;
  g_array_append_val (self->rows, row);
}

/* What is in no doubt comes last, in the catalog's order. */
static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const QmCompared *p = a;
  const QmCompared *q = b;
  double differ_p = qm_known (p->ratio) ? fabs (log (p->ratio)) : -1;
  double differ_q = qm_known (q->ratio) ? fabs (log (q->ratio)) : -1;

  if (differ_p != differ_q)
    return differ_p > differ_q ? -1 : 1;
  return (p->published > q->published) - (p->published < q->published);
}

static void
compare_model (QmComparison *self,
               const QmCatalog *catalog,
               const QmQuestion *question,
               const QmModel *model,
               QmSettings settings)
{
  g_autoptr (QmQuestion) asked =
      qm_comparison_question (question, model->id, settings);
  g_autoptr (GArray) selection = qm_selection_new (catalog, asked, model);
  size_t n;
  const QmMeasurement *all = qm_catalog_measurements (catalog, &n);

  for (size_t i = 0; i < n; i++)
    if (all[i].model == model && all[i].settings == settings
        && all[i].provenance == QM_PROVENANCE_PUBLISHED
        && all[i].feasibility != QM_ILLEGIBLE
        && qm_selection_allows (question, all[i].gpu, all[i].gpus))
      compare_place (self, asked, selection, &all[i]);
}

QmComparison *
qm_comparison_new (const QmCatalog *catalog,
                   const QmQuestion *question,
                   const QmModel *model)
{
  QmComparison *self;
  const QmModel *models;
  size_t n;

  g_return_val_if_fail (catalog != NULL && question != NULL, NULL);

  self = g_new0 (QmComparison, 1);
  self->rows = g_array_new (FALSE, FALSE, sizeof (QmCompared));
  self->predictions = g_ptr_array_new_with_free_func (g_free);
  models = qm_catalog_models (catalog, &n);
  for (size_t i = 0; i < n; i++)
    for (guint j = 0; j < G_N_ELEMENTS (qm_comparison_settings); j++)
      if (model == NULL || model == &models[i])
        compare_model (self, catalog, question, &models[i],
                       qm_comparison_settings[j]);
  g_array_sort (self->rows, compare_rows);
  return self;
}

void
qm_comparison_free (QmComparison *comparison)
{
  if (comparison == NULL)
    return;
  g_array_unref (comparison->rows);
  g_ptr_array_unref (comparison->predictions);
  g_free (comparison);
}

const QmCompared *
qm_comparison_rows (const QmComparison *comparison, guint *n)
{
  g_return_val_if_fail (comparison != NULL && n != NULL, NULL);

  *n = comparison->rows->len;
  return (const QmCompared *) (gconstpointer) comparison->rows->data;
}

static void
count_row (QmComparisonSummary *sum, const QmCompared *row)
{
  const QmMeasurement *yardstick = row->yardstick;

  sum->n_compared++;
  sum->n_shorter += row->ratio < 1;
  if (yardstick->provenance != QM_PROVENANCE_PREDICTED)
    return;
  sum->n_predicted++;
  sum->n_within += row->published->days >= yardstick->days_low
                   && row->published->days <= yardstick->days_high;
}

QmComparisonSummary
qm_comparison_sum_up (const QmComparison *comparison, QmSettings settings)
{
  QmComparisonSummary sum = { .median = NAN, .least = NAN, .greatest = NAN };
  g_autoptr (GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));
  const double *sorted;

  g_return_val_if_fail (comparison != NULL, sum);

  for (guint i = 0; i < comparison->rows->len; i++)
    {
      const QmCompared *row = &g_array_index (comparison->rows, QmCompared, i);

      if (row->published->settings != settings || !qm_known (row->ratio))
        continue;
      count_row (&sum, row);
      g_array_append_val (ratios, row->ratio);
    }
  if (ratios->len == 0)
    return sum;
  g_array_sort (ratios, qm_order_doubles);
  sorted = (const double *) (gconstpointer) ratios->data;
  sum.median = (sorted[(ratios->len - 1) / 2] + sorted[ratios->len / 2]) / 2;
  sum.least = sorted[0];
  sum.greatest = sorted[ratios->len - 1];
  return sum;
}

QmComparedAnswer *
qm_compared_answer_new (const QmCatalog *catalog,
                        const QmQuestion *question,
                        gboolean as_in_paper,
                        GError **error)
{
  g_autoptr (QmComparedAnswer) answer = NULL;

  g_return_val_if_fail (catalog != NULL && question != NULL, NULL);

  answer = g_new0 (QmComparedAnswer, 1);
  answer->question = qm_question_copy (question);
  answer->question->as_in_paper = FALSE;
  answer->question->times_of = QM_TIMES_OF_PYTORCH;
  if (question->settings != QM_SETTINGS_NAIVE)
    answer->question->settings = QM_SETTINGS_OPTIMAL;
  if (as_in_paper)
    qm_question_set_as_in_paper (answer->question);
  answer->advice = qm_advice_new (catalog, answer->question, error);
  if (answer->advice == NULL)
    return NULL;
  answer->recommendation =
      qm_advice_recommend (answer->advice, question->budget_minor,
                           question->deadline_days);
  return g_steal_pointer (&answer);
}

void
qm_compared_answer_free (QmComparedAnswer *answer)
{
  if (answer == NULL)
    return;
  qm_advice_free (answer->advice);
  qm_question_free (answer->question);
  g_free (answer);
}

const QmCandidate *
qm_compared_answer_best (const QmComparedAnswer *answer)
{
  guint n;

  g_return_val_if_fail (answer != NULL, NULL);

  if (answer->recommendation.best < 0)
    return NULL;
  return &qm_advice_candidates (answer->advice,
                                &n)[answer->recommendation.best];
}

const QmCompared *
qm_comparison_look (const QmComparison *comparison,
                    const QmCandidate *candidate)
{
  g_return_val_if_fail (comparison != NULL && candidate != NULL, NULL);

  if (candidate->measurement == NULL)
    return NULL;
  for (guint i = 0; i < comparison->rows->len; i++)
    {
      const QmCompared *row = &g_array_index (comparison->rows, QmCompared, i);

      if (row->published == candidate->measurement)
        return row;
    }
  return NULL;
}
