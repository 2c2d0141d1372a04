/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/plan.h"

#include "data/flops.h"
#include "engine/differentiate.h"
#include "engine/family.h"
#include "engine/passes.h"
#include "engine/plan-bases.h"
#include "kernels/communicator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct
{
  const char *name;
  unsigned method;
} method_names[] = {
  { "compile", QM_METHOD_COMPILE },
  { "kernels", QM_METHOD_KERNELS },
  { "tf32", QM_METHOD_TF32 },
};

#define N_METHODS (sizeof method_names / sizeof method_names[0])

bool
qm_methods_parse (const char *text, unsigned *methods)
{
  unsigned found = 0;

  if (strcmp (text, "naive") == 0)
    return *methods = 0, true;
  if (strcmp (text, "free-lunch") == 0)
    return *methods = QM_METHOD_ALL, true;
  for (;;)
    {
      size_t length = strcspn (text, "+"), i;

      for (i = 0; i < N_METHODS; i++)
        if (strlen (method_names[i].name) == length
            && strncmp (text, method_names[i].name, length) == 0)
          break;
      if (i == N_METHODS)
        return false;
      found |= method_names[i].method;
      if (text[length] == '\0')
        break;
      text += length + 1;
    }
  *methods = found;
  return true;
}

void
qm_methods_format (unsigned methods, char *text, size_t size)
{
  size_t used = 0;

  if (size == 0)
    return;
  if (methods == 0 || methods == QM_METHOD_ALL)
    {
      snprintf (text, size, "%s", methods == 0 ? "naive" : "free-lunch");
      return;
    }
  text[0] = '\0';
  for (size_t i = 0; i < N_METHODS; i++)
    if ((methods & method_names[i].method) != 0 && used < size)
      used += (size_t) snprintf (text + used, size - used, "%s%s",
                                 used > 0 ? "+" : "", method_names[i].name);
}

static const char *const sharding_names[QM_N_SHARDINGS] = {
  [QM_SHARDING_NONE] = "none",     [QM_SHARDING_ZERO_1] = "zero_1",
  [QM_SHARDING_ZERO_2] = "zero_2", [QM_SHARDING_ZERO_3] = "zero_3",
  [QM_SHARDING_FSDP_2] = "fsdp_2", [QM_SHARDING_FSDP_3] = "fsdp_3",
};

const char *
qm_sharding_name (QmSharding sharding)
{
  return sharding_names[sharding];
}

bool
qm_sharding_parse (const char *text, QmSharding *sharding)
{
  for (int i = 0; i < QM_N_SHARDINGS; i++)
    if (strcmp (text, sharding_names[i]) == 0)
      return *sharding = (QmSharding) i, true;
  return false;
}

static QmType
product_type (QmPrecision precision)
{
  switch (precision)
    {
    case QM_PRECISION_FP16:
      return QM_TYPE_F16;
    case QM_PRECISION_BF16:
    case QM_PRECISION_FP8:
      return QM_TYPE_BF16;
    case QM_PRECISION_FP32:
      break;
    }
  return QM_TYPE_F32;
}

static QmStatus
build_model (QmPlan *plan, QmError *error)
{
  const QmBuildOptions build = {
    .micro_batch = plan->options.micro_batch,
    .accumulation = plan->accumulation * plan->options.ranks,
    .ranks = plan->options.ranks,
    .rank = plan->options.rank,
    .type = plan->type,
    .residual = plan->options.narrow ? plan->type : QM_TYPE_F32,
    .vocab_multiple = (plan->options.methods & QM_METHOD_COMPILE) != 0 ? 64 : 1,
    .dropout = !plan->options.no_dropout,
    .z_loss = plan->recipe.z_loss,
  };

  return qm_build_model (&plan->config, &plan->recipe, &build, &plan->graph,
                         error);
}

static bool
wants_kernels (const QmPlanOptions *options)
{
  return (options->methods & QM_METHOD_KERNELS) != 0;
}

static bool
wants_compile (const QmPlanOptions *options)
{
  return (options->methods & QM_METHOD_COMPILE) != 0;
}

static bool
wants_tf32 (const QmPlanOptions *options)
{
  return (options->methods & QM_METHOD_TF32) != 0
         && qm_target_multiplies (&options->target, QM_TYPE_F32, true);
}

