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
  int64_t x_stride[4], y_stride[4]; /* of B, S, P and H */
  int64_t table_stride;
  QmDivisor units, heads, parts, length;
  uint32_t turning;      /* parts that turn */
  uint32_t first, items; /* first: sequence and position, counted by rows */
  int half, turned;      /* units that turn come first */
  float sign;
};

template <int N>
__device__ __forceinline__ void
turn (const Rotary &rotary, int64_t from, int64_t to, int s, int j)
{
  const float *table = rotary.table + s * rotary.table_stride + j;
  float a[N], b[N], c[N], d[N], cosines[N], sines[N];

  if constexpr (N == QM_GROUP)
    {
      const char *x = (const char *) rotary.x.data;
      QmRaw first = qm_fetch (x, from + j, rotary.x.type);
      QmRaw second = qm_fetch (x, from + j + rotary.half, rotary.x.type);

      qm_unpack (first, rotary.x.type, a);
      qm_unpack (second, rotary.x.type, b);
    }
  else
    {
      qm_load<N> (rotary.x, from + j, a);
      qm_load<N> (rotary.x, from + j + rotary.half, b);
    }
  qm_load_as<float, N> (table, 0, cosines);
  qm_load_as<float, N> (table, rotary.half, sines);
#pragma unroll
  for (int i = 0; i < N; i++)
    {
      float sine = rotary.sign * sines[i];

      c[i] = a[i] * cosines[i] - b[i] * sine;
      d[i] = b[i] * cosines[i] + a[i] * sine;
    }
  qm_store<N> (rotary.y, to + j, c);
  qm_store<N> (rotary.y, to + j + rotary.half, d);
}

template <int N>
__device__ __forceinline__ void
copy (const Rotary &rotary, int64_t from, int64_t to, uint32_t unit)
{
  float x[N];

  qm_load<N> (rotary.x, from + unit * N, x);
  qm_store<N> (rotary.y, to + unit * N, x);
}

template <int N>
__global__ void __launch_bounds__ (256)
    rotary_kernel (const __grid_constant__ Rotary rotary)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, unit, h, part, s;
  uint32_t row = rotary.units.quotient (i, unit), b;
  int64_t from, to;

  if (i >= rotary.items)
    return;
  row = rotary.heads.quotient (row, h);
  row = rotary.parts.quotient (row, part) + rotary.first;
  b = rotary.length.quotient (row, s);
  from = b * rotary.x_stride[0] + s * rotary.x_stride[1]
         + part * rotary.x_stride[2] + h * rotary.x_stride[3];
  to = b * rotary.y_stride[0] + s * rotary.y_stride[1]
       + part * rotary.y_stride[2] + h * rotary.y_stride[3];
  if (part < rotary.turning && unit < (uint32_t) rotary.turned)
    {
      turn<N> (rotary, from, to, (int) s, (int) unit * N);
      return;
    }
  /* Units that turn are two of those that are copied. */
  copy<N> (rotary, from, to,
           unit + (part < rotary.turning ? rotary.turned : 0));
  if (part >= rotary.turning && unit < (uint32_t) rotary.turned)
    copy<N> (rotary, from, to, rotary.units.divisor + unit);
}

template <int N>
void
launch (cudaStream_t stream, Rotary rotary, const QmTensor &x, bool in_place)
{
  int64_t rows = x.shape[0] * x.shape[1], units, each;

  rotary.turned = rotary.half / N;
  units = in_place ? rotary.turned : x.shape[4] / N - rotary.turned;
  each = units * x.shape[3] * rotary.parts.divisor;
  rotary.units = qm_divisor (units);
  for (int64_t row = 0, n; row < rows; row += n)
    {
      n = rows - row < qm_slice (each) ? rows - row : qm_slice (each);
      rotary.first = (uint32_t) row;
      rotary.items = (uint32_t) (n * each);
      rotary_kernel<N>
          <<<qm_blocks (rotary.items, 256), 256, 0, stream>>> (rotary);
    }
}

