/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/operators.h"

#include "kernels/operator-signatures.h"

#include <stdio.h>
#include <string.h>

const char *
qm_op_name (QmOp op)
{
  return (unsigned) op < QM_OP_COUNT ? qm_op_signatures[op].name : "?";
}

static int
count_words (const char *text)
{
  int words = text[0] != '\0';

  for (; *text != '\0'; text++)
    words += *text == ' ';
  return words;
}

int
qm_op_inputs (QmOp op)
{
  return count_words (qm_op_signatures[op].inputs);
}

int
qm_op_outputs (QmOp op)
{
  return count_words (qm_op_signatures[op].outputs);
}

/* What is known of the letters while a call is checked. */
typedef struct Check
{
  const QmOpCall *call;
  int64_t size[128];
  const QmTensor *any; /* the first of '*' */
  QmError *error;
} Check;

static QmStatus
refuse_tensor (const Check *check, const char *side, int slot, const char *why)
{
  return qm_error_set (check->error, QM_STATUS_INVALID, "", 0, 0,
                       "%s: %s %d %s", qm_op_name (check->call->op), side, slot,
                       why);
}

static bool
type_matches (char letter, QmType type)
{
  switch (letter)
    {
    case 'f':
      return type != QM_TYPE_I32 && !qm_type_is_fp8 (type);
    case 'e':
      return qm_type_is_fp8 (type);
    case 's':
      return type == QM_TYPE_F32;
    case 'i':
      return type == QM_TYPE_I32;
    default:
      return !qm_type_is_fp8 (type);
    }
}

/* Letters up to a space or the end: few, and counted of all calls of a plan. */
static int32_t
count_letters (const char *letters)
{
  int32_t n = 0;

  while (letters[n] != ' ' && letters[n] != '\0')
    n++;
  return n;
}

static bool
shape_matches (Check *check, const char *letters, const QmTensor *tensor)
{
  int32_t rank = count_letters (letters);

  if (letters[0] == '*')
    {
      if (check->any == NULL)
        check->any = tensor;
      return qm_tensor_same_shape (check->any, tensor);
    }
  if (tensor->rank != rank)
    return false;
  for (int32_t i = 0; i < rank; i++)
    {
      char letter = letters[i];
      int64_t *size = &check->size[(unsigned char) letter];

      if (letter >= '0' && letter <= '9')
        *size = letter - '0';
      else if (*size < 0)
        *size = tensor->shape[i];
      if (tensor->shape[i] != *size)
        return false;
    }
  return true;
}

static bool
sizes_are_sane (const QmTensor *tensor)
{
  if (tensor->rank < 1 || tensor->rank > QM_MAX_RANK)
    return false;
  for (int32_t i = 0; i < tensor->rank; i++)
    if (tensor->shape[i] < 1 || tensor->stride[i] < 1)
      return false;
  return true;
}

static QmStatus
check_side (Check *check,
            const char *letters,
            const QmTensor *tensors,
            int max,
            const char *side)
{
  int slot = 0;

  for (; *letters != '\0'; slot++)
    {
      const QmTensor *tensor = &tensors[slot];
      char type = *letters++;
      bool optional = *letters == '?', dense, any;

      letters += optional;
      dense = *letters == '#';
      any = *letters == '~';
      letters += dense || any;
      if (qm_tensor_present (tensor))
        {
          int32_t last = tensor->rank - 1;

          if (!type_matches (type, tensor->type))
            return refuse_tensor (check, side, slot, "has the wrong type");
          if (!sizes_are_sane (tensor)
              || !shape_matches (check, letters, tensor))
            return refuse_tensor (check, side, slot, "has the wrong shape");
          if ((dense && !qm_tensor_is_dense (tensor))
              || (!any && tensor->shape[last] != 1
                  && tensor->stride[last] != 1))
            return refuse_tensor (check, side, slot, "has the wrong strides");
        }
      else if (!optional)
        return refuse_tensor (check, side, slot, "is missing");
      letters += count_letters (letters);
      letters += *letters == ' ';
    }
  for (; slot < max; slot++)
    if (qm_tensor_present (&tensors[slot]))
      return refuse_tensor (check, side, slot, "does not exist");
  return QM_OK;
}