static bool
wants_checkpoint (const QmPlanOptions *options)
{
  return options->checkpoint;
}

/* Other software's compilers leave products and attention to libraries, and
 * gates and rotary positions to kernels of their own. */
static bool
wants_own_ends (const QmPlanOptions *options)
{
  return wants_compile (options) && !options->foreign;
}

static bool
wants_deterministic (const QmPlanOptions *options)
{
  return options->deterministic;
}

static QmStatus
differentiate (QmGraph *graph, QmError *error)
{
  return qm_graph_differentiate (graph, QM_NO_VALUE, QM_NO_VALUE, error);
}

/* Random numbers go on from pass to pass; ranks take turns, as one that did all
 * of their passes would. */
static QmStatus
advance (QmPlan *plan, QmError *error)
{
  QmGraph *graph = plan->graph;
  QmNode *node = qm_graph_append (graph, QM_OP_ADVANCE);

  node->attributes.count = plan->options.ranks;
  node->inputs[0] = graph->rng;
  node->outputs[0] = graph->rng;
  return qm_graph_status (graph, error);
}

static bool
wants_loss (const QmPlanOptions *options)
{
  return wants_kernels (options) || options->loss_rows > 0;
}

static QmStatus
cut_loss (QmPlan *plan, QmError *error)
{
  return qm_pass_loss (plan->graph, plan->options.loss_rows, error);
}

/* Asked for by the recipe, and not by an option. */
static QmStatus
quantize (QmPlan *plan, QmError *error)
{
  return qm_pass_fp8 (plan->graph, &plan->recipe.fp8, error);
}

static bool
wants_reduce (const QmPlanOptions *options)
{
  return options->ranks > 1 && !qm_sharding_gradients (options->sharding);
}

/* From a model to its training, in this order; without `when` always. */
static const struct
{
  const char *name;
  bool (*when) (const QmPlanOptions *options);
  QmStatus (*run) (QmGraph *graph,
                   QmError *error); /* or, where it needs more: */
  QmStatus (*run_on) (QmPlan *plan, QmError *error);
} passes[] = {
  { "attention", wants_kernels, qm_pass_attention, NULL },
  { "scan", wants_kernels, qm_pass_scan, NULL },
  { "fuse-forward", wants_compile, qm_pass_fuse_forward, NULL },
  { "differentiate", NULL, differentiate, NULL },
  { "fuse-backward", wants_compile, qm_pass_fuse_backward, NULL },
  { "loss", wants_loss, NULL, cut_loss },
  { "fp8", NULL, NULL, quantize },
  { "tf32", wants_tf32, qm_pass_tf32, NULL },
  { "checkpoint", wants_checkpoint, qm_pass_checkpoint, NULL },
  { "gates", wants_own_ends, qm_pass_gates, NULL },
  { "rotary", wants_own_ends, qm_pass_rotary, NULL },
  { "turn", wants_own_ends, qm_pass_turn, NULL },
  { "units", NULL, NULL, qm_plan_units },
  { "reduce", wants_reduce, NULL, qm_plan_reduce },
  { "advance", NULL, NULL, advance },
  { "update", NULL, NULL, qm_plan_update },
  { "deterministic", wants_deterministic, qm_pass_deterministic, NULL },
};

#define N_PASSES (sizeof passes / sizeof passes[0])
_Static_assert(N_PASSES == QM_PLAN_PASSES, "as the header says");

static bool
is_wanted (const QmRecipe *recipe, const QmPlanOptions *options, size_t pass)
{
  if (passes[pass].run_on == quantize)
    return recipe->precision == QM_PRECISION_FP8;
  return passes[pass].when == NULL || passes[pass].when (options);
}

size_t
qm_plan_passes (const QmRecipe *recipe,
                const QmPlanOptions *options,
                const char *names[QM_PLAN_PASSES])
{
  size_t n = 0;

  for (size_t i = 0; i < N_PASSES; i++)
    if (is_wanted (recipe, options, i))
      names[n++] = passes[i].name;
  return n;
}

