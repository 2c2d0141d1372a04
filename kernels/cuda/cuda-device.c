/* SPDX-License-Identifier: Apache-2.0 */

/* An NVIDIA GPU through the CUDA runtime. */

#include "kernels/cuda/cuda-choice.h"
#include "kernels/cuda/cuda-limits.h"
#include "kernels/cuda/cuda-list.h"
#include "kernels/cuda/cuda-products.h"
#include "kernels/cuda/cuda-stream.h"
#include "kernels/cuda/cuda-support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct QmStream
{
  cudaStream_t stream;
};

struct QmEvent
{
  cudaEvent_t event;
};

struct QmCapture
{
  cudaGraphExec_t graph;
};

typedef struct CudaDevice
{
  QmDevice base;
  QmCudaContext context;
  int ordinal;
} CudaDevice;

static const QmCudaOperator operators[QM_OP_COUNT] = {
  [QM_OP_FILL] = qm_cuda_fill,
  [QM_OP_RANDOM] = qm_cuda_random,
  [QM_OP_ADVANCE] = qm_cuda_advance,
  [QM_OP_COPY] = qm_cuda_copy,
  [QM_OP_ADD] = qm_cuda_add,
  [QM_OP_COLUMN_SUM] = qm_cuda_column_sum,
  [QM_OP_ACTIVATION] = qm_cuda_activation,
  [QM_OP_ACTIVATION_BACKWARD] = qm_cuda_activation_backward,
  [QM_OP_DROPOUT] = qm_cuda_dropout,
  [QM_OP_LINEAR] = qm_cuda_linear,
  [QM_OP_LINEAR_INPUT_GRAD] = qm_cuda_linear_input_grad,
  [QM_OP_LINEAR_WEIGHT_GRAD] = qm_cuda_linear_weight_grad,
  [QM_OP_QUANTIZE] = qm_cuda_quantize,
  [QM_OP_NOTE_AMAX] = qm_cuda_note_amax,
  [QM_OP_SCALED_LINEAR] = qm_cuda_scaled_linear,
  [QM_OP_SCALED_WEIGHT_GRAD] = qm_cuda_scaled_weight_grad,
  [QM_OP_MATMUL] = qm_cuda_matmul,
  [QM_OP_GATED_LINEAR] = qm_cuda_gated_linear,
  [QM_OP_GATED_INPUT_GRAD] = qm_cuda_gated_input_grad,
  [QM_OP_GATE] = qm_cuda_gate,
  [QM_OP_GATE_BACKWARD] = qm_cuda_gate_backward,
  [QM_OP_REPEAT_HEADS] = qm_cuda_repeat_heads,
  [QM_OP_REPEAT_HEADS_BACKWARD] = qm_cuda_repeat_heads_backward,
  [QM_OP_SOFTMAX] = qm_cuda_softmax,
  [QM_OP_SOFTMAX_BACKWARD] = qm_cuda_softmax_backward,
  [QM_OP_ATTENTION] = qm_cuda_attention,
  [QM_OP_ATTENTION_BACKWARD] = qm_cuda_attention_backward,
  [QM_OP_LAYER_NORM] = qm_cuda_layer_norm,
  [QM_OP_LAYER_NORM_BACKWARD] = qm_cuda_layer_norm_backward,
  [QM_OP_GATED_NORM] = qm_cuda_gated_norm,
  [QM_OP_GATED_NORM_BACKWARD] = qm_cuda_gated_norm_backward,
  [QM_OP_ROTARY] = qm_cuda_rotary,
  [QM_OP_ROTARY_LINEAR] = qm_cuda_rotary_linear,
  [QM_OP_EMBEDDING] = qm_cuda_embedding,
  [QM_OP_EMBEDDING_BACKWARD] = qm_cuda_embedding_backward,
  [QM_OP_POSITIONS] = qm_cuda_positions,
  [QM_OP_TOKEN_DROPOUT] = qm_cuda_token_dropout,
  [QM_OP_PATCHIFY] = qm_cuda_patchify,
  [QM_OP_UNPATCHIFY] = qm_cuda_unpatchify,
  [QM_OP_DEPTHWISE_CONV] = qm_cuda_depthwise_conv,
  [QM_OP_DEPTHWISE_CONV_BACKWARD] = qm_cuda_depthwise_conv_backward,
  [QM_OP_LAYER_SCALE] = qm_cuda_layer_scale,
  [QM_OP_LAYER_SCALE_BACKWARD] = qm_cuda_layer_scale_backward,
  [QM_OP_POOL] = qm_cuda_pool,
  [QM_OP_POOL_BACKWARD] = qm_cuda_pool_backward,
  [QM_OP_SELECTIVE_SCAN] = qm_cuda_selective_scan,
  [QM_OP_SELECTIVE_SCAN_BACKWARD] = qm_cuda_selective_scan_backward,
  [QM_OP_DUAL_SCAN] = qm_cuda_dual_scan,
  [QM_OP_DUAL_SCAN_BACKWARD] = qm_cuda_dual_scan_backward,
  [QM_OP_ROUTE] = qm_cuda_route,
  [QM_OP_ROUTE_BACKWARD] = qm_cuda_route_backward,
  [QM_OP_GATHER_ROWS] = qm_cuda_gather_rows,
  [QM_OP_COMBINE_ROWS] = qm_cuda_combine_rows,
  [QM_OP_WEIGHTED_GATE] = qm_cuda_weighted_gate,
  [QM_OP_WEIGHTED_GATE_BACKWARD] = qm_cuda_weighted_gate_backward,
  [QM_OP_GROUPED_LINEAR] = qm_cuda_grouped,
  [QM_OP_GROUPED_INPUT_GRAD] = qm_cuda_grouped,
  [QM_OP_GROUPED_WEIGHT_GRAD] = qm_cuda_grouped,
  [QM_OP_EXPERT_LOAD] = qm_cuda_expert_load,
  [QM_OP_EXPERT_LOAD_BACKWARD] = qm_cuda_expert_load_backward,
  [QM_OP_BALANCE] = qm_cuda_balance,
  [QM_OP_CLASS_TOKEN] = qm_cuda_class_token,
  [QM_OP_CLASS_TOKEN_BACKWARD] = qm_cuda_class_token_backward,
  [QM_OP_PATCH_ANGLES] = qm_cuda_patch_angles,
  [QM_OP_MASK_PATCHES] = qm_cuda_mask_patches,
  [QM_OP_RESTORE_TOKENS] = qm_cuda_restore_tokens,
  [QM_OP_RESTORE_TOKENS_BACKWARD] = qm_cuda_restore_tokens_backward,
  [QM_OP_PIXEL_LOSS] = qm_cuda_pixel_loss,
  [QM_OP_ADD_POSITIONS] = qm_cuda_add_positions,
  [QM_OP_ADAPTIVE_NORM] = qm_cuda_adaptive_norm,
  [QM_OP_ADAPTIVE_NORM_BACKWARD] = qm_cuda_adaptive_norm_backward,
  [QM_OP_GATED_ADD] = qm_cuda_gated_add,
  [QM_OP_GATED_ADD_BACKWARD] = qm_cuda_gated_add_backward,
  [QM_OP_DRAW_NOISE] = qm_cuda_draw_noise,
  [QM_OP_ADD_NOISE] = qm_cuda_add_noise,
  [QM_OP_NOISE_LOSS] = qm_cuda_noise_loss,
  [QM_OP_SHARE_OUT] = qm_cuda_share_out,
  [QM_OP_HIDE_ROWS] = qm_cuda_hide_rows,
  [QM_OP_PICK_ROWS] = qm_cuda_pick_rows,
  [QM_OP_PICK_ROWS_BACKWARD] = qm_cuda_pick_rows_backward,
  [QM_OP_SPREAD_LOSS] = qm_cuda_spread_loss,
  [QM_OP_TEACHER_LOSS] = qm_cuda_teacher_loss,
  [QM_OP_FIND_TOKENS] = qm_cuda_find_tokens,
  [QM_OP_KEEP_ROWS] = qm_cuda_keep_rows,
  [QM_OP_CONTRAST_SUMS] = qm_cuda_contrast_sums,
  [QM_OP_CONTRAST_LOSS] = qm_cuda_contrast_loss,
  [QM_OP_LABEL_WEIGHT] = qm_cuda_label_weight,
  [QM_OP_CROSS_ENTROPY] = qm_cuda_cross_entropy,
  [QM_OP_SUM_SQUARES] = qm_cuda_sum_squares,
  [QM_OP_UPDATE_STATE] = qm_cuda_update_state,
  [QM_OP_ADAM] = qm_cuda_adam,
  [QM_OP_LAMB_DIRECTION] = qm_cuda_lamb_direction,
  [QM_OP_LAMB_UPDATE] = qm_cuda_lamb_update,
  [QM_OP_MUON_MOMENTUM] = qm_cuda_muon_momentum,
  [QM_OP_MUON_NORMALIZE] = qm_cuda_muon_normalize,
  [QM_OP_MUON_POLYNOMIAL] = qm_cuda_muon_polynomial,
  [QM_OP_MUON_UPDATE] = qm_cuda_muon_update,
  [QM_OP_AVERAGE] = qm_cuda_average,
};

