/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/host/host-sum.h"

#include "kernels/convert.h"
#include "kernels/host/host-adam.h"

#include <string.h>

/* Elements at a time; stays in the first cache. */
#define PIECE 2048

void
qm_host_sum (
    QmType type, const void *const *from, int n, void *to, size_t count)
{
  QmHostAdd add = { .kernel = qm_host_kernel_best (), .type = type };
  const size_t size = qm_type_size (type);
  float sum[PIECE];

  if (n == 1)
    {
      if (to != from[0] && count > 0)
        memcpy (to, from[0], count * size);
      return;
    }
  add.sum = sum;
  for (size_t i = 0; i < count; i += PIECE)
    {
      size_t left = count - i;
      int64_t piece = left < PIECE ? (int64_t) left : PIECE;

      qm_floats_load (type, (const char *) from[0] + i * size, 1, piece, sum);
      for (int j = 1; j < n; j++)
        {
          add.x = (const char *) from[j] + i * size;
          qm_host_add (&add, 0, piece);
        }
      qm_floats_store (type, (char *) to + i * size, 1, piece, sum);
    }
}
