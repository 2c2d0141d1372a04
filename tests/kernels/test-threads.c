/* SPDX-License-Identifier: Apache-2.0 */

/* Threads that share tasks, and the processors that there are for them. */

#define _GNU_SOURCE

#include "kernels/cores.h"
#include "kernels/host/host-limit.h"
#include "kernels/threads.h"
#include "tests/data/check.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ELEMENTS 5000
#define TASKS    20

typedef struct Job
{
  int64_t begin, end, chunk;
  atomic_bool wrong; /* a part that crosses a chunk, or is outside */
  unsigned char seen[ELEMENTS];
} Job;

static void
see (void *data, int64_t begin, int64_t end)
{
  Job *job = data;

  if (begin < job->begin || end > job->end || begin >= end
      || begin / job->chunk != (end - 1) / job->chunk)
    job->wrong = true;
  for (int64_t i = begin; i < end; i++)
    job->seen[i]++;
}

/* Every element once, and no other. */
static void
check_job (const Job *job)
{
  CHECK (!job->wrong);
  for (int64_t i = 0; i < ELEMENTS; i++)
    CHECK_INT (job->seen[i], i >= job->begin && i < job->end);
}

static void
test_ranges (QmThreads *threads)
{
  static const int64_t ranges[][3] = {
    { 0, 0, 1 },     { 5, 5, 64 },     { 0, 1, 1 },       { 7, 9, 1000 },
    { 0, 64, 64 },   { 63, 65, 64 },   { 1, 5000, 64 },   { 100, 4999, 1 },
    { 0, 5000, 17 }, { 1, 2, 100000 }, { 33, 4321, 4096 }
  };

  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    for (int fixed = 0; fixed < 2; fixed++)
      {
        Job job = { ranges[i][0], ranges[i][1], ranges[i][2], false, { 0 } };

        qm_threads_run (threads,
                        &(QmTaskRange){ job.begin, job.end, job.chunk, fixed },
                        see, &job);
        check_job (&job);
      }
}

/* Many tasks under way at once, waited for in another order, and again. */
static void
test_tasks (QmThreads *threads)
{
  static Job jobs[TASKS];
  QmTask *tasks[TASKS];
  QmError error = { 0 };

  for (int i = 0; i < TASKS; i++)
    {
      CHECK_INT (qm_task_new (threads, &tasks[i], &error), QM_OK);
      /* Of nothing. */
      qm_task_wait (tasks[i]);
    }
  for (int pass = 0; pass < 50; pass++)
    {
      for (int i = 0; i < TASKS; i++)
        {
          jobs[i] = (Job){ i * 3, ELEMENTS - i * pass, 32, false, { 0 } };
          qm_task_start (tasks[i],
                         &(QmTaskRange){ jobs[i].begin, jobs[i].end,
                                         jobs[i].chunk, pass % 2 == 0 },
                         see, &jobs[i]);
        }
      for (int i = TASKS - 1; i >= 0; i--)
        {
          qm_task_wait (tasks[i]);
          check_job (&jobs[i]);
        }
    }
  for (int i = 0; i < TASKS; i++)
    qm_task_free (tasks[i]);
  qm_task_free (NULL);
}

static void *
run_some (void *data)
{
  for (int pass = 0; pass < 50; pass++)
    test_ranges (data);
  return NULL;
}

/* Two threads that give work at the same time.  Checks are not for several
 * threads, so this one does nothing in the meantime but give tasks. */
static void
test_two_givers (QmThreads *threads)
{
  static Job job;
  pthread_t other;
  bool right = true;
  bool begun = pthread_create (&other, NULL, run_some, threads) == 0;

  for (int pass = 0; pass < 200; pass++)
    {
      job = (Job){ 0, ELEMENTS, 64, false, { 0 } };
      qm_threads_run (threads, &(QmTaskRange){ 0, ELEMENTS, 64, false }, see,
                      &job);
      for (int i = 0; i < ELEMENTS; i++)
        right = right && job.seen[i] == 1;
    }
  if (begun)
    pthread_join (other, NULL);
  CHECK (begun && right);
}

static void
test_counts (void)
{
  QmThreads *threads = NULL;
  QmError error = { 0 };

  CHECK_INT (qm_threads_new (-1, false, &threads, &error), QM_STATUS_INVALID);
  CHECK (threads == NULL);
  CHECK_INT (qm_threads_new (1000000, false, &threads, &error),
             QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "1000000");
  for (int count = 0; count < 9; count++)
    for (int pinned = 0; pinned < 2; pinned++)
      {
        CHECK_INT (qm_threads_new (count, pinned, &threads, &error), QM_OK);
        CHECK_INT (qm_threads_count (threads),
                   count > 0 ? count : qm_threads_available ());
        test_ranges (threads);
        qm_threads_free (threads);
      }
  qm_threads_free (NULL);
}

