/* SPDX-License-Identifier: Apache-2.0 */

/* The columns of the table of candidates: what they are called, what a cell
 * says and how rows sort.  No widgets, so that reports share the words. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

typedef enum
{
  QM_COLUMN_MODEL,
  QM_COLUMN_GPU,
  QM_COLUMN_GPUS,
  QM_COLUMN_MACHINE,
  QM_COLUMN_MACHINES,
  QM_COLUMN_COST,
  QM_COLUMN_DAYS,
  QM_COLUMN_TIMES_OF,
  QM_COLUMN_EXPERIMENT,
  QM_COLUMN_UTILIZATION,
  QM_COLUMN_VERDICT,
  QM_COLUMN_SOURCE,
  QM_N_COLUMNS
} QmCandidateColumn;

/* Heading in the user's language; static. */
const char *qm_candidate_column_title (QmCandidateColumn column);

/* The same where the candidates are those of a portfolio. */
const char *qm_candidate_column_portfolio_title (QmCandidateColumn column);

/* Whether QM_COLUMN_TIMES_OF says more than that all times are published. */
gboolean qm_candidate_column_tells_times (const QmAdvice *advice);

/* True where cells hold numbers, which stand to the right. */
gboolean qm_candidate_column_is_number (QmCandidateColumn column);

/* What a cell says, a dash where that is unknown.  `title` is the topic's, for
 * QM_COLUMN_MODEL; costs are in the money of `purse`, NULL: in USD.
 * (transfer full) */
char *qm_candidate_column_text (QmCandidateColumn column,
                                const char *title,
                                const QmCandidate *candidate,
                                const QmPurse *purse);

/* What a cell's tooltip adds: both prices with date and age for the costs, the
 * sentence of the audit for utilisation and verdict, the interval of predicted
 * days, where a time comes from, else NULL.
 * (transfer full) (nullable) */
char *qm_candidate_column_tooltip (QmCandidateColumn column,
                                   const QmCandidate *candidate,
                                   QmDate today);

/* Compares two candidates as strcmp() would: numbers as numbers, names in the
 * user's collation, verdicts from plausible to unknown.  Unknown values come
 * last, also where `descending` turns the order of the others round.  Knows
 * nothing of QM_COLUMN_MODEL, for which it returns 0. */
int qm_candidate_column_compare (QmCandidateColumn column,
                                 const QmCandidate *a,
                                 const QmCandidate *b,
                                 gboolean descending);

G_END_DECLS
