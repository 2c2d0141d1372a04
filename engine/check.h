/* SPDX-License-Identifier: Apache-2.0 */

/* One forward and backward pass on given weights and data, without dropout, so
 * that anybody can hold the engine against a framework. */

#ifndef QM_ENGINE_CHECK_H
#define QM_ENGINE_CHECK_H

#include "data/model.h"
#include "kernels/device.h"

typedef struct QmCheckOptions
{
  const QmModelConfig *config;
  QmPrecision precision;
  QmFp8 fp8; /* as in a recipe */
  bool tf32;
  unsigned methods;
  bool deterministic;  /* equal bits in every run */
  bool checkpoint;     /* activation checkpointing */
  int64_t loss_rows;   /* as in QmPlanOptions */
  const char *weights; /* safetensors, with the names of Hugging Face */
  /* safetensors: input_ids [B, S] or pixel_values [B, C, H, W]; labels [B, S]
   * or [B]; for BERT and RoBERTa perhaps token_type_ids; attention_mask if it
   * masks nothing. */
  const char *batch;
  const char
      *out; /* safetensors: "loss", and "grad.NAME" for every parameter */
} QmCheckOptions;

typedef struct QmCheckResult
{
  double loss;
  size_t parameters; /* tensors */
  size_t unused;     /* tensors of `weights` that the model does not have */
  char first_unused[96];
} QmCheckResult;

/* Runs the pass and writes `out`.  Fails with QM_STATUS_UNSUPPORTED for data
 * that the engine cannot honour, such as a mask, and with QM_STATUS_INVALID
 * where weights, loss or gradients are not finite and where no label counts. */
QmStatus qm_check (const QmCheckOptions *options,
                   QmDevice *device,
                   QmCheckResult *result,
                   QmError *error);

#endif
