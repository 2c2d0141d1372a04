/* SPDX-License-Identifier: Apache-2.0 */

/* A search: what there is to measure, and what is known of it; between
 * qm-bench-search.c, which measures, qm-bench-list.c, which lists the work, and
 * qm-bench-report.c, which prints. */

#ifndef QM_APP_QM_BENCH_SEARCH_H
#define QM_APP_QM_BENCH_SEARCH_H

#include "app/qm-bench-events.h"
#include "app/qm-bench-worker-process.h"
#include "data/identity.h"
#include "data/results-file.h"
#include "engine/search.h"

#include <limits.h>

typedef enum QmBenchState
{
  QM_BENCH_LEFT,    /* not known yet */
  QM_BENCH_KNOWN,   /* was in the results file */
  QM_BENCH_NEW,     /* is now */
  QM_BENCH_NOT_RUN, /* the engine cannot do it */
  QM_BENCH_NO_TIME  /* would exceed the limit */
} QmBenchState;

/* One configuration at one micro-batch. */
typedef struct QmBenchEntry
{
  size_t model;
  QmSearchConfig config;
  int rank;  /* of the configuration, in the order of the work */
  bool half; /* of the largest micro-batch */
  QmPlanOptions options;
  QmMemory memory;
  bool fits;
  QmShortage shortage; /* where it does not */
  QmSearchGuess guess;
  double step; /* seconds, as forecast, of several GPUs; else 0 */
  bool second; /* its way is forecast to be faster with another micro-batch */
  QmBenchState state;
  char *key;                     /* of its result */
  char reason[QM_MESSAGE_BYTES]; /* why it is not run */
} QmBenchEntry;

typedef struct QmBenchSearched
{
  char name[128]; /* as results have it */
  QmModelConfig config;
  QmRecipe recipe;
  char key[QM_MODEL_KEY_BYTES];
  QmSearchPace pace;
  double spent;   /* seconds of this search, on several GPUs */
  int n_measured; /* in it */
} QmBenchSearched;

typedef struct QmBenchSearch
{
  const QmBenchOptions *options;
  QmSearchMethods methods;
  int gpus; /* that work together */
  QmCatalog *catalog;
  const QmGpu *gpu; /* of the catalog, or NULL */
  QmBenchSearched *models;
  size_t n_models;
  QmBenchEntry *entries; /* in the order of the work */
  size_t n_entries, capacity;
  QmBenchWorker *worker;
  int n_measured; /* by the worker */
  QmDeviceInfo info;
  const char *transport;  /* of the first worker, that it had to try; or NULL */
  QmTransportTrial trial; /* in which it did */
  QmIdentity here;
  /* What may be used, and the limits that the user set; -1: none. */
  uint64_t device_bytes, host_bytes;
  int64_t memory_limit, host_limit;
  QmResultsFile *file;
  char path[PATH_MAX];   /* of that */
  QmBenchEvents *events; /* NULL: nobody wants to hear of them */
  QmSearchPace pace;
  double begin, seconds; /* of qm_clock(), and the limit; 0: none */
  double interval;   /* a way that takes so many times as long as the fastest is
                        cut; 0: none is */
  int failures;      /* in a row */
  const char *cause; /* of the error that ends it, where there is a word for
                        it; static */
} QmBenchSearch;

/* Fills in what memory of its device and host a search may use. */
QmStatus qm_bench_search_memory (QmBenchSearch *search, QmError *error);

/* How the devices of a search exchange, as results have it. */
const char *qm_bench_search_transport (const QmBenchSearch *search);

/* Seconds for a model on one number of several GPUs, where nothing was said. */
#define QM_BENCH_SEARCH_SECONDS 90.0

/* Of the links that --links names: QM_STATUS_USAGE where they are of another
 * number of machines; and says on standard error where they were measured of
 * another number of GPUs than the search's, so that what it expects follows
 * from what those did, or where it does not use them, and why. */
