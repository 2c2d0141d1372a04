/* SPDX-License-Identifier: Apache-2.0 */

/* Threads of the host that stay, and tasks that they share.
 *
 * A task is a range of elements and a function that works on a part of it.  It
 * is cut into chunks, and the chunks into as many shares as there are threads,
 * so that a thread works on the same memory every time; a thread that is done
 * helps the others, unless the task says no.  Tasks are begun in the order in
 * which they were started, but a thread that finds nothing left to do in one
 * goes on to the next: a task that needs the result of another is started when
 * the other is done.
 *
 * Everything here may be called from several threads at once, apart from what
 * is done to one and the same task. */

#ifndef QM_KERNELS_THREADS_H
#define QM_KERNELS_THREADS_H

#include "data/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct QmThreads QmThreads;
typedef struct QmTask QmTask;

/* Works on [begin, end), which is inside one chunk. */
typedef void (*QmTaskBody) (void *data, int64_t begin, int64_t end);

/* How a range is cut. */
typedef struct QmTaskRange
{
  int64_t begin, end;
  int64_t chunk; /* elements; chunks begin at multiples of it, whatever `begin`
                    is, so that with a multiple of a cache line no two threads
                    write to the same one */
  bool fixed;    /* a thread does its own share and no more: for memory that is
                    to be near the thread that touched it first */
} QmTaskRange;

/* How many threads are worth having: the physical cores that hold a processor
 * on which the calling thread may run, but no more than the CPU time that its
 * control groups grant; at least 1. */
int qm_threads_available (void);

/* Starts `count` threads, or qm_threads_available() for 0.  With `pinned`, each
 * of the first qm_threads_available() is bound to a core of its own, among
 * those on which the calling thread may run (which can be narrowed before, so
 * that two sets of threads share a machine), unless a control group grants less
 * time than there are cores: then the system chooses.  Where the system refuses
 * a thread there are fewer, and without any, tasks are done by those who start
 * them.  QM_STATUS_INVALID for a count below 0, QM_STATUS_NO_MEMORY. */
QmStatus
qm_threads_new (int count, bool pinned, QmThreads **threads, QmError *error);

/* Ends the threads; no task may be under way.  NULL is allowed. */
void qm_threads_free (QmThreads *threads);

/* How many threads there are, 0 if none could be started. */
int qm_threads_count (const QmThreads *threads);

/* A task for these threads, which outlive it; can be used again and again.
 * QM_STATUS_NO_MEMORY. */
QmStatus qm_task_new (QmThreads *threads, QmTask **task, QmError *error);

/* How many threads share the task. */
int qm_task_threads (const QmTask *task);

/* The task is not under way; NULL is allowed. */
void qm_task_free (QmTask *task);

/* Starts a task that is not under way, and returns at once; cannot fail. `data`
 * stays until it is done. */
void qm_task_start (QmTask *task,
                    const QmTaskRange *range,
                    QmTaskBody body,
                    void *data);

/* Waits until it is. */
void qm_task_wait (QmTask *task);

/* Does a whole range and waits for it.  Not called from the body of a task. */
void qm_threads_run (QmThreads *threads,
                     const QmTaskRange *range,
                     QmTaskBody body,
                     void *data);

#endif
