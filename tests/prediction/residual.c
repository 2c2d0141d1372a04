/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/residual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where no group has several sources: what all rates of one are off together
 * (tests/prediction/fit.c). */
#define SIGMA_SOURCE 0.1

/* What rates of a group have in common, beside their level. */
typedef struct Grouping
{
  const char *name;
  KeyOf first, second; /* second: may be NULL */
} Grouping;

static const Grouping groupings[] = {
  { "family", family_of, NULL },
  { "type of GPU", gpu_of, NULL },
  { "family and type", family_of, gpu_of },
};
#define N_GROUPINGS (sizeof groupings / sizeof groupings[0])

static bool
are_together (const Grouping *grouping, const Rate *a, const Rate *b)
{
  return strcmp (level_of (a), level_of (b)) == 0
         && strcmp (grouping->first (a), grouping->first (b)) == 0
         && (grouping->second == NULL
             || strcmp (grouping->second (a), grouping->second (b)) == 0);
}

/* A group, as far as a fit has seen it. */
typedef struct Seen
{
  double means[MAX_RATES]; /* of its sources */
  size_t n;
  double mean, within; /* of the means; sum of their squares about it */
} Seen;

static bool
is_counted (const Rates *rates, const double *errors, size_t i)
{
  return !rates->rates[i].held && !isnan (errors[i]);
}

/* The group of the rate at `of`. */
static Seen
see (const Rates *rates,
     const double *errors,
     const Grouping *grouping,
     const Rate *of)
{
  Seen seen = { .n = 0 };

  for (size_t i = 0; i < rates->n; i++)
    {
      const char *source = source_of (&rates->rates[i]);
      double sum = 0;
      size_t n = 0;
      bool first = true;

      if (!is_counted (rates, errors, i)
          || !are_together (grouping, &rates->rates[i], of))
        continue;
      for (size_t j = 0; j < rates->n && first; j++)
        if (is_counted (rates, errors, j)
            && are_together (grouping, &rates->rates[j], of)
            && strcmp (source_of (&rates->rates[j]), source) == 0)
          {
            first = j >= i;
            sum += errors[j];
            n++;
          }
      if (!first)
        continue;
      seen.means[seen.n++] = sum / (double) n;
      seen.mean += sum / (double) n;
    }
  seen.mean /= seen.n > 0 ? (double) seen.n : 1;
  for (size_t i = 0; i < seen.n; i++)
    seen.within += pow (seen.means[i] - seen.mean, 2);
  return seen;
}

/* Variances within groups and between them. */
static void
find_variances (const Rates *rates,
                const double *errors,
                const Grouping *grouping,
                double *within,
                double *between)
{
  double free = 0, groups = 0;

  *within = *between = 0;
  for (int pass = 0; pass < 2; pass++)
    {
      for (size_t i = 0; i < rates->n; i++)
        {
          const Rate *rate = &rates->rates[i];
          bool first = is_counted (rates, errors, i);
          Seen seen;

          for (size_t j = 0; j < i && first; j++)
            first = !is_counted (rates, errors, j)
                    || !are_together (grouping, &rates->rates[j], rate);
          if (!first)
            continue;
          seen = see (rates, errors, grouping, rate);
          if (pass == 0)
            {
              *within += seen.within;
              free += (double) seen.n - 1;
            }
          else
            {
              *between += seen.mean * seen.mean - *within / (double) seen.n;
              groups++;
            }
        }
      if (pass == 0)
        *within = free > 0 ? *within / free : SIGMA_SOURCE * SIGMA_SOURCE;
    }
  *between = fmax (*between / groups, 0);
}

/* What a grouping makes of the errors of what was not seen. */
typedef struct Corrected
{
  double errors[N_GROUPINGS][MAX_RATES], before[MAX_RATES];
} Corrected;

static void
correct (const Rates *rates,
         const double seen[MAX_RATES],
         const double unseen[MAX_RATES],
         void *data)
{
  Corrected *corrected = data;

  for (size_t i = 0; i < rates->n; i++)
    if (is_counted (rates, unseen, i))
      corrected->before[i] = unseen[i];
  for (size_t g = 0; g < N_GROUPINGS; g++)
    {
      double within, between;

      find_variances (rates, seen, &groupings[g], &within, &between);
      for (size_t i = 0; i < rates->n; i++)
        if (is_counted (rates, unseen, i))
          {
            Seen group = see (rates, seen, &groupings[g], &rates->rates[i]);
            double share = group.n > 0 && between > 0
                               ? between / (between + within / (double) group.n)
                               : 0;

            corrected->errors[g][i] = unseen[i] - share * group.mean;
          }
    }
}

/* The mean size of errors, each source of each level weighing the same. */
static double
mean_size (const Rates *rates, const double *errors)
{
  double sum = 0, groups = 0;

  for (size_t i = 0; i < rates->n; i++)
    {
      double size = 0, n = 0;
      bool first = is_counted (rates, errors, i);

      for (size_t j = 0; j < rates->n && first; j++)
        if (is_counted (rates, errors, j)
            && strcmp (level_of (&rates->rates[j]), level_of (&rates->rates[i]))
                   == 0
            && strcmp (source_of (&rates->rates[j]),
                       source_of (&rates->rates[i]))
                   == 0)
          {
            first = j >= i;
            size += fabs (errors[j]);
            n++;
          }
      if (!first)
        continue;
      sum += size / n;
      groups++;
    }
  return 100 * sum / groups;
}

void
residual_print (const Rates *rates, const QmCalibration *prior)
{
  static Corrected corrected[N_WITHOUT];
  static double errors[N_WITHOUT][MAX_RATES], left[MAX_RATES];

  for (int k = 0; k < N_WITHOUT; k++)
    {
      for (size_t i = 0; i < rates->n; i++)
        {
          corrected[k].before[i] = NAN;
          for (size_t g = 0; g < N_GROUPINGS; g++)
            corrected[k].errors[g][i] = NAN;
        }
      leave_out (rates, prior, k, 1, errors[k], left, correct, &corrected[k]);
    }
  puts ("| residual by level and | without its source | GPU | model |\n"
        "| --- | --- | --- | --- |");
  printf ("| nothing | %.2f | %.2f | %.2f |\n",
          mean_size (rates, corrected[0].before),
          mean_size (rates, corrected[1].before),
          mean_size (rates, corrected[2].before));
  printf ("| model | %.2f | %.2f | %.2f |\n", mean_size (rates, errors[0]),
          mean_size (rates, errors[1]), mean_size (rates, errors[2]));
  for (size_t g = 0; g < N_GROUPINGS; g++)
    printf ("| %s | %.2f | %.2f | %.2f |\n", groupings[g].name,
            mean_size (rates, corrected[0].errors[g]),
            mean_size (rates, corrected[1].errors[g]),
            mean_size (rates, corrected[2].errors[g]));
}
