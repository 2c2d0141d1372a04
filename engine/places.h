/* SPDX-License-Identifier: Apache-2.0 */

/* How a model is trained fastest in many places, a type of GPU and a number of
 * them each, and how long that takes, as predicted (engine/predict.h).
 *
 * What a way needs and does at a micro-batch is planned once, when it is asked
 * for first: plans differ between architectures in the workspace alone (where
 * they do not, as qm_plan_is_alike() says, they are made for either), and
 * between numbers of GPUs in how many passes a step has.  So an answer depends
 * neither on what was asked before nor on which other architectures are
 * listed.  What several GPUs do is timed by a plan with their exchange, of so
 * many where that is no part of what two do (engine/ways.h).
 *
 * Ways are those of the search (engine/search.h): every GPU holds all of the
 * model, or n GPUs divide what ZeRO 1 to 3 and FSDP 2 and 3 divide, and what is
 * divided, or what one GPU has of it, may be in the memory of the host; each
 * without or with checkpointing, at micro-batches that are powers of two.  The
 * fastest is taken of those that fit; of those that take as long, the first in
 * the search.  Were others preferred that are a little slower, a GPU with more
 * lanes or memory could be said to take longer than a lesser one, on which
 * these are too slow or do not fit.  Naive settings are what comes off the
 * shelf: they have one way, divide nothing, and vary in the micro-batch alone.
 *
 * A way is planned where it may be the fastest by what it takes at least
 * (engine/places-least.h).
 */

#ifndef QM_ENGINE_PLACES_H
#define QM_ENGINE_PLACES_H

#include "engine/predict.h"

/* Of which there may be so many. */
#define QM_PLACES_ARCHITECTURES 24

typedef struct QmPlacesOptions
{
  const QmModelConfig *config;
  const QmRecipe *recipe; /* that was applied to the configuration */
  const QmCalibration *calibration;
  const QmLevel *level; /* naive settings if it is called "naive"; without
                           fusion if "eager" */
  int64_t micro_batch;  /* 0: the fastest */
  bool checkpoint;      /* only with activation checkpointing */
  uint64_t host_bytes;  /* of a machine's host that can be used; 0: enough */
  int machines;         /* that work together; 0 or 1: one */
  const QmNetwork *network; /* between them */
  int adapters;             /* to it, of each */
} QmPlacesOptions;

typedef struct QmPlaces QmPlaces;

/* `options` are copied; what they point to (configuration, recipe, calibration,
 * level, network) is not, and has to stay as it is until qm_places_free(). Only
 * GPUs of the architectures that are listed can be asked for. */
QmStatus qm_places_new (const QmPlacesOptions *options,
                        const int *architectures,
                        size_t n,
                        QmPlaces **places,
                        QmError *error);
void qm_places_free (QmPlaces *places);

/* How a model is trained in a place. */
typedef struct QmPlaceFound
{
  bool fits; /* in some way; else only `smallest` and what takes it are said */
  uint64_t smallest;        /* bytes of a GPU that the smallest way takes */
  uint64_t smallest_host;   /* of a machine's host, those of the way that takes
                               least of it and fits into the GPU; 0: none does */
  QmPlanOptions options;    /* where nothing fits, of the smallest way */
  int64_t accumulation;     /* passes of each GPU in a step */
  QmWay way;                /* between several GPUs */
  bool links_measured;      /* what they take to exchange was */
  QmMemory memory;          /* of each GPU, with its part of the host's */
  uint64_t host_bytes;      /* of a machine's host for its GPUs */
  const QmProbes *measured; /* of the GPU; NULL: its rates are the catalog's */
  QmPrediction prediction;
} QmPlaceFound;

/* Finds it for so many GPUs of each machine with so many bytes that can be used
 * each.
 * QM_STATUS_UNSUPPORTED, with the reason, where it cannot be predicted.  Asking
 * for the numbers of one GPU after another takes least. */
QmStatus qm_places_find (QmPlaces *places,
                         const QmGpu *gpu,
                         int gpus,
                         QmInterconnect link,
                         uint64_t bytes,
                         QmPlaceFound *found,
                         QmError *error);

#endif
