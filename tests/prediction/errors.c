/* SPDX-License-Identifier: Apache-2.0 */

/* errors DATA HERE [WHAT [PAGE PLOT]]: how far predictions are from the rates
 * of DATA/rates.csv, that were measured and reported.  HERE is this folder.
 *
 * Without WHAT it checks them, by DATA/calibration.csv and by the errors of
 * what was left out that HERE/left-out.csv has.  Else WHAT is
 *
 *   leave-out        leaves each source, type of GPU and model out of the fit
 *                    that predicts it, and writes HERE/left-out.csv to standard
 *                    output;
 *   fit              fits the constants anew, from those of HERE/prior.csv,
 * with intervals as wide as HERE/left-out.csv asks for, and writes
 *                    DATA/calibration.csv to standard output;
 *   left-out-check   does so again, and checks that it says what is there;
 *   residuals        writes DATA/residuals.csv, how far rates are off by model,
 *                    to standard output;
 *   residuals-check  checks that it is what it would be;
 *   residual         says what a fit to what is left would change;
 *   hidden           says how far our own times are predicted off where nothing
 *                    was measured of their model, or of its family;
 *   page             writes the tables of PAGE anew, and PLOT;
 *   page-check       checks that they are what it would write. */

#include "data/text.h"
#include "tests/prediction/calibrate.h"
#include "tests/prediction/fit.h"
#include "tests/prediction/hidden.h"
#include "tests/prediction/model-errors.h"
#include "tests/prediction/page.h"
#include "tests/prediction/residual.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far an error may be from the one in left-out.csv, as a logarithm: other
 * processors and compilers round otherwise on the way of a fit. */
#define SAME 0.02

/* Where there is little time, only what has so many rates is left out. */
#define LARGE_SOURCE 12

typedef struct Everything
{
  Rates rates;
  QmCalibration prior, calibration;
  Basis began, rests; /* what each of their constants does */
  LeftOut left_out;
  double fitted[MAX_RATES];
  /* The same by what `calibrate` measured of the GPU that is held back. */
  QmProbes reference, probes;
  QmCalibration known;
  double calibrated[MAX_RATES];
  double ranked[MAX_RATES]; /* and from plans of several GPUs */
  Clusters clusters;
} Everything;

#define HELD_GPU "h100-80gb-sxm"

/* What was measured of both GPUs themselves. */
static void
add_speeds (QmCalibration *calibration, const void *data)
{
  const Everything *all = data;

  qm_calibration_set_reference (calibration, &all->reference,
                                qm_catalog_gpu (all->rates.catalog,
                                                QM_REFERENCE_GPU));
  qm_calibration_add_probes (calibration, &all->probes);
}

/* What data/speeds has; without it what the catalog says stays. */
static bool
load_probes (const char *data, Everything *all)
{
  QmError error = { 0 };
  char path[PATH_MAX];

  all->known = all->calibration;
  if (qm_probes_path (data, QM_REFERENCE_GPU, path, sizeof path)
      && qm_probes_read (path, &all->reference, &error) == QM_OK
      && qm_probes_path (data, HELD_GPU, path, sizeof path)
      && qm_probes_read (path, &all->probes, &error) == QM_OK)
    {
      snprintf (all->probes.gpu, sizeof all->probes.gpu, "%s", HELD_GPU);
      add_speeds (&all->known, all);
    }
  if (error.message[0] != '\0')
    fprintf (stderr, "%s:%d: %s\n", error.file, error.line, error.message);
  errors_of (&all->rates, &all->known, all->calibrated);
  for (size_t i = 0; i < all->rates.n; i++)
    all->ranked[i] =
        isnan (all->calibrated[i]) || all->rates.rates[i].trained.gpus == 1
            ? all->calibrated[i]
            : log (rates_predict_ranks (&all->rates.rates[i], &all->known)
                   * all->rates.rates[i].samples_per_s);
  return error.message[0] == '\0';
}

