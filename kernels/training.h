/* SPDX-License-Identifier: Apache-2.0 */

/* What operators of training agree on: the state, and constants of scans, loss
 * scales and optimizers. */

#ifndef QM_KERNELS_TRAINING_H
#define QM_KERNELS_TRAINING_H

/* The state of training, f32, in memory of the device. */
enum
{
  QM_STATE_LEARNING_RATE, /* the host sets it */
  QM_STATE_UPDATES,       /* that took place */
  QM_STATE_LOSS_SCALE,
  QM_STATE_GROWTH, /* updates since the loss scale changed */
  QM_STATE_NOT_FINITE,
  QM_STATE_NORM,   /* of the gradients, unscaled, before clipping */
  QM_STATE_FACTOR, /* that gradients are multiplied by */
  QM_STATE_LOSS,   /* of the last whole step */
  QM_STATE_SIZE
};

/* Rows of a chunk of a scan: states that are kept are then half as large as
 * the rows of fp16 that they belong to. */
#define QM_SCAN_CHUNK 64

/* As the scaler of PyTorch has it. */
#define QM_SCALE_GROWTH 2000
#define QM_SCALE_FIRST  65536.0f

/* Of the polynomial by which Muon's iteration drives singular values to about
 * 1, of each step; five are made (Jordan et al. 2024). */
#define QM_MUON_CONSTANT  3.4445
#define QM_MUON_LINEAR    (-4.7750)
#define QM_MUON_QUADRATIC 2.0315
#define QM_MUON_STEPS     5
/* Least norm that a matrix is divided by. */
#define QM_MUON_EPSILON 1e-7

#endif