QmStatus
qm_cuda_failed (cudaError_t code, const char *what, QmError *error)
{
  QmStatus status = QM_STATUS_DEVICE;

  /* Leaves no error behind for the next call to find, except one that the
   * context cannot recover from. */
  cudaGetLastError ();
  if (code == cudaErrorMemoryAllocation)
    status = QM_STATUS_DEVICE_FULL;
  else if (code == cudaErrorNoKernelImageForDevice)
    status = QM_STATUS_UNSUPPORTED;
  return qm_error_set (error, status, "", 0, 0, "%s: %s (%s)", what,
                       cudaGetErrorString (code), cudaGetErrorName (code));
}

QmStatus
qm_cuda_launched (const QmOpCall *call, QmError *error)
{
  cudaError_t code = cudaGetLastError ();

  return code == cudaSuccess
             ? QM_OK
             : qm_cuda_failed (code, qm_op_name (call->op), error);
}

QmStatus
qm_cuda_enter (QmDevice *device, QmError *error)
{
  cudaError_t code = cudaSetDevice (((CudaDevice *) device)->ordinal);

  return code == cudaSuccess ? QM_OK
                             : qm_cuda_failed (code, device->info.id, error);
}

cudaStream_t
qm_cuda_stream (const QmStream *stream)
{
  return stream->stream;
}

