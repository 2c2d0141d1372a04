/* SPDX-License-Identifier: Apache-2.0 */

/* Sums and copies between the ranks of a world, in memory of the host.
 *
 * Every rank sums a part of its own, of what all brought, in fp32, in the order
 * of the ranks, and rounds once; then the parts are copied to all.  What comes
 * from another process comes as it was brought there, so that the result has
 * the same bits however the ranks are spread over processes. */

#ifndef QM_KERNELS_HOST_HOST_EXCHANGE_H
#define QM_KERNELS_HOST_HOST_EXCHANGE_H

#include "kernels/world.h"

typedef enum QmCollectiveKind
{
  QM_ALL_REDUCE = 1,
  QM_REDUCE_SCATTER,
  QM_ALL_GATHER,
  QM_COLLECTIVE_END
} QmCollectiveKind;

/* "all_reduce" and so on; static. */
const char *qm_collective_name (uint32_t kind);

/* What is done in one go: elements [begin, begin + count) of `total`. */
typedef struct QmExchange
{
  QmMeetingTopic topic; /* what: a kind */
  const void *from;     /* those elements */
  void *to;
  /* Elements from the part of one rank to that of the next: of a reduce-scatter
   * in `from`, of an all-gather in `to`. */
  size_t stride;
} QmExchange;

/* Does it together with the other ranks, in the thread of each.  False: the
 * world has failed, and the memory may have any contents. */
bool qm_host_exchange (QmWorld *world,
                       QmChannel channel,
                       int rank,
                       const QmExchange *exchange);

/* Every rank's `bytes` of `from`, one after the other, to `to` of all, between
 * their threads; `tag` has to be the same for all. */
bool qm_host_gather (QmWorld *world,
                     int rank,
                     uint32_t tag,
                     const void *from,
                     void *to,
                     size_t bytes);

#endif
