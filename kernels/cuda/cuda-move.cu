/* SPDX-License-Identifier: Apache-2.0 */

/* Filling, copying, converting, adding. */

#include "kernels/cuda/cuda-common.cuh"

#define THREADS 256
#define WIDTH   8

__global__ void
probe_kernel (void)
{
}

cudaError_t
qm_cuda_probe (void)
{
  struct cudaFuncAttributes attributes;

  return cudaFuncGetAttributes (&attributes, (const void *) probe_kernel);
}

bool
qm_cuda_vectors (const QmTensor *tensor, int width)
{
  size_t size = qm_type_size (tensor->type);
  size_t bytes = (size_t) width * size < 16 ? (size_t) width * size : 16;

  if (!qm_tensor_present (tensor))
    return true;
  if ((uintptr_t) tensor->data % bytes != 0
      || tensor->shape[tensor->rank - 1] % width != 0)
    return false;
  for (int32_t i = 0; i + 1 < tensor->rank; i++)
    if (tensor->shape[i] > 1 && (size_t) tensor->stride[i] * size % bytes != 0)
      return false;
  return true;
}

/* Where the elements of a view are, its dimensions merged as far as its strides
 * allow. */
struct Layout
{
  int rank;
  int64_t size[QM_MAX_RANK];
  int64_t from[QM_MAX_RANK], to[QM_MAX_RANK];
};

static Layout
merge (const QmTensor &x, const QmTensor &y)
{
  Layout layout = {};

  for (int32_t i = 0; i < x.rank; i++)
    {
      int last = layout.rank - 1;

      if (x.shape[i] == 1)
        continue;
      if (layout.rank > 0 && layout.from[last] == x.shape[i] * x.stride[i]
          && layout.to[last] == x.shape[i] * y.stride[i])
        {
          layout.size[last] *= x.shape[i];
          layout.from[last] = x.stride[i];
          layout.to[last] = y.stride[i];
          continue;
        }
      layout.size[layout.rank] = x.shape[i];
      layout.from[layout.rank] = x.stride[i];
      layout.to[layout.rank] = y.stride[i];
      layout.rank++;
    }
  if (layout.rank == 0)
    {
      layout.rank = 1;
      layout.size[0] = layout.from[0] = layout.to[0] = 1;
    }
  return layout;
}

/* Whether `width` elements of the innermost dimension can be moved at once. */
static bool
in_vectors (const Layout &layout,
            const QmTensor &x,
            const QmTensor &y,
            int width)
{
  int last = layout.rank - 1;
  uintptr_t x_bytes = width * qm_type_size (x.type);
  uintptr_t y_bytes = width * qm_type_size (y.type);

  x_bytes = x_bytes < 16 ? x_bytes : 16;
  y_bytes = y_bytes < 16 ? y_bytes : 16;
  if (x.type == QM_TYPE_I32 || y.type == QM_TYPE_I32
      || layout.size[last] % width != 0 || layout.from[last] != 1
      || layout.to[last] != 1 || (uintptr_t) x.data % x_bytes != 0
      || (uintptr_t) y.data % y_bytes != 0)
    return false;
  for (int i = 0; i < last; i++)
    if (layout.from[i] * qm_type_size (x.type) % x_bytes != 0
        || layout.to[i] * qm_type_size (y.type) % y_bytes != 0)
      return false;
  return true;
}

/* Element `item` * width, counted by rows, is here in x and there in y. */
static __device__ __forceinline__ void
locate (
    const Layout &layout, int64_t item, int width, int64_t &from, int64_t &to)
{
  from = to = 0;
#pragma unroll
  for (int i = QM_MAX_RANK - 1; i >= 0; i--)
    {
      if (i >= layout.rank)
        continue;
      int64_t size =
          i == layout.rank - 1 ? layout.size[i] / width : layout.size[i];
      int64_t step = i == layout.rank - 1 ? width : 1;
      int64_t rest = i == 0 ? 0 : item / size;
      int64_t index = (item - rest * size) * step;

      from += index * layout.from[i];
      to += index * layout.to[i];
      item = rest;
    }
}

template <int N>
__global__ void
copy_kernel (Layout layout, QmArray x, QmArray y, int64_t items)
{
  for (int64_t item = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;
       item < items; item += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t from, to;
      float values[N];

      locate (layout, item, N, from, to);
      qm_load<N> (x, from, values);
      qm_store<N> (y, to, values);
    }
}

