/* SPDX-License-Identifier: Apache-2.0 */

/* SHA-256 of short texts (FIPS 180-4, section 6.2). */

#ifndef QM_DATA_SHA256_H
#define QM_DATA_SHA256_H

#include <stddef.h>

#define QM_SHA256_HEX 65 /* with the zero byte */

/* Writes the digest of `length` bytes as hexadecimal digits. */
void qm_sha256 (const void *bytes, size_t length, char digest[QM_SHA256_HEX]);

#endif
