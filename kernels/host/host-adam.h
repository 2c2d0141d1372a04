/* SPDX-License-Identifier: Apache-2.0 */

/* The update on the host, for parameters whose optimizer state is kept there:
 * QM_OP_SUM_SQUARES, QM_OP_UPDATE_STATE and QM_OP_ADAM (kernels/operators.h)
 * for gradients that arrive in any float type, with the weights in the type of
 * the device written in the same pass, to be sent back.
 *
 * Numbers.  Every kernel does the operations of the CPU device in its order,
 * each rounded once and none contracted, so that all give its bits, infinities
 * and subnormal numbers included; of a NaN only that it is one.  A sum of
 * squares is formed in fp64 in an order that depends on the length alone, so it
 * is the same for every kernel and number of threads.  Subnormal numbers, such
 * as the first moment of a weight that has had no gradient for some 830 steps
 * (0.9^830 is 1e-38), are kept too unless `flush` is set; many processors take
 * ten times as long for them.
 *
 * Memory.  A parameter needs 12 bytes read and 12 written for weight and
 * moments, 2 or 4 read for the gradient (4 more written where it is cleared),
 * and 2 written for the copy, past the caches: 28 or 30 bytes with a 16-bit
 * copy. */

#ifndef QM_KERNELS_HOST_HOST_ADAM_H
#define QM_KERNELS_HOST_HOST_ADAM_H

#include "data/error.h"
#include "kernels/tensor.h"
#include "kernels/threads.h"

typedef enum QmHostKernel
{
  QM_HOST_SCALAR, /* portable C */
  QM_HOST_AVX2,   /* with FMA and F16C */
  QM_HOST_AVX512, /* F, BW, DQ, VL */
  QM_HOST_KERNEL_COUNT
} QmHostKernel;

/* Whether this program has the kernel, and processor and system can run it. */
bool qm_host_kernel_works (QmHostKernel kernel);

/* The fastest that works. */
QmHostKernel qm_host_kernel_best (void);

/* One update of weights [0, n).  The addresses are those of weight 0 and
 * aligned to their element, all in multiples of 64 bytes for full speed.
 * Nothing overlaps. */
typedef struct QmHostAdam
{
  QmHostKernel kernel;
  float beta1, beta2, epsilon, weight_decay;
  bool decoupled; /* AdamW */
  bool clear;     /* set the gradient to zero, as QM_OP_ADAM does; for one
                     that micro-batches are added to */
  bool flush;     /* take subnormal numbers for zero; done on x86-64 alone */
  const float *state;   /* of QM_STATE_SIZE, on the host; final when a range is
                           begun */
  QmType gradient_type; /* QM_TYPE_F32, QM_TYPE_F16 or QM_TYPE_BF16 */
  void *gradient;
  float *master, *m, *v;
  QmType weights_type; /* of the copy; QM_TYPE_NONE for no copy */
  void *weights;
} QmHostAdam;

/* Updates weights [begin, end) in the calling thread.  Where the state says
 * that a gradient was not finite, it does nothing but clear: the copy then is
 * not written, and is not to be sent. */
void qm_host_adam (const QmHostAdam *adam, int64_t begin, int64_t end);

/* Starts the same in many threads, see kernels/threads.h; `adam` stays until
 * the task is done.  Ranges of the same update that do not overlap may be under
 * way at once, in different tasks, while others are still in transfer. */
void qm_host_adam_start (QmTask *task,
                         const QmHostAdam *adam,
                         int64_t begin,
                         int64_t end);

/* Starts setting weights, moments, gradient and copy to zero, each by the
 * thread that updates it when [begin, end) is updated: in memory never touched
 * before, it is then near that thread. */
void qm_host_adam_touch_start (QmTask *task,
                               const QmHostAdam *adam,
                               int64_t begin,
                               int64_t end);

/* Adds x, of a float type, to sum: gradients that arrive with every micro-batch
 * to those that the update takes.  The addresses are those of element 0. */
typedef struct QmHostAdd
{
  QmHostKernel kernel;
  QmType type;
  const void *x;
  float *sum;
} QmHostAdd;

/* Adds elements [begin, end) in the calling thread. */
void qm_host_add (const QmHostAdd *add, int64_t begin, int64_t end);

/* Starts the same in many threads; `add` stays until the task is done. */
void qm_host_add_start (QmTask *task,
                        const QmHostAdd *add,
                        int64_t begin,
                        int64_t end);

#define QM_HOST_SQUARES_PARTS 1024

/* A sum of squares of n elements of a float type. */
typedef struct QmHostSquares
{
  QmHostKernel kernel;
  QmType type;
  const void *x;
  int64_t n;
  double parts[QM_HOST_SQUARES_PARTS]; /* room for the work */
} QmHostSquares;

/* Starts summing in many threads; `squares` stays until the task is done. */
void qm_host_squares_start (QmTask *task, QmHostSquares *squares);

/* The sum, when the task is done. */
double qm_host_squares_result (const QmHostSquares *squares);

/* QM_OP_UPDATE_STATE on the host: from the sum of squares of all gradients. */
void
qm_host_update_state (float *state, double sum, double max_norm, bool dynamic);

/* Memory for arrays that are updated, aligned to 2 MiB, zero, touched by nobody
 * yet, of large pages where the system gives some; NULL where there is none. It
 * is ordinary memory, which a device can be told to pin. */
void *qm_host_memory_new (size_t bytes);

/* `bytes` are those it was made with; NULL is allowed. */
void qm_host_memory_free (void *memory, size_t bytes);

#endif
