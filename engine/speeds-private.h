/* SPDX-License-Identifier: Apache-2.0 */

#ifndef QM_ENGINE_SPEEDS_PRIVATE_H
#define QM_ENGINE_SPEEDS_PRIVATE_H

#include "engine/predict.h"

/* As qm_speeds_of_gpu(), by the catalog alone. */
QmStatus qm_speeds_of_sheet (const QmCalibration *calibration,
                             const QmGpu *gpu,
                             int gpus,
                             QmInterconnect link,
                             QmSpeeds *speeds,
                             QmError *error);

/* How many standard deviations the largest of n draws from a normal
 * distribution is expected to be above its mean. */
double qm_largest_of (int n);

#endif
