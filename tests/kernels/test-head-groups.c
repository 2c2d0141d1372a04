/* SPDX-License-Identifier: Apache-2.0 */

/* The order in which attention on Hopper works on tiles of heads: each once, in
 * groups that the cache has room for, as kernels/cuda/head-groups.h promises.
 */

#include "kernels/cuda/head-groups.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>

/* Shapes by chance, besides those of small numbers. */
#define BY_CHANCE 4000

/* What is asked for. */
typedef struct Shape
{
  int heads, per_head;
  int64_t fit, last;
} Shape;

static int64_t
between (int64_t least, int64_t value, int64_t most)
{
  return value < least ? least : value > most ? most : value;
}

/* Whether the groups are as large as was asked, and no more than need be. */
static bool
sizes_hold (const Shape *s, const QmHeadGroups *g)
{
  const int64_t most = between (1, s->fit, s->heads);
  const int64_t end = between (most, s->last, s->heads);
  const int64_t rest = s->heads - end, groups = (rest + most - 1) / most;

  return g->heads == s->heads && g->per_head == s->per_head && g->last == end
         && g->group >= 1
         && g->group <= most
         /* As few as can be, ... */
         && (rest + g->group - 1) / g->group == groups
         /* ... of as many heads each, but for the one that begins. */
         && (groups < 2 || (g->group - 1) * groups < rest);
}

/* Whether the tiles from one on are all of `count` heads from `base` on, which
 * take turns, each head's first tile first. */
static bool
takes_turns (const QmHeadGroups *g, int index, int base, int count, char *seen)
{
  for (int i = 0; i < count * g->per_head; i++)
    {
      const QmHeadTile tile = qm_head_tile (g, index + i);

      if (tile.bh < base || tile.bh >= base + count || tile.place != i / count
          || seen[tile.bh * g->per_head + tile.place]++ != 0)
        return false;
    }
  return true;
}

/* Whether every tile comes once: groups from the last heads to the first ones,
 * of which none but the one that begins has fewer heads than it may. */
static bool
order_holds (const QmHeadGroups *g)
{
  const int tiles = qm_head_tiles (g);
  char *seen = calloc ((size_t) tiles, 1);
  int index = 0, end = g->heads;
  bool good = seen != NULL && tiles == g->heads * g->per_head;

  while (good && end > 0)
    {
      const int over = (end - g->last) % g->group;
      const int count = end <= g->last                ? g->last
                        : end == g->heads && over > 0 ? over
                                                      : g->group;

      good = takes_turns (g, index, end - count, count, seen);
      index += count * g->per_head;
      end -= count;
    }
  free (seen);
  return good && end == 0 && index == tiles;
}

static void
check_shape (const Shape *s)
{
  const QmHeadGroups g =
      qm_head_groups (s->heads, s->per_head, s->fit, s->last);

  const bool sizes = sizes_hold (s, &g), order = order_holds (&g);
  static char name[160];

  if (!sizes || !order)
    {
      snprintf (name, sizeof name,
                "%d heads of %d tiles, room for %lld, last %lld: groups of %d, "
                "last %d",
                s->heads, s->per_head, (long long) s->fit, (long long) s->last,
                g.group, g.last);
      check_case (name);
    }
  CHECK (sizes);
  CHECK (order);
}

static void
test_small (void)
{
  check_case ("every small shape");
  for (int heads = 1; heads <= 12; heads++)
    for (int per_head = 1; per_head <= 4; per_head++)
      for (int64_t fit = 0; fit <= heads + 1; fit++)
        for (int64_t last = 0; last <= heads + 1; last++)
          check_shape (&(Shape){ heads, per_head, fit, last });
}

static void
test_by_chance (void)
{
  uint64_t state = 12345;

  check_case ("shapes by chance");
  for (int i = 0; i < BY_CHANCE; i++)
    {
      int draws[4];

      for (int j = 0; j < 4; j++)
        {
          state = state * 6364136223846793005u + 1442695040888963407u;
          draws[j] = (int) (state >> 33);
        }
      check_shape (&(Shape){ 1 + draws[0] % 700, 1 + draws[1] % 40,
                             draws[2] % 900, draws[3] % 500 });
    }
}

/* Room for more than there can be heads, as of very short sequences. */
static void
test_room (void)
{
  check_case ("much room");
  check_shape (&(Shape){ 7, 3, INT64_MAX, 1 });
  check_shape (&(Shape){ 7, 3, 2, INT64_MAX });
  check_shape (&(Shape){ 7, 3, -5, -5 });
}

/* With a causal mask the heads that end have tiles for three rounds of the
 * multiprocessors, less than one head's short of them. */
static void
test_last (void)
{
  static const int counts[] = { 1, 78, 114, 132 };

  check_case ("the last heads");
  for (int i = 0; i < 4; i++)
    for (int per_head = 1; per_head <= 600; per_head++)
      {
        const int64_t last = qm_head_groups_last (true, counts[i], per_head);

        CHECK (last * per_head <= 3 * counts[i]);
        CHECK ((last + 1) * per_head > 3 * counts[i]);
        CHECK_INT (qm_head_groups_last (false, counts[i], per_head), 1);
      }
}

int
main (void)
{
  test_small ();
  test_by_chance ();
  test_room ();
  test_last ();
  return check_report ();
}