/* The status of a call on a device. */
static QmStatus
result (QmDevice *device, cudaError_t code, QmError *error)
{
  return code == cudaSuccess ? QM_OK
                             : qm_cuda_failed (code, device->info.id, error);
}

static void
cuda_close (QmDevice *device)
{
  CudaDevice *cuda = (CudaDevice *) device;

  if (qm_cuda_enter (device, NULL) == QM_OK)
    cudaDeviceSynchronize ();
  qm_cuda_choices_free (cuda->context.choices);
  qm_cuda_products_free (cuda->context.products);
  free (cuda);
}

static uint64_t
cuda_choices (const QmDevice *device)
{
  const QmCudaContext *context = &((const CudaDevice *) device)->context;

  return qm_cuda_products_timed (context->products)
         + qm_cuda_choices_count (context->choices);
}

static uint64_t
cuda_free_bytes (QmDevice *device)
{
  size_t available = 0, total = 0;

  if (qm_cuda_enter (device, NULL) != QM_OK
      || cudaMemGetInfo (&available, &total) != cudaSuccess)
    {
      cudaGetLastError ();
      return 0;
    }
  return available;
}

static QmStatus
cuda_allocate (QmDevice *device, size_t bytes, void **memory, QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);
  cudaError_t code;

  *memory = NULL;
  if (status != QM_OK)
    return status;
  code = cudaMalloc (memory, bytes > 0 ? bytes : 1);
  if (code == cudaErrorMemoryAllocation)
    {
      size_t available = 0, total = 0;

      cudaGetLastError ();
      cudaMemGetInfo (&available, &total);
      return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                           "%s has no %.2f GiB of memory: %.2f of %.2f GiB "
                           "are free",
                           device->info.id, (double) bytes / (1 << 30),
                           (double) available / (1 << 30),
                           (double) total / (1 << 30));
    }
  return result (device, code, error);
}

static void
cuda_free (QmDevice *device, void *memory)
{
  if (qm_cuda_enter (device, NULL) == QM_OK)
    {
      cudaDeviceSynchronize ();
      cudaFree (memory);
    }
}

/* Copies and waits. */
static QmStatus
copy (QmDevice *device,
      QmStream *stream,
      void *to,
      const void *from,
      size_t bytes,
      enum cudaMemcpyKind kind,
      QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);
  cudaError_t code;

  if (status != QM_OK)
    return status;
  code = cudaMemcpyAsync (to, from, bytes, kind, stream->stream);
  if (code == cudaSuccess)
    code = cudaStreamSynchronize (stream->stream);
  return result (device, code, error);
}

