/* SPDX-License-Identifier: Apache-2.0 */

/* The part of a plan that says what is in memory of the host. */

#include "engine/plan.h"

#include <stdlib.h>

/* Of qm_host_memory_new(). */
#define HOST_PAGE (UINT64_C (2) << 20)

/* For the state of training and the sum of squares, which go to and fro. */
#define SMALL_BYTES 256

static uint64_t
round_up (uint64_t bytes, uint64_t multiple)
{
  return (bytes + multiple - 1) / multiple * multiple;
}

static int64_t
least (int64_t elements, int64_t limit)
{
  return limit > 0 && limit < elements ? limit : elements;
}

QmStatus
qm_plan_units (QmPlan *plan, QmError *error)
{
  QmSharding sharding =
      plan->options.offload ? plan->options.sharding : QM_SHARDING_NONE;
  int64_t limit = plan->options.bucket;
  bool blocks =
      sharding == QM_SHARDING_FSDP_2 || sharding == QM_SHARDING_FSDP_3;
  QmUnitRules rules = {
    .gradients = qm_sharding_gradients (sharding),
    .weights = qm_sharding_weights (sharding),
    .blocks = blocks,
    .cut = sharding != QM_SHARDING_NONE,
    .elements = least (qm_sharding_weights (sharding) ? QM_BUCKET_WEIGHTS
                                                      : QM_BUCKET_GRADIENTS,
                       limit),
    .parts = 1,
    .apart = sharding != QM_SHARDING_NONE,
    .threshold =
        sharding == QM_SHARDING_ZERO_3 ? least (QM_BUCKET_THRESHOLD, limit) : 0,
    .type = plan->type,
  };
  QmStatus status = qm_units_find (plan->graph, &rules, &plan->units, error);

  plan->host.chunk =
      (int64_t) round_up ((uint64_t) least (least (QM_HOST_CHUNK, limit),
                                            plan->units.slab),
                          QM_SLAB_ALIGNMENT);
  if (status == QM_OK && rules.gradients)
    status = qm_pass_offload (plan->graph, &plan->units, plan->type, error);
  return status;
}

/* Gives a place to each parameter that is on the device, but not where all
 * weights are. */
static QmStatus
place_resident (QmPlan *plan, QmError *error)
{
  const QmGraph *graph = plan->graph;
  const QmUnits *units = &plan->units;
  bool all = !qm_sharding_weights (plan->options.sharding);
  uint64_t next = 0;

  plan->resident = malloc ((units->n_values + 1) * sizeof *plan->resident);
  if (plan->resident == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  for (size_t i = 0; i < units->n_values; i++)
    {
      const QmValue *value = &graph->values[i];

      plan->resident[i] = -1;
      if (value->role != QM_ROLE_PARAMETER || value->owner != (QmValueId) i
          || (all && value->tensor.type == plan->type)
          || qm_units_fetched (units, graph, (QmValueId) i) != QM_NO_UNIT)
        continue;
      plan->resident[i] = (int64_t) next;
      next +=
          round_up ((uint64_t) value->room * qm_type_size (value->tensor.type),
                    QM_MEMORY_ALIGNMENT);
    }
  plan->resident_bytes = next;
  return QM_OK;
}

static void
size_staging (QmPlan *plan)
{
  QmHostMemory *host = &plan->host;
  uint64_t size = qm_type_size (plan->type), chunk;
  bool weights = qm_sharding_weights (plan->options.sharding);

  chunk = (uint64_t) host->chunk;
  host->gradient_slot =
      chunk * (qm_sharding_gradients (plan->options.sharding) ? size : 4);
  host->weight_slot = weights ? 0 : chunk * size;
  host->weight_slots = QM_HOST_SLOTS * host->gradient_slot;
  host->resident = host->weight_slots + QM_HOST_SLOTS * host->weight_slot;
  host->staging =
      round_up (host->resident + plan->resident_bytes + SMALL_BYTES, HOST_PAGE);
}

QmStatus
qm_plan_offload (QmPlan *plan, QmError *error)
{
  QmSharding sharding = plan->options.sharding;
  uint64_t slab = (uint64_t) plan->slab, size = qm_type_size (plan->type);
  QmHostMemory *host = &plan->host;
  QmMemory *memory = &plan->memory;
  QmStatus status;

  if (!plan->options.offload)
    return QM_OK;
  status = place_resident (plan, error);
  if (status != QM_OK)
    return status;
  host->states = round_up (slab * 4, HOST_PAGE);
  if (qm_sharding_gradients (sharding))
    {
      host->gradients = round_up (slab * 4, HOST_PAGE);
      memory->gradients = 0;
    }
  if (qm_sharding_weights (sharding) && size < 4)
    host->weights = round_up (slab * size, HOST_PAGE);
  size_staging (plan);
  memory->host =
      3 * host->states + host->gradients + host->weights + host->staging;
  memory->weights =
      plan->resident_bytes + (qm_sharding_weights (sharding) ? 0 : slab * size);
  memory->master = memory->optimizer = 0;
  return QM_OK;
}

bool
qm_plan_is_short (const QmPlan *plan, uint64_t bytes, QmShortage *shortage)
{
  const QmMemory *memory = &plan->memory;
  uint64_t there = plan->options.host_bytes;

  *shortage = (QmShortage){ false, memory->total, bytes };
  if (plan->options.target.kind == QM_DEVICE_CPU)
    shortage->needs += memory->host;
  if (there > 0 && memory->host > there)
    *shortage = (QmShortage){ true, memory->host, there };
  return shortage->needs > shortage->available;
}

QmStatus
qm_shortage_report (const QmShortage *shortage,
                    int64_t micro_batch,
                    QmError *error)
{
  double needs = (double) shortage->needs / 0x1p30;
  double there = (double) shortage->available / 0x1p30;

  if (shortage->host)
    return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                         "offloading needs %.1f GiB of the host's memory, and "
                         "there are %.1f GiB: %.1f GiB short",
                         needs, there, needs - there);
  return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                       "a micro-batch of %lld needs %.1f GiB, and there are "
                       "%.1f GiB",
                       (long long) micro_batch, needs, there);
}
