/* SPDX-License-Identifier: Apache-2.0 */

/* Amounts times fractions, exactly and with one rounding at the end. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

__extension__ typedef __int128 QmInt128;

/* value x numerator / denominator, rounded to the nearest whole number, halves
 * away from zero.
 *
 * numerator: not negative.  denominator: positive.
 *
 * Returns: FALSE, with *result as it was, where that is beyond the range of
 *   gint64 (or of the 128 bits that it is computed in). */
gboolean qm_exact_scale (gint64 value,
                         QmInt128 numerator,
                         QmInt128 denominator,
                         gint64 *result);

/* *sum += value.  Returns: FALSE, with *sum as it was, on overflow. */
gboolean qm_exact_add (gint64 *sum, gint64 value);

G_END_DECLS
