/* SPDX-License-Identifier: Apache-2.0 */

/* Files of what machines can do. */

#include "data/probes.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void
require (bool holds)
{
  if (!holds)
    abort ();
}

static void
check (const QmProbes *probes)
{
  require (probes->n <= QM_PROBES_MAX);
  require (isnan (probes->sm_mhz_max) || probes->sm_mhz_max > 0);
  for (size_t i = 0; i < probes->n; i++)
    require (probes->probes[i].seconds > 0 && probes->probes[i].bytes > 0
             && probes->probes[i].flops >= 0
             && probes->probes[i].name[0] != '\0');
  require (probes->n_links <= QM_PROBES_LINKS);
  for (size_t i = 0; i < probes->n_links; i++)
    require (probes->links[i].ranks > 1
             && qm_probes_links (probes, probes->links[i].ranks)
                    == &probes->links[i]);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *text = malloc (size > 0 ? size : 1);
  QmProbes probes;
  QmError error = { 0 };

  require (text != NULL);
  if (size > 0)
    memcpy (text, data, size);
  if (qm_probes_parse (text, size, "speeds.json", &probes, &error) == QM_OK)
    check (&probes);
  else
    require (error.message[0] != '\0');
  free (text);
  return 0;
}