static QmStatus
cuda_write (QmDevice *device,
            QmStream *stream,
            void *to,
            const void *from,
            size_t bytes,
            QmError *error)
{
  return copy (device, stream, to, from, bytes, cudaMemcpyHostToDevice, error);
}

static QmStatus
cuda_read (QmDevice *device,
           QmStream *stream,
           void *to,
           const void *from,
           size_t bytes,
           QmError *error)
{
  return copy (device, stream, to, from, bytes, cudaMemcpyDeviceToHost, error);
}

static QmStatus
cuda_set (QmDevice *device,
          QmStream *stream,
          void *memory,
          int byte,
          size_t bytes,
          QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device, cudaMemsetAsync (memory, byte, bytes, stream->stream),
                 error);
}

static QmStatus
cuda_stream_create (QmDevice *device, QmStream **stream, QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  *stream = NULL;
  if (status != QM_OK)
    return status;
  *stream = calloc (1, sizeof **stream);
  if (*stream == NULL)
    return qm_error_no_memory (error);
  status = result (device,
                   cudaStreamCreateWithFlags (&(*stream)->stream,
                                              cudaStreamNonBlocking),
                   error);
  if (status != QM_OK)
    {
      free (*stream);
      *stream = NULL;
    }
  return status;
}

static void
cuda_stream_free (QmDevice *device, QmStream *stream)
{
  if (qm_cuda_enter (device, NULL) == QM_OK)
    cudaStreamDestroy (stream->stream);
  free (stream);
}

static QmStatus
cuda_stream_synchronize (QmDevice *device, QmStream *stream, QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device, cudaStreamSynchronize (stream->stream), error);
}

static QmStatus
cuda_event_create (QmDevice *device, QmEvent **event, QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  *event = NULL;
  if (status != QM_OK)
    return status;
  *event = calloc (1, sizeof **event);
  if (*event == NULL)
    return qm_error_no_memory (error);
  status = result (device, cudaEventCreate (&(*event)->event), error);
  if (status != QM_OK)
    {
      free (*event);
      *event = NULL;
    }
  return status;
}

static void
cuda_event_free (QmDevice *device, QmEvent *event)
{
  if (qm_cuda_enter (device, NULL) == QM_OK)
    cudaEventDestroy (event->event);
  free (event);
}

static QmStatus
cuda_event_record (QmDevice *device,
                   QmStream *stream,
                   QmEvent *event,
                   QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device, cudaEventRecord (event->event, stream->stream), error);
}

static QmStatus
cuda_event_elapsed (QmDevice *device,
                    QmEvent *from,
                    QmEvent *to,
                    double *seconds,
                    QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);
  float milliseconds = 0;
  cudaError_t code;

  if (status != QM_OK)
    return status;
  code = cudaEventSynchronize (to->event);
  if (code == cudaSuccess)
    code = cudaEventElapsedTime (&milliseconds, from->event, to->event);
  *seconds = (double) milliseconds * 1e-3;
  return result (device, code, error);
}

static QmStatus
cuda_pin (QmDevice *device, void *memory, size_t bytes, QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);
  cudaError_t code;

  if (status != QM_OK)
    return status;
  code = cudaHostRegister (memory, bytes, cudaHostRegisterDefault);
  if (code == cudaErrorMemoryAllocation)
    {
      cudaGetLastError ();
      return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                           "the host cannot pin %.2f GiB of its memory for %s",
                           (double) bytes / (1 << 30), device->info.id);
    }
  return result (device, code, error);
}

static void
cuda_unpin (QmDevice *device, void *memory)
{
  if (qm_cuda_enter (device, NULL) == QM_OK)
    {
      cudaDeviceSynchronize ();
      cudaHostUnregister (memory);
      cudaGetLastError ();
    }
}

static QmStatus
cuda_stream_write (QmDevice *device,
                   QmStream *stream,
                   void *to,
                   const void *from,
                   size_t bytes,
                   QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device,
                 cudaMemcpyAsync (to, from, bytes, cudaMemcpyHostToDevice,
                                  stream->stream),
                 error);
}

static QmStatus
cuda_stream_read (QmDevice *device,
                  QmStream *stream,
                  void *to,
                  const void *from,
                  size_t bytes,
                  QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device,
                 cudaMemcpyAsync (to, from, bytes, cudaMemcpyDeviceToHost,
                                  stream->stream),
                 error);
}

