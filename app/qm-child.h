/* SPDX-License-Identifier: Apache-2.0 */

/* Other processes that work for this one, one or several at once.
 *
 * What they say is hostile until it is read: lines have a greatest length,
 * silence has an end, and so has the time that one takes to end.  Each leads a
 * process group of its own, so that the terminal's interrupt reaches this
 * process alone and all that a child started goes with it; and each is killed
 * where the thread that started it ends, however that comes about.  (The kernel
 * does that for the child, not for what it started in its turn.)
 *
 * Neither signals nor their handlers are touched here; a parent in which
 * SIGCHLD is ignored does not learn how its children ended. */

#ifndef QM_APP_QM_CHILD_H
#define QM_APP_QM_CHILD_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct QmChild QmChild;

/* Which of a child's standard streams lead to this process; the others are its
 * own. */
enum
{
  QM_CHILD_IN = 1,
  QM_CHILD_OUT = 2,
  QM_CHILD_ERR = 4
};

/* How much is kept of what a child says on its standard error, in bytes. */
#define QM_CHILD_WORDS 2048

/* What to start: either a program or a function. */
typedef struct QmChildStart
{
  const char *program;          /* without a slash it is looked for in PATH */
  const char *const *arguments; /* its name first, NULL last */

  /* Runs in a copy of this process, which ends with the status that comes back.
   * Signals are handled there as here, and what leads to other children is open
   * there too: they do not see the end of their input before it is gone. */
  int (*run) (void *data);
  void *data;

  unsigned pipes;
  size_t longest; /* bytes of a line; 0: there are no lines, but bytes */

  /* Where the kernel counts whom it killed for memory, which has to stay where
   * it is; NULL: /proc/vmstat. */
  const char *counters;
} QmChildStart;

/* Starts a child; what `start` points at may go afterwards.  *child is the
 * caller's, to be freed with qm_child_free(), and NULL after an error:
 * QM_STATUS_IO where there is no process to be had or no such program, in a
 * sentence that goes behind its name; QM_STATUS_NO_MEMORY. */
QmStatus
qm_child_start (const QmChildStart *start, QmChild **child, QmError *error);

/* Sends bytes to its standard input, and counts its silence from now on.  False
 * where it does not take them within some seconds or takes no more, which shows
 * in what is heard next. */
bool qm_child_send (QmChild *child, const char *bytes, size_t length);

/* Counts its silence from now on: what it said means that it gets on.  Only the
 * caller knows what does; nothing that it says does by itself. */
void qm_child_got_on (QmChild *child);

/* Seconds that it has been silent for, in that sense. */
double qm_child_silence (const QmChild *child);

/* What to wait for. */
typedef struct QmChildWait
{
  double patience;             /* seconds of silence; 0: without end */
  bool (*stop) (void *data);   /* whether to wait no longer; NULL: never */
  void (*glance) (void *data); /* called ten times a second or oftener; or
                                  NULL */
  void *data;
} QmChildWait;

typedef enum QmChildNewsKind
{
  QM_CHILD_SAID,     /* a line, or bytes */
  QM_CHILD_NO_TEXT,  /* a line, but it is no UTF-8, or has control characters */
  QM_CHILD_TOO_LONG, /* more bytes than a line may have; nothing is heard of it
                        any more */
  QM_CHILD_ENDED,    /* it is gone: qm_child_end() */
  QM_CHILD_SILENT,   /* for longer than the patience */
  QM_CHILD_STOPPED,  /* it was time to stop */
  QM_CHILD_NOBODY    /* none of them is there any more */
} QmChildNewsKind;

typedef struct QmChildNews
{
  QmChildNewsKind kind;
  size_t child;     /* the place of the one that it is about; else 0 */
  const char *text; /* without the line feed, terminated; until the next call */
  size_t length;
} QmChildNews;

/* Waits for the next that is to be said of so many children; NULL is allowed
 * among them.  Where several have something to say, the one comes first that
 * was not heard for longest.  A line is heard when it has its end.  An end
 * comes last of what is heard of a child, and once: what it started is killed
 * by then.  One that closed its standard output has two seconds to end by
 * itself. */
QmChildNews
qm_children_hear (QmChild *const *children, size_t n, const QmChildWait *wait);

/* Sends a signal to it and what it started, while it is there. */
void qm_child_signal (QmChild *child, int number);

/* How to end children. */
typedef struct QmChildMercy
{
  int signal;     /* to ask them with; 0: they know by the end of their input */
  double seconds; /* to end in by themselves, all together */
  bool (*stop) (void *data); /* whether to wait no longer; NULL: never */
  void *data;
} QmChildMercy;

/* Ends so many children and all that they started; NULL is allowed among them.
 * Their input ends and they get the signal, what they still say is dropped, and
 * those that are there after that time are killed.  Takes, besides that time,
 * no more than five seconds: one that the kernel cannot end by then is left to
 * itself. */
void
qm_children_end (QmChild *const *children, size_t n, const QmChildMercy *mercy);

typedef enum QmChildEndKind
{
  QM_CHILD_NO_END, /* it is there */
  QM_CHILD_EXIT,   /* the number is its exit status; -1: not known */
  QM_CHILD_SIGNAL, /* that of the signal */
  QM_CHILD_STUCK   /* it was killed and is there all the same */
} QmChildEndKind;

typedef struct QmChildEnd
{
  QmChildEndKind kind;
  int number;
  bool out_of_memory; /* the kernel killed it, most likely, to get memory */
} QmChildEnd;

QmChildEnd qm_child_end (const QmChild *child);

/* Writes how it ended, a part of a sentence: "ended with status 1". */
void qm_child_describe_end (QmChildEnd end, char *text, size_t size);

/* Prints the last words of its standard error, each line behind `mark`, for
 * people to see: as qm_text_escape() has it, and cut. */
void
qm_child_print_words (const QmChild *child, const char *mark, FILE *stream);

/* Kills it where it is there; NULL is allowed. */
void qm_child_free (QmChild *child);

#endif
