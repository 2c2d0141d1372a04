/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/train.h"

#include "engine/weights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* 4 GiB of text are more than anybody watches. */
#define MAX_BYTES (INT64_C (1) << 32)

static QmStatus
read_tokens (FILE *stream,
             const char *path,
             bool wide,
             int64_t vocab,
             QmTokens *tokens,
             QmError *error)
{
  for (size_t i = 0; i < tokens->n; i++)
    {
      int low = getc (stream), high = wide ? getc (stream) : 0;

      if (low == EOF || high == EOF)
        return qm_error_set (error, QM_STATUS_IO, path, 0, 0, "cannot be read");
      tokens->ids[i] = low | high << 8;
      if (tokens->ids[i] >= vocab)
        return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                             "token %zu is %d, and the vocabulary has %lld", i,
                             (int) tokens->ids[i], (long long) vocab);
    }
  return QM_OK;
}

QmStatus
qm_tokens_read (const char *path,
                bool wide,
                int64_t vocab,
                int64_t least,
                QmTokens *tokens,
                QmError *error)
{
  FILE *stream = fopen (path, "rb");
  struct stat info;
  QmStatus status = QM_OK;

  *tokens = (QmTokens){ NULL };
  if (stream == NULL || fstat (fileno (stream), &info) != 0)
    status = qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                           "cannot be read: %s", strerror (errno));
  else if (!S_ISREG (info.st_mode) || info.st_size > MAX_BYTES)
    status = qm_error_set (error, QM_STATUS_IO, path, 0, 0,
                           "is not a regular file of at most 4 GiB");
  else
    tokens->n = (size_t) info.st_size / (wide ? 2 : 1);
  if (status == QM_OK && (int64_t) tokens->n < least)
    status = qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                           "has %zu tokens; a batch needs %lld", tokens->n,
                           (long long) least);
  if (status == QM_OK)
    {
      tokens->ids = malloc ((tokens->n + 1) * sizeof *tokens->ids);
      status = tokens->ids != NULL
                   ? read_tokens (stream, path, wide, vocab, tokens, error)
                   : qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                                   "the host is out of memory");
    }
  if (stream != NULL)
    fclose (stream);
  if (status != QM_OK)
    qm_tokens_free (tokens);
  return status;
}

void
qm_tokens_free (QmTokens *tokens)
{
  free (tokens->ids);
  *tokens = (QmTokens){ NULL };
}

static QmStatus
load_micro_batch (const QmPlan *plan,
                  QmExecutor *executor,
                  const QmTokens *tokens,
                  int64_t first,
                  int32_t *ids,
                  QmError *error)
{
  int64_t length = plan->recipe.sequence_length;
  int64_t n = plan->options.micro_batch * length;
  QmStatus status;

  for (int64_t i = 0; i < n; i++)
    ids[i] = tokens->ids[(size_t) (first * length + i) % tokens->n];
  status = qm_executor_write_ints (executor, plan->graph->ids, ids, error);
  if (status == QM_OK)
    status = qm_executor_write_ints (executor, plan->graph->labels, ids, error);
  return status;
}

static QmStatus
train_step (const QmPlan *plan,
            QmExecutor *executor,
            const QmTokens *tokens,
            int64_t step,
            int32_t *ids,
            float *loss,
            QmError *error)
{
  int64_t first = step * plan->recipe.batch_size;
  QmStatus status = QM_OK;

  for (int64_t i = 0; i < plan->accumulation && status == QM_OK; i++)
    {
      status =
          load_micro_batch (plan, executor, tokens,
                            first + i * plan->options.micro_batch, ids, error);
      if (status == QM_OK)
        status = qm_executor_pass (executor, error);
    }
  if (status == QM_OK)
    status = qm_executor_update (executor, error);
  if (status == QM_OK)
    status = qm_executor_read_state (executor, QM_STATE_LOSS, loss, error);
  return status;
}

static QmStatus
set_weights (const QmPlan *plan,
             QmExecutor *executor,
             const char *path,
             QmError *error)
{
  const QmStoredTensor **stored;
  QmSafetensors *file;
  QmStatus status;

  if (path == NULL)
    return qm_executor_initialise (executor, error);
  status = qm_safetensors_open (path, &file, error);
  if (status != QM_OK)
    return status;
  stored = calloc (plan->graph->n_parameters + 1, sizeof *stored);
  status = stored != NULL
               ? qm_weights_load (plan, executor, file, path, stored, error)
               : qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                               "the host is out of memory");
  free (stored);
  qm_safetensors_close (file);
  return status;
}

static double
now (void)
{
  struct timespec time = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static QmStatus
run_steps (const QmPlan *plan,
           QmExecutor *executor,
           const QmTokens *tokens,
           const QmTrainOptions *options,
           int32_t *ids,
           QmError *error)
{
  QmStatus status = QM_OK;

  for (int64_t i = 0; i < options->steps && status == QM_OK; i++)
    {
      double begin = now ();
      float loss = 0;

      status = train_step (plan, executor, tokens, i, ids, &loss, error);
      if (status == QM_OK
          && !options->step (options->data, i + 1, loss, now () - begin))
        status = qm_error_set (error, QM_STATUS_INTERRUPTED, "", 0, 0,
                               "interrupted");
    }
  return status;
}

QmStatus
qm_train (const QmPlan *plan,
          QmDevice *device,
          const QmTokens *tokens,
          const QmTrainOptions *options,
          QmError *error)
{
  QmExecutor *executor;
  int32_t *ids;
  QmStatus status;

  if (plan->config.family != QM_FAMILY_GPT_NEOX
      && plan->config.family != QM_FAMILY_MAMBA)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "training on a text is for gpt_neox and mamba models; "
                         "this is a %s model",
                         qm_family_name (plan->config.family));
  if (plan->recipe.batch_size % plan->options.micro_batch != 0)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "the batch size is not a multiple of the "
                         "micro-batch, %lld",
                         (long long) plan->options.micro_batch);
  status = qm_executor_new (plan, device, options->seed, &executor, error);
  if (status != QM_OK)
    return status;
  ids = malloc (
      (size_t) (plan->options.micro_batch * plan->recipe.sequence_length)
      * sizeof *ids);
  status = ids != NULL ? set_weights (plan, executor, options->weights, error)
                       : qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                                       "the host is out of memory");
  if (status == QM_OK)
    status = run_steps (plan, executor, tokens, options, ids, error);
  free (ids);
  qm_executor_free (executor);
  return status;
}
