/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/search.h"

#include "data/flops.h"
#include "engine/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What guesses begin with; as they are, the 123 measurements on one H200 in
 * data/measurements would take 1355 s, and took 1079.
 *
 * The share of its peak that a device reaches as a rule, and peaks of ordinary
 * ones, in 10^12 operations a second. */
#define GUESSED_SHARE 0.45
#define GUESSED_GPU   150.0
#define GUESSED_CPU   0.1

/* Making things once more costs another forward pass, a third of a pass. */
#define CHECKPOINT_FACTOR (4.0 / 3)

/* Passes of a measurement outside of its repetitions: what was chosen for a
 * product of before mostly holds, and one is left to warm up. */
#define PASSES_BEFORE 1

/* Seconds of tuning, warming up and clearing memory. */
#define GUESSED_OVERHEAD_GPU 2.5
#define GUESSED_OVERHEAD_CPU 0.1

/* Bytes of the host's memory a second, all in all, that are filled once and
 * updated as often as there are passes. */
#define GUESSED_HOST 1e10

/* The longest pass of a half, in seconds, that counts as cheap. */
#define CHEAP_PASS 0.5

static const QmSharding variants[] = { QM_SHARDING_ZERO_1, QM_SHARDING_ZERO_2,
                                       QM_SHARDING_FSDP_2, QM_SHARDING_ZERO_3,
                                       QM_SHARDING_FSDP_3 };

#define N_VARIANTS (sizeof variants / sizeof variants[0])

bool
qm_search_methods_parse (const char *text, QmSearchMethods *methods)
{
  static const char *const words[] = { "naive", "free-lunch", "all" };

  for (int i = 0; i < 3; i++)
    if (strcmp (text, words[i]) == 0)
      return *methods = (QmSearchMethods) i, true;
  return false;
}

size_t
qm_search_configurations (QmSearchMethods methods,
                          int gpus,
                          QmSearchConfig list[QM_SEARCH_MOST])
{
  const QmSearchConfig naive = { 0 };
  const QmSearchConfig plain = { .methods = QM_METHOD_ALL };
  size_t n = 0;

  if (methods != QM_SEARCH_NAIVE)
    list[n++] = plain;
  if (methods != QM_SEARCH_FREE_LUNCH)
    list[n++] = naive;
  if (methods != QM_SEARCH_ALL)
    return n;
  list[n] = plain;
  list[n++].checkpoint = true;
  for (int offload = gpus > 1 ? 0 : 1; offload < 2; offload++)
    for (int checkpoint = 0; checkpoint < 2; checkpoint++)
      for (size_t i = 0; i < N_VARIANTS; i++)
        list[n++] = (QmSearchConfig){ .methods = QM_METHOD_ALL,
                                      .checkpoint = checkpoint,
                                      .sharding = variants[i],
                                      .offload = offload };
  return n;
}

QmStatus
qm_search_fit (const QmModelConfig *config,
               const QmRecipe *recipe,
               QmPlanOptions *options,
               uint64_t device_bytes,
               QmMemory *memory,
               bool *fits,
               QmShortage *shortage,
               QmError *error)
{
  QmPlan *plan = NULL;
  QmStatus status =
      qm_plan_largest (config, recipe, options, device_bytes, &plan, error);

  *fits = false;
  if (status == QM_STATUS_DEVICE_FULL)
    {
      options->micro_batch = 1;
      status = qm_plan_new (config, recipe, options, &plan, error);
    }
  if (status != QM_OK)
    return status;
  *memory = plan->memory;
  *fits = !qm_plan_is_short (plan, device_bytes, shortage);
  options->micro_batch = *fits ? plan->options.micro_batch : 1;
  qm_plan_free (plan);
  return QM_OK;
}

double
qm_search_guess_pass (const QmModelConfig *config,
                      const QmRecipe *recipe,
                      const QmPlanOptions *options,
                      double peak_tflops)
{
  double flops = qm_flops_train_sample (config, recipe)
                 * (double) options->micro_batch
                 * (options->checkpoint ? CHECKPOINT_FACTOR : 1);
  bool cpu = !qm_target_is_gpu (&options->target);

  if (!(peak_tflops > 0))
    peak_tflops = cpu ? GUESSED_CPU : GUESSED_GPU;
  return flops / (peak_tflops * 1e12 * GUESSED_SHARE);
}

double
qm_search_guess_overhead (const QmPlanOptions *options, const QmMemory *memory)
{
  return (!qm_target_is_gpu (&options->target) ? GUESSED_OVERHEAD_CPU
                                               : GUESSED_OVERHEAD_GPU)
         + (double) memory->host / GUESSED_HOST;
}

bool
qm_search_wants_half (const QmSearchConfig *config, double guessed_pass)
{
  return !config->offload && config->methods != 0 && guessed_pass <= CHEAP_PASS;
}

static int
kind_of (const QmSearchConfig *config)
{
  return config->offload ? 2 : config->methods == 0 ? 1 : 0;
}

/* Seconds of passes in a measurement. */
static double
all_passes (double pass, int repeat)
{
  return pass * (PASSES_BEFORE + qm_measure_brief_samples (pass) * repeat);
}

void
qm_search_pace_add (QmSearchPace *pace,
                    const QmSearchConfig *config,
                    QmSearchGuess guess,
                    double pass,
                    double cost,
                    int repeat)
{
  int kind = kind_of (config);
  double ratio = pass / guess.pass;
  double overhead = fmax (cost - all_passes (pass, repeat), 0) / guess.overhead;
  int n;

  if (!isfinite (ratio) || !isfinite (overhead))
    return;
  n = ++pace->kinds[kind].n;
  pace->kinds[kind].pass += (ratio - pace->kinds[kind].pass) / n;
  pace->kinds[kind].overhead += (overhead - pace->kinds[kind].overhead) / n;
}

double
qm_search_predict (const QmSearchPace *model,
                   const QmSearchPace *all,
                   const QmSearchConfig *config,
                   QmSearchGuess guess,
                   int repeat)
{
  int kind = kind_of (config);
  const QmSearchPace *seen = model->kinds[kind].n > 0 ? model : all;

  if (seen->kinds[kind].n > 0)
    {
      guess.pass *= seen->kinds[kind].pass;
      guess.overhead *= seen->kinds[kind].overhead;
    }
  return guess.overhead + all_passes (guess.pass, repeat);
}

static int
compare_ranks (const void *first, const void *second)
{
  const QmSearchRank *a = first, *b = second;

  if (a->free != b->free)
    return a->free ? -1 : 1;
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  if (a->cost < b->cost || a->cost > b->cost)
    return a->cost < b->cost ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

void
qm_search_order (QmSearchRank *ranks, size_t n)
{
  if (n > 0)
    qsort (ranks, n, sizeof *ranks, compare_ranks);
}

static int
compare_times (const void *first, const void *second)
{
  double a = *(const double *) first, b = *(const double *) second;

  return (a > b) - (a < b);
}

QmSearchGain
qm_search_gain (double *times, size_t n, double reference)
{
  double median;

  if (n == 0)
    return (QmSearchGain){ 0, NAN, NAN, NAN };
  qsort (times, n, sizeof *times, compare_times);
  median = n % 2 == 1 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
  return (QmSearchGain){ .n = n,
                         .best = reference / times[0],
                         .median = reference / median,
                         .worst = reference / times[n - 1] };
}