/* The first pass that ranks and places of states matter to. */
static size_t
first_apart (void)
{
  size_t i = 0;

  while (passes[i].run_on != qm_plan_units)
    i++;
  return i;
}

/* Does so many of the passes, or takes the first ones from what was planned
 * before. */
static QmStatus
build_graph (QmPlan *plan, size_t n, QmPlanBases *bases, QmError *error)
{
  int64_t all = plan->accumulation * plan->options.ranks;
  size_t apart = first_apart (), first = 0;
  QmStatus status = QM_OK;

  if (bases != NULL)
    plan->graph = qm_plan_bases_find (bases, &plan->options, all);
  if (plan->graph == NULL)
    status = build_model (plan, error);
  else
    first = apart;
  for (size_t i = first; i < N_PASSES && n > 0 && status == QM_OK; i++)
    {
      if (i == apart && first == 0 && bases != NULL)
        qm_plan_bases_keep (bases, &plan->options, all, plan->graph);
      if (!is_wanted (&plan->recipe, &plan->options, i))
        continue;
      status = passes[i].run != NULL ? passes[i].run (plan->graph, error)
                                     : passes[i].run_on (plan, error);
      n--;
    }
  return status == QM_OK ? qm_plan_bases_check (bases, plan, error) : status;
}

static int64_t
round_up (int64_t value, int64_t multiple)
{
  return (value + multiple - 1) / multiple * multiple;
}

/* What is no parameter, gradient or temporary; in *moments, bytes of those. */
static uint64_t
place_others (QmPlan *plan, uint64_t *moments)
{
  const QmGraph *graph = plan->graph;
  int64_t next = 0, moment = 0;

  for (size_t i = 0; i < graph->n_values; i++)
    {
      const QmValue *value = &graph->values[i];
      int64_t bytes = value->room * (int64_t) qm_type_size (value->tensor.type);

      if (value->owner != (QmValueId) i)
        continue;
      if (value->role == QM_ROLE_INPUT || value->role == QM_ROLE_CONSTANT
          || value->role == QM_ROLE_STATE)
        {
          plan->place[i] = next;
          next += round_up (bytes, QM_MEMORY_ALIGNMENT);
        }
      else if (value->role == QM_ROLE_MOMENT)
        {
          plan->place[i] = moment;
          moment += bytes;
        }
    }
  *moments = (uint64_t) moment;
  return (uint64_t) next;
}

/* On any of these targets: calls are large, and few of them need any. */
static bool
has_workspace (const QmTarget *targets, size_t n, QmOp op)
{
  for (size_t t = 0; t < n; t++)
    if (qm_op_has_workspace (&targets[t], op))
      return true;
  return false;
}

/* Of each target. */
static void
largest_workspaces (const QmPlan *plan,
                    const QmTarget *targets,
                    size_t n,
                    QmMemory *memories)
{
  QmOpCall call;

  for (size_t t = 0; t < n; t++)
    memories[t].workspace = 0;
  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    {
      if (!has_workspace (targets, n, plan->graph->nodes[i].op))
        continue;
      qm_graph_call (plan->graph, &plan->graph->nodes[i], &call);
      for (size_t t = 0; t < n; t++)
        {
          size_t bytes = qm_op_workspace (&targets[t], &call);

          if (bytes > memories[t].workspace)
            memories[t].workspace = bytes;
        }
    }
}

/* What the driver, and the exchange with other ranks, take for themselves. */
static uint64_t
reserve (const QmPlan *plan, const QmTarget *target)
{
  return qm_target_reserved (target)
         + qm_communicator_reserved (target, plan->options.ranks);
}

bool
qm_plan_has_last (const QmPlan *plan)
{
  return wants_reduce (&plan->options);
}

