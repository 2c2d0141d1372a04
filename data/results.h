/* SPDX-License-Identifier: Apache-2.0 */

/* Results files: what was measured, one JSON object a line (".jsonl").
 *
 * Schema 1.  A line is what `qm-bench run --json` prints, the fields of which
 * are in qm-bench(1), and "schema", "status", "time", "model_key", "gpus",
 * "engine" and, where nothing was measured, why; data/README.md has them all.
 * Fields that are not known are left alone; a line of another schema, and one
 * in which something is wrong, is refused by its number.
 *
 * A file is written from its beginning to its end, a line at a time, so that a
 * program that is killed leaves at most a last line that does not end.  Such a
 * line is no mistake: it counts if it is whole, else it is as if it had never
 * been begun.  A last line that does not begin as an object was no such
 * program's, and the file is refused.
 *
 * Lines with the same key are the same measurement, of which one counts:
 * qm_result_replaces(). */

#ifndef QM_DATA_RESULTS_H
#define QM_DATA_RESULTS_H

#include "data/error.h"
#include "data/money.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No results file is larger, and no line of it. */
#define QM_RESULTS_MAX_BYTES ((size_t) 64 * 1024 * 1024)
#define QM_RESULTS_MAX_LINE  ((size_t) 4 * 1024 * 1024)

/* What the version of our engine ends with where a GPU multiplied without
 * NVIDIA's library ("products" of the device is "own"), which takes longer: it
 * is other software. */
#define QM_RESULT_OWN_PRODUCTS ", without cuBLASLt"

/* The schema that is read and written. */
#define QM_RESULTS_SCHEMA 1

typedef enum QmResultStatus
{
  QM_RESULT_MEASURED,
  QM_RESULT_INFEASIBLE, /* does not fit, even with a micro-batch of 1 */
  QM_RESULT_FAILED,     /* was tried, and something went wrong */
  QM_RESULT_CUT         /* was seen to be much slower than another way after one
                           pass, and not measured any further: has no times */
} QmResultStatus;

/* How several GPUs of a machine exchanged. */
typedef enum QmResultPath
{
  QM_PATH_OWN,   /* as they do by themselves */
  QM_PATH_HOST,  /* through the memory of the host: so do those of some
                    machines, and others where they have to */
  QM_PATH_FORCED /* the user had it be another, which takes longer */
} QmResultPath;

/* What a variable of NCCL in the environment makes of that: one that takes a
 * way from it, or channels.  Those that only choose between its ways are
 * nothing, as are those that it does not know. */
QmResultPath qm_result_variable_path (const char *name, const char *value);

/* One result.  Strings belong to the QmResults that it is in, have no control
 * characters and are empty where the line does not say.  Numbers are NaN, bytes
 * -1 where it does not. */
