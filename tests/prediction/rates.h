/* SPDX-License-Identifier: Apache-2.0 */

/* The training rates of rates.csv, each with the work that it was. */

#ifndef QM_TESTS_RATES_H
#define QM_TESTS_RATES_H

#include "engine/predict.h"

typedef struct Rate
{
  const char *id, *model, *level, *source, *defect;
  const QmGpu *gpu;
  int gpus;
  QmInterconnect link;
  bool measured;        /* here, not reported by others */
  double samples_per_s; /* of all GPUs */
  double clock;         /* MHz that the GPU ran at; NaN: not known */
  QmWork *work;         /* of one GPU's share; NULL: cannot be planned */
  bool sharded, offloads;
  QmError problem; /* why it cannot */
} Rate;

typedef struct Rates
{
  Rate *rates;
  size_t n;
  QmCatalog *catalog;
  QmPool strings;
} Rates;

/* Reads rates.csv of a data directory; false, with a word on stderr, on
 * failure. */
bool rates_load (const char *data_dir, Rates *rates);
void rates_clear (Rates *rates);

/* What a rate is predicted to be, in seconds for a sample, and the clock; NaN
 * where it is not. */
double rates_predict (const Rate *rate,
                      const QmCalibration *calibration,
                      double *clock);

#endif
