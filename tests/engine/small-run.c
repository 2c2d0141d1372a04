/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/engine/small-run.h"

#include "tests/data/check.h"

#include <math.h>

bool
small_run_begin (SmallRun *run,
                 const QmModelConfig *config,
                 int64_t image_size,
                 int64_t samples,
                 QmDevice *device,
                 int64_t micro_batch)
{
  const QmRecipe recipe = { .batch_size = samples,
                            .steps = 1,
                            .image_size = image_size,
                            .precision = QM_PRECISION_FP32,
                            .optimizer = QM_OPTIMIZER_ADAMW,
                            .dropout = NAN };
  const QmPlanOptions options = { .target = qm_device_info (device)->target,
                                  .micro_batch = micro_batch };
  QmError error = { 0 };

  *run = (SmallRun){ NULL };
  CHECK_INT (qm_plan_new (config, &recipe, &options, &run->plan, &error),
             QM_OK);
  if (run->plan != NULL)
    CHECK_INT (qm_executor_new (run->plan, device, NULL, 11, &run->executor,
                                &error),
               QM_OK);
  CHECK_STRING (error.message, "");
  if (run->executor != NULL)
    CHECK_INT (qm_executor_initialise (run->executor, NULL), QM_OK);
  return run->executor != NULL;
}

void
small_run_end (SmallRun *run)
{
  qm_executor_free (run->executor);
  qm_plan_free (run->plan);
}
