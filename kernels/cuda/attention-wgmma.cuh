/* SPDX-License-Identifier: Apache-2.0 */

/* Compute capability 9.0a: the tensor copy engine (TMA), its barriers in
 * shared memory, and matrix instructions of a warpgroup (wgmma).
 *
 * A tile of R rows of D 16-bit elements lies in shared memory as D / C chunks
 * of R rows of C elements, C the widest of 64, 32 and 16 that divides D: rows
 * of 128, 64 or 32 bytes, swizzled as the copy engine does it.  So D = 80
 * wastes neither memory nor products. */

#ifndef QM_KERNELS_CUDA_ATTENTION_WGMMA_CUH
#define QM_KERNELS_CUDA_ATTENTION_WGMMA_CUH

#include <cuda.h>

#include "kernels/cuda/attention-common.cuh"

namespace qm_attention
{

constexpr int WARPGROUP = 128;

template <int D> struct Chunk
{
  static constexpr int ELEMENTS = D % 64 == 0 ? 64 : D % 32 == 0 ? 32 : 16;
  static constexpr int BYTES = ELEMENTS * 2;
  static constexpr int COUNT = D / ELEMENTS;
  /* The swizzle's code in a matrix descriptor. */
  static constexpr uint64_t CODE = BYTES == 128 ? 1 : BYTES == 64 ? 2 : 3;
};

__device__ __forceinline__ uint32_t
shared_u32 (const void *p)
{
  return static_cast<uint32_t> (__cvta_generic_to_shared (p));
}

/* An address that the compiler must not keep in registers in several forms:
 * what is derived from it is computed again where it is used. */
__device__ __forceinline__ uint32_t
shared_base (const void *p)
{
  uint32_t address;

  asm volatile("mov.b32 %0, %1;\n" : "=r"(address) : "r"(shared_u32 (p)));
  return address;
}

/* Accesses that the compiler would make generic, and slow: it cannot tell
 * that an aligned address in dynamic shared memory is one. */
__device__ __forceinline__ float2
load_shared2 (uint32_t from)
{
  float2 x;

  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];\n"
               : "=f"(x.x), "=f"(x.y)
               : "r"(from)
               : "memory");
  return x;
}

__device__ __forceinline__ void
load_shared4 (uint32_t (&x)[4], uint32_t from)
{
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void
store_shared4 (uint32_t to, const uint32_t (&x)[4])
{
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n" ::"r"(to),
               "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
               : "memory");
}

__device__ __forceinline__ void
store_shared4 (uint32_t to, float x, float y, float z, float w)
{
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"r"(to), "f"(x),
               "f"(y), "f"(z), "f"(w)
               : "memory");
}

__device__ __forceinline__ void
store_shared (uint32_t to, float x)
{
  asm volatile("st.shared.f32 [%0], %1;\n" ::"r"(to), "f"(x) : "memory");
}

/* -- barriers ------------------------------------------------------------ */

__device__ __forceinline__ void
barrier_init (uint64_t *barrier, int arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(
                   shared_u32 (barrier)),
               "r"(arrivals)
               : "memory");
}

