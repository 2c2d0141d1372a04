/* SPDX-License-Identifier: Apache-2.0 */

/* Networks between machines: what an adapter of each kind is rated for, in each
 * direction, by who made the standard. */

#ifndef QM_DATA_NETWORK_H
#define QM_DATA_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct QmNetwork
{
  const char *id;     /* "10gbe", "hdr" */
  const char *name;   /* "10 Gbit/s Ethernet" */
  double gbits;       /* 10^9 bits/s of an adapter, in one direction */
  bool remote_memory; /* adapters read and write memory of other machines
                         (RDMA); else all goes through sockets of the kernel */
  const char *source;
} QmNetwork;

/* All of them, the slowest first; static. */
const QmNetwork *qm_networks (size_t *n);

/* No machine has more adapters. */
#define QM_NETWORK_ADAPTERS 16

/* The one that "hdr" names, or "8xhdr", of which each machine has 8 adapters;
 * NULL: there is none, or no machine has so many. */
const QmNetwork *qm_network_parse (const char *text, int *adapters);

#endif
