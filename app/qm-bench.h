/* SPDX-License-Identifier: Apache-2.0 */

/* What the commands of qm-bench share.  No GLib: the program runs on a bare
 * node of a cluster. */

#ifndef QM_APP_QM_BENCH_H
#define QM_APP_QM_BENCH_H

#include "app/qm-options.h"
#include "data/catalog.h"
#include "data/model.h"
#include "data/results.h"
#include "data/training-rates.h"
#include "engine/places.h"
#include "engine/plan.h"
#include "engine/residual.h"
#include "kernels/communicator.h"
#include "kernels/monitor.h"

#include <jansson.h>

/* Exit statuses. */
enum
{
  QM_BENCH_OK = 0,
  QM_BENCH_FAILED = 1,      /* a file or a value in it is wrong */
  QM_BENCH_USAGE = 2,       /* the command line is */
  QM_BENCH_FULL = 3,        /* device or host out of memory */
  QM_BENCH_DEVICE = 4,      /* a device failed, or there is none of that name */
  QM_BENCH_UNSUPPORTED = 5, /* understood, but nothing we can do */
  QM_BENCH_REFUSED = 6,     /* a machine is not accepted */
  QM_BENCH_INTERRUPTED = 130
};

/* Which of several processes this is, one on each machine (--nodes). */
typedef struct QmBenchNodes
{
  int count, self; /* 0 and 0 or 1 and 0: there are no others */
  char rendezvous[300];
  char secret[1024]; /* what only they know */
} QmBenchNodes;

/* Values of options; NULL or 0 where they were not given. */
typedef struct QmBenchOptions
{
  const char *command;
  const char *model, *config, *recipe, *device, *settings, *micro_batch;
  const char *memory, *gpu, *architecture, *precision, *weights, *batch, *out;
  const char *text, *tokens, *images, *learning_rate, *batch_size;
  const char *schedule, *mask_token, *offload, *sharding;
  const char *methods, *results, *time_limit, *host_memory, *again, *merge;
  const char *python, *format, *result, *link, *level, *speeds, *links;
  const char *between, *against, *load, *after, *take;
  const char *rendezvous;
  const char *transport; /* of a worker, that a trial found */
  int64_t repeat, validate, steps, warm_up, seed, patience, line, loss_rows;
  int64_t n_nodes, node, wait; /* node: -1 where it is not given */
  QmBenchNodes nodes;          /* qm_bench_find_nodes() */
  int64_t gpus;                /* the first of these: */
  QmOptionCounts gpu_counts;   /* of predict and search */
  bool json, operators, checkpoint, profile, verbose, deterministic, best;
  bool averaged; /* of what --out has */
  bool force;
  bool sign_off, audit; /* of share */
  bool events, dry_run, adopt, rates, no_peer, no_cut;
  char **files; /* arguments that are no options */
  int n_files;
} QmBenchOptions;

/* Reads the command line; false after saying on standard error what is wrong.
 */
bool qm_bench_parse (int argc, char **argv, QmBenchOptions *options);

/* Whether a word names a command. */
bool qm_bench_is_command (const char *word);

/* Prints how the program is used, or one of its commands. */
void qm_bench_print_help (const char *command);

/* Reads a whole number; false after saying on standard error what is wrong. */
bool qm_bench_read_count (const char *name, const char *text, int64_t *count);

/* Says on standard error what failed; returns the exit status. */
int qm_bench_fail (const QmError *error);

/* Names of what there is, in a message that has room for some of them. */
typedef struct
{
  char text[360];
  size_t more; /* that found no room */
} QmBenchNames;

/* Adds one whole name, or counts it. */
void qm_bench_names_add (QmBenchNames *names, const char *name);

/* "rtx3090, rtx4090 and 12 more"; valid as long as `names`. */
const char *qm_bench_names_text (QmBenchNames *names);

/* Says a line on standard error, behind the program's name.  Words of strangers
 * may be in it: it is escaped and cut as qm_text_escape() does. */
