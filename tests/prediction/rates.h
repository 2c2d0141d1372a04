/* SPDX-License-Identifier: Apache-2.0 */

/* The training rates of rates.csv, and of results that are held back, each with
 * the work that it was. */

#ifndef QM_TESTS_RATES_H
#define QM_TESTS_RATES_H

#include "engine/residual.h"
#include "engine/trained.h"

#define MAX_RATES 1024

/* What never was fitted to: results of another GPU, and times of the catalog of
 * places that no rate is of. */
typedef enum Held
{
  NOT_HELD,
  HELD_RESULT,
  HELD_TIME
} Held;

typedef struct Rate
{
  const char *id, *model, *source, *defect;
  char origin[96]; /* of the source: all of one repository */
  bool measured;   /* here, not reported by others */
  Held held;
  double samples_per_s;         /* of all GPUs */
  double rounding;              /* share of it that the source leaves open */
  double clock;                 /* MHz that the GPU ran at; NaN: not known */
  QmTrained trained;            /* without work: it cannot be planned */
  char key[QM_MODEL_KEY_BYTES]; /* qm_residual_key() */
  QmError problem;              /* why it cannot */
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

/* Adds the times of the catalog that are of no place of another rate, as rates
 * that are held back. */
void rates_add_times (Rates *rates);

/* Whether it was trained as its level of software trains, so that it tells of
 * how far predictions of its model are off. */
bool is_plain (const Rate *rate);

/* Where it is from, for residuals. */
QmResidualPlace residual_place_of (const Rate *rate);

/* Whether what it keeps was in memory of the host. */
bool is_offloaded (const Rate *rate);

/* The same as `predict` has it of several GPUs, for which it makes a plan. */
double rates_predict_ranks (const Rate *rate, const QmCalibration *calibration);

/* What a rate is predicted to be, in seconds for a sample, and the clock; NaN
 * where it is not. */
double rates_predict (const Rate *rate,
                      const QmCalibration *calibration,
                      double *clock);

#endif
