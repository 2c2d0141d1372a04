/* SPDX-License-Identifier: Apache-2.0 */

/* How the loss of long rows is divided between the blocks of a cluster, where a
 * row does not fit into one: each has so many columns that follow each other.
 * Plain arithmetic, which runs on the host as well. */

#ifndef QM_KERNELS_CUDA_LOSS_SHARES_H
#define QM_KERNELS_CUDA_LOSS_SHARES_H

#include "kernels/cuda/cuda-limits.h"

#include <stddef.h>

/* Threads of a block that compute, the groups of eight columns that each keeps
 * in registers, and the blocks that a row may have. */
#define QM_LOSS_THREADS     992
#define QM_LOSS_ROUNDS      7
#define QM_LOSS_MOST_BLOCKS 8

/* Columns of 16 bits in a line of memory: no two blocks write to one. */
#define QM_LOSS_LINE 64

/* Columns that a block can keep. */
#define QM_LOSS_MOST_KEPT (QM_LOSS_ROUNDS * QM_LOSS_THREADS * 8)

/* Shared memory of a block besides the copies of two shares: sums and barriers,
 * what aligns the copies, and what the system takes. */
QM_CUDA_CONSTANT int
qm_loss_taken (int blocks)
{
  return 1024 + 128 + 64 + 512 * blocks;
}

/* Columns of each share; of the last one, what is left. */
QM_CUDA_CONSTANT int
qm_loss_share (int columns, int blocks)
{
  int lines = (columns + QM_LOSS_LINE - 1) / QM_LOSS_LINE;

  return (lines + blocks - 1) / blocks * QM_LOSS_LINE;
}

/* How many of the first `n` columns are in share number `rank`. */
QM_CUDA_CONSTANT int
qm_loss_within (int n, int share, int rank)
{
  int rest = n - share * rank;

  return rest < 0 ? 0 : rest < share ? rest : share;
}

/* Bytes of shared memory for two copies of the largest share of a row. */
QM_CUDA_CONSTANT int
qm_loss_copies (int classes, int columns, int blocks)
{
  return 2 * 16
         * (qm_loss_within (classes, qm_loss_share (columns, blocks), 0) / 8);
}

/* The fewest blocks that can keep a row of 16 bits, where a block may have so
 * much shared memory; 0 if none can.  `columns` are the classes and what pads
 * them. */
QM_CUDA_CONSTANT int
qm_loss_blocks (size_t shared, int classes, int columns)
{
  if (columns > QM_LOSS_MOST_BLOCKS * QM_LOSS_MOST_KEPT)
    return 0;
  for (int blocks = 1; blocks <= QM_LOSS_MOST_BLOCKS; blocks *= 2)
    {
      int bytes = qm_loss_copies (classes, columns, blocks);

      if (qm_loss_share (columns, blocks) <= QM_LOSS_MOST_KEPT
          && (size_t) (bytes + qm_loss_taken (blocks)) <= shared)
        return blocks;
    }
  return 0;
}

#endif
