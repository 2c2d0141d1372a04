/* SPDX-License-Identifier: Apache-2.0 */

/* A training step as a graph: values, and the calls of operators that make them
 * from each other, in an order in which they can be executed.
 *
 * A value is either an owner of memory or a view of one (a view of a view is a
 * view of its owner).  Each owner is written by one node, or by several that
 * write different views of it, or is added to by accumulating outputs.  Shapes
 * are static.
 *
 * Functions that build return an id, or QM_NO_VALUE after the first mistake:
 * the graph remembers that mistake, and later calls do nothing, so that a
 * builder checks qm_graph_status() once at its end.
 */

#ifndef QM_ENGINE_GRAPH_H
#define QM_ENGINE_GRAPH_H

#include "data/error.h"
#include "data/model.h"
#include "data/pool.h"
#include "kernels/diffusion.h"
#include "kernels/operators.h"

typedef int32_t QmValueId;
#define QM_NO_VALUE (-1)

typedef enum QmRole
{
  QM_ROLE_INPUT,     /* data of a micro-batch, set before every pass */
  QM_ROLE_CONSTANT,  /* the host sets it once */
  QM_ROLE_STATE,     /* small; lives from step to step */
  QM_ROLE_PARAMETER, /* weights, in the type of the products */
  QM_ROLE_GRADIENT,  /* of an owner of parameters, f32, laid out like it */
  QM_ROLE_TEACHER,   /* averages of parameters, as products read them */
  QM_ROLE_MOMENT,    /* of the optimizer, f32, of all parameters in one piece */
  QM_ROLE_TEMPORARY  /* lives from its first to its last use in a pass */
} QmRole;

/* A pass made it: it is where the first output of its writer is. */
#define QM_BLOCK_OF_WRITER (-1)

typedef struct QmValue
{
  QmTensor tensor; /* without an address */
  QmValueId owner; /* itself, or the value that this is a view of */
  int64_t offset;  /* elements from the beginning of the owner */
  int64_t room;    /* of an owner: elements of memory */
  QmRole role;
  QmValueId teacher; /* of an owner of parameters: what a teacher reads in its
                        place, of the same layout; QM_NO_VALUE */
  int32_t block;    /* of an owner: the one that it is in, from 1; 0: outside of
                       blocks; QM_BLOCK_OF_WRITER */
  const char *name; /* for people; never NULL */
} QmValue;

typedef enum QmPhase
{
  QM_PHASE_FORWARD,
  QM_PHASE_BACKWARD,
  QM_PHASE_RECOMPUTE, /* forward once more, between backward ones */
  QM_PHASE_LAST,      /* of the last pass of a step alone, between all others */
  QM_PHASE_UPDATE     /* once a step */
} QmPhase;

typedef struct QmNode
{
  QmOp op;
  QmPhase phase;
  QmAttributes attributes;
  QmValueId inputs[QM_OP_MAX_INPUTS];
  QmValueId outputs[QM_OP_MAX_OUTPUTS];
} QmNode;

typedef enum QmInitial
{
  QM_INITIAL_NORMAL, /* of the configuration's initializer_range, or of the
                        first amount where that is not 0 */
  QM_INITIAL_ZERO,
  QM_INITIAL_ONE,
  QM_INITIAL_CONSTANT, /* the first amount */
  QM_INITIAL_UNIFORM,  /* between minus and plus the first amount */
  QM_INITIAL_STATES,   /* log (1 + column), as S4D-Real has it */
  /* What softplus makes numbers of that are log-uniform between the first and
   * the second amount, and at least the third. */
  QM_INITIAL_TIME_STEPS
} QmInitial;

#define QM_INITIAL_AMOUNTS 3

/* A parameter as Hugging Face names it. */
typedef struct QmParameter
{
  const char *name;
  const char *alias;  /* another name that files use; NULL: none */
  const char *packed; /* of a tensor in files that this is a part of, as its
                         value is of its owner; NULL: none */
  bool both;          /* it is written under both */
  bool transposed;    /* files have rows and columns the other way round */
  bool scalar;        /* files have its one element without a dimension */
  QmValueId value;    /* else of the shape that files have */
  QmValueId gradient; /* f32, of the same shape */
  QmInitial initial;
  double amounts[QM_INITIAL_AMOUNTS];
} QmParameter;

