/* SPDX-License-Identifier: Apache-2.0 */

/* What is said about devices and measurements, in the user's language and
 * locale. */

#pragma once

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

/* Of a line of qm-bench, or of an object in it: a text, "" where there is none;
 * a number, else NaN; a whole number, -1 where there is none or it makes no
 * sense. */
const char *qm_line_text (const json_t *line, const char *name);
double qm_line_number (const json_t *line, const char *name);
gint64 qm_line_whole (const json_t *line, const char *name);

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
 * have: `settings` like "naive" or "free-lunch", `sharding` (what several GPUs
 * share) and `offloading` like "zero_3", NULL or "none" for none.
 * (transfer full) */
char *qm_machine_text_method (const char *settings,
                              gboolean checkpointing,
                              const char *sharding,
                              const char *offloading);

/* What qm-bench says in English it says with a "cause", too, a word that does
 * not change, and what that is about: qm-bench(1) lists them.  These make
 * sentences of it; where the cause is unknown, or what belongs to it is
 * missing, they are qm-bench's own words.  Any line may be given. */

/* Why a configuration was not measured, without an end: "a micro-batch of 1
 * needs 3.2 GiB ..."; "" where nothing is said.  (transfer full) */
char *qm_machine_text_reason (const json_t *line);

/* Why a search ended, of an "error" line; NULL where its cause says no more
 * than the exit status.  (transfer full) (nullable) */
char *qm_machine_text_error (const json_t *line);

/* Why a device cannot be used, a sentence; "" where it can.  (transfer full) */
char *qm_machine_text_trouble (const json_t *device);

/* Why there is no GPU, a sentence, of what `qm-bench devices` says of the
 * processor; NULL where it says nothing.  (transfer full) (nullable) */
char *qm_machine_text_no_gpu (const json_t *device);

G_END_DECLS
