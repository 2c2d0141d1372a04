/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARAMETERS 256
#define MAX_RESIDUALS  4096

/* Of the H100 and H200: 989.4e12 / (132 multiprocessors x 4096 operations). */
#define RATED_MHZ 1830

/* Errors are expected to be so large; those of clocks weigh less. */
#define SIGMA_MEASURED 0.03
#define SIGMA_REPORTED 0.08
#define SIGMA_CLOCK    0.05
#define LARGE          2.0

/* All rates of a source that are of one level are off together by so much, for
 * reasons that no constant knows: how its model is written, what it counts. */
#define SIGMA_SOURCE 0.1

/* And all rates of our engine of one model, of which there are up to 11: about
 * what residual-model is.  Else what no constant knows of that model would be
 * told eleven times, and move constants that all levels have in common. */
#define SIGMA_MODEL 0.03

#define STEP 1e-4

/* Of a fit; it ends before where a step makes it better by less than that. */
#define ITERATIONS 30
#define SETTLED    3e-5

typedef struct Parameter
{
  size_t offset;     /* of a double in a QmCalibration */
  double prior;      /* its logarithm at the start */
  double freedom;    /* of that, in e-folds */
  size_t parent;     /* stays as far from that parameter as at the start; its
                        own index: from where it started */
  const char *level; /* that it is of; NULL: of all */
  double least;      /* that it may be */
} Parameter;

typedef struct Fit
{
  const Rates *rates;
  FitFilter filter;
  const void *data;
  Parameter parameters[MAX_PARAMETERS];
  size_t n;
  double weight[MAX_RATES];   /* of each rate */
  size_t source[MAX_RATES];   /* the first rate that is_alike() */
  double together[MAX_RATES]; /* of that: the share of the mean of all that is
                                 theirs together */
} Fit;

static double *
at (QmCalibration *calibration, const Parameter *parameter)
{
  return (double *) (void *) ((char *) calibration + parameter->offset);
}

static void
add (Fit *fit,
     QmCalibration *calibration,
     double *value,
     const char *level,
     double freedom)
{
  if (*value <= 0 || freedom <= 0)
    return;
  fit->parameters[fit->n] =
      (Parameter){ .offset = (size_t) ((char *) value - (char *) calibration),
                   .prior = log (*value),
                   .freedom = freedom,
                   .parent = fit->n,
                   .level = level };
  fit->n++;
}

/* No software takes longer than one after the other, no product is faster for
 * what it reads, operators that nobody fuses move what they have to, and what
 * is made of several no less than was counted of them, which is where it
 * begins. */
static double
least_of (const char *level, QmConstant constant, double prior)
{
  bool simple = strcmp (level, "eager") == 0 || strcmp (level, "naive") == 0;

  switch (constant)
    {
    case QM_CONSTANT_SHARPNESS:
    case QM_CONSTANT_UNALIGNED:
      return 1;
    case QM_CONSTANT_RMS_NORM:
    case QM_CONSTANT_GATE:
    case QM_CONSTANT_GELU_NEW:
      return simple ? prior : 0;
    case QM_CONSTANT_NORM_BACKWARD:
    case QM_CONSTANT_SOFTMAX:
    case QM_CONSTANT_UPDATE:
    case QM_CONSTANT_OTHER:
      return simple ? 1 : 0;
    default:
      return 0;
    }
}

/* How far constants may go from where they begin, or from those of the level
 * that theirs follow (find_parents()).  Those of our engine began at fits to
 * its profiles; those of other software begin there. */