/* A constant: cosines and sines of angles, for every token. */
typedef struct QmRotary
{
  QmValueId value; /* f32 [length, rotated elements]; QM_NO_VALUE: none */
  QmRope rope;
} QmRotary;

/* A constant that files have, too: sines and cosines of the places of patches,
 * which are not trained. */
typedef struct QmTable
{
  QmValueId value;  /* f32 [1 + side x side, features]; QM_NO_VALUE: none */
  int64_t side;     /* patches */
  const char *name; /* in files, which have a dimension of 1 before */
  bool bare;        /* without a class token: [side x side, features] */
} QmTable;

/* Constants of diffusion, of every time; QM_NO_VALUE: none. */
typedef struct QmDiffusion
{
  QmValueId schedule; /* f32 [times, QM_SCHEDULE_SIZE], of betas that grow by
                         the same (Ho et al. 2020, 4) */
  QmValueId waves;    /* f32 [times, features]: cosines, then sines, of times */
} QmDiffusion;

/* Encoder and decoder. */
#define QM_GRAPH_TABLES 2

/* A constant: how positions of fewer patches are made of those of others, as
 * PyTorch resizes images (bicubic); that of the class token stays. */
typedef struct QmResizing
{
  QmValueId value;  /* f32 [1 + to x to, 1 + from x from]; QM_NO_VALUE: none */
  int64_t from, to; /* patches a side */
  bool smooth;      /* what is made smaller is a mean of more */
} QmResizing;

/* Layers with windows may have angles of their own. */
#define QM_GRAPH_ROTARIES 2

typedef struct QmGraph
{
  QmValue *values;
  size_t n_values, values_capacity;
  QmNode *nodes;
  size_t n_nodes, nodes_capacity;
  QmParameter *parameters;
  size_t n_parameters, parameters_capacity;
  QmPool strings;
  QmPhase phase;  /* of nodes that are appended */
  int32_t block;  /* of owners that are made */
  int32_t blocks; /* so far */
  uint32_t sites; /* of random numbers, handed out so far */

  /* Inputs; QM_NO_VALUE where the family has none. */
  QmValueId ids, types, labels, pixels;
  QmValueId local_pixels; /* of the smaller crops that a student alone sees */
  QmValueId noise;        /* f32 [batch, patches], or as pixels are, where
                             nothing is drawn */
  QmValueId times;        /* i32 [batch, 1], the same */
  int64_t classes;        /* that labels may be of; 0: columns of the logits */
  QmRotary rotary[QM_GRAPH_ROTARIES]; /* from the first on */
  QmTable tables[QM_GRAPH_TABLES];    /* the same */
  QmResizing resizing;
  QmDiffusion diffusion;
  /* State. */
  QmValueId rng, state, loss;
  QmValueId logits;

  QmStatus status;
  QmError error;
  QmNode nowhere; /* what is appended after a mistake */
} QmGraph;

QmGraph *qm_graph_new (void);
void qm_graph_free (QmGraph *graph);

/* The same graph once more, with room to go on; its names are those of the
 * original.  NULL where the host is out of memory. */
QmGraph *qm_graph_copy (const QmGraph *graph);

/* How many labels, or words, there are. */
int64_t qm_graph_classes (const QmGraph *graph);

/* QM_OK, or the first mistake, copied into *error. */
QmStatus qm_graph_status (const QmGraph *graph, QmError *error);

