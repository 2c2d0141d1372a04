/* SPDX-License-Identifier: Apache-2.0 */

/* What blocks of a cluster tell each other through their shared memory.  Only
 * where __CUDA_ARCH__ >= 900. */

#ifndef QM_KERNELS_CUDA_CLUSTERS_CUH
#define QM_KERNELS_CUDA_CLUSTERS_CUH

#include "kernels/cuda/copied-rows.cuh"

/* All threads of all blocks that have not left. */
static __device__ __forceinline__ void
qm_cluster_sync ()
{
  asm volatile("barrier.cluster.arrive.release;\n"
               "barrier.cluster.wait.acquire;\n" ::
                   : "memory");
}

/* Writes to the same place in a block of the cluster, and tells its barrier of
 * these 8 bytes when they are there.  Unlike an arrival that releases what was
 * written, this waits for nothing. */
static __device__ __forceinline__ void
qm_cluster_send (float2 *to, float2 pair, uint64_t *barrier, int rank)
{
  asm volatile("{\n"
               ".reg .b32 there, told;\n"
               "mapa.shared::cluster.u32 there, %0, %2;\n"
               "mapa.shared::cluster.u32 told, %1, %2;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32"
               " [there], {%3, %4}, [told];\n"
               "}\n" ::"r"(qm_shared_address (to)),
               "r"(qm_shared_address (barrier)), "r"(rank), "f"(pair.x),
               "f"(pair.y)
               : "memory");
}

#endif
