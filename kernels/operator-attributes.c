/* SPDX-License-Identifier: Apache-2.0 */

/* What an attribute may be by itself. */

#include "kernels/operators.h"

#include <math.h>

static QmStatus
refuse_attribute (const QmOpCall *call,
                  const char *what,
                  double value,
                  const char *why,
                  QmError *error)
{
  return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0, "%s: %s is %g, %s",
                       qm_op_name (call->op), what, value, why);
}

/* Kernels of GPUs look for the largest product of a query with keys, and scale
 * it then, in fp32: times 0 or less that is not the largest score, nor what is
 * masked the least, and what comes is no number. */
static QmStatus
check_scale (const QmOpCall *call, QmError *error)
{
  float scale = (float) call->attributes.scale;

  return scale > 0 && isfinite (scale)
             ? QM_OK
             : refuse_attribute (call, "the scale of its scores",
                                 call->attributes.scale,
                                 "and has to be above 0", error);
}

QmStatus
qm_op_check_attributes (const QmOpCall *call, QmError *error)
{
  switch (call->op)
    {
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
    case QM_OP_SOFTMAX:
      if (call->attributes.window < 0)
        return refuse_attribute (call, "the window",
                                 (double) call->attributes.window,
                                 "and cannot be negative", error);
      return call->op == QM_OP_SOFTMAX ? QM_OK : check_scale (call, error);
    default:
      return QM_OK;
    }
}
