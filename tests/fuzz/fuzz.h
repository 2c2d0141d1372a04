/* SPDX-License-Identifier: Apache-2.0 */

/* What libFuzzer calls with each input; tests/fuzz/corpus.c calls it with the
 * committed ones. */

#ifndef QM_TESTS_FUZZ_FUZZ_H
#define QM_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#endif
