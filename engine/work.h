/* SPDX-License-Identifier: Apache-2.0 */

/* What a training asks of a machine: the calls of a pass and of an update, with
 * what each computes and moves.  Made from a plan, small, and all that a time
 * is predicted from (engine/predict.h).
 *
 * It says what every GPU that a plan is for would do, and not which one that
 * is: what depends on its architecture (TF32, `spared`, `turned`) is decided
 * where it is predicted. */

#ifndef QM_ENGINE_WORK_H
#define QM_ENGINE_WORK_H

#include "engine/plan.h"

/* What products are computed in. */
typedef enum QmArithmetic
{
  QM_ARITHMETIC_16, /* f16 or bf16, on tensor cores */
  QM_ARITHMETIC_TF32,
  QM_ARITHMETIC_FP32,
  QM_N_ARITHMETICS
} QmArithmetic;

/* Calls of one operator that ask the same. */
typedef struct QmWorkRow
{
  QmOp op;
  bool update; /* of an update, not of a pass */
  QmArithmetic arithmetic;
  double count;
  double flops, bytes;  /* of one call: qm_op_flops(), qm_op_bytes() */
  double inner;         /* of a product: what is added up for one element of its
                           result; of attention: size of a head; else 0 */
  double rows, columns; /* of what a product with weights results in; of a
                           softmax, the columns alone; of a scan, sequences
                           and channels; else 0 */
  double groups;   /* of which each has its share of the rows, with a product of
                      its own; else 0 */
  double length;   /* of attention: of the sequence; with a window, of one
                      without in which a query meets as many keys; else 0 */
  double accesses; /* of a product that is not grouped: how often threads load
                      or store, 16 bytes at once where each row of a matrix
                      begins at a multiple of them; else 0 */
  double computed; /* of one of unfused attention: operations of whole tiles, of
                      all pairs, also where a mask leaves half; of a dual scan,
                      those of the products of its chunks; else 0 */
  double whole;    /* of a rotary embedding that turns a part of heads: what
                      reading and writing them wholly moves; else 0 */
  double packed;   /* of a gradient that a product of ours writes to where it
                      is sent from: bytes that a framework moves to bring it
                      there; else 0 */
  double spared;   /* of a gate that is in the end of a product, and of that
                      product, and of a scaled or gated sum that a norm makes:
                      those of `bytes` that do not move where both are one
                      kernel; else 0 */
  bool in_norm;    /* such a sum, which is a part of a norm on all GPUs */
  bool turned;     /* a rotary embedding of gradients that turns them back where
                      attention's own kernel does not: nothing where it does */
  bool masked;     /* fused attention that PyTorch is given a mask for where it
                      compiles (qm_model_has_mask()) */
  bool drops;      /* fused attention with dropout */
  bool rms;        /* a norm over squares */
  bool unaligned;  /* a product with weights, of a matrix whose rows are no
                      multiple of 16 bytes where nobody pads them */
  bool padded;     /* and the plan pads them, which is for our kernels alone */
  bool composed;   /* an activation that Transformers makes of simple operators
                    */
} QmWorkRow;

/* One call of a plan with several ranks, in its order. */
typedef struct QmWorkCall
{
  QmOp op;
  QmPhase phase;
  int32_t row;  /* of one that computes; -1: it moves something, or waits */
  int32_t unit; /* that it fetches, sends or waits for; else -1 */
  double bytes; /* of one between ranks: the whole of what they exchange */
} QmWorkCall;

typedef struct QmWork
{
  QmWorkRow *rows; /* in the order of their first call */
  size_t n;
  QmWorkCall *order; /* all calls, where there are several ranks, else NULL */
  size_t n_order;
  int ranks, parts;  /* of the plan */
  double passes;     /* in a step */
  double samples;    /* in a step */
  double steps;      /* in the training */
  double calls;      /* of operators in a pass, with those that are `turned` */
  double parameters; /* elements, with the gaps between them */
  QmType type;       /* of products */
  bool offload;
  bool averaged;   /* weights are */
  double down, up; /* bytes of gradients and of weights that a pass moves to and
                      from the host; what moves is no row */
  double update_down, update_up; /* and an update */
} QmWork;

/* Takes it from a plan, which is not needed any more then.  *work is to be
 * freed with qm_work_free(), NULL on failure.  QM_STATUS_UNSUPPORTED for one in
 * FP8, with QM_PREDICT_NO_FP8: no product in it has a time. */
QmStatus qm_work_new (const QmPlan *plan, QmWork **work, QmError *error);

/* Makes it what it was before our products ended in gates, and norms made sums
 * themselves. */
void qm_work_part_gates (QmWork *work);

void qm_work_free (QmWork *work);

#endif
