/* SPDX-License-Identifier: Apache-2.0 */

/* errors DATA PRIOR [fit|source|gpu|model]: how far predictions are from the
 * rates of DATA/rates.csv, that were measured and reported.  `fit` fits the
 * constants anew, from those of PRIOR, and writes DATA/calibration.csv to
 * standard output; the others leave each source, type of GPU or model out of
 * the fit that predicts it. */

#include "tests/prediction/fit.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 12
#define COVERED    0.9
#define MAX_ERRORS 1024

typedef const char *(*KeyOf) (const Rate *rate);

/* All of one repository. */
static const char *
source_of (const Rate *rate)
{
  static char names[MAX_ERRORS][96];
  static size_t n;
  char name[96];

  snprintf (name, sizeof name, "%.*s", (int) strcspn (rate->source, "@ "),
            rate->source);
  for (size_t i = 0; i < n; i++)
    if (strcmp (names[i], name) == 0)
      return names[i];
  memcpy (names[n], name, sizeof name);
  return names[n++];
}

static const char *
gpu_of (const Rate *rate)
{
  return rate->gpu->id;
}

static const char *
model_of (const Rate *rate)
{
  return rate->model;
}

static const char *
level_of (const Rate *rate)
{
  return rate->level;
}

static const char *
place_of (const Rate *rate)
{
  return rate->offloads ? "offloaded" : "not offloaded";
}

typedef struct LeftOut
{
  KeyOf key;
  const char *value;
} LeftOut;

static bool
is_in (const Rate *rate, const void *data)
{
  const LeftOut *out = data;

  return strcmp (out->key (rate), out->value) != 0;
}

static int
compare (const void *a, const void *b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

static double
quantile (const double *sorted, size_t n, double share)
{
  return sorted[(size_t) (share * (double) (n - 1) + 0.5)];
}

/* One line of what the errors of rates with a key are. */
static void
print_group (const Rates *rates,
             const double *errors,
             const char *level,
             KeyOf key,
             const char *value)
{
  double sizes[MAX_ERRORS], bias = 0;
  size_t n = 0;

  for (size_t i = 0; i < rates->n; i++)
    if (!isnan (errors[i])
        && (level == NULL || strcmp (rates->rates[i].level, level) == 0)
        && (key == NULL || strcmp (key (&rates->rates[i]), value) == 0))
      {
        bias += errors[i];
        sizes[n++] = fabs (expm1 (errors[i]));
      }
  if (n == 0)
    return;
  qsort (sizes, n, sizeof *sizes, compare);
  printf ("%-8s %-44.44s %4zu  %5.1f  %5.1f  %5.1f  %+6.1f\n",
          level != NULL ? level : "all", value != NULL ? value : "", n,
          100 * quantile (sizes, n, 0.5), 100 * quantile (sizes, n, 0.9),
          100 * sizes[n - 1], 100 * expm1 (bias / (double) n));
}

static bool
is_first (const Rates *rates, KeyOf key, size_t index)
{
  for (size_t i = 0; i < index; i++)
    if (strcmp (key (&rates->rates[i]), key (&rates->rates[index])) == 0)
      return false;
  return true;
}

static void
print_groups (const Rates *rates, const double *errors, KeyOf key)
{
  printf ("\n%-8s %-44s %4s  %5s  %5s  %5s  %6s\n", "level", "", "n", "half",
          "0.9", "worst", "bias");
  for (size_t i = 0; i < rates->n; i++)
    if (is_first (rates, level_of, i))
      for (size_t j = 0; j < rates->n; j++)
        if (is_first (rates, key, j))
          print_group (rates, errors, rates->rates[i].level, key,
                       key (&rates->rates[j]));
}

static void
errors_of (const Rates *rates,
           const QmCalibration *calibration,
           const LeftOut *only,
           double *errors)
{
  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];

      if (only != NULL && is_in (rate, only))
        continue;
      errors[i] = rate->defect[0] == '\0'
                      ? log (rates_predict (rate, calibration, NULL)
                             * rate->samples_per_s)
                      : NAN;
    }
}