static double
freedom_of (const char *level, QmConstant constant)
{
  bool ours = strcmp (level, "engine") == 0;
  bool tuned = strcmp (level, "tuned") == 0;
  bool follows = strcmp (level, "eager") == 0 || strcmp (level, "naive") == 0;

  switch (constant)
    {
    case QM_CONSTANT_PRODUCT_16:
    case QM_CONSTANT_PRODUCT_TF32:
    case QM_CONSTANT_PRODUCT_FP32:
    case QM_CONSTANT_BANDWIDTH:
      return tuned ? 0.15 : 0.1;
    case QM_CONSTANT_ATTENTION:
    case QM_CONSTANT_ATTENTION_BACKWARD:
    case QM_CONSTANT_MATMUL:
      return ours ? 0.1 : follows ? 0.2 : 0.4;
    case QM_CONSTANT_LOADS:
      return follows ? 0.2 : 0.4;
    case QM_CONSTANT_SPREAD:
    case QM_CONSTANT_SPREAD_CARDS:
    case QM_CONSTANT_RESIDUAL_MODEL:
    case QM_CONSTANT_RESIDUAL_GENERATION:
    case QM_CONSTANT_RESIDUAL_TYPE:
    case QM_CONSTANT_RESIDUAL_SEVERAL:
    case QM_CONSTANT_RESIDUAL_RATE:
    case QM_CONSTANT_RESIDUAL_SETTINGS:
      return 0;
    case QM_CONSTANT_SATURATION:
      return ours ? 0 : follows ? 0.2 : 1;
    case QM_CONSTANT_CONVOLUTION_FP32:
    case QM_CONSTANT_CONVOLUTION_BACKWARD_FP32:
      return ours ? 0.2 : 1;
    case QM_CONSTANT_ATTENTION_HOPPER:
    case QM_CONSTANT_ATTENTION_MASKED:
      return ours || strcmp (level, "cuda") == 0 ? 0 : 0.4;
    case QM_CONSTANT_UNALIGNED:
      return ours || strcmp (level, "cuda") == 0 ? 0 : follows ? 0.1 : 0.2;
    case QM_CONSTANT_GELU_NEW:
      return 0.2;
    case QM_CONSTANT_DUAL_SCAN:
    case QM_CONSTANT_DUAL_SCAN_BACKWARD:
      return 0;
    case QM_CONSTANT_HOST_UPDATE:
      return ours || strcmp (level, "cuda") == 0 ? 0 : 0.1;
    case QM_CONSTANT_COPIES_HIDDEN:
      return ours ? 0.03 : strcmp (level, "cuda") == 0 ? 0 : 0.3;
    case QM_CONSTANT_SEQUENCE_UNMASKED:
    case QM_CONSTANT_EXPERTS:
      return follows ? 0.2 : 0.5;
    case QM_CONSTANT_DISPATCH:
    case QM_CONSTANT_CAST:
    case QM_CONSTANT_UPDATE:
    case QM_CONSTANT_OTHER:
    case QM_CONSTANT_NORM:
    case QM_CONSTANT_NORM_BACKWARD:
    case QM_CONSTANT_RMS_NORM:
    case QM_CONSTANT_GATE:
    case QM_CONSTANT_SOFTMAX:
    case QM_CONSTANT_SCAN:
    case QM_CONSTANT_SCAN_BACKWARD:
    case QM_CONSTANT_EXPONENTIALS:
    case QM_CONSTANT_EXPONENTIALS_BACKWARD:
    case QM_CONSTANT_CONVOLUTION:
    case QM_CONSTANT_CONVOLUTION_BACKWARD:
      return ours ? 0.2 : 0.5;
    default:
      return ours ? 0.2 : 0.1;
    }
}

/* PyTorch's levels run the same products and the same attention: eager stays
 * near what rates say of tuned, naive near eager, for all that they do not say
 * of it itself. */
static void
find_parents (Fit *fit, const QmCalibration *c)
{
  static const char *const parents[][2] = { { "eager", "tuned" },
                                            { "naive", "eager" } };

  for (size_t k = 0; k < sizeof parents / sizeof parents[0]; k++)
    {
      const QmLevel *child = qm_calibration_level (c, parents[k][0]);
      const QmLevel *parent = qm_calibration_level (c, parents[k][1]);
      size_t apart = (size_t) ((const char *) parent - (const char *) child);

      for (size_t i = 0; child != NULL && parent != NULL && i < fit->n; i++)
        for (size_t j = 0; j < fit->n; j++)
          if (fit->parameters[i].level == child->name
              && fit->parameters[j].offset == fit->parameters[i].offset + apart)
            fit->parameters[i].parent = j;
    }
}

