/* SPDX-License-Identifier: Apache-2.0 */

/* Two ways of laying buffers out.
 *
 * Around the peak: what lives at the moment at which most bytes live cannot
 * share memory, so it is stacked up; no layout is smaller than that stack.  In
 * a training step these are the activations that wait for their gradients: they
 * come one after the other before the peak and mostly go in the opposite order
 * after it.  Every other buffer ends before the peak or begins after it, and
 * goes on top of what is left of the stack then, beside the few that live with
 * it: there the largest are laid first, each in the smallest gap that fits.
 *
 * By size: all buffers are laid in that way, the largest first (greedy by size:
 * Pisarchyk and Lee 2020).  It may fill holes that the first way leaves, but
 * compares every buffer with every other: only for graphs of a common size, and
 * where the first way did not nearly reach the least size possible. */

#include "engine/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* More are not laid out by size. */
#define BY_SIZE_MAX 8000

/* Moments that share a list of buffers. */
#define BLOCK 32

/* The same where buffers are laid out by size. */
#define WIDE 256

/* What is above the least size by no more than that part of it is as good. */
#define NEARLY 65536

typedef struct Block
{
  QmBuffer **items;
  size_t n, capacity;
} Block;

/* A buffer that has its place. */
typedef struct Placed
{
  int64_t offset, end;
  int32_t first, last;
} Placed;

typedef struct Layout
{
  QmBuffer *buffers;
  size_t n, moments;
  int64_t peak;   /* the moment */
  int64_t *floor; /* by moment: the end of the stack */
  Placed *placed; /* room for all */
  Block *blocks;
  size_t n_blocks;
  bool sorted; /* by size, but for what lives at the peak, which is in front */
} Layout;

static int
compare_offsets (int64_t a, int64_t b)
{
  return a < b ? -1 : a > b;
}

static int
by_size (const void *a, const void *b)
{
  const QmBuffer *x = a, *y = b;

  if (x->bytes != y->bytes)
    return compare_offsets (y->bytes, x->bytes);
  if (x->first != y->first)
    return compare_offsets (x->first, y->first);
  return compare_offsets (x->id, y->id);
}

static int
by_first (const void *a, const void *b)
{
  const QmBuffer *x = a, *y = b;

  if (x->first != y->first)
    return compare_offsets (x->first, y->first);
  if (x->last != y->last)
    return compare_offsets (y->last, x->last);
  return compare_offsets (x->id, y->id);
}

static int
by_last (const void *a, const void *b)
{
  const QmBuffer *x = a, *y = b;

  if (x->last != y->last)
    return compare_offsets (y->last, x->last);
  if (x->first != y->first)
    return compare_offsets (x->first, y->first);
  return compare_offsets (x->id, y->id);
}

static int
by_offset (const void *a, const void *b)
{
  const Placed *x = a, *y = b;

  return compare_offsets (x->offset, y->offset);
}

/* So few are sorted sooner one by one than by qsort(). */
#define FEW 48

/* Of two with the same offset either may come first: find_gap() does not care.
 */
static void
sort_by_offset (Placed *placed, size_t n)
{
  if (n > FEW)
    {
      qsort (placed, n, sizeof *placed, by_offset);
      return;
    }
  for (size_t i = 1; i < n; i++)
    {
      const Placed one = placed[i];
      size_t at = i;

      for (; at > 0 && placed[at - 1].offset > one.offset; at--)
        placed[at] = placed[at - 1];
      placed[at] = one;
    }
}

/* The smallest gap from `floor` on, or the end, among buffers that live at the
 * same time as this one and are sorted by offset.  Nearly all of the time of a
 * layout is spent here: what is looked at lies side by side. */
static int64_t
find_gap (const QmBuffer *buffer, const Placed *others, size_t n, int64_t floor)
{
  const int64_t first = buffer->first, last = buffer->last;
  int64_t end = floor, best = -1, best_gap = INT64_MAX;

  for (size_t i = 0; i < n; i++)
    {
      int64_t gap = others[i].offset - end;

      if (others[i].first > last || others[i].last < first)
        continue;
      if (gap >= buffer->bytes && gap < best_gap)
        {
          best = end;
          best_gap = gap;
        }
      if (others[i].end > end)
        end = others[i].end;
    }
  return best >= 0 ? best : end;
}

static Placed
placed_of (const QmBuffer *buffer)
{
  return (Placed){ buffer->offset, buffer->offset + buffer->bytes,
                   (int32_t) buffer->first, (int32_t) buffer->last };
}

