/* SPDX-License-Identifier: Apache-2.0 */

/* The gradient of layer norm and RMS norm.  Rows are kept in registers as in
 * the forward pass; so are the sums of the gradients of gamma and beta over all
 * rows that a thread sees, which are added up in the workspace afterwards. */

#include "kernels/cuda/copied-rows.cuh"
#include "kernels/cuda/cuda-workspace.h"
#include "kernels/cuda/norm-backward.cuh"
#include "kernels/cuda/norm-heads.cuh"

namespace
{

/* The outputs whose gradients there are. */
enum Outputs
{
  ONE,
  JOINED, /* two without gamma of their own: they are added first */
  DUAL
};

/* What a thread has of a row: one group. */
struct Column
{
  QmRaw dy, dy2, x, dsum, a;
  float mean, rstd;

  template <Outputs outputs, bool scaled>
  __device__ __forceinline__ void
  fetch (const NormBackward &norm, int64_t row, int column)
  {
    if (row >= norm.rows)
      return;
    x = qm_fetch_group<true> (norm.sum.row (row), column, norm.columns,
                              norm.sum.type);
    dy = qm_fetch_group<true> (norm.dy.row (row), column, norm.columns,
                               norm.dy.type);
    if (outputs != ONE)
      dy2 = qm_fetch_group<true> (norm.dy2.row (row), column, norm.columns,
                                  norm.dy2.type);
    if (norm.dsum)
      dsum = qm_fetch_group<true> (norm.dsum.row (row), column, norm.columns,
                                   norm.dsum.type);
    if (scaled)
      a = qm_fetch_group<true> (norm.a.row (row), column, norm.columns,
                                norm.a.type);
    mean = norm.rms ? 0 : norm.mean[row];
    rstd = norm.rstd[row];
  }
};

/* One of the two affine outputs: the gradients of its gamma and beta. */
struct Affine
{
  float scale[QM_GROUP], dgamma[QM_GROUP], dbeta[QM_GROUP];

  __device__ __forceinline__ void
  fetch (const QmRows &gamma, int column, int columns)
  {
    qm_unpack (qm_fetch_group<true> (gamma.data, column, columns, gamma.type),
               gamma.type, scale);
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      dgamma[i] = dbeta[i] = 0;
  }

  /* Of the gradient d of the output. */
  __device__ __forceinline__ void
  add (const float (&d)[QM_GROUP],
       const float (&n)[QM_GROUP],
       float (&dn)[QM_GROUP])
  {
#pragma unroll
    for (int i = 0; i < QM_GROUP; i++)
      {
        dgamma[i] += d[i] * n[i];
        dbeta[i] += d[i];
        dn[i] += d[i] * scale[i];
      }
  }

