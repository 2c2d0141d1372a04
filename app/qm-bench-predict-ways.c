/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench predict --sharding, --offload, --methods and --links: ways to train
 * that are said instead of looked for, from plans that have the exchange of
 * several GPUs. */

#include "app/qm-bench-ways.h"

#include "app/qm-bench-nodes.h"

#include "data/architecture.h"
#include "data/training-rates.h"
#include "engine/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the ways in one place. */
typedef struct Line
{
  QmSearchConfig config;
  QmWayFound found;
  QmError problem;
  bool impossible;
} Line;

bool
qm_bench_names_ways (const QmBenchOptions *options)
{
  return options->sharding != NULL || options->offload != NULL
         || options->methods != NULL || options->links != NULL;
}

/* All that there are, with what the level of software has of them. */
static QmStatus
list_ways (const QmBenchOptions *options, QmBenchWays *ways, QmError *error)
{
  QmSearchConfig all[QM_SEARCH_MOST];
  QmSearchMethods methods;
  size_t n;

  if (options->sharding != NULL || options->offload != NULL
      || options->checkpoint)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--methods lists ways, of which --sharding, --offload "
                         "and --checkpoint name one");
  qm_search_methods_parse (options->methods, &methods);
  n = qm_search_configurations (methods, ways->gpus, all);
  ways->n = 0;
  for (size_t i = 0; i < n; i++)
    if (all[i].methods != 0 || ways->level->own || n == 1)
      {
        ways->configs[ways->n] = all[i];
        if (!ways->level->own)
          ways->configs[ways->n].methods &= qm_level_methods (ways->level);
        ways->n++;
      }
  return QM_OK;
}

QmStatus
qm_bench_read_ways (const QmBenchOptions *options,
                    QmBenchWays *ways,
                    QmError *error)
{
  QmPlanOptions plan = { .ranks = ways->gpus };
  QmStatus status;

  if (options->methods != NULL)
    return list_ways (options, ways, error);
  status = qm_bench_read_sharding (options, &plan, error);
  ways->n = 1;
  ways->configs[0] =
      (QmSearchConfig){ .methods = qm_level_methods (ways->level),
                        .checkpoint = options->checkpoint,
                        .sharding = plan.sharding,
                        .offload = plan.offload };
  return status;
}

static int
compare_lines (const void *first, const void *second)
{
  const Line *a = first, *b = second;
  bool good_a = !a->impossible && a->found.fits;
  bool good_b = !b->impossible && b->found.fits;

  if (good_a != good_b)
    return good_a ? -1 : 1;
  if (!good_a)
    return 0;
  return (a->found.prediction.step > b->found.prediction.step)
         - (a->found.prediction.step < b->found.prediction.step);
}

/* "checkpointing, zero_3, offloading", or "none of these". */
static void
format_config (const QmSearchConfig *config, char *text, size_t size)
{
  char way[QM_BENCH_WAY_BYTES];

  qm_bench_format_way (config->checkpoint, config->sharding, config->offload,
                       way);
  snprintf (text, size, "%s%s", config->methods == 0 ? "naive" : "",
            config->methods != 0 && way[0] == '\0' ? "all on each" : way);
}

static void
add_found (json_t *object, const Line *line)
{
  const QmWayFound *found = &line->found;
  const QmPrediction *p = &found->prediction;
  const struct
  {
    const char *name;
    double value;
  } numbers[] = {
    { "pass_s", p->pass },
    { "update_s", p->update },
    { "exchange_s", p->exchange },
    { "exchange_total_s", found->exchanged.total },
    { "step_s", p->step },
    { "days", p->days },
    { "days_low", p->days_low },
    { "days_high", p->days_high },
    { "clock", p->clock },
  };

  json_object_set_new (object, "micro_batch",
                       json_integer (found->micro_batch));
  json_object_set_new (object, "accumulation",
                       json_integer (found->accumulation));
  json_object_set_new (object, "memory_bytes",
                       qm_bench_json_memory (&found->memory));
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    qm_bench_json_number (object, numbers[i].name, numbers[i].value);
  json_object_set_new (object, "bound", json_string (qm_bound_name (p->bound)));
}

