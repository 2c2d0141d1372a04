/* SPDX-License-Identifier: Apache-2.0 */

/* Plans of the whole catalog: FLOPs, parameters, memory. */

#include "data/catalog.h"
#include "data/family.h"
#include "data/flops.h"
#include "engine/plan.h"
#include "tests/data/check.h"
#include "tests/engine/graph-sums.h"

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

/* Whether layers have windows that leave something out. */
static bool
has_windows (const QmModel *model)
{
  const QmModelConfig *config = &model->config;

  return config->family == QM_FAMILY_MODERNBERT && config->modernbert.window > 0
         && config->modernbert.window / 2 + 1 < model->recipe.sequence_length;
}

/* Forward FLOPs on the graph are those of the closed form, to the bit, or more
 * where products of whole matrices stand for attention with windows; backward,
 * each product has two, but for the first layer of a model of images, whose
 * input needs no gradient. */
static bool
is_of_pairs (const QmModel *model)
{
  return qm_family_info (model->config.family)->objective == QM_OBJECTIVE_PAIRS;
}

static void
test_counts (const QmModel *model, unsigned methods)
{
  /* Of the crops of 5 images, the share that goes through a student's branch is
   * whole. */
  int64_t images = qm_model_has_teacher (&model->config) ? 5 : 2;
  QmPlan *plan = make_plan (model, methods, images);
  double forward, backward, wanted;

  if (plan == NULL)
    return;
  forward = graph_flops (plan->graph, QM_PHASE_FORWARD);
  backward = graph_flops (plan->graph, QM_PHASE_BACKWARD);
  wanted = (double) images
           * qm_flops_forward_sample (&model->config, &model->recipe);
  if (has_windows (model) && (methods & QM_METHOD_KERNELS) == 0)
    CHECK (forward > wanted);
  else if (qm_model_has_teacher (&model->config))
    CHECK (forward >= wanted && forward < 1.001 * wanted);
  else if (is_of_pairs (model))
    /* Cosines are of both sides, and of those of other passes. */
    CHECK (forward >= 0.99 * wanted && forward < 1.01 * wanted);
  else
    CHECK_NEAR (forward, wanted, 0);
  if (qm_model_has_teacher (&model->config))
    {
      /* What the teacher does is not gone back; sums of positions are no part
       * of the formula. */
      wanted = (double) images
               * qm_flops_train_sample (&model->config, &model->recipe);
      CHECK (forward + backward < 1.001 * wanted
             && forward + backward > 0.99 * wanted);
    }
  else if (qm_family_has_images (model->config.family))
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
  /* An average is as large as a moment, and a teacher in 16 bits half of it. */
  CHECK_INT (2 * memory->optimizer,
             (4 + 2 * (model->recipe.ema_decay > 0)
              + (qm_model_has_teacher (&model->config)
                 && model->recipe.precision != QM_PRECISION_FP32))
                 * memory->gradients);
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

static uint64_t
pages (uint64_t bytes)
{
  return (bytes + ((2 << 20) - 1)) >> 21 << 21;
}

/* The host has 12 bytes for each weight, 4 more for an average, 4 more for sums
 * of gradients, 2 more for weights of 16 bits that are fetched, and slots. */
static void
check_host (const QmPlan *plan)
{
  const QmHostMemory *host = &plan->host;
  QmSharding sharding =
      plan->options.offload ? plan->options.sharding : QM_SHARDING_NONE;
  uint64_t slab = (uint64_t) plan->slab;
  uint64_t size = plan->recipe.precision == QM_PRECISION_FP32 ? 4 : 2;
  bool sums = qm_sharding_gradients (sharding);
  bool fetched = qm_sharding_weights (sharding);

  CHECK_INT (host->states, pages (4 * slab));
  CHECK_INT (host->gradients, sums ? pages (4 * slab) : 0);
  CHECK_INT (host->weights, fetched && size == 2 ? pages (2 * slab) : 0);
  CHECK_INT (plan->memory.host,
             (3 + (plan->recipe.ema_decay > 0)) * host->states + host->gradients
                 + host->weights + host->staging);
  CHECK (host->chunk > 0 && host->chunk <= QM_HOST_CHUNK);
  CHECK_INT (host->gradient_slot, (uint64_t) host->chunk * (sums ? size : 4));
  CHECK_INT (host->weight_slot, fetched ? 0 : (uint64_t) host->chunk * size);
  CHECK (host->staging < (UINT64_C (600) << 20));
  CHECK_INT (plan->memory.master, 0);
  CHECK_INT (plan->memory.optimizer, 0);
}

/* The most that a unit has: of gradients, or of weights. */
static int64_t
largest_unit (const QmUnit *units, size_t n)
{
  int64_t most = 0;

  for (size_t i = 0; i < n; i++)
    if (units[i].end - units[i].begin > most)
      most = units[i].end - units[i].begin;
  return most;
}

/* All that leaves is in one unit, and buckets are as large as they may be,
 * unless one parameter is larger. */
static void
check_units (const QmPlan *plan)
{
  const QmUnits *units = &plan->units;
  QmSharding sharding =
      plan->options.offload ? plan->options.sharding : QM_SHARDING_NONE;
  bool zero = sharding == QM_SHARDING_ZERO_2 || sharding == QM_SHARDING_ZERO_3;
  int64_t largest = 0, gradients = 0, bucket;

  for (size_t i = 0; i < units->n_values; i++)
    if (plan->graph->values[i].role == QM_ROLE_PARAMETER
        && plan->graph->values[i].room > largest)
      largest = plan->graph->values[i].room + QM_SLAB_ALIGNMENT;
  for (size_t i = 0; i < units->n_sent; i++)
    gradients += units->list[i].end - units->list[i].begin;
  CHECK_INT (gradients, qm_sharding_gradients (sharding) ? plan->slab : 0);
  CHECK ((units->n_fetched > 0) == qm_sharding_weights (sharding));
  if (!zero)
    return;
  bucket = units->n_fetched > 0 ? QM_BUCKET_WEIGHTS : QM_BUCKET_GRADIENTS;
  CHECK (largest_unit (units->list, units->n)
         <= (largest > bucket ? largest : bucket));
}

/* Each stage has less on the device than the one before it, but for what is in
 * transfer: two buckets of gradients and three units of weights at most. */
static void
test_offload (const QmModel *model, unsigned methods, bool checkpoint)
{
  QmPlanOptions options = { .target = hopper,
                            .micro_batch = 1,
                            .methods = methods,
                            .checkpoint = checkpoint };
  QmPlan *plans[QM_N_SHARDINGS];
  uint64_t size = model->recipe.precision == QM_PRECISION_FP32 ? 4 : 2;

  for (int i = 0; i < QM_N_SHARDINGS; i++)
    {
      const QmMemory *memory, *plain;
      uint64_t slab, moving;

      options.sharding = (QmSharding) i;
      options.offload = i != QM_SHARDING_NONE;
      CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options,
                              &plans[i], NULL),
                 QM_OK);
      if (plans[i] == NULL)
        return;
      if (i == QM_SHARDING_NONE)
        continue;
      memory = &plans[i]->memory;
      plain = &plans[0]->memory;
      slab = (uint64_t) plans[i]->slab;
      check_host (plans[i]);
      check_units (plans[i]);
      CHECK_INT (memory->gradients, i == QM_SHARDING_ZERO_1 ? 4 * slab : 0);
      CHECK_INT (memory->weights,
                 plans[i]->resident_bytes
                     + (qm_sharding_weights ((QmSharding) i) ? 0
                                                             : slab * size));
      CHECK (plans[i]->resident_bytes <= slab * size / 10);
      moving =
          (uint64_t) largest_unit (plans[i]->units.list, plans[i]->units.n_sent)
              * (2 * size + 4)
          + (uint64_t) largest_unit (plans[i]->units.list,
                                     plans[i]->units.n_fetched)
                * 4 * size;
      CHECK (memory->activations >= plain->activations);
      CHECK (memory->activations <= plain->activations + moving + moving / 20);
      /* What is left is little: gradients go straight to where they are sent
         from.  Of two towers, buckets are of both. */
      CHECK ((double) memory->activations
             <= (is_of_pairs (model) ? 1.28 : 1.22) * (double) memory->live);
      CHECK (memory->total < plain->total);
      test_no_overlap (plans[i]);
    }
  for (int i = 0; i < QM_N_SHARDINGS; i++)
    qm_plan_free (plans[i]);
}

