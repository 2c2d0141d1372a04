/* SPDX-License-Identifier: Apache-2.0 */

/* The rules of a search: configurations, what fits, order, costs, gains. */

#include "engine/measure.h"
#include "engine/search.h"

#include "tests/data/check.h"

#include <math.h>
#include <string.h>

static const char json[] =
    "{\"model_type\": \"gpt_neox\", \"vocab_size\": 256, \"hidden_size\": 64,"
    "\"num_hidden_layers\": 4, \"num_attention_heads\": 4,"
    "\"intermediate_size\": 256, \"max_position_embeddings\": 64}";

static QmModelConfig config;
static const QmRecipe recipe = { .batch_size = 32,
                                 .steps = 10,
                                 .sequence_length = 64,
                                 .precision = QM_PRECISION_BF16,
                                 .dropout = NAN };

/* How many of the first `n` are so. */
static int64_t
count (const QmSearchConfig *list, size_t n, bool offload, bool sharding)
{
  int64_t found = 0;

  for (size_t i = 0; i < n; i++)
    found += list[i].offload == offload
             && (list[i].sharding != QM_SHARDING_NONE) == sharding
             && list[i].methods == QM_METHOD_ALL;
  return found;
}

static void
check_configurations (void)
{
  QmSearchConfig list[QM_SEARCH_MOST];
  QmSearchMethods methods;
  size_t n;

  check_case ("configurations");
  CHECK_INT ((int64_t) qm_search_configurations (QM_SEARCH_NAIVE, 1, list), 1);
  CHECK_INT (list[0].methods, 0);
  CHECK_INT ((int64_t) qm_search_configurations (QM_SEARCH_FREE_LUNCH, 8, list),
             1);
  CHECK_INT (list[0].methods, QM_METHOD_ALL);
  CHECK (!list[0].checkpoint && list[0].sharding == QM_SHARDING_NONE);

  n = qm_search_configurations (QM_SEARCH_ALL, 1, list);
  CHECK_INT ((int64_t) n, 12 + 1);
  CHECK_INT (count (list, n, false, false), 2);
  CHECK_INT (count (list, n, true, true), 10);

  n = qm_search_configurations (QM_SEARCH_ALL, 4, list);
  CHECK_INT ((int64_t) n, 22 + 1);
  CHECK_INT (count (list, n, false, false), 2);
  CHECK_INT (count (list, n, false, true), 10);
  CHECK_INT (count (list, n, true, true), 10);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      CHECK (list[i].methods != list[j].methods
             || list[i].checkpoint != list[j].checkpoint
             || list[i].sharding != list[j].sharding
             || list[i].offload != list[j].offload);

  CHECK (qm_search_methods_parse ("all", &methods) && methods == QM_SEARCH_ALL);
  CHECK (!qm_search_methods_parse ("most", &methods));
}

static void
check_fit (void)
{
  QmPlanOptions options = { .target = { QM_DEVICE_CUDA, 90 } };
  QmShortage shortage;
  QmMemory memory, little;
  QmError error = { 0 };
  bool fits;

  check_case ("fit");
  CHECK_INT (qm_search_fit (&config, &recipe, &options, UINT64_MAX, &memory,
                            &fits, &shortage, &error),
             QM_OK);
  CHECK (fits);
  CHECK_INT (options.micro_batch, 32);
  CHECK_INT (qm_search_fit (&config, &recipe, &options, memory.total - 1,
                            &memory, &fits, &shortage, &error),
             QM_OK);
  CHECK (fits);
  CHECK_INT (options.micro_batch, 16);
  CHECK_INT (qm_search_fit (&config, &recipe, &options, 1000, &little, &fits,
                            &shortage, &error),
             QM_OK);
  CHECK (!fits && !shortage.host);
  CHECK_INT (options.micro_batch, 1);
  CHECK (little.total < memory.total);
  CHECK_INT ((int64_t) shortage.needs, (int64_t) little.total);
  CHECK_INT ((int64_t) shortage.available, 1000);
  options.sharding = QM_SHARDING_ZERO_1;
  options.offload = true;
  options.host_bytes = 1000;
  CHECK_INT (qm_search_fit (&config, &recipe, &options, memory.total, &little,
                            &fits, &shortage, &error),
             QM_OK);
  CHECK (!fits && shortage.host);
  CHECK_INT ((int64_t) shortage.needs, (int64_t) little.host);
  CHECK_INT ((int64_t) shortage.available, 1000);
}

