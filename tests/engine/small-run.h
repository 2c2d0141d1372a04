/* SPDX-License-Identifier: Apache-2.0 */

/* A model of images on a device, in fp32, without dropout of its own. */

#ifndef QM_TESTS_ENGINE_SMALL_RUN_H
#define QM_TESTS_ENGINE_SMALL_RUN_H

#include "engine/executor.h"

typedef struct SmallRun
{
  QmPlan *plan;
  QmExecutor *executor;
} SmallRun;

/* Plans it for images of that size, `samples` in a step, and makes weights;
 * false where that failed, which is checked. */
bool small_run_begin (SmallRun *run,
                      const QmModelConfig *config,
                      int64_t image_size,
                      int64_t samples,
                      QmDevice *device,
                      int64_t micro_batch);
void small_run_end (SmallRun *run);

#endif
