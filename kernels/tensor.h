/* SPDX-License-Identifier: Apache-2.0 */

/* Views of memory of a device. */

#ifndef QM_KERNELS_TENSOR_H
#define QM_KERNELS_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum QmType
{
  QM_TYPE_NONE, /* no tensor: an optional input or output that is absent */
  QM_TYPE_F32,
  QM_TYPE_F16,  /* IEEE 754 binary16 */
  QM_TYPE_BF16, /* the upper half of a binary32 */
  QM_TYPE_I32,
  /* FP8 of the Open Compute Project (OFP8, revision 1.0, 2023), as Micikevicius
   * et al. 2022, arXiv 2209.05433: */
  QM_TYPE_E4M3, /* bias 7, to 448; no infinities, 0x7f and 0xff no numbers */
  QM_TYPE_E5M2  /* bias 15, to 57344; the upper half of a binary16 */
} QmType;

#define QM_MAX_RANK 5

/* A view: element (i0, i1, ...) is at data + sum of i_d stride_d, in
 * elements. Strides are positive.  A view owns nothing.  All zero is "no
 * tensor". */
typedef struct QmTensor
{
  QmType type;
  int32_t rank;
  int64_t shape[QM_MAX_RANK];
  int64_t stride[QM_MAX_RANK];
  void *data;
} QmTensor;

/* Bytes of an element; 0 for QM_TYPE_NONE. */
size_t qm_type_size (QmType type);

/* "f32", "f16", "bf16", "i32", "e4m3", "e5m2", "none"; static. */
const char *qm_type_name (QmType type);

/* Whether it is one of the two of 8 bits, which scales go with
 * (kernels/scaled.h). */
static inline bool
qm_type_is_fp8 (QmType type)
{
  return type == QM_TYPE_E4M3 || type == QM_TYPE_E5M2;
}

static inline bool
qm_tensor_present (const QmTensor *tensor)
{
  return tensor->type != QM_TYPE_NONE;
}

/* A tensor in row-major order without gaps. */
QmTensor
qm_tensor_dense (QmType type, int32_t rank, const int64_t *shape, void *data);

/* Number of elements; 0 for "no tensor". */
int64_t qm_tensor_elements (const QmTensor *tensor);

/* Whether the elements follow each other in row-major order without gaps. */
bool qm_tensor_is_dense (const QmTensor *tensor);

/* Whether both have as many dimensions, of the same sizes. */
bool qm_tensor_same_shape (const QmTensor *a, const QmTensor *b);

/* The same, and strides as well. */
bool qm_tensor_same_strides (const QmTensor *a, const QmTensor *b);

#endif
