/* SPDX-License-Identifier: Apache-2.0 */

/* Random numbers of the operators, the same in C and in CUDA C++.
 *
 * Philox 4x32-7 (Salmon et al. 2011): 128 random bits as a function of a key
 * and a counter.  Seven rounds are the fewest that its authors found to pass
 * every test of TestU01's batteries; the usual ten only add a margin, which
 * dropout does not need and would pay for in time.  The key is the seed; the
 * counter is (block, its upper half, site, pass).  Which bits belong to which
 * element:
 *
 *   dropout        element e of a tensor, by rows, takes half-word e % 8 of
 *                  block e / 8
 *   tiled dropout  of attention weights, laid out for 16 x 16 tiles of tensor
 *                  cores, see qm_tile_block(); the second word of the counter
 *                  is the row tile there
 *   QM_OP_RANDOM   element e takes word e % 4 of block e / 4; normal: words 0
 *                  and 1 make elements 0 and 1, words 2 and 3 make 2 and 3
 *   places         of patches: words 0 and 1 of block 0 move y and x, 2 and 3
 *                  scale them, word 0 of block 1 scales both
 *   masks          of the patches of a sample, see qm_mask_key(): the second
 *                  and the last word of the counter are the number of the
 * sample since the beginning of training and its upper half, whatever the pass
 *
 * An element is kept where its half-word is at least qm_dropout_threshold(),
 * and scaled by qm_dropout_scale().
 */

#ifndef QM_KERNELS_RANDOM_H
#define QM_KERNELS_RANDOM_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define QM_HOST_DEVICE __host__ __device__
#else
#define QM_HOST_DEVICE
#endif

#define QM_PHILOX_ROUNDS 7

/* Slots of the rng tensor. */
enum
{
  QM_RNG_SEED,
  QM_RNG_SEED_HIGH,
  QM_RNG_PASS,
  QM_RNG_SIZE
};

typedef struct QmRandomBits
{
  uint32_t word[4];
} QmRandomBits;

static inline QM_HOST_DEVICE QmRandomBits
qm_philox (uint32_t key0,
           uint32_t key1,
           uint32_t c0,
           uint32_t c1,
           uint32_t c2,
           uint32_t c3)
{
  QmRandomBits bits;

  for (int round = 0; round < QM_PHILOX_ROUNDS; round++)
    {
      uint64_t product0 = UINT64_C (0xD2511F53) * c0;
      uint64_t product1 = UINT64_C (0xCD9E8D57) * c2;

      c0 = (uint32_t) (product1 >> 32) ^ c1 ^ key0;
      c2 = (uint32_t) (product0 >> 32) ^ c3 ^ key1;
      c1 = (uint32_t) product1;
      c3 = (uint32_t) product0;
      key0 += UINT32_C (0x9E3779B9);
      key1 += UINT32_C (0xBB67AE85);
    }
  bits.word[0] = c0;
  bits.word[1] = c1;
  bits.word[2] = c2;
  bits.word[3] = c3;
  return bits;
}

/* The bits of a block of a tensor. */
static inline QM_HOST_DEVICE QmRandomBits
qm_random_block (const int32_t *rng, uint32_t site, uint64_t block)
{
  return qm_philox ((uint32_t) rng[QM_RNG_SEED],
                    (uint32_t) rng[QM_RNG_SEED_HIGH], (uint32_t) block,
                    (uint32_t) (block >> 32), site,
                    (uint32_t) rng[QM_RNG_PASS]);
}

static inline QM_HOST_DEVICE uint32_t
qm_random_half (QmRandomBits bits, int half)
{
  return (bits.word[half / 2] >> (16 * (half % 2))) & 0xffff;
}

static inline QM_HOST_DEVICE uint32_t
qm_dropout_threshold (double dropout)
{
  return (uint32_t) (dropout * 65536 + 0.5);
}

static inline QM_HOST_DEVICE float
qm_dropout_scale (double dropout)
{
  return 65536.0f / (float) (65536 - qm_dropout_threshold (dropout));
}

/* The block of attention weight (row, column) of one head, and in *half which
 * half-word of it.  Lane l of the 32 that hold a 16 x 16 tile of products
 * (mma.m16n8, twice) owns rows l/4 and l/4 + 8 and columns 2 (l % 4) + {0, 1,
 * 8, 9}: its eight elements are the eight half-words of one block, in the order
 * of rows, then column halves, then columns. */
