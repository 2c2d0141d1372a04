/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench.h"

#include <stdio.h>
#include <string.h>

void
qm_bench_names_add (QmBenchNames *names, const char *name)
{
  static const char rest[] = " and 99999 more";
  size_t used = strlen (names->text);

  if (names->more > 0
      || used + strlen (name) + strlen (", ") + sizeof rest
             > sizeof names->text)
    names->more++;
  else
    snprintf (names->text + used, sizeof names->text - used, "%s%s",
              used > 0 ? ", " : "", name);
}

const char *
qm_bench_names_text (QmBenchNames *names)
{
  size_t used = strlen (names->text);

  if (names->more > 0)
    snprintf (names->text + used, sizeof names->text - used, " and %zu more",
              names->more);
  names->more = 0;
  return names->text;
}
