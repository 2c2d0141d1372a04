/* SPDX-License-Identifier: Apache-2.0 */

/* A device that fails: the CPU, of which one call fails, and which counts what
 * it gave.  There is one at a time, which one thread uses. */

#pragma once

#include "kernels/device.h"

#define FAILING_MESSAGE "cuda:0: the GPU is lost"

/* Opens it; nothing fails yet. */
QmDevice *failing_open (void);

/* Closes it, once failing_check_empty(). */
void failing_close (QmDevice *device);

/* Counts calls from here on, and lets the one of that number fail, from 0; -1:
 * none.  Allocations fail with QM_STATUS_DEVICE_FULL, all else with
 * QM_STATUS_DEVICE. */
void failing_at (int64_t call);

/* The calls since then that could have failed. */
int64_t failing_calls (void);

/* Checks that all was given back. */
void failing_check_empty (void);