static inline QM_HOST_DEVICE uint32_t
qm_tile_block (int64_t row, int64_t column, int *half)
{
  uint32_t lane = (uint32_t) (row % 8 * 4 + column % 8 / 2);

  *half = (int) (row % 16 / 8 * 4 + column % 16 / 8 * 2 + column % 2);
  return (uint32_t) (column / 16) * 32 + lane;
}

/* The bits of a block of a row tile (row / 16) of head `head` = b H + h of
 * attention weights with `rows` rows. */
static inline QM_HOST_DEVICE QmRandomBits
qm_tile_bits (const int32_t *rng,
              uint32_t site,
              int64_t head,
              int64_t rows,
              int64_t row,
              uint32_t block)
{
  return qm_philox ((uint32_t) rng[QM_RNG_SEED],
                    (uint32_t) rng[QM_RNG_SEED_HIGH], block,
                    (uint32_t) (head * ((rows + 15) / 16) + row / 16), site,
                    (uint32_t) rng[QM_RNG_PASS]);
}

/* Uniform in (0, 1). */
static inline QM_HOST_DEVICE float
qm_random_uniform (uint32_t word)
{
  return ((float) (word >> 9) + 0.5f) * (1.0f / 8388608.0f);
}

/* Uniform between -`most` and `most`. */
static inline QM_HOST_DEVICE float
qm_patch_move (uint32_t word, double most)
{
  return (float) most * (2 * qm_random_uniform (word) - 1);
}

/* Log-uniform between 1 / `most` and `most`; 1 where that is 0. */
static inline QM_HOST_DEVICE float
qm_patch_factor (uint32_t word, double most)
{
  return most > 0 ? expf (qm_patch_move (word, log (most))) : 1;
}

/* What patches of a sample are ordered by, the first of which are kept. */
static inline QM_HOST_DEVICE uint32_t
qm_mask_key (const int32_t *rng, uint32_t site, uint64_t sample, int64_t patch)
{
  QmRandomBits bits =
      qm_philox ((uint32_t) rng[QM_RNG_SEED], (uint32_t) rng[QM_RNG_SEED_HIGH],
                 (uint32_t) (patch / 4), (uint32_t) sample, site,
                 (uint32_t) (sample >> 32));

  /* Chosen, and not indexed, since registers have no addresses. */
  return patch % 4 == 0   ? bits.word[0]
         : patch % 4 == 1 ? bits.word[1]
         : patch % 4 == 2 ? bits.word[2]
                          : bits.word[3];
}

/* The number of sample b of this pass, of `batch`. */
static inline QM_HOST_DEVICE uint64_t
qm_mask_sample (const int32_t *rng, int64_t batch, int64_t b)
{
  return (uint64_t) (uint32_t) rng[QM_RNG_PASS] * (uint64_t) batch
         + (uint64_t) b;
}

/* Of pass `pass` with `rows` samples, the first among those of a step, of which
 * `ranks` ranks have `passes` passes each, in turn. */
static inline QM_HOST_DEVICE int64_t
qm_kept_row (uint32_t pass, int64_t rows, int64_t ranks, int64_t passes)
{
  return rows
         * ((int64_t) pass % ranks * passes + (int64_t) pass / ranks % passes);
}

/* Noise in the order of its bits: less of one is less of the other. */
static inline QM_HOST_DEVICE uint32_t
qm_noise_key (uint32_t bits)
{
  return bits >> 31 != 0 ? ~bits : bits | UINT32_C (0x80000000);
}

/* Element `index` of 4 that a block makes, N(0, 1) by Box and Muller (1958). */
static inline QM_HOST_DEVICE float
qm_random_normal (QmRandomBits bits, int index)
{
  float radius =
      sqrtf (-2.0f * logf (qm_random_uniform (bits.word[index / 2 * 2])));
  float angle =
      6.28318530717958648f * qm_random_uniform (bits.word[index / 2 * 2 + 1]);

  return index % 2 == 0 ? radius * cosf (angle) : radius * sinf (angle);
}

#endif
