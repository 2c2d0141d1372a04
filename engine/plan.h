/* SPDX-License-Identifier: Apache-2.0 */

/* How a model is trained on a device: the graph of a pass (forward and backward
 * of one micro-batch) and of the update behind it after the chosen methods, and
 * where everything is in memory.  Made without the device. */

#ifndef QM_ENGINE_PLAN_H
#define QM_ENGINE_PLAN_H

#include "data/model.h"
#include "engine/graph.h"
#include "engine/units.h"
#include "kernels/device.h"

/* Methods, each usable alone. */
enum
{
  QM_METHOD_COMPILE = 1 << 0, /* fusion, and the pass captured as a whole */
  QM_METHOD_KERNELS = 1 << 1, /* attention that does not store its scores, scans
                                 that do not store their states, losses of many
                                 classes that do not store all logits */
  QM_METHOD_TF32 = 1 << 2,    /* products of fp32 on tensor cores */
  QM_METHOD_ALL = (1 << 3) - 1
};

/* Reads "naive", "free-lunch", "compile", "kernels", "tf32", or several of the
 * last three joined by '+'. */
bool qm_methods_parse (const char *text, unsigned *methods);

/* The other way round. */
void qm_methods_format (unsigned methods, char *text, size_t size);

/* What of the states of a training is not on every device all the time: the
 * variants of ZeRO (Rajbhandari et al. 2019) and FSDP (Zhao et al. 2023).
 * Optimizer states, fp32 weights among them, in all of them; all but ZeRO 1 the
 * sums of gradients; stages 3 the weights that products read too.  Where they
 * are instead is another question: each rank has its part, or its host.  ZeRO
 * moves in buckets of QM_BUCKET_GRADIENTS and QM_BUCKET_WEIGHTS elements, FSDP
 * block by block.
 *
 * Some weights stay on the device in stages 3 as well: those of fewer elements
 * than QM_BUCKET_THRESHOLD with ZeRO, and what kernels read as fp32 where
 * products are of 16 bits (norms, and the rates, skips and steps of scans). */
typedef enum QmSharding
{
  QM_SHARDING_NONE,
  QM_SHARDING_ZERO_1,
  QM_SHARDING_ZERO_2,
  QM_SHARDING_ZERO_3,
  QM_SHARDING_FSDP_2,
  QM_SHARDING_FSDP_3
} QmSharding;

#define QM_N_SHARDINGS 6

/* "none", "zero_1" to "zero_3", "fsdp_2", "fsdp_3"; static. */
const char *qm_sharding_name (QmSharding sharding);

/* The other way round; false for another word. */
bool qm_sharding_parse (const char *text, QmSharding *sharding);

/* Elements, as the paper (appendix F) and DeepSpeed set them: of a bucket of
 * gradients and of weights, where it has more than one parameter, and of the
 * smallest parameter that leaves the device. */
#define QM_BUCKET_GRADIENTS INT64_C (200000000)
#define QM_BUCKET_WEIGHTS   INT64_C (50000000)
#define QM_BUCKET_THRESHOLD INT64_C (100000)

/* Of a bucket of gradients that are summed over ranks while the backward pass
 * goes on: so few that little is left when it ends, and enough for a link to be
 * as fast as it can. */
#define QM_BUCKET_REDUCED INT64_C (25000000)

typedef struct QmPlanOptions
{
  QmTarget target;
  int64_t micro_batch;
  unsigned methods;
  bool checkpoint; /* activation checkpointing */
  /* Devices that train together, each with a micro-batch in every pass, and
   * which of them this is; 0 ranks: 1.  Gradients are summed over them once a
   * step, in fp32, or with ZeRO 2 and on with every pass, in the type of the
   * products. */
  int ranks, rank;
  QmSharding sharding; /* changes nothing for one rank that does not offload */
  /* What is sharded is in memory of the host, and the update runs there.  ZeRO
   * 1 moves gradients there once a step, all others with every pass, in the
   * type of the products, and the host adds them up in fp32. */
  bool offload;
  bool no_dropout;
  bool narrow; /* sums that run through the model are of the type of products,
                  too, as where all weights are of 16 bits; only planned */
  bool deterministic; /* equal bits in every run, also where that costs time */
  bool foreign; /* of other software, whose kernels have limits of their own;
                   only planned */
  /* Rows of logits at a time, at most; 0: as qm_pass_loss() has it with
   * QM_METHOD_KERNELS, and without all. */
  int64_t loss_rows;
  uint64_t host_bytes; /* of the host's memory that can be used; 0: not known */
  int64_t bucket; /* for tests: elements, at most, of buckets and of what the
                     host works on at a time; 0: as above */
} QmPlanOptions;