/* On which processors a thread of the task may run. */
static void
count_allowed (void *data, int64_t begin, int64_t end)
{
  int *allowed = data;
  cpu_set_t set;

  for (int64_t i = begin; i < end; i++)
    allowed[i] =
        sched_getaffinity (0, sizeof set, &set) == 0 ? CPU_COUNT (&set) : -1;
}

static void
test_pinned (void)
{
  int allowed[4] = { 0 };
  QmThreads *threads;
  QmError error = { 0 };

  if (isfinite (qm_cores_quota ("")))
    return;
  CHECK_INT (qm_threads_new (0, true, &threads, &error), QM_OK);
  qm_threads_run (threads, &(QmTaskRange){ 0, 4, 1, false }, count_allowed,
                  allowed);
  for (int i = 0; i < 4; i++)
    CHECK_INT (allowed[i], 1);
  qm_threads_free (threads);
}

/* Whoever may run on one processor alone gets one thread. */
static void
test_affinity (void)
{
  cpu_set_t before, one;
  int cpu = 0;

  if (sched_getaffinity (0, sizeof before, &before) != 0)
    return;
  while (!CPU_ISSET (cpu, &before))
    cpu++;
  CPU_ZERO (&one);
  CPU_SET (cpu, &one);
  CHECK_INT (sched_setaffinity (0, sizeof one, &one), 0);
  CHECK_INT (qm_threads_available (), 1);
  CHECK_INT (sched_setaffinity (0, sizeof before, &before), 0);
  CHECK (qm_threads_available () <= CPU_COUNT (&before));
}

/* Sanitizers have their own use for addresses; GCC and Clang say so each in
 * their own way. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCHED
#endif
#endif

#ifdef WATCHED
static void
test_refused (void)
{
}
#else
/* Bytes of addresses that are in use. */
static rlim_t
address_space (void)
{
  FILE *file = fopen ("/proc/self/statm", "r");
  unsigned long pages = 0;

  CHECK (file != NULL && fscanf (file, "%lu", &pages) == 1);
  if (file != NULL)
    fclose (file);
  return (rlim_t) pages * (rlim_t) sysconf (_SC_PAGESIZE);
}

/* A system that refuses threads: fewer, down to none, do the work.  Root is not
 * refused for their number, so for the memory of their stacks. */
static void
test_refused (void)
{
  for (int stacks = 0; stacks < 3; stacks += 2)
    {
      struct rlimit before, few;
      QmThreads *threads = NULL;
      QmError error = { 0 };

      CHECK_INT (getrlimit (RLIMIT_AS, &before), 0);
      few = before;
      few.rlim_cur = address_space () + (rlim_t) stacks * (10 << 20);
      CHECK_INT (setrlimit (RLIMIT_AS, &few), 0);
      CHECK_INT (qm_threads_new (64, true, &threads, &error), QM_OK);
      CHECK_INT (setrlimit (RLIMIT_AS, &before), 0);
      CHECK (threads != NULL && qm_threads_count (threads) < 64);
      CHECK (threads != NULL
             && (qm_threads_count (threads) > 0) == (stacks > 0));
      if (threads != NULL)
        {
          test_ranges (threads);
          test_tasks (threads);
        }
      qm_threads_free (threads);
    }
}
#endif

static double
quota_of (const char *root, const char *groups)
{
  scratch_write_text ("proc/self/cgroup", groups);
  return qm_cores_quota (root);
}

static void
test_quota (void)
{
  const char *root = scratch_begin ();

  CHECK (isinf (quota_of (root, "0::/a/b\n")));
  scratch_write_text ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  CHECK (isinf (quota_of (root, "0::/a/b\n")));
  scratch_write_text ("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
  CHECK_NEAR (quota_of (root, "0::/a/b\n"), 2.5, 1e-12);
  scratch_write_text ("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
  CHECK_NEAR (quota_of (root, "0::/a/b\n"), 1.5, 1e-12);
  CHECK_NEAR (quota_of (root, "0::/a\n"), 2.5, 1e-12);
  CHECK (isinf (quota_of (root, "0::/\n")));
  scratch_write_text ("sys/fs/cgroup/cpu.max", "50000 100000\n");
  CHECK_NEAR (quota_of (root, "0::/a/b\n"), 0.5, 1e-12);
  CHECK_NEAR (quota_of (root, "0::/\n"), 0.5, 1e-12);

  scratch_clear ();
  scratch_write_text ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  scratch_write_text ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us",
                      "100000\n");
  CHECK (isinf (quota_of (root, "4:cpu,cpuacct:/x\n3:cpuset:/\n")));
  scratch_write_text ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us",
                      "300000\n");
  CHECK_NEAR (quota_of (root, "5:memory:/y\n4:cpu,cpuacct:/x\n"), 3, 1e-12);
  CHECK (isinf (quota_of (root, "4:cpuacct:/x\n")));

  /* Files that are not what they should be. */
  scratch_write_text ("sys/fs/cgroup/a/cpu.max", "\n");
  CHECK (isinf (quota_of (root, "0::/a\n")));
  scratch_write_text ("sys/fs/cgroup/a/cpu.max", "5 0\n");
  CHECK (isinf (quota_of (root, "0::/a\n")));
  scratch_write_text ("sys/fs/cgroup/a/cpu.max", "nan nan");
  CHECK (isinf (quota_of (root, "0::/a\n")));
  CHECK (isinf (quota_of (root, "")));
  CHECK (isinf (quota_of (root, "\n:\n::\nnonsense")));
  scratch_end ();
}

