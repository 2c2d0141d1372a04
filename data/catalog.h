/* SPDX-License-Identifier: Apache-2.0 */

/* The one reader of the project's facts.
 *
 * A catalog directory holds
 *
 *   gpus.csv              what a GPU is
 *   machines.csv          the published analysis' machines, and their parts
 *   platforms.csv         what can be bought to carry GPUs, or with GPUs
 *   models/ *.json        what is trained (data/model.h)
 *   prices.csv            dated prices, each with its kind and source
 *   measurements/ *.csv   training times, each with its provenance
 *   measurements/ *.jsonl results of qm-bench (data/results.h)
 *
 * The shipped directory is read first, then the user's, in the order above; an
 * entry with the same key replaces the earlier one and keeps its place.  Where
 * it is a model of another configuration or recipe, the times that were there
 * do not count any more, which is noted.  A file with any mistake in it is
 * refused whole and reported as a problem; every other file is still used.
 * Results of other models or devices than the
 * catalog's, and a last line that was never finished, are no mistakes: they are
 * left out and noted.  Unknown cells are empty in a file and NaN, year 0
 * or an empty string here: never zero.
 *
 * Everything reachable from a catalog belongs to it, does not change after
 * loading and may be read from several threads.  A catalog goes when everyone
 * who had it has given it up: who keeps one, or a pointer into it, keeps a
 * reference.
 */

#ifndef QM_DATA_CATALOG_H
#define QM_DATA_CATALOG_H

#include "data/error.h"
#include "data/model.h"
#include "data/money.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct QmCatalog QmCatalog;

/* True where a number of the catalog is known. */
static inline bool
qm_known (double value)
{
  return !isnan (value);
}

/* A yes or no that the source may not tell. */
typedef enum QmTristate
{
  QM_UNSTATED = -1,
  QM_NO = 0,
  QM_YES = 1
} QmTristate;

/* How a GPU is cooled, which decides what carries it. */
typedef enum QmGpuCooling
{
  QM_GPU_COOLING_UNSTATED = -1,
  QM_GPU_COOLING_OPEN,    /* a card whose fans need air around it */
  QM_GPU_COOLING_BLOWER,  /* a card that blows its heat out at the back */
  QM_GPU_COOLING_PASSIVE, /* a card that a server's fans cool */
  QM_GPU_COOLING_BOARD,   /* sold on boards of several (SXM, OAM) */
  QM_GPU_COOLING_SYSTEM   /* part of a machine of its own */
} QmGpuCooling;

/* A GPU type.  Rates are dense and in 10^12 operations a second; fp16_tflops
 * holds for fp16 and, unless `bf16` says no, for bf16, with fp32 accumulation,
 * fp8_tflops for factors in E4M3 with fp32 accumulation (NaN where there is no
 * FP8, too); tf32_tflops is 0 where the GPU has no TF32.  Bandwidths are in
 * 10^9 bytes a second, one direction for NVLink (0: has none). */
typedef struct QmGpu
{
  const char *id;
  const char *name;
  const char *vendor;
  const char *form_factor;
  double slot_width; /* slots that a card takes; NaN for what is none */
  QmGpuCooling cooling;
  double memory_gib;
  double memory_bandwidth_gbs;
  double measured_bandwidth_gbs; /* the best copy that was seen */
  double fp16_tflops;
  QmTristate bf16;
  double fp8_tflops;
  double tf32_tflops;
  double fp32_tflops;
  double measured_fp16_tflops;
  double tdp_w;
  double multiprocessors; /* NVIDIA's SM, AMD's compute unit, Intel's Xe core */
  double boost_mhz;       /* the clock that rated rates are of, or above it */
  double l2_mib;          /* the cache that all of them share */
  double nvlink_gbs;
  double nvlink_gpus; /* that it connects at most; NaN where not known */
  double pcie_generation;
  double pcie_lanes;
  QmTristate peer_access; /* of each other's memory through PCIe */
  const char *peer_to_peer;
  QmDate released_on;
  double launch_price_usd;
  const char *source;
  const char *vendor_document;
  const char *unverified; /* columns that are derived or not verified, by ; */
  const char *notes;
} QmGpu;

typedef struct QmMachinePart
{
  const char *part;     /* "CPU", "Memory", ... */
  const char *detail;   /* what exactly */
  int64_t price_micros; /* -1: unknown (sold only as a whole) */
  char currency[4];     /* of the price */
} QmMachinePart;

