/* SPDX-License-Identifier: Apache-2.0 */

/* What `predict` says of one place. */

#include "app/qm-bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool
qm_bench_trains_framework (const QmLevel *level)
{
  return !level->own && strcmp (level->name, "cuda") != 0;
}

static int
machines_of (const QmBenchPlace *place)
{
  return place->machines > 1 ? place->machines : 1;
}

void
qm_bench_json_machines (json_t *object, int machines, const char *between)
{
  if (machines < 2)
    return;
  json_object_set_new (object, "nodes", json_integer (machines));
  json_object_set_new (object, "between", json_string (between));
}

/* "8 x H100", or "4 x 8 x H100" of several machines. */
static const char *
format_gpus (const QmBenchPlace *place, char text[64])
{
  if (machines_of (place) > 1)
    snprintf (text, 64, "%d x %d x %.40s", place->machines, place->gpus,
              place->gpu->name);
  else
    snprintf (text, 64, "%d x %.48s", place->gpus, place->gpu->name);
  return text;
}

static const char *
link_of (const QmBenchPlace *place)
{
  if (place->gpus == 1)
    return "none";
  return place->found->links_measured ? "measured"
                                      : qm_way_name (place->found->way);
}

/* The same, to people. */
static const char *
link_text (const QmPlaceFound *found)
{
  if (found->links_measured)
    return "through links as measured";
  switch (found->way)
    {
    case QM_WAY_NVLINK:
      return "through NVLink";
    case QM_WAY_PCIE:
      return "through PCIe, from GPU to GPU";
    case QM_WAY_HOST:
    default:
      return "through PCIe and the memory of the host";
    }
}

/* Null where there are no bridges to be put on, or no lanes are needed. */
static json_t *
other_links_json (const QmPlaceFound *found)
{
  json_t *object = found != NULL ? json_object () : json_null ();

  if (found == NULL)
    return object;
  json_object_set_new (object, "days", json_real (found->prediction.days));
  json_object_set_new (object, "days_low",
                       json_real (found->prediction.days_low));
  json_object_set_new (object, "days_high",
                       json_real (found->prediction.days_high));
  return object;
}

json_t *
qm_bench_json_residual (const QmResidual *residual)
{
  json_t *object, *gpus;

  if (residual->rates == 0)
    return json_null ();
  object = json_object ();
  gpus = json_array ();
  json_object_set_new (object, "factor", json_real (exp (-residual->error)));
  json_object_set_new (object, "interval", json_real (sqrt (residual->left)));
  json_object_set_new (object, "measured",
                       json_integer ((json_int_t) (residual->rates
                                                   - residual->reported)));
  json_object_set_new (object, "reported",
                       json_integer ((json_int_t) residual->reported));
  json_object_set_new (object, "own",
                       json_integer ((json_int_t) residual->own));
  for (size_t i = 0; i < residual->n_gpus; i++)
    json_array_append_new (gpus, json_string (residual->gpus[i]));
  json_object_set_new (object, "gpus", gpus);
  return object;
}

void
qm_bench_print_residual (const QmResidual *residual)
{
  char gpus[256] = "", own[48] = "";

  if (residual->rates == 0)
    return;
  if (residual->own > 0)
    snprintf (own, sizeof own, ", %zu of them own", residual->own);
  for (size_t i = 0; i < residual->n_gpus; i++)
    snprintf (gpus + strlen (gpus), sizeof gpus - strlen (gpus), "%s%.40s",
              i > 0 ? ", " : "", residual->gpus[i]);
  qm_bench_print ("  times %.3f, by %zu rate%s of this model on %s%s",
                  exp (-residual->error), residual->rates,
                  residual->rates > 1 ? "s" : "", gpus, own);
}

static json_t *
shares_json (const QmPrediction *prediction)
{
  json_t *shares = json_object ();
  double sum = 0;

  for (int i = 0; i < QM_OP_COUNT; i++)
    sum += prediction->by_op[i];
  for (int i = 0; i < QM_OP_COUNT; i++)
    if (prediction->by_op[i] > 0)
      json_object_set_new (shares, qm_op_name ((QmOp) i),
                           json_real (prediction->by_op[i] / sum));
  return shares;
}

static void
add_predicted_times (json_t *object, const QmPrediction *prediction)
{
  const struct
  {
    const char *name;
    double value;
  } numbers[] = {
    { "pass_s", prediction->pass },
    { "update_s", prediction->update },
    { "exchange_s", prediction->exchange },
    { "step_s", prediction->step },
    { "days", prediction->days },
    { "days_low", prediction->days_low },
    { "days_high", prediction->days_high },
    { "clock", prediction->clock },
  };

  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    json_object_set_new (object, numbers[i].name, json_real (numbers[i].value));
  json_object_set_new (object, "bound",
                       json_string (qm_bound_name (prediction->bound)));
  json_object_set_new (object, "shares", shares_json (prediction));
}

