/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-child-private.h"

#include "data/clock.h"
#include "data/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds between two looks at who is there, and at who is going: that an
 * end is near is told by a closed pipe, an end itself by nothing. */
#define TICK       100
#define SHORT_TICK 5

/* Seconds to end in, for one that closed its standard output; to keep a pipe
 * busy for, after the end of the one that was started; to end in when killed;
 * and to take what is sent. */
#define GRACE   2.0
#define LINGER  1.0
#define KILLED  5.0
#define SENDING 10.0

/* --- what it is told --- */

void
qm_child_got_on (QmChild *child)
{
  child->got_on = qm_clock ();
  child->late = false;
}

double
qm_child_silence (const QmChild *child)
{
  return qm_clock () - child->got_on;
}

/* Writes as write() does, but without the signal that nobody listens. */
static ssize_t
write_quietly (int fd, const char *bytes, size_t length)
{
  const struct timespec at_once = { 0 };
  sigset_t broken_pipe, pending, before;
  bool was_pending;
  ssize_t written;
  int problem;

  sigemptyset (&broken_pipe);
  sigaddset (&broken_pipe, SIGPIPE);
  sigpending (&pending);
  was_pending = sigismember (&pending, SIGPIPE) == 1;
  pthread_sigmask (SIG_BLOCK, &broken_pipe, &before);
  written = write (fd, bytes, length);
  problem = errno;
  if (written < 0 && problem == EPIPE && !was_pending)
    while (sigtimedwait (&broken_pipe, NULL, &at_once) < 0 && errno == EINTR)
      continue;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = problem;
  return written;
}

bool
qm_child_send (QmChild *child, const char *bytes, size_t length)
{
  double begin = qm_clock ();

  qm_child_got_on (child);
  while (length > 0 && child->in >= 0)
    {
      ssize_t written = write_quietly (child->in, bytes, length);
      struct pollfd room = { child->in, POLLOUT, 0 };

      if (written > 0)
        {
          bytes += written;
          length -= (size_t) written;
        }
      else if (written < 0 && errno == EAGAIN && qm_clock () - begin < SENDING)
        poll (&room, 1, TICK);
      else if (written == 0 || errno != EINTR)
        return false;
    }
  return length == 0;
}

/* --- what it says --- */

/* Keeps the last words. */
static void
read_words (QmChild *child)
{
  char text[QM_CHILD_WORDS];
  ssize_t n = read (child->err, text, sizeof text);
  size_t length = n > 0 ? (size_t) n : 0, kept;

  if (n < 0 && errno == EINTR)
    return;
  if (n <= 0)
    {
      qm_child_close_end (&child->err);
      return;
    }
  kept = sizeof child->words - length < child->n_words
             ? sizeof child->words - length
             : child->n_words;
  memmove (child->words, child->words + child->n_words - kept, kept);
  memcpy (child->words + kept, text, length);
  child->n_words = kept + length;
}

/* The end of its output. */
static void
close_output (QmChild *child)
{
  qm_child_close_end (&child->out);
  child->closed = qm_clock ();
}

/* Makes room where what was taken is in the way, and reads. */
static void
read_more (QmChild *child)
{
  ssize_t n;

  memmove (child->buffer, child->buffer + child->start,
           child->used - child->start);
  child->used -= child->start;
  child->searched -= child->start;
  child->start = 0;
  n = read (child->out, child->buffer + child->used, child->size - child->used);
  if (n > 0)
    child->used += (size_t) n;
  else if (n == 0 || errno != EINTR)
    close_output (child);
}

/* Bytes of the first line that is there, with its end; 0: none. */
static size_t
find_line (QmChild *child)
{
  const char *from = child->buffer + child->searched;
  const char *end = memchr (from, '\n', child->used - child->searched);

  child->searched = end != NULL ? (size_t) (end - child->buffer) : child->used;
  return end != NULL ? child->searched + 1 - child->start : 0;
}

