/* SPDX-License-Identifier: Apache-2.0 */

/* Ranks in several processes: what they do together, how they find each other,
 * and what becomes of the others when one goes or is not what it says. */

#include "tests/data/check.h"
#include "tests/kernels/ranks.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 4

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static void
pause_for (double seconds)
{
  struct timespec time = { .tv_sec = (time_t) seconds };

  time.tv_nsec = (long) ((seconds - (double) time.tv_sec) * 1e9);
  nanosleep (&time, NULL);
}

/* A socket on a port of this machine that the system chooses. */
static int
listen_somewhere (int *port)
{
  struct sockaddr_in address = { .sin_family = AF_INET };
  socklen_t size = sizeof address;
  int fd = socket (AF_INET, SOCK_STREAM, 0);

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  CHECK (fd >= 0 && bind (fd, (void *) &address, sizeof address) == 0
         && listen (fd, 8) == 0
         && getsockname (fd, (void *) &address, &size) == 0);
  *port = ntohs (address.sin_port);
  return fd;
}

static int
free_port (void)
{
  int port, fd = listen_somewhere (&port);

  close (fd);
  return port;
}

/* Calls somebody who is about to listen. */
static int
call_port (int port)
{
  struct sockaddr_in address = { .sin_family = AF_INET };

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  address.sin_port = htons ((uint16_t) port);
  for (int i = 0; i < 200; i++)
    {
      int fd = socket (AF_INET, SOCK_STREAM, 0);

      if (connect (fd, (void *) &address, sizeof address) == 0)
        return fd;
      close (fd);
      pause_for (0.01);
    }
  CHECK (false);
  return -1;
}

/* A world that is spread over processes. */
typedef struct Processes
{
  int n;
  int local[MOST]; /* ranks of each */
  int port;
  double patience;
  double delay; /* of one process after the other */
  bool root_last;
  RankBody body;
  QmStatus expected[MOST]; /* of making the world */
  const char *sentence;    /* of that, where it fails */
  int killed;              /* 1 + the process that ends by a signal */
  pid_t ids[MOST];
} Processes;

static Processes
some_processes (int n, RankBody body)
{
  Processes processes = { .n = n, .patience = 10, .body = body };

  for (int i = 0; i < n; i++)
    processes.local[i] = 1;
  processes.port = free_port ();
  return processes;
}

static int
be_process (const Processes *processes, int index)
{
  char rendezvous[64];
  Ranks ranks = { .options = { .local = processes->local[index],
                               .rendezvous = rendezvous,
                               .patience = processes->patience },
                  .device = "cpu" };
  QmError error = { 0 };
  QmStatus status;
  int failures;

  snprintf (rendezvous, sizeof rendezvous, "127.0.0.1:%d", processes->port);
  for (int i = 0; i < processes->n; i++)
    {
      ranks.options.ranks += processes->local[i];
      ranks.options.first += i < index ? processes->local[i] : 0;
    }
  status = ranks_run (&ranks, true, processes->body, &error);
  failures = atomic_load (&ranks.failures);
  if (status != processes->expected[index])
    fprintf (stderr, "process %d: status %d: %s\n", index, status,
             error.message);
  else if (status != QM_OK && processes->sentence != NULL
           && strstr (error.message, processes->sentence) == NULL)
    fprintf (stderr, "process %d says: %s\n", index, error.message);
  else
    return failures > 0;
  return 1;
}

static void
start (Processes *processes, int index)
{
  fflush (NULL);
  processes->ids[index] = fork ();
  if (processes->ids[index] == 0)
    exit (be_process (processes, index));
  pause_for (processes->delay);
}

static void
start_all (Processes *processes)
{
  for (int i = processes->root_last; i < processes->n; i++)
    start (processes, i);
  if (processes->root_last)
    start (processes, 0);
}

static void
wait_for (const Processes *processes, int index)
{
  int status = -1;

  CHECK (waitpid (processes->ids[index], &status, 0) == processes->ids[index]);
  if (processes->killed == index + 1)
    CHECK (WIFSIGNALED (status));
  else
    CHECK (WIFEXITED (status) && WEXITSTATUS (status) == 0);
}

