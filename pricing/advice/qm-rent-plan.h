/* SPDX-License-Identifier: Apache-2.0 */

/* What renting costs beside buying: for the whole life at several uses, for an
 * hour before anything is bought, and for a part of a year's work.
 *
 *   rent of a use = instances x price of an hour x hours of the life x use
 *
 * at the cheapest price of the catalog; an instance is rented whole, and each
 * machine's GPUs on instances of its own.  Where other GPUs are rented than
 * would be bought, the hours are those in which they do the same work.  Amounts
 * are in USD cents without tax. */

#pragma once

#include "pricing/advice/qm-advice.h"

G_BEGIN_DECLS

#define QM_RENT_USES 3

typedef struct
{
  int percent; /* of all hours that the GPUs are in use: 50, 70, 100 */
  double rent;
  double buy; /* the price, or what owning costs at that use where the question
                 counts that; NaN: not known */
} QmRentUse;

typedef struct
{
  const QmPrice *price; /* the cheapest; the catalog's */
  double gpu_hour;      /* of one GPU */
  double hour;          /* of as many instances as one machine's GPUs take */
  double years;         /* the life that the uses are of */
  QmRentUse uses[QM_RENT_USES];
  int kept;         /* machines that a mixed plan buys: all but one, whose share
                       of a year's work is rented; 0: there is no such plan */
  double kept_cost; /* their price */
  double rest_year; /* rent for that share, a year */
  double mixed;     /* both, over the life */
} QmRentPlan;

/* Whose GPUs to rent in place of a candidate: its own where somebody rents them
 * out, else those of the candidate on which the work costs least, in whole
 * instances at the price in the middle of those that are known.
 *
 * Returns: (transfer none) (nullable): a candidate of the advice; NULL where no
 *   price is known for any that does the work. */
const QmCandidate *qm_rent_plan_find (const QmCatalog *catalog,
                                      const QmAdvice *advice,
                                      const QmCandidate *bought);

/* Computes what renting costs.
 *
 * bought: has a price.
 * rented: on whose GPUs the work is done where it is rented, as
 *   qm_rent_plan_find() has it.
 *
 * Returns: FALSE where no price is known at which they can be rented, no price
 * of the machine, or not how long the work takes on GPUs that differ; and of a
 * question asked as in the paper. */
gboolean qm_rent_plan_compute (const QmCatalog *catalog,
                               const QmQuestion *question,
                               const QmCandidate *bought,
                               const QmCandidate *rented,
                               QmRentPlan *plan);

G_END_DECLS
