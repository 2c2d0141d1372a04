/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/deadline.h"

#include <stdint.h>

struct timespec
qm_deadline (double seconds)
{
  struct timespec time = { 0 };
  double whole = (double) (int64_t) seconds;

  clock_gettime (CLOCK_MONOTONIC, &time);
  time.tv_sec += (time_t) whole;
  time.tv_nsec += (long) ((seconds - whole) * 1e9);
  if (time.tv_nsec >= 1000000000L)
    {
      time.tv_sec++;
      time.tv_nsec -= 1000000000L;
    }
  return time;
}

double
qm_deadline_left (const struct timespec *deadline)
{
  struct timespec now = { 0 };
  double left;

  clock_gettime (CLOCK_MONOTONIC, &now);
  left = (double) (deadline->tv_sec - now.tv_sec)
         + (double) (deadline->tv_nsec - now.tv_nsec) * 1e-9;
  return left > 0 ? left : 0;
}

bool
qm_condition_init (pthread_cond_t *condition)
{
  pthread_condattr_t attributes;
  bool done;

  if (pthread_condattr_init (&attributes) != 0)
    return false;
  done = pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC) == 0
         && pthread_cond_init (condition, &attributes) == 0;
  pthread_condattr_destroy (&attributes);
  return done;
}
