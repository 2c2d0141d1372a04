/* SPDX-License-Identifier: Apache-2.0 */

/* How much there is to do in a call. */

#include "data/flops.h"
#include "kernels/operators.h"

/* The share of a square of n by n that a mask leaves, of a large one: half
 * where only earlier columns count. */
static double
share_seen (const QmAttributes *attributes, int64_t n)
{
  double sides = attributes->causal != QM_CAUSAL_NONE ? 1 : 2;
  double window = 1;

  if (attributes->window > 0 && attributes->window < n)
    window = (double) attributes->window / (double) n;
  return sides * window * (1 - window / 2);
}

/* States of a channel of a dual scan, whose input `b` has those of all groups.
 */
static double
states_of (const QmOpCall *call, int b)
{
  return (double) (call->inputs[b].shape[1] / call->attributes.count);
}

double
qm_op_flops (const QmOpCall *call)
{
  const int64_t *a = call->inputs[0].shape;
  const int64_t *b = call->inputs[1].shape;
  const int64_t *c = call->inputs[2].shape;

  switch (call->op)
    {
    case QM_OP_LINEAR:
    case QM_OP_GATED_LINEAR:
    case QM_OP_ROTARY_LINEAR:
    case QM_OP_SCALED_LINEAR:
    case QM_OP_SCALED_WEIGHT_GRAD:
      return 2.0 * (double) a[0] * (double) a[1] * (double) b[0];
    case QM_OP_LINEAR_INPUT_GRAD:
    case QM_OP_GATED_INPUT_GRAD:
    case QM_OP_LINEAR_WEIGHT_GRAD:
      return 2.0 * (double) a[0] * (double) a[1] * (double) b[1];
    case QM_OP_GROUPED_LINEAR:
      return 2.0 * (double) a[0] * (double) a[1] * (double) b[1];
    case QM_OP_GROUPED_INPUT_GRAD:
      return 2.0 * (double) a[0] * (double) a[1] * (double) b[2];
    case QM_OP_GROUPED_WEIGHT_GRAD:
      return 2.0 * (double) a[0] * (double) a[1] * (double) b[1];
    case QM_OP_MATMUL:
      return (call->attributes.causal != QM_CAUSAL_NONE ? 1 : 2)
             * (double) (a[0] * a[1]) * (double) a[2] * (double) a[3]
             * (double) b[3];
    case QM_OP_ATTENTION:
      return share_seen (&call->attributes, a[2]) * 4 * (double) (a[0] * a[1])
             * (double) a[2] * (double) a[2] * (double) a[3];
    case QM_OP_ATTENTION_BACKWARD:
      return share_seen (&call->attributes, a[2]) * 8 * (double) (a[0] * a[1])
             * (double) a[2] * (double) a[2] * (double) a[3];
    case QM_OP_DEPTHWISE_CONV:
      return 2.0 * (double) (a[0] * a[1]) * (double) (b[1] * b[2]);
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
      return 4.0 * (double) (a[0] * a[1]) * (double) (c[1] * c[2]);
    case QM_OP_SELECTIVE_SCAN:
      return (double) QM_MAMBA_SCAN_FLOPS * (double) (a[0] * a[1])
             * (double) c[1];
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
      return 2.0 * QM_MAMBA_SCAN_FLOPS * (double) (a[0] * a[1])
             * (double) call->inputs[4].shape[1];
    case QM_OP_DUAL_SCAN:
      return (double) QM_MAMBA2_SCAN_FLOPS * (double) (a[0] * a[1])
             * states_of (call, 3);
    case QM_OP_DUAL_SCAN_BACKWARD:
      return 2.0 * QM_MAMBA2_SCAN_FLOPS * (double) (a[0] * a[1])
             * states_of (call, 4);
    default:
      return 0;
    }
}

static double
size_of (const QmTensor *tensor)
{
  return (double) qm_tensor_elements (tensor)
         * (double) qm_type_size (tensor->type);
}