/* The same where a side holds whole numbers. */
__global__ void
copy_whole_kernel (Layout layout, QmArray x, QmArray y, int64_t items)
{
  for (int64_t item = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;
       item < items; item += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t from, to;

      locate (layout, item, 1, from, to);
      if (x.type == QM_TYPE_I32 && y.type == QM_TYPE_I32)
        ((int32_t *) y.data)[to] = ((const int32_t *) x.data)[from];
      else if (x.type == QM_TYPE_I32)
        qm_store (y, to, (float) ((const int32_t *) x.data)[from]);
      else
        ((int32_t *) y.data)[to] = (int32_t) qm_load (x, from);
    }
}

__global__ void
fill_kernel (Layout layout, QmArray y, float value, int64_t items)
{
  for (int64_t item = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;
       item < items; item += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t from, to;

      locate (layout, item, 1, from, to);
      if (y.type == QM_TYPE_I32)
        ((int32_t *) y.data)[to] = (int32_t) value;
      else
        qm_store (y, to, value);
    }
}

QmStatus
qm_cuda_fill (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error)
{
  const QmTensor &y = call->outputs[0];
  int64_t items = qm_tensor_elements (&y);

  fill_kernel<<<qm_grid (context, items, THREADS), THREADS, 0, stream>>> (
      merge (y, y), qm_array (y), (float) call->attributes.value, items);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_copy (QmCudaContext *context,
              cudaStream_t stream,
              const QmOpCall *call,
              QmError *error)
{
  const QmTensor &x = call->inputs[0], &y = call->outputs[0];
  Layout layout = merge (x, y);
  int64_t items = qm_tensor_elements (&x);
  unsigned grid = qm_grid (context, items, THREADS);

  if (x.type == QM_TYPE_I32 || y.type == QM_TYPE_I32)
    copy_whole_kernel<<<grid, THREADS, 0, stream>>> (layout, qm_array (x),
                                                     qm_array (y), items);
  else if (in_vectors (layout, x, y, WIDTH))
    copy_kernel<WIDTH>
        <<<qm_grid (context, items / WIDTH, THREADS), THREADS, 0, stream>>> (
            layout, qm_array (x), qm_array (y), items / WIDTH);
  else
    copy_kernel<1><<<grid, THREADS, 0, stream>>> (layout, qm_array (x),
                                                  qm_array (y), items);
  return qm_cuda_launched (call, error);
}

/* y2.data may be NULL. */
template <int N>
__global__ void
add_kernel (QmArray a, QmArray b, QmArray y, QmArray y2, int64_t items)
{
  for (int64_t item = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;
       item < items; item += (int64_t) gridDim.x * blockDim.x)
    {
      float sum[N], addend[N];

      qm_load<N> (a, item * N, sum);
      qm_load<N> (b, item * N, addend);
#pragma unroll
      for (int i = 0; i < N; i++)
        sum[i] += addend[i];
      qm_store<N> (y, item * N, sum);
      if (y2.data != nullptr)
        qm_store<N> (y2, item * N, sum);
    }
}

QmStatus
qm_cuda_add (QmCudaContext *context,
             cudaStream_t stream,
             const QmOpCall *call,
             QmError *error)
{
  const QmTensor &a = call->inputs[0], &b = call->inputs[1];
  const QmTensor &y = call->outputs[0], &y2 = call->outputs[1];
  int64_t items = qm_tensor_elements (&a);

  if (qm_cuda_vectors (&a, WIDTH) && qm_cuda_vectors (&b, WIDTH)
      && qm_cuda_vectors (&y, WIDTH) && qm_cuda_vectors (&y2, WIDTH))
    add_kernel<WIDTH>
        <<<qm_grid (context, items / WIDTH, THREADS), THREADS, 0, stream>>> (
            qm_array (a), qm_array (b), qm_array (y), qm_array (y2),
            items / WIDTH);
  else
    add_kernel<1><<<qm_grid (context, items, THREADS), THREADS, 0, stream>>> (
        qm_array (a), qm_array (b), qm_array (y), qm_array (y2), items);
  return qm_cuda_launched (call, error);
}
