/* SPDX-License-Identifier: Apache-2.0 */

/* The average of weights. */

#include "kernels/average.h"
#include "kernels/cpu/cpu.h"

#include <string.h>

typedef struct Average
{
  float decay;
  bool first;
  const float *master;
  float *average;
  const QmTensor *w;
} Average;

static bool
average_range (void *data, int64_t begin, int64_t end)
{
  const Average *a = data;

  for (int64_t i = begin; i < end; i++)
    a->average[i] =
        a->first ? a->master[i]
                 : qm_average_next (a->average[i], a->master[i], a->decay);
  if (qm_tensor_present (a->w))
    qm_cpu_store (a->w, begin, end - begin, a->average + begin);
  return true;
}

bool
qm_cpu_average (QmThreads *threads, const QmOpCall *call)
{
  const float *state = call->inputs[0].data;
  int64_t n = call->outputs[0].shape[0];
  Average average = { .decay = (float) call->attributes.value,
                      .first = call->attributes.first > 0,
                      .master = call->inputs[1].data,
                      .average = call->outputs[0].data,
                      .w = &call->outputs[1] };

  if (!qm_average_is_due (state, average.first))
    return true;
  return qm_cpu_parallel (threads, n, 2.0 * (double) n, average_range,
                          &average);
}
