/* SPDX-License-Identifier: Apache-2.0 */

/* Reverse-mode differentiation of a graph. */

#ifndef QM_ENGINE_DIFFERENTIATE_H
#define QM_ENGINE_DIFFERENTIATE_H

#include "engine/graph.h"

/* Appends the backward pass to a graph whose nodes are all forward ones: adds
 * to the gradients of the parameters, which are declared here.  Starts from
 * every loss (cross entropy, of pixels, of noise, with a teacher, of pairs,
 * balance of experts), and from `seed`, if it is a value, with the gradient
 * `seed_gradient` of its type and shape. */
QmStatus qm_graph_differentiate (QmGraph *graph,
                                 QmValueId seed,
                                 QmValueId seed_gradient,
                                 QmError *error);

/* For the rules of operators. */

typedef struct QmGradients QmGradients;

/* Appends what makes the gradients of a node's inputs from those of its
 * outputs.
 */
typedef void (*QmGradientRule) (QmGradients *gradients,
                                QmGraph *graph,
                                const QmNode *node);

/* The rule of an operator, or NULL. */
QmGradientRule qm_gradient_rule (QmOp op);

/* The same of operators that tell samples apart alone. */
QmGradientRule qm_gradient_rule_of_samples (QmOp op);

/* The gradient of an output, or QM_NO_VALUE where none depends on it. */
QmValueId qm_gradient_of (QmGradients *gradients, QmValueId output);

/* Where to write the gradient of an input; has to be written by the next node
 * that is appended.  QM_NO_VALUE where nobody wants it. */
QmValueId qm_gradient_place (QmGradients *gradients, QmValueId input);

/* The same, but a place that nobody reads where nobody wants it. */
QmValueId qm_gradient_place_or_scratch (QmGradients *gradients,
                                        QmValueId input);

/* Says that the gradient of an input is `gradient`, which exists already. */
void
qm_gradient_give (QmGradients *gradients, QmValueId input, QmValueId gradient);

/* Where the gradient of a parameter is added to. */
QmValueId qm_gradient_of_parameter (QmGradients *gradients, QmValueId value);

#endif