static QmStatus
cuda_stream_wait (QmDevice *device,
                  QmStream *stream,
                  QmEvent *event,
                  QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device, cudaStreamWaitEvent (stream->stream, event->event, 0),
                 error);
}

static QmStatus
cuda_stream_call (QmDevice *device,
                  QmStream *stream,
                  QmHostFunction function,
                  void *data,
                  QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device, cudaLaunchHostFunc (stream->stream, function, data),
                 error);
}

static QmStatus
cuda_stream_word (QmDevice *device,
                  QmStream *stream,
                  uint32_t *word,
                  uint32_t value,
                  bool until,
                  QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device,
                 qm_cuda_stream_word (stream->stream, word, value, until),
                 error);
}

static QmStatus
cuda_capture_begin (QmDevice *device, QmStream *stream, QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device,
                 cudaStreamBeginCapture (stream->stream,
                                         cudaStreamCaptureModeThreadLocal),
                 error);
}

static QmStatus
cuda_capture_end (QmDevice *device,
                  QmStream *stream,
                  QmCapture **capture,
                  QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);
  cudaGraph_t graph = NULL;
  cudaError_t code;

  *capture = NULL;
  if (status != QM_OK)
    return status;
  code = cudaStreamEndCapture (stream->stream, &graph);
  if (code != cudaSuccess)
    return result (device, code, error);
  *capture = calloc (1, sizeof **capture);
  if (*capture == NULL)
    {
      cudaGraphDestroy (graph);
      return qm_error_no_memory (error);
    }
  code = cudaGraphInstantiate (&(*capture)->graph, graph, 0);
  cudaGraphDestroy (graph);
  if (code == cudaSuccess)
    return QM_OK;
  free (*capture);
  *capture = NULL;
  return result (device, code, error);
}

static QmStatus
cuda_capture_launch (QmDevice *device,
                     QmStream *stream,
                     QmCapture *capture,
                     QmError *error)
{
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  return result (device, cudaGraphLaunch (capture->graph, stream->stream),
                 error);
}

static void
cuda_capture_free (QmDevice *device, QmCapture *capture)
{
  if (qm_cuda_enter (device, NULL) == QM_OK)
    cudaGraphExecDestroy (capture->graph);
  free (capture);
}

/* On GPUs that have neither bf16 nor TF32: the former is refused, instead of
 * the latter it is fp32. */
static QmStatus
run_without_bf16 (CudaDevice *cuda,
                  cudaStream_t stream,
                  const QmOpCall *call,
                  QmError *error)
{
  QmOpCall plain = *call;
  bool bf16 = false;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    bf16 = bf16
           || (qm_tensor_present (&call->inputs[i])
               && call->inputs[i].type == QM_TYPE_BF16);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    bf16 = bf16
           || (qm_tensor_present (&call->outputs[i])
               && call->outputs[i].type == QM_TYPE_BF16);
  if (bf16)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "a GPU of compute capability %d.%d has no bf16",
                         cuda->context.architecture / 10,
                         cuda->context.architecture % 10);
  plain.attributes.tf32 = false;
  return operators[call->op](&cuda->context, stream, &plain, error);
}

static QmStatus
cuda_run (QmDevice *device,
          QmStream *stream,
          const QmOpCall *call,
          QmError *error)
{
  CudaDevice *cuda = (CudaDevice *) device;
  QmStatus status = qm_cuda_enter (device, error);

  if (status != QM_OK)
    return status;
  if (operators[call->op] == NULL)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "NVIDIA GPUs have no operator %s yet",
                         qm_op_name (call->op));
  if (!qm_cuda_multiplies (cuda->context.architecture, QM_TYPE_BF16, false))
    return run_without_bf16 (cuda, stream->stream, call, error);
  return operators[call->op](&cuda->context, stream->stream, call, error);
}

