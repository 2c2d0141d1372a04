/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/tensor.h"

size_t
qm_type_size (QmType type)
{
  switch (type)
    {
    case QM_TYPE_F32:
    case QM_TYPE_I32:
      return 4;
    case QM_TYPE_F16:
    case QM_TYPE_BF16:
      return 2;
    case QM_TYPE_E4M3:
    case QM_TYPE_E5M2:
      return 1;
    case QM_TYPE_NONE:
      break;
    }
  return 0;
}

const char *
qm_type_name (QmType type)
{
  switch (type)
    {
    case QM_TYPE_F32:
      return "f32";
    case QM_TYPE_F16:
      return "f16";
    case QM_TYPE_BF16:
      return "bf16";
    case QM_TYPE_I32:
      return "i32";
    case QM_TYPE_E4M3:
      return "e4m3";
    case QM_TYPE_E5M2:
      return "e5m2";
    case QM_TYPE_NONE:
      break;
    }
  return "none";
}

QmTensor
qm_tensor_dense (QmType type, int32_t rank, const int64_t *shape, void *data)
{
  QmTensor tensor = { .type = type, .rank = rank, .data = data };
  int64_t stride = 1;

  for (int32_t i = rank - 1; i >= 0; i--)
    {
      tensor.shape[i] = shape[i];
      tensor.stride[i] = stride;
      stride *= shape[i];
    }
  return tensor;
}

int64_t
qm_tensor_elements (const QmTensor *tensor)
{
  int64_t elements = 1;

  if (!qm_tensor_present (tensor))
    return 0;
  for (int32_t i = 0; i < tensor->rank; i++)
    elements *= tensor->shape[i];
  return elements;
}

bool
qm_tensor_is_dense (const QmTensor *tensor)
{
  int64_t stride = 1;

  for (int32_t i = tensor->rank - 1; i >= 0; i--)
    {
      if (tensor->shape[i] != 1 && tensor->stride[i] != stride)
        return false;
      stride *= tensor->shape[i];
    }
  return true;
}

bool
qm_tensor_same_strides (const QmTensor *a, const QmTensor *b)
{
  if (!qm_tensor_same_shape (a, b))
    return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->stride[i] != b->stride[i])
      return false;
  return true;
}

bool
qm_tensor_same_shape (const QmTensor *a, const QmTensor *b)
{
  if (a->rank != b->rank)
    return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i])
      return false;
  return true;
}
