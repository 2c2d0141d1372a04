/* SPDX-License-Identifier: Apache-2.0 */

/* Backward attention on Hopper for heads so large (256) that dK and dV of 64
 * columns fill the registers of two warpgroups.  Two kernels, each with its
 * own scores: 7 products instead of 5, but no sum of dQ in memory, and the
 * same result each time.
 *
 * split_columns: 64 columns of one head.  One warpgroup computes P' and
 * dV += P' dO, and hands P' through shared memory to the other, which
 * computes dS' = P' (dP' - delta) and dK += dS' Q.
 *
 * split_rows: 128 rows of one head, 64 a warpgroup: dQ += dS K.
 */

#ifndef QM_KERNELS_CUDA_ATTENTION_HOPPER_SPLIT_CUH
#define QM_KERNELS_CUDA_ATTENTION_HOPPER_SPLIT_CUH

#include "kernels/cuda/attention-hopper-columns.cuh"
#include "kernels/cuda/attention-hopper-rows.cuh"

namespace qm_attention
{

/* The same for both kernels but for the rows of their tiles. */
template <int D>
cudaError_t
split_params (HopperSplitParams *h,
              const Params &p,
              int heads,
              int rows,
              int columns,
              int per_tile,
              bool bf16)
{
  const int64_t head_bytes = (int64_t) p.seq * D * 4 * (p.heads / heads);
  cudaError_t status;

  h->p = p;
  h->work = head_groups (p, p.batch * heads, (p.seq + per_tile - 1) / per_tile,
                         SPLIT_L2_SHARE / head_bytes);
  status = make_map<D> (&h->q, p, p.q, p.heads, rows, bf16, !ragged<D> (p));
  if (status == cudaSuccess)
    status =
        make_map<D> (&h->dout, p, p.dout, p.heads, rows, bf16, !ragged<D> (p));
  if (status == cudaSuccess)
    status =
        make_map<D> (&h->k, p, p.k, p.groups, columns, bf16, !ragged<D> (p));
  if (status == cudaSuccess)
    status =
        make_map<D> (&h->v, p, p.v, p.groups, columns, bf16, !ragged<D> (p));
  return status;
}

template <class T, int D, bool DROP>
cudaError_t
launch_hopper_split (const Params &p, cudaStream_t stream)
{
  constexpr bool BF16 = __is_same(T, __nv_bfloat16);
  constexpr int COLUMNS_SHARED = sizeof (SplitColumnsShared<D>) + 1024;
  constexpr int ROWS_SHARED = sizeof (SplitRowsShared<D>) + 1024;
  const auto columns = split_columns<T, D, DROP>;
  const auto rows = split_rows<T, D, DROP>;
  HopperSplitParams h;
  cudaError_t status;

  static_assert (COLUMNS_SHARED <= 232448 && ROWS_SHARED <= 232448);
  status = launch_row_sums<T, D, Zeroed::NOTHING> (p, stream);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute (columns,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   COLUMNS_SHARED);
  if (status == cudaSuccess)
    status =
        cudaFuncSetAttribute (rows, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              ROWS_SHARED);
  if (status == cudaSuccess)
    status = split_params<D> (&h, p, p.groups, 64, 64, 64, BF16);
  if (status != cudaSuccess)
    return status;
  columns<<<min (h.work.tiles (), p.sm_count), SPLIT_THREADS, COLUMNS_SHARED,
            stream>>> (h);
  status = cudaGetLastError ();
  if (status == cudaSuccess)
    status = split_params<D> (&h, p, p.heads, 128, 64, 128, BF16);
  if (status != cudaSuccess)
    return status;
  rows<<<min (h.work.tiles (), p.sm_count), SPLIT_THREADS, ROWS_SHARED,
         stream>>> (h);
  return cudaGetLastError ();
}

}

#endif
