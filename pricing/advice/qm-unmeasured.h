/* SPDX-License-Identifier: Apache-2.0 */

/* How long a model that nobody has measured would take on one GPU.
 *
 * Its operations are known, and so is the peak of the GPU; what is not is the
 * share of the peak that it would reach.  That is predicted as the geometric
 * mean of the shares that models reach whose times on one such GPU are known:
 * at the best settings, with the software that is asked for, measured or else
 * published, and neither doubtful nor impossible.
 *
 * Its interval is from the least to the greatest of these shares.  If the one
 * that is looked for is a draw of the same kind as the n that are known, it
 * lies in there with probability (n - 1) / (n + 1).  With fewer than
 * QM_UNMEASURED_MIN models nothing is predicted, since the spread is not known.
 *
 * Whether the model fits into the memory of that GPU is another question, which
 * this does not answer. */

#pragma once

#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

#define QM_UNMEASURED_MIN 3

typedef struct
{
  double days;
  double low, high;
  double share;   /* of the peak, at `days` */
  guint n_models; /* that it rests on */
} QmUnmeasured;

/* Returns FALSE where too few times are known of that GPU, or its peak in the
 * recipe's precision is not. */
gboolean qm_unmeasured_predict (const QmCatalog *catalog,
                                const QmModelConfig *config,
                                const QmRecipe *recipe,
                                const QmGpu *gpu,
                                QmTimesOf times_of,
                                QmUnmeasured *predicted);

G_END_DECLS
