/* SPDX-License-Identifier: Apache-2.0 */

/* The reference device: every operator of the table in fp32, readable before
 * fast. */

#ifndef QM_KERNELS_CPU_CPU_H
#define QM_KERNELS_CPU_CPU_H

#include "kernels/backend.h"
#include "kernels/convert.h"
#include "kernels/threads.h"

#include <stdlib.h>

/* Work on [begin, end); returns false where memory is out. */
typedef bool (*QmCpuBody) (void *data, int64_t begin, int64_t end);

/* Splits [0, n) among the threads, if `work` operations in all are worth it.
 * Without threads, and always in a body, it is done by the caller. */
bool qm_cpu_parallel (
    QmThreads *threads, int64_t n, double work, QmCpuBody body, void *data);

/* A matrix as a product sees it: any strides. */
typedef struct QmCpuMatrix
{
  QmType type;
  const void *data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
} QmCpuMatrix;

/* The last two dimensions of a tensor at an offset of elements. */
QmCpuMatrix qm_cpu_matrix (const QmTensor *tensor, int64_t offset);
QmCpuMatrix qm_cpu_transpose (QmCpuMatrix matrix);

/* c = a b, row-major and dense; `threads` may be NULL. */
bool
qm_cpu_product (QmThreads *threads, QmCpuMatrix a, QmCpuMatrix b, float *c);

/* Address of element `offset`. */
static inline void *
qm_cpu_at (const QmTensor *tensor, int64_t offset)
{
  return (char *) tensor->data + (size_t) offset * qm_type_size (tensor->type);
}

/* `n` elements that follow each other. */
static inline void
qm_cpu_load (const QmTensor *tensor, int64_t offset, int64_t n, float *to)
{
  qm_floats_load (tensor->type, qm_cpu_at (tensor, offset), 1, n, to);
}

static inline void
qm_cpu_store (const QmTensor *tensor, int64_t offset, int64_t n, const float *x)
{
  qm_floats_store (tensor->type, qm_cpu_at (tensor, offset), 1, n, x);
}

static inline float *
qm_cpu_floats (int64_t n)
{
  return malloc ((size_t) (n > 0 ? n : 1) * sizeof (float));
}

float qm_cpu_function (QmFunction function, float x);
float qm_cpu_function_slope (QmFunction function, float x);

/* What dropout multiplies element `index` of a tensor with. */
float qm_cpu_dropout (const QmAttributes *attributes,
                      uint32_t site,
                      const int32_t *rng,
                      int64_t index);

/* The same for attention weight (row, column) of head b H + h. */
float qm_cpu_dropout_tiled (const QmAttributes *attributes,
                            const int32_t *rng,
                            int64_t head,
                            int64_t rows,
                            int64_t row,
                            int64_t column);

/* What stochastic depth multiplies a row with, by the sample it is of. */
float
qm_cpu_depth (const QmAttributes *attributes, const int32_t *rng, int64_t row);

/* One function an operator; false where memory is out. */
typedef bool (*QmCpuOperator) (QmThreads *threads, const QmOpCall *call);

bool qm_cpu_fill (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_random (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_advance (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_copy (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_add (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_column_sum (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_activation (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_activation_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_dropout_run (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_linear (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gated_linear (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gated_input_grad (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_linear_input_grad (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_linear_weight_grad (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_quantize (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_note_amax (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_scaled_linear (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_scaled_weight_grad (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_matmul (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gate (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gate_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_repeat_heads (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_repeat_heads_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_softmax (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_softmax_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_attention (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_attention_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_layer_norm (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_layer_norm_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gated_norm (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gated_norm_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_rotary (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_embedding (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_embedding_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_positions (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_patchify (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_unpatchify (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_depthwise_conv (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_depthwise_conv_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_token_dropout (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_layer_scale (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_layer_scale_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_pool (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_pool_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_selective_scan (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_selective_scan_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_dual_scan (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_dual_scan_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_route (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_route_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gather_rows (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_combine_rows (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_weighted_gate (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_weighted_gate_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_grouped_linear (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_grouped_input_grad (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_grouped_weight_grad (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_expert_load (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_expert_load_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_balance (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_class_token (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_class_token_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_patch_angles (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_mask_patches (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_restore_tokens (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_restore_tokens_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_pixel_loss (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_add_positions (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_adaptive_norm (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_adaptive_norm_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gated_add (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_gated_add_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_draw_noise (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_add_noise (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_noise_loss (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_share_out (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_hide_rows (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_pick_rows (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_pick_rows_backward (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_spread_loss (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_teacher_loss (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_find_tokens (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_keep_rows (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_contrast_sums (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_contrast_loss (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_label_weight (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_cross_entropy (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_sum_squares (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_update_state (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_adam (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_lamb_direction (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_lamb_update (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_muon_momentum (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_muon_normalize (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_muon_polynomial (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_muon_update (QmThreads *threads, const QmOpCall *call);
bool qm_cpu_average (QmThreads *threads, const QmOpCall *call);

#endif
