/* SPDX-License-Identifier: Apache-2.0 */

/* Executes a plan on a device. */

#ifndef QM_ENGINE_EXECUTOR_H
#define QM_ENGINE_EXECUTOR_H

#include "engine/plan.h"
#include "kernels/communicator.h"

typedef struct QmExecutor QmExecutor;

/* Allocates all that the plan needs, at once; nothing is allocated afterwards.
 * Weights are zero, random numbers begin with `seed`, which is the same for all
 * ranks.  Plan, device and communicator must outlive the executor.
 *
 * The communicator is that of the plan's rank, NULL where there is one alone.
 * Of several, all call the same functions of theirs at about the same time:
 * passes, updates and reading parameters and gradients wait for each other. */
QmStatus qm_executor_new (const QmPlan *plan,
                          QmDevice *device,
                          QmCommunicator *communicator,
                          uint64_t seed,
                          QmExecutor **executor,
                          QmError *error);

/* Reads the average of a parameter, of index `parameter`; with several ranks,
 * all of them have to ask, in the same order.  QM_STATUS_UNSUPPORTED where the
 * recipe has no average.  Before the first update it is all zero. */
QmStatus qm_executor_read_average (QmExecutor *executor,
                                   size_t parameter,
                                   float *to,
                                   QmError *error);

/* Makes it as it was when it was new: weights, gradients and moments zero,
 * random numbers begin with `seed`. */
QmStatus
qm_executor_restart (QmExecutor *executor, uint64_t seed, QmError *error);

/* Waits for all work; NULL is allowed. */
void qm_executor_free (QmExecutor *executor);

/* The device, and the stream that everything is queued on. */
QmDevice *qm_executor_device (QmExecutor *executor);
QmStream *qm_executor_stream (QmExecutor *executor);

/* Bytes that were allocated on the device. */
uint64_t qm_executor_allocated (const QmExecutor *executor);

/* Has the teacher, if there is one, begin as what the student is now: after
 * weights were set from outside, and before they are trained. */
QmStatus qm_executor_teach (QmExecutor *executor, QmError *error);

/* Draws the weights as the configuration says, before anything is trained; a
 * teacher begins with them. */
QmStatus qm_executor_initialise (QmExecutor *executor, QmError *error);

/* The same, with matrices that begin as zero as if they had been trained, which
 * is what times and energy are to be measured with. */
QmStatus qm_executor_initialise_used (QmExecutor *executor, QmError *error);

/* Fills the inputs with random data. */
QmStatus qm_executor_random_batch (QmExecutor *executor, QmError *error);

/* Sets or gets a dense value of the graph, element by element.  Setting a
 * parameter sets its fp32 master weight as well; getting one gets that.
 * Gradients of several ranks are got after the last pass of a step, and are
 * their sums. */
QmStatus qm_executor_write_floats (QmExecutor *executor,
                                   QmValueId value,
                                   const float *from,
                                   QmError *error);
QmStatus qm_executor_read_floats (QmExecutor *executor,
                                  QmValueId value,
                                  float *to,
                                  QmError *error);
QmStatus qm_executor_write_ints (QmExecutor *executor,
                                 QmValueId value,
                                 const int32_t *from,
                                 QmError *error);

/* One element of the training state, QM_STATE_*. */
QmStatus qm_executor_write_state (QmExecutor *executor,
                                  int index,
                                  float value,
                                  QmError *error);
QmStatus qm_executor_read_state (QmExecutor *executor,
                                 int index,
                                 float *value,
                                 QmError *error);

/* Queues forward and backward of one micro-batch: adds to the gradients and to
 * the loss.  `last`: of those before an update. */
QmStatus qm_executor_pass (QmExecutor *executor, bool last, QmError *error);

/* Queues an update: the weights change, gradients and loss become zero, and the
 * loss that was is QM_STATE_LOSS. */
QmStatus qm_executor_update (QmExecutor *executor, QmError *error);

/* Queues making gradients and loss zero. */
QmStatus qm_executor_clear (QmExecutor *executor, QmError *error);

/* The calls of a pass, with QM_PHASE_LAST of one that is the last of a step, or
 * with QM_PHASE_UPDATE of an update, in their order, and queueing a single one
 * of them as it is: for those who look into a step.
 */
const QmOpCall *
qm_executor_calls (QmExecutor *executor, QmPhase phase, size_t *n);
QmStatus
qm_executor_queue (QmExecutor *executor, const QmOpCall *call, QmError *error);

/* Waits for all work. */
QmStatus qm_executor_synchronize (QmExecutor *executor, QmError *error);

#endif
