/* SPDX-License-Identifier: Apache-2.0 */

/* How long a training will take where nobody has measured it, and whether it
 * fits there, as far as that was predicted.
 *
 * qm-bench predicts it from the operators of the training and a description of
 * the machine (engine/predict.h); a process of its own does that, `qm-bench
 * predict --gpu all --json`, since prices and advice do not know the engine.
 * What it answers is kept here: for each model, level of software, GPU type and
 * number of GPUs a time with its interval, of the best way that fits.
 *
 * A level of software is what trains, as qm-bench names it: "tuned" (PyTorch
 * that is compiled, with fused attention), "eager" (PyTorch as it is, with
 * fused attention), "naive" (PyTorch off the shelf), "engine" (the project's),
 * "cuda" (other engines in CUDA).
 */

#pragma once

#include "data/catalog.h"

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

typedef enum
{
  QM_FIT_UNKNOWN,
  QM_FIT_NOT,        /* with no way */
  QM_FIT_OFFLOADING, /* in the way that is found with states in the memory of
                        the host: without, it is slower or does not fit */
  QM_FIT_WELL
} QmFit;

typedef struct
{
  QmFit fit;
  double days;       /* NaN where it does not fit, or cannot be predicted */
  double low, high;  /* nine of ten are between */
  gint64 host_bytes; /* that QM_FIT_OFFLOADING takes of the host, of all GPUs
                        together; else 0 */
  gint64 micro_batch;
  gboolean checkpointing;
  const char *sharding; /* "none", "zero_1" and so on; static */
  const char *level;    /* static */
  const char *link;     /* between several GPUs: "nvlink", "pcie" (from GPU to
                           GPU) or "host" (through its memory), "measured" where
                           it was; "none" of one; NULL: not said; static */
  double bridged;       /* days of cards with NVLink bridges, where those are
                           without; NaN: that is not so */
  double half_lanes;    /* days where each card has half of its lanes of PCIe;
                           NaN: not known, or it needs none */
  const char *bound;    /* what bounds it: "power" and so on; NULL: nothing;
                           static */
  char *unsupported;    /* why nothing is predicted, in English; NULL: it is */
} QmForecast;

typedef struct _QmForecasts QmForecasts;

/* Knows nothing yet. */
QmForecasts *qm_forecasts_new (void);
QmForecasts *qm_forecasts_ref (QmForecasts *forecasts);
void qm_forecasts_unref (QmForecasts *forecasts);

/* Takes one line of the answer of qm-bench about a model.  FALSE: it is not
 * what it should be, and nothing is taken. */
gboolean qm_forecasts_add (QmForecasts *forecasts,
                           const char *model,
                           const json_t *line);

/* Whether more of the answer is to come. */
void qm_forecasts_set_pending (QmForecasts *forecasts, gboolean pending);
gboolean qm_forecasts_is_pending (const QmForecasts *forecasts);

/* Why qm-bench gave no answer about a model at a level; NULL: it did, or was
 * not asked.  `problem` is copied. */
void qm_forecasts_set_problem (QmForecasts *forecasts,
                               const char *model,
                               const char *level,
                               const char *problem);
const char *qm_forecasts_get_problem (const QmForecasts *forecasts,
                                      const char *model,
                                      const char *level);

/* What is known of so many GPUs; NULL: nothing.  `forecasts` may be NULL.
 * (transfer none) (nullable) */
const QmForecast *qm_forecasts_look (const QmForecasts *forecasts,
                                     const char *model,
                                     const char *level,
                                     const QmGpu *gpu,
                                     int gpus);

/* All levels of software, as qm-bench takes them. */
#define QM_FORECAST_LEVELS "engine,tuned,eager,naive,cuda"

/* The one of all levels that is predicted to train fastest there; NULL where
 * one of them has not been answered yet, or no time is predicted at any.
 * `forecasts` may be NULL.  (transfer none) (nullable) */
const QmForecast *qm_forecasts_fastest (const QmForecasts *forecasts,
                                        const char *model,
                                        const QmGpu *gpu,
                                        int gpus);

/* "unknown", "no", "offloading" or "yes", for files; static. */
const char *qm_fit_name (QmFit fit);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmForecasts, qm_forecasts_unref)

G_END_DECLS
