/* SPDX-License-Identifier: Apache-2.0 */

/* Children that do what they should not, one and several at once.  The program
 * plays them itself: with a name behind it, it is that child. */

#include "app/qm-child.h"
#include "tests/data/check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now (void)
{
  struct timespec time = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static void
pause_for (double seconds)
{
  struct timespec time = {
    (time_t) seconds, (long) ((seconds - (double) (time_t) seconds) * 1e9)
  };

  nanosleep (&time, NULL);
}

/* --- what children do --- */

static _Noreturn void
wait_for_signals (void)
{
  for (;;)
    pause ();
}

static int
play_greeting (void)
{
  fputs ("one\ntwo", stdout);
  fflush (stdout);
  pause_for (0.05);
  fputs (" parts\nbroken off", stdout);
  fputs ("a \x1b[2Jword\nthe last\n", stderr);
  return 3;
}

static int
play_echo (void)
{
  char line[4096];

  while (fgets (line, sizeof line, stdin) != NULL)
    {
      fputs (line, stdout);
      fflush (stdout);
    }
  puts ("done");
  return 0;
}

static int
play_hang (void)
{
  puts ("here");
  fflush (stdout);
  wait_for_signals ();
}

static int
play_stubborn (void)
{
  signal (SIGTERM, SIG_IGN);
  signal (SIGINT, SIG_IGN);
  return play_hang ();
}

/* Says its own number, and does not listen to anybody. */
static int
play_number (void)
{
  signal (SIGTERM, SIG_IGN);
  printf ("%ld\n", (long) getpid ());
  fflush (stdout);
  wait_for_signals ();
}

static int
play_flood (void)
{
  for (;;)
    if (puts ("water water water water water water water") < 0)
      return 1;
}

static int
play_endless_line (void)
{
  for (;;)
    if (fputs ("water water water water water water water", stdout) < 0)
      return 1;
}

static int
play_binary (void)
{
  fwrite ("good\n\xff\xfe\nz\0z\nesc\x1b\nlast\n", 1, 22, stdout);
  return 0;
}

static int
play_suicide (void)
{
  puts ("so long");
  fflush (stdout);
  raise (SIGABRT);
  return 0;
}

static int
play_mute (void)
{
  fclose (stdout);
  close (STDOUT_FILENO);
  wait_for_signals ();
}

/* Says the number of a child of its own that has the pipe still. */
static int
start_another (bool stays)
{
  pid_t pid = fork ();

  if (pid == 0)
    {
      signal (SIGTERM, SIG_IGN);
      wait_for_signals ();
    }
  printf ("%ld\n", (long) pid);
  fflush (stdout);
  while (stays)
    pause ();
  return 0;
}

static int
play_parent (void)
{
  return start_another (false);
}

static int
play_staying_parent (void)
{
  return start_another (true);
}

/* Starts a child of this module, says its number, and waits to be killed. */
static int play_supervisor (void);

static const struct
{
  const char *name;
  int (*play) (void);
} parts[] = {
  { "greeting", play_greeting },
  { "echo", play_echo },
  { "hang", play_hang },
  { "stubborn", play_stubborn },
  { "number", play_number },
  { "flood", play_flood },
  { "endless-line", play_endless_line },
  { "binary", play_binary },
  { "suicide", play_suicide },
  { "mute", play_mute },
  { "parent", play_parent },
  { "staying-parent", play_staying_parent },
  { "supervisor", play_supervisor },
};

/* --- what is done with them --- */

#define ALL (QM_CHILD_IN | QM_CHILD_OUT | QM_CHILD_ERR)

static QmChild *
start_part (const char *part)
{
  const char *const arguments[] = { "test-child", part, NULL };
  const QmChildStart start = { .program = "/proc/self/exe",
                               .arguments = arguments,
                               .pipes = ALL,
                               .longest = 1000 };
  QmChild *child = NULL;
  QmError error = { 0 };

  check_case (part);
  CHECK_INT (qm_child_start (&start, &child, &error), QM_OK);
  return child;
}

static QmChildNews
hear (QmChild *child)
{
  return qm_children_hear (&child, 1, &(QmChildWait){ .patience = 20 });
}

/* The next is that line. */
static void
expect_line (QmChild *child, const char *wanted)
{
  QmChildNews news = hear (child);

  CHECK_INT (news.kind, QM_CHILD_SAID);
  CHECK_STRING (news.kind == QM_CHILD_SAID ? news.text : "", wanted);
  if (news.kind == QM_CHILD_SAID)
    CHECK_INT ((int64_t) news.length, (int64_t) strlen (wanted));
}

static void
end (QmChild *child, int signal, double seconds)
{
  qm_children_end (&child, 1, &(QmChildMercy){ signal, seconds, NULL, NULL });
}

static void
expect_end (QmChild *child, QmChildEndKind kind, int number)
{
  CHECK_INT (qm_child_end (child).kind, kind);
  CHECK_INT (qm_child_end (child).number, number);
  CHECK (!qm_child_end (child).out_of_memory);
}

/* Whether a process ends within some seconds; one that nobody waited for yet
 * has. */
static bool
goes (long pid)
{
  double begin = now ();

  while (now () - begin < 10)
    {
      char path[64], text[512] = "";
      const char *state;
      FILE *file;

      snprintf (path, sizeof path, "/proc/%ld/stat", pid);
      file = fopen (path, "r");
      if (file == NULL)
        return true;
      if (fgets (text, sizeof text, file) == NULL)
        text[0] = '\0';
      fclose (file);
      state = strrchr (text, ')');
      if (state == NULL || state[1] == '\0' || state[2] == 'Z')
        return true;
      pause_for (0.02);
    }
  return false;
}

static long
hear_number (QmChild *child)
{
  QmChildNews news = hear (child);

  CHECK_INT (news.kind, QM_CHILD_SAID);
  return news.kind == QM_CHILD_SAID ? strtol (news.text, NULL, 10) : 0;
}

static int
play_supervisor (void)
{
  printf ("%ld\n", hear_number (start_part ("number")));
  fflush (stdout);
  wait_for_signals ();
}

static void
test_exit (void)
{
  QmChild *child = start_part ("greeting");
  char how[64], *words = NULL;
  size_t size = 0;
  FILE *stream;

  expect_line (child, "one");
  expect_line (child, "two parts");
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  expect_end (child, QM_CHILD_EXIT, 3);
  qm_child_describe_end (qm_child_end (child), how, sizeof how);
  CHECK_STRING (how, "ended with status 3");
  CHECK_INT (hear (child).kind, QM_CHILD_NOBODY);
  stream = open_memstream (&words, &size);
  qm_child_print_words (child, "> ", stream);
  fclose (stream);
  CHECK_STRING (words, "> a \\x1b[2Jword\n> the last\n");
  free (words);
  CHECK (!qm_child_send (child, "x", 1));
  qm_child_free (child);
}

static void
test_signal (void)
{
  QmChild *child = start_part ("suicide");
  char how[64];

  expect_line (child, "so long");
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  expect_end (child, QM_CHILD_SIGNAL, SIGABRT);
  qm_child_describe_end (qm_child_end (child), how, sizeof how);
  CHECK_CONTAINS (how, "was ended by signal 6 (");
  qm_child_free (child);
}

static void
test_conversation (void)
{
  QmChild *child = start_part ("echo");

  CHECK (qm_child_send (child, "hello\nworld\n", 12));
  expect_line (child, "hello");
  expect_line (child, "world");
  /* The end of its input is enough. */
  end (child, 0, 10);
  expect_end (child, QM_CHILD_EXIT, 0);
  CHECK (!qm_child_send (child, "x", 1));
  qm_child_free (child);
}

/* One that does not read is no reason to be killed by SIGPIPE, or to wait. */
static void
test_nobody_reads (void)
{
  QmChild *child = start_part ("suicide");
  double begin = now ();

  pause_for (0.3);
  CHECK (!qm_child_send (child, "x\n", 2));
  CHECK (now () - begin < 5);
  expect_line (child, "so long");
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  qm_child_free (child);
}

static void
test_no_program (void)
{
  const char *const arguments[] = { "no-such-program-anywhere", NULL };
  const QmChildStart start = {
    .program = arguments[0], .arguments = arguments, .pipes = ALL, .longest = 10
  };
  QmChild *child;
  QmError error = { 0 };

  check_case ("no program");
  CHECK_INT (qm_child_start (&start, &child, &error), QM_STATUS_IO);
  CHECK (child == NULL);
  CHECK_STRING (error.message, "cannot be started: No such file or directory");
}

static bool
stop_now (void *data)
{
  return true;
}

static void
count (void *data)
{
  ++*(int *) data;
}

static void
test_silence (void)
{
  QmChild *child = start_part ("hang");
  int glances = 0;
  QmChildWait wait = { .patience = 0.5, .glance = count, .data = &glances };
  double begin;
  QmChildNews news;

  expect_line (child, "here");
  qm_child_got_on (child);
  begin = now ();
  news = qm_children_hear (&child, 1, &wait);
  CHECK_INT (news.kind, QM_CHILD_SILENT);
  CHECK (now () - begin >= 0.5 && now () - begin < 5);
  CHECK (glances >= 3);
  CHECK (qm_child_silence (child) >= 0.5);
  wait.stop = stop_now;
  CHECK_INT (qm_children_hear (&child, 1, &wait).kind, QM_CHILD_STOPPED);
  CHECK_INT (qm_child_end (child).kind, QM_CHILD_NO_END);
  end (child, SIGTERM, 10);
  expect_end (child, QM_CHILD_SIGNAL, SIGTERM);
  qm_child_free (child);
}

static void
test_stubborn (void)
{
  QmChild *child = start_part ("stubborn");
  double begin;

  expect_line (child, "here");
  begin = now ();
  end (child, SIGTERM, 0.4);
  CHECK (now () - begin >= 0.4 && now () - begin < 5);
  expect_end (child, QM_CHILD_SIGNAL, SIGKILL);
  qm_child_free (child);
}

/* A flood neither hides that nothing gets on, nor hinders the end. */
static void
test_flood (void)
{
  QmChild *child = start_part ("flood");
  QmChildWait wait = { .patience = 0.5 };
  QmChildNews news;
  int64_t lines = 0;

  do
    {
      news = qm_children_hear (&child, 1, &wait);
      lines++;
    }
  while (news.kind == QM_CHILD_SAID);
  CHECK_INT (news.kind, QM_CHILD_SILENT);
  CHECK (lines > 100);
  end (child, SIGTERM, 10);
  expect_end (child, QM_CHILD_SIGNAL, SIGTERM);
  qm_child_free (child);
}

static void
test_endless_line (void)
{
  QmChild *child = start_part ("endless-line");

  CHECK_INT (hear (child).kind, QM_CHILD_TOO_LONG);
  end (child, SIGTERM, 10);
  expect_end (child, QM_CHILD_SIGNAL, SIGTERM);
  qm_child_free (child);
}

static void
test_longest_line (void)
{
  QmChild *child = start_part ("echo");
  char line[1003];

  memset (line, 'x', sizeof line);
  line[1000] = '\n';
  CHECK (qm_child_send (child, line, 1001));
  CHECK_INT ((int64_t) hear (child).length, 1000);
  line[1000] = 'x';
  line[1001] = '\n';
  CHECK (qm_child_send (child, line, 1002));
  CHECK_INT (hear (child).kind, QM_CHILD_TOO_LONG);
  /* Nothing more is heard but its end. */
  CHECK (qm_child_send (child, "word\n", 5));
  qm_child_signal (child, SIGTERM);
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  qm_child_free (child);
}

static void
test_no_text (void)
{
  QmChild *child = start_part ("binary");

  expect_line (child, "good");
  for (int i = 0; i < 3; i++)
    CHECK_INT (hear (child).kind, QM_CHILD_NO_TEXT);
  expect_line (child, "last");
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  qm_child_free (child);
}

static void
test_closed_output (void)
{
  QmChild *child = start_part ("mute");
  double begin = now ();

  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  CHECK (now () - begin >= 1 && now () - begin < 10);
  expect_end (child, QM_CHILD_SIGNAL, SIGKILL);
  qm_child_free (child);
}

static void
test_grandchildren (void)
{
  QmChild *child = start_part ("parent");
  long other = hear_number (child);
  double begin = now ();

  /* That has the pipe still, and is killed with the one that started it. */
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  CHECK (now () - begin < 5);
  expect_end (child, QM_CHILD_EXIT, 0);
  CHECK (goes (other));
  qm_child_free (child);

  child = start_part ("staying-parent");
  other = hear_number (child);
  end (child, SIGTERM, 10);
  expect_end (child, QM_CHILD_SIGNAL, SIGTERM);
  CHECK (goes (other));
  qm_child_free (child);
}

static int
run_function (void *data)
{
  printf ("%s\nwithout an end", (const char *) data);
  return 5;
}

/* A function, and bytes instead of lines. */
static void
test_function (void)
{
  char text[] = "in another";
  const QmChildStart start = { .run = run_function,
                               .data = text,
                               .pipes = QM_CHILD_OUT };
  QmChild *child;
  QmChildNews news;

  check_case ("function");
  CHECK_INT (qm_child_start (&start, &child, NULL), QM_OK);
  news = hear (child);
  CHECK_INT (news.kind, QM_CHILD_SAID);
  CHECK_STRING (news.text, "in another\nwithout an end");
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  expect_end (child, QM_CHILD_EXIT, 5);
  qm_child_free (child);
}

/* The kernel's counter tells whether it was for memory. */
static void
test_memory (void)
{
  static const char *const after[] = { "oom_kill 8\n", "oom_kill 7\n" };
  const char *const arguments[] = { "test-child", "number", NULL };

  for (int i = 0; i < 2; i++)
    {
      QmChildStart start = { .program = "/proc/self/exe",
                             .arguments = arguments,
                             .pipes = QM_CHILD_OUT,
                             .longest = 100 };
      QmChild *child;
      char how[64], path[512];
      long pid;

      check_case (after[i]);
      scratch_write_text ("vmstat", "nr_free_pages 12\noom_kill 7\n");
      snprintf (path, sizeof path, "%s", scratch_path ("vmstat"));
      start.counters = path;
      CHECK_INT (qm_child_start (&start, &child, NULL), QM_OK);
      pid = hear_number (child);
      scratch_write_text ("vmstat", after[i]);
      /* As the kernel does, and not by the module. */
      CHECK (pid > 1 && kill ((pid_t) pid, SIGKILL) == 0);
      CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
      CHECK_INT (qm_child_end (child).number, SIGKILL);
      CHECK_INT (qm_child_end (child).out_of_memory, i == 0);
      qm_child_describe_end (qm_child_end (child), how, sizeof how);
      CHECK_CONTAINS (how, i == 0 ? "out of memory" : "signal 9");
      qm_child_free (child);
    }
}

/* --- several --- */

#define MANY 40

/* Who talks much does not keep the others from being heard. */
static void
test_fairness (void)
{
  QmChild *children[3] = { start_part ("flood"), NULL, start_part ("echo") };
  QmChildWait wait = { .patience = 20 };
  int heard = 0, of_others = 0;

  CHECK (qm_child_send (children[2], "a\nb\nc\n", 6));
  pause_for (0.5); /* there is something of both */
  while (heard < 3 && of_others < 10000)
    {
      QmChildNews news = qm_children_hear (children, 3, &wait);

      if (news.kind != QM_CHILD_SAID)
        break;
      if (news.child == 2)
        heard++;
      else
        of_others++;
      qm_child_got_on (children[news.child]);
    }
  CHECK_INT (heard, 3);
  CHECK (of_others < 10);
  qm_children_end (children, 3, &(QmChildMercy){ SIGTERM, 5, NULL, NULL });
  for (int i = 0; i < 3; i++)
    qm_child_free (children[i]);
}

/* One of many is killed, and the others, which would not end by themselves, are
 * gone soon after. */
static void
test_one_of_many (void)
{
  QmChild *children[MANY];
  QmChildNews news;
  double begin;

  for (int i = 0; i < MANY; i++)
    children[i] = start_part (i % 2 == 0 ? "stubborn" : "hang");
  for (int i = 0; i < MANY; i++)
    expect_line (children[i], "here");
  begin = now ();
  qm_child_signal (children[MANY - 3], SIGKILL);
  news = qm_children_hear (children, MANY, &(QmChildWait){ .patience = 20 });
  CHECK_INT (news.kind, QM_CHILD_ENDED);
  CHECK_INT ((int64_t) news.child, MANY - 3);
  qm_children_end (children, MANY, &(QmChildMercy){ SIGTERM, 1, NULL, NULL });
  CHECK (now () - begin < 10);
  for (int i = 0; i < MANY; i++)
    {
      CHECK_INT (qm_child_end (children[i]).kind, QM_CHILD_SIGNAL);
      CHECK_INT (qm_child_end (children[i]).number,
                 i % 2 == 0 || i == MANY - 3 ? SIGKILL : SIGTERM);
      qm_child_free (children[i]);
    }
}

/* The one that is silent for longest is the one that is told. */
static void
test_silence_of_several (void)
{
  QmChild *children[2] = { start_part ("hang"), start_part ("hang") };
  QmChildNews news;

  for (int i = 0; i < 2; i++)
    expect_line (children[i], "here");
  pause_for (0.3);
  qm_child_got_on (children[0]);
  news = qm_children_hear (children, 2, &(QmChildWait){ .patience = 0.5 });
  CHECK_INT (news.kind, QM_CHILD_SILENT);
  CHECK_INT ((int64_t) news.child, 1);
  for (int i = 0; i < 2; i++)
    qm_child_free (children[i]);
}

static void
test_parent_killed (void)
{
  QmChild *child = start_part ("supervisor");
  long other = hear_number (child);

  CHECK (other > 0);
  qm_child_signal (child, SIGKILL);
  CHECK_INT (hear (child).kind, QM_CHILD_ENDED);
  CHECK (goes (other));
  qm_child_free (child);
}

int
main (int argc, char **argv)
{
  for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++)
    if (strcmp (argv[1], parts[i].name) == 0)
      return parts[i].play ();
  scratch_begin ();
  test_exit ();
  test_signal ();
  test_conversation ();
  test_nobody_reads ();
  test_no_program ();
  test_silence ();
  test_stubborn ();
  test_flood ();
  test_endless_line ();
  test_longest_line ();
  test_no_text ();
  test_closed_output ();
  test_grandchildren ();
  test_function ();
  test_memory ();
  test_fairness ();
  test_one_of_many ();
  test_silence_of_several ();
  test_parent_killed ();
  scratch_end ();
  return check_report ();
}
