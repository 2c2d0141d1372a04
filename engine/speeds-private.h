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

#endif
