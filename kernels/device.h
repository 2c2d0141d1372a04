/* SPDX-License-Identifier: Apache-2.0 */

/* One device: its memory, its queues of work and its clock.
 *
 * Work on a stream happens in the order in which it was queued, and a call that
 * queues work may return before the work is done; only the calls that say so
 * wait.  A failure of queued work may be reported by a later call on the
 * device.  A device and everything made from it belong to one thread at a time.
 *
 * The CPU device does everything at once, except between capture begin and end,
 * where it only records.
 */

#ifndef QM_KERNELS_DEVICE_H
#define QM_KERNELS_DEVICE_H

#include "data/error.h"
#include "kernels/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct QmDevice QmDevice;
typedef struct QmStream QmStream;
typedef struct QmEvent QmEvent;
typedef struct QmCapture QmCapture;

typedef enum QmDeviceKind
{
  QM_DEVICE_CPU,
  QM_DEVICE_CUDA
} QmDeviceKind;

/* What a plan has to know of a device that need not be here. */
typedef struct QmTarget
{
  QmDeviceKind kind;
  int architecture; /* of CUDA: 10 x major + minor, as in sm_90; else 0 */
} QmTarget;

/* Whether it has memory of its own, and computes while the host does something
 * else; who asks for a kind instead asks for what is one maker's. */
bool qm_target_is_gpu (const QmTarget *target);

/* Whether the device multiplies numbers of a type, fp32 rounded to TF32 or as
 * it is.  GPUs before compute capability 8.0 do so in fp16 and fp32 alone; of
 * one whose architecture is not known, 0, nothing is denied. */
bool qm_target_multiplies (const QmTarget *target, QmType type, bool tf32);

/* Why there is no GPU, or one cannot be used. */
typedef enum QmTrouble
{
  QM_TROUBLE_NONE,
  QM_TROUBLE_NO_CUDA, /* this program was built without it */
  QM_TROUBLE_NO_DRIVER,
  QM_TROUBLE_OLD_DRIVER, /* for an older CUDA than this program's */
  QM_TROUBLE_NO_GPU,
  QM_TROUBLE_OLD_GPU, /* there are no kernels for its capability */
  QM_TROUBLE_NO_CODE, /* there are, but they were not compiled for it */
  QM_TROUBLE_BROKEN   /* the driver or the GPU does not work */
} QmTrouble;

/* "none", "no-cuda", "no-driver" and so on; static. */
const char *qm_trouble_name (QmTrouble trouble);

/* What multiplies matrices on a GPU: "cuBLASLt 13.1.0", and of which file, or
 * "own", where kernels of our own do it all; and a sentence where there is
 * something to say: why there is no library, or what was passed over.  All are
 * empty for a CPU, and in a program that was built without CUDA. */
typedef struct QmProducts
{
  char name[32];
  char path[512];
  char note[512];
} QmProducts;

typedef struct QmDeviceInfo
{
  QmTarget target;       /* what calls are made for */
  int capability;        /* of the GPU itself: 10 x major + minor; else 0 */
  char id[16];           /* "cpu", "cuda:0": opens this device */
  char name[96];         /* as the maker calls it */
  char driver[32];       /* version; empty where there is none */
  char bus[32];          /* PCI address; empty where there is none */
  char trouble[192];     /* why it cannot be used, a sentence; empty: it can */
  QmTrouble cause;       /* of that */
  uint64_t memory_bytes; /* of the device, or of the host */
  uint64_t free_bytes;   /* when it was opened; of a GPU not opened, 0 */
  int processors;        /* threads, or streaming multiprocessors */
  int driver_cuda;       /* the newest CUDA that the driver knows: 13000 */
  int runtime_cuda;      /* the CUDA of this program; else both are 0 */
  QmProducts products;   /* of a GPU */
} QmDeviceInfo;

/* Bytes that the driver and its libraries take of the memory of such a
 * device, for themselves and the code of the operators. */
uint64_t qm_target_reserved (const QmTarget *target);

/* Lists the devices, the CPU last, without beginning to use any.  Fills up to
 * `max` entries and returns how many there are.  `note`, of `note_size` bytes,
 * says in one sentence why there is no GPU among them, or is empty. */
size_t
qm_device_list (QmDeviceInfo *infos, size_t max, char *note, size_t note_size);

/* Why there is no GPU, and the newest CUDA that the driver knows and the one of
 * this program, 13000, 0 where that is not known; QM_TROUBLE_NONE: there is
 * one.
 */
QmTrouble qm_device_absence (int *driver_cuda, int *runtime_cuda);

/* What would multiply matrices on a GPU of this machine, also where there is
 * none.  QM_STATUS_NOT_FOUND where the user named a library that cannot be
 * used. */
QmStatus qm_device_products (QmProducts *products, QmError *error);

/* Describes one device without beginning to use it; "" is the first GPU that
 * can be used, else the CPU.  QM_STATUS_NOT_FOUND for a device that is not
 * there. */
QmStatus
qm_device_describe (const char *id, QmDeviceInfo *info, QmError *error);

/* Whether a GPU can read the memory of another by itself, through NVLink or
 * PCIe. */
bool qm_device_peers (const char *from, const char *to);

/* Opens "cpu" or "cuda:N"; a GPU as if it were an older one, of that compute
 * capability (as 80), so that the kernels for those can be held against the
 * others; 0: as it is.  QM_STATUS_NOT_FOUND for another name or a GPU that is
 * not there, QM_STATUS_UNSUPPORTED for one that this program cannot use,
 * QM_STATUS_INVALID for a newer one than it is, or for the CPU as a GPU. */
