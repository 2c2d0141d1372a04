/* SPDX-License-Identifier: Apache-2.0 */

/* Training a language model on a file, so that one sees it learn. */

#ifndef QM_ENGINE_TRAIN_H
#define QM_ENGINE_TRAIN_H

#include "engine/plan.h"

/* Tokens to learn from; sample i of step k begins at token
 * (k batch + i) length, counted around the file. */
typedef struct QmTokens
{
  int32_t *ids;
  size_t n;
} QmTokens;

/* Reads a file of bytes, each of which is a token, or with `wide` of tokens in
 * little-endian 16 bits each.  Every token has to be below `vocab`, and there
 * have to be `least` of them. */
QmStatus qm_tokens_read (const char *path,
                         bool wide,
                         int64_t vocab,
                         int64_t least,
                         QmTokens *tokens,
                         QmError *error);
void qm_tokens_free (QmTokens *tokens);

typedef struct QmTrainOptions
{
  int64_t steps;
  uint64_t seed;
  const char *weights; /* safetensors to begin with; NULL: drawn */
  /* Called after every step; returns false to stop. */
  bool (*step) (void *data, int64_t step, double loss, double seconds);
  void *data;
} QmTrainOptions;

/* Trains a gpt_neox or mamba model.  QM_STATUS_UNSUPPORTED for other families.
 */
QmStatus qm_train (const QmPlan *plan,
                   QmDevice *device,
                   const QmTokens *tokens,
                   const QmTrainOptions *options,
                   QmError *error);

#endif
