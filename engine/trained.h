/* SPDX-License-Identifier: Apache-2.0 */

/* What was trained where somebody told how fast that was: planned again, as a
 * training that is predicted is, and predicted. */

#ifndef QM_ENGINE_TRAINED_H
#define QM_ENGINE_TRAINED_H

#include "data/results.h"
#include "data/training-rates.h"
#include "engine/predict.h"

/* A training.  Pointers are those of the rate and of the catalog that it was
 * read from. */
typedef struct QmTrained
{
  const QmGpu *gpu;
  int gpus;
  QmInterconnect link;
  const char *level; /* of software */
  QmModelConfig config;
  QmRecipe recipe;       /* of one GPU's share of the batch */
  QmPlanOptions options; /* without a micro-batch: the largest that fits */
  bool gates_apart;      /* before our products ended in gates, and norms made
                            sums */
  bool unmasked;         /* attention is given no mask: other software than
                            Transformers makes none */
  /* What qm_trained_plan() adds. */
  QmWork *work; /* of one GPU's share; NULL: not planned */
  bool sharded; /* states are divided over the GPUs */
  bool fits;    /* into each, so divided; who trained it had other ways */
} QmTrained;

/* Reads from a rate what was trained, without planning it.  QM_STATUS_INVALID
 * where the catalog does not know its model or GPU, or nothing its settings. */
QmStatus qm_trained_read (const QmTrainingRate *rate,
                          const QmCatalog *catalog,
                          QmTrained *trained,
                          QmError *error);

/* Says of a result what was trained, of a model that it is of, without planning
 * it; false where it tells of no training as others are: it was not measured,
 * or deterministic, its GPU is not in the catalog, or it is no time of a
 * machine with so many (qm_result_aside()). */
bool qm_trained_of_result (const QmResult *result,
                           const QmCatalog *catalog,
                           const QmModelConfig *config,
                           const QmRecipe *recipe,
                           QmTrained *trained);

/* Whether what was measured that day, or nobody knows when, with our program
 * was so before feed-forward layers with gates became products that end in
 * them, 28 November 2026: a product and a gate, which takes longer; so with
 * what norms add. */
bool qm_trained_before_gates (QmDate measured_on);

/* Whether it was trained as its level of software trains: with nothing computed
 * twice or offloaded, and with the methods of the level. */
bool qm_trained_is_plain (const QmTrained *trained);

/* What rates of the same model have in common (qm_residual_key()): of one that
 * goes by the name of a model of the catalog that model's, however its source
 * writes its configuration, if it is as long. */
void qm_trained_key (const QmTrained *trained,
                     const char *model,
                     const QmCatalog *catalog,
                     char key[QM_MODEL_KEY_BYTES]);

/* Plans it.  Without a micro-batch in the options, or where the GPU is too
 * small for any, they say afterwards which was taken. */
QmStatus qm_trained_plan (QmTrained *trained, QmError *error);

/* Frees what was planned. */
void qm_trained_clear (QmTrained *trained);

/* Predicts the step of what was planned.  QM_STATUS_UNSUPPORTED also where the
 * calibration does not know the level. */
QmStatus qm_trained_predict (const QmTrained *trained,
                             const QmCalibration *calibration,
                             QmPrediction *prediction,
                             QmError *error);

/* The same as qm_places_find() has it of several GPUs: from a plan with their
 * exchange, which is made for it; of one it is the same. */
QmStatus qm_trained_predict_ranks (const QmTrained *trained,
                                   const QmCalibration *calibration,
                                   QmPrediction *prediction,
                                   QmError *error);

/* The share of its GPUs' peak that a rate of so many samples a second of all of
 * them implies: its floating-point operations (data/flops.h) over those that
 * the catalog says of its precision; NaN where that is not known. */
double qm_trained_utilization (const QmTrained *trained, double samples_per_s);

#endif
