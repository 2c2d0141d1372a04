/* SPDX-License-Identifier: Apache-2.0 */

/* Checks the arguments of an attention call and picks the kernel. */

#include "kernels/cuda/attention.h"

#include <algorithm>
#include <math.h>

#include "kernels/cuda/attention-common.cuh"
#include "kernels/cuda/cuda-ops.h"

using namespace qm_attention;

namespace
{

/* Shares of the backward workspace, each a multiple of 256 bytes. */
struct Layout
{
  int padded_seq;
  size_t delta, lse_log2, queue, dq_acc, semaphore, dkv_acc, total;
};

size_t
round_up (size_t x, size_t to)
{
  return (x + to - 1) / to * to;
}

int
kernel_head_dim (int head_dim)
{
  const int dims[] = { 32, 64, 80, 96, 128, 256 };

  for (int dim : dims)
    if (head_dim <= dim)
      return dim;
  return 0;
}

/* What the kernels for Hopper can do: heads of 16-bit types, small ones where
 * they are whole, TF32 for vision transformers. */
bool
fits_hopper (const QmAttention *a)
{
  const bool plain =
      !a->causal && a->dropout == 0 && a->groups == a->heads && a->window == 0;

  if (a->type == QM_ATTENTION_TF32)
    return a->head_dim == 64 && plain && a->seq <= TF32_MAX_SEQ;
  return a->head_dim > 32
         || (plain && a->seq >= WHOLE_MIN_SEQ && a->seq <= WHOLE_MAX_SEQ);
}

int
element_size (QmAttentionType type)
{
  return type == QM_ATTENTION_TF32 ? 4 : 2;
}

/* Portable kernels divide nothing. */
int
parts_of (const QmAttention *a)
{
  if (a->architecture > 0 && !qm_cuda_is_hopper (a->architecture))
    return 1;
  return qm_attention_parts ((int64_t) a->batch * a->groups,
                             a->heads / a->groups, a->seq, a->head_dim);
}

Layout
backward_layout (const QmAttention *a)
{
  const size_t row = kernel_head_dim (a->head_dim) * sizeof (float);
  const size_t parts = parts_of (a);
  Layout l;
  size_t rows, key_rows;

  l.padded_seq = (int) round_up (a->seq, ROW_PAD);
  rows = (size_t) a->batch * a->heads * l.padded_seq;
  key_rows = (size_t) a->batch * a->groups * l.padded_seq;
  l.delta = 0;
  l.lse_log2 = round_up (rows * sizeof (float), 256);
  l.queue = 2 * l.lse_log2;
  l.dq_acc = l.queue + 256;
  l.semaphore = l.dq_acc + rows * row;
  l.dkv_acc = l.semaphore + round_up (rows / 16 * sizeof (int), 256);
  l.total = l.dkv_acc + (parts > 1 ? 2 * parts * key_rows * row : 0);
  return l;
}

QmStatus
invalid (QmError *error, const char *what)
{
  return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                       "Attention cannot run: %s.", what);
}

QmStatus
launch_failed (QmError *error, cudaError_t status)
{
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "An attention kernel could not be started: %s.",
                       cudaGetErrorString (status));
}

bool
aligned (const QmAttention *a, const QmAttentionTensor *t)
{
  const int64_t per = 16 / element_size (a->type);

  return t && t->data && (uintptr_t) t->data % 16 == 0
         && t->batch_stride % per == 0 && t->seq_stride % per == 0
         && t->head_stride % per == 0 && t->seq_stride >= 0
         && t->batch_stride >= 0 && t->head_stride >= 0;
}

QmTensor
heads_of (const QmAttention *a, const QmAttentionTensor *t, int heads)
{
  return { .type = a->type == QM_ATTENTION_FP16   ? QM_TYPE_F16
                   : a->type == QM_ATTENTION_BF16 ? QM_TYPE_BF16
                                                  : QM_TYPE_F32,
           .rank = 4,
           .shape = { a->batch, heads, a->seq, a->head_dim },
           .stride = { t->batch_stride, t->head_stride, t->seq_stride, 1 },
           .data = t->data };
}