/* What is turned in place, in 16-byte vectors of 16-bit elements.  Neighbouring
 * lanes have all of them that turn in a head, so that what they read and write
 * at once is whole sectors of memory, and get from each other what theirs turn
 * with.  A thread has the same place in some heads of a position, and reads the
 * table for all of them at once. */
struct Heads
{
  char *data;
  const float *table;
  int64_t batch, position, part, head; /* strides in bytes */
  int64_t table_stride;
  QmDivisor spread, length; /* spread: threads for one place of a position */
  QmDivisor parts;          /* that turn */
  uint32_t first, items, turning; /* turning: heads of all parts */
  int turned, vectors_shift;      /* vectors of a head: 2 x turned = 2^shift */
  float sign;
};

constexpr int heads_each = 4;

template <QmType type>
__global__ void __launch_bounds__ (256)
    heads_kernel (const __grid_constant__ Heads rotary)
{
  uint32_t i = blockIdx.x * 256 + threadIdx.x, place, b, s;
  int vector = (int) (i & ((1u << rotary.vectors_shift) - 1));
  uint32_t row = rotary.spread.quotient (i >> rotary.vectors_shift, place);
  float cosines[QM_GROUP], sines[QM_GROUP];
  float sign = vector < rotary.turned ? -rotary.sign : rotary.sign;
  uint4 raw[heads_each] = {};
  const float *table;
  char *at;

  if (i >= rotary.items)
    place = rotary.turning;
  b = rotary.length.quotient (row + rotary.first, s);
  at = rotary.data + b * rotary.batch + s * rotary.position + vector * 16;
  table = rotary.table + s * rotary.table_stride
          + (vector & (rotary.turned - 1)) * QM_GROUP;
#pragma unroll
  for (int k = 0; k < heads_each; k++)
    {
      uint32_t item = place + k * rotary.spread.divisor;

      if (item < rotary.turning)
        {
          uint32_t part, head = rotary.parts.quotient (item, part);

          raw[k] =
              *(const uint4 *) (at + head * rotary.head + part * rotary.part);
        }
    }
  if (place < rotary.turning)
    {
      qm_load_as<float, QM_GROUP> (table, 0, cosines);
      qm_load_as<float, QM_GROUP> (table, rotary.turned * QM_GROUP, sines);
    }
#pragma unroll
  for (int k = 0; k < heads_each; k++)
    {
      uint32_t item = place + k * rotary.spread.divisor;
      const uint4 &mine = raw[k];
      float x[QM_GROUP], y[QM_GROUP];
      QmRaw other = {};

      other.low.x = __shfl_xor_sync (0xffffffffu, mine.x, rotary.turned);
      other.low.y = __shfl_xor_sync (0xffffffffu, mine.y, rotary.turned);
      other.low.z = __shfl_xor_sync (0xffffffffu, mine.z, rotary.turned);
      other.low.w = __shfl_xor_sync (0xffffffffu, mine.w, rotary.turned);
      qm_unpack ({ mine, {} }, type, x);
      qm_unpack (other, type, y);
#pragma unroll
      for (int e = 0; e < QM_GROUP; e++)
        x[e] = x[e] * cosines[e] + y[e] * (sign * sines[e]);
      if (item < rotary.turning)
        {
          uint32_t part, head = rotary.parts.quotient (item, part);

          *(uint4 *) (at + head * rotary.head + part * rotary.part) =
              qm_pack (x, type).low;
        }
    }
}

bool
turns_heads (const QmTensor &x, const QmTensor &table, int64_t half)
{
  int64_t turned = half / QM_GROUP;

  return x.type != QM_TYPE_F32 && half % QM_GROUP == 0 && turned <= 16
         && (turned & (turned - 1)) == 0 && qm_cuda_vectors (&x, QM_GROUP)
         && qm_cuda_vectors (&table, QM_GROUP);
}

