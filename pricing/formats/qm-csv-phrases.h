/* SPDX-License-Identifier: Apache-2.0 */

/* Words of spreadsheets made comparable, and tables of phrases. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* No phrase is longer, in bytes. */
#define QM_CSV_LONGEST_PHRASE 63

/* Letters and digits in lower case without accents, words apart by one space:
 * "Prix unitaire (€)" is "prix unitaire". */
char *qm_csv_normalize (const char *text);

/* Phrases of a list, normalized and separated by "|", each with a value above
 * 0; those that a table has already keep theirs. */
void qm_csv_phrases_add (GHashTable *table, const char *list, guint value);

/* A table of no phrases. */
GHashTable *qm_csv_phrases_new (void);

/* The value of the first `length` bytes of a text; 0: it is no phrase of the
 * table. */
guint qm_csv_phrases_find (GHashTable *table, const char *text, gsize length);

/* A set of phrases that is made once and kept: `*set` is a static variable. */
GHashTable *qm_csv_phrases_once (GHashTable **set, const char *list);

/* Whether a phrase of a set stands anywhere among normalized words. */
gboolean qm_csv_phrases_within (GHashTable *set, const char *normal);

/* Whether a normalized word, which may be NULL, is the name of a tax. */
gboolean qm_csv_word_is_tax (const char *word);

/* What normalized words say about tax: 1 that it is contained, 0 that it is
 * not, -1 nothing. */
int qm_csv_tax_in (const char *normal);

/* The same for a sentence about prices, of which it is what stands beside the
 * tax that counts: "Preise zzgl. Versand, inkl. MwSt." contain it. */
int qm_csv_tax_in_note (const char *normal);

/* Normalized words without currencies, words about tax, and the like. */
char *qm_csv_strip_additions (const char *normal);

G_END_DECLS
