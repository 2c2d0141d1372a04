/* SPDX-License-Identifier: Apache-2.0 */

/* Rotary position embedding.  A unit of work is N elements of a head together
 * with the N that they turn with, so that x may be y; or N elements that are
 * only copied. */

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct Rotary
{
  QmArray x, y;
  const float *table;
  int64_t x_stride[4], y_stride[4]; /* of B, S, 3 and H */
  int64_t table_stride, heads_in_all;
  int length, heads, half;
  int units, turned; /* of one head: units turned come first */
  int parts;         /* that anything is done to */
  float sign;
};

template <int N>
__device__ __forceinline__ void
turn (const Rotary &rotary, int64_t from, int64_t to, int s, int j)
{
  const float *table = rotary.table + s * rotary.table_stride + j;
  float a[N], b[N], c[N], d[N];

  qm_load<N> (rotary.x, from + j, a);
  qm_load<N> (rotary.x, from + j + rotary.half, b);
#pragma unroll
  for (int i = 0; i < N; i++)
    {
      float cosine = table[i], sine = rotary.sign * table[rotary.half + i];

      c[i] = a[i] * cosine - b[i] * sine;
      d[i] = b[i] * cosine + a[i] * sine;
    }
  qm_store<N> (rotary.y, to + j, c);
  qm_store<N> (rotary.y, to + j + rotary.half, d);
}

template <int N>
__global__ void __launch_bounds__ (256)
    rotary_kernel (const __grid_constant__ Rotary rotary)
{
  int64_t n = rotary.heads_in_all * rotary.units;

  for (int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (int64_t) gridDim.x * blockDim.x)
    {
      int64_t head = i / rotary.units;
      int unit = (int) (i - head * rotary.units);
      int64_t row = head / (rotary.parts * rotary.heads);
      int within = (int) (head - row * (rotary.parts * rotary.heads));
      int part = within / rotary.heads, h = within - part * rotary.heads;
      int64_t b = row / rotary.length;
      int s = (int) (row - b * rotary.length);
      int64_t from = b * rotary.x_stride[0] + s * rotary.x_stride[1]
                     + part * rotary.x_stride[2] + h * rotary.x_stride[3];
      int64_t to = b * rotary.y_stride[0] + s * rotary.y_stride[1]
                   + part * rotary.y_stride[2] + h * rotary.y_stride[3];

      if (part == 2 || unit >= rotary.turned)
        {
          /* Units that turn are two of those that are copied. */
          int skip = unit >= rotary.turned && part < 2 ? rotary.turned : 0;
          float x[N];

          qm_load<N> (rotary.x, from + (unit + skip) * N, x);
          qm_store<N> (rotary.y, to + (unit + skip) * N, x);
          if (part == 2 && unit < rotary.turned)
            {
              int other = rotary.units + unit;

              qm_load<N> (rotary.x, from + other * N, x);
              qm_store<N> (rotary.y, to + other * N, x);
            }
        }
      else
        turn<N> (rotary, from, to, s, unit * N);
    }
}

template <int N>
void
launch (const QmCudaContext *context,
        cudaStream_t stream,
        Rotary rotary,
        int width,
        bool in_place)
{
  rotary.turned = rotary.half / N;
  rotary.units = in_place ? rotary.turned : width / N - rotary.turned;
  rotary_kernel<N><<<qm_grid (context, rotary.heads_in_all * rotary.units, 256),
                     256, 0, stream>>> (rotary);
}

/* How many elements can be accessed at once. */
int
unit_width (const QmTensor &x, const QmTensor &y, int64_t half)
{
  for (int n = 8; n > 1; n /= 2)
    if (half % n == 0 && x.shape[4] % n == 0 && qm_cuda_vectors (&x, n)
        && qm_cuda_vectors (&y, n))
      return n;
  return 1;
}

} /* namespace */

QmStatus
qm_cuda_rotary (QmCudaContext *context,
                cudaStream_t stream,
                const QmOpCall *call,
                QmError *error)
{
  const QmTensor &x = call->inputs[0], &y = call->outputs[0];
  const QmTensor &table = call->inputs[1];
  int64_t half = call->attributes.rotary / 2;
  int width = (int) x.shape[4];
  bool in_place = x.data == y.data;
  Rotary rotary = { .x = qm_array (x),
                    .y = qm_array (y),
                    .table = (const float *) table.data,
                    .table_stride = table.stride[0],
                    .length = (int) x.shape[1],
                    .heads = (int) x.shape[3],
                    .half = (int) half,
                    .parts = in_place ? 2 : 3,
                    .sign = call->attributes.inverse ? -1.0f : 1.0f };

  for (int i = 0; i < 4; i++)
    {
      rotary.x_stride[i] = x.stride[i];
      rotary.y_stride[i] = y.stride[i];
    }
  rotary.heads_in_all = x.shape[0] * x.shape[1] * rotary.parts * x.shape[3];
  switch (unit_width (x, y, half))
    {
    case 8:
      launch<8> (context, stream, rotary, width, in_place);
      break;
    case 4:
      launch<4> (context, stream, rotary, width, in_place);
      break;
    case 2:
      launch<2> (context, stream, rotary, width, in_place);
      break;
    default:
      launch<1> (context, stream, rotary, width, in_place);
    }
  return qm_cuda_launched (call, error);
}
