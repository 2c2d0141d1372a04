/* SPDX-License-Identifier: Apache-2.0 */

/* Ranks of a world in threads of a test, and its collectives against plain
 * loops. */

#ifndef QM_TESTS_KERNELS_RANKS_H
#define QM_TESTS_KERNELS_RANKS_H

#include "kernels/transport.h"

#include <stdatomic.h>

typedef struct Ranks
{
  QmWorldOptions options;
  QmTransport transport;
  const char *device; /* "cpu", or "cuda", of which rank r gets cuda:r */
  bool staged;        /* of the host transport */
  bool capture;       /* record calls, and launch them twice */
  bool whole;         /* numbers that are exact in any order of sums */
  void *data;         /* of the test */
  atomic_int failures;
} Ranks;

typedef struct Rank
{
  Ranks *all;
  QmWorld *world;
  int rank, ranks;
  QmDevice *device;
  QmStream *stream;
  QmCommunicator *communicator; /* NULL without `meet` */
} Rank;

/* What a rank does, in a thread of its own. */
typedef void (*RankBody) (Rank *rank);

/* Makes the world and runs its ranks that are of this process; with `meet` they
 * have communicators.  The status of making the world. */
QmStatus ranks_run (Ranks *ranks, bool meet, RankBody body, QmError *error);

/* Counts what is not so. */
void rank_expect (Rank *rank, bool value, const char *what, int line);
#define EXPECT(rank, value) rank_expect (rank, value, #value, __LINE__)

/* One collective of `count` elements, into other memory or in place, compared
 * bit by bit. */
void rank_check_collective (Rank *rank,
                            QmCollectiveKind kind,
                            QmType type,
                            size_t count,
                            bool in_place);

/* All collectives with all types, in place and not, of each count up to a 0
 * behind the first. */
void rank_check_all (Rank *rank, const size_t *counts, size_t n);

#endif
