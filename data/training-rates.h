/* SPDX-License-Identifier: Apache-2.0 */

/* The training rates of rates.csv: what predictions are fitted to, and held
 * against.  They are no training times: most are of other models than those of
 * the catalog. */

#ifndef QM_DATA_TRAINING_RATES_H
#define QM_DATA_TRAINING_RATES_H

#include "data/error.h"
#include "data/model.h"
#include "data/money.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why nothing is predicted of a recipe in FP8, of which there is no row; as
 * qm-bench says it, too. */
#define QM_PREDICT_NO_FP8 \
  "how fast products in FP8 are is not known: too few were measured"

/* A row.  Text is never NULL, and empty where the row says nothing. */
typedef struct QmTrainingRate
{
  const char *id;
  bool reported;     /* by others; else measured by the project */
  const char *model; /* of the catalog, or what it is called where it is from */
  const char *config; /* of the model, as Hugging Face has it; empty: `model` is
                         an id in the catalog */
  int64_t sequence;   /* tokens; 0: of images, or as the catalog has it */
  int64_t image;      /* pixels a side; 0: the same */
  int64_t batch;      /* samples of a step, of all GPUs */
  QmPrecision precision;
  const char *gpu; /* id in the catalog */
  int gpus;
  const char *link; /* "nvlink", "pcie"; empty: as the GPU is sold */
  const char *software;
  const char *level;    /* "engine", "tuned", "eager", "naive", "cuda" */
  const char *settings; /* joined by '+'; empty: those of the level */
  int64_t micro_batch;  /* 0: the largest that fits */
  bool checkpointing;
  double samples_per_s; /* of all GPUs */
  double rounding;      /* the share by which the rate may be another, since the
                           source has so few digits; 0: none to speak of */
  double sm_mhz;        /* that they ran at; NaN: not known */
  QmDate measured_on;   /* all 0: not known */
  const char *source;
  const char *defect; /* why it counts for nothing; empty: it does */
  const char *notes;
} QmTrainingRate;

typedef struct QmTrainingRates QmTrainingRates;

/* Reads rates.csv of a data directory; none where it has no such file. */
QmStatus qm_training_rates_load (const char *data_dir,
                                 QmTrainingRates **rates,
                                 QmError *error);

/* The same of a text, which errors say is of `file`; NULL: there is none. */
QmStatus qm_training_rates_parse (const char *text,
                                  size_t length,
                                  const char *file,
                                  QmTrainingRates **rates,
                                  QmError *error);

void qm_training_rates_free (QmTrainingRates *rates);

/* All of them, in the order of the file. */
const QmTrainingRate *qm_training_rates_list (const QmTrainingRates *rates,
                                              size_t *n);

#endif
