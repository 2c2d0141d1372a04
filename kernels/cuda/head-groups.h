/* SPDX-License-Identifier: Apache-2.0 */

/* The order in which the kernels of attention on Hopper work on tiles of heads,
 * the same in C and in CUDA C++. */

#ifndef QM_KERNELS_CUDA_HEAD_GROUPS_H
#define QM_KERNELS_CUDA_HEAD_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/random.h"

/* Tiles of a group of heads take turns, each head's first tile first; the group
 * of the last heads begins, and that of the first ones ends. */
typedef struct QmHeadGroups
{
  int per_head; /* tiles */
  int heads;
  int group; /* heads of a group, or fewer in the one that begins */
  int last;  /* heads of the group that ends, which are the first ones */
} QmHeadGroups;

typedef struct QmHeadTile
{
  int place; /* among the tiles of its head */
  int bh;    /* which head */
} QmHeadTile;

/* How many tiles there are. */
static inline QM_HOST_DEVICE int
qm_head_tiles (const QmHeadGroups *g)
{
  return g->per_head * g->heads;
}

/* Which tile is worked on as the one with number `index`, from 0. */
static inline QM_HOST_DEVICE QmHeadTile
qm_head_tile (const QmHeadGroups *g, int index)
{
  /* Counted from the end, so that what is no whole group comes first. */
  int rest = qm_head_tiles (g) - 1 - index, base = 0, count = g->last, more;
  QmHeadTile tile;

  if (rest >= g->last * g->per_head)
    {
      rest -= g->last * g->per_head;
      base = rest / (g->group * g->per_head) * g->group;
      rest -= base * g->per_head;
      base += g->last;
      more = g->heads - base;
      count = more < g->group ? more : g->group;
    }
  tile.place = g->per_head - 1 - rest / count;
  tile.bh = base + rest % count;
  return tile;
}

/* How many heads the group that ends should have.  With a causal mask a head's
 * first tiles are the longest, and the last heads need tiles enough for the
 * multiprocessors that wait while others are at such a one: twice as many tiles
 * as multiprocessors have as much work for each as the longest tile, and half
 * as many again measured best. */
static inline int64_t
qm_head_groups_last (bool causal, int sm_count, int per_head)
{
  return causal ? 3 * sm_count / per_head : 1;
}

/* Groups of at most `fit` heads, which is what the L2 cache has room for, and
 * one of `last` that ends where that is more: no more groups than need be, as
 * large as each other. */
static inline QmHeadGroups
qm_head_groups (int heads, int per_head, int64_t fit, int64_t last)
{
  const int64_t wanted = fit > 1 ? fit : 1;
  const int most = (int) (wanted < heads ? wanted : heads);
  const int64_t end = most > last ? most : last;
  QmHeadGroups g;
  int rest, groups;

  g.per_head = per_head;
  g.heads = heads;
  g.last = (int) (end < heads ? end : heads);
  rest = heads - g.last;
  groups = (rest + most - 1) / most;
  groups = groups > 1 ? groups : 1;
  g.group = (rest + groups - 1) / groups;
  g.group = g.group > 1 ? g.group : 1;
  return g;
}

#endif
