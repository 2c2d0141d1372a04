/* SPDX-License-Identifier: Apache-2.0 */

/* Passes: each takes a graph to one that computes the same in another way.  A
 * pass that finds nothing to do changes nothing, and each works alone. */

#ifndef QM_ENGINE_PASSES_H
#define QM_ENGINE_PASSES_H

#include "engine/graph.h"

/* Before differentiation: scores, softmax, dropout and their product with the
 * values become one operator that never stores the scores. */
QmStatus qm_pass_attention (QmGraph *graph, QmError *error);

/* Before differentiation: scans keep the states at the beginnings of chunks
 * instead of all. */
QmStatus qm_pass_scan (QmGraph *graph, QmError *error);

/* Before differentiation: linear layers of one input and neighbouring weights
 * become one; activations go into the linear layer or convolution before them;
 * sums into a layer scale before them; sums, with dropouts, a layer scale or a
 * gate, into the norm after them, and norms of one input into one. */
QmStatus qm_pass_fuse_forward (QmGraph *graph, QmError *error);

/* After differentiation: sums over rows go into the product that makes the
 * weights' gradient; derivatives of activations, and sums, into the product,
 * convolution or norm before them; and, of both directions, changes of type
 * into the sum before or after them. */
QmStatus qm_pass_fuse_backward (QmGraph *graph, QmError *error);

/* After differentiation: a head's logits, their loss and what their gradient is
 * read for are done for some rows, then for the next, so that logits are never
 * whole in memory; several losses each.  `rows`, at most, at a time; 0: where
 * there are more than QM_LOSS_WHOLE_CLASSES classes QM_LOSS_ROWS, else all.
 *
 * With fewer classes the logits of a token take no more than 128 KiB in 16
 * bits, what some layers keep of it for the backward pass, and whole ones are a
 * bit faster.  With QM_LOSS_ROWS a piece of 128256 classes takes 1 GiB, of
 * 262144 2 GiB, a quarter of what weights, gradient and states of such a head
 * of width 2048 take. Fewer would cost: adding a tile to the gradient of the
 * weights takes a GPU as long as about three of the steps of 64 rows that its
 * product has, so that of a piece 5 %, a third of which the head's three
 * products notice; and the product with 4096 rows and a width of 2048 has 128
 * tiles for 66 pairs of multiprocessors of an H100, just two rounds. */
#define QM_LOSS_WHOLE_CLASSES 65536
#define QM_LOSS_ROWS          4096

QmStatus qm_pass_loss (QmGraph *graph, int64_t rows, QmError *error);

/* After differentiation and fusion: products of linear layers of blocks, in 16
 * bits, and of their gradients become products in FP8 (kernels/scaled.h), where
 * inputs and outputs are multiples of QM_SCALED_MULTIPLE; tokens are of any
 * number.  Activations and sums that were in a product are operators of their
 * own again.  QM_STATUS_UNSUPPORTED where that leaves none. */
QmStatus qm_pass_fp8 (QmGraph *graph, const QmFp8 *fp8, QmError *error);

/* After all others but those of gates and of rotary positions: activation
 * checkpointing (Chen et al. 2016).  Of what the forward nodes make, only what
 * is outside of blocks lives until the backward pass, the outputs of blocks
 * among it.  Everything else that the backward pass reads is made once more, by
 * the same operators from the same values, right before it is read for the
 * first time.  So gradients do not change. */
QmStatus qm_pass_checkpoint (QmGraph *graph, QmError *error);

/* After checkpointing: gates go into the product that makes what they gate, and
 * their gradients into the one that makes that of what was gated. */
QmStatus qm_pass_gates (QmGraph *graph, QmError *error);

/* After checkpointing: what turns queries and keys goes into the product that
 * makes them. */
QmStatus qm_pass_rotary (QmGraph *graph, QmError *error);

/* After differentiation: queries and keys whose gradients rotary positions turn
 * back are turned by what makes these. */
QmStatus qm_pass_turn (QmGraph *graph, QmError *error);

/* Products of f32 may use TF32. */
QmStatus qm_pass_tf32 (QmGraph *graph, QmError *error);

/* Equal bits in every run, also where that costs time. */
QmStatus qm_pass_deterministic (QmGraph *graph, QmError *error);

/* For passes. */

/* Who makes and uses what. */
typedef struct QmUses
{
  size_t n_values;
  int32_t *producer; /* by owner: the first node that writes it, or -1 */
  int32_t *writers;  /* by owner: how many outputs write it */
  int32_t *readers;  /* by owner: how many inputs read it */
} QmUses;

QmStatus qm_uses_find (const QmGraph *graph, QmUses *uses, QmError *error);
void qm_uses_clear (QmUses *uses);

/* Does something with each node, with the uses that there were before, and
 * takes those away that were removed. */
typedef void (*QmRewrite) (const QmUses *uses, QmGraph *graph, QmNode *node);
QmStatus qm_uses_each (QmGraph *graph, QmRewrite rewrite, QmError *error);

/* The node that alone makes a temporary value, if it is of that operator and,
 * with `single`, if nothing but one input reads the value; else NULL. */
QmNode *qm_uses_maker (
    const QmUses *uses, QmGraph *graph, QmValueId value, QmOp op, bool single);

/* Marks a node as removed; qm_graph_sweep() then takes such nodes out. */
void qm_node_remove (QmNode *node);
bool qm_node_removed (const QmNode *node);

/* Whether a node between two others writes a part of what `value` is one of,
 * or, with `reads`, reads one. */
bool qm_used_between (const QmGraph *graph,
                      const QmNode *from,
                      const QmNode *to,
                      QmValueId value,
                      bool reads);

void qm_graph_sweep (QmGraph *graph);

#endif
