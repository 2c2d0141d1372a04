/* SPDX-License-Identifier: Apache-2.0 */

#define _GNU_SOURCE

#include "kernels/threads.h"

#include "kernels/cores.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#define MAX_THREADS 1024
#define CACHE_LINE  64

typedef struct Worker
{
  QmThreads *threads;
  int index;
  pthread_t thread;
} Worker;

struct QmThreads
{
  pthread_mutex_t lock;
  pthread_cond_t started; /* a task, or the end of the threads */
  pthread_cond_t done;
  QmTask *first, *last; /* under way, in order */
  uint64_t next;        /* number of the next task */
  bool ending;
  QmTask *own; /* of qm_threads_run() */
  pthread_mutex_t own_lock;
  int count;
  Worker workers[];
};

/* Chunks [next, end) are left; on a line of its own, as others take from it. */
typedef struct Share
{
  _Alignas(CACHE_LINE) _Atomic int64_t next;
  int64_t end;
} Share;

struct QmTask
{
  QmThreads *threads;
  QmTask *following;
  uint64_t number;
  int inside; /* threads that have not left it yet; 0: done */
  QmTaskRange range;
  QmTaskBody body;
  void *data;
  Share shares[];
};

/* As many threads as the time granted allows to run all of the time: one that
 * is stopped for the rest of a period would hold up all others. */
static int
granted (size_t cores, double quota)
{
  if (quota < (double) cores)
    cores = (size_t) quota;
  if (cores > MAX_THREADS)
    cores = MAX_THREADS;
  return cores > 0 ? (int) cores : 1;
}

int
qm_threads_available (void)
{
  return granted (qm_cores_list ("", NULL, 0), qm_cores_quota (""));
}

static void
run_chunk (const QmTask *task, int64_t chunk)
{
  int64_t begin = chunk * task->range.chunk;
  int64_t end = begin + task->range.chunk;

  task->body (task->data, begin > task->range.begin ? begin : task->range.begin,
              end < task->range.end ? end : task->range.end);
}

static void
run_share (QmTask *task, Share *share)
{
  for (;;)
    {
      int64_t chunk =
          atomic_fetch_add_explicit (&share->next, 1, memory_order_relaxed);

      if (chunk >= share->end)
        return;
      run_chunk (task, chunk);
    }
}

static void
run_shares (QmTask *task, int worker)
{
  int count = task->threads->count;

  run_share (task, &task->shares[worker]);
  if (task->range.fixed)
    return;
  for (int i = 1; i < count; i++)
    run_share (task, &task->shares[(worker + i) % count]);
}

/* The task of that number, after waiting for it; NULL at the end. */
static QmTask *
wait_for_task (QmThreads *threads, uint64_t number)
{
  QmTask *task;

  while (number == threads->next && !threads->ending)
    pthread_cond_wait (&threads->started, &threads->lock);
  if (number == threads->next)
    return NULL;
  /* A task stays in the list until every thread has left it. */
  for (task = threads->first; task->number != number;)
    task = task->following;
  return task;
}

/* Tasks are left in order, so the last to leave one leaves the first. */
static void
leave (QmThreads *threads, QmTask *task)
{
  if (--task->inside > 0)
    return;
  threads->first = task->following;
  if (threads->first == NULL)
    threads->last = NULL;
  pthread_cond_broadcast (&threads->done);
}

static void *
work (void *data)
{
  Worker *worker = data;
  QmThreads *threads = worker->threads;
  QmTask *task;

  pthread_mutex_lock (&threads->lock);
  for (uint64_t number = 0; (task = wait_for_task (threads, number)) != NULL;
       number++)
    {
      pthread_mutex_unlock (&threads->lock);
      run_shares (task, worker->index);
      pthread_mutex_lock (&threads->lock);
      leave (threads, task);
    }
  pthread_mutex_unlock (&threads->lock);
  return NULL;
}

/* Starts a thread, on processor `cpu` if that is not negative and the system
 * lets us. */
static bool
start_worker (Worker *worker, int cpu)
{
  size_t size = CPU_ALLOC_SIZE (cpu + 1);
  cpu_set_t *set = cpu >= 0 ? CPU_ALLOC (cpu + 1) : NULL;
  pthread_attr_t attributes;
  bool started = false;

  if (set != NULL && pthread_attr_init (&attributes) == 0)
    {
      CPU_ZERO_S (size, set);
      CPU_SET_S ((size_t) cpu, size, set);
      started =
          pthread_attr_setaffinity_np (&attributes, size, set) == 0
          && pthread_create (&worker->thread, &attributes, work, worker) == 0;
      pthread_attr_destroy (&attributes);
    }
  if (set != NULL)
    CPU_FREE (set);
  return started || pthread_create (&worker->thread, NULL, work, worker) == 0;
}

