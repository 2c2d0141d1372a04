/* SPDX-License-Identifier: Apache-2.0 */

/* Which memory of a call may be that of another tensor, or has to hold
 * something before. */

#include "kernels/operators.h"

bool
qm_op_may_alias (QmOp op, int output, int input)
{
  switch (op)
    {
    case QM_OP_ADD:
    case QM_OP_ACTIVATION_BACKWARD:
    case QM_OP_GATE:
    case QM_OP_GATE_BACKWARD:
    case QM_OP_SOFTMAX_BACKWARD:
    case QM_OP_MUON_POLYNOMIAL:
      return true;
    case QM_OP_WEIGHTED_GATE:
    case QM_OP_GATED_NORM:
      return output == 0 && input <= 1;
    case QM_OP_WEIGHTED_GATE_BACKWARD:
    case QM_OP_GATED_NORM_BACKWARD:
      return output <= 1 && input <= 2;
    case QM_OP_ACTIVATION:
    case QM_OP_DROPOUT:
    case QM_OP_SOFTMAX:
    case QM_OP_ROTARY:
    case QM_OP_CROSS_ENTROPY:
    case QM_OP_PIXEL_LOSS:
    case QM_OP_NOISE_LOSS:
    case QM_OP_ADD_POSITIONS:
    case QM_OP_TEACHER_LOSS:
    case QM_OP_CONTRAST_LOSS:
    case QM_OP_HIDE_ROWS:
    case QM_OP_TOKEN_DROPOUT:
    case QM_OP_ADVANCE:
      return output == 0 && input == 0;
    case QM_OP_GATED_ADD_BACKWARD:
      return output == 0 && input <= 1;
    case QM_OP_ADAPTIVE_NORM:
      return output == 3 && (input == 0 || input == 3);
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
      /* What is kept of the branch for so long fits its gradient best. */
      return output == 3 ? input == 6
                         : output == 0 && (input <= 1 || input == 5);
    case QM_OP_LINEAR_INPUT_GRAD:
      return input == 3;
    case QM_OP_GATED_INPUT_GRAD:
      return input == 2;
    case QM_OP_LAYER_NORM:
      return output == 3 && (input == 0 || input == 3 || input == 4);
    case QM_OP_LAYER_NORM_BACKWARD:
      return (output == 0 || output == 5 || output == 6)
             && (input == 0 || input == 5 || input == 6 || input == 9);
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
      return output == 0 && input == 4;
    case QM_OP_LAYER_SCALE:
    case QM_OP_GATED_ADD:
      return input == 0 || input == 2;
    case QM_OP_LAYER_SCALE_BACKWARD:
      return output == 0 && input <= 1;
    default:
      return false;
    }
}

bool
qm_op_accumulates (QmOp op, int output)
{
  switch (op)
    {
    case QM_OP_COLUMN_SUM:
    case QM_OP_LINEAR_WEIGHT_GRAD:
    case QM_OP_SCALED_WEIGHT_GRAD:
    case QM_OP_NOTE_AMAX:
    case QM_OP_GROUPED_WEIGHT_GRAD:
    case QM_OP_EMBEDDING_BACKWARD:
    case QM_OP_UPDATE_STATE:
    case QM_OP_ADVANCE:
    case QM_OP_ALL_REDUCE:
    case QM_OP_REDUCE_SCATTER:
    case QM_OP_ALL_GATHER:
      return true;
    case QM_OP_LAYER_NORM_BACKWARD:
      return (output >= 1 && output <= 4) || output == 7;
    case QM_OP_CLASS_TOKEN_BACKWARD:
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
    case QM_OP_LAYER_SCALE_BACKWARD:
    case QM_OP_RESTORE_TOKENS_BACKWARD:
    case QM_OP_BALANCE:
      return output >= 1;
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
    case QM_OP_DUAL_SCAN_BACKWARD:
      return output == 2 || output == 5 || output == 6;
    case QM_OP_GATED_NORM_BACKWARD:
      return output == 2;
    case QM_OP_ADAM:
      return output <= 3;
    case QM_OP_LAMB_DIRECTION:
      return true;
    case QM_OP_LAMB_UPDATE:
    case QM_OP_MUON_MOMENTUM:
      return output <= 1;
    case QM_OP_KEEP_ROWS:
      return output == 0;
    case QM_OP_MUON_NORMALIZE:
    case QM_OP_MUON_UPDATE:
    case QM_OP_AVERAGE:
      return output == 0;
    default:
      return false;
    }
}
