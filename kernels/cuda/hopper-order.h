/* SPDX-License-Identifier: Apache-2.0 */

/* In which order the tiles of a product on Hopper are taken, so that little is
 * read from memory twice; plain C, compiled also where no GPU can be used.
 *
 * As many tiles as there are clusters are worked on at a time, a wave, and
 * these go along the sum side by side: what several of them read at a time
 * comes from memory once.  What a wave has read comes from the L2 cache again
 * only if the next one reads it soon. */

#ifndef QM_KERNELS_CUDA_HOPPER_ORDER_H
#define QM_KERNELS_CUDA_HOPPER_ORDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

  /* Tiles of a product, and what each row and column of them reads. */
  typedef struct QmHopperGrid
  {
    int64_t rows, columns;
    int64_t row_bytes, column_bytes;
    int clusters;
  } QmHopperGrid;

  /* Returns how many row tiles are best worked on together, at all columns
   * before the next: the fewer bytes are read from memory, the less energy that
   * takes.  With 1, columns come one after the other. */
  int qm_hopper_group (const QmHopperGrid *grid);

  /* Bytes that are read from memory if `group` row tiles are worked on
   * together; an estimate. */
  int64_t qm_hopper_bytes (const QmHopperGrid *grid, int group);

  /* How the sums of a gradient of weights are divided.  A unit is a tile in a
   * slab of the sum; those of a slab are next to each other. */
  typedef struct QmHopperSums
  {
    int slab;       /* steps */
    int64_t whole;  /* units of whole waves */
    int rest;       /* units after these, each divided into */
    int parts;      /* so many parts, of */
    int part_steps; /* so many steps, or fewer */
    int group;      /* row tiles that are worked on together */
  } QmHopperSums;

  /* Divides the sums of `steps` steps of rows x columns tiles between clusters:
   * all parts of a unit begin at the same time, as all units of a wave do, so
   * that they go along the sum side by side.  `step_bytes`: what a row or a
   * column of tiles reads in a step. */
  QmHopperSums qm_hopper_divide (int64_t rows,
                                 int64_t columns,
                                 int steps,
                                 int64_t step_bytes,
                                 int clusters);

#ifdef __cplusplus
}
#endif

#endif
