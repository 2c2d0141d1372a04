/* SPDX-License-Identifier: Apache-2.0 */

/* What the kernels of the gradient of a norm have in common, and the one for
 * rows of any length: each is a warp's or a block's. */

#ifndef QM_KERNELS_CUDA_NORM_BACKWARD_CUH
#define QM_KERNELS_CUDA_NORM_BACKWARD_CUH

#include "kernels/cuda/cuda-rows.cuh"

namespace
{

struct NormBackward
{
  QmRows dy, dy2, sum, dsum, gamma, gamma2, a, gain, dx, branch, branch2;
  bool joined; /* dy2 has no gamma of its own, and is added to dy first */
  const float *mean, *rstd;
  /* [gridDim.x, columns] of dgamma, dbeta, the second two and dgain */
  float *parts[5];
  QmDropout drop, drop2;
  int64_t rows, sample; /* rows of a sample, where there is a gain */
  int columns;
  bool rms;
  int at_sum, at_dy, at_dy2, at_dsum, at_a; /* in the copy of a row */
};

/* Adds one group's share of one affine output. */
template <bool whole>
__device__ __forceinline__ void
scale_backward (const QmRaw &raw,
                const QmRows &dy,
                const QmRows &gamma,
                int column,
                int columns,
                const float (&n)[QM_GROUP],
                float (&dgamma)[QM_GROUP],
                float (&dbeta)[QM_GROUP],
                float (&dn)[QM_GROUP])
{
  float d[QM_GROUP], scale[QM_GROUP];

  qm_unpack (raw, dy.type, d);
  qm_unpack (qm_fetch_group<whole> (gamma.data, column, columns, gamma.type),
             gamma.type, scale);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      dgamma[i] += d[i] * n[i];
      dbeta[i] += d[i];
      dn[i] += d[i] * scale[i];
    }
}

template <bool whole>
__device__ __forceinline__ void
write_branch (const NormBackward &norm,
              const QmRows &branch,
              const QmDropout &dropout,
              int64_t row,
              int column,
              const float (&dx)[QM_GROUP])
{
  float out[QM_GROUP];

#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    out[i] = dx[i];
  if (dropout.rng != nullptr)
    qm_drop_group<whole> (dropout, row * norm.columns + column, out);
  qm_put_group<whole> (branch.row (row), column, norm.columns, branch.type,
                       out);
}

/* factor gain dx, and the share of a dx of the gradient of the gain. */
template <bool whole>
__device__ __forceinline__ void
write_scaled_branch (const NormBackward &norm,
                     int64_t row,
                     int column,
                     const QmRaw &raw,
                     float factor,
                     const float (&gain)[QM_GROUP],
                     const float (&dx)[QM_GROUP],
                     float (&dgain)[QM_GROUP])
{
  float a[QM_GROUP];

  qm_unpack (raw, norm.a.type, a);
#pragma unroll
  for (int i = 0; i < QM_GROUP; i++)
    {
      dgain[i] += factor * a[i] * dx[i];
      a[i] = factor * gain[i] * dx[i];
    }
  qm_put_group<whole> (norm.branch.row (row), column, norm.columns,
                       norm.branch.type, a);
}

template <bool whole>
__device__ __forceinline__ void
fetch_gain (const NormBackward &norm, int column, float (&gain)[QM_GROUP])
{
  qm_unpack (qm_fetch_group<whole> (norm.gain.data, column, norm.columns,
                                    norm.gain.type),
             norm.gain.type, gain);
}

template <bool whole>
__device__ __forceinline__ void
write_dx (const NormBackward &norm,
          int64_t row,
          int column,
          const float (&dx)[QM_GROUP])
{
  qm_put_group<whole> (norm.dx.row (row), column, norm.columns, norm.dx.type,
                       dx);
}

template <bool whole>
__device__ __forceinline__ void
write_gradients (const NormBackward &norm,
                 int64_t row,
                 int column,
                 const float (&dx)[QM_GROUP])
{
  write_dx<whole> (norm, row, column, dx);
  if (norm.branch)
    write_branch<whole> (norm, norm.branch, norm.drop, row, column, dx);
  if (norm.branch2)
    write_branch<whole> (norm, norm.branch2, norm.drop2, row, column, dx);
}

/* One row of the sums of this block, after adding those of its warps where
 * each of them had rows of its own. */