/* Remembers a mistake, unless there is one. */
void qm_graph_fail (QmGraph *graph, QmStatus status, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* A new owner, dense.  The name is a printf format. */
QmValueId qm_graph_value (QmGraph *graph,
                          QmRole role,
                          QmType type,
                          int32_t rank,
                          const int64_t *shape,
                          const char *name,
                          ...) __attribute__ ((format (printf, 6, 7)));

/* A new owner whose last dimension (of two) or only one has room for `padded`
 * elements; of parameters [out, in], room for `padded` rows. */
QmValueId qm_graph_padded_columns (QmGraph *graph,
                                   QmRole role,
                                   QmType type,
                                   int64_t rows,
                                   int64_t columns,
                                   int64_t padded,
                                   const char *name);

/* A new value with the layout of an owner, gaps and all, that is called `what`
 * followed by the name of the owner. */
QmValueId qm_graph_like_owner (QmGraph *graph,
                               QmValueId owner,
                               QmRole role,
                               QmType type,
                               const char *what);

/* The owner that a value is or is a view of; QM_NO_VALUE of none. */
QmValueId qm_graph_owner (const QmGraph *graph, QmValueId value);

/* The view of the owner `target` that `view` is of its own owner. */
QmValueId qm_graph_same_part (QmGraph *graph, QmValueId target, QmValueId view);

/* A view of `value`: `offset` elements after its first one. */
QmValueId qm_graph_view (QmGraph *graph,
                         QmValueId value,
                         int32_t rank,
                         const int64_t *shape,
                         const int64_t *stride,
                         int64_t offset);

/* The same elements of a dense value in another shape. */
QmValueId qm_graph_reshape (QmGraph *graph,
                            QmValueId value,
                            int32_t rank,
                            const int64_t *shape);

/* Declares a parameter that files know under `name`. */
void qm_graph_parameter (QmGraph *graph,
                         QmValueId value,
                         QmInitial initial,
                         const char *name,
                         const char *alias);

/* Has the newest parameter, which has an alias, written under both names. */
void qm_graph_both_names (QmGraph *graph);

/* Says that files have the newest parameter, of two dimensions, transposed. */
void qm_graph_transposed (QmGraph *graph);

/* Says that files have the newest parameter, of one element, without a
 * dimension. */
void qm_graph_scalar (QmGraph *graph);

/* Says that files may have the newest parameter as a part of a tensor of that
 * name and of the shape of its owner. */
void qm_graph_packed (QmGraph *graph, const char *name);

/* What a teacher reads in the place of a part of a parameter. */
QmValueId qm_graph_teacher (QmGraph *graph, QmValueId value);

/* Says how the newest parameter begins, where that needs numbers. */
void qm_graph_initial (QmGraph *graph,
                       QmInitial initial,
                       const double amounts[QM_INITIAL_AMOUNTS]);

/* Appends a node.  Absent inputs and outputs are set afterwards; the address is
 * valid until the next call.  Never NULL: after a mistake it is a node that is
 * not in the graph. */
QmNode *qm_graph_append (QmGraph *graph, QmOp op);

/* Blocks are the parts of a model that follow each other, each with the one
 * before it as its only input.  Values that are made between these two calls,
 * parameters too, are in the block; its output, which goes into the next, is
 * not.  Methods that save memory work block by block: checkpointing keeps what
 * is outside of blocks and makes what is in them once more. */
void qm_graph_begin_block (QmGraph *graph);
void qm_graph_end_block (QmGraph *graph, QmValueId output);

/* The number of a new place where random numbers are drawn. */
uint32_t qm_graph_site (QmGraph *graph);

static inline const QmValue *
qm_graph_get (const QmGraph *graph, QmValueId id)
{
  return &graph->values[id];
}

static inline const QmTensor *
qm_graph_tensor (const QmGraph *graph, QmValueId id)
{
  return &graph->values[id].tensor;
}

/* Matrices [.., .., rows, columns] as [.., .., columns, rows]. */
QmValueId qm_graph_turned (QmGraph *graph, QmValueId matrices);

/* Whether two ids mean the same elements in the same shape and type. */
bool qm_graph_same_view (const QmGraph *graph, QmValueId a, QmValueId b);

/* A new value of the same shape and another type, dense. */
QmValueId qm_graph_like (QmGraph *graph,
                         QmValueId value,
                         QmRole role,
                         QmType type,
                         const char *name);

/* The call of a node, its tensors without addresses. */
void qm_graph_call (const QmGraph *graph, const QmNode *node, QmOpCall *call);

/* Checks every call of the graph, and that every value is written before it is
 * read. */
QmStatus qm_graph_check (const QmGraph *graph, QmError *error);

#endif
