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

/* Appends elements from `begin` of a unit's part, which begins with element
 * `whole` of the slab and `own` of what the rank has. */
static void
add_parts (QmPlan *plan, int64_t whole, int64_t own, int64_t n)
{
  int64_t chunk = plan->host.chunk;

  for (int64_t i = 0; i < n; i += chunk)
    plan->host_parts[plan->n_host_parts++] = (QmPiece){
      .whole = whole + i,
      .own = own + i,
      .n = n - i < chunk ? n - i : chunk,
    };
}

/* The host updates part by part, so that gradients come down and weights go up
 * meanwhile; in one, where neither does. */
QmStatus
qm_plan_host_parts (QmPlan *plan, QmError *error)
{
  const QmUnits *units = &plan->units;
  int64_t limit = plan->options.bucket, most;

  if (limit == 0 || limit > QM_HOST_CHUNK)
    limit = QM_HOST_CHUNK;
  if (limit > plan->slab)
    limit = plan->slab;
  plan->host.chunk = (int64_t) round_up ((uint64_t) limit, QM_SLAB_ALIGNMENT);
  most = plan->own / plan->host.chunk + (int64_t) units->n + 1;
  plan->host_parts = calloc ((size_t) most, sizeof *plan->host_parts);
  if (plan->host_parts == NULL)
    return qm_error_no_memory (error);
  if (qm_sharding_weights (plan->options.sharding))
    plan->host_parts[plan->n_host_parts++] = (QmPiece){ 0, 0, plan->own };
  else if (plan->parts == 1)
    add_parts (plan, 0, 0, plan->own);
  else
    for (size_t i = 0; i < units->n; i++)
      {
        const QmUnit *unit = &units->list[i];
        int64_t n = qm_unit_part (unit, plan->parts);

        add_parts (plan, unit->begin + plan->part * n,
                   unit->begin / plan->parts, n);
      }
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
      round_up (host->resident + plan->resident_bytes / (uint64_t) plan->parts
                    + SMALL_BYTES,
                HOST_PAGE);
}

void
qm_plan_offload (QmPlan *plan)
{
  QmSharding sharding = plan->options.sharding;
  uint64_t own = (uint64_t) plan->own, size = qm_type_size (plan->type);
  QmHostMemory *host = &plan->host;
  QmMemory *memory = &plan->memory;

  if (!plan->options.offload)
    return;
  host->states = round_up (own * 4, HOST_PAGE);
  if (qm_sharding_gradients (sharding))
    {
      host->gradients = round_up (own * 4, HOST_PAGE);
      memory->gradients = 0;
    }
  if (qm_sharding_weights (sharding) && size < 4)
    host->weights = round_up (own * size, HOST_PAGE);
  size_staging (plan);
  memory->host = (plan->recipe.ema_decay > 0 ? 4 : 3) * host->states
                 + host->gradients + host->weights + host->staging;
  if (qm_sharding_weights (sharding))
    memory->weights = plan->resident_bytes;
  memory->master = memory->optimizer = 0;
}

bool
qm_plan_is_verified (const QmPlanOptions *options)
{
  const int ranks = options->ranks;

  return ranks <= 2 || ranks == 4 || ranks == 8;
}

bool
qm_plan_is_short (const QmPlan *plan, uint64_t bytes, QmShortage *shortage)
{
  const QmMemory *memory = &plan->memory;
  uint64_t there = plan->options.host_bytes;

  *shortage = (QmShortage){ false, memory->total, bytes };
  if (!qm_target_is_gpu (&plan->options.target))
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
