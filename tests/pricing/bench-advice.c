/* SPDX-License-Identifier: Apache-2.0 */

/* How long an advice takes over all that the shipped catalog has, predicted on
 * 1 to 8 GPUs: to build it, as every filter does, and to recommend, as every
 * move of the budget's slider does.
 *
 *   bench-advice DATA */

#include "pricing/advice/qm-advice.h"

#include <stdio.h>
#include <stdlib.h>

#define N_BUILDS 50
#define N_MOVES  20000
#define N_COUNTS 8

static int
compare (const void *a, const void *b)
{
  const double *p = a;
  const double *q = b;

  return (*p > *q) - (*p < *q);
}

static QmQuestion *
ask (void)
{
  QmQuestion *question = qm_question_new ();

  question->model = g_strdup ("pythia-1b");
  question->predictions = QM_PREDICTIONS_ALL;
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  for (int count = 1; count <= N_COUNTS; count++)
    g_array_append_val (question->counts, count);
  return question;
}

int
main (int argc, char **argv)
{
  g_autoptr (QmQuestion) question = ask ();
  g_autoptr (QmAdvice) advice = NULL;
  QmCatalog *catalog = NULL;
  QmError error;
  double times[N_BUILDS];
  gint64 begin;
  guint n, found = 0;

  if (argc != 2 || qm_catalog_load (argv[1], NULL, &catalog, &error) != QM_OK)
    {
      fprintf (stderr, "usage: bench-advice DATA\n");
      return EXIT_FAILURE;
    }
  for (int i = 0; i < N_BUILDS; i++)
    {
      g_clear_pointer (&advice, qm_advice_free);
      begin = g_get_monotonic_time ();
      advice = qm_advice_new (catalog, question, NULL);
      times[i] = (double) (g_get_monotonic_time () - begin) / 1000;
    }
  qsort (times, N_BUILDS, sizeof *times, compare);
  qm_advice_candidates (advice, &n);
  printf ("build   %5u candidates  median %8.3f ms  worst %8.3f ms\n", n,
          times[N_BUILDS / 2], times[N_BUILDS - 1]);
  begin = g_get_monotonic_time ();
  for (int i = 0; i < N_MOVES; i++)
    found += qm_advice_recommend (advice, (gint64) i * 5000, NAN).outcome
             == QM_OUTCOME_FOUND;
  printf ("move    %5u candidates    mean %8.3f us  (%u found)\n", n,
          (double) (g_get_monotonic_time () - begin) / N_MOVES, found);
  g_clear_pointer (&advice, qm_advice_free);
  qm_catalog_free (catalog);
  return EXIT_SUCCESS;
}
