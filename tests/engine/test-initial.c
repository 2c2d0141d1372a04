/* SPDX-License-Identifier: Apache-2.0 */

/* Weights of new models of the families that do not begin with normal ones
 * alone. */

#include "engine/executor.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Model
{
  QmDevice *device;
  QmPlan *plan;
  QmExecutor *executor;
} Model;

static void
begin (Model *model, const char *config, const char *recipe)
{
  QmModelConfig parsed;
  QmRecipe read;
  QmPlanOptions options = { .micro_batch = 1, .methods = QM_METHOD_ALL };

  CHECK_INT (qm_model_config_parse (config, strlen (config), "config", &parsed,
                                    NULL),
             QM_OK);
  CHECK_INT (qm_recipe_parse (recipe, strlen (recipe), "recipe", &read, NULL),
             QM_OK);
  CHECK_INT (qm_device_open ("cpu", 0, &model->device, NULL), QM_OK);
  CHECK_INT (qm_plan_new (&parsed, &read, &options, &model->plan, NULL), QM_OK);
  CHECK_INT (qm_executor_new (model->plan, model->device, NULL, 9,
                              &model->executor, NULL),
             QM_OK);
  CHECK_INT (qm_executor_initialise (model->executor, NULL), QM_OK);
}

static void
end (Model *model)
{
  qm_executor_free (model->executor);
  qm_plan_free (model->plan);
  qm_device_close (model->device);
}

/* What the values of a parameter are like. */
typedef struct Moments
{
  int64_t n;
  double low, high, mean, deviation;
  float *values;
} Moments;

static Moments
read_parameter (const Model *model, const char *name)
{
  const QmGraph *graph = model->plan->graph;
  Moments m = { .low = INFINITY, .high = -INFINITY };
  QmValueId id = QM_NO_VALUE;

  check_case (name);
  for (size_t i = 0; i < graph->n_parameters; i++)
    if (strcmp (graph->parameters[i].name, name) == 0)
      id = graph->parameters[i].value;
  CHECK (id != QM_NO_VALUE);
  if (id == QM_NO_VALUE)
    exit (check_report ());
  m.n = qm_tensor_elements (qm_graph_tensor (graph, id));
  m.values = calloc ((size_t) m.n, sizeof *m.values);
  CHECK_INT (qm_executor_read_floats (model->executor, id, m.values, NULL),
             QM_OK);
  for (int64_t i = 0; i < m.n; i++)
    {
      m.low = fmin (m.low, m.values[i]);
      m.high = fmax (m.high, m.values[i]);
      m.mean += m.values[i] / (double) m.n;
    }
  for (int64_t i = 0; i < m.n; i++)
    m.deviation += pow (m.values[i] - m.mean, 2) / (double) m.n;
  m.deviation = sqrt (m.deviation);
  return m;
}

static void
check_constant (const Model *model, const char *name, double value)
{
  Moments m = read_parameter (model, name);

  CHECK_NEAR (m.low, value, 1e-6);
  CHECK_NEAR (m.high, value, 1e-6);
  free (m.values);
}

/* Uniform between -bound and bound. */
static void
check_uniform (const Model *model, const char *name, double bound)
{
  Moments m = read_parameter (model, name);

  CHECK (m.low >= -bound && m.high <= bound);
  CHECK_NEAR (m.deviation, bound / sqrt (3), 0.05);
  CHECK (fabs (m.mean) < 0.1 * bound);
  free (m.values);
}

static void
check_normal (const Model *model, const char *name, double deviation)
{
  Moments m = read_parameter (model, name);

  CHECK_NEAR (m.deviation, deviation, 0.05);
  CHECK (m.high > 2.5 * deviation && m.low < -2.5 * deviation);
  free (m.values);
}

