/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench plan. */

#include "app/qm-bench.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_ARCHITECTURE 90

/* For what a plan is made. */
typedef struct Goal
{
  QmTarget target;
  uint64_t bytes; /* of its memory that can be used; 0: not said */
  char name[96];  /* of the device, if it has one */
} Goal;

static QmStatus
goal_from_device (const char *id, Goal *goal, QmError *error)
{
  QmDeviceInfo info;
  QmStatus status = qm_device_describe (id, &info, error);

  if (status != QM_OK)
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                         "there is no device '%.32s' here; --memory and --gpu "
                         "plan for one that is not",
                         id);
  goal->target = info.target;
  goal->bytes = qm_bench_usable_memory (&info);
  snprintf (goal->name, sizeof goal->name, "%s", info.name);
  return QM_OK;
}

static QmStatus
goal_from_catalog (const char *name, bool said, Goal *goal, QmError *error)
{
  QmCatalog *catalog;
  const QmGpu *gpu = NULL;
  QmStatus status = qm_bench_load_catalog (&catalog, error);

  if (status != QM_OK)
    return status;
  status = qm_bench_named_gpu (catalog, name, &gpu, error);
  if (status == QM_OK && !said)
    status = qm_bench_gpu_architecture (gpu, &goal->target.architecture, error);
  if (status == QM_OK)
    {
      goal->bytes = qm_bench_gpu_memory (gpu);
      snprintf (goal->name, sizeof goal->name, "%s", gpu->name);
    }
  qm_catalog_free (catalog);
  return status;
}

static QmStatus
find_goal (const QmBenchOptions *options, Goal *goal, QmError *error)
{
  int architecture;
  QmStatus status = qm_bench_read_architecture (options, &architecture, error);

  *goal = (Goal){ .target = { QM_DEVICE_CUDA, DEFAULT_ARCHITECTURE } };
  if (status == QM_OK && options->device != NULL)
    status = goal_from_device (options->device, goal, error);
  else if (status == QM_OK && options->gpu != NULL)
    status = goal_from_catalog (options->gpu, architecture != 0, goal, error);
  if (status == QM_OK && architecture != 0)
    goal->target = (QmTarget){ QM_DEVICE_CUDA, architecture };
  if (status == QM_OK && qm_target_is_gpu (&goal->target))
    status = qm_bench_can_use (goal->target.architecture, error);
  if (status == QM_OK && options->memory != NULL)
    status = qm_bench_read_size (options->memory, &goal->bytes, error);
  if (status == QM_OK && goal->bytes == 0
      && (options->micro_batch == NULL
          || strcmp (options->micro_batch, "auto") == 0))
    status = qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                           "--memory, --gpu or --device has to say for how "
                           "much memory, or --micro-batch for what size");
  return status;
}

/* Whether it fits in what is known of device and host. */
static bool
fits (const Goal *goal, const QmPlan *plan)
{
  QmShortage shortage;

  return !qm_plan_is_short (plan, goal->bytes > 0 ? goal->bytes : UINT64_MAX,
                            &shortage);
}

/* What twice the micro-batch would need; 0 where that is more than a batch. */
static uint64_t
need_of_twice (const QmBenchModel *model, const QmPlan *plan)
{
  QmPlanOptions options = plan->options;
  QmPlan *twice;
  uint64_t bytes;

  options.micro_batch *= 2;
  if (options.micro_batch > model->recipe.batch_size / options.ranks
      || qm_plan_new (&model->config, &model->recipe, &options, &twice, NULL)
             != QM_OK)
    return 0;
  bytes = twice->memory.total;
  qm_plan_free (twice);
  return bytes;
}

static void
print_plan_json (const QmBenchOptions *options,
                 const QmBenchModel *model,
                 const Goal *goal,
                 const QmPlan *plan,
                 const QmPlan *shown,
                 uint64_t twice)
{
  json_t *object = qm_bench_json_plan (plan);

  json_object_set_new (object, "model", json_string (model->name));
  json_object_set_new (object, "provenance", json_string ("predicted"));
  json_object_set_new (object, "verified",
                       json_boolean (qm_plan_is_verified (&plan->options)));
  if (qm_target_is_gpu (&goal->target))
    json_object_set_new (object, "architecture",
                         json_integer (goal->target.architecture));
  if (goal->name[0] != '\0')
    json_object_set_new (object, "gpu", json_string (goal->name));
  if (goal->bytes > 0)
    json_object_set_new (object, "available_bytes",
                         json_integer ((json_int_t) goal->bytes));
  if (plan->options.host_bytes > 0)
    json_object_set_new (object, "host_available_bytes",
                         json_integer ((json_int_t) plan->options.host_bytes));
  if (goal->bytes > 0 || plan->options.host_bytes > 0)
    json_object_set_new (object, "fits", json_boolean (fits (goal, plan)));
  if (twice > 0)
    json_object_set_new (object, "twice_bytes",
                         json_integer ((json_int_t) twice));
  if (shown != NULL)
    {
      json_object_set_new (object, "passes",
                           qm_bench_json_passes (shown, options->after));
      json_object_set_new (object, "operators",
                           qm_bench_json_operators (shown));
    }
  qm_bench_print_json (object);
}