static void
check_cost (void)
{
  const QmSearchConfig plain = { .methods = QM_METHOD_ALL };
  const QmSearchConfig offload = { .methods = QM_METHOD_ALL,
                                   .sharding = QM_SHARDING_ZERO_1,
                                   .offload = true };
  QmPlanOptions one = { .target = { QM_DEVICE_CUDA, 90 }, .micro_batch = 1 };
  QmPlanOptions two = one;
  QmSearchPace model = { 0 }, all = { 0 };
  const QmSearchGuess guess = { .pass = 1, .overhead = 2 };
  const QmSearchGuess twice = { .pass = 2, .overhead = 4 };
  QmMemory memory = { 0 };
  double pass = qm_search_guess_pass (&config, &recipe, &one, 1000);
  double small = qm_search_guess_overhead (&one, &memory);

  check_case ("cost");
  two.micro_batch = 2;
  CHECK_NEAR (qm_search_guess_pass (&config, &recipe, &two, 1000), 2 * pass,
              1e-12);
  CHECK_NEAR (qm_search_guess_pass (&config, &recipe, &one, 500), 2 * pass,
              1e-12);
  CHECK (qm_search_guess_pass (&config, &recipe, &one, NAN) > pass);
  two = one;
  two.checkpoint = true;
  CHECK (qm_search_guess_pass (&config, &recipe, &two, 1000) > pass);

  CHECK (qm_search_wants_half (&plain, 0.5));
  CHECK (!qm_search_wants_half (&plain, 5));
  CHECK (!qm_search_wants_half (&offload, 0.5));

  CHECK (qm_search_guess_overhead (&one, &memory) > 1);
  memory.host = UINT64_C (10000000000);
  CHECK_NEAR (qm_search_guess_overhead (&one, &memory), small + 1, 1e-12);

  CHECK_INT (qm_measure_brief_samples (0), 3);
  CHECK_INT (qm_measure_brief_samples (0.5), 3);
  CHECK_INT (qm_measure_brief_samples (1), 2);
  CHECK_INT (qm_measure_brief_samples (30), 1);
  /* One pass before, and so many more. */
  CHECK_NEAR (qm_search_predict (&model, &all, &plain, guess, 1), 5, 1e-12);
  qm_search_pace_add (&all, &plain, guess, 2, 10, 1);
  CHECK_NEAR (qm_search_predict (&model, &all, &plain, guess, 1), 10, 1e-12);
  CHECK_NEAR (qm_search_predict (&model, &all, &plain, twice, 1), 20, 1e-12);
  qm_search_pace_add (&model, &plain, guess, 3, 12, 1);
  CHECK_NEAR (qm_search_predict (&model, &all, &plain, guess, 1), 12, 1e-12);
  CHECK_NEAR (qm_search_predict (&model, &all, &offload, guess, 1), 5, 1e-12);
  qm_search_pace_add (&all, &plain, guess, NAN, 12, 1);
  CHECK_INT (all.kinds[0].n, 1);
}

static void
check_order (void)
{
  QmSearchRank ranks[] = {
    { false, 0, 9, 0 }, { false, 1, 9, 1 }, { true, 2, 0, 2 },
    { false, 0, 4, 3 }, { false, 1, 4, 4 }, { false, 1, 4, 5 },
  };
  const size_t wanted[] = { 2, 3, 0, 4, 5, 1 };

  check_case ("order");
  qm_search_order (ranks, 6);
  for (size_t i = 0; i < 6; i++)
    CHECK_INT ((int64_t) ranks[i].index, (int64_t) wanted[i]);
  qm_search_order (ranks, 0);
}

static void
check_gain (void)
{
  double odd[] = { 4, 1, 2 }, even[] = { 1, 4, 2, 4 };
  QmSearchGain gain = qm_search_gain (odd, 3, 2);

  check_case ("gain");
  CHECK_INT ((int64_t) gain.n, 3);
  CHECK_NEAR (gain.best, 2, 1e-12);
  CHECK_NEAR (gain.median, 1, 1e-12);
  CHECK_NEAR (gain.worst, 0.5, 1e-12);
  gain = qm_search_gain (even, 4, 3);
  CHECK_NEAR (gain.median, 1, 1e-12);
  gain = qm_search_gain (NULL, 0, 3);
  CHECK (isnan (gain.best) && gain.n == 0);
}

int
main (void)
{
  CHECK_INT (qm_model_config_parse (json, sizeof json - 1, "", &config, NULL),
             QM_OK);
  check_configurations ();
  check_fit ();
  check_cost ();
  check_order ();
  check_gain ();
  return check_report ();
}
