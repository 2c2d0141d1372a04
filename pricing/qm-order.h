/* SPDX-License-Identifier: Apache-2.0 */

/* How to sort lists of numbers and of words: for qsort(), g_array_sort() and
 * g_ptr_array_sort(). */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The smaller first; none may be NaN. */
int qm_order_doubles (gconstpointer a, gconstpointer b);
int qm_order_ints (gconstpointer a, gconstpointer b);

/* Of pointers to strings, byte by byte: the same in every locale. */
int qm_order_strings (gconstpointer a, gconstpointer b);

G_END_DECLS