static bool
load_basis (const char *data, const char *here, Everything *all)
{
  char path[PATH_MAX];

  snprintf (path, sizeof path, "%s/prior.csv", here);
  if (!basis_load (path, &all->began))
    return false;
  snprintf (path, sizeof path, "%s/calibration.csv", data);
  return basis_load (path, &all->rests);
}

static bool
load (const char *data, const char *here, bool left_out, Everything *all)
{
  static const char *const results[] = { "h100-80gb-sxm",
                                         "h100-80gb-sxm-pytorch" };
  QmError error = { 0 };
  char path[PATH_MAX];

  if (!rates_load (data, &all->rates))
    return false;
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
    {
      snprintf (path, sizeof path, "%s/measurements/%s.jsonl", data,
                results[i]);
      if (!rates_add_results (&all->rates, path))
        return false;
    }
  rates_add_times (&all->rates);
  snprintf (path, sizeof path, "%s/prior.csv", here);
  if (qm_calibration_load (path, &all->prior, &error) == QM_OK)
    {
      snprintf (path, sizeof path, "%s/calibration.csv", data);
      qm_calibration_load (path, &all->calibration, &error);
    }
  if (error.message[0] != '\0')
    {
      fprintf (stderr, "%s:%d: %s\n", error.file, error.line, error.message);
      return false;
    }
  if (!load_basis (data, here, all))
    return false;
  errors_of (&all->rates, &all->calibration, all->fitted);
  if (!load_probes (data, all)
      || !clusters_load (here, all->rates.catalog, &all->calibration,
                         &all->clusters))
    return false;
  snprintf (path, sizeof path, "%s/left-out.csv", here);
  return !left_out || left_out_read (path, &all->rates, &all->left_out);
}

static void
print_each (const Rates *rates, const double *errors)
{
  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];

      printf ("%-5.5s %-8s %-22.22s %d x %-18s ",
              rate->held ? "held" : rate->id, rate->trained.level, rate->model,
              rate->trained.gpus, rate->trained.gpu->id);
      if (rate->trained.work != NULL && !rate->trained.fits)
        printf ("does not fit ");
      if (rate->trained.work == NULL)
        printf ("not planned: %s\n", rate->problem.message);
      else if (isnan (errors[i]))
        printf ("left out: %s\n", rate->defect);
      else
        printf ("%+6.1f %%\n", 100 * expm1 (errors[i]));
    }
}

/* How large errors may be: of half the rates, of nine of ten, and of any; as
 * shipped, and predicted by a fit without their source: where they are, and a
 * little more.  Of ours, half of the rates are of kernels that took up to 8 %
 * longer than those of 28 November 2026.  Aimed at are, without the source, 10,
 * 20 and 40 % for tuned and cuda, and 15 % for half of eager. */
static const struct
{
  const char *level, *place; /* NULL: any */
  size_t rates;
  double shipped[3], left_out[3];
} bars[] = {
  { "engine", NULL, 95, { 0.035, 0.08, 0.20 }, { 0.05, 0.10, 0.22 } },
  { "engine", "offloaded", 25, { 0.037, 0.06, 0.10 }, { 0.07, 0.10, 0.12 } },
  { "tuned", NULL, 69, { 0.06, 0.13, 0.28 }, { 0.11, 0.22, 0.37 } },
  { "cuda", NULL, 26, { 0.07, 0.11, 0.13 }, { 0.07, 0.09, 0.10 } },
  { "eager", NULL, 40, { 0.06, 0.17, 0.39 }, { 0.10, 0.20, 0.40 } },
  { "naive", NULL, 16, { 0.04, 0.10, 0.12 }, { 0.12, 0.24, 0.26 } },
};

