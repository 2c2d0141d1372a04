/* SPDX-License-Identifier: Apache-2.0 */

/* How fast devices exchange: collectives between ranks, and copies to and from
 * the host. */

#ifndef QM_ENGINE_LINKS_H
#define QM_ENGINE_LINKS_H

#include "data/link-times.h"
#include "kernels/communicator.h"

/* Seconds that one takes of the slowest rank, whose whole is `bytes` of fp32 in
 * `memory` of the device, a multiple of 4 x ranks: what each has before it is
 * reduced, and after it was gathered.  Called by all ranks of the communicator
 * at once; takes about a tenth of a second, or two calls where those are
 * longer. */
QmStatus qm_links_time (QmCommunicator *communicator,
                        QmDevice *device,
                        QmLinksOp collective,
                        void *memory,
                        size_t bytes,
                        double *seconds,
                        QmError *error);

/* What that is of a link: bytes a second that each rank sends, and receives, at
 * the least: twice (n - 1) / n of the whole for a sum, half of that for each of
 * its halves (as NCCL's tests have it, the "bus bandwidth"). */
double qm_links_bandwidth (QmLinksOp collective,
                           int ranks,
                           size_t bytes,
                           double seconds);

/* Bytes a second of copies from pinned memory of the host to a device, and
 * back. */
typedef struct QmHostRates
{
  double up, down;
} QmHostRates;

/* Times them with `bytes` of `memory` of the device. */
QmStatus qm_links_host (QmDevice *device,
                        void *memory,
                        size_t bytes,
                        QmHostRates *rates,
                        QmError *error);

#endif
