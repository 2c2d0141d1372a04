/* SPDX-License-Identifier: Apache-2.0 */

/* What rates of a model say of how far predictions of it are off elsewhere.
 *
 * The error of a rate, the logarithm of predicted / known time, is taken to be
 * the sum of what all rates of its model at its level of software have in
 * common, those of its generation of GPUs, of its type, of several of its type,
 * and of what is the rate's own; each is as likely to
 * be of either sign, and has a standard deviation that is a constant of the
 * level (QM_CONSTANT_RESIDUAL_MODEL and those after it).  So two errors of a
 * model have the covariance
 *
 *   k(a, b) = model^2 + [same generation] generation^2 + [same type] type^2
 *             + [same type, several of it both] several^2
 *             + [a is b] (rate^2 + [other settings] settings^2
 *                         + rounding^2 / 3)
 *
 * and what is expected of the error e at a place is its best linear prediction
 * from the errors that are known, with K their covariances and k those with e:
 *
 *   e = k' K^-1 errors
 *
 * (Goldberger 1962; Robinson 1991: best linear unbiased prediction).  Few
 * rates, rates that are far apart, and rates of another generation count for
 * little.  A prediction is divided by exp (e), and its interval, as a
 * logarithm, becomes sqrt (left) times as wide:
 *
 *   left = (k(e, e) - k' K^-1 k + [no rate of that type] x) / (k(e, e) + x)
 *
 * with x what the variance that the level's interval stands for is larger than
 * k(e, e): GPUs that no rate is of are off for reasons of their own, of which
 * rates on others say nothing.
 *
 * What is known of a place is its fastest settings, and what is asked of one
 * are mostly those, too.  Of others, as a micro-batch that somebody names, less
 * is known: kernels that are left idle, launches. */

#ifndef QM_ENGINE_RESIDUAL_H
#define QM_ENGINE_RESIDUAL_H

#include "engine/predict.h"

/* Of rates of one model and level no more are looked at. */
#define QM_RESIDUAL_MOST 64

/* Where a rate is from, or a prediction is for. */
typedef struct QmResidualPlace
{
  const char *gpu; /* id in the catalog */
  int generation;  /* compute capability; 0: not known */
  int gpus;
  bool other; /* settings than those that are the fastest there */
} QmResidualPlace;

/* What is known of one rate. */
typedef struct QmResidualRate
{
  QmResidualPlace place;
  double error;    /* logarithm of predicted / known time */
  double rounding; /* share of the rate that its source leaves open */
  bool reported;   /* by others; else measured by the project, or own */
  bool own;        /* measured by the user */
} QmResidualRate;

/* What follows from them for a place. */
typedef struct QmResidual
{
  double error;         /* that is expected there; 0 without rates */
  double left;          /* of the variance; 1 without rates */
  size_t rates;         /* that it is from */
  size_t reported;      /* of them */
  size_t own;           /* of them */
  size_t other;         /* of them, on other generations of GPUs */
  const char *gpus[16]; /* ids of the types that they ran on, the first ones */
  size_t n_gpus;
} QmResidual;

/* The covariance of the errors of a model at two places, of two rates, by the
 * constants of a level. */
double qm_residual_covariance (const QmLevel *level,
                               const QmResidualPlace *a,
                               const QmResidualPlace *b);

/* What rates of one model and level say of a place. */
QmResidual qm_residual_from (const QmLevel *level,
                             const QmResidualRate *rates,
                             size_t n,
                             const QmResidualPlace *place);

/* Makes a prediction what it is with that. */
void qm_residual_apply (const QmResidual *residual, QmPrediction *prediction);

/* The errors of residuals.csv. */
typedef struct QmResiduals QmResiduals;

/* Reads them; none where there is no such file. */
QmStatus
qm_residuals_load (const char *path, QmResiduals **residuals, QmError *error);
void qm_residuals_free (QmResiduals *residuals);

/* What makes a training one of a model: its configuration, and of its recipe
 * what a sample's time depends on. */
void qm_residual_key (const QmModelConfig *config,
                      const QmRecipe *recipe,
                      char key[QM_MODEL_KEY_BYTES]);

/* Adds one more, measured by the user: instead of one of the same model, level
 * and place, if there is.  Text is copied but the place's. */
QmStatus qm_residuals_add (QmResiduals *residuals,
                           const char *key,
                           const char *level,
                           const QmResidualRate *rate,
                           QmError *error);

/* What those of a model's key say of a place at a level, and where they are
 * not asked for its fastest settings, of `other` ones.  Text of it is that of
 * `residuals`, which may be NULL. */
QmResidual qm_residuals_find (const QmResiduals *residuals,
                              const QmLevel *level,
                              const char *key,
                              const QmGpu *gpu,
                              int gpus,
                              bool other);

/* What those of other places say of it, with settings of its own: by which what
 * is known of this place itself can be judged. */
QmResidual qm_residuals_find_elsewhere (const QmResiduals *residuals,
                                        const QmLevel *level,
                                        const char *key,
                                        const QmGpu *gpu,
                                        int gpus);

#endif