/* Each predicted by a fit without all that have its key. */
static void
leave_out (const Rates *rates,
           const QmCalibration *calibration,
           KeyOf key,
           double *errors)
{
  for (size_t i = 0; i < rates->n; i++)
    if (is_first (rates, key, i))
      {
        LeftOut out = { key, key (&rates->rates[i]) };
        QmCalibration without = *calibration;

        fit (rates, is_in, &out, ITERATIONS, &without);
        errors_of (rates, &without, &out, errors);
      }
}

/* Of every level, from errors of what was left out.  Without what offloads: the
 * constants of the host begin at what was read off those rates, all of one
 * host, and no fit can do without. */
static void
set_spreads (const Rates *rates,
             const double *errors,
             QmCalibration *calibration)
{
  for (size_t i = 0; i < calibration->n_levels; i++)
    {
      QmLevel *level = &calibration->levels[i];
      double sizes[MAX_ERRORS];
      size_t n = 0;

      for (size_t j = 0; j < rates->n; j++)
        if (!isnan (errors[j]) && !rates->rates[j].offloads
            && strcmp (rates->rates[j].level, level->name) == 0)
          sizes[n++] = fabs (errors[j]);
      qsort (sizes, n, sizeof *sizes, compare);
      if (n > 0)
        level->constants[QM_CONSTANT_SPREAD] = quantile (sizes, n, COVERED);
    }
}

/* One constant.  What did not move rests on nothing but what it began with. */
static void
write_constant (const char *scope,
                const char *name,
                const char *constant,
                double value,
                double prior)
{
  printf ("%s,%s,%s,%.4g,%s\n", scope, name, constant, value,
          fabs (value / prior - 1) > 1e-3 ? "fit to rates.csv"
                                          : "assumed: no rate tells more");
}

static void
write_levels (const QmCalibration *c, const QmCalibration *prior)
{
  for (size_t i = 0; i < c->n_levels; i++)
    for (int j = 0; j < QM_N_CONSTANTS; j++)
      write_constant ("level", c->levels[i].name,
                      qm_constant_name ((QmConstant) j),
                      c->levels[i].constants[j], prior->levels[i].constants[j]);
}

static void
write_generations (const QmCalibration *c, const QmCalibration *prior)
{
  for (size_t i = 0; i < c->n_generations; i++)
    {
      char name[16];

      snprintf (name, sizeof name, "%d", c->generations[i].architecture);
      write_constant ("generation", name, "joules-per-flop",
                      c->generations[i].joules_per_flop,
                      prior->generations[i].joules_per_flop);
      write_constant ("generation", name, "clock", c->generations[i].clock,
                      prior->generations[i].clock);
    }
}

static void
write_calibration (const QmCalibration *c, const QmCalibration *prior)
{
  const QmPower *power = &c->power, *before = &prior->power;

  puts ("scope,name,constant,value,basis");
  write_levels (c, prior);
  write_generations (c, prior);
  write_constant ("power", "all", "tf32", power->tf32, before->tf32);
  write_constant ("power", "all", "fp32", power->fp32, before->fp32);
  write_constant ("power", "all", "joules-per-byte", power->joules_per_byte,
                  before->joules_per_byte);
  write_constant ("power", "all", "inner", power->inner, before->inner);
  write_constant ("power", "all", "exponent", power->exponent,
                  before->exponent);
  write_constant ("power", "all", "base", power->base, before->base);
  write_constant ("link", "all", "nvlink", c->nvlink, prior->nvlink);
  write_constant ("link", "all", "pcie", c->pcie, prior->pcie);
  write_constant ("link", "all", "latency-s", c->latency, prior->latency);
  write_constant ("link", "all", "hidden", c->hidden, prior->hidden);
  write_constant ("host", "all", "copies", c->host.copies, prior->host.copies);
  write_constant ("host", "all", "add-s", c->host.add, prior->host.add);
  write_constant ("host", "all", "adam-s", c->host.adam, prior->host.adam);
  write_constant ("host", "all", "copies-hidden", c->host.hidden,
                  prior->host.hidden);
}

static void
print_each (const Rates *rates, const double *errors)
{
  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];

      printf ("%-5s %-8s %-22.22s %d x %-18s ", rate->id, rate->level,
              rate->model, rate->gpus, rate->gpu->id);
      if (rate->work == NULL)
        printf ("not planned: %s\n", rate->problem.message);
      else if (isnan (errors[i]))
        printf ("left out: %s\n", rate->defect);
      else
        printf ("%+6.1f %%\n", 100 * expm1 (errors[i]));
    }
}