static bool
is_within (const Everything *all, const double *errors, bool left_out, size_t i)
{
  const Group group = { .level = bars[i].level,
                        .key = bars[i].place != NULL ? place_of : NULL,
                        .value = bars[i].place };
  const Summary is =
      summarize (&all->rates, errors, NULL, &all->calibration, &group);
  const double *bar = left_out ? bars[i].left_out : bars[i].shipped;

  if (is.n >= bars[i].rates && is.missing == 0 && is.half <= bar[0]
      && is.most <= bar[1] && is.all <= bar[2])
    return true;
  fprintf (
      stderr,
      "%s%s, %s: %zu rates, %zu not predicted; %.1f, %.1f and %.1f %%, and "
      "not %.0f, %.0f and %.0f\n",
      bars[i].level, bars[i].place != NULL ? ", offloaded" : "",
      left_out ? "without the source" : "as shipped", is.n, is.missing,
      100 * is.half, 100 * is.most, 100 * is.all, 100 * bar[0], 100 * bar[1],
      100 * bar[2]);
  return false;
}

/* The aims for tuned PyTorch and CUDA engines, and for half of eager, without
 * the source, the type of GPU and the model: each source weighing the same, and
 * without the source each rate, too. */
static bool
check_aims (const Everything *all)
{
  const Group both = { .key = aim_of, .value = "tuned, cuda" };
  const Group eager = { .level = "eager" };
  bool good = true;

  for (int k = 0; k < N_WITHOUT; k++)
    {
      const double *errors = all->left_out.errors[k];
      const Summary is =
          summarize (&all->rates, errors, NULL, &all->calibration, &both);
      const Summary of_eager =
          summarize (&all->rates, errors, NULL, &all->calibration, &eager);
      bool rates = k == WITHOUT_SOURCE;

      if (is.n >= 70 && is.half <= 0.1 && is.half_of_sources <= 0.1
          && (is.most <= 0.2 || !rates) && is.most_of_sources <= 0.2
          && of_eager.half <= 0.15 && of_eager.half_of_sources <= 0.15)
        continue;
      fprintf (stderr,
               "aims, without the %s: tuned and cuda %.1f, %.1f and %.1f %%, "
               "sources alike %.1f and %.1f; half of eager %.1f and %.1f\n",
               without_name (k), 100 * is.half, 100 * is.most, 100 * is.all,
               100 * is.half_of_sources, 100 * is.most_of_sources,
               100 * of_eager.half, 100 * of_eager.half_of_sources);
      good = false;
    }
  return good;
}

/* None is far off, and types of GPU are in their order, without the source, the
 * type of GPU and the model. */
static bool
check_worst (const Everything *all)
{
  const Group both = { .key = aim_of, .value = "tuned, cuda" };
  bool good = true;

  for (int k = 0; k < N_WITHOUT; k++)
    {
      const double *errors = all->left_out.errors[k];
      const Summary is =
          summarize (&all->rates, errors, NULL, &all->calibration, &both);
      const Order order = order_of (&all->rates, errors);

      if (is.all <= 0.4 && order.pairs >= 45
          && (double) order.right >= 0.97 * (double) order.pairs)
        continue;
      fprintf (stderr,
               "without the %s: tuned and cuda %.1f %% at worst, of %zu pairs "
               "of GPUs %zu are in their order\n",
               without_name (k), 100 * is.all, order.pairs, order.right);
      good = false;
    }
  return good;
}

/* What intervals cover of each level without the source, the type of GPU and
 * the model, each source weighing the same: of each of these 85 to 98 %.  Of a
 * level with few rates one more covered is several percent. */
static bool
check_intervals (const Everything *all)
{
  bool good = true;

  for (size_t i = 0; i < all->calibration.n_levels; i++)
    for (int k = 0; k < N_WITHOUT; k++)
      {
        const Group group = { .level = all->calibration.levels[i].name,
                              .key = place_of,
                              .value = "not offloaded" };
        const Summary is =
            summarize (&all->rates, all->left_out.errors[k],
                       all->left_out.left[k], &all->calibration, &group);

        if (is.covered >= 0.85 && (is.covered <= 0.98 || is.n < 30)
            && is.width <= 1.6)
          continue;
        fprintf (stderr,
                 "%s without the %s: intervals cover %.1f %%, and are "
                 "%.2f wide\n",
                 group.level, without_name (k), 100 * is.covered, is.width);
        good = false;
      }
  return good;
}