static const QmBackend backend = {
  .close = cuda_close,
  .free_bytes = cuda_free_bytes,
  .choices = cuda_choices,
  .allocate = cuda_allocate,
  .free = cuda_free,
  .write = cuda_write,
  .read = cuda_read,
  .set = cuda_set,
  .stream_create = cuda_stream_create,
  .stream_free = cuda_stream_free,
  .stream_synchronize = cuda_stream_synchronize,
  .event_create = cuda_event_create,
  .event_free = cuda_event_free,
  .event_record = cuda_event_record,
  .event_elapsed = cuda_event_elapsed,
  .pin = cuda_pin,
  .unpin = cuda_unpin,
  .stream_write = cuda_stream_write,
  .stream_read = cuda_stream_read,
  .stream_wait = cuda_stream_wait,
  .stream_call = cuda_stream_call,
  .stream_word = cuda_stream_word,
  .capture_begin = cuda_capture_begin,
  .capture_end = cuda_capture_end,
  .capture_launch = cuda_capture_launch,
  .capture_free = cuda_capture_free,
  .run = cuda_run,
};

/* Begins to use the device and reads how much of its memory is free. */
static cudaError_t
start (int ordinal, QmDeviceInfo *info)
{
  size_t available = 0, total = 0;
  cudaError_t code = cudaSetDevice (ordinal);

  if (code == cudaSuccess)
    code = cudaMemGetInfo (&available, &total);
  if (code == cudaSuccess)
    {
      info->free_bytes = available;
      info->memory_bytes = total;
    }
  return code;
}

/* Two transfers a cycle on every wire. */
static double
bandwidth (int ordinal)
{
  int kilohertz = 0, bits = 0;

  if (cudaDeviceGetAttribute (&kilohertz, cudaDevAttrMemoryClockRate, ordinal)
          != cudaSuccess
      || cudaDeviceGetAttribute (&bits, cudaDevAttrGlobalMemoryBusWidth,
                                 ordinal)
             != cudaSuccess)
    cudaGetLastError ();
  return 2e3 * kilohertz * bits / 8;
}

static QmStatus
open_device (CudaDevice *cuda, int ordinal, int architecture, QmError *error)
{
  QmDeviceInfo *info = &cuda->base.info;
  cudaError_t code = qm_cuda_describe (ordinal, info);
  QmStatus status;
  int shared = 0, limit;

  cuda->ordinal = ordinal;
  if (code == cudaSuccess && info->trouble[0] != '\0')
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0, "%s",
                         info->trouble);
  if (code == cudaSuccess && architecture != 0)
    {
      if (architecture > info->capability)
        return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                             "%s has compute capability %d.%d and cannot do "
                             "as if it had %d.%d",
                             info->id, info->capability / 10,
                             info->capability % 10, architecture / 10,
                             architecture % 10);
      info->target.architecture = architecture;
    }
  if (code == cudaSuccess)
    code = start (ordinal, info);
  if (code == cudaSuccess)
    code = qm_cuda_probe ();
  if (code == cudaErrorNoKernelImageForDevice)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s: this program was built without code for compute "
                         "capability %d.%d",
                         info->id, info->target.architecture / 10,
                         info->target.architecture % 10);
  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute (&shared,
                                   cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                   ordinal);
  if (code != cudaSuccess)
    return qm_cuda_failed (code, "the GPU cannot be used", error);
  cuda->context.architecture = info->target.architecture;
  cuda->context.processors = info->processors;
  limit = qm_cuda_shared_limit (info->target.architecture);
  cuda->context.shared_bytes = (size_t) (shared < limit ? shared : limit);
  cuda->context.bandwidth = bandwidth (ordinal);
  status =
      qm_cuda_products_new (info->processors, &cuda->context.products, error);
  if (status == QM_OK)
    status = qm_cuda_choices_new (&cuda->context.choices, error);
  if (status != QM_OK)
    qm_cuda_products_free (cuda->context.products);
  return status;
}

void
qm_cuda_prefer (QmDevice *device, QmCudaPreference preference)
{
  ((CudaDevice *) device)->context.preference = preference;
}

QmStatus
qm_cuda_open (int index, int architecture, QmDevice **device, QmError *error)
{
  CudaDevice *cuda;
  char why[256];
  QmStatus status;
  int n;

  *device = NULL;
  n = qm_cuda_count (why, sizeof why);
  if (n == 0)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0, "cuda:%d: %s",
                         index, why);
  if (index >= n)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, "", 0, 0,
                         "there is no device cuda:%d; the last is cuda:%d",
                         index, n - 1);
  cuda = calloc (1, sizeof *cuda);
  if (cuda == NULL)
    return qm_error_no_memory (error);
  cuda->base.backend = &backend;
  status = open_device (cuda, index, architecture, error);
  if (status == QM_OK)
    *device = &cuda->base;
  else
    free (cuda);
  return status;
}
