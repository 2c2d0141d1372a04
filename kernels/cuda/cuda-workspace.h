/* SPDX-License-Identifier: Apache-2.0 */

/* How operators divide their workspace: what a launcher and the size that
 * qm_cuda_workspace() gives have to agree on.  Sizes are in elements of four
 * bytes. */

#ifndef QM_KERNELS_CUDA_CUDA_WORKSPACE_H
#define QM_KERNELS_CUDA_CUDA_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/cuda-support.h"
#include "kernels/operators.h"

#ifdef __cplusplus
}
#endif

/* Most blocks of the gradient of layer norm: each makes sums of its own. */
#define QM_CUDA_NORM_PARTS 792

/* Where among its sums, of gamma and beta and of those of a second output, that
 * of a gain is, and how many there is room for. */
static inline int
qm_cuda_norm_gain (const QmOpCall *call)
{
  return qm_tensor_present (&call->inputs[6]) ? 4 : 2;
}

static inline int
qm_cuda_norm_sums (const QmOpCall *call)
{
  int gain = qm_cuda_norm_gain (call);

  return gain == 4 && qm_tensor_present (&call->inputs[10]) ? 5 : 4;
}

/* Most blocks of the sum of squares. */
#define QM_CUDA_SQUARES_PARTS 2048

/* The gradient of an embedding sorts the tokens by their id, QM_CUDA_SORT_TILE
 * a block, and adds QM_CUDA_SORT_CHUNK of them at a time. */
#define QM_CUDA_SORT_TILE   1024
#define QM_CUDA_SORT_DIGITS 256
#define QM_CUDA_SORT_CHUNK  64

/* The gradient of weights in TF32 transposes dy or x, whichever has fewer
 * columns: at most so many of its rows at a time that they take so many bytes,
 * in tiles of QM_CUDA_TRANSPOSE_ROWS. */
#define QM_CUDA_TRANSPOSE_BYTES (INT64_C (256) << 20)
#define QM_CUDA_TRANSPOSE_ROWS  128

/* Whether the gradient of weights may go by way of a transposed factor. */
static inline bool
qm_cuda_transposes (int architecture, const QmTensor *dy, bool tf32)
{
  return qm_cuda_is_hopper (architecture) && tf32 && dy->type == QM_TYPE_F32
         && dy->shape[0] >= 1024 && dy->shape[1] >= 64;
}

/* How many rows are transposed at a time; equal shares, and whole tiles. */
static inline int64_t
qm_cuda_transposed_rows (int64_t rows, int64_t columns)
{
  int64_t most = QM_CUDA_TRANSPOSE_BYTES / (4 * columns);
  int64_t tile = QM_CUDA_TRANSPOSE_ROWS, parts, share;

  most = most > tile ? most : tile;
  parts = (rows + most - 1) / most;
  share = (rows + parts - 1) / parts;
  return (share + tile - 1) / tile * tile;
}

/* The memory for them. */
static inline int64_t
qm_cuda_transposed_size (int64_t rows, int64_t out, int64_t in)
{
  int64_t columns = out < in ? out : in;

  return qm_cuda_transposed_rows (rows, columns) * columns;
}

/* The largest magnitudes of what is quantised: of all of it, or of every row
 * and, from `columns` on, of every column. */
typedef struct QmCudaAmaxLayout
{
  int64_t columns, size;
} QmCudaAmaxLayout;

static inline QmCudaAmaxLayout
qm_cuda_amax_layout (int64_t rows, int64_t columns, bool by_row)
{
  QmCudaAmaxLayout layout = { 0, 1 };

  if (by_row)
    {
      layout.columns = rows;
      layout.size = rows + columns;
    }
  return layout;
}

/* What is multiplied for a gate, and not kept, is so many bytes at a time, or
 * QM_CUDA_GATED_ROWS rows where these are more: products of all rows would be
 * little faster. */
#define QM_CUDA_GATED_BYTES (INT64_C (64) << 20)
#define QM_CUDA_GATED_ROWS  256

/* Rows at a time, of so many columns: equal shares, and whole tiles. */
static inline int64_t
qm_cuda_gated_rows (const QmTensor *result, int64_t columns)
{
  int64_t size = (int64_t) qm_type_size (result->type) * columns;
  int64_t tile = QM_CUDA_GATED_ROWS, most = QM_CUDA_GATED_BYTES / size;
  int64_t rows = result->shape[0], parts;

  most = most > tile ? most / tile * tile : tile;
  parts = (rows + most - 1) / most;
  rows = ((rows + parts - 1) / parts + tile - 1) / tile * tile;
  return rows < result->shape[0] ? rows : result->shape[0];
}

/* The memory for them, whose rows are of whole 16 bytes. */
static inline int64_t
qm_cuda_gated_size (const QmTensor *result, int64_t columns)
{
  int64_t step = (columns + 7) / 8 * 8;

  return (qm_cuda_gated_rows (result, columns) * step
              * (int64_t) qm_type_size (result->type)
          + 3)
         / 4;
}

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

/* Most parts of the pixels of a depth-wise convolution, for each of which a
 * gradient of all weights is made, and most blocks for all channels. */
#define QM_CUDA_CONV_PARTS  264
#define QM_CUDA_CONV_BLOCKS 1056

/* Most parts of the tokens whose experts' loads are summed. */
#define QM_CUDA_LOAD_PARTS 264

/* Groups of samples whose hidden tokens are added up apart. */
#define QM_CUDA_MASK_PARTS 8

/* Sums of a part of the rows of a sample that the gradient of a norm of samples
 * makes, of each kind, and the fewest rows of a part. */
