/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rates of two GPUs are told apart where they differ by more. */
#define APART 1.1

/* Nine of ten of a normal distribution are within so many of its standard
 * deviations. */
#define NINE_OF_TEN 1.645

const char *
source_of (const Rate *rate)
{
  return rate->origin;
}

const char *
gpu_of (const Rate *rate)
{
  return rate->trained.gpu->id;
}

const char *
model_of (const Rate *rate)
{
  return rate->model;
}

const char *
level_of (const Rate *rate)
{
  return rate->trained.level;
}

const char *
family_of (const Rate *rate)
{
  return rate->trained.work != NULL
             ? qm_family_name (rate->trained.config.family)
             : "";
}

const char *
place_of (const Rate *rate)
{
  return is_offloaded (rate) ? "offloaded" : "not offloaded";
}

const char *
carrier_of (const Rate *rate)
{
  if (is_offloaded (rate))
    return "offloaded";
  return rate->trained.gpu->cooling == QM_GPU_COOLING_BOARD ? "board" : "card";
}

const char *
aim_of (const Rate *rate)
{
  return strcmp (level_of (rate), "tuned") == 0
                 || strcmp (level_of (rate), "cuda") == 0
             ? "tuned, cuda"
             : "";
}

/* What the interval of a rate is, by its level and GPU, and by what is left of
 * it. */
static double
spread_at (const QmCalibration *calibration,
           const Rates *rates,
           const double *left,
           size_t index)
{
  const Rate *rate = &rates->rates[index];

  return qm_calibration_level (calibration, rate->trained.level)
             ->constants[qm_constant_spread (rate->trained.gpu)]
         * (left != NULL ? left[index] : 1);
}

bool
is_first (const Rates *rates, KeyOf key, size_t index)
{
  for (size_t i = 0; i < index; i++)
    if (strcmp (key (&rates->rates[i]), key (&rates->rates[index])) == 0)
      return false;
  return true;
}

/* An error's size and how much it weighs. */
typedef struct Size
{
  double size, weight;
} Size;

static int
compare (const void *a, const void *b)
{
  const Size *x = a, *y = b;

  return (x->size > y->size) - (x->size < y->size);
}

static bool
is_of (const Rate *rate, const Group *group)
{
  return rate->held == group->held && rate->defect[0] == '\0'
         && (group->level == NULL
             || strcmp (rate->trained.level, group->level) == 0)
         && (group->key == NULL
             || strcmp (group->key (rate), group->value) == 0);
}

/* What a rate weighs in a group, in which each source weighs 1; 0 where it is
 * not of it, or has no error. */
static double
weight_of (const Rates *rates,
           const double *errors,
           const Group *group,
           size_t index)
{
  const char *origin = rates->rates[index].origin;
  size_t same = 0;

  if (isnan (errors[index]) || !is_of (&rates->rates[index], group))
    return 0;
  for (size_t i = 0; i < rates->n; i++)
    same += !isnan (errors[i]) && is_of (&rates->rates[i], group)
            && strcmp (rates->rates[i].origin, origin) == 0;
  return 1 / (double) same;
}

static double
share_off (double error)
{
  return fabs (expm1 (error));
}

static double
as_share (const Rate *rate, double error)
{
  (void) rate;
  return share_off (error);
}

/* How far a rate is from an interval around its prediction without width: a
 * source that has rounded leaves open where it is, by so much on both sides. */
static double
beyond_rounding (const Rate *rate, double error)
{
  return fmax (fabs (error) + log1p (-rate->rounding), 0);
}

/* Sizes of a group in their order. */
static size_t
list_sizes (const Rates *rates,
            const double *errors,
            const Group *group,
            double (*size_of) (const Rate *, double),
            Size *sizes)
{
  size_t n = 0;

  for (size_t i = 0; i < rates->n; i++)
    {
      double weight = weight_of (rates, errors, group, i);

      if (weight > 0)
        sizes[n++] = (Size){ size_of (&rates->rates[i], errors[i]), weight };
    }
  qsort (sizes, n, sizeof *sizes, compare);
  return n;
}

/* The smallest size that so much of the weight does not exceed. */
static double
quantile (const Size *sizes, size_t n, double share)
{
  double all = 0, below = 0;

  for (size_t i = 0; i < n; i++)
    all += sizes[i].weight;
  for (size_t i = 0; i < n; i++)
    {
      below += sizes[i].weight;
      if (below >= share * all - 1e-9)
        return sizes[i].size;
    }
  return n > 0 ? sizes[n - 1].size : NAN;
}

static double
plain_quantile (const Size *sizes, size_t n, double share)
{
  return n > 0 ? sizes[(size_t) (share * (double) (n - 1) + 0.5)].size : NAN;
}

