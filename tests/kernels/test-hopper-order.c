/* SPDX-License-Identifier: Apache-2.0 */

/* The order of tiles of products on Hopper: nothing is left out or done twice,
 * and what is estimated is what is counted. */

#include "kernels/cuda/hopper-order.h"
#include "tests/data/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BYTES (256 * 64 * 2)

/* What of a grid waves read, counted tile by tile; `seen` is room for a flag
 * for each row and column. */
static int64_t
count_bytes (const QmHopperGrid *grid, int group, bool *seen)
{
  const int64_t tiles = grid->rows * grid->columns;
  int64_t bytes = 0, place = 0;

  for (int64_t first = 0; first < grid->rows; first += group)
    for (int64_t column = 0; column < grid->columns; column++)
      for (int64_t row = first; row < first + group && row < grid->rows; row++)
        {
          if (place++ % grid->clusters == 0)
            memset (seen, 0, (size_t) (grid->rows + grid->columns));
          if (!seen[row])
            bytes += grid->row_bytes;
          if (!seen[grid->rows + column])
            bytes += grid->column_bytes;
          seen[row] = seen[grid->rows + column] = true;
        }
  CHECK (place == tiles);
  return bytes;
}

/* With rows and columns that no cache keeps. */
static void
test_bytes (void)
{
  bool seen[512];
  int64_t low = 0, high = 0, n = 0;

  for (int rows = 1; rows < 200; rows += 1 + rows / 7)
    for (int columns = 1; columns < 200; columns += 1 + columns / 5)
      for (int group = 1; group <= 32; group += 1 + group / 4)
        {
          const QmHopperGrid grid = { rows, columns, 50000000, 50000001, 66 };
          const int64_t counted = count_bytes (&grid, group, seen);
          const int64_t estimated = qm_hopper_bytes (&grid, group);

          n++;
          low += estimated < counted;
          /* Columns of two groups in a wave may be the same ones. */
          high += estimated > counted + counted / 4;
        }
  CHECK (n > 1000);
  CHECK_INT (low, 0);
  CHECK_INT (high, 0);
}

/* What fits the cache is read once. */
static void
test_kept (void)
{
  const QmHopperGrid small = { 100, 20, 100000, 100000, 66 };
  /* The head of 124M parameters: columns once a group, rows once. */
  const QmHopperGrid head = { 256, 197, 393216, 393216, 66 };
  const QmHopperGrid narrow = { 256, 3, 1572864, 1572864, 66 };
  const int group = qm_hopper_group (&head);

  CHECK (qm_hopper_bytes (&small, 8) == 120 * 100000);
  CHECK (qm_hopper_group (&small) == 8);
  CHECK (group >= 24);
  CHECK (qm_hopper_bytes (&head, group) < qm_hopper_bytes (&head, 8) / 2);
  /* Columns one after the other: no row is read twice but where a wave ends. */
  CHECK (qm_hopper_group (&narrow) == 1);
}

/* One more of what a cluster does in step `at` of a tile's sum, which may lie
 * beyond the last. */
static void
add_step (uint8_t *times, int64_t tile, int64_t at, int steps)
{
  if (at < steps && times[tile * steps + at] < UINT8_MAX)
    times[tile * steps + at]++;
}

/* How often each step of each tile's sum is done by the shares of all clusters,
 * as the kernel's walk takes them; returns the steps of the longest. */
static int64_t
count_steps (const QmHopperSums *sums,
             int64_t tiles,
             int steps,
             int clusters,
             uint8_t *times)
{
  int64_t longest = 0;

  for (int cluster = 0; cluster < clusters; cluster++)
    {
      int64_t own = 0;

      for (int64_t unit = cluster; unit < sums->whole; unit += clusters)
        for (int step = 0; step < sums->slab; step++, own++)
          add_step (times, unit % tiles, unit / tiles * sums->slab + step,
                    steps);
      for (int step = 0;
           step < sums->part_steps && cluster < sums->rest * sums->parts;
           step++, own++)
        {
          const int64_t unit = sums->whole + cluster % sums->rest;
          const int64_t in = cluster / sums->rest * sums->part_steps + step;

          if (in < sums->slab)
            add_step (times, unit % tiles, unit / tiles * sums->slab + in,
                      steps);
        }
      longest = own > longest ? own : longest;
    }
  return longest;
}

static void
check_division (int rows, int columns, int steps, int clusters)
{
  const int64_t tiles = (int64_t) rows * columns;
  const QmHopperSums sums =
      qm_hopper_divide (rows, columns, steps, STEP_BYTES, clusters);
  uint8_t *times = calloc ((size_t) (tiles * steps), sizeof *times);
  int64_t longest, once = 0;

  CHECK (times != NULL);
  CHECK (sums.slab >= 1 && sums.slab <= steps && sums.group >= 1);
  CHECK (sums.whole % clusters == 0 && sums.rest < clusters);
  CHECK (sums.rest * sums.parts <= clusters);
  longest = count_steps (&sums, tiles, steps, clusters, times);
  for (int64_t i = 0; i < tiles * steps; i++)
    once += times[i] == 1;
  CHECK_INT (once, tiles * steps);
  /* Not far from equal shares, where sums are long or tiles many. */
  if (steps >= 256 || tiles >= 8 * clusters)
    CHECK (longest * clusters <= tiles * steps * 6 / 5);
  free (times);
}

static void
test_division (void)
{
  for (int rows = 1; rows < 60; rows += 1 + rows / 4)
    for (int columns = 1; columns < 24; columns += 1 + columns / 3)
      for (int steps = 1; steps < 1100; steps += 1 + steps / 2)
        {
          check_division (rows, columns, steps, 66);
          check_division (rows, columns, steps, 57);
        }
  check_division (197, 3, 1024, 66);
}

/* 16 x 4 tiles and 66 clusters: one wave, nothing read twice. */
static void
test_one_wave (void)
{
  const QmHopperSums sums = qm_hopper_divide (16, 4, 402, STEP_BYTES, 66);

  CHECK (sums.slab == 402 && sums.whole == 0);
  CHECK (sums.rest == 64 && sums.parts == 1 && sums.part_steps == 402);
}

int
main (void)
{
  check_case ("bytes");
  test_bytes ();
  check_case ("kept");
  test_kept ();
  check_case ("division");
  test_division ();
  check_case ("one wave");
  test_one_wave ();
  return check_report ();
}