/* Whether rows are those of whole samples. */
static bool
has_samples (const Check *check)
{
  int64_t height = check->call->attributes.height;
  int64_t width = check->call->attributes.width;
  int64_t rows = check->size['r'];

  return height > 0 && width > 0 && height <= rows && width <= rows / height
         && rows % (height * width) == 0;
}

/* Whether two optional tensors are both there, or both not. */
static bool
both_or_none (const QmTensor *a, const QmTensor *b)
{
  return qm_tensor_present (a) == qm_tensor_present (b);
}

/* Samples that stochastic depth may leave out, and what it draws from. */
static bool
depth_holds (const Check *check, int rng)
{
  return has_samples (check)
         && (check->size['u'] < 0 || check->size['u'] == check->size['r'])
         && (!qm_dropout_is_on (check->call->attributes.dropout)
             || qm_tensor_present (&check->call->inputs[rng]));
}

/* The same, or those that are left are told. */
static bool
scale_holds (const Check *check)
{
  const QmTensor *in = check->call->inputs;
  const int64_t *size = check->size;

  if (!qm_tensor_present (&in[4]))
    return !qm_tensor_present (&in[5]) && depth_holds (check, 3);
  return qm_tensor_present (&in[5]) && !qm_tensor_present (&in[3])
         && size['k'] < size['n'] && size['u'] % size['n'] == 0
         && size['r'] % size['k'] == 0
         && size['u'] / size['n'] == size['r'] / size['k']
         && check->call->attributes.scale > 0;
}

static bool
norm_holds (const Check *check)
{
  const QmOpCall *call = check->call;
  const QmTensor *in = call->inputs, *out = call->outputs;

  return (qm_tensor_present (&in[3]) || !qm_tensor_present (&in[4]))
         && (!qm_tensor_present (&in[8])
             || (qm_tensor_present (&in[3]) && !qm_tensor_present (&in[4])
                 && depth_holds (check, 7)))
         && both_or_none (&in[3], &out[3])
         && !(qm_tensor_present (&in[2]) && call->attributes.rms)
         && qm_tensor_present (&out[1]) != call->attributes.rms
         && qm_tensor_present (&in[6])
                == (qm_tensor_present (&in[5]) && qm_tensor_present (&in[2]));
}

static bool
norm_backward_holds (const Check *check)
{
  const QmOpCall *call = check->call;
  const QmTensor *in = call->inputs, *out = call->outputs;

  return qm_tensor_present (&in[3]) != call->attributes.rms
         && both_or_none (&in[9], &in[10]) && both_or_none (&in[10], &out[7])
         && (!qm_tensor_present (&in[10])
             || (qm_tensor_present (&out[5]) && !qm_tensor_present (&out[6])
                 && depth_holds (check, 8)))
         && !(qm_tensor_present (&out[2]) && call->attributes.rms)
         && both_or_none (&in[7], &out[3])
         && qm_tensor_present (&out[4])
                == (qm_tensor_present (&in[7]) && qm_tensor_present (&out[2]));
}

/* Rows of samples, and a gated branch as a whole or not at all: input `a`, its
 * gate, and output 3, which is the sum or the branch's gradient. */
static bool
adaptive_holds (const Check *check, int a)
{
  const QmTensor *in = check->call->inputs;

  return check->size['r'] % check->size['b'] == 0
         && both_or_none (&in[a], &in[a + 1])
         && both_or_none (&in[a], &check->call->outputs[3]);
}

static bool
attention_holds (const Check *check, int rng)
{
  const QmOpCall *call = check->call;
  int64_t turned = check->size['r'] > 0 ? check->size['r'] : 0;

  return check->size['h'] % check->size['g'] == 0
         && (!qm_dropout_is_on (call->attributes.dropout)
             || qm_tensor_present (&call->inputs[rng]))
         && call->attributes.rotary == turned && turned % 2 == 0
         && turned <= check->size['d'];
}