static int
compare_doubles (const void *a, const void *b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* What intervals cover, and half of which are no wider than *width. */
static double
covered (const Rates *rates,
         const double *errors,
         const double *left,
         const QmCalibration *calibration,
         const Group *group,
         double *width)
{
  double within = 0, all = 0, widths[MAX_RATES];
  size_t n = 0;

  for (size_t i = 0; i < rates->n; i++)
    {
      double weight = weight_of (rates, errors, group, i), spread;

      if (weight <= 0)
        continue;
      spread = spread_at (calibration, rates, left, i);
      all += weight;
      within +=
          beyond_rounding (&rates->rates[i], errors[i]) <= spread ? weight : 0;
      widths[n++] = exp (2 * spread);
    }
  qsort (widths, n, sizeof *widths, compare_doubles);
  *width = n > 0 ? widths[n / 2] : NAN;
  return within / all;
}

Summary
summarize (const Rates *rates,
           const double *errors,
           const double *left,
           const QmCalibration *calibration,
           const Group *group)
{
  Summary summary = { 0 };
  Size sizes[MAX_RATES];
  size_t n;

  for (size_t i = 0; i < rates->n; i++)
    if (is_of (&rates->rates[i], group))
      {
        summary.n++;
        summary.missing += isnan (errors[i]);
        summary.bias += isnan (errors[i]) ? 0 : errors[i];
        summary.size += isnan (errors[i]) ? 0 : share_off (errors[i]);
      }
  n = list_sizes (rates, errors, group, as_share, sizes);
  summary.bias = expm1 (summary.bias / (double) n);
  summary.size /= (double) n;
  summary.covered =
      covered (rates, errors, left, calibration, group, &summary.width);
  summary.half = plain_quantile (sizes, n, 0.5);
  summary.most = plain_quantile (sizes, n, 0.9);
  summary.all = plain_quantile (sizes, n, 1);
  summary.half_of_sources = quantile (sizes, n, 0.5);
  summary.most_of_sources = quantile (sizes, n, 0.9);
  return summary;
}

/* The size that so much of the weight has less than, between those that are
 * there: each stands in the middle of its weight. */
static double
middle_quantile (const Size *sizes, size_t n, double share)
{
  double all = 0, middle = 0, before = 0, size = 0;

  for (size_t i = 0; i < n; i++)
    all += sizes[i].weight;
  for (size_t i = 0; i < n; i++)
    {
      middle += sizes[i].weight / 2;
      if (middle >= share * all)
        return size
               + (sizes[i].size - size) * (share * all - before)
                     / (middle - before);
      before = middle;
      size = sizes[i].size;
      middle += sizes[i].weight / 2;
    }
  return size;
}

double
spread_of (const Rates *rates,
           const Unseen *unseen,
           size_t kinds,
           const char *level,
           const char *carrier,
           double share,
           double least)
{
  const Group group = { .level = level,
                        .key = carrier != NULL ? carrier_of : place_of,
                        .value = carrier != NULL ? carrier : "not offloaded" };
  Size sizes[MAX_RATES];
  double spread = 0;
  size_t n = 0;

  for (size_t k = 0; k < kinds; k++)
    {
      size_t begin = n;

      for (size_t i = 0; i < rates->n && n < MAX_RATES; i++)
        {
          double weight = weight_of (rates, unseen[k].errors, &group, i);

          if (weight > 0)
            sizes[n++] =
                (Size){ beyond_rounding (&rates->rates[i], unseen[k].errors[i])
                            / unseen[k].left[i],
                        weight };
        }
      qsort (sizes + begin, n - begin, sizeof *sizes, compare);
      spread = fmax (spread, quantile (sizes + begin, n - begin, least));
    }
  qsort (sizes, n, sizeof *sizes, compare);
  return fmax (fmin (middle_quantile (sizes, n, share),
                     quantile (sizes, n, share)),
               spread);
}

static bool
are_alike (const Rate *a, const Rate *b)
{
  return !a->held && !b->held && a->trained.gpu != b->trained.gpu
         && a->trained.gpus == b->trained.gpus
         && strcmp (a->origin, b->origin) == 0
         && strcmp (a->model, b->model) == 0
         && strcmp (a->trained.level, b->trained.level) == 0;
}

Order
order_of (const Rates *rates, const double *errors)
{
  Order order = { 0, 0 };

  for (size_t i = 0; i < rates->n; i++)
    for (size_t j = 0; j < rates->n; j++)
      {
        const Rate *a = &rates->rates[i], *b = &rates->rates[j];

        if (isnan (errors[i]) || isnan (errors[j]) || !are_alike (a, b)
            || a->samples_per_s < b->samples_per_s * APART)
          continue;
        order.pairs++;
        order.right += exp (errors[i]) / a->samples_per_s
                       < exp (errors[j]) / b->samples_per_s;
      }
  return order;
}

Apart
apart_of (const Rates *rates,
          const double *errors,
          const double *left,
          const QmCalibration *calibration,
          const char *level,
          bool two_gpus)
{
  Apart apart = { 0 };
  double squares = 0;

  for (size_t i = 0; i < rates->n; i++)
    for (size_t j = 0; j < i; j++)
      {
        const Rate *a = &rates->rates[i], *b = &rates->rates[j];

        if (isnan (errors[i]) || isnan (errors[j])
            || strcmp (level_of (a), level) != 0
            || strcmp (level_of (b), level) != 0
            || strcmp (source_of (a), source_of (b)) != 0
            || strcmp (model_of (a), model_of (b)) != 0
            || (strcmp (gpu_of (a), gpu_of (b)) != 0) != two_gpus)
          continue;
        squares += (errors[i] - errors[j]) * (errors[i] - errors[j]) / 2
                   / (spread_at (calibration, rates, left, i)
                      * spread_at (calibration, rates, left, j));
        apart.pairs++;
      }
  apart.share = squares * NINE_OF_TEN * NINE_OF_TEN / (double) apart.pairs;
  return apart;
}