/* Bytes by use; of the device but for `host`. */
typedef struct QmMemory
{
  uint64_t weights;   /* as products read them */
  uint64_t master;    /* fp32 weights; 0 where `weights` are fp32 */
  uint64_t gradients; /* fp32 */
  uint64_t optimizer; /* first and second moments, fp32; of Muon's matrices only
                         the first; and the average of weights, which a teacher
                         has in 16 bits as well */
  uint64_t activations;
  uint64_t other; /* inputs, constants, state */
  uint64_t workspace;
  uint64_t reserved; /* by driver and libraries */
  uint64_t total;
  uint64_t live; /* the most bytes of activations that live at one time; what a
                    perfect layout would need */
  uint64_t host; /* memory of the host for what is offloaded */
} QmMemory;

/* Gradients on their way to the host, and weights on their way back, go through
 * so many slots of pinned memory in turn. */
#define QM_HOST_SLOTS 4

/* Elements of a slot at most. */
#define QM_HOST_CHUNK (INT64_C (1) << 24)

/* What is in memory of the host, in bytes.  Each is one piece of memory, in
 * whole pages of 2 MiB. */
typedef struct QmHostMemory
{
  uint64_t states;    /* of master weights, first and second moments, each, and
                         of the average of weights, where there is one */
  uint64_t gradients; /* sums of passes, fp32; none in ZeRO 1, where the device
                         has them */
  uint64_t weights;   /* of stages 3, where products are of 16 bits */
  uint64_t staging;   /* the slots, and what is small */
  int64_t chunk;      /* elements of a slot */
  /* Byte of the staging where the slots for gradients and weights begin, and
   * what stays on the device is; a slot's bytes. */
  uint64_t weight_slots, resident, gradient_slot, weight_slot;
} QmHostMemory;

/* A unit of weights that stay on the device by themselves. */
typedef struct QmResident
{
  QmType type;
  uint64_t begin; /* byte of their region */
  QmValueId all;  /* with all gaps; made with the update */
} QmResident;

/* Those of few elements, and those of another type. */
#define QM_MAX_RESIDENT 2

typedef struct QmPlan
{
  QmModelConfig config;
  QmRecipe recipe;
  QmPlanOptions options;
  int64_t accumulation; /* passes of each rank in a step */
  QmType type;          /* of products, but for those in FP8 */
  int parts;            /* ranks that share states; 1: each has all of them */
  int part;             /* which of them this one has */
  QmGraph *graph;
  int64_t slab; /* elements of all parameters with the gaps between them */
  int64_t own;  /* of those, what this rank has the states of */
  /* By value, of owners: element of the slab for parameters and gradients,
   * byte of the region for all others. */
  int64_t *place;
  QmMemory memory;
  QmValueId average; /* of weights, of what this rank has of them; QM_NO_VALUE:
                        there is none, or the host has it */
  QmValueId teacher; /* the same in the type of products, as a teacher reads it;
                        QM_NO_VALUE: there is none, or products are fp32 */
  QmUnits units;
  /* Where states are sharded: */
  int64_t *resident; /* by value, of owners of parameters: byte of the region of
                        those that stay on the device by themselves, or -1 */
  QmResident stays[QM_MAX_RESIDENT]; /* from unit n_moving on */
  uint64_t resident_bytes;
  /* Where they are offloaded: */
  QmPiece *host_parts; /* that the host updates one after the other */
  size_t n_host_parts;
  QmHostMemory host;
} QmPlan;

/* The most passes that a plan goes through. */
#define QM_PLAN_PASSES 17

