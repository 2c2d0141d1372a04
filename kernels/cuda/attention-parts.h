/* SPDX-License-Identifier: Apache-2.0 */

/* How the heads of Q that share one of K are divided in the gradient of
 * attention: what its kernels, and plans for a GPU that is not here, have to
 * agree on. */

#ifndef QM_KERNELS_CUDA_ATTENTION_PARTS_H
#define QM_KERNELS_CUDA_ATTENTION_PARTS_H

#include <stdint.h>

/* Columns of a tile of attention's gradient on Hopper, and tiles that are
 * enough for its multiprocessors, eight for each: one number for all of them,
 * so that workspaces are planned without a device. */
#define QM_ATTENTION_PART_COLUMNS 128
#define QM_ATTENTION_PART_TILES   1056

/* Heads of Q that share one of K are worked on one after the other, by as many
 * tiles as the head of K has.  Where few heads of K have few tiles, the heads
 * of Q are divided into as many parts as make tiles enough; each has sums of dK
 * and dV of its own.  Returns how many parts, by which `shared` can be divided.
 * Heads of 256 have a kernel for dK and dV alone, which is not divided. */
static inline int
qm_attention_parts (int64_t key_heads,
                    int shared,
                    int64_t rows,
                    int64_t head_dim)
{
  const int64_t tiles =
      key_heads
      * ((rows + QM_ATTENTION_PART_COLUMNS - 1) / QM_ATTENTION_PART_COLUMNS);
  int parts = 1;

  while (head_dim <= 128 && parts < shared
         && (shared % parts != 0 || tiles * parts < QM_ATTENTION_PART_TILES))
    parts++;
  return parts;
}

#endif