/* Of every parameter, what ranks have is all of it, each element once, and in
 * each rank in the order of the slab. */
static void
check_pieces (const QmPlan *plan)
{
  const QmUnits *units = &plan->units;

  for (size_t i = 0; i < units->n_values; i++)
    {
      const QmValue *value = &plan->graph->values[i];
      int64_t next = units->place[i], end = next + value->room;

      if (value->role != QM_ROLE_PARAMETER || value->owner != (QmValueId) i)
        continue;
      for (int part = 0; part < plan->parts; part++)
        {
          QmPiece piece = qm_units_piece (units, units->of[i], plan->parts,
                                          part, next, end);

          CHECK (piece.n == 0 || piece.whole == next);
          CHECK (piece.own >= 0 && piece.own + piece.n <= plan->own);
          next += piece.n;
        }
      CHECK_INT (next, end);
    }
}

/* Ranks share what the way of sharding says, to an element, and the rounding up
 * to as many parts of each unit costs next to nothing. */
static void
check_shared (const QmPlan *plan, const QmPlan *alone)
{
  const QmMemory *memory = &plan->memory;
  const QmPlanOptions *options = &plan->options;
  QmSharding sharding = options->sharding;
  uint64_t slab = (uint64_t) plan->slab, own = (uint64_t) plan->own;
  uint64_t size = plan->type == QM_TYPE_F32 ? 4 : 2;
  bool offload = options->offload;

  CHECK (plan->slab >= alone->slab);
  CHECK (plan->slab <= alone->slab + alone->slab / 500);
  CHECK_INT (plan->own * (sharding != QM_SHARDING_NONE ? options->ranks : 1),
             plan->slab);
  for (size_t i = 0; i < plan->units.n; i++)
    CHECK_INT ((plan->units.list[i].end - plan->units.list[i].begin)
                   % (QM_SLAB_ALIGNMENT * options->ranks),
               0);
  CHECK_INT (memory->optimizer, offload ? 0 : 8 * own);
  CHECK_INT (memory->master, offload || size == 4 ? 0 : 4 * own);
  CHECK_INT (memory->gradients, !qm_sharding_gradients (sharding) ? 4 * slab
                                : offload                         ? 0
                                                                  : 4 * own);
  CHECK_INT (memory->weights,
             plan->resident_bytes
                 + (!qm_sharding_weights (sharding) ? size * slab
                    : offload                       ? 0
                                                    : size * own));
  CHECK_INT (plan->host.states, offload ? pages (4 * own) : 0);
  CHECK_INT (plan->accumulation,
             (plan->recipe.batch_size + options->ranks - 1) / options->ranks);
}