/* Of a pass, on all GPUs of all machines. */
static int64_t
samples_of (const QmBenchPlace *place)
{
  return place->found->options.micro_batch * place->gpus * machines_of (place);
}

/* What other ways to train in the place or nearly there are, or null. */
static json_t *
change_json (const QmBenchPlace *place)
{
  const QmBenchChange *change = place->change;
  QmRecipe recipe = place->model->recipe;
  json_t *object;

  if (change == NULL)
    return json_null ();
  if (change->fp16)
    recipe.precision = QM_PRECISION_FP16;
  object = qm_bench_json_setting (&change->found.options, &recipe);
  json_object_set_new (object, "gpus",
                       json_integer (change->gpus * machines_of (place)));
  json_object_set_new (object, "fits", json_boolean (change->found.fits));
  if (!change->found.fits)
    {
      json_object_set_new (object, "smallest_bytes",
                           json_integer ((json_int_t) change->found.smallest));
      return object;
    }
  json_object_update_new (object, other_links_json (&change->found));
  json_object_set_new (object, "memory_bytes",
                       qm_bench_json_memory (&change->found.memory));
  json_object_set_new (object, "host_bytes",
                       json_integer ((json_int_t) change->found.host_bytes));
  return object;
}

/* What the user measured there, or null. */
static json_t *
own_json (const QmBenchPlace *place)
{
  const QmResult *own = place->own;
  json_t *object;

  if (own == NULL)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "level", json_string (place->own_level));
  json_object_set_new (object, "settings", json_string (own->settings));
  json_object_set_new (object, "micro_batch", json_integer (own->micro_batch));
  json_object_set_new (object, "checkpointing",
                       json_boolean (own->checkpointing));
  json_object_set_new (object, "sharding", json_string (own->sharding));
  json_object_set_new (object, "offloading", json_boolean (own->offloading));
  qm_bench_json_number (object, "days", own->days);
  json_object_set_new (object, "line", json_integer (own->line));
  return object;
}

/* What is said of a place where all models are looked at. */
static void
add_entry (json_t *object, const QmBenchPlace *place)
{
  json_object_set_new (object, "group",
                       json_string (qm_model_group_name (place->entry->group)));
  json_object_set_new (object, "available_bytes",
                       json_integer ((json_int_t) place->bytes));
  json_object_set_new (object, "plain_bytes",
                       place->plain > 0
                           ? json_integer ((json_int_t) place->plain)
                           : json_null ());
  json_object_set_new (object, "change", change_json (place));
  json_object_set_new (object, "measured", own_json (place));
}

/* What the smallest way is and takes. */
static void
add_smallest (json_t *object, const QmBenchPlace *place)
{
  const QmPlaceFound *found = place->found;

  json_object_set_new (object, "smallest_bytes",
                       json_integer ((json_int_t) found->smallest));
  json_object_set_new (object, "smallest_host_bytes",
                       found->smallest_host > 0
                           ? json_integer ((json_int_t) found->smallest_host)
                           : json_null ());
  if (found->smallest > 0)
    json_object_update_new (
        object, qm_bench_json_setting (&found->options, &place->model->recipe));
}

static void
add_found (json_t *object, const QmBenchPlace *place)
{
  const QmPlaceFound *found = place->found;

  json_object_set_new (object, "link", json_string (link_of (place)));
  json_object_set_new (object, "bridged", other_links_json (place->bridged));
  json_object_set_new (object, "half_lanes",
                       other_links_json (place->half_lanes));
  json_object_set_new (object, "provenance", json_string ("predicted"));
  json_object_set_new (object, "calibrated",
                       found->measured != NULL
                           ? json_string (found->measured->date)
                           : json_null ());
  json_object_set_new (object, "residual",
                       qm_bench_json_residual (place->residual));
  json_object_update_new (
      object, qm_bench_json_setting (&found->options, &place->model->recipe));
  json_object_set_new (object, "accumulation",
                       json_integer (found->accumulation));
  qm_bench_json_pairs (object, &place->model->config, &place->model->recipe,
                       samples_of (place));
  json_object_set_new (object, "memory_bytes",
                       qm_bench_json_memory (&found->memory));
  json_object_set_new (object, "host_bytes",
                       json_integer ((json_int_t) found->host_bytes));
  add_predicted_times (object, &found->prediction);
  json_object_set_new (object, "export",
                       place->command != NULL ? json_string (place->command)
                                              : json_null ());
}

