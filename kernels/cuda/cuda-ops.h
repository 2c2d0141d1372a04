/* SPDX-License-Identifier: Apache-2.0 */

/* The operators of an NVIDIA GPU, one launcher each; only for kernels/cuda/.
 *
 * A launcher queues its call on the stream of the current device and returns
 * at once.  The call passed qm_op_check() and brings the workspace that
 * qm_cuda_workspace() asks for; the launcher must not allocate, wait or use
 * any other stream, because it may be captured.  It returns what
 * qm_cuda_launched() says, or QM_STATUS_UNSUPPORTED before it has queued
 * anything. */

#ifndef QM_KERNELS_CUDA_CUDA_OPS_H
#define QM_KERNELS_CUDA_CUDA_OPS_H

#include <cuda_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#include "kernels/backend.h"
#include "kernels/cuda/cuda-support.h"

  typedef struct QmCudaProducts QmCudaProducts;
  typedef struct QmCudaChoices QmCudaChoices;

  /* What launchers may know of the device. */
  typedef struct QmCudaContext
  {
    int architecture;         /* 10 x major + minor */
    int processors;           /* streaming multiprocessors */
    size_t shared_bytes;      /* that a block may ask for */
    double bandwidth;         /* of memory: bytes a second, by its clock */
    QmCudaProducts *products; /* cuBLASLt and what was learned of shapes */
    QmCudaChoices *choices;   /* between cuBLASLt and our own products */
    QmCudaPreference preference;
  } QmCudaContext;

  /* As qm_cuda_is_hopper(), of the device. */
  static inline bool
  qm_cuda_has_hopper (const QmCudaContext *context)
  {
    return qm_cuda_is_hopper (context->architecture);
  }

  typedef QmStatus (*QmCudaOperator) (QmCudaContext *context,
                                      cudaStream_t stream,
                                      const QmOpCall *call,
                                      QmError *error);

