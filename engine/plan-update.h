/* SPDX-License-Identifier: Apache-2.0 */

/* What the optimizers' parts of a plan share; only for engine/plan-*.c. */

#ifndef QM_ENGINE_PLAN_UPDATE_H
#define QM_ENGINE_PLAN_UPDATE_H

#include "engine/plan.h"

/* What an update reads and writes: all parameters in one piece, with the gaps
 * between them, or what the rank has of each unit of them. */
typedef struct QmSlab
{
  QmValueId gradients;     /* fp32 */
  QmValueId weights;       /* as products read them */
  QmValueId master;        /* fp32; `weights` where those are */
  QmValueId first, second; /* moments; QM_NO_VALUE: made by the optimizer's part
                              of the plan */
  QmValueId average;       /* of master weights; QM_NO_VALUE: there is none, or
                              the host has it */
  QmValueId teacher;       /* the average as products read it; QM_NO_VALUE */
  bool all_gradients, all_weights; /* or what the rank has of them */
} QmSlab;

/* A parameter in the slab. */
typedef struct QmSlabTensor
{
  const QmParameter *parameter;
  QmValueId owner;
  int64_t begin, n;      /* elements, of the slab */
  int64_t rows, columns; /* of a matrix, as products have it */
} QmSlabTensor;

/* All parameters in the order of the slab; to be freed.  After a mistake, of
 * which the graph knows, NULL. */
QmSlabTensor *qm_slab_tensors (const QmPlan *plan, size_t *n);

/* Whether Muon updates it: a matrix of a block, but for tables that are none
 * (the rates of scans). */
bool qm_tensor_is_hidden_matrix (const QmPlan *plan,
                                 const QmSlabTensor *tensor);

/* By value, of owners of parameters: operations of the products that Muon makes
 * for all of its matrices that are in it, which are those of one rank; 0 of all
 * others.  To be freed; after a mistake, of which the graph knows, NULL. */
double *qm_muon_costs (const QmPlan *plan);

/* `n` elements of a slab. */
QmValueId
qm_slab_part (const QmPlan *plan, QmValueId slab, int64_t begin, int64_t n);

/* A piece of a slab, which is of all ranks or of this one. */
QmValueId qm_slab_piece (const QmPlan *plan,
                         QmValueId slab,
                         bool all,
                         const QmPiece *piece);

/* A piece of the master weights. */
QmValueId
qm_update_master (const QmPlan *plan, const QmSlab *slab, const QmPiece *piece);

/* Where the weights of a piece of unit `index` (any without sharding) go that
 * are updated, besides to the master weights; or QM_NO_VALUE. */
QmValueId qm_update_weights (const QmPlan *plan,
                             const QmSlab *slab,
                             size_t index,
                             const QmPiece *piece);

/* What this rank has of a unit. */
QmPiece qm_update_own_piece (const QmPlan *plan, size_t index);

/* Whether ranks have to tell each other the weights of a unit: stages 3 gather
 * those that move when they are read. */
bool qm_update_is_gathered (const QmPlan *plan, size_t unit);
void qm_update_gather (const QmPlan *plan, const QmSlab *slab, size_t index);

/* Numbers of all ranks become the sums of theirs. */
void qm_update_sum (const QmPlan *plan, QmValueId numbers);

/* The sum of the squares of a part of a slab. */
void qm_update_squares (const QmPlan *plan, QmValueId x, QmValueId sum);

/* Adam or AdamW of a piece, with its part of the second moments; `weights` as
 * qm_update_weights() says. */
void qm_update_adam (const QmPlan *plan,
                     const QmSlab *slab,
                     const QmPiece *piece,
                     QmValueId second,
                     QmValueId weights);

/* Appends the nodes of these optimizers; the graph remembers what fails. */
void qm_update_lamb (const QmPlan *plan, const QmSlab *slab);
void qm_update_muon (const QmPlan *plan, const QmSlab *slab);

#endif