QmStatus
check (const QmAttention *a, QmError *error)
{
  if (a->type != QM_ATTENTION_FP16 && a->type != QM_ATTENTION_BF16
      && a->type != QM_ATTENTION_TF32)
    return invalid (error, "the element type is unknown");
  if (a->batch < 1 || a->heads < 1 || a->groups < 1 || a->seq < 1)
    return invalid (error, "batch, heads and sequence must be positive");
  if (a->heads % a->groups != 0)
    return invalid (error, "heads must be a multiple of those of keys");
  if (a->window < 0)
    return invalid (error, "a window has at least one column");
  if (a->head_dim < 8 || a->head_dim > QM_ATTENTION_HEAD
      || a->head_dim % 8 != 0)
    return invalid (error, "the head size must be a multiple of 8 up to 256");
  if (a->seq > QM_CUDA_ROWS
      || (int64_t) a->batch * a->heads * ((a->seq + 15) / 16) > INT32_MAX)
    return invalid (error, "batch, heads and sequence are too large");
  if (!(a->dropout >= 0 && a->dropout < 1))
    return invalid (error, "dropout must be at least 0 and less than 1");
  if (a->dropout > 0 && !a->rng)
    return invalid (error, "dropout needs random numbers");
  if (!isfinite (a->scale))
    return invalid (error, "the scale is not a number");
  if (a->table
      && (a->rotary < 2 || a->rotary % 2 != 0 || a->rotary > a->head_dim))
    return invalid (error, "no head has as many elements that turn");
  return QM_OK;
}

/* What the device can do, and whether it is the Hopper path's turn. */
QmStatus
pick_path (const QmAttention *a, Params *p, bool *hopper, QmError *error)
{
  int device, major = 0, minor = 0;
  cudaError_t status = cudaGetDevice (&device);

  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor,
                                     device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute (&minor, cudaDevAttrComputeCapabilityMinor,
                                     device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute (&p->sm_count,
                                     cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute (&p->smem_limit,
                                     cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                     device);
  if (status != cudaSuccess)
    return launch_failed (error, status);
  if (a->architecture > 0)
    p->smem_limit =
        std::min (p->smem_limit, qm_cuda_shared_limit (a->architecture));
  if (10 * major + minor < (a->type == QM_ATTENTION_FP16 ? 75 : 80))
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "Attention on tensor cores needs a GPU of compute "
                         "capability 8.0 or newer, 7.5 in fp16; this one has "
                         "%d.%d.",
                         major, minor);
  *hopper = major == 9 && minor == 0 && a->path != QM_ATTENTION_PATH_PORTABLE
            && fits_hopper (a);
  if (a->path == QM_ATTENTION_PATH_HOPPER && !*hopper)
    return qm_error_set (
        error, QM_STATUS_UNSUPPORTED, "", 0, 0,
        "The Hopper attention kernels need a GPU of compute "
        "capability 9.0 and a head size of more than 32, or %d "
        "to %d tokens; in TF32, a head size of 64 and at most "
        "%d tokens. Of these, as many keys as queries, no "
        "mask and no dropout.",
        WHOLE_MIN_SEQ, WHOLE_MAX_SEQ, TF32_MAX_SEQ);
  return QM_OK;
}

void
fill_params (const QmAttention *a, Params *p)
{
  p->batch = a->batch;
  p->heads = a->heads;
  p->groups = a->groups;
  p->shared = a->heads / a->groups;
  p->parts = parts_of (a);
  p->seq = a->seq;
  p->head_dim = a->head_dim;
  p->padded_seq = (int) round_up (a->seq, ROW_PAD);
  p->scale = a->scale;
  p->scale_log2 = a->scale * LOG2E;
  p->threshold = qm_dropout_threshold (a->dropout);
  p->keep_scale = 65536.0f / (65536.0f - p->threshold);
  p->grad_scale = p->scale * p->keep_scale;
  p->rng = a->rng;
  p->site = a->site;
  p->before = a->window > 0 && a->window < a->seq ? a->window - 1 : NO_WINDOW;
  p->after = a->causal ? 0 : p->before;
  p->causal = a->causal;
  p->deterministic = a->deterministic;
  if (a->table && (uintptr_t) a->table % 16 == 0 && p->threshold == 0
      && qm_cuda_turns_in_end (a->head_dim, a->rotary))
    {
      p->table = a->table;
      p->half = a->rotary / 2;
    }
  p->whole = a->path != QM_ATTENTION_PATH_HOPPER;
}

/* What turns dq and dk itself says so. */
template <class T, int D>
cudaError_t
launch (const Params &p,
        bool hopper,
        bool backward,
        cudaStream_t stream,
        bool *turned)
{
  if (backward)
    {
      bool done;
      cudaError_t status = launch_whole_backward<T, D> (p, stream, &done);

      if (done || status != cudaSuccess)
        return status;
    }
  if constexpr (sizeof (T) == 2)
    {
      *turned = hopper && p.half > 0;
      if (hopper)
        return backward ? launch_hopper_backward<T, D> (p, stream)
                        : launch_hopper_forward<T, D> (p, stream);
    }
  else if (sizeof (T) == 4 && hopper)
    return backward ? launch_tf32_backward (p, stream)
                    : launch_tf32_forward (p, stream);
  if (backward)
    return launch_portable_backward<T, D> (p, stream);
  return launch_portable_forward<T, D> (p, stream);
}

template <class T>
cudaError_t
launch_dim (const Params &p,
            bool hopper,
            bool backward,
            cudaStream_t stream,
            bool *turned)
{
  switch (kernel_head_dim (p.head_dim))
    {
    case 32:
      return launch<T, 32> (p, hopper, backward, stream, turned);
    case 64:
      return launch<T, 64> (p, hopper, backward, stream, turned);
    case 80:
      return launch<T, 80> (p, hopper, backward, stream, turned);
    case 96:
      return launch<T, 96> (p, hopper, backward, stream, turned);
    case 128:
      return launch<T, 128> (p, hopper, backward, stream, turned);
    default:
      return launch<T, 256> (p, hopper, backward, stream, turned);
    }
}

QmStatus
launch_type (const QmAttention *a,
             Params *p,
             bool backward,
             cudaStream_t stream,
             bool *turned,
             QmError *error)
{
  cudaError_t status;
  bool hopper;
  QmStatus picked = pick_path (a, p, &hopper, error);

  *turned = false;
  if (picked != QM_OK)
    return picked;
  if (a->type == QM_ATTENTION_FP16)
    status = launch_dim<__half> (*p, hopper, backward, stream, turned);
  else if (a->type == QM_ATTENTION_BF16)
    status = launch_dim<__nv_bfloat16> (*p, hopper, backward, stream, turned);
  else
    status = launch_dim<float> (*p, hopper, backward, stream, turned);
  return status == cudaSuccess ? QM_OK : launch_failed (error, status);
}

}

