/* SPDX-License-Identifier: Apache-2.0 */

/* Measuring on the CPU while a stand-in for a GPU's library is watched: argv[1]
 * tells everything, argv[2] gets lost (see fake-nvml.c). */

#include "engine/measure.h"
#include "tests/data/check.h"
#include "tests/engine/graph-sums.h"

#include <math.h>
#include <string.h>

#define BUS "0000:1b:00.0"

static const char config_text[] =
    "{\"model_type\":\"gpt_neox\",\"vocab_size\":96,\"hidden_size\":16,"
    "\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"intermediate_size\":32,\"hidden_act\":\"gelu\","
    "\"max_position_embeddings\":16}";
static const char recipe_text[] =
    "{\"batch_size\":8,\"steps\":10,\"sequence_length\":8,"
    "\"precision\":\"bf16\",\"optimizer\":\"adamw\",\"learning_rate\":0.001,"
    "\"beta1\":0.9,\"beta2\":0.95,\"epsilon\":1e-8,\"weight_decay\":0.01,"
    "\"max_grad_norm\":1.0}";

static QmPlan *
make_plan (bool deterministic)
{
  QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                            .micro_batch = 2,
                            .methods = QM_METHOD_ALL,
                            .deterministic = deterministic };
  QmModelConfig config;
  QmRecipe recipe;
  QmPlan *plan = NULL;

  CHECK_INT (qm_model_config_parse (config_text, strlen (config_text), "",
                                    &config, NULL),
             QM_OK);
  CHECK_INT (qm_recipe_parse (recipe_text, strlen (recipe_text), "", &recipe,
                              NULL),
             QM_OK);
  CHECK_INT (qm_model_apply_recipe (&config, &recipe, "", NULL), QM_OK);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  return plan;
}

static QmStatus
measure (const char *library,
         QmMeasureOptions *options,
         QmMeasureResult *result,
         QmError *error)
{
  QmPlan *plan = make_plan (false);
  QmDevice *device = NULL;
  QmStatus status;

  CHECK_INT (qm_device_open ("cpu", 0, &device, NULL), QM_OK);
  if (library != NULL)
    CHECK_INT (qm_monitor_open (BUS, library, &options->monitor, error), QM_OK);
  status = qm_measure (plan, device, options, result, error);
  qm_monitor_close (options->monitor);
  qm_device_close (device);
  qm_plan_free (plan);
  return status;
}

/* No time is shorter than the least, nor longer than the most. */
static void
check_order (const QmTimes *times)
{
  CHECK (times->least > 0);
  CHECK (times->least <= times->mean * (1 + 1e-12));
  CHECK (times->mean <= times->most * (1 + 1e-12));
}

static void
test_watched (const char *library)
{
  QmMeasureOptions options = { .repeat = 2, .validate = 1 };
  QmMeasureResult result;

  check_case ("watched");
  CHECK_INT (measure (library, &options, &result, NULL), QM_OK);
  CHECK (result.watch.samples >= 4);
  CHECK (result.watch.watts.mean > 500 && result.watch.watts.mean < 600);
  /* Less than a second says nothing of energy. */
  CHECK_NEAR (result.watts, result.watch.watts.mean, 1e-12);
  CHECK_INT (result.used_bytes, 100);
  CHECK (!result.watch.lost);
  CHECK (result.phases.tune > 0 && result.phases.measure > 0
         && result.phases.validate > 0);
  CHECK_NEAR (result.step.mean, 4 * result.pass.mean + result.update.mean,
              1e-9);
  check_order (&result.pass);
  check_order (&result.update);
  check_order (&result.step);
  check_order (&result.validated);
  CHECK (isfinite (result.loss));
  CHECK_INT (result.profile.n, 0);
  qm_measure_result_clear (&result);
}

static void
test_not_watched (void)
{
  QmMeasureOptions options = { .repeat = 1 };
  QmMeasureResult result;

  check_case ("not watched");
  CHECK_INT (measure (NULL, &options, &result, NULL), QM_OK);
  CHECK_INT (result.watch.samples, 0);
  CHECK_INT (result.used_bytes, -1);
  CHECK (isnan (result.watts) && isnan (result.loss));
  CHECK (result.free_bytes > 0 && result.allocated > 0);
  qm_measure_result_clear (&result);
}

static void
test_lost (const char *library)
{
  QmMeasureOptions options = { .repeat = 3 };
  QmMeasureResult result;
  QmError error = { 0 };

  check_case ("lost");
  CHECK_INT (measure (library, &options, &result, &error), QM_STATUS_DEVICE);
  CHECK_CONTAINS (error.message, "was lost");
}

typedef struct Progress
{
  double last;
  int calls, stop_at;
} Progress;

static bool
on_progress (void *data, double done)
{
  Progress *progress = data;

  CHECK (done >= progress->last && done <= 1);
  progress->last = done;
  return ++progress->calls != progress->stop_at;
}

static void
test_progress (void)
{
  Progress progress = { 0 };
  QmMeasureOptions options = {
    .repeat = 2, .validate = 2, .progress = on_progress, .data = &progress
  };
  QmMeasureResult result;
  QmError error = { 0 };
  int all;

  check_case ("progress");
  CHECK_INT (measure (NULL, &options, &result, &error), QM_OK);
  CHECK_NEAR (progress.last, 1, 1e-12);
  all = progress.calls;
  CHECK (all > 8);
  for (int stop = 1; stop <= all; stop++)
    {
      progress = (Progress){ .stop_at = stop };
      CHECK_INT (measure (NULL, &options, &result, &error),
                 QM_STATUS_INTERRUPTED);
      CHECK_INT (progress.calls, stop);
    }
}

/* Every call of a deterministic plan is told so. */
static void
test_deterministic (void)
{
  for (int on = 0; on < 2; on++)
    {
      QmPlan *plan = make_plan (on);

      check_case ("deterministic");
      for (size_t i = 0; i < plan->graph->n_nodes; i++)
        CHECK_INT (plan->graph->nodes[i].attributes.deterministic, on);
      CHECK (graph_pass_nodes (plan->graph) < plan->graph->n_nodes);
      qm_plan_free (plan);
    }
}

int
main (int argc, char **argv)
{
  if (argc != 3)
    return 2;
  test_watched (argv[1]);
  test_not_watched ();
  test_lost (argv[2]);
  test_progress ();
  test_deterministic ();
  return check_report ();
}