typedef enum QmMachineKind
{
  QM_MACHINE_DESKTOP,
  QM_MACHINE_SERVER
} QmMachineKind;

/* A machine without its GPUs.  Its prices are in the price list under its
 * id. */
typedef struct QmMachine
{
  const char *id;
  const char *name;
  QmMachineKind kind;
  int gpus; /* the most that it carries */
  double memory_gib;
  double cpu_cores;
  double pcie_generation; /* of each GPU's place, with all of them taken */
  double pcie_lanes;
  const QmMachinePart *parts;
  size_t n_parts;
  const char *source;
} QmMachine;

typedef enum QmPlatformForm
{
  QM_PLATFORM_DESKTOP,
  QM_PLATFORM_WORKSTATION,
  QM_PLATFORM_RACK
} QmPlatformForm;

/* What host memory is made of. */
typedef enum QmMemoryKind
{
  QM_MEMORY_UNSTATED = -1,
  QM_MEMORY_DDR4_UDIMM,
  QM_MEMORY_DDR4_RDIMM,
  QM_MEMORY_DDR5_UDIMM,
  QM_MEMORY_DDR5_RDIMM,
  QM_MEMORY_SOLDERED /* no more of it can be bought */
} QmMemoryKind;

typedef enum QmNoise
{
  QM_NOISE_UNSTATED = -1,
  QM_NOISE_QUIET,
  QM_NOISE_OFFICE,
  QM_NOISE_MACHINE_ROOM
} QmNoise;

/* A machine as it is sold: one that takes cards, or one with GPUs in it.  Its
 * prices are in the price list under its id; they hold with `memory_gib` of
 * host memory, and with all GPUs where `sold_with` names them.  Unknown numbers
 * are NaN. */
typedef struct QmPlatform
{
  const char *id;
  const char *name;
  const char *vendor;
  QmPlatformForm form;
  double rack_units;
  int gpus;              /* the most that it carries */
  const char *sold_with; /* id of the GPU that comes with it; empty: none */
  unsigned takes;    /* sets of 1 << QmGpuCooling: cards; 0 with `sold_with` */
  double slot_width; /* how wide each card may be, at `gpus` of them */
  double gpu_watts;  /* the most for each card */
  double pcie_generation; /* of each card's place */
  double pcie_lanes;
  double psu_watts;  /* what one supply gives at 200 to 240 V */
  int psus;          /* 0: unstated */
  int psu_spare;     /* how many of them may fail */
  double host_watts; /* what it draws itself */
  double memory_gib;
  double memory_max_gib;
  QmMemoryKind memory_kind;
  double cpu_cores;
  QmTristate liquid; /* cooled by liquid */
  QmNoise noise;
  const char *networks;
  const char *source;
  const char *unverified; /* columns that are estimates, by ; */
  const char *notes;
} QmPlatform;

typedef enum QmPriceKind
{
  QM_PRICE_PUBLISHED, /* used in the published analysis */
  QM_PRICE_QUOTE,     /* offered to the user, or by a vendor for the catalog */
  QM_PRICE_STREET,    /* seen at a retailer */
  QM_PRICE_LIST,      /* the maker's own price */
  QM_PRICE_RESALE,    /* used goods */
  QM_PRICE_CLAIM,     /* somebody says so */
  QM_PRICE_ESTIMATE,  /* a sum of dated prices of parts */
  QM_PRICE_CLOUD      /* to rent */
} QmPriceKind;

typedef enum QmPriceUnit
{
  QM_PRICE_EACH, /* for one piece */
  QM_PRICE_HOUR, /* for an hour of `gpus` GPUs */
  QM_PRICE_GIB   /* for a GiB of memory */
} QmPriceUnit;

/* A price of a GPU, machine, platform or kind of memory.  Where only a range
 * was reported, `micros` is -1 and `low_micros` and `high_micros` are set;
 * where one price was, they are -1.  Amounts are as they are asked for, with
 * the tax that they include. */
typedef struct QmPrice
{
  const char *item;
  QmPriceKind kind;
  QmPriceUnit unit;
  int gpus;
  char currency[4];
  int64_t micros;
  int64_t low_micros;
  int64_t high_micros;
  double tax_percent; /* that is included, of the price without; 0: none */
  QmDate observed_on; /* year 0: undated */
  const char *source;
  bool from_user; /* came from the user's directory */
} QmPrice;

/* How a training time is known.  Published ones are those of "$100K or 100
 * Days" (arXiv 2410.23261), whose clock did not wait for the GPU. */
