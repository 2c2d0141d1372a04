/* SPDX-License-Identifier: Apache-2.0 */

/* What tests of single operators have in common: where they run, and what they
 * run on. */

#ifndef QM_TESTS_KERNELS_OPERATOR_BENCH_H
#define QM_TESTS_KERNELS_OPERATOR_BENCH_H

#include "kernels/operators.h"
#include "tests/data/check.h"

typedef struct Bench
{
  QmDevice *device;
  QmStream *stream;
} Bench;

static inline QmTensor
tensor1 (QmType type, int64_t n, void *data)
{
  return qm_tensor_dense (type, 1, &n, data);
}

static inline QmTensor
tensor2 (QmType type, int64_t rows, int64_t columns, void *data)
{
  return qm_tensor_dense (type, 2, (int64_t[]){ rows, columns }, data);
}

static inline void
run (const Bench *bench, const QmOpCall *call)
{
  QmError error = { 0 };

  CHECK_INT (qm_op_run (bench->device, bench->stream, call, &error), QM_OK);
  CHECK_STRING (error.message, "");
}

/* A call that is not to be made. */
static inline void
refused (const Bench *bench, const QmOpCall *call)
{
  CHECK_INT (qm_op_run (bench->device, bench->stream, call, NULL),
             QM_STATUS_INVALID);
}

#endif
