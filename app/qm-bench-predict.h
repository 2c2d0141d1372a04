/* SPDX-License-Identifier: Apache-2.0 */

/* What `predict` is asked, of one model in many places, or of all of them. */

#ifndef QM_APP_QM_BENCH_PREDICT_H
#define QM_APP_QM_BENCH_PREDICT_H

#include "app/qm-bench-probes.h"
#include "app/qm-bench.h"
#include "engine/places.h"

#define QM_BENCH_LEVELS 8

/* What all models are found to need and take. */
typedef struct QmBenchFits QmBenchFits;

typedef struct QmBenchQuestion
{
  const QmBenchOptions *asked_with;
  bool json, all;     /* of all models of the catalog, one after the other: */
  QmBenchModel model; /* that is in hand */
  QmBenchFits *fits;  /* NULL: of one alone */
  QmCatalog *catalog;
  const QmGpu *gpus; /* of the catalog */
  size_t n_gpus;
  bool *asked; /* which of them */
  size_t n_asked;
  uint64_t bytes; /* of the device at hand that can be used; 0: the catalog's */
  int counts[QM_OPTION_NUMBERS]; /* ascending */
  int n_counts;
  QmInterconnect link;
  QmCalibration calibration;
  QmBenchProbes probes;                   /* that it points to */
  const QmLevel *levels[QM_BENCH_LEVELS]; /* of it, in the order asked for */
  size_t n_levels;
  QmPlacesOptions options;
  QmResiduals *residuals;       /* of rates */
  bool own_is_wrong;            /* the user's results cannot be read */
  char key[QM_MODEL_KEY_BYTES]; /* of the model among them */
  const QmBenchOptions *ways;   /* NULL: none are named */
  QmLinkTimes links;            /* of --links; of no ranks without it */
  QmNetwork network;            /* that it was measured with */
  const char *between;          /* machines, of which options has how many */
  QmPlaces *free; /* with the fastest settings; NULL: those are asked for */
} QmBenchQuestion;

/* Reads what rates and the user's results tell of the model in hand, in place
 * of what they told of the one before. */
QmStatus qm_bench_read_residuals (QmBenchQuestion *question, QmError *error);

/* Predicts the model in hand in every place, and says so. */
QmStatus qm_bench_predict_model (QmBenchQuestion *question, QmError *error);

/* Predicts every model of the catalog in every place, and says what fits how,
 * the newest group of models first. */
QmStatus qm_bench_predict_models (QmBenchQuestion *question, QmError *error);

/* Takes what was found of the model in hand in one place, of `places`. */
QmStatus qm_bench_fits_add (QmBenchFits *fits,
                            const QmBenchQuestion *question,
                            QmPlaces *places,
                            QmBenchPlace *place,
                            QmError *error);

#endif
