/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench train. */

#include "app/qm-bench.h"

#include "data/text.h"
#include "engine/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool
on_step (void *data, int64_t step, double loss, double seconds)
{
  const QmBenchOptions *options = data;

  if (options->json)
    {
      json_t *object = json_pack ("{s:I}", "step", (json_int_t) step);

      qm_bench_json_number (object, "loss", loss);
      qm_bench_json_number (object, "seconds", seconds);
      qm_bench_print_json (object);
    }
  else
    printf ("step %lld  loss %.4f  %.3f s\n", (long long) step, loss, seconds);
  fflush (stdout);
  return !qm_bench_interrupted ();
}

/* Takes what the command line says instead of the recipe. */
static QmStatus
override_recipe (const QmBenchOptions *options,
                 QmRecipe *recipe,
                 QmError *error)
{
  double number;

  if (options->learning_rate != NULL)
    {
      if (!qm_number_parse (options->learning_rate, &number) || number < 0)
        return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                             "--learning-rate is a number as 0.001");
      recipe->learning_rate = number;
    }
  if (options->batch_size != NULL)
    {
      if (!qm_number_parse (options->batch_size, &number) || number < 1
          || number > 1e6 || number != floor (number))
        return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                             "--batch-size is a whole number");
      recipe->batch_size = (int64_t) number;
    }
  return QM_OK;
}

static QmStatus
train (const QmBenchOptions *options, QmBenchModel *model, QmError *error)
{
  const char *path = options->text != NULL ? options->text : options->tokens;
  QmTrainOptions training = { .steps = options->steps,
                              .seed = (uint64_t) options->seed,
                              .weights = options->weights,
                              .step = on_step,
                              .data = (void *) options };
  QmTokens tokens = { NULL };
  QmDevice *device = NULL;
  QmPlan *plan = NULL;
  QmStatus status = override_recipe (options, &model->recipe, error);

  if (status == QM_OK)
    status = qm_bench_open_device (options, &device, error);
  if (status == QM_OK)
    {
      const QmDeviceInfo *info = qm_device_info (device);

      status = qm_bench_make_plan (options, model, &info->target,
                                   qm_bench_usable_memory (info), &plan, error);
    }
  if (status == QM_OK)
    status = qm_tokens_read (
        path, options->text == NULL,
        qm_graph_tensor (plan->graph, plan->graph->logits)->shape[1],
        model->recipe.sequence_length, &tokens, error);
  if (status == QM_OK)
    status = qm_train (plan, device, &tokens, &training, error);
  qm_tokens_free (&tokens);
  qm_plan_free (plan);
  qm_device_close (device);
  return status;
}

int
qm_bench_train (const QmBenchOptions *options)
{
  QmBenchModel model;
  QmError error = { 0 };
  QmStatus status;

  if ((options->text == NULL) == (options->tokens == NULL))
    {
      fprintf (stderr, "qm-bench: train needs one of --text and --tokens\n");
      return QM_BENCH_USAGE;
    }
  status = qm_bench_load_model (options, true, &model, &error);
  if (status == QM_OK)
    {
      status = train (options, &model, &error);
      qm_bench_clear_model (&model);
    }
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
