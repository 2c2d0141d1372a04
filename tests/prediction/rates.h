/* SPDX-License-Identifier: Apache-2.0 */

/* The training rates of rates.csv, and of results that are held back, each with
 * the work that it was. */

#ifndef QM_TESTS_RATES_H
#define QM_TESTS_RATES_H

#include "engine/trained.h"

#define MAX_RATES 1024

typedef struct Rate
{
  const char *id, *model, *source, *defect;
  char origin[96];      /* of the source: all of one repository */
  bool measured;        /* here, not reported by others */
  bool held;            /* never fitted to */
  double samples_per_s; /* of all GPUs */
  double rounding;      /* share of it that the source leaves open */
  double clock;         /* MHz that the GPU ran at; NaN: not known */
  QmTrained trained;    /* without work: it cannot be planned */
  QmError problem;      /* why it cannot */
} Rate;

typedef struct Rates
{
  Rate *rates;
  size_t n;
  QmCatalog *catalog;
  QmTrainingRates *rows;
} Rates;

/* Reads rates.csv of a data directory; false, with a word on stderr, on
 * failure. */
bool rates_load (const char *data_dir, Rates *rates);
void rates_clear (Rates *rates);

/* Adds what a results file says was measured, as rates that are held back;
 * false as above. */
bool rates_add_results (Rates *rates, const char *path);

/* Whether what it keeps was in memory of the host. */
bool is_offloaded (const Rate *rate);

/* What a rate is predicted to be, in seconds for a sample, and the clock; NaN
 * where it is not. */
double rates_predict (const Rate *rate,
                      const QmCalibration *calibration,
                      double *clock);

#endif
