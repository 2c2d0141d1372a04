/* SPDX-License-Identifier: Apache-2.0 */

/* The published times held against the yardstick.
 *
 * The times of "$100K or 100 Days" (arXiv 2410.23261) were read from a clock
 * that did not wait for the GPU.  At each place that it publishes, a number of
 * GPUs of a type, the yardstick has another one: measured, reported or
 * predicted for the same kind of software.  That is PyTorch, compiled with
 * fused attention against the publication's optimal settings, which are the
 * best of its methods, and off the shelf against its naive ones. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

/* Both times of one place.  Pointers are the catalog's or the comparison's. */
typedef struct
{
  const QmMeasurement *published;
  const QmMeasurement *yardstick; /* NULL: nothing is known */
  double ratio;                   /* published days / those of the yardstick;
                                     NaN unless both have a time */
  QmVerdict verdict;              /* of the audit, on the published time */
  double utilization;             /* that it implies; NaN: unknown */
} QmCompared;

/* How the times of one kind of settings differ. */
typedef struct
{
  guint n_compared; /* places with both times */
  double median;    /* of their ratios; NaN where there are none */
  double least, greatest;
  guint n_shorter;   /* the published time is the shorter one */
  guint n_predicted; /* times of the yardstick that are predicted */
  guint n_within;    /* of these, whose interval holds the published time */
} QmComparisonSummary;

typedef struct _QmComparison QmComparison;

/* Compares the published times of `model`, of every model where that is NULL,
 * that pass the question's GPU types and counts, with those of its forecasts
 * where it wants predictions.  What else it asks does not count.
 * (transfer full) */
QmComparison *qm_comparison_new (const QmCatalog *catalog,
                                 const QmQuestion *question,
                                 const QmModel *model);
void qm_comparison_free (QmComparison *comparison);

/* All places, those whose times differ by the largest factor first, and then
 * those where only one of both has a time.  (transfer none) */
const QmCompared *qm_comparison_rows (const QmComparison *comparison, guint *n);

/* Sums up what is compared at one kind of settings. */
QmComparisonSummary qm_comparison_sum_up (const QmComparison *comparison,
                                          QmSettings settings);

/* The kinds of settings that the publication has, QM_SETTINGS_OPTIMAL first. */
extern const QmSettings qm_comparison_settings[2];

/* The question as it is asked on the yardstick at such settings, about all
 * places; its level (qm_question_level()) is what to predict.
 * (transfer full) */
QmQuestion *qm_comparison_question (const QmQuestion *question,
                                    const char *model,
                                    QmSettings settings);

/* What one of both answers. */
typedef struct
{
  QmQuestion *question;
  QmAdvice *advice;
  QmRecommendation recommendation;
} QmComparedAnswer;

/* Answers a question as the paper does, or on the yardstick for PyTorch; at
 * naive settings where it asks for these, else at optimal ones, since the
 * publication has no others.
 *
 * Returns: (transfer full): NULL with an error as of qm_advice_new(). */
QmComparedAnswer *qm_compared_answer_new (const QmCatalog *catalog,
                                          const QmQuestion *question,
                                          gboolean as_in_paper,
                                          GError **error);
void qm_compared_answer_free (QmComparedAnswer *answer);

/* The recommended candidate; NULL: none fits.  (transfer none) */
const QmCandidate *qm_compared_answer_best (const QmComparedAnswer *answer);

/* What is compared at the place of a candidate; NULL: nothing.
 * (transfer none) (nullable) */
const QmCompared *qm_comparison_look (const QmComparison *comparison,
                                      const QmCandidate *candidate);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmComparison, qm_comparison_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmComparedAnswer, qm_compared_answer_free)

G_END_DECLS
