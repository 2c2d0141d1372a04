/* SPDX-License-Identifier: Apache-2.0 */

/* What of parameters and gradients moves between devices, or a device and its
 * host, at a time, and where they are in the slab; made by plans.
 *
 * Ranks can share what belongs to the parameters: each unit is as many equal
 * parts as there are ranks, and rank r has the r-th of each.  All that it has
 * is in one piece, part behind part: element i of its part of a unit is element
 * begin / parts + i of what it has.
 *
 * Where one part ends is chance, unless an optimizer needs parameters whole.
 * These are dealt to the parts like cards, the costliest first, and each round
 * begins with part 0: matrices of one shape, of which a model has one or more a
 * layer, so come to all parts alike, and no part has more than part 0 has, nor
 * less than that without the costliest of all.  Dealing by what lies lowest so
 * far would be closer by less than one matrix, and another part would have most
 * in each model.  By cost and not by bytes, because ranks wait for the slowest,
 * while what bytes differ by within a round is a gap in the slab of each.  So is
 * what a last round lacks: where there are more ranks than matrices, all have
 * room for as many as there are ranks. */

#ifndef QM_ENGINE_UNITS_H
#define QM_ENGINE_UNITS_H

#include "engine/graph.h"

/* Parameters begin at multiples of so many elements, so that they are aligned
 * to 256 bytes in 16 bits too. */
#define QM_SLAB_ALIGNMENT 128

/* Elements [begin, end) of the slab, in as many equal parts as the rules say;
 * nothing is in them from `used` on. */
typedef struct QmUnit
{
  int64_t begin, used, end;
  bool gaps; /* nor at the ends of some parts */
} QmUnit;

/* The unit that something is in, by owner. */
#define QM_NO_UNIT (-1)

typedef struct QmUnits
{
  int64_t *place; /* by value, of owners of parameters and gradients: element of
                     the slab */
  int64_t slab;   /* elements, gaps and all */
  size_t n_values;
  QmUnit *list; /* all of the slab; none where nothing moves */
  size_t n;
  size_t n_cut;     /* the first of them, whose parts end anywhere */
  size_t n_moving;  /* those and what is of whole parameters; behind are weights
                       that stay */
  size_t n_fetched; /* whose weights are fetched for what reads them: those that
                       move, or none */
  size_t n_sent;    /* whose gradients leave with every pass: all or none */
  int32_t *of;      /* by value, of owners of both */
} QmUnits;

/* How units are made. */
typedef struct QmUnitRules
{
  bool cut;                /* there are units at all */
  bool gradients, weights; /* which move with every pass */
  bool blocks; /* one unit for each block, and for what is before, between and
                  after blocks; else by size */
  int64_t elements; /* of a unit at most, where it is of several parameters */
  int parts;        /* that each can be divided into, from 1 on */
  const double *whole; /* by value, of owners of parameters: what updating those
                          costs that have to be with one part, in any unit, and
                          0 of all others; NULL: there are none */
  bool apart;          /* weights that stay are behind all others, by type: */
  int64_t threshold;   /* those of fewer elements */
  QmType type;         /* and those of another type */
} QmUnitRules;

/* Places parameters and gradients in the slab, and cuts it. */
QmStatus qm_units_find (const QmGraph *graph,
                        const QmUnitRules *rules,
                        QmUnits *units,
                        QmError *error);

/* Elements of each part of a unit. */
static inline int64_t
qm_unit_part (const QmUnit *unit, int parts)
{
  return (unit->end - unit->begin) / parts;
}

/* Elements that one rank has and that follow each other everywhere. */
typedef struct QmPiece
{
  int64_t whole; /* the first: element of the slab, */
  int64_t own;   /* and of what the rank has */
  int64_t n;
} QmPiece;

/* What the rank with part `part` of `parts` has of elements [begin, end) of the
 * slab, which are in one unit (QM_NO_UNIT: of a slab that is not cut, all of
 * which belongs to everybody). */
QmPiece qm_units_piece (const QmUnits *units,
                        int32_t unit,
                        int parts,
                        int part,
                        int64_t begin,
                        int64_t end);

/* The unit that a weight is fetched with, or that a gradient leaves with, by
 * its owner; QM_NO_UNIT where it is none or stays. */
int32_t
qm_units_fetched (const QmUnits *units, const QmGraph *graph, QmValueId owner);
int32_t
qm_units_sent (const QmUnits *units, const QmGraph *graph, QmValueId owner);

void qm_units_clear (QmUnits *units);

/* Offloading, after all other passes but those that mark nodes: gradients of
 * units become temporaries that begin from zero, are rounded to `type` and sent
 * when the last is complete; weights of units become temporaries that are
 * fetched one unit ahead of their first reader, and again for the backward
 * pass, unless it follows soon.  What moves lives from its QM_OP_FETCH to its
 * last reader, and from its first writer to the QM_OP_SENT behind its
 * QM_OP_SEND, before the next one begins to be sent. */
QmStatus qm_pass_transfers (QmGraph *graph,
                            const QmUnits *units,
                            QmType type,
                            QmError *error);

#endif
