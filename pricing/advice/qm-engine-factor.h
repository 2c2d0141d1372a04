/* SPDX-License-Identifier: Apache-2.0 */

/* How much longer PyTorch takes than the project's engine, where both were
 * measured, to predict the time of one where only the other was.
 *
 * A pair is a model that both have measured on as many GPUs of one type with
 * one kind of settings; its ratio is the days of PyTorch / the days of the
 * engine.  The factor is the geometric mean of the ratios of the pairs of the
 * same model, settings and number of GPUs, of whatever GPU type; where that
 * model has none, of all models with those settings and that number.
 *
 * Its interval is from the least to the greatest ratio of all models with those
 * settings and that number of GPUs.  If the ratio that is looked for is a draw
 * of the same kind as the n that are known, it lies in there with probability
 * (n - 1) / (n + 1).  With fewer than QM_ENGINE_PAIRS_MIN pairs nothing is
 * predicted, since the spread is not known.
 *
 * Published times are of PyTorch, but of another way to measure: they make no
 * pair and no prediction starts from them. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

#define QM_ENGINE_PAIRS_MIN 3

/* The days of PyTorch are `factor` times those of the engine. */
typedef struct
{
  double factor;
  double low, high;
  guint n_pairs; /* that the interval rests on */
} QmEngineFactor;

typedef struct _QmEnginePairs QmEnginePairs;

/* Finds the pairs of a catalog, which must outlive them.  (transfer full) */
QmEnginePairs *qm_engine_pairs_new (const QmCatalog *catalog);

void qm_engine_pairs_free (QmEnginePairs *pairs);

guint qm_engine_pairs_count (const QmEnginePairs *pairs);

/* Returns FALSE where there are too few pairs. */
gboolean qm_engine_pairs_factor (const QmEnginePairs *pairs,
                                 const QmModel *model,
                                 QmSettings settings,
                                 int gpus,
                                 QmEngineFactor *factor);

/* The time that `engine` takes where the other of the two took that of
 * `basis`, which is its `basis` and must outlive it; freed with g_free().
 * NULL where basis is not a measured time of the other one, or there are too
 * few pairs.  (transfer full) (nullable) */
QmMeasurement *qm_engine_pairs_predict (const QmEnginePairs *pairs,
                                        const QmMeasurement *basis,
                                        QmEngine engine);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmEnginePairs, qm_engine_pairs_free)

G_END_DECLS