/* Whether something can be taken without reading more. */
static bool
has_something (QmChild *child)
{
  if (!child->lines)
    return child->used > child->start;
  return find_line (child) > 0 || child->used - child->start == child->size;
}

/* Forgets what was read. */
static void
drop (QmChild *child)
{
  child->dropped = true;
  child->start = child->searched = child->used = 0;
}

/* Whether reading on is of use. */
static bool
wants_more (QmChild *child)
{
  return child->out >= 0 && (child->dropped || !has_something (child));
}

/* Reads what is there of all, waiting so long for it. */
static void
read_what_is_there (QmChild *const *children, size_t n, int milliseconds)
{
  /* In parts, so that any number needs no memory; the first part waits. */
  for (size_t first = 0; first < n; first += 32, milliseconds = 0)
    {
      size_t many = n - first < 32 ? n - first : 32;
      struct pollfd ends[64];

      for (size_t i = 0; i < many; i++)
        {
          QmChild *child = children[first + i];
          bool there = child != NULL && !child->told;

          ends[2 * i] =
              (struct pollfd){ there && wants_more (child) ? child->out : -1,
                               POLLIN, 0 };
          ends[2 * i + 1] =
              (struct pollfd){ there ? child->err : -1, POLLIN, 0 };
        }
      if (poll (ends, 2 * many, milliseconds) <= 0)
        continue;
      for (size_t i = 0; i < many; i++)
        {
          QmChild *child = children[first + i];

          if (ends[2 * i].revents != 0)
            read_more (child);
          if (ends[2 * i].revents != 0 && child->dropped)
            drop (child);
          if (ends[2 * i + 1].revents != 0)
            read_words (child);
        }
    }
}

/* Takes the first line, or all bytes, out of what was read. */
static void
take_news (QmChild *child, QmChildNews *news)
{
  char *begin = child->buffer + child->start;
  size_t length = child->lines ? find_line (child) : child->used - child->start;

  if (length == 0)
    {
      news->kind = QM_CHILD_TOO_LONG;
      drop (child);
      return;
    }
  child->start += length;
  child->searched = child->start;
  news->text = begin;
  news->length = length - (child->lines ? 1 : 0);
  begin[news->length] = '\0';
  if (child->lines
      && (strlen (begin) != news->length
          || qm_text_check (begin, news->length, "", NULL) != QM_OK))
    news->kind = QM_CHILD_NO_TEXT;
  else
    news->kind = QM_CHILD_SAID;
}

/* --- its end --- */

/* Kills it and what it started.  Its number is its own until it was waited
 * for. */
static void
kill_all (QmChild *child)
{
  child->we_killed = true;
  kill (-child->pid, SIGKILL);
}

void
qm_child_signal (QmChild *child, int number)
{
  if (child->pid == 0 || child->gone > 0)
    return;
  if (number == SIGKILL)
    kill_all (child);
  else
    kill (-child->pid, number);
}

/* Takes down how it ended, and that nothing more is heard of it. */
static void
bury (QmChild *child)
{
  int status = 0;
  pid_t pid;

  do
    pid = waitpid (child->pid, &status, 0);
  while (pid < 0 && errno == EINTR);
  if (pid < 0)
    child->end = (QmChildEnd){ QM_CHILD_EXIT, -1, false };
  else if (!WIFSIGNALED (status))
    child->end = (QmChildEnd){ QM_CHILD_EXIT, WEXITSTATUS (status), false };
  else
    child->end = (QmChildEnd){
      .kind = QM_CHILD_SIGNAL,
      .number = WTERMSIG (status),
      .out_of_memory = WTERMSIG (status) == SIGKILL && !child->we_killed
                       && child->memory_kills >= 0
                       && qm_child_count_memory_kills (child->counters)
                              > child->memory_kills,
    };
  child->pid = 0;
  child->told = true;
  qm_child_close_end (&child->in);
  qm_child_close_end (&child->out);
  qm_child_close_end (&child->err);
}