/* Logarithms of 1 to `columns`, again and again. */
static void
check_rates (const Model *model, const char *name, int64_t columns)
{
  Moments m = read_parameter (model, name);

  for (int64_t i = 0; i < m.n; i++)
    CHECK_NEAR (m.values[i], log ((double) (i % columns + 1)), 1e-6);
  free (m.values);
}

/* Softplus makes them log-uniform between 0.01 and 1; none is below 0.02. */
static void
check_time_steps (const Model *model, const char *name)
{
  Moments m = read_parameter (model, name);
  int64_t floor = 0, below = 0;

  for (int64_t i = 0; i < m.n; i++)
    {
      double step = log1p (exp (m.values[i]));

      CHECK (step > 0.0199 && step < 1.0001);
      floor += step < 0.0201;
      below += step < 0.1;
    }
  CHECK_NEAR ((double) floor, log10 (2) / 2 * (double) m.n, 0.4);
  CHECK_NEAR ((double) below, 0.5 * (double) m.n, 0.2);
  free (m.values);
}

#define MAMBA_RECIPE                                          \
  "{\"batch_size\": 1, \"steps\": 1, \"sequence_length\": 4," \
  "\"precision\": \"bf16\", \"optimizer\": \"adamw\","        \
  "\"learning_rate\": 0.1, \"beta1\": 0.9, \"beta2\": 0.9,"   \
  "\"epsilon\": 1e-8, \"weight_decay\": 0, \"max_grad_norm\": 0}"

static void
test_mamba (bool variant)
{
  char config[512];
  Model model;

  snprintf (config, sizeof config,
            "{\"model_type\": \"mamba\", \"hidden_size\": 160,"
            "\"num_hidden_layers\": 2, \"vocab_size\": 50,"
            "\"state_size\": 6, \"time_step_min\": 0.01,"
            "\"time_step_max\": 1.0, \"time_step_floor\": 0.02,"
            "\"time_step_rank\": 16, \"time_step_scale\": 2,"
            "\"time_step_init_scheme\": \"%s\", \"conv_kernel\": 4,"
            "\"rescale_prenorm_residual\": %s}",
            variant ? "constant" : "random", variant ? "true" : "false");
  begin (&model, config, MAMBA_RECIPE);
  check_rates (&model, "backbone.layers.1.mixer.A_log", 6);
  check_time_steps (&model, "backbone.layers.1.mixer.dt_proj.bias");
  check_constant (&model, "backbone.layers.0.mixer.D", 1);
  check_constant (&model, "backbone.norm_f.weight", 1);
  check_constant (&model, "backbone.layers.0.mixer.conv1d.bias", 0);
  check_uniform (&model, "backbone.layers.0.mixer.conv1d.weight", 0.5);
  check_uniform (&model, "backbone.layers.0.mixer.out_proj.weight",
                 variant ? 1 / sqrt (640) : 1 / sqrt (320));
  if (variant)
    check_constant (&model, "backbone.layers.0.mixer.dt_proj.weight", 0.5);
  else
    check_uniform (&model, "backbone.layers.0.mixer.dt_proj.weight", 0.5);
  check_normal (&model, "backbone.layers.1.mixer.in_proj.weight", 0.1);
  check_normal (&model, "backbone.embeddings.weight", 0.1);
  end (&model);
}

