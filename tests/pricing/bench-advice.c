/* SPDX-License-Identifier: Apache-2.0 */

/* How long an advice takes over all that the shipped catalog has, on 1 to 8
 * GPUs: to build it, as every filter does, and to recommend, as every move of
 * the budget's slider does.  Of a year's runs of three models, of which times
 * are made up, every move of the deadline's slider builds.
 *
 *   bench-advice DATA */

#include "pricing/advice/qm-advice.h"
#include "tests/pricing/forecasts.h"

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

static QmQuestion *
ask_year (const QmCatalog *catalog)
{
  static const char *const models[] = { "pythia-1b", "pythia-410m",
                                        "vit-large" };
  QmQuestion *question = ask ();

  question->forecasts = qm_forecasts_new ();
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      qm_question_add_run (question, models[i], 5);
      add_forecasts (question->forecasts, catalog, models[i], "tuned",
                     100 * (i + 1));
    }
  question->run_deadline_days = 42;
  return question;
}

static void
measure (const QmCatalog *catalog, const QmQuestion *question, const char *what)
{
  g_autoptr (QmAdvice) advice = NULL;
  double times[N_BUILDS];
  gint64 begin;
  guint n, found = 0;

  for (int i = 0; i < N_BUILDS; i++)
    {
      g_clear_pointer (&advice, qm_advice_free);
      begin = g_get_monotonic_time ();
      advice = qm_advice_new (catalog, question, NULL);
      times[i] = (double) (g_get_monotonic_time () - begin) / 1000;
    }
  qsort (times, N_BUILDS, sizeof *times, compare);
  qm_advice_candidates (advice, &n);
  printf ("%s: build   %5u candidates  median %8.3f ms  worst %8.3f ms\n", what,
          n, times[N_BUILDS / 2], times[N_BUILDS - 1]);
  begin = g_get_monotonic_time ();
  for (int i = 0; i < N_MOVES; i++)
    found += qm_advice_recommend (advice, (gint64) i * 5000, NAN).outcome
             == QM_OUTCOME_FOUND;
  printf ("%s: move    %5u candidates    mean %8.3f us  (%u found)\n", what, n,
          (double) (g_get_monotonic_time () - begin) / N_MOVES, found);
}

int
main (int argc, char **argv)
{
  g_autoptr (QmQuestion) one = ask ();
  g_autoptr (QmQuestion) year = NULL;
  QmCatalog *catalog = NULL;
  QmError error;

  if (argc != 2 || qm_catalog_load (argv[1], NULL, &catalog, &error) != QM_OK)
    {
      fprintf (stderr, "usage: bench-advice DATA\n");
      return EXIT_FAILURE;
    }
  year = ask_year (catalog);
  measure (catalog, one, "one training");
  measure (catalog, year, "a year's runs");
  qm_catalog_free (catalog);
  return EXIT_SUCCESS;
}
