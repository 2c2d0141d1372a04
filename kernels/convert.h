/* SPDX-License-Identifier: Apache-2.0 */

/* Conversions between the float types, on the host; to nearest, ties to even;
 * a NaN stays one. */

#ifndef QM_KERNELS_CONVERT_H
#define QM_KERNELS_CONVERT_H

#include "kernels/tensor.h"

/* One number. */
float qm_float_from_f16 (uint16_t bits);
uint16_t qm_float_to_f16 (float value);
float qm_float_from_bf16 (uint16_t bits);
uint16_t qm_float_to_bf16 (float value);

/* Reads or writes `n` elements, `stride` elements apart, of a float type.  In
 * FP8, what is too large, infinite too, becomes the largest finite number of
 * that sign, as hardware does with .satfinite, and every NaN 0x7f. */
void qm_floats_load (
    QmType type, const void *from, int64_t stride, int64_t n, float *to);
void qm_floats_store (
    QmType type, void *to, int64_t stride, int64_t n, const float *from);

#endif