static void
wait_for_all (const Processes *processes)
{
  for (int i = 0; i < processes->n; i++)
    wait_for (processes, i);
}

static void
small_counts (Rank *rank)
{
  const size_t counts[] = { 0, 1, 7, 4099 };
  double values[2] = { rank->rank, 0.1 * rank->rank };

  rank_check_all (rank, counts, 4);
  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_MAXIMUM,
                                       values, 2, NULL)
                    == QM_OK);
  EXPECT (rank, values[0] == rank->ranks - 1);
}

static void
large_counts (Rank *rank)
{
  rank_check_collective (rank, QM_ALL_REDUCE, QM_TYPE_F32, 3000017, true);
  rank_check_collective (rank, QM_REDUCE_SCATTER, QM_TYPE_BF16, 1500001, false);
  rank_check_collective (rank, QM_ALL_GATHER, QM_TYPE_F16, 1500001, true);
}

/* Every rank compares with a plain loop, bit by bit, so that all layouts give
 * the same. */
static void
test_layouts (void)
{
  static const struct
  {
    int n, local[MOST];
  } layouts[] = {
    { 2, { 2, 2 } },
    { 2, { 1, 3 } },
    { 3, { 2, 1, 1 } },
    { 4, { 1, 1, 1, 1 } },
  };

  check_case ("layouts");
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
    {
      Processes processes = some_processes (layouts[i].n, small_counts);

      memcpy (processes.local, layouts[i].local, sizeof processes.local);
      processes.root_last = i % 2 == 1;
      processes.delay = i == 1 ? 0.1 : 0;
      start_all (&processes);
      wait_for_all (&processes);
    }
  Processes processes = some_processes (2, large_counts);

  processes.local[1] = 2;
  start_all (&processes);
  wait_for_all (&processes);
}

/* Waits until the world fails, without doing anything with it. */
static void
expect_end (Rank *rank, const char *sentence)
{
  double from = now ();
  QmError error = { 0 };

  while (qm_world_check (rank->world, &error) == QM_OK && now () - from < 5)
    pause_for (0.01);
  EXPECT (rank, now () - from < 2);
  EXPECT (rank, strstr (error.message, sentence) != NULL);
  if (strstr (error.message, sentence) == NULL)
    fprintf (stderr, "rank %d says: %s\n", rank->rank, error.message);
}

static QmStatus
reduce_some (Rank *rank, size_t count)
{
  float x[8] = { 0 };

  return qm_all_reduce (rank->communicator, rank->stream, x, x, count,
                        QM_TYPE_F32, NULL);
}

static void
abort_one (Rank *rank)
{
  if (rank->rank == 0)
    {
      pause_for (0.2);
      qm_world_abort (rank->world, 0, "rank 0: the fox came\n\033[2J");
    }
  else if (rank->rank == 1)
    EXPECT (rank, reduce_some (rank, 8) == QM_STATUS_DEVICE);
  expect_end (rank, "rank 0: the fox came");
}

static void
kill_one (Rank *rank)
{
  EXPECT (rank, reduce_some (rank, 8) == QM_OK);
  if (rank->rank == 1)
    {
      pause_for (0.2);
      kill (getpid (), SIGKILL);
    }
  if (rank->rank == 0)
    EXPECT (rank, reduce_some (rank, 8) == QM_STATUS_DEVICE);
  expect_end (rank, "the process of rank 1 is gone");
}

static void
leave_one (Rank *rank)
{
  EXPECT (rank, reduce_some (rank, 8) == QM_OK);
  if (rank->rank == 1)
    return;
  EXPECT (rank, reduce_some (rank, 8) == QM_STATUS_DEVICE);
  expect_end (rank, "the process of rank 1 has ended before the others");
}

/* What it says is heard, however late it is told: as late as that, a busy
 * machine may listen. */
static void
say_late (Rank *rank)
{
  EXPECT (rank, reduce_some (rank, 8) == QM_OK);
  if (rank->rank == 1)
    {
      shutdown (rank->world->peers[0].data[QM_CHANNEL_STREAM], SHUT_RDWR);
      pause_for (1);
      qm_world_abort (rank->world, 1, "rank 1: the fox came late");
    }
  else
    EXPECT (rank, reduce_some (rank, 8) == QM_STATUS_DEVICE);
  expect_end (rank, "rank 1: the fox came late");
}

