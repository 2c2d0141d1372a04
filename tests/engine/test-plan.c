/* SPDX-License-Identifier: Apache-2.0 */

/* Plans of the whole catalog: FLOPs, parameters, memory. */

#include "data/catalog.h"
#include "data/flops.h"
#include "engine/plan.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 0x1p30

static const QmTarget hopper = { QM_DEVICE_CUDA, 90 };

static QmPlan *
make_plan (const QmModel *model, unsigned methods, int64_t micro_batch)
{
  QmPlanOptions options = { .target = hopper,
                            .micro_batch = micro_batch,
                            .methods = methods };
  QmError error = { 0 };
  QmPlan *plan;

  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          &error),
             QM_OK);
  CHECK_STRING (error.message, "");
  return plan;
}

static int64_t
count_parameters (const QmGraph *graph)
{
  int64_t count = 0;

  for (size_t i = 0; i < graph->n_parameters; i++)
    count += qm_tensor_elements (
        qm_graph_tensor (graph, graph->parameters[i].value));
  return count;
}

/* Forward FLOPs on the graph are those of the closed form, to the bit;
 * backward, each product has two, but for the first layer of a model of images,
 * whose input needs no gradient. */
static void
test_counts (const QmModel *model, unsigned methods)
{
  QmPlan *plan = make_plan (model, methods, 2);
  double forward, backward;

  if (plan == NULL)
    return;
  forward = qm_graph_flops (plan->graph, QM_PHASE_FORWARD);
  backward = qm_graph_flops (plan->graph, QM_PHASE_BACKWARD);
  CHECK_NEAR (forward,
              2 * qm_flops_forward_sample (&model->config, &model->recipe), 0);
  if (model->config.family == QM_FAMILY_VIT
      || model->config.family == QM_FAMILY_CONVNEXT)
    CHECK (backward < 2 * forward && backward > 1.99 * forward);
  else
    CHECK_NEAR (backward, 2 * forward, 0);
  CHECK_INT (count_parameters (plan->graph),
             qm_parameter_count (&model->config));
  qm_plan_free (plan);
}

typedef struct Life
{
  int64_t first, last, begin, end;
} Life;

static void
find_lives (const QmPlan *plan, Life *lives)
{
  const QmGraph *graph = plan->graph;

  for (size_t i = 0; i < graph->n_values; i++)
    lives[i] = (Life){ -1, -1, 0, 0 };
  for (size_t n = 0; n < graph->n_nodes; n++)
    for (int j = 0; j < QM_OP_MAX_INPUTS + QM_OP_MAX_OUTPUTS; j++)
      {
        QmValueId id = j < QM_OP_MAX_INPUTS
                           ? graph->nodes[n].inputs[j]
                           : graph->nodes[n].outputs[j - QM_OP_MAX_INPUTS];
        const QmValue *value;
        Life *life;

        if (id == QM_NO_VALUE)
          continue;
        value = &graph->values[graph->values[id].owner];
        if (value->role != QM_ROLE_TEMPORARY)
          continue;
        life = &lives[value->owner];
        if (life->first < 0)
          life->first = (int64_t) n;
        life->last = (int64_t) n;
        life->begin = plan->place[value->owner];
        life->end = life->begin
                    + value->room * (int64_t) qm_type_size (value->tensor.type);
      }
}

/* No two values that live at the same time share memory, except where one ends
 * and the other begins, at the same address, at an operator that may work in
 * place. */
static void
test_no_overlap (const QmPlan *plan)
{
  const QmGraph *graph = plan->graph;
  Life *lives = calloc (graph->n_values, sizeof *lives);
  size_t conflicts = 0;

  find_lives (plan, lives);
  for (size_t i = 0; i < graph->n_values; i++)
    for (size_t j = 0; j < graph->n_values; j++)
      {
        const Life *a = &lives[i], *b = &lives[j];

        if (i == j || a->first < 0 || b->first < 0 || a->first > b->first
            || a->last < b->first || a->end <= b->begin || b->end <= a->begin)
          continue;
        if (a->last == b->first && a->first < b->first && a->begin == b->begin
            && a->end == b->end)
          continue;
        conflicts++;
      }
  for (size_t i = 0; i < graph->n_values; i++)
    CHECK (lives[i].first < 0
           || (uint64_t) lives[i].end <= plan->memory.activations);
  CHECK_INT (conflicts, 0);
  free (lives);
}