  __device__ __forceinline__ void
  write (float *const *parts, int column, int columns) const
  {
    int64_t at = (int64_t) blockIdx.x * columns + column;

    if (column >= columns)
      return;
    qm_store_as<float, QM_GROUP> (parts[0], at, dgamma);
    qm_store_as<float, QM_GROUP> (parts[1], at, dbeta);
  }
};

/* The gain of a branch, and the gradient of it. */
template <bool scaled> struct Gain
{
  float gain[QM_GROUP], dgain[QM_GROUP];

  __device__ __forceinline__ void
  fetch (const NormBackward &norm, int column)
  {
    if constexpr (scaled)
      {
        fetch_gain<true> (norm, column, gain);
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          dgain[i] = 0;
      }
  }

  /* What a row has of gradients of what was added. */
  __device__ __forceinline__ void
  write_row (const NormBackward &norm,
             int64_t row,
             float factor,
             int column,
             const Column &now,
             const float (&dx)[QM_GROUP])
  {
    if constexpr (scaled)
      {
        write_dx<true> (norm, row, column, dx);
        write_scaled_branch<true> (norm, row, column, now.a, factor, gain, dx,
                                   dgain);
      }
    else
      write_gradients<true> (norm, row, column, dx);
  }

  __device__ __forceinline__ void
  write (const NormBackward &norm, int column) const
  {
    if constexpr (scaled)
      if (column < norm.columns)
        qm_store_as<float, QM_GROUP> (
            norm.parts[4], (int64_t) blockIdx.x * norm.columns + column, dgain);
  }
};

/* Two sums over the block with one barrier; two calls that follow each other
 * take different memory. */
template <int threads>
__device__ __forceinline__ float2
sum_both (float2 x, float2 *shared)
{
  x.x = qm_warp_sum (x.x);
  x.y = qm_warp_sum (x.y);
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads ();
  x = shared[0];
#pragma unroll
  for (int warp = 1; warp < threads / 32; warp++)
    {
      x.x += shared[warp].x;
      x.y += shared[warp].y;
    }
  return x;
}

/* Adds up to two gradients of outputs to those of gamma and beta, and through
 * gamma to dn. */
template <Outputs outputs>
__device__ __forceinline__ void
add_outputs (const NormBackward &norm,
             const Column &now,
             const float (&n)[QM_GROUP],
             Affine &first,
             Affine &second,
             float (&dn)[QM_GROUP])
{
  float d[QM_GROUP], d2[QM_GROUP];

  qm_unpack (now.dy, norm.dy.type, d);
  if (outputs != ONE)
    {
      qm_unpack (now.dy2, norm.dy2.type, d2);
      if (outputs == DUAL)
        second.add (d2, n, dn);
      else
#pragma unroll
        for (int i = 0; i < QM_GROUP; i++)
          d[i] += d2[i];
    }
  first.add (d, n, dn);
}

/* Rows of up to 8 x threads elements, one group a thread: gamma stays in
 * registers, and the next row is fetched while this one is computed. */
template <int threads, Outputs outputs, bool scaled>
__global__ void
__launch_bounds__ (threads)
    column_kernel (const __grid_constant__ NormBackward norm)
{
  __shared__ float2 shared[2][threads / 32];
  int column = (int) threadIdx.x * QM_GROUP, columns = norm.columns;
  int64_t row = blockIdx.x;
  QmDepths depths = { norm.drop, norm.sample, gridDim.x };
  Gain<scaled> gain;
  Affine first, second;
  Column next;

  next.fetch<outputs, scaled> (norm, row, column);
  gain.fetch (norm, column);
  first.fetch (norm.gamma, column, columns);
  if (outputs == DUAL)
    second.fetch (norm.gamma2, column, columns);
  for (int turn = 0; row < norm.rows; row += gridDim.x, turn = 1 - turn)
    {
      Column now = next;
      float n[QM_GROUP], dn[QM_GROUP] = {}, add[QM_GROUP] = {};
      float2 both = {};

      next.fetch<outputs, scaled> (norm, row + gridDim.x, column);
      qm_unpack (now.x, norm.sum.type, n);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        n[i] = (n[i] - now.mean) * now.rstd;
      add_outputs<outputs> (norm, now, n, first, second, dn);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        {
          both.x += dn[i];
          both.y += dn[i] * n[i];
        }
      both = sum_both<threads> (both, shared[turn]);
      both.x = norm.rms ? 0 : both.x / (float) columns;
      both.y /= (float) columns;
      if (norm.dsum)
        qm_unpack (now.dsum, norm.dsum.type, add);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        dn[i] = now.rstd * (dn[i] - both.x - n[i] * both.y) + add[i];
      gain.write_row (norm, row, scaled ? depths.next (row) : 1, column, now,
                      dn);
    }
  gain.write (norm, column);
  first.write (norm.parts, column, columns);
  if (outputs == DUAL)
    second.write (norm.parts + 2, column, columns);
}

/* Rows of two gradients, or long ones of one with a gain, of up to 8 x threads
 * elements, one group a thread, on Hopper.  Two blocks of 320 threads shall
 * fit; the compiler knows best for the others. */
template <int threads, Outputs outputs, bool scaled>
__global__ void
__launch_bounds__ (threads, threads == 320 ? 2 : 0)
    stream_kernel (const __grid_constant__ NormBackward norm,
                   const __grid_constant__ QmCopied copied)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__ (QM_COPY_ALIGNMENT) uint4 memory[];
  __shared__ uint64_t full[QM_MOST_STAGES];
  __shared__ float shared[2][2][32];
  QmCopier copier = { copied, full, (char *) memory, norm.rows };
  int column = (int) threadIdx.x * QM_GROUP, columns = norm.columns;
  float share = 1 / (float) columns;
  QmDepths depths = { norm.drop, norm.sample, gridDim.x };
  Gain<scaled> gain;
  Affine first, second;