static void
stay_away (Rank *rank)
{
  if (rank->rank == 2)
    expect_end (rank, "rank 2 did not come");
  else
    EXPECT (rank, reduce_some (rank, 8) == QM_STATUS_DEVICE);
}

static void
differ (Rank *rank)
{
  /* The others may be about to hear that all have come. */
  pause_for (0.2);
  EXPECT (rank,
          reduce_some (rank, rank->rank == 1 ? 7 : 8) == QM_STATUS_DEVICE);
  expect_end (rank, "elements of 4 bytes");
}

static void
send_nonsense (Rank *rank)
{
  char nonsense[1000];

  memset (nonsense, 0x55, sizeof nonsense);
  /* All have to have come so far. */
  pause_for (0.2);
  if (rank->rank == 1)
    EXPECT (rank, write (rank->world->peers[0].data[QM_CHANNEL_STREAM],
                         nonsense, sizeof nonsense)
                      == sizeof nonsense);
  else if (rank->rank == 0)
    EXPECT (rank, reduce_some (rank, 8) == QM_STATUS_DEVICE);
  expect_end (rank, "the process of rank 1 sends what is not expected");
}

static void
control_nonsense (Rank *rank)
{
  char nonsense[1000];

  memset (nonsense, 0x55, sizeof nonsense);
  /* All have to have come so far. */
  pause_for (0.2);
  if (rank->rank == 1)
    EXPECT (rank,
            write (rank->world->peers[0].control, nonsense, sizeof nonsense)
                == sizeof nonsense);
  expect_end (rank, "the process of rank 1 is gone");
}

static void
test_ends (void)
{
  static const struct
  {
    RankBody body;
    int killed;
  } cases[] = {
    { abort_one, 0 },     { kill_one, 2 },         { leave_one, 0 },
    { say_late, 0 },      { stay_away, 0 },        { differ, 0 },
    { send_nonsense, 0 }, { control_nonsense, 0 },
  };

  check_case ("ends");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      bool two = cases[i].body == leave_one || cases[i].body == say_late;
      Processes processes = some_processes (two ? 2 : 3, cases[i].body);

      processes.killed = cases[i].killed;
      if (cases[i].body == stay_away)
        processes.patience = 1;
      start_all (&processes);
      wait_for_all (&processes);
    }
}

static void
nothing (Rank *rank)
{
  double one = 1;

  EXPECT (rank, qm_communicator_agree (rank->communicator, QM_AGREE_SUM, &one,
                                       1, NULL)
                    == QM_OK);
}

/* Processes that do not come. */
static void
test_missing (void)
{
  Processes processes = some_processes (3, nothing);
  double from = now ();

  check_case ("missing");
  processes.patience = 1;
  for (int i = 0; i < 3; i++)
    processes.expected[i] = QM_STATUS_GONE;
  processes.sentence = "rank 2 did not come within";
  start (&processes, 0);
  /* Its own patience shall not end first. */
  processes.patience = 5;
  start (&processes, 1);
  wait_for (&processes, 0);
  wait_for (&processes, 1);
  processes.patience = 1;
  processes.sentence = "rank 0 did not come";
  start (&processes, 1);
  wait_for (&processes, 1);
  CHECK (now () - from < 5);
}

/* Processes that do not fit each other. */
static void
test_misfits (void)
{
  Processes processes = some_processes (2, nothing), other;

  check_case ("misfits");
  for (int i = 0; i < 2; i++)
    processes.expected[i] = QM_STATUS_INVALID;
  processes.sentence = "that knows 3 ranks, where the others know 2";
  other = processes;
  other.n = 3;
  other.local[2] = 1;
  start (&processes, 0);
  start (&other, 1);
  wait_for (&processes, 0);
  wait_for (&other, 1);

  processes = some_processes (3, nothing);
  for (int i = 0; i < 3; i++)
    processes.expected[i] = QM_STATUS_INVALID;
  processes.sentence = "two processes have come with rank 1";
  other = processes;
  start (&processes, 0);
  start (&processes, 1);
  start (&other, 1);
  wait_for (&processes, 0);
  wait_for (&processes, 1);
  wait_for (&other, 1);
}

