/* SPDX-License-Identifier: Apache-2.0 */

/* Prices that depend on how many are bought: "1-4", "ab 5", "10 o más". */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads how many pieces a price is for, where that is a range.
 *
 * least: (out): the fewest, at least 1
 *
 * Returns: FALSE: it is no range. */
gboolean qm_csv_tier_parse (const char *text, int *least);

/* The same for a range of pieces at the end of what a line sells, "H100 NVL,
 * 5-9 Stk.", "A100 (ab 10 Stück)".
 *
 * length: (out): the bytes of the text before it */
gboolean qm_csv_tier_find (const char *text, int *least, gsize *length);

G_END_DECLS
