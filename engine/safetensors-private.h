/* SPDX-License-Identifier: Apache-2.0 */

/* What a file of tensors is made of; between safetensors.c, which reads one,
 * and safetensors-index.c, which puts several together. */

#ifndef QM_ENGINE_SAFETENSORS_PRIVATE_H
#define QM_ENGINE_SAFETENSORS_PRIVATE_H

#include "engine/safetensors.h"

#include <jansson.h>

struct QmSafetensors
{
  FILE *stream; /* NULL: an index */
  char *path;
  json_t *header; /* holds the names */
  QmStoredTensor *tensors;
  size_t n;
  uint64_t data, size; /* where data begins, and the file ends */
  /* Of an index: the files that tensors are in. */
  QmSafetensors **shards;
  size_t n_shards;
};

/* Whether a path is that of an index, by the end of its name. */
bool qm_safetensors_is_index (const char *path);

/* Opens an index and all files that it names. */
QmStatus qm_safetensors_open_index (const char *path,
                                    QmSafetensors **file,
                                    QmError *error);

#endif
