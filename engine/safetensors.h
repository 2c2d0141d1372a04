/* SPDX-License-Identifier: Apache-2.0 */

/* Files of named tensors, in the safetensors format of Hugging Face: eight
 * bytes with the length of a header, the header as JSON, the data.  Files are
 * hostile: everything is checked against the size of the file before it is
 * used. */

#ifndef QM_ENGINE_SAFETENSORS_H
#define QM_ENGINE_SAFETENSORS_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define QM_SAFETENSORS_MAX_RANK 8

typedef struct QmStoredTensor
{
  const char *name;
  char type[8]; /* "F32", "BF16", "F8_E4M3", ... */
  int32_t rank; /* 0: one element */
  int64_t shape[QM_SAFETENSORS_MAX_RANK];
  int64_t elements;
  uint64_t begin, bytes; /* in the file */
  int32_t shard;         /* which of the files of an index */
} QmStoredTensor;

typedef struct QmSafetensors QmSafetensors;

/* Opens a file; data stays in it until it is read.  Of a path that ends with
 * ".index.json" all files are opened that tensors are in by what it says; they
 * have to be in the same folder, and every tensor in one of them. */
QmStatus
qm_safetensors_open (const char *path, QmSafetensors **file, QmError *error);

/* The same from a stream of `size` bytes, which is closed with the file or on
 * failure; `name` is for messages. */
QmStatus qm_safetensors_open_stream (FILE *stream,
                                     uint64_t size,
                                     const char *name,
                                     QmSafetensors **file,
                                     QmError *error);

/* Closes a file; NULL is allowed. */
void qm_safetensors_close (QmSafetensors *file);

/* All tensors, in the order of the header. */
const QmStoredTensor *qm_safetensors_all (const QmSafetensors *file, size_t *n);

/* The tensor of that name, or NULL. */
const QmStoredTensor *qm_safetensors_find (const QmSafetensors *file,
                                           const char *name);

/* Whether a tensor has exactly that shape. */
bool qm_stored_has_shape (const QmStoredTensor *tensor,
                          int32_t rank,
                          const int64_t *shape);

/* Reads all elements of an F64, F32, F16 or BF16 tensor. */
QmStatus qm_safetensors_read_floats (QmSafetensors *file,
                                     const QmStoredTensor *tensor,
                                     float *to,
                                     QmError *error);

/* Reads all elements of an I64, I32 or U8 tensor that has to be in [min, max].
 */
QmStatus qm_safetensors_read_ints (QmSafetensors *file,
                                   const QmStoredTensor *tensor,
                                   int32_t min,
                                   int32_t max,
                                   int32_t *to,
                                   QmError *error);

/* A tensor to be written, as F32. */
typedef struct QmTensorToStore
{
  const char *name;
  int32_t rank;
  int64_t shape[QM_SAFETENSORS_MAX_RANK];
} QmTensorToStore;

/* Fills in the elements of tensor `index`. */
typedef QmStatus (*QmTensorSource) (void *data,
                                    size_t index,
                                    float *to,
                                    QmError *error);

/* Writes a file, which is not there before it is complete (data/file.h). */
QmStatus qm_safetensors_write (const char *path,
                               const QmTensorToStore *tensors,
                               size_t n,
                               QmTensorSource source,
                               void *data,
                               QmError *error);

#endif