/* Of a table [count, features], the rows that `rows` look-ups can touch. */
static double
touched (const QmTensor *table, int64_t rows)
{
  return rows < table->shape[0]
             ? size_of (table) * (double) rows / (double) table->shape[0]
             : size_of (table);
}

/* Rows of `like` elements, in a type. */
static double
pixels_of (const QmTensor *like, int64_t rows, QmType type)
{
  return (double) rows * (double) like->shape[1] * (double) qm_type_size (type);
}

static int64_t
hidden_rows (const QmOpCall *call)
{
  return call->inputs[2].shape[0] * call->attributes.count;
}

double
qm_op_bytes (const QmOpCall *call)
{
  const QmTensor *in = call->inputs, *out = call->outputs;
  double bytes = 0;

  for (int i = 0; i < QM_OP_MAX_INPUTS; i++)
    bytes += size_of (&in[i]);
  for (int i = 0; i < QM_OP_MAX_OUTPUTS; i++)
    bytes += size_of (&out[i]) * (qm_op_accumulates (call->op, i) ? 2 : 1);
  switch (call->op)
    {
    case QM_OP_EMBEDDING:
      return bytes - size_of (&in[1]) + touched (&in[1], out[0].shape[0]);
    case QM_OP_EMBEDDING_BACKWARD:
      return bytes - 2 * size_of (&out[0])
             + 2 * touched (&out[0], in[0].shape[0]);
    case QM_OP_CROSS_ENTROPY:
      /* Of the labels, those of its rows. */
      return bytes - size_of (&in[1]) + 4.0 * (double) in[0].shape[0];
    case QM_OP_AVERAGE:
      /* But once in a training, one that begins reads the state. */
      return call->attributes.first > 0 ? size_of (&in[0]) : bytes;
    case QM_OP_LAYER_SCALE:
      /* In place, of samples that are left nothing else is touched. */
      if (qm_tensor_present (&in[4]) && in[2].data != NULL
          && in[2].data == out[0].data)
        bytes += pixels_of (&out[0], in[0].shape[0], in[2].type)
                 + pixels_of (&out[0], in[0].shape[0], out[0].type)
                 - size_of (&in[2]) - size_of (&out[0]);
      return bytes;
    case QM_OP_LAYER_SCALE_BACKWARD:
      return bytes - size_of (&in[0])
             + pixels_of (&in[1], in[1].shape[0], in[0].type);
    case QM_OP_PICK_ROWS:
      return bytes - size_of (&in[0])
             + pixels_of (&in[0], out[0].shape[0], in[0].type);
    case QM_OP_KEEP_ROWS:
      /* Of all rows, its own, which are not read. */
      return bytes - 2 * size_of (&out[0])
             + pixels_of (&out[0], in[0].shape[0], out[0].type);
    case QM_OP_SHARE_OUT:
      /* All of them for every sum, and to write. */
      return bytes + 2 * (double) call->attributes.count * size_of (&in[0]);
    case QM_OP_PATCHIFY:
      /* Of images, the patches that are kept. */
      if (qm_tensor_present (&in[1]))
        bytes +=
            pixels_of (&out[0], out[0].shape[0], in[0].type) - size_of (&in[0]);
      return bytes;
    case QM_OP_PIXEL_LOSS:
      /* What is hidden alone is read. */
      return bytes - size_of (&in[0]) - size_of (&in[1])
             + pixels_of (&in[0], hidden_rows (call), in[0].type)
             + pixels_of (&in[0], hidden_rows (call), in[1].type);
    case QM_OP_ROTARY:
      /* In place, only what turns. */
      if (in[0].data == out[0].data)
        return bytes
               - 2 * size_of (&in[0])
                     * (1
                        - (double) call->attributes.count
                              / (double) in[0].shape[2]
                              * (double) call->attributes.rotary
                              / (double) in[0].shape[4]);
      return bytes;
    default:
      return bytes;
    }
}