static void
print_plan_text (const QmBenchModel *model,
                 const Goal *goal,
                 const QmPlan *plan,
                 uint64_t twice)
{
  char settings[96], precision[48], each[32] = "";

  qm_bench_format_settings (plan, settings, sizeof settings);
  qm_bench_format_precision (&plan->recipe, precision, sizeof precision);
  if (plan->options.ranks > 1)
    snprintf (each, sizeof each, " on each of %d GPUs", plan->options.ranks);
  qm_bench_print ("%s, %s, %s: micro-batch %lld%s, %lld passes in a step",
                  model->name, precision, settings,
                  (long long) plan->options.micro_batch, each,
                  (long long) plan->accumulation);
  qm_bench_print_memory (&plan->memory, plan->options.ranks);
  if (plan->recipe.precision == QM_PRECISION_FP8)
    qm_bench_print ("%.1f %% of the operations of a pass in FP8",
                    qm_plan_fp8_share (plan) * 100);
  if (qm_plan_loss_rows (plan) < qm_plan_all_rows (plan))
    qm_bench_print ("%lld of %lld rows of logits at a time",
                    (long long) qm_plan_loss_rows (plan),
                    (long long) qm_plan_all_rows (plan));
  qm_bench_print_pairs ("", &plan->config, &plan->recipe,
                        qm_bench_samples_of_pass (&plan->options));
  if (!qm_plan_is_verified (&plan->options))
    qm_bench_print ("not verified on %d GPUs", plan->options.ranks);
  if (goal->bytes == 0)
    return;
  printf ("%s in the %.1f GiB%s%s", fits (goal, plan) ? "fits" : "does not fit",
          (double) goal->bytes / 0x1p30, goal->name[0] != '\0' ? " of " : "",
          goal->name);
  if (plan->memory.host > 0 && plan->options.host_bytes > 0)
    printf (" and %.1f GiB of the host",
            (double) plan->options.host_bytes * plan->options.ranks / 0x1p30);
  if (twice > 0)
    printf ("; micro-batch %lld takes %.1f GiB",
            (long long) plan->options.micro_batch * 2, (double) twice / 0x1p30);
  printf ("\n");
}

/* The plan whose operators are shown: that itself, one of the way there, which
 * is to be freed, or NULL. */
static QmStatus
find_shown (const QmBenchOptions *options,
            QmPlan *plan,
            QmPlan **shown,
            QmError *error)
{
  QmStatus status;

  *shown = options->operators ? plan : NULL;
  if (options->after == NULL)
    return QM_OK;
  status = qm_plan_after (&plan->config, &plan->recipe, &plan->options,
                          options->after, shown, error);
  if (status == QM_STATUS_INVALID)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--after cannot be '%s': no such pass is done with "
                         "these settings",
                         options->after);
  return status;
}

int
qm_bench_plan (const QmBenchOptions *options)
{
  QmBenchModel model;
  QmPlan *plan = NULL, *shown = NULL;
  Goal goal;
  QmError error = { 0 };
  QmStatus status;

  if (options->methods != NULL)
    return qm_bench_plan_all (options);
  status = find_goal (options, &goal, &error);
  if (status == QM_OK)
    status = qm_bench_load_model (options, true, &model, &error);
  if (status != QM_OK)
    return qm_bench_fail (&error);
  status = qm_bench_make_plan (options, &model, &goal.target, 0, goal.bytes,
                               &plan, &error);
  if (status == QM_OK)
    status = find_shown (options, plan, &shown, &error);
  if (status == QM_OK)
    {
      uint64_t twice = need_of_twice (&model, plan);

      if (options->json)
        print_plan_json (options, &model, &goal, plan, shown, twice);
      else
        print_plan_text (&model, &goal, plan, twice);
      if (shown != NULL && !options->json)
        qm_bench_print_operators (shown);
    }
  if (shown != plan)
    qm_plan_free (shown);
  qm_plan_free (plan);
  qm_bench_clear_model (&model);
  return status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