template <int threads, int groups>
__device__ __forceinline__ void
write_part (float *part,
            int columns,
            int lane,
            const float (&sums)[groups][QM_GROUP])
{
  constexpr int each = threads == 32 ? 4 : 1;
  __shared__ float shared[each > 1 ? each * 32 * QM_GROUP : 1];

#pragma unroll
  for (int g = 0; g < groups; g++)
    {
      int column = (g * threads + lane) * QM_GROUP;

      if (each > 1)
        {
          __syncthreads ();
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            shared[i * 128 + threadIdx.x] = sums[g][i];
          __syncthreads ();
        }
      if (threadIdx.x >= threads)
        continue;
#pragma unroll
      for (int i = 0; i < QM_GROUP; i++)
        if (column + i < columns)
          {
            float sum = sums[g][i];

#pragma unroll
            for (int other = 1; other < each; other++)
              sum += shared[i * 128 + other * 32 + lane];
            part[column + i] = sum;
          }
    }
}

template <int threads, int groups, bool whole, bool dual, bool scaled>
__global__ void
__launch_bounds__ (threads == 32 ? 128 : threads)
    norm_backward_kernel (const __grid_constant__ NormBackward norm)
{
  constexpr int each = threads == 32 ? 4 : 1;
  __shared__ float shared[2][32];
  int lane = (int) threadIdx.x % threads;
  float sums[dual ? 4 : 2][groups][QM_GROUP] = {};
  float dgain[scaled ? groups : 1][QM_GROUP] = {};
  QmDepths depths = { norm.drop, norm.sample, (int64_t) gridDim.x * each };

  for (int64_t row = (int64_t) blockIdx.x * each + threadIdx.x / threads;
       row < norm.rows; row += (int64_t) gridDim.x * each)
    {
      QmRaw dy[groups], dy2[dual ? groups : 1], x[groups], dsum[groups];
      QmRaw a[scaled ? groups : 1];
      float n[groups][QM_GROUP], dn[groups][QM_GROUP];
      float mean = norm.rms ? 0 : norm.mean[row], rstd = norm.rstd[row];
      float total = 0, dot = 0, factor = scaled ? depths.next (row) : 1;

#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          int column = (g * threads + lane) * QM_GROUP;

          x[g] = qm_fetch_group<whole> (norm.sum.row (row), column,
                                        norm.columns, norm.sum.type);
          dy[g] = qm_fetch_group<whole> (norm.dy.row (row), column,
                                         norm.columns, norm.dy.type);
          if (dual)
            dy2[g] = qm_fetch_group<whole> (norm.dy2.row (row), column,
                                            norm.columns, norm.dy2.type);
          if (norm.dsum)
            dsum[g] = qm_fetch_group<whole> (norm.dsum.row (row), column,
                                             norm.columns, norm.dsum.type);
          if constexpr (scaled)
            a[g] = qm_fetch_group<whole> (norm.a.row (row), column,
                                          norm.columns, norm.a.type);
        }
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          int column = (g * threads + lane) * QM_GROUP;

          qm_unpack (x[g], norm.sum.type, n[g]);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            {
              n[g][i] = (n[g][i] - mean) * rstd;
              dn[g][i] = 0;
            }
          scale_backward<whole> (dy[g], norm.dy, norm.gamma, column,
                                 norm.columns, n[g], sums[0][g], sums[1][g],
                                 dn[g]);
          if constexpr (dual)
            scale_backward<whole> (dy2[g], norm.dy2, norm.gamma2, column,
                                   norm.columns, n[g], sums[2][g], sums[3][g],
                                   dn[g]);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            {
              total += dn[g][i];
              dot += dn[g][i] * n[g][i];
            }
        }
      total = qm_row_sum<threads> (norm.rms ? 0 : total, shared[0])
              / (float) norm.columns;
      dot = qm_row_sum<threads> (dot, shared[1]) / (float) norm.columns;
#pragma unroll
      for (int g = 0; g < groups; g++)
        {
          int column = (g * threads + lane) * QM_GROUP;
          float add[QM_GROUP] = {};

          if (norm.dsum)
            qm_unpack (dsum[g], norm.dsum.type, add);
#pragma unroll
          for (int i = 0; i < QM_GROUP; i++)
            dn[g][i] = rstd * (dn[g][i] - total - n[g][i] * dot) + add[i];
          if constexpr (scaled)
            {
              float gain[QM_GROUP];

              fetch_gain<whole> (norm, column, gain);
              write_dx<whole> (norm, row, column, dn[g]);
              write_scaled_branch<whole> (norm, row, column, a[g], factor, gain,
                                          dn[g], dgain[g]);
            }
          else
            write_gradients<whole> (norm, row, column, dn[g]);
        }
    }
#pragma unroll
  for (int s = 0; s < (dual ? 4 : 2); s++)
    write_part<threads, groups> (norm.parts[s]
                                     + (int64_t) blockIdx.x * norm.columns,
                                 norm.columns, lane, sums[s]);
  if constexpr (scaled)
    write_part<threads, groups> (norm.parts[4]
                                     + (int64_t) blockIdx.x * norm.columns,
                                 norm.columns, lane, dgain);
}

} /* namespace */

#endif