void qm_bench_say (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/* The same on standard output, without the name. */
void qm_bench_print (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/* Prints JSON and a line feed.  What qm_text_next() knows as unsafe, which can
 * only be in strings, is written as the escapes that JSON has for it. */
void qm_bench_put_json (const char *text);

/* Whether the user asked to stop. */
bool qm_bench_interrupted (void);

/* Whether the user asked to stop when what runs is finished. */
bool qm_bench_is_last (void);

/* A file that is not to be left behind where the user's wish to stop cannot be
 * obeyed in time; NULL: none.  `path` has to stay where it is. */
void qm_bench_remove_if_killed (const char *path);

/* A model and how it is trained, from the catalog or from files. */
typedef struct QmBenchModel
{
  QmCatalog *catalog; /* NULL where files were named */
  char name[128];     /* as the user called it */
  QmModelConfig config;
  QmRecipe recipe;
} QmBenchModel;

/* Reads what --model, --config and --recipe name.  Without `recipe`, only the
 * configuration. */
QmStatus qm_bench_load_model (const QmBenchOptions *options,
                              bool recipe,
                              QmBenchModel *model,
                              QmError *error);
void qm_bench_clear_model (QmBenchModel *model);

/* Fills in what --settings says, free-lunch without it. */
QmStatus qm_bench_read_methods (const QmBenchOptions *options,
                                unsigned *methods,
                                QmError *error);

/* Fills in what --sharding and --offload say, of the ranks that `plan` has;
 * each alone says the variant of both. */
QmStatus qm_bench_read_sharding (const QmBenchOptions *options,
                                 QmPlanOptions *plan,
                                 QmError *error);

/* The most devices that work together in one machine. */
#define QM_BENCH_MOST_RANKS 16

/* Reads --gpus; 1 without it. */
QmStatus
qm_bench_read_ranks (const QmBenchOptions *options, int *ranks, QmError *error);

/* Reads --micro-batch, of each of so many that share the samples of a step; 0:
 * without it, or auto.  An error too where there are fewer samples than
 * those. */
QmStatus qm_bench_read_samples (const QmBenchOptions *options,
                                const QmRecipe *recipe,
                                int ranks,
                                int64_t *micro_batch,
                                QmError *error);

/* Reads a size as "24GiB", "24 GB" or a number of bytes. */
QmStatus qm_bench_read_size (const char *text, uint64_t *bytes, QmError *error);

/* Reads a time as "25min", "90s", "1.5h" or a number of seconds. */
QmStatus qm_bench_read_time (const char *text, double *seconds, QmError *error);

/* Makes the plan that --micro-batch asks for, of one of the devices that --gpus
 * says: that one, or the largest that fits in `bytes`, and in its part of the
 * memory of the host that --host-memory says or, but where a device that is not
 * here is planned for, that there is. */
QmStatus qm_bench_make_plan (const QmBenchOptions *options,
                             const QmBenchModel *model,
                             const QmTarget *target,
                             int rank,
                             uint64_t bytes,
                             QmPlan **plan,
                             QmError *error);

/* The GPU of the catalog that a device is, by the words of its name, or NULL.
 */
const QmGpu *qm_bench_find_gpu (const QmCatalog *catalog,
                                const QmDeviceInfo *info);

/* The GPU of the catalog that a user means: its id or its name, whatever the
 * case and the signs between, or a part of them that only one has. */
QmStatus qm_bench_named_gpu (const QmCatalog *catalog,
                             const char *name,
                             const QmGpu **gpu,
                             QmError *error);

/* The compute capability of a GPU of the catalog, 10 x major + minor.
 * QM_STATUS_UNSUPPORTED for another maker's, QM_STATUS_INVALID where it is not
 * known. */
QmStatus
qm_bench_gpu_architecture (const QmGpu *gpu, int *architecture, QmError *error);

/* Bytes of the memory of a GPU of the catalog that a plan may use. */
uint64_t qm_bench_gpu_memory (const QmGpu *gpu);

/* The oldest compute capability that there are kernels for. */
#define QM_BENCH_OLDEST 75

/* Refuses older ones with a sentence. */
QmStatus qm_bench_can_use (int architecture, QmError *error);

/* Reads --architecture; 0 without. */
QmStatus qm_bench_read_architecture (const QmBenchOptions *options,
                                     int *architecture,
                                     QmError *error);

/* Opens the device that --device names, or the first that can be used, as
 * --architecture says. */
QmStatus qm_bench_open_device (const QmBenchOptions *options,
                               QmDevice **device,
                               QmError *error);

/* Makes a plan for an open device, which is that of a rank where there are
 * several: what fits in the memory of each of them. */
QmStatus qm_bench_plan_rank (const QmBenchOptions *options,
                             const QmBenchModel *model,
                             QmDevice *device,
                             QmCommunicator *communicator,
                             QmPlan **plan,
                             QmError *error);

/* Loads the shipped catalog and the user's, without times of others. */
QmStatus qm_bench_load_catalog (QmCatalog **catalog, QmError *error);

/* Bytes of a device that a plan may use. */
uint64_t qm_bench_usable_memory (const QmDeviceInfo *info);

/* Bytes of the memory of this host that a plan may use; 0: not known. */
uint64_t qm_bench_usable_host (void);

/* Says on standard error what multiplies matrices on a GPU, and what it costs
 * where that is not cuBLASLt. */
void qm_bench_say_products (const QmDeviceInfo *info);

/* Objects for JSON lines. */
json_t *qm_bench_json_device (const QmDeviceInfo *info);
json_t *qm_bench_json_machine (const QmDeviceInfo *info);
json_t *qm_bench_json_setting (const QmPlanOptions *options,
                               const QmRecipe *recipe);
json_t *qm_bench_json_memory (const QmMemory *memory);
json_t *qm_bench_json_plan (const QmPlan *plan);

/* Samples of one pass, on all GPUs. */
int64_t qm_bench_samples_of_pass (const QmPlanOptions *options);

/* Of a model whose loss compares pairs, where the `samples` of a pass on all
 * GPUs are not all of a step: adds them as "pairs_compared"; or prints a line,
 * after `indent`.  Nothing of any other. */
void qm_bench_json_pairs (json_t *object,
                          const QmModelConfig *config,
                          const QmRecipe *recipe,
                          int64_t samples);
void qm_bench_print_pairs (const char *indent,
                           const QmModelConfig *config,
                           const QmRecipe *recipe,
                           int64_t samples);

/* Adds "sums", the type in which this engine sums gradients over ranks, where
 * there are several. */
void qm_bench_json_sums (json_t *object,
                         const QmPlanOptions *options,
                         const QmRecipe *recipe);

/* A model as a config.json of Hugging Face has it, and its recipe. */
json_t *qm_bench_json_config (const QmModelConfig *config);
json_t *qm_bench_json_recipe (const QmRecipe *recipe);

/* Adds the precision of a recipe, and what of it is in FP8. */
void qm_bench_json_precision (json_t *object, const QmRecipe *recipe);

/* The same in words: "bf16", "fp8 (tensor, current, e5m2)". */
void
qm_bench_format_precision (const QmRecipe *recipe, char *text, size_t size);

/* Adds a number, or null where it is not finite. */
void qm_bench_json_number (json_t *object, const char *name, double value);

/* Adds a whole number, or null where it is negative: not known. */
void qm_bench_json_whole (json_t *object, const char *name, int64_t value);

/* Adds true or false, or null where it is negative. */
void qm_bench_json_switch (json_t *object, const char *name, int value);

/* Adds "throttle", the reasons in words, or null. */
void qm_bench_json_throttle (json_t *object, int64_t throttle);

/* Adds clocks, temperature, power and why they are no higher. */
void qm_bench_json_reading (json_t *object, const QmReading *reading);

/* Days of so many digits, or of as many as there are before the point: nobody
 * reads 4.835e+04. */
const char *qm_bench_format_days (double days, int digits, char text[32]);

/* What a way does to save memory, in words: "checkpointing, zero_3,
 * offloading", or nothing.  `text` has QM_BENCH_WAY_BYTES. */
#define QM_BENCH_WAY_BYTES 48
void qm_bench_format_way (bool checkpoint,
                          QmSharding sharding,
                          bool offload,
                          char *text);

/* The settings of a plan in words: "free-lunch, checkpointing, zero_2". */
void qm_bench_format_settings (const QmPlan *plan, char *text, size_t size);

/* Whether a file can be written at `path`, before work is done for it; writes
 * the name that it has until it is complete (data/file.h). */
QmStatus
qm_bench_check_out (const char *path, char *part, size_t size, QmError *error);

/* Prints an object as one line, and frees it. */
void qm_bench_print_json (json_t *object);

/* Prints each call of a pass with its tensors, one a line. */
void qm_bench_print_operators (const QmPlan *plan);

/* The same as an array, with numbers of the memory that each reads and writes,
 * equal where that is one piece; and the names of the passes that were done, up
 * to `last`, or, where that is NULL, all. */
json_t *qm_bench_json_operators (const QmPlan *plan);
json_t *qm_bench_json_passes (const QmPlan *plan, const char *last);

/* Prints the memory of a plan for people: of each of `ranks` GPUs, but what is
 * in that of the host for all of them. */
void qm_bench_print_memory (const QmMemory *memory, int ranks);

/* The commands. */
int qm_bench_devices (const QmBenchOptions *options);
int qm_bench_plan (const QmBenchOptions *options);
int qm_bench_plan_all (const QmBenchOptions *options); /* with --methods */
int qm_bench_predict (const QmBenchOptions *options);
int qm_bench_calibrate (const QmBenchOptions *options);

/* Whether what is predicted of a level is of PyTorch, which export writes
 * settings for. */
bool qm_bench_trains_framework (const QmLevel *level);

/* Room for most command lines of export, whose words may be paths. */
#define QM_BENCH_LINE_BYTES 1024

/* Writes the command line that exports settings for a way, of a model that the
 * options name, or that is of the catalog.  False where export takes no such
 * model, or there is no room. */
bool qm_bench_format_export (const QmBenchModel *model,
                             const QmBenchOptions *options,
                             const QmPlanOptions *way,
                             char *line,
                             size_t size);

/* How a model can be trained after all in a place where no way fits, or that
 * has no rate of its precision: the least that has to be otherwise. */
typedef struct QmBenchChange
{
  bool fp16; /* instead of the recipe's precision */
  int gpus;  /* of each machine */
  QmPlaceFound found;
  QmPlaceFound here; /* with fp16, in the place itself */
} QmBenchChange;

/* One place of `predict`: of a GPU and number what was found, or why that is
 * unsupported (`problem`, else NULL). */
typedef struct QmBenchPlace
{
  const QmBenchModel *model;
  const QmGpu *gpu;
  int gpus;            /* of each machine */
  int machines;        /* 0 or 1: one */
  const char *between; /* them, as --between has it */
  const char *level;
  const QmPlaceFound *found;
  const QmError *problem;
  const QmResidual *residual;     /* that is in what was found */
  const QmPlaceFound *bridged;    /* the same with NVLink bridges between the
                                     cards; NULL: there are none for so many, or
                                     they are what was found */
  const QmPlaceFound *half_lanes; /* the same where each card has half of its
                                     lanes of PCIe; NULL: not asked for, or it
                                     needs none */
  uint64_t bytes;                 /* of each GPU that can be used */
  const char *command; /* that exports settings for it; NULL: none does */
  /* Where it is one of all models: */
  const QmModel *entry;        /* of the catalog; NULL: it is not */
  uint64_t plain;              /* bytes of each GPU, of a sample at a time and
                                  nothing that saves memory; 0: not known */
  const QmBenchChange *change; /* NULL: it needs none, or none helps */
  const QmResult *own; /* the fastest that the user measured there; or NULL */
  const char *own_level;
} QmBenchPlace;

/* Adds how many machines there are and what is between them, where there are
 * several. */
void qm_bench_json_machines (json_t *object, int machines, const char *between);

/* Adds to the residuals what the user's results file has of the model, each
 * beside what is predicted with its settings: of each place and level the
 * fastest.  No file is none.  The catalog outlives the residuals. */
QmStatus qm_bench_add_own (const QmBenchModel *model,
                           const QmCatalog *catalog,
                           const QmCalibration *calibration,
                           QmResiduals *residuals,
                           QmError *error);

/* What rates of the model were taken to say of a prediction, and which: null
 * without any. */
json_t *qm_bench_json_residual (const QmResidual *residual);

/* The same as a line to people; nothing without any. */
void qm_bench_print_residual (const QmResidual *residual);

/* Says it: as a line of JSON, as a line for people, or to them in full. */
void qm_bench_print_place_json (const QmBenchPlace *place);
void qm_bench_print_place_line (const QmBenchPlace *place, bool with_level);
void qm_bench_print_place_text (const QmBenchPlace *place);

/* What rates are held against, and which of them. */
typedef struct QmBenchRates
{
  const QmCatalog *catalog;
  const QmCalibration *calibration;
  const QmResiduals *residuals;
  const QmGpu *gpus; /* of the catalog */
  const bool *asked; /* of which of them; NULL: all, and of others */
  const QmLevel *const *levels;
  size_t n_levels; /* 0: of all */
  bool json;
} QmBenchRates;

/* Says of each in the order of the file what is predicted, and what is to be
 * thought of it, as lines of JSON or a table for people. */
QmStatus qm_bench_print_rates (const QmBenchRates *rates,
                               const QmTrainingRates *all,
                               QmError *error);

int qm_bench_run (const QmBenchOptions *options);
int qm_bench_check (const QmBenchOptions *options);
int qm_bench_train (const QmBenchOptions *options);
int qm_bench_export (const QmBenchOptions *options);
int qm_bench_framework (const QmBenchOptions *options);
int qm_bench_accept (const QmBenchOptions *options);
int qm_bench_links (const QmBenchOptions *options);

/* Times the collectives of as many devices of this machine as --gpus says, of
 * those that --device names: all of them together.  QM_STATUS_UNSUPPORTED where
 * they are of several types. */
QmStatus qm_bench_time_links (const QmBenchOptions *options,
                              QmLinkTimes *times,
                              QmError *error);
int qm_bench_search (const QmBenchOptions *options);
int qm_bench_results (const QmBenchOptions *options);
int qm_bench_share (const QmBenchOptions *options);

/* What `search` starts to measure in; speaks JSON lines with it. */
int qm_bench_worker (const QmBenchOptions *options);

/* What `search` does on all machines but the first: measures along. */
int qm_bench_follow (const QmBenchOptions *options);

#endif
