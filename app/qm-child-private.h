/* SPDX-License-Identifier: Apache-2.0 */

/* A child from the inside: between qm-child-start.c, which starts it, and
 * qm-child.c, which hears and ends it. */

#ifndef QM_APP_QM_CHILD_PRIVATE_H
#define QM_APP_QM_CHILD_PRIVATE_H

#include "app/qm-child.h"

#include <stdint.h>
#include <sys/types.h>

struct QmChild
{
  pid_t pid;        /* leads a group of its own; 0: gone */
  int in, out, err; /* ours; -1: closed */
  bool lines;       /* and not bytes */
  bool dropped;     /* nothing more of it is heard */
  bool late;        /* was heard once after its patience was over */
  bool told;        /* that it ended */
  bool we_killed;
  double got_on;
  double closed, gone; /* when its output ended, and it itself; 0: not yet */
  uint64_t turn;       /* when it was heard, in order */
  char *buffer;        /* [size + 1] */
  size_t size, start, searched, used;
  char words[QM_CHILD_WORDS];
  size_t n_words;
  QmChildEnd end;
  int64_t memory_kills; /* at its start; -1: not known */
  const char *counters;
};

/* Closes a descriptor that is open, and notes that it is closed. */
void qm_child_close_end (int *fd);

/* How many the kernel has killed for memory since it was booted; -1: it does
 * not say. */
int64_t qm_child_count_memory_kills (const char *counters);

#endif
