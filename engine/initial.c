/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/initial.h"

#include <math.h>

void
qm_initial_call (const QmParameter *parameter,
                 int rank,
                 double range,
                 bool used,
                 QmOpCall *call)
{
  const bool zero = parameter->initial == QM_INITIAL_ZERO;
  QmAttributes *attributes = &call->attributes;
  double bound = parameter->amounts[0];

  switch (used && zero && rank > 1 ? QM_INITIAL_NORMAL : parameter->initial)
    {
    case QM_INITIAL_NORMAL:
      call->op = QM_OP_RANDOM;
      attributes->distribution = QM_DISTRIBUTION_NORMAL;
      attributes->scale = bound > 0 ? bound : range;
      return;
    case QM_INITIAL_UNIFORM:
      call->op = QM_OP_RANDOM;
      attributes->distribution = QM_DISTRIBUTION_UNIFORM;
      attributes->value = -bound;
      attributes->scale = 2 * bound;
      return;
    case QM_INITIAL_TIME_STEPS:
      call->op = QM_OP_RANDOM;
      attributes->distribution = QM_DISTRIBUTION_UNIFORM;
      attributes->scale = 1;
      return;
    case QM_INITIAL_CONSTANT:
      call->op = QM_OP_FILL;
      attributes->value = bound;
      return;
    case QM_INITIAL_ONE:
      call->op = QM_OP_FILL;
      attributes->value = 1;
      return;
    case QM_INITIAL_ZERO:
    case QM_INITIAL_STATES:
      call->op = QM_OP_FILL;
      return;
    }
}

bool
qm_initial_needs_host (const QmParameter *parameter)
{
  return parameter->initial == QM_INITIAL_TIME_STEPS
         || parameter->initial == QM_INITIAL_STATES;
}

/* The inverse of softplus, of a time step that `unit` in [0, 1) stands for. */
static float
time_step (const double *amounts, double unit)
{
  double low = log (amounts[0]), high = log (amounts[1]);
  double step = fmax (exp (low + unit * (high - low)), amounts[2]);

  return (float) (step + log (-expm1 (-step)));
}

void
qm_initial_finish (const QmParameter *parameter,
                   int64_t n,
                   int64_t columns,
                   float *values)
{
  for (int64_t i = 0; i < n; i++)
    if (parameter->initial == QM_INITIAL_TIME_STEPS)
      values[i] = time_step (parameter->amounts, values[i]);
    else if (parameter->initial == QM_INITIAL_STATES)
      values[i] = (float) log ((double) (i % columns + 1));
}