#define QM_CUDA_SAMPLE_SUMS (448 << 10)
#define QM_CUDA_SAMPLE_ROWS 8

/* Most parts of a sample. */
static inline int64_t
qm_cuda_sample_parts (int64_t rows, int64_t batch, int64_t columns)
{
  int64_t most = QM_CUDA_SAMPLE_SUMS / (batch * columns);
  int64_t parts = rows / batch / QM_CUDA_SAMPLE_ROWS;

  parts = parts < most ? parts : most;
  return parts > 1 ? parts : 1;
}

/* Most parts of the rows of layer scale. */
#define QM_CUDA_SCALE_PARTS 528

/* Where the arrays of the gradient of a depth-wise convolution begin. */
typedef struct QmCudaConvLayout
{
  bool gradient;             /* that of the argument, [rows, C], stands first */
  int64_t parts, bias_parts; /* f32 [most_parts, C, M, N], [most_parts, C] */
  int64_t most_parts;
  int64_t size;
} QmCudaConvLayout;

/* Kernels for sequences have 512 channels in a block, and go through the
 * activation on the way. */
static inline QmCudaConvLayout
qm_cuda_conv_layout (const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[1], *w = &call->inputs[2];
  bool sequence = call->attributes.height == 1 && w->shape[1] == 1
                  && w->shape[2] <= 4
                  && call->attributes.causal != QM_CAUSAL_NONE;
  int64_t channels = x->shape[1], taps = w->shape[1] * w->shape[2];
  int64_t each = sequence ? 512 : 128;
  QmCudaConvLayout layout = { 0 };

  layout.gradient =
      call->attributes.activation != QM_FUNCTION_NONE && !sequence;
  layout.most_parts = QM_CUDA_CONV_BLOCKS / ((channels + each - 1) / each);
  if (layout.most_parts > QM_CUDA_CONV_PARTS)
    layout.most_parts = QM_CUDA_CONV_PARTS;
  if (layout.most_parts < 1)
    layout.most_parts = 1;
  if (layout.gradient)
    layout.parts = (x->shape[0] * channels + 63) / 64 * 64;
  layout.bias_parts = layout.parts + layout.most_parts * channels * taps;
  layout.size = layout.bias_parts + layout.most_parts * channels;
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
qm_cuda_scan_layout (
    int64_t rows, int64_t width, int64_t chunk, int64_t channels, int64_t n)
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

/* Tiles by which a dual scan goes through a head: type of their elements, rows
 * of a chunk, states and columns that there is room for. */
typedef struct QmCudaDualShape
{
  QmType type;
  int rows, states, columns;
} QmCudaDualShape;

/* Of 16 bits where all factors of products are.  Large tiles take more shared
 * memory than a block may have of GPUs that are no accelerators. */
static inline QmCudaDualShape
qm_cuda_dual_shape (int architecture,
                    const QmTensor *const *factors,
                    int n_factors,
                    int64_t states)
{
  QmType type = factors[0]->type;
  bool roomy = qm_cuda_shared_limit (architecture) >= 163 << 10;

  for (int i = 1; i < n_factors; i++)
    if (factors[i]->type != type)
      type = QM_TYPE_F32;
  if (type != QM_TYPE_F32 && !qm_cuda_multiplies (architecture, type, false))
    type = QM_TYPE_F32;
  if (type == QM_TYPE_F32)
    return states > 128 ? (QmCudaDualShape){ type, 16, 256, 16 }
                        : (QmCudaDualShape){ type, 16, 128, 32 };
  if (states > 128)
    return (QmCudaDualShape){ type, 32, 256, 32 };
  return roomy ? (QmCudaDualShape){ type, 64, 128, 64 }
               : (QmCudaDualShape){ type, 32, 128, 32 };
}

/* Where the arrays of the gradient of a dual scan begin: states before every
 * chunk and parts of the gradients of b and c, in the type of tiles; of that of
 * dt, where there is more than one; sums of a, skip and bias. */
typedef struct QmCudaDualLayout
{
  int64_t slices, chunks, parts; /* parts: slices of a group's heads */
  int64_t states;  /* [sequences, heads, slices, chunks, states, columns] */
  int64_t columns; /* [2, parts, rows, b's columns] */
  int64_t steps;   /* f32 [slices, rows, heads], or nothing */
  int64_t sums;    /* f32 [3, sequences slices, heads] */
  int64_t size;
} QmCudaDualLayout;

static inline QmCudaDualLayout
qm_cuda_dual_layout (const QmCudaDualShape *shape, const QmOpCall *call)
{
  const QmTensor *x = &call->inputs[1], *a = &call->inputs[3];
  int64_t rows = x->shape[0], heads = a->shape[0],
          width = call->attributes.width;
  int64_t sequences = rows / width, words = shape->type == QM_TYPE_F32 ? 1 : 2;
  QmCudaDualLayout layout = { 0 };

  layout.slices = (x->shape[1] / heads + shape->columns - 1) / shape->columns;
  layout.chunks = (width + shape->rows - 1) / shape->rows;
  layout.parts = heads / call->attributes.count * layout.slices;
  layout.columns = sequences * heads * layout.slices * layout.chunks
                   * shape->states * shape->columns / words;
  layout.steps =
      layout.columns
      + (2 * layout.parts * rows * call->inputs[4].shape[1] / words + 63) / 64
            * 64;
  layout.sums =
      layout.steps + (layout.slices > 1 ? layout.slices * rows * heads : 0);
  layout.size = layout.sums + 3 * sequences * layout.slices * heads;
  return layout;
}

#endif
