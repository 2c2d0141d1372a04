/* SPDX-License-Identifier: Apache-2.0 */

/* Settings for other programs. */

#ifndef QM_APP_QM_BENCH_EXPORT_H
#define QM_APP_QM_BENCH_EXPORT_H

#include "data/model.h"
#include "engine/plan.h"

#include <jansson.h>

/* How a model is trained. */
typedef struct QmExport
{
  const char *name;
  const QmModelConfig *config;
  const QmRecipe *recipe;
  unsigned methods;
  bool checkpoint, offloading;
  QmSharding sharding; /* also without offloading */
  int64_t micro_batch, accumulation;
  int64_t gpus, nodes; /* GPUs of all machines, and how many those are */
} QmExport;

/* Keyword arguments of TrainingArguments of Transformers 5 (training_args.py),
 * with those of DeepSpeed in them where it shards.  Appends to `notes` what has
 * to be done besides, sentences. */
json_t *qm_export_transformers (const QmExport *settings, json_t *notes);

/* A configuration of DeepSpeed (deepspeed.ai/docs/config-json), stage 0 where
 * nothing is sharded by it. */
json_t *qm_export_deepspeed (const QmExport *settings, json_t *notes);

/* The class of Transformers that FSDP gathers at a time; static. */
const char *qm_export_block_class (QmFamily family);

#endif