static void
start_workers (QmThreads *threads, int wanted, bool pinned)
{
  int *cpus = calloc (MAX_THREADS, sizeof *cpus);
  size_t cores = cpus != NULL ? qm_cores_list ("", cpus, MAX_THREADS) : 0;
  sigset_t all, before;
  bool masked;

  if (!pinned || qm_cores_quota ("") < (double) cores)
    cores = 0;
  /* Signals are for the thread that expects them. */
  sigfillset (&all);
  masked = pthread_sigmask (SIG_BLOCK, &all, &before) == 0;
  for (int i = 0; i < wanted; i++)
    {
      Worker *worker = &threads->workers[i];

      *worker = (Worker){ .threads = threads, .index = i };
      if (!start_worker (worker,
                         i < (int) cores && i < MAX_THREADS ? cpus[i] : -1))
        break;
      threads->count++;
    }
  if (masked)
    pthread_sigmask (SIG_SETMASK, &before, NULL);
  free (cpus);
}

QmStatus
qm_threads_new (int count, bool pinned, QmThreads **threads, QmError *error)
{
  QmThreads *new;
  QmStatus status;

  *threads = NULL;
  if (count < 0 || count > MAX_THREADS)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "%d threads cannot be had; 1 to %d can", count,
                         MAX_THREADS);
  if (count == 0)
    count = qm_threads_available ();
  new = calloc (1, sizeof *new + (size_t) count * sizeof (Worker));
  if (new == NULL)
    return qm_error_no_memory (error);
  if (pthread_mutex_init (&new->lock, NULL) != 0
      || pthread_mutex_init (&new->own_lock, NULL) != 0
      || pthread_cond_init (&new->started, NULL) != 0
      || pthread_cond_init (&new->done, NULL) != 0)
    {
      free (new);
      return qm_error_no_memory (error);
    }
  /* A thread that is there already sees the final count: it reads it in a task,
   * and there is none yet. */
  start_workers (new, count, pinned);
  status = qm_task_new (new, &new->own, error);
  if (status != QM_OK)
    {
      qm_threads_free (new);
      return status;
    }
  *threads = new;
  return QM_OK;
}

void
qm_threads_free (QmThreads *threads)
{
  if (threads == NULL)
    return;
  pthread_mutex_lock (&threads->lock);
  threads->ending = true;
  pthread_cond_broadcast (&threads->started);
  pthread_mutex_unlock (&threads->lock);
  for (int i = 0; i < threads->count; i++)
    pthread_join (threads->workers[i].thread, NULL);
  qm_task_free (threads->own);
  pthread_cond_destroy (&threads->started);
  pthread_cond_destroy (&threads->done);
  pthread_mutex_destroy (&threads->lock);
  pthread_mutex_destroy (&threads->own_lock);
  free (threads);
}

int
qm_threads_count (const QmThreads *threads)
{
  return threads->count;
}

QmStatus
qm_task_new (QmThreads *threads, QmTask **task, QmError *error)
{
  size_t size = sizeof (QmTask) + (size_t) threads->count * sizeof (Share);

  /* aligned_alloc() wants a multiple of the alignment. */
  size = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  *task = aligned_alloc (CACHE_LINE, size);
  if (*task == NULL)
    return qm_error_no_memory (error);
  **task = (QmTask){ .threads = threads };
  return QM_OK;
}

int
qm_task_threads (const QmTask *task)
{
  return task->threads->count;
}

void
qm_task_free (QmTask *task)
{
  free (task);
}

static void
cut_task (QmTask *task)
{
  const QmTaskRange *range = &task->range;
  int64_t first = range->begin / range->chunk;
  int64_t chunks = (range->end - 1) / range->chunk + 1 - first;
  int64_t count = task->threads->count;

  for (int64_t i = 0; i < count; i++)
    {
      /* Not chunks * i / count, which could overflow. */
      int64_t each = chunks / count, rest = chunks % count;
      int64_t begin = first + each * i + (i < rest ? i : rest);

      atomic_store_explicit (&task->shares[i].next, begin,
                             memory_order_relaxed);
      task->shares[i].end = begin + each + (i < rest);
    }
}

void
qm_task_start (QmTask *task,
               const QmTaskRange *range,
               QmTaskBody body,
               void *data)
{
  QmThreads *threads = task->threads;

  task->range = *range;
  task->body = body;
  task->data = data;
  if (range->begin >= range->end)
    return;
  if (threads->count == 0)
    {
      for (int64_t i = range->begin / range->chunk;
           i <= (range->end - 1) / range->chunk; i++)
        run_chunk (task, i);
      return;
    }
  cut_task (task);
  task->following = NULL;
  task->inside = threads->count;
  pthread_mutex_lock (&threads->lock);
  task->number = threads->next++;
  if (threads->last != NULL)
    threads->last->following = task;
  else
    threads->first = task;
  threads->last = task;
  pthread_cond_broadcast (&threads->started);
  pthread_mutex_unlock (&threads->lock);
}

void
qm_task_wait (QmTask *task)
{
  pthread_mutex_lock (&task->threads->lock);
  while (task->inside > 0)
    pthread_cond_wait (&task->threads->done, &task->threads->lock);
  pthread_mutex_unlock (&task->threads->lock);
}

void
qm_threads_run (QmThreads *threads,
                const QmTaskRange *range,
                QmTaskBody body,
                void *data)
{
  pthread_mutex_lock (&threads->own_lock);
  qm_task_start (threads->own, range, body, data);
  qm_task_wait (threads->own);
  pthread_mutex_unlock (&threads->own_lock);
}
