/* SPDX-License-Identifier: Apache-2.0 */

/* How the loss of long rows is divided between blocks. */

#include "kernels/cuda/loss-shares.h"
#include "tests/data/check.h"

#include <stdio.h>

#define HOPPER ((size_t) 227 << 10)
#define SMALL  ((size_t) 99 << 10)

static void
test_blocks (void)
{
  static const struct
  {
    size_t shared;
    int columns, blocks;
  } rows[] = {
    { HOPPER, 50304, 1 },  { HOPPER, 55552, 1 },  { HOPPER, 55553, 2 },
    { HOPPER, 111104, 2 }, { HOPPER, 111105, 4 }, { HOPPER, 128256, 4 },
    { HOPPER, 151936, 4 }, { HOPPER, 222208, 4 }, { HOPPER, 222209, 8 },
    { HOPPER, 262144, 8 }, { HOPPER, 444416, 8 }, { HOPPER, 444417, 0 },
    { SMALL, 24832, 1 },   { SMALL, 25600, 2 },   { SMALL, 151936, 8 },
    { SMALL, 262144, 0 },  { 1024, 64, 0 },       { HOPPER, 2147483647, 0 },
  };
  char name[64];

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    {
      snprintf (name, sizeof name, "%d columns, %zu bytes", rows[i].columns,
                rows[i].shared);
      check_case (name);
      CHECK_INT (qm_loss_blocks (rows[i].shared, rows[i].columns,
                                 rows[i].columns),
                 rows[i].blocks);
    }
}

/* Blocks have every column once, and room for what they have. */
static void
check_shares (int classes, int columns)
{
  int blocks = qm_loss_blocks (HOPPER, classes, columns);
  int share = qm_loss_share (columns, blocks), all[2] = { 0, 0 };

  CHECK (blocks > 0);
  CHECK_INT (share % QM_LOSS_LINE, 0);
  for (int rank = 0; rank < blocks; rank++)
    {
      int here[2] = { qm_loss_within (classes, share, rank),
                      qm_loss_within (columns, share, rank) };

      CHECK (here[0] <= here[1] && here[1] > 0);
      CHECK (here[1] <= QM_LOSS_MOST_KEPT);
      CHECK (2 * 16 * (here[0] / 8)
             <= qm_loss_copies (classes, columns, blocks));
      for (int i = 0; i < 2; i++)
        {
          /* Where a share has columns, all before it are whole. */
          CHECK (here[i] == 0 || all[i] == share * rank);
          all[i] += here[i];
        }
    }
  CHECK_INT (all[0], classes);
  CHECK_INT (all[1], columns);
  CHECK ((size_t) (qm_loss_copies (classes, columns, blocks)
                   + qm_loss_taken (blocks))
         <= HOPPER);
}

static void
test_shares (void)
{
  const int most = QM_LOSS_MOST_BLOCKS * QM_LOSS_MOST_KEPT;
  char name[64];

  for (int classes = 4097; classes <= most; classes += 997)
    for (int i = 0; i < 4; i++)
      {
        int columns = i == 0   ? classes
                      : i == 1 ? classes + 5
                      : i == 2 ? (classes + 63) / 64 * 64
                               : most;

        if (columns > most)
          continue;
        snprintf (name, sizeof name, "%d of %d columns", classes, columns);
        check_case (name);
        check_shares (classes, columns);
      }
}

int
main (void)
{
  test_blocks ();
  test_shares ();
  return check_report ();
}
