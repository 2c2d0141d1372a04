/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/qm-order.h"

#include <string.h>

int
qm_order_doubles (gconstpointer a, gconstpointer b)
{
  const double *p = a;
  const double *q = b;

  return (*p > *q) - (*p < *q);
}

int
qm_order_ints (gconstpointer a, gconstpointer b)
{
  const int *p = a;
  const int *q = b;

  return (*p > *q) - (*p < *q);
}

int
qm_order_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}