/* The names of those that it does for such a recipe with such options, in their
 * order; static. */
size_t qm_plan_passes (const QmRecipe *recipe,
                       const QmPlanOptions *options,
                       const char *names[QM_PLAN_PASSES]);

/* Of a plan without pieces of logits, as the loss of other software has them.
 */
#define QM_LOSS_ROWS_ALL INT64_MAX

/* Whether states of a recipe's optimizer can be there: hosts have Adam and
 * AdamW alone, Muon needs whole matrices, which ranks can deal out where they
 * share no weights, and a teacher whole weights. */
bool qm_plan_takes (const QmModelConfig *config,
                    const QmRecipe *recipe,
                    QmSharding sharding,
                    bool offload,
                    int ranks);

/* The same, and otherwise a sentence why with QM_STATUS_UNSUPPORTED, or
 * _INVALID where the recipe lacks what a teacher is made by (plan-takes.c). */
QmStatus qm_plan_check (const QmModelConfig *config,
                        const QmRecipe *recipe,
                        const QmPlanOptions *options,
                        QmError *error);

/* Plans a recipe that was applied to its configuration; QM_STATUS_UNSUPPORTED
 * for what qm_plan_takes() refuses or, unless it is foreign, the target has no
 * kernel for, with the first that it has none for. */
QmStatus qm_plan_new (const QmModelConfig *config,
                      const QmRecipe *recipe,
                      const QmPlanOptions *options,
                      QmPlan **plan,
                      QmError *error);

void qm_plan_free (QmPlan *plan);

/* Before the first pass. */
#define QM_PLAN_NO_PASS "none"

/* The same as far as the pass of that name, of qm_plan_passes(), or
 * QM_PLAN_NO_PASS: a plan that has its graph and nothing else, to be looked at
 * and freed.  QM_STATUS_INVALID where no such pass is done. */
QmStatus qm_plan_after (const QmModelConfig *config,
                        const QmRecipe *recipe,
                        const QmPlanOptions *options,
                        const char *pass,
                        QmPlan **plan,
                        QmError *error);

/* Whether what is planned of a training for either of two targets of the same
 * kind is as good as planned for the other, where both take it: all, but for
 * Muon's iterations where one of them alone has products in bf16.  Whether
 * products are in TF32 is in a plan, but not in what it needs, and is decided
 * where it is predicted (engine/work.h). */
bool
qm_plan_is_alike (const QmRecipe *recipe, const QmTarget *a, const QmTarget *b);

/* What it would need on other targets for which plans are alike, which differ
 * in the workspace and what is reserved; in all UINT64_MAX where one has no
 * kernels for it, and it is not foreign. */
void qm_plan_memories (const QmPlan *plan,
                       const QmTarget *targets,
                       size_t n,
                       QmMemory *memories);

/* Whether memory that was planned for so many ranks was ever held against what
 * the driver says: for one it was, on H100 and H200, for two, four and eight on
 * H200, and for other numbers it is arithmetic. */
bool qm_plan_is_verified (const QmPlanOptions *options);

/* Which memory a plan does not fit in. */
typedef struct QmShortage
{
  bool host; /* else the device's */
  uint64_t needs, available;
} QmShortage;

/* Whether a plan needs more than `bytes` of the device, or more of the host
 * than its options say that there is.  The memory of a CPU is that of the host,
 * and `bytes` is for both. */
bool
qm_plan_is_short (const QmPlan *plan, uint64_t bytes, QmShortage *shortage);

/* Says so in a sentence, with QM_STATUS_DEVICE_FULL. */
QmStatus qm_shortage_report (const QmShortage *shortage,
                             int64_t micro_batch,
                             QmError *error);

/* Whether weights leave the device between their uses. */
static inline bool
qm_sharding_weights (QmSharding sharding)
{
  return sharding == QM_SHARDING_ZERO_3 || sharding == QM_SHARDING_FSDP_3;
}

/* Whether gradients leave the device with every pass. */
static inline bool
qm_sharding_gradients (QmSharding sharding)
{
  return sharding != QM_SHARDING_NONE && sharding != QM_SHARDING_ZERO_1;
}