void
launch_heads (cudaStream_t stream, const Rotary &rotary, const QmTensor &x)
{
  const int64_t size = 2;
  int64_t heads = x.shape[3], rows = x.shape[0] * x.shape[1];
  int64_t turning = rotary.turning * heads;
  int64_t spread = (turning + heads_each - 1) / heads_each, each;
  auto kernel = x.type == QM_TYPE_F16 ? heads_kernel<QM_TYPE_F16>
                                      : heads_kernel<QM_TYPE_BF16>;
  Heads work = { .data = (char *) x.data,
                 .table = rotary.table,
                 .batch = x.stride[0] * size,
                 .position = x.stride[1] * size,
                 .part = x.stride[2] * size,
                 .head = x.stride[3] * size,
                 .table_stride = rotary.table_stride,
                 .spread = qm_divisor (spread),
                 .length = rotary.length,
                 .parts = qm_divisor (rotary.turning),
                 .turning = (uint32_t) turning,
                 .turned = rotary.half / QM_GROUP,
                 .vectors_shift = 1,
                 .sign = rotary.sign };

  while (1 << work.vectors_shift < 2 * work.turned)
    work.vectors_shift++;
  each = spread << work.vectors_shift;
  for (int64_t row = 0, n; row < rows; row += n)
    {
      n = rows - row < qm_slice (each) ? rows - row : qm_slice (each);
      work.first = (uint32_t) row;
      work.items = (uint32_t) (n * each);
      kernel<<<qm_blocks (work.items, 256), 256, 0, stream>>> (work);
    }
}

struct Angles
{
  const int32_t *rng; /* may be NULL */
  float *table;
  int64_t stride, tokens, count;
  int height, width, half;
  uint32_t site;
  double theta, move, jitter, rescale;
};

/* A thread makes one cosine and its sine.  In double precision, since a large
 * image needs few of them and is read by every layer. */
__global__ void __launch_bounds__ (256)
    angles_kernel (const __grid_constant__ Angles angles)
{
  int64_t i = (int64_t) blockIdx.x * 256 + threadIdx.x;
  int64_t s = i / angles.half, patch = s - angles.count;
  int j = (int) (i % angles.half), quarter = angles.half / 2;
  int side = j >= quarter;
  int sides = side == 0 ? angles.height : angles.width;
  int64_t at = side == 0 ? patch / angles.width : patch % angles.width;
  double place = 0, sine, cosine;

  if (s >= angles.tokens)
    return;
  if (patch >= 0)
    {
      place = 2 * ((double) at + 0.5) / sides - 1;
      if (angles.rng != nullptr)
        {
          QmRandomBits bits = qm_random_block (angles.rng, angles.site, 0);
          QmRandomBits both = qm_random_block (angles.rng, angles.site, 1);
          float moved = qm_patch_move (bits.word[side], angles.move);
          float factor = qm_patch_factor (bits.word[2 + side], angles.jitter)
                         * qm_patch_factor (both.word[0], angles.rescale);

          place = (place + moved) * factor;
        }
    }
  sincospi (2 * place
                * pow (angles.theta,
                       -(double) (j % quarter) / (double) quarter),
            &sine, &cosine);
  angles.table[s * angles.stride + j] = (float) cosine;
  angles.table[s * angles.stride + angles.half + j] = (float) sine;
}