  copier.begin ();
  gain.fetch (norm, column);
  first.fetch (norm.gamma, column, columns);
  if (outputs == DUAL)
    second.fetch (norm.gamma2, column, columns);
  for (int64_t row = blockIdx.x, turn = 0; row < norm.rows;
       row += gridDim.x, turn = 1 - turn)
    {
      float mean = norm.rms ? 0 : norm.mean[row], rstd = norm.rstd[row];
      const char *at = copier.row ();
      float n[QM_GROUP], dn[QM_GROUP] = {}, add[QM_GROUP] = {};
      float total = 0, dot = 0;
      float2 both;
      Column now;

      now.x = qm_fetch_group<true> (at + norm.at_sum, column, columns,
                                    norm.sum.type);
      now.dy =
          qm_fetch_group<true> (at + norm.at_dy, column, columns, norm.dy.type);
      if (outputs != ONE)
        now.dy2 = qm_fetch_group<true> (at + norm.at_dy2, column, columns,
                                        norm.dy2.type);
      if (norm.dsum)
        now.dsum = qm_fetch_group<true> (at + norm.at_dsum, column, columns,
                                         norm.dsum.type);
      if (scaled)
        now.a =
            qm_fetch_group<true> (at + norm.at_a, column, columns, norm.a.type);
      qm_unpack (now.x, norm.sum.type, n);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        n[i] = (n[i] - mean) * rstd;
      add_outputs<outputs> (norm, now, n, first, second, dn);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        {
          total += dn[i];
          dot += dn[i] * n[i];
        }
      both = qm_sum_both (total, dot, shared[turn]);
      copier.release (row);
      both.x = norm.rms ? 0 : both.x * share;
      both.y *= share;
      if (norm.dsum)
        qm_unpack (now.dsum, norm.dsum.type, add);
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        dn[i] = rstd * (dn[i] - both.x - n[i] * both.y) + add[i];
      gain.write_row (norm, row, scaled ? depths.next (row) : 1, column, now,
                      dn);
    }
  gain.write (norm, column);
  first.write (norm.parts, column, columns);
  if (outputs == DUAL)
    second.write (norm.parts + 2, column, columns);
#endif
}

template <int threads>
unsigned
launch_columns (const QmCudaContext *context,
                cudaStream_t stream,
                const NormBackward &norm)
{
  auto kernel = norm.gain.data != nullptr  ? column_kernel<threads, ONE, true>
                : norm.dy2.data == nullptr ? column_kernel<threads, ONE, false>
                : norm.joined ? column_kernel<threads, JOINED, false>
                              : column_kernel<threads, DUAL, false>;
  int64_t most = QM_CUDA_NORM_PARTS;
  unsigned blocks = qm_resident (context, kernel, threads,
                                 norm.rows < most ? norm.rows : most);

  kernel<<<blocks, threads, 0, stream>>> (norm);
  return blocks;
}

template <int most_threads>
unsigned
launch_stream (const QmCudaContext *context,
               cudaStream_t stream,
               NormBackward norm)
{
  auto kernel = norm.joined ? stream_kernel<most_threads, JOINED, false>
                            : stream_kernel<most_threads, DUAL, false>;
  int threads = (norm.columns + 32 * QM_GROUP - 1) / (32 * QM_GROUP) * 32;
  int64_t most = QM_CUDA_NORM_PARTS;
  QmCopied copied = {};
  unsigned blocks;
  size_t bytes;

  /* Short rows with a gain are in columns, see launch_whole(). */
  if constexpr (most_threads > 128)
    if (norm.gain.data != nullptr)
      kernel = stream_kernel<most_threads, ONE, true>;
  norm.at_sum = copied.add (norm.sum, norm.columns);
  norm.at_dy = copied.add (norm.dy, norm.columns);
  norm.at_dy2 = copied.add (norm.dy2, norm.columns);
  norm.at_dsum = copied.add (norm.dsum, norm.columns);
  norm.at_a = copied.add (norm.a, norm.columns);
  blocks =
      qm_resident_copier (context, kernel, threads,
                          norm.rows < most ? norm.rows : most, copied, &bytes);
  kernel<<<blocks, threads, bytes, stream>>> (norm, copied);
  return blocks;
}

