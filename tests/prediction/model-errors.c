/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/model-errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIRST QM_CONSTANT_RESIDUAL_MODEL
#define N     (QM_CONSTANT_RESIDUAL_SETTINGS - FIRST + 1)

/* How far a variance may be from where it begins, in e-folds, and how near to
 * it a step brings it in the end. */
#define FREEDOM 2.0
#define NEAR    0.02

static bool
is_together (const Rate *a, const Rate *b)
{
  return strcmp (level_of (a), level_of (b)) == 0
         && strcmp (a->key, b->key) == 0;
}

bool
of_any_place (const Rate *rate, const Rate *other)
{
  (void) rate;
  (void) other;
  return true;
}

static bool
of_another_place (const Rate *rate, const Rate *other)
{
  return rate->trained.gpu != other->trained.gpu
         || rate->trained.gpus != other->trained.gpus;
}

static bool
not_held_elsewhere (const Rate *rate, const Rate *other)
{
  return !other->held && of_another_place (rate, other);
}

bool
not_held (const Rate *rate, const Rate *other)
{
  (void) rate;
  return !other->held;
}

static bool
is_known (const Rate *rate, const double *seen, size_t index)
{
  return (seen == NULL || !isnan (seen[index])) && is_plain (rate);
}

/* Whether no other that is known of its place is faster: predictions are of the
 * fastest settings.  Without `seen`, of all. */
static bool
is_fastest (const Rates *rates, const double *seen, size_t at)
{
  const Rate *rate = &rates->rates[at];

  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *other = &rates->rates[i];

      if (i != at && is_known (other, seen, i) && is_together (rate, other)
          && !of_another_place (rate, other)
          && (other->samples_per_s > rate->samples_per_s
              || (other->samples_per_s >= rate->samples_per_s && i < at)))
        return false;
    }
  return true;
}

/* Those that may tell of a rate. */
static size_t
list_known (const Rates *rates,
            const double *seen,
            MayTell may_tell,
            const Rate *of,
            QmResidualRate *known)
{
  size_t n = 0;

  for (size_t i = 0; i < rates->n && n < QM_RESIDUAL_MOST; i++)
    {
      const Rate *rate = &rates->rates[i];

      if (is_known (rate, seen, i) && is_together (rate, of)
          && may_tell (of, rate) && is_fastest (rates, seen, i))
        known[n++] = (QmResidualRate){ .place = residual_place_of (rate),
                                       .error = seen[i],
                                       .rounding = rate->rounding,
                                       .reported = !rate->measured };
    }
  return n;
}

static QmResidualPlace
asked_of (const Rates *rates, size_t index)
{
  QmResidualPlace place = residual_place_of (&rates->rates[index]);

  place.other = !is_fastest (rates, NULL, index);
  return place;
}

QmResidual
residual_of (const Rates *rates,
             const QmCalibration *calibration,
             const double *seen,
             MayTell may_tell,
             size_t index)
{
  const Rate *rate = &rates->rates[index];
  const QmResidualPlace place = asked_of (rates, index);
  QmResidualRate known[QM_RESIDUAL_MOST];
  size_t n = list_known (rates, seen, may_tell, rate, known);

  return qm_residual_from (qm_calibration_level (calibration, level_of (rate)),
                           known, n, &place);
}

void
correct_errors (const Rates *rates,
                const QmCalibration *calibration,
                const double *seen,
                MayTell may_tell,
                double *errors,
                double *left)
{
  for (size_t i = 0; i < rates->n; i++)
    if (!isnan (errors[i]))
      {
        QmResidual residual =
            residual_of (rates, calibration, seen, may_tell, i);

        errors[i] -= residual.error;
        if (left != NULL)
          left[i] = sqrt (residual.left);
      }
}

/* How unlikely an error is, by a normal distribution, given others. */
static double
unlikeliness_given (const QmLevel *level,
                    const QmResidualRate *known,
                    size_t n,
                    const QmResidualRate *rate)
{
  QmResidual before = qm_residual_from (level, known, n, &rate->place);
  double own = level->constants[QM_CONSTANT_RESIDUAL_RATE];
  double settings =
      rate->place.other ? level->constants[QM_CONSTANT_RESIDUAL_SETTINGS] : 0;
  double whole = qm_residual_covariance (level, &rate->place, &rate->place)
                 + own * own + settings * settings;
  double variance = whole * before.left + rate->rounding * rate->rounding / 3;
  double off = rate->error - before.error;

  return (log (variance) + off * off / variance) / 2;
}

/* Errors of one model at a level: those of fastest settings, then others. */
typedef struct ModelErrors
{
  size_t begin, others, end; /* in the list */
} ModelErrors;