#define QM_CUDA_OPERATOR(name)                                          \
  QmStatus qm_cuda_##name (QmCudaContext *context, cudaStream_t stream, \
                           const QmOpCall *call, QmError *error)

  QM_CUDA_OPERATOR (fill);
  QM_CUDA_OPERATOR (random);
  QM_CUDA_OPERATOR (advance);
  QM_CUDA_OPERATOR (copy);
  QM_CUDA_OPERATOR (add);
  QM_CUDA_OPERATOR (column_sum);
  QM_CUDA_OPERATOR (activation);
  QM_CUDA_OPERATOR (activation_backward);
  QM_CUDA_OPERATOR (dropout);
  QM_CUDA_OPERATOR (linear);
  QM_CUDA_OPERATOR (linear_input_grad);
  QM_CUDA_OPERATOR (linear_weight_grad);
  QM_CUDA_OPERATOR (quantize);
  QM_CUDA_OPERATOR (note_amax);
  QM_CUDA_OPERATOR (scaled_linear);
  QM_CUDA_OPERATOR (scaled_weight_grad);
  QM_CUDA_OPERATOR (matmul);
  QM_CUDA_OPERATOR (gated_linear);
  QM_CUDA_OPERATOR (gated_input_grad);
  QM_CUDA_OPERATOR (gate);
  QM_CUDA_OPERATOR (gate_backward);
  QM_CUDA_OPERATOR (repeat_heads);
  QM_CUDA_OPERATOR (repeat_heads_backward);
  QM_CUDA_OPERATOR (softmax);
  QM_CUDA_OPERATOR (softmax_backward);
  QM_CUDA_OPERATOR (attention);
  QM_CUDA_OPERATOR (attention_backward);
  QM_CUDA_OPERATOR (layer_norm);
  QM_CUDA_OPERATOR (layer_norm_backward);
  QM_CUDA_OPERATOR (gated_norm);
  QM_CUDA_OPERATOR (gated_norm_backward);
  QM_CUDA_OPERATOR (rotary);
  QM_CUDA_OPERATOR (rotary_linear);
  QM_CUDA_OPERATOR (embedding);
  QM_CUDA_OPERATOR (embedding_backward);
  QM_CUDA_OPERATOR (positions);
  QM_CUDA_OPERATOR (token_dropout);
  QM_CUDA_OPERATOR (patchify);
  QM_CUDA_OPERATOR (unpatchify);
  QM_CUDA_OPERATOR (depthwise_conv);
  QM_CUDA_OPERATOR (depthwise_conv_backward);
  QM_CUDA_OPERATOR (layer_scale);
  QM_CUDA_OPERATOR (layer_scale_backward);
  QM_CUDA_OPERATOR (pool);
  QM_CUDA_OPERATOR (pool_backward);
  QM_CUDA_OPERATOR (selective_scan);
  QM_CUDA_OPERATOR (selective_scan_backward);
  QM_CUDA_OPERATOR (dual_scan);
  QM_CUDA_OPERATOR (dual_scan_backward);
  QM_CUDA_OPERATOR (route);
  QM_CUDA_OPERATOR (route_backward);
  QM_CUDA_OPERATOR (gather_rows);
  QM_CUDA_OPERATOR (combine_rows);
  QM_CUDA_OPERATOR (weighted_gate);
  QM_CUDA_OPERATOR (weighted_gate_backward);
  QM_CUDA_OPERATOR (grouped); /* all products of groups */
  QM_CUDA_OPERATOR (expert_load);
  QM_CUDA_OPERATOR (expert_load_backward);
  QM_CUDA_OPERATOR (balance);
  QM_CUDA_OPERATOR (class_token);
  QM_CUDA_OPERATOR (class_token_backward);
  QM_CUDA_OPERATOR (patch_angles);
  QM_CUDA_OPERATOR (mask_patches);
  QM_CUDA_OPERATOR (restore_tokens);
  QM_CUDA_OPERATOR (restore_tokens_backward);
  QM_CUDA_OPERATOR (pixel_loss);
  QM_CUDA_OPERATOR (add_positions);
  QM_CUDA_OPERATOR (adaptive_norm);
  QM_CUDA_OPERATOR (adaptive_norm_backward);
  QM_CUDA_OPERATOR (gated_add);
  QM_CUDA_OPERATOR (gated_add_backward);
  QM_CUDA_OPERATOR (draw_noise);
  QM_CUDA_OPERATOR (add_noise);
  QM_CUDA_OPERATOR (noise_loss);
  QM_CUDA_OPERATOR (share_out);
  QM_CUDA_OPERATOR (hide_rows);
  QM_CUDA_OPERATOR (pick_rows);
  QM_CUDA_OPERATOR (pick_rows_backward);
  QM_CUDA_OPERATOR (spread_loss);
  QM_CUDA_OPERATOR (teacher_loss);
  QM_CUDA_OPERATOR (find_tokens);
  QM_CUDA_OPERATOR (keep_rows);
  QM_CUDA_OPERATOR (contrast_sums);
  QM_CUDA_OPERATOR (contrast_loss);
  QM_CUDA_OPERATOR (label_weight);
  QM_CUDA_OPERATOR (cross_entropy);
  QM_CUDA_OPERATOR (sum_squares);
  QM_CUDA_OPERATOR (update_state);
  QM_CUDA_OPERATOR (adam);
  QM_CUDA_OPERATOR (lamb_direction);
  QM_CUDA_OPERATOR (lamb_update);
  QM_CUDA_OPERATOR (muon_momentum);
  QM_CUDA_OPERATOR (muon_normalize);
  QM_CUDA_OPERATOR (muon_polynomial);
  QM_CUDA_OPERATOR (muon_update);
  QM_CUDA_OPERATOR (average);

  /* Whether this program has code that the current device can run. */
  cudaError_t qm_cuda_probe (void);

  /* The status and the message of a failed call of CUDA, "`what`: why". */
  QmStatus qm_cuda_failed (cudaError_t code, const char *what, QmError *error);

  /* Whether the kernels just launched for the call were accepted. */
  QmStatus qm_cuda_launched (const QmOpCall *call, QmError *error);

  /* Whether every row of a tensor (or all of a dense one of rank 1) can be read
   * and written `width` elements at a time, as qm_load() and qm_store() of
   * cuda-common.cuh do: address, row length and all strides but the last fit.
   * True for "no tensor". */
  bool qm_cuda_vectors (const QmTensor *tensor, int width);

  /* Turns dq and dk, heads as attention's gradient has them, backwards in
   * place, as QM_OP_ROTARY does; the table is dense. */
  QmStatus qm_cuda_turn_back (cudaStream_t stream,
                              const QmTensor *dq,
                              const QmTensor *dk,
                              const float *table,
                              int64_t rotary,
                              QmError *error);

  /* sums[c] += scale x sum of partial[p, c] over p < parts, in that order; the
   * second step of every operator that sums over rows. */
  QmStatus qm_cuda_add_parts (cudaStream_t stream,
                              const float *partial,
                              int64_t parts,
                              int64_t columns,
                              float scale,
                              float *sums,
                              QmError *error);

#define QM_CUDA_MOST_SUMS 5

  /* The same for up to QM_CUDA_MOST_SUMS matrices of equal size at once, whose
   * sums are not the same. */
  QmStatus qm_cuda_add_all_parts (cudaStream_t stream,
                                  int n,
                                  const float *const *partial,
                                  int64_t parts,
                                  int64_t columns,
                                  float scale,
                                  float *const *sums,
                                  QmError *error);

#ifdef __cplusplus
}
#endif

#endif