static bool
is_gone (const QmChild *child)
{
  siginfo_t info = { 0 };

  return waitid (P_PID, (id_t) child->pid, &info, WEXITED | WNOHANG | WNOWAIT)
             != 0
         || info.si_pid != 0;
}

static bool
has_more_to_read (const QmChild *child)
{
  struct pollfd ends[2] = { { child->out, POLLIN, 0 },
                            { child->err, POLLIN, 0 } };

  return poll (ends, 2, 0) > 0;
}

/* Looks whether it is there; true, once, where it is not any more and all that
 * it said was read.  What it started may have its pipes still. */
static bool
look_after (QmChild *child)
{
  double time = qm_clock ();

  if (child->gone == 0 && is_gone (child))
    {
      bool we_killed = child->we_killed;

      child->gone = time;
      kill_all (child);
      child->we_killed = we_killed;
    }
  if (child->gone == 0)
    {
      if (child->closed > 0 && time - child->closed > GRACE)
        kill_all (child);
      return false;
    }
  return !has_more_to_read (child) || time - child->gone > LINGER;
}

/* --- all of them --- */

/* The one with something to say that was not heard for longest; `n`: none. */
static size_t
whose_turn (QmChild *const *children, size_t n, uint64_t *turn)
{
  size_t best = n;

  *turn = 0;
  for (size_t i = 0; i < n; i++)
    if (children[i] != NULL)
      {
        if (children[i]->turn > *turn)
          *turn = children[i]->turn;
        if (!children[i]->told && !children[i]->dropped
            && has_something (children[i])
            && (best == n || children[i]->turn < children[best]->turn))
          best = i;
      }
  return best;
}

/* What there is to tell without waiting. */
static bool
find_news (QmChild *const *children, size_t n, QmChildNews *news)
{
  uint64_t turn;
  size_t i = whose_turn (children, n, &turn);

  if (i < n)
    {
      children[i]->turn = turn + 1;
      news->child = i;
      take_news (children[i], news);
      return true;
    }
  for (i = 0; i < n; i++)
    if (children[i] != NULL && !children[i]->told && look_after (children[i]))
      {
        bury (children[i]);
        news->child = i;
        news->kind = QM_CHILD_ENDED;
        return true;
      }
  return false;
}

/* Milliseconds until somebody is looked after again; 0: nobody is there. */
static int
next_tick (QmChild *const *children, size_t n)
{
  int tick = 0;

  for (size_t i = 0; i < n; i++)
    if (children[i] != NULL && !children[i]->told)
      {
        if (children[i]->closed > 0 || children[i]->gone > 0)
          return SHORT_TICK;
        tick = TICK;
      }
  return tick;
}

/* Finds the one that is silent for longest, where that is too long. */
static bool
find_silence (QmChild *const *children,
              size_t n,
              double patience,
              QmChildNews *news)
{
  size_t worst = n;

  for (size_t i = 0; i < n && patience > 0; i++)
    if (children[i] != NULL && !children[i]->told
        && qm_child_silence (children[i]) > patience
        && (worst == n || children[i]->got_on < children[worst]->got_on))
      worst = i;
  if (worst == n)
    return false;
  news->child = worst;
  news->kind = QM_CHILD_SILENT;
  return true;
}

/* Whether it says much and gets on with nothing: what was said before this
 * process had time to listen still counts, but only once. */
static bool
only_talks (QmChild *child, double patience)
{
  bool late = patience > 0 && qm_child_silence (child) > patience;
  bool again = late && child->late;

  child->late = late;
  return again;
}

QmChildNews
qm_children_hear (QmChild *const *children, size_t n, const QmChildWait *wait)
{
  QmChildNews news = { QM_CHILD_NOBODY, 0, NULL, 0 };
  int tick = 0;

  for (;; tick = next_tick (children, n))
    {
      if (wait->stop != NULL && wait->stop (wait->data))
        {
          news.kind = QM_CHILD_STOPPED;
          return news;
        }
      if (wait->glance != NULL)
        wait->glance (wait->data);
      read_what_is_there (children, n, tick);
      if (find_news (children, n, &news))
        {
          if (news.kind != QM_CHILD_ENDED
              && only_talks (children[news.child], wait->patience))
            news.kind = QM_CHILD_SILENT;
          return news;
        }
      if (next_tick (children, n) == 0
          || find_silence (children, n, wait->patience, &news))
        return news;
    }
}

