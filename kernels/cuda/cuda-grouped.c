/* SPDX-License-Identifier: Apache-2.0 */

/* Which kernel makes a product of groups of rows.  cuBLASLt has to know how
 * many rows a group has before it is called, and only the device knows that. */

#include "kernels/cuda/grouped-product.h"
#include "kernels/cuda/hopper-grouped.h"

QmStatus
qm_cuda_grouped (QmCudaContext *context,
                 cudaStream_t stream,
                 const QmOpCall *call,
                 QmError *error)
{
  if (call->inputs[0].type != call->inputs[1].type)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s: factors of different types",
                         qm_op_name (call->op));
  return qm_hopper_grouped_fits (context, call)
             ? qm_hopper_grouped (context, stream, call, error)
             : qm_cuda_portable_grouped (stream, call, error);
}