static void
test_memory (const QmModel *model, unsigned methods)
{
  QmPlan *plan = make_plan (model, methods, 1);
  const QmMemory *memory;

  if (plan == NULL)
    return;
  memory = &plan->memory;
  CHECK (memory->gradients
         >= 4 * (uint64_t) qm_parameter_count (&model->config));
  CHECK (memory->gradients
         < 4.1 * (double) qm_parameter_count (&model->config));
  CHECK_INT (memory->optimizer, 2 * memory->gradients);
  CHECK_INT (memory->weights + memory->master,
             model->recipe.precision == QM_PRECISION_FP32
                 ? memory->gradients
                 : memory->gradients / 2 * 3);
  /* The layout wastes little. */
  CHECK (memory->activations >= memory->live);
  CHECK ((double) memory->activations <= 1.001 * (double) memory->live);
  test_no_overlap (plan);
  qm_plan_free (plan);
}

static void
test_largest (const QmModel *model, double gib)
{
  QmPlanOptions options = { .target = hopper, .methods = QM_METHOD_ALL };
  QmPlan *plan = NULL, *twice;
  QmError error = { 0 };
  uint64_t bytes = (uint64_t) (gib * GIB);
  QmStatus status = qm_plan_largest (&model->config, &model->recipe, &options,
                                     bytes, &plan, &error);

  if (status != QM_OK)
    {
      CHECK_INT (status, QM_STATUS_DEVICE_FULL);
      CHECK_CONTAINS (error.message, "GiB");
      plan = make_plan (model, QM_METHOD_ALL, 1);
      CHECK (plan->memory.total > bytes);
      qm_plan_free (plan);
      return;
    }
  CHECK (plan->memory.total <= bytes);
  CHECK_INT (plan->options.micro_batch & (plan->options.micro_batch - 1), 0);
  CHECK_INT (plan->accumulation * plan->options.micro_batch,
             model->recipe.batch_size);
  if (plan->options.micro_batch * 2 <= model->recipe.batch_size)
    {
      twice = make_plan (model, QM_METHOD_ALL, plan->options.micro_batch * 2);
      CHECK (twice->memory.total > bytes);
      qm_plan_free (twice);
    }
  qm_plan_free (plan);
}

static void
test_methods (void)
{
  static const char *const names[] = { "naive",        "compile",
                                       "kernels",      "compile+kernels",
                                       "tf32",         "compile+tf32",
                                       "kernels+tf32", "free-lunch" };
  unsigned methods;
  char text[64];

  check_case ("methods");
  for (unsigned i = 0; i <= QM_METHOD_ALL; i++)
    {
      qm_methods_format (i, text, sizeof text);
      CHECK_STRING (text, names[i]);
      CHECK (qm_methods_parse (text, &methods));
      CHECK_INT (methods, i);
    }
  CHECK (!qm_methods_parse ("", &methods));
  CHECK (!qm_methods_parse ("compile+", &methods));
  CHECK (!qm_methods_parse ("naive+compile", &methods));
}

static void
test_refused (const QmModel *model)
{
  QmPlanOptions options = { .target = hopper };
  QmPlan *plan;
  QmError error = { 0 };

  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          &error),
             QM_STATUS_INVALID);
  options.micro_batch = model->recipe.batch_size + 1;
  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          &error),
             QM_STATUS_INVALID);
  CHECK (plan == NULL);
}

static void
test_model (const QmModel *model)
{
  char name[96];

  for (unsigned methods = 0; methods <= QM_METHOD_ALL; methods++)
    {
      snprintf (name, sizeof name, "%s, methods %u", model->id, methods);
      check_case (name);
      test_counts (model, methods);
      if (methods == 0 || methods == QM_METHOD_ALL)
        test_memory (model, methods);
    }
  test_largest (model, 24);
  test_largest (model, 80);
  test_refused (model);
}

int
main (void)
{
  QmCatalog *catalog;
  const QmModel *models;
  size_t n;

  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  models = qm_catalog_models (catalog, &n);
  CHECK (n >= 9);
  for (size_t i = 0; i < n; i++)
    test_model (&models[i]);
  test_methods ();
  qm_catalog_free (catalog);
  return check_report ();
}
