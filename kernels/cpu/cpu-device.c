/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cpu/cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ALIGNMENT 256

/* Fewer operations than this are not worth a thread. */
#define WORK_PER_THREAD 200000

static const QmCpuOperator operators[QM_OP_COUNT] = {
  [QM_OP_FILL] = qm_cpu_fill,
  [QM_OP_RANDOM] = qm_cpu_random,
  [QM_OP_ADVANCE] = qm_cpu_advance,
  [QM_OP_COPY] = qm_cpu_copy,
  [QM_OP_ADD] = qm_cpu_add,
  [QM_OP_COLUMN_SUM] = qm_cpu_column_sum,
  [QM_OP_ACTIVATION] = qm_cpu_activation,
  [QM_OP_ACTIVATION_BACKWARD] = qm_cpu_activation_backward,
  [QM_OP_DROPOUT] = qm_cpu_dropout_run,
  [QM_OP_LINEAR] = qm_cpu_linear,
  [QM_OP_LINEAR_INPUT_GRAD] = qm_cpu_linear_input_grad,
  [QM_OP_LINEAR_WEIGHT_GRAD] = qm_cpu_linear_weight_grad,
  [QM_OP_QUANTIZE] = qm_cpu_quantize,
  [QM_OP_NOTE_AMAX] = qm_cpu_note_amax,
  [QM_OP_SCALED_LINEAR] = qm_cpu_scaled_linear,
  [QM_OP_SCALED_WEIGHT_GRAD] = qm_cpu_scaled_weight_grad,
  [QM_OP_MATMUL] = qm_cpu_matmul,
  [QM_OP_GATED_LINEAR] = qm_cpu_gated_linear,
  [QM_OP_GATED_INPUT_GRAD] = qm_cpu_gated_input_grad,
  [QM_OP_GATE] = qm_cpu_gate,
  [QM_OP_GATE_BACKWARD] = qm_cpu_gate_backward,
  [QM_OP_REPEAT_HEADS] = qm_cpu_repeat_heads,
  [QM_OP_REPEAT_HEADS_BACKWARD] = qm_cpu_repeat_heads_backward,
  [QM_OP_SOFTMAX] = qm_cpu_softmax,
  [QM_OP_SOFTMAX_BACKWARD] = qm_cpu_softmax_backward,
  [QM_OP_ATTENTION] = qm_cpu_attention,
  [QM_OP_ATTENTION_BACKWARD] = qm_cpu_attention_backward,
  [QM_OP_LAYER_NORM] = qm_cpu_layer_norm,
  [QM_OP_LAYER_NORM_BACKWARD] = qm_cpu_layer_norm_backward,
  [QM_OP_GATED_NORM] = qm_cpu_gated_norm,
  [QM_OP_GATED_NORM_BACKWARD] = qm_cpu_gated_norm_backward,
  [QM_OP_ROTARY] = qm_cpu_rotary,
  [QM_OP_ROTARY_LINEAR] = qm_cpu_rotary_linear,
  [QM_OP_EMBEDDING] = qm_cpu_embedding,
  [QM_OP_EMBEDDING_BACKWARD] = qm_cpu_embedding_backward,
  [QM_OP_POSITIONS] = qm_cpu_positions,
  [QM_OP_TOKEN_DROPOUT] = qm_cpu_token_dropout,
  [QM_OP_PATCHIFY] = qm_cpu_patchify,
  [QM_OP_UNPATCHIFY] = qm_cpu_unpatchify,
  [QM_OP_DEPTHWISE_CONV] = qm_cpu_depthwise_conv,
  [QM_OP_DEPTHWISE_CONV_BACKWARD] = qm_cpu_depthwise_conv_backward,
  [QM_OP_LAYER_SCALE] = qm_cpu_layer_scale,
  [QM_OP_LAYER_SCALE_BACKWARD] = qm_cpu_layer_scale_backward,
  [QM_OP_POOL] = qm_cpu_pool,
  [QM_OP_POOL_BACKWARD] = qm_cpu_pool_backward,
  [QM_OP_SELECTIVE_SCAN] = qm_cpu_selective_scan,
  [QM_OP_SELECTIVE_SCAN_BACKWARD] = qm_cpu_selective_scan_backward,
  [QM_OP_DUAL_SCAN] = qm_cpu_dual_scan,
  [QM_OP_DUAL_SCAN_BACKWARD] = qm_cpu_dual_scan_backward,
  [QM_OP_ROUTE] = qm_cpu_route,
  [QM_OP_ROUTE_BACKWARD] = qm_cpu_route_backward,
  [QM_OP_GATHER_ROWS] = qm_cpu_gather_rows,
  [QM_OP_COMBINE_ROWS] = qm_cpu_combine_rows,
  [QM_OP_WEIGHTED_GATE] = qm_cpu_weighted_gate,
  [QM_OP_WEIGHTED_GATE_BACKWARD] = qm_cpu_weighted_gate_backward,
  [QM_OP_GROUPED_LINEAR] = qm_cpu_grouped_linear,
  [QM_OP_GROUPED_INPUT_GRAD] = qm_cpu_grouped_input_grad,
  [QM_OP_GROUPED_WEIGHT_GRAD] = qm_cpu_grouped_weight_grad,
  [QM_OP_EXPERT_LOAD] = qm_cpu_expert_load,
  [QM_OP_EXPERT_LOAD_BACKWARD] = qm_cpu_expert_load_backward,
  [QM_OP_BALANCE] = qm_cpu_balance,
  [QM_OP_CLASS_TOKEN] = qm_cpu_class_token,
  [QM_OP_CLASS_TOKEN_BACKWARD] = qm_cpu_class_token_backward,
  [QM_OP_PATCH_ANGLES] = qm_cpu_patch_angles,
  [QM_OP_MASK_PATCHES] = qm_cpu_mask_patches,
  [QM_OP_RESTORE_TOKENS] = qm_cpu_restore_tokens,
  [QM_OP_RESTORE_TOKENS_BACKWARD] = qm_cpu_restore_tokens_backward,
  [QM_OP_PIXEL_LOSS] = qm_cpu_pixel_loss,
  [QM_OP_ADD_POSITIONS] = qm_cpu_add_positions,
  [QM_OP_ADAPTIVE_NORM] = qm_cpu_adaptive_norm,
  [QM_OP_ADAPTIVE_NORM_BACKWARD] = qm_cpu_adaptive_norm_backward,
  [QM_OP_GATED_ADD] = qm_cpu_gated_add,
  [QM_OP_GATED_ADD_BACKWARD] = qm_cpu_gated_add_backward,
  [QM_OP_DRAW_NOISE] = qm_cpu_draw_noise,
  [QM_OP_ADD_NOISE] = qm_cpu_add_noise,
  [QM_OP_NOISE_LOSS] = qm_cpu_noise_loss,
  [QM_OP_SHARE_OUT] = qm_cpu_share_out,
  [QM_OP_HIDE_ROWS] = qm_cpu_hide_rows,
  [QM_OP_PICK_ROWS] = qm_cpu_pick_rows,
  [QM_OP_PICK_ROWS_BACKWARD] = qm_cpu_pick_rows_backward,
  [QM_OP_SPREAD_LOSS] = qm_cpu_spread_loss,
  [QM_OP_TEACHER_LOSS] = qm_cpu_teacher_loss,
  [QM_OP_FIND_TOKENS] = qm_cpu_find_tokens,
  [QM_OP_KEEP_ROWS] = qm_cpu_keep_rows,
  [QM_OP_CONTRAST_SUMS] = qm_cpu_contrast_sums,
  [QM_OP_CONTRAST_LOSS] = qm_cpu_contrast_loss,
  [QM_OP_LABEL_WEIGHT] = qm_cpu_label_weight,
  [QM_OP_CROSS_ENTROPY] = qm_cpu_cross_entropy,
  [QM_OP_SUM_SQUARES] = qm_cpu_sum_squares,
  [QM_OP_UPDATE_STATE] = qm_cpu_update_state,
  [QM_OP_ADAM] = qm_cpu_adam,
  [QM_OP_LAMB_DIRECTION] = qm_cpu_lamb_direction,
  [QM_OP_LAMB_UPDATE] = qm_cpu_lamb_update,
  [QM_OP_MUON_MOMENTUM] = qm_cpu_muon_momentum,
  [QM_OP_MUON_NORMALIZE] = qm_cpu_muon_normalize,
  [QM_OP_MUON_POLYNOMIAL] = qm_cpu_muon_polynomial,
  [QM_OP_MUON_UPDATE] = qm_cpu_muon_update,
  [QM_OP_AVERAGE] = qm_cpu_average,
};