__device__ __forceinline__ void
barrier_init_fence ()
{
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

__device__ __forceinline__ void
barrier_expect (uint64_t *barrier, int bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(
                   shared_u32 (barrier)),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void
barrier_arrive (uint64_t *barrier)
{
  asm volatile(
      "mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_u32 (barrier))
      : "memory");
}

/* Arrives once for a warp, after all that its lanes did before. */
__device__ __forceinline__ void
warp_arrive (uint64_t *barrier, int lane)
{
  __syncwarp ();
  if (lane == 0)
    barrier_arrive (barrier);
}

/* Waits until the phase of the given parity is complete. */
__device__ __forceinline__ void
barrier_wait (uint64_t *barrier, int parity)
{
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra finished;\n"
               "bra again;\n"
               "finished:\n"
               "}\n" ::"r"(shared_u32 (barrier)),
               "r"(parity)
               : "memory");
}

__device__ __forceinline__ void
named_sync (int id, int threads)
{
  asm volatile("bar.sync %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ void
named_arrive (int id, int threads)
{
  asm volatile("bar.arrive %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
}

/* A place in a ring of stages, and the parity of its current round. */
template <int STAGES> struct Ring
{
  int index = 0, parity = 0;

  __device__ __forceinline__ void
  advance ()
  {
    if (++index == STAGES)
      {
        index = 0;
        parity ^= 1;
      }
  }
};

/* -- the queue of tiles ---------------------------------------------------- */

/* Tells a block's readers which tile its producer took from the queue that
 * all blocks share.  The first tile of a block is that of its own index. */
struct TileQueue
{
  uint64_t full[2], empty[2];
  int next[2];
};

__device__ __forceinline__ void
queue_init (TileQueue &queue, int readers)
{
  for (int i = 0; i < 2; i++)
    {
      barrier_init (&queue.full[i], 1);
      barrier_init (&queue.empty[i], readers);
    }
}

struct QueuePlace
{
  Ring<2> ring;

  /* The producer: all readers shall go on with tile `index`. */
  __device__ __forceinline__ void
  publish (TileQueue &queue, int index)
  {
    barrier_wait (&queue.empty[ring.index], ring.parity ^ 1);
    queue.next[ring.index] = index;
    barrier_arrive (&queue.full[ring.index]);
    ring.advance ();
  }

  /* A reader of one thread. */
  __device__ __forceinline__ int
  next (TileQueue &queue)
  {
    return next_for_warp (queue, 0);
  }

  /* A reader of one warp. */
  __device__ __forceinline__ int
  next_for_warp (TileQueue &queue, int lane)
  {
    int index;

    barrier_wait (&queue.full[ring.index], ring.parity);
    index = queue.next[ring.index];
    __syncwarp (__activemask ());
    if (lane == 0)
      barrier_arrive (&queue.empty[ring.index]);
    ring.advance ();
    return index;
  }
};

/* -- copies -------------------------------------------------------------- */

__device__ __forceinline__ void
prefetch_map (const CUtensorMap *map)
{
  asm volatile("prefetch.tensormap [%0];\n" ::"l"(map) : "memory");
}

/* A box of one head's rows from `row` on to shared memory, from element `at` on
 * where the map has no chunks; what is outside of the tensor is zeros. */
__device__ __forceinline__ void
load_box (void *to,
          const CUtensorMap *map,
          uint64_t *barrier,
          int at,
          int row,
          int head,
          int batch)
{
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier"
      "::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];\n" ::"r"(
          shared_u32 (to)),
      "l"(map), "r"(shared_u32 (barrier)), "r"(at), "r"(row), "r"(0), "r"(head),
      "r"(batch)
      : "memory");
}

/* Whether a head's last chunk is not full: it has a map without chunks. */
template <int D>
__host__ __device__ __forceinline__ bool
ragged (const Params &p)
{
  return p.head_dim % Chunk<D>::ELEMENTS != 0;
}

/* ROWS rows of one head, all chunks. */
template <int D, int ROWS>
__device__ __forceinline__ void
load_rows (const Params &p,
           uint16_t *to,
           const CUtensorMap *map,
           uint64_t *barrier,
           int row,
           int head,
           int batch)
{
  constexpr int E = Chunk<D>::ELEMENTS;

  if (!ragged<D> (p))
    load_box (to, map, barrier, 0, row, head, batch);
  else
    for (int c = 0; c < Chunk<D>::COUNT; c++)
      load_box (to + c * ROWS * E, map, barrier, c * E, row, head, batch);
}

/* Contiguous bytes, a multiple of 16, to shared memory. */
__device__ __forceinline__ void
load_bytes (void *to, const void *from, int bytes, uint64_t *barrier)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier"
               "::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(
                   shared_u32 (to)),
               "l"(from), "r"(bytes), "r"(shared_u32 (barrier))
               : "memory");
}

/* Four 8 x 8 matrices of 16-bit elements; each lane gives a row's address. */
__device__ __forceinline__ void
store_matrices (uint32_t to, const uint32_t (&r)[4])
{
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::
          "r"(to),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
      : "memory");
}

/* The same from there to registers. */
__device__ __forceinline__ void
load_matrices (uint32_t (&r)[4], uint32_t from)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
               "[%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

