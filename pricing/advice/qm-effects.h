/* SPDX-License-Identifier: Apache-2.0 */

/* The share of the peak that a training reaches as what its model, its GPU type
 * and the number of GPUs contribute; pricing/advice/qm-forecast.h has the
 * formula. */

#pragma once

#include "data/catalog.h"

#include <glib.h>

G_BEGIN_DECLS

/* A time and the logarithm of the share that it implies. */
typedef struct
{
  const QmMeasurement *time;
  double log;
  gboolean ours; /* of the project's engine, not of PyTorch */
} QmShare;

typedef struct _QmEffects QmEffects;

/* Whether a share is to be left out. */
typedef gboolean (*QmSharesHide) (const QmShare *share, gpointer data);

/* Fits to an array of QmShare, but for what `hide` (may be NULL) hides.
 * (transfer full) */
QmEffects *
qm_effects_fit (const GArray *shares, QmSharesHide hide, gpointer data);

void qm_effects_free (QmEffects *effects);

/* The logarithm of the share at a place; NaN where too little is known.  What a
 * number of GPUs contributes that was not tried lies between those of the next
 * ones that were. */
double qm_effects_sum (const QmEffects *effects,
                       const QmModel *model,
                       const QmGpu *gpu,
                       int gpus,
                       gboolean ours);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmEffects, qm_effects_free)

G_END_DECLS
