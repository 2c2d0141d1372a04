/* SPDX-License-Identifier: Apache-2.0 */

/* What a run found, as text and as JSON; the fields are in qm-bench(1). */

#include "config.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_PER_DAY 86400.0
#define JOULES_PER_KWH  3.6e6
#define MAX_WORDS       12

/* Of all devices of all machines; NaN: not known of each. */
static double
watts_of (const QmBenchRun *run)
{
  double watts = 0;
  json_t *rank;
  size_t i;

  if (run->seen == NULL)
    for (int local = 0; local < run->local; local++)
      watts += qm_bench_run_rank (run, local)->result.watts;
  json_array_foreach (run->seen, i, rank)
  {
    const json_t *one = json_object_get (rank, "watts");

    watts += json_is_number (one) ? json_number_value (one) : NAN;
  }
  return watts;
}

static double
joules_of_step (const QmBenchRun *run)
{
  return watts_of (run) * run->result.step.mean;
}

static double
memory_difference (const QmBenchRun *run)
{
  if (run->used_bytes < 0)
    return NAN;
  return 100
         * ((double) run->used_bytes / (double) run->plan->memory.total - 1);
}

static void
add_measured_times (json_t *object, const char *name, const QmTimes *times)
{
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "mean_s", times->mean);
  qm_bench_json_number (inner, "min_s", times->least);
  qm_bench_json_number (inner, "max_s", times->most);
  json_object_set_new (object, name, inner);
}

static void
add_range (json_t *object, const char *name, const QmRange *range)
{
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "mean", range->mean);
  qm_bench_json_number (inner, "min", range->least);
  qm_bench_json_number (inner, "max", range->most);
  json_object_set_new (object, name, inner);
}

static void
add_watch (json_t *object, const QmBenchRun *run)
{
  const QmWatch *watch = &run->result.watch;
  json_t *inner = json_object ();

  json_object_set_new (inner, "samples", json_integer (watch->samples));
  add_range (inner, "sm_mhz", &watch->sm_mhz);
  add_range (inner, "memory_mhz", &watch->memory_mhz);
  add_range (inner, "celsius", &watch->celsius);
  add_range (inner, "watts", &watch->watts);
  qm_bench_json_number (inner, "sm_mhz_max", run->facts.sm_mhz_max);
  qm_bench_json_number (inner, "watts_limit", run->facts.watts_max);
  qm_bench_json_throttle (inner, watch->throttle);
  json_object_set_new (inner, "slowed",
                       json_boolean (qm_throttle_slows (watch->throttle)));
  json_object_set_new (inner, "of_whole_gpu",
                       json_boolean (run->facts.mig > 0));
  json_object_set_new (object, "watch", inner);
}

static void
add_energy (json_t *object, const QmBenchRun *run)
{
  double step = joules_of_step (run);
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "watts", watts_of (run));
  qm_bench_json_number (inner, "step_j", step);
  qm_bench_json_number (inner, "training_kwh",
                        step * (double) run->plan->recipe.steps
                            / JOULES_PER_KWH);
  json_object_set_new (inner, "provenance", json_string ("extrapolated"));
  json_object_set_new (object, "energy", inner);
}

static void
add_memory (json_t *object, const QmBenchRun *run)
{
  json_t *inner = json_object ();

  json_object_set_new (inner, "predicted_bytes",
                       json_integer ((json_int_t) run->plan->memory.total));
  qm_bench_json_whole (inner, "used_bytes", run->used_bytes);
  qm_bench_json_number (inner, "difference_percent", memory_difference (run));
  json_object_set_new (inner, "source",
                       run->used_bytes >= 0 ? json_string (run->used_source)
                                            : json_null ());
  json_object_set_new (object, "memory_use", inner);
}

static void
add_phases (json_t *object, const QmBenchRun *run)
{
  const QmPhases *phases = &run->result.phases;
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "open", run->open_seconds);
  qm_bench_json_number (inner, "plan", run->plan_seconds);
  qm_bench_json_number (inner, "allocate", phases->allocate);
  qm_bench_json_number (inner, "initialise", phases->initialise);
  qm_bench_json_number (inner, "tune", phases->tune);
  qm_bench_json_number (inner, "warm_up", phases->warm_up);
  qm_bench_json_number (inner, "measure", phases->measure);
  qm_bench_json_number (inner, "validate", phases->validate);
  qm_bench_json_number (inner, "profile", phases->profile);
  qm_bench_json_number (inner, "total", run->total_seconds);
  json_object_set_new (object, "phases_s", inner);
}

