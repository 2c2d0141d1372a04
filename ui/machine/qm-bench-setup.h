/* SPDX-License-Identifier: Apache-2.0 */

/* What to measure: the device, the methods and the models, each with the days
 * that are predicted for its training, how long the benchmark will take, and
 * the one button that starts it. */

#pragma once

#include "ui/machine/qm-bench-session.h"
#include "ui/machine/qm-local-machine.h"
#include "ui/qm-catalog-keeper.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_BENCH_SETUP (qm_bench_setup_get_type ())
G_DECLARE_FINAL_TYPE (QmBenchSetup, qm_bench_setup, QM, BENCH_SETUP, GtkWidget)

/* Signals:
 *
 *   "changed"   devices, methods or models have been chosen anew
 *   "links"     measuring how fast GPUs exchange has begun, or is over
 */

/* What there is to choose from, and what is chosen at first: a device, or the
 * first of several between commas, NULL for the first that can be used, how
 * many of them work together, NULL for every number that there is, models, NULL
 * for none, and methods.  To be called once; it follows the catalog that is
 * kept there. */
void qm_bench_setup_open (QmBenchSetup *self,
                          QmCatalogKeeper *keeper,
                          QmLocalMachine *machine,
                          const char *device,
                          const char *gpus,
                          const char *const *chosen,
                          QmBenchMethods methods);

/* What is chosen: the id of a device, or of several between commas, NULL where
 * there is none; how many of them work together, several numbers between
 * commas, NULL: one; both (transfer none).  The ids of models; (transfer
 * container), valid until the catalog changes. */
const char *qm_bench_setup_get_device (QmBenchSetup *self);
const char *qm_bench_setup_get_gpus (QmBenchSetup *self);
QmBenchMethods qm_bench_setup_get_methods (QmBenchSetup *self);
const char **qm_bench_setup_get_models (QmBenchSetup *self);

/* Says of a model what is predicted for it, NULL for nothing, and whether it
 * fits at all. */
void qm_bench_setup_set_prediction (QmBenchSetup *self,
                                    const char *model,
                                    const char *prediction,
                                    gboolean fits);

/* Says what is told of the models: whether they fit and how many days they
 * take, or, of a device that nothing is predicted for, whether they fit. */
void qm_bench_setup_set_predicts (QmBenchSetup *self, gboolean predicts);

/* Says how long the benchmark will take. */
void qm_bench_setup_set_estimate (QmBenchSetup *self, const char *estimate);

/* Whether the links between GPUs are being measured, beside which nothing else
 * is; and whether that may be begun. */
gboolean qm_bench_setup_is_measuring (QmBenchSetup *self);
void qm_bench_setup_set_busy (QmBenchSetup *self, gboolean busy);

/* Whether anything can be chosen: not while a benchmark runs. */
void qm_bench_setup_set_locked (QmBenchSetup *self, gboolean locked);

G_END_DECLS