static void
test_ranks (const QmModel *model)
{
  static const int counts[] = { 2, 3, 4, 8 };

  for (int i = 0; i < 2 * QM_N_SHARDINGS * 4; i++)
    {
      QmPlanOptions options = { .target = hopper,
                                .micro_batch = 1,
                                .methods = QM_METHOD_ALL,
                                .ranks = counts[i % 4],
                                .sharding = (QmSharding) (i / 4 % 6),
                                .offload = i / 24 == 1 };
      QmPlanOptions one = options;
      QmPlan *plan, *alone;

      if (options.offload && options.sharding == QM_SHARDING_NONE)
        continue;
      options.rank = options.ranks - 1;
      one.ranks = 1;
      CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                              NULL),
                 QM_OK);
      CHECK_INT (qm_plan_new (&model->config, &model->recipe, &one, &alone,
                              NULL),
                 QM_OK);
      if (plan != NULL && alone != NULL)
        {
          check_pieces (plan);
          check_shared (plan, alone);
        }
      qm_plan_free (plan);
      qm_plan_free (alone);
    }
}

/* With ZeRO 3, weights of fewer elements than the threshold stay on the device,
 * and those of as many leave.  The bucket of tests is a threshold as well. */
static void
test_threshold (const QmModel *model)
{
  QmPlanOptions options = { .target = hopper,
                            .micro_batch = 1,
                            .sharding = QM_SHARDING_ZERO_3,
                            .offload = true,
                            .bucket = 3 * model->config.gpt_neox.hidden_size };
  QmPlan *plan = NULL;
  int64_t fewer = 0, as_many = 0;

  check_case ("threshold");
  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          NULL),
             QM_OK);
  if (plan == NULL)
    return;
  for (size_t i = 0; i < plan->units.n_values; i++)
    {
      const QmValue *value = &plan->graph->values[i];
      bool leaves = qm_units_fetched (&plan->units, plan->graph, (QmValueId) i)
                    != QM_NO_UNIT;

      if (value->role != QM_ROLE_PARAMETER || value->owner != (QmValueId) i)
        continue;
      CHECK (leaves
             == (value->tensor.type == plan->type
                 && value->room >= options.bucket));
      fewer += value->room < options.bucket;
      as_many +=
          value->tensor.type == plan->type && value->room == options.bucket;
    }
  CHECK (fewer > 0 && as_many > 0);
  qm_plan_free (plan);
}