typedef enum QmProvenance
{
  QM_PROVENANCE_PUBLISHED,
  QM_PROVENANCE_MEASURED,
  QM_PROVENANCE_PREDICTED,
  QM_PROVENANCE_REPORTED /* by a named source that timed with synchronisation */
} QmProvenance;

/* The software that a training time was measured with, as results files name
 * it. */
typedef enum QmEngine
{
  QM_ENGINE_UNSTATED,
  QM_ENGINE_QUARTERMASTER, /* this project's engine */
  QM_ENGINE_PYTORCH
} QmEngine;

#define QM_N_ENGINES 3

typedef enum QmSettings
{
  QM_SETTINGS_OPTIMAL, /* the best of all methods */
  QM_SETTINGS_NAIVE,   /* off the shelf */
  QM_SETTINGS_EAGER    /* off the shelf but for fused attention and the tensor
                          cores */
} QmSettings;

#define QM_N_SETTINGS 3

typedef enum QmFeasibility
{
  QM_FEASIBLE,
  QM_INFEASIBLE, /* does not fit with any method of those settings */
  QM_ILLEGIBLE   /* the source cannot be read there */
} QmFeasibility;

/* Why a training time is none of a machine with so many GPUs. */
typedef enum QmAside
{
  QM_ASIDE_NOT,      /* it is */
  QM_ASIDE_MACHINES, /* it is of several machines that worked together */
  QM_ASIDE_PATH      /* its GPUs exchanged in a slower way than theirs */
} QmAside;

/* The time to train one model on `gpus` GPUs of one type.
 *
 * From results files comes, for each model, GPU type, number of GPUs and
 * engine, the naive result as QM_SETTINGS_NAIVE, PyTorch's own with its fused
 * attention and TF32 as QM_SETTINGS_EAGER, and the fastest of all others as
 * QM_SETTINGS_OPTIMAL.  They are infeasible where every result is, for
 * QM_SETTINGS_OPTIMAL only if activation checkpointing was among what was
 * tried.  Results of the user's directory replace the shipped ones of the same
 * model, GPU type, number, settings and engine, feasible or not; and what they
 * say that fits on GPUs that were held back takes away that it does not, where
 * that was shipped, though it is no time of theirs and stands aside. */
typedef struct QmMeasurement
{
  const QmModel *model;
  const QmGpu *gpu;
  int gpus;
  QmSettings settings;
  QmFeasibility feasibility;
  double days;                /* NaN unless feasible */
  double days_low, days_high; /* interval of a predicted time, else NaN */
  double rounding_days; /* the true time may be this much longer (0.5 where
                           whole days were published) */
  QmTristate checkpointing;
  const char *sharding; /* "none", "zero_1".. "zero_3", "fsdp_2", "fsdp_3";
                           empty: unstated */
  QmTristate offloading;
  int64_t micro_batch_size; /* 0: unstated */
  int64_t accumulation;     /* 0: unstated */
  QmProvenance provenance;
  QmEngine engine;
  const char *engine_version; /* empty: unstated */
  QmDate measured_on;
  const char *source;
  QmAside aside;
  int machines; /* where aside for them: how many; `gpus` is of all */
} QmMeasurement;

/* Loads a catalog.  `user_dir` may be NULL or name a directory that does not
 * exist.  Fails only where `shipped_dir` cannot be opened or memory is out;
 * every other trouble is a problem of the catalog. */
QmStatus qm_catalog_load (const char *shipped_dir,
                          const char *user_dir,
                          QmCatalog **catalog,
                          QmError *error);

/* The same without measurements, whose files are the larger part and are not
 * looked at then. */
QmStatus qm_catalog_load_without_times (const char *shipped_dir,
                                        const char *user_dir,
                                        QmCatalog **catalog,
                                        QmError *error);

/* One more who needs the catalog, in whichever thread; returns it.  Its loader
 * has the first reference. */
QmCatalog *qm_catalog_ref (const QmCatalog *catalog);

/* One less; the last one frees it.  NULL is allowed. */
void qm_catalog_free (QmCatalog *catalog);

/* Files that were refused, in the order of reading. */
const QmError *qm_catalog_problems (const QmCatalog *catalog, size_t *n);

/* What was left out though it is no mistake, each with its place and the
 * reason; at most QM_CATALOG_MAX_NOTICES of a directory. */
const QmError *qm_catalog_notices (const QmCatalog *catalog, size_t *n);

#define QM_CATALOG_MAX_NOTICES 20