static void
list_parameters (Fit *fit, QmCalibration *c)
{
  for (size_t i = 0; i < c->n_levels; i++)
    for (int j = 0; j < QM_N_CONSTANTS; j++)
      {
        size_t n = fit->n;

        add (fit, c, &c->levels[i].constants[j], c->levels[i].name,
             freedom_of (c->levels[i].name, (QmConstant) j));
        if (fit->n > n)
          fit->parameters[n].least =
              least_of (c->levels[i].name, (QmConstant) j,
                        c->levels[i].constants[j]);
      }
  for (size_t i = 0; i < c->n_generations; i++)
    {
      add (fit, c, &c->generations[i].joules_per_flop, NULL, 0.3);
      add (fit, c, &c->generations[i].clock, NULL, 0.03);
    }
  add (fit, c, &c->power.tf32, NULL, 0.1);
  add (fit, c, &c->power.fp32, NULL, 0.1);
  add (fit, c, &c->power.joules_per_byte, NULL, 0.1);
  add (fit, c, &c->power.exponent, NULL, 0.1);
  add (fit, c, &c->power.base, NULL, 0.05);
  add (fit, c, &c->half_rate, NULL, 0.07);
  add (fit, c, &c->nvlink, NULL, 0.15);
  add (fit, c, &c->pcie, NULL, 0.3);
  add (fit, c, &c->pcie_host, NULL, 0.3);
  add (fit, c, &c->hidden, NULL, 0.3);
  add (fit, c, &c->host.copies, NULL, 0.2);
  add (fit, c, &c->host.add, NULL, 0.2);
  add (fit, c, &c->host.adam, NULL, 0.1);
  find_parents (fit, c);
}

static double
sigma_of (const Rate *rate)
{
  double sigma = rate->measured ? SIGMA_MEASURED : SIGMA_REPORTED;

  /* What is rounded is anywhere within. */
  return sqrt (sigma * sigma + rate->rounding * rate->rounding / 3);
}

static bool
is_ours (const Rate *rate)
{
  return strcmp (rate->trained.level, "engine") == 0;
}

/* Whether errors of two rates have something in common, besides their level. */
static bool
is_alike (const Rate *a, const Rate *b)
{
  return strcmp (a->trained.level, b->trained.level) == 0
         && (is_ours (a) ? strcmp (a->key, b->key)
                         : strcmp (a->origin, b->origin))
                == 0;
}

/* How large that is. */
static double
common_sigma (const Rate *rate)
{
  return is_ours (rate) ? SIGMA_MODEL : rate->measured ? 0 : SIGMA_SOURCE;
}

static void
weigh (Fit *fit)
{
  const Rates *rates = fit->rates;

  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];
      size_t first = 0;

      while (!is_alike (&rates->rates[first], rate))
        first++;
      fit->source[i] = first;
      fit->weight[i] = 1 / sigma_of (rate);
      if (rate->trained.work == NULL || rate->defect[0] != '\0' || rate->held
          || (fit->filter != NULL && !fit->filter (rate, fit->data)))
        fit->weight[i] = 0;
      fit->together[first] += fit->weight[i] > 0;
    }
  /* What is left of n errors that have e in common, after it has been taken out
   * as far as it is likely, has no more in common: their covariance is
   * sigma^2 I + source^2, of which that is the inverse square root.  What was
   * measured here stands beside predictions in an advice: whatever all of it
   * has in common is the level itself, and of ours what a model has is not. */
  for (size_t i = 0; i < rates->n; i++)
    if (fit->source[i] == i)
      {
        double ratio =
            common_sigma (&rates->rates[i]) / sigma_of (&rates->rates[i]);

        fit->together[i] = 1 - 1 / sqrt (1 + fit->together[i] * ratio * ratio);
      }
}