static void
add_validated (json_t *object, const QmMeasureResult *result)
{
  char hex[32];

  if (!(result->validated.mean > 0))
    return;
  add_measured_times (object, "validated_step", &result->validated);
  qm_bench_json_number (object, "validated_difference_percent",
                        100 * (result->validated.mean / result->step.mean - 1));
  qm_bench_json_number (object, "loss", result->loss);
  snprintf (hex, sizeof hex, "%a", result->loss);
  json_object_set_new (object, "loss_hex", json_string (hex));
}

/* Operations of products a second, else bytes; NaN for what moves nothing. */
static double
rate (const QmProfileRow *row)
{
  return row->flops > 0 ? row->flops / row->seconds * 1e-12
                        : row->bytes / row->seconds * 1e-9;
}

static double
share (const QmProfile *profile, const QmProfileRow *row)
{
  return row->seconds / (row->update ? profile->update : profile->pass);
}

static void
add_profile (json_t *object, const QmMeasureResult *result)
{
  const QmProfile *profile = &result->profile;
  json_t *inner = json_object (), *rows = json_array ();

  for (size_t i = 0; i < profile->n; i++)
    {
      const QmProfileRow *row = &profile->rows[i];
      json_t *line = json_object ();

      json_object_set_new (line, "operator",
                           json_string (qm_op_name (row->op)));
      json_object_set_new (line, "part",
                           json_string (row->update ? "update" : "pass"));
      json_object_set_new (line, "shape", json_string (row->shape));
      json_object_set_new (line, "count", json_integer (row->count));
      qm_bench_json_number (line, "seconds", row->seconds);
      qm_bench_json_number (line, "share", share (profile, row));
      qm_bench_json_number (line, row->flops > 0 ? "tflops" : "gbs",
                            rate (row));
      json_array_append_new (rows, line);
    }
  qm_bench_json_number (inner, "pass_s", profile->pass);
  qm_bench_json_number (inner, "update_s", profile->update);
  json_object_set_new (inner, "rows", rows);
  json_object_set_new (object, "profile", inner);
}

static void
add_waits (json_t *object, const QmWaits *waits)
{
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "pass_s", waits->pass);
  qm_bench_json_number (inner, "last_pass_s", waits->last);
  qm_bench_json_number (inner, "update_s", waits->update);
  json_object_set_new (object, "waits", inner);
}

/* What of a step is exchange that nothing hides. */
static void
add_exchange (json_t *object, const QmMeasureResult *result)
{
  json_t *inner = json_object ();

  qm_bench_json_number (inner, "exposed_s", result->exchange);
  qm_bench_json_number (inner, "share", result->exchange / result->step.mean);
  json_object_set_new (object, "exchange", inner);
}

json_t *
qm_bench_json_rank (const QmBenchRun *run, int number)
{
  const QmBenchRun *rank = qm_bench_run_rank (run, number);
  json_t *object = json_object ();

  json_object_set_new (object, "device", qm_bench_json_device (&rank->info));
  add_memory (object, rank);
  if (isfinite (run->result.exchange))
    add_waits (object, &rank->result.waits);
  if (rank->monitor != NULL)
    {
      add_watch (object, rank);
      qm_bench_json_number (object, "watts", rank->result.watts);
    }
  return object;
}

/* Each device of several, and how they exchange. */
static void
add_ranks (json_t *object, const QmBenchRun *run)
{
  json_t *array = json_array ();

  for (int i = 0; run->seen == NULL && i < run->local; i++)
    json_array_append_new (array, qm_bench_json_rank (run, i));
  if (run->seen != NULL)
    json_array_extend (array, run->seen);
  json_object_set_new (object, "ranks", array);
  json_object_set_new (
      object, "transport",
      json_string (qm_bench_transport (run->options, qm_communicator_transport (
                                                         run->communicator))));
  qm_bench_json_trial (object, &run->trial);
  qm_bench_json_nodes (object, run->options);
}

