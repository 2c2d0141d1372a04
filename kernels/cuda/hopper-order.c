/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/hopper-order.h"

/* Bytes that are still in the L2 cache when they are read again.  It has 50 MB,
 * but each half of the GPU keeps its own copy of what it reads, and results go
 * through it, too. */
#define KEPT INT64_C (16000000)

static int64_t
least (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t
divide_up (int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Tiles of rows and columns that waves read, each counted once a wave. */
static void
count_waves (const QmHopperGrid *grid,
             int64_t group,
             int64_t *rows,
             int64_t *columns)
{
  const int64_t tiles = grid->rows * grid->columns;
  const int64_t block = group * grid->columns;

  *rows = *columns = 0;
  for (int64_t begin = 0; begin < tiles; begin += grid->clusters)
    {
      const int64_t end = least (tiles, begin + grid->clusters);
      int64_t across = 0;

      for (int64_t at = begin, next; at < end; at = next)
        {
          const int64_t first = at / block * block;
          const int64_t height = least (group, grid->rows - at / block * group);

          next = least (end, first + height * grid->columns);
          *rows += least (height, next - at);
          across += (next - 1 - first) / height - (at - first) / height + 1;
        }
      *columns += least (across, grid->columns);
    }
}

int64_t
qm_hopper_bytes (const QmHopperGrid *grid, int group)
{
  /* What a wave reads, and what a group does. */
  const int64_t wave = group * grid->row_bytes
                       + divide_up (grid->clusters, group) * grid->column_bytes;
  const int64_t all =
      group * grid->row_bytes + grid->columns * grid->column_bytes;
  int64_t rows, columns;

  count_waves (grid, group, &rows, &columns);
  if (wave <= KEPT)
    rows = grid->rows;
  if (all <= KEPT)
    columns = grid->columns;
  return rows * grid->row_bytes + columns * grid->column_bytes;
}

int
qm_hopper_group (const QmHopperGrid *grid)
{
  /* The first is what was measured most; others have to be better by 2 %. */
  static const int groups[] = { 8, 11, 6, 1, 2, 4, 16, 24, 32 };
  int64_t fewest = 0;
  int best = 0;

  for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
    {
      const int64_t bytes = qm_hopper_bytes (grid, groups[i]);

      if (best == 0 || bytes < fewest - fewest / 50)
        {
          best = groups[i];
          fewest = bytes;
        }
    }
  return best;
}

/* Steps that it takes to add a tile's sum to the result. */
#define ADDING 3
/* Steps of the fewest that are worth a slab of their own, and slabs of the
 * most. */
#define LEAST_SLAB 32
#define MOST_SLABS 32
/* Tiles of rows or columns that, read in each step, cost as much as the step:
 * 32 KiB in 0.6 us are 55 GB/s, and 1 TB/s takes about 50 of 700 W, an estimate
 * of 6 pJ a bit. */
#define COSTLY 250

/* What a division costs, in steps of all clusters. */
static double
cost (const QmHopperSums *sums, const QmHopperGrid *slab, int64_t slabs)
{
  const int64_t waves = sums->whole / slab->clusters;
  const int64_t steps = waves * sums->slab + sums->part_steps;
  const int64_t additions = waves + (sums->rest > 0);
  const double read = (double) (slabs * qm_hopper_bytes (slab, sums->group))
                      * sums->slab / (double) slab->row_bytes;

  return (double) (steps + ADDING * additions) + read / COSTLY;
}

/* Divides with `slabs` slabs, or fewer where these have the same steps. */
static QmHopperSums
divide (QmHopperGrid *grid, int steps, int64_t step_bytes, int64_t *slabs)
{
  const int slab = (int) divide_up (steps, *slabs);
  const int64_t tiles = grid->rows * grid->columns;
  QmHopperSums sums = { .slab = slab, .parts = 1 };
  int64_t units;

  *slabs = divide_up (steps, slab);
  units = tiles * *slabs;
  sums.whole = units / grid->clusters * grid->clusters;
  sums.rest = (int) (units - sums.whole);
  if (sums.rest > 0)
    {
      sums.parts = grid->clusters / sums.rest;
      sums.part_steps = (int) divide_up (slab, sums.parts);
    }
  grid->row_bytes = grid->column_bytes = slab * step_bytes;
  sums.group = qm_hopper_group (grid);
  return sums;
}

QmHopperSums
qm_hopper_divide (
    int64_t rows, int64_t columns, int steps, int64_t step_bytes, int clusters)
{
  const int64_t most = least (MOST_SLABS, steps / LEAST_SLAB);
  QmHopperGrid grid = { .rows = rows,
                        .columns = columns,
                        .clusters = clusters };
  QmHopperSums best = { 0 };
  double fewest = 0;

  for (int64_t i = 1; i == 1 || i <= most; i++)
    {
      int64_t slabs = i;
      const QmHopperSums sums = divide (&grid, steps, step_bytes, &slabs);
      const double costs = cost (&sums, &grid, slabs);

      if (i == 1 || costs < fewest)
        {
          best = sums;
          fewest = costs;
        }
    }
  return best;
}
