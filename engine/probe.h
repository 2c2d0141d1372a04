/* SPDX-License-Identifier: Apache-2.0 */

/* What a machine can do, found out by timing a few calls of the sizes that
 * trainings have, each over and over until clocks and power are those of a long
 * run: products in each precision, fused attention, what moves bytes, and what
 * offloading asks of the host.  engine/predict.h takes the result instead of
 * the catalog's rates.
 *
 * Factors are random numbers: products of zeros draw much less power. */

#ifndef QM_ENGINE_PROBE_H
#define QM_ENGINE_PROBE_H

#include "data/probes.h"
#include "engine/measure.h"

/* What a call tells the speed of. */
typedef enum QmProbeKind
{
  QM_PROBE_PRODUCT_16,
  QM_PROBE_PRODUCT_TF32,
  QM_PROBE_PRODUCT_FP32,
  QM_PROBE_ATTENTION,
  QM_PROBE_ATTENTION_BACKWARD,
  QM_PROBE_BYTES,
  QM_N_PROBE_KINDS
} QmProbeKind;

/* A call that is timed.  Sizes are: of products rows, in and out; of attention,
 * which is causal, batch, heads, sequence and size of a head; else rows and
 * features. */
typedef struct QmProbeCall
{
  const char *name; /* "product-16-4096" */
  QmProbeKind kind;
  QmOp op;
  int64_t size[4];
} QmProbeCall;

/* All of them, static. */
const QmProbeCall *qm_probe_calls (size_t *n);

/* The speed of a kind at the highest clock, as a multiple of that which other
 * probes found: the geometric mean over the calls that both have.  NaN without
 * any, and where a clock that is needed is not known. */
double
qm_probe_ratio (const QmProbes *own, const QmProbes *other, QmProbeKind kind);

typedef struct QmProbeOptions
{
  double seconds;      /* that each call is repeated for */
  int64_t smaller;     /* sizes but that of a head are that many times smaller,
                          for a device that is no GPU; 1 to 64 */
  QmMonitor *monitor;  /* tells clocks and watts; may be NULL */
  QmProgress progress; /* may be NULL */
  void *data;
} QmProbeOptions;

/* Times all calls on a device, and its host.  What the device has no operator
 * for, and what does not fit into its memory, is left out; without memory that
 * can be pinned the host's speeds are not known (NaN).  Says in `probes` what
 * was timed, on which device, but not when, and which GPU of the catalog that
 * is.  QM_STATUS_INTERRUPTED where `progress` said so. */
QmStatus qm_probe_device (QmDevice *device,
                          const QmProbeOptions *options,
                          QmProbes *probes,
                          QmError *error);

/* The host's part of it. */
QmStatus qm_probe_host (QmDevice *device,
                        const QmProbeOptions *options,
                        QmProbes *probes,
                        QmError *error);

#endif
