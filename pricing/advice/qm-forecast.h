/* SPDX-License-Identifier: Apache-2.0 */

/* How long a training will take where nobody has measured it: of a model that
 * nobody has trained, on a GPU type that nobody has tried, on another number of
 * GPUs.
 *
 * The operations of a training are known, and so is the peak of a GPU; what is
 * not is the share of the peak that it reaches.  Its logarithm is taken to be a
 * sum,
 *
 *   log share = model + GPU type + count + rest of this model on this type,
 *
 * of which `count` belongs to the number of GPUs and how they are connected
 * (plug-in cards, or a board that connects all), and is 0 for one of them.  It
 * is fitted by least squares to all plausible times (pricing/advice/
 * qm-advice.h) with the same settings, published and measured ones.  PyTorch,
 * with which the published ones were taken, and the project's engine have
 * models and GPU types of their own; only `count` is the same for both.
 *
 *   A model without times is as the mean of the models with them whose products
 *   are in as many bits, or where there is none, of all.
 *   A GPU type without times is as the mean of those with them; it must be of a
 *   maker that has one.
 *   The rest is the mean of what the sum leaves over of this model on this
 *   type, 0 where it was not tried there.
 *
 * In the shipped times plug-in cards reach on 2, 4 and 8 of them 1.05, 1.08 and
 * 0.93 times the share that they reach on one (the geometric mean of ten pairs;
 * what does not fit well into one gains), with naive settings 0.70, 0.81 and
 * 0.85 times; those on a board 1.00, 1.02 and 0.98 times, with naive settings
 * 0.99, 0.98 and 0.98.
 *
 * Its interval is what the same formula misses where the time is known: each
 * time is predicted as if what is not known here (the model, the type, both,
 * ...) were not known there either, and the interval holds all but the lowest
 * and the highest twentieth of true share / predicted share.  It ends where the
 * peak would be reached.  With fewer than QM_FORECAST_MIN of these, nothing is
 * predicted.
 *
 * How many times lie in such an interval that neither the formula nor the
 * interval has seen says qm_forecast_coverage(). */

#pragma once

#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

#define QM_FORECAST_MIN 10

/* What is not known of the place that is asked for. */
typedef enum
{
  QM_FORECAST_OF_COUNT, /* the model is known there on other numbers of them */
  QM_FORECAST_OF_PAIR,  /* the model is known, and so is the type, but not that
                           model on that type */
  QM_FORECAST_OF_MODEL, /* no time of the model is known */
  QM_FORECAST_OF_GPU,   /* no time of the type is known */
  QM_FORECAST_OF_BOTH,
  QM_N_FORECASTS
} QmForecastKind;

typedef struct
{
  double days;
  double low, high;
  double share; /* of the peak, at `days` */
  QmForecastKind kind;
  guint n_times;  /* that the formula was fitted to */
  guint n_errors; /* that the interval rests on */
} QmForecast;

typedef struct _QmForecasts QmForecasts;

/* Whether a time is to be left out. */
typedef gboolean (*QmForecastHide) (const QmMeasurement *time, gpointer data);

/* Prepares forecasts with such settings of such software from the times of a
 * catalog, which must outlive them.  Those of QM_TIMES_OF_PUBLICATION rest on
 * what the publication has.  To see what forecasts are worth, `hide` (may be
 * NULL) leaves times out.  (transfer full) */
QmForecasts *qm_forecasts_new (const QmCatalog *catalog,
                               QmSettings settings,
                               QmTimesOf times_of,
                               QmForecastHide hide,
                               gpointer data);

void qm_forecasts_free (QmForecasts *forecasts);

/* Predicts a training on so many GPUs; `model` need not be of the catalog.
 * Nothing is looked up: where the time is known, it is predicted nevertheless.
 * Whether the training fits into the memory is another question, which
 * pricing/advice/qm-memory-fit.h answers.
 *
 * Returns FALSE where too little is known, the GPU's peak in the recipe's
 * precision is not, or several are asked for of a GPU that is part of a machine
 * of its own. */
gboolean qm_forecasts_predict (QmForecasts *forecasts,
                               const QmModel *model,
                               const QmGpu *gpu,
                               int gpus,
                               QmForecast *forecast);

/* How many of the shipped times of PyTorch and the publication lie in the
 * interval that a forecast of that kind gives of them, where all times that it
 * must not know were hidden before: a share, which a test computes anew. */
double qm_forecast_coverage (QmForecastKind kind, QmSettings settings);

/* "count", "pair", "model", "gpu" or "both", for files; static. */
const char *qm_forecast_kind_name (QmForecastKind kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmForecasts, qm_forecasts_free)

G_END_DECLS