static QmStatus
plan_memory (QmPlan *plan, QmError *error)
{
  QmMemory *memory = &plan->memory;
  uint64_t slab;
  QmStatus status;

  plan->place = calloc (plan->graph->n_values + 1, sizeof *plan->place);
  if (plan->place == NULL)
    return qm_error_no_memory (error);
  memcpy (plan->place, plan->units.place,
          plan->units.n_values * sizeof *plan->place);
  slab = (uint64_t) plan->slab;
  memory->weights = slab * qm_type_size (plan->type);
  memory->master = plan->type != QM_TYPE_F32 ? slab * 4 : 0;
  memory->gradients = slab * 4;
  memory->other = place_others (plan, &memory->optimizer);
  largest_workspaces (plan, &plan->options.target, 1, memory);
  memory->reserved = reserve (plan, &plan->options.target);
  qm_plan_sharded (plan);
  qm_plan_offload (plan);
  status = qm_memory_arena (plan->graph, plan->place, &memory->activations,
                            &memory->live, error);
  if (status == QM_OK && plan->units.n_cut < plan->units.n_moving)
    status = qm_plan_muon (plan, error);
  memory->total = memory->weights + memory->master + memory->gradients
                  + memory->optimizer + memory->activations + memory->other
                  + memory->workspace + memory->reserved;
  return status;
}

/* Whether a target has kernels for all calls. */
static QmStatus
has_kernels (const QmPlan *plan, const QmTarget *target, QmError *error)
{
  QmStatus status = QM_OK;
  QmOpCall call;

  for (size_t i = 0; i < plan->graph->n_nodes && status == QM_OK; i++)
    {
      if (!qm_op_has_limits (target, plan->graph->nodes[i].op))
        continue;
      qm_graph_call (plan->graph, &plan->graph->nodes[i], &call);
      status = qm_target_takes (target, &call, error);
    }
  return status;
}

void
qm_plan_memories (const QmPlan *plan,
                  const QmTarget *targets,
                  size_t n,
                  QmMemory *memories)
{
  uint64_t other =
      plan->memory.total - plan->memory.workspace - plan->memory.reserved;

  for (size_t i = 0; i < n; i++)
    memories[i] = plan->memory;
  largest_workspaces (plan, targets, n, memories);
  for (size_t i = 0; i < n; i++)
    {
      memories[i].reserved = reserve (plan, &targets[i]);
      memories[i].total =
          plan->options.foreign
                  || has_kernels (plan, &targets[i], NULL) == QM_OK
              ? other + memories[i].workspace + memories[i].reserved
              : UINT64_MAX;
    }
}

/* A plan whose graph went through so many passes, and that has no places yet.
 */
static QmStatus
begin_plan (const QmModelConfig *config,
            const QmRecipe *recipe,
            const QmPlanOptions *options,
            size_t n_passes,
            QmPlanBases *bases,
            QmPlan **plan,
            QmError *error)
{
  int ranks = options->ranks > 0 ? options->ranks : 1;
  QmPlan *new;
  QmStatus status;

  *plan = NULL;
  if (options->micro_batch < 1 || options->micro_batch > recipe->batch_size)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "a micro-batch of %lld is not between 1 and the "
                         "batch size, %lld",
                         (long long) options->micro_batch,
                         (long long) recipe->batch_size);
  if (!qm_target_multiplies (&options->target, product_type (recipe->precision),
                             false))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "a GPU of compute capability %d.%d has no bf16; "
                         "fp16 and fp32 can be trained on it",
                         options->target.architecture / 10,
                         options->target.architecture % 10);
  if (recipe->precision == QM_PRECISION_FP8
      && !qm_target_multiplies (&options->target, QM_TYPE_E4M3, false))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "a GPU of compute capability %d.%d has no FP8, which "
                         "began with 8.9",
                         options->target.architecture / 10,
                         options->target.architecture % 10);
  if (options->offload && options->sharding == QM_SHARDING_NONE)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "offloading needs a variant of sharding");
  status = qm_plan_check (config, recipe, options, error);
  if (status != QM_OK)
    return status;
  if (options->rank < 0 || options->rank >= ranks
      || options->micro_batch > recipe->batch_size / ranks)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "a micro-batch of %lld on each of %d devices is more "
                         "than the batch size, %lld",
                         (long long) options->micro_batch, ranks,
                         (long long) recipe->batch_size);
  new = calloc (1, sizeof *new);
  if (new == NULL)
    return qm_error_no_memory (error);
  new->config = *config;
  new->recipe = *recipe;
  new->options = *options;
  new->options.ranks = ranks;
  new->type = product_type (recipe->precision);
  new->parts = options->sharding != QM_SHARDING_NONE ? ranks : 1;
  new->part = new->parts > 1 ? options->rank : 0;
  new->accumulation = (recipe->batch_size + options->micro_batch * ranks - 1)
                      / (options->micro_batch * ranks);
  status = build_graph (new, n_passes, bases, error);
  if (status == QM_OK)
    *plan = new;
  else
    qm_plan_free (new);
  return status;
}

