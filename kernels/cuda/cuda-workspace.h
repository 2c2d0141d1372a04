/* SPDX-License-Identifier: Apache-2.0 */

/* How operators divide their workspace: what a launcher and the size that
 * qm_cuda_workspace() gives have to agree on.  Sizes are in elements of four
 * bytes. */

#ifndef QM_KERNELS_CUDA_CUDA_WORKSPACE_H
#define QM_KERNELS_CUDA_CUDA_WORKSPACE_H

#include <stdint.h>

/* Most blocks of the gradient of layer norm: each makes sums of its own. */
#define QM_CUDA_NORM_PARTS 528

/* Most blocks of the sum of squares. */
#define QM_CUDA_SQUARES_PARTS 2048

/* The gradient of an embedding sorts the tokens by their id, QM_CUDA_SORT_TILE
 * a block, and adds QM_CUDA_SORT_CHUNK of them at a time. */
#define QM_CUDA_SORT_TILE   1024
#define QM_CUDA_SORT_DIGITS 256
#define QM_CUDA_SORT_CHUNK  64

static inline int64_t
qm_cuda_sort_tiles (int64_t tokens)
{
  return (tokens + QM_CUDA_SORT_TILE - 1) / QM_CUDA_SORT_TILE;
}

static inline int64_t
qm_cuda_sort_chunks (int64_t tokens)
{
  return (tokens + QM_CUDA_SORT_CHUNK - 1) / QM_CUDA_SORT_CHUNK;
}

/* Where the arrays of the gradient of an embedding begin. */
typedef struct QmCudaSortLayout
{
  int64_t keys[2], values[2], counts; /* i32 */
  int64_t parts;                      /* f32 [chunks, 2, columns] */
  int64_t size;
} QmCudaSortLayout;

static inline QmCudaSortLayout
qm_cuda_sort_layout (int64_t tokens, int64_t columns)
{
  int64_t room = (tokens + 63) / 64 * 64;
  QmCudaSortLayout layout = { { 0, room }, { 2 * room, 3 * room }, 4 * room };

  layout.parts =
      layout.counts + QM_CUDA_SORT_DIGITS * qm_cuda_sort_tiles (tokens);
  layout.size = layout.parts + 2 * qm_cuda_sort_chunks (tokens) * columns;
  return layout;
}

/* A scan goes through its sequences QM_CUDA_SCAN_ROWS rows at a time; the
 * gradient does so for QM_CUDA_SCAN_CHANNELS channels a block. */
#define QM_CUDA_SCAN_ROWS     64
#define QM_CUDA_SCAN_CHANNELS 32

/* Where the arrays of the gradient of a scan begin: sums of every group of
 * channels for b and c, sums of every sequence for a, skip and bias, and
 * states, where those that were kept are too few. */
typedef struct QmCudaScanLayout
{
  int64_t columns;   /* f32 [groups, rows, 2, n] */
  int64_t sequences; /* f32 [sequences, (n + 2) channels] */
  int64_t states;    /* f32 [sequences, tiles, n, channels], or nothing */
  int64_t size;
} QmCudaScanLayout;

static inline QmCudaScanLayout
qm_cuda_scan_layout (int64_t rows,
                     int64_t width,
                     int64_t chunk,
                     int64_t channels,
                     int64_t n)
{
  int64_t groups =
      (channels + QM_CUDA_SCAN_CHANNELS - 1) / QM_CUDA_SCAN_CHANNELS;
  int64_t tiles = (width + QM_CUDA_SCAN_ROWS - 1) / QM_CUDA_SCAN_ROWS;
  QmCudaScanLayout layout = { .columns = 0 };

  layout.sequences = groups * rows * 2 * n;
  layout.states = layout.sequences + rows / width * (n + 2) * channels;
  layout.size = layout.states;
  if (chunk > QM_CUDA_SCAN_ROWS)
    layout.size += rows / width * tiles * n * channels;
  return layout;
}

#endif
