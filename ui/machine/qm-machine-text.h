/* SPDX-License-Identifier: Apache-2.0 */

/* What is said about devices and measurements, in the user's language and
 * locale. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "40 seconds", "12 minutes", "2 hours 5 minutes", "3 days"; never less than a
 * second.  (transfer full) */
char *qm_machine_text_duration (double seconds);

/* "141 GiB", "0.2 GiB", "3 MiB"; "" where `bytes` is below 0.
 * (transfer full) */
char *qm_machine_text_bytes (gint64 bytes);

/* "34.2", "0.031" or "12,400": three digits where there is something behind the
 * point; "" where it is not finite.  (transfer full) */
char *qm_machine_text_figure (double value);

/* "34.2", "28.1 to 45.6" where the ends of the interval are known and apart.
 * (transfer full) */
char *qm_machine_text_interval (double value, double low, double high);

/* "Free lunch, checkpointing, ZeRO 3 offloading" of the names that results
 * have: `settings` like "naive" or "free-lunch", `offloading` like "zero_3",
 * NULL or "none" for none.  (transfer full) */
char *qm_machine_text_method (const char *settings,
                              gboolean checkpointing,
                              const char *offloading);

G_END_DECLS
