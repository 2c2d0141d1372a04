/* SPDX-License-Identifier: Apache-2.0 */

/* What tests of the operators along rows draw. */

#ifndef QM_TESTS_KERNELS_ROWS_H
#define QM_TESTS_KERNELS_ROWS_H

#include "tests/kernels/compare.h"

#define SHAPE(...) ((int64_t[]){ __VA_ARGS__ })

typedef struct Test
{
  Compare compare;
  bool small;
} Test;

static inline int64_t
between (Test *test, int64_t low, int64_t high)
{
  return compare_between (&test->compare, low, high);
}

static inline int64_t
pick (Test *test, const int64_t *values, size_t n)
{
  int64_t value = values[between (test, 0, (int64_t) n - 1)];

  return test->small && value > 2100 ? 100 : value;
}
#define PICK(test, ...)            \
  pick (test, SHAPE (__VA_ARGS__), \
        sizeof SHAPE (__VA_ARGS__) / sizeof (int64_t))

static inline QmTensor
matrix (Test *test, QmType type, int64_t rows, int64_t columns)
{
  int64_t gap = PICK (test, 0, 0, 8, 3);
  int64_t offset = PICK (test, 0, 0, 0, 8, 1);

  return compare_tensor (&test->compare, type, 2, SHAPE (rows, columns), gap,
                         offset);
}

static inline QmTensor
dense (Test *test, QmType type, int32_t rank, const int64_t *shape)
{
  return compare_tensor (&test->compare, type, rank, shape, 0,
                         PICK (test, 0, 0, 0, 1));
}

static inline QmTensor
line (Test *test, QmType type, int64_t n)
{
  return dense (test, type, 1, SHAPE (n));
}

static inline QmType
any_type (Test *test)
{
  return compare_type (&test->compare);
}

static inline void
set_ids (Test *test, const QmTensor *tensor, int64_t low, int64_t high)
{
  for (int64_t i = 0; i < qm_tensor_elements (tensor); i++)
    ((int32_t *) tensor->data)[i] = (int32_t) between (test, low, high);
}

static inline double
some_dropout (Test *test)
{
  return between (test, 0, 1) ? 0.1 * (double) between (test, 1, 5) : 0;
}

static inline int64_t
some_columns (Test *test)
{
  int64_t even = PICK (test, 8, 64, 256, 264, 512, 768, 1024, 2048, 2560, 3072,
                       4096, 5120, 8192, 10240);

  return between (test, 0, 2) ? even
                              : between (test, 1, test->small ? 1100 : 4500);
}

/* What a branch is multiplied with, and the samples that are left out of it. */
static inline QmTensor
some_gain (Test *test, QmAttributes *attributes, int64_t rows, int64_t n)
{
  attributes->height = rows % 3 == 0 ? 3 : 1;
  attributes->width = rows % 4 == 0 ? 4 : 1;
  return line (test, any_type (test), n);
}

/* Those of norms, each with inputs of its own at every call. */
void test_layer_norm (Test *test);
void test_layer_norm_backward (Test *test);
void test_norm_without_bias (Test *test);
void test_adaptive_norm (Test *test);

#endif