typedef struct QmResult
{
  QmResultStatus status;

  /* The measurement that this is a result of; with the limits, the key. */
  const char *model;     /* id in the catalog, or a file as the user named it */
  const char *model_key; /* qm_model_key() */
  const char *device;    /* its maker's name for it */
  const char *driver;    /* empty for a CPU */
  int architecture;      /* kernels for 10 x major + minor; 0: a CPU */
  const char *engine;    /* "quartermaster" or "pytorch" */
  const char
      *version; /* of the engine; else "torch 2.11.0, transformers ..." */
  int gpus;     /* of all machines */
  int nodes;    /* how many machines; 1 in lines without */
  const char *transport; /* between several: "nccl", "host", "sockets"; "" of
                            one, and of older lines and of frameworks; that
                            of GPUs is of the key where it is not "nccl" and
                            takes longer */
  QmResultPath path; /* of "no_peer", "transport" and "nccl"; what slows is of
                        the key */
  bool tried; /* "transport_trial": NCCL was no faster, as GPUs cannot read each
                 other's memory */
  const char *sums; /* in which type several sum gradients up: "fp32", or that
                       of `precision`, which of "fp8" is "bf16"; "" of one, and
                       of older lines */
  const char *settings; /* "naive", "free-lunch", or methods joined by '+' */
  bool checkpointing, offloading;
  const char *sharding; /* "none", "zero_1".. "zero_3", "fsdp_2", "fsdp_3" */
  int64_t micro_batch;  /* of one GPU; 1 where it is infeasible */
  bool deterministic;
  /* Of infeasible ones: the memory that the user had it pretend to have; -1:
   * all that there is.  With a limit it says nothing about the device. */
  int64_t memory_limit, host_limit;

  /* data/identity.h; the GPUs separated by spaces.  Older lines are without. */
  const char *machine;
  const char *machine_gpus;

  const char *time; /* when it ended: "2026-11-21T06:40:00Z" */
  QmDate measured_on;
  const char *gpu;       /* id in the catalog */
  const char *precision; /* "fp32", "fp16", "bf16", "fp8" */
  /* Of "fp8", how, as a recipe has it; else "". */
  const char *fp8_scales, *fp8_amax, *fp8_gradients;
  int64_t accumulation; /* passes in a step */

  /* Measured ones; seconds. */
  double days; /* of the whole training */
  double step, pass, update;
  double tflops;       /* 10^12 model FLOPs a second */
  double mfu;          /* share of the peak */
  double watts;        /* of the GPU alone */
  double training_kwh; /* of the GPU alone, extrapolated */
  double cost;         /* seconds that measuring took */

  int64_t planned_bytes; /* of the device's memory, as planned */
  int64_t host_bytes;    /* of the host's, as planned */
  int64_t used_bytes;    /* of the device's, as seen */
  int64_t memory_bytes;  /* that the device has */

  /* Infeasible, failed and cut ones. */
  const char *reason; /* a sentence */

  /* Infeasible ones: which memory is short, and how much it would take. */
  bool host_is_short;
  int64_t needs_bytes, available_bytes;

  const char *file; /* where it was read, and which line that is */
  int line;
  const char *text; /* the line, without its end */
  const char *key;  /* qm_result_key() */
} QmResult;

/* "measured", "infeasible", "failed", "cut"; static. */
const char *qm_result_status_name (QmResultStatus status);

#define QM_RESULT_KEY_BYTES 4096

/* Writes what two results have to have in common to be of the same measurement;
 * false where the buffer is too small, which it never is for a result that was
 * read. */
bool qm_result_key (const QmResult *result, char key[QM_RESULT_KEY_BYTES]);

/* Whether its GPUs, of one machine or several, exchanged through the memory of
 * the host, where others have a way of their own: it takes longer. */
bool qm_result_through_host (const QmResult *result);

/* A result about which nothing is known. */
QmResult qm_result_nothing (void);

/* Compares for sorting: model, device, software, GPUs, machines, how GPUs
 * exchanged, settings, methods, micro-batch.  0 only for equal keys. */
int qm_result_compare (const QmResult *a, const QmResult *b);

/* Whether a result takes the place of one of the same key that was read before:
 * the later line of a file does, and of two files the later time, but a failure
 * does not undo a measurement. */
bool qm_result_replaces (const QmResult *result, const QmResult *known);

/* Results, each measurement once. */
typedef struct QmResults QmResults;

/* NULL where memory is out. */
QmResults *qm_results_new (void);
void qm_results_free (QmResults *results);

/* Reads `length` bytes of a results file; `file` names it in messages and in
 * the results.  *whole is where the last whole line ends: less than `length`
 * where the last line has no end and is not whole, which is ignored.  Nothing
 * is added where it fails: QM_STATUS_PARSE or _INVALID for a line that is
 * wrong, _UNSUPPORTED for another schema, _NO_MEMORY. */
QmStatus qm_results_parse (QmResults *results,
                           const char *text,
                           size_t length,
                           const char *file,
                           size_t *whole,
                           QmError *error);

/* Reads a results file; `whole` and `length`, the size of the file, may be
 * NULL.  QM_STATUS_IO where it cannot be read. */
QmStatus qm_results_read (QmResults *results,
                          const char *path,
                          size_t *whole,
                          size_t *length,
                          QmError *error);

/* All of them, in the order in which measurements were first read; valid until
 * more are read. */
const QmResult *qm_results_list (const QmResults *results, size_t *n);

/* The result of that key, or NULL. */
const QmResult *qm_results_find (const QmResults *results, const char *key);

#endif
