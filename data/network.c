/* SPDX-License-Identifier: Apache-2.0 */

#include "data/network.h"

#include <stdlib.h>
#include <string.h>

#define IBTA \
  "InfiniBand Trade Association, InfiniBand Roadmap (a port of four lanes)"

static const QmNetwork networks[] = {
  { "1gbe", "1 Gbit/s Ethernet", 1, false, "IEEE 802.3ab-1999" },
  { "10gbe", "10 Gbit/s Ethernet", 10, false, "IEEE 802.3ae-2002" },
  { "25gbe", "25 Gbit/s Ethernet", 25, false, "IEEE 802.3by-2016" },
  { "100gbe", "100 Gbit/s Ethernet", 100, false, "IEEE 802.3ba-2010" },
  { "edr", "InfiniBand EDR, 100 Gbit/s", 100, true, IBTA },
  { "hdr", "InfiniBand HDR, 200 Gbit/s", 200, true, IBTA },
  { "200gbe-roce", "200 Gbit/s Ethernet with RoCE", 200, true,
    "IEEE 802.3bs-2017" },
  { "ndr", "InfiniBand NDR, 400 Gbit/s", 400, true, IBTA },
};

const QmNetwork *
qm_networks (size_t *n)
{
  *n = sizeof networks / sizeof networks[0];
  return networks;
}

const QmNetwork *
qm_network_parse (const char *text, int *adapters)
{
  size_t digits = strspn (text, "0123456789");
  bool several = digits > 0 && text[digits] == 'x';
  const char *id = several ? text + digits + 1 : text;

  *adapters = 1;
  if (several)
    *adapters = digits <= 2 ? atoi (text) : 0;
  for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
    if (strcmp (networks[i].id, id) == 0 && *adapters >= 1
        && *adapters <= QM_NETWORK_ADAPTERS)
      return &networks[i];
  return NULL;
}