size_t
qm_attention_forward_workspace (const QmAttention *a)
{
  return 256;
}

size_t
qm_attention_backward_workspace (const QmAttention *a)
{
  return backward_layout (a).total;
}

QmStatus
qm_attention_forward (const QmAttention *a,
                      const QmAttentionTensor *q,
                      const QmAttentionTensor *k,
                      const QmAttentionTensor *v,
                      const QmAttentionTensor *o,
                      float *lse,
                      void *workspace,
                      cudaStream_t stream,
                      QmError *error)
{
  Params p = {};
  QmStatus status = check (a, error);
  bool turned;

  if (status != QM_OK)
    return status;
  if (!aligned (a, q) || !aligned (a, k) || !aligned (a, v) || !aligned (a, o)
      || !lse || !workspace || (uintptr_t) workspace % 256 != 0)
    return invalid (error, "a tensor is missing or not aligned");
  fill_params (a, &p);
  p.q = *q;
  p.k = *k;
  p.v = *v;
  p.o = *o;
  p.lse = lse;
  p.queue = static_cast<int *> (workspace);
  return launch_type (a, &p, false, stream, &turned, error);
}

QmStatus
qm_attention_backward (const QmAttention *a,
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
                       QmError *error)
{
  Params p = {};
  QmStatus status = check (a, error);
  char *bytes = static_cast<char *> (workspace);
  bool turned;

  if (status != QM_OK)
    return status;
  if (!aligned (a, q) || !aligned (a, k) || !aligned (a, v) || !aligned (a, o)
      || !aligned (a, dout) || !aligned (a, dq) || !aligned (a, dk)
      || !aligned (a, dv) || !lse || !workspace
      || (uintptr_t) workspace % 256 != 0)
    return invalid (error, "a tensor is missing or not aligned");
  Layout l = backward_layout (a);

  fill_params (a, &p);
  p.q = *q;
  p.k = *k;
  p.v = *v;
  p.o = *o;
  p.dout = *dout;
  p.dq = *dq;
  p.dk = *dk;
  p.dv = *dv;
  p.lse = const_cast<float *> (lse);
  p.delta = reinterpret_cast<float *> (bytes + l.delta);
  p.lse_log2 = reinterpret_cast<float *> (bytes + l.lse_log2);
  p.queue = reinterpret_cast<int *> (bytes + l.queue);
  p.dq_acc = reinterpret_cast<float *> (bytes + l.dq_acc);
  p.semaphore = reinterpret_cast<int *> (bytes + l.semaphore);
  p.dkv_acc = reinterpret_cast<float *> (bytes + l.dkv_acc);
  status = launch_type (a, &p, true, stream, &turned, error);
  if (status != QM_OK || !a->table || turned)
    return status;
  const QmTensor dq_heads = heads_of (a, dq, a->heads);
  const QmTensor dk_heads = heads_of (a, dk, a->groups);

  return qm_cuda_turn_back (stream, &dq_heads, &dk_heads, a->table, a->rotary,
                            error);
}
