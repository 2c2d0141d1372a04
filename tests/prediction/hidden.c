/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/hidden.h"

#include "tests/prediction/fit.h"
#include "tests/prediction/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  SHIPPED,
  WITHOUT_MODEL_RATES,
  WITHOUT_FAMILY_RATES,
  N_HIDDEN
};

static const char *const names[N_HIDDEN] = { "shipped", "without the model",
                                             "without the family" };

typedef struct Hidden
{
  Rates times;
  double errors[N_HIDDEN][MAX_RATES];
  const QmCalibration *prior, *calibration;
  HiddenProbes probes;
  const void *data;
} Hidden;

static const KeyOf keys[N_HIDDEN] = { NULL, model_of, family_of };

/* A model by any of its names: what rates call theirs may begin with a size
 * that the catalog has. */
typedef struct Without
{
  KeyOf key;
  const Rate *of;
} Without;

static bool
is_hidden (const Rate *rate, const Without *without)
{
  return strcmp (without->key (rate), without->key (without->of)) == 0
         || strcmp (rate->key, without->of->key) == 0;
}

static bool
is_seen (const Rate *rate, const void *data)
{
  return !is_hidden (rate, data);
}

static bool
is_target (const Rate *time)
{
  return time->trained.work != NULL && time->trained.gpus == 1
         && strcmp (time->trained.level, "engine") == 0;
}

static double
error_by (const Hidden *hidden, const QmCalibration *fitted, const Rate *time)
{
  QmCalibration calibration = *fitted;

  hidden->probes (&calibration, hidden->data);
  return log (rates_predict (time, &calibration, NULL) * time->samples_per_s);
}

/* Of all times that are hidden together with that at an index. */
static void
predict_without (Hidden *hidden, const Rates *rates, int kind, size_t index)
{
  const Without without = { keys[kind], &hidden->times.rates[index] };
  QmCalibration fitted = *hidden->prior;

  fit (rates, is_seen, &without, hidden->prior, &fitted);
  for (size_t i = index; i < hidden->times.n; i++)
    if (is_target (&hidden->times.rates[i])
        && is_hidden (&hidden->times.rates[i], &without))
      hidden->errors[kind][i] =
          error_by (hidden, &fitted, &hidden->times.rates[i]);
}

static void
print_times (const Hidden *hidden)
{
  printf ("%-24s %-15s %8s %8s %8s\n", "model", "GPU", "shipped", "-model",
          "-family");
  for (size_t i = 0; i < hidden->times.n; i++)
    {
      const Rate *time = &hidden->times.rates[i];

      if (!is_target (time))
        continue;
      printf ("%-24s %-15s", time->model, time->trained.gpu->id);
      for (int kind = 0; kind < N_HIDDEN; kind++)
        printf (" %+8.1f", 100 * expm1 (hidden->errors[kind][i]));
      puts ("");
    }
}

static int
compare_sizes (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static void
print_group (const Hidden *hidden, int kind, const char *gpu, bool images)
{
  const QmLevel *level = qm_calibration_level (hidden->calibration, "engine");
  double sizes[MAX_RATES], sum = 0;
  size_t n = 0, within = 0;

  for (size_t i = 0; i < hidden->times.n; i++)
    {
      const Rate *time = &hidden->times.rates[i];
      double error = hidden->errors[kind][i];

      if (!is_target (time) || strcmp (time->trained.gpu->id, gpu) != 0
          || (time->trained.recipe.image_size > 0) != images)
        continue;
      sizes[n++] = fabs (expm1 (error));
      sum += error;
      within += fabs (error) <= level->constants[QM_CONSTANT_SPREAD];
    }
  if (n == 0)
    return;
  qsort (sizes, n, sizeof *sizes, compare_sizes);
  printf ("%-15s %-6s %-18s %3zu: %5.1f %5.1f %5.1f, mean %+5.1f, in %zu\n",
          gpu, images ? "images" : "text", names[kind], n,
          100 * sizes[(n - 1) / 2], 100 * sizes[(9 * n - 1) / 10],
          100 * sizes[n - 1], 100 * expm1 (sum / (double) n), within);
}

void
hidden_print (const Rates *rates,
              const QmCalibration *prior,
              const QmCalibration *calibration,
              HiddenProbes probes,
              const void *data)
{
  static Hidden hidden;
  static const char *const gpus[] = { "h200-141gb-sxm", "h100-80gb-sxm" };

  hidden = (Hidden){
    .prior = prior, .calibration = calibration, .probes = probes, .data = data
  };
  hidden.times.catalog = rates->catalog;
  hidden.times.rates = calloc (MAX_RATES, sizeof *hidden.times.rates);
  rates_add_times (&hidden.times);
  for (int kind = 0; kind < N_HIDDEN; kind++)
    for (size_t i = 0; i < hidden.times.n; i++)
      hidden.errors[kind][i] = NAN;
  for (size_t i = 0; i < hidden.times.n; i++)
    if (is_target (&hidden.times.rates[i]))
      {
        hidden.errors[SHIPPED][i] =
            error_by (&hidden, calibration, &hidden.times.rates[i]);
        for (int kind = 1; kind < N_HIDDEN; kind++)
          if (isnan (hidden.errors[kind][i]))
            predict_without (&hidden, rates, kind, i);
      }
  print_times (&hidden);
  for (size_t gpu = 0; gpu < sizeof gpus / sizeof gpus[0]; gpu++)
    for (int images = 1; images >= 0; images--)
      for (int kind = 0; kind < N_HIDDEN; kind++)
        print_group (&hidden, kind, gpus[gpu], images);
  for (size_t i = 0; i < hidden.times.n; i++)
    qm_trained_clear (&hidden.times.rates[i].trained);
  free (hidden.times.rates);
}
