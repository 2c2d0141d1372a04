/* SPDX-License-Identifier: Apache-2.0 */

/* What the adapter of a framework answers; between qm-bench-framework.c, which
 * asks, and qm-bench-framework-answer.c, which checks every field. */

#ifndef QM_APP_QM_BENCH_FRAMEWORK_H
#define QM_APP_QM_BENCH_FRAMEWORK_H

#include "app/qm-bench.h"

#define QM_ANSWER_SAMPLES 3
#define QM_ANSWER_NOTES   8

/* What was asked, as far as an answer has to agree with it. */
typedef struct QmQuestion
{
  const char *device;  /* NULL: any; of several GPUs the first */
  int gpus;            /* that work together */
  int64_t micro_batch; /* 0: the largest */
  int64_t batch_size;
  QmPrecision precision;
} QmQuestion;

typedef enum QmAnswerKind
{
  QM_ANSWER_PROGRESS,
  QM_ANSWER_ERROR,
  QM_ANSWER_MEASURED,
  QM_ANSWER_INFEASIBLE
} QmAnswerKind;

typedef struct QmAnswer
{
  QmAnswerKind kind;

  double progress;
  char note[160]; /* of progress */

  QmStatus trouble; /* of an error */
  char message[512];

  QmDeviceInfo device;
  char torch[64], transformers[64], cuda[64], python[64], deepspeed[64];
  char attention[32];
  char sums[8]; /* "fp32", or the precision; "": not said */
  char notes[QM_ANSWER_NOTES][320];
  size_t n_notes;
  int64_t micro_batch;
  double pass[QM_ANSWER_SAMPLES], update[QM_ANSWER_SAMPLES]; /* s */
  int64_t used_bytes;                                        /* -1: not known */
  bool host_is_short;                   /* where infeasible */
  int64_t needs_bytes, available_bytes; /* of that memory */
  double load, search, measure, total;  /* s that it took itself */
} QmAnswer;

/* Reads one line.  QM_STATUS_INVALID or _PARSE where anything in it is not as
 * it has to be. */
QmStatus qm_bench_read_answer (const char *line,
                               const char *name,
                               const QmQuestion *question,
                               QmAnswer *answer,
                               QmError *error);

#endif