typedef struct QmCpuDevice
{
  QmDevice device;
  QmThreads *threads;
} QmCpuDevice;

/* What waits to be executed: the call of an operator, unless it is one of the
 * others. */
typedef struct Recorded
{
  QmOpCall call;
  void *to;         /* of a copy, or bytes to be set */
  const void *from; /* of a copy */
  int byte;
  size_t bytes;
  QmHostFunction function;
  void *data;
  uint32_t *word;
  uint32_t value; /* of the word */
  bool until;
} Recorded;

/* Everything is executed at once, so streams are in the order in which they
 * were called.  What is looked at is whether a GPU would take a capture. */
struct QmCapture
{
  Recorded *items;
  size_t n, capacity;
  QmStream *origin;
  QmStream *joined; /* others that take part */
};

struct QmStream
{
  QmCapture *capture; /* being recorded, or NULL */
  QmStream *next;     /* that takes part in the same */
  size_t recorded;    /* so far */
  bool apart;         /* something was recorded that nobody waits for */
};

struct QmEvent
{
  struct timespec time;
  QmStream *stream; /* that it was recorded on while that took part, or NULL */
  size_t recorded;  /* there, before it */
};

size_t
qm_cpu_workspace (const QmOpCall *call)
{
  return 0;
}

static QmCpuDevice *
cpu (QmDevice *device)
{
  return (QmCpuDevice *) device;
}