static void
print_line_json (const QmBenchWays *ways,
                 const QmExchange *exchange,
                 const Line *line)
{
  const QmSpeeds *speeds = exchange->speeds;
  json_t *object = json_object ();
  char settings[64];

  qm_methods_format (line->config.methods, settings, sizeof settings);
  json_object_set_new (object, "model", json_string (ways->model->name));
  json_object_set_new (object, "gpu", json_string (ways->gpu->name));
  json_object_set_new (object, "gpu_id", json_string (ways->gpu->id));
  json_object_set_new (object, "gpus", json_integer (ways->gpus));
  qm_bench_json_machines (object, ways->places->machines, ways->between);
  json_object_set_new (object, "level", json_string (ways->level->name));
  json_object_set_new (object, "settings", json_string (settings));
  json_object_set_new (object, "checkpointing",
                       json_boolean (line->config.checkpoint));
  json_object_set_new (object, "sharding",
                       json_string (qm_sharding_name (line->config.sharding)));
  json_object_set_new (object, "offloading",
                       json_boolean (line->config.offload));
  json_object_set_new (object, "provenance", json_string ("predicted"));
  json_object_set_new (object, "residual",
                       qm_bench_json_residual (ways->residual));
  json_object_set_new (object, "link",
                       json_string (ways->gpus == 1 ? "none"
                                    : exchange->measured != NULL
                                        ? "measured"
                                        : qm_way_name (speeds->way)));
  if (line->impossible)
    json_object_set_new (object, "unsupported",
                         json_string (line->problem.message));
  else
    json_object_set_new (object, "fits", json_boolean (line->found.fits));
  if (!line->impossible && line->found.fits)
    {
      add_found (object, line);
      qm_bench_json_pairs (object, &ways->model->config, &ways->model->recipe,
                           line->found.micro_batch * ways->gpus);
    }
  qm_bench_print_json (object);
}

static void
print_line (const QmBenchWays *ways, const Line *line)
{
  const QmPrediction *p = &line->found.prediction;
  char way[96], days[3][32];

  format_config (&line->config, way, sizeof way);
  if (line->impossible)
    qm_bench_print ("%-34s %s", way, line->problem.message);
  else if (!line->found.fits)
    qm_bench_print ("%-34s does not fit: %.1f GiB%s", way,
                    (double) line->found.shortage.needs / 0x1p30,
                    line->found.shortage.host ? " of the host" : "");
  else
    qm_bench_print ("%-34s %9s days (%s to %s)  micro-batch %lld, pass "
                    "%.4g s, update %.4g s, step %.4g s, exposed %.4g s%s",
                    way, qm_bench_format_days (p->days, 4, days[0]),
                    qm_bench_format_days (p->days_low, 4, days[1]),
                    qm_bench_format_days (p->days_high, 4, days[2]),
                    (long long) line->found.micro_batch, p->pass, p->update,
                    p->step, p->exchange, ways->gpus == 1 ? " (alone)" : "");
  if (!line->impossible && line->found.fits)
    qm_bench_print_pairs ("  ", &ways->model->config, &ways->model->recipe,
                          line->found.micro_batch * ways->gpus);
}

/* Predicts one way. */
static QmStatus
predict_way (const QmBenchWays *ways,
             const QmExchange *exchange,
             Line *line,
             QmError *error)
{
  int machines = ways->places->machines > 1 ? ways->places->machines : 1;
  QmPlanOptions options = {
    .target = { QM_DEVICE_CUDA, exchange->speeds->architecture },
    .micro_batch = ways->micro_batch,
    .methods = line->config.methods,
    .checkpoint = line->config.checkpoint,
    .ranks = ways->gpus,
    .sharding = line->config.sharding,
    .offload = line->config.offload,
    .host_bytes = ways->host_bytes / (uint64_t) (ways->gpus / machines),
    .loss_rows = qm_level_loss_rows (ways->level->name)
  };
  QmStatus status =
      qm_way_find (&ways->model->config, &ways->model->recipe, &options,
                   ways->bytes, exchange, ways->level, &line->found, error);

  if (status == QM_OK && line->found.fits)
    {
      qm_residual_apply (ways->residual, &line->found.prediction);
      line->found.exchanged.total *= exp (-ways->residual->error);
    }
  if (status != QM_STATUS_UNSUPPORTED)
    return status;
  line->impossible = true;
  line->problem = *error;
  return QM_OK;
}