static void
test_mamba2 (bool rescaled)
{
  char config[512];
  Model model;

  snprintf (config, sizeof config,
            "{\"model_type\": \"mamba2\", \"hidden_size\": 160,"
            "\"num_hidden_layers\": 2, \"vocab_size\": 50,"
            "\"num_heads\": 320, \"head_dim\": 1, \"n_groups\": 1,"
            "\"state_size\": 6, \"time_step_min\": 0.01,"
            "\"time_step_max\": 1.0, \"time_step_floor\": 0.02,"
            "\"rescale_prenorm_residual\": %s}",
            rescaled ? "true" : "false");
  begin (&model, config, MAMBA_RECIPE);
  check_rates (&model, "backbone.layers.1.mixer.A_log", 320);
  check_time_steps (&model, "backbone.layers.1.mixer.dt_bias");
  check_constant (&model, "backbone.layers.0.mixer.D", 1);
  check_constant (&model, "backbone.layers.0.mixer.norm.weight", 1);
  check_constant (&model, "backbone.layers.0.mixer.conv1d.bias", 0);
  check_uniform (&model, "backbone.layers.0.mixer.conv1d.weight", 0.5);
  check_uniform (&model, "backbone.layers.0.mixer.out_proj.weight",
                 rescaled ? 1 / sqrt (640) : 1 / sqrt (320));
  check_normal (&model, "backbone.layers.1.mixer.in_proj.weight", 0.1);
  check_normal (&model, "lm_head.weight", 0.1);
  end (&model);
}

#define CONVNEXT                                                        \
  "{\"model_type\": \"convnext\", \"num_stages\": 2,"                   \
  "\"hidden_sizes\": [32, 48], \"depths\": [1, 1], \"image_size\": 16," \
  "\"layer_scale_init_value\": 0.25, \"num_labels\": 5}"

#define CONVNEXT_RECIPE                                     \
  "{\"batch_size\": 1, \"steps\": 1, \"image_size\": 16,"   \
  "\"precision\": \"fp32\", \"optimizer\": \"adamw\","      \
  "\"learning_rate\": 0.1, \"beta1\": 0.9, \"beta2\": 0.9," \
  "\"epsilon\": 1e-8, \"weight_decay\": 0, \"max_grad_norm\": 0}"

static void
test_convnext (void)
{
  Model model;

  begin (&model, CONVNEXT, CONVNEXT_RECIPE);
  check_constant (&model,
                  "convnext.encoder.stages.1.layers.0.layer_scale_parameter",
                  0.25);
  check_constant (&model, "convnext.encoder.stages.1.layers.0.dwconv.bias", 0);
  check_normal (&model, "convnext.encoder.stages.1.layers.0.dwconv.weight",
                0.02);
  check_constant (&model,
                  "convnext.encoder.stages.1.downsampling_layer.0.weight", 1);
  end (&model);
}

#define DIT                                                         \
  "{\"_class_name\": \"DiTTransformer2DModel\", \"num_layers\": 2," \
  "\"attention_head_dim\": 16, \"num_attention_heads\": 3,"         \
  "\"in_channels\": 4, \"out_channels\": 8, \"patch_size\": 2,"     \
  "\"sample_size\": 8, \"num_embeds_ada_norm\": 11}"

#define DIT_RECIPE                                          \
  "{\"batch_size\": 1, \"steps\": 1, \"image_size\": 8,"    \
  "\"precision\": \"bf16\", \"optimizer\": \"adamw\","      \
  "\"learning_rate\": 0.1, \"beta1\": 0.9, \"beta2\": 0.9," \
  "\"epsilon\": 1e-8, \"weight_decay\": 0, \"max_grad_norm\": 0}"

/* Gates begin as zero in training, and not where time is measured. */
static void
test_dit (void)
{
  Model model;

  begin (&model, DIT, DIT_RECIPE);
  check_constant (&model, "blocks.1.adaLN_modulation.1.weight", 0);
  check_constant (&model, "final_layer.linear.weight", 0);
  CHECK_INT (qm_executor_initialise_used (model.executor, NULL), QM_OK);
  check_normal (&model, "blocks.1.adaLN_modulation.1.weight", 0.02);
  check_normal (&model, "final_layer.linear.weight", 0.02);
  check_constant (&model, "blocks.1.adaLN_modulation.1.bias", 0);
  check_constant (&model, "final_layer.linear.bias", 0);
  end (&model);
}

int
main (void)
{
  test_dit ();
  test_mamba (false);
  test_mamba (true);
  test_mamba2 (false);
  test_mamba2 (true);
  test_convnext ();
  return check_report ();
}