/* Less than proportional where it is large. */
static double
soften (double error)
{
  double size = fabs (error) / LARGE;

  return copysign (LARGE * sqrt (2 * (sqrt (1 + size * size) - 1)), error);
}

/* The errors of all rates of a level (NULL: all) in their weights, without what
 * those of a source have in common, and the clocks that they are predicted at.
 */
static void
errors_of (const Fit *fit,
           const QmCalibration *calibration,
           const char *level,
           double *errors,
           double *clocks)
{
  double sums[MAX_RATES] = { 0 }, counts[MAX_RATES] = { 0 };
  const Rates *rates = fit->rates;

  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];

      if (fit->weight[i] == 0
          || (level != NULL && strcmp (rate->trained.level, level) != 0))
        continue;
      errors[i] = log (rates_predict (rate, calibration, &clocks[i])
                       * rate->samples_per_s)
                  * fit->weight[i];
      errors[i] = isnan (errors[i]) ? 0 : errors[i];
      sums[fit->source[i]] += errors[i];
      counts[fit->source[i]]++;
    }
  for (size_t i = 0; i < rates->n; i++)
    if (fit->weight[i] > 0 && counts[fit->source[i]] > 0)
      errors[i] -= sums[fit->source[i]] / counts[fit->source[i]]
                   * fit->together[fit->source[i]];
}

/* Only rates of `level` (NULL: all) are predicted anew, others stay as they are
 * in `out`. */
static size_t
residuals (const Fit *fit,
           QmCalibration *calibration,
           const char *level,
           double *out)
{
  double errors[MAX_RATES], clocks[MAX_RATES];
  size_t n = 0;

  errors_of (fit, calibration, level, errors, clocks);
  for (size_t i = 0; i < fit->rates->n; i++)
    {
      const Rate *rate = &fit->rates->rates[i];

      if (fit->weight[i] == 0)
        continue;
      if (level != NULL && strcmp (rate->trained.level, level) != 0)
        {
          n += isnan (rate->clock) ? 1 : 2;
          continue;
        }
      out[n++] = soften (errors[i]);
      if (!isnan (rate->clock))
        out[n++] =
            soften (log (clocks[i] * RATED_MHZ / rate->clock) / SIGMA_CLOCK);
    }
  for (size_t i = 0; i < fit->n; i++)
    {
      const Parameter *own = &fit->parameters[i];
      const Parameter *parent = &fit->parameters[own->parent];
      double moved = log (*at (calibration, own)) - own->prior;

      if (parent != own)
        moved -= log (*at (calibration, parent)) - parent->prior;
      out[n++] = moved / own->freedom;
    }
  return n;
}

static double
sum_of_squares (const double *values, size_t n)
{
  double sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += values[i] * values[i];
  return sum;
}

/* Solves a x = b for a positive definite matrix, which it overwrites with its
 * factor (Cholesky). */
static void
solve (double *a, double *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++)
      {
        double sum = a[i * n + j];

        for (size_t k = 0; k < j; k++)
          sum -= a[i * n + k] * a[j * n + k];
        a[i * n + j] = i == j ? sqrt (fmax (sum, 1e-12)) : sum / a[j * n + j];
      }
  for (size_t i = 0; i < n; i++)
    {
      for (size_t k = 0; k < i; k++)
        b[i] -= a[i * n + k] * b[k];
      b[i] /= a[i * n + i];
    }
  for (size_t i = n; i-- > 0;)
    {
      for (size_t k = i + 1; k < n; k++)
        b[i] -= a[k * n + i] * b[k];
      b[i] /= a[i * n + i];
    }
}

/* Where the normal equations lead with so much damping, of all parameters that
 * are not held. */
