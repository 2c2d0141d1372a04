/* SPDX-License-Identifier: Apache-2.0 */

/* Mixtures of experts: which rows are whose, and how loads are balanced.  A
 * warp has a token, whose probabilities are in shared memory. */

#include "kernels/cuda/cuda-common.cuh"
#include "kernels/cuda/cuda-workspace.h"

#include <float.h>

namespace
{

constexpr int WARPS = 4; /* of a block, where their memory is there */
constexpr int FLOATS = 12 * 1024;
constexpr int PLACE_WARPS = 32;
constexpr unsigned ALL = 0xffffffffu;

struct Route
{
  QmArray logits, dlogits;
  int64_t stride, out_stride;
  int tokens, experts, k;
  bool normalized;
  float *weights;        /* of the gradient: theirs */
  const float *dweights; /* of the gradient */
  int32_t *chosen;
};

/* Warps of a block that have `arrays` arrays of a number an expert each. */
int
warps_for (int experts, int arrays)
{
  int fit = FLOATS / (experts * arrays);

  return fit < 1 ? 1 : fit < WARPS ? fit : WARPS;
}

/* Softmax of a row, by a warp. */
__device__ __forceinline__ void
probabilities (const QmArray &logits, int64_t first, int n, int lane, float *p)
{
  float most = -INFINITY, sum = 0;

  for (int e = lane; e < n; e += 32)
    {
      p[e] = qm_load (logits, first + e);
      most = fmaxf (most, p[e]);
    }
  most = qm_warp_max (most);
  for (int e = lane; e < n; e += 32)
    sum += p[e] = expf (p[e] - most);
  sum = qm_warp_sum (sum);
  for (int e = lane; e < n; e += 32)
    p[e] /= sum;
  __syncwarp ();
}

/* The expert with the largest logit, of equal ones the first. */
__device__ __forceinline__ int
largest (const float *x, int n, int lane)
{
  float most = -INFINITY;
  int best = n;

  for (int e = lane; e < n; e += 32)
    if (x[e] > most)
      {
        most = x[e];
        best = e;
      }
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    {
      float other = __shfl_xor_sync (ALL, most, lanes);
      int index = __shfl_xor_sync (ALL, best, lanes);

      if (other > most || (other == most && index < best))
        {
          most = other;
          best = index;
        }
    }
  return best;
}

__global__ void
route_kernel (const Route w)
{
  extern __shared__ float memory[];
  const int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  const int64_t t = (int64_t) blockIdx.x * (blockDim.x / 32) + warp;
  float *p = memory + 2 * warp * w.experts, *x = p + w.experts, sum = 0;
  float *weights = w.weights + t * w.k;

  if (t >= w.tokens)
    return;
  probabilities (w.logits, t * w.stride, w.experts, lane, p);
  for (int e = lane; e < w.experts; e += 32)
    {
      float logit = qm_load (w.logits, t * w.stride + e);

      x[e] = logit >= -FLT_MAX ? logit : -FLT_MAX;
    }
  __syncwarp ();
  for (int j = 0; j < w.k; j++)
    {
      int best = largest (x, w.experts, lane);

      __syncwarp ();
      if (lane == 0)
        {
          w.chosen[t * w.k + j] = best;
          weights[j] = p[best];
          x[best] = -INFINITY;
        }
      sum += p[best];
      __syncwarp ();
    }
  for (int j = lane; w.normalized && j < w.k; j += 32)
    weights[j] /= sum;
}

__global__ void
route_backward_kernel (const Route w)
{
  extern __shared__ float memory[];
  const int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  const int64_t t = (int64_t) blockIdx.x * (blockDim.x / 32) + warp;
  float *p = memory + 2 * warp * w.experts, *g = p + w.experts;
  const float *dw = w.dweights + t * w.k;
  const int32_t *chosen = w.chosen + t * w.k;
  float s = 0, dot = 0;

  if (t >= w.tokens)
    return;
  probabilities (w.logits, t * w.stride, w.experts, lane, p);
  for (int e = lane; e < w.experts; e += 32)
    g[e] = 0;
  __syncwarp ();
  for (int j = lane; j < w.k; j += 32)
    {
      g[chosen[j]] = dw[j];
      s += p[chosen[j]];
      dot += p[chosen[j]] * dw[j];
    }
  s = qm_warp_sum (s);
  dot = qm_warp_sum (dot);
  __syncwarp ();
  /* Of weights that were divided by their sum s: dp = (dw - dot / s) / s, and
   * the sum of p dp is 0. */
  if (w.normalized)
    {
      for (int j = lane; j < w.k; j += 32)
        g[chosen[j]] = (dw[j] - dot / s) / s;
      dot = 0;
      __syncwarp ();
    }
  for (int e = lane; e < w.experts; e += 32)
    qm_store (w.dlogits, t * w.out_stride + e, p[e] * (g[e] - dot));
}

struct Place
{
  const int32_t *chosen;
  int32_t *rows, *places, *offsets;
  int pairs, experts, each; /* pairs of a warp, a multiple of 32 */
};

/* One block an expert: counts the pairs of those before it and its own, then
 * numbers its own in their order. */
__global__ void
__launch_bounds__ (PLACE_WARPS * 32) place_kernel (const Place w)
{
  __shared__ int own[PLACE_WARPS], less[PLACE_WARPS];
  const int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  const int expert = (int) blockIdx.x;
  const int begin = warp * w.each;
  const int end = min (begin + w.each, w.pairs);
  int mine = 0, before = 0;

  for (int i = begin + lane; i - lane < end; i += 32)
    {
      int chosen = i < end ? w.chosen[i] : INT32_MAX;

      mine += __popc (__ballot_sync (ALL, chosen == expert));
      before += __popc (__ballot_sync (ALL, chosen < expert));
    }
  if (lane == 0)
    {
      own[warp] = mine;
      less[warp] = before;
    }
  __syncthreads ();
  int at = 0;
  for (int i = 0; i < PLACE_WARPS; i++)
    at += less[i];
  if (threadIdx.x == 0)
    {
      w.offsets[expert] = at;
      if (expert == w.experts - 1)
        w.offsets[w.experts] = w.pairs;
    }
  for (int i = 0; i < warp; i++)
    at += own[i];
  for (int i = begin + lane; i - lane < end; i += 32)
    {
      bool here = i < end && w.chosen[i] == expert;
      unsigned who = __ballot_sync (ALL, here);

      if (here)
        {
          int place = at + __popc (who & ((1u << lane) - 1));

          w.places[i] = place;
          w.rows[place] = i;
        }
      at += __popc (who);
    }
}

struct Load
{
  QmArray logits, dlogits;
  int64_t stride, out_stride;
  int tokens, experts;
  const int32_t *offsets;
  float *parts, *load;
  const float *dload;
};

/* Sums of probabilities of every so many tokens. */
__global__ void
load_kernel (const Load w)
{
  extern __shared__ float memory[];
  const int warps = (int) blockDim.x / 32;
  const int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  float *p = memory + 2 * warp * w.experts, *sum = p + w.experts;

  for (int e = lane; e < w.experts; e += 32)
    sum[e] = 0;
  for (int64_t t = (int64_t) blockIdx.x * warps + warp; t < w.tokens;
       t += (int64_t) gridDim.x * warps)
    {
      probabilities (w.logits, t * w.stride, w.experts, lane, p);
      for (int e = lane; e < w.experts; e += 32)
        sum[e] += p[e];
      __syncwarp ();
    }
  __syncthreads ();
  for (int e = (int) threadIdx.x; e < w.experts; e += (int) blockDim.x)
    {
      float all = 0;

      for (int i = 0; i < warps; i++)
        all += memory[(2 * i + 1) * w.experts + e];
      w.parts[(int64_t) blockIdx.x * w.experts + e] = all;
    }
}

__global__ void
load_sum_kernel (const Load w, int parts)
{
  int e = (int) (blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;

  if (e >= w.experts)
    return;
  for (int i = 0; i < parts; i++)
    sum += w.parts[(int64_t) i * w.experts + e];
  w.load[e] = (float) (w.offsets[e + 1] - w.offsets[e]);
  w.load[w.experts + e] = sum;
}

__global__ void
load_backward_kernel (const Load w)
{
  extern __shared__ float memory[];
  const int warp = (int) threadIdx.x / 32, lane = (int) threadIdx.x % 32;
  const int64_t t = (int64_t) blockIdx.x * (blockDim.x / 32) + warp;
  float *p = memory + warp * w.experts, dot = 0;
  const float *g = w.dload + w.experts;

  if (t >= w.tokens)
    return;
  probabilities (w.logits, t * w.stride, w.experts, lane, p);
  for (int e = lane; e < w.experts; e += 32)
    dot += p[e] * g[e];
  dot = qm_warp_sum (dot);
  for (int e = lane; e < w.experts; e += 32)
    qm_store (w.dlogits, t * w.out_stride + e, p[e] * (g[e] - dot));
}

struct Balance
{
  const float *load, *state;
  float *dload, *loss;
  int layers, experts;
  float scale, all; /* all: layers x tokens */
};

__global__ void __launch_bounds__ (256) balance_kernel (const Balance w)
{
  __shared__ float shared[32];
  const int n = w.experts;
  float sum = 0;

  for (int e = (int) threadIdx.x; e < n; e += 256)
    {
      float rows = 0, p = 0, slope;

      for (int l = 0; l < w.layers; l++)
        {
          rows += w.load[(int64_t) 2 * n * l + e];
          p += w.load[(int64_t) 2 * n * l + n + e];
        }
      slope = w.scale * (float) n * (rows / w.all) / w.all;
      sum += slope * p;
      for (int l = 0; l < w.layers; l++)
        {
          w.dload[(int64_t) 2 * n * l + e] = 0;
          w.dload[(int64_t) 2 * n * l + n + e] =
              w.state[QM_STATE_LOSS_SCALE] * slope;
        }
    }
  sum = qm_block_sum (sum, shared);
  if (threadIdx.x == 0)
    *w.loss += sum;
}

/* One block for every so many tokens, with `arrays` arrays a warp. */
template <class Work>
void
launch (void (*kernel) (Work),
        const Work &work,
        int arrays,
        cudaStream_t stream)
{
  int warps = warps_for (work.experts, arrays);
  unsigned blocks = (unsigned) ((work.tokens + warps - 1) / warps);
  size_t bytes = (size_t) warps * (size_t) (arrays * work.experts) * 4;

  kernel<<<blocks, warps * 32, bytes, stream>>> (work);
}

/* More experts do not fit the memory that every block may have. */
QmStatus
check_experts (const QmOpCall *call, int64_t experts, QmError *error)
{
  if (experts <= FLOATS / 2)
    return QM_OK;
  return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                       "%s of more than %d experts", qm_op_name (call->op),
                       FLOATS / 2);
}

} /* namespace */