QmStatus qm_device_open (const char *id,
                         int architecture,
                         QmDevice **device,
                         QmError *error);

/* Bytes of its memory that are free now; 0 where that is not known. */
uint64_t qm_device_free_bytes (QmDevice *device);

/* How often it was found out which way of doing a call is the fastest, which
 * takes long: where this did not grow, nothing but the calls was done. */
uint64_t qm_device_choices (const QmDevice *device);

/* Waits for all work and closes; NULL is allowed. */
void qm_device_close (QmDevice *device);

/* What is known of an open device; belongs to it. */
const QmDeviceInfo *qm_device_info (const QmDevice *device);

/* Memory of the device, aligned to 256 bytes, not initialised.
 * QM_STATUS_DEVICE_FULL where there is not enough.  Never called while
 * capturing. */
QmStatus qm_device_allocate (QmDevice *device,
                             size_t bytes,
                             void **memory,
                             QmError *error);

/* Waits for all work, then frees; NULL is allowed. */
void qm_device_free (QmDevice *device, void *memory);

/* Copies from and to memory of the host and waits until it is done. */
QmStatus qm_device_write (QmDevice *device,
                          QmStream *stream,
                          void *to,
                          const void *from_host,
                          size_t bytes,
                          QmError *error);
QmStatus qm_device_read (QmDevice *device,
                         QmStream *stream,
                         void *to_host,
                         const void *from,
                         size_t bytes,
                         QmError *error);

/* Queues setting every byte. */
QmStatus qm_device_set (QmDevice *device,
                        QmStream *stream,
                        void *memory,
                        int byte,
                        size_t bytes,
                        QmError *error);

/* A queue of work that runs in order; freeing it waits for its work first, NULL
 * is allowed. */
QmStatus qm_stream_create (QmDevice *device, QmStream **stream, QmError *error);
void qm_stream_free (QmDevice *device, QmStream *stream);

/* Waits until all work on the stream is done; reports what failed in it. */
QmStatus
qm_stream_synchronize (QmDevice *device, QmStream *stream, QmError *error);

/* A moment in a queue, to take times at; NULL may be freed. */
QmStatus qm_event_create (QmDevice *device, QmEvent **event, QmError *error);
void qm_event_free (QmDevice *device, QmEvent *event);

/* Queues taking the time of the device's clock. */
QmStatus qm_event_record (QmDevice *device,
                          QmStream *stream,
                          QmEvent *event,
                          QmError *error);

/* Seconds between two recorded events, after waiting for the second. */
QmStatus qm_event_elapsed (QmDevice *device,
                           QmEvent *from,
                           QmEvent *to,
                           double *seconds,
                           QmError *error);

/* Tells the device of memory of the host that copies are queued from and to, as
 * qm_host_memory_new() (kernels/host/host-adam.h) gives it, so that its pages
 * stay where they are.  QM_STATUS_DEVICE_FULL, with a sentence that names the
 * host, where the system does not allow so much. */
QmStatus
qm_host_pin (QmDevice *device, void *memory, size_t bytes, QmError *error);

/* Waits for all work, then forgets it; NULL is allowed. */
void qm_host_unpin (QmDevice *device, void *memory);

/* Queue copies from and to memory of the host that was pinned, which stays as
 * it is until they are done. */
QmStatus qm_stream_write (QmDevice *device,
                          QmStream *stream,
                          void *to,
                          const void *from_host,
                          size_t bytes,
                          QmError *error);
QmStatus qm_stream_read (QmDevice *device,
                         QmStream *stream,
                         void *to_host,
                         const void *from,
                         size_t bytes,
                         QmError *error);

/* What is queued on the stream from now on waits for the event as it was
 * recorded last. */
QmStatus qm_stream_wait (QmDevice *device,
                         QmStream *stream,
                         QmEvent *event,
                         QmError *error);

/* Called by a thread of the device's own; must not call the device, and a wait
 * in it may hold up those of all streams. */
typedef void (*QmHostFunction) (void *data);

/* Queues a call of a function of the host: what is queued later on the stream
 * waits until it has returned. */
QmStatus qm_stream_call (QmDevice *device,
                         QmStream *stream,
                         QmHostFunction function,
                         void *data,
                         QmError *error);

/* Queues writing a word of pinned memory of the host, which a thread of the
 * host waits for, and waiting until such a word is `value`, which a thread of
 * the host writes: what has to happen between, several devices of a process can
 * do at once, which calls of functions of the host need not.  A word has 64
 * bytes for itself. */
QmStatus qm_stream_post (QmDevice *device,
                         QmStream *stream,
                         uint32_t *word,
                         uint32_t value,
                         QmError *error);
QmStatus qm_stream_until (QmDevice *device,
                          QmStream *stream,
                          uint32_t *word,
                          uint32_t value,
                          QmError *error);

/* Between begin and end, operators, qm_device_set() and what is queued by the
 * six functions above are not executed but recorded with the addresses that
 * they were called with; launch queues the whole record.  Another stream takes
 * part from when it waits for an event that was recorded on one that does, and
 * in the end the first stream has to wait for it (QM_STATUS_DEVICE otherwise).
 * Nothing else may be called on these streams in between.  Ends the capture
 * even where it fails. */
QmStatus qm_capture_begin (QmDevice *device, QmStream *stream, QmError *error);
QmStatus qm_capture_end (QmDevice *device,
                         QmStream *stream,
                         QmCapture **capture,
                         QmError *error);
QmStatus qm_capture_launch (QmDevice *device,
                            QmStream *stream,
                            QmCapture *capture,
                            QmError *error);
void qm_capture_free (QmDevice *device, QmCapture *capture);

#endif