static bool
scan_holds (const Check *check)
{
  int64_t rows = check->size['r'], width = check->call->attributes.width;
  int64_t chunk = check->call->attributes.chunk;

  return width > 0 && rows % width == 0 && check->size['b'] == rows / width
         && chunk > 0 && chunk <= width
         && check->size['k'] == (width + chunk - 1) / chunk;
}

static bool
dual_scan_holds (const Check *check)
{
  const QmAttributes *attributes = &check->call->attributes;
  const int64_t *size = check->size;
  int64_t groups = attributes->count;

  return attributes->width > 0 && size['r'] % attributes->width == 0
         && groups > 0 && size['h'] % groups == 0 && size['m'] % groups == 0
         && size['d'] % size['h'] == 0 && attributes->value >= 0
         && (attributes->cap <= 0 || attributes->cap > attributes->value);
}

/* Whether rows are those of samples with a class token, registers and as many
 * patches each. */
static bool
tokens_hold (const Check *check)
{
  int64_t registers = check->size['g'] > 0 ? check->size['g'] : 0;
  int64_t patches = check->size['u'];
  int64_t batch = (check->size['r'] - patches) / (1 + registers);

  return batch > 0 && batch * (1 + registers) == check->size['r'] - patches
         && patches % batch == 0
         && (check->size['b'] < 0
                 ? check->size['s'] < 0
                       || check->size['s'] == patches / batch + 1
                 : check->size['b'] == batch
                       && check->size['k'] == patches / batch
                       && (check->size['s'] < 0
                           || check->size['s'] > patches / batch));
}

static bool
patches_hold (const Check *check)
{
  const int64_t *size = check->size;
  int64_t patch = check->call->attributes.patch;
  int64_t patches;

  if (patch < 1 || size['m'] < patch || size['n'] < patch)
    return false;
  patches = (size['m'] / patch) * (size['n'] / patch);
  return size['k'] == size['c'] * patch * patch && size['g'] <= patches
         && size['r'] == size['b'] * (size['g'] > 0 ? size['g'] : patches);
}

/* Rows of samples some of whose patches are hidden. */
static bool
masks_hold (const Check *check)
{
  const QmOpCall *call = check->call;
  const QmAttributes *attributes = &call->attributes;
  const int64_t *size = check->size;
  int64_t patch = attributes->patch;

  switch (call->op)
    {
    case QM_OP_MASK_PATCHES:
      return size['k'] < size['n']
             && qm_tensor_present (&call->inputs[0])
                    != qm_tensor_present (&call->inputs[1]);
    case QM_OP_PIXEL_LOSS:
      return patch > 0 && size['k'] == size['c'] * patch * patch
             && size['n'] == (size['h'] / patch) * (size['w'] / patch)
             && size['r'] == size['b'] * (size['n'] + 1)
             && attributes->count > 0 && attributes->count <= size['n']
             && (size['k'] > 1 || !attributes->normalized);
    default:
      return size['x'] % size['b'] == 0 && size['x'] / size['b'] >= 2
             && size['x'] / size['b'] <= size['n']
             && size['r'] == size['b'] * (size['n'] + 1)
             && (size['s'] < 0 || size['s'] == size['n'] + 1);
    }
}

/* Images that noise is added to. */
static bool
noise_holds (const Check *check)
{
  const QmAttributes *attributes = &check->call->attributes;
  const int64_t *size = check->size;
  int64_t patch = attributes->patch;

  if (check->call->op == QM_OP_DRAW_NOISE)
    return attributes->count > 0 && attributes->count <= INT32_MAX
           && attributes->padding >= 0;
  return patch > 0 && size['h'] % patch == 0 && size['w'] % patch == 0
         && size['r'] == size['b'] * (size['h'] / patch) * (size['w'] / patch)
         && size['k']
                == (attributes->learned ? 2 : 1) * size['c'] * patch * patch;
}