/* What ran, fits by the plan, too, but for three of PyTorch: Mamba of 1.3
 * billion parameters, of which flash-linear-attention keeps nothing in fp32,
 * not even states.  Other engines in CUDA keep these in 8 bits, or elsewhere.
 */
static bool
check_fits (const Everything *all)
{
  int fit = 0, too_large = 0;

  for (size_t i = 0; i < all->rates.n; i++)
    {
      const Rate *rate = &all->rates.rates[i];

      if (rate->trained.work == NULL || is_offloaded (rate)
          || strcmp (rate->trained.level, "cuda") == 0)
        continue;
      *(rate->trained.fits ? &fit : &too_large) += 1;
    }
  if (fit >= 170 && too_large <= 3)
    return true;
  fprintf (stderr, "%d fit, %d do not\n", fit, too_large);
  return false;
}

static bool
check_held (const Everything *all)
{
  static const struct
  {
    const char *level;
    size_t least;
    double half, most;   /* by the catalog */
    double known, worst; /* by what was measured of the GPU */
  } held[] = { { "engine", 4, 0.05, 0.13, 0.04, 0.12 },
               { "tuned", 5, 0.06, 0.12, 0.05, 0.08 } };
  bool good = true;

  for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
    {
      const Group group = { .level = held[i].level, .held = HELD_RESULT };
      const Summary is =
          summarize (&all->rates, all->fitted, NULL, &all->calibration, &group);
      const Summary known = summarize (&all->rates, all->calibrated, NULL,
                                       &all->calibration, &group);

      if (is.n >= held[i].least && is.missing == 0 && is.half <= held[i].half
          && is.most <= held[i].most && known.half <= held[i].known
          && known.most <= held[i].worst)
        continue;
      fprintf (stderr,
               "%s on an H100: %zu, %.1f and %.1f %%, as calibrated %.1f and "
               "%.1f %%\n",
               held[i].level, is.n, 100 * is.half, 100 * is.most,
               100 * known.half, 100 * known.most);
      good = false;
    }
  return good;
}

/* Of several machines, which nothing was fitted to: by themselves, and beside
 * one machine, which leaves what a network costs. */
static bool
check_clusters (const Everything *all)
{
  static const struct
  {
    bool beside;
    double half, most;
  } sizes[] = { { false, 0.12, 0.26 }, { true, 0.06, 0.22 } };
  bool good = all->clusters.n >= 35;

  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    {
      double half, most;

      clusters_summarize (&all->clusters, sizes[i].beside, &half, &most);
      if (half <= sizes[i].half && most <= sizes[i].most)
        continue;
      fprintf (stderr, "several machines%s: %.1f and %.1f %%\n",
               sizes[i].beside ? ", beside one" : "", 100 * half, 100 * most);
      good = false;
    }
  return good;
}

static int
check (const Everything *all)
{
  bool good = check_intervals (all);

  print_each (&all->rates, all->fitted);
  for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
    {
      good = is_within (all, all->fitted, false, i) && good;
      good = is_within (all, all->left_out.errors[WITHOUT_SOURCE], true, i)
             && good;
    }
  good = check_aims (all) && good;
  good = check_worst (all) && good;
  good = check_held (all) && good;
  good = check_fits (all) && good;
  good = check_clusters (all) && good;
  return good ? 0 : 1;
}

/* Fits again without each source (and type of GPU, and model, where there is
 * time). */