QmStatus
qm_plan_new (const QmModelConfig *config,
             const QmRecipe *recipe,
             const QmPlanOptions *options,
             QmPlan **plan,
             QmError *error)
{
  QmStatus status =
      qm_plan_new_from (NULL, config, recipe, options, plan, error);

  if (status == QM_OK && !options->foreign)
    status = has_kernels (*plan, &options->target, error);
  if (status != QM_OK)
    {
      qm_plan_free (*plan);
      *plan = NULL;
    }
  return status;
}

QmStatus
qm_plan_new_from (QmPlanBases *bases,
                  const QmModelConfig *config,
                  const QmRecipe *recipe,
                  const QmPlanOptions *options,
                  QmPlan **plan,
                  QmError *error)
{
  QmStatus status =
      begin_plan (config, recipe, options, N_PASSES, bases, plan, error);

  if (status == QM_OK)
    status = plan_memory (*plan, error);
  if (status != QM_OK)
    {
      qm_plan_free (*plan);
      *plan = NULL;
    }
  return status;
}

QmStatus
qm_plan_after (const QmModelConfig *config,
               const QmRecipe *recipe,
               const QmPlanOptions *options,
               const char *pass,
               QmPlan **plan,
               QmError *error)
{
  const char *names[QM_PLAN_PASSES];
  size_t n = qm_plan_passes (recipe, options, names), i = 0;

  *plan = NULL;
  if (strcmp (pass, QM_PLAN_NO_PASS) != 0)
    {
      while (i < n && strcmp (names[i], pass) != 0)
        i++;
      if (i++ == n)
        return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                             "no pass '%.32s' is done with these settings",
                             pass);
    }
  return begin_plan (config, recipe, options, i, NULL, plan, error);
}

void
qm_plan_free (QmPlan *plan)
{
  if (plan == NULL)
    return;
  qm_graph_free (plan->graph);
  free (plan->place);
  free (plan->resident);
  free (plan->host_parts);
  qm_units_clear (&plan->units);
  free (plan);
}

QmStatus
qm_plan_largest (const QmModelConfig *config,
                 const QmRecipe *recipe,
                 const QmPlanOptions *options,
                 uint64_t bytes,
                 QmPlan **plan,
                 QmError *error)
{
  QmPlanOptions tried = *options;
  int low = -1, high = 0;
  QmShortage shortage;

  *plan = NULL;
  while (INT64_C (2) << high
         <= recipe->batch_size / (options->ranks > 0 ? options->ranks : 1))
    high++;
  while (low < high)
    {
      int middle = low + (high - low + 1) / 2;
      QmPlan *candidate;
      QmStatus status;

      tried.micro_batch = INT64_C (1) << middle;
      status = qm_plan_new (config, recipe, &tried, &candidate, error);
      if (status == QM_STATUS_UNSUPPORTED && middle > 0)
        {
          /* One of its tensors is larger than any memory. */
          high = middle - 1;
          continue;
        }
      if (status != QM_OK)
        {
          qm_plan_free (*plan);
          *plan = NULL;
          return status;
        }
      if (!qm_plan_is_short (candidate, bytes, &shortage))
        {
          qm_plan_free (*plan);
          *plan = candidate;
          low = middle;
          continue;
        }
      if (middle == 0)
        qm_shortage_report (&shortage, 1, error);
      qm_plan_free (candidate);
      high = middle - 1;
    }
  return *plan != NULL ? QM_OK : QM_STATUS_DEVICE_FULL;
}

/* Byte of the region of weights that stay. */
static int64_t
resident_byte (const QmPlan *plan, QmValueId owner)
{
  if (plan->resident == NULL)
    return QM_NOT_RESIDENT;
  if ((size_t) owner < plan->units.n_values)
    return plan->resident[owner];
  for (int i = 0; i < QM_MAX_RESIDENT; i++)
    if (plan->stays[i].all == owner)
      return (int64_t) plan->stays[i].begin;
  return QM_NOT_RESIDENT;
}