/* Rows of crops with shares, and of as many others of each image; or tokens of
 * as many crops of each. */
static bool
crops_hold (const Check *check)
{
  const QmAttributes *attributes = &check->call->attributes;
  const int64_t *size = check->size;
  int64_t rows = size['r'], targets = size['u'], crops, patches;

  if (check->call->op == QM_OP_TEACHER_LOSS && attributes->count == 0)
    return attributes->value > 0 && rows == targets;
  if (attributes->count < 1)
    return false;
  if (check->call->op == QM_OP_SPREAD_LOSS)
    return rows % attributes->count == 0 && rows / attributes->count > 1
           && attributes->epsilon > 0;
  if (check->call->op != QM_OP_TEACHER_LOSS)
    {
      if (attributes->first < 0 || attributes->count > rows
          || rows % attributes->count != 0)
        return false;
      crops = rows / attributes->count;
      patches = size['b'] > 0 && crops % size['b'] == 0
                    ? crops / size['b'] - attributes->first
                    : 0;
      return patches > 0 && (size['n'] < 0 || size['n'] == patches)
             && (size['h'] < 0 || size['h'] <= patches)
             && (size['t'] < 0 || size['t'] % size['b'] == 0)
             && (size['t'] < 0 || size['h'] < 0
                 || size['t'] == size['b'] * size['h'])
             && (check->call->op != QM_OP_HIDE_ROWS
                 || both_or_none (&check->call->inputs[2],
                                  &check->call->inputs[3]));
    }
  return attributes->value > 0 && targets % attributes->count == 0
         && rows >= targets
         && (rows - targets) % (targets / attributes->count) == 0;
}

static bool
pool_holds (const Check *check)
{
  const int64_t *size = check->size, first = check->call->attributes.first;

  return size['r'] % size['b'] == 0 && first >= 0
         && first < size['r'] / size['b']
         && size['o'] == (first > 0 ? 2 : 1) * size['c'];
}

/* Samples of a pass among those of a step, and the sums that go with a loss of
 * directions, or the bias of one of pairs. */
static bool
pairs_hold (const Check *check)
{
  const QmOpCall *call = check->call;
  const QmTensor *bias = &call->inputs[2];

  if (call->op == QM_OP_KEEP_ROWS)
    return call->attributes.count > 0 && call->attributes.chunk > 0
           && check->size['n'] % call->attributes.count == 0
           && check->size['n'] / call->attributes.count
                  == call->attributes.chunk * check->size['r'];
  return check->size['r'] <= check->size['n']
         && both_or_none (bias, &call->outputs[3])
         && both_or_none (&call->inputs[4], &call->inputs[5])
         && qm_tensor_present (bias) != qm_tensor_present (&call->inputs[4]);
}

static bool
angles_hold (const Check *check)
{
  const QmAttributes *attributes = &check->call->attributes;

  return attributes->height > 0 && attributes->width > 0
         && attributes->height <= check->size['s']
         && attributes->width <= check->size['s'] && attributes->count >= 0
         && attributes->count + attributes->height * attributes->width
                == check->size['s']
         && check->size['r'] % 4 == 0;
}

/* Rows of tokens and their experts. */
static bool
rows_hold (const Check *check)
{
  const int64_t *size = check->size;

  switch (check->call->op)
    {
    case QM_OP_ROUTE:
      return size['o'] == size['e'] + 1 && size['k'] <= size['e']
             && size['r'] == size['t'] * size['k'];
    case QM_OP_ROUTE_BACKWARD:
      return size['k'] <= size['e'];
    case QM_OP_GROUPED_LINEAR:
    case QM_OP_GROUPED_INPUT_GRAD:
    case QM_OP_GROUPED_WEIGHT_GRAD:
    case QM_OP_EXPERT_LOAD:
      return size['o'] == size['e'] + 1;
    default:
      return size['r'] == size['t'] * size['k'];
    }
}