static void
cpu_close (QmDevice *device)
{
  qm_threads_free (cpu (device)->threads);
  free (device);
}

static uint64_t
cpu_free_bytes (QmDevice *device)
{
  QmDeviceInfo info;

  qm_cpu_info (&info);
  return info.free_bytes;
}

/* There is one way for each call. */
static uint64_t
cpu_choices (const QmDevice *device)
{
  return 0;
}

static QmStatus
cpu_allocate (QmDevice *device, size_t bytes, void **memory, QmError *error)
{
  size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

  *memory = NULL;
  if (rounded < bytes || rounded > device->info.memory_bytes
      || posix_memalign (memory, ALIGNMENT, rounded > 0 ? rounded : ALIGNMENT)
             != 0)
    return qm_error_set (error, QM_STATUS_DEVICE_FULL, "", 0, 0,
                         "the host has no %zu bytes of memory", bytes);
  return QM_OK;
}

static void
cpu_free (QmDevice *device, void *memory)
{
  free (memory);
}

static QmStatus
cpu_copy (QmDevice *device,
          QmStream *stream,
          void *to,
          const void *from,
          size_t bytes,
          QmError *error)
{
  memcpy (to, from, bytes);
  return QM_OK;
}

static QmStatus
record (QmStream *stream, const Recorded *item, QmError *error)
{
  QmCapture *capture = stream->capture;

  stream->apart = true;
  stream->recorded++;
  if (capture->n == capture->capacity)
    {
      size_t capacity = capture->capacity * 2 + 64;
      Recorded *items = realloc (capture->items, capacity * sizeof *items);

      if (items == NULL)
        return qm_error_no_memory (error);
      capture->items = items;
      capture->capacity = capacity;
    }
  capture->items[capture->n++] = *item;
  return QM_OK;
}

static QmStatus
execute_call (QmDevice *device, const QmOpCall *call, QmError *error)
{
  if (operators[call->op] == NULL)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "the CPU has no operator %s", qm_op_name (call->op));
  return operators[call->op](cpu (device)->threads, call)
             ? QM_OK
             : qm_error_no_memory (error);
}

/* Looks again after a while in which others can work. */
static void
execute_word (const Recorded *item)
{
  const struct timespec moment = { .tv_nsec = 20000 };

  if (!item->until)
    __atomic_store_n (item->word, item->value, __ATOMIC_RELEASE);
  else
    while (__atomic_load_n (item->word, __ATOMIC_ACQUIRE) != item->value)
      nanosleep (&moment, NULL);
}

static QmStatus
execute (QmDevice *device, const Recorded *item, QmError *error)
{
  if (item->function != NULL)
    item->function (item->data);
  else if (item->word != NULL)
    execute_word (item);
  else if (item->from != NULL)
    memcpy (item->to, item->from, item->bytes);
  else if (item->to != NULL)
    memset (item->to, item->byte, item->bytes);
  else
    return execute_call (device, &item->call, error);
  return QM_OK;
}

/* Executes something, or records it. */
static QmStatus
run_or_record (QmDevice *device,
               QmStream *stream,
               const Recorded *item,
               QmError *error)
{
  return stream->capture != NULL ? record (stream, item, error)
                                 : execute (device, item, error);
}

static QmStatus
cpu_set (QmDevice *device,
         QmStream *stream,
         void *memory,
         int byte,
         size_t bytes,
         QmError *error)
{
  Recorded item = { .to = memory, .byte = byte, .bytes = bytes };

  return run_or_record (device, stream, &item, error);
}

static QmStatus
cpu_pin (QmDevice *device, void *memory, size_t bytes, QmError *error)
{
  return QM_OK;
}

static void
cpu_unpin (QmDevice *device, void *memory)
{
}