/* A box from shared memory; what is outside of the tensor is left out. */
__device__ __forceinline__ void
store_box (const CUtensorMap *map,
           const void *from,
           int at,
           int row,
           int head,
           int batch)
{
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group"
               " [%0, {%2, %3, %4, %5, %6}], [%1];\n" ::"l"(map),
               "r"(shared_u32 (from)), "r"(at), "r"(row), "r"(0), "r"(head),
               "r"(batch)
               : "memory");
}

/* Writes contiguous floats, a multiple of 16 bytes, to global memory. */
__device__ __forceinline__ void
store_floats (float *to, const float *from, int bytes)
{
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group"
               " [%0], [%1], %2;\n" ::"l"(to),
               "r"(shared_u32 (from)), "r"(bytes)
               : "memory");
}

/* Adds them. */
__device__ __forceinline__ void
add_floats (float *to, const float *from, int bytes)
{
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32"
               " [%0], [%1], %2;\n" ::"l"(to),
               "r"(shared_u32 (from)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void
bulk_commit ()
{
  asm volatile("cp.async.bulk.commit_group;\n" ::: "memory");
}

/* Until the shared memory of all but the last N groups may be written. */
template <int N>
__device__ __forceinline__ void
bulk_wait_read ()
{
  asm volatile("cp.async.bulk.wait_group.read %0;\n" ::"n"(N) : "memory");
}

template <int N>
__device__ __forceinline__ void
bulk_wait ()
{
  asm volatile("cp.async.bulk.wait_group %0;\n" ::"n"(N) : "memory");
}

/* What threads wrote to shared memory becomes visible to the copy engine and
 * the tensor cores. */
__device__ __forceinline__ void
fence_async_proxy ()
{
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}

/* -- matrix descriptors --------------------------------------------------- */

template <int D>
__device__ __forceinline__ uint64_t
descriptor (uint32_t address, uint32_t leading_bytes)
{
  const uint32_t low = (address >> 4) + (leading_bytes >> 4 << 16);
  const uint32_t high =
      8 * Chunk<D>::BYTES >> 4 | (uint32_t) Chunk<D>::CODE << 30;

  return (uint64_t) high << 32 | low;
}

/* Operand of 16 steps of the inner dimension from element 16 * step of each
 * row on (the inner dimension runs along rows). */
template <int D, int ROWS>
__device__ __forceinline__ uint64_t
along_rows (uint32_t tile, int row, int step)
{
  constexpr int BYTES = Chunk<D>::BYTES;

  return descriptor<D> (tile + step * 32 / BYTES * (ROWS * BYTES)
                            + step * 32 % BYTES + row * BYTES,
                        16);
}

/* Operand of 16 rows from row 16 * step on, whose elements from `column` on
 * are its outer dimension (the inner dimension runs down the rows). */
template <int D, int ROWS>
__device__ __forceinline__ uint64_t
down_rows (uint32_t tile, int column, int step)
{
  constexpr int BYTES = Chunk<D>::BYTES;

  return descriptor<D> (tile + column / Chunk<D>::ELEMENTS * (ROWS * BYTES)
                            + step * 16 * BYTES,
                        ROWS * BYTES);
}

/* -- products -------------------------------------------------------------- */

__device__ __forceinline__ void
products_begin ()
{
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}

__device__ __forceinline__ void
products_commit ()
{
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

template <int N>
__device__ __forceinline__ void
products_wait ()
{
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory");
}

/* Keeps uses of accumulators behind the wait before, and what was computed
 * from them in front of the wait that follows: the compiler moves arithmetic
 * across both, for it does not see what they wait for. */
template <int N>
__device__ __forceinline__ void
pin (float (&x)[N])
{
#pragma unroll
  for (int i = 0; i < N; i++)
    asm volatile("" : "+f"(x[i])::"memory");
}

template <int N>
__device__ __forceinline__ void
pin (uint32_t (&x)[N][4])
{
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int w = 0; w < 4; w++)
      asm volatile("" : "+r"(x[i][w])::"memory");
}

/* Keeps what `x` was computed from in front of the wait that follows, which
 * would else be moved up to the one before: then nothing would be computed
 * while products are under way.  Only accesses to memory stay in order with
 * waits, so this is one that practically never happens. */
__device__ __forceinline__ void
compute_before_wait (uint32_t x, uint32_t *sink)
{
  asm volatile("{\n"
               ".reg .pred p;\n"
               "setp.eq.u32 p, %0, 0x7fedcba9;\n"
               "@p st.shared.b32 [%1], %0;\n"
               "}\n" ::"r"(x),
               "r"(shared_u32 (sink))
               : "memory");
}

/* D (64 x N) = A B + (accumulate ? D : 0), 16 steps of the inner dimension.
 * A is a descriptor or registers; B_DOWN: B's inner dimension runs down the
 * rows of its tile. */
template <class T, int N> struct Product;

/* Operand lists by number of accumulators. */
#define QM_0_7     "%0,%1,%2,%3,%4,%5,%6,%7"
#define QM_8_15    "%8,%9,%10,%11,%12,%13,%14,%15"
#define QM_16_23   "%16,%17,%18,%19,%20,%21,%22,%23"
#define QM_24_31   "%24,%25,%26,%27,%28,%29,%30,%31"
#define QM_32_39   "%32,%33,%34,%35,%36,%37,%38,%39"
#define QM_40_47   "%40,%41,%42,%43,%44,%45,%46,%47"
#define QM_48_55   "%48,%49,%50,%51,%52,%53,%54,%55"
#define QM_56_63   "%56,%57,%58,%59,%60,%61,%62,%63"
#define QM_64_71   "%64,%65,%66,%67,%68,%69,%70,%71"
#define QM_72_79   "%72,%73,%74,%75,%76,%77,%78,%79"
#define QM_80_87   "%80,%81,%82,%83,%84,%85,%86,%87"
#define QM_88_95   "%88,%89,%90,%91,%92,%93,%94,%95"
#define QM_96_103  "%96,%97,%98,%99,%100,%101,%102,%103"
#define QM_104_111 "%104,%105,%106,%107,%108,%109,%110,%111"
#define QM_112_119 "%112,%113,%114,%115,%116,%117,%118,%119"
#define QM_120_127 "%120,%121,%122,%123,%124,%125,%126,%127"

#define QM_LIST_16  QM_0_7
#define QM_LIST_32  QM_LIST_16 "," QM_8_15
#define QM_LIST_48  QM_LIST_32 "," QM_16_23
#define QM_LIST_64  QM_LIST_48 "," QM_24_31
#define QM_LIST_80  QM_LIST_64 "," QM_32_39
#define QM_LIST_96  QM_LIST_80 "," QM_40_47
#define QM_LIST_112 QM_LIST_96 "," QM_48_55
#define QM_LIST_128 QM_LIST_112 "," QM_56_63
#define QM_LIST_144 QM_LIST_128 "," QM_64_71
#define QM_LIST_160 QM_LIST_144 "," QM_72_79
#define QM_LIST_176 QM_LIST_160 "," QM_80_87
#define QM_LIST_192 QM_LIST_176 "," QM_88_95
#define QM_LIST_208 QM_LIST_192 "," QM_96_103
#define QM_LIST_224 QM_LIST_208 "," QM_104_111
#define QM_LIST_240 QM_LIST_224 "," QM_112_119
#define QM_LIST_256 QM_LIST_240 "," QM_120_127

#define QM_OUT_8(i)                                                           \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), \
      "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define QM_OUT_16  QM_OUT_8 (0)
#define QM_OUT_32  QM_OUT_16, QM_OUT_8 (8)
#define QM_OUT_48  QM_OUT_32, QM_OUT_8 (16)
#define QM_OUT_64  QM_OUT_48, QM_OUT_8 (24)
#define QM_OUT_80  QM_OUT_64, QM_OUT_8 (32)
#define QM_OUT_96  QM_OUT_80, QM_OUT_8 (40)
#define QM_OUT_112 QM_OUT_96, QM_OUT_8 (48)
#define QM_OUT_128 QM_OUT_112, QM_OUT_8 (56)
#define QM_OUT_144 QM_OUT_128, QM_OUT_8 (64)
#define QM_OUT_160 QM_OUT_144, QM_OUT_8 (72)
#define QM_OUT_176 QM_OUT_160, QM_OUT_8 (80)
#define QM_OUT_192 QM_OUT_176, QM_OUT_8 (88)
#define QM_OUT_208 QM_OUT_192, QM_OUT_8 (96)
#define QM_OUT_224 QM_OUT_208, QM_OUT_8 (104)
#define QM_OUT_240 QM_OUT_224, QM_OUT_8 (112)
#define QM_OUT_256 QM_OUT_240, QM_OUT_8 (120)

/* i0 .. i4: the numbers of the operands after N / 2 accumulators. */
#define QM_PRODUCT(T, NAME, N, i0, i1, i2, i3, i4, i5, i6)                   \
  template <> struct Product<T, N>                                           \
  {                                                                          \
    template <int A_DOWN, int B_DOWN>                                        \
    static __device__ __forceinline__ void                                   \
    shared (float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate)       \
    {                                                                        \
      asm volatile("{\n"                                                     \
                   ".reg .pred p;\n"                                         \
                   "setp.ne.b32 p, %" #i2 ", 0;\n"                           \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME    \
                   "." NAME " {" QM_LIST_##N                                 \
                   "}, %" #i0 ", %" #i1 ", p, 1, 1, %" #i3 ", %" #i4 ";\n"   \
                   "}\n"                                                     \
                   : QM_OUT_##N                                              \
                   : "l"(a), "l"(b), "r"(accumulate), "n"(A_DOWN),           \
                     "n"(B_DOWN));                                           \
    }                                                                        \
    template <int B_DOWN>                                                    \
    static __device__ __forceinline__ void                                   \
    registers (float (&d)[N / 2],                                            \
               const uint32_t (&a)[4],                                       \
               uint64_t b,                                                   \
               int accumulate)                                               \
    {                                                                        \
      asm volatile("{\n"                                                     \
                   ".reg .pred p;\n"                                         \
                   "setp.ne.b32 p, %" #i5 ", 0;\n"                           \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME    \
                   "." NAME " {" QM_LIST_##N "}, {%" #i0 ", %" #i1 ", %" #i2 \
                                             ", %" #i3 "}, %" #i4            \
                                             ", p, 1, 1, %" #i6 ";\n"        \
                                             "}\n"                           \
                   : QM_OUT_##N                                              \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),     \
                     "r"(accumulate), "n"(B_DOWN));                          \
    }                                                                        \
  };
#define QM_PRODUCTS(...)                  \
  QM_PRODUCT (__half, "f16", __VA_ARGS__) \
  QM_PRODUCT (__nv_bfloat16, "bf16", __VA_ARGS__)

QM_PRODUCTS (16, 8, 9, 10, 11, 12, 13, 14)
QM_PRODUCTS (32, 16, 17, 18, 19, 20, 21, 22)
QM_PRODUCTS (48, 24, 25, 26, 27, 28, 29, 30)
QM_PRODUCTS (64, 32, 33, 34, 35, 36, 37, 38)
QM_PRODUCTS (80, 40, 41, 42, 43, 44, 45, 46)
QM_PRODUCTS (96, 48, 49, 50, 51, 52, 53, 54)
QM_PRODUCTS (112, 56, 57, 58, 59, 60, 61, 62)
QM_PRODUCTS (128, 64, 65, 66, 67, 68, 69, 70)
QM_PRODUCTS (144, 72, 73, 74, 75, 76, 77, 78)
QM_PRODUCTS (160, 80, 81, 82, 83, 84, 85, 86)
QM_PRODUCTS (176, 88, 89, 90, 91, 92, 93, 94)
QM_PRODUCTS (192, 96, 97, 98, 99, 100, 101, 102)
QM_PRODUCTS (256, 128, 129, 130, 131, 132, 133, 134)

template <int REGISTERS>
__device__ __forceinline__ void
give_registers ()
{
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(REGISTERS));
}

template <int REGISTERS>
__device__ __forceinline__ void
take_registers ()
{
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(REGISTERS));
}

/* Describes a tensor to the copy engine in boxes of `rows` rows of one head:
 * all its chunks, or, without chunks, as many elements as one has. */
template <int D>
cudaError_t make_map (CUtensorMap *map,
                      const Params &p,
                      const QmAttentionTensor &t,
                      int heads,
                      int rows,
                      bool bf16,
                      bool chunks);

}

#endif
