/* SPDX-License-Identifier: Apache-2.0 */

/* Several machines, and the network between them. */

#include "engine/speeds-private.h"

#include <math.h>

/* What of a link's bits are payload, at the sizes that are usual: of TCP with
 * time stamps 1448 bytes in each frame of 1500, which takes 1538 (IEEE 802.3:
 * preamble, header, check sum, gap); of RoCE 4096 in each of 4178, InfiniBand
 * has shorter headers. */
#define PAYLOAD_SOCKETS (1448.0 / 1538)
#define PAYLOAD_REMOTE  (4096.0 / 4178)

/* Seconds of a step of a ring from one machine to the next: 19.8 us in the
 * table by which RCCL chooses (src/graph/tuning.cc: rings between machines,
 * Simple). With sockets assumed: what wakes the kernel's threads adds some. */
#define HOP_REMOTE  20e-6
#define HOP_SOCKETS 50e-6

QmNetwork
qm_network_of_links (const QmLinkTimes *links)
{
  size_t n = links->n[QM_LINKS_ALL_REDUCE];
  double sent = 2.0 * (links->ranks - 1) / links->ranks, rate = 0;

  if (n > 0)
    rate = sent * links->times[QM_LINKS_ALL_REDUCE][n - 1].bytes
           / links->times[QM_LINKS_ALL_REDUCE][n - 1].seconds;
  return (QmNetwork){ .id = "measured",
                      .name = "the network as measured",
                      .gbits = rate * 8e-9 / PAYLOAD_REMOTE,
                      .remote_memory = true,
                      .source = "" };
}

void
qm_speeds_join (QmSpeeds *speeds,
                int machines,
                const QmNetwork *network,
                int adapters)
{
  double rate = network->gbits * 1e9 / 8 * adapters
                * (network->remote_memory ? PAYLOAD_REMOTE : PAYLOAD_SOCKETS);

  if (machines < 2)
    return;
  /* GPUs of a machine are slower than its network where rings go through the
   * memory of the host; without others there is only the network. */
  speeds->thinned = speeds->gpus > 1 ? fmin (rate / speeds->exchange, 1) : 1;
  speeds->exchange = speeds->gpus > 1 ? fmin (rate, speeds->exchange) : rate;
  speeds->latency +=
      2 * (machines - 1) * (network->remote_memory ? HOP_REMOTE : HOP_SOCKETS);
  speeds->gpus *= machines;
  speeds->links = NULL;
  speeds->slower = speeds->differ * qm_largest_of (speeds->gpus);
  speeds->machines = machines;
  /* Each host has its part of what is offloaded. */
  speeds->host.add /= machines;
  speeds->host.adam /= machines;
}
