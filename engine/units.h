/* SPDX-License-Identifier: Apache-2.0 */

/* What of parameters and gradients moves between device and host at a time, and
 * where they are in the slab; made by plans. */

#ifndef QM_ENGINE_UNITS_H
#define QM_ENGINE_UNITS_H

#include "engine/graph.h"

/* Parameters begin at multiples of so many elements, so that they are aligned
 * to 256 bytes in 16 bits too. */
#define QM_SLAB_ALIGNMENT 128

/* Elements [begin, end) of the slab. */
typedef struct QmUnit
{
  int64_t begin, end;
} QmUnit;

/* The unit that something is in, by owner. */
#define QM_NO_UNIT (-1)

typedef struct QmUnits
{
  int64_t *place; /* by value, of owners of parameters and gradients: element of
                     the slab */
  int64_t slab;   /* elements, gaps and all */
  size_t n_values;
  QmUnit *gradients; /* that leave with every pass */
  size_t n_gradients;
  QmUnit *weights; /* that are fetched for the products that read them */
  size_t n_weights;
  int32_t *gradient_unit, *weight_unit; /* by value, of owners */
} QmUnits;

/* How units are made. */
typedef struct QmUnitRules
{
  bool gradients, weights; /* which move in units at all */
  bool blocks; /* one unit for each block, and for what is before, between and
                  after blocks; else by size */
  int64_t gradient_elements, weight_elements; /* of a unit at most, where it is
                                                 of several parameters */
  int64_t threshold; /* weights of fewer elements stay on the device */
  QmType type;       /* weights of another type stay there too */
} QmUnitRules;

/* Places parameters and gradients in the slab, and cuts it.  Units of gradients
 * are filled up from the last parameter on, as the backward pass makes them. */
QmStatus qm_units_find (const QmGraph *graph,
                        const QmUnitRules *rules,
                        QmUnits *units,
                        QmError *error);

void qm_units_clear (QmUnits *units);

/* Offloading, after all other passes but those that mark nodes: gradients of
 * units become temporaries that begin from zero, are rounded to `type` and sent
 * when the last is complete; weights of units become temporaries that are
 * fetched one unit ahead of their first reader, and again for the backward
 * pass, unless it follows soon.  What moves lives from its QM_OP_FETCH to its
 * last reader, and from its first writer to the QM_OP_SENT behind its
 * QM_OP_SEND, before the next one begins to be sent. */
QmStatus qm_pass_offload (QmGraph *graph,
                          const QmUnits *units,
                          QmType type,
                          QmError *error);

#endif