QmStatus
qm_cuda_route (QmCudaContext *context,
               cudaStream_t stream,
               const QmOpCall *call,
               QmError *error)
{
  const QmTensor *logits = &call->inputs[0], *out = call->outputs;
  Route work = {};
  Place place = {};
  QmStatus status = check_experts (call, logits->shape[1], error);

  if (status != QM_OK)
    return status;
  work.logits = qm_array (*logits);
  work.stride = logits->stride[0];
  work.tokens = (int) logits->shape[0];
  work.experts = (int) logits->shape[1];
  work.k = (int) out[0].shape[1];
  work.normalized = call->attributes.normalized;
  work.weights = (float *) out[0].data;
  work.chosen = (int32_t *) out[1].data;
  launch (route_kernel, work, 2, stream);
  place.chosen = work.chosen;
  place.rows = (int32_t *) out[2].data;
  place.places = (int32_t *) out[3].data;
  place.offsets = (int32_t *) out[4].data;
  place.pairs = work.tokens * work.k;
  place.experts = work.experts;
  place.each = (place.pairs / PLACE_WARPS + 32) / 32 * 32;
  place_kernel<<<(unsigned) work.experts, PLACE_WARPS * 32, 0, stream>>> (
      place);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_route_backward (QmCudaContext *context,
                        cudaStream_t stream,
                        const QmOpCall *call,
                        QmError *error)
{
  const QmTensor *logits = &call->inputs[1], *dlogits = &call->outputs[0];
  Route work = {};
  QmStatus status = check_experts (call, logits->shape[1], error);

  if (status != QM_OK)
    return status;
  work.logits = qm_array (*logits);
  work.dlogits = qm_array (*dlogits);
  work.stride = logits->stride[0];
  work.out_stride = dlogits->stride[0];
  work.tokens = (int) logits->shape[0];
  work.experts = (int) logits->shape[1];
  work.k = (int) call->inputs[0].shape[1];
  work.normalized = call->attributes.normalized;
  work.dweights = (const float *) call->inputs[0].data;
  work.chosen = (int32_t *) call->inputs[2].data;
  launch (route_backward_kernel, work, 2, stream);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_expert_load (QmCudaContext *context,
                     cudaStream_t stream,
                     const QmOpCall *call,
                     QmError *error)
{
  const QmTensor *logits = &call->inputs[0];
  Load work = {};
  QmStatus status = check_experts (call, logits->shape[1], error);
  int warps, parts;

  if (status != QM_OK)
    return status;
  work.logits = qm_array (*logits);
  work.stride = logits->stride[0];
  work.tokens = (int) logits->shape[0];
  work.experts = (int) logits->shape[1];
  work.offsets = (const int32_t *) call->inputs[1].data;
  work.parts = (float *) call->workspace;
  work.load = (float *) call->outputs[0].data;
  warps = warps_for (work.experts, 2);
  parts = (work.tokens + warps - 1) / warps;
  parts = parts < QM_CUDA_LOAD_PARTS ? parts : QM_CUDA_LOAD_PARTS;
  load_kernel<<<(unsigned) parts, warps * 32,
                (size_t) warps * 2 * (size_t) work.experts * 4, stream>>> (
      work);
  load_sum_kernel<<<(unsigned) (work.experts + 31) / 32, 32, 0, stream>>> (
      work, parts);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_expert_load_backward (QmCudaContext *context,
                              cudaStream_t stream,
                              const QmOpCall *call,
                              QmError *error)
{
  const QmTensor *logits = &call->inputs[1], *dlogits = &call->outputs[0];
  Load work = {};
  QmStatus status = check_experts (call, logits->shape[1], error);

  if (status != QM_OK)
    return status;
  work.logits = qm_array (*logits);
  work.dlogits = qm_array (*dlogits);
  work.stride = logits->stride[0];
  work.out_stride = dlogits->stride[0];
  work.tokens = (int) logits->shape[0];
  work.experts = (int) logits->shape[1];
  work.dload = (const float *) call->inputs[0].data;
  launch (load_backward_kernel, work, 1, stream);
  return qm_cuda_launched (call, error);
}

QmStatus
qm_cuda_balance (QmCudaContext *context,
                 cudaStream_t stream,
                 const QmOpCall *call,
                 QmError *error)
{
  const int64_t *shape = call->inputs[0].shape;
  const Balance work = { (const float *) call->inputs[0].data,
                         (const float *) call->inputs[1].data,
                         (float *) call->outputs[0].data,
                         (float *) call->outputs[1].data,
                         (int) shape[0],
                         (int) shape[2],
                         (float) call->attributes.scale,
                         (float) shape[0] * (float) call->attributes.count };

  balance_kernel<<<1, 256, 0, stream>>> (work);
  return qm_cuda_launched (call, error);
}
