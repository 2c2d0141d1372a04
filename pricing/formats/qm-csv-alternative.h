/* SPDX-License-Identifier: Apache-2.0 */

/* Names of alternatives among the words of a spreadsheet, in the languages of
 * pricing/formats/qm-csv-words.h: "Option A", "Variante 2", "wariant III". */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads a text that begins with the name of one of several alternatives:
 * "Option A", "Variante 2: mit H100", "(Opt. B) GPU server".
 *
 * rest: (out) (optional) (transfer none): what follows, within `text`.
 *
 * Returns: (transfer full) (nullable): its name, "Option A". */
char *qm_csv_alternative_parse (const char *text, const char **rest);

/* The same, in brackets anywhere: "GPU-Server (Variante A), 8x H100". */
char *qm_csv_alternative_in_brackets (const char *text);

/* The same, wherever it stands, also at the end: "servidor con 4 L40S, opción
 * A".  A name alone is none here: nothing is called so. */
char *qm_csv_alternative_find (const char *text);

/* Whether a name stands anywhere among words, both normalized: "option a" in
 * "total option a ttc". */
gboolean qm_csv_words_name (const char *normal, const char *name);

/* Whether a normalized word is what alternatives are called: "variante". */
gboolean qm_csv_word_is_group (const char *word);

/* "Entweder", "oder", "soit": a text that begins so, or where `whole` is TRUE
 * is nothing else.
 *
 * n: (inout): how many of such were there before; those of "or" are some only
 *    behind "either"
 *
 * Returns: (transfer full) (nullable): its name as an alternative, another one
 * each time; NULL: it is none */
char *qm_csv_alternative_either (const char *text, gboolean whole, guint *n);

/* Whether a text begins with "or", or is that alone. */
gboolean qm_csv_words_say_or (const char *text, gboolean whole);

G_END_DECLS