typedef struct Bytes
{
  char data[600];
  size_t n;
} Bytes;

static void
add_bytes (Bytes *bytes, const void *data, size_t n)
{
  memcpy (bytes->data + bytes->n, data, n);
  bytes->n += n;
}

static void
add_head (Bytes *bytes, QmFrameKind kind, uint32_t length)
{
  QmFrameHead head = qm_frame_head (kind, length);

  add_bytes (bytes, &head, sizeof head);
}

static void
add_numbers (Bytes *bytes, const uint32_t *numbers, size_t n)
{
  add_bytes (bytes, numbers, n * sizeof *numbers);
}

#define NUMBERS(bytes, ...)                              \
  add_numbers (bytes, (const uint32_t[]){ __VA_ARGS__ }, \
               sizeof ((const uint32_t[]){ __VA_ARGS__ }) / 4)

enum
{
  STRANGERS = 7
};

/* What somebody might say who is no rank; those that are hung up on. */
static Bytes
stranger (int which)
{
  Bytes bytes = { .n = 0 };

  switch (which)
    {
    case 0: /* silence */
      break;
    case 1:
      for (int i = 0; i < 500; i++)
        bytes.data[i] = (char) (i * 37 + 11);
      bytes.n = 500;
      break;
    case 2:
      bytes.n = (size_t) snprintf (bytes.data, sizeof bytes.data,
                                   "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      break;
    case 3: /* truncated */
      add_head (&bytes, QM_FRAME_HELLO, 16 + sizeof (QmWorldPass));
      NUMBERS (&bytes, 2, 1);
      break;
    case 4: /* oversize */
      add_head (&bytes, QM_FRAME_HELLO, UINT32_MAX);
      break;
    case 5: /* out of turn */
      add_head (&bytes, QM_FRAME_LINK, 16);
      NUMBERS (&bytes, 2, 1, 1, 0);
      break;
    default: /* no port */
      add_head (&bytes, QM_FRAME_HELLO, 16 + sizeof (QmWorldPass));
      NUMBERS (&bytes, 2, 1, 1, 0);
      break;
    }
  return bytes;
}

/* The others come all the same, although some stay on the line. */
static void
test_strangers (void)
{
  Processes processes = some_processes (2, nothing);
  int fds[STRANGERS];

  check_case ("strangers");
  start (&processes, 0);
  for (int i = 0; i < STRANGERS; i++)
    {
      Bytes bytes = stranger (i);

      fds[i] = call_port (processes.port);
      if (bytes.n > 0)
        CHECK (send (fds[i], bytes.data, bytes.n, MSG_NOSIGNAL)
               == (ssize_t) bytes.n);
      if (i == 3)
        shutdown (fds[i], SHUT_WR);
    }
  start (&processes, 1);
  wait_for_all (&processes);
  for (int i = 0; i < STRANGERS; i++)
    close (fds[i]);
}

/* One of ours with counts that cannot be ends it, with a sentence for both. */
static void
test_wrong_counts (void)
{
  static const struct
  {
    uint32_t version, counts[4];
    const char *sentence;
  } cases[] = {
    { QM_FRAME_VERSION, { 2, 2, 1, 9 }, "1 ranks from rank 2, of 2" },
    { QM_FRAME_VERSION, { 2, 1, 0, 9 }, "0 ranks from rank 1" },
    { QM_FRAME_VERSION, { 2, 1, UINT32_MAX, 9 }, "4294967295 ranks" },
    { QM_FRAME_VERSION, { 2, UINT32_MAX, 2, 9 }, "from rank 4294967295" },
    { QM_FRAME_VERSION, { 2, 0, 2, 9 }, "two processes have come" },
    { QM_FRAME_VERSION, { UINT32_MAX, 1, 1, 9 }, "4294967295 ranks" },
    { QM_FRAME_VERSION + 1, { 2, 1, 1, 9 }, "another version" },
  };

  check_case ("wrong counts");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
      Processes processes = some_processes (2, nothing);
      const QmWorldPass pass = { .version = "" };
      QmFrameHead head = qm_frame_head (QM_FRAME_HELLO, 16 + sizeof pass);
      Bytes bytes = { .n = 0 };
      char answer[600] = "";
      ssize_t got;
      int fd;

      head.version = cases[i].version;
      processes.expected[0] = QM_STATUS_INVALID;
      processes.sentence = cases[i].sentence;
      start (&processes, 0);
      fd = call_port (processes.port);
      add_bytes (&bytes, &head, sizeof head);
      add_numbers (&bytes, cases[i].counts, 4);
      add_bytes (&bytes, &pass, sizeof pass);
      CHECK (send (fd, bytes.data, bytes.n, MSG_NOSIGNAL) == (ssize_t) bytes.n);
      got = recv (fd, answer, sizeof answer - 1, MSG_WAITALL);
      CHECK (got > 28);
      CHECK_CONTAINS (answer + 28, cases[i].sentence);
      wait_for (&processes, 0);
      close (fd);
    }
}

