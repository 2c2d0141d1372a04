/* SPDX-License-Identifier: Apache-2.0 */

/* Rows that the copy engine of Hopper brings to shared memory, some ahead of
 * the block that works on them: as many bytes are under way as the memory needs
 * to be busy, and they cost neither registers nor instructions.  Only where
 * __CUDA_ARCH__ >= 900. */

#ifndef QM_KERNELS_CUDA_COPIED_ROWS_CUH
#define QM_KERNELS_CUDA_COPIED_ROWS_CUH

#include "kernels/cuda/cuda-rows.cuh"

static __device__ __forceinline__ uint32_t
qm_shared_address (const void *p)
{
  return (uint32_t) __cvta_generic_to_shared (p);
}

static __device__ __forceinline__ void
qm_copy_barrier_init (uint64_t *barrier, int arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(
                   qm_shared_address (barrier)),
               "r"(arrivals)
               : "memory");
}

static __device__ __forceinline__ void
qm_copy_arrive (uint64_t *barrier)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(
                   qm_shared_address (barrier))
               : "memory");
}

static __device__ __forceinline__ void
qm_copy_barriers_ready ()
{
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

/* Arrives, and makes the barrier wait for so many bytes. */
static __device__ __forceinline__ void
qm_copy_expect (uint64_t *barrier, int bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(
                   qm_shared_address (barrier)),
               "r"(bytes)
               : "memory");
}

static __device__ __forceinline__ void
qm_copy_wait (uint64_t *barrier, uint32_t parity)
{
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}\n" ::"r"(qm_shared_address (barrier)),
               "r"(parity)
               : "memory");
}

/* One thread: all addresses and `bytes` are multiples of 16. */
static __device__ __forceinline__ void
qm_copy_start (const void *to, const char *from, int bytes, uint64_t *barrier)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier"
               "::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(
                   qm_shared_address (to)),
               "l"(from), "r"(bytes), "r"(qm_shared_address (barrier))
               : "memory");
}

/* Where copies begin in shared memory: at 16 bytes from a multiple of 32 they
 * take a tenth longer. */
#define QM_COPY_ALIGNMENT 128

#define QM_MOST_COPIED 4

/* Rows of a block that are under way: so many if there is memory for them, with
 * fewer blocks if need be, and no more than the barriers. */
#define QM_LEAST_STAGES 4
#define QM_MOST_STAGES  6

/* What of a row is copied: up to four matrices', one behind the other. */
struct QmCopied
{
  QmRows from[QM_MOST_COPIED];
  int end[QM_MOST_COPIED]; /* in the copy of a row, in bytes */
  int sources, stages;

  /* Returns where the matrix begins in the copy of a row. */
  int
  add (const QmRows &rows, int columns)
  {
    int begin = row_bytes ();

    if (rows.data == nullptr)
      return 0;
    from[sources] = rows;
    end[sources++] = begin + columns * (rows.type == QM_TYPE_F32 ? 4 : 2);
    return begin;
  }

  __host__ __device__ __forceinline__ int
  row_bytes () const
  {
    return sources > 0 ? end[sources - 1] : 0;
  }
};

/* A block's rows: every gridDim.x-th from its own index on.  All threads call
 * all functions. */
struct QmCopier
{
  const QmCopied &copied;
  uint64_t *full; /* QM_MOST_STAGES */
  char *memory;
  int64_t rows;
  int stage = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void
  begin ()
  {
    if (threadIdx.x == 0)
      {
        for (int i = 0; i < copied.stages; i++)
          qm_copy_barrier_init (&full[i], 1);
        qm_copy_barriers_ready ();
        for (int i = 0; i < copied.stages; i++)
          start (blockIdx.x + (int64_t) i * gridDim.x, i);
      }
    __syncthreads ();
  }

