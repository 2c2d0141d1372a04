/* SPDX-License-Identifier: Apache-2.0 */

/* Ranks of one training, each in a thread with a device of its own. */

#ifndef QM_TESTS_ENGINE_IN_RANKS_H
#define QM_TESTS_ENGINE_IN_RANKS_H

#include "kernels/communicator.h"

#define IN_RANKS_MAX 4

/* What ranks train on. */
typedef struct RanksPlace
{
  char device[16]; /* of rank 0 */
  bool each;       /* rank r has cuda:r */
  QmTransport transport;
  int ranks; /* at most */
  QmTarget target;
} RanksPlace;

/* What a name, of the command line, is.  Of "cpu" all ranks have a share, and
 * exchange through the host; "cuda" is a GPU for each rank and what these
 * exchange through by themselves, "cuda-host" a GPU for each and the host: no
 * more ranks than GPUs.  "cuda:1" is that GPU alone, for one rank: of several
 * on one GPU, one waits for what the others have not begun yet.  Fails the test
 * where there is no such device. */
RanksPlace in_ranks_place (const char *name);

/* As many ranks as are wanted, where there is a GPU for each. */
int in_ranks_some (const RanksPlace *place, int wanted);

/* What a rank does; where it fails, the others are ended, too.
 *
 * communicator: NULL where there is one rank. */
typedef QmStatus (*InRanksBody) (void *data,
                                 int rank,
                                 QmDevice *device,
                                 QmCommunicator *communicator,
                                 QmError *error);

/* Runs ranks, and waits for all.  Fails the test for each that fails.
 *
 * data: of each rank, one behind the other, `size` bytes each. */
void in_ranks_run (const RanksPlace *place,
                   int ranks,
                   InRanksBody body,
                   void *data,
                   size_t size);

#endif