/* Whether both factors have one scale, or each one for every row. */
static bool
scales_hold (const Check *check)
{
  const int64_t *size = check->size;

  return (size['p'] == 1 && size['q'] == 1)
         || (size['p'] == size['r'] && size['q'] == size['o']);
}

/* Something is made, with the scales that belong to it. */
static bool
quantize_holds (const Check *check)
{
  const QmOpCall *call = check->call;
  const QmTensor *q = &call->outputs[0], *qt = &call->outputs[2];

  if ((qm_tensor_present (&call->outputs[4])
       && !qm_tensor_present (&call->inputs[1]))
      || (!qm_tensor_present (q) && !qm_tensor_present (qt))
      || (qm_tensor_present (q) && qm_tensor_present (qt)
          && q->type != qt->type)
      || (qm_tensor_present (qt) && check->size['t'] < check->size['r']))
    return false;
  if (!call->attributes.by_row)
    return check->size['p'] == 1 && !qm_tensor_present (&call->outputs[3]);
  return !qm_tensor_present (&call->inputs[1])
         && both_or_none (q, &call->outputs[1])
         && both_or_none (qt, &call->outputs[3])
         && (!qm_tensor_present (q) || check->size['p'] == check->size['r']);
}

/* What letters cannot say. */
static bool
relations_hold (const Check *check)
{
  const QmOpCall *call = check->call;
  const QmAttributes *attributes = &call->attributes;
  const int64_t *size = check->size;

  switch (call->op)
    {
    case QM_OP_EMBEDDING:
    case QM_OP_EMBEDDING_BACKWARD:
    case QM_OP_TOKEN_DROPOUT:
      return size['t'] == size['b'] * size['s'];
    case QM_OP_GATED_LINEAR:
    case QM_OP_GATED_INPUT_GRAD:
      return size['g'] == 2 * size['c'];
    case QM_OP_ROTARY_LINEAR:
      return qm_op_rotary_fits (call);
    case QM_OP_ROUTE:
    case QM_OP_ROUTE_BACKWARD:
    case QM_OP_GATHER_ROWS:
    case QM_OP_COMBINE_ROWS:
    case QM_OP_WEIGHTED_GATE:
    case QM_OP_WEIGHTED_GATE_BACKWARD:
    case QM_OP_GROUPED_LINEAR:
    case QM_OP_GROUPED_INPUT_GRAD:
    case QM_OP_GROUPED_WEIGHT_GRAD:
    case QM_OP_EXPERT_LOAD:
      return rows_hold (check);
    case QM_OP_QUANTIZE:
      return quantize_holds (check);
    case QM_OP_SCALED_LINEAR:
    case QM_OP_SCALED_WEIGHT_GRAD:
      return scales_hold (check);
    case QM_OP_BALANCE:
      return attributes->count > 0;
    case QM_OP_CROSS_ENTROPY:
      return attributes->first >= 0 && attributes->cap >= 0
             && attributes->z_loss >= 0
             && size['t'] <= size['b'] * size['s'] - attributes->first;
    case QM_OP_CLASS_TOKEN:
    case QM_OP_CLASS_TOKEN_BACKWARD:
      return tokens_hold (check);
    case QM_OP_PATCH_ANGLES:
      return angles_hold (check);
    case QM_OP_MASK_PATCHES:
    case QM_OP_RESTORE_TOKENS:
    case QM_OP_RESTORE_TOKENS_BACKWARD:
    case QM_OP_PIXEL_LOSS:
      return masks_hold (check);
    case QM_OP_ADD_POSITIONS:
      return size['r'] % size['s'] == 0;
    case QM_OP_ADAPTIVE_NORM:
      return adaptive_holds (check, 3);
    case QM_OP_ADAPTIVE_NORM_BACKWARD:
      return adaptive_holds (check, 6)
             && both_or_none (&call->inputs[6], &call->outputs[4]);
    case QM_OP_GATED_ADD:
    case QM_OP_GATED_ADD_BACKWARD:
      return size['r'] % size['b'] == 0;
    case QM_OP_DRAW_NOISE:
    case QM_OP_NOISE_LOSS:
      return noise_holds (check);
    case QM_OP_SHARE_OUT:
      return attributes->value > 0 && attributes->count > 0;
    case QM_OP_TEACHER_LOSS:
    case QM_OP_SPREAD_LOSS:
    case QM_OP_HIDE_ROWS:
    case QM_OP_PICK_ROWS:
    case QM_OP_PICK_ROWS_BACKWARD:
      return crops_hold (check);
    case QM_OP_PATCHIFY:
    case QM_OP_UNPATCHIFY:
      return patches_hold (check);
    case QM_OP_ROTARY:
      return attributes->rotary == size['r'] && size['r'] % 2 == 0
             && size['r'] <= size['d'] && attributes->count >= 1
             && attributes->count <= size['p'];
    case QM_OP_SOFTMAX:
      return size['q'] == size['s']
             || (attributes->window == 0
                 && attributes->causal == QM_CAUSAL_NONE);
    case QM_OP_KEEP_ROWS:
    case QM_OP_CONTRAST_LOSS:
      return pairs_hold (check);
    case QM_OP_REPEAT_HEADS:
    case QM_OP_REPEAT_HEADS_BACKWARD:
      return size['h'] % size['g'] == 0;
    case QM_OP_ATTENTION:
    case QM_OP_ATTENTION_BACKWARD:
      return attention_holds (check, call->op == QM_OP_ATTENTION ? 3 : 6);
    case QM_OP_LAYER_NORM:
      return norm_holds (check);
    case QM_OP_LAYER_NORM_BACKWARD:
      return norm_backward_holds (check);
    case QM_OP_DEPTHWISE_CONV:
    case QM_OP_DEPTHWISE_CONV_BACKWARD:
      return has_samples (check);
    case QM_OP_LAYER_SCALE:
      return scale_holds (check);
    case QM_OP_LAYER_SCALE_BACKWARD:
      return scale_holds (check)
             && both_or_none (&call->inputs[2], &call->outputs[1]);
    case QM_OP_POOL:
    case QM_OP_POOL_BACKWARD:
      return pool_holds (check);
    case QM_OP_SELECTIVE_SCAN:
      return scan_holds (check);
    case QM_OP_SELECTIVE_SCAN_BACKWARD:
      return scan_holds (check)
             && both_or_none (&call->inputs[7], &call->outputs[6])
             && both_or_none (&call->inputs[8], &call->outputs[7]);
    case QM_OP_DUAL_SCAN:
      return dual_scan_holds (check);
    case QM_OP_DUAL_SCAN_BACKWARD:
      return dual_scan_holds (check)
             && both_or_none (&call->inputs[7], &call->outputs[6]);
    case QM_OP_DROPOUT:
      return !attributes->tiled || call->inputs[0].rank == 4;
    default:
      return true;
    }
}

QmStatus
qm_op_check (const QmOpCall *call, QmError *error)
{
  Check check = { .call = call, .error = error };
  const QmSignature *signature;
  QmStatus status;

  if ((unsigned) call->op >= QM_OP_COUNT)
    return qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                         "there is no operator %d", (int) call->op);
  memset (check.size, -1, sizeof check.size); /* each -1 */
  signature = &qm_op_signatures[call->op];
  status = check_side (&check, signature->inputs, call->inputs,
                       QM_OP_MAX_INPUTS, "input");
  if (status == QM_OK)
    status = check_side (&check, signature->outputs, call->outputs,
                         QM_OP_MAX_OUTPUTS, "output");
  if (status == QM_OK && !relations_hold (&check))
    status = qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                           "%s: sizes do not agree", signature->name);
  if (status == QM_OK)
    status = qm_op_check_attributes (call, error);
  return status;
}
