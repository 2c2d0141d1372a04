/* SPDX-License-Identifier: Apache-2.0 */

/* JSON for programs: the same bytes in every locale, keys in a fixed order,
 * what is unknown as null. */

#pragma once

#include "pricing/advice/qm-advice.h"

#include <jansson.h>

G_BEGIN_DECLS

/* Puts the C locale in force for this thread, numbers and sentences alike, and
 * takes it off again. */
typedef struct _QmCliCLocale QmCliCLocale;
QmCliCLocale *qm_cli_c_locale_enter (void);
void qm_cli_c_locale_leave (QmCliCLocale *locale);

/* A string; null for NULL or an empty one. */
json_t *qm_cli_json_text (const char *text);

/* A number rounded to so many decimals; null where it is not finite. */
json_t *qm_cli_json_number (double value, int decimals);

/* An amount in major units from millionths; null below zero. */
json_t *qm_cli_json_micros (gint64 micros);

/* "2024-09-21", "2026-06", "2026" or null. */
json_t *qm_cli_json_date (QmDate date);

/* Each string of a NULL-terminated array. */
json_t *qm_cli_json_strings (const char *const *strings);

/* What was asked. */
json_t *qm_cli_json_question (const QmQuestion *question);

/* A dated price and its age in days; null for NULL. */
json_t *qm_cli_json_price (const QmPrice *price, QmDate today);

/* One way to buy, and whether it is within the question's limits. */
json_t *qm_cli_json_candidate (const QmCandidate *candidate,
                               const QmQuestion *question,
                               QmDate today);

/* Adds "engine", "engine_version" and "measured_on"; `measurement` may be
 * NULL. */
void qm_cli_json_add_engine (json_t *object, const QmMeasurement *measurement);

/* Files that were refused, with line and column and what is wrong. */
json_t *qm_cli_json_errors (const QmError *problems, size_t n);

/* Adds "problems", the files that the catalog refused, and "notices", what it
 * left out. */
void qm_cli_json_add_problems (json_t *object, const QmCatalog *catalog);

/* Adds to "problems" what is wrong with the user's quotes: sentences, or NULL.
 */
void qm_cli_json_add_troubles (json_t *object, const GPtrArray *troubles);

/* A document and a line's end.  (transfer full): NULL without memory. */
char *qm_cli_json_to_text (const json_t *root);

/* Writes a document and a line's end to standard output. */
gboolean qm_cli_json_write (const json_t *root, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCliCLocale, qm_cli_c_locale_leave)

G_END_DECLS