/* Launches the kernel; returns the number of its blocks. */
template <int threads, int groups, bool whole>
unsigned
launch (const QmCudaContext *context,
        cudaStream_t stream,
        const NormBackward &norm)
{
  constexpr int block = threads == 32 ? 128 : threads;
  bool dual = norm.dy2.data != nullptr;
  auto kernel =
      norm.gain.data != nullptr
          ? (dual ? norm_backward_kernel<threads, groups, whole, true, true>
                  : norm_backward_kernel<threads, groups, whole, false, true>)
          : (dual ? norm_backward_kernel<threads, groups, whole, true, false>
                  : norm_backward_kernel<threads, groups, whole, false, false>);
  int64_t rows = threads == 32 ? (norm.rows + 3) / 4 : norm.rows;
  int64_t most = QM_CUDA_NORM_PARTS;
  unsigned blocks =
      qm_resident (context, kernel, block, rows < most ? rows : most);

  kernel<<<blocks, block, 0, stream>>> (norm);
  return blocks;
}

/* Rows of two gradients, or long ones with a gain, that the copy engine shall
 * fetch; those of more than 640 groups would not leave a thread enough
 * registers. */
bool
can_stream (const QmCudaContext *context, int64_t columns)
{
  return qm_cuda_has_hopper (context) && columns > 512
         && columns <= 640 * QM_GROUP;
}

bool
is_of_heads (const NormBackward &norm)
{
  return norm.dy2.data == nullptr && norm.dsum.data == nullptr
         && norm.branch.data == nullptr && norm.branch2.data == nullptr
         && norm.dy.type == norm.sum.type
         && are_heads (norm.columns, norm.sum.type, norm.dx.type);
}

unsigned
launch_as_heads (const QmCudaContext *context,
                 cudaStream_t stream,
                 const NormBackward &norm)
{
  NormHeads heads = { .x = norm.sum,
                      .gamma = norm.gamma,
                      .dy = norm.dy,
                      .dx = norm.dx,
                      .mean = (float *) norm.mean,
                      .rstd = (float *) norm.rstd,
                      .parts = { norm.parts[0], norm.parts[1] },
                      .rows = norm.rows,
                      .columns = norm.columns,
                      .rms = norm.rms };

  return launch_heads<NormHeadsBackward> (context, stream, heads, norm.dy.type,
                                          QM_CUDA_NORM_PARTS);
}

unsigned
launch_whole (const QmCudaContext *context,
              cudaStream_t stream,
              const NormBackward &norm)
{
  int n = norm.columns;
  bool dual = norm.dy2.data != nullptr, scaled = norm.gain.data != nullptr;
  bool streams = scaled ? !dual && n > 1024 : dual;

  if (is_of_heads (norm))
    return launch_as_heads (context, stream, norm);
  if (n <= 256)
    return launch<32, 1, true> (context, stream, norm);
  if (n <= 512)
    return launch<32, 2, true> (context, stream, norm);
  if (streams && can_stream (context, n))
    return n <= 1024   ? launch_stream<128> (context, stream, norm)
           : n <= 2048 ? launch_stream<256> (context, stream, norm)
           : n <= 2560 ? launch_stream<320> (context, stream, norm)
           : n <= 4096 ? launch_stream<512> (context, stream, norm)
                       : launch_stream<640> (context, stream, norm);
  if (n <= 768 && !norm.joined && (dual || !scaled))
    return launch<32, 3, true> (context, stream, norm);
  if (n <= 768)
    return launch_columns<96> (context, stream, norm);
  if (n <= 1024 && !(dual && scaled))
    return launch_columns<128> (context, stream, norm);
  if (n <= 2048 && !dual)
    return launch_columns<256> (context, stream, norm);
  if (n <= 2048)
    return launch<256, 1, true> (context, stream, norm);
  if (n <= 4096)
    return launch<256, 2, true> (context, stream, norm);
  if (n <= 8192)
    return launch<512, 2, true> (context, stream, norm);
  return launch<1024, 4, true> (context, stream, norm);
}

/* Rows whose kernel can add dy2 to dy. */
bool
joins (const QmCudaContext *context, int64_t columns)
{
  return (columns > 512 && columns <= 1024) || can_stream (context, columns);
}