/* How large errors may be: of half the rates, of nine of ten, and of any; as
 * shipped, and predicted by a fit without their source. */
static const struct
{
  const char *level, *place; /* NULL: any */
  double shipped[3], left_out[3];
} bars[] = {
  { "engine", NULL, { 0.03, 0.12, 0.30 }, { 0.10, 0.25, 0.40 } },
  { "engine", "offloaded", { 0.03, 0.06, 0.10 }, { 0.10, 0.25, 0.40 } },
  { "tuned", NULL, { 0.06, 0.20, 0.40 }, { 0.10, 0.30, 0.40 } },
  { "cuda", NULL, { 0.06, 0.15, 0.20 }, { 0.10, 0.20, 0.40 } },
  { "eager", NULL, { 0.10, 0.30, 0.50 }, { 0.40, 0.70, 0.80 } },
};

static bool
within_bars (const Rates *rates, const double *errors, bool left_out)
{
  bool within = true;

  for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
    {
      static const double shares[] = { 0.5, 0.9, 1 };
      const double *bar = left_out ? bars[i].left_out : bars[i].shipped;
      double sizes[MAX_ERRORS];
      size_t n = 0;

      for (size_t j = 0; j < rates->n; j++)
        if (strcmp (rates->rates[j].level, bars[i].level) == 0
            && (bars[i].place == NULL
                || strcmp (place_of (&rates->rates[j]), bars[i].place) == 0)
            && rates->rates[j].defect[0] == '\0')
          {
            /* What cannot be predicted is no small error. */
            sizes[n++] =
                isnan (errors[j]) ? INFINITY : fabs (expm1 (errors[j]));
          }
      qsort (sizes, n, sizeof *sizes, compare);
      for (int k = 0; k < 3; k++)
        if (n < 20 || !(quantile (sizes, n, shares[k]) <= bar[k]))
          {
            fprintf (stderr,
                     "%s%s: of %zu rates %.0f %% are off by more than "
                     "%.0f %%\n",
                     bars[i].level, bars[i].place != NULL ? ", offloaded" : "",
                     n, 100 * (1 - shares[k]), 100 * bar[k]);
            within = false;
          }
    }
  return within;
}

int
main (int argc, char **argv)
{
  const char *what = argc > 3 ? argv[3] : "";
  Rates rates;
  QmCalibration calibration;
  QmError error = { 0 };
  double errors[MAX_ERRORS];
  char path[PATH_MAX];
  bool within;

  if (argc < 3 || !rates_load (argv[1], &rates))
    return 1;
  snprintf (path, sizeof path, "%s", argv[2]);
  if (what[0] == '\0')
    snprintf (path, sizeof path, "%s/calibration.csv", argv[1]);
  if (qm_calibration_load (path, &calibration, &error) != QM_OK)
    {
      fprintf (stderr, "%s:%d: %s\n", error.file, error.line, error.message);
      return 1;
    }
  if (strcmp (what, "fit") == 0)
    {
      QmCalibration fitted = calibration;

      fit (&rates, NULL, NULL, ITERATIONS, &fitted);
      leave_out (&rates, &calibration, source_of, errors);
      set_spreads (&rates, errors, &fitted);
      write_calibration (&fitted, &calibration);
      rates_clear (&rates);
      return 0;
    }
  if (strcmp (what, "source") == 0)
    leave_out (&rates, &calibration, source_of, errors);
  else if (strcmp (what, "gpu") == 0)
    leave_out (&rates, &calibration, gpu_of, errors);
  else if (strcmp (what, "model") == 0)
    leave_out (&rates, &calibration, model_of, errors);
  else
    errors_of (&rates, &calibration, NULL, errors);
  print_each (&rates, errors);
  print_groups (&rates, errors, source_of);
  print_groups (&rates, errors, gpu_of);
  print_groups (&rates, errors, place_of);
  puts ("");
  for (size_t i = 0; i < rates.n; i++)
    if (is_first (&rates, level_of, i))
      print_group (&rates, errors, rates.rates[i].level, NULL, NULL);
  within = (what[0] != '\0' && strcmp (what, "source") != 0)
           || within_bars (&rates, errors, what[0] != '\0');
  rates_clear (&rates);
  return within ? 0 : 1;
}
