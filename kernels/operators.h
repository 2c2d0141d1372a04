/* SPDX-License-Identifier: Apache-2.0 */

/* The table of operators: what one device can do to tensors.
 *
 * Every operator is called in the same way: attributes, inputs, outputs and a
 * workspace.  Inputs and outputs stand in fixed slots, listed in
 * kernels/operator-list.h with their shapes; a slot in [brackets] may be
 * absent.  A call only queues work: it allocates nothing, copies nothing from
 * the host's memory after it returned, does not wait, and can be captured.
 * Whatever changes from one launch of a capture to the next (random numbers,
 * loss scale, learning rate) is therefore in memory of the device.
 *
 * Numbers.  Tensors are f32, f16 or bf16 unless it says i32 or f32; in one call
 * each float tensor may have its own type, except that the factors of a product
 * share one.  Arithmetic is in fp32 or better, an output is rounded once, to
 * nearest even.  Outputs written "+=" are added to, in fp32; all others are
 * overwritten and may hold anything before.
 *
 * Memory.  Rows are dense: the last stride is 1, and a row of a 2-dimensional
 * tensor may be followed by a gap, unless an operator says otherwise. Addresses
 * of whole tensors are aligned to 256 bytes, those of views to their element.
 * An output may be the very same view as an input only where
 * qm_op_may_alias() says so; otherwise no output overlaps anything.
 *
 * Random numbers are a function of (seed, pass, site, position), the same on
 * every device and for every way of computing; see kernels/random.h.  `rng` is
 * an i32 tensor of 3: seed, upper half of the seed, number of the pass.
 */

#ifndef QM_KERNELS_OPERATORS_H
#define QM_KERNELS_OPERATORS_H

#include "data/error.h"
#include "kernels/attributes.h"
#include "kernels/device.h"
#include "kernels/operator-list.h"
#include "kernels/tensor.h"
#include "kernels/training.h"

/* Elements of a head, beyond which no device has attention in one operator. */
#define QM_ATTENTION_HEAD 256

#define QM_OP_MAX_INPUTS  11
#define QM_OP_MAX_OUTPUTS 8

typedef struct QmOpCall
{
  QmOp op;
  QmAttributes attributes;
  QmTensor inputs[QM_OP_MAX_INPUTS];
  QmTensor outputs[QM_OP_MAX_OUTPUTS];
  void *workspace; /* aligned to 256 bytes; shared by all calls of a stream */
  size_t workspace_bytes;
} QmOpCall;

/* "linear", "attention_backward", ...; static. */
const char *qm_op_name (QmOp op);

/* How many slots an operator has. */
int qm_op_inputs (QmOp op);
int qm_op_outputs (QmOp op);

/* Whether `output` may be the same view as `input`, of which nothing is left
 * then. */
bool qm_op_may_alias (QmOp op, int output, int input);

/* Whether an output is added to, or read and written: its memory has to hold
 * what it held before. */
bool qm_op_accumulates (QmOp op, int output);

/* Whether an operator that divides by 1 - p changes anything at that p: p is
 * rounded to 1/65536. */
bool qm_dropout_is_on (double dropout);

/* Floating point operations of the call as data/flops.h counts: of products,
 * convolutions, scans and attention, of this only what a mask leaves,
 * recomputation not. */
double qm_op_flops (const QmOpCall *call);

/* Bytes of memory that the call has to move at the least: inputs read once,
 * outputs written once (and read where they are added to), of tables only the
 * rows that are used.  Addresses tell whether it works in place. */
double qm_op_bytes (const QmOpCall *call);

/* Bytes of workspace that the call needs on a device like `target`; an upper
 * bound that depends on nothing but its arguments, so that a plan for a
 * device that is not here is exact.  Addresses in the call are not looked at.
 */
size_t qm_op_workspace (const QmTarget *target, const QmOpCall *call);

/* Whether any call of the operator needs some there, without looking at one. */
bool qm_op_has_workspace (const QmTarget *target, QmOp op);

/* Whether a device like `target` has kernels for the sizes of a call, whose
 * addresses are not looked at; else QM_STATUS_UNSUPPORTED, with what is too
 * large. */
QmStatus
qm_target_takes (const QmTarget *target, const QmOpCall *call, QmError *error);

/* Whether the gradient of attention turns what its table says there while it
 * makes it, rather than in memory afterwards; and whether it does any. */
bool qm_target_turns (const QmTarget *target, const QmOpCall *call);
bool qm_target_has_turns (const QmTarget *target);

/* Whether a device like `target` has a kernel that ends such a product in its
 * gate, or in the gradient of one, so that nothing between them is in memory:
 * for a call of QM_OP_GATED_LINEAR or QM_OP_GATED_INPUT_GRAD, false of others;
 * and whether for any.  It may take two kernels where these are faster. */
bool qm_target_gates (const QmTarget *target, const QmOpCall *call);
bool qm_target_has_gates (const QmTarget *target);

/* Whether any call of the operator may be refused there, without looking at
 * one. */
bool qm_op_has_limits (const QmTarget *target, QmOp op);

/* Whether rows of a call of QM_OP_ROTARY_LINEAR are of whole sequences, and
 * columns of whole chunks of heads that can turn. */
bool qm_op_rotary_fits (const QmOpCall *call);

/* The two calls that one of QM_OP_ROTARY_LINEAR is, where the second turns what
 * the first has made. */
void
qm_op_split_rotary (const QmOpCall *call, QmOpCall *linear, QmOpCall *rotary);

/* Checks what numbers of the call may be, whatever its tensors are:
 * QM_STATUS_INVALID, with what is wrong, where a window is negative or a scale
 * of attention's scores is 0 or less. */
QmStatus qm_op_check_attributes (const QmOpCall *call, QmError *error);

/* Checks the types and shapes of the call against the table, and its
 * attributes. */
QmStatus qm_op_check (const QmOpCall *call, QmError *error);

/* Queues the call.  QM_STATUS_UNSUPPORTED where the device has no such
 * operator for these types or shapes, and then nothing is queued. */
QmStatus qm_op_run (QmDevice *device,
                    QmStream *stream,
                    const QmOpCall *call,
                    QmError *error);

#endif
