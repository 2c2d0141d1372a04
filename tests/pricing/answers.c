/* SPDX-License-Identifier: Apache-2.0 */

#include "answers.h"

#include <string.h>

QmQuestion *
ask_about (const char *model)
{
  QmQuestion *question = qm_question_new ();

  question->time_factor = 1;
  question->model = g_strdup (model);
  return question;
}

QmAdvice *
answer (const QmCatalog *catalog, const QmQuestion *question)
{
  g_autoptr (GError) error = NULL;
  QmAdvice *advice = qm_advice_new (catalog, question, &error);

  g_assert_no_error (error);
  return advice;
}

const QmCandidate *
find_candidate (const QmAdvice *advice, const char *gpu, int gpus)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  for (guint i = 0; i < n; i++)
    if (strcmp (candidates[i].gpu->id, gpu) == 0 && candidates[i].gpus == gpus)
      return &candidates[i];
  g_assert_not_reached ();
}