static QmStatus
cpu_queue_copy (QmDevice *device,
                QmStream *stream,
                void *to,
                const void *from,
                size_t bytes,
                QmError *error)
{
  Recorded item = { .to = to, .from = from, .bytes = bytes };

  return run_or_record (device, stream, &item, error);
}

static QmStatus
cpu_stream_call (QmDevice *device,
                 QmStream *stream,
                 QmHostFunction function,
                 void *data,
                 QmError *error)
{
  Recorded item = { .function = function, .data = data };

  return run_or_record (device, stream, &item, error);
}

static QmStatus
cpu_stream_word (QmDevice *device,
                 QmStream *stream,
                 uint32_t *word,
                 uint32_t value,
                 bool until,
                 QmError *error)
{
  Recorded item = { .word = word, .value = value, .until = until };

  return run_or_record (device, stream, &item, error);
}

static QmStatus
cpu_stream_create (QmDevice *device, QmStream **stream, QmError *error)
{
  *stream = calloc (1, sizeof **stream);
  return *stream != NULL ? QM_OK : qm_error_no_memory (error);
}

static void
cpu_capture_free (QmDevice *device, QmCapture *capture)
{
  free (capture->items);
  free (capture);
}

/* Nothing is recorded any more. */
static void
leave_capture (QmCapture *capture)
{
  capture->origin->capture = NULL;
  for (QmStream *stream = capture->joined; stream != NULL;
       stream = stream->next)
    stream->capture = NULL;
  capture->joined = NULL;
}

static void
cpu_stream_free (QmDevice *device, QmStream *stream)
{
  QmCapture *capture = stream->capture;

  if (capture != NULL && capture->origin == stream)
    {
      leave_capture (capture);
      cpu_capture_free (device, capture);
    }
  else if (capture != NULL)
    for (QmStream **link = &capture->joined; *link != NULL;
         link = &(*link)->next)
      if (*link == stream)
        {
          *link = stream->next;
          break;
        }
  free (stream);
}

static QmStatus
cpu_stream_synchronize (QmDevice *device, QmStream *stream, QmError *error)
{
  return QM_OK;
}

static QmStatus
cpu_event_create (QmDevice *device, QmEvent **event, QmError *error)
{
  *event = calloc (1, sizeof **event);
  return *event != NULL ? QM_OK : qm_error_no_memory (error);
}

static void
cpu_event_free (QmDevice *device, QmEvent *event)
{
  free (event);
}

static QmStatus
cpu_event_record (QmDevice *device,
                  QmStream *stream,
                  QmEvent *event,
                  QmError *error)
{
  if (clock_gettime (CLOCK_MONOTONIC, &event->time) != 0)
    return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                         "the host has no monotonic clock");
  event->stream = stream->capture != NULL ? stream : NULL;
  event->recorded = stream->recorded;
  return QM_OK;
}

static QmStatus
cpu_stream_wait (QmDevice *device,
                 QmStream *stream,
                 QmEvent *event,
                 QmError *error)
{
  QmStream *other = event->stream;

  if (other == NULL || other == stream || other->capture == NULL)
    return QM_OK;
  if (stream->capture == NULL)
    {
      stream->capture = other->capture;
      stream->next = stream->capture->joined;
      stream->capture->joined = stream;
    }
  stream->apart = true;
  stream->recorded++;
  other->apart = other->recorded != event->recorded;
  return QM_OK;
}

static QmStatus
cpu_event_elapsed (QmDevice *device,
                   QmEvent *from,
                   QmEvent *to,
                   double *seconds,
                   QmError *error)
{
  *seconds = (double) (to->time.tv_sec - from->time.tv_sec)
             + (double) (to->time.tv_nsec - from->time.tv_nsec) * 1e-9;
  return QM_OK;
}

static QmStatus
cpu_capture_begin (QmDevice *device, QmStream *stream, QmError *error)
{
  stream->capture = calloc (1, sizeof *stream->capture);
  if (stream->capture == NULL)
    return qm_error_no_memory (error);
  stream->capture->origin = stream;
  return QM_OK;
}

static QmStatus
cpu_capture_end (QmDevice *device,
                 QmStream *stream,
                 QmCapture **capture,
                 QmError *error)
{
  bool apart = false;

  *capture = stream->capture;
  for (QmStream *other = (*capture)->joined; other != NULL; other = other->next)
    apart = apart || other->apart;
  leave_capture (*capture);
  if (!apart)
    return QM_OK;
  cpu_capture_free (device, *capture);
  *capture = NULL;
  return qm_error_set (error, QM_STATUS_DEVICE, "", 0, 0,
                       "a stream that took part in a capture was not waited "
                       "for");
}