/* RoBERTa's head has a GELU, whatever its layers have; BERT's has what they
 * have. */
static void
test_head (const char *family, QmFunction wanted)
{
  char text[400];
  const QmRecipe recipe = { .batch_size = 1,
                            .steps = 1,
                            .sequence_length = 8,
                            .precision = QM_PRECISION_FP32 };
  QmPlanOptions options = { .target = hopper, .micro_batch = 1 };
  QmFunction found[8] = { QM_FUNCTION_NONE };
  QmModelConfig config;
  QmPlan *plan = NULL;
  size_t n = 0;

  check_case (family);
  snprintf (text, sizeof text,
            "{\"model_type\":\"%s\",\"hidden_size\":16,"
            "\"num_hidden_layers\":2,\"num_attention_heads\":2,"
            "\"intermediate_size\":32,\"vocab_size\":60,"
            "\"hidden_act\":\"relu\"}",
            family);
  CHECK_INT (qm_model_config_parse (text, strlen (text), "", &config, NULL),
             QM_OK);
  CHECK_INT (qm_plan_new (&config, &recipe, &options, &plan, NULL), QM_OK);
  if (plan == NULL)
    return;
  for (size_t i = 0; i < plan->graph->n_nodes && n < 8; i++)
    if (plan->graph->nodes[i].op == QM_OP_ACTIVATION)
      found[n++] = plan->graph->nodes[i].attributes.activation;
  CHECK_INT ((int64_t) n, 3);
  CHECK_INT (found[0], QM_FUNCTION_RELU);
  CHECK_INT (found[1], QM_FUNCTION_RELU);
  CHECK_INT (found[2], wanted);
  qm_plan_free (plan);
}

/* Mamba-2 takes a product's columns from the middle, from its end and from its
 * beginning, and their gradients are written side by side: nothing is filled
 * but the gradients of parameters, all at once, and nothing is added up.  What
 * is gated is not written before its norm. */
static void
test_parts (const QmModel *model)
{
  const QmPlanOptions options = { .target = hopper,
                                  .methods = QM_METHOD_ALL,
                                  .micro_batch = 1 };
  QmPlan *plan = NULL;
  int fills = 0, sums = 0, norms = 0, gates = 0;

  check_case ("parts of a value");
  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          NULL),
             QM_OK);
  for (size_t i = 0; plan != NULL && i < plan->graph->n_nodes; i++)
    {
      QmOp op = plan->graph->nodes[i].op;

      fills += op == QM_OP_FILL;
      sums += op == QM_OP_ADD;
      norms += op == QM_OP_GATED_NORM;
      gates += op == QM_OP_GATE || op == QM_OP_GATE_BACKWARD;
    }
  CHECK_INT (fills, 1);
  CHECK_INT (sums, 0);
  CHECK_INT (norms, model->config.mamba2.layers);
  CHECK_INT (gates, 0);
  qm_plan_free (plan);
}

/* What is short is told in GiB. */
static void
test_report (void)
{
  const QmShortage device = { false, UINT64_C (3) << 30, UINT64_C (5) << 29 };
  const QmShortage host = { true, UINT64_C (100) << 30, UINT64_C (64) << 30 };
  QmError error = { 0 };

  check_case ("report");
  CHECK_INT (qm_shortage_report (&device, 4, &error), QM_STATUS_DEVICE_FULL);
  CHECK_STRING (error.message,
                "a micro-batch of 4 needs 3.0 GiB, and there are 2.5 GiB");
  CHECK_INT (qm_shortage_report (&host, 4, &error), QM_STATUS_DEVICE_FULL);
  CHECK_STRING (error.message,
                "offloading needs 100.0 GiB of the host's memory, and there "
                "are 64.0 GiB: 36.0 GiB short");
}

