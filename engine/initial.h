/* SPDX-License-Identifier: Apache-2.0 */

/* How the weights of a new model begin. */

#ifndef QM_ENGINE_INITIAL_H
#define QM_ENGINE_INITIAL_H

#include "engine/graph.h"

/* Fills in what draws or sets a parameter of so many dimensions, all but its
 * tensors: operator and attributes.  `range` is the standard deviation of
 * normal ones.  `used`: matrices that begin as zero are drawn, too, as after
 * some training: products with zeros take a GPU less energy, and time where
 * that is short. */
void qm_initial_call (const QmParameter *parameter,
                      int rank,
                      double range,
                      bool used,
                      QmOpCall *call);

/* Whether what that call leaves has to go through qm_initial_finish(). */
bool qm_initial_needs_host (const QmParameter *parameter);

/* Makes the weights, of rows of `columns`, of the `n` numbers that the call
 * left. */
void qm_initial_finish (const QmParameter *parameter,
                        int64_t n,
                        int64_t columns,
                        float *values);

#endif