static QmStatus
cpu_capture_launch (QmDevice *device,
                    QmStream *stream,
                    QmCapture *capture,
                    QmError *error)
{
  QmStatus status = QM_OK;

  for (size_t i = 0; i < capture->n && status == QM_OK; i++)
    status = execute (device, &capture->items[i], error);
  return status;
}

static QmStatus
cpu_run (QmDevice *device,
         QmStream *stream,
         const QmOpCall *call,
         QmError *error)
{
  Recorded item = { .call = *call };

  return run_or_record (device, stream, &item, error);
}

static const QmBackend backend = {
  .close = cpu_close,
  .free_bytes = cpu_free_bytes,
  .choices = cpu_choices,
  .allocate = cpu_allocate,
  .free = cpu_free,
  .write = cpu_copy,
  .read = cpu_copy,
  .set = cpu_set,
  .stream_create = cpu_stream_create,
  .stream_free = cpu_stream_free,
  .stream_synchronize = cpu_stream_synchronize,
  .event_create = cpu_event_create,
  .event_free = cpu_event_free,
  .event_record = cpu_event_record,
  .event_elapsed = cpu_event_elapsed,
  .pin = cpu_pin,
  .unpin = cpu_unpin,
  .stream_write = cpu_queue_copy,
  .stream_read = cpu_queue_copy,
  .stream_wait = cpu_stream_wait,
  .stream_call = cpu_stream_call,
  .stream_word = cpu_stream_word,
  .capture_begin = cpu_capture_begin,
  .capture_end = cpu_capture_end,
  .capture_launch = cpu_capture_launch,
  .capture_free = cpu_capture_free,
  .run = cpu_run,
};

/* The processor's name as Linux tells it. */
static void
read_processor_name (char *name, size_t size)
{
  FILE *file = fopen ("/proc/cpuinfo", "r");
  char line[256];

  snprintf (name, size, "CPU");
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, "model name", 10) == 0)
      {
        const char *value = strchr (line, ':');

        if (value != NULL && value[1] == ' ')
          snprintf (name, size, "%.*s", (int) strcspn (value + 2, "\n"),
                    value + 2);
        break;
      }
  if (file != NULL)
    fclose (file);
}

void
qm_cpu_info (QmDeviceInfo *info)
{
  long page = sysconf (_SC_PAGESIZE);
  long pages = sysconf (_SC_PHYS_PAGES);
  long free_pages = sysconf (_SC_AVPHYS_PAGES);

  memset (info, 0, sizeof *info);
  info->target.kind = QM_DEVICE_CPU;
  snprintf (info->id, sizeof info->id, "cpu");
  read_processor_name (info->name, sizeof info->name);
  if (page > 0 && pages > 0)
    info->memory_bytes = (uint64_t) page * (uint64_t) pages;
  if (page > 0 && free_pages > 0)
    info->free_bytes = (uint64_t) page * (uint64_t) free_pages;
  info->processors = qm_threads_available ();
}

/* Threads are not bound to cores: another device may be open beside this one.
 */
QmStatus
qm_cpu_open (QmDevice **device, QmError *error)
{
  QmCpuDevice *new = calloc (1, sizeof *new);
  QmStatus status;

  *device = NULL;
  if (new == NULL)
    return qm_error_no_memory (error);
  new->device.backend = &backend;
  qm_cpu_info (&new->device.info);
  status = qm_threads_new (0, false, &new->threads, error);
  if (status != QM_OK)
    {
      free (new);
      return status;
    }
  *device = &new->device;
  return QM_OK;
}

typedef struct Shared
{
  QmCpuBody body;
  void *data;
  atomic_bool failed;
} Shared;

static void
run_shared (void *data, int64_t begin, int64_t end)
{
  Shared *shared = data;

  if (!shared->body (shared->data, begin, end))
    atomic_store (&shared->failed, true);
}

bool
qm_cpu_parallel (
    QmThreads *threads, int64_t n, double work, QmCpuBody body, void *data)
{
  int64_t parts = threads != NULL ? qm_threads_count (threads) : 1;
  Shared shared = { .body = body, .data = data };

  if (work < (double) parts * WORK_PER_THREAD)
    parts = (int64_t) (work / WORK_PER_THREAD) + 1;
  if (parts > n)
    parts = n;
  if (parts <= 1)
    return body (data, 0, n);
  qm_threads_run (threads,
                  &(QmTaskRange){ 0, n, (n + parts - 1) / parts, false },
                  run_shared, &shared);
  return !atomic_load (&shared.failed);
}