/* Waits for the ends of all; false where some are there after so long. */
static bool
await_ends (QmChild *const *children,
            size_t n,
            double seconds,
            const QmChildMercy *mercy)
{
  double begin = qm_clock ();

  for (;;)
    {
      bool left = false;

      read_what_is_there (children, n, 0);
      for (size_t i = 0; i < n; i++)
        if (children[i] != NULL && !children[i]->told)
          {
            /* Nobody wants to hear it. */
            drop (children[i]);
            if (look_after (children[i]))
              bury (children[i]);
            else
              left = true;
          }
      if (!left)
        return true;
      if (qm_clock () - begin > seconds
          || (mercy != NULL && mercy->stop != NULL
              && mercy->stop (mercy->data)))
        return false;
      read_what_is_there (children, n, SHORT_TICK);
    }
}

void
qm_children_end (QmChild *const *children, size_t n, const QmChildMercy *mercy)
{
  for (size_t i = 0; i < n; i++)
    if (children[i] != NULL && !children[i]->told)
      {
        qm_child_close_end (&children[i]->in);
        if (mercy->signal != 0)
          qm_child_signal (children[i], mercy->signal);
      }
  if (await_ends (children, n, mercy->seconds, mercy))
    return;
  for (size_t i = 0; i < n; i++)
    if (children[i] != NULL && !children[i]->told)
      qm_child_signal (children[i], SIGKILL);
  if (await_ends (children, n, KILLED, NULL))
    return;
  for (size_t i = 0; i < n; i++)
    if (children[i] != NULL && !children[i]->told)
      {
        children[i]->told = true;
        children[i]->end.kind = QM_CHILD_STUCK;
      }
}

QmChildEnd
qm_child_end (const QmChild *child)
{
  return child->end;
}

void
qm_child_describe_end (QmChildEnd end, char *text, size_t size)
{
  switch (end.kind)
    {
    case QM_CHILD_NO_END:
      snprintf (text, size, "is there");
      return;
    case QM_CHILD_STUCK:
      snprintf (text, size, "cannot be ended");
      return;
    case QM_CHILD_SIGNAL:
      if (end.out_of_memory)
        snprintf (text, size,
                  "was ended by the system, which was out of memory");
      else
        snprintf (text, size, "was ended by signal %d (%s)", end.number,
                  strsignal (end.number));
      return;
    case QM_CHILD_EXIT:
      if (end.number < 0)
        snprintf (text, size, "ended");
      else
        snprintf (text, size, "ended with status %d", end.number);
      return;
    }
}

void
qm_child_print_words (const QmChild *child, const char *mark, FILE *stream)
{
  const char *end = child->words + child->n_words;

  for (const char *line = child->words; line < end;)
    {
      const char *feed = memchr (line, '\n', (size_t) (end - line));
      size_t length = (size_t) ((feed != NULL ? feed : end) - line);
      char one[512], safe[512];

      if (length > sizeof one - 1)
        length = sizeof one - 1;
      for (size_t i = 0; i < length; i++)
        one[i] = line[i] == '\t' || line[i] == '\0' ? ' ' : line[i];
      one[length] = '\0';
      fprintf (stream, "%s%s\n", mark, qm_text_escape (one, safe, sizeof safe));
      line = feed != NULL ? feed + 1 : end;
    }
}

void
qm_child_free (QmChild *child)
{
  const QmChildMercy none = { 0, 0, NULL, NULL };

  if (child == NULL)
    return;
  if (child->pid != 0)
    qm_children_end (&child, 1, &none);
  qm_child_close_end (&child->in);
  qm_child_close_end (&child->out);
  qm_child_close_end (&child->err);
  free (child->buffer);
  free (child);
}