/* What no plan knows of. */
static QmStatus
refuse_unplanned (const QmBenchWays *ways, QmError *error)
{
  const QmGpu *gpu = ways->gpu;

  int machines = ways->places->machines > 1 ? ways->places->machines : 1;

  if (ways->gpus > machines && !qm_gpu_is_card (gpu)
      && !qm_gpu_is_mezzanine (gpu))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s is part of a machine of its own", gpu->name);
  if (ways->model->recipe.precision == QM_PRECISION_BF16 && gpu->bf16 == QM_NO)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s has no rate of bf16", gpu->name);
  if (ways->model->recipe.precision == QM_PRECISION_FP8)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         QM_PREDICT_NO_FP8);
  return QM_OK;
}

/* The command that exports settings for the fastest of them. */
static void
print_command (const QmBenchWays *ways, const Line *line)
{
  const QmPlanOptions way = { .methods = line->config.methods,
                              .checkpoint = line->config.checkpoint,
                              .sharding = line->config.sharding,
                              .offload = line->config.offload,
                              .micro_batch = line->found.micro_batch,
                              .ranks = ways->gpus };
  char command[QM_BENCH_LINE_BYTES];

  if (!line->impossible && line->found.fits && ways->places->machines < 2
      && qm_bench_trains_framework (ways->level)
      && qm_bench_format_export (ways->model, ways->options, &way, command,
                                 sizeof command))
    qm_bench_print ("settings%s: %s", ways->n > 1 ? " for the first" : "",
                    command);
}

QmStatus
qm_bench_predict_ways (const QmBenchWays *ways, QmError *error)
{
  Line lines[QM_SEARCH_MOST];
  char devices[128];
  QmSpeeds speeds;
  QmExchange exchange;
  int machines = ways->places->machines > 1 ? ways->places->machines : 1;
  QmStatus status =
      qm_speeds_of_gpu (ways->calibration, ways->gpu, ways->gpus / machines,
                        ways->link, &speeds, error);

  if (status == QM_OK)
    status = refuse_unplanned (ways, error);
  if (status != QM_OK)
    return status;
  if (machines > 1)
    qm_speeds_join (&speeds, machines, ways->places->network,
                    ways->places->adapters);
  exchange = qm_exchange_of (&speeds, ways->level, ways->measured);
  for (size_t i = 0; i < ways->n && status == QM_OK; i++)
    {
      lines[i] = (Line){ .config = ways->configs[i] };
      status = qm_bench_interrupted ()
                   ? qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                                   "interrupted")
                   : predict_way (ways, &exchange, &lines[i], error);
    }
  if (status != QM_OK)
    return status;
  if (ways->n > 1)
    qsort (lines, ways->n, sizeof lines[0], compare_lines);
  if (!ways->json)
    qm_bench_print (
        "%s on %s, %s, predicted%s%s%s%s", ways->model->name,
        qm_bench_format_devices (ways->gpus, machines, ways->gpu->name, devices,
                                 sizeof devices),
        ways->level->name, ways->gpus == 1 ? "" : "; exchange through ",
        ways->gpus == 1             ? ""
        : exchange.measured != NULL ? "links as measured"
                                    : qm_way_name (speeds.way),
        machines > 1 && exchange.measured == NULL ? " and " : "",
        machines > 1 && exchange.measured == NULL ? ways->between : "");
  if (!ways->json)
    qm_bench_print_residual (ways->residual);
  for (size_t i = 0; i < ways->n; i++)
    if (ways->json)
      print_line_json (ways, &exchange, &lines[i]);
    else
      print_line (ways, &lines[i]);
  if (!ways->json)
    print_command (ways, &lines[0]);
  return QM_OK;
}