static int
check_left_out (const Everything *all)
{
  const bool full = getenv ("QM_TEST_FULL") != NULL;
  double errors[MAX_RATES], left[MAX_RATES];
  int different = 0, compared = 0;

  for (int k = 0; k < (full ? N_WITHOUT : 1); k++)
    {
      leave_out (&all->rates, &all->prior, k, full ? 1 : LARGE_SOURCE, errors,
                 left, NULL, NULL);
      for (size_t i = 0; i < all->rates.n; i++)
        {
          const double known = all->left_out.errors[k][i];

          const double width = all->left_out.left[k][i];

          compared += !isnan (errors[i]);
          if (isnan (errors[i])
              || (fabs (errors[i] - known) <= SAME
                  && fabs (left[i] - width) <= SAME))
            continue;
          fprintf (stderr,
                   "%s without its %s: %.3f, %.3f left, and not %.3f, %.3f\n",
                   all->rates.rates[i].id, without_name (k), exp (errors[i]),
                   left[i], exp (known), width);
          different++;
        }
    }
  printf ("%d compared, %d different\n", compared, different);
  return different > 0 || compared < 150;
}

static int
make_calibration (Everything *all)
{
  QmCalibration fitted = all->prior;

  fit (&all->rates, NULL, NULL, &all->prior, &fitted);
  errors_of (&all->rates, &fitted, all->fitted);
  find_deviations (&all->rates, all->fitted, &all->prior, &fitted);
  set_spreads (&all->rates, &all->left_out, &fitted);
  write_calibration (&fitted, &all->prior, &all->began);
  return 0;
}

static int
make_left_out (Everything *all)
{
  for (int k = 0; k < N_WITHOUT; k++)
    leave_out (&all->rates, &all->prior, k, 1, all->left_out.errors[k],
               all->left_out.left[k], NULL, NULL);
  left_out_write (&all->rates, &all->left_out);
  return 0;
}

static int
check_residuals (const Everything *all, const char *data)
{
  QmError error = { 0 };
  char path[PATH_MAX], *made = NULL, *there = NULL;
  size_t length;
  FILE *out = open_memstream (&made, &length);
  bool same;

  write_residuals (out, &all->rates, all->ranked);
  fclose (out);
  snprintf (path, sizeof path, "%s/residuals.csv", data);
  same = qm_text_read_file (path, &there, &length, &error) == QM_OK
         && strcmp (made, there) == 0;
  if (!same)
    fprintf (stderr, "%s is not what it would be: make it anew\n", path);
  free (made);
  free (there);
  return same ? 0 : 1;
}

static int
run (Everything *all, const char *data, const char *what, char **files)
{
  if (what[0] == '\0')
    return check (all);
  if (strcmp (what, "fit") == 0)
    return make_calibration (all);
  if (strcmp (what, "leave-out") == 0)
    return make_left_out (all);
  if (strcmp (what, "residuals") == 0)
    {
      write_residuals (stdout, &all->rates, all->ranked);
      return 0;
    }
  if (strcmp (what, "residuals-check") == 0)
    return check_residuals (all, data);
  if (strcmp (what, "residual") == 0)
    {
      residual_print (&all->rates, &all->prior);
      return 0;
    }
  if (strcmp (what, "hidden") == 0)
    {
      hidden_print (&all->rates, &all->prior, &all->calibration, add_speeds,
                    all);
      return 0;
    }
  if (strcmp (what, "left-out-check") == 0)
    return check_left_out (all);
  if (strncmp (what, "page", 4) == 0 && files[0] != NULL && files[1] != NULL)
    return page_make (&all->rates, &all->calibration, &all->prior, all->fitted,
                      all->calibrated, &all->left_out, &all->clusters,
                      &all->rests, files[0], files[1],
                      strcmp (what, "page-check") == 0)
               ? 0
               : 1;
  fprintf (stderr, "what is %s?\n", what);
  return 1;
}

int
main (int argc, char **argv)
{
  static Everything all;
  const char *what = argc > 3 ? argv[3] : "";
  int result;

  if (argc < 3
      || !load (argv[1], argv[2],
                strcmp (what, "leave-out") != 0 && strcmp (what, "hidden") != 0,
                &all))
    return 1;
  result = run (&all, argv[1], what, argc > 4 ? argv + 4 : argv + argc);
  clusters_clear (&all.clusters);
  basis_clear (&all.began);
  basis_clear (&all.rests);
  rates_clear (&all.rates);
  return result;
}