static uint64_t
size_of (const Layout *layout)
{
  int64_t size = 0;

  for (size_t i = 0; i < layout->n; i++)
    if (layout->buffers[i].offset + layout->buffers[i].bytes > size)
      size = layout->buffers[i].offset + layout->buffers[i].bytes;
  return (uint64_t) size;
}

/* Buffers that have their place, in the order of their offsets. */
typedef struct List
{
  Placed *items;
  size_t n, capacity;
} List;

static bool
insert (List *list, const QmBuffer *buffer)
{
  size_t at = 0, end = list->n;

  if (list->n == list->capacity)
    {
      size_t capacity = list->capacity * 2 + 64;
      Placed *items = realloc (list->items, capacity * sizeof *items);

      if (items == NULL)
        return false;
      list->items = items;
      list->capacity = capacity;
    }
  while (at < end)
    {
      size_t middle = at + (end - at) / 2;

      if (list->items[middle].offset > buffer->offset)
        end = middle;
      else
        at = middle + 1;
    }
  memmove (list->items + at + 1, list->items + at,
           (list->n - at) * sizeof *list->items);
  list->items[at] = placed_of (buffer);
  list->n++;
  return true;
}

/* How many there are up to the last one that lives in several wide blocks. */
static size_t
count_wide (const Layout *layout)
{
  size_t n = layout->n;

  while (n > 0
         && layout->buffers[n - 1].first / WIDE
                == layout->buffers[n - 1].last / WIDE)
    n--;
  return n;
}

/* Lays them out, with a list of what lives in each of the wide blocks of
 * moments, and one of all behind them, for buffers that live in several. */
static uint64_t
lay_out_in_lists (Layout *layout, uint64_t limit, List *lists, List *all)
{
  size_t wide = count_wide (layout);

  for (size_t i = 0; i < layout->n; i++)
    {
      QmBuffer *buffer = &layout->buffers[i];
      int64_t begin = buffer->first / WIDE, end = buffer->last / WIDE;
      const List *list = begin == end ? &lists[begin] : all;

      buffer->offset = find_gap (buffer, list->items, list->n, 0);
      if ((uint64_t) (buffer->offset + buffer->bytes) > limit
          || (i < wide && !insert (all, buffer)))
        return UINT64_MAX;
      for (int64_t b = begin; b <= end; b++)
        if (!insert (&lists[b], buffer))
          return UINT64_MAX;
    }
  return size_of (layout);
}

/* Gives up, with UINT64_MAX, as soon as it takes more than `limit`. */
static uint64_t
lay_out_by_size (Layout *layout, uint64_t limit)
{
  size_t n = layout->moments / WIDE + 1;
  List *lists = calloc (n + 1, sizeof *lists);
  uint64_t size = UINT64_MAX;

  qsort (layout->buffers, layout->n, sizeof *layout->buffers, by_size);
  layout->sorted = false;
  if (lists != NULL)
    size = lay_out_in_lists (layout, limit, lists, &lists[n]);
  for (size_t i = 0; i <= n && lists != NULL; i++)
    free (lists[i].items);
  free (lists);
  return size;
}

static bool
is_at_peak (const Layout *layout, const QmBuffer *buffer)
{
  return buffer->first <= layout->peak && buffer->last >= layout->peak;
}

/* Stacks up what lives at the peak, the first `n` buffers, in their order. */
static void
stack (Layout *layout, size_t n)
{
  int64_t end = 0, *floor = layout->floor;

  memset (floor, 0, layout->moments * sizeof *floor);
  for (size_t i = 0; i < n; i++)
    {
      QmBuffer *buffer = &layout->buffers[i];

      buffer->offset = end;
      end += buffer->bytes;
      floor[buffer->first] = floor[buffer->last] = end;
    }
  for (int64_t t = 1; t <= layout->peak; t++)
    if (floor[t - 1] > floor[t])
      floor[t] = floor[t - 1];
  for (int64_t t = (int64_t) layout->moments - 2; t >= layout->peak; t--)
    if (floor[t + 1] > floor[t])
      floor[t] = floor[t + 1];
}

static bool
append_buffer (Block *block, QmBuffer *buffer)
{
  if (block->n == block->capacity)
    {
      size_t capacity = block->capacity * 2 + 16;
      QmBuffer **items = realloc (block->items, capacity * sizeof *items);

      if (items == NULL)
        return false;
      block->items = items;
      block->capacity = capacity;
    }
  block->items[block->n++] = buffer;
  return true;
}

