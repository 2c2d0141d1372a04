/* SPDX-License-Identifier: Apache-2.0 */

/* What a delivered machine is held against, as `quartermaster proposal
 * --acceptance` writes it and `qm-bench accept` reads it: for each model the
 * GPUs that were ordered, how it is trained on them, what was predicted of
 * that, and the rate that is guaranteed. */

#ifndef QM_DATA_ACCEPTANCE_H
#define QM_DATA_ACCEPTANCE_H

#include "data/error.h"
#include "data/model.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define QM_ACCEPTANCE_MAX 32

/* No more GPUs are ordered in one machine. */
#define QM_ACCEPTANCE_MOST_GPUS 16

/* The share that a measurement may be below what is guaranteed, in percent,
 * where nobody says: two measurements of one machine differ by less, and what
 * holds a machine back costs more. */
#define QM_ACCEPTANCE_TOLERANCE 5.0

/* The largest tolerance. */
#define QM_ACCEPTANCE_MOST_TOLERANCE 50.0

/* One training.  Texts are lines, and empty where nothing is said. */
typedef struct QmAcceptanceTraining
{
  char model[64];               /* id in the catalog */
  char key[QM_MODEL_KEY_BYTES]; /* of what it was, by qm_model_key() */
  char gpu[64];      /* id in gpus.csv; empty: whichever was delivered */
  int gpus;          /* of the machine; 0: however many there are */
  bool has_way;      /* what follows says how it is trained; else what fits */
  char settings[32]; /* "free-lunch" and so on */
  bool checkpointing, offloading;
  char sharding[16]; /* "none", "zero_1" and so on */
  bool tokens;       /* rates are of tokens, else of samples */
  double predicted;  /* a second, of whole steps by the engine; NaN: nothing is
                        predicted */
  double low, high;  /* nine of ten are between; NaN with `predicted` */
  double guaranteed; /* a second, above 0 */
} QmAcceptanceTraining;

typedef struct QmAcceptance
{
  char made_on[16];                                  /* 2026-11-23 */
  double tolerance;                                  /* in percent */
  QmAcceptanceTraining trainings[QM_ACCEPTANCE_MAX]; /* of other models each */
  size_t n;                                          /* at least 1 */
} QmAcceptance;

/* Reads the text of a file that somebody may have changed, which errors say is
 * of `file`.  QM_STATUS_PARSE or QM_STATUS_INVALID with the place of what is
 * wrong. */
QmStatus qm_acceptance_parse (const char *text,
                              size_t length,
                              const char *file,
                              QmAcceptance *acceptance,
                              QmError *error);

/* The same as the text of a file, which is freed with free(); NULL: the host is
 * out of memory. */
char *qm_acceptance_format (const QmAcceptance *acceptance);

/* The lowest rate with which a training passes: what is guaranteed, less the
 * tolerance. */
double qm_acceptance_least (const QmAcceptance *acceptance,
                            const QmAcceptanceTraining *training);

#endif