/* How many elements can be accessed at once. */
int
unit_width (const QmTensor &x,
            const QmTensor &y,
            const QmTensor &table,
            int64_t half)
{
  for (int n = 8; n > 1; n /= 2)
    if (half % n == 0 && qm_cuda_vectors (&table, n) && qm_cuda_vectors (&x, n)
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
  bool in_place = x.data == y.data;
  Rotary rotary = { .x = qm_array (x),
                    .y = qm_array (y),
                    .table = (const float *) table.data,
                    .table_stride = table.stride[0],
                    .heads = qm_divisor (x.shape[3]),
                    .parts = qm_divisor (in_place ? call->attributes.count
                                                  : x.shape[2]),
                    .length = qm_divisor (x.shape[1]),
                    .turning = (uint32_t) call->attributes.count,
                    .half = (int) half,
                    .sign = call->attributes.inverse ? -1.0f : 1.0f };

  for (int i = 0; i < 4; i++)
    {
      rotary.x_stride[i] = x.stride[i];
      rotary.y_stride[i] = y.stride[i];
    }
  if (in_place && turns_heads (x, table, half))
    {
      launch_heads (stream, rotary, x);
      return qm_cuda_launched (call, error);
    }
  switch (unit_width (x, y, table, half))
    {
    case 8:
      launch<8> (stream, rotary, x, in_place);
      break;
    case 4:
      launch<4> (stream, rotary, x, in_place);
      break;
    case 2:
      launch<2> (stream, rotary, x, in_place);
      break;
    default:
      launch<1> (stream, rotary, x, in_place);
    }
  return qm_cuda_launched (call, error);
}

/* Heads [B, H, S, D] as parts of what rotary positions turn. */
static QmTensor
turning_heads (const QmTensor &heads, int64_t parts, int64_t part_stride)
{
  QmTensor x = heads;

  x.rank = 5;
  x.shape[1] = heads.shape[2];
  x.stride[1] = heads.stride[2];
  x.shape[2] = parts;
  x.stride[2] = part_stride;
  x.shape[3] = heads.shape[1];
  x.stride[3] = heads.stride[1];
  x.shape[4] = heads.shape[3];
  x.stride[4] = 1;
  return x;
}

static QmStatus
turn_heads_back (cudaStream_t stream,
                 const QmTensor &x,
                 const float *table,
                 int64_t rotary,
                 QmError *error)
{
  const int64_t shape[2] = { x.shape[1], rotary };
  QmOpCall call = {};

  call.op = QM_OP_ROTARY;
  call.attributes.rotary = rotary;
  call.attributes.count = x.shape[2];
  call.attributes.inverse = true;
  call.inputs[0] = call.outputs[0] = x;
  call.inputs[1] =
      qm_tensor_dense (QM_TYPE_F32, 2, shape, const_cast<float *> (table));
  return qm_cuda_rotary (nullptr, stream, &call, error);
}

/* Both at once where they are as parts of one product are. */
QmStatus
qm_cuda_turn_back (cudaStream_t stream,
                   const QmTensor *dq,
                   const QmTensor *dk,
                   const float *table,
                   int64_t rotary,
                   QmError *error)
{
  const int64_t size = (int64_t) qm_type_size (dq->type);
  const int64_t bytes = (char *) dk->data - (char *) dq->data;
  const bool alike = dq->type == dk->type && dq->stride[0] == dk->stride[0]
                     && dq->stride[1] == dk->stride[1]
                     && dq->stride[2] == dk->stride[2];
  QmTensor x = turning_heads (*dq, 1, dq->stride[1]);
  QmStatus status;

  if (alike && bytes == dq->shape[1] * dq->stride[1] * size)
    {
      x.shape[3] += dk->shape[1];
      return turn_heads_back (stream, x, table, rotary, error);
    }
  if (alike && bytes > 0 && bytes % size == 0 && dq->shape[1] == dk->shape[1])
    return turn_heads_back (stream, turning_heads (*dq, 2, bytes / size), table,
                            rotary, error);
  status = turn_heads_back (stream, x, table, rotary, error);
  if (status != QM_OK)
    return status;
  return turn_heads_back (stream, turning_heads (*dk, 1, dk->stride[1]), table,
                          rotary, error);
}

QmStatus
qm_cuda_patch_angles (QmCudaContext *context,
                      cudaStream_t stream,
                      const QmOpCall *call,
                      QmError *error)
{
  const QmAttributes &attributes = call->attributes;
  const QmTensor &table = call->outputs[0];
  Angles angles = { .rng = (const int32_t *) call->inputs[0].data,
                    .table = (float *) table.data,
                    .stride = table.stride[0],
                    .tokens = table.shape[0],
                    .count = attributes.count,
                    .height = (int) attributes.height,
                    .width = (int) attributes.width,
                    .half = (int) table.shape[1] / 2,
                    .site = attributes.site,
                    .theta = attributes.value,
                    .move = attributes.move,
                    .jitter = attributes.jitter,
                    .rescale = attributes.rescale };

  angles_kernel<<<qm_blocks (angles.tokens * angles.half, 256), 256, 0,
                  stream>>> (angles);
  return qm_cuda_launched (call, error);
}