static double
mebibytes (const char *root, const char *groups)
{
  scratch_write_text ("proc/self/cgroup", groups);
  return (double) qm_host_available (root) / 0x1p20;
}

/* What is available, but no more than a group leaves, whose pages of files can
 * be dropped. */
static void
test_memory_limit (void)
{
  const char *root = scratch_begin ();

  check_case ("memory limit");
  CHECK_NEAR (mebibytes (root, "0::/a\n"), 0, 0);
  scratch_write_text ("proc/meminfo", "MemTotal:  4096000 kB\n"
                                      "MemFree:     10240 kB\n"
                                      "MemAvailable:  2048000 kB\n");
  CHECK_NEAR (mebibytes (root, "0::/a\n"), 2000, 0);
  scratch_write_text ("sys/fs/cgroup/a/memory.max", "max\n");
  scratch_write_text ("sys/fs/cgroup/memory.max", "1048576000\n");
  CHECK_NEAR (mebibytes (root, "0::/a\n"), 1000, 0);
  scratch_write_text ("sys/fs/cgroup/memory.current", "524288000\n");
  CHECK_NEAR (mebibytes (root, "0::/a\n"), 500, 0);
  scratch_write_text ("sys/fs/cgroup/memory.stat",
                      "anon 1\ninactive_file 104857600\n");
  CHECK_NEAR (mebibytes (root, "0::/a\n"), 600, 0);
  scratch_write_text ("sys/fs/cgroup/a/memory.max", "0\n");
  CHECK_NEAR (mebibytes (root, "0::/a\n"), 0, 0);
  scratch_write_text ("sys/fs/cgroup/memory/x/memory.limit_in_bytes",
                      "209715200\n");
  CHECK_NEAR (mebibytes (root, "3:cpu,memory:/y\n2:memory:/x\n"), 200, 0);
  scratch_write_text ("proc/meminfo", "MemAvailable: many\n");
  CHECK_NEAR (mebibytes (root, ""), 0, 0);
  scratch_end ();
  CHECK (qm_host_available ("") > 0);
}

/* A core with two processors counts once. */
static void
test_siblings (void)
{
  cpu_set_t set;
  const char *root;
  const char *lists[] = { "0-1", "0,1", "0-1,64-65", "1" };
  int cpus[4];

  if (sched_getaffinity (0, sizeof set, &set) != 0 || !CPU_ISSET (0, &set)
      || !CPU_ISSET (1, &set))
    return;
  root = scratch_begin ();
  CHECK_INT (qm_cores_list (root, NULL, 0), CPU_COUNT (&set));
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    {
      scratch_write_text (
          "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
          lists[i]);
      CHECK_INT (qm_cores_list (root, cpus, 4), CPU_COUNT (&set) - (i < 3));
      CHECK_INT (cpus[0], 0);
    }
  scratch_end ();
}

int
main (void)
{
  QmThreads *threads;
  QmError error = { 0 };

  /* Before stacks of threads that ended are there to be used again. */
  check_case ("refused");
  test_refused ();
  check_case ("counts");
  test_counts ();
  check_case ("tasks");
  CHECK_INT (qm_threads_new (5, true, &threads, &error), QM_OK);
  test_tasks (threads);
  qm_threads_free (threads);
  CHECK_INT (qm_threads_new (3, false, &threads, &error), QM_OK);
  test_two_givers (threads);
  qm_threads_free (threads);
  check_case ("pinned");
  test_pinned ();
  check_case ("affinity");
  test_affinity ();
  check_case ("quota");
  test_quota ();
  test_memory_limit ();
  check_case ("siblings");
  test_siblings ();
  return check_report ();
}