/* The entries, in the order of the files. */
const QmGpu *qm_catalog_gpus (const QmCatalog *catalog, size_t *n);
const QmMachine *qm_catalog_machines (const QmCatalog *catalog, size_t *n);
const QmPlatform *qm_catalog_platforms (const QmCatalog *catalog, size_t *n);
const QmModel *qm_catalog_models (const QmCatalog *catalog, size_t *n);

/* The same as lists show them, in the order of qm_model_compare().  The caller
 * frees the array with free(); NULL where memory is out. */
const QmModel **qm_catalog_models_sorted (const QmCatalog *catalog, size_t *n);
const QmPrice *qm_catalog_prices (const QmCatalog *catalog, size_t *n);
const QmMeasurement *qm_catalog_measurements (const QmCatalog *catalog,
                                              size_t *n);

/* What was measured besides, and is no time of a machine with so many GPUs:
 * `aside` says why.  For who wants to see it; nothing is advised by it. */
const QmMeasurement *qm_catalog_aside (const QmCatalog *catalog, size_t *n);

/* The entry of that id, or NULL. */
const QmGpu *qm_catalog_gpu (const QmCatalog *catalog, const char *id);
const QmMachine *qm_catalog_machine (const QmCatalog *catalog, const char *id);
const QmModel *qm_catalog_model (const QmCatalog *catalog, const char *id);

/* The peak rate of a GPU for a recipe's products, in 10^12 operations a
 * second, with fp32 accumulation: fp16_tflops for fp16 and bf16, fp8_tflops for
 * fp8, for fp32 tf32_tflops (or fp32_tflops without `tf32`, or where the GPU
 * has no TF32).  NaN where unknown, or where the GPU has no bf16 or no FP8.
 *
 * Model FLOPs utilization is all operations of the model (data/flops.h) over
 * this rate.  Of a recipe in fp8 that is the rate of FP8, though only the
 * linear layers of its blocks are in it, and heads and attention are not: as
 * others do (GPU_AVAILABLE_FLOPS of MosaicML's Composer, composer/callbacks/
 * speed_monitor.py, takes the dense rate of fp8 for "amp_fp8").  So it is a
 * bound from below of how busy the tensor cores are, it cannot be 1, and it
 * compares with that of another recipe in fp8, not with that of bf16: a
 * training that becomes faster by fp8 has a lower one.  qm_plan_fp8_share()
 * tells how much of a pass is in FP8. */
double qm_gpu_peak_tflops (const QmGpu *gpu, QmPrecision precision, bool tf32);

/* How a GPU is built in, by its form factor: as a plug-in card, or on a board
 * that connects all of them with each other (SXM, OAM).  Anything else is part
 * of a machine of its own. */
bool qm_gpu_is_card (const QmGpu *gpu);
bool qm_gpu_is_mezzanine (const QmGpu *gpu);

/* Whether a GPU is no worse than another in all that a training's time depends
 * on: generation, memory, bandwidth, rates, watts, multiprocessors and links.
 * False where memory, its bandwidth or the rate in 16 bits is not known. */
bool qm_gpu_is_no_worse (const QmGpu *gpu, const QmGpu *other);

/* Words as written in files; static. */
const char *qm_price_kind_name (QmPriceKind kind);
const char *qm_price_unit_name (QmPriceUnit unit);
const char *qm_machine_kind_name (QmMachineKind kind);
const char *qm_gpu_cooling_name (QmGpuCooling cooling); /* empty: unstated */
const char *qm_platform_form_name (QmPlatformForm form);
const char *qm_memory_kind_name (QmMemoryKind kind); /* empty: unstated */
const char *qm_liquid_name (QmTristate liquid);      /* the same */
const char *qm_noise_name (QmNoise noise);           /* the same */
const char *qm_provenance_name (QmProvenance provenance);
const char *qm_engine_name (QmEngine engine); /* empty: unstated */
const char *qm_settings_name (QmSettings settings);
const char *qm_feasibility_name (QmFeasibility feasibility);

/* The item that prices of a kind of host memory are of, such as
 * "memory-ddr5-rdimm"; NULL where none can be bought.  Static. */
const char *qm_memory_kind_item (QmMemoryKind kind);

/* Whether that is one of those items. */
bool qm_is_memory_item (const char *item);

/* The candidate of `names` nearest to `word` (Damerau-Levenshtein distance,
 * letter case ignored; else one that begins with it, else one that contains
 * it), the first of those that are equally near; NULL where none is near enough
 * to be meant. */
const char *
qm_nearest_name (const char *word, const char *const *names, size_t n_names);

#endif
