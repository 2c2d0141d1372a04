/* SPDX-License-Identifier: Apache-2.0 */

/* Plans of what GPUs have kernels for, and of what they have none for. */

#include "engine/plan.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <string.h>

static const QmTarget cpu = { QM_DEVICE_CPU, 0 };
static const QmTarget turing = { QM_DEVICE_CUDA, 75 };
static const QmTarget hopper = { QM_DEVICE_CUDA, 90 };

/* Heads that no kernel keeps the scores of stay products and a softmax; what a
 * GPU has no kernel for at all is refused there, and planned for a CPU. */
static void
test_limits (void)
{
  static const char llama[] =
      "{\"model_type\":\"llama\",\"hidden_size\":16,"
      "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"head_dim\":%d,"
      "\"intermediate_size\":32,\"vocab_size\":60}";
  static const char mamba[] =
      "{\"model_type\":\"mamba2\",\"hidden_size\":16,"
      "\"num_hidden_layers\":1,\"num_heads\":4,\"head_dim\":8,"
      "\"expand\":2,\"n_groups\":1,\"vocab_size\":60,\"state_size\":%d}";
  const QmRecipe recipe = { .batch_size = 4,
                            .sequence_length = 8,
                            .precision = QM_PRECISION_FP16 };
  const struct
  {
    const char *config;
    int size;
    QmOp op, back; /* of the other attention, none */
    bool on_cpu, on_hopper, on_turing;
  } cases[] = {
    { llama, 256, QM_OP_ATTENTION, QM_OP_SOFTMAX, true, true, true },
    { llama, 258, QM_OP_SOFTMAX, QM_OP_ATTENTION, true, true, true },
    { mamba, 128, QM_OP_DUAL_SCAN, QM_OP_SOFTMAX, true, true, true },
    { mamba, 256, QM_OP_DUAL_SCAN, QM_OP_SOFTMAX, true, true, false },
    { mamba, 257, QM_OP_DUAL_SCAN, QM_OP_SOFTMAX, true, false, false },
  };

  check_case ("limits");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      const QmTarget *targets[] = { &cpu, &hopper, &turing };
      const bool taken[] = { cases[i].on_cpu, cases[i].on_hopper,
                             cases[i].on_turing };
      QmModelConfig config;
      char text[512];

      snprintf (text, sizeof text, cases[i].config, cases[i].size);
      CHECK_INT (qm_model_config_parse (text, strlen (text), "", &config, NULL),
                 QM_OK);
      for (int t = 0; t < 3; t++)
        {
          const QmPlanOptions options = { .target = *targets[t],
                                          .micro_batch = 1,
                                          .methods = QM_METHOD_ALL };
          QmPlan *plan = NULL;
          QmError error = { 0 };
          int found = 0, others = 0;
          QmStatus status =
              qm_plan_new (&config, &recipe, &options, &plan, &error);

          CHECK_INT (status, taken[t] ? QM_OK : QM_STATUS_UNSUPPORTED);
          CHECK (taken[t] || strstr (error.message, "states") != NULL);
          for (size_t k = 0; plan != NULL && k < plan->graph->n_nodes; k++)
            {
              found += plan->graph->nodes[k].op == cases[i].op;
              others += plan->graph->nodes[k].op == cases[i].back;
            }
          CHECK_INT (found, taken[t] ? 1 : 0);
          CHECK_INT (others, 0);
          qm_plan_free (plan);
        }
    }
}

int
main (void)
{
  test_limits ();
  return check_report ();
}