json_t *
qm_bench_json_result (const QmBenchRun *run)
{
  const QmMeasureResult *result = &run->result;
  json_t *object = qm_bench_json_plan (run->plan);

  json_object_set_new (object, "model", json_string (run->model->name));
  json_object_set_new (object, "gpu",
                       run->gpu[0] != '\0' ? json_string (run->gpu)
                                           : json_null ());
  json_object_set_new (object, "provenance", json_string ("measured"));
  json_object_set_new (object, "version", json_string (QM_VERSION));
  json_object_set_new (object, "device", qm_bench_json_device (&run->info));
  json_object_set_new (object, "machine", qm_bench_json_machine (&run->info));
  json_object_set_new (object, "deterministic",
                       json_boolean (run->options->deterministic));
  json_object_set_new (object, "seed", json_integer (run->options->seed));
  json_object_set_new (object, "repeat", json_integer (run->options->repeat));
  json_object_set_new (object, "steps", json_integer (run->plan->recipe.steps));
  json_object_set_new (object, "allocated_bytes",
                       json_integer ((json_int_t) result->allocated));
  if (result->cut)
    {
      qm_bench_json_number (object, "cut_pass_s", result->pass.mean);
      if (run->ranks > 1)
        qm_bench_json_number (object, "cut_last_pass_s", result->last.mean);
      qm_bench_json_number (object, "cut_step_s", result->step.mean);
      if (run->ranks > 1)
        add_ranks (object, run);
      add_phases (object, run);
      return object;
    }
  add_measured_times (object, "pass", &result->pass);
  if (run->ranks > 1)
    add_measured_times (object, "last_pass", &result->last);
  add_measured_times (object, "update", &result->update);
  add_measured_times (object, "step", &result->step);
  qm_bench_json_number (object, "days", result->total / SECONDS_PER_DAY);
  qm_bench_json_number (object, "model_tflops", result->tflops);
  qm_bench_json_number (object, "mfu", run->mfu);
  add_validated (object, result);
  if (run->ranks > 1)
    add_ranks (object, run);
  if (isfinite (result->exchange) && run->ranks > 1)
    add_exchange (object, result);
  add_memory (object, run);
  if (run->monitor != NULL)
    {
      add_watch (object, run);
      add_energy (object, run);
    }
  else if (run->silence[0] != '\0')
    json_object_set_new (object, "monitor", json_string (run->silence));
  add_phases (object, run);
  if (run->options->profile)
    add_profile (object, result);
  return object;
}

static void
print_times (const char *name, const QmTimes *times)
{
  printf ("  %-8s%10.3f ms (%.3f to %.3f)\n", name, times->mean * 1e3,
          times->least * 1e3, times->most * 1e3);
}

static void
print_watch (const QmBenchRun *run)
{
  const QmWatch *watch = &run->result.watch;
  const char *words[MAX_WORDS];
  size_t n = qm_throttle_words (watch->throttle, words, MAX_WORDS);
  bool any = false;

  if (run->monitor == NULL)
    {
      if (run->silence[0] != '\0')
        printf ("  %s\n", run->silence);
      return;
    }
  printf ("  clocks  SM %.0f MHz (%.0f to %.0f, at most %.0f), memory %.0f "
          "MHz\n",
          watch->sm_mhz.mean, watch->sm_mhz.least, watch->sm_mhz.most,
          run->facts.sm_mhz_max, watch->memory_mhz.mean);
  printf ("  power   %.0f W of %.0f, up to %.0f C", run->result.watts,
          run->facts.watts_max, watch->celsius.most);
  for (size_t i = 0;
       i < n && i < MAX_WORDS && qm_throttle_slows (watch->throttle); i++)
    {
      printf ("%s%s", any ? ", " : "; held back by: ", words[i]);
      any = true;
    }
  printf ("%s\n", run->facts.mig > 0 ? " (of the whole GPU)" : "");
}

/* That of all devices. */
static void
print_energy (const QmBenchRun *run)
{
  if (run->monitor != NULL && isfinite (watts_of (run)))
    printf ("  energy  %.4g kJ a step, %.4g kWh in all (extrapolated)\n",
            joules_of_step (run) * 1e-3,
            joules_of_step (run) * (double) run->plan->recipe.steps
                / JOULES_PER_KWH);
}

/* The ranks of other machines that were held back, since the slowest counts. */
static void
print_held_back (const QmBenchRun *run)
{
  json_t *rank, *word;
  size_t i, w;

  json_array_foreach (run->seen, i, rank)
  {
    json_t *watch = json_object_get (rank, "watch");
    json_t *words = json_object_get (watch, "throttle");
    char why[256] = "";

    if (i < (size_t) run->local
        || !json_is_true (json_object_get (watch, "slowed")))
      continue;
    json_array_foreach (words, w, word)
        snprintf (why + strlen (why), sizeof why - strlen (why), "%s%.32s",
                  w > 0 ? ", " : "", json_string_value (word));
    qm_bench_print (
        "  rank %zu, of machine %lld: held back by %s", i,
        (long long) json_integer_value (json_object_get (rank, "node")), why);
  }
}

static void
print_memory_use (const QmBenchRun *run)
{
  printf ("  memory  %.3f GiB predicted",
          (double) run->plan->memory.total / 0x1p30);
  if (run->used_bytes >= 0)
    printf (", %.3f GiB used (%+.2f %%)", (double) run->used_bytes / 0x1p30,
            memory_difference (run));
  if (run->plan->memory.host > 0)
    printf (", %.3f GiB of the host", (double) run->plan->memory.host / 0x1p30);
  printf ("\n");
}