/* Of a parameter: NULL where no device has the whole of it by itself. */
static char *
parameter_address (const QmPlan *plan,
                   const QmRegions *regions,
                   const QmValue *value)
{
  int64_t size = (int64_t) qm_type_size (value->tensor.type);
  int64_t place = (plan->place[value->owner] + value->offset) * size;
  int64_t byte = resident_byte (plan, value->owner);
  char *region =
      value->tensor.type == plan->type ? regions->weights : regions->master;

  if (byte != QM_NOT_RESIDENT)
    return regions->resident != NULL
               ? regions->resident + byte + value->offset * size
               : NULL;
  if (region == NULL || qm_plan_is_fetched (plan, value->owner))
    return NULL;
  return region + place;
}

/* Of the sum of a gradient, the same. */
static char *
gradient_address (const QmPlan *plan,
                  const QmRegions *regions,
                  const QmValue *value)
{
  if (regions->gradients == NULL
      || qm_units_sent (&plan->units, plan->graph, value->owner) != QM_NO_UNIT)
    return NULL;
  return regions->gradients + (plan->place[value->owner] + value->offset) * 4;
}

void *
qm_plan_address (const QmPlan *plan, const QmRegions *regions, QmValueId id)
{
  const QmValue *value = &plan->graph->values[id];
  size_t size = qm_type_size (value->tensor.type);
  int64_t place = plan->place[value->owner];
  char *region = NULL;

  switch (value->role)
    {
    case QM_ROLE_PARAMETER:
      return parameter_address (plan, regions, value);
    case QM_ROLE_GRADIENT:
      return gradient_address (plan, regions, value);
    case QM_ROLE_MOMENT:
      region = regions->moments;
      break;
    case QM_ROLE_TEMPORARY:
      region = regions->arena;
      break;
    case QM_ROLE_TEACHER: /* which moments are made of */
      break;
    case QM_ROLE_INPUT:
    case QM_ROLE_CONSTANT:
    case QM_ROLE_STATE:
      region = regions->other;
      break;
    }
  if (region == NULL)
    return NULL;
  return region + place + value->offset * (int64_t) size;
}

void
qm_plan_call (const QmPlan *plan,
              const QmRegions *regions,
              const QmNode *node,
              QmOpCall *call)
{
  qm_graph_call (plan->graph, node, call);
  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    if (node->inputs[i] != QM_NO_VALUE)
      call->inputs[i].data = qm_plan_address (plan, regions, node->inputs[i]);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    if (node->outputs[i] != QM_NO_VALUE)
      call->outputs[i].data = qm_plan_address (plan, regions, node->outputs[i]);
  call->workspace = regions->workspace;
  call->workspace_bytes = plan->memory.workspace;
}

double
qm_plan_fp8_share (const QmPlan *plan)
{
  double scaled = 0, all = 0;

  for (size_t i = 0; i < plan->graph->n_nodes; i++)
    {
      const QmNode *node = &plan->graph->nodes[i];
      QmOpCall call;
      double flops;

      if (node->phase != QM_PHASE_FORWARD && node->phase != QM_PHASE_BACKWARD)
        continue;
      qm_graph_call (plan->graph, node, &call);
      flops = qm_op_flops (&call);
      all += flops;
      if (node->op == QM_OP_SCALED_LINEAR
          || node->op == QM_OP_SCALED_WEIGHT_GRAD)
        scaled += flops;
    }
  return all > 0 ? scaled / all : 0;
}

int64_t
qm_plan_loss_rows (const QmPlan *plan)
{
  return qm_graph_tensor (plan->graph, plan->graph->logits)->shape[0];
}

int64_t
qm_plan_all_rows (const QmPlan *plan)
{
  return plan->graph->labels != QM_NO_VALUE ? qm_tensor_elements (
             qm_graph_tensor (plan->graph, plan->graph->labels))
                                            : qm_plan_loss_rows (plan);
}

double
qm_plan_pass_flops (const QmPlan *plan)
{
  return qm_flops_train_sample (&plan->config, &plan->recipe)
         * (double) plan->options.micro_batch;
}