enum
{
  IMPOSTORS = 9
};

/* What somebody might answer who is not rank 0. */
static Bytes
impostor (int which)
{
  const char zeros[64] = { 0 };
  Bytes bytes = { .n = 0 };

  switch (which)
    {
    case 0: /* silence */
    case 1: /* hangs up */
      break;
    case 2:
      memset (bytes.data, 0x7f, 100);
      bytes.n = 100;
      break;
    case 3: /* oversize */
      add_head (&bytes, QM_FRAME_WELCOME, UINT32_MAX);
      break;
    case 4: /* more seats than there are bytes */
      add_head (&bytes, QM_FRAME_WELCOME, 16);
      NUMBERS (&bytes, 1, 2, UINT32_MAX, 0);
      break;
    case 5: /* no seats */
      add_head (&bytes, QM_FRAME_WELCOME, 16);
      NUMBERS (&bytes, 1, 2, 0, 0);
      break;
    case 6: /* two on one seat, and another's address */
      add_head (&bytes, QM_FRAME_WELCOME, 16 + 2 * 36);
      NUMBERS (&bytes, 1, 2, 2, 0, 1, 1);
      add_bytes (&bytes, zeros, 28);
      NUMBERS (&bytes, 1, 1);
      add_bytes (&bytes, zeros, 28);
      break;
    case 7: /* ranks that there are not */
      add_head (&bytes, QM_FRAME_WELCOME, 16 + 36);
      NUMBERS (&bytes, 1, 2, 1, 0, UINT32_MAX, 2);
      add_bytes (&bytes, zeros, 28);
      break;
    default: /* a sentence without an end */
      add_head (&bytes, QM_FRAME_REFUSE, 4 + QM_WORLD_WHY);
      NUMBERS (&bytes, 12345);
      memset (bytes.data + bytes.n, 'a', QM_WORLD_WHY);
      bytes.n += QM_WORLD_WHY;
      break;
    }
  return bytes;
}

static void
test_impostors (void)
{
  check_case ("impostors");
  for (int i = 0; i < IMPOSTORS; i++)
    {
      Processes processes = some_processes (2, nothing);
      Bytes bytes = impostor (i);
      double from = now ();
      int listener = listen_somewhere (&processes.port);
      int fd;

      processes.patience = i == 0 ? 0.3 : 5;
      processes.expected[1] =
          i >= 5 && i <= 7 ? QM_STATUS_INVALID : QM_STATUS_GONE;
      start (&processes, 1);
      fd = accept (listener, NULL, NULL);
      if (bytes.n > 0)
        CHECK (send (fd, bytes.data, bytes.n, MSG_NOSIGNAL)
               == (ssize_t) bytes.n);
      if (i == 1)
        close (fd);
      wait_for (&processes, 1);
      CHECK (now () - from < 3);
      if (i != 1)
        close (fd);
      close (listener);
    }
}

int
main (void)
{
  test_layouts ();
  test_ends ();
  test_missing ();
  test_misfits ();
  test_strangers ();
  test_wrong_counts ();
  test_impostors ();
  return check_report ();
}