static void
print_phases (const QmBenchRun *run)
{
  const QmPhases *phases = &run->result.phases;

  printf ("  of %.1f s: opening the device %.2f, planning %.2f, allocating "
          "%.2f,\n"
          "  initialising %.2f, tuning %.2f, warming up %.2f, measuring %.2f, "
          "validating %.2f,\n  profiling %.2f\n",
          run->total_seconds, run->open_seconds, run->plan_seconds,
          phases->allocate, phases->initialise, phases->tune, phases->warm_up,
          phases->measure, phases->validate, phases->profile);
}

static void
print_profile (const QmMeasureResult *result)
{
  const QmProfile *profile = &result->profile;
  bool update = true;

  for (size_t i = 0; i < profile->n; i++)
    {
      const QmProfileRow *row = &profile->rows[i];

      if (i == 0 || row->update != update)
        {
          update = row->update;
          printf ("\n%s operator by operator: %.3f ms, as a whole %.3f ms\n"
                  "%10s %6s %6s %9s\n",
                  update ? "Update" : "Pass",
                  (update ? profile->update : profile->pass) * 1e3,
                  (update ? result->update.mean : result->last.mean) * 1e3,
                  "ms", "share", "calls", "rate");
        }
      printf ("%10.3f %5.1f%% %6lld %8.4g %s %s %s\n", row->seconds * 1e3,
              share (profile, row) * 100, (long long) row->count, rate (row),
              row->flops > 0 ? "TFLOP/s" : "GB/s   ", qm_op_name (row->op),
              row->shape);
    }
}

/* How many there are, and how they exchange. */
static void
print_devices (const QmBenchRun *run)
{
  const QmPlan *plan = run->plan;
  const char *through =
      qm_bench_transport_words (run->options,
                                qm_communicator_transport (run->communicator));
  const char *sums =
      qm_precision_name (qm_plan_sums (&plan->options, &plan->recipe));

  if (qm_bench_nodes (run->options) > 1)
    printf ("  %d machines of %d, %s, sums of gradients in %s\n",
            qm_bench_nodes (run->options), run->local, through, sums);
  else
    printf ("  %d devices, %s, sums of gradients in %s\n", run->ranks, through,
            sums);
  qm_bench_print_trial (&run->trial);
}

void
qm_bench_print_result (const QmBenchRun *run)
{
  const QmMeasureResult *result = &run->result;
  const QmPlan *plan = run->plan;
  char settings[96], precision[48], days[32];

  qm_bench_format_settings (plan, settings, sizeof settings);
  qm_bench_format_precision (&plan->recipe, precision, sizeof precision);
  qm_bench_print ("%s, %s, %s on %s%s", run->model->name, precision, settings,
                  run->info.name,
                  strcmp (run->info.products.name, "own") == 0
                      ? ", without cuBLASLt"
                      : "");
  if (run->ranks > 1)
    print_devices (run);
  printf ("  micro-batch %lld, %lld passes and one update in a step\n",
          (long long) plan->options.micro_batch,
          (long long) plan->accumulation);
  qm_bench_print_pairs ("  ", &plan->config, &plan->recipe,
                        qm_bench_samples_of_pass (&plan->options));
  print_times ("pass", &result->pass);
  if (qm_plan_has_last (plan) && plan->accumulation > 1)
    print_times ("last", &result->last);
  print_times ("update", &result->update);
  print_times ("step", &result->step);
  printf ("  %.4g model TFLOP/s", result->tflops);
  if (isfinite (run->mfu))
    printf (", %.1f %% of the %speak of %s", run->mfu * 100,
            plan->recipe.precision == QM_PRECISION_FP8 ? "FP8 " : "", run->gpu);
  printf ("\n");
  if (result->validated.mean > 0)
    printf ("  whole steps took %.3f s (%+.2f %%), loss %.9g\n",
            result->validated.mean,
            100 * (result->validated.mean / result->step.mean - 1),
            result->loss);
  if (run->ranks > 1 && isfinite (result->exchange))
    printf ("  of it %10.3f ms exchange that nothing hides (%.1f %%)\n",
            result->exchange * 1e3, 100 * result->exchange / result->step.mean);
  print_memory_use (run);
  print_watch (run);
  for (int i = 1; i < run->local; i++)
    if (qm_bench_run_rank (run, i)->monitor != NULL)
      {
        qm_bench_print ("  %s:", qm_bench_run_rank (run, i)->id);
        print_watch (qm_bench_run_rank (run, i));
      }
  print_held_back (run);
  print_energy (run);
  if (run->options->verbose)
    print_phases (run);
  if (run->options->profile)
    print_profile (result);
  printf ("%s  %lld steps take %s days\n", run->options->profile ? "\n" : "",
          (long long) plan->recipe.steps,
          qm_bench_format_days (result->total / SECONDS_PER_DAY, 4, days));
}