static_assert (1024 * 4 * QM_GROUP == QM_CUDA_NORM_COLUMNS,
               "longer rows do not fit the registers of a block");

bool
is_whole (const QmOpCall *call)
{
  static const int inputs[] = { 0, 1, 2, 5, 6, 7, 9, 10 };
  static const int outputs[] = { 0, 5, 6 };
  bool whole = call->inputs[0].shape[1] % QM_GROUP == 0;

  for (int slot : inputs)
    whole = whole && qm_cuda_vectors (&call->inputs[slot], QM_GROUP);
  for (int slot : outputs)
    whole = whole && qm_cuda_vectors (&call->outputs[slot], QM_GROUP);
  return whole;
}

/* Adds what the blocks have summed to the gradients of the parameters. */
QmStatus
add_parts (cudaStream_t stream,
           const NormBackward &norm,
           const QmOpCall *call,
           int64_t parts,
           QmError *error)
{
  /* Both pairs are of the same parameters where there is no second gamma. */
  bool shared = !qm_tensor_present (&call->inputs[7]);
  int pairs = norm.dy2.data != nullptr && !norm.joined ? 2 : 1;
  QmStatus status = QM_OK;

  for (int pair = 0; pair < pairs && status == QM_OK;)
    {
      const float *partial[QM_CUDA_MOST_SUMS];
      float *sums[QM_CUDA_MOST_SUMS];
      int n = 0, end = shared ? pair + 1 : pairs;

      for (int i = 2 * pair; i < 2 * end; i++)
        {
          const QmTensor &to = call->outputs[1 + (shared ? i % 2 : i)];

          if (!qm_tensor_present (&to))
            continue;
          partial[n] = norm.parts[i];
          sums[n++] = (float *) to.data;
        }
      if (pair == 0 && norm.gain.data != nullptr)
        {
          partial[n] = norm.parts[4];
          sums[n++] = (float *) call->outputs[7].data;
        }
      pair = end;
      if (n > 0)
        status = qm_cuda_add_all_parts (stream, n, partial, parts, norm.columns,
                                        1, sums, error);
    }
  return status;
}

} /* namespace */

QmStatus
qm_cuda_layer_norm_backward (QmCudaContext *context,
                             cudaStream_t stream,
                             const QmOpCall *call,
                             QmError *error)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  const QmAttributes &attributes = call->attributes;
  int64_t columns = in[0].shape[1];
  NormBackward norm = {
    .dy = qm_rows (in[0]),
    .dy2 = qm_rows (in[6]),
    .sum = qm_rows (in[1]),
    .dsum = qm_rows (in[5]),
    .gamma = qm_rows (in[2]),
    .gamma2 = qm_rows (in[qm_tensor_present (&in[7]) ? 7 : 2]),
    .a = qm_rows (in[9]),
    .gain = qm_rows (in[10]),
    .dx = qm_rows (out[0]),
    .branch = qm_rows (out[5]),
    .branch2 = qm_rows (out[6]),
    .mean = (const float *) in[3].data,
    .rstd = (const float *) in[4].data,
    .drop = qm_dropout (attributes, attributes.site, in[8]),
    .drop2 = qm_dropout (attributes, attributes.site2, in[8]),
    .rows = in[0].shape[0],
    .sample = attributes.height * attributes.width,
    .columns = (int) columns,
    .rms = attributes.rms,
  };
  bool whole = is_whole (call);
  QmStatus status;
  unsigned parts;

  for (int i = 0; i < 5; i++)
    norm.parts[i] =
        (float *) call->workspace
        + (i < 4 ? i : qm_cuda_norm_gain (call)) * QM_CUDA_NORM_PARTS * columns;
  norm.joined = whole && joins (context, columns) && norm.dy2.data != nullptr
                && norm.gain.data == nullptr && !qm_tensor_present (&in[7]);
  if (whole)
    parts = launch_whole (context, stream, norm);
  else if (columns <= 1024)
    parts = launch<128, 1, false> (context, stream, norm);
  else
    parts = launch<1024, 4, false> (context, stream, norm);
  status = qm_cuda_launched (call, error);
  if (status == QM_OK)
    status = add_parts (stream, norm, call, parts, error);
  return status;
}