/* Lays one buffer on the stack, beside those in the same blocks of moments. */
static bool
lay_on_stack (Layout *layout, QmBuffer *buffer)
{
  int64_t begin = buffer->first / BLOCK, end = buffer->last / BLOCK;
  int64_t floor =
      layout->floor[buffer->last < layout->peak ? buffer->last : buffer->first];
  size_t n = 0;

  for (int64_t b = begin; b <= end; b++)
    for (size_t i = 0; i < layout->blocks[b].n; i++)
      {
        QmBuffer *other = layout->blocks[b].items[i];

        /* One that is in several of these blocks counts in the first. */
        if (other->first <= buffer->last && other->last >= buffer->first
            && (b == begin || other->first / BLOCK == b))
          layout->placed[n++] = placed_of (other);
      }
  sort_by_offset (layout->placed, n);
  buffer->offset = find_gap (buffer, layout->placed, n, floor);
  for (int64_t b = begin; b <= end; b++)
    if (!append_buffer (&layout->blocks[b], buffer))
      return false;
  return true;
}

/* Moves what lives at the peak to the front; returns how many those are. */
static size_t
partition (Layout *layout)
{
  size_t n = 0;

  for (size_t i = 0; i < layout->n; i++)
    if (is_at_peak (layout, &layout->buffers[i]))
      {
        QmBuffer buffer = layout->buffers[i];

        layout->buffers[i] = layout->buffers[n];
        layout->buffers[n++] = buffer;
      }
  return n;
}

static bool
lay_out_around_peak (Layout *layout,
                     int (*order) (const void *, const void *),
                     uint64_t *size)
{
  size_t n = partition (layout);

  qsort (layout->buffers, n, sizeof *layout->buffers, order);
  if (!layout->sorted)
    qsort (layout->buffers + n, layout->n - n, sizeof *layout->buffers,
           by_size);
  layout->sorted = true;
  stack (layout, n);
  for (size_t i = 0; i < layout->n_blocks; i++)
    layout->blocks[i].n = 0;
  for (size_t i = n; i < layout->n; i++)
    if (!lay_on_stack (layout, &layout->buffers[i]))
      return false;
  *size = size_of (layout);
  return true;
}

/* The most bytes that live at one moment, and that moment. */
static uint64_t
find_peak (Layout *layout)
{
  int64_t now = 0, most = 0, *change = layout->floor;

  memset (change, 0, (layout->moments + 1) * sizeof *change);
  for (size_t i = 0; i < layout->n; i++)
    {
      change[layout->buffers[i].first] += layout->buffers[i].bytes;
      change[layout->buffers[i].last + 1] -= layout->buffers[i].bytes;
    }
  for (size_t t = 0; t < layout->moments; t++)
    {
      now += change[t];
      if (now > most)
        {
          most = now;
          layout->peak = (int64_t) t;
        }
    }
  return (uint64_t) most;
}

/* Tries the ways until one is as small as possible; otherwise ends with the
 * best of them. */
static bool
try_ways (Layout *layout, uint64_t *size, uint64_t live)
{
  bool few = layout->n <= BY_SIZE_MAX;
  uint64_t first, last, sized = UINT64_MAX, enough = live + live / NEARLY;

  if (!lay_out_around_peak (layout, by_first, &first))
    return false;
  *size = first;
  if (first <= enough)
    return true;
  if (!lay_out_around_peak (layout, by_last, &last))
    return false;
  *size = last;
  if (last <= enough)
    return true;
  if (few)
    sized = lay_out_by_size (layout, first <= last ? first : last);
  if (sized < UINT64_MAX)
    return *size = sized, true;
  return lay_out_around_peak (layout, first <= last ? by_first : by_last, size);
}

QmStatus
qm_arena_lay_out (QmBuffer *buffers,
                  size_t n,
                  size_t moments,
                  uint64_t *size,
                  uint64_t *live,
                  QmError *error)
{
  Layout layout = {
    .buffers = buffers,
    .n = n,
    .moments = moments,
    .n_blocks = moments / BLOCK + 1,
    .floor = malloc ((moments + 1) * sizeof *layout.floor),
    .placed = malloc ((n + 1) * sizeof *layout.placed),
    .blocks = calloc (moments / BLOCK + 1, sizeof *layout.blocks),
  };
  bool ok =
      layout.floor != NULL && layout.placed != NULL && layout.blocks != NULL;

  *size = *live = 0;
  if (ok)
    {
      *live = find_peak (&layout);
      ok = try_ways (&layout, size, *live);
    }
  for (size_t i = 0; i < layout.n_blocks && layout.blocks != NULL; i++)
    free (layout.blocks[i].items);
  free (layout.blocks);
  free (layout.placed);
  free (layout.floor);
  return ok ? QM_OK : qm_error_no_memory (error);
}