/* A host that has too little is told apart from a device. */
static void
test_short_host (const QmModel *model)
{
  QmPlanOptions options = { .target = hopper,
                            .micro_batch = 1,
                            .methods = QM_METHOD_ALL,
                            .sharding = QM_SHARDING_ZERO_3,
                            .offload = true };
  QmPlan *plan = NULL, *none = NULL;
  QmShortage shortage;
  QmError error = { 0 };

  CHECK_INT (qm_plan_new (&model->config, &model->recipe, &options, &plan,
                          NULL),
             QM_OK);
  if (plan == NULL)
    return;
  CHECK (!qm_plan_is_short (plan, plan->memory.total, &shortage));
  CHECK (qm_plan_is_short (plan, plan->memory.total - 1, &shortage));
  CHECK (!shortage.host);
  options.host_bytes = plan->memory.host - 1;
  CHECK_INT (qm_plan_largest (&model->config, &model->recipe, &options,
                              UINT64_MAX, &none, &error),
             QM_STATUS_DEVICE_FULL);
  CHECK_CONTAINS (error.message, "host");
  CHECK (none == NULL);
  plan->options.host_bytes = options.host_bytes;
  CHECK (qm_plan_is_short (plan, UINT64_MAX, &shortage));
  CHECK (shortage.host);
  CHECK_INT (shortage.needs, plan->memory.host);
  CHECK_INT (shortage.available, options.host_bytes);
  /* A CPU has both in the same memory, but a limit is a limit. */
  plan->options.target.kind = QM_DEVICE_CPU;
  CHECK (qm_plan_is_short (plan, UINT64_MAX, &shortage));
  CHECK (shortage.host);
  plan->options.host_bytes = 0;
  CHECK (qm_plan_is_short (plan, plan->memory.total, &shortage));
  CHECK (!shortage.host);
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
  /* The last pass of a step may have samples left over. */
  CHECK_INT (plan->accumulation,
             (model->recipe.batch_size + plan->options.micro_batch - 1)
                 / plan->options.micro_batch);
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
  bool offloads = qm_plan_takes (&model->config, &model->recipe,
                                 QM_SHARDING_ZERO_1, true, 1);
  char name[96];

  for (unsigned methods = 0; methods <= QM_METHOD_ALL; methods++)
    {
      snprintf (name, sizeof name, "%s, methods %u", model->id, methods);
      check_case (name);
      test_counts (model, methods);
      if (methods == 0 || methods == QM_METHOD_ALL)
        test_memory (model, methods);
    }
  for (int i = 0; i < 4 && offloads; i++)
    {
      snprintf (name, sizeof name, "%s, offloading %d", model->id, i);
      check_case (name);
      test_offload (model, i % 2 == 0 ? QM_METHOD_ALL : 0, i >= 2);
    }
  if (offloads)
    test_short_host (model);
  test_largest (model, 24);
  test_largest (model, 80);
  test_refused (model);
}

/* The last pass of a step may be smaller than the others. */
static void
test_accumulation (const QmModel *model)
{
  static const int64_t cases[][3] = { { 1, 1, 1 }, { 7, 2, 4 },  { 8, 8, 1 },
                                      { 9, 8, 2 }, { 15, 8, 2 }, { 16, 8, 2 },
                                      { 17, 8, 3 } };

  check_case ("accumulation");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      QmRecipe recipe = model->recipe;
      QmPlanOptions options = { .target = { QM_DEVICE_CPU, 0 },
                                .micro_batch = cases[i][1],
                                .methods = QM_METHOD_ALL };
      QmPlan *plan = NULL;

      recipe.batch_size = cases[i][0];
      CHECK_INT (qm_plan_new (&model->config, &recipe, &options, &plan, NULL),
                 QM_OK);
      if (plan != NULL)
        CHECK_INT (plan->accumulation, cases[i][2]);
      qm_plan_free (plan);
    }
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
  test_threshold (qm_catalog_model (catalog, "pythia-160m"));
  test_head ("bert", QM_FUNCTION_RELU);
  test_head ("roberta", QM_FUNCTION_GELU);
  test_report ();
  test_parts (qm_catalog_model (catalog, "mamba2-1.3b"));
  for (size_t i = 0; i < n; i++)
    test_model (&models[i]);
  check_case ("ranks");
  test_ranks (qm_catalog_model (catalog, "pythia-160m"));
  test_ranks (qm_catalog_model (catalog, "vit-large"));
  test_accumulation (&models[0]);
  test_methods ();
  qm_catalog_free (catalog);
  return check_report ();
}
