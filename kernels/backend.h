/* SPDX-License-Identifier: Apache-2.0 */

/* What a kind of device implements.  Only for kernels/: everybody else uses
 * kernels/device.h and kernels/operators.h.  The headers of this room are C;
 * CUDA C++ includes them inside extern "C".
 *
 * Every function does what the function of that name in those headers says.
 * The arguments were checked: pointers are there, calls passed qm_op_check(),
 * and the workspace is as large as qm_op_workspace() asks for. */

#ifndef QM_KERNELS_BACKEND_H
#define QM_KERNELS_BACKEND_H

#include "kernels/device.h"
#include "kernels/operators.h"

typedef struct QmBackend
{
  void (*close) (QmDevice *device);
  uint64_t (*free_bytes) (QmDevice *device);
  uint64_t (*choices) (const QmDevice *device);
  QmStatus (*allocate) (QmDevice *, size_t, void **, QmError *);
  void (*free) (QmDevice *, void *);
  QmStatus (*write) (
      QmDevice *, QmStream *, void *, const void *, size_t, QmError *);
  QmStatus (*read) (
      QmDevice *, QmStream *, void *, const void *, size_t, QmError *);
  QmStatus (*set) (QmDevice *, QmStream *, void *, int, size_t, QmError *);
  QmStatus (*stream_create) (QmDevice *, QmStream **, QmError *);
  void (*stream_free) (QmDevice *, QmStream *);
  QmStatus (*stream_synchronize) (QmDevice *, QmStream *, QmError *);
  QmStatus (*event_create) (QmDevice *, QmEvent **, QmError *);
  void (*event_free) (QmDevice *, QmEvent *);
  QmStatus (*event_record) (QmDevice *, QmStream *, QmEvent *, QmError *);
  QmStatus (*event_elapsed) (
      QmDevice *, QmEvent *, QmEvent *, double *, QmError *);
  QmStatus (*pin) (QmDevice *, void *, size_t, QmError *);
  void (*unpin) (QmDevice *, void *);
  QmStatus (*stream_write) (
      QmDevice *, QmStream *, void *, const void *, size_t, QmError *);
  QmStatus (*stream_read) (
      QmDevice *, QmStream *, void *, const void *, size_t, QmError *);
  QmStatus (*stream_wait) (QmDevice *, QmStream *, QmEvent *, QmError *);
  QmStatus (*stream_call) (
      QmDevice *, QmStream *, QmHostFunction, void *, QmError *);
  /* `until` is whether it is waited for. */
  QmStatus (*stream_word) (
      QmDevice *, QmStream *, uint32_t *, uint32_t, bool until, QmError *);
  QmStatus (*capture_begin) (QmDevice *, QmStream *, QmError *);
  QmStatus (*capture_end) (QmDevice *, QmStream *, QmCapture **, QmError *);
  QmStatus (*capture_launch) (QmDevice *, QmStream *, QmCapture *, QmError *);
  void (*capture_free) (QmDevice *, QmCapture *);
  QmStatus (*run) (QmDevice *, QmStream *, const QmOpCall *, QmError *);
} QmBackend;

/* The first member of every device. */
struct QmDevice
{
  const QmBackend *backend;
  QmDeviceInfo info;
};

/* The CPU: information, and opening it. */
void qm_cpu_info (QmDeviceInfo *info);
QmStatus qm_cpu_open (QmDevice **device, QmError *error);

/* GPUs, in a program that was built with CUDA (QM_HAVE_CUDA).  Lists them, and
 * says in `note` why there are none. */
size_t
qm_cuda_list (QmDeviceInfo *infos, size_t max, char *note, size_t note_size);
QmStatus
qm_cuda_open (int index, int architecture, QmDevice **device, QmError *error);
bool qm_cuda_peers (int from, int to);
QmTrouble qm_cuda_absence (int *driver, int *runtime);
QmStatus qm_cuda_products_find (QmProducts *products, QmError *error);

/* Products of a GPU where it has several that can do it. */
typedef enum QmCudaPreference
{
  QM_CUDA_PREFER_FASTEST,
  QM_CUDA_PREFER_OWN, /* a call that ours cannot do is not supported */
  QM_CUDA_PREFER_LIBRARY
} QmCudaPreference;

/* Which of them to use from now on: the fastest, unless tests and benchmarks
 * say otherwise. */
void qm_cuda_prefer (QmDevice *device, QmCudaPreference preference);

/* Workspace of a call; functions of shapes and architecture alone, compiled
 * even where the device's own code is not. */
size_t qm_cpu_workspace (const QmOpCall *call);
size_t qm_cuda_workspace (int architecture, const QmOpCall *call);

/* Whether any call of the operator may need some there. */
bool qm_cuda_has_workspace (QmOp op);
uint64_t qm_cuda_reserved (int architecture);

/* As qm_target_turns() and qm_target_has_turns(). */
bool qm_cuda_turns (int architecture, const QmOpCall *call);
bool qm_cuda_has_turns (int architecture);

/* As qm_target_gates() and qm_target_has_gates(). */
bool qm_cuda_gates (int architecture, const QmOpCall *call);
bool qm_cuda_has_gates (int architecture);

/* As qm_target_takes(), and whether it may refuse any call of an operator. */
bool qm_cuda_has_limits (QmOp op);
QmStatus qm_cuda_takes (int architecture, const QmOpCall *call, QmError *error);

#endif
