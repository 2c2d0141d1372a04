/* SPDX-License-Identifier: Apache-2.0 */

/* Plans that begin with what others had in common with them are those that are
 * made alone. */

#include "data/catalog.h"
#include "engine/plan-bases.h"
#include "tests/data/check.h"

#include <stdlib.h>
#include <string.h>

static const QmTarget hopper = { QM_DEVICE_CUDA, 90 };

static bool
is_same_value (const QmValue *a, const QmValue *b)
{
  return a->owner == b->owner && a->offset == b->offset && a->room == b->room
         && a->role == b->role && a->teacher == b->teacher
         && a->block == b->block && strcmp (a->name, b->name) == 0
         && a->tensor.type == b->tensor.type
         && qm_tensor_same_shape (&a->tensor, &b->tensor);
}

static bool
is_same_node (const QmNode *a, const QmNode *b)
{
  return a->op == b->op && a->phase == b->phase
         && memcmp (&a->attributes, &b->attributes, sizeof a->attributes) == 0
         && memcmp (a->inputs, b->inputs, sizeof a->inputs) == 0
         && memcmp (a->outputs, b->outputs, sizeof a->outputs) == 0;
}

static void
check_same (const QmPlan *a, const QmPlan *b)
{
  size_t differ = 0;

  CHECK_INT ((int64_t) a->graph->n_values, (int64_t) b->graph->n_values);
  CHECK_INT ((int64_t) a->graph->n_nodes, (int64_t) b->graph->n_nodes);
  CHECK_INT ((int64_t) a->graph->n_parameters,
             (int64_t) b->graph->n_parameters);
  if (a->graph->n_values != b->graph->n_values
      || a->graph->n_nodes != b->graph->n_nodes)
    return;
  for (size_t i = 0; i < a->graph->n_values; i++)
    differ += !is_same_value (&a->graph->values[i], &b->graph->values[i])
              || (a->graph->values[i].owner == (QmValueId) i
                  && a->place[i] != b->place[i]);
  for (size_t i = 0; i < a->graph->n_nodes; i++)
    differ += !is_same_node (&a->graph->nodes[i], &b->graph->nodes[i]);
  CHECK_INT ((int64_t) differ, 0);
  CHECK_INT (a->slab, b->slab);
  CHECK (memcmp (&a->memory, &b->memory, sizeof a->memory) == 0);
  CHECK_INT (a->graph->rng, b->graph->rng);
}

/* One device, several that divide, and hosts, each twice. */
static const QmPlanOptions asked[] = {
  { .micro_batch = 2 },
  { .micro_batch = 2, .ranks = 2 },
  { .micro_batch = 2, .checkpoint = true },
  { .micro_batch = 2, .ranks = 2, .sharding = QM_SHARDING_ZERO_3 },
  { .micro_batch = 2, .ranks = 2, .rank = 1 },
  { .micro_batch = 1,
    .checkpoint = true,
    .ranks = 4,
    .sharding = QM_SHARDING_FSDP_3 },
  { .micro_batch = 2, .sharding = QM_SHARDING_ZERO_2, .offload = true },
  { .micro_batch = 2,
    .checkpoint = true,
    .sharding = QM_SHARDING_FSDP_3,
    .offload = true },
  { .micro_batch = 2, .loss_rows = QM_LOSS_ROWS_ALL },
  { .micro_batch = 2, .narrow = true },
  { .micro_batch = 2, .no_dropout = true },
  { .micro_batch = 2, .foreign = true },
};

#define N_ASKED (sizeof asked / sizeof asked[0])

static void
check_model (const QmModel *model, unsigned methods)
{
  QmPlanBases *bases = qm_plan_bases_new ();

  CHECK (bases != NULL);
  for (size_t i = 0; i < 2 * N_ASKED && bases != NULL; i++)
    {
      QmPlanOptions options = asked[i % N_ASKED];
      QmPlan *alone = NULL, *from = NULL;
      QmStatus status;

      options.target = hopper;
      options.methods = methods;
      status =
          qm_plan_new (&model->config, &model->recipe, &options, &alone, NULL);
      CHECK_INT (qm_plan_new_from (bases, &model->config, &model->recipe,
                                   &options, &from, NULL),
                 status);
      if (status == QM_OK && from != NULL)
        check_same (alone, from);
      qm_plan_free (alone);
      qm_plan_free (from);
    }
  qm_plan_bases_free (bases);
}

/* More are asked for than are kept, while one is in use. */
static void
test_many (const QmModel *model)
{
  QmPlanBases *bases = qm_plan_bases_new ();
  QmPlanOptions options = { .target = hopper, .methods = QM_METHOD_ALL };
  QmPlan *first = NULL, *again = NULL;

  options.micro_batch = 1;
  CHECK_INT (qm_plan_new_from (bases, &model->config, &model->recipe, &options,
                               &first, NULL),
             QM_OK);
  for (options.micro_batch = 2; options.micro_batch < 40; options.micro_batch++)
    {
      QmPlan *plan = NULL;

      CHECK_INT (qm_plan_new_from (bases, &model->config, &model->recipe,
                                   &options, &plan, NULL),
                 QM_OK);
      qm_plan_free (plan);
    }
  options.micro_batch = 1;
  CHECK_INT (qm_plan_new_from (bases, &model->config, &model->recipe, &options,
                               &again, NULL),
             QM_OK);
  if (first != NULL && again != NULL)
    check_same (first, again);
  qm_plan_free (first);
  qm_plan_free (again);
  qm_plan_bases_free (bases);
}

int
main (void)
{
  static const char *const names[] = { "pythia-160m",   "vit-large",
                                       "roberta-large", "smollm3-3b",
                                       "clip-vit-l-14", "siglip-vit-b-16-256" };
  QmCatalog *catalog;

  CHECK_INT (qm_catalog_load (getenv ("QM_TEST_DATA_DIR"), NULL, &catalog,
                              NULL),
             QM_OK);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    {
      const QmModel *model = qm_catalog_model (catalog, names[i]);

      check_case (names[i]);
      CHECK (model != NULL);
      if (model == NULL)
        continue;
      check_model (model, QM_METHOD_ALL);
      check_model (model, QM_METHOD_KERNELS | QM_METHOD_TF32);
      check_model (model, 0);
    }
  check_case ("many");
  test_many (qm_catalog_model (catalog, "pythia-160m"));
  qm_catalog_free (catalog);
  return check_report ();
}
