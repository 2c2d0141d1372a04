/* SPDX-License-Identifier: Apache-2.0 */

#include "data/clock.h"

#include <time.h>

double
qm_clock (void)
{
  struct timespec time = { 0 };

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}
