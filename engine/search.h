/* SPDX-License-Identifier: Apache-2.0 */

/* Searching for the fastest way to train: which configurations there are, in
 * which order they are measured, what measuring costs, and what was gained.
 * Nothing here touches a device or a file. */

#ifndef QM_ENGINE_SEARCH_H
#define QM_ENGINE_SEARCH_H

#include "engine/plan.h"

typedef enum QmSearchMethods
{
  QM_SEARCH_NAIVE,      /* naive settings alone */
  QM_SEARCH_FREE_LUNCH, /* free-lunch settings, nothing that saves memory */
  QM_SEARCH_ALL /* naive settings, and free-lunch with every combination of
                   methods that save memory */
} QmSearchMethods;

/* Reads "naive", "free-lunch" or "all". */
bool qm_search_methods_parse (const char *text, QmSearchMethods *methods);

/* One way to train. */
typedef struct QmSearchConfig
{
  unsigned methods; /* as QmPlanOptions has them */
  bool checkpoint;
  QmSharding sharding; /* which variant */
  bool offload;        /* into memory of the host */
} QmSearchConfig;

#define QM_SEARCH_MOST 23

/* Lists the valid configurations of so many GPUs, the most telling first, and
 * returns how many: with methods that save memory 12 on one GPU and 22 on
 * several, and the naive one.  The rules are those of Khandelwal et al. 2024,
 * appendix F: each of checkpointing, sharding (ZeRO 1 to 3, FSDP 2 and 3) and
 * offloading is chosen by itself, but nothing is offloaded that is not sharded,
 * and sharding alone does nothing on one GPU. */
size_t qm_search_configurations (QmSearchMethods methods,
                                 int gpus,
                                 QmSearchConfig list[QM_SEARCH_MOST]);

/* Finds the largest micro-batch of a configuration, a power of two, that fits
 * into so many bytes of the device and those of the host that `options` has,
 * and puts it into `options`, and what it needs into *memory.  Where not even 1
 * fits, *fits is false, and *shortage says why.  QM_STATUS_UNSUPPORTED where
 * the engine cannot train so.
 */
QmStatus qm_search_fit (const QmModelConfig *config,
                        const QmRecipe *recipe,
                        QmPlanOptions *options,
                        uint64_t device_bytes,
                        QmMemory *memory,
                        bool *fits,
                        QmShortage *shortage,
                        QmError *error);

/* Seconds that a pass of a micro-batch may take on a device of some peak rate,
 * in 10^12 operations a second; NaN: an ordinary one of its kind.  A guess from
 * the operations alone, always the same one. */
double qm_search_guess_pass (const QmModelConfig *config,
                             const QmRecipe *recipe,
                             const QmPlanOptions *options,
                             double peak_tflops);

/* Seconds that a measurement may take besides passes: tuning, warming up, and
 * what the host has to fill and update where something is offloaded. */
double qm_search_guess_overhead (const QmPlanOptions *options,
                                 const QmMemory *memory);

/* Whether half of the largest micro-batch is measured too, which can be the
 * faster one: where a pass of it is guessed to take at most half a second,
 * settings are not naive, of which nobody wants the fastest, and nothing is
 * offloaded.  What is offloaded moves with every pass or waits for the host
 * once a step, so that fewer and larger passes win. */
bool qm_search_wants_half (const QmSearchConfig *config, double guessed_pass);

/* How long measuring took so far, by which the next is foretold.  Zeroed memory
 * has seen nothing. */
typedef struct QmSearchPace
{
  struct
  {
    int n;
    double pass, overhead; /* ratios of times to what was guessed */
  } kinds[3];
} QmSearchPace;

/* What was guessed, in seconds. */
typedef struct QmSearchGuess
{
  double pass, overhead;
} QmSearchGuess;

/* Adds that a pass took so many seconds, and all of the measurement `cost`. */
void qm_search_pace_add (QmSearchPace *pace,
                         const QmSearchConfig *config,
                         QmSearchGuess guess,
                         double pass,
                         double cost,
                         int repeat);

/* Seconds that a measurement will take, from what was seen of the same model,
 * else of all models, else from nothing. */
double qm_search_predict (const QmSearchPace *model,
                          const QmSearchPace *all,
                          const QmSearchConfig *config,
                          QmSearchGuess guess,
                          int repeat);

/* What the order of the work is made from. */
typedef struct QmSearchRank
{
  bool free;   /* nothing has to be measured: it does not fit */
  int rank;    /* in the list of configurations; halves come after all */
  double cost; /* seconds */
  size_t index;
} QmSearchRank;

/* Sorts so that most is known early: first what does not fit, then the first
 * configuration of every model, the cheapest model first, then the second one
 * of every model, and so on. */
void qm_search_order (QmSearchRank *ranks, size_t n);

/* How many times as fast as a reference some times are: reference / time.  NaN
 * where there is none. */
typedef struct QmSearchGain
{
  size_t n;
  double best, median, worst;
} QmSearchGain;

/* Sorts `times`. */
QmSearchGain qm_search_gain (double *times, size_t n, double reference);

#endif