QmStatus qm_bench_say_search_links (QmBenchSearch *search, QmError *error);

/* Halves the micro-batches of ways on several GPUs, which are the largest that
 * fit, as long as a pass takes longer than measuring wants and a step is
 * forecast to take no longer; where the GPU is not known, they stay. */
QmStatus qm_bench_shorten (QmBenchSearch *search,
                           QmBenchEntry *entries,
                           size_t n,
                           QmError *error);

/* Forecasts a step of each entry of a search on several GPUs, and which are
 * clear losers: from the catalog and its plan where the GPU is known there,
 * else from operations alone. */
QmStatus qm_bench_forecast_steps (QmBenchSearch *search, QmError *error);

/* Seconds of a step above which measuring an entry is cut; 0: never. */
double qm_bench_cut_above (const QmBenchSearch *search,
                           const QmBenchEntry *entry);

/* Adds the models that --model or --config means, and opens the catalog,
 * without which only shares of peaks are not known. */
QmStatus qm_bench_load_models (QmBenchSearch *search, QmError *error);

/* Opens the file that --results names, or the user's own, once no other search
 * writes to it; none where nothing is to be measured and there is none. */
QmStatus qm_bench_open_results (QmBenchSearch *search, QmError *error);

/* Says on standard error what others did to the file since this was asked last.
 */
void qm_bench_say_change (const QmBenchSearch *search);

/* Makes sure that the file holds all results when the search ends, with
 * `status`: returns that, or why it does not hold them. */
QmStatus qm_bench_secure_results (const QmBenchSearch *search,
                                  QmStatus status,
                                  QmError *error);

/* Which memory an entry that does not fit is short of, in a sentence. */
void
qm_bench_format_shortage (const QmBenchEntry *entry, char *text, size_t size);

/* Lists the work of a search, of which models, device and file are there, in
 * its order, and marks what is known. */
QmStatus qm_bench_list_work (QmBenchSearch *search, QmError *error);

/* Adds half of an entry's micro-batch at the end, unless it is there. */
QmStatus
qm_bench_add_half (QmBenchSearch *search, size_t entry, QmError *error);

void qm_bench_free_work (QmBenchSearch *search);

/* The result of an entry, or NULL. */
const QmResult *qm_bench_entry_result (const QmBenchSearch *search,
                                       const QmBenchEntry *entry);

/* Seconds that an entry will take to measure. */
double qm_bench_forecast (const QmBenchSearch *search,
                          const QmBenchEntry *entry);

/* Adds what a measured entry took to the pace. */
void qm_bench_learn (QmBenchSearch *search, const QmBenchEntry *entry);

/* Describes an entry: "pythia-1b, free-lunch, checkpointing, micro-batch 32".
 */
void qm_bench_describe (const QmBenchSearch *search,
                        const QmBenchEntry *entry,
                        char *text,
                        size_t size);

/* Prints what a search found. */
void qm_bench_print_report (const QmBenchSearch *search);

/* A table for people: columns as wide as they have to be, the first ones to the
 * left, the others to the right. */
#define QM_BENCH_COLUMNS 12
#define QM_BENCH_CELL    128

typedef struct QmBenchTable
{
  int columns, left;
  size_t n, capacity;
  char (*cells)[QM_BENCH_COLUMNS][QM_BENCH_CELL];
} QmBenchTable;

/* Adds a row of empty cells; NULL where memory is out. */
char (*qm_bench_table_row (QmBenchTable *table))[QM_BENCH_CELL];

/* Prints it, the first row as its head, and frees it. */
void qm_bench_table_print (QmBenchTable *table);

/* Writes how things are: "0.0123", "12.3", "1234"; "-" for NaN. */
void qm_bench_format (double value, char cell[QM_BENCH_CELL]);

/* Writes "131 GiB" or "1.25 MiB". */
void qm_bench_format_bytes (double bytes, char cell[QM_BENCH_CELL]);

#endif
