/* SPDX-License-Identifier: Apache-2.0 */

/* Scaled dot-product attention on an NVIDIA GPU that never writes the score
 * matrix (Dao et al., "FlashAttention", 2022; backward by recomputation).
 *
 *   S = scale * Q K^T        (rows see only earlier columns when causal)
 *   P = dropout (softmax (S))
 *   O = P V                  lse = log (sum (exp (S)))
 *
 * Every function only launches work on the given stream of the current
 * device: no allocation, no host synchronisation, so calls may be captured in
 * a CUDA graph.  Arguments are copied at launch; the tensors and the
 * workspace must live until the stream has passed.
 */

#ifndef QM_KERNELS_CUDA_ATTENTION_H
#define QM_KERNELS_CUDA_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C"
{
#endif

#include "data/error.h"

  typedef enum QmAttentionType
  {
    QM_ATTENTION_FP16,
    QM_ATTENTION_BF16,
    QM_ATTENTION_TF32 /* fp32 tensors, products in TF32 */
  } QmAttentionType;

  typedef enum QmAttentionPath
  {
    QM_ATTENTION_PATH_AUTO,     /* the fastest that the device can run */
    QM_ATTENTION_PATH_PORTABLE, /* compute capability 8.0 and above */
    QM_ATTENTION_PATH_HOPPER    /* compute capability 9.0 alone */
  } QmAttentionPath;

  /* A tensor of batch x seq x heads x head_dim elements on the device.  Strides
   * count elements; the last dimension is contiguous.  `data` and the strides
   * in bytes must be multiples of 16, so that packed projections, for instance
   * (batch, seq, heads, 3, head_dim) or (batch, seq, 3, heads, head_dim), can
   * be read and written in place.  k and v may have fewer heads, see `groups`.
   */
  typedef struct QmAttentionTensor
  {
    void *data;
    int64_t batch_stride;
    int64_t seq_stride;
    int64_t head_stride;
  } QmAttentionTensor;

  /* What is asked for.  head_dim is a multiple of 8 up to 256; 32, 64, 80, 96,
   * 128 and 256 have code of their own, others run as the next larger of these.
   *
   * Dropout: which elements are kept is what kernels/random.h says of tiled
   * dropout. */
  typedef struct QmAttention
  {
    QmAttentionType type;
    QmAttentionPath path;
    int batch;
    int heads;
    int groups; /* heads of k and v; head h meets h / (heads / groups) */
    int seq;
    int head_dim;
    float scale;        /* usually 1 / sqrt (head_dim) */
    bool causal;        /* row i sees columns 0 .. i */
    int window;         /* > 0: only those with |i - j| < window */
    bool deterministic; /* backward: dq is summed in one fixed order */
    double dropout;     /* probability in [0, 1) */
    uint32_t site;      /* tells apart the layers that share a seed */
    const int32_t *rng; /* on the device; read only where dropout > 0 */
    /* Backward: unless NULL, on the device [seq][rotary], and the first
     * `rotary` elements of heads of dq and dk are turned backwards by it, as
     * QM_OP_ROTARY says. */
    const float *table;
    int rotary;
    /* > 0: portable kernels take no more shared memory than a block of such a
     * GPU has, 86 being capability 8.6: what kernels were compiled for, where
     * that is older than the GPU, or to try out what an older GPU runs */
    int architecture;
  } QmAttention;

  /* Bytes of scratch memory that a call on `a` needs; no device is asked, so
   * that memory can be planned without one.  The workspace must be aligned to
   * 256 bytes; what it holds need not survive between calls. */
  size_t qm_attention_forward_workspace (const QmAttention *a);
  size_t qm_attention_backward_workspace (const QmAttention *a);

  /* Writes `o` and lse[batch][heads][seq] (natural logarithm, fp32).
   * QM_STATUS_UNSUPPORTED where the device is older than compute capability 8.0
   * or cannot run the path asked for, QM_STATUS_INVALID where a size, stride or
   * pointer is out of range, QM_STATUS_DEVICE where the launch failed. */
  QmStatus qm_attention_forward (const QmAttention *a,
                                 const QmAttentionTensor *q,
                                 const QmAttentionTensor *k,
                                 const QmAttentionTensor *v,
                                 const QmAttentionTensor *o,
                                 float *lse,
                                 void *workspace,
                                 cudaStream_t stream,
                                 QmError *error);

  /* Writes dq, dk and dv from the forward pass's inputs and outputs and the
   * gradient `dout` of `o`.  The same errors as forward. */
  QmStatus qm_attention_backward (const QmAttention *a,
                                  const QmAttentionTensor *q,
                                  const QmAttentionTensor *k,
                                  const QmAttentionTensor *v,
                                  const QmAttentionTensor *o,
                                  const float *lse,
                                  const QmAttentionTensor *dout,
                                  const QmAttentionTensor *dq,
                                  const QmAttentionTensor *dk,
                                  const QmAttentionTensor *dv,
                                  void *workspace,
                                  cudaStream_t stream,
                                  QmError *error);

#ifdef __cplusplus
}
#endif

#endif
