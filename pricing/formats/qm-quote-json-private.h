/* SPDX-License-Identifier: Apache-2.0 */

/* What the writer and the reader of the project's format agree on. */

#pragma once

#include "pricing/quotes/qm-quote.h"

#define QM_JSON_FORMAT "quartermaster-quotes"
#define QM_JSON_SCHEMA 1

extern const char *const qm_json_finding_levels[QM_N_FINDING_LEVELS];