static void
find_move (const double *jacobian,
           const double *now,
           size_t p,
           size_t n,
           double damping,
           const bool *held,
           double *normal,
           double *move)
{
  for (size_t i = 0; i < p; i++)
    {
      for (size_t j = 0; j <= i; j++)
        {
          normal[i * p + j] = 0;
          for (size_t k = 0; k < n && !held[i] && !held[j]; k++)
            normal[i * p + j] += jacobian[i * n + k] * jacobian[j * n + k];
        }
      move[i] = 0;
      for (size_t k = 0; k < n && !held[i]; k++)
        move[i] -= jacobian[i * n + k] * now[k];
      normal[i * p + i] = held[i] ? 1 : normal[i * p + i] * (1 + damping);
    }
  solve (normal, move, p);
}

/* Moves all parameters; those that are as small as they may be and would become
 * smaller are held, and the others go where they are best without. */
static void
move_all (const Fit *fit,
          QmCalibration *moved,
          const double *jacobian,
          const double *now,
          size_t n,
          double damping)
{
  double *normal = calloc (fit->n * fit->n, sizeof *normal);
  double move[MAX_PARAMETERS];
  bool held[MAX_PARAMETERS] = { false }, again = true;

  while (again)
    {
      find_move (jacobian, now, fit->n, n, damping, held, normal, move);
      again = false;
      for (size_t i = 0; i < fit->n; i++)
        if (!held[i] && move[i] < 0
            && *at (moved, &fit->parameters[i]) <= fit->parameters[i].least)
          held[i] = again = true;
    }
  for (size_t i = 0; i < fit->n; i++)
    {
      double *value = at (moved, &fit->parameters[i]);

      *value = fmax (*value * exp (fmax (fmin (move[i], 1), -1)),
                     fit->parameters[i].least);
    }
  free (normal);
}

/* One step, with so much damping; true where it made anything better, and
 * *settled where not by much. */
static bool
step (const Fit *fit,
      QmCalibration *calibration,
      const double *jacobian,
      const double *now,
      size_t n,
      double damping,
      bool *settled)
{
  double *then = calloc (MAX_RESIDUALS, sizeof *then);
  QmCalibration moved = *calibration;
  double before, after;
  bool better;

  move_all (fit, &moved, jacobian, now, n, damping);
  residuals (fit, &moved, NULL, then);
  before = sum_of_squares (now, n);
  after = sum_of_squares (then, n);
  better = after < before;
  *settled = better && after > before * (1 - SETTLED);
  if (better)
    *calibration = moved;
  free (then);
  return better;
}

void
fit (const Rates *rates,
     FitFilter filter,
     const void *data,
     const QmCalibration *prior,
     QmCalibration *calibration)
{
  QmCalibration begin = *prior;
  Fit *fit = calloc (1, sizeof *fit);
  double *jacobian = calloc (MAX_PARAMETERS * MAX_RESIDUALS, sizeof *jacobian);
  double *now = calloc (MAX_RESIDUALS, sizeof *now);
  double *then = calloc (MAX_RESIDUALS, sizeof *then);
  double damping = 1e-2;
  bool settled = false;

  fit->rates = rates;
  fit->filter = filter;
  fit->data = data;
  list_parameters (fit, &begin);
  weigh (fit);
  for (int i = 0; i < ITERATIONS && !settled; i++)
    {
      size_t n = residuals (fit, calibration, NULL, now);
      bool better = false;

      for (size_t j = 0; j < fit->n; j++)
        {
          QmCalibration moved = *calibration;

          *at (&moved, &fit->parameters[j]) *= exp (STEP);
          memcpy (then, now, n * sizeof *then);
          residuals (fit, &moved, fit->parameters[j].level, then);
          for (size_t k = 0; k < n; k++)
            jacobian[j * n + k] = (then[k] - now[k]) / STEP;
        }
      for (int tries = 0; tries < 6 && !better; tries++)
        {
          better = step (fit, calibration, jacobian, now, n, damping, &settled);
          damping *= better ? 0.3 : 10;
        }
      settled = settled || !better;
    }
  free (then);
  free (now);
  free (jacobian);
  free (fit);
}
