/* SPDX-License-Identifier: Apache-2.0 */

/* Whether a training fits into the memory of so many GPUs, as far as that was
 * planned.
 *
 * qm-bench plans every way to train on one GPU (`qm-bench plan --methods all
 * --json`); a process of its own does that, since prices and advice do not know
 * the engine.  On n GPUs, what a way keeps of the model on the GPU (weights,
 * master weights, gradients and optimizer states) is divided among them, as
 * stage 3 of ZeRO does (Rajbhandari et al., arXiv 1910.02054, section 5.3):
 *
 *   bytes on n GPUs = states / n + (bytes of a pass of one sample - states)
 *
 * A training fits where that is no more than a GPU has with one of the ways,
 * and what lies in the memory of the host, of all GPUs together, is no more
 * than qm-bench was told that there is. Off the shelf there is one way, and
 * nothing is divided.  What stage 3 gathers of one layer while it is in use is
 * not counted. */

#pragma once

#include "data/catalog.h"

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

typedef enum
{
  QM_FIT_UNKNOWN,    /* was not looked at, or cannot be planned */
  QM_FIT_NOT,        /* with no way */
  QM_FIT_OFFLOADING, /* only where states lie in the memory of the host */
  QM_FIT_WELL
} QmFit;

typedef struct _QmMemoryFit QmMemoryFit;

/* Knows nothing yet. */
QmMemoryFit *qm_memory_fit_new (void);
QmMemoryFit *qm_memory_fit_ref (QmMemoryFit *fit);
void qm_memory_fit_unref (QmMemoryFit *fit);

/* Takes one line of the answer of qm-bench about a model.  FALSE: it is not
 * what it should be, and nothing is taken. */
gboolean
qm_memory_fit_add (QmMemoryFit *fit, const char *model, const json_t *line);

/* Whether more of the answer is to come. */
void qm_memory_fit_set_pending (QmMemoryFit *fit, gboolean pending);
gboolean qm_memory_fit_is_pending (const QmMemoryFit *fit);

/* `host_bytes` (may be NULL) becomes what has to lie in the memory of the host
 * where that is QM_FIT_OFFLOADING, of all GPUs together; else 0. */
QmFit qm_memory_fit_look (const QmMemoryFit *fit,
                          const char *model,
                          const QmGpu *gpu,
                          int gpus,
                          QmSettings settings,
                          gint64 *host_bytes);

/* "unknown", "no", "offloading" or "yes", for files; static. */
const char *qm_fit_name (QmFit fit);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmMemoryFit, qm_memory_fit_unref)

G_END_DECLS