void
qm_bench_print_place_json (const QmBenchPlace *place)
{
  json_t *object = json_object ();

  json_object_set_new (object, "model", json_string (place->model->name));
  json_object_set_new (object, "gpu", json_string (place->gpu->name));
  json_object_set_new (object, "gpu_id", json_string (place->gpu->id));
  json_object_set_new (object, "gpus",
                       json_integer (place->gpus * machines_of (place)));
  qm_bench_json_machines (object, place->machines, place->between);
  json_object_set_new (object, "level", json_string (place->level));
  if (place->problem != NULL)
    json_object_set_new (object, "unsupported",
                         json_string (place->problem->message));
  else
    json_object_set_new (object, "fits", json_boolean (place->found->fits));
  if (place->problem == NULL && place->found->fits)
    add_found (object, place);
  else if (place->problem == NULL)
    add_smallest (object, place);
  if (place->entry != NULL)
    add_entry (object, place);
  qm_bench_print_json (object);
}

/* "49.1 (37.8 to 63.8)". */
static const char *
format_days (const QmPrediction *prediction, int width, char text[64])
{
  const double days[] = { prediction->days, prediction->days_low,
                          prediction->days_high };
  char numbers[3][32];

  for (int i = 0; i < 3; i++)
    qm_bench_format_days (days[i], 3, numbers[i]);
  snprintf (text, 64, "%*.20s days (%.10s to %.10s)", width, numbers[0],
            numbers[1], numbers[2]);
  return text;
}

/* "micro-batch 8, checkpointing, zero_3" and so on. */
static void
format_way (const QmPlaceFound *found, char *text, size_t size)
{
  const QmPlanOptions *options = &found->options;
  char way[QM_BENCH_WAY_BYTES];

  qm_bench_format_way (options->checkpoint, options->sharding, options->offload,
                       way);
  snprintf (text, size, "micro-batch %lld%s%s",
            (long long) options->micro_batch, way[0] != '\0' ? ", " : "", way);
}

void
qm_bench_print_place_line (const QmBenchPlace *place, bool with_level)
{
  const QmPlaceFound *found = place->found;
  char way[96], days[64], level[40] = "", gpus[64];

  format_gpus (place, gpus);
  if (with_level)
    snprintf (level, sizeof level, "%-8.20s", place->level);

  if (place->problem != NULL)
    {
      qm_bench_print ("%s%-32s %s", level, gpus, place->problem->message);
      return;
    }
  if (!found->fits)
    {
      qm_bench_print ("%s%-32s does not fit: %.1f GiB", level, gpus,
                      (double) found->smallest / 0x1p30);
      return;
    }
  format_way (found, way, sizeof way);
  qm_bench_print ("%s%-32s %s  %s", level, gpus,
                  format_days (&found->prediction, 8, days), way);
}

void
qm_bench_print_place_text (const QmBenchPlace *place)
{
  const QmPlaceFound *found = place->found;
  const QmPrediction *prediction = &found->prediction;
  char way[96], days[64], gpus[64];

  format_way (found, way, sizeof way);
  qm_bench_print ("%s on %s, %s, predicted: %s", place->model->name,
                  format_gpus (place, gpus), place->level,
                  format_days (prediction, 1, days));
  qm_bench_print ("  %s", way);
  if (found->measured != NULL)
    qm_bench_print ("  rates as measured on %s, %s", found->measured->device,
                    found->measured->date);
  qm_bench_print_residual (place->residual);
  if (found->host_bytes > 0)
    qm_bench_print ("  host     %10.1f GiB of its memory",
                    (double) found->host_bytes / 0x1p30);
  qm_bench_print ("  step     %10.4f s: %lld passes of %lld samples",
                  prediction->step, (long long) found->accumulation,
                  (long long) found->options.micro_batch);
  qm_bench_print_pairs ("  ", &place->model->config, &place->model->recipe,
                        samples_of (place));
  qm_bench_print ("  pass     %10.4f s, bound by %s", prediction->pass,
                  qm_bound_name (prediction->bound));
  qm_bench_print ("  update   %10.4f s", prediction->update);
  if (place->gpus * machines_of (place) > 1)
    qm_bench_print ("  exchange %10.4f s that no pass hides, %s%s%s",
                    prediction->exchange,
                    place->gpus > 1 ? link_text (found) : "through the network",
                    machines_of (place) > 1 ? "; between machines: " : "",
                    machines_of (place) > 1 ? place->between : "");
  if (place->command != NULL)
    qm_bench_print ("  settings: %s", place->command);
  if (place->bridged != NULL)
    qm_bench_print ("  with NVLink bridges between the cards: %s",
                    format_days (&place->bridged->prediction, 1, days));
  for (int i = 0; i < QM_OP_COUNT; i++)
    if (prediction->by_op[i] >= prediction->alone / 100)
      qm_bench_print ("  %5.1f %%  %s",
                      100 * prediction->by_op[i] / prediction->alone,
                      qm_op_name ((QmOp) i));
}
