/* SPDX-License-Identifier: Apache-2.0 */

/* How a model is trained on a device: the graph of a pass (forward and backward
 * of one micro-batch) after the chosen methods, and where everything is in
 * memory.  Made without the device. */

#ifndef QM_ENGINE_PLAN_H
#define QM_ENGINE_PLAN_H

#include "data/model.h"
#include "engine/graph.h"
#include "kernels/device.h"

/* Methods, each usable alone. */
enum
{
  QM_METHOD_COMPILE = 1 << 0, /* fusion, and the pass captured as a whole */
  QM_METHOD_KERNELS = 1 << 1, /* attention that does not store its scores, scans
                                 that do not store their states */
  QM_METHOD_TF32 = 1 << 2,    /* products of fp32 on tensor cores */
  QM_METHOD_ALL = (1 << 3) - 1
};

/* Reads "naive", "free-lunch", "compile", "kernels", "tf32", or several of the
 * last three joined by '+'. */
bool qm_methods_parse (const char *text, unsigned *methods);

/* The other way round. */
void qm_methods_format (unsigned methods, char *text, size_t size);

/* Which states live in memory of the host: the sharding variants of ZeRO
 * (Rajbhandari et al. 2019) and FSDP (Zhao et al. 2023) with offloading, of one
 * GPU or each of several.  Optimizer states, fp32 weights among them, always,
 * and the update then runs there; stages 3 the weights that products read too.
 * ZeRO 1 moves gradients once a step, all others with every pass.  ZeRO moves
 * in buckets of some number of elements, FSDP block by block. */
typedef enum QmOffload
{
  QM_OFFLOAD_NONE,
  QM_OFFLOAD_ZERO_1,
  QM_OFFLOAD_ZERO_2,
  QM_OFFLOAD_ZERO_3,
  QM_OFFLOAD_FSDP_2,
  QM_OFFLOAD_FSDP_3
} QmOffload;

#define QM_N_OFFLOADS 6

/* "none", "zero_1" to "zero_3", "fsdp_2", "fsdp_3"; static. */
const char *qm_offload_name (QmOffload offload);

/* The other way round; false for another word. */
bool qm_offload_parse (const char *text, QmOffload *offload);

typedef struct QmPlanOptions
{
  QmTarget target;
  int64_t micro_batch;
  unsigned methods;
  bool checkpoint; /* activation checkpointing */
  QmOffload offload;
  bool no_dropout;
  bool deterministic; /* equal bits in every run, also where that costs time */
} QmPlanOptions;

/* Bytes by use; of the device but for `host`. */
typedef struct QmMemory
{
  uint64_t weights;   /* as products read them */
  uint64_t master;    /* fp32 weights; 0 where `weights` are fp32 */
  uint64_t gradients; /* fp32 */
  uint64_t optimizer; /* first and second moments, fp32 */
  uint64_t activations;
  uint64_t other; /* inputs, constants, state */
  uint64_t workspace;
  uint64_t reserved; /* by driver and libraries */
  uint64_t total;
  uint64_t live; /* the most bytes of activations that live at one time; what a
                    perfect layout would need */
  uint64_t host; /* memory of the host for what is offloaded */
} QmMemory;

typedef struct QmPlan
{
  QmModelConfig config;
  QmRecipe recipe;
  QmPlanOptions options;
  int64_t accumulation; /* passes in a step */
  QmType type;          /* of products */
  QmGraph *graph;
  int64_t slab; /* elements of all parameters with the gaps between them */
  /* By value, of owners: element of the slab for parameters and gradients,
   * byte of the region for all others. */
  int64_t *place;
  int64_t sum_place; /* byte of `other` where the update sums squares */
  QmMemory memory;
} QmPlan;

/* Plans a recipe that was applied to its configuration. */
QmStatus qm_plan_new (const QmModelConfig *config,
                      const QmRecipe *recipe,
                      const QmPlanOptions *options,
                      QmPlan **plan,
                      QmError *error);

void qm_plan_free (QmPlan *plan);

/* The largest micro-batch that is a power of two, no more than the batch, and
 * fits in `bytes`: its plan, or QM_STATUS_DEVICE_FULL, with what a micro-batch
 * of 1 needs. */
QmStatus qm_plan_largest (const QmModelConfig *config,
                          const QmRecipe *recipe,
                          const QmPlanOptions *options,
                          uint64_t bytes,
                          QmPlan **plan,
                          QmError *error);

/* Where the regions of a plan are; all NULL while planning. */
typedef struct QmRegions
{
  char *weights, *master, *gradients, *moments, *arena, *other, *workspace;
} QmRegions;

/* The address of the first element of a value. */
void *
qm_plan_address (const QmPlan *plan, const QmRegions *regions, QmValueId value);

/* The call of a node with its addresses. */
void qm_plan_call (const QmPlan *plan,
                   const QmRegions *regions,
                   const QmNode *node,
                   QmOpCall *call);

#define QM_UPDATE_CALLS 5

/* The calls of an update. */
void qm_plan_update_calls (const QmPlan *plan,
                           const QmRegions *regions,
                           QmOpCall calls[QM_UPDATE_CALLS]);

/* FLOPs of one pass that count for the utilisation. */
double qm_plan_pass_flops (const QmPlan *plan);

/* Lays out temporaries (memory.c): fills in place[] and returns the size of the
 * arena, and in *live the most that lives at one time. */
QmStatus qm_memory_arena (const QmGraph *graph,
                          int64_t *place,
                          uint64_t *arena,
                          uint64_t *live,
                          QmError *error);

#define QM_MEMORY_ALIGNMENT 256

#endif