/* The largest micro-batch that is a power of two, no more than the batch, and
 * fits in `bytes`: its plan, or QM_STATUS_DEVICE_FULL, with what a micro-batch
 * of 1 needs. */
QmStatus qm_plan_largest (const QmModelConfig *config,
                          const QmRecipe *recipe,
                          const QmPlanOptions *options,
                          uint64_t bytes,
                          QmPlan **plan,
                          QmError *error);

/* Where a parameter is in the region of those that stay. */
#define QM_NOT_RESIDENT (-1)

/* Whether a parameter is nowhere on the device but while it is read; by its
 * owner. */
static inline bool
qm_plan_is_fetched (const QmPlan *plan, QmValueId owner)
{
  return qm_units_fetched (&plan->units, plan->graph, owner) != QM_NO_UNIT;
}

/* Where the regions of a plan are; all NULL while planning. */
typedef struct QmRegions
{
  char *weights, *master, *gradients, *moments, *arena, *other, *workspace;
  char *resident; /* parameters that stay by themselves while offloading */
} QmRegions;

/* The address of the first element of a value; NULL for one that is on the host
 * alone. */
void *
qm_plan_address (const QmPlan *plan, const QmRegions *regions, QmValueId value);

/* The call of a node with its addresses. */
void qm_plan_call (const QmPlan *plan,
                   const QmRegions *regions,
                   const QmNode *node,
                   QmOpCall *call);

/* FLOPs of one pass that count for the utilisation. */
double qm_plan_pass_flops (const QmPlan *plan);

/* Which share of the operations of a pass, those that are done once more apart,
 * is of products in FP8. */
double qm_plan_fp8_share (const QmPlan *plan);

/* Rows of logits that are in memory at a time, and of all of them. */
int64_t qm_plan_loss_rows (const QmPlan *plan);
int64_t qm_plan_all_rows (const QmPlan *plan);

/* How states are sharded with such options: QM_SHARDING_NONE where there is
 * nowhere else for them to be. */
static inline QmSharding
qm_plan_sharding (const QmPlanOptions *options)
{
  return options->offload || options->ranks > 1 ? options->sharding
                                                : QM_SHARDING_NONE;
}

/* In which type gradients are summed over ranks, where there are several. */
static inline QmPrecision
qm_plan_sums (const QmPlanOptions *options, const QmRecipe *recipe)
{
  if (!qm_sharding_gradients (qm_plan_sharding (options)))
    return QM_PRECISION_FP32;
  return recipe->precision == QM_PRECISION_FP8 ? QM_PRECISION_BF16
                                               : recipe->precision;
}

/* Whether nodes have QM_PHASE_LAST. */
bool qm_plan_has_last (const QmPlan *plan);

/* Cuts the slab into units, has those that move do so, and gives a place to
 * what stays (plan-units.c). */
QmStatus qm_plan_units (QmPlan *plan, QmError *error);

/* Has gradients summed over ranks in the last pass (plan-reduce.c). */
QmStatus qm_plan_reduce (QmPlan *plan, QmError *error);

/* Appends the nodes of the update (plan-update.c). */
QmStatus qm_plan_update (QmPlan *plan, QmError *error);

/* Says in `memory` what a rank has of what is sharded (plan-units.c). */
void qm_plan_sharded (QmPlan *plan);

/* Has `memory` take any of Muon's matrices: which ranks have the largest is not
 * asked, so that all of them need as much (plan-muon.c). */
QmStatus qm_plan_muon (QmPlan *plan, QmError *error);

/* What the host updates, and the memory of it all (plan-offload.c). */
QmStatus qm_plan_host_parts (QmPlan *plan, QmError *error);
void qm_plan_offload (QmPlan *plan);

/* Lays out temporaries (memory.c): fills in place[] and returns the size of the
 * arena, and in *live the most that lives at one time. */
QmStatus qm_memory_arena (const QmGraph *graph,
                          int64_t *place,
                          uint64_t *arena,
                          uint64_t *live,
                          QmError *error);

#define QM_MEMORY_ALIGNMENT 256

#endif
