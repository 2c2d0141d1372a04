/* SPDX-License-Identifier: Apache-2.0 */

/* Another program that answers in lines.  What it says is hostile until it is
 * read: lines have a greatest length, silence an end, and the program and all
 * that it started are gone when it is closed. */

#ifndef QM_APP_QM_BENCH_CHILD_H
#define QM_APP_QM_BENCH_CHILD_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* No line is longer, in bytes. */
#define QM_CHILD_MAX_LINE 65536

/* How much is kept of what it said on its standard error. */
#define QM_CHILD_WORDS 2048

typedef struct QmBenchChild
{
  const char *name; /* of the program, for messages */
  pid_t pid;        /* leads a group of its own; 0: none */
  int in, out, err; /* ours; -1: closed */
  size_t start, used;
  char buffer[QM_CHILD_MAX_LINE + 1];
  char words[QM_CHILD_WORDS]; /* the last ones; not terminated */
  size_t n_words;
  void (*glance) (void *data); /* called about ten times a second while a line
                                  is waited for; NULL: nothing is */
  void *data;
} QmBenchChild;

/* Starts a program; without a slash in its name it is looked for in PATH.
 * `arguments` end with NULL and begin with the name, which has to stay where it
 * is.  QM_STATUS_IO where it cannot be started. */
QmStatus qm_bench_child_start (QmBenchChild *child,
                               const char *const *arguments,
                               QmError *error);

/* Sends it text, at most 64 KiB; its standard input stays open.  Nothing is
 * said where it reads no more: it will have ended. */
void qm_bench_child_send (QmBenchChild *child, const char *text);

/* The next line, without its end, until the next call; NULL where it says
 * nothing more.  QM_STATUS_INTERRUPTED where the user asked to stop,
 * QM_STATUS_IO where no line came for `patience` seconds, QM_STATUS_INVALID for
 * a line that is too long or no text. */
QmStatus qm_bench_child_line (QmBenchChild *child,
                              int patience,
                              const char **line,
                              QmError *error);

/* Ends it and all that it started, politely where it was interrupted, and waits
 * for it. Writes how it ended, a part of a sentence, where `how` is not NULL,
 * which is only what it did itself where it had closed its standard output. */
void qm_bench_child_close (QmBenchChild *child,
                           bool interrupted,
                           char *how,
                           size_t size);

/* Prints the last words of its standard error to ours, without control
 * characters. */
void qm_bench_child_print_words (const QmBenchChild *child);

#endif
