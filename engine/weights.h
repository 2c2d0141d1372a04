/* SPDX-License-Identifier: Apache-2.0 */

/* Weights from and to files. */

#ifndef QM_ENGINE_WEIGHTS_H
#define QM_ENGINE_WEIGHTS_H

#include "engine/executor.h"
#include "engine/safetensors.h"

/* Where a parameter came from. */
typedef struct QmWeightSource
{
  const QmStoredTensor *whole; /* the tensor in the file */
  QmStoredTensor part;         /* what of it the parameter is, under the name of
                                  the tensor, or, of a part, its own */
} QmWeightSource;

/* Sets every parameter from a file that has them under their names, aliases, or
 * those that TensorFlow had for norms, or as parts of larger tensors; and
 * tables of positions, which stay as they are where a file has none; a teacher
 * begins with the same. from[],
 * which may be NULL, receives by parameter where it came from.
 * QM_STATUS_NOT_FOUND for one that is missing; QM_STATUS_INVALID for another
 * shape, for values that are not finite, and where the same parameter is there
 * under two names and differs. */
QmStatus qm_weights_load (const QmPlan *plan,
                          QmExecutor *executor,
                          QmSafetensors *file,
                          const char *path,
                          QmWeightSource *from,
                          QmError *error);

/* The table of positions that a file has under that name, or NULL. */
const QmTable *qm_weights_table (const QmGraph *graph, const char *name);

/* Writes every parameter, or with `averaged` its average, and tables of
 * positions, under the names by which both Transformers 4 and 5 load it,
 * whatever the file that it was read from called it. */
QmStatus qm_weights_save (const QmPlan *plan,
                          QmExecutor *executor,
                          bool averaged,
                          const char *path,
                          QmError *error);

/* Makes columns of rows, in place. */
QmStatus qm_weights_transpose (int64_t rows,
                               int64_t columns,
                               float *values,
                               QmError *error);

#endif
