/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPU or machine of the catalog a line of a quote is about, by its words
 * and part numbers.
 *
 * A GPU is known by the words of its name in the catalog ("rtx", "6000",
 * "ada"), by its memory and its form.  Neighbours in a series are told apart: a
 * 3090 Ti is not a 3090, a laptop's 4090 is not a 4090, an A10G is no A10.
 * Where the words leave several, or contradict the part number, the match is
 * ambiguous and the user is asked.  What is made for a GPU, a bridge or a
 * cable, is none, and the number of a line ("Pos. 2:") counts nothing.  "DGX
 * H100 3 years support" may be a machine with its support or that alone: it is
 * the service where the quote has the machine in another line, and asked about
 * where it has not.
 *
 * Part numbers are those of part-numbers.csv (data/README.md). */

#pragma once

#include "data/catalog.h"
#include "pricing/quotes/qm-quote.h"

G_BEGIN_DECLS

typedef struct _QmMatcher QmMatcher;

typedef struct
{
  QmMatchState state; /* never QM_MATCH_CHOSEN */
  char *item;         /* id where found, else NULL */
  int gpus;           /* in one unit; 0: none, or unknown */
  char *candidates;   /* where ambiguous, the ids, by ";" */
  gboolean service;   /* ambiguous: a machine, or a service for one */
} QmMatch;

/* Makes a matcher for a catalog, which it keeps.
 *
 * shipped_dir, user_dir: where part-numbers.csv may be; rows of the second
 *   replace those of the first.  Each may be NULL, and neither need have the
 *   file.
 * problems: (nullable) (element-type QmError): gets what is wrong in a file
 * that is broken; such a file is left out whole.
 *
 * Returns: (transfer full): the matcher, which several threads may use at once.
 */
QmMatcher *qm_matcher_new (const QmCatalog *catalog,
                           const char *shipped_dir,
                           const char *user_dir,
                           GArray *problems);

/* One more, or one less, who needs it; the last one frees it. */
QmMatcher *qm_matcher_ref (const QmMatcher *matcher);
void qm_matcher_free (QmMatcher *matcher);

/* The catalog that it was made for. */
const QmCatalog *qm_matcher_get_catalog (const QmMatcher *matcher);

/* Matches a part number and a description, each of which may be NULL.  The
 * match is to be cleared with qm_match_clear(). */
void qm_matcher_match (const QmMatcher *matcher,
                       const char *part_number,
                       const char *description,
                       QmMatch *match);

/* Whether what a part number and a description name can be a GPU: FALSE where
 * they name another one, of the catalog or not, or something made for one.
 * What names none may be any. */
gboolean qm_matcher_may_be (const QmMatcher *matcher,
                            const char *part_number,
                            const char *description,
                            const char *gpu);

/* Frees what the match holds, not the match. */
void qm_match_clear (QmMatch *match);

/* Matches all lines of a quote but those that the user has chosen for, and asks
 * about rents and packs (pricing/quotes/qm-line-ask.h). */
void qm_matcher_apply (const QmMatcher *matcher, QmQuote *quote);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmMatcher, qm_matcher_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmMatch, qm_match_clear)

G_END_DECLS