/* Each of fastest settings given those before it, each other given them all. */
static double
unlikeliness_of (const QmLevel *level,
                 const QmResidualRate *list,
                 const ModelErrors *model)
{
  const QmResidualRate *known = list + model->begin;
  double sum = 0;

  for (size_t i = model->begin; i < model->end; i++)
    sum += unlikeliness_given (level, known,
                               (i < model->others ? i : model->others)
                                   - model->begin,
                               &list[i]);
  return sum;
}

/* The errors of a level, those of a model one after the other. */
typedef struct Errors
{
  QmResidualRate known[MAX_RATES];
  ModelErrors of[MAX_RATES];
  size_t models;
} Errors;

/* Those of a model at places of which a faster one is known. */
static size_t
list_others (const Rates *rates,
             const double *errors,
             const Rate *of,
             QmResidualRate *list)
{
  size_t n = 0;

  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];

      if (!is_known (rate, errors, i) || !is_together (rate, of) || rate->held
          || is_fastest (rates, errors, i))
        continue;
      list[n] = (QmResidualRate){ .place = residual_place_of (rate),
                                  .error = errors[i],
                                  .rounding = rate->rounding };
      list[n++].place.other = true;
    }
  return n;
}

static void
list_models (const Rates *rates,
             const double *errors,
             const char *level,
             Errors *list)
{
  size_t n = 0;

  list->models = 0;
  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];
      bool first = strcmp (level_of (rate), level) == 0;

      for (size_t j = 0; j < i && first; j++)
        first = !is_together (&rates->rates[j], rate);
      if (!first)
        continue;
      list->of[list->models].begin = n;
      n += list_known (rates, errors, not_held, rate, &list->known[n]);
      list->of[list->models].others = n;
      n += list_others (rates, errors, rate, &list->known[n]);
      list->of[list->models++].end = n;
    }
}

static double
unlikeliness (const Errors *list, const QmLevel *prior, const QmLevel *level)
{
  double sum = 0;

  for (size_t i = 0; i < list->models; i++)
    sum += unlikeliness_of (level, list->known, &list->of[i]);
  for (int k = FIRST; k < FIRST + N; k++)
    {
      double moved = 2 * log (level->constants[k] / prior->constants[k]);

      sum += moved * moved / (2 * FREEDOM * FREEDOM);
    }
  return sum;
}

/* Goes up and down with each in turn, by steps that become smaller. */
static void
find_level (const Errors *list, const QmLevel *prior, QmLevel *level)
{
  double best;

  for (int k = FIRST; k < FIRST + N; k++)
    level->constants[k] = prior->constants[k];
  best = unlikeliness (list, prior, level);
  for (double step = 0.5; step > NEAR; step /= 2)
    for (bool moved = true; moved;)
      {
        moved = false;
        for (int k = FIRST; k < FIRST + N; k++)
          for (int sign = -1; sign <= 1; sign += 2)
            {
              double before = level->constants[k], is;

              level->constants[k] = before * exp (sign * step);
              is = unlikeliness (list, prior, level);
              moved = moved || is < best - 1e-9;
              if (is < best - 1e-9)
                best = is;
              else
                level->constants[k] = before;
            }
      }
}

void
find_deviations (const Rates *rates,
                 const double *errors,
                 const QmCalibration *prior,
                 QmCalibration *calibration)
{
  static Errors list;

  for (size_t i = 0; i < calibration->n_levels; i++)
    {
      list_models (rates, errors, calibration->levels[i].name, &list);
      find_level (&list, &prior->levels[i], &calibration->levels[i]);
    }
}

void
known_errors (const Rates *rates,
              const QmCalibration *calibration,
              const double *errors,
              double *before,
              double *after,
              double *left)
{
  for (size_t i = 0; i < rates->n; i++)
    {
      QmResidual residual = { 0 };

      before[i] = after[i] = left[i] = NAN;
      if (is_known (&rates->rates[i], errors, i))
        residual =
            residual_of (rates, calibration, errors, not_held_elsewhere, i);
      if (residual.rates == 0)
        continue;
      before[i] = errors[i];
      after[i] = errors[i] - residual.error;
      left[i] = sqrt (residual.left);
    }
}

void
write_residuals (FILE *out, const Rates *rates, const double *errors)
{
  fputs ("model,key,level,gpu,generation,gpus,provenance,predicted,rounding,"
         "rate\n",
         out);
  for (size_t i = 0; i < rates->n; i++)
    {
      const Rate *rate = &rates->rates[i];
      const QmResidualPlace place = residual_place_of (rate);

      if (!is_known (rate, errors, i) || !is_fastest (rates, errors, i))
        continue;
      fprintf (out, "%s,%s,%s,%s,%d,%d,%s,%.4f,", rate->model, rate->key,
               level_of (rate), place.gpu, place.generation, place.gpus,
               rate->measured ? "measured" : "reported", exp (errors[i]));
      if (rate->rounding > 0)
        fprintf (out, "%.3g", rate->rounding);
      fprintf (out, ",%s\n", rate->held ? "measurements" : rate->id);
    }
}