  /* The copy of the next row, or of one that comes later, when it is there. */
  __device__ __forceinline__ const char *
  row (int later = 0) const
  {
    bool wraps = later > 0 && stage + later >= copied.stages;
    int at = stage + later - (wraps ? copied.stages : 0);

    qm_copy_wait (&full[at], parity ^ (uint32_t) wraps);
    return memory + at * copied.row_bytes ();
  }

  /* After a barrier behind which nobody reads the copies of so many rows, of
   * which `row` was the first. */
  __device__ __forceinline__ void
  release (int64_t row, int n = 1)
  {
    for (int i = 0; i < n; i++)
      {
        if (threadIdx.x == 0)
          start (row + (int64_t) (copied.stages + i) * gridDim.x, stage);
        if (++stage == copied.stages)
          {
            stage = 0;
            parity ^= 1;
          }
      }
  }

  __device__ __forceinline__ void
  start (int64_t row, int to) const
  {
    char *at = memory + to * copied.row_bytes ();
    int begin = 0;

    if (row >= rows)
      return;
    qm_copy_expect (&full[to], copied.row_bytes ());
#pragma unroll
    for (int i = 0; i < QM_MOST_COPIED; i++)
      if (i < copied.sources)
        {
          qm_copy_start (at + begin, copied.from[i].row (row),
                         copied.end[i] - begin, &full[to]);
          begin = copied.end[i];
        }
  }
};

/* Two sums over a block with one barrier, in a fixed order: half a warp has one
 * of them, half the other.  Two calls that follow each other take different
 * memory. */
static __device__ __forceinline__ float2
qm_sum_both (float first, float second, float (*shared)[32])
{
  int lane = (int) threadIdx.x % 32, half = lane / 16, place = lane % 16;
  int warps = (int) blockDim.x / 32;
  float sum = half == 0 ? first : second, other = half == 0 ? second : first;

  sum += __shfl_xor_sync (0xffffffffu, other, 16);
#pragma unroll
  for (int lanes = 8; lanes > 0; lanes /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, lanes);
  if (place == 0)
    shared[half][threadIdx.x / 32] = sum;
  __syncthreads ();
  sum = place < warps ? shared[half][place] : 0;
  if (place + 16 < warps)
    sum += shared[half][place + 16];
#pragma unroll
  for (int lanes = 8; lanes > 0; lanes /= 2)
    sum += __shfl_xor_sync (0xffffffffu, sum, lanes);
  return make_float2 (__shfl_sync (0xffffffffu, sum, 0),
                      __shfl_sync (0xffffffffu, sum, 16));
}

/* How many blocks of a kernel with such copies run at once, but no more than
 * `blocks`; how many rows they copy ahead, and the memory that each takes.  It
 * is as much as lets no more blocks run on a multiprocessor than that: only
 * then all multiprocessors get as many. */
template <class Kernel>
static inline unsigned
qm_resident_copier (const QmCudaContext *context,
                    Kernel kernel,
                    int threads,
                    int64_t blocks,
                    QmCopied &copied,
                    size_t *bytes)
{
  int all = (int) context->shared_bytes + 1024, each = 1, taken, room;
  int64_t most = blocks / context->processors;
  cudaFuncAttributes attributes = {};

  cudaFuncGetAttributes (&attributes, kernel);
  taken = (int) attributes.sharedSizeBytes + 1024; /* by the system */
  cudaOccupancyMaxActiveBlocksPerMultiprocessor (&each, kernel, threads, 0);
  each = each < most ? each : (int) most;
  each = each > 1 ? each : 1;
  room = all / each - taken;
  while (each > 1 && room < QM_LEAST_STAGES * copied.row_bytes ())
    room = all / --each - taken;
  copied.stages = room / copied.row_bytes ();
  if (copied.stages > QM_MOST_STAGES)
    copied.stages = QM_MOST_STAGES;
  *bytes = (size_t) room / 128 * 128;
  cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                        (int) *bytes);
  most = (int64_t) each * context->processors;
  return (unsigned) (blocks < most ? blocks : most);
}

#endif
