/* SPDX-License-Identifier: Apache-2.0 */

/* Training a model on a file, so that one sees it learn. */

#ifndef QM_ENGINE_TRAIN_H
#define QM_ENGINE_TRAIN_H

#include "engine/plan.h"
#include "engine/samples.h"
#include "kernels/communicator.h"

/* How the learning rate changes, as in Transformers: after the warm-up it
 * stays, or falls to 0 at the last step, on a line or on half a cosine. */
typedef enum QmSchedule
{
  QM_SCHEDULE_CONSTANT,
  QM_SCHEDULE_LINEAR,
  QM_SCHEDULE_COSINE
} QmSchedule;

/* Reads "constant", "linear" or "cosine". */
bool qm_schedule_parse (const char *text, QmSchedule *schedule);

/* The learning rate of step `step`, from 0, of `steps`: a share of `peak` that
 * grows from 0 during the first `warm_up` steps. */
double qm_schedule_rate (QmSchedule schedule,
                         double peak,
                         int64_t warm_up,
                         int64_t steps,
                         int64_t step);

/* What is told of a step. */
typedef struct QmTrainStep
{
  int64_t number; /* from 1 */
  double loss, learning_rate, seconds;
  double norm;       /* of the gradients, before they are clipped */
  double loss_scale; /* of the next step; 1 but in fp16 */
  bool skipped;      /* gradients were not finite, and weights stayed */
} QmTrainStep;

typedef struct QmTrainOptions
{
  int64_t steps, warm_up;
  QmSchedule schedule;
  uint64_t seed;
  QmCommunicator *communicator; /* of the plan's rank; NULL: there is one */
  const char *weights;          /* safetensors to begin with; NULL: drawn */
  const char *out; /* safetensors to be written at the end; NULL: none */
  bool averaged;   /* of the average of weights, which the recipe has to have */
  /* Called after every step; returns false to stop. */
  bool (*step) (void *data, const QmTrainStep *step);
  void *data;
} QmTrainOptions;

/* Trains a model. */
QmStatus qm_train (const QmPlan *plan,
                   QmDevice *device,
                   const QmSamples *samples,
                   const QmTrainOptions *options,
                   QmError *error);

#endif
