/* SPDX-License-Identifier: Apache-2.0 */

/* The TF32 kernels for Hopper. */

#include "kernels/cuda/attention-tf32-backward.cuh"
#include "kernels/cuda/attention-tf32-forward.cuh"
